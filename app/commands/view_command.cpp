#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <iosfwd>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "app/commands/view/view_output.h"
#include "app/output/output_file.h"
#include "app/output/report/reports.h"
#include "app/output/session_export.h"
#include "app/terminal/command.h"
#include "app/terminal/filter_options.h"
#include "app/terminal/session_input.h"
#include "app/terminal/terminal.h"
#include "capture/command_line/options.h"
#include "core/analysis/figures/terminology.h"
#include "core/base/format.h"
#include "core/base/json.h"
#include "core/base/result.h"
#include "core/base/text.h"
#include "core/listing/base/write.h"
#include "core/listing/listings.h"
#include "core/scan/event_mask.h"

namespace accelscope::app::commands {
namespace {

// What a profile's figures mean, for `view --terminology`.

constexpr std::size_t kSuggestions = 5;

void add_term(JsonWriter& json, const analysis::FigureTerm& term) {
  json.object("name", term.name, "group", term.group, "unit", term.unit, "text", term.text, "how", term.how, "exact",
              term.exact);
}

void print_table(std::ostream& out) {
  std::size_t name_width = 0;
  std::size_t unit_width = 0;
  for (const analysis::FigureTerm& term : analysis::figure_terms()) {
    name_width = std::max(name_width, term.name.size());
    unit_width = std::max(unit_width, term.unit.size());
  }
  std::string_view group;
  for (const analysis::FigureTerm& term : analysis::figure_terms()) {
    if (term.group != group) out << fmt::format("{}{}\n", group.empty() ? "" : "\n", term.group);
    group = term.group;
    out << fmt::format("  {:<{}}  {:<{}}  {}\n", term.name, name_width, term.unit, unit_width, term.text);
  }
}

void print_term(std::ostream& out, const std::string& asked, const analysis::FigureTerm& term) {
  const bool is_word = analysis::find_term(asked) == nullptr;
  const std::string_view named = is_word ? term.name : std::string_view(asked);
  out << named << (named == term.name ? "" : fmt::format("  (one of {})", term.name)) << '\n';
  out << fmt::format("  group     {}\n", analysis::metric_group(named));
  if (!term.unit.empty())
    out << fmt::format("  unit      {}\n", term.unit == Unit::share ? "share (1 = all)" : term.unit);
  out << fmt::format("  meaning   {}\n", term.text);
  if (!term.how.empty()) {
    out << fmt::format("  computed  {}{}\n", term.how,
                       term.exact ? "" : " The events do not hold all that the vendor's figure is made of.");
  }
}

Error unknown_metric(const std::string& metric) {
  std::string alike;
  std::size_t count = 0;
  for (const analysis::FigureTerm& term : analysis::figure_terms()) {
    if (term.name.find(metric) == std::string_view::npos || count++ == kSuggestions) continue;
    alike += (alike.empty() ? "" : ", ") + std::string(term.name);
  }
  return Error{fmt::format("{}: no figure has this name{}; accelscope view --terminology lists all", metric,
                           alike.empty() ? "" : fmt::format("; there are {}", alike))};
}

// Of one metric, or of all where `metric` is empty. An unknown one is an error that names those like it.
[[nodiscard]] Result<void> print_terminology(std::ostream& out, const std::string& metric, bool json) {
  JsonWriter written(metric.empty() ? JsonLayout::rows : JsonLayout::line);
  if (metric.empty()) {
    written.array(analysis::figure_terms(), [&](const analysis::FigureTerm& term) { add_term(written, term); });
    if (!json) print_table(out);
  } else {
    const analysis::FigureTerm* term = analysis::find_word(metric);
    if (term == nullptr) return unknown_metric(metric);
    add_term(written, *term);
    if (!json) print_term(out, metric, *term);
  }
  if (json) out << written.done() << '\n';
  return {};
}

constexpr std::array<std::string_view, 3> kOwnFormats = {"summary-text", "summary-json", "db"};
constexpr std::array<std::string_view, 3> kTableFormats = {"table", "csv", "json"};
// Tables that other tools print as a format of their own.
constexpr std::array<std::string_view, 2> kPrintedTables = {"device-stats", "tt-perf"};

[[nodiscard]] bool is_printed_table(std::string_view format) {
  return std::find(kPrintedTables.begin(), kPrintedTables.end(), format) != kPrintedTables.end();
}

// What --output-format takes: the figures, a session file, and the formats that sessions are exported in.
std::vector<std::string_view> output_formats() {
  std::vector<std::string_view> names(kOwnFormats.begin(), kOwnFormats.end());
  for (const exporting::ExportFormat* format : output::offered_formats()) names.push_back(format->name);
  names.insert(names.end(), kPrintedTables.begin(), kPrintedTables.end());
  return names;
}

// "layers, statistics, ..."
std::string listings_help() {
  std::vector<std::string_view> names;
  for (const listing::ListingKind& kind : listing::listing_kinds()) names.push_back(kind.name);
  return fmt::format("{}", fmt::join(names, ", "));
}

// What each of them holds, for --table list.
int print_listings(const terminal::CommandRun& run) {
  listing::TextTable table({listing::CellAlign::left, listing::CellAlign::left});
  for (const listing::ListingKind& kind : listing::listing_kinds())
    table.row({std::string(kind.name), std::string(kind.summary)});
  table.print(run.streams.out);
  return terminal::kExitDone;
}

struct ViewCommand {
  std::vector<std::string> inputs;
  std::string neff;
  std::string trace;
  std::string folder;
  std::string format;
  std::string output_file;
  std::string bundle;
  terminal::FilterOptions filter;
  workspace::OpenSessionOptions input_options;
  bool force = false;
  bool ingest_only = false;
  bool memory_tracker = false;
  bool perfetto_flows = false;
  bool terminology = false;
  std::string table;
  std::vector<std::string> by;
  std::string measured;
  // Of the vendor's server.
  std::string db_endpoint;
  std::string db_org;
  std::string port;

  int run(const terminal::CommandRun& run) const;

 private:
  [[nodiscard]] Result<std::string> chosen_format(const terminal::CommandRun& run) const;
  [[nodiscard]] Result<std::vector<std::string>> chosen_inputs() const;
  void inform_unneeded(const terminal::CommandRun& run) const;
  int write_summaries(const std::vector<std::string>& paths, const workspace::OpenSessionOptions& options, bool as_json,
                      const terminal::CommandRun& run) const;
  int write_session(const std::vector<std::string>& paths, const workspace::OpenSessionOptions& options,
                    const terminal::CommandRun& run) const;
  int write_table(const terminal::CommandRun& run) const;
};

Result<std::string> ViewCommand::chosen_format(const terminal::CommandRun& run) const {
  if (format.empty()) return std::string(ingest_only ? "db" : run.json ? "summary-json" : "summary-text");
  if (ingest_only && format != "db") {
    return Error{fmt::format("--ingest-only writes a session file and --output-format {} something else", format)};
  }
  const std::vector<std::string_view> known = output_formats();
  if (std::find(known.begin(), known.end(), format) != known.end()) return format;
  return Error{
      fmt::format("--output-format {}: this version does not know it; there are {}", format, fmt::join(known, ", "))};
}

Result<std::vector<std::string>> ViewCommand::chosen_inputs() const {
  const bool pair = !neff.empty() || !trace.empty();
  if (static_cast<int>(!inputs.empty()) + static_cast<int>(pair) + static_cast<int>(!folder.empty()) > 1) {
    return Error{"name FILEs, or -n and -s, or -d, not several of them"};
  }
  if (!inputs.empty()) return inputs;
  if (!folder.empty()) return std::vector<std::string>{folder};
  if (pair) return std::vector<std::string>{trace.empty() ? neff : trace};
  return Error{"a file is missing: FILE, or -n NEFF -s NTFF, or -d FOLDER"};
}

void ViewCommand::inform_unneeded(const terminal::CommandRun& run) const {
  for (const auto& [name, value] :
       {std::pair{"--db-endpoint", &db_endpoint}, {"--db-org", &db_org}, {"--port", &port}}) {
    if (!value->empty()) run.inform(fmt::format("{} is not needed: there is no server and no database to reach", name));
  }
  if (perfetto_flows) run.inform("--show-perfetto-flows is not needed: traces have their dependencies");
}

int ViewCommand::write_summaries(const std::vector<std::string>& paths, const workspace::OpenSessionOptions& options,
                                 bool as_json, const terminal::CommandRun& run) const {
  if (auto may = output::may_write(output_file, force, paths); !may) return run.fail(may.message());
  std::vector<PrintedSummary> summaries;
  for (const std::string& input : paths) {
    const auto session = terminal::open_input({input}, options, run);
    if (!session) return run.fail(session.message());
    if (memory_tracker) run.inform(fmt::format("{}: {}", input, memory_tracker_note(*session->store->snapshot())));
    const auto part = terminal::make_filter(filter, *session->store, &run);
    if (!part) return run.fail(fmt::format("{}: {}", input, part.message()));
    auto summary = printed_summary(*session->store, session->title, *part);
    if (!summary) return run.fail(fmt::format("{}: {}", input, summary.message()));
    summaries.push_back(std::move(*summary));
  }
  return terminal::write_answer(output_file, as_json, run, [&](std::ostream& out) {
    as_json ? write_summary_json(out, summaries) : write_summary_text(out, summaries);
  });
}

int ViewCommand::write_session(const std::vector<std::string>& paths, const workspace::OpenSessionOptions& options,
                               const terminal::CommandRun& run) const {
  if (!filter.empty()) {
    return run.fail_usage("view",
                          "--range, --filter and --tracks are for exports and the summaries; a session file holds all "
                          "of the session");
  }
  const std::string path = output_file.empty() ? output::default_output(paths.front(), ".accel") : output_file;
  if (auto may = output::may_write(path, force, paths); !may) return run.fail(may.message());
  const auto target = terminal::FileTarget::open(path, run);
  if (!target) return run.fail(target.message());
  const auto session = terminal::open_input(paths, options, run);
  if (!session) return run.fail(session.message());
  const auto snapshot = session->store->snapshot();
  if (memory_tracker) run.inform(memory_tracker_note(*snapshot));
  if (auto saved = terminal::save_session(*session->store, target->path(), run); !saved)
    return run.fail(saved.message());
  if (auto given = target->finish(run); !given) return run.fail(given.message());
  if (run.json && path != terminal::kStandardStream) {
    run.streams.out << json_line("output", path, "events", count_passing(*snapshot, nullptr), "duration_ns",
                                 snapshot->end_ns - snapshot->begin_ns);
    return terminal::kExitDone;
  }
  run.inform(fmt::format("{}: {}", path, output::extent_text(*snapshot)));
  return terminal::kExitDone;
}

int ViewCommand::write_table(const terminal::CommandRun& run) const {
  const auto paths = chosen_inputs();
  if (!paths) return run.fail_usage("view", paths.message());
  if (!format.empty() && std::find(kTableFormats.begin(), kTableFormats.end(), format) == kTableFormats.end()) {
    return run.fail_usage(
        "view", fmt::format("--output-format {}: a table is printed as {}", format, fmt::join(kTableFormats, ", ")));
  }
  if (ingest_only) return run.fail_usage("view", "--ingest-only writes a session file, and --table prints a table");
  if (auto roots = terminal::check_source_roots(input_options.source_roots); !roots) return run.fail(roots.message());
  std::vector<std::string> columns;
  for (const std::string& each : by) {
    const auto names = names_of_list(each);
    if (!names) return run.fail_usage("view", "--by: " + names.message());
    columns.insert(columns.end(), names->begin(), names->end());
  }
  inform_unneeded(run);
  workspace::OpenSessionOptions options = input_options;
  options.neff = neff;
  return view_table(
      {*paths, options, table, columns, measured, filter, format.empty() ? "table" : format, output_file, force}, run);
}

int ViewCommand::run(const terminal::CommandRun& run) const {
  if (terminology) {
    if (inputs.size() > 1) return run.fail_usage("view", "--terminology explains one figure, or all of them");
    const auto printed = print_terminology(run.streams.out, inputs.empty() ? "" : inputs.front(), run.json);
    return printed ? terminal::kExitDone : run.fail(printed.message());
  }
  if (table == "list" && inputs.empty()) return print_listings(run);
  if (!table.empty()) return write_table(run);
  const auto chosen = chosen_format(run);
  if (!chosen) return run.fail_usage("view", chosen.message());
  const auto paths = chosen_inputs();
  if (!paths) return run.fail_usage("view", paths.message());
  if (auto roots = terminal::check_source_roots(input_options.source_roots); !roots) return run.fail(roots.message());
  inform_unneeded(run);
  workspace::OpenSessionOptions options = input_options;
  options.neff = neff;
  if (memory_tracker) options.converter_options.emplace_back("--enable-memory-tracker");
  if (!bundle.empty()) return view_bundle({*paths, options, bundle, filter, force}, run);
  if (*chosen == "db") return write_session(*paths, options, run);
  if (is_printed_table(*chosen)) {
    return view_table({*paths, options, *chosen, {}, "", filter, "table", output_file, force}, run);
  }
  if (*chosen == "json") {
    return view_json({*paths, options, output_file, filter, force, memory_tracker}, run);
  }
  if (const exporting::ExportFormat* known = output::find_offered_format(*chosen)) {
    return view_export({*paths, options, known, output_file, filter, force}, run);
  }
  return write_summaries(*paths, options, *chosen == "summary-json", run);
}

}  // namespace

terminal::CommandAction declare_view(command_line::OptionSet& options) {
  auto command = std::make_shared<ViewCommand>();
  options.add_option("FILE", command->inputs, "Profiles, session files or folders of ranks");
  options.add_option("-n,--neff-path", command->neff, "Program of a raw trace; else found beside it");
  options.add_option("-s,--session-file", command->trace, "Raw trace (NTFF) or converted profile (JSON)");
  options.add_option("-d,--session-dir", command->folder, "Folder of profiles");
  options.add_option(
      "--output-format", command->format,
      fmt::format("{}; summary-text is the default, db a session file", fmt::join(output_formats(), ", ")));
  options.add_option("-o,--output-file", command->output_file,
                     "File to write, - for the standard output; a folder where several are written");
  options.add_option("--bundle", command->bundle,
                     "Archive (tar) for all that tt-metal's tools write of a run, under names with the time");
  terminal::declare_filter(options, command->filter);
  options.add_option("--format", command->input_options.format, "Format of the input instead of guessing it");
  terminal::declare_source_roots(options, command->input_options);
  options.add_flag("--enable-memory-tracker", command->memory_tracker,
                   "Ask the vendor's tool for allocations, and say what the file holds of them");
  options.add_flag("--ingest-only", command->ingest_only, "Write the session file and nothing else");
  options.add_flag("--force", command->force, "Replace existing output");
  options.add_option("--table", command->table,
                     fmt::format("Print one table, as a panel shows it: {}, or one of the file, such as neff_node; "
                                 "list says what they hold; "
                                 "--output-format csv or json for programs",
                                 listings_help()));
  options
      .add_option(
          "--by", command->by,
          "What the rows of the table are grouped by, where it has a choice: names with commas between them, one "
          "that holds a comma in double quotes")
      .repeats();
  options.add_option("--value", command->measured,
                     "What the table measures, where it has a choice: a column of numbers");
  options.add_flag("--terminology", command->terminology, "Explain the figures, or the one named instead of FILE");
  options.add_flag("--show-perfetto-flows", command->perfetto_flows, "Not needed: dependencies are written as flows");
  options.add_option("--db-endpoint", command->db_endpoint, "Accepted and not needed: there is no server");
  options.add_option("--db-org", command->db_org, "Accepted and not needed");
  options.add_option("--port", command->port, "Accepted and not needed");
  return [command](const terminal::CommandRun& run) { return command->run(run); };
}

}  // namespace accelscope::app::commands
