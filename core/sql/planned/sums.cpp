#include "core/sql/planned/sums.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "core/chunk/chunk_format.h"

namespace accelscope::sql {
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

std::size_t NativeGroups::find(const std::uint64_t* keys) {
  const std::size_t mask = slots_.size() - 1;
  for (std::size_t slot = hash_of(keys, words_) & mask;; slot = (slot + 1) & mask) {
    if (slots_[slot] == 0) {
      keys_.insert(keys_.end(), keys, keys + words_);
      accumulators_.resize(accumulators_.size() + query_.aggregates.size());
      const std::size_t group = size() - 1;
      slots_[slot] = static_cast<std::uint32_t>(group + 1);
      if (size() * 2 > slots_.size()) grow();
      return group;
    }
    const std::size_t group = slots_[slot] - 1;
    if (std::equal(keys, keys + words_, keys_.data() + group * words_)) return group;
  }
}

void NativeGroups::grow() {
  slots_.assign(slots_.size() * 4, 0);
  const std::size_t mask = slots_.size() - 1;
  for (std::size_t group = 0; group < size(); ++group) {
    std::size_t slot = hash_of(keys_.data() + group * words_, words_) & mask;
    while (slots_[slot] != 0) slot = (slot + 1) & mask;
    slots_[slot] = static_cast<std::uint32_t>(group + 1);
  }
}

void NativeGroups::add_value(Accumulator& place, std::size_t aggregate, std::uint64_t value) {
  const AggregateCall& call = query_.aggregates[aggregate];
  ++place.count;
  if (call.kind == AggregateKind::rows || call.kind == AggregateKind::count) return;
  const ValueKind kind = query_.inputs[call.input].kind;
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

void NativeGroups::merge(Accumulator& place, std::size_t aggregate, const Accumulator& other) {
  if (other.count == 0) return;
  const AggregateCall& call = query_.aggregates[aggregate];
  const bool known = place.count != 0;
  place.count += other.count;
  if (call.kind == AggregateKind::rows || call.kind == AggregateKind::count) return;
  const ValueKind kind = query_.inputs[call.input].kind;
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

void NativeGroups::merge(const NativeGroups& other) {
  const std::size_t aggregates = query_.aggregates.size();
  for (std::size_t from = 0; from < other.size(); ++from) {
    const std::size_t group = find(other.keys_.data() + from * words_);
    for (std::size_t i = 0; i < aggregates; ++i) {
      merge(accumulators_[group * aggregates + i], i, other.accumulators_[from * aggregates + i]);
    }
  }
}

bool NativeGroups::comes_before(ValueKind kind, std::uint64_t a, std::uint64_t b) const {
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
      return a != b && texts_.text(a) < texts_.text(b);
  }
}

std::optional<SqlValue> NativeGroups::result(std::size_t aggregate, const Accumulator& place) const {
  const AggregateCall& call = query_.aggregates[aggregate];
  if (call.kind == AggregateKind::rows || call.kind == AggregateKind::count)
    return static_cast<std::int64_t>(place.count);
  if (place.count == 0) {
    if (call.kind == AggregateKind::total) return SqlValue(0.0);
    return SqlValue();
  }
  const ValueKind kind = query_.inputs[call.input].kind;
  if (!is_sum(call.kind)) return sql_value(kind, place.value, texts_);
  if (call.kind == AggregateKind::sum && kind != ValueKind::real) {
    if (!(place.magnitude < kInt64)) return std::nullopt;
    return static_cast<std::int64_t>(place.value);
  }
  double sum = 0;
  if (kind == ValueKind::real) {
    // All partial sums are multiples of one power of two and fit in 53 bits of it.
    const bool zero = place.magnitude == 0;
    if (!zero && !(place.magnitude < std::ldexp(kExactIntegers, place.exponent))) return std::nullopt;
    sum = zero ? 0.0 : std::bit_cast<double>(place.value);
  } else {
    if (!(place.magnitude < kExactIntegers)) return std::nullopt;
    sum = static_cast<double>(static_cast<std::int64_t>(place.value));
  }
  return call.kind == AggregateKind::average ? sum / static_cast<double>(place.count) : sum;
}

std::optional<std::vector<SqlValue>> NativeGroups::row(std::size_t group) const {
  std::vector<SqlValue> row;
  row.reserve(query_.keys.size() + query_.aggregates.size());
  const std::uint64_t* keys = keys_.data() + group * words_;
  for (std::size_t i = 0; i < query_.keys.size(); ++i) {
    const bool null = (keys[0] >> i & 1) != 0;
    row.push_back(null ? SqlValue() : sql_value(query_.inputs[query_.keys[i]].kind, keys[i + 1], texts_));
  }
  for (std::size_t i = 0; i < query_.aggregates.size(); ++i) {
    auto value = result(i, accumulators_[group * query_.aggregates.size() + i]);
    if (!value) return std::nullopt;
    row.push_back(std::move(*value));
  }
  return row;
}

}  // namespace accelscope::sql
