#include "app/content/derived_values.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "core/base/format.h"

namespace accelscope::app::content {
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

[[nodiscard]] Result<std::shared_ptr<const DerivedValues::Answer>> add_up(const QueryContext& query,
                                                                          const rows::DerivedCounters& counters,
                                                                          const analysis::DerivedInput& input,
                                                                          const TimeRange& range, std::int64_t step) {
  auto answer = std::make_shared<DerivedValues::Answer>();
  answer->range = range;
  answer->stretch_ns = step;
  const auto stretches = static_cast<std::size_t>(range.length_ns() / step);
  for (const auto& counter : counters) {
    if (!input.serves(*counter)) continue;
    auto values = TRY(analysis::derived_values(query, *counter, input, range, stretches));
    answer->values.emplace(counter->key, std::move(values));
  }
  return std::shared_ptr<const DerivedValues::Answer>(std::move(answer));
}

}  // namespace

// What was asked last does for what is seen now.
bool DerivedValues::serves(const Question& wanted, const TimeRange& seen) const {
  const Question& last = retained_.key;
  return last.stretch_ns == wanted.stretch_ns && last.has_work == wanted.has_work &&
         last.has_launches == wanted.has_launches && last.range.begin_ns <= seen.begin_ns &&
         last.range.end_ns >= seen.end_ns && std::all_of(wanted.keys.begin(), wanted.keys.end(), [&](const auto& key) {
           return std::find(last.keys.begin(), last.keys.end(), key) != last.keys.end();
         });
}

// The scale stays while the view moves; values of other data are no part of it.
void DerivedValues::note_highest() {
  if (noted_ == retained_.value) return;
  noted_ = retained_.value;
  if (std::exchange(noted_version_, retained_.value_version) != retained_.value_version) highest_.clear();
  for (const auto& [key, values] : noted_->values) {
    for (const float value : values) {
      if (value > highest_[key]) highest_[key] = value;  // not a number is not
    }
  }
}

void DerivedValues::want(session::SessionAnalysis& analysis, const Snapshot& snapshot,
                         const rows::DerivedCounters& counters, const render::TimeView& view, double stretch_pixels) {
  waits_ = false;
  if (counters.empty()) return retained_.drop();
  const auto any = [&](auto is) { return std::any_of(counters.begin(), counters.end(), is); };
  const bool wants_work = any([](const auto& counter) { return counter->kind == analysis::DerivedCounter::Kind::mfu; });
  const bool wants_launches = any([](const auto& counter) { return counter->is_of_launches(); });
  const auto work = wants_work ? analysis.leaf_work() : nullptr;
  const auto launches = wants_launches ? analysis.launch_queues() : nullptr;
  waits_ = (wants_work && !work && analysis.leaf_work_pending()) ||
           (wants_launches && !launches && analysis.launch_queues_pending());
  session::SessionAnalysis::Basis of =
      work ? analysis.made_of(analysis.leaf_work_state()) : session::SessionAnalysis::Basis{};
  const session::SessionAnalysis::Basis of_launches = analysis.made_of(analysis.launch_queues_state());
  if (launches && of_launches.version < of.version) of = of_launches;
  const std::int64_t step = stretch_for(view, stretch_pixels);
  Question wanted{{}, shown(snapshot, view, view.span_ns() / 2, step), step, work != nullptr, launches != nullptr};
  for (const auto& counter : counters) {
    wanted.keys.push_back(counter->key);
    counters_[counter->key] = counter;
  }
  if (serves(wanted, shown(snapshot, view, 0, step))) wanted = retained_.key;
  rows::DerivedCounters asked;
  for (const std::string& key : wanted.keys) asked.push_back(counters_.at(key));
  const auto add = [asked, work, launches, range = wanted.range, step](const QueryContext& query) {
    return add_up(query, asked, {work.get(), launches.get()}, range, step);
  };
  const auto found = analysis.ask(
      retained_, wanted, {.of = of, .is_let_end = true, .tells_itself = true, .priority = Priority::drawing}, add);
  if (found) note_highest();
}

const std::vector<float>* DerivedValues::values_of(const analysis::DerivedCounter& counter) const {
  if (!retained_.value) return nullptr;
  const auto found = retained_.value->values.find(counter.key);
  return found == retained_.value->values.end() ? nullptr : &found->second;
}

bool DerivedValues::strip(const analysis::DerivedCounter& counter, const render::TimeView& view,
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
    const double ns = view.ns(static_cast<double>(x) + 0.5) - static_cast<double>(retained_.value->range.begin_ns);
    const double place = std::floor(ns / static_cast<double>(retained_.value->stretch_ns));
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

double DerivedValues::scale(const analysis::DerivedCounter& counter) const {
  if (counter.kind == analysis::DerivedCounter::Kind::utilisation) return 1;
  const auto found = highest_.find(counter.key);
  const double highest = found == highest_.end() ? 1 : static_cast<double>(found->second);
  if (counter.kind == analysis::DerivedCounter::Kind::mfu) return std::min(1.0, round_step(std::max(highest, 0.001)));
  return round_step(std::max(highest, 1.0));
}

}  // namespace accelscope::app::content
