// The rows of one process: its threads, and what belongs to no thread. Each is made when its first event comes, so that
// a thread has been named by then.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "capture/kinds/base/kind_list.h"
#include "capture/probe/host/reader.h"

namespace accelscope::capture::kinds::itt {

// The tables of what programs tell by ITT and by zones.

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

class IttTracks {
 public:
  IttTracks(SessionWriter& writer, IttSchemas& schemas, const probes::ProbeProcess& process)
      : writer_(writer), schemas_(schemas), process_(process.title()), process_id_(process.id) {}

  // Rows of a thread, below each other.
  [[nodiscard]] TrackNumber tasks(const probes::ProbeThread& thread) {
    return of_thread(thread, "", 0, schemas_.tables[IttTable::task]);
  }
  [[nodiscard]] TrackNumber events(const probes::ProbeThread& thread) {
    return of_thread(thread, "events", 1, schemas_.tables[IttTable::task]);
  }
  [[nodiscard]] TrackNumber lock_waits(const probes::ProbeThread& thread) {
    return of_thread(thread, "lock waits", 2, schemas_.tables[IttTable::lock_wait]);
  }
  [[nodiscard]] TrackNumber lock_holds(const probes::ProbeThread& thread) {
    return of_thread(thread, "locks held", 3, schemas_.tables[IttTable::lock_hold]);
  }
  // Rows of the process.
  [[nodiscard]] TrackNumber fiber(const std::string& name) {
    return row("fiber " + name, schemas_.tables[IttTable::task]);
  }
  [[nodiscard]] TrackNumber overlapped() { return row("overlapped tasks", schemas_.tables[IttTable::task]); }
  [[nodiscard]] TrackNumber regions() { return row("regions", schemas_.tables[IttTable::task]); }
  [[nodiscard]] TrackNumber frames(const std::string& name) {
    return row("frames: " + name, schemas_.tables[IttTable::frame]);
  }
  [[nodiscard]] TrackNumber markers() { return row("markers", schemas_.tables[IttTable::marker]); }
  [[nodiscard]] TrackNumber messages() { return row("messages", schemas_.tables[IttTable::message]); }
  [[nodiscard]] TrackNumber flows() { return made("flows", schemas_.tables[IttTable::flow], "flow", ""); }
  [[nodiscard]] TrackNumber memory(const std::string& pool) {
    return made(pool, schemas_.tables[IttTable::memory], "memory", "");
  }
  [[nodiscard]] TrackNumber counter(const std::string& name, bool real, const std::string& unit) {
    return made(name, schemas_.tables[real ? IttTable::real_counter : IttTable::whole_counter], "counter", unit);
  }

  [[nodiscard]] std::uint32_t process_id() const noexcept { return process_id_; }
  [[nodiscard]] std::string thread_name(const probes::ProbeThread& thread) const;

 private:
  [[nodiscard]] TrackNumber of_thread(const probes::ProbeThread& thread, const std::string& what, std::int64_t place,
                                      SchemaNumber schema);
  [[nodiscard]] TrackNumber row(const std::string& name, SchemaNumber schema) {
    return made(name, schema, "host_thread", "");
  }
  [[nodiscard]] TrackNumber made(const std::string& name, SchemaNumber schema, const std::string& kind,
                                 const std::string& unit);

  SessionWriter& writer_;
  IttSchemas& schemas_;
  std::string process_;  // heads its tracks
  std::uint32_t process_id_;
  std::map<std::pair<std::string, SchemaNumber>, TrackNumber> made_;
};

}  // namespace accelscope::capture::kinds::itt
