#include "capture/sources/tt_metal/write/marker_runs.h"

#include <algorithm>
#include <vector>

namespace accelscope::capture::sources::tt_metal {
namespace {

[[nodiscard]] bool marker_runs_earlier(const LogMarker& a, const LogMarker& b) noexcept { return a.time < b.time; }

// Rows are nearly sorted: moving each to its place costs a few steps. Where that turns out wrong, sort in earnest.
void sort_by_time(std::vector<LogMarker>& markers) {
  std::size_t steps = 0;
  for (std::size_t i = 1; i < markers.size(); ++i) {
    if (!marker_runs_earlier(markers[i], markers[i - 1])) continue;
    const LogMarker moved = markers[i];
    std::size_t place = i;
    for (; place > 0 && marker_runs_earlier(moved, markers[place - 1]); --place) markers[place] = markers[place - 1];
    markers[place] = moved;
    steps += i - place;
    if (steps > 16 * markers.size()) {
      std::stable_sort(markers.begin(), markers.end(), marker_runs_earlier);
      return;
    }
  }
}

constexpr std::size_t kMarkerRunsMostBytes = 40;  // of a packed marker

// Seven bits a byte, the low ones first; the high bit says that more follow.
[[nodiscard]] std::byte* put(std::byte* at, std::uint64_t value) noexcept {
  while (value >= 0x80) {
    *at++ = static_cast<std::byte>(value | 0x80);
    value >>= 7;
  }
  *at++ = static_cast<std::byte>(value);
  return at;
}

// A run while it is merged: one segment of it in memory.
class RunReader {
 public:
  RunReader(const std::vector<std::size_t>& segments, ChunkSpill& spill) : segments_(&segments), spill_(&spill) {}

  LogMarker marker;

  // False at the end of the run.
  [[nodiscard]] Result<bool> advance() {
    if (at_ == bytes_.size()) {
      if (next_ == segments_->size()) return false;
      Bytes bytes = TRY(spill_->take((*segments_)[next_++]));
      bytes_ = std::move(bytes);
      at_ = 0;
      marker.time = 0;
    }
    marker.time += static_cast<std::int64_t>(get());
    marker.site = static_cast<std::uint32_t>(get());
    marker.context = static_cast<std::uint32_t>(get());
    marker.data = get();
    marker.extra = get();
    return true;
  }

 private:
  [[nodiscard]] std::uint64_t get() noexcept {
    std::uint64_t value = 0;
    for (unsigned shift = 0;; shift += 7) {
      const auto byte = static_cast<std::uint64_t>(bytes_[at_++]);
      value |= (byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
  }

  const std::vector<std::size_t>* segments_;
  ChunkSpill* spill_;
  std::size_t next_ = 0;
  Bytes bytes_;
  std::size_t at_ = 0;
};

}  // namespace

Result<void> MarkerRuns::pack(std::size_t count, ChunkSpill& spill) {
  sort_by_time(held_);
  if (runs_.empty()) first_time_ = held_.front().time;
  first_time_ = std::min(first_time_, held_.front().time);
  last_time_ = runs_.empty() ? held_.back().time : std::max(last_time_, held_.back().time);
  if (runs_.empty() || held_.front().time < runs_.back().last) runs_.emplace_back();
  Run& run = runs_.back();
  Bytes bytes(count * kMarkerRunsMostBytes);
  std::byte* at = bytes.data();
  std::int64_t time = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const LogMarker& marker = held_[i];
    at = put(at, static_cast<std::uint64_t>(marker.time - time));
    at = put(at, marker.site);
    at = put(at, marker.context);
    at = put(at, marker.data);
    at = put(at, marker.extra);
    time = marker.time;
  }
  bytes.resize(static_cast<std::size_t>(at - bytes.data()));
  run.last = time;
  held_.erase(held_.begin(), held_.begin() + static_cast<std::ptrdiff_t>(count));
  const std::size_t index = TRY(spill.add(std::move(bytes)));
  run.segments.push_back(index);
  return {};
}

Result<void> MarkerRuns::finish(ChunkSpill& spill) {
  if (held_.empty()) return {};
  const Result<void> packed = pack(held_.size(), spill);
  held_ = {};
  return packed;
}

Result<void> MarkerRuns::merge(ChunkSpill& spill, const Visit& visit) {
  std::vector<RunReader> readers;
  readers.reserve(runs_.size());
  std::vector<RunReader*> heap;
  const auto later = [](const RunReader* a, const RunReader* b) { return b->marker.time < a->marker.time; };
  for (const Run& run : runs_) {
    RunReader& reader = readers.emplace_back(run.segments, spill);
    const bool more = TRY(reader.advance());
    if (more) heap.push_back(&reader);
  }
  std::make_heap(heap.begin(), heap.end(), later);
  std::vector<LogMarker> of_one_time;
  while (!heap.empty()) {
    std::pop_heap(heap.begin(), heap.end(), later);
    RunReader& reader = *heap.back();
    const std::int64_t until = heap.size() > 1 ? heap.front()->marker.time : std::numeric_limits<std::int64_t>::max();
    bool more = true;
    do {
      if (!of_one_time.empty() && of_one_time.front().time != reader.marker.time) {
        if (!visit(of_one_time)) return {};
        of_one_time.clear();
      }
      of_one_time.push_back(reader.marker);
      const bool advanced = TRY(reader.advance());
      more = advanced;
    } while (more && reader.marker.time <= until);
    if (more) {
      std::push_heap(heap.begin(), heap.end(), later);
    } else {
      heap.pop_back();
    }
  }
  if (!of_one_time.empty()) visit(of_one_time);
  runs_.clear();
  return {};
}

namespace {

void find_ends(std::span<const MarkerTimes* const> processors, const tracks::TimeBounds& bounds, ChipTimes& times) {
  times.first.reset();
  times.last.reset();
  for (const MarkerTimes* of : processors) {
    const auto first = of->extremes.first_within(bounds);
    const auto last = of->extremes.last_within(bounds);
    if (first && (!times.first || *first < *times.first)) times.first = first;
    if (last && (!times.last || *last > *times.last)) times.last = last;
  }
}

}  // namespace

// A chip counts since its reset, so a marker at 0 was never stamped where the others lie far behind.
ChipTimes times_of_chip(std::span<const MarkerTimes* const> processors, double frequency_mhz) {
  constexpr std::int64_t kFarther = 100;  // times as long as all the others last
  std::vector<tracks::SketchedTrack> known;
  for (const MarkerTimes* of : processors) known.push_back({&of->sketch, false});
  ChipTimes times;
  times.bounds = tracks::bounds_of(known, frequency_mhz > 0 ? frequency_mhz / 1000 : 1);
  tracks::TimeBounds stamped = times.bounds;
  stamped.first = std::max<std::int64_t>(times.bounds.first, 1);
  find_ends(processors, stamped, times);
  if (times.first && times.last && *times.first / kFarther > *times.last - *times.first) {
    times.bounds = stamped;
  } else {
    find_ends(processors, times.bounds, times);
  }
  return times;
}

}  // namespace accelscope::capture::sources::tt_metal
