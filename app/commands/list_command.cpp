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
#include "core/base/text.h"
#include "core/listing/base/write.h"

namespace accelscope::app {
namespace {

constexpr std::size_t kLongestProblem = 2000;  // bytes

struct ListCommand {
  std::vector<std::string> folders;
  std::string search;
  bool profiles = false;

  int run(const CommandRun& run) const;
};

std::string json_of(const LibraryEntry& entry) {
  std::vector<std::string> tags, processes;
  for (const std::string& tag : entry.tags) tags.push_back(json_quote(tag));
  const Headline& head = entry.headline;
  for (const std::string& process : head.processes) processes.push_back(json_quote(process));
  const auto figure = [&](auto number) { return entry.has_figures() ? std::to_string(number) : std::string("null"); };
  return fmt::format(
      "{{\"path\": {}, \"name\": {}, \"format\": {}, \"device\": {}, \"saved_unix_s\": {}, \"events\": {}, "
      "\"duration_ns\": {}, \"work_ns\": {}, \"warnings\": {}, \"error\": {}, \"processes\": [{}], \"tags\": [{}], "
      "\"project\": {}, "
      "\"configuration\": {}, \"size_bytes\": {}, \"problem\": {}}}",
      json_quote(entry.path), json_quote(entry.name), json_quote(entry.is_session ? "session" : entry.format),
      json_quote(head.device), entry.when_unix_s(), figure(head.events), figure(head.duration_ns), figure(head.work_ns),
      head.findings ? std::to_string(*head.findings) : "null", head.error.empty() ? "null" : json_quote(head.error),
      fmt::join(processes, ", "), fmt::join(tags, ", "), json_quote(entry.project), json_quote(entry.configuration),
      entry.size_bytes, json_quote(entry.problem));
}

void print_entries(std::ostream& out, const std::vector<LibraryEntry>& entries) {
  TextTable table({CellAlign::left, CellAlign::left, CellAlign::right, CellAlign::right, CellAlign::right,
                   CellAlign::left, CellAlign::left, CellAlign::left, CellAlign::left});
  table.row({"NAME", "DEVICE", "WORK", "EVENTS", "WARNINGS", "SAVED", "TAGS", "PROCESSES", "PATH"});
  for (const LibraryEntry& entry : entries) {
    const Headline& head = entry.headline;
    std::string device = head.device, work = "–", events = "–", warnings = "–";
    if (!entry.is_session) device = entry.format;
    if (entry.is_session && !entry.has_figures()) device = entry.problem.empty() ? "–" : "unreadable";
    if (entry.has_figures()) {
      if (head.work_ns > 0) work = format_duration(static_cast<double>(head.work_ns));
      events = format_count(head.events);
      if (head.findings) warnings = format_count(*head.findings);
      if (!head.error.empty()) warnings = fmt::format("{}; {}", head.error, warnings);
    }
    table.row({entry.name, device, work, events, warnings, format_when(entry.when_unix_s(), unix_now()),
               join_tags(entry.tags), joined(head.processes, ", "), entry.path});
  }
  table.print(out);
}

// As the library of the viewer finds them; nothing is written.
Result<void> look_into_entries(std::vector<LibraryEntry>& entries, const CommandRun& run) {
  const std::string state = state_directory(process_environment());
  FoundHeadlines known(state.empty() ? "" : (std::filesystem::path(state) / "headlines.txt").string());
  if (Result<void> loaded = known.load(); !loaded) run.inform(loaded.message());
  std::vector<std::string> problems;
  Result<void> done = with_progress("Looking into sessions", run, [&](JobControl& job) -> Result<void> {
    WorkerPool pool;
    for (LibraryEntry& entry : entries) {
      if (job.cancelled()) return Error{"the list was cancelled"};
      if (!lacks_headline(entry)) continue;
      TaskControl control;
      const Headline* found = known.find(entry);
      const Result<Headline> looked = found != nullptr ? *found : look_into(entry, pool, control);
      if (looked) take_headline(entry, *looked);
      if (!looked) problems.push_back(looked.message());
    }
    return {};
  });
  for (const std::string& problem : problems) run.inform(capture::wire::printable(problem, kLongestProblem));
  return done;
}

int ListCommand::run(const CommandRun& run) const {
  if (folders.empty()) return run.fail_usage("list", "name a folder of sessions: accelscope list runs/");
  LibraryScan scan = scan_library(folders);
  if (Result<void> looked = look_into_entries(scan.entries, run); !looked) return run.fail(looked.message());
  std::erase_if(scan.entries,
                [&](const LibraryEntry& entry) { return (!entry.is_session && !profiles) || !matches(entry, search); });
  if (run.json) {
    std::string text = "[";
    for (const LibraryEntry& entry : scan.entries) text += (text.size() > 1 ? ",\n" : "\n") + json_of(entry);
    run.streams.out << text << "\n]\n";
  } else if (scan.entries.empty()) {
    run.inform(fmt::format("{}: no session is there", joined(folders)));
  } else {
    print_entries(run.streams.out, scan.entries);
  }
  for (const LibraryEntry& entry : scan.entries) {
    for (const std::string& wrong : {entry.problem, entry.remark}) {
      if (!wrong.empty()) run.inform(capture::wire::printable(wrong, kLongestProblem));
    }
  }
  for (const std::string& problem : scan.problems) (void)run.fail(capture::wire::printable(problem, kLongestProblem));
  return scan.problems.empty() ? kExitDone : kExitFailed;
}

}  // namespace

CommandAction declare_list(command_line::OptionSet& options) {
  auto command = std::make_shared<ListCommand>();
  options.add_option("FOLDER", command->folders, "Folders of sessions, and what lies below them");
  options.add_option("--search", command->search,
                     "Only those with these words in name, device, processes, tags, project or path");
  options.add_flag("--profiles", command->profiles, "Also profiles of other programs that can be imported");
  return [command](const CommandRun& run) { return command->run(run); };
}

}  // namespace accelscope::app
