// A log that is followed while it is written gives what the import of the finished file gives.
#include "capture/sources/tt_metal/follower.h"

#include <fmt/format.h>

#include <random>

#include "tests/capture/sources/tt_metal/followed_log.h"

namespace accelscope::capture {
namespace {

using FollowerSteps = std::function<void(sources::tt_metal::DeviceLogFollower&)>;

Imported follow(const FollowerSteps& steps) {
  return Imported::by([&](EventSink& sink) -> Result<void> {
    SessionWriter writer(sink);
    sources::tt_metal::DeviceLogFollower follower("profile_log_device.csv", writer, {});
    steps(follower);
    if (Result<void> done = follower.finish(); !done) return done;
    return writer.finish();
  });
}

std::string failure_of(const FollowerSteps& steps) {
  const auto store = std::move(Store::create().value());
  StoreSink sink(*store);
  SessionWriter writer(sink);
  sources::tt_metal::DeviceLogFollower follower("log.csv", writer, {});
  steps(follower);
  const Result<void> done = follower.finish();
  return done.ok() ? "" : done.message();
}

std::uint64_t below(std::mt19937_64& random, std::uint64_t limit) { return limit == 0 ? 0 : random() % limit; }

// In pieces of any length, down to a byte.
void feed_in_pieces(sources::tt_metal::DeviceLogFollower& follower, std::string_view text, std::mt19937_64& random) {
  const std::uint64_t most = random() % 2 == 0 ? 50 : 5000;
  while (!text.empty()) {
    const std::size_t count = std::min<std::size_t>(text.size(), 1 + below(random, most));
    follower.feed(text.substr(0, count), 0);
    text.remove_prefix(count);
  }
}

test::TtLogOptions options_of(test::TtLogEra era, std::uint64_t seed) {
  test::TtLogOptions options;
  options.era = era;
  options.chips = 1 + seed % 2;
  options.programs = 6;
  options.programs_per_read = 1 + static_cast<std::uint32_t>(seed % 3);
  options.zones = 5;
  options.totals = options.events = options.counters = options.traced = true;
  options.dispatch = seed % 2 == 0;
  options.seed = seed;
  return options;
}

void check_same_reports(const Imported& followed, const Imported& imported) {
  for (const char* kind : {"unmatched_begins", "unmatched_ends", "duplicate_rows", "rows_skipped", "truncated",
                           "repeated_header", "values_left_out", "impossible_times"}) {
    CAPTURE(kind);
    CHECK(quality_count(followed, kind) == quality_count(imported, kind));
  }
  for (const MetaEntry& entry : imported.snapshot().meta) {
    CAPTURE(entry.key);
    CAPTURE(entry.value);
    if (entry.key.starts_with("shared_clock.")) continue;  // of use among the sources of one import only
    const auto& meta = followed.snapshot().meta;
    CHECK(std::find(meta.begin(), meta.end(), entry) != meta.end());
  }
}

}  // namespace

TEST_CASE("a log that grows by any pieces gives the events of its import, in every era") {
  std::mt19937_64 random(11);
  for (int era = 0; era <= static_cast<int>(test::TtLogEra::h); ++era) {
    for (std::uint64_t seed = 1; seed <= 3; ++seed) {
      CAPTURE(era);
      CAPTURE(seed);
      const std::string text = test::tt_log_text(options_of(static_cast<test::TtLogEra>(era), seed));
      const Imported imported = import_log(text);
      const Imported followed = follow([&](sources::tt_metal::DeviceLogFollower& follower) {
        follower.begin_anew();
        feed_in_pieces(follower, text, random);
      });
      CHECK(log_events(followed) == log_events(imported));
      CHECK(followed.count("zone") > 0);
      check_same_reports(followed, imported);
    }
  }
}

TEST_CASE("markers whose times cannot be true are set aside while a log is followed, as they are by its import") {
  constexpr std::int64_t kUp = 11'017'522'886'706;  // cycles since the reset
  const std::string header = test::tt_log_header(options_of(test::TtLogEra::h, 1));
  const auto row = [](std::string_view type, std::int64_t time, std::string_view name) {
    return fmt::format("0,1,1,BRISC,7,{},0,1,,,{},{},3,a.cc,\n", time, name, type);
  };
  std::mt19937_64 random(15);
  for (const std::int64_t wrong : {std::int64_t{0}, kUp + 200'000'000'000'000}) {
    for (const int at : {0, 5, 9}) {  // where in the log it comes
      CAPTURE(wrong);
      CAPTURE(at);
      std::string text = header;
      for (int i = 0; i < 10; ++i) {
        if (i == at) text += row("ZONE_END", wrong, "BRISC-FW");
        text += row("ZONE_START", kUp + 1000 * i, "BRISC-FW") + row("ZONE_START", kUp + 1000 * i + 10, "BRISC-KERNEL");
        text += row("ZONE_END", kUp + 1000 * i + 400, "BRISC-KERNEL");
        if (i != at) text += row("ZONE_END", kUp + 1000 * i + 500, "BRISC-FW");
      }
      const Imported imported = import_log(text);
      REQUIRE(quality_count(imported, "impossible_times") == 1);
      const Imported followed = follow([&](sources::tt_metal::DeviceLogFollower& follower) {
        follower.begin_anew();
        // A log begins with more than a row.
        const std::size_t first = header.size() + 600;
        follower.feed(std::string_view(text).substr(0, first), 0);
        feed_in_pieces(follower, std::string_view(text).substr(first), random);
      });
      CHECK(log_events(followed) == log_events(imported));
      check_same_reports(followed, imported);
      CHECK(followed.snapshot().end_ns - followed.snapshot().begin_ns ==
            imported.snapshot().end_ns - imported.snapshot().begin_ns);
      CHECK(quality_count(followed, "rows_late") == 0);
    }
  }
}

TEST_CASE("a log with damaged, doubled and cut rows is reported like its import") {
  std::mt19937_64 random(12);
  for (int round = 0; round < 20; ++round) {
    CAPTURE(round);
    const std::string whole = test::tt_log_text(options_of(test::TtLogEra::h, 5));
    std::string text;
    for (std::size_t at = 0; at < whole.size();) {
      const std::string line = whole.substr(at, whole.find('\n', at) + 1 - at);
      at += line.size();
      const std::uint64_t what = text.empty() ? 99 : random() % 60;
      if (what == 0 && text.size() > 400) continue;  // lost
      if (what == 1 && text.size() > 400) text += "0,1,x,BRISC\n";
      if (what == 2 && text.size() > 400) text += line;
      text += line;
    }
    text.resize(text.size() - below(random, 60));
    const Imported imported = import_log(text);
    const Imported followed = follow([&](sources::tt_metal::DeviceLogFollower& follower) {
      follower.begin_anew();
      feed_in_pieces(follower, text, random);
    });
    CHECK(log_events(followed) == log_events(imported));
    check_same_reports(followed, imported);
  }
}

TEST_CASE("a log that is written anew, cut anywhere, gives the events of the file as it is at the end") {
  std::mt19937_64 random(13);
  for (int round = 0; round < 60; ++round) {
    CAPTURE(round);
    const std::string text =
        test::tt_log_text(options_of(test::TtLogEra::h, 1 + static_cast<std::uint64_t>(round % 6)));
    const Imported followed = follow([&](sources::tt_metal::DeviceLogFollower& follower) {
      const std::uint64_t rewrites = 1 + random() % 4;
      for (std::uint64_t i = 0; i < rewrites; ++i) {
        follower.begin_anew();
        feed_in_pieces(follower, std::string_view(text).substr(0, below(random, text.size())), random);
      }
      follower.begin_anew();
      feed_in_pieces(follower, text, random);
    });
    const Imported imported = import_log(text);
    CHECK(log_events(followed) == log_events(imported));
    check_same_reports(followed, imported);
    CHECK(quality_count(followed, "rows_late") == 0);
    CHECK(quality_count(followed, "rows_lost") == 0);
    CHECK(quality_count(followed, "duplicate_rows") == 0);
  }
}

TEST_CASE("zones are handed on before the log ends, at the latest when their writer has paused") {
  const test::TtLogOptions options = options_of(test::TtLogEra::h, 2);
  const std::string text = test::tt_log_text(options);
  const auto store = std::move(Store::create().value());
  StoreSink sink(*store);
  SessionWriter writer(sink);
  sources::tt_metal::DeviceLogFollower follower("log.csv", writer, {});
  const auto zones = [&] {
    writer.flush();
    std::uint64_t count = 0;
    for (const LaneSnapshot& lane : store->snapshot()->lanes)
      count += lane.schema->name == "zone" ? lane.event_count : 0;
    return count;
  };
  follower.begin_anew();
  follower.feed(text, 0);
  const std::size_t all = tt_log_zones(options).size();
  // Of every processor only the last run of its firmware may wait for more.
  CHECK(zones() == all * (options.programs - 1) / options.programs);
  follower.settle();
  CHECK(zones() == all);
  REQUIRE(follower.finish().ok());
  CHECK(zones() == all);
}

TEST_CASE("rows that come after their processor's next ones are kept and told of") {
  std::mt19937_64 random(14);
  for (int round = 0; round < 30; ++round) {
    CAPTURE(round);
    const std::string text =
        test::tt_log_text(options_of(test::TtLogEra::h, 1 + static_cast<std::uint64_t>(round % 6)));
    const Imported followed = follow([&](sources::tt_metal::DeviceLogFollower& follower) {
      follower.begin_anew();
      for (std::string_view rest = text; !rest.empty();) {
        const std::size_t count = std::min<std::size_t>(rest.size(), 1 + below(random, 9000));
        follower.feed(rest.substr(0, count), 0);
        rest.remove_prefix(count);
        follower.settle();  // in the middle of a dump
      }
    });
    const Imported imported = import_log(text);
    for (const char* table : {"zone_total", "ts_data", "perf_counter"})
      CHECK(followed.count(table) == imported.count(table));
    const auto markers = [](const Imported& session) {
      return 2 * session.count("zone") - quality_count(session, "unmatched_begins") + session.count("ts_event");
    };
    CHECK(markers(followed) == markers(imported));
    CHECK(quality_count(followed, "rows_late") > 0);
  }
}

TEST_CASE("a file that goes on where another ended joins its tracks, one whose cycles begin anew has its own") {
  test::TtLogOptions options = options_of(test::TtLogEra::h, 1);
  options.chips = 1;
  const std::string text = test::tt_log_text(options);
  const std::string header = test::tt_log_header(options);
  // Between two reads of the device.
  test::TtLogOptions first_reads = options;
  first_reads.programs = options.programs_per_read;
  const std::size_t cut = test::tt_log_text(first_reads).size();
  const Imported imported = import_log(text);
  const Imported rotated = follow([&](sources::tt_metal::DeviceLogFollower& follower) {
    follower.begin_anew();
    follower.feed(text.substr(0, cut), 0);
    follower.begin_anew();
    follower.feed(header + text.substr(cut), 0);
  });
  CHECK(log_events(rotated) == log_events(imported));
  check_same_reports(rotated, imported);

  const std::int64_t begin = tt_log_zones(options).front().begin;
  do {
    ++options.seed;
  } while (tt_log_zones(options).front().begin > begin);  // reset later
  const std::string other = test::tt_log_text(options);
  const Imported both = follow([&](sources::tt_metal::DeviceLogFollower& follower) {
    follower.begin_anew();
    follower.feed(text, 0);
    follower.begin_anew();
    follower.feed(other, 0);
  });
  CHECK(both.count("zone") == imported.count("zone") + import_log(other).count("zone"));
  std::size_t second = 0;
  for (const EventValues& event : both.events("zone")) second += event.device == "log 2 chip 0" ? 1 : 0;
  CHECK(second == import_log(other).count("zone"));
  CHECK(quality_count(both, "log_written_anew") == 1);
}

TEST_CASE("a file with another header is another log") {
  const std::string old_text = test::tt_log_text(options_of(test::TtLogEra::e, 1));
  const std::string new_text = test::tt_log_text(options_of(test::TtLogEra::g, 1));
  const Imported both = follow([&](sources::tt_metal::DeviceLogFollower& follower) {
    follower.begin_anew();
    follower.feed(old_text, 0);
    follower.begin_anew();
    follower.feed(new_text, 0);
  });
  CHECK(both.count("zone") == import_log(old_text).count("zone") + import_log(new_text).count("zone"));
  CHECK(both.count("ts_data") == import_log(new_text).count("ts_data"));
}

TEST_CASE("a row that a rewrite has cut off is counted unless it comes again") {
  const std::string text = test::tt_log_text(options_of(test::TtLogEra::g, 1));
  const std::size_t half = text.find("NCRISC-KERNEL");  // in a row, behind its time
  const Imported again = follow([&](sources::tt_metal::DeviceLogFollower& follower) {
    follower.begin_anew();
    follower.feed(text.substr(0, half), 0);
    follower.begin_anew();
    follower.feed(text, 0);
  });
  CHECK(quality_count(again, "rows_lost") == 0);
  const std::size_t line = text.rfind('\n', half) + 1;
  const std::string without = text.substr(0, line) + text.substr(text.find('\n', line) + 1);
  const Imported lost = follow([&](sources::tt_metal::DeviceLogFollower& follower) {
    follower.begin_anew();
    follower.feed(text.substr(0, half), 0);
    follower.begin_anew(120);
    follower.feed(without, 0);
  });
  CHECK(quality_count(lost, "rows_lost") == 1);
  CHECK(quality_count(lost, "bytes_lost") == 120);
}

TEST_CASE("rows that are not wanted are left out and counted, also when they come again") {
  const std::string text = test::tt_log_text(options_of(test::TtLogEra::h, 1));
  const std::size_t half = text.rfind('\n', text.size() / 2) + 1;
  const Imported session = follow([&](sources::tt_metal::DeviceLogFollower& follower) {
    follower.begin_anew();
    follower.feed(text.substr(0, half), 0, false);
    follower.begin_anew();
    follower.feed(text, 0);
  });
  const std::uint64_t left_out = quality_count(session, "rows_left_out");
  CHECK(left_out ==
        static_cast<std::uint64_t>(std::count(text.begin(), text.begin() + static_cast<long>(half), '\n')) - 2);
  CHECK(session.count("zone") < import_log(text).count("zone"));
  CHECK(session.count("zone") > 0);
}

TEST_CASE("what is no device log is told as the importer tells it") {
  const auto text_of = [](std::string text) {
    return failure_of([text = std::move(text)](sources::tt_metal::DeviceLogFollower& follower) {
      follower.begin_anew();
      follower.feed(text, 0);
    });
  };
  CHECK(text_of("hello\nworld\n") == log_failure("hello\nworld\n"));
  CHECK(text_of("ARCH: wormhole_b0, CHIP_FREQ[MHz]: 1000\n") ==
        log_failure("ARCH: wormhole_b0, CHIP_FREQ[MHz]: 1000\n"));
  CHECK(text_of("ARCH: wormhole_b0, CHIP_FREQ[MHz]: 1000\ncore_x, core_y, a\n").find("has no column") !=
        std::string::npos);
  CHECK(failure_of([](sources::tt_metal::DeviceLogFollower&) {}) == "log.csv: there is no such file");
  // It may become one.
  const std::string text = test::tt_log_text(options_of(test::TtLogEra::h, 1));
  const Imported session = follow([&](sources::tt_metal::DeviceLogFollower& follower) {
    follower.begin_anew();
    follower.feed("something else\n1,2,3\n", 0);
    follower.begin_anew();
    follower.feed(text, 0);
  });
  CHECK(session.count("zone") == import_log(text).count("zone"));
}

TEST_CASE("a chip's events are never drawn later than their rows were written, and exact among themselves") {
  test::TtLogOptions options = options_of(test::TtLogEra::h, 1);
  const std::string text = test::tt_log_text(options);
  const std::int64_t now = 5'000'000'000;
  const Imported session = follow([&](sources::tt_metal::DeviceLogFollower& follower) {
    follower.begin_anew();
    const std::size_t half = text.rfind('\n', text.size() / 2) + 1;
    follower.feed(text.substr(0, half), now);
    follower.feed(text.substr(half), now + 1000);
  });
  std::int64_t latest = 0;
  for (const EventValues& event : session.events("zone")) {
    latest = std::max(latest, event.end);
    CHECK(event.end - event.begin == event.integer("cycles"));  // 1 GHz
  }
  CHECK(latest <= now + 1000);
  CHECK(latest > now - 1'000'000);
}

TEST_CASE("lines without an end are left out and counted as the import does") {
  std::mt19937_64 random(15);
  const std::string text = test::tt_log_text(options_of(test::TtLogEra::h, 3));
  const std::size_t middle = text.rfind('\n', text.size() / 2) + 1;
  const std::string garbage = text.substr(0, middle) + std::string(1'200'000, 'x') + "\n" + text.substr(middle);
  const Imported imported = import_log(garbage);
  const Imported followed = follow([&](sources::tt_metal::DeviceLogFollower& follower) {
    follower.begin_anew();
    feed_in_pieces(follower, garbage, random);
  });
  CHECK(log_events(followed) == log_events(imported));
  CHECK(quality_count(followed, "rows_skipped") == 1);
  CHECK(quality_count(imported, "rows_skipped") == 1);
}

TEST_CASE("a followed log that states a clock of next to nothing gives all its zones") {
  const test::TtLogOptions options = options_of(test::TtLogEra::h, 1);
  const std::string plain = test::tt_log_text(options);
  std::string slow = plain;
  const std::string_view stated = "CHIP_FREQ[MHz]: ";
  const std::size_t at = slow.find(stated);
  REQUIRE(at != std::string::npos);
  const std::size_t digits = at + stated.size();
  slow.replace(digits, slow.find_first_not_of("0123456789", digits) - digits, "1e-15");
  const auto zones_of = [&](const std::string& text) {
    return follow([&](sources::tt_metal::DeviceLogFollower& follower) {
             follower.begin_anew();
             const std::size_t half = text.rfind('\n', text.size() / 2) + 1;
             follower.feed(text.substr(0, half), 1000);
             follower.feed(text.substr(half), 2000);
           })
        .count("zone");
  };
  CHECK(zones_of(plain) > 0);
  CHECK(zones_of(slow) == zones_of(plain));
}

}  // namespace accelscope::capture
