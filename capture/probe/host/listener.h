// Where the probes of one kind attach: a socket in a folder. Made before the program starts, so that none comes too
// early; read_probes() takes what has come.
//
//   Result<std::unique_ptr<ProbeListener>> listener = ProbeListener::open("itt", folder);
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "capture/probe/channel_format.h"
#include "capture/system/descriptor.h"
#include "core/base/result.h"

namespace accelscope::capture::probes {

// A program that has said hello and was welcomed.
struct ProbeConnection {
  system::Descriptor socket;
  probe::Hello hello{};
  std::string program;
  std::string command;  // words ended by NUL
};

class ProbeListener {
 public:
  // Fails if an agent of this user listens there already.
  [[nodiscard]] static Result<std::unique_ptr<ProbeListener>> open(const std::string& kind, const std::string& folder);
  ~ProbeListener();
  ProbeListener(const ProbeListener&) = delete;
  ProbeListener& operator=(const ProbeListener&) = delete;

  // Welcomes what comes, on a thread of its own, so that programs never wait for whoever reads.
  void serve(std::uint64_t ring_bytes, const std::string& settings);
  // Welcomes what has come until now, and nothing more; the socket is gone then.
  void stop_serving();
  [[nodiscard]] std::vector<ProbeConnection> take();
  // What could not be welcomed, for people.
  [[nodiscard]] std::vector<std::string> take_refusals();

  // Shared with every program; lives as long as the listener.
  [[nodiscard]] probe::ControlPage& control() noexcept { return *control_; }
  // Readable when a ring is half full or a program has come.
  [[nodiscard]] int wake_event() const noexcept { return wake_event_.get(); }

  // Where an agent waits for programs that this user starts by hand; made if it is not there. Fails if somebody else
  // can write there.
  [[nodiscard]] static Result<std::string> user_folder();

 private:
  ProbeListener() = default;
  void serve_until_stopped();
  void accept_pending();
  void welcome(system::Descriptor socket);
  [[nodiscard]] Result<ProbeConnection> read_hello(system::Descriptor socket) const;

  std::string kind_;
  std::string path_;
  std::optional<system::LocalListener> listening_;
  system::Descriptor control_memory_;
  system::Descriptor wake_event_;
  system::Descriptor stop_event_;
  probe::ControlPage* control_ = nullptr;
  std::string welcome_;
  std::thread thread_;
  std::mutex mutex_;
  std::vector<ProbeConnection> waiting_;  // guarded by mutex_
  std::vector<std::string> refusals_;     // guarded by mutex_
};

}  // namespace accelscope::capture::probes
