// A session file made of any bytes opens, is refused with a message, or is salvaged; and what opens can be read.
#include <cstdio>
#include <filesystem>
#include <fstream>

#include "core/chunk/chunk_view.h"
#include "core/store/store.h"

using namespace accelscope;

namespace {

void read_everything(const Store& store) {
  const auto snapshot = store.snapshot();
  for (const LaneSnapshot& lane : snapshot->lanes) {
    for (std::uint32_t chunk = 0; chunk < lane.chunk_count; ++chunk) {
      const Result<Bytes> bytes = store.read_chunk(lane, chunk);
      if (!bytes) continue;
      const Result<ChunkView> view = ChunkView::parse(*bytes);
      if (!view) continue;
      BlockTimes times;
      for (std::uint32_t block = 0; block < view->block_count(); ++block) view->times(block, times);
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const std::string path =
      (std::filesystem::temp_directory_path() / ("accelscope-fuzz-" + std::to_string(std::rand()) + ".accel")).string();
  std::ofstream(path, std::ios::binary | std::ios::trunc)
      .write(reinterpret_cast<const char*>(data), static_cast<std::streamsize>(size));
  if (const Result<std::unique_ptr<Store>> store = Store::open(path); store) read_everything(**store);
  SalvageReport report;
  if (const Result<std::unique_ptr<Store>> store = salvage_session(path, report); store) read_everything(**store);
  std::filesystem::remove(path);
  return 0;
}
