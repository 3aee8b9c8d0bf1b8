#include "capture/sources/neuron/write/import_table.h"

#include <algorithm>

#include "capture/sources/tracks/track_events.h"

namespace accelscope::capture::sources::neuron {

ImportTable::ImportTable(Schema schema, std::span<const std::string_view> consumed, ChunkSpill& spill,
                         SessionWriter& writer)
    : spill_(spill),
      sorter_(std::make_unique<EventSorter>(schema, spill, EventSorter::Options{})),
      binding_(schema, consumed),
      number_(writer.add_schema(std::move(schema))) {}

std::size_t ImportTable::column(std::string_view name) const noexcept { return schema().find(name).value_or(SIZE_MAX); }

std::uint32_t ImportTable::track(TrackPlan& plan, std::string_view kind, std::string_view prefix, std::string_view name,
                                 std::int64_t core) {
  constexpr std::size_t kMostPlaces = 64;
  if (last_place_ >= tracks_.size() || tracks_[last_place_].first != core) {
    const auto of_place = [core](const auto& known) { return known.first == core; };
    const auto found = std::find_if(tracks_.begin(), tracks_.end(), of_place);
    last_place_ = static_cast<std::size_t>(found - tracks_.begin());
    if (found == tracks_.end() && tracks_.size() < kMostPlaces) tracks_.emplace_back(core, TracksByName{});
  }
  TracksByName* const known = last_place_ < tracks_.size() ? &tracks_[last_place_].second : nullptr;
  if (known != nullptr) {
    if (const auto found = known->find(name); found != known->end()) return found->second;
  }
  const std::uint32_t number = plan.track(number_, kind, std::string(prefix).append(name), core);
  const bool has_unit = schema().kind == EventKind::counter || schema().kind == EventKind::memory;
  if (has_unit) plan.set_unit(number, schema().columns.front().unit);
  if (!timed()) plan.set_untimed(number);
  if (known != nullptr) known->emplace(name, number);
  return number;
}

Result<void> ImportTable::join_tracks(const TrackPlan& plan) {
  auto joined = std::make_unique<EventSorter>(schema(), spill_, EventSorter::Options{});
  const Result<void> merged = sorter_->merge([&](const SortedEvent& event) {
    joined->begin();
    copy_values(event, schema(), *joined);
    joined->commit(plan.canonical(event.track), event.start, event.duration, event.name);
    return true;
  });
  if (merged) sorter_ = std::move(joined);
  return merged;
}

Result<void> ImportTable::write(const TrackPlan& plan, SessionWriter& writer, const tracks::TimeBounds& bounds,
                                std::int64_t ticks_per_ns, const Visitor& visitor) {
  if (plan.has_joined(number_)) {
    if (Result<void> joined = join_tracks(plan); !joined) return joined;
  }
  const std::vector<Column>& columns = schema().columns;
  std::uint32_t track = kNone;
  TrackNumber aside = kNone;  // for those of the track at hand whose times cannot be true
  const Result<void> merged = sorter_->merge([&](const SortedEvent& event) {
    // A track that is done needs its buffers no longer: a profile may have hundreds.
    if (event.track != track && track != kNone) writer.release_buffers();
    if (event.track != track) aside = kNone;
    track = event.track;
    const bool doubtful = timed() && !bounds.hold(event.start, event.duration);
    if (doubtful && aside == kNone) {
      const Track& of = plan.defined(event.track);
      aside = writer.add_track(tracks::doubtful_track(of, kNone, of.order));
    }
    doubtful_ += doubtful ? 1 : 0;
    Row row = writer.begin_event(doubtful ? aside : plan.written(event.track), event.start, event.duration, event.name);
    copy_values(event, schema(), row);
    for (std::size_t i = 0; ticks_per_ns != 1 && i < columns.size(); ++i) {
      if (columns[i].type == ColumnType::int64 && columns[i].unit == "ns" && event.has(i)) {
        row.integer(i, event.int64(i) / ticks_per_ns);
      }
    }
    if (visitor && !doubtful) visitor(event, row);
    return !writer.cancelled();
  });
  if (!merged) return merged;
  writer.release_buffers();
  return writer.status();
}

}  // namespace accelscope::capture::sources::neuron
