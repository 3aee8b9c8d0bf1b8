#include "capture/sim/output/neuron_json_writer.h"

#include <algorithm>
#include <array>
#include <functional>

#include "capture/sim/kernel/run_metrics.h"
#include "capture/sim/output/json_facts.h"
#include "capture/sim/output/json_rows.h"
#include "capture/sim/output/json_tables.h"

namespace accelscope::capture::sim {
namespace {

// One pass of the whole simulation for each table.
Result<void> stream_tables(const SimulationOptions& options, const RunMetrics& metrics, JsonFile& file,
                           const std::function<bool()>& cancelled) {
  JsonRows rows(file, options.seed);
  std::vector<std::string_view> names = json_event_tables();
  const std::size_t event_tables = names.size();
  for (const std::string_view name : json_fact_tables()) names.push_back(name);
  // Top-level keys come in any order too.
  std::vector<std::size_t> order(names.size());
  for (std::size_t index = 0; index < order.size(); ++index) order[index] = index;
  for (std::size_t left = order.size(); left > 1; --left) {
    std::swap(order[left - 1], order[static_cast<std::size_t>(rows.random().next() % left)]);
  }
  for (const std::size_t table : order) {
    TracedRun run(options);
    rows.begin_table(names[table]);
    if (table >= event_tables) {
      write_json_facts(names[table], run.program(), metrics, rows);
    } else {
      JsonEventTable writer(names[table], rows);
      while (!file.failed() && !cancelled() && run.advance()) writer.write(run.traces().front());
      if (names[table] == "layer_summary") writer.write_layer(metrics.whole_graph());
    }
    rows.end_table();
  }
  if (cancelled()) return Error{"the simulation was cancelled"};
  file.put("}\n");
  return file.finish();
}

}  // namespace

Result<void> write_neuron_json(const SimulationOptions& options, const std::string& path,
                               const std::function<bool()>& cancelled) {
  if (options.devices != 1) {
    return Error{"simulate: a Neuron Profile JSON file describes one core; write one file per core, with other seeds"};
  }
  SimulationOptions limited = options;
  limited.seconds = 0;
  limited.detail = Detail::full;
  if (limited.kernels == 0 && limited.events == 0) limited.kernels = 2;

  Result<std::unique_ptr<JsonFile>> file = JsonFile::create(path);
  if (!file.ok()) return file.error();
  const std::function<bool()> stops = cancelled ? cancelled : [] { return false; };
  RunMetrics metrics;
  TracedRun run(limited);
  while (!stops() && run.advance()) metrics.add(run.traces().front());
  return stream_tables(limited, metrics, **file, stops);
}

}  // namespace accelscope::capture::sim
