#include "capture/sources/tracks/kernel_work.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <span>
#include <vector>

#include "core/base/capped.h"
#include "core/base/text.h"

namespace accelscope::capture::sources::tracks {
namespace {

using Shape = std::vector<std::int64_t>;
using Kind = OperatorWork::Kind;

// "[[8944,1024],[1024,2816],[]]" as shapes; what is no list of numbers (a list of tensors, a scalar) is an empty one.
[[nodiscard]] std::vector<Shape> read_shapes(std::string_view text) {
  std::vector<Shape> all;
  int depth = 0;
  bool plain = true;
  for (std::size_t at = 0; at < text.size();) {
    const char c = text[at];
    if (c == '[') {
      if (++depth == 2) {
        all.emplace_back();
        plain = true;
      } else if (depth > 2) {
        all.back().clear();
        plain = false;
      }
    } else if (c == ']') {
      --depth;
    } else if (depth == 2 && plain && (is_digit(c) || c == '-')) {
      std::int64_t number = 0;
      const auto [end, error] = std::from_chars(text.data() + at, text.data() + text.size(), number);
      if (error != std::errc()) return {};
      all.back().push_back(number);
      at = static_cast<std::size_t>(end - text.data());
      continue;
    }
    ++at;
  }
  return all;
}

// The texts of a JSON array of texts; none of them holds an escape that matters here.
[[nodiscard]] std::vector<std::string_view> read_texts(std::string_view text) {
  std::vector<std::string_view> all;
  for (std::size_t at = text.find('"'); at != std::string_view::npos; at = text.find('"', at)) {
    std::size_t end = at + 1;
    while (end < text.size() && text[end] != '"') end += text[end] == '\\' ? 2U : 1U;
    if (end >= text.size()) break;
    all.push_back(text.substr(at + 1, end - at - 1));
    at = end + 1;
  }
  return all;
}

struct ElementType {
  std::string_view word, name;  // the framework's, the one of peaks
  double bytes = 0;
};
constexpr std::array kElementTypes = std::to_array<ElementType>({
    {"c10::BFloat16", "bf16", 2},
    {"c10::Half", "fp16", 2},
    {"float", "fp32", 4},
    {"double", "fp64", 8},
    {"signed char", "int8", 1},
    {"unsigned char", "int8", 1},
    {"char", "int8", 1},
    {"bool", "int8", 1},
    {"short", "int16", 2},
    {"int", "int32", 4},
    {"long", "int64", 8},
    {"long int", "int64", 8},
    {"long long", "int64", 8},
    {"c10::Float8_e4m3fn", "fp8", 1},
    {"c10::Float8_e5m2", "fp8", 1},
    {"c10::Float8_e4m3fnuz", "fp8", 1},
    {"c10::Float8_e5m2fnuz", "fp8", 1},
});

[[nodiscard]] double product_of(std::span<const std::int64_t> dims) {
  double product = 1;
  for (const std::int64_t each : dims) product *= each > 0 ? static_cast<double>(each) : 0;
  return product;
}
[[nodiscard]] double elements(const Shape& shape) { return shape.empty() ? 0 : product_of(shape); }

// What is known of an operator's inputs.
struct Inputs {
  std::string_view name;
  std::vector<Shape> shapes;
  std::vector<std::string_view> types, values;

  [[nodiscard]] const Shape& shape(std::size_t i) const {
    static const Shape kEmpty;
    return i < shapes.size() ? shapes[i] : kEmpty;
  }
  [[nodiscard]] const ElementType* type(std::size_t i) const {
    if (i >= types.size()) return nullptr;
    const auto found = std::find_if(kElementTypes.begin(), kElementTypes.end(),
                                    [&](const ElementType& each) { return each.word == types[i]; });
    return found == kElementTypes.end() ? nullptr : &*found;
  }
  [[nodiscard]] std::string_view value(std::size_t i) const { return i < values.size() ? values[i] : ""; }
  // "[2, 2]" of as many axes; one number is of all of them.
  [[nodiscard]] std::optional<Shape> axes(std::size_t i, std::size_t count) const {
    std::vector<Shape> read = read_shapes(fmt::format("[{}]", value(i)));
    if (read.size() != 1 || read[0].empty()) return std::nullopt;
    if (read[0].size() == 1) read[0].resize(count, read[0][0]);
    return read[0].size() == count ? std::optional(read[0]) : std::nullopt;
  }
};

[[nodiscard]] OperatorWork made(const Inputs& in, Kind kind, double flops, double moved, std::size_t typed,
                                std::string shapes) {
  const ElementType* type = in.type(typed);
  OperatorWork work{.kind = kind, .flops = flops, .bytes = type == nullptr ? 0 : moved * type->bytes};
  if (type != nullptr) work.type = type->name;
  work.basis = fmt::format("{}{}{} {}", in.name, work.type.empty() ? "" : " ", work.type, shapes);
  return work;
}

[[nodiscard]] std::string text_of(const Shape& shape) { return fmt::format("[{}]", fmt::join(shape, ", ")); }

// a x b of inputs `first` and the next: the last axis of a is summed over; more axes of a are rows, or, where b has
// them as well, products of their own. `transposed`: b is [N, K], as a linear layer keeps its weights.
[[nodiscard]] std::optional<OperatorWork> product(const Inputs& in, std::size_t first, bool transposed) {
  const Shape &a = in.shape(first), &b = in.shape(first + 1);
  if (a.empty() || b.empty()) return std::nullopt;
  const double inner = static_cast<double>(a.back());
  const std::size_t summed = b.size() == 1 || transposed ? b.size() - 1 : b.size() - 2;
  if (static_cast<double>(b[summed]) != inner || inner <= 0) return std::nullopt;
  double columns = b.size() == 1 ? 1 : static_cast<double>(transposed ? b[b.size() - 2] : b.back());
  double rows = elements(a) / inner;
  if (b.size() > 2 && a.size() == 2) {  // the same a for each of b's
    if (in.name.find("grouped") == std::string_view::npos) rows *= product_of(std::span(b).first(b.size() - 2));
  } else if (b.size() > 2 && a.size() == b.size()) {
    for (std::size_t axis = 0; axis + 2 < b.size(); ++axis) {
      if (a[axis] == 1) rows *= static_cast<double>(std::max<std::int64_t>(b[axis], 1));
    }
  }
  return made(in, Kind::product, 2 * rows * columns * inner, elements(a) + elements(b) + rows * columns, first,
              text_of(a) + " x " + text_of(b));
}

// Where an operator keeps the values that decide the size of what a convolution makes.
struct ConvolutionRow {
  std::string_view name;
  std::size_t input, weight, stride, padding, dilation;
  std::size_t transposed = kNever;  // a flag
  static constexpr std::size_t kNever = ~std::size_t{0}, kAlways = ~std::size_t{0} - 1;
};
constexpr std::array kConvolutions = std::to_array<ConvolutionRow>({
    {"aten::conv1d", 0, 1, 3, 4, 5},
    {"aten::conv2d", 0, 1, 3, 4, 5},
    {"aten::conv3d", 0, 1, 3, 4, 5},
    {"aten::convolution", 0, 1, 3, 4, 5, 6},
    {"aten::_convolution", 0, 1, 3, 4, 5, 6},
    {"aten::convolution_overrideable", 0, 1, 3, 4, 5, 6},
    {"aten::cudnn_convolution", 0, 1, 3, 2, 4},
    {"aten::cudnn_convolution_relu", 0, 1, 3, 4, 5},
    {"aten::cudnn_convolution_add_relu", 0, 1, 5, 6, 7},
    {"aten::cudnn_convolution_transpose", 0, 1, 4, 2, 5, ConvolutionRow::kAlways},
    {"aten::miopen_convolution", 0, 1, 4, 3, 5},
    {"aten::miopen_convolution_relu", 0, 1, 3, 4, 5},
    {"aten::miopen_convolution_transpose", 0, 1, 5, 3, 6, ConvolutionRow::kAlways},
    {"aten::miopen_depthwise_convolution", 0, 1, 4, 3, 5},
    {"aten::_conv_depthwise2d", 0, 1, 4, 5, 6},
    {"aten::conv_depthwise3d", 0, 1, 4, 5, 6},
    {"aten::thnn_conv2d", 0, 1, 4, 5, ConvolutionRow::kNever},
    {"aten::_slow_conv2d_forward", 0, 1, 4, 5, ConvolutionRow::kNever},
    {"aten::slow_conv3d_forward", 0, 1, 4, 5, ConvolutionRow::kNever},
    {"aten::slow_conv_dilated2d", 0, 1, 4, 5, 6},
});

// Every element of the output takes in-channels of its group times the kernel's size multiplications: the weights are
// [out, in of a group, kernel...].
[[nodiscard]] std::optional<OperatorWork> convolution(const Inputs& in, const ConvolutionRow& row) {
  const Shape &input = in.shape(row.input), &weight = in.shape(row.weight);
  if (weight.size() < 3 || input.size() + 1 < weight.size() || input.size() > weight.size()) return std::nullopt;
  const std::size_t axes = weight.size() - 2, skipped = input.size() - axes;
  const bool transposed = row.transposed == ConvolutionRow::kAlways || lower_case(in.value(row.transposed)) == "true";
  const double taps = product_of(std::span(weight).subspan(1));
  std::string shapes = text_of(input) + " * " + text_of(weight);
  if (transposed) {  // every element of the input takes part in as many
    return made(in, Kind::convolution, 2 * elements(input) * taps, elements(input) + elements(weight), row.input,
                std::move(shapes));
  }
  const auto stride = in.axes(row.stride, axes), padding = in.axes(row.padding, axes);
  const auto dilation =
      row.dilation == ConvolutionRow::kNever ? std::optional(Shape(axes, 1)) : in.axes(row.dilation, axes);
  if (!stride || !padding || !dilation) return std::nullopt;
  double out = (input.size() == weight.size() ? static_cast<double>(input[0]) : 1) * static_cast<double>(weight[0]);
  constexpr std::int64_t kOne = 1;
  for (std::size_t axis = 0; axis < axes; ++axis) {
    if ((*stride)[axis] <= 0) return std::nullopt;
    const std::int64_t taken = capped_product((*dilation)[axis], capped_difference(weight[axis + 2], kOne));
    const std::int64_t padded = capped_sum(input[skipped + axis], capped_product((*padding)[axis], 2 * kOne));
    const std::int64_t left = capped_difference(padded, capped_sum(taken, kOne));
    const std::int64_t length = capped_sum(left / (*stride)[axis], kOne);
    if (length <= 0) return std::nullopt;
    out *= static_cast<double>(length);
  }
  return made(in, Kind::convolution, 2 * out * taps, elements(input) + elements(weight) + out, row.input,
              std::move(shapes) + fmt::format(", stride {}", fmt::join(*stride, " ")));
}

// convolution_backward(grad_output, input, weight, bias_sizes, stride, padding, dilation, transposed, ...,
// output_mask): each gradient that is asked for takes as much as the forward pass.
[[nodiscard]] std::optional<OperatorWork> gradients(const Inputs& in) {
  const Shape &out = in.shape(0), &input = in.shape(1), &weight = in.shape(2);
  if (weight.size() < 3 || out.empty() || input.empty()) return std::nullopt;
  const bool transposed = lower_case(in.value(7)) == "true";
  const double once = 2 * elements(transposed ? input : out) * product_of(std::span(weight).subspan(1));
  double count = 2;
  const std::string mask = lower_case(in.value(10));
  const std::size_t of_bias = mask.rfind(',');
  if (of_bias != std::string::npos) {
    const std::string_view both = std::string_view(mask).substr(0, of_bias);
    count = both.find("false") == std::string_view::npos ? 2 : both.find("true") == std::string_view::npos ? 0 : 1;
  }
  if (count == 0) return std::nullopt;
  return made(in, count == 2 ? Kind::gradients : Kind::convolution, once * count,
              count * (elements(out) + elements(input) + elements(weight)), 0,
              text_of(out) + ", " + text_of(input) + " * " + text_of(weight));
}

struct AttentionRow {
  std::string_view name;
  std::size_t query;  // then key and value
  bool heads_first;   // [batch, heads, sequence, size], else [batch, sequence, heads, size]
  bool backward = false;
  std::size_t causal = kUnknown, mask_type = kUnknown, lengths = kUnknown;  // among the values; the shapes
  static constexpr std::size_t kUnknown = ~std::size_t{0};
};
constexpr std::size_t kUntold = AttentionRow::kUnknown;
constexpr std::array kAttentions = std::to_array<AttentionRow>({
    {"aten::scaled_dot_product_attention", 0, true, false, 5},
    {"aten::_scaled_dot_product_flash_attention", 0, true, false, 4},
    {"aten::_scaled_dot_product_efficient_attention", 0, true, false, 6},
    {"aten::_scaled_dot_product_cudnn_attention", 0, true, false, 6},
    {"aten::_scaled_dot_product_flash_attention_backward", 1, true, true, 11},
    {"aten::_scaled_dot_product_efficient_attention_backward", 1, true, true, 11},
    {"aten::_scaled_dot_product_cudnn_attention_backward", 1, true, true, 14},
    {"aten::_flash_attention_forward", 0, false, false, 8, kUntold, 3},
    {"aten::_flash_attention_backward", 1, false, true, 11, kUntold, 6},
    {"aten::_efficient_attention_forward", 0, false, false, kUntold, 9, 4},
    {"aten::_efficient_attention_backward", 1, false, true, kUntold, 14, 6},
    {"aten::_cudnn_attention_forward", 0, true, false},
    {"flash_attn::_flash_attn_forward", 0, false, false, 5},
    {"flash_attn::_flash_attn_backward", 1, false, true, 11},
    {"flash_attn::_flash_attn_varlen_forward", 0, false, false, 9, kUntold, 3},
    {"flash_attn::_flash_attn_varlen_backward", 1, false, true, 15, kUntold, 9},
    {"FlashAttnFunc", 0, false, false, 5},
    {"FlashAttnVarlenFunc", 0, false, false, kUntold, kUntold, 3},
});

// Pairs of a query and a key that take part. A causal mask leaves out the later keys of each query.
[[nodiscard]] double pairs(double queries, double keys, bool causal) {
  if (!causal) return queries * keys;
  return queries <= keys ? queries * keys - queries * (queries - 1) / 2 : keys * (keys + 1) / 2;
}

// Two products forward, five backward (three gradients, and the scores anew).
constexpr double kBackward = 2.5;

[[nodiscard]] std::optional<OperatorWork> attention(const Inputs& in, const AttentionRow& row) {
  const Shape &query = in.shape(row.query), &key = in.shape(row.query + 1), &value = in.shape(row.query + 2);
  if (query.size() != key.size() || query.size() != value.size() || query.size() < 3 || query.size() > 4)
    return std::nullopt;
  const std::size_t rank = query.size(), length_axis = row.heads_first ? rank - 2 : rank - 3,
                    heads_axis = row.heads_first ? rank - 3 : rank - 2;
  const auto real = [](std::int64_t number) { return static_cast<double>(std::max<std::int64_t>(number, 0)); };
  double batch = rank == 4 ? real(query[0]) : 1;
  double queries = real(query[length_axis]), keys = real(key[length_axis]);
  std::string words;
  const Shape& ends = row.lengths == kUntold ? in.shape(~std::size_t{0}) : in.shape(row.lengths);
  if (ends.size() == 1 && ends[0] > 1) {  // sequences one after another, by where each begins
    const double sequences = real(ends[0] - 1);
    batch = batch * sequences;
    queries /= sequences;
    keys /= sequences;
    words = fmt::format(", {} sequences taken to be of one length", ends[0] - 1);
  }
  std::optional<bool> causal;
  if (const std::string flag = lower_case(row.causal == kUntold ? "" : in.value(row.causal)); !flag.empty())
    causal = flag == "true";
  if (const std::string_view type = row.mask_type == kUntold ? "" : in.value(row.mask_type); !type.empty())
    causal = type != "0";
  words += !causal ? ", at most: whether a mask is causal is not told" : *causal ? ", causal" : "";
  const double sizes = real(query.back()) + real(value.back());
  const double flops = 2 * batch * real(query[heads_axis]) * pairs(queries, keys, causal.value_or(false)) * sizes;
  const double moved = elements(query) + elements(key) + elements(value) +
                       elements(query) / std::max(1.0, real(query.back())) * real(value.back());
  return made(in, Kind::attention, flops * (row.backward ? kBackward : 1), moved * (row.backward ? 2 : 1), row.query,
              fmt::format("{} x {}{}", text_of(query), text_of(key), words));
}

struct ProductRow {
  std::string_view name;
  std::size_t first;  // of the two that are multiplied
  bool transposed = false;
};
constexpr std::array kProducts = std::to_array<ProductRow>({
    {"aten::mm", 0},
    {"aten::addmm", 1},
    {"aten::_addmm_activation", 1},
    {"aten::bmm", 0},
    {"aten::baddbmm", 1},
    {"aten::addbmm", 1},
    {"aten::matmul", 0},
    {"aten::linear", 0, true},
    {"aten::mv", 0},
    {"aten::addmv", 1},
    {"aten::dot", 0},
    {"aten::_scaled_mm", 0},
    {"aten::_int_mm", 0},
    {"aten::_grouped_mm", 0},
    {"aten::_scaled_grouped_mm", 0},
});

constexpr std::string_view kGradients = "aten::convolution_backward",
                           kCollective = "nccl:", kDataGradient = "aten::cudnn_convolution_backward_input";

[[nodiscard]] const auto* row_of(const auto& rows, std::string_view name) noexcept {
  const auto found = std::find_if(rows.begin(), rows.end(), [&](const auto& each) { return each.name == name; });
  return found == rows.end() ? nullptr : &*found;
}

// "aten::mm_" writes to its input, "aten::mm.out" to another.
[[nodiscard]] std::string_view plain_name(std::string_view name) noexcept {
  if (name.ends_with('_') && name.size() > 1) name.remove_suffix(1);
  return name;
}

// The name of the function itself: "at::native::reduce_kernel" of "void at::native::reduce_kernel<512, 1, ...>(...)".
[[nodiscard]] std::string function_of(std::string_view kernel) {
  std::string name = lower_case(kernel);
  constexpr std::string_view kNameless = "(anonymous namespace)::";
  for (std::size_t at = name.find(kNameless); at != std::string::npos; at = name.find(kNameless))
    name.erase(at, kNameless.size());
  return name.substr(0, name.find_first_of("<("));
}

[[nodiscard]] bool holds_any(std::string_view text, std::span<const std::string_view> words) noexcept {
  return std::any_of(words.begin(), words.end(),
                     [&](std::string_view word) { return text.find(word) != std::string_view::npos; });
}

// Sums of parts and conversions even where the function is one of a library of products.
constexpr std::string_view kSums[] = {"reduc", "postgsu", "combine"};
constexpr std::string_view kProductFunctions[] = {"gemm", "gemv",    "cijk_",  "nvjet",
                                                  "xmma", "cutlass", "matmul", "igemm"};
constexpr std::string_view kHelpers[] = {
    "elementwise", "catarray",  "copy",         "fill",      "memset",       "softmax",    "norm",       "bn_fw",
    "bn_bw",       "transpose", "nhwc",         "nchw",      "offsets",      "scale",      "nonfused",   "fft",
    "flip",        "im2col",    "col2im",       "subtensor", "dropout",      "index",      "gather",     "scatter",
    "pool",        "random",    "distribution", "foreach",   "multi_tensor", "convert",    "preprocess", "postprocess",
    "dot_do_o",    "padding",   "cast",         "quant",     "amax",         "triton_poi", "triton_red", "triton_per",
    "arange",      "embedding", "sort",         "memcpy"};
constexpr std::string_view kMains[] = {
    "conv",     "dgrad", "wgrad", "fprop",      "winograd",   "attn",     "attention", "fmha", "flash", "miopensp3",
    "wvsplitk", "mfma",  "magma", "dot_kernel", "triton_tem", "gridwise", "_mm_",      "nccl", "rccl"};

}  // namespace

bool may_have_work(std::string_view name) noexcept {
  const std::string_view plain = plain_name(name);
  return row_of(kProducts, plain) != nullptr || row_of(kConvolutions, plain) != nullptr ||
         row_of(kAttentions, plain) != nullptr || plain == kGradients || plain == kDataGradient ||
         name.starts_with(kCollective);
}

std::optional<OperatorWork> operator_work(std::string_view name, std::string_view dims, std::string_view types,
                                          std::string_view values) {
  const std::string_view plain = plain_name(name);
  const Inputs in{plain, read_shapes(dims), read_texts(types), read_texts(values)};
  std::optional<OperatorWork> work;
  if (const auto* row = row_of(kProducts, plain)) work = product(in, row->first, row->transposed);
  if (const auto* row = row_of(kConvolutions, plain)) work = convolution(in, *row);
  if (const auto* row = row_of(kAttentions, plain)) work = attention(in, *row);
  if (plain == kGradients) work = gradients(in);
  if (plain == kDataGradient && in.shape(2).size() > 2) {  // of 2021: sizes, the gradient of the output, weights
    const double taps = product_of(std::span(in.shape(2)).subspan(1));
    work = made(in, Kind::convolution, 2 * elements(in.shape(1)) * taps, elements(in.shape(1)) + elements(in.shape(2)),
                1, text_of(in.shape(1)) + " * " + text_of(in.shape(2)));
  }
  if (name.starts_with(kCollective)) {
    double count = 0;
    for (const Shape& each : in.shapes) count += elements(each);
    OperatorWork message = made(in, Kind::collective, 0, count, 0, text_of(in.shape(0)) + ", what the rank brings");
    return message.bytes > 0 ? std::optional(std::move(message)) : std::nullopt;
  }
  if (work && !(work->flops > 0)) return std::nullopt;
  return work;
}

KernelPart part_of_kernel(std::string_view name) noexcept {
  const std::string function = function_of(name);
  if (holds_any(function, kSums)) return KernelPart::helper;
  if (holds_any(function, kProductFunctions)) return KernelPart::main;
  if (holds_any(function, kHelpers)) return KernelPart::helper;
  if (holds_any(function, kMains)) return KernelPart::main;
  return holds_any(lower_case(name), kProductFunctions) ? KernelPart::main : KernelPart::undecided;
}

char gradient_of_kernel(std::string_view name) noexcept {
  const std::string lower = lower_case(name);
  if (lower.find("dgrad") != std::string::npos || lower.find("bwd_data") != std::string::npos ||
      lower.find("igemm_bwd") != std::string::npos)
    return 'd';
  if (lower.find("wgrad") != std::string::npos || lower.find("wrw") != std::string::npos ||
      lower.find("bwd_weight") != std::string::npos)
    return 'w';
  return 0;
}

std::string_view type_of_kernel(std::string_view name, std::string_view type) noexcept {
  if (type != "fp32") return type;
  // cuBLAS and CUTLASS: "s1688" are products of matrices in TF32, "x3" sums three of them up to fp32.
  constexpr std::string_view kTf32[] = {"tf32", "s1688gemm", "s1688fprop", "s1688dgrad", "s1688wgrad", "xf32"};
  return holds_any(lower_case(name), kTf32) ? "tf32" : type;
}

std::optional<OperatorWork> attention_of_grid(std::string_view name, std::string_view grid) {
  const bool forward = name.find("flash_fwd_kernel<") != std::string_view::npos;
  const bool backward = name.find("flash_bwd_dq_dk_dv_loop_seqk_parallel_kernel<") != std::string_view::npos;
  const std::size_t traits = name.find(forward ? "Flash_fwd_kernel_traits<" : "Flash_bwd_kernel_traits<");
  if ((!forward && !backward) || traits == std::string_view::npos) return std::nullopt;
  const std::string_view after = name.substr(traits);
  const std::size_t open = after.find('<');
  std::vector<std::string_view> words;  // the head's size, and the block's: queries, keys
  std::size_t at = open + 1, depth = 1, begin = at;
  for (; at < after.size() && depth > 0; ++at) {
    if (after[at] == '<') ++depth;
    if (after[at] == '>') --depth;
    if ((after[at] == ',' && depth == 1) || depth == 0) {
      words.push_back(trimmed(after.substr(begin, at - begin)));
      begin = at + 1;
    }
  }
  const auto number = [](std::string_view text) {
    if (text.starts_with("(int)")) text.remove_prefix(5);
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    return error == std::errc() ? value : 0.0;
  };
  const std::vector<Shape> blocks = read_shapes(fmt::format("[{}]", grid));
  if (words.size() < 3 || blocks.size() != 1 || blocks[0].size() != 3) return std::nullopt;
  // Behind the traits: whether it drops out, whether it is causal.
  std::string_view flags = after.substr(at);
  std::array<std::string_view, 2> flag{};
  for (std::string_view& each : flag) {
    flags.remove_prefix(std::min(flags.find_first_not_of(" ,"), flags.size()));
    const std::size_t end = std::min(flags.find_first_of(",>"), flags.size());
    each = flags.substr(0, end);
    flags.remove_prefix(end);
  }
  const bool causal = flag[1].find("true") != std::string_view::npos || flag[1].ends_with('1');
  const double size = number(words[0]), block = number(words[forward ? 1 : 2]);
  const double length = static_cast<double>(blocks[0][0]) * block,
               heads = static_cast<double>(blocks[0][1]) * static_cast<double>(blocks[0][2]);
  OperatorWork work{.kind = Kind::attention};
  work.flops = 4 * heads * pairs(length, length, causal) * size * (forward ? 1 : kBackward);
  work.bytes = 0;
  work.type = name.find("bfloat16") != std::string_view::npos ? "bf16" : "fp16";
  if (!(work.flops > 0)) return std::nullopt;
  work.basis = fmt::format("name and grid: {} heads in all, {} queries at most of size {}, as many keys{}", heads,
                           length, size, causal ? ", causal" : "");
  return work;
}

namespace {

// Of a function, a grid and a block; 0: the grid is not known, and a name alone is no likeness.
[[nodiscard]] std::uint64_t likeness(const KernelWork::Kernel& kernel) noexcept {
  if (kernel.grid == 0) return 0;
  constexpr std::uint64_t kPrime = 0x9E3779B97F4A7C15U;
  return ((kernel.name * kPrime + kernel.grid) * kPrime + kernel.block) * kPrime | 1U;
}

[[nodiscard]] bool before(const KernelWork::Found& a, const KernelWork::Found& b) noexcept {
  return a.begin != b.begin ? a.begin < b.begin : a.name < b.name;
}

}  // namespace

std::optional<KernelWork::Found> KernelWork::add_kernel(Kernel kernel) {
  std::optional<Found> reported;
  const std::size_t of = kernel.part == KernelPart::main ? operator_by_id(kernel) : kNothing;
  if (of != kNothing && operators_[of].kind != OperatorWork::Kind::gradients && kernels_of_[of] < 2 &&
      ++kernels_of_[of] == 1) {
    const Operator& from = operators_[of];
    kernel.reported = static_cast<std::uint32_t>(of);
    reported = {kernel.begin, kernel.name, precision_of(kernel.name, from.type), from.basis, from.flops, from.bytes};
  }
  kernels_.push_back(kernel);
  return reported;
}

StringId KernelWork::precision_of(StringId kernel, StringId type) {
  if (type == 0) return 0;
  const auto [known, is_new] = precisions_.try_emplace(std::uint64_t{kernel} << 32U | type, type);
  if (is_new) known->second = intern_(type_of_kernel(text_of_(kernel), text_of_(type)));
  return known->second;
}

void KernelWork::join() {
  if (kernels_.empty()) return;
  std::sort(calls_.begin(), calls_.end(), [](const Call& a, const Call& b) {
    return a.correlation != b.correlation ? a.correlation < b.correlation : a.begin < b.begin;
  });
  for (std::size_t i = 0; i < operators_.size(); ++i) {
    by_thread_[operators_[i].thread].push_back(i);
  }
  for (auto& [thread, all] : by_thread_) {
    std::sort(all.begin(), all.end(), [&](std::size_t a, std::size_t b) {
      const Operator &left = operators_[a], &right = operators_[b];
      return left.begin != right.begin ? left.begin < right.begin : left.end > right.end;
    });
    // What calls another operator with work leaves the work to it.
    std::vector<std::size_t> innermost;
    for (std::size_t i = 0; i < all.size(); ++i) {
      const bool calls_another = i + 1 < all.size() && operators_[all[i + 1]].end <= operators_[all[i]].end &&
                                 operators_[all[i + 1]].begin < operators_[all[i]].end;
      if (!calls_another) innermost.push_back(all[i]);
    }
    all = std::move(innermost);
  }
  std::map<std::size_t, std::vector<std::size_t>> of_operators;
  std::vector<std::size_t> rest;
  for (std::size_t i = 0; i < kernels_.size(); ++i) {
    const std::size_t of = operator_of(kernels_[i]);
    if (of == kNothing) {
      rest.push_back(i);
    } else {
      of_operators[of].push_back(i);
    }
  }
  for (const auto& [of, kernels] : of_operators) give(of, kernels);
  give_by_likeness(rest);
  for (auto& [track, all] : found_) std::sort(all.begin(), all.end(), before);
}

std::size_t KernelWork::operator_at(std::uint32_t thread, std::int64_t ns) const {
  const auto known = by_thread_.find(thread);
  if (known == by_thread_.end()) return kNothing;
  const auto next = std::upper_bound(known->second.begin(), known->second.end(), ns,
                                     [&](std::int64_t at, std::size_t i) { return at < operators_[i].begin; });
  if (next == known->second.begin()) return kNothing;
  const std::size_t last = *std::prev(next);
  return ns <= operators_[last].end ? last : kNothing;
}

// Profilers up to 2022 wrote the call's correlation where the operator's id stands today. Ids of several processes may
// be alike: what began last before the kernel counts.
std::size_t KernelWork::operator_by_id(const Kernel& kernel) const {
  std::size_t best = kNothing;
  if (kernel.external_id != 0 && kernel.external_id != kernel.correlation) {
    const auto [first, last] = by_external_id_.equal_range(kernel.external_id);
    for (auto each = first; each != last; ++each) {
      const Operator& of = operators_[each->second];
      if (of.begin <= kernel.begin && (best == kNothing || of.begin > operators_[best].begin)) best = each->second;
    }
  }
  return best;
}

std::size_t KernelWork::operator_of(const Kernel& kernel) const {
  const std::size_t by_id = operator_by_id(kernel);
  if (by_id != kNothing || kernel.correlation == 0) return by_id;
  auto call = std::lower_bound(calls_.begin(), calls_.end(), kernel.correlation,
                               [](const Call& each, std::uint64_t wanted) { return each.correlation < wanted; });
  const Call* its = nullptr;
  for (; call != calls_.end() && call->correlation == kernel.correlation; ++call) {
    if (call->begin <= kernel.begin || its == nullptr) its = &*call;
  }
  return its == nullptr ? kNothing : operator_at(its->thread, its->begin);
}

void KernelWork::give(std::size_t of, std::span<const std::size_t> kernels) {
  const Operator& from = operators_[of];
  const bool is_message = from.kind == OperatorWork::Kind::collective;
  std::vector<std::size_t> main;
  for (const KernelPart wanted : {KernelPart::main, KernelPart::undecided}) {
    if (!main.empty()) break;
    std::copy_if(kernels.begin(), kernels.end(), std::back_inserter(main),
                 [&](std::size_t i) { return kernels_[i].part == wanted; });
  }
  if (main.empty()) return;
  // Both gradients of a convolution take as much; kernels tell by their names which they are for.
  std::map<char, std::int64_t> times;
  for (const std::size_t i : main) {
    const bool parted = from.kind == OperatorWork::Kind::gradients;
    std::int64_t& time = times[parted ? gradient_of_kernel(text_of_(kernels_[i].name)) : '\0'];
    time = capped_sum(time, kernels_[i].duration);
  }
  const bool reported = from.kind == OperatorWork::Kind::gradients && times.size() == 2 && !times.contains('\0');
  std::int64_t all_ns = 0;
  for (const auto& [gradient, ns] : times) all_ns = capped_sum(all_ns, ns);
  for (const std::size_t i : main) {
    const Kernel& kernel = kernels_[i];
    double share = 1;
    if (main.size() > 1 && all_ns > 0) {
      const double ns = static_cast<double>(kernel.duration);
      const std::int64_t group = reported ? times[gradient_of_kernel(text_of_(kernel.name))] : all_ns;
      share = group > 0 ? ns / static_cast<double>(group) * (reported ? 0.5 : 1) : 0;
    } else if (main.size() > 1) {
      share = 1 / static_cast<double>(main.size());
    }
    Found work{kernel.begin, kernel.name, from.type, from.basis, from.flops * share, from.bytes * share};
    const bool alone = main.size() == 1;
    if (!is_message) work.type = precision_of(kernel.name, from.type);
    if (!alone)
      work.basis = intern_(fmt::format("{}; a part by time, of {} kernels", text_of_(from.basis), main.size()));
    if (const std::uint64_t key = likeness(kernel); key != 0 && alone && !is_message) {
      const auto [known, is_new] = alike_.try_emplace(key, Alike{work});
      if (!is_new && known->second.work.flops != work.flops) known->second.differs = true;
    }
    if (!alone || kernel.reported != of) set(kernel, work);
  }
}

void KernelWork::give_by_likeness(std::span<const std::size_t> kernels) {
  for (const std::size_t i : kernels) {
    const Kernel& kernel = kernels_[i];
    const auto known = alike_.find(likeness(kernel));
    if (known != alike_.end() && !known->second.differs && likeness(kernel) != 0) {
      Found work = known->second.work;
      work.begin = kernel.begin;
      work.basis = intern_(fmt::format("{}; as the same kernel with the same grid", text_of_(work.basis)));
      set(kernel, work);
    } else if (const auto own = attention_of_grid(text_of_(kernel.name), text_of_(kernel.grid))) {
      set(kernel, {kernel.begin, kernel.name, intern_(own->type), intern_(own->basis), own->flops, own->bytes});
    }
  }
}

const KernelWork::Found* KernelWork::find(std::uint32_t track, std::int64_t begin, StringId name) const {
  const auto all = found_.find(track);
  if (all == found_.end()) return nullptr;
  const auto place = std::lower_bound(all->second.begin(), all->second.end(), Found{begin, name, 0, 0, 0, 0}, before);
  return place != all->second.end() && place->begin == begin && place->name == name ? &*place : nullptr;
}

namespace {

// No device has more. A profiler that reads a structure of another version writes what lies in memory there.
constexpr std::int64_t kMostRegisters = 2048, kMostSharedBytes = 16 << 20, kMostPrivateBytes = 1 << 30,
                       kMostBlocks = (std::int64_t{1} << 32) - 1, kMostThreads = 4096;
constexpr std::int64_t kMostBytes = std::int64_t{1} << 50;

template <typename Number>
[[nodiscard]] bool take_number(std::string_view text, Number& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size();
}

// Calls with every "key:value" of the text.
template <typename Visit>
void each_detail(std::string_view text, Visit visit) {
  while (!text.empty()) {
    const std::size_t blank = std::min(text.find(' '), text.size());
    const std::string_view word = text.substr(0, blank);
    text.remove_prefix(std::min(blank + 1, text.size()));
    const std::size_t colon = word.find(':');
    if (colon != std::string_view::npos) visit(word.substr(0, colon), word.substr(colon + 1));
  }
}

[[nodiscard]] std::optional<std::int64_t> bounded(std::string_view text, std::int64_t most,
                                                  std::uint32_t& implausible) {
  std::int64_t value = 0;
  if (take_number(text, value) && value >= 0 && value <= most) return value;
  ++implausible;
  return std::nullopt;
}

// "[16, 1, 1]" of "16,1,1"; "" if one of the three is more than `most`, or there are not three.
[[nodiscard]] std::string three_of(std::string_view text, std::int64_t most, std::uint32_t& implausible) {
  std::array<std::int64_t, 3> all{};
  std::string_view rest = text;
  for (std::int64_t& each : all) {
    const std::size_t comma = std::min(rest.find(','), rest.size());
    if (!take_number(rest.substr(0, comma), each) || each < 0 || each > most) {
      ++implausible;
      return {};
    }
    rest.remove_prefix(std::min(comma + 1, rest.size()));
  }
  return fmt::format("[{}, {}, {}]", all[0], all[1], all[2]);
}

}  // namespace

KernelDetails read_kernel_details(std::string_view text) {
  KernelDetails made;
  const auto add_shared = [&](std::string_view value) {
    const auto bytes = bounded(value, kMostSharedBytes, made.implausible);
    if (bytes) made.shared_memory = made.shared_memory.value_or(0) + *bytes;
  };
  each_detail(text, [&](std::string_view key, std::string_view value) {
    if (key == "regs") {
      made.registers = bounded(value, kMostRegisters, made.implausible);
    } else if (key == "static_shared" || key == "dynamic_shared" || key == "group_mem") {
      add_shared(value);
    } else if (key == "private_mem") {
      made.private_memory = bounded(value, kMostPrivateBytes, made.implausible);
    } else if (key == "grid") {
      made.grid = three_of(value, kMostBlocks, made.implausible);
    } else if (key == "block") {
      made.block = three_of(value, kMostThreads, made.implausible);
    } else if (key == "occ_pct") {
      double percent = 0;
      if (!take_number(value, percent) || percent < 0 || percent > 100) {
        ++made.implausible;
      } else if (percent > 0) {
        made.occupancy = percent;
      }
    }
  });
  return made;
}

TransferDetails read_transfer_details(std::string_view text) {
  TransferDetails made;
  std::string_view from, to;
  each_detail(text, [&](std::string_view key, std::string_view value) {
    if (key == "kind") made.kind = value;
    if (key == "kind_src") from = value;
    if (key == "kind_dst") to = value;
    if (key == "size" || key == "num_bytes") made.bytes = bounded(value, kMostBytes, made.implausible);
  });
  if (!from.empty() || !to.empty()) made.kind = fmt::format("{} > {}", from, to);
  return made;
}

std::optional<std::int64_t> stream_of_line(std::string_view name) {
  constexpr std::string_view kBegin = "Stream #";
  if (!name.starts_with(kBegin)) return std::nullopt;
  name.remove_prefix(kBegin.size());
  std::size_t digits = 0;
  while (digits < name.size() && is_digit(name[digits])) ++digits;
  std::int64_t number = 0;
  if (digits == 0 || !take_number(name.substr(0, digits), number)) return std::nullopt;
  return number;
}

}  // namespace accelscope::capture::sources::tracks
