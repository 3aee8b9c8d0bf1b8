#include "capture/sources/base/record_sorter.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <random>
#include <tuple>
#include <vector>

namespace accelscope::capture::sources {
namespace {

struct SortedRecord {
  std::uint64_t key = 0;
  std::int64_t second = 0;
};
struct ByKeyAndSecond {
  static std::uint64_t first_word(const SortedRecord& record) noexcept { return record.key; }
  static bool before(const SortedRecord& a, const SortedRecord& b) noexcept {
    return std::tie(a.key, a.second) < std::tie(b.key, b.second);
  }
};

TEST_CASE("record sorter: as many records as do not fit in a batch come out as one sort would have them") {
  std::mt19937_64 random(11);
  for (const std::size_t count : {0U, 1U, 2U, 7U, 100U, 1000U, 20'000U}) {
    for (const std::uint64_t keys : {1ULL, 50ULL, 1ULL << 20U, ~0ULL}) {
      // A batch of 64 records: some hundred runs.
      RecordSorter<SortedRecord, ByKeyAndSecond> sorter(64 * sizeof(SortedRecord));
      std::vector<SortedRecord> expected;
      for (std::size_t i = 0; i < count; ++i) {
        expected.push_back({random() % keys, static_cast<std::int64_t>(random() % 1000) - 500});
        sorter.add(expected.back());
      }
      CHECK(sorter.size() == count);
      std::sort(expected.begin(), expected.end(), ByKeyAndSecond::before);
      std::size_t at = 0, wrong = 0;
      const Result<void> done = sorter.merge([&](const SortedRecord& record) {
        const bool same =
            at < expected.size() && record.key == expected[at].key && record.second == expected[at].second;
        wrong += same ? 0 : 1;
        ++at;
        return true;
      });
      CHECK(done.ok());
      CHECK(at == count);
      CHECK(wrong == 0);
    }
  }
}

TEST_CASE("record sorter: whoever has seen enough may stop") {
  for (const std::size_t batch : {std::size_t{64}, std::size_t{1} << 20U}) {
    RecordSorter<SortedRecord, ByKeyAndSecond> sorter(batch);
    for (std::uint64_t i = 0; i < 1000; ++i) sorter.add({i * 7 % 1000, 0});
    std::uint64_t seen = 0;
    CHECK(sorter.merge([&](const SortedRecord& record) { return record.key == seen && ++seen < 10; }).ok());
    CHECK(seen == 10);
  }
}

}  // namespace
}  // namespace accelscope::capture::sources
