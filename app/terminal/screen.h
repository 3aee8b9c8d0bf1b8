// A terminal that a command draws on by itself: its other screen without a cursor, keys as they are pressed. However
// the program ends or is stopped, the terminal is as it was before.
//
//   auto screen = Screen::open();
//   while (!screen->ended()) { screen->show(lines(screen->size())); if (auto key = screen->wait_key(250ms)) ... }
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/base/result.h"

namespace accelscope::app::terminal {

struct ScreenLine {
  std::string text;
  bool is_head = false;  // light on dark is turned round
};

struct ScreenSize {
  std::size_t columns = 80, rows = 24;
  bool operator==(const ScreenSize&) const = default;
};
// Of the terminal behind the standard output, else of COLUMNS and LINES, else the one above.
[[nodiscard]] ScreenSize terminal_size();

using ScreenKey = char32_t;  // a character, or one of these
inline constexpr ScreenKey kKeyUp = 0x110000, kKeyDown = 0x110001, kKeyPageUp = 0x110002, kKeyPageDown = 0x110003,
                           kKeyHome = 0x110004, kKeyEnd = 0x110005;

class Screen {
 public:
  [[nodiscard]] static Result<std::unique_ptr<Screen>> open();  // of the standard streams; one at a time
  ~Screen();
  Screen(const Screen&) = delete;
  Screen& operator=(const Screen&) = delete;

  // Writes the rows that differ from those shown, cut to the terminal's size; control characters are taken out.
  void show(const std::vector<ScreenLine>& lines);
  // Nothing: the time is over, or a signal came (a new size, an end).
  [[nodiscard]] std::optional<ScreenKey> wait_key(std::chrono::milliseconds limit);
  [[nodiscard]] int ended() const noexcept;  // the signal that asks to end; 0: none
  // Between the two the terminal is as before, for questions.
  void leave();
  void enter();

 private:
  Screen() = default;

  std::vector<ScreenLine> shown_;
  ScreenSize shown_size_;
  std::string typed_;  // read, and not taken yet
};

}  // namespace accelscope::app::terminal
