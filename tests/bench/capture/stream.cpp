// The whole path as users have it: accelscope-agent with the simulated accelerator, loopback TCP, accelscope record
// with checksums, validation and level of detail; then the saved session opened to its first complete frame.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "tests/bench/base/figures.h"
#include "tests/bench/base/first_frame.h"
#include "tests/bench/base/plain_rows.h"
#include "tests/support/process.h"

namespace accelscope::bench {
namespace {

using std::chrono::milliseconds;
using std::chrono::minutes;
using test::Process;

constexpr int kRuns = 3;

// The number behind a key of the recorder's JSON line; 0 if it is not there.
double number_of(const std::string& json, const std::string& key) {
  const std::size_t at = json.find("\"" + key + "\": ");
  return at == std::string::npos ? 0 : std::strtod(json.c_str() + at + key.size() + 4, nullptr);
}

struct Recorded {
  double events = 0;
  double seconds = 0;
  double wire_bytes = 0;
  double store_bytes = 0;
  double peak_bytes = 0;
};

Recorded record_once(const BenchOptions& options, const char* detail, std::uint64_t events, const std::string& path) {
  Recorded recorded;
  Result<Process> agent =
      Process::start({options.program_folder + "/accelscope-agent", "simulate", "--detail", detail, "--rate", "max",
                      "--events", std::to_string(events), "--once", "--listen", "127.0.0.1:0"});
  if (!agent) return recorded;
  const std::optional<std::string> line = agent->wait_for("listening on ", milliseconds(10'000));
  if (!line) return recorded;
  const std::string address = line->substr(line->find("listening on ") + 13);
  Result<Process> recorder = Process::start({options.program_folder + "/accelscope", "record",
                                             address.substr(0, address.find(' ')), "-o", path, "--force", "--json"});
  if (!recorder || recorder->finish(minutes(5)) != 0) {
    if (recorder) fmt::print(stderr, "accelscope-bench: the recorder failed: {}\n", recorder->output());
    return recorded;
  }
  recorded.events = number_of(recorder->output(), "events");
  recorded.seconds = number_of(recorder->output(), "capture_seconds");
  recorded.wire_bytes = number_of(recorder->output(), "wire_bytes");
  recorded.store_bytes = number_of(recorder->output(), "memory_bytes");
  recorded.peak_bytes = static_cast<double>(recorder->peak_bytes());
  (void)agent->finish(milliseconds(10'000));
  return recorded;
}

Recorded best_of_runs(const BenchOptions& options, const char* detail, std::uint64_t events, const std::string& path) {
  Recorded best;
  for (int run = 0; run < kRuns; ++run) {
    const Recorded recorded = record_once(options, detail, events, path);
    if (recorded.seconds > 0 && (best.seconds <= 0 || recorded.seconds < best.seconds)) best = recorded;
  }
  return best;
}

}  // namespace

void bench_stream(const BenchOptions& options) {
  const auto events = static_cast<std::uint64_t>(50e6 * options.scale);
  const std::string path = options.work_folder + "/stream.accel";
  const Recorded best = best_of_runs(options, "slim", events, path);
  if (best.seconds <= 0) return;
  const std::string recipe = fmt::format(
      "accelscope-agent simulate --detail slim --rate max, accelscope record; {:.0f} slices of start, duration, name, "
      "source "
      "line, bytes, wait_ns; best of {} runs, first to last chunk",
      best.events, kRuns);
  const double rows = plain_rows_per_second(static_cast<std::size_t>(4e6 * options.scale)) / 1e6;
  report({"stream", best.events / best.seconds / 1e6, "M events/s", "at least 20",
          "plain-row SQLite inserts of six columns", rows, recipe});
  report({"stream_memory", best.peak_bytes / best.events, "B/event", "at most 11",
          "pages, trees and strings alone, as the recorder counts them", best.store_bytes / best.events,
          recipe + "; peak resident memory of the recorder's whole process, its save included"});

  const double open = first_frame_seconds(path, kRuns);
  report({"open_first_frame", open, "s", "at most 0.3", "", 0,
          recipe + "; from open to a complete 1600 x 900 frame, graphics context and fonts included"});
}

void bench_stream_full(const BenchOptions& options) {
  const auto events = static_cast<std::uint64_t>(15e6 * options.scale);
  const Recorded best = best_of_runs(options, "full", events, options.work_folder + "/stream_full.accel");
  if (best.seconds <= 0) return;
  const std::string recipe = fmt::format(
      "accelscope-agent simulate --detail full --rate max, accelscope record; {:.0f} events of all tables of a Neuron "
      "profile with all their columns; best of {} runs, first to last chunk",
      best.events, kRuns);
  const double rows = plain_rows_per_second(static_cast<std::size_t>(4e6 * options.scale)) / 1e6;
  report({"stream_full", best.events / best.seconds / 1e6, "M events/s", "at least 5",
          "plain-row SQLite inserts of six columns", rows, recipe});
  report({"stream_full_bytes", best.wire_bytes / best.events, "B/event", "at most 20",
          "pages, trees and strings in memory, as the recorder counts them", best.store_bytes / best.events,
          recipe + "; what crosses the wire, frames included"});
}

}  // namespace accelscope::bench
