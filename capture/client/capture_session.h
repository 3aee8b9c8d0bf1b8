// A session that is being captured: one store, fed by one agent or several, each over a connection that is taken up
// again when it breaks; a recovery folder that outlives this process; the clocks of all hosts brought onto one time.
// Used by the viewer and by `accelscope record` alike. All functions may be called from any thread and never wait,
// except where they say so.
//
//   auto session = CaptureSession::begin(plan, store, options);
//   ... session->status() once per frame; session->question() and answer() ...
//   session->stop();  session->wait();  store->save(path);  session->saved();
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "capture/client/agent_transport.h"
#include "capture/client/capture_status.h"
#include "capture/ingest/stream_ingest.h"
#include "capture/wire/link.h"
#include "capture/wire/messages.h"
#include "core/store/store.h"

namespace accelscope::capture::client {

// What programs print and how they end, read from the events on their way into the session: it survives broken
// connections like everything else, and costs the agent nothing. A decorator of the sinks; everything passes through.
//
//   ProgramOutput output(sinks);
//   AgentFeed feed(output, ...);
//   output.keep();                        // from now on
//   for (const ProgramText& text : output.take()) ...    // any thread

struct ProgramText {
  bool is_error = false;  // of the standard error
  std::string text;       // with its ends of lines
};

class ProgramOutput final : public ingest::SinkProvider {
 public:
  explicit ProgramOutput(ingest::SinkProvider& sinks);
  ~ProgramOutput() override;

  EventSink& sink(std::uint32_t scope) override;

  void keep();                                           // what is printed, until it is taken
  [[nodiscard]] std::vector<ProgramText> take();         // in the order in which it came
  [[nodiscard]] std::vector<ProgramText> take_last();    // once all is over: an open line ends too
  [[nodiscard]] std::optional<int> exit_status() const;  // of the program that ended last; nothing: none has ended

 private:
  class Scope;

  void add_piece(bool is_error, std::string_view text, std::int64_t line, bool whole);
  void set_exit_status(int status);

  // A line that comes in pieces ends when the next one begins.
  struct OpenLine {
    std::int64_t line = 0;
    bool open = false;
  };

  ingest::SinkProvider& sinks_;
  std::map<std::uint32_t, std::unique_ptr<Scope>> scopes_;
  mutable std::mutex mutex_;
  bool keeps_ = false;
  OpenLine open_lines_[2];  // of the standard output and error
  std::vector<ProgramText> texts_;
  std::optional<int> exit_status_;
};

struct CaptureSessionOptions {
  std::string description;         // for the agent's log: who looks
  std::string viewer_id;           // as whom an earlier process asked for this capture; "": a new one
  std::string recovery_directory;  // in which the recovery folder is made; "": none is kept
  std::string recovery_folder;     // this very folder, in place of a new one in recovery_directory
  bool asks = true;                // there is somebody who answers questions; false: they are all answered with no
  std::uint64_t window_bytes = 64ULL << 20;
  std::chrono::milliseconds give_up{60'000};  // without a connection; then an agent has failed
  bool ask_on_terminal = false;               // ssh asks on the terminal of this process
  bool accept_new_agents = false;             // trusts certificates that were never seen, without asking
  bool keeps_output = false;                  // of programs, for take_output()
  wire::LinkLimits limits;
};

// What a former run of the viewer left behind.
struct Recoverable {
  std::string folder;
  CapturePlan plan;
  std::string title;
  std::int64_t begun_unix_s = 0;
  std::uint64_t bytes = 0;
  std::uint64_t events = 0;
};

class CaptureSession {
 public:
  [[nodiscard]] static Result<std::unique_ptr<CaptureSession>> begin(CapturePlan plan, std::shared_ptr<Store> store,
                                                                     CaptureSessionOptions options);
  // Reads the folder into the store (waits for it), then takes the capture up where agents still have it.
  [[nodiscard]] static Result<std::unique_ptr<CaptureSession>> recover(const Recoverable& left,
                                                                       std::shared_ptr<Store> store,
                                                                       CaptureSessionOptions options);
  ~CaptureSession();  // hangs up; the recovery folder stays unless saved() or discard() was called
  CaptureSession(const CaptureSession&) = delete;
  CaptureSession& operator=(const CaptureSession&) = delete;

  void add(const std::string& place);  // a further agent joins
  void leave(const std::string& place);
  void pause();
  void resume();
  void stop();
  [[nodiscard]] CaptureStatus status() const;
  [[nodiscard]] bool wait_for(std::chrono::milliseconds limit) const;  // waits; true once over

  // What programs have printed since the last call, agent by agent; not what was read by recover().
  [[nodiscard]] std::vector<ProgramText> take_output();

  [[nodiscard]] std::optional<CaptureQuestion> question() const;
  void answer(std::uint64_t id, const std::optional<std::string>& answer);  // yes_no: "yes" or nothing

  void saved();    // all that is in the store is in a session file: the recovery folder goes
  void discard();  // nobody wants it

  struct Implementation;
  explicit CaptureSession(std::unique_ptr<Implementation> impl);

 private:
  std::unique_ptr<Implementation> impl_;
};

// Folders of captures whose process is gone.
[[nodiscard]] std::vector<Recoverable> find_recoverable(const std::string& recovery_directory);
// One of them; fails if there is none, or if its process still lives.
[[nodiscard]] Result<Recoverable> read_recoverable(const std::string& folder);
[[nodiscard]] Result<void> discard_recoverable(const Recoverable& left);

// Whether a place can be reached, tried once, without starting anything. Waits; `cancelled` is asked some ten times a
// second. ssh places are only checked for their form here, since reaching them may ask the user.
struct Reached {
  double milliseconds = 0;
  std::string peer;
  std::string version;  // of its program
  wire::Welcome welcome;
};
[[nodiscard]] Result<Reached> reach(const std::string& place, const std::string& token_file,
                                    const wire::LinkLimits& limits, const std::function<bool()>& cancelled);

// What works at a place and what does not: whether it is reached, the agent, both versions, each kind of capture.
// Waits, and starts and ends an agent where the place names none; whatever ssh would ask is answered with no.
struct HostFinding {
  std::string subject;
  bool works = true;
  std::string found;        // what there is
  std::string advice = {};  // what to do if it does not work
  std::optional<double> milliseconds = {};
};
struct HostCheckOptions {
  std::string token_file, ssh_config_file, ssh_identity_file;
  std::function<void(const std::string&)> on_step;  // any thread: what is being done
};
struct HostCheck {
  std::vector<HostFinding> findings;     // at least one: whether it is reached
  std::optional<wire::Welcome> welcome;  // of the agent, once it is reached
};
[[nodiscard]] HostCheck check_host(const std::string& place, const HostCheckOptions& options,
                                   const std::function<bool()>& cancelled);

}  // namespace accelscope::capture::client
