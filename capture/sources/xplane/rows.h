// What planes and lines are by their names, and so where their events are shown.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "capture/sources/xplane/tables.h"

namespace accelscope::capture::sources::xplane {

enum class PlaneKind : std::uint8_t {
  gpu,
  tpu,           // and other devices that run whole XLA programs
  device_notes,  // tells of a device, in rows that are nobody's work: a chip's shared parts, traces from inside a
                 // kernel
  host,
  runtime,  // calls of CUDA's or ROCm's runtime
  nvtx,
  environment,  // when the profile was taken
};

struct PlaneRole {
  PlaneKind kind = PlaneKind::host;
  std::string device;  // "TPU 0", as tracks name it; "" of a host
  std::string part;    // "SparseCore 1" of the device; "": its main part
  std::int64_t ordinal = -1;
};
[[nodiscard]] PlaneRole role_of_plane(std::string_view name);
// Whether a plane could be called so: for telling files apart.
[[nodiscard]] bool is_plane_name(std::string_view name) noexcept;

enum class LineClass : std::uint8_t {
  stream,
  ops,        // that occupy the device one after another, and within one another
  async_ops,  // transfers and collectives beside them
  waits,
  notes,  // others' time under other names: modules, steps, scopes
  counters,
  thread,
  calls,     // a thread's, of the runtime
  ranges,    // a thread's, of NVTX
  profiler,  // what the profiler itself costs
};

struct LineRole {
  LineClass of = LineClass::notes;
  XTable table = XTable::xla_annotation;  // that its events are of, unless they say otherwise
  std::string name;                       // of its row, or of its thread
  std::int64_t place = 0;                 // among the rows of its device
  std::optional<std::int64_t> stream;
};
[[nodiscard]] LineRole role_of_line(const PlaneRole& plane, std::string_view name, std::int64_t id);

// By an operation's category, "all-reduce", "all-gather fusion", or by its name where it has none.
[[nodiscard]] bool is_collective_op(std::string_view category) noexcept;
// "copy-start", "copy-done": where an operation that runs beside others begins, and where it is waited for.
[[nodiscard]] bool is_async_begin(std::string_view category) noexcept;
[[nodiscard]] bool is_async_end(std::string_view category) noexcept;
// "while", "conditional", "call": their time and their costs are those of the operations inside.
[[nodiscard]] bool is_holder_op(std::string_view category) noexcept;
[[nodiscard]] bool names_wait(std::string_view name) noexcept;  // "dependency-wait", "barrier-cores"

// "jit(f)/dense/dot_general" of "jit(f)/dense/dot_general:XlaModule"; "" where it names no place in a model.
[[nodiscard]] std::string_view layer_of_op(std::string_view tf_op) noexcept;

}  // namespace accelscope::capture::sources::xplane
