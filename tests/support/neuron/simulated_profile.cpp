#include "tests/support/neuron/simulated_profile.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <random>
#include <vector>

#include "capture/sim/output/simulator.h"
#include "core/export/neuron/neuron_json.h"
#include "core/store/store.h"
#include "tests/support/parquet/parquet_writer.h"

namespace accelscope {
namespace {

constexpr std::size_t kWindowRows = 256;  // rows are disordered among so many

struct Table {
  std::string_view name;  // with its quotes
  std::vector<std::string_view> rows;
};

// The export writes a line for the beginning of each table and one for each row.
std::vector<Table> tables_of(std::string_view text) {
  std::vector<Table> tables;
  text = text.substr(1, text.rfind('}') - 1);
  while (!text.empty()) {
    std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    if (line.starts_with('"')) {
      tables.push_back({line.substr(0, line.find(':')), {}});
    } else {
      tables.back().rows.push_back(line.substr(0, line.find_last_of('}') + 1));
    }
  }
  return tables;
}

std::vector<std::string> fields_of(std::string_view row) {
  std::vector<std::string> fields(1);
  int depth = 0;
  bool quoted = false;
  for (std::size_t at = 1; at + 1 < row.size(); ++at) {
    const char c = row[at];
    if (quoted && c == '\\') {
      fields.back() += c;
      ++at;
    } else if (c == '"') {
      quoted = !quoted;
    } else if (!quoted) {
      depth += c == '[' || c == '{' ? 1 : c == ']' || c == '}' ? -1 : 0;
      if (c == ',' && depth == 0) {
        fields.emplace_back();
        continue;
      }
    }
    fields.back() += row[at];
  }
  return fields;
}

std::string disordered(std::string_view row, std::mt19937_64& random) {
  std::vector<std::string> fields = fields_of(row);
  const bool is_odd = (random() & 1) != 0;
  if (is_odd) std::erase(fields, "\"layer\":\"\"");
  for (std::string& field : fields) {
    if (is_odd && field.starts_with("\"usage_avg\"") && field.ends_with(":0")) field += ".0";
    if (field.starts_with("\"core_idx\":")) field.insert(field.find(':') + 1, 1, '"') += '"';
  }
  std::rotate(fields.begin(), fields.begin() + static_cast<std::ptrdiff_t>(random() % fields.size()), fields.end());
  std::string text;
  for (const std::string& field : fields) text += (text.empty() ? "{" : ",") + field;
  return text + "}";
}

void write_disordered(Table& table, std::mt19937_64& random, std::ostream& out) {
  out << table.name << ":[";
  for (std::size_t first = 0; first < table.rows.size(); first += kWindowRows) {
    const auto begin = table.rows.begin() + static_cast<std::ptrdiff_t>(first);
    const auto end = begin + static_cast<std::ptrdiff_t>(std::min(kWindowRows, table.rows.size() - first));
    std::shuffle(begin, end, random);
    for (auto row = begin; row != end; ++row) out << (row == table.rows.begin() ? "" : ",") << disordered(*row, random);
  }
  out << "]";
}

Result<std::string> text_of_run(const capture::sim::SimulationOptions& options) {
  const auto whole = capture::sim::vendor_file_options(options);
  if (!whole) return whole.error();
  const auto store = Store::create();
  if (!store) return store.error();
  StoreSink sink(**store);
  if (Result<void> done = capture::sim::simulate(*whole, sink); !done) return done.error();
  WorkerPool pool;
  TaskControl control;
  exporting::JsonExport request{{**store, (*store)->snapshot(), pool, control}, {}, {}, {}};
  request.forms = exporting::neuron::json_forms(*request.query.snapshot);
  std::string text;
  const auto report = exporting::export_json(request, [&](std::string_view part) {
    text += part;
    return Result<void>{};
  });
  if (!report) return report.error();
  return text;
}

struct TableName {
  std::string_view json, parquet;
};
constexpr TableName kTableNames[] = {
    {"metadata", "Metadata"},
    {"summary", "Summary"},
    {"neff_header", "NeffHeader"},
    {"neff_node", "TensorInfo"},
    {"warnings", "Warning"},
    {"instruction", "Instruction"},
    {"dma", "DmaPacket"},
    {"semaphore_update", "SemaphoreUpdate"},
    {"pending_dma", "PendingDma"},
    {"dma_throughput", "DmaUsage"},
    {"cc_ops", "CcOp"},
    {"cc_instruction", "CcInstruction"},
    {"active_time", "ActiveTime"},
    {"dma_queues_info", "DmaQueuesInfo"},
    {"nc_mem_usage", "HbmUsageSummaryByType"},
};
// Of tables with times, and of DMAs.
constexpr TableName kColumnNames[] = {
    {"duration", "duration_ns"},
    {"evt_wait_time", "evt_wait_time_ns"},
    {"activation_fn", "scalar_activation_fn"},
    {"elements", "tensor_elements"},
    {"label", "timeline_track"},
    {"transfer_size", "transfer_bytes"},
    {"read_size", "read_bytes"},
    {"write_size", "write_bytes"},
    {"dma_queue", "queue_idx"},
    {"dma_engine", "engine_idx"},
    {"instruction_type", "tensor_instruction_type"},
};

std::string unquoted(std::string_view text) {
  std::string plain;
  for (std::size_t at = 1; at + 1 < text.size(); ++at) {
    if (text[at] == '\\') ++at;  // the simulator's texts have no other escapes than these
    plain += text[at];
  }
  return plain;
}

// One row after another of a table whose columns are those that any row has.
class Columns {
 public:
  void add_row(std::string_view row, bool is_event, bool is_dma) {
    for (const std::string& field : fields_of(row)) {
      const std::size_t colon = field.find("\":");
      std::string name = field.substr(1, colon - 1);
      const std::string value = field.substr(colon + 2);
      if (name == "predecessors" || name == "aggregated") continue;  // of the Flow table, and of two tables
      if (is_event && name == "timestamp") name = "start_ts";
      if (name == "subgroup") name = is_dma ? "queue_name" : "engine";
      for (const TableName& each : kColumnNames) {
        if (is_event && each.json == name) name = each.parquet;
      }
      add(name, value);
    }
    ++rows_;
    for (auto& [name, column] : columns_) column.values.resize(rows_);
  }
  [[nodiscard]] std::string file() const {
    std::vector<test::ParquetColumn> all;
    for (const auto& [name, column] : columns_) {
      test::ParquetColumn& parquet = all.emplace_back(test::ParquetColumn{name, column.type, column.values});
      if (parquet.type != test::kParquetDouble) continue;
      for (test::ParquetColumn::Value& value : parquet.values) {
        if (const auto* whole = std::get_if<std::int64_t>(&value)) value = static_cast<double>(*whole);
      }
    }
    return test::parquet_file(all, {.codec = test::kSnappy});
  }
  [[nodiscard]] bool empty() const { return rows_ == 0; }

 private:
  struct Column {
    test::ParquetType type = test::kParquetInt64;
    std::vector<test::ParquetColumn::Value> values;
  };
  void add(const std::string& name, const std::string& value) {
    Column& column = columns_[name];
    column.values.resize(rows_ + 1);
    if (value.starts_with('"') || value.starts_with('[') || value.starts_with('{')) {
      column.type = test::kParquetBytes;
      column.values.back() = value.starts_with('"') ? unquoted(value) : value;
    } else if (value == "true" || value == "false") {
      column.type = test::kParquetBoolean;
      column.values.back() = std::int64_t{value == "true"};
    } else if (value.find_first_of(".e") != std::string::npos) {
      column.type = test::kParquetDouble;
      column.values.back() = std::stod(value);
    } else {
      column.values.back() = static_cast<std::int64_t>(std::stoll(value));
    }
  }
  std::size_t rows_ = 0;
  std::map<std::string, Column> columns_;
};

}  // namespace

Result<void> write_simulated_tables(const capture::sim::SimulationOptions& options, const std::string& folder) {
  const auto text = text_of_run(options);
  if (!text) return text.error();
  std::filesystem::create_directories(folder);
  const std::string summary = folder + "/Summary.parquet";
  std::ofstream(summary, std::ios::binary) << "PAR1" << std::string(2000, '\0');  // is filled last
  const auto write = [&](const std::string& name, const Columns& columns) {
    if (!columns.empty()) std::ofstream(folder + "/" + name + ".parquet", std::ios::binary) << columns.file();
  };
  for (const bool is_last : {false, true}) {
    for (const Table& table : tables_of(*text)) {
      const std::string_view json = table.name.substr(1, table.name.size() - 2);
      const auto* const name = std::ranges::find(kTableNames, json, &TableName::json);
      if (name == std::end(kTableNames) || (json == "summary") != is_last) continue;
      const bool is_event = table.rows.front().find("\"duration\":") != std::string_view::npos;
      const bool is_dma = json == "dma";
      Columns rows, aggregated;
      for (const std::string_view row : table.rows) {
        const bool is_transfer = is_dma && row.find("\"aggregated\":\"yes\"") != std::string_view::npos;
        (is_transfer ? aggregated : rows).add_row(row, is_event, is_dma);
      }
      write(std::string(name->parquet), rows);
      write("DmaPacketAggregated", aggregated);
    }
  }
  return {};
}

Result<void> write_simulated_profile(const capture::sim::SimulationOptions& options, const std::string& path) {
  const auto text = text_of_run(options);
  if (!text) return text.error();
  std::mt19937_64 random(options.seed);
  std::vector<Table> tables = tables_of(*text);
  std::shuffle(tables.begin(), tables.end(), random);
  std::ofstream out(path, std::ios::binary);
  for (Table& table : tables) {
    out << (&table == tables.data() ? "{" : ",");
    write_disordered(table, random, out);
  }
  out << "}\n";
  out.flush();
  return out.good() ? Result<void>{} : Error{path + ": cannot be written"};
}

}  // namespace accelscope
