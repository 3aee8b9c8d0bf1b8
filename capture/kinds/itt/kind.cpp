#include <fmt/format.h>

#include "capture/kinds/base/kind_list.h"
#include "capture/kinds/itt/process.h"
#include "capture/probe/host/files.h"
#include "capture/probe/host/kind_frame.h"
#include "capture/request/options.h"
#include "core/base/text.h"

namespace accelscope::capture::kinds::itt {
namespace {

constexpr const char* kLibrary = "libaccelscope_itt.so";

request::KindFacts declare_itt() {
  return {.name = "itt",
          .title = "Tasks that programs mark",
          .explanation =
              "Takes what programs tell of themselves, unmodified: by ITT calls - tasks, regions, frames, counters, "
              "events, "
              "markers, metadata, as in oneTBB, OpenMP, oneDNN, PyTorch - and by C++ zones, with the macros of Tracy's "
              "client.",
          .takes_program = true,
          .options = probes::with_ring_options(
              {
                  {.name = "domain",
                   .type = request::OptionType::text,
                   .explanation = "Only these domains; '*' stands for any characters. Others cost the program nothing.",
                   .repeats = true},
                  {.name = "exclude-domain",
                   .type = request::OptionType::text,
                   .explanation = "Not these domains; '*' stands for any characters.",
                   .repeats = true},
                  {"tasks", request::OptionType::flag, "on", "Tasks, overlapped tasks and their relations."},
                  {"frames", request::OptionType::flag, "on", "Frames and regions."},
                  {"counters", request::OptionType::flag, "on", "Counters and plots."},
                  {"events", request::OptionType::flag, "on", "Events, markers, messages, histograms."},
                  {"metadata", request::OptionType::flag, "on",
                   "What is told of tasks; each costs as much as a task and its text."},
                  {"locks", request::OptionType::flag, "off",
                   "Waiting for locks and holding them; libraries tell of each of theirs, which may be many."},
                  {"memory", request::OptionType::flag, "on", "Allocations and releases that the program marks."},
                  {"zones", request::OptionType::flag, "on", "C++ zones and what belongs to them."},
              },
              "1MiB")};
}

std::vector<request::KindCheck> check_itt() {
  const Result<probes::ProbeFiles> files = probes::ProbeFiles::lay_down();
  if (!files) return {{false, files.error().message}};
  return {{true, fmt::format("the collector for INTEL_LIBITTNOTIFY64 is {}", files->path(kLibrary))},
          {true, fmt::format("headers for marking programs are in {}", files->path("include"))}};
}

Result<void> accept_itt(const request::OptionReader& options) {
  for (const char* name : {"domain", "exclude-domain"}) {
    for (const std::string& pattern : options.texts(name)) {
      if (pattern.find_first_of("\t\n") != std::string::npos) {
        return Error{fmt::format("--{}: no domain has tabs or ends of lines in its name", name)};
      }
    }
  }
  return probes::accept_ring(options);
}

Result<std::string> describe_itt(const request::CaptureRequest& request, const request::OptionReader& options,
                                 const std::string&) {
  std::string text = probes::waits_for_programs(request) ? "marked tasks of programs that are started by hand"
                                                         : "marked tasks of the program";
  const std::vector<std::string> only = options.texts("domain");
  if (!only.empty()) text += ", only of " + joined(only, ", ");
  return text;
}

std::vector<std::string> settings_of(const request::OptionReader& options) {
  std::vector<std::string> off;
  for (const auto& [name, wanted] : probe::itt::kSwitches) {
    if (!options.flag(name)) off.emplace_back(name);
  }
  return {fmt::format("{}={}", probe::itt::kIncludeSetting, joined(options.texts("domain"), "\t")),
          fmt::format("{}={}", probe::itt::kExcludeSetting, joined(options.texts("exclude-domain"), "\t")),
          fmt::format("{}={}", probe::itt::kOffSetting, joined(off, " "))};
}

Result<void> run_itt(const request::KindRun& run, EventSink& sink) {
  SessionWriter writer(sink);
  IttSchemas schemas(writer);
  probes::ProbeHandler handler = probes::probe_handler(*run.options);
  handler.settings = settings_of(*run.options);
  handler.attach = [&](const probes::ProbeProcess& process) {
    return std::make_unique<IttProcess>(process, writer, schemas);
  };
  return probes::read_probes(run, writer, sink, handler);
}

Result<std::vector<std::string>> environment_itt(const request::OptionReader& options, const probes::ProbeFiles& files,
                                                 const std::function<std::string(const std::string& name)>&) {
  const std::string library = files.path(kLibrary);
  std::vector<std::string> settings = {"INTEL_LIBITTNOTIFY64=" + library};
  if (options.flag("zones")) settings.push_back("ACCELSCOPE_ZONES_LIBRARY=" + library);
  return settings;
}

}  // namespace

request::CaptureKind itt_kind() {
  return {.declare = declare_itt,
          .check = check_itt,
          .describe = describe_itt,
          .run = run_itt,
          .accept = accept_itt,
          .environment = environment_itt};
}

}  // namespace accelscope::capture::kinds::itt
