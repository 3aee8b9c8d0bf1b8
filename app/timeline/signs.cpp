#include "app/session/analysis.h"
#include "app/session/shown_advice.h"
#include "app/timeline/frame.h"

namespace accelscope::app::timeline {

using namespace render;  // NOLINT: this file is nothing but drawing

// Signs in the marker row where errors, throttling and warnings happened: those that would lie over each other share
// one with their count. Resting on a sign tells what it is, clicks select its events one after another. Compilations
// have signs too, where there is room beside these, a line along the row for as long as something compiles, and cache
// hits a tick on it.

namespace {

constexpr float kSignWidth = 14;        // units
constexpr std::size_t kMostListed = 5;  // events that a sign's card names

using IncidentPlace = std::vector<analysis::Incident>::const_iterator;

struct Sign {
  IncidentPlace first, last;  // [first, last)
  float x0 = 0;
  float x1 = 0;
  [[nodiscard]] std::size_t count() const { return static_cast<std::size_t>(last - first); }
};

[[nodiscard]] Alert gravest(const Sign& sign) {
  return std::max_element(sign.first, sign.last,
                          [](const analysis::Incident& a, const analysis::Incident& b) { return a.alert < b.alert; })
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
  const std::vector<analysis::Incident>& list = frame.state.incidents->list;
  const auto begins_before = [](const analysis::Incident& incident, double ns) {
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
  const analysis::Incident& first = *sign.first;
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
      const analysis::Incident& each = *(sign.first + static_cast<std::ptrdiff_t>(i));
      card.rows.push_back({format_time_exact(each.begin_ns), std::string(frame.snapshot.strings->text(each.name)),
                           colour_of(each.alert), TextStyle::body});
    }
    card.footer = "Each click selects the next of them; zoom in to see them apart";
  }
  hover_card(frame.ui, card, rect, frame.canvas(frame.ruler));
}

// The first, or the one after the selected.
void select_next(TimelineFrame& frame, const Sign& sign) {
  auto chosen = std::find_if(sign.first, sign.last,
                             [&](const analysis::Incident& each) { return frame.tab.selected == each.event; });
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
                                     {.below_others = true, .label = "Errors and warnings at this time"});
  const Alert kind = gravest(sign);
  Rect inside = rect;
  draw_icon(ui, inside.cut_left(ui.px(kSignWidth)), kind == Alert::error ? icon::kError : icon::kWarning,
            ui.colour(colour_of(kind)), TextStyle::icon12);
  if (sign.count() > 1) {
    draw_text(ui, inside, format_count(sign.count()),
              {.style = TextStyle::mono_small, .colour = Colour::text1, .fit = Fit::clip});
  }
  if (touch.hovered) set_cursor(Cursor::response);
  if (touch.hovered && touch.hovered_for >= kHoverCardDelay) explain(frame, sign, rect);
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
void draw_compile_lines(const TimelineFrame& frame, const analysis::Compilations& all, const Rect& band) {
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

void draw_hit_ticks(const TimelineFrame& frame, const analysis::Compilations& all, const Rect& band) {
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

[[nodiscard]] std::vector<CompileSign> compile_signs_in_view(const TimelineFrame& frame,
                                                             const analysis::Compilations& all, const Rect& band) {
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

void explain_compilations(TimelineFrame& frame, const analysis::Compilations& all, const CompileSign& sign,
                          const Rect& rect) {
  HoverCard card;
  const analysis::CompileEvent& first = all.events[all.compiled[sign.first]];
  const std::size_t count = sign.last - sign.first;
  const auto length = [](const analysis::CompileEvent& event) {
    return event.end_ns > event.begin_ns ? format_duration(event.cost_ns) : std::string("–");
  };
  card.title =
      count == 1 ? std::string(analysis::kind_text(first.kind)) : fmt::format("{} compilations", format_count(count));
  if (count == 1) {
    card.title_value = length(first);
    if (!first.what.empty()) card.rows.push_back({"Of", first.what, Colour::text1, TextStyle::body});
    card.rows.push_back({"Time", format_time_exact(first.begin_ns)});
    card.rows.push_back({"Rests on", analysis::basis_text(first), Colour::text1, TextStyle::body});
    card.rows.push_back({"Lane", lane_name(frame, first.event)});
    card.footer = "Click to select it";
  } else {
    for (std::size_t i = sign.first; i < std::min(sign.last, sign.first + kMostNamedCompiles); ++i) {
      const analysis::CompileEvent& each = all.events[all.compiled[i]];
      card.rows.push_back({length(each), each.what, Colour::text1, TextStyle::body});
    }
    card.footer = "Each click selects the next of them; zoom in to see them apart";
  }
  hover_card(frame.ui, card, rect, frame.canvas(frame.ruler));
}

void select_next_compilation(TimelineFrame& frame, const analysis::Compilations& all, const CompileSign& sign) {
  std::size_t chosen = sign.first;
  for (std::size_t i = sign.first; i + 1 < sign.last; ++i) {
    if (frame.tab.selected == all.events[all.compiled[i]].event) chosen = i + 1;
  }
  frame.tab.selected = all.events[all.compiled[chosen]].event;
  frame.tab.also_selected.clear();
  frame.state.reveal = frame.tab.selected;
}

void draw_compile_sign(TimelineFrame& frame, const analysis::Compilations& all, std::size_t index,
                       const CompileSign& sign, const Rect& band) {
  Ui& ui = frame.ui;
  const Rect rect{sign.x0, band.y0, sign.x1, band.y1};
  const Interaction touch = interact(ui, frame.name("compile.") + std::to_string(index), rect,
                                     {.below_others = true, .label = "Compilations at this time"});
  bool repeats = false;
  constexpr std::size_t kMostLookedAt = 4'096;
  const std::size_t looked_at = std::min(sign.last, sign.first + kMostLookedAt);
  for (std::size_t i = sign.first; i < looked_at && !repeats; ++i)
    repeats = analysis::is_repeated(all.events[all.compiled[i]]);
  Rect inside = rect;
  draw_icon(ui, inside.cut_left(ui.px(kSignWidth)), icon::kSettings,
            ui.colour(repeats ? Colour::warning_line : Colour::text2), TextStyle::icon12);
  if (sign.last - sign.first > 1) {
    draw_text(ui, inside, format_count(sign.last - sign.first),
              {.style = TextStyle::mono_small, .colour = Colour::text1, .fit = Fit::clip});
  }
  if (touch.hovered) set_cursor(Cursor::response);
  if (touch.hovered && touch.hovered_for >= kHoverCardDelay) explain_compilations(frame, all, sign, rect);
  if (touch.clicked) select_next_compilation(frame, all, sign);
}

void draw_compilations(TimelineFrame& frame) {
  if (!frame.tab.analysis) return;
  // While a capture runs they are not asked for, which leaves the workers to it, unless a panel has once done so.
  session::SessionAnalysis& analysis = *frame.tab.analysis;
  if (session::may_grow(frame.tab) && !analysis.compilations_state().value) return;
  const std::shared_ptr<const analysis::Compilations> all = analysis.compilations();
  if (!all || all->events.empty()) return;
  const Rect band = sign_band(frame);
  draw_compile_lines(frame, *all, band);
  draw_hit_ticks(frame, *all, band);
  const std::vector<std::pair<float, float>> taken = frame.state.signs;
  const std::vector<CompileSign> signs = compile_signs_in_view(frame, *all, band);
  for (std::size_t i = 0; i < signs.size(); ++i) {
    const bool crowded = std::ranges::any_of(taken, [&](const std::pair<float, float>& each) {
      return each.first < signs[i].x1 && signs[i].x0 < each.second;
    });
    if (crowded) continue;
    frame.state.signs.emplace_back(signs[i].x0, signs[i].x1);
    draw_compile_sign(frame, *all, i, signs[i], band);
  }
}

constexpr float kBoxLine = 1.5F;  // units
constexpr float kTabHeight = 16;
constexpr float kLeastBox = 24;          // a narrower one is shown only if it was chosen
constexpr std::size_t kMostUnasked = 2;  // boxes that nobody asked for

struct WarningBox {
  const analysis::Finding* finding = nullptr;
  const analysis::FindingPlace* place = nullptr;
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
  for (const rows::WarningIndex::RowRun& run : frame.state.warnings.rows_of(finding)) {
    if (run.first < pinned) add(run.first, std::min(run.last, pinned - 1));
    if (run.last >= pinned) add(std::max(run.first, pinned), run.last);
  }
  return parts;
}

[[nodiscard]] std::optional<WarningBox> box_of(const TimelineFrame& frame, std::size_t number) {
  const analysis::Finding& finding = frame.state.warnings.advice().findings[number];
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
  return std::ranges::any_of(others, [&](const WarningBox& other) {
    if (overlap(box.tab, other.tab)) return true;
    return std::ranges::any_of(box.parts, [&](const Rect& part) {
      return std::ranges::any_of(other.parts, [&](const Rect& each) { return overlap(part, each); });
    });
  });
}

[[nodiscard]] std::vector<WarningBox> boxes_in_view(const TimelineFrame& frame, const analysis::Advice& advice) {
  std::vector<WarningBox> boxes;
  for (std::size_t i = 0; i < advice.findings.size(); ++i) {
    if (advice.findings[i].key != frame.tab.chosen_warning) continue;
    if (auto box = box_of(frame, i)) boxes.push_back(std::move(*box));
  }
  // The gravest only.
  constexpr std::size_t kMostTried = 6;
  std::size_t unasked = 0, tried = 0;
  for (std::size_t i = 0; i < advice.findings.size(); ++i) {
    const analysis::Finding& finding = advice.findings[i];
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
  const std::string text = "idle " + format_duration(box.place->range.length_ns());
  const float width = text_width(ui, TextStyle::mono_small, text) + ui.px(10);
  if (right - left < width + ui.px(8)) return;
  const float middle = (left + right) / 2, y = part.y0 + ui.px(2);
  const Rect chip{middle - width / 2, y, middle + width / 2, y + ui.px(16)};
  fill(ui, chip, ui.colour(Colour::bg1), size::kChipRadius);
  draw_text(ui, chip, text, {.style = TextStyle::mono_small, .colour = Colour::text2, .align = Align::centre});
}

void draw_tab(TimelineFrame& frame, std::size_t index, const WarningBox& box) {
  Ui& ui = frame.ui;
  const Interaction touch = interact(ui, frame.name("warning.") + std::to_string(index), box.tab);
  fill(ui, box.tab, ui.colour(Colour::warning), size::kChipRadius);
  Rect inside = box.tab.inset(ui.px(6), 0);
  const Pixel ink = ui.colour(Colour::on_accent);
  draw_icon(ui, inside.cut_left(ui.px(18)), icon::kWarning, ink, TextStyle::icon12);
  draw_text(ui, inside, box.text, {.style = TextStyle::small_strong, .colour = Colour::on_accent, .fit = Fit::clip});
  if (touch.hovered) set_cursor(Cursor::response);
  tooltip(
      ui, touch, box.tab,
      box.finding->headline + (box.finding->is_error ? "" : "\nMending it: " + analysis::saving_text(*box.finding)));
  if (!touch.clicked) return;
  frame.tab.chosen_warning = box.finding->key;
  frame.state.warning_chosen = true;
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

// A box round what a finding rests on, open where it goes on outside of the view, with its reason on a tab above: of
// the chosen finding, and of the largest others where they do not crowd. A click on the tab chooses it and opens its
// panel.

void draw_warnings(TimelineFrame& frame) {
  const std::shared_ptr<const analysis::Advice> advice = session::shown_advice(frame.tab);
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

}  // namespace accelscope::app::timeline
