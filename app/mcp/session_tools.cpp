#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <span>

#include "app/commands/view/view_output.h"
#include "app/library/library.h"
#include "app/mcp/tool.h"
#include "app/output/session_export.h"
#include "app/terminal/filter_options.h"
#include "core/analysis/figures/session_terms.h"
#include "core/analysis/figures/verdict.h"
#include "core/base/format.h"
#include "core/base/json.h"
#include "core/scan/event_mask.h"

namespace accelscope::app::mcp {

Result<ShelvedSession*> session_of(ToolCall& call) {
  const auto name = TRY(call.arguments.required_text("session"));
  return call.shelf.find(name, call.control);
}

QueryContext query_of(ToolCall& call, const ShelvedSession& session) {
  return {session.store(), session.snapshot, call.shelf.pool(), call.control.task};
}

namespace {

Result<terminal::FilterOptions> filter_options_of(const ToolArguments& arguments) {
  terminal::FilterOptions options;
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

void add_problems(JsonWriter& json, const Snapshot& snapshot) {
  std::size_t reported = 0;
  json.array("problems", snapshot.quality, [&](const QualityEntry& entry) {
    if (entry.severity == Severity::note || reported++ >= kFindings) return;
    json.object("kind", entry.kind, "count", entry.count, "detail", entry.detail);
  });
}

void add_tables(JsonWriter& json, const Snapshot& snapshot) {
  json.key("tables").begin_object();
  for (const output::TableCount& table : output::table_counts(snapshot)) {
    if (table.events > 0) json.add(table.name, table.events);
  }
  json.end();
}

// An object that more is added to.
void begin_head(JsonWriter& json, const ShelvedSession& session) {
  const Snapshot& snapshot = *session.snapshot;
  json.begin_object("session", session.name, "title", session.opened.title)
      .add_text("device", workspace::device_of(snapshot));
  json.add("files", session.paths, "events", count_passing(snapshot, nullptr));
  json.add("duration_ns", snapshot.end_ns - snapshot.begin_ns);
}

Result<ToolAnswer> open_tool(ToolCall& call) {
  auto paths = TRY(call.arguments.texts("path"));
  workspace::OpenSessionOptions options;
  auto roots = TRY(call.arguments.texts("source_roots"));
  options.source_roots = std::move(roots);
  const auto format = TRY(call.arguments.text("format"));
  options.format = format;
  const auto session = TRY(call.shelf.open(paths, options, call.control));
  const ShelvedSession& open = *session;
  JsonWriter answer;
  begin_head(answer, open);
  answer.add_text("note", open.opened.note);
  add_tables(answer, *open.snapshot);
  const auto terms = TRY(analysis::session_terms(query_of(call, open)));
  if (terms.work) answer.key("work_range_ns").begin_array().value(terms.work->begin_ns).value(terms.work->end_ns).end();
  add_problems(answer, *open.snapshot);
  answer.add("next", "summarise, advise, top_costs, table, query; resource accelscope://" + open.name + "/schema");
  return ToolAnswer{answer.done(), ""};
}

Result<ToolAnswer> close_tool(ToolCall& call) {
  const auto name = TRY(call.arguments.required_text("session"));
  TRY(call.shelf.close(name));
  return ToolAnswer{json_object("closed", name), ""};
}

std::string entry_json(const library::LibraryEntry& entry) {
  JsonWriter row;
  row.begin_object("path", entry.path).add_text("name", entry.name).add_text("device", entry.headline.device);
  if (entry.is_session && entry.has_figures())
    row.add("events", entry.headline.events, "work_ns", entry.headline.work_ns);
  row.add_text("format", entry.format).add_text("problem", entry.problem);
  if (!entry.tags.empty()) row.add("tags", entry.tags);
  return row.done();
}

Result<ToolAnswer> list_tool(ToolCall& call) {
  const auto folder = TRY(call.arguments.text("folder"));
  JsonWriter answer;
  answer.begin_object().array("open", call.shelf.sessions(), [&](const auto& each) {
    begin_head(answer, *each);
    answer.end();
  });
  if (folder.empty()) return ToolAnswer{answer.done(), ""};
  std::error_code error;
  if (!std::filesystem::exists(folder, error)) return Error{fmt::format("{}: there is no such folder", folder)};
  std::size_t looks = 0;
  const library::LibraryScan scan = library::scan_library(
      {folder}, [&](std::size_t, std::size_t) { return ++looks <= kLooks && !call.control.cancelled(); });
  answer.key("found").begin_array();
  std::size_t shown = 0;
  for (std::size_t bytes = 0; shown < std::min(scan.entries.size(), kEntries); ++shown) {
    const std::string entry = entry_json(scan.entries[shown]);
    bytes += entry.size();
    if (bytes > kEntryBytes) break;
    answer.value(JsonValue::raw(entry));
  }
  answer.end();
  std::vector<std::string> problems;
  for (std::size_t i = 0; i < std::min(scan.problems.size(), kProblems); ++i) {
    problems.push_back(shorten_middle(scan.problems[i], kProblemBytes));
  }
  if (scan.problems.size() > kProblems) {
    problems.push_back(fmt::format("and {} more such", scan.problems.size() - kProblems));
  }
  if (!problems.empty()) answer.add("problems", problems);
  if (const bool all_seen = looks <= kLooks; shown < scan.entries.size() || !all_seen) {
    answer.add("left_out", fmt::format("{} of {}{} are shown; name a folder further down", shown,
                                       all_seen ? "" : "more than ", scan.entries.size()));
  }
  return ToolAnswer{answer.done(), ""};
}

void add_figure(JsonWriter& json, const analysis::SessionMetric& metric) {
  json.begin_object("name", metric.name).add_text("unit", metric.unit);
  if (metric.value) json.add("value", metric.value);
  if (metric.vendor) json.add("stated", metric.vendor);
  json.add_text("stated", metric.vendor_text).add_text("device", metric.device).end();
}

Result<ToolAnswer> summarise_tool(ToolCall& call) {
  const auto session = TRY(session_of(call));
  const auto wanted = TRY(call.arguments.text("figures"));
  const auto most = TRY(call.arguments.integer("max_rows", kFigures, 1, 5'000));
  const auto options = TRY(filter_options_of(call.arguments));
  const auto filter = terminal::make_filter(options, session->store());
  if (!filter) return in_arguments(filter.message());
  const auto summary = TRY(commands::printed_summary(session->store(), session->opened.title, *filter));
  JsonWriter answer;
  begin_head(answer, *session);
  answer.add_text("filtered", summary.filter).add_text("verdict", summary.verdict);
  add_tables(answer, *session->snapshot);
  std::vector<const analysis::SessionMetric*> chosen;
  for (const analysis::SessionMetric& metric : summary.metrics) {
    if (wanted.empty() || wanted == "all" || metric.name.find(wanted) != std::string::npos) chosen.push_back(&metric);
  }
  // General figures, which every source has, before those of one vendor.
  std::stable_sort(chosen.begin(), chosen.end(),
                   [](const analysis::SessionMetric* a, const analysis::SessionMetric* b) {
                     return (a->group == "general") > (b->group == "general");
                   });
  const auto shown = std::min(chosen.size(), static_cast<std::size_t>(most));
  answer.array("figures", std::span(chosen).first(shown),
               [&](const analysis::SessionMetric* metric) { add_figure(answer, *metric); });
  if (shown < chosen.size()) {
    answer.add("left_out", fmt::format("{} of {} figures are shown; name a part of their names in figures, or raise "
                                       "max_rows",
                                       shown, chosen.size()));
  }
  add_problems(answer, *session->snapshot);
  return ToolAnswer{answer.done(), ""};
}

}  // namespace

Result<EventFilter> filter_of(ToolCall& call, const ShelvedSession& session) {
  const auto options = TRY(filter_options_of(call.arguments));
  auto filter = terminal::read_filter(options, session.store());
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

}  // namespace accelscope::app::mcp
