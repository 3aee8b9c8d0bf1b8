#include "core/analysis/comparison/capture_figures.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/analysis/comparison/divergence.h"
#include "core/base/text.h"

namespace accelscope {
namespace {

Result<CapturedCosts> captured_costs(const QueryContext& query, const std::string& by) {
  CapturedCosts out;
  const CostKind* kind = find_cost_kind(by);
  out.kind = by;
  out.title = kind == nullptr ? by : std::string(kind->title);
  out.measured = kind == nullptr ? "total time" : std::string(kind->measured);
  out.is_line = kind != nullptr && kind->is_place;
  if (kind != nullptr) out.unit = kind->unit;
  auto rows = kind == nullptr ? costs_by_column(query, by) : kind->read(query);
  if (!rows) return rows.error();
  out.rows = std::move(*rows);
  if (out.rows.empty())
    out.missing = kind == nullptr ? fmt::format("no table has a column {}", by) : std::string(kind->missing);
  return out;
}

// What a maker writes of versions, programs and devices is called differently by each of them, but not very.
CaptureFacts capture_facts(const Snapshot& snapshot) {
  constexpr std::size_t kLongestFact = 80, kMostFacts = 16;
  CaptureFacts out;
  for (const MetaEntry& entry : snapshot.meta) {
    const std::string key = lower_case(entry.key), name = entry.key.substr(entry.key.rfind('.') + 1);
    const bool is_device = key.starts_with("device.") && key.ends_with(".name");
    if (key.find("version") == std::string::npos && key != "neff_header.hash" && key != "source.format" && !is_device)
      continue;
    static constexpr std::string_view kOfFormats[] = {"data_version", "major_version", "minor_version",
                                                      "package_version"};
    if (std::find(std::begin(kOfFormats), std::end(kOfFormats), name) != std::end(kOfFormats)) continue;
    // What containers set says what was installed; what was loaded stands beside it.
    if (name.starts_with("NV_") || name.starts_with("PIP_") || name.starts_with("VERSION")) continue;
    if (entry.value.empty() || entry.value.size() > kLongestFact) continue;
    CaptureFact fact{is_device ? "device" : key == "neff_header.hash" ? "neff hash" : name, entry.value};
    if (key == "source.format") fact.name = "format";
    if (std::find(out.begin(), out.end(), fact) == out.end() && out.size() < kMostFacts) out.push_back(std::move(fact));
  }
  return out;
}

}  // namespace

Result<CaptureFigures> capture_figures(const QueryContext& query, const std::vector<std::string>& by) {
  CaptureFigures out;
  out.event_count = query.snapshot->event_count;
  out.facts = capture_facts(*query.snapshot);
  out.has_checksums = has_checksums(*query.snapshot);
  auto metrics = compared_metrics(query);
  if (!metrics) return metrics.error();
  out.metrics = std::move(*metrics);
  for (const std::string& each : by) {
    if (each == "metric") continue;
    auto costs = captured_costs(query, each);
    if (!costs) return costs.error();
    out.costs.push_back(std::move(*costs));
  }
  return out;
}

}  // namespace accelscope
