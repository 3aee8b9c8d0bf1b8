#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <new>
#include <ostream>

#include "app/terminal/command.h"
#include "app/terminal/terminal.h"
#include "capture/command_line/options.h"
#include "core/base/own_files.h"
#include "core/base/text.h"
#include "core/base/worker_pool.h"

namespace accelscope::app {

// One per command, each in its file; below a row each.
CommandAction declare_import(command_line::OptionSet& options);
std::string help_on_kind(const std::string& kind);
CommandAction declare_record(command_line::OptionSet& options);
CommandAction declare_view(command_line::OptionSet& options);
CommandAction declare_show_session(command_line::OptionSet& options);
CommandAction declare_compare(command_line::OptionSet& options);
CommandAction declare_advise(command_line::OptionSet& options);
CommandAction declare_iterations(command_line::OptionSet& options);
CommandAction declare_what_if(command_line::OptionSet& options);
CommandAction declare_list(command_line::OptionSet& options);
CommandAction declare_query(command_line::OptionSet& options);
CommandAction declare_screenshot(command_line::OptionSet& options);
CommandAction declare_simulate(command_line::OptionSet& options);
CommandAction declare_ingest_check(command_line::OptionSet& options);
CommandAction declare_mcp(command_line::OptionSet& options);
CommandAction declare_doctor(command_line::OptionSet& options);
CommandAction declare_demo(command_line::OptionSet& options);

namespace {

constexpr std::array kCommands = {
    ProgramCommand{"import", "Read profiles of any known format into a session file",
                   "accelscope import profile.json -o kernel.accel --source-root ~/kernels", declare_import},
    ProgramCommand{"record", "Capture from an agent into a session file, without a window",
                   "accelscope record 127.0.0.1:7420 -o run.accel --duration 10", declare_record,
                   "accelscope record [OPTIONS] PLACE [-- PROGRAM ARGS...]", help_on_kind},
    ProgramCommand{"view", "Print a profile's figures, or convert it",
                   "accelscope view profile.json --output-format summary-json | jq '.[] | .total_time'", declare_view},
    ProgramCommand{"show-session", "List what ran: engines, queues, streams and threads with their counts",
                   "accelscope show-session run.accel", declare_show_session},
    ProgramCommand{
        "query", "Ask a session in SQL",
        "accelscope query run.accel \"SELECT name, count(*), sum(dur_ns) FROM slice GROUP BY name ORDER BY 3 DESC\"",
        declare_query},
    ProgramCommand{"compare", "Set sessions beside each other: what became faster, slower, more or less beyond noise",
                   "accelscope compare base/*.accel new/*.accel --group-by folder --by metric,line --fail-above 3%",
                   declare_compare, "accelscope compare [OPTIONS] BASE OTHER..."},
    ProgramCommand{"advise", "Say what costs time that could be saved, ranked, with the events that it rests on",
                   "accelscope advise kernel.accel --range 10%:20% --format json", declare_advise},
    ProgramCommand{"iterations",
                   "Find steps and loops that repeat, folded over each other; or regions and their lengths",
                   "accelscope iterations run.accel --by ProfilerStep --range 10%:90%", declare_iterations},
    ProgramCommand{"what-if", "Say how long it would take with a change, by replaying what depended on what",
                   "accelscope what-if run.accel --change 'dma bandwidth x1.5' --change 'drop reload of w1'",
                   declare_what_if},
    ProgramCommand{"list", "List the sessions of folders with device, date, tags and their main figures",
                   "accelscope list ~/runs --search mlp --json", declare_list},
    ProgramCommand{"screenshot", "Draw a session into a PNG; needs no display",
                   "accelscope screenshot run.accel -o run.png --range 10%:20% --theme light", declare_screenshot},
    ProgramCommand{"simulate", "Write a session or a profile of a simulated accelerator",
                   "accelscope simulate -o demo.accel --events 100000 --devices 2", declare_simulate},
    ProgramCommand{"ingest-check", "Say what of a file is read, what is skipped and why",
                   "accelscope ingest-check profile.json", declare_ingest_check},
    ProgramCommand{"mcp", "Serve sessions to coding agents: Model Context Protocol on the standard streams",
                   "accelscope mcp run.accel", declare_mcp},
    ProgramCommand{"doctor", "Say what works on this computer and what to do about the rest", "accelscope doctor",
                   declare_doctor},
    ProgramCommand{"demo", "Run the main job from end to end against a running agent",
                   "accelscope demo 127.0.0.1:7420 --output-dir demo-results", declare_demo},
};

void print_help(std::ostream& out) {
  out << "Accelscope " << ACCELSCOPE_VERSION
      << ", a profiler for AI accelerators.\n\n"
         "  accelscope [SESSION | FILE | DIR | HOST:PORT]...   the viewer, opened on these;\n"
         "                                                   --view LINK shows them as linked\n";
  for (const ProgramCommand& command : kCommands) {
    out << fmt::format("  accelscope {:<38} {}\n", command.name, command.summary);
  }
  out << "\nEvery command has --help with an example, --quiet, and where it makes sense --json; - is the standard "
         "input "
         "or\noutput where a file is meant. The exit status is 0 done, 1 failed, 2 wrong usage, 130 interrupted.\n"
         "Time ranges are written 12.5us:40us or 10%:20%, sizes 512MiB, rates 2M.\n";
}

const ProgramCommand* find_command(std::string_view name) {
  const auto found = std::find_if(kCommands.begin(), kCommands.end(),
                                  [name](const ProgramCommand& command) { return command.name == name; });
  return found == kCommands.end() ? nullptr : &*found;
}

int run_command(const ProgramCommand& command, const std::vector<std::string>& arguments,
                const CommandStreams& streams) {
  command_line::OptionSet options(std::string(command.summary), fmt::format("accelscope {}", command.name));
  options.set_footer(fmt::format("Example:\n  {}", command.example));
  CommandRun run{streams};
  options.add_flag("--quiet", run.quiet, "Print results and errors only");
  options.add_flag("--json", run.json, "Print the result as JSON");
  if (!command.usage.empty()) options.set_usage(std::string(command.usage));
  if (const std::string word = command_line::help_topic(arguments); command.topic != nullptr && !word.empty()) {
    if (const std::string text = command.topic(word); !text.empty()) {
      streams.out << text;
      return kExitDone;
    }
  }
  options.add_version(fmt::format("accelscope {}", ACCELSCOPE_VERSION));
  const CommandAction action = command.declare(options);
  const Result<std::string> shown = options.parse(arguments);
  if (!shown) return run.fail_usage(std::string(command.name), shown.message());
  if (!shown->empty()) {
    streams.out << *shown;
    return kExitDone;
  }
  const CommandRun exact{
      {run.json ? run.data_out() : streams.out, streams.err, streams.err_is_terminal, streams.out_is_terminal},
      run.quiet,
      run.json};
  const int status = action(exact);
  return status == kExitFailed && interrupted_status() != 0 ? interrupted_status() : status;
}

// An option of the viewer: takes it and its value out of the arguments. "" when it is not given.
std::string take_option(std::vector<std::string>& arguments, std::string_view name) {
  const auto option = std::find(arguments.begin(), arguments.end(), name);
  if (option == arguments.end() || option + 1 == arguments.end()) return "";
  std::string value = *(option + 1);
  arguments.erase(option, option + 2);
  return value;
}

}  // namespace

int CommandRun::fail(const std::string& message) const {
  streams.err << "accelscope: " << message << '\n';
  return kExitFailed;
}

int CommandRun::fail_usage(const std::string& command, const std::string& message) const {
  const std::string help = command.empty() ? "accelscope --help" : fmt::format("accelscope {} --help", command);
  streams.err << "accelscope: " << message << "; try " << help << '\n';
  return kExitUsage;
}

std::ostream& CommandRun::data_out() const { return streams.out_is_terminal ? streams.out : exact_stream(streams.out); }

void CommandRun::inform(const std::string& line) const {
  if (!quiet) streams.err << line << '\n';
}

std::span<const ProgramCommand> program_commands() { return kCommands; }

namespace {

int run_words(std::vector<std::string> arguments, const CommandStreams& streams) {
  const CommandRun run{streams};
  ViewerOptions options;
  if (!arguments.empty()) {
    const std::string& first = arguments.front();
    if (first == "--help" || first == "-h" || first == "help") {
      if (const ProgramCommand* command = arguments.size() > 1 ? find_command(arguments[1]) : nullptr) {
        return run_command(*command, {"--help"}, streams);
      }
      print_help(streams.out);
      return kExitDone;
    }
    if (first == "--version") {
      streams.out << "accelscope " << ACCELSCOPE_VERSION << '\n';
      return kExitDone;
    }
    if (const ProgramCommand* command = find_command(first)) {
      arguments.erase(arguments.begin());
      return run_command(*command, arguments, streams);
    }
    options.dump_file = take_option(arguments, "--dump-state");
    options.view = take_option(arguments, "--view");
    for (const std::string& argument : arguments) {
      if (argument.size() > 1 && argument.starts_with('-')) {
        return run.fail_usage("", fmt::format("{}: the viewer has no such option", argument));
      }
    }
  }
  return open_viewer(arguments, options, run);
}

}  // namespace

int run_program(std::vector<std::string> arguments, const CommandStreams& exact) {
  forget_interrupts();
  const OutputAccess access;
  PlainTextStream out(exact.out);
  PlainTextStream err(exact.err);
  const CommandStreams streams{out, err, exact.err_is_terminal, exact.out_is_terminal};
  int status = kExitFailed;
  try {
    status = run_words(std::move(arguments), streams);
  } catch (const std::bad_alloc&) {
    return CommandRun{streams}.fail(out_of_memory_error().message);
  }
  // What nobody has read is not done.
  streams.out.flush();
  if (status != kExitDone || (streams.out.good() && exact.out.good())) return status;
  return CommandRun{streams}.fail("the standard output cannot be written; is the disk full, or the reader gone?");
}

}  // namespace accelscope::app
