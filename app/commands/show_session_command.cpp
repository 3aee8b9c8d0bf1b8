#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <iterator>
#include <memory>
#include <ostream>

#include "app/terminal/command.h"
#include "app/terminal/session_input.h"
#include "app/terminal/terminal.h"
#include "capture/command_line/options.h"
#include "capture/sources/neuron/read/session_listing.h"
#include "core/analysis/time/executors.h"
#include "core/base/json.h"
#include "core/listing/base/write.h"

namespace accelscope::app::commands {
namespace {

struct ShowSessionCommand {
  std::string input;
  bool every_executor = false;
  workspace::OpenSessionOptions input_options;

  int run(const terminal::CommandRun& run) const;
};

struct ExecutorColumn {
  std::string_view title;
  std::string_view key;  // in JSON
  bool is_number;
  std::string (*text)(const analysis::Executor& row);  // "" where it is not known
};

template <typename Number>
std::string number_text(const std::optional<Number>& value) {
  return value ? fmt::format("{}", *value) : "";
}

// In the vendor's order.
constexpr std::array<ExecutorColumn, 8> kColumns = {{
    {"NODE ID", "node_id", false, [](const analysis::Executor& row) { return row.node; }},
    {"EXEC TIME (NS)", "exec_time_ns", true,
     [](const analysis::Executor& row) { return number_text(row.exec_time_ns); }},
    {"EXECUTOR", "executor", false, [](const analysis::Executor& row) { return row.executor; }},
    {"NAME", "name", false, [](const analysis::Executor& row) { return row.name; }},
    {"TRACE", "trace", true, [](const analysis::Executor& row) { return number_text(row.trace); }},
    {"CYCLES", "cycles", true, [](const analysis::Executor& row) { return number_text(row.cycles); }},
    {"EVENTS", "events", true, [](const analysis::Executor& row) { return number_text(row.events); }},
    {"ERRORS", "errors", true, [](const analysis::Executor& row) { return number_text(row.errors); }},
}};

void print_table(std::ostream& out, const std::vector<analysis::Executor>& rows) {
  std::vector<listing::CellAlign> alignment;
  std::vector<std::string> titles;
  for (const ExecutorColumn& column : kColumns) {
    alignment.push_back(column.is_number ? listing::CellAlign::right : listing::CellAlign::left);
    titles.emplace_back(column.title);
  }
  listing::TextTable table(std::move(alignment));
  table.row(std::move(titles));
  for (const analysis::Executor& row : rows) {
    std::vector<std::string> cells;
    for (const ExecutorColumn& column : kColumns) {
      const std::string text = column.text(row);
      cells.push_back(text.empty() ? "-" : text);
    }
    table.row(std::move(cells));
  }
  table.print(out);
}

void print_json(std::ostream& out, const std::vector<analysis::Executor>& rows) {
  JsonWriter json(JsonLayout::rows);
  json.array(rows, [&](const analysis::Executor& row) {
    json.begin_object();
    for (const ExecutorColumn& column : kColumns) {
      const std::string text = column.text(row);
      json.add(column.key, !column.is_number ? text : text.empty() ? JsonValue() : JsonValue::raw(text));
    }
    json.end();
  });
  out << json.done() << '\n';
}

// Nothing: the file is not the vendor's listing.
std::optional<Result<std::vector<analysis::Executor>>> read_listing(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string text(std::size_t{64} << 10, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(std::max<std::streamsize>(file.gcount(), 0)));
  if (!capture::sources::neuron::is_session_listing(text)) return std::nullopt;
  text.append(std::istreambuf_iterator<char>(file), {});
  auto rows = capture::sources::neuron::read_session_listing(text);
  if (!rows) return Error{fmt::format("{}: {}", path, rows.message())};
  return rows;
}

int ShowSessionCommand::run(const terminal::CommandRun& run) const {
  std::vector<analysis::Executor> rows;
  const auto inputs = terminal::InputPaths::read({input});
  if (!inputs) return run.fail(inputs.message());
  const std::string& path = inputs->paths().front();
  if (auto listing = read_listing(path)) {
    if (!*listing) return run.fail(inputs->shown(listing->message()));
    rows = std::move(**listing);
  } else {
    const auto session = terminal::open_input({path}, input_options, run);
    if (!session) return run.fail(inputs->shown(session.message()));
    const Snapshot& snapshot = *session->store->snapshot();
    rows = every_executor ? analysis::executors(snapshot) : analysis::device_executors(snapshot);
  }
  if (run.json) {
    print_json(run.streams.out, rows);
  } else {
    print_table(run.streams.out, rows);
  }
  return terminal::kExitDone;
}

}  // namespace

terminal::CommandAction declare_show_session(command_line::OptionSet& options) {
  auto command = std::make_shared<ShowSessionCommand>();
  options
      .add_option("FILE,-s,--session-file", command->input,
                  "Session file, profile, folder of ranks, or the listing of the vendor's show-session -j. A row is a "
                  "device and the graph that it ran, with the maker's CYCLES, TRACE and EVENTS where the file states "
                  "them. Else CYCLES are ticks of the clock that recorded it, from its first event to its last; TRACE "
                  "counts its records, EVENTS the updates of its semaphores (its records where there are none)")
      .required();
  options.add_flag("--executors", command->every_executor, "A row for each engine, queue, stream or thread too");
  options.add_option("--format", command->input_options.format, "Format of the file instead of guessing it");
  return [command](const terminal::CommandRun& run) { return command->run(run); };
}

}  // namespace accelscope::app::commands
