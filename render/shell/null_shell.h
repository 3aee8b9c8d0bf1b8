// The shell for tests: no window, no GL. Drives frames with synthetic input, one change of state per frame, and answers
// what is on the screen.
//   NullShell shell(client);
//   shell.click("top.record");
//   CHECK(shell.shows("Stop"));
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "render/shell/shell.h"

struct ImDrawData;

namespace accelscope::render {

struct NullShellOptions {
  int width = 1600;
  int height = 900;
  float scale = 1;
  ThemeKind theme = ThemeKind::dark;
};

class NullShell {
 public:
  explicit NullShell(FrameClient& client, const NullShellOptions& options = {});
  ~NullShell();
  NullShell(const NullShell&) = delete;
  NullShell& operator=(const NullShell&) = delete;

  // ---- Frames
  void frame(int count = 1);  // each 1/60 s later than the last
  void wait(double seconds);  // frames until that much time has passed
  // Frames until the client has settled; sleeps while it works. False after this many frames and ten minutes.
  [[nodiscard]] bool settle(int max_frames = 2000);
  // As the window does while nobody touches it: time passes, and only frames that are due are drawn. Returns how many.
  int rest(double seconds);
  // So many of the longest sleeps of a window that nobody touches, before each of which other threads end their work.
  // Returns how many frames were drawn: those that a wake-up, a redraw or a time asked for.
  int sleep(int times, const std::function<void()>& others_work);
  // The same until the condition holds, work of other threads included; false after ten minutes of a clock on the wall.
  [[nodiscard]] bool rest_until(const std::function<bool()>& condition);

  // ---- Input. A name is a widget's; clicking a name that is not on the screen returns false.
  void move(Point to);
  void press(MouseButton button = MouseButton::left);
  void release(MouseButton button = MouseButton::left);
  void wheel(Point notches);
  [[nodiscard]] bool click(std::string_view name, MouseButton button = MouseButton::left, int times = 1);
  void click(Point at, MouseButton button = MouseButton::left, int times = 1);
  [[nodiscard]] bool hover(std::string_view name);
  void drag(Point from, Point to, MouseButton button = MouseButton::left, int steps = 8);
  void key(Key key, Modifiers modifiers = {});
  void hold(Key key, bool down = true);  // a modifier that stays down over clicks and drags
  void type(std::string_view utf8);
  void drop_files(const std::vector<std::string>& paths);
  void resize(int width, int height, float scale);

  // ---- What is on the screen
  [[nodiscard]] const Rect* find(std::string_view name) const;
  [[nodiscard]] bool shows(std::string_view text) const;                        // some drawn text contains it
  [[nodiscard]] bool shows_in(const Rect& place, std::string_view text) const;  // some that lies in the middle of it
  [[nodiscard]] std::string visible_text() const;     // all of it, top to bottom, one line per text
  [[nodiscard]] const ImDrawData* draw_data() const;  // of the last frame
  [[nodiscard]] const std::string& clipboard() const;
  [[nodiscard]] bool idle() const;  // the last frame asked for no further one
  [[nodiscard]] Ui& ui();

 private:
  struct State;
  void draw();

  std::unique_ptr<State> state_;
};

}  // namespace accelscope::render
