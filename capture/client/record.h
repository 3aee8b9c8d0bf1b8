// The headless recorder: captures a session as its plan says and saves a session file. What was received before a
// failure is saved too, and what a recorder that died had received is read first. Prints nothing; see
// RecordOptions::progress.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "capture/client/capture_session.h"
#include "core/store/store.h"

namespace accelscope::capture::client {

struct RecordOptions {
  CapturePlan plan;
  std::string output_path;  // of the session file; replaced if it exists
  StoreOptions store;
  bool ask_on_terminal = false;    // see CaptureSessionOptions
  bool accept_new_agents = false;  // the same
  wire::LinkLimits limits;
  // Answers a question; nothing: no. Without it every answer is no.
  std::function<std::optional<std::string>(const CaptureQuestion& question)> answer;
  std::function<void(const Recoverable& left)> on_recovery;  // before what is left is read
  // What the program prints; none: it is kept in the session only. False: it cannot be shown any more.
  std::function<bool(const ProgramText& text)> printed;
  // Called a few times a second while recording, then while saving (saved_fraction 0 to 1). Returning false ends the
  // recording in an orderly way (the file is still saved); during the save it cancels the save.
  std::function<bool(const CaptureStatus& status, std::optional<double> saved_fraction)> progress;
};

struct RecordReport {
  std::string path;
  std::vector<AgentStatus> agents;
  std::uint64_t events = 0;      // in the file, as every view counts them
  std::uint64_t table_rows = 0;  // and rows of tables without times; agents count both
  std::uint64_t chunks = 0;
  std::uint64_t wire_bytes = 0;
  std::optional<std::uint64_t> lost_events;  // all that were made and are not here; nothing: nobody knows how many
  std::uint64_t dropped_events = 0;          // of those: by agents, for want of room
  std::uint64_t doubled_frames = 0;
  std::uint64_t results_files = 0;
  std::uint64_t memory_bytes = 0;  // of the store when the capture ended
  double capture_seconds = 0;      // of the agent that took longest
  double save_seconds = 0;
  std::optional<int> exit_status;  // of the program; of several, the first that is not 0
  bool output_shown = true;        // false: some of what the program printed could not be shown
  std::string message;             // why it ended, if not by itself
  bool complete = true;            // false: a stream broke off or misses events; message says what happened
};

// Where a recorder that dies leaves what it has received: OUTPUT.recovery.
[[nodiscard]] std::string recovery_folder_of(const std::string& output_path);
// Whether record() goes on with what was interrupted before: this user's, of the same wish. What it had saved until
// then is replaced.
[[nodiscard]] bool goes_on(const CapturePlan& plan, const std::string& output_path);

// Fails if nothing was received or the file could not be written.
[[nodiscard]] Result<RecordReport> record(const RecordOptions& options);

}  // namespace accelscope::capture::client
