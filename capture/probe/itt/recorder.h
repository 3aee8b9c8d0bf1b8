// Puts records of the calling thread into its ring. What is begun while nothing is collected is not ended either.
#pragma once

#include <string_view>

#include "capture/probe/itt/names.h"
#include "capture/probe/itt/records.h"

namespace accelscope::probe::itt {

// Which of the thread's open tasks were recorded: a bit each, the innermost lowest. Of tasks nested deeper than 64 the
// outer ones count as recorded; the agent passes over an end that has no begin.
class RecordedTasks {
 public:
  void begin(bool recorded) noexcept { bits_ = bits_ << 1 | (recorded ? 1U : 0U); }
  [[nodiscard]] bool end() noexcept {
    const bool recorded = (bits_ & 1) != 0;
    bits_ = bits_ >> 1 | std::uint64_t{1} << 63;
    return recorded;
  }

 private:
  std::uint64_t bits_ = ~std::uint64_t{0};
};

inline bool put_task_begin(Names& names, std::uint32_t site) noexcept {
  ThreadRing* ring = names.ring();
  if (ring == nullptr) return false;
  ring->put(TaskRecord{head_of<TaskRecord>(RecordType::task_begin, site), now_ticks()});
  return true;
}

inline void put_at(ThreadRing* ring, RecordType type, std::uint32_t value, std::uint64_t ticks) noexcept {
  if (ring != nullptr) ring->put(TaskRecord{head_of<TaskRecord>(type, value), ticks});
}
inline void put_value(ThreadRing* ring, RecordType type, std::uint32_t value, std::uint64_t number) noexcept {
  if (ring != nullptr) ring->put(ValueRecord{head_of<ValueRecord>(type, value), now_ticks(), number});
}
inline void put_ids(ThreadRing* ring, RecordType type, std::uint32_t value, std::uint64_t ticks, const Id& id,
                    const Id& parent) noexcept {
  if (ring != nullptr) ring->put(IdsRecord{head_of<IdsRecord>(type, value), ticks, id, parent});
}
inline void put_id(ThreadRing* ring, RecordType type, std::uint32_t value, std::uint64_t ticks, const Id& id) noexcept {
  if (ring != nullptr) ring->put(IdRecord{head_of<IdRecord>(type, value), ticks, id});
}

struct HeadOnly {
  RecordHead head;
};
inline void put_text(ThreadRing* ring, RecordType type, std::string_view text) noexcept {
  text = text.substr(0, kMaxTextBytes);
  if (ring != nullptr)
    ring->put_with_bytes(HeadOnly{head_of<HeadOnly>(type, static_cast<std::uint32_t>(text.size()))}, text);
}

// A line of text at a time. `severity` 0 to 5: trace, debug, info, warning, error, fatal.
inline void put_message(ThreadRing* ring, std::uint32_t site, std::uint32_t severity, std::string_view text) noexcept {
  text = text.substr(0, kMaxTextBytes);
  if (ring == nullptr) return;
  ring->put_with_bytes(ValueRecord{head_of<ValueRecord>(RecordType::message, site), now_ticks(),
                                   severity | static_cast<std::uint64_t>(text.size()) << 32},
                       text);
}

struct MetadataHead {
  RecordHead head;
  std::uint64_t ticks;
  Id id;
  std::uint64_t type_and_bytes;
};
inline void put_metadata(ThreadRing* ring, std::uint32_t key, const Id& id, MetadataType type,
                         std::string_view bytes) noexcept {
  bytes = bytes.substr(0, kMaxTextBytes);
  if (ring == nullptr) return;
  ring->put_with_bytes(MetadataHead{head_of<MetadataHead>(RecordType::metadata, key), now_ticks(), id,
                                    static_cast<std::uint64_t>(type) | static_cast<std::uint64_t>(bytes.size()) << 32},
                       bytes);
}

}  // namespace accelscope::probe::itt
