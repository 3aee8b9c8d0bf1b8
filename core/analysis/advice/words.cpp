#include "core/analysis/advice/words.h"

#include <algorithm>
#include <iterator>

namespace accelscope::analysis {
namespace {

enum class WordPlace : std::uint8_t { whole, begin, anywhere };
struct HostWord {
  std::string_view text;
  WordPlace place;
  HostCallKind kind;
};

constexpr HostWord kHostWords[] = {
    {"DataLoader", WordPlace::anywhere, HostCallKind::loads_data},
    {"dataloader.py", WordPlace::anywhere, HostCallKind::loads_data},
    {"IteratorGetNext", WordPlace::anywhere, HostCallKind::loads_data},
    {"aten::item", WordPlace::whole, HostCallKind::synchronises},
    {"aten::_local_scalar_dense", WordPlace::whole, HostCallKind::synchronises},
    {"aten::nonzero", WordPlace::whole, HostCallKind::synchronises},
    {"cudaMemcpy", WordPlace::whole, HostCallKind::synchronises},
    {"hipMemcpy", WordPlace::whole, HostCallKind::synchronises},
    {"hipMemcpyWithStream", WordPlace::whole, HostCallKind::synchronises},
    {"clFinish", WordPlace::whole, HostCallKind::synchronises},
    {"clWaitForEvents", WordPlace::whole, HostCallKind::synchronises},
    {"cudaFree", WordPlace::whole, HostCallKind::frees},
    {"cudaFreeHost", WordPlace::whole, HostCallKind::frees},
    {"cuMemFree", WordPlace::begin, HostCallKind::frees},
    {"cudaMalloc", WordPlace::whole, HostCallKind::frees},
    {"cudaMallocHost", WordPlace::whole, HostCallKind::frees},
    {"cudaMallocManaged", WordPlace::whole, HostCallKind::frees},
    {"cudaHostAlloc", WordPlace::whole, HostCallKind::frees},
    {"hipFree", WordPlace::whole, HostCallKind::frees},
    {"hipHostFree", WordPlace::whole, HostCallKind::frees},
    {"hipFreeHost", WordPlace::whole, HostCallKind::frees},
    {"hipMalloc", WordPlace::whole, HostCallKind::frees},
    {"hipHostMalloc", WordPlace::whole, HostCallKind::frees},
    {"hipMallocManaged", WordPlace::whole, HostCallKind::frees},
};

struct DirectionWord {
  std::string_view text;
  CopyDirection direction;
};
constexpr DirectionWord kDirectionWords[] = {
    {"HtoD", CopyDirection::to_device},
    {"H2D", CopyDirection::to_device},
    {"HostToDevice", CopyDirection::to_device},
    {"HOST_TO_DEVICE", CopyDirection::to_device},
    {"Host to Device", CopyDirection::to_device},
    {"DtoH", CopyDirection::to_host},
    {"D2H", CopyDirection::to_host},
    {"DeviceToHost", CopyDirection::to_host},
    {"DEVICE_TO_HOST", CopyDirection::to_host},
    {"Device to Host", CopyDirection::to_host},
};
constexpr std::string_view kMigrationWords[] = {"Unified", "page migration", "Page Migration", "PAGE_MIGRAT"};
constexpr std::string_view kGraphWords[] = {"GraphLaunch"};  // cudaGraphLaunch, hipGraphLaunch, cuGraphLaunch

bool matches(const HostWord& word, std::string_view name) noexcept {
  switch (word.place) {
    case WordPlace::whole:
      return name == word.text;
    case WordPlace::begin:
      return name.starts_with(word.text);
    case WordPlace::anywhere:
      return name.find(word.text) != std::string_view::npos;
  }
  return false;
}

}  // namespace

HostCallKind host_call_kind(std::string_view name) noexcept {
  for (const HostWord& word : kHostWords) {
    if (matches(word, name)) return word.kind;
  }
  return HostCallKind::other;
}

CopyWords copy_words(std::string_view name) noexcept {
  CopyWords words;
  for (const DirectionWord& word : kDirectionWords) {
    if (name.find(word.text) != std::string_view::npos) words.direction = word.direction;
  }
  words.pageable = name.find("Pageable") != std::string_view::npos;
  words.migrates = std::any_of(std::begin(kMigrationWords), std::end(kMigrationWords),
                               [&](std::string_view word) { return name.find(word) != std::string_view::npos; });
  return words;
}

bool replays_graph(std::string_view name) noexcept {
  return std::any_of(std::begin(kGraphWords), std::end(kGraphWords),
                     [&](std::string_view word) { return name.find(word) != std::string_view::npos; });
}

}  // namespace accelscope::analysis
