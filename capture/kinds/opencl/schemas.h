// The tables of the kind `opencl`, and the places of their columns.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "capture/kinds/base/kind_list.h"

namespace accelscope::capture::kinds::opencl {

enum KernelColumn : std::size_t {
  kKernelCommand,
  kKernelGlobal,
  kKernelLocal,
  kKernelOffset,
  kKernelWorkItems,
  kKernelWorkGroups,
  kKernelArguments,
  kKernelSource,
  kKernelProgram,
  kKernelFirst,
  kKernelQueued,
  kKernelSubmitted,
  kKernelStatus,
};
enum TransferColumn : std::size_t {
  kTransferCommand,
  kTransferDirection,
  kTransferBytes,
  kTransferBandwidth,
  kTransferFrom,
  kTransferFromOffset,
  kTransferTo,
  kTransferToOffset,
  kTransferBlocking,
  kTransferQueued,
  kTransferSubmitted,
  kTransferStatus,
};
enum SyncColumn : std::size_t { kSyncCommand, kSyncQueued, kSyncSubmitted, kSyncStatus };
enum CallColumn : std::size_t { kCallCommand, kCallQueue, kCallSubject, kCallBytes, kCallResult };
enum BuildColumn : std::size_t {
  kBuildStep,
  kBuildProgram,
  kBuildKernel,
  kBuildDevice,
  kBuildOptions,
  kBuildResult,
  kBuildErrors,
  kBuildWarnings,
  kBuildLog,
};
enum MessageColumn : std::size_t { kMessageText, kMessageSource, kMessageProgram };
enum MemoryColumn : std::size_t { kMemoryKey, kMemoryBytes, kMemoryPool, kMemoryAddress, kMemoryFlags, kMemoryParent };
enum FlowColumn : std::size_t { kFlowSource, kFlowTarget };

enum class OpenclTable : std::size_t {
  kernels,
  transfers,
  maps,  // the columns of transfers
  syncs,
  calls,
  builds,
  errors,
  warnings,
  memory,
  flows,
};
extern const std::array<TableSpec, 10> kOpenclTables;

// "CL_INVALID_KERNEL_ARGS"; of what is not known the number.
[[nodiscard]] std::string status_name(std::int32_t status);
// "READ_WRITE | COPY_HOST_PTR"
[[nodiscard]] std::string memory_flags_text(std::uint64_t flags);

}  // namespace accelscope::capture::kinds::opencl
