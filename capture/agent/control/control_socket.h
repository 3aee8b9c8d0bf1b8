// Reaches running captures from another shell of the same user. Each process that captures listens on a Unix socket in
// $XDG_RUNTIME_DIR/accelscope, else in /tmp/accelscope-UID, a folder that is the user's alone. One line is asked
// ("pause", "resume", "stop", "status", "held") and one answered: "ok TEXT" or "error TEXT".
//
//   Result<std::unique_ptr<ControlSocket>> control = ControlSocket::open("mlp", [&](ControlCommand what) { ... });
//   Result<std::string> said = send_command("mlp", ControlCommand::pause);
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "capture/agent/run/capture_run.h"
#include "capture/system/descriptor.h"
#include "core/base/result.h"

namespace accelscope::capture::agent {

[[nodiscard]] std::string_view control_word(ControlCommand command) noexcept;

class ControlSocket {
 public:
  // What happened, in one line that begins with the capture's name and a colon, or why not. Called on the socket's own
  // thread, one at a time.
  using Handler = std::function<Result<std::string>(ControlCommand)>;

  // Takes the name, or name-2, name-3 ... if a living process has it. What dead ones left behind is removed.
  [[nodiscard]] static Result<std::unique_ptr<ControlSocket>> open(const std::string& name, Handler handler,
                                                                   const std::string& folder = "");
  ~ControlSocket();
  ControlSocket(const ControlSocket&) = delete;
  ControlSocket& operator=(const ControlSocket&) = delete;
  [[nodiscard]] const std::string& name() const noexcept { return name_; }

 private:
  struct Place {
    std::string name;
    std::string path;
    system::LocalListener listener;
  };
  ControlSocket(Place place, system::Descriptor wake, system::Descriptor woken, Handler handler);
  [[nodiscard]] static Result<Place> take_place(const std::string& folder, const std::string& name);
  void serve();
  void answer(int connection) const;

  std::string name_;
  std::string path_;
  system::LocalListener listener_;
  system::Descriptor wake_;   // closed to end the thread
  system::Descriptor woken_;  // its other end
  Handler handler_;
  std::thread thread_;
};

// The user's folder for sockets, made with mode 0700. Fails if it is somebody else's or open to others.
[[nodiscard]] Result<std::string> control_folder();

struct ControlledCapture {
  std::string name;    // to ask for it
  std::string status;  // "mlp: running at 12.3 s, 1,234,567 events"
};
// Those that answer and capture something now. `folder` "": control_folder().
[[nodiscard]] Result<std::vector<ControlledCapture>> list_captures(const std::string& folder = "");

// What each agent answers that holds a capture for a viewer.
[[nodiscard]] Result<std::vector<std::string>> list_held(const std::string& folder = "");

// name "": the only one there is. Fails if there is none, or several (with their names).
[[nodiscard]] Result<std::string> send_command(const std::string& name, ControlCommand command,
                                               const std::string& folder = "");

}  // namespace accelscope::capture::agent
