// What the devices executed, in the order of the program: of the lit line, or of all.
#include "app/content/listings/analysis_listings.h"
#include "app/panels/source/panel.h"
#include "render/base/icons.h"
#include "render/widgets/controls.h"
#include "render/widgets/layout.h"
#include "render/widgets/states.h"

namespace accelscope::app {

using namespace render;  // NOLINT: this file is nothing but drawing

void SourcePanel::draw_instructions(const PanelContext& context, Rect area, bool beside_text) {
  Ui& ui = context.ui;
  Rect head = area.cut_top(ui.px(32));
  fill(ui, head, ui.colour(Colour::bg2));
  head = head.inset(ui.px(size::kPanelPadding), 0);
  std::string of_line;
  if (lit_) {
    const std::array<Segment, 2> choices = {{{.label = "Of the line"}, {.label = "All"}}};
    int chosen = instructions_of_line_ ? 0 : 1;
    const Rect place = head.cut_right(segmented_width(ui, choices)).middle(ui.px(size::kSmallControl));
    if (segmented(ui, "source.instructions.of", place, choices, chosen)) instructions_of_line_ = chosen == 0;
    head.cut_right(ui.px(8));
    if (instructions_of_line_) of_line = lit_->path + ":" + std::to_string(lit_->line);
  }
  const EventFilter& filter = context.tab.choices.filter;
  const auto listing = context.analysis().ask_of(
      instructions_, filter, of_line, [filter, of_line](const QueryContext& query) -> SessionAnalysis::Found<Listing> {
        ListingRequest request{filter, {}};
        if (!of_line.empty()) request.by = {of_line};
        auto made = list_instructions(query, request);
        if (!made) return made.error();
        return std::shared_ptr<const Listing>(std::make_shared<Listing>(std::move(*made)));
      });
  std::string hint = of_line.empty() ? "what the devices executed" : "of line " + std::to_string(lit_->line);
  if (listing && !listing->note.empty()) hint = listing->note;
  if (instructions_.stale()) hint = "of the line before";
  heading(ui, head, beside_text ? "Instructions" : "", hint);
  if (!instructions_.error.empty()) {
    empty_state(ui, "source.instructions.error", area, icon::kWarning, instructions_.error);
  } else if (!listing) {
    empty_state(ui, "source.instructions.loading", area, icon::kClock, "Listing the instructions.");
  } else if (listing->rows.row_count() == 0) {
    empty_state(
        ui, "source.instructions.empty", area, icon::kChip,
        of_line.empty() ? "No engine, stream or core recorded what it executed." : "No instruction names this line.");
  } else {
    (void)instruction_rows_.draw(context, "source.instructions", area, listing);
  }
}

}  // namespace accelscope::app
