// What a peer says in a conversation that a fuzzer writes: whole messages, frames of any type and body with true
// checksums, and bytes that are no frame. One step after another:
//
//   0..4 type length length body   a frame; numbers of data frames count on
//   5 n                            the n-th of the messages that the target knows
//   6 length body                  bytes
//   7 type length x4               a header whose body never comes
#pragma once

#include <csignal>
#include <functional>
#include <span>

#include "tests/capture/wire/wire_support.h"

namespace accelscope::capture {

class PeerScript {
 public:
  using Message = std::function<bool(RawPeer&, std::uint64_t& sequence)>;  // false: the other side is gone

  explicit PeerScript(ByteView script) : rest_(script) {}

  void play(RawPeer& peer, std::span<const Message> messages) {
    for (bool open = true; open && !rest_.empty();) open = step(peer, messages);
  }

 private:
  bool step(RawPeer& peer, std::span<const Message> messages) {
    switch (const std::uint32_t choice = number(1) % 8) {
      case 5:
        return messages[number(1) % messages.size()](peer, sequence_);
      case 6:
        return peer.send(bytes(number(1)));
      case 7: {
        wire::FrameHeader header;
        header.type = static_cast<wire::FrameType>(number(1) % 26);
        header.length = number(4);
        return peer.send(std::as_bytes(std::span(&header, 1)));
      }
      default: {
        const auto type = static_cast<wire::FrameType>(number(1) % 26);
        const wire::FrameTypeFacts* facts = find_frame_type(type);
        const bool numbered = facts != nullptr && facts->numbered;
        const ByteView body = bytes(number(2));
        if (choice == 4) ++sequence_;  // one is missing
        wire::Frame frame{{}, Bytes(body.begin(), body.end())};
        frame.header.type = type;
        frame.header.length = static_cast<std::uint32_t>(body.size());
        frame.header.sequence = numbered ? ++sequence_ : 0;
        frame.header.checksum = wire::frame_checksum(frame.header, frame.body);
        return peer.send(frame);
      }
    }
  }
  std::uint32_t number(std::size_t size) {
    std::uint32_t value = 0;
    for (const std::byte each : bytes(size)) value = value << 8U | std::to_integer<std::uint32_t>(each);
    return value;
  }
  ByteView bytes(std::size_t size) {
    const ByteView taken = rest_.first(std::min(size, rest_.size()));
    rest_ = rest_.subspan(taken.size());
    return taken;
  }

  ByteView rest_;
  std::uint64_t sequence_ = 0;
};

// libFuzzer's clock ticks by a signal, which would end the reading of a peer.
inline void read_on_after_signals() {
  struct sigaction ticks {};
  if (::sigaction(SIGALRM, nullptr, &ticks) != 0) return;
  ticks.sa_flags |= SA_RESTART;
  (void)::sigaction(SIGALRM, &ticks, nullptr);
}

inline PeerScript::Message sends(wire::Frame frame) {
  return [frame = std::move(frame)](RawPeer& peer, std::uint64_t&) { return peer.send(frame); };
}

}  // namespace accelscope::capture
