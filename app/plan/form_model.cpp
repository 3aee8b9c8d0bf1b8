#include "app/plan/form_model.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>

#include "app/plan/editor.h"
#include "capture/reach/place.h"
#include "capture/request/options.h"
#include "capture/system/address.h"
#include "capture/system/shown_command.h"
#include "core/base/format.h"
#include "core/base/text.h"

namespace accelscope::app::plan {

namespace {

constexpr std::string_view kSsh = "ssh://";

std::vector<std::string> listed(std::string_view text) {
  std::vector<std::string> parts;
  while (!text.empty()) {
    const std::size_t end = text.find_first_of(", \t");
    if (end != 0) parts.emplace_back(text.substr(0, end));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return parts;
}

std::vector<std::string> words_or_none(const std::string& line) {
  auto split = split_words(line);
  return split ? std::move(split->words) : std::vector<std::string>{};
}

std::string environment_problem(std::string_view row) {
  const std::size_t equals = row.find('=');
  if (equals == std::string_view::npos || equals == 0) return std::string(row) + ": write NAME=VALUE";
  const std::string_view name = row.substr(0, equals);
  const bool good = std::ranges::all_of(name, [](char c) {
    return c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
  });
  if (good && (name.front() < '0' || name.front() > '9')) return "";
  return std::string(name) + ": a name has letters, digits and _ only, and no digit first";
}

void check_words(const std::string& line, FormField field, std::vector<FormProblem>& problems) {
  if (auto split = split_words(line); !split) problems.push_back({field, split.message()});
}

void check_where(const CaptureForm& form, std::vector<FormProblem>& problems) {
  const std::vector<std::string> places = places_of(form);
  if (places.empty()) {
    const bool ssh = form.where == Where::ssh;
    problems.push_back({FormField::host, ssh ? "Type the host that ssh reaches, such as ubuntu@trn1-07."
                                             : "Type the address that the agent printed when it started."});
  }
  for (const std::string& place : places) {
    if (auto good = check_place(place); !good) problems.push_back({FormField::host, good.message()});
  }
}

void check_what(const CaptureForm& form, const FormFacts& facts, std::vector<FormProblem>& problems) {
  const ProgramUse use = program_use(form, facts);
  if (use == ProgramUse::none) return;
  const bool given = !trimmed(form.uses_script ? form.script : form.program).empty();
  if (use == ProgramUse::possible && !given) return;
  if (form.uses_script) {
    if (!given) problems.push_back({FormField::script, "The script is empty."});
  } else if (auto split = split_words(form.program); !split) {
    problems.push_back({FormField::program, split.message()});
  } else if (split->words.empty()) {
    problems.push_back({FormField::program, "Type the program to run, as in a shell."});
  }
  if (facts.welcome && !facts.welcome->may_run) {
    problems.push_back(
        {FormField::permission,
         facts.welcome->host + " starts no programs; start its agent with --allow-run, or reach it by ssh."});
  }
  for (std::size_t i = 0; i < form.environment.size(); ++i) {
    if (trimmed(form.environment[i]).empty()) continue;
    std::string problem = environment_problem(form.environment[i]);
    if (!problem.empty()) problems.push_back({FormField::environment, std::move(problem), i});
  }
  check_words(form.send, FormField::send, problems);
  check_words(form.results, FormField::results, problems);
}

void check_how(const CaptureForm& form, const FormFacts& facts, std::vector<FormProblem>& problems) {
  const bool fixed = facts.welcome && !facts.welcome->fixed.empty();
  if (form.kinds.empty() && !fixed && facts.welcome) problems.push_back({FormField::kind, "Choose what to capture."});
  for (std::size_t i = 0; i < form.kinds.size(); ++i) {
    const capture::request::KindFacts* kind = facts.find(form.kinds[i].name);
    if (kind == nullptr) {
      const std::string host = facts.welcome ? facts.welcome->host : std::string("this program");
      problems.push_back({FormField::kind, form.kinds[i].name + ": " + host + " has no such kind of capture.", i});
      continue;
    }
    for (const capture::request::KindOption& option : kind->options) {
      if (!capture::request::applies(option, *kind, form.kinds[i])) continue;
      std::string problem = option_problem(option, option_value(form.kinds[i], option));
      if (!problem.empty()) problems.push_back({FormField::option, std::move(problem), i, option.name});
    }
  }
  if (!trimmed(form.stop_after).empty()) {
    if (auto seconds = parse_seconds(form.stop_after); !seconds) {
      problems.push_back({FormField::stop_after, seconds.message()});
    }
  }
}

bool repeats(const FormFacts& facts, const capture::request::KindChoice& choice, const std::string& name) {
  const capture::request::KindFacts* kind = facts.find(choice.name);
  return kind != nullptr &&
         std::ranges::any_of(kind->options, [&](const auto& option) { return option.name == name && option.repeats; });
}

// What is given several times is typed in one line, and is a setting for each word in the plan. What was typed for an
// option that does not apply any more waits in the form until it does again.
std::vector<capture::request::KindChoice> choices_of(const std::vector<capture::request::KindChoice>& typed,
                                                     const FormFacts& facts) {
  std::vector<capture::request::KindChoice> choices;
  for (const capture::request::KindChoice& choice : typed) {
    choices.push_back({choice.name, {}});
    const capture::request::KindFacts* kind = facts.find(choice.name);
    for (const capture::request::OptionSetting& setting : choice.options) {
      const auto* option = kind == nullptr ? nullptr : capture::request::find_option(*kind, setting.name);
      if (option != nullptr && !capture::request::applies(*option, *kind, choice)) continue;
      if (!repeats(facts, choice, setting.name)) {
        choices.back().options.push_back(setting);
        continue;
      }
      for (std::string& word : words_or_none(setting.value)) {
        choices.back().options.push_back({setting.name, std::move(word)});
      }
    }
  }
  return choices;
}

std::vector<capture::request::KindChoice> typed_choices(const std::vector<capture::request::KindChoice>& choices,
                                                        const FormFacts& facts) {
  std::vector<capture::request::KindChoice> typed;
  for (const capture::request::KindChoice& choice : choices) {
    typed.push_back({choice.name, {}});
    std::vector<capture::request::OptionSetting>& options = typed.back().options;
    for (const capture::request::OptionSetting& setting : choice.options) {
      const bool words = repeats(facts, choice, setting.name);
      const std::string value = words ? capture::system::shell_quote(setting.value) : setting.value;
      const auto same = std::ranges::find_if(options, [&](const auto& o) { return o.name == setting.name; });
      if (same == options.end()) {
        options.push_back({setting.name, value});
      } else {
        same->value += " " + value;
      }
    }
  }
  return typed;
}

}  // namespace

const capture::request::KindFacts* FormFacts::find(std::string_view kind) const noexcept {
  const auto found = std::ranges::find_if(kinds, [&](const auto& facts) { return facts.name == kind; });
  return found == kinds.end() ? nullptr : &*found;
}

std::vector<std::string> places_of(const CaptureForm& form) {
  if (form.where == Where::local) return {"local"};
  std::vector<std::string> places = listed(form.where == Where::ssh ? form.ssh_hosts : form.agent_hosts);
  if (form.where == Where::ssh) {
    for (std::string& place : places) {
      if (!place.starts_with(kSsh)) place.insert(0, kSsh);
    }
  }
  return places;
}

Result<void> check_place(const std::string& place) {
  auto parsed = TRY(capture::reach::parse_place(place));
  if (parsed.kind != capture::reach::Place::Kind::address) return {};
  auto address = TRY(capture::system::parse_address(parsed.address));
  if (address.port == 0) return Error{place + ": port 0 is for listening only; type the port that the agent printed"};
  return {};
}

ProgramUse program_use(const CaptureForm& form, const FormFacts& facts) {
  ProgramUse use = ProgramUse::none;
  if (form.mode != capture::wire::StartMode::begin) return use;
  for (const capture::request::KindChoice& choice : form.kinds) {
    const capture::request::KindFacts* kind = facts.find(choice.name);
    if (kind == nullptr) continue;
    if (kind->needs_program) return ProgramUse::needed;
    if (kind->takes_program) use = ProgramUse::possible;
  }
  return use;
}

std::vector<FormProblem> check_form(const CaptureForm& form, const FormFacts& facts) {
  std::vector<FormProblem> problems;
  check_where(form, problems);
  if (form.mode != capture::wire::StartMode::begin) return problems;
  check_what(form, facts, problems);
  check_how(form, facts, problems);
  return problems;
}

std::string missing_tool(const capture::request::KindFacts& kind) {
  const auto failed = std::ranges::find_if(kind.checks, [](const auto& check) { return !check.ok; });
  return failed == kind.checks.end() ? std::string() : failed->text;
}

std::string missing_tools(const CaptureForm& form, const FormFacts& facts) {
  std::string missing;
  if (form.mode != capture::wire::StartMode::begin) return missing;
  for (const capture::request::KindChoice& choice : form.kinds) {
    const capture::request::KindFacts* kind = facts.find(choice.name);
    const std::string tool = kind == nullptr ? std::string() : missing_tool(*kind);
    if (!tool.empty()) missing += (missing.empty() ? "" : "; ") + choice.name + ": " + tool;
  }
  return missing;
}

capture::client::CapturePlan plan_of(const CaptureForm& form, const FormFacts& facts, bool paused) {
  capture::client::CapturePlan plan;
  plan.places = places_of(form);
  plan.mode = form.mode;
  if (form.where == Where::agent) plan.token_file = trimmed(form.token_file);
  if (form.where == Where::ssh) {
    plan.ssh_config_file = trimmed(form.ssh_config_file);
    plan.ssh_identity_file = trimmed(form.ssh_identity_file);
  }
  if (form.mode != capture::wire::StartMode::begin) {
    plan.capture_id = form.capture_id;
    return plan;
  }
  capture::request::CaptureRequest& request = plan.request;
  request.name = trimmed(form.name);
  request.kinds = choices_of(form.kinds, facts);
  request.paused = paused;
  if (auto seconds = parse_seconds(form.stop_after); seconds) request.duration_seconds = *seconds;
  if (program_use(form, facts) == ProgramUse::none) return plan;
  if (form.uses_script) {
    request.script = form.script;
  } else if (std::vector<std::string> words = words_or_none(form.program); !words.empty()) {
    request.program = words.front();
    request.arguments.assign(words.begin() + 1, words.end());
  }
  request.directory = trimmed(form.directory);
  for (const std::string& row : form.environment) {
    if (!trimmed(row).empty()) request.environment.push_back(row);
  }
  plan.send = words_or_none(form.send);
  request.results = words_or_none(form.results);
  plan.results_folder = trimmed(form.results_folder);
  return plan;
}

CaptureForm form_of(const capture::client::CapturePlan& plan, const FormFacts& facts) {
  CaptureForm form;
  std::vector<std::string> addresses;
  std::vector<std::string> hosts;
  for (const std::string& place : plan.places) {
    if (place.starts_with(kSsh)) {
      hosts.push_back(place);
    } else if (place != "local") {
      addresses.push_back(place);
    }
  }
  form.where = !hosts.empty() ? Where::ssh : !addresses.empty() ? Where::agent : Where::local;
  if (!addresses.empty()) form.agent_hosts = joined(addresses);
  form.ssh_hosts = joined(hosts);
  form.token_file = plan.token_file;
  form.ssh_config_file = plan.ssh_config_file;
  form.ssh_identity_file = plan.ssh_identity_file;
  form.mode = plan.mode;
  form.capture_id = plan.capture_id;
  const capture::request::CaptureRequest& request = plan.request;
  form.uses_script = !request.script.empty();
  form.script = request.script;
  if (!request.program.empty()) {
    std::vector<std::string> words = {request.program};
    words.insert(words.end(), request.arguments.begin(), request.arguments.end());
    form.program = capture::system::shell_command(words);
  }
  form.directory = request.directory;
  form.environment = request.environment;
  form.send = capture::system::shell_command(plan.send);
  form.results = capture::system::shell_command(request.results);
  form.results_folder = plan.results_folder;
  form.kinds = typed_choices(request.kinds, facts);
  form.name = request.name;
  if (request.duration_seconds > 0) form.stop_after = format_exact(request.duration_seconds, Unit::seconds);
  return form;
}

std::string option_value(const capture::request::KindChoice& choice, const capture::request::KindOption& option) {
  for (const capture::request::OptionSetting& setting : choice.options) {
    if (setting.name == option.name) return setting.value;
  }
  return option.default_value;
}

void set_option(capture::request::KindChoice& choice, const capture::request::KindOption& option, std::string value) {
  std::erase_if(choice.options,
                [&](const capture::request::OptionSetting& setting) { return setting.name == option.name; });
  if (value != option.default_value) choice.options.push_back({option.name, std::move(value)});
}

std::string option_problem(const capture::request::KindOption& option, const std::string& value) {
  if (value.empty()) return option.required ? "--" + option.name + " must be given" : "";
  std::vector<std::string> values = {value};
  if (option.repeats) {
    auto split = split_words(value);
    if (!split) return "--" + option.name + ": " + split.message();
    values = std::move(split->words);
  }
  for (const std::string& one : values) {
    if (auto parsed = capture::request::parse_option(option, one); !parsed) return parsed.message();
  }
  return "";
}

Result<double> parse_seconds(std::string_view text) {
  text = trimmed(text);
  constexpr std::array<std::pair<std::string_view, double>, 10> kUnits = {{{"ns", 1e-9},
                                                                           {"us", 1e-6},
                                                                           {"\xc2\xb5s", 1e-6},
                                                                           {"ms", 1e-3},
                                                                           {"min", 60},
                                                                           {"s", 1},
                                                                           {"m", 60},
                                                                           {"h", 3600},
                                                                           {"", 1},
                                                                           {"sec", 1}}};
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const std::string_view unit = trimmed(text.substr(static_cast<std::size_t>(end - text.data())));
  for (const auto& [name, seconds] : kUnits) {
    if (error == std::errc{} && unit == name && std::isfinite(value) && value > 0) return value * seconds;
  }
  return Error{std::string(text) + ": write a time such as 60 s or 2 min"};
}

std::string file_of_title(std::string title) {
  for (char& c : title) {
    if (c == '/' || c == '\\' || c == ':' || c == ' ' || c == ',') c = '_';
  }
  return (title.empty() ? "session" : title) + ".accel";
}

std::string title_of_plan(const capture::client::CapturePlan& plan) {
  if (!plan.request.name.empty()) return plan.request.name;
  if (!plan.request.program.empty()) {
    // The script says more than its interpreter.
    for (const std::string& argument : plan.request.arguments) {
      if (argument.ends_with(".py") || argument.ends_with(".sh"))
        return std::filesystem::path(argument).stem().string();
    }
    return std::filesystem::path(plan.request.program).filename().string();
  }
  return plan.places.empty() ? "Capture" : joined(plan.places);
}

}  // namespace accelscope::app::plan
