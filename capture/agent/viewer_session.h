// The agent's side of one connection: greets the viewer, runs the source for it, and ends in order. Lives on the
// agent's loop; only the source runs on its own thread. See agent.h.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <thread>

#include "capture/agent/agent.h"
#include "capture/wire/capture_messages.h"
#include "capture/wire/wire_sink.h"

namespace accelscope::capture {

class ViewerSession;

// What a session asks of its agent.
class SessionHost {
 public:
  SessionHost() = default;
  SessionHost(const SessionHost&) = delete;
  SessionHost& operator=(const SessionHost&) = delete;
  virtual ~SessionHost() = default;

  [[nodiscard]] virtual Loop& loop() = 0;
  [[nodiscard]] virtual const AgentOptions& options() const = 0;
  [[nodiscard]] virtual Hello hello() const = 0;
  [[nodiscard]] virtual const SourceFunction& source() const = 0;
  // Makes this session the controlling one, or says why not.
  virtual Result<void> take_control(const ViewerSession& session) = 0;
  virtual void log(const std::string& line) = 0;
  virtual void on_done(ViewerSession& session) = 0;  // the session may be destroyed from now on, but not within
};

class ViewerSession final : public LinkHandler {
 public:
  ViewerSession(SessionHost& host, std::unique_ptr<Link> link);
  ~ViewerSession() override;

  void begin();
  void stop(const std::string& reason);  // orderly: what is sealed still goes out
  // What became of the capture; nothing if none was started.
  [[nodiscard]] std::optional<Result<void>> verdict() const;
  [[nodiscard]] const std::string& viewer() const noexcept { return viewer_; }

  void on_frame(Frame frame) override;
  void on_tick() override;
  void on_closed(Closed how, const std::string& text) override;

 private:
  void on_hello(const Hello& hello);
  void on_start(const Start& start);
  void on_acknowledgement(FrameType type, const Acknowledgement& message);
  void refuse(ErrorCode code, const std::string& text);
  void run_source();
  void on_source_done(const Result<void>& result);
  [[nodiscard]] bool delivered() const;
  [[nodiscard]] bool acknowledges();
  [[nodiscard]] std::string loss_report(Closed how, const std::string& text) const;
  void end_if_over();

  SessionHost& host_;
  std::unique_ptr<Link> link_;
  std::unique_ptr<WireSink> sink_;
  std::thread source_thread_;
  std::string viewer_;  // "127.0.0.1:40112 (accelscope 0.1.0)"
  std::string stop_reason_;
  std::uint64_t window_bytes_;
  std::chrono::steady_clock::time_point last_progress_;
  std::chrono::steady_clock::time_point stopped_at_;
  std::uint64_t durable_ = 0;
  std::uint64_t acknowledged_at_tick_ = 0;
  std::chrono::milliseconds unacknowledged_for_{0};
  bool greeted_ = false;
  bool controls_ = false;
  bool source_runs_ = false;
  bool closed_ = false;
  bool stopping_ = false;
  bool done_ = false;  // the host was told
  std::optional<Result<void>> source_result_;
  std::string lost_;  // what was not delivered when the connection ended
};

}  // namespace accelscope::capture
