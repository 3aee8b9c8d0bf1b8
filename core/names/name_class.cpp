#include "core/names/name_class.h"

#include <algorithm>
#include <array>

#include "core/base/text.h"
#include "core/names/name_forms.h"

namespace accelscope {
namespace {

// Slots of the palette (core/model/palette.h), one for each kind of work.
constexpr std::uint8_t kProduct = 0;
constexpr std::uint8_t kAttention = 1;
constexpr std::uint8_t kOptimizer = 2;
constexpr std::uint8_t kReduction = 3;
constexpr std::uint8_t kNorm = 4;
constexpr std::uint8_t kElementwise = 5;
constexpr std::uint8_t kAnnotation = 6;
constexpr std::uint8_t kCollective = 7;
constexpr std::uint8_t kRope = 8;
constexpr std::uint8_t kLaunch = 8;
constexpr std::uint8_t kToDevice = 9;
constexpr std::uint8_t kEmbedding = 10;
constexpr std::uint8_t kFromDevice = 11;
constexpr std::uint8_t kOwnCode = 10;
constexpr std::uint8_t kTorch = 2;

struct Word {
  std::string_view text;  // lower case
  std::uint8_t slot;
};

// The first that occurs in a kernel or operator decides: what is particular comes first.
constexpr std::array<Word, 58> kWork = {{
    {"nccl", kCollective},
    {"rccl", kCollective},
    {"mscclkernel", kCollective},
    {"allreduce", kCollective},
    {"all_reduce", kCollective},
    {"allgather", kCollective},
    {"all_gather", kCollective},
    {"reduce_scatter", kCollective},
    {"c10d::", kCollective},
    {"memcpy htod", kToDevice},
    {"memcpy dtoh", kFromDevice},
    {"attention", kAttention},
    {"flash_", kAttention},
    {"fmha", kAttention},
    {"flash::", kAttention},
    {"adam", kOptimizer},
    {"multi_tensor_apply", kOptimizer},
    {"optimizer", kOptimizer},
    {"_foreach_", kOptimizer},
    {"sgd", kOptimizer},
    {"lamb_", kOptimizer},
    {"rope", kRope},
    {"rotary", kRope},
    {"layer_norm", kNorm},
    {"layernorm", kNorm},
    {"rms_norm", kNorm},
    {"rmsnorm", kNorm},
    {"batch_norm", kNorm},
    {"batchnorm", kNorm},
    {"group_norm", kNorm},
    {"bn_fw", kNorm},
    {"bn_bw", kNorm},
    {"softmax", kReduction},
    {"embedding", kEmbedding},
    {"indexselect", kEmbedding},
    {"index_select", kEmbedding},
    {"gather", kEmbedding},
    {"gemm", kProduct},
    {"cijk_", kProduct},
    {"gemv", kProduct},
    {"matmul", kProduct},
    {"::mm", kProduct},
    {"::bmm", kProduct},
    {"addmm", kProduct},
    {"::linear", kProduct},
    {"mmbackward", kProduct},
    {"conv", kProduct},
    {"scudnn", kProduct},
    {"wgrad", kProduct},
    {"winograd", kProduct},
    {"reduce_kernel", kReduction},
    {"reduce", kReduction},
    {"triton_red_", kReduction},
    {"triton_per_", kReduction},
    {"elementwise", kElementwise},
    {"triton_poi_", kElementwise},
    {"functor", kElementwise},
    {"copy_", kElementwise},
}};

// By these a name is known for a kernel's or an operator's: others may hold the same words by chance.
constexpr std::array<std::string_view, 14> kKernelSigns = {"::",     "<",        "_kernel", "Kernel",  "triton_",
                                                           "nccl",   "Cijk_",    "gemm_",   "Memcpy ", "cudnn_",
                                                           "volta_", "Backward", "_cudnn_", "xmma_"};
constexpr std::array<std::string_view, 3> kLaunchPrefixes = {"cuda", "hip", "cu"};
constexpr std::array<std::string_view, 4> kAnnotations = {"ProfilerStep#", "Optimizer.", "enumerate(DataLoader)",
                                                          "## "};
// Packages that come with Python: their frames have one colour.
constexpr std::array<std::string_view, 22> kStandard = {
    "threading", "runpy",     "contextlib", "queue",           "selectors",
    "socket",    "importlib", "concurrent", "multiprocessing", "asyncio",
    "json",      "logging",   "functools",  "subprocess",      "typing",
    "copy",      "re",        "os",         "collections",     "pathlib",
    "abc",       "enum"};

// `word` is lower case.
[[nodiscard]] bool holds(std::string_view name, std::string_view word) noexcept {
  return std::search(name.begin(), name.end(), word.begin(), word.end(),
                     [](char a, char b) { return lower_case(a) == b; }) != name.end();
}

[[nodiscard]] std::string_view after(std::string_view path, std::string_view folder) noexcept {
  const std::size_t at = path.rfind(folder);
  return at == std::string_view::npos ? std::string_view() : path.substr(at + folder.size());
}

// "torch/nn/functional.py(2277): embedding". A path below a folder of packages, and a relative path, begin with the
// package; a file alone is the program's own, and so are other absolute paths.
[[nodiscard]] std::optional<NameClass> python_class(std::string_view name) noexcept {
  if (name.starts_with("nn.Module: ")) return NameClass{kTorch, {}};
  if (name.starts_with("<built-in ")) return NameClass{std::nullopt, name.substr(0, 9)};
  const std::size_t end = name.find("): ");
  if (end == std::string_view::npos || end < 2 || name[end - 1] < '0' || name[end - 1] > '9') return std::nullopt;
  const std::size_t bracket = name.rfind('(', end);
  if (bracket == std::string_view::npos) return std::nullopt;
  std::string_view path = name.substr(0, bracket);
  if (path.starts_with('<')) return NameClass{std::nullopt, path.substr(0, 1)};
  for (const std::string_view folder : {std::string_view("site-packages/"), std::string_view("dist-packages/")}) {
    if (const std::string_view inner = after(path, folder); !inner.empty()) path = inner;
  }
  const std::string_view package = path.substr(0, std::min(path.find('/'), path.find('.')));
  if (package == "torch") return NameClass{kTorch, {}};
  if (std::find(kStandard.begin(), kStandard.end(), package) != kStandard.end() ||
      path.find("/lib/python") != std::string_view::npos) {
    return NameClass{std::nullopt, std::string_view("python")};
  }
  const std::size_t slash = path.find('/');
  if (slash == std::string_view::npos || slash == 0 || path.starts_with("./")) return NameClass{kOwnCode, {}};
  return NameClass{std::nullopt, package};
}

[[nodiscard]] bool is_call(std::string_view name) noexcept {
  return std::any_of(kLaunchPrefixes.begin(), kLaunchPrefixes.end(), [name](std::string_view driver) {
    return name.size() > driver.size() && name.starts_with(driver) && name[driver.size()] >= 'A' &&
           name[driver.size()] <= 'Z' && name.find_first_of(" :<(") == std::string_view::npos;
  });
}

}  // namespace

bool is_plain_fp32_product(std::string_view kernel) noexcept {
  constexpr std::array<std::string_view, 2> kPlain = {"sgemm", "scudnn"};
  constexpr std::array<std::string_view, 5> kOfMatrixUnits = {"s1688", "s16816", "s884", "tensorop", "tf32"};
  const auto contains_words = [&](std::string_view word) { return holds(kernel, word); };
  return std::any_of(kPlain.begin(), kPlain.end(), contains_words) &&
         std::none_of(kOfMatrixUnits.begin(), kOfMatrixUnits.end(), contains_words);
}

bool goes_over_memory(std::string_view kernel) noexcept {
  constexpr std::array kOverMemory = {kOptimizer, kReduction, kNorm, kElementwise, kEmbedding};
  constexpr std::string_view kFused = "triton_";
  if (kernel.starts_with(kFused)) return false;
  const std::optional<NameClass> known = name_class(kernel);
  return known && known->slot && std::find(kOverMemory.begin(), kOverMemory.end(), *known->slot) != kOverMemory.end();
}

std::optional<NameClass> name_class(std::string_view name) noexcept {
  name = name.substr(0, NameLimits::kName);
  if (std::optional<NameClass> frame = python_class(name)) return frame;
  for (const std::string_view annotation : kAnnotations) {
    if (name.starts_with(annotation)) return NameClass{kAnnotation, {}};
  }
  if (is_call(name)) return NameClass{kLaunch, {}};
  const bool kernel = std::any_of(kKernelSigns.begin(), kKernelSigns.end(),
                                  [name](std::string_view sign) { return name.find(sign) != std::string_view::npos; });
  if (!kernel) return std::nullopt;
  for (const Word& word : kWork) {
    if (holds(name, word.text)) return NameClass{word.slot, {}};
  }
  return std::nullopt;
}

}  // namespace accelscope
