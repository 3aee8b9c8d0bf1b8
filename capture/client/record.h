// The headless recorder: connects to an agent, keeps what it streams in a store and saves a session file. What was
// received before a failure is saved too. Prints nothing; see RecordOptions::progress.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "capture/client/connection.h"
#include "core/store/store.h"

namespace accelscope::capture {

struct RecordOptions {
  std::string address;                     // HOST:PORT
  std::string output_path;                 // of the session file; replaced if it exists
  std::string version;                     // of this program
  std::optional<double> duration_seconds;  // asks the agent to stop after so long; unset: until the agent ends
  StoreOptions store;
  LinkLimits limits;
  // Called a few times a second while recording, then while saving (saved_fraction 0 to 1). Returning false ends the
  // recording in an orderly way (the file is still saved); during the save it cancels the save.
  std::function<bool(const ConnectionStatus& status, std::optional<double> saved_fraction)> progress;
};

struct RecordReport {
  std::string path;
  std::string peer;
  std::string description;
  std::uint64_t events = 0;  // in the file
  std::uint64_t chunks = 0;
  std::uint64_t wire_bytes = 0;
  std::uint64_t lost_events = 0;
  std::uint64_t doubled_frames = 0;
  std::uint64_t memory_bytes = 0;  // of the store when the capture ended
  double capture_seconds = 0;      // from the first to the last event that came
  double save_seconds = 0;
  Outcome outcome = Outcome::complete;
  std::string message;   // why it ended, if not by itself
  bool complete = true;  // false: the stream broke off or misses events; message says what happened
};

// Fails if nothing was received or the file could not be written.
[[nodiscard]] Result<RecordReport> record(const RecordOptions& options);

}  // namespace accelscope::capture
