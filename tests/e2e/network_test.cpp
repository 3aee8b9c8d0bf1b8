// Two hosts that do not share a loopback: the agent lives in a network namespace of its own, behind a link that is
// taken down and up again. Needs root and iproute2; elsewhere these tests say so and do nothing.
#include <doctest/doctest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <thread>

#include "tests/support/process.h"
#include "tests/support/programs_folder.h"

namespace accelscope {
namespace {

using std::chrono::milliseconds;
using test::Process;

const std::string kPrograms = accelscope::test::programs_folder();
constexpr milliseconds kPatience{600'000};

bool shell(const std::string& command) {
  Result<Process> process = Process::start({"/bin/sh", "-c", command});
  return process.ok() && process->finish(kPatience) == 0;
}

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

// A host of its own, joined to this one by a cable.
class OtherHost {
 public:
  OtherHost() {
    ready_ = ::geteuid() == 0 && shell("ip netns add " + name_) &&
             shell("ip link add " + here_ + " type veth peer name " + there_ + " netns " + name_) &&
             shell("ip addr add " + subnet(1) + "/30 dev " + here_) && cable(true) &&
             shell("ip -n " + name_ + " addr add " + address + "/30 dev " + there_) &&
             shell("ip -n " + name_ + " link set " + there_ + " up") && shell("ip -n " + name_ + " link set lo up");
    std::string pattern = (std::filesystem::temp_directory_path() / "accelscope-XXXXXX").string();
    REQUIRE(mkdtemp(pattern.data()) != nullptr);
    folder = pattern;
  }
  ~OtherHost() {
    (void)shell("ip link del " + here_);
    (void)shell("ip netns del " + name_);
    std::filesystem::remove_all(folder);
  }
  OtherHost(const OtherHost&) = delete;
  OtherHost& operator=(const OtherHost&) = delete;

  [[nodiscard]] bool ready() const {
    if (!ready_) MESSAGE("network namespaces cannot be made here (root and iproute2 are needed); nothing was tested");
    return ready_;
  }
  bool cable(bool plugged) const { return shell("ip link set " + here_ + (plugged ? " up" : " down")); }

  // Both hosts have configurations of their own.
  [[nodiscard]] Result<Process> run_there(const std::string& command) const {
    return Process::start({"/bin/sh", "-c",
                           "exec ip netns exec " + name_ + " env XDG_CONFIG_HOME=" + folder.string() + "/there " +
                               kPrograms + "/" + command});
  }
  [[nodiscard]] Result<Process> run_here(const std::string& command) const {
    return Process::start(
        {"/bin/sh", "-c", "exec env XDG_CONFIG_HOME=" + folder.string() + "/here " + kPrograms + "/" + command});
  }

  // What it is called from here.
  const std::string address = subnet(2);
  std::filesystem::path folder;

 private:
  // Tests run beside each other: each process joins its hosts in four addresses of its own.
  static std::string subnet(int host) {
    const int block = static_cast<int>(::getpid()) % (1 << 14);
    return "10.213." + std::to_string(block >> 6) + "." + std::to_string((block & 63) * 4 + host);
  }

  std::string name_ = "acscope" + std::to_string(::getpid());
  std::string here_ = "ach" + std::to_string(::getpid());
  std::string there_ = "act" + std::to_string(::getpid());
  bool ready_ = false;
};

std::string address_of(Process& agent) {
  const auto line = agent.wait_for("listening on ", kPatience);
  REQUIRE_MESSAGE(line, agent.output());
  const std::string address = line->substr(line->find("listening on ") + 13);
  return address.substr(0, address.find(' '));
}

TEST_CASE("a capture from another host is encrypted, proves the token, and survives an unplugged cable") {
  const OtherHost other;
  if (!other.ready()) return;
  const std::string token = (other.folder / "token").string();
  std::ofstream(token) << "a-secret-that-is-long-enough\n";
  std::filesystem::permissions(token, std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
  const std::string output = (other.folder / "capture.accel").string();

  Result<Process> agent = other.run_there("accelscope-agent simulate --rate 100k --seconds 8 --once --listen " +
                                          other.address + ":0 --token-file " + token);
  REQUIRE(agent.ok());
  const std::string address = address_of(agent.value());
  const std::string record = "accelscope record " + address + " -o " + output + " --json";

  // Without its token, and with a certificate that nobody has seen yet, nothing is recorded.
  Result<Process> stranger = other.run_here(record + " --accept-new-agent");
  REQUIRE(stranger.ok());
  CHECK(stranger->finish(kPatience) == 1);
  CHECK_MESSAGE(contains(stranger->output(), "token"), stranger->output());
  CHECK_FALSE(std::filesystem::exists(output));

  Result<Process> recorder = other.run_here(record + " --accept-new-agent --token-file " + token);
  REQUIRE(recorder.ok());
  REQUIRE_MESSAGE(agent->wait_for("the capture begins", kPatience), agent->output());
  std::this_thread::sleep_for(milliseconds(1'000));  // something is on its way
  REQUIRE(other.cable(false));
  std::this_thread::sleep_for(milliseconds(3'000));  // how long the cable is unplugged
  REQUIRE(other.cable(true));
  const int status = recorder->finish(kPatience);
  CHECK_MESSAGE(status == 0, recorder->output());
  CHECK_MESSAGE(contains(recorder->output(), "\"lost_events\": 0"), recorder->output());
  CHECK_MESSAGE(contains(recorder->output(), "\"complete\": true"), recorder->output());
  CHECK_FALSE(contains(recorder->output() + agent->output(), "a-secret-that-is-long-enough"));
  CHECK(agent->finish(kPatience) == 0);
  // The agent counts what it made; the file has all of it.
  const std::string ended = "the capture ends after ";
  const std::size_t at = agent->output().find(ended);
  REQUIRE(at != std::string::npos);
  std::string made = agent->output().substr(at + ended.size());
  made = made.substr(0, made.find(' '));
  made.erase(std::remove(made.begin(), made.end(), ','), made.end());
  const auto number = [&](const std::string& key) {
    const std::size_t place = recorder->output().find("\"" + key + "\": ");
    return place == std::string::npos ? 0ULL : std::stoull(recorder->output().substr(place + key.size() + 4));
  };
  CHECK_MESSAGE(number("events") + number("table_rows") == std::stoull(made), recorder->output());
}

TEST_CASE("an agent that comes back with another certificate is refused, with what to do") {
  const OtherHost other;
  if (!other.ready()) return;
  const std::string token = (other.folder / "token").string();
  std::ofstream(token) << "a-secret-that-is-long-enough\n";
  std::filesystem::permissions(token, std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
  const std::string serve =
      "accelscope-agent simulate --events 1000 --once --listen " + other.address + ":7421 --token-file " + token;
  const std::string record = "accelscope record " + other.address + ":7421 --force --token-file " + token + " -o " +
                             (other.folder / "capture.accel").string();
  {
    Result<Process> agent = other.run_there(serve);
    REQUIRE(agent.ok());
    (void)address_of(agent.value());
    Result<Process> refused = other.run_here(record);
    REQUIRE(refused.ok());
    CHECK(refused->finish(kPatience) == 1);
    CHECK_MESSAGE(contains(refused->output(), "--accept-new-agent"), refused->output());
    Result<Process> first = other.run_here(record + " --accept-new-agent");
    REQUIRE(first.ok());
    CHECK_MESSAGE(first->finish(kPatience) == 0, first->output());
    CHECK(agent->finish(kPatience) == 0);
  }
  std::filesystem::remove_all(other.folder / "there");
  Result<Process> changed = other.run_there(serve);
  REQUIRE(changed.ok());
  (void)address_of(changed.value());
  Result<Process> warned = other.run_here(record + " --accept-new-agent");
  REQUIRE(warned.ok());
  CHECK(warned->finish(kPatience) == 1);
  CHECK_MESSAGE(contains(warned->output(), "known_agents"), warned->output());
  CHECK_MESSAGE(contains(warned->output(), "changed"), warned->output());
}

}  // namespace
}  // namespace accelscope
