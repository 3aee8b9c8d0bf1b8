// Signs in the marker row where errors, throttling and warnings happened: those that would lie over each other share
// one with their count. Resting on a sign tells what it is, clicks select its events one after another. Compilations
// have signs too, where there is room beside these, a line along the row for as long as something compiles, and cache
// hits a tick on it.
#include <fmt/format.h>
#include <imgui.h>

#include <algorithm>

#include "app/session/analysis.h"
#include "app/timeline/frame.h"
#include "core/base/format.h"
#include "render/base/icons.h"
#include "render/widgets/popup.h"

namespace accelscope::app {
namespace {

using namespace render;

constexpr float kSignWidth = 14;        // units
constexpr std::size_t kMostListed = 5;  // events that a sign's card names

using IncidentPlace = std::vector<Incident>::const_iterator;

struct Sign {
  IncidentPlace first, last;  // [first, last)
  float x0 = 0;
  float x1 = 0;
  [[nodiscard]] std::size_t count() const { return static_cast<std::size_t>(last - first); }
};

[[nodiscard]] Alert gravest(const Sign& sign) {
  return std::max_element(sign.first, sign.last, [](const Incident& a, const Incident& b) { return a.alert < b.alert; })
      ->alert;
}

[[nodiscard]] const char* word_for(Alert kind) {
  switch (kind) {
    case Alert::error:
      return "Error";
    case Alert::throttling:
      return "Throttling";
    case Alert::warning:
    case Alert::none:
      break;
  }
  return "Warning";
}

// From left to right; each as wide as its icon and count.
[[nodiscard]] std::vector<Sign> signs_in_view(const TimelineFrame& frame) {
  std::vector<Sign> signs;
  const std::vector<Incident>& list = frame.state.incidents->list;
  const auto begins_before = [](const Incident& incident, double ns) {
    return static_cast<double>(incident.begin_ns) < ns;
  };
  auto at = std::lower_bound(list.begin(), list.end(), frame.ns(frame.canvas_x), begins_before);
  const auto end = std::lower_bound(at, list.end(), frame.ns(frame.rows.x1), begins_before);
  while (at != end) {
    Sign sign{at, at + 1, std::floor(frame.x(static_cast<double>(at->begin_ns))), 0};
    sign.x1 = sign.x0 + frame.ui.px(kSignWidth);
    for (++at; at != end && frame.x(static_cast<double>(at->begin_ns)) < sign.x1; ++at) {
      sign.last = at + 1;
      sign.x1 = sign.x0 + frame.ui.px(kSignWidth + 4) +
                text_width(frame.ui, TextStyle::mono_small, format_count(sign.count()));
    }
    signs.push_back(sign);
  }
  return signs;
}

[[nodiscard]] std::string lane_name(const TimelineFrame& frame, EventId event) {
  const LaneSnapshot* lane = frame.snapshot.find_lane(lane_of(event));
  const TrackSnapshot* track = lane != nullptr ? frame.snapshot.find_track(lane->track) : nullptr;
  return track != nullptr ? track->track->name : std::string();
}

[[nodiscard]] Colour colour_of(Alert kind) { return kind == Alert::error ? Colour::error : Colour::warning_line; }

void explain(TimelineFrame& frame, const Sign& sign, const Rect& rect) {
  HoverCard card;
  const std::size_t count = sign.count();
  const Incident& first = *sign.first;
  if (count == 1) {
    card.title = std::string(frame.snapshot.strings->text(first.name));
    card.title_value = word_for(first.alert);
    card.rows.push_back({"Time", format_time_exact(first.begin_ns)});
    if (first.end_ns > first.begin_ns)
      card.rows.push_back({"Duration", format_time_exact(first.end_ns - first.begin_ns)});
    card.rows.push_back({"Lane", lane_name(frame, first.event)});
    card.footer = "Click to select it";
  } else {
    card.title = fmt::format("{} events", format_count(count));
    card.title_value = word_for(gravest(sign));
    for (std::size_t i = 0; i < std::min(count, kMostListed); ++i) {
      const Incident& each = *(sign.first + static_cast<std::ptrdiff_t>(i));
      card.rows.push_back({format_time_exact(each.begin_ns), std::string(frame.snapshot.strings->text(each.name)),
                           colour_of(each.alert), TextStyle::body});
    }
    card.footer = "Each click selects the next of them; zoom in to see them apart";
  }
  hover_card(frame.ui, card, rect, frame.canvas(frame.ruler));
}

// The first, or the one after the selected.
void select_next(TimelineFrame& frame, const Sign& sign) {
  auto chosen =
      std::find_if(sign.first, sign.last, [&](const Incident& each) { return frame.tab.selected == each.event; });
  chosen = chosen == sign.last || chosen + 1 == sign.last ? sign.first : chosen + 1;
  frame.tab.selected = chosen->event;
  frame.tab.also_selected.clear();
  frame.state.reveal = chosen->event;
}

void draw_sign(TimelineFrame& frame, std::size_t index, const Sign& sign) {
  Ui& ui = frame.ui;
  const Rect band = frame.canvas(frame.markers);
  const Rect rect{sign.x0, band.y0, sign.x1, band.y0 + ui.px(size::kMarkerRow)};
  const Interaction touch = interact(ui, frame.name("sign.") + std::to_string(index), rect,
                                     {.disabled = false, .below_others = true, .no_focus = true});
  const Alert kind = gravest(sign);
  Rect inside = rect;
  draw_icon(ui, inside.cut_left(ui.px(kSignWidth)), kind == Alert::error ? icon::kError : icon::kWarning,
            ui.colour(colour_of(kind)), TextStyle::icon12);
  if (sign.count() > 1) {
    draw_text(ui, inside, format_count(sign.count()),
              {.style = TextStyle::mono_small, .colour = Colour::text1, .fit = Fit::clip});
  }
  if (touch.hovered) set_cursor(Cursor::hand);
  if (touch.hovered && touch.hovered_for < kHoverCardDelay) {
    ui.request_frame_after(kHoverCardDelay - touch.hovered_for);
  } else if (touch.hovered) {
    explain(frame, sign, rect);
  }
  if (touch.clicked) select_next(frame, sign);
}

constexpr float kCompileLine = 3, kHitTick = 5;  // units
constexpr std::size_t kMostNamedCompiles = 5;

// The part of the marker row that signs and marks take, below the ruler.
[[nodiscard]] Rect sign_band(const TimelineFrame& frame) {
  Rect band = frame.canvas(frame.markers);
  band.y1 = std::min(band.y1, band.y0 + frame.ui.px(size::kMarkerRow));
  return band;
}

// For as long as something compiles; of what lies within a pixel once.
void draw_compile_lines(const TimelineFrame& frame, const Compilations& all, const Rect& band) {
  Ui& ui = frame.ui;
  const double from = frame.ns(band.x0), to = frame.ns(band.x1);
  auto at = std::partition_point(all.compiling.begin(), all.compiling.end(),
                                 [&](const TimeRange& each) { return static_cast<double>(each.end_ns) < from; });
  float drawn_to = band.x0;
  while (at != all.compiling.end() && static_cast<double>(at->begin_ns) < to) {
    const float x0 = std::max(drawn_to, std::floor(frame.x(static_cast<double>(at->begin_ns))));
    const float x1 = std::max(x0 + 1, std::ceil(frame.x(static_cast<double>(at->end_ns))));
    fill(ui, {x0, band.y1 - ui.px(kCompileLine), std::min(x1, band.x1), band.y1}, ui.colour(Colour::text2));
    drawn_to = std::min(x1, band.x1);
    const double next = frame.ns(drawn_to);
    at = std::partition_point(at + 1, all.compiling.end(),
                              [&](const TimeRange& each) { return static_cast<double>(each.end_ns) < next; });
  }
}

void draw_hit_ticks(const TimelineFrame& frame, const Compilations& all, const Rect& band) {
  Ui& ui = frame.ui;
  const double to = frame.ns(band.x1);
  const auto before = [&](std::uint32_t event, double ns) {
    return static_cast<double>(all.events[event].begin_ns) < ns;
  };
  auto at = std::lower_bound(all.hits.begin(), all.hits.end(), frame.ns(band.x0), before);
  while (at != all.hits.end() && static_cast<double>(all.events[*at].begin_ns) < to) {
    const float x = std::floor(frame.x(static_cast<double>(all.events[*at].begin_ns)));
    fill(ui, {x, band.y1 - ui.px(kHitTick), x + ui.px(1), band.y1}, ui.colour(Colour::text3));
    at = std::lower_bound(at + 1, all.hits.end(), frame.ns(x + ui.px(2)), before);
  }
}

struct CompileSign {
  std::size_t first = 0, last = 0;  // of Compilations::compiled, [first, last)
  float x0 = 0, x1 = 0;
};

[[nodiscard]] std::vector<CompileSign> compile_signs_in_view(const TimelineFrame& frame, const Compilations& all,
                                                             const Rect& band) {
  std::vector<CompileSign> signs;
  const auto begin_of = [&](std::size_t at) { return static_cast<double>(all.events[all.compiled[at]].begin_ns); };
  const auto first_from = [&](double ns) {
    return static_cast<std::size_t>(std::lower_bound(all.compiled.begin(), all.compiled.end(), ns,
                                                     [&](std::uint32_t event, double at) {
                                                       return static_cast<double>(all.events[event].begin_ns) < at;
                                                     }) -
                                    all.compiled.begin());
  };
  const std::size_t end = first_from(frame.ns(band.x1));
  for (std::size_t at = first_from(frame.ns(band.x0)); at < end;) {
    CompileSign sign{at, at + 1, std::floor(frame.x(begin_of(at))), 0};
    sign.x1 = sign.x0 + frame.ui.px(kSignWidth);
    sign.last = std::clamp(first_from(frame.ns(sign.x1)), at + 1, end);
    if (sign.last - sign.first > 1) {
      sign.x1 += frame.ui.px(4) + text_width(frame.ui, TextStyle::mono_small, format_count(sign.last - sign.first));
      sign.last = std::clamp(first_from(frame.ns(sign.x1)), at + 1, end);
    }
    at = sign.last;
    signs.push_back(sign);
  }
  return signs;
}

void explain_compilations(TimelineFrame& frame, const Compilations& all, const CompileSign& sign, const Rect& rect) {
  HoverCard card;
  const CompileEvent& first = all.events[all.compiled[sign.first]];
  const std::size_t count = sign.last - sign.first;
  const auto length = [](const CompileEvent& event) {
    return event.end_ns > event.begin_ns ? format_duration(static_cast<double>(event.cost_ns)) : std::string("–");
  };
  card.title = count == 1 ? std::string(kind_text(first.kind)) : fmt::format("{} compilations", format_count(count));
  if (count == 1) {
    card.title_value = length(first);
    if (!first.what.empty()) card.rows.push_back({"Of", first.what, Colour::text1, TextStyle::body});
    card.rows.push_back({"Time", format_time_exact(first.begin_ns)});
    card.rows.push_back({"Rests on", basis_text(first), Colour::text1, TextStyle::body});
    card.rows.push_back({"Lane", lane_name(frame, first.event)});
    card.footer = "Click to select it";
  } else {
    for (std::size_t i = sign.first; i < std::min(sign.last, sign.first + kMostNamedCompiles); ++i) {
      const CompileEvent& each = all.events[all.compiled[i]];
      card.rows.push_back({length(each), each.what, Colour::text1, TextStyle::body});
    }
    card.footer = "Each click selects the next of them; zoom in to see them apart";
  }
  hover_card(frame.ui, card, rect, frame.canvas(frame.ruler));
}

void select_next_compilation(TimelineFrame& frame, const Compilations& all, const CompileSign& sign) {
  std::size_t chosen = sign.first;
  for (std::size_t i = sign.first; i + 1 < sign.last; ++i) {
    if (frame.tab.selected == all.events[all.compiled[i]].event) chosen = i + 1;
  }
  frame.tab.selected = all.events[all.compiled[chosen]].event;
  frame.tab.also_selected.clear();
  frame.state.reveal = frame.tab.selected;
}

void draw_compile_sign(TimelineFrame& frame, const Compilations& all, std::size_t index, const CompileSign& sign,
                       const Rect& band) {
  Ui& ui = frame.ui;
  const Rect rect{sign.x0, band.y0, sign.x1, band.y1};
  const Interaction touch = interact(ui, frame.name("compile.") + std::to_string(index), rect,
                                     {.disabled = false, .below_others = true, .no_focus = true});
  bool repeats = false;
  constexpr std::size_t kMostLookedAt = 4'096;
  const std::size_t looked_at = std::min(sign.last, sign.first + kMostLookedAt);
  for (std::size_t i = sign.first; i < looked_at && !repeats; ++i) repeats = is_repeated(all.events[all.compiled[i]]);
  Rect inside = rect;
  draw_icon(ui, inside.cut_left(ui.px(kSignWidth)), icon::kSettings,
            ui.colour(repeats ? Colour::warning_line : Colour::text2), TextStyle::icon12);
  if (sign.last - sign.first > 1) {
    draw_text(ui, inside, format_count(sign.last - sign.first),
              {.style = TextStyle::mono_small, .colour = Colour::text1, .fit = Fit::clip});
  }
  if (touch.hovered) set_cursor(Cursor::hand);
  if (touch.hovered && touch.hovered_for < kHoverCardDelay) {
    ui.request_frame_after(kHoverCardDelay - touch.hovered_for);
  } else if (touch.hovered) {
    explain_compilations(frame, all, sign, rect);
  }
  if (touch.clicked) select_next_compilation(frame, all, sign);
}

void draw_compilations(TimelineFrame& frame) {
  if (!frame.tab.analysis) return;
  // While a capture runs they are not asked for, which leaves the workers to it, unless a panel has once done so.
  SessionAnalysis& analysis = *frame.tab.analysis;
  if (may_grow(frame.tab) && !analysis.compilations_state().value) return;
  const std::shared_ptr<const Compilations> all = analysis.compilations();
  if (!all || all->events.empty()) return;
  const Rect band = sign_band(frame);
  draw_compile_lines(frame, *all, band);
  draw_hit_ticks(frame, *all, band);
  const std::vector<std::pair<float, float>> taken = frame.state.signs;
  const std::vector<CompileSign> signs = compile_signs_in_view(frame, *all, band);
  for (std::size_t i = 0; i < signs.size(); ++i) {
    const bool crowded = std::any_of(taken.begin(), taken.end(), [&](const std::pair<float, float>& each) {
      return each.first < signs[i].x1 && signs[i].x0 < each.second;
    });
    if (crowded) continue;
    frame.state.signs.emplace_back(signs[i].x0, signs[i].x1);
    draw_compile_sign(frame, *all, i, signs[i], band);
  }
}

}  // namespace

void draw_signs(TimelineFrame& frame) {
  if (frame.tab.analysis) frame.state.incidents = frame.tab.analysis->incidents();
  frame.state.signs.clear();
  const Rect band = frame.canvas(frame.markers);
  frame.list->PushClipRect(ImVec2(band.x0, band.y0), ImVec2(band.x1, band.y1), true);
  const std::vector<Sign> signs = frame.state.incidents ? signs_in_view(frame) : std::vector<Sign>();
  for (std::size_t i = 0; i < signs.size(); ++i) {
    frame.state.signs.emplace_back(signs[i].x0, signs[i].x1);
    draw_sign(frame, i, signs[i]);
  }
  draw_compilations(frame);
  frame.list->PopClipRect();
}

}  // namespace accelscope::app
