// The inside of a Connection, shared by connection.cpp (how a connection is made, broken and made anew) and
// connection_stream.cpp (what comes over it) and by nothing else.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>
#include <thread>

#include "capture/client/connection.h"
#include "capture/log/file_exchange.h"
#include "capture/security/secrets.h"
#include "capture/wire/messages.h"

namespace accelscope::capture::client {

// Events and bytes per second over about the last second.

class RateMeter {
 public:
  void add(std::chrono::steady_clock::time_point now, std::uint64_t events, std::uint64_t bytes) {
    samples_.push_back({now, events, bytes});
    while (samples_.size() > 2 && now - samples_[1].time >= kInterval) samples_.pop_front();
    const Sample& first = samples_.front();
    const double seconds = std::chrono::duration<double>(now - first.time).count();
    if (seconds <= 0) return;
    events_per_second = static_cast<double>(events - first.events) / seconds;
    bytes_per_second = static_cast<double>(bytes - first.bytes) / seconds;
  }
  double events_per_second = 0;
  double bytes_per_second = 0;

 private:
  static constexpr std::chrono::milliseconds kInterval{1000};
  struct Sample {
    std::chrono::steady_clock::time_point time;
    std::uint64_t events;
    std::uint64_t bytes;
  };
  std::deque<Sample> samples_;
};

using SteadyTime = std::chrono::steady_clock::time_point;

struct Connection::Implementation {
  // Where a connection stands. Of a capture that has begun, every step but `over` comes again after a break.
  enum class Step : std::uint8_t { connecting, greeting, welcoming, sending, starting, streaming, fetching, over };

  // Of one link. What a link still says after it was given up is not heard.
  struct Handler final : wire::LinkHandler {
    Handler(Implementation& owner, std::uint64_t number) : connection(owner), attempt(number) {}
    void on_frame(wire::Frame frame) override {
      if (attempt == connection.attempt) connection.on_frame(std::move(frame));
    }
    void on_tick() override {
      if (attempt == connection.attempt) connection.on_tick();
    }
    void on_closed(wire::Closed how, const std::string& text) override {
      if (attempt == connection.attempt) connection.on_closed(how, text);
    }
    Implementation& connection;
    std::uint64_t attempt;
  };

  Implementation(ConnectionOptions connection_options, AgentFeed& agent_feed);

  void connect();
  void on_connected(Result<std::unique_ptr<wire::Link>> connected);
  void on_closed(wire::Closed how, const std::string& text);
  void on_break(const std::string& what);
  void fail_after_breaks(const std::string& what);
  void drop_link();
  void on_frame(wire::Frame frame);
  void on_hello(const wire::Hello& agent);
  void on_welcome(const wire::Welcome& welcome);
  void on_token(std::optional<security::Token> token);
  [[nodiscard]] Result<void> begin_proof();
  [[nodiscard]] bool sends_what_is_private() const;
  [[nodiscard]] bool prove(const wire::Hello& agent);  // false: not now, or not at all
  void send_files();
  void send_start();
  void on_error(const wire::ErrorMessage& error);
  [[nodiscard]] wire::Hello hello() const;
  [[nodiscard]] Result<wire::Frame> start_frame() const;

  void on_started(const wire::Started& message);
  void on_data(wire::Frame frame);
  void on_gap(const wire::Gap& gap);
  void on_progress(const wire::ProgressReport& report);
  void on_state(const wire::StateReport& report);
  void on_clock(const wire::ClockReport& report);
  void on_end(const wire::StreamEnd& end);
  void on_file(const wire::FilePiece& piece);
  void on_fetched(const wire::Fetched& all);
  void conclude(const std::string& message);
  void inform_done();
  void acknowledge();
  void ask_clock();
  void on_tick();
  void note_progress();
  void apply_intents();
  void ask_to_stop(const std::string& reason);

  void publish();
  void end(CapturePhase how, const std::string& message);
  void fail(const std::string& message);
  void give_up(wire::ErrorCode code, const std::string& what);
  void hang_up();
  [[nodiscard]] CapturePhase phase() const;
  [[nodiscard]] std::string retained_events() const;
  [[nodiscard]] bool over() const { return step == Step::over; }
  [[nodiscard]] bool began() const { return !capture_id.empty(); }

  ConnectionOptions options;
  AgentFeed& feed;
  wire::Loop loop;

  // Of the loop's thread.
  std::unique_ptr<wire::Link> link;
  std::unique_ptr<Handler> handler;
  std::uint64_t attempt = 0;
  Step step = Step::connecting;
  CapturePhase ending = CapturePhase::ended;  // once over
  std::string peer;
  std::string host;
  std::string capture_id;  // once it has begun
  bool joined = false;     // this link has brought `started`: not before does the agent hear of the capture's frames
  bool controls = false;
  bool paused = false;
  std::optional<security::ViewerProof> proof;     // of this link
  std::optional<security::Token> reported_token;  // by the user
  bool token_known = false;
  bool token_asked = false;
  std::optional<std::chrono::steady_clock::time_point> busy_since;  // the agent, before the capture has begun
  std::optional<bool> wants_pause;
  bool wants_stop = false;
  std::string stop_reason;
  std::chrono::milliseconds stopping_for{0};
  std::optional<SteadyTime> broken_since;  // without progress since
  std::uint64_t retries = 0;               // without progress
  std::string break_text;
  bool out_of_reach = false;  // given up: no connection could be made
  RateMeter rate;
  std::uint64_t bytes_before = 0;  // over earlier links
  std::uint64_t unacknowledged_bytes = 0;
  std::uint64_t dropped_reported = 0;  // events, by the agent while it captures
  std::uint64_t acknowledged = 0;
  std::uint64_t acknowledged_durable = 0;
  std::optional<SteadyTime> started;
  std::optional<log::FileSender> sender;
  std::unique_ptr<log::FileReceiver> receiver;
  std::optional<wire::StreamEnd> stream_end;
  std::string end_message;
  bool files_agree = true;               // the results are those that the agent counts
  std::deque<std::int64_t> clock_asked;  // when, by the viewer's clock
  std::uint64_t clock_questions = 0;
  std::chrono::milliseconds clock_wait{0};

  // Of all threads.
  mutable std::mutex mutex;
  mutable std::condition_variable changed;
  AgentStatus shared;
  bool link_closed = true;

  std::thread thread;  // last: everything else is there when it begins
};

}  // namespace accelscope::capture::client
