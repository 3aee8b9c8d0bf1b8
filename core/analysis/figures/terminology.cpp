#include "core/analysis/figures/terminology.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>
#include <vector>

#include "core/analysis/figures/session_terms.h"
#include "core/base/text.h"

namespace accelscope {
namespace {

// As the vendor's own viewer shows them; other groups come between the last two.
constexpr std::array<std::string_view, 14> kGroups = {"overall_stats",
                                                      "summary",
                                                      "data_movement",
                                                      "software_data_movement",
                                                      "hardware_data_movement",
                                                      "tensor_engine",
                                                      "vector_engine",
                                                      "scalar_engine",
                                                      "sync_engine",
                                                      "gpsimd_engine",
                                                      "cc_engine",
                                                      "system",
                                                      "throttling_nc0",
                                                      "throttling_nc1"};

bool same_letters(std::string_view a, std::string_view b) noexcept {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](char x, char y) { return lower_case(x) == lower_case(y); });
}

// What the placeholders of a family stand for, in order of their places.
using Words = std::vector<std::pair<std::string_view, std::string_view>>;  // "<engine>" -> "tensor"

bool match(std::string_view pattern, std::string_view name, Words* words) {
  const std::size_t open = pattern.find('<');
  if (open == std::string_view::npos) return same_letters(pattern, name);
  if (name.size() <= open || !same_letters(pattern.substr(0, open), name.substr(0, open))) return false;
  const std::size_t close = pattern.find('>', open);
  const std::string_view rest = pattern.substr(close + 1);
  for (std::size_t length = 1; open + length <= name.size(); ++length) {
    if (!match(rest, name.substr(open + length), words)) continue;
    if (words != nullptr) words->emplace_back(pattern.substr(open, close + 1 - open), name.substr(open, length));
    return true;
  }
  return false;
}

}  // namespace

const FigureTerm* find_term(std::string_view metric) {
  const FigureTerm* family = nullptr;
  for (const FigureTerm& term : figure_terms()) {
    if (!match(term.name, metric, nullptr)) continue;
    if (term.name.find('<') == std::string_view::npos) return &term;
    if (family == nullptr) family = &term;
  }
  return family;
}

const FigureTerm* find_word(std::string_view word) {
  using Meaning = std::pair<std::string_view, std::string_view>;
  constexpr std::array<Meaning, 7> kMeanings = {Meaning{"total", terms::kTotal},  Meaning{"work", terms::kWork},
                                                Meaning{"span", terms::kSpan},    Meaning{"active", terms::kActive},
                                                Meaning{"idle", terms::kIdle},    Meaning{"events", terms::kEvents},
                                                Meaning{"stated", terms::kStated}};
  if (const FigureTerm* term = find_term(word)) return term;
  const auto known = std::find_if(kMeanings.begin(), kMeanings.end(),
                                  [&](const Meaning& each) { return same_letters(each.first, word); });
  return known == kMeanings.end() ? nullptr : find_term(known->second);
}

std::string metric_group(std::string_view metric) {
  const FigureTerm* term = find_term(metric);
  if (term == nullptr) return "overall_stats";
  std::string group(term->group);
  const std::size_t open = group.find('<');
  if (open == std::string::npos) return group;
  const std::string placeholder = group.substr(open, group.find('>', open) + 1 - open);
  Words words;
  if (!match(term->name, metric, &words)) return group;
  for (const auto& [name, word] : words) {
    if (name == placeholder) return group.replace(open, placeholder.size(), word);
  }
  return group;
}

std::size_t rank_of_group(std::string_view group) noexcept {
  const auto place = std::find(kGroups.begin(), kGroups.end(), group);
  const auto rank = static_cast<std::size_t>(place - kGroups.begin());
  return group == "general" ? rank + 1 : rank;
}

}  // namespace accelscope
