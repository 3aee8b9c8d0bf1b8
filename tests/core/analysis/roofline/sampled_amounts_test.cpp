// Rooflines of kernels that state nothing, from counters that were sampled meanwhile.
#include "core/analysis/roofline/sampled_amounts.h"

#include <doctest/doctest.h>

#include <map>

#include "core/analysis/roofline/memory_levels.h"
#include "core/analysis/roofline/roofline.h"
#include "core/chunk/session_writer.h"
#include "core/model/column_spec.h"
#include "core/search/filter_mask.h"

using namespace accelscope;
using namespace accelscope::analysis;

namespace {

using namespace columns;

struct Kernel {
  const char* name;
  std::int64_t begin, end;
  TrackNumber stream = 0;
};
struct SampledSession {
  // Samples of 100 ns from 0 on, in FLOP/ns and B/ns.
  SampledSession(const std::vector<Kernel>& kernels, const std::vector<double>& flops,
                 const std::vector<double>& bytes) {
    StoreSink sink(*store);
    SessionWriter writer(sink);
    const SchemaNumber kernel = writer.add_schema(make_schema({"kernel", EventKind::slice}));
    const SchemaNumber counter = writer.add_schema(
        make_schema({"counter", EventKind::counter}, {{.name = "value", .type = kReal, .role = Role::value}}));
    TrackNumber streams[2];
    for (int i = 0; i < 2; ++i) {
      streams[i] = writer.add_track(
          {.name = "stream " + std::to_string(i), .kind = "stream", .device = "GPU 0", .schema = kernel});
    }
    for (const Kernel& each : kernels)
      (void)writer.begin_event(streams[each.stream], each.begin, each.end - each.begin, writer.intern(each.name));
    const auto add = [&](const char* name, const char* unit, const std::vector<double>& values) {
      if (values.empty()) return;
      const TrackNumber track =
          writer.add_track({.name = name, .kind = "counter", .device = "GPU 0", .unit = unit, .schema = counter});
      for (std::size_t i = 0; i < values.size(); ++i)
        writer.sample(track, static_cast<std::int64_t>(i) * 100, values[i] * 1e9);
    };
    add("Tensor Operations", "FLOP/s", flops);
    add("DRAM Read Bandwidth", "B/s", bytes);
    add("PCIe Read Bandwidth", "B/s", bytes);  // no traffic of the memory
    REQUIRE(writer.finish().ok());
    snapshot = store->snapshot();
  }
  [[nodiscard]] std::map<std::string, RoofPoint> points(const char* search = "", const TimeRange& range = {}) {
    QueryContext query{*store, snapshot, pool, control};
    if (*search != '\0') {
      EventFilter filter;
      filter.terms.push_back({.search = search});
      query.mask = search::event_mask(query, filter).value();
    }
    const auto found = device_rooflines(query, range, RoofGrouping::name).value();
    REQUIRE(found->devices.size() == 1);
    is_sampled = found->devices[0].is_sampled;
    std::map<std::string, RoofPoint> by_name;
    for (const RoofPoint& point : found->devices[0].points) by_name[point.text] = point;
    return by_name;
  }

  std::unique_ptr<Store> store = Store::create().value();
  std::shared_ptr<const Snapshot> snapshot;
  WorkerPool pool{2};
  TaskControl control;
  bool is_sampled = false;
};

}  // namespace

TEST_CASE("kernels that state no operations have those that counters sampled while they ran") {
  // The second sample is the gemm's alone, though it is busy for a half of it; the third is shared by time.
  SampledSession session({{"gemm", 0, 150}, {"gemm", 200, 260}, {"norm", 270, 290}}, {4, 2, 1, 9}, {1, 1, 3, 9});
  const auto points = session.points();
  REQUIRE(points.size() == 2);
  CHECK(points.at("gemm").flops == doctest::Approx(400 + 200 + 100 * 0.75));
  CHECK(points.at("gemm").bytes[0] == doctest::Approx(100 + 100 + 300 * 0.75));
  CHECK(points.at("gemm").busy_ns == 210);
  CHECK(points.at("gemm").count == 2);
  CHECK(points.at("norm").flops == doctest::Approx(100 * 0.25));
  CHECK(points.at("norm").is_placed(0));
  CHECK(session.is_sampled);
}

TEST_CASE("kernels that run at once share what was sampled, and a filter takes nothing over from the others") {
  SampledSession session({{"copy", 0, 100}, {"gemm", 50, 100, 1}}, {8, 0}, {8, 0});
  for (const char* search : {"", "name=gemm"}) {
    CAPTURE(search);
    const auto points = session.points(search);
    CHECK(points.at("gemm").flops == doctest::Approx(200));
    CHECK(points.count("copy") == (*search == '\0' ? 1 : 0));
  }
  CHECK(session.points().at("copy").flops == doctest::Approx(600));
}

TEST_CASE("a range takes of samples what lies in it, and a gap between samples is filled with nothing") {
  SampledSession session({{"gemm", 0, 1000}}, {4, 4, 4, 4}, {2, 2, 2, 2});
  CHECK(session.points().at("gemm").flops == doctest::Approx(1600));
  CHECK(session.points("", {150, 250}).at("gemm").flops == doctest::Approx(400));
  CHECK(session.points("", {150, 250}).at("gemm").busy_ns == 100);
}

TEST_CASE("without counters kernels that state nothing stay out of rooflines") {
  SampledSession session({{"gemm", 0, 1000}}, {}, {});
  CHECK(session.points().empty());
  CHECK_FALSE(session.is_sampled);
}

TEST_CASE("memory levels: what limits kernels that state no bytes is told by counters of the device's memory") {
  // An H100 reads 3.35 TB/s at most. Written down before: the copy kernel runs for 200 ns at 3.082 TB/s, which is 92 %
  // of that, so memory bounds it; the product runs as long at 0.335 TB/s, 10 %, and both together at 51 %.
  SampledSession session({{"copy", 0, 200}, {"gemm", 200, 400}}, {}, {3082, 3082, 335, 335});
  const auto levels_of = [&](const TimeRange& range) {
    const QueryContext query{*session.store, session.snapshot, session.pool, session.control};
    return memory_levels(query, range, {{"GPU 0", "hbm", 3.35e12}}).value()->devices.at(0);
  };
  const DeviceLevels copy = levels_of({0, 200});
  REQUIRE(copy.paths.size() == 1);
  CHECK(copy.is_sampled);
  CHECK(copy.paths[0].from == "Device memory");
  CHECK(copy.paths[0].bytes == doctest::Approx(3082.0 * 200));
  CHECK(copy.paths[0].share.value() == doctest::Approx(0.92));
  CHECK(copy.paths[0].limiting);
  CHECK(copy.reason == "92.0 % of the peak of device memory");
  const DeviceLevels product = levels_of({200, 400});
  REQUIRE(product.paths.size() == 1);
  CHECK(product.paths[0].share.value() == doctest::Approx(0.1));
  CHECK_FALSE(product.paths[0].limiting);
  CHECK(product.reason == "nothing is near its peak: at most 10.0 % of the peak of device memory");
  CHECK(levels_of({}).paths[0].share.value() == doctest::Approx(0.51));
}
