#include "core/names/name_rules.h"

#include <algorithm>
#include <array>
#include <cctype>

#include "core/names/limits.h"

namespace accelscope {
namespace {

constexpr std::array<std::string_view, 5> kWrappers = {"Kernel", "Kernel2", "device_kernel", "kernel", "GemmUniversal"};
constexpr std::array<std::string_view, 16> kTypes = {"float", "double", "int",    "long",   "short", "char",
                                                     "bool",  "void",   "signed", "const",  "half",  "unsigned",
                                                     "true",  "false",  "size_t", "nullptr"};

struct Spelling {
  std::string_view word;
  std::string_view shown;
};
// Types of elements as fields of a kernel's name, or the beginning of one ("f16f16", "tf32f32").
constexpr std::array<Spelling, 22> kElements = {
    {{"bf16", "bf16"}, {"fp16", "f16"},  {"f16", "f16"},   {"half", "f16"}, {"tf32", "tf32"}, {"fp32", "f32"},
     {"f32", "f32"},   {"float", "f32"}, {"fp64", "f64"},  {"f64", "f64"},  {"e4m3", "fp8"},  {"e5m2", "fp8"},
     {"fp8", "fp8"},   {"f8", "fp8"},    {"s8", "int8"},   {"i8", "int8"},  {"int8", "int8"}, {"fp4", "fp4"},
     {"e2m1", "fp4"},  {"u8", "uint8"},  {"mxfp8", "fp8"}, {"mxfp4", "fp4"}}};
// Products of BLAS: the letter says the type.
constexpr std::array<Spelling, 6> kBlas = {
    {{"sgemm", "f32"}, {"hgemm", "f16"}, {"dgemm", "f64"}, {"cgemm", "c32"}, {"zgemm", "c64"}, {"igemm", "int8"}}};
// Letters of Tensile's fields.
constexpr std::array<Spelling, 6> kTensile = {
    {{"B", "bf16"}, {"H", "f16"}, {"S", "f32"}, {"D", "f64"}, {"F8", "fp8"}, {"I", "int8"}}};
constexpr std::array<std::string_view, 3> kConvolutions = {"fprop", "dgrad", "wgrad"};
constexpr std::array<std::string_view, 5> kCollectiveKernels = {"ncclDevKernel_", "ncclKernel_", "mscclKernel_",
                                                                "rcclKernel_", "ncclSymkDevKernel_"};
// What a collective is, spelled as runtimes do.
constexpr std::array<std::string_view, 7> kCollectives = {"AllReduce", "AllGather", "ReduceScatter", "AllToAll",
                                                          "SendRecv",  "Broadcast", "Reduce"};
// Kernels that run a function that they are given.
constexpr std::array<std::string_view, 4> kGenericKernels = {"elementwise_kernel", "reduce_kernel",
                                                             "multi_tensor_apply_kernel", "index_elementwise_kernel"};
// What such a function is wrapped in, and what else stands among a kernel's arguments.
constexpr std::array<std::string_view, 16> kWrapperWords = {
    "BinaryFunctor",     "BUnaryFunctor",  "AUnaryFunctor", "UnaryFunctor",   "gpu_kernel_impl_nocast",
    "gpu_kernel_impl",   "func_wrapper_t", "ReduceOp",      "ReduceJitOp",    "lambda",
    "operator",          "array",          "Array",         "TensorIterator", "TensorIteratorBase",
    "TensorListMetadata"};
constexpr std::array<Spelling, 12> kArgumentTypes = {{{"BFloat16", "bf16"},
                                                      {"bfloat16_t", "bf16"},
                                                      {"__nv_bfloat16", "bf16"},
                                                      {"Half", "f16"},
                                                      {"half_t", "f16"},
                                                      {"__half", "f16"},
                                                      {"half", "f16"},
                                                      {"Float8_e4m3fn", "fp8"},
                                                      {"Float8_e5m2", "fp8"},
                                                      {"float", "f32"},
                                                      {"double", "f64"},
                                                      {"complex", "complex"}}};
constexpr std::array<Spelling, 5> kWholeTypes = {
    {{"long", "int64"}, {"int", "int32"}, {"short", "int16"}, {"char", "int8"}, {"bool", "bool"}}};
constexpr std::array<std::string_view, 3> kDrivers = {"cuda", "hip", "cu"};

template <std::size_t Size>
[[nodiscard]] bool is_in(const std::array<std::string_view, Size>& words, std::string_view word) noexcept {
  return std::find(words.begin(), words.end(), word) != words.end();
}

[[nodiscard]] std::vector<std::string_view> fields_of(std::string_view name) {
  std::vector<std::string_view> fields;
  for (std::size_t at = 0; at < name.size();) {
    const std::size_t end = std::min(name.find('_', at), name.size());
    if (end > at) fields.push_back(name.substr(at, end - at));
    at = end + 1;
  }
  return fields;
}

// "128x64", "MT128x64x32", "tilesize64x64x64", "bt64x64x64": where the digits begin; npos if it is no tile.
[[nodiscard]] std::size_t tile_in(std::string_view field) {
  constexpr std::array<std::string_view, 4> kPrefixes = {"", "MT", "tilesize", "bt"};
  for (const std::string_view prefix : kPrefixes) {
    if (!field.starts_with(prefix)) continue;
    const std::string_view digits = field.substr(prefix.size());
    const bool only = !digits.empty() && std::all_of(digits.begin(), digits.end(),
                                                     [](char c) { return (c >= '0' && c <= '9') || c == 'x'; });
    if (only && digits.front() != 'x' && digits.back() != 'x' && digits.find('x') != std::string_view::npos) {
      return prefix.size();
    }
  }
  return std::string_view::npos;
}

[[nodiscard]] std::string_view element_in(std::string_view field) {
  if (field.size() > NameLimits::kField) return {};
  for (const Spelling& each : kElements) {
    if (!field.starts_with(each.word)) continue;
    const std::string_view rest = field.substr(each.word.size());
    if (rest.empty() || !element_in(rest).empty()) return each.shown;
  }
  return {};
}

[[nodiscard]] std::string_view tensile_element(const std::vector<std::string_view>& fields) {
  for (std::size_t i = 1; i < fields.size(); ++i) {
    const bool indices = fields[i].size() > 1 && std::islower(static_cast<unsigned char>(fields[i][1])) != 0;
    if (indices) continue;  // "Alik", "Bljk"
    for (const Spelling& each : kTensile) {
      if (fields[i].starts_with(each.word)) return each.shown;
    }
    return {};
  }
  return {};
}

[[nodiscard]] std::vector<std::string> product_forms(std::string_view base) {
  const bool tensile = base.starts_with("Cijk_") || base.starts_with("Custom_Cijk_");
  const std::vector<std::string_view> fields = fields_of(base);
  std::string word;
  std::string_view element, tile;
  for (const std::string_view field : fields) {
    for (const Spelling& each : kBlas) {
      if (field == each.word) word = "gemm", element = each.shown;
    }
    if (word.empty() && (field == "gemm" || field.ends_with("gemm") || field == "matmul")) word = "gemm";
    if (is_in(kConvolutions, field)) word = field;
    if (element.empty()) element = element_in(field);
    if (const std::size_t at = tile_in(field); tile.empty() && at != std::string_view::npos) tile = field.substr(at);
  }
  if (tensile) {
    word = base.find("PostGSU") == std::string_view::npos ? "gemm" : "gemm reduce";
    element = tensile_element(fields);
  }
  if (word.empty() || (element.empty() && tile.empty())) return {};
  std::vector<std::string> forms;
  std::string form = word;
  if (!element.empty()) form += " " + std::string(element);
  if (!tile.empty()) forms.push_back(form + " " + std::string(tile));
  if (form != word) forms.push_back(form);
  forms.push_back(word);
  // A product whose sums are cut in parts runs beside the plain one of the same tile: "..._execute_split_k_kernel".
  const bool parts = std::any_of(fields.begin(), fields.end(), [](std::string_view field) {
    return field == "split" || field == "splitK" || field == "splitk";
  });
  if (parts) {
    for (std::string& each : forms) each += " split-k";
  }
  return forms;
}

[[nodiscard]] std::vector<std::string> collective_forms(std::string_view base) {
  for (const std::string_view prefix : kCollectiveKernels) {
    if (!base.starts_with(prefix)) continue;
    const std::string_view rest = base.substr(prefix.size());
    const std::vector<std::string_view> fields = fields_of(rest);
    if (fields.empty()) return {};
    std::string what;
    for (const std::string_view field : fields) {
      if (is_in(kCollectives, field)) what = field;
    }
    if (what.empty()) return {};  // "ncclDevKernel_Generic_1": its name says no more than all of it
    std::vector<std::string> forms;
    for (std::size_t i = 0; i < fields.size() && forms.empty(); ++i) {
      const std::string_view element = element_in(fields[i]);
      if (!element.empty()) forms.push_back(what + " " + std::string(element));
    }
    forms.push_back(what);
    return forms;
  }
  return {};
}

}  // namespace

bool names_only_a_wrapper(std::string_view base) noexcept { return is_in(kWrappers, base); }
bool names_a_type(std::string_view word) noexcept {
  return is_in(kTypes, word) ||
         std::any_of(kElements.begin(), kElements.end(), [&](const Spelling& each) { return each.word == word; });
}

std::vector<std::string> known_kernel_forms(std::string_view base) {
  std::vector<std::string> forms = collective_forms(base);
  return forms.empty() ? product_forms(base) : forms;
}

std::vector<std::string> generic_kernel_forms(std::string_view base, const std::vector<std::string>& words) {
  const bool generic = std::any_of(kGenericKernels.begin(), kGenericKernels.end(),
                                   [&](std::string_view known) { return base.find(known) != std::string_view::npos; });
  if (!generic) return {};
  const auto spelling = [](const auto& table, std::string_view word) -> std::string_view {
    for (const Spelling& each : table) {
      if (each.word == word) return each.shown;
    }
    return {};
  };
  // "4ul", "512", "float": neither says what is done.
  const auto names_a_function = [&](const std::string& word) {
    constexpr std::size_t kLeast = 4;
    return word.size() >= kLeast && std::isdigit(static_cast<unsigned char>(word.front())) == 0 &&
           !names_a_type(word) && !is_in(kWrapperWords, word) && spelling(kArgumentTypes, word).empty();
  };
  const auto function = std::find_if(words.begin(), words.end(), names_a_function);
  if (function == words.end()) return {};
  std::string_view type;
  for (const std::string& word : words) {
    if (type.empty()) type = spelling(kArgumentTypes, word);
  }
  // Whole numbers also count and index: only those of the function are its elements.
  for (auto word = function; word != words.end() && type.empty(); ++word) type = spelling(kWholeTypes, *word);
  const std::string what = type.empty() ? *function : *function + " " + std::string(type);
  return {std::string(base) + " " + what, what, *function};
}

std::vector<std::string> known_name_forms(std::string_view name) {
  constexpr std::string_view kModule = "nn.Module: ";
  if (name.starts_with(kModule)) return {std::string(name.substr(kModule.size()))};
  constexpr std::string_view kCopy = "Memcpy ";
  if (!name.starts_with(kCopy)) return {};
  const std::string_view rest = name.substr(kCopy.size());
  const std::string direction(rest.substr(0, rest.find(' ')));
  std::vector<std::string> forms;
  const std::size_t bracket = rest.find('(');
  const std::size_t arrow = rest.find(" -> ");
  if (bracket != std::string_view::npos && arrow != std::string_view::npos && arrow > bracket) {
    const std::string from(rest.substr(bracket + 1, arrow - bracket - 1));
    const std::string_view to = rest.substr(arrow + 4, rest.find(')', arrow) - arrow - 4);
    // The end that is not the device says what kind of copy it is.
    forms.push_back(direction + " " + (from == "Device" ? std::string(to) : from));
  }
  forms.push_back(direction);
  return forms;
}

std::vector<std::string> shorter_call_forms(std::string_view name) {
  if (name.find(' ') != std::string_view::npos) return {};
  for (const std::string_view driver : kDrivers) {
    const bool call = name.starts_with(driver) && name.size() > driver.size() + 1 &&
                      std::isupper(static_cast<unsigned char>(name[driver.size()])) != 0;
    if (call) return {std::string(name.substr(driver.size()))};
  }
  return {};
}

}  // namespace accelscope
