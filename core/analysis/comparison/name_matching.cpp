#include "core/analysis/comparison/name_matching.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <map>
#include <tuple>
#include <unordered_map>

namespace accelscope::analysis {
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
  return std::ranges::none_of(row.places, [](const auto& each) { return each.empty(); });
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
      return std::ranges::count_if(row.places, [](const auto& each) { return !each.empty(); });
    };
    const bool matches =
        std::ranges::any_of(rows, [&](std::size_t row) { return count(exact.rows[row]) < count(joined); });
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

namespace {

std::string whole_name(std::string_view name) { return std::string(name); }

std::vector<std::string> labels_of(const std::vector<PathShare>& shares, bool gaps) {
  std::vector<std::string> labels;
  for (const PathShare& share : shares) {
    if (share.is_gap == gaps) labels.push_back(share.label);
  }
  return labels;
}

std::vector<const PathShare*> shares_of(const std::vector<PathShare>& shares, bool gaps) {
  std::vector<const PathShare*> chosen;
  for (const PathShare& share : shares) {
    if (share.is_gap == gaps) chosen.push_back(&share);
  }
  return chosen;
}

// 0: longer, 1: as long, 2: shorter.
int side_of(std::int64_t difference) { return difference > 0 ? 0 : difference < 0 ? 2 : 1; }

}  // namespace

PathDifference path_difference(const std::vector<PathShare>& base, const std::vector<PathShare>& other, PathBy by) {
  PathDifference out;
  for (const bool gaps : {false, true}) {
    const std::vector<const PathShare*> of_base = shares_of(base, gaps), of_other = shares_of(other, gaps);
    // Lines are places; of all others the numbers are those of a run: streams, queues, kernels.
    const auto form = by == PathBy::line || (by == PathBy::name && gaps) ? whole_name : name_form;
    for (MatchedName& row : match_names({labels_of(base, gaps), labels_of(other, gaps)}, form)) {
      PathTerm term;
      term.label = std::move(row.name);
      term.is_gap = gaps;
      term.match = row.kind;
      for (const std::size_t place : row.places[0]) {
        term.base_ns += of_base[place]->length_ns;
        term.base_count += of_base[place]->count;
        if (term.base_first == kNoNode) term.base_first = of_base[place]->first;
      }
      for (const std::size_t place : row.places[1]) {
        term.other_ns += of_other[place]->length_ns;
        term.other_count += of_other[place]->count;
        if (term.other_first == kNoNode) term.other_first = of_other[place]->first;
      }
      out.terms.push_back(std::move(term));
    }
  }
  for (const PathTerm& term : out.terms) {
    out.base_ns += term.base_ns;
    out.other_ns += term.other_ns;
    (term.difference_ns() > 0 ? out.longer_ns : out.shorter_ns) += term.difference_ns();
  }
  std::ranges::stable_sort(out.terms, [](const PathTerm& a, const PathTerm& b) {
    const auto order = [](const PathTerm& term) {
      return std::tuple(side_of(term.difference_ns()), -std::abs(term.difference_ns()),
                        -std::max(term.base_ns, term.other_ns));
    };
    return order(a) < order(b);
  });
  return out;
}

}  // namespace accelscope::analysis
