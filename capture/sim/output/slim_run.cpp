#include "capture/sim/output/slim_run.h"

#include <memory>
#include <string>
#include <vector>

#include "capture/sim/kernel/schedule.h"
#include "capture/sim/kernel/trace.h"
#include "capture/sim/output/pacer.h"
#include "core/chunk/chunk_builder.h"
#include "core/model/column_spec.h"

namespace accelscope::capture::sim {
namespace {

constexpr std::size_t kLanesPerDevice = kUnitCount + kDmaEngines;
constexpr std::uint32_t kPacedOperations = 64;  // between two looks at the clock

struct DeviceLanes {
  std::array<std::unique_ptr<ChunkBuilder>, kLanesPerDevice> builders;
};

// Appends the events of one device.
class SlimVisitor {
 public:
  SlimVisitor(const KernelProgram& program, DeviceLanes& lanes, EventSink& sink)
      : lanes_(lanes), sink_(sink), first_site_string_(static_cast<StringId>(program.names.size() - 1)) {}

  void instruction(std::uint32_t, const Operation& operation, std::int64_t start, std::int64_t duration,
                   std::int64_t wait) {
    append(static_cast<std::size_t>(operation.unit), operation, operation.bytes, start, duration, wait);
  }
  void packet(std::uint32_t, const Operation& operation, unsigned engine, std::int64_t start, std::int64_t duration) {
    append(kUnitCount + engine, operation, operation.bytes / kDmaEngines, start, duration, 0);
  }
  void transfer(std::uint32_t, const Operation&, std::int64_t, std::int64_t) {}
  void collective(const Operation& operation, const CollectiveTimes& times) {
    append(static_cast<std::size_t>(Unit::collective), operation, operation.bytes, times.start, times.end - times.start,
           times.start - times.arrival);
  }

  void flush() {
    for (auto& builder : lanes_.builders) {
      if (!builder->empty()) seal(*builder);
    }
  }
  [[nodiscard]] const Result<void>& status() const { return status_; }

 private:
  void append(std::size_t lane, const Operation& operation, std::int64_t bytes, std::int64_t start,
              std::int64_t duration, std::int64_t wait) {
    ChunkBuilder& builder = *lanes_.builders[lane];
    const std::uint32_t row = builder.append(start, duration, operation.name);
    builder.set_uint64(kSlimSourceLocation, row, operation.site == 0 ? 0 : first_site_string_ + operation.site);
    builder.set_int64(kSlimBytes, row, bytes);
    builder.set_int64(kSlimWait, row, wait);
    if (builder.full()) seal(builder);
  }
  void seal(ChunkBuilder& builder) {
    SealedChunk chunk = builder.seal();
    if (status_.ok()) status_ = sink_.append(std::move(chunk));
  }

  DeviceLanes& lanes_;
  EventSink& sink_;
  StringId first_site_string_;
  Result<void> status_;
};

class SlimRun {
 public:
  SlimRun(const SimulationOptions& options, EventSink& sink)
      : options_(options),
        sink_(sink),
        program_(changed_program(options)),
        pacer_(options.rate_events_per_second, options.seconds) {
    if (options_.kernels == 0 && options_.events == 0 && options_.seconds <= 0) options_.kernels = 100;
  }

  Result<void> run() {
    const Result<void> defined = define_all();
    if (!defined.ok()) return defined;
    for (std::uint32_t device = 0; device < options_.devices; ++device) {
      cores_.emplace_back(program_, options_.seed * 64 + device);
      visitors_.emplace_back(program_, *lanes_[device], sink_);
    }
    for (std::uint64_t kernel = 0; !finished(kernel); ++kernel) run_kernel();
    for (SlimVisitor& visitor : visitors_) visitor.flush();
    return status();
  }

 private:
  Result<void> define_all();
  Result<void> define_device(std::uint32_t device, const Schema& schema);
  void run_kernel();
  void run_segment(std::uint32_t from, std::uint32_t until);
  void meet(std::uint32_t index);

  [[nodiscard]] bool reached() const noexcept { return options_.events != 0 && events_ >= options_.events; }
  [[nodiscard]] bool stopped() const { return !status().ok() || sink_.cancelled(); }
  [[nodiscard]] bool finished(std::uint64_t kernel) const {
    return reached() || (options_.kernels != 0 && kernel >= options_.kernels) || pacer_.out_of_time() || stopped();
  }
  [[nodiscard]] Result<void> status() const {
    for (const SlimVisitor& visitor : visitors_) {
      if (!visitor.status().ok()) return visitor.status();
    }
    return {};
  }
  void flush() {
    for (SlimVisitor& visitor : visitors_) visitor.flush();
  }

  SimulationOptions options_;
  EventSink& sink_;
  KernelProgram program_;
  Pacer pacer_;
  std::vector<std::unique_ptr<DeviceLanes>> lanes_;
  std::vector<CoreState> cores_;
  std::vector<SlimVisitor> visitors_;
  std::vector<CollectiveTimes> collective_times_;
  std::uint64_t events_ = 0;
};

Result<void> SlimRun::define_device(std::uint32_t device, const Schema& schema) {
  auto lanes = std::make_unique<DeviceLanes>();
  const auto first_lane = static_cast<LaneNumber>(device * kLanesPerDevice);
  std::uint32_t engine_track = 0;
  for (std::uint32_t index = 0; index < kLanesPerDevice; ++index) {
    const bool dma = index >= kUnitCount;
    const auto unit = static_cast<Unit>(index);
    Lane lane{.number = first_lane + index, .track = first_lane + index, .depth = 0};
    if (unit == Unit::scalar_table && !dma) {
      lane.track = first_lane + static_cast<std::uint32_t>(Unit::scalar);  // beside the Scalar engine
      lane.depth = 1;
    } else {
      Track track{.number = lane.track,
                  .name = dma ? "DMA " + std::to_string(index - kUnitCount)
                              : (unit == Unit::collective ? "CC-core 8-11" : std::string(unit_name(unit))),
                  .kind = dma ? "dma_queue" : (unit == Unit::collective ? "collective" : "engine"),
                  .device = "nc" + std::to_string(device),
                  .schema = schema.number,
                  .order = engine_track++};
      if (Result<void> defined = sink_.define(track); !defined.ok()) return defined;
    }
    if (Result<void> defined = sink_.define(lane); !defined.ok()) return defined;
    lanes->builders[index] = std::make_unique<ChunkBuilder>(schema, lane.number);
  }
  lanes_.push_back(std::move(lanes));
  return {};
}

Result<void> SlimRun::define_all() {
  const Schema schema = slim_schema();
  StringBatch strings;
  strings.strings.assign(program_.names.begin() + 1, program_.names.end());
  for (std::size_t site = 1; site < program_.sites.size(); ++site) {
    strings.strings.push_back(program_.sites[site].location);
  }
  const Definition definitions[] = {schema, strings, SourceFile{std::string(kDemoFile), std::string(demo_source())},
                                    MetaEntry{"source", "simulated accelerator"},
                                    MetaEntry{"simulation.seed", std::to_string(options_.seed)}};
  for (const Definition& definition : definitions) {
    if (Result<void> defined = sink_.define(definition); !defined.ok()) return defined;
  }
  for (std::uint32_t device = 0; device < options_.devices; ++device) {
    if (Result<void> defined = define_device(device, schema); !defined.ok()) return defined;
  }
  return {};
}

void SlimRun::run_kernel() {
  std::int64_t now = 0;
  for (const CoreState& core : cores_) now = std::max(now, core.kernel_end());
  for (CoreState& core : cores_) core.begin_kernel(now + kBetweenKernelsNs);

  const auto count = static_cast<std::uint32_t>(program_.operations.size());
  std::uint32_t from = 1;
  while (from < count && !reached() && !stopped()) {
    if (program_.operations[from].kind == OperationKind::collective) {
      meet(from++);
      continue;
    }
    std::uint32_t until = from;
    // Looks at the clock often where the rate is limited, and at the count where the limit lies in this kernel.
    const bool near_the_limit =
        options_.events != 0 && options_.events - events_ <= program_.slim_events * cores_.size();
    const std::uint32_t most = near_the_limit ? 1 : (pacer_.limited() ? kPacedOperations : count);
    while (until < count && until - from < most && program_.operations[until].kind != OperationKind::collective)
      ++until;
    run_segment(from, until);
    from = until;
    pacer_.keep(
        events_, [this] { flush(); }, [this] { return stopped(); }, [this] { return sink_.paused(); });
  }
}

void SlimRun::run_segment(std::uint32_t from, std::uint32_t until) {
  std::uint64_t each = 0;
  for (std::uint32_t index = from; index < until; ++index) {
    each += program_.operations[index].kind == OperationKind::transfer ? static_cast<std::uint64_t>(kDmaEngines) : 1;
  }
  for (std::size_t device = 0; device < cores_.size(); ++device) {
    run_operations(cores_[device], program_, from, until, visitors_[device]);
  }
  events_ += each * cores_.size();
}

void SlimRun::meet(std::uint32_t index) {
  run_collective(cores_, program_, index, collective_times_);
  for (std::size_t device = 0; device < cores_.size(); ++device) {
    visitors_[device].collective(program_.operations[index], collective_times_[device]);
  }
  events_ += cores_.size();
}

}  // namespace

Schema slim_schema() {
  using namespace columns;
  constexpr std::string_view kWaits[] = {"EVENT_SEMAPHORE"};
  return make_schema(
      {"operation", EventKind::slice, "opcode", "What the engine executed, or the tensor that a packet carries.",
       kWaits},
      {{"source_location", kString, "", kLayerAndSource, "Source", "Line of the kernel that produced the operation.",
        Role::source_location, true},
       {"bytes", kInt, "B", kMemory, "Bytes", "Bytes that the operation read and wrote.", Role::bytes, true},
       {"wait_ns", kInt, "ns", kTiming, "Waited before",
        "How long the operation was ready to issue but had to wait for what it needs.", Role::wait_ns, true}});
}

Result<void> run_slim(const SimulationOptions& options, EventSink& sink) { return SlimRun(options, sink).run(); }

}  // namespace accelscope::capture::sim
