// The values of derived counters (core/analysis/figures/derived_counters.h) that the timeline shows: added up on the
// workers for the visible stretch of time and some way beyond it on both sides, kept until better ones come, and
// renewed while the session grows. UI thread only.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "app/rows/rows.h"
#include "app/session/analysis.h"
#include "core/analysis/figures/derived_counters.h"
#include "render/timeline/counter_strip.h"
#include "render/timeline/time_view.h"

namespace accelscope::app {

class DerivedValues {
 public:
  // Values in stretches of equal length, from the begin of the range.
  struct Answer {
    TimeRange range;
    std::int64_t stretch_ns = 1;
    std::uint64_t version = 0;
    std::map<std::string, std::vector<float>> values;  // by DerivedCounter::key
  };

  // Once per frame, with the counters that are seen. `stretch_pixels`: no stretch is narrower.
  void want(SessionAnalysis& analysis, const Snapshot& snapshot, const DerivedCounters& counters,
            const render::TimeView& view, double stretch_pixels, double now_s);
  [[nodiscard]] bool pending() const noexcept { return task_.valid() || waits_; }
  [[nodiscard]] const Answer* answer() const noexcept { return answer_.get(); }
  [[nodiscard]] const std::string& error() const noexcept { return error_; }
  // A strip of the counter for the view; empty until there are values. False while there are none.
  [[nodiscard]] bool strip(const DerivedCounter& counter, const render::TimeView& view,
                           render::CounterStrip& strip) const;
  // Value at the upper edge of the counter's row: the whole of a utilisation, and for others a round value above all
  // that were seen.
  [[nodiscard]] double scale(const DerivedCounter& counter) const;

 private:
  void take();
  [[nodiscard]] const std::vector<float>* values_of(const DerivedCounter& counter) const;

  std::shared_ptr<const Answer> answer_;
  Task<Result<std::shared_ptr<const Answer>>> task_;
  double asked_s_ = -1e9;
  bool waits_ = false;                    // for what they are made of
  std::map<std::string, float> highest_;  // seen so far, by key
  std::string error_;
};

}  // namespace accelscope::app
