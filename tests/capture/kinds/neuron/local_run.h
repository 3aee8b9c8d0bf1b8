// Neuron captures with the stand-in, made as `accelscope-agent run` makes them, and what they are compared with.
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "capture/agent/control/local_capture.h"
#include "tests/capture/imported.h"
#include "tests/capture/kinds/kind_run_support.h"
#include "tests/support/neuron/simulated_profile.h"

namespace accelscope::capture {

namespace fs = std::filesystem;

inline constexpr const char* kEventTables[] = {"instruction", "dma", "semaphore_update", "dma_throughput",
                                               "pending_dma"};

using Options = std::vector<request::OptionSetting>;

// A capture in a folder of its own.
class NeuronCapture {
 public:
  explicit NeuronCapture(Options options) {
    options_.request.kinds = {{"neuron", std::move(options)}};
    options_.output = scratch.file("session.accel");
    options_.work_folder = scratch.file("work");
    fs::create_directories(options_.work_folder);
    options_.watch.printed = [this](bool, std::string_view bytes) { printed += bytes; };
  }
  NeuronCapture& script(const std::string& text) {
    options_.request.script = text;
    return *this;
  }
  request::CaptureRequest& request() { return options_.request; }
  agent::LocalCaptureOptions& options() { return options_; }
  // A folder of the host in which the tool runs, and which stays.
  std::string stay_in(const std::string& name) {
    fs::create_directories(scratch.path / name);
    options_.request.directory = scratch.file(name);
    return options_.request.directory + "/";
  }
  [[nodiscard]] std::string work(const std::string& name) const { return options_.work_folder + "/" + name; }

  Imported session() {
    const Result<agent::LocalCaptureReport> report = agent::capture_locally(options_);
    REQUIRE_MESSAGE(report.ok(), (report.ok() ? "" : report.message()));
    REQUIRE_MESSAGE(report->failure.empty(), report->failure);
    return Imported::session(options_.output);
  }
  std::string failure() {
    const Result<agent::LocalCaptureReport> report = agent::capture_locally(options_);
    return report.ok() ? report->failure : report.message();
  }
  ScratchFolder scratch;
  std::string printed;

 private:
  agent::LocalCaptureOptions options_;
};

inline Imported simulated(std::uint64_t seed) {
  const ScratchFolder scratch;
  sim::SimulationOptions options;
  options.seed = seed;
  options.kernels = 1;
  REQUIRE(write_simulated_profile(options, scratch.file("ntff.json")).ok());
  return Imported::file(scratch.file("ntff.json"));
}

inline std::vector<EventValues> of_device(const Imported& session, const char* table, const std::string& label) {
  std::vector<EventValues> events = session.events(table);
  std::erase_if(events, [&](const EventValues& event) { return event.device.find(label) == std::string::npos; });
  return events;
}

// Names, times, tracks and order of every event.
inline void check_same(const Imported& session, const Imported& wanted, const std::string& label = "") {
  for (const char* table : kEventTables) {
    CAPTURE(table);
    const std::vector<EventValues> got = of_device(session, table, label);
    const std::vector<EventValues> expected = wanted.events(table);
    REQUIRE(got.size() == expected.size());
    CHECK_FALSE(expected.empty());
    for (std::size_t i = 0; i < got.size(); ++i) {
      const bool same = got[i].name == expected[i].name && got[i].track == expected[i].track &&
                        got[i].begin == expected[i].begin && got[i].end == expected[i].end &&
                        got[i].strings == expected[i].strings && got[i].integers == expected[i].integers;
      REQUIRE_MESSAGE(same, i);
    }
  }
}

inline std::string fact(const Imported& session, const std::string& key) {
  for (const MetaEntry& entry : session.snapshot().meta) {
    if (entry.key == key) return entry.value;
  }
  return {};
}

}  // namespace accelscope::capture
