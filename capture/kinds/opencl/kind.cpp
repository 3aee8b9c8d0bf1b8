#include <dlfcn.h>
#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "capture/kinds/base/kind_list.h"
#include "capture/kinds/opencl/process.h"
#include "capture/probe/host/files.h"
#include "capture/probe/host/kind_frame.h"
#include "capture/probe/host/reader.h"
#include "capture/request/options.h"

namespace accelscope::capture::kinds::opencl {
namespace {

namespace fs = std::filesystem;

constexpr const char* kLayer = "libaccelscope_opencl.so";
constexpr const char* kLayersVariable = "OPENCL_LAYERS";
constexpr const char* kLoader = "libOpenCL.so.1";
constexpr const char* kDriverFolder = "/etc/OpenCL/vendors";

request::KindFacts declare_opencl() {
  return {.name = "opencl",
          .title = "OpenCL",
          .explanation =
              "Any program that uses OpenCL, unmodified: kernels with sizes and arguments, transfers, maps, queues and "
              "what "
              "waits for what, memory, program sources, builds with their logs.",
          .takes_program = true,
          .options = probes::with_ring_options(
              {
                  {"host-calls", request::OptionType::flag, "on",
                   "Keeps the OpenCL calls of the host's threads, with what they launched."},
                  {"arguments", request::OptionType::flag, "on",
                   "Keeps what each kernel is launched with; some 20 ns for each launch."},
                  {"sources", request::OptionType::flag, "on", "Keeps the source text of programs."},
              },
              "4MiB")};
}

[[nodiscard]] bool file_holds(const std::string& path, std::string_view text) {
  std::ifstream file(path, std::ios::binary);
  const std::string bytes((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  return bytes.find(text) != std::string::npos;
}

// A loader that takes layers knows the variable's name. It is loaded, but no call is made: that would start the
// drivers.
[[nodiscard]] request::KindCheck check_loader() {
  void* loader = ::dlopen(kLoader, RTLD_LAZY | RTLD_LOCAL);
  if (loader == nullptr) {
    return {false, fmt::format("{} is not there; install an OpenCL loader, on Debian the package ocl-icd-libopencl1",
                               kLoader)};
  }
  Dl_info place{};
  const void* symbol = ::dlsym(loader, "clGetPlatformIDs");
  const bool found = symbol != nullptr && ::dladdr(symbol, &place) != 0;
  const std::string path = found ? place.dli_fname : kLoader;
  const bool takes_layers = found && file_holds(path, kLayersVariable);
  ::dlclose(loader);
  if (!takes_layers) {
    return {false,
            fmt::format("{} takes no layers; use the loader ocl-icd from 2.3, or that of Khronos from 2021", path)};
  }
  return {true, fmt::format("OpenCL loader that takes layers: {}", path)};
}

[[nodiscard]] request::KindCheck check_drivers() {
  std::string names;
  std::error_code failure;
  for (const fs::directory_entry& entry : fs::directory_iterator(kDriverFolder, failure)) {
    if (entry.path().extension() == ".icd") names += (names.empty() ? "" : ", ") + entry.path().stem().string();
  }
  if (!names.empty()) return {true, "OpenCL drivers: " + names};
  // A program may bring its own.
  return {true,
          fmt::format("no OpenCL driver is registered in {}; programs find none unless they bring one", kDriverFolder)};
}

std::vector<request::KindCheck> check_opencl() { return {check_loader(), check_drivers()}; }

Result<std::string> describe_opencl(const request::CaptureRequest& request, const request::OptionReader& /*options*/,
                                    const std::string& /*work_folder*/) {
  return std::string(probes::waits_for_programs(request) ? "OpenCL of programs that are started by hand" : "OpenCL");
}

Result<void> run_opencl(const request::KindRun& run, EventSink& sink) {
  SessionWriter writer(sink);
  opencl::OpenclSession session(writer, run.options->flag("host-calls"));
  probes::ProbeHandler handler = probes::probe_handler(*run.options);
  probes::tell(handler, *run.options, {"host-calls", "arguments", "sources"});
  handler.attach = [&session](const probes::ProbeProcess& process) {
    return std::make_unique<opencl::OpenclProcess>(process, session);
  };
  return probes::read_probes(run, writer, sink, handler);
}

Result<std::vector<std::string>> environment_opencl(
    const request::OptionReader& /*options*/, const probes::ProbeFiles& files,
    const std::function<std::string(const std::string& name)>& inherited) {
  const std::string others = inherited(kLayersVariable);
  return std::vector<std::string>{
      fmt::format("{}={}{}", kLayersVariable, others.empty() ? "" : others + ":", files.path(kLayer))};
}

}  // namespace

request::CaptureKind opencl_kind() {
  return {.declare = declare_opencl,
          .check = check_opencl,
          .describe = describe_opencl,
          .run = run_opencl,
          .accept = probes::accept_ring,
          .environment = environment_opencl};
}

}  // namespace accelscope::capture::kinds::opencl
