// What an agent and a viewer say to each other about captures: who may, which there are, how one begins, how it
// fares, whose clock shows what, and the files that go with it. The rules are those of messages.h.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "capture/request/kind.h"
#include "capture/request/request.h"
#include "capture/wire/messages.h"

namespace accelscope::capture::wire {

struct ProofMessage {
  static constexpr FrameType kType = FrameType::proof;
  std::string mac;  // see capture/security/proof.h
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
  static void fields(auto& walk, auto& m) { walk(m.mac, m.host, m.system, m.may_run, m.fixed, m.kinds, m.captures); }
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

using Pause = Wish<FrameType::pause>;
using Resume = Wish<FrameType::resume>;

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
