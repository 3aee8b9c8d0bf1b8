#include "core/analysis/iterations/folding.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace accelscope {
namespace {

double quantile_of(std::vector<std::int64_t>& values, double q) {
  const double at = q * static_cast<double>(values.size() - 1);
  const auto low = static_cast<std::ptrdiff_t>(at);
  std::nth_element(values.begin(), values.begin() + low, values.end());
  const auto below = static_cast<double>(values[static_cast<std::size_t>(low)]);
  if (static_cast<std::size_t>(low) + 1 == values.size()) return below;
  const auto above = static_cast<double>(*std::min_element(values.begin() + low + 1, values.end()));
  return below + (at - static_cast<double>(low)) * (above - below);
}

// Of the events of a name, by their places in an iteration.
struct NameFold {
  RepeatedName name;
  std::size_t first = 0, count = 0;  // operations
};

void fold_name(const EventSequence& sequence, const NamePlaces& places, const Period& period, const NameFold& fold,
               const std::vector<LoopIteration>& iterations, std::span<LoopOperation> out) {
  const std::size_t times = fold.name.times;
  const bool adds_up = fold.count < times;
  std::vector<std::vector<std::int64_t>> offsets(fold.count), durations(fold.count);
  const auto all = places.of(fold.name.token);
  auto at = std::lower_bound(all.begin(), all.end(), period.firsts.front());
  for (std::size_t i = 0; i < period.firsts.size(); ++i) {
    while (at != all.end() && *at < period.firsts[i]) ++at;
    std::int64_t sum = 0;
    std::size_t seen = 0;
    for (; at != all.end() && *at < period.limits[i]; ++at) {
      if (seen >= times) continue;
      const std::int64_t length = sequence.ends_ns[*at] - sequence.begins_ns[*at];
      const std::size_t to = adds_up ? 0 : seen;
      if (!adds_up || seen == 0) offsets[to].push_back(sequence.begins_ns[*at] - iterations[i].begin_ns);
      ++seen;
      sum += length;
      if (adds_up) continue;
      if (i == 0) out[to].first_ns = length;
      durations[to].push_back(length);
    }
    if (!adds_up || seen == 0) continue;
    if (i == 0) out[0].first_ns = sum;
    durations[0].push_back(sum);
  }
  for (std::size_t k = 0; k < fold.count; ++k) {
    LoopOperation& operation = out[k];
    operation.name = sequence.names[fold.name.token].name;
    operation.numbered = sequence.names[fold.name.token].numbered;
    operation.place = static_cast<std::uint32_t>(k);
    operation.times = adds_up ? fold.name.times : 1;
    operation.offset_ns = folded_values(offsets[k]);
    operation.duration_ns = folded_values(durations[k]);
  }
}

// Where iterations begin and end.
std::vector<LoopIteration> bounds_of(const EventSequence& sequence, const NamePlaces& places, const Period& period) {
  std::vector<LoopIteration> found(period.firsts.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    if (period.firsts[i] < sequence.size()) {  // else the lane has nothing of it, nor of those that follow
      found[i].begin_ns = sequence.begins_ns[period.firsts[i]];
      found[i].end_ns = sequence.ends_ns[period.firsts[i]];
    }
  }
  for (const RepeatedName& name : period.body) {
    const auto all = places.of(name.token);
    auto at = std::lower_bound(all.begin(), all.end(), period.firsts.front());
    for (std::size_t i = 0; i < found.size(); ++i) {
      std::uint32_t seen = 0;
      for (; at != all.end() && *at < period.limits[i]; ++at) {
        if (*at < period.firsts[i] || seen++ >= name.times) continue;
        found[i].end_ns = std::max(found[i].end_ns, sequence.ends_ns[*at]);
      }
    }
  }
  return found;
}

void measure_iterations(FoldedLoop& loop) {
  std::vector<std::int64_t> lengths, intervals;
  for (const LoopIteration& each : loop.iterations) lengths.push_back(each.length_ns());
  for (std::size_t i = 1; i < loop.iterations.size(); ++i)
    intervals.push_back(loop.iterations[i].begin_ns - loop.iterations[i - 1].begin_ns);
  std::vector<bool> outlier;
  loop.duration_ns = folded_values(lengths, &outlier);
  loop.interval_ns = folded_values(intervals);
  for (std::size_t i = 0; i < lengths.size(); ++i) loop.iterations[i].outlier = outlier[i];
  while (loop.warm_up < lengths.size() && outlier[loop.warm_up] &&
         static_cast<double>(lengths[loop.warm_up]) > loop.duration_ns.median)
    ++loop.warm_up;
  lengths.erase(lengths.begin(), lengths.begin() + loop.warm_up);
  if (!lengths.empty()) loop.steady_ns = quantile_of(lengths, 0.5);
}

// The longest, as they begin.
void order_body(FoldedLoop& loop) {
  std::erase_if(loop.body, [](const LoopOperation& each) { return each.duration_ns.count == 0; });
  if (loop.body.size() > FoldedLoop::kMostOperations) {
    std::stable_sort(loop.body.begin(), loop.body.end(),
                     [](const auto& a, const auto& b) { return a.duration_ns.median > b.duration_ns.median; });
    loop.left_out = loop.body.size() - FoldedLoop::kMostOperations;
    loop.body.resize(FoldedLoop::kMostOperations);
  }
  std::stable_sort(loop.body.begin(), loop.body.end(),
                   [](const auto& a, const auto& b) { return a.offset_ns.median < b.offset_ns.median; });
}

}  // namespace

FoldedValues folded_values(std::span<const std::int64_t> values, std::vector<bool>* outlier) {
  constexpr std::size_t kLeastValues = 4;
  constexpr double kDeviations = 3 * 1.4826, kLeastPart = 0.05;
  FoldedValues found;
  if (outlier != nullptr) outlier->assign(values.size(), false);
  if (values.empty()) return found;
  std::vector<std::int64_t> copy(values.begin(), values.end());
  found.count = static_cast<std::uint32_t>(copy.size());
  found.p10 = quantile_of(copy, 0.1);
  found.p90 = quantile_of(copy, 0.9);
  found.median = quantile_of(copy, 0.5);
  const auto [least, most] = std::minmax_element(copy.begin(), copy.end());
  found.min = static_cast<double>(*least);
  found.max = static_cast<double>(*most);
  if (copy.size() < kLeastValues) return found;
  const auto distance = [&](std::int64_t value) { return std::abs(static_cast<double>(value) - found.median); };
  for (std::int64_t& value : copy) value = std::llround(distance(value));
  const double far = std::max(kDeviations * quantile_of(copy, 0.5), kLeastPart * std::abs(found.median));
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (distance(values[i]) <= far) continue;
    ++found.outliers;
    if (outlier != nullptr) (*outlier)[i] = true;
  }
  return found;
}

FoldedLoop fold(const EventSequence& sequence, const NamePlaces& places, const Period& period, WorkerPool& pool,
                TaskControl& control, std::span<const std::int64_t> begins_ns, std::span<const std::int64_t> ends_ns) {
  FoldedLoop loop;
  if (period.firsts.empty()) return loop;
  loop.iterations = bounds_of(sequence, places, period);
  for (std::size_t i = 0; i < begins_ns.size(); ++i) loop.iterations[i].begin_ns = begins_ns[i];
  for (std::size_t i = 0; i < ends_ns.size(); ++i) loop.iterations[i].end_ns = ends_ns[i];
  std::size_t whole = 0, next = 0;
  for (const RepeatedName& each : period.body) whole += each.times;
  std::vector<NameFold> names;
  for (const RepeatedName& each : period.body) {
    names.push_back({each, next, whole > FoldedLoop::kMostOperations ? std::size_t{1} : each.times});
    next += names.back().count;
  }
  loop.body.resize(next);
  pool.for_each(names.size(), control, [&](std::size_t i, std::size_t) {
    fold_name(sequence, places, period, names[i], loop.iterations,
              std::span(loop.body).subspan(names[i].first, names[i].count));
  });
  order_body(loop);
  measure_iterations(loop);
  return loop;
}

}  // namespace accelscope
