// A box round what a finding rests on, open where it goes on outside of the view, with its reason on a tab above: of
// the chosen finding, and of the largest others where they do not crowd. A click on the tab chooses it and opens its
// panel.
#include <imgui.h>

#include <algorithm>

#include "app/session/shown_advice.h"
#include "app/timeline/frame.h"
#include "core/base/format.h"
#include "render/base/icons.h"
#include "render/widgets/popup.h"

namespace accelscope::app {
namespace {

using namespace render;

constexpr float kBoxLine = 1.5F;  // units
constexpr float kTabHeight = 16;
constexpr float kLeastBox = 24;          // a narrower one is shown only if it was chosen
constexpr std::size_t kMostUnasked = 2;  // boxes that nobody asked for

struct WarningBox {
  const Finding* finding = nullptr;
  const FindingPlace* place = nullptr;
  std::vector<Rect> parts;  // of rows that lie together; from edge to edge of the canvas where it goes on
  Rect tab;
  std::string text;
};

[[nodiscard]] TimeRange range_in_view(const TimelineFrame& frame) {
  return {static_cast<std::int64_t>(frame.ns(frame.canvas_x)), static_cast<std::int64_t>(frame.ns(frame.rows.x1)) + 1};
}

// Of the rows that hold one of its tracks, those in sight.
[[nodiscard]] std::vector<Rect> parts_of(const TimelineFrame& frame, std::size_t finding, const TimeRange& range) {
  std::vector<Rect> parts;
  const float x0 = frame.x(static_cast<double>(range.begin_ns)), x1 = frame.x(static_cast<double>(range.end_ns));
  const auto add = [&](std::size_t first, std::size_t last) {
    const float top = top_of(frame, first);
    const float bottom = top_of(frame, last) + frame.ui.px(frame.state.rows[last].height);
    if (bottom > frame.rows.y0 && top < frame.rows.y1)
      parts.push_back({x0, top, std::max(x1, x0 + frame.ui.px(3)), bottom});
  };
  const std::size_t pinned = frame.state.pinned_rows;  // which lie apart from the others
  for (const WarningIndex::RowRun& run : frame.state.warnings.rows_of(finding)) {
    if (run.first < pinned) add(run.first, std::min(run.last, pinned - 1));
    if (run.last >= pinned) add(std::max(run.first, pinned), run.last);
  }
  return parts;
}

[[nodiscard]] std::optional<WarningBox> box_of(const TimelineFrame& frame, std::size_t number) {
  const Finding& finding = frame.state.warnings.advice().findings[number];
  WarningBox box{&finding, frame.state.warnings.longest_place(number, range_in_view(frame)), {}, {}, {}};
  if (box.place == nullptr) return {};
  box.parts = parts_of(frame, number, box.place->range);
  if (box.parts.empty()) return {};
  Ui& ui = frame.ui;
  box.text = box.place->note.empty() ? finding.tab : box.place->note;
  const float width = text_width(ui, TextStyle::small_strong, box.text) + ui.px(34);
  const Rect& first = box.parts.front();
  const float x = std::clamp(first.x0, frame.canvas_x + ui.px(2), std::max(frame.canvas_x, frame.rows.x1 - width));
  const float y = std::max(first.y0 - ui.px(kTabHeight), frame.rows.y0);
  box.tab = {x, y, x + width, y + ui.px(kTabHeight)};
  return box;
}

[[nodiscard]] bool overlap(const Rect& a, const Rect& b) {
  return a.x0 < b.x1 && b.x0 < a.x1 && a.y0 < b.y1 && b.y0 < a.y1;
}

[[nodiscard]] bool crowds(const WarningBox& box, const std::vector<WarningBox>& others) {
  return std::any_of(others.begin(), others.end(), [&](const WarningBox& other) {
    if (overlap(box.tab, other.tab)) return true;
    return std::any_of(box.parts.begin(), box.parts.end(), [&](const Rect& part) {
      return std::any_of(other.parts.begin(), other.parts.end(), [&](const Rect& each) { return overlap(part, each); });
    });
  });
}

[[nodiscard]] std::vector<WarningBox> boxes_in_view(const TimelineFrame& frame, const Advice& advice) {
  std::vector<WarningBox> boxes;
  for (std::size_t i = 0; i < advice.findings.size(); ++i) {
    if (advice.findings[i].key != frame.tab.chosen_warning) continue;
    if (auto box = box_of(frame, i)) boxes.push_back(std::move(*box));
  }
  // The gravest only.
  constexpr std::size_t kMostTried = 6;
  std::size_t unasked = 0, tried = 0;
  for (std::size_t i = 0; i < advice.findings.size(); ++i) {
    const Finding& finding = advice.findings[i];
    if (unasked == kMostUnasked || tried == kMostTried) break;
    if (finding.rule->of_device || finding.key == frame.tab.chosen_warning) continue;
    ++tried;
    auto box = box_of(frame, i);
    if (!box || box->parts.front().width() < frame.ui.px(kLeastBox) || crowds(*box, boxes)) continue;
    boxes.push_back(std::move(*box));
    ++unasked;
  }
  return boxes;
}

// Its sides, but for those outside of the view.
void draw_sides(const TimelineFrame& frame, const Rect& part) {
  Ui& ui = frame.ui;
  const float line = std::max(1.0F, ui.px(kBoxLine)), left = std::max(part.x0, frame.canvas_x),
              right = std::min(part.x1, frame.rows.x1);
  const Pixel colour = ui.colour(Colour::warning_line);
  fill(ui, {left, part.y0, right, part.y0 + line}, colour);
  fill(ui, {left, part.y1 - line, right, part.y1}, colour);
  if (part.x0 >= frame.canvas_x) fill(ui, {part.x0, part.y0, part.x0 + line, part.y1}, colour);
  if (part.x1 <= frame.rows.x1) fill(ui, {part.x1 - line, part.y0, part.x1, part.y1}, colour);
}

// How long nothing runs, inside of the box.
void draw_idle(const TimelineFrame& frame, const WarningBox& box) {
  if (!box.finding->rule->of_gaps) return;
  Ui& ui = frame.ui;
  const Rect& part = box.parts.front();
  const float left = std::max(part.x0, frame.canvas_x), right = std::min(part.x1, frame.rows.x1);
  const std::string text = "idle " + format_duration(static_cast<double>(box.place->range.length_ns()));
  const float width = text_width(ui, TextStyle::mono_small, text) + ui.px(10);
  if (right - left < width + ui.px(8)) return;
  const float middle = (left + right) / 2, y = part.y0 + ui.px(2);
  const Rect chip{middle - width / 2, y, middle + width / 2, y + ui.px(16)};
  fill(ui, chip, ui.colour(Colour::bg1), size::kChipRadius);
  draw_text(ui, chip, text, {.style = TextStyle::mono_small, .colour = Colour::text2, .align = Align::centre});
}

void draw_tab(TimelineFrame& frame, std::size_t index, const WarningBox& box) {
  Ui& ui = frame.ui;
  const Interaction touch = interact(ui, frame.name("warning.") + std::to_string(index), box.tab,
                                     {.disabled = false, .below_others = false, .no_focus = true});
  fill(ui, box.tab, ui.colour(Colour::warning), size::kChipRadius);
  Rect inside = box.tab.inset(ui.px(6), 0);
  const Pixel ink = ui.colour(Colour::on_accent);
  draw_icon(ui, inside.cut_left(ui.px(18)), icon::kWarning, ink, TextStyle::icon12);
  draw_text(ui, inside, box.text, {.style = TextStyle::small_strong, .colour = Colour::on_accent, .fit = Fit::clip});
  if (touch.hovered) set_cursor(Cursor::hand);
  tooltip(ui, touch, box.tab,
          box.finding->headline + (box.finding->is_error ? "" : "\nMending it: " + saving_text(*box.finding)));
  if (!touch.clicked) return;
  frame.tab.chosen_warning = box.finding->key;
  frame.state.warning_chosen = true;
}

}  // namespace

void draw_warnings(TimelineFrame& frame) {
  const std::shared_ptr<const Advice> advice = shown_advice(frame.tab);
  if (!advice || advice->findings.empty()) return;
  frame.state.warnings.update(advice, frame.state.rows_version, frame.state.rows.size(),
                              [&](std::size_t row) { return tracks_of(frame, frame.state.rows[row]); });
  const Rect canvas = frame.canvas(frame.rows);
  frame.list->PushClipRect(low(canvas), high(canvas), true);
  const std::vector<WarningBox> boxes = boxes_in_view(frame, *advice);
  for (std::size_t i = 0; i < boxes.size(); ++i) {
    for (const Rect& part : boxes[i].parts) draw_sides(frame, part);
    draw_idle(frame, boxes[i]);
    frame.ui.register_widget(frame.name("warning.box.") + std::to_string(i), boxes[i].parts.front());
  }
  for (std::size_t i = 0; i < boxes.size(); ++i) draw_tab(frame, i, boxes[i]);
  frame.list->PopClipRect();
}

}  // namespace accelscope::app
