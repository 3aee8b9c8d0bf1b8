#include "capture/command_line/options.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <string_view>

namespace accelscope::command_line {

const Option& Option::required() const {
  option_->required();
  return *this;
}

const Option& Option::positive() const {
  option_->check(CLI::PositiveNumber);
  return *this;
}

const Option& Option::not_negative() const {
  option_->check(CLI::NonNegativeNumber);
  return *this;
}

const Option& Option::in_range(double least, double most) const {
  option_->check(CLI::Range(least, most));
  return *this;
}

const Option& Option::one_of(const std::vector<std::string>& choices) const {
  option_->check(CLI::IsMember(choices));
  return *this;
}

const Option& Option::excludes(const Option& other) const {
  option_->excludes(other.option_);
  return *this;
}

const Option& Option::repeats() const {
  option_->expected(1, CLI::detail::expected_max_vector_size)->allow_extra_args(false);
  return *this;
}

const Option& Option::separated_by(char character) const {
  option_->delimiter(character)->take_all();
  return *this;
}

const Option& Option::shows_default() const {
  option_->capture_default_str();
  return *this;
}

const Option& Option::default_text(const std::string& text) const {
  option_->default_str(text);
  return *this;
}

const Option& Option::value_word(const std::string& word) const {
  option_->type_name(word);
  return *this;
}

const Option& Option::may_lack_value() const {
  option_->expected(0, 1);
  return *this;
}

const Option& Option::in_group(const std::string& title) const {
  option_->group(title);
  return *this;
}

bool Option::given() const { return option_->count() > 0; }

std::vector<std::string> Option::values() const { return given() ? option_->results() : std::vector<std::string>(); }

OptionSet::OptionSet(const std::string& description, const std::string& program)
    : own_(std::make_unique<CLI::App>(description, program)), app_(own_.get()) {}

OptionSet::OptionSet(CLI::App* command) : app_(command) {}

OptionSet::~OptionSet() = default;

template <typename Value>
Option OptionSet::add_option(const std::string& names, Value& value, const std::string& explanation) {
  return Option(app_->add_option(names, value, explanation));
}
template Option OptionSet::add_option(const std::string&, std::string&, const std::string&);
template Option OptionSet::add_option(const std::string&, std::vector<std::string>&, const std::string&);
template Option OptionSet::add_option(const std::string&, double&, const std::string&);
template Option OptionSet::add_option(const std::string&, float&, const std::string&);
template Option OptionSet::add_option(const std::string&, std::uint64_t&, const std::string&);
template Option OptionSet::add_option(const std::string&, std::uint32_t&, const std::string&);
template Option OptionSet::add_option(const std::string&, int&, const std::string&);

Option OptionSet::add_untied(const std::string& names, const std::string& explanation) {
  return Option(app_->add_option(names, explanation));
}

Option OptionSet::add_flag(const std::string& names, bool& value, const std::string& explanation) {
  return Option(app_->add_flag(names, value, explanation));
}

Option OptionSet::add_flag(const std::string& names) { return Option(app_->add_flag(names)->group("")); }

OptionSet& OptionSet::add_command(const std::string& name, const std::string& summary) {
  app_->require_subcommand(0, 1);
  commands_.push_back(std::unique_ptr<OptionSet>(new OptionSet(app_->add_subcommand(name, summary))));
  return *commands_.back();
}

void OptionSet::add_version(const std::string& text) { app_->set_version_flag("--version", text); }

void OptionSet::set_usage(const std::string& text) { usage_ = text; }

void OptionSet::set_footer(const std::string& text) { app_->footer(text); }

Result<std::string> OptionSet::parse(const std::vector<std::string>& arguments) {
  std::vector<std::string> reversed(arguments.rbegin(), arguments.rend());  // the library takes them from the back
  try {
    app_->parse(reversed);
  } catch (const CLI::CallForVersion& version) {
    return std::string(version.what()) + '\n';
  } catch (const CLI::Success&) {  // --help, of the command that was given
    return help();
  } catch (const CLI::ParseError& wrong) {
    return Error{wrong.what()};
  }
  return std::string();
}

std::string OptionSet::help() const {
  for (const std::unique_ptr<OptionSet>& command : commands_) {
    if (command->chosen()) return command->help();
  }
  std::string text = app_->help();
  constexpr std::string_view kUsage = "Usage: ";
  const std::size_t begin = text.find(kUsage);
  if (usage_.empty() || begin == std::string::npos) return text;
  const std::size_t end = text.find('\n', begin);
  return text.replace(begin + kUsage.size(), end - begin - kUsage.size(), usage_);
}

bool OptionSet::chosen() const { return app_->parsed(); }

std::string OptionSet::name() const { return app_->get_name(); }

bool OptionSet::any_given_of(const std::string& group) const {
  const std::vector<CLI::Option*> all = app_->get_options();
  return std::any_of(all.begin(), all.end(), [&group](const CLI::Option* option) {
    return option->get_group() == group && option->count() > 0;
  });
}

std::string help_topic(const std::vector<std::string>& arguments) {
  const auto end = std::find(arguments.begin(), arguments.end(), "--");
  const auto help =
      std::find_if(arguments.begin(), end, [](const std::string& word) { return word == "--help" || word == "-h"; });
  if (help == end || help + 1 == end || (help + 1)->starts_with('-')) return "";
  return *(help + 1);
}

}  // namespace accelscope::command_line
