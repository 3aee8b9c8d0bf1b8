#include "core/colour/event_colours.h"

#include <doctest/doctest.h>

#include <cmath>
#include <functional>
#include <map>

#include "core/colour/builder.h"
#include "tests/core/random_session.h"

using namespace accelscope;
using namespace accelscope::colour;

namespace {

using ColourOf = std::function<std::uint32_t(const PlainEvent&)>;

std::shared_ptr<const EventColours> colours_for(QueryContext query, const ColourChoice& choice,
                                                const EventColours* previous = nullptr) {
  auto colours = event_colours(query, choice, previous);
  REQUIRE_MESSAGE(colours.ok(), (colours.ok() ? "" : colours.message()));
  return *colours;
}

// Red, green, blue by weight; what the mean colour of some events should be.
struct Mean {
  double channel[3] = {0, 0, 0};
  double weight = 0;
  void add(std::uint32_t colour, double amount) {
    for (int i = 0; i < 3; ++i) channel[i] += amount * (colour >> (16 - 8 * i) & 0xff);
    weight += amount;
  }
  [[nodiscard]] bool near(std::uint32_t colour, double tolerance) const {
    for (int i = 0; i < 3; ++i) {
      if (std::abs(channel[i] / weight - (colour >> (16 - 8 * i) & 0xff)) > tolerance) return false;
    }
    return true;
  }
};

// Every event's colour, the mean of every leaf, and the nodes above against all the events below them.
void check_colours(const RandomSession& session, const EventColours& colours, const ColourOf& colour_of) {
  std::uint64_t wrong = 0;
  std::size_t first = 0;
  for (std::uint32_t i = 0; i < session.snapshot->lanes.size(); ++i) {
    const LaneSnapshot& lane = session.snapshot->lanes[i];
    const LaneColours* lane_colours = colours.lane(i);
    if (lane_colours == nullptr) {
      first += lane.event_count;
      continue;
    }
    std::vector<Mean> busy(lane.tree.nodes[0]), waits(lane.tree.nodes[0]), instants(lane.tree.nodes[0]);
    std::size_t event = first;
    for (std::uint32_t c = 0; c < lane.chunk_count; ++c) {
      for (std::uint32_t row = 0; row < lane.chunk(c).count; ++row, ++event) {
        const PlainEvent& plain = session.events[event];
        const std::uint32_t leaf = lane.chunk(c).first_leaf + row / kBlockEvents;
        wrong += lane_colours->event(leaf, row % kBlockEvents) != colour_of(plain) ? 1 : 0;
        const auto ticks = static_cast<double>(plain.end_ticks - plain.begin_ticks);
        (plain.waits ? waits : busy)[leaf].add(colour_of(plain), ticks);
        if (!plain.waits) instants[leaf].add(colour_of(plain), 1);
      }
    }
    CHECK(wrong == 0);
    for (std::size_t leaf = 0; leaf < busy.size(); ++leaf) {
      const Mean& mean = busy[leaf].weight > 0 ? busy[leaf] : waits[leaf].weight > 0 ? waits[leaf] : instants[leaf];
      if (mean.weight > 0) wrong += mean.near(lane_colours->node(0, leaf), 0.51) ? 0 : 1;
    }
    CHECK(wrong == 0);
    std::size_t width = kTreeFanout;
    for (std::size_t level = 1; level < kTreeLevels; ++level, width *= kTreeFanout) {
      for (std::size_t node = 0; node < lane.tree.nodes[level]; ++node) {
        Mean all;
        for (std::size_t leaf = node * width; leaf < (node + 1) * width; ++leaf) {
          if (busy[leaf].weight > 0) all.add(lane_colours->node(0, leaf), busy[leaf].weight + 1);
        }
        wrong += all.near(lane_colours->node(level, node), 3) ? 0 : 1;
      }
    }
    CHECK(wrong == 0);
    first += lane.event_count;
  }
}

bool is_table(const RandomSession& session, const PlainEvent& event, std::string_view table) {
  return session.snapshot->lanes[event.lane].schema->name == table;
}

NumberHistogram histogram_of(std::initializer_list<double> values) {
  NumberHistogram histogram;
  for (const double value : values) histogram.add(value);
  return histogram;
}

}  // namespace

TEST_CASE("event colours: by name they are those that the tree has, node by node") {
  RandomSession session(31, 9'000);
  const auto colours = colours_for(session.context(), {{"instruction", "name"}, {"dma", "name"}});
  std::uint64_t wrong = 0;
  std::uint64_t nodes = 0;
  for (std::uint32_t i = 0; i < session.snapshot->lanes.size(); ++i) {
    const LaneSnapshot& lane = session.snapshot->lanes[i];
    REQUIRE(colours->lane(i) != nullptr);
    for (std::size_t level = 0; level < kTreeLevels; ++level) {
      for (std::size_t node = 0; node < lane.tree.nodes[level]; ++node, ++nodes) {
        wrong += colours->lane(i)->node(level, node) != lane.data->slices.node(level, node).colour ? 1 : 0;
      }
    }
  }
  CHECK(nodes > 1000);
  CHECK(wrong == 0);
}

TEST_CASE("event colours: text has the slot of its text, and what has none the one colour of no value") {
  RandomSession session(32, 9'000);
  const auto colours = colours_for(session.context(), {{"instruction", "line"}});
  std::map<std::string, ColourValue> expected;
  for (const PlainEvent& event : session.events) {
    if (!is_table(session, event, "instruction")) continue;
    ++expected[event.location].events;
  }
  check_colours(session, *colours, [](const PlainEvent& event) {
    return event.location.empty() ? kNoValueColour : kSlicePalette[palette_slot(event.location)];
  });
  for (std::uint32_t i = 0; i < session.snapshot->lanes.size(); ++i) {
    CHECK((colours->lane(i) != nullptr) == (session.snapshot->lanes[i].schema->name == "instruction"));
  }
  REQUIRE(colours->tables().size() == 1);
  const ColourTable& table = *colours->table("instruction");
  CHECK(table.values.size() == expected.size());
  std::uint64_t ns = 0;
  for (std::size_t i = 0; i < table.values.size(); ++i) {
    const ColourValue& value = table.values[i];
    CHECK(value.missing == (i + 1 == table.values.size()));
    CHECK(value.events == expected[value.missing ? "" : value.text].events);
    if (i > 0 && !value.missing) CHECK(value.ns <= table.values[i - 1].ns);
    ns += value.ns;
  }
  CHECK(table.ns == ns);
}

TEST_CASE("event colours: numbers have steps in their order, and each step counts what lies in it") {
  RandomSession session(33, 9'000);
  const auto colours = colours_for(session.context(), {{"instruction", "bytes"}, {"dma", "bytes"}});
  for (const char* name : {"instruction", "dma"}) {
    CAPTURE(name);
    const ColourTable& table = *colours->table(name);
    CHECK(table.ordered);
    REQUIRE(table.values.size() >= 4);
    CHECK(table.values.size() <= kMostSteps + 1);
    for (const ColourValue& value : table.values) {
      std::uint64_t events = 0;
      for (const PlainEvent& event : session.events) {
        if (!is_table(session, event, name) || value.missing != (event.bytes < 0)) continue;
        const auto bytes = static_cast<double>(event.bytes);
        events += value.missing || (bytes >= value.from.value_or(-1) && bytes < value.below.value_or(1e18)) ? 1 : 0;
      }
      CAPTURE(value.text);
      CHECK(value.events == events);
    }
  }
  check_colours(session, *colours, [&](const PlainEvent& event) {
    if (event.bytes < 0) return kNoValueColour;
    for (const ColourValue& value : colours->table(session.snapshot->lanes[event.lane].schema->name)->values) {
      if (!value.missing && static_cast<double>(event.bytes) < value.below.value_or(1e18)) return value.colour;
    }
    return std::uint32_t{0};
  });
}

TEST_CASE("event colours: few whole numbers without a unit are ids of their own, many have steps") {
  auto store = std::move(Store::create()).value();
  StoreSink sink(*store);
  SessionWriter writer(sink);
  const SchemaNumber schema = writer.add_schema({.name = "dma", .columns = {{.name = "engine"}}});
  const TrackNumber track = writer.add_track({.name = "q", .kind = "dma_queue", .schema = schema});
  WorkerPool pool{2};
  TaskControl control;
  std::int64_t at = 0;
  const auto add = [&](std::int64_t engine, std::int64_t length) {
    writer.begin_event(track, at, length, writer.intern("copy")).integer(0, engine);
    at += length;
  };
  for (std::int64_t i = 0; i < 200; ++i) add(i % 14 - 1, i % 14 == 5 ? 50 : 3);
  writer.flush();
  const auto few = colours_for({*store, store->snapshot(), pool, control}, {{"dma", "engine"}});
  const ColourTable& ids = *few->table("dma");
  CHECK_FALSE(ids.ordered);
  REQUIRE(ids.values.size() == 14);
  CHECK(ids.values[0].text == "4");
  CHECK(ids.values[0].events == 14);
  CHECK(ids.values[0].ns == 14 * 50);
  CHECK(few->lane(0)->event(0, 5) == kSlicePalette[4]);
  CHECK(few->lane(0)->event(0, 0) == kSlicePalette[11]);  // -1

  for (std::int64_t i = 0; i < 100; ++i) add(i, 3);
  writer.flush();
  const QueryContext query{*store, store->snapshot(), pool, control};
  const auto many = colours_for(query, {{"dma", "engine"}}, few.get());
  CHECK(many->table("dma")->ordered);
  CHECK(many->table("dma")->events == 300);
  CHECK(many->lane(0)->event(0, 0) == kStepPalette[0]);
  CHECK(many->lane(0)->node(0, 0) == colours_for(query, {{"dma", "engine"}})->lane(0)->node(0, 0));
}

TEST_CASE("event colours: durations are numbers too, and a column that a table lacks leaves it without values") {
  RandomSession session(34, 3'000);
  const auto colours =
      colours_for(session.context(), {{"instruction", "duration"}, {"dma", "nosuch"}, {"nosuch", "name"}});
  REQUIRE(colours->tables().size() == 2);
  const ColourTable& table = *colours->table("instruction");
  for (const ColourValue& value : table.values) {
    std::uint64_t events = 0;
    for (const PlainEvent& event : session.events) {
      const auto ns = static_cast<double>(event.end_ns - event.begin_ns);
      if (!is_table(session, event, "instruction")) continue;
      events += ns >= value.from.value_or(-1) && ns < value.below.value_or(1e18) ? 1 : 0;
    }
    CHECK(value.events == events);
  }
  const ColourTable& none = *colours->table("dma");
  REQUIRE(none.values.size() == 1);
  CHECK(none.values[0].missing);
}

TEST_CASE("event colours: a session that grew has the colours of one read at once, also when the steps move") {
  auto store = std::move(Store::create()).value();
  StoreSink sink(*store);
  SessionWriter writer(sink);
  const SchemaNumber schema = writer.add_schema({.name = "dma",
                                                 .columns = {{.name = "queue", .type = ColumnType::string},
                                                             {.name = "size", .type = ColumnType::int64, .unit = "B"},
                                                             {.name = "note", .type = ColumnType::text}}});
  const TrackNumber track = writer.add_track({.name = "q", .kind = "dma_queue", .schema = schema});
  WorkerPool pool{2};
  TaskControl control;
  std::mt19937_64 random(5);
  std::shared_ptr<const EventColours> grown;
  const ColourChoice choices[] = {{{"dma", "queue"}}, {{"dma", "size"}}, {{"dma", "note"}}};
  std::map<std::string, std::shared_ptr<const EventColours>> last;
  std::int64_t at = 0;
  for (int round = 0; round < 6; ++round) {
    const int events = 100 + static_cast<int>(random() % 2000);
    for (int i = 0; i < events; ++i) {
      const auto length = static_cast<std::int64_t>(random() % 50);
      Row row = writer.begin_event(track, at, length, writer.intern("copy"));
      row.string(0, writer.intern("q" + std::to_string(random() % 30)));
      row.integer(1, static_cast<std::int64_t>(random() % (std::uint64_t{16} << (4 * round))));
      row.text(2, "n" + std::to_string(random() % 12));
      at += length;
    }
    writer.flush();
    const QueryContext query{*store, store->snapshot(), pool, control};
    for (const ColourChoice& choice : choices) {
      auto& previous = last[choice.begin()->second];
      const auto more = colours_for(query, choice, previous.get());
      const auto anew = colours_for(query, choice);
      const LaneSnapshot& lane = query.snapshot->lanes[0];
      std::uint64_t wrong = 0;
      for (std::size_t level = 0; level < kTreeLevels; ++level) {
        for (std::size_t node = 0; node < lane.tree.nodes[level]; ++node) {
          wrong += more->lane(0)->node(level, node) != anew->lane(0)->node(level, node) ? 1 : 0;
        }
      }
      for (std::uint32_t leaf = 0; leaf < lane.tree.nodes[0]; ++leaf) {
        for (std::uint32_t i = 0; i < kBlockEvents; ++i) {
          wrong += more->lane(0)->event(leaf, i) != anew->lane(0)->event(leaf, i) ? 1 : 0;
        }
      }
      CHECK(wrong == 0);
      const ColourTable& a = more->tables()[0];
      const ColourTable& b = anew->tables()[0];
      REQUIRE(a.values.size() == b.values.size());
      for (std::size_t i = 0; i < a.values.size(); ++i) {
        CHECK(a.values[i].text == b.values[i].text);
        CHECK(a.values[i].events == b.values[i].events);
        CHECK(a.values[i].ns == b.values[i].ns);
      }
      CHECK(more->id() != anew->id());
      previous = more;
    }
  }
}

TEST_CASE("colour scale: cuts are few and round, by powers where numbers span a factor of 16") {
  const NumberKind bytes{.whole = true, .binary = true};
  const NumberKind whole{.whole = true};
  CHECK(scale_cuts(histogram_of({1024, 4096, 65536}), bytes) ==
        std::vector<double>{2048, 4096, 8192, 16384, 32768, 65536});
  CHECK(scale_cuts(histogram_of({1, 1e6}), whole) == std::vector<double>{10, 100, 1000, 1e4, 1e5, 1e6});
  CHECK(scale_cuts(histogram_of({0, 0, 0, 3, 2000}), whole) == std::vector<double>{10, 30, 100, 300, 1000});
  CHECK(scale_cuts(histogram_of({3, 4, 5}), whole) == std::vector<double>{4, 5});
  CHECK(scale_cuts(histogram_of({1000000, 1000010}), whole) ==
        std::vector<double>{1000002, 1000004, 1000006, 1000008, 1000010});
  CHECK(scale_cuts(histogram_of({0.1, 0.4}), {}) == std::vector<double>{0.15, 0.2, 0.25, 0.3, 0.35, 0.4});
  CHECK(scale_cuts(histogram_of({-40, 20}), whole) == std::vector<double>{-30, -20, -10, 0, 10, 20});
  CHECK(scale_cuts(histogram_of({7, 7, 7}), whole).empty());
  CHECK(scale_cuts(histogram_of({}), whole).empty());
  NumberHistogram nearly;  // one in ten thousand differs
  for (int i = 0; i < 10'000; ++i) nearly.add(5);
  nearly.add(900);
  CHECK_FALSE(scale_cuts(nearly, whole).empty());
}

TEST_CASE("colour scale: the least and the largest numbers that there are do not hold the colours up") {
  CHECK(scale_cuts(histogram_of({0, 5e-324}), {}).empty());
  CHECK(scale_cuts(histogram_of({2e307, 1.7e308}), {}) ==
        std::vector<double>{4e307, 6e307, 8e307, 1e308, 1.2e308, 1.4e308, 1.6e308});
}

TEST_CASE("colour scale: any numbers give at most eight steps, ascending and none of them beyond the numbers") {
  std::mt19937_64 random(9);
  for (int round = 0; round < 300; ++round) {
    NumberHistogram histogram;
    const bool whole = round % 2 == 0;
    const double scale = std::pow(10.0, static_cast<double>(random() % 30) - (whole ? 0 : 15));
    const double offset = random() % 3 == 0 ? -scale : static_cast<double>(random() % 3) * scale * 1e3;
    for (int i = 0; i < 200; ++i) {
      const double value = offset + scale * std::pow(static_cast<double>(random() % 1000) / 1000, 1 + round % 6);
      histogram.add(whole ? std::round(std::min(value, 9e18)) : value);
    }
    const auto cuts = scale_cuts(histogram, {.whole = whole, .binary = round % 3 == 0});
    CHECK(cuts.size() < kMostSteps);
    for (std::size_t i = 0; i < cuts.size(); ++i) {
      CHECK(cuts[i] > (i > 0 ? cuts[i - 1] : histogram.min()));
      CHECK(cuts[i] <= histogram.max());
      if (whole) CHECK(cuts[i] == std::floor(cuts[i]));
    }
  }
}

TEST_CASE("colour scale: a step says its bounds in the unit, and its number where it holds but one") {
  const std::vector<double> cuts = {1024, 4096};
  CHECK(step_text(cuts, 0, {.whole = true, .binary = true}, "B") == "< 1 KiB");
  CHECK(step_text(cuts, 1, {.whole = true, .binary = true}, "B") == "1 KiB – 4 KiB");
  CHECK(step_text(cuts, 2, {.whole = true, .binary = true}, "B") == "≥ 4 KiB");
  CHECK(step_text({3, 4, 5}, 1, {.whole = true}, "") == "3");
  CHECK(step_text({1000, 20000}, 1, {.whole = true}, "ns") == "1 µs – 20 µs");
  CHECK(step_text({}, 0, {}, "") == "all");
}
