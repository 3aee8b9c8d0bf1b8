// Writes the records of a trace as events of a session. list() names the records of a trace with their times, so
// that the caller can bring those of all cores into one order; write() writes one.
#pragma once

#include <array>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "capture/sim/kernel/run_metrics.h"
#include "capture/sim/kernel/trace.h"
#include "capture/sources/neuron/read/table_rules.h"
#include "core/chunk/session_writer.h"

namespace accelscope::capture::sim {

// The schemas and tracks of a simulated session, defined up front so that empty rows keep their place.

struct DeviceTracks {
  std::array<TrackNumber, kEngineRows> engines = {};
  std::array<TrackNumber, kQueueCount> queues = {};
  std::array<std::array<TrackNumber, kDmaEngines>, kQueueCount> packets = {};
  std::map<int, TrackNumber> semaphores;
  std::map<unsigned, TrackNumber> cc_cores;
  std::array<TrackNumber, 2> memory = {};  // by Pool
  std::array<TrackNumber, kEngineCount> active = {};
  TrackNumber collectives = 0, pending = 0, throughput = 0, hbm = 0, utilization = 0, sbuf = 0, psum = 0;
  TrackNumber throttle = 0, errors = 0, layers = 0, flows = 0;
  std::array<TrackNumber, kEngineCount> barriers = {};  // of one of several physical cores
};

class SessionTracks {
 public:
  explicit SessionTracks(SessionWriter& writer);
  [[nodiscard]] DeviceTracks define_device(std::uint32_t device, bool is_part);
  [[nodiscard]] TrackNumber define_table(sources::neuron::NeuronTable table, std::string name, std::string device);

 private:
  TrackNumber add(std::string name, std::string kind, sources::neuron::NeuronTable table, std::string unit = "",
                  TrackNumber parent = kNone);

  SessionWriter& writer_;
  std::array<SchemaNumber, sources::neuron::kNeuronTableCount> schemas_ = {};
  std::string device_;
  std::int64_t order_ = 0;
};

enum class RecordKind : std::uint8_t {
  instruction,
  transfer,
  packet,
  collective,
  cc_step,
  semaphore,
  pending,
  throughput,
  sbuf,
  psum,
  utilization,
  memory,
  throttle,
  error,
  active,
  layer,
  barrier,
};

struct SessionItem {
  std::int64_t time = 0;
  std::uint32_t device = 0;
  std::uint32_t index = 0;
  RecordKind kind = RecordKind::instruction;
};

// What a session states as its machine: "simulated", "trn3, simulated".
[[nodiscard]] inline std::string instance_type(const CoreModel& core) {
  if (core.chip == analysis::neuron::Chip::trn1) return "simulated";
  return std::string(analysis::neuron::chip_name(core.chip)) + ", simulated";
}

class SessionEvents {
 public:
  SessionEvents(SessionWriter& writer, const SimulationOptions& options);

  void list(const KernelTrace& trace, std::vector<SessionItem>& items) const;
  void write(const KernelTrace& trace, const SessionItem& item);
  // The tables, figures and facts that are known when the run is over.
  // `parts` are the figures of each physical core of the first device, `whole` those of all of them.
  void write_tables(const KernelProgram& program, std::span<const RunMetrics> parts, const RunMetrics& whole);

 private:
  CoreModel core_;
  // String ids of an operation's texts, made once per program.
  struct OperationStrings {
    StringId name = 0, location = 0, stack = 0, frames = 0, hlo = 0, activation = 0, type = 0, bir_name = 0,
             penguin = 0, attributes = 0, framework = 0, label = 0, engine = 0, compiler_opcode = 0, source = 0,
             dest = 0;
  };
  // String ids of what all packets of a queue, and all updates of a semaphore, say.
  struct QueueStrings {
    StringId name = 0, type = 0, semaphore = 0;
    std::array<StringId, kDmaEngines> packets = {};
  };
  struct SemaphoreStrings {
    StringId name = 0, owner = 0;
  };
  const std::vector<OperationStrings>& strings_of(const KernelProgram& program);
  const QueueStrings& strings_of(Queue queue);
  const SemaphoreStrings& strings_of(const SemaphoreRecord& record);
  StringId layer_of(const KernelTrace& trace, std::uint32_t operation);

  void write_instruction(const KernelTrace& trace, const InstructionRecord& record, const DeviceTracks& tracks);
  void write_transfer(const KernelTrace& trace, const TransferRecord& record, const DeviceTracks& tracks);
  void write_packet(const KernelTrace& trace, const PacketRecord& record, const DeviceTracks& tracks);
  // What a transfer and its packets have in common.
  void write_payload(Row& row, const Operation& operation, const OperationStrings& strings, std::int64_t bytes,
                     std::int64_t duration_ns);
  void write_collective(const KernelTrace& trace, const CollectiveRecord& record, const DeviceTracks& tracks);
  void write_cc_step(const KernelTrace& trace, const CcStepRecord& record, const DeviceTracks& tracks);
  void write_flows(const KernelTrace& trace, std::uint32_t operation, std::int64_t start, const DeviceTracks& tracks);
  void write_counter(const KernelTrace& trace, const SessionItem& item, const DeviceTracks& tracks);
  void write_memory(const KernelTrace& trace, const MemoryRecord& record, const DeviceTracks& tracks);
  void write_error(const KernelTrace& trace, const ErrorRecord& record, const DeviceTracks& tracks);
  void write_layer(const LayerRecord& record, std::size_t part, const DeviceTracks& tracks);
  void write_tensors(const KernelProgram& program, std::span<const RunMetrics> parts);
  void write_program_tables(const KernelProgram& program, std::span<const RunMetrics> parts);
  void write_model(const RunMetrics& metrics, std::size_t part);
  void write_vendor_facts(const RunMetrics& metrics);
  void write_frame_tables(const KernelProgram& program);

  SessionWriter& writer_;
  SessionTracks tracks_;
  bool vendor_file_ = false;
  std::uint32_t ranks_ = 1;
  std::uint32_t parts_ = 1;       // physical cores of a device
  std::string whole_;             // the first device: "nc0", or "nc0+nc1" of two
  std::vector<StringId> graphs_;  // "/sg00", by part
  std::vector<DeviceTracks> devices_;
  StringId replica_group_ = 0;  // the simulated devices; with one, the ranks that are drawn beside it too
  std::vector<std::pair<const KernelProgram*, std::vector<OperationStrings>>> strings_;
  std::vector<StringId> layers_;  // by pass % kModelLayers and layer
  std::array<QueueStrings, kQueueCount> queues_ = {};
  std::vector<SemaphoreStrings> semaphores_;  // by number
  StringId copy_, flow_;
};

}  // namespace accelscope::capture::sim
