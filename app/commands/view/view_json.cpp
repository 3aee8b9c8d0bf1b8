#include "app/commands/view/view_json.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "app/export/output_file.h"
#include "app/terminal/session_input.h"
#include "app/view/marker_range.h"
#include "capture/sources/input_parts.h"
#include "core/base/format.h"
#include "core/export/neuron/neuron_json.h"

namespace accelscope::app {
namespace {

namespace fs = std::filesystem;

constexpr const char* kDefaultName = "ntff.json";

// The vendor's name for the conversion of one of several profiles.
std::string name_of_part(const capture::sources::InputPart& part) {
  for (const auto& [label, name] : {std::pair{"rank ", "profile_rank_"}, {"model ", "device_profile_model_"}}) {
    if (!part.label.starts_with(label)) continue;
    std::string rest = part.label.substr(std::string_view(label).size());
    std::replace(rest.begin(), rest.end(), ' ', '_');
    std::replace(rest.begin(), rest.end(), '/', '_');
    return name + rest + ".json";
  }
  return title_of_path(part.path) + ".json";
}

Result<void> view_one(const JsonViewRequest& request, const std::string& input, const std::string& output_path,
                      const CommandRun& run) {
  if (auto may = may_write(output_path, request.force, {input}); !may) return may;
  const auto session = open_input({input}, request.input_options, run);
  if (!session) return session.error();
  if (request.memory_tracker) run.say(fmt::format("{}: {}", input, memory_tracker_note(*session->store->snapshot())));
  const auto filter = make_filter(request.filter, *session->store);
  if (!filter) return Error{fmt::format("{}: {}", input, filter.message())};
  if (request.filter.has_events()) run.say(fmt::format("accelscope: {}: {}", input, filter->text()));
  if (!neuron::is_neuron_session(*session->store->snapshot())) {
    return Error{
        fmt::format("{}: the session has no tables of a Neuron profile, which --output-format json writes; write "
                    "chrome or perfetto, "
                    "or a listing with --table NAME --output-format json",
                    input)};
  }
  const auto output = OutputFile::open(output_path, run.data_out());
  if (!output) return output.error();
  const auto report = write_json_tables(*session->store, *filter, **output, "Writing " + output_path, run);
  if (!report) return report.error();
  if (auto finished = (*output)->finish(); !finished) return finished;
  for (const std::string& loss : report->losses()) run.say(fmt::format("accelscope: {}: {}", output_path, loss));
  if (run.json && output_path != kStandardOutput) {
    run.streams.out << fmt::format("{{\"output\": {}, \"rows\": {}, \"bytes\": {}}}\n", json_quote(output_path),
                                   report->rows, report->bytes);
  } else if (output_path != kStandardOutput) {
    run.say(fmt::format("{}: {} rows, {}", output_path, format_count(report->rows),
                        format_bytes(static_cast<double>(report->bytes))));
  }
  return {};
}

int view_folder(const JsonViewRequest& request, const CommandRun& run) {
  const std::string& folder = request.inputs.front();
  const auto found = capture::sources::find_input_parts(folder, request.input_options.format);
  if (!found) return run.fail(found.message());
  std::error_code error;
  const bool into_folder = request.output_file.empty() || fs::is_directory(request.output_file, error);
  if (!into_folder && found->parts.size() > 1) {
    return run.fail_usage("view",
                          fmt::format("--output-file {}: {} holds {} profiles, and each becomes a file; name an "
                                      "existing folder",
                                      request.output_file, folder, found->parts.size()));
  }
  int code = kExitDone;
  for (const std::string& why : found->unreadable) code = run.fail(why);
  for (const capture::sources::InputPart& part : found->parts) {
    const std::string output =
        into_folder ? (fs::path(request.output_file) / name_of_part(part)).string() : request.output_file;
    if (auto done = view_one(request, part.path, output, run); !done) code = run.fail(done.message());
  }
  return code;
}

}  // namespace

Result<JsonExportReport> write_json_tables(const Store& store, const SessionFilter& filter, OutputFile& output,
                                           const std::string& title, const CommandRun& run) {
  JsonExportReport report;
  const Result<void> done = with_progress(title, run, [&](JobControl& control) -> Result<void> {
    control.set_unit(JobUnit::events);
    WorkerPool pool;
    TaskControl task;
    JsonExport request{{store, store.snapshot(), pool, task}, {}, filter.filter.range.value_or(TimeRange{}), {}};
    request.query.mask = filter.mask;
    request.forms = neuron::json_forms(*request.query.snapshot);
    request.progress = [&](std::uint64_t rows, std::uint64_t total) {
      if (!control.report(rows, total)) task.cancel();
    };
    auto written = export_json(request, [&](std::string_view text) { return output.write(text); });
    if (!written) return control.cancelled() ? Error{title + ": cancelled"} : written.error();
    report = *written;
    return {};
  });
  if (!done) return done.error();
  return report;
}

std::string memory_tracker_note(const Snapshot& snapshot) {
  std::uint64_t events = 0;
  for (const LaneSnapshot& lane : snapshot.lanes) {
    if (lane.data->kind == EventKind::memory) events += lane.event_count;
  }
  const bool estimated = std::any_of(snapshot.quality.begin(), snapshot.quality.end(),
                                     [](const QualityEntry& entry) { return entry.kind == "memory_estimated"; });
  if (events == 0) return "the memory tracker has nothing to show: the file holds no allocations, spills or tensors";
  if (estimated) {
    return "the memory tracker's figures are estimated from spills and the sizes of tensors where the file holds no "
           "allocations";
  }
  return fmt::format("the memory tracker shows {} allocations that the file holds", format_count(events));
}

int view_json(const JsonViewRequest& request, const CommandRun& run) {
  if (request.inputs.size() > 1) {
    return run.fail_usage("view", "--output-format json writes one file; name one input, or a folder of them with -d");
  }
  std::error_code error;
  if (fs::is_directory(request.inputs.front(), error)) return view_folder(request, run);
  const std::string output = request.output_file.empty() ? kDefaultName : request.output_file;
  const Result<void> done = view_one(request, request.inputs.front(), output, run);
  return done ? kExitDone : run.fail(done.message());
}

}  // namespace accelscope::app
