#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>

#include "capture/kinds/base/kind_list.h"
#include "capture/kinds/program/start.h"
#include "capture/kinds/program/tool_traces.h"
#include "capture/kinds/tt_metal/log_watch.h"
#include "capture/kinds/tt_metal/settings.h"
#include "capture/sources/base/importers.h"
#include "capture/sources/base/sinks.h"

namespace accelscope::capture::kinds::tt_metal {
namespace {

namespace fs = std::filesystem;
using SteadyClock = std::chrono::steady_clock;

constexpr const char* kHostRun = "host run";
constexpr const char* kDeviceRun = "device run";

request::KindFacts declare_tt_profile() {
  return {.name = "tt-profile",
          .title = "Tenstorrent command, profiled in two runs",
          .explanation =
              "Runs a tt-metal command twice: with TT_METAL_DEVICE_PROFILER=0 for clean times of the host, and with =1 "
              "for the "
              "device; both are one session, laid over each other by their starts.",
          .needs_program = true,
          .options = request::joined_options(
              {{
                   {"runs",
                    request::OptionType::choice,
                    "both",
                    "Which of the two runs to make.",
                    {"both", "host", "device"}},
                   {"check-build", request::OptionType::flag, "on",
                    "Looks whether the tt-metal under TT_METAL_HOME was built with its profiler before anything runs."},
                   {"profiler-dir", request::OptionType::file, "",
                    "Folder into which tt-metal writes its logs; else a fresh one of the capture, which goes away with "
                    "it."},
               },
               tt_metal_options(),
               kinds::program::program_options()})};
}

std::vector<request::KindCheck> check_tt_profile() {
  const LookUp environment = environment_of({});
  if (environment("TT_METAL_HOME").empty()) {
    return {{true, "TT_METAL_HOME is not set: whether tt-metal has its profiler is seen when it runs"}};
  }
  return {{true, fmt::format("runs commands with the tt-metal in {}", environment("TT_METAL_HOME"))}};
}

Result<void> accept_tt_profile(const request::OptionReader& given) {
  if (const Result<void> accepted = accept_tt_metal_options(given); !accepted) return accepted;
  return kinds::program::accept_program_options(given);
}

Result<std::string> describe_tt_profile(const request::CaptureRequest& request, const request::OptionReader& options,
                                        const std::string& work_folder) {
  const Result<std::string> shown = kinds::program::shown_program(request, work_folder);
  if (!shown) return shown;
  const std::string runs = options.text("runs");
  return fmt::format("{}, {} the device profiler", *shown,
                     runs == "both"   ? "without and with"
                     : runs == "host" ? "without"
                                      : "with");
}

class TwoRuns {
 public:
  TwoRuns(const request::KindRun& run, EventSink& sink)
      : run_(run),
        sink_(sink),
        options_(*run.options),
        host_(options_.text("runs") != "device"),
        device_(options_.text("runs") != "host") {}
  Result<void> run();

 private:
  Result<void> check_build() const;
  Result<void> prepare_folder();
  Result<void> run_both();
  Result<void> run_host();
  Result<void> import_host_tables(const kinds::program::FolderWatch& written);
  Result<void> import_host_table(const std::string& path);
  Result<void> run_device();
  Result<void> run_program(EventSink& sink, const char* label, std::vector<std::string> settings,
                           SteadyClock::time_point origin, std::function<void()> on_each_turn);
  Result<void> tell(const Definition& definition) { return sink_.define(definition); }
  [[nodiscard]] Result<void> tell_runs();

  const request::KindRun& run_;
  EventSink& sink_;
  const request::OptionReader& options_;
  bool host_, device_;  // which runs are made
  sources::SharedFacts facts_;
  std::string folder_;
  std::optional<SteadyClock::time_point> host_begin_;
  std::optional<int> exit_status_;  // of the last run
};

Result<void> TwoRuns::check_build() const {
  if (!options_.flag("check-build") || !device_) return {};
  const BuildFinding found = find_profiler_build(environment_of(run_.request));
  if (found.build != ProfilerBuild::absent) return {};
  return Error{fmt::format("{}: was built without the profiler; {}; --check-build=off runs it anyway", found.library,
                           how_to_get_profiler())};
}

Result<void> TwoRuns::prepare_folder() {
  folder_ = options_.text("profiler-dir");
  if (folder_.empty()) folder_ = (fs::absolute(run_.work_folder) / "tt-metal-profiler").string();
  std::error_code failure;
  fs::create_directories(folder_, failure);
  if (failure) return Error{fmt::format("{}: cannot be made: {}", folder_, failure.message())};
  // tt-metal may append to a log of another run.
  for (const std::string& place : device_log_places(folder_)) fs::remove(place, failure);
  return {};
}

Result<void> TwoRuns::run() {
  if (Result<void> checked = check_build(); !checked) return checked;
  if (Result<void> prepared = prepare_folder(); !prepared) return prepared;
  if (Result<void> reported = tell_runs(); !reported) return reported;
  Result<void> done = run_both();
  if (exit_status_ && run_.watch.ended) run_.watch.ended(*exit_status_);
  return done;
}

Result<void> TwoRuns::run_both() {
  if (host_) {
    if (Result<void> done = run_host(); !done) return done;
  }
  const bool failed = exit_status_.value_or(0) != 0;
  if (device_ && failed && !sink_.cancelled()) {
    if (Result<void> reported = tell(QualityEntry{
            "device_run_left_out", 1,
            fmt::format("the command ended with status {} without the device profiler, so it was not run with it; "
                        "--runs=device runs it all the same",
                        *exit_status_)});
        !reported)
      return reported;
  }
  if (!device_ || failed || sink_.cancelled()) return {};
  return run_device();
}

Result<void> TwoRuns::tell_runs() {
  if (!host_ || !device_) return {};
  if (Result<void> reported = tell(MetaEntry{"tt_metal.host_run", "TT_METAL_DEVICE_PROFILER=0"}); !reported)
    return reported;
  if (Result<void> reported = tell(MetaEntry{"tt_metal.device_run", "TT_METAL_DEVICE_PROFILER=1"}); !reported)
    return reported;
  if (Result<void> reported = tell(MetaEntry{"tt_metal.alignment", "by the starts of both runs"}); !reported)
    return reported;
  return tell(QualityEntry{"runs_aligned_by_start", 1,
                           "host and device come from two runs of the command, laid over each other by their starts: "
                           "compare durations between them, not instants"});
}

Result<void> TwoRuns::run_program(EventSink& sink, const char* label, std::vector<std::string> settings,
                                  SteadyClock::time_point origin, std::function<void()> on_each_turn) {
  sources::LabelledSink labelled(sink, label, facts_);
  request::KindRun run{run_.request, run_.choice, origin, run_.work_folder, run_.open_scope, {}};
  run.watch.printed = run_.watch.printed;
  run.watch.ended = [this](int status) { exit_status_ = status; };
  system::ChildStart start = TRY(kinds::program::prepare_program(run_));
  settings.push_back(fmt::format("TT_METAL_PROFILER_DIR={}", folder_));
  start.environment.insert(start.environment.end(), settings.begin(), settings.end());
  kinds::program::ProgramRunOptions options = kinds::program::read_program_options(options_);
  options.on_each_turn = std::move(on_each_turn);
  return kinds::program::ProgramRun(run, labelled, std::move(options)).run(start);
}

Result<void> TwoRuns::run_host() {
  host_begin_ = SteadyClock::now();
  const kinds::program::FolderWatch written({(fs::path(folder_) / ".logs").string(), folder_}, ".csv", 0);
  if (Result<void> done = run_program(sink_, kHostRun, {"TT_METAL_DEVICE_PROFILER=0"}, run_.origin, {}); !done)
    return done;
  return sink_.cancelled() ? Result<void>() : import_host_tables(written);
}

// What a command under Tracy leaves of the host: tables of tracy-csvexport, in the profiler's folder.
Result<void> TwoRuns::import_host_tables(const kinds::program::FolderWatch& written) {
  std::vector<std::string> tables;
  for (const kinds::program::FolderWatch::File& file : written.changed()) {
    if (fs::path(file.path).filename() == kDeviceLogName) continue;
    if (sources::recognise(file.path).name() == "tracy-csv") tables.push_back(file.path);
  }
  for (const std::string& table : tables) {
    if (Result<void> done = import_host_table(table); !done) return done;
  }
  if (tables.empty()) return {};
  return tell(
      QualityEntry{"host_times_estimated", tables.size(),
                   "tables of host zones do not say when Tracy began: they are drawn from the begin of the host "
                   "run, too early by the time until then"});
}

Result<void> TwoRuns::import_host_table(const std::string& path) {
  const std::unique_ptr<EventSink> scope = run_.open_scope();
  sources::LabelledSink labelled(*scope, kHostRun, facts_);
  sources::ImportOptions options;
  options.source_roots = options_.texts("source-root");
  if (const Result<void> done = sources::import_file(sources::tracy_csv::import_tracy_csv, path, options, labelled);
      !done) {
    return sink_.cancelled() ? Result<void>() : tell(QualityEntry{"host_table_unreadable", 1, done.message()});
  }
  return labelled.delay(run_.ns_of(*host_begin_));
}

Result<void> TwoRuns::run_device() {
  // Both begin at the same time of the session.
  const SteadyClock::time_point origin =
      run_.origin + (host_begin_ ? SteadyClock::now() - *host_begin_ : SteadyClock::duration::zero());
  const std::unique_ptr<EventSink> program_scope = run_.open_scope();
  const std::unique_ptr<EventSink> log_scope = run_.open_scope();
  sources::LabelledSink labelled(*log_scope, kDeviceRun, facts_);
  LogWatch watch(labelled, {device_log_places(folder_), options_.texts("source-root"), false, origin});
  std::vector<std::string> settings = TRY(tt_metal_environment(options_));
  if (Result<void> done =
          run_program(*program_scope, kDeviceRun, std::move(settings), origin, [&] { (void)watch.turn(); });
      !done)
    return done;
  if (Result<void> done = watch.finish(); !done) return done;
  if (watch.found_log() || sink_.cancelled()) return {};
  return no_log_appeared(folder_);
}

Result<void> run_tt_profile(const request::KindRun& run, EventSink& sink) { return TwoRuns(run, sink).run(); }

}  // namespace

request::CaptureKind tt_profile_kind() {
  return {declare_tt_profile, check_tt_profile, describe_tt_profile, run_tt_profile, accept_tt_profile};
}

}  // namespace accelscope::capture::kinds::tt_metal
