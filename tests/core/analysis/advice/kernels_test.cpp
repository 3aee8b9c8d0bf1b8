// Chains of kernels that only go over memory, and what looks like them.
#include "tests/core/analysis/advice/planted_session.h"

using namespace accelscope;
using test::PlantedSession;

namespace {

// Turns of a product and three kernels over memory: all three after it, or each after a product of its own.
const Finding* chains_of(PlantedSession& session, bool chained) {
  const TrackNumber stream = session.stream("stream 7");
  std::int64_t at = 0;
  const auto work = [&](const char* name, std::int64_t ns) {
    session.work(stream, at, ns, name);
    at += ns;
  };
  for (int turn = 0; turn < 50; ++turn) {
    for (int i = 0; i < 3; ++i) {
      if (!chained) work("sm90_xmma_gemm_bf16", 10'000);
      work("void at::native::vectorized_elementwise_kernel<4, MulFunctor>", 10'000);
    }
    if (chained) work("sm90_xmma_gemm_bf16", 30'000);
  }
  return session.found(RuleId::unfused_kernels);
}

}  // namespace

TEST_CASE("advice: kernels over memory that follow one another are told with what fusing them saves") {
  PlantedSession session;
  const Finding* found = chains_of(session, true);
  REQUIRE(found != nullptr);
  CHECK(found->count == 100);
  CHECK(found->saving_ns == 100 * 10'000);
  CHECK(found->headline == "100 elementwise, copy and reduction kernels come right after another, 1 ms");
  CHECK(found->evidence.find("150 such kernels take 1.5 ms") == 0);
}

TEST_CASE("advice: a kernel over memory between two products is no chain, however long all of them take") {
  PlantedSession session;
  CHECK(chains_of(session, false) == nullptr);
}
