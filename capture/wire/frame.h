// Frames: what both sides of a connection send, one after another. A frame is a 32-byte header and a body; all
// numbers are little-endian. capture/README.md describes the protocol for whoever writes the other side.
//
// Data frames (definitions, chunks) carry their numbers 1, 2, 3 ... in `sequence`; all others carry 0. This file knows
// the header and the table of types; messages.h knows what the bodies say.
#pragma once

#include <cstdint>
#include <string_view>

#include "core/base/bytes.h"
#include "core/base/result.h"

namespace accelscope::capture::wire {

inline constexpr std::uint32_t kFrameMagic = 0x52464341;  // "ACFR"

enum class FrameType : std::uint16_t {
  hello = 1,       // both, first
  error = 2,       // both: why the sender closes
  heartbeat = 3,   // both: nothing else was sent for a while
  start = 4,       // viewer: run the source
  stop = 5,        // viewer: end the source, then send what is left
  received = 6,    // viewer: taken up to this number; moves the flow window
  durable = 7,     // viewer: up to this number safe in a saved or recovery file
  progress = 8,    // agent: how the source fares
  definition = 9,  // agent, numbered: encode() of a Definition
  chunk = 10,      // agent, numbered: the bytes of a SealedChunk
  end = 11,        // agent: the totals of a stream that is complete
  proof = 12,      // viewer: that it knows the agent's token
  welcome = 13,    // agent: what it can do and which captures it holds
  started = 14,    // agent: answers start
  pause = 15,      // viewer
  resume = 16,     // viewer
  state = 17,      // agent: of the capture, when it changes
  clock = 18,      // viewer: asks for the agent's time; agent: tells it
  gap = 19,        // agent: data frames that it no longer has
  file = 20,       // both: a piece of a file
  fetch = 21,      // viewer: asks for files of the run
  fetched = 22,    // agent: these were all
  discard = 23,    // viewer: a capture that nobody wants any more
};

// A receiver that does not know the type of a frame with this flag skips it; without the flag it must refuse.
inline constexpr std::uint16_t kMayBeSkipped = 1;

inline constexpr std::uint32_t kMaxWireScope = 63;  // kinds of one capture

struct FrameHeader {
  std::uint32_t magic = kFrameMagic;
  FrameType type = FrameType::heartbeat;
  std::uint16_t flags = 0;
  std::uint32_t length = 0;  // of the body in bytes
  std::uint32_t scope = 0;   // data frames: which of the capture's kinds made it, from 0; 0 in all others
  std::uint64_t sequence = 0;
  std::uint64_t checksum = 0;  // of the 24 bytes before it and the body; see frame_checksum
};
static_assert(sizeof(FrameHeader) == 32);
inline constexpr std::size_t kFrameHeaderBytes = sizeof(FrameHeader);
inline constexpr std::uint32_t kUntrustedBody = 64U << 10;  // of hello, proof, error and other texts

struct Frame {
  FrameHeader header;
  Bytes body;

  [[nodiscard]] std::size_t wire_bytes() const noexcept { return kFrameHeaderBytes + body.size(); }
};

struct FrameTypeFacts {
  FrameType type;
  std::string_view name;
  std::uint32_t max_length;  // of the body; a longer one is refused before anything is allocated
  bool numbered;
};

// Nothing for a type that this version does not know.
[[nodiscard]] const FrameTypeFacts* find_frame_type(FrameType type) noexcept;
[[nodiscard]] std::string_view frame_type_name(FrameType type) noexcept;

// checksum(first 24 bytes of the header, then the 8 bytes of checksum(body)).
[[nodiscard]] std::uint64_t frame_checksum(const FrameHeader& header, ByteView body) noexcept;

[[nodiscard]] Frame make_frame(FrameType type, Bytes body, std::uint64_t sequence = 0, std::uint32_t scope = 0);

// Takes kFrameHeaderBytes bytes. Checks everything that can be checked before the body is there: magic, a known type
// (or one that may be skipped), the length, and that exactly data frames are numbered.
[[nodiscard]] Result<FrameHeader> parse_frame_header(ByteView bytes);
[[nodiscard]] Result<void> verify_frame(const FrameHeader& header, ByteView body);

}  // namespace accelscope::capture::wire
