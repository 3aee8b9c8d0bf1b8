// Which loop of one session is which of another.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "core/analysis/iterations/iterations.h"
#include "core/chunk/session_writer.h"
#include "core/scan/chunk_scan.h"
#include "core/store/store.h"

using namespace accelscope;
using namespace accelscope::analysis;

namespace {

struct Loop {
  std::string track;
  std::vector<std::string> body;
  std::int64_t turns = 0, operation_ns = 0;
};

class LoopingSession {
 public:
  // `scopes`: other sources that came before; a track's number is then far beyond its place in the list.
  explicit LoopingSession(const std::vector<Loop>& loops, int scopes = 0) {
    for (int i = 0; i < scopes; ++i) (void)store_->new_scope();
    StoreSink sink(*store_);
    SessionWriter writer(sink);
    const SchemaNumber schema = writer.add_schema({.name = "work"});
    for (const Loop& loop : loops) {
      const TrackNumber track =
          writer.add_track({.name = loop.track, .kind = "stream", .device = "device 0", .schema = schema});
      std::int64_t at = 0;
      for (std::int64_t turn = 0; turn < loop.turns; ++turn) {
        for (const std::string& name : loop.body) {
          writer.begin_event(track, at, loop.operation_ns, writer.intern(name));
          at += loop.operation_ns + 10;
        }
      }
    }
    REQUIRE(writer.finish().ok());
  }
  [[nodiscard]] QueryContext query() { return {*store_, store_->snapshot(), pool_, control_}; }

 private:
  std::unique_ptr<Store> store_ = Store::create().value();
  WorkerPool pool_{1};
  TaskControl control_;
};

SharedTurns shared(const std::vector<Loop>& base, const std::vector<Loop>& other) {
  LoopingSession here(base), there(other);
  const auto found = find_shared_turns(here.query(), there.query());
  REQUIRE(found.ok());
  return **found;
}

const std::vector<std::string> kStep = {"load", "gemm_17", "softmax", "gemm_18", "norm", "store"};

}  // namespace

TEST_CASE("shared loop: turns of each session, though numbers in names and the count of turns changed") {
  const SharedTurns turns = shared({{"stream 7", kStep, 12, 100}},
                                   {{"stream 7", {"load", "gemm_21", "softmax", "gemm_22", "norm", "store"}, 9, 150}});
  REQUIRE(turns.base.size() == 12);
  REQUIRE(turns.other.size() == 9);
  CHECK(turns.base[1].begin_ns == 6 * 110);
  CHECK(turns.base[1].length_ns() == 6 * 110 - 10);
  CHECK(turns.other[2].begin_ns == 2 * 6 * 160);
}

TEST_CASE("shared loop: of several loops the one that both have, on tracks of one name before others") {
  const Loop copies{"copies", {"h2d", "check", "d2h", "free", "wait"}, 40, 900};  // takes most of the time of the base
  const SharedTurns renamed = shared({copies, {"stream 7", kStep, 12, 100}}, {{"stream 9", kStep, 15, 100}});
  CHECK(renamed.base.size() == 12);
  CHECK(renamed.other.size() == 15);
  const SharedTurns named =
      shared({{"stream 7", kStep, 12, 100}}, {{"stream 9", kStep, 15, 100}, {"stream 7", kStep, 8, 100}});
  CHECK(named.other.size() == 8);
}

TEST_CASE("shared loop: a track is found by its number, which is not its place in the list") {
  LoopingSession here({{"stream 7", kStep, 12, 100}}, 1), there({{"stream 7", kStep, 9, 100}}, 3);
  const auto found = find_shared_turns(here.query(), there.query());
  REQUIRE(found.ok());
  CHECK((*found)->base.size() == 12);
  CHECK((*found)->other.size() == 9);
}

TEST_CASE("shared loop: bodies that have little in common are no loop of both") {
  const SharedTurns turns = shared({{"stream 7", kStep, 12, 100}},
                                   {{"stream 7", {"embed", "load", "rope", "scatter", "gather", "dropout"}, 12, 100}});
  CHECK(turns.base.empty());
  CHECK(turns.other.empty());
  CHECK(shared({}, {{"stream 7", kStep, 12, 100}}).other.empty());
}
