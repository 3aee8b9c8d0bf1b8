// Which table of the session an event of a Chrome JSON trace goes to, by its category, and the columns that are known
// of each table. Categories and fields are those of PyTorch's profiler (Kineto) since 2021; everything else goes to
// the table "event". Column names are the vendor's own keys of "args".
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/model/column_spec.h"

namespace accelscope::capture::sources::chrome {

enum class ChromeTable : std::uint8_t {
  event,  // any category that is not known
  kernel,
  memcpy,
  memset,
  runtime_call,
  cpu_op,
  user_annotation,
  gpu_user_annotation,
  python_function,
  overhead,
  sync,
  collective,
  mtia_event,
  hpu_op,
  range,
  device_event,  // of other accelerators
  trace_span,
  instant,       // i, I, R and n of any category
  memory,        // the "[memory]" instants
  thread_state,  // T with a duration: what the scheduler did with a thread
};
inline constexpr std::size_t kChromeTableCount = 20;

// Where the events of a table are drawn.
enum class TablePlace : std::uint8_t {
  host_thread,
  stream,      // of a device
  dma_queue,   // transfers of a stream
  annotation,  // ranges of the program as the device went through them
  barrier,     // waits on a device
  collective,
  memory,
};

struct ChromeTableRule {
  ChromeTable table;
  std::string_view schema;  // the SQL table
  EventKind kind;
  TablePlace place;
  std::string_view label;  // what a thread's row of these events is called beside the others of that thread
  int order;               // among the rows of a thread
};

[[nodiscard]] const ChromeTableRule& rule_of(ChromeTable table) noexcept;
[[nodiscard]] ChromeTable table_of_category(std::string_view category) noexcept;
// Of an event whose category says nothing, by arguments that only work of a device has: those of XLA's profiler.
[[nodiscard]] ChromeTable table_of_args(std::string_view args) noexcept;
// Flows that lead from a runtime call to what it started on the device; their id is the correlation of both.
[[nodiscard]] bool is_launch_flow(std::string_view category) noexcept;

[[nodiscard]] std::span<const ColumnSpec> known_columns(ChromeTable table) noexcept;
// Which columns of allocations are what, by the names of arguments: of traces that were exported from a session. Of
// several names for one role the first is the column's.
using AllocationColumns = std::vector<std::pair<Role, std::string>>;
[[nodiscard]] Column allocation_column(Role role, const std::string& name);
// What PyTorch tells of collectives, of the operator and the kernel alike: known wherever they first come in the file.
[[nodiscard]] std::span<const ColumnSpec> collective_columns(ChromeTable table) noexcept;
// Names of events that only wait: of calls, for what they have started before; of a device, for others of its streams.
[[nodiscard]] std::span<const std::string_view> waiting_names(ChromeTable table) noexcept;

}  // namespace accelscope::capture::sources::chrome
