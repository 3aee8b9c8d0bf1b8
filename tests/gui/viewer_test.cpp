// The viewer through the null shell, with real input events: what a user does, and what must then be seen.
#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>

#include "app/app.h"
#include "render/null_shell.h"
#include "tests/support/small_session.h"

using namespace accelscope;
using namespace accelscope::app;
using render::Key;
using render::NullShell;

namespace {

struct Viewer {
  explicit Viewer(AppOptions options = {}) : app(std::move(options)), shell(app) { shell.frame(3); }

  void open(const std::string& path) {
    app.open(path);
    REQUIRE(shell.settle());
  }
  SessionTab& tab() { return *app.workspace().active(); }

  App app;
  NullShell shell;
};

struct OpenViewer : Viewer {
  OpenViewer() : path(test::save_small_session(folder.path())) { open(path); }
  test::TemporaryFolder folder;
  std::string path;
};

}  // namespace

TEST_CASE("first start: the start page offers the three doors and says what the empty list is for") {
  Viewer viewer;
  CHECK(viewer.shell.shows("Open a file or folder"));
  CHECK(viewer.shell.shows("Connect to a device"));
  CHECK(viewer.shell.shows("Try the demo"));
  CHECK(viewer.shell.shows("Sessions that you open or record are listed here."));
}
