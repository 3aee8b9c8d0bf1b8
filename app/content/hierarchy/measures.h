// What a tree of layers or stacks can be measured by: the widths of a flame graph, the order of a table.
#pragma once

#include <array>
#include <string>
#include <string_view>

#include "core/analysis/hierarchy/hierarchy.h"
#include "core/model/unit.h"

namespace accelscope::app {

enum class LayerMeasure : std::uint8_t { busy, self, wait, device, flops, bytes, events };

struct LayerMeasureInfo {
  LayerMeasure measure;
  std::string_view title, unit, explanation;
};
inline constexpr std::array kLayerMeasures = std::to_array<LayerMeasureInfo>({
    {LayerMeasure::busy, "Busy", "ns", "Time in which at least one of its events was under way: a union, not a sum"},
    {LayerMeasure::self, "Self", "ns", "The same of its own events, without what lies below"},
    {LayerMeasure::wait, "Wait", "ns", "What its events waited, added up"},
    {LayerMeasure::device, "Device", "ns", "Time of the device's work that these calls launched, added up"},
    {LayerMeasure::flops, "FLOPs", "FLOP", "Useful floating point operations"},
    {LayerMeasure::bytes, "Bytes", "B", "Bytes moved"},
    {LayerMeasure::events, "Events", "", "Events of it and of all below"},
});

[[nodiscard]] constexpr const LayerMeasureInfo& info_of(LayerMeasure measure) noexcept {
  return kLayerMeasures[static_cast<std::size_t>(measure)];
}

[[nodiscard]] inline double value_of(const HierarchyNode& node, LayerMeasure measure) noexcept {
  switch (measure) {
    case LayerMeasure::busy:
      return static_cast<double>(node.cover.busy_ns);
    case LayerMeasure::self:
      return static_cast<double>(node.cover.self_ns);
    case LayerMeasure::wait:
      return static_cast<double>(node.totals.wait_ns);
    case LayerMeasure::device:
      return static_cast<double>(node.totals.launched_ns);
    case LayerMeasure::flops:
      return node.totals.flops;
    case LayerMeasure::bytes:
      return static_cast<double>(node.totals.bytes);
    case LayerMeasure::events:
      return static_cast<double>(node.totals.events);
  }
  return 0;
}

// Of a column or a segment: one unit for all values up to the largest, so that they stand under each other.
struct MeasureScale {
  double divisor = 1;
  std::string_view unit;  // "GFLOP"; "": each in the unit of its size
};
[[nodiscard]] MeasureScale scale_of(LayerMeasure measure, double largest) noexcept;
[[nodiscard]] inline std::string measure_text(LayerMeasure measure, double value) {
  return format_value(value, info_of(measure).unit);
}

// Whether any event of the tree has it.
[[nodiscard]] inline bool has_measure(const Hierarchy& tree, LayerMeasure measure) noexcept {
  return measure == LayerMeasure::self ? tree.nodes[0].cover.busy_ns > 0 : value_of(tree.nodes[0], measure) > 0;
}

}  // namespace accelscope::app
