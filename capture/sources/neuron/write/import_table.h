// One schema of an import in the making: how rows are bound to it, the sorter that holds its events, and the tracks
// that its rows named so far. Written to the session at the end.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "capture/sources/base/event_sorter.h"
#include "capture/sources/neuron/read/row_binding.h"
#include "capture/sources/neuron/write/track_plan.h"
#include "capture/sources/tracks/doubtful_times.h"

namespace accelscope::capture::sources::neuron {

class ImportTable {
 public:
  // The schema has the extra column already.
  ImportTable(Schema schema, std::span<const std::string_view> consumed, ChunkSpill& spill, SessionWriter& writer);

  [[nodiscard]] const Schema& schema() const noexcept { return sorter_->schema(); }
  [[nodiscard]] SchemaNumber number() const noexcept { return number_; }
  [[nodiscard]] bool timed() const noexcept { return schema().kind != EventKind::table; }
  [[nodiscard]] EventSorter& sorter() noexcept { return *sorter_; }
  [[nodiscard]] RowBinding& binding() noexcept { return binding_; }
  // SIZE_MAX if the schema has no such column.
  [[nodiscard]] std::size_t column(std::string_view name) const noexcept;

  // The track of that kind and name for this schema; fast for names seen before.
  [[nodiscard]] std::uint32_t track(TrackPlan& plan, std::string_view kind, std::string_view prefix,
                                    std::string_view name, std::int64_t core);

  // Sees every event before it is written and may add columns to its row.
  using Visitor = std::function<void(const SortedEvent&, Row&)>;
  // `ticks_per_ns` divides what the columns with unit "ns" hold. Events beyond the bounds are set aside, unseen.
  Result<void> write(const TrackPlan& plan, SessionWriter& writer, const tracks::TimeBounds& bounds,
                     std::int64_t ticks_per_ns, const Visitor& visitor);
  [[nodiscard]] std::uint64_t doubtful() const noexcept { return doubtful_; }  // that were set aside

 private:
  // Where tracks were joined: sorts anew, each event on the track that stands for its own.
  Result<void> join_tracks(const TrackPlan& plan);

  struct TextHash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const noexcept { return std::hash<std::string_view>{}(text); }
  };
  using TracksByName = std::unordered_map<std::string, std::uint32_t, TextHash, std::equal_to<>>;

  ChunkSpill& spill_;
  std::unique_ptr<EventSorter> sorter_;
  RowBinding binding_;
  SchemaNumber number_;
  std::vector<std::pair<std::int64_t, TracksByName>> tracks_;  // by place; a handful
  std::size_t last_place_ = 0;
  std::uint64_t doubtful_ = 0;
};

}  // namespace accelscope::capture::sources::neuron
