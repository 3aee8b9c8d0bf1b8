// Forms of the format beside the common ones, each as Perfetto reads it; and Perfetto's own cases where the environment
// names a folder of them.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <random>
#include <set>
#include <sstream>

#include "tests/capture/sources/chrome/imported_trace.h"

namespace accelscope::capture {
namespace {

using FormLines = std::vector<std::string>;

constexpr std::array<const char*, 4> kFormTables = {"event", "thread_state", "instant", "kernel"};

std::string read_text(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

// "source>target" of every dependency, by the target's time.
FormLines arrows_of(const Imported& session) {
  std::map<EventId, std::string> names;
  for (const char* table : kFormTables) {
    for (const EventValues& event : session.events(table)) names[event.id] = event.name;
  }
  FormLines arrows;
  for (const EventValues& flow : session.events("dependency")) {
    arrows.push_back(names[static_cast<EventId>(flow.integer("source_event").value())] + ">" +
                     names[static_cast<EventId>(flow.integer("target_event").value())]);
  }
  std::sort(arrows.begin(), arrows.end());
  return arrows;
}

// "begin+duration name", by time, in ns of the file.
FormLines slices_of(const Imported& session) {
  const std::int64_t zero = std::stoll(std::string(session.snapshot().meta_value("trace_begin_ns")));
  FormLines lines;
  for (const char* table : kFormTables) {
    for (const EventValues& event : session.events(table)) {
      lines.push_back(fmt::format("{}+{} {}", event.begin + zero, event.end - event.begin, event.name));
    }
  }
  std::sort(lines.begin(), lines.end());
  return lines;
}

const TrackSnapshot* track_named(const Imported& session, std::string_view part) {
  for (const TrackSnapshot& track : session.snapshot().tracks) {
    if (track.track->name.find(part) != std::string::npos) return &track;
  }
  return nullptr;
}

std::string bound_event(const char* phase, const char* name, int ts, const char* more) {
  return fmt::format(R"({{"ph":"{}","cat":"ipc","name":"{}","pid":1,"tid":{},"ts":{},{}}},)", phase, name, ts / 1000,
                     ts, more);
}

}  // namespace

TEST_CASE("flows of version 2 lead from event to event by their bind_id") {
  const Imported session = imported_trace(
      trace_of(bound_event("X", "SenderA", 3002, R"("dur":10,"bind_id":"0x402","flow_out":true)") +
               bound_event("X", "SenderB", 10, R"("dur":10,"bind_id":"0x403","flow_out":true,"flow_in":false)") +
               bound_event("X", "Receiver", 1001, R"("dur":100,"bind_id":"0x403","flow_in":true)") +
               bound_event("X", "Relay", 3200, R"("dur":500,"bind_id":"0x402","flow_in":true,"flow_out":true)") +
               bound_event("X", "One", 3331, R"("dur":400,"bind_id":1026,"flow_in":true)") +
               bound_event("B", "Two", 5333, R"("bind_id":"0x402","flow_in":true)") +
               bound_event("E", "Two", 5366, R"("args":{})") +
               bound_event("X", "Not one", 6000, R"("dur":4,"bind_id":"0x402")") +
               R"({"ph":"X","name":"plain","pid":1,"tid":9,"ts":9000,"dur":4})"));
  CHECK(arrows_of(session) == FormLines{"Relay>One", "Relay>Two", "SenderA>Relay", "SenderB>Receiver"});
}

TEST_CASE("a flow of version 2 leads to its own event where others begin at the same time") {
  const Imported session = imported_trace(trace_of(
      R"({"ph":"X","name":"out","pid":1,"tid":1,"ts":1,"dur":2,"bind_id":7,"flow_out":true},
         {"ph":"X","name":"outer","pid":1,"tid":2,"ts":10,"dur":9,"bind_id":7,"flow_in":true},
         {"ph":"X","name":"inner","pid":1,"tid":2,"ts":10,"dur":3},
         {"ph":"i","name":"moment","pid":1,"tid":2,"ts":10,"bind_id":7,"flow_in":true},
         {"ph":"X","name":"again","pid":1,"tid":3,"ts":20,"dur":3,"bind_id":7,"flow_out":true},
         {"ph":"X","name":"lost","pid":1,"tid":3,"ts":30,"dur":3,"bind_id":8,"flow_in":true})"));
  CHECK(arrows_of(session) == FormLines{"out>moment", "out>outer"});
  CHECK(quality_count(session, "flow_begun_twice") == 1);
  CHECK(quality_count(session, "flow_without_partner") == 1);
}

TEST_CASE("states of threads last as long as they say, on a row of their own") {
  const Imported session = imported_trace(trace_of(
      R"({"ph":"T","cat":"thread_state","name":"Running","pid":1,"tid":2,"ts":1000,"dur":5000,"args":{"cpu":3}},
         {"ph":"T","cat":"thread_state","name":"S","pid":1,"tid":2,"ts":6000,"dur":10000},
         {"ph":"X","name":"work","pid":1,"tid":2,"ts":2000,"dur":6000},
         {"ph":"T","name":"step","pid":1,"tid":2,"ts":2500,"id":4})"));
  const auto states = session.events("thread_state");
  REQUIRE(states.size() == 2);
  CHECK(states[0].end - states[0].begin == 5'000'000);
  CHECK(states[1].end - states[1].begin == 10'000'000);
  CHECK(states[0].integer("cpu") == 3);
  CHECK(states[0].track == "thread 2 state");
  CHECK(states[0].depth == 0);
  CHECK(session.events("event").front().depth == 0);
  CHECK(session.count("instant") == 1);  // without a duration it is a step of an asynchronous event
}

TEST_CASE("counters take texts of numbers, and say where a number was too long for them") {
  const Imported session = imported_trace(trace_of(
      R"({"ph":"C","name":"a","pid":1,"ts":1,"args":{"x":"+10.5","y":" -3 ","z":"0x10"}},
         {"ph":"C","name":"b","pid":1,"ts":2,"args":{"v":9007199254740993}},
         {"ph":"C","name":"b","pid":1,"ts":3,"args":{"v":9007199254740992}},
         {"ph":"C","name":"b","pid":1,"ts":4,"args":{"v":"18446744073709551615"}},
         {"ph":"C","name":"c","pid":1,"ts":5,"args":{"v":"+-1"}})"));
  std::map<std::string, std::vector<double>> values;
  for (const EventValues& sample : session.events("counter")) values[sample.track].push_back(*sample.real("value"));
  CHECK(values["a x"] == std::vector<double>{10.5});
  CHECK(values["a y"] == std::vector<double>{-3});
  CHECK(values["a z"] == std::vector<double>{16});
  CHECK(values["b v"] == std::vector<double>{9007199254740992.0, 9007199254740992.0, 18446744073709551616.0});
  CHECK(quality_count(session, "rounded_counter") == 2);
  CHECK(quality_count(session, "bad_counter") == 1);
}

TEST_CASE("labels of processes and a thread's own name are shown where its rows are split") {
  const Imported plain = imported_trace(trace_of(
      R"({"ph":"X","name":"x","pid":9,"tid":1,"ts":1,"dur":1},
         {"ph":"M","name":"process_name","pid":9,"args":{"name":"Renderer"}},
         {"ph":"M","name":"process_labels","pid":9,"args":{"labels":"Inbox"}})"));
  CHECK(plain.snapshot().tracks.front().track->host == "Renderer (9) Inbox");
  CHECK(plain.snapshot().meta_value("process.9.labels") == "Inbox");
  const Imported profile = imported_trace(
      R"json({"schemaVersion":1,"traceEvents":[
         {"ph":"X","cat":"cpu_op","name":"x","pid":9,"tid":62,"ts":1,"dur":1},
         {"ph":"X","cat":"cuda_runtime","name":"y","pid":9,"tid":62,"ts":1,"dur":1},
         {"ph":"X","cat":"cpu_op","name":"z","pid":9,"tid":9,"ts":1,"dur":1},
         {"ph":"X","cat":"cuda_runtime","name":"w","pid":9,"tid":9,"ts":1,"dur":1},
         {"ph":"M","name":"process_name","pid":9,"args":{"name":"trainer"}},
         {"ph":"M","name":"process_labels","pid":9,"args":{"labels":"CPU"}},
         {"ph":"M","name":"thread_name","pid":9,"tid":62,"args":{"name":"thread 62 (pt_autograd_0)"}},
         {"ph":"M","name":"thread_name","pid":9,"tid":9,"args":{"name":"thread 9 (trainer)"}}]})json");
  CHECK(track_named(profile, "pt_autograd_0 operators") != nullptr);
  CHECK(track_named(profile, "pt_autograd_0 runtime") != nullptr);
  REQUIRE(track_named(profile, "Main thread operators") != nullptr);
  CHECK(track_named(profile, "trainer operators") == nullptr);
  for (const TrackSnapshot& track : profile.snapshot().tracks) CHECK(track.track->host == "trainer (9)");
}

TEST_CASE("an event without a thread is one of the thread that has its process's number") {
  const Imported session = imported_trace(
      R"([{"ph":"X","name":"Child","ts":1,"dur":5,"pid":1},{"ph":"X","name":"Parent","ts":1,"dur":10,"pid":1,"tid":1}])");
  CHECK(session.snapshot().tracks.size() == 1);
  const auto events = session.events("event");
  REQUIRE(events.size() == 2);
  for (const EventValues& event : events) CHECK(event.depth == (event.name == "Parent" ? 0 : 1));
}

TEST_CASE("begins and ends are joined by time, in whatever order the file has them") {
  std::vector<std::string> rows;
  FormLines expected;
  // A stack per thread: outer, two in it one after the other, the second with one in it; names on the ends or not.
  const auto pair = [&](int tid, int begin, int end, const char* name, bool named_end) {
    rows.push_back(fmt::format(R"({{"ph":"B","name":"{}","pid":1,"tid":{},"ts":{}}})", name, tid, begin));
    rows.push_back(fmt::format(R"({{"ph":"E"{},"pid":1,"tid":{},"ts":{},"args":{{"end":{}}}}})",
                               named_end ? fmt::format(R"(,"name":"{}")", name) : "", tid, end, end));
    expected.push_back(fmt::format("{}+{} {}", begin * 1000, (end - begin) * 1000, name));
  };
  for (int tid = 1; tid <= 3; ++tid) {
    pair(tid, 100 * tid, 100 * tid + 90, "outer", tid == 1);
    pair(tid, 100 * tid + 10, 100 * tid + 20, "first", false);
    pair(tid, 100 * tid + 30, 100 * tid + 60, "second", tid == 2);
    pair(tid, 100 * tid + 40, 100 * tid + 50, "leaf", false);
  }
  std::sort(expected.begin(), expected.end());
  std::mt19937 random(11);
  for (int round = 0; round < 20; ++round) {
    std::string text;
    for (const std::string& row : rows) text += (text.empty() ? "" : ",") + row;
    const Imported session = imported_trace(trace_of(text));
    CHECK(slices_of(session) == expected);
    CHECK(quality_count(session, "end_without_begin") == 0);
    CHECK(quality_count(session, "begin_without_end") == 0);
    for (const EventValues& event : session.events("event")) {
      const std::int64_t zero = std::stoll(std::string(session.snapshot().meta_value("trace_begin_ns")));
      CHECK(event.integer("end") == (event.end + zero) / 1000);
    }
    std::shuffle(rows.begin(), rows.end(), random);
  }
}

TEST_CASE("more begins and ends than may wait are joined all the same, and very late ones are counted") {
  std::string text;
  constexpr int kPairs = 200'000;
  for (int i = 0; i < kPairs; ++i) {
    text += fmt::format(
        "{{\"ph\":\"B\",\"name\":\"n\",\"pid\":1,\"tid\":1,\"ts\":{}}},{{\"ph\":\"E\",\"pid\":1,\"tid\":1,"
        "\"ts\":{}}},",
        10 * i + 10, 10 * i + 15);
  }
  text += R"({"ph":"B","name":"late","pid":1,"tid":1,"ts":1},{"ph":"E","name":"late","pid":1,"tid":1,"ts":4})";
  const Imported session = imported_trace(trace_of(text));
  CHECK(session.count("event") == kPairs + 1);
  CHECK(quality_count(session, "pairs_out_of_order") == 2);
  CHECK(quality_count(session, "begin_without_end") == 0);
  std::int64_t sum = 0;
  for (const EventValues& event : session.events("event")) sum += event.end - event.begin;
  CHECK(sum == kPairs * std::int64_t{5000} + 3000);
}

TEST_CASE("Perfetto's own cases of JSON give the rows that it gives") {
  const char* root = std::getenv("ACCELSCOPE_REAL_DATA");
  if (root == nullptr) return;
  const std::filesystem::path folder = std::filesystem::path(root) / "perfetto" / "conformance";
  const auto session_of = [&](const char* name) {
    return imported_trace(read_text(folder / (std::string(name) + ".json")));
  };
  CHECK(arrows_of(session_of("parser_parsing____flow_events_json_v2")) ==
        FormLines{"OtherSlice>SomeOtherSlice", "OtherSlice>SomeSlice", "SenderA>OtherSlice", "SenderB>Blergh"});
  CHECK(slices_of(session_of("parser_json____json_thread_state_sched")) ==
        FormLines{"1000000+5000000 Running", "26000000+4000000 Running", "6000000+10000000 S"});
  CHECK(slices_of(session_of("parser_json____string_ts_and_dur")) ==
        FormLines{"100000+100500 BeginEvent", "250000+50500 CompleteEvent"});
  CHECK(slices_of(session_of("parser_json____json_trailing_comma")) ==
        FormLines{"3473608458+295555500 Foo", "4890000+3764289708 Bar"});
  CHECK(slices_of(session_of("parser_parsing____display_time_unit_slices")) ==
        FormLines{"1597071955492308000+211463000 add_graph"});
  CHECK(slices_of(session_of("parser_json____json_pid_tid_zero")) ==
        FormLines{"0+1000 31 ", "0+1000 RoutineControl", "0+4000 RoutineControl Reeq", "1000+1000 01 ",
                  "1000+1000 startRoutine", "2000+2000 02 03 ", "2000+2000 Routine Identifier"});
  const Imported metadata = session_of("parser_json____json_metadata");
  CHECK(slices_of(metadata) == FormLines{"790000+25000 ActivityOnThread31", "900000+50000 EventMissingCatAndArgs",
                                         "960000+10000 PidOnlyEvent", "970000+10000 NoPidNoTidEvent"});
  CHECK(metadata.count("counter") == 3);
  CHECK(quality_count(metadata, "bad_counter") == 2);
  const auto nested = session_of("parser_json____x_event_order").events("event");
  REQUIRE(nested.size() == 2);
  for (const EventValues& event : nested) CHECK(event.depth == (event.name == "Parent" ? 0 : 1));
  CHECK(session_of("parser_json____overlapping_complete_event_recovered").count("event") == 2);
  CHECK(session_of("parser_parsing____counters_json_counters").count("counter") == 3);
  for (const char* name : {"json_async", "json_id2", "json_id2_global_string_id", "json_id2_local_string_id"}) {
    const Imported joined = session_of((std::string("parser_json____") + name).c_str());
    for (const EventValues& event : joined.events("event")) CHECK(event.end - event.begin == 100'000);
    CHECK(quality_count(joined, "end_without_begin") == 0);
  }
}

}  // namespace accelscope::capture
