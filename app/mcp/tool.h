// The tools of the server: rows of a table, each with its arguments and the function that answers. Answers are short
// JSON with the ids of what they rest on; whatever is left out is counted and said.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "app/mcp/shelf.h"
#include "core/base/result.h"
#include "core/model/event_filter.h"
#include "core/scan/chunk_scan.h"

namespace accelscope::app::mcp {

// The arguments of a tool by their names. Errors name the argument and what it takes.

class ToolArguments {
 public:
  // Of a JSON object. Fails where it is none.
  [[nodiscard]] static Result<ToolArguments> read(std::string_view object);

  [[nodiscard]] bool has(std::string_view name) const;
  [[nodiscard]] std::vector<std::string> names() const;
  [[nodiscard]] Result<std::string> required_text(std::string_view name) const;
  [[nodiscard]] Result<std::string> text(std::string_view name, std::string otherwise = "") const;
  [[nodiscard]] Result<std::int64_t> integer(std::string_view name, std::int64_t otherwise, std::int64_t least,
                                             std::int64_t most) const;
  [[nodiscard]] Result<std::optional<std::uint64_t>> id(std::string_view name) const;  // a number or its digits
  // A text alone is a list of one.
  [[nodiscard]] Result<std::vector<std::string>> texts(std::string_view name) const;

 private:
  enum class Kind : std::uint8_t { text, number, list, other };
  struct Value {
    Kind kind = Kind::other;
    std::string text;
  };
  [[nodiscard]] const Value* find(std::string_view name) const;
  std::map<std::string, Value, std::less<>> values_;
};

struct ScreenshotIntent {
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
  std::function<Result<void>(const ScreenshotIntent&)> screenshot;
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

// The tools by what they are about; tool.cpp joins them.

[[nodiscard]] std::vector<Tool> session_tools();  // opening, listing, figures
[[nodiscard]] std::vector<Tool> table_tools();    // SQL, listings, costs, advice
[[nodiscard]] std::vector<Tool> event_tools();    // one event and what it waited for
[[nodiscard]] std::vector<Tool> program_tools();  // pictures, captures, whole commands
[[nodiscard]] std::vector<Tool> compare_tools();  // several sessions

// What most tools begin with.
[[nodiscard]] Result<ShelvedSession*> session_of(ToolCall& call);
[[nodiscard]] QueryContext query_of(ToolCall& call, const ShelvedSession& session);
// Of the arguments range, filter and tracks.
[[nodiscard]] Result<EventFilter> filter_of(ToolCall& call, const ShelvedSession& session);

}  // namespace accelscope::app::mcp
