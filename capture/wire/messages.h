// What the bodies of frames say, apart from definitions and chunks, whose bytes core makes, and from those of
// capture_messages.h. Every message has
// encode() and a decoder that checks bounds; bytes after the known fields are ignored, so that a newer minor version
// can add some.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "capture/wire/frame.h"
#include "core/model/ids.h"

namespace accelscope::capture::wire {

// Kind of the quality entry by which an agent says how many events it dropped before they became frames.
inline constexpr const char* kDroppedEvents = "dropped_events";
// Of places in a spool or a recovery folder where no frame can be read.
inline constexpr const char* kDamagedFrames = "damaged_frames";

// Raised when an older peer could not work with a newer one.
inline constexpr std::uint16_t kProtocolMajor = 2;
inline constexpr std::uint16_t kProtocolMinor = 0;

enum class PeerRole : std::uint8_t { agent = 1, viewer = 2 };

// The first frame of either side. The fields down to `program_version` never change, in no major version, so that any
// two versions can tell each other who they are.
struct Hello {
  std::uint16_t major = kProtocolMajor;
  std::uint16_t minor = kProtocolMinor;
  PeerRole role = PeerRole::viewer;
  std::string program;                    // "accelscope-agent"
  std::string program_version;            // "0.1.0"
  std::string session_id;                 // random, of the agent's process; of a viewer: the same when it comes back
  std::string description;                // agent: what it streams; viewer: who looks
  std::uint64_t window_bytes = 0;         // a sender keeps at most so many bytes unacknowledged; 0: no wish
  std::vector<std::string> capabilities;  // agent: "token": it wants a proof; "run": it may start programs
  std::string nonce;                      // 32 random bytes, for the proof
  bool operator==(const Hello&) const = default;
};

struct Stop {
  std::string reason;
  bool operator==(const Stop&) const = default;
};

struct Acknowledgement {  // of received and durable frames
  std::uint64_t sequence = 0;
  bool operator==(const Acknowledgement&) const = default;
};

struct ProgressReport {
  std::uint64_t events = 0;        // made so far
  std::uint64_t queued_bytes = 0;  // made, but not acknowledged
  std::uint64_t waited_ns = 0;     // how long the source has waited for the viewer
  std::string text;                // what the source says, for the user
  bool operator==(const ProgressReport&) const = default;
};

enum class Outcome : std::uint8_t {
  complete = 1,  // the source had no more
  stopped = 2,   // either side asked it to stop
  failed = 3,    // the source failed; the text says why
};

struct LaneTotal {
  LaneNumber lane = 0;  // with its scope on the wire: scoped_number(scope, lane)
  std::uint64_t events = 0;
  bool operator==(const LaneTotal&) const = default;
};

// Everything that was streamed, so that the receiver can count what it misses.
struct StreamEnd {
  Outcome outcome = Outcome::complete;
  std::uint64_t last_sequence = 0;
  std::uint64_t events = 0;
  std::uint64_t chunks = 0;
  std::string text;
  std::vector<LaneTotal> lanes;
  bool operator==(const StreamEnd&) const = default;
};

enum class ErrorCode : std::uint16_t {
  protocol = 1,  // frames that break the rules
  version = 2,   // another major version
  busy = 3,      // the agent serves another viewer
  refused = 4,   // the request cannot be met
  store = 5,     // the viewer could not keep the data
};

struct ErrorMessage {
  ErrorCode code = ErrorCode::protocol;
  std::string text;
  bool operator==(const ErrorMessage&) const = default;
};

[[nodiscard]] Frame encode(const Hello& message);
[[nodiscard]] Frame encode(const Stop& message);
[[nodiscard]] Frame encode_received(const Acknowledgement& message);
[[nodiscard]] Frame encode_durable(const Acknowledgement& message);
[[nodiscard]] Frame encode(const ProgressReport& message);
[[nodiscard]] Frame encode(const StreamEnd& message);
[[nodiscard]] Frame encode(const ErrorMessage& message);

[[nodiscard]] Result<Hello> decode_hello(ByteView body);
[[nodiscard]] Result<Stop> decode_stop(ByteView body);
[[nodiscard]] Result<Acknowledgement> decode_acknowledgement(ByteView body);
[[nodiscard]] Result<ProgressReport> decode_progress(ByteView body);
[[nodiscard]] Result<StreamEnd> decode_end(ByteView body);
[[nodiscard]] Result<ErrorMessage> decode_error(ByteView body);

// Fails with a sentence that names the side to update, if the two do not speak the same major version.
[[nodiscard]] Result<void> check_versions(const Hello& own, const Hello& peer);

// Text of a peer is shown and logged: at most max_bytes of it, and no control characters.
[[nodiscard]] std::string printable(std::string_view text, std::size_t max_bytes = 1024);

}  // namespace accelscope::capture::wire
