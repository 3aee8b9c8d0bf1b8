// Captures at full speed that are larger than their memory budget, and saves while they go on. Sizes beyond 64 MiB by
// choice: ACCELSCOPE_BUDGETS="512 2048" (MiB).
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <random>
#include <sstream>
#include <thread>

#include "capture/sim/output/simulator.h"
#include "core/store/store.h"
#include "tests/support/wait.h"

using namespace accelscope;

namespace {

struct Folder {
  Folder()
      : path(std::filesystem::temp_directory_path() / ("accelscope-budget-" + std::to_string(std::random_device{}()))) {
    std::filesystem::create_directory(path);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
  }
  std::filesystem::path path;
};

// Looks at the store's memory now and then, and ends when it is told to.
class WatchedSink final : public ForwardingSink {
 public:
  WatchedSink(Store& store, const std::atomic<bool>& stop)
      : ForwardingSink(std::make_unique<StoreSink>(store)), store_(store), stop_(stop) {}
  Result<void> append(SealedChunk chunk) override {
    Result<void> appended = ForwardingSink::append(std::move(chunk));
    if (++chunks_ % 16 == 0) most_bytes_ = std::max(most_bytes_, store_.status().memory_bytes);
    events_.store(store_.snapshot()->event_count);
    return appended;
  }
  [[nodiscard]] bool cancelled() const override { return stop_.load(); }
  [[nodiscard]] std::uint64_t most_bytes() const noexcept { return most_bytes_; }
  [[nodiscard]] std::uint64_t events() const noexcept { return events_.load(); }

 private:
  Store& store_;
  const std::atomic<bool>& stop_;
  std::uint64_t chunks_ = 0;
  std::uint64_t most_bytes_ = 0;
  std::atomic<std::uint64_t> events_{0};
};

capture::sim::SimulationOptions at_full_speed(std::uint64_t events) {
  capture::sim::SimulationOptions options;
  options.detail = capture::sim::Detail::slim;
  options.events = events;
  return options;
}

// Every event of every lane under its own number, in chunks that can be read.
std::uint64_t gapless_events(const Store& store) {
  const auto snapshot = store.snapshot();
  std::uint64_t events = 0;
  for (const LaneSnapshot& lane : snapshot->lanes) {
    std::uint64_t next = 0;
    for (std::uint32_t i = 0; i < lane.chunk_count; ++i) {
      REQUIRE(lane.chunk(i).first_ordinal == next);
      next += lane.chunk(i).count;
      const Result<Bytes> bytes = store.read_chunk(lane, i);
      REQUIRE_MESSAGE(bytes.ok(), (bytes.ok() ? "" : bytes.message()));
    }
    CHECK(next == lane.event_count);
    events += next;
  }
  CHECK(events == snapshot->event_count);
  return events;
}

std::vector<std::uint64_t> budgets_mib() {
  std::vector<std::uint64_t> sizes = {64};
  if (const char* chosen = std::getenv("ACCELSCOPE_BUDGETS"); chosen != nullptr) {
    std::istringstream in(chosen);
    for (std::uint64_t size = 0; in >> size;) sizes.push_back(size);
  }
  return sizes;
}

}  // namespace

TEST_CASE("a capture far beyond its memory budget stays within it and writes each byte once") {
  for (const std::uint64_t mib : budgets_mib()) {
    CAPTURE(mib);
    const Folder folder;
    const std::uint64_t budget = mib << 20;
    // At some 4.5 bytes an event, twice the budget.
    const std::uint64_t asked = budget * 2 / 9 * 2;
    Result<std::unique_ptr<Store>> created =
        Store::create({.memory_budget_bytes = budget, .spill_directory = folder.path.string()});
    REQUIRE(created.ok());
    Store& store = **created;
    const std::atomic<bool> stop{false};
    WatchedSink sink(store, stop);
    REQUIRE(capture::sim::simulate(at_full_speed(asked), sink).ok());
    const StoreStatus status = store.status();
    CHECK_FALSE(status.in_memory);
    CHECK(status.lost == 0);
    CHECK(sink.most_bytes() <= budget);
    CHECK(status.file_bytes > budget / 2);
    CHECK(status.file_bytes <= status.chunk_bytes);  // what is in memory, too, was written once or never
    CHECK(gapless_events(store) >= asked);

    const std::string path = (folder.path / "saved.accel").string();
    const Result<void> saved = store.save(path);
    REQUIRE_MESSAGE(saved.ok(), (saved.ok() ? "" : saved.message()));
    const Result<std::unique_ptr<Store>> opened = Store::open_unchanged(path);
    REQUIRE(opened.ok());
    CHECK((*opened)->snapshot()->quality.size() == store.snapshot()->quality.size());
    CHECK(gapless_events(**opened) == store.snapshot()->event_count);
  }
}

TEST_CASE("a save while a capture goes on at full rate ends before it and costs what was there") {
  for (const std::uint64_t budget : {std::uint64_t{0}, std::uint64_t{16} << 20}) {
    CAPTURE(budget);
    const Folder folder;
    Result<std::unique_ptr<Store>> created =
        Store::create({.memory_budget_bytes = budget, .spill_directory = folder.path.string()});
    REQUIRE(created.ok());
    Store& store = **created;
    std::atomic<bool> stop{false};
    WatchedSink sink(store, stop);
    std::atomic<bool> ended{false};
    std::thread source([&] {
      (void)capture::sim::simulate(at_full_speed(1'000'000'000), sink);
      ended = true;
    });
    while (sink.events() < 4'000'000 && !ended) std::this_thread::yield();
    REQUIRE_FALSE(ended);
    const StoreStatus before = store.status();
    const std::uint64_t events_before = store.snapshot()->event_count;
    const std::string path = (folder.path / "saved.accel").string();
    const Result<void> saved = store.save(path);
    const std::uint64_t events_after = store.snapshot()->event_count;
    const bool goes_on = test::step_until([&] { return store.snapshot()->event_count > events_before; }, [] {});
    stop = true;
    source.join();
    REQUIRE_MESSAGE(saved.ok(), (saved.ok() ? "" : saved.message()));
    CHECK(goes_on);
    const Result<std::unique_ptr<Store>> opened = Store::open_unchanged(path);
    REQUIRE(opened.ok());
    const std::uint64_t in_file = gapless_events(**opened);
    CHECK(in_file >= events_before);
    CHECK(in_file <= events_after);
    // The share of what came in between asking and beginning, and half a page for each chunk.
    const double grown = static_cast<double>(in_file) / static_cast<double>(events_before);
    const std::uint64_t all_before = before.chunk_bytes + events_before;  // the index takes about a byte an event
    CHECK(static_cast<double>(std::filesystem::file_size(path)) < 1.2 * grown * static_cast<double>(all_before));
    CHECK(gapless_events(store) >= events_after);
  }
}
