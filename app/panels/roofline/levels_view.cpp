#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "app/panels/roofline/panel.h"
#include "core/base/format.h"
#include "core/base/text.h"
#include "imgui.h"
#include "render/widgets/widgets.h"

namespace accelscope::app::panels {

using namespace render;  // NOLINT: this file is nothing but drawing

namespace {

constexpr float kBoxHeight = 112, kRowGap = 76, kLeastGap = 72, kMostGap = 92, kMostBox = 210;
constexpr float kThinnest = 2, kThickest = 12;  // units of an arrow
constexpr std::string_view kUnknown = "–";

[[nodiscard]] std::string rate_text(const std::optional<double>& value, Unit unit) {
  return value ? format_value(*value, unit) : std::string(kUnknown);
}
[[nodiscard]] std::string share_text(const std::optional<double>& share) {
  constexpr double kLeastShare = 1e-4;
  if (share && *share > 0 && *share < kLeastShare) return "<0.01 %";
  return share ? format_share(*share) : std::string(kUnknown);
}

// Whether a box lies on the way of the path: at one of its ends, or between them.
[[nodiscard]] bool is_on(const analysis::LevelPath& path, const analysis::LevelBox& box) {
  return path.from == box.name || path.to == box.name ||
         (path.by_transfers && box.kind == analysis::MemoryBox::Kind::mover);
}

[[nodiscard]] const analysis::LevelBox* box_named(const analysis::DeviceLevels& levels, std::string_view name) {
  const auto found =
      std::ranges::find_if(levels.boxes, [&](const analysis::LevelBox& box) { return box.name == name; });
  return found == levels.boxes.end() ? nullptr : &*found;
}

[[nodiscard]] const analysis::LevelBox* mover_of(const analysis::DeviceLevels& levels) {
  const auto found = std::ranges::find_if(
      levels.boxes, [](const analysis::LevelBox& box) { return box.kind == analysis::MemoryBox::Kind::mover; });
  return found == levels.boxes.end() ? nullptr : &*found;
}

[[nodiscard]] bool has_opposite(const analysis::DeviceLevels& levels, const analysis::LevelPath& path) {
  return std::ranges::any_of(
      levels.paths, [&](const analysis::LevelPath& other) { return other.from == path.to && other.to == path.from; });
}

[[nodiscard]] bool box_limits(const analysis::DeviceLevels& levels, const analysis::LevelBox& box) {
  if (levels.compute_limits && box.is_matrix) return true;
  return std::ranges::any_of(levels.paths,
                             [&](const analysis::LevelPath& path) { return path.limiting && is_on(path, box); });
}

[[nodiscard]] int row_count(const analysis::DeviceLevels& levels) {
  int rows = 1;
  for (const analysis::LevelBox& box : levels.boxes) rows = std::max(rows, box.row + 1);
  return rows;
}

[[nodiscard]] float diagram_units(const analysis::DeviceLevels& levels) {
  const auto rows = static_cast<float>(row_count(levels));
  return rows * kBoxHeight + (rows - 1) * kRowGap + 24;  // the tab of the reason hangs below its box
}

struct BoxLine {
  std::string label, value;
  std::string short_label = {};
};

[[nodiscard]] std::vector<BoxLine> lines_of(const analysis::DeviceLevels& levels, const analysis::LevelBox& box) {
  const auto share_of_active = [&](std::int64_t ns) {
    return levels.active_ns > 0 ? format_share(static_cast<double>(ns) / static_cast<double>(levels.active_ns))
                                : std::string(kUnknown);
  };
  std::vector<BoxLine> lines;
  if (box.kind == analysis::MemoryBox::Kind::memory) {
    lines.push_back({"read", box.read_bytes > 0 ? format_bytes(box.read_bytes) : "0 B"});
    lines.push_back({"written", box.written_bytes > 0 ? format_bytes(box.written_bytes) : "0 B", "write"});
    if (box.can_have_peak) lines.push_back({"peak", rate_text(box.peak_value, analysis::kBytesPerSecond)});
  } else if (box.kind == analysis::MemoryBox::Kind::mover) {
    lines.push_back({"busy", box.count > 0 ? share_of_active(box.busy_ns) : std::string(kUnknown)});
    lines.push_back(
        {levels.transfers.word.empty() ? "transfers" : levels.transfers.word, format_count(box.count), "count"});
    lines.push_back(
        {"mean size",
         levels.transfers.mean_bytes > 0 ? format_bytes(levels.transfers.mean_bytes) : std::string(kUnknown), "size"});
  } else {
    lines.push_back({"busy", box.count > 0 ? share_of_active(box.busy_ns) : std::string(kUnknown)});
    lines.push_back({"events", format_count(box.count)});
    if (levels.flops > 0 && levels.active_ns > 0 && box.is_matrix)
      lines.push_back(
          {"achieved",
           format_value(levels.flops / static_cast<double>(levels.active_ns) * 1e9, analysis::kFlopsPerSecond),
           "rate"});
  }
  return lines;
}

// What the bar at a box's foot shows.
[[nodiscard]] std::optional<double> filled_share(const analysis::DeviceLevels& levels, const analysis::LevelBox& box) {
  if (box.kind != analysis::MemoryBox::Kind::memory) {
    if (levels.active_ns <= 0 || box.count == 0) return std::nullopt;
    return static_cast<double>(box.busy_ns) / static_cast<double>(levels.active_ns);
  }
  if (!box.peak_value || levels.active_ns <= 0) return std::nullopt;
  return (box.read_bytes + box.written_bytes) / static_cast<double>(levels.active_ns) * 1e9 / *box.peak_value;
}

[[nodiscard]] std::string corner_text(const analysis::DeviceLevels& levels, const analysis::LevelBox& box) {
  if (box.capacity_bytes) return format_bytes(*box.capacity_bytes);
  if (box.kind == analysis::MemoryBox::Kind::mover)
    return box.peak_value ? format_value(*box.peak_value, analysis::kBytesPerSecond) : "";
  const analysis::Peak* compute = levels.peaks.best_compute();
  return box.is_matrix && compute != nullptr ? format_value(*compute->value, analysis::kFlopsPerSecond) : "";
}

}  // namespace

float LevelsView::least_height(const Ui& ui, const analysis::DeviceLevels& levels) {
  return ui.px(diagram_units(levels) + 8 + size::kTableHead +
               size::kTableRow * static_cast<float>(levels.paths.size() + 1) + 12);
}

Rect LevelsView::rect_of(const Ui& ui, const Rect& area, const analysis::LevelBox& box) const {
  constexpr float kColumns = 3;
  const float least = ui.px(kLeastGap), most = ui.px(kMostGap);
  const float gap = std::round(std::clamp(area.width() * 0.12F, least, most));
  const float width = std::floor(std::min((area.width() - gap * (kColumns - 1)) / kColumns, ui.px(kMostBox)));
  // The last column ends where the area does: room that is left over goes between the boxes.
  const float step = std::floor((area.width() - width) / (kColumns - 1));
  const float x = area.x0 + step * static_cast<float>(box.column);
  const float y = area.y0 + ui.px(kBoxHeight + kRowGap) * static_cast<float>(box.row);
  return {x, y, x + width, y + ui.px(kBoxHeight)};
}

void LevelsView::draw(const PanelContext& context, const Rect& area, const analysis::DeviceLevels& levels, bool faded) {
  Rect rest = area;
  const Rect diagram = rest.cut_top(context.ui.px(diagram_units(levels)));
  draw_arrows(context, diagram, levels, faded);
  draw_boxes(context, diagram, levels, faded);
  draw_reason(context, diagram, levels);
  rest.cut_top(context.ui.px(8));
  draw_table(context, rest, levels, faded);
}

void LevelsView::draw_boxes(const PanelContext& context, const Rect& area, const analysis::DeviceLevels& levels,
                            bool faded) const {
  for (const analysis::LevelBox& box : levels.boxes) {
    const Rect rect = rect_of(context.ui, area, box);
    context.ui.register_widget("roofline.box." + box.name, rect);
    draw_box(context, rect, levels, box, faded);
  }
}

void LevelsView::draw_box(const PanelContext& context, const Rect& rect, const analysis::DeviceLevels& levels,
                          const analysis::LevelBox& box, bool faded) const {
  Ui& ui = context.ui;
  const bool limits = box_limits(levels, box);
  fill(ui, rect, ui.colour(Colour::bg1), size::kControlRadius);
  outline(ui, rect, ui.colour(limits ? Colour::warning_line : Colour::line2), size::kControlRadius, limits ? 1.5F : 1);
  constexpr float kNarrowBox = 130;
  const bool narrow = rect.width() < ui.px(kNarrowBox);
  const TextStyle numbers = narrow ? TextStyle::mono_small : TextStyle::mono;
  Rect inner = rect.inset(ui.px(narrow ? 6 : 10), ui.px(8));
  Rect head = inner.cut_top(ui.px(20));
  const float name = draw_text(ui, head, box.name, {.style = TextStyle::heading});
  head.cut_left(name + ui.px(8));
  const std::string corner = corner_text(levels, box);
  if (text_width(ui, TextStyle::mono_small, corner) <= head.width()) draw_text(ui, head, corner, kMonoHintRight);
  std::string said = box.title;
  for (const BoxLine& line : lines_of(levels, box)) {
    said += fmt::format("\n{}: {}", line.label, line.value);
    Rect row = inner.cut_top(ui.px(18));
    const float width = text_width(ui, numbers, line.value);
    if (width > row.width()) row = {rect.x0 + ui.px(3), row.y0, rect.x1 - ui.px(3), row.y1};
    if (width > row.width()) continue;  // a number that is cut says another one
    draw_text(ui, row.cut_right(width), line.value,
              {.style = numbers, .colour = faded ? Colour::text3 : Colour::text1, .align = Align::right});
    row.cut_right(ui.px(4));
    // A word that is cut says nothing.
    const std::string& label =
        text_width(ui, TextStyle::small, line.label) <= row.width() ? line.label : line.short_label;
    if (text_width(ui, TextStyle::small, label) <= row.width()) draw_text(ui, row, label, kLabelText);
  }
  const Rect bar = inner.cut_bottom(ui.px(3));
  fill(ui, bar, ui.colour(Colour::bg4), 1);
  if (const auto share = filled_share(levels, box)) {
    Rect filled = bar;
    filled.x1 = bar.x0 + bar.width() * static_cast<float>(std::clamp(*share, 0.0, 1.0));
    fill(ui, filled, ui.colour(limits && !faded ? Colour::warning_line : Colour::text3), 1);
  }
  const std::string card = "roofline.box." + box.name;
  const Interaction response =
      interact(ui, card, rect,
               {.below_others = true, .keys = FocusStopKind::open, .group = "roofline.boxes", .label = box.name});
  if (response.hovered) tooltip(ui, response, rect, said);
}

void LevelsView::draw_arrows(const PanelContext& context, const Rect& area, const analysis::DeviceLevels& levels,
                             bool faded) const {
  Ui& ui = context.ui;
  double most = 0;
  for (const analysis::LevelPath& path : levels.paths) most = std::max(most, path.bandwidth.value_or(0));
  const analysis::LevelBox* mover = mover_of(levels);
  for (const analysis::LevelPath& path : levels.paths) {
    const analysis::LevelBox* from = box_named(levels, path.from);
    const analysis::LevelBox* to = box_named(levels, path.to);
    if (from == nullptr || to == nullptr || from == to) continue;
    const Rect a = rect_of(ui, area, *from), b = rect_of(ui, area, *to);
    const bool opposite = has_opposite(levels, path);
    const bool is_back = to->column < from->column || (to->column == from->column && to->row < from->row);
    Arrow arrow{.path = &path};
    const auto across = [&](const Rect& left, const Rect& right) {  // between two neighbours of a row
      const float middle = left.centre().y - ui.px(4) + (opposite ? ui.px(is_back ? 26 : -26) : 0);
      const float x0 = left.x1 + ui.px(3), x1 = right.x0 - ui.px(3);
      arrow.points =
          is_back ? std::vector<Point>{{x1, middle}, {x0, middle}} : std::vector<Point>{{x0, middle}, {x1, middle}};
      arrow.label = {x0, middle - ui.px(24), x1, middle + ui.px(24)};
      draw_arrow(context, arrow, most, path.limiting, faded);
    };
    if (from->row == to->row) {
      const Rect& left = is_back ? b : a;
      const Rect& right = is_back ? a : b;
      if (path.by_transfers && mover != nullptr) {
        const Rect between = rect_of(ui, area, *mover);
        across(left, between);
        across(between, right);
      } else {
        across(left, right);
      }
    } else if (from->column == to->column) {
      const float x = std::round(a.x1 - std::clamp(a.width() * 0.16F, ui.px(14), ui.px(30)));
      const bool down = to->row > from->row;
      arrow.points = down ? std::vector<Point>{{x, a.y1 + ui.px(3)}, {x, b.y0 - ui.px(3)}}
                          : std::vector<Point>{{x, a.y0 - ui.px(3)}, {x, b.y1 + ui.px(3)}};
      const float middle = (arrow.points[0].y + arrow.points[1].y) / 2;
      arrow.label = {x - ui.px(104), middle - ui.px(16), x - ui.px(9), middle + ui.px(34)};
      draw_arrow(context, arrow, most, path.limiting, faded);
    } else {  // an elbow through the space between the rows; the two directions at two heights
      const Rect& upper = from->row < to->row ? a : b;
      const Rect& lower = from->row < to->row ? b : a;
      const float shift = opposite ? ui.px(is_back ? 14 : -14) : 0;
      const float y = upper.y1 + ui.px(37) + shift,
                  near_edge = std::clamp(upper.width() * 0.3F - ui.px(22), ui.px(10), ui.px(34));
      const float upper_x = upper.x0 + near_edge + ui.px(opposite && is_back ? 16 : 0),
                  lower_x = lower.centre().x + shift * 2;
      std::vector<Point> corners = {
          {upper_x, upper.y1 + ui.px(3)}, {upper_x, y}, {lower_x, y}, {lower_x, lower.y0 - ui.px(3)}};
      if (from->row > to->row) std::reverse(corners.begin(), corners.end());
      arrow.points = std::move(corners);
      const float left = std::min(upper_x, lower_x) + ui.px(6);
      arrow.label = {left, is_back && opposite ? y : y - ui.px(20), left + ui.px(150),
                     is_back && opposite ? y + ui.px(20) : y};
      draw_arrow(context, arrow, most, path.limiting, faded);
    }
  }
}

void LevelsView::draw_arrow(const PanelContext& context, const Arrow& arrow, double most, bool limits,
                            bool faded) const {
  Ui& ui = context.ui;
  const analysis::LevelPath& path = *arrow.path;
  const double part = most > 0 ? path.bandwidth.value_or(0) / most : 0;
  const float width = ui.px(kThinnest + (kThickest - kThinnest) * static_cast<float>(part));
  const float head = width / 2 + ui.px(4);  // half of the head's breadth, and its length
  const Colour token = limits && !faded ? Colour::warning_line : Colour::text3;
  const Pixel colour = ui.colour(token);
  ImDrawList* list = ui.draw();
  const std::vector<Point>& points = arrow.points;
  for (std::size_t i = 0; i + 1 < points.size(); ++i) {
    Point begin = points[i], end = points[i + 1];
    const bool is_last = i + 2 == points.size();
    const float length = std::hypot(end.x - begin.x, end.y - begin.y);
    if (length <= 0) continue;
    const Point along = {(end.x - begin.x) / length, (end.y - begin.y) / length};
    const float short_by = is_last ? head : -width / 2;  // corners are filled
    list->AddLine({begin.x, begin.y}, {end.x - along.x * short_by, end.y - along.y * short_by}, colour, width);
    if (!is_last) continue;
    const Point base = {end.x - along.x * head, end.y - along.y * head};
    list->AddTriangleFilled({end.x, end.y}, {base.x - along.y * head, base.y + along.x * head},
                            {base.x + along.y * head, base.y - along.x * head}, colour);
  }
  const Colour words = limits && !faded ? Colour::warning : faded ? Colour::text3 : Colour::text1;
  const bool is_flat = points.size() == 2 && points[0].y == points[1].y;
  const std::string rate = rate_text(path.bandwidth, analysis::kBytesPerSecond);
  const std::string share = path.share ? share_text(path.share) : std::string();
  if (is_flat) {
    const float half = width / 2 + ui.px(3);
    const float y = points[0].y;
    const Rect above = {arrow.label.x0 - ui.px(4), y - half - ui.px(16), arrow.label.x1 + ui.px(4), y - half};
    draw_text(ui, above, rate,
              {.style = TextStyle::mono_small, .colour = words, .align = Align::centre, .fit = Fit::clip});
    const Rect below = {above.x0, y + half, above.x1, y + half + ui.px(16)};
    draw_text(ui, below, share,
              {.style = TextStyle::mono_small,
               .colour = limits && !faded ? Colour::warning : Colour::text2,
               .align = Align::centre});
  } else {
    const std::string whole = share.empty() ? rate : fmt::format("{}  {}", rate, share);
    const bool is_upright = points.size() == 2;  // else an elbow: all in one row
    Rect row = {arrow.label.x0, arrow.label.y0, arrow.label.x1, arrow.label.y0 + ui.px(16)};
    if (!is_upright) {
      draw_text(ui, row, whole, {.style = TextStyle::mono_small, .colour = words});
      return;
    }
    draw_text(ui, row, rate, {.style = TextStyle::mono_small, .colour = words, .align = Align::right});
    row = row.moved(0, row.height());
    draw_text(ui, row, share,
              {.style = TextStyle::mono_small,
               .colour = limits && !faded ? Colour::warning : Colour::text2,
               .align = Align::right});
  }
}

void LevelsView::draw_reason(const PanelContext& context, const Rect& area,
                             const analysis::DeviceLevels& levels) const {
  Ui& ui = context.ui;
  const analysis::LevelBox* at = nullptr;
  for (const analysis::LevelBox& box : levels.boxes) {
    if (!box_limits(levels, box)) continue;
    if (at == nullptr || box.kind == analysis::MemoryBox::Kind::mover) at = &box;
  }
  if (at == nullptr) {  // nothing limits: said, but no sign
    const std::string text = levels.note.empty() ? levels.reason : levels.note;
    const Rect row = {area.x0, area.y1 - ui.px(20), area.x1, area.y1};
    draw_text(ui, row, text.empty() ? text : capitalised(text), kHintText);
    return;
  }
  if (levels.reason.empty()) return;
  const Rect box = rect_of(ui, area, *at);
  const std::string text = "limits: " + levels.reason;
  const float width = text_width(ui, TextStyle::small_strong, text) + ui.px(28);
  const float x = std::clamp(box.x0, area.x0, std::max(area.x0, area.x1 - width));
  const Rect tab = {x, box.y1, x + width, box.y1 + ui.px(20)};
  fill(ui, tab, ui.colour(Colour::warning_line), size::kChipRadius);
  ui.register_widget("roofline.reason", tab);
  Rect row = tab.inset(ui.px(6), 0);
  draw_icon(ui, row.cut_left(ui.px(14)), icon::kWarning, ui.colour(Colour::ink), TextStyle::icon12);
  row.cut_left(ui.px(4));
  draw_text(ui, row, text, {.style = TextStyle::small_strong, .pixel = ui.colour(Colour::ink)});
}

void LevelsView::draw_table(const PanelContext& context, const Rect& area, const analysis::DeviceLevels& levels,
                            bool faded) {
  Ui& ui = context.ui;
  const bool narrow = area.width() < ui.px(680);
  enum Part : std::size_t { path_name, bytes, achieved, peak, share, ideal };
  struct PathColumn {
    Part part;
    TableColumn column;
    bool is_wide = false;
  };
  const std::array<PathColumn, 6> all = {{
      {path_name, {.title = "Path", .width = 0, .sortable = false}},
      {bytes, {.title = "Bytes", .width = 84, .align = Align::right, .sortable = false}},
      {achieved,
       {.title = "Achieved",
        .width = 104,
        .align = Align::right,
        .sortable = false,
        .tooltip = "Bytes or operations over the time in which the device is active"}},
      {peak, {.title = "Peak", .width = 104, .align = Align::right, .sortable = false}, true},
      {share, {.title = "Share of peak", .width = 128, .align = Align::right, .sortable = false}},
      {ideal,
       {.title = "Ideal",
        .width = 84,
        .align = Align::right,
        .sortable = false,
        .tooltip = "How long it would take at its peak"},
       true},
  }};
  std::vector<TableColumn> columns;
  std::vector<Part> parts;
  for (const PathColumn& each : all) {
    if (narrow && each.is_wide) continue;
    columns.push_back(each.column);
    parts.push_back(each.part);
  }
  struct Row {
    std::string name;
    std::optional<double> bytes, rate, peak, share, ideal;
    bool limits = false;
    Unit unit;
  };
  std::vector<Row> rows;
  for (const analysis::LevelPath& path : levels.paths)
    rows.push_back({fmt::format("{} to {}", path.from, path.to), path.bytes, path.bandwidth, path.peak_value,
                    path.share, path.ideal_ns, path.limiting, analysis::kBytesPerSecond});
  if (levels.flops > 0 && levels.active_ns > 0) {
    const analysis::Peak* compute = levels.peaks.best_compute();
    const std::optional<double> most = compute == nullptr ? std::nullopt : compute->value;
    rows.push_back({compute == nullptr ? "Compute" : compute->title, std::nullopt,
                    levels.flops / static_cast<double>(levels.active_ns) * 1e9, most, levels.compute_share,
                    most ? std::optional(levels.flops / *most * 1e9) : std::nullopt, levels.compute_limits,
                    analysis::kFlopsPerSecond});
  }
  const auto content = [&](std::size_t index, std::size_t column) -> TableCell {
    const Row& row = rows[index];
    const Colour words = faded ? Colour::text3 : Colour::text1;
    const auto cell = [&](const std::optional<double>& value, const std::string& text) -> TableCell {
      return {.text = value ? text : std::string(kUnknown), .colour = value ? words : Colour::text3};
    };
    switch (parts[column]) {
      case path_name:
        return {.text = row.name, .colour = words, .style = TextStyle::body};
      case bytes:
        return cell(row.bytes, format_bytes(row.bytes.value_or(0)));
      case achieved:
        return cell(row.rate, format_value(row.rate.value_or(0), row.unit));
      case peak:
        return cell(row.peak, format_value(row.peak.value_or(0), row.unit));
      case ideal:
        return cell(row.ideal, format_duration(row.ideal.value_or(0)));
      case share: {
        TableCell made = cell(row.share, share_text(row.share));
        if (row.share) made.bar = std::clamp(*row.share, 0.0, 1.0);
        made.bar_colour = ui.colour(row.limits && !faded ? Colour::warning_line : Colour::text3);
        if (row.limits && !faded) made.colour = Colour::warning;
        return made;
      }
    }
    return {};
  };
  (void)table(ui, "roofline.paths", area, columns, rows.size(), content, table_);
}

}  // namespace accelscope::app::panels
