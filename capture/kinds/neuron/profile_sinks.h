// Where the profiles of one capture are read into: each into a scope of its own. Those that say when they began are
// laid on the capture's time, beside what the program printed; the others begin with the capture.
//
//   ProfileSinks sinks(run.open_scope, false);
//   import_input(paths, options, [&] { return sinks.next(); });
//   sinks.place(run.origin);
#pragma once

#include <chrono>
#include <deque>
#include <memory>
#include <vector>

#include "capture/request/kind.h"
#include "capture/sources/base/labelled_sink.h"

namespace accelscope::capture::kinds::neuron {

class ProfileSinks {
 public:
  // after_stop: profiles are read although the capture was stopped.
  ProfileSinks(const request::OpenScope& open_scope, bool after_stop)
      : open_scope_(open_scope), after_stop_(after_stop) {}

  [[nodiscard]] std::unique_ptr<EventSink> next();  // must not outlive this object
  Result<void> place(std::chrono::steady_clock::time_point origin);

 private:
  const request::OpenScope& open_scope_;
  bool after_stop_;
  sources::SharedFacts facts_;
  std::vector<std::unique_ptr<EventSink>> scopes_;
  std::deque<sources::LabelledSink> sinks_;
};

}  // namespace accelscope::capture::kinds::neuron
