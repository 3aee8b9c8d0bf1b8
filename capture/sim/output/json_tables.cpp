#include "capture/sim/output/json_tables.h"

#include <algorithm>
#include <cassert>

#include "capture/sim/kernel/profile_text.h"
#include "core/base/format.h"

namespace accelscope::capture::sim {
namespace {

std::string field(std::string_view key, std::string_view value) {
  return "\"" + std::string(key) + "\":" + json_quote(value);
}
std::string field(std::string_view key, std::int64_t value) {
  return "\"" + std::string(key) + "\":" + std::to_string(value);
}

// Fields that every instruction of the operation has, whatever its times.
std::vector<std::string> instruction_fields(const KernelProgram& program, std::uint32_t index) {
  const Operation& operation = program.operations[index];
  const OperationText& text = program.texts[index];
  const std::string& location = program.sites[operation.site].location;
  const bool work = text.layer != 0;
  std::vector<std::string> fields = {
      field("opcode", program.names[operation.name]),
      field("operands", text.operands),
      field("label", unit_name(operation.unit)),
      field("subgroup", engine_name(operation.unit)),
      field("pc", std::int64_t{index}),
      field("compiler_pc", std::int64_t{index}),
      field("bir_id", bir_id(index)),
      field("raw_bir_id", std::int64_t{index}),
      field("bir_instruction_name", bir_instruction_name(program, index)),
      field("penguin_id", penguin_id(text.tile)),
      field("raw_penguin_id", std::int64_t{text.tile}),
      field("instruction_type", work ? (text.transpose ? "TRANSPOSE" : "REGULAR") : ""),
      field("activation_fn", text.activation),
      field("hlo_name", text.hlo),
      field("hlo_attrs", work ? "[{\"op_type\":\"\",\"source_file\":\"\",\"source_line\":\"0\"}]" : ""),
      field("fully_qualified_subgraph", "/sg00"),
  };
  if (!text.hlo.empty()) {
    fields.push_back(field("raw_hlo_id", hlo_number(text.hlo)));
    fields.push_back("\"raw_framework_id\":[" + std::to_string(hlo_number(text.hlo) + 2) + "]");
  }
  if (!location.empty()) {
    fields.push_back(field("nki_source_location", location));
    fields.push_back(field("bir_debug_info_source_location", location));
    fields.push_back(
        field("stack_frame_ids", std::to_string(frame_id(static_cast<Site>(operation.site), text.caller))));
  }
  if (!text.compiler_opcode.empty()) fields.push_back(field("compiler_opcode", text.compiler_opcode));
  if (!text.compiler_operands.empty()) fields.push_back(field("compiler_operands", text.compiler_operands));
  const std::pair<std::string_view, std::int64_t> numbers[] = {{"elements", text.elements},
                                                               {"hbm_read_bytes", text.hbm_read},
                                                               {"hbm_write_bytes", text.hbm_write},
                                                               {"sbuf_read_bytes", text.sbuf_read},
                                                               {"sbuf_write_bytes", text.sbuf_write},
                                                               {"psum_read_bytes", text.psum_read},
                                                               {"psum_write_bytes", text.psum_write},
                                                               {"spill_save_bytes", text.spill_save},
                                                               {"spill_reload_bytes", text.spill_reload},
                                                               {"weight_queue_bytes", text.weight_bytes},
                                                               {"input_queue_bytes", text.input_bytes},
                                                               {"output_queue_bytes", text.output_bytes}};
  for (const auto& [key, value] : numbers) {
    if (value != 0) fields.push_back(field(key, value));
  }
  if (text.psum_read != 0 && text.sbuf_write != 0) {
    fields.push_back(field("psum_read_sbuf_write_bytes", text.sbuf_write));
    fields.emplace_back("\"is_psum_read_sbuf_write\":true");
  }
  return fields;
}

// Fields that the packets of a transfer and the transfer itself have.
std::vector<std::string> dma_fields(const KernelProgram& program, std::uint32_t index) {
  const Operation& operation = program.operations[index];
  const OperationText& text = program.texts[index];
  const QueueText& queue = queue_text(operation.queue);
  return {field("variable", program.names[operation.name]),
          field("dma_queue", std::to_string(queue.ring)),
          field("queue_type", queue.type),
          field("op", "copy"),
          field("semaphore_id", semaphore_name(queue.semaphore, queue.name)),
          field("is_cc_dma", "no"),
          field("duplicate", "no"),
          "\"source\":[[" + json_quote(text.source) + "]]",
          "\"dest\":[" + json_quote(text.dest) + "]",
          field("block_id", std::int64_t{text.tile})};
}

}  // namespace

const std::vector<JsonEventTable::Entry>& JsonEventTable::entries() {
  static const std::vector<Entry> kEntries = {
      {"instruction", &JsonEventTable::write_instructions},
      {"dma", &JsonEventTable::write_dma},
      {"semaphore_update", &JsonEventTable::write_semaphores},
      {"pending_dma", &JsonEventTable::write_pending},
      {"dma_throughput", &JsonEventTable::write_throughput},
      {"instruction_usage", &JsonEventTable::write_usage},
      {"ham", &JsonEventTable::write_throttles},
      {"active_time", &JsonEventTable::write_active},
      {"layer_summary", &JsonEventTable::write_layers},
      {"cc_ops", &JsonEventTable::write_collectives},
      {"cc_instruction", &JsonEventTable::write_cc_steps},
      {"error", &JsonEventTable::write_errors},
  };
  return kEntries;
}

std::vector<std::string_view> json_event_tables() {
  std::vector<std::string_view> names;
  for (const JsonEventTable::Entry& entry : JsonEventTable::entries()) names.push_back(entry.name);
  return names;
}

JsonEventTable::JsonEventTable(std::string_view table, JsonRows& rows) : rows_(rows) {
  for (const Entry& entry : entries()) {
    if (entry.name == table) write_ = entry.write;
  }
  assert(write_ != nullptr);
}

void JsonEventTable::write(const KernelTrace& trace) {
  if (program_ != trace.program) {
    program_ = trace.program;
    fields_.clear();
    fields_.resize(program_->operations.size());
  }
  (this->*write_)(trace);
}

const std::vector<std::string>& JsonEventTable::fields_of(const KernelTrace& trace, std::uint32_t operation, bool dma) {
  std::vector<std::string>& fields = fields_[operation];
  if (fields.empty())
    fields = dma ? dma_fields(*trace.program, operation) : instruction_fields(*trace.program, operation);
  return fields;
}

void JsonEventTable::write_instructions(const KernelTrace& trace) {
  std::string predecessors;
  for (const InstructionRecord& record : trace.instructions) {
    const OperationText& text = trace.program->texts[record.operation];
    rows_.begin_row();
    rows_.integer("timestamp", record.start);
    rows_.integer("duration", record.duration);
    rows_.unsigned_integer("id", trace.id(record.operation));
    rows_.integer("evt_wait_time", record.wait);
    rows_.integer("crc_in", data_crc(trace, record.operation, false));
    rows_.integer("crc_out", data_crc(trace, record.operation, true));
    // Where there is no layer the key is empty, or missing.
    const std::string layer = trace.layer(record.operation);
    if (!layer.empty() || (record.operation & 1) != 0) rows_.text("layer", layer);
    if (record.triggered_start >= 0) rows_.integer("trigger", record.triggered_start);
    for (const std::string& each : fields_of(trace, record.operation, false)) rows_.fragment(each);
    if (!text.predecessors.empty() && trace.program->operations[record.operation].kind != OperationKind::wait) {
      predecessors = "[";
      for (const std::uint32_t predecessor : text.predecessors) {
        if (predecessors.size() > 1) predecessors += ',';
        predecessors += "{\"id\":" + std::to_string(trace.id(predecessor)) + ",\"type\":\"FLOW_DEPENDENCE\"}";
      }
      predecessors += ']';
      rows_.raw("predecessors", predecessors);
    }
    rows_.end_row();
  }
}

void JsonEventTable::write_dma(const KernelTrace& trace) {
  const auto common = [&](std::uint32_t operation, std::uint64_t id, std::int64_t start, std::int64_t duration,
                          std::int64_t bytes) {
    rows_.begin_row();
    rows_.integer("timestamp", start);
    rows_.integer("duration", duration);
    rows_.unsigned_integer("id", id);
    rows_.integer("transfer_size", bytes);
    rows_.integer("read_size", bytes);
    rows_.integer("write_size", bytes);
    rows_.integer("transfer_rate", rate_of(bytes, duration));
    rows_.integer("crc", static_cast<std::int64_t>(id & 0xffff));
    for (const std::string& each : fields_of(trace, operation, true)) rows_.fragment(each);
  };
  for (const PacketRecord& record : trace.packets) {
    const Operation& operation = trace.program->operations[record.operation];
    const std::uint64_t id = trace.id(record.operation, 1 + 2 * record.engine + (record.semaphore ? 1 : 0));
    common(record.operation, id, record.start, record.duration, record.bytes);
    rows_.text("aggregated", "no");
    rows_.text("subgroup", packet_queue_name(operation.queue, record.engine));
    rows_.text_number("dma_engine", record.engine);
    rows_.integer("packet_idx", record.semaphore ? 1 : 0);
    rows_.unsigned_integer("packet_aggregation_id", trace.id(record.operation));
    rows_.end_row();
  }
  for (const TransferRecord& record : trace.transfers) {
    const Operation& operation = trace.program->operations[record.operation];
    const OperationText& text = trace.program->texts[record.operation];
    const std::string shape = "[[128," + std::to_string(operation.bytes / kPeRows) + "]]";
    const auto partitions = [](std::string_view place) { return place == "SB" ? kPeRows : 0; };
    common(record.operation, trace.id(record.operation), record.start, record.duration, operation.bytes);
    rows_.text("aggregated", "yes");
    rows_.text("subgroup", queue_text(operation.queue).name);
    rows_.text_number("dma_engine", kDmaEngines - 1);
    rows_.integer("trigger", record.trigger_start);
    rows_.raw("read_shape", shape);
    rows_.raw("write_shape", shape);
    rows_.text("source_offset", "[" + text.operands + "]");
    rows_.text("dest_offset", text.compiler_operands);
    rows_.text("source_steps", "[[1, 256]]");
    rows_.text("dest_steps", "[1, 262144]");
    rows_.text("source_sb_partitions", text.source == "SB" ? "0-127" : "");
    rows_.text("dest_sb_partitions", text.dest == "SB" ? "0-127" : "");
    rows_.integer("source_num_sb_partitions", partitions(text.source));
    rows_.integer("dest_num_sb_partitions", partitions(text.dest));
    rows_.end_row();
  }
}

void JsonEventTable::write_semaphores(const KernelTrace& trace) {
  for (const SemaphoreRecord& record : trace.semaphores) {
    rows_.begin_row();
    rows_.integer("timestamp", record.time);
    rows_.text("id", semaphore_name(record.semaphore, record.owner));
    rows_.integer("value", record.value);
    rows_.end_row();
  }
}

void JsonEventTable::write_pending(const KernelTrace& trace) {
  for (const CountRecord& record : trace.pending) {
    rows_.begin_row();
    rows_.integer("timestamp", record.time);
    rows_.integer("value", record.value);
    rows_.end_row();
  }
}

void JsonEventTable::write_throughput(const KernelTrace& trace) {
  for (const ThroughputRecord& record : trace.throughput) {
    rows_.begin_row();
    rows_.integer("timestamp", record.time);
    rows_.integer("transfer_rate", record.rate);
    rows_.integer("total_transfer_bytes", record.total);
    rows_.integer("hbm_transfer_rate", record.hbm_rate);
    rows_.integer("hbm_total_transfer_bytes", record.hbm_total);
    rows_.text("uses_hbm", record.hbm_rate > 0 ? "true" : "false");
    rows_.end_row();
  }
}

// Shares are whole numbers where they can be, and one or the other form of nought.
void JsonEventTable::usage_share(std::string_view key, double share) {
  if (share == 0 && (rows_.random().next() & 1) != 0) {
    rows_.raw(key, "0.0");
  } else {
    rows_.real(key, share);
  }
}

void JsonEventTable::write_usage(const KernelTrace& trace) {
  for (const SbufRecord& record : trace.sbuf) {
    rows_.begin_row();
    rows_.text("type", "sb");
    rows_.integer("timestamp", record.time);
    for (const std::string_view key :
         {"usage_avg", "partition_0_usage", "partition_32_usage", "partition_64_usage", "partition_96_usage"}) {
      usage_share(key, record.usage());
    }
    rows_.end_row();
  }
  for (const PsumRecord& record : trace.psum) {
    rows_.begin_row();
    rows_.text("type", "psum");
    rows_.integer("timestamp", record.time);
    usage_share("usage_avg", record.average());
    for (std::size_t bank = 0; bank < record.bytes.size(); ++bank) {
      usage_share("bank_" + std::to_string(bank) + "_usage", record.bank(bank));
    }
    rows_.end_row();
  }
}

void JsonEventTable::write_throttles(const KernelTrace& trace) {
  for (const ThrottleRecord& record : trace.throttles) {
    rows_.begin_row();
    rows_.integer("timestamp", record.start);
    rows_.integer("duration", record.duration);
    rows_.integer("k", kThrottleK);
    rows_.integer("n", kThrottleN);
    rows_.integer("type", 0);
    rows_.end_row();
  }
}

void JsonEventTable::write_active(const KernelTrace& trace) {
  for (const ActiveRecord& record : trace.active) {
    rows_.begin_row();
    rows_.text("engine", engine_key(record.engine));
    rows_.integer("start_ts", record.start);
    rows_.integer("end_ts", record.start + record.duration);
    rows_.integer("duration_ns", record.duration);
    rows_.integer("pcore_idx", 0);
    rows_.end_row();
  }
}

void JsonEventTable::write_layers(const KernelTrace& trace) {
  for (const LayerRecord& record : trace.layers) write_layer(record);
}

void JsonEventTable::write_layer(const LayerRecord& record) {
  const auto duration = static_cast<double>(record.end - record.start);
  const double possible = 2.0 * static_cast<double>(kPeRows * kPeColumns) * kPeClockGhz * duration;
  const auto share = [](std::int64_t part, double whole) { return whole > 0 ? static_cast<double>(part) / whole : 0; };
  rows_.begin_row();
  rows_.text("name", record.name);
  rows_.text("fully_qualified_subgraph", "/sg00");
  rows_.integer("start", record.start);
  rows_.integer("end", record.end);
  rows_.integer("duration", record.end - record.start);
  for (std::size_t index = 0; index < kEngineCount; ++index) {
    const std::string prefix = std::string(engine_key(static_cast<Engine>(index))) + "_engine_";
    const EngineUse& use = record.engines[index];
    rows_.integer(prefix + "instruction_count", use.instructions);
    rows_.integer(prefix + "instruction_time", use.instruction_ns);
    rows_.integer(prefix + "active_time", use.active_ns);
    rows_.real(prefix + "active_percent", share(use.active_ns, duration));
  }
  rows_.integer("tensor_engine_flop_count", record.flops);
  rows_.integer("tensor_engine_model_flop_count", record.model_flops);
  rows_.real("tensor_engine_mfu", share(record.model_flops, possible));
  rows_.real("tensor_engine_hfu", share(record.flops, possible));
  rows_.end_row();
}

void JsonEventTable::write_collectives(const KernelTrace& trace) {
  for (const CollectiveRecord& record : trace.collectives) {
    const Operation& operation = trace.program->operations[record.operation];
    rows_.begin_row();
    rows_.integer("timestamp", record.start);
    rows_.integer("duration", record.duration);
    rows_.text("operation", trace.program->names[operation.name]);
    rows_.integer("input_size", operation.bytes);
    rows_.integer("output_size", operation.bytes);
    rows_.text("replica_group", kReplicaGroup);
    rows_.text("trigger_engine", "Scalar");
    rows_.integer("cc_trigger", record.trigger_start);
    rows_.integer("cc_trigger_start_delay", record.start - record.trigger_start);
    rows_.text("algorithm", "Ring");
    rows_.text("dtype", "bfloat16");
    rows_.integer("num_elements", operation.bytes / 2);
    rows_.unsigned_integer("op_id", trace.id(record.operation));
    rows_.integer("stream_id", 0);
    rows_.text("layer", trace.layer(record.operation));
    rows_.text("nki_source_location", trace.program->sites[operation.site].location);
    rows_.end_row();
  }
}

void JsonEventTable::write_cc_steps(const KernelTrace& trace) {
  for (const CcStepRecord& record : trace.cc_steps) {
    rows_.begin_row();
    rows_.integer("timestamp", record.start);
    rows_.integer("duration", record.duration);
    rows_.text("description", record.description);
    rows_.text_number("core_idx", record.core);
    rows_.text("trigger_engine", "Scalar");
    rows_.integer("trigger_start_ts", record.trigger_start);
    rows_.unsigned_integer("op_id", trace.id(record.operation));
    rows_.end_row();
  }
}

void JsonEventTable::write_errors(const KernelTrace& trace) {
  for (const ErrorRecord& record : trace.errors) {
    rows_.begin_row();
    rows_.integer("timestamp", record.time);
    rows_.text("description", record.description);
    rows_.text("type", record.type);
    rows_.integer("error_type_id", record.error_type_id);
    rows_.text("metadata", record.metadata);
    rows_.text("metadata_hex", record.metadata_hex);
    rows_.text("nki_source_location", trace.program->sites[record.site].location);
    rows_.end_row();
  }
}

}  // namespace accelscope::capture::sim
