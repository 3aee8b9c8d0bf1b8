// Answers that are dear are found once for all who ask, of the whole session and of its hosts.
#include "core/store/retained_answers.h"

#include <doctest/doctest.h>

using namespace accelscope;

namespace {

struct Answer {
  int number = 0;
};

std::shared_ptr<Snapshot> snapshot_of(std::uint64_t version, std::uint64_t events) {
  auto snapshot = std::make_shared<Snapshot>();
  snapshot->version = version;
  snapshot->lanes.resize(1);
  snapshot->lanes[0].event_count = events;
  return snapshot;
}

}  // namespace

TEST_CASE("kept answers: hosts of a session that are asked about in turn are each answered once") {
  RetainedAnswers retained;
  const TaskControl control;
  int made = 0;
  const auto ask = [&](const std::shared_ptr<Snapshot>& snapshot) {
    const auto answer = retained.find<Answer>(snapshot, control, [&]() -> Result<std::shared_ptr<const Answer>> {
      return std::make_shared<const Answer>(Answer{++made});
    });
    REQUIRE(answer.ok());
    return (*answer)->number;
  };
  const auto whole = snapshot_of(7, 30), alpha = snapshot_of(7, 10), beta = snapshot_of(7, 20);
  for (int round = 0; round < 3; ++round) {
    CHECK(ask(whole) == 1);
    CHECK(ask(alpha) == 2);
    CHECK(ask(beta) == 3);
  }
  // What came since makes all of them old.
  CHECK(ask(snapshot_of(8, 31)) == 4);
  CHECK(ask(whole) == 5);
}
