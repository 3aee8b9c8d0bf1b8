#include <fmt/format.h>
#include <unistd.h>

#include <string>

#include "capture/kinds/base/kind_list.h"
#include "capture/kinds/rocm/process.h"
#include "capture/probe/client/library_files.h"
#include "capture/probe/host/files.h"
#include "capture/probe/host/kind_frame.h"
#include "capture/probe/host/reader.h"
#include "capture/request/options.h"

namespace accelscope::capture::kinds::rocm {
namespace {

constexpr const char* kTools = "ROCP_TOOL_LIBRARIES";
constexpr const char* kDriver = "/dev/kfd";
constexpr const char* kInstall =
    "install the package rocprofiler-sdk of ROCm 6.2 or later (apt install rocprofiler-sdk)";

request::KindFacts declare_rocm() {
  using request::OptionType;
  return {
      .name = "rocm",
      .title = "ROCm",
      .explanation =
          "Any program that uses ROCm, unmodified, in C++ or Python (PyTorch, Triton, JAX): kernels and copies on "
          "their "
          "streams or queues, the calls of HIP and RCCL that launched them, memory and ROCTX ranges, while it runs. It "
          "works through rocprofiler-sdk. Not seen on hardware yet: tested with a stand-in for it.",
      .takes_program = true,
      .options = probes::with_ring_options(
          {
              {.name = "calls",
               .type = OptionType::choice,
               .default_value = "hip",
               .explanation =
                   "Calls that are kept, with what they launched: of HIP, RCCL and the media libraries; with "
                   "those of HSA and of the compiler; or none.",
               .choices = {"hip", "all", "none"}},
              {.name = "exclude-calls",
               .type = OptionType::text,
               .default_value = "",
               .explanation = "Calls that are left out, by name: hipGetLastError,hipEventQuery."},
              {.name = "memory",
               .type = OptionType::flag,
               .default_value = "on",
               .explanation = "Keeps allocations, also of scratch memory."},
              {.name = "roctx",
               .type = OptionType::flag,
               .default_value = "on",
               .explanation = "Keeps the program's ROCTX ranges and marks."},
              {.name = "page-migration",
               .type = OptionType::flag,
               .default_value = "off",
               .explanation = "Keeps migrations and faults of pages, from ROCm 7 on."},
              {.name = "range",
               .type = OptionType::text,
               .default_value = "",
               .explanation = "Keeps only what happens within ROCTX ranges of this name, or, with 'profiler', "
                              "between roctxProfilerResume and roctxProfilerPause."},
          },
          "16MiB")};
}

[[nodiscard]] request::KindCheck check_driver() {
  if (::access(kDriver, F_OK) != 0) {
    return {false,
            fmt::format("no driver of AMD's GPUs is there ({}): install amdgpu, or run where a GPU is", kDriver)};
  }
  if (::access(kDriver, R_OK | W_OK) != 0) {
    return {false,
            fmt::format("{} may not be used: join its group (sudo usermod -aG render,video $USER) and log in anew",
                        kDriver)};
  }
  return {true, fmt::format("driver: {}", kDriver)};
}

[[nodiscard]] request::KindCheck check_library() {
  std::vector<std::string> patterns;
  if (const char* root = std::getenv("ROCM_PATH"); root != nullptr && *root == '/') {
    patterns.push_back(std::string(root) + "/lib/librocprofiler-sdk.so.[0-9]*");
  }
  for (const char* folder : {"/opt/rocm*/lib", "/usr/lib/x86_64-linux-gnu", "/usr/lib64"}) {
    patterns.push_back(std::string(folder) + "/librocprofiler-sdk.so.[0-9]*");
  }
  std::string names;
  for (const std::string& path : probe::matching_files(patterns)) names += (names.empty() ? "" : ", ") + path;
  if (names.empty()) {
    return {true, fmt::format("no rocprofiler-sdk is installed; where a program brings none (PyTorch's wheels do), {}",
                              kInstall)};
  }
  return {true, fmt::format("rocprofiler-sdk: {}", names)};
}

std::vector<request::KindCheck> check_rocm() {
  return {check_driver(), check_library(), {true, "not seen on hardware yet: tested with a stand-in"}};
}

Result<std::string> describe_rocm(const request::CaptureRequest& request, const request::OptionReader& options,
                                  const std::string& /*work_folder*/) {
  return probes::describe_tracing("ROCm", request, options);
}

Result<void> run_rocm(const request::KindRun& run, EventSink& sink) {
  const request::OptionReader& options = *run.options;
  SessionWriter writer(sink);
  RocmSession session(writer, run.origin);
  probes::ProbeHandler handler = probes::probe_handler(options);
  probes::tell(handler, options, {"memory", "roctx", "page-migration"});
  const std::string calls = options.text("calls");
  probes::tell(handler, "hip-calls", calls != "none");
  probes::tell(handler, "hsa-calls", calls == "all");
  handler.hint = check_library().text;
  probes::tell_tracing(handler, options);
  handler.attach = [&session](const probes::ProbeProcess& process) {
    return std::make_unique<RocmProcess>(process, session);
  };
  return probes::read_probes(run, writer, sink, handler);
}

// The library takes a list, of which some versions leave out what stands behind the last colon.
Result<std::vector<std::string>> environment_rocm(const request::OptionReader& /*options*/,
                                                  const probes::ProbeFiles& files,
                                                  const std::function<std::string(const std::string& name)>& value_of) {
  const std::string others = value_of ? value_of(kTools) : std::string();
  return std::vector<std::string>{
      fmt::format("{}={}{}", kTools, files.path("libaccelscope_rocm.so"), others.empty() ? "" : ":" + others + ":")};
}

}  // namespace

request::CaptureKind rocm_kind() {
  return {.declare = declare_rocm,
          .check = check_rocm,
          .describe = describe_rocm,
          .run = run_rocm,
          .accept = probes::accept_tracing,
          .environment = environment_rocm};
}

}  // namespace accelscope::capture::kinds::rocm
