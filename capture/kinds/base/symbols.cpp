#include "capture/kinds/base/symbols.h"

#include <cxxabi.h>
#include <elf.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>

namespace accelscope::capture::kinds {
namespace {

constexpr std::uint64_t kMostTableBytes = std::uint64_t{1} << 29U;

// A stretch of the file as rows of a table; nothing where the file does not have it.
template <typename Item>
[[nodiscard]] std::optional<std::vector<Item>> items_at(std::ifstream& file, std::uint64_t file_bytes,
                                                        std::uint64_t offset, std::uint64_t bytes) {
  if (bytes > kMostTableBytes || offset > file_bytes || bytes > file_bytes - offset) return std::nullopt;
  std::vector<Item> items(bytes / sizeof(Item));
  file.seekg(static_cast<std::streamoff>(offset));
  file.read(reinterpret_cast<char*>(items.data()), static_cast<std::streamsize>(items.size() * sizeof(Item)));
  if (!file) return std::nullopt;
  return items;
}

}  // namespace

std::string demangled(const std::string& name) {
  if (!name.starts_with("_Z")) return name;
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> text(abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status),
                                                         &std::free);
  return status == 0 && text != nullptr ? text.get() : name;
}

// A stripped file has the symbols only that other files may use.
ModuleSymbols ModuleSymbols::read(const std::string& path) {
  ModuleSymbols found;
  std::error_code failure;
  if (!std::filesystem::is_regular_file(path, failure)) return found;  // nothing is waited for
  found.path_ = path;
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  const auto file_bytes = static_cast<std::uint64_t>(std::max<std::streamoff>(0, file.tellg()));
  const auto heads = items_at<Elf64_Ehdr>(file, file_bytes, 0, sizeof(Elf64_Ehdr));
  if (!heads || std::memcmp(heads->front().e_ident, ELFMAG, SELFMAG) != 0 ||
      heads->front().e_ident[EI_CLASS] != ELFCLASS64 || heads->front().e_shentsize != sizeof(Elf64_Shdr)) {
    return found;
  }
  const auto sections = items_at<Elf64_Shdr>(file, file_bytes, heads->front().e_shoff,
                                             std::uint64_t{heads->front().e_shnum} * sizeof(Elf64_Shdr));
  if (!sections) return found;
  for (const Elf64_Word type : {Elf64_Word{SHT_SYMTAB}, Elf64_Word{SHT_DYNSYM}}) {
    const auto table = std::find_if(sections->begin(), sections->end(),
                                    [&](const Elf64_Shdr& section) { return section.sh_type == type; });
    if (table == sections->end() || table->sh_link >= sections->size()) continue;
    const Elf64_Shdr& texts = (*sections)[table->sh_link];
    const auto symbols = items_at<Elf64_Sym>(file, file_bytes, table->sh_offset, table->sh_size);
    const bool has_names = texts.sh_offset <= file_bytes && texts.sh_size <= file_bytes - texts.sh_offset;
    if (!symbols || !has_names) continue;
    found.names_end_ = texts.sh_offset + texts.sh_size;
    for (const Elf64_Sym& symbol : *symbols) {
      const bool is_function = ELF64_ST_TYPE(symbol.st_info) == STT_FUNC && symbol.st_shndx != SHN_UNDEF;
      if (!is_function || symbol.st_name >= texts.sh_size) continue;
      found.symbols_.push_back({symbol.st_value, symbol.st_value + symbol.st_size, texts.sh_offset + symbol.st_name});
    }
    break;
  }
  std::sort(found.symbols_.begin(), found.symbols_.end(),
            [](const Symbol& a, const Symbol& b) { return a.begin != b.begin ? a.begin < b.begin : a.end < b.end; });
  return found;
}

std::string ModuleSymbols::at(std::uint64_t address) const {
  constexpr std::uint64_t kMostNameBytes = 64U << 10U;
  auto after = std::upper_bound(symbols_.begin(), symbols_.end(), address,
                                [](std::uint64_t place, const Symbol& symbol) { return place < symbol.begin; });
  if (after == symbols_.begin()) return {};
  const Symbol& symbol = *--after;
  // Functions written in assembly have no size: they reach to the next.
  if (symbol.end > symbol.begin && address >= symbol.end) return {};
  std::ifstream file(path_, std::ios::binary);
  std::string name(std::min(kMostNameBytes, names_end_ - symbol.name), '\0');
  file.seekg(static_cast<std::streamoff>(symbol.name));
  file.read(name.data(), static_cast<std::streamsize>(name.size()));
  return file ? name.substr(0, name.find('\0')) : std::string();
}

const std::string& SymbolBook::function(const std::string& path, std::uint64_t address) {
  auto module = modules_.find(path);
  if (module == modules_.end()) module = modules_.emplace(path, Module{ModuleSymbols::read(path), {}}).first;
  const auto [known, is_new] = module->second.functions.try_emplace(address);
  if (is_new) known->second = demangled(module->second.symbols.at(address - 1));  // a function may end with a call
  return known->second;
}

}  // namespace accelscope::capture::kinds
