// A connection that speaks frames, for both sides: reads and checks them, writes what is queued, sends heartbeats
// and notices a peer that is silent, stuck or gone. Its bytes go over TCP, plain or in TLS 1.3, or over one end of a
// socketpair (connector.h makes them). One thread runs a Loop; it serves every link of that loop and makes all calls
// of the handlers. What frames mean is the handler's business.
//
//   Loop loop;
//   connect(loop, address, limits, [&](Result<std::unique_ptr<Link>> link) { ...; (*link)->start(handler); });
//   loop.run();                              // until stop()
//   link->send(encode(Hello{...}));          // from any thread
//
// Time limits are counted in ticks of the loop, so a loop that was held up (by a slow store, a debugger, a laptop that
// slept) does not take its own absence for the peer's.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "capture/system/address.h"
#include "capture/wire/frame.h"

namespace asio {
class io_context;
}

namespace accelscope::capture::security {
struct AgentIdentity;
}

namespace accelscope::capture::wire {

class Loop;

// The way into a loop for threads that may outlive it, such as a dialog's answer.
class LoopDoor {
 public:
  void post(std::function<void()> function);  // any thread; dropped once the loop is gone

 private:
  friend class Loop;
  std::mutex mutex_;
  Loop* loop_ = nullptr;
};

class Loop {
 public:
  Loop();
  ~Loop();
  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;

  void run();                                                                  // until stop() is called
  void stop();                                                                 // any thread
  void post(std::function<void()> function);                                   // any thread; runs on the loop's thread
  void after(std::chrono::milliseconds time, std::function<void()> function);  // any thread; on the loop's thread
  // Calls the function on the loop's thread for the first SIGINT, SIGTERM or SIGHUP; the next one ends the process as
  // usual.
  void on_signal(std::function<void(int number)> function);
  [[nodiscard]] std::shared_ptr<LoopDoor> door() const;
  [[nodiscard]] asio::io_context& context() noexcept;

 private:
  struct Implementation;
  std::unique_ptr<Implementation> impl_;
};

struct LinkLimits {
  std::chrono::milliseconds tick{250};
  std::chrono::milliseconds hello{5'000};         // for the peer's whole first frame
  std::chrono::milliseconds heartbeat{2'000};     // sent when nothing else was
  std::chrono::milliseconds silence{20'000};      // no byte from the peer
  std::chrono::milliseconds stall{30'000};        // the peer takes no byte of what waits for it
  std::chrono::milliseconds farewell{2'000};      // for the last frames after finish()
  std::uint32_t control_frames_per_tick = 2'000;  // more than these small frames is a flood
  std::chrono::milliseconds connect{10'000};      // for a host to be found and to answer
  std::chrono::milliseconds handshake{5'000};     // of TLS
};

enum class Closed : std::uint8_t {
  finished,  // this side called finish()
  by_peer,   // between two frames
  broken,    // the connection went away; the text says where
  given_up,  // by this side: the peer broke the rules, or fell silent; the text says what
};

class LinkHandler {
 public:
  LinkHandler() = default;
  LinkHandler(const LinkHandler&) = delete;
  LinkHandler& operator=(const LinkHandler&) = delete;
  virtual ~LinkHandler() = default;

  virtual void on_frame(Frame frame) = 0;  // checked; the first one is a hello or an error
  virtual void on_tick() {}
  // Once, last. The text tells what the peer did: "closed the connection in the middle of a chunk frame (...)".
  virtual void on_closed(Closed how, const std::string& text) = 0;
};

class Link {
 public:
  struct Implementation;
  explicit Link(std::shared_ptr<Implementation> impl) : impl_(std::move(impl)) {}
  ~Link();  // closes at once, without calling the handler
  Link(const Link&) = delete;
  Link& operator=(const Link&) = delete;

  void start(LinkHandler& handler);  // the handler outlives the link
  // Queues the frame; frames go out in the order of the calls. Dropped once the link is closed.
  void send(Frame frame);
  void send(std::shared_ptr<const Frame> frame);  // shared, not copied: the sender may keep it to send it again
  // Sends what is queued, then closes; what still comes in is discarded. Loop thread only.
  void finish();
  // Until this is called a peer may send small frames only (kUntrustedBody), so that one that has proved nothing takes
  // no memory. Loop thread only.
  void trust();
  // Closes at once, as if this had happened. Loop thread only.
  void fail(const std::string& text);

  [[nodiscard]] const std::string& peer_address() const noexcept;
  [[nodiscard]] bool loopback() const noexcept;  // between two loopback addresses, or a socketpair
  // What only the two ends of this very TLS connection can know; empty without TLS.
  [[nodiscard]] const Bytes& channel_binding() const noexcept;
  // Of the peer's certificate, "SHA256:" and base64 as ssh writes it; empty without TLS, and for viewers, who show
  // none.
  [[nodiscard]] const std::string& tls_fingerprint() const noexcept;
  [[nodiscard]] std::size_t queued_bytes() const noexcept;      // not yet taken by the system; any thread
  [[nodiscard]] std::uint64_t received_bytes() const noexcept;  // any thread

 private:
  std::shared_ptr<Implementation> impl_;
};

using LinkCallback = std::function<void(Result<std::unique_ptr<Link>>)>;

// Calls back once, on the loop's thread. Knows no certificates, so for loopback; see tcp_connector() in connector.h.
void connect(Loop& loop, const system::Address& address, const LinkLimits& limits, LinkCallback callback);

struct ListenOptions {
  std::shared_ptr<const security::AgentIdentity>
      identity;                                 // without it only loopback is listened on, and TLS is not spoken
  std::function<void(const std::string&)> log;  // a line for each connection that was turned away
  // Whether an IP address is this machine's own, so that a connection between two such may be plain.
  std::function<bool(const std::string& ip)> is_local;  // if not given: is_loopback()
};

// Takes connections until it is destroyed. Each is TLS or plain, as its first byte tells; a plain one is taken between
// two addresses of this machine only. Connections that are still in their handshake are limited in time; where there
// are too many, those of the address that most come from make room for others.
class Listener {
 public:
  [[nodiscard]] static Result<std::unique_ptr<Listener>> open(Loop& loop, const system::Address& address,
                                                              const LinkLimits& limits, ListenOptions options = {});
  ~Listener();
  void accept(std::function<void(std::unique_ptr<Link>)> callback);  // for each connection, on the loop's thread
  [[nodiscard]] const system::Address& address() const noexcept;     // with the port that was given

  struct Implementation;
  explicit Listener(std::shared_ptr<Implementation> impl) : impl_(std::move(impl)) {}

 private:
  std::shared_ptr<Implementation> impl_;
};

}  // namespace accelscope::capture::wire
