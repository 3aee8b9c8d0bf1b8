// What the ITT collector and the zones of a program tell the agent, through the channel of capture/probe: definitions
// of names, once each, and records in the rings of the threads. Both sides are of one build.
//
// A site is what tasks, zones, frames, markers and events are named by: a domain and a name, and the place in the
// source where that is known. Ids count from 1 in the order of definition; 0 is none.
#pragma once

#include <cstdint>
#include <utility>

#include "capture/probe/channel_format.h"

namespace accelscope::probe::itt {

// The three numbers of an __itt_id; all 0: none.
struct Id {
  std::uint64_t d1 = 0, d2 = 0, d3 = 0;
  [[nodiscard]] bool empty() const noexcept { return (d1 | d2 | d3) == 0; }
  bool operator==(const Id&) const = default;
};

// Bodies, as BodyWriter packs them.
enum class DefinitionType : std::uint32_t {
  domain = 1,   // u32 id, text name
  site = 2,     // u32 id, u32 domain, u32 line (0: not known), u32 colour 0xRRGGBB (0: none), text name, function, file
  counter = 3,  // u32 id, u32 domain, CounterType, CounterFormat, text name; a later one of the same id replaces it
  lock = 4,     // u64 lock, u32 site that declares it (0: not known), text name; a later one renames it
  fact = 5,     // text key, text value: of the whole process
};
enum class CounterType : std::uint32_t { unsigned_integer = 1, signed_integer = 2, real = 3 };
enum class CounterFormat : std::uint32_t { number = 0, bytes = 1, percent = 2, watt = 3 };

// RecordHead::value is what is named first, unless said otherwise; the words behind the head follow. `ticks` is when it
// happened.
enum class RecordType : std::uint16_t {
  task_begin = 1,        // site; ticks
  task_end = 2,          // domain; ticks: of the thread's innermost open task of that domain
  task_begin_ids = 3,    // site; ticks, id, parent
  overlapped_begin = 4,  // site; ticks, id, parent
  overlapped_end = 5,    // domain; ticks, id
  region_begin = 6,      // site; ticks, id, parent
  region_end = 7,        // domain; ticks, id
  frame_begin = 8,       // site; ticks, id
  frame_end = 9,         // site; ticks, id
  frame_submit = 10,     // site; begin ticks, end ticks, id
  frame_mark = 11,       // site; ticks: one frame ends and the next one begins
  counter_set = 12,      // counter; ticks, bits of the value
  counter_add = 13,      // counter; ticks, signed difference
  event_begin = 14,      // site; ticks
  event_end = 15,        // site; ticks
  marker = 16,           // site; ticks, scope, id
  metadata = 17,         // site of the key; ticks, id, type | bytes << 32, then the bytes
  relation = 18,         // relation; ticks, head (none: the current task), tail
  task_text = 19,        // bytes; then the text: of the thread's innermost open task
  task_name = 20,        // bytes; then the name
  task_value = 21,       // nothing; value
  task_colour = 22,      // colour
  lock_wait = 23,        // 1: shared; ticks, lock
  lock_obtain = 24,      // 1: shared; ticks, lock
  lock_release = 25,     // 1: shared; ticks, lock
  lock_cancel = 26,      // 1: shared; ticks, lock: the wait ends without the lock
  lock_mark = 27,        // site; ticks, lock
  memory_alloc = 28,     // site of the pool; ticks, address, bytes
  memory_free = 29,      // site of the pool; ticks, address
  message = 30,          // site, its domain where it is said; ticks, severity | bytes << 32, then the text
  fiber_enter = 31,      // site of its name; ticks
  fiber_leave = 32,      // nothing; ticks
  group = 33,            // site; ticks, id, parent: names what others belong to
};

// Of metadata, as the interface numbers them; `text` is ours.
enum class MetadataType : std::uint32_t {
  unknown = 0,
  u64 = 1,
  s64 = 2,
  u32 = 3,
  s32 = 4,
  u16 = 5,
  s16 = 6,
  real = 7,
  real_double = 8,
  text = 100,
};
// Gives what take(number) gives of a number of that type; of a byte where the type is not known.
template <typename Take>
constexpr auto with_number(MetadataType type, Take take) {
  switch (type) {
    case MetadataType::u64:
      return take(std::uint64_t{});
    case MetadataType::s64:
      return take(std::int64_t{});
    case MetadataType::u32:
      return take(std::uint32_t{});
    case MetadataType::s32:
      return take(std::int32_t{});
    case MetadataType::u16:
      return take(std::uint16_t{});
    case MetadataType::s16:
      return take(std::int16_t{});
    case MetadataType::real:
      return take(float{});
    case MetadataType::real_double:
      return take(double{});
    default:
      return take(std::uint8_t{});
  }
}
[[nodiscard]] constexpr std::uint32_t bytes_of(MetadataType type) noexcept {
  return with_number(type, [](auto number) { return std::uint32_t{sizeof number}; });
}

// Of markers, as the interface numbers them.
enum class Scope : std::uint32_t { unknown = 0, global = 1, process = 2, thread = 3, task = 4, marker = 5 };

// Longer texts are cut in the program.
constexpr std::uint32_t kMaxTextBytes = 16U << 10;

struct TaskRecord {
  RecordHead head;
  std::uint64_t ticks;
};
struct IdsRecord {
  RecordHead head;
  std::uint64_t ticks;
  Id id, parent;
};
struct IdRecord {
  RecordHead head;
  std::uint64_t ticks;
  Id id;
};
struct FrameSubmitRecord {
  RecordHead head;
  std::uint64_t begin_ticks, end_ticks;
  Id id;
};
struct ValueRecord {
  RecordHead head;
  std::uint64_t ticks, value;
};
struct TwoValuesRecord {
  RecordHead head;
  std::uint64_t ticks, first, second;
};
struct MarkerRecord {
  RecordHead head;
  std::uint64_t ticks, scope;
  Id id;
};
struct TaskValueRecord {
  RecordHead head;
  std::uint64_t value;
};

template <typename Record>
[[nodiscard]] constexpr RecordHead head_of(RecordType type, std::uint32_t value) noexcept {
  return {static_cast<std::uint16_t>(type), static_cast<std::uint16_t>(sizeof(Record) / 8), value};
}

// Names of settings that the agent gives to the probe.
constexpr const char* kIncludeSetting = "domains";   // patterns with '*', one after another with '\t' between
constexpr const char* kExcludeSetting = "excluded";  // the same
constexpr const char* kOffSetting = "off";           // names of kSwitches, with ' ' between

// Which of a process's words the user wants, and how the switches for them are called.
struct Wanted {
  bool tasks = true, frames = true, counters = true, events = true, metadata = true, locks = true, zones = true,
       memory = true;
};
constexpr std::pair<const char*, bool Wanted::*> kSwitches[] = {
    {"tasks", &Wanted::tasks},   {"frames", &Wanted::frames},     {"counters", &Wanted::counters},
    {"events", &Wanted::events}, {"metadata", &Wanted::metadata}, {"locks", &Wanted::locks},
    {"zones", &Wanted::zones},   {"memory", &Wanted::memory}};

}  // namespace accelscope::probe::itt
