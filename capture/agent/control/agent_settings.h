// How an agent serves, as its command line says it.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "capture/agent/run/outbox.h"
#include "capture/system/address.h"
#include "core/base/result.h"

namespace accelscope::command_line {
class OptionSet;
}

namespace accelscope::capture::agent {

class AgentSettings {
 public:
  void declare(command_line::OptionSet& command);  // lives until after the parse
  // After the parse: what needs more than to be stored.
  Result<void> read();

  system::Address listen;
  std::string token_file;    // "": the token in the agent's folder
  bool token_stdin = false;  // the first line of standard input
  bool allow_run = false;    // starts programs for an authenticated viewer
  std::string spool;         // folder; "": none
  OutboxOptions outbox;
  std::chrono::milliseconds idle_exit{0};  // 0: never
  std::string scratch;                     // folder; "": the system's temporary one
  std::string name = "capture";
  bool detach = false;
  bool once = false;
  bool quiet = false;

 private:
  // As typed.
  std::string listen_ = "127.0.0.1:7420";
  std::string spool_limit_ = "4GiB";
  std::string buffer_ = "64MiB";
  std::string when_full_ = "wait";
  double idle_exit_s_ = 0;
};

// True if one of the options of AgentSettings was given to this command itself.
[[nodiscard]] bool any_serving_option(const command_line::OptionSet& command);

}  // namespace accelscope::capture::agent
