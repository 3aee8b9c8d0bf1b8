// A typed command line as the words that a shell would make of it, and back. Quotes and backslashes only: nothing is
// expanded, since no shell runs.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"

namespace accelscope::app {

struct ShellWords {
  std::vector<std::string> words;
  // The first sign outside of quotes that only a shell would act on (| > < & ; $ ` * ?), else 0.
  char shell_sign = 0;
};

// Of what capture::shell_command() made, the same words again. Fails on a quote that is not closed and on a
// backslash at the end.
[[nodiscard]] Result<ShellWords> split_words(std::string_view line);

// A command over several lines of at most `columns` characters where words allow it; all but the last end with " \"
// and all but the first are indented by two. An option stays on one line with its value.
[[nodiscard]] std::vector<std::string> wrap_command(const std::vector<std::string>& words, std::size_t columns);

}  // namespace accelscope::app
