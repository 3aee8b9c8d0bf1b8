// For tests of the viewer's side: an agent that follows a script, cuts its connections where the test likes, and
// remembers what it was asked.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "capture/client/capture_session.h"
#include "capture/wire/messages.h"
#include "tests/capture/wire/wire_support.h"

namespace accelscope::capture {

enum class CutAt : std::uint8_t { between_frames, in_header, in_body };

// The capture "c4p7" with the given frames. Each connection carries `burst` further frames and is then cut; the last
// one ends in order. Serves until every frame was sent and the viewer has left.
class ScriptedAgent {
 public:
  struct Script {
    std::vector<wire::Frame> frames;
    std::size_t burst = ~std::size_t{0};
    CutAt cut = CutAt::between_frames;
    std::uint64_t overlap = 0;     // sends so many frames again that the viewer has
    std::optional<wire::Gap> gap;  // sent in place of these frames
    bool forgets = false;          // after the first connection it has no capture any more
    std::uint16_t port = 0;        // 0: the system's choice
  };
  explicit ScriptedAgent(Script script);
  ~ScriptedAgent();
  [[nodiscard]] system::Address address() const { return listener_.address(); }
  void join() { thread_.join(); }

  std::vector<wire::Start> starts;  // after join()
  std::uint64_t highest_received = 0;
  std::uint64_t highest_durable = 0;

 private:
  void serve();
  bool embed(RawPeer& peer, const wire::Start& start);
  void send_part(RawPeer& peer, const wire::Frame& frame) const;
  bool await(RawPeer& peer, std::uint64_t sequence);
  void drain(RawPeer& peer);
  void note(const wire::Frame& frame);

  Script script_;
  RawListener listener_;
  std::thread thread_;
};

[[nodiscard]] wire::StreamEnd end_of(const std::vector<wire::Frame>& frames);

class TestFolder {
 public:
  TestFolder();
  ~TestFolder();
  TestFolder(const TestFolder&) = delete;
  TestFolder& operator=(const TestFolder&) = delete;
  std::filesystem::path path;
};

[[nodiscard]] std::shared_ptr<Store> empty_store();
[[nodiscard]] client::CaptureSessionOptions session_options(const std::filesystem::path& recovery);
[[nodiscard]] std::unique_ptr<client::CaptureSession> begin_session(const client::CapturePlan& plan,
                                                                    const std::shared_ptr<Store>& store,
                                                                    const client::CaptureSessionOptions& options);

}  // namespace accelscope::capture
