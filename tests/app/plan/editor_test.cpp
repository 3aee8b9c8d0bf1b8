#include "app/plan/editor.h"

#include <doctest/doctest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <sstream>

#include "tests/support/files.h"
#include "tests/support/wait.h"

using namespace accelscope;
using namespace accelscope::app::plan;
using namespace accelscope::app;

TEST_CASE("editor: file and line are filled in, whatever they hold, and the file comes last where nothing is said") {
  using Words = std::vector<std::string>;
  CHECK(*editor_arguments("code -g {file}:{line}", "/a b/k.py", 33) == Words{"code", "-g", "/a b/k.py:33"});
  CHECK(*editor_arguments("emacsclient -n +{line}", "k.py", 1) == Words{"emacsclient", "-n", "+1", "k.py"});
  CHECK(*editor_arguments("'my editor' --at {line}", "$(x)", 2) == Words{"my editor", "--at", "2", "$(x)"});
  CHECK_FALSE(editor_arguments("", "k.py", 1).ok());
  CHECK_FALSE(editor_arguments("'open", "k.py", 1).ok());
}

TEST_CASE("editor: it is started with the file as one argument, and what is missing is named") {
  const test::TemporaryFolder folder;
  const std::string file = folder.file("it's $HOME.py"), reported = folder.file("told");
  test::write_file(file, "x = 1\n");
  const std::string editor = folder.file("editor.sh");
  test::write_file(editor, "#!/bin/sh\nprintf '%s|%s' \"$1\" \"$2\" > '" + reported + ".part'\nmv '" + reported +
                               ".part' '" + reported + "'\n");
  REQUIRE(::chmod(editor.c_str(), 0755) == 0);
  REQUIRE(start_editor(editor + " {line} {file}", file, 7).ok());
  REQUIRE(test::step_until([&] { return std::filesystem::exists(reported); }, [] {}));
  CHECK(test::read_file(reported) == "7|" + file);
  const auto no_file = start_editor(editor + " {file}", folder.file("none.py"), 7);
  REQUIRE_FALSE(no_file.ok());
  CHECK(no_file.message().find("none.py") != std::string::npos);
  const auto no_program = start_editor("no-such-editor {file}", file, 7);
  REQUIRE_FALSE(no_program.ok());
  CHECK(no_program.message().find("no-such-editor") != std::string::npos);
}

TEST_CASE(
    "editor: it has the signals of a program started by hand, and a session of its own, whatever the viewer ignores") {
  const test::TemporaryFolder folder;
  const std::string file = folder.file("k.py"), reported = folder.file("told");
  test::write_file(file, "x = 1\n");
  const std::string editor = folder.file("editor.sh");
  test::write_file(
      editor, "#!/bin/sh\n{ grep SigIgn /proc/self/status; grep SigBlk /proc/self/status; cat /proc/$$/stat; } > '" +
                  reported + ".part'\nmv '" + reported + ".part' '" + reported + "'\n");
  REQUIRE(::chmod(editor.c_str(), 0755) == 0);
  std::array<void (*)(int), 3> before{};
  constexpr std::array<int, 3> kIgnored = {SIGINT, SIGQUIT, SIGUSR1};
  for (std::size_t i = 0; i < kIgnored.size(); ++i) before[i] = std::signal(kIgnored[i], SIG_IGN);
  const Result<void> started = start_editor(editor, file, 1);
  for (std::size_t i = 0; i < kIgnored.size(); ++i) std::signal(kIgnored[i], before[i]);
  REQUIRE(started.ok());
  REQUIRE(test::step_until([&] { return std::filesystem::exists(reported); }, [] {}));
  std::istringstream text(test::read_file(reported));
  std::string word, ignored, blocked, stat;
  text >> word >> ignored >> word >> blocked;
  constexpr std::uint64_t kOfPrograms = 0x7fffffff;  // the C library keeps two of its own
  CHECK((std::stoull(ignored, nullptr, 16) & kOfPrograms) == 0);
  CHECK(std::stoull(blocked, nullptr, 16) == 0);
  std::getline(text, stat);
  std::getline(text, stat);
  std::istringstream fields(stat.substr(stat.rfind(')') + 2));
  long parent = 0, group = 0, session = 0;
  fields >> word >> parent >> group >> session;
  CHECK(session != ::getsid(0));
  CHECK(session == std::stol(stat));
}

TEST_CASE("editor: a start that fails is told with the command and the system's reason") {
  const test::TemporaryFolder folder;
  const std::string file = folder.file("k.py"), broken = folder.file("broken");
  test::write_file(file, "x = 1\n");
  test::write_file(broken, "#!/no/such/interpreter\n");
  REQUIRE(::chmod(broken.c_str(), 0755) == 0);
  const auto no_start = start_editor(broken + " --at {line} {file}", file, 3);
  REQUIRE_FALSE(no_start.ok());
  CHECK(no_start.message().find(broken + " --at 3 " + file) != std::string::npos);
  CHECK(no_start.message().find("No such file or directory (error 2)") != std::string::npos);
  test::write_file(broken, "#!/bin/sh\nexit 3\n");
  const auto failed = start_editor(broken, file, 3);
  REQUIRE_FALSE(failed.ok());
  CHECK(failed.message().find(broken + " " + file + ": ended at once and returned 3") != std::string::npos);
  REQUIRE(::chmod(broken.c_str(), 0644) == 0);
  const auto not_allowed = start_editor(broken, file, 3);
  REQUIRE_FALSE(not_allowed.ok());
  CHECK(not_allowed.message().find(broken) != std::string::npos);
}
