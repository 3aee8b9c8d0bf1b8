#include "core/analysis/dependencies/wait_causes.h"

#include <algorithm>
#include <map>

namespace accelscope {
namespace {

std::int64_t wait_of(const EventRecord& record) {
  if (record.waits) return record.end_ns - record.begin_ns;
  const auto column = record.lane->schema ? record.lane->schema->find(Role::wait_ns) : std::nullopt;
  if (!column || *column >= record.fields.size()) return 0;
  if (const auto* wait = std::get_if<std::int64_t>(&record.fields[*column])) return std::max<std::int64_t>(*wait, 0);
  if (const auto* wait = std::get_if<std::uint64_t>(&record.fields[*column])) return static_cast<std::int64_t>(*wait);
  return 0;
}

}  // namespace

Result<WaitCauses> wait_causes(const Dependencies& dependencies, std::span<const EventId> events, EventReader& reader,
                               const TaskControl& control) {
  WaitCauses result;
  std::map<std::pair<StringId, TrackNumber>, WaitCause> causes;
  const std::size_t asked = std::min(events.size(), kMostAsked);
  for (std::size_t i = 0; i < asked; ++i) {
    if (control.cancelled()) return cancelled_error();
    const auto record = reader.read(events[i * events.size() / asked]);
    if (!record) return record.error();
    ++result.looked_at;
    const std::int64_t wait_ns = wait_of(*record);
    if (wait_ns == 0) continue;
    result.wait_ns += wait_ns;
    const auto last = last_predecessor(dependencies, record->id, reader);
    if (!last) continue;
    const auto waited_for = reader.read(last->source);
    if (!waited_for) return waited_for.error();
    WaitCause& cause = causes[{waited_for->name, waited_for->lane->track}];
    if (cause.count == 0) {
      const TrackSnapshot* track = reader.snapshot().find_track(waited_for->lane->track);
      cause.name = waited_for->name_text;
      if (track != nullptr) cause.track = track->track->name;
    }
    ++cause.count;
    cause.wait_ns += wait_ns;
  }
  for (auto& [key, cause] : causes) result.causes.push_back(std::move(cause));
  std::stable_sort(result.causes.begin(), result.causes.end(),
                   [](const WaitCause& a, const WaitCause& b) { return a.wait_ns > b.wait_ns; });
  return result;
}

}  // namespace accelscope
