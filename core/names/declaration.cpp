// Declarations of C++ as compilers and profilers print them.
#include <cctype>

#include "core/names/name_forms.h"

namespace accelscope {
namespace {

constexpr std::string_view kAnonymous = "(anonymous namespace)";

[[nodiscard]] bool is_word(char c) noexcept {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '$' || c == '~' || (c & 0x80) != 0;
}

// Where an "operator()", "operator<<" or "operator bool" that begins at `at` ends; `at` if none does.
[[nodiscard]] std::size_t after_operator(std::string_view text, std::size_t at) {
  constexpr std::string_view kOperator = "operator";
  if (text.substr(at, kOperator.size()) != kOperator) return at;
  if (at > 0 && is_word(text[at - 1])) return at;
  std::size_t end = at + kOperator.size();
  if (end >= text.size() || is_word(text[end])) return at;
  if (text.substr(end, 2) == "()" || text.substr(end, 2) == "[]") return end + 2;
  while (end < text.size() && std::string_view("<>=!+-*/%&|^~").find(text[end]) != std::string_view::npos) ++end;
  return end;
}

// Where the bracket at `at` is closed, after it; the end of the text if it is not. "->" closes nothing.
[[nodiscard]] std::size_t after_bracket(std::string_view text, std::size_t at) {
  int depth = 0;
  for (std::size_t i = at; i < text.size();) {
    if (const std::size_t end = after_operator(text, i); end != i) {
      i = end;
      continue;
    }
    const char c = text[i];
    const bool less = c == '<' && i > at && text[i - 1] == ' ';
    if ((c == '<' && !less) || c == '(' || c == '{' || c == '[') ++depth;
    const bool arrow = c == '>' && i > 0 && text[i - 1] == '-';
    if ((c == '>' && !arrow) || c == ')' || c == '}' || c == ']') --depth;
    ++i;
    if (depth == 0) return i;
  }
  return text.size();
}

struct Outline {
  std::size_t begin = 0;  // after the return type
  std::size_t end = 0;    // before the arguments of the call
  std::size_t base_begin = 0;
  std::size_t base_end = 0;
  bool any_sign = false;  // "::", "<...>" or "(...)" directly after a word: prose has none of them
};

// Goes over what lies outside of brackets: the last word that no call or lambda follows is the base.
[[nodiscard]] Outline outline_of(std::string_view text) {
  Outline outline;
  outline.end = text.size();
  bool called = false;
  for (std::size_t i = 0; i < text.size();) {
    if (text.substr(i, kAnonymous.size()) == kAnonymous) {
      i += kAnonymous.size();
      outline.any_sign = true;
      continue;
    }
    if (const std::size_t end = after_operator(text, i); end != i) {
      i = end;
      continue;
    }
    const char c = text[i];
    const bool after_word = i > 0 && (is_word(text[i - 1]) || text[i - 1] == '>');
    if (c == '(' && (after_word || (i > 1 && text.substr(i - 2, 2) == "()"))) {
      if (!called) outline.end = i;
      called = true;
      outline.any_sign = true;
      i = after_bracket(text, i);
      // "enumerate(DataLoader)#_Iterator.__next__" is a name that somebody gave a step.
      if (i < text.size() && text[i] == '#') return {};
    } else if (c == '<' || c == '(' || c == '{' || c == '[') {
      outline.any_sign = outline.any_sign || (c == '<' && after_word);
      i = after_bracket(text, i);
    } else if (c == ' ' && !called) {
      ++i;
      outline.begin = i;  // all before it was a return type
    } else if (is_word(c) && !called) {
      const std::size_t first = i;
      while (i < text.size() && is_word(text[i])) ++i;
      outline.base_begin = first;
      outline.base_end = i;
    } else {
      outline.any_sign = outline.any_sign || text.substr(i, 2) == "::";
      ++i;
    }
  }
  return outline;
}

// Drops what stands before "::", in brackets too.
[[nodiscard]] std::string without_namespaces(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size();) {
    if (text.substr(i, kAnonymous.size()) == kAnonymous) {
      i += kAnonymous.size();
      if (text.substr(i, 2) == "::") i += 2;
      continue;
    }
    if (text.substr(i, 2) == "::" && (out.empty() || is_word(out.back()))) {
      while (!out.empty() && is_word(out.back())) out.pop_back();
      i += 2;
      continue;
    }
    out += text[i++];
  }
  return out;
}

[[nodiscard]] std::string without_anonymous(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size();) {
    if (text.substr(i, kAnonymous.size()) == kAnonymous) {
      i += kAnonymous.size();
      if (text.substr(i, 2) == "::") i += 2;
    } else {
      out += text[i++];
    }
  }
  return out;
}

}  // namespace

Declaration parse_declaration(std::string_view name) {
  if (const std::size_t clone = name.find(" [clone"); clone != std::string_view::npos) name = name.substr(0, clone);
  if (name.ends_with(".kd")) name.remove_suffix(3);
  const Outline outline = outline_of(name);
  Declaration found;
  if (!outline.any_sign || outline.base_end <= outline.base_begin || outline.base_begin < outline.begin) return found;
  if (name.substr(outline.base_end) == "::") return found;
  found.base = name.substr(outline.base_begin, outline.base_end - outline.base_begin);
  found.qualified = without_anonymous(name.substr(outline.begin, outline.end - outline.begin));
  const std::string_view rest = name.substr(outline.base_end, outline.end - outline.base_end);
  if (rest.starts_with('<')) found.arguments = without_namespaces(rest.substr(0, after_bracket(rest, 0)));
  return found;
}

}  // namespace accelscope
