#include <fmt/format.h>

#include "app/mcp/json_text.h"
#include "app/mcp/tool_rows.h"
#include "app/terminal/command.h"

namespace accelscope::app {
namespace {

// Of a session for a command of its own, which opens it again.
Result<std::string> path_of_session(ToolCall& call, const std::string& name) {
  const auto session = call.shelf.find(name, call.control);
  if (!session) return session.error();
  if ((*session)->paths.size() != 1) {
    return Error{
        fmt::format("{}: was opened from several files; import them into one first: accelscope import A B -o S", name)};
  }
  return (*session)->paths.front();
}

// A command whose output is JSON is the answer; its exit status 1 may be a verdict.
Result<ToolAnswer> answer_of_command(ToolCall& call, const std::vector<std::string>& words) {
  const ServerDoors::CommandOutcome outcome = call.doors.command(words);
  if (outcome.out.empty() || outcome.code == kExitUsage) {
    return Error{outcome.err.empty() ? fmt::format("{} ended with {}", words.front(), outcome.code) : outcome.err};
  }
  return ToolAnswer{outcome.out, ""};
}

Result<ToolAnswer> compare_tool(ToolCall& call) {
  const auto base = call.arguments.required_text("base");
  if (!base) return base.error();
  const auto others = call.arguments.texts("others");
  if (!others) return others.error();
  if (others->empty()) return Error{"others: missing; name at least one session to set against the base"};
  const auto by = call.arguments.texts("by");
  if (!by) return by.error();
  const auto group_by = call.arguments.text("group_by");
  if (!group_by) return group_by.error();
  const auto rows = call.arguments.integer("max_rows", 12, 1, 5'000);
  if (!rows) return rows.error();
  std::vector<std::string> words = {"compare"};
  std::vector<std::string> names = {*base};
  names.insert(names.end(), others->begin(), others->end());
  for (const std::string& name : names) {
    auto path = path_of_session(call, name);
    if (!path) return path.error();
    words.push_back(std::move(*path));
  }
  words.insert(words.end(), {"--format", "json", "--quiet", "--rows", std::to_string(*rows)});
  for (const std::string& each : *by) words.insert(words.end(), {"--by", each});
  if (!group_by->empty()) words.insert(words.end(), {"--group-by", *group_by});
  return answer_of_command(call, words);
}

}  // namespace

std::vector<Tool> compare_tools() {
  return {
      {"compare",
       "Compare sessions",
       "Two or more sessions side by side: verdict, figures with their ratio and confidence, and what costs more or "
       "less "
       "by kernel, opcode, layer, line or finding. Captures of one configuration (tags) are one sample.",
       {{"base", ArgumentType::text, "Session that the others are set against (s1, or a path)", true},
        {"others", ArgumentType::texts, "The other sessions", true},
        {"by", ArgumentType::texts, "metric, kernel, opcode, operation, layer, line, finding or any column"},
        {"group_by", ArgumentType::text, "Tag whose values make a configuration"},
        kMaxRowsArgument},
       compare_tool},
  };
}

}  // namespace accelscope::app
