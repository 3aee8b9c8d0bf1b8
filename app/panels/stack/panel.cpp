#include <set>

#include "app/content/advice_words.h"
#include "app/content/event_details.h"
#include "app/content/source/costs.h"
#include "app/panels/panel.h"

namespace accelscope::app::panels {

using namespace render;  // NOLINT: this file is nothing but drawing

namespace {

// The calls that led to the selected event, innermost first: for work of a device the call that launched it and what
// that lies in. A click on a call lights it on the timeline and opens its line in the source view; one without a line
// becomes the selected event.

// Where there is no stack: why, and one thing to do about it.
struct StackAdvice {
  const char* sentence = "";
  const char* action = "";  // its link; "": none
  const char* command = "";
};

class StackPanel final : public Panel {
 public:
  void draw(const PanelContext& context, const Rect& area) override;
  [[nodiscard]] bool pending() const override { return task_.valid() && !task_.ready(); }

 private:
  // Calls under one heading: those of the event, those of the forward pass.
  struct Part {
    std::vector<content::CallRow> rows;
    std::set<std::size_t> opened;  // runs of framework calls
  };

  void read(const PanelContext& context);
  void take(const PanelContext& context, const EventRecord& record);
  void draw_head(const PanelContext& context, Rect head);
  void draw_part(const PanelContext& context, Part& part, const std::string& prefix, Rect& content);
  void draw_row(const PanelContext& context, Part& part, const content::CallRow& row, const std::string& name,
                const std::string& level, Rect place);
  [[nodiscard]] std::string text() const;

  std::optional<EventId> shown_;
  std::uint64_t version_ = 0;  // of the dependencies that it was asked for with
  Task<Result<analysis::EventStack>> task_;
  bool read_ = false;    // what is shown is of shown_
  bool failed_ = false;  // it could not be read; Details says why
  StackAdvice advice_ = {"Select an event to see the calls that led to it."};
  std::string note_;  // what is missing of the stack, below it
  std::string title_, forward_title_;
  std::string launch_;  // "Queued 1.65 ms"
  std::uint8_t slot_ = 0;
  Part calls_, forward_;
};

constexpr float kCallRow = 24, kStackHeadRow = 44, kColumnRow = 22, kNoteRow = 40;
constexpr float kCallLevelWidth = 74, kCallTimeWidth = 68;
constexpr float kRoomForBoth = 400;  // units of width from which both times are shown

bool has_role(const Schema& schema, Role role) { return schema.find(role).has_value(); }

bool has_tracks_of(const Snapshot& snapshot, std::string_view kind) {
  return std::ranges::any_of(snapshot.tracks, [&](const TrackSnapshot& track) { return track.track->kind == kind; });
}

bool any_schema(const Snapshot& snapshot, Role role) {
  return std::ranges::any_of(snapshot.schemas, [&](const auto& each) { return has_role(*each, role); });
}

// How what captured the session records the calls of its host too.
const char* calls_advice(const Snapshot& snapshot) {
  const std::string_view format = snapshot.meta_value("source_format");
  if (format.starts_with("Nsight"))
    return "The calls of the host are not in this session. nsys records them with --trace=cuda,nvtx,osrt.";
  if (format.starts_with("ROCm"))
    return "The calls of the host are not in this session. rocprofv3 records them with --hip-trace or --sys-trace.";
  if (content::tells_of_python(snapshot))
    return "The calls of the host are not in this session. torch.profiler records them with ProfilerActivity.CPU, and "
           "Python's with with_stack=True.";
  return "The calls of the host are not in this session: what captured it recorded the device alone.";
}

// Why an event has no calls, by what kind of source the session comes from.
StackAdvice advice_for(const Snapshot& snapshot, const Schema* schema, std::string_view track_kind) {
  const bool host_calls = has_tracks_of(snapshot, "host_thread");
  if (host_calls && (track_kind == "stream" || track_kind == "dma_queue" || track_kind == "barrier")) {
    return {
        "The call that launched this is not in the session: it ran before the capture began, or calls of the "
        "driver were not recorded."};
  }
  if (host_calls) return {"This event belongs to no thread of the host, so that no calls lead to it."};
  if (has_tracks_of(snapshot, "stream")) return {calls_advice(snapshot)};
  if (schema != nullptr && has_role(*schema, Role::operands)) {
    return {
        "No stack was recorded for this event. Compile with XLA_IR_DEBUG=1 and XLA_HLO_DEBUG=1 to have the "
        "framework's calls."};
  }
  if (any_schema(snapshot, Role::stack)) {
    return {"No stack was recorded for this event; instructions and framework calls have one."};
  }
  return {
      "The source of this session records no call stacks. What line an event comes from, if it says so, stands in "
      "Details."};
}

// What the stack would say more if it had been recorded; "" if nothing is missing.
std::string note_for(const Snapshot& snapshot, const std::vector<content::CallRow>& rows,
                     const std::vector<content::CallRow>& forward) {
  const auto is_python = [](const content::CallRow& row) { return row.level == "Python"; };
  const auto is_operator = [](const content::CallRow& row) {
    return row.level == "Operator" || row.level == "Runtime";
  };
  if (std::ranges::none_of(rows, is_operator) || std::ranges::any_of(rows, is_python) ||
      std::ranges::any_of(forward, is_python)) {
    return "";
  }
  if (!content::tells_of_python(snapshot)) return "";
  const std::string& parent = content::stack_rules().parent_column;
  const bool any_python =
      std::ranges::any_of(snapshot.schemas, [&](const auto& each) { return each->find(parent).has_value(); });
  return any_python ? "No call of Python lies around these on their thread."
                    : "Python's calls are not in this session; torch.profiler records them with with_stack=True.";
}

std::string place_text(const content::CallRow& row) {
  const std::string whole = row.text.empty() ? row.recorded : row.text;
  return row.location.empty() || row.location == whole ? whole : whole + "\n" + row.location;
}

}  // namespace

void StackPanel::read(const PanelContext& context) {
  const session::SessionTab& tab = context.tab;
  if (tab.selected != shown_) {
    shown_ = tab.selected;
    task_ = {};
    read_ = false;
    version_ = 0;
    calls_ = forward_ = {};
    note_ = launch_ = title_ = "";
    advice_ = {shown_ ? "" : "Select an event to see the calls that led to it."};
  }
  const EventRecord* record = shown_ ? tab.events->find(*shown_) : nullptr;
  failed_ = shown_ && record == nullptr && !tab.events->problem(*shown_).empty();  // Details says why
  if (record == nullptr) return;
  title_ = record->name_text;
  slot_ = tab.snapshot->strings->slot(record->name);
  take(context, *record);
  const auto dependencies = context.analysis().dependencies();
  // Of a growing session the call that launched an event may come after it.
  const bool newer = dependencies && dependencies->snapshot_version() != version_;
  if (!dependencies || task_.valid() || (read_ && !newer)) return;
  version_ = dependencies->snapshot_version();
  task_ = context.analysis().start([dependencies, event = *shown_](const QueryContext& query) {
    return analysis::event_stack(query, *dependencies, event, content::stack_rules());
  });
}

void StackPanel::take(const PanelContext& context, const EventRecord& record) {
  if (!task_.valid() || !task_.ready()) return;
  const session::SessionTab& tab = context.tab;
  auto stack = task_.take();
  read_ = true;
  if (!stack) return context.actions.notify(Severity::warning, stack.message());
  // What is not of a host is no call: it stands in the heading, and in the list where something launched it.
  const bool alone = stack->own == 1 && !stack->calls.front().on_host;
  if (alone) stack->calls.erase(stack->calls.begin());
  if (const content::EventDetails details = content::describe_event(record, *tab.snapshot);
      stack->calls.empty() && !details.source.empty()) {
    analysis::StackCall line;
    line.name = details.source;
    stack->calls.push_back(std::move(line));
  }
  calls_.rows = content::call_rows(stack->calls);
  forward_.rows = content::call_rows(stack->forward);
  forward_title_ = stack->forward_flow == "fwdbwd" ? "Forward pass" : "Follows from, by " + stack->forward_flow;
  note_ = note_for(*tab.snapshot, calls_.rows, forward_.rows);
  if (stack->own == 2) {
    const std::int64_t queued = stack->calls[0].begin_ns - stack->calls[1].end_ns;
    launch_ = "Launched " + format_duration(stack->calls[1].begin_ns);
    if (queued > 0) launch_ += ", queued " + format_duration(queued);
  }
  const TrackSnapshot* track = tab.snapshot->find_track(record.lane->track);
  advice_ = advice_for(*tab.snapshot, record.lane->schema.get(), track != nullptr ? track->track->kind : "");
}

std::string StackPanel::text() const {
  std::string text;
  for (const Part* part : {&calls_, &forward_}) {
    if (part == &forward_ && !forward_.rows.empty()) text += forward_title_ + ":\n";
    for (const content::CallRow& row : part->rows) {
      for (std::size_t k = 0; k < row.repeats; ++k) text += row.recorded + "\n";
    }
  }
  return text;
}

void StackPanel::draw(const PanelContext& context, const Rect& area) {
  Ui& ui = context.ui;
  read(context);
  if (calls_.rows.empty()) {
    if (shown_ && !read_ && !failed_) return;  // soon
    const std::array<std::string_view, 1> actions = {advice_.action};
    const std::size_t count = advice_.action[0] != 0 ? 1 : 0;
    if (empty_state(ui, "stack.empty", area, icon::kList, advice_.sentence, std::span(actions).first(count))) {
      context.actions.run(advice_.command);
    }
    return;
  }
  Rect rest = area;
  draw_head(context, rest.cut_top(ui.px(kStackHeadRow)));
  const auto heads = [&](Rect row) {
    horizontal_line(ui, row.x0, row.x1, row.y1 - 1, ui.colour(Colour::line2));
    row = padded(ui, row);
    const TextOptions look{.style = TextStyle::small, .colour = Colour::text3};
    const TextOptions right{.style = TextStyle::small, .colour = Colour::text3, .align = Align::right};
    const bool timed = std::ranges::any_of(calls_.rows, [](const content::CallRow& each) { return each.timed; });
    if (timed) {
      draw_text(ui, row.cut_right(ui.px(kCallTimeWidth)), "Total", right);
      if (area.width() >= ui.px(kRoomForBoth)) draw_text(ui, row.cut_right(ui.px(kCallTimeWidth)), "Self", right);
    }
    draw_text(ui, row.cut_left(ui.px(kCallLevelWidth)), "Level", look);
    draw_text(ui, row, "Call", look);
  };
  heads(rest.cut_top(ui.px(kColumnRow)));
  const std::size_t rows =
      content::folded_rows(calls_.rows, calls_.opened).size() +
      (forward_.rows.empty() ? 0 : 1 + content::folded_rows(forward_.rows, forward_.opened).size());
  const float notes = note_.empty() ? 0 : kNoteRow;
  const ScrollArea scroll(ui, "stack.scroll", rest, ui.px(kCallRow) * static_cast<float>(rows) + ui.px(notes));
  Rect content = scroll.content();
  draw_part(context, calls_, "stack.frame.", content);
  if (!forward_.rows.empty()) {
    const Rect row = content.cut_top(ui.px(kCallRow));
    fill(ui, row, ui.colour(Colour::bg3));
    draw_text(ui, padded(ui, row), forward_title_, kGroupText);
    draw_part(context, forward_, "stack.forward.", content);
  }
  if (!note_.empty()) {
    draw_paragraph(ui, content.cut_top(ui.px(kNoteRow)).inset(ui.px(size::kPanelPadding), ui.px(8)), note_, kHintText);
  }
}

void StackPanel::draw_head(const PanelContext& context, Rect head) {
  Ui& ui = context.ui;
  head = head.inset(ui.px(size::kPanelPadding), ui.px(4));
  const ButtonOptions copy{.label = "Copy", .icon = icon::kCopy, .tooltip = "All calls, innermost first"};
  if (button_right(ui, "stack.copy", head, copy, size::kSmallControl)) {
    context.copy(text(), "the stack");
  }
  head.cut_right(ui.px(8));
  Rect name = head.cut_top(head.height() / 2);
  const Interaction response = interact(ui, "stack.title", name, {.keys = FocusStopKind::open});
  if (response.hovered) tooltip(ui, response, name, title_);
  name.cut_left(draw_swatch(ui, name, ui.theme().slice(slot_)) + ui.px(8));
  draw_text(ui, name, title_, {.style = TextStyle::heading});
  const std::size_t count = calls_.rows.size();
  std::string hint = format_count(count) + (count == 1 ? " frame" : " frames, innermost first");
  if (!launch_.empty()) hint += " · " + launch_;
  draw_text(ui, head, hint, kHintText);
}

void StackPanel::draw_part(const PanelContext& context, Part& part, const std::string& prefix, Rect& content) {
  std::string level;
  std::size_t at = 0;
  for (const content::CallRow& row : content::folded_rows(part.rows, part.opened)) {
    const std::string name =
        row.folded > 0 ? prefix + "fold." + std::to_string(row.first) : prefix + std::to_string(at++);
    draw_row(context, part, row, name, row.level == level ? "" : row.level, content.cut_top(context.ui.px(kCallRow)));
    level = row.level;
  }
}

void StackPanel::draw_row(const PanelContext& context, Part& part, const content::CallRow& row, const std::string& name,
                          const std::string& level, Rect place) {
  Ui& ui = context.ui;
  session::SessionTab& tab = context.tab;
  const Rect whole = place;
  const bool selected = row.event != kNoEvent && row.event == tab.selected;
  const bool leads = row.folded > 0 || !row.location.empty() || (row.event != kNoEvent && !selected);
  const Interaction response =
      interact(ui, name, place, {.disabled = !leads, .group = "stack.calls", .label = row.text});
  if (selected || response.hovered) fill(ui, place, ui.colour(selected ? Colour::accent_bg : Colour::bg3));
  if (response.hovered) {
    set_cursor(Cursor::response);
    if (row.folded == 0) tooltip(ui, response, whole, place_text(row));
  }
  if (selected)
    fill(ui, {place.x0, place.y0, place.x0 + ui.px(size::kAccentLine), place.y1}, ui.colour(Colour::accent));
  horizontal_line(ui, place.x0, place.x1, place.y1 - 1, ui.colour(Colour::line1));
  place = padded(ui, place);
  if (row.timed) {
    const TextOptions number{.style = TextStyle::mono, .colour = Colour::text2, .align = Align::right};
    draw_text(ui, place.cut_right(ui.px(kCallTimeWidth)), format_duration(row.total_ns), number);
    if (whole.width() >= ui.px(kRoomForBoth)) {
      draw_text(ui, place.cut_right(ui.px(kCallTimeWidth)), format_duration(row.self_ns), number);
    }
    place.cut_right(ui.px(8));
  }
  draw_text(ui, place.cut_left(ui.px(kCallLevelWidth)), level, kHintText);
  if (row.repeats > 1) {
    const std::string times = "× " + format_count(row.repeats);
    draw_text(ui, place.cut_right(text_width(ui, TextStyle::mono, times) + ui.px(8)), times,
              {.style = TextStyle::mono, .colour = Colour::text2, .align = Align::right});
  }
  if (row.folded > 0) {
    draw_icon(ui, place.cut_left(ui.px(14)), part.opened.contains(row.first) ? icon::kCaretDown : icon::kCaretRight,
              ui.colour(Colour::text2), TextStyle::icon12);
    draw_text(ui, place, row.text, {.style = TextStyle::mono, .colour = Colour::text3});
  } else if (row.location.empty()) {
    if (row.event != kNoEvent) {
      const StringId id = tab.snapshot->strings->find(row.recorded);
      place.cut_left(draw_swatch(ui, place, ui.theme().slice(id == kNone ? 0 : tab.snapshot->strings->slot(id))) +
                     ui.px(8));
    }
    draw_text(ui, place, row.text, {.style = TextStyle::mono});
  } else {
    place.cut_left(draw_text(ui, place, content::last_of_path(row.location),
                             {.style = TextStyle::mono, .colour = row.framework ? Colour::text3 : Colour::accent}) +
                   ui.px(8));
    draw_text(ui, place, row.text, {.style = TextStyle::mono, .colour = row.framework ? Colour::text3 : Colour::text1});
  }
  if (response.clicked && row.folded > 0) {
    if (!part.opened.erase(row.first)) part.opened.insert(row.first);
  } else if (response.clicked && !row.location.empty()) {
    tab.selected_source = row.location;
    if (row.event != kNoEvent && !selected) {
      tab.related = {row.event};
      context.actions.reveal(row.event);
    }
    context.actions.show_panel("source");
  } else if (response.clicked) {
    const EventId event = row.event;
    view::select_event(tab, event);
    context.actions.reveal(event);
  }
}

std::unique_ptr<Panel> make_stack_panel(const PanelParts&) { return std::make_unique<StackPanel>(); }

}  // namespace accelscope::app::panels
