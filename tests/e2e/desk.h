// A virtual display with the real viewer on it, driven like a user's hand: xdotool moves the pointer and presses keys.
// What the window shows comes from the file that the viewer writes whenever that changes (--dump-state), so a test
// waits for what it wants to see and clicks what it finds by name.
#pragma once

#include <simdjson.h>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tests/support/process.h"

namespace accelscope::test {

struct Place {
  int x = 0, y = 0;
};

// What the viewer said last.
class Screen {
 public:
  static std::optional<Screen> read(const std::string& path);

  [[nodiscard]] bool settled() const;
  [[nodiscard]] bool shows(std::string_view text) const;  // some text on the screen contains it
  [[nodiscard]] bool has(const std::string& widget) const { return find(widget).has_value(); }
  [[nodiscard]] std::vector<std::string> texts() const;  // all of them
  // At the given shares of its width and height.
  [[nodiscard]] std::optional<Place> find(const std::string& widget, double across = 0.5, double down = 0.5) const;
  [[nodiscard]] int count(const char* what) const;  // "clicks", "keys", "notches": that the viewer has had
  [[nodiscard]] std::vector<std::string> widgets(std::string_view prefix) const;
  // Of the first tab: "view", "selected", "markers" ... as JSON.
  [[nodiscard]] std::string tab(std::string_view key) const;
  [[nodiscard]] std::string last_error() const;
  [[nodiscard]] const std::string& text() const noexcept { return text_; }

 private:
  explicit Screen(std::string text) : text_(std::move(text)) {}
  std::string text_;
  std::shared_ptr<simdjson::dom::parser> parser_;
  simdjson::dom::element root_;
};

class Desk {
 public:
  explicit Desk(int width = 1600, int height = 900);
  ~Desk();
  Desk(const Desk&) = delete;
  Desk& operator=(const Desk&) = delete;

  [[nodiscard]] std::string file(const char* name) const { return (folder_ / name).string(); }
  void run_program(const std::vector<std::string>& arguments);  // accelscope, which must succeed

  // And waits until it has settled.
  void open_viewer(const std::string& target, const std::vector<std::string>& options = {});
  // Without the file that says what is seen, which makes frames: as users have it. Only picture() tells of it.
  void open_silent_viewer(const std::string& target);
  // What is on the display, 0xRRGGBB, row by row.
  [[nodiscard]] std::vector<std::uint32_t> picture() const;
  void wait_until_still();  // the picture has not changed for a while
  [[nodiscard]] int width() const noexcept { return width_; }
  // The next state for which the condition holds; the test fails if none comes.
  Screen wait_until(const char* what, const std::function<bool(const Screen&)>& condition);
  Screen settle();  // once what was done before has been seen and nothing is under way

  void move(Place to);
  [[nodiscard]] Place pointer() const noexcept { return pointer_; }
  void click(Place at, int button = 1);
  void click_on(const std::string& widget);
  void drag(Place from, Place to, int button = 1);
  void wheel(Place at, int notches);  // > 0: away from the user
  void key(const std::string& keys);  // "ctrl+q"
  void type(const std::string& text);

  // What the viewer knew when it closed.
  Screen close_by_key();
  Screen close_by_signal();
  void interrupt();  // of one that tells nothing

 private:
  void response(std::vector<std::string> arguments);
  Screen closed();

  int width_ = 0;
  int clicks_ = 0, keys_ = 0, notches_ = 0;  // of this viewer
  Place pointer_;

  std::filesystem::path folder_;
  std::optional<Process> display_;
  std::optional<Process> viewer_;
};

}  // namespace accelscope::test
