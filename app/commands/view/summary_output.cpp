#include "app/commands/view/summary_output.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <ostream>

#include "app/content/figure_text.h"
#include "app/content/verdict_text.h"
#include "app/export/quality_report.h"
#include "app/export/text_table.h"
#include "core/analysis/time/track_devices.h"
#include "core/base/format.h"
#include "core/base/sha256.h"
#include "core/model/unit.h"
#include "core/scan/event_mask.h"

namespace accelscope::app {
namespace {

// The vendor names a compiled graph by a hash. Where its file states one it is kept; else the contents are hashed.
std::string summary_key(const Snapshot& snapshot) {
  for (const std::string_view name : {"model_info.graph_hash", "neff_header.hash", "metadata.neff_hash"}) {
    const std::string_view value = snapshot.meta_value(name);
    if (!value.empty()) return fmt::format("n_{}", value);
  }
  std::string text = fmt::format("{} {} {}", snapshot.event_count, snapshot.begin_ns, snapshot.end_ns);
  for (const MetaEntry& entry : snapshot.meta) text += fmt::format("\n{}={}", entry.key, entry.value);
  for (const Metric& metric : snapshot.metrics)
    text += fmt::format("\n{}={}{}", metric.name, metric.value, metric.text);
  return "n_" + sha256_hex(text).substr(0, 40);
}

std::string vendor_json(const SessionMetric& metric) {
  if (metric.vendor) return json_number(*metric.vendor);
  return json_quote(metric.vendor_text);
}

void add_metric_row(TextTable& table, const SessionMetric& metric, bool filtered) {
  const std::string vendor = metric.vendor ? format_value(*metric.vendor, metric.unit) : metric.vendor_text;
  const std::string ours = metric.value ? format_value(*metric.value, metric.unit) : "";
  std::string difference = difference_text(metric) + (is_flagged(metric) ? " !" : "");
  if (filtered && metric.unfiltered) difference += "not filtered";
  table.row({metric.name, vendor, ours, difference});
}

// The figures of one device, or of the session.
struct Block {
  std::string device;
  std::vector<const SessionMetric*> metrics;
};

std::vector<Block> blocks_of(const PrintedSummary& summary) {
  std::vector<Block> blocks;
  for (const SessionMetric& metric : summary.metrics) {
    if (blocks.empty() || blocks.back().device != metric.device) blocks.push_back({metric.device, {}});
    blocks.back().metrics.push_back(&metric);
  }
  return blocks;
}

bool is_graph(const std::string& device) { return device.size() == 42 && device.starts_with("n_"); }

bool is_part_block(const Block& block, const std::vector<Block>& blocks) {
  return std::any_of(blocks.begin(), blocks.end(), [&](const Block& other) {
    const std::vector<std::string> parts = parts_of_device(other.device);
    return std::find(parts.begin(), parts.end(), block.device) != parts.end();
  });
}

// The only device that is no part of another has the session's key; further ones have one of their own, made of it and
// their name.
std::string key_of(const PrintedSummary& summary, const Block& block, const std::vector<Block>& blocks) {
  if (is_graph(block.device)) return block.device;
  const auto wholes =
      std::count_if(blocks.begin(), blocks.end(), [&](const Block& other) { return !is_part_block(other, blocks); });
  if (wholes <= 1 && !is_part_block(block, blocks)) return summary.key;
  return "n_" + sha256_hex(summary.key + " " + block.device).substr(0, 40);
}

void write_json_block(std::ostream& out, const PrintedSummary& summary, const Block& block, const Block* of_session) {
  for (const SessionMetric* metric : block.metrics) {
    const bool stated = metric->vendor || !metric->vendor_text.empty();
    out << "\n  " << json_quote(metric->name) << ": " << (stated ? vendor_json(*metric) : json_number(*metric->value))
        << ',';
  }
  out << "\n  \"accelscope\": {\n    \"device\": " << json_quote(is_graph(block.device) ? "" : block.device);
  out << ",\n    \"duration_ns\": " << summary.duration_ns;
  out << ",\n    \"verdict\": " << json_quote(summary.verdict);
  if (!summary.filter.empty()) out << ",\n    \"filter\": " << json_quote(summary.filter);
  for (const Block* part : {of_session, &block}) {
    if (part == nullptr) continue;
    for (const SessionMetric* metric : part->metrics) {
      if (metric->value) out << ",\n    " << json_quote(metric->name) << ": " << json_number(*metric->value);
    }
  }
  out << "\n  }\n }";
}

void add_verdict(TextTable& table, const Block& block) {
  std::array<std::size_t, kMetricChecks> counts{};
  std::size_t close = 0;
  std::size_t flagged = 0;
  for (const SessionMetric* metric : block.metrics) {
    ++counts[static_cast<std::size_t>(check(*metric))];
    const auto difference = relative_difference(*metric);
    close += difference && std::abs(*difference) <= kExactMargin ? 1 : 0;
    flagged += is_flagged(*metric) ? 1 : 0;
  }
  const std::size_t agree = counts[static_cast<std::size_t>(MetricCheck::agrees)];
  const std::size_t differ = counts[static_cast<std::size_t>(MetricCheck::differs)];
  if (agree + differ == 0) return;
  table.line(
      fmt::format("  of {} figures that both state, {} agree within 0.1 %, {} more within their margin, {} differ; {} "
                  "lie more than "
                  "1 % apart",
                  agree + differ, close, agree - std::min(agree, close), differ, flagged));
}

void add_block(TextTable& table, const Block& block, bool filtered) {
  table.line("");
  table.row({block.device.empty() ? "session" : block.device, "the file states", "we compute", "difference"});
  std::string_view group;
  for (const SessionMetric* metric : block.metrics) {
    if (metric->group != group) table.line(metric->group);
    group = metric->group;
    add_metric_row(table, *metric, filtered);
  }
  add_verdict(table, block);
}

}  // namespace

Result<PrintedSummary> printed_summary(const Store& store, const std::string& title, const SessionFilter& filter) {
  const TimeRange range = filter.filter.range.value_or(TimeRange{});
  WorkerPool pool;
  TaskControl control;
  PrintedSummary summary;
  const auto snapshot = store.snapshot();
  QueryContext query{store, snapshot, pool, control};
  const bool chosen = filter.filter.needs_mask();  // a range alone is met without looking at single events
  if (!chosen) {
    auto verdict = verdict_text(query, range);
    if (!verdict) return verdict.error();
    summary.verdict = std::move(*verdict);
  } else {
    query.mask = filter.mask;
    summary.filter = filter.text();
  }
  auto metrics = session_metrics(query, range);
  if (!metrics) return metrics.error();
  summary.title = title;
  summary.key = summary_key(*snapshot);
  summary.metrics = std::move(*metrics);
  for (const TableCount& count : table_counts(*snapshot, filter.mask.get())) {
    if (count.events > 0) summary.event_counts.emplace_back(count.name, count.events);
    summary.event_count += count.events;
  }
  if (!filter.mask) summary.event_count = count_passing(*snapshot, nullptr);
  const std::int64_t begin_ns = std::max(range.begin_ns, snapshot->begin_ns);
  summary.duration_ns = std::max<std::int64_t>(0, std::min(range.end_ns, snapshot->end_ns) - begin_ns);
  return summary;
}

void write_summary_json(std::ostream& out, const std::vector<PrintedSummary>& summaries) {
  const char* separator = "{";
  for (const PrintedSummary& summary : summaries) {
    std::vector<Block> blocks = blocks_of(summary);
    Block session;
    if (!blocks.empty() && blocks.front().device.empty()) {
      session = std::move(blocks.front());
      blocks.erase(blocks.begin());
    }
    const bool alone = blocks.empty();  // a session without devices is a block itself
    if (alone) blocks.push_back(session);
    for (const Block& block : blocks) {
      out << separator << json_quote(key_of(summary, block, blocks)) << ": {";
      write_json_block(out, summary, block, alone ? nullptr : &session);
      separator = ",\n ";
    }
  }
  out << (summaries.empty() ? "{}\n" : "}\n");
}

void write_summary_text(std::ostream& out, const std::vector<PrintedSummary>& summaries) {
  for (const PrintedSummary& summary : summaries) {
    out << fmt::format("{}  {}\n", summary.title, summary.key);
    out << fmt::format("  {} events over {}\n", format_count(summary.event_count),
                       format_duration(static_cast<double>(summary.duration_ns)));
    out << fmt::format("  {}\n", summary.filter.empty() ? summary.verdict : summary.filter);
    TextTable table({CellAlign::left, CellAlign::right, CellAlign::right, CellAlign::left}, "  ");
    for (const auto& [schema, count] : summary.event_counts) table.row({schema, format_count(count)});
    for (const Block& block : blocks_of(summary)) add_block(table, block, !summary.filter.empty());
    table.print(out);
    out << '\n';
  }
}

}  // namespace accelscope::app
