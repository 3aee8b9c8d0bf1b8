#include "capture/sources/neuron/importer.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <filesystem>
#include <vector>

#include "capture/json/json_cursor.h"
#include "capture/json/window_pipeline.h"
#include "capture/sources/neuron/read/row_binding.h"
#include "capture/sources/neuron/read/table_rules.h"
#include "capture/sources/parquet/bit_runs.h"
#include "capture/sources/parquet/footer.h"
#include "core/base/text.h"
#include "core/export/neuron/neuron_json.h"
#include "core/model/column_spec.h"

namespace accelscope::capture::sources::neuron {
namespace {

struct UnitRule {
  std::string_view ending;
  std::string_view unit;
};
// The first that fits; names that the endings would read wrongly come before them.
constexpr std::array<UnitRule, 17> kProfileFactsUnits = {{{"peak_flops_bandwidth_ratio", "flop/B"},
                                                          {"mm_arithmetic_intensity", "flop/B"},
                                                          {"_time_ns", "ns"},
                                                          {"_ns", "ns"},
                                                          {"_percent", "share"},
                                                          {"_cycles", "cycles"},
                                                          {"_cycle_count", "cycles"},
                                                          {"_count", ""},
                                                          {"_bytes", "B"},
                                                          {"_size", "B"},
                                                          {"_flops", "flop"},
                                                          {"_time", "s"},
                                                          {"_bandwidth", "B/s"},
                                                          {"_mfu", "share"},
                                                          {"_hfu", "share"},
                                                          {"_idx", ""},
                                                          {"_ratio", ""}}};

// Shares above this cannot be: known figures of the vendor's tool reach 25,300 %.
constexpr double kLargestShare = 1.0001;

}  // namespace

std::string_view metric_unit(std::string_view name) noexcept {
  for (const UnitRule& rule : kProfileFactsUnits) {
    if (name.ends_with(rule.ending)) return rule.unit;
  }
  return "";
}

void ProfileFacts::add(std::string_view table, std::span<const json::JsonField> fields) {
  constexpr std::size_t kMaxFacts = 20'000;  // real files have some 500
  constexpr std::size_t kMaxCores = 64;
  if (table == "summary") ++summary_rows_;
  if (table == "terminology" || table == "summary_groups") keep_row(table, fields);
  const bool of_core = table == "model_info";
  if (of_core && model_rows_.size() < kMaxCores) model_rows_.emplace_back();
  for (const json::JsonField& field : fields) {
    if (field.kind == json::JsonKind::null || facts_.size() + summary_.size() + groups_.size() > kMaxFacts) continue;
    if (field.key == "device" && table != "summary") continue;  // of our own export: where the row belongs
    if (of_core) model_rows_.back().insert_or_assign(std::string(field.key), std::string(field.text));
    if (table == "summary_groups") {
      groups_[std::string(field.key)] = field.text;
    } else if (table == "summary") {
      summary_.push_back({std::string(field.key), "", summary_rows_, std::string(field.text), field.kind});
    } else if (is_summary_key(table)) {
      summary_.push_back({std::string(field.key), std::string(table), 0, std::string(field.text), field.kind});
    } else if (of_core) {
      facts_.try_emplace(fmt::format("{}.{}", table, field.key), field.text);  // the first core's
    } else if (table != "terminology") {                                       // the product explains in its own words
      facts_[fmt::format("{}.{}", table, field.key)] = field.text;
    }
  }
}

void ProfileFacts::keep_row(std::string_view table, std::span<const json::JsonField> fields) {
  constexpr std::size_t kMostBytes = 1U << 20;  // real ones have some 30 kB
  std::string row = "{";
  for (const json::JsonField& field : fields) {
    if (row.size() > 1) row += ',';
    json::append_json(row, field);
  }
  if (row.size() < kMostBytes) retained_rows_.try_emplace(std::string(table), row + "}");
}

const std::string* ProfileFacts::fact(const std::string& key) const {
  const auto found = facts_.find(key);
  return found == facts_.end() ? nullptr : &found->second;
}

std::optional<double> ProfileFacts::number(const std::string& key) const {
  const std::string* text = fact(key);
  if (text == nullptr) return std::nullopt;
  return json::to_double({.key = {}, .text = *text, .kind = json::JsonKind::number});
}

std::optional<std::int64_t> ProfileFacts::integer(const std::string& key) const {
  const std::string* text = fact(key);
  if (text == nullptr) return std::nullopt;
  return json::to_int64({.key = {}, .text = *text, .kind = json::JsonKind::number});
}

std::optional<std::int64_t> ProfileFacts::first_hw_timestamp() const { return integer("metadata.first_hw_timestamp"); }
std::optional<std::int64_t> ProfileFacts::last_hw_timestamp() const { return integer("metadata.last_hw_timestamp"); }

std::optional<std::int64_t> ProfileFacts::first_unix_ns() const {
  const std::string* text = fact("metadata.first_ts");
  return text == nullptr ? std::nullopt : unix_ns_of_date(*text);
}

std::string ProfileFacts::profile_name() const {
  for (const char* key : {"profile_info.profile_name", "metadata.profile_name"}) {
    if (const std::string* name = fact(key); name != nullptr) return std::filesystem::path(*name).filename().string();
  }
  return {};
}

std::string ProfileFacts::schema_version() const {
  const std::string* version = fact("metadata.profile_schema_version");
  return version == nullptr ? std::string{} : *version;
}

std::optional<double> ProfileFacts::summary_number(std::string_view name) const {
  if (summary_rows_ != 1) return std::nullopt;
  for (const SummaryField& field : summary_) {
    if (field.name != name || field.row != 1 || field.kind != json::JsonKind::number) continue;
    return json::to_double({.key = {}, .text = field.text, .kind = field.kind});
  }
  return std::nullopt;
}

double ProfileFacts::peak_macs_per_ns() const {
  const auto first_of = [&](std::initializer_list<const char*> keys) {
    for (const char* key : keys) {
      if (const std::optional<double> value = number(fmt::format("metadata.{}", key))) return *value;
    }
    return 0.0;
  };
  return first_of({"pe_num_rows", "tensor_engine_num_rows"}) * first_of({"pe_num_cols", "tensor_engine_num_cols"}) *
         first_of({"pe_clock_freq", "tensor_engine_clock_freq"});
}

std::optional<std::int64_t> ProfileFacts::physical_cores() const {
  const std::optional<double> stated = number("metadata.num_physical_cores");
  if (!stated || !(*stated >= 1) || *stated > 1e6) return std::nullopt;
  return static_cast<std::int64_t>(*stated);
}

std::int64_t ProfileFacts::core_number() const {
  const auto valid = [](std::optional<double> value) { return value && *value >= 0 && *value <= 1e6; };
  for (const char* key : {"model_info.nc_idx", "summary.nc_idx", "metadata.neuroncore_idx"}) {
    if (const std::optional<double> index = number(key); valid(index)) return static_cast<std::int64_t>(*index);
  }
  for (const SummaryField& field : summary_) {
    if (field.name != "nc_idx") continue;
    const auto index = json::to_int64({.key = {}, .text = field.text, .kind = json::JsonKind::number});
    if (index && *index >= 0 && *index <= 1'000'000) return *index;
  }
  return 0;
}

std::string ProfileFacts::group_of(const std::string& name) const {
  if (const auto found = groups_.find(name); found != groups_.end()) return found->second;
  // Queue families are listed with a wildcard: qsyncpio0*.
  for (const auto& [pattern, group] : groups_) {
    if (pattern.ends_with('*') && name.starts_with(pattern.substr(0, pattern.size() - 1))) return group;
  }
  return "summary";
}

// A row of figures is of all cores together unless there are several rows and it names one core.
std::string ProfileFacts::device_of(const SummaryField& field, const CorePlan& cores) const {
  if (!field.block.empty()) return field.block;  // one for each compiled graph, and one for the system
  for (const SummaryField& other : summary_) {   // as our own export writes it
    if (other.row == field.row && other.name == "device" && other.block.empty()) return other.text;
  }
  for (const SummaryField& other : summary_) {
    if (summary_rows_ < 2 || other.row != field.row || other.name != "nc_idx" || !other.block.empty()) continue;
    const auto index = json::to_int64({.key = {}, .text = other.text, .kind = json::JsonKind::number});
    const auto core = index ? cores.core_numbered(*index) : std::nullopt;
    if (core && cores.count() > 1) return cores.device(*core);
  }
  return cores.device(CorePlan::kWhole);
}

// The counts of each physical core, where the summary only has those of all.
void ProfileFacts::write_core_metrics(SessionWriter& writer, const CorePlan& cores,
                                      std::set<std::string>& written) const {
  if (cores.count() < 2) return;
  for (const std::map<std::string, std::string>& row : model_rows_) {
    const auto of_row = [&](const char* key) {
      const auto found = row.find(key);
      return found == row.end() ? std::nullopt
                                : json::to_int64({.key = {}, .text = found->second, .kind = json::JsonKind::number});
    };
    const auto number = of_row("nc_idx");
    const auto core = number ? cores.core_numbered(*number) : std::nullopt;
    if (!core) continue;
    for (const auto& [name, text] : row) {
      const auto value = json::to_double({.key = {}, .text = text, .kind = json::JsonKind::number});
      if (!value || name == "sg_name" || !written.insert(cores.device(*core) + " " + name).second) continue;
      writer.add_metric({.name = name,
                         .group = group_of(name),
                         .value = *value,
                         .unit = std::string(metric_unit(name)),
                         .text = {},
                         .device = cores.device(*core)});
    }
  }
}

void ProfileFacts::write_metrics(SessionWriter& writer, ImportReport& report, const CorePlan& cores) const {
  std::set<std::string> written;
  for (const SummaryField& field : summary_) {
    if (field.name == "device" && field.block.empty()) continue;
    Metric metric;
    metric.name = field.name;
    metric.group = group_of(field.name);
    metric.unit = metric_unit(field.name);
    metric.device = device_of(field, cores);
    written.insert(metric.device + " " + metric.name);
    const std::optional<double> value = field.kind == json::JsonKind::number
                                            ? json::to_double({.key = {}, .text = field.text, .kind = field.kind})
                                            : std::nullopt;
    if (value) {
      metric.value = *value;
    } else {
      metric.text = field.text;
      metric.unit.clear();
    }
    if (field.kind == json::JsonKind::not_finite) {
      report.note("vendor_value_implausible",
                  fmt::format("the file states {} for {}; compare with the figure computed from the events", field.text,
                              field.name));
    } else if (value && metric.unit == Unit::share && *value > kLargestShare) {
      report.note("vendor_value_implausible",
                  fmt::format("the file states {:.2f} % for {}; compare with the figure computed from the events",
                              *value * 100, field.name));
    }
    writer.add_metric(std::move(metric));
  }
  write_core_metrics(writer, cores, written);
  if (const std::string version = schema_version(); !version.empty()) {
    writer.add_metric({.name = "profile_schema_version", .group = "system", .text = version, .device = {}});
  }
}

void ProfileFacts::write(SessionWriter& writer, ImportReport& report, const std::string& path, std::string_view format,
                         const CorePlan& cores) const {
  for (const auto& [key, value] : facts_) writer.set_meta(key, value);
  for (const auto& [table, row] : retained_rows_)
    writer.set_meta(accelscope::exporting::neuron::kRetainedRowPrefix + table, row);
  for (const std::map<std::string, std::string>& row : model_rows_) {
    const auto graph = row.find("sg_name");
    const auto number = row.find("nc_idx");
    if (model_rows_.size() < 2 || graph == row.end() || number == row.end()) continue;
    writer.set_meta(fmt::format("model_info.nc{}.sg_name", number->second), graph->second);
  }
  const std::string file_name = std::filesystem::path(path).filename().string();
  const std::string name = profile_name();
  writer.set_meta("name", name.empty() ? file_name : fmt::format("{} ({})", name, file_name));
  writer.set_meta("source.format", std::string(format));
  writer.set_meta("source.file", file_name);
  write_capacities(writer);
  write_metrics(writer, report, cores);
}

// The second generation of NeuronCores, whose HBM the file states with 410 GB/s for each stack, has a state buffer of
// 24 MiB and 2 MiB of partial sums. Later ones are not told apart by the file.
void ProfileFacts::write_capacities(SessionWriter& writer) const {
  const std::string* bandwidth = fact("metadata.hbm_ddr_bandwidth");
  if (bandwidth == nullptr || *bandwidth != "410000000000") return;
  writer.set_meta("capacity.SBUF", std::to_string(24 << 20));
  writer.set_meta("capacity.PSUM", std::to_string(2 << 20));
}

namespace {

namespace fs = std::filesystem;

constexpr std::string_view kEnding = ".parquet";
constexpr std::string_view kSummaryTable = "Summary";
constexpr std::uint64_t kLeastSummaryBytes = 1000;  // the footer of its hundred columns alone is longer
constexpr std::size_t kMostFilesInExport = 10'000;

// Without the number of a part.
[[nodiscard]] std::string_view table_in_name(std::string_view stem) noexcept {
  const std::size_t last = stem.find_last_not_of("0123456789");
  const bool numbered = last != std::string_view::npos && last > 0 && last + 1 < stem.size() && stem[last] == '_';
  return numbered ? stem.substr(0, last) : stem;
}

[[nodiscard]] bool is_parquet(const fs::path& path) { return lower_case(path.extension().string()) == kEnding; }

[[nodiscard]] Error unfinished(const std::string& path, const std::string& why) {
  return Error{fmt::format(
      "{}: the export is not finished: {}. neuron-explorer fills this file last; let it end, or export again with: {} "
      "(without --disable-ui it does not end)",
      path, why, kExportCommand)};
}

[[nodiscard]] Result<void> check_summary(const ExportFile& summary) {
  if (summary.bytes < kLeastSummaryBytes)
    return unfinished(summary.path, fmt::format("it has {} bytes", summary.bytes));
  std::unique_ptr<parquet::RandomBytes> bytes = TRY(parquet::RandomBytes::open(summary.path));
  const Result<parquet::Footer> footer = parquet::Footer::read(*bytes);
  if (!footer) return unfinished(summary.path, footer.message());
  return {};
}

}  // namespace

std::string export_table_of(std::string_view path) {
  const fs::path file(path);
  if (!is_parquet(file)) return {};
  const std::string stem = file.stem().string();
  const std::string_view table = table_in_name(stem);
  return find_table(known_schema(), table) != nullptr ? std::string(table) : std::string{};
}

bool is_export_folder(const std::string& path) {
  std::error_code failure;
  fs::directory_iterator entry(path, failure);
  std::size_t looked_at = 0;
  for (; !failure && entry != fs::directory_iterator() && looked_at < kMostFilesInExport; entry.increment(failure)) {
    ++looked_at;
    if (!export_table_of(entry->path().string()).empty()) return true;
  }
  return false;
}

Result<std::vector<ExportFile>> find_export_files(const std::string& folder) {
  std::vector<ExportFile> files;
  std::error_code failure;
  fs::directory_iterator entry(folder, failure);
  for (; !failure && entry != fs::directory_iterator() && files.size() < kMostFilesInExport; entry.increment(failure)) {
    std::error_code unknown;
    if (!is_parquet(entry->path()) || !entry->is_regular_file(unknown)) continue;
    const std::string stem = entry->path().stem().string();
    const std::uintmax_t bytes = entry->file_size(unknown);
    files.push_back(
        {entry->path().string(), std::string(table_in_name(stem)), unknown ? 0 : static_cast<std::uint64_t>(bytes)});
  }
  if (failure) return Error{fmt::format("{}: the folder cannot be read: {}", folder, failure.message())};
  std::sort(files.begin(), files.end(),
            [](const ExportFile& a, const ExportFile& b) { return natural_less(a.path, b.path); });
  for (const ExportFile& file : files) {
    if (file.table != kSummaryTable) continue;
    TRY(check_summary(file));
  }
  return files;
}

namespace {

constexpr std::array<std::string_view, 3> kStartKeys = {"timestamp", "start_ts", "start"};
constexpr std::array<std::string_view, 4> kLengthKeys = {"duration", "duration_ns", "end", "end_ts"};
constexpr std::array<std::string_view, 14> kNameKeys = {
    "name",           "node_name", "opcode",     "operation", "description",   "hlo_name",   "penguin_name",
    "framework_name", "neff_name", "field_name", "type",      "throttle_type", "table_name", "id"};

[[nodiscard]] bool inferred_is_one_of(std::span<const std::string_view> names, std::string_view name) noexcept {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// Usable as a table name in SQL without quotes, and apart from the product's own tables.
[[nodiscard]] std::string table_name(std::string_view table) {
  constexpr std::array<std::string_view, 13> kTaken = {"track",  "slice",       "counter",     "flow",        "memory",
                                                       "marker", "source_file", "meta",        "source_line", "quality",
                                                       "metric", "table",       "dma_transfer"};
  std::string name;
  for (const char c : table.substr(0, 80)) {
    name += std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '_';
  }
  if (name.empty()) name = "rows";
  if (std::isdigit(static_cast<unsigned char>(name.front())) != 0) name.insert(0, "t_");
  if (inferred_is_one_of(kTaken, name)) name += "_rows";
  return name;
}

}  // namespace

void SchemaInference::on_row(std::span<const json::JsonField> fields, bool is_object, const json::RowPlace& place) {
  (void)place;
  for (const json::JsonField& field : fields) {
    const std::string_view key = is_object ? field.key : kValueKey;
    if (key != kExtraColumn) found_.add(key, field);
  }
}

void SchemaInference::on_bad_row(std::string_view text, const json::RowPlace& place) {
  (void)text;
  (void)place;
}

void SchemaInference::on_repaired_row(const json::RowPlace& place) { (void)place; }

Schema SchemaInference::schema(std::string_view table) const {
  const auto has = [&](std::string_view key) { return found_.has(key); };
  const auto holds_numbers = [&](std::string_view key) {
    if (!has(key)) return false;
    const ColumnType type = found_.type(key);
    return type != ColumnType::text && type != ColumnType::boolean;
  };
  const bool timed = std::any_of(kStartKeys.begin(), kStartKeys.end(), holds_numbers);
  const bool has_length = std::any_of(kLengthKeys.begin(), kLengthKeys.end(), holds_numbers);
  Schema schema;
  schema.name = table_name(table);
  schema.kind = !timed ? EventKind::table : has_length ? EventKind::slice : EventKind::instant;
  const auto name_key = std::find_if(kNameKeys.begin(), kNameKeys.end(), has);
  schema.name_column = name_key == kNameKeys.end() ? "row" : std::string(*name_key);
  for (const std::string& key : found_.keys()) {
    const bool built_in = key == schema.name_column ||
                          (timed && (inferred_is_one_of(kStartKeys, key) || inferred_is_one_of(kLengthKeys, key)));
    if (built_in) continue;
    schema.columns.push_back(
        make_column({key, found_.type(key), "", "Details", "", "A field that this version knows by its name only."}));
  }
  add_extra_column(schema);
  return schema;
}

namespace {

constexpr std::size_t kSortMemoryBytes = 192U << 20;  // packed runs beyond this go to a temporary file
constexpr std::size_t kMaxInferredTables = 100;
constexpr std::size_t kMaxTableNames = 10'000;
// Times of ns since 1970 are 1.8e18; beyond this a number is no time, and sums of two could overflow.
constexpr std::int64_t kMaxTicks = std::int64_t{1} << 61;

struct ConsumedKeys {
  NeuronTable table;
  std::array<std::string_view, 4> keys;
};
constexpr ConsumedKeys kConsumed[] = {
    {NeuronTable::instruction, {"predecessors"}}, {NeuronTable::dma, {"aggregated"}},
    {NeuronTable::dma_transfer, {"aggregated"}},  {NeuronTable::sbuf_usage, {"type"}},
    {NeuronTable::psum_usage, {"type"}},          {NeuronTable::memory, {"start_address", "end_address", "partition"}},
};

[[nodiscard]] bool is_truncation(const json::JsonProblem& problem) noexcept {
  return problem.kind == json::JsonProblem::Kind::truncated;
}

[[nodiscard]] std::string_view value_of(std::span<const json::JsonField> fields, std::string_view key) noexcept {
  for (const json::JsonField& field : fields) {
    if (field.key == key) return field.text;
  }
  return {};
}

}  // namespace

std::span<const std::string_view> consumed_by(NeuronTable table) noexcept {
  for (const ConsumedKeys& consumed : kConsumed) {
    if (consumed.table != table) continue;
    const auto last = std::find(consumed.keys.begin(), consumed.keys.end(), std::string_view{});
    return {consumed.keys.begin(), last};
  }
  return {};
}

NeuronImporter::NeuronImporter(const std::string& path, const ImportOptions& options, EventSink& sink)
    : path_(options.shown.empty() ? path : options.shown),
      options_(options),
      sink_(sink),
      writer_(sink),
      spill_(kSortMemoryBytes) {}

Result<void> NeuronImporter::run(std::unique_ptr<json::ByteSource> source,
                                 const json::JsonTableReader::Options& reader_options) {
  json::WindowPipeline<> windows(json::JsonTableReader(std::move(source), reader_options));
  json::JsonRowParser parser;
  bool any = false;
  while (const auto* slot = windows.next()) {
    const json::JsonWindow& window = slot->window;
    if (writer_.cancelled()) return Error{fmt::format("{}: the import was cancelled", path_)};
    if (window.first_of_table || window.table != current_.json_name || current_rows_ == nullptr) {
      begin_table(window.table, !window.rows.empty(),
                  [&](SchemaInference& inference) { parser.parse(window, inference); });
    }
    any = true;
    parser.parse(window, *this);
    if (options_.progress) options_.progress(windows.bytes_done(), windows.bytes_total());
  }
  const json::JsonTableReader& reader = windows.reader();
  if (!reader.is_json()) {
    const auto& problems = reader.problems();
    const auto unreadable = std::find_if(problems.begin(), problems.end(), [](const json::JsonProblem& problem) {
      return problem.kind == json::JsonProblem::Kind::unreadable;
    });
    if (unreadable != problems.end()) return Error{unreadable->what};
    return Error{fmt::format("{}: {}; a profile is made with: neuron-profile view --output-format json", path_,
                             reader.bytes_read() == 0 ? "the file is empty" : "this is not JSON")};
  }
  for (const json::JsonProblem& problem : reader.problems()) report_.add(problem);
  if (!any && std::any_of(reader.problems().begin(), reader.problems().end(), is_truncation)) {
    return Error{fmt::format("{}: the file ends at byte {} before the first row; copy it completely or export it again",
                             path_, reader.bytes_read())};
  }
  if (!any) {
    return Error{fmt::format(
        "{}: holds no tables at all; a profile is made with: neuron-profile view --output-format json", path_)};
  }
  return finish();
}

void NeuronImporter::begin_table(const std::string& name, bool has_rows, const ShowRows& show_rows,
                                 const TableReading* reading) {
  for (const auto& table : tables_) {
    // The batches of the table before are packed, so that few are in memory at a time; failures come up again later.
    if (table != nullptr) (void)table->sorter().flush();
  }
  current_ = {};
  current_.json_name = name;
  current_.reading = reading;
  current_.rule = reading == nullptr || reading->can_be_events() ? find_table_rule(name) : nullptr;
  current_.plain = find_plain_table(name);
  current_.facts = current_.rule == nullptr && (is_fact_table(name) || is_summary_key(name));
  current_.joined = is_joined_table(name);
  current_.is_hbm_usage = name == HbmSamples::kTable;
  // Tables of Parquet have other names than their schemas, and are a table each.
  const bool by_schema = reading != nullptr && current_.rule != nullptr;
  const std::string counted(by_schema ? tables::kTables[static_cast<std::size_t>(current_.rule->table)].schema.name
                                      : std::string_view(name));
  if (row_counts_.size() < kMaxTableNames || row_counts_.contains(counted)) {
    current_rows_ = &row_counts_[counted];
    names_counted_[counted] = name;
  } else {
    current_rows_ = &row_counts_["(further tables)"];
  }
  if (current_.rule == nullptr && !current_.facts && !current_.is_hbm_usage && has_rows)
    current_.inferred = inferred_table(name, show_rows);
}

ImportTable& NeuronImporter::table(NeuronTable table) {
  auto& slot = tables_[static_cast<std::size_t>(table)];
  if (slot == nullptr) {
    Schema schema = neuron_schema(table);
    add_described_columns(schema, table);
    add_extra_column(schema);
    slot = std::make_unique<ImportTable>(std::move(schema), consumed_by(table), spill_, writer_);
  }
  return *slot;
}

ImportTable* NeuronImporter::inferred_table(const std::string& name, const ShowRows& show_rows) {
  const auto found = inferred_.find(name);
  if (found != inferred_.end()) return found->second.get();
  if (inferred_.size() >= kMaxInferredTables) return nullptr;
  SchemaInference inference;
  show_rows(inference);
  Schema schema = inference.schema(name);
  if (current_.reading != nullptr) {
    for (const Column& described : described_columns(*current_.reading)) {
      const auto column = schema.find(described.name);
      if (column && !described.explanation.empty()) schema.columns[*column].explanation = described.explanation;
      if (column) schema.columns[*column].unit = described.unit;
    }
  }
  // Another table may have come to the same name in SQL.
  const auto taken = [&](const std::string& wanted) {
    const auto same = [&](const auto& table) { return table != nullptr && table->schema().name == wanted; };
    return std::any_of(tables_.begin(), tables_.end(), same) ||
           std::any_of(inferred_.begin(), inferred_.end(), [&](const auto& entry) { return same(entry.second); });
  };
  const std::string base = schema.name;
  for (int suffix = 2; taken(schema.name); ++suffix) schema.name = fmt::format("{}_{}", base, suffix);
  auto made = std::make_unique<ImportTable>(std::move(schema), std::span<const std::string_view>{}, spill_, writer_);
  return inferred_.emplace(name, std::move(made)).first->second.get();
}

void NeuronImporter::on_row(std::span<const json::JsonField> fields, bool is_object, const json::RowPlace& place) {
  ++*current_rows_;
  if (current_.inferred != nullptr && !is_object) {
    json::JsonField field = fields.front();
    field.key = kValueKey;
    import_row(*current_.inferred, std::span(&field, 1), place);
    return;
  }
  if (!is_object) {
    report_.skipped_row(current_.json_name, "a row is not an object", place.offset);
    return;
  }
  if (current_.joined) add_joined(fields);
  if (current_.inferred != nullptr) system_.look_at(current_.json_name, fields);
  if (current_.is_hbm_usage) {
    if (!system_.hbm.add(fields))
      report_.skipped_row(current_.json_name, "no time stamp, or one out of any range", place.offset);
  } else if (current_.facts) {
    facts_.add(fact_table_name(current_.json_name), fields);
  } else if (current_.rule != nullptr) {
    const NeuronTable kind = table_of_row(fields);
    if (kind == NeuronTable::neff_header || kind == NeuronTable::model_info) {
      facts_.add(fact_table_name(current_.json_name), fields);
    }
    const bool is_call = kind == NeuronTable::trace_event;
    import_row(table(kind), is_call ? system_.attributes.spread(fields) : fields, place);
  } else if (current_.inferred != nullptr) {
    import_row(*current_.inferred, fields, place);
  } else {
    report_.skipped_row("(further tables)", fmt::format("more than {} tables that are not known", kMaxInferredTables),
                        place.offset);
  }
}

void NeuronImporter::add_joined(std::span<const json::JsonField> fields) {
  if (StackFrames::is_frame_table(current_.json_name)) frames_.add(current_.json_name, fields);
  if (KernelCalls::is_kernel_table(current_.json_name)) kernel_calls_.add(current_.json_name, fields, writer_);
  if (CompilerLevels::is_level_table(current_.json_name)) levels_.add(current_.json_name, fields, writer_);
}

void NeuronImporter::on_bad_row(std::string_view text, const json::RowPlace& place) {
  ++*current_rows_;
  report_.skipped_row(current_.json_name,
                      fmt::format("not JSON, beginning with {}", json::repair_utf8(text.substr(0, 40))), place.offset);
}

void NeuronImporter::on_repaired_row(const json::RowPlace& place) {
  (void)place;
  report_.note(
      "rows_mended",
      fmt::format("rows of \"{}\" hold bytes that are not UTF-8, stray commas or control characters and were read "
                  "after mending; texts in them may differ",
                  current_.json_name.substr(0, 80)));
}

// Packets and transfers share one JSON table, and so do the two on-chip memories.
NeuronTable NeuronImporter::table_of_row(std::span<const json::JsonField> fields) const noexcept {
  const NeuronTable named = current_.rule->table;
  if (named == NeuronTable::dma) {
    const std::string_view aggregated = value_of(fields, "aggregated");
    if (aggregated == "yes" || aggregated == "true") return NeuronTable::dma_transfer;
  } else if (named == NeuronTable::sbuf_usage && value_of(fields, "type") == "psum") {
    return NeuronTable::psum_usage;
  } else if (named == NeuronTable::trace_event && system_source(fields) == SystemSource::framework) {
    return NeuronTable::framework_event;
  }
  return named;
}

void NeuronImporter::import_row(ImportTable& into, std::span<const json::JsonField> fields,
                                const json::RowPlace& place) {
  BoundRow row;
  into.binding().bind(fields, into.sorter(), writer_, row);
  const bool known = current_.rule != nullptr;
  const NeuronTable kind = known ? table_of_row(fields) : NeuronTable::error;
  if (kind == NeuronTable::flow && !settle_flow(row, place)) return;
  if (!settle_times(into, row, place)) return;
  place_ = known ? place_of(kind, row) : CorePlan::kWhole;
  if (known && !look_at(kind, into, row, place)) return;
  const std::uint32_t track = known ? track_of(into, kind, row) : track_of_plain(into);
  const StringId name = known ? name_of(kind, row) : writer_.intern(row.name);
  into.sorter().commit(track, row.start.value_or(0), row.duration.value_or(0), name);
  if (into.schema().kind != EventKind::slice && into.schema().kind != EventKind::instant) return;
  if (track >= sketches_.size()) sketches_.resize(track + 1);
  sketches_[track].add(row.start.value_or(0), row.duration.value_or(0));
}

bool NeuronImporter::settle_times(const ImportTable& into, BoundRow& row, const json::RowPlace& place) {
  if (!into.timed()) return true;
  if (!row.start) {
    report_.skipped_row(current_.json_name, "no time stamp", place.offset);
    return false;
  }
  if (*row.start > kMaxTicks || *row.start < -kMaxTicks) {
    report_.skipped_row(current_.json_name, "the time stamp is out of any range", place.offset);
    return false;
  }
  if (!row.duration && row.end && *row.end <= kMaxTicks && *row.end >= -kMaxTicks) row.duration = *row.end - *row.start;
  const bool has_extent = into.schema().kind == EventKind::slice || into.schema().kind == EventKind::memory;
  if (!row.duration || !has_extent) row.duration = 0;
  if (*row.duration < 0) {
    ++counts_.negative_durations;
    row.duration = 0;
  }
  if (*row.duration > kMaxTicks) {
    report_.skipped_row(current_.json_name, "the duration is out of any range", place.offset);
    return false;
  }
  first_ticks_ = std::min(first_ticks_, *row.start);
  last_ticks_ = std::max(last_ticks_, *row.start + *row.duration);
  extremes_.add(*row.start, *row.start + *row.duration);
  return true;
}

std::int64_t NeuronImporter::place_of(NeuronTable kind, const BoundRow& row) {
  CorePlan::Named named{row.integer("pcore_idx"), row.text("subgraph"), std::nullopt, row.text("device")};
  switch (kind) {
    case NeuronTable::model_info:
      named.graph = row.name;
      named.number = row.integer("nc_idx");
      break;
    case NeuronTable::neff_node:
      named.graph = row.text("sg_name");
      break;
    case NeuronTable::nc_mem_usage:
      named.number = row.integer("nc");
      break;
    case NeuronTable::trace_event:
    case NeuronTable::framework_event:
      return CorePlan::kWhole;
    case NeuronTable::host_memory:
    case NeuronTable::cpu_util:
      return named.device.empty() ? CorePlan::kWhole : cores_.place(named);  // of a host
    default:
      break;
  }
  if (named.graph.empty() && !named.core) {  // "/sg01/..."
    std::string_view path = row.text("fully_qualified_subgraph");
    if (path.starts_with('/')) path.remove_prefix(1);
    named.graph = path.substr(0, path.find('/'));
  }
  return cores_.place(named);
}

std::uint32_t NeuronImporter::track_of(ImportTable& into, NeuronTable kind, const BoundRow& row) {
  const TableRule& rule = *current_.rule;
  std::string_view name;
  if (rule.key.is_any()) name = row.text(rule.key);
  if (kind == NeuronTable::instruction && name.empty()) name = row.text("subgroup");
  if (kind == NeuronTable::trace_event || kind == NeuronTable::framework_event) return track_of_call(into, kind, row);
  if (kind == NeuronTable::psum_usage) return into.track(plan_, rule.track_kind, "PSUM usage", "", place_);
  if (name.empty() && rule.track_name.empty()) name = "unnamed";
  if (kind == NeuronTable::dma && name.rfind("-Q") == std::string_view::npos && row.get("dma_queue") != nullptr &&
      row.get("dma_engine") != nullptr && name.find("-E") == std::string_view::npos) {
    // As files that name the queue alone would have it: "queue-Q1-E0".
    scratch_ = fmt::format("{}-Q{}-E{}", name, row.text("dma_queue"), row.text("dma_engine"));
    name = scratch_;
  }
  const std::size_t tracks_before = plan_.size();
  const std::uint32_t track = into.track(plan_, rule.track_kind, rule.track_name, name, place_);
  if (kind == NeuronTable::dma && plan_.size() > tracks_before) {
    // Packets of "queue-Q1-E0" lie below the transfers of "queue".
    const std::size_t ring = name.rfind("-Q");
    if (ring != std::string_view::npos && ring > 0) {
      plan_.set_parent_name(track, table(NeuronTable::dma_transfer).number(), std::string(name.substr(0, ring)));
    }
  }
  return track;
}

std::uint32_t NeuronImporter::track_of_plain(ImportTable& into) {
  const std::string_view name = current_.json_name.empty() ? std::string_view("rows") : current_.json_name;
  if (current_.plain == nullptr) return into.track(plan_, "table", "", name, CorePlan::kWhole);
  return into.track(plan_, current_.plain->track_kind, "",
                    current_.plain->track_name.empty() ? name : current_.plain->track_name, CorePlan::kWhole);
}

StringId NeuronImporter::name_of(NeuronTable kind, const BoundRow& row) {
  if (kind == NeuronTable::throttle) {
    const auto type = row.integer("type");
    return writer_.intern(type ? neuron_throttle_kind(*type) : row.text("type"));
  }
  return writer_.intern(row.name);
}

}  // namespace accelscope::capture::sources::neuron
