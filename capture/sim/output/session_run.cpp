#include "capture/sim/output/session_run.h"

#include <future>
#include <string>

#include "capture/sim/kernel/merge_lists.h"
#include "capture/sim/kernel/profile_text.h"
#include "capture/sim/kernel/run_metrics.h"
#include "capture/sim/output/pacer.h"
#include "capture/sim/output/session_events.h"

namespace accelscope::capture::sim {
namespace {

bool is_before(const SessionItem& a, const SessionItem& b) { return a.time < b.time; }

class SessionRun {
 public:
  SessionRun(const SimulationOptions& options, TracedRun run, EventSink& sink)
      : run_(std::move(run)),
        sink_(sink),
        writer_(sink),
        events_(writer_, run_.options()),
        pacer_(options.rate_events_per_second, options.seconds) {}

  // While one pass is written, the next is made on another thread, if one is to be had.
  Result<void> run() {
    traces_.assign(run_.traces().begin(), run_.traces().end());
    const auto make_pass = [this] { return std::async([this] { return run_.advance(); }); };
    std::future<bool> made = make_pass();
    while (!writer_.cancelled() && !pacer_.out_of_time() && made.get()) {
      run_.swap_traces(traces_);
      made = make_pass();
      metrics_.add(traces_.front());
      emit_pass();
    }
    if (made.valid()) made.wait();
    events_.write_tables(run_.program(), metrics_);
    return writer_.finish();
  }

 private:
  // Each device's records, merged by time.
  void emit_pass() {
    items_.clear();
    for (const KernelTrace& trace : traces_) events_.list(trace, items_);
    merge_lists(items_, spare_, is_before);
    constexpr std::size_t kBetweenLooks = 32;
    for (std::size_t index = 0; index < items_.size(); ++index) {
      events_.write(traces_[items_[index].device], items_[index]);
      if (index % kBetweenLooks != 0) continue;
      pacer_.keep(
          writer_.event_count(), [this] { writer_.flush(); }, [this] { return writer_.cancelled(); },
          [this] { return sink_.paused(); });
      if (writer_.cancelled() || (pacer_.limited() && pacer_.out_of_time())) return;
    }
  }

  TracedRun run_;
  EventSink& sink_;
  SessionWriter writer_;
  SessionEvents events_;
  Pacer pacer_;
  RunMetrics metrics_;
  std::vector<KernelTrace> traces_;  // of the pass that is written
  std::vector<SessionItem> items_;
  std::vector<SessionItem> spare_;
};

}  // namespace

Result<void> run_session(const SimulationOptions& options, EventSink& sink) {
  return SessionRun(options, TracedRun(options), sink).run();
}

Result<void> run_session(const SimulationOptions& options, RunPlan plan, EventSink& sink) {
  return SessionRun(options, TracedRun(options, std::move(plan)), sink).run();
}

}  // namespace accelscope::capture::sim
