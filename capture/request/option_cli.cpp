#include "capture/request/option_cli.h"

#include <fmt/format.h>

#include <algorithm>

#include "capture/command_line/options.h"
#include "capture/request/options.h"
#include "core/base/text.h"

namespace accelscope::capture::request {
namespace {

[[nodiscard]] std::string value_word(const KindOption& option) {
  if (option.type == OptionType::choice) return fmt::format("{}", fmt::join(option.choices, "|"));
  if (option.type != OptionType::flag) return upper_case(option_type_name(option.type));
  return option.default_value.empty() ? "on|off" : "on|off=" + option.default_value;
}

}  // namespace

void KindOptions::declare(command_line::OptionSet& command, const std::vector<KindFacts>& kinds, Help help) {
  kinds_ = kinds;
  help_ = help;
  for (const KindFacts& facts : kinds_) {
    for (const KindOption& option : facts.options) declare_option(command, facts, option);
  }
}

void KindOptions::declare_option(command_line::OptionSet& command, const KindFacts& facts, const KindOption& option) {
  const bool shared = std::any_of(typed_.begin(), typed_.end(),
                                  [&](const Typed& known) { return known.kind.empty() && known.name == option.name; });
  const bool is_flag = option.type == OptionType::flag;
  const auto add = [&](const std::string& name, const std::string& group) {
    const std::string when = option.conditions.empty() ? "" : fmt::format(" ({})", condition_text(option));
    const command_line::Option added = command.add_untied("--" + name, option.explanation + when);
    added.in_group(help_ == Help::shown ? group : "").value_word(value_word(option));
    // A flag that is given without a value would take it from there.
    if (!is_flag && !option.default_value.empty()) added.default_text(option.default_value);
    if (is_flag) added.may_lack_value();
    if (option.repeats) added.repeats();
    std::optional<command_line::Option> off;
    if (is_flag) off = command.add_flag("--no-" + name);
    return std::pair(added, off);
  };
  const std::string group = fmt::format("{} (--kind {})", facts.title, facts.name);
  const std::string whole_name = facts.name + "." + option.name;
  if (!shared) {
    const auto [added, off] = add(option.name, group);
    typed_.push_back({"", option.name, added, off});
  }
  const auto [added, off] = add(whole_name, shared ? group : "");  // no group: not in --help
  typed_.push_back({facts.name, option.name, added, off});
}

std::vector<std::string> KindOptions::values_of(const Typed& typed) {
  std::vector<std::string> values = typed.option.values();
  if (!typed.off) return values;
  // A flag without a value is on.
  for (std::string& value : values) {
    if (value.empty() || value == "true") value = "on";
  }
  if (typed.off->given()) values.emplace_back("off");
  return values;
}

Result<std::vector<KindChoice>> KindOptions::choices(const std::vector<std::string>& names) const {
  std::vector<KindChoice> choices;
  for (const std::string& name : names) {
    TRY(find_facts(name, kinds_));
    choices.push_back({name, {}});
  }
  for (const Typed& typed : typed_) {
    const std::vector<std::string> values = values_of(typed);
    if (values.empty()) continue;
    bool taken = false;
    for (KindChoice& choice : choices) {
      const KindFacts& facts = **find_facts(choice.name, kinds_);
      if ((!typed.kind.empty() && typed.kind != choice.name) || find_option(facts, typed.name) == nullptr) continue;
      taken = true;
      for (const std::string& value : values) choice.options.push_back({typed.name, value});
    }
    if (taken) continue;
    std::vector<std::string> owners;
    for (const KindFacts& facts : kinds_) {
      const bool owns = typed.kind.empty() ? find_option(facts, typed.name) != nullptr : facts.name == typed.kind;
      if (owns) owners.push_back(facts.name);
    }
    return Error{fmt::format("--{}{}: is an option of the kind {}, which is not chosen; add it to --kind",
                             typed.kind.empty() ? "" : typed.kind + ".", typed.name, fmt::join(owners, " or "))};
  }
  return choices;
}

std::string kind_help(const std::string& command, const std::string& list, const std::vector<KindFacts>& kinds) {
  std::string text;
  for (const std::string& name : split_names(list)) {
    const Result<const KindFacts*> facts = find_facts(name, kinds);
    if (!facts) return "";
    command_line::OptionSet options((*facts)->explanation, command);
    const bool runs = (*facts)->needs_program || (*facts)->takes_program;
    options.set_usage(fmt::format("{} --kind {} [OPTIONS]{}", command, name, runs ? " -- PROGRAM ARGS..." : ""));
    KindOptions declared;
    declared.declare(options, {**facts});
    Result<std::string> shown = options.parse({"--help"});
    if (shown) text += (text.empty() ? "" : "\n") + *shown;
  }
  return text;
}

std::vector<command_line::CommandFacts> kind_references(const std::vector<KindFacts>& kinds) {
  std::vector<command_line::CommandFacts> references;
  for (const KindFacts& facts : kinds) {
    command_line::OptionSet options(facts.explanation, "--kind " + facts.name);
    KindOptions declared;
    declared.declare(options, {facts});
    references.push_back(options.facts());
  }
  return references;
}

std::string kinds_footer(const std::string& command, const std::vector<KindFacts>& kinds) {
  std::string text = "Kinds of capture:\n";
  for (const KindFacts& facts : kinds) text += fmt::format("  {:<11} {}\n", facts.name, facts.title);
  return text + fmt::format("{} --help KIND shows what a kind captures, and its options\n", command);
}

std::vector<std::string> split_names(const std::string& list) {
  std::vector<std::string> names;
  for (std::size_t begin = 0; begin <= list.size();) {
    const std::size_t end = std::min(list.find(',', begin), list.size());
    if (end > begin) names.push_back(list.substr(begin, end - begin));
    begin = end + 1;
  }
  return names;
}

std::vector<std::string> kind_arguments(const std::vector<KindChoice>& choices, const std::vector<KindFacts>& kinds) {
  std::string names;
  for (const KindChoice& choice : choices) names += (names.empty() ? "" : ",") + choice.name;
  std::vector<std::string> arguments;
  if (!names.empty()) arguments = {"--kind", names};
  for (const KindChoice& choice : choices) {
    const Result<const KindFacts*> facts = find_facts(choice.name, kinds);
    for (const OptionSetting& setting : choice.options) {
      const KindOption* option = facts ? find_option(**facts, setting.name) : nullptr;
      if (option != nullptr && !option->repeats && setting.value == option->default_value) continue;
      if (setting.value.empty() && (option == nullptr || option->type != OptionType::text)) continue;
      bool shared = false;
      for (const KindChoice& other : choices) {
        const Result<const KindFacts*> others = find_facts(other.name, kinds);
        shared = shared || (&other != &choice && others && find_option(**others, setting.name) != nullptr);
      }
      arguments.push_back(shared ? fmt::format("--{}.{}={}", choice.name, setting.name, setting.value)
                                 : fmt::format("--{}={}", setting.name, setting.value));
    }
  }
  return arguments;
}

}  // namespace accelscope::capture::request
