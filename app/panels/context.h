// What every panel gets: the look and input of the frame, the session, and the few things it may ask of the viewer.
// Panels know neither each other nor the window: what one selects, the others see in the tab.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/session/analysis.h"
#include "app/session/tab.h"
#include "render/base/geometry.h"
#include "render/base/ui.h"

namespace accelscope::app {

// Another session that is open.
struct OpenSession {
  std::string title;
  std::shared_ptr<const Store> store;
  bool grows = false;
  bool is_earlier = false;  // opened before the one in front
};

struct PanelActions {
  std::function<void(std::string_view id)> run;  // a command of the table
  std::function<void(std::string_view name)> show_panel;
  std::function<void(std::string text)> say;          // a short confirmation in the status bar
  std::function<void(EventId)> reveal;                // scrolls its lane into sight
  std::function<void(Severity, std::string)> notify;  // something went wrong
  // Another tab on the same session, whose timeline has the rows of these tracks alone and whose filter passes no
  // others: a rank of many.
  std::function<void(std::string title, std::string device, const std::vector<TrackNumber>& tracks)> open_part;
  // Of the other tabs, each session once; not the one that is in front.
  std::function<std::vector<OpenSession>()> other_sessions;
  // A tab with the timelines of this session and of the other below each other.
  std::function<void(const std::shared_ptr<const Store>& other)> open_comparison;
  // Asks for a folder; `chosen` is called only if the user names one.
  std::function<void(std::string title, std::function<void(const std::string& folder)> chosen)> choose_folder;
};

struct PanelContext {
  render::Ui& ui;
  SessionTab& tab;
  const PanelActions& actions;

  [[nodiscard]] SessionAnalysis& analysis() const { return *tab.analysis; }
  void copy(const std::string& text, const std::string& what) const {
    ui.copy_to_clipboard(text);
    actions.say("Copied " + what);
  }
  // Opens the glossary at the word: the name of a figure or of a column.
  void look_up(const std::string& word) const {
    tab.looked_up = {word, "", ""};
    actions.show_panel("tables");
  }
};

// What is drawn in a place. Which panels there are says app/frame/panel_table.cpp; each keeps what it shows of one
// session.
class Panel {
 public:
  Panel() = default;
  Panel(const Panel&) = delete;
  Panel& operator=(const Panel&) = delete;
  virtual ~Panel() = default;
  virtual void draw(const PanelContext& context, const render::Rect& area) = 0;
  // Once per frame while it is not seen: what it has put on the timeline is asked for again where the data have grown.
  virtual void keep_up(const PanelContext& context) { (void)context; }
  // It waits for a worker: frames go on while it is seen.
  [[nodiscard]] virtual bool pending() const { return false; }
  // Whether it has something to say of this session; nothing until it is known. A panel that was in front of another
  // session does not greet one that it is empty for.
  [[nodiscard]] virtual std::optional<bool> has_content(const PanelContext& context) const {
    (void)context;
    return true;
  }
  // What stands beside its title; "": nothing.
  [[nodiscard]] virtual std::string badge(const SessionTab& tab) const {
    (void)tab;
    return "";
  }
};

}  // namespace accelscope::app
