#include "client_support.h"

#include <doctest/doctest.h>

#include <map>
#include <utility>

#include "core/base/file_system.h"
#include "core/chunk/chunk_view.h"

namespace accelscope::capture {

ScriptedAgent::ScriptedAgent(Script script)
    : script_(std::move(script)), listener_(script_.port), thread_([this] { serve(); }) {}

ScriptedAgent::~ScriptedAgent() {
  if (thread_.joinable()) thread_.join();
}

void ScriptedAgent::serve() {
  while (true) {
    RawPeer peer = listener_.accept();
    peer.send(wire::encode(agent_hello()));
    peer.send(wire::encode(wire::Welcome{.host = "box"}));
    const std::optional<wire::Frame> asked = peer.receive(wire::FrameType::start);
    if (!asked) return;
    starts.push_back(wire::decode<wire::Start>(asked->body).value());
    if (script_.forgets && starts.size() > 1) {
      peer.send(wire::encode(wire::ErrorMessage{wire::ErrorCode::refused, "there is no such capture here"}));
      return drain(peer);
    }
    peer.send(wire::encode(wire::Started{.capture_id = "c4p7", .name = "scripted", .controls = true}));
    if (embed(peer, starts.back())) return drain(peer);
  }
}

// True if the capture has ended.
bool ScriptedAgent::embed(RawPeer& peer, const wire::Start& start) {
  std::size_t next = start.after_sequence - std::min(start.after_sequence, script_.overlap);
  std::size_t left = script_.burst;
  for (; next < script_.frames.size() && left > 0; ++next) {
    if (script_.gap && next + 1 == script_.gap->first) {
      peer.send(wire::encode(*script_.gap));
      next = script_.gap->last;
      if (next == script_.frames.size()) break;
    }
    peer.send(script_.frames[next]);
    if (next >= start.after_sequence) --left;
  }
  if (next == script_.frames.size()) {
    peer.send(wire::encode(end_of(script_.frames)));
    return true;
  }
  // What is unread at one end when the other closes may be lost, so the cut waits until everything has come.
  await(peer, next);
  send_part(peer, script_.frames[next]);
  return false;
}

void ScriptedAgent::send_part(RawPeer& peer, const wire::Frame& frame) const {
  const ByteView header = std::as_bytes(std::span(&frame.header, 1));
  if (script_.cut == CutAt::in_header) peer.send(header.first(wire::kFrameHeaderBytes / 2));
  if (script_.cut == CutAt::in_body) {
    peer.send(header);
    peer.send(ByteView(frame.body).first(frame.body.size() / 2));
  }
}

bool ScriptedAgent::await(RawPeer& peer, std::uint64_t sequence) {
  while (highest_received < sequence) {
    const std::optional<wire::Frame> frame = peer.receive();
    if (!frame) return false;
    note(*frame);
  }
  return true;
}

void ScriptedAgent::drain(RawPeer& peer) {
  while (const std::optional<wire::Frame> frame = peer.receive()) note(*frame);
}

void ScriptedAgent::note(const wire::Frame& frame) {
  const bool received = frame.header.type == wire::FrameType::received;
  if (!received && frame.header.type != wire::FrameType::durable) return;
  std::uint64_t& highest = received ? highest_received : highest_durable;
  highest = std::max(highest, wire::decode<wire::Received>(frame.body).value().sequence);
}

wire::StreamEnd end_of(const std::vector<wire::Frame>& frames) {
  wire::StreamEnd end;
  end.last_sequence = frames.size();
  std::map<LaneNumber, std::uint64_t> lanes;
  for (const wire::Frame& frame : frames) {
    if (frame.header.type != wire::FrameType::chunk) continue;
    const ChunkView chunk = ChunkView::parse(frame.body).value();
    lanes[scoped_number(frame.header.scope, chunk.header().lane)] += chunk.count();
    end.events += chunk.count();
    ++end.chunks;
  }
  for (const auto& [lane, events] : lanes) end.lanes.push_back({lane, events});
  return end;
}

TestFolder::TestFolder() : path(temporary_path("", "accelscope-client", ".test")) {
  std::filesystem::create_directories(path);
}

TestFolder::~TestFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path, ignored);
}

std::shared_ptr<Store> empty_store() {
  Result<std::unique_ptr<Store>> store = Store::create();
  REQUIRE(store.ok());
  return std::move(store).value();
}

client::CaptureSessionOptions session_options(const std::filesystem::path& recovery) {
  client::CaptureSessionOptions options;
  options.recovery_directory = recovery.string();
  options.limits = quick_limits();
  options.asks = false;
  return options;
}

std::unique_ptr<client::CaptureSession> begin_session(const client::CapturePlan& plan,
                                                      const std::shared_ptr<Store>& store,
                                                      const client::CaptureSessionOptions& options) {
  Result<std::unique_ptr<client::CaptureSession>> session = client::CaptureSession::begin(plan, store, options);
  REQUIRE_MESSAGE(session.ok(), session.message());
  return std::move(session).value();
}

}  // namespace accelscope::capture
