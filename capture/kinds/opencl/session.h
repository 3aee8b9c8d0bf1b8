// What the processes of a capture of OpenCL share: tables, devices with their clocks, files of source.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "capture/kinds/opencl/device_clock.h"
#include "capture/kinds/opencl/schemas.h"
#include "capture/sources/tracks/doubtful_times.h"
#include "core/chunk/session_writer.h"

namespace accelscope::capture::kinds::opencl {

struct SessionDevice {
  std::string name;  // told apart where several have one name: "Arc A770 #2"
  Clock clock;
  DeviceClock brackets;
  ClockMap map;                 // of `clock`
  std::int64_t updated_ns = 0;  // when the viewer was last told of `clock`
  TrackNumber memory = kNone;
  // What the times of its commands are held against: each other, and when they were asked for.
  sources::tracks::TimeSketch times, queued;
  sources::tracks::TimeBounds bounds;
};

class OpenclSession {
 public:
  static constexpr std::int64_t kClockIntervalNs = 100'000'000;  // every new version travels whole

  OpenclSession(SessionWriter& writer, bool with_calls);

  // The `nth` device of that name in a process, from 0. Lives as long as the session.
  [[nodiscard]] SessionDevice& device(const std::string& name, std::size_t nth, std::uint64_t memory_bytes);
  // Gives the viewer what is newly known of the devices' clocks.
  void update_clocks(std::int64_t now_ns);
  // Path under which the text is shown: the same for the same text.
  [[nodiscard]] std::string add_source(const std::string& text);
  [[nodiscard]] std::uint64_t new_process() { return process_count_++; }

  SessionWriter& writer;
  bool keeps_calls;
  Tables<OpenclTable> tables;

 private:
  std::vector<std::unique_ptr<SessionDevice>> devices_;
  std::map<std::string, std::string> sources_;  // path by text
  std::uint64_t process_count_ = 0;
};

}  // namespace accelscope::capture::kinds::opencl
