// What Chrome JSON traces of real tools do, one small trace each.
#include <doctest/doctest.h>

#include <fmt/format.h>
#include <map>

#include <algorithm>
#include <set>

#include "capture/sources/base/importers.h"
#include "tests/capture/sources/chrome/imported_trace.h"

namespace accelscope::capture {
namespace {

const EventValues& only(const std::vector<EventValues>& events) {
  REQUIRE(events.size() == 1);
  return events.front();
}

const EventValues* named(const std::vector<EventValues>& events, std::string_view name) {
  const auto found = std::find_if(events.begin(), events.end(), [&](const EventValues& e) { return e.name == name; });
  return found == events.end() ? nullptr : &*found;
}

int probe(std::string_view text) { return sources::chrome::probe_chrome_json(text, ""); }

constexpr const char* kEvent = R"({"ph":"X","name":"a","cat":"c","pid":1,"tid":2,"ts":5,"dur":3})";

}  // namespace

TEST_CASE("a trace is recognised by its content, and a Neuron profile is not taken for one") {
  CHECK(probe(R"({"schemaVersion": 1, "traceEvents": [)") > 90);
  CHECK(probe(" [ {\"name\": \"a\", \"ph\": \"X\", \"ts\": 1}") > 50);
  CHECK(probe(R"({"deviceProperties": [], "trace_id": "a")") > 50);
  CHECK(probe(R"({"instruction":[{"timestamp":1}]})") == 0);
  CHECK(probe(R"([{"ts": 1}])") == 0);
  CHECK(probe("traceEvents") == 0);
  const std::string trace = trace_of(kEvent);
  CHECK(sources::neuron::probe_neuron_json(trace, "") == 0);
  for (const char* neuron : {R"({"instruction":[{"ph":"X"}]})", R"({"summary":[{"total_time":1}],"dma":[]})",
                             R"({"trace_events":[{"name":"a","ph":"X","ts":1}],"cpu_util":[]})"}) {
    const std::string_view text = neuron;
    CHECK(probe(text) <= sources::neuron::probe_neuron_json(text, ""));
  }
}

TEST_CASE("objects, arrays, unterminated arrays and trailing commas are read") {
  const std::string event = kEvent;
  for (const std::string& text :
       {trace_of(event), "[" + event + "]", "[" + event, "[" + event + ",", "[\n" + event + ",\n", "[" + event + ",]",
        "{\"traceEvents\":[" + event + ",]}", "{\"traceEvents\":[" + event + ",{}]}",
        "\xef\xbb\xbf{\"displayTimeUnit\":\"ms\",\"traceEvents\":[" + event + "],\"traceName\":\"t\"}",
        "{\"traceEvents\":[" + event}) {
    CAPTURE(text);
    const Imported session = imported_trace(text);
    const EventValues event_values = only(session.events("event"));
    CHECK(event_values.end == 3000);
    CHECK(quality_count(session, "rows_skipped") == 0);
  }
}

TEST_CASE("the bracket that closes an array of events may be missing, an event that breaks off is told") {
  const std::string event = kEvent;
  for (const std::string& text : {"[" + event, "[" + event + ",", "[\n" + event + ",\n"}) {
    CAPTURE(text);
    CHECK(quality_count(imported_trace(text), "truncated") == 0);
  }
  CHECK(quality_count(imported_trace("[" + event + "," + event.substr(0, event.size() - 3)), "truncated") == 1);
  CHECK(quality_count(imported_trace("{\"traceEvents\":[" + event), "truncated") == 1);
}

TEST_CASE("a trace that lies within another's traceEvents is read, with the facts beside it") {
  const Imported session = imported_trace(
      R"({"traceEvents":{"traceEvents":[{"ph":"X","name":"a","pid":1,"tid":1,"ts":1,"dur":10},
          {"ph":"X","name":"b","pid":1,"tid":1,"ts":2,"dur":5}],"metadata":{"host":"box"}},"controllerTraceDataKey":"x"})");
  CHECK(session.count("event") == 2);
  CHECK(session.snapshot().meta_value("metadata.host") == "box");
  CHECK(session.snapshot().meta_value("controllerTraceDataKey") == "x");
  CHECK(session.snapshot().quality.empty());
}

TEST_CASE("what comes behind a trace is told once, however much it is") {
  const Imported session = imported_trace(trace_of(kEvent) + "\nINFO: done\n" + std::string(3'000'000, 'x'));
  CHECK(session.count("event") == 1);
  CHECK(std::count_if(
            session.snapshot().quality.begin(), session.snapshot().quality.end(), [](const QualityEntry& entry) {
              return entry.kind == "trailing_bytes" || entry.kind == "stray_bytes" || entry.kind == "truncated";
            }) == 1);
}

TEST_CASE("a phase of several letters counts as its first one") {
  const Imported session = imported_trace(trace_of(
      R"({"ph":"XXX","name":"a","pid":1,"tid":1,"ts":1,"dur":10},{"ph":"","name":"b","pid":1,"tid":1,"ts":2})"));
  CHECK(only(session.events("event")).name == "a");
  CHECK(quality_count(session, "rows_skipped") == 1);
}

TEST_CASE("traces of two tools that both tell what their times count from lie on one time") {
  const auto begin = [](const char* trace) {
    return std::stoll(std::string(imported_trace(trace).snapshot().meta_value("begin_unix_ns")));
  };
  const std::int64_t viztracer = begin(
      R"({"traceEvents":[{"pid":50,"tid":50,"ts":100.0,"ph":"X","dur":4000.0,"cat":"FEE","name":"step"}],
          "viztracer_metadata":{"version":"1.1.1","overflow":false,"baseTimeNanoseconds":1783000000000000000}})");
  const std::int64_t proton = begin(
      R"({"displayTimeUnit":"us","baseTimeNanoseconds":1783000000001500000,
          "traceEvents":[{"name":"matmul_kernel","cat":"kernel","ph":"X","ts":0.0,"dur":12.5,"tid":7}]})");
  CHECK(proton - viztracer == 1'400'000);
}

TEST_CASE("metadata before and after the events is kept") {
  const Imported session = imported_trace(
      R"({"schemaVersion":1,"distributedInfo":{"backend":"nccl","rank":3,"world_size":8},
          "deviceProperties":[{"id":0,"name":"H100","totalGlobalMem":85018279936,"numSms":132}],
          "traceEvents":[{"ph":"X","cat":"cpu_op","name":"op","pid":1,"tid":1,"ts":10.5,"dur":1}],
          "traceName":"run.json","baseTimeNanoseconds":1700000000000000000})");
  const Snapshot& snapshot = session.snapshot();
  CHECK(snapshot.meta_value("distributedInfo.rank") == "3");
  CHECK(snapshot.meta_value("distributedInfo.world_size") == "8");
  CHECK(snapshot.meta_value("job.rank") == "3");
  CHECK(snapshot.meta_value("job.ranks") == "8");
  CHECK(snapshot.meta_value("device.0.name") == "H100");
  CHECK(snapshot.meta_value("device.0.totalGlobalMem") == "85018279936");
  CHECK(snapshot.meta_value("capacity.GPU 0 memory") == "85018279936");
  CHECK(snapshot.meta_value("traceName") == "run.json");
  CHECK(snapshot.meta_value("begin_unix_ns") == "1700000000000010500");
}

TEST_CASE("session time begins at the first event and keeps every ns of epoch times") {
  const Imported session = imported_trace(trace_of(
      R"({"ph":"X","name":"b","pid":1,"tid":1,"ts":1712195495519690.001,"dur":0.999},
         {"ph":"X","name":"a","pid":1,"tid":1,"ts":1712195495519689.813,"dur":0.1},
         {"ph":"M","name":"thread_name","pid":1,"tid":1,"ts":0,"args":{"name":"main"}})"));
  const auto events = session.events("event");
  REQUIRE(named(events, "a") != nullptr);
  CHECK(named(events, "a")->begin == 0);
  CHECK(named(events, "a")->end == 100);
  CHECK(named(events, "b")->begin == 188);
  CHECK(named(events, "b")->end == 1187);
  CHECK(named(events, "b")->track == "main");
  CHECK(session.snapshot().meta_value("trace_begin_ns") == "1712195495519689813");
}

TEST_CASE("displayTimeUnit does not change the unit of times") {
  const Imported session = imported_trace(std::string(R"({"displayTimeUnit":"ns","traceEvents":[)") + kEvent + "]}");
  CHECK(only(session.events("event")).end == 3000);
}

TEST_CASE("pids and tids may be numbers, texts, negative or null") {
  const Imported session = imported_trace(trace_of(
      R"({"ph":"X","name":"a","pid":25738,"tid":"25738","ts":1,"dur":1},
         {"ph":"X","name":"b","pid":"25738","tid":25738,"ts":3,"dur":1},
         {"ph":"X","name":"c","pid":-1,"tid":-247463936,"ts":1,"dur":1},
         {"ph":"X","name":"d","pid":null,"tid":null,"ts":1,"dur":1},
         {"ph":"X","name":"e","pid":"Spans","tid":"PyTorch Profiler","ts":1,"dur":1},
         {"ph":"X","name":"f","ts":1,"dur":1})"));
  const auto events = session.events("event");
  CHECK(events.size() == 6);
  std::set<std::string> tracks;
  for (const EventValues& event : events) tracks.insert(event.host + "/" + event.track);
  CHECK(tracks.size() == 4);  // a with b; c; d with f; e
  CHECK(named(events, "a")->track == named(events, "b")->track);
  CHECK(named(events, "c")->host == "process -1");
  CHECK(named(events, "e")->track == "PyTorch Profiler");
  CHECK(quality_count(session, "rows_skipped") == 0);
}

TEST_CASE("process 0, thread 0 of Python does not share a track with stream 0 of device 0") {
  const Imported session = imported_trace(trace_of(
      R"json({"ph":"X","cat":"python_function","name":"threading.py(1032): _bootstrap","pid":0,"tid":0,"ts":1,"dur":9,
          "args":{"Python parent id":null,"Python id":1,"Ev Idx":3}},
         {"ph":"X","cat":"kernel","name":"gemm","pid":0,"tid":0,"ts":2,"dur":3,
          "args":{"device":0,"stream":0,"correlation":7,"grid":[1, 2,
            3],"est. achieved occupancy %":50}},
         {"ph":"X","cat":"gpu_memcpy","name":"Memcpy HtoD","pid":0,"tid":0,"ts":6,"dur":1,
          "args":{"device":0,"stream":0,"bytes":2560,"kind":"HtoD","memory bandwidth (GB/s)":2.5}})json"));
  const EventValues python = only(session.events("python_function"));
  const EventValues kernel = only(session.events("kernel"));
  const EventValues copy = only(session.events("memcpy"));
  CHECK(python.kind == "host_thread");
  CHECK(python.string("source_location") == "threading.py:1032");
  CHECK(!python.integer("Python parent id").has_value());
  CHECK(kernel.kind == "stream");
  CHECK(kernel.device == "GPU 0");
  CHECK(kernel.track == "stream 0");
  CHECK(kernel.string("grid") == "[1, 2, 3]");
  CHECK(kernel.real("est. achieved occupancy %") == 50.0);
  CHECK(!kernel.integer("registers per thread").has_value());
  CHECK(copy.kind == "dma_queue");
  CHECK(copy.integer("bytes") == 2560);
  CHECK(copy.string("kind") == "HtoD");
  CHECK(copy.string("cat") == "gpu_memcpy");
}

TEST_CASE("the names of 2021 lead to the same tables, and numbers written as texts to the same columns") {
  const Imported session = imported_trace(trace_of(
      R"({"ph":"X","cat":"Operator","name":"aten::empty","pid":1,"tid":"1","ts":1,"dur":1,
          "args":{"Call stack":"a/profiler.py(611): __init__;b.py(2): run"}},
         {"ph":"X","cat":"Runtime","name":"cudaMemcpyAsync","pid":1,"tid":"1","ts":3,"dur":1,
          "args":{"cbid":41,"correlation":34417,"external id":537}},
         {"ph":"X","cat":"Memcpy","name":"Memcpy HtoD","pid":0,"tid":"stream 7","ts":4,"dur":1,
          "args":{"stream":7,"correlation":34417,"external id":537,"bytes":8}},
         {"ph":"X","cat":"Memset","name":"Memset","pid":0,"tid":"stream 7","ts":6,"dur":1,"args":{"bytes":8}},
         {"ph":"X","cat":"Kernel","name":"k","pid":0,"tid":"stream 7","ts":8,"dur":1,"args":{"stream":7}},
         {"ph":"X","cat":"cuda_runtime","name":"hipMemcpyWithStream","pid":1,"tid":1,"ts":9,"dur":1,
          "args":{"stream":"0x1f","cid":153,"src":"0x55674ecd4180","size":"2560","kind":"1"}})"));
  CHECK(only(session.events("cpu_op")).string("Call stack") == "__init__ (a/profiler.py:611)\nrun (b.py:2)");
  CHECK(only(session.events("memcpy")).integer("External id") == 537);
  CHECK(only(session.events("memcpy")).track == "memcpy stream 7");
  CHECK(only(session.events("memset")).integer("bytes") == 8);
  CHECK(only(session.events("kernel")).track == "stream 7");
  const auto calls = session.events("runtime_call");
  REQUIRE(named(calls, "hipMemcpyWithStream") != nullptr);
  CHECK(named(calls, "hipMemcpyWithStream")->integer("stream") == 0x1f);
  CHECK(named(calls, "hipMemcpyWithStream")->integer("size") == 2560);
  CHECK(named(calls, "hipMemcpyWithStream")->integer("src") == 0x55674ecd4180);
  CHECK(named(calls, "cudaMemcpyAsync")->integer("External id") == 537);
}

TEST_CASE("arguments that come later than the first events', or are of another type, are kept as JSON") {
  std::string rows;
  for (int i = 0; i < 200; ++i) {
    rows += fmt::format(R"({{"ph":"X","name":"a","pid":1,"tid":1,"ts":{},"dur":1,"args":{{"n":{}}}}},)", i * 2, i);
  }
  rows +=
      R"({"ph":"X","name":"late","pid":1,"tid":1,"ts":1000,"dur":1,"args":{"n":"many","new":{"x":[1,2]},"none":null}})";
  sources::chrome::ChromeReading reading;
  reading.window_bytes = 2000;
  const Imported session = imported_trace(trace_of(rows), reading);
  const auto events = session.events("event");
  CHECK(events.size() == 201);
  REQUIRE(named(events, "late") != nullptr);
  CHECK(named(events, "late")->string("args") == R"({"n":"many","new":{"x":[1,2]}})");
  CHECK(!named(events, "late")->integer("n").has_value());
}

TEST_CASE("fields beside the args are kept too") {
  const Imported session = imported_trace(
      trace_of(R"({"ph":"X","name":"a","pid":1,"tid":1,"ts":1,"dur":1,"tts":17,"tdur":3,"args":{"x":true}},
                  {"ph":"X","name":"b","pid":1,"tid":1,"ts":3,"dur":1,"args":"text"})"));
  const auto events = session.events("event");
  CHECK(named(events, "a")->integer("tts") == 17);
  CHECK(named(events, "a")->integer("x") == 1);
  CHECK(named(events, "b")->string("args") == R"({"args":"text"})");
}

TEST_CASE("begins and ends are joined by the stack of their thread") {
  const Imported session = imported_trace(trace_of(
      R"({"ph":"B","name":"outer","cat":"c","pid":1,"tid":1,"ts":10,"args":{"a":1}},
         {"ph":"B","name":"inner","cat":"c","pid":1,"tid":1,"ts":11},
         {"ph":"B","name":"other thread","cat":"c","pid":1,"tid":2,"ts":11},
         {"ph":"E","pid":1,"tid":1,"ts":12},
         {"ph":"E","name":"outer","cat":"c","pid":1,"tid":1,"ts":20,"args":{"b":2}},
         {"ph":"E","name":"never began","cat":"c","pid":1,"tid":1,"ts":21},
         {"ph":"B","name":"renamed","cat":"c","pid":1,"tid":1,"ts":22},
         {"ph":"E","name":"another","cat":"c","pid":1,"tid":1,"ts":25})"));
  const auto events = session.events("event");
  REQUIRE(events.size() == 5);
  CHECK(named(events, "outer")->end - named(events, "outer")->begin == 10000);
  CHECK(named(events, "outer")->integer("a") == 1);
  CHECK(named(events, "outer")->depth == 0);
  CHECK(named(events, "inner")->end - named(events, "inner")->begin == 1000);
  CHECK(named(events, "inner")->depth == 1);
  CHECK(named(events, "other thread")->end == 15000);  // the end of the trace
  CHECK(named(events, "never began")->begin == named(events, "never began")->end);
  CHECK(named(events, "renamed")->end - named(events, "renamed")->begin == 3000);
  CHECK(quality_count(session, "begin_without_end") == 1);
  CHECK(quality_count(session, "end_without_begin") == 1);
  CHECK(quality_count(session, "mismatched_end") == 1);
}

TEST_CASE("asynchronous events are joined by category and id, in whatever order they overlap") {
  const Imported session = imported_trace(trace_of(
      R"({"ph":"b","name":"load","cat":"net","id":"0x1","pid":1,"tid":1,"ts":10},
         {"ph":"b","name":"load","cat":"net","id":"req-2","pid":1,"tid":1,"ts":11},
         {"ph":"n","name":"first byte","cat":"net","id":"0x1","pid":1,"tid":1,"ts":12},
         {"ph":"e","name":"load","cat":"net","id":1,"pid":1,"tid":2,"ts":14},
         {"ph":"e","name":"load","cat":"net","id":"req-2","pid":1,"tid":1,"ts":19},
         {"ph":"b","name":"load","cat":"disk","id2":{"local":"0x1"},"pid":1,"tid":1,"ts":20},
         {"ph":"e","name":"load","cat":"disk","id2":{"local":"0x1"},"pid":2,"tid":1,"ts":21})"));
  auto events = session.events("event");
  std::sort(events.begin(), events.end(), [](const auto& a, const auto& b) { return a.begin < b.begin; });
  REQUIRE(events.size() == 4);
  CHECK(events[0].end == 4000);
  CHECK(events[1].begin == 1000);
  CHECK(events[1].end == 9000);
  CHECK(events[1].depth == 1);
  CHECK(events[0].track == "asynchronous: net");
  CHECK(only(session.events("instant")).name == "first byte");
  CHECK(quality_count(session, "begin_without_end") == 1);  // of another process' local id
  CHECK(quality_count(session, "end_without_begin") == 1);
}

TEST_CASE("every series of a counter is a track") {
  const Imported session = imported_trace(trace_of(
      R"({"ph":"C","name":"memory","pid":1,"tid":1,"ts":1,"args":{"used":10,"free":"90.5"}},
         {"ph":"C","name":"memory","pid":1,"tid":2,"ts":2,"args":{"used":11,"free":89}},
         {"ph":"C","name":"load","pid":1,"ts":2,"id":7,"args":{"load":0.5}},
         {"ph":"C","name":"bad","pid":1,"ts":2,"args":{"text":"x"}})"));
  const auto samples = session.events("counter");
  REQUIRE(samples.size() == 5);
  std::map<std::string, std::vector<double>> values;
  for (const EventValues& sample : samples) values[sample.track].push_back(sample.real("value").value());
  CHECK(values["memory used"] == std::vector<double>{10, 11});
  CHECK(values["memory free"] == std::vector<double>{90.5, 89});
  CHECK(values["load [7]"] == std::vector<double>{0.5});
  CHECK(quality_count(session, "bad_counter") == 1);
}

TEST_CASE("instants are points in time of their thread") {
  const Imported session = imported_trace(trace_of(
      R"({"ph":"i","s":"g","name":"Record Window End","pid":"","tid":"","ts":5},
         {"ph":"I","name":"old","pid":1,"tid":1,"ts":6,"args":{"k":"v"}},
         {"ph":"R","name":"mark","cat":"blink.user_timing","pid":1,"tid":1,"ts":7})"));
  const auto instants = session.events("instant");
  REQUIRE(instants.size() == 3);
  for (const EventValues& instant : instants) CHECK(instant.begin == instant.end);
  CHECK(named(instants, "old")->string("k") == "v");
  CHECK(named(instants, "mark")->string("cat") == "blink.user_timing");
}

TEST_CASE("events that overlap without nesting open further sub-lanes") {
  const Imported session = imported_trace(trace_of(
      R"({"ph":"X","name":"a","cat":"kernel","pid":0,"tid":7,"ts":0,"dur":10,"args":{"stream":7}},
         {"ph":"X","name":"b","cat":"kernel","pid":0,"tid":7,"ts":5,"dur":10,"args":{"stream":7}},
         {"ph":"X","name":"c","cat":"kernel","pid":0,"tid":7,"ts":9.999,"dur":0.002,"args":{"stream":7}},
         {"ph":"X","name":"d","cat":"kernel","pid":0,"tid":7,"ts":10,"dur":1,"args":{"stream":7}})"));
  const auto kernels = session.events("kernel");
  REQUIRE(kernels.size() == 4);
  CHECK(named(kernels, "a")->depth == 0);
  CHECK(named(kernels, "b")->depth == 1);
  CHECK(named(kernels, "c")->depth == 2);
  CHECK(named(kernels, "d")->depth == 0);
}

TEST_CASE("phases that are not known are counted and said") {
  const Imported session =
      imported_trace(trace_of(std::string(kEvent) + R"(,{"ph":"O","name":"x","id":1,"ts":1,"pid":1,"tid":1},
                                         {"ph":"O","name":"x","id":1,"ts":2,"pid":1,"tid":1},
                                         {"ph":"v","name":"x","id":1,"ts":2,"pid":1,"tid":1})"));
  CHECK(quality_count(session, "unknown_phase") == 3);
  CHECK(session.count("event") == 1);
}

TEST_CASE("names of processes and threads, their labels and order are used") {
  const Imported session = imported_trace(trace_of(
      R"({"ph":"X","name":"x","pid":9,"tid":1,"ts":1,"dur":1},
         {"ph":"X","name":"y","pid":9,"tid":2,"ts":1,"dur":1},
         {"ph":"X","name":"z","pid":3,"tid":2,"ts":1,"dur":1},
         {"ph":"M","name":"process_name","pid":9,"args":{"name":"trainer"}},
         {"ph":"M","name":"thread_name","pid":9,"tid":1,"args":{"name":"backward"}},
         {"ph":"M","name":"process_sort_index","pid":9,"tid":0,"args":{"sort_index":-5}},
         {"ph":"M","name":"thread_sort_index","pid":9,"tid":2,"args":{"sort_index":-1}},
         {"ph":"M","name":"trace_buffer_overflowed","pid":9,"args":{"overflowed_at_ts":12}})"));
  std::vector<std::string> order;
  for (const TrackSnapshot& track : session.snapshot().tracks)
    order.push_back(track.track->host + " " + track.track->name);
  std::sort(order.begin(), order.end(), [&](const std::string& a, const std::string& b) {
    const auto place = [&](const std::string& name) {
      for (const TrackSnapshot& t : session.snapshot().tracks) {
        if (t.track->host + " " + t.track->name == name) return t.track->order;
      }
      return std::int64_t{0};
    };
    return place(a) < place(b);
  });
  CHECK(order == std::vector<std::string>{"trainer (9) thread 2", "trainer (9) backward", "process 3 thread 2"});
  CHECK(quality_count(session, "buffer_overflow") == 1);
}

TEST_CASE("allocations of the framework reach the memory tracker's columns") {
  const Imported session = imported_trace(trace_of(
      R"({"ph":"i","cat":"cpu_instant_event","s":"t","name":"[memory]","pid":5,"tid":5,"ts":1,
          "args":{"Total Reserved":2000,"Total Allocated":512,"Bytes":512,"Addr":137877174353920,"Device Id":0,"Device Type":1}},
         {"ph":"i","cat":"cpu_instant_event","s":"t","name":"[memory]","pid":5,"tid":6,"ts":2,
          "args":{"Total Reserved":2000,"Total Allocated":0,"Bytes":-512,"Addr":137877174353920,"Device Id":0,"Device Type":1}},
         {"ph":"i","s":"t","name":"[memory]","pid":5,"tid":5,"ts":3,"args":{"Device Type":0,"Device Id":-1,"Bytes":4}},
         {"ph":"i","s":"t","name":"[memory]","pid":5,"tid":5,"ts":4,"args":{"Device Type":6,"Device Id":3,"Bytes":4}})"));
  const auto events = session.events("memory");
  REQUIRE(events.size() == 4);
  std::map<std::string, std::vector<std::int64_t>> pools;
  for (const EventValues& event : events) pools[event.string("pool")].push_back(event.integer("Bytes").value());
  CHECK(pools["GPU 0 memory"] == std::vector<std::int64_t>{512, -512});
  CHECK(pools["CPU memory"] == std::vector<std::int64_t>{4});
  CHECK(pools["GPU 3 memory"] == std::vector<std::int64_t>{4});
  CHECK(events.front().kind == "memory");
  CHECK(session.count("counter") == 4);
}

TEST_CASE("runtime calls without anything on a device are a capture that went wrong, and the report says what to try") {
  const std::string call =
      R"({"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":1,"tid":1,"ts":1,"dur":1})";
  const std::string wait =
      R"({"ph":"X","cat":"mtia_ccp_events","name":"wait","pid":17,"tid":1,"ts":1,"dur":1,"args":{"stream":1}})";
  const Imported without = imported_trace(trace_of(call));
  REQUIRE(without.quality("nothing_on_device") != nullptr);
  CHECK(without.quality("nothing_on_device")->detail.find("ProfilerActivity") != std::string::npos);
  CHECK(imported_trace(trace_of(call + "," + wait)).quality("nothing_on_device") == nullptr);
}

TEST_CASE("what the profiler says of its own losses is in the report") {
  const std::string end =
      R"(],"INFO":["Record counts: Out-of-range = 0, x = 1","Record counts: Out-of-range = 38, x = 1"],
                            "ERROR":["no device","17 buffers dropped"]})";
  const Imported session = imported_trace(R"({"traceEvents":[)" + std::string(kEvent) + end);
  CHECK(quality_count(session, "records_out_of_range") == 38);
  CHECK(quality_count(session, "profiler_message") == 2);
}

TEST_CASE("the rows of one thread are told apart by what they show") {
  const Imported session = imported_trace(trace_of(
      R"json({"ph":"X","cat":"cuda_runtime","name":"call","pid":1,"tid":77,"ts":1,"dur":1},
         {"ph":"X","cat":"cpu_op","name":"op","pid":1,"tid":77,"ts":1,"dur":1},
         {"ph":"X","cat":"cpu_op","name":"other","pid":1,"tid":78,"ts":1,"dur":1},
         {"ph":"M","name":"thread_name","pid":1,"tid":77,"args":{"name":"thread 77 (python3)"}})json"));
  CHECK(only(session.events("runtime_call")).track == "thread 77 runtime");
  CHECK(named(session.events("cpu_op"), "op")->track == "thread 77 operators");
  CHECK(named(session.events("cpu_op"), "other")->track == "thread 78");
}

TEST_CASE("rows of a thread lie below one of its name, the thread that launches before the others") {
  const Imported session = imported_trace(R"json({"schemaVersion":1,"traceEvents":[
      {"ph":"X","cat":"cpu_op","name":"op","pid":50,"tid":9,"ts":1,"dur":1},
      {"ph":"X","cat":"user_annotation","name":"a","pid":50,"tid":9,"ts":1,"dur":1},
      {"ph":"X","cat":"cpu_op","name":"op","pid":50,"tid":60,"ts":1,"dur":1},
      {"ph":"X","cat":"cuda_runtime","name":"call","pid":50,"tid":60,"ts":1,"dur":1},
      {"ph":"X","cat":"cpu_op","name":"op","pid":50,"tid":50,"ts":1,"dur":1},
      {"ph":"X","cat":"cuda_runtime","name":"call","pid":50,"tid":50,"ts":1,"dur":1},
      {"ph":"M","name":"process_name","pid":50,"args":{"name":"python3"}},
      {"ph":"M","name":"thread_name","pid":50,"tid":60,"args":{"name":"thread 60 (pt_autograd_0)"}},
      {"ph":"M","name":"thread_name","pid":50,"tid":9,"args":{"name":"thread 9 (python3)"}}]})json");
  std::map<std::int64_t, std::string> by_order;
  for (const TrackSnapshot& track : session.snapshot().tracks) {
    std::string name = track.track->name;
    if (const TrackSnapshot* above = session.snapshot().find_track(track.track->parent)) {
      name = above->track->name + " > " + name;
      CHECK(above->lanes.empty());
    }
    by_order[track.track->order] = name;
  }
  std::vector<std::string> names;
  for (const auto& [order, name] : by_order) names.push_back(name);
  CHECK(names == std::vector<std::string>{"Main thread", "Main thread > Main thread operators",
                                          "Main thread > Main thread runtime", "pt_autograd_0",
                                          "pt_autograd_0 > pt_autograd_0 operators",
                                          "pt_autograd_0 > pt_autograd_0 runtime", "thread 9",
                                          "thread 9 > thread 9 annotations", "thread 9 > thread 9 operators"});
}

TEST_CASE("kernels of collectives have a row of their own, waits of the driver are none of it") {
  const Imported session = imported_trace(trace_of(
      R"json({"ph":"X","cat":"kernel","name":"ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevComm*)","pid":0,"tid":24,
          "ts":1,"dur":1,"args":{"device":0,"stream":24,"correlation":1}},
         {"ph":"X","cat":"kernel","name":"gemm","pid":0,"tid":24,"ts":3,"dur":1,"args":{"device":0,"stream":24}},
         {"ph":"X","cat":"cuda_sync","name":"Stream Wait Event","pid":0,"tid":24,"ts":5,"dur":1,"args":{"stream":24}},
         {"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":9,"tid":9,"ts":0,"dur":1,
          "args":{"correlation":1}}])json"));
  std::map<std::string, std::string> kinds;
  for (const TrackSnapshot& track : session.snapshot().tracks) kinds[track.track->name] = track.track->kind;
  CHECK(kinds["NCCL, stream 24"] == "collective");
  CHECK(kinds["stream 24"] == "stream");
  CHECK(kinds["sync stream 24"] == "barrier");
  CHECK(named(session.events("kernel"), "gemm")->track == "stream 24");
  CHECK(session.events("dependency").size() == 1);  // its launch is found there too
}

TEST_CASE("frames of several threads that the profiler does not know are not one thread") {
  const Imported session = imported_trace(R"json({"schemaVersion":1,"traceEvents":[
      {"ph":"X","cat":"cpu_op","name":"op","pid":50,"tid":50,"ts":1,"dur":1},
      {"ph":"M","name":"process_name","pid":50,"args":{"name":"python3"}},
      {"ph":"X","cat":"python_function","name":"a.py(1): run","pid":0,"tid":0,"ts":1,"dur":100,"args":{"Python parent id":null,"Python id":1}},
      {"ph":"X","cat":"python_function","name":"b.py(1): run","pid":0,"tid":0,"ts":2,"dur":100,"args":{"Python parent id":null,"Python id":2}},
      {"ph":"X","cat":"python_function","name":"a.py(2): wait","pid":0,"tid":0,"ts":3,"dur":90,"args":{"Python parent id":1,"Python id":3}},
      {"ph":"X","cat":"python_function","name":"b.py(2): wait","pid":0,"tid":0,"ts":4,"dur":90,"args":{"Python parent id":2,"Python id":4}},
      {"ph":"X","cat":"python_function","name":"c.py(1): run","pid":0,"tid":0,"ts":200,"dur":5,"args":{"Python parent id":null,"Python id":5}}]})json");
  const auto frames = session.events("python_function");
  CHECK(named(frames, "a.py(1): run")->track == "Python thread 1");
  CHECK(named(frames, "a.py(2): wait")->track == "Python thread 1");
  CHECK(named(frames, "b.py(1): run")->track == "Python thread 2");
  CHECK(named(frames, "b.py(2): wait")->track == "Python thread 2");
  CHECK(named(frames, "c.py(1): run")->track == "Python thread 1");  // after the first one had ended
  std::int64_t known = -1, unknown = -1;                             // places of the rows
  for (const TrackSnapshot& track : session.snapshot().tracks) {
    CHECK(track.track->host == "python3 (50)");
    (track.track->name == "thread 50" || track.track->name == "Main thread" ? known : unknown) = track.track->order;
  }
  CHECK(known < unknown);
}

TEST_CASE("an environment variable that is a secret does not travel with the session") {
  const Imported session = imported_trace(
      std::string(R"({"metadata":{"env":{"HF_TOKEN":"abc","HOME":"/root"}},"traceEvents":[)") + kEvent + "]}");
  CHECK(session.snapshot().meta_value("metadata.env.HOME") == "/root");
  CHECK(session.snapshot().meta_value("metadata.env.HF_TOKEN").find("abc") == std::string_view::npos);
  CHECK(quality_count(session, "secrets_left_out") == 1);
}

TEST_CASE("a trace without events is an error that says what was looked for") {
  CHECK(failure_of_trace("").find("empty") != std::string::npos);
  CHECK(failure_of_trace("hello").find("not JSON") != std::string::npos);
  CHECK(failure_of_trace(R"({"deviceProperties":[]})").find("traceEvents") != std::string::npos);
  CHECK(failure_of_trace(R"({"traceEv)").find("before the first event") != std::string::npos);
  CHECK(imported_trace(R"({"traceEvents":[]})").snapshot().event_count == 0);
}

TEST_CASE("slices of one category of which some are kernels are each in their table") {
  const auto row = [](std::string_view phase, std::string_view args) {
    return fmt::format(R"({{"ph":"{}","cat":"x","id":1,"pid":1,"tid":1,"ts":5,)"
                       R"("name":"void flash_fwd_kernel<Flash_fwd_kernel_traits<64, 128, 128>>"{}}},)",
                       phase, args);
  };
  const Imported session =
      imported_trace(trace_of(row("b", "") + row("e", "") + row("b", R"(,"args":{"kernel_details":"grid:1,1,1"})") +
                              row("e", "") + R"({"ph":"X","name":"a","pid":1,"tid":1,"ts":1,"dur":1})"));
  CHECK(session.snapshot().event_count == 3);
  const auto kernels = session.events("kernel");
  REQUIRE(kernels.size() == 1);
  CHECK(kernels[0].string("grid") == "[1, 1, 1]");
}

}  // namespace accelscope::capture
