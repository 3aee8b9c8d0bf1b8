// Operations of tt-metal against what their cores and their chip's memory could do, and those that use few cores or run
// on the host: what the makers' own report tells of each, added up by operation and shape.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "core/analysis/advice/judgement.h"
#include "core/analysis/tenstorrent/operation_performance.h"
#include "core/base/format.h"

namespace accelscope::analysis {
namespace {

using tenstorrent::OperationPerformance;

// Of one name and shape on one device.
struct OperationSum {
  std::uint64_t count = 0;
  double ns = 0, saving_ns = 0;
  double longest_ns = 0;
  const OperationPerformance* longest = nullptr;
};

// What an operation took beyond what the better used of its cores' arithmetic and the chip's memory needs; of others
// what it would take less with all cores that operations of the report have.
[[nodiscard]] double saving_of(const OperationPerformance& row, std::int64_t most_cores) {
  const double ns = row.time_ns.value_or(0);
  if (row.bound == "HOST") return ns;
  if (row.bound == "SLOW" && row.dram_share && row.flops_share)
    return ns * (1 - std::min(1.0, std::max(*row.dram_share, *row.flops_share)));
  const bool few = row.cores && *row.cores > 0 && *row.cores < tenstorrent::kFewCores && *row.cores < most_cores;
  return few ? ns * (1 - static_cast<double>(*row.cores) / static_cast<double>(most_cores)) : 0;
}

[[nodiscard]] std::string how(const OperationPerformance& row) {
  if (row.bound == "HOST") return "runs on the host";
  if (row.bound != "SLOW") return "on " + counted(static_cast<std::uint64_t>(row.cores.value_or(0)), "core");
  return fmt::format("at {} of its cores' FLOP/s in {} and {} of DRAM", format_share(*row.flops_share), row.fidelity,
                     format_share(*row.dram_share));
}

}  // namespace

Result<void> judge_operations(const Judgement& judgement, const std::vector<DeviceSum>& devices) {
  const auto rows = TRY(tenstorrent::operation_performance(judgement.query, judgement.range));
  if (rows.empty()) return {};
  judgement.judged(RuleId::slow_operations);
  std::int64_t most_cores = 0;
  for (const OperationPerformance& row : rows) most_cores = std::max(most_cores, row.cores.value_or(0));
  for (const DeviceSum& device : devices) {
    std::map<std::pair<std::string, std::string>, OperationSum> sums;
    for (const OperationPerformance& row : rows) {
      if (row.device_label != device.device) continue;
      const double saving = saving_of(row, most_cores);
      if (saving <= 0) continue;
      OperationSum& sum = sums[{row.name, row.bound}];
      ++sum.count;
      sum.ns += row.time_ns.value_or(0);
      sum.saving_ns += saving;
      if (row.time_ns.value_or(0) > sum.longest_ns) {
        sum.longest_ns = row.time_ns.value_or(0);
        sum.longest = &row;
      }
    }
    for (const auto& [key, sum] : sums) {
      if (sum.longest == nullptr) continue;
      Finding found = judgement.finding(RuleId::slow_operations, device, sum.saving_ns, key.first + " " + key.second);
      found.count = sum.count;
      found.first = sum.longest->event;
      found.headline = fmt::format("{} {}", key.first, how(*sum.longest));
      found.tab = key.first;
      found.evidence = fmt::format("{} in {}", counted(sum.count, "call"), format_duration(sum.ns));
      if (!sum.longest->advice.empty()) found.remedy = sum.longest->advice + ".";
      judgement.tell(std::move(found));
    }
  }
  return {};
}

}  // namespace accelscope::analysis
