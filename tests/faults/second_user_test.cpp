// That other tests' second user is one: what is theirs is closed to a third, and their programs know their own home.
#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>

#include "tests/support/faults/second_user.h"
#include "tests/support/files.h"
#include "tests/support/wait.h"

namespace accelscope::capture {
namespace {

namespace fs = std::filesystem;

struct ShellAs {
  int status = -1;
  std::string output;
};

ShellAs shell_as(unsigned user, const fs::path& home, const std::string& command) {
  Result<test::Process> process = test::Process::start(test::as_user(user, home, {"/bin/sh", "-c", command}));
  REQUIRE_MESSAGE(process.ok(), process.message());
  const int status = process->finish(test::kPatience);
  return {status, process->output()};
}

TEST_CASE("tests can play a second user, whose files are closed to a third") {
  if (!test::can_be_others()) return;
  const test::TemporaryFolder folder;
  const fs::path theirs = folder.file("theirs");
  fs::create_directory(theirs);
  std::ofstream(theirs / "secret") << "of the second user\n";
  fs::create_symlink("/etc/passwd", theirs / "link");
  REQUIRE(test::give_to(test::kSecondUser, theirs));
  fs::permissions(theirs, fs::perms::owner_all);
  const ShellAs own = shell_as(test::kSecondUser, theirs, "id -u; echo \"$HOME\"; cat ~/secret; touch ~/new");
  CHECK_MESSAGE(own.output.find("61801\n" + theirs.string()) == 0, own.output);
  CHECK_MESSAGE(own.output.find("of the second user") != std::string::npos, own.output);
  CHECK(fs::exists(theirs / "new"));
  const ShellAs third = shell_as(test::kThirdUser, folder.path(), "cat " + (theirs / "secret").string());
  CHECK(third.status != 0);
  CHECK_MESSAGE(third.output.find("of the second user") == std::string::npos, third.output);
}

}  // namespace
}  // namespace accelscope::capture
