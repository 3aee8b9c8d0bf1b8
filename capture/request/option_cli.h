// The options of kinds on a command line: declared from the kinds' own declarations, grouped by kind in --help, and
// turned back into arguments so that a form can show the command that does the same.
//
//   KindOptions options;
//   options.declare(command, declared_kinds());      // before the parse; lives until after it
//   Result<std::vector<KindChoice>> kinds = options.choices({"program", "simulate"});
//
// A name that several kinds share means all that are chosen; --KIND.NAME means one of them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "capture/command_line/options.h"
#include "capture/request/kind.h"

namespace accelscope::capture::request {

class KindOptions {
 public:
  enum class Help : std::uint8_t { shown, left_out };  // there are many: see kind_help()
  // A flag is --NAME, --NAME=off or --no-NAME.
  void declare(command_line::OptionSet& command, const std::vector<KindFacts>& kinds, Help help = Help::shown);
  // After the parse: the named kinds with what was typed for them. Fails on an unknown kind, and on an option that none
  // of the named ones has.
  [[nodiscard]] Result<std::vector<KindChoice>> choices(const std::vector<std::string>& names) const;

 private:
  struct Typed {
    std::string kind;  // "": every kind that has it
    std::string name;
    command_line::Option option;
    std::optional<command_line::Option> off;  // --no-NAME
  };
  void declare_option(command_line::OptionSet& command, const KindFacts& facts, const KindOption& option);
  [[nodiscard]] static std::vector<std::string> values_of(const Typed& typed);

  std::vector<KindFacts> kinds_;
  std::vector<Typed> typed_;
  Help help_ = Help::shown;
};

// What `COMMAND --help opencl` shows: what the kind captures, and its options. `list`: one kind, or several with
// commas;
// "" if one of them is none.
[[nodiscard]] std::string kind_help(const std::string& command, const std::string& list,
                                    const std::vector<KindFacts>& kinds);
// The same of all kinds, for a manual page.
[[nodiscard]] std::vector<command_line::CommandFacts> kind_references(const std::vector<KindFacts>& kinds);
// All kinds, a line each, and how to see the options of one: for the end of a command's --help.
[[nodiscard]] std::string kinds_footer(const std::string& command, const std::vector<KindFacts>& kinds);

// "program,simulate" and ",,": names between commas, without empty ones.
[[nodiscard]] std::vector<std::string> split_names(const std::string& list);

// {"--kind", "program,simulate", "--sample-interval=10ms", ...}: what choices() makes the same choices of. Settings
// that equal the default are left out.
[[nodiscard]] std::vector<std::string> kind_arguments(const std::vector<KindChoice>& choices,
                                                      const std::vector<KindFacts>& kinds);

}  // namespace accelscope::capture::request
