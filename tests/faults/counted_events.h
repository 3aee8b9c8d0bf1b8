// Whether a session has every event once, counted in two ways: from the tables of its chunks, and from the rows that
// SQL gives. An event's id is its lane and its place in it, without gaps, so that what is missing or there twice shows.
#pragma once

#include <fmt/format.h>

#include <map>
#include <set>
#include <string>

#include "core/sql/base/sql.h"
#include "core/store/store.h"

namespace accelscope::capture {

struct CountedEvents {
  std::uint64_t of_chunks = 0;
  std::uint64_t of_rows = 0;
  std::uint64_t lanes = 0;
  std::string wrong;  // "" where nothing is
};

// The ordinals of one lane as rows give them, in any order.
struct LaneRows {
  std::uint64_t count = 0, sum = 0, highest = 0;
  [[nodiscard]] bool gapless() const { return highest + 1 == count && sum == count * (count - 1) / 2; }
};

class RowsOfLanes final : public listing::SqlRowVisitor {
 public:
  bool columns(const std::vector<std::string>& /*names*/) override { return true; }
  bool row(const std::vector<listing::SqlValue>& values) override {
    const auto id = static_cast<std::uint64_t>(std::get<std::int64_t>(values[0]));
    constexpr int kLaneShift = 40;
    const std::uint64_t ordinal = id & ((std::uint64_t{1} << kLaneShift) - 1);
    LaneRows& lane = lanes[id >> kLaneShift];
    ++lane.count;
    lane.sum += ordinal;
    lane.highest = std::max(lane.highest, ordinal);
    return true;
  }
  std::map<std::uint64_t, LaneRows> lanes;
};

inline void count_chunks(const Snapshot& snapshot, CountedEvents& counted) {
  for (const LaneSnapshot& lane : snapshot.lanes) {
    std::uint64_t next = 0;
    for (std::uint32_t i = 0; i < lane.chunk_count; ++i) {
      const auto& chunk = lane.chunk(i);
      if (chunk.first_ordinal != next)
        counted.wrong +=
            fmt::format("lane {}: chunk {} begins with {}, not {}\n", lane.number(), i, chunk.first_ordinal, next);
      next = chunk.first_ordinal + chunk.count;
    }
    counted.of_chunks += next;
    counted.lanes += next > 0 ? 1 : 0;
  }
}

inline void count_rows(const Store& store, CountedEvents& counted) {
  WorkerPool pool(1);
  sql::Session sql(store, store.snapshot(), pool);
  TaskControl control;
  const auto tables = sql.run("SELECT DISTINCT schema FROM track WHERE schema <> ''", {}, control);
  if (!tables) {
    counted.wrong += tables.message() + "\n";
    return;
  }
  RowsOfLanes rows;
  for (std::size_t i = 0; i < tables->row_count(); ++i) {
    const std::string& name = std::get<std::string>(tables->at(i, 0));
    // The hidden column: tables of vendors have an id of their own.
    if (const auto visited = sql.visit(fmt::format("SELECT event_id FROM \"{}\"", name), rows, control); !visited)
      counted.wrong += fmt::format("{}: {}\n", name, visited.message());
    counted.wrong += sql.note();
  }
  for (const auto& [number, lane] : rows.lanes) {
    counted.of_rows += lane.count;
    if (!lane.gapless())
      counted.wrong += fmt::format("lane {}: {} rows up to ordinal {}\n", number, lane.count, lane.highest);
  }
}

[[nodiscard]] inline CountedEvents count_events(const std::string& path) {
  CountedEvents counted;
  const auto store = Store::open_unchanged(path);
  if (!store) {
    counted.wrong = store.message();
    return counted;
  }
  count_chunks(*(*store)->snapshot(), counted);
  count_rows(**store, counted);
  if (counted.of_chunks != counted.of_rows)
    counted.wrong += fmt::format("{} events in chunks, {} in rows\n", counted.of_chunks, counted.of_rows);
  return counted;
}

}  // namespace accelscope::capture
