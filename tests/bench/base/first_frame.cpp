#include "tests/bench/base/first_frame.h"

#include <fmt/format.h>

#include "app/frame/app.h"
#include "tests/bench/base/figure.h"

namespace accelscope::bench {
namespace {

// Done when the timeline is, not when the last panel has added up its totals.
class FirstFrame final : public render::FrameClient {
 public:
  explicit FirstFrame(const std::string& path) { app_.open(path); }
  void frame(render::Ui& ui) override { app_.frame(ui); }
  [[nodiscard]] bool settled() const override { return app_.timeline_complete(); }

 private:
  app::frame::App app_;
};

}  // namespace

double first_frame_seconds(const std::string& path, int runs) {
  return best_seconds(runs, [&] {
    FirstFrame client(path);
    const Result<render::Picture> frame = render::render_offscreen(client, {});
    if (!frame) fmt::print(stderr, "accelscope-bench: no frame: {}\n", frame.message());
  });
}

}  // namespace accelscope::bench
