#include "core/analysis/statistics/value_details.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <optional>

#include "core/base/format.h"
#include "core/scan/group_by.h"

namespace accelscope::analysis {
namespace {

std::vector<double> linear_edges(double min, double max, bool whole) {
  const double span = max - min;
  double least = span > 0 ? span / static_cast<double>(ValueDetails::kMostBins - 2) : std::abs(min) / 100;
  least = std::max(least, whole ? 1.0 : std::max(std::abs(max), std::abs(min)) * 1e-12);
  const double step = round_step(least > 0 ? least : 1);
  if (!(step > 0)) return {};  // finer than numbers are
  const double first = std::floor(min / step);
  const auto bins = static_cast<std::size_t>(std::floor(max / step) - first) + 1;
  std::vector<double> edges;
  for (std::size_t i = 0; i <= bins; ++i) edges.push_back((first + static_cast<double>(i)) * step);
  if (edges.front() > min) edges.front() = min;
  if (!(edges.back() > max)) edges.push_back(edges.back() + step);  // divisions round
  return edges;
}

// Decades in so many equal parts that they are as many as fit.
std::vector<double> log_edges(double min, double max, bool whole) {
  const double low = std::floor(std::log10(min) * (1 + 1e-12)), high = std::floor(std::log10(max) + 1e-12) + 1;
  const double decades = high - low;
  double parts = 1;
  for (const double finer : {2.0, 5.0, 10.0, 20.0, 50.0}) {
    const double used = (std::log10(max) - std::log10(min)) * finer;
    if (used + 2 <= static_cast<double>(ValueDetails::kMostBins)) parts = finer;
  }
  std::vector<double> edges;
  for (double i = 0; i <= decades * parts; ++i) {
    const double decade = std::floor(i / parts), part = i - decade * parts;
    double edge = std::pow(10.0, low + decade) * (part == 0 ? 1.0 : std::pow(10.0, part / parts));
    // Whole numbers are at least an edge where they are at least the whole number above it; of others four digits do.
    const double digit = std::pow(10.0, low + decade - 3);
    edge = whole ? std::ceil(edge * (1 - 1e-12)) : std::round(edge / digit) * digit;
    if (edges.empty() || edge > edges.back()) edges.push_back(edge);
  }
  // No further than there are values.
  while (edges.size() > 2 && edges[1] <= min) edges.erase(edges.begin());
  while (edges.size() > 2 && edges[edges.size() - 2] > max) edges.pop_back();
  return edges;
}

// Which bin a value lies in: a table by equal parts of the scale says the first that it may be, its edges the rest.
class BinFinder {
 public:
  BinFinder(const std::vector<double>& edges, BinScale scale) : edges_(edges), log_(scale == BinScale::log) {
    if (edges.size() < 2) return;
    if (!log_) parts_per_unit_ = static_cast<double>(edges.size() - 1) / (edges.back() - edges.front());
    from_ = part_of(edges.front());
    const std::size_t parts = part_of(edges.back()) - from_ + 1;
    for (std::size_t part = 0, bin = 0; part < parts; ++part) {
      while (bin + 2 < edges.size() && part_of(edges[bin + 1]) - from_ < part) ++bin;
      first_bins_.push_back(static_cast<std::uint8_t>(bin));
    }
  }
  [[nodiscard]] double least() const noexcept { return edges_.front(); }
  // Of a value that is at least least().
  [[nodiscard]] std::size_t of(double value) const noexcept {
    const std::size_t part = std::min(part_of(value) - from_, first_bins_.size() - 1);
    const std::size_t last = edges_.size() - 2;
    std::size_t bin = first_bins_[part];
    while (bin < last && value >= edges_[bin + 1]) ++bin;
    return bin;
  }

 private:
  [[nodiscard]] std::size_t part_of(double value) const noexcept {
    if (!log_) return static_cast<std::size_t>((value - edges_.front()) * parts_per_unit_);
    return std::bit_cast<std::uint64_t>(value) >> 46U;  // 64 parts of every power of two
  }
  static_assert(ValueDetails::kMostBins + 2 < 256, "first_bins_ holds bins as bytes");

  const std::vector<double>& edges_;
  bool log_;
  double parts_per_unit_ = 0;
  std::size_t from_ = 0;
  std::vector<std::uint8_t> first_bins_;
};

// Beyond which a value is an outlier of its group.
struct Fences {
  double low = 0, high = 0, q1 = 0, q3 = 0, distance = 0;
  bool any = false;

  explicit Fences(const ValueFigures& figures) {
    if (figures.count < ValueDetails::kLeastForFences) return;
    constexpr double kLeastShare = 0.05, kOuter = 3;
    distance = std::max(figures.q3 - figures.q1, std::abs(figures.median) * kLeastShare);
    if (!(distance > 0)) return;
    q1 = figures.q1;
    q3 = figures.q3;
    low = q1 - kOuter * distance;
    high = q3 + kOuter * distance;
    any = true;
  }
  [[nodiscard]] bool holds(double value) const noexcept { return !any || (value >= low && value <= high); }
  [[nodiscard]] double beyond(double value) const noexcept {
    return value > q3 ? (value - q3) / distance : (value - q1) / distance;
  }
};

struct FarValue {
  ValueOutlier outlier;
  bool operator<(const FarValue& other) const noexcept {
    const double here = std::abs(outlier.quartile_distances), there = std::abs(other.outlier.quartile_distances);
    return here != there ? here > there : outlier.event < other.outlier.event;
  }
};

// What one thread finds.
struct DetailGatherer {
  DetailGatherer(const GroupKeys& keys, const Groups& rows, std::size_t bins) : reader(keys, rows), counts(bins) {}
  GroupReader reader;  // its groups are the rows
  std::vector<std::uint64_t> counts;
  std::uint64_t below = 0, outlier_count = 0;
  Best<FarValue> farthest;
};

// Without the row of the groups that are left out: its keys are nothing, which may also be those of a group.
std::size_t grouped_rows(const Statistics& statistics) {
  return statistics.rows.size() - (statistics.has_rest ? 1 : 0);
}

class DetailScan {
 public:
  // only: of this row.
  DetailScan(const Statistics& statistics, const ValueDetails& details, std::optional<std::uint32_t> only)
      : finder_(details.bins.edges, details.scale), only_(only) {
    for (const StatisticsRow& row : statistics.rows) fences_.emplace_back(row.figures);
    last_row_ = statistics.has_rest ? static_cast<std::uint32_t>(fences_.size() - 1) : kNone;
  }

  void add(DetailGatherer& worker, const ScannedChunk& chunk) const {
    worker.reader.open(chunk);
    chunk.for_each_block([&](const ScannedBlock& block) {
      const GroupedBlock events = worker.reader.read(block);
      if (events.valid == 0) return;
      for (std::uint32_t i = block.first; i < block.last; ++i) {
        const std::uint32_t row = events.groups[i] == kRestGroup ? last_row_ : events.groups[i];
        if (events.has(i) && (!only_ || row == *only_)) add_value(worker, block.id(i), events.value(i), row);
      }
    });
  }

 private:
  void add_value(DetailGatherer& worker, EventId event, double value, std::uint32_t row) const {
    if (worker.counts.empty() || value < finder_.least()) {
      ++worker.below;
    } else {
      ++worker.counts[finder_.of(value)];
    }
    if (row >= fences_.size() || fences_[row].holds(value)) return;
    ++worker.outlier_count;
    worker.farthest.add(FarValue{{event, value, fences_[row].beyond(value), row, 0, {}}}, ValueDetails::kMostOutliers);
  }

  BinFinder finder_;
  std::optional<std::uint32_t> only_;
  std::uint32_t last_row_ = kNone;  // of what has no row of its own
  std::vector<Fences> fences_;      // by row
};

// The rows as groups of these numbers.
Result<Groups> groups_of_rows(const Statistics& statistics, const GroupKeys& keys) {
  Groups groups(keys.count(), {}, {});
  for (std::size_t row = 0; row < grouped_rows(statistics); ++row) {
    const auto words = keys.words_of(statistics.rows[row].keys);
    if (!words) return Error{"there are too many texts to tell the groups apart by them"};
    static_cast<void>(groups.find(words->data()));
  }
  return groups;
}

// Empty bins at both ends say nothing.
void trim(ValueBins& bins) {
  const auto is_used = [](std::uint64_t count) { return count > 0; };
  const auto first = std::ranges::find_if(bins.counts, is_used) - bins.counts.begin();
  const auto last = bins.counts.rend() - std::find_if(bins.counts.rbegin(), bins.counts.rend(), is_used);
  if (first >= last) {
    bins.edges.clear();
    bins.counts.clear();
    return;
  }
  bins.edges = std::vector<double>(bins.edges.begin() + first, bins.edges.begin() + last + 1);
  bins.counts = std::vector<std::uint64_t>(bins.counts.begin() + first, bins.counts.begin() + last);
}

// Whether each value is a whole number, as far as its columns tell.
bool values_are_whole(const GroupKeys& keys) {
  return std::ranges::all_of(keys.lanes(),
                             [&](std::uint32_t lane) { return keys.of_lane(lane).value.type != ColumnType::float64; });
}

Result<void> name_outliers(const QueryContext& query, std::vector<ValueOutlier>& outliers) {
  EventReader reader(query.store, query.snapshot);
  for (ValueOutlier& outlier : outliers) {
    const auto event = TRY(reader.read(outlier.event));
    outlier.begin_ns = event.begin_ns;
    outlier.name = event.name_text;
  }
  return {};
}

}  // namespace

std::vector<double> bin_edges(double min, double max, BinScale scale, bool whole) {
  if (!std::isfinite(max - min) || (scale == BinScale::log && min <= 0)) return {};
  std::vector<double> edges = scale == BinScale::linear ? linear_edges(min, max, whole) : log_edges(min, max, whole);
  // Those of the least and the largest numbers that there are may be none.
  const bool finite = std::ranges::all_of(edges, [](double edge) { return std::isfinite(edge); });
  return finite && !edges.empty() && std::isfinite(edges.back() - edges.front()) ? edges : std::vector<double>{};
}

Result<std::shared_ptr<const ValueDetails>> value_details(const QueryContext& query, const StatisticsQuestion& question,
                                                          BinScale scale, const std::vector<FieldValue>* wanted,
                                                          std::shared_ptr<const Statistics> known) {
  if (!known || known->snapshot_version != query.snapshot->version || known->question != question) {
    auto made = TRY(statistics(query, question));
    known = std::move(made);
  }
  const auto keys = TRY(GroupKeys::find(*query.snapshot, question.filter, question.by, question.value));
  auto details = std::make_shared<ValueDetails>();
  details->scale = scale;
  details->statistics = known;
  details->figures = known->all;
  std::optional<std::uint32_t> only;
  if (wanted != nullptr) {
    const auto end = known->rows.begin() + static_cast<std::ptrdiff_t>(grouped_rows(*known));
    const auto row =
        std::find_if(known->rows.begin(), end, [&](const StatisticsRow& each) { return each.keys == *wanted; });
    details->figures = row == end ? ValueFigures{} : row->figures;
    only = static_cast<std::uint32_t>(row - known->rows.begin());
  }
  if (details->figures.count == 0) return std::shared_ptr<const ValueDetails>(std::move(details));
  const bool whole = values_are_whole(*keys);
  double least = details->figures.min;
  if (scale == BinScale::log && least <= 0) {
    // Whole numbers above 0 are at least 1; of others the least above 0 is not known.
    least = whole ? 1 : details->figures.max * 1e-6;
  }
  details->bins.edges = bin_edges(std::min(least, details->figures.max), details->figures.max, scale, whole);
  const std::size_t bins = details->bins.edges.empty() ? 0 : details->bins.edges.size() - 1;

  const auto rows = TRY(groups_of_rows(*known, *keys));
  const DetailScan scan(*known, *details, only);
  WorkerParts parts(query, [&] { return DetailGatherer(*keys, rows, bins); });
  const TimeRange range = question.filter.range.value_or(TimeRange{});
  const Result<void> scanned =
      scan_chunks(query, keys->lanes(), range,
                  [&](const ScannedChunk& chunk, std::size_t worker) { scan.add(parts.of(worker), chunk); });
  if (!scanned) return scanned.error();
  details->bins.counts.resize(bins);
  Best<FarValue> farthest;
  parts.for_each([&](const DetailGatherer& part) {
    for (std::size_t bin = 0; bin < bins; ++bin) details->bins.counts[bin] += part.counts[bin];
    details->bins.below += part.below;
    details->outlier_count += part.outlier_count;
    for (const FarValue& each : part.farthest.values()) farthest.add(each, ValueDetails::kMostOutliers);
  });
  trim(details->bins);
  std::vector<FarValue> sorted = farthest.values();
  std::sort(sorted.begin(), sorted.end());
  for (FarValue& each : sorted) details->outliers.push_back(std::move(each.outlier));
  TRY(name_outliers(query, details->outliers));
  return std::shared_ptr<const ValueDetails>(std::move(details));
}

}  // namespace accelscope::analysis
