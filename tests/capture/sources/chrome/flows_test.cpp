// Flows: which events their ends are bound to.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>

#include "tests/capture/sources/chrome/imported_trace.h"

namespace accelscope::capture {
namespace {

// "source>target:category" of every dependency, in order.
std::vector<std::string> arrows(const Imported& session) {
  std::map<EventId, std::string> names;
  for (const char* table : {"event", "runtime_call", "kernel", "memcpy", "cpu_op", "python_function", "cuda_sync",
                            "user_annotation", "gpu_user_annotation"}) {
    for (const EventValues& event : session.events(table)) names[event.id] = event.name;
  }
  std::vector<std::string> arrows;
  for (const EventValues& flow : session.events("dependency")) {
    arrows.push_back(names[static_cast<EventId>(flow.integer("source_event").value())] + ">" +
                     names[static_cast<EventId>(flow.integer("target_event").value())] + ":" + flow.string("cat"));
  }
  std::sort(arrows.begin(), arrows.end());
  return arrows;
}

using Arrows = std::vector<std::string>;

std::string call(int correlation, int ts) {
  return fmt::format(
      R"({{"ph":"X","cat":"cuda_runtime","name":"launch {0}","pid":9,"tid":1,"ts":{1},"dur":2,"args":{{"correlation":{0}}}}},)",
      correlation, ts);
}
std::string kernel(const std::string& name, int correlation, int ts) {
  return fmt::format(
      R"({{"ph":"X","cat":"kernel","name":"{}","pid":0,"tid":7,"ts":{},"dur":3,"args":{{"stream":7,"correlation":{}}}}},)",
      name, ts, correlation);
}
std::string flow(char phase, const std::string& id, const std::string& category, int pid, int tid, int ts,
                 bool encloses = true) {
  return fmt::format(R"({{"ph":"{}","id":{},"cat":"{}","name":"{}","pid":{},"tid":{},"ts":{}{}}},)", phase, id,
                     category, category, pid, tid, ts, encloses ? R"(,"bp":"e")" : "");
}
std::string slice(const std::string& name, int tid, int ts, int dur) {
  return fmt::format(R"({{"ph":"X","cat":"c","name":"{}","pid":1,"tid":{},"ts":{},"dur":{}}},)", name, tid, ts, dur);
}

}  // namespace

TEST_CASE("launches lead to kernels by correlation, with flow events or without, and never twice") {
  const std::string events = call(5, 10) + call(6, 20) + call(7, 30) + kernel("a", 5, 15) + kernel("b", 6, 25) +
                             kernel("graph 1", 7, 40) + kernel("graph 2", 7, 44);
  const Arrows with_category{"launch 5>a:ac2g", "launch 6>b:ac2g", "launch 7>graph 1:ac2g", "launch 7>graph 2:ac2g"};
  const Imported with_flows =
      imported_trace(trace_of(events + flow('s', "5", "ac2g", 9, 1, 10) + flow('f', "5", "ac2g", 0, 7, 15) +
                              flow('f', "6", "ac2g", 0, 7, 25) + flow('f', "99", "ac2g", 9, 1, 10)));
  CHECK(arrows(with_flows) == with_category);
  CHECK(quality_count(with_flows, "flow_without_partner") == 1);
  const Imported without = imported_trace(trace_of(events));
  CHECK(arrows(without) == Arrows{"launch 5>a:", "launch 6>b:", "launch 7>graph 1:", "launch 7>graph 2:"});
  CHECK(quality_count(without, "flow_without_partner") == 0);
}

TEST_CASE("work without a recorded call leads back to its operator, and a device's range to the annotation") {
  const auto event = [](const char* category, const char* name, int pid, int ts, const std::string& args) {
    return fmt::format(R"({{"ph":"X","cat":"{}","name":"{}","pid":{},"tid":1,"ts":{},"dur":5,"args":{{{}}}}},)",
                       category, name, pid, ts, args);
  };
  const std::string ids = R"("External id":)";
  const std::string events = event("user_annotation", "step", 9, 1, ids + "3") +
                             event("cpu_op", "mm", 9, 10, ids + "5") + event("cpu_op", "add", 9, 20, ids + "6") +
                             event("cuda_runtime", "launch", 9, 12, ids + R"(5,"correlation":77)") +
                             event("kernel", "with call", 0, 30, ids + R"(5,"correlation":77)") +
                             event("kernel", "without call", 0, 40, ids + R"(6,"correlation":78)") +
                             event("kernel", "before its operator", 0, 15, ids + R"(6,"correlation":79)") +
                             event("kernel", "of 2022", 0, 50, ids + R"(5,"correlation":5)") +
                             event("gpu_user_annotation", "step on the device", 0, 30, ids + "3");
  CHECK(arrows(imported_trace(trace_of(events))) ==
        Arrows{"add>without call:", "launch>with call:", "step>step on the device:"});
}

TEST_CASE("a flow begins in the innermost slice around its time and ends in the enclosing or the next one") {
  const std::string slices = slice("outer", 1, 0, 100) + slice("inner", 1, 10, 20) + slice("target", 2, 50, 10) +
                             slice("in target", 2, 52, 2) + slice("later", 2, 70, 10);
  const auto bound = [&](const std::string& flows) { return arrows(imported_trace(trace_of(slices + flows))); };
  CHECK(bound(flow('s', "1", "x", 1, 1, 15) + flow('f', "1", "x", 1, 2, 53)) == Arrows{"inner>in target:x"});
  CHECK(bound(flow('s', "1", "x", 1, 1, 40) + flow('f', "1", "x", 1, 2, 55)) == Arrows{"outer>target:x"});
  CHECK(bound(flow('s', "1", "x", 1, 1, 10) + flow('f', "1", "x", 1, 2, 50)) == Arrows{"inner>target:x"});
  CHECK(bound(flow('s', "1", "x", 1, 1, 10) + flow('f', "1", "x", 1, 2, 49, false)) == Arrows{"inner>target:x"});
  CHECK(bound(flow('s', "1", "x", 1, 1, 10) + flow('f', "1", "x", 1, 2, 51, false)) == Arrows{"inner>in target:x"});
  CHECK(bound(flow('s', "1", "x", 1, 1, 10) + flow('f', "1", "x", 1, 2, 60, false)) == Arrows{"inner>later:x"});
  CHECK(bound(flow('s', "1", "x", 1, 1, 30) + flow('f', "1", "x", 1, 2, 60)) == Arrows{"outer>target:x"});
  CHECK(bound(flow('s', "1", "x", 1, 2, 80) + flow('f', "1", "x", 1, 1, 100)) == Arrows{"later>outer:x"});
}

TEST_CASE("ids of flows may be texts or negative, and steps make chains") {
  const std::string slices = slice("a", 1, 0, 5) + slice("b", 2, 10, 5) + slice("c", 3, 20, 5);
  const Imported session =
      imported_trace(trace_of(slices + flow('s', "\"req\"", "x", 1, 1, 1) + flow('t', "\"req\"", "x", 1, 2, 11) +
                              flow('f', "\"req\"", "x", 1, 3, 21) + flow('s', "-4", "x", 1, 1, 1) +
                              flow('f', "-4", "x", 1, 3, 21) + flow('s', "-4", "other", 1, 1, 1)));
  CHECK(arrows(session) == Arrows{"a>b:x", "a>c:x", "b>c:x"});
  CHECK(quality_count(session, "flow_without_partner") == 1);
  std::set<std::string> ids;
  for (const EventValues& event : session.events("dependency")) {
    ids.insert(event.string("id_text") + std::to_string(event.integer("id").value_or(0)));
  }
  CHECK(ids == std::set<std::string>{"req0", "-4"});
}

TEST_CASE("ends of flows that find no slice are counted, and those without an id too") {
  const Imported session =
      imported_trace(trace_of(slice("a", 1, 0, 5) + flow('s', "1", "x", 1, 1, 1) + flow('f', "1", "x", 1, 2, 3) +
                              R"({"ph":"s","cat":"x","name":"x","pid":1,"tid":1,"ts":1})"));
  CHECK(session.count("dependency") == 0);
  CHECK(quality_count(session, "flow_without_event") == 1);
  CHECK(quality_count(session, "flow_without_id") == 1);
}

// The innermost slice around a time, by looking at all of them.
TEST_CASE("flows between random nested slices bind as a plain search does") {
  struct Slice {
    std::string name;
    int begin = 0;
    int end = 0;
  };
  std::mt19937 random(3);
  for (int round = 0; round < 20; ++round) {
    std::vector<Slice> slices;
    std::string rows;
    const auto add = [&](auto&& self, int begin, int end, int depth) -> void {
      while (begin + 4 < end && slices.size() < 300) {
        const int length = 2 + static_cast<int>(random() % 60);
        const int stop = std::min(begin + length, end);
        slices.push_back({fmt::format("s{}", slices.size()), begin, stop});
        rows += slice(slices.back().name, 1, begin, stop - begin);
        if (depth < 4) self(self, begin + 1, stop - 1, depth + 1);
        begin = stop + 1 + static_cast<int>(random() % 3);
      }
    };
    add(add, 0, 2000, 0);
    rows += slice("end", 2, 5000, 10);
    Arrows expected;
    for (int id = 1; id <= 200; ++id) {
      const int ts = static_cast<int>(random() % 2000);
      rows += flow('s', std::to_string(id), "x", 1, 1, ts) + flow('f', std::to_string(id), "x", 1, 2, 5001);
      const Slice* best = nullptr;
      for (const Slice& candidate : slices) {
        if (candidate.begin <= ts && ts < candidate.end && (best == nullptr || candidate.begin > best->begin)) {
          best = &candidate;
        }
      }
      // Otherwise the one that ends there.
      for (const Slice& candidate : slices) {
        const bool ends_here = candidate.end == ts;
        if (best == nullptr && ends_here) best = &candidate;
        if (best != nullptr && best->end == ts && ends_here && candidate.begin > best->begin) best = &candidate;
      }
      if (best != nullptr) expected.push_back(best->name + ">end:x");
    }
    std::sort(expected.begin(), expected.end());
    CHECK(arrows(imported_trace(trace_of(rows))) == expected);
  }
}

TEST_CASE("a call that starts nothing on a device lacks no work, a launch whose work is missing does") {
  const auto named = [](const char* name, int correlation, int ts) {
    return fmt::format(
        R"({{"ph":"X","cat":"cuda_runtime","name":"{}","pid":9,"tid":1,"ts":{},"dur":2,"args":{{"correlation":{}}}}},)",
        name, ts, correlation);
  };
  const Imported session = imported_trace(trace_of(
      named("cudaStreamIsCapturing", 5, 10) + named("cudaLaunchKernel", 6, 20) + named("cudaEventQuery", 7, 30) +
      flow('s', "5", "ac2g", 9, 1, 10) + flow('s', "6", "ac2g", 9, 1, 20) + flow('s', "7", "ac2g", 9, 1, 30)));
  CHECK(quality_count(session, "calls_without_work") == 2);
  CHECK(quality_count(session, "flow_without_partner") == 1);
}

}  // namespace accelscope::capture
