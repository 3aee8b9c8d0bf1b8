// What tt-metal's profiler is told by a program's environment, and where it then writes. Shared by the kinds that
// follow a device log and that run a command for it.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "capture/request/options.h"

namespace accelscope::capture::kinds::tt_metal {

inline constexpr const char* kDeviceLogName = "profile_log_device.csv";

// The value of a variable that a program will have; "": not set.
using LookUp = std::function<std::string(const std::string& name)>;
// What the request sets, else what this process has.
[[nodiscard]] LookUp environment_of(const request::CaptureRequest& request);

// noc-traces, dispatch-cores, mid-run-dump, sync, trace-runs, op-support-count, perf-counters, source-root.
[[nodiscard]] std::vector<request::KindOption> tt_metal_options();
// Fails on counters that there are not, and on what cannot be combined.
[[nodiscard]] Result<void> accept_tt_metal_options(const request::OptionReader& options);
// "NAME=VALUE" of the options, with the device's profiler on. Fails on counters that there are not.
[[nodiscard]] Result<std::vector<std::string>> tt_metal_environment(const request::OptionReader& options);

// Where the log may appear for a program with this environment, the likeliest place first; none if nothing says it.
[[nodiscard]] std::vector<std::string> device_log_places(const LookUp& environment);
// A file, or a folder in which it may appear.
[[nodiscard]] std::vector<std::string> device_log_places(const std::string& named);

enum class ProfilerBuild { unknown, present, absent };
struct BuildFinding {
  ProfilerBuild build = ProfilerBuild::unknown;
  std::string library;  // that tells it
};
// By the library of the tt-metal that TT_METAL_HOME names: one without its profiler does not hold the log's name.
[[nodiscard]] BuildFinding find_profiler_build(const LookUp& environment);
[[nodiscard]] std::string how_to_get_profiler();
[[nodiscard]] Error no_log_appeared(const std::string& place);

}  // namespace accelscope::capture::kinds::tt_metal
