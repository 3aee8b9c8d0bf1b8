#include "capture/sources/neuron/track_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>

#include "core/base/natural_order.h"

namespace accelscope::capture {
namespace {

// Matrix work first, then what feeds it, then control.
constexpr std::array<std::string_view, 6> kEngineOrder = {"TensorMatrix", "Tensor", "Vector",
                                                          "Scalar",       "GpSimd", "Sync"};

[[nodiscard]] std::size_t engine_rank(std::string_view name) noexcept {
  return static_cast<std::size_t>(std::find(kEngineOrder.begin(), kEngineOrder.end(), name) - kEngineOrder.begin());
}

}  // namespace

std::string TrackPlan::key_of(SchemaNumber schema, std::string_view kind, std::string_view name,
                              std::int64_t core) const {
  return fmt::format("{} {} {} {}", schema, core, kind, name);
}

void TrackPlan::set_parent_name(std::uint32_t track, SchemaNumber schema, std::string name) {
  tracks_[track].parent_schema = schema;
  tracks_[track].parent_name = std::move(name);
}

TrackNumber TrackPlan::parent_of(const Planned& planned) const {
  if (planned.parent_name.empty()) return kNone;
  const auto found = by_key_.find(key_of(planned.parent_schema, planned.track.kind, planned.parent_name, planned.core));
  return found == by_key_.end() ? kNone : tracks_[found->second].number;
}

std::uint32_t TrackPlan::track(SchemaNumber schema, std::string_view kind, std::string_view name, std::int64_t core) {
  std::string key = key_of(schema, kind, name, core);
  if (const auto found = by_key_.find(key); found != by_key_.end()) return found->second;
  const auto number = static_cast<std::uint32_t>(tracks_.size());
  Planned planned;
  planned.track.name = name;
  planned.track.kind = kind;
  planned.track.schema = schema;
  planned.core = core;
  tracks_.push_back(std::move(planned));
  by_key_.emplace(std::move(key), number);
  return number;
}

bool TrackPlan::comes_before(std::size_t a, std::size_t b) const {
  const Planned& left = tracks_[a];
  const Planned& right = tracks_[b];
  if (left.core != right.core) return left.core < right.core;
  if (left.track.kind != right.track.kind) return left.track.kind < right.track.kind;
  const bool engines = left.track.kind == "engine";
  const std::size_t left_rank = engines ? engine_rank(left.track.name) : 0;
  const std::size_t right_rank = engines ? engine_rank(right.track.name) : 0;
  if (left_rank != right_rank) return left_rank < right_rank;
  return natural_less(left.track.name, right.track.name);
}

void TrackPlan::write(SessionWriter& writer, const std::string& device, ClockNumber clock) {
  std::vector<std::size_t> order(tracks_.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return comes_before(a, b); });
  std::int64_t last_core = 0;
  for (const Planned& planned : tracks_) last_core = std::max(last_core, planned.core);
  std::int64_t place = 0;
  for (const std::size_t index : order) {
    Planned& planned = tracks_[index];
    Track track = planned.track;
    if (last_core > 0 && planned.core >= 0) track.name += fmt::format(" (nc{})", planned.core);
    if (track.host.empty()) track.device = device;
    track.clock = planned.timed ? clock : kNone;
    track.parent = parent_of(planned);  // comes first in natural order: its name begins this one's
    track.order = place++;
    planned.number = writer.add_track(std::move(track));
  }
}

}  // namespace accelscope::capture
