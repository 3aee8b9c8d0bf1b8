#include "core/analysis/statistics/distribution.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

namespace accelscope {
namespace {

constexpr unsigned kBinBits = 8;
constexpr unsigned kDroppedBits = 52 - kBinBits;
constexpr std::uint64_t kTopBit = std::uint64_t{1} << 63U;

// The bits of a double, so that they order as the numbers do.
std::uint64_t ordered_bits(double value) noexcept {
  const auto bits = std::bit_cast<std::uint64_t>(value);
  return (bits & kTopBit) != 0 ? ~bits : bits | kTopBit;
}

double of_ordered_bits(std::uint64_t bits) noexcept {
  return std::bit_cast<double>((bits & kTopBit) != 0 ? bits & ~kTopBit : ~bits);
}

std::uint32_t bin_of(double value) noexcept { return static_cast<std::uint32_t>(ordered_bits(value) >> kDroppedBits); }

double least_of_bin(std::uint32_t bin) noexcept { return of_ordered_bits(std::uint64_t{bin} << kDroppedBits); }

double between_ranks(double below, double above, double part) noexcept {
  return part == 0 || below == above ? below : below + (above - below) * part;
}

}  // namespace

void Distribution::Moments::add(const double* values, std::size_t size) {
  if (size == 0) return;
  if (count == 0) centre = min = max = values[0];
  double total = 0, offsets = 0, squares = 0, least = min, greatest = max;
  bool all_whole = whole;
  for (std::size_t i = 0; i < size; ++i) {
    const double value = values[i], from_centre = value - centre;
    total += value;
    offsets += from_centre;
    squares += from_centre * from_centre;
    least = value < least ? value : least;
    greatest = value > greatest ? value : greatest;
    all_whole &= std::trunc(value) == value;
  }
  count += size;
  sum += total;
  offset_sum += offsets;
  offset_squares += squares;
  min = least;
  max = greatest;
  whole = all_whole;
}

void Distribution::Moments::merge(const Moments& other) noexcept {
  if (other.count == 0) return;
  if (count == 0) {
    *this = other;
    return;
  }
  // The other's sums about this one's centre.
  const double apart = other.centre - centre;
  const auto others = static_cast<double>(other.count);
  offset_squares += other.offset_squares + 2 * apart * other.offset_sum + others * apart * apart;
  offset_sum += other.offset_sum + others * apart;
  count += other.count;
  sum += other.sum;
  min = std::min(min, other.min);
  max = std::max(max, other.max);
  whole = whole && other.whole;
}

Distribution::Page& Distribution::page(std::uint32_t number) {
  if (pages_.empty()) first_page_ = number;
  if (number < first_page_) {
    std::vector<std::unique_ptr<Page>> wider(pages_.size() + first_page_ - number);
    std::move(pages_.begin(), pages_.end(), wider.begin() + static_cast<std::ptrdiff_t>(first_page_ - number));
    pages_ = std::move(wider);
    first_page_ = number;
  }
  if (number - first_page_ >= pages_.size()) pages_.resize(number - first_page_ + 1);
  std::unique_ptr<Page>& found = pages_[number - first_page_];
  if (!found) found = std::make_unique<Page>();
  return *found;
}

void Distribution::fold() {
  if (kept_.empty()) return;
  moments_.add(kept_.data(), kept_.size());
  std::uint32_t known = ~0U;
  Page* counts = nullptr;
  for (const double value : kept_) {
    const std::uint32_t bin = bin_of(value);
    if (bin / kBins != known) {
      known = bin / kBins;
      counts = &page(known);
    }
    ++(*counts)[bin % kBins];
  }
  kept_.clear();
}

void Distribution::merge(Distribution&& other) {
  if (count() == 0) {
    *this = std::move(other);
  } else {
    merge(static_cast<const Distribution&>(other));
  }
}

void Distribution::merge(const Distribution& other) {
  kept_.insert(kept_.end(), other.kept_.begin(), other.kept_.end());
  moments_.merge(other.moments_);
  for (std::size_t p = 0; p < other.pages_.size(); ++p) {
    if (!other.pages_[p]) continue;
    Page& into = page(other.first_page_ + static_cast<std::uint32_t>(p));
    for (std::size_t bin = 0; bin < kBins; ++bin) into[bin] += (*other.pages_[p])[bin];
  }
}

double Distribution::kept_quantile(double share, std::size_t& sorted_until) {
  const double place = static_cast<double>(kept_.size() - 1) * share;
  const auto rank = static_cast<std::size_t>(place);
  const auto at = kept_.begin() + static_cast<std::ptrdiff_t>(rank);
  // What lies before the last rank asked for is less than all behind it.
  std::nth_element(kept_.begin() + static_cast<std::ptrdiff_t>(std::min(sorted_until, rank)), at, kept_.end());
  sorted_until = rank;
  const double part = place - static_cast<double>(rank);
  if (part == 0) return *at;
  return between_ranks(*at, *std::min_element(at + 1, kept_.end()), part);
}

// Within its bin, as if the bin's values were spread evenly.
double Distribution::order_statistic(std::uint64_t rank) const {
  std::uint64_t before = 0;
  for (std::size_t p = 0; p < pages_.size(); ++p) {
    if (!pages_[p]) continue;
    for (std::size_t bin = 0; bin < kBins; ++bin) {
      const std::uint64_t count = (*pages_[p])[bin];
      if (rank >= before + count) {
        before += count;
        continue;
      }
      const auto number = (first_page_ + static_cast<std::uint32_t>(p)) * static_cast<std::uint32_t>(kBins) +
                          static_cast<std::uint32_t>(bin);
      const double least = std::max(least_of_bin(number), moments_.min);
      const double next = std::min(least_of_bin(number + 1), moments_.max);
      const double part = (static_cast<double>(rank - before) + 0.5) / static_cast<double>(count);
      const double found = least + (next - least) * part;
      return std::clamp(moments_.whole ? std::floor(found) : found, moments_.min, moments_.max);
    }
  }
  return moments_.max;
}

double Distribution::binned_quantile(double share) const {
  const double place = static_cast<double>(moments_.count - 1) * share;
  const auto rank = static_cast<std::uint64_t>(place);
  const double part = place - static_cast<double>(rank);
  const double below = order_statistic(rank);
  return part == 0 ? below : between_ranks(below, order_statistic(rank + 1), part);
}

ValueFigures Distribution::figures() {
  const bool binned = moments_.count > 0;
  if (binned) fold();
  Moments of_all = moments_;
  if (!binned) of_all.add(kept_.data(), kept_.size());
  ValueFigures figures;
  figures.count = of_all.count;
  if (figures.count == 0) return figures;
  const auto count = static_cast<double>(of_all.count);
  figures.total = of_all.sum;
  figures.mean = of_all.sum / count;
  const double offset = of_all.offset_sum / count;
  figures.deviation = std::sqrt(std::max(0.0, of_all.offset_squares / count - offset * offset));
  figures.min = of_all.min;
  figures.max = of_all.max;
  std::size_t sorted_until = 0;
  for (const auto& [share, value] : {std::pair{0.25, &figures.q1},
                                     {0.5, &figures.median},
                                     {0.75, &figures.q3},
                                     {0.9, &figures.p90},
                                     {0.99, &figures.p99}}) {
    *value = binned ? binned_quantile(share) : kept_quantile(share, sorted_until);
  }
  constexpr double kExactBelow = 512;  // where a bin holds one whole number
  figures.exact =
      !binned || of_all.min == of_all.max || (of_all.whole && of_all.min > -kExactBelow && of_all.max < kExactBelow);
  return figures;
}

}  // namespace accelscope
