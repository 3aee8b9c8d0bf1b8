// Stands in for a command that uses tt-metal, in tests: it reads the profiler's environment and writes a device log as
// tt-metal does, from generated rows. It has nothing of a device.
//
//   tt_metal_stand_in [--programs N] [--status N] [--crash] [--no-profiler] [--tracy-table]
#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "tests/support/tt_log_generator.h"

namespace {

namespace fs = std::filesystem;
using accelscope::test::TtLogOptions;

struct Arguments {
  TtLogOptions log;
  int status = 0;
  bool crash = false;        // in the middle of a row
  bool no_profiler = false;  // as a build without it
  bool tracy_table = false;  // host zones, as a run under Tracy leaves them
};

std::string variable(const char* name) {
  const char* const value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): one thread
  return value == nullptr ? "" : value;
}

Arguments read_arguments(int count, char** values) {
  Arguments arguments;
  for (int i = 1; i < count; ++i) {
    const std::string name = values[i];
    if (name == "--crash") arguments.crash = true;
    if (name == "--no-profiler") arguments.no_profiler = true;
    if (name == "--tracy-table") arguments.tracy_table = true;
    if (name == "--programs" && i + 1 < count)
      arguments.log.programs = static_cast<std::uint32_t>(std::stoul(values[++i]));
    if (name == "--status" && i + 1 < count) arguments.status = std::stoi(values[++i]);
  }
  return arguments;
}

fs::path log_folder() {
  const std::string named = variable("TT_METAL_PROFILER_DIR");
  return (named.empty() ? fs::path(variable("TT_METAL_HOME")) / "generated" / "profiler" : fs::path(named)) / ".logs";
}

void write_tracy_table() {
  fs::create_directories(log_folder());
  std::ofstream table(log_folder() / "tracy_ops_times.csv");
  table << "name,src_file,src_line,zone_name,zone_text,ns_since_start,exec_time_ns,thread,special_parent_text\n";
  for (int i = 0; i < 5; ++i) table << fmt::format("TT_DNN,ops.cpp,9,matmul,id:{},{},200,77,\n", i, 1000 * (i + 1));
}

void write_log(const Arguments& arguments) {
  fs::create_directories(log_folder());
  const fs::path path = log_folder() / "profile_log_device.csv";
  fs::remove(path);
  const std::string text = accelscope::test::tt_log_text(arguments.log);
  const std::size_t end = arguments.crash ? text.size() / 2 + 7 : text.size();
  const bool in_dumps = variable("TT_METAL_PROFILER_MID_RUN_DUMP") == "1";
  const std::size_t piece = in_dumps ? text.size() / 5 : text.size();
  for (std::size_t at = 0; at < end; at += piece) {
    std::ofstream(path, std::ios::app | std::ios::binary) << text.substr(at, std::min(piece, end - at));
  }
}

}  // namespace

int main(int count, char** values) {
  const Arguments arguments = read_arguments(count, values);
  for (const char* name :
       {"TT_METAL_DEVICE_PROFILER", "TT_METAL_DEVICE_PROFILER_NOC_EVENTS", "TT_METAL_DEVICE_PROFILER_DISPATCH",
        "TT_METAL_PROFILER_MID_RUN_DUMP", "TT_METAL_PROFILER_SYNC", "TT_METAL_TRACE_PROFILER",
        "TT_METAL_PROFILER_PROGRAM_SUPPORT_COUNT", "TT_METAL_PROFILE_PERF_COUNTERS"}) {
    if (const std::string value = variable(name); !value.empty()) fmt::print("{}={}\n", name, value);
  }
  std::fflush(stdout);
  if (arguments.tracy_table) write_tracy_table();
  if (variable("TT_METAL_DEVICE_PROFILER") == "1" && !arguments.no_profiler) {
    write_log(arguments);
    if (arguments.crash) std::abort();
  }
  return arguments.status;
}
