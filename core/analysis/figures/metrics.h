// The figures of a session: what the vendor's file states beside what we compute from the events with the same
// definition, so that neither has to be taken on trust. The figures of one vendor are made in core/analysis/<vendor>;
// the general ones, from the roles that any schema may give its columns.
//
//   const auto metrics = session_metrics(query);                     // whole session: ours beside the vendor's
//   const auto visible = session_metrics(query, {begin_ns, end_ns});  // ours alone: the vendor's are for the run
//
// With a mask in the query they are of the events that pass it, ours alone too, but for those that say `unfiltered`.
// In a range, events cut by its edges count as one event each, and share their time by what lies inside, their
// bytes and FLOPs in proportion to it.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/analysis/memory/usage.h"
#include "core/analysis/time/track_devices.h"
#include "core/analysis/vendors/vendor.h"
#include "core/scan/chunk_scan.h"

namespace accelscope::analysis {

// Exact formulas must agree this well, as a share of the vendor's figure; above the second a difference is marked.
inline constexpr double kExactMargin = 0.001;
inline constexpr double kNotableDifference = 0.01;

struct SessionMetric {
  std::string name;
  std::string group;
  std::string unit;             // "s", "share" (1 = all), "B", "flop", "cycles" ...
  std::optional<double> value;  // ours
  std::optional<double> vendor;
  std::string vendor_text;       // where the vendor's figure is not a number
  std::string device;            // "nc0"; empty: of the whole session
  bool exact = true;             // false: it cannot be recomputed, the file does not hold all that it is made of
  double margin = kExactMargin;  // how far ours may lie from the truth, as a share of it
  bool unfiltered = false;       // not made of events: a mask does not change it
  std::string how;               // one sentence: how we compute it, or why we cannot; empty where we do not
};

// Those of the session, then of each device, by group in the order of the vendor's viewer; general figures last. Peaks
// of memory come from `memory`, of the same snapshot, if the caller has it already.
[[nodiscard]] Result<std::vector<SessionMetric>> session_metrics(const QueryContext& query, const TimeRange& range = {},
                                                                 const MemoryUsage* memory = nullptr);

// The one value that stands where there is room for one: ours, else the vendor's; of the total what the vendor
// publishes, see session_terms.h.
[[nodiscard]] std::optional<double> shown_value(const SessionMetric& metric) noexcept;
// Of the whole session, or of the first device that has it.
[[nodiscard]] std::optional<double> metric_value(const std::vector<SessionMetric>& metrics, std::string_view name);
// How often HBM was read for each byte of inputs and weights: above 1, something was read again.
[[nodiscard]] std::optional<double> input_reads(const std::vector<SessionMetric>& metrics);

// (ours - vendor) / vendor; empty where one is missing.
[[nodiscard]] std::optional<double> relative_difference(const SessionMetric& metric) noexcept;

enum class MetricCheck : std::uint8_t {
  agrees,       // within the margin
  differs,      // beyond it
  only_ours,    // the file does not state it
  only_vendor,  // the events do not tell
  not_made,     // nor could they: what the figure is made of is not in the file
};
inline constexpr std::size_t kMetricChecks = 5;
[[nodiscard]] MetricCheck check(const SessionMetric& metric) noexcept;
[[nodiscard]] std::string_view name_of(MetricCheck check) noexcept;  // "only ours"
// Both are there and lie more than kNotableDifference apart, whatever the margin.
[[nodiscard]] bool is_flagged(const SessionMetric& metric) noexcept;

// Figures that any session has, whatever its source: how long it is, how many events it holds, and for every device
// and table of events how long at least one was under way, what they moved and computed; the peak of every pool of
// memory. They come from the roles that schemas give their columns and are named after the tables: "kernel_busy_time",
// "memcpy_moved_bytes". Tracks that do no work (layers, throttling, counters ...) have none of their own.

// Those of the session, then by device in the order of `devices`. Names, values, units and devices are set. `memory` is
// made here if it is null: it takes some 250 bytes per allocation, all else memory that does not grow with the session.
[[nodiscard]] Result<std::vector<SessionMetric>> general_metrics(const QueryContext& query, const TrackDevices& devices,
                                                                 const TimeRange& range,
                                                                 const MemoryUsage* memory = nullptr);

// The figures that a vendor's own summary states of a device, recomputed from its events, and what its file states that
// the device could do at most. General figures know no vendor: each is a row in metrics.cpp.

// Of every device that a vendor knows, with the vendor's names; see core/analysis/neuron/summary.h.
[[nodiscard]] Result<std::vector<DeviceFigures>> vendor_figures(const QueryContext& query, const TrackDevices& devices,
                                                                const TimeRange& range);

// As the session's metadata state them; 0 where they do not. `device` is its label in the session. All that is known:
// core/analysis/peaks.
struct DevicePeaks {
  double flops = 0;      // floating point operations a second
  double bandwidth = 0;  // bytes a second from and to its memory
};
[[nodiscard]] DevicePeaks device_peaks(const Snapshot& snapshot, const std::string& device);

// What the figures say that the device did for the model.
struct DeviceWork {
  double flops = 0;
  double memory_bytes = 0;  // from and to its memory
  double active_ns = 0;     // in which it did anything
};
[[nodiscard]] DeviceWork device_work(const Figures& figures);

}  // namespace accelscope::analysis
