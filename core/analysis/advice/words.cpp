#include "core/analysis/advice/words.h"

namespace accelscope {
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
};

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

}  // namespace accelscope
