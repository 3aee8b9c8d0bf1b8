// A running capture that feeds the store of a tab: what the workspace needs of a connection to an agent, so that it
// can be driven without sockets. make_live_link() connects over TCP; make_demo_link() first starts an agent with the
// simulated accelerator in this process and connects to it the same way.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "core/base/result.h"
#include "core/store/store.h"

namespace accelscope::app {

enum class LinkState : std::uint8_t { connecting, recording, stopping, ended, failed };

class LiveLink {
 public:
  LiveLink() = default;
  LiveLink(const LiveLink&) = delete;
  LiveLink& operator=(const LiveLink&) = delete;
  virtual ~LiveLink() = default;  // hangs up

  [[nodiscard]] virtual LinkState state() const = 0;
  [[nodiscard]] virtual std::string peer() const = 0;   // "127.0.0.1:7420"
  [[nodiscard]] virtual std::string error() const = 0;  // why it failed, or ended other than by itself; "" otherwise
  virtual void stop() = 0;                              // asks for the orderly end: all sealed data still arrives
};

// "host:port" as typed. The message says what is wrong with it; only this machine can be reached for now.
[[nodiscard]] Result<std::string> check_address(const std::string& typed);

[[nodiscard]] Result<std::unique_ptr<LiveLink>> make_live_link(const std::string& address,
                                                               std::shared_ptr<Store> store);
[[nodiscard]] Result<std::unique_ptr<LiveLink>> make_demo_link(std::shared_ptr<Store> store);

}  // namespace accelscope::app
