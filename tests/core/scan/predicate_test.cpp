#include "core/scan/predicate.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <functional>
#include <limits>
#include <random>
#include <set>

#include "core/scan/chunk_cache.h"
#include "core/scan/event_mask.h"
#include "core/search/filter_mask.h"
#include "tests/core/random_session.h"

using namespace accelscope;

namespace {

using Source = ValuePlace::Source;
using Accepts = std::function<bool(const PlainEvent&)>;

// One condition in both forms: as a predicate takes it for a lane, and as plain code.
struct Asked {
  std::function<void(LanePredicate&)> add;
  Accepts accepts;
};

class RandomConditions {
 public:
  RandomConditions(RandomSession& session, std::uint32_t seed) : session_(session), random_(seed) {}

  Asked one() {
    switch (random_() % 8) {
      case 0:
        return whole(Source::begin, [](const PlainEvent& e) { return e.begin_ns; });
      case 1:
        return whole(Source::end, [](const PlainEvent& e) { return e.end_ns; });
      case 2:
        return whole(Source::duration, [](const PlainEvent& e) { return e.end_ns - e.begin_ns; });
      case 3:
        return whole(Source::id, [](const PlainEvent& e) { return static_cast<std::int64_t>(e.id); });
      case 4:
        return strings({.source = Source::name, .type = ColumnType::string}, random_() % 2 == 0 ? "mat" : "_1",
                       [](const PlainEvent& e) { return e.name_text; });
      case 5:
        return strings({.source = Source::column, .column = 0, .type = ColumnType::string},
                       ":" + std::to_string(random_() % 20), [](const PlainEvent& e) { return e.location; });
      case 6:
        return bytes();
      default: {
        const bool none = random_() % 2 == 0;
        return {[none](LanePredicate& predicate) { predicate.add(bytes_of(predicate), AnyValue(), none); },
                [none](const PlainEvent& e) { return (e.bytes < 0) == none; }};
      }
    }
  }

 private:
  [[nodiscard]] bool coin() { return random_() % 2 == 0; }
  [[nodiscard]] const PlainEvent& event() { return session_.events[random_() % session_.events.size()]; }
  [[nodiscard]] static ValuePlace bytes_of(const LanePredicate& predicate) {
    return {.source = Source::column, .column = 1, .type = predicate.lane().schema->columns[1].type};
  }
  // One or two stretches between values that there are; now and then an empty one or one without an end.
  [[nodiscard]] std::vector<IntegerBounds> stretches(const std::function<std::int64_t(const PlainEvent&)>& value) {
    std::vector<IntegerBounds> all;
    for (std::uint64_t i = random_() % 3 == 0 ? 0 : 1; i < 2; ++i) {
      IntegerBounds bounds{value(event()), value(event())};
      if (bounds.empty() && random_() % 8 != 0) std::swap(bounds.min, bounds.max);
      if (random_() % 5 == 0) bounds.max = IntegerBounds::kGreatest;
      if (random_() % 5 == 0) bounds.min = IntegerBounds::kLeast;
      all.push_back(bounds);
    }
    return all;
  }
  [[nodiscard]] static bool any_holds(const std::vector<IntegerBounds>& all, std::int64_t value) {
    return std::any_of(all.begin(), all.end(), [value](const auto& bounds) { return bounds.holds(value); });
  }

  Asked whole(Source source, std::function<std::int64_t(const PlainEvent&)> value) {
    const std::vector<IntegerBounds> all = stretches(value);
    const bool negated = random_() % 4 == 0;
    return {[=](LanePredicate& predicate) { predicate.add({.source = source}, all, negated); },
            [=](const PlainEvent& e) { return any_holds(all, value(e)) != negated; }};
  }
  // Events without bytes meet neither this nor its opposite.
  Asked bytes() {
    const std::vector<IntegerBounds> all =
        stretches([](const PlainEvent& e) { return std::max<std::int64_t>(e.bytes, 0); });
    const bool negated = coin();
    return {[=](LanePredicate& predicate) {
              const ValuePlace place = bytes_of(predicate);
              if (place.type == ColumnType::int64) return predicate.add(place, all, negated);
              std::vector<UnsignedBounds> of_unsigned;
              for (const IntegerBounds& bounds : all) {
                UnsignedBounds& made = of_unsigned.emplace_back();
                if (bounds.max < 0 || bounds.empty()) {
                  made.clear();
                } else {
                  made = {static_cast<std::uint64_t>(std::max<std::int64_t>(bounds.min, 0)),
                          static_cast<std::uint64_t>(bounds.max)};
                }
              }
              predicate.add(place, of_unsigned, negated);
            },
            [=](const PlainEvent& e) { return e.bytes >= 0 && any_holds(all, e.bytes) != negated; }};
  }
  Asked strings(const ValuePlace& place, const std::string& part, std::function<std::string(const PlainEvent&)> text) {
    const bool negated = coin();
    const auto contains = [part](std::string_view in) { return in.find(part) != std::string_view::npos; };
    const std::shared_ptr<const StringTest> test = std::make_shared<StringTest>(contains, *session_.snapshot->strings);
    const bool may_lack = place.source == Source::column;
    return {[=](LanePredicate& predicate) { predicate.add(place, test, negated); },
            [=](const PlainEvent& e) { return !(may_lack && text(e).empty()) && contains(text(e)) != negated; }};
  }

  RandomSession& session_;
  std::mt19937_64 random_;
};

// All that a predicate finds in its lane, by way of everything that leaves out chunks and blocks.
std::set<EventId> found_by(const RandomSession& session, const LanePredicate& predicate) {
  std::set<EventId> found;
  const StringMap strings(session.snapshot->strings->scope_map(scope_of(predicate.lane().number())));
  BlockReader reader;
  const ChunkSpan span = predicate.chunks();
  for (std::uint32_t chunk = span.first; chunk < span.last; ++chunk) {
    const ChunkPart part = predicate.part(chunk);
    if (!part.any || !predicate.names_may_match(chunk)) continue;
    const auto loaded = load_chunk(*session.store, predicate.lane(), chunk);
    REQUIRE(loaded.ok());
    if (!predicate.may_match(loaded->view)) continue;
    reader.open(predicate.lane(), strings, predicate.lane().chunk(chunk), loaded->view);
    for (std::uint32_t block = 0; block < loaded->view.block_count(); ++block) {
      reader.seek(block);
      for (std::uint64_t left = predicate.matches(reader, part); left != 0; left &= left - 1) {
        found.insert(reader.id(static_cast<std::uint32_t>(std::countr_zero(left))));
      }
    }
  }
  return found;
}

}  // namespace

TEST_CASE("predicate: finds the very events that plain code finds, whatever is asked, with a mask and without") {
  RandomSession session(41, 4000);
  RandomConditions conditions(session, 7);
  const auto mask = search::event_mask(session.context(), {.terms = {{"bytes>=3000"}}});
  REQUIRE(mask.ok());
  std::size_t all_found = 0;
  for (int round = 0; round < 80; ++round) {
    CAPTURE(round);
    std::vector<Asked> asked;
    for (int i = 0; i <= round % 3; ++i) asked.push_back(conditions.one());
    const bool masked = round % 4 == 3;
    std::set<EventId> expected;
    for (const PlainEvent& event : session.events) {
      if (masked && event.bytes < 3000) continue;
      if (std::all_of(asked.begin(), asked.end(), [&](const Asked& each) { return each.accepts(event); }))
        expected.insert(event.id);
    }
    std::set<EventId> found;
    for (std::uint32_t i = 0; i < session.snapshot->lanes.size(); ++i) {
      LanePredicate predicate(session.snapshot->lanes[i], i, masked ? mask->get() : nullptr);
      for (const Asked& each : asked) each.add(predicate);
      found.merge(found_by(session, predicate));
    }
    CHECK(found == expected);
    all_found += found.size();
  }
  CHECK(all_found > 50'000);
}

TEST_CASE("predicate: what is not a number is no value, so neither a condition nor its opposite holds for it") {
  auto store = std::move(Store::create()).value();
  {
    StoreSink sink(*store);
    SessionWriter writer(sink);
    Schema schema;
    schema.name = "sample";
    schema.columns = {{.name = "level", .type = ColumnType::float64}};
    const TrackNumber track = writer.add_track({.name = "t", .schema = writer.add_schema(schema)});
    const double levels[] = {1.5, std::numeric_limits<double>::quiet_NaN(), -std::numeric_limits<double>::infinity()};
    for (std::int64_t i = 0; i < 4; ++i) {
      Row row = writer.begin_event(track, i * 10, 5, writer.intern("e"));
      if (i < 3) row.real(0, levels[i]);
    }
    REQUIRE(writer.finish().ok());
  }
  const auto snapshot = store->snapshot();
  const LaneSnapshot& lane = snapshot->lanes.at(0);
  const auto loaded = load_chunk(*store, lane, 0);
  REQUIRE(loaded.ok());
  const StringMap strings(snapshot->strings->scope_map(scope_of(lane.number())));
  const auto bits = [&](const ValueTest& test, bool negated) {
    LanePredicate predicate(lane, 0, nullptr);
    predicate.add({.source = Source::column, .column = 0, .type = ColumnType::float64}, test, negated);
    BlockReader reader;
    reader.open(lane, strings, lane.chunk(0), loaded->view);
    reader.seek(0);
    return predicate.matches(reader, predicate.part(0));
  };
  CHECK(bits(within(RealBounds{1, 2}), false) == 0b0001);
  CHECK(bits(within(RealBounds{1, 2}), true) == 0b0100);
  CHECK(bits(within(RealBounds()), false) == 0b0101);
  CHECK(bits(AnyValue(), false) == 0b0101);
  CHECK(bits(AnyValue(), true) == 0b1010);
}
