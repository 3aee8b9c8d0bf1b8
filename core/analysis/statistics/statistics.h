// Statistics of any number of events by any columns: how many, their sum, mean, deviation and quantiles.
//
//   const auto found = statistics(query, {.filter = filter, .by = {"name", "device"}, .value = "duration"});
//   for (const StatisticsRow& row : (*found)->rows) ... row.keys[0], row.figures.median
//
// An event takes part when it shares time with the filter's range (an instant: when it lies inside), passes the query's
// mask and has a number to be measured; it is measured as a whole, however much of it lies inside, so that mean, total
// and quantiles fit each other. Only self time is of the range alone. Lanes of counters, flows and tables take no part;
// which others do is said at GroupColumn, below. Durations are in ns by the map of their clock.
#pragma once

#include <array>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/analysis/statistics/distribution.h"
#include "core/model/event_filter.h"
#include "core/scan/aggregate.h"
#include "core/scan/block_reader.h"
#include "core/scan/chunk_scan.h"
#include "core/scan/event_reader.h"

namespace accelscope::analysis {

// By what events can be grouped, and what of them can be measured: the columns of the schemas of a session, and a few
// words that every event has. A column is named as searches name it; "dma.size" is the column of that table alone.
//
//   const auto columns = group_columns(snapshot);                       // for a menu
//   auto keys = GroupKeys::find(snapshot, filter, {"name", "device"}, "duration");

// Something that events have, as a menu lists it.
struct GroupColumn {
  std::string table;        // the schema's name; "": every event may have it
  std::string name;         // as it is asked for: "name", "dma.size"
  std::string title;        // for people: "Name", "Size"
  std::string unit;         // "ns", "B", "": none
  std::string explanation;  // "": none is known
};

// What events with a time can be grouped by: name, track, device, host, table, source line, layer as far as there are
// any, then the columns of each schema. Schemas without events, and those of counters, flows and tables, are left out.
[[nodiscard]] std::vector<GroupColumn> group_columns(const Snapshot& snapshot);
// What can be measured: duration, then the numeric columns of each schema; bytes and flops of any, by their roles.
[[nodiscard]] std::vector<GroupColumn> value_columns(const Snapshot& snapshot);

// Where the keys and the value of every lane's events are found. Immutable once made: any number of threads.
class GroupKeys {
 public:
  static constexpr std::size_t kMost = 6;  // columns
  static constexpr std::size_t kMostTexts = 1U << 18U;

  // The lanes that have all columns and the value take part, but for those that only tell of others' work
  // (working_lanes()), which do where no other lane has them or where their table is named. Fails where no lane has a
  // column, with what it may be.
  [[nodiscard]] static Result<std::shared_ptr<const GroupKeys>> find(const Snapshot& snapshot,
                                                                     const EventFilter& filter,
                                                                     std::span<const std::string> by,
                                                                     const std::string& value);

  [[nodiscard]] const LaneIndices& lanes() const noexcept { return lanes_; }
  [[nodiscard]] std::size_t count() const noexcept { return by_.size(); }
  [[nodiscard]] const std::string& value_unit() const noexcept { return unit_; }
  [[nodiscard]] bool value_is_duration() const noexcept { return of_duration_; }

  struct OfLane {
    std::vector<ValuePlace> keys;  // constants hold the code of a text
    ValuePlace value;
  };
  [[nodiscard]] const OfLane& of_lane(std::uint32_t lane_index) const noexcept { return of_lanes_[lane_index]; }

  // Equal texts have equal codes, whatever column or lane they are of; a session-wide string's is its id. Of others
  // kMostTexts have one.
  [[nodiscard]] std::optional<std::uint64_t> code_of(std::string_view text) const;
  [[nodiscard]] std::string_view text_of(std::uint64_t code) const;

  // How the value of a key lies in its word.
  enum class Tag : std::uint8_t { none, integer, unsigned_integer, real, boolean, text };
  [[nodiscard]] FieldValue value(Tag tag, std::uint64_t word) const;
  // The keys of a group: a word with four bits for the tag of each, then a word for each (GroupReader::groups()).
  [[nodiscard]] std::vector<FieldValue> values_of(const std::uint64_t* words) const;
  // The other way round; nothing where a text has no code.
  [[nodiscard]] std::optional<std::vector<std::uint64_t>> words_of(std::span<const FieldValue> values) const;

 private:
  explicit GroupKeys(const Snapshot& snapshot) : strings_(snapshot.strings) {}
  [[nodiscard]] std::optional<ValuePlace> place_of(const Snapshot& snapshot, std::uint32_t lane_index,
                                                   const std::string& column) const;
  void set_labels(const Snapshot& snapshot);
  [[nodiscard]] std::uint64_t made_code(std::string_view text) const;
  std::uint64_t add_code(std::string_view text) const;  // under the lock

  std::shared_ptr<const StringPool> strings_;
  std::vector<std::string> by_;
  LaneIndices lanes_;
  std::vector<OfLane> of_lanes_;      // by index into Snapshot::lanes
  std::vector<std::string> devices_;  // of the lanes, with their hosts where there are several
  std::vector<std::string> labels_;   // of the lanes' tracks, told apart by their devices or hosts
  std::string unit_;
  bool of_duration_ = true;
  mutable std::mutex mutex_;
  mutable std::map<std::string, std::uint64_t, std::less<>> codes_;  // of texts that the pool does not have
  mutable std::map<std::uint64_t, std::string> texts_;
};

// What a track is called where groups are told apart by it: its name, with its device or host where several have one
// of the name.
[[nodiscard]] std::vector<std::string> track_labels(const Snapshot& snapshot);

// The two parts of "dma.size"; no table where no schema of the session is called so.
struct ColumnName {
  std::string_view table, column;
};
[[nodiscard]] ColumnName column_name(const Snapshot& snapshot, std::string_view name) noexcept;

// The groups of events, a block at a time, and the values that are measured of them. One per thread.
//
//   GroupReader reader(keys);
//   reader.open(chunk);
//   chunk.for_each_block([&](const ScannedBlock& block) {
//     const GroupedBlock events = reader.read(block);
//     for (std::uint32_t i = block.first; i < block.last; ++i) if (events.has(i)) ... events.groups[i],
//     events.value(i)
//   });
//
// It tells so many groups apart and no more, so that its memory is bounded: others are kRestGroup.

struct GroupedBlock {
  std::uint64_t valid = 0;  // a bit for each event with a value
  const std::uint32_t* groups = nullptr;
  const std::int64_t* whole = nullptr;  // the values where they are whole numbers of a column, else `real` has them
  const double* real = nullptr;
  [[nodiscard]] double value(std::uint32_t i) const noexcept {
    return whole != nullptr ? static_cast<double>(whole[i]) : real[i];
  }
  [[nodiscard]] bool has(std::uint32_t i) const noexcept { return (valid >> i & 1) != 0; }
};

inline constexpr std::uint32_t kRestGroup = ~0U;

class GroupReader {
 public:
  static constexpr std::size_t kMostGroups = 1U << 18U;
  explicit GroupReader(const GroupKeys& keys);
  // Of groups that are known: they have the numbers that they have there, all others are kRestGroup.
  GroupReader(const GroupKeys& keys, const Groups& known);

  void open(const ScannedChunk& chunk);
  // Of the events first .. last - 1 of the block. It lies in the reader until the next call.
  [[nodiscard]] GroupedBlock read(const ScannedBlock& block);
  // Groups of all chunks so far, numbered as they were met. Keys: a word with four bits for each key, which are its
  // GroupKeys::Tag, then a word for each.
  [[nodiscard]] const Groups& groups() const noexcept { return groups_; }
  [[nodiscard]] bool met_others() const noexcept { return met_others_; }  // any event was of kRestGroup

 private:
  struct Varying {
    ValuePlace place;
    std::size_t key = 0;
    GroupKeys::Tag tag = GroupKeys::Tag::none;
  };
  void read_groups(const ScannedBlock& block);
  void read_by_code(const ScannedBlock& block, const BlockValues& codes);
  [[nodiscard]] bool has_codes(const Varying& varying) const noexcept;
  void read_values(const ScannedBlock& block, GroupedBlock& out);
  [[nodiscard]] std::uint32_t group_of(const std::uint64_t* words);
  [[nodiscard]] std::uint32_t find_group(const std::uint64_t* words);

  static constexpr std::size_t kWords = GroupKeys::kMost + 1;
  static constexpr std::size_t kRecent = 4096;  // groups by the hash of their keys; a power of two
  static constexpr std::uint64_t kMostNumbers = 1U << 16U;
  struct ByCode {
    std::uint32_t group = 0;
    std::uint32_t constants = 0;  // for which it is known; 0: none
  };
  struct Recent {
    std::array<std::uint64_t, kWords> words{};
    std::uint32_t group = ~0U;
  };

  const GroupKeys& keys_;
  Groups groups_;
  std::size_t most_groups_ = kMostGroups;
  bool met_others_ = false;
  ValuePlace value_;
  std::array<std::uint64_t, kWords> words_{};  // the keys that all events of the lane have, others 0
  std::vector<Varying> varying_;
  std::uint32_t constants_ = 0;  // a number for words_ with the place of what varies
  std::map<std::vector<std::uint64_t>, std::uint32_t> known_constants_;
  std::vector<ByCode> by_code_;  // by a string's session-wide id, or by a number below kMostNumbers
  std::vector<Recent> recent_;
  std::array<std::uint32_t, kBlockEvents> block_groups_{};
  std::array<double, kBlockEvents> block_values_{};
  const ScannedChunk* chunk_ = nullptr;
};

struct StatisticsQuestion {
  EventFilter filter;
  std::vector<std::string> by;     // names of columns; none: one row of all
  std::string value = "duration";  // what is measured
  bool operator==(const StatisticsQuestion&) const = default;
};

struct StatisticsRow {
  std::vector<FieldValue> keys;  // one per column of the question
  ValueFigures figures;
  // Of durations on threads of a host, whose calls lie within calls: ns in which the group's calls were the innermost
  // (core/analysis/source/host_calls.h), waiting or not.
  std::optional<std::int64_t> self_ns;
};

struct Statistics {
  // Groups beyond so many, those of fewest events, are added up in one row without keys.
  static constexpr std::size_t kMostGroups = 65'536;
  // Quantiles are exact (distribution.h) up to so many events in the range; beyond, those of groups of few are, and of
  // whole numbers that lie close together.
  static constexpr std::uint64_t kMostExact = 4U << 20U;

  StatisticsQuestion question;
  std::uint64_t snapshot_version = 0;
  std::string unit;                 // of what is measured
  std::vector<StatisticsRow> rows;  // largest total first; those whose total is not finite last
  ValueFigures all;
  bool has_rest = false;              // the last row adds up groups that are left out
  std::uint64_t left_out_groups = 0;  // so many
  // False: there are more groups than were told apart (GroupReader::kMostGroups of a thread), so left_out_groups and
  // more are left out; the rows are those of most events among the first that were met, and their figures whole.
  bool counts_all_groups = true;
  LaneIndices lanes;  // that took part
};

// Fails where a column is unknown, a chunk cannot be read, or when cancelled.
[[nodiscard]] Result<std::shared_ptr<const Statistics>> statistics(const QueryContext& query,
                                                                   const StatisticsQuestion& question);

}  // namespace accelscope::analysis
