#include "core/analysis/compilation/compile_words.h"

#include "core/base/text.h"

namespace accelscope {
namespace {

enum class NamePart : std::uint8_t { whole, begin, anywhere };
struct CompileWordRow {
  std::string_view text;
  NamePart part;
  CompileWord word;
};

constexpr CompileWordRow kCompileWords[] = {
    {"TorchDynamo Cache Lookup", NamePart::whole, CompileWord::looks_up},
    {"Torch-Compiled Region", NamePart::begin, CompileWord::program_call},
    {"## Call CompiledFxGraph", NamePart::begin, CompileWord::program_call},
    {"compile_fx", NamePart::anywhere, CompileWord::compiles},
    {"dynamo_timed", NamePart::anywhere, CompileWord::compiles},
    {"_compile.compile_inner", NamePart::anywhere, CompileWord::compiles},
    {"triton/compiler/compiler.py", NamePart::begin, CompileWord::compiles},
    {"backend_compile", NamePart::begin, CompileWord::compiles},
    {"XlaCompile", NamePart::begin, CompileWord::compiles},
    {"neuronx-cc", NamePart::anywhere, CompileWord::compiles},
    {"nvrtcCompileProgram", NamePart::whole, CompileWord::compiles},
    {"hiprtcCompileProgram", NamePart::whole, CompileWord::compiles},
    {"clBuildProgram", NamePart::whole, CompileWord::compiles},
    {"clCompileProgram", NamePart::whole, CompileWord::compiles},
    {"clLinkProgram", NamePart::whole, CompileWord::compiles},
    {"ProfilerStep", NamePart::begin, CompileWord::step},
    {"aten::", NamePart::begin, CompileWord::eager},
    {"autograd::engine::", NamePart::begin, CompileWord::eager},
};

bool fits(const CompileWordRow& row, std::string_view name) noexcept {
  switch (row.part) {
    case NamePart::whole:
      return name == row.text;
    case NamePart::begin:
      return name.starts_with(row.text);
    case NamePart::anywhere:
      return name.find(row.text) != std::string_view::npos;
  }
  return false;
}

}  // namespace

CompileWord compile_word_of(std::string_view name) noexcept {
  for (const CompileWordRow& row : kCompileWords) {
    if (fits(row, name)) return row.word;
  }
  return CompileWord::none;
}

std::string_view without_call_number(std::string_view name) noexcept {
  std::size_t end = name.size();
  while (end > 0 && is_digit(name[end - 1])) --end;
  return end > 1 && end < name.size() && name[end - 1] == '#' ? name.substr(0, end - 1) : name;
}

}  // namespace accelscope
