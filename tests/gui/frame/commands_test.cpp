// The whole command table as the program fills it.
#include <doctest/doctest.h>

#include <map>

#include "app/frame/app.h"
#include "app/palette/command_table.h"

using namespace accelscope::app;

TEST_CASE("commands: every key of the program is readable and means one thing") {
  const frame::App app;
  std::map<std::string, std::string> keys;
  for (const palette::Command& command : app.commands().all()) {
    for (const std::string& key : {command.key, command.second_key}) {
      if (key.empty()) continue;
      INFO(command.id << ": " << key);
      CHECK(palette::parse_chord(key).has_value());
      const auto [place, is_new] = keys.emplace(key, command.id);
      CHECK_MESSAGE(is_new, key << " is used by " << place->second << " and " << command.id);
    }
  }
  for (const char* key : {"Ctrl+F", "Ctrl+P", "Ctrl+O", "Ctrl+S", "Ctrl+K", "F12", "Ctrl+Q", "?", "[", "]"}) {
    CHECK_MESSAGE(keys.contains(key), key);
  }
}

TEST_CASE("commands: without a session only what makes sense can run, and running the rest says no") {
  const frame::App app;
  const palette::CommandTable& commands = app.commands();
  CHECK(palette::CommandTable::can_run(*commands.find("open")));
  for (const char* id : {"save", "save_as", "close", "stop", "fit_all", "search", "predecessor", "panel_memory"}) {
    INFO(id);
    REQUIRE(commands.find(id) != nullptr);
    CHECK_FALSE(palette::CommandTable::can_run(*commands.find(id)));
    CHECK_FALSE(commands.run(id));
  }
  CHECK_FALSE(commands.run("no_such_command"));
}

TEST_CASE("commands: the palette finds by any words of title and menu, best first, disabled last") {
  const frame::App app;
  const auto found = app.commands().matching("open");
  REQUIRE_FALSE(found.empty());
  CHECK(found.front()->id == "open");
  CHECK(app.commands().matching("qwertz").empty());
  bool disabled_seen = false;
  for (const palette::Command* command : app.commands().matching("")) {
    const bool enabled = palette::CommandTable::can_run(*command);
    CHECK_FALSE((disabled_seen && enabled));
    disabled_seen |= !enabled;
  }
}
