#include "capture/kinds/tt_metal/settings.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>

#include "capture/system/descriptor.h"

namespace accelscope::capture::kinds::tt_metal {
namespace {

namespace fs = std::filesystem;

// Places of the bits: tt-metal's technical documentation of its performance counters.
struct CounterGroup {
  std::string_view name;
  unsigned bit;
};
constexpr std::array kCounterGroups = {
    CounterGroup{"fpu", 0},  CounterGroup{"pack", 1}, CounterGroup{"unpack", 2},
    CounterGroup{"l1_0", 3}, CounterGroup{"l1_1", 4}, CounterGroup{"instrn", 5},
    CounterGroup{"l1_2", 6}, CounterGroup{"l1_3", 7}, CounterGroup{"l1_4", 8},
};

struct SettingSwitch {
  const char* option;
  const char* variable;
  const char* explanation;
};
constexpr std::array kSettingSwitches = {
    SettingSwitch{"noc-traces", "TT_METAL_DEVICE_PROFILER_NOC_EVENTS",
                  "Records transfers on the network on chip; slows kernels and fills the device's buffers sooner."},
    SettingSwitch{"dispatch-cores", "TT_METAL_DEVICE_PROFILER_DISPATCH",
                  "Profiles the cores that dispatch programs as well."},
    SettingSwitch{
        "mid-run-dump", "TT_METAL_PROFILER_MID_RUN_DUMP",
        "Reads the device's buffers also during the run: the log grows while it runs, and programs wait meanwhile."},
    SettingSwitch{"sync", "TT_METAL_PROFILER_SYNC",
                  "Relates the device's clock to the host's at the begin and the end, which takes a second each."},
    SettingSwitch{"trace-runs", "TT_METAL_TRACE_PROFILER",
                  "Times replays of captured traces; not together with --mid-run-dump."},
};

[[nodiscard]] Result<unsigned> counter_bits(const std::vector<std::string>& groups) {
  unsigned bits = 0;
  for (const std::string& given : groups) {
    for (std::size_t at = 0; at <= given.size();) {
      const std::size_t comma = std::min(given.find(',', at), given.size());
      const std::string name = given.substr(at, comma - at);
      at = comma + 1;
      const auto found = std::find_if(kCounterGroups.begin(), kCounterGroups.end(),
                                      [&](const CounterGroup& group) { return group.name == name; });
      if (found != kCounterGroups.end()) {
        bits |= 1U << found->bit;
        continue;
      }
      std::string names;
      for (const CounterGroup& group : kCounterGroups) names += (names.empty() ? "" : ", ") + std::string(group.name);
      return Error{fmt::format("--perf-counters: there is no group '{}'; there are {}", name, names)};
    }
  }
  return bits;
}

// Reads the file through once; libraries have some 100 MB.
[[nodiscard]] bool holds(const fs::path& path, std::string_view text) {
  std::ifstream file(path, std::ios::binary);
  std::string window;
  std::vector<char> buffer(1U << 20);
  while (file.read(buffer.data(), static_cast<std::streamsize>(buffer.size())) || file.gcount() > 0) {
    window.append(buffer.data(), static_cast<std::size_t>(file.gcount()));
    if (window.find(text) != std::string::npos) return true;
    window.erase(0, window.size() - std::min(window.size(), text.size()));
  }
  return false;
}

}  // namespace

LookUp environment_of(const request::CaptureRequest& request) {
  return
      [settings = request.environment](const std::string& name) { return system::environment_value(name, settings); };
}

std::vector<request::KindOption> tt_metal_options() {
  std::vector<request::KindOption> options;
  for (const SettingSwitch& one : kSettingSwitches)
    options.push_back({one.option, request::OptionType::flag, "off", one.explanation});
  options.push_back({"op-support-count", request::OptionType::count, "",
                     "Programs that the device's buffers have room for between two reads; tt-metal's own default is "
                     "1000, further ones are lost."});
  options.push_back({.name = "perf-counters",
                     .type = request::OptionType::text,
                     .explanation = "Groups of performance counters, such as fpu,pack,unpack: three at most, and one "
                                    "of the l1_ ones.",
                     .repeats = true});
  options.push_back({.name = "source-root",
                     .type = request::OptionType::file,
                     .explanation = "A folder in which the kernels' source files are looked for.",
                     .repeats = true});
  return options;
}

Result<std::vector<std::string>> tt_metal_environment(const request::OptionReader& options) {
  std::vector<std::string> settings = {"TT_METAL_DEVICE_PROFILER=1"};
  for (const SettingSwitch& one : kSettingSwitches) {
    if (options.flag(one.option)) settings.push_back(fmt::format("{}=1", one.variable));
  }
  if (options.flag("mid-run-dump") && options.flag("trace-runs")) {
    return Error{"--mid-run-dump: cannot be combined with --trace-runs; leave one of them out"};
  }
  if (options.has("op-support-count")) {
    settings.push_back(fmt::format("TT_METAL_PROFILER_PROGRAM_SUPPORT_COUNT={}", options.count("op-support-count")));
  }
  if (options.has("perf-counters")) {
    const unsigned bits = TRY(counter_bits(options.texts("perf-counters")));
    settings.push_back(fmt::format("TT_METAL_PROFILE_PERF_COUNTERS={}", bits));
  }
  return settings;
}

Result<void> accept_tt_metal_options(const request::OptionReader& options) {
  const Result<std::vector<std::string>> settings = tt_metal_environment(options);
  return settings ? Result<void>() : settings.error();
}

std::vector<std::string> device_log_places(const LookUp& environment) {
  if (const std::string folder = environment("TT_METAL_PROFILER_DIR"); !folder.empty())
    return device_log_places(folder);
  const std::string home = environment("TT_METAL_HOME");
  if (home.empty()) return {};
  return {(fs::path(home) / "generated" / "profiler" / ".logs" / kDeviceLogName).string()};
}

std::vector<std::string> device_log_places(const std::string& named) {
  const fs::path path(named);
  std::error_code failure;
  if (path.extension() == ".csv" && !fs::is_directory(path, failure)) return {named};
  if (fs::is_regular_file(path, failure)) return {named};
  return {(path / ".logs" / kDeviceLogName).string(), (path / kDeviceLogName).string()};
}

BuildFinding find_profiler_build(const LookUp& environment) {
  const std::string home = environment("TT_METAL_HOME");
  if (home.empty()) return {};
  for (const char* place : {"build/lib/libtt_metal.so", "build/lib64/libtt_metal.so", "build/tt_metal/libtt_metal.so",
                            "build_Release/lib/libtt_metal.so", "build_Release/tt_metal/libtt_metal.so"}) {
    const fs::path library = fs::path(home) / place;
    std::error_code failure;
    if (!fs::is_regular_file(library, failure)) continue;
    return {holds(library, kDeviceLogName) ? ProfilerBuild::present : ProfilerBuild::absent, library.string()};
  }
  return {};
}

std::string how_to_get_profiler() {
  return "build tt-metal with its profiler: ./build_metal.sh --enable-profiler, or cmake -DENABLE_TRACY=ON; newer "
         "versions have it unless they were built without";
}

Error no_log_appeared(const std::string& place) {
  return Error{fmt::format(
      "{}: no device log has appeared: no program opened a device with TT_METAL_DEVICE_PROFILER=1 and closed it again, "
      "its output to files was switched off, or tt-metal was built without the profiler; {}",
      place, how_to_get_profiler())};
}

}  // namespace accelscope::capture::kinds::tt_metal
