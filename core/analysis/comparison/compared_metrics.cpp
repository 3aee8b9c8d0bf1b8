#include "core/analysis/comparison/compared_metrics.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>

#include "core/analysis/figures/metrics.h"

namespace accelscope::analysis {
namespace {

// Rules by the name of a figure: the first row whose text is in it says which way is better.
struct BetterRule {
  enum class Where : std::uint8_t { whole, begins, ends, within };
  std::string_view text;
  Where where;
  Better better;
};
using Where = BetterRule::Where;

constexpr std::array kBetterRules = {
    BetterRule{kStatedTime, Where::whole, Better::lower},
    BetterRule{kWorkTime, Where::whole, Better::lower},
    BetterRule{"input_reads", Where::whole, Better::lower},
    BetterRule{"session_time", Where::whole, Better::lower},
    BetterRule{"total_time", Where::whole, Better::lower},
    BetterRule{"total_exec_time", Where::whole, Better::lower},
    BetterRule{"mfu_", Where::begins, Better::higher},
    BetterRule{"hfu_", Where::begins, Better::higher},
    BetterRule{"spill_", Where::begins, Better::lower},
    BetterRule{"throttle_avg", Where::begins, Better::neither},
    BetterRule{"throttle_", Where::begins, Better::lower},
    BetterRule{"throughput", Where::within, Better::higher},
    BetterRule{"hbm_read_bytes", Where::whole, Better::lower},
    BetterRule{"hbm_write_bytes", Where::whole, Better::lower},
    BetterRule{"dma_transfer_count", Where::whole, Better::lower},
    BetterRule{"dma_transfer_average_bytes", Where::whole, Better::higher},
    BetterRule{"dma_packet_time", Where::whole, Better::lower},
    BetterRule{"dma_event_count", Where::whole, Better::lower},
    BetterRule{"dma_moved_bytes", Where::whole, Better::lower},
    BetterRule{"memcpy_busy_time", Where::whole, Better::lower},
    BetterRule{"memcpy_moved_bytes", Where::whole, Better::lower},
    BetterRule{"kernel_busy_time", Where::whole, Better::lower},
    BetterRule{"instruction_busy_time", Where::whole, Better::lower},
    BetterRule{"dma_busy_time", Where::whole, Better::lower},
    BetterRule{"wait", Where::within, Better::lower},
    BetterRule{"stall", Where::within, Better::lower},
};

// Those that comparisons speak of first.
constexpr std::array<std::string_view, 30> kKeyMetrics = {kStatedTime,
                                                          kWorkTime,
                                                          terms::kActive,
                                                          "input_reads",
                                                          "session_time",
                                                          "total_time",
                                                          "total_exec_time",
                                                          "total_active_time",
                                                          "hbm_read_bytes",
                                                          "hbm_write_bytes",
                                                          "sbuf_read_bytes",
                                                          "sbuf_write_bytes",
                                                          "spill_save_bytes",
                                                          "spill_reload_bytes",
                                                          "dma_event_count",
                                                          "dma_moved_bytes",
                                                          "dma_transfer_count",
                                                          "dma_queue_count",
                                                          "dma_active_time",
                                                          "mfu_estimated_percent",
                                                          "hfu_estimated_percent",
                                                          "tensor_engine_active_time",
                                                          "vector_engine_active_time",
                                                          "scalar_engine_active_time",
                                                          "gpsimd_engine_active_time",
                                                          "sync_engine_active_time",
                                                          "kernel_busy_time",
                                                          "kernel_event_count",
                                                          "memcpy_busy_time",
                                                          "memcpy_moved_bytes"};

bool is_key_metric(std::string_view name) noexcept {
  return std::find(kKeyMetrics.begin(), kKeyMetrics.end(), name) != kKeyMetrics.end();
}

bool applies(const BetterRule& rule, std::string_view name) noexcept {
  switch (rule.where) {
    case Where::whole:
      return name == rule.text;
    case Where::begins:
      return name.starts_with(rule.text);
    case Where::ends:
      return name.ends_with(rule.text);
    default:
      return name.find(rule.text) != std::string_view::npos;
  }
}

ComparedMetric made_metric(std::string_view name, std::string_view group, std::string_view unit, double value) {
  return {std::string(name), std::string(group), std::string(unit), is_key_metric(name), better_of(name), value};
}

}  // namespace

Better better_of(std::string_view name) noexcept {
  for (const BetterRule& rule : kBetterRules)
    if (applies(rule, name)) return rule.better;
  return Better::neither;
}

Result<std::vector<ComparedMetric>> compared_metrics(const QueryContext& query) {
  const auto metrics = TRY(session_metrics(query));
  std::vector<ComparedMetric> out;
  std::map<std::string, int, std::less<>> seen;
  for (const std::string_view first : {kStatedTime, kWorkTime}) {
    const std::optional<double> value = metric_value(metrics, first);
    if (!value) continue;
    out.push_back(made_metric(first, "compared", "s", *value));
    seen[std::string(first)] = 1;
  }
  const bool works = metric_value(metrics, kWorkTime).has_value();
  if (const auto reads = input_reads(metrics)) out.push_back(made_metric("input_reads", "compared", "", *reads));
  std::map<std::string_view, std::size_t> times;
  for (const SessionMetric& each : metrics) ++times[each.name];
  for (const SessionMetric& each : metrics) {
    const std::optional<double> value = shown_value(each);
    if (!value) continue;
    ComparedMetric metric = made_metric(each.name, each.group, each.unit, *value);
    if (times[each.name] > 1 && !each.device.empty()) {
      metric.name += fmt::format(" ({})", each.device);
    }
    if (!works && each.unit == Unit::seconds) metric.better = Better::neither;
    if (seen[metric.name]++ == 0) out.push_back(std::move(metric));
  }
  return out;
}

}  // namespace accelscope::analysis
