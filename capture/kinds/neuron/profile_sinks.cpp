#include "capture/kinds/neuron/profile_sinks.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace accelscope::capture::kinds::neuron {
namespace {

using std::chrono::duration_cast;
using std::chrono::nanoseconds;

class Borrowed final : public ForwardingSink {
 public:
  Borrowed(EventSink& target, bool after_stop) : ForwardingSink(target), after_stop_(after_stop) {}
  [[nodiscard]] bool cancelled() const override { return !after_stop_ && ForwardingSink::cancelled(); }

 private:
  bool after_stop_;
};

}  // namespace

std::unique_ptr<EventSink> ProfileSinks::next() {
  scopes_.push_back(open_scope_());
  sinks_.emplace_back(*scopes_.back(), "", facts_);
  return std::make_unique<Borrowed>(sinks_.back(), after_stop_);
}

Result<void> ProfileSinks::place(std::chrono::steady_clock::time_point origin) {
  const auto passed = duration_cast<nanoseconds>(std::chrono::steady_clock::now() - origin);
  const auto now = duration_cast<nanoseconds>(std::chrono::system_clock::now().time_since_epoch());
  std::optional<std::int64_t> first;
  for (const sources::LabelledSink& sink : sinks_) {
    if (const auto begin = sink.begin_unix_ns()) first = std::min(first.value_or(*begin), *begin);
  }
  const std::int64_t delay = first.value_or(0) - (now - passed).count();
  if (!first || delay < 0 || delay > passed.count()) return {};  // of another time, or by another clock
  for (sources::LabelledSink& sink : sinks_) {
    if (!sink.begin_unix_ns()) continue;
    if (Result<void> done = sink.delay(delay); !done) return done;
  }
  return {};
}

}  // namespace accelscope::capture::kinds::neuron
