// What is typed for the options of kinds, and what a foreign viewer may send in a request.
#include "capture/command_line/options.h"
#include "capture/request/options.h"

#include <doctest/doctest.h>

#include <cmath>

#include "capture/request/option_cli.h"
#include "capture/wire/messages.h"

namespace accelscope::capture {
namespace {

using namespace std::chrono_literals;

request::KindOption option(request::OptionType type, std::vector<std::string> choices = {}) {
  return {"x", type, "", "Explains.", std::move(choices)};
}

template <typename T>
T parsed(request::OptionType type, const std::string& typed, std::vector<std::string> choices = {}) {
  const Result<request::OptionValue> value = request::parse_option(option(type, std::move(choices)), typed);
  REQUIRE_MESSAGE(value.ok(), value.message());
  return std::get<T>(*value);
}

std::string refused(request::OptionType type, const std::string& typed, std::vector<std::string> choices = {}) {
  const Result<request::OptionValue> value = request::parse_option(option(type, std::move(choices)), typed);
  REQUIRE_FALSE(value.ok());
  return value.message();
}

TEST_CASE("options read what users type, exactly to 64 bits") {
  CHECK(parsed<bool>(request::OptionType::flag, "on"));
  CHECK_FALSE(parsed<bool>(request::OptionType::flag, "off"));
  CHECK(parsed<std::uint64_t>(request::OptionType::count, "18446744073709551615") == ~std::uint64_t{0});
  CHECK(parsed<std::uint64_t>(request::OptionType::count, "50M") == 50'000'000);
  CHECK(parsed<std::uint64_t>(request::OptionType::count, "1.5k") == 1'500);
  CHECK(parsed<double>(request::OptionType::number, "0.5") == 0.5);
  CHECK(parsed<std::chrono::nanoseconds>(request::OptionType::duration, "100ms") == 100ms);
  CHECK(parsed<std::chrono::nanoseconds>(request::OptionType::duration, "2 s") == 2s);
  CHECK(parsed<std::chrono::nanoseconds>(request::OptionType::duration, "0") == 0s);
  CHECK(parsed<std::uint64_t>(request::OptionType::size, "64MiB") == 64ULL << 20);
  CHECK(parsed<double>(request::OptionType::rate, "200k") == 200'000);
  CHECK(std::isinf(parsed<double>(request::OptionType::rate, "max")));
  CHECK(parsed<std::string>(request::OptionType::choice, "slim", {"full", "slim"}) == "slim");
}

TEST_CASE("a wrong value is refused with the option's name and what to write instead") {
  CHECK(refused(request::OptionType::duration, "abc") == "--x: 'abc' is not a duration; write 100ms or 2s");
  CHECK(refused(request::OptionType::duration, "100") == "--x: '100' is not a duration; write 100ms or 2s");
  CHECK(refused(request::OptionType::duration, "10%") == "--x: '10%' is not a duration; write 100ms or 2s");
  CHECK(refused(request::OptionType::duration, "-1s") == "--x: '-1s' is not a duration; write 100ms or 2s");
  CHECK(refused(request::OptionType::flag, "yes") == "--x: 'yes' is not on or off");
  CHECK(refused(request::OptionType::count, "1.5") == "--x: '1.5' is not a whole number; write 3, 200k or 50M");
  CHECK(refused(request::OptionType::count, "18446744073709551616").find("whole number") != std::string::npos);
  CHECK(refused(request::OptionType::number, "nan") == "--x: 'nan' is not a number; write 2 or 0.5");
  CHECK(refused(request::OptionType::size, "much") == "--x: 'much' is not a size; write 64MiB or 2G");
  CHECK(refused(request::OptionType::rate, "0") == "--x: '0' is not a rate; write 1500, 200k, 2M or max");
  CHECK(refused(request::OptionType::choice, "ful", {"full", "slim"}) == "--x: 'ful' is not one of full, slim");
}

request::KindFacts sample_kind(std::string name = "sample") {
  request::KindFacts facts;
  facts.name = std::move(name);
  facts.title = "Sample " + facts.name;
  facts.options = {{"interval", request::OptionType::duration, "100ms", "How often."},
                   {"counters", request::OptionType::flag, "on", "Whether."},
                   {"label", request::OptionType::text, "none", "A text."},
                   {.name = "file", .type = request::OptionType::file, .explanation = "Which.", .repeats = true}};
  return facts;
}

TEST_CASE("an option that does not exist is refused with the nearest name") {
  const Result<request::OptionReader> read =
      request::OptionReader::read(sample_kind(), {"sample", {{"intervall", "1s"}}});
  REQUIRE_FALSE(read.ok());
  CHECK(read.message() ==
        "--intervall: the kind 'sample' has no such option; did you mean 'interval'? There are interval, counters, "
        "label, file");
}

TEST_CASE("what is not given has its default, an empty text is a text, and repeated options keep their order") {
  const Result<request::OptionReader> read = request::OptionReader::read(
      sample_kind(), {"sample", {{"interval", ""}, {"label", ""}, {"file", "b"}, {"file", "a"}, {"counters", "off"}}});
  REQUIRE(read.ok());
  CHECK(read->duration("interval") == 100ms);
  CHECK(read->text("label").empty());
  CHECK(read->has("label"));
  CHECK(read->texts("file") == std::vector<std::string>{"b", "a"});
  CHECK_FALSE(read->flag("counters"));
  CHECK(request::OptionReader::read(sample_kind(), {"sample", {{"label", "a"}, {"label", "b"}}}).message() ==
        "--label: is given twice");
  request::KindFacts strict = sample_kind();
  strict.options.back().required = true;
  CHECK(request::OptionReader::read(strict, {"sample", {}}).message() == "--file: the kind 'sample' needs it");
}

std::string refused_request(request::CaptureRequest request, const std::vector<request::KindFacts>& kinds) {
  const Result<void> checked = request::check_request(request, kinds);
  REQUIRE_FALSE(checked.ok());
  return checked.message();
}

TEST_CASE("a request that cannot run is refused before anything starts, and says why") {
  request::KindFacts runner = sample_kind("runner");
  runner.needs_program = true;
  request::KindFacts lacking = sample_kind("lacking");
  lacking.checks = {{true, "fine"}, {false, "libfoo is missing; install foo"}};
  const std::vector<request::KindFacts> kinds = {sample_kind(), runner, lacking};
  CHECK(refused_request({}, kinds) == "no kind of capture is chosen; there are sample, runner, lacking");
  CHECK(refused_request({.kinds = {{"runer", {}}}}, kinds) ==
        "'runer' is no kind of capture; did you mean 'runner'? There are sample, runner, lacking");
  CHECK(refused_request({.kinds = {{"sample", {}}, {"sample", {}}}}, kinds) == "the kind 'sample' is chosen twice");
  CHECK(refused_request({.kinds = {{"sample", {{"interval", "abc"}}}}}, kinds) ==
        "--interval: 'abc' is not a duration; write 100ms or 2s");
  CHECK(refused_request({.kinds = {{"lacking", {}}}}, kinds) ==
        "the kind 'lacking' cannot run here: libfoo is missing; install foo");
  CHECK(refused_request({.kinds = {{"runner", {}}}}, kinds) ==
        "runner: needs a program to run; give one after --, or a script");
  CHECK(refused_request({.kinds = {{"sample", {}}}, .program = "ls"}, kinds).find("runs no program") !=
        std::string::npos);
  CHECK(refused_request({.kinds = {{"runner", {}}}, .program = "ls", .script = "ls"}, kinds).find("one of the two") !=
        std::string::npos);
  CHECK(refused_request({.kinds = {{"runner", {}}}, .program = std::string("l\0s", 3)}, kinds).find("zero byte") !=
        std::string::npos);
  CHECK(refused_request({.kinds = {{"sample", {}}}, .duration_seconds = -1}, kinds).find("duration") !=
        std::string::npos);
  const std::string environment =
      refused_request({.kinds = {{"runner", {}}}, .program = "ls", .environment = {"=secret"}}, kinds);
  CHECK(environment.find("NAME=VALUE") != std::string::npos);
  CHECK(environment.find("secret") == std::string::npos);
  CHECK(
      request::check_request({.kinds = {{"runner", {}}, {"sample", {}}}, .program = "ls", .environment = {"A="}}, kinds)
          .ok());
}

TEST_CASE("every kind's defaults are values of their own options") {
  for (const request::KindFacts& facts : request::declared_kinds()) {
    CAPTURE(facts.name);
    CHECK_FALSE(facts.title.empty());
    CHECK_FALSE(facts.explanation.empty());
    for (const request::KindOption& declared : facts.options) {
      CAPTURE(declared.name);
      CHECK_FALSE(declared.explanation.empty());
      if (!declared.default_value.empty()) CHECK(request::parse_option(declared, declared.default_value).ok());
    }
  }
  REQUIRE(request::find_kind("simulate").ok());
  CHECK(request::find_kind("simulat").message().find("did you mean 'simulate'?") != std::string::npos);
}

// What a command line makes of the arguments, or the message.
struct Parsed {
  std::vector<request::KindChoice> choices;
  std::string message;
};
Parsed parse(const std::vector<request::KindFacts>& kinds, const std::vector<std::string>& arguments) {
  command_line::OptionSet app("", "test");
  std::string kind;
  std::vector<std::string> rest;
  app.add_option("--kind", kind, "");
  app.add_option("rest", rest, "");
  request::KindOptions options;
  options.declare(app, kinds);
  if (const Result<std::string> shown = app.parse(arguments); !shown) return {{}, shown.message()};
  Result<std::vector<request::KindChoice>> choices = options.choices(request::split_names(kind));
  if (!choices) return {{}, choices.message()};
  return {*choices, ""};
}

TEST_CASE("the command line of a capture gives back the choices that it was made of") {
  const std::vector<request::KindFacts> kinds = {sample_kind("one"), sample_kind("two")};
  const std::vector<std::vector<request::KindChoice>> cases = {
      {{"one", {}}},
      {{"one", {{"interval", "5ms"}, {"counters", "off"}}}},
      {{"two", {{"label", "two words"}, {"file", "a"}, {"file", "b=c"}}}},
      {{"one", {{"interval", "1ms"}}}, {"two", {{"interval", "2ms"}, {"file", "-x"}}}},
  };
  for (const std::vector<request::KindChoice>& choices : cases) {
    const Parsed again = parse(kinds, request::kind_arguments(choices, kinds));
    CHECK(again.message == "");
    REQUIRE(again.choices.size() == choices.size());
    for (std::size_t i = 0; i < choices.size(); ++i) CHECK(again.choices[i] == choices[i]);
  }
  CHECK(request::kind_arguments({{"one", {{"interval", "100ms"}, {"counters", "on"}}}}, kinds) ==
        std::vector<std::string>{"--kind", "one"});
}

TEST_CASE("flags and shared options work as typed by hand") {
  const std::vector<request::KindFacts> kinds = {sample_kind("one"), sample_kind("two")};
  const Parsed both = parse(kinds, {"--kind", "one,two", "--interval", "3ms", "--no-counters", "--file", "a", "b"});
  REQUIRE_MESSAGE(both.choices.size() == 2, both.message);
  for (const request::KindChoice& choice : both.choices) {
    CHECK(choice.options == std::vector<request::OptionSetting>{
                                {"interval", "3ms"}, {"counters", "off"}, {"file", "a"}});  // b is no file
  }
  const Parsed flag = parse(kinds, {"--kind", "one", "--counters"});
  REQUIRE(flag.choices.size() == 1);
  CHECK(flag.choices[0].options == std::vector<request::OptionSetting>{{"counters", "on"}});
  request::KindFacts third = sample_kind("third");
  third.options = {{"dirty", request::OptionType::flag, "off", "Off unless it is named."},
                   {"file", request::OptionType::file, "", ""}};
  const Parsed bare = parse({third}, {"--kind", "third", "--dirty", "--file", "a"});
  REQUIRE(bare.choices.size() == 1);
  CHECK(bare.choices[0].options == std::vector<request::OptionSetting>{{"dirty", "on"}, {"file", "a"}});
  CHECK(parse(kinds, {"--kind", "one", "--two.interval", "1s"}).message ==
        "--two.interval: is an option of the kind two, which is not chosen; add it to --kind");
  CHECK(parse(kinds, {"--kind", "three"}).message.find("no kind of capture") != std::string::npos);
}

}  // namespace
}  // namespace accelscope::capture
