#include "capture/kinds/cuda/session.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "capture/kinds/base/kind_list.h"
#include "capture/sources/tracks/gpu_tables.h"

namespace accelscope::capture::kinds::cuda {
namespace {

using namespace columns;

constexpr std::int64_t kNvmlOrder = 1'000'000'000, kSamplesOrder = kNvmlOrder + 100;  // order of tracks

constexpr ColumnSpec kColour = {"color", kString, "", kOperation, "Colour", "The colour that the program gave it."};
constexpr ColumnSpec kStack = {"stack",    kString, "", kSource, "", "From where it was called, innermost first.",
                               Role::stack};
constexpr ColumnSpec kBuilds[] = {
    {"step", kString, "", kOperation, "Step", "Whether it was compiled, or had been before."},
    {"device", kString, "", kOperation, "Device", "The device that it was built for."},
    {"correlation", kInt, "", kIds, "", "The call that had it built."},
    {"cache", kString, "", kOperation, "Cache", "The file of the driver's cache."},
    {"cache bytes", kInt, "B", kOperation, "Cached", "Size of the code in the cache."},
};

[[nodiscard]] Schema schema_of(NsysTable table, bool with_stack) {
  Schema schema = sources::nsys::nsys_schema(table);
  if (with_stack) append_columns(schema, {&kStack, 1});
  return schema;
}

[[nodiscard]] Schema nvtx_schema() {
  Schema schema = sources::nsys::nsys_schema(NsysTable::nvtx);
  append_columns(schema, {&kColour, 1});
  return schema;
}

// The bytes in the order in which they are written: "8f3c...".
[[nodiscard]] std::string uuid_text(const std::array<std::uint64_t, 2>& uuid) {
  std::string text;
  for (std::size_t i = 0; i < 16; ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    text += fmt::format("{:02x}", uuid[i / 8] >> (8 * (i % 8)) & 0xFFU);
  }
  return text;
}

}  // namespace

CudaTables::CudaTables(SessionWriter& writer, bool with_stacks)
    : kernel(writer, schema_of(NsysTable::kernel, with_stacks)),
      copy(writer, schema_of(NsysTable::memcpy, with_stacks)),
      set(writer, schema_of(NsysTable::memset, with_stacks)),
      sync(writer, schema_of(NsysTable::cuda_sync, false)),
      call(writer, schema_of(NsysTable::runtime_call, false)),  // it has one in any case
      nvtx(writer, nvtx_schema()),
      graph(writer, schema_of(NsysTable::cuda_graph, with_stacks)),
      event(writer, schema_of(NsysTable::cuda_event, false)),
      memory(writer, schema_of(NsysTable::memory, with_stacks)),
      pool(writer, schema_of(NsysTable::memory_pool, false)),
      fault(writer, schema_of(NsysTable::page_fault, false)),
      overhead(writer, schema_of(NsysTable::overhead, false)),
      build(writer, make_schema({"build", EventKind::slice, "build", "What the driver's compiler built."}, kBuilds)),
      counter(writer, sources::tracks::make_counter_schema()),
      of_kernel{.short_name = kernel.at("shortName"),
                .green = kernel.at("greenContextId"),
                .graph_node = kernel.at("graphNodeId"),
                .graph = kernel.at("graphId"),
                .grid_id = kernel.at("gridId"),
                .static_shared = kernel.at("staticSharedMemory"),
                .dynamic_shared = kernel.at("dynamicSharedMemory"),
                .shared_executed = kernel.at("sharedMemoryExecuted"),
                .local_per_thread = kernel.at("localMemoryPerThread"),
                .local_total = kernel.at("localMemoryTotal"),
                .cache_config = kernel.at("cacheConfig"),
                .shared_limit = kernel.at("sharedMemoryLimitConfig"),
                .carveout = kernel.at("sharedMemoryRequestedPercentage"),
                .cluster_policy = kernel.at("clusterSchedulingPolicy"),
                .largest_cluster = kernel.at("maxPotentialClusterSize"),
                .active_clusters = kernel.at("maxActiveClusters")} {}

CudaSession::CudaSession(SessionWriter& session_writer, std::chrono::steady_clock::time_point origin,
                         bool with_counters, bool with_stacks, unsigned sampling_rate)
    : writer(session_writer),
      tables(session_writer, with_stacks),
      flows(session_writer),
      origin_ns_(std::chrono::nanoseconds(origin.time_since_epoch()).count()) {
  if (sampling_rate > 0) sampler_ = std::make_unique<PmSampler>(origin, sampling_rate);
  if (!with_counters) return;
  counters_ = std::make_unique<GpuCounters>(origin);
  if (counters_->failure().empty()) return;
  writer.add_quality({"probe_trouble", 1, fmt::format("no counters of GPUs: {}", counters_->failure())});
  counters_.reset();
}

std::uint32_t CudaSession::gpu(std::uint32_t number, std::array<std::uint64_t, 2> uuid) {
  const bool is_known = uuid != std::array<std::uint64_t, 2>{};
  for (const auto& [place, gpu] : gpus_) {
    if (is_known ? gpu.uuid == uuid : place == number) return place;
  }
  // What was met before it had said who it is.
  if (const auto same = gpus_.find(number); same != gpus_.end() && same->second.uuid == decltype(uuid){}) {
    same->second.uuid = uuid;
    if (sampler_ != nullptr && is_known) sampler_->add({number, same->second.label, uuid});
    return number;
  }
  while (gpus_.contains(number)) ++number;
  Gpu& gpu = gpus_[number];
  gpu.uuid = uuid;
  gpu.label = sources::tracks::gpu_name(std::int64_t{number});
  gpu.counters.fill(kNone);
  gpu.samples.fill(kNone);
  if (sampler_ != nullptr && is_known) sampler_->add({number, gpu.label, uuid});
  return number;
}

StringId CudaSession::dimensions(std::int64_t x, std::int64_t y, std::int64_t z) {
  const auto [known, is_new] = dimensions_.try_emplace({x, y, z}, 0);
  if (is_new) known->second = writer.intern(fmt::format("[{}, {}, {}]", x, y, z));
  return known->second;
}

void CudaSession::sample(std::uint32_t gpu, GpuFigure figure, std::int64_t ns, double value) {
  Gpu& of = at(gpu);
  const GpuFigureRow& row = kGpuFigures[static_cast<std::size_t>(figure)];
  TrackNumber& track = of.counters[static_cast<std::size_t>(figure)];
  if (track == kNone) track = counter_track(of, row.name, row.unit, kNvmlOrder + static_cast<std::int64_t>(figure));
  writer.sample(track, ns, value);
}

TrackNumber CudaSession::counter_track(const Gpu& of, const char* name, const char* unit, std::int64_t order) {
  return writer.add_track({.name = name,
                           .kind = "counter",
                           .device = of.label,
                           .unit = unit,
                           .schema = tables.counter.number(),
                           .order = order});
}

void CudaSession::settle_counters() {
  if (sampler_ != nullptr) sampler_->settle();
  write_counters();
}

void CudaSession::write_samples() {
  for (const PmSample& each : sampler_->take()) {
    Gpu& of = at(each.gpu);
    for (std::size_t i = 0; i < kPmFigureCount; ++i) {
      if (std::isnan(each.values[i])) continue;
      const PmFigureRow& row = kPmFigures[i];
      if (of.samples[i] == kNone) {
        of.samples[i] = counter_track(of, row.name, row.unit, kSamplesOrder + static_cast<std::int64_t>(i));
      }
      writer.sample(of.samples[i], each.begin_ns, each.values[i]);
    }
  }
  for (QualityEntry& notice : sampler_->take_notices()) writer.add_quality(std::move(notice));
}

void CudaSession::write_counters() {
  if (sampler_ != nullptr) write_samples();
  if (counters_ == nullptr) return;
  for (const GpuSample& each : counters_->take()) {
    const auto used = std::find_if(gpus_.begin(), gpus_.end(), [&](const auto& entry) {
      return each.uuid.ends_with(uuid_text(entry.second.uuid));
    });
    if (used != gpus_.end()) sample(used->first, each.figure, each.ns, each.value);
  }
}

}  // namespace accelscope::capture::kinds::cuda
