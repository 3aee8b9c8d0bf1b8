#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <ostream>

#include "app/library/library.h"
#include "app/persist/persist.h"
#include "app/system/system_files.h"
#include "app/terminal/command.h"
#include "app/terminal/session_input.h"
#include "capture/command_line/options.h"
#include "capture/wire/messages.h"
#include "core/base/format.h"
#include "core/base/json.h"
#include "core/base/text.h"
#include "core/listing/base/write.h"

namespace accelscope::app::commands {
namespace {

constexpr std::size_t kLongestProblem = 2000;  // bytes

struct ListCommand {
  std::vector<std::string> folders;
  std::string search;
  bool profiles = false;

  int run(const terminal::CommandRun& run) const;
};

void add_entry(JsonWriter& json, const library::LibraryEntry& entry) {
  const workspace::Headline& head = entry.headline;
  const auto figure = [&](auto number) { return entry.has_figures() ? JsonValue(number) : JsonValue(); };
  json.begin_object("path", entry.path, "name", entry.name, "format", entry.is_session ? "session" : entry.format);
  json.add("device", head.device, "saved_unix_s", entry.when_unix_s(), "events", figure(head.events));
  json.add("duration_ns", figure(head.duration_ns), "work_ns", figure(head.work_ns), "warnings", head.findings);
  json.add("error", head.error.empty() ? JsonValue() : head.error, "processes", head.processes, "tags", entry.tags);
  json.add("project", entry.project, "configuration", entry.configuration, "size_bytes", entry.size_bytes);
  json.add("problem", entry.problem).end();
}

void print_entries(std::ostream& out, const std::vector<library::LibraryEntry>& entries) {
  listing::TextTable table({listing::CellAlign::left, listing::CellAlign::left, listing::CellAlign::right,
                            listing::CellAlign::right, listing::CellAlign::right, listing::CellAlign::left,
                            listing::CellAlign::left, listing::CellAlign::left, listing::CellAlign::left});
  table.row({"NAME", "DEVICE", "WORK", "EVENTS", "WARNINGS", "SAVED", "TAGS", "PROCESSES", "PATH"});
  for (const library::LibraryEntry& entry : entries) {
    const workspace::Headline& head = entry.headline;
    std::string device = head.device, work = "–", events = "–", warnings = "–";
    if (!entry.is_session) device = entry.format;
    if (entry.is_session && !entry.has_figures()) device = entry.problem.empty() ? "–" : "unreadable";
    if (entry.has_figures()) {
      if (head.work_ns > 0) work = format_duration(head.work_ns);
      events = format_count(head.events);
      if (head.findings) warnings = format_count(*head.findings);
      if (!head.error.empty()) warnings = fmt::format("{}; {}", head.error, warnings);
    }
    table.row({entry.name, device, work, events, warnings,
               persist::format_when(entry.when_unix_s(), persist::unix_now()), library::join_tags(entry.tags),
               joined(head.processes, ", "), entry.path});
  }
  table.print(out);
}

// As the library of the viewer finds them; nothing is written.
Result<void> look_into_entries(std::vector<library::LibraryEntry>& entries, const terminal::CommandRun& run) {
  const std::string state = system::state_directory(system::process_environment());
  library::FoundHeadlines known(state.empty() ? "" : (std::filesystem::path(state) / "headlines.txt").string());
  if (Result<void> loaded = known.load(); !loaded) run.inform(loaded.message());
  std::vector<std::string> problems;
  Result<void> done =
      terminal::with_progress("Looking into sessions", run, [&](session::JobControl& job) -> Result<void> {
        WorkerPool pool;
        for (library::LibraryEntry& entry : entries) {
          if (job.cancelled()) return Error{"the list was cancelled"};
          if (!library::lacks_headline(entry)) continue;
          TaskControl control;
          const workspace::Headline* found = known.find(entry);
          const Result<workspace::Headline> looked =
              found != nullptr ? *found : library::look_into(entry, pool, control);
          if (looked) library::take_headline(entry, *looked);
          if (!looked) problems.push_back(looked.message());
        }
        return {};
      });
  for (const std::string& problem : problems) run.inform(capture::wire::printable(problem, kLongestProblem));
  return done;
}

int ListCommand::run(const terminal::CommandRun& run) const {
  if (folders.empty()) return run.fail_usage("list", "name a folder of sessions: accelscope list runs/");
  library::LibraryScan scan = library::scan_library(folders);
  if (Result<void> looked = look_into_entries(scan.entries, run); !looked) return run.fail(looked.message());
  std::erase_if(scan.entries, [&](const library::LibraryEntry& entry) {
    return (!entry.is_session && !profiles) || !library::matches(entry, search);
  });
  if (run.json) {
    JsonWriter json(JsonLayout::rows);
    json.array(scan.entries, [&](const library::LibraryEntry& entry) { add_entry(json, entry); });
    run.streams.out << json.done() << '\n';
  } else if (scan.entries.empty()) {
    run.inform(fmt::format("{}: no session is there", joined(folders)));
  } else {
    print_entries(run.streams.out, scan.entries);
  }
  for (const library::LibraryEntry& entry : scan.entries) {
    for (const std::string& wrong : {entry.problem, entry.remark}) {
      if (!wrong.empty()) run.inform(capture::wire::printable(wrong, kLongestProblem));
    }
  }
  for (const std::string& problem : scan.problems) (void)run.fail(capture::wire::printable(problem, kLongestProblem));
  return scan.problems.empty() ? terminal::kExitDone : terminal::kExitFailed;
}

}  // namespace

terminal::CommandAction declare_list(command_line::OptionSet& options) {
  auto command = std::make_shared<ListCommand>();
  options.add_option("FOLDER", command->folders, "Folders of sessions, and what lies below them");
  options.add_option("--search", command->search,
                     "Only those with these words in name, device, processes, tags, project or path");
  options.add_flag("--profiles", command->profiles, "Also profiles of other programs that can be imported");
  return [command](const terminal::CommandRun& run) { return command->run(run); };
}

}  // namespace accelscope::app::commands
