#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "capture/agent/control/commands.h"
#include "capture/agent/control/control_socket.h"
#include "capture/command_line/options.h"
#include "capture/request/kind.h"
#include "capture/security/secrets.h"
#include "capture/sim/output/simulator.h"
#include "capture/wire/link.h"
#include "capture/wire/messages.h"
#include "core/base/format.h"

namespace accelscope::capture::agent {
namespace {

namespace fs = std::filesystem;

struct DoctorCommand {
  std::string listen = "127.0.0.1:7420";
  std::string spool;
};

struct Finding {
  enum class State { ok, missing, failed } state = State::ok;
  std::string text;
};

class CountingSink final : public EventSink {
 public:
  Result<void> define(const Definition& /*definition*/) override { return {}; }
  Result<void> append(SealedChunk chunk) override {
    events += chunk.count();
    return {};
  }
  std::uint64_t events = 0;
};

Finding check_listening(const std::string& listen) {
  const Result<system::Address> address = system::parse_address(listen);
  if (!address) return {Finding::State::failed, address.message()};
  wire::Loop loop;
  const Result<std::unique_ptr<wire::Listener>> listener = wire::Listener::open(loop, *address, {});
  if (!listener) return {Finding::State::failed, listener.message()};
  return {Finding::State::ok, "can listen on " + (*listener)->address().text()};
}

Finding check_simulator() {
  CountingSink sink;
  sim::SimulationOptions options;
  options.kernels = 1;
  if (Result<void> done = sim::simulate(options, sink); !done) return {Finding::State::failed, done.message()};
  return {Finding::State::ok,
          fmt::format("the simulated accelerator runs ({} events in a kernel)", format_count(sink.events))};
}

void check_kinds(std::vector<Finding>& findings) {
  for (const request::KindFacts& facts : request::checked_kinds()) {
    for (const request::KindCheck& check : facts.checks) {
      findings.push_back({check.ok ? Finding::State::ok : Finding::State::missing,
                          fmt::format("kind {}: {}", facts.name, check.text)});
    }
  }
}

// Without making what is not there: an agent makes it when it first needs it.
void check_secrets(std::vector<Finding>& findings) {
  const Result<std::string> folder = security::private_folder();
  if (!folder) return findings.push_back({Finding::State::missing, folder.message()});
  const std::pair<const char*, const char*> files[] = {{"token", "the token that viewers must know"},
                                                       {"agent.key", "the agent's key"},
                                                       {"agent.crt", "its certificate"}};
  for (const auto& [name, what] : files) {
    const std::string path = *folder + "/" + name;
    std::error_code failure;
    if (!fs::exists(path, failure)) {
      findings.push_back(
          {Finding::State::ok, fmt::format("{}: not there yet; {} is made when it is needed", path, what)});
    } else if (const Result<std::string> content = security::read_private_file(path); !content) {
      findings.push_back({Finding::State::failed, content.message()});
    } else {
      findings.push_back({Finding::State::ok, fmt::format("{}: {}, readable by its owner only", path, what)});
    }
  }
}

Finding check_control() {
  const Result<std::string> folder = control_folder();
  if (!folder) return {Finding::State::failed, folder.message()};
  return {Finding::State::ok, *folder + ": captures can be reached from another shell"};
}

Finding check_spool(const std::string& spool) {
  std::error_code failure;
  fs::path there = fs::absolute(spool, failure);
  while (!fs::exists(there, failure) && there.has_relative_path()) there = there.parent_path();
  const fs::space_info space = fs::space(there, failure);
  if (failure) return {Finding::State::failed, fmt::format("{}: {}", spool, failure.message())};
  return {Finding::State::ok, fmt::format("{}: {} free for a spool", spool, format_bytes(space.available))};
}

int run(const DoctorCommand& options) {
  fmt::print("accelscope-agent {}, protocol {}.{}\n", ACCELSCOPE_VERSION, wire::kProtocolMajor, wire::kProtocolMinor);
  std::vector<Finding> findings = {check_listening(options.listen), check_simulator()};
  check_kinds(findings);
  check_secrets(findings);
  findings.push_back(check_control());
  if (!options.spool.empty()) findings.push_back(check_spool(options.spool));
  int status = kExitDone;
  for (const Finding& finding : findings) {
    const char* word = finding.state == Finding::State::ok        ? "ok     "
                       : finding.state == Finding::State::missing ? "missing"
                                                                  : "failed ";
    fmt::print("{}  {}\n", word, finding.text);
    if (finding.state == Finding::State::failed) status = kExitFailed;
  }
  return status;
}

}  // namespace

AgentAction declare_doctor(command_line::OptionSet& command) {
  auto doctor = std::make_shared<DoctorCommand>();
  command.add_option("--listen", doctor->listen, "HOST:PORT to try").shows_default();
  command.add_option("--spool", doctor->spool, "folder whose room is to be told");
  command.set_footer("Example:\n  accelscope-agent doctor");
  return [doctor] { return run(*doctor); };
}

}  // namespace accelscope::capture::agent
