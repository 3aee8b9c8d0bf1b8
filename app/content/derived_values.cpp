#include "app/content/derived_values.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/base/format.h"

namespace accelscope::app {
namespace {

// A power of two, so that zooming changes it rarely.
[[nodiscard]] std::int64_t stretch_for(const render::TimeView& view, double pixels) {
  const double least = std::max(1.0, pixels * view.ns_per_pixel());
  return std::int64_t{1} << static_cast<int>(std::min(61.0, std::ceil(std::log2(least))));
}

[[nodiscard]] std::int64_t floor_to(double ns, std::int64_t step) {
  return static_cast<std::int64_t>(std::floor(ns / static_cast<double>(step))) * step;
}

// The part of the session that the view shows, in whole stretches.
[[nodiscard]] TimeRange shown(const Snapshot& snapshot, const render::TimeView& view, double beyond_ns,
                              std::int64_t step) {
  const double begin = std::max(view.begin_ns - beyond_ns, static_cast<double>(snapshot.begin_ns));
  const double end = std::min(view.end_ns + beyond_ns, static_cast<double>(snapshot.end_ns));
  return {floor_to(begin, step), floor_to(std::max(end, begin), step) + step};
}

[[nodiscard]] bool covers(const DerivedValues::Answer& answer, const TimeRange& range) {
  return answer.range.begin_ns <= range.begin_ns && answer.range.end_ns >= range.end_ns;
}

[[nodiscard]] Result<std::shared_ptr<const DerivedValues::Answer>> add_up(const QueryContext& query,
                                                                          const DerivedCounters& counters,
                                                                          const DerivedInput& input,
                                                                          const TimeRange& range, std::int64_t step) {
  auto answer = std::make_shared<DerivedValues::Answer>();
  answer->range = range;
  answer->stretch_ns = step;
  answer->version = query.snapshot->version;
  const auto stretches = static_cast<std::size_t>(range.length_ns() / step);
  for (const auto& counter : counters) {
    if (!input.serves(*counter)) continue;
    auto values = derived_values(query, *counter, input, range, stretches);
    if (!values) return values.error();
    answer->values.emplace(counter->key, std::move(*values));
  }
  return std::shared_ptr<const DerivedValues::Answer>(std::move(answer));
}

}  // namespace

void DerivedValues::take() {
  if (task_.ready()) {
    auto result = task_.take();
    error_ = result ? std::string() : result.message();
    if (result) answer_ = std::move(*result);
    for (const auto& [key, values] : answer_ ? answer_->values : std::map<std::string, std::vector<float>>()) {
      for (const float value : values) {
        if (value > highest_[key]) highest_[key] = value;  // not a number is not
      }
    }
  }
}

void DerivedValues::want(SessionAnalysis& analysis, const Snapshot& snapshot, const DerivedCounters& counters,
                         const render::TimeView& view, double stretch_pixels, double now_s) {
  take();
  waits_ = false;
  if (counters.empty()) return;
  const auto any = [&](auto is) { return std::any_of(counters.begin(), counters.end(), is); };
  const bool wants_work = any([](const auto& counter) { return counter->kind == DerivedCounter::Kind::mfu; });
  const bool wants_launches = any([](const auto& counter) { return counter->is_of_launches(); });
  const auto work = wants_work ? analysis.leaf_work() : nullptr;
  const auto launches = wants_launches ? analysis.launch_queues() : nullptr;
  const DerivedInput input{work.get(), launches.get()};
  waits_ = (wants_work && !work && analysis.leaf_work_pending()) ||
           (wants_launches && !launches && analysis.launch_queues_pending());
  if (task_.valid() || (!error_.empty() && now_s - asked_s_ < SessionAnalysis::kRenewSeconds)) return;
  const std::int64_t step = stretch_for(view, stretch_pixels);
  const bool all_known = answer_ && std::all_of(counters.begin(), counters.end(), [&](const auto& counter) {
                           return answer_->values.contains(counter->key) || !input.serves(*counter);
                         });
  const bool fits = all_known && answer_->stretch_ns == step && covers(*answer_, shown(snapshot, view, 0, step));
  if (fits && (answer_->version == snapshot.version || now_s - asked_s_ < SessionAnalysis::kRenewSeconds)) return;
  asked_s_ = now_s;
  task_ = analysis.start(
      [counters, work, launches, range = shown(snapshot, view, view.span_ns() / 2, step),
       step](const QueryContext& query) {
        return add_up(query, counters, {work.get(), launches.get()}, range, step);
      },
      Priority::drawing);
}

const std::vector<float>* DerivedValues::values_of(const DerivedCounter& counter) const {
  if (!answer_) return nullptr;
  const auto found = answer_->values.find(counter.key);
  return found == answer_->values.end() ? nullptr : &found->second;
}

bool DerivedValues::strip(const DerivedCounter& counter, const render::TimeView& view,
                          render::CounterStrip& strip) const {
  const std::vector<float>* known = values_of(counter);
  if (known == nullptr) return false;
  const std::vector<float>& values = *known;
  const auto width = static_cast<std::size_t>(view.width);
  strip.low.assign(width, std::numeric_limits<float>::quiet_NaN());
  strip.any = false;
  strip.complete = true;
  strip.mean = strip.highest = 0;
  double count = 0;
  for (std::size_t x = 0; x < width; ++x) {
    const double ns = view.ns(static_cast<double>(x) + 0.5) - static_cast<double>(answer_->range.begin_ns);
    const double place = std::floor(ns / static_cast<double>(answer_->stretch_ns));
    if (place < 0 || place >= static_cast<double>(values.size())) continue;
    const float value = values[static_cast<std::size_t>(place)];
    if (std::isnan(value)) continue;
    strip.low[x] = value;
    strip.any = true;
    strip.mean += static_cast<double>(value);
    strip.highest = std::max(strip.highest, static_cast<double>(value));
    ++count;
  }
  if (count > 0) strip.mean /= count;
  strip.high = strip.low;
  strip.last.assign(strip.low.begin(), strip.low.end());
  return true;
}

double DerivedValues::scale(const DerivedCounter& counter) const {
  if (counter.kind == DerivedCounter::Kind::utilisation) return 1;
  const auto found = highest_.find(counter.key);
  const double highest = found == highest_.end() ? 1 : static_cast<double>(found->second);
  if (counter.kind == DerivedCounter::Kind::mfu) return std::min(1.0, round_step(std::max(highest, 0.001)));
  return round_step(std::max(highest, 1.0));
}

}  // namespace accelscope::app
