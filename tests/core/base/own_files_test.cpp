// What another user, or a link that he planted, must not get us to use.
#include "core/base/own_files.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "tests/support/files.h"

using namespace accelscope;

namespace fs = std::filesystem;

namespace {

constexpr uid_t kNobody = 65534;

mode_t mode_of(const std::string& path) {
  struct stat facts {};
  return ::stat(path.c_str(), &facts) == 0 ? facts.st_mode & 07777U : 0;
}

bool contains_words(const Result<void>& result, const std::string& part) {
  return !result && result.message().find(part) != std::string::npos;
}

// Gives the path to another user. False where this process may not: it is no root.
bool give_away(const std::string& path) {
  if (::geteuid() == 0 && ::chown(path.c_str(), kNobody, kNobody) == 0) return true;
  MESSAGE("not tried with a second user: this is not root");
  return false;
}

}  // namespace

TEST_CASE("a folder that others can write, or that is a link, is not used, and its mode stays") {
  const test::TemporaryFolder place;
  const std::string folder = place.file("deeper/folder");
  REQUIRE(make_own_folder(folder, Sharing::none).ok());
  CHECK(mode_of(folder) == 0700);
  REQUIRE(::chmod(folder.c_str(), 0755) == 0);
  CHECK(contains_words(check_own_folder(folder, Sharing::none), "others can enter it"));
  CHECK(check_own_folder(folder, Sharing::reading).ok());
  REQUIRE(::chmod(folder.c_str(), 0775) == 0);
  CHECK(contains_words(check_own_folder(folder, Sharing::reading), "chmod 700"));
  CHECK(check_own_folder(folder, Sharing::group).ok());
  REQUIRE(::chmod(folder.c_str(), 01777) == 0);
  CHECK(contains_words(make_own_folder(folder, Sharing::group), "others can write in it"));
  CHECK(mode_of(folder) == 01777);
  REQUIRE(::chmod(folder.c_str(), 0700) == 0);
  fs::create_directory_symlink(folder, place.file("link"));
  CHECK(contains_words(make_own_folder(place.file("link"), Sharing::group), "is a link"));
  CHECK(contains_words(make_own_folder(place.file("link/"), Sharing::group), "is a link"));
  CHECK(make_own_folder(place.file("new/"), Sharing::group).ok());
  test::write_file(place.file("file"), "x");
  CHECK(contains_words(make_own_folder(place.file("file"), Sharing::group), "is not a folder"));
  CHECK_FALSE(check_own_folder(place.file("none"), Sharing::group).ok());
}

TEST_CASE("folders and files of another user are not used, not even by root") {
  const test::TemporaryFolder place;
  const std::string folder = place.file("theirs");
  const std::string file = place.file("plan");
  fs::create_directory(folder);
  ::chmod(folder.c_str(), 0755);
  test::write_file(file, "connect to me");
  ::chmod(file.c_str(), 0644);
  if (!give_away(folder) || !give_away(file)) return;
  CHECK(contains_words(check_own_folder(folder, Sharing::group), "belongs to another user"));
  CHECK(contains_words(make_own_folder(folder, Sharing::reading), "belongs to another user"));
  const Result<std::string> read = read_own_file(file, Sharing::group, 1000);
  REQUIRE_FALSE(read.ok());
  CHECK(read.message().find("belongs to another user") != std::string::npos);
  CHECK_FALSE(append_to_own_file(file).ok());
}

TEST_CASE("a file is added to only where it is no link, has one name and is this user's") {
  const test::TemporaryFolder place;
  const Result<int> log = append_to_own_file(place.file("agent.log"));
  REQUIRE_MESSAGE(log.ok(), log.message());
  ::close(*log);
  CHECK(mode_of(place.file("agent.log")) == 0600);
  test::write_file(place.file("authorized_keys"), "mine\n");
  fs::create_symlink(place.file("authorized_keys"), place.file("link.log"));
  fs::create_hard_link(place.file("authorized_keys"), place.file("second.log"));
  for (const char* name : {"link.log", "second.log"}) {
    CAPTURE(name);
    CHECK_FALSE(append_to_own_file(place.file(name)).ok());
  }
  CHECK(test::read_file(place.file("authorized_keys")) == "mine\n");
}

TEST_CASE("a private file is replaced as a whole, and a link in its place is not followed") {
  const test::TemporaryFolder place;
  test::write_file(place.file("target"), "mine");
  fs::create_symlink(place.file("target"), place.file("settings"));
  CHECK_FALSE(read_own_file(place.file("settings"), Sharing::group, 100).ok());
  REQUIRE(write_own_file(place.file("settings"), "new").ok());
  CHECK(test::read_file(place.file("target")) == "mine");
  CHECK(read_own_file(place.file("settings"), Sharing::none, 100).value() == "new");
  CHECK_FALSE(read_own_file(place.file("settings"), Sharing::none, 2).ok());
  CHECK(mode_of(place.file("settings")) == 0600);
}

TEST_CASE("a temporary folder has a name that nobody knows before, and goes with its content") {
  const test::TemporaryFolder place;
  std::string first;
  {
    const auto folder = OwnTemporaryFolder::make("pipe", place.path());
    const auto other = OwnTemporaryFolder::make("pipe", place.path());
    REQUIRE_MESSAGE(folder.ok(), folder.message());
    REQUIRE(other.ok());
    first = (*folder)->path();
    CHECK(first != (*other)->path());
    CHECK(first.find(std::to_string(::getpid())) == std::string::npos);
    CHECK(mode_of(first) == 0700);
    test::write_file((*folder)->file("deeper/input"), "x");
  }
  CHECK_FALSE(fs::exists(first));
  CHECK(fs::is_empty(place.path()));
}

TEST_CASE("what is made of a closed file is as closed, and what comes after is as before") {
  const test::TemporaryFolder place;
  const auto mode_of_new = [&place](const std::string& name) {
    const int file = ::open(place.file(name).c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0666);
    ::close(file);
    return mode_of(place.file(name));
  };
  const mode_t before = ::umask(022);
  for (const auto& [mode, wanted] : {std::pair{0600U, 0600U}, std::pair{0640U, 0640U}, std::pair{0644U, 0644U}}) {
    CAPTURE(mode);
    const std::string input = place.file("input" + std::to_string(mode));
    test::write_file(input, "x");
    ::chmod(input.c_str(), mode);
    const OutputAccess access;
    OutputAccess::narrow_to({input, place.file("none")});
    CHECK(mode_of_new("output" + std::to_string(mode)) == wanted);
  }
  CHECK(mode_of_new("after") == 0644);
  ::umask(before);
}
