#include <doctest/doctest.h>

#include "render/shell/null_shell.h"
#include "render/widgets/widgets.h"

using namespace accelscope::render;

namespace {

class WaitingBar final : public FrameClient {
 public:
  explicit WaitingBar(bool reduced) : reduced_(reduced) {}
  void frame(Ui& ui) override {
    ui.set_reduced_motion(reduced_);
    progress(ui, "bar", ui.window().middle(ui.px(26)), {.label = "Opening", .share = -1});
  }

 private:
  bool reduced_;
};

}  // namespace

TEST_CASE("progress: a bar without an end wanders, and stands still with reduced motion, without a frame") {
  WaitingBar wanders(false), stands(true);
  NullShell moving(wanders, {}), still(stands, {});
  moving.frame(3);
  still.frame(3);
  CHECK(moving.rest(1) > 10);
  still.rest(1);  // what the first frames asked for
  CHECK(still.rest(5) == 0);
  CHECK(still.shows("Opening"));
}
