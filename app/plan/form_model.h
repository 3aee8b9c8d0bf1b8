// The form "Connect and record" as it is typed: where, what and how. Turned into a plan and checked here, drawn by
// app/connect/form*.cpp. No drawing, no waiting.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "capture/client/capture_status.h"

namespace accelscope::app::plan {

enum class Where : std::uint8_t { local, agent, ssh };
inline constexpr std::size_t kWhereCount = 3;

inline constexpr const char* kUsualAgent = "127.0.0.1:7420";

struct CaptureForm {
  Where where = Where::local;
  std::string agent_hosts = kUsualAgent;  // "trn1-07:7420, trn1-08:7420"
  std::string ssh_hosts;                  // "ubuntu@trn1-07", with or without ssh://
  std::string token_file;
  std::string ssh_config_file;
  std::string ssh_identity_file;
  capture::wire::StartMode mode = capture::wire::StartMode::begin;
  std::string capture_id;  // to take up or watch

  bool uses_script = false;
  std::string program;  // with its arguments, as typed in a shell
  std::string script;
  std::string directory;
  std::vector<std::string> environment;  // "NAME=VALUE" each; empty rows are left out
  std::string send;                      // files and folders, as words
  std::string results;                   // files and patterns, as words
  std::string results_folder;

  // Only options that differ from their default, each once; what may be given several times is a line of words.
  std::vector<capture::request::KindChoice> kinds;
  std::string name;
  std::string stop_after;  // "60 s", "2 min"; a bare number is seconds
  bool operator==(const CaptureForm&) const = default;
};

// What is said of the form by the agent, or by this program while no agent has answered.
struct FormFacts {
  std::vector<capture::request::KindFacts> kinds;
  std::optional<capture::wire::Welcome> welcome;
  [[nodiscard]] const capture::request::KindFacts* find(std::string_view kind) const noexcept;
};

enum class FormField : std::uint8_t {
  host,
  token,
  program,
  permission,
  script,
  directory,
  environment,
  send,
  results,
  kind,
  option,
  stop_after
};

struct FormProblem {
  FormField field = FormField::host;
  std::string text;       // what is wrong and what to try
  std::size_t index = 0;  // row of the environment; kind
  std::string option;     // of an option: its name
};

// The agents that are named, as the plan wants them: "local", "trn1-07:7420", "ssh://ubuntu@trn1-07".
[[nodiscard]] std::vector<std::string> places_of(const CaptureForm& form);
// Whether a place is well formed; nothing is looked up.
[[nodiscard]] Result<void> check_place(const std::string& place);

// Whether any chosen kind runs a program, or can look into one. Without a choice: whether the agent's own capture does,
// which it never says.
enum class ProgramUse : std::uint8_t { none, possible, needed };
[[nodiscard]] ProgramUse program_use(const CaptureForm& form, const FormFacts& facts);

// Everything that stands against starting, in the order of the form.
[[nodiscard]] std::vector<FormProblem> check_form(const CaptureForm& form, const FormFacts& facts);

// What the kind lacks on the host and what to install: its first check that fails; "" where it is ready.
[[nodiscard]] std::string missing_tool(const capture::request::KindFacts& kind);
// The same of the chosen kinds, with their names.
[[nodiscard]] std::string missing_tools(const CaptureForm& form, const FormFacts& facts);

// What is left out of the form (a program for a kind that needs none) is left out of the plan. Words that cannot be
// split are left out too: check_form() names them.
[[nodiscard]] capture::client::CapturePlan plan_of(const CaptureForm& form, const FormFacts& facts,
                                                   bool paused = false);
[[nodiscard]] CaptureForm form_of(const capture::client::CapturePlan& plan, const FormFacts& facts);

// The value that is shown and used for an option: what was typed, else the default.
[[nodiscard]] std::string option_value(const capture::request::KindChoice& choice,
                                       const capture::request::KindOption& option);
// Forgets a value that is the default.
void set_option(capture::request::KindChoice& choice, const capture::request::KindOption& option, std::string value);
// Nothing when the value, as typed, is good; else why not.
[[nodiscard]] std::string option_problem(const capture::request::KindOption& option, const std::string& value);

// "60", "60 s", "1.5 min", "2 h", "500 ms"; seconds.
[[nodiscard]] Result<double> parse_seconds(std::string_view text);

// The name of the session that Start makes: the capture's, else the program's, else the place's.
[[nodiscard]] std::string title_of_plan(const capture::client::CapturePlan& plan);
// "trn1-07_7420.accel": a name for its file.
[[nodiscard]] std::string file_of_title(std::string title);

}  // namespace accelscope::app::plan
