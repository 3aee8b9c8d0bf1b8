// The libraries and scripts that go into profiled programs. They travel inside the agent's own program, so that an
// agent is one file to copy, and are laid down once in a private folder of the user when they are needed.
//
//   Result<ProbeFiles> files = ProbeFiles::lay_down();
//   "INTEL_LIBITTNOTIFY64=" + files->path("libaccelscope_itt.so")
#pragma once

#include <string>
#include <string_view>

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

}  // namespace accelscope::capture::probes
