// What calls of a host mean to a device, by their names: the words of frameworks and drivers are a table. Those that
// compile are in core/analysis/compilation/compile_events.h.
#pragma once

#include <cstdint>
#include <string_view>

namespace accelscope::analysis {

enum class HostCallKind : std::uint8_t {
  other,
  loads_data,    // the next batch is made
  synchronises,  // waits until the device is done
  frees,         // gives memory of the device back or takes it, which waits until the device is done
};

// Between the memory of the host and that of a device.
enum class CopyDirection : std::uint8_t { other, to_device, to_host };
struct CopyWords {
  CopyDirection direction = CopyDirection::other;
  bool pageable = false;  // of the host's memory: the driver copies it once more
  bool migrates = false;  // pages of unified memory follow who touches them
};

[[nodiscard]] HostCallKind host_call_kind(std::string_view name) noexcept;
// Of a copy by its name: "Memcpy HtoD (Pageable -> Device)".
[[nodiscard]] CopyWords copy_words(std::string_view name) noexcept;
// A call that starts a graph of kernels that was captured before.
[[nodiscard]] bool replays_graph(std::string_view name) noexcept;

}  // namespace accelscope::analysis
