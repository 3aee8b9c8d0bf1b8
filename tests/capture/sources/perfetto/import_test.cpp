// Small traces of every kind of packet, and what is made of them.
#include <doctest/doctest.h>
#include <zlib.h>

#include <algorithm>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <tuple>

#include "capture/sources/base/importers.h"
#include "capture/sources/perfetto/importer.h"
#include "tests/capture/recording_sink.h"
#include "tests/support/perfetto_writer.h"

namespace accelscope::capture::perfetto_import {
namespace {

using namespace accelscope::test;

Result<void> import_into(RecordingSink& sink, const std::string& trace) {
  return sources::perfetto::PerfettoImporter("test.pftrace", {}, sink)
      .run([&]() -> Result<std::unique_ptr<json::ByteSource>> { return json::ByteSource::from_memory(trace); });
}

struct ImportedTrace {
  RecordingSink sink;
  std::vector<RecordedEvent> events;
  explicit ImportedTrace(const std::string& trace) {
    const Result<void> done = import_into(sink, trace);
    INFO((done.ok() ? std::string() : done.message()));
    REQUIRE(done.ok());
    events = sink.events();
  }
  [[nodiscard]] std::vector<RecordedEvent> of_table(std::string_view table) const {
    std::vector<RecordedEvent> found = events;
    std::erase_if(found, [&](const RecordedEvent& event) { return sink.schema_of(event).name != table; });
    std::sort(found.begin(), found.end(), [](const RecordedEvent& a, const RecordedEvent& b) {
      return std::tie(a.start, b.end) < std::tie(b.start, a.end);
    });
    return found;
  }
  [[nodiscard]] std::optional<std::int64_t> number(const RecordedEvent& event, std::string_view name) const {
    const auto column = sink.schema_of(event).find(name);
    if (!column || !sink.view(event).has_value(*column, event.row)) return std::nullopt;
    const std::uint64_t stored = sink.view(event).stored(*column, event.row);
    const bool is_signed = sink.schema_of(event).columns[*column].type == ColumnType::int64;
    return static_cast<std::int64_t>(is_signed ? stored ^ (std::uint64_t{1} << 63) : stored);
  }
  [[nodiscard]] std::string text(const RecordedEvent& event, std::string_view name) const {
    const auto column = sink.schema_of(event).find(name);
    if (!column || !sink.view(event).has_value(*column, event.row)) return {};
    return sink.schema_of(event).columns[*column].type == ColumnType::text
               ? std::string(sink.view(event).text(*column, event.row))
               : sink.strings.at(sink.view(event).stored(*column, event.row));
  }
  [[nodiscard]] double value(const RecordedEvent& sample) const { return sink.view(sample).float64(0, sample.row); }
  [[nodiscard]] std::uint64_t reported(std::string_view kind) const {
    std::uint64_t count = 0;
    for (const QualityEntry& entry : sink.qualities) count += entry.kind == kind ? entry.count : 0;
    return count;
  }
};

TEST_CASE("a Perfetto trace with something of everything is read") {
  const ImportedTrace trace(varied_trace());
  const std::vector<RecordedEvent> steps = trace.of_table("event");
  REQUIRE(steps.size() == 1);
  CHECK(steps[0].name == "step");
  CHECK(steps[0].start == 6'000);
  CHECK(steps[0].end == 8'300);
  CHECK(trace.text(steps[0], "shape") == "[3,4]");
  CHECK(trace.sink.tracks.at(steps[0].track).host == "process 77");

  const std::vector<RecordedEvent> operators = trace.of_table("cpu_op");
  REQUIRE(operators.size() == 1);
  CHECK(operators[0].name == "interned name");
  CHECK(operators[0].start == 7'000);  // 2 us after the snapshot, in a clock of deltas
  CHECK(operators[0].end == 8'000);
  CHECK(trace.text(operators[0], "cat") == "cpu_op");

  const std::vector<RecordedEvent> samples = trace.of_table("counter");
  REQUIRE(samples.size() == 1);
  CHECK(trace.value(samples[0]) == 3 * 1024);
  CHECK(trace.sink.tracks.at(samples[0].track).unit == "B");

  const std::vector<RecordedEvent> kernels = trace.of_table("kernel");
  REQUIRE(kernels.size() == 1);
  CHECK(kernels[0].name == "gemm(float*)");
  CHECK(kernels[0].end - kernels[0].start == 500);
  CHECK(trace.number(kernels[0], "correlation") == 42);
  CHECK(trace.text(kernels[0], "grid") == "[256, 2, 1]");
  CHECK(trace.text(kernels[0], "block") == "[128, 1, 1]");
  CHECK(trace.text(kernels[0], "kernel_name") == "_Z4gemm");
  CHECK(trace.sink.tracks.at(kernels[0].track).name == "stream 7");
  CHECK(trace.sink.tracks.at(kernels[0].track).device == "GPU 0");

  CHECK(trace.of_table("dependency").size() == 1);
  // The snapshot says what time of day it was; the session begins with its first event.
  CHECK(trace.sink.meta.at("begin_unix_ns") == "1700000000000006000");
}

// What slices a set of marks makes, each on its track the innermost first.
struct Mark {
  std::uint64_t ns = 0;
  std::uint64_t track = 0;
  std::string name;  // of an end: ""
};
using Slices = std::multiset<std::tuple<std::string, std::int64_t, std::int64_t, std::string>>;

Slices joined(std::vector<Mark> marks) {
  std::stable_sort(marks.begin(), marks.end(), [](const Mark& a, const Mark& b) { return a.ns < b.ns; });
  std::map<std::uint64_t, std::vector<Mark>> open;
  Slices slices;
  for (const Mark& mark : marks) {
    std::vector<Mark>& stack = open[mark.track];
    if (!mark.name.empty()) {
      stack.push_back(mark);
    } else if (!stack.empty()) {
      slices.emplace("thread of " + std::to_string(mark.track), stack.back().ns, mark.ns, stack.back().name);
      stack.pop_back();
    }
  }
  return slices;
}

std::vector<Mark> random_marks(std::mt19937& random, int tracks, int groups) {
  std::vector<Mark> marks;
  for (int track = 1; track <= tracks; ++track) {
    std::uint64_t ns = 1'000 + static_cast<std::uint64_t>(track);
    std::vector<bool> open;
    for (int i = 0; i < groups; ++i) {
      ns += 16 + random() % 50 * 16;
      const bool begins = open.empty() || (open.size() < 6 && random() % 2 == 0);
      marks.push_back({ns, static_cast<std::uint64_t>(track), begins ? "slice " + std::to_string(random() % 9) : ""});
      begins ? open.push_back(true) : open.pop_back();
    }
    for (; !open.empty(); open.pop_back()) marks.push_back({ns += 16, static_cast<std::uint64_t>(track), ""});
  }
  return marks;
}

TEST_CASE("slices are the same in whatever order their packets lie") {
  std::mt19937 random(5);
  for (int order = 0; order < 5; ++order) {
    CAPTURE(order);
    std::vector<Mark> marks = random_marks(random, 7, 900);
    const Slices expected = joined(marks);
    const auto by_time = [](const Mark& a, const Mark& b) { return a.ns < b.ns; };
    if (order == 1) std::stable_sort(marks.begin(), marks.end(), by_time);
    if (order == 2)
      std::stable_partition(marks.begin(), marks.end(), [](const Mark& mark) { return !mark.name.empty(); });
    if (order == 3) std::shuffle(marks.begin(), marks.end(), random);
    if (order == 4) {  // buffers of some marks each, written in any order
      std::stable_sort(marks.begin(), marks.end(), by_time);
      for (std::size_t i = 0; i + 64 <= marks.size(); i += 48) {
        std::rotate(marks.begin() + static_cast<std::ptrdiff_t>(i), marks.begin() + static_cast<std::ptrdiff_t>(i + 32),
                    marks.begin() + static_cast<std::ptrdiff_t>(i + 64));
      }
    }
    std::string trace;
    for (std::uint64_t track = 1; track <= 7; ++track) {
      trace += thread_packet(track, 5, 100 + track, "thread of " + std::to_string(track));
    }
    for (const Mark& mark : marks) {
      trace += mark.name.empty() ? end_packet(mark.ns, mark.track) : begin_packet(mark.ns, mark.track, mark.name);
    }
    const ImportedTrace imported(trace);
    Slices found;
    for (const RecordedEvent& event : imported.of_table("event")) {
      found.emplace(imported.sink.tracks.at(event.track).name, event.start, event.end, event.name);
    }
    CHECK(found == expected);
    CHECK(imported.reported("ends_without_begin") == 0);
    CHECK(imported.reported("too_many_overlaps") == 0);
  }
}

TEST_CASE("slices without an end last to the trace's end, ends without a begin are told of") {
  const ImportedTrace trace(thread_packet(1, 5, 6, "main") + end_packet(50, 1) + begin_packet(100, 1, "open") +
                            begin_packet(150, 1, "inner") + end_packet(400, 1));
  const std::vector<RecordedEvent> events = trace.of_table("event");
  REQUIRE(events.size() == 2);
  CHECK(events[0].name == "open");
  CHECK(events[0].end == 400);
  CHECK(trace.number(events[0], "unfinished") == 1);
  CHECK(!trace.number(events[1], "unfinished"));
  CHECK(trace.reported("begin_without_end") == 1);
  CHECK(trace.reported("ends_without_begin") == 1);
}

TEST_CASE("arguments of an end belong to its slice, the later ones count, nested ones become one") {
  const auto named = [](std::string_view name, const TraceMessage& value) {
    return TraceMessage().message(4, TraceMessage(value).text(10, name));
  };
  const TraceMessage list = TraceMessage().message(12, TraceMessage().number(4, 1));
  const std::string end = TraceMessage().number(9, 2).number(11, 1).bytes() +
                          named("n", TraceMessage().number(4, 2)).bytes() + named("list", list).bytes() +
                          named("late", TraceMessage().text(6, "word")).bytes();
  const TraceMessage begin_args =
      TraceMessage(named("n", TraceMessage().number(4, 1))).message(4, TraceMessage(list).text(10, "list"));
  const ImportedTrace trace(thread_packet(1, 5, 6, "main") + begin_packet(100, 1, "slice", begin_args) +
                            packet(TraceMessage().number(8, 200).number(10, 1).text(11, end)));
  const std::vector<RecordedEvent> events = trace.of_table("event");
  REQUIRE(events.size() == 1);
  CHECK(trace.number(events[0], "n") == 2);
  CHECK(trace.text(events[0], "list") == "[1,1]");
  CHECK(trace.text(events[0], "late") == "word");
}

TEST_CASE("counters: deltas of a sequence add up, units are multiplied, values beside events are samples too") {
  const auto described = [](std::uint64_t uuid, std::string_view name, const TraceMessage& counter) {
    return packet(
        TraceMessage().number(10, 1).message(60, TraceMessage().number(1, uuid).text(2, name).message(8, counter)));
  };
  const auto sample = [](std::uint64_t ns, std::uint64_t uuid, std::uint64_t value) {
    return packet(TraceMessage().number(8, ns).number(10, 1).message(
        11, TraceMessage().number(9, 4).number(11, uuid).number(30, value)));
  };
  const TraceMessage beside = TraceMessage().number(31, 2).number(12, 7).number(45, 3).real(46, 0.25);
  const ImportedTrace trace(described(1, "deltas", TraceMessage().number(4, 10).number(5, 1)) +
                            described(2, "beside", TraceMessage().text(6, "K")) + described(3, "real", TraceMessage()) +
                            sample(100, 1, 5) + sample(200, 1, 2) + sample(300, 1, static_cast<std::uint64_t>(-3)) +
                            thread_packet(9, 5, 6, "main") + begin_packet(400, 9, "slice", beside) +
                            end_packet(500, 9) + sample(600, 77, 1));
  std::map<std::string, std::vector<double>> values;
  for (const RecordedEvent& event : trace.of_table("counter")) {
    values[trace.sink.tracks.at(event.track).name].push_back(trace.value(event));
  }
  CHECK(values["deltas"] == std::vector<double>{50, 70, 40});
  CHECK(values["beside"] == std::vector<double>{7});
  CHECK(values["real"] == std::vector<double>{0.25});
  CHECK(trace.reported("bad_counter") == 1);  // of a track that is no counter
}

TEST_CASE("flows of one id are a chain in the order of time, whose end lets the id begin anew") {
  std::string text = thread_packet(1, 5, 6, "main");
  const auto slice = [&](std::uint64_t ns, std::string_view name, std::uint32_t field) {
    text += begin_packet(ns, 1, name, TraceMessage().fixed(field, 7)) + end_packet(ns + 10, 1);
  };
  slice(300, "third", 48);
  slice(100, "first", 47);
  slice(200, "second", 47);
  slice(400, "fourth", 47);
  slice(500, "fifth", 47);
  const ImportedTrace trace(text);
  std::map<EventId, std::string> names;
  for (const RecordedEvent& event : trace.of_table("event")) {
    names[make_event_id(event.lane, trace.sink.chunks[event.chunk].first_ordinal() + event.row)] = event.name;
  }
  std::vector<std::pair<std::string, std::string>> flows;
  for (const RecordedEvent& flow : trace.of_table("dependency")) {
    flows.emplace_back(names[static_cast<EventId>(*trace.number(flow, "source_event"))],
                       names[static_cast<EventId>(*trace.number(flow, "target_event"))]);
  }
  const std::vector<std::pair<std::string, std::string>> expected = {
      {"first", "second"}, {"second", "third"}, {"fourth", "fifth"}};
  CHECK(flows == expected);
}

TEST_CASE("calls that name work of a GPU are joined with it") {
  const TraceMessage submits = TraceMessage().message(3000, TraceMessage().number(1, 42));
  const std::string trace_text =
      varied_trace() + begin_packet(8'150, 10, "cudaLaunchKernel", submits) + end_packet(8'160, 10);
  const ImportedTrace trace(trace_text);
  CHECK(trace.of_table("runtime_call").size() == 1);
  bool found = false;
  for (const RecordedEvent& flow : trace.of_table("dependency")) found = found || flow.name == "launch";
  CHECK(found);
}

TEST_CASE("what is lost of a sequence's state is told, and what needs it is left out") {
  const TraceMessage needs = TraceMessage().number(9, 1).number(10, 1).number(11, 1);
  const auto with_flags = [&](std::uint64_t ns, std::uint64_t flags) {
    return packet(TraceMessage().number(8, ns).number(10, 3).number(13, flags).message(11, needs));
  };
  const TraceMessage names = TraceMessage().message(2, TraceMessage().number(1, 1).text(2, "known"));
  const ImportedTrace trace(thread_packet(1, 5, 6, "main") + with_flags(100, 2) +
                            packet(TraceMessage().number(8, 150).number(10, 3).number(13, 1).message(12, names)) +
                            with_flags(200, 2) + packet(TraceMessage().number(8, 250).number(10, 3).number(42, 1)) +
                            with_flags(300, 2) + end_packet(400, 1));
  const std::vector<RecordedEvent> events = trace.of_table("event");
  REQUIRE(events.size() == 1);
  CHECK(events[0].name == "known");
  CHECK(trace.reported("rows_skipped") == 2);
  CHECK(trace.reported("lost_events") == 1);
}

TEST_CASE("packets that are packed, and files joined end to end, are read as if they were not") {
  const std::string plain = varied_trace();
  std::string packed(compressBound(plain.size()), '\0');
  uLongf size = packed.size();
  REQUIRE(compress(reinterpret_cast<Bytef*>(packed.data()), &size, reinterpret_cast<const Bytef*>(plain.data()),
                   plain.size()) == Z_OK);
  packed.resize(size);
  const ImportedTrace once(packet(TraceMessage().text(50, packed)));
  CHECK(once.of_table("kernel").size() == 1);
  const ImportedTrace twice(packet(TraceMessage().text(50, packed)) + plain);
  CHECK(twice.of_table("kernel").size() == 2);
  const ImportedTrace damaged(packet(TraceMessage().text(50, packed.substr(0, packed.size() / 2))) + plain);
  CHECK(damaged.of_table("kernel").size() >= 1);
  CHECK(damaged.reported("unreadable_events") == 1);
}

TEST_CASE("a cut trace gives what it still holds, and says where it ends") {
  const std::string whole = varied_trace();
  std::size_t read = 0;
  for (std::size_t size = 0; size < whole.size(); ++size) {
    CAPTURE(size);
    RecordingSink sink;
    const Result<void> done = import_into(sink, whole.substr(0, size));
    if (!done) {
      CHECK(done.message().find("test.pftrace") != std::string::npos);
      continue;
    }
    ++read;
    for (const RecordedEvent& event : sink.events()) CHECK(event.end >= event.start);
  }
  CHECK(read > whole.size() * 9 / 10);
  const ImportedTrace cut(whole.substr(0, whole.size() - 3));
  CHECK(cut.reported("truncated") == 1);
  CHECK(cut.of_table("kernel").size() == 1);
}

TEST_CASE("bytes in between that are no packets are skipped and told of") {
  const std::string whole = varied_trace();
  const ImportedTrace trace(whole + std::string(200, '\xff') + whole + whole);
  CHECK(trace.of_table("kernel").size() == 3);
  CHECK(trace.reported("stray_bytes") == 200);
}

TEST_CASE("flipped bits give a session or an error, never a crash") {
  const std::string whole = varied_trace();
  for (std::size_t at = 0; at < whole.size(); ++at) {
    for (const int bit : {0, 3, 7}) {
      std::string trace = whole;
      trace[at] = static_cast<char>(trace[at] ^ (1 << bit));
      RecordingSink sink;
      const Result<void> done = import_into(sink, trace);
      if (!done) CHECK(!done.message().empty());
    }
  }
}

TEST_CASE("what one slice carries is cut where it is more than can be sorted, and its track is read all the same") {
  const TraceMessage name = TraceMessage().number(1, 1).text(2, "word");
  const TraceMessage word = TraceMessage().number(1, 1).text(2, std::string(1U << 20, 'a'));
  const std::string interned =
      packet(TraceMessage().number(10, 1).number(13, 1).message(12, TraceMessage().message(3, name).message(29, word)));
  TraceMessage many;
  for (int i = 0; i < 100; ++i) many.message(4, TraceMessage().number(1, 1).number(17, 1));
  const TraceMessage flows = TraceMessage().text(36, std::string(2'200'000, '\x01'));
  for (const TraceMessage& carried : {TraceMessage(many).fixed(47, 9), flows}) {
    const ImportedTrace trace(thread_packet(1, 5, 6, "main") + interned + begin_packet(2'000, 1, "first") +
                              end_packet(3'000, 1) + begin_packet(1'000, 1, "late") + begin_packet(1'500, 1, "open") +
                              begin_packet(1'400, 1, "large", carried));
    const std::vector<RecordedEvent> events = trace.of_table("event");
    REQUIRE(events.size() == 4);
    CHECK(events[0].name == "late");
    CHECK(events[1].name == "large");
    CHECK(events[3].name == "first");
    CHECK(trace.reported("values_left_out") > 0);
  }
}

TEST_CASE("JSON of a slice's begin and end that lies in itself without end becomes one") {
  std::string deep;
  for (int i = 0; i < 50'000; ++i) deep += R"({"a":)";
  deep += "1" + std::string(50'000, '}');
  const TraceMessage argument = TraceMessage().message(4, TraceMessage().text(10, "deep").text(9, deep));
  const std::string end = TraceMessage().number(9, 2).number(11, 1).bytes() + argument.bytes();
  const ImportedTrace trace(thread_packet(1, 5, 6, "main") + begin_packet(100, 1, "slice", argument) +
                            packet(TraceMessage().number(8, 200).number(10, 1).text(11, end)));
  const std::vector<RecordedEvent> events = trace.of_table("event");
  REQUIRE(events.size() == 1);
  CHECK(trace.text(events[0], "deep").size() >= deep.size());
}

TEST_CASE("numbers of texts may be far apart, and one stays known when others come nearer") {
  sources::perfetto::InternTable<sources::perfetto::InternedText> texts;
  for (std::uint64_t i = 1; i <= 100'000; ++i) texts.set(i * 1'000, {.text = std::to_string(i)});
  for (std::uint64_t i = 1; i < 5'000; ++i) {
    if (i % 1'000 != 0) texts.set(i, {.text = "near"});
  }
  std::size_t known = 0;
  for (std::uint64_t i = 1; i <= 100'000; ++i) {
    const auto* const found = texts.find(i * 1'000);
    if (found != nullptr && found->text == std::to_string(i)) ++known;
  }
  CHECK(known == 100'000);
  CHECK(texts.find(4'999)->text == "near");
  CHECK(texts.find(5'001) == nullptr);
  texts.set(3'000, {.text = "new"});
  CHECK(texts.find(3'000)->text == "new");
}

TEST_CASE("a snapshot of more clocks than there are relates the first ones, and takes no memory for the others") {
  TraceMessage snapshot = TraceMessage().message(1, TraceMessage().number(1, 6).number(2, 5'000));
  for (std::uint64_t clock = 200; clock < 20'200; ++clock) {
    snapshot.message(1, TraceMessage().number(1, clock).number(2, 1'000));
  }
  sources::perfetto::TraceClocks clocks;
  clocks.add_snapshot(snapshot.bytes(), 1);
  CHECK(clocks.to_trace(200, 1'500) == 5'500);
  CHECK(!clocks.to_trace(20'000, 1'500));
}

TEST_CASE("packets that inflate without end are left out, and those behind them are read") {
  const auto packed = [](const std::string& plain) {
    std::string bytes(compressBound(plain.size()), '\0');
    uLongf size = bytes.size();
    REQUIRE(compress(reinterpret_cast<Bytef*>(bytes.data()), &size, reinterpret_cast<const Bytef*>(plain.data()),
                     plain.size()) == Z_OK);
    bytes.resize(size);
    return packet(TraceMessage().text(50, bytes));
  };
  std::string large;
  for (int i = 0; i < 60; ++i) large += packet(TraceMessage().text(900, std::string(1U << 20, '\0')));
  const std::string inner = packed(large);
  std::string outer;
  for (int i = 0; i < 20; ++i) outer += inner;
  const ImportedTrace trace(packed(outer) + varied_trace());
  CHECK(trace.reported("unreadable_events") > 5);
  CHECK(trace.of_table("kernel").size() == 1);
}

TEST_CASE(
    "times and numbers at the ends of what can be told are left out or shown as they are, never added up wrongly") {
  constexpr std::uint64_t kMost = INT64_MAX, kLeast = std::uint64_t{1} << 63, kFar = (std::uint64_t{1} << 62) - 1;
  const auto old = [](const TraceMessage& legacy) { return TraceMessage().number(11, 1).message(6, legacy); };
  const auto event = [](std::uint64_t ns, const TraceMessage& of) {
    return packet(TraceMessage().number(8, ns).number(10, 1).message(11, of));
  };
  std::string trace =
      packet(TraceMessage().number(10, 1).message(6, TraceMessage()
                                                         .message(1, TraceMessage().number(1, 6).number(2, 0))
                                                         .message(1, TraceMessage().number(1, 1).number(2, kMost))));
  trace += thread_packet(1, 5, 6, "main");
  trace += packet(TraceMessage().message(60, TraceMessage().number(1, 2).number(5, 1).message(8, TraceMessage())));
  for (const std::uint64_t us : {std::uint64_t{1}, kFar / 1000 - 1, kMost / 1000 - 1, kMost, kLeast}) {
    for (const std::uint64_t ns : {std::uint64_t{100}, kFar, std::uint64_t{0} - kFar, kMost, kLeast}) {
      trace += event(ns, old(TraceMessage().number(2, 'X').number(3, us).number(4, kMost).number(15, us)));
    }
  }
  trace += packet(TraceMessage().number(10, 1).number(13, 1).message(
      44, TraceMessage().number(1, 5).number(2, 6).number(6, kMost / 1000).number(7, kMost / 1000).number(8, kMost)));
  for (const std::uint64_t type : {1U, 2U, 1U, 2U}) {
    const std::uint64_t delta = type == 1 ? kMost / 1000 : std::uint64_t{0} - kMost / 1000;
    trace += event(200, TraceMessage().number(9, type).number(11, 1).number(2, delta).number(8, delta * 1000));
    trace += event(200, TraceMessage().number(9, type).number(11, 1).number(1, delta));
  }
  trace += event(300, TraceMessage().number(9, 1).number(11, 1).number(20, kLeast).text(23, "far"));
  trace += event(400, TraceMessage().number(9, 2).number(11, 1).number(20, kMost));
  for (const std::uint64_t value : {kMost, kLeast}) {
    trace += event(500, TraceMessage().number(9, 4).number(11, 2).number(30, value));
    trace += packet(TraceMessage().number(8, value).number(10, 1).message(
        53, TraceMessage().number(1, 1).number(2, kMost).number(3, 1)));
  }
  trace += event(std::uint64_t{0} - kFar, TraceMessage().number(9, 1).number(11, 1).text(23, "open"));
  const ImportedTrace imported(trace);
  CHECK(imported.reported("rows_skipped") > 0);
  CHECK(imported.reported("rounded_counter") == 1);
  CHECK(imported.sink.meta.contains("begin_unix_ns"));
}

TEST_CASE("Perfetto traces are known by their bytes, whatever they are called") {
  CHECK(sources::perfetto::probe_perfetto(varied_trace(), "anything.bin") > 50);
  CHECK(sources::perfetto::probe_perfetto("", "a.pftrace") == 0);
  CHECK(sources::perfetto::probe_perfetto("{\"traceEvents\":[]}", "a.pftrace") == 0);
  // XLA's XSpace: planes in field 1 with an id and a name.
  CHECK(sources::perfetto::probe_perfetto(packet(TraceMessage().number(1, 1).text(2, "/host:CPU")), "a.pb") == 0);
  CHECK(!import_into(*std::make_unique<RecordingSink>(), "").ok());
}

}  // namespace
}  // namespace accelscope::capture::perfetto_import
