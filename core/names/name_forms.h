// How a name is shortened: by what its parts mean, never in the middle. A kernel loses its return type, namespaces,
// template and call arguments; a Python frame keeps "file.py:function"; a path keeps its leaf; a matrix product keeps
// its type and tile. Pure functions of one name; which of its forms may be used beside others, and where a shortened
// form has to say more, ShortNames (core/names/short_names.h) decides.
//
//   name_forms("void at::native::cunn_SoftMaxForward<8, float>(float*)").texts    {whole, ..., "cunn_SoftMaxForward"}
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace accelscope {

struct NameForms {
  std::vector<std::string> texts;  // longest first, all different; the first is the whole name; see limits.h
  std::size_t usual = 0;           // which is shown where there is room: longer ones only to tell two names apart
  std::string identity;            // names of the same identity may read alike: addresses of objects are left out
  std::vector<std::string> parts;  // of what was cut: they can be added to tell two names apart
};

[[nodiscard]] NameForms name_forms(std::string_view name);
// As a sentence names one thing, with no other beside it.
[[nodiscard]] std::string usual_name(std::string_view name);

// A declaration as compilers print it: "void a::(anonymous namespace)::f<int, b::C>(int*) [clone .kd]".
struct Declaration {
  std::string base;       // f
  std::string arguments;  // <int, C>: of templates, without namespaces; "" if it has none
  std::string qualified;  // a::f<int, b::C>
};
// Nothing is found (an empty base) in a text that is no declaration.
[[nodiscard]] Declaration parse_declaration(std::string_view name);

// The names without the words that all of them begin and end with, as rows below a heading need no more: "gpu 0 memory
// Reserved", "gpu 0 memory Allocated" -> "Reserved", "Allocated". A name that would become empty keeps its last word.
[[nodiscard]] std::vector<std::string> without_shared_words(const std::vector<std::string>& names);

}  // namespace accelscope
