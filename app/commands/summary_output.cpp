#include "app/commands/summary_output.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <ostream>

#include "app/commands/quality_report.h"
#include "core/base/format.h"
#include "core/base/sha256.h"

namespace accelscope::app {
namespace {

constexpr double kNotableDifference = 0.01;

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

std::string json_number(double value) { return std::isfinite(value) ? fmt::format("{}", value) : "null"; }

std::string vendor_json(const SessionMetric& metric) {
  if (metric.vendor) return json_number(*metric.vendor);
  return json_quote(metric.vendor_text);
}

struct UnitForm {
  std::string_view unit;
  std::string (*format)(double);
};
constexpr std::array<UnitForm, 5> kUnitForms = {{{"s", [](double v) { return format_duration(v * 1e9); }},
                                                 {"ns", [](double v) { return format_duration(v); }},
                                                 {"B", [](double v) { return format_bytes(v); }},
                                                 {"B/s", [](double v) { return format_rate(v); }},
                                                 {"share", [](double v) { return format_share(v); }}}};

std::string value_text(double value, const std::string& unit) {
  for (const UnitForm& form : kUnitForms) {
    if (form.unit == unit) return form.format(value);
  }
  return format_number(value) + (unit.empty() ? "" : " " + unit);
}

// Pads by characters, not bytes.
std::string padded(const std::string& text, std::size_t width) {
  const auto count = static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xc0U) != 0x80U; }));
  return std::string(width > count ? width - count : 0, ' ') + text;
}

void write_metric_line(std::ostream& out, const SessionMetric& metric) {
  std::string vendor = shorten_middle(metric.vendor_text, 40);
  if (metric.vendor) vendor = value_text(*metric.vendor, metric.unit);
  const std::string ours = metric.value ? value_text(*metric.value, metric.unit) : "";
  std::string difference;
  if (const auto relative = relative_difference(metric)) {
    difference = fmt::format("{:+.2f} %", *relative * 100);
    if (std::abs(*relative) > kNotableDifference) difference += " !";
  }
  std::string line = fmt::format("  {:<44}{}{}  {}", metric.name, padded(vendor, 18), padded(ours, 18), difference);
  line.erase(line.find_last_not_of(' ') + 1);
  out << line << '\n';
}

}  // namespace

Result<SessionSummary> summarise(const Store& store, const std::string& title, const TimeRange& range) {
  WorkerPool pool;
  TaskControl control;
  SessionSummary summary;
  const auto snapshot = store.snapshot();
  auto metrics = session_metrics({store, snapshot, pool, control}, range);
  if (!metrics) return metrics.error();
  summary.title = title;
  summary.key = summary_key(*snapshot);
  summary.metrics = std::move(*metrics);
  for (const TableCount& count : table_counts(*snapshot)) {
    if (count.events > 0) summary.event_counts.emplace_back(count.name, count.events);
  }
  summary.event_count = snapshot->event_count;
  summary.duration_ns = snapshot->end_ns - snapshot->begin_ns;
  return summary;
}

void write_summary_json(std::ostream& out, const std::vector<SessionSummary>& summaries) {
  out << '{';
  for (std::size_t i = 0; i < summaries.size(); ++i) {
    const SessionSummary& summary = summaries[i];
    out << (i > 0 ? ",\n " : "") << json_quote(summary.key) << ": {";
    for (const SessionMetric& metric : summary.metrics) {
      const bool stated = metric.vendor || !metric.vendor_text.empty();
      out << "\n  " << json_quote(metric.name) << ": " << (stated ? vendor_json(metric) : json_number(*metric.value))
          << ',';
    }
    out << "\n  \"accelscope\": {\n    \"event_count\": " << summary.event_count;
    out << ",\n    \"duration_ns\": " << summary.duration_ns;
    for (const SessionMetric& metric : summary.metrics) {
      if (metric.value && metric.name != "event_count") {
        out << ",\n    " << json_quote(metric.name) << ": " << json_number(*metric.value);
      }
    }
    out << "\n  }\n }";
  }
  out << "}\n";
}

void write_summary_text(std::ostream& out, const std::vector<SessionSummary>& summaries) {
  for (const SessionSummary& summary : summaries) {
    out << fmt::format("{}  {}\n", summary.title, summary.key);
    out << fmt::format("  {} events over {}\n", format_count(summary.event_count),
                       format_duration(static_cast<double>(summary.duration_ns)));
    for (const auto& [schema, count] : summary.event_counts) {
      out << fmt::format("  {:<44}{}\n", schema, padded(format_count(count), 18));
    }
    std::vector<std::string> groups;
    for (const SessionMetric& metric : summary.metrics) {
      if (std::find(groups.begin(), groups.end(), metric.group) == groups.end()) groups.push_back(metric.group);
    }
    if (!groups.empty())
      out << fmt::format("\n  {:<44}{:>18}{:>18}  difference\n", "", "the file states", "we compute");
    for (const std::string& group : groups) {
      out << fmt::format("{}\n", group);
      for (const SessionMetric& metric : summary.metrics) {
        if (metric.group == group) write_metric_line(out, metric);
      }
    }
    out << '\n';
  }
}

}  // namespace accelscope::app
