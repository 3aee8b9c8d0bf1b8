// The numbers in the guide's table of promises, where a test of what they do would take as long as they last.
#include <doctest/doctest.h>
#include <unistd.h>

#include "capture/agent/viewers/agent.h"
#include "capture/client/capture_session.h"
#include "capture/client/connection.h"
#include "capture/wire/link.h"
#include "core/store/store.h"

namespace accelscope::capture {
namespace {

using std::chrono::milliseconds;
using std::chrono::minutes;

TEST_CASE("the limits of promises are those of the programs: a minute, half a second, half of the memory") {
  // A break of the connection: both sides wait so long for each other.
  CHECK(client::ConnectionOptions{}.give_up >= minutes(1));
  CHECK(client::CaptureSessionOptions{}.give_up >= minutes(1));
  CHECK(agent::AgentOptions{}.orphan_limit >= minutes(1));
  // A power cut: recovery and spool are put on the disk with every tick, which takes one at most.
  CHECK(2 * wire::LinkLimits{}.tick <= milliseconds(500));
  const auto memory =
      static_cast<std::uint64_t>(::sysconf(_SC_PHYS_PAGES)) * static_cast<std::uint64_t>(::sysconf(_SC_PAGE_SIZE));
  CHECK(default_memory_budget() == memory / 2);
}

}  // namespace
}  // namespace accelscope::capture
