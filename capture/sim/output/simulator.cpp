#include "capture/sim/output/simulator.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <future>
#include <memory>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "capture/sim/kernel/run_metrics.h"
#include "capture/sim/kernel/schedule.h"
#include "capture/sim/kernel/time_model.h"
#include "capture/sim/kernel/trace.h"
#include "capture/sim/output/session_events.h"
#include "capture/sources/neuron/read/table_rules.h"
#include "core/chunk/chunk_builder.h"
#include "core/chunk/session_writer.h"
#include "core/model/column_spec.h"
#include "core/names/collective_words.h"

namespace accelscope::capture::sim {

// Keeps a live simulation to a rate of events by the wall clock, holds it while the capture is paused, and says when to
// stop by time. At an unlimited rate it never sleeps otherwise and asks for a flush by event count, so that equal runs
// give equal bytes.

class Pacer {
 public:
  static constexpr std::chrono::milliseconds kFlushPeriod{100};
  static constexpr std::uint64_t kFlushEvents = 4'000'000;  // about 100 ms at full speed

  Pacer(double events_per_second, double seconds) noexcept
      : rate_(events_per_second), seconds_(seconds), begin_(Clock::now()), flushed_at_(begin_) {}

  [[nodiscard]] bool limited() const noexcept { return std::isfinite(rate_); }
  [[nodiscard]] bool out_of_time() const noexcept { return seconds_ > 0 && elapsed() >= seconds_; }

  // Returns when `events` may have been made and paused() is false; calls flush() meanwhile. Gives up early when stop()
  // is true.
  template <typename Flush, typename Stop, typename Paused>
  void keep(std::uint64_t events, Flush flush, Stop stop, Paused paused) {
    if (paused()) hold(flush, stop, paused);
    if (!limited()) {
      if (events - flushed_events_ >= kFlushEvents) {
        flushed_events_ = events;
        flush();
      }
      return;
    }
    for (;;) {
      const Clock::time_point now = Clock::now();
      if (now - flushed_at_ >= kFlushPeriod) {
        flushed_at_ = now;
        flush();
      }
      const double ahead = static_cast<double>(events) / rate_ - elapsed();
      if (ahead <= 0 || out_of_time() || stop()) return;
      std::this_thread::sleep_for(
          std::min(std::chrono::duration<double>(ahead), std::chrono::duration<double>(kFlushPeriod)));
    }
  }

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr std::chrono::milliseconds kNap{20};

  // Time that goes by during a pause counts for neither the rate nor the end.
  template <typename Flush, typename Stop, typename Paused>
  void hold(Flush flush, Stop stop, Paused paused) {
    const Clock::time_point begin = Clock::now();
    flush();
    while (paused() && !stop()) std::this_thread::sleep_for(kNap);
    begin_ += Clock::now() - begin;
  }
  [[nodiscard]] double elapsed() const noexcept { return std::chrono::duration<double>(Clock::now() - begin_).count(); }

  double rate_;
  double seconds_;
  Clock::time_point begin_;
  Clock::time_point flushed_at_;
  std::uint64_t flushed_events_ = 0;
};

Result<void> check_logical_core(const SimulationOptions& options) {
  const auto sizes = analysis::neuron::logical_core_sizes(options.shape.core.chip);
  const std::uint32_t cores = options.cores_per_device;
  if (std::ranges::find(sizes, static_cast<int>(cores)) == sizes.end()) {
    return Error{fmt::format("--lnc: {} has no logical cores of {} physical ones; write {}",
                             analysis::neuron::chip_name(options.shape.core.chip), cores, fmt::join(sizes, " or "))};
  }
  if (options.devices * cores > kMostDevices) {
    return Error{fmt::format("--lnc: {} devices of {} cores are {} physical cores; {} are simulated at most",
                             options.devices, cores, options.devices * cores, kMostDevices)};
  }
  if (options.detail == Detail::ranks && cores > 1)
    return Error{"--lnc: a rank has one core here; leave one of them out"};
  return {};
}

Result<void> simulate(const SimulationOptions& options, EventSink& sink) {
  if (options.devices < 1 || options.devices > kMostDevices) {
    return Error{"simulate: " + std::to_string(options.devices) + " devices; choose 1 to 64"};
  }
  TRY(check_logical_core(options));
  if (!(options.rate_events_per_second > 0)) return Error{"simulate: the rate must be above zero, or max"};
  if (options.detail == Detail::ranks) return run_ranks(options, sink);
  return options.detail == Detail::slim ? run_slim(options, sink) : run_session(options, sink);
}

Result<SimulationOptions> vendor_file_options(SimulationOptions options) {
  if (options.devices != 1) {
    return Error{"simulate: a Neuron Profile JSON file describes one core; write one file per core, with other seeds"};
  }
  options.vendor_file = true;
  options.seconds = 0;
  options.detail = Detail::full;
  if (options.kernels == 0 && options.events == 0) options.kernels = 2;
  return options;
}

namespace {

using sources::neuron::NeuronTable;

constexpr std::uint64_t kUsualSteps = 48;
constexpr std::int64_t kLayers = 12;
constexpr double kBusBytesPerNs = 68;            // what a link carries
constexpr std::int64_t kComputeJitterNs = 1023;  // masks: a power of two less one
constexpr std::int64_t kEndJitterNs = 127;
constexpr std::int64_t kTriggerGapNs = 60;  // from the end of the work to the request
constexpr double kMostDrift = 2e-6;

// What a rank computes in a step, one after the other.
struct StepPart {
  std::string_view name;
  std::int64_t ns;
  bool grows;  // on the straggler
};
constexpr std::array kStepParts = std::to_array<StepPart>({{"attention fwd", 62'000, false},
                                                           {"mlp fwd", 74'000, false},
                                                           {"mlp bwd", 148'000, true},
                                                           {"attention bwd", 121'000, false}});

struct StepCollective {
  std::string_view operation;
  std::int64_t bytes;
  std::string_view algorithm;
};
constexpr StepCollective kGradients = {"AllReduce", 4 << 20, "Ring"};
constexpr StepCollective kEmbeddings = {"AllReduce", 16 << 20, "Ring"};
constexpr StepCollective kGatherWeights = {"AllGather", 32 << 20, "Ring"};
constexpr StepCollective kScatterGradients = {"ReduceScatter", 32 << 20, "Ring"};
constexpr StepCollective kLoss = {"AllReduce", 8, "Tree"};

[[nodiscard]] const StepCollective& collective_of(std::uint64_t step) noexcept {
  switch (step % 16) {
    case 3:
      return kGatherWeights;
    case 7:
    case 11:
      return kEmbeddings;
    case 13:
      return kScatterGradients;
    case 15:
      return kLoss;
    default:
      return kGradients;
  }
}

template <NeuronTable kTable>
[[nodiscard]] std::size_t column_of(std::string_view name) {
  return sources::neuron::neuron_column(kTable, name);
}

class RankRun {
 public:
  RankRun(const SimulationOptions& options, EventSink& sink) : options_(options), writer_(sink), draw_(options.seed) {
    if (options_.kernels == 0 && options_.events == 0) options_.kernels = kUsualSteps;
  }

  Result<void> run() {
    writer_.set_meta("source", "simulated ranks");
    writer_.set_meta("simulation.seed", fmt::format("{}", options_.seed));
    define_ranks();
    const auto enough = [&](std::uint64_t step) {
      return writer_.cancelled() || (options_.kernels != 0 && step >= options_.kernels) ||
             (options_.events != 0 && writer_.event_count() >= options_.events);
    };
    for (std::uint64_t step = 0; !enough(step); ++step) run_step(step);
    return writer_.finish();
  }

 private:
  struct Rank {
    Jitter jitter{0};
    TrackNumber compute = kNone, collectives = kNone;
    bool reported = true;
    std::int64_t free_ns = 0, arrival_ns = 0;
  };

  void define_ranks() {
    using namespace columns;
    const SchemaNumber compute = writer_.add_schema(
        make_schema({"compute", EventKind::slice, "operation", "What the rank computes."},
                    {{"layer", kString, "", kLayerAndSource, "Layer", "Path of the model's layer.", Role::layer}}));
    const SchemaNumber collectives = writer_.add_schema(sources::neuron::neuron_schema(NeuronTable::cc_op));
    ClockNumber clock = kNone;
    std::string members;
    for (std::uint32_t r = 0; r < options_.devices; ++r) {
      members += fmt::format("{}{}", r == 0 ? "" : ",", r);
      if (r % kRanksOfHost == 0 && options_.faults.clock_skew_ns > 0) clock = add_clock(r / kRanksOfHost);
      Rank& rank = ranks_.emplace_back();
      rank.jitter = Jitter(options_.seed * 64 + r);
      rank.reported = options_.faults.missing != r;
      if (!rank.reported) continue;
      Track track;
      track.device = fmt::format("rank {} nc{}", r, r % kRanksOfHost);
      track.host = fmt::format("host {}", r / kRanksOfHost);
      track.clock = clock;
      track.name = "Compute";
      track.kind = "engine";
      track.schema = compute;
      track.order = 0;
      rank.compute = writer_.add_track(track);
      track.name = "Collectives";
      track.kind = "collective";
      track.schema = collectives;
      track.order = 1;
      rank.collectives = writer_.add_track(track);
    }
    group_ = writer_.intern("[[" + members + "]]");
  }

  // A host's clock shows the time of the run, which the map lays beside where it is.
  [[nodiscard]] ClockNumber add_clock(std::uint32_t host) {
    const auto skew = static_cast<double>(options_.faults.clock_skew_ns);
    const auto drawn = [&] { return static_cast<double>(draw_.next() >> 11) / 9007199254740992.0 * 2 - 1; };
    constexpr std::int64_t kFar = 1'000'000'000'000;
    const auto offset = static_cast<std::int64_t>(std::llround(drawn() * skew + skew));
    const auto drift = static_cast<std::int64_t>(std::llround(drawn() * kMostDrift * static_cast<double>(kFar)));
    Clock clock;
    clock.name = fmt::format("host {}", host);
    clock.anchors = {{0, offset}, {kFar, kFar + offset + drift}};
    clock.residual_ns = skew;
    return writer_.add_clock(std::move(clock));
  }

  void run_step(std::uint64_t step) {
    const StepCollective& collective = collective_of(step);
    const StringId layer = writer_.intern(fmt::format("/layers.{}", static_cast<std::int64_t>(step) % kLayers));
    std::int64_t all = 0;
    for (std::uint32_t r = 0; r < ranks_.size(); ++r) {
      compute(r, layer);
      all = std::max(all, ranks_[r].arrival_ns);
    }
    const double embedded = static_cast<double>(collective.bytes) * bus_factor(collective.operation, ranks_.size());
    const auto slower = static_cast<double>(draw_.next() & 255) / 255 * 0.1;  // the links are others' as well
    const std::int64_t ring = 2 * static_cast<std::int64_t>(ranks_.size() - 1) * kRingStepNs / 16;
    const std::int64_t duration = ring + std::llround(embedded / kBusBytesPerNs * (1 + slower));
    for (Rank& rank : ranks_) {
      const std::int64_t end = all + duration + draw(rank, kEndJitterNs);
      if (rank.reported) write_collective(rank, collective, layer, step, all, end);
      rank.free_ns = end;
    }
  }

  void compute(std::uint32_t number, StringId layer) {
    Rank& rank = ranks_[number];
    const bool late = options_.faults.straggler == number && rank.jitter.next() % 10 != 0;
    for (const StepPart& part : kStepParts) {
      const std::int64_t ns =
          part.ns + draw(rank, kComputeJitterNs) + (late && part.grows ? options_.faults.late_ns : 0);
      if (rank.reported) {
        Row row = writer_.begin_event(rank.compute, rank.free_ns, ns, writer_.intern(part.name));
        row.string(0, layer);
      }
      rank.free_ns += ns;
    }
    rank.arrival_ns = rank.free_ns + kTriggerGapNs;
  }

  void write_collective(const Rank& rank, const StepCollective& collective, StringId layer, std::uint64_t step,
                        std::int64_t begin, std::int64_t end) {
    constexpr auto kOp = NeuronTable::cc_op;
    const bool gathers = collective.operation == kGatherWeights.operation;
    const bool scatters = collective.operation == kScatterGradients.operation;
    const auto share = collective.bytes / static_cast<std::int64_t>(ranks_.size());
    Row row = writer_.begin_event(rank.collectives, begin, end - begin, writer_.intern(collective.operation));
    row.integer(column_of<kOp>("cc_trigger"), rank.arrival_ns);
    row.integer(column_of<kOp>("cc_trigger_start_delay"), begin - rank.arrival_ns);
    row.string(column_of<kOp>("algorithm"), writer_.intern(collective.algorithm));
    row.string(column_of<kOp>("dtype"), writer_.intern("bfloat16"));
    row.integer(column_of<kOp>("num_elements"), collective.bytes / 2);
    row.string(column_of<kOp>("replica_group"), group_);
    row.integer(column_of<kOp>("input_size"), gathers ? share : collective.bytes);
    row.integer(column_of<kOp>("output_size"), scatters ? share : collective.bytes);
    row.unsigned_integer(column_of<kOp>("op_id"), step + 1);
    row.string(column_of<kOp>("layer"), layer);
  }

  [[nodiscard]] static std::int64_t draw(Rank& rank, std::int64_t mask) {
    return static_cast<std::int64_t>(rank.jitter.next() & static_cast<std::uint64_t>(mask));
  }

  SimulationOptions options_;
  SessionWriter writer_;
  Jitter draw_;
  std::vector<Rank> ranks_;
  StringId group_ = 0;
};

}  // namespace

Result<void> run_ranks(const SimulationOptions& options, EventSink& sink) { return RankRun(options, sink).run(); }

namespace {

bool is_before(const SessionItem& a, const SessionItem& b) { return a.time < b.time; }

class SessionRun {
 public:
  SessionRun(const SimulationOptions& options, TracedRun run, EventSink& sink)
      : run_(std::move(run)),
        sink_(sink),
        writer_(sink),
        events_(writer_, run_.options()),
        pacer_(options.rate_events_per_second, options.seconds),
        whole_(run_.options().shape.core, options.cores_per_device) {
    if (options.cores_per_device > 1) parts_.resize(options.cores_per_device, RunMetrics(run_.options().shape.core));
  }

  // While one pass is written, the next is made on another thread, if one is to be had.
  Result<void> run() {
    traces_.assign(run_.traces().begin(), run_.traces().end());
    const auto make_pass = [this] { return std::async([this] { return run_.advance(); }); };
    std::future<bool> made = make_pass();
    while (!writer_.cancelled() && !pacer_.out_of_time() && made.get()) {
      run_.swap_traces(traces_);
      made = make_pass();
      add_metrics();
      emit_pass();
    }
    if (made.valid()) made.wait();
    events_.write_tables(run_.program(), parts_.empty() ? std::span(&whole_, 1) : std::span(std::as_const(parts_)),
                         whole_);
    return writer_.finish();
  }

 private:
  // Figures are those of the first device.
  void add_metrics() {
    for (std::size_t part = 0; part < parts_.size(); ++part) parts_[part].add(std::span(&traces_[part], 1));
    whole_.add(std::span(traces_).first(std::max<std::size_t>(parts_.size(), 1)));
  }

  // Each core's records, merged by time.
  void emit_pass() {
    items_.clear();
    for (const KernelTrace& trace : traces_) events_.list(trace, items_);
    merge_lists(items_, spare_, is_before);
    constexpr std::size_t kBetweenLooks = 32;
    for (std::size_t index = 0; index < items_.size(); ++index) {
      events_.write(traces_[items_[index].device], items_[index]);
      if (index % kBetweenLooks != 0) continue;
      pacer_.keep(
          writer_.event_count(), [this] { writer_.flush(); }, [this] { return writer_.cancelled(); },
          [this] { return sink_.paused(); });
      if (writer_.cancelled() || (pacer_.limited() && pacer_.out_of_time())) return;
    }
  }

  TracedRun run_;
  EventSink& sink_;
  SessionWriter writer_;
  SessionEvents events_;
  Pacer pacer_;
  RunMetrics whole_;
  std::vector<RunMetrics> parts_;    // by physical core, where there are several
  std::vector<KernelTrace> traces_;  // of the pass that is written
  std::vector<SessionItem> items_;
  std::vector<SessionItem> spare_;
};

}  // namespace

Result<void> run_session(const SimulationOptions& options, EventSink& sink) {
  return SessionRun(options, TracedRun(options), sink).run();
}

Result<void> run_session(const SimulationOptions& options, RunPlan plan, EventSink& sink) {
  return SessionRun(options, TracedRun(options, std::move(plan)), sink).run();
}

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
    for (std::uint32_t device = 0; device < core_count(); ++device) {
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

  [[nodiscard]] std::uint32_t core_count() const noexcept { return options_.devices * options_.cores_per_device; }
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
  for (std::uint32_t device = 0; device < core_count(); ++device) {
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
  run_collective(cores_, program_, index, options_.devices == 1, collective_times_);
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
