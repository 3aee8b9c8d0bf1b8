#include "capture/command_line/reference.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/text.h"

namespace accelscope::command_line {
namespace {

// A line of text in a page: what roff would take for a command or an escape is none.
std::string in_page(std::string_view text) {
  std::string written;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool begins_line = i == 0 || text[i - 1] == '\n';
    if (begins_line && (text[i] == '.' || text[i] == '\'')) written += "\\&";
    if (text[i] == '\\') {
      written += "\\e";
    } else if (text[i] == '-') {
      written += "\\-";
    } else {
      written += text[i];
    }
  }
  return written;
}

std::string head_of(const OptionFacts& option) {
  std::string head;
  for (const std::string& name : option.names) {
    head += fmt::format("{}\\fB{}\\fR", head.empty() ? "" : ", ", in_page(name));
  }
  if (!option.word.empty() && !option.is_positional()) head += fmt::format(" \\fI{}\\fR", in_page(option.word));
  return head;
}

void write_options(std::string& page, const CommandFacts& command) {
  std::string group;
  for (const OptionFacts& option : command.options) {
    if (option.group.empty()) continue;
    if (option.group != group && option.group != "Options" && option.group != "Positionals") {
      page += fmt::format(".PP\n{}:\n", in_page(option.group));
    }
    group = option.group;
    page += fmt::format(".TP\n{}\n{}\n", head_of(option), in_page(option.explanation));
    if (!option.choices.empty())
      page += fmt::format("One of {}.\n", in_page(fmt::format("{}", fmt::join(option.choices, ", "))));
  }
}

// Footers are examples, laid out as they are typed.
void write_footer(std::string& page, const std::string& footer) {
  if (!footer.empty()) page += fmt::format(".PP\n.nf\n{}\n.fi\n", in_page(footer));
}

std::string usage_of(const CommandFacts& command, const std::string& name) {
  if (!command.usage.empty()) return command.usage;
  std::string usage = name + " [OPTIONS]";
  for (const OptionFacts& option : command.options) {
    if (option.is_positional()) usage += fmt::format(" [{}]...", option.names.front());
  }
  return usage;
}

std::string in_quotes(std::string_view text) {
  std::string quoted = "'";
  for (const char c : text) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

std::string function_name(const std::string& program) {
  std::string name = "_" + program;
  std::ranges::replace(name, '-', '_');
  return name;
}

// Options that a shell offers: those with a name, of a kind's only the short form of it.
std::vector<const OptionFacts*> offered(const CommandFacts& command) {
  std::vector<const OptionFacts*> found;
  for (const OptionFacts& option : command.options) {
    const bool is_whole_name = option.names.back().find('.') != std::string::npos;
    if (!option.is_positional() && !is_whole_name) found.push_back(&option);
  }
  return found;
}

std::string names_of(const CommandFacts& command) {
  std::string names;
  for (const OptionFacts* option : offered(command)) {
    for (const std::string& name : option->names) names += (names.empty() ? "" : " ") + name;
  }
  return names;
}

// The cases of one command: what its options' values may be, and its options.
void write_bash_command(std::string& script, const CommandFacts& command, const std::string& pattern) {
  script += fmt::format("    {})\n      case \"$before\" in\n", pattern);
  for (const OptionFacts* option : offered(command)) {
    if (option->word.empty()) continue;
    const std::string words = option->choices.empty()
                                  ? "COMPREPLY=($(compgen -f -- \"$typed\"))"
                                  : fmt::format("COMPREPLY=($(compgen -W {} -- \"$typed\"))",
                                                in_quotes(fmt::format("{}", fmt::join(option->choices, " "))));
    script += fmt::format("        {}) {}; return ;;\n", fmt::join(option->names, "|"), words);
  }
  script += fmt::format("      esac\n      options={} ;;\n", in_quotes(names_of(command)));
}

std::string bash_completion(const CommandFacts& program) {
  std::string commands;
  for (const CommandFacts& command : program.commands) commands += (commands.empty() ? "" : " ") + command.name;
  std::string script = fmt::format(
      "# bash completion of {0}\n{1}() {{\n"
      "  local typed=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD-1]}} options=\n"
      "  local command=; ((COMP_CWORD > 1)) && command=${{COMP_WORDS[1]}}\n"
      "  COMPREPLY=()\n"
      "  case \"$command\" in\n",
      program.name, function_name(program.name));
  for (const CommandFacts& command : program.commands) write_bash_command(script, command, command.name);
  write_bash_command(script, program, "*");
  script += fmt::format(
      "  esac\n"
      "  if [[ $typed == -* ]]; then COMPREPLY=($(compgen -W \"$options\" -- \"$typed\")); return; fi\n"
      "  COMPREPLY=($(compgen -f -- \"$typed\"))\n"
      "  ((COMP_CWORD == 1)) && COMPREPLY+=($(compgen -W {} -- \"$typed\"))\n"
      "  return 0\n"
      "}}\ncomplete -o filenames -F {} {}\n",
      in_quotes(commands), function_name(program.name), program.name);
  return script;
}

// "name:explanation", in which a colon within the name is none that ends it.
std::string zsh_entry(std::string_view name, std::string_view explanation) {
  std::string entry;
  for (const char c : name) entry += c == ':' ? std::string("\\:") : std::string(1, c);
  return in_quotes(entry + ":" + std::string(explanation));
}

void write_zsh_command(std::string& script, const CommandFacts& command, const std::string& pattern) {
  script += fmt::format("    {})\n      case \"$before\" in\n", pattern);
  for (const OptionFacts* option : offered(command)) {
    if (option->word.empty()) continue;
    std::string words;
    for (const std::string& choice : option->choices) words += " " + in_quotes(choice);
    script += fmt::format("        {}) {}; return ;;\n", fmt::join(option->names, "|"),
                          words.empty() ? "_files" : "compadd --" + words);
  }
  script += "      esac\n      options=(";
  for (const OptionFacts* option : offered(command)) {
    for (const std::string& name : option->names) script += "\n        " + zsh_entry(name, option->explanation);
  }
  script += ") ;;\n";
}

std::string zsh_completion(const CommandFacts& program) {
  std::string script = fmt::format(
      "#compdef {0}\n{1}() {{\n"
      "  local before=${{words[CURRENT-1]}} command=\n"
      "  local -a options commands\n"
      "  ((CURRENT > 2)) && command=${{words[2]}}\n"
      "  case \"$command\" in\n",
      program.name, function_name(program.name));
  for (const CommandFacts& command : program.commands) write_zsh_command(script, command, command.name);
  write_zsh_command(script, program, "*");
  script += "  esac\n  if [[ ${words[CURRENT]} == -* ]]; then _describe -o option options; return; fi\n  commands=(";
  for (const CommandFacts& command : program.commands) {
    script += "\n    " + zsh_entry(command.name, command.summary);
  }
  script += fmt::format(
      ")\n  ((CURRENT == 2)) && _describe command commands\n  _files\n}}\n"
      "if [ \"$funcstack[1]\" = {0} ]; then {0} \"$@\"; else compdef {0} {1}; fi\n",
      function_name(program.name), program.name);
  return script;
}

void write_fish_options(std::string& script, const CommandFacts& command, const std::string& program,
                        const std::string& condition) {
  for (const OptionFacts* option : offered(command)) {
    script += fmt::format("complete -c {} -n {}", program, in_quotes(condition));
    for (const std::string& name : option->names) {
      const bool is_long = name.starts_with("--");
      script += fmt::format(" -{} {}", is_long ? "l" : "s", name.substr(is_long ? 2 : 1));
    }
    if (!option->word.empty()) script += option->choices.empty() ? " -r" : " -x";
    if (!option->choices.empty()) script += " -a " + in_quotes(fmt::format("{}", fmt::join(option->choices, " ")));
    script += fmt::format(" -d {}\n", in_quotes(option->explanation));
  }
}

std::string fish_completion(const CommandFacts& program) {
  std::string script = fmt::format("# fish completion of {}\n", program.name);
  for (const CommandFacts& command : program.commands) {
    script += fmt::format("complete -c {} -n __fish_use_subcommand -a {} -d {}\n", program.name, command.name,
                          in_quotes(command.summary));
    write_fish_options(script, command, program.name, "__fish_seen_subcommand_from " + command.name);
  }
  write_fish_options(script, program, program.name, "__fish_use_subcommand");
  return script;
}

}  // namespace

std::string manual_page(const CommandFacts& program, const std::string& version) {
  std::string page = fmt::format(".TH {} 1 \"\" \"Accelscope {}\"\n.SH NAME\n{} \\- {}\n.SH SYNOPSIS\n",
                                 upper_case(program.name), version, in_page(program.name), in_page(program.summary));
  page += fmt::format(".nf\n{}\n", in_page(usage_of(program, program.name)));
  for (const CommandFacts& command : program.commands) {
    page += in_page(usage_of(command, program.name + " " + command.name)) + "\n";
  }
  page += ".fi\n.SH OPTIONS\n";
  write_options(page, program);
  write_footer(page, program.footer);
  page += ".SH COMMANDS\n";
  const auto write_all = [&page](const std::vector<CommandFacts>& commands) {
    for (const CommandFacts& command : commands) {
      page += fmt::format(".SS {}\n{}\n", in_page(command.name), in_page(command.summary));
      write_options(page, command);
      write_footer(page, command.footer);
    }
  };
  write_all(program.commands);
  if (!program.topics.empty()) page += ".SH KINDS OF CAPTURE\n";
  write_all(program.topics);
  return page + ".SH EXIT STATUS\n0 done, 1 failed, 2 wrong usage, 130 interrupted.\n";
}

Result<std::string> completion(const CommandFacts& program, std::string_view shell) {
  if (shell == "bash") return bash_completion(program);
  if (shell == "zsh") return zsh_completion(program);
  if (shell == "fish") return fish_completion(program);
  return Error{fmt::format("'{}' is no shell that is completed in; take bash, zsh or fish", shell)};
}

bool is_reference(std::string_view word) noexcept { return word == "manual" || word == "completion"; }

Result<std::string> write_reference(const CommandFacts& program, const std::string& version,
                                    const std::vector<std::string>& arguments) {
  const bool is_manual = arguments.front() == "manual";
  if (arguments.size() != (is_manual ? 1 : 2)) {
    return Error{is_manual ? "it takes no arguments" : "name one shell: bash, zsh or fish"};
  }
  return is_manual ? manual_page(program, version) : completion(program, arguments[1]);
}

}  // namespace accelscope::command_line
