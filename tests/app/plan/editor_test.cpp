#include "app/plan/editor.h"

#include <doctest/doctest.h>
#include <sys/stat.h>

#include "tests/support/files.h"
#include "tests/support/wait.h"

using namespace accelscope;
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
  const std::string file = folder.file("it's $HOME.py"), told = folder.file("told");
  test::write_file(file, "x = 1\n");
  const std::string editor = folder.file("editor.sh");
  test::write_file(
      editor, "#!/bin/sh\nprintf '%s|%s' \"$1\" \"$2\" > '" + told + ".part'\nmv '" + told + ".part' '" + told + "'\n");
  REQUIRE(::chmod(editor.c_str(), 0755) == 0);
  REQUIRE(start_editor(editor + " {line} {file}", file, 7).ok());
  REQUIRE(test::step_until([&] { return std::filesystem::exists(told); }, [] {}));
  CHECK(test::read_file(told) == "7|" + file);
  const auto no_file = start_editor(editor + " {file}", folder.file("none.py"), 7);
  REQUIRE_FALSE(no_file.ok());
  CHECK(no_file.message().find("none.py") != std::string::npos);
  const auto no_program = start_editor("no-such-editor {file}", file, 7);
  REQUIRE_FALSE(no_program.ok());
  CHECK(no_program.message().find("no-such-editor") != std::string::npos);
}
