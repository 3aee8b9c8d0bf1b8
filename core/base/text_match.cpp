#include "core/base/text_match.h"

#include <algorithm>

#include "core/base/text.h"

namespace accelscope::app {

bool matches_words(std::string_view text, std::string_view words) {
  const std::string haystack = lower_case(text);
  const std::string needles = lower_case(words);
  std::size_t at = 0;
  while (at < needles.size()) {
    const std::size_t begin = needles.find_first_not_of(' ', at);
    if (begin == std::string::npos) break;
    const std::size_t end = std::min(needles.find(' ', begin), needles.size());
    if (haystack.find(needles.substr(begin, end - begin)) == std::string::npos) return false;
    at = end;
  }
  return true;
}

int match_score(std::string_view text, std::string_view words) {
  if (!matches_words(text, words)) return 0;
  const std::string haystack = lower_case(text);
  const std::string needle = lower_case(words);
  if (needle.empty()) return 1;
  const std::size_t found = haystack.find(needle);
  if (found == 0) return 4;
  if (found != std::string::npos && haystack[found - 1] == ' ') return 3;
  return found != std::string::npos ? 2 : 1;
}

}  // namespace accelscope::app
