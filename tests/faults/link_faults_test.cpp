// A recording whose first connection breaks at every step of the protocol, before, inside and after each message, with
// and without latency and spool: what is saved is the same to the bit as without a break, and so are the files that
// come back. ACCELSCOPE_FAULTS_ROUNDS=N runs the random part N times as long.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <array>
#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <mutex>
#include <random>
#include <thread>

#include "capture/client/record.h"
#include "capture/security/identities.h"
#include "core/base/checksum.h"
#include "tests/capture/wire/wire_support.h"
#include "tests/faults/trial_folder.h"
#include "tests/support/cutting_proxy.h"
#include "tests/support/sanitized.h"
#include "tests/support/wait.h"

namespace accelscope::capture {
namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;
using test::CuttingProxy;
using test::FrameStep;
using test::ProxyPlan;
using test::Towards;
using test::Trouble;

constexpr std::uint64_t kFaultEvents = 40'000;
constexpr const char* kFaultToken = "the-token-of-the-agent-under-test";
constexpr std::size_t kSentBytes = 700'000;  // two pieces of a file
constexpr std::size_t kBroughtBytes = 600'000;

std::string bytes_of(std::size_t count, unsigned seed) {
  std::string text(count, '\0');
  for (std::size_t i = 0; i < count; ++i) text[i] = static_cast<char>((i * 31 + seed) ^ (i >> 9));
  return text;
}

std::string file_text(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void write_private(const fs::path& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
  fs::permissions(path, fs::perms::owner_read | fs::perms::owner_write);
}

// Needs what was sent, makes events, and leaves a file to be brought back.
Result<void> work_of(const std::string& folder, EventSink& sink) {
  if (file_text(fs::path(folder) / "in.bin") != bytes_of(kSentBytes, 1))
    return Error{"what was sent did not come whole"};
  if (Result<void> made = write_stream({.events = kFaultEvents, .lanes = 3}, sink); !made) return made;
  std::ofstream(fs::path(folder) / "out.bin", std::ios::binary) << bytes_of(kBroughtBytes, 2);
  return {};
}

agent::AgentOptions agent_under_test(const fs::path& spool) {
  agent::AgentOptions options;
  options.secrets.token = security::Token::parse(kFaultToken).value();
  options.may_run = true;
  options.limits = quick_limits();
  options.spool_folder = spool.string();
  options.kinds.parts = [](const request::CaptureRequest&, const std::string& folder,
                           std::chrono::steady_clock::time_point) {
    const auto write = [folder](EventSink& sink, const request::OpenScope&, const request::AskCapture&) {
      return work_of(folder, sink);
    };
    return Result<std::vector<agent::SourcePart>>(std::vector<agent::SourcePart>{{"work", write, true, false}});
  };
  return options;
}

// Of all chunks, in the order of lanes and ordinals.
std::uint64_t digest(const Store& store) {
  const auto snapshot = store.snapshot();
  std::uint64_t sum = 0;
  for (const LaneSnapshot& lane : snapshot->lanes) {
    for (std::uint32_t i = 0; i < lane.chunk_count; ++i) {
      const Result<Bytes> bytes = store.read_chunk(lane, i);
      sum = sum * 1'000'003 + (bytes ? checksum(*bytes) : 1);
    }
  }
  return sum;
}

struct Trial {
  ProxyPlan first;  // of the first connection; later ones have its latency only
  std::string name;
  bool spool = false;
  bool tls = false;
};

std::shared_ptr<const security::AgentIdentity> identity_under_test() {
  static const std::shared_ptr<const security::AgentIdentity> identity =
      std::make_shared<const security::AgentIdentity>(security::make_identity().value());
  return identity;
}

// As if the user had said so once.
Result<void> trust(const std::string& address) {
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  const Result<std::string> path = security::known_agents_path();
  return path ? security::KnownAgents(*path).remember(address, identity_under_test()->fingerprint)
              : Result<void>(path.error());
}

struct TrialOutcome {
  std::string failure;  // "": as it should be
  std::uint64_t digest = 0;
  bool troubled = false;  // the trouble did happen
};

TrialOutcome run_trial(const Trial& trial) {
  const TrialFolder folder;
  const fs::path spool = trial.spool ? folder.path / "spool" : fs::path();
  agent::AgentOptions agent_options = agent_under_test(spool);
  if (trial.tls) agent_options.secrets.identity = identity_under_test();
  RunningAgent agent({}, agent_options);
  CuttingProxy proxy(agent.address().port);
  proxy.plan(trial.first);
  proxy.plan_rest({.delay = trial.first.delay, .jitter = trial.first.jitter});
  std::ofstream(folder.path / "in.bin", std::ios::binary) << bytes_of(kSentBytes, 1);
  write_private(folder.path / "token", kFaultToken);
  client::RecordOptions options;
  const std::string address = fmt::format("127.0.0.1:{}", proxy.port());
  if (trial.tls) {
    if (const Result<void> trusted = trust(address); !trusted) return {trusted.message(), 0, false};
  }
  options.plan.places = {(trial.tls ? "tls://" : "") + address};
  options.plan.token_file = (folder.path / "token").string();
  options.plan.send = {(folder.path / "in.bin").string()};
  options.plan.request.kinds = {{"work", {}}};
  options.plan.request.results = {"out.bin"};
  options.plan.results_folder = (folder.path / "results").string();
  options.output_path = (folder.path / "run.accel").string();
  options.limits = quick_limits();
  const Result<client::RecordReport> report = client::record(options);
  TrialOutcome outcome;
  // The last bytes may arrive before the proxy has noted what it did to them.
  outcome.troubled = !trial.first.step || test::step_until([&] { return proxy.troubles() > 0; }, [] {});
  if (!report) {
    outcome.failure = report.message();
  } else if (!report->complete || report->lost_events != 0) {
    outcome.failure = fmt::format("{} events lost: {}", report->lost_events.value_or(0), report->message);
  } else if (!report->message.empty()) {
    outcome.failure = report->message;
  } else if (file_text(folder.path / "results" / "out.bin") != bytes_of(kBroughtBytes, 2)) {
    outcome.failure = "the file that was brought back differs";
  } else {
    const Result<std::unique_ptr<Store>> store = Store::open(options.output_path);
    if (!store) return {store.message(), 0, outcome.troubled};
    if ((*store)->snapshot()->event_count != kFaultEvents) outcome.failure = "the file holds another count of events";
    outcome.digest = digest(**store);
  }
  if (outcome.failure.empty() && fs::exists(folder.path / "run.accel.recovery")) outcome.failure = "a recovery stayed";
  agent.stop();
  (void)agent.join();
  if (!outcome.failure.empty()) outcome.failure += "\n  agent: " + agent.log();
  return outcome;
}

// As many at once as wait for the network, not for the processor.
// Under a sanitizer, which is for what is done and not for how it ends, every third of them.
void check_all(std::vector<Trial> trials, std::size_t at_once = 8) {
  if (test::sanitized()) {
    std::size_t index = 0;
    std::erase_if(trials, [&](const Trial&) { return index++ % 3 != 0; });
  }
  const std::uint64_t expected = run_trial({}).digest;
  REQUIRE(expected != 0);
  std::vector<TrialOutcome> outcomes(trials.size());
  std::atomic<std::size_t> next{0};
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < at_once; ++i) {
    threads.emplace_back([&] {
      for (std::size_t trial = next++; trial < trials.size(); trial = next++)
        outcomes[trial] = run_trial(trials[trial]);
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (std::size_t i = 0; i < trials.size(); ++i) {
    CAPTURE(trials[i].name);
    CHECK_MESSAGE(outcomes[i].failure.empty(), outcomes[i].failure);
    if (trials[i].first.step) CHECK(outcomes[i].troubled);  // a random byte may lie behind the last
    if (outcomes[i].failure.empty()) CHECK(outcomes[i].digest == expected);
  }
}

struct Message {
  wire::FrameType type;
  Towards towards;
};

// Every message of a capture with files, that always comes.
constexpr std::array kMessages = {
    Message{wire::FrameType::hello, Towards::server},   Message{wire::FrameType::proof, Towards::server},
    Message{wire::FrameType::file, Towards::server},    Message{wire::FrameType::start, Towards::server},
    Message{wire::FrameType::clock, Towards::server},   Message{wire::FrameType::received, Towards::server},
    Message{wire::FrameType::durable, Towards::server}, Message{wire::FrameType::fetch, Towards::server},
    Message{wire::FrameType::hello, Towards::client},   Message{wire::FrameType::welcome, Towards::client},
    Message{wire::FrameType::started, Towards::client}, Message{wire::FrameType::state, Towards::client},
    Message{wire::FrameType::clock, Towards::client},   Message{wire::FrameType::definition, Towards::client},
    Message{wire::FrameType::chunk, Towards::client},   Message{wire::FrameType::end, Towards::client},
    Message{wire::FrameType::file, Towards::client},    Message{wire::FrameType::fetched, Towards::client}};

std::vector<Trial> every_step(Trouble trouble, milliseconds delay, bool spool) {
  std::vector<Trial> trials;
  for (const Message& message : kMessages) {
    for (const FrameStep::At at : {FrameStep::At::before, FrameStep::At::inside, FrameStep::At::after}) {
      ProxyPlan plan{.trouble = trouble, .towards = message.towards, .delay = delay, .jitter = delay / 4};
      plan.step = FrameStep{static_cast<std::uint16_t>(message.type), 1, at};
      trials.push_back({plan,
                        fmt::format("{} {} of the {}'s {}, {} ms, {}", trouble == Trouble::reset ? "reset" : "end",
                                    at == FrameStep::At::before   ? "before"
                                    : at == FrameStep::At::inside ? "inside"
                                                                  : "after",
                                    message.towards == Towards::server ? "viewer" : "agent",
                                    wire::frame_type_name(message.type), delay.count(), spool ? "spool" : "no spool"),
                        spool});
    }
  }
  return trials;
}

TEST_CASE("a recording survives a reset at every step of the protocol") {
  check_all(every_step(Trouble::reset, milliseconds(0), false));
}

TEST_CASE("a recording survives a reset at every step of the protocol on a link of 60 ms with a spool") {
  check_all(every_step(Trouble::reset, milliseconds(30), true), 24);
}

TEST_CASE("a recording survives a reset at every step of the protocol on a link of 200 ms") {
  check_all(every_step(Trouble::reset, milliseconds(100), false), 54);
}

TEST_CASE("a recording survives an orderly end at every step of the protocol on a link of 60 ms") {
  check_all(every_step(Trouble::fin, milliseconds(30), false), 24);
}

TEST_CASE("a recording survives breaks at every step of an encrypted connection, with and without a spool") {
  const TrialFolder config;
  const char* before = std::getenv("XDG_CONFIG_HOME");
  const std::string retained = before == nullptr ? "" : before;
  ::setenv("XDG_CONFIG_HOME", config.path.c_str(), 1);
  fs::create_directories(fs::path(security::known_agents_path().value()).parent_path());
  std::vector<Trial> trials;
  for (const Towards towards : {Towards::server, Towards::client}) {
    for (const std::uint32_t record : {1U, 2U, 3U, 4U, 5U, 6U, 7U, 8U, 10U, 16U, 24U, 32U, 40U}) {
      for (const FrameStep::At at : {FrameStep::At::before, FrameStep::At::inside, FrameStep::At::after}) {
        const bool spool = trials.size() % 2 == 0;
        ProxyPlan plan{.trouble = trials.size() % 3 == 0 ? Trouble::fin : Trouble::reset, .towards = towards};
        plan.delay = milliseconds(trials.size() % 4 == 0 ? 30 : 0);
        plan.step = FrameStep{.nth = record, .at = at, .encrypted = true};
        trials.push_back(
            {plan,
             fmt::format("record {} of the {}, place {}, {}", record, towards == Towards::server ? "viewer" : "agent",
                         static_cast<int>(at), spool ? "spool" : "no spool"),
             spool, true});
      }
    }
  }
  check_all(trials);
  before == nullptr ? ::unsetenv("XDG_CONFIG_HOME") : ::setenv("XDG_CONFIG_HOME", retained.c_str(), 1);
}

TEST_CASE("a recording survives breaks at random bytes, in both directions, on links with latency and jitter") {
  const char* rounds = std::getenv("ACCELSCOPE_FAULTS_ROUNDS");
  const int count = 40 * (rounds == nullptr ? 1 : std::max(1, std::atoi(rounds)));
  std::mt19937 random(20'261'122);
  std::vector<Trial> trials;
  for (int i = 0; i < count; ++i) {
    ProxyPlan plan{.trouble = random() % 2 == 0 ? Trouble::reset : Trouble::fin};
    plan.towards = random() % 3 == 0 ? Towards::server : Towards::client;
    plan.after_bytes = random() % (plan.towards == Towards::client ? 1'000'000 : 700'000);
    plan.delay = milliseconds(random() % 40);
    plan.jitter = milliseconds(random() % 20);
    if (random() % 4 == 0) plan.bytes_per_second = 4'000'000;
    trials.push_back(
        {plan,
         fmt::format("{} {} after {} bytes, {} ms", i, plan.towards == Towards::client ? "agent" : "viewer",
                     plan.after_bytes, plan.delay.count()),
         random() % 2 == 0});
  }
  check_all(trials, 16);
}

}  // namespace
}  // namespace accelscope::capture
