// What follows from the times of the operations of one pass: semaphores, counters, memory, busy intervals, layers.
#include <algorithm>
#include <cmath>
#include <map>

#include "capture/sim/kernel/trace.h"

namespace accelscope::capture::sim {
namespace {

constexpr std::int64_t kThroughputBucketNs = 500;
constexpr std::int64_t kUtilizationBucketNs = 1000;

template <typename Record, typename Key>
void sort_by(std::vector<Record>& records, Key key) {
  const auto before = [key](const Record& a, const Record& b) { return key(a) < key(b); };
  if (!std::is_sorted(records.begin(), records.end(), before)) std::stable_sort(records.begin(), records.end(), before);
}

// They come transfer by transfer, the engines' beside each other, and each engine works in order.
void sort_packets(std::vector<PacketRecord>& packets) {
  std::array<std::vector<PacketRecord>, kDmaEngines> engines;
  for (const PacketRecord& packet : packets) engines[packet.engine].push_back(packet);
  std::vector<PacketRecord> spare = std::move(packets);
  packets.clear();
  packets.reserve(spare.size());
  for (const auto& engine : engines) packets.insert(packets.end(), engine.begin(), engine.end());
  merge_lists(packets, spare, [](const PacketRecord& a, const PacketRecord& b) { return a.start < b.start; });
}

void link_triggers(KernelTrace& trace) {
  for (InstructionRecord& record : trace.instructions) {
    const std::uint32_t triggered = trace.program->texts[record.operation].triggers;
    if (triggered != kNoOperation) record.triggered_start = trace.starts[triggered];
  }
}

void derive_semaphores(KernelTrace& trace) {
  const KernelProgram& program = *trace.program;
  std::map<int, std::string_view> used;
  const auto update = [&](int semaphore, std::string_view owner, std::int64_t time, std::int64_t value) {
    used.emplace(semaphore, owner);
    trace.semaphores.push_back({semaphore, owner, time, value});
  };
  for (std::uint32_t index = 1; index < program.operations.size(); ++index) {
    const Operation& operation = program.operations[index];
    const std::int64_t value = program.texts[index].signal;
    if (value == 0 || operation.kind == OperationKind::transfer) continue;
    update(unit_semaphore(operation.unit), engine_name(operation.unit), trace.ends[index], value);
  }
  // Each of the sixteen engines adds one when its part is done; the queue works in order.
  std::map<Queue, std::vector<std::int64_t>> signals;
  for (const PacketRecord& packet : trace.packets) {
    if (packet.semaphore) signals[program.operations[packet.operation].queue].push_back(packet.start + packet.duration);
  }
  for (auto& [queue, times] : signals) {
    std::sort(times.begin(), times.end());
    for (std::size_t count = 0; count < times.size(); ++count) {
      update(queue_text(queue).semaphore, queue_text(queue).name, times[count], static_cast<std::int64_t>(count + 1));
    }
  }
  for (const auto& [semaphore, owner] : used) trace.semaphores.push_back({semaphore, owner, trace.end, 0});
  sort_by(trace.semaphores, [](const SemaphoreRecord& record) { return record.time; });
}

void derive_pending(KernelTrace& trace) {
  std::vector<CountRecord> steps;
  for (const TransferRecord& transfer : trace.transfers) {
    steps.push_back({transfer.trigger_start, 1});
    steps.push_back({transfer.start + transfer.duration, -1});
  }
  sort_by(steps, [](const CountRecord& step) { return step.time; });
  std::int64_t pending = 0;
  for (const CountRecord& step : steps) {
    pending += step.value;
    if (!trace.pending.empty() && trace.pending.back().time == step.time) {
      trace.pending.back().value = pending;
    } else {
      trace.pending.push_back({step.time, pending});
    }
  }
}

bool uses_hbm(const PacketRecord& packet) {
  return !packet.semaphore;
}  // every transfer of the kernels has HBM at one end

void derive_throughput(KernelTrace& trace, std::int64_t& moved, std::int64_t& moved_hbm) {
  if (trace.packets.empty()) return;
  const auto buckets = static_cast<std::size_t>((trace.end - trace.begin) / kThroughputBucketNs + 1);
  struct Bucket {
    double bytes = 0, hbm_bytes = 0;
    std::int64_t ended = 0, ended_hbm = 0;
  };
  std::vector<Bucket> all(buckets);
  for (const PacketRecord& packet : trace.packets) {
    const std::int64_t from = packet.start - trace.begin;
    const std::int64_t until = from + packet.duration;
    Bucket& last = all[static_cast<std::size_t>(until / kThroughputBucketNs)];
    last.ended += packet.bytes;
    if (uses_hbm(packet)) last.ended_hbm += packet.bytes;
    const double per_ns = static_cast<double>(packet.bytes) / static_cast<double>(packet.duration);
    for (std::int64_t at = from; at < until;) {
      const std::int64_t next = std::min(until, (at / kThroughputBucketNs + 1) * kThroughputBucketNs);
      Bucket& bucket = all[static_cast<std::size_t>(at / kThroughputBucketNs)];
      bucket.bytes += per_ns * static_cast<double>(next - at);
      if (uses_hbm(packet)) bucket.hbm_bytes += per_ns * static_cast<double>(next - at);
      at = next;
    }
  }
  constexpr double kPerSecond = 1e9 / static_cast<double>(kThroughputBucketNs);
  for (std::size_t index = 0; index < buckets; ++index) {
    const std::int64_t time = trace.begin + static_cast<std::int64_t>(index) * kThroughputBucketNs;
    trace.throughput.push_back({time, std::llround(all[index].bytes * kPerSecond), moved,
                                std::llround(all[index].hbm_bytes * kPerSecond), moved_hbm});
    moved += all[index].ended;
    moved_hbm += all[index].ended_hbm;
  }
  trace.throughput.push_back({std::max(trace.end, trace.throughput.back().time), 0, moved, 0, moved_hbm});
}

void derive_utilization(KernelTrace& trace) {
  std::vector<double> busy(static_cast<std::size_t>((trace.end - trace.begin) / kUtilizationBucketNs + 1));
  bool any = false;
  for (const InstructionRecord& record : trace.instructions) {
    const std::int64_t elements = trace.program->texts[record.operation].elements;
    if (elements == 0) continue;
    any = true;
    for (std::int64_t at = record.start - trace.begin, until = at + record.duration; at < until;) {
      const std::int64_t next = std::min(until, (at / kUtilizationBucketNs + 1) * kUtilizationBucketNs);
      busy[static_cast<std::size_t>(at / kUtilizationBucketNs)] += static_cast<double>(next - at);
      at = next;
    }
  }
  if (!any) return;
  for (std::size_t index = 0; index < busy.size(); ++index) {
    trace.utilization.push_back({trace.begin + static_cast<std::int64_t>(index) * kUtilizationBucketNs,
                                 busy[index] / static_cast<double>(kUtilizationBucketNs)});
  }
  trace.utilization.push_back({std::max(trace.end, trace.utilization.back().time), 0});
}

void derive_memory(KernelTrace& trace) {
  for (const Block& block : trace.program->blocks) {
    trace.memory.push_back(
        {trace.starts[block.from], block.bytes, block.address, block.tensor, block.site, block.pool});
    trace.memory.push_back(
        {trace.ends[block.until], -block.bytes, block.address, block.tensor, block.site, block.pool});
  }
  // A release at the same time as an allocation comes first: the block may be the same.
  sort_by(trace.memory, [](const MemoryRecord& record) { return std::pair(record.time, record.bytes > 0); });
  std::int64_t bytes = 0;
  for (const MemoryRecord& record : trace.memory) {
    if (record.pool != Pool::sbuf) continue;
    bytes += record.bytes;
    if (!trace.sbuf.empty() && trace.sbuf.back().time == record.time) {
      trace.sbuf.back().bytes = bytes;
    } else {
      trace.sbuf.push_back({record.time, bytes});
    }
  }
}

void derive_psum(KernelTrace& trace) {
  struct Change {
    std::int64_t time;
    std::int64_t bytes;
    int bank;
  };
  std::vector<Change> changes;
  for (const BankUse& use : trace.program->banks) {
    changes.push_back({trace.starts[use.from], use.bytes, use.bank});
    changes.push_back({trace.ends[use.until], -use.bytes, use.bank});
  }
  sort_by(changes, [](const Change& change) { return change.time; });
  PsumRecord state;
  for (const Change& change : changes) {
    state.time = change.time;
    state.bytes[static_cast<std::size_t>(change.bank)] += change.bytes;
    if (!trace.psum.empty() && trace.psum.back().time == change.time) {
      trace.psum.back() = state;
    } else {
      trace.psum.push_back(state);
    }
  }
}

// Union of intervals that come sorted by start.
struct Union {
  std::int64_t covered = INT64_MIN;
  std::int64_t add(std::int64_t start, std::int64_t end) noexcept {
    const std::int64_t added = std::max<std::int64_t>(0, end - std::max(start, covered));
    covered = std::max(covered, end);
    return added;
  }
};

void derive_active(KernelTrace& trace) {
  std::array<std::size_t, kEngineCount> open;  // the engine's last interval
  open.fill(SIZE_MAX);
  for (const InstructionRecord& record : trace.instructions) {
    const Operation& operation = trace.program->operations[record.operation];
    if (operation.kind == OperationKind::wait || record.duration == 0) continue;
    const Engine engine = engine_of(operation.unit);
    std::size_t& last = open[static_cast<std::size_t>(engine)];
    if (last != SIZE_MAX && record.start <= trace.active[last].start + trace.active[last].duration) {
      ActiveRecord& active = trace.active[last];
      active.duration = std::max(active.duration, record.start + record.duration - active.start);
    } else {
      last = trace.active.size();
      trace.active.push_back({engine, record.start, record.duration});
    }
  }
}

// One record for each layer of the pass, and for each path above them.
void derive_layers(KernelTrace& trace) {
  struct Building {
    LayerRecord record;
    std::array<Union, kEngineCount> unions;
  };
  std::map<std::string, Building> all;
  std::vector<std::vector<Building*>> levels(trace.program->layers.size());  // of each layer, once one of it came
  const auto open_levels = [&](std::uint32_t index, std::vector<Building*>& opened) {
    const std::string path = trace.layer(index);
    std::uint32_t depth = 1;
    for (std::size_t at = path.find('/');; at = path.find('/', at + 1), ++depth) {
      Building& building = all["/" + trace.graph() + "/" + path.substr(0, at)];
      if (building.record.end == 0) building.record.start = INT64_MAX;
      building.record.depth = depth;
      opened.push_back(&building);
      if (at == std::string::npos) break;
    }
  };
  const auto each_level = [&](std::uint32_t index, auto&& change) {
    const std::uint16_t layer = trace.program->texts[index].layer;
    if (layer == 0) return;
    if (levels[layer].empty()) open_levels(index, levels[layer]);
    for (Building* building : levels[layer]) {
      building->record.start = std::min(building->record.start, trace.starts[index]);
      building->record.end = std::max(building->record.end, trace.ends[index]);
      change(*building);
    }
  };
  for (const InstructionRecord& record : trace.instructions) {
    const Operation& operation = trace.program->operations[record.operation];
    const OperationText& text = trace.program->texts[record.operation];
    each_level(record.operation, [&](Building& building) {
      const auto engine = static_cast<std::size_t>(engine_of(operation.unit));
      EngineUse& use = building.record.engines[engine];
      use.instructions += 1;
      use.instruction_ns += record.duration;
      if (operation.kind != OperationKind::wait) {
        use.active_ns += building.unions[engine].add(record.start, record.start + record.duration);
      }
      building.record.flops += 2 * text.elements;
      if (!text.transpose) building.record.model_flops += 2 * text.elements;
    });
  }
  for (const TransferRecord& record : trace.transfers) each_level(record.operation, [](Building&) {});
  for (const CollectiveRecord& record : trace.collectives) each_level(record.operation, [](Building&) {});
  for (auto& [name, building] : all) {
    building.record.name = name;
    trace.layers.push_back(std::move(building.record));
  }
  sort_by(trace.layers, [](const LayerRecord& record) { return std::pair(record.start, record.depth); });
}

// One run in a session goes wrong once: the last head's keys are asked for beyond the end of the tensor.
void derive_error(KernelTrace& trace) {
  if (trace.pass != 1 || trace.device != 0) return;
  for (auto record = trace.transfers.rbegin(); record != trace.transfers.rend(); ++record) {
    const Operation& operation = trace.program->operations[record->operation];
    if (operation.queue != Queue::dynamic || trace.program->names[operation.name] != "kT") continue;
    trace.errors.push_back({.time = record->start,
                            .description = "DMA2D access out of bounds",
                            .type = "Errors",
                            .metadata = "kT: row 512 of 512 asked for by qGpSimdDynamic, the packet was dropped",
                            .metadata_hex = "0x0000020000000200",
                            .error_type_id = 3,
                            .site = operation.site});
    return;
  }
}

}  // namespace

void derive_records(KernelTrace& trace, std::int64_t& moved, std::int64_t& moved_hbm) {
  sort_by(trace.instructions, [](const InstructionRecord& record) { return record.start; });
  sort_by(trace.transfers, [](const TransferRecord& record) { return record.start; });
  sort_packets(trace.packets);
  sort_by(trace.cc_steps, [](const CcStepRecord& record) { return record.start; });
  link_triggers(trace);
  derive_semaphores(trace);
  derive_pending(trace);
  derive_throughput(trace, moved, moved_hbm);
  derive_utilization(trace);
  derive_memory(trace);
  derive_psum(trace);
  derive_active(trace);
  derive_layers(trace);
  derive_error(trace);
}

}  // namespace accelscope::capture::sim
