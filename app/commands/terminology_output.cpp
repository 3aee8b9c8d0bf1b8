#include "app/commands/terminology_output.h"

#include <fmt/format.h>

#include <algorithm>
#include <ostream>

#include "core/analysis/figures/terminology.h"
#include "core/base/format.h"

namespace accelscope::app {
namespace {

constexpr std::size_t kSuggestions = 5;

std::string term_json(const FigureTerm& term) {
  return fmt::format("{{\"name\": {}, \"group\": {}, \"unit\": {}, \"text\": {}, \"how\": {}, \"exact\": {}}}",
                     json_quote(term.name), json_quote(term.group), json_quote(term.unit), json_quote(term.text),
                     json_quote(term.how), term.exact);
}

void print_table(std::ostream& out) {
  std::size_t name_width = 0;
  std::size_t unit_width = 0;
  for (const FigureTerm& term : figure_terms()) {
    name_width = std::max(name_width, term.name.size());
    unit_width = std::max(unit_width, term.unit.size());
  }
  std::string_view group;
  for (const FigureTerm& term : figure_terms()) {
    if (term.group != group) out << fmt::format("{}{}\n", group.empty() ? "" : "\n", term.group);
    group = term.group;
    out << fmt::format("  {:<{}}  {:<{}}  {}\n", term.name, name_width, term.unit, unit_width, term.text);
  }
}

void print_term(std::ostream& out, const std::string& asked, const FigureTerm& term) {
  const bool is_word = find_term(asked) == nullptr;
  const std::string_view named = is_word ? term.name : std::string_view(asked);
  out << named << (named == term.name ? "" : fmt::format("  (one of {})", term.name)) << '\n';
  out << fmt::format("  group     {}\n", metric_group(named));
  if (!term.unit.empty()) out << fmt::format("  unit      {}\n", term.unit == "share" ? "share (1 = all)" : term.unit);
  out << fmt::format("  meaning   {}\n", term.text);
  if (!term.how.empty()) {
    out << fmt::format("  computed  {}{}\n", term.how,
                       term.exact ? "" : " The events do not hold all that the vendor's figure is made of.");
  }
}

Error unknown_metric(const std::string& metric) {
  std::string alike;
  std::size_t count = 0;
  for (const FigureTerm& term : figure_terms()) {
    if (term.name.find(metric) == std::string_view::npos || count++ == kSuggestions) continue;
    alike += (alike.empty() ? "" : ", ") + std::string(term.name);
  }
  return Error{fmt::format("{}: no figure has this name{}; accelscope view --terminology lists all", metric,
                           alike.empty() ? "" : fmt::format("; there are {}", alike))};
}

}  // namespace

Result<void> print_terminology(std::ostream& out, const std::string& metric, bool json) {
  if (!metric.empty()) {
    const FigureTerm* term = find_word(metric);
    if (term == nullptr) return unknown_metric(metric);
    if (json) {
      out << term_json(*term) << '\n';
    } else {
      print_term(out, metric, *term);
    }
    return {};
  }
  if (!json) {
    print_table(out);
    return {};
  }
  out << "[\n";
  for (const FigureTerm& term : figure_terms())
    out << term_json(term) << (&term == &figure_terms().back() ? "\n" : ",\n");
  out << "]\n";
  return {};
}

}  // namespace accelscope::app
