// Which tables the events of an XSpace become, and which stats are known by name.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

#include "core/model/column_spec.h"

namespace accelscope::capture::sources::xplane {

enum class XTable : std::uint8_t {
  kernel,
  memcpy,
  memset,
  runtime_call,
  nvtx,
  device_event,  // what else a GPU's stream says: memory that is mapped, overhead
  xla_op,        // of an accelerator that runs XLA programs
  xla_async_op,  // what runs beside them
  xla_module,    // programs
  step,
  xla_annotation,  // what the framework calls the same time
  host_event,
  python_function,
  memory,
  total,  // counts and sums without times
};
inline constexpr std::size_t kXTableCount = 15;

// Columns that the importer fills itself, beside those for stats.
enum class OwnColumn : std::uint8_t {
  hlo,    // the whole text of an operation that is shown by a short name
  layer,  // Role::layer
  bytes,  // Role::bytes: of an operation, counted once
  flops,  // Role::flops
  private_memory,
  occurrences,
  total_ps,
  start_ps,  // of events that do not begin, or last, whole ns
  dur_ps,
};
inline constexpr std::size_t kOwnColumnCount = 9;

struct XTableRule {
  SchemaSpec schema;
  std::span<const ColumnSpec> columns;  // that every table of its kind has
  std::span<const OwnColumn> own;       // those of OwnColumn that it may have
  std::string_view label;               // of its row among several of a host's thread
  int place = 0;                        // and where it stands among them
};
[[nodiscard]] const XTableRule& rule_of(XTable table) noexcept;
[[nodiscard]] const ColumnSpec& spec_of(OwnColumn column) noexcept;

// Stats that mean something to the importer.
enum class Stat : std::uint8_t {
  other,
  correlation,
  context,
  kernel_details,
  memcpy_details,
  memset_details,
  memory_details,  // of a GPU's allocations
  producer_type,
  producer,
  consumer_type,
  consumer,
  counter_value,
  category,
  tf_op,
  op_name,
  address,
  allocator,
  host_index,
  bytes_allocated,
  bytes_reserved,
  allocation_bytes,
  flops,
  bytes_accessed,
  source,
};
[[nodiscard]] Stat stat_of(std::string_view name) noexcept;
// The stat's column is one of the table's own.
[[nodiscard]] bool is_told_otherwise(Stat stat, XTable table) noexcept;
// What a column for a stat of that name says of itself; the name alone where nothing is known.
[[nodiscard]] ColumnSpec spec_of_stat(std::string_view name, XTable table) noexcept;

// Places of the columns of the table "memory".
struct MemoryColumns {
  static constexpr std::size_t bytes = 0, address = 1, allocated = 2, reserved = 3;
};

// What the ids of a flow are of: "TpuLaunch". The numbers are TraceMe's kinds of contexts.
[[nodiscard]] std::string_view name_of_context(std::int64_t type) noexcept;

}  // namespace accelscope::capture::sources::xplane
