// How a library inside a profiled program (a probe) and the agent talk: two sides of one build on one host, so the
// layout may change with any version; `kChannelVersion` keeps different builds apart.
//
// A Unix stream socket carries what is rare: hello, threads with their rings, definitions, wishes of the program. What
// is frequent goes through rings in shared memory, one for each thread that has something to tell: the thread alone
// writes, the agent alone reads, no system call, no lock. Both outlive the program for as long as the agent holds them:
// whatever was written before a crash, an _exit or an exec is read. A definition is sent before the first record that
// uses it is put into a ring; the agent notes how far the rings are, reads the socket, and then the rings to there.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace accelscope::probe {

constexpr std::uint32_t kChannelVersion = 4;

// In the environment of a program that an agent starts: the folder of the sockets, KIND.sock each. Without it a probe
// looks in the folder where an agent waits for programs that this user starts by hand: $XDG_RUNTIME_DIR/accelscope,
// else /tmp/accelscope-UID.
constexpr const char* kFolderVariable = "ACCELSCOPE_PROBES";

// The head of a record in a ring. Records are whole words of 8 bytes and lie in one piece: the ring is mapped twice in
// a row, so none has to be cut at its end.
struct RecordHead {
  std::uint16_t type;   // the probe's own
  std::uint16_t words;  // of 8 bytes, with this head
  std::uint32_t value;  // the probe's own
};
static_assert(sizeof(RecordHead) == 8);

constexpr std::size_t kMaxRecordBytes = 32U << 10;
constexpr std::size_t kMinRingBytes = 128U << 10;
constexpr std::size_t kMaxRingBytes = 256U << 20;
constexpr std::uint32_t kRingMagic = 0x52504341;  // "ACPR"

// The first page of a ring's memory; `bytes` of records follow at kRingHeadBytes. Counts of bytes never turn over.
constexpr std::size_t kRingHeadBytes = 4096;
struct RingHead {
  std::uint32_t magic;
  std::uint32_t thread_id;                         // the system's
  std::uint64_t bytes;                             // a power of two
  alignas(64) std::atomic<std::uint64_t> written;  // by the program
  std::atomic<std::uint64_t> dropped;              // records that found no room
  std::atomic<std::uint32_t> closed;               // 1: the thread has ended
  alignas(64) std::atomic<std::uint64_t> read;     // by the agent
};
static_assert(sizeof(RingHead) <= kRingHeadBytes);

// One page that the agent shares with each program.
enum ControlBits : std::uint32_t {
  kPaused = 1,  // the capture is paused; programs set and clear it as well when they wish so
  kClosed = 2,  // the capture is over: the probe goes off for good
  kEnding = 4,  // the capture is about to be over: what probes hold back is taken now, or never
  kControlBits = kPaused | kClosed,
  kOneIntent = 1U << 8,  // above the bits: how often programs have wished, modulo 2^24
};
struct ControlPage {
  // ControlBits, none: collect. While programs have wished more often than the capture has followed, kPaused is theirs.
  std::atomic<std::uint32_t> state;
  std::atomic<std::uint32_t>
      drop_when_full;  // 1: a record that finds no room is dropped and counted, 0: the thread waits
};

// Frames of the socket, both ways: head, then `bytes`. File descriptors ride with the head.
struct FrameHead {
  std::uint32_t type;
  std::uint32_t bytes;
};
constexpr std::uint32_t kMaxFrameBytes = 64U << 20;

enum class FrameType : std::uint32_t {
  hello = 1,        // program: Hello, then its texts
  welcome = 2,      // agent: Welcome, then the settings as lines "name=value"; descriptors: control page, wake-up event
  refusal = 3,      // agent: a text; the probe goes off
  ring = 4,         // program: u32 thread id, then the thread's name; descriptor: the ring, always
  definition = 5,   // program: u32 type, the probe's own, then its body
  intent = 6,       // program: u32 Intent
  trouble = 7,      // program: a text: something that happens there cannot be told
  thread_name = 8,  // program: u32 thread id, then its new name
  flushes = 9,      // program: it holds events back, and flushes them on kEnding
  flushed = 10,     // program: it has; no more of them will come
};

enum class ClockKind : std::uint32_t {
  monotonic = 1,  // CLOCK_MONOTONIC, ns
  tsc = 2,        // the time-stamp counter, constant and the same on all processors
};

enum class Intent : std::uint32_t { pause = 1, resume = 2, stop = 3 };

struct Hello {
  std::uint32_t version;
  ClockKind clock;
  std::uint32_t process_id;
  std::uint32_t parent_id;
  std::uint64_t attach_ticks;
  std::uint32_t kind_bytes;     // then the texts: kind,
  std::uint32_t program_bytes;  // path of the executable,
  std::uint32_t command_bytes;  // command line, its words ended by NUL
  std::uint32_t unused;
};

struct Welcome {
  std::uint64_t ring_bytes;
};

}  // namespace accelscope::probe
