// Which ranks the timeline shows: all, a few above each other, or one in a tab of its own.
#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>

#include "app/panels/collectives/panel.h"
#include "app/panels/scope.h"
#include "render/base/icons.h"
#include "render/widgets/controls.h"
#include "render/widgets/menu.h"

namespace accelscope::app {

using namespace render;  // NOLINT: this file is nothing but drawing

void CollectivesPanel::choose_rank(const PanelContext& context, std::uint32_t rank, bool zoom) {
  const CollectivesReport& report = *shown_->report;
  if (report.of->ranks[rank].missing) return;
  chosen_rank_ = rank;
  select_target(context, shown_->ranks->targets[rank], zoom);
}

std::size_t CollectivesPanel::shown_ranks(const SessionTab& tab) const {
  const Collectives& all = *shown_->report->of;
  if (tab.choices.rows.only.empty()) return all.present();
  const std::unordered_set<TrackNumber> only(tab.choices.rows.only.begin(), tab.choices.rows.only.end());
  return static_cast<std::size_t>(std::count_if(all.ranks.begin(), all.ranks.end(), [&](const CollectiveRank& rank) {
    return !rank.tracks.empty() && only.contains(rank.tracks.front());
  }));
}

// None: all of them.
void CollectivesPanel::show_ranks(const PanelContext& context, const std::vector<std::uint32_t>& ranks) const {
  std::vector<TrackNumber> only;
  for (const std::uint32_t rank : ranks) {
    const std::vector<TrackNumber>& tracks = shown_->report->of->ranks[rank].tracks;
    only.insert(only.end(), tracks.begin(), tracks.end());
  }
  context.tab.change([&](ViewChoices& choices) { choices.rows.only = std::move(only); });
}

void CollectivesPanel::draw_ranks_menu(const PanelContext& context, Rect& head) {
  Ui& ui = context.ui;
  if (!shown_ || shown_->report->of->present() < 2) return;
  const CollectivesReport& report = *shown_->report;
  const std::size_t all = report.of->present(), shown = shown_ranks(context.tab);
  const std::string label =
      shown == all ? fmt::format("All {} ranks shown", all) : fmt::format("{} of {} ranks shown", shown, all);
  const ButtonOptions options{
      .label = label, .icon = icon::kEye, .tooltip = "Which ranks the timeline shows above each other"};
  const float width = button_width(ui, options);
  const Rect place = head.cut_right(width).middle(ui.px(size::kControl));
  head.cut_right(ui.px(12));
  if (button(ui, "collectives.shown", place, options)) open_menu_below(ui, "collectives.shown_menu", place);
  const std::vector<std::uint32_t> few = ranks_to_compare(report, kUsuallyShown);
  const std::string chosen = chosen_rank_ ? report.of->ranks[*chosen_rank_].name : std::string();
  std::vector<MenuItem> items = {
      {.id = "all", .label = "All ranks in one view", .checked = shown == all},
      {.id = "few",
       .label = fmt::format("{} ranks above each other{}", few.size(),
                            report.straggler ? ", the straggler among them" : "")},
      {.id = "many", .label = fmt::format("{} ranks", ranks_to_compare(report, kMostShown).size())}};
  if (chosen_rank_) {
    items.push_back(
        {.id = "add", .label = "Show " + chosen + " too", .enabled = shown < kMostShown, .line_above = true});
    items.push_back({.id = "one", .label = "Only " + chosen});
    items.push_back({.id = "tab", .label = "Open " + chosen + " in a tab"});
  }
  const auto picked = popup_menu(ui, "collectives.shown_menu", items);
  if (!picked) return;
  if (*picked == "all") show_ranks(context, {});
  if (*picked == "few") show_ranks(context, few);
  if (*picked == "many") show_ranks(context, ranks_to_compare(report, kMostShown));
  if (*picked == "one") show_ranks(context, {*chosen_rank_});
  if (*picked == "add") {
    std::vector<std::uint32_t> ranks = {*chosen_rank_};
    const std::vector<TrackNumber>& only = context.tab.choices.rows.only;
    for (std::uint32_t r = 0; r < report.of->ranks.size(); ++r) {
      const std::vector<TrackNumber>& tracks = report.of->ranks[r].tracks;
      const bool is_shown = !tracks.empty() && std::find(only.begin(), only.end(), tracks.front()) != only.end();
      if (is_shown && r != *chosen_rank_) ranks.push_back(r);
    }
    show_ranks(context, ranks);
  }
  if (*picked == "tab") {
    const CollectiveRank& rank = report.of->ranks[*chosen_rank_];
    context.actions.open_part(rank.name, rank.host.empty() ? rank.device : rank.host + " " + rank.device, rank.tracks);
  }
}

}  // namespace accelscope::app
