#include "app/commands/view/view_output.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <ctime>
#include <filesystem>
#include <ostream>
#include <sstream>

#include "app/content/advice_words.h"
#include "app/content/figure_text.h"
#include "app/output/output_file.h"
#include "app/output/session_export.h"
#include "app/persist/persist.h"
#include "app/system/system_files.h"
#include "app/terminal/session_input.h"
#include "app/view/marker_sets.h"
#include "capture/sources/input_parts.h"
#include "core/analysis/time/track_devices.h"
#include "core/base/checksum.h"
#include "core/base/format.h"
#include "core/base/json.h"
#include "core/export/formats/formats.h"
#include "core/export/neuron/neuron_json.h"
#include "core/listing/base/write.h"
#include "core/listing/listings.h"
#include "core/scan/event_mask.h"
#include "core/search/filter_mask.h"

namespace accelscope::app::commands {
namespace {

// The vendor names a compiled graph by a hash. Where its file states one it is kept; else the contents are hashed.
std::string summary_key(const Snapshot& snapshot) {
  for (const std::string_view name : {"model_info.graph_hash", "neff_header.hash", "metadata.neff_hash"}) {
    const std::string_view value = snapshot.meta_value(name);
    if (!value.empty()) return fmt::format("n_{}", value);
  }
  std::string text = fmt::format("{} {} {}", snapshot.event_count, snapshot.begin_ns, snapshot.end_ns);
  for (const MetaEntry& entry : snapshot.meta) {
    if (entry.key != kWrittenByFact) text += fmt::format("\n{}={}", entry.key, entry.value);
  }
  for (const Metric& metric : snapshot.metrics)
    text += fmt::format("\n{}={}{}", metric.name, metric.value, metric.text);
  return "n_" + sha256_hex(text).substr(0, 40);
}

void add_metric_row(listing::TextTable& table, const analysis::SessionMetric& metric, bool filtered) {
  const std::string vendor = metric.vendor ? format_value(*metric.vendor, metric.unit) : metric.vendor_text;
  const std::string ours = metric.value ? format_value(*metric.value, metric.unit) : "";
  std::string difference = content::difference_text(metric) + (analysis::is_flagged(metric) ? " !" : "");
  if (filtered && metric.unfiltered) difference += "not filtered";
  table.row({metric.name, vendor, ours, difference});
}

// The figures of one device, or of the session.
struct Block {
  std::string device;
  std::vector<const analysis::SessionMetric*> metrics;
};

std::vector<Block> blocks_of(const PrintedSummary& summary) {
  std::vector<Block> blocks;
  for (const analysis::SessionMetric& metric : summary.metrics) {
    if (blocks.empty() || blocks.back().device != metric.device) blocks.push_back({metric.device, {}});
    blocks.back().metrics.push_back(&metric);
  }
  return blocks;
}

bool is_graph(const std::string& device) { return device.size() == 42 && device.starts_with("n_"); }

bool is_part_block(const Block& block, const std::vector<Block>& blocks) {
  return std::any_of(blocks.begin(), blocks.end(), [&](const Block& other) {
    const std::vector<std::string> parts = analysis::parts_of_device(other.device);
    return std::find(parts.begin(), parts.end(), block.device) != parts.end();
  });
}

// The only device that is no part of another has the session's key; further ones have one of their own, made of it and
// their name.
std::string key_of(const PrintedSummary& summary, const Block& block, const std::vector<Block>& blocks) {
  if (is_graph(block.device)) return block.device;
  const auto wholes =
      std::count_if(blocks.begin(), blocks.end(), [&](const Block& other) { return !is_part_block(other, blocks); });
  if (wholes <= 1 && !is_part_block(block, blocks)) return summary.key;
  return "n_" + sha256_hex(summary.key + " " + block.device).substr(0, 40);
}

void add_json_block(JsonWriter& json, const PrintedSummary& summary, const Block& block, const Block* of_session) {
  for (const analysis::SessionMetric* metric : block.metrics) {
    const bool text = !metric->vendor && !metric->vendor_text.empty();
    json.add(metric->name, text ? JsonValue(metric->vendor_text) : metric->vendor ? metric->vendor : metric->value);
  }
  json.key("accelscope").begin_object("device", is_graph(block.device) ? "" : block.device);
  json.add("duration_ns", summary.duration_ns, "verdict", summary.verdict).add_text("filter", summary.filter);
  for (const Block* part : {of_session, &block}) {
    if (part == nullptr) continue;
    for (const analysis::SessionMetric* metric : part->metrics)
      if (metric->value) json.add(metric->name, metric->value);
  }
  json.end();
}

void add_verdict(listing::TextTable& table, const Block& block) {
  std::array<std::size_t, analysis::kMetricChecks> counts{};
  std::size_t close = 0;
  std::size_t flagged = 0;
  for (const analysis::SessionMetric* metric : block.metrics) {
    ++counts[static_cast<std::size_t>(analysis::check(*metric))];
    const auto difference = analysis::relative_difference(*metric);
    close += difference && std::abs(*difference) <= analysis::kExactMargin ? 1 : 0;
    flagged += analysis::is_flagged(*metric) ? 1 : 0;
  }
  const std::size_t agree = counts[static_cast<std::size_t>(analysis::MetricCheck::agrees)];
  const std::size_t differ = counts[static_cast<std::size_t>(analysis::MetricCheck::differs)];
  if (agree + differ == 0) return;
  table.line(
      fmt::format("  of {} figures that both state, {} agree within 0.1 %, {} more within their margin, {} differ; {} "
                  "lie more than "
                  "1 % apart",
                  agree + differ, close, agree - std::min(agree, close), differ, flagged));
}

void add_block(listing::TextTable& table, const Block& block, bool filtered) {
  table.line("");
  table.row({block.device.empty() ? "session" : block.device, "the file states", "we compute", "difference"});
  std::string_view group;
  for (const analysis::SessionMetric* metric : block.metrics) {
    if (metric->group != group) table.line(metric->group);
    group = metric->group;
    add_metric_row(table, *metric, filtered);
  }
  add_verdict(table, block);
}

}  // namespace

Result<PrintedSummary> printed_summary(const Store& store, const std::string& title,
                                       const terminal::SessionFilter& filter) {
  const TimeRange range = filter.filter.range.value_or(TimeRange{});
  WorkerPool pool;
  TaskControl control;
  PrintedSummary summary;
  const auto snapshot = store.snapshot();
  QueryContext query{store, snapshot, pool, control};
  const bool chosen = filter.filter.needs_mask();  // a range alone is met without looking at single events
  if (!chosen) {
    auto verdict = TRY(content::verdict_text(query, range));
    summary.verdict = std::move(verdict);
  } else {
    query.mask = filter.mask;
    summary.filter = filter.text();
  }
  auto metrics = TRY(analysis::session_metrics(query, range));
  summary.title = title;
  summary.key = summary_key(*snapshot);
  summary.metrics = std::move(metrics);
  for (const output::TableCount& count : output::table_counts(*snapshot, filter.mask.get())) {
    if (count.events > 0) summary.event_counts.emplace_back(count.name, count.events);
    summary.event_count += count.events;
  }
  if (!filter.mask) summary.event_count = count_passing(*snapshot, nullptr);
  const std::int64_t begin_ns = std::max(range.begin_ns, snapshot->begin_ns);
  summary.duration_ns = std::max<std::int64_t>(0, std::min(range.end_ns, snapshot->end_ns) - begin_ns);
  summary.extent = output::extent_text(*snapshot, summary.event_count, summary.duration_ns);
  return summary;
}

void write_summary_json(std::ostream& out, const std::vector<PrintedSummary>& summaries) {
  JsonWriter json(JsonLayout::sections);
  json.begin_object();
  for (const PrintedSummary& summary : summaries) {
    std::vector<Block> blocks = blocks_of(summary);
    Block session;
    if (!blocks.empty() && blocks.front().device.empty()) {
      session = std::move(blocks.front());
      blocks.erase(blocks.begin());
    }
    const bool alone = blocks.empty();  // a session without devices is a block itself
    if (alone) blocks.push_back(session);
    for (const Block& block : blocks) {
      json.key(key_of(summary, block, blocks)).begin_object();
      add_json_block(json, summary, block, alone ? nullptr : &session);
      json.end();
    }
  }
  out << json.done() << '\n';
}

void write_summary_text(std::ostream& out, const std::vector<PrintedSummary>& summaries) {
  for (const PrintedSummary& summary : summaries) {
    out << fmt::format("{}  {}\n", summary.title, summary.key);
    out << fmt::format("  {}\n", summary.extent);
    out << fmt::format("  {}\n", summary.filter.empty() ? summary.verdict : summary.filter);
    listing::TextTable table(
        {listing::CellAlign::left, listing::CellAlign::right, listing::CellAlign::right, listing::CellAlign::left},
        "  ");
    for (const auto& [schema, count] : summary.event_counts) table.row({schema, format_count(count)});
    for (const Block& block : blocks_of(summary)) add_block(table, block, !summary.filter.empty());
    table.print(out);
    out << '\n';
  }
}

namespace {

struct BundledTable {
  std::string_view listing;
  std::string_view format;
  std::string_view name;
  std::string_view suffix;
};
constexpr std::array kBundledTables = {
    BundledTable{"device-stats", "table", "device_stats", ".txt"},
    BundledTable{"device-stats", "csv", "device_stats", ".csv"},
    BundledTable{"tt-perf", "table", "tt_perf_report", ".txt"},
    BundledTable{"tt-perf", "csv", "tt_perf_report", ".csv"},
};

struct BundledExport {
  std::string_view format;
  std::string_view name;
  std::string_view suffix;
};
constexpr std::array kBundledExports = {
    BundledExport{"ops-csv", "ops_perf_results", ".csv"},
    BundledExport{"rearranged-csv", "device_rearranged_timestamps", ".csv"},
};

class TextOutput final : public exporting::ExportOutput {
 public:
  Result<void> begin_file(const std::string&) override { return {}; }
  Result<void> write(std::string_view bytes) override {
    text += bytes;
    return {};
  }
  std::string text;
};

class Bundle {
 public:
  Bundle(const workspace::OpenedSession& session, const terminal::SessionFilter& filter, std::ostream& out)
      : session_(session), filter_(filter), tar_(out), now_(std::chrono::system_clock::now()) {
    stamp_ = fmt::format("{:%Y_%m_%d_%H_%M_%S}", fmt::gmtime(std::chrono::system_clock::to_time_t(now_)));
  }

  Result<void> write() {
    WorkerPool pool;
    TaskControl control;
    const QueryContext query{*session_.store, session_.store->snapshot(), pool, control, nullptr, filter_.mask};
    for (const BundledTable& table : kBundledTables) {
      if (Result<void> done = add_table(table, query); !done) return done;
    }
    for (const BundledExport& each : kBundledExports) {
      if (Result<void> done = add_export(each, query); !done) return done;
    }
    const auto summary = TRY(printed_summary(*session_.store, session_.title, filter_));
    std::ostringstream figures;
    write_summary_text(figures, {summary});
    add("summary", ".txt", figures.str());
    tar_.finish();
    return {};
  }
  [[nodiscard]] const std::vector<std::string>& files() const noexcept { return files_; }
  [[nodiscard]] const std::vector<std::string>& left_out() const noexcept { return left_out_; }

 private:
  void add(std::string_view name, std::string_view suffix, std::string_view content) {
    files_.push_back(fmt::format("{}_{}{}", name, stamp_, suffix));
    tar_.add(files_.back(), content, std::chrono::duration_cast<std::chrono::seconds>(now_.time_since_epoch()).count());
  }
  Result<void> add_table(const BundledTable& table, const QueryContext& query) {
    const auto listing = listing::find_listing(table.listing)->make(query, {filter_.filter, {}, {}, {}});
    if (!listing) return listing.error();
    if (listing->rows.row_count() == 0) {
      left_out_.push_back(fmt::format("{}{}: the session has nothing for it", table.name, table.suffix));
      return {};
    }
    std::ostringstream text;
    const auto output = listing::make_query_output(table.format, text);
    listing::print_listing(*listing, *output);
    output->finish();
    add(table.name, table.suffix, text.str());
    return {};
  }
  Result<void> add_export(const BundledExport& each, const QueryContext& query) {
    exporting::ExportRequest what{query};
    what.range = filter_.filter.range.value_or(TimeRange{});
    TextOutput output;
    const auto report = exporting::find_export_format(each.format)->write(what, output);
    if (!report) {
      left_out_.push_back(fmt::format("{}{}: {}", each.name, each.suffix, report.message()));
      return {};
    }
    for (const std::string& loss : report->losses)
      left_out_.push_back(fmt::format("{}{}: {}", each.name, each.suffix, loss));
    add(each.name, each.suffix, output.text);
    return {};
  }

  const workspace::OpenedSession& session_;
  const terminal::SessionFilter& filter_;
  output::TarFile tar_;
  std::chrono::system_clock::time_point now_;
  std::string stamp_;
  std::vector<std::string> files_;
  std::vector<std::string> left_out_;
};

}  // namespace

int view_bundle(const BundleRequest& request, const terminal::CommandRun& run) {
  if (auto may = output::may_write(request.bundle, request.force, request.inputs); !may) return run.fail(may.message());
  if (request.bundle == output::kStandardOutput && run.streams.out_is_terminal) {
    return run.fail("-: an archive is no text for a terminal; pipe it on, or name a file");
  }
  const auto session = terminal::open_input(request.inputs, request.input_options, run);
  if (!session) return run.fail(session.message());
  const auto filter = terminal::make_filter(request.filter, *session->store, &run);
  if (!filter) return run.fail(fmt::format("{}: {}", request.inputs.front(), filter.message()));
  const auto output = output::OutputFile::open(request.bundle, run.data_out());
  if (!output) return run.fail(output.message());
  Bundle bundle(*session, *filter, (*output)->stream());
  if (Result<void> done = bundle.write(); !done) {
    return run.fail(fmt::format("{}: {}", request.inputs.front(), done.message()));
  }
  if (Result<void> done = (*output)->finish(); !done) return run.fail(done.message());
  for (const std::string& why : bundle.left_out())
    run.inform(fmt::format("accelscope: {}: left out: {}", request.bundle, why));
  run.inform(fmt::format("{}: {}", request.bundle, fmt::join(bundle.files(), ", ")));
  return terminal::kExitDone;
}

namespace {

// Of the roofline in a report, as the viewer keeps them.
analysis::PeakEdits entered_peaks(const terminal::CommandRun& run) {
  persist::PeakBook book(persist::peak_book_file(system::state_directory(system::process_environment())));
  if (const auto loaded = book.load(); !loaded) run.inform("accelscope: " + loaded.message());
  return book.edits();
}

Result<exporting::ExportReport> export_with_progress(const ExportViewRequest& request,
                                                     const terminal::SessionFilter& filter,
                                                     const workspace::OpenedSession& session, const std::string& path,
                                                     const terminal::CommandRun& run) {
  exporting::ExportReport report;
  const std::string title = "Writing " + path;
  const Result<void> done = terminal::with_progress(title, run, [&](session::JobControl& control) -> Result<void> {
    control.set_unit(session::JobUnit::events);
    WorkerPool pool;
    TaskControl task;
    const Store& store = *session.store;
    exporting::ExportRequest what{{store, store.snapshot(), pool, task}};
    what.query.mask = filter.mask;
    what.range = filter.filter.range.value_or(TimeRange{});
    what.title = session.title;
    what.filter = filter.filter;
    if (filter.mask) what.filter_text = filter.text();
    what.peaks = entered_peaks(run);
    what.progress = [&](std::uint64_t written, std::uint64_t total) {
      if (!control.report(written, total)) task.cancel();
    };
    auto written = output::write_export(*request.format, what, path,
                                        request.format->name == "markdown" ? run.streams.out : run.data_out());
    if (!written) return control.cancelled() ? Error{title + ": cancelled"} : written.error();
    report = std::move(*written);
    return {};
  });
  if (!done) return done.error();
  return report;
}

}  // namespace

int view_export(const ExportViewRequest& request, const terminal::CommandRun& run) {
  const exporting::ExportFormat& format = *request.format;
  const std::string path =
      request.output_file.empty() ? output::default_export(request.inputs.front(), format) : request.output_file;
  if (path == output::kStandardOutput && format.binary && run.streams.out_is_terminal) {
    return run.fail("-: this is no text for a terminal; pipe it on, or name a file");
  }
  if (auto may = output::may_export(format, path, request.force, request.inputs); !may) return run.fail(may.message());
  const auto session = terminal::open_input(request.inputs, request.input_options, run);
  if (!session) return run.fail(session.message());
  const auto filter = terminal::make_filter(request.filter, *session->store, &run);
  if (!filter) return run.fail(fmt::format("{}: {}", request.inputs.front(), filter.message()));
  if (request.filter.has_events()) {
    run.inform(fmt::format("accelscope: {}: {}", request.inputs.front(), filter->text()));
  }
  const auto report = export_with_progress(request, *filter, *session, path, run);
  if (!report) return run.fail(report.message());
  for (const std::string& loss : report->losses) run.inform(fmt::format("accelscope: {}: {}", path, loss));
  if (path == output::kStandardOutput) return terminal::kExitDone;
  if (run.json) {
    run.streams.out << json_line("output", path, "rows", report->rows, "bytes", report->bytes, "left_out",
                                 report->losses);
  } else {
    run.inform(fmt::format("{}: {} events, {}", path, format_count(report->rows), format_bytes(report->bytes)));
  }
  return terminal::kExitDone;
}

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
  return workspace::title_of_path(part.file.path) + ".json";
}

Result<void> view_one(const JsonViewRequest& request, const std::string& input,
                      const std::function<Result<workspace::OpenedSession>()>& open, const std::string& output_path,
                      const terminal::CommandRun& run) {
  if (auto may = output::may_write(output_path, request.force, {input}); !may) return may;
  const auto session = TRY(open());
  if (request.memory_tracker) run.inform(fmt::format("{}: {}", input, memory_tracker_note(*session.store->snapshot())));
  const auto filter = terminal::make_filter(request.filter, *session.store, &run);
  if (!filter) return Error{fmt::format("{}: {}", input, filter.message())};
  if (request.filter.has_events()) run.inform(fmt::format("accelscope: {}: {}", input, filter->text()));
  if (!exporting::neuron::is_neuron_session(*session.store->snapshot())) {
    return Error{
        fmt::format("{}: the session has no tables of a Neuron profile, which --output-format json writes; write "
                    "chrome or perfetto, "
                    "or a listing with --table NAME --output-format json",
                    input)};
  }
  const auto output = TRY(output::OutputFile::open(output_path, run.data_out()));
  const auto report = TRY(write_json_tables(*session.store, *filter, *output, "Writing " + output_path, run));
  if (auto finished = output->finish(); !finished) return finished;
  for (const std::string& loss : report.losses()) run.inform(fmt::format("accelscope: {}: {}", output_path, loss));
  if (run.json && output_path != output::kStandardOutput) {
    run.streams.out << json_line("output", output_path, "rows", report.rows, "bytes", report.bytes);
  } else if (output_path != output::kStandardOutput) {
    run.inform(fmt::format("{}: {} rows, {}", output_path, format_count(report.rows), format_bytes(report.bytes)));
  }
  return {};
}

int view_folder(const JsonViewRequest& request, const terminal::CommandRun& run) {
  const std::string& folder = request.inputs.front();
  const auto found =
      capture::sources::find_input_parts(capture::sources::recognise(folder), request.input_options.format);
  if (!found) return run.fail(found.message());
  std::error_code error;
  const bool into_folder = request.output_file.empty() || fs::is_directory(request.output_file, error);
  if (!into_folder && found->parts.size() > 1) {
    return run.fail_usage("view",
                          fmt::format("--output-file {}: {} holds {} profiles, and each becomes a file; name an "
                                      "existing folder",
                                      request.output_file, folder, found->parts.size()));
  }
  int code = terminal::kExitDone;
  for (const std::string& why : found->unreadable) code = run.fail(why);
  for (const capture::sources::InputPart& part : found->parts) {
    const std::string output =
        into_folder ? (fs::path(request.output_file) / name_of_part(part)).string() : request.output_file;
    const auto open = [&] { return terminal::open_recognised(part.file, request.input_options, run); };
    if (auto done = view_one(request, part.file.path, open, output, run); !done) code = run.fail(done.message());
  }
  return code;
}

}  // namespace

Result<exporting::JsonExportReport> write_json_tables(const Store& store, const terminal::SessionFilter& filter,
                                                      output::OutputFile& output, const std::string& title,
                                                      const terminal::CommandRun& run) {
  exporting::JsonExportReport report;
  const Result<void> done = terminal::with_progress(title, run, [&](session::JobControl& control) -> Result<void> {
    control.set_unit(session::JobUnit::events);
    WorkerPool pool;
    TaskControl task;
    exporting::JsonExport request{
        {store, store.snapshot(), pool, task}, {}, filter.filter.range.value_or(TimeRange{}), {}};
    request.query.mask = filter.mask;
    request.forms = exporting::neuron::json_forms(*request.query.snapshot);
    request.progress = [&](std::uint64_t rows, std::uint64_t total) {
      if (!control.report(rows, total)) task.cancel();
    };
    auto written = exporting::export_json(request, [&](std::string_view text) { return output.write(text); });
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

int view_json(const JsonViewRequest& request, const terminal::CommandRun& run) {
  if (request.inputs.size() > 1) {
    return run.fail_usage("view", "--output-format json writes one file; name one input, or a folder of them with -d");
  }
  std::error_code error;
  if (fs::is_directory(request.inputs.front(), error)) return view_folder(request, run);
  const std::string output = request.output_file.empty() ? kDefaultName : request.output_file;
  const auto open = [&] { return terminal::open_input({request.inputs.front()}, request.input_options, run); };
  const Result<void> done = view_one(request, request.inputs.front(), open, output, run);
  return done ? terminal::kExitDone : run.fail(done.message());
}

}  // namespace accelscope::app::commands
