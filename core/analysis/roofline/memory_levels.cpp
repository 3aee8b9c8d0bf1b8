#include "core/analysis/roofline/memory_levels.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "core/analysis/roofline/event_amounts.h"
#include "core/analysis/roofline/sampled_amounts.h"
#include "core/analysis/selection/summary.h"
#include "core/analysis/time/covered_time.h"
#include "core/base/format.h"
#include "core/base/text.h"
#include "core/scan/event_mask.h"
#include "core/scan/group_by.h"
#include "core/scan/wait_names.h"

namespace accelscope::analysis {
namespace {

constexpr std::string_view kLinkPeak = "link";  // to the host, of each direction

// Copies of devices whose makers have no words for memories here: what their name or their column "direction" says.
struct CopyDirection {
  std::string_view pattern, from, to, peak;
  double passes = 1;  // how often a byte goes through what the peak is of
};
constexpr std::array kCopyDirections = std::to_array<CopyDirection>({
    {"htod", "Host", "Device memory", kLinkPeak},
    {"dtoh", "Device memory", "Host", kLinkPeak},
    {"dtod", "Device memory", "Device memory", "hbm", 2},
    {"memset", "Engines", "Device memory", "hbm"},
    {"ptop", "Device memory", "Other device", ""},
    {"host to device", "Host", "Device memory", kLinkPeak},
    {"device to host", "Device memory", "Host", kLinkPeak},
    {"device to device", "Device memory", "Device memory", "hbm", 2},
});
constexpr std::size_t kOtherCopy = kCopyDirections.size();  // bytes that say no direction
constexpr std::string_view kDirectionColumn = "direction";

constexpr MemoryBox kCopyBoxes[] = {
    {"Host", "Host", MemoryBox::Kind::memory, 0, 0, ""},
    {"Device memory", "Device memory", MemoryBox::Kind::memory, 0, 2, "hbm"},
    {"Engines", "Engines", MemoryBox::Kind::engine, 1, 2, ""},
    {"Other device", "Other device", MemoryBox::Kind::memory, 1, 0, ""},
};

struct MovedBytes {
  std::uint64_t count = 0;
  double bytes = 0;
  CoveredTime busy;
  auto measures() { return std::tie(count, bytes, busy); }
};

struct LevelTally {
  ByPlace<MovedBytes> paths;  // of the maker's words, or by direction
  MovedBytes transfers;       // of the mover
  MovedBytes data;            // those of them that do not only signal
  MovedBytes matrix, others;  // of engines: events and time
  CoveredTime active;
  double flops = 0;
  auto measures() { return std::tie(paths, transfers, data, matrix, others, active, flops); }
  std::vector<SampledAmounts::Work> sampled;  // of the open window, where amounts are those of counters

  template <typename Body>
  void for_each_time(Body body) {
    for (MovedBytes& path : paths) body(path.busy);
    for (MovedBytes* each : {&transfers, &matrix, &others}) body(each->busy);
    body(active);
  }
};

// "98.1 % of the peak of link to the host": a title as it stands inside of a sentence.
[[nodiscard]] std::string share_of_peak(double share, std::string title) {
  const bool is_word = title.size() > 1 && title[1] == lower_case(title[1]);  // not "HBM"
  if (is_word) title[0] = lower_case(title[0]);
  return fmt::format("{} of the peak of {}", format_share(share), title);
}

class LevelScan {
 public:
  LevelScan(const QueryContext& query, const TimeRange& range, const PeakEdits& edits)
      : query_(query), snapshot_(*query.snapshot), range_(range), edits_(edits), lanes_(snapshot_) {
    is_active_.assign(snapshot_.lanes.size(), 0);
    for (const std::uint32_t lane : active_lanes(snapshot_, {})) is_active_[lane] = 1;
  }

  Result<std::shared_ptr<const MemoryLevels>> run() {
    ByPlace<LevelTally> tallies(lanes_.device_count());
    for (std::size_t device = 0; device < tallies.size(); ++device) {
      const MemoryWords* words = lanes_.words(device);
      tallies[device].paths.resize(words == nullptr ? kOtherCopy + 1 : words->paths.size());
    }
    samples_ = TRY(SampledAmounts::read(query_, range_, lanes_));
    // What a filter leaves out has its part of what was sampled.
    if (samples_.any()) mask_ = query_.mask.get();
    auto found = gather_windows(
        samples_.any() ? query_.unmasked() : query_, lanes_.telling(), range_, tallies,
        [this](const ScannedChunk& chunk, const ScanWindow& window, auto& part) { add(chunk, window, part); },
        [this](const ScanWindow& window, auto& part) {
          for (std::size_t device = 0; device < part.size(); ++device) {
            if (samples_.has(device)) add_sampled(device, window, part[device]);
            part[device].for_each_time([](CoveredTime& time) { time.close_window(); });
          }
        });
    if (!found) return found.error();
    auto made = std::make_shared<MemoryLevels>();
    for (std::size_t device = 0; device < found->size(); ++device)
      made->devices.push_back(levels_of(device, (*found)[device]));
    return std::shared_ptr<const MemoryLevels>(std::move(made));
  }

 private:
  // What of an event lies in the window and in the range.
  struct Part {
    std::int64_t begin_ns = 0, end_ns = 0;
    bool owned = false;
    double share = 1;
    Part(const ScannedChunk& chunk, const ScanWindow& window, const TimeRange& range, const ScannedBlock& block,
         std::uint32_t i)
        : begin_ns(std::max(block.begin_ns(i), window.range.begin_ns)),
          end_ns(std::min(block.end_ns(i), window.range.end_ns)),
          owned(window.owns(chunk, block.ticks().begins[i])),
          share(share_inside(range, block.begin_ns(i), block.end_ns(i))) {}
    void add_to(MovedBytes& to, double bytes) const {
      to.busy.add(begin_ns, end_ns);
      if (!owned) return;
      ++to.count;
      to.bytes += bytes * share;
    }
  };

  void add(const ScannedChunk& chunk, const ScanWindow& window, ByPlace<LevelTally>& tallies) {
    const DeviceLane& lane = lanes_.lane(chunk.lane_index);
    LevelTally& tally = tallies[lane.device];
    if (lane.tells == DeviceLane::Tells::amounts) return add_work(chunk, window, lane, tally);
    if (lane.tells == DeviceLane::Tells::transfer) add_transfers(chunk, window, lane, tally);
  }

  void add_work(const ScannedChunk& chunk, const ScanWindow& window, const DeviceLane& lane, LevelTally& tally) {
    EventAmounts amounts(chunk, lane, *snapshot_.strings);
    const WaitNames waits(chunk.lane.schema.get(), *snapshot_.strings);
    const bool active = is_active_[chunk.lane_index] != 0;
    chunk.for_each_block([&](const ScannedBlock& block) {
      amounts.read(block.reader);
      for (std::uint32_t i = block.first; i < block.last; ++i) {
        if (waits.contains(block.name(i))) continue;
        const Part part(chunk, window, range_, block, i);
        const bool has_part = passes(chunk, block, i);
        if (samples_.has(lane.device)) {
          const bool is_sampled = has_part && lane.words == nullptr && !amounts.any(i);
          tally.sampled.push_back({part.begin_ns, part.end_ns, is_sampled ? 1U : 0U});
        }
        if (!has_part) continue;
        if (active) tally.active.add(part.begin_ns, part.end_ns);
        if (part.owned) tally.flops += amounts.flops(i) * part.share;
        if (lane.words == nullptr) {
          add_copy(chunk, block, amounts, i, part, tally);
          continue;
        }
        const bool transfers = amounts.sets_off_transfers(i);
        if (!transfers) part.add_to(amounts.is_matrix(i) ? tally.matrix : tally.others, 0);
        for (std::size_t path = 0; path < amounts.path_count(); ++path) {
          const double bytes = amounts.bytes(path, i);
          if (bytes > 0) part.add_to(tally.paths[path], bytes);
        }
      }
    });
  }

  [[nodiscard]] bool passes(const ScannedChunk& chunk, const ScannedBlock& block, std::uint32_t i) const {
    return mask_ == nullptr || mask_->passes(chunk.lane, chunk.lane_index, chunk.place.first_ordinal + block.row(i));
  }

  void add_sampled(std::size_t device, const ScanWindow& window, LevelTally& tally) const {
    const TimeRange inside = {std::max(window.range.begin_ns, range_.begin_ns),
                              std::min(window.range.end_ns, range_.end_ns)};
    samples_.share_out(device, inside, tally.sampled, [&](std::uint64_t, double flops, double bytes) {
      tally.flops += flops;
      if (lanes_.words(device) == nullptr) tally.paths[kOtherCopy].bytes += bytes;
    });
    tally.sampled.clear();
  }

  void add_copy(const ScannedChunk& chunk, const ScannedBlock& block, const EventAmounts& amounts, std::uint32_t i,
                const Part& part, LevelTally& tally) const {
    double bytes = 0;
    for (std::size_t path = 0; path < amounts.path_count(); ++path) bytes += amounts.bytes(path, i);
    if (bytes <= 0) {
      if (samples_.has(lanes_.lane(chunk.lane_index).device) && amounts.flops(i) <= 0)
        part.add_to(tally.paths[kOtherCopy], 0);
      return part.add_to(tally.others, 0);
    }
    std::string_view direction = snapshot_.strings->text(block.name(i));
    if (const auto column = chunk.lane.schema->find(kDirectionColumn))
      direction = text_at(chunk, *snapshot_.strings, *column, chunk.lane.schema->columns[*column].type, block.row(i));
    const std::string lower = lower_case(direction);
    const auto found = std::ranges::find_if(
        kCopyDirections, [&](const CopyDirection& each) { return lower.find(each.pattern) != std::string::npos; });
    part.add_to(tally.paths[static_cast<std::size_t>(found - kCopyDirections.begin())], bytes);
  }

  void add_transfers(const ScannedChunk& chunk, const ScanWindow& window, const DeviceLane& lane, LevelTally& tally) {
    const bool active = is_active_[chunk.lane_index] != 0;
    const bool single = chunk.lane.schema && chunk.lane.schema->name == lane.words->transfer_table;
    if (!active && !single) return;
    EventAmounts amounts(chunk, {.tells = lane.tells, .device = lane.device}, *snapshot_.strings);
    chunk.for_each_block([&](const ScannedBlock& block) {
      amounts.read(block.reader);
      for (std::uint32_t i = block.first; i < block.last; ++i) {
        if (!passes(chunk, block, i)) continue;
        const Part part(chunk, window, range_, block, i);
        if (active) tally.active.add(part.begin_ns, part.end_ns);
        if (!single) continue;
        double bytes = 0;
        for (std::size_t path = 0; path < amounts.path_count(); ++path) bytes += amounts.bytes(path, i);
        part.add_to(tally.transfers, bytes);
        if (bytes > kSignalBytes && part.owned) {
          ++tally.data.count;
          tally.data.bytes += bytes;
        }
      }
    });
  }

  [[nodiscard]] std::optional<std::uint64_t> capacity_of(const std::string& device, std::string_view box) const {
    for (const std::string& key : {fmt::format("capacity.{} {}", device, box), fmt::format("capacity.{}", box),
                                   fmt::format("capacity.{} memory", device)}) {
      if (key.ends_with(" memory") && box != "Device memory") continue;
      std::uint64_t bytes = 0;
      if (read_number(snapshot_.meta_value(key), bytes)) return bytes;
    }
    return std::nullopt;
  }

  DeviceLevels levels_of(std::size_t device, LevelTally& tally) {
    const MemoryWords* words = lanes_.words(device);
    DeviceLevels levels{.device = lanes_.name(device),
                        .peaks = peaks_of_device(snapshot_, lanes_.name(device), edits_),
                        .active_ns = active_ns(tally.active, has_cut_times(snapshot_)),
                        .flops = tally.flops,
                        .is_sampled = samples_.has(device) && words == nullptr};
    add_paths(levels, tally, words);
    add_boxes(levels, tally, words);
    if (words != nullptr && tally.data.count > 0) {
      levels.transfer_count = tally.data.count;
      levels.transfers = {tally.data.bytes / static_cast<double>(tally.data.count), words->transfer_cost_bytes,
                          std::string(words->mover), std::string(words->transfer_word)};
    }
    find_limit(levels, tally, words);
    return levels;
  }

  void add_paths(DeviceLevels& levels, LevelTally& tally, const MemoryWords* words) const {
    for (std::size_t i = 0; i < tally.paths.size(); ++i) {
      const MovedBytes& moved = tally.paths[i];
      if (moved.bytes <= 0) continue;
      LevelPath path{.bytes = moved.bytes, .count = moved.count};
      const double passes = words == nullptr && i < kOtherCopy ? kCopyDirections[i].passes : 1;
      if (words != nullptr) {
        const MemoryPathWords& named = words->paths[i];
        path.from = named.from;
        path.to = named.to;
        path.by_transfers = named.of == MemoryPathWords::Of::transfers;
        set_peak_of(path, levels.peaks, named.peak, named.other_peak);
      } else if (i == kOtherCopy) {
        path.from = "Device memory";
        path.to = "Engines";
        set_peak_of(path, levels.peaks, "hbm", "");
      } else {
        path.from = kCopyDirections[i].from;
        path.to = kCopyDirections[i].to;
        set_peak_of(path, levels.peaks, kCopyDirections[i].peak, "");
      }
      if (!path.by_transfers) path.busy_ns = moved.busy.length_ns();
      if (path.by_transfers && tally.transfers.count > 0) path.busy_ns = tally.transfers.busy.length_ns();
      if (path.by_transfers && tally.transfers.count == 0)
        levels.note = "the transfers do not pass the filter: how fast they were is not known";
      if (path.busy_ns && levels.active_ns > 0)
        path.bandwidth = path.bytes / static_cast<double>(levels.active_ns) * 1e9;
      if (path.peak_value) path.ideal_ns = passes * path.bytes / *path.peak_value * 1e9;
      if (path.peak_value && path.bandwidth) path.share = passes * *path.bandwidth / *path.peak_value;
      levels.paths.push_back(std::move(path));
    }
  }

  static void set_peak_of(LevelPath& path, const PeakList& peaks, std::string_view what, std::string_view other) {
    for (const std::string_view each : {what, other}) {
      const auto value = each.empty() ? std::nullopt : peaks.value(each);
      if (!value || (path.peak_value && *path.peak_value <= *value)) continue;
      path.peak = each;
      path.peak_value = value;
    }
    if (path.peak.empty()) path.peak = what;
  }

  void add_boxes(DeviceLevels& levels, const LevelTally& tally, const MemoryWords* words) const {
    const std::span<const MemoryBox> boxes = words != nullptr ? words->boxes : std::span<const MemoryBox>(kCopyBoxes);
    for (const MemoryBox& named : boxes) {
      LevelBox box{.name = std::string(named.name),
                   .title = std::string(named.title),
                   .kind = named.kind,
                   .is_matrix = words != nullptr && named.name == words->matrix_engine,
                   .row = named.row,
                   .column = named.column,
                   .can_have_peak = !named.peak.empty(),
                   .peak_value = named.peak.empty() ? std::nullopt : levels.peaks.value(named.peak),
                   .capacity_bytes = capacity_of(levels.device, named.name)};
      for (const LevelPath& path : levels.paths) {
        if (path.from == box.name) box.read_bytes += path.bytes;
        if (path.to == box.name) box.written_bytes += path.bytes;
      }
      const MovedBytes& of = named.kind == MemoryBox::Kind::mover ? tally.transfers
                             : box.is_matrix                      ? tally.matrix
                                                                  : tally.others;
      if (named.kind != MemoryBox::Kind::memory) {
        box.busy_ns = of.busy.length_ns();
        const bool is_mover = named.kind == MemoryBox::Kind::mover;
        box.count = is_mover && tally.data.count > 0 ? tally.data.count : of.count;
      }
      const bool is_touched = box.read_bytes > 0 || box.written_bytes > 0 || box.count > 0;
      if (words != nullptr || is_touched) levels.boxes.push_back(std::move(box));
    }
  }

  static void find_limit(DeviceLevels& levels, const LevelTally& tally, const MemoryWords* words) {
    const Peak* compute = levels.peaks.best_compute();
    const double active_s = static_cast<double>(levels.active_ns) * 1e-9;
    if (compute != nullptr && levels.flops > 0 && active_s > 0)
      levels.compute_share = levels.flops / active_s / *compute->value;
    // By one peak together; a link to the host has its peak in each direction.
    const auto served = [&](const LevelPath& of) {
      double share = 0;
      for (const LevelPath& each : levels.paths) {
        if (each.peak == of.peak && (of.peak != kLinkPeak || each.to == of.to)) share += each.share.value_or(0);
      }
      return share;
    };
    LevelPath* most = nullptr;
    for (LevelPath& path : levels.paths) {
      if (!path.share) continue;
      const auto rank = [&](const LevelPath& each) { return std::pair(served(each), *each.share); };
      if (most == nullptr || rank(path) > rank(*most)) most = &path;
    }
    const double share = most == nullptr ? 0 : served(*most);
    if (levels.compute_share && *levels.compute_share >= std::max(share, kLeastLimit)) {
      levels.compute_limits = true;
      levels.reason = share_of_peak(*levels.compute_share, compute->title);
      return;
    }
    if (most == nullptr) return;
    const bool is_moving = most->by_transfers && static_cast<double>(tally.transfers.busy.length_ns()) >=
                                                     kBusyTransfers * static_cast<double>(levels.active_ns);
    const bool is_small =
        is_moving && levels.transfers.mean_bytes > 0 && levels.transfers.mean_bytes < kSmallTransferBytes;
    const Peak* peak = levels.peaks.find(most->peak);
    const std::string of = share_of_peak(share, peak == nullptr ? most->peak : peak->title);
    most->limiting = share >= kLeastLimit || is_small;
    if (is_small) {
      levels.reason = fmt::format("{} of {}", levels.transfers.word, format_bytes(levels.transfers.mean_bytes));
    } else if (most->limiting) {
      levels.reason = of;
    } else if (const double unstated = unstated_share(levels, tally, words); unstated > kMostUnstated) {
      levels.reason = fmt::format("what limits is not known: work that is under way for {} of the time states no bytes",
                                  format_share(unstated));
    } else {
      levels.reason = fmt::format("nothing is near its peak: at most {}", of);
    }
  }

  // Of the active time: under events that say no bytes; 0 where a maker's words tell which have to.
  [[nodiscard]] static double unstated_share(const DeviceLevels& levels, const LevelTally& tally,
                                             const MemoryWords* words) {
    if (words != nullptr || levels.is_sampled || levels.active_ns <= 0) return 0;
    return std::min(1.0, static_cast<double>(tally.others.busy.length_ns()) / static_cast<double>(levels.active_ns));
  }

  const QueryContext& query_;
  const Snapshot& snapshot_;
  TimeRange range_;
  const PeakEdits& edits_;
  DeviceLanes lanes_;
  std::vector<char> is_active_;  // by lane
  SampledAmounts samples_;
  const EventMask* mask_ = nullptr;  // that is asked for each event
};

}  // namespace

Result<std::shared_ptr<const MemoryLevels>> memory_levels(const QueryContext& query, const TimeRange& range,
                                                          const PeakEdits& edits) {
  return LevelScan(query, range, edits).run();
}

}  // namespace accelscope::analysis
