// The libraries and scripts that go into profiled programs. They travel inside the agent's own program, so that an
// agent is one file to copy, and are laid down once in a private folder of the user when they are needed.
//
//   Result<ProbeFiles> files = ProbeFiles::lay_down();
//   "INTEL_LIBITTNOTIFY64=" + files->path("libaccelscope_itt.so")
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "capture/probe/host/listener.h"
#include "capture/request/request.h"
#include "core/base/result.h"

namespace accelscope::capture::probes {

class ProbeFiles {
 public:
  // In a folder named after their contents, so that programs of an older agent keep theirs. Fails if it cannot be
  // written there, or is somebody else's.
  [[nodiscard]] static Result<ProbeFiles> lay_down();
  // The folder of the user in which they are laid down: $XDG_CACHE_HOME/accelscope/probes, else ~/.cache/..., else
  // /tmp/accelscope-UID.
  [[nodiscard]] const std::string& folder() const noexcept { return folder_; }
  [[nodiscard]] std::string path(std::string_view name) const;  // of one: "libaccelscope_itt.so", "python/accelscope"

 private:
  explicit ProbeFiles(std::string folder) : folder_(std::move(folder)) {}
  std::string folder_;
};

// What the kinds of a capture that work through probes need before its program starts: where their probes attach, and
// the environment that brings them into the program.
struct ProbePlaces {
  std::vector<std::shared_ptr<ProbeListener>> listeners;  // of each kind of the request; null: it has no probe
  std::vector<std::string> environment;                   // "NAME=VALUE", beside the request's own
};

// With a program the sockets lie in a folder of the capture's own; without one where programs that the user starts by
// hand look for them.
[[nodiscard]] Result<ProbePlaces> open_probe_places(const request::CaptureRequest& request);

// The files that this program carries inside itself for profiled programs; made by the build.
struct EmbeddedFile {
  std::string_view path;  // relative: "libaccelscope_itt.so"
  const char* begin = nullptr;
  const char* end = nullptr;
};

[[nodiscard]] std::vector<EmbeddedFile> embedded_files();

}  // namespace accelscope::capture::probes
