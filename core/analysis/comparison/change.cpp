#include "core/analysis/comparison/change.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "core/analysis/comparison/student.h"

namespace accelscope {
namespace {

struct SampleMoments {
  double count = 0, mean = 0, variance = 0;  // n - 1
};

SampleMoments sample_moments(std::span<const double> values) {
  SampleMoments out;
  out.count = static_cast<double>(values.size());
  out.mean = std::accumulate(values.begin(), values.end(), 0.0) / out.count;
  for (const double value : values) out.variance += (value - out.mean) * (value - out.mean);
  out.variance = values.size() > 1 ? out.variance / (out.count - 1) : 0;
  return out;
}

// What a difference of means is measured by: its standard error, and the degrees of freedom that it is known with.
struct Noise {
  double error = 0, freedom = 0;
};

std::optional<Noise> noise_between(const SampleMoments& a, const SampleMoments& b, const ChangeOptions& options) {
  if (options.noise) {
    const double share = *options.noise;
    return Noise{share * std::hypot(a.mean / std::sqrt(a.count), b.mean / std::sqrt(b.count)), 1e6};
  }
  if (a.count + b.count < 3) return std::nullopt;
  if (a.count == 1 || b.count == 1) {
    const SampleMoments& known = a.count > 1 ? a : b;
    return Noise{std::sqrt(known.variance * (1 / a.count + 1 / b.count)), known.count - 1};
  }
  const double of_a = a.variance / a.count, of_b = b.variance / b.count;
  if (of_a + of_b == 0) return Noise{0, a.count + b.count - 2};
  const double freedom = (of_a + of_b) * (of_a + of_b) / (of_a * of_a / (a.count - 1) + of_b * of_b / (b.count - 1));
  return Noise{std::sqrt(of_a + of_b), freedom};
}

// SplitMix64 (Steele, Lea and Flood, 2014): the same on every machine, as std's distributions are not.
class CaptureDraws {
 public:
  explicit CaptureDraws(std::uint64_t seed) : state_(seed) {}
  double mean_of(std::span<const double> values) {
    double sum = 0;
    for (std::size_t i = 0; i < values.size(); ++i) sum += values[below(values.size())];
    return sum / static_cast<double>(values.size());
  }

 private:
  std::size_t below(std::size_t count) {
    state_ += 0x9e3779b97f4a7c15;
    std::uint64_t z = state_;
    z = (z ^ z >> 30U) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27U) * 0x94d049bb133111eb;
    z ^= z >> 31U;
    return static_cast<std::size_t>((z >> 32U) * count >> 32U);
  }
  std::uint64_t state_;
};

double sorted_quantile(const std::vector<double>& sorted, double share) {
  const double at = share * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(at);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (sorted[above] - sorted[below]) * (at - static_cast<double>(below));
}

std::optional<RatioInterval> resampled(std::span<const double> base, std::span<const double> other) {
  CaptureDraws draws(ChangeOptions::kSeed);
  std::vector<double> ratios;
  ratios.reserve(ChangeOptions::kResamples);
  for (std::size_t i = 0; i < ChangeOptions::kResamples; ++i) {
    const double below = draws.mean_of(base), above = draws.mean_of(other);
    if (below != 0) ratios.push_back(above / below);
  }
  if (ratios.size() < ChangeOptions::kResamples / 2) return std::nullopt;
  std::sort(ratios.begin(), ratios.end());
  const auto count = static_cast<double>(std::min(base.size(), other.size()));
  const double share = normal_below(-std::sqrt(count / (count - 1)) * student_bound(ChangeOptions::kShown, count - 1));
  return RatioInterval{sorted_quantile(ratios, share), sorted_quantile(ratios, 1 - share)};
}

std::optional<RatioInterval> interval_of(std::span<const double> base, std::span<const double> other,
                                         const Change& change, const Noise& noise, const ChangeOptions& options) {
  if (!change.ratio) return std::nullopt;
  const bool enough = std::min(base.size(), other.size()) >= ChangeOptions::kLeastResampled;
  if (options.resamples && enough && !options.noise) return resampled(base, other);
  const double reach = student_bound(ChangeOptions::kShown, noise.freedom) * noise.error / std::abs(change.base);
  return RatioInterval{*change.ratio - reach, *change.ratio + reach};
}

// Of a cell: a side of a problem. Variances in the scale in which the pairs are pooled.
struct PooledCell {
  SampleMoments moments;
  double scale = 1;  // by which a share of the mean becomes that scale
};

// The noise of the mean over the problems of the differences within them.
std::optional<Noise> pooled_noise(const std::vector<PooledCell>& cells, std::size_t pairs,
                                  const ChangeOptions& options) {
  const bool single =
      std::any_of(cells.begin(), cells.end(), [](const PooledCell& cell) { return cell.moments.count < 2; });
  double freedom = 0, common = 0;  // squared share of the mean
  for (const PooledCell& cell : cells) {
    if (cell.moments.count < 2 || cell.moments.mean == 0) continue;
    freedom += cell.moments.count - 1;
    common += (cell.moments.count - 1) * cell.moments.variance / (cell.moments.mean * cell.moments.mean);
  }
  if (options.noise) {
    freedom = 1e6;
    common = *options.noise * *options.noise;
  } else {
    if (single && freedom == 0) return std::nullopt;
    common = freedom > 0 ? common / freedom : 0;
  }
  double variance = 0, below = 0, count = 0;
  for (const PooledCell& cell : cells) {
    const double mean = cell.moments.mean;
    const double share = single || options.noise ? common : mean != 0 ? cell.moments.variance / (mean * mean) : 0;
    const double part = share * cell.scale * cell.scale / cell.moments.count;
    variance += part;
    if (cell.moments.count > 1) below += part * part / (cell.moments.count - 1);
    count += cell.moments.count - 1;
  }
  if (!single && !options.noise) freedom = below > 0 ? variance * variance / below : count;
  return Noise{std::sqrt(variance) / static_cast<double>(pairs), freedom};
}

}  // namespace

Change change_of(std::span<const double> base, std::span<const double> other, const ChangeOptions& options) {
  const SampleMoments a = sample_moments(base), b = sample_moments(other);
  Change out;
  out.base_count = base.size();
  out.other_count = other.size();
  out.base = a.mean;
  out.other = b.mean;
  out.base_deviation = std::sqrt(a.variance);
  out.other_deviation = std::sqrt(b.variance);
  if (a.mean != 0) out.ratio = b.mean / a.mean;
  const std::optional<Noise> noise = noise_between(a, b, options);
  if (!noise) return out;
  const double difference = std::abs(out.difference()), size = std::abs(a.mean);
  out.interval = interval_of(base, other, out, *noise, options);
  if (difference > 0) out.chance = noise->error > 0 ? student_chance(difference / noise->error, noise->freedom) : 0;
  if (size > 0) {
    out.least_visible = std::max(ChangeOptions::kLeastTold,
                                 student_bound(ChangeOptions::kConfidence, noise->freedom) * noise->error / size);
  }
  const bool counts = size > 0 ? difference >= ChangeOptions::kLeastTold * size : difference > 0;
  out.told =
      out.chance <= 1 - ChangeOptions::kConfidence && counts ? (b.mean > a.mean ? Told::more : Told::less) : Told::same;
  return out;
}

Change pooled_change(std::span<const SamplePair> pairs, Pooling pooling, const ChangeOptions& options) {
  if (pairs.size() == 1) return change_of(pairs.front().base, pairs.front().other, options);
  std::vector<PooledCell> cells;
  bool above_zero = true;
  Change out;
  out.pair_count = pairs.size();
  for (const SamplePair& pair : pairs) {
    for (const std::vector<double>* side : {&pair.base, &pair.other}) {
      PooledCell cell{sample_moments(*side), 1};
      above_zero = above_zero && cell.moments.mean > 0;
      (side == &pair.base ? out.base_count : out.other_count) += side->size();
      cells.push_back(cell);
    }
  }
  out.is_geometric = pooling == Pooling::geometric && above_zero;
  const auto count = static_cast<double>(pairs.size());
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const double mean = cells[i].moments.mean;
    if (!out.is_geometric) cells[i].scale = mean;
    (i % 2 == 0 ? out.base : out.other) += (out.is_geometric ? std::log(mean) : mean) / count;
  }
  const double difference = out.other - out.base;
  const std::optional<Noise> noise = pooled_noise(cells, pairs.size(), options);
  if (out.is_geometric) {
    out.base = std::exp(out.base);
    out.other = std::exp(out.other);
  }
  if (out.base != 0) out.ratio = out.other / out.base;
  if (!noise) return out;
  const double size = out.is_geometric ? 1 : std::abs(out.base);
  const double shown = student_bound(ChangeOptions::kShown, noise->freedom) * noise->error;
  const double told = student_bound(ChangeOptions::kConfidence, noise->freedom) * noise->error;
  if (out.ratio) {
    out.interval = out.is_geometric ? RatioInterval{*out.ratio * std::exp(-shown), *out.ratio * std::exp(shown)}
                                    : RatioInterval{*out.ratio - shown / size, *out.ratio + shown / size};
    out.least_visible = std::max(ChangeOptions::kLeastTold, out.is_geometric ? std::expm1(told) : told / size);
  }
  if (difference != 0) {
    out.chance = noise->error > 0 ? student_chance(std::abs(difference) / noise->error, noise->freedom) : 0;
  }
  const bool counts = !out.ratio || std::abs(*out.ratio - 1) >= ChangeOptions::kLeastTold;
  out.told = difference != 0 && counts && out.chance <= 1 - ChangeOptions::kConfidence
                 ? (difference > 0 ? Told::more : Told::less)
                 : Told::same;
  return out;
}

}  // namespace accelscope
