#include "capture/sim/output/session_events.h"

#include "capture/sim/kernel/profile_text.h"

namespace accelscope::capture::sim {

using sources::neuron::neuron_column;
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

struct InstructionColumns {
  static std::size_t at(std::string_view column) { return neuron_column(NeuronTable::instruction, column); }
  std::size_t evt_wait_time = at("evt_wait_time"), trigger = at("trigger"), label = at("label"),
              subgroup = at("subgroup"), operands = at("operands"), compiler_opcode = at("compiler_opcode"),
              compiler_operands = at("compiler_operands"), instruction_type = at("instruction_type"),
              activation_fn = at("activation_fn"), elements = at("elements"), raw_flops = at("raw_flops"),
              hbm_read = at("hbm_read_bytes"), hbm_write = at("hbm_write_bytes"), sbuf_read = at("sbuf_read_bytes"),
              sbuf_write = at("sbuf_write_bytes"), psum_read = at("psum_read_bytes"),
              psum_write = at("psum_write_bytes"), drain_bytes = at("psum_read_sbuf_write_bytes"),
              drains = at("is_psum_read_sbuf_write"), spill_save = at("spill_save_bytes"),
              spill_reload = at("spill_reload_bytes"), weight_bytes = at("weight_queue_bytes"),
              input_bytes = at("input_queue_bytes"), output_bytes = at("output_queue_bytes"), id = at("id"),
              pc = at("pc"), compiler_pc = at("compiler_pc"), bir_id = at("bir_id"), raw_bir_id = at("raw_bir_id"),
              bir_name = at("bir_instruction_name"), penguin_id = at("penguin_id"),
              raw_penguin_id = at("raw_penguin_id"), raw_hlo_id = at("raw_hlo_id"), crc_in = at("crc_in"),
              crc_out = at("crc_out"), layer = at("layer"), location = at("nki_source_location"),
              bir_location = at("bir_debug_info_source_location"), stack = at("stack_frames"),
              hlo_name = at("hlo_name"), hlo_attributes = at("hlo_attrs"), framework = at("raw_framework_id"),
              subgraph = at("fully_qualified_subgraph");
};

// Packets and transfers have these at the same places.
struct DmaColumns {
  static std::size_t at(std::string_view column) { return neuron_column(NeuronTable::dma_transfer, column); }
  std::size_t rate = at("transfer_rate"), queue = at("dma_queue"), engine = at("dma_engine"), subgroup = at("subgroup"),
              type = at("queue_type"), op = at("op"), semaphore = at("semaphore_id"), is_cc = at("is_cc_dma"),
              duplicate = at("duplicate"), size = at("transfer_size"), read = at("read_size"), write = at("write_size"),
              source = at("source"), dest = at("dest"), id = at("id"), packet_idx = at("packet_idx"),
              transfer_id = at("packet_aggregation_id"), block = at("block_id"), crc = at("crc"),
              trigger = at("trigger"), read_shape = at("read_shape"), write_shape = at("write_shape"),
              dest_offset = at("dest_offset"), source_offset = at("source_offset"),
              location = at("nki_source_location"), read_partitions = at("source_num_sb_partitions"),
              write_partitions = at("dest_num_sb_partitions"), read_steps = at("source_steps"),
              write_steps = at("dest_steps"), read_partition_names = at("source_sb_partitions"),
              write_partition_names = at("dest_sb_partitions");
};

struct CollectiveColumns {
  static std::size_t at(std::string_view column) { return neuron_column(NeuronTable::cc_op, column); }
  std::size_t trigger = at("cc_trigger"), delay = at("cc_trigger_start_delay"),
              algorithm_rate = at("algorithm_bandwidth"), bus_rate = at("bus_bandwidth"), algorithm = at("algorithm"),
              dtype = at("dtype"), elements = at("num_elements"), ranks = at("replica_group"),
              engine = at("trigger_engine"), input = at("input_size"), output = at("output_size"), id = at("op_id"),
              stream = at("stream_id"), layer = at("layer"), location = at("nki_source_location");
};

struct LayerColumns {
  struct OfEngine {
    std::size_t count = 0, time = 0, active = 0, share = 0;
  };
  static std::size_t at(const std::string& column) { return neuron_column(NeuronTable::layer_summary, column); }
  LayerColumns() {
    for (std::size_t index = 0; index < kEngineCount; ++index) {
      const std::string prefix = std::string(engine_key(static_cast<Engine>(index))) + "_engine_";
      engines[index] = {at(prefix + "instruction_count"), at(prefix + "instruction_time"), at(prefix + "active_time"),
                        at(prefix + "active_percent")};
    }
  }
  std::array<OfEngine, kEngineCount> engines = {};
  std::size_t subgraph = at("fully_qualified_subgraph"), flops = at("tensor_engine_flop_count"),
              model_flops = at("tensor_engine_model_flop_count"), mfu = at("tensor_engine_mfu"),
              hfu = at("tensor_engine_hfu");
};

template <typename Columns>
const Columns& columns() {
  static const Columns kColumns;
  return kColumns;
}

}  // namespace

SessionEvents::SessionEvents(SessionWriter& writer, const SimulationOptions& options)
    : writer_(writer),
      tracks_(writer),
      vendor_file_(options.vendor_file),
      copy_(writer.intern("copy")),
      subgraph_(writer.intern("/sg00")),
      flow_(writer.intern("FLOW_DEPENDENCE")) {
  writer_.add_source_file(std::string(kDemoFile), std::string(demo_source()));
  writer_.set_meta("source", "simulated accelerator");
  if (!vendor_file_) {  // which has no such table
    writer_.set_meta("simulation.seed", std::to_string(options.seed));
    writer_.set_meta("simulation.weights", options.resident_weights ? "resident" : "streamed");
  }
  writer_.set_meta("instance_type", "simulated");
  writer_.set_meta("capacity.SBUF", std::to_string(kSbufBytes));
  writer_.set_meta("capacity.PSUM", std::to_string(kPsumBanks * kPsumBankBytes));
  writer_.set_meta("pe_clock_freq", "2.8");
  writer_.set_meta("hbm_ddr_bandwidth", std::to_string(static_cast<std::int64_t>(kHbmBytesPerSecond)));
  for (std::uint32_t device = 0; device < options.devices; ++device) devices_.push_back(tracks_.define_device(device));
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
      return write_layer(trace.layers[item.index], tracks);
    case RecordKind::throttle: {
      const ThrottleRecord& record = trace.throttles[item.index];
      Row row =
          writer_.begin_event(tracks.throttle, record.start, record.duration, writer_.intern(neuron_throttle_kind(0)));
      row.real(neuron_column(NeuronTable::throttle, "util_limit"),
               static_cast<double>(kThrottleK) / static_cast<double>(kThrottleN));
      row.integer(neuron_column(NeuronTable::throttle, "k"), kThrottleK);
      row.integer(neuron_column(NeuronTable::throttle, "n"), kThrottleN);
      row.integer(neuron_column(NeuronTable::throttle, "type"), 0);
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
  const auto& column = columns<InstructionColumns>();
  const Operation& operation = trace.program->operations[record.operation];
  const OperationText& text = trace.program->texts[record.operation];
  const OperationStrings& strings = strings_of(*trace.program)[record.operation];
  const Unit unit = operation.unit == Unit::scalar_table ? Unit::scalar : operation.unit;
  const StringId layer = layer_of(trace, record.operation);

  Row row =
      writer_.begin_event(tracks.engines[static_cast<std::size_t>(unit)], record.start, record.duration, strings.name);
  row.integer(column.evt_wait_time, record.wait);
  if (record.triggered_start >= 0) row.integer(column.trigger, record.triggered_start);
  row.string(column.label, strings.label);
  row.string(column.subgroup, strings.engine);
  row.text(column.operands, text.operands);
  string_unless_empty(row, column.compiler_opcode, strings.compiler_opcode);
  if (!text.compiler_operands.empty()) row.text(column.compiler_operands, text.compiler_operands);
  string_unless_empty(row, column.instruction_type, strings.type);
  string_unless_empty(row, column.activation_fn, strings.activation);
  integer_unless_zero(row, column.elements, text.elements);
  integer_unless_zero(row, column.raw_flops, 2 * text.elements);
  integer_unless_zero(row, column.hbm_read, text.hbm_read);
  integer_unless_zero(row, column.hbm_write, text.hbm_write);
  integer_unless_zero(row, column.sbuf_read, text.sbuf_read);
  integer_unless_zero(row, column.sbuf_write, text.sbuf_write);
  integer_unless_zero(row, column.psum_read, text.psum_read);
  integer_unless_zero(row, column.psum_write, text.psum_write);
  if (text.psum_read != 0 && text.sbuf_write != 0) {
    row.integer(column.drain_bytes, text.sbuf_write);
    row.boolean(column.drains, true);
  }
  integer_unless_zero(row, column.spill_save, text.spill_save);
  integer_unless_zero(row, column.spill_reload, text.spill_reload);
  integer_unless_zero(row, column.weight_bytes, text.weight_bytes);
  integer_unless_zero(row, column.input_bytes, text.input_bytes);
  integer_unless_zero(row, column.output_bytes, text.output_bytes);
  row.unsigned_integer(column.id, trace.id(record.operation));
  row.integer(column.pc, record.operation);
  row.integer(column.compiler_pc, record.operation);
  row.text(column.bir_id, bir_id(record.operation));
  row.integer(column.raw_bir_id, record.operation);
  row.string(column.bir_name, strings.bir_name);
  row.string(column.penguin_id, strings.penguin);
  row.integer(column.raw_penguin_id, text.tile);
  integer_unless_zero(row, column.raw_hlo_id, hlo_number(text.hlo));
  row.integer(column.crc_in, data_crc(trace, record.operation, false));
  row.integer(column.crc_out, data_crc(trace, record.operation, true));
  string_unless_empty(row, column.layer, layer);
  string_unless_empty(row, column.location, strings.location);
  string_unless_empty(row, column.bir_location, strings.location);
  string_unless_empty(row, column.stack, strings.stack);
  string_unless_empty(row, column.hlo_name, strings.hlo);
  string_unless_empty(row, column.hlo_attributes, strings.attributes);
  string_unless_empty(row, column.framework, strings.framework);
  row.string(column.subgraph, subgraph_);
  if (operation.kind != OperationKind::wait) write_flows(trace, record.operation, record.start, tracks);
}

void SessionEvents::write_flows(const KernelTrace& trace, std::uint32_t operation, std::int64_t start,
                                const DeviceTracks& tracks) {
  static const std::size_t from = neuron_column(NeuronTable::flow, "in_id");
  static const std::size_t to = neuron_column(NeuronTable::flow, "out_id");
  static const std::size_t gap = neuron_column(NeuronTable::flow, "gap_time");
  const std::vector<std::uint32_t>& predecessors = trace.program->texts[operation].predecessors;
  if (predecessors.empty()) return;
  const std::uint64_t id = trace.id(operation);
  for (const std::uint32_t predecessor : predecessors) {
    Row row = writer_.begin_event(tracks.flows, start, 0, flow_);
    row.unsigned_integer(from, trace.id(predecessor));
    row.unsigned_integer(to, id);
    row.integer(gap, start - trace.ends[predecessor]);
  }
}

void SessionEvents::write_transfer(const KernelTrace& trace, const TransferRecord& record, const DeviceTracks& tracks) {
  const auto& column = columns<DmaColumns>();
  const Operation& operation = trace.program->operations[record.operation];
  const OperationText& text = trace.program->texts[record.operation];
  const OperationStrings& strings = strings_of(*trace.program)[record.operation];
  const QueueText& queue = queue_text(operation.queue);
  const QueueStrings& queue_strings = strings_of(operation.queue);
  const std::uint64_t id = trace.id(record.operation);
  const auto in_sbuf = [](std::string_view place) { return place == "SB" ? kPeRows : 0; };

  Row row = writer_.begin_event(tracks.queues[static_cast<std::size_t>(operation.queue)], record.start, record.duration,
                                strings.name);
  row.integer(column.rate, rate_of(operation.bytes, record.duration));
  row.integer(column.queue, queue.ring);
  row.integer(column.engine, kDmaEngines - 1);
  row.string(column.subgroup, queue_strings.name);
  row.string(column.type, queue_strings.type);
  row.string(column.op, copy_);
  row.string(column.semaphore, queue_strings.semaphore);
  row.boolean(column.is_cc, false);
  row.boolean(column.duplicate, false);
  row.integer(column.size, operation.bytes);
  row.integer(column.read, operation.bytes);
  row.integer(column.write, operation.bytes);
  row.string(column.source, strings.source);
  row.string(column.dest, strings.dest);
  row.unsigned_integer(column.id, id);
  row.integer(column.block, text.tile);
  row.integer(column.crc, static_cast<std::int64_t>(id & 0xffff));
  row.integer(column.trigger, record.trigger_start);
  const StringId shape = writer_.intern("[[128, " + std::to_string(operation.bytes / kPeRows) + "]]");
  row.string(column.read_shape, shape);
  row.string(column.write_shape, shape);
  row.text(column.source_offset, "[" + text.operands + "]");
  row.text(column.dest_offset, text.compiler_operands);
  row.integer(column.read_partitions, in_sbuf(text.source));
  row.integer(column.write_partitions, in_sbuf(text.dest));
  if (vendor_file_) {
    constexpr std::string_view kAll = "0-127";
    row.string(column.read_steps, writer_.intern("[[1, 256]]"));
    row.string(column.write_steps, writer_.intern("[1, 262144]"));
    if (text.source == "SB") row.string(column.read_partition_names, writer_.intern(kAll));
    if (text.dest == "SB") row.string(column.write_partition_names, writer_.intern(kAll));
  }
  string_unless_empty(row, column.location, strings.location);
  write_flows(trace, record.operation, record.start, tracks);
}

void SessionEvents::write_packet(const KernelTrace& trace, const PacketRecord& record, const DeviceTracks& tracks) {
  const auto& column = columns<DmaColumns>();
  const Operation& operation = trace.program->operations[record.operation];
  const OperationStrings& strings = strings_of(*trace.program)[record.operation];
  const auto queue_index = static_cast<std::size_t>(operation.queue);
  const QueueText& queue = queue_text(operation.queue);
  const QueueStrings& queue_strings = strings_of(operation.queue);
  const std::uint64_t id = trace.id(record.operation, 1 + 2 * record.engine + (record.semaphore ? 1 : 0));

  Row row =
      writer_.begin_event(tracks.packets[queue_index][record.engine], record.start, record.duration, strings.name);
  row.integer(column.rate, rate_of(record.bytes, record.duration));
  row.integer(column.queue, queue.ring);
  row.integer(column.engine, record.engine);
  row.string(column.subgroup, queue_strings.packets[record.engine]);
  row.string(column.type, queue_strings.type);
  row.string(column.op, copy_);
  row.string(column.semaphore, queue_strings.semaphore);
  row.boolean(column.is_cc, false);
  row.boolean(column.duplicate, false);
  row.integer(column.size, record.bytes);
  row.integer(column.read, record.bytes);
  row.integer(column.write, record.bytes);
  row.string(column.source, strings.source);
  row.string(column.dest, strings.dest);
  row.unsigned_integer(column.id, id);
  row.integer(column.packet_idx, record.semaphore ? 1 : 0);
  row.unsigned_integer(column.transfer_id, trace.id(record.operation));
  row.integer(column.block, trace.program->texts[record.operation].tile);
  row.integer(column.crc, static_cast<std::int64_t>(id & 0xffff));
}

void SessionEvents::write_collective(const KernelTrace& trace, const CollectiveRecord& record,
                                     const DeviceTracks& tracks) {
  const auto& column = columns<CollectiveColumns>();
  const Operation& operation = trace.program->operations[record.operation];
  const OperationStrings& strings = strings_of(*trace.program)[record.operation];
  const StringId layer = layer_of(trace, record.operation);
  const double rate = static_cast<double>(rate_of(operation.bytes, record.duration));
  Row row = writer_.begin_event(tracks.collectives, record.start, record.duration, strings.name);
  row.integer(column.trigger, record.trigger_start);
  row.integer(column.delay, record.start - record.trigger_start);
  row.real(column.algorithm_rate, rate);
  row.real(column.bus_rate, rate * 2 * (kModelledRanks - 1) / kModelledRanks);
  row.string(column.algorithm, writer_.intern("Ring"));
  row.string(column.dtype, writer_.intern("bfloat16"));
  row.integer(column.elements, operation.bytes / 2);
  row.string(column.ranks, writer_.intern(kReplicaGroup));
  row.string(column.engine, writer_.intern("Scalar"));
  row.integer(column.input, operation.bytes);
  row.integer(column.output, operation.bytes);
  row.unsigned_integer(column.id, trace.id(record.operation));
  row.integer(column.stream, 0);
  string_unless_empty(row, column.layer, layer);
  string_unless_empty(row, column.location, strings.location);
  write_flows(trace, record.operation, record.start, tracks);
}

void SessionEvents::write_cc_step(const KernelTrace& trace, const CcStepRecord& record, const DeviceTracks& tracks) {
  static const std::size_t core = neuron_column(NeuronTable::cc_instruction, "core_idx");
  static const std::size_t engine = neuron_column(NeuronTable::cc_instruction, "trigger_engine");
  static const std::size_t trigger = neuron_column(NeuronTable::cc_instruction, "trigger_start_ts");
  static const std::size_t id = neuron_column(NeuronTable::cc_instruction, "op_id");
  Row row = writer_.begin_event(tracks.cc_cores.at(record.core), record.start, record.duration,
                                writer_.intern(record.description));
  row.integer(core, record.core);
  row.string(engine, writer_.intern("Scalar"));
  row.integer(trigger, record.trigger_start);
  row.unsigned_integer(id, trace.id(record.operation));
}

void SessionEvents::write_counter(const KernelTrace& trace, const SessionItem& item, const DeviceTracks& tracks) {
  // Counters have their value in column 0; the further columns follow in the order of the schema.
  if (item.kind == RecordKind::semaphore) {
    static const std::size_t source = neuron_column(NeuronTable::semaphore_update, "update_source");
    const SemaphoreRecord& record = trace.semaphores[item.index];
    const SemaphoreStrings& strings = strings_of(record);
    Row row = writer_.begin_event(tracks.semaphores.at(record.semaphore), record.time, 0, strings.name);
    row.integer(0, record.value);
    row.string(source, strings.owner);
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
    for (std::size_t place = 0; place <= 4; ++place) row.real(place, trace.sbuf[item.index].usage());
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
  static const std::size_t bytes = neuron_column(NeuronTable::memory, "allocation_bytes");
  static const std::size_t address = neuron_column(NeuronTable::memory, "address");
  static const std::size_t name = neuron_column(NeuronTable::memory, "tensor");
  static const std::size_t pool = neuron_column(NeuronTable::memory, "pool");
  static const std::size_t location = neuron_column(NeuronTable::memory, "nki_source_location");
  row.integer(bytes, record.bytes);
  row.unsigned_integer(address, record.address);
  row.string(name, tensor);
  row.string(pool, writer_.intern(record.pool == Pool::sbuf ? "SBUF" : "HBM scratchpad"));
  row.string(location, writer_.intern(trace.program->sites[record.site].location));
}

void SessionEvents::write_error(const KernelTrace& trace, const ErrorRecord& record, const DeviceTracks& tracks) {
  const auto at = [](std::string_view column) { return neuron_column(NeuronTable::error, column); };
  Row row = writer_.begin_event(tracks.errors, record.time, 0, writer_.intern(record.description));
  row.string(at("type"), writer_.intern(record.type));
  row.integer(at("error_type_id"), record.error_type_id);
  row.text(at("metadata"), record.metadata);
  row.string(at("metadata_hex"), writer_.intern(record.metadata_hex));
  row.string(at("nki_source_location"), writer_.intern(trace.program->sites[record.site].location));
}

void SessionEvents::write_layer(const LayerRecord& record, const DeviceTracks& tracks) {
  const auto& column = columns<LayerColumns>();
  Row row = writer_.begin_event_at(tracks.layers, record.depth, record.start, record.end - record.start,
                                   writer_.intern(record.name));
  row.string(column.subgraph, subgraph_);
  const auto duration = static_cast<double>(record.end - record.start);
  for (std::size_t index = 0; index < kEngineCount; ++index) {
    const EngineUse& use = record.engines[index];
    const LayerColumns::OfEngine& engine = column.engines[index];
    row.integer(engine.count, use.instructions);
    row.integer(engine.time, use.instruction_ns);
    row.integer(engine.active, use.active_ns);
    row.real(engine.share, duration > 0 ? static_cast<double>(use.active_ns) / duration : 0);
  }
  // The peak of the array in flop per ns is 2 * rows * columns * GHz.
  const double possible = 2.0 * static_cast<double>(kPeRows * kPeColumns) * kPeClockGhz * duration;
  row.integer(column.flops, record.flops);
  row.integer(column.model_flops, record.model_flops);
  row.real(column.mfu, possible > 0 ? static_cast<double>(record.model_flops) / possible : 0);
  row.real(column.hfu, possible > 0 ? static_cast<double>(record.flops) / possible : 0);
}

}  // namespace accelscope::capture::sim
