// A place with an agent of its own: found or copied there, started, reached, and put away at the end.
//
//   std::unique_ptr<AgentHost> host = make_ssh_host(*parse_place("ssh://box"), {.prompter = &dialog});
//   if (Result<void> ready = host->prepare(progress); !ready) ...   // on a worker thread: it waits for the user
//   Result<Descriptor> stream = host->open_stream(progress);        // as often as a connection is wanted
//   ... speak the wire protocol over it, with host->token() ...
//   host->finish(progress);
//
// One thread at a time. Errors are "PLACE: what is wrong; what to do", with ssh's own last line in parentheses.
// Destroyed without finish(), a host ends what runs on this computer; an agent behind ssh is left to its --idle-exit,
// so that a later host can take it up again (see running() and resume).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "capture/reach/ask_pass.h"
#include "capture/reach/place.h"
#include "capture/system/descriptor.h"
#include "core/base/result.h"

namespace accelscope::capture::reach {

class HostProgress {
 public:
  virtual ~HostProgress() = default;
  virtual void step(const std::string& text) = 0;    // "checking the agent on box"
  [[nodiscard]] virtual bool cancelled() const = 0;  // asked some ten times a second
};

// An agent that was started, and what is needed to reach it again. The token is a secret: keep it in files of mode
// 0600.
struct StartedAgent {
  std::uint16_t port = 0;  // of 127.0.0.1 at the place
  std::string token;
  std::string folder;  // at the place: removed by finish()
};

class AgentHost {
 public:
  virtual ~AgentHost() = default;
  [[nodiscard]] virtual Result<void> prepare(HostProgress& progress) = 0;
  // A connected byte stream to the agent. Makes a broken connection to the place anew, which may ask the user again.
  [[nodiscard]] virtual Result<system::Descriptor> open_stream(HostProgress& progress) = 0;
  // Once a stream has ended by itself: why, as far as this side knows; "" if nothing is known.
  [[nodiscard]] virtual std::string why_stream_ended() = 0;
  [[nodiscard]] virtual std::string name() const = 0;  // the place
  // After prepare().
  [[nodiscard]] virtual const StartedAgent& running() const = 0;
  [[nodiscard]] const std::string& token() const { return running().token; }
  // Ends the agent, and removes what was copied and made for it.
  virtual void finish(HostProgress& progress) = 0;
};

struct HostOptions {
  std::string agent_program;                 // "": accelscope-agent beside this program, else on PATH
  std::string version;                       // that the agent must have; "": this program's own
  std::vector<std::string> agent_arguments;  // further ones, such as --when-full drop
  std::optional<StartedAgent> resume;        // take this one up; if it has ended, another goes on with its spool

  // ssh only
  Prompter* prompter = nullptr;  // none: ssh asks nothing, or on the terminal
  bool ask_on_terminal = false;
  std::string ssh_config_file;    // "": the user's and the system's
  std::string ssh_identity_file;  // "": ssh's own keys
  std::string askpass_program;    // "": this program, see answer_askpass()
};

[[nodiscard]] std::unique_ptr<AgentHost> make_local_host(HostOptions options = {});
[[nodiscard]] std::unique_ptr<AgentHost> make_ssh_host(const Place& place, HostOptions options = {});

}  // namespace accelscope::capture::reach
