// A sound session whose pages, cells and schema are changed, one step after another: it opens, is refused with a
// message, or is salvaged; and what opens can be read. Steps of eight bytes: what, then numbers; see change().
#include <sqlite3.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "capture/sim/output/simulator.h"
#include "tests/fuzz/base/read_everything.h"

using namespace accelscope;

namespace {

// In place of a table of the session: what a hostile file may hold there.
constexpr std::array<const char*, 10> kSchemas = {
    "CREATE VIEW chunk AS SELECT 1",
    "CREATE VIEW definition AS WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT x id, x payload "
    "FROM c",
    "CREATE TABLE definition(id INTEGER PRIMARY KEY, payload BLOB AS (zeroblob(1000000000)))",
    "CREATE TABLE chunk(id INTEGER PRIMARY KEY, lane INTEGER, first_ordinal INTEGER, count INTEGER, begin_ticks "
    "INTEGER, end_ticks INTEGER, payload BLOB GENERATED ALWAYS AS (randomblob(100000000)) VIRTUAL)",
    "CREATE TABLE lane_index(lane, part, level, payload, PRIMARY KEY(lane, part, level)) WITHOUT ROWID",
    "CREATE VIRTUAL TABLE chunk USING fts5(payload)",
    "CREATE TRIGGER t AFTER INSERT ON chunk BEGIN DELETE FROM chunk; END",
    "CREATE INDEX i ON chunk(lane, abs(count))",
    "CREATE TABLE chunk(payload)",
    "not SQL at all",
};

std::string sound_session() {
  const std::string path =
      (std::filesystem::temp_directory_path() / ("accelscope-sound-" + std::to_string(::getpid()) + ".accel")).string();
  const std::unique_ptr<Store> store = Store::create().value();
  StoreSink sink(*store);
  capture::sim::SimulationOptions options;
  options.detail = capture::sim::Detail::slim;
  options.events = 300;
  options.kernels = 1;
  if (!capture::sim::simulate(options, sink) || !store->save(path)) std::abort();
  std::ifstream file(path, std::ios::binary);
  std::string bytes{std::istreambuf_iterator<char>(file), {}};
  std::filesystem::remove(path);
  return bytes;
}

std::size_t page_size(const std::string& file) {
  return static_cast<unsigned char>(file[16]) * 256U + static_cast<unsigned char>(file[17]);
}

void change(std::string& file, std::span<const std::uint8_t> step) {
  const std::size_t size = page_size(file);
  const std::size_t pages = file.size() / size;
  const std::size_t page = (step[1] % pages) * size;
  const std::size_t begin = page == 0 ? 100 : page;  // the file's own header stays as it is
  const std::size_t place = std::size_t{step[2]} << 8U | step[3];
  const auto put = [&](std::size_t at, std::size_t count) {
    if (at >= 100 && at + count <= file.size()) std::memcpy(file.data() + at, step.data() + 4, count);
  };
  switch (step[0] % 6) {
    case 0:  // anywhere on the page
      return put(page + place % size, 1 + step[7] % 4);
    case 1:  // its header: kind, free block, number of cells, content, right-most child
      return put(begin + place % 12, 1 + step[7] % 2);
    case 2:  // where its cells are
      return put(begin + 8 + place % 64, 2);
    case 3:  // a page in place of another
      if (page != 0) std::memcpy(file.data() + page, file.data() + (place % pages) * size, size);
      return;
    case 4:  // the begin of a cell: child, length, row, kinds of columns
      return put(begin +
                     (static_cast<unsigned char>(file[begin + 8 + place % 16 * 2]) * 256U +
                      static_cast<unsigned char>(file[begin + 9 + place % 16 * 2])) %
                         (size - 100) +
                     step[6] % 12,
                 1);
    default:
      return;
  }
}

void change_schema(const std::string& path, std::span<const std::uint8_t> step) {
  sqlite3* database = nullptr;
  if (sqlite3_open(path.c_str(), &database) == SQLITE_OK) {
    const std::string sql = std::string("PRAGMA writable_schema = ON; UPDATE sqlite_schema SET sql = '") +
                            kSchemas[step[1] % kSchemas.size()] + "'" +
                            (step[2] % 2 == 0 ? ", type = 'view', rootpage = 0" : "") +
                            " WHERE rowid = " + std::to_string(1 + step[3] % 6);
    (void)sqlite3_exec(database, sql.c_str(), nullptr, nullptr, nullptr);
  }
  sqlite3_close(database);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const std::string sound = sound_session();
  static const std::string path =
      (std::filesystem::temp_directory_path() / ("accelscope-pages-" + std::to_string(::getpid()) + ".accel")).string();
  constexpr std::size_t kStep = 8;
  const std::span<const std::uint8_t> steps(data, size - size % kStep);
  std::string file = sound;
  for (std::size_t at = 0; at < steps.size(); at += kStep) change(file, steps.subspan(at, kStep));
  std::ofstream(path, std::ios::binary | std::ios::trunc).write(file.data(), std::ssize(file));
  for (std::size_t at = 0; at < steps.size(); at += kStep) {
    if (steps[at] % 6 == 5) change_schema(path, steps.subspan(at, kStep));
  }
  if (const Result<std::unique_ptr<Store>> store = Store::open(path); store) test::read_everything(**store);
  SalvageReport report;
  if (const Result<std::unique_ptr<Store>> store = salvage_session(path, report); store) test::read_everything(**store);
  std::filesystem::remove(path);
  return 0;
}
