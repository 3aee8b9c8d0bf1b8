// Memory of devices: allocations, the driver's pools, pages that were not there.
#include <fmt/format.h>

#include <array>

#include "capture/sources/nsys/importer.h"

namespace accelscope::capture::sources::nsys {
namespace {

enum MemoryField : std::size_t {
  kMemoryStart,
  kMemoryProcess,
  kMemoryDevice,
  kMemoryContext,
  kMemoryAddress,
  kMemoryBytes,
  kMemoryKind,
  kMemoryOperation,
  kMemoryName,
  kMemoryCorrelation,
  kMemoryFields
};
constexpr std::array<std::string_view, kMemoryFields> kMemoryFieldNames = {
    "start",   "globalPid",           "deviceId", "contextId",    "address", "bytes",
    "memKind", "memoryOperationType", "name",     "correlationId"};

constexpr std::int64_t kPageable = 0, kPinned = 1, kDeviceMemory = 2;
constexpr std::int64_t kAllocates = 0;

[[nodiscard]] bool is_of_host(std::int64_t kind) noexcept { return kind == kPageable || kind == kPinned; }

}  // namespace

// Allocations of processes and contexts that share a device lie in pools of their own, as their addresses do.
StringId NsysImporter::pool_name(const Row& row, std::int64_t gpu) {
  const std::int64_t kind = row.has(kMemoryKind) ? row.integer(kMemoryKind) : kDeviceMemory;
  const std::uint64_t process = process_key_of(row.integer(kMemoryProcess));
  std::string name = "memory";
  if (is_of_host(kind)) {
    name = fmt::format("{} host memory, {}", words_.word(NsysEnum::memory_kind, kind), facts_.process_label(process));
  } else if (kind != kDeviceMemory) {
    name = fmt::format("{} memory", words_.word(NsysEnum::memory_kind, kind));
  }
  const auto users = std::count_if(memory_users_.begin(), memory_users_.end(),
                                   [&](const auto& user) { return std::get<0>(user) == gpu; });
  if (!is_of_host(kind) && users > 1) {
    name += fmt::format(", {}, context {}", facts_.process_label(process), row.integer(kMemoryContext));
  }
  return session_.intern(name);
}

void NsysImporter::read_memory() {
  constexpr std::string_view kTable = "CUDA_GPU_MEMORY_USAGE_EVENTS";
  const auto gpu_of = [&](const auto& row) {
    return facts_.gpu_of(process_key_of(row.integer(kMemoryProcess)), row.integer(kMemoryDevice));
  };
  Result<sqlite::ForeignRows> users = file_.rows(kTable, kMemoryFieldNames);
  while (users && users->next()) {
    if (is_of_host(users->has(kMemoryKind) ? users->integer(kMemoryKind) : kDeviceMemory)) continue;
    memory_users_.emplace(gpu_of(*users), process_key_of(users->integer(kMemoryProcess)),
                          users->integer(kMemoryContext));
  }
  const StringId allocation = session_.intern("allocation");
  const StringId release = session_.intern("release");
  each_row(kTable, NsysTable::memory, kMemoryFieldNames, [&](const Row& row) {
    const auto start = row.number(kMemoryStart);
    if (!start) {
      ++counts_.missing_times;
      return;
    }
    values_.clear();
    const bool allocates = row.integer(kMemoryOperation) == kAllocates;
    const std::int64_t bytes = std::max<std::int64_t>(row.integer(kMemoryBytes), 0);
    const std::int64_t kind = row.has(kMemoryKind) ? row.integer(kMemoryKind) : kDeviceMemory;
    values_.integer(MemoryColumns::bytes, allocates ? bytes : -bytes);
    if (row.has(kMemoryAddress)) {
      values_.unsigned_integer(MemoryColumns::address, static_cast<std::uint64_t>(row.integer(kMemoryAddress)));
    }
    values_.string(MemoryColumns::pool, pool_name(row, gpu_of(row)));
    set_word(MemoryColumns::kind, NsysEnum::memory_kind, kind);
    set_number(MemoryColumns::device, row, kMemoryDevice);
    set_number(MemoryColumns::context, row, kMemoryContext);
    set_number(MemoryColumns::correlation, row, kMemoryCorrelation);
    if (row.has(kMemoryName)) {
      const auto number = row.number(kMemoryName);
      values_.string(MemoryColumns::caller, number ? strings_.intern(*number) : session_.intern(row.text(kMemoryName)));
    }
    set_further(NsysTable::memory, row, kMemoryFields);
    saw(*start);
    session_.write(rows_.memory(is_of_host(kind) ? -1 : gpu_of(row), false), *start, 0,
                   allocates ? allocation : release, values_);
  });
}

void NsysImporter::read_memory_pools() {
  constexpr std::array<std::string_view, 6> kFields = {"start",   "globalPid",     "deviceId",
                                                       "address", "operationType", "correlationId"};
  each_row("CUDA_GPU_MEMORY_POOL_EVENTS", NsysTable::memory_pool, kFields, [&](const Row& row) {
    const auto start = row.number(0);
    if (!start) {
      ++counts_.missing_times;
      return;
    }
    values_.clear();
    values_.unsigned_integer(PoolColumns::address, static_cast<std::uint64_t>(row.integer(3)));
    set_number(PoolColumns::device, row, 2);
    set_number(PoolColumns::correlation, row, 5);
    set_further(NsysTable::memory_pool, row, kFields.size());
    const std::string_view word = words_.word(NsysEnum::pool_operation, row.integer(4));
    saw(*start);
    session_.write(rows_.memory(facts_.gpu_of(process_key_of(row.integer(1)), row.integer(2)), true), *start, 0,
                   session_.intern(word.empty() ? "Unknown" : word), values_);
  });
}

void NsysImporter::read_page_faults() {
  const auto write = [&](const Row& row, std::string name) {
    const auto start = row.number(0);
    if (!start) {
      ++counts_.missing_times;
      return;
    }
    values_.clear();
    values_.unsigned_integer(FaultColumns::address, static_cast<std::uint64_t>(row.integer(2)));
    if (row.has(4)) set_word(FaultColumns::access, NsysEnum::access_type, row.integer(4));
    if (row.has(5) && row.has(6)) {
      const auto file = row.number(5);
      const std::string path(file ? strings_.text(*file) : row.text(5));
      if (!path.empty()) {
        values_.string(FaultColumns::source, session_.intern(fmt::format("{}:{}", path, row.integer(6))));
      }
    }
    set_further(NsysTable::page_fault, row, 7);
    saw(*start);
    session_.write(rows_.faults(process_key_of(row.integer(1))), *start, 0, session_.intern(name), values_);
  };
  constexpr std::array<std::string_view, 7> kOfCpu = {"start",           "globalPid",  "address",   "deviceId",
                                                      "faultAccessType", "sourceFile", "sourceLine"};
  each_row("CUDA_UM_CPU_PAGE_FAULT_EVENTS", NsysTable::page_fault, kOfCpu,
           [&](const Row& row) { write(row, "CPU page fault"); });
  each_row("CUDA_UM_GPU_PAGE_FAULT_EVENTS", NsysTable::page_fault, kOfCpu, [&](const Row& row) {
    write(row, fmt::format("{} page fault",
                           rows_.device_label(facts_.gpu_of(process_key_of(row.integer(1)), row.integer(3)))));
  });
}

}  // namespace accelscope::capture::sources::nsys
