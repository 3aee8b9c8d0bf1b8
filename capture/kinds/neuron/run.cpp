#include "capture/kinds/neuron/run.h"

#include <fmt/format.h>

#include <thread>
#include <utility>

#include "capture/kinds/neuron/command.h"
#include "capture/kinds/neuron/profile_sinks.h"
#include "capture/kinds/program/start.h"
#include "capture/sources/import_input.h"
#include "capture/sources/neuron/tool.h"
#include "capture/system/descriptor.h"
#include "capture/system/shown_command.h"
#include "core/base/format.h"

namespace accelscope::capture::kinds::neuron {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

constexpr int kTraceDepth = 2;    // of folders in which the tool may put traces
constexpr int kCompileDepth = 6;  // of those in which compilers put NEFFs
constexpr auto kPausedTurn = 50ms;
constexpr auto kInspectGrace = 60s;  // for what a program that is stopped has recorded to be written
constexpr const char* kUsualCache = "/var/tmp/neuron-compile-cache";

std::string inherited_variable(const std::string& name) { return system::environment_value(name.c_str()); }

std::string seconds_text(std::chrono::nanoseconds time) {
  return fmt::format("{:g} s", std::chrono::duration<double>(time).count());
}

std::vector<std::string> paths_of(const std::vector<kinds::program::FolderWatch::File>& files) {
  std::vector<std::string> paths;
  for (const kinds::program::FolderWatch::File& file : files) paths.push_back(file.path);
  return paths;
}

std::string compile_cache(const std::vector<std::string>& environment) {
  const std::string cache = system::environment_value(kCacheVariable, environment);
  return cache.empty() ? kUsualCache : cache;
}

}  // namespace

std::string host_path(const std::string& file, const request::CaptureRequest& request, const std::string& work_folder) {
  const fs::path path(file);
  if (path.is_absolute()) return file;
  std::error_code failure;
  const fs::path sent = fs::path(work_folder) / path;
  if (!work_folder.empty() && fs::exists(sent, failure)) return fs::absolute(sent, failure).string();
  return fs::absolute(fs::path(kinds::program::program_folder(request, work_folder)) / path, failure).string();
}

NeuronRun::NeuronRun(const request::KindRun& run, EventSink& sink, NeuronSettings settings, std::string tool)
    : run_(run),
      sink_(sink),
      settings_(std::move(settings)),
      tool_(std::move(tool)),
      tool_name_(fs::path(tool_).filename().string()),
      base_(fs::absolute(kinds::program::program_folder(run.request, run.work_folder)).string()),
      steps_(run, sink, tool_name_) {}

Result<void> NeuronRun::run() {
  while (sink_.paused() && !sink_.cancelled()) std::this_thread::sleep_for(kPausedTurn);
  steps_.writer().set_meta("neuron.tool", tool_);
  Result<void> done;
  if (settings_.start == NeuronStart::neff) {
    done = capture_neff(host_path(settings_.neff, run_.request, run_.work_folder));
  } else if (settings_.profile == NeuronProfile::device) {
    done = capture_compiled();
  } else {
    done = inspect_program();
  }
  if (stopped_) {
    warn("capture_stopped",
         fmt::format("the capture was stopped before the profile was read; what {} has written until then is in {}",
                     tool_name_, base_));
  }
  const Result<void> kept = steps_.writer().finish();
  return done.ok() ? kept : done;
}

void NeuronRun::warn(QualityKind kind, std::string detail, std::uint64_t count) {
  steps_.note("accelscope: " + detail);
  steps_.writer().add_quality({kind, count, std::move(detail)});
}

Error NeuronRun::failure(const std::vector<std::string>& arguments, const StepEnd& ended) const {
  std::vector<std::string> command = {tool_name_};
  command.insert(command.end(), arguments.begin(), arguments.end());
  const std::string what = fmt::format("{} {}", tool_name_, arguments.front());
  if (ended.timed_out) {
    return Error{
        fmt::format("{}: was still running after {} and was ended; give it longer with --time-limit, or see "
                    "whether the device hangs (neuron-top); {}",
                    what, seconds_text(settings_.time_limit), sources::neuron::shown_output(ended.output))};
  }
  const std::string advice = sources::neuron::advice_on_failure(ended.output);
  const std::string how = ended.signal != 0 ? "was ended by " + system::signal_name(ended.signal)
                                            : fmt::format("failed with exit code {}", ended.exit_code);
  return Error{fmt::format("{}: {}; {}{}to try by hand: {}; {}", what, how, advice, advice.empty() ? "" : "; ",
                           system::shell_command(command), sources::neuron::shown_output(ended.output))};
}

Result<StepEnd> NeuronRun::run_tool(const std::vector<std::string>& arguments, const std::string& folder,
                                    std::chrono::nanoseconds limit) {
  Result<StepEnd> ended = steps_.run(
      {.start = {tool_, arguments, folder, run_.request.environment}, .limit = limit, .after_stop = after_stop_});
  if (ended) stopped_ = stopped_ || ended->stopped;
  return ended;
}

Result<std::string> NeuronRun::new_folder(const std::string& base, const std::string& name) {
  std::error_code failure;
  fs::path path = fs::path(base) / name;
  for (int i = 2; fs::exists(path, failure); ++i) path = fs::path(base) / fmt::format("{}-{}", name, i);
  if (fs::create_directories(path, failure); failure) {
    return Error{fmt::format("{}: the folder cannot be made: {}", path.string(), failure.message())};
  }
  return fs::absolute(path).string();
}

// What the session says of its outputs: numbers that were computed from zeros are none to compare.
Result<void> NeuronRun::check_inputs() {
  std::string zero;
  std::uint64_t count = 0;
  for (NeuronInput& input : settings_.inputs) {
    input.file = host_path(input.file, run_.request, run_.work_folder);
    const Result<bool> all_zero = is_all_zero(input.file);
    if (!all_zero) return Error{fmt::format("--input: {}", all_zero.message())};
    if (!*all_zero) continue;
    zero += (zero.empty() ? "" : ", ") + input.name;
    ++count;
  }
  if (settings_.inputs.empty()) {
    warn("inputs_all_zero",
         "no inputs were given, so the tool fed zeros: times can be used, outputs mean nothing; give --input NAME=FILE "
         "for each input");
  } else if (count > 0) {
    warn("inputs_all_zero",
         fmt::format("inputs hold nothing but zeros: {}; outputs that depend on them mean nothing; was the file saved "
                     "before it was filled?",
                     zero),
         count);
  }
  if (settings_.single_io) {
    warn("single_io_outputs_wrong",
         "captured with --single-io: all inputs and outputs share one buffer, so outputs are wrong; times are not");
  }
  return {};
}

Result<void> NeuronRun::capture_neff(const std::string& neff) {
  if (Result<void> checked = check_inputs(); !checked) return checked;
  std::error_code ignored;  // the tool says it if its trace cannot be written
  fs::create_directories((fs::path(base_) / settings_.session_file).parent_path(), ignored);
  const std::vector<std::string> arguments = capture_arguments(settings_, neff, settings_.inputs);
  steps_.writer().set_meta("neuron.neff", neff);
  steps_.writer().set_meta("neuron.command", tool_name_ + " " + system::shown_command(arguments));
  const kinds::program::FolderWatch traces({base_}, ".ntff", kTraceDepth);
  const Result<StepEnd> ended = run_tool(arguments, base_, settings_.time_limit);
  if (!ended) return ended.error();
  if (stopped_) return {};
  if (ended->timed_out || ended->exit_code != 0) return failure(arguments, *ended);
  const ChosenTraces found = choose_traces(paths_of(traces.changed()), settings_.nth_exec);
  if (found.chosen.empty()) {
    return Error{fmt::format(
        "{} capture: ended without an error but wrote no trace (.ntff) in {}; to try by hand: {} "
        "{}; {}",
        tool_name_, base_, tool_name_, system::shell_command(arguments), sources::neuron::shown_output(ended->output))};
  }
  if (!found.left.empty()) {
    warn("traces_not_read",
         fmt::format("traces of other executions were written too and are not in the session, such as {}",
                     found.left.front()),
         found.left.size());
  }
  if (!found.beyond.empty()) {
    warn("ranks_not_read",
         fmt::format(
             "ranks after the first {} are not in the session; their traces, such as {}, lie on the host: capture "
             "fewer with --collectives-profile-id, or import them",
             found.chosen.size(), found.beyond.front()),
         found.beyond.size());
  }
  return process(neff, found.chosen);
}

Result<void> NeuronRun::process_trace(const std::string& neff, const NeuronTrace& trace, const std::string& output) {
  const std::vector<std::string> arguments = sources::neuron::neuron_view_arguments(neff, trace.path, output);
  const Result<StepEnd> ended = run_tool(arguments, base_, settings_.time_limit);
  if (!ended) return ended.error();
  if (stopped_) return {};
  if (ended->timed_out || ended->exit_code != 0) return failure(arguments, *ended);
  std::error_code gone;
  if (fs::exists(output, gone)) return {};
  return Error{fmt::format("{} view: ended without an error but wrote no profile of {}; to try by hand: {} {}; {}",
                           tool_name_, trace.path, tool_name_, system::shell_command(arguments),
                           sources::neuron::shown_output(ended->output))};
}

Result<void> NeuronRun::process(const std::string& neff, const std::vector<NeuronTrace>& traces) {
  const Result<std::string> folder = new_folder(run_.work_folder + "/processed", fs::path(neff).stem().string());
  if (!folder) return folder.error();
  std::vector<std::string> unread;
  for (const NeuronTrace& trace : traces) {
    std::string name = fs::path(trace.path).stem().string();
    if (!trace.label.empty()) name = "profile_" + trace.label;
    for (char& c : name) c = c == ' ' ? '_' : c;
    const Result<void> done = process_trace(neff, trace, *folder + "/" + name + ".json");
    if (stopped_) return {};
    if (!done) unread.push_back(done.message());
  }
  if (unread.size() == traces.size()) return Error{unread.front()};
  for (const std::string& why : unread) {
    warn("unreadable_input", why + "; the other ranks were read");
  }
  return import_folder(*folder);
}

Result<void> NeuronRun::import_folder(const std::string& folder) {
  steps_.note("accelscope: reads what was processed");
  ProfileSinks sinks(run_.open_scope, after_stop_);
  Result<void> done = sources::import_input({folder}, {}, [&] { return sinks.next(); });
  if (!done && sink_.cancelled() && !after_stop_) {
    stopped_ = true;
    return {};
  }
  return done ? sinks.place(run_.origin) : done;
}

Result<StepEnd> NeuronRun::run_program(const ToolStep& step) {
  if (const Result<system::ChildStart> written = kinds::program::prepare_program(run_); !written) {
    return written.error();
  }
  Result<StepEnd> ended = steps_.run(step);
  if (!ended) return ended;
  stopped_ = ended->stopped;
  steps_.writer().set_meta(std::string(kinds::program::kExitStatusFact), fmt::format("{}", ended->exit_code));
  if (run_.watch.ended) run_.watch.ended(ended->exit_code);
  if (!stopped_ && ended->exit_code != 0) {
    warn("program_failed",
         fmt::format("the program ended with status {}; what it printed last is on the tracks stdout and stderr",
                     ended->exit_code));
  }
  return ended;
}

Result<void> NeuronRun::capture_compiled() {
  ToolStep step{.start = kinds::program::program_start(run_.request, run_.work_folder)};
  const std::string fresh = (fs::absolute(run_.work_folder) / "neuron-cache").string();
  step.start.environment = compile_environment(settings_, step.start.environment, fresh, inherited_variable);
  const kinds::program::FolderWatch compiled({base_, compile_cache(step.start.environment)}, ".neff", kCompileDepth);
  const Result<StepEnd> ended = run_program(step);
  if (!ended) return ended.error();
  if (stopped_) return {};
  Result<std::string> neff = choose_compiled(compiled, *ended);
  if (!neff) return neff.error();
  return capture_neff(*neff);
}

Result<std::string> NeuronRun::choose_compiled(const kinds::program::FolderWatch& watch, const StepEnd& ended) {
  const std::vector<kinds::program::FolderWatch::File> files = watch.changed();
  if (files.empty()) {
    return Error{fmt::format(
        "the program {} and wrote no NEFF below {} or its compile cache; {}; {}",
        ended.exit_code == 0 ? std::string("ended") : fmt::format("ended with status {}", ended.exit_code), base_,
        settings_.fresh_cache ? "does it run on the device at all?"
                              : "if it took what was compiled before from a cache, add --fresh-cache",
        sources::neuron::shown_output(ended.output))};
  }
  const Result<std::size_t> chosen = choose_neff(files, settings_.compiled_neff);
  if (!chosen) return chosen.error();
  std::string list;
  for (std::size_t i = 0; i < files.size(); ++i) {
    list += fmt::format("{}{}. {} ({}){}", i == 0 ? "" : "\n", i + 1, files[i].path,
                        format_bytes(static_cast<double>(files[i].bytes)), i == *chosen ? "  <- is profiled" : "");
  }
  steps_.note(fmt::format("accelscope: NEFFs that the program compiled; --compiled-neff {} takes number {}:\n{}",
                          settings_.compiled_neff, *chosen + 1, list));
  steps_.writer().set_meta("neuron.neffs", list);
  // Beside the trace, so that both can be brought back by one pattern.
  const fs::path neff = files[*chosen].path;
  const fs::path beside = (fs::path(base_) / settings_.session_file).replace_extension(".neff");
  std::error_code failure;
  if (neff.parent_path() == beside.parent_path() || fs::exists(beside, failure)) return neff.string();
  fs::create_directories(beside.parent_path(), failure);
  return fs::copy_file(neff, beside, failure) ? beside.string() : neff.string();
}

Result<void> NeuronRun::inspect_program() {
  const system::ChildStart program = kinds::program::program_start(run_.request, run_.work_folder);
  std::vector<std::string> words = {program.program};
  words.insert(words.end(), program.arguments.begin(), program.arguments.end());
  const std::string name = fs::path(settings_.session_file).stem().string();
  const Result<std::string> written = new_folder(base_, name + "-inspect");
  if (!written) return written.error();
  const std::vector<std::string> arguments = inspect_arguments(settings_, *written, words);
  steps_.writer().set_meta("neuron.command", tool_name_ + " " + system::shown_command(arguments));
  const ToolStep step{
      .start = {tool_, arguments, base_, compile_environment(settings_, program.environment, "", inherited_variable)},
      .grace = kInspectGrace};
  const Result<StepEnd> ended = run_program(step);
  if (!ended) return ended.error();
  std::error_code failed;
  if (fs::is_empty(*written, failed)) {
    if (stopped_) return {};
    return ended->exit_code != 0
               ? failure(arguments, *ended)
               : Error{fmt::format("{} inspect: wrote nothing into {}; does the program run on a "
                                   "device at all? {}",
                                   tool_name_, *written, sources::neuron::shown_output(ended->output))};
  }
  if (stopped_) {  // as programs that serve have to be
    warn(QualityKind("program_stopped").as(Severity::note),
         "the program was stopped; what had been recorded until then is in the session");
    after_stop_ = true;
    stopped_ = false;
  }
  const Result<std::string> folder = new_folder(run_.work_folder + "/processed", name);
  if (!folder) return folder.error();
  const std::vector<std::string> view = view_folder_arguments(settings_, *written);
  const Result<StepEnd> viewed = run_tool(view, *folder, settings_.time_limit);
  if (!viewed) return viewed.error();
  if (stopped_) return {};
  if (viewed->timed_out || viewed->exit_code != 0) return failure(view, *viewed);
  if (fs::is_empty(*folder, failed)) {
    return Error{fmt::format("{} view: ended without an error but wrote no profile of {}; {}", tool_name_, *written,
                             sources::neuron::shown_output(viewed->output))};
  }
  return import_folder(*folder);
}

}  // namespace accelscope::capture::kinds::neuron
