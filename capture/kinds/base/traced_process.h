// What a collector of a vendor's tracing library (capture/probe/tracing_format.h) tells inside one process, apart from
// whose library it is: names, threads, what was lost, the library's clock. Records come in the order of the library's
// buffers; they wait here for a moment and are written by their begin.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>

#include "capture/kinds/base/held_records.h"
#include "capture/kinds/base/host_threads.h"
#include "capture/kinds/base/launches.h"
#include "capture/probe/bodies.h"
#include "capture/probe/host/reader.h"
#include "capture/probe/tracing_format.h"
#include "core/chunk/session_writer.h"

namespace accelscope::capture::kinds {

// How a quality report speaks of a library.
struct TracingLibrary {
  const char* kind;           // "cuda"
  const char* name;           // "CUPTI"
  const char* without_times;  // why records have none
  const char* no_room;        // for records: "had no buffer for"
  const char* cut;            // what records are that were not whole
  const char* before_call;    // why work seems to begin before its call; "": not known
};

class TracedProcess : public probes::ProcessReader {
 public:
  void thread(const probes::ProbeThread& thread) final { threads_.name(thread.id, thread.name, false); }
  void define(std::uint32_t type, std::string_view body) final;
  void record(const probes::ProbeThread& thread, probe::RecordHead head, std::span<const std::uint64_t> words) final;
  void thread_ended(const probes::ProbeThread& /*thread*/, std::int64_t /*now_ns*/) final {}
  void ended(const probes::ProbeEnd& end) final;
  void read_until(std::int64_t now_ns) override;

 protected:
  TracedProcess(const probes::ProbeProcess& process, SessionWriter& writer, Flows& flows,
                const TracingLibrary& library);

  // Of the kind's own. What cannot be read is counted in malformed_.
  virtual void define_own(std::uint32_t type, probe::BodyReader& body) = 0;
  virtual void define_name(std::uint32_t number, std::string text) = 0;
  virtual void record_own(const probes::ProbeThread& thread, probe::RecordHead head,
                          std::span<const std::uint64_t> words) = 0;
  virtual void write(probe::RecordHead head, const std::uint64_t* words) = 0;  // that was held
  virtual void take_clock(const probe::ClockRecord& record) = 0;
  // The program ended then: writes what is open up to there. How many ranges that were.
  [[nodiscard]] virtual std::uint64_t settle(std::int64_t end_ns) = 0;
  virtual void tell_own() = 0;  // of the kind's own losses

  void hold(probe::RecordHead head, std::span<const std::uint64_t> words, std::int64_t begin_ns, std::int64_t end_ns);
  // A row below the threads'.
  [[nodiscard]] TrackNumber host_track(TrackNumber& track, const char* name, SchemaNumber schema,
                                       const char* kind = "host_thread");
  void tell_of_process(std::initializer_list<QualityEntry> findings);

  const probes::ProbeProcess& process_;
  SessionWriter& writer_;
  std::string title_;
  HostThreads threads_;
  Launches launches_;
  std::int64_t turn_ns_;

  std::int64_t clock_offset_ = 0;  // the library's time to ours
  std::int64_t residual_ns_ = 0;
  bool has_clock_ = false;
  std::uint64_t malformed_ = 0, without_times_ = 0, no_room_ = 0, not_read_ = 0, cut_ = 0;

 private:
  void write_held(std::int64_t until_ns);

  const TracingLibrary& library_;
  HeldRecords held_;
};

}  // namespace accelscope::capture::kinds
