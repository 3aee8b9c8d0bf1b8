// From where the program calls CUDA: walked by the unwinder that its C library loads, so that code without frame
// pointers is walked too.
#include <execinfo.h>
#include <link.h>
#include <unistd.h>

#include <utility>

#include "capture/probe/cuda/collector.h"

namespace accelscope::probe::cuda {
namespace {

constexpr std::uint64_t kMix = 0x9E3779B97F4A7C15U;

struct LoadedPart {
  std::uintptr_t begin, end, base;
  std::string path;
};
struct Loaded {
  unsigned long long* loaded;
  unsigned long long* unloaded;
  bool is_first = true;
  std::vector<LoadedPart> parts;
};

// 1 ends the search: nothing has changed since the last one.
int add_parts(dl_phdr_info* info, std::size_t, void* data) {
  auto& all = *static_cast<Loaded*>(data);
  if (std::exchange(all.is_first, false)) {
    if (*all.loaded == info->dlpi_adds && *all.unloaded == info->dlpi_subs) return 1;
    *all.loaded = info->dlpi_adds;
    *all.unloaded = info->dlpi_subs;
  }
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const auto& part = info->dlpi_phdr[i];
    if (part.p_type != PT_LOAD || (part.p_flags & PF_X) == 0) continue;
    const std::uintptr_t begin = info->dlpi_addr + part.p_vaddr;
    all.parts.push_back({begin, begin + part.p_memsz, info->dlpi_addr, info->dlpi_name});
  }
  return 0;
}

[[nodiscard]] std::string own_program() {
  char path[4096];
  const ssize_t bytes = ::readlink("/proc/self/exe", path, sizeof path);
  return bytes > 0 ? std::string(path, static_cast<std::size_t>(bytes)) : std::string();
}

}  // namespace

// The first walk loads the unwinder, which is no work for a call of the program.
Stacks::Stacks() : slots_(kSlots) {
  void* frame = nullptr;
  (void)::backtrace(&frame, 1);
}

std::uint32_t Stacks::number() {
  void* frames[kMostFrames];
  const int count = ::backtrace(frames, kMostFrames);
  if (count <= 0) return 0;
  std::uint64_t hash = kMix;
  for (int i = 0; i < count; ++i) {
    hash = (hash ^ reinterpret_cast<std::uintptr_t>(frames[i])) * kMix;
    hash ^= hash >> 29U;
  }
  if (hash == 0) hash = 1;
  for (std::size_t at = hash % kSlots;; at = (at + 1) % kSlots) {
    const std::uint64_t known = slots_[at].hash.load(std::memory_order_acquire);
    if (known == hash) return slots_[at].number;
    if (known == 0) return define(hash, frames, count);
  }
}

std::uint32_t Stacks::define(std::uint64_t hash, void* const* frames, int count) {
  const std::lock_guard lock(mutex_);
  if (last_ >= kSlots / 4 * 3) return 0;
  std::size_t at = hash % kSlots;
  for (; slots_[at].hash.load(std::memory_order_relaxed) != 0; at = (at + 1) % kSlots) {
    if (slots_[at].hash.load(std::memory_order_relaxed) == hash) return slots_[at].number;  // by another thread
  }
  find_modules();
  BodyWriter body;
  body.number(++last_).number(static_cast<std::uint32_t>(count));
  for (int i = 0; i < count; ++i) {
    const auto address = reinterpret_cast<std::uintptr_t>(frames[i]);
    const Module* module = module_of(address - 1);  // an address of return may lie behind its function
    body.number(module == nullptr ? 0U : module->number);
    body.number(std::uint64_t{address - (module == nullptr ? 0 : module->base)});
  }
  Collector::instance().define(DefinitionType::stack, body);
  slots_[at].number = last_;
  slots_[at].hash.store(hash, std::memory_order_release);
  return last_;
}

// Under the lock. A file that is still where it was keeps its number.
void Stacks::find_modules() {
  Loaded found{&loaded_, &unloaded_, true, {}};
  if (::dl_iterate_phdr(&add_parts, &found) != 0) return;
  std::vector<Module> before = std::move(modules_);
  modules_.clear();
  for (LoadedPart& part : found.parts) {
    if (part.path.empty()) part.path = own_program();
    const auto known = std::find_if(before.begin(), before.end(), [&](const Module& module) {
      return module.begin == part.begin && module.path == part.path;
    });
    Module module{part.begin, part.end, part.base, known == before.end() ? ++last_module_ : known->number, part.path};
    if (known == before.end()) {
      BodyWriter body;
      body.number(module.number).text(module.path);
      Collector::instance().define(DefinitionType::module, body);
    }
    modules_.push_back(std::move(module));
  }
}

const Stacks::Module* Stacks::module_of(std::uintptr_t address) const noexcept {
  const auto found = std::find_if(modules_.begin(), modules_.end(), [&](const Module& module) {
    return address >= module.begin && address < module.end;
  });
  return found == modules_.end() ? nullptr : &*found;
}

}  // namespace accelscope::probe::cuda
