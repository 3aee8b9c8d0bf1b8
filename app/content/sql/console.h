// Runs the queries of the SQL panel over one session: one at a time, on the pool, with progress and cancel, and keeps
// the last answer. Rows name events or times, which is how a click on a row finds its place on the timeline.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "app/session/tab.h"
#include "core/base/worker_pool.h"
#include "core/sql/base/sql.h"
#include "core/sql/base/tokens.h"

namespace accelscope::app::content {

// What the SQL panel knows about the text of a query without running it: its words, what could be typed next, which
// tables it names, and the values of the view that it may use as parameters. No drawing, not a parser.

using SqlToken = sql::Token;
using SqlTokenKind = sql::TokenKind;

// The comments are left out.
[[nodiscard]] std::vector<SqlToken> sql_tokens(std::string_view sql);

// Those of the tables that the query names, each once, in the order of the tables.
[[nodiscard]] std::vector<std::string> named_tables(std::string_view sql, std::span<const sql::ListedTable> tables);

struct SqlCandidate {
  std::string text;    // what is put in place of the word
  std::string detail;  // "table", "column of slice", "function"
};
struct SqlCompletion {
  std::size_t begin = 0;  // the word at the caret: [begin, end) of the text is replaced
  std::size_t end = 0;
  std::vector<SqlCandidate> candidates;  // best first
};
// What may stand at the caret: after FROM and JOIN tables, after "table." its columns, elsewhere columns of the tables
// that the query names, functions, keywords. Nothing inside quotes and comments.
[[nodiscard]] SqlCompletion complete_sql(std::string_view sql, std::size_t caret,
                                         std::span<const sql::ListedTable> tables);

// Values of the view that a query may name: :begin and :end of the visible range in ns, :selected, an event's id.
struct SqlParameters {
  std::int64_t begin_ns = 0;
  std::int64_t end_ns = 0;
  std::optional<std::uint64_t> selected;
};
// The query with these parameters as numbers; :selected is NULL without a selection. Others stay as they are.
[[nodiscard]] std::string with_parameters(std::string_view sql, const SqlParameters& parameters);

struct SqlAnswer {
  std::string sql;  // as it was typed
  listing::SqlResult result;
  std::string error;  // set instead of a result
  double seconds = 0;
  std::uint64_t snapshot_version = 0;
  EventFilter filter;                  // that it was asked in; empty: all events
  std::uint64_t seen = 0, events = 0;  // of so many events the query saw so many
};

// Where a row of a result lies on the timeline.
struct SqlRowPlace {
  std::optional<EventId> event;
  std::optional<std::int64_t> begin_ns;
  std::optional<std::int64_t> end_ns;
  [[nodiscard]] bool any() const noexcept { return event || begin_ns; }
};
// An event by its column `event_id`, `id`, `src_id` or `dst_id` if there is such an event, or by track_id and ts_ns; a
// time by ts_ns with dur_ns or end_ns. An `id` must agree with ts_ns: vendors have ids of their own under that name. An
// `id` alone says nothing if the query names tracks or markers.
[[nodiscard]] SqlRowPlace place_of_row(const SqlAnswer& answer, std::size_t row, EventReader& reader);

class SqlConsole {
 public:
  // More rows than this are cut, and the panel says so.
  static constexpr sql::QueryLimits kLimits{100'000, std::uint64_t{128} << 20};

  explicit SqlConsole(WorkerPool& pool) : pool_(pool) {}

  // Once per frame: takes what has become ready. True when a new answer is there.
  bool update(const session::SessionTab& tab);
  void run(const session::SessionTab& tab, std::string sql,
           const EventFilter& filter = {});  // cancels the one under way
  void cancel();

  [[nodiscard]] bool running() const noexcept { return task_.valid(); }
  [[nodiscard]] double share() const noexcept;  // 0 to 1; below 0: unknown
  [[nodiscard]] const SqlAnswer* answer() const noexcept { return answer_ ? answer_.get() : nullptr; }
  [[nodiscard]] const std::shared_ptr<const SqlAnswer>& shared_answer() const noexcept { return answer_; }
  // What can be asked; empty until it is known.
  [[nodiscard]] const std::vector<sql::ListedTable>& tables() const noexcept { return tables_; }
  [[nodiscard]] bool pending() const noexcept { return task_.valid() || tables_task_.valid(); }

 private:
  WorkerPool& pool_;
  Task<std::shared_ptr<const SqlAnswer>> task_;
  Task<std::vector<sql::ListedTable>> tables_task_;
  std::vector<sql::ListedTable> tables_;
  std::size_t tables_of_tracks_ = 0;  // how many tracks there were when they were asked for
  std::shared_ptr<const SqlAnswer> answer_;
};

}  // namespace accelscope::app::content
