// A Neuron import of Parquet tables: reads them file by file, and tells what of them could not be read.
#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "capture/json/json_cursor.h"
#include "capture/sources/neuron/importer.h"
#include "capture/sources/neuron/read/table_rules.h"
#include "core/base/text.h"

namespace accelscope::capture::sources::neuron {
namespace {

// What rows of a Parquet export say in other words than rows of JSON, table by table, put into those.
class ExportWords {
 public:
  explicit ExportWords(std::string_view table) : table_(table) {}
  // Texts live until the next row.
  void translate(std::span<json::JsonField> fields);

 private:
  std::string table_;
  std::deque<std::string> texts_;
};

// 0 for "activity_0": the number that JSON has.
[[nodiscard]] std::optional<std::int64_t> throttle_number(std::string_view kind) {
  constexpr std::int64_t kUnknown = 99;
  if (kind == "unknown") return kUnknown;
  for (std::int64_t type = 0; neuron_throttle_kind(type) != "unknown"; ++type) {
    if (neuron_throttle_kind(type) == kind) return type;
  }
  return std::nullopt;
}

void ExportWords::translate(std::span<json::JsonField> fields) {
  texts_.clear();
  const bool throttle = table_ == "Throttle";
  const bool transfer = table_ == "DmaPacketAggregated";
  const bool moves = transfer || table_ == "DmaPacket";
  if (!throttle && !moves) return;
  for (json::JsonField& field : fields) {
    if (moves && field.key == "throughput") {  // bytes a second, with a fraction here
      if (const auto rate = json::to_rounded_int64(field)) field.text = texts_.emplace_back(std::to_string(*rate));
    }
    if (field.kind != json::JsonKind::string) continue;
    if (transfer && (field.key == "source" || field.key == "dest") && field.text.starts_with('[')) {
      field.kind = json::JsonKind::array;  // a list in a text: [["WEIGHT"]]
    }
    if (!throttle || field.key != "type") continue;
    if (const auto number = throttle_number(field.text)) {
      field.text = texts_.emplace_back(std::to_string(*number));
      field.kind = json::JsonKind::number;
    }
  }
}

}  // namespace

Result<void> NeuronImporter::run(const std::vector<ExportFile>& files) {
  is_parquet_ = true;
  report_.count_places_in("row");
  bool has_summary = false;
  for (const ExportFile& file : files) {
    bytes_total_ += file.bytes;
    has_flow_table_ = has_flow_table_ || file.table == "Flow";
    has_summary = has_summary || file.table == "Summary";
  }
  std::string first_problem;
  std::size_t read = 0;
  for (const ExportFile& file : files) {
    Result<std::unique_ptr<parquet::RandomBytes>> bytes = parquet::RandomBytes::open(file.path);
    auto reader = bytes ? parquet::TableReader::open(std::move(*bytes))
                        : Result<std::unique_ptr<parquet::TableReader>>(bytes.error());
    if (reader) {
      if (Result<void> done = read_parquet(**reader, file); !done) return done;
      ++read;
    } else {
      const std::string why = bytes ? fmt::format("{}: {}", file.path, reader.message()) : reader.message();
      if (first_problem.empty()) first_problem = why;
      report_.note(QualityKind("table_unreadable").as(Severity::error),
                   fmt::format("{}; the other tables were read. Export again with: {}", why, kExportCommand));
    }
    bytes_done_ += file.bytes;
  }
  if (read == 0) {
    return Error{fmt::format("{}: {}", path_,
                             first_problem.empty()
                                 ? "the folder holds no Parquet tables; " + std::string(kExportCommand)
                                 : "none of its tables can be read: " + first_problem)};
  }
  if (!has_summary && row_counts_.contains("instruction")) {
    report_.note("summary_missing",
                 "the export has no Summary.parquet, so there are no figures of the vendor's to compare with; it may "
                 "not be finished");
  }
  return finish();
}

Result<void> NeuronImporter::run(parquet::TableReader& reader, const std::string& table) {
  is_parquet_ = true;
  report_.count_places_in("row");
  const Result<void> done = read_parquet(reader, {path_, table, 0});
  return done ? finish() : done;
}

Result<void> NeuronImporter::read_parquet(parquet::TableReader& reader, const ExportFile& file) {
  constexpr std::uint64_t kLookUp = 4096;  // rows, between looks at whether anyone still wants them
  begin_table(file.table, reader.rows() > 0, [&](SchemaInference& inference) {
    const std::vector<json::JsonField> samples = reader.samples();
    inference.on_row(samples, true, {});
  });
  ExportWords words(file.table);
  std::vector<json::JsonField> fields;
  json::RowPlace place;
  while (reader.next()) {
    fields.assign(reader.fields().begin(), reader.fields().end());
    words.translate(fields);
    place.offset = reader.rows_done() - 1;
    on_row(fields, true, place);
    if (reader.rows_done() % kLookUp != 0) continue;
    if (writer_.cancelled()) return Error{fmt::format("{}: the import was cancelled", path_)};
    if (options_.progress && bytes_total_ > 0) {
      const double share = static_cast<double>(reader.rows_done()) / static_cast<double>(reader.rows());
      options_.progress(bytes_done_ + static_cast<std::uint64_t>(share * static_cast<double>(file.bytes)),
                        bytes_total_);
    }
  }
  report_parquet(reader, file);
  return {};
}

void NeuronImporter::report_parquet(const parquet::TableReader& reader, const ExportFile& file) {
  for (const parquet::ColumnProblem& problem : reader.problems()) {
    const std::string where = fmt::format("{}, group of rows {}", file.path, problem.group);
    if (problem.column.empty()) {
      report_.note(QualityKind("rows_lost").as(Severity::error),
                   fmt::format("{}: {}; these rows are missing. Export again", where, problem.what),
                   std::max<std::uint64_t>(problem.lost_rows, 1));
    } else {
      report_.note(QualityKind("values_lost").as(Severity::error),
                   fmt::format("{}: the column {} {}; rows from there on lack it. Export again", where, problem.column,
                               problem.what),
                   std::max<std::uint64_t>(problem.lost_rows, 1));
    }
  }
  report_.note("values_mended",
               fmt::format("values of \"{}\" hold bytes that are not UTF-8 and were read after mending", file.table),
               reader.mended_values());
}

}  // namespace accelscope::capture::sources::neuron
