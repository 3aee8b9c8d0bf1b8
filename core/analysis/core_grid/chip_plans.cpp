#include "core/analysis/core_grid/chip_plans.h"

#include <array>

namespace accelscope {
namespace {

constexpr std::array<std::string_view, 12> kWormhole = {"DEEEEDEEEE", "DWWWWDWWWW", "RWWWWDWWWW", "PWWWWDWWWW",
                                                        "RWWWWDWWWW", "DWWWWDWWWW", "DEEEEDEEEE", "DWWWWDWWWW",
                                                        "RWWWWDWWWW", "RWWWWDWWWW", "AWWWWDWWWW", "DWWWWDWWWW"};
constexpr std::array<std::string_view, 12> kBlackhole = {"DRPRRRRRADRPRRRRR", "DEEEEEEERDEEEEEEE", "DWWWWWWWRDWWWWWWW",
                                                         "DWWWWWWWRDWWWWWWW", "DWWWWWWWRDWWWWWWW", "DWWWWWWWRDWWWWWWW",
                                                         "DWWWWWWWRDWWWWWWW", "DWWWWWWWRDWWWWWWW", "DWWWWWWWRDWWWWWWW",
                                                         "DWWWWWWWRDWWWWWWW", "DWWWWWWWRDWWWWWWW", "DWWWWWWWRDWWWWWWW"};
constexpr std::array<std::string_view, 12> kGrayskull = {
    "RDRRDRRDRRDRR", "RWWWWWWWWWWWW", "AWWWWWWWWWWWW", "RWWWWWWWWWWWW", "PWWWWWWWWWWWW", "RWWWWWWWWWWWW",
    "RDRRDRRDRRDRR", "RWWWWWWWWWWWW", "RWWWWWWWWWWWW", "RWWWWWWWWWWWW", "RWWWWWWWWWWWW", "RWWWWWWWWWWWW"};

constexpr std::array<ChipPlan, 3> kChipPlans = {{
    {"grayskull", kGrayskull, "tt-metal: soc_descriptors/grayskull_120_arch.yaml"},
    {"wormhole", kWormhole, "tt-metal: soc_descriptors/wormhole_b0_80_arch.yaml"},
    {"blackhole", kBlackhole, "tt-metal: soc_descriptors/blackhole_140_arch.yaml"},
}};

struct PlaceWord {
  char place;
  std::string_view name;
};
constexpr std::array<PlaceWord, 5> kPlaceWords = {
    {{'D', "DRAM"}, {'E', "Ethernet"}, {'P', "PCIe"}, {'A', "management processor"}, {'R', "router only"}}};

}  // namespace

const ChipPlan* find_chip_plan(std::string_view arch) noexcept {
  for (const ChipPlan& plan : kChipPlans) {
    if (arch.starts_with(plan.arch)) return &plan;
  }
  return nullptr;
}

std::string_view place_name(char place) noexcept {
  for (const PlaceWord& each : kPlaceWords) {
    if (each.place == place) return each.name;
  }
  return "";
}

}  // namespace accelscope
