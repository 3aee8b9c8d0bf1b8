#include "capture/sim/planted_gpu/planted_gpu.h"

#include <array>
#include <vector>

#include "capture/sim/planted/draw.h"
#include "capture/sim/planted_gpu/gpu_model.h"
#include "capture/sources/tracks/gpu_tables.h"

namespace accelscope::capture::sim {
namespace {

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

GpuShape draw_gpu(GpuDefect defect, std::uint64_t seed, bool mended) {
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
      if (!mended) shape.operator_ns = mean * slower / 100;
      break;
    }
    case GpuDefect::slow_loader: {
      const int longer = draw(125, 250);
      if (!mended) shape.loader_ns = step * longer / 100;
      break;
    }
    case GpuDefect::sync_each_step:
      shape.after_sync_ns = draw(20'000, 200'000);
      shape.synchronises = !mended;
      break;
    case GpuDefect::blocking_copy:
      shape.result_bytes = draw(1, 40) * 20'000;
      shape.after_sync_ns = draw(20'000, 200'000);
      shape.blocks = !mended;
      break;
    case GpuDefect::tiny_kernels:
      for (PlannedKernel& each : shape.kernels) {
        const int pieces = draw(8, 16);
        each.length_ns = pieces * draw(1'500, 3'500);
        if (!mended) each.pieces = pieces;
      }
      shape.batch_bytes = step_ns(shape) * kBytesPerNs / 20;
      break;
    case GpuDefect::one_stream:
      shape.batch_bytes = step * kBytesPerNs * draw(15, 50) / 100;
      shape.copies_in_order = !mended;
      break;
    case GpuDefect::straggler:
      shape.ranks = static_cast<std::uint32_t>(draw(2, 6));
      shape.late_ns = step * draw(15, 60) / 100;
      shape.straggler = static_cast<std::uint32_t>(draw(0, static_cast<int>(shape.ranks) - 1));
      if (mended) shape.late_ns = 0;
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

Result<void> simulate_planted_gpu(GpuDefect defect, std::uint64_t seed, bool mended, EventSink& sink) {
  return PlantedLoop(draw_gpu(defect, seed, mended), seed, sink).run();
}

std::string planted_device(GpuDefect defect, std::uint64_t seed) {
  const std::uint32_t straggler = draw_gpu(defect, seed, false).straggler;
  return straggler == kNone ? "" : sources::tracks::gpu_name(std::int64_t{straggler});
}

}  // namespace accelscope::capture::sim
