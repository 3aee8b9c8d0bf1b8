// What a user sees of a session and can undo, as plain values: the visible stretch of time, and the choices of what is
// shown in it and how. Every finished change is one step of the history.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "app/rows/rows.h"
#include "core/model/event_filter.h"
#include "core/model/time_range.h"

namespace accelscope::app {

// The visible stretch of session time. Kept in double so that zooming about the pointer does not creep.
struct ViewRange {
  double begin_ns = 0;
  double end_ns = 1;
  [[nodiscard]] double span_ns() const noexcept { return end_ns - begin_ns; }
  // In whole ns; never empty.
  [[nodiscard]] TimeRange whole_ns() const {
    const auto begin = whole_time(std::floor(begin_ns));
    return {begin, std::max(begin + 1, whole_time(std::ceil(end_ns)))};
  }
  bool operator==(const ViewRange&) const = default;
};

struct ViewChoices {
  EventFilter filter;                            // drives every panel, total and export; lanes dim the rest
  std::string search;                            // hits are lit on the timeline and listed
  std::map<std::string, std::string> colour_by;  // schema name -> column; absent: the name
  RowChoices rows;
  bool operator==(const ViewChoices&) const = default;
};

struct ViewState {
  ViewRange view;
  ViewChoices choices;
  bool operator==(const ViewState&) const = default;
};

// Back and forward. push() after a finished gesture; a new state drops what was ahead.
class ViewHistory {
 public:
  void push(const ViewState& state);
  [[nodiscard]] bool can_go_back() const noexcept { return position_ > 0; }
  [[nodiscard]] bool can_go_forward() const noexcept { return position_ + 1 < states_.size(); }
  const ViewState& back();     // needs can_go_back()
  const ViewState& forward();  // needs can_go_forward()

 private:
  std::vector<ViewState> states_;
  std::size_t position_ = 0;
};

}  // namespace accelscope::app
