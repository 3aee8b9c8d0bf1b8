#include "capture/kinds/cuda/words.h"

#include <array>

#include "capture/sources/nsys/read/words.h"

namespace accelscope::capture::kinds::cuda {
namespace {

using sources::nsys::NsysEnum;
using sources::nsys::usual_word;

template <std::size_t kCount>
[[nodiscard]] std::string_view word_at(const std::array<std::string_view, kCount>& words, std::uint32_t at) noexcept {
  return at < kCount ? words[at] : std::string_view();
}

}  // namespace

std::string_view copy_word(std::uint32_t kind) noexcept { return usual_word(NsysEnum::copy_kind, kind); }

std::string_view memory_word(std::uint32_t kind) noexcept {
  return kind == 0 ? "Unknown" : usual_word(NsysEnum::memory_kind, kind - 1);  // exports count from what is known
}

std::string_view sync_word(std::uint32_t type) noexcept { return usual_word(NsysEnum::sync_type, type); }

std::string_view launch_word(std::uint32_t type) noexcept {
  constexpr std::uint32_t kCommandList = 3;  // which exports have none of
  return type == kCommandList ? "Command list" : usual_word(NsysEnum::launch_type, std::int64_t{type} + 1);
}

std::string_view overhead_word(std::uint32_t kind) noexcept {
  constexpr std::uint32_t kBufferRequest = 7U << 16U, kUnifiedMemory = 8U << 16U;  // which exports have none of
  if (kind == 0) return "Unknown";
  if (kind == 1) return usual_word(NsysEnum::overhead, 2);
  if (kind == kBufferRequest) return "Buffer request (Profiler)";
  if (kind == kUnifiedMemory) return "Unified memory start (Profiler)";
  return kind >> 16U == 0 ? std::string_view() : usual_word(NsysEnum::overhead, std::int64_t{kind >> 16U} + 2);
}

std::string_view migration_word(std::uint32_t cause) noexcept {
  return cause == 0 ? "Unknown" : usual_word(NsysEnum::migration_cause, cause);
}

std::string_view access_word(std::uint32_t type) noexcept { return usual_word(NsysEnum::access_type, type); }

std::string_view pool_word(std::uint32_t operation) noexcept {
  return operation == 0 ? "Unknown" : usual_word(NsysEnum::pool_operation, operation);
}

std::string_view jit_entry_word(std::uint32_t entry) noexcept {
  static constexpr auto kWords = std::to_array<std::string_view>({"", "PTX to cubin", "NVVM IR to PTX"});
  return word_at(kWords, entry);
}

std::string_view jit_operation_word(std::uint32_t operation) noexcept {
  static constexpr auto kWords = std::to_array<std::string_view>({"", "load from cache", "store in cache", "compile"});
  return word_at(kWords, operation);
}

// What stands before the first bracket that is no part of a scope, behind the last scope and the return type before it.
std::string short_name(std::string_view name) {
  constexpr std::string_view kUnnamed = "(anonymous namespace)";
  std::size_t begin = 0;
  std::size_t end = name.size();
  int depth = 0;
  for (std::size_t i = 0; i < name.size(); ++i) {
    if (name.substr(i).starts_with(kUnnamed)) {
      i += kUnnamed.size() - 1;
    } else if (name[i] == '<') {
      if (depth++ == 0 && end == name.size()) end = i;
    } else if (name[i] == '>') {
      if (depth > 0) --depth;
    } else if (depth > 0) {
      continue;
    } else if (name[i] == '(') {
      return std::string(name.substr(begin, std::min(end, i) - begin));
    } else if (name[i] == ' ' || (name[i] == ':' && i > 0 && name[i - 1] == ':')) {
      begin = i + 1;
      end = name.size();
    }
  }
  return std::string(name.substr(begin, end - begin));
}

}  // namespace accelscope::capture::kinds::cuda
