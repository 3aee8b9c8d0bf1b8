// Names that tools give to the rows of a device's queues: rocprofv3's "COMPUTE AGENT [2] QUEUE [0] GPU", "COPY to AGENT
// [2] THREAD [1] (GPU)" and "STREAM [3]"; engines and queues of neuron-profile.
#pragma once

#include <string>
#include <string_view>

#include "capture/sources/chrome/read/tables.h"

namespace accelscope::capture::sources::perfetto {

struct DeviceName {
  std::string_view begin;
  std::string_view within;  // "": anything
  std::string_view kind;    // of the row
  chrome::ChromeTable table;
};

// Null: a row of the host, or a plain one.
[[nodiscard]] const DeviceName* device_of_track(std::string_view name) noexcept;
// "GPU 2" of "COMPUTE AGENT [2] QUEUE [0] GPU"; "GPU" where the name tells no number.
[[nodiscard]] std::string device_label(std::string_view name);
// Where events of a category of rocprofv3 go.
[[nodiscard]] chrome::ChromeTable table_of_tool_category(std::string_view category) noexcept;

}  // namespace accelscope::capture::sources::perfetto
