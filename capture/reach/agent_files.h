// What local and remote agents have in common: which program is copied or started, how it is told what to do, and how
// it answers.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "capture/reach/agent_host.h"
#include "capture/system/descriptor.h"

namespace accelscope::capture::reach {

// A program that this one starts, uses and ends: ssh, or an agent on this computer.

struct ToolStart {
  std::vector<std::string> argv;         // the program's whole path first
  std::vector<std::string> environment;  // "NAME=VALUE", besides this program's own
  system::Descriptor input, output;      // none: pipes to this program
  system::Descriptor held;               // stays open in it, such as a lock
  bool shares_terminal = false;          // may read from our terminal and gets its Ctrl+C
};

// A program that is used and ended by this one. Its standard error goes to a file without a name, so that it never
// waits for somebody to read it.
class Tool {
 public:
  [[nodiscard]] static Result<Tool> start(ToolStart settings);
  Tool(Tool&& other) noexcept;
  Tool& operator=(Tool&& other) noexcept;
  ~Tool() { end(); }

  [[nodiscard]] int id() const noexcept { return id_; }  // of the process; 0 once it has ended
  [[nodiscard]] bool ended();
  [[nodiscard]] int exit_code() const noexcept { return exit_code_; }  // once ended; 128 + the number of a signal
  [[nodiscard]] std::string errors() const;                            // the last 16 KiB it has said
  [[nodiscard]] Result<void> write(std::string_view text) const { return system::write_all(input_, text); }
  void close_input() noexcept { input_.close(); }
  // Waits up to a tenth of a second for output. False at its end.
  [[nodiscard]] bool read(std::string& output);
  // Waits for the end; false when the time is over or stop() says so.
  [[nodiscard]] bool wait(std::chrono::milliseconds limit, const std::function<bool()>& stop);
  void end();  // asks it to end, and ends it after two seconds

 private:
  Tool() = default;
  int id_ = 0;
  int exit_code_ = 0;
  system::Descriptor input_, output_, errors_;
};

// accelscope-agent beside this program, else on PATH.
[[nodiscard]] Result<std::string> find_own_agent(const HostOptions& options);

// From what --version prints: "0.1.0" of "accelscope-agent 0.1.0".
[[nodiscard]] std::string version_in(std::string_view printed);

// Serves on a free port of 127.0.0.1 only, with the token on its standard input.
[[nodiscard]] std::vector<std::string> agent_arguments(const HostOptions& options, const std::string& folder,
                                                       std::chrono::seconds idle_exit);

// Waits for "listening on 127.0.0.1:PORT". 0: the program ended, closed its output or said nothing in time.
[[nodiscard]] std::uint16_t await_port(Tool& agent, std::chrono::seconds limit, const std::function<bool()>& stop);

// The last line that is not empty, without blanks at its ends.
[[nodiscard]] std::string last_line(std::string_view text);

}  // namespace accelscope::capture::reach
