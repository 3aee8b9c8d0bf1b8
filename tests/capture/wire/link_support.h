// Two ends of links for the tests of the wire: a loop on a thread of its own, a listener on it, and peers that collect
// what comes to them.
#pragma once

#include <condition_variable>
#include <deque>
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "capture/security/identities.h"
#include "capture/wire/connector.h"
#include "wire_support.h"

namespace accelscope::capture {

class LinkPeer final : public wire::LinkHandler {
 public:
  explicit LinkPeer(std::unique_ptr<wire::Link> own) : link_(std::move(own)) {}
  void on_frame(wire::Frame frame) override;
  void on_closed(wire::Closed how, const std::string& text) override;

  [[nodiscard]] wire::Link& link() { return *link_; }
  // The next frame but heartbeats; nothing if the link closes first.
  [[nodiscard]] std::optional<wire::Frame> receive();
  [[nodiscard]] std::pair<wire::Closed, std::string> wait_closed();

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<wire::Frame> frames_;
  std::optional<std::pair<wire::Closed, std::string>> closed_;
  std::unique_ptr<wire::Link> link_;
};

// Listens on a free port of 127.0.0.1. Everything that lives on the loop is gone when this object is.
class TestWire {
 public:
  explicit TestWire(wire::ListenOptions options = {}, const wire::LinkLimits& limits = quick_limits());
  ~TestWire();
  TestWire(const TestWire&) = delete;
  TestWire& operator=(const TestWire&) = delete;

  [[nodiscard]] system::Address address(bool tls = false) const;
  [[nodiscard]] wire::Loop& loop() { return loop_; }
  // Has begun and, unless the test does that itself, has said hello; or why there is none.
  [[nodiscard]] Result<LinkPeer*> connect(const wire::Connector& connector, bool send_hello = true);
  [[nodiscard]] Result<LinkPeer*> adopt_descriptor(int descriptor, const std::string& name);
  // The agent's end of the next connection that it takes.
  [[nodiscard]] LinkPeer& accepted();
  [[nodiscard]] bool has_accepted();
  void on_loop(const std::function<void()>& function);  // waits until it has run
  [[nodiscard]] std::string wait_log(const std::string& part);
  [[nodiscard]] std::string log();

 private:
  LinkPeer* keep(std::unique_ptr<wire::Link> link);

  wire::LinkLimits limits_;
  wire::Loop loop_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::string log_;
  std::deque<LinkPeer*> accepted_;
  std::vector<std::unique_ptr<LinkPeer>> peers_;
  std::unique_ptr<wire::Listener> listener_;
  std::thread thread_;
};

[[nodiscard]] std::shared_ptr<const security::AgentIdentity> new_identity();

// A folder of this test's own, with mode 0700, removed with this object.
class LinkFolder {
 public:
  LinkFolder();
  ~LinkFolder();
  LinkFolder(const LinkFolder&) = delete;
  LinkFolder& operator=(const LinkFolder&) = delete;
  [[nodiscard]] std::string file(const std::string& name) const { return (path_ / name).string(); }
  [[nodiscard]] std::string path() const { return path_.string(); }

 private:
  std::filesystem::path path_;
};

[[nodiscard]] std::string content_of(const std::string& path);
[[nodiscard]] unsigned mode_of(const std::string& path);  // 0600

}  // namespace accelscope::capture
