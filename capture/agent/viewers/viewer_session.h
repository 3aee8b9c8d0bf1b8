// The agent's side of one connection: greets the viewer, gives it a capture to control or to watch, and carries frames
// from the capture's outbox to the link, never more than a window ahead of what the viewer has acknowledged. Lives on
// the agent's loop. See agent.h.
#pragma once

#include <chrono>
#include <deque>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "capture/agent/viewers/agent.h"
#include "capture/log/file_exchange.h"
#include "capture/security/agent_gate.h"
#include "capture/wire/messages.h"

namespace accelscope::capture::agent {

class ViewerSession;

// What a session asks of its agent.
class SessionHost {
 public:
  SessionHost() = default;
  SessionHost(const SessionHost&) = delete;
  SessionHost& operator=(const SessionHost&) = delete;
  virtual ~SessionHost() = default;

  [[nodiscard]] virtual const AgentOptions& options() const = 0;
  [[nodiscard]] virtual security::AgentGate& gate() = 0;
  [[nodiscard]] virtual wire::Hello hello() const = 0;
  // Calls session.welcome(), at once or later: what it says may have to be found out first.
  virtual void welcome(ViewerSession& session) = 0;
  // What the viewer asks for can only be said once the spool is read: the host calls go_on() then.
  [[nodiscard]] virtual bool has_to_wait(const wire::Start& start) const = 0;
  // The capture that the viewer asked for; the session may use it until on_done. code: of an error.
  virtual Result<CaptureRun*> start(const wire::Start& start, ViewerSession& session, wire::ErrorCode& code) = 0;
  virtual void discard(const std::string& capture_id, const ViewerSession& session) = 0;
  virtual void on_delivery(CaptureRun& run) = 0;  // acknowledgements have come
  [[nodiscard]] virtual wire::StateReport state_of(const CaptureRun& run) const = 0;
  // A folder of its own for the files that a viewer sends.
  virtual Result<std::filesystem::path> new_work_folder() = 0;
  [[nodiscard]] virtual CaptureRun* find_run(const std::string& capture_id) = 0;
  virtual void continue_soon() = 0;  // calls pump() and embed_files() of the sessions in a few ms
  virtual void log(const std::string& line) = 0;
  virtual void on_done(ViewerSession& session) = 0;  // the session may be destroyed from now on, but not within
};

class ViewerSession final : public wire::LinkHandler {
 public:
  ViewerSession(SessionHost& host, std::unique_ptr<wire::Link> link);

  void begin();
  void welcome(wire::Welcome welcome);
  void go_on();        // with a start that had to wait
  void pump();         // carries on: there may be more
  void embed_files();  // sends on what was fetched
  // The folder of the files that the viewer has sent, given away; "": it has sent none.
  [[nodiscard]] std::string take_work_folder();
  void send_state();                     // of the capture, after a change
  void drop(const std::string& reason);  // closes at once
  void make_room();                      // the same, without a word in the log: another connection needs the place
  void stop(const std::string& reason);  // the agent ends: finishes the link when all is delivered
  [[nodiscard]] CaptureRun* run() const noexcept { return run_; }
  [[nodiscard]] bool controls() const noexcept { return controls_; }
  [[nodiscard]] bool proved() const noexcept { return proved_; }
  [[nodiscard]] bool closed() const noexcept { return closed_; }
  [[nodiscard]] std::uint64_t sent_bytes() const noexcept { return sent_bytes_; }  // of data frames, so far
  [[nodiscard]] std::string peer_ip() const;
  [[nodiscard]] const std::string& viewer() const noexcept { return viewer_; }
  [[nodiscard]] const std::string& viewer_id() const noexcept { return viewer_id_; }  // "": it did not say

  void on_frame(wire::Frame frame) override;
  void on_tick() override;
  void on_closed(wire::Closed how, const std::string& text) override;

 private:
  void on_hello(const wire::Hello& hello);
  void on_error(const wire::ErrorMessage& error);
  void on_proof(const wire::ProofMessage& proof);
  void on_start(const wire::Start& start);
  void on_received(const wire::Received& message);
  void on_durable(const wire::Durable& message);
  void on_clock(const wire::ClockReport& asked);
  void on_discard(const wire::Discard& discard);
  void on_stop(const wire::Stop& intent);
  void on_pause(const wire::Pause& intent);
  void on_resume(const wire::Resume& intent);
  void on_file(const wire::FilePiece& piece);
  void on_fetch(const wire::Fetch& fetch);
  void admit(const std::string& mac);
  void on_delivery();
  [[nodiscard]] std::string reason(const std::string& given, const char* what) const;
  void refuse(wire::ErrorCode code, const std::string& text);
  void refuse_acknowledgement(std::uint64_t sequence);
  void send_item(const OutboxReader::Item& item);
  [[nodiscard]] bool acknowledges();
  [[nodiscard]] bool all_taken() const;
  void finish_if_over();

  struct InFlight {
    std::uint64_t sequence;
    std::uint64_t bytes;
  };

  SessionHost& host_;
  std::unique_ptr<wire::Link> link_;
  std::string viewer_;  // "127.0.0.1:40112 (accelscope 0.1.0)"
  std::string viewer_id_;
  std::optional<security::AgentGate::Visit> visit_;
  std::string viewer_nonce_;
  std::uint64_t window_bytes_;
  std::optional<wire::Start> waiting_start_;
  CaptureRun* run_ = nullptr;
  std::unique_ptr<OutboxReader> reader_;
  std::unique_ptr<log::FileReceiver> incoming_;
  std::unique_ptr<log::FileSender> outgoing_;
  std::string outgoing_problems_;
  std::optional<OutboxReader::Item> next_item_;  // read, but the window has no room for it yet
  std::deque<InFlight> in_flight_;
  std::uint64_t in_flight_bytes_ = 0;
  std::uint64_t sent_bytes_ = 0;
  std::uint64_t acknowledged_ = 0;
  std::uint64_t acknowledged_at_tick_ = 0;
  std::chrono::milliseconds unacknowledged_for_{0};
  std::chrono::steady_clock::time_point last_progress_;
  std::chrono::steady_clock::time_point stopped_at_;
  bool greeted_ = false;
  std::chrono::milliseconds unproved_for_{0};  // nobody without the token may hold a connection for long
  bool admitted_ = false;                      // may send a proof or, if none is wanted, is let in
  bool proved_ = false;
  bool welcomed_ = false;
  bool makes_room_ = false;
  std::string own_mac_;  // for the welcome
  bool controls_ = false;
  bool end_sent_ = false;
  bool stopping_ = false;
  bool closed_ = false;
};

}  // namespace accelscope::capture::agent
