#include "capture/sources/sqlite/id_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "core/base/capped.h"

namespace accelscope::capture::sources::sqlite {
namespace {

// SQLite's own name of it need not be listed among the columns.
[[nodiscard]] bool is_primary_key(const ForeignDatabase& database, std::string_view table, std::string_view column) {
  Result<ForeignRows> columns = database.select(fmt::format("PRAGMA table_info({})", quoted_name(table)));
  while (columns && columns->next()) {
    if (columns->text(1) == column) return columns->integer(5) == 1;
  }
  return false;
}

}  // namespace

IdRows::IdRows(const ForeignDatabase& database, std::string_view table, std::span<const std::string_view> columns,
               std::string_view order) {
  const auto id = std::find(columns.begin(), columns.end(), "id");
  const bool by_id = order.empty() && id != columns.end() && is_primary_key(database, table, "id");
  const std::string further = by_id ? std::string(" WHERE \"id\" > ?1 ORDER BY \"id\"") : std::string(order);
  Result<ForeignRows> rows = database.rows(table, columns, further);
  if (!rows) {
    failure_ = rows.message();
    gaps_ = 1;
    rows_ = {};
    return;
  }
  rows_ = std::move(*rows);
  if (!by_id) return;
  id_ = static_cast<std::size_t>(id - columns.begin());
  last_id_ = std::numeric_limits<std::int64_t>::min();
  rows_.restart(last_id_);
}

// Ids of a damaged page may be anything: rows that do not follow the last one are not taken, so that none comes twice.
bool IdRows::next() {
  while (rows_.next() || go_on_behind_gap()) {
    if (!id_) return true;
    const std::int64_t id = rows_.integer(*id_);
    if (id > last_id_ || !any_) {
      last_id_ = id;
      any_ = true;
      return true;
    }
    if (failure_.empty()) failure_ = "ids out of order";
    ++gaps_;
    if (gaps_ > kMostGaps) return false;
  }
  return false;
}

// How many rows a damaged page held is not known: ids are tried ever further on.
bool IdRows::go_on_behind_gap() {
  if (rows_.status()) return false;
  if (failure_.empty()) failure_ = rows_.status().message();
  ++gaps_;
  if (!id_ || gaps_ > kMostGaps) return false;
  constexpr std::int64_t kLast = std::numeric_limits<std::int64_t>::max();
  std::int64_t from = std::max<std::int64_t>(last_id_, 0);
  for (std::int64_t step = 16; step < kLast / 4; step *= 2) {
    if (from > kLast - step) return false;
    from += step;
    rows_.restart(from);
    if (rows_.next()) return true;
    if (rows_.status()) return false;  // no rows behind it
  }
  return false;
}

KeyedRows::KeyedRows(const ForeignDatabase& database, std::string_view table, std::string_view key,
                     std::span<const std::string_view> columns, std::string_view condition) {
  std::vector<std::string_view> wanted(columns.begin(), columns.end());
  key_place_ = wanted.size();
  wanted.push_back(key);
  primary_ = is_primary_key(database, table, key);
  std::string further;
  if (primary_) {
    further = fmt::format(" WHERE {0} >= ?1{1}{2} ORDER BY {0}", quoted_name(key), condition.empty() ? "" : " AND ",
                          condition);
  } else {
    if (!condition.empty()) further = fmt::format(" WHERE {}", condition);
    if (!is_rising(database, table, key)) further += fmt::format(" ORDER BY {}", quoted_name(key));
  }
  Result<ForeignRows> rows = database.rows(table, wanted, further);
  if (!rows) return;
  rows_ = std::move(*rows);
  exists_ = database.has_table(table) && rows_.has_column(key_place_);
}

void KeyedRows::step() {
  any_ = rows_.next();
  if (any_) current_ = rows_.integer(key_place_);
}

bool KeyedRows::find(std::int64_t key) {
  constexpr std::int64_t kNear = 8;  // rows that are passed sooner than a key is looked up
  found_ = false;
  if (!exists_) return false;
  if (primary_ && (!started_ || !any_ || key < current_ || capped_difference(key, current_) > kNear)) {
    rows_.restart(key);
    step();
    if (!any_ && !rows_.status()) ++unread_;
  } else if (!started_) {
    step();
  }
  started_ = true;
  while (any_ && current_ < key) step();
  found_ = any_ && current_ == key;
  return found_;
}

bool KeyedRows::next() {
  const std::int64_t key = current_;
  step();
  found_ = any_ && current_ == key;
  return found_;
}

bool is_rising(const ForeignDatabase& database, std::string_view table, std::string_view column) {
  Result<ForeignRows> rows = database.rows(table, {column});
  if (!rows || !rows->has_column(0)) return true;
  std::int64_t last = std::numeric_limits<std::int64_t>::min();
  while (rows->next()) {
    if (!rows->has(0)) continue;
    const std::int64_t number = rows->integer(0);
    if (number < last) return false;
    last = number;
  }
  return true;
}

std::uint64_t last_id(const ForeignDatabase& database, std::string_view table) {
  if (!database.has_table(table)) return 0;
  Result<ForeignRows> rows = database.select(fmt::format("SELECT max(rowid) FROM {}", quoted_name(table)));
  return rows && rows->next() ? static_cast<std::uint64_t>(std::max<std::int64_t>(rows->integer(0), 0)) : 0;
}

}  // namespace accelscope::capture::sources::sqlite
