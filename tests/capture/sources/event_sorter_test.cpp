#include "capture/sources/base/event_sorter.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <random>
#include <tuple>

namespace accelscope::capture {
namespace {

struct PlainEvent {
  std::uint32_t track = 0;
  std::int64_t start = 0;
  std::int64_t duration = 0;
  StringId name = 0;
  std::optional<std::int64_t> number;
  std::optional<std::uint64_t> id;
  std::optional<double> real;
  std::optional<std::string> text;
  bool operator==(const PlainEvent&) const = default;
};

Schema sorted_schema() {
  Schema schema;
  schema.name = "sorted";
  schema.columns.push_back({.name = "number", .type = ColumnType::int64});
  schema.columns.push_back({.name = "id", .type = ColumnType::uint64});
  schema.columns.push_back({.name = "real", .type = ColumnType::float64});
  schema.columns.push_back({.name = "text", .type = ColumnType::text});
  return schema;
}

PlainEvent random_event(std::mt19937_64& random, StringId name) {
  PlainEvent event;
  event.track = static_cast<std::uint32_t>(random() % 7);
  event.start = static_cast<std::int64_t>(random() % 1000) - 300;  // many ties
  event.duration = static_cast<std::int64_t>(random() % 4);
  event.name = name;
  if (random() % 2 == 0) event.number = static_cast<std::int64_t>(random());
  if (random() % 3 != 0) event.id = random();
  if (random() % 4 == 0) event.real = static_cast<double>(random()) / 3.0;
  if (random() % 2 == 0) event.text = std::string(random() % 40, static_cast<char>('a' + random() % 26));
  return event;
}

void add(sources::EventSorter& sorter, const PlainEvent& event) {
  sorter.begin();
  if (event.number) sorter.integer(0, *event.number);
  if (event.id) sorter.unsigned_integer(1, *event.id);
  if (event.real) sorter.real(2, *event.real);
  if (event.text) sorter.text(3, *event.text);
  sorter.commit(event.track, event.start, event.duration, event.name);
}

std::vector<PlainEvent> merged(sources::EventSorter& sorter) {
  std::vector<PlainEvent> events;
  const Result<void> done = sorter.merge([&](const sources::SortedEvent& event) {
    PlainEvent plain{.track = event.track, .start = event.start, .duration = event.duration, .name = event.name};
    if (event.has(0)) plain.number = event.int64(0);
    if (event.has(1)) plain.id = event.uint64(1);
    if (event.has(2)) plain.real = event.float64(2);
    if (event.has(3)) plain.text = std::string(event.text(3));
    events.push_back(std::move(plain));
    return true;
  });
  REQUIRE(done.ok());
  return events;
}

}  // namespace

TEST_CASE("sorting through runs and a temporary file equals a stable sort in memory") {
  std::mt19937_64 random(11);
  for (int round = 0; round < 20; ++round) {
    const std::size_t count = random() % 30000;
    // From everything in the file to everything in memory, from many runs to one.
    sources::ChunkSpill spill(round % 3 == 0 ? 0 : round % 3 == 1 ? 100'000 : 1U << 30);
    sources::EventSorter sorter(sorted_schema(), spill, {.batch_bytes = std::size_t{1} << (12 + random() % 12)});
    std::vector<PlainEvent> expected;
    for (std::size_t i = 0; i < count; ++i) {
      expected.push_back(random_event(random, static_cast<StringId>(i)));
      add(sorter, expected.back());
      if (random() % 5000 == 0) REQUIRE(sorter.flush().ok());
    }
    std::stable_sort(expected.begin(), expected.end(), [](const PlainEvent& a, const PlainEvent& b) {
      return std::tuple(a.track, a.start, -a.duration) < std::tuple(b.track, b.start, -b.duration);
    });
    CHECK(sorter.event_count() == count);
    CHECK(merged(sorter) == expected);
    CHECK((round % 3 != 0 || count == 0 || spill.file_bytes() > 0));
  }
}

TEST_CASE("an event that was begun and not committed leaves no trace") {
  sources::ChunkSpill spill(1U << 20);
  sources::EventSorter sorter(sorted_schema(), spill, {});
  sorter.begin();
  sorter.text(3, "never seen");
  sorter.integer(0, 7);
  const PlainEvent retained{.track = 1, .start = 2, .duration = 3, .name = 4, .text = "kept"};
  add(sorter, retained);
  CHECK(merged(sorter) == std::vector{retained});
}

}  // namespace accelscope::capture
