// The timeline alone in the null shell, with a store that a test has made.
#pragma once

#include <memory>
#include <utility>

#include "app/timeline/panel.h"
#include "app/timeline/state.h"
#include "render/shell/shell.h"

namespace accelscope::app {

class TimelineClient final : public render::FrameClient {
 public:
  // Shows the first millisecond.
  explicit TimelineClient(std::shared_ptr<Store> store) {
    tab.store = std::move(store);
    tab.snapshot = tab.store->snapshot();
    tab.reader = std::make_unique<EventReader>(*tab.store, tab.snapshot);
    tab.view = {0, 1'000'000};
    tab.remember_view();
  }
  void frame(render::Ui& ui) override {
    ui_ = &ui;
    panel.draw(ui, tab, ui.window());
  }
  [[nodiscard]] bool settled() const override { return panel.settled(tab); }
  void run(TimelineCommand command) { panel.run(*ui_, tab, command); }

  SessionTab tab;
  TimelinePanel panel;

 private:
  render::Ui* ui_ = nullptr;
};

}  // namespace accelscope::app
