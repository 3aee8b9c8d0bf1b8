// What an agent and a viewer say to each other about captures: who may, which there are, how one begins, how it
// fares, whose clock shows what, and the files that go with it. The rules are those of messages.h.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "capture/request/kind.h"
#include "capture/request/request.h"
#include "capture/wire/frame.h"

namespace accelscope::capture::wire {

struct ProofMessage {
  std::string mac;  // see capture/security/proof.h
  bool operator==(const ProofMessage&) const = default;
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
};

struct Welcome {
  std::string mac;       // "": no token was wanted
  std::string host;      // the machine's name
  std::string system;    // "Linux x86_64"
  bool may_run = false;  // starts programs for the controlling viewer
  std::string fixed;     // what a start without kinds captures ("simulated accelerator"); "": kinds must be given
  std::vector<request::KindFacts> kinds;
  std::vector<CaptureOffer> captures;
  bool operator==(const Welcome&) const = default;
};

enum class StartMode : std::uint8_t {
  look = 0,     // starts nothing: the viewer only wants the welcome and may send files, fetch, discard
  begin = 1,    // a new capture, controlled by this viewer
  take_up = 2,  // goes on with one, after a number, and controls it
  watch = 3,    // sees one, without control
};

struct Start {
  std::uint64_t after_sequence = 0;  // what the viewer has; 0: nothing
  StartMode mode = StartMode::begin;
  std::string capture_id;           // to take up or watch; "": the running one
  request::CaptureRequest request;  // of a new capture
  bool operator==(const Start&) const = default;
};

struct Started {
  std::string capture_id;
  std::string name;
  std::string description;
  std::uint64_t begun_unix_ns = 0;
  bool controls = false;
  bool operator==(const Started&) const = default;
};

struct Pause {  // and Resume
  std::string reason;
  bool operator==(const Pause&) const = default;
};

struct StateReport {
  CaptureState state = CaptureState::running;
  std::string reason;      // "paused from another shell"
  std::string controller;  // as in CaptureOffer
  std::uint32_t watchers = 0;
  std::uint64_t dropped_events = 0;  // for want of room, so far
  bool operator==(const StateReport&) const = default;
};

// The viewer sends its time; the agent sends it back with its own.
struct ClockReport {
  std::int64_t viewer_ns = 0;  // of any clock of the viewer's that does not jump
  std::int64_t agent_ns = -1;  // since the capture began; -1: not known (asked; or the capture is over)
  bool operator==(const ClockReport&) const = default;
};

// Data frames first..last (inclusive) cannot be had any more.
struct Gap {
  std::uint64_t first = 0;
  std::uint64_t last = 0;
  std::uint64_t events = 0;  // in them, as far as it is known
  std::string reason;
  bool operator==(const Gap&) const = default;
};

inline constexpr std::size_t kFilePieceBytes = 512U << 10;

struct FilePiece {
  std::string path;  // relative, with '/'; never leaves the folder: see safe_relative_path
  std::uint32_t mode = 0644;
  std::uint64_t offset = 0;
  std::uint64_t total = 0;  // of the file
  std::string bytes;        // at most kFilePieceBytes
  bool operator==(const FilePiece&) const = default;
};

struct Fetch {
  std::string capture_id;
  std::vector<std::string> patterns;
  bool operator==(const Fetch&) const = default;
};

struct Fetched {
  std::uint64_t files = 0;
  std::uint64_t bytes = 0;
  std::string message;  // what could not be had; "": all was
  bool operator==(const Fetched&) const = default;
};

struct Discard {
  std::string capture_id;
  bool operator==(const Discard&) const = default;
};

[[nodiscard]] Frame encode(const ProofMessage& message);
[[nodiscard]] Frame encode(const Welcome& message);
[[nodiscard]] Frame encode(const Start& message);
[[nodiscard]] Frame encode(const Started& message);
[[nodiscard]] Frame encode_pause(const Pause& message);
[[nodiscard]] Frame encode_resume(const Pause& message);
[[nodiscard]] Frame encode(const StateReport& message);
[[nodiscard]] Frame encode(const ClockReport& message);
[[nodiscard]] Frame encode(const Gap& message);
[[nodiscard]] Frame encode(const FilePiece& message);
[[nodiscard]] Frame encode(const Fetch& message);
[[nodiscard]] Frame encode(const Fetched& message);
[[nodiscard]] Frame encode(const Discard& message);

[[nodiscard]] Result<ProofMessage> decode_proof(ByteView body);
[[nodiscard]] Result<Welcome> decode_welcome(ByteView body);
[[nodiscard]] Result<Start> decode_start(ByteView body);
[[nodiscard]] Result<Started> decode_started(ByteView body);
[[nodiscard]] Result<Pause> decode_pause(ByteView body);
[[nodiscard]] Result<StateReport> decode_state(ByteView body);
[[nodiscard]] Result<ClockReport> decode_clock(ByteView body);
[[nodiscard]] Result<Gap> decode_gap(ByteView body);
[[nodiscard]] Result<FilePiece> decode_file(ByteView body);
[[nodiscard]] Result<Fetch> decode_fetch(ByteView body);
[[nodiscard]] Result<Fetched> decode_fetched(ByteView body);
[[nodiscard]] Result<Discard> decode_discard(ByteView body);

// A request on its own, for configurations and sessions that keep one.
[[nodiscard]] Bytes encode_request(const request::CaptureRequest& request);
[[nodiscard]] Result<request::CaptureRequest> decode_request(ByteView bytes);

// True for "a/b.txt"; false for "", "/a", "..", "a/../b", "a//b", a backslash or a control character.
[[nodiscard]] bool safe_relative_path(std::string_view path);

}  // namespace accelscope::capture::wire
