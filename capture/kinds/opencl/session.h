// What the processes of a capture of OpenCL share: tables, devices with their clocks, files of source.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "capture/kinds/opencl/schemas.h"
#include "capture/sources/tracks/doubtful_times.h"
#include "core/chunk/session_writer.h"
#include "core/model/clock.h"

namespace accelscope::capture::kinds::opencl {

// The clock of an OpenCL device, found by brackets: readings of the device that were taken between two times of the
// host. Every command gives one, since the device's time of queueing lies within the call that queued it. The tightest
// bracket of every tenth of a second becomes an anchor, wide ones only where the clock would miss them otherwise;
// between anchors the clock runs evenly.

class DeviceClock {
 public:
  static constexpr std::int64_t kFirstSpacingNs = 100'000'000;
  static constexpr std::size_t kMostAnchors = 1024;  // then every second one goes, and new ones come half as often

  // The device stood at `ticks` between the two times; brackets may come in any order.
  void add(std::int64_t ticks, std::int64_t before_ns, std::int64_t after_ns);
  // The anchors so far, among them the tightest bracket of the stretch that has not ended; true if any is new.
  bool update(Clock& clock);
  [[nodiscard]] bool known() const noexcept { return stretch_.has_value() || !anchors_.empty(); }

 private:
  struct Bracket {
    std::int64_t ticks = 0;
    std::int64_t before_ns = 0;
    std::int64_t after_ns = 0;
    [[nodiscard]] std::int64_t width() const noexcept { return after_ns - before_ns; }
    [[nodiscard]] ClockAnchor anchor() const noexcept { return {ticks, before_ns + width() / 2}; }
  };
  void join(const std::vector<Bracket>& brackets, Clock& clock) const;
  void end_stretch();
  void thin_out();

  std::vector<Bracket> anchors_;
  std::optional<Bracket> stretch_;  // the tightest since stretch_begin_ns_
  std::int64_t stretch_begin_ns_ = 0;
  std::int64_t spacing_ns_ = kFirstSpacingNs;
  bool changed_ = false;
};

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
