// Gives the work of operators to the kernels that do it. An operator is found by the id that its
// kernels carry, else by the call that launched them: the innermost operator with work that is under way then on the
// call's thread. Of several kernels of one operator those get it that multiply, by their names; it is shared among
// several of these by their time. A kernel without either has the work of the same function with the same grid, where
// that is known and always the same, or what its own name and grid tell. What is not known stays unknown.
//
//   KernelWork work(texts, intern);
//   while reading: work.add_operator(...), work.add_call(...), work.add_kernel(...), in any order; what a kernel of an
//   operator that came before it has is told at once, unless another kernel of it turns up
//   work.join();
//   if (const KernelWork::Found* found = work.find(track, begin, name)) ...    what was not told at once, or is other
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/model/ids.h"

namespace accelscope::capture::sources::tracks {

// What an operator of a framework computes, and what it has to move at least, by the shapes and types of its inputs, as
// PyTorch's profiler writes them: matrix products, convolutions, attention, and the message of a collective.
//
//   operator_work("aten::addmm", "[[1024],[8944,1024],[1024,2816],[],[]]", "[\"c10::BFloat16\", ...]", "")
//       -> 2 * 8944 * 1024 * 2816 operations in bf16
//
// A multiplication and an addition are two operations (torch.utils.flop_counter counts the same way). Bytes are the
// inputs and the output once each: no kernel moves less.

struct OperatorWork {
  enum class Kind : std::uint8_t { product, convolution, gradients, attention, collective };
  Kind kind = Kind::product;
  double flops = 0, bytes = 0;
  std::string_view type;  // "bf16", as core/analysis/peaks calls it; "": not known
  std::string basis;      // "aten::addmm bf16 [8944, 1024] x [1024, 2816]"
};

// Whether anything is known of operators of that name: cheap, to be asked first.
[[nodiscard]] bool may_have_work(std::string_view name) noexcept;
// From the JSON of the shapes, types and values of the inputs; nothing where they do not tell.
[[nodiscard]] std::optional<OperatorWork> operator_work(std::string_view name, std::string_view dims,
                                                        std::string_view types, std::string_view values);

// What a kernel is to the operator that launched it.
enum class KernelPart : std::uint8_t {
  helper,     // prepares, converts, sums up or finishes: a reduce of split K, a copy of a bias, a transpose
  main,       // multiplies
  undecided,  // its name tells neither
};
[[nodiscard]] KernelPart part_of_kernel(std::string_view name) noexcept;
// The gradient that a kernel of a convolution's backward pass computes: 'd'ata, 'w'eights, 0: its name does not tell.
[[nodiscard]] char gradient_of_kernel(std::string_view name) noexcept;
// The type that a kernel multiplies in where its name says so: "tf32" of fp32 inputs.
[[nodiscard]] std::string_view type_of_kernel(std::string_view name, std::string_view type) noexcept;

// Of a kernel of FlashAttention by its name and its grid, "[16, 2, 32]" (blocks of the sequence, batch, heads), where
// nothing else is known: the head's size and the block's are in the name; keys are taken to be as many as queries.
[[nodiscard]] std::optional<OperatorWork> attention_of_grid(std::string_view name, std::string_view grid);

class KernelWork {
 public:
  struct Operator {
    std::uint32_t thread = 0;
    std::int64_t begin = 0, end = 0;
    std::uint64_t external_id = 0;
    OperatorWork::Kind kind = OperatorWork::Kind::product;
    double flops = 0, bytes = 0;
    StringId type = 0, basis = 0;
  };
  struct Kernel {
    std::uint32_t track = 0;
    std::int64_t begin = 0, duration = 0;
    StringId name = 0, grid = 0, block = 0;
    std::uint64_t correlation = 0, external_id = 0;  // 0: none
    KernelPart part = KernelPart::undecided;
    std::uint32_t reported = kNone;  // the operator whose work it was told at once; kNone: none
  };
  struct Found {
    std::int64_t begin = 0;
    StringId name = 0, type = 0, basis = 0;
    double flops = 0, bytes = 0;
  };
  using TextOf = std::function<std::string_view(StringId)>;
  using Intern = std::function<StringId(std::string_view)>;

  KernelWork(TextOf text_of, Intern intern) : text_of_(std::move(text_of)), intern_(std::move(intern)) {}

  void add_operator(const Operator& each) {
    if (each.external_id != 0) by_external_id_.emplace(each.external_id, operators_.size());
    operators_.push_back(each);
    kernels_of_.push_back(0);
  }
  void add_call(std::uint64_t correlation, std::uint32_t thread, std::int64_t begin) {
    calls_.push_back({correlation, begin, thread});
  }
  std::optional<Found> add_kernel(Kernel kernel);

  void join();
  // Of a track's kernel that begins then; null where nothing is known.
  [[nodiscard]] const Found* find(std::uint32_t track, std::int64_t begin, StringId name) const;
  [[nodiscard]] bool has(std::uint32_t track) const { return found_.contains(track); }

 private:
  struct Call {
    std::uint64_t correlation = 0;
    std::int64_t begin = 0;
    std::uint32_t thread = 0;
  };
  static constexpr std::size_t kNothing = ~std::size_t{0};
  [[nodiscard]] std::size_t operator_by_id(const Kernel& kernel) const;
  [[nodiscard]] std::size_t operator_of(const Kernel& kernel) const;
  [[nodiscard]] std::size_t operator_at(std::uint32_t thread, std::int64_t ns) const;
  void give(std::size_t of, std::span<const std::size_t> kernels);
  void give_by_likeness(std::span<const std::size_t> kernels);
  [[nodiscard]] StringId precision_of(StringId kernel, StringId type);
  void set(const Kernel& kernel, const Found& work) { found_[kernel.track].push_back(work); }

  TextOf text_of_;
  Intern intern_;
  std::vector<Operator> operators_;
  std::vector<std::uint8_t> kernels_of_;  // by operator: kernels that multiply, 2 for more
  std::unordered_map<std::uint64_t, StringId> precisions_;
  std::vector<Call> calls_;
  std::vector<Kernel> kernels_;
  std::unordered_multimap<std::uint64_t, std::size_t> by_external_id_;
  std::unordered_map<std::uint32_t, std::vector<std::size_t>> by_thread_;  // innermost, by begin
  struct Alike {
    Found work;
    bool differs = false;
  };
  std::unordered_map<std::uint64_t, Alike> alike_;               // by function, grid and block
  std::unordered_map<std::uint32_t, std::vector<Found>> found_;  // by track, by begin
};

// Texts in which a profiler puts several values: " regs:32 static_shared:0 grid:16,1,1 block:512,1,1 occ_pct:50".

// kernel_details. NVIDIA writes regs, static_shared, dynamic_shared; AMD private_mem, group_mem.
struct KernelDetails {
  std::string grid, block;  // "[16, 1, 1]"; "": not told
  std::optional<std::int64_t> registers, shared_memory, private_memory;
  std::optional<double> occupancy;  // percent; 0 stands for not known
  std::uint32_t implausible = 0;    // values that no device has, left out
};
[[nodiscard]] KernelDetails read_kernel_details(std::string_view text);

// memcpy_details, Memset_details, memalloc_details.
struct TransferDetails {
  std::string kind;  // "pinned > device" of a copy between two kinds of memory
  std::optional<std::int64_t> bytes;
  std::uint32_t implausible = 0;
};
[[nodiscard]] TransferDetails read_transfer_details(std::string_view text);

// "16" of "Stream #16(Kernel)"; nothing: it is no stream's name.
[[nodiscard]] std::optional<std::int64_t> stream_of_line(std::string_view name);

}  // namespace accelscope::capture::sources::tracks
