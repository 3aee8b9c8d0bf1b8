#include "capture/sim/output/session_tracks.h"

#include "capture/sim/kernel/profile_text.h"

namespace accelscope::capture::sim {

using sources::neuron::NeuronTable;

SessionTracks::SessionTracks(SessionWriter& writer) : writer_(writer) {
  for (std::size_t table = 0; table < sources::neuron::kNeuronTableCount; ++table) {
    schemas_[table] = writer_.add_schema(sources::neuron::neuron_schema(static_cast<NeuronTable>(table)));
  }
}

TrackNumber SessionTracks::add(std::string name, std::string kind, NeuronTable table, std::string unit,
                               TrackNumber parent) {
  Track track;
  track.parent = parent;
  track.name = std::move(name);
  track.kind = std::move(kind);
  track.device = device_;
  track.unit = std::move(unit);
  track.schema = schemas_[static_cast<std::size_t>(table)];
  track.order = order_++;
  return writer_.add_track(std::move(track));
}

TrackNumber SessionTracks::define_table(NeuronTable table, std::string name) {
  device_ = "nc0";
  return add(std::move(name), "table", table);
}

DeviceTracks SessionTracks::define_device(std::uint32_t device) {
  device_ = "nc" + std::to_string(device);
  order_ = 0;
  DeviceTracks tracks;
  tracks.layers = add("Layers", "layer", NeuronTable::layer_summary);
  tracks.collectives = add("Collectives", "collective", NeuronTable::cc_op);
  for (const unsigned core : {8U, 9U, 10U, 11U}) {
    tracks.cc_cores[core] = add("CC-core " + std::to_string(core), "cc_core", NeuronTable::cc_instruction);
  }
  for (std::size_t index = 0; index < kQueueCount; ++index) {
    const auto queue = static_cast<Queue>(index);
    tracks.queues[index] = add(std::string(queue_text(queue).name), "dma_queue", NeuronTable::dma_transfer);
  }
  for (std::size_t index = 0; index < kQueueCount; ++index) {
    for (unsigned engine = 0; engine < kDmaEngines; ++engine) {
      tracks.packets[index][engine] = add(packet_queue_name(static_cast<Queue>(index), engine), "dma_queue",
                                          NeuronTable::dma, "", tracks.queues[index]);
    }
  }
  for (std::size_t unit = 0; unit < kEngineRows; ++unit) {
    tracks.engines[unit] = add(std::string(unit_name(static_cast<Unit>(unit))), "engine", NeuronTable::instruction);
  }
  tracks.throttle = add("Throttling", "throttle", NeuronTable::throttle);
  tracks.errors = add("Errors", "error", NeuronTable::error);
  tracks.pending = add("Pending DMA", "counter", NeuronTable::pending_dma);
  tracks.throughput = add("DMA throughput", "counter", NeuronTable::dma_throughput, "B/s");
  tracks.hbm = add("HBM throughput", "counter", NeuronTable::hbm_throughput, "B/s");
  tracks.utilization = add("PE utilisation", "counter", NeuronTable::pe_utilization, "share");
  tracks.sbuf = add("SBUF usage", "counter", NeuronTable::sbuf_usage, "share");
  tracks.psum = add("PSUM usage", "counter", NeuronTable::psum_usage, "share");
  tracks.memory[static_cast<std::size_t>(Pool::sbuf)] = add("SBUF", "memory", NeuronTable::memory, "B");
  tracks.memory[static_cast<std::size_t>(Pool::hbm)] = add("Scratchpad", "memory", NeuronTable::memory, "B");
  const auto semaphore = [&](int number, std::string_view owner) {
    tracks.semaphores[number] = add(semaphore_name(number, owner), "semaphore", NeuronTable::semaphore_update);
  };
  for (const Unit unit :
       {Unit::tensor_matrix, Unit::vector, Unit::scalar, Unit::gpsimd, Unit::sync, Unit::collective}) {
    semaphore(unit_semaphore(unit), engine_name(unit));
  }
  for (std::size_t index = 0; index < kQueueCount; ++index) {
    const QueueText& queue = queue_text(static_cast<Queue>(index));
    semaphore(queue.semaphore, queue.name);
  }
  tracks.flows = add("Dependencies", "flow", NeuronTable::flow);
  for (std::size_t engine = 0; engine < kEngineCount; ++engine) {
    tracks.active[engine] =
        add("Active " + std::string(engine_key(static_cast<Engine>(engine))), "table", NeuronTable::active_time);
  }
  return tracks;
}

}  // namespace accelscope::capture::sim
