#include "tests/support/planted/gpu.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <deque>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "capture/sim/kernel/schedule.h"
#include "capture/sources/tracks/gpu_tables.h"
#include "capture/sources/tracks/unordered_session.h"
#include "tests/support/planted/draw.h"

namespace accelscope::capture::sim {
namespace {

// Hosts that launch and GPUs that work, by a small model of time, as a session in the rows and tables of importers.
// Calls are told in the program's order; the model says when each is made and when what it starts runs.
//
//   GpuModel model(sink, seed);
//   const std::uint32_t rank = model.add_rank();
//   model.host(rank, "aten::linear", 8'000); model.launch(rank, kComputeStream, "gemm", 60'000);
//   model.synchronise(rank, kComputeStream); model.finish();
inline constexpr std::int64_t kComputeStream = 7, kCopyStream = 20;

class GpuModel {
 public:
  GpuModel(EventSink& sink, std::uint64_t seed);

  // A process with a GPU of its own.
  std::uint32_t add_rank();
  // The host does something of its own.
  void host(std::uint32_t rank, std::string_view name, std::int64_t length_ns);
  // Calls up to the matching leave() lie within one of the name.
  void enter(std::uint32_t rank, std::string_view name);
  void leave(std::uint32_t rank);
  void launch(std::uint32_t rank, std::int64_t stream, std::string_view kernel, std::int64_t length_ns);
  // From pinned memory; returns when it is done.
  std::int64_t copy(std::uint32_t rank, std::int64_t stream, std::int64_t bytes);
  // Into pinned memory; the host waits for it or goes on.
  void copy_back(std::uint32_t rank, std::int64_t stream, std::int64_t bytes, bool blocks);
  // What the stream is given from now on begins no earlier.
  void wait_until(std::uint32_t rank, std::int64_t stream, std::int64_t ns);
  // When all that the stream was given is done.
  [[nodiscard]] std::int64_t done_ns(std::uint32_t rank, std::int64_t stream) const;
  // The host waits for the stream.
  void synchronise(std::uint32_t rank, std::int64_t stream);
  // Every rank calls it; it is done when all have come and it has taken its time.
  void all_reduce(std::int64_t length_ns);
  Result<void> finish();

 private:
  struct Rank {
    std::uint64_t number = 0;
    std::int64_t now = 0;                                 // of its host
    std::map<std::int64_t, std::int64_t> free;            // by stream
    std::deque<std::int64_t> begins;                      // of what was launched last
    std::vector<std::pair<StringId, std::int64_t>> open;  // calls, the outermost first
    std::uint32_t annotations = kNone, runtime = kNone, collectives = kNone;
    std::map<std::int64_t, std::uint32_t> rows, copy_rows;  // by stream
  };
  [[nodiscard]] std::int64_t drawn(std::int64_t least, std::int64_t most);
  [[nodiscard]] std::int64_t jittered(std::int64_t ns);
  // The call that starts something, and when that can begin on its stream.
  sources::tracks::WrittenEvent call(Rank& rank, std::string_view name, std::int64_t length_ns);
  [[nodiscard]] std::int64_t next_begin(const Rank& rank, std::int64_t stream);
  [[nodiscard]] sources::tracks::WrittenEvent write_copy(Rank& rank, std::int64_t stream, std::string_view name,
                                                         std::int64_t begin, std::int64_t bytes);
  void note(Rank& rank, std::int64_t stream, std::int64_t begin, std::int64_t end);
  void flow(const Rank& rank, const sources::tracks::WrittenEvent& from, const sources::tracks::WrittenEvent& to);
  [[nodiscard]] std::uint32_t stream_row(Rank& rank, std::int64_t stream);
  [[nodiscard]] std::uint32_t copy_row(Rank& rank, std::int64_t stream);

  sources::tracks::UnorderedSession session_;
  Jitter jitter_;
  std::uint32_t kernel_, memcpy_, runtime_, nvtx_;
  std::vector<Rank> ranks_;
  std::int64_t correlation_ = 0;
  sources::tracks::EventValues values_;
};

namespace tracks = sources::tracks;

constexpr std::int64_t kLeastCallNs = 2'000, kMostCallNs = 4'000;
constexpr std::int64_t kLaunchLatencyNs = 1'500;
constexpr std::int64_t kLeastPauseNs = 500, kMostPauseNs = 900;
constexpr std::int64_t kLeastWakeNs = 2'000, kMostWakeNs = 4'000;
constexpr std::int64_t kOwnNs = 100;                // of an outer call, beside what lies in it
constexpr std::int64_t kPinnedBytesPerUs = 24'000;  // PCIe 4.0 x16, about
constexpr std::size_t kMostOutstanding = 1'024;

GpuModel::GpuModel(EventSink& sink, std::uint64_t seed)
    : session_(sink),
      jitter_(seed),
      kernel_(session_.add_table(tracks::make_gpu_schema(tracks::GpuTable::kernel))),
      memcpy_(session_.add_table(tracks::make_gpu_schema(tracks::GpuTable::memcpy))),
      runtime_(session_.add_table(tracks::make_gpu_schema(tracks::GpuTable::runtime_call))),
      nvtx_(session_.add_table(tracks::make_gpu_schema(tracks::GpuTable::nvtx))) {}

std::uint32_t GpuModel::add_rank() {
  const auto number = static_cast<std::uint32_t>(ranks_.size());
  Rank& rank = ranks_.emplace_back();
  rank.number = number;
  const std::string host = fmt::format("python ({})", 4'000 + number);
  const tracks::RowPlace place{tracks::kMainThreadRows, number};
  const std::uint32_t group = session_.add_group({.name = "Main thread", .kind = "host_thread", .host = host}, place);
  rank.annotations =
      session_.add_track(nvtx_, {.name = "Main thread annotations", .kind = "host_thread", .host = host}, place, group);
  rank.runtime =
      session_.add_track(runtime_, {.name = "Main thread runtime", .kind = "host_thread", .host = host}, place, group);
  return number;
}

std::int64_t GpuModel::drawn(std::int64_t least, std::int64_t most) {
  return least + static_cast<std::int64_t>((jitter_.next() >> 16) % static_cast<std::uint64_t>(most - least + 1));
}

// A tenth more or less.
std::int64_t GpuModel::jittered(std::int64_t ns) { return ns + drawn(-ns / 10, ns / 10); }

void GpuModel::host(std::uint32_t rank, std::string_view name, std::int64_t length_ns) {
  enter(rank, name);
  ranks_[rank].now += jittered(length_ns);
  leave(rank);
}

void GpuModel::enter(std::uint32_t rank, std::string_view name) {
  Rank& at = ranks_[rank];
  at.open.emplace_back(session_.intern(name), at.now);
  at.now += kOwnNs;
}

void GpuModel::leave(std::uint32_t rank) {
  Rank& at = ranks_[rank];
  at.now += kOwnNs;
  const auto [name, begin] = at.open.back();
  at.open.pop_back();
  values_.clear();
  session_.write(at.annotations, begin, at.now - begin, name, values_);
}

tracks::WrittenEvent GpuModel::call(Rank& rank, std::string_view name, std::int64_t length_ns) {
  const std::int64_t begin = rank.now;
  std::int64_t end = begin + length_ns;
  if (rank.begins.size() >= kMostOutstanding) end = std::max(end, rank.begins.front());
  rank.now = end;
  values_.clear();
  values_.integer(tracks::RuntimeColumns::correlation, ++correlation_);
  return session_.write(rank.runtime, begin, end - begin, session_.intern(name), values_);
}

std::int64_t GpuModel::next_begin(const Rank& rank, std::int64_t stream) {
  const std::int64_t launched = rank.now + kLaunchLatencyNs;
  const auto known = rank.free.find(stream);
  if (known == rank.free.end()) return launched;
  return std::max(launched, known->second + drawn(kLeastPauseNs, kMostPauseNs));
}

void GpuModel::note(Rank& rank, std::int64_t stream, std::int64_t begin, std::int64_t end) {
  rank.free[stream] = end;
  rank.begins.push_back(begin);
  if (rank.begins.size() > kMostOutstanding) rank.begins.pop_front();
}

void GpuModel::flow(const Rank& rank, const tracks::WrittenEvent& from, const tracks::WrittenEvent& to) {
  const auto id = static_cast<std::uint64_t>(correlation_);
  const std::uint64_t key = tracks::flow_key(rank.number, id);
  session_.add_flow(tracks::FlowSide::source, key, id, from);
  session_.add_flow(tracks::FlowSide::target, key, id, to);
}

std::uint32_t GpuModel::stream_row(Rank& rank, std::int64_t stream) {
  const auto [known, added] = rank.rows.try_emplace(stream, kNone);
  if (added) {
    known->second = session_.add_track(kernel_, {.name = fmt::format("stream {}", stream),
                                                 .kind = "stream",
                                                 .device = tracks::gpu_name(static_cast<std::int64_t>(rank.number))});
  }
  return known->second;
}

std::uint32_t GpuModel::copy_row(Rank& rank, std::int64_t stream) {
  const auto [known, added] = rank.copy_rows.try_emplace(stream, kNone);
  if (added) {
    known->second = session_.add_track(memcpy_, {.name = fmt::format("memcpy stream {}", stream),
                                                 .kind = "dma_queue",
                                                 .device = tracks::gpu_name(static_cast<std::int64_t>(rank.number))});
  }
  return known->second;
}

void GpuModel::launch(std::uint32_t rank, std::int64_t stream, std::string_view kernel, std::int64_t length_ns) {
  Rank& at = ranks_[rank];
  const tracks::WrittenEvent from = call(at, "cudaLaunchKernel", drawn(kLeastCallNs, kMostCallNs));
  const std::int64_t begin = next_begin(at, stream);
  values_.clear();
  values_.integer(tracks::KernelColumns::correlation, correlation_);
  values_.integer(tracks::KernelColumns::stream, stream);
  const auto to = session_.write(stream_row(at, stream), begin, length_ns, session_.intern(kernel), values_);
  flow(at, from, to);
  note(at, stream, begin, begin + length_ns);
}

tracks::WrittenEvent GpuModel::write_copy(Rank& rank, std::int64_t stream, std::string_view name, std::int64_t begin,
                                          std::int64_t bytes) {
  const std::int64_t length = bytes * 1'000 / kPinnedBytesPerUs;
  values_.clear();
  values_.integer(tracks::TransferColumns::correlation, correlation_);
  values_.integer(tracks::TransferColumns::stream, stream);
  values_.integer(tracks::TransferColumns::bytes, bytes);
  note(rank, stream, begin, begin + length);
  return session_.write(copy_row(rank, stream), begin, length, session_.intern(name), values_);
}

std::int64_t GpuModel::copy(std::uint32_t rank, std::int64_t stream, std::int64_t bytes) {
  Rank& at = ranks_[rank];
  const tracks::WrittenEvent from = call(at, "cudaMemcpyAsync", drawn(kLeastCallNs, kMostCallNs));
  const std::int64_t begin = next_begin(at, stream);
  flow(at, from, write_copy(at, stream, "Memcpy HtoD (Pinned -> Device)", begin, bytes));
  return done_ns(rank, stream);
}

void GpuModel::copy_back(std::uint32_t rank, std::int64_t stream, std::int64_t bytes, bool blocks) {
  constexpr std::string_view kName = "Memcpy DtoH (Device -> Pinned)";
  Rank& at = ranks_[rank];
  const std::int64_t own = drawn(kLeastCallNs, kMostCallNs), wake = drawn(kLeastWakeNs, kMostWakeNs);
  if (!blocks) {
    const tracks::WrittenEvent from = call(at, "cudaMemcpyAsync", own);
    const std::int64_t begin = next_begin(at, stream);
    flow(at, from, write_copy(at, stream, kName, begin, bytes));
    return;
  }
  ++correlation_;
  const std::int64_t called = at.now;
  at.now += own;
  const tracks::WrittenEvent to = write_copy(at, stream, kName, next_begin(at, stream), bytes);
  at.now = done_ns(rank, stream) + wake;
  values_.clear();
  values_.integer(tracks::RuntimeColumns::correlation, correlation_);
  flow(at, session_.write(at.runtime, called, at.now - called, session_.intern("cudaMemcpy"), values_), to);
}

void GpuModel::wait_until(std::uint32_t rank, std::int64_t stream, std::int64_t ns) {
  std::int64_t& free = ranks_[rank].free[stream];
  free = std::max(free, ns);
}

std::int64_t GpuModel::done_ns(std::uint32_t rank, std::int64_t stream) const {
  const auto known = ranks_[rank].free.find(stream);
  return known == ranks_[rank].free.end() ? 0 : known->second;
}

void GpuModel::synchronise(std::uint32_t rank, std::int64_t stream) {
  Rank& at = ranks_[rank];
  const std::int64_t wake = drawn(kLeastWakeNs, kMostWakeNs);
  call(at, "cudaStreamSynchronize", std::max<std::int64_t>(0, done_ns(rank, stream) - at.now) + wake);
}

void GpuModel::all_reduce(std::int64_t length_ns) {
  constexpr std::string_view kName = "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)";
  struct Part {
    tracks::WrittenEvent from;
    std::int64_t correlation = 0, begin = 0;
  };
  std::vector<Part> parts;
  std::int64_t all_there = 0;
  for (Rank& rank : ranks_) {
    Part& part = parts.emplace_back();
    part.from = call(rank, "cudaLaunchKernelExC", drawn(kLeastCallNs, kMostCallNs));
    part.correlation = correlation_;
    part.begin = next_begin(rank, kComputeStream);
    all_there = std::max(all_there, part.begin);
  }
  const std::int64_t end = all_there + jittered(length_ns);
  for (std::size_t i = 0; i < ranks_.size(); ++i) {
    Rank& rank = ranks_[i];
    if (rank.collectives == kNone) {
      rank.collectives =
          session_.add_track(kernel_, {.name = fmt::format("NCCL, stream {}", kComputeStream),
                                       .kind = "collective",
                                       .device = tracks::gpu_name(static_cast<std::int64_t>(rank.number))});
    }
    correlation_ = parts[i].correlation;
    values_.clear();
    values_.integer(tracks::KernelColumns::correlation, correlation_);
    values_.integer(tracks::KernelColumns::stream, kComputeStream);
    const std::int64_t begin = parts[i].begin;
    flow(rank, parts[i].from, session_.write(rank.collectives, begin, end - begin, session_.intern(kName), values_));
    note(rank, kComputeStream, begin, end);
  }
  correlation_ = parts.back().correlation;
}

Result<void> GpuModel::finish() { return session_.finish({.path = "planted"}); }

constexpr std::array<std::string_view, kGpuDefectCount> kGpuDefects = {
    "none", "slow host", "slow loader", "sync each step", "blocking copy", "tiny kernels", "one stream", "straggler"};
constexpr std::array<std::string_view, 4> kOperators = {"aten::linear", "aten::layer_norm", "aten::gelu", "aten::add"};
constexpr std::array<std::string_view, 4> kKernels = {"ampere_bf16_s16816gemm_128x128_ldg8_f2f_stages_32x5_tn",
                                                      "vectorized_layer_norm_kernel", "gelu_kernel", "add_kernel"};

struct PlannedKernel {
  std::size_t what = 0;  // of kOperators and kKernels
  std::int64_t length_ns = 0;
  int pieces = 1;  // kernels that it is done by
};

// A loop of training or inference, as its seed has it.
struct GpuShape {
  int steps = 0;
  std::vector<PlannedKernel> kernels;  // of a step
  std::int64_t operator_ns = 0;        // of the host, for each kernel
  std::int64_t loader_ns = 0;          // for each step
  std::int64_t after_sync_ns = 0;
  std::int64_t batch_bytes = 0;
  std::int64_t result_bytes = 0;  // copied back in each step
  bool blocks = false;            // until they are there
  bool synchronises = false;
  bool copies_in_order = false;  // on the stream of the kernels
  std::uint32_t ranks = 1, straggler = kNone;
  std::int64_t late_ns = 0;

  [[nodiscard]] std::int64_t kernels_ns() const {
    std::int64_t sum = 0;
    for (const PlannedKernel& each : kernels) sum += each.length_ns;
    return sum;
  }
};

std::int64_t step_ns(const GpuShape& shape) {
  constexpr std::int64_t kPause = 700;
  return shape.kernels_ns() + kPause * static_cast<std::int64_t>(shape.kernels.size());
}

// Short kernels are among them, so that a host is not ahead at once.
void draw_kernels(GpuShape& shape, Draw& draw) {
  const int count = draw(24, 48);
  for (int i = 0; i < count; ++i) {
    const bool is_short = draw(0, 3) == 0;
    const std::int64_t length = is_short ? draw(6'000, 12'000) : draw(20'000, 90'000);
    shape.kernels.push_back({static_cast<std::size_t>(draw(0, 3)), length, 1});
  }
}

GpuShape draw_gpu(GpuDefect defect, std::uint64_t seed, bool repaired) {
  constexpr std::int64_t kBytesPerNs = 24;
  Draw draw(seed * kGpuDefectCount + static_cast<std::uint64_t>(defect));
  GpuShape shape;
  shape.steps = draw(12, 30);
  draw_kernels(shape, draw);
  shape.operator_ns = draw(3'000, 6'000);
  shape.loader_ns = draw(50'000, 150'000);
  const std::int64_t step = step_ns(shape);
  shape.batch_bytes = step * kBytesPerNs * draw(5, 30) / 100;
  switch (defect) {
    case GpuDefect::none:
      break;
    case GpuDefect::slow_host: {
      const auto mean = step / static_cast<std::int64_t>(shape.kernels.size());
      const int slower = draw(150, 300);
      if (!repaired) shape.operator_ns = mean * slower / 100;
      break;
    }
    case GpuDefect::slow_loader: {
      const int longer = draw(125, 250);
      if (!repaired) shape.loader_ns = step * longer / 100;
      break;
    }
    case GpuDefect::sync_each_step:
      shape.after_sync_ns = draw(20'000, 200'000);
      shape.synchronises = !repaired;
      break;
    case GpuDefect::blocking_copy:
      shape.result_bytes = draw(1, 40) * 20'000;
      shape.after_sync_ns = draw(20'000, 200'000);
      shape.blocks = !repaired;
      break;
    case GpuDefect::tiny_kernels:
      for (PlannedKernel& each : shape.kernels) {
        const int pieces = draw(8, 16);
        each.length_ns = pieces * draw(1'500, 3'500);
        if (!repaired) each.pieces = pieces;
      }
      shape.batch_bytes = step_ns(shape) * kBytesPerNs / 20;
      break;
    case GpuDefect::one_stream:
      shape.batch_bytes = step * kBytesPerNs * draw(15, 50) / 100;
      shape.copies_in_order = !repaired;
      break;
    case GpuDefect::straggler:
      shape.ranks = static_cast<std::uint32_t>(draw(2, 6));
      shape.late_ns = step * draw(15, 60) / 100;
      shape.straggler = static_cast<std::uint32_t>(draw(0, static_cast<int>(shape.ranks) - 1));
      if (repaired) shape.late_ns = 0;
      break;
  }
  return shape;
}

class PlantedLoop {
 public:
  PlantedLoop(const GpuShape& shape, std::uint64_t seed, EventSink& sink) : shape_(shape), model_(sink, seed) {}

  Result<void> run() {
    for (std::uint32_t rank = 0; rank < shape_.ranks; ++rank) ranks_.push_back({model_.add_rank(), 0, 0});
    for (int step = 0; step < shape_.steps; ++step) {
      for (LoopRank& rank : ranks_) run_step(rank, step);
      if (shape_.ranks > 1) model_.all_reduce(kReduceNs);
    }
    for (const LoopRank& rank : ranks_) model_.synchronise(rank.number, kComputeStream);
    return model_.finish();
  }

 private:
  static constexpr std::int64_t kReduceNs = 60'000;
  struct LoopRank {
    std::uint32_t number = 0;
    std::int64_t copied_ns = 0;    // when the next step's batch is there
    std::int64_t released_ns = 0;  // when the buffer of the one after that is free
  };

  void load(const LoopRank& rank) {
    model_.host(rank.number, "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__", shape_.loader_ns);
  }

  void run_step(LoopRank& rank, int step) {
    if (shape_.copies_in_order) {
      load(rank);
      model_.copy(rank.number, kComputeStream, shape_.batch_bytes);
    } else {
      if (step == 0) copy_ahead(rank);
      model_.wait_until(rank.number, kComputeStream, rank.copied_ns);
      if (step + 1 < shape_.steps) copy_ahead(rank);
    }
    for (const PlannedKernel& each : shape_.kernels) run_operator(rank, each);
    if (rank.number == shape_.straggler && shape_.late_ns > 0) {
      model_.launch(rank.number, kComputeStream, kKernels.front(), shape_.late_ns);
    }
    rank.released_ns = model_.done_ns(rank.number, kComputeStream);
    if (shape_.result_bytes > 0) {
      model_.copy_back(rank.number, kComputeStream, shape_.result_bytes, shape_.blocks);
      if (shape_.blocks) model_.host(rank.number, "log_metrics", shape_.after_sync_ns);
    }
    if (!shape_.synchronises) return;
    model_.enter(rank.number, "aten::item");
    model_.synchronise(rank.number, kComputeStream);
    model_.leave(rank.number);
    model_.host(rank.number, "log_metrics", shape_.after_sync_ns);
  }

  void copy_ahead(LoopRank& rank) {
    load(rank);
    model_.wait_until(rank.number, kCopyStream, rank.released_ns);
    rank.copied_ns = model_.copy(rank.number, kCopyStream, shape_.batch_bytes);
  }

  void run_operator(const LoopRank& rank, const PlannedKernel& each) {
    for (int piece = 0; piece < each.pieces; ++piece) {
      model_.enter(rank.number, kOperators[each.what]);
      model_.host(rank.number, "prepare", shape_.operator_ns);
      model_.launch(rank.number, kComputeStream, kKernels[each.what], each.length_ns / each.pieces);
      model_.leave(rank.number);
    }
  }

  GpuShape shape_;
  GpuModel model_;
  std::vector<LoopRank> ranks_;
};

}  // namespace

std::string_view gpu_defect_name(GpuDefect defect) noexcept { return kGpuDefects[static_cast<std::size_t>(defect)]; }

Result<void> simulate_planted_gpu(GpuDefect defect, std::uint64_t seed, bool repaired, EventSink& sink) {
  return PlantedLoop(draw_gpu(defect, seed, repaired), seed, sink).run();
}

std::string planted_device(GpuDefect defect, std::uint64_t seed) {
  const std::uint32_t straggler = draw_gpu(defect, seed, false).straggler;
  return straggler == kNone ? "" : sources::tracks::gpu_name(std::int64_t{straggler});
}

}  // namespace accelscope::capture::sim
