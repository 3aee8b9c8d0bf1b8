// Which command goes on with an interrupted recording: the same one, of the same user. All others touch nothing.
#include <doctest/doctest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <thread>

#include "capture/client/record.h"
#include "capture/client/recovery_folder.h"
#include "client_support.h"

using namespace accelscope;
using namespace accelscope::capture;

namespace fs = std::filesystem;

namespace {

constexpr uid_t kNobody = 65534;
constexpr std::uint64_t kMade = 600'001;

client::CapturePlan asks_for(const std::string& place) {
  client::CapturePlan plan;
  plan.places = {place};
  return plan;
}

std::string text_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

Result<client::RecordReport> record(const client::CapturePlan& plan, const std::string& output) {
  client::RecordOptions options;
  options.plan = plan;
  options.output_path = output;
  options.limits = quick_limits();
  return client::record(options);
}

// A recorder that died in the middle: it leaves its folder. Gives where its agent was, which is gone by then.
system::Address interrupted(const std::string& output, const std::vector<wire::Frame>& frames) {
  client::CaptureSessionOptions options = session_options({});
  options.recovery_directory.clear();
  options.recovery_folder = client::recovery_folder_of(output);
  options.give_up = std::chrono::milliseconds(100);
  RawListener listener;
  const system::Address address = listener.address();
  const std::shared_ptr<Store> store = Store::create().value();
  const auto session = begin_session(asks_for(address.text()), store, options);
  RawPeer peer = listener.accept();
  peer.send(wire::encode(agent_hello()));
  peer.send(wire::encode(wire::Welcome{}));
  REQUIRE(peer.receive(wire::FrameType::start));
  peer.send(wire::encode(wire::Started{.capture_id = "c4p7", .controls = true}));
  for (std::size_t i = 0; i < frames.size() * 3 / 4; ++i) peer.send(frames[i]);
  while (true) {
    const auto ack = peer.receive(wire::FrameType::received);
    REQUIRE(ack);
    if (wire::decode<wire::Received>(ack->body).value().sequence == frames.size() * 3 / 4) break;
  }
  return address;
}

std::vector<wire::Frame> some_frames() { return frames_of({.events = kMade, .lanes = 3}); }

}  // namespace

TEST_CASE("another command does not go on with an interrupted recording, and nothing of it is overwritten") {
  const TestFolder folder;
  const std::string output = (folder.path / "run.accel").string();
  const std::vector<wire::Frame> frames = some_frames();
  const system::Address gone = interrupted(output, frames);
  std::ofstream(output) << "an earlier file";

  RunningAgent other(synthetic_source({.events = 1'000, .lanes = 1}));
  client::CapturePlan same_agent = asks_for(gone.text());
  same_agent.request.program = "python3";
  for (const client::CapturePlan& plan : {asks_for(other.address().text()), same_agent}) {
    CHECK_FALSE(client::goes_on(plan, output));
    const Result<client::RecordReport> refused = record(plan, output);
    REQUIRE_FALSE(refused.ok());
    CHECK(contains(refused.message(), "another recording that was interrupted"));
    CHECK(contains(refused.message(), gone.text()));
    CHECK(contains(refused.message(), client::title_of(plan)));
  }
  CHECK(text_of(output) == "an earlier file");
  CHECK(client::read_recoverable(client::recovery_folder_of(output))->events > 0);
  other.stop();
  REQUIRE(other.join().ok());
  CHECK_FALSE(contains(other.log(), "127.0.0.1"));  // nobody came
}

TEST_CASE("a recording whose agent was out of reach is saved, and the same command goes on with it later") {
  const TestFolder folder;
  const std::string output = (folder.path / "run.accel").string();
  const std::vector<wire::Frame> frames = some_frames();
  const system::Address address = interrupted(output, frames);
  const client::CapturePlan plan = asks_for(address.text());

  const Result<client::RecordReport> partly = record(plan, output);
  REQUIRE_MESSAGE(partly.ok(), partly.message());
  CHECK_FALSE(partly->complete);
  CHECK_FALSE(partly->lost_events.has_value());  // nobody knows what the agent has made since
  CHECK(contains(partly->message, "the same command goes on"));
  CHECK(partly->events > 0);
  CHECK(Store::open(output).ok());
  CHECK(client::goes_on(plan, output));

  ScriptedAgent agent({.frames = frames, .port = address.port});
  const Result<client::RecordReport> whole = record(plan, output);
  REQUIRE_MESSAGE(whole.ok(), whole.message());
  agent.join();
  CHECK(agent.starts.at(0).mode == wire::StartMode::take_up);
  CHECK_MESSAGE(whole->complete, whole->message);
  CHECK(whole->lost_events == std::uint64_t{0});
  CHECK(whole->events == kMade);
  CHECK_FALSE(fs::exists(client::recovery_folder_of(output)));
}

TEST_CASE("where an agent has thrown the capture away, nobody knows how much is lost, and the report says so") {
  const TestFolder folder;
  const std::string output = (folder.path / "run.accel").string();
  const system::Address address = interrupted(output, some_frames());
  RawListener listener(address.port);
  std::thread started_anew([&listener] {
    RawPeer peer = listener.accept();
    peer.send(wire::encode(agent_hello()));
    peer.send(wire::encode(wire::Welcome{}));
    if (peer.receive(wire::FrameType::start)) {
      peer.send(wire::encode(wire::ErrorMessage{wire::ErrorCode::refused, "there is no such capture here"}));
    }
    while (peer.receive()) continue;
  });
  const Result<client::RecordReport> report = record(asks_for(address.text()), output);
  started_anew.join();
  REQUIRE_MESSAGE(report.ok(), report.message());
  CHECK_FALSE(report->complete);
  CHECK_FALSE(report->lost_events.has_value());
  CHECK_MESSAGE(!fs::exists(client::recovery_folder_of(output)), report->message);  // there is nothing to go on with
}

TEST_CASE("a recovery folder of another user says neither where to connect nor what to write") {
  const TestFolder folder;
  const std::string output = (folder.path / "run.accel").string();
  const fs::path planted = client::recovery_folder_of(output);
  const std::vector<wire::Frame> frames = some_frames();
  const system::Address theirs = interrupted(output, frames);
  REQUIRE(fs::exists(planted / "plan"));
  const auto is_refused = [&](const std::string& why) {
    const client::CapturePlan plan = asks_for(theirs.text());
    CHECK_FALSE(client::goes_on(plan, output));
    const Result<client::RecordReport> refused = record(plan, output);
    REQUIRE_FALSE(refused.ok());
    CHECK_MESSAGE(contains(refused.message(), why), refused.message());
    CHECK_FALSE(fs::exists(output));
    CHECK_FALSE(client::RecoveryFolder::read_plan(planted).ok());
  };
  REQUIRE(::chmod(planted.c_str(), 0777) == 0);
  is_refused("others can write in it");
  REQUIRE(::chmod(planted.c_str(), 0700) == 0);
  fs::rename(planted, folder.path / "elsewhere");
  fs::create_directory_symlink(folder.path / "elsewhere", planted);
  is_refused("is a link");
  fs::remove(planted);
  if (::geteuid() != 0) {
    MESSAGE("not tried with a second user: this is not root");
    return;
  }
  fs::rename(folder.path / "elsewhere", planted);
  REQUIRE(::chmod(planted.c_str(), 0755) == 0);
  REQUIRE(::chown(planted.c_str(), kNobody, kNobody) == 0);
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(planted)) {
    REQUIRE(::chown(entry.path().c_str(), kNobody, kNobody) == 0);
  }
  is_refused("belongs to another user");
  CHECK(client::find_recoverable(folder.path.string()).empty());
}

TEST_CASE("files are brought back into no folder that others have put there, which is said before anything begins") {
  const TestFolder folder;
  fs::create_directories(folder.path / "ssh");
  fs::create_directory_symlink(folder.path / "ssh", folder.path / "run.results");
  client::CapturePlan plan = asks_for("127.0.0.1:1");
  plan.request.results = {"rc"};
  plan.results_folder = (folder.path / "run.results").string();
  const Result<client::RecordReport> refused = record(plan, (folder.path / "run.accel").string());
  REQUIRE_FALSE(refused.ok());
  CHECK(contains(refused.message(), "run.results: is a link"));
  CHECK(fs::is_empty(folder.path / "ssh"));
}
