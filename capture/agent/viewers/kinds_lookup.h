// What can be captured on this host. Looking for it may take a while, and many may ask: it is done on a thread of its
// own, once for all who wait, and the answer is known for some seconds.
//
// All functions belong to the loop's thread.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "capture/agent/run/capture_run.h"
#include "capture/agent/viewers/agent.h"
#include "capture/request/kind.h"
#include "capture/wire/link.h"

namespace accelscope::capture::agent {

class KindsLookup {
 public:
  // `list` may be empty: there is nothing to look for then. The loop must not run any more when this object goes.
  KindsLookup(wire::Loop& loop, std::function<std::vector<request::KindFacts>()> list)
      : loop_(loop), list_(std::move(list)) {}
  ~KindsLookup();
  KindsLookup(const KindsLookup&) = delete;
  KindsLookup& operator=(const KindsLookup&) = delete;

  // Calls back once known() is up to date, at once if it is; not if `who` is forgotten before.
  void ask(const void* who, std::function<void()> answered);
  void forget(const void* who);
  [[nodiscard]] const std::vector<request::KindFacts>& known() const noexcept { return known_; }

 private:
  void answer(std::vector<request::KindFacts> found);

  wire::Loop& loop_;
  std::function<std::vector<request::KindFacts>()> list_;
  std::vector<request::KindFacts> known_;
  std::optional<std::chrono::steady_clock::time_point> looked_at_;
  std::vector<std::pair<const void*, std::function<void()>>> waiting_;
  bool looking_ = false;  // until the answer of the thread is here
  std::thread thread_;
};

// From a request to the parts of a capture: each of its kinds, checked, described and ready to run. The first part also
// writes what the capture is into its session.

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
