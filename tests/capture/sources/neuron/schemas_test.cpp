#include "capture/sources/neuron/read/table_rules.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <set>

using namespace accelscope;
using namespace accelscope::capture;

TEST_CASE("every Neuron column tells the user what it is, under a heading, once") {
  std::set<std::string> tables;
  for (std::size_t index = 0; index < sources::neuron::kNeuronTableCount; ++index) {
    const Schema schema = sources::neuron::neuron_schema(static_cast<sources::neuron::NeuronTable>(index));
    CAPTURE(schema.name);
    CHECK(tables.insert(schema.name).second);
    CHECK_FALSE(schema.name_column.empty());
    CHECK(schema.name_explanation.ends_with('.'));
    CHECK_FALSE(schema.columns.empty());
    std::set<std::string> names = {schema.name_column};
    for (const Column& column : schema.columns) {
      CAPTURE(column.name);
      CHECK(names.insert(column.name).second);
      CHECK_FALSE(column.title.empty());
      CHECK(column.explanation.ends_with('.'));
      CHECK((column.group == "Timing" || column.group == "Operation" || column.group == "Memory" ||
             column.group == "IDs" || column.group == "Layer & source" || column.group == "Details"));
    }
    if (schema.kind == EventKind::counter) CHECK(schema.columns.front().role == Role::value);
  }
}

TEST_CASE("a wait is told from work on the engines and the collective cores") {
  CHECK(sources::neuron::neuron_schema(sources::neuron::NeuronTable::instruction).wait_names ==
        std::vector<std::string>{"EVENT_SEMAPHORE"});
  CHECK_FALSE(sources::neuron::neuron_schema(sources::neuron::NeuronTable::cc_instruction).wait_names.empty());
}

TEST_CASE("a column is found by its vendor name") {
  const Schema schema = sources::neuron::neuron_schema(sources::neuron::NeuronTable::dma_transfer);
  CHECK(schema.columns[sources::neuron::neuron_column(sources::neuron::NeuronTable::dma_transfer, "dest_steps")].name ==
        "dest_steps");
  CHECK(sources::neuron::neuron_throttle_kind(0) == "activity_0");
  CHECK(sources::neuron::neuron_throttle_kind(14) == "periodic");
  CHECK(sources::neuron::neuron_throttle_kind(99) == "unknown");
}
