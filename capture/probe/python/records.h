// What the Python collector tells: the records of a thread's ring and the definitions that they refer to, read by
// capture/kinds/python. Every record holds its time in ticks behind the head. Calls and returns come in the order in
// which they happen and carry the code's number, so that a reader finds its way back where some are missing: calls
// that began before the collection are told by `running` records behind a `base`, returns to nowhere mean nothing.
#pragma once

#include <cstdint>

#include "capture/probe/channel_format.h"

namespace accelscope::probe::python {

enum RecordType : std::uint16_t {
  kCall = 1,    // TimeRecord; value: the code's number
  kReturn,      // the same
  kRaise,       // the same: left by an exception
  kLine,        // LineRecord; value: the code's number
  kBase,        // BaseRecord: what the thread had open is over; the calls that are running follow, outermost first
  kRunning,     // TimeRecord; value: the code's number
  kRegionEnd,   // TimeRecord: the collection is over in all threads of the process
  kGcBegin,     // TimeRecord; value: the generation
  kGcEnd,       // TimeRecord; value: objects freed
  kSignpost,    // TextRecord; value: the number of the code that set it, or kNoCode
  kAnnotation,  // TextRecord: a text for the innermost open call; value: 0
  kTestBegin,   // TextRecord; value: TestPhase; first: the test's id, second: its file; number: its line
  kTestEnd,     // TextRecord; value: TestPhase; first: the outcome
};

constexpr std::uint32_t kNoCode = 0xffffffffU;

enum TestPhase : std::uint32_t { kWholeTest = 0, kSetup = 1, kCallPhase = 2, kTeardown = 3 };

struct TimeRecord {
  RecordHead head;
  std::uint64_t ticks;
};

struct LineRecord {
  RecordHead head;
  std::uint64_t ticks;
  std::uint64_t line;
};

struct BaseRecord {
  RecordHead head;
  std::uint64_t ticks;
  std::uint64_t ended_ticks;  // when the thread's open calls ended to be collected; 0: they are as they were
};

// Followed by the bytes of both texts, filled up to whole words.
struct TextRecord {
  RecordHead head;
  std::uint64_t ticks;
  std::uint32_t first_bytes;
  std::uint32_t second_bytes;
  std::uint64_t number;
};

// Longer texts are cut, between characters.
constexpr std::uint32_t kMaxTextBytes = 12U << 10;

// Bodies, as BodyWriter packs them.
enum DefinitionType : std::uint32_t {
  kDefineCode = 1,  // u32 number, u32 first line, u32 flags, text file, text qualified name, text module
  kDefineMeta = 2,  // text key, text value
  kDefineNote = 3,  // a NoteKind: u32
};

// Keys of kDefineMeta that are for the reader; all others are facts for people.
constexpr const char* kLibraryKey = "/library";      // the folder of Python's own modules
constexpr const char* kDirectoryKey = "/directory";  // that relative paths begin at

// Numbers of codes rise by one from 0, in the order of their definitions. Among the flags of a code object: a function
// in C.
constexpr std::uint32_t kNativeCode = 0x80000000U;

enum class NoteKind : std::uint32_t {
  profile_replaced = 1,  // the program has set another profile function
  trace_replaced = 2,    // and another trace function, while lines were wanted
};

}  // namespace accelscope::probe::python
