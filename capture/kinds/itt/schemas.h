// The tables of what programs tell by ITT and by zones.
#pragma once

#include <map>
#include <string>

#include "core/chunk/session_writer.h"

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

// Defined once for a capture, whatever processes come; each when it is first used.
class IttSchemas {
 public:
  explicit IttSchemas(SessionWriter& writer) : writer_(writer) {}

  [[nodiscard]] SchemaNumber task() { return made(task_, task_schema); }
  [[nodiscard]] SchemaNumber frame() { return made(frame_, frame_schema); }
  [[nodiscard]] SchemaNumber marker() { return made(marker_, marker_schema); }
  [[nodiscard]] SchemaNumber message() { return made(message_, message_schema); }
  [[nodiscard]] SchemaNumber lock_wait() { return made(lock_wait_, lock_wait_schema); }
  [[nodiscard]] SchemaNumber lock_hold() { return made(lock_hold_, lock_hold_schema); }
  [[nodiscard]] SchemaNumber memory() { return made(memory_, memory_schema); }
  [[nodiscard]] SchemaNumber flow() { return made(flow_, flow_schema); }
  [[nodiscard]] SchemaNumber whole_counter() { return made(whole_counter_, whole_counter_schema); }
  [[nodiscard]] SchemaNumber real_counter() { return made(real_counter_, real_counter_schema); }

  // Keys of tasks that others refer to: unique in the capture.
  [[nodiscard]] std::uint64_t next_key() noexcept { return ++last_key_; }
  // The pool's name, with the process where another one has a pool of that name.
  [[nodiscard]] std::string pool(const std::string& name, std::uint32_t process_id) {
    const std::uint32_t owner = pools_.emplace(name, process_id).first->second;
    return owner == process_id ? name : name + " (" + std::to_string(process_id) + ")";
  }

 private:
  static Schema task_schema();
  static Schema frame_schema();
  static Schema marker_schema();
  static Schema message_schema();
  static Schema lock_wait_schema();
  static Schema lock_hold_schema();
  static Schema memory_schema();
  static Schema flow_schema();
  static Schema whole_counter_schema();
  static Schema real_counter_schema();
  [[nodiscard]] SchemaNumber made(SchemaNumber& number, Schema (*schema)()) {
    if (number == kNone) number = writer_.add_schema(schema());
    return number;
  }

  SessionWriter& writer_;
  SchemaNumber task_ = kNone, frame_ = kNone, marker_ = kNone, message_ = kNone, lock_wait_ = kNone, lock_hold_ = kNone,
               memory_ = kNone, flow_ = kNone, whole_counter_ = kNone, real_counter_ = kNone;
  std::map<std::string, std::uint32_t> pools_;  // which process had it first
  std::uint64_t last_key_ = 0;
};

}  // namespace accelscope::capture::kinds::itt
