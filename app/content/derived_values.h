// The values of derived counters (core/analysis/figures/derived_counters.h) that the timeline shows: added up on the
// workers for the visible stretch of time and some way beyond it on both sides, and kept until better ones come. UI
// thread only.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "app/rows/rows.h"
#include "app/session/analysis.h"
#include "core/analysis/figures/derived_counters.h"
#include "render/timeline/counter_strip.h"
#include "render/timeline/ruler.h"

namespace accelscope::app::content {

class DerivedValues {
 public:
  // Values in stretches of equal length, from the begin of the range.
  struct Answer {
    TimeRange range;
    std::int64_t stretch_ns = 1;
    std::map<std::string, std::vector<float>> values;  // by DerivedCounter::key
  };

  // Once per frame, with the counters that are seen. `stretch_pixels`: no stretch is narrower.
  void want(session::SessionAnalysis& analysis, const Snapshot& snapshot, const rows::DerivedCounters& counters,
            const render::TimeView& view, double stretch_pixels);
  [[nodiscard]] bool pending() const noexcept { return retained_.task.valid() || waits_; }
  // Better values of the counter are to come: those of what came since, or the first.
  [[nodiscard]] bool is_older() const { return retained_.is_older(); }
  [[nodiscard]] const Answer* answer() const noexcept { return retained_.value.get(); }
  [[nodiscard]] const std::string& error() const noexcept { return retained_.error; }
  // A strip of the counter for the view; empty until there are values. False while there are none.
  [[nodiscard]] bool strip(const analysis::DerivedCounter& counter, const render::TimeView& view,
                           render::CounterStrip& strip) const;
  // Value at the upper edge of the counter's row: the whole of a utilisation, and for others a round value above all
  // that were seen.
  [[nodiscard]] double scale(const analysis::DerivedCounter& counter) const;

 private:
  struct Question {
    std::vector<std::string> keys;  // of the counters
    TimeRange range;
    std::int64_t stretch_ns = 1;
    bool has_work = false, has_launches = false;  // what they are made of, where it is known
    bool operator==(const Question&) const = default;
  };
  [[nodiscard]] bool serves(const Question& wanted, const TimeRange& seen) const;
  void note_highest();
  [[nodiscard]] const std::vector<float>* values_of(const analysis::DerivedCounter& counter) const;

  session::SessionAnalysis::Retained<Answer, Question> retained_;
  std::map<std::string, std::shared_ptr<const analysis::DerivedCounter>> counters_;  // those that were seen, by key
  bool waits_ = false;                                                               // for what they are made of
  std::map<std::string, float> highest_;                                             // seen so far, by key
  std::shared_ptr<const Answer> noted_;                                              // the last that is in it
  std::uint64_t noted_version_ = 0;
};

}  // namespace accelscope::app::content
