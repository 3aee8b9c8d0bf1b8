#include "capture/kinds/itt/tracks.h"

#include <fmt/format.h>

#include "capture/json/json_cursor.h"
#include "capture/kinds/itt/names.h"

namespace accelscope::capture::kinds::itt {
namespace {

// Threads in the order in which they came, then what belongs to the whole process.
constexpr std::int64_t kRowsOfThread = 4;
constexpr std::int64_t kAfterThreads = 1'000'000'000;
constexpr std::size_t kMostRows = 2000;  // of a process that belong to no thread
const std::string kFurther = "further names";

}  // namespace

std::string IttTracks::thread_name(const probes::ProbeThread& thread) const {
  if (!thread.name.empty()) return json::mend_utf8(thread.name);
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
