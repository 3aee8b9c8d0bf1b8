// The timeline alone in the null shell, with a store that a test has made.
#pragma once

#include <algorithm>
#include <memory>
#include <utility>

#include "app/timeline/frame.h"
#include "app/timeline/panel.h"
#include "render/shell/shell.h"
#include "tests/gui/viewer.h"

namespace accelscope::app {

class TimelineClient final : public render::FrameClient {
 public:
  // Shows the first millisecond.
  explicit TimelineClient(std::shared_ptr<Store> store) {
    session::attach(tab, pool_, std::move(store));
    tab.view = {0, 1'000'000};
    tab.remember_view();
  }
  void frame(render::Ui& ui) override {
    ui_ = &ui;
    begin();
    panel.draw(ui, tab, ui.window());
    test::wait_for_answers(tab);
  }
  [[nodiscard]] bool settled() const override { return panel.settled(tab); }
  // And what comes of it.
  void run(std::string_view id) {
    const auto commands = timeline::timeline_commands();
    const auto found = std::find_if(commands.begin(), commands.end(),
                                    [&](const timeline::TimelineCommand& each) { return each.id == id; });
    REQUIRE(found != commands.end());
    panel.run(*ui_, tab, *found);
    test::wait_for_answers(tab);
    begin();
    test::wait_for_answers(tab);
  }

 private:
  void begin() {
    for (const std::string& failed : session::begin_frame(tab)) FAIL(failed);
  }
  WorkerPool pool_;

 public:
  session::SessionTab tab;
  timeline::TimelinePanel panel;

 private:
  render::Ui* ui_ = nullptr;
};

}  // namespace accelscope::app
