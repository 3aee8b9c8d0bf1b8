// Files of other tools are named, not guessed at, and a format that is forced upon a file must fit it.
#include "capture/sources/base/source.h"

#include <doctest/doctest.h>
#include <sqlite3.h>
#include <zlib.h>

#include <fstream>
#include <string>
#include <vector>

#include "capture/sources/import_input.h"
#include "capture/sources/input_parts.h"
#include "core/store/session_check.h"
#include "core/store/store.h"
#include "tests/capture/client/client_support.h"
#include "tests/support/files.h"

namespace accelscope::capture {
namespace {

void make_database(const std::filesystem::path& path, const std::string& sql) {
  sqlite3* database = nullptr;
  REQUIRE(sqlite3_open(path.c_str(), &database) == SQLITE_OK);
  CHECK(sqlite3_exec(database, sql.c_str(), nullptr, nullptr, nullptr) == SQLITE_OK);
  sqlite3_close(database);
}

std::string written(const TestFolder& folder, const std::string& name, const std::string& content) {
  const std::string path = (folder.path / name).string();
  std::ofstream(path, std::ios::binary) << content;
  return path;
}

Result<void> import_as(const std::string& path, const std::string& format) {
  const auto store = empty_store();
  sources::InputOptions options;
  options.format = format;
  return sources::import_input({sources::recognise(path)}, options,
                               [&] { return std::make_unique<StoreSink>(*store); });
}

TEST_CASE("databases of other tools are named, and a session is never taken for one") {
  const TestFolder folder;
  const auto named = [&](const char* name, const std::string& sql) {
    const std::filesystem::path path = folder.path / name;
    make_database(path, sql);
    const sources::RecognisedFile file = sources::recognise(path.string());
    CHECK(file.format() == nullptr);
    CHECK(contains(file.why_not, path.string() + ": this is " + file.title + ", which is not read here; open"));
    return file.title;
  };
  CHECK(named("d.db", "CREATE TABLE bookmarks(id)") == "an SQLite database of another program");
  const std::string session = (folder.path / "s.accel").string();
  REQUIRE(empty_store()->save(session, [](auto, auto) { return true; }).ok());
  CHECK_FALSE(tables_of_other_database(session));
  CHECK(sources::recognise(session).is_session);
}

TEST_CASE("a packed session is no session, and the error says what to do") {
  const TestFolder folder;
  const std::string session = (folder.path / "s.accel").string();
  REQUIRE(empty_store()->save(session, [](auto, auto) { return true; }).ok());
  std::ifstream file(session, std::ios::binary);
  const std::string content(std::istreambuf_iterator<char>(file), {});
  const std::string packed = session + ".gz";
  gzFile out = gzopen(packed.c_str(), "wb");
  REQUIRE(gzwrite(out, content.data(), static_cast<unsigned>(content.size())) == static_cast<int>(content.size()));
  REQUIRE(gzclose(out) == Z_OK);
  CHECK(sources::recognise(session).name() == "session");
  const sources::RecognisedFile recognised = sources::recognise(packed);
  CHECK(recognised.format() == nullptr);
  CHECK_FALSE(recognised.is_session);
  CHECK(contains(recognised.why_not, "s.accel.gz"));
  CHECK(contains(recognised.why_not, "gunzip"));
}

TEST_CASE("what was recognised is not read again: format, rank and run are known of files that have changed since") {
  const TestFolder folder;
  std::vector<sources::RecognisedFile> files;
  for (const std::string rank : {"3", "5"}) {
    files.push_back(sources::recognise(
        written(folder, rank + ".json", R"({"distributedInfo":{"rank":)" + rank + R"(},"traceEvents":[]})")));
    written(folder, rank + ".json", "no profile any more");
  }
  CHECK(sources::are_of_one_run(files));
  const Result<sources::InputParts> parts = sources::find_input_parts(files[1]);
  REQUIRE(parts.ok());
  CHECK(parts->parts.front().format->name == "chrome-json");
  CHECK(sources::label_of_file(parts->parts.front().file, "") == "rank 5");
}

TEST_CASE("texts and binary files of other tools are named with what to do") {
  const TestFolder folder;
  const auto title = [&](const char* name, const std::string& content) {
    return sources::recognise(written(folder, name, content)).title;
  };
  CHECK(title("r.csv", "\"Name\",\"Calls\",\"TotalDurationNs\"\n") == "a table of statistics of rocprofv3");
  CHECK(title("a.qdstrm", "anything") == "an Nsight Systems recording");
  CHECK(title("page.json", "<!DOCTYPE html><html>") == "a web page");
  CHECK(title("ops.csv", "\xff\xfeO\0P\0") == "a text in UTF-16");
  CHECK(title("notes.txt", "nothing of the kind") == "");
}

TEST_CASE("a format that is forced upon a file fails if nothing in it has a name") {
  const TestFolder folder;
  const std::string noc = written(folder, "noc.json",
                                  "[{\"proc\":\"BRISC\",\"noc\":\"NOC_0\",\"sx\":1,\"sy\":1,\"timestamp\":5},"
                                  "{\"proc\":\"BRISC\",\"noc\":\"NOC_0\",\"sx\":1,\"timestamp\":9}]");
  for (const char* format : {"neuron-json", "chrome-json", "tt-device-log", "tracy-csv", "session"}) {
    CAPTURE(format);
    const Result<void> done = import_as(noc, format);
    REQUIRE_FALSE(done.ok());
    CHECK(contains(done.message(), noc));
    CHECK_FALSE(contains(done.message(), "the file is empty"));
    CHECK_MESSAGE(contains(done.message(), "it looks like tt-noc-trace"), done.message());
  }
  const std::string chrome = written(
      folder, "t.json", "{\"traceEvents\":[{\"ph\":\"X\",\"name\":\"a\",\"pid\":1,\"tid\":1,\"ts\":1,\"dur\":2}]}");
  CHECK(import_as(chrome, "chrome-json").ok());
  CHECK(contains(import_as(chrome, "tt-device-log").message(), "it looks like chrome-json: leave --format out"));
}

TEST_CASE("a packed file with one line longer than a block is not called empty") {
  const TestFolder folder;
  const std::string path = written(folder, "long.csv", std::string(600U << 10, 'x'));
  for (const char* format : {"tt-device-log", "tracy-csv"}) {
    const Result<void> done = import_as(path, format);
    REQUIRE_FALSE(done.ok());
    CHECK(contains(done.message(), "its lines are too long"));
  }
}

}  // namespace
TEST_CASE("a database that is cut within its first bytes is told of, whatever may have been in it") {
  const test::TemporaryFolder folder;
  for (const std::size_t bytes : {16U, 40U, 67U, 68U, 99U}) {
    CAPTURE(bytes);
    std::string head("SQLite format 3\0", 16);
    head.resize(bytes, 'x');
    test::write_file(folder.file("cut.sqlite"), head);
    CHECK(contains(import_as(folder.file("cut.sqlite"), "").message(), folder.file("cut.sqlite") + ": "));
  }
}

}  // namespace accelscope::capture
