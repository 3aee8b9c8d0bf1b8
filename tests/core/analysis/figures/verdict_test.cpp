#include "core/analysis/figures/verdict.h"

#include <doctest/doctest.h>

#include "core/chunk/session_writer.h"
#include "core/scan/chunk_scan.h"
#include "core/store/store.h"

using namespace accelscope;
using namespace accelscope::analysis;

namespace {

SessionLoad streams(double busy) {
  SessionLoad load;
  load.kind = SessionLoad::Kind::streams;
  load.device = "GPU";
  load.span_ns = 1'000'000;
  load.active_ns = static_cast<std::int64_t>(busy * 1e6);
  load.busiest = "gemm";
  load.busiest_share = 0.43;
  return load;
}

SessionLoad engines(double dma, double busiest, double collectives = 0) {
  SessionLoad load;
  load.kind = SessionLoad::Kind::engines;
  load.device = "nc0";
  load.span_ns = 400'000;
  load.active_ns = 300'000;
  load.shares = {busiest, dma, collectives};
  load.busiest = "Tensor";
  load.busiest_share = busiest;
  return load;
}

// A session written by hand: tracks of any kind and the stretches in which they work or wait.
class Manual {
 public:
  Manual() { schema_ = writer_.add_schema({.name = "work", .wait_names = {"WAIT"}}); }
  TrackNumber track(const char* name, const char* kind, const char* device = "nc0") {
    return writer_.add_track({.name = name, .kind = kind, .device = device, .schema = schema_});
  }
  void add(TrackNumber track, std::int64_t begin, std::int64_t end, const char* name = "COPY") {
    writer_.begin_event(track, begin, end - begin, writer_.intern(name));
  }
  void sums(const char* names, const std::vector<std::pair<const char*, std::int64_t>>& rows) {
    const SchemaNumber schema = writer_.add_schema({.name = std::string(names) + " sums",
                                                    .kind = EventKind::table,
                                                    .name_column = names,
                                                    .columns = {{.name = "Time (ns)", .unit = "ns"}}});
    const TrackNumber table = writer_.add_track({.name = names, .kind = "table", .schema = schema});
    for (const auto& [name, ns] : rows) writer_.begin_event(table, 0, 0, writer_.intern(name)).integer(0, ns);
  }
  void lacks(QualityKind kind, std::uint64_t count, Severity severity) {
    writer_.add_quality({kind.as(severity), count, "what to try"});
  }
  SessionLoad load(const TimeRange& active) {
    REQUIRE(writer_.finish().ok());
    const auto measured = session_load({*store_, store_->snapshot(), pool_, control_}, active);
    REQUIRE(measured.ok());
    return *measured;
  }
  Verdict verdict(const std::optional<TimeRange>& active, const SourceLines& lines) {
    REQUIRE(writer_.finish().ok());
    const auto made = session_verdict({*store_, store_->snapshot(), pool_, control_}, active, lines);
    REQUIRE(made.ok());
    return *made;
  }

 private:
  std::unique_ptr<Store> store_ = Store::create().value();
  StoreSink sink_{*store_};
  SessionWriter writer_{sink_};
  WorkerPool pool_{2};
  TaskControl control_;
  SchemaNumber schema_ = 0;
};

SourceLine line(const char* path, std::uint32_t number, std::int64_t busy_ns, std::int64_t wait_ns) {
  return {.path = path, .line = number, .event_count = 1, .busy_ns = busy_ns, .wait_ns = wait_ns};
}

}  // namespace

TEST_CASE("verdict: a device that idles is bound by its host, and its longest gap says where to look") {
  SessionLoad load = streams(0.51);
  load.gap = {100, 95'000'100};
  load.before_gap = "vectorized_elementwise_kernel";
  CHECK(bound_text(load) == "GPU idle 49.0 % of 1 ms: host-bound");
  CHECK(cause_text(load) == "Largest gap 95 ms after vectorized_elementwise_kernel");
  load.host_in_gap = "DataLoader.__next__";
  CHECK(cause_text(load) == "Largest gap 95 ms after vectorized_elementwise_kernel, host in DataLoader.__next__");
  load.before_gap = "";
  CHECK(cause_text(load) == "Largest gap 95 ms before the first work, host in DataLoader.__next__");
}

TEST_CASE("verdict: a device that is kept busy is bound by what it does, alone or most") {
  SessionLoad load = streams(0.95);
  CHECK(bound_text(load) == "GPU busy 95.0 % of 1 ms: bound by its kernels");
  CHECK(cause_text(load) == "Longest in gemm, 43.0 %");
  load.split.shares = {0.6, 0.3, 0.05, 0.05};
  CHECK(
      bound_text(load) ==
      "GPU busy 95.0 % of 1 ms (compute 60.0 %, communication alone 30.0 %, copies alone 5.0 %, idle 5.0 %): bound by "
      "its kernels");
  load.split.shares = {0.3, 0.64, 0.01, 0.05};
  CHECK(bound_text(load) ==
        "GPU busy 95.0 % of 1 ms (communication alone 64.0 %, compute 30.0 %, idle 5.0 %): bound by communication");
  load.split.shares = {0.02, 0, 0.93, 0.05};
  CHECK(bound_text(load) == "GPU busy 95.0 % of 1 ms (copies alone 93.0 %, idle 5.0 %): bound by copies");
}

TEST_CASE("verdict: what a device does alone for longer than it idles bounds it, however long it idles") {
  SessionLoad load = streams(0.7);
  load.split.shares = {0.1, 0.6, 0, 0.3};
  CHECK(bound_text(load) ==
        "GPU busy 70.0 % of 1 ms (communication alone 60.0 %, idle 30.0 %, compute 10.0 %): mostly communication");
  // Idle for a tenth of the time it may have been held up all along.
  CHECK(bound_text(streams(0.89)) == "GPU busy 89.0 % of 1 ms: mostly its kernels");
  CHECK(bound_text(streams(0.91)) == "GPU busy 91.0 % of 1 ms: bound by its kernels");
}

TEST_CASE("verdict: of engines the unit that is under way most bounds them, beside the peak and the ideal") {
  SessionLoad load = engines(0.98, 0.44);
  CHECK(bound_text(load) == "DMA-bound, 400 µs of work");
  CHECK(cause_text(load) == "DMA 98.0 %, Tensor 44.0 % of the work's active time");
  load.of_peak = 0.07;
  load.ideal_ns = 21'000;
  CHECK(bound_text(load) == "7.0 % of peak: DMA-bound, ideal 21 µs for 400 µs of work");
  CHECK(bound_text(engines(0.5, 0.9)) == "Bound by Tensor, 400 µs of work");
  CHECK(bound_text(engines(0.1, 0.2, 0.7)) == "Bound by communication, 400 µs of work");
  CHECK(bound_text(engines(0.38, 0.31)) == "Latency-bound, 400 µs of work");
  CHECK(cause_text(engines(0.38, 0.31)) == "DMA 38.0 %, Tensor 31.0 % of the work's active time");
  SessionLoad waits = engines(0.1, 0.98);  // a program runs while it waits for its transfers
  waits.waits_share = 0.575;
  waits.longest_wait = "READ_BARRIER";
  CHECK(bound_text(waits) == "Bound by waits, 57.5 % of the programs' time, most in READ_BARRIER, 400 µs of work");
}

TEST_CASE("verdict: it commits whatever was recorded, and says what is missing where nothing was") {
  for (int percent = 0; percent <= 100; ++percent) {
    const double share = percent / 100.0;
    for (const SessionLoad& load : {streams(share), engines(share, 1 - share), engines(share / 3, share / 4)}) {
      const std::string text = bound_text(load);  // "host-bound", "Bound by ...", "mostly ..."
      CHECK((text.find("ound") != std::string::npos || text.find("mostly") != std::string::npos));
    }
  }
  SessionLoad host;
  host.kind = SessionLoad::Kind::host_only;
  host.span_ns = 2'000'000;
  host.active_ns = 1'500'000;
  CHECK(bound_text(host) == "Host-bound: no device work was recorded, threads work 1.5 ms of 2 ms");
  host.split.shares[static_cast<std::size_t>(TimePart::communication)] = 0.5;
  CHECK(bound_text(host) == "Bound by communication: no device work was recorded, threads work 1.5 ms of 2 ms");
  CHECK(bound_text({}) == "Unknown: no work was recorded, capture engines, streams or threads");
}

TEST_CASE("verdict: a stream that idles between its kernels is measured so, with what the host did meanwhile") {
  Manual session;
  const TrackNumber stream = session.track("stream 7", "stream", "gpu 0");
  const TrackNumber thread = session.track("11 python", "host_thread", "");
  session.add(stream, 0, 1'000, "void at::native::gemm<float>(float*)");
  session.add(stream, 9'000, 10'000, "softmax");
  session.add(thread, 0, 10'000, "main");
  session.add(thread, 2'000, 8'500, "load_batch");
  const SessionLoad load = session.load({0, 10'000});
  CHECK(load.kind == SessionLoad::Kind::streams);
  CHECK(load.device == "GPU");
  CHECK(load.idle_share() == doctest::Approx(0.8));
  CHECK(load.gap == TimeRange{1'000, 9'000});
  CHECK(load.before_gap == "gemm");
  CHECK(load.host_in_gap == "load_batch");
}

TEST_CASE("verdict: queues that take turns cover the time together, and each device counts alike") {
  Manual session;
  const TrackNumber first = session.track("q0", "dma_queue");
  const TrackNumber second = session.track("q1", "dma_queue");
  const TrackNumber engine = session.track("Tensor", "engine");
  session.add(first, 0, 500);
  session.add(second, 400, 1'000);  // overlaps the first
  session.add(engine, 0, 250);
  session.add(engine, 250, 1'000, "WAIT");
  session.add(first, 1'500, 9'000);  // outside of the stretch
  const SessionLoad load = session.load({0, 1'000});
  CHECK(load.kind == SessionLoad::Kind::engines);
  CHECK(load.active_ns == 1'000);
  CHECK(load.share(WorkUnit::transfer) == doctest::Approx(1.0));
  CHECK(load.share(WorkUnit::compute) == doctest::Approx(0.25));
  CHECK(load.busiest == "Tensor");
  CHECK(load.busiest_share == doctest::Approx(0.25));
}

TEST_CASE("verdict: engines without a program most of the time are bound by their host, engines that wait are not") {
  Manual session;
  const TrackNumber engine = session.track("core 1,1 BRISC", "engine");
  session.add(engine, 0, 100);
  session.add(engine, 900'000, 900'100);
  session.add(engine, 1'000'000, 1'000'100);
  const SessionLoad load = session.load({0, 1'000'100});
  CHECK(load.kind == SessionLoad::Kind::engines);
  CHECK(load.gap == TimeRange{100, 900'000});
  CHECK(bound_text(load).ends_with(": host-bound"));
  CHECK(cause_text(load).starts_with("Largest gap 899.9 µs after "));
  Manual waiting;
  const TrackNumber other = waiting.track("Tensor", "engine");
  waiting.add(other, 0, 100);
  waiting.add(other, 100, 1'000'000, "WAIT");
  waiting.add(other, 1'000'000, 1'000'100);
  CHECK(bound_text(waiting.load({0, 1'000'100})).find("host-bound") == std::string::npos);
}

TEST_CASE("verdict: programs that wait for their transfers for most of their time are bound by that") {
  for (const std::int64_t waits : {400, 600}) {
    Manual session;
    session.add(session.track("core 1,1 BRISC", "engine"), 0, 1'000);
    const TrackNumber network = session.track("core 1,1 BRISC network", "dma_queue");
    session.add(network, 100, 110);
    session.add(network, 200, 200 + waits, "WAIT");
    const SessionLoad load = session.load({0, 1'000});
    CHECK(load.waits_share == doctest::Approx(static_cast<double>(waits) / 1'000));
    CHECK(load.longest_wait == "WAIT");
    CHECK((bound_text(load).find("ound by waits") != std::string::npos) == (waits > 500));
  }
}

TEST_CASE("verdict: the worst line waits longest, else works longest, and idle lines are none") {
  SourceLines lines;
  CHECK_FALSE(worst_line(lines).has_value());
  lines.lines = {line("a.py", 1, 0, 0)};
  CHECK_FALSE(worst_line(lines).has_value());
  lines.lines = {line("dir/mlp.py", 12, 900, 0), line("dir/mlp.py", 33, 10, 0)};
  CHECK(line_text(*worst_line(lines)) == "mlp.py:12 works 900 ns");
  lines.lines.push_back(line("dir/mlp.py", 40, 5, 344'000));
  CHECK(line_text(*worst_line(lines)) == "mlp.py:40 waits 344 µs");
}

TEST_CASE("verdict: a line of the host costs its own time and what it launched, and only where none is of the device") {
  SourceLines lines, own, launched;
  SourceLine host = line("train.py", 7, 5'000'000, 0);
  host.host_ns = 5'000'000;
  lines.lines = {host, line("mlp.py", 12, 900, 0)};
  CHECK(line_text(*worst_line(lines)) == "mlp.py:12 works 900 ns");
  lines.lines = {host};
  own.lines = {line("train.py", 7, 3'000, 0), line("train.py", 9, 1'500, 0)};
  CHECK(line_text(*worst_line(lines, own)) == "train.py:7 works 3 µs on the host");
  launched.lines = {line("train.py", 3, 100, 0), line("train.py", 9, 2'000, 0)};
  CHECK(line_text(*worst_line(lines, own, launched)) == "train.py:9 launches 2 µs of device work, 1.5 µs of its own");
  CHECK(worst_line(lines, own, launched)->ns == 3'500);
}

TEST_CASE("verdict: it ends with the gravest gap in the data, and says nothing of complete ones") {
  SourceLines lines;
  lines.lines = {line("mlp.py", 33, 0, 344'000)};
  Manual session;
  session.add(session.track("stream 7", "stream", "gpu 0"), 0, 2'000);
  session.lacks("host_times_estimated", 1, Severity::note);
  session.lacks("rows_skipped", 1'204, Severity::error);
  session.lacks("missing_source_locations", 1, Severity::warning);
  const Verdict verdict = session.verdict(TimeRange{0, 2'000}, lines);
  CHECK(verdict.missing == "rows skipped (1,204)");
  CHECK(verdict.text() ==
        "GPU busy 100.0 % of 2 µs: bound by its kernels; Longest in COPY, 100.0 %; mlp.py:33 waits 344 µs; "
        "data quality: rows skipped (1,204)");
  Manual noted;
  noted.add(noted.track("stream 7", "stream", "gpu 0"), 0, 2'000);
  noted.lacks("flow_without_partner", 15'242, Severity::note);
  CHECK(noted.verdict(TimeRange{0, 2'000}, lines).missing.empty());
  Manual empty;
  const Verdict nothing = empty.verdict(std::nullopt, {});
  CHECK(nothing.text() == "Unknown: no work was recorded, capture engines, streams or threads");
}

TEST_CASE("verdict: what was recorded of one chip alone is not averaged over all") {
  Manual session;
  for (const char* device : {"TPU 0", "TPU 1", "TPU 2", "TPU 3"}) {
    session.add(session.track("XLA Ops", "engine", device), 0, 400'000, "dot");
  }
  session.add(session.track("Async XLA Ops", "dma_queue", "TPU 0"), 100'000, 400'000);
  const SessionLoad load = session.load({0, 400'000});
  CHECK(load.device == "4 TPUs");
  CHECK(load.share(WorkUnit::transfer) == doctest::Approx(0.75));
  CHECK(load.share(WorkUnit::compute) == doctest::Approx(1));
}

TEST_CASE("verdict: what missing notifications keep from the figures is said with them") {
  Verdict verdict;
  verdict.bound = "DMA-bound";
  verdict.missing = "missing dge notifications (2,656)";
  CHECK(verdict.text() ==
        "DMA-bound; data quality: missing dge notifications (2,656): reloads and spills among these DMA packets are "
        "not known");
  verdict.missing = "no trace";
  CHECK(verdict.text() == "DMA-bound; data quality: no trace");
}

TEST_CASE("verdict: sums without times say what most of them is, of a device before its host") {
  Manual device, host;
  device.sums("Kernel",
              {{"gemm", 40'000}, {"zeCommandListAppendMemoryCopy(M2D)", 55'000}, {"ncclDevKernel_AllReduce", 5'000}});
  device.sums("Function", {{"zeCommandQueueSynchronize", 900'000}});
  CHECK(device.verdict(std::nullopt, {}).text() ==
        "Sums alone, 100 µs of device work, copies 55.0 %, kernels 40.0 %, communication 5.0 %: mostly copies; Longest "
        "in "
        "zeCommandListAppendMemoryCopy, 55.0 %");
  host.sums("Function", {{"zeCommandQueueSynchronize", 900}, {"zeMemAllocDevice", 100}});
  CHECK(host.verdict(std::nullopt, {}).text() ==
        "Sums alone, 1 µs of a host's calls, waits 90.0 %, other calls 10.0 %: mostly waits; Longest in "
        "zeCommandQueueSynchronize, 90.0 %");
}

TEST_CASE("verdict: where many durations cannot be, the rest does not stand for all") {
  const auto with_doubtful = [](int count) {
    Manual session;
    const TrackNumber stream = session.track("Operations", "stream", "chip 0");
    for (int i = 0; i < 9; ++i) session.add(stream, i * 1'000, i * 1'000 + 900);
    const TrackNumber doubtful = session.track("Operations (impossible times)", "doubtful", "chip 0");
    for (int i = 0; i < count; ++i) session.add(doubtful, i, 6'000'000'000);
    return session.verdict(TimeRange{0, 9'000}, {}).bound;
  };
  CHECK(with_doubtful(3) == "Unknown: 3 of 12 events have impossible durations, and are left out");
  CHECK(with_doubtful(2).find("bound by") != std::string::npos);
}
