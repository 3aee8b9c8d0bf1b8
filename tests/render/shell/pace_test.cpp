// A window at rest: which frames are drawn when nobody touches it, what comes by itself, and how fast it takes what is
// typed.
#include <doctest/doctest.h>

#include "render/shell/frame_loop.h"
#include "render/shell/null_shell.h"
#include "render/shell/shell.h"
#include "tests/render/widgets/gallery.h"

using namespace accelscope::render;

TEST_CASE("rest: a tooltip comes in a window in which nothing else happens, and stays") {
  Gallery gallery;
  gallery.show_card = false;
  NullShell shell(gallery);
  REQUIRE(shell.hover("button.Disabled"));
  (void)shell.rest(0.5);
  CHECK(shell.shows("Nothing is selected"));
  (void)shell.rest(20);
  shell.frame();  // something else makes a frame, long after
  CHECK(shell.shows("Nothing is selected"));
}

TEST_CASE("rest: a window in which nothing happens draws nothing") {
  Gallery gallery;
  gallery.show_card = false;
  NullShell shell(gallery);
  REQUIRE(shell.hover("button.Disabled"));
  (void)shell.rest(1);
  CHECK(shell.rest(3'600) == 0);
}

TEST_CASE("rest: a menu that opens by itself beside its item is seen without a further touch") {
  Gallery gallery;
  NullShell shell(gallery);
  REQUIRE(shell.click("menu.File"));
  REQUIRE(shell.hover("menu.File.recent"));
  (void)shell.rest(1);
  CHECK(shell.find("menu.File.recent.one") != nullptr);
  CHECK(shell.rest(60) == 0);
}

TEST_CASE("pace: an event makes three frames, a timer the frame that it asked for") {
  FramePace pace;
  int frames = 0;
  for (double now = 0; now < 1; now += 0.01) {
    if (!pace.due(now)) continue;
    pace.drawn(now, false, frames == 2 ? 0.5 : -1);
    ++frames;
  }
  CHECK(frames == FramePace::kFramesAfterEvent + 1);
  CHECK(pace.sleep_s(1) == FramePace::kLongestSleepS);
  pace.event();
  CHECK(pace.due(2));
  CHECK(pace.sleep_s(2) == 0);
  pace.rest();
  CHECK_FALSE(pace.due(2));
  pace.drawn(2, false, 0.125);
  CHECK(pace.sleep_s(2) == 0.125);
  CHECK(pace.sleep_s(2.125) == 0);
}

TEST_CASE("window: it opens within the monitor, with its frame") {
  const WindowFrame frame{4, 30, 4, 4};
  const WindowPlace laptop = window_within({0, 27, 1280, 693}, frame, 1600, 900);
  CHECK(laptop.x - frame.left >= 0);
  CHECK(laptop.y - frame.top >= 27);
  CHECK(laptop.x + laptop.width + frame.right <= 1280);
  CHECK(laptop.y + laptop.height + frame.bottom <= 720);
  CHECK(laptop.width == 1272);
  const WindowPlace large = window_within({0, 0, 2560, 1440}, frame, 1600, 900);
  CHECK(large.width == 1600);
  CHECK(large.height == 900);
  CHECK(large.x > 400);  // in the middle
  const WindowPlace unknown = window_within({}, {}, 1600, 900);
  CHECK(unknown.width == 1600);
}

namespace {

// As a keyboard sends them: each letter goes down, is text, goes up.
void type_keys(InputQueue& queue, std::string_view letters) {
  for (const char letter : letters) {
    const auto key = static_cast<Key>(static_cast<int>(Key::a) + (letter - 'a'));
    queue.key(key, true);
    queue.text(std::string(1, letter));
    queue.key(key, false);
  }
}

}  // namespace

TEST_CASE("typing: letters that came since the last frame are taken together") {
  InputQueue queue;
  type_keys(queue, "flashattention");
  CHECK(queue.next_frame(true).text == "flashattention");
  CHECK(queue.empty());
}

TEST_CASE("typing: a key that acts comes after the text before it and before the text after it") {
  InputQueue queue;
  type_keys(queue, "ab");
  queue.key(Key::backspace, true);
  queue.key(Key::backspace, false);
  type_keys(queue, "c");
  Input frame = queue.next_frame(true);
  CHECK(frame.text == "ab");
  CHECK(frame.down(Key::backspace));
  frame = queue.next_frame(true);
  CHECK_FALSE(frame.down(Key::backspace));
  CHECK(frame.text == "c");
}

TEST_CASE("typing: Ctrl is down with the letter that it goes with, and a letter alone is text") {
  InputQueue queue;
  queue.key(Key::left_ctrl, true);
  queue.key(Key::a, true);
  queue.key(Key::a, false);
  queue.key(Key::left_ctrl, false);
  type_keys(queue, "x");
  Input frame = queue.next_frame(true);
  CHECK(frame.modifiers().ctrl);
  CHECK(frame.down(Key::a));
  CHECK(frame.text.empty());
  frame = queue.next_frame(true);
  CHECK_FALSE(frame.modifiers().ctrl);
  CHECK(frame.text == "x");
}

TEST_CASE("typing: what follows the key that opens a field waits until the field has the keyboard") {
  InputQueue queue;
  queue.key(Key::left_ctrl, true);
  queue.key(Key::f, true);
  queue.key(Key::f, false);
  queue.key(Key::left_ctrl, false);
  type_keys(queue, "dma");
  CHECK(queue.next_frame(false).down(Key::f));
  CHECK(queue.next_frame(false).text.empty());
  std::string text;
  for (int i = 0; i < 3; ++i) text += queue.next_frame(true).text;
  CHECK(text == "dma");
}

TEST_CASE("keys: while nobody types each press has a frame of its own, and two never meet") {
  InputQueue queue;
  type_keys(queue, "wd");
  const Input first = queue.next_frame(false);
  CHECK(first.down(Key::w));
  CHECK(first.text == "w");
  CHECK_FALSE(first.down(Key::d));
  bool came = false;
  for (int i = 0; i < 5; ++i) {
    const Input frame = queue.next_frame(false);
    CHECK_FALSE((frame.down(Key::w) && frame.down(Key::d)));
    came = came || frame.down(Key::d);
  }
  CHECK(came);
}

TEST_CASE("menu: letters that are typed into it mark an item, and go nowhere else") {
  Gallery gallery;
  NullShell shell(gallery);
  REQUIRE(shell.click("menu.File"));
  shell.key(Key::o);
  shell.type("o");
  shell.key(Key::enter);
  CHECK(gallery.chosen_menu_item == "open");
}
