#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "app/commands/view/view_output.h"
#include "app/export/session_export.h"
#include "app/library/library.h"
#include "app/mcp/tool.h"
#include "app/terminal/filter_options.h"
#include "core/analysis/figures/session_terms.h"
#include "core/analysis/figures/verdict.h"
#include "core/base/format.h"
#include "core/scan/event_mask.h"

namespace accelscope::app {

Result<ShelvedSession*> session_of(ToolCall& call) {
  const auto name = TRY(call.arguments.required_text("session"));
  return call.shelf.find(name, call.control);
}

QueryContext query_of(ToolCall& call, const ShelvedSession& session) {
  return {session.store(), session.snapshot, call.shelf.pool(), call.control.task};
}

namespace {

Result<FilterOptions> filter_options_of(const ToolArguments& arguments) {
  FilterOptions options;
  const auto range = TRY(arguments.text("range"));
  auto terms = TRY(arguments.texts("filter"));
  auto tracks = TRY(arguments.texts("tracks"));
  options.range = range;
  options.terms = std::move(terms);
  options.tracks = std::move(tracks);
  return options;
}

// Messages about the command line's options, in the words of the arguments.
Error in_arguments(const std::string& message) {
  return Error{message.starts_with("--") ? message.substr(2) : message};
}

constexpr std::size_t kFindings = 8;
constexpr std::size_t kFigures = 40;
constexpr std::size_t kEntries = 60;
constexpr std::size_t kEntryBytes = 16'000;  // of all entries
constexpr std::size_t kProblems = 8;
constexpr std::size_t kProblemBytes = 400;
constexpr std::size_t kLooks = 20'000;  // at folders and files of a listing

std::string quality_list(const Snapshot& snapshot) {
  JsonList findings;
  std::size_t reported = 0;
  for (const QualityEntry& entry : snapshot.quality) {
    if (entry.severity == Severity::note || reported++ >= kFindings) continue;
    findings.raw(
        JsonObject().text("kind", entry.kind).number("count", entry.count).text("detail", entry.detail).done());
  }
  return findings.done();
}

std::string tables_json(const Snapshot& snapshot) {
  JsonObject tables;
  for (const TableCount& table : table_counts(snapshot)) {
    if (table.events > 0) tables.number(table.name, table.events);
  }
  return tables.done();
}

JsonObject head_of(const ShelvedSession& session) {
  const Snapshot& snapshot = *session.snapshot;
  JsonObject head;
  head.text("session", session.name).text("title", session.opened.title);
  head.text_if("device", device_of(snapshot)).raw("files", json_texts(session.paths));
  head.number("events", count_passing(snapshot, nullptr)).number("duration_ns", snapshot.end_ns - snapshot.begin_ns);
  return head;
}

Result<ToolAnswer> open_tool(ToolCall& call) {
  auto paths = TRY(call.arguments.texts("path"));
  OpenSessionOptions options;
  auto roots = TRY(call.arguments.texts("source_roots"));
  options.source_roots = std::move(roots);
  const auto format = TRY(call.arguments.text("format"));
  options.format = format;
  const auto session = TRY(call.shelf.open(paths, options, call.control));
  const ShelvedSession& open = *session;
  JsonObject answer = head_of(open);
  answer.text_if("note", open.opened.note).raw("tables", tables_json(*open.snapshot));
  const auto terms = TRY(session_terms(query_of(call, open)));
  if (terms.work) answer.raw("work_range_ns", fmt::format("[{},{}]", terms.work->begin_ns, terms.work->end_ns));
  answer.raw("problems", quality_list(*open.snapshot));
  answer.text("next", "summarise, advise, top_costs, table, query; resource accelscope://" + open.name + "/schema");
  return ToolAnswer{answer.done(), ""};
}

Result<ToolAnswer> close_tool(ToolCall& call) {
  const auto name = TRY(call.arguments.required_text("session"));
  TRY(call.shelf.close(name));
  return ToolAnswer{JsonObject().text("closed", name).done(), ""};
}

std::string entry_json(const LibraryEntry& entry) {
  JsonObject row;
  row.text("path", entry.path).text_if("name", entry.name).text_if("device", entry.headline.device);
  if (entry.is_session && entry.has_figures()) {
    row.number("events", entry.headline.events).number("work_ns", entry.headline.work_ns);
  }
  row.text_if("format", entry.format).text_if("problem", entry.problem);
  if (!entry.tags.empty()) row.raw("tags", json_texts(entry.tags));
  return row.done();
}

Result<ToolAnswer> list_tool(ToolCall& call) {
  const auto folder = TRY(call.arguments.text("folder"));
  JsonObject answer;
  JsonList open;
  for (const auto& each : call.shelf.sessions()) open.raw(head_of(*each).done());
  answer.raw("open", open.done());
  if (folder.empty()) return ToolAnswer{answer.done(), ""};
  std::error_code error;
  if (!std::filesystem::exists(folder, error)) return Error{fmt::format("{}: there is no such folder", folder)};
  std::size_t looks = 0;
  const LibraryScan scan =
      scan_library({folder}, [&](std::size_t, std::size_t) { return ++looks <= kLooks && !call.control.cancelled(); });
  JsonList found;
  std::size_t shown = 0;
  for (std::size_t bytes = 0; shown < std::min(scan.entries.size(), kEntries); ++shown) {
    const std::string entry = entry_json(scan.entries[shown]);
    bytes += entry.size();
    if (bytes > kEntryBytes) break;
    found.raw(entry);
  }
  answer.raw("found", found.done());
  std::vector<std::string> problems;
  for (std::size_t i = 0; i < std::min(scan.problems.size(), kProblems); ++i) {
    problems.push_back(shorten_middle(scan.problems[i], kProblemBytes));
  }
  if (scan.problems.size() > kProblems) {
    problems.push_back(fmt::format("and {} more such", scan.problems.size() - kProblems));
  }
  if (!problems.empty()) answer.raw("problems", json_texts(problems));
  if (const bool all_seen = looks <= kLooks; shown < scan.entries.size() || !all_seen) {
    answer.text("left_out", fmt::format("{} of {}{} are shown; name a folder further down", shown,
                                        all_seen ? "" : "more than ", scan.entries.size()));
  }
  return ToolAnswer{answer.done(), ""};
}

std::string figure_json(const SessionMetric& metric) {
  JsonObject figure;
  figure.text("name", metric.name).text_if("unit", metric.unit);
  if (metric.value) figure.real("value", *metric.value);
  if (metric.vendor) figure.real("stated", *metric.vendor);
  figure.text_if("stated", metric.vendor_text).text_if("device", metric.device);
  return figure.done();
}

Result<ToolAnswer> summarise_tool(ToolCall& call) {
  const auto session = TRY(session_of(call));
  const auto wanted = TRY(call.arguments.text("figures"));
  const auto most = TRY(call.arguments.integer("max_rows", kFigures, 1, 5'000));
  const auto options = TRY(filter_options_of(call.arguments));
  const auto filter = make_filter(options, session->store());
  if (!filter) return in_arguments(filter.message());
  const auto summary = TRY(printed_summary(session->store(), session->opened.title, *filter));
  JsonObject answer = head_of(*session);
  answer.text_if("filtered", summary.filter).text_if("verdict", summary.verdict);
  answer.raw("tables", tables_json(*session->snapshot));
  std::vector<const SessionMetric*> chosen;
  for (const SessionMetric& metric : summary.metrics) {
    if (wanted.empty() || wanted == "all" || metric.name.find(wanted) != std::string::npos) chosen.push_back(&metric);
  }
  // General figures, which every source has, before those of one vendor.
  std::stable_sort(chosen.begin(), chosen.end(), [](const SessionMetric* a, const SessionMetric* b) {
    return (a->group == "general") > (b->group == "general");
  });
  JsonList figures;
  const auto shown = std::min(chosen.size(), static_cast<std::size_t>(most));
  for (std::size_t i = 0; i < shown; ++i) figures.raw(figure_json(*chosen[i]));
  answer.raw("figures", figures.done());
  if (shown < chosen.size()) {
    answer.text("left_out", fmt::format("{} of {} figures are shown; name a part of their names in figures, or raise "
                                        "max_rows",
                                        shown, chosen.size()));
  }
  answer.raw("problems", quality_list(*session->snapshot));
  return ToolAnswer{answer.done(), ""};
}

}  // namespace

Result<EventFilter> filter_of(ToolCall& call, const ShelvedSession& session) {
  const auto options = TRY(filter_options_of(call.arguments));
  auto filter = read_filter(options, session.store());
  if (!filter) return in_arguments(filter.message());
  return filter;
}

std::vector<Tool> session_tools() {
  return {
      {"open_session",
       "Open a session or profile",
       "Opens a session file, a profile of any known format (Neuron, Perfetto, Nsight Systems, ROCm, Kineto, XPlane, "
       "tt-metal, Tracy, VTune ...) or a folder of ranks; several paths become one session. Gives its name for the "
       "other tools, its tables with their numbers of events, and what of the data is missing.",
       {{"path", ArgumentType::texts, "Paths of files or folders", true},
        {"source_roots", ArgumentType::texts, "Folders in which source files are looked for"},
        {"format", ArgumentType::text, "Format of the file instead of guessing it"}},
       open_tool},
      {"list_sessions",
       "List sessions",
       "The sessions that are open, and the sessions and profiles of a folder with their main figures.",
       {{"folder", ArgumentType::text, "Folder to look into, with those below it"}},
       list_tool},
      {"close_session", "Close a session", "Frees the memory of an open session.", {kSessionArgument}, close_tool},
      {"summarise",
       "Summarise a session",
       "Verdict (what bounds it, the worst line), events by table, and figures such as utilisation, bytes, FLOPs and "
       "times; the whole session, a range or a filter. Beside ours stands what the vendor's file states.",
       {kSessionArgument,
        kRangeArgument,
        kFilterArgument,
        kTracksArgument,
        {"figures", ArgumentType::text, "Part of the names of the figures wanted; all for every one"},
        {"max_rows", ArgumentType::integer, "Figures at most; usually 40"}},
       summarise_tool},
  };
}

}  // namespace accelscope::app
