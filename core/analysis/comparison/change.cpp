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

}  // namespace accelscope
