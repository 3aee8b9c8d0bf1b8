// What the bodies of frames say, apart from definitions and chunks, whose bytes core makes, and from those of
// capture_messages.h. A message names its fields once (core/base/fields.h); bytes after the known ones are ignored, so
// that a newer minor version can add some.
//
//   link.send(wire::encode(wire::Stop{"why"}));
//   Result<wire::Stop> stop = wire::decode<wire::Stop>(frame.body);
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "capture/request/kind.h"
#include "capture/request/request.h"
#include "capture/wire/frame.h"
#include "core/base/fields.h"
#include "core/model/ids.h"

namespace accelscope::capture::wire {

// Kind of the quality entry by which an agent says how many events it dropped before they became frames.
inline constexpr const char* kDroppedEvents = "dropped_events";
// Of places in a spool or a recovery folder where no frame can be read.
inline constexpr const char* kDamagedFrames = "damaged_frames";

// Raised when an older peer could not work with a newer one.
inline constexpr std::uint16_t kProtocolMajor = 2;
inline constexpr std::uint16_t kProtocolMinor = 0;

inline constexpr FieldLimits kMessageLimits{.text_bytes = 8U << 10, .items = 4'096};
inline constexpr std::size_t kMaxNameBytes = 256;
inline constexpr std::size_t kMaxCapabilities = 256;
inline constexpr std::size_t kMaxLaneTotals = (1U << 20) / 12;  // as many as fit into the frame

enum class PeerRole : std::uint8_t { agent = 1, viewer = 2 };

// The first frame of either side. The fields down to `program_version` never change, in no major version, so that any
// two versions can tell each other who they are.
struct Hello {
  static constexpr FrameType kType = FrameType::hello;
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
  static void fields(auto& walk, auto& m) {
    walk(m.major, m.minor, m.role);
    walk.text(m.program, kMaxNameBytes);
    walk.text(m.program_version, kMaxNameBytes);
    if (m.major != kProtocolMajor) return;  // the rest may mean something else
    walk.text(m.session_id, kMaxNameBytes);
    walk(m.description, m.window_bytes);
    walk.list(m.capabilities, kMaxCapabilities, [&](auto& name) { walk.text(name, kMaxNameBytes / 2); });
    walk.text(m.nonce, kMaxNameBytes);
    walk.check(m.role == PeerRole::agent || m.role == PeerRole::viewer, "from neither an agent nor a viewer");
  }
};

// What a viewer asks of the capture.
template <FrameType Type>
struct Intent {
  static constexpr FrameType kType = Type;
  std::string reason;
  bool operator==(const Intent&) const = default;
  static void fields(auto& walk, auto& m) { walk(m.reason); }
};
using Stop = Intent<FrameType::stop>;

template <FrameType Type>
struct Acknowledgement {
  static constexpr FrameType kType = Type;
  std::uint64_t sequence = 0;
  bool operator==(const Acknowledgement&) const = default;
  static void fields(auto& walk, auto& m) { walk(m.sequence); }
};
using Received = Acknowledgement<FrameType::received>;
using Durable = Acknowledgement<FrameType::durable>;

struct ProgressReport {
  static constexpr FrameType kType = FrameType::progress;
  std::uint64_t events = 0;        // made so far
  std::uint64_t queued_bytes = 0;  // made, but not acknowledged
  std::uint64_t waited_ns = 0;     // how long the source has waited for the viewer
  std::string text;                // what the source says, for the user
  bool operator==(const ProgressReport&) const = default;
  static void fields(auto& walk, auto& m) { walk(m.events, m.queued_bytes, m.waited_ns, m.text); }
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
  static void fields(auto& walk, auto& t) { walk(t.lane, t.events); }
};

// Everything that was streamed, so that the receiver can count what it misses.
struct StreamEnd {
  static constexpr FrameType kType = FrameType::end;
  Outcome outcome = Outcome::complete;
  std::uint64_t last_sequence = 0;
  std::uint64_t events = 0;
  std::uint64_t chunks = 0;
  std::string text;
  std::vector<LaneTotal> lanes;
  bool operator==(const StreamEnd&) const = default;
  static void fields(auto& walk, auto& m) {
    walk.choice(m.outcome, Outcome::complete, Outcome::failed);
    walk(m.last_sequence, m.events, m.chunks, m.text);
    walk.list(m.lanes, kMaxLaneTotals, [&](auto& lane) { walk(lane); });
  }
};

enum class ErrorCode : std::uint16_t {
  protocol = 1,  // frames that break the rules
  version = 2,   // another major version
  busy = 3,      // the agent serves another viewer
  refused = 4,   // the request cannot be met
  store = 5,     // the viewer could not keep the data
};

struct ErrorMessage {
  static constexpr FrameType kType = FrameType::error;
  ErrorCode code = ErrorCode::protocol;
  std::string text;
  bool operator==(const ErrorMessage&) const = default;
  static void fields(auto& walk, auto& m) { walk(m.code, m.text); }
};

// A message says its type and its fields; both directions are made of them.
template <typename Message>
[[nodiscard]] Frame encode(const Message& message) {
  return make_frame(Message::kType, write_fields(message, kMessageLimits));
}
template <typename Message>
[[nodiscard]] Result<Message> decode(ByteView body) {
  return read_fields<Message>(body, std::string(frame_type_name(Message::kType)) + " message", kMessageLimits);
}

// A frame as its receiver hears it: each of the owner's functions is named with the message that it takes and whether
// that may come now.
//
//   wire::Hearing heard(*this, frame);
//   heard.on(step == Step::greeting, &Connection::on_hello);
//   if (!heard.problem().empty()) ...   if (!heard.taken()) ...
template <typename Owner>
class Hearing {
 public:
  Hearing(Owner& owner, const Frame& frame) : owner_(owner), frame_(frame) {}
  template <typename Message>
  void on(bool expected, void (Owner::*act)(const Message&)) {
    if (!expected || taken_ || frame_.header.type != Message::kType) return;
    taken_ = true;
    const Result<Message> message = decode<Message>(frame_.body);
    if (!message) {
      problem_ = message.message();
    } else {
      (owner_.*act)(message.value());
    }
  }
  [[nodiscard]] bool taken() const noexcept { return taken_; }
  [[nodiscard]] const std::string& problem() const noexcept { return problem_; }  // "": it could be read

 private:
  Owner& owner_;
  const Frame& frame_;
  bool taken_ = false;
  std::string problem_;
};

// Fails with a sentence that names the side to update, if the two do not speak the same major version.
[[nodiscard]] Result<void> check_versions(const Hello& own, const Hello& peer);

// Text of a peer is shown and logged: at most max_bytes of it, and no control characters.
[[nodiscard]] std::string printable(std::string_view text, std::size_t max_bytes = 1024);

// What an agent and a viewer say to each other about captures: who may, which there are, how one begins, how it
// fares, whose clock shows what, and the files that go with it. The rules are those of messages.h.

struct ProofMessage {
  static constexpr FrameType kType = FrameType::proof;
  std::string mac;  // see capture/security/secrets.h
  bool operator==(const ProofMessage&) const = default;
  static void fields(auto& walk, auto& m) { walk(m.mac); }
};

enum class CaptureState : std::uint8_t {
  running = 1,
  paused = 2,
  ended = 3,        // the source has no more, or was stopped
  interrupted = 4,  // the agent died; what it had sealed is still there
};

// A capture that the agent holds.
struct CaptureOffer {
  std::string id;
  std::string name;
  std::string description;
  CaptureState state = CaptureState::running;
  std::uint64_t first_sequence = 1;  // of the data frames that are still there
  std::uint64_t last_sequence = 0;   // made so far
  std::uint64_t events = 0;
  std::uint64_t begun_unix_ns = 0;
  std::string controller;  // the viewer that controls it; "": nobody
  bool operator==(const CaptureOffer&) const = default;
  static void fields(auto& walk, auto& o) {
    walk(o.id, o.name, o.description);
    walk.choice(o.state, CaptureState::running, CaptureState::interrupted);
    walk(o.first_sequence, o.last_sequence, o.events, o.begun_unix_ns, o.controller);
  }
};

struct Welcome {
  static constexpr FrameType kType = FrameType::welcome;
  std::string mac;       // "": no token was wanted
  std::string host;      // the machine's name
  std::string system;    // "Linux x86_64"
  bool may_run = false;  // starts programs for the controlling viewer
  std::string fixed;     // what a start without kinds captures ("simulated accelerator"); "": kinds must be given
  std::vector<request::KindFacts> kinds;
  std::vector<CaptureOffer> captures;
  bool operator==(const Welcome&) const = default;
  static void fields(auto& walk, auto& m) {
    walk(m.mac, m.host, m.system, m.may_run, m.fixed, m.kinds, m.captures);
    if (!walk.more()) return;  // older agents say nothing of conditions
    for (auto& kind : m.kinds) {
      for (auto& option : kind.options) walk(option.conditions);
    }
  }
};

enum class StartMode : std::uint8_t {
  look = 0,     // starts nothing: the viewer only wants the welcome and may send files, fetch, discard
  begin = 1,    // a new capture, controlled by this viewer
  take_up = 2,  // goes on with one, after a number, and controls it
  watch = 3,    // sees one, without control
};

struct Start {
  static constexpr FrameType kType = FrameType::start;
  std::uint64_t after_sequence = 0;  // what the viewer has; 0: nothing
  StartMode mode = StartMode::begin;
  std::string capture_id;           // to take up or watch; "": the running one
  request::CaptureRequest request;  // of a new capture
  bool operator==(const Start&) const = default;
  static void fields(auto& walk, auto& m) {
    walk(m.after_sequence);
    walk.choice(m.mode, StartMode::look, StartMode::watch);
    walk(m.capture_id, m.request);
  }
};

struct Started {
  static constexpr FrameType kType = FrameType::started;
  std::string capture_id;
  std::string name;
  std::string description;
  std::uint64_t begun_unix_ns = 0;
  bool controls = false;
  bool operator==(const Started&) const = default;
  static void fields(auto& walk, auto& m) { walk(m.capture_id, m.name, m.description, m.begun_unix_ns, m.controls); }
};

using Pause = Intent<FrameType::pause>;
using Resume = Intent<FrameType::resume>;

struct StateReport {
  static constexpr FrameType kType = FrameType::state;
  CaptureState state = CaptureState::running;
  std::string reason;      // "paused from another shell"
  std::string controller;  // as in CaptureOffer
  std::uint32_t watchers = 0;
  std::uint64_t dropped_events = 0;  // for want of room, so far
  bool operator==(const StateReport&) const = default;
  static void fields(auto& walk, auto& m) {
    walk.choice(m.state, CaptureState::running, CaptureState::interrupted);
    walk(m.reason, m.controller, m.watchers, m.dropped_events);
  }
};

// The viewer sends its time; the agent sends it back with its own.
struct ClockReport {
  static constexpr FrameType kType = FrameType::clock;
  std::int64_t viewer_ns = 0;  // of any clock of the viewer's that does not jump
  std::int64_t agent_ns = -1;  // since the capture began; -1: not known (asked; or the capture is over)
  bool operator==(const ClockReport&) const = default;
  static void fields(auto& walk, auto& m) { walk(m.viewer_ns, m.agent_ns); }
};

// Data frames first..last (inclusive) cannot be had any more.
struct Gap {
  static constexpr FrameType kType = FrameType::gap;
  std::uint64_t first = 0;
  std::uint64_t last = 0;
  std::uint64_t events = 0;  // in them, as far as it is known
  std::string reason;
  bool operator==(const Gap&) const = default;
  static void fields(auto& walk, auto& m) { walk(m.first, m.last, m.events, m.reason); }
};

// True for "a/b.txt"; false for "", "/a", "..", "a/../b", "a//b", a backslash or a control character.
[[nodiscard]] bool safe_relative_path(std::string_view path);

inline constexpr std::size_t kFilePieceBytes = 512U << 10;

struct FilePiece {
  static constexpr FrameType kType = FrameType::file;
  std::string path;  // relative, with '/'; never leaves the folder: see safe_relative_path
  std::uint32_t mode = 0644;
  std::uint64_t offset = 0;
  std::uint64_t total = 0;  // of the file
  std::string bytes;        // at most kFilePieceBytes
  bool operator==(const FilePiece&) const = default;
  static void fields(auto& walk, auto& m) {
    walk(m.path, m.mode, m.offset, m.total);
    walk.text(m.bytes, kFilePieceBytes);
    walk.check(safe_relative_path(m.path), "with a path that leaves the folder of the capture");
    walk.check(m.offset <= m.total && m.bytes.size() <= m.total - m.offset, "with more bytes than the file has");
  }
};

struct Fetch {
  static constexpr FrameType kType = FrameType::fetch;
  std::string capture_id;
  std::vector<std::string> patterns;
  bool operator==(const Fetch&) const = default;
  static void fields(auto& walk, auto& m) { walk(m.capture_id, m.patterns); }
};

struct Fetched {
  static constexpr FrameType kType = FrameType::fetched;
  std::uint64_t files = 0;
  std::uint64_t bytes = 0;
  std::string message;  // what could not be had; "": all was
  bool operator==(const Fetched&) const = default;
  static void fields(auto& walk, auto& m) { walk(m.files, m.bytes, m.message); }
};

struct Discard {
  static constexpr FrameType kType = FrameType::discard;
  std::string capture_id;
  bool operator==(const Discard&) const = default;
  static void fields(auto& walk, auto& m) { walk(m.capture_id); }
};

}  // namespace accelscope::capture::wire
