// accelscope-agent as its users have it, and the replay that it offers.
#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "capture/sources/base/sinks.h"
#include "capture/sources/base/source.h"
#include "core/store/store.h"
#include "tests/capture/kinds/kind_run_support.h"
#include "tests/capture/recording_sink.h"
#include "tests/capture/wire/wire_support.h"
#include "tests/support/process.h"
#include "tests/support/programs_folder.h"

namespace accelscope::capture {
namespace {

using test::Process;

// Its sockets and secrets lie in a folder of the tests' own.
Process start_agent(std::vector<std::string> arguments) {
  static const ScratchFolder scratch;
  ::setenv("XDG_RUNTIME_DIR", scratch.path.c_str(), 1);
  ::setenv("XDG_CONFIG_HOME", scratch.path.c_str(), 1);
  arguments.insert(arguments.begin(), accelscope::test::programs_folder() + "/accelscope-agent");
  Result<Process> agent = Process::start(arguments);
  REQUIRE(agent.ok());
  return std::move(agent).value();
}

system::Address listening_address(Process& agent) {
  const std::string label = "listening on ";
  const std::optional<std::string> line = agent.wait_for(label, kPatience);
  REQUIRE(line);
  const Result<system::Address> address = system::parse_address(line->substr(line->find(label) + label.size()));
  REQUIRE(address.ok());
  return address.value();
}

int status_of(const std::vector<std::string>& arguments, const std::string& expected_output) {
  Process agent = start_agent(arguments);
  const int status = agent.finish(kPatience);
  CHECK_MESSAGE(contains(agent.output(), expected_output), agent.output());
  return status;
}

// A session file of a synthetic stream, removed with this object.
struct SavedStream {
  explicit SavedStream(const SyntheticStream& stream)
      : path(std::filesystem::temp_directory_path() / "accelscope_replay_test.accel") {
    Result<std::unique_ptr<Store>> store = Store::create();
    REQUIRE(store.ok());
    StoreSink sink(*store.value());
    REQUIRE(write_stream(stream, sink).ok());
    REQUIRE(store.value()->save(path).ok());
  }
  ~SavedStream() { std::filesystem::remove(path); }
  std::string path;
};

TEST_CASE("wrong usage of the agent exits with 2, failures with 1, help shows an example") {
  CHECK(status_of({"simulate", "--listen", "a b:7420"}, "HOST:PORT") == 2);
  CHECK(status_of({"simulate", "--rate", "fast"}, "--rate") == 2);
  CHECK(status_of({"replay", "/no/such/file"}, "/no/such/file") == 1);
  CHECK(status_of({"simulate", "--help"}, "Example:") == 0);
  CHECK(status_of({"replay", "--help"}, "Example:") == 0);
  CHECK(status_of({"doctor", "--listen", "127.0.0.1:0"}, "can listen on 127.0.0.1:") == 0);
}

TEST_CASE("Ctrl-C at the agent ends a running capture in order") {
  Process agent = start_agent({"simulate", "--listen", "127.0.0.1:0", "--rate", "200k"});
  RecordingSink sink;
  TestConnection connection(connection_to(listening_address(agent)), sink);
  while (connection.status().events == 0 && !connection.done()) std::this_thread::yield();
  agent.interrupt();
  REQUIRE(connection.wait_for(kPatience));
  CHECK(connection.status().phase == client::CapturePhase::ended);
  CHECK(connection.status().outcome == wire::Outcome::stopped);
  CHECK(connection.status().lost_events == 0);
  CHECK(sink.event_count == connection.status().events);
  CHECK(agent.finish(kPatience) == 130);
}

TEST_CASE("a replayed session arrives byte for byte as it was captured") {
  const SyntheticStream stream{.events = 70'000, .lanes = 3};
  const SavedStream saved(stream);
  RecordingSink original;
  REQUIRE(write_stream(stream, original).ok());
  Process agent = start_agent({"replay", saved.path, "--listen", "127.0.0.1:0", "--once"});
  RecordingSink replayed;
  {
    TestConnection connection(connection_to(listening_address(agent)), replayed);
    REQUIRE(connection.wait_for(kPatience));
    CHECK_MESSAGE(connection.status().phase == client::CapturePhase::ended, connection.status().message);
  }
  CHECK(agent.finish(kPatience) == 0);
  CHECK(replayed.event_count == stream.events);
  CHECK(replayed.schemas == original.schemas);
  CHECK(replayed.tracks == original.tracks);
  CHECK(replayed.lanes == original.lanes);
  CHECK(replayed.strings == original.strings);
  const auto by_lane_and_ordinal = [](const SealedChunk& a, const SealedChunk& b) {
    return std::pair(a.lane(), a.first_ordinal()) < std::pair(b.lane(), b.first_ordinal());
  };
  std::sort(original.chunks.begin(), original.chunks.end(), by_lane_and_ordinal);
  std::sort(replayed.chunks.begin(), replayed.chunks.end(), by_lane_and_ordinal);
  REQUIRE(replayed.chunks.size() == original.chunks.size());
  for (std::size_t i = 0; i < original.chunks.size(); ++i) CHECK(replayed.chunks[i].bytes == original.chunks[i].bytes);
}

TEST_CASE("a paced replay takes as long as the capture did, and stops at once when cancelled") {
  RecordingSink sink;
  sources::PacedSink paced(sink, 10.0);
  const auto begin = std::chrono::steady_clock::now();
  REQUIRE(write_stream({.events = 20'000, .lanes = 1}, paced).ok());  // 2 ms of events, ten times as fast
  CHECK(std::chrono::steady_clock::now() - begin >= std::chrono::microseconds(199));
  CHECK(sink.event_count == 20'000);
  RecordingSink cancelled;
  cancelled.cancel_after = 1;
  sources::PacedSink slow(cancelled, 1e-9);  // would take weeks
  const std::vector<wire::Frame> frames = frames_of({.events = 16'384, .lanes = 1});
  cancelled.event_count = 1;
  CHECK(slow.append({frames.back().body}).ok());
}

TEST_CASE("a file that is no known format is refused with the formats that are") {
  const std::string path = std::filesystem::temp_directory_path() / "accelscope_unknown_format";
  { std::ofstream(path) << "just some text\n"; }
  const sources::RecognisedFile file = sources::recognise(path);
  REQUIRE(file.format() == nullptr);
  CHECK(contains(file.why_not, path));
  CHECK(contains(file.why_not, "session"));
  { std::ofstream empty(path); }
  CHECK(contains(sources::recognise(path).why_not, "empty"));
  std::filesystem::remove(path);
  CHECK(contains(sources::find_format("nonsense").message(), "known ones are"));
}

}  // namespace
}  // namespace accelscope::capture
