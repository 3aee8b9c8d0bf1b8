// Chains of kernels that only go over memory, and what looks like them.
#include "core/model/column_spec.h"
#include "tests/core/analysis/advice/planted_session.h"

using namespace accelscope;
using namespace accelscope::analysis;
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

namespace {

// An H100 reads 3.35 TB/s at most. An expert's answer, written down before: "the copies run for 2 of 3 ms at 92 % of
// what the memory gives (3.082 TB/s), so only fewer bytes make them faster, by 2 ms at most; the product between them
// is at 10 %, and another kernel of 60 %, which is no limit, is none of my business".
const Finding* bound_by_memory(PlantedSession& session, double copy_rate) {
  session.writer.set_meta("device.0.name", "NVIDIA H100 80GB HBM3");
  const SchemaNumber counter = session.writer.add_schema(
      make_schema({"counter", EventKind::counter}, {{.name = "value", .type = columns::kReal, .role = Role::value}}));
  const TrackNumber dram = session.writer.add_track(
      {.name = "DRAM Read Bandwidth", .kind = "counter", .device = "gpu 0", .unit = "B/s", .schema = counter});
  const TrackNumber stream = session.stream("stream 7");
  for (int turn = 0; turn < 10; ++turn) {
    const std::int64_t at = turn * 300'000;
    session.work(stream, at, 200'000, "copy_kernel");
    session.work(stream, at + 200'000, 50'000, "sm90_xmma_gemm_bf16");
    session.work(stream, at + 250'000, 50'000, "softmax");
    const double rates[] = {copy_rate, copy_rate, copy_rate, copy_rate, 0.1 * 3350e9, 0.6 * 3350e9};
    for (int i = 0; i < 6; ++i) session.writer.sample(dram, at + i * 50'000, rates[i]);
  }
  return session.found(RuleId::memory_bound);
}

}  // namespace

TEST_CASE("advice: a kernel during which the memory is at its peak is told as the expert says, by sampled counters") {
  PlantedSession session;
  const Finding* found = bound_by_memory(session, 0.92 * 3350e9);
  REQUIRE(found != nullptr);
  CHECK(found->headline == "DRAM at 92.0 % of its peak of 3.35 TB/s while copy_kernel runs, 2 ms");
  CHECK(found->count == 10);
  CHECK(found->saving_ns == 2'000'000);
  CHECK(found->share == doctest::Approx(2.0 / 3));
  REQUIRE(found->events.terms.size() == 1);
  CHECK(found->events.terms[0].search.find("copy_kernel") != std::string::npos);
  CHECK(found->remedy.find("Move fewer bytes") == 0);
}

TEST_CASE("advice: kernels that leave the memory a quarter of its peak are not bound by it") {
  PlantedSession session;
  CHECK(bound_by_memory(session, 0.75 * 3350e9) == nullptr);
}
