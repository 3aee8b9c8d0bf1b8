// The box in the top bar: searches events while one types (Ctrl+F: Enter and Shift+Enter step through the hits) or
// finds and runs commands (Ctrl+P). The list under it shows both, so that neither has to be known.
#pragma once

#include <optional>

#include "app/palette/command_table.h"
#include "app/persist/persist.h"
#include "app/session/tab.h"
#include "render/base/ui.h"

namespace accelscope::app::palette {

// "3 of 1,234" where the selected event is a hit of the session's search, else "1,234 events match"; "" until they are
// counted.
[[nodiscard]] std::string hit_count_text(const session::SessionTab& tab);

class CommandBox {
 public:
  enum class Mode : std::uint8_t { search, command };

  void focus(Mode mode);
  [[nodiscard]] const std::string& text() const noexcept { return text_; }
  // tab: null on the start page. inform: a line for the status bar.
  // searches: those that were made before, shown below the empty box, and where a new one is kept.
  void draw(render::Ui& ui, const render::Rect& rect, const CommandTable& commands, persist::QueryHistory& searches,
            session::SessionTab* tab, const std::function<void(std::string)>& inform,
            const std::function<void(EventId)>& reveal);
  // The commands that were run from here, the last one first; kept between runs by the settings.
  [[nodiscard]] const std::vector<std::string>& used() const noexcept { return used_; }
  void set_used(std::vector<std::string> ids) { used_ = std::move(ids); }
  [[nodiscard]] bool in_use() const noexcept { return opening_ > 0 || focused_ || list_open_; }
  // To the next or previous hit of what was typed, as soon as they are found; wraps round.
  void step(session::SessionTab& tab, bool forward, const std::function<void(std::string)>& inform,
            const std::function<void(EventId)>& reveal);

 private:
  [[nodiscard]] std::vector<const Command*> found_in(const CommandTable& commands) const;
  void draw_list(render::Ui& ui, const render::Rect& anchor, const std::vector<const Command*>& found,
                 session::SessionTab* tab);
  void draw_history(render::Ui& ui, const render::Rect& anchor, const persist::QueryHistory& searches);
  // The box is empty and in use: Up, Down and a click choose an earlier search, Enter takes it.
  void recall(render::Ui& ui, const render::Rect& rect, const persist::QueryHistory& searches, session::SessionTab& tab,
              bool focused, bool submitted);
  [[nodiscard]] std::string search_line(const session::SessionTab& tab) const;

  Mode mode_ = Mode::search;
  std::string text_;
  bool focus_now_ = false;
  bool focused_ = false;  // in the last frame
  int opening_ = 0;       // frames in which the keyboard that was asked for may still come
  bool list_open_ = false;
  bool list_hovered_ = false;
  int chosen_ = 0;            // row of the list
  bool show_chosen_ = false;  // it was moved by a key: scrolled into sight
  int recalled_ = -1;         // of the earlier searches; below 0: none
  bool recall_clicked_ = false;
  std::vector<std::string> used_;  // commands that were run from here, the last one first
  std::string run_id_;             // chosen by a click in the list
  bool search_clicked_ = false;
  struct PendingStep {
    const session::SessionTab* tab;
    std::string text;
    bool forward;
  };
  std::optional<PendingStep> pending_step_;        // asked for before its hits were found
  const session::SessionTab* followed_ = nullptr;  // whose search is in the box
  std::string followed_text_;
};

}  // namespace accelscope::app::palette
