#include "core/base/natural_order.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <vector>

#include "core/base/text.h"

namespace accelscope {
namespace {

[[nodiscard]] std::string_view leading_digits(std::string_view text) noexcept {
  std::size_t count = 0;
  while (count < text.size() && is_digit(text[count])) ++count;
  return text.substr(0, count);
}

[[nodiscard]] std::string_view without_zeros(std::string_view digits) noexcept {
  while (digits.size() > 1 && digits.front() == '0') digits.remove_prefix(1);
  return digits;
}

}  // namespace

bool natural_less(std::string_view a, std::string_view b) noexcept {
  while (!a.empty() && !b.empty()) {
    const std::string_view a_digits = leading_digits(a);
    const std::string_view b_digits = leading_digits(b);
    if (!a_digits.empty() && !b_digits.empty()) {
      const std::string_view a_number = without_zeros(a_digits);
      const std::string_view b_number = without_zeros(b_digits);
      if (a_number.size() != b_number.size()) return a_number.size() < b_number.size();
      if (a_number != b_number) return a_number < b_number;
      a.remove_prefix(a_digits.size());
      b.remove_prefix(b_digits.size());
      continue;
    }
    if (a.front() != b.front()) return a.front() < b.front();
    a.remove_prefix(1);
    b.remove_prefix(1);
  }
  return a.size() < b.size();
}

namespace {

constexpr std::size_t kNotSimilar = std::numeric_limits<std::size_t>::max();
constexpr std::size_t kLongest = 64;  // longer names are not compared letter by letter
constexpr std::size_t kShortestPart = 3;

// Letters to insert, remove, replace or exchange with their neighbour to make one of the other.
std::size_t edits(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before(b.size() + 1);
  std::vector<std::size_t> last(b.size() + 1);
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) last[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)});
      const bool exchanged = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (exchanged) row[j] = std::min(row[j], before[j - 2] + 1);
    }
    std::swap(before, last);
    std::swap(last, row);
  }
  return last[b.size()];
}

// Smaller is more similar.
std::size_t distance(std::string_view wanted, std::string_view name) {
  if (wanted == name) return 0;
  if (wanted.empty() || wanted.size() > kLongest || name.size() > kLongest) return kNotSimilar;
  const std::size_t changes = edits(wanted, name);
  if (changes <= std::max<std::size_t>(1, std::min(wanted.size(), name.size()) / 3)) return changes;
  const bool part = wanted.size() >= kShortestPart && name.size() >= kShortestPart;
  if (part && (name.starts_with(wanted) || name.ends_with(wanted) || wanted.starts_with(name))) return 10 + changes;
  const std::string_view word = name.substr(0, name.find('_'));  // dur of dur_ns
  if (part && word.size() >= kShortestPart && wanted.starts_with(word)) return 20 + changes;
  return kNotSimilar;
}

}  // namespace

std::string nearest_name(std::string_view wanted, std::span<const std::string> names) {
  const std::string sought = lower_case(wanted);
  std::string nearest;
  std::size_t best = kNotSimilar;
  for (const std::string& name : names) {
    const std::size_t candidate = distance(sought, lower_case(name));
    if (candidate >= best) continue;
    best = candidate;
    nearest = name;
  }
  return nearest;
}

}  // namespace accelscope
