#include "app/panels/why/ghost.h"

#include <imgui.h>

#include <algorithm>

#include "core/base/format.h"
#include "core/model/palette.h"
#include "render/widgets/interact.h"
#include "render/widgets/popup.h"

namespace accelscope::app {

using namespace render;  // NOLINT: this file is nothing but drawing

namespace {

constexpr float kGhostGap = 8, kGhostLabel = 18, kLeastGhostRow = 3, kMostGhostRow = 12;  // units

unsigned ghost_slot(WorkKind kind) {
  constexpr unsigned kTransfer = 8, kCompute = 0, kCollective = 7, kHost = 5, kOther = 2;
  switch (kind) {
    case WorkKind::transfer:
      return kTransfer;
    case WorkKind::compute:
      return kCompute;
    case WorkKind::collective:
      return kCollective;
    case WorkKind::host:
      return kHost;
    default:
      return kOther;
  }
}

// Runs of equal cells as one box each, so that a row takes few of them.
void draw_cells(Ui& ui, const Rect& row, const std::vector<float>& cells, Pixel colour) {
  constexpr float kSteps = 5;
  const float width = row.width() / static_cast<float>(cells.size());
  const auto step = [&](std::size_t i) { return std::min(kSteps, std::ceil(cells[i] * kSteps)); };
  for (std::size_t i = 0; i < cells.size();) {
    std::size_t next = i + 1;
    while (next < cells.size() && step(next) == step(i)) ++next;
    if (cells[i] > 0) {
      const Rect box{row.x0 + width * static_cast<float>(i), row.y0, row.x0 + width * static_cast<float>(next), row.y1};
      fill(ui, box, mix(ui.colour(Colour::bg1), colour, step(i) / kSteps));
    }
    i = next;
  }
}

void draw_end(Ui& ui, const Rect& box, float x, const std::string& text, bool predicted) {
  const float width = text_width(ui, TextStyle::mono_small, text) + ui.px(10);
  const float x1 = std::clamp(x, box.x0 + width, box.x1);
  const Rect chip{x1 - width, box.y1 - ui.px(16), x1, box.y1};
  fill(ui, chip, ui.colour(predicted ? Colour::accent : Colour::bg4), size::kChipRadius);
  draw_text(ui, chip, text,
            {.style = TextStyle::mono_small,
             .colour = predicted ? Colour::on_accent : Colour::text1,
             .align = Align::centre,
             .fit = Fit::clip});
}

}  // namespace

void draw_ghost(const PanelContext& context, const Rect& area, const GhostTimes& times, bool stale) {
  Ui& ui = context.ui;
  if (times.rows.empty() || area.height() < ui.px(40)) return;
  ImDrawList* list = ImGui::GetWindowDrawList();
  const float half = (area.height() - ui.px(kGhostGap)) / 2;
  const auto count = static_cast<float>(times.rows.size());
  const float row_height = std::clamp((half - ui.px(kGhostLabel)) / count, ui.px(kLeastGhostRow), ui.px(kMostGhostRow));
  const auto longest = static_cast<double>(std::max<std::int64_t>({times.before_ns, times.after_ns, 1}));
  const auto x_of = [&](std::int64_t ns) {
    return area.x0 + area.width() * static_cast<float>(static_cast<double>(ns) / longest);
  };
  for (const bool predicted : {false, true}) {
    Rect box = area;
    box.y0 = area.y0 + (predicted ? half + ui.px(kGhostGap) : 0);
    box.y1 = std::min(area.y1, box.y0 + row_height * count + ui.px(kGhostLabel));
    fill(ui, box, ui.colour(Colour::bg1));
    Rect rows = box;
    for (const GhostRow& row : times.rows) {
      const Rect cells = rows.cut_top(row_height).inset(0, std::min(1.0F, row_height / 8));
      draw_cells(ui, cells, predicted ? row.then : row.now, ui.theme().slice(ghost_slot(row.kind)));
      const std::string name = std::string("why.ghost.") + (predicted ? "then." : "now.") + row.label;
      tooltip(ui, interact(ui, name, cells, {.disabled = false, .below_others = true, .no_focus = true}), cells,
              row.label);
    }
    const std::int64_t length_ns = predicted ? times.after_ns : times.before_ns;
    const float end = x_of(length_ns);
    if (predicted && times.after_ns < times.before_ns) {
      const Rect saved{end, box.y0, x_of(times.before_ns), box.y1};
      fill(ui, saved, ui.colour(Colour::hatch_bg));
      hatch(ui, list, saved, ui.colour(Colour::hatch));
    }
    const std::string total = format_duration(static_cast<double>(length_ns));
    draw_end(ui, box, end, stale && predicted ? "..." : predicted ? "≈ " + total : "now " + total, predicted);
    if (!predicted) continue;
    const Pixel edge = ui.colour(stale ? Colour::text3 : Colour::accent);
    dashed_line(ui, list, {box.x0, box.y0}, {end, box.y0}, edge);
    dashed_line(ui, list, {box.x0, box.y1}, {end, box.y1}, edge);
    dashed_line(ui, list, {box.x0, box.y0}, {box.x0, box.y1}, edge);
    dashed_line(ui, list, {end, box.y0}, {end, box.y1}, edge);
  }
}

}  // namespace accelscope::app
