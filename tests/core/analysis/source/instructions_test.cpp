#include "core/analysis/source/instructions.h"

#include <doctest/doctest.h>

#include <map>
#include <random>
#include <tuple>

#include "core/analysis/source/source_lines.h"
#include "core/chunk/session_writer.h"
#include "core/scan/event_reader.h"
#include "core/sql/base/sql.h"
#include "tests/core/random_session.h"

namespace accelscope::analysis {
namespace {

// Two engines that run through programs of their own, again and again, with waits, jumps and other opcodes at a place.
struct Simulated {
  Simulated() {
    StoreSink sink(*store);
    SessionWriter writer(sink);
    const SchemaNumber schema = writer.add_schema(
        {.name = "instruction",
         .name_column = "opcode",
         .wait_names = {"EVENT_SEMAPHORE"},
         .columns = {{.name = "pc", .type = ColumnType::int64},
                     {.name = "operands", .type = ColumnType::text, .role = Role::operands},
                     {.name = "source", .type = ColumnType::string, .role = Role::source_location},
                     {.name = "waited", .type = ColumnType::int64, .unit = "ns", .role = Role::wait_ns}}});
    std::mt19937_64 random(9);
    for (const char* engine : {"Tensor", "Vector"}) {
      const TrackNumber track = writer.add_track({.name = engine, .kind = "engine", .device = "nc0", .schema = schema});
      std::int64_t at = 0;
      for (int i = 0; i < 20'000; ++i) {
        const auto place = static_cast<std::int64_t>(random() % 40);
        const bool waits = place % 9 == 0;
        const char* name = waits ? "EVENT_SEMAPHORE" : random() % 50 == 0 ? "NOP" : place % 2 == 0 ? "MATMUL" : "COPY";
        const auto length = static_cast<std::int64_t>(random() % 100);
        Row row = writer.begin_event(track, at, length, writer.intern(name));
        row.integer(0, place);
        row.text(1, "at " + std::to_string(place) + " of " + engine);
        if (place > 3) row.string(2, writer.intern("kernel.py:" + std::to_string(place / 4)));
        row.integer(3, waits ? 0 : static_cast<std::int64_t>(random() % 20));
        at += length + static_cast<std::int64_t>(random() % 5);
      }
    }
    REQUIRE(writer.finish().ok());
  }
  [[nodiscard]] QueryContext query() { return {*store, store->snapshot(), pool, control}; }
  std::shared_ptr<Store> store = std::move(Store::create()).value();
  WorkerPool pool{2};
  TaskControl control;
};

TEST_CASE("instructions: rows are those that SQL groups by track, program counter and opcode, with the same sums") {
  Simulated session;
  const auto listing = instruction_listing(session.query(), TimeRange{});
  REQUIRE(listing.ok());
  CHECK(listing->left_out == 0);
  sql::Session sql(*session.store, session.store->snapshot(), session.pool);
  const auto rows =
      sql.run("SELECT track_id, pc, opcode, count(*), min(ts_ns) FROM instruction GROUP BY track_id, pc, opcode", {},
              session.control);
  REQUIRE(rows.ok());
  std::map<std::tuple<std::int64_t, std::int64_t, std::string>, std::pair<std::int64_t, std::int64_t>> expected;
  for (std::size_t row = 0; row < rows->row_count(); ++row) {
    const auto number = [&](std::size_t column) {
      const auto* value = std::get_if<std::int64_t>(&rows->at(row, column));
      return value == nullptr ? -1 : *value;
    };
    expected[{number(0), number(1), std::get<std::string>(rows->at(row, 2))}] = {number(3), number(4)};
  }
  REQUIRE(expected.size() > 20);
  std::size_t found = 0;
  for (const InstructionCost& row : listing->rows) {
    if (!row.place) continue;
    const auto same =
        expected.find({row.track, *row.place, std::string(session.store->snapshot()->strings->text(row.name))});
    REQUIRE(same != expected.end());
    CHECK(static_cast<std::int64_t>(row.count) == same->second.first);
    CHECK(row.first_ns == same->second.second);
    ++found;
  }
  CHECK(found == expected.size());
}

TEST_CASE("instructions: in the order of the program, with operands and line of the first execution") {
  Simulated session;
  const auto listing = instruction_listing(session.query(), TimeRange{});
  REQUIRE(listing.ok());
  const auto snapshot = session.store->snapshot();
  EventReader reader(*session.store, snapshot);
  std::string location;
  for (std::size_t i = 0; i < listing->rows.size(); ++i) {
    const InstructionCost& row = listing->rows[i];
    if (i > 0 && row.place && listing->rows[i - 1].track == row.track && listing->rows[i - 1].place)
      CHECK(*listing->rows[i - 1].place <= *row.place);
    if (i % 7 != 0) continue;
    const auto event = reader.read(row.first);
    REQUIRE(event.ok());
    CHECK(event->begin_ns == row.first_ns);
    CHECK(row.operands == "at " + std::to_string(*row.place) + " of " + snapshot->find_track(row.track)->track->name);
    if (!row.location.empty()) location = row.location;
  }
  REQUIRE_FALSE(location.empty());
  // Of one line: only its instructions, whose costs are those of the whole listing.
  const auto of_line = instruction_listing(session.query(), TimeRange{}, location);
  REQUIRE(of_line.ok());
  REQUIRE_FALSE(of_line->rows.empty());
  CHECK(of_line->rows.size() < listing->rows.size());
  for (const InstructionCost& row : of_line->rows) CHECK(row.location == location);
  CHECK(instruction_listing(session.query(), TimeRange{}, "nowhere.py:1")->rows.empty());
}

TEST_CASE("instructions: an event that the range cuts is clipped, and waiting is kept apart") {
  Simulated session;
  const auto snapshot = session.store->snapshot();
  const std::int64_t middle = (snapshot->begin_ns + snapshot->end_ns) / 2;
  std::int64_t whole = 0, parts = 0, whole_busy = 0, parts_busy = 0;
  for (const InstructionCost& row : instruction_listing(session.query(), TimeRange{})->rows) {
    whole += row.busy_ns + row.wait_ns;
    whole_busy += row.busy_ns;
  }
  for (const TimeRange& range : {TimeRange{snapshot->begin_ns, middle}, TimeRange{middle, snapshot->end_ns + 1}}) {
    for (const InstructionCost& row : instruction_listing(session.query(), range)->rows) {
      parts += row.busy_ns + row.wait_ns;
      parts_busy += row.busy_ns;
    }
  }
  CHECK(whole_busy > 0);
  CHECK(whole > whole_busy);
  CHECK(std::abs(whole_busy - parts_busy) <= 200);  // each row is rounded
  CHECK(parts <= whole + 200);
  CHECK(parts >= whole - 250);  // what waited over the cut counts only after it
}

TEST_CASE("instructions: an event waited while its lane was free, and moved its share of what the range cuts") {
  const auto store = std::move(Store::create()).value();
  StoreSink sink(*store);
  SessionWriter writer(sink);
  const SchemaNumber schema =
      writer.add_schema({.name = "instruction",
                         .name_column = "opcode",
                         .columns = {{.name = "slot", .type = ColumnType::int64, .unit = "ns", .role = Role::wait_ns},
                                     {.name = "data", .type = ColumnType::int64, .unit = "ns", .role = Role::wait_ns},
                                     {.name = "bytes", .type = ColumnType::int64, .unit = "B", .role = Role::bytes}}});
  const TrackNumber track = writer.add_track({.name = "Tensor", .kind = "engine", .device = "nc0", .schema = schema});
  struct Instruction {
    const char* name;
    std::int64_t begin, end, slot, data, bytes;
  };
  for (const Instruction& each :
       {Instruction{"A", 0, 100, 1'000'000, 0, 400}, Instruction{"B", 140, 200, 1'000'000, 0, 60},
        Instruction{"C", 230, 300, 4, 5, 70}, Instruction{"D", 300, 400, 50, 50, 100}}) {
    Row row = writer.begin_event(track, each.begin, each.end - each.begin, writer.intern(each.name));
    row.integer(0, each.slot);
    row.integer(1, each.data);
    row.integer(2, each.bytes);
  }
  REQUIRE(writer.finish().ok());
  WorkerPool pool(2);
  TaskControl control;
  const QueryContext query{*store, store->snapshot(), pool, control};
  using Figures = std::tuple<std::string, std::int64_t, std::int64_t, std::uint64_t>;  // name, busy, waits, bytes
  const auto figures = [&](const TimeRange& range) {
    const auto listing = instruction_listing(query, range);
    REQUIRE(listing.ok());
    std::vector<Figures> rows;
    for (const InstructionCost& row : listing->rows)
      rows.emplace_back(query.snapshot->strings->text(row.name), row.busy_ns, row.wait_ns, row.bytes);
    return rows;
  };
  CHECK(figures({}) ==
        std::vector<Figures>{{"A", 100, 0, 400}, {"B", 60, 40, 60}, {"C", 70, 9, 70}, {"D", 100, 0, 100}});
  CHECK(figures({75, 240}) == std::vector<Figures>{{"A", 25, 0, 100}, {"B", 60, 40, 60}, {"C", 10, 9, 10}});
  CHECK(figures({130, 200}) == std::vector<Figures>{{"B", 60, 10, 60}});
}

void check_agreement(const QueryContext& query, const TimeRange& range) {
  const auto lines = source_lines(query, range);
  REQUIRE(lines.ok());
  std::size_t checked = 0;
  for (const SourceLine& line : (*lines)->lines) {
    const auto listing = instruction_listing(query, range, line.path + ":" + std::to_string(line.line));
    REQUIRE(listing.ok());
    SourceLine sum;
    for (const InstructionCost& row : listing->rows) {
      sum.event_count += row.count;
      sum.busy_ns += row.busy_ns;
      sum.wait_ns += row.wait_ns;
      sum.bytes += row.bytes;
    }
    CHECK(sum.event_count == line.event_count);
    CHECK(sum.busy_ns == line.busy_ns);
    CHECK(sum.wait_ns == line.wait_ns);
    CHECK(sum.bytes == line.bytes);
    ++checked;
  }
  CHECK((checked > 0 || range.length_ns() < 1'000));
}

TEST_CASE("instructions: of a line of source they cost exactly what the line costs, in any range and by any clock") {
  Simulated waits;
  std::mt19937_64 random(21);
  const auto end = static_cast<std::uint64_t>(waits.store->snapshot()->end_ns);
  check_agreement(waits.query(), TimeRange{});
  for (int i = 0; i < 6; ++i) {
    const auto a = static_cast<std::int64_t>(random() % end), b = static_cast<std::int64_t>(random() % end);
    check_agreement(waits.query(), {std::min(a, b), std::max(a, b)});
  }
  RandomSession clocks(17, 2'000);
  check_agreement(clocks.context(), TimeRange{});
  for (int i = 0; i < 6; ++i) check_agreement(clocks.context(), clocks.random_range());
}

TEST_CASE("instructions: lines that are texts of their own are found like those that all share") {
  const auto store = std::move(Store::create()).value();
  StoreSink sink(*store);
  SessionWriter writer(sink);
  const SchemaNumber schema = writer.add_schema(
      {.name = "instruction", .columns = {{.name = "line", .type = ColumnType::text, .role = Role::source_location}}});
  const TrackNumber track = writer.add_track({.name = "Tensor", .kind = "engine", .schema = schema});
  for (std::int64_t i = 0; i < 30; ++i)
    writer.begin_event(track, i * 10, 7, writer.intern("MATMUL")).text(0, "a.py:" + std::to_string(i % 3 + 1));
  REQUIRE(writer.finish().ok());
  WorkerPool pool(1);
  TaskControl control;
  const QueryContext query{*store, store->snapshot(), pool, control};
  check_agreement(query, TimeRange{});
  const auto listing = instruction_listing(query, {}, "a.py:2");
  REQUIRE(listing->rows.size() == 1);
  CHECK(listing->rows[0].count == 10);
  CHECK(listing->rows[0].location == "a.py:2");
}

TEST_CASE("instructions: of more places than are told apart those that cost most stay whole, and it is said") {
  const auto store = std::move(Store::create()).value();
  StoreSink sink(*store);
  SessionWriter writer(sink);
  const SchemaNumber schema =
      writer.add_schema({.name = "instruction", .columns = {{.name = "pc", .type = ColumnType::int64}}});
  const TrackNumber track = writer.add_track({.name = "Tensor", .kind = "engine", .device = "nc0", .schema = schema});
  constexpr std::int64_t kEvents = 2 * InstructionListing::kMostMet + 20'000, kFrequent = 10;
  for (std::int64_t i = 0; i < kEvents; ++i) {
    const bool frequent = i % 1'000 < kFrequent;
    writer.begin_event(track, 20 * i, frequent ? 10 : 1, writer.intern("MATMUL"))
        .integer(0, frequent ? i % 1'000 : 1'000 + i);
  }
  REQUIRE(writer.finish().ok());
  WorkerPool pool(1);
  TaskControl control;
  const auto listing = instruction_listing({*store, store->snapshot(), pool, control}, TimeRange{});
  REQUIRE(listing.ok());
  CHECK_FALSE(listing->counts_all);
  REQUIRE(listing->rows.size() == InstructionListing::kMost);
  for (std::size_t i = 0; i < kFrequent; ++i) {
    CHECK(listing->rows[i].place == static_cast<std::int64_t>(i));
    CHECK(listing->rows[i].count == static_cast<std::uint64_t>(kEvents / 1'000));
  }
}

}  // namespace
}  // namespace accelscope::analysis
