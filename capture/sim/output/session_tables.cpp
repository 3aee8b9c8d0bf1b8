// What is known when a simulated run is over: the vendor's figures, and tables about tensors, queues and the program.
#include "capture/sim/kernel/profile_text.h"
#include "capture/sim/output/session_events.h"

namespace accelscope::capture::sim {

void SessionEvents::write_tables(const KernelProgram& program, const RunMetrics& metrics) {
  if (!devices_.empty()) write_layer(metrics.whole_graph(), devices_.front());
  for (Metric& metric : metrics.summary()) writer_.add_metric(std::move(metric));
  write_tensors(program, metrics);
  write_program_tables(program, metrics);
}

void SessionEvents::write_tensors(const KernelProgram& program, const RunMetrics& metrics) {
  const TrackNumber track = tracks_.define_table(sources::neuron::NeuronTable::neff_node, "Tensors");
  const auto at = [](std::string_view column) {
    return sources::neuron::neuron_column(sources::neuron::NeuronTable::neff_node, column);
  };
  for (const Tensor& tensor : program.tensors) {
    Row row = writer_.begin_event(track, 0, 0, writer_.intern(tensor.name));
    row.string(at("type"), writer_.intern(tensor.type));
    row.string(at("format"), writer_.intern("NC"));
    row.string(at("shape"), writer_.intern(tensor.shape));
    row.integer(at("size"), tensor.bytes);
    row.string(at("sg_name"), writer_.intern("sg00"));
    const auto loads = metrics.loads().find(std::string(tensor.name));
    if (loads == metrics.loads().end()) continue;
    row.integer(at("load_to_sbuf_dma_count"), loads->second.count);
    row.integer(at("load_to_sbuf_avg_size_bytes"), loads->second.bytes / loads->second.count);
    row.integer(at("load_to_sbuf_total_size_bytes"), loads->second.bytes);
    row.real(at("load_to_sbuf_repeat_factor"),
             static_cast<double>(loads->second.bytes) / static_cast<double>(tensor.bytes));
  }
}

void SessionEvents::write_program_tables(const KernelProgram& program, const RunMetrics& metrics) {
  const TrackNumber queues = tracks_.define_table(sources::neuron::NeuronTable::dma_queues_info, "DMA queues");
  for (std::size_t index = 0; index < kQueueCount; ++index) {
    const QueueText& queue = queue_text(static_cast<Queue>(index));
    for (std::int64_t engine = 0; engine < kDmaEngines; ++engine) {
      Row row = writer_.begin_event(queues, 0, 0, writer_.intern(queue.name));
      const auto at = [](std::string_view column) {
        return sources::neuron::neuron_column(sources::neuron::NeuronTable::dma_queues_info, column);
      };
      row.string(at("q_type"), writer_.intern(queue.made_for));
      row.integer(at("q_idx"), queue.ring);
      row.integer(at("q_eng_idx"), engine);
      row.integer(at("q_axi_port"), 0);
      row.integer(at("q_dram_channel"), 0);
      row.integer(at("q_event_id"), -1);
      row.string(at("subgraph"), writer_.intern("sg00"));
    }
  }
  const TrackNumber memory = tracks_.define_table(sources::neuron::NeuronTable::nc_mem_usage, "Device memory");
  for (const MemoryUse& use : device_memory_use(program)) {
    Row row = writer_.begin_event(memory, 0, 0, writer_.intern(use.name));
    const auto at = [](std::string_view column) {
      return sources::neuron::neuron_column(sources::neuron::NeuronTable::nc_mem_usage, column);
    };
    row.integer(at("amount_bytes"), use.bytes);
    row.integer(at("nd"), 0);
    row.integer(at("nc"), 0);
  }
  {
    const auto at = [](std::string_view column) {
      return sources::neuron::neuron_column(sources::neuron::NeuronTable::neff_header, column);
    };
    Row row = writer_.begin_event(tracks_.define_table(sources::neuron::NeuronTable::neff_header, "Program"), 0, 0,
                                  writer_.intern(kNetworkName));
    row.integer(at("major_version"), 2);
    row.integer(at("minor_version"), 0);
    row.integer(at("header_size"), 1024);
    row.integer(at("number_of_logical_neuroncores"), 1);
    row.integer(at("number_of_neuroncores_per_lnc"), 1);
    row.string(at("enabled_features"), writer_.intern("dge"));
  }
  {
    const auto at = [](const std::string& column) {
      return sources::neuron::neuron_column(sources::neuron::NeuronTable::model_info, column);
    };
    Row row = writer_.begin_event(tracks_.define_table(sources::neuron::NeuronTable::model_info, "Model"), 0, 0,
                                  writer_.intern("sg00"));
    row.integer(at("event_count"), metrics.event_count());
    row.integer(at("trace_count"), metrics.trace_count());
    row.integer(at("dma_queue_count"), static_cast<std::int64_t>(kQueueCount) * kDmaEngines);
    row.integer(at("neuroncore_cycle_count"), metrics.cycle_count());
    for (std::size_t index = 0; index < kEngineCount; ++index) {
      const auto engine = static_cast<Engine>(index);
      row.integer(at(std::string(engine_key(engine)) + "_engine_instruction_count"), metrics.instructions(engine));
    }
    row.integer(at("nd_idx"), 0);
    row.integer(at("nc_idx"), 0);
  }
  const TrackNumber warnings = tracks_.define_table(sources::neuron::NeuronTable::warnings, "Warnings");
  Row row = writer_.begin_event(warnings, 0, 0, writer_.intern("Missing Data"));
  row.text(sources::neuron::neuron_column(sources::neuron::NeuronTable::warnings, "message"),
           "This profile was simulated: it has no compiler metrics.");
}

}  // namespace accelscope::capture::sim
