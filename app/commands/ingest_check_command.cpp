#include <fmt/format.h>

#include <memory>
#include <optional>
#include <ostream>

#include "app/output/session_export.h"
#include "app/terminal/command.h"
#include "app/terminal/session_input.h"
#include "capture/command_line/options.h"
#include "core/base/format.h"
#include "core/base/json.h"
#include "core/chunk/chunk_view.h"
#include "core/scan/event_mask.h"

namespace accelscope::app::commands {
namespace {

struct IngestCheckCommand {
  std::string input;
  workspace::OpenSessionOptions input_options;

  int run(const terminal::CommandRun& run) const;
};

void print_json(std::ostream& out, const std::string& input, const Snapshot& snapshot) {
  JsonWriter json(JsonLayout::line);
  json.begin_object("file", input, "events", count_passing(snapshot, nullptr));
  json.add("begin_ns", snapshot.begin_ns, "end_ns", snapshot.end_ns);
  json.array("tables", output::table_counts(snapshot), [&](const output::TableCount& count) {
    json.object("name", count.name, "events", count.events, "source_rows",
                count.source_rows.empty() ? JsonValue() : count.source_rows);
  });
  out << json.add("quality", JsonValue::raw(output::quality_json(snapshot))).done() << '\n';
}

// A session file is opened by its index alone: here each chunk is read. Nothing if all can be.
std::optional<QualityEntry> unreadable_chunks(const Store& store, const Snapshot& snapshot) {
  std::uint64_t events = 0;
  std::string first;
  for (const LaneSnapshot& lane : snapshot.lanes) {
    for (std::uint32_t i = 0; i < lane.chunk_count; ++i) {
      const Result<Bytes> bytes = store.read_chunk(lane, i);
      const Result<ChunkView> view = bytes ? ChunkView::parse(*bytes) : Result<ChunkView>(bytes.error());
      const Result<void> sound = view ? view->verify_checksums() : Result<void>(view.error());
      if (sound) continue;
      events += lane.data->chunks[i].count;
      if (first.empty()) first = sound.message();
    }
  }
  if (events == 0) return {};
  return QualityEntry{"unreadable_events", events, "events lie in chunks that cannot be read: " + first};
}

int IngestCheckCommand::run(const terminal::CommandRun& run) const {
  const auto session = terminal::open_input({input}, input_options, run, true);
  if (!session) return run.fail(session.message());
  const auto opened = session->store->snapshot();
  auto snapshot = std::make_shared<Snapshot>(*opened);
  const std::optional<QualityEntry> unreadable = unreadable_chunks(*session->store, *opened);
  if (unreadable) snapshot->quality.push_back(*unreadable);
  const int status = unreadable ? terminal::kExitFailed : terminal::kExitDone;
  if (run.json) {
    print_json(run.streams.out, input, *snapshot);
    return status;
  }
  run.streams.out << fmt::format("{}: {} events from {} to {}\n\n", input,
                                 format_count(count_passing(*snapshot, nullptr)), format_time_exact(snapshot->begin_ns),
                                 format_time_exact(snapshot->end_ns));
  output::print_quality_report(run.streams.out, *snapshot);
  return status;
}

}  // namespace

terminal::CommandAction declare_ingest_check(command_line::OptionSet& options) {
  auto command = std::make_shared<IngestCheckCommand>();
  options.add_option("FILE", command->input, "Profile or session file").required();
  options.add_option("--format", command->input_options.format, "Format of the file instead of guessing it");
  return [command](const terminal::CommandRun& run) { return command->run(run); };
}

}  // namespace accelscope::app::commands
