#include "core/listing/terms.h"

#include <fmt/format.h>

#include <algorithm>

namespace accelscope::listing {
namespace {

// An expression for exactly this text.
std::string literal_expression(std::string_view text) {
  std::string expression;
  for (const char c : text) {
    const bool plain = static_cast<unsigned char>(c) >= 0x80 || c == '_' || (c >= '0' && c <= '9') ||
                       (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    if (!plain) expression += '\\';
    expression += c == '\n' ? 'n' : c;
  }
  return expression;
}

// A name with blanks in it stands in quotes.
std::string column_in_search(std::string_view column) {
  const bool plain = std::all_of(column.begin(), column.end(), [](char c) {
    return c == '_' || c == '.' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
  });
  return plain ? std::string(column) : fmt::format("\"{}\"", column);
}

// What all schemas call their column of the role; nothing if there is none or they differ.
std::optional<std::string> column_of(const Snapshot& snapshot, Role role) {
  std::optional<std::string> name;
  for (const auto& schema : snapshot.schemas) {
    if (!analysis::takes_part_in_summaries(schema->kind)) continue;
    const auto column = schema->find(role);
    if (!column) continue;
    if (name && *name != schema->columns[*column].name) return std::nullopt;
    name = schema->columns[*column].name;
  }
  return name;
}

std::string between(std::string_view column, const analysis::SummaryBin& bin) {
  return fmt::format("{0}>={1} {0}<{2}", column, bin.begin, bin.end);
}

std::string any_of_literals(std::span<const std::string_view> texts) {
  std::string all;
  for (const std::string_view text : texts) {
    if (!all.empty()) all += '|';
    all += literal_expression(text);
  }
  return all;
}

}  // namespace

// A quoted value cannot hold a quote: such a text is written as an expression for exactly it.
std::string search_of_text(std::string_view column, std::string_view text) {
  if (text.find('"') == std::string_view::npos) return fmt::format("{}=\"{}\"", column_in_search(column), text);
  return fmt::format("{}~/^{}$/", column_in_search(column), literal_expression(text));
}

std::string search_of_texts(std::string_view column, std::span<const std::string> texts) {
  if (texts.size() == 1) return search_of_text(column, texts.front());
  const std::vector<std::string_view> views(texts.begin(), texts.end());
  return fmt::format("{}~/^(?:{})$/", column_in_search(column), any_of_literals(views));
}

std::string search_of_values(std::string_view column, double begin, double end) {
  return fmt::format("{0}>={1} {0}<{2}", column_in_search(column), begin, end);
}

std::string search_of_numbers(std::string_view column, std::uint64_t least, std::uint64_t most) {
  const std::string name = column_in_search(column);
  return least == most ? fmt::format("{}={}", name, least) : fmt::format("{0}>={1} {0}<={2}", name, least, most);
}

std::string containing_term(std::string_view column, std::string_view text) {
  return fmt::format("{}~/{}/", column, literal_expression(text));
}

std::string beginning_term(std::string_view column, std::string_view text) {
  return fmt::format("{}~/^{}/", column, literal_expression(text));
}

std::string ending_lines_term(std::string_view column, std::span<const std::string_view> lines) {
  std::string all;
  for (const std::string_view line : lines) {
    if (!all.empty()) all += "\\n";
    all += literal_expression(line);
  }
  return fmt::format("{}~/(^|\\n){}$/", column, all);
}

std::string first_line_term(std::string_view column, std::span<const std::string_view> lines) {
  return fmt::format("{}~/^(?:{})(?:\\n|$)/", column, any_of_literals(lines));
}

std::string one_of_term(std::string_view column, std::span<const std::string_view> texts) {
  return fmt::format("{}~/^({})$/", column, any_of_literals(texts));
}

std::string search_of_name(const Snapshot& snapshot, const analysis::SummaryRow& row,
                           std::span<const analysis::SummaryRow> all) {
  const bool shared = std::any_of(all.begin(), all.end(), [&](const analysis::SummaryRow& other) {
    return other.text == row.text && other.kind != row.kind;
  });
  const bool is_column = std::any_of(snapshot.schemas.begin(), snapshot.schemas.end(),
                                     [&](const auto& schema) { return schema->name_column == row.kind; });
  return search_of_text(shared && is_column ? row.kind : "name", row.text);
}

std::string search_of_line(std::string_view line) {
  const std::size_t space = line.find_last_of(" \t");  // the end of the path is enough
  return std::string(space == std::string_view::npos ? line : line.substr(space + 1));
}

std::optional<std::string> search_of_layer(const Snapshot& snapshot, std::string_view layer) {
  const auto column = column_of(snapshot, Role::layer);
  return column ? std::optional(search_of_text(*column, layer)) : std::nullopt;
}

std::optional<std::string> search_of_layers_below(const Snapshot& snapshot, std::string_view layer) {
  const bool any = std::any_of(snapshot.schemas.begin(), snapshot.schemas.end(),
                               [](const auto& schema) { return schema->find(Role::layer).has_value(); });
  if (!any) return std::nullopt;
  return fmt::format("layer~/^\\/?{}(\\/|$)/", literal_expression(layer));
}

std::string search_of_any_layer(std::span<const std::string> layers) {
  const std::vector<std::string_view> texts(layers.begin(), layers.end());
  return fmt::format("layer~/^\\/?(?:{})(\\/|$)/", any_of_literals(texts));
}

std::optional<std::string> search_of_sizes(const Snapshot& snapshot, const analysis::SummaryBin& bin) {
  const auto column = column_of(snapshot, Role::bytes);
  return column ? std::optional(between(*column, bin)) : std::nullopt;
}

std::string search_of_durations(const analysis::SummaryBin& bin) { return between("duration", bin); }

EventFilter with_term_toggled(EventFilter filter, const std::string& search) {
  const FilterTerm term{search, false};
  const auto found = std::find(filter.terms.begin(), filter.terms.end(), term);
  if (found != filter.terms.end()) {
    filter.terms.erase(found);
  } else {
    filter.terms.push_back(term);
  }
  return filter;
}

}  // namespace accelscope::listing
