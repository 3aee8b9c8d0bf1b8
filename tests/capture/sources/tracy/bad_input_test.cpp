// Traces that are cut, damaged, of other versions, or claim what they do not hold.
#include <fmt/format.h>

#include <algorithm>
#include <random>

#include "tests/capture/sources/tracy/imported_trace.h"
#include "tests/capture/wire/wire_support.h"

namespace accelscope::capture {
namespace {

// Everything before the texts, as 0.10 has it.
void write_head(test::TracyPacker& out) {
  out.bytes("tracy\0\xa\0", 8);
  for (int i = 0; i < 7; ++i) out.number<std::uint64_t>(0);
  out.number<std::uint8_t>(0);
  for (int i = 0; i < 4; ++i) out.number<std::uint32_t>(0);
  out.number<std::uint8_t>(0);
  for (int i = 0; i < 2; ++i) out.text("name");
  for (int i = 0; i < 2; ++i) out.number<std::uint64_t>(0);
  out.text("host");
  out.number<std::uint64_t>(0);
  out.bytes(std::string(28, '\0').data(), 28);
  out.number<std::uint64_t>(1);
  out.number<std::uint64_t>(0);
  out.number<std::uint8_t>(1);
  out.number<std::uint64_t>(1);
  out.number<std::uint64_t>(7);
  out.number<std::int32_t>(-1);
}

}  // namespace

TEST_CASE("a trace cut anywhere holds what came before, and says what is missing") {
  const test::TracyModel model = test::rich_tracy_model(3);
  const std::string whole = test::tracy_trace_of_zones(15'000, {});
  const std::vector<std::string> all = zone_lines(import_tracy_trace(whole));
  std::size_t before = 0;
  for (std::size_t size = 1; size < whole.size(); size += whole.size() / 60) {
    CAPTURE(size);
    const std::string failure = failure_of_tracy(std::string_view(whole).substr(0, size));
    if (!failure.empty()) {
      CHECK(contains(failure, "run.tracy: "));
      continue;
    }
    const Imported session = import_tracy_trace(std::string_view(whole).substr(0, size));
    REQUIRE(session.quality("truncated") != nullptr);
    CHECK(contains(session.quality("truncated")->detail, "the trace ends within zones of threads"));
    CHECK(contains(session.quality("truncated")->detail, "GPU zones, plots, memory"));
    const std::vector<std::string> found = zone_lines(session);
    // But for the zone at the cut, whose end is not known.
    std::vector<std::string> further;
    std::set_difference(found.begin(), found.end(), all.begin(), all.end(), std::back_inserter(further));
    CHECK(further.size() <= 2);
    CHECK(found.size() + 2 >= before);
    before = found.size();
  }
  CHECK(before > all.size() / 2);
}

TEST_CASE("every prefix of a small trace in small blocks is read or refused") {
  // One block holds it all, so it is cut where it is not packed: a block for each byte count.
  const test::TracyModel model = test::rich_tracy_model(4);
  std::string file = test::tracy_trace(model, {13, 4}, {true, 1});
  for (std::size_t size = 0; size < file.size(); size += 7) {
    CAPTURE(size);
    const std::string failure = failure_of_tracy(std::string_view(file).substr(0, size));
    CHECK((failure.empty() || contains(failure, "run.tracy: ")));
  }
}

TEST_CASE("flipped bytes never crash an import, and what is lost is told") {
  std::mt19937_64 random(8);
  const test::TracyModel model = test::rich_tracy_model(5);
  for (int round = 0; round < 300; ++round) {
    CAPTURE(round);
    std::string file = test::tracy_trace(model, {static_cast<std::uint8_t>(9 + round % 6), 4},
                                         {round % 2 == 0, static_cast<std::uint8_t>(round % 3)});
    for (int flips = 1 + round % 4; flips > 0; --flips) {
      file[8 + random() % (file.size() - 8)] ^= static_cast<char>(1 + random() % 255);
    }
    const std::string failure = failure_of_tracy(file);
    CHECK((failure.empty() || contains(failure, "run.tracy: ")));
  }
}

TEST_CASE("counts that a file only claims cost neither memory nor time") {
  constexpr std::uint64_t kHuge = std::uint64_t{1} << 62;
  for (int place = 0; place < 3; ++place) {
    CAPTURE(place);
    test::TracyPacker out({true, 1});
    write_head(out);
    out.number<std::uint64_t>(place == 0 ? kHuge : 1);  // texts
    out.number<std::uint64_t>(4096);
    out.number<std::uint64_t>(place == 1 ? kHuge : 4);
    out.bytes("text", 4);
    out.number<std::uint64_t>(kHuge);
    const Imported session = import_tracy_trace(out.finish());
    CHECK(session.count("tracy_frame") == 1);
    REQUIRE(session.quality("truncated") != nullptr);
    CHECK(contains(session.quality("truncated")->detail, "the trace ends within texts"));
  }
}

TEST_CASE("zones that lie in one another without end are given up") {
  test::TracyPacker out({true, 1});
  write_head(out);
  for (int i = 0; i < 6; ++i) out.number<std::uint64_t>(0);  // texts, what refers to them, threads
  for (int i = 0; i < 5; ++i) out.number<std::uint64_t>(0);  // places, counts
  for (int i = 0; i < 3; ++i) out.number<std::uint64_t>(0);  // locks, messages, texts of zones
  for (int i = 0; i < 2; ++i) out.number<std::uint64_t>(0);
  out.number<std::uint64_t>(1);
  for (int i = 0; i < 3; ++i) out.number<std::uint64_t>(1);
  out.number<std::uint8_t>(0);
  out.number<std::uint32_t>(1);
  for (int i = 0; i < 200'000; ++i) {
    out.number<std::int16_t>(0);
    out.number<std::int64_t>(1);
    out.number<std::uint32_t>(0);
    out.number<std::uint32_t>(1);
  }
  const Imported session = import_tracy_trace(out.finish());
  CHECK(session.count("tracy_zone") == 1024);
  CHECK(quality_count(session, "too_many_overlaps") > 60'000);
  REQUIRE(session.quality("truncated") != nullptr);
  CHECK(contains(session.quality("truncated")->detail, "deeper than any program calls"));
  CHECK(quality_count(session, "missing_source_locations") == 1);
}

TEST_CASE("versions that are not known are refused, with what to try") {
  const auto of_version = [](std::uint8_t minor) {
    test::TracyPacker out({});
    out.bytes("tracy", 5);
    out.number<std::uint8_t>(0);
    out.number(minor);
    out.number<std::uint8_t>(7);
    for (int i = 0; i < 100; ++i) out.number<std::uint64_t>(0);
    return failure_of_tracy(out.finish());
  };
  CHECK(contains(of_version(8), "run.tracy: a trace of Tracy 0.8.7, and those of 0.9 to 0.14 are read"));
  CHECK(contains(of_version(8), "tracy-update"));
  CHECK(contains(of_version(15), "tracy-csvexport"));
  CHECK(contains(failure_of_tracy("tlZ\x04"), "no trace of Tracy"));
  CHECK(contains(failure_of_tracy("tr\xfdP\7\1abc"), "neither LZ4 nor zstd"));
  CHECK(contains(failure_of_tracy("PK\3\4"), "does not begin as a file of Tracy does"));
  CHECK(contains(failure_of_tracy(""), "does not begin as a file of Tracy does"));
}

TEST_CASE("zones that end before they begin, or overlap where they cannot, are mended and counted") {
  test::TracyModel model;
  model.last_time = 1000;
  model.places = {{"a", "a", "a.cpp", 1}};
  model.threads = {{.id = 5,
                    .name = "t",
                    .zones = {{.place = 0, .begin = 100, .end = 200},
                              {.place = 0, .begin = 150, .end = 300},
                              {.place = 0, .begin = 400, .end = 350}}}};
  const Imported session = import_tracy_trace(test::tracy_trace(model, {10, 0}));
  CHECK(session.count("tracy_zone") == 3);
  CHECK(quality_count(session, "rows_mended") == 1);
  CHECK(quality_count(session, "negative_duration") == 1);
}

}  // namespace accelscope::capture
