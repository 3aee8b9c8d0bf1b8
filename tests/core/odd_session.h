// A session with all that makes SQL's answers odd, and both ways to ask it: by loops over chunks and row by row through
// SQLite. For tests that nobody can tell the two apart.
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <random>
#include <string>
#include <vector>

#include "core/chunk/session_writer.h"
#include "core/sql/base/sql.h"

namespace accelscope {

inline std::string value_text(const listing::SqlValue& value) {
  if (const auto* integer = std::get_if<std::int64_t>(&value)) return "i" + std::to_string(*integer);
  if (const auto* real = std::get_if<double>(&value)) {
    char text[40];
    std::snprintf(text, sizeof text, "r%.17g", *real);
    return text;
  }
  if (const auto* text = std::get_if<std::string>(&value)) return "t" + *text;
  return std::holds_alternative<listing::SqlBlob>(value) ? "blob" : "null";
}

inline std::vector<std::string> rows_of(const listing::SqlResult& result) {
  std::vector<std::string> rows;
  for (std::size_t row = 0; row < result.row_count(); ++row) {
    std::string& text = rows.emplace_back();
    for (std::size_t column = 0; column < result.columns.size(); ++column) {
      text += value_text(result.at(row, column)) + "|";
    }
  }
  return rows;
}

// Two sources with all types of columns, values missing here and there, three kinds of clocks, few and many names,
// several lanes per track, numbers whose sums no double holds, unsigned values of 2^63 and more.
class OddSession {
 public:
  OddSession(std::uint32_t seed, int events) : random_(seed) {
    for (int source = 0; source < 2; ++source) write_source(source, events);
    sql = std::make_unique<sql::Session>(*store, store->snapshot(), pool);
  }

  Result<listing::SqlResult> run(const std::string& query, bool planned) {
    sql->set_planned(planned);
    TaskControl control;
    return sql->run(query, {}, control);
  }
  // Both ways; the answers must be the same, in this order if `ordered`.
  void compare(const std::string& query, bool ordered) {
    CAPTURE(query);
    const Result<listing::SqlResult> planned = run(query, true);
    const Result<listing::SqlResult> plain = run(query, false);
    const std::string native_message = planned.ok() ? "" : planned.message();
    const std::string plain_message = plain.ok() ? "" : plain.message();
    REQUIRE(native_message == plain_message);
    if (!planned.ok()) return;
    CHECK(planned->columns == plain->columns);
    std::vector<std::string> a = rows_of(*planned);
    std::vector<std::string> b = rows_of(*plain);
    if (!ordered) {
      std::sort(a.begin(), a.end());
      std::sort(b.begin(), b.end());
    }
    const auto difference = std::mismatch(a.begin(), a.end(), b.begin(), b.end());
    CAPTURE(difference.first - a.begin());
    const std::string first = difference.first == a.end() ? "" : *difference.first;
    const std::string second = difference.second == b.end() ? "" : *difference.second;
    CHECK(first == second);
    CHECK(a.size() == b.size());
  }

  std::unique_ptr<Store> store = Store::create().value();
  WorkerPool pool{2};
  std::unique_ptr<sql::Session> sql;

 private:
  void write_source(int source, int events) {
    StoreSink sink(*store);
    SessionWriter writer(sink);
    std::vector<Column> columns{{.name = "size", .type = ColumnType::int64},
                                {.name = "key", .type = ColumnType::uint64},
                                {.name = "rate", .type = ColumnType::float64},
                                {.name = "kind", .type = ColumnType::string},
                                {.name = "note", .type = ColumnType::text},
                                {.name = "flag", .type = ColumnType::boolean},
                                {.name = "either", .type = source == 0 ? ColumnType::int64 : ColumnType::float64}};
    if (source == 0) columns.push_back({.name = "category", .type = ColumnType::string});
    const SchemaNumber op = writer.add_schema({.name = "op", .name_column = "opcode", .columns = columns});
    const SchemaNumber plain = writer.add_schema({.name = "plain"});
    const SchemaNumber samples = writer.add_schema(
        {.name = "queue", .kind = EventKind::counter, .columns = {{.name = "value", .role = Role::value}}});
    Clock bent{.name = "drifting"};
    for (std::int64_t i = 0; i < 20; ++i) bent.anchors.push_back({i * 500, i * 1000 + (i % 3) * 20});
    const std::array clocks{kNone, writer.add_clock({.name = "cycles", .ticks_per_ns = 1.4}), writer.add_clock(bent),
                            writer.add_clock({.name = "offset", .anchors = {{100, 5000}}})};
    for (std::size_t t = 0; t < 4; ++t) {
      const TrackNumber track = writer.add_track({.name = t == 3 ? "same" : "track " + std::to_string(t),
                                                  .kind = t == 1 ? "dma_queue" : "engine",
                                                  .schema = t == 2 ? plain : op,
                                                  .clock = clocks[(t + static_cast<std::size_t>(source)) % 4]});
      write_track(writer, track, t != 2, source, events);
    }
    const TrackNumber counter = writer.add_track({.name = "pending", .kind = "counter", .schema = samples});
    for (std::int64_t i = 0; i < events / 2; ++i) writer.sample(counter, i * 10, i % 7 == 0 ? -i : i);
    writer.add_track({.name = "idle", .kind = "engine", .schema = op});
    REQUIRE(writer.finish().ok());
  }

  void write_track(SessionWriter& writer, TrackNumber track, bool full, int source, int events) {
    std::int64_t at = below(1000);
    for (int i = 0; i < events; ++i) {
      at += below(3) == 0 ? 0 : below(50);
      const std::int64_t duration = below(6) == 0 ? 0 : below(60);
      const int names = full ? 12 : 200;
      const std::int64_t name = below(names);
      const std::string text = (name % 3 == 1 ? "matmul_" : "Copy.") + std::to_string(name);
      Row row = writer.begin_event(track, at, duration, writer.intern(name == 0 ? "" : text));
      if (full) write_fields(writer, row, source);
      at += duration;
      if (below(200) == 0) writer.flush();
    }
  }
  void write_fields(SessionWriter& writer, Row& row, int source) {
    if (below(4) != 0) row.integer(0, below(40) == 0 ? (std::int64_t{1} << 61) - below(5) : below(200) - 100);
    if (below(4) != 0) row.unsigned_integer(1, below(30) == 0 ? ~std::uint64_t{0} - random_() % 9 : random_() % 9);
    if (below(4) != 0) row.real(2, below(50) == 0 && source == 1 ? 0.1 : static_cast<double>(below(80) - 40) / 8);
    if (below(4) != 0) row.string(3, writer.intern("kind_" + std::to_string(below(5))));
    if (below(4) != 0) row.text(4, "note " + std::to_string(below(1000)));
    if (below(4) != 0) row.boolean(5, below(2) == 0);
    if (source == 0) row.integer(6, below(10));
    if (source == 1) row.real(6, static_cast<double>(below(10)));
    if (source == 0 && below(3) != 0) row.string(7, writer.intern(below(2) == 0 ? "compute" : "engine"));
  }
  std::int64_t below(std::int64_t bound) {
    return static_cast<std::int64_t>(random_() % static_cast<std::uint64_t>(bound));
  }

  std::mt19937_64 random_;
};

}  // namespace accelscope
