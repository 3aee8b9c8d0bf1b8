// What the kinds of a capture that work through probes need before its program starts: where their probes attach, and
// the environment that brings them into the program.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "capture/probe/host/listener.h"
#include "capture/request/request.h"
#include "core/base/result.h"

namespace accelscope::capture::probes {

struct ProbePlaces {
  std::vector<std::shared_ptr<ProbeListener>> listeners;  // of each kind of the request; null: it has no probe
  std::vector<std::string> environment;                   // "NAME=VALUE", beside the request's own
};

// With a program the sockets lie in a folder of the capture's own; without one where programs that the user starts by
// hand look for them.
[[nodiscard]] Result<ProbePlaces> open_probe_places(const request::CaptureRequest& request);

}  // namespace accelscope::capture::probes
