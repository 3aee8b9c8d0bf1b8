// Runs a program of the tests under a kind that works through a probe inside it, and reads back what was written.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "capture/request/kind.h"
#include "capture/system/supervised_child.h"
#include "core/store/store.h"
#include "tests/capture/recording_sink.h"

namespace accelscope::capture {

struct ProbeRun {
  std::unique_ptr<RecordingSink> retained = std::make_unique<RecordingSink>();
  RecordingSink& sink = *retained;
  system::ChildEnd end;
  std::string printed;  // standard output
  Result<void> result;

  // Events of a table, by start.
  [[nodiscard]] std::vector<RecordedEvent> table(const std::string& schema) const;
  // The only event of a name in a table.
  [[nodiscard]] RecordedEvent only(const std::string& schema, const std::string& name) const;
  [[nodiscard]] std::map<std::string, std::size_t> count_by_name(const std::string& schema) const;
  [[nodiscard]] std::map<std::string, std::size_t> count_by_text(const std::string& schema,
                                                                 const std::string& column) const;
  // As Details would show them; "" where there is no value.
  [[nodiscard]] std::string text(const RecordedEvent& event, const std::string& column) const;
  [[nodiscard]] std::optional<std::int64_t> number(const RecordedEvent& event, const std::string& column) const;
  [[nodiscard]] double real(const RecordedEvent& event, const std::string& column) const;
  [[nodiscard]] const Track& track(const RecordedEvent& event) const { return sink.tracks.at(event.track); }
  [[nodiscard]] const QualityEntry* quality(const std::string& kind) const;
  [[nodiscard]] std::string meta(const std::string& key) const;
  [[nodiscard]] std::unique_ptr<Store> store() const;  // that holds what was written
};

struct ProbedProgram {
  std::string name;  // in the folder of the tests' programs
  std::vector<std::string> arguments;
  std::vector<std::string> environment;       // beside what the kind needs
  std::function<void()> after_print = [] {};  // something was printed, perhaps
  bool is_started_by_capture = true;          // else the capture waits for programs, and does not end with this one
  std::chrono::steady_clock::time_point origin{};  // of capture time
};

// To its end, without a capture.
void run_to_end(ProbeRun& run, const ProbedProgram& program);
// Within a capture of the kind with these options, which goes into the sink. `end` is called when the program has
// ended: it has the sink say that it is cancelled.
void run_probed(ProbeRun& run, const request::KindChoice& choice, const ProbedProgram& program, EventSink& sink,
                const std::function<void()>& end);

}  // namespace accelscope::capture
