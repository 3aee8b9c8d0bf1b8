// One schema of an import in the making: how rows are bound to it, the sorter that holds its events, and the tracks
// that its rows named so far. Written to the session at the end.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "capture/sources/base/event_sorter.h"
#include "capture/sources/neuron/read/core_plan.h"
#include "capture/sources/neuron/read/row_binding.h"
#include "capture/sources/tracks/doubtful_times.h"
#include "core/chunk/session_writer.h"

namespace accelscope::capture::sources::neuron {

// The tracks that an import finds out about while it reads. They are numbered as they turn up and written to the
// session at the end, when all are known, in the order in which people look for them: natural order of names within
// a kind (queue 2 before queue 10), engines in the order of the data through them.

class TrackPlan {
 public:
  // The number of the track of that kind, name and core; a new one if there is none yet. `core` is a place of CorePlan,
  // and once settle() was called a core.
  [[nodiscard]] std::uint32_t track(SchemaNumber schema, std::string_view kind, std::string_view name,
                                    std::int64_t core = CorePlan::kWhole);
  void set_unit(std::uint32_t track, std::string unit) { tracks_[track].track.unit = std::move(unit); }
  void set_untimed(std::uint32_t track) { tracks_[track].timed = false; }
  void set_host(std::uint32_t track, std::string host) { tracks_[track].track.host = std::move(host); }
  // A device beside the cores of the plan.
  void set_device(std::uint32_t track, std::string device) { tracks_[track].track.device = std::move(device); }
  // What the track is called; else as it was named when it turned up.
  void set_title(std::uint32_t track, std::string title) { tracks_[track].title = std::move(title); }
  // Below a track that comes first in natural order.
  void set_parent(std::uint32_t track, std::uint32_t parent) { tracks_[track].parent = parent; }
  [[nodiscard]] const std::string& name(std::uint32_t track) const noexcept { return tracks_[track].track.name; }
  [[nodiscard]] SchemaNumber schema(std::uint32_t track) const noexcept { return tracks_[track].track.schema; }
  [[nodiscard]] std::int64_t core(std::uint32_t track) const noexcept { return tracks_[track].core; }

  // Puts a track below another in the timeline if a track of that kind, name and core exists at the end.
  void set_parent_name(std::uint32_t track, SchemaNumber schema, std::string name);

  // Turns places into cores. Tracks that come to the same core by different ways are one: that of canonical().
  void settle(const CorePlan& cores);
  [[nodiscard]] std::uint32_t canonical(std::uint32_t track) const noexcept { return tracks_[track].canonical; }
  [[nodiscard]] bool has_joined(SchemaNumber schema) const noexcept;

  // Defines every track, each core a device. Call settle() before.
  void write(SessionWriter& writer, const CorePlan& cores, ClockNumber clock);
  [[nodiscard]] TrackNumber written(std::uint32_t track) const noexcept { return tracks_[canonical(track)].number; }
  // As it is in the session, with its device and place. Call write() before.
  [[nodiscard]] const Track& defined(std::uint32_t track) const noexcept { return tracks_[canonical(track)].track; }
  [[nodiscard]] std::size_t size() const noexcept { return tracks_.size(); }

 private:
  struct Planned {
    Track track;
    std::int64_t core = CorePlan::kWhole;
    std::uint32_t canonical = 0;
    bool timed = true;  // rows of a table have no time that a clock could tell
    TrackNumber number = kNone;
    std::string title;
    std::uint32_t parent = kNone;
    std::string parent_name;  // among the tracks of parent_schema
    SchemaNumber parent_schema = kNone;
  };
  [[nodiscard]] std::string key_of(SchemaNumber schema, std::string_view kind, std::string_view name,
                                   std::int64_t core) const;
  [[nodiscard]] TrackNumber parent_of(const Planned& planned) const;
  [[nodiscard]] bool comes_before(std::size_t a, std::size_t b) const;

  std::vector<Planned> tracks_;
  std::unordered_map<std::string, std::uint32_t> by_key_;
  bool whole_is_last_ = false;  // what several cores share comes behind what is one's own
};

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

// What a profile does not hold but its users look for: how busy the systolic array was over time, which instruction
// set off which DMA transfer, and where spilled tensors lay in device memory.

// Share of the array's multiply-accumulates that did work, in buckets of equal length.
class PeUtilization {
 public:
  // `macs_per_ns` of one physical core.
  PeUtilization(std::int64_t begin, std::int64_t end, std::int64_t ticks_per_ns, double macs_per_ns);
  void add(std::int64_t start, std::int64_t duration, std::int64_t macs);
  [[nodiscard]] bool empty() const noexcept { return !any_; }
  // Samples that hold until the next one; runs of equal values are one sample.
  void samples(const std::function<void(std::int64_t ticks, double share)>& sample) const;

 private:
  std::int64_t begin_;
  std::int64_t bucket_;
  double macs_per_bucket_;
  std::vector<double> macs_;
  bool any_ = false;
};

// An instruction names the start of the transfer that it set off, a transfer the start of its instruction.
class TriggerLinks {
 public:
  void add_instruction(std::int64_t start, std::int64_t triggered_start, std::uint64_t id);
  void add_transfer(std::int64_t start, std::int64_t trigger_start, std::uint64_t id);
  // Pairs in which both sides agree; pairs of one candidate where the instruction names no transfer.
  void links(const std::function<void(std::uint64_t instruction, std::uint64_t transfer, std::int64_t start)>& link);

 private:
  struct End {
    std::int64_t instruction_start;
    std::int64_t transfer_start;
    std::uint64_t id;
    auto operator<=>(const End&) const = default;
  };
  std::vector<End> instructions_;
  std::vector<End> transfers_;
};

// When events began, by the profile's own numbers: asked once all are added.
class EventStarts {
 public:
  void add(std::uint64_t id, std::int64_t start) {
    starts_.push_back({id, start});
    sorted_ = false;
  }
  [[nodiscard]] std::optional<std::int64_t> find(std::uint64_t id);

 private:
  struct Start {
    std::uint64_t id;
    std::int64_t start;
    auto operator<=>(const Start&) const = default;
  };
  std::vector<Start> starts_;
  bool sorted_ = true;
};

// Spilled tensors: alive from the first byte that is saved to the last that is read back.
class SpillLifetimes {
 public:
  void add(std::string_view variable, std::int64_t start, std::int64_t end, std::int64_t bytes, bool is_save);
  struct Block {
    std::string variable;
    std::int64_t begin = 0;
    std::int64_t end = 0;
    std::int64_t bytes = 0;
  };
  // By begin.
  [[nodiscard]] std::vector<Block> blocks() const;

 private:
  struct Move {
    std::int64_t start;
    std::int64_t end;
    std::int64_t bytes;
    bool is_save;
  };
  std::map<std::string, std::vector<Move>, std::less<>> moves_;
};

}  // namespace accelscope::capture::sources::neuron
