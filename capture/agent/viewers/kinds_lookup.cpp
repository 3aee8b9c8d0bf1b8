#include "capture/agent/viewers/kinds_lookup.h"

#include <system_error>

namespace accelscope::capture::agent {
namespace {

constexpr std::chrono::seconds kKindsStayKnown{5};

// Where the looking fails, for want of memory most likely, nothing is found; whoever asks goes on with what needs no
// kind.
std::vector<request::KindFacts> look_up(const std::function<std::vector<request::KindFacts>()>& list) {
  try {
    return list();
  } catch (...) {
    return {};
  }
}

}  // namespace

KindsLookup::~KindsLookup() {
  if (thread_.joinable()) thread_.join();
}

void KindsLookup::ask(const void* who, std::function<void()> answered) {
  const bool known = !list_ || (looked_at_ && std::chrono::steady_clock::now() - *looked_at_ < kKindsStayKnown);
  if (known) return answered();
  waiting_.emplace_back(who, std::move(answered));
  if (waiting_.size() > 1) return;
  if (thread_.joinable()) thread_.join();  // it has posted its answer
  try {
    thread_ = std::thread([this] {
      found_ = look_up(list_);
      loop_.post([this] { answer(); });
    });
  } catch (const std::system_error&) {  // no thread is to be had: what was known before is the answer
    found_ = known_;
    answer();
  }
}

void KindsLookup::answer() {
  known_ = std::move(found_);
  looked_at_ = std::chrono::steady_clock::now();
  for (const auto& each : std::exchange(waiting_, {})) each.second();
}

void KindsLookup::forget(const void* who) {
  std::erase_if(waiting_, [who](const auto& each) { return each.first == who; });
}

}  // namespace accelscope::capture::agent
