#include "app/panels/tables/life_strip.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "app/view/selection.h"
#include "core/base/format.h"
#include "render/base/icons.h"
#include "render/widgets/layout.h"
#include "render/widgets/popup.h"

namespace accelscope::app {

using namespace render;  // NOLINT: this file is nothing but drawing

namespace {

constexpr std::size_t kLifeCells = 512, kMostStayRows = 2;
constexpr float kLifeHead = 26, kLifeRow = 16, kLifeFoot = 6, kLifeLabels = 130;

std::string counted(std::uint64_t count, const char* what) {
  return fmt::format("{} {}{}", format_count(count), what, count == 1 ? "" : "s");
}

TimeRange life_range(const SessionTab& tab) {
  return tab.active.value_or(TimeRange{tab.snapshot->begin_ns, tab.snapshot->end_ns});
}

}  // namespace

std::vector<std::uint32_t> LifeStrip::pools() const {
  std::vector<std::uint32_t> pools;
  if (!stays_) return pools;
  for (const TensorStay& stay : stays_->all) {
    if (pools.empty() || pools.back() != stay.pool) pools.push_back(stay.pool);
  }
  pools.resize(std::min(pools.size(), kMostStayRows));
  return pools;
}

float LifeStrip::height(const PanelContext& context, const std::string& name, const EventFilter& events) {
  SessionAnalysis& analysis = context.analysis();
  const TimeRange range = life_range(context.tab);
  life_ = analysis.ask_of(kept_, events, LifeQuestion{range},
                          [range](const QueryContext& query) { return tensor_life(query, range, kLifeCells); });
  const StaysQuestion wanted{analysis.memory(), name, context.tab.snapshot->end_ns};
  stays_.reset();
  if (wanted.usage) {
    const auto found = analysis.ask(stays_kept_, wanted, {.ages = false, .tells_itself = true},
                                    [wanted](const QueryContext&) -> SessionAnalysis::Found<Stays> {
                                      return std::make_shared<const Stays>(
                                          Stays{wanted.usage, tensor_stays(*wanted.usage, wanted.name, wanted.end_ns)});
                                    });
    if (stays_kept_.value_key.name == name) stays_ = found;  // another tensor lies elsewhere
  }
  if (!error().empty()) return kLifeHead + kLifeFoot;
  const std::size_t rows = pools().size() + (any_transfers() ? 1 : 0) + (any_other_events() ? 1 : 0);
  return rows == 0 ? 0 : kLifeHead + kLifeFoot + kLifeRow * static_cast<float>(rows);
}

void LifeStrip::draw_row(const PanelContext& context, Rect row, const std::string& label,
                         const std::function<void(const Rect&)>& bars) const {
  Ui& ui = context.ui;
  draw_text(ui, row.cut_left(ui.px(kLifeLabels)), label, {.style = TextStyle::small, .colour = Colour::text2});
  const Rect strip = row.inset(0, ui.px(2));
  fill(ui, strip, ui.colour(Colour::bg1));
  bars(strip);
}

std::string LifeStrip::hint(const PanelContext& context) const {
  if (kept_.stale()) return "looking ...";
  std::string text;
  if (any_transfers())
    text =
        fmt::format("{} of {}", counted(life_->transfers, "transfer"), format_bytes(static_cast<double>(life_->bytes)));
  if (any_other_events()) text += (text.empty() ? "" : ", ") + counted(life_->events - life_->transfers, "other event");
  if (!any_events() || !life_->touched) return text;
  const std::int64_t start = context.tab.snapshot->begin_ns;
  const auto since = [&](std::int64_t ns) { return format_duration(static_cast<double>(ns - start)); };
  return text + fmt::format(", {} to {}", since(life_->touched->begin_ns), since(life_->touched->end_ns));
}

void LifeStrip::draw(const PanelContext& context, const Rect& area, const std::string& name) {
  Ui& ui = context.ui;
  horizontal_line(ui, area.x0, area.x1, area.y0, ui.colour(Colour::line2));
  Rect rest = area.inset(ui.px(size::kPanelPadding), 0);
  Rect head = rest.cut_top(ui.px(kLifeHead));
  if (!error().empty()) {
    ui.register_widget("tables.life_error", head);
    draw_icon(ui, head.cut_left(ui.px(20)), icon::kWarning, ui.colour(Colour::error));
    draw_text(ui, head, fmt::format("Where {} lives over time is not known: {}", name, error()),
              {.style = TextStyle::small, .colour = Colour::error, .fit = Fit::middle});
    return;
  }
  const TimeRange range = life_range(context.tab);
  heading(ui, head, name + " over time", hint(context));
  const auto x_of = [&](const Rect& strip, std::int64_t ns) {
    const double share =
        static_cast<double>(ns - range.begin_ns) / static_cast<double>(std::max<std::int64_t>(1, range.length_ns()));
    return strip.x0 + std::round(strip.width() * static_cast<float>(std::clamp(share, 0.0, 1.0)));
  };
  const Rect rows = rest;
  for (const std::uint32_t pool : pools()) {
    draw_row(context, rest.cut_top(ui.px(kLifeRow)), "in " + stays_->usage->pool(pool).name, [&](const Rect& strip) {
      for (const TensorStay& stay : stays_->all) {
        if (stay.pool != pool || !range.holds(stay.time.begin_ns, stay.time.end_ns)) continue;
        const float x0 = x_of(strip, stay.time.begin_ns);
        fill(ui, {x0, strip.y0, std::max(x0 + ui.px(1), x_of(strip, stay.time.end_ns)), strip.y1},
             ui.theme().area(ui.theme().slice(2)), size::kSliceRadius);
      }
    });
  }
  const auto cells = [&](const std::vector<bool>& of, unsigned slot) {
    return [&ui, &of, slot](const Rect& strip) {
      const auto count = static_cast<float>(of.size());
      for (std::size_t i = 0; i < of.size();) {
        if (!of[i]) {
          ++i;
          continue;
        }
        const std::size_t first = i;
        while (i < of.size() && of[i]) ++i;
        const float x0 = strip.x0 + std::floor(strip.width() * static_cast<float>(first) / count);
        const float x1 = strip.x0 + std::ceil(strip.width() * static_cast<float>(i) / count);
        fill(ui, {x0, strip.y0, std::max(x0 + ui.px(1), x1), strip.y1}, ui.theme().slice(slot));
      }
    };
  };
  constexpr unsigned kMovedSlot = 1, kUsedSlot = 0;
  if (any_transfers()) draw_row(context, rest.cut_top(ui.px(kLifeRow)), "moved", cells(life_->moved, kMovedSlot));
  if (any_other_events()) draw_row(context, rest.cut_top(ui.px(kLifeRow)), "worked on", cells(life_->used, kUsedSlot));
  take_hand(context, {rows.x0 + ui.px(kLifeLabels), rows.y0, rows.x1, rest.y0}, range);
}

void LifeStrip::take_hand(const PanelContext& context, const Rect& plot, const TimeRange& range) const {
  Ui& ui = context.ui;
  SessionTab& tab = context.tab;
  const Interaction hand = interact(ui, "tables.life", plot, {.no_focus = true});
  if (!hand.hovered) return;
  const double share =
      static_cast<double>(ui.input().mouse.x - plot.x0) / static_cast<double>(std::max(1.0F, plot.width()));
  const std::int64_t at = range.begin_ns + std::llround(share * static_cast<double>(range.length_ns()));
  tab.cursor_ns = at;
  vertical_line(ui, ui.input().mouse.x, plot.y0, plot.y1, ui.colour(Colour::accent));
  tooltip(ui, hand, plot,
          fmt::format("{} since the start; double click shows the time of all its events",
                      format_duration(static_cast<double>(at - tab.snapshot->begin_ns))));
  if (hand.double_clicked && any_events() && life_->touched)
    show_stretch(tab, life_->touched->begin_ns, life_->touched->end_ns);
}

}  // namespace accelscope::app
