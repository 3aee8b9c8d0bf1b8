// Real snapshots, where the environment names a folder that holds some: the trace leads to what the segments state.
#include <cstdlib>
#include <filesystem>

#include "capture/sources/base/importers.h"
#include "tests/capture/imported.h"

namespace accelscope::capture {

TEST_CASE("torch memory: a real snapshot's trace leads exactly to its segments") {
  const char* folder = std::getenv("ACCELSCOPE_REAL_DATA");
  if (folder == nullptr) return;
  std::error_code failure;
  for (const auto& entry :
       std::filesystem::directory_iterator(std::filesystem::path(folder) / "memory_snapshot", failure)) {
    const std::string path = entry.path().string();
    CAPTURE(path);
    REQUIRE(sources::recognise(path).name() == "torch-memory");
    const Imported session = Imported::by([&](EventSink& sink) {
      return sources::import_file(sources::torch_memory::import_torch_memory, path, {}, sink);
    });
    for (const char* kind : {"time_check", "rows_skipped", "truncated", "vendor_value_implausible", "relations_open"}) {
      CAPTURE(kind);
      CHECK(session.quality(kind) == nullptr);
    }
  }
}

}  // namespace accelscope::capture
