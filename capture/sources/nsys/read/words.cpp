#include "capture/sources/nsys/read/words.h"

#include <algorithm>
#include <array>
#include <iterator>

#include "core/base/text.h"

namespace accelscope::capture::sources::nsys {
namespace {

struct EnumTable {
  NsysEnum family;
  std::string_view table;  // "": none
};
constexpr EnumTable kEnumTables[] = {
    {NsysEnum::copy_kind, ""},  // its words are those of the driver, which are shorter
    {NsysEnum::memory_kind, "ENUM_CUDA_MEM_KIND"},
    {NsysEnum::sync_type, ""},
    {NsysEnum::launch_type, "ENUM_CUDA_KERNEL_LAUNCH_TYPE"},
    {NsysEnum::launch_type, "ENUM_CUDA_KRENEL_LAUNCH_TYPE"},  // as versions until 2025 spell it
    {NsysEnum::cache_config, "ENUM_CUDA_FUNC_CACHE_CONFIG"},
    {NsysEnum::overhead, "ENUM_CUPTI_OVERHEAD_TYPE"},
    {NsysEnum::event_class, "ENUM_NSYS_EVENT_CLASS"},
    {NsysEnum::migration_cause, "ENUM_CUDA_UNIF_MEM_MIGRATION"},
    {NsysEnum::access_type, "ENUM_CUDA_UNIF_MEM_ACCESS_TYPE"},
    {NsysEnum::pool_operation, "ENUM_CUDA_MEMPOOL_OPER"},
    {NsysEnum::thread_state, "ENUM_SAMPLING_THREAD_STATE"},
    {NsysEnum::thread_block, "ENUM_SCHEDULING_THREAD_BLOCK"},
    {NsysEnum::severity, "ENUM_DIAGNOSTIC_SEVERITY_LEVEL"},
    {NsysEnum::message_source, "ENUM_DIAGNOSTIC_SOURCE_TYPE"},
};

struct EnumWord {
  NsysEnum family;
  std::int64_t number;
  std::string_view word;
};
// As PyTorch's profiler, which reads the same driver, spells copies and waits.
constexpr EnumWord kEnumWords[] = {
    {NsysEnum::copy_kind, 0, "Unknown"},
    {NsysEnum::copy_kind, 1, "HtoD"},
    {NsysEnum::copy_kind, 2, "DtoH"},
    {NsysEnum::copy_kind, 3, "HtoA"},
    {NsysEnum::copy_kind, 4, "AtoH"},
    {NsysEnum::copy_kind, 5, "AtoA"},
    {NsysEnum::copy_kind, 6, "AtoD"},
    {NsysEnum::copy_kind, 7, "DtoA"},
    {NsysEnum::copy_kind, 8, "DtoD"},
    {NsysEnum::copy_kind, 9, "HtoH"},
    {NsysEnum::copy_kind, 10, "PtoP"},
    {NsysEnum::copy_kind, 11, "Unified HtoD"},
    {NsysEnum::copy_kind, 12, "Unified DtoH"},
    {NsysEnum::copy_kind, 13, "Unified DtoD"},
    {NsysEnum::memory_kind, 0, "Pageable"},
    {NsysEnum::memory_kind, 1, "Pinned"},
    {NsysEnum::memory_kind, 2, "Device"},
    {NsysEnum::memory_kind, 3, "Array"},
    {NsysEnum::memory_kind, 4, "Managed"},
    {NsysEnum::memory_kind, 5, "Device Static"},
    {NsysEnum::memory_kind, 6, "Managed Static"},
    {NsysEnum::memory_kind, 7, "Unknown"},
    {NsysEnum::sync_type, 0, "Sync"},
    {NsysEnum::sync_type, 1, "Event Sync"},
    {NsysEnum::sync_type, 2, "Stream Wait Event"},
    {NsysEnum::sync_type, 3, "Stream Sync"},
    {NsysEnum::sync_type, 4, "Context Sync"},
    {NsysEnum::launch_type, 0, "Unknown"},
    {NsysEnum::launch_type, 1, "Regular"},
    {NsysEnum::launch_type, 2, "Coop Single Device"},
    {NsysEnum::launch_type, 3, "Coop Multi Device"},
    {NsysEnum::cache_config, 0, "None"},
    {NsysEnum::cache_config, 1, "Shared"},
    {NsysEnum::cache_config, 2, "L1"},
    {NsysEnum::cache_config, 3, "Equal"},
    {NsysEnum::overhead, 0, "Undefined"},
    {NsysEnum::overhead, 1, "Unknown"},
    {NsysEnum::overhead, 2, "Driver JIT compiler (CUDA)"},
    {NsysEnum::overhead, 3, "Buffer flush (Profiler)"},
    {NsysEnum::overhead, 4, "Instrumentation (Profiler)"},
    {NsysEnum::overhead, 5, "Resource creation/destruction (Profiler)"},
    {NsysEnum::overhead, 6, "Runtime module loading (CUDA)"},
    {NsysEnum::overhead, 7, "Lazy function loading (CUDA)"},
    {NsysEnum::overhead, 8, "Command buffer full (CUDA)"},
    {NsysEnum::event_class, 0, "CUDA runtime"},
    {NsysEnum::event_class, 1, "CUDA driver"},
    {NsysEnum::event_class, 13, "CUDA EGL driver"},
    {NsysEnum::event_class, 26, "CUDA API"},
    {NsysEnum::event_class, 27, "OSRT runtime"},
    {NsysEnum::event_class, 31, "OSRT start"},
    {NsysEnum::event_class, 32, "OSRT finish"},
    {NsysEnum::migration_cause, 1, "User prefetch"},
    {NsysEnum::migration_cause, 2, "Page fault"},
    {NsysEnum::migration_cause, 3, "Speculative prefetch"},
    {NsysEnum::migration_cause, 4, "Eviction"},
    {NsysEnum::migration_cause, 5, "Access counters"},
    {NsysEnum::access_type, 0, "Unknown"},
    {NsysEnum::access_type, 1, "Read"},
    {NsysEnum::access_type, 2, "Write"},
    {NsysEnum::access_type, 3, "Atomic"},
    {NsysEnum::access_type, 4, "Prefetch"},
    {NsysEnum::pool_operation, 1, "Created"},
    {NsysEnum::pool_operation, 2, "Destroyed"},
    {NsysEnum::pool_operation, 3, "Trimmed"},
    {NsysEnum::thread_state, 1, "Running"},
    {NsysEnum::thread_state, 2, "Interruptible"},
    {NsysEnum::thread_state, 3, "Uninterruptible"},
    {NsysEnum::thread_state, 4, "Stopped"},
    {NsysEnum::thread_state, 5, "Terminated"},
    {NsysEnum::thread_state, 6, "Unscheduled"},
    {NsysEnum::thread_state, 7, "Waiting"},
    {NsysEnum::thread_state, 8, "OS runtime"},
    {NsysEnum::severity, 1, "Info"},
    {NsysEnum::severity, 2, "Warning"},
    {NsysEnum::severity, 3, "Error"},
    {NsysEnum::severity, 4, "Verbose"},
    {NsysEnum::message_source, 1, "Injection"},
    {NsysEnum::message_source, 2, "Daemon"},
    {NsysEnum::message_source, 3, "Analysis"},
};

constexpr std::size_t kMostEnumRows = 4096;  // of a table: a broken file may hold anything

}  // namespace

std::string_view usual_word(NsysEnum family, std::int64_t number) noexcept {
  const auto* const found = std::find_if(std::begin(kEnumWords), std::end(kEnumWords), [&](const EnumWord& each) {
    return each.family == family && each.number == number;
  });
  return found == std::end(kEnumWords) ? std::string_view() : found->word;
}

void NsysWords::read(const sqlite::ForeignDatabase& file) {
  for (const EnumWord& each : kEnumWords) words_[{each.family, each.number}] = each.word;
  for (const EnumTable& each : kEnumTables) {
    if (each.table.empty()) continue;
    Result<sqlite::ForeignRows> rows = file.rows(each.table, {"id", "label", "name"});
    for (std::size_t count = 0; rows && count < kMostEnumRows && rows->next(); ++count) {
      const std::string_view word = rows->text(rows->text(1).empty() ? 2 : 1);
      if (rows->has(0) && !word.empty()) words_[{each.family, rows->integer(0)}] = word;
    }
  }
}

std::string_view NsysWords::word(NsysEnum family, std::int64_t number) const {
  const auto found = words_.find({family, number});
  return found == words_.end() ? std::string_view{} : std::string_view(found->second);
}

std::string_view without_version(std::string_view function) noexcept {
  const std::size_t at = function.rfind("_v");
  if (at == std::string_view::npos || at + 2 == function.size()) return function;
  const std::string_view digits = function.substr(at + 2);
  return std::all_of(digits.begin(), digits.end(), is_digit) ? function.substr(0, at) : function;
}

std::string_view without_operator_id(std::string_view range) noexcept {
  // "NAME, seq = N, sizes = [...], op_id = N", of which any may be absent.
  constexpr std::array<std::string_view, 3> kFields = {", op_id = ", ", seq = ", ", sizes = ["};
  std::size_t end = range.size();
  for (const std::string_view field : kFields) end = std::min(end, range.find(field));
  return range.substr(0, end);
}

bool is_collective_kernel_name(std::string_view kernel) noexcept {
  if (kernel.starts_with("void ")) kernel.remove_prefix(5);
  return kernel.starts_with("nccl") || kernel.starts_with("rccl") || kernel.starts_with("mscclKernel");
}

}  // namespace accelscope::capture::sources::nsys
