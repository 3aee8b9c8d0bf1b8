// What held a GPU's work up, of sessions whose truth is planted: streams of several tracks, threads of a host.
#include "tests/core/analysis/critical_path/gpu_session.h"

#include "core/analysis/replay/bounds.h"

using namespace accelscope;
using namespace accelscope::analysis;

using Times = std::map<std::string, std::int64_t>;

TEST_CASE("stream: what it was given runs in order, whatever tracks it is drawn on") {
  GpuSession session;
  session.call("main", 1, "cudaLaunchKernel", 0, 10);
  session.call("main", 2, "cudaMemsetAsync", 20, 10);
  session.call("main", 3, "cudaStreamSynchronize", 40, 10'020);
  session.kernel("stream 7", 11, "gemm", 30, 10'000);
  session.fill("stream 7", 12, 10'032, 5);
  session.launches(1, 11);
  session.launches(2, 12);
  const Times path = session.path();
  CHECK(path.at("gemm") == 10'000);
  CHECK_FALSE(path.contains("waiting: unknown"));
  CHECK(path.at("waiting: host") <= 20);
  CHECK(session.with("kernel gemm x0.5") == doctest::Approx(5'060).epsilon(0.01));
  CHECK(session.with("host x0") >= 10'000);
}

TEST_CASE("stream: of two streams each runs its own, and one that waits for the other's event comes after it") {
  GpuSession session;
  session.call("main", 1, "cudaLaunchKernel", 0, 10);
  session.call("main", 2, "cudaLaunchKernel", 20, 10);
  session.call("main", 3, "cudaLaunchKernel", 40, 10);
  session.kernel("stream 7", 11, "gemm", 40, 900);
  session.collective("stream 20", 12, "ncclAllReduce", 942, 400);  // launched long before it begins
  session.kernel("stream 7", 13, "relu", 941, 100);                // beside it
  session.launches(1, 11);
  session.launches(2, 12);
  session.launches(3, 13);
  const Times path = session.path();
  CHECK(path.at("gemm") == 900);
  CHECK(path.at("ncclAllReduce") == 400);
  CHECK_FALSE(path.contains("relu"));
  CHECK(session.with("kernel gemm x0.5") == doctest::Approx(892).epsilon(0.01));
}

TEST_CASE("stream: a wait for an event that is told holds for what comes after it, of what came before the record") {
  for (const bool reported : {true, false}) {
    CAPTURE(reported);
    GpuSession session;
    session.call("main", 1, "cudaLaunchKernel", 0, 10);
    session.call("main", 2, "cudaEventRecord", 12, 2);
    session.call("main", 3, "cudaLaunchKernel", 20, 10);  // not waited for
    session.call("main", 4, "cudaStreamWaitEvent", 32, 2);
    session.call("main", 5, "cudaLaunchKernel", 40, 10);
    session.kernel("stream 7", 11, "gemm", 20, 800);
    session.kernel("stream 7", 13, "relu", 821, 500);
    session.kernel("stream 20", 15, "reduce", 850, 600);  // long after the gemm: nothing else would join them
    session.launches(1, 11);
    session.launches(3, 13);
    session.launches(5, 15);
    if (reported) session.stream_waits("stream 20", 4, 32, 7, 2);
    const Times path = session.path();
    CHECK(path.contains("gemm") == reported);
    CHECK_FALSE(path.contains("relu"));
    // Without the wait it has a delay that nothing explains.
    CHECK(session.with("kernel gemm x0.25") == doctest::Approx(reported ? 850 : 1'450).epsilon(0.01));
  }
}

TEST_CASE("host: time between launches is that of the innermost operator, and without the host the device is left") {
  GpuSession session;
  std::int64_t at = 0;
  for (std::uint64_t i = 0; i < 10; ++i, at += 100) {
    session.op("main", 100 + i, "aten::linear", at, 100);
    session.op("main", 200 + i, "aten::addmm", at + 20, 75);
    session.call("main", 1 + i, "cudaLaunchKernel", at + 85, 10);
    session.kernel("stream 7", 50 + i, "gemm", at + 105, 20);
    session.launches(1 + i, 50 + i);
  }
  const Times path = session.path();
  CHECK(path.at("aten::linear") == 10 * 25 - 5);  // up to the last launch
  CHECK(path.at("aten::addmm") == 10 * 65);
  CHECK(path.at("cudaLaunchKernel") == 10 * 10);
  CHECK(path.at("gemm") == 20);
  CHECK(session.with("host x0") == doctest::Approx(10 * 20 + 10).epsilon(0.2));
  CHECK(session.with("kernel gemm x0") == doctest::Approx(1'005).epsilon(0.01));
}

TEST_CASE("host: a call that goes on until its copy has ended waits for the stream before it") {
  GpuSession session;
  session.call("main", 1, "cudaLaunchKernel", 0, 10);
  session.call("main", 2, "cudaMemcpyAsync", 20, 1'030);
  session.call("main", 3, "cudaLaunchKernel", 1'060, 10);
  session.call("main", 4, "cudaMemcpyAsync", 1'080, 10);  // of pinned memory: it does not wait
  session.kernel("stream 7", 11, "gemm", 20, 1'000);
  session.copy("stream 7", 12, 1'022, 20);
  session.kernel("stream 7", 13, "relu", 1'072, 100);
  session.copy("stream 7", 14, 1'173, 20);
  for (std::uint64_t i = 1; i <= 4; ++i) session.launches(i, 10 + i);
  const Times path = session.path();
  CHECK(path.at("gemm") == 1'000);
  CHECK_FALSE(path.contains("cudaMemcpyAsync"));  // what it takes up to there hides behind the kernel
  CHECK(session.with("kernel gemm x0.5") == doctest::Approx(693).epsilon(0.02));
}

TEST_CASE("host: a thread that spans another one's calls waits for them, named by an operator or by nothing") {
  for (const bool named : {true, false}) {
    CAPTURE(named);
    GpuSession session;
    session.op("main", 90, "forward", 0, 100);
    session.call("main", 1, "cudaLaunchKernel", 90, 10);
    if (named) session.op("main", 91, "run_backward", 100, 520);
    session.op("autograd", 92, "AddmmBackward", 110, 490);
    session.call("autograd", 2, "cudaLaunchKernel", 580, 10);
    session.op("main", 93, "step", 620, 100);
    session.call("main", 3, "cudaLaunchKernel", 700, 10);
    session.kernel("stream 7", 11, "gemm", 110, 20);
    session.kernel("stream 7", 12, "dgrad", 600, 20);
    session.kernel("stream 7", 13, "adam", 720, 20);
    for (std::uint64_t i = 1; i <= 3; ++i) session.launches(i, 10 + i);
    const Times path = session.path();
    CHECK(path.at("AddmmBackward") >= 470);
    CHECK(path.contains("forward"));
    const std::int64_t before = session.graph().end_of_all_ns / 1'000;
    CHECK(before - session.with("event AddmmBackward x0.5") == doctest::Approx(240).epsilon(0.05));
  }
}

TEST_CASE("host: a thread that launches nothing and hands nothing over is on no path") {
  GpuSession session;
  session.call("main", 1, "cudaLaunchKernel", 0, 10);
  session.kernel("stream 7", 11, "gemm", 20, 1'000);
  session.launches(1, 11);
  for (int i = 0; i < 20; ++i) session.call("watchdog", 30, "cudaEventQuery", i * 100, 5);
  const Times path = session.path();
  CHECK(path.at("gemm") == 1'000);
  CHECK_FALSE(path.contains("cudaEventQuery"));
}

TEST_CASE("gaps: each is listed with what held its launch up, and together they are what the device idles") {
  GpuSession session;
  std::int64_t at = 0;
  for (std::uint64_t i = 0; i < 5; ++i, at += 1'000) {
    session.op("main", 100 + i, "DataLoader.__next__", at, 600);
    session.call("main", 1 + i, "cudaLaunchKernel", at + 610, 10);
    session.kernel("stream 7", 50 + i, "gemm", at + 630, 300);
    session.launches(1 + i, 50 + i);
  }
  for (int i = 0; i < 40; ++i) session.op("helper", 300, "poll", i * 100, 90);
  const WorkGraph& graph = session.graph();
  const std::vector<WorkGap> gaps = device_gaps(graph, {graph.begin_of_all_ns, graph.end_of_all_ns});
  REQUIRE(gaps.size() == 5);
  std::int64_t idle_ns = 0;
  for (const WorkGap& gap : gaps) {
    idle_ns += gap.length_ns();
    REQUIRE(gap.host != kNoNode);
    CHECK(graph.snapshot->strings->text(graph.names[gap.host]) == "DataLoader.__next__");
    REQUIRE(gap.launch != kNoNode);
    CHECK(graph.snapshot->strings->text(graph.names[gap.launch]) == "cudaLaunchKernel");
    CHECK(graph.snapshot->strings->text(graph.names[gap.after]) == "gemm");
  }
  CHECK(idle_ns == graph.end_of_all_ns - graph.begin_of_all_ns - 5 * 300'000);
}

TEST_CASE("graph: all who ask of a session get the same one as long as it does not change") {
  GpuSession session;
  session.call("main", 1, "cudaLaunchKernel", 0, 10);
  session.kernel("stream 7", 11, "gemm", 20, 100);
  session.launches(1, 11);
  (void)session.graph();
  const auto first = session_graph(session.query()), second = session_graph(session.query());
  REQUIRE(first.ok());
  REQUIRE(second.ok());
  CHECK(first->get() == second->get());
  session.add_later("gemm", 200, 50);
  const auto third = session_graph(session.query());
  REQUIRE(third.ok());
  CHECK(third->get() != first->get());
  CHECK((*third)->count() == (*first)->count() + 1);
}

TEST_CASE("host: what a launch that loads a module first starts late is the host's time, and goes with it") {
  GpuSession session;
  session.call("main", 1, "cudaLaunchKernel", 0, 3'000);  // the kernel begins as it ends
  session.call("main", 2, "cudaLaunchKernel", 3'010, 10);
  session.kernel("stream 7", 11, "gemm", 2'990, 100);
  session.kernel("stream 7", 12, "gemm", 3'100, 100);
  session.launches(1, 11);
  session.launches(2, 12);
  CHECK(session.path().at("cudaLaunchKernel") >= 2'990);
  CHECK(session.with("host x0") < 300);
}
