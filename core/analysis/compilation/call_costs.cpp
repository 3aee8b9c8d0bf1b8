#include "core/analysis/compilation/call_costs.h"

#include <algorithm>
#include <map>

#include "core/analysis/time/covered_time.h"

namespace accelscope {
namespace {

using Stretch = std::pair<std::int64_t, std::int64_t>;

[[nodiscard]] std::vector<TimeRange> joined_stretches(const std::vector<TimeRange>& stretches) {
  CoveredTime covered;
  for (const TimeRange& each : stretches) covered.add(each.begin_ns, each.end_ns);
  std::vector<TimeRange> joined;
  covered.take_stretches([&](std::int64_t begin, std::int64_t end) { joined.push_back({begin, end}); });
  return joined;
}

[[nodiscard]] std::int64_t covered_ns(const std::vector<Stretch>& parts) {
  CoveredTime covered;
  for (const auto& [begin, end] : parts) covered.add(begin, end);
  covered.close_window();
  return covered.length_ns();
}

[[nodiscard]] bool of_one_host(const std::string& a, const std::string& b) { return a == b || a.empty() || b.empty(); }

// The processes that may have printed a line: those of its source or, where no calls are recorded there, those of its
// host.
[[nodiscard]] std::vector<std::size_t> printers_of(TrackNumber track, const ProcessNumbers& processes,
                                                   const std::vector<bool>& has_threads) {
  const std::size_t own = processes.of_track(track);
  std::vector<std::size_t> of_source, of_host;
  for (std::size_t process = 0; process < has_threads.size(); ++process) {
    if (!has_threads[process]) continue;
    if (processes.scope(process) == processes.scope(own)) of_source.push_back(process);
    if (of_one_host(processes.host(own), processes.host(process))) of_host.push_back(process);
  }
  return of_source.empty() ? of_host : of_source;
}

}  // namespace

struct CallCosts::Parts {
  std::vector<Stretch> compiling, launching, waiting, work;
};

CallCosts::CallCosts(const Snapshot& snapshot, const LaunchingCalls& calls, const std::vector<CompileEvent>& events)
    : calls_(&calls), compiling_(calls.process_of_thread.size()) {
  const ProcessNumbers processes(snapshot);
  lines_.resize(processes.count());
  std::vector<bool> has_threads(processes.count());
  for (const std::size_t process : calls.process_of_thread) has_threads[process] = true;
  std::map<TrackNumber, std::vector<std::size_t>> printers_of_track;
  for (const CompileEvent& event : events) {
    if (event.kind == CompileKind::cache_hit || event.basis == CompileBasis::calls) continue;
    if (event.thread) {
      compiling_[*event.thread].push_back({event.begin_ns, event.end_ns});
      continue;
    }
    const auto [printers, is_new] = printers_of_track.try_emplace(event.track);
    if (is_new) printers->second = printers_of(event.track, processes, has_threads);
    for (const std::size_t process : printers->second) lines_[process].push_back({event.begin_ns, event.end_ns});
  }
  for (std::vector<TimeRange>& stretches : compiling_) stretches = joined_stretches(stretches);
  for (std::vector<TimeRange>& stretches : lines_) stretches = joined_stretches(stretches);
}

void CallCosts::add_long_calls(const std::vector<CompileEvent>& events) {
  for (const CompileEvent& event : events) {
    if (event.basis != CompileBasis::calls || event.kind == CompileKind::cache_hit) continue;
    compiling_[*event.thread].push_back({event.begin_ns, event.begin_ns + event.cost_ns});
  }
  for (std::vector<TimeRange>& stretches : compiling_) stretches = joined_stretches(stretches);
}

void CallCosts::add_compiling(const std::vector<TimeRange>& stretches, const TimeRange& within, Parts& parts) const {
  auto at = std::partition_point(stretches.begin(), stretches.end(),
                                 [&](const TimeRange& each) { return each.end_ns <= within.begin_ns; });
  for (; at != stretches.end() && at->begin_ns < within.end_ns; ++at) {
    parts.compiling.emplace_back(std::max(at->begin_ns, within.begin_ns), std::min(at->end_ns, within.end_ns));
  }
}

void CallCosts::add_launches(std::size_t thread, const LaunchingCall& call, const TimeRange& within,
                             const TimeRange& range, Parts& parts, CallCost& cost) const {
  const std::vector<HostLaunch>& launches = calls_->launches[thread];
  auto at = std::partition_point(launches.begin(), launches.end(),
                                 [&](const HostLaunch& each) { return each.begin_ns < call.begin_ns; });
  EventId last = kNoEvent;
  for (; at != launches.end() && at->begin_ns < call.end_ns; ++at) {
    parts.work.emplace_back(std::max(at->work.begin_ns, range.begin_ns), std::min(at->work.end_ns, range.end_ns));
    if (!within.holds(at->begin_ns, at->end_ns)) continue;
    parts.launching.emplace_back(std::max(at->begin_ns, within.begin_ns), std::min(at->end_ns, within.end_ns));
    ++cost.works;
    if (at->source != last) ++cost.launches;
    last = at->source;
  }
  const std::vector<TimeRange>& waits = calls_->waits[thread];
  auto wait = std::partition_point(waits.begin(), waits.end(),
                                   [&](const TimeRange& each) { return each.begin_ns < call.begin_ns; });
  for (; wait != waits.end() && wait->begin_ns < within.end_ns; ++wait) {
    parts.waiting.emplace_back(std::max(wait->begin_ns, within.begin_ns), std::min(wait->end_ns, within.end_ns));
  }
}

CallCost CallCosts::of(const LaunchingCall& call, const TimeRange& range) const {
  CallCost cost;
  const TimeRange within{std::max(call.begin_ns, range.begin_ns), std::min(call.end_ns, range.end_ns)};
  cost.span_ns = within.length_ns();
  Parts parts;
  const std::size_t process = calls_->process_of_thread[call.thread];
  const auto add_thread = [&](std::size_t thread) {
    add_compiling(compiling_[thread], within, parts);
    add_launches(thread, call, within, range, parts, cost);
  };
  add_compiling(lines_[process], within, parts);
  add_thread(call.thread);
  if (call.level == CallLevel::step) {
    for (const std::size_t thread : calls_->step_threads[process]) {
      if (thread != call.thread) add_thread(thread);
    }
  }
  std::vector<Stretch> all = std::move(parts.compiling);
  cost.compile_ns = covered_ns(all);
  all.insert(all.end(), parts.launching.begin(), parts.launching.end());
  const std::int64_t dispatched = covered_ns(all);
  cost.dispatch_ns = dispatched - cost.compile_ns;
  cost.host_ns = cost.span_ns - dispatched;
  all.insert(all.end(), parts.waiting.begin(), parts.waiting.end());
  cost.wait_ns = covered_ns(all) - dispatched;
  cost.kernel_ns = covered_ns(parts.work);
  return cost;
}

}  // namespace accelscope
