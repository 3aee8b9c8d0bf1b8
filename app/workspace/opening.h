// From paths to a session, for the viewer and for every command: a session file opens in place, a damaged one is
// salvaged with a report, any known format and any folder of them is imported into a new store. Runs on a worker
// thread; the errors name the file and what to try.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/session/background_job.h"
#include "app/session/retained_beside.h"
#include "capture/sources/base/source.h"
#include "core/base/worker_pool.h"
#include "core/model/time_range.h"
#include "core/store/store.h"

namespace accelscope::app::workspace {

struct OpenedSession {
  std::shared_ptr<void> keeper;  // of a temporary file in which the session lies; goes after the store
  std::unique_ptr<Store> store;
  std::string title;
  std::string device;
  std::string path;                  // of the session file it lies in; empty: never saved
  bool modified = false;             // there is something to save
  std::optional<TimeRange> active;   // where it does its work
  std::optional<TimeRange> shown;    // what a first view shows
  session::RetainedBeside retained;  // of the store; empty unless it was opened for the viewer
  std::string note;                  // for the user, when not all is well: what was salvaged
};

struct OpenSessionOptions {
  std::vector<std::string> source_roots;
  std::string format;                                           // of the input; "": guessed from the content
  std::string neff;                                             // program of a raw Neuron trace; "": found beside it
  std::vector<std::string> converter_options;                   // passed on to a vendor's tool that converts the input
  std::uint64_t memory_budget_bytes = default_memory_budget();  // of what becomes a new store, as of a capture
};

// The one place where inputs are read. A single session file opens in place; anything else - several paths, folders of
// ranks, profiles - becomes a new store. `active` and `shown` are left to open_session.
[[nodiscard]] Result<OpenedSession> load_session(const std::vector<capture::sources::RecognisedFile>& files,
                                                 const OpenSessionOptions& options, session::JobControl& control);
// What the viewer opens in a tab: a path, or the ranks of a job, where the session does its work, and what is kept
// beside it.
[[nodiscard]] Result<OpenedSession> open_session(const std::vector<capture::sources::RecognisedFile>& files,
                                                 const OpenSessionOptions& options, WorkerPool& pool,
                                                 session::JobControl& control);

// Of several files their folder, if they lie in one: "job" of "/runs/job/rank0.json" and "/runs/job/rank1.json".
[[nodiscard]] std::string title_of_paths(const std::vector<std::string>& paths);
// "mlp_fwd" of "/runs/mlp_fwd.accel" or "/runs/mlp_fwd.json".
[[nodiscard]] std::string title_of_path(const std::string& path);
// "trn1-07 nc0": host and device of the tracks, "4 devices" when there are several; "" if none is named.
[[nodiscard]] std::string device_of(const Snapshot& snapshot);
[[nodiscard]] std::string describe_salvage(const std::string& path, const SalvageReport& report);

}  // namespace accelscope::app::workspace
