#include "app/content/why/what_if.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "core/analysis/replay/bounds.h"
#include "core/base/format.h"
#include "core/names/name_forms.h"

namespace accelscope::app::content {
namespace {

std::vector<SharePair> pairs_of_paths(const analysis::WorkGraph& graph, const analysis::CriticalPath& before,
                                      const analysis::CriticalPath& after) {
  std::vector<SharePair> pairs;
  const auto add = [&](const analysis::PathShare& share, std::int64_t SharePair::*which) {
    auto found = std::find_if(pairs.begin(), pairs.end(), [&](const SharePair& pair) {
      return pair.label == share.label && pair.is_gap == share.is_gap;
    });
    if (found == pairs.end()) found = pairs.insert(pairs.end(), {share.label, share.is_gap});
    (*found).*which += share.length_ns;
  };
  for (const analysis::PathShare& share : analysis::path_shares(graph, before, analysis::PathBy::resource))
    add(share, &SharePair::before_ns);
  for (const analysis::PathShare& share : analysis::path_shares(graph, after, analysis::PathBy::resource))
    add(share, &SharePair::after_ns);
  return pairs;
}

// Spreads what events take over the cells.
class GhostCells {
 public:
  GhostCells(std::int64_t begin_ns, std::int64_t length_ns)
      : begin_ns_(begin_ns),
        cell_ns_(static_cast<double>(std::max<std::int64_t>(length_ns, 1)) / static_cast<double>(kGhostCells)) {}
  void add(std::vector<float>& cells, std::int64_t begin_ns, std::int64_t end_ns) const {
    const double first = std::max(0.0, static_cast<double>(begin_ns - begin_ns_) / cell_ns_);
    const double last = std::min(static_cast<double>(kGhostCells), static_cast<double>(end_ns - begin_ns_) / cell_ns_);
    if (!(last > first)) return;
    for (auto cell = static_cast<std::size_t>(first); cell < kGhostCells && static_cast<double>(cell) < last; ++cell) {
      const double from = std::max(first, static_cast<double>(cell)),
                   to = std::min(last, static_cast<double>(cell + 1));
      cells[cell] = std::min(1.0F, cells[cell] + static_cast<float>(to - from));
    }
  }

 private:
  std::int64_t begin_ns_;
  double cell_ns_;
};

}  // namespace

std::string SharePair::text() const { return is_gap ? "waiting: " + label : label.empty() ? std::string("-") : label; }

Result<WhatIfAnswer> answer_what_if(const QueryContext& query, const analysis::WorkGraph& graph,
                                    std::span<const analysis::WhatIfChange> changes, const TimeRange& range,
                                    analysis::RetainedDetails* retained) {
  auto replayed = TRY(analysis::replay_range(query, graph, changes, range, retained));
  const analysis::CriticalPath path = analysis::find_critical_path(graph, replayed.before);
  WhatIfAnswer answer;
  answer.shares = pairs_of_paths(graph, path, replayed.path);
  answer.bound_before = analysis::path_most_text(graph, path);
  answer.bound_after = analysis::path_most_text(graph, replayed.path);
  answer.result = std::move(replayed);
  return answer;
}

std::string total_change_text(const ChangeSaving& saving) {
  const auto text = [](std::int64_t ns) {
    return (ns > 0 ? "−" : ns < 0 ? "+" : "") + format_duration(ns < 0 ? -ns : ns);
  };
  const std::string least = text(saving.least_ns), most = text(saving.most_ns);
  return least == most ? "≈ " + least : least + " to " + most;
}

std::string then_text(const analysis::WhatIfResult& result) {
  const std::string least = format_duration(result.total_before_ns - result.most_ns),
                    most = format_duration(result.total_before_ns - result.least_ns);
  return least == most ? "≈ " + most : least + " to " + most;
}

namespace {

// "1.33", "645", "2,384"
std::string times_faster(double times) {
  constexpr double kWhole = 100;
  return times >= kWhole ? format_count(static_cast<std::uint64_t>(std::llround(times))) : fmt::format("{:.3g}", times);
}

}  // namespace

std::string ratio_text(const analysis::WhatIfResult& result) {
  const auto ratio = [&](std::int64_t saved_ns) {
    const std::int64_t after_ns = result.total_before_ns - saved_ns;
    return after_ns <= 0 ? std::string("–")
                         : times_faster(static_cast<double>(result.total_before_ns) / static_cast<double>(after_ns));
  };
  const std::string least = ratio(result.least_ns), most = ratio(result.most_ns);
  return (least == most ? least : least + " to " + most) + "×";
}

std::int64_t ghost_length_ns(const WhatIfAnswer& answer) noexcept {
  return std::max<std::int64_t>({answer.result.total_before_ns, answer.result.total_after_ns, 1});
}

std::vector<GhostRow> ghost_rows(const analysis::WorkGraph& graph, const WhatIfAnswer& answer, std::size_t most) {
  std::vector<SharePair> wanted;
  for (const SharePair& share : answer.shares) {
    if (!share.is_gap) wanted.push_back(share);
  }
  std::stable_sort(wanted.begin(), wanted.end(), [](const SharePair& a, const SharePair& b) {
    return std::max(a.before_ns, a.after_ns) > std::max(b.before_ns, b.after_ns);
  });
  wanted.resize(std::min(wanted.size(), most));
  const std::int64_t length_ns = ghost_length_ns(answer);
  const GhostCells now(answer.result.before.begin_ns, length_ns), then(answer.result.path.range.begin_ns, length_ns);
  std::vector<GhostRow> rows;
  for (const SharePair& share : wanted) {
    GhostRow row{.label = share.label, .now = std::vector<float>(kGhostCells), .then = std::vector<float>(kGhostCells)};
    for (const analysis::GraphLane& lane : graph.lanes) {
      const TrackSnapshot* track = graph.snapshot->find_track(lane.resource);
      if (track == nullptr || track->track->name != share.label) continue;
      row.kind = lane.kind;
      for (analysis::NodeIndex node = lane.first; node < lane.first + lane.count; ++node) {
        if (graph.waits[node] != 0) continue;
        now.add(row.now, graph.begin_ns[node], graph.end_ns[node]);
        then.add(row.then, answer.result.begin_ns[node], answer.result.end_ns[node]);
      }
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

std::vector<std::string> suggested_changes(const analysis::WorkGraph& graph, const analysis::CriticalPath& path) {
  std::vector<std::string> changes;
  std::set<std::string> known;
  const auto add = [&](std::string text) {
    if (known.insert(text).second) changes.push_back(std::move(text));
  };
  const auto kind_of = [&](const analysis::PathShare& share) {
    return share.first == analysis::kNoNode ? WorkKind::none : graph.lane(share.first).kind;
  };
  for (const analysis::PathShare& share : analysis::path_shares(graph, path, analysis::PathBy::kind)) {
    if (share.is_gap && share.label == analysis::wait_reason_name(analysis::WaitReason::host))
      add("launch latency x0.5");
    if (share.is_gap) continue;
    if (kind_of(share) == WorkKind::transfer) add("dma bandwidth x1.5");
    if (kind_of(share) == WorkKind::host) add("host x0.5");
  }
  constexpr std::size_t kMostNames = 4;
  std::size_t names = 0;
  for (const analysis::PathShare& share : analysis::path_shares(graph, path, analysis::PathBy::name)) {
    if (share.is_gap || share.label.empty() || kind_of(share) == WorkKind::host || names == kMostNames) continue;
    ++names;
    // Only transfers that name what they carry are reloads of it.
    const bool reloads = kind_of(share) == WorkKind::transfer && graph.lane(share.first).shares_server;
    add(reloads ? "drop reload of " + share.label : "event " + usual_name(share.label) + " x0.5");
  }
  for (const analysis::PathShare& share : analysis::path_shares(graph, path, analysis::PathBy::resource)) {
    if (share.is_gap || share.label.empty() || kind_of(share) == WorkKind::host) continue;
    const bool transfers = kind_of(share) == WorkKind::transfer;
    if (!transfers) add("engine " + share.label + " x0.5");
    if (transfers && graph.lane(share.first).shares_server) add("queue " + share.label + " x0.5");
    if (transfers && !graph.lane(share.first).shares_server) add("double queue " + share.label);
    break;
  }
  // What is the machine's nobody can change: it says what bounds the session, after what its program could do.
  std::stable_partition(changes.begin(), changes.end(), [](const std::string& text) {
    constexpr std::string_view kOfMachine[] = {"dma bandwidth", "launch latency", "engine ", "queue "};
    return std::none_of(std::begin(kOfMachine), std::end(kOfMachine),
                        [&](std::string_view begin) { return text.starts_with(begin); });
  });
  return changes;
}

}  // namespace accelscope::app::content
