// Names of several captures put together. What one compiler run calls "fusion.12" another calls "fusion.14": names that
// not all captures have are matched again without the numbers in them.
//
//   for (const MatchedName& row : match_names({{"gemm", "fusion.12"}, {"gemm", "fusion.14"}}, name_form)) ...
//   // gemm {{0}, {0}} exactly; fusion {{1}, {1}} by_form
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace accelscope {

enum class MatchKind : std::uint8_t {
  exact,
  by_form,  // the same but for numbers in it
};

struct MatchedName {
  std::string name;  // of a match by form: with # for numbers
  MatchKind kind = MatchKind::exact;
  std::vector<std::vector<std::size_t>> places;  // by capture, of those that are of this row; none: it has none
};

// Runs of digits and hexadecimal words of eight letters or more as #; a last ".#" or "_#" goes.
// "fusion.12" -> "fusion", "gemm_128x64" -> "gemm_#x#", "k_0x1f3a9c04d" -> "k"
[[nodiscard]] std::string name_form(std::string_view name);

// In the order in which they first come. The names of one capture differ from each other. `form` says what of a name is
// matched where the whole is not everywhere.
using NameForm = std::string (*)(std::string_view name);
[[nodiscard]] std::vector<MatchedName> match_names(const std::vector<std::vector<std::string>>& captures,
                                                   NameForm form);

}  // namespace accelscope
