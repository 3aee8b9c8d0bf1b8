#include "link_support.h"

#include <doctest/doctest.h>
#include <sys/stat.h>

#include <fstream>
#include <future>
#include <iterator>
#include <random>

namespace accelscope::capture {

void LinkPeer::on_frame(wire::Frame frame) {
  const std::lock_guard lock(mutex_);
  frames_.push_back(std::move(frame));
  changed_.notify_all();
}

void LinkPeer::on_closed(wire::Closed how, const std::string& text) {
  const std::lock_guard lock(mutex_);
  closed_ = {how, text};
  changed_.notify_all();
}

std::optional<wire::Frame> LinkPeer::receive() {
  std::unique_lock lock(mutex_);
  REQUIRE(changed_.wait_for(lock, kPatience, [this] { return !frames_.empty() || closed_; }));
  if (frames_.empty()) return {};
  wire::Frame frame = std::move(frames_.front());
  frames_.pop_front();
  return frame;
}

std::pair<wire::Closed, std::string> LinkPeer::wait_closed() {
  std::unique_lock lock(mutex_);
  REQUIRE(changed_.wait_for(lock, kPatience, [this] { return closed_.has_value(); }));
  return *closed_;
}

TestWire::TestWire(wire::ListenOptions options, const wire::LinkLimits& limits) : limits_(limits) {
  options.log = [this](const std::string& line) {
    const std::lock_guard lock(mutex_);
    log_ += line + '\n';
    changed_.notify_all();
  };
  Result<std::unique_ptr<wire::Listener>> listener =
      wire::Listener::open(loop_, {"127.0.0.1", 0}, limits, std::move(options));
  REQUIRE_MESSAGE(listener.ok(), listener.message());
  listener_ = std::move(listener).value();
  listener_->accept([this](std::unique_ptr<wire::Link> link) {
    LinkPeer* peer = keep(std::move(link));
    const std::lock_guard lock(mutex_);
    accepted_.push_back(peer);
    changed_.notify_all();
  });
  thread_ = std::thread([this] { loop_.run(); });
}

TestWire::~TestWire() {
  loop_.stop();
  thread_.join();
}

// On the loop's thread.
LinkPeer* TestWire::keep(std::unique_ptr<wire::Link> link) {
  peers_.push_back(std::make_unique<LinkPeer>(std::move(link)));
  peers_.back()->link().start(*peers_.back());
  peers_.back()->link().trust();
  return peers_.back().get();
}

system::Address TestWire::address(bool tls) const {
  system::Address address = listener_->address();
  address.tls = tls;
  return address;
}

Result<LinkPeer*> TestWire::connect(const wire::Connector& connector, bool send_hello) {
  std::promise<Result<LinkPeer*>> done;
  loop_.post([this, &connector, &done, send_hello] {
    connector(loop_, limits_, [this, &done, send_hello](Result<std::unique_ptr<wire::Link>> link) {
      if (!link) return done.set_value(link.error());
      LinkPeer* peer = keep(std::move(link).value());
      if (send_hello) peer->link().send(wire::encode(viewer_hello()));
      done.set_value(peer);
    });
  });
  std::future<Result<LinkPeer*>> future = done.get_future();
  REQUIRE(future.wait_for(kPatience) == std::future_status::ready);
  return future.get();
}

Result<LinkPeer*> TestWire::adopt_descriptor(int descriptor, const std::string& name) {
  return connect(
      [descriptor, name](wire::Loop& loop, const wire::LinkLimits& limits, const wire::LinkCallback& callback) {
        wire::adopt(loop, descriptor, name, limits, callback);
      });
}

LinkPeer& TestWire::accepted() {
  std::unique_lock lock(mutex_);
  REQUIRE(changed_.wait_for(lock, kPatience, [this] { return !accepted_.empty(); }));
  LinkPeer* peer = accepted_.front();
  accepted_.pop_front();
  return *peer;
}

bool TestWire::has_accepted() {
  const std::lock_guard lock(mutex_);
  return !accepted_.empty();
}

void TestWire::on_loop(const std::function<void()>& function) {
  std::promise<void> done;
  loop_.post([&] {
    function();
    done.set_value();
  });
  done.get_future().wait();
}

std::string TestWire::wait_log(const std::string& part) {
  std::unique_lock lock(mutex_);
  REQUIRE(changed_.wait_for(lock, kPatience, [&] { return contains(log_, part); }));
  return log_;
}

std::string TestWire::log() {
  const std::lock_guard lock(mutex_);
  return log_;
}

std::shared_ptr<const security::AgentIdentity> new_identity() {
  Result<security::AgentIdentity> identity = security::make_identity();
  REQUIRE(identity.ok());
  return std::make_shared<const security::AgentIdentity>(std::move(identity).value());
}

LinkFolder::LinkFolder()
    : path_(std::filesystem::temp_directory_path() / ("accelscope-test-" + std::to_string(std::random_device{}()))) {
  std::filesystem::create_directory(path_);
  std::filesystem::permissions(path_, std::filesystem::perms::owner_all);
}

LinkFolder::~LinkFolder() { std::filesystem::remove_all(path_); }

std::string content_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

unsigned mode_of(const std::string& path) {
  struct stat facts {};
  REQUIRE(::stat(path.c_str(), &facts) == 0);
  return facts.st_mode & 07777;
}

}  // namespace accelscope::capture
