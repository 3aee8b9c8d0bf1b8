// Who may do what: hostile viewers before an agent, hostile agents before a viewer, and what the owner has of it:
// nothing.
#include <doctest/doctest.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <atomic>
#include <condition_variable>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <thread>

#include "capture/client/record.h"
#include "capture/security/secrets.h"
#include "capture/system/shown_command.h"
#include "tests/capture/wire/wire_support.h"
#include "tests/faults/trial_folder.h"
#include "tests/support/cutting_proxy.h"
#include "tests/support/wait.h"

namespace accelscope::capture {
namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;

constexpr const char* kOwnersToken = "the-token-of-the-owner";
constexpr std::uint64_t kPeersEvents = 20'000;

agent::AgentOptions owned_agent() {
  agent::AgentOptions options;
  options.secrets.token = security::Token::parse(kOwnersToken).value();
  options.limits = quick_limits();
  return options;
}

agent::SourceFunction peers_source() { return synthetic_source({.events = kPeersEvents, .lanes = 2}); }

struct Owner {
  TrialFolder folder;
  client::RecordOptions options;
  Owner() {
    options.plan.token_file = (folder.path / "token").string();
    REQUIRE(security::write_private_file(options.plan.token_file, kOwnersToken).ok());
    options.output_path = (folder.path / "run.accel").string();
    options.limits = quick_limits();
  }
  // Whether a whole capture comes.
  [[nodiscard]] std::string capture(const system::Address& address) {
    options.plan.places = {address.text()};
    const Result<client::RecordReport> report = client::record(options);
    if (!report) return report.message();
    return report->complete && report->events == kPeersEvents ? "" : "incomplete: " + report->message;
  }
};

std::string slurp(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// A viewer that proves a token which is not the owner's.
RawPeer wrong_guess(const system::Address& address) {
  RawPeer guesser = RawPeer::connect_to(address);
  wire::Hello hello = viewer_hello();
  hello.nonce = security::make_nonce().value();
  guesser.send(wire::encode(hello));
  guesser.send(wire::encode(wire::ProofMessage{std::string(security::kMacBytes, 'x')}));
  return guesser;
}

TEST_CASE("the owner gets in past connections that say nothing, that say hello and that prove wrong tokens") {
  RunningAgent agent(peers_source(), owned_agent());
  std::vector<RawPeer> crowd;
  for (int i = 0; i < 150; ++i) crowd.push_back(RawPeer::connect_to(agent.address()));  // mute
  for (int i = 0; i < 300; ++i) {
    crowd.push_back(RawPeer::connect_to(agent.address()));
    wire::Hello hello = viewer_hello();
    hello.nonce = security::make_nonce().value();
    crowd.back().send(wire::encode(hello));
  }
  for (int i = 0; i < 20; ++i) CHECK(wrong_guess(agent.address()).receive(wire::FrameType::error));
  for (int i = 0; i < 5; ++i) {
    Owner owner;
    CHECK(owner.capture(agent.address()) == "");
  }
}

TEST_CASE("a running capture goes on while others flood its agent with connections and wrong tokens") {
  agent::AgentOptions options = owned_agent();
  std::atomic<bool> flooded{false};
  RunningAgent agent(
      [&flooded](EventSink& sink) -> Result<void> {
        if (Result<void> made = write_stream({.events = kPeersEvents, .lanes = 2}, sink); !made) return made;
        while (!flooded && !sink.cancelled()) std::this_thread::yield();
        return {};
      },
      options);
  std::thread flood([&] {
    for (int i = 0; i < 400; ++i) (void)wrong_guess(agent.address()).receive(wire::FrameType::error);
    flooded = true;
  });
  Owner owner;
  CHECK(owner.capture(agent.address()) == "");
  flood.join();
}

TEST_CASE("a connection that has proved nothing makes the agent take no memory") {
  RunningAgent agent(peers_source(), owned_agent());
  RawPeer peer = RawPeer::connect_to(agent.address());
  peer.send(wire::encode(viewer_hello()));
  wire::FrameHeader header;
  header.type = wire::FrameType::chunk;
  header.length = 64U << 20;
  header.sequence = 1;
  peer.send(std::as_bytes(std::span(&header, 1)));
  while (peer.receive()) continue;                                        // hello, heartbeats, and then the end
  const auto until = std::chrono::steady_clock::now() + test::kPatience;  // the end comes before the word
  while (!contains(agent.log(), "before it was let in") && std::chrono::steady_clock::now() < until)
    std::this_thread::yield();
  CHECK(contains(agent.log(), "before it was let in"));
}

TEST_CASE("what can be captured is looked up once for all who ask, and nobody else waits for it") {
  agent::AgentOptions options;
  options.limits = quick_limits();
  std::mutex mutex;
  std::condition_variable released;
  bool open = false;
  std::atomic<int> looked{0};
  options.kinds.list = [&] {
    ++looked;
    std::unique_lock lock(mutex);
    released.wait(lock, [&] { return open; });
    return std::vector<request::KindFacts>{{.name = "found"}};
  };
  RunningAgent agent(peers_source(), options);
  std::vector<RawPeer> viewers;
  for (int i = 0; i < 20; ++i) {
    viewers.push_back(RawPeer::connect_to(agent.address()));
    viewers.back().send(wire::encode(viewer_hello()));
    CHECK(viewers.back().receive(wire::FrameType::hello));  // the loop answers while the looking goes on
  }
  {
    const std::lock_guard lock(mutex);
    open = true;
  }
  released.notify_all();
  for (RawPeer& viewer : viewers) {
    const auto welcome = viewer.receive(wire::FrameType::welcome);
    REQUIRE(welcome);
    CHECK(wire::decode<wire::Welcome>(welcome->body)->kinds.size() == 1);
  }
  CHECK(looked == 1);
}

// An agent that asks for no token, and what a viewer sends it until it leaves.
std::string sent_to_impostor(const client::RecordOptions& options, bool wants_token = false) {
  RawListener listener;
  client::RecordOptions recorded = options;
  recorded.plan.places = {listener.address().text()};
  std::string outcome;
  std::thread recording([&] {
    const Result<client::RecordReport> report = client::record(recorded);
    outcome = report ? "recorded" : report.message();
  });
  std::string sent;
  {
    RawPeer viewer = listener.accept();
    wire::Hello hello = agent_hello();
    hello.nonce = security::make_nonce().value();
    if (wants_token) hello.capabilities.emplace_back("token");
    viewer.send(wire::encode(hello));
    if (wants_token) (void)viewer.receive(wire::FrameType::proof);
    viewer.send(
        wire::encode(wire::Welcome{.mac = wants_token ? std::string(security::kMacBytes, 'x') : "", .may_run = true}));
    while (const auto frame = viewer.receive()) {
      const bool harmless =
          frame->header.type == wire::FrameType::hello || frame->header.type == wire::FrameType::heartbeat ||
          frame->header.type == wire::FrameType::error || frame->header.type == wire::FrameType::proof;
      if (!harmless) sent += fmt::format("{} ", wire::frame_type_name(frame->header.type));
    }
  }
  recording.join();
  return sent + "| " + outcome;
}

TEST_CASE("an agent that does not prove the token is sent no file, no command and no variable") {
  Owner owner;
  owner.options.plan.send = {(owner.folder.path / "token").string()};
  owner.options.plan.request.kinds = {{"program", {}}};
  owner.options.plan.request.program = "train";
  owner.options.plan.request.environment = {"SECRET=hunter2"};
  const std::string reported = sent_to_impostor(owner.options);
  CHECK_MESSAGE(reported.starts_with("| "), reported);
  CHECK(contains(reported, "it asks for no token"));
  const std::string forged = sent_to_impostor(owner.options, true);
  CHECK_MESSAGE(forged.starts_with("| "), forged);
  CHECK(contains(forged, "does not know the token itself"));
  owner.options.plan.token_file.clear();  // none is known: still nothing that is private
  const std::string unknown = sent_to_impostor(owner.options);
  CHECK_MESSAGE(unknown.starts_with("| "), unknown);
  CHECK(contains(unknown, "Only an agent with --allow-run starts programs"));
}

TEST_CASE("an agent that sends files nobody asked for, or through links, writes nothing at the viewer") {
  const std::vector<wire::FilePiece> hostile = {
      {".bashrc", 0777, 0, 4, "evil"}, {"out/link/evil", 0777, 0, 4, "evil"}, {"out/mine.npy", 0777, 0, 4, "evil"}};
  for (const wire::FilePiece& piece : hostile) {
    CAPTURE(piece.path);
    const TrialFolder folder;
    const fs::path results = folder.path / "results";
    fs::create_directories(results / "out");
    fs::create_directory(folder.path / "outside");
    fs::create_symlink(folder.path / "outside", results / "out" / "link");
    std::ofstream(results / ".bashrc") << "mine";
    std::ofstream(results / "out" / "mine.npy") << "mine";
    RawListener listener;
    client::RecordOptions options;
    options.plan.places = {listener.address().text()};
    options.plan.request.results = {"out/*.npy", "out/link"};
    options.plan.results_folder = results.string();
    options.output_path = (folder.path / "run.accel").string();
    options.limits = quick_limits();
    Result<client::RecordReport> report = Error{"not run"};
    std::thread recording([&] { report = client::record(options); });
    {
      RawPeer viewer = listener.accept();
      viewer.send(wire::encode(agent_hello()));
      viewer.send(wire::encode(wire::Welcome{}));
      REQUIRE(viewer.receive(wire::FrameType::start));
      viewer.send(wire::encode(wire::Started{.capture_id = "c4p7", .name = "a test", .controls = true}));
      const std::vector<wire::Frame> frames = frames_of({.events = 100, .lanes = 1});
      for (const wire::Frame& frame : frames) viewer.send(frame);
      viewer.send(wire::encode(wire::StreamEnd{wire::Outcome::complete, frames.size(), 100, 1, "", {{0, 100}}}));
      REQUIRE(viewer.receive(wire::FrameType::fetch));
      viewer.send(wire::encode(piece));
      viewer.send(wire::encode(wire::Fetched{1, 4, ""}));
      while (viewer.receive()) continue;
    }
    recording.join();
    REQUIRE_MESSAGE(report.ok(), report.message());
    CHECK_FALSE(report->message.empty());
    CHECK(slurp(results / ".bashrc") == "mine");
    CHECK(slurp(results / "out" / "mine.npy") == "mine");
    CHECK(fs::is_empty(folder.path / "outside"));
  }
}

mode_t mode_at(const fs::path& path) {
  struct stat facts {};
  return ::stat(path.c_str(), &facts) == 0 ? facts.st_mode & 07777U : 0;
}

TEST_CASE("a spool folder that is there keeps its mode, and one that is open to others is refused") {
  const TrialFolder folder;
  const fs::path open = folder.path / "open", own = folder.path / "own", link = folder.path / "link";
  fs::create_directory(open);
  ::chmod(open.c_str(), 01777);
  fs::create_directory(own);
  ::chmod(own.c_str(), 0755);
  fs::create_directory_symlink(own, link);
  agent::AgentOptions options;
  for (const fs::path& refused : {open, folder.path / "file"}) {
    if (refused.filename() == "file") std::ofstream(refused) << "x";
    options.spool_folder = refused.string();
    CHECK_FALSE(agent::Agent::listen(options, peers_source()).ok());
  }
  CHECK(mode_at(open) == 01777);
  for (const fs::path& taken : {own, link}) {
    options.spool_folder = taken.string();
    CHECK(agent::Agent::listen(options, peers_source()).ok());
  }
  CHECK(mode_at(own) == 0755);
  options.spool_folder = (folder.path / "new" / "spool").string();
  CHECK(agent::Agent::listen(options, peers_source()).ok());
  CHECK(mode_at(folder.path / "new" / "spool") == 0700);
}

TEST_CASE("a session holds no password of its command, and is its owner's alone") {
  CHECK(system::shown_command(
            {"train", "--password", "hunter2", "--steps=5", "--hf-token=abc", "API_KEY=k", "--apiKey", "v"}) ==
        "train --password '***' --steps=5 '--hf-token=***' 'API_KEY=***' --apiKey '***'");
  CHECK(
      system::shown_command({"run", "--max-tokens", "128", "--token-count=7", "--tokenizer", "bpe", "--keyboard=us"}) ==
      "run --max-tokens 128 --token-count=7 --tokenizer bpe --keyboard=us");
  CHECK(system::shown_command({"x", "--password", "123456", "--pwd=42", "--token", "7", "-v", "3"}) ==
        "x --password '***' '--pwd=***' --token '***' -v 3");
  CHECK(system::shown_command({"psql", "postgres://me:hunter2@db/x?y=1", "https://me@host/"}) ==
        "psql 'postgres://me:***@db/x?y=1' https://me@host/");
  RunningAgent agent(peers_source(), owned_agent());
  Owner owner;
  REQUIRE(owner.capture(agent.address()) == "");
  CHECK(mode_at(owner.options.output_path) == 0600);
  ::chmod(owner.options.output_path.c_str(), 0640);  // the user shares it
  REQUIRE(owner.capture(agent.address()) == "");
  CHECK(mode_at(owner.options.output_path) == 0640);
}

TEST_CASE("what an agent drops for want of room is lost in every report") {
  agent::AgentOptions options = owned_agent();
  options.outbox = {.buffer_bytes = 200'000, .when_full = agent::WhenFull::drop};
  constexpr std::uint64_t kMade = 600'000;
  RunningAgent agent(synthetic_source({.events = kMade, .lanes = 2}), options);
  test::CuttingProxy slow(agent.address().port);  // what is acknowledged that late has to be kept until then
  slow.plan_rest({.delay = milliseconds(200)});
  Owner owner;
  owner.options.plan.places = {fmt::format("127.0.0.1:{}", slow.port())};
  const Result<client::RecordReport> report = client::record(owner.options);
  REQUIRE_MESSAGE(report.ok(), report.message());
  REQUIRE(report->lost_events.value_or(0) > 0);
  CHECK(report->events + *report->lost_events == kMade);
  CHECK(report->dropped_events > 0);
  CHECK_FALSE(report->complete);
  CHECK(contains(report->message, "for want of room"));
}

TEST_CASE("a capture that has ended is taken up without naming it, and an unknown one says which there are") {
  const TrialFolder spool;
  agent::AgentOptions options = owned_agent();
  options.spool_folder = (spool.path / "spool").string();
  RunningAgent agent(peers_source(), options);
  {  // begins it, and is gone before it has taken anything
    Owner other;
    RawPeer peer = RawPeer::connect_to(agent.address());
    security::ViewerProof proof = security::ViewerProof::begin(security::Token::parse(kOwnersToken).value()).value();
    wire::Hello hello = viewer_hello();
    hello.nonce = proof.nonce();
    peer.send(wire::encode(hello));
    const auto answer = peer.receive(wire::FrameType::hello);
    REQUIRE(answer);
    peer.send(
        wire::encode(wire::ProofMessage{proof.prove(wire::decode<wire::Hello>(answer->body)->nonce, {}).value()}));
    REQUIRE(peer.receive(wire::FrameType::welcome));
    peer.send(wire::encode(wire::Start{.mode = wire::StartMode::begin}));
    REQUIRE(peer.receive(wire::FrameType::end));
  }
  Owner owner;
  owner.options.plan.mode = wire::StartMode::take_up;
  owner.options.plan.capture_id = "nonesuch";
  CHECK(contains(owner.capture(agent.address()), "does not have the capture nonesuch any more"));
  owner.options.plan.capture_id.clear();
  CHECK(owner.capture(agent.address()) == "");
}

}  // namespace
}  // namespace accelscope::capture
