// The command table and its keys.
#include <doctest/doctest.h>

#include "app/palette/command_table.h"
#include "core/base/text.h"

using namespace accelscope;
using namespace accelscope::app;
using accelscope::render::Key;

TEST_CASE("keys: chords read as they are written") {
  CHECK(palette::parse_chord("Ctrl+Shift+S")->key == Key::s);
  CHECK(palette::parse_chord("Ctrl+Shift+S")->modifiers == accelscope::render::Modifiers{true, true, false});
  CHECK(palette::parse_chord("F12")->key == Key::f12);
  CHECK(palette::parse_chord("Ctrl++")->key == Key::equals);
  CHECK(palette::parse_chord("?")->modifiers.shift);
  CHECK(palette::parse_chord("Alt+Left")->key == Key::left);
  CHECK_FALSE(palette::parse_chord("").has_value());
  CHECK_FALSE(palette::parse_chord("Ctrl+Nothing").has_value());
  CHECK_FALSE(palette::parse_chord("F13").has_value());
}

TEST_CASE("keys: single letters do not fire while a name is typed, Ctrl and function keys do") {
  CHECK_FALSE(palette::works_while_typing(*palette::parse_chord("M")));
  CHECK_FALSE(palette::works_while_typing(*palette::parse_chord("Shift+0")));
  CHECK(palette::works_while_typing(*palette::parse_chord("Ctrl+S")));
  CHECK(palette::works_while_typing(*palette::parse_chord("F3")));
}

TEST_CASE("text match: begins before contains, all words must occur") {
  CHECK(match_score("Save as...", "save") > match_score("Close and save", "sav"));
  CHECK(match_score("Reset the panels", "pan res") > 0);
  CHECK(match_score("Reset the panels", "pan x") == 0);
  CHECK(matches_words("anything", "   "));
}
