#include "app/commands/command_line.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <new>
#include <ostream>

#include "app/frame/app.h"
#include "app/terminal/session_input.h"
#include "app/terminal/terminal.h"
#include "capture/command_line/options.h"
#include "capture/request/option_cli.h"
#include "core/base/own_files.h"
#include "core/base/text.h"
#include "core/base/worker_pool.h"

namespace accelscope::app::commands {

// One per command, each in its file; below a row each.
terminal::CommandAction declare_import(command_line::OptionSet& options);
std::string help_on_kind(const std::string& kind);
terminal::CommandAction declare_record(command_line::OptionSet& options);
terminal::CommandAction declare_view(command_line::OptionSet& options);
terminal::CommandAction declare_show_session(command_line::OptionSet& options);
terminal::CommandAction declare_compare(command_line::OptionSet& options);
terminal::CommandAction declare_advise(command_line::OptionSet& options);
terminal::CommandAction declare_iterations(command_line::OptionSet& options);
terminal::CommandAction declare_what_if(command_line::OptionSet& options);
terminal::CommandAction declare_list(command_line::OptionSet& options);
terminal::CommandAction declare_query(command_line::OptionSet& options);
terminal::CommandAction declare_export(command_line::OptionSet& options);
terminal::CommandAction declare_fleet(command_line::OptionSet& options);
terminal::CommandAction declare_screenshot(command_line::OptionSet& options);
terminal::CommandAction declare_simulate(command_line::OptionSet& options);
terminal::CommandAction declare_ingest_check(command_line::OptionSet& options);
terminal::CommandAction declare_mcp(command_line::OptionSet& options);
terminal::CommandAction declare_top(command_line::OptionSet& options);
terminal::CommandAction declare_doctor(command_line::OptionSet& options);
terminal::CommandAction declare_demo(command_line::OptionSet& options);

namespace {

constexpr std::array kCommands = {
    terminal::ProgramCommand{"import", "Read profiles of any known format into a session file",
                             "accelscope import profile.json -o kernel.accel --source-root ~/kernels", declare_import},
    terminal::ProgramCommand{"record", "Capture from an agent into a session file, without a window",
                             "accelscope record 127.0.0.1:7420 -o run.accel --duration 10", declare_record,
                             "accelscope record [OPTIONS] PLACE [-- PROGRAM ARGS...]", help_on_kind},
    terminal::ProgramCommand{"top",
                             "Show on a terminal what runs now, the busiest kernels and memory, of an agent or file",
                             "accelscope top ssh://user@trn1-07 --watch", declare_top,
                             "accelscope top [OPTIONS] PLACE [-- PROGRAM ARGS...]"},
    terminal::ProgramCommand{"view", "Print a profile's figures, or convert it",
                             "accelscope view profile.json --output-format summary-json | jq '.[] | .total_time'",
                             declare_view},
    terminal::ProgramCommand{"show-session", "List what ran: engines, queues, streams and threads with their counts",
                             "accelscope show-session run.accel", declare_show_session},
    terminal::ProgramCommand{
        "query", "Ask a session in SQL",
        "accelscope query run.accel \"SELECT name, count(*), sum(dur_ns) FROM slice GROUP BY name ORDER BY 3 DESC\"",
        declare_query},
    terminal::ProgramCommand{
        "compare", "Set sessions beside each other: what became faster, slower, more or less beyond noise",
        "accelscope compare base/*.accel new/*.accel --group-by folder --by metric,line --fail-above 3%",
        declare_compare, "accelscope compare [OPTIONS] BASE OTHER..."},
    terminal::ProgramCommand{"advise",
                             "Say what costs time that could be saved, ranked, with the events that it rests on",
                             "accelscope advise kernel.accel --range 10%:20% --format json", declare_advise},
    terminal::ProgramCommand{"iterations",
                             "Find steps and loops that repeat, folded over each other; or regions and their lengths",
                             "accelscope iterations run.accel --by ProfilerStep --range 10%:90%", declare_iterations},
    terminal::ProgramCommand{"what-if", "Say how long it would take with a change, by replaying what depended on what",
                             "accelscope what-if run.accel --change 'dma bandwidth x1.5' --change 'drop reload of w1'",
                             declare_what_if},
    terminal::ProgramCommand{"list", "List the sessions of folders with device, date, tags and their main figures",
                             "accelscope list ~/runs --search mlp --json", declare_list},
    terminal::ProgramCommand{"export", "Write sessions into one data set of Parquet files for DuckDB, Spark and others",
                             "accelscope export --parquet /data/fleet runs/*.accel", declare_export},
    terminal::ProgramCommand{"fleet",
                             "Ask such a data set what got slower, who is the straggler, how busy jobs are; by DuckDB",
                             "accelscope fleet /data/fleet slower --since monday", declare_fleet},
    terminal::ProgramCommand{"screenshot", "Draw a session into a PNG; needs no display",
                             "accelscope screenshot run.accel -o run.png --range 10%:20% --theme light",
                             declare_screenshot},
    terminal::ProgramCommand{"simulate", "Write a session or a profile of a simulated accelerator",
                             "accelscope simulate -o demo.accel --events 100000 --devices 2", declare_simulate},
    terminal::ProgramCommand{"ingest-check", "Say what of a file is read, what is skipped and why",
                             "accelscope ingest-check profile.json", declare_ingest_check},
    terminal::ProgramCommand{"mcp", "Serve sessions to coding agents: Model Context Protocol on the standard streams",
                             "accelscope mcp run.accel", declare_mcp},
    terminal::ProgramCommand{"doctor",
                             "Say what works on this computer, or a host to capture on, and what to do about the rest",
                             "accelscope doctor ssh://user@trn1-07", declare_doctor},
    terminal::ProgramCommand{"demo", "Run the main job from end to end against a running agent",
                             "accelscope demo 127.0.0.1:7420 --output-dir demo-results", declare_demo},
};

void print_help(std::ostream& out) {
  out << "Accelscope " << ACCELSCOPE_VERSION
      << ", a profiler for AI accelerators.\n\n"
         "  accelscope [SESSION | FILE | DIR | HOST:PORT]...   the viewer, opened on these;\n"
         "                                                   --view LINK shows them as linked, --compare sets them\n"
         "                                                   against the first; --nki-source-root DIR has their code\n";
  for (const terminal::ProgramCommand& command : kCommands) {
    out << fmt::format("  accelscope {:<38} {}\n", command.name, command.summary);
  }
  out << "\nEvery command has --help with an example, --quiet, and where it makes sense --json; - is the standard "
         "input "
         "or\noutput where a file is meant. The exit status is 0 done, 1 failed, 2 wrong usage, 130 interrupted.\n"
         "Time ranges are written 12.5us:40us or 10%:20%, sizes 512MiB, rates 2M.\n";
}

const terminal::ProgramCommand* find_command(std::string_view name) {
  const auto found = std::find_if(kCommands.begin(), kCommands.end(),
                                  [name](const terminal::ProgramCommand& command) { return command.name == name; });
  return found == kCommands.end() ? nullptr : &*found;
}

// The options of every command, then its own.
terminal::CommandAction declare(const terminal::ProgramCommand& command, command_line::OptionSet& options,
                                terminal::CommandRun& run) {
  options.set_footer(fmt::format("Example:\n  {}", command.example));
  options.add_flag("--quiet", run.quiet, "Print results and errors only");
  options.add_flag("--json", run.json, "Print the result as JSON");
  if (!command.usage.empty()) options.set_usage(std::string(command.usage));
  options.add_version(fmt::format("accelscope {}", ACCELSCOPE_VERSION));
  return command.declare(options);
}

int run_command(const terminal::ProgramCommand& command, const std::vector<std::string>& arguments,
                const terminal::CommandStreams& streams) {
  command_line::OptionSet options(std::string(command.summary), fmt::format("accelscope {}", command.name));
  terminal::CommandRun run{streams};
  if (const std::string word = command_line::help_topic(arguments); command.topic != nullptr && !word.empty()) {
    if (const std::string text = command.topic(word); !text.empty()) {
      streams.out << text;
      return terminal::kExitDone;
    }
  }
  const terminal::CommandAction action = declare(command, options, run);
  const Result<std::string> shown = options.parse(arguments);
  if (!shown) return run.fail_usage(std::string(command.name), shown.message());
  if (!shown->empty()) {
    streams.out << *shown;
    return terminal::kExitDone;
  }
  const terminal::CommandRun exact{
      {run.json ? run.data_out() : streams.out, streams.err, streams.err_is_terminal, streams.out_is_terminal},
      run.quiet,
      run.json};
  const int status = action(exact);
  return status == terminal::kExitFailed && terminal::interrupted_status() != 0 ? terminal::interrupted_status()
                                                                                : status;
}

}  // namespace

std::span<const terminal::ProgramCommand> program_commands() { return kCommands; }

namespace {

void declare_viewer(command_line::OptionSet& options, ViewerOptions& viewer) {
  options.add_option("SESSION", viewer.targets, "Sessions, profiles, folders, HOST:PORT, ssh://USER@HOST or local");
  options.add_option("--view", viewer.view, "Link to a view, as the viewer copies it");
  options.add_flag("--compare", viewer.compares, "Set the sessions against each other; the first is A, the base");
  options.add_option("--dump-state", viewer.dump_file, "File for what was open and seen").in_group("");
  terminal::declare_source_roots(options, viewer.input);
}

// `accelscope manual` and `accelscope completion SHELL`, for the build of a package and for a shell's start.
Result<std::string> reference(const std::vector<std::string>& arguments, const terminal::CommandStreams& streams) {
  command_line::OptionSet options("profiler for AI accelerators: the viewer and its commands", "accelscope");
  ViewerOptions viewer;
  declare_viewer(options, viewer);
  command_line::CommandFacts program = options.facts();
  for (const terminal::ProgramCommand& command : kCommands) {
    command_line::OptionSet own(std::string(command.summary), std::string(command.name));
    terminal::CommandRun run{streams};
    (void)declare(command, own, run);
    program.commands.push_back(own.facts());
  }
  program.topics = capture::request::kind_references(capture::request::declared_kinds());
  return command_line::write_reference(program, ACCELSCOPE_VERSION, arguments);
}

int run_words(std::vector<std::string> arguments, const terminal::CommandStreams& streams) {
  const terminal::CommandRun run{streams};
  if (!arguments.empty()) {
    const std::string& first = arguments.front();
    if (first == "--help" || first == "-h" || first == "help") {
      if (const terminal::ProgramCommand* command = arguments.size() > 1 ? find_command(arguments[1]) : nullptr) {
        return run_command(*command, {"--help"}, streams);
      }
      print_help(streams.out);
      return terminal::kExitDone;
    }
    if (first == "--version") {
      streams.out << "accelscope " << ACCELSCOPE_VERSION << '\n';
      return terminal::kExitDone;
    }
    if (first == "manual" && arguments.size() == 2 && arguments[1] == "keys") {  // for the guide
      streams.out << frame::keys_page();
      return terminal::kExitDone;
    }
    if (command_line::is_reference(first)) {
      const Result<std::string> text = reference(arguments, streams);
      if (!text) return run.fail_usage(first, text.message());
      streams.out << *text;
      return terminal::kExitDone;
    }
    if (const terminal::ProgramCommand* command = find_command(first)) {
      arguments.erase(arguments.begin());
      return run_command(*command, arguments, streams);
    }
  }
  command_line::OptionSet options("The viewer", "accelscope");
  ViewerOptions viewer;
  declare_viewer(options, viewer);
  const Result<std::string> shown = options.parse(arguments);
  if (!shown) return run.fail_usage("", shown.message());
  if (shown->empty()) return open_viewer(viewer, run);
  streams.out << *shown;
  return terminal::kExitDone;
}

}  // namespace

int run_program(std::vector<std::string> arguments, const terminal::CommandStreams& exact) {
  terminal::forget_interrupts();
  const OutputAccess access;
  PlainTextStream out(exact.out);
  PlainTextStream err(exact.err);
  const terminal::CommandStreams streams{out, err, exact.err_is_terminal, exact.out_is_terminal};
  int status = terminal::kExitFailed;
  try {
    status = run_words(std::move(arguments), streams);
  } catch (const std::bad_alloc&) {
    return terminal::CommandRun{streams}.fail(out_of_memory_error().message);
  }
  // What nobody has read is not done.
  streams.out.flush();
  if (status != terminal::kExitDone || (streams.out.good() && exact.out.good())) return status;
  return terminal::CommandRun{streams}.fail(
      "the standard output cannot be written; is the disk full, or the reader gone?");
}

}  // namespace accelscope::app::commands
