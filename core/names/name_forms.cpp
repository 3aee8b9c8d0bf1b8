#include "core/names/name_forms.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdint>
#include <span>
#include <utility>

#include "core/base/checksum.h"
#include "core/base/text.h"

namespace accelscope {
namespace {

// Adds a shorter form; one that is no shorter or says nothing is left out.
void add_form(NameForms& forms, std::string text) {
  while (text.ends_with(' ')) text.pop_back();
  if (forms.texts.size() >= NameLimits::kForms) return;
  if (!text.empty() && text.size() < forms.texts.back().size()) forms.texts.push_back(std::move(text));
}

// The form that was added last is the one that is shown where there is room.
void mark_usual(NameForms& forms) { forms.usual = forms.texts.size() - 1; }

// Forms that a rule of names knows; the longest of them is shown where there is room.
void add_known(const std::vector<std::string>& known, NameForms& forms) {
  add_form(forms, known.front());
  mark_usual(forms);
  for (std::size_t i = 1; i < known.size(); ++i) add_form(forms, known[i]);
}

[[nodiscard]] bool is_digits(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

[[nodiscard]] std::string_view leaf_of(std::string_view path) {
  const std::size_t slash = path.find_last_of("/\\");
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

// "torch/nn/modules/module.py(1532): _call_impl" -> "module.py:1532 _call_impl", "module.py:_call_impl", "_call_impl".
[[nodiscard]] bool add_python_frame(std::string_view name, NameForms& forms) {
  const std::size_t colon = name.find("): ");
  if (colon == std::string_view::npos) return false;
  const std::size_t bracket = name.rfind('(', colon);
  if (bracket == std::string_view::npos || bracket == 0) return false;
  const std::string_view line = name.substr(bracket + 1, colon - bracket - 1);
  if (!is_digits(line)) return false;
  const std::string file(leaf_of(name.substr(0, bracket)));
  const std::string function(name.substr(colon + 3));
  add_form(forms, file + ":" + std::string(line) + " " + function);
  add_form(forms, file + ":" + function);
  mark_usual(forms);
  add_form(forms, function);
  return true;
}

// "<built-in method to of Tensor object at 0x7f12>" -> "Tensor.to", "to".
[[nodiscard]] bool add_built_in(std::string_view name, NameForms& forms) {
  constexpr std::string_view kMethod = "<built-in method ";
  constexpr std::string_view kFunction = "<built-in function ";
  if (!name.ends_with('>')) return false;
  const std::string_view inner = name.substr(0, name.size() - 1);
  if (inner.starts_with(kFunction)) {
    add_form(forms, std::string(inner.substr(kFunction.size())));
    mark_usual(forms);
    return true;
  }
  if (!inner.starts_with(kMethod)) return false;
  const std::string_view rest = inner.substr(kMethod.size());
  const std::size_t of = rest.find(" of ");
  const std::size_t object = rest.find(" object");
  const std::string method(rest.substr(0, of));
  if (of != std::string_view::npos && object != std::string_view::npos && object > of) {
    const std::string_view type = rest.substr(of + 4, object - of - 4);
    // The type of a type, and a module, say nothing.
    if (type != "type" && type != "module") add_form(forms, std::string(type) + "." + method);
  }
  if (forms.texts.size() == 1) add_form(forms, method);
  mark_usual(forms);
  add_form(forms, method);
  return true;
}

// "a/b/c/d" -> "b/c/d", "c/d", "d": its last steps. What has blanks outside of brackets is no path.
[[nodiscard]] bool add_path(std::string_view name, NameForms& forms) {
  std::vector<std::size_t> starts;
  int depth = 0;
  for (std::size_t i = 0; i < name.size(); ++i) {
    const char c = name[i];
    if (c == '(' || c == '[' || c == '<') ++depth;
    if (c == ')' || c == ']' || c == '>') --depth;
    if (depth > 0) continue;
    if (c == ' ' || c == '\t') return false;
    if (c == '/' && i + 1 < name.size()) starts.push_back(i + 1);
  }
  if (starts.empty()) return false;
  const std::size_t steps = std::min(starts.size(), NameLimits::kPathSteps);
  for (std::size_t i = starts.size() - steps; i < starts.size(); ++i) {
    std::string_view part = name.substr(starts[i]);
    while (part.ends_with('/')) part.remove_suffix(1);
    const bool tells = std::any_of(part.begin(), part.end(), [](unsigned char c) { return std::isdigit(c) == 0; });
    if (tells) add_form(forms, std::string(part));  // "train_step/12" is no "12"
  }
  mark_usual(forms);
  return true;
}

[[nodiscard]] std::vector<std::string> words_of(std::string_view text, bool underscores) {
  std::vector<std::string> words;
  std::string word;
  const auto take = [&] {
    if (!word.empty() && words.size() < NameLimits::kParts) words.push_back(std::move(word));
    word.clear();
  };
  for (const char c : text) {
    const bool in_word = std::isalnum(static_cast<unsigned char>(c)) != 0 || (c == '_' && !underscores);
    if (in_word) {
      word += c;
    } else {
      take();
    }
  }
  take();
  return words;
}

void add_declaration(const Declaration& found, NameForms& forms) {
  add_form(forms, found.qualified);
  add_form(forms, found.base + found.arguments);
  forms.parts = words_of(found.arguments, false);
  std::string base = found.base;
  if (!found.arguments.empty() && names_only_a_wrapper(base)) {
    mark_usual(forms);  // with what tells it from others, where no argument says more
    // "cutlass::Kernel<cutlass_80_tensorop_s1688gemm_128x64>": its first argument is what it is.
    const auto inner = std::find_if(forms.parts.begin(), forms.parts.end(), [](const std::string& part) {
      return part.size() > 3 && !is_digits(part) && !names_a_type(part);
    });
    if (inner != forms.parts.end()) base = *inner;
  }
  if (const std::vector<std::string> known = known_kernel_forms(base); !known.empty()) {
    if (base != found.base) forms.parts.clear();  // what the wrapper was given is its name alone
    const std::vector<std::string> fields = words_of(base, true);
    forms.parts.insert(forms.parts.begin(), fields.begin(), fields.end());
    forms.parts.resize(std::min(forms.parts.size(), NameLimits::kParts));
    add_form(forms, base);
    add_known(known, forms);
    return;
  }
  if (const std::vector<std::string> generic = generic_kernel_forms(base, forms.parts); !generic.empty()) {
    return add_known(generic, forms);
  }
  add_form(forms, base);
  if (base != found.base || !names_only_a_wrapper(base)) mark_usual(forms);
}

// "autograd::engine::evaluate_function: AddmmBackward0" -> "evaluate_function: AddmmBackward0", "AddmmBackward0".
[[nodiscard]] bool add_scoped(std::string_view name, NameForms& forms) {
  const std::size_t scope = name.substr(0, name.find(' ')).rfind("::");
  if (scope == std::string_view::npos || scope == 0) return false;
  const std::string_view inner = name.substr(scope + 2);
  if (inner.empty() || inner.front() == ' ') return false;
  add_form(forms, std::string(inner));
  mark_usual(forms);
  const std::size_t colon = inner.find(": ");
  if (colon != std::string_view::npos) {
    add_form(forms, std::string(inner.substr(colon + 2)));
    mark_usual(forms);
  }
  return true;
}

void add_forms(std::string_view name, NameForms& forms) {
  constexpr std::string_view kDescriptor = ".kd";  // of a kernel's code object, as ROCm's tools write it
  if (name.ends_with(kDescriptor) && name.size() > kDescriptor.size()) {
    name.remove_suffix(kDescriptor.size());
    add_form(forms, std::string(name));
    mark_usual(forms);
  }
  if (add_python_frame(name, forms) || add_built_in(name, forms)) return;
  if (const std::vector<std::string> known = known_name_forms(name); !known.empty()) return add_known(known, forms);
  if (add_path(name, forms)) return;
  const bool arguments = name.find('<') != std::string_view::npos || name.find('(') != std::string_view::npos;
  if (!arguments && add_scoped(name, forms)) return;
  if (const Declaration found = parse_declaration(name); !found.base.empty()) return add_declaration(found, forms);
  if (const std::vector<std::string> known = known_kernel_forms(name); !known.empty()) {
    forms.parts = words_of(name, true);
    return add_known(known, forms);
  }
  for (std::string& shorter : shorter_call_forms(name)) add_form(forms, std::move(shorter));
}

// "... object at 0x7f12..." without the address.
[[nodiscard]] std::string identity_of(std::string_view name) {
  const std::size_t at = name.rfind(" at 0x");
  if (at == std::string_view::npos || !name.ends_with('>')) return std::string(name);
  return std::string(name.substr(0, at)) + ">";
}

}  // namespace

std::string usual_name(std::string_view name) {
  NameForms forms = name_forms(name);
  return std::move(forms.texts[forms.usual]);
}

NameForms name_forms(std::string_view name) {
  NameForms forms;
  forms.texts.emplace_back(name);
  forms.identity = identity_of(name);
  if (name.size() <= NameLimits::kName) {
    add_forms(name, forms);
  } else {
    add_form(forms, fmt::format("{}… ({:08x})", utf8_front(name, NameLimits::kFront),
                                static_cast<std::uint32_t>(checksum(std::as_bytes(std::span(name))))));
    mark_usual(forms);
  }
  return forms;
}

std::vector<std::string> without_shared_words(const std::vector<std::string>& names) {
  if (names.size() < 2) return names;
  const auto split = [](const std::string& name) {
    std::vector<std::string_view> words;
    for (std::size_t at = 0; at <= name.size();) {
      const std::size_t end = std::min(name.find(' ', at), name.size());
      words.push_back(std::string_view(name).substr(at, end - at));
      at = end + 1;
    }
    return words;
  };
  std::vector<std::vector<std::string_view>> words;
  std::size_t fewest = names.front().size() + 1;
  for (const std::string& name : names) {
    words.push_back(split(name));
    fewest = std::min(fewest, words.back().size());
  }
  const auto all_have = [&](auto word_of) {
    return std::all_of(words.begin(), words.end(),
                       [&](const auto& each) { return word_of(each) == word_of(words.front()); });
  };
  std::size_t before = 0;
  while (before + 1 < fewest && all_have([before](const auto& each) { return each[before]; })) ++before;
  std::size_t after = 0;
  while (before + after + 1 < fewest && all_have([after](const auto& each) { return each[each.size() - 1 - after]; })) {
    ++after;
  }
  std::vector<std::string> shorter;
  for (const auto& each : words) {
    std::string text;
    for (std::size_t i = before; i + after < each.size(); ++i) {
      if (!text.empty()) text += ' ';
      text += each[i];
    }
    shorter.push_back(std::move(text));
  }
  return shorter;
}

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
