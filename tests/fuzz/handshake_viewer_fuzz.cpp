// Whatever an agent says, in the handshake and after it, the viewer takes or ends with an error, soon.
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "capture/ingest/stream_ingest.h"
#include "tests/fuzz/base/peer_script.h"

using namespace accelscope;
using namespace accelscope::capture;

namespace {

const std::vector<PeerScript::Message>& messages() {
  static const std::vector<wire::Frame> stream = frames_of({.events = 40, .lanes = 2});
  static const std::vector<PeerScript::Message> all = {
      sends(wire::encode(agent_hello())),
      sends(wire::encode(wire::Welcome{})),
      sends(wire::encode(wire::Started{.capture_id = "c4p7", .name = "a test", .controls = true})),
      [](RawPeer& peer, std::uint64_t& sequence) {
        if (sequence >= stream.size()) return true;
        return peer.send(stream[static_cast<std::size_t>(sequence++)]);
      },
      sends(wire::encode(wire::StreamEnd{wire::Outcome::complete, stream.size(), 40, 1, "", {{0, 40}}})),
      sends(wire::encode(wire::StateReport{})),
      sends(wire::encode(wire::ClockReport{})),
      sends(wire::encode(wire::Gap{})),
      sends(wire::encode(wire::FilePiece{"out.bin", 0600, 0, 4, "data"})),
      sends(wire::encode(wire::Fetched{1, 4, ""})),
      sends(wire::encode(wire::ProgressReport{1, 2, 3, "text"})),
      sends(wire::encode(wire::ErrorMessage{wire::ErrorCode::busy, "later"})),
      [](RawPeer& peer, std::uint64_t&) { return peer.receive(wire::FrameType::start).has_value(); },
      [](RawPeer& peer, std::uint64_t&) { return peer.receive(wire::FrameType::fetch).has_value(); },
  };
  return all;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  read_on_after_signals();
  static const std::filesystem::path results =
      std::filesystem::temp_directory_path() / ("accelscope-viewer-fuzz-" + std::to_string(::getpid()));
  std::filesystem::remove_all(results);
  const std::unique_ptr<Store> store = Store::create().value();
  ingest::StoreScopes scopes(*store);
  client::AgentFeed feed(scopes, {.clock = std::make_shared<ingest::SessionClock>()});
  auto listener = std::make_unique<RawListener>();
  client::ConnectionOptions options = connection_to(listener->address());
  options.limits.hello = options.limits.silence = std::chrono::milliseconds(300);  // for an agent that waits in vain
  options.start.request.results = {"*.bin"};
  options.results_folder = results;
  options.give_up = options.begin_limit = options.stop_limit = std::chrono::milliseconds(1);
  client::Connection connection(options, feed);
  connection.begin();
  {
    RawPeer peer = listener->accept();
    PeerScript(std::as_bytes(std::span(data, size))).play(peer, messages());
  }
  listener.reset();
  if (!connection.wait_for(std::chrono::minutes(5))) std::abort();
  return 0;
}
