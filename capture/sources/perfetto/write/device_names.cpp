#include "capture/sources/perfetto/write/gpu_events.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "capture/sources/tracks/gpu_tables.h"

namespace accelscope::capture::sources::perfetto {
namespace {

using chrome::ChromeTable;

constexpr std::array kDeviceNames = {
    DeviceName{"COMPUTE ", "QUEUE [", "stream", ChromeTable::kernel},
    DeviceName{"COPY to ", "", "dma_queue", ChromeTable::memcpy},
    DeviceName{"STREAM [", "", "stream", ChromeTable::kernel},
};

struct CategoryPlace {
  std::string_view category;
  ChromeTable table;
};
constexpr std::array kToolCategories = {
    CategoryPlace{"kernel_dispatch", ChromeTable::kernel},
    CategoryPlace{"memory_copy", ChromeTable::memcpy},
    CategoryPlace{"hip_api", ChromeTable::runtime_call},
    CategoryPlace{"hip_runtime_api", ChromeTable::runtime_call},
    CategoryPlace{"hip_compiler_api", ChromeTable::runtime_call},
    CategoryPlace{"hsa_api", ChromeTable::runtime_call},
    CategoryPlace{"hsa_core_api", ChromeTable::runtime_call},
    CategoryPlace{"hsa_amd_ext_api", ChromeTable::runtime_call},
    CategoryPlace{"hsa_image_ext_api", ChromeTable::runtime_call},
    CategoryPlace{"hsa_finalize_ext_api", ChromeTable::runtime_call},
    CategoryPlace{"rccl_api", ChromeTable::runtime_call},
    CategoryPlace{"rocdecode_api", ChromeTable::runtime_call},
    CategoryPlace{"rocjpeg_api", ChromeTable::runtime_call},
    CategoryPlace{"marker_api", ChromeTable::user_annotation},
};

}  // namespace

const DeviceName* device_of_track(std::string_view name) noexcept {
  const auto* const found = std::find_if(kDeviceNames.begin(), kDeviceNames.end(), [&](const DeviceName& each) {
    return name.starts_with(each.begin) && name.find(each.within) != std::string_view::npos;
  });
  return found == kDeviceNames.end() ? nullptr : found;
}

std::string device_label(std::string_view name) {
  if (name.starts_with("STREAM [")) return "GPU";
  const std::size_t open = name.find('[');
  const std::size_t close = name.find(']', open);
  const bool host = name.ends_with("(CPU)");
  if (open == std::string_view::npos || close == std::string_view::npos) return host ? "CPU" : "GPU";
  const std::string_view number = name.substr(open + 1, close - open - 1);
  return host ? fmt::format("CPU {}", number) : tracks::gpu_name(number);
}

ChromeTable table_of_tool_category(std::string_view category) noexcept {
  for (const CategoryPlace& place : kToolCategories) {
    if (place.category == category) return place.table;
  }
  return chrome::table_of_category(category);
}

}  // namespace accelscope::capture::sources::perfetto
