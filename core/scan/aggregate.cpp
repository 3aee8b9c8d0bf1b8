#include "core/scan/aggregate.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "core/chunk/chunk_format.h"

namespace accelscope {
namespace {

// The magnitude is itself a rounded sum, so stay away from the limits.
constexpr double kMargin = 1 - 1e-6;
constexpr double kExactIntegers = 9007199254740992.0 * kMargin;  // 2^53
constexpr double kInt64 = 9223372036854775808.0 * kMargin;       // 2^63

std::uint64_t hash_of(const std::uint64_t* words, std::size_t count) noexcept {
  std::uint64_t hash = 0;
  for (std::size_t i = 0; i < count; ++i) {
    hash = (hash ^ words[i]) * 0x9E3779B97F4A7C15U;
    hash ^= hash >> 32;
  }
  return hash;
}

// The power of two of the lowest bit that is set.
int lowest_exponent(double value) noexcept {
  int exponent = 0;
  const double mantissa = std::frexp(std::abs(value), &exponent);  // 0.5 to 1
  const auto bits = static_cast<std::uint64_t>(std::ldexp(mantissa, 53));
  return exponent - 53 + std::countr_zero(bits);
}

}  // namespace

std::size_t Groups::find(const std::uint64_t* keys) {
  const std::size_t mask = slots_.size() - 1;
  for (std::size_t slot = hash_of(keys, words_) & mask;; slot = (slot + 1) & mask) {
    if (slots_[slot] == 0) {
      keys_.insert(keys_.end(), keys, keys + words_);
      accumulators_.resize(accumulators_.size() + aggregates_.size());
      const std::size_t group = size() - 1;
      slots_[slot] = static_cast<std::uint32_t>(group + 1);
      if (size() * 2 > slots_.size()) grow();
      return group;
    }
    const std::size_t group = slots_[slot] - 1;
    if (std::equal(keys, keys + words_, keys_.data() + group * words_)) return group;
  }
}

std::optional<std::size_t> Groups::find_known(const std::uint64_t* keys) const {
  const std::size_t mask = slots_.size() - 1;
  for (std::size_t slot = hash_of(keys, words_) & mask; slots_[slot] != 0; slot = (slot + 1) & mask) {
    const std::size_t group = slots_[slot] - 1;
    if (std::equal(keys, keys + words_, keys_.data() + group * words_)) return group;
  }
  return std::nullopt;
}

void Groups::grow() {
  slots_.assign(slots_.size() * 4, 0);
  const std::size_t mask = slots_.size() - 1;
  for (std::size_t group = 0; group < size(); ++group) {
    std::size_t slot = hash_of(keys_.data() + group * words_, words_) & mask;
    while (slots_[slot] != 0) slot = (slot + 1) & mask;
    slots_[slot] = static_cast<std::uint32_t>(group + 1);
  }
}

void Groups::add_value(Accumulator& place, std::size_t aggregate, std::uint64_t value) {
  const Aggregate& call = aggregates_[aggregate];
  ++place.count;
  if (call.kind == AggregateKind::rows || call.kind == AggregateKind::count) return;
  const ValueKind kind = call.value;
  if (!is_sum(call.kind)) {
    const bool first = place.count == 1;
    const bool better = call.kind == AggregateKind::min ? comes_before(kind, value, place.value)
                                                        : comes_before(kind, place.value, value);
    if (first || better) place.value = value;
    return;
  }
  if (kind == ValueKind::real) {
    const double number = std::bit_cast<double>(value);
    place.value = std::bit_cast<std::uint64_t>(std::bit_cast<double>(place.value) + number);
    place.magnitude += std::abs(number);
    if (number != 0 && std::isfinite(number)) place.exponent = std::min(place.exponent, lowest_exponent(number));
    return;
  }
  place.value += value;
  // Text to SQLite, which makes it a real number: not exact.
  const bool is_text = kind == ValueKind::unsigned_integer && (value & kSignBit) != 0;
  place.magnitude += is_text ? std::numeric_limits<double>::infinity()
                             : std::abs(static_cast<double>(static_cast<std::int64_t>(value)));
}

void Groups::merge(Accumulator& place, std::size_t aggregate, const Accumulator& other) {
  if (other.count == 0) return;
  const Aggregate& call = aggregates_[aggregate];
  const bool known = place.count != 0;
  place.count += other.count;
  if (call.kind == AggregateKind::rows || call.kind == AggregateKind::count) return;
  const ValueKind kind = call.value;
  if (!is_sum(call.kind)) {
    const bool better = call.kind == AggregateKind::min ? comes_before(kind, other.value, place.value)
                                                        : comes_before(kind, place.value, other.value);
    if (!known || better) place.value = other.value;
    return;
  }
  place.magnitude += other.magnitude;
  place.exponent = std::min(place.exponent, other.exponent);
  if (kind == ValueKind::real) {
    place.value = std::bit_cast<std::uint64_t>(std::bit_cast<double>(place.value) + std::bit_cast<double>(other.value));
  } else {
    place.value += other.value;
  }
}

void Groups::merge(const Groups& other) {
  const std::size_t aggregates = aggregates_.size();
  for (std::size_t from = 0; from < other.size(); ++from) {
    const std::size_t group = find(other.keys(from));
    for (std::size_t i = 0; i < aggregates; ++i) {
      merge(accumulators_[group * aggregates + i], i, other.accumulators_[from * aggregates + i]);
    }
  }
}

bool Groups::comes_before(ValueKind kind, std::uint64_t a, std::uint64_t b) const {
  switch (kind) {
    case ValueKind::integer:
      return static_cast<std::int64_t>(a) < static_cast<std::int64_t>(b);
    case ValueKind::unsigned_integer:
      // From 2^63 on a text, which comes after all integers.
      if ((a & b & kSignBit) != 0) return std::to_string(a) < std::to_string(b);
      return a < b;
    case ValueKind::real:
      return std::bit_cast<double>(a) < std::bit_cast<double>(b);
    default:
      return a != b && text_of_(a) < text_of_(b);
  }
}

std::optional<AggregateAnswer> Groups::answer(std::size_t group, std::size_t aggregate) const {
  const Accumulator& place = accumulators_[group * aggregates_.size() + aggregate];
  const Aggregate& call = aggregates_[aggregate];
  const auto real = [](double value) {
    return AggregateAnswer{false, ValueKind::real, std::bit_cast<std::uint64_t>(value)};
  };
  if (call.kind == AggregateKind::rows || call.kind == AggregateKind::count)
    return AggregateAnswer{false, ValueKind::integer, place.count};
  if (place.count == 0) {
    if (call.kind == AggregateKind::total) return real(0);
    return AggregateAnswer{true};
  }
  if (!is_sum(call.kind)) return AggregateAnswer{false, call.value, place.value};
  if (call.kind == AggregateKind::sum && call.value != ValueKind::real) {
    if (!(place.magnitude < kInt64)) return std::nullopt;
    return AggregateAnswer{false, ValueKind::integer, place.value};
  }
  double sum = 0;
  if (call.value == ValueKind::real) {
    // All partial sums are multiples of one power of two and fit in 53 bits of it.
    const bool zero = place.magnitude == 0;
    if (!zero && !(place.magnitude < std::ldexp(kExactIntegers, place.exponent))) return std::nullopt;
    sum = zero ? 0.0 : std::bit_cast<double>(place.value);
  } else {
    if (!(place.magnitude < kExactIntegers)) return std::nullopt;
    sum = static_cast<double>(static_cast<std::int64_t>(place.value));
  }
  return real(call.kind == AggregateKind::average ? sum / static_cast<double>(place.count) : sum);
}

}  // namespace accelscope
