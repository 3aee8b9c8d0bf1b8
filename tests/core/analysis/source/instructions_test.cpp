#include "core/analysis/source/instructions.h"

#include <doctest/doctest.h>

#include <map>
#include <random>
#include <tuple>

#include "core/chunk/session_writer.h"
#include "core/scan/event_reader.h"
#include "core/sql/base/sql.h"

namespace accelscope {
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
  SqlSession sql(*session.store, session.store->snapshot(), session.pool);
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
    if (row.location != 0) location = snapshot->strings->text(row.location);
  }
  REQUIRE_FALSE(location.empty());
  // Of one line: only its instructions, whose costs are those of the whole listing.
  const auto of_line = instruction_listing(session.query(), TimeRange{}, location);
  REQUIRE(of_line.ok());
  REQUIRE_FALSE(of_line->rows.empty());
  CHECK(of_line->rows.size() < listing->rows.size());
  for (const InstructionCost& row : of_line->rows) CHECK(snapshot->strings->text(row.location) == location);
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

}  // namespace
}  // namespace accelscope
