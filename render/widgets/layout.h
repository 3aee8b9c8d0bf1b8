// What panels are framed with: tab strips, headings, scrolled areas.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "render/base/draw.h"
#include "render/widgets/interact.h"

namespace accelscope::render {

struct Tab {
  std::string name;  // identity, unique in its strip; registers as STRIP.NAME, its x as STRIP.NAME.close
  std::string label;
  std::string detail = {};  // text3 behind the label: "trn1-07 nc0"
  const char* icon = nullptr;
  std::string badge = {};  // a count: "3"
  bool closable = false;
  std::string tooltip = {};
  bool pinned = false;    // a small pin behind the label
  bool updating = false;  // a clock on its margin, STRIP.NAME.updating: it comes and goes, and moves no tab
};
struct TabStripOptions {
  bool can_add = false;      // a plus behind the last tab (STRIP.add)
  float reserved_right = 0;  // pixels kept free on the right for the caller's icons
};
struct TabStripResult {
  std::optional<std::size_t> chosen;
  std::optional<std::size_t> closed;
  std::optional<std::size_t> right_clicked;
  std::optional<std::size_t> dragged;  // it follows the pointer, out of the strip or along it
  std::optional<std::size_t> dropped;  // and has been let go in this frame
  bool add = false;
};
// A strip on bg0; the active tab is bg2 with a 2 px accent line on top. Tabs that do not fit are reached by a menu.
TabStripResult tab_strip(Ui& ui, std::string_view name, const Rect& rect, std::span<const Tab> tabs,
                         std::optional<std::size_t> active, const TabStripOptions& options = {});

// "Usage  SBUF, all partitions": a semibold name and a hint behind it. Returns the x where it ends.
float heading(Ui& ui, const Rect& row, std::string_view title, std::string_view hint = {});
// "Timing" in small_strong text2 over a line: a group of fields. Cuts its 24 px from the area.
void group_heading(Ui& ui, Rect& area, std::string_view title);

// A part that scrolls vertically when its content is higher than it:
//   ScrollArea scroll(ui, "details", area, content_height);
//   Rect content = scroll.content();   // moved by the scroll position; clip and wheel are taken care of
class ScrollArea {
 public:
  ScrollArea(Ui& ui, std::string_view name, const Rect& area, float content_height, float content_width = 0);
  ~ScrollArea();
  ScrollArea(const ScrollArea&) = delete;
  ScrollArea& operator=(const ScrollArea&) = delete;
  [[nodiscard]] const Rect& content() const noexcept { return content_; }  // full content, in window pixels
  [[nodiscard]] const Rect& visible() const noexcept { return visible_; }
  void show(const Rect& part);  // scrolls so that this part of the content is visible
  void move(float down);        // scrolls by so much, at once

 private:
  Rect content_;
  Rect visible_;
};

}  // namespace accelscope::render
