#include "app/panels/memory/panel.h"

#include "app/content/advice_words.h"
#include "app/content/axes/axes.h"
#include "core/model/palette.h"
#include "imgui.h"

namespace accelscope::app::panels {

using namespace render;  // NOLINT: this file is nothing but drawing

namespace {

constexpr std::size_t kMostTiles = 12;  // allocations listed under one tensor

const std::array<TableColumn, 6>& columns() {
  static const std::array<TableColumn, 6> kColumns = {
      {{.title = "Tensor"},
       {.title = "Tiles", .width = 46, .align = Align::right},
       {.title = "Size", .width = 90, .align = Align::right},
       {.title = "Address", .width = 84, .align = Align::right},
       {.title = "Since",
        .width = 108,
        .align = Align::right,
        .tooltip = "When it was allocated; of a tensor: its oldest"},
       {.title = "Lives", .width = 84, .align = Align::right, .tooltip = "From its allocation to its release"}}};
  return kColumns;
}

TableCell missing() { return {.text = "–", .colour = Colour::text3}; }

constexpr const char* kMissing = "–";

std::string addresses_of(const analysis::Allocation& allocation) {
  if (!allocation.address) return kMissing;
  return content::address_text(*allocation.address) + " – " +
         content::address_text(*allocation.address + allocation.bytes - 1);
}

std::string life_text(const analysis::Allocation& allocation) {
  if (!allocation.end_ns) return "from " + format_time_exact(allocation.begin_ns) + ", never freed";
  return format_range(static_cast<double>(allocation.begin_ns), static_cast<double>(*allocation.end_ns));
}

// Units.
constexpr float kMemoryHeadRow = 40, kLowHeadRow = 32, kTimeRow = 20, kTitleRow = 26, kSwitchRow = 34;
constexpr float kBytesWidth = 88, kSideWidth = 500, kCardHeight = 196, kNameHeight = 16;
constexpr float kLeastForTable = 760;  // wide enough for the table beside the plots
constexpr float kLeastForBelow = 400;  // high enough for the table below the plots
constexpr float kLeastForMap = 380;    // high enough for both plots
constexpr float kLeastForCard = 400;   // high enough for the table and the card
constexpr float kLeastForTitles = 150;
constexpr float kTight = 80;  // a plot this low has no room for words about its capacity

std::string nothing_held_text(const Snapshot& snapshot) {
  const bool engines =
      std::ranges::any_of(snapshot.tracks, [](const TrackSnapshot& track) { return track.track->kind == "engine"; });
  std::string text = "The session holds no allocations and no samples of memory.";
  if (content::tells_of_python(snapshot)) {
    text += " Capture PyTorch with profile_memory to see who uses the memory.";
  } else if (engines) {
    text += " Capture Neuron with --enable-memory-tracker or --enable-dge-notifs to see who uses the memory.";
  }
  return text;
}

}  // namespace

Pixel AliveTable::colour_of(const Ui& ui, std::uint32_t tensor) const {
  return ui.theme().slice(palette_slot(usage().tensors[tensor]));
}

// The answer before goes with the next work: letting go of a large one takes its time.
void AliveTable::take_answer() {
  if (!task_.ready()) return;
  retired_ = std::move(content_);
  content_ = task_.take();
}

void AliveTable::refresh(const Moment& moment) {
  take_answer();
  const auto column = static_cast<content::AliveColumn>(std::clamp(table_.sort_column, 0, 5));
  const Intent intent{moment, column, table_.descending, expanded_, unfolded_};
  if ((content_ && intent == content_->intent) || task_.valid()) return;
  task_ = pool_.start([intent, retired = std::move(retired_)](TaskControl&) -> std::shared_ptr<const Content> {
    auto content = std::make_shared<Content>();
    content->intent = intent;
    const Moment& at = intent.moment;
    content->tensors = content::alive_by_tensor(*at.usage, at.pool, at.ns, at.min_bytes, at.passing);
    content::sort_alive(*at.usage, intent.column, intent.descending, content->tensors);
    for (const content::AliveTensor& tensor : content->tensors) {
      content->bytes += tensor.bytes;
      content->allocations += tensor.allocations.size();
    }
    content->rows = collect_rows(intent, content->tensors);
    return content;
  });
}

std::vector<AliveTable::Row> AliveTable::collect_rows(const Intent& intent,
                                                      const std::vector<content::AliveTensor>& tensors) {
  std::vector<Row> rows;
  for (std::size_t t = 0; t < tensors.size(); ++t) {
    const content::AliveTensor& tensor = tensors[t];
    if (tensor.allocations.size() == 1) {
      rows.push_back({t, tensor.allocations.front(), 0});
      continue;
    }
    rows.push_back({t, std::nullopt, 0});
    if (!intent.expanded.contains(tensor.tensor)) continue;
    const std::size_t most = intent.unfolded.contains(tensor.tensor) ? tensor.allocations.size() : kMostTiles;
    const std::size_t shown = std::min(most, tensor.allocations.size());
    for (std::size_t i = 0; i < shown; ++i) rows.push_back({t, tensor.allocations[i], 0});
    if (tensor.allocations.size() > shown) rows.push_back({t, std::nullopt, tensor.allocations.size() - shown});
  }
  return rows;
}

void AliveTable::toggle(const Row& row) {
  const std::uint32_t tensor = content_->tensors[row.tensor].tensor;
  if (row.hidden > 0) {
    unfolded_.insert(tensor);
  } else if (expanded_.erase(tensor) == 0) {
    expanded_.insert(tensor);
  } else {
    unfolded_.erase(tensor);
  }
}

// Narrow tables begin without the columns that tell least; what the user chose stays.
void AliveTable::choose_columns(const Ui& ui, float width) {
  constexpr float kNarrowUnits = 540, kVeryNarrowUnits = 430;  // units
  constexpr std::size_t kSince = 4, kLives = 5;
  const bool own = table_.hidden.empty() || table_.hidden == narrow_hidden_;
  if (!own) return;
  std::vector<bool> hidden;
  if (width < ui.px(kNarrowUnits)) {
    hidden.assign(columns().size(), false);
    hidden[kSince] = true;
    hidden[kLives] = width < ui.px(kVeryNarrowUnits);
  }
  table_.hidden = narrow_hidden_ = hidden;
}

void AliveTable::draw_head(Ui& ui, const char* title, Rect row) const {
  if (content_) {
    const char* noun = content_->allocations == 1 ? " allocation, " : " allocations, ";
    const std::string sum = format_count(content_->allocations) + noun + format_bytes(content_->bytes);
    const float width = text_width(ui, TextStyle::mono, sum);
    draw_text(ui, row.cut_right(width), sum, {.style = TextStyle::mono, .colour = Colour::text2});
    row.cut_right(ui.px(12));
  }
  draw_text(ui, row, title, {.style = TextStyle::heading});
}

// The shares of the tensors, and what is free: of the capacity where it is known, else of the peak.
void AliveTable::draw_bar(Ui& ui, Rect bar) const {
  const Moment& moment = content_->intent.moment;
  const analysis::PoolUsage& pool = usage().pool(moment.pool);
  const bool of_capacity = pool.capacity_bytes && *pool.capacity_bytes >= pool.peak_bytes;
  const std::uint64_t whole = std::max<std::uint64_t>(of_capacity ? *pool.capacity_bytes : pool.peak_bytes, 1);
  const float width = bar.width();
  fill(ui, bar, ui.colour(Colour::bg4));
  constexpr std::size_t kMostParts = 500;
  for (std::size_t i = 0; i < std::min(kMostParts, content_->tensors.size()); ++i) {
    const content::AliveTensor& tensor = content_->tensors[i];
    const double share = static_cast<double>(tensor.bytes) / static_cast<double>(whole);
    const Rect part = bar.cut_left(static_cast<float>(share) * width);
    fill(ui, part, ui.theme().area(colour_of(ui, tensor.tensor)));
    if (part.width() <= ui.px(30)) continue;
    draw_text(ui, part.inset(ui.px(4), 0), usage().tensors[tensor.tensor],
              {.style = TextStyle::mono_small, .colour = Colour::ink, .align = Align::centre, .fit = Fit::middle});
  }
  const std::uint64_t used = usage().used_at(moment.pool, moment.ns);
  if (used > whole) return;
  const std::string text = format_bytes(whole - used) + (of_capacity ? " free" : " below the peak");
  if (text_width(ui, TextStyle::mono_small, text) + ui.px(8) > bar.width()) return;
  draw_text(ui, bar.inset(ui.px(4), 0), text,
            {.style = TextStyle::mono_small, .colour = Colour::text2, .align = Align::right});
}

TableCell AliveTable::cell(const Ui& ui, const Row& row, std::size_t column) const {
  const content::AliveTensor& tensor = content_->tensors[row.tensor];
  if (row.hidden > 0) {
    return {.text = column == 0 ? format_count(row.hidden) + " more tiles" : "", .colour = Colour::accent, .indent = 1};
  }
  const analysis::Allocation* allocation = row.allocation ? &usage().allocations[*row.allocation] : nullptr;
  const bool is_tile = allocation != nullptr && tensor.allocations.size() > 1;
  switch (column) {
    case 0: {
      const std::string& name = usage().tensors[tensor.tensor];
      TableCell cell{.text = name.empty() ? "unnamed" : name, .indent = is_tile ? 1 : 0};
      if (!is_tile) cell.swatch = colour_of(ui, tensor.tensor);
      if (is_tile) cell.colour = Colour::text2;
      if (allocation == nullptr) cell.expanded = expanded_.contains(tensor.tensor);
      return cell;
    }
    case 1:
      return {.text = is_tile ? "" : format_count(tensor.allocations.size())};
    case 2:
      return {.text = format_bytes(allocation != nullptr ? allocation->bytes : tensor.bytes)};
    case 3:
      if (allocation == nullptr || !allocation->address) return missing();
      return {.text = content::address_text(*allocation->address), .fit = Fit::middle};
    case 4:
      return {.text = format_time_exact(allocation != nullptr ? allocation->begin_ns : tensor.begin_ns)};
    default:
      if (allocation == nullptr) return missing();
      if (!allocation->end_ns) return {.text = "not freed", .colour = Colour::text2};
      return {.text = format_duration(*allocation->end_ns - allocation->begin_ns)};
  }
}

std::optional<EventId> AliveTable::draw(const PanelContext& context, const Moment& moment, const char* title,
                                        Rect area) {
  Ui& ui = context.ui;
  constexpr float kHead = 32, kBar = 22, kLeastForHead = 120, kLeastForBar = 160;
  refresh(moment);
  const float height = area.height();
  if (height >= ui.px(kLeastForHead)) {
    draw_head(ui, title, padded(ui, area.cut_top(ui.px(kHead))));
  }
  if (!content_) return std::nullopt;
  if (content_->bytes > 0 && height >= ui.px(kLeastForBar)) {
    draw_bar(ui, area.cut_top(ui.px(kBar)).inset(ui.px(size::kPanelPadding), ui.px(4)));
  }
  const std::vector<Row>& rows = content_->rows;
  if (rows.empty()) {
    empty_state(ui, "memory.none_alive", area, icon::kAreaChart,
                content_->intent.moment.passing.mask
                    ? "Nothing that the filter lets through is alive here. Move the cursor, or end the filter."
                    : "Nothing is alive here. Move the cursor over the plot.");
    return std::nullopt;
  }
  choose_columns(ui, area.width());
  const auto event_of = [&](const Row& row) {
    return row.allocation ? std::optional(usage().allocations[*row.allocation].event) : std::nullopt;
  };
  const TableResult result = table(ui, "memory.alive", area, columns(), rows.size(),
                                   [&](std::size_t row, std::size_t column) { return cell(ui, rows[row], column); },
                                   table_, {.selected = [&](std::size_t row) {
                                     return event_of(rows[row]) && context.tab.selected == event_of(rows[row]);
                                   }});
  const auto chosen = result.toggled ? result.toggled : result.clicked;
  if (!chosen) return std::nullopt;
  const Row row = rows[*chosen];
  const auto event = event_of(row);
  if (event && !result.toggled) {
    view::select_event(context.tab, *event);
    return event;
  }
  toggle(row);
  return std::nullopt;
}

// The allocations of a session are looked through on the pool. Until the answer is there, the last one stands, unless
// it speaks of other data.
bool AllocationCard::choose(const PanelContext& context, const std::shared_ptr<const analysis::MemoryUsage>& usage) {
  const std::optional<EventId> selected = context.tab.selected;
  const bool stays = selected && selected == followed_ && usage == usage_;
  if (!stays && (event_ != selected || usage_ != usage)) {
    if (usage_ != usage || !selected) allocation_.reset();
    event_ = selected;
    usage_ = usage;
    followed_ = kNoEvent;
    find_task_ = {};
    if (event_) {
      find_task_ = pool_.start([usage, event = *event_](TaskControl&) {
        const auto found = std::ranges::find_if(usage->allocations, [&](const analysis::Allocation& allocation) {
          return allocation.event == event || allocation.release == event;
        });
        return found == usage->allocations.end()
                   ? std::optional<std::uint32_t>()
                   : std::optional(static_cast<std::uint32_t>(found - usage->allocations.begin()));
      });
    }
  }
  take_answers(context);
  return allocation_.has_value();
}

void AllocationCard::take_answers(const PanelContext& context) {
  if (find_task_.ready()) {
    const std::optional<std::uint32_t> found = find_task_.take();
    allocation_ = found;
    story_.reset();
    story_task_ = {};
    if (found) {
      const session::SessionTab& tab = context.tab;
      story_task_ = pool_.start([store = tab.store, snapshot = tab.snapshot, usage = usage_, &pool = pool_,
                                 number = *found](TaskControl& control) {
        return analysis::allocation_story({.store = *store, .snapshot = snapshot, .pool = pool, .control = control},
                                          *usage, number);
      });
    }
  }
  if (!story_task_.ready()) return;
  auto result = story_task_.take();
  if (result) {
    story_ = std::move(*result);
  } else {
    context.tab.last_error = result.message();
  }
}

void AllocationCard::go_to(const PanelContext& context, EventId event) {
  followed_ = event;
  view::select_event(context.tab, event);
  context.actions.reveal(event);
}

void AllocationCard::draw_field(const PanelContext& context, Rect& area, const char* label, const std::string& value,
                                EventId target) {
  Ui& ui = context.ui;
  Rect row = area.cut_top(ui.px(20));
  draw_text(ui, row.cut_left(ui.px(112)), label, {.colour = Colour::text2});
  if (target == kNoEvent) {
    draw_text(ui, row, value, {.style = TextStyle::mono, .colour = value == kMissing ? Colour::text3 : Colour::text1});
    return;
  }
  row.x1 = std::min(row.x1, row.x0 + link_width(ui, value, TextStyle::mono));
  if (link(ui, std::string("memory.card.") + label, row, value, TextStyle::mono)) {
    go_to(context, target);
  }
}

// The reads along its life; a click goes to the nearest.
void AllocationCard::draw_ticks(const PanelContext& context, const Rect& area) {
  Ui& ui = context.ui;
  fill(ui, area.middle(ui.px(6)), ui.colour(Colour::bg4));
  const analysis::Allocation& allocation = usage_->allocations[*allocation_];
  const std::int64_t end_ns = allocation.end_ns.value_or(context.tab.snapshot->end_ns);
  const double life = std::max(1.0, static_cast<double>(end_ns - allocation.begin_ns));
  const auto x_of = [&](const analysis::AllocationStory::Read& read) {
    const double share = std::clamp(static_cast<double>(read.ns - allocation.begin_ns) / life, 0.0, 1.0);
    return std::round(area.x0 + static_cast<float>(share) * (area.width() - ui.px(3)));
  };
  const Interaction response =
      interact(ui, "memory.card.reads", area, {.keys = FocusStopKind::pointer, .label = "Reads of the allocation"});
  const analysis::AllocationStory::Read* nearest = nullptr;
  float distance = ui.px(6);
  float last = -1;
  for (const analysis::AllocationStory::Read& read : story_->ticks) {
    const float x = x_of(read);
    const float away = std::abs(x + ui.px(1) - ui.input().mouse.x);
    if (response.hovered && away < distance) {
      nearest = &read;
      distance = away;
    }
    if (x == last) continue;
    last = x;
    fill(ui, {x, area.y0, x + ui.px(3), area.y1}, ui.theme().slice(0));
  }
  if (nearest == nullptr) return;
  const float x = x_of(*nearest);
  fill(ui, {x, area.y0, x + ui.px(3), area.y1}, ui.colour(Colour::accent));
  set_cursor(Cursor::response);
  tooltip(ui, response, area, "Read at " + format_time_exact(nearest->ns) + ": click to go there");
  if (response.clicked) go_to(context, nearest->event);
}

void AllocationCard::draw(const PanelContext& context, Rect area) {
  Ui& ui = context.ui;
  const analysis::Allocation& allocation = usage_->allocations[*allocation_];
  const std::string& name = usage_->tensors[allocation.tensor];
  horizontal_line(ui, area.x0, area.x1, area.y0, ui.colour(Colour::line2));
  area = area.inset(ui.px(size::kPanelPadding), ui.px(8));
  Rect head = area.cut_top(ui.px(28));
  const ButtonOptions show{.label = "Show on timeline"};
  if (button_right(ui, "memory.card.show", head, show)) {
    view::show_stretch(context.tab, allocation.begin_ns, allocation.end_ns.value_or(context.tab.snapshot->end_ns));
    context.actions.reveal(allocation.event);
  }
  head.cut_left(draw_swatch(ui, head, ui.theme().slice(palette_slot(name))) + ui.px(8));
  head.cut_left(draw_text(ui, head, name.empty() ? "unnamed" : name, {.style = TextStyle::mono_strong}) + ui.px(12));
  draw_text(ui, head, format_bytes(allocation.bytes), {.style = TextStyle::mono, .colour = Colour::text2});
  const std::string waiting = pending() ? "..." : kMissing;
  const std::string& site = usage_->sites[allocation.site];
  const bool written = story_ && story_->writer != kNoEvent;
  draw_field(context, area, "Written by", written ? story_->writer_text : (site.empty() ? waiting : site),
             written ? story_->writer : kNoEvent);
  draw_field(context, area, "Address", addresses_of(allocation), kNoEvent);
  draw_field(context, area, "Alive", life_text(allocation), kNoEvent);
  std::string reads = waiting;
  if (story_ && story_->reads_known) reads = format_count(story_->reads) + " " + story_->reader_name;
  draw_field(context, area, "Read by", reads, story_ && story_->reads_known ? story_->first_reader : kNoEvent);
  draw_field(context, area, "Idle",
             story_ && story_->idle_share ? format_share(*story_->idle_share) + " of its life" : waiting, kNoEvent);
  std::string factor = waiting;
  if (story_ && story_->repeat_factor) factor = format_number(*story_->repeat_factor) + " times loaded";
  draw_field(context, area, "Repeat factor", factor, kNoEvent);
  area.cut_top(ui.px(6));
  if (story_ && story_->reads_known) draw_ticks(context, area.cut_top(ui.px(12)));
}

std::string MemoryPanel::bytes_text(std::uint64_t bytes) const {
  return (pool().estimated ? "≈ " : "") + format_bytes(bytes);
}

std::int64_t MemoryPanel::cursor(const PanelContext& context) const {
  if (pinned_ns_) return *pinned_ns_;
  if (context.tab.cursor_ns) return *context.tab.cursor_ns;
  return pool().peak_ns;
}

// What was held of another session means nothing in this one.
void MemoryPanel::take_session(const PanelContext& context) {
  const std::shared_ptr<const analysis::MemoryUsage> usage = context.analysis().memory();
  if (session_ != context.tab.store.get()) {
    session_ = context.tab.store.get();
    own_range_.reset();
    own_back_.clear();
    pinned_ns_.reset();
    data_.reset();
    hover_ = {};
    segments_.reset();
    alive_.fold_all();
    if (usage) chosen_pool_ = 0;
  }
  if (usage_ == usage) return;
  usage_ = usage;
  families_ = usage_ ? content::pool_families(*usage_) : std::vector<content::PoolFamily>();
}

// Table and map show what passes; the use over time is that of all, as it tells how full the pool is.
void MemoryPanel::follow_filter(const PanelContext& context) {
  const EventFilter& filter = context.tab.choices.filter;
  passing_ = {};
  filter_note_.clear();
  if (filter.empty()) return;
  filter_note_ = "not filtered";
  const auto mask = context.analysis().mask(session::MaskUse::filter, filter);
  if (!mask) return;
  if (content::meets_allocations(*mask, *context.tab.snapshot)) {
    passing_ = {mask, context.tab.snapshot};
  } else {
    filter_note_ = "not filtered: no allocation passes the filter";
  }
}

MemoryPanel::Places MemoryPanel::lay_out(const Ui& ui, const Rect& area) const {
  Places places;
  Rect rest = area;
  const bool has_table = !pool().sampled;
  const bool has_map = !pool().touched.empty();
  const bool low = area.height() < ui.px(kMemoryHeadRow + kLeastForTitles);
  places.head = rest.cut_top(ui.px(low ? kLowHeadRow : kMemoryHeadRow));
  if (has_table && rest.width() >= ui.px(kLeastForTable)) {
    places.side = rest.cut_right(std::min(ui.px(kSideWidth), rest.width() * 0.4F));
  } else if (has_table && rest.height() >= ui.px(kLeastForBelow)) {
    places.side = rest.cut_bottom(rest.height() * 0.45F);
  }
  const bool single = has_table && places.side.empty();
  places.has_titles = !low && !single;
  // The side.
  places.alive = places.side;
  if (!places.side.empty() && has_card_) {
    if (places.side.height() >= ui.px(kLeastForCard)) {
      places.card = places.alive.cut_bottom(ui.px(kCardHeight));
    } else {
      places.side_switch = {Part::alive, Part::allocation};
      places.alive.cut_top(ui.px(kSwitchRow));
      if (side_part_ == Part::allocation) std::swap(places.alive, places.card);
    }
  }
  // The plots.
  const bool both = has_map && !single && rest.height() >= ui.px(kLeastForMap);
  if (!both) {
    places.main_switch = {Part::usage};
    if (has_map) places.main_switch.insert(places.main_switch.end(), {Part::addresses, Part::segments});
    if (single) places.main_switch.push_back(Part::alive);
    if (single && has_card_) places.main_switch.push_back(Part::allocation);
  }
  const auto& parts = places.main_switch;
  const Part seen = std::ranges::find(parts, main_part_) != parts.end() ? main_part_ : Part::usage;
  if (!both && seen == Part::alive) {
    places.alive = rest;
  } else if (!both && seen == Part::allocation) {
    places.card = rest;
  } else if (!both && seen == Part::segments) {
    places.segments = rest;
  } else {
    places.axis = rest.cut_top(ui.px(kTimeRow));
    if (both) places.usage = rest.cut_top(std::round(rest.height() * 0.45F));
    Rect& lower = map_at_cursor_ ? places.segments : places.addresses;
    (both ? lower : seen == Part::addresses ? places.addresses : places.usage) = rest;
  }
  return places;
}

std::optional<bool> MemoryPanel::has_content(const PanelContext& context) const {
  const std::shared_ptr<const analysis::MemoryUsage> usage = context.analysis().memory();
  if (!usage) return std::nullopt;
  return usage->pool_count() > 0;
}

void MemoryPanel::draw(const PanelContext& context, const Rect& area) {
  Ui& ui = context.ui;
  take_session(context);
  // Also those of parts that are out of sight by now: nobody else takes them.
  if (task_.ready()) data_ = task_.take();
  if (hover_task_.ready()) hover_ = hover_task_.take();
  if (segments_task_.ready()) segments_ = segments_task_.take();
  if (touched_task_.ready()) {
    if (auto found = touched_task_.take()) touched_ = std::move(*found);  // else its chunk's reader reports why
  }
  alive_.take_answer();
  if (!usage_ && !context.analysis().error().empty())
    return empty_sentence(ui, "memory.error", area, icon::kWarning, context.analysis().error());
  if (!usage_) return empty_sentence(ui, "memory.loading", area, icon::kClock, "Reading the allocations ...");
  if (usage_->pool_count() == 0)
    return empty_sentence(ui, "memory.empty", area, icon::kAreaChart, nothing_held_text(*context.tab.snapshot));
  chosen_pool_ = std::min(chosen_pool_, static_cast<std::uint32_t>(usage_->pool_count() - 1));
  settle_view(context);
  follow_filter(context);
  has_card_ = card_.choose(context, usage_);
  find_touched(context);
  const Places places = lay_out(ui, area);
  ui.draw()->PushClipRect({area.x0, area.y0}, {area.x1, area.y1}, true);
  draw_head(context, places);
  if (!places.axis.empty()) {
    draw_plots(context, places);
  } else {
    hovered_ns_.reset();
  }
  if (!places.segments.empty()) draw_segments(context, places);
  if (!hovered_ns_ && places.segments.empty()) rests_on_.clear();
  draw_side(context, places);  // after the plots, which say where the cursor is
  ui.draw()->PopClipRect();
  pan_button_down_ = ui.input().down(MouseButton::right) || ui.input().down(MouseButton::middle);
}

void MemoryPanel::draw_plots(const PanelContext& context, const Places& places) {
  Ui& ui = context.ui;
  const float title = !places.has_titles ? 6 : places.main_switch.size() > 1 ? kSwitchRow : kTitleRow;
  const auto inner = [&](const Rect& part) {
    return Rect{part.x0 + ui.px(kBytesWidth), part.y0 + ui.px(title), part.x1 - ui.px(8), part.y1 - ui.px(8)};
  };
  const bool has_usage = !places.usage.empty();
  const bool has_map = !places.addresses.empty();
  Plot plot{inner(has_usage ? places.usage : places.addresses), view_range(context).whole_ns(),
            std::max<std::uint64_t>(pool().peak_bytes, 1), false};
  plot.is_tight = plot.rect.height() < ui.px(kTight);
  plot.most += plot.most / 8;  // room for the peak's label
  for (const analysis::PoolStep& step : pool().reserved_steps)
    plot.most = std::max(plot.most, step.bytes + step.bytes / 16);
  const auto capacity = pool().capacity_bytes;
  if (capacity && *capacity <= plot.most * 4) {
    plot.most = std::max(plot.most, *capacity + *capacity / 12);
  } else if (capacity && !plot.is_tight) {
    plot.most += plot.most / 6;  // for the line of text that says so
  }
  Plot map = plot;
  if (has_map) map.rect = inner(places.addresses);
  const auto pixels = [](float length) { return static_cast<std::size_t>(std::max(1.0F, length)); };
  const double label = static_cast<double>(ui.px(kNameHeight)) / std::max(1.0F, plot.rect.height());
  refresh_plot(context, {usage_->snapshot_version, chosen_pool_, plot.range, pixels(plot.rect.width()),
                         has_map ? pixels(map.rect.height()) : 0, min_bytes_, grouping_,
                         static_cast<std::uint64_t>(label * static_cast<double>(plot.most)), content::kMostUsageSeries,
                         passing_});
  hovered_ns_.reset();
  draw_axis(context, plot, places);
  if (has_usage) draw_usage(context, places, plot);
  if (has_usage && !places.segments.empty()) {
    horizontal_line(ui, places.segments.x0, places.segments.x1, places.segments.y0, ui.colour(Colour::line2));
  }
  if (has_usage && has_map) {
    horizontal_line(ui, places.addresses.x0, places.addresses.x1, places.addresses.y0, ui.colour(Colour::line2));
  }
  if (has_map) draw_addresses(context, places, map);
  draw_cursor(context, has_usage ? plot : map, places);
  if (has_usage) explain_usage(context, plot);
}

void MemoryPanel::refresh_plot(const PanelContext& context, const content::MemoryPlotKey& wanted) {
  if ((data_ && data_->key == wanted) || task_.valid()) return;
  task_ = pool_.start([usage = usage_, wanted, end_ns = context.tab.snapshot->end_ns](TaskControl&) {
    return content::make_memory_plot(usage, wanted, end_ns);
  });
}

void MemoryPanel::draw_side(const PanelContext& context, const Places& places) {
  Ui& ui = context.ui;
  if (!places.side.empty()) {
    if (places.side.y0 > places.head.y1) {
      horizontal_line(ui, places.side.x0, places.side.x1, places.side.y0, ui.colour(Colour::line2));
    } else {
      vertical_line(ui, places.side.x0, places.side.y0, places.side.y1, ui.colour(Colour::line2));
    }
  }
  if (!places.side_switch.empty()) {
    Rect row = places.side;
    row = row.cut_top(ui.px(kSwitchRow)).inset(ui.px(8), 0);
    draw_switch(context, places.side_switch, "memory.side", row, side_part_);
  }
  const std::int64_t at = cursor(context);
  if (!places.alive.empty()) {
    const char* title = pinned_ns_              ? "Alive at the cursor (held)"
                        : context.tab.cursor_ns ? "Alive at the cursor"
                                                : "Alive at the peak";
    if (alive_.draw(context, {usage_, chosen_pool_, at, min_bytes_, passing_}, title, places.alive)) pinned_ns_ = at;
  }
  if (!places.card.empty() && has_card_) {
    const ScrollArea scroll(ui, "memory.card", places.card, ui.px(kCardHeight));
    card_.draw(context, scroll.content());
  }
}

std::unique_ptr<Panel> make_memory_panel(const PanelParts& parts) { return std::make_unique<MemoryPanel>(parts.pool); }

}  // namespace accelscope::app::panels
