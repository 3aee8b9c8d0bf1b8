#include "core/model/palette.h"

#include <algorithm>

#include "core/base/text.h"
#include "core/names/name_class.h"

namespace accelscope {
namespace {

struct PinnedName {
  std::string_view name;
  std::uint8_t slot;
};

// The names that dominate most timelines, spread by hand so that neighbours never look alike.
constexpr PinnedName kPinnedOpcodes[] = {
    {"MATMUL", 0},        {"LDWEIGHTS", 1}, {"TRANSPOSE", 2}, {"ACTIVATE", 3},    {"TENSOR_COPY", 4},
    {"TENSOR_TENSOR", 5}, {"MEMSET", 5},    {"IOTA", 7},      {"DMA_TRIGGER", 9}, {"DMA_DIRECT2D", 11},
};

// Processors of a core by what they are there for: unpacking, math and packing; reading and writing. Compared whole:
// an instance number does not tell TRISC_0 from TRISC_1 elsewhere.
constexpr PinnedName kPinnedProcessors[] = {
    {"TRISC_0", 6}, {"TRISC_1", 0}, {"TRISC_2", 4}, {"TRISC0", 6},
    {"TRISC1", 0},  {"TRISC2", 4},  {"BRISC", 8},   {"NCRISC", 9},
};

// Collectives are spelled differently by every runtime (AllReduce, all_reduce, ALL-REDUCE): compared by letters only.
constexpr std::string_view kCollectiveNames[] = {"allreduce", "allgather",         "reducescatter", "alltoall",
                                                 "sendrecv",  "collectivepermute", "broadcast"};
constexpr std::uint8_t kCollectiveSlot = 7;

// "w1_123" and "w1.123" are instances of "w1"; "123" alone and "_123" stay as they are.
std::string_view without_instance_number(std::string_view name) {
  std::size_t digits = name.size();
  while (digits > 0 && is_digit(name[digits - 1])) --digits;
  const bool numbered = digits < name.size() && digits > 1 && (name[digits - 1] == '_' || name[digits - 1] == '.');
  return numbered ? name.substr(0, digits - 1) : name;
}

bool same_letters(std::string_view name, std::string_view lower_case) {
  std::size_t matched = 0;
  for (const char c : name) {
    if (c == '_' || c == '-' || c == ' ') continue;
    const char lower = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    if (matched == lower_case.size() || lower_case[matched] != lower) return false;
    ++matched;
  }
  return matched == lower_case.size();
}

// FNV-1a with a seed chosen so that short names spread evenly, then one multiplication that moves the entropy into
// the high half: plain FNV modulo 12 sends most names of one or two letters to a few slots.
std::uint8_t hashed_slot(std::string_view key) {
  constexpr std::uint64_t kOffsetBasis = 0xcbf29ce484222325;
  constexpr std::uint64_t kPrime = 0x100000001b3;
  constexpr std::uint64_t kSeed = 4170748873;
  std::uint64_t hash = kOffsetBasis ^ kSeed;
  for (const char c : key) hash = (hash ^ static_cast<unsigned char>(c)) * kPrime;
  hash ^= hash >> 32;
  hash *= 0x9e3779b97f4a7c15;
  return static_cast<std::uint8_t>((hash >> 32) % kSlicePalette.size());
}

}  // namespace

std::uint8_t palette_slot(std::string_view name) noexcept {
  const std::string_view key = without_instance_number(name);
  for (const PinnedName& pinned : kPinnedOpcodes) {
    if (pinned.name == key) return pinned.slot;
  }
  const auto matches = [key](std::string_view collective) { return same_letters(key, collective); };
  if (std::any_of(std::begin(kCollectiveNames), std::end(kCollectiveNames), matches)) return kCollectiveSlot;
  for (const PinnedName& pinned : kPinnedProcessors) {
    if (pinned.name == name) return pinned.slot;
  }
  if (const std::optional<NameClass> known = name_class(name)) {
    return known->slot ? *known->slot : hashed_slot(known->key);
  }
  return hashed_slot(key);
}

}  // namespace accelscope
