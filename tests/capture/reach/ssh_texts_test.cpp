// The texts that go to ssh and to the other host's shell, and those that come back.
#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>

#include "capture/reach/agent_files.h"
#include "capture/reach/ssh_command.h"
#include "capture/system/child_process.h"
#include "capture/system/shown_command.h"
#include "reach_support.h"

using namespace accelscope::capture;
using namespace accelscope::capture::reach_test;

TEST_CASE("scripts hold nothing that csh and fish read differently, and folders with such names are refused") {
  const std::vector<std::string> scripts = {reach::hold_script(),
                                            reach::check_script(),
                                            reach::folder_script(0),
                                            reach::folder_script(3'000'000),
                                            reach::folder_script(5, "/it's"),
                                            reach::left_script("/it's"),
                                            reach::start_script("/a b/it's", {"/home/a b/it's", "--token-stdin"}),
                                            reach::remove_script("/a b")};
  for (const std::string& script : scripts) CHECK_MESSAGE(reach::remote_command(script).starts_with("sh -c '"), script);
  CHECK(reach::remote_command(reach::remove_script("/home/wow!")).empty());
  CHECK(reach::remote_command(reach::remove_script("/home/a\\b")).empty());
  CHECK(reach::remote_command(reach::remove_script("/home/a\nb")).empty());
}

TEST_CASE("scripts mean the same through a user's shell, a quoted word and sh") {
  const ReachFolder folder;
  folder.write("it's $HOME; `id`/agent", "#!/bin/sh\nprintf '<%s>' \"$@\"\n", 0755);
  const std::string program = folder.file("it's $HOME; `id`/agent");
  for (const std::string shell : {"sh", "bash", "zsh", "csh", "tcsh", "fish"}) {
    const std::string path = system::find_program(shell);
    if (path.empty()) continue;
    const std::string work = folder.file("work of " + shell + "'s");
    std::filesystem::create_directory(work);
    const std::string script = reach::start_script(work, {program, "a b", "", "it's", "$PATH", "\"", "*"});
    const auto ran = system::run_child({path, "-c", reach::remote_command(script)}, [] { return false; });
    REQUIRE(ran.ok());
    CHECK_MESSAGE(ran->output == "<a b><><it's><$PATH><\"><*>", shell);
    CHECK(eventually([&] { return !std::filesystem::exists(work); }));
  }
}

TEST_CASE("a copy that is cut short removes itself, a whole one stays") {
  const ReachFolder folder;
  folder.write("program", "#!/bin/sh\necho accelscope-agent 1.2.3\n");
  const auto copied = [&](std::uint64_t size) {
    const auto ran = system::run_child(
        {"/bin/sh", "-c",
         "HOME=" + system::shell_quote(folder.path()) + "; export HOME; " +
             reach::remote_command(reach::folder_script(size)) + " < " + system::shell_quote(folder.file("program"))},
        [] { return false; });
    REQUIRE(ran.ok());
    return reach::read_folder(ran->output);
  };
  const reach::RemoteFolder cut = copied(1'000);
  CHECK(cut.version.empty());
  CHECK(system::open_for_reading(cut.path).message().find("No such file") != std::string::npos);
  const reach::RemoteFolder whole = copied(folder.read("program").size());
  CHECK(whole.version == "1.2.3");
  CHECK(whole.path.starts_with(folder.path() + "/.cache/accelscope/agent."));
  CHECK(system::open_for_reading(whole.path + "/accelscope-agent").ok());
}

TEST_CASE("what the host says about itself is found between other lines") {
  const reach::RemoteFacts facts = reach::read_facts(
      "Welcome\nreach-begin\r\nreach-system Linux\nreach-machine aarch64\nreach-agent /a b/agent\n"
      "reach-version accelscope-agent 0.1.0\nreach-agent /other\nreach-version \n");
  CHECK(facts.answered);
  CHECK(facts.names.machine == "aarch64");
  REQUIRE(facts.agents.size() == 2);
  CHECK(facts.agents[0].path == "/a b/agent");
  CHECK(facts.agents[0].version == "0.1.0");
  CHECK(facts.agents[1].version.empty());
  CHECK_FALSE(reach::read_facts("sh: not found\n").answered);
  CHECK(reach::same_machine({"Linux", "arm64"}, {"Linux", "aarch64"}));
  CHECK_FALSE(reach::same_machine({"Darwin", "arm64"}, {"Linux", "aarch64"}));
  CHECK_FALSE(reach::same_machine({"Linux", "x86_64"}, {"Linux", "aarch64"}));
}

TEST_CASE("packages follow Debian's rule for the names of libraries") {
  CHECK(reach::package_of("libspdlog.so.1.10") == "libspdlog1.10");
  CHECK(reach::package_of("libsqlite3.so.0") == "libsqlite3-0");
  CHECK(reach::package_of("libstdc++.so.6") == "libstdc++6");
  CHECK(reach::package_of("libz.so.1") == "zlib1g");
  CHECK(reach::package_of("libcrypto.so.3") == "libssl3");
  CHECK(reach::package_of("strange") == "strange");
}

TEST_CASE("a key file goes to every call of ssh, before the host") {
  const reach::SshCommand ssh{"/usr/bin/ssh", "", "/tmp/x/ssh", reach::parse_place("ssh://box").value(),
                              "/keys/my key"};
  for (const auto& argv : {ssh.master(true, false, "c"), ssh.run("c"), ssh.forward(99)}) {
    const auto option = std::find(argv.begin(), argv.end(), "-i");
    REQUIRE(option != argv.end());
    CHECK(*(option + 1) == "/keys/my key");
    CHECK(option < std::find(argv.begin(), argv.end(), "--"));
  }
}

TEST_CASE("ssh never gets an option that weakens its checks, and the place comes after the options") {
  const reach::SshCommand ssh{"/usr/bin/ssh", "", "/tmp/x/ssh", reach::parse_place("ssh://ada@box:2222").value()};
  for (const auto& argv : {ssh.master(true, false, "c"), ssh.master(false, true, "c"), ssh.run("c"), ssh.forward(99)}) {
    for (const std::string& argument : argv) CHECK_FALSE(holds(argument, "StrictHostKeyChecking"));
    const auto end = std::find(argv.begin(), argv.end(), "--");
    REQUIRE(end != argv.end());
    CHECK(*(end + 1) == "box");
    CHECK(*(end - 1) == "ada");
    CHECK(*(end - 3) == "2222");
  }
  const auto batch = [](const std::vector<std::string>& argv) {
    return std::find(argv.begin(), argv.end(), "BatchMode=yes") != argv.end();
  };
  CHECK_FALSE(batch(ssh.master(true, false, "c")));
  CHECK_FALSE(batch(ssh.master(false, true, "c")));
  CHECK(batch(ssh.master(false, false, "c")));
}

TEST_CASE("each complaint of ssh says what is wrong, what to do, and ssh's own last line") {
  const reach::Place place = reach::parse_place("ssh://ada@box").value();
  struct Case {
    const char* said;
    const char* reported;
  };
  for (const Case& one : {
           Case{"ssh: connect to host box port 22: Connection timed out\r\n", "it does not answer"},
           Case{"ssh: connect to host box port 22: No route to host\n", "no way leads to it"},
           Case{"ada@box: Permission denied (publickey,password).\n", "neither a key nor a password"},
           Case{"Received disconnect from ::1: Too many authentication failures\n", "too many keys"},
           Case{"Timeout, server box not responding.\n", "the connection is dead"},
           Case{"client_loop: send disconnect: Broken pipe\n", "the connection broke"},
           Case{"/home/ada/.ssh/config: line 3: Bad configuration option: foo\n", "does not understand its config"},
           Case{"@ WARNING: UNPROTECTED PRIVATE KEY FILE! @\nada@box: Permission denied (publickey).\n", "chmod 600"},
           Case{"something new\n", "try ssh ada@box in a terminal"},
       }) {
    const std::string reported = reach::explain_ssh_failure(place, one.said);
    CHECK_MESSAGE(reported.starts_with("ssh://ada@box: "), reported);
    CHECK_MESSAGE(holds(reported, one.reported), reported);
    CHECK_MESSAGE(holds(reported, "; "), reported);
    CHECK_MESSAGE(reported.ends_with("(" + reach::last_line(one.said) + ")"), reported);
  }
  CHECK_FALSE(reach::is_ssh_failure("Warning: Permanently added 'box' (ED25519) to the list of known hosts.\n"));
}
