// A Neuron capture as a user on a laptop makes it: inputs are sent to an agent, results are brought back.
#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <map>

#include "capture/agent/viewers/kinds_lookup.h"
#include "capture/client/record.h"
#include "tests/capture/imported.h"
#include "tests/capture/kinds/kind_run_support.h"
#include "tests/capture/wire/wire_support.h"
#include "tests/support/neuron/stand_in_tool.h"
#include "tests/support/process.h"
#include "tests/support/programs_folder.h"

namespace accelscope::capture {
namespace {

namespace fs = std::filesystem;
using test::Process;
using test::StandInTool;

class Host {
 public:
  Host() {
    static const ScratchFolder scratch;  // agents of one user: the same token
    ::setenv("XDG_RUNTIME_DIR", scratch.path.c_str(), 1);
    ::setenv("XDG_CONFIG_HOME", scratch.path.c_str(), 1);
    Result<Process> agent = Process::start(
        {accelscope::test::programs_folder() + "/accelscope-agent", "--listen", "127.0.0.1:0", "--allow-run"});
    REQUIRE(agent.ok());
    agent_.emplace(std::move(agent).value());
    const std::string label = "listening on ";
    const std::optional<std::string> line = agent_->wait_for(label, kPatience);
    REQUIRE(line);
    place_ = line->substr(line->find(label) + label.size());
  }
  ~Host() {
    agent_->interrupt();
    agent_->finish(kPatience);
  }
  Host(const Host&) = delete;
  Host& operator=(const Host&) = delete;

  [[nodiscard]] const std::string& place() const { return place_; }
  [[nodiscard]] Result<client::RecordReport> record_into(const std::string& output, client::CapturePlan plan) const {
    client::RecordOptions options;
    if (plan.places.empty()) plan.places = {place_};
    options.plan = std::move(plan);
    options.output_path = output;
    options.limits = quick_limits();
    return client::record(options);
  }

 private:
  std::optional<Process> agent_;
  std::string place_;
};

TEST_CASE("NEFF and inputs are sent to the host, profile, trace and outputs come back") {
  const StandInTool tool;
  const Host host;
  const ScratchFolder laptop;
  std::ofstream(laptop.file("mlp.neff")) << "program";
  std::ofstream(laptop.file("x.npy"), std::ios::binary) << test::npy_of(4, 2);
  client::CapturePlan plan;
  plan.request.kinds = {
      {"neuron", {{"neff", "mlp.neff"}, {"input", "x=x.npy"}, {"save-output", "on"}, {"profile-nth-exec", "2"}}}};
  plan.send = {laptop.file("mlp.neff"), laptop.file("x.npy")};
  plan.request.results = {"*.ntff", "*.neff", "output_*.npy"};
  plan.results_folder = laptop.file("results");
  const Result<client::RecordReport> report = host.record_into(laptop.file("mlp.accel"), plan);
  REQUIRE_MESSAGE(report.ok(), (report.ok() ? "" : report.message()));
  CHECK_MESSAGE(report->complete, report->message);
  const Imported session = Imported::session(laptop.file("mlp.accel"));
  CHECK(session.count("instruction") > 0);
  CHECK(session.quality("inputs_all_zero") == nullptr);
  CHECK(report->results_files == 3);
  CHECK(fs::exists(laptop.file("results/profile_exec_2.ntff")));
  CHECK(fs::file_size(laptop.file("results/mlp.neff")) == 7);
  CHECK(fs::exists(laptop.file("results/output_0.npy")));
  REQUIRE(tool.commands().size() == 2);
  CHECK(tool.commands()[0].at(7) == "x");
  CHECK(contains(tool.commands()[0].at(8), "/x.npy"));
}

TEST_CASE("files and folders of the host are not used for viewers that may start no programs") {
  const StandInTool tool;
  const std::string secret = tool.write("secret.bin", "secret");
  const ScratchFolder sent;
  std::ofstream(sent.file("mlp.neff")) << "program";
  std::ofstream(sent.file("x.npy"), std::ios::binary) << test::npy_of(4, 2);
  request::CaptureRequest request;
  const auto refusal = [&](std::vector<request::OptionSetting> options) {
    request.kinds = {{"neuron", std::move(options)}};
    const auto parts = agent::agent_kinds(false, {}).parts(request, sent.path.string(), {});
    return parts.ok() ? std::string() : parts.message();
  };
  CHECK(refusal({{"neff", "mlp.neff"}, {"input", "x=x.npy"}}).empty());
  CHECK(contains(refusal({{"neff", secret}}), "--neff: the agent reads no files of its host"));
  CHECK(contains(refusal({{"neff", "mlp.neff"}, {"input", "x=" + secret}}), "--input: the agent reads no files"));
  request.directory = "/tmp";
  CHECK(contains(refusal({{"neff", "mlp.neff"}}), "/tmp: the agent uses no folders of its host"));
}

TEST_CASE("workers on several hosts, an agent on each, are one session") {
  const StandInTool tool;
  const Host first;
  const Host second;
  const ScratchFolder laptop;
  std::ofstream(laptop.file("cc.neff")) << "program";
  client::CapturePlan plan;
  plan.places = {first.place(), second.place()};
  plan.request.kinds = {
      {"neuron", {{"neff", "cc.neff"}, {"collectives-workers-per-node", "2"}, {"collectives-worker-count", "4"}}}};
  plan.send = {laptop.file("cc.neff")};
  const Result<client::RecordReport> report = first.record_into(laptop.file("cc.accel"), plan);
  REQUIRE_MESSAGE(report.ok(), (report.ok() ? "" : report.message()));
  CHECK_MESSAGE(report->complete, report->message);
  const Imported session = Imported::session(laptop.file("cc.accel"));
  std::map<std::string, std::size_t> devices;
  for (const EventValues& event : session.events("instruction")) ++devices[event.device];
  REQUIRE(devices.size() == 2);  // the hosts are one machine here, so their ranks have the same names
  for (const auto& [device, events] : devices) {
    CHECK(contains(device, "rank "));
    CHECK(events > 0);
    CHECK(events % 2 == 0);  // from both
  }
  CHECK(session.count("program") == 6);  // on each host one capture, two ranks processed
}

TEST_CASE("a busy device is told to whoever records") {
  StandInTool tool;
  tool.play("busy");
  const Host host;
  const ScratchFolder laptop;
  std::ofstream(laptop.file("mlp.neff")) << "program";
  client::CapturePlan plan;
  plan.request.kinds = {{"neuron", {{"neff", "mlp.neff"}}}};
  plan.send = {laptop.file("mlp.neff")};
  const Result<client::RecordReport> report = host.record_into(laptop.file("mlp.accel"), plan);
  const std::string reported = report.ok() ? report->message : report.message();
  CHECK(contains(reported, "the device is busy: neuron-ls"));
}

}  // namespace
}  // namespace accelscope::capture
