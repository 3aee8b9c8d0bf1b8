#include "app/content/event_details.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "core/base/format.h"
#include "core/base/text.h"
#include "core/model/source_location.h"
#include "core/names/name_forms.h"
#include "core/names/short_names.h"

namespace accelscope::app::content {

namespace {

constexpr std::string_view kTiming = "Timing";
constexpr std::string_view kOtherFields = "Details";

DetailGroup& group_named(std::vector<DetailGroup>& groups, std::string_view title) {
  const auto found = std::find_if(groups.begin(), groups.end(), [&](const DetailGroup& g) { return g.title == title; });
  if (found != groups.end()) return *found;
  groups.push_back({std::string(title), {}});
  return groups.back();
}

void add_timing(const EventRecord& record, DetailGroup& timing) {
  timing.fields.push_back(
      {"Start", format_time_exact(record.begin_ns), "Time since the session's start.", "start", {}});
  if (record.lane->data->kind == EventKind::counter) return;
  timing.fields.push_back({"End", format_time_exact(record.end_ns), "When the event was over.", "end", {}});
  timing.fields.push_back({"Duration",
                           format_time_exact(record.end_ns - record.begin_ns),
                           "From the start to the end of the event, waiting before it not included.",
                           "duration",
                           {}});
  if (!record.lane->clock->is_identity()) {
    const double ghz = 1.0 / record.lane->clock->ns_per_tick();
    timing.fields.push_back(
        {"Ticks",
         format_signed(record.end_ticks - record.begin_ticks) + " at " + format_number(ghz) + " GHz",
         "The duration in ticks of the event's own clock, as recorded.",
         "ticks",
         {}});
  }
}

FieldLook look_of(const Column& column, const FieldValue& value) {
  if (column.role == Role::source_location) return FieldLook::source_link;
  if (column.role == Role::operands) return FieldLook::operands;
  const auto* number = std::get_if<std::int64_t>(&value);
  if (column.role == Role::wait_ns && number != nullptr && *number > 0) return FieldLook::warning;
  return FieldLook::plain;
}

std::vector<std::string> split_lines(const std::string& text) {
  std::vector<std::string> lines;
  std::size_t at = 0;
  while (at < text.size()) {
    if (lines.size() == NameLimits::kFrames) {
      lines.emplace_back("(frames further out are not listed)");
      break;
    }
    const std::size_t end = std::min(text.find('\n', at), text.size());
    if (end > at) lines.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return lines;
}

// The first value of a role that is a text; an event may have a denser second source location.
std::string text_of_role(const EventRecord& record, Role role) {
  const Schema& schema = *record.lane->schema;
  for (std::size_t i = 0; i < schema.columns.size() && i < record.fields.size(); ++i) {
    if (schema.columns[i].role != role) continue;
    if (const auto* text = std::get_if<std::string>(&record.fields[i]); text != nullptr && !text->empty()) return *text;
  }
  return "";
}

// The search that all events with the same value match, for values that many events share and users ask about: names,
// layers, tensors, engines and queues, operations of the graph. "" for others, and for a value that cannot be quoted.
// What is said of a column where its source says nothing.
std::string explanation_of(const Schema& schema, const Column& column) {
  if (!column.explanation.empty()) return column.explanation;
  return "As recorded in the field \"" + column.name + "\" of \"" + schema.name + "\"" +
         (column.unit.empty() ? "." : ", in " + column.unit + ".");
}

std::string search_of_all_such(const Column& column, const FieldValue& value) {
  constexpr std::array<std::string_view, 7> kShared = {"subgroup", "queue",  "q_name",        "hlo_name",
                                                       "engine",   "stream", "loop_variables"};
  const auto* text = std::get_if<std::string>(&value);
  const bool shared = column.role == Role::layer || column.role == Role::tensor ||
                      std::find(kShared.begin(), kShared.end(), column.name) != kShared.end();
  if (!shared || text == nullptr || text->find('"') != std::string::npos) return "";
  return column.name + "=\"" + *text + "\"";
}

DetailField name_field(const Schema& schema, const std::string& name) {
  const std::string explanation = schema.name_explanation.empty()
                                      ? "What the event is called in \"" + schema.name + "\"."
                                      : schema.name_explanation;
  DetailField field{capitalised(with_blanks(schema.name_column)), name, explanation, schema.name_column, {}};
  if (name.find('"') == std::string::npos) {
    field.look = FieldLook::such_link;
    field.search = "name=\"" + name + "\"";
  }
  return field;
}

DetailField column_field(const Schema& schema, const Column& column, const FieldValue& value) {
  DetailField field{column.title.empty() ? capitalised(with_blanks(column.name)) : column.title,
                    field_text(column, value), explanation_of(schema, column), column.name, look_of(column, value)};
  field.search = search_of_all_such(column, value);
  if (!field.search.empty()) field.look = FieldLook::such_link;
  return field;
}

// The frames of a stack beside the first one, which has a panel of its own: a field each that leads to its line.
void add_frames(const Schema& schema, const Column& column, const std::string& text, DetailGroup& group) {
  for (const std::string& line : split_lines(text)) {
    const StackFrame frame = parse_stack_frame(line);
    DetailField field{column.title, line, explanation_of(schema, column), column.name, FieldLook::plain};
    if (frame.line > 0) {
      field.value = frame.path + ":" + std::to_string(frame.line);
      field.explanation = frame.function + ". " + field.explanation;
      field.look = FieldLook::source_link;
    }
    group.fields.push_back(std::move(field));
  }
}

bool has_value(const FieldValue& value) {
  const auto* text = std::get_if<std::string>(&value);
  const bool blank = text != nullptr && text->find_first_not_of(' ') == std::string::npos;
  return !std::holds_alternative<std::monostate>(value) && !blank;
}

}  // namespace

EventDetails describe_event(const EventRecord& record, const Snapshot& snapshot) {
  const Schema& schema = *record.lane->schema;
  EventDetails details{.id = record.id,
                       .name = record.name_text,
                       .title = usual_name(record.name_text),
                       .track = {},
                       .palette_slot = snapshot.strings->slot(record.name),
                       .begin_ns = record.begin_ns,
                       .end_ns = record.end_ns,
                       .groups = {},
                       .operands = analysis::neuron::parse_operands(text_of_role(record, Role::operands)),
                       .source = text_of_role(record, Role::source_location),
                       .stack = split_lines(text_of_role(record, Role::stack))};
  if (const TrackSnapshot* track = snapshot.find_track(record.lane->track)) details.track = track->track->name;
  add_timing(record, group_named(details.groups, kTiming));

  bool name_placed = schema.name_column.empty() || record.name_text.empty();
  for (std::size_t i = 0; i < schema.columns.size() && i < record.fields.size(); ++i) {
    const Column& column = schema.columns[i];
    DetailGroup& group = group_named(details.groups, column.group.empty() ? kOtherFields : column.group);
    if (!name_placed && group.title != kTiming) {
      group.fields.push_back(name_field(schema, record.name_text));
      name_placed = true;
    }
    if (!has_value(record.fields[i])) {
      ++details.empty_fields;
    } else if (column.role != Role::stack) {
      group.fields.push_back(column_field(schema, column, record.fields[i]));
    } else if (i != schema.find(Role::stack)) {
      add_frames(schema, column, std::get<std::string>(record.fields[i]), group);
    }
  }
  std::erase_if(details.groups, [](const DetailGroup& group) { return group.fields.empty(); });
  return details;
}

std::string details_text(const EventDetails& details) {
  std::string text = details.name + "\t" + details.track + "\n";
  for (const DetailGroup& group : details.groups) {
    text += "\n" + group.title + "\n";
    for (const DetailField& field : group.fields) text += field.label + "\t" + field.value + "\n";
  }
  return text;
}

}  // namespace accelscope::app::content
