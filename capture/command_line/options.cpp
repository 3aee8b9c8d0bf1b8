#include "capture/command_line/options.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <sstream>
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

namespace {

// One look with every version of the library: newer ones wrap paragraphs and tables, and leave "Usage: " out.
class HelpFormatter final : public CLI::Formatter {
 public:
  explicit HelpFormatter(std::string usage) : usage_(std::move(usage)) {}
  std::string make_help(const CLI::App* app, std::string name, CLI::AppFormatMode mode) const override {
    constexpr std::string_view kUsage = "Usage: ";
    std::string usage = usage_.empty() ? make_usage(app, std::move(name)) : usage_;
    usage.erase(0, usage.find_first_not_of('\n'));
    usage.erase(usage.find_last_not_of('\n') + 1);
    if (!usage.starts_with(kUsage)) usage.insert(0, kUsage);
    std::string text = app->get_description();
    if (!text.empty()) text += '\n';
    text += usage + '\n' + make_positionals(app) + make_groups(app, mode) + make_subcommands(app, mode) + '\n';
    const std::string footer = app->get_footer();
    return footer.empty() ? text : text + footer + '\n';
  }

 private:
  std::string usage_;
};

}  // namespace

OptionSet::OptionSet(const std::string& description, const std::string& program)
    : own_(std::make_unique<CLI::App>(description, program)), app_(own_.get()) {
  set_usage("");
}

OptionSet::OptionSet(CLI::App* command) : app_(command) { set_usage(""); }

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

void OptionSet::set_usage(const std::string& text) {
  usage_ = text;
  app_->formatter(std::make_shared<HelpFormatter>(text));
}

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
  return app_->help();
}

bool OptionSet::chosen() const { return app_->parsed(); }

std::string OptionSet::name() const { return app_->get_name(); }

bool OptionSet::any_given_of(const std::string& group) const {
  const std::vector<CLI::Option*> all = app_->get_options();
  return std::any_of(all.begin(), all.end(), [&group](const CLI::Option* option) {
    return option->get_group() == group && option->count() > 0;
  });
}

namespace {

OptionFacts facts_of(const CLI::Option& option) {
  OptionFacts facts{
      .names = {}, .word = "", .choices = {}, .explanation = option.get_description(), .group = option.get_group()};
  for (const std::string& name : option.get_snames()) facts.names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) facts.names.push_back("--" + name);
  if (facts.names.empty()) facts.names.push_back(option.get_single_name());
  if (option.get_items_expected_max() == 0) return facts;
  // "TEXT:{csv,json}"
  const std::string type = option.get_type_name();
  const std::size_t brace = type.find(":{");
  facts.word = type.substr(0, type.find(':'));
  if (brace == std::string::npos || !type.ends_with('}')) return facts;
  std::istringstream listed(type.substr(brace + 2, type.size() - brace - 3));
  for (std::string choice; std::getline(listed, choice, ',');) facts.choices.push_back(choice);
  return facts;
}

}  // namespace

CommandFacts OptionSet::facts() const {
  CommandFacts facts{.name = app_->get_name(),
                     .summary = app_->get_description(),
                     .usage = usage_,
                     .footer = app_->get_footer(),
                     .options = {},
                     .commands = {}};
  for (const CLI::Option* option : std::as_const(*app_).get_options()) facts.options.push_back(facts_of(*option));
  for (const std::unique_ptr<OptionSet>& command : commands_) facts.commands.push_back(command->facts());
  return facts;
}

std::string help_topic(const std::vector<std::string>& arguments) {
  const auto end = std::find(arguments.begin(), arguments.end(), "--");
  const auto help =
      std::find_if(arguments.begin(), end, [](const std::string& word) { return word == "--help" || word == "-h"; });
  if (help == end || help + 1 == end || (help + 1)->starts_with('-')) return "";
  return *(help + 1);
}

}  // namespace accelscope::command_line
