// Sorts any number of small records of one size with bounded memory: batches are sorted on a thread of their own while
// the next one fills, and lie in a temporary file; merge() goes through all of them at once. What fits in one batch
// stays in memory. For rows of a table with columns there is EventSorter.
//
//   struct ByTime {  // first_word() must not order two records against before()
//     static std::uint64_t first_word(const Sample& sample) noexcept { return sample.ns; }
//     static bool before(const Sample& a, const Sample& b) noexcept { return std::tie(a.ns, a.id) < ...; }
//   };
//   RecordSorter<Sample, ByTime> sorter;
//   sorter.add(sample);
//   sorter.merge([&](const Sample& sample) { ... });
//
// Records of which none is before the other come in any order.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <future>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "capture/sources/base/source_finder.h"

namespace accelscope::capture::sources {

template <typename Record, typename Order>
class RecordSorter {
  static_assert(std::is_trivially_copyable_v<Record>);

 public:
  static constexpr std::size_t kBatchBytes = 8U << 20;  // three or four of them exist at a time
  explicit RecordSorter(std::size_t batch_bytes = kBatchBytes)
      : most_(std::max<std::size_t>(2, batch_bytes / sizeof(Record))) {}
  ~RecordSorter() {
    if (pending_.valid()) pending_.wait();
  }
  RecordSorter(const RecordSorter&) = delete;
  RecordSorter& operator=(const RecordSorter&) = delete;

  void add(const Record& record) {
    batch_.push_back(record);
    ++size_;
    if (batch_.size() >= most_) start_run();
  }
  [[nodiscard]] std::uint64_t size() const noexcept { return size_; }

  // Hands out every record in order and ends the sorter. The visitor may return false to stop.
  template <typename Visit>
  [[nodiscard]] Result<void> merge(Visit visit) {
    if (Result<void> done = wait_for_run(); !done) return done;
    sort(batch_);
    if (runs_.empty()) {
      for (const Record& record : batch_) {
        if (!visit(record)) break;
      }
      batch_ = {};
      return {};
    }
    return merge_runs(visit);
  }

 private:
  struct Run {
    std::uint64_t next = 0;  // in the file
    std::uint64_t left = 0;  // records there
    std::vector<Record> records;
    std::size_t at = 0;
  };
  struct Key {
    std::uint64_t word;
    std::uint32_t index;
  };

  void start_run() {
    status_ = wait_for_run();
    std::swap(batch_, sorting_);
    batch_.clear();
    batch_.reserve(sorting_.size());
    if (!status_) return;
    pending_ = std::async(std::launch::async, [this]() -> Result<void> {
      sort(sorting_);
      const std::uint64_t begin = TRY(file_.append(std::as_bytes(std::span<const Record>(sorting_))));
      runs_.push_back({begin, sorting_.size(), {}, 0});
      return {};
    });
  }

  [[nodiscard]] Result<void> wait_for_run() {
    if (!pending_.valid()) return status_;
    Result<void> done = pending_.get();
    return status_.ok() ? done : status_;
  }

  // By bytes of the first word, least first; then those that share it among themselves.
  static void sort(std::vector<Record>& records) {
    if (std::is_sorted(records.begin(), records.end(), Order::before)) return;
    constexpr std::size_t kBytes = 8, kValues = 256;
    std::vector<Key> keys(records.size()), other(records.size());
    std::array<std::array<std::uint32_t, kValues>, kBytes> counts = {};
    for (std::uint32_t i = 0; i < keys.size(); ++i) {
      keys[i] = {Order::first_word(records[i]), i};
      for (std::size_t byte = 0; byte < kBytes; ++byte) ++counts[byte][keys[i].word >> (8 * byte) & 0xffU];
    }
    for (std::size_t byte = 0; byte < kBytes; ++byte) {
      if (counts[byte][keys[0].word >> (8 * byte) & 0xffU] == keys.size()) continue;  // all alike
      std::uint32_t begin = 0;
      for (std::uint32_t& count : counts[byte]) begin += std::exchange(count, begin);
      for (const Key& key : keys) other[counts[byte][key.word >> (8 * byte) & 0xffU]++] = key;
      std::swap(keys, other);
    }
    std::vector<Record> sorted;
    sorted.reserve(records.size());
    for (const Key& key : keys) sorted.push_back(records[key.index]);
    std::swap(records, sorted);
    for (std::size_t first = 0; first < keys.size();) {
      std::size_t next = first + 1;
      while (next < keys.size() && keys[next].word == keys[first].word) ++next;
      const auto begin = records.begin() + static_cast<std::ptrdiff_t>(first);
      const auto end = records.begin() + static_cast<std::ptrdiff_t>(next);
      if (next - first > 1 && !std::is_sorted(begin, end, Order::before)) std::sort(begin, end, Order::before);
      first = next;
    }
  }

  // False at the end of the run.
  [[nodiscard]] Result<bool> fill(Run& run) {
    constexpr std::size_t kReadBytes = 128U << 10;
    const auto count = static_cast<std::size_t>(
        std::min<std::uint64_t>(run.left, std::max<std::size_t>(1, kReadBytes / sizeof(Record))));
    if (count == 0) return false;
    run.records.resize(count);
    TRY(file_.read(run.next, std::as_writable_bytes(std::span(run.records))));
    run.next += count * sizeof(Record);
    run.left -= count;
    run.at = 0;
    return true;
  }

  template <typename Visit>
  [[nodiscard]] Result<void> merge_runs(Visit& visit) {
    if (!batch_.empty()) runs_.push_back({0, 0, std::move(batch_), 0});
    sorting_ = {};
    std::vector<Run*> heap;
    const auto later = [](const Run* a, const Run* b) { return Order::before(b->records[b->at], a->records[a->at]); };
    for (Run& run : runs_) {
      if (run.records.empty()) {
        TRY(fill(run));
      }
      heap.push_back(&run);
    }
    std::make_heap(heap.begin(), heap.end(), later);
    while (!heap.empty()) {
      std::pop_heap(heap.begin(), heap.end(), later);
      Run& run = *heap.back();
      const Run* const next = heap.size() > 1 ? heap.front() : nullptr;
      bool more = true;
      do {
        if (!visit(run.records[run.at])) return {};
        if (++run.at < run.records.size()) continue;
        const bool any = TRY(fill(run));
        more = any;
      } while (more && (next == nullptr || !Order::before(next->records[next->at], run.records[run.at])));
      if (more) {
        std::push_heap(heap.begin(), heap.end(), later);
      } else {
        run.records = {};
        heap.pop_back();
      }
    }
    return {};
  }

  std::size_t most_;
  std::uint64_t size_ = 0;
  std::vector<Record> batch_, sorting_;
  std::future<Result<void>> pending_;
  std::vector<Run> runs_;
  TemporaryFile file_;
  Result<void> status_;
};

}  // namespace accelscope::capture::sources
