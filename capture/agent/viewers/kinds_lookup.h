// What can be captured on this host. Looking for it may take a while, and many may ask: it is done on a thread of its
// own, once for all who wait, and the answer is known for some seconds.
//
// All functions belong to the loop's thread.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

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
  void answer();

  wire::Loop& loop_;
  std::function<std::vector<request::KindFacts>()> list_;
  std::vector<request::KindFacts> known_;
  std::vector<request::KindFacts> found_;  // the thread's, until it has posted
  std::optional<std::chrono::steady_clock::time_point> looked_at_;
  std::vector<std::pair<const void*, std::function<void()>>> waiting_;
  std::thread thread_;
};

}  // namespace accelscope::capture::agent
