#include "core/base/natural_order.h"

#include <cstddef>

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

}  // namespace accelscope
