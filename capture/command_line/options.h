// What a program or one of its commands can be told on its command line: options are declared onto variables, then the
// arguments are read into them. The one place that knows the library which does so.
//
//   OptionSet options("Read a profile", "accelscope import");
//   options.add_option("FILE", input, "Profile").required();
//   options.add_option("--format", format, "table or csv").one_of({"table", "csv"});
//   const Result<std::string> shown = options.parse(arguments);   // an error is wrong usage
//   if (shown && !shown->empty()) print it and end: --help or --version was given
//
// The variables live from the declaration until after the parse.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "capture/command_line/reference.h"
#include "core/base/result.h"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace accelscope::command_line {

// One declared option; a handle that is copied freely and lives no longer than its set.
class Option {
 public:
  explicit Option(CLI::Option* option) noexcept : option_(option) {}

  const Option& required() const;
  const Option& positive() const;                                       // a number above 0
  const Option& not_negative() const;                                   // a number from 0
  const Option& in_range(double least, double most) const;              // both included
  const Option& one_of(const std::vector<std::string>& choices) const;  // no other value is taken
  const Option& excludes(const Option& other) const;                    // not both may be given
  const Option& repeats() const;                     // one value each time that it is given, instead of all that follow
  const Option& separated_by(char character) const;  // several values in one word; may be given several times too
  const Option& shows_default() const;               // the variable's present value, in --help
  const Option& default_text(const std::string& text) const;
  const Option& value_word(const std::string& word) const;  // for what the value is in --help, such as PATH
  const Option& may_lack_value() const;
  const Option& in_group(const std::string& title) const;  // its part of --help; "": in none of it

  [[nodiscard]] bool given() const;
  [[nodiscard]] std::vector<std::string> values() const;  // as typed

 private:
  CLI::Option* option_;
};

class OptionSet {
 public:
  OptionSet(const std::string& description, const std::string& program);
  ~OptionSet();
  OptionSet(const OptionSet&) = delete;
  OptionSet& operator=(const OptionSet&) = delete;

  // "-o,--output" is an option, "FILE" stands without a name. A list takes all values that follow; see repeats().
  // Values: texts, lists of them, and the numbers that options.cpp names.
  template <typename Value>
  Option add_option(const std::string& names, Value& value, const std::string& explanation);
  Option add_untied(const std::string& names, const std::string& explanation);  // read from its values()
  Option add_flag(const std::string& names, bool& value, const std::string& explanation);
  Option add_flag(const std::string& names);  // read from given(); not in --help

  // A command below this program, of which at most one is given.
  OptionSet& add_command(const std::string& name, const std::string& summary);
  void add_version(const std::string& text);  // --version
  void set_footer(const std::string& text);
  void set_usage(const std::string& text);  // the first line of --help, in place of the one that is made of the options

  // `arguments` without the program's name. What is to be shown instead of running, or "".
  [[nodiscard]] Result<std::string> parse(const std::vector<std::string>& arguments);

  [[nodiscard]] bool chosen() const;  // of a command: it was given
  [[nodiscard]] std::string name() const;
  [[nodiscard]] bool any_given_of(const std::string& group) const;  // options of this set itself
  [[nodiscard]] CommandFacts facts() const;                         // what is declared, also below

 private:
  explicit OptionSet(CLI::App* command);
  [[nodiscard]] std::string help() const;  // of the command that was given, or of this set

  std::unique_ptr<CLI::App> own_;  // null: a command of another set
  CLI::App* app_;
  std::string usage_;
  std::vector<std::unique_ptr<OptionSet>> commands_;
};

// "opencl" of {"--help", "opencl"}: what help is wanted on; "" if none is wanted, or of all. What stands after -- is
// not looked at.
[[nodiscard]] std::string help_topic(const std::vector<std::string>& arguments);

}  // namespace accelscope::command_line
