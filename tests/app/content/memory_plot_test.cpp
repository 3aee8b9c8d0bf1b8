// What the memory panel's plots draw, against the plain figures it is made from.
#include <doctest/doctest.h>

#include <random>

#include "app/content/memory/plot_data.h"

using namespace accelscope;
using namespace accelscope::app::content;
using namespace accelscope::app;

namespace {

std::shared_ptr<const analysis::MemoryUsage> random_usage(unsigned seed) {
  std::mt19937 random(seed);
  auto usage = std::make_shared<analysis::MemoryUsage>();
  usage->snapshot_version = 1;
  usage->tensors = {"a", "b", "c", "d"};
  usage->sites = {""};
  usage->pools.emplace_back().name = "SBUF";
  std::int64_t ns = 0;
  for (int i = 0; i < 200; ++i) {
    ns += std::uniform_int_distribution<std::int64_t>(0, 9)(random);
    analysis::Allocation allocation;
    allocation.event = make_event_id(0, static_cast<std::uint32_t>(i));
    allocation.tensor = std::uniform_int_distribution<std::uint32_t>(0, 3)(random);
    allocation.bytes = std::uniform_int_distribution<std::uint64_t>(1, 1'000)(random);
    allocation.begin_ns = ns;
    if (i % 7 != 0) allocation.end_ns = ns + std::uniform_int_distribution<std::int64_t>(1, 300)(random);
    usage->allocations.push_back(allocation);
  }
  usage->index();
  return usage;
}

analysis::MemoryUsage named_pools(const std::vector<std::string>& names) {
  analysis::MemoryUsage usage;
  for (const std::string& name : names) usage.pools.emplace_back().name = name;
  return usage;
}

}  // namespace

TEST_CASE("memory plot: the stretches that are drawn are the stack, pixel by pixel") {
  for (unsigned seed = 1; seed <= 20; ++seed) {
    const auto usage = random_usage(seed);
    const MemoryPlotKey key{.version = 1, .pool = 0, .range = {20, 1'000}, .pixels = 97, .label_bytes = 200};
    const auto plot = make_memory_plot(usage, key, 1'200);
    REQUIRE(plot->series.size() == plot->stack.names.size());
    std::vector<std::uint64_t> below(key.pixels, 0);
    for (std::size_t i = 0; i < plot->series.size(); ++i) {
      std::vector<std::uint64_t> tops = below;
      for (const UsageRun& run : plot->series[i].areas) {
        for (std::uint32_t pixel = run.begin; pixel < run.end; ++pixel) {
          REQUIRE(run.bottom == below[pixel]);
          tops[pixel] = run.top;
        }
      }
      std::uint64_t most = 0;
      for (std::size_t pixel = 0; pixel < key.pixels; ++pixel) {
        const std::uint64_t held = plot->stack.values[i][pixel];
        most = std::max(most, held);
        REQUIRE(tops[pixel] == below[pixel] + held);
        if (held > 0) REQUIRE(series_at(plot->stack, pixel, below[pixel] + held / 2) == i);
      }
      CHECK(plot->series[i].most == most);
      if (const auto& label = plot->series[i].label) {  // the name stands inside of its area all along
        for (std::uint32_t pixel = label->begin; pixel < label->end; ++pixel) {
          CHECK(below[pixel] <= label->bottom);
          CHECK(tops[pixel] >= label->top);
        }
        CHECK(label->top - label->bottom >= key.label_bytes);
      }
      below = tops;
    }
    std::uint32_t next = 0;
    for (const UsageRun& run : plot->total) {
      CHECK(run.begin == next);
      next = run.end;
      for (std::uint32_t pixel = run.begin; pixel < run.end; ++pixel) {
        CHECK(run.top == plot->stack.total[pixel]);
        CHECK_FALSE(series_at(plot->stack, pixel, plot->stack.total[pixel]).has_value());
      }
    }
    CHECK(next == key.pixels);
  }
}

TEST_CASE("memory pools: parts of one memory are a family in the order of their numbers, others stand alone") {
  const analysis::MemoryUsage usage =
      named_pools({"nc0 SBUF partition 32", "HBM", "nc0 SBUF partition 0", "nc1 SBUF partition 0", "PSUM bank 1x",
                   "PSUM bank 10", "PSUM bank 9", " partition 1"});
  const std::vector<PoolFamily> families = pool_families(usage);
  std::vector<std::string> names;
  for (const PoolFamily& family : families) names.push_back(family.name);
  CHECK(names ==
        std::vector<std::string>{"nc0 SBUF", "HBM", "nc1 SBUF partition 0", "PSUM bank 1x", "PSUM", " partition 1"});
  CHECK(families[0].pools == std::vector<std::uint32_t>{2, 0});
  CHECK(families[0].parts == std::vector<std::string>{"partition 0", "partition 32"});
  CHECK(families[4].pools == std::vector<std::uint32_t>{6, 5});
  CHECK(families[1].parts.empty());
  CHECK(families[2].parts.empty());  // the only one of its memory
}
