// What a row of a trace is by the names that its process and thread have, where nothing else says so: many tools write
// what a device did as threads of a "process", each with a spelling of its own.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace accelscope::capture::sources::tracks {

struct DeviceRow {
  std::string device;     // "GPU 0"; without a number where the names have none
  std::string_view kind;  // of the track: stream, dma_queue, engine, collective or layer
  std::string row_title;  // what the process says beside the device, such as the kernel and core; "": nothing
};

// "GPU 0" of "/device:GPU:0", "gpu/0" and "GPU 0 - H100"; "GPU" of "CUDA functions"; nothing for a host's process.
[[nodiscard]] std::optional<std::string> device_of_process(std::string_view process);
// Nothing: by their names they are a process and a thread of a host.
[[nodiscard]] std::optional<DeviceRow> device_row(std::string_view process, std::string_view thread);

}  // namespace accelscope::capture::sources::tracks
