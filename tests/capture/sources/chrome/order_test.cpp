// The order of a file's rows, the size of its windows and the number of threads change nothing about the session.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <random>

#include "tests/capture/sources/chrome/imported_trace.h"

namespace accelscope::capture {
namespace {

struct TraceRows {
  std::vector<std::string> rows;
  std::size_t slices = 0;
};

// Nested and overlapping slices, instants, counters, memory and flows; no two events of a track are alike.
TraceRows random_rows(std::uint32_t seed, int count) {
  std::mt19937 random(seed);
  TraceRows trace;
  for (int i = 0; i < count; ++i) {
    const int tid = static_cast<int>(random() % 3);
    const int ts = 3 * i;
    const int kind = static_cast<int>(random() % 10);
    if (kind < 4) {
      trace.rows.push_back(fmt::format(
          R"({{"ph":"X","cat":"c{}","name":"n{}","pid":1,"tid":{},"ts":{}.{:03},"dur":{},"args":{{"i":{},"text":"t{}","list":[{}, 2]}}}})",
          i % 3, i % 17, tid, ts, i % 1000, random() % 40, i, i % 5, i % 4));
      ++trace.slices;
    } else if (kind < 7) {
      trace.rows.push_back(fmt::format(
          R"({{"ph":"X","cat":"kernel","name":"k{}","pid":0,"tid":{},"ts":{},"dur":{}.5,"args":{{"stream":{},"correlation":{},"grid":[{},1,1]}}}})",
          i % 11, tid, ts, random() % 9, tid, i, i % 6));
      ++trace.slices;
    } else if (kind == 7) {
      trace.rows.push_back(fmt::format(
          R"({{"ph":"X","cat":"cuda_runtime","name":"launch","pid":1,"tid":{},"ts":{},"dur":1,"args":{{"correlation":{}}}}})",
          tid, ts, i + 1));
      ++trace.slices;
    } else if (kind == 8) {
      trace.rows.push_back(fmt::format(R"({{"ph":"C","name":"c","pid":1,"ts":{},"args":{{"v":{}}}}})", ts, i));
    } else {
      trace.rows.push_back(fmt::format(
          R"({{"ph":"i","name":"[memory]","pid":1,"tid":{},"ts":{},"args":{{"Bytes":{},"Addr":{},"Device Type":1,"Device Id":0}}}})",
          tid, ts, 8 * i + 8, 4096 * i));
    }
  }
  return trace;
}

std::string joined(const std::vector<std::string>& rows) {
  std::string text = "{\"traceEvents\":[";
  for (const std::string& row : rows) text += row + ",\n";
  return text + "]}";
}

// Everything that a user sees of the events, in an order of its own.
std::vector<std::string> content(const Imported& session) {
  std::vector<std::string> lines;
  std::map<EventId, std::string> by_id;
  for (const char* table : {"event", "kernel", "runtime_call", "counter", "memory", "instant"}) {
    for (const EventValues& event : session.events(table)) {
      std::string line = fmt::format("{} {}/{}/{} lane {} {} {}..{}", table, event.host, event.device, event.track,
                                     event.depth, event.name, event.begin, event.end);
      for (const auto& [key, value] : event.strings) line += fmt::format(" {}={}", key, value);
      for (const auto& [key, value] : event.integers) line += fmt::format(" {}={}", key, value);
      for (const auto& [key, value] : event.reals) line += fmt::format(" {}={}", key, value);
      by_id[event.id] = line;
      lines.push_back(std::move(line));
    }
  }
  for (const EventValues& flow : session.events("dependency")) {
    lines.push_back("flow from " + by_id[static_cast<EventId>(flow.integer("source_event").value())] + " to " +
                    by_id[static_cast<EventId>(flow.integer("target_event").value())]);
  }
  std::sort(lines.begin(), lines.end());
  return lines;
}

TEST_CASE("the main thread of a Chrome trace comes first, by its number or its name, unless the trace says otherwise") {
  const auto first_of = [](const std::string& rows) {
    const Imported imported = imported_trace(trace_of(rows));
    std::string first;
    std::int64_t order = std::numeric_limits<std::int64_t>::max();
    for (const TrackSnapshot& track : imported.store().snapshot()->tracks) {
      if (track.track->kind == "host_thread" && track.track->order < order) {
        order = track.track->order;
        first = track.track->name;
      }
    }
    return first;
  };
  const auto thread = [](int pid, int tid, const char* name) {
    return fmt::format(R"({{"ph":"M","pid":{0},"tid":{1},"name":"thread_name","args":{{"name":"{2}"}}}},)"
                       R"({{"ph":"X","pid":{0},"tid":{1},"ts":{1},"dur":5,"name":"work"}})",
                       pid, tid, name);
  };
  CHECK(first_of(thread(100, 7, "worker") + "," + thread(100, 100, "train")) == "train");
  CHECK(first_of(thread(100, 7, "worker") + "," + thread(100, 9, "MainThread")) == "MainThread");
  CHECK(first_of(thread(100, 7, "ThreadPool") + "," + thread(100, 9, "CrBrowserMain")) == "CrBrowserMain");
  const std::string order = R"({"ph":"M","pid":100,"tid":7,"name":"thread_sort_index","args":{"sort_index":-5}},)";
  CHECK(first_of(order + thread(100, 7, "worker") + "," + thread(100, 100, "train")) == "worker");
}

}  // namespace

TEST_CASE("a shuffled trace makes the same session as a sorted one") {
  for (std::uint32_t seed = 1; seed <= 6; ++seed) {
    CAPTURE(seed);
    TraceRows trace = random_rows(seed, 3000);
    const Imported sorted = imported_trace(joined(trace.rows));
    const std::vector<std::string> expected = content(sorted);
    CHECK(sorted.count("event") + sorted.count("kernel") + sorted.count("runtime_call") == trace.slices);
    CHECK(sorted.count("dependency") > 0);
    std::mt19937 random(seed);
    std::shuffle(trace.rows.begin(), trace.rows.end(), random);
    CHECK(content(imported_trace(joined(trace.rows))) == expected);
    // A few late rows in an otherwise sorted file.
    trace = random_rows(seed, 3000);
    for (int i = 0; i < 5; ++i) std::swap(trace.rows[random() % 3000], trace.rows[random() % 3000]);
    CHECK(content(imported_trace(joined(trace.rows))) == expected);
  }
}

TEST_CASE("windows and threads make no difference") {
  const TraceRows trace = random_rows(42, 4000);
  const std::string text = joined(trace.rows);
  sources::chrome::ChromeReading whole;
  whole.threads = 1;
  const std::vector<std::string> expected = content(imported_trace(text, whole));
  CHECK(expected.size() > trace.slices);
  for (const unsigned threads : {1U, 2U, 4U}) {
    sources::chrome::ChromeReading reading;
    reading.threads = threads;
    reading.window_bytes = 64U << 10;
    CHECK(content(imported_trace(text, reading)) == expected);
  }
}

TEST_CASE("a track of more events than a chunk holds stays whole when a late one comes last") {
  std::vector<std::string> rows;
  for (int i = 0; i < 40000; ++i) {
    rows.push_back(fmt::format(R"({{"ph":"X","name":"n{}","pid":1,"tid":1,"ts":{},"dur":1,"args":{{"i":{}}}}})", i % 7,
                               10 + i, i));
  }
  rows.push_back(R"({"ph":"X","name":"early","pid":1,"tid":1,"ts":5,"dur":100000,"args":{"i":-1}})");
  const auto events = imported_trace(joined(rows)).events("event");
  REQUIRE(events.size() == 40001);
  std::vector<bool> seen(40001);
  for (const EventValues& event : events) {
    seen[static_cast<std::size_t>(event.integer("i").value() + 1)] = true;
    CHECK(event.depth == (event.name == "early" ? 0 : 1));
  }
  CHECK(std::count(seen.begin(), seen.end(), true) == 40001);
}

}  // namespace accelscope::capture
