// The command table and its keys.
#include <doctest/doctest.h>

#include <map>

#include "app/app.h"
#include "app/command_table.h"
#include "app/key_chord.h"
#include "app/text_match.h"

using namespace accelscope::app;
using accelscope::render::Key;

TEST_CASE("keys: chords read as they are written") {
  CHECK(parse_chord("Ctrl+Shift+S")->key == Key::s);
  CHECK(parse_chord("Ctrl+Shift+S")->modifiers == accelscope::render::Modifiers{true, true, false});
  CHECK(parse_chord("F12")->key == Key::f12);
  CHECK(parse_chord("Ctrl++")->key == Key::equals);
  CHECK(parse_chord("?")->modifiers.shift);
  CHECK(parse_chord("Alt+Left")->key == Key::left);
  CHECK_FALSE(parse_chord("").has_value());
  CHECK_FALSE(parse_chord("Ctrl+Nothing").has_value());
  CHECK_FALSE(parse_chord("F13").has_value());
}

TEST_CASE("keys: single letters do not fire while a name is typed, Ctrl and function keys do") {
  CHECK_FALSE(works_while_typing(*parse_chord("M")));
  CHECK_FALSE(works_while_typing(*parse_chord("Shift+0")));
  CHECK(works_while_typing(*parse_chord("Ctrl+S")));
  CHECK(works_while_typing(*parse_chord("F3")));
}

TEST_CASE("commands: every key of the program is readable and means one thing") {
  const App app;
  std::map<std::string, std::string> keys;
  for (const Command& command : app.commands().all()) {
    for (const std::string& key : {command.key, command.second_key}) {
      if (key.empty()) continue;
      INFO(command.id << ": " << key);
      CHECK(parse_chord(key).has_value());
      const auto [place, is_new] = keys.emplace(key, command.id);
      CHECK_MESSAGE(is_new, key << " is used by " << place->second << " and " << command.id);
    }
  }
  for (const char* key : {"Ctrl+F", "Ctrl+P", "Ctrl+O", "Ctrl+S", "Ctrl+K", "F12", "Ctrl+Q", "?", "[", "]"}) {
    CHECK_MESSAGE(keys.contains(key), key);
  }
}

TEST_CASE("commands: without a session only what makes sense can run, and running the rest says no") {
  const App app;
  const CommandTable& commands = app.commands();
  CHECK(CommandTable::can_run(*commands.find("open")));
  for (const char* id : {"save", "save_as", "close", "stop", "fit_all", "search", "predecessor", "panel_memory"}) {
    INFO(id);
    REQUIRE(commands.find(id) != nullptr);
    CHECK_FALSE(CommandTable::can_run(*commands.find(id)));
    CHECK_FALSE(commands.run(id));
  }
  CHECK_FALSE(commands.run("no_such_command"));
}

TEST_CASE("commands: the palette finds by any words of title and menu, best first, disabled last") {
  const App app;
  const auto found = app.commands().matching("open");
  REQUIRE_FALSE(found.empty());
  CHECK(found.front()->id == "open");
  CHECK(app.commands().matching("qwertz").empty());
  bool disabled_seen = false;
  for (const Command* command : app.commands().matching("")) {
    const bool enabled = CommandTable::can_run(*command);
    CHECK_FALSE((disabled_seen && enabled));
    disabled_seen |= !enabled;
  }
}

TEST_CASE("text match: begins before contains, all words must occur") {
  CHECK(match_score("Save as...", "save") > match_score("Close and save", "sav"));
  CHECK(match_score("Reset the panels", "pan res") > 0);
  CHECK(match_score("Reset the panels", "pan x") == 0);
  CHECK(matches_words("anything", "   "));
}
