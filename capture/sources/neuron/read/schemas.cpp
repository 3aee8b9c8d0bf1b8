#include "capture/sources/neuron/read/schemas.h"

#include <string>
#include <utility>

namespace accelscope::capture::sources::neuron {
namespace {

using namespace columns;

constexpr ColumnSpec kLayerWork[] = {
    {"tensor_engine_flop_count", kInt, "flop", kOperation, "Work",
     "Floating point operations of the layer's matrix multiplications, transposes included.", Role::flops},
    {"tensor_engine_model_flop_count", kInt, "flop", kOperation, "Model work",
     "The part of it that the model asks for."},
    {"tensor_engine_mfu", kReal, "share", kOperation, "MFU",
     "Model work over what the Tensor engine could have done in the layer's duration."},
    {"tensor_engine_hfu", kReal, "share", kOperation, "HFU",
     "All work over what the Tensor engine could have done in the layer's duration."},
};

// The same four figures for each of the five engines, and the work of the Tensor engine.
void append_layer_columns(Schema& schema) {
  const auto append = [&](const ColumnSpec& column) { schema.columns.push_back(make_column(column)); };
  append({"end", kInt, "ns", kTiming, "Stated end",
          "The end as the file states it: begin, end and duration are each cut to whole ns by themselves."});
  append({"fully_qualified_subgraph", kString, "", kLayerAndSource, "Subgraph",
          "Compiled graph that the layer belongs to.", Role::layer});
  constexpr std::pair<std::string_view, std::string_view> kEngines[] = {
      {"tensor", "Tensor"}, {"vector", "Vector"}, {"scalar", "Scalar"}, {"gpsimd", "GpSimd"}, {"sync", "Sync"}};
  for (const auto& [key, title] : kEngines) {
    const std::string prefix = std::string(key) + "_engine_";
    const std::string engine(title);
    append({prefix + "instruction_count", kInt, "", kOperation, engine + " instructions",
            "Instructions of the layer on the " + engine + " engine."});
    append({prefix + "instruction_time", kInt, "ns", kTiming, engine + " instruction time",
            "Durations of these instructions added up, waits included."});
    append({prefix + "active_time", kInt, "ns", kTiming, engine + " active",
            "Time in which at least one of them was working rather than waiting."});
    append({prefix + "active_percent", kReal, "share", kTiming, engine + " active share",
            "That time over the duration of the layer."});
  }
  append_columns(schema, kLayerWork);
}

}  // namespace

Schema neuron_schema(NeuronTable table) {
  const tables::TableSpec& spec = tables::kTables[static_cast<std::size_t>(table)];
  Schema schema = make_schema(spec.schema, spec.columns);
  append_columns(schema, spec.more);
  if (table == NeuronTable::layer_summary) append_layer_columns(schema);
  return schema;
}

std::string_view neuron_throttle_kind(std::int64_t type) noexcept {
  constexpr std::string_view kKinds[] = {"activity_0", "activity_1", "activity_2", "activity_3", "gpio_0",
                                         "gpio_1",     "gpio_2",     "gpio_3",     "gpio_4",     "gpio_5",
                                         "gpio_6",     "gpio_7",     "sw_0",       "sw_1",       "periodic"};
  return type >= 0 && type < std::ssize(kKinds) ? kKinds[type] : "unknown";
}

}  // namespace accelscope::capture::sources::neuron
