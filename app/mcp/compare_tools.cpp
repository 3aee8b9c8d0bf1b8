#include <fmt/format.h>

#include "app/mcp/tool.h"
#include "app/terminal/command.h"

namespace accelscope::app::mcp {
namespace {

// Of a session for a command of its own, which opens it again.
Result<std::string> path_of_session(ToolCall& call, const std::string& name) {
  const auto session = TRY(call.shelf.find(name, call.control));
  if (session->paths.size() != 1) {
    return Error{
        fmt::format("{}: was opened from several files; import them into one first: accelscope import A B -o S", name)};
  }
  return session->paths.front();
}

// A command whose output is JSON is the answer; its exit status 1 may be a verdict.
Result<ToolAnswer> answer_of_command(ToolCall& call, const std::vector<std::string>& words) {
  const ServerDoors::CommandOutcome outcome = call.doors.command(words);
  if (outcome.out.empty() || outcome.code == terminal::kExitUsage) {
    return Error{outcome.err.empty() ? fmt::format("{} ended with {}", words.front(), outcome.code) : outcome.err};
  }
  return ToolAnswer{outcome.out, ""};
}

Result<ToolAnswer> compare_tool(ToolCall& call) {
  const auto base = TRY(call.arguments.required_text("base"));
  const auto others = TRY(call.arguments.texts("others"));
  if (others.empty()) return Error{"others: missing; name at least one session to set against the base"};
  const auto by = TRY(call.arguments.texts("by"));
  const auto group_by = TRY(call.arguments.text("group_by"));
  const auto pair_by = TRY(call.arguments.text("pair_by"));
  const auto columns = TRY(call.arguments.text("columns"));
  const auto rows = TRY(call.arguments.integer("max_rows", 12, 1, 5'000));
  std::vector<std::string> words = {"compare"};
  std::vector<std::string> names = {base};
  names.insert(names.end(), others.begin(), others.end());
  for (const std::string& name : names) {
    auto path = TRY(path_of_session(call, name));
    words.push_back(std::move(path));
  }
  words.insert(words.end(), {"--format", "json", "--quiet", "--rows", std::to_string(rows)});
  for (const std::string& each : by) words.insert(words.end(), {"--by", each});
  if (!group_by.empty()) words.insert(words.end(), {"--group-by", group_by});
  if (!pair_by.empty()) words.insert(words.end(), {"--pair-by", pair_by});
  if (!columns.empty()) words.insert(words.end(), {"--columns", columns});
  return answer_of_command(call, words);
}

Result<ToolAnswer> explain_tool(ToolCall& call) {
  const auto base = TRY(call.arguments.required_text("base"));
  const auto other = TRY(call.arguments.required_text("other"));
  const auto by = TRY(call.arguments.texts("by"));
  const auto rows = TRY(call.arguments.integer("max_rows", 12, 1, 5'000));
  std::vector<std::string> words = {"compare", "--explain", "--format",          "json",
                                    "--quiet", "--rows",    std::to_string(rows)};
  for (const std::string& each : by) words.insert(words.end(), {"--by", each});
  for (const std::string& name : {base, other}) {
    auto path = TRY(path_of_session(call, name));
    words.push_back(std::move(path));
  }
  return answer_of_command(call, words);
}

Result<ToolAnswer> what_if_tool(ToolCall& call) {
  const auto session = TRY(call.arguments.required_text("session"));
  const auto changes = TRY(call.arguments.texts("changes"));
  if (changes.empty()) return Error{"changes: missing; such as \"dma bandwidth x1.5\" or \"drop reload of w1\""};
  auto path = TRY(path_of_session(call, session));
  std::vector<std::string> words = {"what-if", std::move(path), "--format", "json", "--quiet"};
  for (const std::string& each : changes) words.insert(words.end(), {"--change", each});
  return answer_of_command(call, words);
}

}  // namespace

std::vector<Tool> compare_tools() {
  return {
      {"compare",
       "Compare sessions",
       "Two or more sessions side by side: first whether their results differ (checksums), then verdict, kernel "
       "against "
       "kernel by config, figures with their ratio and confidence, and what costs more or less by kernel, opcode, "
       "layer, line or finding, of memory by allocating line at the pools' peaks. Captures of equal tags are one "
       "sample.",
       {{"base", ArgumentType::text, "Session that the others are set against (s1, or a path)", true},
        {"others", ArgumentType::texts, "The other sessions", true},
        {"by", ArgumentType::texts,
         "metric, kernel, opcode, operation, layer, line, finding, memory, memory_stack or any column"},
        {"group_by", ArgumentType::text, "Tag whose values make a side; without it kernel, else all tags"},
        {"pair_by", ArgumentType::text, "Tag within which sides are compared before pooling; without it config"},
        {"columns", ArgumentType::text, "Figures beside the total, kernel by kernel: tensor, dma, mfu or any figure"},
        kMaxRowsArgument},
       compare_tool},
      {"explain_difference",
       "Explain a difference",
       "What the difference of the totals of two sessions is made of, along both critical paths, by line, wait and "
       "resource; the terms add up exactly, and each names its first event on either path.",
       {{"base", ArgumentType::text, "Session that the other is set against (s1, or a path)", true},
        {"other", ArgumentType::text, "The other session", true},
        {"by", ArgumentType::texts, "line, wait, resource or name; without it line, wait and resource"},
        kMaxRowsArgument},
       explain_tool},
      {"what_if",
       "What a change would do",
       "Replays the session's dependencies with changes: new total, new critical path, new bound. Changes are written "
       "as: dma bandwidth x1.5, dma latency x0.5, launch latency x0.5, opcode MATMUL x0.5, queue Q x2, engine Vector "
       "x0.5, stream 7 x0.5, layer mlp x0.5, line mlp.py:33 x0.5, host x0.5, drop reload of w1, merge dmas x8, "
       "remove wait S[5] on Vector, double queue Q.",
       {kSessionArgument, {"changes", ArgumentType::texts, "One change each", true}},
       what_if_tool},
  };
}

}  // namespace accelscope::app::mcp
