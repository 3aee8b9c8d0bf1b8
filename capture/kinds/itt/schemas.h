// The tables of what programs tell by ITT and by zones.
#pragma once

#include <map>
#include <string>

#include "capture/kinds/base/table_spec.h"

namespace accelscope::capture::kinds::itt {

enum IttTaskColumn : std::size_t {
  kTaskDomain,
  kTaskSource,
  kTaskFunction,
  kTaskMetadata,
  kTaskValue,
  kTaskColour,
  kTaskId,
  kTaskParent,
  kTaskKey,
  kTaskUnfinished,
};
enum IttFrameColumn : std::size_t { kFrameDomain, kFrameNumber, kFrameId, kFrameSource };
enum IttMarkerColumn : std::size_t { kMarkerDomain, kMarkerScope, kMarkerThread, kMarkerId };
enum IttMessageColumn : std::size_t { kMessageText, kMessageSeverity, kMessageThread, kMessageColour };
enum IttLockColumn : std::size_t { kLockPlace, kLockShared, kLockAddress };
enum IttMemoryColumn : std::size_t { kMemoryBytes, kMemoryAddress, kMemoryPool, kMemoryThread };
enum IttFlowColumn : std::size_t { kFlowSource, kFlowTarget };

enum class IttTable : std::size_t {
  task,
  frame,
  marker,
  message,
  lock_wait,
  lock_hold,
  memory,
  flow,
  whole_counter,
  real_counter,
};

// Of a capture, whatever processes come.
class IttSchemas {
 public:
  explicit IttSchemas(SessionWriter& writer);

  Tables<IttTable> tables;
  // Keys of tasks that others refer to: unique in the capture.
  [[nodiscard]] std::uint64_t next_key() noexcept { return ++last_key_; }
  // The pool's name, with the process where another one has a pool of that name.
  [[nodiscard]] std::string pool(const std::string& name, std::uint32_t process_id) {
    const std::uint32_t owner = pools_.emplace(name, process_id).first->second;
    return owner == process_id ? name : name + " (" + std::to_string(process_id) + ")";
  }

 private:
  std::map<std::string, std::uint32_t> pools_;  // which process had it first
  std::uint64_t last_key_ = 0;
};

}  // namespace accelscope::capture::kinds::itt
