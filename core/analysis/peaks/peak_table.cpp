#include "core/analysis/peaks/peak_table.h"

#include <array>

#include "core/base/text.h"

namespace accelscope {
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

}  // namespace accelscope
