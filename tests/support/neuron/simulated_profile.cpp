#include "tests/support/neuron/simulated_profile.h"

#include <algorithm>
#include <fstream>
#include <random>
#include <vector>

#include "capture/sim/output/simulator.h"
#include "core/export/neuron/neuron_json.h"
#include "core/store/store.h"

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

}  // namespace

Result<void> write_simulated_profile(const capture::sim::SimulationOptions& options, const std::string& path) {
  const auto whole = capture::sim::vendor_file_options(options);
  if (!whole) return whole.error();
  const auto store = Store::create();
  if (!store) return store.error();
  StoreSink sink(**store);
  if (Result<void> done = capture::sim::simulate(*whole, sink); !done) return done;
  WorkerPool pool;
  TaskControl control;
  JsonExport request{{**store, (*store)->snapshot(), pool, control}, {}, {}, {}};
  request.forms = neuron::json_forms(*request.query.snapshot);
  std::string text;
  const auto report = export_json(request, [&](std::string_view part) {
    text += part;
    return Result<void>{};
  });
  if (!report) return report.error();
  std::mt19937_64 random(options.seed);
  std::vector<Table> tables = tables_of(text);
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
