#include "core/analysis/compilation/compilations.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <tuple>

#include "core/analysis/compilation/compile_words.h"
#include "core/analysis/statistics/middle.h"
#include "core/analysis/time/covered_time.h"
#include "core/scan/event_mask.h"

namespace accelscope {
namespace {

using FunctionKey = std::tuple<std::size_t, std::uint32_t, CallLevel>;  // process, function
using CallsOfFunctions = std::map<FunctionKey, std::vector<std::size_t>>;

[[nodiscard]] FunctionKey function_key(const LaunchingCalls& calls, std::size_t index) {
  const LaunchingCall& call = calls.list[index];
  return {calls.process_of_thread[call.thread], call.function, call.level};
}

// What one function's calls tell by their lengths.
class CallLengths {
 public:
  CallLengths(Compilations& all, const std::vector<std::size_t>& calls) : all_(all), calls_(calls) {}

  void judge() {
    if (calls_.size() <= kLeastOtherCalls) return;
    measure();
    std::vector<std::int64_t> others(lengths_.begin() + 1, lengths_.end());
    usual_ns_ = middle_value(std::move(others));
    if (!is_long(0)) return;
    if (!is_told(0)) add(0, CompileKind::compile);
    for (std::size_t i = 1; i < calls_.size(); ++i) {
      const bool again =
          is_long(i) && static_cast<double>(lengths_[i]) >= kAsLongAgain * static_cast<double>(lengths_[0]);
      if (again && !is_told(i)) {
        add(i, CompileKind::recompile);
      } else if (!is_long(i) && compiling_[i] == 0) {
        add(i, CompileKind::cache_hit);
      }
    }
  }

 private:
  // Waiting is no compiling, however long.
  void measure() {
    for (const std::size_t index : calls_) {
      const CallCost cost = all_.costs.of(all_.calls.list[index], TimeRange{});
      lengths_.push_back(cost.span_ns - cost.wait_ns);
      compiling_.push_back(cost.compile_ns);
    }
  }
  [[nodiscard]] bool is_long(std::size_t i) const {
    return lengths_[i] / kTimesUsual >= usual_ns_ && lengths_[i] - usual_ns_ >= kLeastBeyondUsualNs;
  }
  // Lines and names tell of most of it.
  [[nodiscard]] bool is_told(std::size_t i) const {
    return compiling_[i] > 0 && 2 * compiling_[i] >= lengths_[i] - usual_ns_;
  }
  void add(std::size_t i, CompileKind kind) {
    const LaunchingCall& call = all_.calls.list[calls_[i]];
    const CallFacts& facts = all_.facts[calls_[i]];
    const bool hits = kind == CompileKind::cache_hit;
    if (hits && all_.events.size() >= Compilations::kMostHits) {
      ++all_.left_out;
      return;
    }
    all_.events.push_back({.kind = kind,
                           .basis = CompileBasis::calls,
                           .begin_ns = call.begin_ns,
                           .end_ns = call.end_ns,
                           .cost_ns = hits ? 0 : lengths_[i] - usual_ns_,
                           .what = all_.calls.functions[call.function],
                           .is_named = true,
                           .event = call.event,
                           .thread = call.thread,
                           .number = facts.number,
                           .of = facts.of});
  }

  Compilations& all_;
  const std::vector<std::size_t>& calls_;
  std::vector<std::int64_t> lengths_, compiling_;  // of calls_
  std::int64_t usual_ns_ = 0;
};

void keep_passing(const QueryContext& query, std::vector<CompileEvent>& events) {
  if (!query.mask) return;
  std::erase_if(events, [&](const CompileEvent& event) { return !query.mask->passes(*query.snapshot, event.event); });
}

// Which events compile, which are hits, and when something compiled.
void sort_out(Compilations& all) {
  CoveredTime compiling;
  for (std::uint32_t i = 0; i < all.events.size(); ++i) {
    const CompileEvent& event = all.events[i];
    (event.kind == CompileKind::cache_hit ? all.hits : all.compiled).push_back(i);
    if (event.kind != CompileKind::cache_hit) compiling.add(event.begin_ns, event.begin_ns + event.cost_ns);
  }
  compiling.take_stretches([&](std::int64_t begin, std::int64_t end) { all.compiling.push_back({begin, end}); });
}

void add_cost(CallCost& sum, const CallCost& cost) {
  sum.span_ns += cost.span_ns;
  sum.host_ns += cost.host_ns;
  sum.compile_ns += cost.compile_ns;
  sum.dispatch_ns += cost.dispatch_ns;
  sum.wait_ns += cost.wait_ns;
  sum.kernel_ns += cost.kernel_ns;
  sum.launches += cost.launches;
  sum.works += cost.works;
}

void sum_up(const Compilations& all, const std::vector<CallRow>& rows, CallFunctionRow& function) {
  std::vector<std::int64_t> others;
  for (const std::size_t row : function.rows) {
    const CallCost& cost = rows[row].cost;
    add_cost(function.sum, cost);
    if (cost.compile_ns > 0) ++function.compiled;
    if (all.facts[rows[row].call].number == 1) {
      function.has_first = true;
      function.first_ns = cost.span_ns;
      continue;
    }
    others.push_back(cost.span_ns);
    function.rest_ns += cost.span_ns;
  }
  function.median_ns = middle_value(std::move(others));
}

}  // namespace

Result<std::shared_ptr<const Compilations>> find_compilations(const QueryContext& query, const Dependencies* known) {
  auto all = std::make_shared<Compilations>();
  all->snapshot_version = query.snapshot->version;
  auto events = compile_events(query);
  if (!events) return events.error();
  auto calls = find_launching_calls(query, known);
  if (!calls) return calls.error();
  all->calls = std::move(*calls);
  all->costs = CallCosts(*query.snapshot, all->calls, events->list);
  all->left_out = events->left_out;
  all->events = std::move(events->list);
  keep_passing(query, all->events);
  all->facts.resize(all->calls.list.size());
  CallsOfFunctions functions;
  for (std::size_t i = 0; i < all->calls.list.size(); ++i) functions[function_key(all->calls, i)].push_back(i);
  for (const auto& [key, list] : functions) {
    if (query.control.cancelled()) return cancelled_error();
    for (std::size_t i = 0; i < list.size(); ++i) {
      all->facts[list[i]].number = static_cast<std::uint32_t>(i + 1);
      all->facts[list[i]].of = static_cast<std::uint32_t>(list.size());
    }
    const bool eager = compile_word_of(all->calls.functions[std::get<1>(key)]) == CompileWord::eager;
    if (std::get<2>(key) == CallLevel::call && !eager) CallLengths(*all, list).judge();
  }
  for (CompileEvent& event : all->events) {
    const LaneSnapshot* lane = event.track == kNone ? query.snapshot->find_lane(lane_of(event.event)) : nullptr;
    if (lane != nullptr) event.track = lane->track;
  }
  std::stable_sort(all->events.begin(), all->events.end(),
                   [](const CompileEvent& a, const CompileEvent& b) { return a.begin_ns < b.begin_ns; });
  all->costs.add_long_calls(all->events);
  sort_out(*all);
  return std::shared_ptr<const Compilations>(std::move(all));
}

std::vector<CallRow> call_rows(const Compilations& all, const TimeRange& range) {
  std::vector<CallRow> rows;
  for (std::size_t i = 0; i < all.calls.list.size(); ++i) {
    const LaunchingCall& call = all.calls.list[i];
    if (call.begin_ns >= range.end_ns) break;
    if (!range.holds(call.begin_ns, call.end_ns)) continue;
    rows.push_back({i, all.costs.of(call, range)});
  }
  return rows;
}

std::vector<CallFunctionRow> call_functions(const Compilations& all, const std::vector<CallRow>& rows) {
  std::map<FunctionKey, CallFunctionRow> functions;
  for (std::size_t row = 0; row < rows.size(); ++row) {
    const FunctionKey key = function_key(all.calls, rows[row].call);
    CallFunctionRow& function = functions[key];
    std::tie(function.process, function.function, function.level) = key;
    function.rows.push_back(row);
  }
  std::vector<CallFunctionRow> list;
  for (auto& [key, function] : functions) {
    sum_up(all, rows, function);
    list.push_back(std::move(function));
  }
  std::stable_sort(list.begin(), list.end(),
                   [](const CallFunctionRow& a, const CallFunctionRow& b) { return a.sum.span_ns > b.sum.span_ns; });
  return list;
}

CompileSummary sum_compilations(const Compilations& all, const TimeRange& range) {
  CompileSummary sum;
  std::map<std::size_t, std::int64_t> long_call_ends;  // by thread
  for (const CompileEvent& event : all.events) {
    const bool is_long_call = event.basis == CompileBasis::calls && event.kind != CompileKind::cache_hit;
    if (is_long_call) long_call_ends[*event.thread] = event.end_ns;
    const auto around = event.thread ? long_call_ends.find(*event.thread) : long_call_ends.end();
    // What is named within a call that compiled by its length is a part of that.
    if (!is_long_call && around != long_call_ends.end() && event.end_ns <= around->second) continue;
    if (!range.holds(event.begin_ns, event.end_ns)) continue;
    if (event.kind == CompileKind::cache_hit) {
      ++sum.hits;
      continue;
    }
    ++sum.compilations;
    if (is_repeated(event)) ++sum.repeated;
    if (event.basis == CompileBasis::calls) ++sum.by_length;
  }
  for (const TimeRange& each : all.compiling) {
    sum.time_ns += TimeRange{std::max(each.begin_ns, range.begin_ns), std::min(each.end_ns, range.end_ns)}.length_ns();
  }
  return sum;
}

std::string basis_text(const CompileEvent& event) {
  switch (event.basis) {
    case CompileBasis::line:
      return "line";
    case CompileBasis::name:
      return "name";
    case CompileBasis::calls:
      break;
  }
  return event.number == 1 ? fmt::format("first call of {}", event.of)
                           : fmt::format("call {} of {}", event.number, event.of);
}

std::string_view kind_text(CompileKind kind) noexcept {
  switch (kind) {
    case CompileKind::compile:
      return "compile";
    case CompileKind::recompile:
      return "recompile";
    case CompileKind::cache_hit:
      break;
  }
  return "cache hit";
}

}  // namespace accelscope
