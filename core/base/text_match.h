// How typed text finds things in short lists (commands, recent sessions, files): every word must occur, whatever
// the case. Searching events is another matter: see core/search.
#pragma once

#include <string>
#include <string_view>

#include "core/base/text.h"

namespace accelscope::app {

[[nodiscard]] bool matches_words(std::string_view text, std::string_view words);

// How good a match is, for ordering: 0 no match; higher when the text, then a word of it, begins with the words.
[[nodiscard]] int match_score(std::string_view text, std::string_view words);

}  // namespace accelscope::app
