#include "app/output/session_export.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <ostream>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "app/output/output_file.h"
#include "core/analysis/figures/session_terms.h"
#include "core/base/file_system.h"
#include "core/base/format.h"
#include "core/base/json.h"
#include "core/export/formats/formats.h"
#include "core/export/neuron/neuron_json.h"
#include "core/listing/base/write.h"
#include "core/search/filter_mask.h"
#include "core/sql/base/sql.h"

namespace accelscope::app::output {
namespace {

namespace fs = std::filesystem;

class OneFile final : public exporting::ExportOutput {
 public:
  explicit OneFile(OutputFile& file) : file_(file) {}
  Result<void> begin_file(const std::string& name) override {
    return Error{name + ": this format writes one file only"};
  }
  Result<void> write(std::string_view bytes) override { return file_.write(bytes); }

 private:
  OutputFile& file_;
};

// Files are drafts until the last of them is complete.
class FilesOfFolder final : public exporting::ExportOutput {
 public:
  explicit FilesOfFolder(std::string folder, std::ostream& unused) : folder_(std::move(folder)), unused_(unused) {}
  ~FilesOfFolder() override {
    drafts_.clear();
    std::error_code ignored;  // only what this export made and did not finish
    if (made_ && !finished_) fs::remove(folder_, ignored);
  }

  Result<void> begin() {
    std::error_code error;
    if (fs::is_directory(folder_, error)) return {};
    made_ = fs::create_directories(folder_, error);
    if (!made_) return Error{folder_ + ": the folder cannot be made; check its name and permissions"};
    return {};
  }
  Result<void> begin_file(const std::string& name) override {
    auto file = TRY(OutputFile::open((fs::path(folder_) / name).string(), unused_));
    drafts_.push_back(std::move(file));
    return {};
  }
  Result<void> write(std::string_view bytes) override {
    if (drafts_.empty()) return Error{folder_ + ": nothing was begun in it"};
    return drafts_.back()->write(bytes);
  }
  Result<void> finish() {
    for (const auto& draft : drafts_) {
      if (Result<void> done = draft->finish(); !done) return done;
    }
    finished_ = true;
    return {};
  }

 private:
  std::string folder_;
  std::ostream& unused_;
  std::vector<std::unique_ptr<OutputFile>> drafts_;
  bool made_ = false;
  bool finished_ = false;
};

}  // namespace

bool exports_folder(const exporting::ExportFormat& format, const std::string& path) {
  if (format.shape != exporting::ExportShape::either) return format.shape == exporting::ExportShape::folder;
  if (path == kStandardOutput || path.empty()) return false;
  std::error_code error;
  return path.ends_with('/') || fs::is_directory(path, error) ||
         (!fs::exists(path, error) && !fs::path(path).has_extension());
}

std::string default_export(const std::string& input, const exporting::ExportFormat& format) {
  if (format.shape == exporting::ExportShape::folder) return default_output(input, fmt::format("-{}", format.name));
  return default_output(input, format.suffix);
}

Result<void> may_export(const exporting::ExportFormat& format, const std::string& path, bool replace,
                        const std::vector<std::string>& inputs) {
  if (!exports_folder(format, path)) {
    std::error_code error;
    if (path != kStandardOutput && fs::is_directory(path, error)) {
      return Error{fmt::format("{}: is a folder, and {} is one file; name a file", path, format.name)};
    }
    return may_write(path, replace, inputs);
  }
  if (path == kStandardOutput) {
    return Error{fmt::format("-: {} is a file for each table; name a folder with --output-file", format.name)};
  }
  std::error_code error;
  if (!fs::exists(path, error)) return {};
  if (!fs::is_directory(path, error)) {
    return Error{fmt::format("{}: is a file, and {} is a folder of files; name a folder", path, format.name)};
  }
  if (replace || fs::is_empty(path, error)) return {};
  return Error{path + ": the folder is not empty; name another, or replace its files with --force"};
}

Result<exporting::ExportReport> write_export(const exporting::ExportFormat& format,
                                             const exporting::ExportRequest& request, const std::string& path,
                                             std::ostream& standard) {
  TRY(exporting::check_export(format, *request.query.snapshot));
  if (exports_folder(format, path)) {
    FilesOfFolder folder(path, standard);
    TRY(folder.begin());
    exporting::ExportRequest tables = request;
    tables.into_folder = true;
    Result<exporting::ExportReport> report = format.write(tables, folder);
    if (!report) return report;
    TRY(folder.finish());
    return report;
  }
  const auto file = TRY(OutputFile::open(path, standard));
  OneFile output(*file);
  Result<exporting::ExportReport> report = format.write(request, output);
  if (!report) return report;
  TRY(file->finish());
  return report;
}

std::string export_said(const exporting::ExportReport& report, const std::string& path) {
  std::string text =
      fmt::format("Wrote {} events to {}, {}", format_count(report.rows), path, format_bytes(report.bytes));
  for (const std::string& loss : report.losses) text += ". Not in it: " + loss;
  return text;
}

std::string quality_json(const Snapshot& snapshot) {
  JsonWriter json(JsonLayout::line);
  json.array(snapshot.quality, [&](const QualityEntry& entry) {
    json.object("kind", entry.kind, "severity", severity_name(entry.severity), "count", entry.count, "detail",
                entry.detail);
  });
  return json.done();
}

namespace {

// "58 instructions in 3 engines" of programs; "" where that is not known.
[[nodiscard]] std::string instructions_in_words(const Snapshot& snapshot) {
  std::uint64_t instructions = 0;
  std::set<std::string_view> engines;
  for (const Metric& metric : snapshot.metrics) {
    if (!metric.name.ends_with("instruction_count") || !(metric.value > 0)) continue;
    if (metric.name == "instruction_count") {
      instructions += static_cast<std::uint64_t>(metric.value);
    } else {
      engines.insert(metric.name);
    }
  }
  if (instructions == 0) return {};
  return fmt::format("{} in {}", counted(instructions, "instruction"), counted(engines.size(), "engine"));
}

}  // namespace

std::string extent_text(const Snapshot& snapshot, std::uint64_t events, std::int64_t duration_ns) {
  std::uint64_t rows = 0;
  std::set<std::string_view> tables;
  bool has_times = false;
  for (const LaneSnapshot& lane : snapshot.lanes) {
    if (lane.event_count == 0) continue;
    rows += lane.event_count;
    tables.insert(lane.schema->name);
    has_times = has_times || lane.schema->kind != EventKind::table;
  }
  if (has_times || tables.empty())
    return fmt::format("{} events over {}", format_count(events), format_duration(duration_ns));
  const std::string text = fmt::format("{} in {}", counted(rows, "row"), counted(tables.size(), "table"));
  if (!analysis::is_program_alone(snapshot)) return text + ", no times";
  const std::string instructions = instructions_in_words(snapshot);
  return fmt::format("{}{}{}, no times: this is a program, not a trace", instructions, instructions.empty() ? "" : ", ",
                     text);
}

std::string extent_text(const Snapshot& snapshot) {
  return extent_text(snapshot, count_passing(snapshot, nullptr), snapshot.end_ns - snapshot.begin_ns);
}

std::vector<TableCount> table_counts(const Snapshot& snapshot, const EventMask* mask) {
  constexpr std::string_view kRowsPrefix = "source.rows.";
  constexpr std::string_view kReadPrefix = "source.read.";
  std::vector<TableCount> counts;
  const auto place = [&](std::string_view name) -> TableCount& {
    for (TableCount& count : counts) {
      if (count.name == name) return count;
    }
    return counts.emplace_back(TableCount{std::string(name), 0, "", ""});
  };
  for (const auto& schema : snapshot.schemas) (void)place(schema->name);
  for (std::uint32_t i = 0; i < snapshot.lanes.size(); ++i) {
    const LaneSnapshot& lane = snapshot.lanes[i];
    const bool all = mask == nullptr || lane.data->kind == EventKind::table;
    place(lane.schema->name).events += all ? lane.event_count : mask->count(i);
  }
  for (const MetaEntry& entry : snapshot.meta) {
    if (entry.key.starts_with(kRowsPrefix))
      place(std::string_view(entry.key).substr(kRowsPrefix.size())).source_rows = entry.value;
    if (entry.key.starts_with(kReadPrefix))
      place(std::string_view(entry.key).substr(kReadPrefix.size())).source_read = entry.value;
  }
  std::erase_if(counts, [](const TableCount& count) { return count.events == 0 && count.source_rows.empty(); });
  return counts;
}

std::string no_findings(const Snapshot& snapshot) {
  std::string open;
  std::uint64_t rows = 0;
  for (const TableCount& count : table_counts(snapshot)) {
    if (count.source_rows.empty()) continue;
    const std::string read = count.source_read.empty() ? std::to_string(count.events) : count.source_read;
    rows += std::strtoull(read.c_str(), nullptr, 10);
    if (read == count.source_rows) continue;
    open += fmt::format("{}{} of {} rows of {}", open.empty() ? "" : ", ", read, count.source_rows, count.name);
  }
  if (!open.empty()) return fmt::format("Nothing is known to have been skipped, but {} were read.", open);
  if (rows == 0)
    return "Nothing is known to have been skipped, estimated or missing; the rows of the source were not counted.";
  return fmt::format("Nothing was skipped, estimated or missing: {} of {} rows were read.", format_count(rows),
                     format_count(rows));
}

void print_quality_report(std::ostream& out, const Snapshot& snapshot) {
  listing::TextTable table({listing::CellAlign::left, listing::CellAlign::right, listing::CellAlign::right});
  table.row({"table", "rows in file", "events"});
  for (const TableCount& count : table_counts(snapshot)) {
    table.row({count.name, count.source_rows, count.events == 0 ? "–" : format_count(count.events)});
  }
  table.print(out);
  std::vector<const QualityEntry*> entries;
  for (const QualityEntry& entry : snapshot.quality) entries.push_back(&entry);
  std::stable_sort(entries.begin(), entries.end(),
                   [](const QualityEntry* a, const QualityEntry* b) { return a->severity > b->severity; });
  out << '\n';
  if (entries.empty()) out << no_findings(snapshot) << '\n';
  for (const QualityEntry* entry : entries) {
    out << fmt::format("{:<8} {} × {}: {}\n", severity_name(entry->severity), format_count(entry->count), entry->kind,
                       entry->detail);
  }
}

namespace {

constexpr const char* kEvents =
    "SELECT slice.id, track.name AS track, track.device, lane, ts_ns, dur_ns, slice.name, category, slice.schema "
    "FROM slice JOIN track ON track.id = slice.track_id";

struct Written {
  std::uint64_t rows = 0;
  std::vector<std::string> losses;
};

Result<Written> write_json(const QueryContext& query, const TimeRange& range, OutputFile& output) {
  exporting::JsonExport request{query, {}, range, {}};
  if (exporting::neuron::is_neuron_session(*query.snapshot))
    request.forms = exporting::neuron::json_forms(*query.snapshot);
  const auto report = exporting::export_json(request, [&](std::string_view text) { return output.write(text); });
  if (!report) return report.error();
  return Written{report->rows, report->losses()};
}

// Passes rows on and counts them.
class CountedRows final : public listing::SqlRowVisitor {
 public:
  explicit CountedRows(listing::QueryOutput& output) : output_(output) {}
  bool columns(const std::vector<std::string>& names) override { return output_.columns(names); }
  bool row(const std::vector<listing::SqlValue>& values) override {
    ++rows_;
    return output_.row(values);
  }
  [[nodiscard]] std::uint64_t rows() const noexcept { return rows_; }

 private:
  listing::QueryOutput& output_;
  std::uint64_t rows_ = 0;
};

Result<Written> write_csv(const QueryContext& query, OutputFile& output) {
  sql::Session session(query.store, query.snapshot, query.pool, query.mask);
  const auto csv = listing::make_query_output("csv", output.stream());
  CountedRows rows(*csv);
  TRY(session.visit(kEvents, rows, query.control));
  csv->finish();
  return Written{rows.rows(), {}};
}

}  // namespace

Result<std::string> write_filtered(const QueryContext& query, const EventFilter& filter, const std::string& path) {
  QueryContext filtered = query;
  auto mask = search::filter_mask(query, filter);
  if (!mask) return Error{"The filter: " + mask.message()};
  filtered.mask = std::move(*mask);
  std::ostringstream unused;
  const auto output = TRY(OutputFile::open(path, unused));
  const auto written = TRY(path.ends_with(".json") ? write_json(filtered, filter.range.value_or(TimeRange{}), *output)
                                                   : write_csv(filtered, *output));
  TRY(output->finish());
  std::string text = fmt::format("Wrote {} rows to {}", format_count(written.rows), path);
  for (const std::string& loss : written.losses) text += ". " + loss;
  return text;
}

}  // namespace accelscope::app::output
