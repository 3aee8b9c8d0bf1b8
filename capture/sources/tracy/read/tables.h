// The tables that Tracy's traces become, whether they come as they are or as what tracy-csvexport writes of them.
#pragma once

#include <cstdint>
#include <string_view>

#include "core/model/column_spec.h"

namespace accelscope::capture::sources::tracy {

// Places of columns, for whoever writes them.
struct ZoneColumns {
  static constexpr std::size_t source = 0, thread = 1, zone_name = 2, zone_text = 3, function = 4, callstack = 5;
};
struct GpuZoneColumns {
  static constexpr std::size_t source = 0, thread = 1, function = 2, correlation = 3, cpu_begin = 4, cpu_end = 5,
                               query = 6, callstack = 7;
};
struct GpuCallColumns {
  static constexpr std::size_t source = 0, thread = 1, correlation = 2;
};
struct GpuMarkerColumns {
  static constexpr std::size_t source = 0, kind = 1, meta = 2;
};
struct GpuNoteColumns {
  static constexpr std::size_t context = 0, query = 1, value = 2;
};
struct MessageColumns {
  static constexpr std::size_t message = 0, thread = 1, severity = 2, callstack = 3;
};
struct FrameColumns {
  static constexpr std::size_t number = 0;
};
struct LockColumns {
  static constexpr std::size_t source = 0, thread = 1, lock = 2;
};
struct MemoryColumns {
  static constexpr std::size_t bytes = 0, address = 1, pool = 2, thread = 3, callstack = 4;
};
struct SampleColumns {
  static constexpr std::size_t callstack = 0, at_switch = 1;
};
struct CallstackColumns {
  static constexpr std::size_t callstack = 0, stack = 1;
};
struct SwitchColumns {
  static constexpr std::size_t cpu = 0, waited = 1, reason = 2, state = 3, wakeup_cpu = 4;
};
struct CpuColumns {
  static constexpr std::size_t thread = 0;
};

enum class TracyTableKind : std::uint8_t {
  zone,
  gpu_zone,
  gpu_call,
  gpu_marker,
  gpu_note,
  message,
  frame,
  section,
  lock,
  plot,
  memory,
  sample,
  callstack,
  context_switch,
  cpu,
};
inline constexpr std::size_t kTracyTableKinds = 15;

// All columns of the table.
[[nodiscard]] Schema tracy_table(TracyTableKind kind);
// None but those asked for, in their order; columns of other names hold texts. For tables that have some only.
[[nodiscard]] Schema tracy_table_without_columns(TracyTableKind kind, std::string_view name_column);
[[nodiscard]] Column tracy_column(TracyTableKind kind, std::string_view name);

// What a message is called: the operation of tt-metal's "TT_DNN_DEVICE_OP: ...", else its beginning.
[[nodiscard]] std::string message_name(std::string_view text);

}  // namespace accelscope::capture::sources::tracy
