// One capture that an agent holds: its sources, each on a thread of its own and writing in a scope of its own, and the
// outbox they fill. It lives apart from connections: a viewer may break off and take it up again, others may watch.
// All functions are called on the agent's loop, except where they say so.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "capture/agent/run/outbox.h"
#include "capture/request/kind.h"
#include "capture/request/request.h"
#include "core/chunk/event_sink.h"
#include "core/chunk/session_writer.h"

namespace accelscope::capture::agent {

// Ending of the folder of a spool that was delivered as far as it could be read.
inline constexpr std::string_view kDamagedSpool = ".damaged";

// Writes one part of a capture into the sink; returns early once the sink is cancelled. Runs on a thread of its own.
using SourceFunction = std::function<Result<void>(EventSink&)>;

// The same for a part that may need further scopes, or asks something of its capture.
using PartFunction =
    std::function<Result<void>(EventSink& sink, const request::OpenScope& open_scope, const request::AskCapture& ask)>;

struct SourcePart {
  std::string name;  // of its kind
  PartFunction write;
  bool leads = false;     // when it ends, the capture ends
  bool own_time = false;  // its events are not in capture time: see CaptureKind
};

// Facts of a capture that its spool keeps, so that another process of the agent can go on with it.
struct CaptureFacts {
  std::string id;
  std::string repeats;  // of a source that makes the same frames each time: which it is; "": it does not
  std::string name;
  std::string description;
  std::uint64_t begun_unix_ns = 0;
};

// From another shell.
enum class ControlCommand : std::uint8_t {
  pause,
  resume,
  stop,
  status,  // of what is captured now
  held,    // every capture that a viewer may take up, with its id
};

class CaptureRun {
 public:
  struct Options {
    CaptureFacts facts;
    OutboxOptions outbox;
    std::string spool_folder;  // of this capture; "": none
    std::string work_folder;   // removed with the run; "": none
    std::string results_base;  // what the paths of results are relative to
    std::vector<SourcePart> parts;
    bool paused = false;
    double duration_seconds = 0;
    std::chrono::steady_clock::time_point origin;     // capture time 0
    std::function<void(std::function<void()>)> post;  // runs a function on the agent's loop
    std::function<void()> on_change;                  // of the state; on the loop
  };
  [[nodiscard]] static Result<std::unique_ptr<CaptureRun>> begin(Options options);
  // From a spool that another process left, which is read to its end: on any thread. settle() has to follow.
  // `on_read`: as log::FrameLogOptions has it; everything is read twice.
  [[nodiscard]] static Result<std::unique_ptr<CaptureRun>> reopen(
      const std::string& spool_folder, Options options, const std::function<bool(std::uint64_t bytes)>& on_read = {});
  // What was sealed can be read from now on. If the capture was interrupted, and the one part repeats what made it, it
  // goes on: the part runs again, and what was sealed is left out.
  void settle(std::vector<SourcePart> parts, std::chrono::steady_clock::time_point origin);
  // Of the facts of a spool: whether settle() would go on with a part that repeats so.
  [[nodiscard]] static bool would_go_on(const log::FrameLogFacts& facts, const std::string& repeats) {
    return !facts.end && !repeats.empty() && repeats == facts.place;
  }
  ~CaptureRun();  // cancels, and waits for the sources

  [[nodiscard]] const CaptureFacts& facts() const noexcept { return facts_; }
  [[nodiscard]] Outbox& outbox() noexcept { return *outbox_; }
  [[nodiscard]] const Outbox& outbox() const noexcept { return *outbox_; }
  [[nodiscard]] wire::CaptureState state() const noexcept { return state_; }
  [[nodiscard]] const std::string& state_reason() const noexcept { return state_reason_; }
  [[nodiscard]] const std::string& results_base() const noexcept { return options_.results_base; }
  [[nodiscard]] bool over() const noexcept;        // its sources have ended
  [[nodiscard]] bool delivered() const;            // over, and a viewer has acknowledged all of it
  [[nodiscard]] bool saved() const;                // over, and a viewer has all of it in a file
  [[nodiscard]] wire::CaptureOffer offer() const;  // without the controller
  // Capture time now; nothing once it is over.
  [[nodiscard]] std::optional<std::int64_t> now_ns() const;
  [[nodiscard]] Result<void> outcome() const;  // once over: what failed

  void pause(const std::string& reason);
  void resume(const std::string& reason);
  void stop(const std::string& reason);  // orderly: what is sealed stays
  // What happened, in a line that begins with the capture's name and a colon, or why not. Not `held`, which asks for
  // several.
  Result<std::string> obey(ControlCommand command);
  void tick();          // now and then: ends it when its time is up
  void remove_spool();  // nobody wants it any more

 private:
  class Sink;
  class RepeatSink;
  explicit CaptureRun(Options options);
  void make_outbox(std::unique_ptr<log::FrameLog> log);
  void start_parts();
  [[nodiscard]] std::unique_ptr<EventSink> open_scope();                                               // any thread
  void ask(request::CaptureIntent intent, const std::string& reason, std::function<void()> followed);  // any thread
  void on_part_done(std::size_t index, const Result<void>& result);
  void end_capture();
  void note_pause_end();
  void write_pause(std::int64_t begin_ns, std::int64_t length_ns);
  void set_state(wire::CaptureState state, const std::string& reason);
  [[nodiscard]] Result<void> keep_facts();

  Options options_;
  CaptureFacts facts_;
  std::unique_ptr<Outbox> outbox_;
  std::vector<std::unique_ptr<Sink>> sinks_;  // one for each part, and one for the capture's own track
  std::atomic<std::uint32_t> next_scope_{0};
  std::vector<std::thread> threads_;
  std::size_t running_ = 0;
  Outbox::Adopted sealed_before_;  // by another process
  log::FrameLogFacts spooled_;     // as that had left them
  std::uint64_t cut_bytes_ = 0;    // of a frame that it had not finished
  bool would_go_on_ = false;
  std::unique_ptr<SessionWriter> own_track_;
  std::optional<std::int64_t> paused_since_ns_;  // capture time
  bool own_time_ = false;                        // of all parts: pauses are placed by what has come until then
  // Of the events that have come; the newest is below the oldest before there are any.
  std::atomic<std::int64_t> oldest_ns_{std::numeric_limits<std::int64_t>::max()};
  std::atomic<std::int64_t> newest_ns_{std::numeric_limits<std::int64_t>::min()};
  std::vector<std::int64_t> early_pauses_;  // before any event came: how long each was
  std::atomic<bool> cancelled_{false};
  std::atomic<bool> paused_{false};
  wire::CaptureState state_ = wire::CaptureState::running;
  std::string state_reason_;
  bool stopped_ = false;
  std::string stop_reason_;
  std::string failure_;
};

}  // namespace accelscope::capture::agent
