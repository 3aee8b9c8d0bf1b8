#include "app/content/page_facts.h"

#include <algorithm>
#include <unordered_map>

#include "core/analysis/compilation/compile_events.h"
#include "core/analysis/hierarchy/path_kinds.h"
#include "core/analysis/iterations/folding.h"
#include "core/analysis/roofline/event_amounts.h"
#include "core/analysis/time/work_kind.h"
#include "core/model/track_kinds.h"
#include "core/names/collective_words.h"

namespace accelscope::app::content {
namespace {

constexpr StringId kMostNamesRead = 500'000;  // that are looked at; of more nothing is certain

std::uint64_t count_events(const Snapshot& snapshot, const TrackSnapshot& track) {
  std::uint64_t events = 0;
  for (const std::uint32_t lane : track.lanes) events += snapshot.lanes[lane].event_count;
  return events;
}

// Whether device work tells its bytes or operations: by words of its maker or by columns.
bool tells_amounts(const Snapshot& snapshot) {
  const analysis::DeviceLanes lanes(snapshot);
  return std::ranges::any_of(lanes.telling(), [&](std::uint32_t index) {
    const analysis::DeviceLane& lane = lanes.lane(index);
    if (lane.tells != analysis::DeviceLane::Tells::amounts) return false;
    const auto& schema = snapshot.lanes[index].schema;
    return lane.words != nullptr || (schema && (schema->find(Role::bytes) || schema->find(Role::flops)));
  });
}

}  // namespace

Result<std::shared_ptr<const PageFacts>> page_facts(const QueryContext& query) {
  const Snapshot& snapshot = *query.snapshot;
  const analysis::WorkKinds works(snapshot);
  bool device = false, host = false, output = false, collective = false, repeats = false;
  for (const TrackSnapshot& track : snapshot.tracks) {
    const std::uint64_t events = count_events(snapshot, track);
    if (events == 0) continue;
    const WorkKind kind = works.of_lane(track.lanes.front());
    device |= is_device_work(kind);
    host |= kind == WorkKind::host;
    collective |= kind == WorkKind::collective;
    output |= track.track->kind == "output";
    repeats |= events >= analysis::Period::kLeast;
  }
  bool compiles = output || (host && device), names_collective = collective;
  const StringId names = snapshot.strings->size();
  if (names > kMostNamesRead) compiles = names_collective = true;
  for (StringId id = 0; id < names && !(compiles && names_collective); ++id) {
    if (query.control.cancelled()) return Error{"cancelled"};
    const std::string_view name = snapshot.strings->text(id);
    compiles |= host && analysis::compile_word_of(name) != analysis::CompileWord::none;
    names_collective |= device && collective_operation(name).has_value();
  }
  const auto kinds = TRY(analysis::kinds_of_session(query));
  return std::make_shared<const PageFacts>(PageFacts{.layers = !kinds.empty(),
                                                     .hotspots = device,
                                                     .iterations = repeats,
                                                     .compilation = compiles,
                                                     .roofline = tells_amounts(snapshot),
                                                     .collectives = names_collective});
}

SessionContent content_of_tracks(const Snapshot& snapshot) {
  SessionContent content;
  std::uint64_t calls = 0, allocations = 0;
  for (const TrackSnapshot& track : snapshot.tracks) {
    const std::uint64_t events = count_events(snapshot, track);
    if (events == 0) continue;
    const TrackKind kind = track_kind_of(track.track->kind);
    content.work |= is_device_work(kind.work);
    content.errors |= kind.alert == Alert::error;
    if (kind.work == WorkKind::host) calls += events;
    if (kind.name == "memory") allocations += events;
  }
  content.memory = allocations > 0;
  content.work |= calls > allocations;
  return content;
}

}  // namespace accelscope::app::content
