#include "core/analysis/time/covered_time.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "core/analysis/vendors/vendor.h"
#include "core/scan/chunk_cache.h"
#include "core/scan/wait_names.h"

namespace accelscope::analysis {
namespace {

constexpr double kDecodeFrom = 0.25;  // of a cell

struct OpenChunk {
  std::uint32_t index = 0;
  LoadedChunk loaded;
};

class CellWalk {
 public:
  // `sums` null: busy time.
  CellWalk(const QueryContext& query, std::uint32_t lane, const std::vector<double>* sums, const TimeRange& range,
           std::span<double> cells)
      : query_(query),
        lane_(query.snapshot->lanes[lane]),
        sums_(sums),
        range_(range),
        cells_(cells),
        cell_ns_(static_cast<double>(range.length_ns()) / static_cast<double>(cells.size())),
        leaves_(sums == nullptr ? lane_.tree.nodes[0] : static_cast<std::uint32_t>(sums->size() - 1)),
        waits_(lane_.schema.get(), *query.snapshot->strings),
        strings_(query.snapshot->strings->scope_map(scope_of(lane_.number()))) {
    const Vendor* vendor = sums == nullptr ? nullptr : vendor_of_work(lane_);
    if (vendor != nullptr) work_ = vendor->event_work(lane_, *query.snapshot->strings);
  }

  Result<void> run() {
    std::size_t begin = 0;  // leaves before it are done
    for (std::size_t level = kTreeLevels; level-- > 0;) {
      const std::size_t leaves = std::size_t{1} << (3 * level);
      static_assert(kTreeFanout == 8);
      for (std::size_t index = begin / leaves; index < lane_.tree.nodes[level]; ++index) {
        if (const Result<void> added = add(level, index); !added) return added;
        begin = (index + 1) * leaves;
      }
    }
    return {};
  }

 private:
  [[nodiscard]] double position(std::int64_t ns) const noexcept {
    return (static_cast<double>(ns) - static_cast<double>(range_.begin_ns)) / cell_ns_;
  }
  [[nodiscard]] std::size_t cell_at(double position) const noexcept {
    return static_cast<std::size_t>(std::clamp(std::floor(position), 0.0, static_cast<double>(cells_.size() - 1)));
  }

  // Spread evenly over its time; the part outside the range is left out.
  void spread(double amount, std::int64_t begin_ns, std::int64_t end_ns) {
    const double begin = position(begin_ns);
    const double end = position(end_ns);
    if (end <= begin) {
      if (begin_ns >= range_.begin_ns && begin_ns < range_.end_ns) cells_[cell_at(begin)] += amount;
      return;
    }
    const std::size_t last = cell_at(std::ceil(end) - 1);
    for (std::size_t i = cell_at(begin); i <= last; ++i) {
      const double shared = std::min(end, static_cast<double>(i + 1)) - std::max(begin, static_cast<double>(i));
      if (shared > 0) cells_[i] += amount * shared / (end - begin);
    }
  }

  [[nodiscard]] double amount_of(std::size_t level, std::size_t index, const SliceNode& node) const {
    if (sums_ == nullptr) return static_cast<double>(node.busy) * mean_ns_per_tick(*lane_.clock, node.begin, node.end);
    const std::size_t leaves = std::size_t{1} << (3 * level);
    const std::size_t first = std::min<std::size_t>(index * leaves, leaves_);
    return (*sums_)[std::min<std::size_t>((index + 1) * leaves, leaves_)] - (*sums_)[first];
  }

  Result<void> add(std::size_t level, std::size_t index) {
    const SliceNode& node = lane_.data->slices.node(level, index);
    const std::int64_t begin_ns = lane_.clock->to_ns(node.begin);
    const std::int64_t end_ns = lane_.clock->to_ns(node.end);
    if (!range_.holds(begin_ns, end_ns)) return {};
    const double amount = amount_of(level, index, node);
    if (amount <= 0) return {};
    const bool inside = begin_ns >= range_.begin_ns && end_ns <= range_.end_ns;
    const std::size_t first = cell_at(position(begin_ns));
    if (inside && cell_at(std::ceil(position(end_ns)) - 1) <= first) {
      cells_[first] += amount;
      return {};
    }
    if (level == 0) {
      if (static_cast<double>(end_ns - begin_ns) > kDecodeFrom * cell_ns_) {
        return decode(static_cast<std::uint32_t>(index));
      }
      spread(amount, begin_ns, end_ns);
      return {};
    }
    for (std::size_t i = 0; i < kTreeFanout; ++i) {
      if (const Result<void> added = add(level - 1, index * kTreeFanout + i); !added) return added;
    }
    return {};
  }

  // Neighbouring leaves come one after another, so one chunk is kept.
  Result<void> open(std::uint32_t chunk) {
    if (open_ && open_->index == chunk) return {};
    if (query_.control.cancelled()) return cancelled_error();
    open_.reset();
    LoadedChunk loaded = TRY(load_chunk(query_.store, lane_, chunk));
    open_ = OpenChunk{chunk, std::move(loaded)};
    reader_.open(lane_, strings_, lane_.chunk(chunk), open_->loaded.view);
    return {};
  }

  Result<void> decode(std::uint32_t leaf) {
    const std::uint32_t chunk = lane_.chunk_of_leaf(leaf);
    if (const Result<void> opened = open(chunk); !opened) return opened;
    const std::uint32_t block = leaf - lane_.chunk(chunk).first_leaf;
    reader_.seek(block);
    if (work_) work_->read(reader_);
    for (std::uint32_t i = 0; i < open_->loaded.view.block_size(block); ++i) {
      const std::int64_t begin_ns = reader_.begins_ns()[i];
      const std::int64_t end_ns = reader_.ends_ns()[i];
      const double amount = work_ ? work_->at(i) : static_cast<double>(end_ns - begin_ns);
      if (amount <= 0 || (!work_ && waits_.contains(static_cast<StringId>(reader_.names()[i])))) continue;
      spread(amount, begin_ns, end_ns);
    }
    return {};
  }

  const QueryContext& query_;
  const LaneSnapshot& lane_;
  const std::vector<double>* sums_;
  TimeRange range_;
  std::span<double> cells_;
  double cell_ns_;
  std::uint32_t leaves_;  // that are known of
  WaitNames waits_;
  StringMap strings_;
  std::optional<OpenChunk> open_;
  std::unique_ptr<EventWork> work_;  // null: busy time
  BlockReader reader_;
};

}  // namespace

Result<void> add_busy_time(const QueryContext& query, std::uint32_t lane, const TimeRange& range,
                           std::span<double> cells) {
  return CellWalk(query, lane, nullptr, range, cells).run();
}

Result<void> add_work(const QueryContext& query, std::uint32_t lane, const std::vector<double>& sums,
                      const TimeRange& range, std::span<double> cells) {
  return CellWalk(query, lane, &sums, range, cells).run();
}

}  // namespace accelscope::analysis
