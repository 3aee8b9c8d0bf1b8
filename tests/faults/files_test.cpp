// What users' disks and shells do to files: two writers of one name, names that are no files, limits, hang-ups, altered
// and damaged sessions. The real programs.
#include <doctest/doctest.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <thread>

#include "core/store/salvage/rescue.h"
#include "core/store/store.h"
#include "tests/capture/wire/wire_support.h"
#include "tests/faults/trial_folder.h"
#include "tests/support/process.h"
#include "tests/support/programs_folder.h"
#include "tests/support/sanitized.h"
#include "tests/support/wait.h"

namespace accelscope::capture {
namespace {

namespace fs = std::filesystem;
using std::chrono::seconds;
using test::Process;

std::unique_ptr<Store> store_of(std::uint64_t events) {
  auto store = Store::create();
  REQUIRE(store.ok());
  StoreSink sink(**store);
  REQUIRE(write_stream({.events = events, .lanes = 2}, sink).ok());
  return std::move(store).value();
}

std::uint64_t events_of_file(const fs::path& path) {
  const auto store = Store::open(path.string());
  return store ? (*store)->snapshot()->event_count : 0;
}

std::string content_at(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

Process started(const std::vector<std::string>& argv) {
  Result<Process> process = Process::start(argv);
  REQUIRE_MESSAGE(process.ok(), process.message());
  return std::move(process).value();
}

const std::string kAgentHere = test::programs_folder() + "/accelscope-agent";
const std::string kViewerHere = test::programs_folder() + "/accelscope";

TEST_CASE("two saves to one name both leave a whole file, and what lies beside it stays") {
  const TrialFolder folder;
  const std::string path = (folder.path / "run.accel").string();
  std::ofstream(path + ".part") << "a user's own";
  const auto few = store_of(20'000), many = store_of(200'000);
  for (int i = 0; i < 5; ++i) {
    Result<void> first, second;
    std::thread other([&] { second = few->save(path); });
    first = many->save(path);
    other.join();
    CHECK(first.ok());
    CHECK(second.ok());
    const std::uint64_t events = events_of_file(path);
    CHECK((events == 20'000 || events == 200'000));
  }
  CHECK(content_at(path + ".part") == "a user's own");
  CHECK(std::distance(fs::directory_iterator(folder.path), {}) == 2);
}

TEST_CASE("a save follows a link, keeps the file's mode, and refuses what is no file") {
  const TrialFolder folder;
  const auto store = store_of(1'000);
  const fs::path real = folder.path / "real.accel", link = folder.path / "link.accel";
  REQUIRE(store->save(real.string()).ok());
  fs::permissions(real, fs::perms::owner_read | fs::perms::owner_write | fs::perms::group_read);
  fs::create_symlink(real, link);
  REQUIRE(store->save(link.string()).ok());
  CHECK(fs::is_symlink(link));
  CHECK(fs::status(real).permissions() == (fs::perms::owner_read | fs::perms::owner_write | fs::perms::group_read));
  const fs::path pipe = folder.path / "pipe";
  REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
  CHECK_FALSE(store->save(pipe.string()).ok());
  CHECK_FALSE(store->save(folder.path.string()).ok());
  CHECK(fs::is_fifo(pipe));
}

TEST_CASE("a session that cannot be saved where it was wanted is saved elsewhere") {
  const TrialFolder folder;
  const auto store = store_of(1'000);
  const Result<SavedSession> saved =
      save_or_rescue(*store, (folder.path / "missing" / "run.accel").string(), {}, FileAccess::owner);
  REQUIRE_MESSAGE(saved.ok(), saved.message());
  CHECK(contains(saved->problem, "All of it is in " + saved->path));
  CHECK(events_of_file(saved->path) == 1'000);
  fs::remove(saved->path);
}

TEST_CASE("a hang-up ends a capture in order, and nohup keeps it") {
  const TrialFolder folder;
  const fs::path file = folder.path / "run.accel";
  Process capture = started({kAgentHere, "run", "-o", file.string(), "--", "sh", "-c", "echo begun; exec sleep 100"});
  REQUIRE(capture.wait_for("begun", test::kPatience));
  ::kill(capture.id(), SIGHUP);
  CHECK(capture.finish(test::kPatience) != -1);
  CHECK(events_of_file(file) > 0);
  fs::remove(file);
  Process retained =
      started({"/usr/bin/nohup", kAgentHere, "run", "-o", file.string(), "--", "sh", "-c",
               "echo begun; while [ ! -e " + (folder.path / "stop").string() + " ]; do sleep 0.05; done"});
  REQUIRE(retained.wait_for("begun", test::kPatience));
  ::kill(retained.id(), SIGHUP);
  std::ofstream(folder.path / "stop") << "now";
  CHECK(retained.finish(test::kPatience) == 0);
  CHECK(events_of_file(file) > 0);
}

TEST_CASE("a file that may grow no further is an error, not the end of the program") {
  const TrialFolder folder;
  Process capture = started({"/bin/sh", "-c",
                             fmt::format("ulimit -f 40; TMPDIR={0} HOME={0} XDG_STATE_HOME={0} exec {1} run -o "
                                         "{0}/run.accel --kind simulate --events 50000",
                                         folder.path.string(), kAgentHere)});
  CHECK(capture.finish(test::kPatience) > 0);
  CHECK(contains(capture.output(), "cannot be saved"));
  CHECK(fs::is_empty(folder.path));
}

TEST_CASE("the output of a command may be a pipe, which stays one") {
  if (!fs::exists(kViewerHere)) return;
  const TrialFolder folder;
  const fs::path pipe = folder.path / "pipe";
  REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
  Process writer = started({kViewerHere, "simulate", "-o", pipe.string(), "--events", "1000", "--force"});
  std::string read;
  std::thread reader([&] { read = content_at(pipe); });
  CHECK(writer.finish(test::kPatience) == 0);
  reader.join();
  CHECK(fs::is_fifo(pipe));
  std::ofstream(folder.path / "copy.accel", std::ios::binary) << read;
  CHECK(events_of_file(folder.path / "copy.accel") >= 1'000);
}

// A session file after some SQL of another hand.
fs::path altered(const TrialFolder& folder, const std::string& sql) {
  const fs::path path = folder.path / "altered.accel";
  fs::remove(path);
  REQUIRE(store_of(20'000)->save(path.string()).ok());
  sqlite3* database = nullptr;
  REQUIRE(sqlite3_open(path.c_str(), &database) == SQLITE_OK);
  CHECK(sqlite3_exec(database, sql.c_str(), nullptr, nullptr, nullptr) == SQLITE_OK);
  sqlite3_close(database);
  return path;
}

TEST_CASE("a session file whose tables are views, computed or missing is refused at once") {
  const TrialFolder folder;
  const std::string endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i AS id, ";
  for (const std::string& sql :
       {"ALTER TABLE definition RENAME TO d2; CREATE VIEW definition AS " + endless + "zeroblob(8) AS payload FROM n",
        "ALTER TABLE chunk RENAME TO c2; CREATE VIEW chunk AS " + endless +
            "0 AS lane, 0 AS first_ordinal, 0 AS count, 0 AS begin_ticks, 0 AS end_ticks, zeroblob(8) AS payload FROM "
            "n",
        std::string("DROP TABLE definition; CREATE TABLE definition(id INTEGER PRIMARY KEY, payload BLOB AS "
                    "(zeroblob(1000000000)))"),
        std::string("DROP TABLE lane_index"),
        std::string("CREATE TRIGGER t AFTER INSERT ON chunk BEGIN DELETE FROM chunk; END")}) {
    CAPTURE(sql);
    const auto store = Store::open(altered(folder, sql).string());
    REQUIRE_FALSE(store.ok());
    CHECK(contains(store.message(), "which no session file has"));
  }
}

TEST_CASE("a session of a newer version is not called damaged") {
  if (!fs::exists(kViewerHere)) return;
  const TrialFolder folder;
  Process info = started({kViewerHere, "ingest-check", altered(folder, "PRAGMA user_version = 9000").string()});
  CHECK(info.finish(test::kPatience) > 0);
  CHECK(contains(info.output(), "update Accelscope"));
  CHECK_FALSE(contains(info.output(), "salvage"));
}

TEST_CASE("a session file of which half is gone says how much is missing") {
  const TrialFolder folder;
  const fs::path path = folder.path / "run.accel";
  REQUIRE(store_of(1'500'000)->save(path.string()).ok());
  fs::resize_file(path, fs::file_size(path) / 2);
  SalvageReport report;
  const auto store = salvage_session(path.string(), report);
  REQUIRE_MESSAGE(store.ok(), store.message());
  std::string all;
  for (const std::string& each : report.missing) all += each + "\n";
  CHECK_MESSAGE(contains(all, "50 % of its"), all);
}

TEST_CASE("a picture comes of every damaged session") {
  if (!fs::exists(kViewerHere)) return;
  const TrialFolder folder;
  const fs::path whole = folder.path / "whole.accel", damaged = folder.path / "damaged.accel";
  Process simulate = started({kViewerHere, "simulate", "-o", whole.string(), "--events", "30000"});
  REQUIRE(simulate.finish(test::kPatience) == 0);
  const std::string bytes = content_at(whole);
  std::mt19937 random(17);
  for (int i = 0; i < 8; ++i) {
    CAPTURE(i);
    std::string changed = bytes;
    for (int k = 0; k < 40; ++k) changed[100 + random() % (bytes.size() - 100)] = static_cast<char>(random());
    std::ofstream(damaged, std::ios::binary | std::ios::trunc) << changed;
    // What graphics drivers leave behind is theirs.
    Process picture = started({"/usr/bin/env", "LSAN_OPTIONS=detect_leaks=0", "ASAN_OPTIONS=detect_leaks=0",
                               kViewerHere, "screenshot", damaged.string(), "-o", (folder.path / "p.png").string(),
                               "--force", "--size", "800x600"});
    const int status = picture.finish(test::kPatience);
    CHECK_MESSAGE((status == 0 || (status > 0 && contains(picture.output(), "damaged.accel"))), picture.output());
    CHECK_FALSE(contains(picture.output(), "was not ready"));
    Process check = started({kViewerHere, "ingest-check", damaged.string()});
    const int found = check.finish(test::kPatience);
    CHECK_MESSAGE((found > 0 || contains(check.output(), "error") || contains(check.output(), "index_rebuilt")),
                  check.output());
  }
}

TEST_CASE("a file that unpacks to more than the memory is an error") {
  if (!fs::exists(kViewerHere) || test::sanitized()) return;  // a sanitizer reserves more than that for itself
  const TrialFolder folder;
  const fs::path log = folder.path / "bomb.json";
  // Ten million events of one line each, in a memory of 1 GB.
  Process pack = started(
      {"/bin/sh", "-c",
       fmt::format("(echo '[{{}}'; yes ',{{\"ph\":\"X\",\"pid\":1,\"tid\":1,\"ts\":1,\"dur\":1,\"name\":\"a\"}}' | "
                   "head -n 10000000; echo ']') | gzip -1 > {}.gz",
                   log.string())});
  REQUIRE(pack.finish(test::kPatience) == 0);
  Process import = started({"/bin/sh", "-c",
                            fmt::format("ulimit -v 1000000; exec {} import {}.gz -o {}/out.accel", kViewerHere,
                                        log.string(), folder.path.string())});
  const int status = import.finish(test::kPatience);
  CHECK_MESSAGE(status >= 0, import.output());  // not by a signal
  if (status != 0) CHECK_MESSAGE(contains(import.output(), "memory"), import.output());
}

}  // namespace
}  // namespace accelscope::capture
