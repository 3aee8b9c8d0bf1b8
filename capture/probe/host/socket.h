// Frames of the channel's socket, on the agent's side.
#pragma once

#include <cstddef>
#include <deque>
#include <optional>
#include <string>
#include <string_view>

#include "capture/probe/channel_format.h"
#include "capture/system/descriptor.h"
#include "core/base/result.h"

namespace accelscope::capture::probes {

struct ProbeFrame {
  probe::FrameType type{};
  std::string body;
  system::Descriptor descriptor;  // that rode with it
};

// Cuts what comes into frames, without ever waiting.
class ProbeFrames {
 public:
  // Takes what is there. False once the other side has ended; what came before is still given out.
  [[nodiscard]] bool receive(int socket);
  // The next whole frame; nothing until more has come. Fails on what is no frame.
  [[nodiscard]] Result<std::optional<ProbeFrame>> next();
  // At its end: something of a frame is left whose rest never came.
  [[nodiscard]] bool cut() const noexcept { return buffer_.size() > used_; }

 private:
  std::string buffer_;
  std::size_t used_ = 0;
  std::deque<system::Descriptor> descriptors_;  // in the order in which they came, one for each frame `ring`
  bool descriptors_lost_ = false;
};

}  // namespace accelscope::capture::probes
