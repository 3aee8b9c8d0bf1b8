// What an agent can capture is looked for once for all who wait.
#include "capture/agent/viewers/kinds_lookup.h"

#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <future>

namespace accelscope::capture::agent {

TEST_CASE("kinds: who comes while they are looked for on behalf of one that left waits for the same answer") {
  wire::Loop loop;
  std::promise<void> release;
  const std::shared_future<void> released = release.get_future().share();
  std::atomic<int> looks = 0;
  KindsLookup lookup(loop, [&] {
    ++looks;
    released.wait_for(std::chrono::seconds(10));  // what would block the loop ends, too
    return std::vector<request::KindFacts>{{.name = "there"}};
  });
  const int gone = 0, later = 0;
  bool gone_is_answered = false;
  std::size_t answered = 0;
  loop.post([&] {
    lookup.ask(&gone, [&] { gone_is_answered = true; });
    lookup.forget(&gone);
    lookup.ask(&later, [&] {
      answered = lookup.known().size();
      loop.stop();
    });
    release.set_value();
  });
  loop.run();
  CHECK(answered == 1);
  CHECK_FALSE(gone_is_answered);
  CHECK(looks == 1);
}

}  // namespace accelscope::capture::agent
