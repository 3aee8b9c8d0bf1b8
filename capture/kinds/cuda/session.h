// What the processes of a capture of CUDA share: tables, which are those of exports of Nsight Systems, GPUs by what
// they are and not by how a process numbers them, and counters.
#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "capture/kinds/base/held_records.h"
#include "capture/kinds/base/launches.h"
#include "capture/kinds/base/symbols.h"
#include "capture/kinds/cuda/counters.h"
#include "capture/kinds/cuda/pm_sampling.h"
#include "capture/sources/nsys/write/tables.h"
#include "core/chunk/session_writer.h"

namespace accelscope::capture::kinds::cuda {

using sources::nsys::NsysTable;

// A table and the places of its columns by name, found once.
class CudaTable {
 public:
  CudaTable(SessionWriter& writer, Schema schema)
      : writer_(&writer), schema_(std::move(schema)), stack_(schema_.find(Role::stack)) {}
  [[nodiscard]] std::size_t at(std::string_view column) const { return schema_.find(column).value(); }
  // Of the call stack, where the table has one.
  [[nodiscard]] std::optional<std::size_t> stack() const noexcept { return stack_; }
  // Defined when it is first asked for.
  [[nodiscard]] SchemaNumber number() {
    if (number_ == kNone) number_ = writer_->add_schema(schema_);
    return number_;
  }

 private:
  SessionWriter* writer_;
  Schema schema_;
  std::optional<std::size_t> stack_;
  SchemaNumber number_ = kNone;
};

struct KernelFurther {
  std::size_t short_name, green, graph_node, graph, grid_id, static_shared, dynamic_shared, shared_executed,
      local_per_thread, local_total, cache_config, shared_limit, carveout, cluster_policy, largest_cluster,
      active_clusters;
};

struct CudaTables {
  CudaTables(SessionWriter& writer, bool with_stacks);
  CudaTable kernel, copy, set, sync, call, nvtx, graph, event, memory, pool, fault, overhead, build, counter;
  KernelFurther of_kernel;
};

// A GPU of the host, or a part of one.
struct Gpu {
  std::array<std::uint64_t, 2> uuid{};  // 0: not known
  std::string name;
  std::string label;  // "GPU 0"
  std::int64_t multiprocessors = 0;
  TrackNumber memory = kNone, pools = kNone;
  std::array<TrackNumber, std::size(kGpuFigures)> counters{};
  std::array<TrackNumber, kPmFigureCount> samples{};
};

class CudaSession {
 public:
  // sampling_rate: of the multiprocessors' counters, samples a second; 0: they are not sampled.
  CudaSession(SessionWriter& writer, std::chrono::steady_clock::time_point origin, bool with_counters, bool with_stacks,
              unsigned sampling_rate);

  // A GPU that a process calls `number`. Processes that call another one so get the next free number.
  [[nodiscard]] std::uint32_t gpu(std::uint32_t number, std::array<std::uint64_t, 2> uuid);
  [[nodiscard]] Gpu& at(std::uint32_t gpu) { return gpus_.at(gpu); }
  [[nodiscard]] StringId dimensions(std::int64_t x, std::int64_t y, std::int64_t z);  // "[16, 2, 1]"
  [[nodiscard]] StringId word(std::string_view word) { return writer.intern(word); }
  // Where a program has its libcupti, before the first of its GPUs.
  void use_cupti(const std::string& path) {
    if (sampler_ != nullptr) sampler_->use_library(path);
  }
  void write_counters();
  void settle_counters();  // and those up to now
  // A counter of a GPU from another place than NVML.
  void sample(std::uint32_t gpu, GpuFigure figure, std::int64_t ns, double value);
  [[nodiscard]] std::uint64_t new_process() { return process_count_++; }
  [[nodiscard]] std::int64_t to_session(std::int64_t monotonic_ns) const noexcept {
    return std::clamp(monotonic_ns, -kLatestNs, kLatestNs) - origin_ns_;
  }

  SessionWriter& writer;
  CudaTables tables;
  SymbolBook symbols;
  Flows flows;

 private:
  std::map<std::uint32_t, Gpu> gpus_;
  std::map<std::array<std::int64_t, 3>, StringId> dimensions_;
  void write_samples();
  [[nodiscard]] TrackNumber counter_track(const Gpu& of, const char* name, const char* unit, std::int64_t order);

  std::unique_ptr<GpuCounters> counters_;
  std::unique_ptr<PmSampler> sampler_;
  std::int64_t origin_ns_;
  std::uint64_t process_count_ = 0;
};

}  // namespace accelscope::capture::kinds::cuda
