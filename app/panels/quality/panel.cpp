#include "app/panels/quality/panel.h"

#include <fmt/format.h>

namespace accelscope::app::panels {

using namespace render;  // NOLINT: this file is nothing but drawing

namespace {

struct SeverityLook {
  const char* title;
  const char* icon;
  Colour colour;
};

SeverityLook look_of(Severity severity) {
  switch (severity) {
    case Severity::note:
      return {"note", icon::kInfo, Colour::text2};
    case Severity::warning:
      return {"warning", icon::kWarning, Colour::warning_line};
    case Severity::error:
      return {"error", icon::kError, Colour::error};
  }
  return {"note", icon::kInfo, Colour::text2};
}

void sort_entries(std::vector<const QualityEntry*>& entries, const TableState& state) {
  const auto less = [&](const QualityEntry& a, const QualityEntry& b) {
    switch (state.sort_column) {
      case 0:
        return a.severity < b.severity;
      case 1:
        return a.kind < b.kind;
      case 2:
        return a.count < b.count;
      default:
        return a.detail < b.detail;
    }
  };
  if (state.sort_column < 0) return;
  std::ranges::stable_sort(entries, [&](const QualityEntry* a, const QualityEntry* b) {
    return state.descending ? less(*b, *a) : less(*a, *b);
  });
}

}  // namespace

QualitySummary summarise_quality(const Snapshot& snapshot) {
  QualitySummary summary;
  for (const QualityEntry& entry : snapshot.quality) {
    if (entry.severity == Severity::error) ++summary.errors;
    if (entry.severity == Severity::warning) ++summary.warnings;
    if (entry.severity == Severity::note) ++summary.notes;
  }
  return summary;
}

std::string quality_text(const QualitySummary& summary) {
  if (summary.errors > 0) return counted(summary.errors, "error") + " in the data";
  if (summary.warnings > 0) return counted(summary.warnings, "warning") + " on data quality";
  if (summary.notes > 0) return counted(summary.notes, "note") + " on data quality";
  return "Data complete";
}

std::string QualityPanel::badge(const session::SessionTab& tab) const {
  const QualitySummary summary = summarise_quality(*tab.snapshot);
  return summary.complete() ? "" : std::to_string(summary.errors + summary.warnings);
}

void QualityPanel::draw(const PanelContext& context, const Rect& area) {
  Ui& ui = context.ui;
  std::vector<const QualityEntry*> entries;
  for (const QualityEntry& entry : context.tab.snapshot->quality) entries.push_back(&entry);
  std::ranges::stable_sort(entries,
                           [](const QualityEntry* a, const QualityEntry* b) { return a->severity > b->severity; });
  sort_entries(entries, table_);
  const std::string_view program = context.tab.snapshot->meta_value(kWrittenByFact);
  const std::string written_by = program.empty() ? "" : fmt::format("; the session was written by {}", program);
  if (entries.empty())
    return empty_sentence(
        ui, "quality.empty", area, icon::kCheckCircle,
        "Nothing was lost, skipped or estimated: the data is complete as it was delivered" + written_by + ".");
  Rect rest = area;
  heading(ui, padded(ui, rest.cut_top(ui.px(28))), "What the data lacks",
          "every entry says what was found and what to try" + written_by);
  const std::array<TableColumn, 4> columns = {{{.title = "Severity", .width = 96},
                                               {.title = "Kind", .width = 210},
                                               {.title = "Count", .width = 90, .align = Align::right},
                                               {.title = "What it means, and what to try"}}};
  const auto content = [&](std::size_t row, std::size_t column) -> TableCell {
    const QualityEntry& entry = *entries[row];
    const SeverityLook look = look_of(entry.severity);
    switch (column) {
      case 0:
        return {.text = look.title, .style = TextStyle::body, .icon = look.icon, .icon_colour = look.colour};
      case 1:
        return {.text = with_blanks(entry.kind), .style = TextStyle::body};
      case 2:
        return {.text = format_count(entry.count)};
      default:
        return {.text = entry.detail, .colour = Colour::text2, .style = TextStyle::body};
    }
  };
  const bool row_hovered = table_.cursor && *table_.cursor < entries.size();
  if (row_hovered) {  // the whole sentence of the chosen entry, however long
    const std::string& detail = entries[*table_.cursor]->detail;
    const float width = rest.width() - 2 * ui.px(size::kPanelPadding);
    const float height = paragraph_height(ui, TextStyle::body, detail, width) + ui.px(12);
    const Rect foot = rest.cut_bottom(height);
    horizontal_line(ui, foot.x0, foot.x1, foot.y0, ui.colour(Colour::line2));
    draw_paragraph(ui, foot.inset(ui.px(size::kPanelPadding), ui.px(6)), detail);
  }
  const TableResult result = table(ui, "quality.table", rest, columns, entries.size(), content, table_,
                                   {.selected = [&](std::size_t row) { return table_.cursor == row; }});
  if (result.sort_changed) table_.cursor.reset();
  if (result.clicked) table_.cursor = result.clicked;
}

std::unique_ptr<Panel> make_quality_panel(const PanelParts&) { return std::make_unique<QualityPanel>(); }

}  // namespace accelscope::app::panels
