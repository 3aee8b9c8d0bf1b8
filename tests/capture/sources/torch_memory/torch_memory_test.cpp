// PyTorch's memory snapshots: what a model of its allocator did comes out as it was, entry by entry.
#include "capture/sources/base/importers.h"

#include <fmt/format.h>

#include <algorithm>
#include <random>
#include <set>

#include "capture/sources/pickle/pickle_reader.h"
#include "capture/sources/torch_memory/schemas.h"
#include "capture/sources/torch_memory/snapshot_writer.h"
#include "core/analysis/memory/segments.h"
#include "tests/capture/imported.h"
#include "tests/support/torch/allocator_model.h"
#include "tests/support/torch/pickle_writer.h"

namespace accelscope::capture {
namespace {

Imported import_snapshot(std::string_view pickle) {
  return Imported::by([&](EventSink& sink) {
    return sources::torch_memory::import_torch_memory(json::ByteSource::from_memory(pickle), "s.pickle", {}, sink);
  });
}

std::string failure_of_snapshot(std::string_view pickle) {
  const auto store = std::move(Store::create().value());
  StoreSink sink(*store);
  const Result<void> done =
      sources::torch_memory::import_torch_memory(json::ByteSource::from_memory(pickle), "s.pickle", {}, sink);
  if (!done.ok()) CHECK_FALSE(done.message().empty());
  return done.ok() ? "" : done.message();
}

// The counter as it stands behind every event of an entry, in the order of entries.
std::map<std::int64_t, std::int64_t> samples_of(const Imported& session, std::string_view track) {
  std::map<std::int64_t, std::int64_t> samples;
  for (const EventValues& event : session.events("counter")) {
    if (event.track == track && event.device == "GPU 0") samples[event.begin] = event.integer("value").value();
  }
  return samples;
}

std::shared_ptr<const analysis::MemoryUsage> usage_of_session(const Imported& session, WorkerPool& pool) {
  TaskControl control;
  auto usage = analysis::memory_usage(
      {.store = session.store(), .snapshot = session.shared_snapshot(), .pool = pool, .control = control});
  REQUIRE(usage.ok());
  return *usage;
}

// Everything that a row says, but for what a segment that is gone at the end was for.
std::vector<std::string> rows_of(const Imported& session, std::string_view table) {
  std::vector<std::string> rows;
  for (const EventValues& event : session.events(table)) {
    std::string row = fmt::format("{} {} {} {}", event.track, event.begin, event.end, event.name);
    for (const auto& [column, value] : event.strings) {
      if (column != "segment_type") row += fmt::format(" {}={}", column, value);
    }
    for (const auto& [column, value] : event.integers) row += fmt::format(" {}={}", column, value);
    rows.push_back(row);
  }
  return rows;
}

// One after the other. `late`: how many had entries, and added no event at once.
Result<void> write_parts(EventSink& sink, const test::TorchModel& model, std::size_t& late) {
  SessionWriter writer(sink);
  sources::ImportReport report;
  sources::torch_memory::SnapshotWriter snapshots(writer, report);
  for (const std::string& part : model.parts()) {
    const std::unique_ptr<json::ByteSource> bytes = json::ByteSource::from_memory(part);
    const std::uint64_t before = writer.event_count();
    sources::pickle::ReadPickle read = TRY(sources::pickle::read_pickle(*bytes, {.name = "part", .go_on = {}}));
    TRY(snapshots.write(std::move(read)));
    late += writer.event_count() == before ? 1 : 0;
  }
  snapshots.end();
  report.write(writer);
  return writer.finish();
}

}  // namespace

TEST_CASE("torch memory: every moment's totals are those of the allocator, and the end is the segments'") {
  for (std::uint32_t seed = 1; seed <= 12; ++seed) {
    CAPTURE(seed);
    test::TorchModelOptions options{.seed = seed, .requests = 600};
    options.times = seed % 3 != 0;
    options.expandable = seed % 4 == 1;
    options.history = seed % 5 == 2;
    options.protocol = 2 + static_cast<int>(seed % 4);
    options.retained_entries = seed % 2 == 0 ? SIZE_MAX : 300;
    const test::TorchModel model(options);
    const Imported session = import_snapshot(model.pickle());
    const auto& states = model.states();
    // Every entry is an event, and carries the totals behind it.
    std::vector<EventValues> blocks = session.events("memory");
    std::size_t entries = 0, wrong = 0;
    for (const EventValues& event : blocks) {
      const auto entry = event.integer("entry");
      if (!entry) continue;
      ++entries;
      const test::TorchModelState& truth = states[static_cast<std::size_t>(*entry)];
      wrong += event.integer("Total Reserved") != static_cast<std::int64_t>(truth.reserved) ? 1 : 0;
      if (model.guessed() == 0) {
        wrong += event.integer("Total Allocated") != static_cast<std::int64_t>(truth.allocated) ? 1 : 0;
      }
    }
    std::set<std::int64_t> segment_entries;
    for (const EventValues& event : session.events("memory_segment")) {
      if (const auto entry = event.integer("entry")) segment_entries.insert(*entry);
    }
    CHECK(wrong == 0);
    CHECK(entries + segment_entries.size() + session.count("out_of_memory") == states.size());
    // Counters, where every entry has its own time.
    if (!options.times) {
      for (const auto& [name, member] : std::map<std::string, std::uint64_t test::TorchModelState::*>{
               {"requested", &test::TorchModelState::requested},
               {"reserved", &test::TorchModelState::reserved},
               {"active", &test::TorchModelState::active},
               {"allocated", &test::TorchModelState::allocated}}) {
        CAPTURE(name);
        if (model.guessed() > 0 && (name == "active" || name == "allocated")) continue;
        const auto samples = samples_of(session, name);
        std::size_t off = samples.begin()->second != static_cast<std::int64_t>(model.before().*member) ? 1 : 0;
        for (std::size_t i = 0; i < states.size(); ++i) {
          const auto at = samples.upper_bound(static_cast<std::int64_t>(i + 1) * 1000);
          off += std::prev(at)->second != static_cast<std::int64_t>(states[i].*member) ? 1 : 0;
        }
        CHECK(off == 0);
      }
    }
    // The end is what the file states.
    for (const EventValues& event : session.events("memory_snapshot")) {
      CHECK(event.integer("active") == static_cast<std::int64_t>(states.back().active));
      CHECK(event.integer("allocated") == static_cast<std::int64_t>(states.back().allocated));
      CHECK(event.integer("requested") == static_cast<std::int64_t>(states.back().requested));
      CHECK(event.integer("reserved") == static_cast<std::int64_t>(states.back().reserved));
    }
    CHECK(session.quality("rows_mended") == nullptr);
    CHECK(session.quality("relations_open") == nullptr);
    CHECK(session.quality("time_check") == nullptr);
    CHECK(session.quality("vendor_value_implausible") == nullptr);
    CHECK((session.quality("memory_estimated") != nullptr) == (model.guessed() > 0));
    CHECK((session.quality("host_times_estimated") != nullptr) == !options.times);
    CHECK(session.count("out_of_memory") == model.ooms());
    // And so it is in the memory tracker, at any time.
    WorkerPool pool(2);
    const auto usage = usage_of_session(session, pool);
    REQUIRE(usage->pools.size() == 1);
    CHECK(usage->unmatched_releases == 0);
    CHECK(usage->implied_releases == 0);
    const std::int64_t end = session.snapshot().end_ns;
    const analysis::SegmentMap map = analysis::segments_at(*usage, 0, end);
    CHECK(map.held);
    CHECK(map.bytes == states.back().reserved);
    CHECK(map.used == states.back().active);
    CHECK(map.requested == states.back().requested);
    CHECK(map.outside == 0);
    for (std::int64_t ns = 0; ns < end; ns += std::max<std::int64_t>(end / 37, 1)) {
      const analysis::SegmentMap at = analysis::segments_at(*usage, 0, ns);
      CHECK(at.bytes == usage->reserved_at(0, ns));
      CHECK(at.used == usage->used_at(0, ns));
      CHECK(at.outside == 0);
    }
  }
}

TEST_CASE("torch memory: snapshots taken meanwhile make the events of one that is taken at the end") {
  for (std::uint32_t seed = 1; seed <= 12; ++seed) {
    CAPTURE(seed);
    const test::TorchModel model({.seed = seed,
                                  .requests = 600,
                                  .expandable = seed % 4 == 1,
                                  .history = seed % 5 == 2,
                                  .requests_between_parts = 1 + seed * 7});
    REQUIRE(model.parts().size() > 5);
    const Imported whole = import_snapshot(model.pickle());
    std::size_t late_parts = 0;
    const Imported parts = Imported::by([&](EventSink& sink) { return write_parts(sink, model, late_parts); });
    CHECK(late_parts == 0);
    // Segments that are gone at the end are of the kind that they were: one that is taken at the end does not know it.
    for (const std::string table : {"memory", "memory_segment", "counter", "out_of_memory"}) {
      CAPTURE(table);
      CHECK(rows_of(parts, table) == rows_of(whole, table));
    }
    CHECK(parts.count("memory_snapshot") == 1);
    CHECK(parts.snapshot().meta_value("source.rows.device_traces") ==
          whole.snapshot().meta_value("source.rows.device_traces"));
    for (const char* kind : {"buffer_overflow", "rows_mended", "relations_open", "time_check", "memory_estimated"}) {
      CAPTURE(kind);
      CHECK(parts.quality(kind) == nullptr);
    }
  }
}

TEST_CASE("torch memory: where a trace has lost entries between two snapshots it is said, and the state is right") {
  for (std::uint32_t seed = 1; seed <= 12; ++seed) {
    CAPTURE(seed);
    const test::TorchModel model(
        {.seed = seed, .requests = 600, .expandable = seed % 4 == 1, .requests_between_parts = 100, .lost_part = 2});
    std::size_t late_parts = 0;
    const Imported parts = Imported::by([&](EventSink& sink) { return write_parts(sink, model, late_parts); });
    REQUIRE(parts.quality("buffer_overflow") != nullptr);
    CHECK(parts.quality("buffer_overflow")->count == 1);
    for (const EventValues& event : parts.events("memory_snapshot")) {
      CHECK(event.integer("active") == static_cast<std::int64_t>(model.states().back().active));
      CHECK(event.integer("reserved") == static_cast<std::int64_t>(model.states().back().reserved));
    }
    WorkerPool pool(2);
    const auto usage = usage_of_session(parts, pool);
    REQUIRE(usage->pools.size() == 1);
    CHECK(usage->unmatched_releases == 0);
    CHECK(usage->implied_releases == 0);
    const analysis::SegmentMap map = analysis::segments_at(*usage, 0, parts.snapshot().end_ns);
    CHECK(map.bytes == model.states().back().reserved);
    CHECK(map.used == model.states().back().active);
    CHECK(map.outside == 0);
    CHECK(parts.quality("rows_mended") == nullptr);
    CHECK(parts.quality("time_check") == nullptr);
  }
}

TEST_CASE("torch memory: blocks have the names of the program's lines, and releases those of their blocks") {
  const test::TorchModel model({.seed = 3, .requests = 200});
  const Imported session = import_snapshot(model.pickle());
  for (const EventValues& event : session.events("memory")) {
    CAPTURE(event.name);
    CHECK(event.name.find("(model.py:") != std::string::npos);  // the innermost line that is no library's
    CHECK(event.string("source").starts_with("/home/a/model.py:"));
    const std::string stack = event.string("stack");
    CHECK(std::count(stack.begin(), stack.end(), '\n') == 2);
  }
  CHECK(session.snapshot().meta_value("begin_unix_ns") == "1699999999999999000");
}

TEST_CASE("torch memory: what an empty, an old or a cut file holds is read, and what it is not is said") {
  using namespace std::string_literals;
  test::PickleWriter empty;
  empty.begin_dict();
  empty.mark();
  empty.text("segments");
  empty.begin_list();
  empty.text("device_traces");
  empty.begin_list();
  empty.begin_list();
  empty.append();
  empty.set_items();
  const Imported nothing = import_snapshot(empty.finish());
  REQUIRE(nothing.quality("no_trace") != nullptr);
  CHECK(nothing.quality("no_trace")->detail.find("is empty") != std::string::npos);

  CHECK(failure_of_snapshot("\x80\x04}\x94\x8c\x01"
                            "aK\x01s."s)
            .find("no memory snapshot") != std::string::npos);
  CHECK(failure_of_snapshot("\x80\x04K\x05."s).find("no memory snapshot") != std::string::npos);
  CHECK(failure_of_snapshot("\x80\x04}\x94(\x8c\x08segments"
                            "cos\nsystem\n"s)
            .find("opcode GLOBAL") != std::string::npos);

  // A bare list of segments.
  test::PickleWriter bare(2);
  bare.begin_list();
  bare.mark();
  bare.begin_dict();
  bare.mark();
  for (const auto& [key, value] : std::map<std::string, std::int64_t>{{"device", 1},
                                                                      {"address", 4096},
                                                                      {"total_size", 2097152},
                                                                      {"allocated_size", 512},
                                                                      {"active_size", 512},
                                                                      {"numa", 3}}) {
    bare.text(key);
    bare.integer(value);
  }
  bare.text("blocks");
  bare.begin_list();
  bare.mark();
  for (const bool active : {true, false}) {
    bare.begin_dict();
    bare.mark();
    bare.text("size");
    bare.integer(active ? 512 : 2096640);
    bare.text("state");
    bare.text(active ? "active_allocated" : "inactive");
    bare.text("owner");
    bare.integer(7);
    bare.set_items();
  }
  bare.appends();
  bare.set_items();
  bare.appends();
  const Imported old = import_snapshot(bare.finish());
  REQUIRE(old.count("memory") == 1);
  CHECK(old.events("memory")[0].device == "GPU 1");
  CHECK(old.events("memory")[0].integer("Bytes") == 512);
  CHECK(old.quality("no_trace") != nullptr);
  std::map<std::string, std::uint64_t> unknown;
  for (const QualityEntry& entry : old.snapshot().quality) {
    if (entry.kind == "unknown_fields") unknown[entry.detail] += entry.count;
  }
  CHECK(unknown["segments have a field \"numa\" that is not known here"] == 1);
  CHECK(unknown["blocks have a field \"owner\" that is not known here"] == 2);

  const test::TorchModel model({.seed = 8, .requests = 300});
  const std::string& whole = model.pickle();
  std::size_t most = 0;
  for (std::size_t part = 1; part < 20; ++part) {
    const std::string cut = whole.substr(0, whole.size() * part / 20);
    if (!failure_of_snapshot(cut).empty()) continue;
    const Imported session = import_snapshot(cut);
    CHECK(session.quality("truncated") != nullptr);
    most = std::max(most, session.count("memory"));
  }
  CHECK(most > 100);
}

// A snapshot without segments, up to the entries of its first device's trace.
static void begin_trace(test::PickleWriter& writer) {
  writer.begin_dict();
  writer.mark();
  writer.text("segments");
  writer.begin_list();
  writer.text("device_traces");
  writer.begin_list();
  writer.begin_list();
  writer.mark();
}

TEST_CASE("torch memory: what does not go together is told of, and no sum goes below nothing") {
  std::mt19937_64 random(17);
  for (int round = 0; round < 60; ++round) {
    CAPTURE(round);
    test::PickleWriter writer;
    begin_trace(writer);
    constexpr const char* kActions[] = {"alloc",
                                        "free_requested",
                                        "free_completed",
                                        "segment_alloc",
                                        "segment_free",
                                        "segment_map",
                                        "segment_unmap",
                                        "oom",
                                        "snapshot",
                                        "what",
                                        ""};
    for (int i = 0; i < 200; ++i) {
      writer.begin_dict();
      writer.mark();
      writer.text("action");
      writer.text(kActions[random() % std::size(kActions)]);
      writer.text(random() % 30 == 0 ? "other" : "addr");
      writer.address(random() % 40 == 0 ? random() : (1 + random() % 6) * 1024);
      writer.text("size");
      writer.address(random() % 40 == 0 ? random() : 512 * (random() % 9));
      writer.text("time_us");
      writer.integer(static_cast<std::int64_t>(1000 + random() % 50));
      writer.set_items();
    }
    writer.appends();
    writer.append();
    writer.set_items();
    const Imported session = import_snapshot(writer.finish());
    std::size_t seen = 0;
    for (const char* table : {"memory", "out_of_memory", "memory_snapshot"}) {
      for (const EventValues& event : session.events(table)) seen += event.integer("entry") ? 1 : 0;
    }
    std::set<std::int64_t> segments;
    for (const EventValues& event : session.events("memory_segment")) {
      if (const auto entry = event.integer("entry")) segments.insert(*entry);
    }
    std::uint64_t skipped = 0;
    for (const QualityEntry& entry : session.snapshot().quality) {
      if (entry.kind == "rows_skipped") skipped += entry.count;
    }
    CHECK(seen + segments.size() + skipped >= 180);  // segments of size 0 are no events
    for (const EventValues& event : session.events("counter")) CHECK(event.integer("value").value() >= 0);
  }
}

TEST_CASE("torch memory: segments that join to more than any number of bytes are held and given back as the most") {
  constexpr std::uint64_t kEach = std::uint64_t{1} << 60;
  test::PickleWriter writer;
  begin_trace(writer);
  for (std::uint64_t i = 0; i < 8; ++i) {
    writer.begin_dict();
    writer.mark();
    writer.text("action");
    writer.text("segment_unmap");
    writer.text("addr");
    writer.address(4096 + i * kEach);
    writer.text("size");
    writer.address(kEach);
    writer.text("stream");
    writer.integer(0);
    writer.text("time_us");
    writer.integer(1000 + static_cast<std::int64_t>(i));
    writer.set_items();
  }
  writer.appends();
  writer.append();
  writer.set_items();
  const Imported session = import_snapshot(writer.finish());
  std::int64_t most = 0, least = 0;
  for (const EventValues& event : session.events("memory_segment")) {
    most = std::max(most, event.integer("Bytes").value_or(0));
    least = std::min(least, event.integer("Bytes").value_or(0));
  }
  CHECK(most == INT64_MAX);
  CHECK(least == -INT64_MAX);
}

TEST_CASE("torch memory: lists that stand in many places are read as often as the file has room for, which is said") {
  const auto text = [](const std::string& value) {
    return std::string("\x8c") + static_cast<char>(value.size()) + value;
  };
  const auto number = [](std::uint32_t value) {
    std::string bytes = "J";
    for (unsigned shift = 0; shift < 32; shift += 8) bytes += static_cast<char>(value >> shift);
    return bytes;
  };
  const auto many = [](char place, int times) {
    std::string bytes = "](";
    for (int i = 0; i < times; ++i) bytes.append(1, 'h').append(1, place);
    return bytes + "e";
  };
  const auto retained_at = [](const std::string& value, char place) { return value + "q" + place + "0"; };
  constexpr int kTimes = 20'000;
  const std::string pickle =
      "\x80\x04" + retained_at("}(" + text("size") + number(512) + text("state") + text("active_allocated") + "u", 0) +
      retained_at(many(0, kTimes), 1) +
      retained_at("}(" + text("address") + number(1U << 24) + text("total_size") + number(kTimes * 512) +
                      text("blocks") + std::string("h\1", 2) + "u",
                  2) +
      retained_at(
          "}(" + text("action") + text("alloc") + text("addr") + number(1U << 24) + text("size") + number(512) + "u",
          3) +
      retained_at(many(3, kTimes), 4) + "}(" + text("segments") + many(2, kTimes) + text("device_traces") +
      many(4, 500) + "u.";
  const Imported session = import_snapshot(pickle);
  REQUIRE(session.quality("rows_left_out") != nullptr);
  CHECK(session.quality("rows_left_out")->severity == Severity::warning);
  CHECK(session.snapshot().event_count < 10 * pickle.size());
  // A name that no function has.
  const std::string long_name(100'000, 'f');
  std::string with_name = "\x80\x04}(" + text("segments") + "](}(" + text("address") + number(1U << 24) +
                          text("total_size") + number(1U << 20) + text("frames") + "](}(" + text("name") + "X";
  with_name += number(static_cast<std::uint32_t>(long_name.size())).substr(1);
  with_name += long_name + text("line") + number(3) + "ueueu.";
  CHECK(quality_count(import_snapshot(with_name), "values_left_out") > 0);
}

TEST_CASE("torch memory: bytes that are flipped end in an error or a session, whatever they say") {
  std::mt19937_64 random(23);
  int sessions = 0;
  for (int round = 0; round < 200; ++round) {
    test::TorchModelOptions options{.seed = static_cast<std::uint32_t>(round % 5), .requests = 30};
    options.expandable = round % 2 == 0;
    options.history = round % 3 == 0;
    std::string pickle = test::TorchModel(options).pickle();
    for (std::size_t flips = 1 + random() % 6; flips > 0; --flips) {
      pickle[random() % pickle.size()] ^= static_cast<char>(1U << (random() % 8));
    }
    sessions += failure_of_snapshot(pickle).empty() ? 1 : 0;
  }
  CHECK(sessions > 150);  // of 200: most of a file is worth reading
}

TEST_CASE("torch memory: the allocator's rounding is followed, with divisions of powers of two as well") {
  using sources::torch_memory::BlockSizes;
  const BlockSizes plain;
  CHECK(plain.rounded(1) == 512);
  CHECK(plain.rounded(512) == 512);
  CHECK(plain.rounded(513) == 1024);
  CHECK(plain.taken(1000, 2048, true) == 1024);
  CHECK(plain.taken(1000, 1400, true) == 1400);
  CHECK(plain.taken(2'000'000, 3'000'000, false) == 3'000'000);
  CHECK(plain.taken(2'000'000, 30'000'000, false) == 2'000'384);
}

TEST_CASE(
    "torch memory: an entry whose time is 0 or a day away lies at the one before, and the session is as long as it "
    "is") {
  constexpr std::int64_t kAt = 1'700'000'000'000'000;  // us since 1970
  for (const std::int64_t wrong : {std::int64_t{0}, kAt + 100'000'000'000}) {
    for (const int at : {0, 9, 19}) {
      CAPTURE(wrong);
      CAPTURE(at);
      test::PickleWriter writer;
      writer.begin_dict();
      writer.mark();
      writer.text("segments");
      writer.begin_list();
      writer.text("device_traces");
      writer.begin_list();
      writer.begin_list();
      writer.mark();
      for (int i = 0; i < 20; ++i) {
        writer.begin_dict();
        writer.mark();
        writer.text("action");
        writer.text(i % 2 == 0 ? "alloc" : "free_completed");
        writer.text("addr");
        writer.address(4096);
        writer.text("size");
        writer.address(512);
        writer.text("time_us");
        writer.integer(i == at ? wrong : kAt + i);
        writer.set_items();
      }
      writer.appends();
      writer.append();
      writer.set_items();
      const Imported session = import_snapshot(writer.finish());
      CHECK(session.snapshot().end_ns - session.snapshot().begin_ns <= 30'000);
      CHECK(quality_count(session, "impossible_times") == 1);
      std::size_t entries = 0;
      for (const EventValues& event : session.events("memory")) entries += event.integer("entry") ? 1 : 0;
      CHECK(entries == 20);
      CHECK(session.snapshot().meta_value("source.rows.device_traces") == "20");
      CHECK(session.snapshot().meta_value("source.read.device_traces") == "20");
    }
  }
}

}  // namespace accelscope::capture
