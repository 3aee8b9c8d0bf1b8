// By what events can be grouped, and what of them can be measured: the columns of the schemas of a session, and a few
// words that every event has. A column is named as searches name it; "dma.size" is the column of that table alone.
//
//   const auto columns = group_columns(snapshot);                       // for a menu
//   auto keys = GroupKeys::find(snapshot, filter, {"name", "device"}, "duration");
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/event_filter.h"
#include "core/scan/block_reader.h"
#include "core/scan/chunk_scan.h"
#include "core/scan/event_reader.h"

namespace accelscope {

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

}  // namespace accelscope
