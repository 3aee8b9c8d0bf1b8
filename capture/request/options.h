// What was typed for the options of kinds: checked against their declarations, and read as values. A request comes
// from a command line, a form or a foreign viewer alike, so everything in it is checked here before anything runs.
//
//   Result<OptionReader> options = OptionReader::read(facts, choice);
//   const std::chrono::nanoseconds interval = options->duration("sample-interval");
#pragma once

#include <chrono>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "capture/request/kind.h"
#include "core/base/result.h"

namespace accelscope::capture::request {

using OptionValue = std::variant<bool, std::uint64_t, double, std::chrono::nanoseconds, std::string>;

// Of flags bool, of counts and sizes uint64, of numbers and rates double (events per second; "max" is infinite), of
// the others the text itself. The message names the option: "--sample-interval: 'abc' is not a duration; write ...".
[[nodiscard]] Result<OptionValue> parse_option(const KindOption& option, std::string_view typed);

class OptionReader {
 public:
  // An empty setting counts as not given, except for a text. Fails on a name that is not declared, a value that is
  // none of the option's type, a second setting of what may be given once, a missing required one, and a value other
  // than the default of an option that does not apply.
  [[nodiscard]] static Result<OptionReader> read(const KindFacts& facts, const KindChoice& choice);

  // False: neither given nor with a default; the functions below then give false, 0 or "". They need an option of
  // their type that the kind declares.
  [[nodiscard]] bool has(std::string_view name) const { return !of(name).empty(); }
  [[nodiscard]] bool flag(std::string_view name) const { return first<bool>(name); }
  [[nodiscard]] std::uint64_t count(std::string_view name) const { return first<std::uint64_t>(name); }
  [[nodiscard]] std::uint64_t size(std::string_view name) const { return first<std::uint64_t>(name); }
  [[nodiscard]] double number(std::string_view name) const { return first<double>(name); }
  [[nodiscard]] double rate(std::string_view name) const { return first<double>(name); }
  [[nodiscard]] std::chrono::nanoseconds duration(std::string_view name) const {
    return first<std::chrono::nanoseconds>(name);
  }
  [[nodiscard]] std::string text(std::string_view name) const { return first<std::string>(name); }
  [[nodiscard]] std::vector<std::string> texts(std::string_view name) const;  // of one that repeats

 private:
  [[nodiscard]] const std::vector<OptionValue>& of(std::string_view name) const;
  template <typename T>
  [[nodiscard]] T first(std::string_view name) const {
    const std::vector<OptionValue>& given = of(name);
    return given.empty() ? T{} : std::get<T>(given.front());
  }
  std::map<std::string, std::vector<OptionValue>, std::less<>> values_;
};

[[nodiscard]] const KindOption* find_option(const KindFacts& facts, std::string_view name) noexcept;  // null: none
[[nodiscard]] bool applies(const KindOption& option, const KindFacts& facts, const KindChoice& choice);
// "only with --record-by environment or vllm"; "" without conditions.
[[nodiscard]] std::string condition_text(const KindOption& option);
// The options, each with one condition more.
[[nodiscard]] std::vector<KindOption> on_condition(const OptionCondition& condition, std::vector<KindOption> options);

// One list of several.
[[nodiscard]] std::vector<KindOption> joined_options(std::initializer_list<std::vector<KindOption>> parts);

// Of a choice for that kind, as it accepts them.
[[nodiscard]] Result<OptionReader> read_options(const CaptureKind& kind, const KindChoice& choice);

// What a form or a command line can still mend: unknown kinds (with the nearest name) and options, wrong values, a
// program that is missing or that no kind runs, settings of the environment without a name, texts that no program can
// be given. A kind that lacks something on its host
// is refused with what it lacks.
[[nodiscard]] Result<void> check_request(const CaptureRequest& request, std::span<const KindFacts> kinds);
[[nodiscard]] Result<const KindFacts*> find_facts(std::string_view name, std::span<const KindFacts> kinds);

// What a capture is called where its user gives it no name: its program's name, "script", or its first kind's.
[[nodiscard]] std::string capture_name(const CaptureRequest& request);
// The session file of a capture whose user names none: "bench.accel" of `python3 bench.py`.
[[nodiscard]] std::string session_file_name(const CaptureRequest& request);

[[nodiscard]] std::string_view option_type_name(OptionType type) noexcept;  // "duration"

}  // namespace accelscope::capture::request
