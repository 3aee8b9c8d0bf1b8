// Titles beside each other as short as there is room for, by what tells them apart.
#pragma once

#include <string>
#include <vector>

namespace accelscope::app::content {

inline constexpr std::size_t kLeastTitle = 4;  // characters: what is shorter says nothing

// In the order of `titles`, which differ: without the words that all of them begin or end with, "…" in their place, and
// of at most so many characters, shortened in the middle. A title that would read like another one stays longer.
[[nodiscard]] std::vector<std::string> titles_that_differ(const std::vector<std::string>& titles,
                                                          std::size_t characters);

}  // namespace accelscope::app::content
