#include <fmt/format.h>

#include <filesystem>
#include <thread>

#include "capture/kinds/base/kind_list.h"
#include "capture/kinds/tt_metal/log_watch.h"
#include "capture/kinds/tt_metal/settings.h"
#include "capture/request/options.h"

namespace accelscope::capture::kinds::tt_metal {
namespace {

using namespace std::chrono_literals;

constexpr auto kTtMetalTurn = 50ms;  // how long what was written may go unread

request::KindFacts declare_tt_metal() {
  return {
      .name = "tt-metal",
      .title = "Tenstorrent device log",
      .explanation =
          "Follows profile_log_device.csv while tt-metal writes it: zones of every core and RISC processor. A program "
          "of "
          "the capture gets the profiler's environment; without one it waits for the log of a program started by hand.",
      .takes_program = true,
      .options = request::joined_options(
          {{
               {"log", request::OptionType::file, "",
                "The log, or the folder in which it appears; else it is found by TT_METAL_PROFILER_DIR or "
                "TT_METAL_HOME."},
               {"old-rows",
                request::OptionType::choice,
                "auto",
                "Whether rows that the log holds at the begin are kept; auto: only without a program.",
                {"auto", "on", "off"}},
           },
           tt_metal_options()})};
}

std::vector<request::KindCheck> check_tt_metal() {
  const std::vector<std::string> places = device_log_places(environment_of({}));
  if (places.empty()) {
    return {{true, "TT_METAL_HOME and TT_METAL_PROFILER_DIR are not set: name the device log with --log"}};
  }
  std::error_code failure;
  for (const std::string& place : places) {
    if (std::filesystem::exists(place, failure)) return {{true, fmt::format("follows {}", place)}};
  }
  return {{true, fmt::format("follows {} once it appears", places.front())}};
}

struct TtMetalChoice {
  std::vector<std::string> places;
  std::vector<std::string> source_roots;
  bool skip_old_rows = false;
};

Result<TtMetalChoice> read_choice(const request::CaptureRequest& request, const request::OptionReader& given) {
  TtMetalChoice read;
  read.places = given.has("log") ? device_log_places(given.text("log")) : device_log_places(environment_of(request));
  if (read.places.empty()) {
    return Error{
        "tt-metal: neither TT_METAL_PROFILER_DIR nor TT_METAL_HOME says where the device log is written; set one of "
        "them, or name the log with --log"};
  }
  read.source_roots = given.texts("source-root");
  const bool runs_program = !request.program.empty() || !request.script.empty();
  const std::string old_rows = given.text("old-rows");
  read.skip_old_rows = old_rows == "off" || (old_rows == "auto" && runs_program);
  return read;
}

Result<std::string> describe_tt_metal(const request::CaptureRequest& request, const request::OptionReader& options,
                                      const std::string& /*work_folder*/) {
  const TtMetalChoice read = TRY(read_choice(request, options));
  return fmt::format("device log {}", read.places.front());
}

Result<void> run_tt_metal(const request::KindRun& run, EventSink& sink) {
  const TtMetalChoice choice = TRY(read_choice(run.request, *run.options));
  LogWatch watch(sink, {choice.places, choice.source_roots, choice.skip_old_rows, run.origin});
  while (!sink.cancelled()) {
    if (!watch.turn()) std::this_thread::sleep_for(kTtMetalTurn);
  }
  // What the program wrote at its very end.
  if (Result<void> done = watch.finish(); !done) return done;
  return watch.found_log() ? Result<void>() : Result<void>(no_log_appeared(choice.places.front()));
}

Result<std::vector<std::string>> environment_tt_metal(
    const request::OptionReader& options, const probes::ProbeFiles& /*files*/,
    const std::function<std::string(const std::string& name)>& /*inherited*/) {
  return tt_metal_environment(options);
}

}  // namespace

request::CaptureKind tt_metal_kind() {
  return {.declare = declare_tt_metal,
          .check = check_tt_metal,
          .describe = describe_tt_metal,
          .run = run_tt_metal,
          .accept = accept_tt_metal_options,
          .environment = environment_tt_metal};
}

}  // namespace accelscope::capture::kinds::tt_metal
