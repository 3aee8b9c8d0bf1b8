// Names of functions by their addresses in programs and libraries, from the tables of symbols that these files bring.
// A file is read when the first of its addresses is asked for; names stay in it until they are. Lines of source are not
// looked up.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

namespace accelscope::capture::kinds {

// "void gemm<float>(float*)" of "_Z4gemmIfEvPT_"; other names stay.
[[nodiscard]] std::string demangled(const std::string& name);

class ModuleSymbols {
 public:
  // Of an ELF file of 64 bits; none of any other.
  [[nodiscard]] static ModuleSymbols read(const std::string& path);
  // As the file has it; "" of an address in no function that it names.
  [[nodiscard]] std::string at(std::uint64_t address) const;

 private:
  struct Symbol {
    std::uint64_t begin = 0, end = 0;
    std::uint64_t name = 0;  // its place in the file
  };
  std::string path_;
  std::vector<Symbol> symbols_;  // by begin
  std::uint64_t names_end_ = 0;
};

class SymbolBook {
 public:
  // Of an address of return: "train(int)"; "" where the file names no function there.
  [[nodiscard]] const std::string& function(const std::string& path, std::uint64_t address);

 private:
  struct Module {
    ModuleSymbols symbols;
    std::unordered_map<std::uint64_t, std::string> functions;  // that were asked for, by address
  };
  std::map<std::string, Module> modules_;
};

}  // namespace accelscope::capture::kinds
