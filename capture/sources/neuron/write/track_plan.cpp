#include "capture/sources/neuron/write/track_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "core/base/natural_order.h"

namespace accelscope::capture::sources::neuron {
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
  planned.canonical = number;
  tracks_.push_back(std::move(planned));
  by_key_.emplace(std::move(key), number);
  return number;
}

bool TrackPlan::comes_before(std::size_t a, std::size_t b) const {
  const Planned& left = tracks_[a];
  const Planned& right = tracks_[b];
  const bool left_is_whole = left.core == CorePlan::kWhole;
  if (left_is_whole != (right.core == CorePlan::kWhole)) return left_is_whole != whole_is_last_;
  if (left.core != right.core) return left.core < right.core;
  if (left.track.kind != right.track.kind) return left.track.kind < right.track.kind;
  const bool engines = left.track.kind == "engine";
  const std::size_t left_rank = engines ? engine_rank(left.track.name) : 0;
  const std::size_t right_rank = engines ? engine_rank(right.track.name) : 0;
  if (left_rank != right_rank) return left_rank < right_rank;
  return natural_less(left.track.name, right.track.name);
}

void TrackPlan::settle(const CorePlan& cores) {
  by_key_.clear();
  whole_is_last_ = cores.count() > 1;
  for (std::uint32_t i = 0; i < tracks_.size(); ++i) {
    Planned& planned = tracks_[i];
    planned.core = cores.core_of(planned.core);
    const std::string key = key_of(planned.track.schema, planned.track.kind, planned.track.name, planned.core);
    planned.canonical = by_key_.emplace(key, i).first->second;
  }
}

bool TrackPlan::has_joined(SchemaNumber schema) const noexcept {
  for (std::uint32_t i = 0; i < tracks_.size(); ++i) {
    if (tracks_[i].track.schema == schema && tracks_[i].canonical != i) return true;
  }
  return false;
}

void TrackPlan::write(SessionWriter& writer, const CorePlan& cores, ClockNumber clock) {
  std::vector<std::size_t> order;
  bool any_of_whole = false;
  for (std::size_t i = 0; i < tracks_.size(); ++i) {
    if (tracks_[i].canonical != i) continue;
    order.push_back(i);
    any_of_whole = any_of_whole || tracks_[i].core == CorePlan::kWhole;
  }
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return comes_before(a, b); });
  std::int64_t place = 0;
  for (const std::size_t index : order) {
    Planned& planned = tracks_[index];
    Track track = planned.track;
    if (track.host.empty()) track.device = cores.device(planned.core);
    track.clock = planned.timed ? clock : kNone;
    track.parent = parent_of(planned);  // comes first in natural order: its name begins this one's
    track.order = place++;
    planned.number = writer.add_track(track);
    planned.track = std::move(track);
  }
  // The device of all cores has the figures of all, so there is one even where nothing else lies on it.
  if (!any_of_whole && cores.count() > 1) {
    (void)writer.add_track(
        {.name = "Logical core", .kind = "table", .device = cores.device(CorePlan::kWhole), .order = place});
  }
}

}  // namespace accelscope::capture::sources::neuron
