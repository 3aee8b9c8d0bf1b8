#include "capture/sim/kernel/program_builder.h"

#include <algorithm>
#include <cassert>
#include <cmath>

#include "capture/sim/kernel/time_model.h"

namespace accelscope::capture::sim {
namespace {

constexpr std::array<QueueText, kQueueCount> kQueues = {{
    {"qSyncIOParam0", "data", "weights", Unit::sync, 1, 8},
    {"qGpSimdIOParam0", "data", "weights", Unit::gpsimd, 2, 9},
    {"qSyncPIO0", "data", "input", Unit::sync, 3, 10},
    {"qScalarPIO0", "data", "output", Unit::scalar, 4, 11},
    {"qScalarSpillReload0", "data", "unknown", Unit::scalar, 5, 12},
    {"qGpSimdDynamic", "software_dynamic", "unknown", Unit::gpsimd, 0, 24},
}};

struct UnitText {
  std::string_view row;
  std::string_view engine;
  int semaphore;
};
constexpr std::array<UnitText, kUnitCount> kUnits = {{{"Tensor", "Tensor", 0},
                                                      {"TensorMatrix", "Tensor", 5},
                                                      {"Vector", "Vector", 6},
                                                      {"Scalar", "Scalar", 4},
                                                      {"GpSimd", "GpSimd", 7},
                                                      {"Sync", "Sync", 3},
                                                      {"Scalar", "Scalar", 0},
                                                      {"CC-core", "CC-core", 20}}};

std::string semaphore_text(int semaphore, std::string_view owner) {
  return "S[" + std::to_string(semaphore) + "] (" + std::string(owner) + ")";
}

// Whether an engine must be told by a semaphore: not about what it did itself.
bool needs_signal(const KernelProgram& program, Unit unit, std::uint32_t need) {
  if (need == kNoOperation) return false;
  const Operation& other = program.operations[need];
  return other.kind != OperationKind::instruction || engine_name(other.unit) != engine_name(unit);
}

}  // namespace

const QueueText& queue_text(Queue queue) noexcept { return kQueues[static_cast<std::size_t>(queue)]; }
std::string_view unit_name(Unit unit) noexcept { return kUnits[static_cast<std::size_t>(unit)].row; }
std::string_view engine_name(Unit unit) noexcept { return kUnits[static_cast<std::size_t>(unit)].engine; }
int unit_semaphore(Unit unit) noexcept { return kUnits[static_cast<std::size_t>(unit)].semaphore; }

std::string hex_text(std::uint64_t value) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  do {
    text.insert(text.begin(), kDigits[value & 15]);
    value >>= 4;
  } while (value != 0);
  return "0x" + text;
}

std::int64_t cycles_to_ns(std::int64_t cycles, double ghz) noexcept {
  return std::llround(static_cast<double>(cycles) / ghz);
}

ProgramBuilder::ProgramBuilder(const CoreModel& core) {
  program_.core = core;
  program_.names.emplace_back();
  program_.layers.emplace_back();
  program_.sites = find_sites(demo_source());
  program_.operations.emplace_back();
  program_.texts.emplace_back();
}

void ProgramBuilder::set_layer(std::string_view layer) {
  const auto at = std::find(program_.layers.begin(), program_.layers.end(), layer);
  layer_ = static_cast<std::uint16_t>(at - program_.layers.begin());
  if (at == program_.layers.end()) program_.layers.emplace_back(layer);
}

std::uint16_t ProgramBuilder::name(std::string_view text) {
  const auto known = names_.find(text);
  if (known != names_.end()) return known->second;
  const auto id = static_cast<std::uint16_t>(program_.names.size());
  program_.names.emplace_back(text);
  names_.emplace(text, id);
  return id;
}

std::uint32_t ProgramBuilder::append(Operation operation, OperationText text) {
  text.layer = layer_;
  text.hlo = hlo_;
  text.tile = tile_;
  if (operation.kind == OperationKind::transfer) {
    std::int64_t& signals = queue_signals_[static_cast<std::size_t>(operation.queue)];
    text.signal = signals += kDmaEngines;
  } else if (operation.kind != OperationKind::wait && unit_semaphore(operation.unit) != 0) {
    text.signal = ++unit_signals_[static_cast<std::size_t>(operation.unit)];
  }
  program_.slim_events += operation.kind == OperationKind::transfer ? static_cast<std::uint64_t>(kDmaEngines) : 1;
  program_.operations.push_back(operation);
  program_.texts.push_back(std::move(text));
  return last();
}

std::string ProgramBuilder::conditions(const std::vector<std::uint32_t>& needs) const {
  std::string text;
  for (const std::uint32_t need : needs) {
    const Operation& other = program_.operations[need];
    const std::int64_t value = program_.texts[need].signal;
    if (need == kNoOperation || value == 0) continue;
    const bool queue = other.kind == OperationKind::transfer;
    text += semaphore_text(queue ? queue_text(other.queue).semaphore : unit_semaphore(other.unit),
                           queue ? queue_text(other.queue).name : engine_name(other.unit)) +
            ">=" + std::to_string(value) + " ";
  }
  return text;
}

void ProgramBuilder::wait_for(const Step& step) {
  Operation wait;
  wait.kind = OperationKind::wait;
  wait.unit = step.unit;
  wait.name = name("EVENT_SEMAPHORE");
  wait.site = static_cast<std::uint16_t>(step.site);
  OperationText text;
  text.caller = step.caller;
  std::vector<std::uint32_t> signalled;
  for (const std::uint32_t need : step.needs) {
    if (needs_signal(program_, step.unit, need)) signalled.push_back(need);
  }
  std::copy(signalled.begin(), signalled.end(), wait.after.begin());
  text.operands = conditions(signalled);
  text.predecessors = std::move(signalled);
  append(wait, std::move(text));
}

std::uint32_t ProgramBuilder::instruction(const Step& step, OperationText text) {
  assert(step.needs.size() <= 3);
  const bool tensor = step.unit == Unit::tensor || step.unit == Unit::tensor_matrix;
  const bool signalled = std::any_of(step.needs.begin(), step.needs.end(),
                                     [&](std::uint32_t need) { return needs_signal(program_, step.unit, need); });
  if (signalled && !tensor) wait_for(step);

  Operation operation;
  operation.unit = step.unit;
  operation.flags = step.flags;
  operation.duration_ns = static_cast<std::uint32_t>(step.duration_ns);
  operation.jitter_mask = step.jitter_mask;
  operation.name = name(step.opcode);
  operation.site = static_cast<std::uint16_t>(step.site);
  operation.bytes = static_cast<std::uint32_t>(text.sbuf_read + text.sbuf_write + text.psum_read + text.psum_write);
  std::copy(step.needs.begin(), step.needs.end(), operation.after.begin());
  text.caller = step.caller;
  for (const std::uint32_t need : step.needs) {
    if (need != kNoOperation) text.predecessors.push_back(need);
  }
  if (step.flags & kAfterWeights) text.predecessors.push_back(last());
  std::string operands = tensor ? conditions(step.needs) : std::string();
  if (unit_semaphore(step.unit) != 0) {
    operands += semaphore_text(unit_semaphore(step.unit), engine_name(step.unit)) + "++@complete ";
  }
  text.operands = operands + text.operands;
  return append(operation, std::move(text));
}

std::uint32_t ProgramBuilder::move(const Move& move) {
  const QueueText& queue = queue_text(move.queue);
  const bool dynamic = move.queue == Queue::dynamic;
  const bool spill = move.queue == Queue::spill;
  OperationText text;
  text.compiler_opcode = dynamic ? "PSEUDO_DMA_DIRECT2D" : "PSEUDO_DMA_TRIGGER";
  text.compiler_operands = " " + std::string(queue.name) + " block_id=" + std::to_string(tile_) + " ";
  text.operands = semaphore_text(queue.semaphore, queue.name) + "+=16@complete size=" + std::to_string(move.bytes);
  (move.to_sbuf ? text.hbm_read : text.hbm_write) = move.bytes;
  if (spill) (move.to_sbuf ? text.spill_reload : text.spill_save) = move.bytes;
  if (queue.made_for == "weights") text.weight_bytes = move.bytes;
  if (move.queue == Queue::input || dynamic) text.input_bytes = move.bytes;
  if (move.queue == Queue::output && !move.to_sbuf) text.output_bytes = move.bytes;

  Step step{.unit = queue.trigger,
            .opcode = dynamic ? "DMA_DIRECT2D" : "DMA_TRIGGER",
            .site = move.site,
            .duration_ns = dynamic ? 0 : kTriggerNs,
            .jitter_mask = dynamic ? 0U : 3U,
            .needs = move.needs};
  const std::uint32_t trigger = instruction(step, std::move(text));
  program_.operations[trigger].bytes = 0;  // the packets have them

  Operation transfer;
  transfer.kind = OperationKind::transfer;
  transfer.queue = move.queue;
  const std::int64_t bytes_per_engine = move.bytes / kDmaEngines;
  transfer.duration_ns = static_cast<std::uint32_t>(
      std::llround(static_cast<double>(bytes_per_engine) / program_.core.dma_engine_bytes_per_ns));
  transfer.after = {trigger, kNoOperation, kNoOperation};
  transfer.bytes = static_cast<std::uint32_t>(move.bytes);
  transfer.name = name(move.tensor);
  transfer.site = static_cast<std::uint16_t>(move.site);
  OperationText moved;
  const std::string_view memory =
      spill ? "VIRTUAL" : (queue.made_for == "weights" ? "WEIGHT" : (move.to_sbuf ? "INPUT" : "OUTPUT"));
  moved.source = move.to_sbuf ? memory : "SB";
  moved.dest = move.to_sbuf ? "SB" : memory;
  moved.operands = std::string(move.tile);
  moved.compiler_operands = "[" + hex_text(move.address) + "]";
  moved.triggered_by = trigger;
  moved.predecessors = {trigger};
  (move.to_sbuf ? moved.hbm_read : moved.hbm_write) = move.bytes;
  const std::uint32_t index = append(transfer, std::move(moved));
  program_.texts[trigger].triggers = index;
  return index;
}

std::uint32_t ProgramBuilder::collective(std::string_view operation, Site site, std::int64_t bytes,
                                         std::uint32_t trigger, std::uint32_t needs) {
  const std::int64_t steps = 2 * (kModelledRanks - 1);
  Operation collective;
  collective.kind = OperationKind::collective;
  collective.unit = Unit::collective;
  const std::int64_t bytes_per_rank = bytes / kModelledRanks;
  collective.duration_ns = static_cast<std::uint32_t>(
      steps * (kRingStepNs + std::llround(static_cast<double>(bytes_per_rank) / program_.core.link_bytes_per_ns)));
  collective.jitter_mask = 511;
  collective.after = {trigger, needs, kNoOperation};
  collective.bytes = static_cast<std::uint32_t>(bytes);
  collective.name = name(operation);
  collective.site = static_cast<std::uint16_t>(site);
  OperationText text;
  text.triggered_by = trigger;
  text.predecessors = {trigger, needs};
  const std::uint32_t index = append(collective, std::move(text));
  program_.texts[trigger].triggers = index;
  return index;
}

std::uint64_t ProgramBuilder::reserve_sbuf(std::int64_t bytes) {
  const std::uint64_t address = sbuf_top_;
  sbuf_top_ += static_cast<std::uint64_t>(bytes);
  assert(sbuf_top_ <= static_cast<std::uint64_t>(program_.core.sbuf_bytes));
  return address;
}

std::uint64_t ProgramBuilder::reserve_hbm(std::int64_t bytes) {
  const std::uint64_t address = hbm_top_;
  hbm_top_ += static_cast<std::uint64_t>(bytes);
  return address;
}

void ProgramBuilder::hold(Pool pool, std::string_view tensor, Site site, std::int64_t bytes, std::uint64_t address,
                          std::uint32_t from, std::uint32_t until) {
  program_.blocks.push_back({pool, name(tensor), static_cast<std::uint16_t>(site), bytes, address, from, until});
}

void ProgramBuilder::hold_bank(int bank, std::int64_t bytes, std::uint32_t from, std::uint32_t until) {
  program_.banks.push_back({bank, bytes, from, until});
}

KernelProgram ProgramBuilder::finish() { return std::move(program_); }

void plant_divergence(KernelProgram& program, std::uint32_t operation) {
  program.diverging.assign(program.operations.size(), {});
  std::vector<bool> tiles(UINT16_MAX + 1U);  // that hold other data: the operations of a tile work on the same
  for (std::uint32_t i = 1; i < program.operations.size(); ++i) {
    KernelProgram::Diverging& here = program.diverging[i];
    // What is loaded from HBM is what the host put there, whenever that was.
    const std::string_view source = program.texts[i].source;
    const bool is_load = source == "WEIGHT" || source == "INPUT";
    for (const std::uint32_t before : program.operations[i].after)
      here.input = here.input || (!is_load && before < i && program.diverging[before].output);
    const std::uint16_t tile = program.texts[i].tile;
    here.input = here.input || (!is_load && tile != 0 && tiles[tile]);
    here.output = here.input || i == operation;
    if (here.output) tiles[tile] = true;
  }
}

}  // namespace accelscope::capture::sim
