// Each rule about engines and DMA: a session that must raise it with the planted cost, and one that must not.
#include <doctest/doctest.h>

#include <random>

#include "tests/core/analysis/advice/planted_session.h"

using namespace accelscope;
using namespace accelscope::analysis;
using test::PlantedSession;

namespace {

std::int64_t between(std::mt19937_64& random, std::int64_t low, std::int64_t high) {
  return low + static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(high - low + 1));
}

// An engine that works now and then, so that the stretch of work is all of it.
void frame(PlantedSession& session, std::int64_t end) {
  const TrackNumber engine = session.engine("Scalar");
  session.work(engine, 0, 10);
  session.work(engine, end - 10, 10);
}

}  // namespace

TEST_CASE("advice: a tensor that is loaded again and again costs the time of all loads but the first") {
  std::mt19937_64 random(1);
  for (int seed = 0; seed < 8; ++seed) {
    const std::int64_t times = between(random, 3, 9), length = between(random, 500, 3'000);
    PlantedSession session;
    session.tensor("w1", 65'536);
    session.tensor("x", 65'536);
    const TrackNumber queue = session.queue("q0");
    std::int64_t at = 100;
    for (std::int64_t i = 0; i < times; ++i, at += length + between(random, 0, 900)) {
      session.move(queue, at, length, {.bytes = 65'536});
    }
    session.move(queue, at, length, {.tensor = "x", .bytes = 65'536, .line = "mlp.py:9"});
    frame(session, at + length + 100);
    const Finding* found = session.found(RuleId::reloaded_tensor);
    CHECK_PLANTED(found, (times - 1) * length);
    CHECK(found->headline.starts_with("w1 loaded " + std::to_string(times) + "×"));
    CHECK(found->source == "mlp.py:33");
    CHECK(found->count == static_cast<std::uint64_t>(times));
    CHECK(found->tracks == std::vector<TrackNumber>{queue});
    CHECK(found->places.front().range.begin_ns == 100);
  }
}

TEST_CASE("advice: a tensor that is loaded twice, in parts, or stored, is not told") {
  PlantedSession session;
  session.tensor("w1", 65'536);
  const TrackNumber queue = session.queue("q0");
  for (int i = 0; i < 8; ++i) session.move(queue, 100 + i * 600, 500, {.bytes = 16'384});
  for (int i = 8; i < 16; ++i) {
    session.move(queue, 100 + i * 600, 500, {.bytes = 65'536, .from = "SB", .to = "OUTPUT"});
  }
  frame(session, 12'000);
  CHECK(session.found(RuleId::reloaded_tensor) == nullptr);
  const auto judged = session.advice()->judged;
  CHECK(std::find(judged.begin(), judged.end(), &rule_of(RuleId::reloaded_tensor)) != judged.end());
}

TEST_CASE("advice: spills cost the time in which any of them is under way, from a quarter of what is read on") {
  for (const std::int64_t reloads : {1, 3, 8}) {
    PlantedSession session;
    const TrackNumber first = session.queue("q0"), second = session.queue("q1");
    for (std::int64_t i = 0; i < 9; ++i) session.move(first, i * 1'000, 400, {.bytes = 8'192});
    for (std::int64_t i = 0; i < reloads; ++i) {  // the save and the reload overlap for 100 ns
      session.move(first, 9'000 + i * 1'000, 300, {"spill", 8'192, "SB", "VIRTUAL", "data", "mlp.py:20"});
      session.move(second, 9'200 + i * 1'000, 500, {"spill", 8'192, "VIRTUAL", "SB", "data", "mlp.py:21"});
    }
    frame(session, 20'000);
    const Finding* found = session.found(RuleId::spills);
    if (reloads == 1) {
      CHECK(found == nullptr);  // a tenth
      continue;
    }
    if (reloads == 3) {
      CHECK(found == nullptr);  // exactly a quarter is not more than it
      continue;
    }
    CHECK_PLANTED(found, reloads * 700);
    CHECK(found->source == "mlp.py:21");
  }
}

TEST_CASE("advice: inputs that are read again are told by the session's figures where no transfer names its tensor") {
  for (const std::int64_t reads : {2, 4}) {
    PlantedSession session;
    const TrackNumber queue = session.queue("q0");
    for (int i = 0; i < 100; ++i) {
      session.move(queue, i * 100, 80, {.tensor = "unknown", .bytes = 4'096, .from = "unknown", .to = "unknown"});
    }
    frame(session, 20'000);
    session.tensor("x", 10'000);
    session.access(session.engine("Vector"), 12'000, 100, reads * 10'000, 10'000);
    const Finding* found = session.found(RuleId::reread_inputs);
    if (reads == 2) {
      CHECK(found == nullptr);  // exactly twice is not more than it
      continue;
    }
    REQUIRE(found != nullptr);
    CHECK(found->least_ns == doctest::Approx(100 * 80 * 3 / 5).epsilon(0.05));  // nothing overlaps the transfers
    CHECK(found->saving_ns == doctest::Approx(100 * 80).epsilon(0.05));         // all that the engine waits
    CHECK(found->count == 100);
    CHECK(session.advice({.range = TimeRange{0, 10'000}})->findings.size() <
          session.advice()->findings.size());  // of the whole session alone
  }
}

TEST_CASE("advice: small packets cost what their bytes do not need at the rate of large ones") {
  PlantedSession session;
  const TrackNumber queue = session.queue("q0");
  for (int i = 0; i < 100; ++i) session.move(queue, i * 100, 80, {.bytes = 512});             // 6.4 B/ns
  for (int i = 0; i < 20; ++i) session.move(queue, 10'000 + i * 300, 256, {.bytes = 8'192});  // 32 B/ns
  for (int i = 0; i < 50; ++i) session.move(queue, 16'000 + i * 10, 9, {.bytes = 4});         // signals
  for (int i = 0; i < 50; ++i) session.move(queue, 16'600 + i * 40, 30, {.bytes = 64, .purpose = "instruction"});
  frame(session, 19'000);
  const Finding* found = session.found(RuleId::small_transfers);
  CHECK_PLANTED(found, 100 * (80 - 16));
  CHECK(found->count == 100);

  PlantedSession large;
  const TrackNumber other = large.queue("q0");
  for (int i = 0; i < 50; ++i) large.move(other, i * 100, 80, {.bytes = 2'048});
  for (int i = 0; i < 50; ++i) large.move(other, 6'000 + i * 10, 9, {.bytes = 4});
  frame(large, 7'000);
  CHECK(large.found(RuleId::small_transfers) == nullptr);
}

TEST_CASE("advice: engines starved by DMA would save what overlap hides, and not where both overlap") {
  PlantedSession session;
  const TrackNumber queue = session.queue("q0"), engine = session.engine("Tensor");
  for (int i = 0; i < 20; ++i) {
    session.move(queue, i * 1'000, 600, {});  // 100 of it beside the engine
    session.work(engine, i * 1'000 + 500, 400);
  }
  CHECK_PLANTED(session.found(RuleId::starved), 20 * 300);

  PlantedSession overlapped;
  const TrackNumber other = overlapped.queue("q0"), busy = overlapped.engine("Tensor");
  for (int i = 0; i < 20; ++i) {
    overlapped.move(other, i * 1'000, 600, {});
    overlapped.work(busy, i * 1'000, 900);
  }
  CHECK(overlapped.found(RuleId::starved) == nullptr);
}

TEST_CASE("advice: the busiest engine's waits are evidence of a cause and no finding, another one's are neither") {
  PlantedSession session;
  const TrackNumber busy = session.engine("Tensor"), other = session.engine("Vector");
  for (int i = 0; i < 20; ++i) {
    session.work(busy, i * 1'000, 600, "MATMUL");
    session.work(busy, i * 1'000 + 600, 400, "EVENT_SEMAPHORE");
    session.work(other, i * 1'000 + 600, 400, "ACTIVATE");
  }
  const Finding* found = session.found(RuleId::serial_engines);
  CHECK_PLANTED(found, 20 * 400);
  CHECK(found->evidence.starts_with("Tensor, the busiest engine, waits 8 µs of 20 µs"));
  const auto reported = session.advice();
  for (const Finding& each : reported->findings) CHECK(each.headline.find("waits") == std::string::npos);

  PlantedSession quiet;
  const TrackNumber works = quiet.engine("Tensor"), waits = quiet.engine("Vector");
  for (int i = 0; i < 20; ++i) {
    quiet.work(works, i * 1'000, 990, "MATMUL");
    quiet.work(waits, i * 1'000, 900, "EVENT_SEMAPHORE");
    quiet.work(waits, i * 1'000 + 900, 100, "ACTIVATE");
  }
  const auto quietly = quiet.advice();
  for (const Finding& each : quietly->findings) CHECK(each.evidence.empty());
}

TEST_CASE("advice: throttling costs what the lowest limit takes while the matrix engine works") {
  PlantedSession session;
  const TrackNumber engine = session.engine("TensorMatrix"), throttle = session.throttle();
  session.multiply(engine, 0, 5'000, 1, false);
  session.multiply(engine, 9'000, 1'000, 1, false);
  session.work(session.engine("Vector"), 0, 10'000);  // no limit slows it down
  session.limit(throttle, 1'000, 2'000, 0.5);         // 2 us of work
  session.limit(throttle, 2'000, 500, 0.25);          // half of a us of it under the lower limit
  session.limit(throttle, 4'000, 5'500, 0.75);        // 1 us of work, a pause, half a us
  session.limit(throttle, 9'600, 100, 1.0);           // no limit
  const double planted = 1'500 * 0.5 + 500 * 0.75 + 1'500 * 0.25;
  const Finding* found = session.found(RuleId::throttling);
  CHECK_PLANTED(found, planted);
  CHECK(found->headline.find("throttled for 3.5 µs of its multiplications") != std::string::npos);

  // Several kinds at once count once, and what holds until the engine has been busy for a while is told apart.
  PlantedSession warm;
  const TrackNumber cold = warm.engine("TensorMatrix"), ramp = warm.throttle();
  warm.multiply(cold, 0, 4'000, 1, false);
  warm.limit(ramp, 0, 2'000, 0.5, "activity_1");
  warm.limit(ramp, 0, 1'000, 0.75, "sw_0");
  warm.limit(ramp, 2'000, 2'000, 1.0, "activity_0");
  const Finding* warming = warm.found(RuleId::throttling);
  CHECK_PLANTED(warming, 2'000 * 0.5);
  CHECK(warming->headline.find("warms up") != std::string::npos);

  PlantedSession idle;
  const TrackNumber works = idle.engine("TensorMatrix"), limits = idle.throttle();
  idle.multiply(works, 0, 5'000, 1, false);
  idle.multiply(works, 9'000, 1'000, 1, false);
  idle.limit(limits, 0, 5'000, 0.5, "activity_0");  // the activity at which all cycles are its own
  idle.limit(limits, 5'000, 4'000, 0.25);           // in the pause
  idle.limit(limits, 9'100, 500, 1.0);
  CHECK(idle.found(RuleId::throttling) == nullptr);
}

TEST_CASE("advice: transposes cost their time, from a tenth of the matrix engine's on") {
  PlantedSession session;
  const TrackNumber engine = session.engine("TensorMatrix");
  for (int i = 0; i < 30; ++i) {
    session.multiply(engine, i * 1'000, 600, 1, false);
    session.multiply(engine, i * 1'000 + 600, 120, 1, true, "mlp.py:12");
  }
  const Finding* found = session.found(RuleId::transposes);
  CHECK_PLANTED(found, 30 * 120);
  CHECK(found->source == "mlp.py:12");
  CHECK(found->count == 30);

  PlantedSession few;
  const TrackNumber other = few.engine("TensorMatrix");
  for (int i = 0; i < 30; ++i) {
    few.multiply(other, i * 1'000, 900, 1, false);
    few.multiply(other, i * 1'000 + 900, 90, 1, true);
  }
  CHECK(few.found(RuleId::transposes) == nullptr);
}

TEST_CASE("advice: a poorly filled array costs the time beyond what its operations take at the peak") {
  const auto peaks = [](PlantedSession& session) {  // 2 * 128 * 128 * 1 GHz: 32,768 operations a ns
    session.writer.set_meta("metadata.pe_num_rows", "128");
    session.writer.set_meta("metadata.pe_num_cols", "128");
    session.writer.set_meta("metadata.pe_clock_freq", "1");
    session.writer.set_meta("metadata.num_physical_cores", "1");
  };
  PlantedSession session;
  peaks(session);
  const TrackNumber engine = session.engine("TensorMatrix");
  for (int i = 0; i < 40; ++i) session.multiply(engine, i * 500, 400, 16'384 * 100, false);  // a quarter
  CHECK_PLANTED(session.found(RuleId::low_utilisation), 40 * 300);

  PlantedSession full;
  peaks(full);
  const TrackNumber other = full.engine("TensorMatrix");
  for (int i = 0; i < 40; ++i) full.multiply(other, i * 500, 400, 16'384 * 220, false);
  CHECK(full.found(RuleId::low_utilisation) == nullptr);
}

TEST_CASE("advice: engines that take turns would save what a perfect pipeline does") {
  PlantedSession session;
  const TrackNumber first = session.engine("Tensor"), second = session.engine("Vector");
  for (int i = 0; i < 10; ++i) {
    session.work(first, i * 1'000, 600);
    session.work(second, i * 1'000 + 600, 400);
  }
  CHECK_PLANTED(session.found(RuleId::serial_engines), 10 * 400);

  PlantedSession together;
  const TrackNumber one = together.engine("Tensor"), two = together.engine("Vector");
  for (int i = 0; i < 10; ++i) {
    together.work(one, i * 1'000, 900);
    together.work(two, i * 1'000 + 50, 800);
  }
  CHECK(together.found(RuleId::serial_engines) == nullptr);
}
