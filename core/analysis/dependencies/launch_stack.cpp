#include "core/analysis/dependencies/launch_stack.h"

#include <algorithm>

#include "core/analysis/dependencies/chain.h"
#include "core/analysis/source/own_code.h"
#include "core/analysis/time/host_threads.h"

namespace accelscope {
namespace {

constexpr std::size_t kMostSteps = 8;  // from work that work set off to the call that began it

[[nodiscard]] std::string text_of(const EventRecord& record, Role role) {
  const Schema& schema = *record.lane->schema;
  for (std::size_t i = 0; i < schema.columns.size() && i < record.fields.size(); ++i) {
    if (schema.columns[i].role != role) continue;
    if (const auto* text = std::get_if<std::string>(&record.fields[i]); text != nullptr && !text->empty()) return *text;
  }
  return {};
}

// "a.py:33" of "step (a.py:33)" and of "a.py(33): step"; "": the frame names no line.
[[nodiscard]] std::string place_of(std::string_view frame) {
  const std::size_t open = frame.rfind(" (");
  if (open != std::string_view::npos && frame.ends_with(')')) {
    const std::string_view place = frame.substr(open + 2, frame.size() - open - 3);
    return place.find(':') == std::string_view::npos ? std::string() : std::string(place);
  }
  const std::size_t colon = frame.find("): ");
  const std::size_t bracket = colon == std::string_view::npos ? colon : frame.rfind('(', colon);
  if (bracket == std::string_view::npos) return {};
  return std::string(frame.substr(0, bracket)) + ":" + std::string(frame.substr(bracket + 1, colon - bracket - 1));
}

// All that covers the moment on the thread, innermost first.
[[nodiscard]] std::vector<EventRecord> under_way(const HostThreads& threads, std::size_t thread, std::int64_t ns,
                                                 EventReader& reader) {
  std::vector<EventRecord> found;
  for (const std::uint32_t lane : threads.lanes(thread)) {
    const auto event = reader.event_at(reader.snapshot().lanes[lane], ns, 0);
    if (!event || !*event) continue;
    if (auto record = reader.read(**event); record && record->begin_ns <= ns && record->end_ns >= ns)
      found.push_back(std::move(*record));
  }
  std::sort(found.begin(), found.end(), [](const EventRecord& a, const EventRecord& b) {
    return a.begin_ns != b.begin_ns ? a.begin_ns > b.begin_ns : a.end_ns < b.end_ns;
  });
  return found;
}

}  // namespace

LaunchStack launch_stack(const Dependencies& dependencies, EventId event, EventReader& reader) {
  LaunchStack stack;
  const HostThreads threads(reader.snapshot());
  std::optional<std::size_t> thread;
  std::int64_t at = 0;
  EventId of = event;
  for (std::size_t step = 0; step < kMostSteps; ++step) {
    const auto record = reader.read(of);
    if (!record) return stack;
    at = record->begin_ns;
    thread = threads.of_track(record->lane->track);
    if (thread) break;
    const auto before = last_predecessor(dependencies, of, reader);
    if (!before) return stack;
    of = before->source;
  }
  if (!thread) return stack;
  if (of != event) stack.call = of;
  std::string any_source;
  for (const EventRecord& record : under_way(threads, *thread, at, reader)) {
    if (record.id == event) continue;
    const std::string location = text_of(record, Role::source_location);
    if (any_source.empty()) any_source = location;
    if (stack.source.empty() && !location.empty() && !is_framework_path(location)) stack.source = location;
    stack.frames.push_back(record.name_text);
    std::string written = text_of(record, Role::stack);  // as the profiler itself noted it: all that lies further out
    if (written.empty()) continue;
    for (std::size_t begin = 0; begin < written.size();) {
      const std::size_t end = std::min(written.find('\n', begin), written.size());
      if (end > begin) stack.frames.push_back(written.substr(begin, end - begin));
      const std::string place = place_of(std::string_view(written).substr(begin, end - begin));
      if (any_source.empty()) any_source = place;
      if (stack.source.empty() && !place.empty() && !is_framework_path(place)) stack.source = place;
      begin = end + 1;
    }
    break;
  }
  if (stack.source.empty()) stack.source = any_source;
  return stack;
}

}  // namespace accelscope
