// What a device can do at most: operations a second by data type, bytes a second by memory or link. From the profile's
// own metadata where they state it, else from a table of data sheets; what the user has entered for a
// device of this name goes before both. What nobody knows has a row without a value, so that it can be entered.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/format.h"
#include "core/store/snapshot.h"

namespace accelscope::analysis {

inline constexpr Unit kFlopsPerSecond = Unit::flop_per_second, kBytesPerSecond = Unit::bytes_per_second;

enum class PeakOrigin : std::uint8_t { unknown, file, table, user };

struct Peak {
  std::string what;             // stable: "bf16", "hbm", "dma", "link"
  std::string title;            // "Compute, bf16", "HBM"
  Unit unit = kFlopsPerSecond;  // kFlopsPerSecond or kBytesPerSecond
  std::optional<double> value;  // in the unit; > 0
  std::string source;           // where it comes from, in words
  PeakOrigin origin = PeakOrigin::unknown;
  std::optional<double> built_in;  // what it is without the user's own

  [[nodiscard]] bool is_compute() const noexcept { return unit == kFlopsPerSecond; }
};

// A value that a user entered, for all devices of a model.
struct PeakEdit {
  std::string model, what;
  double value = 0;  // in the peak's unit; > 0
  bool operator==(const PeakEdit&) const = default;
};
using PeakEdits = std::vector<PeakEdit>;

struct PeakList {
  std::string device;  // as TrackDevices names it
  std::string model;   // "NVIDIA H100 80GB HBM3", "NeuronCore at 2.4 GHz"; the device where nothing tells
  std::vector<Peak> all;

  [[nodiscard]] const Peak* find(std::string_view what) const noexcept;  // null: no such row
  [[nodiscard]] std::optional<double> value(std::string_view what) const noexcept;
  [[nodiscard]] const Peak* best_compute() const noexcept;  // the highest known, but for fp8; null: none is
  // Of work in "bf16", "tf32" ...; "": the best. Null: not known.
  [[nodiscard]] const Peak* compute_in(std::string_view precision) const noexcept;
  [[nodiscard]] bool any_known() const noexcept;
};

// `device`: a label of TrackDevices. Edits of other models are passed over.
[[nodiscard]] PeakList peaks_of_device(const Snapshot& snapshot, const std::string& device,
                                       const PeakEdits& edits = {});

// "2.9 TB/s", "78.6 TFLOP/s", "435G", "5e11": with or without the unit, decimal prefixes from k to P. More than 0.
[[nodiscard]] Result<double> parse_peak(std::string_view text, Unit unit);

// What data sheets state of devices by name. Dense rates, no sparsity; memory bandwidth as the maker states it; the
// link to the host in one direction.
struct SheetPeak {
  std::string_view what;
  double value = 0;  // FLOP/s, or B/s
};

struct DeviceSheet {
  std::string_view pattern;  // the device's name holds it, whatever its case; the first row that fits counts
  std::string_view source;
  std::span<const SheetPeak> peaks;
};

// Null where none fits.
[[nodiscard]] const DeviceSheet* find_sheet(std::string_view device_name) noexcept;

}  // namespace accelscope::analysis
