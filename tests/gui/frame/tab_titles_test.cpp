// Tabs of many sessions: all of them are seen, told apart, and say in full what they are.
#include <doctest/doctest.h>

#include <filesystem>
#include <set>

#include "tests/gui/viewer.h"

using namespace accelscope;
using namespace accelscope::test;

TEST_CASE("tabs: sessions with long names are all seen, each with what tells it apart, and none is in a menu") {
  const TemporaryFolder folder;
  const std::string one = save_small_session(folder.path());
  Viewer viewer;
  constexpr int kSessions = 9;
  for (int i = 0; i < kSessions; ++i) {
    const std::string path = folder.file("llama3_attention_fused_run_" + std::to_string(101 + i) + "_bf16.accel");
    std::filesystem::copy_file(one, path);
    viewer.open(path);
  }
  CHECK(viewer.shell.find("tabs.more") == nullptr);
  for (int i = 0; i < kSessions; ++i) {
    CHECK(viewer.shell.find("tabs." + std::to_string(i)) != nullptr);
    CHECK(viewer.shell.shows("…" + std::to_string(101 + i) + "…"));
  }
  CHECK(viewer.tab().title == "llama3_attention_fused_run_109_bf16");
}
