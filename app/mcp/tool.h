// The tools of the server: rows of a table, each with its arguments and the function that answers. Answers are short
// JSON with the ids of what they rest on; whatever is left out is counted and said.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "app/mcp/arguments.h"
#include "app/mcp/shelf.h"

namespace accelscope::app {

struct ScreenshotWish {
  std::vector<std::string> inputs;
  std::string output;
  int width = 1600, height = 900;
  bool light = false;
  std::string range;
  std::vector<std::string> panels;
  std::optional<EventId> select;
  std::string search;
};

// What the program does elsewhere: drawing, and whole commands of the command line.
struct ServerDoors {
  std::function<Result<void>(const ScreenshotWish&)> screenshot;
  struct CommandOutcome {
    int code = 0;
    std::string out, err;
  };
  std::function<CommandOutcome(const std::vector<std::string>& arguments)> command;
};

struct ToolCall {
  SessionShelf& shelf;
  const ToolArguments& arguments;
  CallControl& control;
  const ServerDoors& doors;
};

struct ToolAnswer {
  std::string text;  // JSON
  std::string png;   // the bytes of a picture; "": none
};

enum class ArgumentType : std::uint8_t { text, integer, texts };

struct ToolArgument {
  std::string_view name;
  ArgumentType type = ArgumentType::text;
  std::string_view description;
  bool required = false;
};

struct Tool {
  std::string_view name;
  std::string_view title;
  std::string_view description;
  std::vector<ToolArgument> arguments;
  Result<ToolAnswer> (*run)(ToolCall& call);
  bool changes = false;  // files or devices
};

[[nodiscard]] const std::vector<Tool>& tools();
[[nodiscard]] const Tool* find_tool(std::string_view name);
// As tools/list has them: {"name": ..., "inputSchema": {...}}.
[[nodiscard]] std::string tool_json(const Tool& tool);
// Fails on arguments that the tool does not have.
[[nodiscard]] Result<ToolAnswer> run_tool(const Tool& tool, ToolCall& call);

// The arguments that choose events of a session, and most answers' size.
inline constexpr ToolArgument kSessionArgument{
    "session", ArgumentType::text, "Name that open_session gave (s1), or the path of a session file or profile", true};
inline constexpr ToolArgument kRangeArgument{"range", ArgumentType::text,
                                             "Time range: 12.5us:40us, 10%:20% or #marker1:#marker2"};
inline constexpr ToolArgument kFilterArgument{
    "filter", ArgumentType::texts, "Searches that events must match, as in the viewer; one beginning with - excludes"};
inline constexpr ToolArgument kTracksArgument{"tracks", ArgumentType::texts, "Names or numbers of tracks"};
inline constexpr ToolArgument kMaxRowsArgument{"max_rows", ArgumentType::integer, "Rows at most; usually 30"};

}  // namespace accelscope::app
