// What SQLite left beside a session file when a program died, and what lies there by chance or on purpose.
#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "core/store/overlay.h"
#include "tests/core/store/own_folder.h"
#include "tests/core/store/session_changes.h"

using namespace accelscope;

namespace {

std::string bytes_of_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void save_events(const std::string& path, int events) {
  const auto store = std::move(Store::create()).value();
  StoreSink sink(*store);
  REQUIRE(test::write_changeable_session(sink, events).ok());
  REQUIRE(store->save(path).ok());
}

std::uint64_t events_in(const std::string& path) {
  const auto store = Store::open(path);
  REQUIRE_MESSAGE(store.ok(), store.message());
  std::uint64_t events = 0;
  for (const LaneSnapshot& lane : (*store)->snapshot()->lanes) {
    for (std::uint32_t chunk = 0; chunk < lane.chunk_count; ++chunk) {
      CHECK((*store)->read_chunk(lane, chunk).ok());
      events += lane.chunk(chunk).count;
    }
  }
  return events;
}

// As a program leaves it that dies while it writes: the file half changed, and a journal beside it.
void die_while_writing(const std::string& path) {
  const std::string work = path + ".work";
  std::filesystem::copy_file(path, work);
  {
    const auto database = std::move(Database::open(work, OpenMode::read_write)).value();
    REQUIRE(database
                ->execute("PRAGMA cache_size = 5; BEGIN; UPDATE chunk SET payload = zeroblob(length(payload) + 1); "
                          "UPDATE definition SET payload = zeroblob(length(payload));")
                .ok());
    std::filesystem::copy_file(work, path, std::filesystem::copy_options::overwrite_existing);
    std::filesystem::copy_file(work + "-journal", path + "-journal");
  }
  std::filesystem::remove(work);
}

bool states_that_it_lies_there(const std::string& path) {
  const auto store = std::move(Store::open(path)).value();
  for (const QualityEntry& entry : store->snapshot()->quality) {
    if (entry.kind == "journal_beside") return store->is_read_only();
  }
  return false;
}

}  // namespace

TEST_CASE("a session that a program died over is as it was before, once it is opened") {
  const OwnFolder folder;
  const std::string path = folder.file("run.accel");
  save_events(path, 4000);
  const std::uint64_t events = events_in(path);
  die_while_writing(path);
  CHECK(events_in(path) == events);
  CHECK_FALSE(std::filesystem::exists(path + "-journal"));
}

TEST_CASE("a recording over a file that a journal lies beside is whole, and stays so when it is opened") {
  const OwnFolder folder;
  const std::string path = folder.file("run.accel");
  save_events(path, 4000);
  die_while_writing(path);
  std::ofstream(path + "-wal") << "left behind";
  std::ofstream(path + "-shm") << "left behind";
  save_events(path, 2000);
  for (const char* suffix : {"-journal", "-wal", "-shm"}) CHECK_FALSE(std::filesystem::exists(path + suffix));
  const std::string whole = bytes_of_file(path);
  const std::string other = folder.file("other.accel");
  save_events(other, 2000);
  CHECK(events_in(path) == events_in(other));
  CHECK(bytes_of_file(path) == whole);
}

TEST_CASE("a session moved to where a journal was left is opened unchanged, and it is said") {
  const OwnFolder folder;
  const std::string path = folder.file("run.accel");
  const std::string moved = folder.file("new.accel");
  save_events(path, 4000);
  die_while_writing(path);
  save_events(moved, 2000);
  const std::uint64_t events = events_in(moved);
  std::filesystem::rename(moved, path);
  const std::string whole = bytes_of_file(path);
  CHECK(events_in(path) == events);
  CHECK(states_that_it_lies_there(path));
  CHECK(bytes_of_file(path) == whole);
  CHECK(std::filesystem::exists(path + "-journal"));
  // Neither do tags and names change it, nor are they read from anywhere else.
  CHECK(write_overlay_value(path, "tags", "kept").ok());
  CHECK(bytes_of_file(path) == whole);
  const auto values = read_overlay(path);
  REQUIRE(values.ok());
  CHECK(values->at("tags") == "kept");
}

TEST_CASE("no journal, log or link that was put beside a session changes it") {
  const OwnFolder folder;
  const std::string path = folder.file("run.accel");
  save_events(path, 2000);
  const std::string whole = bytes_of_file(path);
  const std::uint64_t events = events_in(path);
  const std::string victim = folder.file("victim.txt");
  std::ofstream(victim) << "not a journal's";
  const auto head = [](std::uint32_t records, std::uint32_t pages) {
    std::string bytes("\xd9\xd5\x05\xf9\x20\xa1\x63\xd7", 8);
    for (const std::uint32_t number : {records, 0U, pages, 512U, 8192U}) {
      for (int shift = 24; shift >= 0; shift -= 8) bytes += static_cast<char>(number >> shift);
    }
    return bytes;
  };
  // With the name of another file at its end, which SQLite would remove.
  die_while_writing(path);
  std::string of_several = bytes_of_file(path + "-journal");
  std::ofstream(path, std::ios::binary | std::ios::trunc) << whole;
  std::string name(4, '\0');
  name += victim;
  for (const std::size_t number : {victim.size(), std::size_t{0}}) {
    for (int shift = 24; shift >= 0; shift -= 8) name += static_cast<char>(number >> shift);
  }
  of_several += name + std::string("\xd9\xd5\x05\xf9\x20\xa1\x63\xd7", 8);
  const std::vector<std::pair<std::string, std::string>> beside = {
      {"-journal", std::string(5000, 'x')},
      {"-journal", head(1, 1) + std::string(5000, '\0')},
      {"-journal", head(0, 1) + std::string(5000, '\0')},
      {"-journal", head(0xffffffffU, 1) + std::string(30'000, '\1')},
      {"-journal", of_several},
      {"-wal", std::string(5000, 'x')},
  };
  for (const auto& [suffix, bytes] : beside) {
    CAPTURE(suffix);
    CAPTURE(bytes.size());
    std::ofstream(path + suffix, std::ios::binary) << bytes;
    CHECK(states_that_it_lies_there(path));
    CHECK(events_in(path) == events);
    CHECK(bytes_of_file(path) == whole);
    CHECK(bytes_of_file(path + suffix) == bytes);
    CHECK(std::filesystem::exists(victim));
    std::filesystem::remove(path + suffix);
  }
  std::filesystem::create_symlink(victim, path + "-journal");
  CHECK(events_in(path) == events);
  CHECK(bytes_of_file(path) == whole);
  CHECK(std::filesystem::exists(victim));
}

TEST_CASE("a journal that is done with, or of a program that is writing, keeps nobody from writing") {
  const OwnFolder folder;
  const std::string path = folder.file("run.accel");
  save_events(path, 2000);
  for (const std::string& done : {std::string(), std::string(600, '\0')}) {
    std::ofstream(path + "-journal", std::ios::binary) << done;
    const auto store = std::move(Store::open(path)).value();
    CHECK_FALSE(store->is_read_only());
  }
  std::filesystem::remove(path + "-journal");
  const auto writer = std::move(Database::open(path, OpenMode::read_write)).value();
  REQUIRE(writer->execute("BEGIN IMMEDIATE; INSERT INTO overlay VALUES('tags', 'a')").ok());
  REQUIRE(std::filesystem::exists(path + "-journal"));
  const auto values = read_overlay(path);
  REQUIRE_MESSAGE(values.ok(), values.message());
  CHECK_FALSE(values->contains("tags"));
  REQUIRE(writer->execute("COMMIT").ok());
  CHECK(read_overlay(path)->at("tags") == "a");
}
