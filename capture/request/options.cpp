#include "capture/request/options.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <optional>

#include "core/base/format.h"
#include "core/base/text.h"

namespace accelscope::capture::request {
namespace {

struct TypeWords {
  OptionType type;
  std::string_view name;
  std::string_view advice;  // after "'abc' is not ..."
};
constexpr TypeWords kTypeWords[] = {
    {OptionType::flag, "flag", "on or off"},
    {OptionType::count, "count", "a whole number; write 3, 200k or 50M"},
    {OptionType::number, "number", "a number; write 2 or 0.5"},
    {OptionType::duration, "duration", "a duration; write 100ms or 2s"},
    {OptionType::size, "size", "a size; write 64MiB or 2G"},
    {OptionType::rate, "rate", "a rate; write 1500, 200k, 2M or max"},
    {OptionType::text, "text", "a text"},
    {OptionType::choice, "choice", "one of them"},
    {OptionType::file, "file", "a path"},
};

[[nodiscard]] const TypeWords& words_of(OptionType type) noexcept {
  for (const TypeWords& words : kTypeWords) {
    if (words.type == type) return words;
  }
  return kTypeWords[static_cast<std::size_t>(OptionType::text) - 1];
}

// "; did you mean 'x'?" or the names that there are.
[[nodiscard]] std::string hint(std::string_view wanted, const std::vector<std::string>& names) {
  const std::string nearest = nearest_name(wanted, names);
  return nearest.empty() ? fmt::format("there are {}", joined(names))
                         : fmt::format("did you mean '{}'? There are {}", nearest, joined(names));
}

// A whole number, exact to 64 bits; with k, M or G decimal places are allowed as long as the value is whole.
[[nodiscard]] std::optional<std::uint64_t> parse_count(std::string_view text) {
  std::uint64_t whole = 0;
  if (read_number(text, whole)) return whole;
  const Result<double> scaled = parse_rate(text);
  if (!scaled || !std::isfinite(*scaled) || *scaled != std::floor(*scaled) || *scaled > 9e15) return std::nullopt;
  return static_cast<std::uint64_t>(*scaled);
}

[[nodiscard]] std::optional<double> parse_number(std::string_view text) {
  double value = 0;
  return read_number(text, value) && std::isfinite(value) ? std::optional(value) : std::nullopt;
}

// With a unit, or 0: a bare number could be meant in seconds as well as in ns.
[[nodiscard]] std::optional<std::chrono::nanoseconds> parse_duration(std::string_view text) {
  const Result<std::int64_t> ns = parse_time(text, 0, 0);
  const bool has_unit = text.find_first_not_of("0123456789.+- ") != std::string_view::npos;
  if (!ns || *ns < 0 || text.find('%') != std::string_view::npos || (!has_unit && *ns != 0)) return std::nullopt;
  return std::chrono::nanoseconds(*ns);
}

[[nodiscard]] std::optional<OptionValue> parse_typed(const KindOption& option, const std::string& typed) {
  const auto wrap = [](const auto& parsed) -> std::optional<OptionValue> {
    if (!parsed) return std::nullopt;
    return OptionValue(*parsed);
  };
  switch (option.type) {
    case OptionType::flag:
      if (typed != "on" && typed != "off") return std::nullopt;
      return OptionValue(typed == "on");
    case OptionType::count:
      return wrap(parse_count(typed));
    case OptionType::number:
      return wrap(parse_number(typed));
    case OptionType::duration:
      return wrap(parse_duration(typed));
    case OptionType::size:
      return wrap(parse_size(typed));
    case OptionType::rate: {
      const Result<double> rate = parse_rate(typed);
      if (!rate || !(*rate > 0)) return std::nullopt;
      return OptionValue(*rate);
    }
    case OptionType::choice:
      if (std::find(option.choices.begin(), option.choices.end(), typed) == option.choices.end()) return std::nullopt;
      return OptionValue(typed);
    case OptionType::text:
    case OptionType::file:
      break;
  }
  if (typed.find('\0') != std::string::npos) return std::nullopt;
  return OptionValue(typed);
}

[[nodiscard]] std::vector<std::string> names_of(const std::vector<KindOption>& options) {
  std::vector<std::string> names;
  for (const KindOption& option : options) names.push_back(option.name);
  return names;
}

[[nodiscard]] bool has_nul(const std::string& text) { return text.find('\0') != std::string::npos; }

[[nodiscard]] Result<void> check_program(const CaptureRequest& request, bool wanted, bool taken,
                                         const std::string& kinds) {
  const bool given = !request.program.empty() || !request.script.empty();
  if (wanted && !given) {
    return Error{fmt::format("{}: needs a program to run; give one after --, or a script", kinds)};
  }
  if (given && !wanted && !taken) {
    return Error{fmt::format("{}: runs no program, but '{}' is given; add the kind 'program', or leave it out", kinds,
                             request.program.empty() ? "a script" : request.program)};
  }
  if (!request.program.empty() && !request.script.empty()) {
    return Error{fmt::format("{}: a script is given as well; give one of the two", request.program)};
  }
  if (has_nul(request.program) || has_nul(request.directory) || has_nul(request.script) ||
      std::any_of(request.arguments.begin(), request.arguments.end(), has_nul)) {
    return Error{"the program, its arguments or its folder hold a zero byte, which no program can be given"};
  }
  for (const std::string& setting : request.environment) {
    const std::size_t equals = setting.find('=');
    if (equals == std::string::npos || equals == 0 || has_nul(setting)) {
      // The value stays out of the message: it may be a secret.
      return Error{fmt::format("environment: '{}' is not NAME=VALUE; write for example OMP_NUM_THREADS=4",
                               setting.substr(0, equals == 0 ? 1 : equals))};
    }
  }
  return {};
}

}  // namespace

const KindOption* find_option(const KindFacts& facts, std::string_view name) noexcept {
  const auto found = std::ranges::find(facts.options, name, &KindOption::name);
  return found == facts.options.end() ? nullptr : &*found;
}

bool applies(const KindOption& option, const KindFacts& facts, const KindChoice& choice) {
  return std::ranges::all_of(option.conditions, [&](const OptionCondition& condition) {
    const auto typed = std::ranges::find_if(choice.options, [&](const OptionSetting& setting) {
      return setting.name == condition.option && !setting.value.empty();
    });
    const KindOption* other = find_option(facts, condition.option);
    const std::string& value = typed != choice.options.end() ? typed->value
                               : other != nullptr            ? other->default_value
                                                             : condition.option;
    return std::ranges::find(condition.values, value) != condition.values.end();
  });
}

std::string condition_text(const KindOption& option) {
  std::string text;
  for (const OptionCondition& condition : option.conditions) {
    text += fmt::format("{} --{} {}", text.empty() ? "only with" : " and", condition.option,
                        fmt::join(condition.values, " or "));
  }
  return text;
}

std::vector<KindOption> on_condition(const OptionCondition& condition, std::vector<KindOption> options) {
  for (KindOption& option : options) option.conditions.push_back(condition);
  return options;
}

std::string_view option_type_name(OptionType type) noexcept { return words_of(type).name; }

Result<OptionValue> parse_option(const KindOption& option, std::string_view typed) {
  if (std::optional<OptionValue> value = parse_typed(option, std::string(typed))) return std::move(*value);
  const std::string advice = option.type == OptionType::choice ? fmt::format("one of {}", joined(option.choices))
                                                               : std::string(words_of(option.type).advice);
  return Error{fmt::format("--{}: '{}' is not {}", option.name, typed, advice)};
}

Result<OptionReader> OptionReader::read(const KindFacts& facts, const KindChoice& choice) {
  OptionReader reader;
  for (const KindOption& option : facts.options) reader.values_[option.name];
  for (const OptionSetting& setting : choice.options) {
    const KindOption* option = find_option(facts, setting.name);
    if (option == nullptr) {
      return Error{facts.options.empty() ? fmt::format("--{}: the kind '{}' has no options", setting.name, facts.name)
                                         : fmt::format("--{}: the kind '{}' has no such option; {}", setting.name,
                                                       facts.name, hint(setting.name, names_of(facts.options)))};
    }
    if (setting.value.empty() && option->type != OptionType::text) continue;
    OptionValue value = TRY(parse_option(*option, setting.value));
    std::vector<OptionValue>& given = reader.values_[option->name];
    if (!given.empty() && !option->repeats) return Error{fmt::format("--{}: is given twice", option->name)};
    given.push_back(std::move(value));
  }
  for (const OptionSetting& setting : choice.options) {
    const KindOption* option = find_option(facts, setting.name);
    if (setting.value == option->default_value || applies(*option, facts, choice)) continue;
    return Error{fmt::format("--{}: is given, but applies {}", setting.name, condition_text(*option))};
  }
  for (const KindOption& option : facts.options) {
    std::vector<OptionValue>& given = reader.values_[option.name];
    if (!given.empty()) continue;
    if (option.required && applies(option, facts, choice))
      return Error{fmt::format("--{}: the kind '{}' needs it", option.name, facts.name)};
    if (option.default_value.empty()) continue;
    OptionValue value = TRY(parse_option(option, option.default_value));
    given.push_back(std::move(value));
  }
  return reader;
}

const std::vector<OptionValue>& OptionReader::of(std::string_view name) const {
  static const std::vector<OptionValue> kNothing;
  const auto found = values_.find(name);
  assert(found != values_.end());
  return found == values_.end() ? kNothing : found->second;
}

std::vector<std::string> OptionReader::texts(std::string_view name) const {
  std::vector<std::string> all;
  for (const OptionValue& value : of(name)) all.push_back(std::get<std::string>(value));
  return all;
}

Result<const KindFacts*> find_facts(std::string_view name, std::span<const KindFacts> kinds) {
  std::vector<std::string> names;
  for (const KindFacts& facts : kinds) {
    if (facts.name == name) return &facts;
    names.push_back(facts.name);
  }
  return Error{fmt::format("'{}' is no kind of capture; {}", name, hint(name, names))};
}

Result<void> check_request(const CaptureRequest& request, std::span<const KindFacts> kinds) {
  if (request.kinds.empty()) {
    std::vector<std::string> names;
    for (const KindFacts& facts : kinds) names.push_back(facts.name);
    return Error{fmt::format("no kind of capture is chosen; there are {}", joined(names))};
  }
  bool wants_program = false;
  bool takes_program = false;
  std::vector<std::string> chosen;
  for (const KindChoice& choice : request.kinds) {
    const KindFacts* facts = TRY(find_facts(choice.name, kinds));
    if (std::find(chosen.begin(), chosen.end(), choice.name) != chosen.end()) {
      return Error{fmt::format("the kind '{}' is chosen twice", choice.name)};
    }
    chosen.push_back(choice.name);
    wants_program = wants_program || facts->needs_program;
    takes_program = takes_program || facts->takes_program;
    TRY(OptionReader::read(*facts, choice));
    for (const KindCheck& check : facts->checks) {
      if (!check.ok) return Error{fmt::format("the kind '{}' cannot run here: {}", choice.name, check.text)};
    }
  }
  if (!(request.duration_seconds >= 0) || !std::isfinite(request.duration_seconds)) {
    return Error{"the duration must be a number of seconds, 0 for no limit"};
  }
  return check_program(request, wants_program, takes_program, joined(chosen));
}

std::string capture_name(const CaptureRequest& request) {
  if (!request.name.empty()) return request.name;
  if (!request.program.empty()) return file_name(request.program);
  if (!request.script.empty()) return "script";
  return request.kinds.empty() ? "capture" : request.kinds.front().name;
}

std::string session_file_name(const CaptureRequest& request) {
  std::string name = capture_name(request);
  // An interpreter says less than what it runs.
  const bool interprets = name.starts_with("python") || name == "sh" || name == "bash" || name == "torchrun";
  if (interprets && request.name.empty()) {
    for (const std::string& argument : request.arguments) {
      if (argument.ends_with(".py") || argument.ends_with(".sh")) name = file_name(argument);
      if (name != capture_name(request)) break;
    }
  }
  const std::size_t dot = name.rfind('.');
  if (dot != std::string::npos && dot > 0) name.resize(dot);
  std::replace(name.begin(), name.end(), '/', '_');
  return name + ".accel";
}

}  // namespace accelscope::capture::request
