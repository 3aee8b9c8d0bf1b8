// A TCP proxy on loopback that does to connections what networks do: delays, throttles, cuts, stalls and alters them,
// at a given byte or at a given frame. It runs on a thread of its own.
//
//   CuttingProxy proxy(agent_port);
//   proxy.plan({.trouble = Trouble::reset, .towards = Towards::client, .after_bytes = 100'000});
//   ... the first connection to proxy.port() is reset after so many bytes, later ones pass whole ...
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>

namespace accelscope::test {

enum class Trouble : std::uint8_t {
  none,
  fin,      // both sides see an orderly end of the stream
  reset,    // both sides see the connection break
  stall,    // nothing passes any more in either direction, but the connection stays
  corrupt,  // one bit of the next byte is flipped, and everything passes on
};

enum class Towards : std::uint8_t { client, server };

// A place in the protocol: the n-th frame of a type that goes in the plan's direction; on an encrypted connection, the
// n-th record of TLS, whatever it holds.
struct FrameStep {
  enum class At : std::uint8_t { before, inside, after };
  std::uint16_t type = 0;  // as on the wire: see FrameType
  std::uint32_t nth = 1;
  At at = At::before;
  bool encrypted = false;
};

struct ProxyPlan {
  Trouble trouble = Trouble::none;
  Towards towards = Towards::client;  // the direction whose bytes are counted
  std::uint64_t after_bytes = 0;
  std::uint64_t bytes_per_second = 0;   // in each direction; 0: as fast as it goes
  std::optional<FrameStep> step = {};   // in place of after_bytes
  std::chrono::milliseconds delay{0};   // one way, in each direction
  std::chrono::milliseconds jitter{0};  // up to so much more; what was sent first still comes first
};

class CuttingProxy {
 public:
  explicit CuttingProxy(std::uint16_t server_port);  // of 127.0.0.1
  ~CuttingProxy();                                   // resets what is open
  CuttingProxy(const CuttingProxy&) = delete;
  CuttingProxy& operator=(const CuttingProxy&) = delete;

  // All functions may be called from any thread.
  [[nodiscard]] std::uint16_t port() const;
  void plan(const ProxyPlan& plan);       // for the next connection that has none yet
  void plan_rest(const ProxyPlan& plan);  // for those that have none of their own; until then they pass whole
  void trouble_all(Trouble trouble);      // now, on every open connection
  [[nodiscard]] std::uint64_t passed_bytes(Towards towards) const;  // of all connections together
  [[nodiscard]] std::uint64_t connections() const;                  // ever taken
  [[nodiscard]] std::uint64_t troubles() const;                     // that were planned and have happened

 private:
  struct Implementation;
  std::unique_ptr<Implementation> impl_;
};

}  // namespace accelscope::test
