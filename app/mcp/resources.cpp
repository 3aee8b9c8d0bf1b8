#include "app/mcp/resources.h"

#include <fmt/format.h>

#include "app/export/quality_report.h"
#include "app/mcp/json_text.h"
#include "core/analysis/figures/terminology.h"
#include "core/sql/base/sql.h"

namespace accelscope::app {
namespace {

constexpr std::string_view kScheme = "accelscope://";
constexpr std::string_view kGlossary = "accelscope://glossary";

std::string resource_row(const std::string& uri, const std::string& name, std::string_view type) {
  return JsonObject().text("uri", uri).text("name", name).text("mimeType", type).done();
}

std::string contents(const std::string& uri, std::string_view type, const std::string& text) {
  const std::string entry = JsonObject().text("uri", uri).text("mimeType", type).text("text", text).done();
  return JsonObject().raw("contents", JsonList().raw(entry).done()).done();
}

std::string term_line(const FigureTerm& term) {
  return fmt::format("{}{}: {}{}{}\n", term.name, term.unit.empty() ? "" : fmt::format(" [{}]", term.unit), term.text,
                     term.how.empty() ? "" : " Computed: ", term.how);
}

Result<std::string> glossary(const std::string& figure) {
  if (!figure.empty()) {
    const FigureTerm* term = find_word(figure);
    if (term == nullptr) return Error{fmt::format("{}: no figure has this name; {} has all", figure, kGlossary)};
    return term_line(*term);
  }
  std::string text;
  std::string_view group;
  for (const FigureTerm& term : figure_terms()) {
    if (term.group != group) text += fmt::format("{}# {}\n", text.empty() ? "" : "\n", term.group);
    group = term.group;
    text += term_line(term);
  }
  return text;
}

// "slice(id, track_id, ...)" a line.
std::string schema_text(SessionShelf& shelf, const ShelvedSession& session) {
  const SqlSession sql(session.store(), session.snapshot, shelf.pool());
  std::string text;
  for (const SqlTable& table : sql.tables()) {
    text += fmt::format("{}({})", table.name, fmt::join(table.columns, ", "));
    if (!table.hidden_columns.empty()) text += fmt::format(" also {}", fmt::join(table.hidden_columns, ", "));
    text += fmt::format("  -- about {} rows\n", table.row_estimate);
  }
  return text;
}

}  // namespace

std::string resource_list(const SessionShelf& shelf) {
  JsonList list;
  list.raw(resource_row(std::string(kGlossary), "What figures mean", "text/plain"));
  for (const auto& each : shelf.sessions()) {
    const std::string base = std::string(kScheme) + each->name;
    list.raw(resource_row(base + "/schema", "Tables and columns of " + each->opened.title, "text/plain"));
    list.raw(resource_row(base + "/quality", "Data quality of " + each->opened.title, "application/json"));
  }
  return JsonObject().raw("resources", list.done()).done();
}

std::string resource_templates() {
  const auto row = [](std::string_view uri, std::string_view name, std::string_view type) {
    return JsonObject().text("uriTemplate", uri).text("name", name).text("mimeType", type).done();
  };
  JsonList list;
  list.raw(row("accelscope://glossary/{figure}", "What a figure means", "text/plain"));
  list.raw(row("accelscope://{session}/schema", "Tables and columns of an open session", "text/plain"));
  list.raw(row("accelscope://{session}/quality", "Data quality of an open session", "application/json"));
  return JsonObject().raw("resourceTemplates", list.done()).done();
}

Result<std::string> read_resource(const std::string& uri, SessionShelf& shelf) {
  if (uri == kGlossary || uri.starts_with(fmt::format("{}/", kGlossary))) {
    const auto text = glossary(uri == kGlossary ? "" : uri.substr(kGlossary.size() + 1));
    if (!text) return text.error();
    return contents(uri, "text/plain", *text);
  }
  for (const auto& each : shelf.sessions()) {
    const std::string base = std::string(kScheme) + each->name;
    if (uri == base + "/schema") return contents(uri, "text/plain", schema_text(shelf, *each));
    if (uri == base + "/quality") return contents(uri, "application/json", quality_json(*each->snapshot));
  }
  return Error{fmt::format("{}: there is nothing; resources/list has what there is", uri)};
}

}  // namespace accelscope::app
