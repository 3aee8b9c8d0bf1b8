// Input, scale and text: what every panel relies on.
#include <doctest/doctest.h>
#include <imgui.h>

#include <cmath>
#include <set>
#include <string>
#include <vector>

#include "render/base/draw.h"
#include "render/base/fonts.h"
#include "render/base/imgui_compat.h"
#include "render/shell/null_shell.h"
#include "tests/render/widgets/gallery.h"

using namespace accelscope::render;

TEST_CASE("input: a click that comes and goes between two frames is still a click") {
  InputQueue queue;
  queue.mouse_moved({10, 10});
  queue.mouse_button(MouseButton::left, true);
  queue.mouse_button(MouseButton::left, false);
  CHECK_FALSE(queue.next_frame(false).down(MouseButton::left));  // only the pointer came
  CHECK(queue.next_frame(false).down(MouseButton::left));
  CHECK_FALSE(queue.empty());
  CHECK_FALSE(queue.next_frame(false).down(MouseButton::left));
  CHECK(queue.empty());
}

TEST_CASE("input: a press happens where the pointer was, not where it went afterwards") {
  InputQueue queue;
  queue.mouse_moved({10, 10});
  queue.mouse_button(MouseButton::left, true);
  queue.mouse_moved({500, 10});
  const Input hovering = queue.next_frame(false);  // so that what lies below the pointer is known when it is pressed
  CHECK(hovering.mouse.x == 10);
  CHECK_FALSE(hovering.down(MouseButton::left));
  const Input pressed = queue.next_frame(false);
  CHECK(pressed.mouse.x == 10);
  CHECK(pressed.down(MouseButton::left));
  CHECK(queue.next_frame(false).mouse.x == 500);
}

TEST_CASE("input: what a key begins is under way before the press that follows it") {
  InputQueue queue;
  queue.key(Key::b, true);
  queue.mouse_button(MouseButton::left, true);
  CHECK_FALSE(queue.next_frame(false).down(MouseButton::left));
  CHECK(queue.next_frame(false).down(MouseButton::left));
}

TEST_CASE("input: wheel and text last one frame, keys until they are released") {
  InputQueue queue;
  queue.wheel({0, 1});
  queue.wheel({0, 2});
  queue.text("a");
  const Input first = queue.next_frame(false);
  CHECK(first.wheel.y == 3);
  CHECK(first.text == "a");
  queue.key(Key::left_ctrl, true);
  CHECK(queue.next_frame(false).modifiers().ctrl);
  const Input later = queue.next_frame(false);
  CHECK(later.wheel.y == 0);
  CHECK(later.text.empty());
  CHECK(later.modifiers().ctrl);
  queue.focus(false);
  CHECK_FALSE(queue.next_frame(false).modifiers().ctrl);
}

TEST_CASE("scale: at 200 % every widget has twice its size") {
  Gallery gallery;
  NullShell once(gallery, {.width = 1200, .height = 760, .scale = 1});
  const Rect small = *once.find("slider");
  const Rect small_tabs = *once.find("tabs.one");
  Gallery other;
  NullShell twice(other, {.width = 2400, .height = 1520, .scale = 2});
  const Rect large = *twice.find("slider");
  CHECK(large.width() == doctest::Approx(2 * small.width()));
  CHECK(large.height() == doctest::Approx(2 * small.height()));
  CHECK(twice.find("tabs.one")->height() == doctest::Approx(2 * small_tabs.height()));
  CHECK(twice.ui().px(1.5F) == 3);
  CHECK(once.ui().px(0.1F) == 1);
}

TEST_CASE("scale: a changed DPI scale rebuilds the fonts at the exact size") {
  Gallery gallery;
  NullShell shell(gallery);
  const float before = text_width(shell.ui(), TextStyle::body, "The quick brown fox");
  shell.resize(2400, 1520, 1.5F);
  CHECK(text_width(shell.ui(), TextStyle::body, "The quick brown fox") == doctest::Approx(1.5 * before).epsilon(0.01));
  CHECK(shell.ui().fonts().em(TextStyle::body) == doctest::Approx(19.5));
}

TEST_CASE("fonts: what is missing is said, and text is drawn all the same") {
  ImFontAtlas atlas;
  Fonts fonts;
  fonts.build(atlas, 1, {"/nowhere"});
  CHECK(fonts.problem().find("fonts-inter") != std::string::npos);
  CHECK(fonts[TextStyle::mono] != nullptr);
  CHECK(compat::glyphs_of(fonts[TextStyle::mono]).FindGlyphNoFallback('A') != nullptr);
}

TEST_CASE("fonts: the signs of the labels are there in text and in numbers") {
  Gallery gallery;
  NullShell shell(gallery);
  if (!shell.ui().fonts().problem().empty()) {
    MESSAGE("skipped: " << shell.ui().fonts().problem());
    return;
  }
  for (const TextStyle style : {TextStyle::body, TextStyle::mono, TextStyle::mono_small}) {
    for (const int sign : {0x00b5, 0x00d7, 0x2212, 0x2248, 0x2013, 0x2026, 0x2300, 0x2192, 0x2022, 0x03a3}) {
      CAPTURE(sign);
      CHECK(compat::glyphs_of(shell.ui().fonts()[style]).FindGlyphNoFallback(static_cast<ImWchar>(sign)) != nullptr);
    }
  }
}

TEST_CASE("text: a label that does not fit keeps its ends, or its beginning") {
  Gallery gallery;
  NullShell shell(gallery);
  Ui& ui = shell.ui();
  const std::string name = "qGpSimdSpillReload0";
  const float width = text_width(ui, TextStyle::small, name) * 0.7F;
  const std::string middle = fitted_text(ui, TextStyle::small, name, width, Fit::middle);
  CHECK(text_width(ui, TextStyle::small, middle) <= width);
  CHECK(middle.substr(0, 2) == "qG");
  CHECK(middle.back() == '0');
  CHECK(middle.find("…") != std::string::npos);
  const std::string cut = fitted_text(ui, TextStyle::small, name, width, Fit::ellipsis);
  CHECK(cut.substr(cut.size() - 3) == "…");
  CHECK(fitted_text(ui, TextStyle::small, name, 10000, Fit::middle) == name);
  CHECK(fitted_text(ui, TextStyle::small, name, 2, Fit::middle).empty());
  CHECK(fitted_text(ui, TextStyle::small, "µµµµµµµµ", 30, Fit::middle).find("\xb5\xb5") == std::string::npos);
}

TEST_CASE("text: labels of one list that do not fit are cut where they differ") {
  Gallery gallery;
  NullShell shell(gallery);
  Ui& ui = shell.ui();
  for (const std::vector<std::string>& names : {std::vector<std::string>{"QUASAR_NEO0_TRISC0", "QUASAR_NEO0_TRISC1",
                                                                         "QUASAR_NEO0_TRISC2", "QUASAR_NEO1_TRISC0"},
                                                {"identity_54_sg0000", "identity_45_sg0000", "k_ref"},
                                                {"stage_one_input_of_the_layer", "stage_two_input_of_the_layer"}}) {
    for (const float share : {0.8F, 0.6F}) {
      std::set<std::string> cut;
      for (const std::string& name : names) {
        const float width = share * text_width(ui, TextStyle::small, names.front());
        cut.insert(fitted_apart(ui, TextStyle::small, name, width, Fit::middle, names));
        CHECK(text_width(ui, TextStyle::small, fitted_apart(ui, TextStyle::small, name, width, Fit::middle, names)) <=
              width);
      }
      CAPTURE(names.front());
      CAPTURE(share);
      CHECK(cut.size() == names.size());
    }
  }
}

TEST_CASE("theme: switching it shows with the next frame") {
  Gallery gallery;
  NullShell shell(gallery);
  CHECK(shell.ui().theme().kind() == ThemeKind::dark);
  REQUIRE(shell.click("theme"));
  CHECK(shell.ui().theme().kind() == ThemeKind::light);
}

TEST_CASE("null shell: the screen can be read as text from top to bottom") {
  Gallery gallery;
  NullShell shell(gallery);
  const std::string text = shell.visible_text();
  CHECK(text.find("Accelscope") < text.find("Controls"));
  CHECK(text.find("Controls") < text.find("38,412 events"));
  CHECK(shell.draw_data()->TotalVtxCount > 1000);
}
