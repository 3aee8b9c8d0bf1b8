// The inside of a Link, shared by link.cpp and loop.cpp and by nothing else, since it brings asio's headers along.
// Everything is touched by the loop's thread only, except what queue_mutex guards.
#pragma once

#include <array>
#include <asio/ip/tcp.hpp>
#include <asio/steady_timer.hpp>
#include <atomic>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "capture/wire/link.h"

namespace accelscope::capture {

struct Link::Implementation : std::enable_shared_from_this<Implementation> {
  Implementation(asio::ip::tcp::socket connected, const LinkLimits& link_limits);

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

  asio::ip::tcp::socket socket;
  asio::steady_timer timer;
  LinkLimits limits;
  LinkHandler* handler = nullptr;  // none once the link is closed
  std::string peer;
  bool loopback = false;
  std::atomic<std::uint64_t> received_bytes{0};

  std::array<std::byte, kFrameHeaderBytes> header_bytes{};
  std::size_t header_bytes_read = 0;
  Frame frame;  // being read
  std::size_t body_bytes_read = 0;
  bool in_body = false;
  bool greeted = false;    // the peer's first frame has come
  bool finishing = false;  // finish() was called
  std::uint32_t control_frames = 0;

  std::mutex queue_mutex;
  std::deque<std::shared_ptr<const Frame>> queue;
  std::atomic<std::size_t> queued_bytes{0};  // of `queue` and `writing`
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

}  // namespace accelscope::capture
