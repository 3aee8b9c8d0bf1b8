// The tables of a Neuron Profile JSON file whose rows are events, written from the records of a simulated run.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "capture/sim/kernel/trace.h"
#include "capture/sim/output/json_rows.h"

namespace accelscope::capture::sim {

[[nodiscard]] std::vector<std::string_view> json_event_tables();

class JsonEventTable {
 public:
  JsonEventTable(std::string_view table, JsonRows& rows);
  void write(const KernelTrace& trace);
  void write_layer(const LayerRecord& record);

 private:
  using Write = void (JsonEventTable::*)(const KernelTrace&);
  struct Entry {
    std::string_view name;
    Write write;
  };
  friend std::vector<std::string_view> json_event_tables();
  static const std::vector<Entry>& entries();

  void write_instructions(const KernelTrace& trace);
  void write_dma(const KernelTrace& trace);
  void write_semaphores(const KernelTrace& trace);
  void write_pending(const KernelTrace& trace);
  void write_throughput(const KernelTrace& trace);
  void write_usage(const KernelTrace& trace);
  void write_throttles(const KernelTrace& trace);
  void write_active(const KernelTrace& trace);
  void write_layers(const KernelTrace& trace);
  void write_collectives(const KernelTrace& trace);
  void write_cc_steps(const KernelTrace& trace);
  void write_errors(const KernelTrace& trace);
  // What the rows of an operation have in common, as finished fields.
  const std::vector<std::string>& fields_of(const KernelTrace& trace, std::uint32_t operation, bool dma);
  void usage_share(std::string_view key, double share);

  JsonRows& rows_;
  Write write_ = nullptr;
  const KernelProgram* program_ = nullptr;  // whose fields are kept
  std::vector<std::vector<std::string>> fields_;
};

}  // namespace accelscope::capture::sim
