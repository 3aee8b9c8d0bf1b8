#include "capture/sim/output/session_events.h"

#include <fmt/format.h>

#include "capture/sim/kernel/run_metrics.h"
#include "core/base/immediate.h"
#include "core/names/collective_words.h"

namespace accelscope::capture::sim {

using sources::neuron::NeuronTable;

namespace {

[[nodiscard]] std::string barrier_engine(Engine engine) {
  constexpr std::array kFirst = {Unit::tensor, Unit::vector, Unit::scalar, Unit::gpsimd, Unit::sync};
  return std::string(engine_name(kFirst[static_cast<std::size_t>(engine)]));
}

}  // namespace

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

TrackNumber SessionTracks::define_table(NeuronTable table, std::string name, std::string device) {
  device_ = std::move(device);
  return add(std::move(name), "table", table);
}

DeviceTracks SessionTracks::define_device(std::uint32_t device, bool is_part) {
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
  for (std::size_t engine = 0; is_part && engine < kEngineCount; ++engine) {
    tracks.barriers[engine] =
        add("Barrier " + barrier_engine(static_cast<Engine>(engine)), "barrier", NeuronTable::core_barrier);
  }
  return tracks;
}

using sources::neuron::neuron_throttle_kind;
using sources::neuron::NeuronTable;

namespace {

// Sets a column that is left out where it says nothing.
void integer_unless_zero(Row& row, std::size_t column, std::int64_t value) {
  if (value != 0) row.integer(column, value);
}
void string_unless_empty(Row& row, std::size_t column, StringId id) {
  if (id != 0) row.string(column, id);
}

constexpr auto kInstruction = NeuronTable::instruction;
constexpr auto kTransfer = NeuronTable::dma_transfer;  // packets have its columns at the same places
constexpr auto kCollective = NeuronTable::cc_op;
constexpr auto kStep = NeuronTable::cc_instruction;
constexpr auto kSemaphore = NeuronTable::semaphore_update;
constexpr auto kThrottle = NeuronTable::throttle;
constexpr auto kBarrier = NeuronTable::core_barrier;
constexpr auto kMemoryEvent = NeuronTable::memory;
constexpr auto kError = NeuronTable::error;
constexpr auto kDependency = NeuronTable::flow;

constexpr auto kTrafficColumns = [] {
  std::array<std::size_t, kTraffic.size()> places = {};
  for (std::size_t i = 0; i < places.size(); ++i) {
    places[i] = sources::neuron::neuron_column(kInstruction, kTraffic[i].name);
  }
  return places;
}();

template <NeuronTable kTable>
ACCELSCOPE_CONSTEVAL std::size_t at(std::string_view column) {
  return sources::neuron::neuron_column(kTable, column);
}

}  // namespace

SessionEvents::SessionEvents(SessionWriter& writer, const SimulationOptions& options)
    : core_(options.shape.core),
      writer_(writer),
      tracks_(writer),
      vendor_file_(options.vendor_file),
      ranks_(options.devices),
      parts_(options.cores_per_device),
      copy_(writer.intern("copy")),
      flow_(writer.intern("FLOW_DEPENDENCE")) {
  for (std::uint32_t part = 0; part < parts_; ++part) {
    graphs_.push_back(writer.intern(fmt::format("/sg{:02}", part)));
    whole_ += fmt::format("{}nc{}", part == 0 ? "" : "+", part);
  }
  writer_.add_source_file(std::string(kDemoFile), std::string(demo_source()));
  writer_.set_meta("source", "simulated accelerator");
  if (!vendor_file_) {  // which has no such table
    writer_.set_meta("simulation.seed", std::to_string(options.seed));
    writer_.set_meta("simulation.weights", options.resident_weights ? "resident" : "streamed");
  }
  writer_.set_meta("instance_type", instance_type(core_));
  writer_.set_meta("capacity.SBUF", std::to_string(core_.sbuf_bytes));
  writer_.set_meta("capacity.PSUM", std::to_string(kPsumBanks * kPsumBankBytes));
  writer_.set_meta("pe_clock_freq", fmt::format("{}", core_.pe_clock_ghz));
  writer_.set_meta("hbm_ddr_bandwidth", fmt::format("{:.0f}", core_.hbm_bytes_per_second * parts_));
  std::string members;
  for (std::uint32_t core = 0; core < ranks_ * parts_; ++core)
    devices_.push_back(tracks_.define_device(core, parts_ > 1));
  for (std::uint32_t device = 0; device < ranks_; ++device) {
    members += (device == 0 ? "" : ",") + std::to_string(device);
  }
  replica_group_ = writer.intern(options.devices == 1 ? std::string(kReplicaGroup) : "[[" + members + "]]");
}

void SessionEvents::list(const KernelTrace& trace, std::vector<SessionItem>& items) const {
  const auto all = [&](RecordKind kind, const auto& records, auto time) {
    std::size_t place = items.size();
    items.resize(place + records.size());
    for (std::size_t index = 0; index < records.size(); ++index) {
      items[place++] = {records[index].*time, trace.device, static_cast<std::uint32_t>(index), kind};
    }
  };
  all(RecordKind::layer, trace.layers, &LayerRecord::start);
  all(RecordKind::instruction, trace.instructions, &InstructionRecord::start);
  all(RecordKind::transfer, trace.transfers, &TransferRecord::start);
  all(RecordKind::packet, trace.packets, &PacketRecord::start);
  all(RecordKind::collective, trace.collectives, &CollectiveRecord::start);
  all(RecordKind::cc_step, trace.cc_steps, &CcStepRecord::start);
  all(RecordKind::semaphore, trace.semaphores, &SemaphoreRecord::time);
  all(RecordKind::pending, trace.pending, &CountRecord::time);
  all(RecordKind::throughput, trace.throughput, &ThroughputRecord::time);
  all(RecordKind::sbuf, trace.sbuf, &SbufRecord::time);
  all(RecordKind::psum, trace.psum, &PsumRecord::time);
  all(RecordKind::utilization, trace.utilization, &UtilizationRecord::time);
  all(RecordKind::memory, trace.memory, &MemoryRecord::time);
  all(RecordKind::throttle, trace.throttles, &ThrottleRecord::start);
  all(RecordKind::error, trace.errors, &ErrorRecord::time);
  all(RecordKind::active, trace.active, &ActiveRecord::start);
  all(RecordKind::barrier, trace.barriers, &BarrierRecord::start);
}

void SessionEvents::write(const KernelTrace& trace, const SessionItem& item) {
  const DeviceTracks& tracks = devices_[item.device];
  switch (item.kind) {
    case RecordKind::instruction:
      return write_instruction(trace, trace.instructions[item.index], tracks);
    case RecordKind::transfer:
      return write_transfer(trace, trace.transfers[item.index], tracks);
    case RecordKind::packet:
      return write_packet(trace, trace.packets[item.index], tracks);
    case RecordKind::collective:
      return write_collective(trace, trace.collectives[item.index], tracks);
    case RecordKind::cc_step:
      return write_cc_step(trace, trace.cc_steps[item.index], tracks);
    case RecordKind::memory:
      return write_memory(trace, trace.memory[item.index], tracks);
    case RecordKind::error:
      return write_error(trace, trace.errors[item.index], tracks);
    case RecordKind::layer:
      return write_layer(trace.layers[item.index], trace.part, tracks);
    case RecordKind::barrier: {
      const BarrierRecord& record = trace.barriers[item.index];
      Row row = writer_.begin_event(tracks.barriers[static_cast<std::size_t>(record.engine)], record.start,
                                    record.duration, writer_.intern(barrier_engine(record.engine)));
      row.unsigned_integer(at<kBarrier>("id"), trace.pass * kEngineCount + static_cast<std::size_t>(record.engine));
      row.integer(at<kBarrier>("pcore_idx"), trace.part);
      return;
    }
    case RecordKind::throttle: {
      const ThrottleRecord& record = trace.throttles[item.index];
      Row row = writer_.begin_event(tracks.throttle, record.start, record.duration,
                                    writer_.intern(neuron_throttle_kind(kThrottleKind)));
      row.real(at<kThrottle>("util_limit"), static_cast<double>(record.k) / static_cast<double>(record.n));
      row.integer(at<kThrottle>("k"), record.k);
      row.integer(at<kThrottle>("n"), record.n);
      row.integer(at<kThrottle>("type"), kThrottleKind);
      return;
    }
    case RecordKind::active: {
      const ActiveRecord& record = trace.active[item.index];
      writer_.begin_event(tracks.active[static_cast<std::size_t>(record.engine)], record.start, record.duration,
                          writer_.intern(engine_key(record.engine)));
      return;
    }
    default:
      return write_counter(trace, item, tracks);
  }
}

const std::vector<SessionEvents::OperationStrings>& SessionEvents::strings_of(const KernelProgram& program) {
  for (const auto& [known, strings] : strings_) {
    if (known == &program) return strings;
  }
  std::vector<OperationStrings> all(program.operations.size());
  for (std::uint32_t index = 1; index < program.operations.size(); ++index) {
    const Operation& operation = program.operations[index];
    const OperationText& text = program.texts[index];
    OperationStrings& strings = all[index];
    strings.name = writer_.intern(program.names[operation.name]);
    strings.location = writer_.intern(program.sites[operation.site].location);
    strings.stack = writer_.intern(stack_text(program, static_cast<Site>(operation.site), text.caller));
    if (vendor_file_ && strings.stack != 0) {
      strings.frames = writer_.intern(std::to_string(frame_id(static_cast<Site>(operation.site), text.caller)));
    }
    strings.hlo = writer_.intern(text.hlo);
    if (vendor_file_ && text.layer != 0) {
      strings.attributes = writer_.intern(R"([{"op_type":"","source_file":"","source_line":"0"}])");
    }
    if (vendor_file_ && !text.hlo.empty()) {
      strings.framework = writer_.intern("[" + std::to_string(hlo_number(text.hlo) + 2) + "]");
    }
    strings.activation = writer_.intern(text.activation);
    strings.type = text.layer == 0 ? 0 : writer_.intern(text.transpose ? "TRANSPOSE" : "REGULAR");
    strings.bir_name = writer_.intern(bir_instruction_name(program, index));
    strings.penguin = writer_.intern(penguin_id(text.tile));
    strings.label = writer_.intern(unit_name(operation.unit));
    strings.engine = writer_.intern(engine_name(operation.unit));
    strings.compiler_opcode = writer_.intern(text.compiler_opcode);
    strings.source = writer_.intern(text.source);
    strings.dest = writer_.intern(text.dest);
  }
  strings_.emplace_back(&program, std::move(all));
  return strings_.back().second;
}

const SessionEvents::QueueStrings& SessionEvents::strings_of(Queue queue) {
  QueueStrings& strings = queues_[static_cast<std::size_t>(queue)];
  if (strings.name != 0) return strings;
  const QueueText& text = queue_text(queue);
  strings.name = writer_.intern(text.name);
  strings.type = writer_.intern(text.type);
  strings.semaphore = writer_.intern(semaphore_name(text.semaphore, text.name));
  for (unsigned engine = 0; engine < kDmaEngines; ++engine) {
    strings.packets[engine] = writer_.intern(packet_queue_name(queue, engine));
  }
  return strings;
}

const SessionEvents::SemaphoreStrings& SessionEvents::strings_of(const SemaphoreRecord& record) {
  const auto number = static_cast<std::size_t>(record.semaphore);
  if (number >= semaphores_.size()) semaphores_.resize(number + 1);
  SemaphoreStrings& strings = semaphores_[number];
  if (strings.name == 0) {
    strings.name = writer_.intern(semaphore_name(record.semaphore, record.owner));
    strings.owner = writer_.intern(record.owner);
  }
  return strings;
}

StringId SessionEvents::layer_of(const KernelTrace& trace, std::uint32_t operation) {
  const std::uint16_t layer = trace.program->texts[operation].layer;
  if (layer == 0) return 0;
  const std::size_t count = trace.program->layers.size();
  if (layers_.empty()) layers_.resize(kModelLayers * count);
  StringId& id = layers_[(trace.pass - 1) % kModelLayers * count + layer];
  if (id == 0) id = writer_.intern(trace.layer(operation));
  return id;
}

void SessionEvents::write_instruction(const KernelTrace& trace, const InstructionRecord& record,
                                      const DeviceTracks& tracks) {
  const Operation& operation = trace.program->operations[record.operation];
  const OperationText& text = trace.program->texts[record.operation];
  const OperationStrings& strings = strings_of(*trace.program)[record.operation];
  const Unit unit = operation.unit == Unit::scalar_table ? Unit::scalar : operation.unit;
  const StringId layer = layer_of(trace, record.operation);

  Row row =
      writer_.begin_event(tracks.engines[static_cast<std::size_t>(unit)], record.start, record.duration, strings.name);
  row.integer(at<kInstruction>("evt_wait_time"), record.wait);
  if (record.triggered_start >= 0) row.integer(at<kInstruction>("trigger"), record.triggered_start);
  row.string(at<kInstruction>("label"), strings.label);
  row.string(at<kInstruction>("subgroup"), strings.engine);
  row.text(at<kInstruction>("operands"), text.operands);
  string_unless_empty(row, at<kInstruction>("compiler_opcode"), strings.compiler_opcode);
  if (!text.compiler_operands.empty()) row.text(at<kInstruction>("compiler_operands"), text.compiler_operands);
  string_unless_empty(row, at<kInstruction>("instruction_type"), strings.type);
  string_unless_empty(row, at<kInstruction>("activation_fn"), strings.activation);
  integer_unless_zero(row, at<kInstruction>("elements"), text.elements);
  integer_unless_zero(row, at<kInstruction>("raw_flops"), 2 * text.elements);
  for (std::size_t i = 0; i < kTraffic.size(); ++i) {
    integer_unless_zero(row, kTrafficColumns[i], text.*kTraffic[i].bytes);
  }
  if (text.psum_read != 0 && text.sbuf_write != 0) {
    row.integer(at<kInstruction>("psum_read_sbuf_write_bytes"), text.sbuf_write);
    row.boolean(at<kInstruction>("is_psum_read_sbuf_write"), true);
  }
  row.unsigned_integer(at<kInstruction>("id"), trace.id(record.operation));
  row.integer(at<kInstruction>("pc"), record.operation);
  row.integer(at<kInstruction>("compiler_pc"), record.operation);
  row.text(at<kInstruction>("bir_id"), bir_id(record.operation));
  row.integer(at<kInstruction>("raw_bir_id"), record.operation);
  row.string(at<kInstruction>("bir_instruction_name"), strings.bir_name);
  row.string(at<kInstruction>("penguin_id"), strings.penguin);
  row.integer(at<kInstruction>("raw_penguin_id"), text.tile);
  integer_unless_zero(row, at<kInstruction>("raw_hlo_id"), hlo_number(text.hlo));
  row.integer(at<kInstruction>("crc_in"), data_crc(trace, record.operation, false));
  row.integer(at<kInstruction>("crc_out"), data_crc(trace, record.operation, true));
  string_unless_empty(row, at<kInstruction>("layer"), layer);
  string_unless_empty(row, at<kInstruction>("nki_source_location"), strings.location);
  string_unless_empty(row, at<kInstruction>("bir_debug_info_source_location"), strings.location);
  string_unless_empty(row, at<kInstruction>("stack_frames"), strings.stack);
  string_unless_empty(row, at<kInstruction>("stack_frame_ids"), strings.frames);
  string_unless_empty(row, at<kInstruction>("hlo_name"), strings.hlo);
  string_unless_empty(row, at<kInstruction>("hlo_attrs"), strings.attributes);
  string_unless_empty(row, at<kInstruction>("raw_framework_id"), strings.framework);
  row.string(at<kInstruction>("fully_qualified_subgraph"), graphs_[trace.part]);
  if (operation.kind != OperationKind::wait) write_flows(trace, record.operation, record.start, tracks);
}

void SessionEvents::write_flows(const KernelTrace& trace, std::uint32_t operation, std::int64_t start,
                                const DeviceTracks& tracks) {
  const std::vector<std::uint32_t>& predecessors = trace.program->texts[operation].predecessors;
  if (predecessors.empty()) return;
  const std::uint64_t id = trace.id(operation);
  for (const std::uint32_t predecessor : predecessors) {
    Row row = writer_.begin_event(tracks.flows, start, 0, flow_);
    row.unsigned_integer(at<kDependency>("in_id"), trace.id(predecessor));
    row.unsigned_integer(at<kDependency>("out_id"), id);
    row.integer(at<kDependency>("gap_time"), start - trace.ends[predecessor]);
  }
}

void SessionEvents::write_payload(Row& row, const Operation& operation, const OperationStrings& strings,
                                  std::int64_t bytes, std::int64_t duration_ns) {
  const QueueStrings& queue = strings_of(operation.queue);
  row.integer(at<kTransfer>("transfer_rate"), rate_of(bytes, duration_ns));
  row.integer(at<kTransfer>("dma_queue"), queue_text(operation.queue).ring);
  row.string(at<kTransfer>("queue_type"), queue.type);
  row.string(at<kTransfer>("op"), copy_);
  row.string(at<kTransfer>("semaphore_id"), queue.semaphore);
  row.boolean(at<kTransfer>("is_cc_dma"), false);
  row.boolean(at<kTransfer>("duplicate"), false);
  row.integer(at<kTransfer>("transfer_size"), bytes);
  row.integer(at<kTransfer>("read_size"), bytes);
  row.integer(at<kTransfer>("write_size"), bytes);
  row.string(at<kTransfer>("source"), strings.source);
  row.string(at<kTransfer>("dest"), strings.dest);
}

void SessionEvents::write_transfer(const KernelTrace& trace, const TransferRecord& record, const DeviceTracks& tracks) {
  const Operation& operation = trace.program->operations[record.operation];
  const OperationText& text = trace.program->texts[record.operation];
  const OperationStrings& strings = strings_of(*trace.program)[record.operation];
  const QueueStrings& queue_strings = strings_of(operation.queue);
  const std::uint64_t id = trace.id(record.operation);
  const auto in_sbuf = [](std::string_view place) { return place == "SB" ? kPeRows : 0; };

  Row row = writer_.begin_event(tracks.queues[static_cast<std::size_t>(operation.queue)], record.start, record.duration,
                                strings.name);
  row.integer(at<kTransfer>("dma_engine"), kDmaEngines - 1);
  row.string(at<kTransfer>("subgroup"), queue_strings.name);
  write_payload(row, operation, strings, operation.bytes, record.duration);
  row.unsigned_integer(at<kTransfer>("id"), id);
  row.integer(at<kTransfer>("block_id"), text.tile);
  row.integer(at<kTransfer>("crc"), transfer_crc(trace, record.operation));
  row.integer(at<kTransfer>("trigger"), record.trigger_start);
  const StringId shape = writer_.intern("[[128, " + std::to_string(operation.bytes / kPeRows) + "]]");
  row.string(at<kTransfer>("read_shape"), shape);
  row.string(at<kTransfer>("write_shape"), shape);
  row.text(at<kTransfer>("source_offset"), "[" + text.operands + "]");
  row.text(at<kTransfer>("dest_offset"), text.compiler_operands);
  row.integer(at<kTransfer>("source_num_sb_partitions"), in_sbuf(text.source));
  row.integer(at<kTransfer>("dest_num_sb_partitions"), in_sbuf(text.dest));
  if (vendor_file_) {
    constexpr std::string_view kAll = "0-127";
    row.string(at<kTransfer>("source_steps"), writer_.intern("[[1, 256]]"));
    row.string(at<kTransfer>("dest_steps"), writer_.intern("[1, 262144]"));
    if (text.source == "SB") row.string(at<kTransfer>("source_sb_partitions"), writer_.intern(kAll));
    if (text.dest == "SB") row.string(at<kTransfer>("dest_sb_partitions"), writer_.intern(kAll));
  }
  string_unless_empty(row, at<kTransfer>("nki_source_location"), strings.location);
  write_flows(trace, record.operation, record.start, tracks);
}

void SessionEvents::write_packet(const KernelTrace& trace, const PacketRecord& record, const DeviceTracks& tracks) {
  const Operation& operation = trace.program->operations[record.operation];
  const OperationStrings& strings = strings_of(*trace.program)[record.operation];
  const auto queue_index = static_cast<std::size_t>(operation.queue);
  const QueueStrings& queue_strings = strings_of(operation.queue);
  const std::uint64_t id = trace.id(record.operation, 1 + 2 * record.engine + (record.semaphore ? 1 : 0));

  Row row =
      writer_.begin_event(tracks.packets[queue_index][record.engine], record.start, record.duration, strings.name);
  row.integer(at<kTransfer>("dma_engine"), record.engine);
  row.string(at<kTransfer>("subgroup"), queue_strings.packets[record.engine]);
  write_payload(row, operation, strings, record.bytes, record.duration);
  row.unsigned_integer(at<kTransfer>("id"), id);
  row.integer(at<kTransfer>("packet_idx"), record.semaphore ? 1 : 0);
  row.unsigned_integer(at<kTransfer>("packet_aggregation_id"), trace.id(record.operation));
  row.integer(at<kTransfer>("block_id"), trace.program->texts[record.operation].tile);
  row.integer(at<kTransfer>("crc"), transfer_crc(trace, record.operation, 1 + record.engine));
}

void SessionEvents::write_collective(const KernelTrace& trace, const CollectiveRecord& record,
                                     const DeviceTracks& tracks) {
  const Operation& operation = trace.program->operations[record.operation];
  const OperationStrings& strings = strings_of(*trace.program)[record.operation];
  const StringId layer = layer_of(trace, record.operation);
  const double rate = static_cast<double>(rate_of(operation.bytes, record.duration));
  Row row = writer_.begin_event(tracks.collectives, record.start, record.duration, strings.name);
  row.integer(at<kCollective>("cc_trigger"), record.trigger_start);
  row.integer(at<kCollective>("cc_trigger_start_delay"), record.start - record.trigger_start);
  row.real(at<kCollective>("algorithm_bandwidth"), rate);
  const std::size_t ranks = ranks_ == 1 ? kModelledRanks : ranks_;
  row.real(at<kCollective>("bus_bandwidth"), rate * bus_factor("AllReduce", ranks));
  row.string(at<kCollective>("algorithm"), writer_.intern("Ring"));
  row.string(at<kCollective>("dtype"), writer_.intern("bfloat16"));
  row.integer(at<kCollective>("num_elements"), operation.bytes / 2);
  row.string(at<kCollective>("replica_group"), replica_group_);
  row.string(at<kCollective>("trigger_engine"), writer_.intern("Scalar"));
  row.integer(at<kCollective>("input_size"), operation.bytes);
  row.integer(at<kCollective>("output_size"), operation.bytes);
  row.unsigned_integer(at<kCollective>("op_id"), trace.id(record.operation));
  row.integer(at<kCollective>("stream_id"), 0);
  string_unless_empty(row, at<kCollective>("layer"), layer);
  string_unless_empty(row, at<kCollective>("nki_source_location"), strings.location);
  write_flows(trace, record.operation, record.start, tracks);
}

void SessionEvents::write_cc_step(const KernelTrace& trace, const CcStepRecord& record, const DeviceTracks& tracks) {
  Row row = writer_.begin_event(tracks.cc_cores.at(record.core), record.start, record.duration,
                                writer_.intern(record.description));
  row.integer(at<kStep>("core_idx"), record.core);
  row.string(at<kStep>("trigger_engine"), writer_.intern("Scalar"));
  row.integer(at<kStep>("trigger_start_ts"), record.trigger_start);
  row.unsigned_integer(at<kStep>("op_id"), trace.id(record.operation));
}

void SessionEvents::write_counter(const KernelTrace& trace, const SessionItem& item, const DeviceTracks& tracks) {
  // Counters have their value in column 0; the further columns follow in the order of the schema.
  if (item.kind == RecordKind::semaphore) {
    const SemaphoreRecord& record = trace.semaphores[item.index];
    const SemaphoreStrings& strings = strings_of(record);
    Row row = writer_.begin_event(tracks.semaphores.at(record.semaphore), record.time, 0, strings.name);
    row.integer(0, record.value);
    row.string(at<kSemaphore>("update_source"), strings.owner);
  } else if (item.kind == RecordKind::pending) {
    writer_.sample(tracks.pending, trace.pending[item.index].time, trace.pending[item.index].value);
  } else if (item.kind == RecordKind::throughput) {
    const ThroughputRecord& record = trace.throughput[item.index];
    Row all = writer_.begin_event(tracks.throughput, record.time, 0, 0);
    all.real(0, static_cast<double>(record.rate));
    all.integer(1, record.total);
    all.real(2, static_cast<double>(record.hbm_rate));
    all.integer(3, record.hbm_total);
    all.boolean(4, record.hbm_rate > 0);
    Row hbm = writer_.begin_event(tracks.hbm, record.time, 0, 0);
    hbm.real(0, static_cast<double>(record.hbm_rate));
    hbm.integer(1, record.hbm_total);
  } else if (item.kind == RecordKind::sbuf) {
    Row row = writer_.begin_event(tracks.sbuf, trace.sbuf[item.index].time, 0, 0);
    for (std::size_t place = 0; place <= 4; ++place) row.real(place, trace.sbuf[item.index].usage(core_.sbuf_bytes));
  } else if (item.kind == RecordKind::psum) {
    const PsumRecord& record = trace.psum[item.index];
    Row row = writer_.begin_event(tracks.psum, record.time, 0, 0);
    row.real(0, record.average());
    for (std::size_t bank = 0; bank < record.bytes.size(); ++bank) row.real(1 + bank, record.bank(bank));
  } else {
    writer_.sample(tracks.utilization, trace.utilization[item.index].time, trace.utilization[item.index].value);
  }
}

void SessionEvents::write_memory(const KernelTrace& trace, const MemoryRecord& record, const DeviceTracks& tracks) {
  const StringId tensor = writer_.intern(trace.program->names[record.tensor]);
  Row row = writer_.begin_event(tracks.memory[static_cast<std::size_t>(record.pool)], record.time, 0, tensor);
  row.integer(at<kMemoryEvent>("allocation_bytes"), record.bytes);
  row.unsigned_integer(at<kMemoryEvent>("address"), record.address);
  row.string(at<kMemoryEvent>("tensor"), tensor);
  row.string(at<kMemoryEvent>("pool"), writer_.intern(record.pool == Pool::sbuf ? "SBUF" : "HBM scratchpad"));
  row.string(at<kMemoryEvent>("nki_source_location"), writer_.intern(trace.program->sites[record.site].location));
}

void SessionEvents::write_error(const KernelTrace& trace, const ErrorRecord& record, const DeviceTracks& tracks) {
  Row row = writer_.begin_event(tracks.errors, record.time, 0, writer_.intern(record.description));
  row.string(at<kError>("type"), writer_.intern(record.type));
  row.integer(at<kError>("error_type_id"), record.error_type_id);
  row.text(at<kError>("metadata"), record.metadata);
  row.string(at<kError>("metadata_hex"), writer_.intern(record.metadata_hex));
  row.string(at<kError>("nki_source_location"), writer_.intern(trace.program->sites[record.site].location));
}

void SessionEvents::write_layer(const LayerRecord& record, std::size_t part, const DeviceTracks& tracks) {
  static const Schema schema = sources::neuron::neuron_schema(NeuronTable::layer_summary);
  const auto column = [&](std::string_view name) { return schema.find(name).value(); };
  Row row = writer_.begin_event_at(tracks.layers, record.depth, record.start, record.end - record.start,
                                   writer_.intern(record.name));
  row.string(column("fully_qualified_subgraph"), graphs_[part]);
  const auto duration = static_cast<double>(record.end - record.start);
  const auto share = [](std::int64_t some, double all) { return all > 0 ? static_cast<double>(some) / all : 0; };
  for (std::size_t index = 0; index < kEngineCount; ++index) {
    const EngineUse& use = record.engines[index];
    const std::string prefix = std::string(engine_key(static_cast<Engine>(index))) + "_engine_";
    row.integer(column(prefix + "instruction_count"), use.instructions);
    row.integer(column(prefix + "instruction_time"), use.instruction_ns);
    row.integer(column(prefix + "active_time"), use.active_ns);
    row.real(column(prefix + "active_percent"), share(use.active_ns, duration));
  }
  // The peak of the array in flop per ns is 2 * rows * columns * GHz.
  const double possible = 2.0 * static_cast<double>(kPeRows * kPeColumns) * core_.pe_clock_ghz * duration;
  row.integer(column("tensor_engine_flop_count"), record.flops);
  row.integer(column("tensor_engine_model_flop_count"), record.model_flops);
  row.real(column("tensor_engine_mfu"), share(record.model_flops, possible));
  row.real(column("tensor_engine_hfu"), share(record.flops, possible));
}

}  // namespace accelscope::capture::sim
