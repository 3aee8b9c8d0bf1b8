#include "core/analysis/statistics/distribution.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>

namespace accelscope {
namespace {

double between_ranks(double below, double above, double part) noexcept {
  return part == 0 || below == above ? below : below + (above - below) * part;
}

// Values in order, of which some are counted and others lie in a list: what lies at ascending ranks.
class OrderedValues {
 public:
  OrderedValues(const ValueCounts& counts, std::vector<double>& kept) {
    std::sort(kept.begin(), kept.end());
    auto next = kept.begin();
    counts.for_each([&](double value, std::uint32_t times) {
      for (; next != kept.end() && *next < value; ++next) add(*next, 1);
      add(value, times);
      return true;
    });
    for (; next != kept.end(); ++next) add(*next, 1);
  }
  [[nodiscard]] double at(std::uint64_t rank) const {
    const auto found = std::upper_bound(ends_.begin(), ends_.end(), rank);
    return values_[static_cast<std::size_t>(found - ends_.begin())];
  }

 private:
  void add(double value, std::uint32_t times) {
    values_.push_back(value);
    ends_.push_back((ends_.empty() ? 0 : ends_.back()) + times);
  }
  std::vector<double> values_;
  std::vector<std::uint64_t> ends_;  // how many values are there up to each
};

// What lies at ascending ranks of a list without an order.
class RankedValues {
 public:
  explicit RankedValues(std::vector<double>& values) : values_(values), is_sorted_(values.size() <= kFewToSort) {
    if (is_sorted_) std::sort(values_.begin(), values_.end());
  }
  [[nodiscard]] double at(std::uint64_t rank) {
    if (is_sorted_) return values_[rank];
    const auto place = values_.begin() + static_cast<std::ptrdiff_t>(rank);
    // What lies before the last rank asked for is less than all behind it.
    std::nth_element(values_.begin() + static_cast<std::ptrdiff_t>(std::min(sorted_until_, rank)), place,
                     values_.end());
    sorted_until_ = rank;
    return *place;
  }

 private:
  static constexpr std::size_t kFewToSort = 1024;
  std::vector<double>& values_;
  bool is_sorted_;
  std::uint64_t sorted_until_ = 0;
};

}  // namespace

Distribution::Many& Distribution::many() {
  if (!many_) {
    many_ = std::make_unique<Many>();
    many_->kept.assign(few_.begin(), few_.begin() + few_count_);
    few_count_ = 0;
  }
  return *many_;
}

bool Distribution::add_to_many(double value, std::size_t most_kept) {
  Many& all = many();
  if (!all.counts.empty() && all.counts.count(value)) return false;
  all.kept.push_back(value);
  if (all.kept.size() < all.next_look) return false;
  settle(most_kept);
  return true;
}

// Of values that cannot be counted a list is looked at again when it is four times as long.
void Distribution::settle(std::size_t most_kept) {
  Many& all = *many_;
  if (all.sketch || !all.counts.cover(all.kept)) {
    if (all.kept.size() >= most_kept) put_into_bins();
  }
  all.next_look = std::min(std::max(kFirstLook, 4 * all.kept.size()), std::max(most_kept, kFolded));
}

void Distribution::put_into_bins() {
  Many& all = *many_;
  if (!all.sketch) all.sketch = std::make_unique<ValueSketch>();
  all.sketch->add(all.kept);
  all.kept.clear();
}

std::uint64_t Distribution::count() const noexcept {
  if (!many_) return few_count_;
  return many_->kept.size() + many_->counts.total() + (many_->sketch ? many_->sketch->moments().count : 0);
}

void Distribution::merge(Distribution&& other, std::size_t most_kept) {
  if (empty()) {
    *this = std::move(other);
  } else {
    merge(static_cast<const Distribution&>(other), most_kept);
  }
}

void Distribution::merge(const Distribution& other, std::size_t most_kept) {
  for (std::uint32_t i = 0; i < other.few_count_; ++i) add(other.few_[i], most_kept);
  if (!other.many_) return;
  Many& all = many();
  all.next_look = std::max(all.next_look, kFolded);  // a few of another thread are no reason to count
  if (!all.counts.merge(other.many_->counts)) {
    other.many_->counts.for_each([&](double value, std::uint32_t times) {
      if (times < kFolded || most_kept > kFolded) {
        for (std::uint32_t i = 0; i < times; ++i) add_to_many(value, most_kept);
      } else {
        if (!all.sketch) all.sketch = std::make_unique<ValueSketch>();
        all.sketch->add_many(value, times);
      }
      return true;
    });
  }
  for (const double value : other.many_->kept) add_to_many(value, most_kept);
  if (!other.many_->sketch) return;
  if (!all.sketch) all.sketch = std::make_unique<ValueSketch>();
  all.sketch->merge(*other.many_->sketch);
}

ValueMoments Distribution::moments() const {
  ValueMoments of_all;
  if (!many_) {
    of_all.add(few_.data(), few_count_);
    return of_all;
  }
  many_->counts.for_each([&](double value, std::uint32_t times) {
    of_all.add_many(value, times);
    return true;
  });
  of_all.add(many_->kept.data(), many_->kept.size());
  if (many_->sketch) of_all.merge(many_->sketch->moments());
  return of_all;
}

void Distribution::set_quantiles(const ValueMoments& of_all, ValueFigures& figures) {
  Many& all = many();
  std::function<double(std::uint64_t)> at;
  if (all.sketch) {
    put_into_bins();
    all.counts.for_each([&](double value, std::uint32_t times) {
      all.sketch->add_many(value, times);
      return true;
    });
    all.counts = {};
    at = [&all](std::uint64_t rank) { return all.sketch->order_statistic(rank); };
  } else if (all.counts.empty()) {
    at = [ranked = RankedValues(all.kept)](std::uint64_t rank) mutable { return ranked.at(rank); };
  } else {
    at = [ordered = OrderedValues(all.counts, all.kept)](std::uint64_t rank) { return ordered.at(rank); };
  }
  const auto last = of_all.count - 1;
  for (const auto& [share, value] : {std::pair{0.25, &figures.q1},
                                     {0.5, &figures.median},
                                     {0.75, &figures.q3},
                                     {0.9, &figures.p90},
                                     {0.99, &figures.p99}}) {
    const double place = static_cast<double>(last) * share;
    const auto rank = static_cast<std::uint64_t>(place);
    const double part = place - static_cast<double>(rank);
    const double below = at(rank);
    *value = part == 0 || rank >= last ? below : between_ranks(below, at(rank + 1), part);
  }
}

ValueFigures Distribution::figures() {
  const bool binned = many_ && many_->sketch;
  const ValueMoments of_all = moments();
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
  if (of_all.min == of_all.max) {
    figures.q1 = figures.median = figures.q3 = figures.p90 = figures.p99 = of_all.min;
    return figures;
  }
  set_quantiles(of_all, figures);
  constexpr double kExactBelow = 512;  // where a bin holds one whole number
  figures.exact = !binned || (of_all.whole && of_all.min > -kExactBelow && of_all.max < kExactBelow);
  return figures;
}

}  // namespace accelscope
