// Read-only SQL over one snapshot: a private SQLite connection whose virtual tables read the snapshot's index and
// chunks. It stores nothing and sees nothing but the session; only SELECT is let through.
//
//   Session sql(store, snapshot, pool);
//   Result<SqlResult> result = sql.run("SELECT name, sum(dur_ns) FROM slice GROUP BY name", limits, control);
//
// Conditions on time, duration, track, id, name and on number and dictionary columns are answered inside the scan,
// where whole chunks and blocks are skipped by their statistics. Integers are exact. Unsigned values of 2^63 and more,
// which SQLite has no integer for, come as decimal text, in results and in conditions. One run at a time per session.
//
// Simple questions about the events of one table are answered by loops over chunks instead of row by row, with the same
// cells, types and titles: count, sum, total, avg, min, max with or without GROUP BY columns; DISTINCT columns; plain
// columns of the rows that a WHERE leaves; ORDER BY numbers LIMIT up to 10,000. WHERE may hold comparisons of columns,
// ts_ns + dur_ns and end_ns - ts_ns with constants (=, <>, <, BETWEEN, IN, LIKE, GLOB, REGEXP, IS NULL) joined by AND;
// aggregates may JOIN track ON track_id. HAVING, ORDER BY and expressions around aggregates are as free as ever. What
// goes row by row, a hundred times slower, are OR, subqueries and calculations inside an aggregate: ask for
// sum(dur_ns) / 1e6, not sum(dur_ns / 1e6), and let a window be ts_ns < b AND ts_ns + dur_ns > a.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/worker_pool.h"
#include "core/listing/base/rows.h"
#include "core/store/store.h"

namespace accelscope {
class EventMask;  // core/scan/event_mask.h
}

namespace accelscope::sql {

struct QueryLimits {
  std::uint64_t max_rows = 1'000'000;
  std::uint64_t max_bytes = std::uint64_t{512} << 20;  // of the values kept in a SqlResult
};

// What a table offers, for completion and for a list of the tables.
struct ListedTable {
  std::string name;
  std::vector<std::string> columns;
  std::vector<std::string> hidden_columns;  // may be named, but SELECT * leaves them out
  std::uint64_t row_estimate = 0;
};

class Session {
 public:
  // mask: given, the tables hold the events that pass it, and what is made of those (core/scan/event_mask.h,
  // filter_mask). Tracks, markers, sources, meta and quality are those of the session either way.
  Session(const Store& store, std::shared_ptr<const Snapshot> snapshot, WorkerPool& pool,
          std::shared_ptr<const EventMask> mask = nullptr);
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  // Done and total of the control count chunks. A cancelled run fails with cancelled_error().
  [[nodiscard]] Result<listing::SqlResult> run(std::string_view sql, const QueryLimits& limits, TaskControl& control);
  [[nodiscard]] Result<void> visit(std::string_view sql, listing::SqlRowVisitor& visitor, TaskControl& control);
  [[nodiscard]] std::string note() const;  // of the last run: see SqlResult
  [[nodiscard]] const std::vector<ListedTable>& tables() const noexcept;
  // Off: every query goes row by row through SQLite. The answers are the same.
  void set_planned(bool on) noexcept;
  [[nodiscard]] std::uint64_t planned_answers() const noexcept;  // runs that needed no row-by-row scan so far

 private:
  struct Implementation;
  std::unique_ptr<Implementation> impl_;
};

}  // namespace accelscope::sql
