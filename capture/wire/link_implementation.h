// The inside of a Link, shared by the .cpp files of this folder that make links and by nothing else, since it brings
// asio's headers along. Everything is touched by the loop's thread only, except what queue_mutex guards.
#pragma once

#include <array>
#include <asio/generic/stream_protocol.hpp>
#include <asio/read.hpp>
#include <asio/ssl/stream.hpp>
#include <asio/steady_timer.hpp>
#include <asio/write.hpp>
#include <atomic>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "capture/wire/link.h"

namespace accelscope::capture::wire {

using StreamSocket = asio::generic::stream_protocol::socket;
using TlsStream = asio::ssl::stream<StreamSocket>;

// A connected socket, or TLS around one whose handshake is done.
class ByteStream {
 public:
  explicit ByteStream(StreamSocket socket) : plain_(std::move(socket)) {}
  explicit ByteStream(std::unique_ptr<TlsStream> tls) : tls_(std::move(tls)) {}

  [[nodiscard]] StreamSocket& socket() { return tls_ ? tls_->next_layer() : *plain_; }
  [[nodiscard]] TlsStream* tls() { return tls_.get(); }

  template <typename Buffers, typename Condition, typename Handler>
  void async_read(const Buffers& buffers, Condition condition, Handler handler) {
    if (tls_) return asio::async_read(*tls_, buffers, std::move(condition), std::move(handler));
    asio::async_read(*plain_, buffers, std::move(condition), std::move(handler));
  }
  template <typename Buffers, typename Condition, typename Handler>
  void async_write(const Buffers& buffers, Condition condition, Handler handler) {
    if (tls_) return asio::async_write(*tls_, buffers, std::move(condition), std::move(handler));
    asio::async_write(*plain_, buffers, std::move(condition), std::move(handler));
  }

 private:
  std::optional<StreamSocket> plain_;
  std::unique_ptr<TlsStream> tls_;
};

// What is known of a connection before its first frame.
struct LinkEnds {
  std::string peer;     // "10.0.0.5:40112", for messages
  std::string peer_ip;  // empty for a socketpair
  bool loopback = false;
};
using IsLocal = std::function<bool(const std::string& ip)>;
[[nodiscard]] LinkEnds ends_of(StreamSocket& socket, const IsLocal& is_local);
[[nodiscard]] std::unique_ptr<Link> make_link(ByteStream stream, LinkEnds ends, const LinkLimits& limits);

[[nodiscard]] int ticks_in(std::chrono::milliseconds time, std::chrono::milliseconds tick);

// Calls a function unless it is stopped before so many ticks are over. The function keeps alive what holds the timer.
class TickTimer {
 public:
  explicit TickTimer(const asio::any_io_executor& executor) : timer_(executor) {}
  void start(std::chrono::milliseconds limit, std::chrono::milliseconds tick, std::function<void()> on_over);
  void stop();

 private:
  void wait(std::function<void()> on_over, int ticks_left, std::chrono::milliseconds tick);

  asio::steady_timer timer_;
  std::uint64_t round_ = 0;  // a tick that was due when the timer was stopped belongs to an earlier round
};

struct Link::Implementation : std::enable_shared_from_this<Implementation> {
  Implementation(ByteStream connected, LinkEnds link_ends, const LinkLimits& link_limits);

  void start(LinkHandler& link_handler);
  void send(std::shared_ptr<const Frame> outgoing);
  void finish();
  void fail(const std::string& text);
  void close(Closed how, const std::string& text);

  void read_header();
  void take_header();
  void read_body();
  void take_frame();
  void note_received(std::size_t count);
  void on_read_failure(const asio::error_code& failure, bool inside_frame, std::size_t done);
  [[nodiscard]] std::string place_in_frame(std::size_t done) const;
  void write_next();
  void on_all_written();
  void schedule_tick();
  void tick();

  ByteStream stream;
  asio::steady_timer timer;
  LinkLimits limits;
  LinkHandler* handler = nullptr;  // none once the link is closed
  LinkEnds ends;
  Bytes channel_binding;
  std::string tls_fingerprint;
  std::atomic<std::uint64_t> received_bytes{0};

  std::array<std::byte, kFrameHeaderBytes> header_bytes{};
  std::size_t header_bytes_read = 0;
  Frame frame;  // being read
  std::size_t body_bytes_read = 0;
  bool in_body = false;
  bool greeted = false;    // the peer's first frame has come
  bool finishing = false;  // finish() was called
  bool trusted = false;
  std::uint32_t control_frames = 0;

  std::mutex queue_mutex;
  std::deque<std::shared_ptr<const Frame>> queue;
  std::atomic<std::size_t> queued_bytes{0};  // of `queue` and `writing`
  std::atomic<bool> spoken{false};           // something was queued; before a hello no heartbeat may go out
  bool write_posted = false;                 // write_next() runs or will run
  bool closed = false;

  std::vector<std::shared_ptr<const Frame>> writing;
  std::vector<asio::const_buffer> write_buffers;
  std::string write_failure;

  int ticks_silent = 0;
  int ticks_stalled = 0;
  int ticks_unsent = 0;
  int ticks_ungreeted = 0;
  int ticks_finishing = 0;
};

}  // namespace accelscope::capture::wire
