#include "core/analysis/selection/packed_stretch.h"

#include <doctest/doctest.h>

#include <limits>
#include <random>

using namespace accelscope;
using namespace accelscope::analysis;

namespace {

constexpr std::uint64_t kMuch = std::numeric_limits<std::uint64_t>::max();

SummaryStretch random_stretch(std::mt19937_64& random, std::size_t names, std::uint32_t key_step, unsigned bits) {
  SummaryStretch stretch;
  stretch.totals.events = 1 + random() % 100'000;
  for (std::size_t t = 0; t < kSummaryTables; ++t) {
    const std::size_t count = t == 0 ? names : random() % 70;
    std::uint32_t key = static_cast<std::uint32_t>(random() % 1000);
    const auto first = static_cast<std::ptrdiff_t>(stretch.entries.size());
    for (std::size_t i = 0; i < count; ++i) {
      stretch.entries.push_back({key, static_cast<std::uint32_t>(1 + random() % 1000), random() >> (64 - bits),
                                 (random() >> (64 - bits)) & ~std::uint64_t{0xff}});
      key += 1 + static_cast<std::uint32_t>(random() % key_step);
    }
    std::shuffle(stretch.entries.begin() + first, stretch.entries.end(), random);
    stretch.offsets[t + 1] = static_cast<std::uint32_t>(stretch.entries.size());
  }
  return stretch;
}

void check_same(const PackedStretch& packed, const SummaryStretch& stretch) {
  CHECK(packed.totals().events == stretch.totals.events);
  CHECK(packed.entry_count() == stretch.entries.size());
  for (std::size_t t = 0; t < kSummaryTables; ++t) {
    const auto entries = stretch.of(static_cast<SummaryTable>(t));
    std::vector<SummaryEntry> sorted(entries.begin(), entries.end());
    std::sort(sorted.begin(), sorted.end(), [](const SummaryEntry& a, const SummaryEntry& b) { return a.key < b.key; });
    std::size_t i = 0;
    packed.for_each(static_cast<SummaryTable>(t), [&](const SummaryEntry& entry) {
      REQUIRE(i < sorted.size());
      CHECK(entry.key == sorted[i].key);
      CHECK(entry.count == sorted[i].count);
      CHECK(entry.busy_ticks == sorted[i].busy_ticks);
      CHECK(entry.amount == sorted[i].amount);
      ++i;
    });
    CHECK(i == sorted.size());
  }
}

}  // namespace

TEST_CASE("packed sums are the sums that were packed, whatever their sizes") {
  std::mt19937_64 random(17);
  StretchPacker packer;
  for (const unsigned bits : {1U, 13U, 40U, 57U, 64U}) {
    for (const std::uint32_t step : {1U, 7U, 100'000U}) {
      for (const std::size_t names : {0U, 1U, 63U, 64U, 65U, 1000U}) {
        const SummaryStretch stretch = random_stretch(random, names, step, bits);
        const auto packed = packer.pack(stretch, kMuch, 3);
        REQUIRE(packed != nullptr);
        CHECK(packed->levels_below() == 3);
        check_same(*packed, stretch);
      }
    }
  }
}

TEST_CASE("sums that would take more memory than they may are not packed") {
  std::mt19937_64 random(18);
  StretchPacker packer;
  const SummaryStretch stretch = random_stretch(random, 1000, 1, 20);
  const auto packed = packer.pack(stretch, kMuch, 0);
  REQUIRE(packed != nullptr);
  CHECK(packed->memory_bytes() < stretch.entries.size() * 12);
  CHECK(packer.pack(stretch, packed->memory_bytes() / 2, 0) == nullptr);
  check_same(*packer.pack(stretch, packed->memory_bytes(), 0), stretch);
}
