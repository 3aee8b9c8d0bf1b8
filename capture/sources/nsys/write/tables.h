// The tables of an export and what they become: those that all profiles of GPUs share first, with what nsys tells
// beyond in columns of its own names.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "core/model/column_spec.h"

namespace accelscope::capture::sources::nsys {

enum class NsysTable : std::uint8_t {
  kernel,
  memcpy,
  memset,
  cuda_sync,
  runtime_call,
  nvtx,
  cuda_graph,   // launches of whole graphs
  cuda_event,   // moments at which a device passed an event
  memory,       // allocations on devices
  memory_pool,  // what happens to pools of allocations
  page_fault,   // of unified memory
  osrt_call,    // of the system's libraries
  thread_state,
  cpu_sample,
  overhead,  // of the profiler
  diagnostic,
};
inline constexpr std::size_t kNsysTableCount = 16;

struct NsysTableRule {
  NsysTable table;
  SchemaSpec schema;                   // of those that are not common
  std::span<const ColumnSpec> common;  // "": the schema of the common table
  // Columns that are written as they are read: named as in the export. Strings are numbers of its strings there.
  std::span<const ColumnSpec> further;
};

[[nodiscard]] const NsysTableRule& nsys_rule(NsysTable table) noexcept;
[[nodiscard]] Schema nsys_schema(NsysTable table);
[[nodiscard]] std::string_view nsys_table_name(NsysTable table) noexcept;
// The place of the first further column.
[[nodiscard]] std::size_t nsys_further_place(NsysTable table) noexcept;

// Places of the columns before the further ones, of the tables that are nsys's own.
struct NvtxOwnColumns {
  static constexpr std::size_t message = 4, bytes = 5;
};
struct SyncOwnColumns {
  static constexpr std::size_t wait_on_stream = 6, record_call = 7;
};
struct GraphColumns {
  static constexpr std::size_t correlation = 0, device = 1, context = 2, stream = 3;
};
struct MemoryColumns {
  static constexpr std::size_t bytes = 0, address = 1, pool = 2, kind = 3, device = 4, context = 5, correlation = 6,
                               caller = 7;
};
struct PoolColumns {
  static constexpr std::size_t address = 0, device = 1, correlation = 2;
};
struct FaultColumns {
  static constexpr std::size_t address = 0, access = 1, source = 2;
};
struct OsrtColumns {
  static constexpr std::size_t kind = 0, stack = 1;
};
struct StateColumns {
  static constexpr std::size_t cpu = 0, reason = 1;
};
struct SampleColumns {
  static constexpr std::size_t stack = 0, state = 1;
};
struct OverheadColumns {
  static constexpr std::size_t kind = 0;
};
struct DiagnosticColumns {
  static constexpr std::size_t severity = 0, source = 1, timestamp = 2;
};
struct RuntimeOwnColumns {
  static constexpr std::size_t stack = 15;
};
struct KernelOwnColumns {
  static constexpr std::size_t launch_type = 18, cluster = 19;
};
struct TransferOwnColumns {
  static constexpr std::size_t cause = 8;
};

}  // namespace accelscope::capture::sources::nsys
