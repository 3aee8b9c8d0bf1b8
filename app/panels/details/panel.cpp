#include "app/panels/details/panel.h"

#include "core/names/name_forms.h"

namespace accelscope::app::panels {

using namespace render;  // NOLINT: this file is nothing but drawing

namespace {

constexpr float kDependencyRow = 20, kDependencyHead = 24;
constexpr float kDistanceWidth = 92;
constexpr std::size_t kMostDirect = 100'000;  // of each kind; only those in sight are read

constexpr std::array<Segment, 2> kReach = {
    Segment{.label = "Direct", .tooltip = "What the event itself depends on, and what depends on it"},
    Segment{.label = "Chain",
            .tooltip = "Step by step back to what ended last before each, and on to what began first after each"}};

std::string distance_text(std::int64_t ns) { return (ns > 0 ? "+" : "") + format_time_exact(ns); }

constexpr float kHeadRow = 40, kWholeLine = 14;
constexpr float kFieldRow = 20;
constexpr float kGroupHead = 24;
constexpr float kGroupGap = 14;
constexpr float kLeastGroup = 190, kMostGroup = 360;  // units
constexpr float kMostLabel = 120, kLeastTitle = 120;
constexpr float kNeighbourWidth = 340;
constexpr float kDetailsMostCard = 440;
constexpr double kSoonSeconds = 0.15;  // until it is said that an event is being read
constexpr const char* kOperandCard = "details.operands_card";

// Groups side by side; where they do not fit, under the shortest column.
struct Column {
  float width = 0;
  float height = 0;
  std::vector<std::size_t> groups;
};

float label_width_of(const Ui& ui, const content::DetailGroup& group) {
  float widest = 0;
  for (const content::DetailField& field : group.fields)
    widest = std::max(widest, text_width(ui, TextStyle::body, field.label));
  return std::min(widest, ui.px(kMostLabel)) + ui.px(16);
}

float group_width(const Ui& ui, const content::DetailGroup& group) {
  float widest = 0;
  for (const content::DetailField& field : group.fields)
    widest = std::max(widest, text_width(ui, TextStyle::mono, field.value));
  return std::clamp(label_width_of(ui, group) + widest + ui.px(24), ui.px(kLeastGroup), ui.px(kMostGroup));
}

float group_height(const Ui& ui, const content::DetailGroup& group) {
  return ui.px(kGroupHead) + static_cast<float>(group.fields.size()) * ui.px(kFieldRow) + ui.px(kGroupGap);
}

// The most columns that fit, each as wide as its widest group; each group goes to the shortest.
std::vector<Column> place_groups(const Ui& ui, const std::vector<content::DetailGroup>& groups, float width) {
  for (std::size_t count = groups.size(); count > 0; --count) {
    std::vector<Column> columns(count);
    for (std::size_t i = 0; i < groups.size(); ++i) {
      auto shortest =
          std::ranges::min_element(columns, [](const Column& a, const Column& b) { return a.height < b.height; });
      shortest->groups.push_back(i);
      shortest->height += group_height(ui, groups[i]);
      shortest->width = std::max(shortest->width, group_width(ui, groups[i]));
    }
    float used = 0;
    for (const Column& column : columns) used += column.width;
    if (used <= width || count == 1) return columns;
  }
  return {};
}

Colour colour_of(content::FieldLook look) {
  switch (look) {
    case content::FieldLook::plain:
    case content::FieldLook::operands:
      return Colour::text1;
    case content::FieldLook::source_link:
    case content::FieldLook::such_link:
      return Colour::accent;
    case content::FieldLook::warning:
      return Colour::warning;
  }
  return Colour::text1;
}

}  // namespace

void DependencyColumn::clear() { *this = {}; }

void DependencyColumn::refresh(const PanelContext& context, EventId event, std::int64_t begin_ns, std::int64_t end_ns) {
  if (event != event_) {
    clear();
    event_ = event;
    begin_ns_ = begin_ns;
    end_ns_ = end_ns;
  }
  const auto dependencies = context.analysis().dependencies();
  if (!dependencies) return;
  const bool wanted = context.tab.dependency_chain;
  if (wanted) {
    const auto& chain = context.tab.chain;
    const bool there = chain && chain->event == event;
    if (there && !(chain_listed_ && version_ == chain->snapshot_version)) list_chain(*chain);
  } else if (chain_listed_ || version_ != dependencies->snapshot_version()) {
    list_direct(*dependencies);
  }
  if (direct_total_ == 0) {
    direct_total_ = dependencies->predecessors(event, 0).total + dependencies->successors(event, 0).total;
  }
}

void DependencyColumn::list_direct(const analysis::Dependencies& dependencies) {
  entries_.clear();
  chain_listed_ = false;
  version_ = dependencies.snapshot_version();
  const analysis::DependencyList before = dependencies.predecessors(event_, kMostDirect);
  const analysis::DependencyList after = dependencies.successors(event_, kMostDirect);
  for (const analysis::Dependency& d : before.dependencies) entries_.push_back({d.source, true});
  for (const analysis::Dependency& d : after.dependencies) entries_.push_back({d.target, false});
  total_ = before.total + after.total;
}

void DependencyColumn::list_chain(const analysis::DependencyChain& chain) {
  entries_.clear();
  chain_listed_ = true;
  version_ = chain.snapshot_version;
  for (const analysis::Dependency& d : chain.before) entries_.push_back({d.source, true, d.target});
  for (const analysis::Dependency& d : chain.after) entries_.push_back({d.target, false, d.source});
  total_ = chain.before_total + chain.after_total;
}

float DependencyColumn::height(const Ui& ui) const {
  return ui.px(kDependencyHead + 4) + static_cast<float>(entries_.size() + 1) * ui.px(kDependencyRow);
}

void DependencyColumn::draw(const PanelContext& context, Rect area, const Rect& visible) {
  Ui& ui = context.ui;
  Rect head{area.x0, area.y0, area.x1, area.y0 + ui.px(kDependencyHead)};
  group_heading(ui, area, "Dependencies");
  int chosen = context.tab.dependency_chain ? 1 : 0;
  const Rect choice = head.cut_right(segmented_width(ui, kReach)).middle(ui.px(20));
  if (segmented(ui, "details.reach", choice, kReach, chosen)) context.tab.dependency_chain = chosen == 1;
  head.cut_right(ui.px(8));
  if (icon_button(ui, "details.successor", head.cut_right(ui.px(20)).middle(ui.px(20)), icon::kArrowRight,
                  "To the first that waited for it", {.shortcut = "]"})) {
    context.actions.run("successor");
  }
  if (icon_button(ui, "details.predecessor", head.cut_right(ui.px(20)).middle(ui.px(20)), icon::kArrowLeft,
                  "To what it waited for longest", {.shortcut = "["})) {
    context.actions.run("predecessor");
  }
  area.cut_top(ui.px(4));
  const float row_height = ui.px(kDependencyRow);
  const auto first = static_cast<std::size_t>(std::max(0.0F, std::floor((visible.y0 - area.y0) / row_height)));
  for (std::size_t i = first; i < entries_.size(); ++i) {
    const float y = area.y0 + static_cast<float>(i) * row_height;
    if (y > visible.y1) break;
    draw_entry(context, i, {area.x0, y, area.x1, y + row_height});
  }
  area.cut_top(row_height * static_cast<float>(entries_.size()));
  std::string hint = "Step along them with [ and ]";
  if (total_ > entries_.size()) {
    hint = format_count(entries_.size()) + " of " + format_count(total_) + " shown. " + hint;
  }
  draw_text(ui, area.cut_top(ui.px(kDependencyRow)), hint, kHintText);
}

// Its name, lane and distance, once it comes into sight.
const DependencyColumn::Entry& DependencyColumn::read(const PanelContext& context, Entry& entry) const {
  if (entry.is_read) return entry;
  const EventRecord* record = context.tab.events->find(entry.event);
  const EventRecord* beside = entry.beside == kNoEvent ? nullptr : context.tab.events->find(entry.beside);
  const bool waits_for_beside =
      entry.beside != kNoEvent && beside == nullptr && context.tab.events->problem(entry.beside).empty();
  if (record == nullptr || waits_for_beside) {
    entry.name = context.tab.events->problem(entry.event);
    return entry;
  }
  if (beside != nullptr)
    entry.gap_ns = entry.comes_first ? beside->begin_ns - record->end_ns : record->begin_ns - beside->end_ns;
  entry.is_read = true;
  const TrackSnapshot* track = context.tab.snapshot->find_track(record->lane->track);
  entry.name = record->name_text;
  entry.track = track != nullptr ? track->track->name : "";
  entry.palette_slot = context.tab.snapshot->strings->slot(record->name);
  entry.distance_ns = entry.comes_first ? record->end_ns - begin_ns_ : record->begin_ns - end_ns_;
  return entry;
}

void DependencyColumn::draw_entry(const PanelContext& context, std::size_t index, Rect row) {
  Ui& ui = context.ui;
  const Rect whole = row;
  const Entry& other = read(context, entries_[index]);
  const Interaction response = interact(ui, "details.dependency." + std::to_string(index), row,
                                        {.group = "details.dependencies", .label = other.name});
  if (response.hovered) {
    fill(ui, row, ui.colour(Colour::bg3), size::kChipRadius);
    set_cursor(Cursor::response);
    context.tab.hovered = other.event;
  }
  draw_icon(ui, row.cut_left(ui.px(16)), icon::kArrowRight,
            ui.colour(other.comes_first ? Colour::accent : Colour::selection));
  draw_text(ui, row.cut_left(ui.px(36)), other.comes_first ? "from" : "to",
            {.colour = Colour::text3, .align = Align::right});
  row.cut_left(ui.px(8));
  if (!other.is_read) return draw_text(ui, row, other.name, {.colour = Colour::text3}), void();
  row.cut_left(draw_swatch(ui, row, ui.theme().slice(other.palette_slot)) + ui.px(6));
  draw_text(ui, row.cut_right(ui.px(kDistanceWidth)), distance_text(other.distance_ns),
            {.style = TextStyle::mono, .colour = Colour::text2, .align = Align::right});
  const std::string hint =
      other.name + "\n" + other.track + "\n" + distance_text(other.distance_ns) +
      (other.comes_first ? " from its end to the begin of this event" : " from the end of this event to its begin") +
      (other.beside == kNoEvent ? std::string()
                                : fmt::format("\n{} {}", distance_text(other.gap_ns),
                                              other.comes_first ? "from its end to the begin of the next in the chain"
                                                                : "to its begin from the end of the one before it"));
  tooltip(ui, response, whole, hint);
  draw_text(ui, row.cut_left(row.width() * 0.55F), usual_name(other.name), {.style = TextStyle::mono});
  row.cut_left(ui.px(6));
  draw_text(ui, row, other.track, {.colour = Colour::text3, .fit = Fit::middle});
  if (response.clicked) {
    const EventId event = other.event;
    view::select_event(context.tab, event);
    context.actions.reveal(event);
  }
}

void DetailsPanel::refresh(const PanelContext& context) {
  session::SessionTab& tab = context.tab;
  if (tab.selected != std::exchange(wanted_, tab.selected)) wanted_since_s_ = context.ui.time();
  if (wanted_ != shown_) {
    const EventRecord* record = wanted_ ? tab.events->find(*wanted_) : nullptr;
    problem_ = wanted_ ? tab.events->problem(*wanted_) : "";
    if (wanted_ && record == nullptr && problem_.empty()) {
      // What was shown before stays while the answer is but a frame or two away.
      const double left_s = wanted_since_s_ + kSoonSeconds - context.ui.time();
      if (left_s > 0) return context.ui.request_frame_after(left_s);
      problem_ = "Reading the event ...";
    } else {
      shown_ = wanted_;
    }
    details_.reset();
    neighbours_.clear();
    if (record != nullptr) details_ = content::describe_event(*record, *tab.snapshot);
  }
  if (details_) neighbours_.refresh(context, details_->id, details_->begin_ns, details_->end_ns);
}

std::optional<bool> DetailsPanel::has_content(const PanelContext& context) const {
  return context.tab.selected.has_value();
}

void DetailsPanel::draw(const PanelContext& context, const Rect& area) {
  refresh(context);
  Ui& ui = context.ui;
  if (!details_) {
    if (wanted_ != shown_ && problem_.empty()) return;  // soon
    const std::string sentence =
        problem_.empty() ? "Select an event on the timeline to see all that is known about it." : problem_;
    constexpr std::array<std::string_view, 2> kActions = {"Fit the activity", "Search events"};
    const auto action = empty_state(ui, "details.empty", area, icon::kInfo, sentence, kActions);
    if (action == 0) {
      context.actions.run("fit_activity");
      context.actions.inform("The timeline shows the activity");
    }
    if (action == 1) context.actions.run("search");
    return;
  }
  Rect rest = area;
  draw_head(context, rest.cut_top(ui.px(kHeadRow)).inset(ui.px(size::kPanelPadding + 4), 0));
  draw_body(context, rest.inset(ui.px(size::kPanelPadding + 4), 0));
}

void DetailsPanel::draw_head(const PanelContext& context, Rect row) {
  Ui& ui = context.ui;
  struct HeadButton {
    const char* name;
    ButtonOptions options;
    const char* command;
  };
  const std::array<HeadButton, 4> buttons = {{
      {"details.copy", {.label = "Copy", .icon = icon::kCopy}, ""},
      {"details.fit", {.label = "Fit", .icon = icon::kExpand}, "fit_selection"},
      {"details.next", {.label = "Next", .icon = icon::kArrowRight}, "next_event"},
      {"details.previous", {.label = "Previous", .icon = icon::kArrowLeft}, "previous_event"},
  }};
  for (const HeadButton& entry : buttons) {
    const Rect place = row.cut_right(button_width(ui, entry.options)).middle(ui.px(size::kSmallControl));
    row.cut_right(ui.px(8));
    if (!button(ui, entry.name, place, entry.options)) continue;
    if (entry.command[0] != 0) {
      context.actions.run(entry.command);
    } else {
      context.copy(content::details_text(*details_), "all fields of " + details_->name);
    }
  }
  row.cut_left(draw_swatch(ui, row, ui.theme().slice(details_->palette_slot)) + ui.px(10));
  const std::int64_t length_ns = details_->end_ns - details_->begin_ns;
  const std::string duration = format_duration(length_ns);
  const bool named = !details_->name.empty();
  const std::string& title = named ? details_->title : details_->track;
  // A long name leaves room for the lane and the time.
  const float behind = (named ? text_width(ui, TextStyle::body, details_->track) + ui.px(16) : 0) +
                       text_width(ui, TextStyle::mono, duration) + ui.px(16);
  Rect place = row;
  place.x1 = std::max(row.x0 + ui.px(kLeastTitle), row.x1 - behind);
  const Interaction response = interact(ui, "details.title", place);
  const float used = draw_text(ui, place, title, {.style = TextStyle::heading});
  if (used < text_width(ui, TextStyle::heading, title)) tooltip(ui, response, place, title);
  row.cut_left(used + ui.px(16));
  if (named) row.cut_left(draw_text(ui, row, details_->track, {.colour = Colour::text2}) + ui.px(16));
  draw_text(ui, row, duration, {.style = TextStyle::mono, .colour = Colour::text3});
}

void DetailsPanel::draw_body(const PanelContext& context, const Rect& area) {
  Ui& ui = context.ui;
  const bool has_neighbours = !neighbours_.empty();
  const float neighbour_width = has_neighbours ? std::min(ui.px(kNeighbourWidth), area.width() / 2) : 0;
  const float bar = ui.px(12);
  const std::vector<Column> columns = place_groups(ui, details_->groups, area.width() - neighbour_width - bar);
  float height = has_neighbours ? neighbours_.height(ui) : 0;
  float width = neighbour_width;
  const bool shortened = !details_->name.empty() && details_->title != details_->name;
  const std::vector<std::string_view> whole =
      broken_lines(ui, TextStyle::mono_small, shortened ? details_->name : std::string_view(), area.width() - bar);
  const float whole_height = whole.empty() ? 0 : static_cast<float>(whole.size()) * ui.px(kWholeLine) + ui.px(6);
  for (const Column& column : columns) {
    height = std::max(height, column.height);
    width += column.width;
  }
  const float spare = std::max(0.0F, area.width() - bar - width) / static_cast<float>(columns.size() + 1);

  const ScrollArea scroll(ui, "details.scroll", area, height + whole_height);
  Rect content = scroll.content();
  for (const std::string_view line : whole) {
    draw_text(ui, content.cut_top(ui.px(kWholeLine)), line, kMonoHint);
  }
  if (!whole.empty()) content.cut_top(ui.px(6));
  content.cut_right(bar);
  for (std::size_t i = 0; i < columns.size(); ++i) {
    Rect column = content.cut_left(columns[i].width + std::min(spare, ui.px(90)));
    column.cut_right(ui.px(20));
    for (const std::size_t group : columns[i].groups) {
      draw_group(context, details_->groups[group], column.cut_top(group_height(ui, details_->groups[group])));
    }
  }
  if (has_neighbours) neighbours_.draw(context, content.cut_right(neighbour_width), scroll.visible());
}

void DetailsPanel::draw_group(const PanelContext& context, const content::DetailGroup& group, Rect area) {
  Ui& ui = context.ui;
  group_heading(ui, area, group.title);
  const float label_width = label_width_of(ui, group);
  std::string name;
  std::string_view before;
  for (const content::DetailField& field : group.fields) {
    const bool goes_on = !field.field.empty() && field.field == before;  // of several lines
    name = goes_on ? name + ".more" : "details.field." + field.field;
    before = field.field;
    draw_field(context, field, area.cut_top(ui.px(kFieldRow)), label_width, name);
  }
}

void DetailsPanel::draw_field(const PanelContext& context, const content::DetailField& field, const Rect& row,
                              float label_width, const std::string& name) {
  Ui& ui = context.ui;
  const Interaction response = interact(ui, name, row, {.group = "details.fields", .label = field.label});
  if (response.hovered) {
    fill(ui, {row.x0 - ui.px(4), row.y0, row.x1 + ui.px(4), row.y1}, ui.colour(Colour::bg3), size::kChipRadius);
    set_cursor(Cursor::response);
  }
  Rect place = row;
  draw_text(ui, place.cut_left(label_width), field.label, {.colour = Colour::text2});
  if (response.hovered) {  // a link and the operands are copied by the icon, the rest by a click anywhere
    const Rect copy = place.cut_right(ui.px(18));
    draw_icon(ui, copy, icon::kCopy, ui.colour(Colour::text2));
    if (response.clicked && copy.contains(ui.input().mouse)) {
      return context.copy(field.value, field.label + ": " + field.value);
    }
  }
  const Fit fit = field.look == content::FieldLook::such_link ? Fit::ellipsis : Fit::middle;
  draw_text(ui, place, field.value, {.style = TextStyle::mono, .colour = colour_of(field.look), .fit = fit});
  const bool operands = field.look == content::FieldLook::operands && !details_->operands.empty();
  if (response.hovered && response.hovered_for >= kHoverCardDelay) explain(context, field, row);
  if (response.clicked) follow(context, field);
  if (response.right_clicked) context.look_up(field.field.empty() ? field.label : field.field);
  if (operands && std::exchange(open_operands_, false)) open_popover(ui, kOperandCard);
  if (operands) draw_operands(context, row);
}

// What a click on a value does.
void DetailsPanel::follow(const PanelContext& context, const content::DetailField& field) {
  switch (field.look) {
    case content::FieldLook::source_link:
      context.tab.selected_source = field.value;
      return context.actions.show_panel("source");
    case content::FieldLook::such_link:
      context.tab.region = EventFilter{.range = {}, .tracks = {}, .terms = {{field.search, false}}};
      return context.actions.inform("Selected all events with " + field.search);
    case content::FieldLook::operands:
      open_operands_ = true;
      return;
    case content::FieldLook::plain:
    case content::FieldLook::warning:
      return context.copy(field.value, field.label + ": " + field.value);
  }
}

// What the event holds on the left, how such an operand is written in general on the right. A click copies a part.
void DetailsPanel::draw_operands(const PanelContext& context, const Rect& anchor) {
  Ui& ui = context.ui;
  std::size_t rows = 1;
  for (const analysis::neuron::Operand& operand : details_->operands) rows += 1 + operand.parts.size();
  const float height = static_cast<float>(rows) * kFieldRow;
  const float card_height = std::min(height, kDetailsMostCard) + 20;
  Rect beside = anchor;  // the card opens below it; where there is no room, above
  if (anchor.y1 + ui.px(card_height + 8) > ui.window().y1) {
    beside.y1 = std::max(ui.window().y0, anchor.y0 - ui.px(card_height + 8));
  }
  const Popover card(ui, kOperandCard, beside, 720, card_height);
  if (!card.open()) return;
  const Rect inside = card.body().inset(ui.px(12), ui.px(10));
  const ScrollArea scroll(ui, "details.operands_scroll", inside, height * ui.scale());
  Rect content = scroll.content();
  content.cut_right(ui.px(8));
  const float half = content.width() * 0.46F;
  Rect head = content.cut_top(ui.px(kFieldRow));
  draw_text(ui, head.cut_left(half), "This event", kGroupText);
  draw_text(ui, head, "In general", kGroupText);
  for (std::size_t i = 0; i < details_->operands.size(); ++i) {
    const analysis::neuron::Operand& operand = details_->operands[i];
    Rect title = content.cut_top(ui.px(kFieldRow));
    horizontal_line(ui, title.x0, title.x1, title.y0, ui.colour(Colour::line1));
    draw_text(ui, title.cut_left(half - ui.px(8)), operand.text,
              {.style = TextStyle::mono_strong, .colour = Colour::accent, .fit = Fit::middle});
    title.cut_left(ui.px(8));
    draw_text(ui, title, operand.meaning, {.colour = Colour::text2});
    for (std::size_t k = 0; k < operand.parts.size(); ++k) {
      const analysis::neuron::OperandPart& part = operand.parts[k];
      Rect row = content.cut_top(ui.px(kFieldRow));
      const Interaction response = interact(ui, "details.operand." + std::to_string(i) + "." + std::to_string(k), row,
                                            {.group = "details.operands", .label = part.label});
      if (response.hovered) fill(ui, row, ui.colour(Colour::bg3), size::kChipRadius);
      if (response.clicked) context.copy(part.value, part.label + ": " + part.value);
      Rect left = row.cut_left(half - ui.px(8));
      left.cut_left(ui.px(14));
      draw_text(ui, left.cut_left(ui.px(104)), part.label, {.colour = Colour::text2});
      draw_text(ui, left, part.value, {.style = TextStyle::mono, .fit = Fit::middle});
      row.cut_left(ui.px(8));
      const analysis::neuron::OperandPartExample example = analysis::neuron::example_of_part(part.label);
      draw_text(ui, row.cut_left(ui.px(104)), example.grammar, {.style = TextStyle::mono, .colour = Colour::text3});
      draw_text(ui, row, example.meaning, {.colour = Colour::text3});
    }
  }
}

void DetailsPanel::explain(const PanelContext& context, const content::DetailField& field, const Rect& row) const {
  HoverCard card{.title = field.label, .title_value = field.field, .rows = {}, .footer = field.explanation};
  const bool operands = field.field == "operands" && !details_->operands.empty();
  if (operands) {
    for (const analysis::neuron::Operand& operand : details_->operands) {
      card.rows.push_back({operand.title, operand.text, Colour::accent});
      for (const analysis::neuron::OperandPart& part : operand.parts)
        card.rows.push_back({"   " + part.label, part.value});
    }
    card.rows.push_back({"In general", std::string(analysis::neuron::kMemoryOperandExample), Colour::text3});
  } else {
    card.rows.push_back({"Value", field.value});
  }
  const char* click = "Click: copy the value.";
  if (field.look == content::FieldLook::source_link) click = "Click: open the source.";
  if (field.look == content::FieldLook::such_link) click = "Click: select all events with it.";
  if (field.look == content::FieldLook::operands) click = "Click: keep this open beside a general example.";
  card.footer += (card.footer.empty() ? "" : " ") + std::string(click) + " Right click: look it up.";
  hover_card(context.ui, card, row);
}

std::unique_ptr<Panel> make_details_panel(const PanelParts&) { return std::make_unique<DetailsPanel>(); }

}  // namespace accelscope::app::panels
