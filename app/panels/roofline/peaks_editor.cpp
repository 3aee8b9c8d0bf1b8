#include "app/panels/roofline/peaks_editor.h"

#include <fmt/format.h>

#include <utility>

#include "core/base/text.h"
#include "core/model/unit.h"
#include "render/base/icons.h"
#include "render/widgets/controls.h"
#include "render/widgets/layout.h"
#include "render/widgets/text_input.h"

namespace accelscope::app {

using namespace render;  // NOLINT: this file is nothing but drawing

namespace {

constexpr float kPeakRow = 32, kTitleWidth = 120, kFieldWidth = 140;

}  // namespace

bool PeaksEditor::draw(const PanelContext& context, Rect area, const PeakList& peaks) {
  Ui& ui = context.ui;
  if (model_ != peaks.model) {
    model_ = peaks.model;
    fields_.clear();
  }
  Rect head = area.cut_top(ui.px(36));
  const ButtonOptions done{.label = "Done", .kind = ButtonKind::primary};
  const bool finished =
      button(ui, "roofline.peaks.done", head.cut_right(button_width(ui, done)).middle(ui.px(size::kControl)), done);
  head.cut_right(ui.px(12));
  heading(ui, head, "Peaks", peaks.model);
  const std::string_view note =
      "Typed with or without the unit: 435 GB/s, 78.6T. Enter keeps a value for every session of a device of this "
      "name; an "
      "empty field goes back to what is built in.";
  const TextOptions quiet{.style = TextStyle::small, .colour = Colour::text3};
  const float height = paragraph_height(ui, quiet.style, note, area.width(), ui.px(16));
  draw_paragraph(ui, area.cut_top(height + ui.px(8)), note, quiet, ui.px(16));
  ScrollArea scroll(ui, "roofline.peaks", area, ui.px(kPeakRow) * static_cast<float>(peaks.all.size()));
  Rect rest = scroll.content();
  for (const Peak& peak : peaks.all) draw_row(context, rest.cut_top(ui.px(kPeakRow)), peaks, peak);
  return finished;
}

void PeaksEditor::draw_row(const PanelContext& context, Rect row, const PeakList& peaks, const Peak& peak) {
  Ui& ui = context.ui;
  Field& field = fields_[peak.what];
  if (!field.touched) field.text = peak.value ? format_value(*peak.value, peak.unit) : "";
  draw_text(ui, row.cut_left(ui.px(kTitleWidth)), peak.title);
  const std::string name = "roofline.peak." + peak.what;
  const TextInputResult hand =
      text_input(ui, name, row.cut_left(ui.px(kFieldWidth)).middle(ui.px(size::kControl)), field.text,
                 {.placeholder = std::string_view(peak.unit),
                  .mono = true,
                  .error = !field.error.empty(),
                  .focus_now = std::exchange(field.refocus, false)});
  if (hand.changed) {
    field.touched = true;
    field.error.clear();
  }
  if (hand.cancelled) field = {};
  if (hand.submitted) enter(context, peaks, peak, field);
  row.cut_left(ui.px(4));
  const Rect reset = row.cut_left(ui.px(size::kControl)).middle(ui.px(size::kControl));
  if (peak.origin == PeakOrigin::user) {
    const std::string back = peak.built_in ? fmt::format("Back to {}", format_value(*peak.built_in, peak.unit))
                                           : std::string("Forget it: nothing is built in");
    if (icon_button(ui, name + ".reset", reset, icon::kUndo, back)) {
      told(context, book_.forget(peaks.model, peak.what));
      field = {};
    }
  }
  row.cut_left(ui.px(6));
  const bool wrong = !field.error.empty();
  draw_text(ui, row, wrong ? field.error : peak.source,
            {.style = TextStyle::small, .colour = wrong ? Colour::error : Colour::text3});
}

void PeaksEditor::enter(const PanelContext& context, const PeakList& peaks, const Peak& peak, Field& field) {
  if (trimmed(field.text).empty()) {
    told(context, book_.forget(peaks.model, peak.what));
    field = {};
    return;
  }
  const Result<double> value = parse_peak(field.text, peak.unit);
  if (!value) {
    field.error = value.message();
    field.touched = true;
    field.refocus = true;
    return;
  }
  told(context, book_.enter({peaks.model, peak.what, *value}));
  field = {};
}

void PeaksEditor::told(const PanelContext& context, const Result<void>& done) const {
  if (!done) context.actions.notify(Severity::warning, done.message());
}

}  // namespace accelscope::app
