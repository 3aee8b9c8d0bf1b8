#include <dlfcn.h>
#include <fmt/format.h>

#include <fstream>
#include <string>

#include "capture/kinds/base/kind_list.h"
#include "capture/kinds/cuda/process.h"
#include "capture/probe/cuda/places.h"
#include "capture/probe/host/files.h"
#include "capture/probe/host/kind_frame.h"
#include "capture/probe/host/reader.h"
#include "capture/request/options.h"

namespace accelscope::capture::kinds::cuda {
namespace {

constexpr const char* kLibrary = "libaccelscope_cuda.so";
constexpr const char* kDriver = "libcuda.so.1";
constexpr const char* kDriverVersion = "/proc/driver/nvidia/version";

request::KindFacts declare_cuda() {
  using request::OptionType;
  return {
      .name = "cuda",
      .title = "CUDA",
      .explanation =
          "Any program that uses CUDA, unmodified, in C++ or Python (PyTorch, Triton, JAX, CuPy): kernels, copies "
          "and sets on their streams, the calls that launched them, synchronisation, graphs, memory, compilation, "
          "NVTX ranges and counters of the GPUs, while it runs. It works through CUPTI, which serves one tool at a "
          "time.",
      .takes_program = true,
      .options = probes::with_ring_options(
          {
              {.name = "calls",
               .type = OptionType::choice,
               .default_value = "all",
               .explanation = "Calls of CUDA that are kept, with what they launched; each costs the program some "
                              "100 ns.",
               .choices = {"all", "runtime", "none"}},
              {.name = "exclude-calls",
               .type = OptionType::text,
               .default_value = "",
               .explanation = "Calls that are left out, by name: cudaGetLastError,cudaEventQuery."},
              {.name = "graphs",
               .type = OptionType::choice,
               .default_value = "nodes",
               .explanation = "Graphs of CUDA by each of their nodes, or whole, which costs less.",
               .choices = {"nodes", "whole"}},
              {.name = "memory",
               .type = OptionType::flag,
               .default_value = "on",
               .explanation = "Keeps allocations: cudaMalloc, pools, managed and pinned memory."},
              {.name = "stacks",
               .type = OptionType::flag,
               .default_value = "off",
               .explanation = "Keeps from where launches, copies, allocations and releases were called, in C and C++; "
                              "each costs the program some us, and CUPTI's only place for callbacks is taken: "
                              "torch.profiler cannot be used in the program."},
              {.name = "nvtx",
               .type = OptionType::flag,
               .default_value = "on",
               .explanation = "Keeps the program's NVTX ranges and marks."},
              {.name = "events",
               .type = OptionType::flag,
               .default_value = "on",
               .explanation = "Keeps events of CUDA, by which streams wait for each other."},
              {.name = "unified-memory",
               .type = OptionType::flag,
               .default_value = "off",
               .explanation = "Keeps migrations and page faults of unified memory; slows both down."},
              {.name = "queue-times",
               .type = OptionType::flag,
               .default_value = "off",
               .explanation = "Keeps when each kernel was queued; costs the driver some us for each launch."},
              {.name = "gpu-counters",
               .type = OptionType::choice,
               .default_value = "nvml",
               .explanation = "Utilisation, clocks, power, temperature and traffic of the GPUs, ten times a second "
                              "from NVML, or what CUPTI itself samples; off: none, nor those of pm-sampling.",
               .choices = {"nvml", "cupti", "off"}},
              {.name = "pm-sampling",
               .type = OptionType::flag,
               .default_value = "on",
               .explanation = "Samples counters of the multiprocessors: how active they and their tensor cores are, "
                              "warps, DRAM, L2, PCIe, NVLink, operations. Needs CUPTI of CUDA 12.6 and the right "
                              "to (see doctor); may hold the GPU's clocks while it samples."},
              {.name = "sampling-rate",
               .type = OptionType::rate,
               .default_value = "10k",
               .explanation = "Samples of pm-sampling a second: 1k to 20k."},
              {.name = "range",
               .type = OptionType::text,
               .default_value = "",
               .explanation = "Keeps only what happens within NVTX ranges of this name, or, with 'profiler', "
                              "between cudaProfilerStart and cudaProfilerStop."},
          },
          "16MiB")};
}

[[nodiscard]] std::string first_line(const char* path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

// The library is loaded, but no call is made: that would wake the GPU. Where the system is a guest of another, only the
// library is there.
[[nodiscard]] request::KindCheck check_driver() {
  const std::string version = first_line(kDriverVersion);
  if (!version.empty()) return {true, "driver: " + version.substr(version.find(':') + 1)};
  void* driver = ::dlopen(kDriver, RTLD_LAZY | RTLD_LOCAL);
  if (driver == nullptr) {
    return {false, fmt::format("no driver of NVIDIA is there: neither {} nor {}; install it, or run where a GPU is",
                               kDriverVersion, kDriver)};
  }
  ::dlclose(driver);
  return {true, fmt::format("driver: {}", kDriver)};
}

// Programs may bring their own.
[[nodiscard]] request::KindCheck check_library() {
  std::string names;
  for (const std::string& path : probe::cuda::toolkit_libraries()) names += (names.empty() ? "" : ", ") + path;
  if (names.empty()) {
    return {true,
            "no toolkit of CUDA with CUPTI is installed; programs that bring none (PyTorch's wheels do) need the "
            "package cuda-cupti-12-* or cuda-cupti-13-*"};
  }
  return {true, fmt::format("CUPTI where a program brings none: {}", names)};
}

[[nodiscard]] request::KindCheck check_counters() {
  const std::string failure = nvml_failure();
  return {true,
          failure.empty() ? "NVML: utilisation, clocks, power and temperature" : "no counters of NVML: " + failure};
}

std::vector<request::KindCheck> check_cuda() {
  return {check_driver(), check_library(), {true, sampling_rights()}, check_counters()};
}

Result<std::string> describe_cuda(const request::CaptureRequest& request, const request::OptionReader& options,
                                  const std::string& /*work_folder*/) {
  return probes::describe_tracing("CUDA", request, options);
}

Result<void> run_cuda(const request::KindRun& run, EventSink& sink) {
  const request::OptionReader& options = *run.options;
  SessionWriter writer(sink);
  const bool samples = options.flag("pm-sampling") && options.text("gpu-counters") != "off";
  CudaSession session(writer, run.origin, options.text("gpu-counters") == "nvml", options.flag("stacks"),
                      samples ? static_cast<unsigned>(options.rate("sampling-rate")) : 0U);
  probes::ProbeHandler handler = probes::probe_handler(options);
  probes::tell(handler, options, {"memory", "stacks", "nvtx", "events", "unified-memory", "queue-times"});
  const std::string calls = options.text("calls");
  probes::tell(handler, "runtime-calls", calls != "none");
  probes::tell(handler, "driver-calls", calls == "all");
  probes::tell(handler, "whole-graphs", options.text("graphs") == "whole");
  probes::tell(handler, "environment", options.text("gpu-counters") == "cupti");
  probes::tell_tracing(handler, options);
  handler.attach = [&session](const probes::ProbeProcess& process) {
    return std::make_unique<CudaProcess>(process, session);
  };
  return probes::read_probes(run, writer, sink, handler);
}

Result<void> accept_cuda(const request::OptionReader& options) {
  if (const double rate = options.rate("sampling-rate");
      !(rate >= PmSampler::kLeastRate && rate <= PmSampler::kMostRate)) {
    return Error{"--sampling-rate: from 1k to 20k samples a second"};
  }
  return probes::accept_tracing(options);
}

Result<std::vector<std::string>> environment_cuda(const request::OptionReader& options, const probes::ProbeFiles& files,
                                                  const std::function<std::string(const std::string& name)>&) {
  std::vector<std::string> environment = {"CUDA_INJECTION64_PATH=" + files.path(kLibrary)};
  // A range by name needs the ranges.
  if (options.flag("nvtx") || !options.text("range").empty()) {
    environment.push_back("NVTX_INJECTION64_PATH=" + files.path(kLibrary));
  }
  return environment;
}

}  // namespace

request::CaptureKind cuda_kind() {
  return {.declare = declare_cuda,
          .check = check_cuda,
          .describe = describe_cuda,
          .run = run_cuda,
          .accept = accept_cuda,
          .environment = environment_cuda};
}

}  // namespace accelscope::capture::kinds::cuda
