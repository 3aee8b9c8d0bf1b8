// What a static part of ITT asks of this library: to take its list of functions and bind each that is collected. It
// comes with that part's mutex held, once for each part, and again if a part is initialised again.
#include <cstring>

#include "capture/probe/itt/calls.h"

namespace accelscope::probe::itt {
namespace {

[[nodiscard]] const Call* find_call(const char* name) noexcept {
  constexpr std::string_view kPrefix = "__itt_";
  std::string_view wanted(name);
  if (wanted.substr(0, kPrefix.size()) != kPrefix) return nullptr;
  wanted.remove_prefix(kPrefix.size());
  for (const auto& calls : {task_calls(), counter_calls(), control_calls()}) {
    for (const Call& call : calls) {
      if (wanted == call.name) return &call;
    }
  }
  return nullptr;
}

void bind(itt_global& part) noexcept {
  Names& names = Names::instance();
  const bool attached = names.channel().generation() != 0;
  for (itt_api_info* api = part.api_list; api != nullptr && api->name != nullptr; ++api) {
    if (api->function == nullptr) continue;
    const Call* call = attached ? find_call(api->name) : nullptr;
    const bool off = call == nullptr || (call->wanted != nullptr && !(names.wanted().*call->wanted));
    *api->function = off ? api->null_function : call->function;
  }
}

}  // namespace
}  // namespace accelscope::probe::itt

using namespace accelscope::probe::itt;

// NOLINTBEGIN(bugprone-reserved-identifier): the interface's own names
#define ACCELSCOPE_EXPORT extern "C" __attribute__((visibility("default")))

ACCELSCOPE_EXPORT void __itt_api_init(itt_global* part, int) noexcept {
  if (part == nullptr || std::memcmp(part->magic, kGlobalMagic, sizeof kGlobalMagic) != 0) return;
  if (Names::instance().channel().generation() != 0) {
    adopt(*part);
    if (part->version_build >= kBuildWithCounterList) adopt_counters(*part);
  }
  bind(*part);
}

// One part has been unloaded; the others go on.
ACCELSCOPE_EXPORT void __itt_api_fini(itt_global*) noexcept {}
// NOLINTEND(bugprone-reserved-identifier)
