// Imports one Neuron profile, a JSON file or a folder of Parquet tables: reads row by row, sends each row to its table,
// and at the end - when all tables are known, for they come in any order - derives what the profile lacks and writes
// everything sorted. Rows of Parquet come as those of JSON do, so both are one import. Used by import_neuron_json and
// import_neuron_parquet; one object per profile.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "capture/json/json_cursor.h"
#include "capture/json/row_parser.h"
#include "capture/sources/base/import_report.h"
#include "capture/sources/base/inferred_columns.h"
#include "capture/sources/base/source.h"
#include "capture/sources/neuron/read/core_plan.h"
#include "capture/sources/neuron/read/joined_tables.h"
#include "capture/sources/neuron/read/recognition.h"
#include "capture/sources/neuron/read/table_rules.h"
#include "capture/sources/neuron/system_profile.h"
#include "capture/sources/neuron/write/import_table.h"
#include "capture/sources/parquet/table_reader.h"
#include "capture/sources/tracks/doubtful_times.h"
#include "core/base/result.h"
#include "core/chunk/session_writer.h"
#include "core/model/schema.h"

namespace accelscope::capture::sources::neuron {

// The tables of a profile that hold facts rather than events: metadata, profile_info, summary and its groups. They
// become meta entries ("metadata.pe_clock_freq") and metrics with units of our own; what the import itself needs of
// them is kept as fields. The vendor's terminology and its groups of figures are kept as JSON for whoever writes the
// file again (core/export/neuron). Tables may come in any order, so everything is written at the end.

class ProfileFacts {
 public:
  // A row of a fact table, or the only row of neff_header and model_info beside its event.
  void add(std::string_view table, std::span<const json::JsonField> fields);
  // Figures of a logical core made of several physical ones are of the device that stands for all. `format`: what the
  // profile came as, "neuron-json".
  void write(SessionWriter& writer, ImportReport& report, const std::string& path, std::string_view format,
             const CorePlan& cores) const;

  [[nodiscard]] std::optional<std::int64_t> first_hw_timestamp() const;
  [[nodiscard]] std::optional<std::int64_t> last_hw_timestamp() const;
  // When the first event was, in ns since 1970; nothing where the file states no real date.
  [[nodiscard]] std::optional<std::int64_t> first_unix_ns() const;
  [[nodiscard]] std::string profile_name() const;    // "" if the file states none
  [[nodiscard]] std::string schema_version() const;  // "7.4.0"; "" if the file does not say
  // A figure of the only row of the summary.
  [[nodiscard]] std::optional<double> summary_number(std::string_view name) const;
  // Multiply-accumulates that the systolic array of one physical core can do in a ns; 0 if the file does not say.
  [[nodiscard]] double peak_macs_per_ns() const;
  [[nodiscard]] std::optional<std::int64_t> physical_cores() const;  // of the logical core
  [[nodiscard]] std::int64_t core_number() const;                    // of the (first) core on its chip; 0 if unknown

 private:
  struct SummaryField {
    std::string name;
    std::string block;    // of summary-json: "n_0123..."; empty for the table
    std::size_t row = 0;  // of the table
    std::string text;
    json::JsonKind kind;
  };
  void keep_row(std::string_view table, std::span<const json::JsonField> fields);
  [[nodiscard]] const std::string* fact(const std::string& key) const;
  [[nodiscard]] std::optional<double> number(const std::string& key) const;
  [[nodiscard]] std::optional<std::int64_t> integer(const std::string& key) const;
  void write_capacities(SessionWriter& writer) const;
  void write_metrics(SessionWriter& writer, ImportReport& report, const CorePlan& cores) const;
  void write_core_metrics(SessionWriter& writer, const CorePlan& cores, std::set<std::string>& written) const;
  [[nodiscard]] std::string device_of(const SummaryField& field, const CorePlan& cores) const;
  [[nodiscard]] std::string group_of(const std::string& name) const;

  std::map<std::string, std::string> facts_;  // "table.key"
  std::map<std::string, std::string> groups_;
  std::map<std::string, std::string> retained_rows_;  // by table, as JSON
  std::vector<SummaryField> summary_;
  std::size_t summary_rows_ = 0;
  // model_info has a row for each physical core.
  std::vector<std::map<std::string, std::string>> model_rows_;
};

// "B", "s", "share" ... by the metric's name; "" for plain numbers.
[[nodiscard]] std::string_view metric_unit(std::string_view name) noexcept;

// What neuron-explorer writes as Parquet: a folder with a file for each table, Instruction.parquet, Summary.parquet
// ..., large tables in parts, DmaPacket_0.parquet, DmaPacket_1.parquet ... Finds them by name, and says whether the
// export is whole.

struct ExportFile {
  std::string path;
  std::string table;  // "DmaPacket"
  std::uint64_t bytes = 0;
};

// "DmaPacket" of ".../DmaPacket_0.parquet" if it is a table of the schema (version 7.4.0), else "".
[[nodiscard]] std::string export_table_of(std::string_view path);

// Whether the folder holds a table of the schema directly.
[[nodiscard]] bool is_export_folder(const std::string& path);

// Its files, part after part of each table. Other Parquet files are among them. Fails if the export is not whole: its
// summary is filled last.
[[nodiscard]] Result<std::vector<ExportFile>> find_export_files(const std::string& folder);

// Lies beside the tables where source was added to the profile.
inline constexpr std::string_view kSourceArchive = "source_folder.tar.gz";

// How the tables of an export are made: the command, for messages.
inline constexpr std::string_view kExportCommand =
    "neuron-explorer view -n PROGRAM.neff -s TRACE.ntff --output-format parquet --output-file FOLDER --disable-ui "
    "--ignore-event-trace";

// A schema for a table that nobody told us about: the names, types and kind are read off its first rows. Later
// values that do not fit go into the schema's "extra" column like everywhere else.

class SchemaInference final : public json::JsonRowHandler {
 public:
  void on_row(std::span<const json::JsonField> fields, bool is_object, const json::RowPlace& place) override;
  void on_bad_row(std::string_view text, const json::RowPlace& place) override;
  void on_repaired_row(const json::RowPlace& place) override;

  // With the extra column.
  [[nodiscard]] Schema schema(std::string_view table) const;

 private:
  // A chunk holds 512 columns; what is over goes into "extra".
  InferredColumns found_{{.most_columns = 200}};
};

// The key of the only field of a row that is not an object.
inline constexpr std::string_view kValueKey = "value";

// Keys of a table that rules look at beside its columns.
[[nodiscard]] std::span<const std::string_view> consumed_by(NeuronTable table) noexcept;

class NeuronImporter final : public json::JsonRowHandler {
 public:
  NeuronImporter(const std::string& path, const ImportOptions& options, EventSink& sink);

  Result<void> run(std::unique_ptr<json::ByteSource> source, const json::JsonTableReader::Options& reader_options);
  // Fails if not one of the tables can be read.
  Result<void> run(std::vector<ExportFile> files, std::string_view format = "neuron-parquet");
  // The text of summary-text.
  Result<void> run_summary(std::unique_ptr<json::ByteSource> source);
  // A single table, from anywhere.
  Result<void> run(parquet::TableReader& reader, const std::string& table);

  void on_row(std::span<const json::JsonField> fields, bool is_object, const json::RowPlace& place) override;
  void on_bad_row(std::string_view text, const json::RowPlace& place) override;
  void on_repaired_row(const json::RowPlace& place) override;

 private:
  // Where the rows of the JSON table at hand go.
  struct Current {
    std::string json_name;
    const TableRule* rule = nullptr;
    const PlainTableRule* plain = nullptr;
    const TableReading* reading = nullptr;  // of Parquet
    ImportTable* inferred = nullptr;
    bool facts = false;
    bool joined = false;  // its rows say more of those of others
    bool is_hbm_usage = false;
  };
  struct Counts {
    std::uint64_t instructions = 0;
    std::uint64_t without_location = 0;
    std::uint64_t packets = 0;
    std::uint64_t undescribed_packets = 0;  // neither tensor nor ends are known
    std::uint64_t duplicate_moves = 0;
    std::uint64_t negative_durations = 0;
    std::uint64_t transfer_bytes = 0;  // of transfers that carry data
  };
  struct LastPending {
    std::int64_t time = INT64_MIN;
    std::int64_t value = 0;
  };

  // Reading.
  // Shows rows of a table, or such as it may have, to whoever makes columns of them.
  using ShowRows = std::function<void(SchemaInference&)>;
  void begin_table(const std::string& name, bool has_rows, const ShowRows& show_rows,
                   const TableReading* reading = nullptr);
  void begin_table(const TableReading& table, bool has_rows);
  void read_schema(const std::vector<ExportFile>& files);
  [[nodiscard]] ImportTable& table(NeuronTable table);
  [[nodiscard]] ImportTable* inferred_table(const std::string& name, const ShowRows& show_rows);
  void add_described_columns(Schema& schema, NeuronTable table) const;
  Result<std::string> read_table(const ExportFile& file);
  Result<std::string> read_csv(const ExportFile& file);
  Result<void> read_parquet(parquet::TableReader& reader, const ExportFile& file);
  void report_parquet(const parquet::TableReader& reader, const ExportFile& file);
  [[nodiscard]] NeuronTable table_of_row(std::span<const json::JsonField> fields) const noexcept;
  void import_row(ImportTable& into, std::span<const json::JsonField> fields, const json::RowPlace& place);
  [[nodiscard]] bool settle_times(const ImportTable& into, BoundRow& row, const json::RowPlace& place);
  [[nodiscard]] std::uint32_t track_of(ImportTable& into, NeuronTable kind, const BoundRow& row);
  [[nodiscard]] std::uint32_t track_of_plain(ImportTable& into);
  [[nodiscard]] std::uint32_t track_of_call(ImportTable& into, NeuronTable kind, const BoundRow& row);
  [[nodiscard]] std::int64_t place_of(NeuronTable kind, const BoundRow& row);
  [[nodiscard]] StringId name_of(NeuronTable kind, const BoundRow& row);
  // What a table's rows mean beyond their columns. False: the row is not an event after all (a reason was counted).
  [[nodiscard]] bool look_at(NeuronTable kind, ImportTable& into, BoundRow& row, const json::RowPlace& place);
  void add_joined(std::span<const json::JsonField> fields);
  void look_at_instruction(ImportTable& into, const BoundRow& row);
  void look_at_warning(const BoundRow& row);
  void look_at_move(ImportTable& into, const BoundRow& row, bool is_transfer);
  void look_at_collective(ImportTable& into, const BoundRow& row);
  void look_at_throttle(ImportTable& into, const BoundRow& row);
  void look_at_usage(const BoundRow& row);
  void look_at_allocation(ImportTable& into, const BoundRow& row);
  void look_at_call(NeuronTable kind, ImportTable& into, const BoundRow& row);
  void add_hbm_sample(const BoundRow& row);
  void add_predecessors(const BoundRow& row, std::uint64_t id);
  void remember_location(std::string_view location);
  [[nodiscard]] bool settle_flow(BoundRow& row, const json::RowPlace& place);

  // Finishing.
  Result<void> finish();
  [[nodiscard]] std::vector<SourceFile> read_source_archive();
  void settle_bounds();
  void settle_time_unit();
  void settle_device_unit();
  void derive_trigger_flows();
  void derive_memory();
  void derive_system_flows();
  void derive_host_transfers();
  void derive_hbm_usage();
  void name_cores();
  void state_executions();
  Result<void> write_tables();
  [[nodiscard]] ImportTable::Visitor instruction_visitor(ImportTable& instructions);
  [[nodiscard]] const StackFrames::Texts& stack_of(StringId frame_ids);
  [[nodiscard]] StringId whole_stack(StringId frame_ids, StringId kernel_name, std::int64_t core);
  void report_quality();
  void report_bindings();
  void report_coverage();
  void report_schema();
  void report_column(const TableReading& table, const FieldReading& column);

  std::string path_;
  std::string_view format_ = "neuron-json";
  ExportReading reading_;  // of its tables
  const ImportOptions& options_;
  EventSink& sink_;
  SessionWriter writer_;
  ChunkSpill spill_;
  TrackPlan plan_;
  CorePlan cores_;
  ImportReport report_;
  ProfileFacts facts_;
  StackFrames frames_;
  KernelCalls kernel_calls_;
  CompilerLevels levels_;
  std::array<std::unique_ptr<ImportTable>, kNeuronTableCount> tables_;
  std::map<std::string, std::unique_ptr<ImportTable>, std::less<>> inferred_;
  std::map<std::string, std::uint64_t, std::less<>> row_counts_;
  std::map<std::string, std::string, std::less<>> names_counted_;  // as the report has them
  Current current_;
  std::uint64_t* current_rows_ = nullptr;
  std::int64_t place_ = CorePlan::kWhole;  // of the row at hand

  static constexpr std::int64_t kMaxAllocationBytes = std::int64_t{1} << 50;
  Counts counts_;
  std::map<std::int64_t, LastPending> last_pending_;  // by place
  TriggerLinks triggers_;
  bool has_flow_table_ = false;   // all dependencies are listed: none need be derived
  EventStarts starts_;            // where they are
  std::uint64_t bytes_done_ = 0;  // of the files of an export
  std::uint64_t bytes_total_ = 0;
  SystemProfile system_;
  std::map<std::string, std::uint32_t, std::less<>> call_tracks_;  // by host, process, and thread or core
  SpillLifetimes spills_;
  struct StaticTensor {
    std::string name;
    std::string type;
    std::int64_t bytes;
  };
  std::vector<StaticTensor> static_tensors_;
  std::set<std::string> source_files_;
  std::string source_archive_;  // where it would lie
  std::unordered_set<std::string> locations_;
  std::map<std::int64_t, PeUtilization> utilization_;        // by physical core
  std::unordered_map<StringId, StackFrames::Texts> stacks_;  // of lists of frame ids
  std::map<std::tuple<StringId, StringId, std::int64_t>, StringId> whole_stacks_;
  std::unordered_map<StringId, std::string> stack_texts_;
  std::string scratch_;

  std::vector<tracks::TimeSketch> sketches_;  // of slices and moments, by track of the plan
  tracks::TimeExtremes extremes_;
  tracks::TimeBounds bounds_;
  std::int64_t first_ticks_ = INT64_MAX;
  std::int64_t last_ticks_ = INT64_MIN;  // of device tables
  std::int64_t ticks_per_ns_ = 1;
  ClockNumber clock_ = kNone;
};

}  // namespace accelscope::capture::sources::neuron
