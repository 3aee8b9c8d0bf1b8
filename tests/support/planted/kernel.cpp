#include "tests/support/planted/kernel.h"

#include <array>
#include <deque>
#include <utility>

#include "capture/sim/kernel/program.h"
#include "capture/sim/kernel/program_builder.h"
#include "capture/sim/kernel/time_model.h"
#include "capture/sim/output/simulator.h"
#include "tests/support/planted/draw.h"

namespace accelscope::capture::sim {
namespace {

// One tiled kernel in many shapes: y = act(x @ w) + b, with what a careless author may do to it.
struct TiledShape {
  int groups = 1;     // passes over all weights
  int blocks = 8;     // of columns: a block has `depth` tiles of weights
  int rows = 4;       // blocks of 128 rows
  int depth = 4;      // tiles that add up
  int columns = 512;  // that move at once
  int banks = 2;      // of PSUM
  int ring = 8;       // buffers for tiles of weights; groups * blocks * depth at most
  int pieces = 1;     // transfers of a tile
  bool resident = false;
  bool spills = false;
  bool transposes = false;
  bool collective = false;  // adds the first half of the blocks across ranks
  bool late = false;        // and only at the end
  std::int64_t collective_bytes = 1 << 20;
};

constexpr int kTileRows = 128, kTileColumns = 512;
constexpr std::int64_t kHalfWord = 2, kWord = 4;
constexpr std::int64_t kTileBytes = kTileRows * kTileColumns * kHalfWord;
constexpr std::int64_t kSmallTileBytes = kTileRows * kTileRows * kHalfWord;
constexpr std::size_t kOutBuffers = 4;
constexpr std::size_t kBehind = 2;  // tiles that wait for Vector

class TiledKernel {
 public:
  explicit TiledKernel(const TiledShape& shape) : shape_(shape), slots_(static_cast<std::size_t>(shape.ring)) {}

  KernelProgram build() {
    builder_.set_layer("mlp/up_proj");
    builder_.set_hlo("%dot.3 = dot(%p0, %p1)");
    name_tensors();
    load_rows(0);
    for (int i = 0; i < std::min(shape_.ring, 2 * shape_.depth); ++i) load_weights();
    for (int r = 1; r < shape_.rows; ++r) load_rows(r);
    const int blocks = shape_.groups * shape_.blocks;
    for (int block = 0; block < blocks; ++block) {
      for (int r = 0; r < shape_.rows; ++r) tile(block, r);
      if (shape_.collective && !shape_.late && 2 * (block + 1) == blocks) reduce();
      if (shape_.collective && shape_.late && 2 * (block + 1) == blocks) half_ = store_;
    }
    while (!behind_.empty()) finish_tile();
    if (shape_.collective && shape_.late) reduce();
    end();
    return builder_.finish();
  }

 private:
  struct Slot {
    std::uint32_t transfer = kNoOperation, reader = kNoOperation;
  };
  struct Made {
    std::uint32_t activated = kNoOperation, ready = kNoOperation;
    std::size_t buffer = 0;
  };

  void name_tensors() {
    const auto of = [](int rows, int columns) {
      return "[" + std::to_string(rows) + " " + std::to_string(columns) + "]";
    };
    const int inner = shape_.depth * kTileRows, outer = shape_.blocks * kTileColumns, rows = shape_.rows * kTileRows;
    builder_.tensor({"x", "IN", of(rows, inner), std::int64_t{rows} * inner * kHalfWord});
    builder_.tensor({"w1", "WEIGHT", of(inner, outer), std::int64_t{inner} * outer * kHalfWord});
    builder_.tensor({"y", "OUT", of(rows, outer), std::int64_t{rows} * outer * kHalfWord});
    if (shape_.spills) builder_.tensor({"spill", "", of(rows, outer), std::int64_t{rows} * outer * kHalfWord});
  }

  void load_rows(int r) {
    rows_.push_back(builder_.move({.queue = Queue::input,
                                   .tensor = "x",
                                   .tile = "[" + std::to_string(r) + "]",
                                   .site = Site::load_x,
                                   .bytes = shape_.depth * kSmallTileBytes,
                                   .needs = {}}));
  }

  void load_weights() {
    const int distinct = shape_.blocks * shape_.depth;
    if (loaded_ >= (shape_.resident ? 1 : shape_.groups) * distinct) return;
    Slot& slot = slots_[static_cast<std::size_t>(loaded_ % shape_.ring)];
    const std::string name = tile_name(loaded_ % shape_.depth, loaded_ / shape_.depth % shape_.blocks);
    ++loaded_;
    for (int piece = 0; piece < shape_.pieces; ++piece) {
      slot.transfer = builder_.move({.queue = Queue::weights1,
                                     .tensor = "w1",
                                     .tile = name,
                                     .site = Site::load_w1,
                                     .bytes = kTileBytes / shape_.pieces,
                                     .needs = {piece == 0 ? slot.reader : kNoOperation}});
    }
  }

  static std::string bank_address(int bank) { return hex_text(0x2000000 + static_cast<std::uint64_t>(bank) * 0x800); }
  static std::string buffer_address(std::uint64_t base, std::size_t buffer) { return hex_text(base + buffer * 0x400); }

  std::uint32_t multiply(Site site, std::uint32_t stationary, const std::string& from, std::uint32_t moving,
                         std::uint32_t emptied, int columns, int bank, bool transpose) {
    OperationText weights;
    weights.transpose = transpose;
    weights.sbuf_read = kSmallTileBytes;
    weights.operands = "src=bf16@" + from + "[1,0,0][128,1,1] 128*128 ";
    builder_.instruction({.unit = Unit::tensor,
                          .opcode = "LDWEIGHTS",
                          .site = site,
                          .duration_ns = cycles_to_ns(kLoadWeightsCycles, kCoreClockGhz),
                          .jitter_mask = 3,
                          .flags = kAfterMatmul,
                          .needs = {stationary}},
                         std::move(weights));
    OperationText text;
    text.transpose = transpose;
    text.elements = std::int64_t{kTileRows} * kTileRows * columns;
    text.sbuf_read = kTileRows * columns * kHalfWord;
    text.psum_write = kTileRows * columns * kWord;
    const std::string shape = "[1,0,0][" + std::to_string(columns) + ",1,1]";
    text.operands = "acc_flags=3 src=bf16@0x4000" + shape + " dst=" + bank_address(bank) + shape + " 128*128 ";
    return builder_.instruction({.unit = Unit::tensor_matrix,
                                 .opcode = "MATMUL",
                                 .site = site,
                                 .duration_ns = cycles_to_ns(columns + kMatmulOverheadCycles, kCoreClockGhz),
                                 .jitter_mask = 1,
                                 .flags = kAfterWeights | kThrottled,
                                 .needs = {moving, emptied}},
                                std::move(text));
  }

  std::uint32_t on_vector(std::string_view opcode, Site site, int columns, std::vector<std::uint32_t> needs,
                          const std::string& from, const std::string& to) {
    OperationText text;
    text.sbuf_write = kTileRows * columns * kHalfWord;
    text.operands = "src=fp32@" + from + "[1,1,1][" + std::to_string(columns) + ",1,1] dst=bf16@" + to + "[1,1,1][" +
                    std::to_string(columns) + ",1,1] channels=128 ";
    return builder_.instruction({.unit = Unit::vector,
                                 .opcode = opcode,
                                 .site = site,
                                 .duration_ns = cycles_to_ns(columns + kVectorOverheadCycles, kVectorClockGhz),
                                 .jitter_mask = 3,
                                 .needs = std::move(needs)},
                                std::move(text));
  }

  void tile(int block, int r) {
    builder_.next_tile();
    const int bank = made_ % shape_.banks;
    std::uint32_t& emptied = emptied_[static_cast<std::size_t>(bank)];
    std::uint32_t product = kNoOperation;
    for (int k = 0; k < shape_.depth; ++k) {
      const int place = block * shape_.depth + k;
      Slot& slot = slots_[static_cast<std::size_t>(place % shape_.ring)];
      for (int from = 0; from < kTileColumns; from += shape_.columns) {
        product = multiply(Site::up_matmul, rows_[static_cast<std::size_t>(r)], "0x8000", slot.transfer,
                           k == 0 && from == 0 ? emptied : kNoOperation, shape_.columns, bank, false);
      }
      if (r + 1 < shape_.rows) continue;
      slot.reader = product;
      load_weights();
    }
    last_product_ = product;
    const std::size_t buffer = static_cast<std::size_t>(made_++) % kOutBuffers;
    OperationText text;
    text.activation = "GELU";
    text.psum_read = kTileRows * kTileColumns * kWord;
    text.sbuf_write = kTileBytes;
    text.operands = "GELU bias_imm=0.000000 src=fp32@" + bank_address(bank) + "[1,1,1][512,1,1] dst=bf16@" +
                    buffer_address(0x10000, buffer) + "[1,1,1][512,1,1] channels=128 ";
    Made made;
    made.buffer = buffer;
    made.activated =
        builder_.instruction({.unit = Unit::scalar,
                              .opcode = "ACTIVATE",
                              .site = Site::gelu,
                              .duration_ns = cycles_to_ns(kTileColumns + kScalarOverheadCycles, kScalarClockGhz),
                              .jitter_mask = 3,
                              .needs = {product, activated_reader_[buffer]}},
                             std::move(text));
    emptied = made.activated;
    made.ready = made.activated;
    if (shape_.spills) made.ready = spill(made.activated, Site::save_part, false);
    behind_.push_back(made);
    if (behind_.size() > kBehind) finish_tile();
  }

  std::uint32_t spill(std::uint32_t need, Site site, bool reload) {
    return builder_.move({.queue = Queue::spill,
                          .tensor = "spill",
                          .tile = "[0, 0]",
                          .site = site,
                          .bytes = kTileBytes,
                          .to_sbuf = reload,
                          .needs = {need}});
  }

  void finish_tile() {
    Made made = behind_.front();
    behind_.pop_front();
    if (shape_.spills) made.ready = spill(made.ready, Site::reload_part, true);
    if (shape_.transposes) {
      std::uint32_t copied = kNoOperation;
      for (std::size_t j = 0; j < 4; ++j) {
        const std::size_t bank = 2 + j % 2;
        const std::uint32_t turned = multiply(Site::transpose_a, made.ready, buffer_address(0x10000, made.buffer),
                                              kNoOperation, emptied_[bank], kTileRows, static_cast<int>(bank), true);
        copied = on_vector("TENSOR_COPY", Site::transpose_copy, kTileRows, {turned},
                           bank_address(static_cast<int>(bank)), buffer_address(0x14000, made.buffer));
        emptied_[bank] = copied;
      }
      made.ready = copied;
    }
    const std::uint64_t base = shape_.transposes ? 0x14000 : 0x10000;
    const std::uint32_t sum =
        on_vector("TENSOR_TENSOR", Site::add_bias, kTileColumns, {made.ready, stored_[made.buffer]},
                  buffer_address(base, made.buffer), buffer_address(0x18000, made.buffer));
    activated_reader_[made.buffer] = sum;
    store_ = builder_.move({.queue = Queue::output,
                            .tensor = "y",
                            .tile = "[0, 0]",
                            .site = Site::store_y,
                            .bytes = kTileBytes,
                            .to_sbuf = false,
                            .needs = {sum}});
    stored_[made.buffer] = store_;
  }

  void reduce() {
    OperationText text;
    text.compiler_opcode = "PSEUDO_TRIGGER_COLLECTIVE";
    text.operands = " data=0x1 size=4 dst=0xffff026f038 ";
    const std::uint32_t trigger = builder_.instruction(
        {.unit = Unit::scalar, .opcode = "WRITE", .site = Site::reduce_y, .duration_ns = kTriggerNs, .jitter_mask = 3},
        std::move(text));
    const std::uint32_t data = shape_.late ? half_ : store_;
    collective_ = builder_.collective("AllReduce", Site::reduce_y, shape_.collective_bytes, trigger, data);
  }

  void end() {
    builder_.set_layer("");
    builder_.set_hlo("");
    builder_.instruction({.unit = Unit::sync,
                          .opcode = "EVENT_SEMAPHORE_RANGE_CLEAR",
                          .duration_ns = 94,
                          .jitter_mask = 1,
                          .needs = {collective_, store_, last_product_}},
                         OperationText{.operands = " mode=SEMAPHORE_ZERO first=3 last=24 "});
  }

  TiledShape shape_;
  ProgramBuilder builder_;
  std::vector<Slot> slots_;
  std::vector<std::uint32_t> rows_;
  std::deque<Made> behind_;
  std::array<std::uint32_t, kPsumBanks> emptied_ = {};
  std::array<std::uint32_t, kOutBuffers> activated_reader_ = {}, stored_ = {};
  std::uint32_t store_ = 0, half_ = 0, collective_ = 0, last_product_ = 0;
  int loaded_ = 0, made_ = 0;
};

[[nodiscard]] KernelProgram build_tiled_kernel(const TiledShape& shape) { return TiledKernel(shape).build(); }

struct DefectRow {
  std::string_view name;
  Site site;
};
constexpr std::array<DefectRow, kDefectCount> kDefects = {{{"none", Site::none},
                                                           {"reload", Site::load_w1},
                                                           {"small DMAs", Site::load_w1},
                                                           {"serial engines", Site::up_matmul},
                                                           {"single buffer", Site::load_w1},
                                                           {"narrow tile", Site::up_matmul},
                                                           {"spill", Site::reload_part},
                                                           {"throttle", Site::none},
                                                           {"transposes", Site::transpose_a},
                                                           {"late collective", Site::reduce_y},
                                                           {"straggling rank", Site::none},
                                                           {"launch gap", Site::none}}};

// Multiplications take longer than DMA, or the other way round.
void draw_shape(TiledShape& shape, Draw& draw, bool matrix_bound) {
  shape.blocks = draw(8, 14);
  shape.depth = draw(4, 6);
  shape.rows = matrix_bound ? draw(5, 7) : draw(1, 2);
  if (matrix_bound) shape.depth = draw(6, 8);
  shape.ring = 2 * shape.depth;
}

void draw_ranks(PlantedKernel& kernel, Draw& draw, bool repaired) {
  SimulationOptions& options = kernel.options;
  options.detail = Detail::ranks;
  options.devices = static_cast<std::uint32_t>(draw(4, 8));
  options.kernels = static_cast<std::uint64_t>(draw(8, 20));
  options.faults.late_ns = draw(30'000, 120'000);
  const auto straggler = static_cast<std::uint32_t>(draw(0, static_cast<int>(options.devices) - 1));
  if (!repaired) options.faults.straggler = straggler;
}

}  // namespace

std::string_view defect_name(Defect defect) noexcept { return kDefects[static_cast<std::size_t>(defect)].name; }

PlantedKernel plant_kernel(Defect defect, std::uint64_t seed, bool repaired) {
  Draw draw(seed * kDefectCount + static_cast<std::uint64_t>(defect));
  PlantedKernel kernel;
  kernel.options.seed = seed;
  kernel.options.kernels = 1;
  if (defect == Defect::straggling_rank) {
    draw_ranks(kernel, draw, repaired);
    return kernel;
  }
  TiledShape shape;
  const bool either = draw(0, 1) == 1;
  switch (defect) {
    case Defect::none:
    case Defect::launch_gap:
      draw_shape(shape, draw, either);
      if (defect == Defect::launch_gap) {
        kernel.options.kernels = static_cast<std::uint64_t>(draw(3, 5));
        const std::int64_t gap = draw(30'000, 90'000);
        if (!repaired) kernel.plan.between_kernels_ns = gap;
      }
      break;
    case Defect::reload:
      draw_shape(shape, draw, false);
      shape.groups = draw(3, 6);
      shape.resident = repaired;
      if (repaired) shape.ring = shape.blocks * shape.depth;
      break;
    case Defect::small_dmas:
      draw_shape(shape, draw, false);
      shape.pieces = repaired ? 2 : 16;  // packets of 512 bytes, and of 4 KiB
      break;
    case Defect::serial_engines:
      draw_shape(shape, draw, true);
      shape.depth = draw(4, 5);
      shape.ring = 2 * shape.depth;
      if (!repaired) shape.banks = 1;
      break;
    case Defect::single_buffer:
      draw_shape(shape, draw, true);
      shape.rows = draw(4, 5);
      if (!repaired) shape.ring = shape.depth;
      break;
    case Defect::narrow_tile:
      draw_shape(shape, draw, true);
      if (!repaired) shape.columns = 64;
      break;
    case Defect::spill:
      draw_shape(shape, draw, false);
      shape.rows = 2;
      shape.depth = 4;
      shape.ring = 8;
      shape.spills = !repaired;
      break;
    case Defect::throttle:
      draw_shape(shape, draw, true);
      if (!repaired) {
        const std::int64_t length = draw(8'000, 14'000);
        kernel.plan.throttle = {.after_busy_ns = 2 * length, .length_ns = length, .k = 1, .n = 2};
      }
      break;
    case Defect::transposes:
      draw_shape(shape, draw, true);
      shape.transposes = !repaired;
      break;
    case Defect::late_collective:
      draw_shape(shape, draw, true);
      kernel.options.devices = 2;
      shape.blocks = 2 * draw(5, 7);
      shape.collective = true;
      shape.collective_bytes = std::int64_t{draw(3, 6)} << 18;
      shape.late = !repaired;
      break;
    case Defect::straggling_rank:
      break;
  }
  kernel.plan.program = build_tiled_kernel(shape);
  kernel.line =
      kernel.plan.program.sites[static_cast<std::size_t>(kDefects[static_cast<std::size_t>(defect)].site)].location;
  return kernel;
}

Result<void> simulate_planted(PlantedKernel kernel, EventSink& sink) {
  if (kernel.options.detail == Detail::ranks) return run_ranks(kernel.options, sink);
  return run_session(kernel.options, std::move(kernel.plan), sink);
}

}  // namespace accelscope::capture::sim
