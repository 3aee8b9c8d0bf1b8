#include "core/analysis/peaks/peaks.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "core/analysis/neuron/device_facts.h"
#include "core/analysis/peaks/peak_table.h"
#include "core/base/format.h"
#include "core/base/text.h"

namespace accelscope {
namespace {

struct PeakKind {
  std::string_view what, title, unit;
};
constexpr std::array kPeakKinds = std::to_array<PeakKind>({
    {"bf16", "Compute, bf16", kFlopsPerSecond},
    {"fp16", "Compute, fp16", kFlopsPerSecond},
    {"tf32", "Compute, tf32", kFlopsPerSecond},
    {"fp32", "Compute, fp32", kFlopsPerSecond},
    {"fp8", "Compute, fp8", kFlopsPerSecond},
    {"hifi4", "Compute, HiFi4", kFlopsPerSecond},
    {"hifi2", "Compute, HiFi2", kFlopsPerSecond},
    {"lofi", "Compute, LoFi", kFlopsPerSecond},
    {"hbm", "Device memory", kBytesPerSecond},
    {"dma", "DMA engines", kBytesPerSecond},
    {"sbuf", "SBUF", kBytesPerSecond},
    {"psum", "PSUM", kBytesPerSecond},
    {"link", "Link to the host", kBytesPerSecond},
});
// Work in it says so: it is no peak of other work.
constexpr std::string_view kNarrow = "fp8";
// What a device of which nothing is known can be given.
constexpr std::array<std::string_view, 4> kUnknownDevice = {"bf16", "fp32", "hbm", "link"};

[[nodiscard]] Peak peak_row(std::string_view what) {
  const auto kind =
      std::find_if(kPeakKinds.begin(), kPeakKinds.end(), [&](const auto& each) { return each.what == what; });
  if (kind == kPeakKinds.end()) return {};
  return {.what = std::string(what), .title = std::string(kind->title), .unit = kind->unit, .source = "not known"};
}

void set_peak(PeakList& list, std::string_view what, double value, std::string source, PeakOrigin origin) {
  Peak peak = peak_row(what);
  if (peak.what.empty()) return;
  if (value > 0 && std::isfinite(value)) {
    peak.value = value;
    peak.built_in = value;
    peak.source = std::move(source);
    peak.origin = origin;
  }
  list.all.push_back(std::move(peak));
}

// The metadata of Neuron profiles: bandwidths in B/s, clocks in GHz. A multiplication in fp32 takes four passes (the
// vendor's adjusted_hardware_flops counts it four times).
[[nodiscard]] bool add_neuron_peaks(const Snapshot& snapshot, PeakList& list) {
  const std::string& device = list.device;
  const double compute = neuron::peak_flops(snapshot, device);
  const double hbm = neuron::device_fact(snapshot, device, {"hbm_ddr_bandwidth"}).value_or(0);
  if (compute <= 0 && hbm <= 0) return false;
  const double clock = neuron::device_fact(snapshot, device, {"pe_clock_freq", "tensor_engine_clock_freq"}).value_or(0);
  for (const std::string_view key : {"instance_type", "metadata.instance_type"}) {
    if (!snapshot.meta_value(key).empty()) list.model = fmt::format("NeuronCore of {}", snapshot.meta_value(key));
  }
  if (list.model.empty()) list.model = clock > 0 ? fmt::format("NeuronCore at {} GHz", clock) : "NeuronCore";
  if (const double cores = neuron::physical_cores(snapshot, device); cores > 1)
    list.model += fmt::format(", {} physical cores", cores);
  set_peak(list, "bf16", compute, "the profile: 2 x rows x columns x clock x physical cores", PeakOrigin::file);
  set_peak(list, "fp32", compute / 4, "a quarter of bf16: fp32 takes four passes", PeakOrigin::file);
  set_peak(list, "hbm", hbm, "the profile: hbm_ddr_bandwidth", PeakOrigin::file);
  set_peak(list, "dma", neuron::device_fact(snapshot, device, {"dma_ddr_bandwidth"}).value_or(0),
           "the profile: dma_ddr_bandwidth", PeakOrigin::file);
  set_peak(list, "sbuf", 0, "", PeakOrigin::unknown);
  set_peak(list, "psum", 0, "", PeakOrigin::unknown);
  for (Peak& peak : list.all) {
    if (peak.what == "hbm") peak.title = "HBM";
  }
  return true;
}

// Where a process sees some of a machine's devices alone their numbers differ from those of its properties: then what
// all stated devices are called. Nothing where they differ.
[[nodiscard]] std::optional<std::string> only_model(const Snapshot& snapshot) {
  constexpr std::string_view kPrefix = "device.", kSuffix = ".name";
  std::optional<std::string> found;
  for (const auto& [key, value] : snapshot.meta) {
    if (!std::string_view(key).starts_with(kPrefix) || !std::string_view(key).ends_with(kSuffix) || value.empty())
      continue;
    if (found && *found != value) return std::nullopt;
    found = value;
  }
  return found;
}

// "GPU 3" is device.3 of the metadata; a chip may be named for the whole session.
[[nodiscard]] std::string stated_model(const Snapshot& snapshot, const std::string& device) {
  const std::size_t space = device.rfind(' ');
  const std::string_view number = std::string_view(device).substr(space == std::string::npos ? 0 : space + 1);
  for (const std::string& key : {fmt::format("device.{}.name", number), std::string("arch")}) {
    if (const std::string_view name = snapshot.meta_value(key); !name.empty()) return std::string(name);
  }
  return only_model(snapshot).value_or(device);
}

// What a profile states of its devices as figures, in units of its own: XLA's of TPUs and GPUs.
struct StatedPeak {
  std::string_view metric, what;
  double unit = 1;  // FLOP/s or B/s
};
constexpr std::array kStatedPeaks = std::to_array<StatedPeak>({
    {"peak_teraflops_per_second", "bf16", 1e12},
    {"peak_hbm_bw_gigabytes_per_second", "hbm", 1e9},
    {"memory_bandwidth", "hbm", 1},
});

// In the place of what a data sheet says of the same.
void add_stated_peaks(const Snapshot& snapshot, PeakList& list) {
  for (const Metric& metric : snapshot.metrics) {
    if (metric.device != list.device || !(metric.value > 0)) continue;
    for (const StatedPeak& stated : kStatedPeaks) {
      if (stated.metric != metric.name) continue;
      std::erase_if(list.all, [&](const Peak& peak) { return peak.what == stated.what; });
      set_peak(list, stated.what, metric.value * stated.unit, fmt::format("the profile: {}", metric.name),
               PeakOrigin::file);
    }
  }
  const auto place = [](const Peak& peak) {
    return std::find_if(kPeakKinds.begin(), kPeakKinds.end(), [&](const auto& each) { return each.what == peak.what; });
  };
  std::stable_sort(list.all.begin(), list.all.end(), [&](const Peak& a, const Peak& b) { return place(a) < place(b); });
}

void add_sheet_peaks(const Snapshot& snapshot, PeakList& list) {
  list.model = stated_model(snapshot, list.device);
  const DeviceSheet* sheet = find_sheet(list.model);
  if (sheet == nullptr || sheet->peaks.empty()) {
    for (const std::string_view what : kUnknownDevice) set_peak(list, what, 0, "", PeakOrigin::unknown);
    return;
  }
  for (const SheetPeak& peak : sheet->peaks)
    set_peak(list, peak.what, peak.value, std::string(sheet->source), PeakOrigin::table);
}

}  // namespace

const Peak* PeakList::find(std::string_view what) const noexcept {
  const auto found = std::find_if(all.begin(), all.end(), [&](const Peak& each) { return each.what == what; });
  return found == all.end() ? nullptr : &*found;
}

std::optional<double> PeakList::value(std::string_view what) const noexcept {
  const Peak* peak = find(what);
  return peak == nullptr ? std::nullopt : peak->value;
}

const Peak* PeakList::best_compute() const noexcept {
  const Peak* best = nullptr;
  for (const Peak& each : all) {
    if (each.is_compute() && each.what != kNarrow && each.value && (best == nullptr || *each.value > *best->value))
      best = &each;
  }
  return best;
}

// Half precision of either kind has one rate.
const Peak* PeakList::compute_in(std::string_view precision) const noexcept {
  if (precision.empty()) return best_compute();
  const Peak* found = find(precision);
  if (found == nullptr && precision == "bf16") found = find("fp16");
  if (found == nullptr && precision == "fp16") found = find("bf16");
  return found != nullptr && found->is_compute() && found->value ? found : nullptr;
}

bool PeakList::any_known() const noexcept {
  return std::any_of(all.begin(), all.end(), [](const Peak& each) { return each.value.has_value(); });
}

PeakList peaks_of_device(const Snapshot& snapshot, const std::string& device, const PeakEdits& edits) {
  PeakList list{.device = device};
  if (!add_neuron_peaks(snapshot, list)) {
    add_sheet_peaks(snapshot, list);
    add_stated_peaks(snapshot, list);
  }
  for (const PeakEdit& edit : edits) {
    if (edit.model != list.model) continue;
    for (Peak& peak : list.all) {
      if (peak.what != edit.what) continue;
      peak.value = edit.value;
      peak.source = "entered by you";
      peak.origin = PeakOrigin::user;
    }
  }
  return list;
}

Result<double> parse_peak(std::string_view text, std::string_view unit) {
  constexpr std::array<std::string_view, 6> kUnits = {"flop/s", "flops/s", "flops", "b/s", "/s", "b"};
  const Error wrong{fmt::format("\"{}\" is not a peak; try {}", text,
                                unit == kFlopsPerSecond ? "78.6 TFLOP/s or 78.6T" : "435 GB/s or 435G")};
  std::string number = lower_case(trimmed(text));
  for (const std::string_view each : kUnits) {
    const bool is_flops = each.starts_with("flop");
    if (!number.ends_with(each)) continue;
    if (each != "/s" && is_flops != (unit == kFlopsPerSecond)) return wrong;
    number.resize(number.size() - each.size());
    break;
  }
  const Result<double> value = parse_rate(trimmed(number));
  if (!value || !std::isfinite(*value) || *value <= 0) return wrong;
  return *value;
}

}  // namespace accelscope
