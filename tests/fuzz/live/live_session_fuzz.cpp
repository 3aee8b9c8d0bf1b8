// A live capture whose frames were changed behind their checksums is taken or refused; and what was taken can be read,
// asked, saved and opened again.
#include <unistd.h>

#include <filesystem>

#include "core/lod/range_statistics.h"
#include "core/sql/base/sql.h"
#include "tests/fuzz/base/read_everything.h"
#include "tests/fuzz/live/changed_stream.h"

using namespace accelscope;

namespace {

void ask_everything(const Store& store, WorkerPool& pool) {
  const auto snapshot = store.snapshot();
  TaskControl control;
  sql::Session sql(store, snapshot, pool);
  for (const sql::ListedTable& table : sql.tables()) {
    std::string name;
    for (const char c : table.name) name += c == '"' ? std::string("\"\"") : std::string(1, c);
    (void)sql.run("SELECT * FROM \"" + name + "\" LIMIT 200", {}, control);
    (void)sql.run("SELECT count(*) FROM \"" + name + "\"", {}, control);
  }
  for (std::uint32_t lane = 0; lane < snapshot->lanes.size(); ++lane) {
    (void)lod::lane_share(store, *snapshot, lane, {});
    (void)lod::lane_share(store, *snapshot, lane, {snapshot->begin_ns, snapshot->end_ns});
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const std::vector<capture::wire::Frame> kFrames = test::live_frames();
  static const std::string path =
      (std::filesystem::temp_directory_path() / ("accelscope-live-fuzz-" + std::to_string(::getpid()) + ".accel"))
          .string();
  static WorkerPool pool{2};
  std::vector<capture::wire::Frame> frames = kFrames;
  std::size_t at = 0;
  const auto next = [&]() -> std::uint32_t {
    std::uint32_t value = 0;
    for (int i = 0; i < 2 && at < size; ++i) value = value << 8U | data[at++];
    return value;
  };
  for (int changes = 0; changes < 8 && at < size; ++changes) test::change(frames, next);

  const Result<std::unique_ptr<Store>> store = Store::create();
  if (!store) return 0;
  test::take_frames(**store, frames);
  test::read_everything(**store);
  ask_everything(**store, pool);
  if ((*store)->save(path)) {
    if (const Result<std::unique_ptr<Store>> opened = Store::open(path); opened) {
      test::read_everything(**opened);
      ask_everything(**opened, pool);
    }
  }
  std::filesystem::remove(path);
  return 0;
}
