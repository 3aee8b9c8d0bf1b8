#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <memory>
#include <ostream>

#include "app/commands/command.h"
#include "app/commands/interrupt.h"
#include "capture/client/record.h"
#include "core/base/format.h"

namespace accelscope::app {
namespace {

constexpr std::string_view kEraseLine = "\r\x1b[2K";

struct RecordCommand {
  capture::RecordOptions options;
  double duration_s = 0;
  std::string memory_budget;
  bool force = false;

  int run(const CommandRun& run) const;
};

std::string progress_line(const capture::ConnectionStatus& status, std::optional<double> saved,
                          std::optional<double> duration_s) {
  if (saved) return fmt::format("Saving  {:.0f} %", *saved * 100);
  if (status.state == capture::ConnectionState::connecting) return "Connecting";
  std::string line =
      fmt::format("Recording  {} events  {}/s  {}  {}  {}", format_count(status.events),
                  format_number(status.events_per_second), format_bytes(static_cast<double>(status.bytes)),
                  format_rate(status.bytes_per_second), format_duration(status.streaming_seconds * 1e9));
  if (duration_s) line += fmt::format("  {:.0f} s left", std::max(0.0, *duration_s - status.streaming_seconds));
  return line;
}

void print_report(const CommandRun& run, const capture::RecordReport& report) {
  if (run.json) {
    run.streams.out << fmt::format(
        "{{\"output\": {}, \"peer\": {}, \"events\": {}, \"chunks\": {}, \"wire_bytes\": {}, \"lost_events\": {}, "
        "\"doubled_frames\": {}, \"memory_bytes\": {}, \"capture_seconds\": {}, \"save_seconds\": {}, \"complete\": "
        "{}, "
        "\"message\": {}}}\n",
        json_quote(report.path), json_quote(report.peer), report.events, report.chunks, report.wire_bytes,
        report.lost_events, report.doubled_frames, report.memory_bytes, report.capture_seconds, report.save_seconds,
        report.complete, json_quote(report.message));
    return;
  }
  const double rate = report.capture_seconds > 0 ? static_cast<double>(report.events) / report.capture_seconds : 0;
  run.say(fmt::format("{}: {} events in {} from {}, {} events/s, {} in memory", report.path,
                      format_count(report.events), format_duration(report.capture_seconds * 1e9), report.peer,
                      format_number(rate), format_bytes(static_cast<double>(report.memory_bytes))));
}

int RecordCommand::run(const CommandRun& run) const {
  std::error_code error;
  if (!force && std::filesystem::exists(options.output_path, error)) {
    return run.fail(options.output_path +
                    ": the file exists already; name another with -o, or replace it with --force");
  }
  capture::RecordOptions record_options = options;
  record_options.version = ACCELSCOPE_VERSION;
  if (duration_s > 0) record_options.duration_seconds = duration_s;
  if (!memory_budget.empty()) {
    const auto budget = parse_size(memory_budget);
    if (!budget) return run.fail_usage("record", "--memory-budget: " + budget.message());
    record_options.store.memory_budget_bytes = *budget;
  }
  const Interruptible interruptible;
  bool stopping = false;  // a save that has begun is not given up for the interruption that led to it
  record_options.progress = [&](const capture::ConnectionStatus& status, std::optional<double> saved) {
    if (run.shows_progress())
      run.streams.err << kEraseLine << progress_line(status, saved, record_options.duration_seconds) << std::flush;
    if (saved) return true;
    stopping = stopping || interruptible.interrupted();
    return !stopping;
  };
  const auto report = capture::record(record_options);
  if (run.shows_progress()) run.streams.err << kEraseLine << std::flush;
  if (!report) return run.fail(report.message());
  print_report(run, *report);
  if (!report->complete) return run.fail(fmt::format("{}: {}", report->path, report->message));
  return kExitDone;
}

}  // namespace

CommandAction declare_record(CLI::App& options) {
  auto command = std::make_shared<RecordCommand>();
  options.add_option("HOST:PORT", command->options.address, "Where the agent listens")->required();
  options.add_option("-o,--output", command->options.output_path, "Session file to write")->required();
  options.add_option("--duration", command->duration_s, "Stop after so many seconds")->check(CLI::PositiveNumber);
  options.add_option("--memory-budget", command->memory_budget,
                     "Memory, such as 4GiB, after which the capture goes on in a temporary file");
  options.add_flag("--force", command->force, "Replace the output file");
  return [command](const CommandRun& run) { return command->run(run); };
}

}  // namespace accelscope::app
