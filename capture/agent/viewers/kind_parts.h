// From a request to the parts of a capture: each of its kinds, checked, described and ready to run. The first part also
// writes what the capture is into its session.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "capture/agent/run/capture_run.h"
#include "capture/agent/viewers/agent.h"
#include "capture/request/kind.h"

namespace accelscope::capture::agent {

// The parts own copies of all that they need. Fails with what is wrong with the request, before anything runs.
[[nodiscard]] Result<std::vector<SourcePart>> kind_parts(const request::CaptureRequest& request,
                                                         const std::string& work_folder,
                                                         std::chrono::steady_clock::time_point origin,
                                                         const request::ProgramWatch& watch = {});

// What an agent offers its viewers. One that may not start programs reads no files of its host for them either, except
// those that they sent and those it was started with.
[[nodiscard]] AgentKinds agent_kinds(bool may_run, const std::vector<request::KindChoice>& started_with);

// A request for people and for the session: command, kinds with their options, when and on which host. Of the
// environment the names only.
[[nodiscard]] std::vector<MetaEntry> request_facts(const request::CaptureRequest& request);

}  // namespace accelscope::capture::agent
