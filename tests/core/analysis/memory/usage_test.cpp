#include "core/analysis/memory/usage.h"

#include <doctest/doctest.h>

#include <map>
#include <random>
#include <set>

#include "core/chunk/session_writer.h"

using namespace accelscope;
using namespace accelscope::analysis;

namespace {

struct Lifetime {
  std::string pool, tensor;
  std::uint64_t bytes;
  std::int64_t begin;
  std::int64_t end;  // max: never released
  bool operator<(const Lifetime& o) const {
    return std::tie(begin, pool, tensor, bytes, end) < std::tie(o.begin, o.pool, o.tensor, o.bytes, o.end);
  }
};

constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();

enum class MatchBy { address, key, tensor };

// Allocations and releases of two pools, as a source would state them, and their lifetimes.
class RandomMemory {
 public:
  RandomMemory(std::uint32_t seed, MatchBy match) : random_(seed), match_(match) {
    auto created = Store::create();
    REQUIRE(created.ok());
    store = std::move(created).value();
    StoreSink sink(*store);
    SessionWriter writer(sink);
    const SchemaNumber schema =
        writer.add_schema({.name = "memory",
                           .kind = EventKind::memory,
                           .columns = {{.name = "size", .type = ColumnType::int64, .role = Role::allocation},
                                       {.name = "address", .type = ColumnType::uint64, .role = Role::address},
                                       {.name = "handle", .type = ColumnType::uint64, .role = Role::key},
                                       {.name = "tensor", .type = ColumnType::string, .role = Role::tensor},
                                       {.name = "pool", .type = ColumnType::string, .role = Role::pool}}});
    const TrackNumber track = writer.add_track({.name = "Memory", .kind = "memory", .schema = schema});
    std::vector<std::size_t> alive;
    std::int64_t at = 100;
    for (int i = 0; i < 3000; ++i) {
      at += static_cast<std::int64_t>(random_() % 4);
      const bool release = !alive.empty() && random_() % 100 < 48;
      Row row = writer.begin_event(track, at, 0, writer.intern(release ? "free" : "alloc"));
      if (release) {
        const std::size_t place = random_() % alive.size();
        Lifetime& lifetime = lifetimes[alive[place]];
        lifetime.end = at;
        write(writer, row, lifetime, alive[place], -static_cast<std::int64_t>(lifetime.bytes));
        alive[place] = alive.back();
        alive.pop_back();
      } else {
        // With tensors alone equal sizes could not be told apart.
        const std::uint64_t bytes =
            match_ == MatchBy::tensor ? 1000 + static_cast<std::uint64_t>(i) : 1 + random_() % 5000;
        lifetimes.push_back(
            {random_() % 2 == 0 ? "HBM" : "SBUF", "t" + std::to_string(random_() % 30), bytes, at, kNever});
        write(writer, row, lifetimes.back(), lifetimes.size() - 1, static_cast<std::int64_t>(bytes));
        alive.push_back(lifetimes.size() - 1);
      }
    }
    end = at;
    REQUIRE(writer.finish().ok());
    TaskControl control;
    auto result = memory_usage({*store, store->snapshot(), pool, control});
    REQUIRE(result.ok());
    usage = *result;
  }

  [[nodiscard]] std::uint64_t used(const std::string& name, const std::string& tensor, std::int64_t ns) const {
    std::uint64_t sum = 0;
    for (const Lifetime& l : lifetimes) {
      if (l.pool == name && (tensor.empty() || l.tensor == tensor) && l.begin <= ns && ns < l.end) sum += l.bytes;
    }
    return sum;
  }

  std::unique_ptr<Store> store;
  WorkerPool pool{2};
  std::vector<Lifetime> lifetimes;
  std::int64_t end = 0;
  std::shared_ptr<const MemoryUsage> usage;

 private:
  void write(SessionWriter& writer, Row& row, const Lifetime& lifetime, std::size_t number, std::int64_t bytes) {
    row.integer(0, bytes);
    if (match_ == MatchBy::address) row.unsigned_integer(1, 0x1000 + number * 64);
    if (match_ == MatchBy::key) row.unsigned_integer(2, number);
    row.string(3, writer.intern(lifetime.tensor));
    row.string(4, writer.intern(lifetime.pool));
  }

  std::mt19937_64 random_;
  MatchBy match_;
};

}  // namespace

TEST_CASE("allocations live until their release, found by address, by key, or by tensor and size") {
  for (const MatchBy match : {MatchBy::address, MatchBy::key, MatchBy::tensor}) {
    const RandomMemory memory(51 + static_cast<std::uint32_t>(match), match);
    const MemoryUsage& usage = *memory.usage;
    std::multiset<Lifetime> found;
    for (const Allocation& a : usage.allocations) {
      found.insert({usage.pools[a.pool].name, usage.tensors[a.tensor], a.bytes, a.begin_ns, a.end_ns.value_or(kNever)});
      CHECK((a.release != kNoEvent) == a.end_ns.has_value());
    }
    const std::multiset<Lifetime> expected(memory.lifetimes.begin(), memory.lifetimes.end());
    REQUIRE(found.size() == expected.size());
    CHECK(std::equal(found.begin(), found.end(), expected.begin(),
                     [](const Lifetime& a, const Lifetime& b) { return !(a < b) && !(b < a); }));
    CHECK(usage.unmatched_releases == 0);
    CHECK(usage.implied_releases == 0);
  }
}

TEST_CASE("the use of a pool, its peak and what is alive agree with the lifetimes at any time") {
  const RandomMemory memory(61, MatchBy::address);
  const MemoryUsage& usage = *memory.usage;
  for (const char* name : {"HBM", "SBUF"}) {
    const auto pool = usage.find_pool(name);
    REQUIRE(pool.has_value());
    std::uint64_t peak = 0;
    std::int64_t peak_ns = 0;
    for (std::int64_t ns = 90; ns < memory.end + 10; ++ns) {
      const std::uint64_t expected = memory.used(name, "", ns);
      CHECK(usage.used_at(*pool, ns) == expected);
      if (expected > peak) {
        peak = expected;
        peak_ns = ns;
      }
    }
    CHECK(usage.pools[*pool].peak_bytes == peak);
    CHECK(usage.pools[*pool].peak_ns == peak_ns);
    std::uint64_t sum = 0;
    std::uint64_t last = ~std::uint64_t{0};
    for (const std::uint32_t index : usage.alive_at(*pool, peak_ns)) {
      CHECK(usage.allocations[index].bytes <= last);
      last = usage.allocations[index].bytes;
      sum += last;
    }
    CHECK(sum == peak);
    for (const std::uint32_t index : usage.alive_at(*pool, peak_ns, 4000))
      CHECK(usage.allocations[index].bytes >= 4000);
  }
  CHECK_FALSE(usage.find_pool("PSUM").has_value());
}

TEST_CASE("the stacked plot shows every pixel's peak and who held it") {
  const RandomMemory memory(62, MatchBy::address);
  const MemoryUsage& usage = *memory.usage;
  const std::uint32_t pool = *usage.find_pool("HBM");
  const TimeRange ranges[] = {{50, memory.end + 50}, {1000, 1900}, {2000, 2010}, {memory.end + 5, memory.end + 9}};
  for (const TimeRange& range : ranges) {
    for (const std::size_t pixels : {std::size_t{1}, std::size_t{7}, std::size_t{64}}) {
      const StackedUsage stack = usage.stacked(pool, range, pixels, 8);
      REQUIRE(stack.total.size() == pixels);
      CHECK(stack.names.size() <= 9);
      const double pixel_ns = static_cast<double>(range.length_ns()) / static_cast<double>(pixels);
      for (std::size_t pixel = 0; pixel < pixels; ++pixel) {
        const auto begin = range.begin_ns + static_cast<std::int64_t>(pixel_ns * static_cast<double>(pixel));
        const auto end = range.begin_ns + static_cast<std::int64_t>(pixel_ns * static_cast<double>(pixel + 1));
        std::uint64_t peak = memory.used("HBM", "", begin);
        for (std::int64_t ns = begin; ns < end; ++ns) peak = std::max(peak, memory.used("HBM", "", ns));
        CHECK(stack.total[pixel] == peak);
        std::uint64_t sum = 0;
        for (const auto& series : stack.values) sum += series[pixel];
        CHECK(sum == peak);
      }
    }
  }
  const StackedUsage few = usage.stacked(pool, ranges[0], 50, 100, 4990);
  for (const std::string& name : few.names) {
    if (name == "other") continue;
    CHECK(std::any_of(memory.lifetimes.begin(), memory.lifetimes.end(),
                      [&](const Lifetime& l) { return l.pool == "HBM" && l.tensor == name && l.bytes >= 4990; }));
  }
  CHECK(few.names.back() == "other");
}

TEST_CASE("memory that is handed out twice or released without cause is counted, not lost") {
  auto store = Store::create();
  REQUIRE(store.ok());
  StoreSink sink(**store);
  SessionWriter writer(sink);
  const SchemaNumber schema =
      writer.add_schema({.name = "memory",
                         .kind = EventKind::memory,
                         .columns = {{.name = "size", .type = ColumnType::int64, .role = Role::allocation},
                                     {.name = "address", .type = ColumnType::uint64, .role = Role::address}}});
  const TrackNumber track = writer.add_track({.name = "HBM", .kind = "memory", .schema = schema});
  const auto add = [&](std::int64_t at, std::int64_t duration, std::int64_t bytes, std::uint64_t address) {
    Row row = writer.begin_event(track, at, duration, writer.intern("weights"));
    row.integer(0, bytes);
    row.unsigned_integer(1, address);
  };
  add(10, 0, 100, 1);
  add(20, 0, 200, 1);
  add(30, 0, -300, 2);
  add(40, 15, 50, 3);  // an event with a duration lives as long
  REQUIRE(writer.finish().ok());
  WorkerPool pool(1);
  TaskControl control;
  const auto usage = memory_usage({**store, (*store)->snapshot(), pool, control});
  REQUIRE(usage.ok());
  CHECK((*usage)->implied_releases == 1);
  CHECK((*usage)->unmatched_releases == 1);
  REQUIRE((*usage)->pools.size() == 1);
  CHECK((*usage)->pools[0].name == "HBM");
  CHECK((*usage)->used_at(0, 15) == 100);
  CHECK((*usage)->used_at(0, 25) == 200);
  CHECK((*usage)->used_at(0, 54) == 250);
  CHECK((*usage)->used_at(0, 55) == 200);
}
