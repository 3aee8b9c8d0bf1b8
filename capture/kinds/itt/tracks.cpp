#include "capture/kinds/itt/process.h"

#include <fmt/format.h>

#include "capture/json/json_cursor.h"
#include "capture/kinds/itt/names.h"

namespace accelscope::capture::kinds::itt {
namespace {

using namespace columns;

constexpr ColumnSpec kDomain = {"category", kString,
                                "",         kOperation,
                                "Domain",   "The domain that the program put it into; \"zones\" for marks by macros."};
constexpr ColumnSpec kColour = {"colour", kString, "", kOperation, "Colour", "The colour that the program wishes."};
constexpr std::string_view kValueText = "What the program set, or counted up to.";

constexpr ColumnSpec kTasks[] = {
    kDomain,
    {"source", kString, "", kOperation, "Source", "Where in the source the zone is marked.", Role::source_location},
    {"function", kString, "", kOperation, "Function", "The function that the zone is in."},
    {"metadata", kText, "", kOperation, "Metadata", "What the program told of it, a line each."},
    {"value", kUnsigned, "", kOperation, "Value", "The number that the program gave to the zone."},
    kColour,
    {"task_id", kString, "", kIds, "Task id", "The program's own id of it."},
    {"parent_id", kString, "", kIds, "Belongs to",
     "The id, or the name where it has one, of what the program made it for."},
    {"key", kUnsigned, "", kIds, "Key", "By which dependencies refer to it.", Role::key},
    {"unfinished", kFlag, "", kTiming, "Unfinished",
     "It had not ended when its thread, its process or the capture did; it is shown to end there."},
};
constexpr ColumnSpec kFrames[] = {
    kDomain,
    {"number", kUnsigned, "", kIds, "Number", "Which frame of that name this is, from 1."},
    {"frame_id", kString, "", kIds, "Frame id", "The program's own id of it."},
    {"source", kString, "", kOperation, "Source", "Where the source says it begins, if it does.",
     Role::source_location},
};
constexpr ColumnSpec kMarkers[] = {
    kDomain,
    {"scope", kString, "", kOperation, "Scope", "What the marker is about."},
    {"thread", kString, "", kIds, "Thread", "The thread that set it."},
    {"marker_id", kString, "", kIds, "Marker id", "The program's own id of it."},
};
constexpr ColumnSpec kMessages[] = {
    {"text", kText, "", kOperation, "Text", "The whole message."},
    {"severity", kString, "", kOperation, "Severity", "How grave the program says it is."},
    {"thread", kString, "", kIds, "Thread", "The thread that sent it."},
    kColour,
};
constexpr ColumnSpec kLocks[] = {
    {"source", kString, "", kOperation, "Source", "Where the program declares the lock.", Role::source_location},
    {"shared", kFlag, "", kOperation, "Shared", "Other threads may hold it shared as well."},
    {"address", kUnsigned, "", kIds, "Lock", "The lock's address in the program."},
};
constexpr ColumnSpec kAllocations[] = {
    {"allocation_bytes", kInt, "B", kMemory, "Size", "Bytes allocated, or released where negative.", Role::allocation},
    {"address", kUnsigned, "", kMemory, "Address", "Where it lies in the program.", Role::address},
    {"pool", kString, "", kMemory, "Pool", "The memory that it is taken from.", Role::pool},
    {"thread", kString, "", kIds, "Thread", "The thread that did it."},
};
constexpr ColumnSpec kFlows[] = {
    {"source_key", kUnsigned, "", kIds, "First", "Key of the task that comes first.", Role::flow_source},
    {"target_key", kUnsigned, "", kIds, "Then", "Key of the task that follows from it.", Role::flow_target},
};
constexpr ColumnSpec kWholeCounters[] = {{"value", kInt, "", kOperation, "Value", kValueText, Role::value}};
constexpr ColumnSpec kRealCounters[] = {{"value", kReal, "", kOperation, "Value", kValueText, Role::value}};

// By IttTable.
constexpr TableSpec kTables[] = {
    {{"task", EventKind::slice, "task", "The task, region, event or zone, as the program names it."}, kTasks},
    {{"frame", EventKind::slice, "frame", "The frame's domain, or the name that the program gave it."}, kFrames},
    {{"marker_event", EventKind::instant, "marker", "The marker, as the program names it."}, kMarkers},
    {{"message", EventKind::instant, "shown",
      "The beginning of the message, or what its figures are of; once there were thousands of different ones, "
      "\"message\"."},
     kMessages},
    {{"lock_wait", EventKind::slice, "lock", "The lock that the thread waits for."}, kLocks},
    {{"lock_hold", EventKind::slice, "lock", "The lock that the thread holds."}, kLocks},
    {{"allocation", EventKind::memory, "pool_name", "The pool as the program names it."}, kAllocations},
    {{"dependency", EventKind::flow, "relation", "How the program relates the two."}, kFlows},
    {{"program_counter", EventKind::counter}, kWholeCounters},
    {{"program_figure", EventKind::counter}, kRealCounters},
};

}  // namespace

IttSchemas::IttSchemas(SessionWriter& writer) : tables(writer, kTables) {}

namespace {

// Threads in the order in which they came, then what belongs to the whole process.
constexpr std::int64_t kRowsOfThread = 4;
constexpr std::int64_t kAfterThreads = 1'000'000'000;
constexpr std::size_t kMostRows = 2000;  // of a process that belong to no thread
const std::string kFurther = "further names";

}  // namespace

std::string IttTracks::thread_name(const probes::ProbeThread& thread) const {
  if (!thread.name.empty()) return json::repair_utf8(thread.name);
  return thread.id == process_id_ ? "main thread" : fmt::format("thread {}", thread.id);
}

TrackNumber IttTracks::of_thread(const probes::ProbeThread& thread, const std::string& what, std::int64_t place,
                                 SchemaNumber schema) {
  const std::string name = thread_name(thread);
  return writer_.add_track({.name = what.empty() ? name : fmt::format("{}: {}", name, what),
                            .kind = "host_thread",
                            .device = process_,
                            .schema = schema,
                            .order = kRowsOfThread * thread.index + place});
}

TrackNumber IttTracks::made(const std::string& name, SchemaNumber schema, const std::string& kind,
                            const std::string& unit) {
  // Names that are made while the program runs may be without end; the session's room for tracks is not.
  if (made_.size() >= kMostRows && name != kFurther && !made_.contains({name, schema})) {
    return made(kFurther, schema, kind, "");
  }
  const auto [at, is_new] = made_.try_emplace({name, schema}, 0);
  if (is_new) {
    at->second = writer_.add_track({.name = name,
                                    .kind = kind,
                                    .device = process_,
                                    .unit = unit,
                                    .schema = schema,
                                    .order = kAfterThreads + static_cast<std::int64_t>(made_.size())});
  }
  return at->second;
}

}  // namespace accelscope::capture::kinds::itt
