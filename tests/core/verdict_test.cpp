#include "core/analysis/verdict.h"

#include <doctest/doctest.h>

#include "core/model/session_writer.h"
#include "core/query/chunk_scan.h"
#include "core/store/store.h"

using namespace accelscope;

namespace {

SessionLoad load_of(std::initializer_list<std::pair<Load, double>> shares) {
  SessionLoad load;
  load.active_ns = 393'000;
  load.busiest_engine = "Tensor";
  for (const auto& [which, share] : shares) load.shares[static_cast<std::size_t>(which)] = share;
  return load;
}

// A session written by hand: tracks of any kind and the stretches in which they work or wait.
class HandMade {
 public:
  HandMade() { schema_ = writer_.add_schema({.name = "work", .wait_names = {"WAIT"}}); }
  TrackNumber track(const char* name, const char* kind, const char* device = "nc0") {
    return writer_.add_track({.name = name, .kind = kind, .device = device, .schema = schema_});
  }
  void add(TrackNumber track, std::int64_t begin, std::int64_t end, const char* name = "COPY") {
    writer_.begin_event(track, begin, end - begin, writer_.intern(name));
  }
  void lacks(const char* kind, std::uint64_t count, Severity severity) {
    writer_.add_quality({kind, count, "what to try", severity});
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

TEST_CASE("verdict: every rule says what it saw and what follows from it") {
  CHECK(bound_text(load_of({{Load::dma, 0.98}, {Load::engine_wait, 0.61}, {Load::compute, 0.3}})) ==
        "DMA is busy 98 % of the active 393 µs, engines wait 61 %: bound by memory");
  CHECK(bound_text(load_of({{Load::dma, 0.9}, {Load::engine_wait, 0.1}, {Load::compute, 0.4}})) ==
        "DMA is busy 90 % of the active 393 µs, Tensor is busy 40 %: bound by memory");
  CHECK(bound_text(load_of({{Load::compute, 0.91}, {Load::dma, 0.85}, {Load::engine_wait, 0.1}})) ==
        "Tensor is busy 91 % of the active 393 µs: bound by compute");
  CHECK(bound_text(load_of({{Load::collectives, 0.6}, {Load::engine_wait, 0.4}, {Load::dma, 0.3}})) ==
        "Collectives run 60 % of the active 393 µs, engines wait 40 %: bound by communication");
  CHECK(bound_text(load_of({{Load::collectives, 0.6}, {Load::compute, 0.2}})) ==
        "Collectives run 60 % of the active 393 µs, Tensor is busy 20 %: bound by communication");
  CHECK(bound_text(load_of({{Load::streams, 0.95}})) ==
        "Streams are busy 95 % of the active 393 µs: the device is kept busy");
  CHECK(bound_text(load_of({{Load::streams, 0.25}})) ==
        "Streams are busy 25 % of the active 393 µs: the device mostly idles, look at the host");
  CHECK(bound_text(load_of({{Load::engine_wait, 0.7}, {Load::compute, 0.3}})) ==
        "Engines wait 70 % of the active 393 µs: the engines wait for each other or for their data");
}

TEST_CASE("verdict: where no rule holds it claims nothing, and where there is nothing to tell from it says so") {
  CHECK(bound_text(load_of({{Load::compute, 0.6}, {Load::dma, 0.5}, {Load::engine_wait, 0.2}})) ==
        "Tensor is busy 60 % of the active 393 µs, engines wait 20 %, DMA is busy 50 %: nothing stands out");
  CHECK(bound_text(load_of({{Load::streams, 0.6}})) ==
        "Streams are busy 60 % of the active 393 µs: nothing stands out");
  CHECK(bound_text(load_of({})) == "Cannot tell what bounds it: there are no engine, DMA or stream tracks");
}

TEST_CASE("verdict: queues that take turns cover the time together, and each device counts alike") {
  HandMade session;
  const TrackNumber first = session.track("q0", "dma_queue");
  const TrackNumber second = session.track("q1", "dma_queue");
  const TrackNumber other = session.track("q0", "dma_queue", "nc1");
  session.add(first, 0, 500);
  session.add(second, 400, 1'000);  // overlaps the first
  session.add(other, 0, 200);
  session.add(other, 1'500, 9'000);  // outside of the stretch
  const SessionLoad load = session.load({0, 1'000});
  CHECK(*load.share(Load::dma) == doctest::Approx(0.6));  // (1.0 + 0.2) / 2
  CHECK_FALSE(load.share(Load::compute).has_value());
  CHECK_FALSE(load.share(Load::streams).has_value());
}

TEST_CASE("verdict: engines that wait are not busy, and engines that did nothing do not thin out the others") {
  HandMade session;
  const TrackNumber tensor = session.track("Tensor", "engine");
  const TrackNumber vector = session.track("Vector", "engine");
  (void)session.track("Pool", "engine");
  session.add(tensor, 0, 900, "WAIT");
  session.add(tensor, 900, 1'000);
  session.add(vector, 0, 700, "WAIT");
  session.add(vector, 700, 1'000);
  const SessionLoad load = session.load({0, 1'000});
  CHECK(*load.share(Load::engine_wait) == doctest::Approx(0.8));
  CHECK(*load.share(Load::compute) == doctest::Approx(0.3));
  CHECK(load.busiest_engine == "Vector");
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

TEST_CASE("verdict: a line of the host is the worst only where none costs the device anything") {
  SourceLines lines, launched;
  SourceLine host = line("train.py", 7, 5'000'000, 0);
  host.host_ns = 5'000'000;
  lines.lines = {host, line("mlp.py", 12, 900, 0)};
  CHECK(line_text(*worst_line(lines)) == "mlp.py:12 works 900 ns");
  lines.lines = {host};
  CHECK(line_text(*worst_line(lines)) == "train.py:7 works 5 ms on the host");
  launched.lines = {line("train.py", 3, 100, 0), line("train.py", 9, 2'000, 0)};
  CHECK(line_text(*worst_line(lines, launched)) == "train.py:9 launches 2 µs of device work");
}

TEST_CASE("verdict: it ends with the gravest gap in the data, and says nothing of complete ones") {
  SourceLines lines;
  lines.lines = {line("mlp.py", 33, 0, 344'000)};
  HandMade session;
  session.add(session.track("q0", "dma_queue"), 0, 1'000);
  session.lacks("clock_estimated", 1, Severity::note);
  session.lacks("rows_skipped", 1'204, Severity::error);
  session.lacks("stacks_missing", 1, Severity::warning);
  const Verdict verdict = session.verdict(TimeRange{0, 2'000}, lines);
  CHECK(verdict.missing == "rows skipped (1,204)");
  CHECK(verdict.text() ==
        "DMA is busy 50 % of the active 2 µs: nothing stands out; mlp.py:33 waits 344 µs; "
        "data quality: rows skipped (1,204)");
  HandMade empty;
  const Verdict nothing = empty.verdict(std::nullopt, {});
  CHECK(nothing.text() == "Cannot tell what bounds it: there are no engine, DMA or stream tracks");
}
