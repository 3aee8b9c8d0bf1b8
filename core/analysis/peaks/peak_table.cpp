#include "core/analysis/peaks/peak_table.h"

#include <array>

#include "core/base/text.h"

namespace accelscope {
namespace {

constexpr double kTera = 1e12, kGiga = 1e9;
// A link of sixteen lanes, in one direction, as the bus's generations are usually quoted.
constexpr double kLink3 = 15.75 * kGiga, kLink4 = 31.5 * kGiga, kLink5 = 63 * kGiga;

constexpr SheetPeak kB200[] = {{"bf16", 2250 * kTera}, {"fp32", 75 * kTera}, {"hbm", 8000 * kGiga}, {"link", kLink5}};
constexpr SheetPeak kH200[] = {
    {"bf16", 989.4 * kTera}, {"tf32", 494.7 * kTera}, {"fp32", 66.9 * kTera}, {"hbm", 4800 * kGiga}, {"link", kLink5}};
constexpr SheetPeak kH100Pcie[] = {
    {"bf16", 756 * kTera}, {"tf32", 378 * kTera}, {"fp32", 51.2 * kTera}, {"hbm", 2039 * kGiga}, {"link", kLink5}};
constexpr SheetPeak kH100[] = {
    {"bf16", 989.4 * kTera}, {"tf32", 494.7 * kTera}, {"fp32", 66.9 * kTera}, {"hbm", 3350 * kGiga}, {"link", kLink5}};
constexpr SheetPeak kA100Large[] = {
    {"bf16", 312 * kTera}, {"tf32", 156 * kTera}, {"fp32", 19.5 * kTera}, {"hbm", 2039 * kGiga}, {"link", kLink4}};
constexpr SheetPeak kA100[] = {
    {"bf16", 312 * kTera}, {"tf32", 156 * kTera}, {"fp32", 19.5 * kTera}, {"hbm", 1555 * kGiga}, {"link", kLink4}};
constexpr SheetPeak kV100[] = {{"fp16", 125 * kTera}, {"fp32", 15.7 * kTera}, {"hbm", 900 * kGiga}, {"link", kLink3}};
constexpr SheetPeak kT4[] = {{"fp16", 65 * kTera}, {"fp32", 8.1 * kTera}, {"hbm", 320 * kGiga}, {"link", kLink3}};
constexpr SheetPeak kL4[] = {{"bf16", 121 * kTera}, {"fp32", 30.3 * kTera}, {"hbm", 300 * kGiga}, {"link", kLink4}};
constexpr SheetPeak kL40S[] = {{"bf16", 362 * kTera}, {"fp32", 91.6 * kTera}, {"hbm", 864 * kGiga}, {"link", kLink4}};
constexpr SheetPeak kMi300[] = {
    {"bf16", 1307.4 * kTera}, {"fp32", 163.4 * kTera}, {"hbm", 5300 * kGiga}, {"link", kLink5}};
// Half of the card: each of its two dies is a device of its own.
constexpr SheetPeak kMi250[] = {{"bf16", 181 * kTera}, {"fp32", 22.6 * kTera}, {"hbm", 1638 * kGiga}, {"link", kLink4}};
constexpr SheetPeak kMi210[] = {{"bf16", 181 * kTera}, {"fp32", 22.6 * kTera}, {"hbm", 1638 * kGiga}, {"link", kLink4}};
constexpr SheetPeak kWormhole[] = {
    {"hifi4", 74 * kTera}, {"hifi2", 148 * kTera}, {"lofi", 262 * kTera}, {"hbm", 288 * kGiga}};
// 4096 operations a cycle at 1.35 GHz on each of 130 cores.
constexpr SheetPeak kBlackhole[] = {
    {"hifi4", 179.7 * kTera}, {"hifi2", 359.4 * kTera}, {"lofi", 718.8 * kTera}, {"hbm", 512 * kGiga}};

constexpr std::string_view kSheet = "the maker's data sheet, dense", kDieSheet = "the maker's data sheet, of one die",
                           kReport = "tt-perf-report";
constexpr std::array kSheets = std::to_array<DeviceSheet>({
    {"B200", kSheet, kB200},
    {"H200", kSheet, kH200},
    {"H100 PCIe", kSheet, kH100Pcie},
    {"H100 NVL", kSheet, {}},  // another memory: to be entered
    {"H100", kSheet, kH100},
    {"A100-SXM4-80GB", kSheet, kA100Large},
    {"A100-SXM-80GB", kSheet, kA100Large},
    {"A100 80GB", kSheet, kA100Large},
    {"A100", kSheet, kA100},
    {"V100", kSheet, kV100},
    {"Tesla T4", kSheet, kT4},
    {"L40S", kSheet, kL40S},
    {"NVIDIA L4", kSheet, kL4},
    {"MI300X", kSheet, kMi300},
    {"MI250", kDieSheet, kMi250},
    {"MI210", kSheet, kMi210},
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
