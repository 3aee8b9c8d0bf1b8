// A Neuron import of tables in a file each, Parquet or CSV: what the profile says of itself first, then table after
// table; and what of them is not as schema 7.4.0 has it or could not be read.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <deque>
#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "capture/json/json_cursor.h"
#include "capture/sources/base/csv_table.h"
#include "capture/sources/neuron/importer.h"
#include "capture/sources/neuron/read/table_rules.h"
#include "core/base/capped.h"
#include "core/base/text.h"

namespace accelscope::capture::sources::neuron {
namespace {

// What rows of a Parquet export say in other words than rows of JSON, table by table, put into those: units, values and
// records that another schema has made others, and what 7.4.0 itself has otherwise.
class ExportWords {
 public:
  ExportWords(const TableReading& table, const ExportReading& all);
  // Texts live until the next row.
  void translate(std::vector<json::JsonField>& fields);

 private:
  void open_record(const FieldReading& record, std::vector<json::JsonField>& fields);
  void convert(const FieldReading& column, json::JsonField& field);
  void scale(const FieldReading& column, json::JsonField& field);

  const TableReading& table_;
  const ExportReading& all_;
  std::vector<const FieldReading*> converted_;
  std::vector<const FieldReading*> records_;
  bool is_throttle_ = false;
  bool is_transfer_ = false;
  bool is_move_ = false;
  bool is_flow_ = false;
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

[[nodiscard]] bool is_converted(const FieldReading& column) noexcept {
  return column.factor != 1 || column.by_place || (column.is_number && column.facts.kind == ValueKind::text) ||
         (column.is_single && column.facts.kind == ValueKind::nested);
}

ExportWords::ExportWords(const TableReading& table, const ExportReading& all) : table_(table), all_(all) {
  for (const FieldReading& column : table.fields) {
    if (is_converted(column)) converted_.push_back(&column);
    if (column.opened) records_.push_back(&column);
  }
  is_throttle_ = table.known == "Throttle";
  is_transfer_ = table.known == "DmaPacketAggregated";
  is_move_ = is_transfer_ || table.known == "DmaPacket";
  const std::vector<TableReading>& tables = all.tables();
  is_flow_ = table.known == "Flow" &&
             std::any_of(tables.begin(), tables.end(), [](const TableReading& each) { return !each.reason.empty(); });
}

void ExportWords::translate(std::vector<json::JsonField>& fields) {
  texts_.clear();
  for (const FieldReading* record : records_) open_record(*record, fields);
  if (converted_.empty() && !is_throttle_ && !is_move_ && !is_flow_) return;
  for (json::JsonField& field : fields) {
    for (const FieldReading* column : converted_) {
      if (field.key == column->known) convert(*column, field);
    }
    if (is_move_ && field.key == "throughput") {  // bytes a second, with a fraction here
      if (const auto rate = json::to_rounded_int64(field)) field.text = texts_.emplace_back(std::to_string(*rate));
    }
    if (field.kind != json::JsonKind::string) continue;
    if (is_flow_ && (field.key == "in_table" || field.key == "out_table")) {
      field.text = texts_.emplace_back(all_.known_word(field.text));
    }
    if (is_transfer_ && (field.key == "source" || field.key == "dest") && field.text.starts_with('[')) {
      field.kind = json::JsonKind::array;  // a list in a text: [["WEIGHT"]]
    }
    if (!is_throttle_ || field.key != "type") continue;
    if (const auto number = throttle_number(field.text)) {
      field.text = texts_.emplace_back(std::to_string(*number));
      field.kind = json::JsonKind::number;
    }
  }
}

// Its members in its place.
void ExportWords::open_record(const FieldReading& record, std::vector<json::JsonField>& fields) {
  const auto found = std::find_if(fields.begin(), fields.end(), [&](const json::JsonField& field) {
    return field.key == record.known && field.kind == json::JsonKind::object;
  });
  if (found == fields.end()) return;
  const std::string_view text = found->text;
  fields.erase(found);
  (void)json::each_member(text, [&](const json::JsonField& member) {
    const auto column = std::find_if(table_.fields.begin(), table_.fields.end(), [&](const FieldReading& each) {
      return each.facts.record == record.facts.name && each.facts.name == member.key;
    });
    if (column == table_.fields.end() || member.kind == json::JsonKind::null) return true;
    fields.push_back({column->known, texts_.emplace_back(member.text), member.kind});
    return true;
  });
}

void ExportWords::convert(const FieldReading& column, json::JsonField& field) {
  if (column.is_single && field.kind == json::JsonKind::array) {  // a list of one is that one
    std::size_t count = 0;
    json::JsonField only;
    (void)json::each_element(field.text, [&](const json::JsonField& element) {
      if (count == 0) only = {field.key, texts_.emplace_back(element.text), element.kind};
      return ++count == 1;
    });
    if (count == 1) field = only;
  }
  if (column.by_place) {
    const auto place = json::to_int64(field);
    const std::vector<std::string>& values = column.facts.values;
    if (!place || *place < 0 || *place >= std::ssize(values)) return;
    field.text = values[static_cast<std::size_t>(*place)];
    field.kind = json::JsonKind::string;
  }
  if (column.factor != 1) scale(column, field);
  if (column.is_number && field.kind == json::JsonKind::string && json::to_double(field)) {
    field.kind = json::JsonKind::number;
  }
}

void ExportWords::scale(const FieldReading& column, json::JsonField& field) {
  constexpr double kMostWhole = 9e18;
  const std::optional<double> value = json::to_double(field);
  if (!value) return;
  const auto whole = json::to_int64(field);
  std::int64_t product = 0;
  const auto factor = static_cast<std::int64_t>(column.factor);
  const bool is_exact = whole && column.factor >= 1 && static_cast<double>(factor) == column.factor &&
                        !__builtin_mul_overflow(*whole, factor, &product);
  const double scaled = *value * column.factor;
  if (is_exact) {
    field.text = texts_.emplace_back(std::to_string(product));
  } else if (column.is_whole && std::fabs(scaled) < kMostWhole) {
    field.text = texts_.emplace_back(std::to_string(std::llround(scaled)));
  } else {
    field.text = texts_.emplace_back(fmt::format("{}", scaled));
  }
  field.kind = json::JsonKind::number;
}

[[nodiscard]] ValueKind kind_of(const json::JsonField& sample) {
  switch (sample.kind) {
    case json::JsonKind::boolean:
      return ValueKind::truth;
    case json::JsonKind::number:
      return sample.text == "0.5" ? ValueKind::real : ValueKind::integer;
    case json::JsonKind::string:
      return ValueKind::text;
    default:
      return ValueKind::nested;
  }
}

[[nodiscard]] TableFacts facts_of(const parquet::TableReader& reader, const std::string& table) {
  TableFacts facts;
  facts.name = table;
  for (const parquet::TableReader::ColumnSample& sample : reader.samples()) {
    FieldFacts& field = facts.fields.emplace_back();
    field.name = sample.field.key;
    field.record = sample.record;
    field.kind = kind_of(sample.field);
    if (sample.is_time) field.unit = "ns";
  }
  return facts;
}

[[nodiscard]] ValueKind kind_of_cell(std::string_view cell) noexcept {
  if (csv_integer(cell)) return ValueKind::integer;
  return csv_real(cell) ? ValueKind::real : ValueKind::text;
}

// By its first rows.
Result<TableFacts> facts_of_csv(const ExportFile& file) {
  constexpr std::size_t kTellingRows = 500;
  CsvTable table = TRY(CsvTable::open(file.path, {}));
  TableFacts facts;
  facts.name = file.table;
  for (const std::string& name : table.names()) facts.fields.emplace_back().name = name;
  for (std::size_t row = 0; row < kTellingRows && table.next(); ++row) {
    for (std::size_t i = 0; i < facts.fields.size(); ++i) {
      ValueKind& kind = facts.fields[i].kind;
      if (!table.cell(i).empty()) kind = std::max(kind, kind_of_cell(table.cell(i)));
    }
  }
  for (FieldFacts& field : facts.fields) {
    if (field.kind == ValueKind::unknown) field.kind = ValueKind::text;
  }
  return facts;
}

Result<std::unique_ptr<parquet::TableReader>> open_table(const std::string& path) {
  auto bytes = TRY(parquet::RandomBytes::open(path));
  auto reader = parquet::TableReader::open(std::move(bytes));
  if (!reader) return Error{fmt::format("{}: {}", path, reader.message())};
  return reader;
}

[[nodiscard]] bool is_csv(const ExportFile& file) {
  return lower_case(std::filesystem::path(file.path).extension().string()) != ".parquet";
}

void rename_columns(parquet::TableReader& reader, const TableReading& table) {
  for (const FieldReading& column : table.fields) {
    if (column.facts.record.empty()) reader.rename(column.facts.name, column.known);
  }
}

// Whether a share of the table is above what fractions of one can be: then all of them are percent, for a tool writes
// a table's alike. Shares of a whole run are sums over the physical cores of a logical one.
[[nodiscard]] bool has_percent(const ExportFile& file, const TableReading& table) {
  constexpr double kMostShare = 1.5;  // rounding, and samples that overlap
  constexpr int kMostCores = 4;
  const double most = table.known == "Summary" ? kMostShare * kMostCores : kMostShare;
  std::vector<const FieldReading*> columns;
  for (const FieldReading& column : table.fields) {
    if (column.may_be_percent) columns.push_back(&column);
  }
  if (columns.empty()) return false;
  auto reader = open_table(file.path);
  if (!reader) return false;
  while ((*reader)->next()) {
    for (const json::JsonField& field : (*reader)->fields()) {
      const bool is_share =
          std::ranges::any_of(columns, [&](const auto* each) { return field.key == each->facts.name; });
      const std::optional<double> value = is_share ? json::to_double(field) : std::nullopt;
      if (value && *value > most) return true;
    }
  }
  return false;
}

// A row as the table's would be, once they are translated.
[[nodiscard]] std::vector<json::JsonField> translated_sample(const TableReading& table) {
  std::vector<json::JsonField> fields;
  const auto is_opened = [&](std::string_view record) {
    return std::any_of(table.fields.begin(), table.fields.end(),
                       [&](const FieldReading& each) { return each.opened && each.facts.name == record; });
  };
  for (const FieldReading& column : table.fields) {
    if (column.opened || (!column.facts.record.empty() && !is_opened(column.facts.record))) continue;
    json::JsonField field{column.known, "text", json::JsonKind::string};
    const bool is_whole = column.is_number ? column.is_whole : column.facts.kind == ValueKind::integer;
    if (column.by_place) {
    } else if (is_whole && column.facts.kind != ValueKind::real) {
      field = {column.known, "0", json::JsonKind::number};
    } else if (column.is_number || column.facts.kind == ValueKind::real) {
      field = {column.known, "0.5", json::JsonKind::number};
    } else if (column.facts.kind == ValueKind::truth) {
      field = {column.known, "true", json::JsonKind::boolean};
    } else if (column.facts.kind == ValueKind::nested) {
      field = {column.known, "[]", json::JsonKind::array};
    }
    fields.push_back(field);
  }
  return fields;
}

// Whether begin, end and duration agree in the first rows, where one of them was guessed.
[[nodiscard]] bool times_are_true(const ExportFile& file, const TableReading& table) {
  constexpr std::uint64_t kTellingRows = 64;
  constexpr double kRounding = 1e-6;  // of the times, for other units; and 2 ns, for each is cut to whole ns by itself
  const auto is_time = [](std::string_view name) {
    return name == "start_ts" || name == "end_ts" || name == "duration_ns";
  };
  const bool any_guess = std::any_of(table.fields.begin(), table.fields.end(), [&](const FieldReading& column) {
    return !column.reason.empty() && is_time(column.known);
  });
  if (!any_guess) return true;
  auto reader = open_table(file.path);
  if (!reader) return true;
  rename_columns(**reader, table);
  const ExportReading none;
  ExportWords words(table, none);
  std::vector<json::JsonField> fields;
  while ((*reader)->rows_done() < kTellingRows && (*reader)->next()) {
    fields.assign((*reader)->fields().begin(), (*reader)->fields().end());
    words.translate(fields);
    std::map<std::string_view, std::int64_t> times;
    for (const json::JsonField& field : fields) {
      if (const auto time = json::to_rounded_int64(field); time && is_time(field.key)) times[field.key] = *time;
    }
    if (!times.contains("start_ts") || !times.contains("end_ts")) continue;
    const std::int64_t length = capped_difference(times["end_ts"], times["start_ts"]);
    const double margin = 2 + kRounding * std::fabs(static_cast<double>(times["end_ts"]));
    const bool differs = times.contains("duration_ns") &&
                         std::fabs(static_cast<double>(capped_difference(length, times["duration_ns"]))) > margin;
    if (static_cast<double>(length) < -margin || differs) return false;
  }
  return true;
}

}  // namespace

// A table that cannot be opened has no reading: it is reported once it is its turn.
void NeuronImporter::read_schema(const std::vector<ExportFile>& files) {
  StatedSchema stated;
  std::vector<TableFacts> tables;
  for (const ExportFile& file : files) {
    const bool is_schema = file.table == kSchemaTable;
    if (!is_schema && find_table(tables, file.table) != nullptr) continue;  // parts have the same columns
    if (is_csv(file)) {
      if (auto facts = facts_of_csv(file)) tables.push_back(std::move(facts).value());
      continue;
    }
    auto reader = open_table(file.path);
    if (!reader) continue;
    while (is_schema && (*reader)->next()) stated.add((*reader)->fields());
    if (find_table(tables, file.table) == nullptr) tables.push_back(facts_of(**reader, file.table));
  }
  reading_ = ExportReading(stated, tables);
  bool any_untrue = false;
  for (const ExportFile& file : files) {
    const TableReading* table = reading_.find(file.table);
    if (table == nullptr || is_csv(file) || times_are_true(file, *table)) continue;
    for (TableFacts& of_files : tables) {
      for (FieldFacts& field : of_files.fields) field.is_itself = field.is_itself || of_files.name == file.table;
    }
    report_.note("schema_guessed",
                 fmt::format("columns of \"{}\" that are like begin, end and duration contradict each "
                             "other, so none of its columns is read as another",
                             file.table));
    any_untrue = true;
  }
  if (any_untrue) reading_ = ExportReading(stated, std::move(tables));
  for (const ExportFile& file : files) {
    const TableReading* table = reading_.find(file.table);
    if (table != nullptr && !is_csv(file) && has_percent(file, *table)) reading_.read_as_percent(file.table);
  }
}

Result<void> NeuronImporter::run(std::vector<ExportFile> files, std::string_view format) {
  format_ = format;
  const bool is_whole = format == "neuron-parquet";
  report_.count_places_in(is_whole ? "row" : "line");
  read_schema(files);
  const auto known = [&](const ExportFile& file) {
    const TableReading* table = reading_.find(file.table);
    return table == nullptr ? std::string_view(file.table) : std::string_view(table->known);
  };
  // Dependencies name events by number, and come last.
  std::stable_partition(files.begin(), files.end(), [&](const ExportFile& file) { return known(file) != "Flow"; });
  std::stable_partition(files.begin(), files.end(), [&](const ExportFile& file) {
    return known(file) == kSchemaTable || known(file) == "Metadata";
  });
  bool has_summary = false;
  for (const ExportFile& file : files) {
    bytes_total_ += file.bytes;
    const TableReading* table = reading_.find(file.table);
    has_flow_table_ = has_flow_table_ || (known(file) == "Flow" && (table == nullptr || table->can_be_events()));
    has_summary = has_summary || known(file) == "Summary";
  }
  std::string first_problem;
  std::size_t read = 0;
  for (const ExportFile& file : files) {
    const std::string why = TRY(read_table(file));
    read += why.empty() ? 1 : 0;
    if (first_problem.empty()) first_problem = why;
    if (!why.empty()) {
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
  if (!is_whole) {
    report_.note("rows_left_out",
                 "the tables are those of what the viewer showed, and it leaves rows out unless it is "
                 "asked for all: sums may be too small. A Parquet export has all");
  } else if (!has_summary && row_counts_.contains("instruction")) {
    report_.note("summary_missing",
                 "the export has no Summary.parquet, so there are no figures of the vendor's to compare with; it may "
                 "not be finished");
  }
  source_archive_ = (std::filesystem::path(files.front().path).parent_path() / kSourceArchive).string();
  return finish();
}

Result<void> NeuronImporter::run(parquet::TableReader& reader, const std::string& table) {
  format_ = "neuron-parquet";
  report_.count_places_in("row");
  reading_ = ExportReading({}, {facts_of(reader, table)});
  const Result<void> done = read_parquet(reader, {path_, table, 0});
  return done ? finish() : done;
}

// Why it cannot be read; "": it was.
Result<std::string> NeuronImporter::read_table(const ExportFile& file) {
  if (reading_.find(file.table) != nullptr && is_csv(file)) return read_csv(file);
  auto reader =
      is_csv(file) ? Result<std::unique_ptr<parquet::TableReader>>(facts_of_csv(file).error()) : open_table(file.path);
  if (!reader) return reader.message();
  TRY(read_parquet(**reader, file));
  return std::string();
}

Result<std::string> NeuronImporter::read_csv(const ExportFile& file) {
  auto table = CsvTable::open(file.path, {});
  if (!table) return table.message();
  const TableReading& reading = *reading_.find(file.table);
  if (reading.fields.size() != table->names().size())
    return fmt::format("{}: the file changes while it is read", file.path);
  begin_table(reading, true);
  ExportWords words(reading, reading_);
  std::vector<json::JsonField> fields;
  json::RowPlace place;
  while (table->next()) {
    fields.clear();
    for (std::size_t i = 0; i < reading.fields.size(); ++i) {
      const FieldReading& column = reading.fields[i];
      const std::string_view cell = table->cell(i);
      if (cell.empty()) continue;
      const bool is_number = column.facts.kind != ValueKind::text && kind_of_cell(cell) != ValueKind::text;
      fields.push_back({column.known, cell, is_number ? json::JsonKind::number : json::JsonKind::string});
    }
    words.translate(fields);
    place.offset = table->line();
    on_row(fields, true, place);
    if (writer_.cancelled()) return Error{fmt::format("{}: the import was cancelled", path_)};
  }
  report_.note("rows_skipped",
               fmt::format("{}: lines that are no rows, the first is line {}", file.path, table->first_bad_line()),
               table->bad_rows());
  report_.add(table->blocks(), file.path);
  return std::string();
}

Result<void> NeuronImporter::read_parquet(parquet::TableReader& reader, const ExportFile& file) {
  constexpr std::uint64_t kLookUp = 4096;  // rows, between looks at whether anyone still wants them
  const TableReading* table = reading_.find(file.table);
  if (table == nullptr) return Error{fmt::format("{}: the file changes while it is read; open it again", file.path)};
  begin_table(*table, reader.rows() > 0);
  rename_columns(reader, *table);
  ExportWords words(*table, reading_);
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

void NeuronImporter::begin_table(const TableReading& table, bool has_rows) {
  begin_table(
      table.known, has_rows, [&](SchemaInference& inference) { inference.on_row(translated_sample(table), true, {}); },
      &table);
}

// Columns that the rules have no place for, and the profile describes.
void NeuronImporter::add_described_columns(Schema& schema, NeuronTable table) const {
  constexpr std::size_t kMostColumns = 200;
  Schema with_extra = schema;
  add_extra_column(with_extra);
  const RowBinding known(with_extra, consumed_by(table));
  for (const TableReading& reading : reading_.tables()) {
    const TableRule* rule = find_table_rule(reading.known);
    if (rule == nullptr || rule->table != table) continue;
    for (Column& column : described_columns(reading)) {
      if (!known.knows(column.name) && schema.columns.size() < kMostColumns)
        schema.columns.push_back(std::move(column));
    }
  }
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
               reader.repaired_values());
}

// What the profile's schema and 7.4.0 do not share, and what was guessed of it.
void NeuronImporter::report_schema() {
  const std::string version = facts_.schema_version();
  const std::string of_version = version.empty() ? "a schema without a version" : "schema " + version;
  for (const TableReading& table : reading_.tables()) {
    if (!table.reason.empty()) {
      report_.note("schema_guessed",
                   fmt::format("the table \"{}\" is read as {}: {}", table.name, table.known, table.reason));
    }
    for (const FieldReading& column : table.fields) report_column(table, column);
    for (const std::string& lacking : table.lacks) {
      report_.note("schema_column_missing",
                   fmt::format("the table \"{}\"{} of {} has no column for its {}, so its rows are no events; they are "
                               "shown as a table. Export with a release of the tool that writes schema {}",
                               table.name, table.reason.empty() ? "" : fmt::format(" ({})", table.known), of_version,
                               lacking, kKnownSchemaVersion));
    }
  }
  const bool same_major = version.empty() || version.substr(0, version.find('.')) ==
                                                 kKnownSchemaVersion.substr(0, kKnownSchemaVersion.find('.'));
  if (same_major) return;
  std::vector<std::string> new_tables;
  std::vector<std::string> gone_tables;
  std::vector<std::string> new_columns;
  std::vector<std::string> gone_columns;
  for (const TableReading& table : reading_.tables()) {
    if (!table.is_known()) {
      new_tables.push_back(table.name);
      continue;
    }
    for (const FieldReading& column : table.fields) {
      const bool is_known = find_table(known_schema(), table.known)->find(column.known) != nullptr || column.is_number;
      if (!is_known && !column.opened && column.facts.record.empty())
        new_columns.push_back(fmt::format("{}.{}", table.name, column.facts.name));
    }
    for (const std::string& column : table.gone) gone_columns.push_back(fmt::format("{}.{}", table.name, column));
  }
  for (const TableFacts& known : known_schema()) {
    if (reading_.find_known(known.name) == nullptr) gone_tables.push_back(known.name);
  }
  const auto note = [&](std::string_view what, const std::vector<std::string>& names) {
    if (names.empty()) return;
    report_.note("schema_differs",
                 fmt::format("the profile is of {}, and this version knows {}. {}: {}", of_version, kKnownSchemaVersion,
                             what, joined(names)),
                 names.size());
  };
  note("New tables", new_tables);
  note("Tables that it does not have, or has no rows of", gone_tables);
  note("New columns", new_columns);
  note("Columns that it does not have", gone_columns);
}

void NeuronImporter::report_column(const TableReading& table, const FieldReading& column) {
  const FieldFacts& facts = column.facts;
  if (!column.reason.empty()) {
    report_.note("schema_guessed", fmt::format("the column {} of \"{}\" is read as {}, {}", facts.name, table.name,
                                               column.known, column.reason));
  }
  if (column.by_place) {
    report_.note("schema_guessed",
                 fmt::format("numbers of the column {} of \"{}\" are read as places in the list of its "
                             "values, from 0: {}",
                             facts.name, table.name, joined(facts.values)));
  }
  if (column.is_percent_by_values) {
    report_.note("unit_moved",
                 fmt::format("the column {} of \"{}\" is read as percent, for its table has values that no share of "
                             "one has and the profile states no maximum; its values were multiplied by {:g}",
                             facts.name, table.name, column.factor));
  } else if (column.factor != 1) {
    report_.note("unit_moved",
                 fmt::format("the column {} of \"{}\" is in {}{}; its values were multiplied by {:g}", facts.name,
                             table.name, facts.unit.empty() ? "another unit" : facts.unit,
                             facts.maximum ? fmt::format(" up to {:g}", *facts.maximum) : "", column.factor));
  }
  const TableFacts* known = find_table(known_schema(), table.known);
  const FieldFacts* as = known == nullptr ? nullptr : known->find(column.known);
  if (as == nullptr) return;
  const bool is_id = as->kind == ValueKind::integer && as->unit.empty() && as->name.ends_with("id");
  if (is_id && facts.kind == ValueKind::real) {
    report_.note("ids_rounded",
                 fmt::format("the column {} of \"{}\" holds numbers of events as real numbers, which are "
                             "exact up to 9,007,199,254,740,992 only",
                             facts.name, table.name));
  }
  if (as->kind == ValueKind::text && facts.kind == ValueKind::integer && !column.by_place) {
    report_.note("schema_differs",
                 fmt::format("the column {} of \"{}\" holds numbers in place of texts, and the profile "
                             "does not say which stand for which; they are shown as numbers",
                             facts.name, table.name));
  }
}

}  // namespace accelscope::capture::sources::neuron
