#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <memory>
#include <ostream>
#include <utility>

#include "app/output/output_file.h"
#include "app/terminal/command.h"
#include "app/terminal/record_arguments.h"
#include "app/terminal/terminal.h"
#include "capture/client/record.h"
#include "capture/command_line/options.h"
#include "capture/request/option_cli.h"
#include "capture/request/options.h"
#include "capture/system/descriptor.h"
#include "core/base/format.h"
#include "core/base/json.h"
#include "core/base/text.h"

namespace accelscope::app::commands {
namespace {

struct RecordCommand {
  capture::client::RecordOptions options;
  terminal::RecordArguments arguments;
  std::string memory_budget;
  bool force = false;

  int run(const terminal::CommandRun& run) const;
  [[nodiscard]] Result<std::string> output_name() const;
  int record(capture::client::RecordOptions record_options, const std::string& name,
             const terminal::CommandRun& run) const;
};

// Where the output is the result's, in JSON or as a session, what the program prints is beside it.
bool show_text(const capture::client::ProgramText& text, bool output_is_taken, const terminal::CommandRun& run) {
  if (run.shows_progress()) run.streams.err << terminal::erase_line << std::flush;
  // As the program wrote it, colours and progress bars too: the user runs it, as if it were in this terminal.
  std::ostream& stream = exact_stream(text.is_error || output_is_taken ? run.streams.err : run.streams.out);
  stream << text.text << std::flush;
  return stream.good();
}

std::string recording_line(const capture::client::CaptureStatus& status) {
  std::uint64_t bytes = 0;
  std::uint64_t waiting = 0;
  double seconds = 0;
  for (const capture::client::AgentStatus& agent : status.agents) {
    bytes += agent.bytes;
    waiting += agent.waiting_bytes;
    seconds = std::max(seconds, agent.streaming_seconds);
  }
  std::string line =
      fmt::format("{} events  {}/s  {}  {}  {}", format_count(status.events), format_number(status.events_per_second),
                  format_bytes(bytes), format_rate(status.bytes_per_second), format_duration(seconds * 1e9));
  if (waiting > 0) line += fmt::format("  {} waiting", format_bytes(waiting));
  return line;
}

std::string progress_line(const capture::client::CaptureStatus& status, std::optional<double> saved) {
  if (saved) return fmt::format("Saving  {:.0f} %", *saved * 100);
  switch (status.phase) {
    case capture::client::CapturePhase::preparing:
      for (const capture::client::AgentStatus& agent : status.agents) {
        if (!agent.step.empty()) return fmt::format("{}: {}", agent.place, agent.step);
      }
      return "Connecting";
    case capture::client::CapturePhase::reconnecting:
      return fmt::format("Reconnecting  {}  {}", status.message, recording_line(status));
    case capture::client::CapturePhase::streaming:
      if (!status.message.empty()) return fmt::format("Recording  {}  {}", recording_line(status), status.message);
      return "Recording  " + recording_line(status);
    case capture::client::CapturePhase::paused:
      return "Paused  " + recording_line(status);
    case capture::client::CapturePhase::stopping:
      return "Stopping  " + recording_line(status);
    default:
      return "Recording  " + recording_line(status);
  }
}

std::string peers_of(const capture::client::RecordReport& report) {
  std::string peers;
  for (const capture::client::AgentStatus& agent : report.agents) peers += (peers.empty() ? "" : ", ") + agent.peer;
  return peers;
}

void print_report(const terminal::CommandRun& run, const capture::client::RecordReport& report) {
  if (run.json) {
    run.streams.out << json_line(
        "output", report.path, "peer", peers_of(report), "events", report.events, "table_rows", report.table_rows,
        "chunks", report.chunks, "wire_bytes", report.wire_bytes, "lost_events", report.lost_events, "dropped_events",
        report.dropped_events, "doubled_frames", report.doubled_frames, "results_files", report.results_files,
        "memory_bytes", report.memory_bytes, "capture_seconds", report.capture_seconds, "save_seconds",
        report.save_seconds, "complete", report.complete, "exit_status", report.exit_status, "message", report.message);
    return;
  }
  const double rate = report.capture_seconds > 0 ? static_cast<double>(report.events) / report.capture_seconds : 0;
  const std::string rows =
      report.table_rows == 0 ? std::string() : fmt::format(" and {} rows of tables", format_count(report.table_rows));
  std::string line = fmt::format("{}: {} events{} in {} from {}, {} events/s, {} in memory", report.path,
                                 format_count(report.events), rows, format_duration(report.capture_seconds * 1e9),
                                 peers_of(report), format_number(rate), format_bytes(report.memory_bytes));
  if (report.results_files > 0) line += fmt::format(", {} files brought back", report.results_files);
  if (report.exit_status) line += fmt::format(", the program ended with status {}", *report.exit_status);
  run.inform(line);
}

// Where the user gives none: after the program, else after the first place.
Result<std::string> RecordCommand::output_name() const {
  if (!options.output_path.empty()) return options.output_path;
  const auto plan = TRY(arguments.plan(""));
  const capture::request::CaptureRequest& request = plan.request;
  const bool named = !request.name.empty() || !request.program.empty() || !request.script.empty();
  if (named || !request.kinds.empty() || plan.places.empty()) return capture::request::session_file_name(request);
  std::string place = plan.places.front();
  if (const std::size_t host = place.find("//"); host != std::string::npos) place.erase(0, host + 2);
  for (char& c : place) c = std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '.' ? c : '_';
  return place + ".accel";
}

int RecordCommand::run(const terminal::CommandRun& run) const {
  const auto name = output_name();
  if (!name) return run.fail_usage("record", name.message());
  if (run.json && *name == terminal::kStandardStream)
    return run.fail_usage("record", "-o - and --json both write to the output");
  const auto planned = arguments.plan(*name);
  if (!planned) return run.fail_usage("record", planned.message());
  capture::client::RecordOptions record_options = options;
  record_options.plan = *planned;
  record_options.plan.replaces_results = force;
  terminal::run_program_by_default(record_options.plan);
  const bool replaces = force || capture::client::goes_on(record_options.plan, *name);
  if (auto may = output::may_write(*name, replaces, {}); !may) return run.fail(may.message());
  const auto target = terminal::FileTarget::open(*name, run);
  if (!target) return run.fail(target.message());
  record_options.output_path = target->path();
  record_options.store.memory_budget_bytes = default_memory_budget();
  record_options.store.written_by = "accelscope " ACCELSCOPE_VERSION;
  if (!memory_budget.empty()) {
    const auto budget = parse_size(memory_budget);
    if (!budget) return run.fail_usage("record", "--memory-budget: " + budget.message());
    record_options.store.memory_budget_bytes = *budget;
  }
  const bool terminal = run.streams.err_is_terminal && terminal::is_terminal(stdin);
  record_options.ask_on_terminal = terminal;
  if (terminal) {
    record_options.answer = [&run](const capture::client::CaptureQuestion& question) {
      return terminal::ask_on_terminal(question, run.streams.err);
    };
  }
  record_options.on_recovery = [&run](const capture::client::Recoverable& recoverable) {
    run.inform(fmt::format("{}: takes up the recording that was interrupted, {} events of {} so far",
                           recoverable.folder, format_count(recoverable.events), recoverable.title));
  };
  if (!run.quiet) {
    const bool output_is_taken = run.json || *name == terminal::kStandardStream;
    record_options.printed = [&run, output_is_taken](const capture::client::ProgramText& text) {
      return show_text(text, output_is_taken, run);
    };
  }
  const int status = record(std::move(record_options), *name, run);
  const Result<void> given = target->finish(run);
  return given || status == terminal::kExitFailed ? status : run.fail(given.message());
}

int RecordCommand::record(capture::client::RecordOptions record_options, const std::string& name,
                          const terminal::CommandRun& run) const {
  const capture::system::IgnoredBrokenPipe no_signal;  // a reader that leaves does not end the capture
  const terminal::Interruptible interruptible;
  bool stopping = false;  // a save that has begun is not given up for the interruption that led to it
  record_options.progress = [&](const capture::client::CaptureStatus& status, std::optional<double> saved) {
    if (run.shows_progress()) run.streams.err << terminal::erase_line << progress_line(status, saved) << std::flush;
    if (saved) return true;
    stopping = stopping || interruptible.interrupted();
    return !stopping;
  };
  auto report = capture::client::record(record_options);
  if (run.shows_progress()) run.streams.err << terminal::erase_line << std::flush;
  if (!report) return run.fail(report.message());
  if (report->path == record_options.output_path) report->path = name;
  print_report(run, *report);
  if (!report->complete) return run.fail(fmt::format("{}: {}", report->path, report->message));
  if (const int status = report->exit_status.value_or(terminal::kExitDone); status != terminal::kExitDone)
    return status;
  if (!report->output_shown) {
    return run.fail("what the program printed could not be written; the session has all of it");
  }
  return interruptible.interrupted() ? terminal::kExitInterrupted : terminal::kExitDone;
}

}  // namespace

std::string help_on_kind(const std::string& kind) {
  return capture::request::kind_help("accelscope record PLACE", kind, capture::request::declared_kinds());
}

terminal::CommandAction declare_record(command_line::OptionSet& options) {
  auto command = std::make_shared<RecordCommand>();
  command->arguments.declare(options);
  options.add_option("-o,--output", command->options.output_path,
                     "Session file to write, - for the standard output; else PROGRAM.accel in this folder");
  options.add_flag("--accept-new-agent", command->options.accept_new_agents,
                   "Trust a certificate that was never seen before");
  options.add_option(
      "--memory-budget", command->memory_budget,
      "Memory, such as 4GiB, after which the capture goes on in a temporary file; else half of this machine's");
  options.add_flag("--force", command->force, "Replace the output file");
  options.set_footer(capture::request::kinds_footer("accelscope record", capture::request::declared_kinds()) +
                     "\nWhat the program prints is shown, and its exit status is this command's. With local it runs in "
                     "this folder;\nelsewhere, and with --send, in that of the files that are sent.\n\nExamples:\n" +
                     "  accelscope record local -o bench.accel -- python3 bench.py\n"
                     "  accelscope record ssh://user@trn1-07 -o bench.accel --send bench.py -- python3 bench.py\n"
                     "  accelscope record 127.0.0.1:7420 -o run.accel --duration 10");
  return [command](const terminal::CommandRun& run) { return command->run(run); };
}

}  // namespace accelscope::app::commands
