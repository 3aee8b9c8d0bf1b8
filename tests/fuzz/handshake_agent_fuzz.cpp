// Whatever a viewer says, in the handshake and after it, the agent refuses or takes, and the next viewer is let in.
#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "capture/security/secrets.h"
#include "tests/fuzz/base/peer_script.h"

using namespace accelscope;
using namespace accelscope::capture;

namespace {

constexpr const char* kSecret = "the-secret-of-the-owner";

agent::AgentOptions agent_options() {
  agent::AgentOptions options;
  options.limits = quick_limits();
  options.limits.hello = options.limits.silence = std::chrono::milliseconds(300);  // whoever waits in vain
  options.secrets.token = security::Token::parse(kSecret).value();
  options.orphan_limit = std::chrono::milliseconds(100);
  return options;
}

// The whole handshake, as the owner does it.
bool enter(RawPeer& peer) {
  security::ViewerProof proof = security::ViewerProof::begin(security::Token::parse(kSecret).value()).value();
  wire::Hello hello = viewer_hello();
  hello.nonce = proof.nonce();
  if (!peer.send(wire::encode(hello))) return false;
  const auto answer = peer.receive(wire::FrameType::hello);
  const Result<wire::Hello> agent = answer ? wire::decode<wire::Hello>(answer->body) : Error{"gone"};
  const Result<std::string> mac = agent ? proof.prove(agent->nonce, {}) : Result<std::string>(agent.error());
  return mac && peer.send(wire::encode(wire::ProofMessage{*mac})) && peer.receive(wire::FrameType::welcome);
}

const std::vector<PeerScript::Message>& messages() {
  static const std::vector<PeerScript::Message> all = {
      [](RawPeer& peer, std::uint64_t&) { return enter(peer); },
      sends(wire::encode(viewer_hello())),
      sends(wire::encode(wire::ProofMessage{std::string(security::kMacBytes, 'x')})),
      sends(wire::encode(wire::Start{.mode = wire::StartMode::begin})),
      sends(wire::encode(wire::Start{.mode = wire::StartMode::take_up})),
      sends(wire::encode(wire::Start{.mode = wire::StartMode::watch})),
      sends(wire::encode(wire::Stop{"enough"})),
      sends(wire::encode(wire::Pause{})),
      sends(wire::encode(wire::Resume{})),
      sends(wire::encode(wire::Received{1})),
      sends(wire::encode(wire::Durable{1})),
      sends(wire::encode(wire::ClockReport{})),
      sends(wire::encode(wire::FilePiece{"in.bin", 0600, 0, 4, "data"})),
      sends(wire::encode(wire::Fetch{})),
      sends(wire::encode(wire::Discard{})),
      [](RawPeer& peer, std::uint64_t&) { return peer.receive(wire::FrameType::end).has_value(); },
  };
  return all;
}

}  // namespace

// The agent lives as long as the program, and then OpenSSL has cleaned up before its last thread ends.
extern "C" const char* __lsan_default_suppressions();
extern "C" const char* __lsan_default_suppressions() { return "leak:libcrypto\n"; }

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  read_on_after_signals();
  static RunningAgent agent(synthetic_source({.events = 50, .lanes = 1}), agent_options());
  {
    RawPeer peer = RawPeer::connect_to(agent.address());
    PeerScript(std::as_bytes(std::span(data, size))).play(peer, messages());
  }
  for (int i = 0; i < 5; ++i) {  // on a busy machine the owner, too, may be too slow
    RawPeer owner = RawPeer::connect_to(agent.address());
    if (enter(owner)) return 0;
  }
  const std::string log = agent.log();
  std::fputs(log.substr(log.size() - std::min<std::size_t>(log.size(), 4000)).c_str(), stderr);
  std::abort();
}
