// What commands read: a session file in place, a damaged one as far as it can be recovered, any known format
// imported. Shows a progress line on a terminal while it works.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "app/background_job.h"
#include "app/commands/command.h"
#include "core/query/worker_pool.h"
#include "core/store/store.h"

namespace accelscope::app {

struct SessionInput {
  std::unique_ptr<Store> store;
  std::string title;
  bool imported = false;  // not a session file
};

struct SessionInputOptions {
  std::string format;  // "": guessed from the content
  std::vector<std::string> source_roots;
};

[[nodiscard]] Result<SessionInput> open_input(const std::string& path, const SessionInputOptions& options,
                                              const CommandRun& run);

// Reads a file or folder into a store that may hold others already.
Result<void> import_into(Store& store, const std::string& path, const SessionInputOptions& options,
                         const CommandRun& run);

Result<void> save_session(Store& store, const std::string& path, const CommandRun& run);

// Runs the work on a thread while a line like "Reading a.json  59 %  212 MB/s  4 s left" is kept up to date.
Result<void> with_progress(const std::string& title, const CommandRun& run, const BackgroundJob::Work& work);

}  // namespace accelscope::app
