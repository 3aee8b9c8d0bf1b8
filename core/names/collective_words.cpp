#include "core/names/collective_words.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

namespace accelscope {
namespace {

constexpr double kWhole = 1;

// How an operation is spelled by letters alone, in lower case, and what a link carries for it: a * (n - 1) / n, or 1
// where a is 0. Of names that one begins with, the longer ones come first.
struct OperationWords {
  std::string_view letters;
  std::string_view name;
  double share = 0;
};
constexpr std::array kOperationWords = std::to_array<OperationWords>({
    {"allreduce", "AllReduce", 2},
    {"allgather", "AllGather", 1},
    {"reducescatter", "ReduceScatter", 1},
    {"alltoall", "AllToAll", 1},
    {"collectivepermute", "Permute", 0},
    {"permute", "Permute", 0},
    {"sendrecv", "SendRecv", 0},
    {"broadcast", "Broadcast", 0},
    {"barrier", "Barrier", 0},
    {"gather", "Gather", 0},
    {"scatter", "Scatter", 0},
    {"reduce", "Reduce", 0},
    {"send", "Send", 0},
    {"recv", "Recv", 0},
});

struct AlgorithmWord {
  std::string_view word, shown;
};
constexpr std::array kAlgorithmWords = std::to_array<AlgorithmWord>(
    {{"_RING", "Ring"}, {"_TREE", "Tree"}, {"_COLLNET", "CollNet"}, {"_NVLS", "NVLS"}, {"_PAT", "PAT"}});

struct ElementType {
  std::string_view letters;  // the type's name, or how it begins
  std::uint64_t bytes;
};
constexpr std::array kElementTypes = std::to_array<ElementType>(
    {{"bfloat16", 2}, {"bf16", 2},   {"float16", 2}, {"fp16", 2},   {"half", 2},  {"float64", 8}, {"fp64", 8},
     {"double", 8},   {"float8", 1}, {"fp8", 1},     {"float", 4},  {"fp32", 4},  {"tf32", 4},    {"int64", 8},
     {"uint64", 8},   {"long", 8},   {"int32", 4},   {"uint32", 4}, {"int16", 2}, {"uint16", 2},  {"short", 2},
     {"int8", 1},     {"uint8", 1},  {"int", 4},     {"byte", 1},   {"char", 1},  {"bool", 1}});

[[nodiscard]] char lower(char c) noexcept { return c >= 'A' && c <= 'Z' ? static_cast<char>(c | 0x20) : c; }

// Whether the letters stand somewhere in the name, whatever the case and with "-" or "_" between them.
[[nodiscard]] bool has_letters(std::string_view name, std::string_view letters) noexcept {
  for (std::size_t from = 0; from < name.size(); ++from) {
    std::size_t at = from, found = 0;
    while (at < name.size() && found < letters.size()) {
      if (lower(name[at]) == letters[found]) {
        ++found;
      } else if (found == 0 || (name[at] != '-' && name[at] != '_')) {
        break;
      }
      ++at;
    }
    if (found == letters.size()) return true;
  }
  return false;
}

}  // namespace

std::optional<std::string_view> collective_operation(std::string_view name) noexcept {
  for (const OperationWords& each : kOperationWords) {
    if (has_letters(name.substr(0, name.find('(')), each.letters)) return each.name;
  }
  return std::nullopt;
}

std::string_view collective_algorithm(std::string_view name) noexcept {
  for (const AlgorithmWord& each : kAlgorithmWords) {
    if (name.find(each.word) != std::string_view::npos) return each.shown;
  }
  return {};
}

double bus_factor(std::string_view operation, std::size_t ranks) noexcept {
  if (ranks < 2) return kWhole;
  const double others = static_cast<double>(ranks - 1) / static_cast<double>(ranks);
  for (const OperationWords& each : kOperationWords) {
    if (has_letters(operation, each.letters)) return each.share > 0 ? each.share * others : kWhole;
  }
  return kWhole;
}

std::vector<std::vector<std::uint32_t>> replica_groups(std::string_view text) {
  std::vector<std::vector<std::uint32_t>> groups;
  if (text.find("...") != std::string_view::npos) return groups;
  std::vector<std::uint32_t> group;
  const char* const end = text.data() + text.size();
  for (const char* at = text.data(); at < end;) {
    std::uint32_t number = 0;
    const auto [after, wrong] = std::from_chars(at, end, number);
    if (wrong == std::errc() && after != at) {
      group.push_back(number);
      at = after;
      continue;
    }
    if (*at == ']' && !group.empty()) groups.push_back(std::exchange(group, {}));
    ++at;
  }
  if (!group.empty()) groups.push_back(std::move(group));
  return groups;
}

std::uint64_t element_bytes(std::string_view type) noexcept {
  const std::size_t dot = type.rfind('.');  // "torch.bfloat16"
  const std::string_view word = dot == std::string_view::npos ? type : type.substr(dot + 1);
  for (const ElementType& each : kElementTypes) {
    const bool begins =
        word.size() >= each.letters.size() && std::equal(each.letters.begin(), each.letters.end(), word.begin(),
                                                         [](char wanted, char c) { return wanted == lower(c); });
    if (begins) return each.bytes;
  }
  return 0;
}

}  // namespace accelscope
