// A capture without a viewer: its kinds run in this process, and what they make goes through the same outbox as an
// agent's into a store, which becomes a session file at the end. Another shell may pause, resume and stop it.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "capture/agent/control/control_socket.h"
#include "capture/request/kind.h"
#include "core/store/store.h"

namespace accelscope::capture::agent {

struct LocalCaptureOptions {
  request::CaptureRequest request;
  std::string output;                   // the session file; replaced if it exists
  std::string work_folder;              // exists; for scripts
  std::string spool;                    // folder in which what was sealed outlives this process; "": none
  request::ProgramWatch watch;          // as of the program's kind
  StoreOptions store;                   // with a memory budget
  std::function<bool()> asked_to_stop;  // asked some ten times a second
};

struct LocalCaptureReport {
  std::uint64_t events = 0;
  std::string path;     // of the file: elsewhere than wanted where that could not be written, as the failure says
  std::string failure;  // what went wrong; what was captured until then is in the file
};

// Returns when the capture is over and in its file. Fails, without a file, if it could not begin, made nothing before
// it failed, or cannot be written; then a spool stays.
[[nodiscard]] Result<LocalCaptureReport> capture_locally(const LocalCaptureOptions& options);

}  // namespace accelscope::capture::agent
