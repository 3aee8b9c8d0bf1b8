#include <fmt/format.h>

#include <span>

#include "app/content/event_details.h"
#include "app/content/source/costs.h"
#include "app/mcp/tool.h"
#include "core/analysis/dependencies/event_stack.h"
#include "core/analysis/dependencies/wait_causes.h"
#include "core/analysis/source/own_code.h"
#include "core/names/name_forms.h"

namespace accelscope::app {
namespace {

constexpr std::size_t kChain = 6;

std::vector<std::string> short_names(const std::vector<std::string>& names) {
  std::vector<std::string> all;
  for (const std::string& name : names) all.push_back(usual_name(name));
  return all;
}

// The innermost line of the user's own code, else of any.
std::string source_of(std::span<const StackCall> calls) {
  std::string any;
  for (const StackCall& each : calls) {
    if (each.source.empty()) continue;
    if (!is_framework_path(each.source)) return each.source;
    if (any.empty()) any = each.source;
  }
  return any;
}

// Work of a device that names no line, and no stack, has those of its launch.
Result<void> add_stack(const QueryContext& query, const Dependencies& dependencies, const EventDetails& details,
                       JsonObject& answer) {
  StackRules rules = stack_rules();
  rules.own_times = false;
  const auto stack = event_stack(query, dependencies, details.id, rules);
  if (!stack && query.control.cancelled()) return stack.error();
  // What cannot be read around the event takes nothing from what is known of itself.
  const std::size_t first = stack && stack->own > 1 ? stack->own - 1 : 1;
  const auto calls = stack ? std::span(stack->calls).subspan(first) : std::span<const StackCall>();
  std::vector<std::string> frames = details.stack;
  if (frames.empty()) {
    for (const StackCall& each : calls) frames.push_back(each.name);
  }
  answer.text_if("source", details.source.empty() ? source_of(calls) : details.source);
  if (stack && stack->own > 1) answer.number("launched_by", static_cast<std::uint64_t>(calls.front().event));
  if (!frames.empty()) answer.raw("stack", json_texts(short_names(frames)));
  if (!stack) answer.text("stack_unread", stack.message());
  return {};
}

std::string linked_event(EventReader& reader, const Dependency& link, EventId event) {
  JsonObject json;
  json.number("event", static_cast<std::uint64_t>(event));
  if (const auto record = reader.read(event)) {
    const TrackSnapshot* track = reader.snapshot().find_track(record->lane->track);
    json.text("name", usual_name(record->name_text));
    if (track != nullptr) json.text("track", track->track->name);
    json.number("begin_ns", record->begin_ns).number("end_ns", record->end_ns);
  }
  json.text("through", reader.snapshot().strings->text(link.kind));
  return json.done();
}

Result<ToolAnswer> event_tool(ToolCall& call) {
  const auto session = TRY(session_of(call));
  const auto id = TRY(call.arguments.id("event"));
  if (!id) return Error{"event: missing"};
  EventReader reader(session->store(), session->snapshot);
  const auto record = reader.read(EventId{*id});
  if (!record) return Error{fmt::format("{}: {}", *id, record.message())};
  const EventDetails details = describe_event(*record, *session->snapshot);
  JsonObject answer;
  answer.number("event", static_cast<std::uint64_t>(details.id)).text("name", details.title);
  if (details.title != details.name) answer.text("full_name", details.name);
  answer.text("track", details.track).number("begin_ns", details.begin_ns).number("end_ns", details.end_ns);
  const QueryContext query = query_of(call, *session);
  const auto dependencies = TRY(session_dependencies(query));
  TRY(add_stack(query, *dependencies, details, answer));
  JsonObject groups;
  for (const DetailGroup& group : details.groups) {
    JsonObject fields;
    for (const DetailField& field : group.fields) fields.text(field.label, field.value);
    groups.raw(group.title, fields.done());
  }
  answer.raw("fields", groups.done());
  const DependencyChain chain = dependency_chain(*dependencies, details.id, reader, kChain, call.control.task);
  JsonList before, after;
  for (const Dependency& each : chain.before) before.raw(linked_event(reader, each, each.source));
  for (const Dependency& each : chain.after) after.raw(linked_event(reader, each, each.target));
  answer.raw("waited_for", before.done()).raw("then", after.done());
  answer.number("links_before", chain.before_total).number("links_after", chain.after_total);
  return ToolAnswer{answer.done(), ""};
}

}  // namespace

std::vector<Tool> event_tools() {
  return {
      {"event",
       "One event",
       "All that is known of an event by its id: times, every field with its unit, source line and stack (of a kernel "
       "those of its launch), the chain of events that it waited for, and those that followed from it.",
       {kSessionArgument, {"event", ArgumentType::integer, "Id, as slice.id and other answers have it", true}},
       event_tool},
  };
}

}  // namespace accelscope::app
