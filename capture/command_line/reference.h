// What a program's command line takes, written for other programs: its manual page and what a shell completes. Both are
// made of the declarations that the parser itself uses, so that neither can say what is not so.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"

namespace accelscope::command_line {

struct OptionFacts {
  std::vector<std::string> names;  // "-o", "--output"; of what stands without a name: "FILE"
  std::string word;                // of its value, "FILE"; "": it takes none
  std::vector<std::string> choices;
  std::string explanation;
  std::string group;  // of --help; "": in none
  [[nodiscard]] bool is_positional() const noexcept { return !names.empty() && !names.front().starts_with('-'); }
};

struct CommandFacts {
  std::string name;  // "accelscope", of a command below it "import", of a kind of capture "--kind opencl"
  std::string summary;
  std::string usage;   // "" : made of the options
  std::string footer;  // as --help shows it: examples, other commands
  std::vector<OptionFacts> options;
  std::vector<CommandFacts> commands;
  std::vector<CommandFacts> topics;  // kinds of capture, whose options are those of a command
};

// For section 1, in the macros of man. `version` stands at its foot.
[[nodiscard]] std::string manual_page(const CommandFacts& program, const std::string& version);

// For bash, zsh or fish; an error names these.
[[nodiscard]] Result<std::string> completion(const CommandFacts& program, std::string_view shell);

// The two words that ask for these, "manual" and "completion SHELL", which every program takes as its first.
[[nodiscard]] bool is_reference(std::string_view word) noexcept;
[[nodiscard]] Result<std::string> write_reference(const CommandFacts& program, const std::string& version,
                                                  const std::vector<std::string>& arguments);

}  // namespace accelscope::command_line
