#include "capture/sim/output/rank_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "capture/sim/kernel/schedule.h"
#include "capture/sim/kernel/time_model.h"
#include "capture/sources/neuron/read/schemas.h"
#include "core/chunk/session_writer.h"
#include "core/model/column_spec.h"
#include "core/names/collective_words.h"

namespace accelscope::capture::sim {
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
    bool told = true;
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
      rank.told = options_.faults.missing != r;
      if (!rank.told) continue;
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
    const double carried = static_cast<double>(collective.bytes) * bus_factor(collective.operation, ranks_.size());
    const auto slower = static_cast<double>(draw_.next() & 255) / 255 * 0.1;  // the links are others' as well
    const std::int64_t ring = 2 * static_cast<std::int64_t>(ranks_.size() - 1) * kRingStepNs / 16;
    const std::int64_t duration = ring + std::llround(carried / kBusBytesPerNs * (1 + slower));
    for (Rank& rank : ranks_) {
      const std::int64_t end = all + duration + draw(rank, kEndJitterNs);
      if (rank.told) write_collective(rank, collective, layer, step, all, end);
      rank.free_ns = end;
    }
  }

  void compute(std::uint32_t number, StringId layer) {
    Rank& rank = ranks_[number];
    const bool late = options_.faults.straggler == number && rank.jitter.next() % 10 != 0;
    for (const StepPart& part : kStepParts) {
      const std::int64_t ns =
          part.ns + draw(rank, kComputeJitterNs) + (late && part.grows ? options_.faults.late_ns : 0);
      if (rank.told) {
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

}  // namespace accelscope::capture::sim
