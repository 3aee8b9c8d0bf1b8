#include "core/analysis/peaks/peaks.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "core/analysis/neuron/facts/devices.h"
#include "core/analysis/neuron/summary.h"
#include "core/base/format.h"
#include "core/base/text.h"

namespace accelscope::analysis {
namespace {

struct PeakKind {
  std::string_view what, title;
  Unit unit;
};
constexpr std::array kPeakKinds = std::to_array<PeakKind>({
    {"bf16", "Compute, bf16", kFlopsPerSecond},
    {"fp16", "Compute, fp16", kFlopsPerSecond},
    {"tf32", "Compute, tf32", kFlopsPerSecond},
    {"fp32", "Compute, fp32", kFlopsPerSecond},
    {"fp8", "Compute, fp8", kFlopsPerSecond},
    {"mxfp8", "Compute, mxfp8", kFlopsPerSecond},
    {"sparse", "Compute, sparse", kFlopsPerSecond},
    {"hifi4", "Compute, HiFi4", kFlopsPerSecond},
    {"hifi2", "Compute, HiFi2", kFlopsPerSecond},
    {"lofi", "Compute, LoFi", kFlopsPerSecond},
    {"hbm", "Device memory", kBytesPerSecond},
    {"dma", "DMA engines", kBytesPerSecond},
    {"sbuf", "SBUF", kBytesPerSecond},
    {"psum", "PSUM", kBytesPerSecond},
    {"link", "Link to the host", kBytesPerSecond},
});
// Work in these says so: they are no peaks of other work.
constexpr std::array<std::string_view, 3> kNarrow = {"fp8", "mxfp8", "sparse"};
// What a device of which nothing is known can be given.
constexpr std::array<std::string_view, 4> kUnknownDevice = {"bf16", "fp32", "hbm", "link"};

[[nodiscard]] Peak peak_row(std::string_view what) {
  const auto kind = std::ranges::find_if(kPeakKinds, [&](const auto& each) { return each.what == what; });
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

void sort_peaks(PeakList& list) {
  const auto place = [](const Peak& peak) {
    return std::ranges::find_if(kPeakKinds, [&](const auto& each) { return each.what == peak.what; });
  };
  std::ranges::stable_sort(list.all, [&](const Peak& a, const Peak& b) { return place(a) < place(b); });
}

// What the documents of a Neuron chip state beyond its profile, of so many of its cores. Peaks that another kind of
// work has are there for chips that have it; bandwidths are a core's share of the chip's.
void add_chip_peaks(neuron::Chip chip, double cores, PeakList& list) {
  using neuron::ChipFigure;
  struct Row {
    std::string_view what;
    ChipFigure figure;
    bool of_chip = false;
  };
  constexpr std::array kRows = std::to_array<Row>({{"bf16", ChipFigure::bf16},
                                                   {"fp32", ChipFigure::fp32},
                                                   {"fp8", ChipFigure::fp8},
                                                   {"mxfp8", ChipFigure::mxfp8},
                                                   {"sparse", ChipFigure::sparse},
                                                   {"hbm", ChipFigure::hbm_rate, true},
                                                   {"dma", ChipFigure::dma_rate, true}});
  for (const Row& row : kRows) {
    const neuron::ChipFigureRow* figure = neuron::find_chip_figure(chip, row.figure);
    if (figure == nullptr || list.value(row.what)) continue;
    std::erase_if(list.all, [&](const Peak& peak) { return peak.what == row.what; });
    const double share = row.of_chip ? cores / neuron::chip_figure(chip, ChipFigure::cores) : cores;
    set_peak(list, row.what, figure->value * share, fmt::format("{}, dense rates of the maker", figure->source),
             PeakOrigin::table);
    if (row.what == "sparse") list.all.back().source = fmt::format("{}, of sparse weights", figure->source);
    if (row.of_chip) list.all.back().source = fmt::format("{}, the share of the cores", figure->source);
  }
  // At one rate with bf16, which the profile states.
  const Peak bf16 = *list.find("bf16");
  for (const auto& [what, of_type] : {std::pair("fp16", ChipFigure::fp16), std::pair("tf32", ChipFigure::tf32)}) {
    if (neuron::chip_figure(chip, of_type) == neuron::chip_figure(chip, ChipFigure::bf16))
      set_peak(list, what, *bf16.value, bf16.source, bf16.origin);
  }
}

// The metadata of Neuron profiles: bandwidths in B/s, clocks in GHz. A multiplication in fp32 takes four passes (the
// vendor's adjusted_hardware_flops counts it four times).
[[nodiscard]] bool add_neuron_peaks(const Snapshot& snapshot, PeakList& list) {
  const std::string& device = list.device;
  const double compute = neuron::peak_flops(snapshot, device);
  const double hbm = neuron::device_fact(snapshot, device, {"hbm_ddr_bandwidth"}).value_or(0);
  const double clock = neuron::device_fact(snapshot, device, {"pe_clock_freq", "tensor_engine_clock_freq"}).value_or(0);
  // The figures of the second generation are those of its profiles.
  neuron::Chip chip = neuron::Chip::trn1;
  for (const std::string_view key : {"instance_type", "metadata.instance_type"}) {
    chip = neuron::chip_of_instance(snapshot.meta_value(key)).value_or(chip);
  }
  const bool is_later = chip != neuron::Chip::trn1;
  if (compute <= 0 && hbm <= 0 && !is_later) return false;
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
  if (is_later) {
    add_chip_peaks(chip, std::max(1.0, neuron::physical_cores(snapshot, device)), list);
    sort_peaks(list);
  }
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
  sort_peaks(list);
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
  const auto found = std::ranges::find_if(all, [&](const Peak& each) { return each.what == what; });
  return found == all.end() ? nullptr : &*found;
}

std::optional<double> PeakList::value(std::string_view what) const noexcept {
  const Peak* peak = find(what);
  return peak == nullptr ? std::nullopt : peak->value;
}

const Peak* PeakList::best_compute() const noexcept {
  const Peak* best = nullptr;
  for (const Peak& each : all) {
    if (each.is_compute() && std::ranges::find(kNarrow, each.what) == kNarrow.end() && each.value &&
        (best == nullptr || *each.value > *best->value))
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
  return std::ranges::any_of(all, [](const Peak& each) { return each.value.has_value(); });
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

Result<double> parse_peak(std::string_view text, Unit unit) {
  constexpr std::array<std::string_view, 6> kWorkUnits = {"flop/s", "flops/s", "flops", "b/s", "/s", "b"};
  const Error wrong{fmt::format("\"{}\" is not a peak; try {}", text,
                                unit == kFlopsPerSecond ? "78.6 TFLOP/s or 78.6T" : "435 GB/s or 435G")};
  std::string number = lower_case(trimmed(text));
  for (const std::string_view each : kWorkUnits) {
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

namespace {

constexpr double kTera = 1e12, kGiga = 1e9;
// A link of sixteen lanes, in one direction, as the bus's generations are usually quoted.
constexpr double kLink3 = 15.75 * kGiga, kLink4 = 31.5 * kGiga, kLink5 = 63 * kGiga;

constexpr SheetPeak kB200[] = {
    {"bf16", 2250 * kTera}, {"fp32", 75 * kTera}, {"fp8", 4500 * kTera}, {"hbm", 8000 * kGiga}, {"link", kLink5}};
constexpr SheetPeak kH200[] = {{"bf16", 989.4 * kTera}, {"tf32", 494.7 * kTera}, {"fp32", 66.9 * kTera},
                               {"fp8", 1978.9 * kTera}, {"hbm", 4800 * kGiga},   {"link", kLink5}};
constexpr SheetPeak kH100Pcie[] = {{"bf16", 756 * kTera}, {"tf32", 378 * kTera}, {"fp32", 51.2 * kTera},
                                   {"fp8", 1513 * kTera}, {"hbm", 2039 * kGiga}, {"link", kLink5}};
constexpr SheetPeak kH100[] = {{"bf16", 989.4 * kTera}, {"tf32", 494.7 * kTera}, {"fp32", 66.9 * kTera},
                               {"fp8", 1978.9 * kTera}, {"hbm", 3350 * kGiga},   {"link", kLink5}};
constexpr SheetPeak kH20[] = {{"bf16", 148 * kTera}, {"tf32", 74 * kTera},  {"fp32", 44 * kTera},
                              {"fp8", 296 * kTera},  {"hbm", 4000 * kGiga}, {"link", kLink5}};
constexpr SheetPeak kA100Large[] = {
    {"bf16", 312 * kTera}, {"tf32", 156 * kTera}, {"fp32", 19.5 * kTera}, {"hbm", 2039 * kGiga}, {"link", kLink4}};
constexpr SheetPeak kA100[] = {
    {"bf16", 312 * kTera}, {"tf32", 156 * kTera}, {"fp32", 19.5 * kTera}, {"hbm", 1555 * kGiga}, {"link", kLink4}};
constexpr SheetPeak kA30[] = {
    {"bf16", 165 * kTera}, {"tf32", 82 * kTera}, {"fp32", 10.3 * kTera}, {"hbm", 933 * kGiga}, {"link", kLink4}};
constexpr SheetPeak kA40[] = {
    {"bf16", 149.7 * kTera}, {"tf32", 74.8 * kTera}, {"fp32", 37.4 * kTera}, {"hbm", 696 * kGiga}, {"link", kLink4}};
constexpr SheetPeak kA10[] = {
    {"bf16", 125 * kTera}, {"tf32", 62.5 * kTera}, {"fp32", 31.2 * kTera}, {"hbm", 600 * kGiga}, {"link", kLink4}};
constexpr SheetPeak kA6000[] = {
    {"bf16", 154.8 * kTera}, {"tf32", 77.4 * kTera}, {"fp32", 38.7 * kTera}, {"hbm", 768 * kGiga}, {"link", kLink4}};
constexpr SheetPeak kV100[] = {{"fp16", 125 * kTera}, {"fp32", 15.7 * kTera}, {"hbm", 900 * kGiga}, {"link", kLink3}};
constexpr SheetPeak kP100[] = {{"fp16", 21.2 * kTera}, {"fp32", 10.6 * kTera}, {"hbm", 732 * kGiga}, {"link", kLink3}};
constexpr SheetPeak kT4[] = {{"fp16", 65 * kTera}, {"fp32", 8.1 * kTera}, {"hbm", 320 * kGiga}, {"link", kLink3}};
constexpr SheetPeak kL4[] = {
    {"bf16", 121 * kTera}, {"fp32", 30.3 * kTera}, {"fp8", 242 * kTera}, {"hbm", 300 * kGiga}, {"link", kLink4}};
constexpr SheetPeak kL40[] = {
    {"bf16", 181 * kTera}, {"tf32", 90.5 * kTera}, {"fp32", 90.5 * kTera}, {"hbm", 864 * kGiga}, {"link", kLink4}};
constexpr SheetPeak kL40S[] = {
    {"bf16", 362 * kTera}, {"fp32", 91.6 * kTera}, {"fp8", 733 * kTera}, {"hbm", 864 * kGiga}, {"link", kLink4}};
// Products in half precision that are summed up in fp32, as frameworks ask for.
constexpr SheetPeak kRtx2080Ti[] = {
    {"fp16", 53.8 * kTera}, {"fp32", 13.4 * kTera}, {"hbm", 616 * kGiga}, {"link", kLink3}};
constexpr SheetPeak kRtx3080[] = {
    {"bf16", 59.5 * kTera}, {"tf32", 29.8 * kTera}, {"fp32", 29.8 * kTera}, {"hbm", 760 * kGiga}, {"link", kLink4}};
constexpr SheetPeak kRtx3090[] = {
    {"bf16", 71 * kTera}, {"tf32", 35.6 * kTera}, {"fp32", 35.6 * kTera}, {"hbm", 936 * kGiga}, {"link", kLink4}};
constexpr SheetPeak kRtx4090[] = {
    {"bf16", 165.2 * kTera}, {"tf32", 82.6 * kTera}, {"fp32", 82.6 * kTera}, {"hbm", 1008 * kGiga}, {"link", kLink4}};
constexpr SheetPeak kRtx5090[] = {
    {"bf16", 209.5 * kTera}, {"tf32", 104.8 * kTera}, {"fp32", 104.8 * kTera}, {"hbm", 1792 * kGiga}, {"link", kLink5}};
constexpr SheetPeak kMi300[] = {{"bf16", 1307.4 * kTera},
                                {"fp32", 163.4 * kTera},
                                {"fp8", 2614.9 * kTera},
                                {"hbm", 5300 * kGiga},
                                {"link", kLink5}};
constexpr SheetPeak kMi325[] = {{"bf16", 1307.4 * kTera},
                                {"fp32", 163.4 * kTera},
                                {"fp8", 2614.9 * kTera},
                                {"hbm", 6000 * kGiga},
                                {"link", kLink5}};
constexpr SheetPeak kMi300A[] = {
    {"bf16", 980.6 * kTera}, {"fp32", 122.6 * kTera}, {"fp8", 1961.2 * kTera}, {"hbm", 5300 * kGiga}, {"link", kLink5}};
constexpr SheetPeak kMi350[] = {{"bf16", 2306.9 * kTera},
                                {"fp32", 144.2 * kTera},
                                {"fp8", 4613.7 * kTera},
                                {"hbm", 8000 * kGiga},
                                {"link", kLink5}};
constexpr SheetPeak kMi355[] = {{"bf16", 2516.6 * kTera},
                                {"fp32", 157.3 * kTera},
                                {"fp8", 5033.2 * kTera},
                                {"hbm", 8000 * kGiga},
                                {"link", kLink5}};
// Half of the card: each of its two dies is a device of its own.
constexpr SheetPeak kMi250[] = {{"bf16", 181 * kTera}, {"fp32", 22.6 * kTera}, {"hbm", 1638 * kGiga}, {"link", kLink4}};
constexpr SheetPeak kMi250X[] = {
    {"bf16", 191.5 * kTera}, {"fp32", 23.9 * kTera}, {"hbm", 1638 * kGiga}, {"link", kLink4}};
constexpr SheetPeak kMi210[] = {{"bf16", 181 * kTera}, {"fp32", 22.6 * kTera}, {"hbm", 1638 * kGiga}, {"link", kLink4}};
constexpr SheetPeak kMi100[] = {
    {"bf16", 92.3 * kTera}, {"fp16", 184.6 * kTera}, {"fp32", 23.1 * kTera}, {"hbm", 1229 * kGiga}, {"link", kLink4}};
constexpr SheetPeak kWormhole[] = {
    {"hifi4", 74 * kTera}, {"hifi2", 148 * kTera}, {"lofi", 262 * kTera}, {"hbm", 288 * kGiga}};
// 4096 operations a cycle at 1.35 GHz on each of 130 cores.
constexpr SheetPeak kBlackhole[] = {
    {"hifi4", 179.7 * kTera}, {"hifi2", 359.4 * kTera}, {"lofi", 718.8 * kTera}, {"hbm", 512 * kGiga}};

constexpr std::string_view kSheet = "the maker's data sheet, dense", kDieSheet = "the maker's data sheet, of one die",
                           kReport = "tt-perf-report";
constexpr std::array kSheets = std::to_array<DeviceSheet>({
    {"Laptop GPU", kSheet, {}},  // its power differs from machine to machine: to be entered
    {"Max-Q", kSheet, {}},
    {"B200", kSheet, kB200},
    {"H200", kSheet, kH200},
    {"H100 PCIe", kSheet, kH100Pcie},
    {"H100 NVL", kSheet, {}},  // another memory: to be entered
    {"H100", kSheet, kH100},
    {"H800", kSheet, kH100},
    {"H20", kSheet, kH20},
    {"A100-SXM4-80GB", kSheet, kA100Large},
    {"A100-SXM-80GB", kSheet, kA100Large},
    {"A100 80GB", kSheet, kA100Large},
    {"A100", kSheet, kA100},
    {"A800-SXM4-80GB", kSheet, kA100Large},
    {"A800", kSheet, kA100},
    {"A30", kSheet, kA30},
    {"A40", kSheet, kA40},
    {"A10", kSheet, kA10},
    {"RTX A6000", kSheet, kA6000},
    {"V100", kSheet, kV100},
    {"P100-SXM2", kSheet, kP100},
    {"Tesla T4", kSheet, kT4},
    {"L40S", kSheet, kL40S},
    {"L40", kSheet, kL40},
    {"NVIDIA L4", kSheet, kL4},
    {"RTX 2080 Ti", kSheet, kRtx2080Ti},
    {"RTX 3080 Ti", kSheet, {}},
    {"RTX 3080", kSheet, kRtx3080},
    {"RTX 3090 Ti", kSheet, {}},
    {"RTX 3090", kSheet, kRtx3090},
    {"RTX 4090 D", kSheet, {}},
    {"RTX 4090", kSheet, kRtx4090},
    {"RTX 5090 D", kSheet, {}},
    {"RTX 5090", kSheet, kRtx5090},
    {"MI355X", kSheet, kMi355},
    {"MI350X", kSheet, kMi350},
    {"MI325X", kSheet, kMi325},
    {"MI300X", kSheet, kMi300},
    {"MI300A", kSheet, kMi300A},
    {"MI250X", kDieSheet, kMi250X},
    {"MI250", kDieSheet, kMi250},
    {"MI210", kSheet, kMi210},
    {"MI100", kSheet, kMi100},
    {"wormhole", kReport, kWormhole},
    {"blackhole", kReport, kBlackhole},
});

}  // namespace

// The pattern as words of the name: "A100" is no part of "A1000", "H200" none of "GH200". Numbers of variants that the
// table does not have ("MI250X", "V100S") are other words too.
const DeviceSheet* find_sheet(std::string_view device_name) noexcept {
  const std::string name = lower_case(device_name);
  const auto is_of_word = [&](std::size_t at) {
    return at < name.size() && (is_digit(name[at]) || (name[at] >= 'a' && name[at] <= 'z'));
  };
  for (const DeviceSheet& sheet : kSheets) {
    const std::string pattern = lower_case(sheet.pattern);
    for (std::size_t at = name.find(pattern); at != std::string::npos; at = name.find(pattern, at + 1)) {
      if ((at == 0 || !is_of_word(at - 1)) && !is_of_word(at + pattern.size())) return &sheet;
    }
  }
  return nullptr;
}

}  // namespace accelscope::analysis
