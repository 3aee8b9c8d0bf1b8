#include "core/analysis/roofline/sampled_amounts.h"

#include <algorithm>
#include <cmath>

#include "core/analysis/time/track_devices.h"
#include "core/base/format.h"
#include "core/scan/group_by.h"

namespace accelscope::analysis {
namespace {

constexpr std::int64_t kLongestSampleNs = 2'000'000;  // before the range: its first may have begun there

[[nodiscard]] bool is_operations(const Track& track) { return track.unit == Unit::flop_per_second; }
[[nodiscard]] bool is_traffic(const Track& track) {
  return track.unit == Unit::bytes_per_second && std::ranges::count(kMemoryCounters, track.name) > 0;
}

}  // namespace

Result<SampledAmounts> SampledAmounts::read(const QueryContext& query, const TimeRange& range,
                                            const DeviceLanes& lanes) {
  const Snapshot& snapshot = *query.snapshot;
  SampledAmounts amounts;
  amounts.devices_.resize(lanes.device_count());
  const TrackDevices devices(snapshot);
  LaneIndices counters;
  std::vector<std::size_t> device_of(snapshot.lanes.size());
  for (std::uint32_t i = 0; i < snapshot.lanes.size(); ++i) {
    const LaneSnapshot& lane = snapshot.lanes[i];
    const Track& track = *devices.track_of_lane(i).track;
    if (lane.data->kind != EventKind::counter || lane.event_count == 0 || !lane.schema) continue;
    if (!is_operations(track) && !is_traffic(track)) continue;
    for (std::size_t device = 0; device < lanes.device_count(); ++device) {
      if (lanes.name(device) != devices.label(devices.of_lane(i))) continue;
      device_of[i] = device;
      counters.push_back(i);
    }
  }
  if (counters.empty()) return amounts;
  TimeRange widened = range;
  if (widened.begin_ns > INT64_MIN + kLongestSampleNs) widened.begin_ns -= kLongestSampleNs;
  struct Part {
    std::vector<std::vector<Sample>> lanes;
    void merge(Part&& from) {
      for (std::size_t i = 0; i < lanes.size(); ++i)
        lanes[i].insert(lanes[i].end(), from.lanes[i].begin(), from.lanes[i].end());
    }
  };
  auto found =
      TRY(gather(query.unmasked(), counters, widened, Part{.lanes = decltype(Part::lanes)(snapshot.lanes.size())},
                 [](const ScannedChunk& chunk, Part& part) {
                   const auto column = chunk.lane.schema->find(Role::value);
                   if (!column || *column >= chunk.view.column_count()) return;
                   const ColumnType type = chunk.lane.schema->columns[*column].type;
                   chunk.for_each_event([&](const ScannedBlock& block, std::uint32_t i) {
                     const std::uint32_t row = block.row(i);
                     if (!chunk.view.has_value(*column, row)) return;
                     const double value = real_number(chunk.view, *column, type, chunk.view.stored(*column, row));
                     if (!std::isfinite(value)) return;
                     part.lanes[chunk.lane_index].push_back({block.begin_ns(i), 0, std::max(0.0, value)});
                   });
                 }));
  for (const std::uint32_t lane : counters) {
    std::vector<Sample>& samples = found.lanes[lane];
    std::ranges::sort(samples, {}, &Sample::begin_ns);
    if (samples.size() < 2) continue;
    // A value holds until the next; where samples are missing for no longer than usual.
    std::vector<std::int64_t> steps(samples.size() - 1);
    for (std::size_t i = 0; i < steps.size(); ++i) steps[i] = samples[i + 1].begin_ns - samples[i].begin_ns;
    std::vector<std::int64_t> sorted = steps;
    std::ranges::sort(sorted);
    const std::int64_t usual = sorted[sorted.size() / 2];
    for (std::size_t i = 0; i < samples.size(); ++i) {
      const bool is_usual = i < steps.size() && steps[i] <= 2 * usual;
      samples[i].end_ns = samples[i].begin_ns + (is_usual ? steps[i] : usual);
    }
    amounts.devices_[device_of[lane]].push_back(
        {is_operations(*devices.track_of_lane(lane).track), std::move(samples)});
  }
  return amounts;
}

bool SampledAmounts::any() const noexcept {
  return std::ranges::any_of(devices_, [](const auto& series) { return !series.empty(); });
}

std::vector<SampledAmounts::Stretch> SampledAmounts::stretches_of(const std::vector<Work>& work) {
  std::vector<std::pair<std::int64_t, int>> edges;
  edges.reserve(work.size() * 2);
  for (const Work& each : work) {
    if (each.begin_ns >= each.end_ns) continue;
    edges.emplace_back(each.begin_ns, 1);
    edges.emplace_back(each.end_ns, -1);
  }
  std::ranges::sort(edges);
  std::vector<Stretch> stretches;
  double count = 0;
  for (std::size_t i = 0; i < edges.size(); ++i) {
    count += edges[i].second;
    if (count > 0 && edges[i + 1].first > edges[i].first)
      stretches.push_back({edges[i].first, edges[i + 1].first, count});
  }
  return stretches;
}

// Of one event that is under way in all of a stretch: what it did in the stretches before each, and behind the last.
std::vector<double> SampledAmounts::sums_of(const Series& series, const TimeRange& window,
                                            const std::vector<Stretch>& stretches) {
  std::vector<double> sums(stretches.size() + 1);
  const std::vector<Sample>& samples = series.samples;
  auto sample = std::ranges::upper_bound(samples, window.begin_ns, {}, &Sample::end_ns);
  std::size_t first = 0;
  for (; sample != samples.end() && sample->begin_ns < window.end_ns; ++sample) {
    const std::int64_t begin = std::max(sample->begin_ns, window.begin_ns);
    const std::int64_t end = std::min(sample->end_ns, window.end_ns);
    while (first < stretches.size() && stretches[first].end_ns <= begin) ++first;
    const auto overlap = [&](std::size_t i) {
      return static_cast<double>(std::min(stretches[i].end_ns, end) - std::max(stretches[i].begin_ns, begin));
    };
    double busy_ns = 0;
    for (std::size_t i = first; i < stretches.size() && stretches[i].begin_ns < end; ++i) busy_ns += overlap(i);
    if (busy_ns <= 0) continue;
    const double per_ns = sample->per_second * 1e-9 * static_cast<double>(end - begin) / busy_ns;
    for (std::size_t i = first; i < stretches.size() && stretches[i].begin_ns < end; ++i)
      sums[i + 1] += per_ns * overlap(i) / stretches[i].count;
  }
  for (std::size_t i = 1; i < sums.size(); ++i) sums[i] += sums[i - 1];
  return sums;
}

void SampledAmounts::share_out(std::size_t device, const TimeRange& window, const std::vector<Work>& work,
                               const Add& add) const {
  const std::vector<Stretch> stretches = stretches_of(work);
  std::vector<double> flops(stretches.size() + 1), bytes(stretches.size() + 1);
  for (const Series& series : devices_[device]) {
    const std::vector<double> sums = sums_of(series, window, stretches);
    std::vector<double>& all = series.is_flops ? flops : bytes;
    for (std::size_t i = 0; i < sums.size(); ++i) all[i] += sums[i];
  }
  for (const Work& each : work) {
    if (each.key == 0 || each.begin_ns >= each.end_ns) continue;
    const auto place = [&](std::int64_t time) {
      return static_cast<std::size_t>(std::ranges::lower_bound(stretches, time, {}, &Stretch::begin_ns) -
                                      stretches.begin());
    };
    const std::size_t begin = place(each.begin_ns), end = place(each.end_ns);
    add(each.key, flops[end] - flops[begin], bytes[end] - bytes[begin]);
  }
}

}  // namespace accelscope::analysis
