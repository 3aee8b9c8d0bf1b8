// Whatever an agent says, in the handshake and after it, the viewer takes or ends with an error, soon.
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "capture/ingest/store_scopes.h"
#include "tests/fuzz/peer_script.h"

using namespace accelscope;
using namespace accelscope::capture;

namespace {

const std::vector<PeerScript::Message>& messages() {
  static const std::vector<Frame> stream = frames_of({.events = 40, .lanes = 2});
  static const std::vector<PeerScript::Message> all = {
      sends(encode(agent_hello())),
      sends(encode(Welcome{})),
      sends(encode(Started{.capture_id = "c4p7", .name = "a test", .controls = true})),
      [](RawPeer& peer, std::uint64_t& sequence) {
        if (sequence >= stream.size()) return true;
        return peer.send(stream[static_cast<std::size_t>(sequence++)]);
      },
      sends(encode(StreamEnd{Outcome::complete, stream.size(), 40, 1, "", {{0, 40}}})),
      sends(encode(StateReport{})),
      sends(encode(ClockReport{})),
      sends(encode(Gap{})),
      sends(encode(FilePiece{"out.bin", 0600, 0, 4, "data"})),
      sends(encode(Fetched{1, 4, ""})),
      sends(encode(ProgressReport{1, 2, 3, "text"})),
      sends(encode(ErrorMessage{ErrorCode::busy, "later"})),
      [](RawPeer& peer, std::uint64_t&) { return peer.receive(FrameType::start).has_value(); },
      [](RawPeer& peer, std::uint64_t&) { return peer.receive(FrameType::fetch).has_value(); },
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
  StoreScopes scopes(*store);
  AgentFeed feed(scopes, {.clock = std::make_shared<SessionClock>()});
  auto listener = std::make_unique<RawListener>();
  ConnectionOptions options = connection_to(listener->address());
  options.limits.hello = options.limits.silence = std::chrono::milliseconds(300);  // for an agent that waits in vain
  options.start.request.results = {"*.bin"};
  options.results_folder = results;
  options.give_up = options.begin_limit = options.stop_limit = std::chrono::milliseconds(1);
  Connection connection(options, feed);
  connection.begin();
  {
    RawPeer peer = listener->accept();
    PeerScript(std::as_bytes(std::span(data, size))).play(peer, messages());
  }
  listener.reset();
  if (!connection.wait_for(std::chrono::seconds(10))) std::abort();
  return 0;
}
