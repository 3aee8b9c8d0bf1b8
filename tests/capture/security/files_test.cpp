// Keys, tokens and pins: made once, for their owner alone, and refused where others could read them.
#include <doctest/doctest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <fstream>
#include <thread>

#include "capture/security/identities.h"
#include "capture/security/secrets.h"
#include "tests/capture/wire/link_support.h"

namespace accelscope::capture {
namespace {

void write_file(const std::string& path, const std::string& content, unsigned mode = 0600) {
  { std::ofstream(path, std::ios::binary) << content; }
  REQUIRE(::chmod(path.c_str(), mode) == 0);
}

TEST_CASE("an agent makes its key and certificate once, for its owner alone, and keeps them") {
  const LinkFolder parent;
  const std::string folder = parent.file("config/accelscope");
  const Result<security::AgentIdentity> first = security::load_or_make_identity(folder);
  REQUIRE_MESSAGE(first.ok(), first.message());
  CHECK(security::is_fingerprint(first.value().fingerprint));
  CHECK(mode_of(folder) == 0700);
  CHECK(mode_of(folder + "/agent.key") == 0600);
  CHECK(mode_of(folder + "/agent.crt") == 0600);
  const Result<security::AgentIdentity> second = security::load_or_make_identity(folder);
  REQUIRE(second.ok());
  CHECK(second.value().fingerprint == first.value().fingerprint);
  CHECK(second.value().key_pem == first.value().key_pem);
  CHECK(security::load_or_make_identity(parent.file("other")).value().fingerprint != first.value().fingerprint);
}

TEST_CASE("agents that start for the first time at once agree on one key") {
  const LinkFolder parent;
  std::vector<std::string> fingerprints(4);
  std::vector<std::thread> agents;
  for (std::string& fingerprint : fingerprints) {
    agents.emplace_back([&fingerprint, folder = parent.file("agent")] {
      const Result<security::AgentIdentity> identity = security::load_or_make_identity(folder);
      fingerprint = identity ? identity.value().fingerprint : identity.message();
    });
  }
  for (std::thread& agent : agents) agent.join();
  for (const std::string& fingerprint : fingerprints) CHECK(fingerprint == fingerprints.front());
  CHECK(security::is_fingerprint(fingerprints.front()));
}

TEST_CASE("a key that others can read is refused with the command that mends it") {
  const LinkFolder folder;
  REQUIRE(security::load_or_make_identity(folder.path()).ok());
  for (const unsigned mode : {0640U, 0604U, 0620U}) {
    REQUIRE(::chmod(folder.file("agent.key").c_str(), mode) == 0);
    const Result<security::AgentIdentity> refused = security::load_or_make_identity(folder.path());
    REQUIRE_FALSE(refused.ok());
    CHECK(contains(refused.message(), "chmod 600 '" + folder.file("agent.key") + "'"));
  }
  REQUIRE(::chmod(folder.file("agent.key").c_str(), 0600) == 0);
  REQUIRE(::chmod(folder.path().c_str(), 0777) == 0);
  CHECK(contains(security::load_or_make_identity(folder.path()).message(), "chmod 700 '" + folder.path() + "'"));
  REQUIRE(::chmod(folder.path().c_str(), 0700) == 0);
  CHECK(security::load_or_make_identity(folder.path()).ok());
}

TEST_CASE("a lost certificate is made anew, and files that do not belong together are named") {
  const LinkFolder folder;
  const security::AgentIdentity identity = security::load_or_make_identity(folder.path()).value();
  std::filesystem::remove(folder.file("agent.crt"));
  REQUIRE(security::load_or_make_identity(folder.path()).ok());
  CHECK(content_of(folder.file("agent.key")) == identity.key_pem);
  write_file(folder.file("agent.crt"), new_identity()->certificate_pem);
  CHECK(contains(security::load_or_make_identity(folder.path()).message(), "agent.crt: is not the certificate of "));
  write_file(folder.file("agent.key"), "garbage");
  CHECK(contains(security::load_or_make_identity(folder.path()).message(), "agent.key: is not a private key"));
  write_file(folder.file("agent.key"), std::string(100'000, 'x'));
  CHECK(contains(security::load_or_make_identity(folder.path()).message(), "is it the right file?"));
}

TEST_CASE("a private file is replaced as a whole and never readable by others") {
  const LinkFolder folder;
  write_file(folder.file("secret"), "old", 0644);
  REQUIRE(security::write_private_file(folder.file("secret"), "new").ok());
  CHECK(mode_of(folder.file("secret")) == 0600);
  CHECK(security::read_private_file(folder.file("secret")).value() == "new");
  std::size_t files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder.path())) files += entry.exists() ? 1 : 0;
  CHECK(files == 1);
  CHECK(contains(security::read_private_file(folder.file("none")).message(), folder.file("none")));
  CHECK_FALSE(security::read_private_file(folder.path()).ok());
}

TEST_CASE("an agent is known, new or changed by the lines of a file that a person can edit") {
  const LinkFolder folder;
  security::KnownAgents agents(folder.file("deeper/known_agents"));
  const std::string first = new_identity()->fingerprint;
  const std::string second = new_identity()->fingerprint;
  const auto verdict = [&agents](const std::string& address, const std::string& fingerprint) {
    const Result<security::AgentCheck> check = agents.check(address, fingerprint);
    REQUIRE_MESSAGE(check.ok(), check.message());
    return check.value().verdict;
  };
  CHECK(verdict("trn1:7420", first) == security::AgentVerdict::first_use);
  REQUIRE(agents.remember("trn1:7420", first).ok());
  REQUIRE(agents.remember("trn1:7420", first).ok());
  CHECK(content_of(agents.path()) == "trn1:7420 " + first + "\n");
  CHECK(mode_of(agents.path()) == 0600);
  CHECK(verdict("trn1:7420", first) == security::AgentVerdict::known);
  CHECK(verdict("trn1:7421", first) == security::AgentVerdict::first_use);
  CHECK(verdict("trn1:7420", second) == security::AgentVerdict::changed);
  write_file(agents.path(), "# ours\n\n  trn1:7420   " + first + "\ntrn1:7420 " + second);  // no newline at the end
  CHECK(verdict("trn1:7420", second) == security::AgentVerdict::known);
  REQUIRE(agents.remember("[::1]:1", second).ok());
  CHECK(verdict("[::1]:1", second) == security::AgentVerdict::known);
  CHECK(verdict("trn1:7420", first) == security::AgentVerdict::known);
  CHECK(content_of(agents.path()).starts_with("# ours\n"));
}

TEST_CASE("pins that cannot be read are an error, never a reason to trust") {
  const LinkFolder folder;
  const security::KnownAgents agents(folder.file("known_agents"));
  const std::string fingerprint = new_identity()->fingerprint;
  for (const std::string& line : {std::string("trn1:7420"), "trn1:7420 " + fingerprint.substr(0, 40),
                                  "trn1:7420 " + fingerprint + " more", "trn1:7420 MD5:" + fingerprint}) {
    write_file(agents.path(), "# ours\n" + line + "\n");
    CHECK(contains(agents.check("trn1:7420", fingerprint).message(), "line 2 is not 'HOST:PORT SHA256:...'"));
  }
  write_file(agents.path(), "", 0666);
  CHECK(contains(agents.check("trn1:7420", fingerprint).message(), "chmod 600"));
}

TEST_CASE("the private folder follows XDG_CONFIG_HOME, else HOME") {
  const char* const home = std::getenv("HOME");
  const char* const config = std::getenv("XDG_CONFIG_HOME");
  const std::string old_home = home == nullptr ? "" : home;
  const std::string old_config = config == nullptr ? "" : config;
  ::setenv("HOME", "/h", 1);
  ::unsetenv("XDG_CONFIG_HOME");
  CHECK(security::private_folder().value() == "/h/.config/accelscope");
  ::setenv("XDG_CONFIG_HOME", "/x", 1);
  CHECK(security::private_folder().value() == "/x/accelscope");
  ::setenv("XDG_CONFIG_HOME", "relative", 1);  // to be ignored, by the specification
  CHECK(security::private_folder().value() == "/h/.config/accelscope");
  ::unsetenv("HOME");
  CHECK(contains(security::private_folder().message(), "XDG_CONFIG_HOME"));
  home == nullptr ? ::unsetenv("HOME") : ::setenv("HOME", old_home.c_str(), 1);
  config == nullptr ? ::unsetenv("XDG_CONFIG_HOME") : ::setenv("XDG_CONFIG_HOME", old_config.c_str(), 1);
}

}  // namespace
}  // namespace accelscope::capture
