#include "capture/sources/rocm/run/run.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "capture/json/json_cursor.h"
#include "capture/sources/rocm/run/records.h"
#include "capture/sources/tracks/gpu_tables.h"
#include "core/base/capped.h"
#include "core/base/text.h"
#include "core/model/column_spec.h"
#include "core/names/collective_words.h"

namespace accelscope::capture::sources::rocm {
namespace {

using namespace columns;
using tracks::GpuTable;

constexpr ColumnSpec kQueueId = {"queue_id", kInt, "", kIds, "", "The hardware's queue."};
constexpr ColumnSpec kThreadId = {"tid", kInt, "", kIds, "", "The thread that asked for it."};
constexpr ColumnSpec kProcessId = {"pid", kInt, "", kIds, "", "The process that asked for it."};
constexpr ColumnSpec kCorrelationId = {"correlation", kInt, "", kIds, "", "Joins a runtime call and what it started."};
constexpr ColumnSpec kRegion = {"region", kString, "", kOperation, "", "What the program calls it."};
constexpr ColumnSpec kGraphExec = {"graph_exec_id", kInt, "", kIds, "", "The graph that it was launched with."};
constexpr ColumnSpec kGraphNode = {"graph_node_id", kInt, "", kIds, "", "Its node of that graph."};
constexpr ColumnSpec kArguments = {"args", kText, "", kOperation, "Arguments", "What the call was given."};
constexpr ColumnSpec kCallStack = {"Call stack", kString, "", kSource, "", "Where it was called from.", Role::stack};

constexpr ColumnSpec kKernelFurther[] = {
    {"dispatch_id", kInt, "", kIds, "", "The profiler's number of the launch."},
    kQueueId,
    kThreadId,
    kProcessId,
    {"kernel_id", kInt, "", kIds, "", "The profiler's number of the function."},
    {"grid_size", kString, "", kLaunch, "", "Work-items in x, y and z."},
    {"private_segment_size", kInt, "B", kLaunch, "Scratch", "Scratch memory of a work-item."},
    {"arch_vgpr_count", kInt, "", kLaunch, "VGPRs", "Vector registers of a work-item."},
    {"accum_vgpr_count", kInt, "", kLaunch, "Accumulation VGPRs", "Vector registers of matrix instructions."},
    {"sgpr_count", kInt, "", kLaunch, "SGPRs", "Scalar registers of a wave."},
    kRegion,
    kGraphExec,
    kGraphNode,
    {"further counters", kText, "", "Counters", "", "Counters that only few launches have."},
    {"args", kText, "", kOperation, "Arguments", "What else the profiler says of the launch."},
};
constexpr ColumnSpec kCopyFurther[] = {
    {"src_agent", kString, "", kTransfer, "From", "The device that is read."},
    {"dst_agent", kString, "", kTransfer, "To", "The device that is written."},
    {"src_address", kUnsigned, "", kTransfer, "", "Address that is read."},
    {"dst_address", kUnsigned, "", kTransfer, "", "Address that is written."},
    kQueueId,
    kThreadId,
    kProcessId,
    kRegion,
    kGraphExec,
    kGraphNode,
    kArguments,
};
constexpr ColumnSpec kCallFurther[] = {
    {"category", kString, "", kOperation, "Category", "The library, or part of it, that was called."},
    {"parent correlation", kInt, "", kIds, "", "The call that it was made in."},
    kArguments,
    {"message", kText, "", kOperation, "Message", "What the profiler says of it."},
    kCallStack,
    {"line_info", kText, "", kSource, "Lines", "Where in the source it was called."},
};
// Of regions and samples: kCallFurther, then these.
constexpr ColumnSpec kHostFurther[] = {
    {"External id", kInt, "", kIds, "", "What the program joins it with."},
    kCorrelationId,
};
constexpr ColumnSpec kMarkFurther[] = {kCorrelationId, kArguments, kCallStack};
constexpr ColumnSpec kMemoryColumns[] = {
    {"Bytes", kInt, "B", kMemory, "", "Allocated, or released if negative.", Role::allocation},
    {"Addr", kUnsigned, "", kMemory, "", "Where it lies.", Role::address},
    {"Device Id", kInt, "", kMemory, "", "Number of the device; -1 for the host."},
    {"type", kString, "", kMemory, "Type", "Whether it is allocated, released, grown or taken back."},
    {"level", kString, "", kMemory, "Level", "Real or virtual memory, or scratch of kernels."},
    {"call_ns", kInt, "ns", kTiming, "Took", "How long the call took."},
    kCorrelationId,
    kQueueId,
    {"stream", kInt, "", kIds, "", "The stream it was asked for on."},
    kThreadId,
    kProcessId,
    {"flags", kString, "", kMemory, "Flags", "As the runtime has them."},
};

[[nodiscard]] Schema host_schema(const SchemaSpec& spec) {
  Schema schema = make_schema(spec, std::span<const ColumnSpec>(kCallFurther));
  append_columns(schema, kHostFurther);
  return schema;
}

[[nodiscard]] Schema kernel_schema(std::span<const RocmCounter> counters) {
  Schema schema = tracks::make_gpu_schema(GpuTable::kernel, kKernelFurther);
  for (const RocmCounter& counter : counters) {
    Column column;
    column.name = counter.name;
    column.type = ColumnType::float64;
    column.unit = counter.unit;
    column.group = "Counters";
    column.explanation = counter.description;
    schema.columns.push_back(std::move(column));
  }
  return schema;
}

}  // namespace

Schema make_rocm_schema(RocmTable table, std::span<const RocmCounter> counters) {
  switch (table) {
    case RocmTable::kernel:
      return kernel_schema(counters);
    case RocmTable::memcpy:
      return tracks::make_gpu_schema(GpuTable::memcpy, kCopyFurther);
    case RocmTable::memset:
      return tracks::make_gpu_schema(GpuTable::memset, kCopyFurther);
    case RocmTable::call:
      return tracks::make_gpu_schema(GpuTable::runtime_call, kCallFurther);
    case RocmTable::region:
      return host_schema({"region", EventKind::slice, "name", "What the profiled library calls it."});
    case RocmTable::mark:
      return tracks::make_gpu_schema(GpuTable::nvtx, kMarkFurther);
    case RocmTable::sample:
      return host_schema({"sample", EventKind::instant, "name", "What was sampled."});
    case RocmTable::memory:
      break;
  }
  return make_schema({"memory", EventKind::memory, "name", "What was done."},
                     std::span<const ColumnSpec>(kMemoryColumns));
}

namespace {

using tracks::FlowSide;
using tracks::WrittenEvent;

constexpr std::int64_t kNoDevice = -1;  // of rows that belong to none, and of memory of the host
constexpr std::uint32_t kRocmUnset = ~std::uint32_t{0};

[[nodiscard]] std::uint64_t mixed_bits(std::uint64_t first, std::uint64_t second) noexcept {
  return tracks::flow_key(first, second);
}

}  // namespace

std::size_t RocmRun::RowKeyHash::operator()(const RowKey& key) const noexcept {
  const std::uint64_t first = std::uint64_t{key.process} << 8 | static_cast<std::uint64_t>(key.sort) << 1 |
                              static_cast<std::uint64_t>(key.by_queue);
  const std::uint64_t second = static_cast<std::uint64_t>(key.number) ^ static_cast<std::uint64_t>(key.device) << 48U;
  return static_cast<std::size_t>(mixed_bits(first, second));
}

RocmRun::RocmRun(EventSink& sink)
    : session_(sink), values_([this](std::string_view text) { return session_.intern(text); }) {
  tables_.fill(kRocmUnset);
}

bool is_collective_kernel(std::string_view name) {
  return tracks::is_collective_kernel(name) &&
         (name.find("Kernel") != std::string_view::npos || collective_operation(name));
}

StringId RocmRun::intern_kernel(std::string_view name) {
  const StringId id = intern(name);
  if (is_collective_kernel(name)) collectives_.insert(id);
  return id;
}

std::uint32_t RocmRun::add_process(RocmProcess process) {
  processes_.push_back(std::move(process));
  work_.emplace_back();
  return static_cast<std::uint32_t>(processes_.size() - 1);
}

void RocmRun::add_agent(std::uint32_t process, std::int64_t id, RocmAgent agent) {
  const auto [place, is_new] = device_ids_.try_emplace({process, id}, devices_.size());
  if (is_new) devices_.push_back({process, std::move(agent), true, id});
}

void RocmRun::name_thread(std::uint32_t process, std::int64_t thread, std::string name) {
  thread_names_[{process, thread}] = std::move(name);
}

// A counter may be called like a column that is there already.
void RocmRun::set_counters(std::vector<RocmCounter> counters) {
  counters_ = std::move(counters);
  const Schema plain = make_rocm_schema(RocmTable::kernel);
  std::set<std::string> names;
  for (const Column& column : plain.columns) names.insert(column.name);
  for (RocmCounter& counter : counters_) {
    while (!names.insert(counter.name).second) counter.name += " (counter)";
  }
}

bool RocmRun::has_kernels() const noexcept {
  return tables_[static_cast<std::size_t>(RocmTable::kernel)] != kRocmUnset;
}

std::uint32_t RocmRun::table_of(RocmTable table) {
  std::uint32_t& number = tables_[static_cast<std::size_t>(table)];
  if (number == kRocmUnset) number = session_.add_table(make_rocm_schema(table, counters_));
  return number;
}

std::uint32_t RocmRun::row_of(const RowKey& key, RocmTable table, const char* kind) {
  ++rows_written_[static_cast<std::size_t>(table)];
  const auto [place, is_new] = row_numbers_.try_emplace(key, rows_.size());
  if (is_new) rows_.push_back({key, session_.add_track(table_of(table), {.kind = kind}), 0});
  WorkRow& row = rows_[place->second];
  ++row.events;
  return row.row;
}

std::size_t RocmRun::device_of(std::uint32_t process, MaybeNumber agent) {
  const std::int64_t id = agent.value_or(kNoDevice);
  const auto [place, is_new] = device_ids_.try_emplace({process, id}, devices_.size());
  if (is_new) devices_.push_back({process, {id >= 0, id, {}, {}, {}}, false, id});
  return place->second;
}

// The GPU of the two; of two, the one that is written.
std::size_t RocmRun::device_of_copy(const RocmCopy& copy) {
  const auto is_gpu = [&](const MaybeNumber& agent) {
    return agent && devices_[device_of(copy.process, agent)].agent.is_gpu;
  };
  if (is_gpu(copy.destination)) return device_of(copy.process, copy.destination);
  if (is_gpu(copy.source)) return device_of(copy.process, copy.source);
  return device_of(copy.process, copy.agent ? copy.agent : copy.destination ? copy.destination : copy.source);
}

StringId RocmRun::agent_title(std::uint32_t process, MaybeNumber agent) {
  if (!agent) return 0;
  const Device& device = devices_[device_of(process, agent)];
  return intern(device_name(device));
}

std::string RocmRun::device_name(const Device& device) {
  if (!device.known) return fmt::format("agent {}", device.id);
  return device.agent.is_gpu ? tracks::gpu_name(device.agent.number) : fmt::format("CPU {}", device.agent.number);
}

RocmRun::RowKey RocmRun::device_row(RowSort sort, const RocmOnDevice& event, std::size_t device) const {
  const bool by_queue = (event.rows_by_queue || !event.stream) && event.queue;
  return {sort, event.process, static_cast<std::int64_t>(device), by_queue ? *event.queue : event.stream.value_or(-1),
          by_queue};
}

void RocmRun::begin_work(const RocmRecord& record, const WrittenEvent& event) {
  if (record.correlation.value_or(0) == 0) return;
  work_[record.process].insert(*record.correlation);
  const auto id = static_cast<std::uint64_t>(*record.correlation);
  session_.add_flow(FlowSide::target, tracks::flow_key(record.process, id), id, event);
}

void RocmRun::write(const RocmDispatch& dispatch, std::span<const CounterValue> counters) {
  const std::size_t device = device_of(dispatch.process, dispatch.agent);
  const bool collective = collectives_.contains(dispatch.name);
  const RowSort sort = collective ? RowSort::collective : RowSort::stream;
  const std::uint32_t row =
      row_of(device_row(sort, dispatch, device), RocmTable::kernel, collective ? "collective" : "stream");
  const tracks::EventValues& values =
      values_.of(dispatch, devices_[device].agent.number, processes_[dispatch.process].pid, counters);
  begin_work(dispatch, session_.write(row, dispatch.start, dispatch.duration(), dispatch.name, values));
}

void RocmRun::write(const RocmCopy& copy) {
  const std::size_t device = device_of_copy(copy);
  const RocmTable table = copy.fills ? RocmTable::memset : RocmTable::memcpy;
  const std::uint32_t row =
      row_of(device_row(copy.fills ? RowSort::fill : RowSort::copy, copy, device), table, "dma_queue");
  const tracks::EventValues& values =
      values_.of(copy, devices_[device].agent.number, processes_[copy.process].pid,
                 copy.source ? agent_title(copy.process, copy.source) : copy.source_name,
                 copy.destination ? agent_title(copy.process, copy.destination) : copy.destination_name);
  begin_work(copy, session_.write(row, copy.start, copy.duration(), copy.name, values));
}

void RocmRun::write(const RocmOnHost& event) {
  struct Place {
    RowSort sort;
    RocmTable table;
  };
  constexpr std::array<Place, 4> kPlaces = {
      Place{RowSort::call, RocmTable::call}, Place{RowSort::region, RocmTable::region},
      Place{RowSort::mark, RocmTable::mark}, Place{RowSort::sample, RocmTable::sample}};
  const Place& place = kPlaces[static_cast<std::size_t>(event.table)];
  const std::int64_t thread = event.thread.value_or(-1);
  const std::uint32_t row = row_of({place.sort, event.process, kNoDevice, thread, false}, place.table, "host_thread");
  const WrittenEvent written = session_.write(row, event.start, event.duration(), event.name, values_.of(event));
  if (event.correlation.value_or(0) == 0 || event.table == RocmHostTable::mark) return;
  if (!has_work(event.process, *event.correlation)) return;
  const auto id = static_cast<std::uint64_t>(*event.correlation);
  session_.add_flow(FlowSide::source, tracks::flow_key(event.process, id), id, written);
  launching_.emplace(event.process, thread);
}

// What is released has the size that it was allocated with.
void RocmRun::write(const RocmAllocation& allocation) {
  MaybeNumber bytes = allocation.bytes;
  std::size_t device = device_of(allocation.process, allocation.agent);
  if (allocation.address) {
    const std::uint64_t key = mixed_bits(allocation.process, *allocation.address);
    const auto known = allocated_.find(key);
    if (!allocation.releases) {
      allocated_[key] = {allocation.bytes.value_or(0), static_cast<std::int64_t>(device)};
    } else if (known != allocated_.end()) {
      bytes = capped_difference<std::int64_t>(0, known->second.bytes);
      device = static_cast<std::size_t>(known->second.device);
      allocated_.erase(known);
    } else {
      if (*allocation.address != 0) ++unknown_releases_;
      bytes = capped_difference<std::int64_t>(0, bytes.value_or(0));
    }
  }
  const RowKey key{RowSort::memory, allocation.process, static_cast<std::int64_t>(device), 0, false};
  const std::uint32_t row = row_of(key, RocmTable::memory, "memory");
  const RocmAgent& agent = devices_[device].agent;
  session_.write(
      row, allocation.start, 0, allocation.name,
      values_.of(allocation, agent.is_gpu ? agent.number : kNoDevice, processes_[allocation.process].pid, bytes));
}

namespace {

struct AgentFactRow {
  std::string_view name;  // in lower case: tables of text write "Cu_Count"
  std::string_view fact;
};
constexpr std::array kAgentFacts = {
    AgentFactRow{"cu_count", "numSms"},
    AgentFactRow{"wave_front_size", "warpSize"},
    AgentFactRow{"max_engine_clk_fcompute", "maxEngineClockMHz"},
    AgentFactRow{"gfx_target_version", "gfxTargetVersion"},
    AgentFactRow{"lds_size_in_kb", "ldsSizeKiB"},
    AgentFactRow{"simd_per_cu", "simdPerCu"},
    AgentFactRow{"max_waves_per_simd", "maxWavesPerSimd"},
    AgentFactRow{"num_xcc", "numXcc"},
    AgentFactRow{"num_sdma_engines", "numSdmaEngines"},
    AgentFactRow{"workgroup_max_size", "maxThreadsPerBlock"},
};

// The device's own memory is the first bank.
void add_memory_size(std::string_view banks, RocmAgent& agent) {
  (void)json::each_element(banks, [&](const json::JsonField& bank) {
    (void)json::each_member(bank.text, [&](const json::JsonField& field) {
      const auto bytes = json::to_uint64(field);
      if (field.key == "size_in_bytes" && bytes.value_or(0) > 0) {
        agent.facts.emplace("totalGlobalMem", std::to_string(*bytes));
      }
      return true;
    });
    return false;
  });
}

}  // namespace

void add_agent_fact(std::string_view name, std::string_view value, RocmAgent& agent) {
  const std::string lower = lower_case(name);
  const auto row = std::find_if(kAgentFacts.begin(), kAgentFacts.end(),
                                [&](const AgentFactRow& each) { return each.name == lower; });
  if (row != kAgentFacts.end() && !value.empty() && value != "0") {
    agent.facts.emplace(std::string(row->fact), std::string(value));
  }
}

void add_agent_field(const json::JsonField& field, RocmAgent& agent) {
  if (field.key == "mem_banks" && field.kind == json::JsonKind::array) {
    add_memory_size(field.text, agent);
  } else if (field.kind == json::JsonKind::number) {
    add_agent_fact(field.key, field.text, agent);
  }
}

void add_agent_facts(std::string_view object, RocmAgent& agent) {
  (void)json::each_member(object, [&](const json::JsonField& field) {
    add_agent_field(field, agent);
    return true;
  });
}

}  // namespace accelscope::capture::sources::rocm
