#include "app/panels/panel.h"
#include "app/panels/answer_table.h"
#include "core/listing/analysis_listings.h"

namespace accelscope::app::panels {

using namespace render;  // NOLINT: this file is nothing but drawing

namespace {

// Kernels and operations of the devices by total time, with work sizes, resources, occupancy and stalls where they were
// recorded. A click selects all events of a row, and every view follows; a double click opens the source of the longest
// beside its instruction listing.
class HotspotsPanel final : public Panel {
 public:
  void draw(const PanelContext& context, const Rect& area) override;
  [[nodiscard]] std::optional<bool> has_content(const PanelContext& context) const override;
  [[nodiscard]] bool pending() const override { return retained_.task.valid(); }

 private:
  struct HotspotTable {
    analysis::HotspotList hotspots;
    listing::Listing listing;
  };
  void draw_head(const PanelContext& context, Rect head);

  PanelScope scope_ = Scope::session;
  FilteredAnswer<HotspotTable, EventFilter> retained_;
  std::shared_ptr<const HotspotTable> shown_;
  AnswerTable rows_;
};

constexpr float kHotspotsHead = 36, kRoomForHotspotsNote = 100;

}  // namespace

std::optional<bool> HotspotsPanel::has_content(const PanelContext& context) const {
  if (!shown_ || !context.tab.choices.filter.empty()) return std::nullopt;
  return !shown_->hotspots.rows.empty();
}

void HotspotsPanel::draw(const PanelContext& context, const Rect& area) {
  Ui& ui = context.ui;
  const OwnSelection own(context.tab, scope_);
  const EventFilter wanted = scope_filter(context.tab, scope_);
  EventFilter within;  // what rows select more of: the scope without the session's filter
  if (scope_ == Scope::visible) within.range = context.tab.view.whole_ns();
  if (scope_ == Scope::selection && scope_.selection()) within = *scope_.selection();
  shown_ = context.analysis().ask_of(
      retained_, wanted, within, [wanted, within](const QueryContext& query) -> FoundAnswer<HotspotTable> {
        auto found = TRY(analysis::find_hotspots(query, wanted.range.value_or(TimeRange{})));
        listing::Listing listing = listing::hotspots_listing(found, *query.snapshot, within);
        return std::make_shared<const HotspotTable>(HotspotTable{std::move(found), std::move(listing)});
      });
  Rect rest = area;
  draw_head(context, padded(ui, rest.cut_top(ui.px(kHotspotsHead))));
  if (draw_missing(ui, "hotspots", rest, retained_.error, shown_ != nullptr, "Adding up kernels ...",
                   retained_.share()))
    return;
  if (shown_->hotspots.rows.empty())
    return empty_sentence(ui, "hotspots.empty", rest, icon::kChip,
                          wanted.empty()
                              ? "No work of a device in this session: record engines, streams or queues, or open a "
                                "device profile."
                              : "No work of a device passes here.");
  draw_note(ui, rest, shown_->listing.note, kRoomForHotspotsNote);
  const std::shared_ptr<const listing::Listing> listing(shown_, &shown_->listing);
  const AnswerTable::Response response = rows_.draw(context, "hotspots.rows", rest, listing);
  if (!response.double_clicked) return;
  // The selected event brings its line, and the source panel has the listing beside it.
  const std::optional<EventFilter> region = context.tab.region;
  view::select_event(context.tab, shown_->hotspots.rows[*response.double_clicked].longest);
  context.tab.region = region;
  context.actions.show_panel("source");
}

void HotspotsPanel::draw_head(const PanelContext& context, Rect head) {
  Ui& ui = context.ui;
  (void)draw_scope(context, "hotspots.scope", head, scope_);
  std::string hint = retained_.stale() ? "of the earlier range" : scope_text(context.tab, scope_);
  if (shown_) {
    hint = fmt::format("{}, {} of device time; {}", counted(shown_->hotspots.rows.size(), "name"),
                       format_duration(shown_->hotspots.total_ns), hint);
  }
  heading(ui, head, "Hotspots", hint);
}

std::unique_ptr<Panel> make_hotspots_panel(const PanelParts&) { return std::make_unique<HotspotsPanel>(); }

}  // namespace accelscope::app::panels
