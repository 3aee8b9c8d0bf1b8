// The loops of assets/demo/transformer_layer.py as operations. Loads are placed where their buffer comes free, which
// is what the hardware's queues see; everything else is in program order.
#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>
#include <memory>
#include <utility>

#include "capture/sim/kernel/demo_source.h"
#include "capture/sim/kernel/program_builder.h"
#include "capture/sim/kernel/time_model.h"

namespace accelscope::capture::sim {
namespace {

constexpr int kRows = 512, kInner = 1024, kHidden = 2048, kHeadSize = 128, kKeys = 512;
constexpr int kP = 128, kF = 512;
constexpr std::int64_t kBf16 = 2, kFp32 = 4;
constexpr std::int64_t kWeightTileBytes = kP * kF * kBf16;
constexpr std::int64_t kRowBlockBytes = std::int64_t{kP} * kInner * kBf16;
constexpr std::int64_t kSquareBytes = std::int64_t{kP} * kP * kBf16;
constexpr std::int64_t kHeadBytes = std::int64_t{kHeadSize} * kKeys * kBf16;

struct Matmul {
  Site site = Site::none;
  Site caller = Site::none;
  std::uint32_t weights_need = kNoOperation;  // brought what LDWEIGHTS loads
  std::uint32_t moving_need = kNoOperation;   // brought what moves through
  std::uint32_t bank_need = kNoOperation;     // emptied the bank
  int columns = kF;
  int bank = 0;
  bool transpose = false;
  std::uint64_t address = 0;
};

class DemoKernels {
 public:
  explicit DemoKernels(const KernelShape& shape);
  KernelProgram build();

 private:
  std::uint32_t matmul(const Matmul& matmul);
  std::uint32_t transpose(Site caller, std::uint32_t need, std::uint32_t buffer_need, std::uint64_t address);
  std::uint32_t vector(std::string_view opcode, Site site, int columns, std::vector<std::uint32_t> needs,
                       std::int64_t psum_bytes, std::int64_t sbuf_bytes, Site caller = Site::none);
  std::uint32_t activate(Site site, std::string_view function, std::vector<std::uint32_t> needs);
  void load_table(int table, Site site);
  void load_rows(int m);
  void mlp_rows(int m);
  void up_projection(int m, int h);
  void down_projection(int m, int h);
  void finish_rows(int m);
  void load_head(int head);
  void score(int m);
  void attend(int head, int m);
  void attention_output();
  void all_reduce(Site site, std::int64_t bytes, std::uint32_t store);
  void end_kernel();

  KernelShape shape_;
  int heads_ = 4;
  ProgramBuilder builder_;
  std::unique_ptr<TileStream> w1_, w2_;
  std::array<std::uint32_t, kPsumBanks> bank_free_ = {};  // the operation that emptied each bank
  int transpose_bank_ = 2;

  // Double buffers: place, who filled it, who read it last.
  struct Buffers {
    std::array<std::uint64_t, 2> address = {};
    std::array<std::uint32_t, 2> writer = {};
    std::array<std::uint32_t, 2> reader = {};
  };
  Buffers rows_, xT_, a_, aT_, out_, queries_, keys_, values_, p_, pT_, part_;
  std::array<std::uint32_t, kInner / kP> xT_tiles_ = {};
  std::array<std::uint32_t, 2> scale_ = {};
  std::array<std::uint32_t, kRows / kP> saves_ = {};  // of the last head
  std::uint64_t spill_address_ = 0, mask_address_ = 0, bias_address_ = 0;
  std::uint32_t first_save_ = 0, bias_ = 0, table_ = 0, mask_reader_ = 0, collective_ = 0, trigger_ = 0, store_ = 0,
                last_matmul_ = 0;
  int part_count_ = 0;
};

DemoKernels::DemoKernels(const KernelShape& shape) : shape_(shape), heads_(shape.heads), builder_(shape.core) {
  builder_.set_layer("mlp/up_proj");
  const auto reserve = [&](Buffers& buffers, std::int64_t bytes) {
    for (std::uint64_t& address : buffers.address) address = builder_.reserve_sbuf(bytes);
  };
  for (Buffers* buffers : {&rows_, &xT_, &out_}) reserve(*buffers, kRowBlockBytes);
  for (Buffers* buffers : {&a_, &p_}) reserve(*buffers, kWeightTileBytes);
  for (Buffers* buffers : {&queries_, &keys_, &values_}) reserve(*buffers, kHeadBytes);
  for (Buffers* buffers : {&aT_, &pT_, &part_}) reserve(*buffers, kSquareBytes);
  bias_address_ = builder_.reserve_sbuf(kRowBlockBytes);
  mask_address_ = builder_.reserve_sbuf(kWeightTileBytes);
  spill_address_ = builder_.reserve_hbm(heads_ * kHeadBytes);

  const int w1_tiles = (kInner / kP) * (kHidden / kF);
  const int w2_tiles = (kHidden / kP) * (kInner / kF);
  const int blocks = kRows / kP;
  w1_ = std::make_unique<TileStream>(
      builder_,
      TileStream::Settings{Queue::weights1, "w1", Site::load_w1, "mlp/up_proj", w1_tiles * blocks, w1_tiles,
                           kWeightTileBytes, shape.resident_w1,
                           [](int tile) { return std::pair(tile % 8, tile / 8 % 4); }},
      shape.weight_buffers);
  w2_ = std::make_unique<TileStream>(
      builder_,
      TileStream::Settings{Queue::weights2, "w2", Site::load_w2, "mlp/down_proj", w2_tiles * blocks, w2_tiles,
                           kWeightTileBytes, shape.resident_w2,
                           [](int tile) { return std::pair(tile / 2 % 16, tile % 2); }},
      shape.weight_buffers);

  const auto shape_text = [](int rows, int columns) {
    return "[" + std::to_string(rows) + " " + std::to_string(columns) + "]";
  };
  builder_.tensor({"x", "IN", shape_text(kRows, kInner), std::int64_t{kRows} * kInner * kBf16});
  builder_.tensor({"w1", "WEIGHT", shape_text(kInner, kHidden), std::int64_t{kInner} * kHidden * kBf16});
  builder_.tensor({"w2", "WEIGHT", shape_text(kHidden, kInner), std::int64_t{kInner} * kHidden * kBf16});
  builder_.tensor({"b2", "WEIGHT", shape_text(kP, kInner), kRowBlockBytes});
  builder_.tensor({"qT", "IN", shape_text(heads_ * kHeadSize, kRows), heads_ * kHeadBytes});
  builder_.tensor({"kT", "IN", shape_text(heads_ * kHeadSize, kKeys), heads_ * kHeadBytes});
  builder_.tensor({"v", "IN", shape_text(heads_ * kKeys, kHeadSize), heads_ * kHeadBytes});
  builder_.tensor({"y", "OUT", shape_text(kRows, kInner), std::int64_t{kRows} * kInner * kBf16});
  builder_.tensor({"o", "OUT", shape_text(heads_ * kRows, kHeadSize), heads_ * kHeadBytes});
  builder_.tensor({"spill", "", shape_text(heads_ * kRows, kHeadSize), heads_ * kHeadBytes});
}

// LDWEIGHTS of 128 x 128 and the MATMUL that moves `columns` columns past them.
std::uint32_t DemoKernels::matmul(const Matmul& matmul) {
  const std::string type = matmul.transpose ? "TRANSPOSE" : "REGULAR";
  OperationText weights;
  weights.transpose = matmul.transpose;
  weights.sbuf_read = kSquareBytes;
  weights.operands = "src=bf16@0x8000[1,0,0][128,1,1] 128*128 ";
  builder_.instruction({.unit = Unit::tensor,
                        .opcode = "LDWEIGHTS",
                        .site = matmul.site,
                        .caller = matmul.caller,
                        .duration_ns = cycles_to_ns(kLoadWeightsCycles, shape_.core.column_clock_ghz),
                        .jitter_mask = 3,
                        .flags = kAfterMatmul,
                        .needs = {matmul.weights_need}},
                       std::move(weights));
  OperationText moving;
  moving.transpose = matmul.transpose;
  moving.elements = std::int64_t{kP} * kP * matmul.columns;
  moving.sbuf_read = kP * matmul.columns * kBf16;
  moving.psum_write = kP * matmul.columns * kFp32;
  const std::string columns = "[1,0,0][" + std::to_string(matmul.columns) + ",1,1]";
  moving.operands = "acc_flags=3 src=bf16@" + hex_text(matmul.address) + columns + " dst=0x2000" +
                    std::to_string(matmul.bank) + "00" + columns + " 128*128 ";
  return builder_.instruction(
      {.unit = Unit::tensor_matrix,
       .opcode = "MATMUL",
       .site = matmul.site,
       .caller = matmul.caller,
       .duration_ns = cycles_to_ns(matmul.columns + kMatmulOverheadCycles, shape_.core.column_clock_ghz),
       .jitter_mask = 1,
       .flags = kAfterWeights | kThrottled,
       .needs = {matmul.moving_need, matmul.bank_need}},
      std::move(moving));
}

std::uint32_t DemoKernels::vector(std::string_view opcode, Site site, int columns, std::vector<std::uint32_t> needs,
                                  std::int64_t psum_bytes, std::int64_t sbuf_bytes, Site caller) {
  OperationText text;
  text.psum_read = psum_bytes;
  text.sbuf_write = sbuf_bytes;
  text.operands = "src=fp32@0x2000800[1,1,1][" + std::to_string(columns) + ",1,1] dst=bf16@0x4000[1,1,1][" +
                  std::to_string(columns) + ",1,1] channels=128 ";
  return builder_.instruction(
      {.unit = Unit::vector,
       .opcode = opcode,
       .site = site,
       .caller = caller,
       .duration_ns = cycles_to_ns(columns + kVectorOverheadCycles, shape_.core.vector_clock_ghz),
       .jitter_mask = 3,
       .needs = std::move(needs)},
      std::move(text));
}

// Tensor multiplies with the identity into a bank, Vector copies it out into one of two SBUF buffers.
std::uint32_t DemoKernels::transpose(Site caller, std::uint32_t need, std::uint32_t buffer_need,
                                     std::uint64_t address) {
  const int bank = transpose_bank_ = 5 - transpose_bank_;
  std::uint32_t& emptied = bank_free_[static_cast<std::size_t>(bank)];
  const std::uint32_t turned = matmul({.site = Site::transpose_matmul,
                                       .caller = caller,
                                       .weights_need = need,
                                       .bank_need = emptied,
                                       .columns = kP,
                                       .bank = bank,
                                       .transpose = true,
                                       .address = address});
  const std::uint32_t copy = vector("TENSOR_COPY", Site::transpose_copy, kP, {turned, buffer_need},
                                    std::int64_t{kP} * kP * kFp32, kSquareBytes, caller);
  builder_.hold_bank(bank, std::int64_t{kP} * kP * kFp32, turned, copy);
  emptied = copy;
  return copy;
}

void DemoKernels::load_table(int table, Site site) {
  OperationText text;
  text.operands = " table_sel=" + std::to_string(table) + " ";
  table_ = builder_.instruction({.unit = Unit::scalar_table,
                                 .opcode = "ACT_TABLE_LOAD",
                                 .site = site,
                                 .duration_ns = kActivationTableNs,
                                 .jitter_mask = 7,
                                 .flags = kAfterScalar},
                                std::move(text));
}

std::uint32_t DemoKernels::activate(Site site, std::string_view function, std::vector<std::uint32_t> needs) {
  OperationText text;
  text.activation = function;
  text.psum_read = kP * kF * kFp32;
  text.sbuf_write = kWeightTileBytes;
  text.operands = std::string(function) + " bias_imm=0.000000 src=fp32@0x2000800[1,1,1][512,1,1] " +
                  "dst=bf16@0x4000[1,1,1][512,1,1] channels=128 scale=1.000000 accumulator_cmd=IDLE";
  return builder_.instruction({.unit = Unit::scalar,
                               .opcode = "ACTIVATE",
                               .site = site,
                               .duration_ns = cycles_to_ns(kF + kScalarOverheadCycles, shape_.core.scalar_clock_ghz),
                               .jitter_mask = 3,
                               .needs = std::move(needs)},
                              std::move(text));
}

void DemoKernels::load_rows(int m) {
  const auto buffer = static_cast<std::size_t>(m % 2);
  builder_.set_layer("mlp/up_proj");
  rows_.writer[buffer] = builder_.move({.queue = Queue::input,
                                        .tensor = "x",
                                        .tile = "[" + std::to_string(m) + "]",
                                        .site = Site::load_x,
                                        .bytes = kRowBlockBytes,
                                        .address = rows_.address[buffer],
                                        .needs = {rows_.reader[buffer]}});
}

void DemoKernels::mlp_rows(int m) {
  const auto buffer = static_cast<std::size_t>(m % 2);
  builder_.set_hlo("%dot.3 = dot(%p0, %p1)");
  builder_.set_layer("mlp/up_proj");
  for (std::uint32_t& tile : xT_tiles_) {
    builder_.next_tile();
    tile = transpose(Site::transpose_x, rows_.writer[buffer], xT_.reader[buffer], xT_.address[buffer]);
  }
  rows_.reader[buffer] = xT_tiles_.back();
  builder_.hold(Pool::sbuf, "x", Site::load_x, kRowBlockBytes, rows_.address[buffer], rows_.writer[buffer],
                xT_tiles_.back());
  if (m + 2 < kRows / kP) load_rows(m + 2);
  for (int h = 0; h < kHidden / kF; ++h) {
    up_projection(m, h);
    down_projection(m, h);
  }
  xT_.reader[buffer] = last_matmul_;
  builder_.hold(Pool::sbuf, "xT", Site::transpose_x, kRowBlockBytes, xT_.address[buffer], xT_tiles_.front(),
                last_matmul_);
  finish_rows(m);
}

void DemoKernels::up_projection(int m, int h) {
  const int bank = h % 2;
  const auto buffer = static_cast<std::size_t>(h % 2);
  std::uint32_t& emptied = bank_free_[static_cast<std::size_t>(bank)];
  std::uint32_t first = 0;
  std::uint32_t product = 0;
  builder_.set_hlo("%dot.3 = dot(%p0, %p1)");
  for (std::size_t k = 0; k < xT_tiles_.size(); ++k) {
    builder_.next_tile();
    const std::uint32_t weights = w1_->next();
    builder_.set_layer("mlp/up_proj");
    product = matmul({.site = Site::up_matmul,
                      .weights_need = xT_tiles_[k],
                      .moving_need = weights,
                      .bank_need = k == 0 ? emptied : kNoOperation,
                      .bank = bank,
                      .address = w1_->address()});
    if (k == 0) first = product;
    w1_->used_by(product);
  }
  builder_.set_layer("mlp/up_proj");
  builder_.set_hlo("%gelu.5 = custom-call(%dot.3)");
  if (m == 0 && h == 0) load_table(0, Site::gelu);
  a_.writer[buffer] = activate(Site::gelu, "GELU", {product, a_.reader[buffer], table_});
  builder_.hold_bank(bank, kPsumBankBytes, first, a_.writer[buffer]);
  emptied = a_.writer[buffer];
}

void DemoKernels::down_projection(int m, int h) {
  const auto buffer = static_cast<std::size_t>(h % 2);
  const int first_bank = m % 2 == 0 ? 4 : 6;
  builder_.set_hlo("%dot.8 = dot(%gelu.5, %p2)");
  for (int j = 0; j < kF / kP; ++j) {
    const auto turn = static_cast<std::size_t>(j % 2);
    builder_.next_tile();
    builder_.set_layer("mlp/down_proj");
    const std::uint32_t copy = transpose(Site::transpose_a, a_.writer[buffer], aT_.reader[turn], aT_.address[turn]);
    for (int n = 0; n < kInner / kF; ++n) {
      const std::uint32_t weights = w2_->next();
      builder_.set_layer("mlp/down_proj");
      const bool opens = h == 0 && j == 0;
      std::uint32_t& emptied = bank_free_[static_cast<std::size_t>(first_bank + n)];
      last_matmul_ = matmul({.site = Site::down_matmul,
                             .weights_need = copy,
                             .moving_need = weights,
                             .bank_need = opens ? emptied : kNoOperation,
                             .bank = first_bank + n,
                             .address = w2_->address()});
      if (opens) emptied = last_matmul_;  // until finish_rows: who opened the bank
      w2_->used_by(last_matmul_);
    }
    aT_.reader[turn] = last_matmul_;
    a_.reader[buffer] = last_matmul_;
    builder_.hold(Pool::sbuf, "aT", Site::transpose_a, kSquareBytes, aT_.address[turn], copy, last_matmul_);
  }
  builder_.hold(Pool::sbuf, "a", Site::gelu, kWeightTileBytes, a_.address[buffer], a_.writer[buffer], last_matmul_);
}

void DemoKernels::finish_rows(int m) {
  const auto buffer = static_cast<std::size_t>(m % 2);
  const int first_bank = m % 2 == 0 ? 4 : 6;
  builder_.set_layer("mlp/bias");
  builder_.set_hlo("%add.9 = add(%dot.8, %p3)");
  std::uint32_t first = 0;
  for (int n = 0; n < kInner / kF; ++n) {
    const std::uint32_t sum = vector("TENSOR_TENSOR", Site::add_bias, kF, {last_matmul_, bias_, out_.reader[buffer]},
                                     kPsumBankBytes, kRowBlockBytes / 2);
    std::uint32_t& emptied = bank_free_[static_cast<std::size_t>(first_bank + n)];
    builder_.hold_bank(first_bank + n, kPsumBankBytes, emptied, sum);
    emptied = sum;
    if (n == 0) first = sum;
    out_.writer[buffer] = sum;
  }
  store_ = builder_.move({.queue = Queue::output,
                          .tensor = "y",
                          .tile = "[" + std::to_string(m) + "]",
                          .site = Site::store_y,
                          .bytes = kRowBlockBytes,
                          .to_sbuf = false,
                          .address = out_.address[buffer],
                          .needs = {out_.writer[buffer]}});
  out_.reader[buffer] = store_;
  builder_.hold(Pool::sbuf, "y", Site::add_bias, kRowBlockBytes, out_.address[buffer], first, store_);
  builder_.set_layer("mlp/all_reduce");
  all_reduce(Site::reduce_y, kRowBlockBytes, store_);
  if (m + 1 == kRows / kP) {
    builder_.hold(Pool::sbuf, "b2", Site::load_bias, kRowBlockBytes, bias_address_, bias_, out_.writer[buffer]);
  }
}

void DemoKernels::all_reduce(Site site, std::int64_t bytes, std::uint32_t store) {
  OperationText text;
  text.compiler_opcode = "PSEUDO_TRIGGER_COLLECTIVE";
  text.operands = " data=0x1 size=4 dst=0xffff026f038 ";
  builder_.set_hlo("%all-reduce.11 = all-reduce(%add.9)");
  trigger_ = builder_.instruction(
      {.unit = Unit::scalar, .opcode = "WRITE", .site = site, .duration_ns = kTriggerNs, .jitter_mask = 3},
      std::move(text));
  collective_ = builder_.collective("AllReduce", site, bytes, trigger_, store);
}

void DemoKernels::load_head(int head) {
  const auto buffer = static_cast<std::size_t>(head % 2);
  builder_.set_layer("attention/scores");
  builder_.set_hlo("%dot.14 = dot(%p4, %p5)");
  const std::string tile = "[" + std::to_string(head) + "]";
  queries_.writer[buffer] = builder_.move({.queue = Queue::input,
                                           .tensor = "qT",
                                           .tile = tile,
                                           .site = Site::load_queries,
                                           .bytes = kHeadBytes,
                                           .address = queries_.address[buffer],
                                           .needs = {queries_.reader[buffer]}});
  const auto dynamic = [&](Buffers& buffers, std::string_view tensor, Site site) {
    builder_.instruction({.unit = Unit::gpsimd,
                          .opcode = "IOTA",
                          .site = site,
                          .duration_ns = kDescriptorWriteNs,
                          .jitter_mask = 15,
                          .needs = {buffers.reader[buffer]}},
                         OperationText{.operands = "descriptors=16 "});
    buffers.writer[buffer] = builder_.move({.queue = Queue::dynamic,
                                            .tensor = tensor,
                                            .tile = tile,
                                            .site = site,
                                            .bytes = kHeadBytes,
                                            .address = buffers.address[buffer],
                                            .needs = {buffers.reader[buffer]}});
  };
  dynamic(keys_, "kT", Site::load_keys);
  builder_.set_layer("attention/values");
  dynamic(values_, "v", Site::load_values);
}

// Scores of one block of rows and their softmax, up to the weights p.
void DemoKernels::score(int m) {
  const int bank = m % 2;
  const auto turn = static_cast<std::size_t>(m % 2);
  const auto buffer = static_cast<std::size_t>(part_count_ / (kRows / kP) % 2);
  builder_.next_tile();
  builder_.set_layer("attention/softmax");
  builder_.set_hlo("%softmax.16 = custom-call(%dot.14)");
  const std::uint32_t mask = builder_.instruction(
      {.unit = Unit::gpsimd,
       .opcode = "IOTA",
       .site = Site::mask,
       .duration_ns = cycles_to_ns(kF * kGpSimdCyclesPerElement, shape_.core.gpsimd_clock_ghz),
       .jitter_mask = 15,
       .needs = {mask_reader_}},
      OperationText{.operands = "dst=fp32@0x6000[1,1,1][512,1,1] channels=128 ", .sbuf_write = kWeightTileBytes});
  builder_.set_layer("attention/scores");
  builder_.set_hlo("%dot.14 = dot(%p4, %p5)");
  std::uint32_t& emptied = bank_free_[static_cast<std::size_t>(bank)];
  const std::uint32_t product = matmul({.site = Site::scores,
                                        .weights_need = queries_.writer[buffer],
                                        .moving_need = keys_.writer[buffer],
                                        .bank_need = emptied,
                                        .bank = bank,
                                        .address = keys_.address[buffer]});
  queries_.reader[buffer] = keys_.reader[buffer] = product;
  builder_.set_layer("attention/softmax");
  builder_.set_hlo("%softmax.16 = custom-call(%dot.14)");
  const std::uint32_t top = vector("TENSOR_REDUCE", Site::top, kF, {product}, kPsumBankBytes, kP * kFp32);
  p_.writer[turn] = activate(Site::softmax, "EXP", {top, mask, p_.reader[turn]});
  mask_reader_ = p_.writer[turn];
  builder_.hold_bank(bank, kPsumBankBytes, product, p_.writer[turn]);
  builder_.hold(Pool::sbuf, "mask", Site::mask, kWeightTileBytes, mask_address_, mask, p_.writer[turn]);
  emptied = p_.writer[turn];
  scale_[turn] = vector("RECIPROCAL", Site::scale, 1, {p_.writer[turn]}, 0, kP * kFp32);
}

// p @ v for one block of rows; the result does not fit beside the next heads and is saved to HBM.
void DemoKernels::attend(int head, int m) {
  const auto turn = static_cast<std::size_t>(m % 2);
  const auto buffer = static_cast<std::size_t>(head % 2);
  const int bank = 6 + m % 2;
  std::uint32_t& emptied = bank_free_[static_cast<std::size_t>(bank)];
  builder_.set_layer("attention/values");
  builder_.set_hlo("%dot.18 = dot(%softmax.16, %p6)");
  std::uint32_t product = 0;
  std::uint32_t opened = 0;
  for (int j = 0; j < kF / kP; ++j) {
    const auto slot = static_cast<std::size_t>(j % 2);
    builder_.next_tile();
    const std::uint32_t copy = transpose(Site::transpose_p, p_.writer[turn], pT_.reader[slot], pT_.address[slot]);
    product = matmul({.site = Site::values_matmul,
                      .weights_need = copy,
                      .moving_need = values_.writer[buffer],
                      .bank_need = j == 0 ? emptied : kNoOperation,
                      .columns = kHeadSize,
                      .bank = bank,
                      .address = values_.address[buffer]});
    if (j == 0) opened = product;
    pT_.reader[slot] = product;
    builder_.hold(Pool::sbuf, "pT", Site::transpose_p, kSquareBytes, pT_.address[slot], copy, product);
  }
  values_.reader[buffer] = p_.reader[turn] = last_matmul_ = product;
  builder_.hold(Pool::sbuf, "p", Site::softmax, kWeightTileBytes, p_.address[turn], p_.writer[turn], product);
  const auto slot = static_cast<std::size_t>(part_count_++ % 2);
  part_.writer[slot] =
      vector("TENSOR_TENSOR", Site::apply_scale, kHeadSize, {product, scale_[turn], part_.reader[slot]},
             std::int64_t{kP} * kHeadSize * kFp32, kSquareBytes);
  builder_.hold_bank(bank, std::int64_t{kP} * kHeadSize * kFp32, opened, part_.writer[slot]);
  emptied = part_.writer[slot];
  const std::uint32_t save = builder_.move({.queue = Queue::spill,
                                            .tensor = "spill",
                                            .tile = tile_name(head, m),
                                            .site = Site::save_part,
                                            .bytes = kSquareBytes,
                                            .to_sbuf = false,
                                            .address = part_.address[slot],
                                            .needs = {part_.writer[slot]}});
  part_.reader[slot] = saves_[static_cast<std::size_t>(m)] = save;
  builder_.hold(Pool::sbuf, "part", Site::apply_scale, kSquareBytes, part_.address[slot], part_.writer[slot], save);
  if (first_save_ == kNoOperation) first_save_ = save;
}

void DemoKernels::attention_output() {
  builder_.set_layer("attention/output");
  builder_.set_hlo("%transpose.20 = transpose(%dot.18)");
  for (int m = 0; m < kRows / kP; ++m) {
    const auto buffer = static_cast<std::size_t>(m % 2);
    const std::string tile = "[" + std::to_string(m) + "]";
    // Saves of earlier heads went through the same queue before the last head's.
    const std::uint32_t whole = builder_.move({.queue = Queue::spill,
                                               .tensor = "spill",
                                               .tile = tile,
                                               .site = Site::reload_part,
                                               .bytes = kHeadBytes,
                                               .address = out_.address[buffer],
                                               .needs = {saves_[static_cast<std::size_t>(m)], out_.reader[buffer]}});
    store_ = builder_.move({.queue = Queue::output,
                            .tensor = "o",
                            .tile = tile,
                            .site = Site::store_o,
                            .bytes = kHeadBytes,
                            .to_sbuf = false,
                            .address = out_.address[buffer],
                            .needs = {whole}});
    out_.reader[buffer] = store_;
    builder_.hold(Pool::sbuf, "o", Site::reload_part, kHeadBytes, out_.address[buffer], whole, store_);
    if (m + 1 == kRows / kP) {
      builder_.hold(Pool::hbm, "spill", Site::save_part, heads_ * kHeadBytes, spill_address_, first_save_, whole);
    }
  }
  builder_.set_layer("attention/all_reduce");
  all_reduce(Site::reduce_o, heads_ * kHeadBytes, store_);
}

void DemoKernels::end_kernel() {
  builder_.set_layer("");
  builder_.set_hlo("");
  const auto plain = [&](Unit unit, std::string_view opcode, std::int64_t ns, std::string operands,
                         std::vector<std::uint32_t> needs) {
    builder_.instruction(
        {.unit = unit, .opcode = opcode, .duration_ns = ns, .jitter_mask = 1, .needs = std::move(needs)},
        OperationText{.operands = std::move(operands)});
  };
  const std::string hint = "  hint=3 notification=EXPLICIT  trace=START ";
  for (const Unit unit : {Unit::tensor, Unit::vector, Unit::scalar}) plain(unit, "NOTIFY", 9, hint, {});
  plain(Unit::gpsimd, "COMPARE_BRANCH", 91, " cmp_op=EQ dtype=uint32 cmp0=$R[0] cmp1=0x0 label_id=192 ", {});
  plain(Unit::sync, "EVENT_SEMAPHORE_RANGE_CLEAR", 94, " mode=SEMAPHORE_ZERO first=3 last=24 ",
        {collective_, store_, last_matmul_});
  plain(Unit::sync, "NOTIFY", 9, hint, {});
}

KernelProgram DemoKernels::build() {
  load_rows(0);
  w1_->load_first(shape_.weight_buffers);
  bias_ = builder_.move({.queue = Queue::input,
                         .tensor = "b2",
                         .tile = "",
                         .site = Site::load_bias,
                         .bytes = kRowBlockBytes,
                         .address = bias_address_,
                         .needs = {}});
  load_rows(1);
  w2_->load_first(shape_.weight_buffers);
  for (int m = 0; m < kRows / kP; ++m) {
    if (m + 1 == kRows / kP) load_head(0);
    mlp_rows(m);
  }
  load_head(1);
  load_table(1, Site::softmax);
  for (int head = 0; head < heads_; ++head) {
    score(0);
    for (int m = 0; m < kRows / kP; ++m) {
      if (m + 1 < kRows / kP) score(m + 1);
      attend(head, m);
    }
    if (head + 2 < heads_) load_head(head + 2);
  }
  attention_output();
  end_kernel();
  return builder_.finish();
}

}  // namespace

KernelProgram build_demo_kernels(const KernelShape& shape, double slower) {
  KernelProgram program = DemoKernels(shape).build();
  for (Operation& operation : program.operations) {
    using Duration = decltype(operation.duration_ns);
    operation.duration_ns =
        static_cast<Duration>(std::llround(static_cast<double>(operation.duration_ns) * (1 + slower)));
  }
  return program;
}

namespace {

struct SiteText {
  std::string_view text;  // occurs once in the source, except where `function` says which one is meant
  std::string_view function;
};

// In the order of Site.
constexpr std::array<SiteText, kSiteCount + 1> kSites = {{
    {"", ""},
    {"t = nisa.nc_transpose(src, identity)", "transpose"},
    {"dst[...] = nisa.tensor_copy(t)", "transpose"},
    {"bias = nl.load(b2)", "mlp"},
    {"rows = nl.load(x[m])", "mlp"},
    {"transpose(xT[k], rows[:, k], identity)", "mlp"},
    {"w = nl.load(w1[k, h]", "mlp"},
    {"ps += nisa.nc_matmul(xT[k], w)", "mlp"},
    {"a = nisa.activation(nl.gelu, ps)", "mlp"},
    {"transpose(aT, a[:, j], identity)", "mlp"},
    {"w = nl.load(w2[h * F // P + j, n]", "mlp"},
    {"acc[:, n] += nisa.nc_matmul(aT, w)", "mlp"},
    {"out = nisa.tensor_tensor(acc, bias", "mlp"},
    {"nl.store(y[m], out)", "mlp"},
    {"cc.all_reduce(y[m]", "mlp"},
    {"queries = nl.load(qT[head])", "attention"},
    {"keys = nl.load(kT[", "attention"},
    {"values = nl.load(v[", "attention"},
    {"mask = nisa.iota(m", "attention"},
    {"scores = nisa.nc_matmul(queries[:, m], keys)", "attention"},
    {"top = nisa.tensor_reduce(nl.max, scores", "attention"},
    {"p, total = nisa.activation(nl.exp", "attention"},
    {"scale = nisa.reciprocal(total)", "attention"},
    {"transpose(pT, p[:, j], identity)", "attention"},
    {"acc += nisa.nc_matmul(pT, values[j])", "attention"},
    {"part = nisa.tensor_tensor(acc, scale", "attention"},
    {"nl.store(spill[head, m], part)", "attention"},
    {"whole = nl.load(spill[:, m])", "attention"},
    {"nl.store(o[m], whole)", "attention"},
    {"cc.all_reduce(o, op", "attention"},
}};

}  // namespace

std::vector<SitePlace> find_sites(std::string_view source) {
  std::vector<SitePlace> places(kSites.size());
  for (std::size_t index = 1; index < kSites.size(); ++index) {
    const std::size_t at = source.find(kSites[index].text);
    assert(at != std::string_view::npos && "the demo source lost a line that the simulator reports");
    SitePlace& place = places[index];
    place.line =
        static_cast<int>(1 + std::count(source.begin(), source.begin() + static_cast<std::ptrdiff_t>(at), '\n'));
    place.location = std::string(kDemoFile) + ":" + std::to_string(place.line);
    place.function = kSites[index].function;
  }
  return places;
}

}  // namespace accelscope::capture::sim
