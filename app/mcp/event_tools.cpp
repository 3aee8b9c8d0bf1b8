#include <fmt/format.h>

#include <span>

#include "app/content/event_details.h"
#include "app/content/source/costs.h"
#include "app/mcp/tool.h"
#include "core/analysis/dependencies/event_stack.h"
#include "core/analysis/dependencies/wait_causes.h"
#include "core/analysis/source/own_code.h"
#include "core/base/json.h"
#include "core/names/name_forms.h"

namespace accelscope::app::mcp {
namespace {

constexpr std::size_t kChain = 6;

std::vector<std::string> short_names(const std::vector<std::string>& names) {
  std::vector<std::string> all;
  for (const std::string& name : names) all.push_back(usual_name(name));
  return all;
}

// The innermost line of the user's own code, else of any.
std::string source_of(std::span<const analysis::StackCall> calls) {
  std::string any;
  for (const analysis::StackCall& each : calls) {
    if (each.source.empty()) continue;
    if (!analysis::is_framework_path(each.source)) return each.source;
    if (any.empty()) any = each.source;
  }
  return any;
}

// Work of a device that names no line, and no stack, has those of its launch.
Result<void> add_stack(const QueryContext& query, const analysis::Dependencies& dependencies,
                       const content::EventDetails& details, JsonWriter& answer) {
  analysis::StackRules rules = content::stack_rules();
  rules.own_times = false;
  const auto stack = analysis::event_stack(query, dependencies, details.id, rules);
  if (!stack && query.control.cancelled()) return stack.error();
  // What cannot be read around the event takes nothing from what is known of itself.
  const std::size_t first = stack && stack->own > 1 ? stack->own - 1 : 1;
  const auto calls = stack ? std::span(stack->calls).subspan(first) : std::span<const analysis::StackCall>();
  std::vector<std::string> frames = details.stack;
  if (frames.empty()) {
    for (const analysis::StackCall& each : calls) frames.push_back(each.name);
  }
  answer.add_text("source", details.source.empty() ? source_of(calls) : details.source);
  if (stack && stack->own > 1) answer.add("launched_by", calls.front().event);
  if (!frames.empty()) answer.add("stack", short_names(frames));
  if (!stack) answer.add("stack_unread", stack.message());
  return {};
}

void add_linked(JsonWriter& json, EventReader& reader, const analysis::Dependency& link, EventId event) {
  json.begin_object("event", event);
  if (const auto record = reader.read(event)) {
    const TrackSnapshot* track = reader.snapshot().find_track(record->lane->track);
    json.add("name", usual_name(record->name_text));
    if (track != nullptr) json.add("track", track->track->name);
    json.add("begin_ns", record->begin_ns, "end_ns", record->end_ns);
  }
  json.add("through", reader.snapshot().strings->text(link.kind)).end();
}

Result<ToolAnswer> event_tool(ToolCall& call) {
  const auto session = TRY(session_of(call));
  const auto id = TRY(call.arguments.id("event"));
  if (!id) return Error{"event: missing"};
  EventReader reader(session->store(), session->snapshot);
  const auto record = reader.read(EventId{*id});
  if (!record) return Error{fmt::format("{}: {}", *id, record.message())};
  const content::EventDetails details = content::describe_event(*record, *session->snapshot);
  JsonWriter answer;
  answer.begin_object("event", details.id, "name", details.title);
  if (details.title != details.name) answer.add("full_name", details.name);
  answer.add("track", details.track, "begin_ns", details.begin_ns, "end_ns", details.end_ns);
  const QueryContext query = query_of(call, *session);
  const auto dependencies = TRY(analysis::session_dependencies(query));
  TRY(add_stack(query, *dependencies, details, answer));
  answer.key("fields").begin_object();
  for (const content::DetailGroup& group : details.groups) {
    answer.key(group.title).begin_object();
    for (const content::DetailField& field : group.fields) answer.add(field.label, field.value);
    answer.end();
  }
  answer.end();
  const analysis::DependencyChain chain =
      analysis::dependency_chain(*dependencies, details.id, reader, kChain, call.control.task);
  answer.array("waited_for", chain.before,
               [&](const analysis::Dependency& each) { add_linked(answer, reader, each, each.source); });
  answer.array("then", chain.after,
               [&](const analysis::Dependency& each) { add_linked(answer, reader, each, each.target); });
  answer.add("links_before", chain.before_total, "links_after", chain.after_total);
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

}  // namespace accelscope::app::mcp
