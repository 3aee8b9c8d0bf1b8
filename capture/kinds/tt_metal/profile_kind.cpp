#include "capture/kinds/tt_metal/profile_kind.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>

#include "capture/kinds/program/folder_watch.h"
#include "capture/kinds/program/start.h"
#include "capture/kinds/tt_metal/log_watch.h"
#include "capture/kinds/tt_metal/settings.h"
#include "capture/sources/base/labelled_sink.h"
#include "capture/sources/tracy_csv/source.h"

namespace accelscope::capture::kinds::tt_metal {
namespace {

namespace fs = std::filesystem;
using SteadyClock = std::chrono::steady_clock;

constexpr const char* kHostRun = "host run";
constexpr const char* kDeviceRun = "device run";

request::KindFacts declare_tt_profile() {
  request::KindFacts facts;
  facts.name = "tt-profile";
  facts.title = "Tenstorrent command, profiled in two runs";
  facts.explanation =
      "Runs a tt-metal command twice: with TT_METAL_DEVICE_PROFILER=0 for clean times of the host, and with =1 for the "
      "device; both are one session, laid over each other by their starts.";
  facts.needs_program = true;
  facts.options = {
      {"runs", request::OptionType::choice, "both", "Which of the two runs to make.", {"both", "host", "device"}},
      {"check-build", request::OptionType::flag, "on",
       "Looks whether the tt-metal under TT_METAL_HOME was built with its profiler before anything runs."},
      {"profiler-dir", request::OptionType::file, "",
       "Folder into which tt-metal writes its logs; else a fresh one of the capture, which goes away with it."},
  };
  for (request::KindOption& option : tt_metal_options()) facts.options.push_back(std::move(option));
  for (request::KindOption& option : kinds::program::program_options()) facts.options.push_back(std::move(option));
  return facts;
}

std::vector<request::KindCheck> check_tt_profile() {
  const LookUp environment = environment_of({});
  if (environment("TT_METAL_HOME").empty()) {
    return {{true, "TT_METAL_HOME is not set: whether tt-metal has its profiler is seen when it runs"}};
  }
  return {{true, fmt::format("runs commands with the tt-metal in {}", environment("TT_METAL_HOME"))}};
}

struct TtProfileChoice {
  bool host = true;
  bool device = true;
  bool check_build = true;
  std::string folder;                    // given
  std::vector<std::string> environment;  // of the device run
  std::vector<std::string> source_roots;
  kinds::program::ProgramRunOptions program;
};

Result<TtProfileChoice> read_tt_profile_choice(const request::KindChoice& choice) {
  const Result<request::OptionReader> given = request::OptionReader::read(declare_tt_profile(), choice);
  if (!given) return given.error();
  Result<std::vector<std::string>> settings = tt_metal_environment(*given);
  if (!settings) return settings.error();
  Result<kinds::program::ProgramRunOptions> program = kinds::program::read_program_options(*given);
  if (!program) return program.error();
  TtProfileChoice read;
  read.host = given->text("runs") != "device";
  read.device = given->text("runs") != "host";
  read.check_build = given->flag("check-build");
  read.folder = given->text("profiler-dir");
  read.environment = std::move(settings).value();
  read.source_roots = given->texts("source-root");
  read.program = std::move(program).value();
  return read;
}

Result<std::string> describe_tt_profile(const request::CaptureRequest& request, const request::KindChoice& choice,
                                        const std::string& work_folder) {
  const Result<TtProfileChoice> read = read_tt_profile_choice(choice);
  if (!read) return read.error();
  const system::ChildStart start = kinds::program::program_start(request, work_folder);
  if (Result<std::string> found = system::find_start(start); !found) return found.error();
  const std::string command = request.script.empty() ? kinds::program::facts_of(request, start).command : "a script";
  return fmt::format("{}, {}", command,
                     read->host && read->device ? "without and with the device profiler"
                     : read->host               ? "without the device profiler"
                                                : "with the device profiler");
}

class TwoRuns {
 public:
  TwoRuns(const request::KindRun& run, EventSink& sink, TtProfileChoice choice)
      : run_(run), sink_(sink), choice_(std::move(choice)) {}
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
  TtProfileChoice choice_;
  sources::SharedFacts facts_;
  std::string folder_;
  std::optional<SteadyClock::time_point> host_begin_;
  std::optional<int> exit_status_;  // of the last run
};

Result<void> TwoRuns::check_build() const {
  if (!choice_.check_build || !choice_.device) return {};
  const BuildFinding found = find_profiler_build(environment_of(run_.request));
  if (found.build != ProfilerBuild::absent) return {};
  return Error{fmt::format("{}: was built without the profiler; {}; --check-build=off runs it anyway", found.library,
                           how_to_get_profiler())};
}

Result<void> TwoRuns::prepare_folder() {
  folder_ = choice_.folder;
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
  if (!run_.request.script.empty()) {
    if (Result<void> written = kinds::program::write_script(run_.request.script, run_.work_folder); !written)
      return written;
  }
  if (Result<void> told = tell_runs(); !told) return told;
  Result<void> done = run_both();
  if (exit_status_ && run_.watch.ended) run_.watch.ended(*exit_status_);
  return done;
}

Result<void> TwoRuns::run_both() {
  if (choice_.host) {
    if (Result<void> done = run_host(); !done) return done;
  }
  const bool failed = exit_status_.value_or(0) != 0;
  if (choice_.device && failed && !sink_.cancelled()) {
    if (Result<void> told = tell(QualityEntry{
            "device_run_left_out", 1,
            fmt::format("the command ended with status {} without the device profiler, so it was not run with it; "
                        "--runs=device runs it all the same",
                        *exit_status_),
            Severity::error});
        !told)
      return told;
  }
  if (!choice_.device || failed || sink_.cancelled()) return {};
  return run_device();
}

Result<void> TwoRuns::tell_runs() {
  if (!choice_.host || !choice_.device) return {};
  if (Result<void> told = tell(MetaEntry{"tt_metal.host_run", "TT_METAL_DEVICE_PROFILER=0"}); !told) return told;
  if (Result<void> told = tell(MetaEntry{"tt_metal.device_run", "TT_METAL_DEVICE_PROFILER=1"}); !told) return told;
  if (Result<void> told = tell(MetaEntry{"tt_metal.alignment", "by the starts of both runs"}); !told) return told;
  return tell(QualityEntry{"runs_aligned_by_start", 1,
                           "host and device come from two runs of the command, laid over each other by their starts: "
                           "compare durations between them, not instants",
                           Severity::note});
}

Result<void> TwoRuns::run_program(EventSink& sink, const char* label, std::vector<std::string> settings,
                                  SteadyClock::time_point origin, std::function<void()> on_each_turn) {
  sources::LabelledSink labelled(sink, label, facts_);
  request::KindRun run{run_.request, run_.choice, origin, run_.work_folder, run_.open_scope, {}};
  run.watch.printed = run_.watch.printed;
  run.watch.ended = [this](int status) { exit_status_ = status; };
  system::ChildStart start = kinds::program::program_start(run_.request, run_.work_folder);
  const kinds::program::ProgramFacts facts = kinds::program::facts_of(run_.request, start);
  settings.push_back(fmt::format("TT_METAL_PROFILER_DIR={}", folder_));
  start.environment.insert(start.environment.end(), settings.begin(), settings.end());
  kinds::program::ProgramRunOptions options = choice_.program;
  options.on_each_turn = std::move(on_each_turn);
  return kinds::program::ProgramRun(run, labelled, std::move(options)).run(start, facts);
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
    const Result<const sources::SourceFormat*> format = sources::guess_format(file.path);
    if (format && (*format)->name == "tracy-csv") tables.push_back(file.path);
  }
  for (const std::string& table : tables) {
    if (Result<void> done = import_host_table(table); !done) return done;
  }
  if (tables.empty()) return {};
  return tell(
      QualityEntry{"host_times_estimated", tables.size(),
                   "tables of host zones do not say when Tracy began: they are drawn from the begin of the host "
                   "run, too early by the time until then",
                   Severity::note});
}

Result<void> TwoRuns::import_host_table(const std::string& path) {
  const std::unique_ptr<EventSink> scope = run_.open_scope();
  sources::LabelledSink labelled(*scope, kHostRun, facts_);
  sources::ImportOptions options;
  options.source_roots = choice_.source_roots;
  if (const Result<void> done = sources::tracy_csv::import_tracy_csv(path, options, labelled); !done) {
    return sink_.cancelled() ? Result<void>()
                             : tell(QualityEntry{"host_table_unreadable", 1, done.message(), Severity::warning});
  }
  return labelled.delay(std::chrono::duration_cast<std::chrono::nanoseconds>(*host_begin_ - run_.origin).count());
}

Result<void> TwoRuns::run_device() {
  // Both begin at the same time of the session.
  const SteadyClock::time_point origin =
      run_.origin + (host_begin_ ? SteadyClock::now() - *host_begin_ : SteadyClock::duration::zero());
  const std::unique_ptr<EventSink> program_scope = run_.open_scope();
  const std::unique_ptr<EventSink> log_scope = run_.open_scope();
  sources::LabelledSink labelled(*log_scope, kDeviceRun, facts_);
  LogWatch watch(labelled, {device_log_places(folder_), choice_.source_roots, false, origin});
  if (Result<void> done =
          run_program(*program_scope, kDeviceRun, choice_.environment, origin, [&] { (void)watch.turn(); });
      !done)
    return done;
  if (Result<void> done = watch.finish(); !done) return done;
  if (watch.found_log() || sink_.cancelled()) return {};
  return no_log_appeared(folder_);
}

Result<void> run_tt_profile(const request::KindRun& run, EventSink& sink) {
  Result<TtProfileChoice> choice = read_tt_profile_choice(run.choice);
  if (!choice) return choice.error();
  return TwoRuns(run, sink, std::move(choice).value()).run();
}

}  // namespace

request::CaptureKind tt_profile_kind() {
  return {declare_tt_profile, check_tt_profile, describe_tt_profile, run_tt_profile};
}

}  // namespace accelscope::capture::kinds::tt_metal
