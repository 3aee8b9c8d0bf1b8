#include "core/analysis/comparison/name_matching.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <unordered_map>

namespace accelscope {
namespace {

constexpr std::size_t kLeastHash = 8;

bool is_form_digit(char c) noexcept { return c >= '0' && c <= '9'; }
bool is_form_hexadecimal(char c) noexcept {
  return is_form_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}
bool is_form_word(char c) noexcept { return std::isalnum(static_cast<unsigned char>(c)) != 0; }

// The end of a hexadecimal word that begins at `at` and has a digit in it; `at` where there is none.
std::size_t end_of_hash(std::string_view name, std::size_t at) {
  if (at > 0 && is_form_word(name[at - 1])) return at;
  std::size_t end = at;
  if (name.substr(at).starts_with("0x")) end += 2;
  const std::size_t digits = end;
  bool has_digit = false;
  while (end < name.size() && is_form_hexadecimal(name[end])) has_digit = is_form_digit(name[end++]) || has_digit;
  const bool ends_word = end == name.size() || !is_form_word(name[end]);
  return ends_word && has_digit && (end - digits >= kLeastHash || digits > at) ? end : at;
}

using NamePlaces = std::vector<std::vector<std::size_t>>;

struct NameList {
  std::vector<MatchedName> rows;
  std::unordered_map<std::string, std::size_t> numbers;

  MatchedName& row(const std::string& name, std::size_t captures) {
    const auto [place, is_new] = numbers.try_emplace(name, rows.size());
    if (is_new) rows.push_back({name, MatchKind::exact, NamePlaces(captures)});
    return rows[place->second];
  }
};

bool is_everywhere(const MatchedName& row) {
  return std::none_of(row.places.begin(), row.places.end(), [](const auto& each) { return each.empty(); });
}

void add_places(MatchedName& into, const MatchedName& from) {
  for (std::size_t i = 0; i < into.places.size(); ++i)
    into.places[i].insert(into.places[i].end(), from.places[i].begin(), from.places[i].end());
}

}  // namespace

std::string name_form(std::string_view name) {
  std::string form;
  for (std::size_t at = 0; at < name.size();) {
    std::size_t end = end_of_hash(name, at);
    while (end == at || (end < name.size() && is_form_digit(name[end]) && is_form_digit(name[end - 1]))) {
      if (!is_form_digit(name[at])) break;
      ++end;
    }
    if (end == at) {
      form += name[at++];
      continue;
    }
    form += '#';
    at = end;
  }
  while (form.size() > 2 && form.ends_with('#') && std::string_view("._-").find(form[form.size() - 2]) < 3)
    form.resize(form.size() - 2);
  return form;
}

std::vector<MatchedName> match_names(const std::vector<std::vector<std::string>>& captures, NameForm form_of) {
  NameList exact;
  for (std::size_t capture = 0; capture < captures.size(); ++capture) {
    for (std::size_t i = 0; i < captures[capture].size(); ++i)
      exact.row(captures[capture][i], captures.size()).places[capture].push_back(i);
  }
  // Of the rest those of one form belong together; one that has it alone keeps its name.
  std::map<std::string, std::vector<std::size_t>> by_form;
  for (std::size_t i = 0; i < exact.rows.size(); ++i)
    if (!is_everywhere(exact.rows[i])) by_form[form_of(exact.rows[i].name)].push_back(i);
  std::vector<char> is_gone(exact.rows.size(), 0);
  for (const auto& [form, rows] : by_form) {
    if (rows.size() == 1) continue;
    MatchedName joined{form, MatchKind::by_form, NamePlaces(captures.size())};
    for (const std::size_t row : rows) add_places(joined, exact.rows[row]);
    // Names that stand in the same captures only are no match of anything.
    const auto count = [](const MatchedName& row) {
      return std::count_if(row.places.begin(), row.places.end(), [](const auto& each) { return !each.empty(); });
    };
    const bool matches =
        std::any_of(rows.begin(), rows.end(), [&](std::size_t row) { return count(exact.rows[row]) < count(joined); });
    if (!matches) continue;
    for (const std::size_t row : rows) is_gone[row] = 1;
    is_gone[rows.front()] = 0;
    exact.rows[rows.front()] = std::move(joined);
  }
  std::vector<MatchedName> out;
  for (std::size_t i = 0; i < exact.rows.size(); ++i)
    if (is_gone[i] == 0) out.push_back(std::move(exact.rows[i]));
  return out;
}

}  // namespace accelscope
