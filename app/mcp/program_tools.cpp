#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "app/mcp/tool.h"
#include "app/terminal/terminal.h"
#include "core/base/json.h"
#include "core/scan/event_mask.h"

namespace accelscope::app::mcp {
namespace {

constexpr std::int64_t kLongestCapture = 24 * 3600;  // s

std::string whole_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

Result<ScreenshotIntent> intent_of(const ToolCall& call, const ShelvedSession& session) {
  ScreenshotIntent intent;
  intent.inputs = session.paths;
  const ToolArguments& arguments = call.arguments;
  const auto width = arguments.integer("width", 1280, 320, 4096);
  const auto height = arguments.integer("height", 800, 240, 4096);
  const auto theme = arguments.text("theme", "dark");
  const auto range = arguments.text("range");
  const auto search = arguments.text("search");
  auto panels = arguments.texts("panels");
  const auto select = arguments.id("event");
  if (!width) return width.error();
  if (!height) return height.error();
  if (!range) return range.error();
  if (!search) return search.error();
  if (!panels) return panels.error();
  if (!select) return select.error();
  if (!theme) return theme.error();
  if (*theme != "dark" && *theme != "light") return Error{"theme: takes dark or light"};
  intent.width = static_cast<int>(*width);
  intent.height = static_cast<int>(*height);
  intent.light = *theme == "light";
  intent.range = *range;
  intent.search = *search;
  intent.panels = std::move(*panels);
  if (*select) intent.select = EventId{**select};
  return intent;
}

Result<ToolAnswer> screenshot_tool(ToolCall& call) {
  const auto session = TRY(session_of(call));
  auto intent = TRY(intent_of(call, *session));
  const auto folder = TRY(OwnTemporaryFolder::make("picture"));
  intent.output = folder->file("picture.png");
  TRY(call.doors.screenshot(intent));
  const std::string picture = whole_file(intent.output);
  if (picture.empty()) return Error{"the picture could not be read back; is the disk full?"};
  return ToolAnswer{json_object("session", session->name, "width", intent.width, "height", intent.height), picture};
}

Result<ToolAnswer> record_tool(ToolCall& call) {
  const ToolArguments& arguments = call.arguments;
  const auto place = TRY(arguments.required_text("place"));
  if (place.starts_with('-'))
    return Error{fmt::format("place: {} is an option; give HOST:PORT, ssh://HOST or local", place)};
  const auto output = TRY(arguments.required_text("output"));
  if (output.empty() || output == terminal::kStandardStream) return Error{"output: name a file"};
  const auto seconds = TRY(arguments.integer("seconds", 0, 0, kLongestCapture));
  const auto kinds = TRY(arguments.text("kinds"));
  const auto program = TRY(arguments.texts("program"));
  if (seconds == 0 && program.empty()) return Error{"seconds: missing; say how long, or name a program to run"};
  std::error_code error;
  if (std::filesystem::exists(output, error))
    return Error{fmt::format("{}: there is such a file; name another", output)};
  // Values stand in one word with their options: one that begins with - is no option of its own.
  std::vector<std::string> words = {"record", place, "--output=" + output, "--quiet"};
  if (seconds > 0) words.push_back("--duration=" + std::to_string(seconds));
  if (!kinds.empty()) words.push_back("--kind=" + kinds);
  if (!program.empty()) words.emplace_back("--");
  words.insert(words.end(), program.begin(), program.end());
  const ServerDoors::CommandOutcome outcome = call.doors.command(words);
  if (!std::filesystem::exists(output, error)) {
    return Error{outcome.err.empty() ? fmt::format("the capture ended with {} and wrote nothing", outcome.code)
                                     : outcome.err};
  }
  const auto session = TRY(call.shelf.open({output}, {}, call.control));
  JsonWriter answer;
  answer.begin_object("session", session->name, "output", output, "exit_status", outcome.code);
  answer.add("events", count_passing(*session->snapshot, nullptr)).add_text("said", outcome.err);
  return ToolAnswer{answer.done(), ""};
}

}  // namespace

std::vector<Tool> program_tools() {
  return {
      {"screenshot",
       "Picture of a view",
       "Draws the viewer's window with the session into a PNG: timeline and panels, at a range, with an event "
       "selected.",
       {kSessionArgument,
        kRangeArgument,
        {"panels", ArgumentType::texts, "Panels to bring to the front; NAME! maximises one. A wrong name lists all"},
        {"event", ArgumentType::integer, "Id of the event to select"},
        {"search", ArgumentType::text, "Text to search for"},
        {"width", ArgumentType::integer, "Pixels; usually 1280"},
        {"height", ArgumentType::integer, "Pixels; usually 800"},
        {"theme", ArgumentType::text, "dark (usual) or light"}},
       screenshot_tool},
      {"record",
       "Capture",
       "Captures from an agent (HOST:PORT or ssh://USER@HOST) into a new session file and opens it: for some seconds, "
       "or "
       "while a program runs.",
       {{"place", ArgumentType::text, "HOST:PORT, ssh://USER@HOST or local", true},
        {"output", ArgumentType::text, "Session file to write; it must not exist", true},
        {"seconds", ArgumentType::integer, "How long"},
        {"kinds", ArgumentType::text, "What to capture, such as opencl,python; usually what the agent offers"},
        {"program", ArgumentType::texts, "Program and its arguments, to be run while it records"}},
       record_tool,
       true},
  };
}

}  // namespace accelscope::app::mcp
