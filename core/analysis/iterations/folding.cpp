#include "core/analysis/iterations/folding.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <span>

#include "core/analysis/statistics/estimates.h"

namespace accelscope::analysis {
namespace {

using Places = std::span<const std::uint32_t>;

constexpr double kLeastBits = 16, kLeastBodyShare = 0.3;
constexpr double kAgainst = -0.4;  // bits of a name that is not regular: three in four of a body are thought to be
constexpr double kForChoice = 3;   // bits that choosing the number and being regular at all cost
constexpr double kLeastPerIteration = 1.5;  // of a level within another
constexpr std::size_t kNameClasses = 400;   // of equally frequent names that are tried
constexpr std::size_t kClassesOfMany = 16;  // the same where several events of a name are tried together
constexpr std::size_t kAnchorsOfClass = 4, kPartners = 24, kQuickSlots = 1'024;

std::uint32_t upper_median(std::vector<std::uint32_t>& values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

// How a name comes in the slots of an anchor.
struct SlotRegularity {
  bool regular = false;
  std::uint32_t times = 0;
  std::size_t first = 0, last = 0;  // slots with that number, both included
  std::size_t matches = 0, misses = 0;
  double bits = kAgainst;
};

// The logarithm of the chance that `times` events of a name stand between every r-th of an anchor.
double log2_chance(std::uint32_t times, double mean, unsigned r) {
  const double own = r / (r + mean), k = times;
  const double ways = log_gamma(k + r) - log_gamma(k + 1) - log_gamma(r);
  return (ways + r * std::log(own) + k * std::log1p(-own)) / std::log(2.0);
}

class SlotCounter {
 public:
  // Slots are [starts[i], starts[i + 1]).
  SlotRegularity judge(Places places, Places starts, unsigned r) {
    counts_.assign(starts.size() - 1, 0);
    auto at = std::lower_bound(places.begin(), places.end(), starts.front());
    for (std::size_t i = 0; i < counts_.size(); ++i) {
      while (at != places.end() && *at < starts[i + 1]) ++at, ++counts_[i];
    }
    sorted_.clear();
    for (const std::uint32_t count : counts_) {
      if (count > 0) sorted_.push_back(count);
    }
    SlotRegularity found;
    if (sorted_.size() < 2) return found;
    found.times = upper_median(sorted_);
    found.first = static_cast<std::size_t>(std::find(counts_.begin(), counts_.end(), found.times) - counts_.begin());
    found.last = counts_.size() - 1;
    while (counts_[found.last] != found.times) --found.last;
    rate(found, r);
    return found;
  }

 private:
  void rate(SlotRegularity& found, unsigned r) const {
    const std::size_t span = found.last - found.first + 1;
    double all = 0;
    for (std::size_t i = found.first; i <= found.last; ++i) {
      all += counts_[i];
      found.matches += counts_[i] == found.times ? 1 : 0;
    }
    found.misses = span - found.matches;
    found.regular = span >= 2 && (found.misses * 10 <= span || (span >= 5 && found.misses <= 1));
    if (!found.regular) return;
    const auto length = static_cast<double>(span);
    double bits = -log2_chance(found.times, all / length, r) * static_cast<double>(found.matches) - kForChoice -
                  static_cast<double>(found.misses) * (std::log2(length) + 1);
    if (span < counts_.size()) bits -= 2 * std::log2(static_cast<double>(counts_.size()));
    found.bits = std::max(kAgainst, bits);
  }

  std::vector<std::uint32_t> counts_, sorted_;
};

// What an anchor makes of the lane.
struct JudgedName {
  std::uint32_t token = 0;
  SlotRegularity how;
};

class PeriodFinder {
 public:
  PeriodFinder(const EventSequence& sequence, const NamePlaces& places, const TaskControl& control)
      : sequence_(sequence), places_(places), control_(control), work_left_(8 * sequence.size() + 20'000'000) {}

  std::vector<Period> run() {
    collect();
    for (unsigned r = 1; r <= 8 && periods_.empty(); ++r) {
      for (std::size_t i = 0;
           i < classes_.size() && i < (r == 1 ? kNameClasses : kClassesOfMany) && !control_.cancelled(); ++i)
        try_class(classes_[i], r);
    }
    drop_chance_groups();
    set_levels();
    return std::move(periods_);
  }

 private:
  struct NameClass {
    std::size_t first = 0, last = 0;  // of by_count_
    std::size_t count = 0;
  };

  void collect() {
    for (std::uint32_t token = 0; token < places_.names(); ++token) {
      if (places_.of(token).size() >= Period::kLeast) by_count_.push_back(token);
    }
    std::ranges::sort(by_count_, [&](std::uint32_t a, std::uint32_t b) {
      const Places x = places_.of(a), y = places_.of(b);
      return x.size() != y.size() ? x.size() < y.size() : x.front() < y.front();
    });
    for (std::size_t i = 0; i < by_count_.size();) {
      NameClass found{i, i, places_.of(by_count_[i]).size()};
      while (found.last < by_count_.size() && places_.of(by_count_[found.last]).size() == found.count) ++found.last;
      i = found.last;
      classes_.push_back(found);
    }
    // Many names that are equally often are most likely a body.
    std::ranges::stable_sort(classes_, [](const NameClass& a, const NameClass& b) {
      return (a.last - a.first) * a.count > (b.last - b.first) * b.count;
    });
  }

  void try_class(const NameClass& names, unsigned r) {
    const std::size_t size = names.last - names.first;
    std::size_t before = names.last;
    for (std::size_t i = 0; i < kAnchorsOfClass; ++i) {
      const std::size_t at = names.first + (size - 1) * i / (kAnchorsOfClass - 1);
      if (at == before) continue;
      before = at;
      if (try_anchor(at, r)) return;
    }
    for (std::size_t at = names.first; r == 1 && at < names.last; ++at) {
      if (sequence_.names[by_count_[at]].counts_up && try_anchor(at, r)) return;
    }
  }

  [[nodiscard]] bool known(std::size_t count, std::uint32_t first, std::uint32_t last) const {
    return std::ranges::any_of(periods_, [&](const Period& period) {
      const std::size_t own = period.firsts.size();
      const std::size_t apart = own > count ? own - count : count - own;
      const bool meets = first < period.limits.back() && last >= period.firsts.front();
      return meets && apart <= std::max<std::size_t>(1, own / 32);
    });
  }

  bool try_anchor(std::size_t at, unsigned r) {
    const std::uint32_t token = by_count_[at];
    const Places all = places_.of(token);
    if (all.size() / r < Period::kLeast || known(all.size() / r, all.front(), all.back())) return false;
    std::vector<std::uint32_t> every;
    for (std::size_t i = 0; i < all.size(); i += r) every.push_back(all[i]);
    ++tried_;
    const bool counts_up = sequence_.names[token].counts_up;
    if (!counts_up && !is_likely(at, every, r)) return false;
    if (work_left_ < sequence_.size()) return false;
    work_left_ -= sequence_.size();
    auto period = judge_whole(token, every, r, counts_up);
    if (!period || known(period->firsts.size(), period->firsts.front(), period->limits.back() - 1)) return false;
    periods_.push_back(std::move(*period));
    return true;
  }

  // A look at names that are about as frequent and at frequent ones, in some slots.
  bool is_likely(std::size_t at, Places starts, unsigned r) {
    if (starts.size() > kQuickSlots) starts = starts.subspan((starts.size() - kQuickSlots) / 2, kQuickSlots);
    double bits = 0;
    std::size_t done = 0;
    const auto look = [&](std::size_t other) {
      ++done;
      bits += std::max(-2.0, counter_.judge(places_.of(by_count_[other]), starts, r).bits);
    };
    const std::size_t from = at > kPartners / 2 ? at - kPartners / 2 : 0;
    const std::size_t to = std::min(by_count_.size(), from + kPartners);
    double best = 0;
    for (std::size_t other = from; other < to; ++other) {
      if (other == at) continue;
      const double before = bits;
      look(other);
      best = std::max(best, bits - before);
    }
    constexpr std::size_t kManyTimes = 64;
    const std::size_t most = places_.of(by_count_[at]).size() * kManyTimes;
    for (std::size_t other = by_count_.size(); other > to && done < 2 * kPartners; --other) {
      if (places_.of(by_count_[other - 1]).size() > most) continue;
      const double before = bits;
      look(other - 1);
      best = std::max(best, bits - before);
    }
    return bits > 0 || best > kLeastBits / 2;
  }

  std::optional<Period> judge_whole(std::uint32_t anchor, Places starts, unsigned r, bool counts_up) {
    std::vector<JudgedName> regular;
    double against = 0;
    for (const std::uint32_t token : by_count_) {
      if (token == anchor) continue;
      const Places places = places_.of(token);
      if (places.size() * 4 < starts.size()) continue;
      const SlotRegularity how = counter_.judge(places, starts, r);
      if (how.regular && how.bits > 0) {
        regular.push_back({token, how});
      } else {
        against += kAgainst;
      }
    }
    if (regular.empty() && !counts_up) return std::nullopt;
    std::size_t first = 0, last = starts.size() - 2;
    const auto longest = std::max_element(regular.begin(), regular.end(),
                                          [](const auto& a, const auto& b) { return a.how.matches < b.how.matches; });
    if (longest != regular.end() && !counts_up) first = longest->how.first, last = longest->how.last;
    keep_of_stretch(regular, first, last);
    Period period;
    period.bits = std::accumulate(regular.begin(), regular.end(), against,
                                  [](double sum, const JudgedName& each) { return sum + each.how.bits; });
    if (!counts_up && period.bits < kLeastBits + std::log2(static_cast<double>(tried_))) return std::nullopt;
    period.body.push_back({anchor, r, 0});
    for (const JudgedName& each : regular) period.body.push_back({each.token, each.how.times, each.how.bits});
    if (counts_up) {
      for (std::size_t i = first; i <= last + 1; ++i) period.firsts.push_back(starts[i]);
      set_limits(period, static_cast<std::uint32_t>(sequence_.size()));
      period.share = 1;
      return period;
    }
    cut(period, starts, first, last, regular);
    if (period.firsts.size() < Period::kLeast || period.share < kLeastBodyShare) return std::nullopt;
    return period;
  }

  static void keep_of_stretch(std::vector<JudgedName>& regular, std::size_t first, std::size_t last) {
    const std::size_t span = last - first + 1;
    std::erase_if(regular, [&](const JudgedName& each) {
      const std::size_t from = std::max(first, each.how.first), to = std::min(last + 1, each.how.last + 1);
      return to <= from || (to - from) * 5 < span * 4;
    });
  }

  static void set_limits(Period& period, std::uint32_t end) {
    period.limits.assign(period.firsts.begin() + 1, period.firsts.end());
    period.limits.push_back(end);
  }

  // The order of the body as a usual slot has it, and how many of a name come before each place.
  struct Layout {
    std::vector<std::uint32_t> tokens, earlier;
  };

  Layout layout_of(const Period& period, Places starts, std::size_t first, std::size_t last) {
    std::vector<std::uint32_t> times(places_.names());
    std::size_t whole = 0;
    for (const RepeatedName& each : period.body) times[each.token] = each.times, whole += each.times;
    constexpr std::size_t kLooked = 64;
    Layout best;
    for (std::size_t slot = first; slot <= last && slot < first + kLooked && best.tokens.size() != whole; ++slot) {
      Layout layout;
      std::vector<std::uint32_t> seen(places_.names());
      for (std::uint32_t i = starts[slot]; i < starts[slot + 1]; ++i) {
        const std::uint32_t token = sequence_.tokens[i];
        if (seen[token] >= times[token]) continue;
        layout.tokens.push_back(token);
        layout.earlier.push_back(seen[token]++);
      }
      if (layout.tokens.size() > best.tokens.size()) best = std::move(layout);
    }
    return best;
  }

  // How far back from the first anchor the events are those of a body's end: the place in the layout; 0: not at all.
  std::size_t earliest_place(const Layout& layout, const Period& period, std::uint32_t from, std::uint32_t to) const {
    std::vector<std::uint32_t> left(places_.names());
    for (const RepeatedName& each : period.body)
      left[each.token] = std::min(each.times, static_cast<std::uint32_t>(places_.within(each.token, from, to).size()));
    std::size_t place = 0;
    for (std::size_t j = layout.tokens.size(); j-- > 1;) {
      if (left[layout.tokens[j]] == 0) break;
      --left[layout.tokens[j]];
      place = j;
    }
    return place;
  }

  // Slots [first, last] are whole; one more begins at starts[last + 1].
  void cut(Period& period, Places starts, std::size_t first, std::size_t last, const std::vector<JudgedName>& regular) {
    const std::uint32_t end =
        last + 2 < starts.size() ? starts[last + 2] : static_cast<std::uint32_t>(sequence_.size());
    const std::uint32_t from = first > 0 ? starts[first - 1] + 1 : 0;
    const Layout layout = layout_of(period, starts, first, last);
    const std::size_t place = earliest_place(layout, period, from, starts[first]);
    if (place == 0) {
      period.firsts.assign(starts.begin() + static_cast<std::ptrdiff_t>(first),
                           starts.begin() + static_cast<std::ptrdiff_t>(last) + 2);
    } else {
      turn(period, starts, first, last, layout, place, from, end);
    }
    set_limits(period, end);
    const auto is_whole = [&](const JudgedName& each) {
      return each.how.misses > 0 || places_.within(each.token, period.firsts.back(), end).size() >= each.how.times;
    };
    const RepeatedName& anchor = period.body.front();
    const bool anchored = places_.within(anchor.token, period.firsts.back(), end).size() >= anchor.times;
    if (!anchored || !std::ranges::all_of(regular, is_whole)) {
      period.firsts.pop_back();
      period.limits.pop_back();
      ++period.partial;
    }
    if (!period.firsts.empty()) period.share = usual_share(period);
  }

  // Iterations begin at another place of the body than the anchor.
  void turn(Period& period, Places starts, std::size_t first, std::size_t last, const Layout& layout, std::size_t place,
            std::uint32_t from, std::uint32_t end) const {
    const std::uint32_t token = layout.tokens[place], earlier = layout.earlier[place];
    std::uint32_t times = 1;
    for (const RepeatedName& each : period.body) {
      if (each.token == token) times = each.times;
    }
    const Places before = places_.within(token, from, starts[first]);
    // There may be fewer of them there than an iteration has.
    const std::size_t own_before = std::min<std::size_t>(times - std::min(times, earlier), before.size());
    period.firsts.push_back(own_before == 0 ? starts[first] : before[before.size() - own_before]);
    for (std::size_t slot = first; slot <= last + 1; ++slot) {
      const std::uint32_t slot_end = slot <= last ? starts[slot + 1] : end;
      const Places own = places_.within(token, starts[slot], slot_end);
      if (own.size() > earlier) {
        period.firsts.push_back(own[earlier]);
      } else if (slot <= last) {
        period.firsts.push_back(slot_end);  // that event is missing
      }
    }
  }

  static double usual_share(const Period& period) {
    std::vector<std::uint32_t> lengths;
    const std::size_t step = std::max<std::size_t>(1, period.firsts.size() / kQuickSlots);
    for (std::size_t i = 0; i < period.firsts.size(); i += step) lengths.push_back(period.limits[i] - period.firsts[i]);
    double own = 0;
    for (const RepeatedName& each : period.body) own += each.times;
    return std::min(1.0, own / std::max<double>(1, upper_median(lengths)));  // not every iteration has all of the body
  }

  // What an outer period says beyond a finer one: see `its own` in the header.
  double own_bits(const Period& outer, const Period& finer) {
    double bits = 0;
    for (const RepeatedName& each : outer.body) {
      const bool shared =
          std::ranges::any_of(finer.body, [&](const RepeatedName& other) { return other.token == each.token; });
      if (!shared) bits += each.bits;
    }
    return bits + std::max(0.0, counter_.judge(finer.firsts, outer.firsts, 1).bits);
  }

  void drop_chance_groups() {
    const auto is_chance = [&](const Period& outer) {
      if (sequence_.names[outer.body.front().token].counts_up) return false;
      return std::ranges::any_of(periods_, [&](const Period& finer) {
        if (finer.firsts.size() <= outer.firsts.size()) return false;
        const bool covers = finer.firsts.front() < outer.limits.back() && outer.firsts.front() < finer.limits.back();
        return covers && own_bits(outer, finer) < kLeastBits + std::log2(static_cast<double>(tried_));
      });
    };
    std::vector<Period> retained;
    for (const Period& each : periods_) {
      if (!is_chance(each)) retained.push_back(each);
    }
    periods_ = std::move(retained);
  }

  // Of two that lie over each other and are about as often, it is one loop: what has more evidence stays.
  void drop_near_copies() {
    std::ranges::stable_sort(periods_, std::ranges::greater{}, &Period::bits);
    std::vector<Period> retained;
    for (Period& each : periods_) {
      const bool copies = std::ranges::any_of(retained, [&](const Period& other) {
        const std::uint32_t from = std::max(each.firsts.front(), other.firsts.front());
        const std::uint32_t to = std::min(each.limits.back(), other.limits.back());
        const auto least = static_cast<double>(std::min(each.firsts.size(), other.firsts.size()));
        const auto most = static_cast<double>(std::max(each.firsts.size(), other.firsts.size()));
        const std::uint32_t length =
            std::min(each.limits.back() - each.firsts.front(), other.limits.back() - other.firsts.front());
        return to > from && (to - from) >= length / 2 && most < kLeastPerIteration * least;
      });
      if (!copies) retained.push_back(std::move(each));
    }
    periods_ = std::move(retained);
  }

  void set_levels() {
    drop_near_copies();
    std::ranges::stable_sort(periods_,
                             [](const Period& a, const Period& b) { return a.firsts.size() < b.firsts.size(); });
    if (periods_.size() > Period::kMost) periods_.resize(Period::kMost);
    for (std::size_t i = 0; i < periods_.size(); ++i) {
      Period& inner = periods_[i];
      for (std::size_t j = 0; j < i; ++j) {
        const Period& outer = periods_[j];
        const std::uint32_t from = std::max(inner.firsts.front(), outer.firsts.front());
        const std::uint32_t to = std::min(inner.limits.back(), outer.limits.back());
        const std::uint32_t length = inner.limits.back() - inner.firsts.front();
        if (to > from && (to - from) >= length / 2) inner.level = std::max(inner.level, outer.level + 1);
      }
    }
  }

  const EventSequence& sequence_;
  const NamePlaces& places_;
  const TaskControl& control_;
  std::uint64_t work_left_;
  std::uint64_t tried_ = 0;
  std::vector<std::uint32_t> by_count_;  // names, rarest first
  std::vector<NameClass> classes_;
  std::vector<Period> periods_;
  SlotCounter counter_;
};

}  // namespace

std::vector<Period> find_periods(const EventSequence& sequence, const NamePlaces& places, const TaskControl& control) {
  return PeriodFinder(sequence, places, control).run();
}

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
    std::ranges::stable_sort(loop.body,
                             [](const auto& a, const auto& b) { return a.duration_ns.median > b.duration_ns.median; });
    loop.left_out = loop.body.size() - FoldedLoop::kMostOperations;
    loop.body.resize(FoldedLoop::kMostOperations);
  }
  std::ranges::stable_sort(loop.body,
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

}  // namespace accelscope::analysis
