#include "core/analysis/hotspots/hotspots.h"

#include <algorithm>
#include <bit>
#include <map>
#include <unordered_map>

#include "core/analysis/roofline/event_amounts.h"
#include "core/analysis/selection/amount_block.h"
#include "core/analysis/source/event_costs.h"
#include "core/base/capped.h"
#include "core/model/column_spec.h"
#include "core/scan/group_by.h"
#include "core/scan/wait_names.h"

namespace accelscope::analysis {
namespace {

[[nodiscard]] bool is_numeric(ColumnType type) noexcept {
  return type == ColumnType::int64 || type == ColumnType::uint64 || type == ColumnType::float64;
}

// One function for each stretch of time of a thread: they do not lie within each other.
constexpr std::string_view kSampleTable = "cpu_sample";
constexpr std::string_view kPrecision = "precision", kWorkFrom = "work from";

// Where a lane keeps what a row sums up.
struct HotLane {
  WorkKind work = WorkKind::none;
  WaitNames waits;
  std::vector<std::size_t> wait_columns, byte_columns;
  bool computes = false;  // its events may state operations
  std::optional<std::size_t> precision, work_from;
  std::vector<std::pair<std::size_t, std::size_t>> launch;  // column of the schema, of the list
};

// Texts are told apart by their ids, and named in the end.
struct HotSum {
  Hotspot row;
  struct FirstText {
    EventId event = kNoEvent;
    std::uint64_t value = 0;
    std::string text;
  };
  std::vector<FirstText> texts;
  FirstText precision, work_from;
  bool varies = false;  // its events compute in several
  void merge(HotSum&& from);
};
using HotKey = std::pair<StringId, WorkKind>;
struct HotHash {
  std::size_t operator()(const HotKey& key) const noexcept {
    return (std::size_t{key.first} << 8U | static_cast<std::size_t>(key.second)) * 0x9e3779b97f4a7c15ULL;
  }
};
struct HotWorker {
  std::unordered_map<HotKey, HotSum, HotHash> sums;
  std::int64_t waiting_ns = 0;
  auto measures() { return std::tie(sums, waiting_ns); }
};

[[nodiscard]] double real_of(std::uint64_t bits, ColumnType type) noexcept {
  if (type == ColumnType::float64) return std::bit_cast<double>(bits);
  return type == ColumnType::int64 ? static_cast<double>(static_cast<std::int64_t>(bits)) : static_cast<double>(bits);
}

void add_number(LaunchValue& value, double number) {
  value.min = value.count == 0 ? number : std::min(value.min, number);
  value.max = value.count == 0 ? number : std::max(value.max, number);
  value.sum += number;
  ++value.count;
}

void add_text(LaunchValue& value, HotSum::FirstText& first, EventId event, std::uint64_t id, std::string_view text) {
  const bool differs = first.event != kNoEvent && (first.value != id || first.text != text);
  value.varies = value.varies || differs;
  if (first.event == kNoEvent || (differs && event < first.event)) first = {event, id, std::string(text)};
  ++value.count;
}

void keep_first(HotSum::FirstText& first, EventId event, std::uint64_t value, bool* varies) {
  if (varies != nullptr && first.event != kNoEvent && first.value != value) *varies = true;
  if (first.event == kNoEvent || event < first.event) first = {event, value, {}};
}

void merge_value(HotSum& to, const HotSum& from, std::size_t i) {
  LaunchValue& a = to.row.launch[i];
  const LaunchValue& b = from.row.launch[i];
  if (b.count == 0) return;
  a.min = a.count == 0 ? b.min : std::min(a.min, b.min);
  a.max = a.count == 0 ? b.max : std::max(a.max, b.max);
  a.sum += b.sum;
  HotSum::FirstText& first = to.texts[i];
  const HotSum::FirstText& other = from.texts[i];
  const bool differ =
      first.event != kNoEvent && other.event != kNoEvent && (first.value != other.value || first.text != other.text);
  a.varies = a.varies || b.varies || differ;
  if (first.event == kNoEvent || (other.event != kNoEvent && other.event < first.event)) first = other;
  a.count += b.count;
}

void HotSum::merge(HotSum&& from) {
  const Hotspot& b = from.row;
  row.count += b.count;
  row.total_ns = capped_sum(row.total_ns, b.total_ns);
  row.min_ns = std::min(row.min_ns, b.min_ns);
  if (b.max_ns > row.max_ns || (b.max_ns == row.max_ns && b.longest < row.longest)) {
    row.max_ns = b.max_ns;
    row.longest = b.longest;
  }
  row.wait_ns = capped_sum(row.wait_ns, b.wait_ns);
  row.has_wait = row.has_wait || b.has_wait;
  row.bytes = capped_sum(row.bytes, b.bytes);
  row.flops += b.flops;
  row.flops_ns = capped_sum(row.flops_ns, b.flops_ns);
  varies = varies || from.varies;
  if (from.precision.event != kNoEvent) keep_first(precision, from.precision.event, from.precision.value, &varies);
  if (from.work_from.event != kNoEvent) keep_first(work_from, from.work_from.event, from.work_from.value, nullptr);
  std::vector<TrackNumber> tracks;
  std::set_union(row.tracks.begin(), row.tracks.end(), b.tracks.begin(), b.tracks.end(), std::back_inserter(tracks));
  row.tracks = std::move(tracks);
  for (std::size_t i = 0; i < row.launch.size(); ++i) merge_value(*this, from, i);
}

class HotspotFinder {
 public:
  HotspotFinder(const QueryContext& query, const TimeRange& range, const PeakEdits& edits)
      : query_(query), snapshot_(*query.snapshot), range_(range), edits_(edits), kinds_(snapshot_) {}

  Result<HotspotList> run() {
    find_columns();
    auto found = gather(query_, wanted_, range_, HotWorker{},
                        [&](const ScannedChunk& chunk, HotWorker& worker) { add(chunk, worker); });
    if (!found) return found.error();
    make_rows(*found);
    return std::move(list_);
  }

 private:
  // Samples of a host's threads where nothing of a device was recorded.
  [[nodiscard]] bool takes_part(std::uint32_t lane, bool samples_alone) const {
    if (snapshot_.lanes[lane].event_count == 0) return false;
    const WorkKind work = kinds_.of_lane(lane);
    if (!samples_alone) return is_device_work(work);
    return work == WorkKind::host && snapshot_.lanes[lane].schema->name == kSampleTable;
  }

  void find_columns() {
    std::map<std::string, std::size_t> known;
    bool samples_alone = true;
    for (std::uint32_t lane = 0; lane < snapshot_.lanes.size(); ++lane)
      samples_alone = samples_alone && !takes_part(lane, false);
    for (std::uint32_t lane = 0; lane < snapshot_.lanes.size(); ++lane) {
      const WorkKind work = kinds_.of_lane(lane);
      if (!takes_part(lane, samples_alone) || !kinds_.covers_time(lane)) continue;
      const Schema& schema = *snapshot_.lanes[lane].schema;
      HotLane& to = lanes_[lane];
      to = {work, WaitNames(&schema, *snapshot_.strings)};
      to.computes = schema.find(Role::flops).has_value() || vendor_of_work(snapshot_.lanes[lane]) != nullptr;
      const auto text_column = [&](std::string_view name) {
        const auto found = schema.find(name);
        return found && schema.columns[*found].type == ColumnType::string ? found : std::nullopt;
      };
      to.precision = text_column(kPrecision);
      to.work_from = text_column(kWorkFrom);
      wanted_.push_back(lane);
      for (std::size_t column = 0; column < schema.columns.size(); ++column) {
        const Column& own = schema.columns[column];
        if (own.role == Role::wait_ns && !is_text(own.type)) to.wait_columns.push_back(column);
        if (own.role == Role::bytes && !is_text(own.type)) to.byte_columns.push_back(column);
        if (own.group != columns::kLaunch || own.type == ColumnType::boolean) continue;
        const auto [place, is_new] = known.try_emplace(own.name, list_.columns.size());
        if (is_new)
          list_.columns.push_back(
              {own.name, own.title.empty() ? own.name : own.title, own.unit, own.explanation, is_numeric(own.type)});
        if (list_.columns[place->second].numeric == is_numeric(own.type)) to.launch.emplace_back(column, place->second);
      }
    }
  }

  void add(const ScannedChunk& chunk, HotWorker& worker) {
    const HotLane& lane = lanes_.at(chunk.lane_index);
    const Schema& schema = *chunk.lane.schema;
    AmountBlock waits, bytes;
    std::optional<EventAmounts> work;
    if (lane.computes) work.emplace(chunk, DeviceLane{.vendor = vendor_of_work(chunk.lane)}, *snapshot_.strings);
    chunk.for_each_block([&](const ScannedBlock& block) {
      waits.read(block.reader, schema, lane.wait_columns);
      bytes.read(block.reader, schema, lane.byte_columns);
      if (work) work->read(block.reader);
      const auto texts = [&](const std::optional<std::size_t>& column) {
        return column ? block.reader.column(*column, ColumnType::string) : BlockValues{};
      };
      const BlockValues precision = texts(lane.precision), work_from = texts(lane.work_from);
      for (std::uint32_t i = block.first; i < block.last; ++i) {
        const StringId name = block.name(i);
        const std::int64_t length = block.end_ns(i) - block.begin_ns(i);
        if (lane.waits.contains(name)) {
          worker.waiting_ns = capped_sum(worker.waiting_ns, length);
          continue;
        }
        HotSum& sum = worker.sums[{name, lane.work}];
        add_event(sum, {name, lane.work}, block.id(i), length, chunk.lane.track);
        if (waits.has(i)) {
          sum.row.has_wait = true;
          const auto most_ns = static_cast<std::uint64_t>(longest_wait_ns(chunk, block, i, snapshot_.begin_ns));
          sum.row.wait_ns = capped_sum(sum.row.wait_ns, static_cast<std::int64_t>(std::min(waits[i], most_ns)));
        }
        sum.row.bytes = capped_sum(sum.row.bytes, bytes[i]);
        if (const double flops = work ? work->flops(i) : 0; flops > 0) {
          sum.row.flops += flops;
          sum.row.flops_ns = capped_sum(sum.row.flops_ns, length);
          if (precision.has(i)) keep_first(sum.precision, block.id(i), precision.values[i], &sum.varies);
        }
        if (work_from.has(i)) keep_first(sum.work_from, block.id(i), work_from.values[i], nullptr);
      }
      for (const auto& [column, to] : lane.launch) add_launch(chunk, block, column, to, worker);
    });
  }

  void add_event(HotSum& sum, const HotKey& key, EventId event, std::int64_t length, TrackNumber track) const {
    Hotspot& row = sum.row;
    if (row.count == 0) {
      row.name = key.first;
      row.work = key.second;
      row.min_ns = length;
      row.launch.resize(list_.columns.size());
      sum.texts.resize(list_.columns.size());
    }
    ++row.count;
    row.total_ns = capped_sum(row.total_ns, length);
    row.min_ns = std::min(row.min_ns, length);
    if (row.longest == kNoEvent || length > row.max_ns || (length == row.max_ns && event < row.longest)) {
      row.max_ns = length;
      row.longest = event;
    }
    const auto place = std::lower_bound(row.tracks.begin(), row.tracks.end(), track);
    if (place == row.tracks.end() || *place != track) row.tracks.insert(place, track);
  }

  void add_launch(const ScannedChunk& chunk, const ScannedBlock& block, std::size_t column, std::size_t to,
                  HotWorker& worker) const {
    const HotLane& lane = lanes_.at(chunk.lane_index);
    const ColumnType type = chunk.lane.schema->columns[column].type;
    const BlockValues values = block.reader.column(column, type);
    for (std::uint32_t i = block.first; i < block.last; ++i) {
      if (!values.has(i) || lane.waits.contains(block.name(i))) continue;
      HotSum& sum = worker.sums[{block.name(i), lane.work}];
      if (list_.columns[to].numeric) {
        add_number(sum.row.launch[to], real_of(values.values[i], type));
      } else if (type == ColumnType::text) {
        add_text(sum.row.launch[to], sum.texts[to], block.id(i), 0, chunk.view.text(column, block.row(i)));
      } else {
        add_text(sum.row.launch[to], sum.texts[to], block.id(i), values.values[i], {});
      }
    }
  }

  void make_rows(HotWorker& found) {
    list_.waiting_ns = found.waiting_ns;
    std::vector<bool> any(list_.columns.size());
    for (auto& [key, sum] : found.sums) {
      name_work(sum);
      list_.total_ns = capped_sum(list_.total_ns, sum.row.total_ns);
      for (std::size_t i = 0; i < any.size(); ++i) {
        LaunchValue& value = sum.row.launch[i];
        any[i] = any[i] || value.count > 0;
        if (list_.columns[i].numeric || value.count == 0) continue;
        const HotSum::FirstText& first = sum.texts[i];
        value.first =
            first.text.empty() ? std::string(snapshot_.strings->text(static_cast<StringId>(first.value))) : first.text;
      }
      list_.rows.push_back(std::move(sum.row));
    }
    keep_columns(any);
    std::ranges::sort(list_.rows, [](const Hotspot& a, const Hotspot& b) {
      if (a.total_ns != b.total_ns) return a.total_ns > b.total_ns;
      return a.name != b.name ? a.name < b.name : a.work < b.work;
    });
    if (list_.rows.size() <= HotspotList::kMost) return;
    list_.left_out = list_.rows.size() - HotspotList::kMost;
    list_.rows.resize(HotspotList::kMost);
  }

  [[nodiscard]] std::size_t index_of(TrackNumber number) const {
    return static_cast<std::size_t>(snapshot_.find_track(number) - snapshot_.tracks.data());
  }

  void name_work(HotSum& sum) {
    const auto text = [&](const HotSum::FirstText& of) {
      return of.event == kNoEvent ? std::string()
                                  : std::string(snapshot_.strings->text(static_cast<StringId>(of.value)));
    };
    sum.row.work_from = text(sum.work_from);
    if (sum.row.flops <= 0 || sum.row.tracks.empty()) return;
    if (sum.varies) return;
    sum.row.precision = text(sum.precision);
    const std::string& device = devices_.label(devices_.of_track(index_of(sum.row.tracks.front())));
    const auto [peaks, is_new] = peaks_.try_emplace(device);
    if (is_new) peaks->second = peaks_of_device(snapshot_, device, edits_);
    if (const Peak* peak = peaks->second.compute_in(sum.row.precision)) sum.row.peak = peak->value;
  }

  // Columns that nothing has a value in go.
  void keep_columns(const std::vector<bool>& any) {
    for (std::size_t i = any.size(); i-- > 0;) {
      if (any[i]) continue;
      list_.columns.erase(list_.columns.begin() + static_cast<std::ptrdiff_t>(i));
      for (Hotspot& row : list_.rows) row.launch.erase(row.launch.begin() + static_cast<std::ptrdiff_t>(i));
    }
  }

  const QueryContext& query_;
  const Snapshot& snapshot_;
  TimeRange range_;
  const PeakEdits& edits_;
  WorkKinds kinds_;
  TrackDevices devices_{snapshot_};
  std::map<std::string, PeakList> peaks_;  // by device
  std::map<std::uint32_t, HotLane> lanes_;
  LaneIndices wanted_;
  HotspotList list_;
};

}  // namespace

Result<HotspotList> find_hotspots(const QueryContext& query, const TimeRange& range, const PeakEdits& edits) {
  return HotspotFinder(query, range, edits).run();
}

}  // namespace accelscope::analysis
