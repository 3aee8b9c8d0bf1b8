// Rooflines and memory hierarchies against adding up every event by itself.
#include "core/analysis/roofline/roofline.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>

#include "core/analysis/roofline/memory_levels.h"
#include "core/scan/chunk_scan.h"
#include "core/search/filter_mask.h"
#include "tests/core/analysis/figures/metrics_session.h"
#include "tests/core/union_length.h"

using namespace accelscope;
using namespace accelscope::analysis;

namespace {

struct NaiveGroup {
  std::uint64_t count = 0;
  double flops = 0, hbm = 0, sbuf = 0;
  std::vector<std::pair<std::int64_t, std::int64_t>> times;
};

void add_time(NaiveGroup& group, const PlainRow& row, const TimeRange& range) {
  group.times.emplace_back(std::max(row.begin, range.begin_ns), std::min(row.end, range.end_ns));
}

[[nodiscard]] bool works(const PlainRow& row) { return row.table == "instruction" && row.name != "EVENT_SEMAPHORE"; }

// By name, of one device.
[[nodiscard]] std::map<std::string, NaiveGroup> naive_groups(const MetricsSession& session, const std::string& device,
                                                             const TimeRange& range, const std::string& only) {
  std::map<std::string, NaiveGroup> groups;
  for (const PlainRow& row : session.rows) {
    if (row.device != device || !works(row) || !range.holds(row.begin, row.end)) continue;
    if (!only.empty() && row.name != only) continue;
    const double share = share_inside(range, row.begin, row.end);
    const bool matrix = row.text("subgroup") == "Tensor";
    const double hbm = static_cast<double>(row.number("hbm_read_bytes"));
    NaiveGroup& group = groups[row.name];
    ++group.count;
    if (row.name == "MATMUL" && row.text("instruction_type") != "TRANSPOSE")
      group.flops += 2 * static_cast<double>(row.number("elements")) * share;
    group.hbm += hbm * share;
    group.sbuf += (hbm + (matrix || hbm > 0 ? 0 : static_cast<double>(row.number("sbuf_write_bytes")))) * share;
    add_time(group, row, range);
  }
  return groups;
}

[[nodiscard]] bool near(double a, double b) {
  return std::abs(a - b) <= 1e-6 * std::max({1.0, std::abs(a), std::abs(b)});
}

void check_points(const MetricsSession& session, const Rooflines& rooflines, const TimeRange& range,
                  const std::string& only) {
  REQUIRE(rooflines.devices.size() == 2);
  for (const Roofline& line : rooflines.devices) {
    REQUIRE(line.memories.size() == 3);
    CHECK(line.memories[0].name == "HBM");
    std::map<std::string, NaiveGroup> expected = naive_groups(session, line.device, range, only);
    std::erase_if(expected, [](const auto& each) { return each.second.flops <= 0 && each.second.sbuf <= 0; });
    REQUIRE(line.points.size() == expected.size());
    for (const RoofPoint& point : line.points) {
      REQUIRE(expected.contains(point.text));
      const NaiveGroup& sum = expected.at(point.text);
      CHECK(point.count == sum.count);
      CHECK(near(point.flops, sum.flops));
      CHECK(near(point.bytes[0], sum.hbm));
      CHECK(near(point.bytes[1], sum.sbuf));
      CHECK(point.busy_ns == length_of_union(sum.times));
    }
    for (std::size_t i = 1; i < line.points.size(); ++i) CHECK(line.points[i - 1].busy_ns >= line.points[i].busy_ns);
  }
}

[[nodiscard]] const LevelPath* path_of(const DeviceLevels& levels, std::string_view from, std::string_view to) {
  const auto found = std::find_if(levels.paths.begin(), levels.paths.end(),
                                  [&](const LevelPath& path) { return path.from == from && path.to == to; });
  return found == levels.paths.end() ? nullptr : &*found;
}

}  // namespace

TEST_CASE("rooflines: operations, bytes and busy time of every name are what adding up every event gives") {
  MetricsSession session(11);
  for (int i = 0; i < 8; ++i) {
    const TimeRange range = i == 0 ? TimeRange{} : session.random_range();
    if (range.empty()) continue;
    const auto found = device_rooflines(session.context(), range, RoofGrouping::name);
    REQUIRE(found.ok());
    check_points(session, **found, range, "");
  }
}

TEST_CASE("rooflines: a filter's events alone count") {
  MetricsSession session(12, 300);
  EventFilter filter;
  filter.terms.push_back({.search = "name=MATMUL"});
  QueryContext query = session.context();
  const auto mask = search::event_mask(query, filter);
  REQUIRE(mask.ok());
  query.mask = *mask;
  const auto found = device_rooflines(query, {}, RoofGrouping::name);
  REQUIRE(found.ok());
  check_points(session, **found, {}, "MATMUL");
}

TEST_CASE("memory levels: bytes of each path, and the time of transfers, are what adding up every event gives") {
  MetricsSession session(13);
  for (int i = 0; i < 8; ++i) {
    const TimeRange range = i == 0 ? TimeRange{} : session.random_range();
    if (range.empty()) continue;
    const auto found = memory_levels(session.context(), range);
    REQUIRE(found.ok());
    REQUIRE((*found)->devices.size() == 2);
    for (const DeviceLevels& levels : (*found)->devices) {
      NaiveGroup all, packets;
      double written = 0;
      std::vector<std::pair<std::int64_t, std::int64_t>> active;
      for (const PlainRow& row : session.rows) {
        if (row.device != levels.device || !range.holds(row.begin, row.end)) continue;
        const double share = share_inside(range, row.begin, row.end);
        if (works(row) || row.table == "dma" || row.table == "cc_op")
          active.emplace_back(std::max(row.begin, range.begin_ns), std::min(row.end, range.end_ns));
        if (row.table == "dma") {
          add_time(packets, row, range);
          if (row.number("transfer_size") <= 64) continue;  // it only signals
          ++packets.count;
          packets.hbm += static_cast<double>(row.number("transfer_size"));
        }
        if (!works(row)) continue;
        all.hbm += static_cast<double>(row.number("hbm_read_bytes")) * share;
        if (row.text("subgroup") != "Tensor" && row.number("hbm_read_bytes") == 0)
          written += static_cast<double>(row.number("sbuf_write_bytes")) * share;
      }
      const std::int64_t active_ns = length_of_union(active);
      CHECK(levels.active_ns == active_ns);
      const LevelPath* read = path_of(levels, "HBM", "SBUF");
      CHECK((read != nullptr) == (all.hbm > 0));
      if (read != nullptr) {
        CHECK(near(read->bytes, all.hbm));
        CHECK(read->by_transfers);
        if (read->busy_ns) CHECK(*read->busy_ns == length_of_union(packets.times));
        if (read->bandwidth) {
          CHECK(near(*read->bandwidth, all.hbm / static_cast<double>(active_ns) * 1e9));
          CHECK(near(*read->share, *read->bandwidth / 410e9));
        }
        CHECK(near(*read->ideal_ns, all.hbm / 410.0));
      }
      const LevelPath* stored = path_of(levels, "Vector", "SBUF");
      CHECK((stored != nullptr) == (written > 0));
      if (stored != nullptr) CHECK(near(stored->bytes, written));
      CHECK(levels.transfer_count == packets.count);
      if (packets.count > 0) CHECK(near(levels.transfers.mean_bytes, packets.hbm / static_cast<double>(packets.count)));
    }
  }
}

TEST_CASE("memory levels: bytes whose transfers do not pass the filter have no bandwidth, rather than a wrong one") {
  MetricsSession session(14, 200);
  EventFilter filter;
  filter.terms.push_back({.search = "name=COPY"});
  QueryContext query = session.context();
  const auto mask = search::event_mask(query, filter);
  REQUIRE(mask.ok());
  query.mask = *mask;
  const auto found = memory_levels(query, {});
  REQUIRE(found.ok());
  const LevelPath* read = path_of((*found)->devices.front(), "HBM", "SBUF");
  REQUIRE(read != nullptr);
  // The queues' events are called "copy": names are compared as they are written.
  CHECK_FALSE(read->bandwidth.has_value());
  CHECK_FALSE(read->share.has_value());
  CHECK_FALSE((*found)->devices.front().note.empty());
}

namespace {

// A device whose maker has no words here: kernels with operations and bytes, copies by their names.
struct PlainDevice {
  std::unique_ptr<Store> store = std::move(Store::create()).value();
  WorkerPool pool{2};
  TaskControl control;
  explicit PlainDevice(const std::function<void(SessionWriter&, TrackNumber kernels, TrackNumber copies)>& fill) {
    StoreSink sink(*store);
    SessionWriter writer(sink);
    writer.set_meta("device.0.name", "NVIDIA A100-SXM4-80GB");
    Schema kernel;
    kernel.name = "kernel";
    kernel.columns = {{.name = "flops", .type = ColumnType::int64, .role = Role::flops},
                      {.name = "bytes", .type = ColumnType::int64, .role = Role::bytes},
                      {.name = "module", .type = ColumnType::text, .role = Role::layer}};
    Schema copy;
    copy.name = "memcpy";
    copy.columns = {{.name = "bytes", .type = ColumnType::int64, .role = Role::bytes}};
    const SchemaNumber kernel_schema = writer.add_schema(kernel), copy_schema = writer.add_schema(copy);
    const TrackNumber kernels =
        writer.add_track({.name = "stream 7", .kind = "stream", .device = "gpu 0", .schema = kernel_schema});
    const TrackNumber copies =
        writer.add_track({.name = "copies", .kind = "dma_queue", .device = "gpu 0", .schema = copy_schema});
    fill(writer, kernels, copies);
    REQUIRE(writer.finish().ok());
  }
  [[nodiscard]] QueryContext context() { return {*store, store->snapshot(), pool, control}; }
};

void add_kernel(SessionWriter& writer, TrackNumber track, std::int64_t at, std::int64_t length, const char* name,
                std::int64_t flops, std::int64_t bytes, const char* layer) {
  Row row = writer.begin_event(track, at, length, writer.intern(name));
  if (flops > 0) row.integer(0, flops);
  if (bytes > 0) row.integer(1, bytes);
  if (*layer != 0) row.text(2, layer);
}

}  // namespace

TEST_CASE("rooflines: layers in a text column, kernels without bytes, and events without a layer are told apart") {
  PlainDevice device([](SessionWriter& writer, TrackNumber kernels, TrackNumber) {
    add_kernel(writer, kernels, 0, 100, "gemm", 4'000'000, 1000, "model/a");
    add_kernel(writer, kernels, 50, 100, "gemm", 2'000'000, 1000, "model/a");  // overlaps: another lane
    add_kernel(writer, kernels, 200, 50, "norm", 0, 500, "model/b");
    add_kernel(writer, kernels, 300, 50, "hidden", 7, 0, "model/c");
    add_kernel(writer, kernels, 400, 50, "loose", 1, 1, "");
  });
  CHECK(usual_grouping(*device.store->snapshot()) == RoofGrouping::layer);
  const auto found = device_rooflines(device.context(), {}, RoofGrouping::layer);
  REQUIRE(found.ok());
  REQUIRE((*found)->devices.size() == 1);
  const Roofline& line = (*found)->devices.front();
  CHECK(line.without_key == 1);
  REQUIRE(line.points.size() == 3);
  const RoofPoint& busiest = line.points.front();
  CHECK(busiest.text == "model/a");
  CHECK(busiest.busy_ns == 150);
  CHECK(busiest.intensity(0) == doctest::Approx(3000));
  CHECK(busiest.rate() == doctest::Approx(6e6 / 150e-9));
  CHECK(busiest.stretch == TimeRange{0, 150});
  const Roofline::Unplaced rest = line.unplaced(0);
  CHECK(rest.without_flops == 1);
  CHECK(rest.flops_example == "model/b");
  CHECK(rest.without_bytes == 1);
  CHECK(rest.bytes_example == "model/c");
}

TEST_CASE("rooflines: a layer's own row counts as far as the device works, and not while the run idles") {
  PlainDevice device([](SessionWriter& writer, TrackNumber kernels, TrackNumber) {
    Schema rows;
    rows.name = "layer";
    const TrackNumber layers =
        writer.add_track({.name = "Layers", .kind = "layer", .device = "gpu 0", .schema = writer.add_schema(rows)});
    writer.begin_event(layers, 0, 1'000'000, writer.intern("model/a"));
    add_kernel(writer, kernels, 500'000, 100, "gemm", 1000, 10, "model/a");
    add_kernel(writer, kernels, 600'000, 40, "norm", 1000, 10, "model/b");
  });
  // The layers of kernels are texts without a number; the row's name is one of the session's strings.
  const auto found = device_rooflines(device.context(), {}, RoofGrouping::layer);
  REQUIRE(found.ok());
  const Roofline& line = (*found)->devices.front();
  REQUIRE(line.points.size() == 2);
  CHECK(line.points[0].text == "model/a");
  CHECK(line.points[0].busy_ns == 140);  // under way while the other layer's kernel runs
  CHECK(line.points[1].busy_ns == 40);
}

TEST_CASE("memory levels: copies go where their names say, and the busiest link is the one that limits") {
  PlainDevice device([](SessionWriter& writer, TrackNumber kernels, TrackNumber copies) {
    add_kernel(writer, kernels, 0, 10, "gemm", 1000, 0, "");
    const auto copy = [&](std::int64_t at, const char* name, std::int64_t bytes) {
      writer.begin_event(copies, at, 1000, writer.intern(name)).integer(0, bytes);
    };
    copy(1000, "Memcpy HtoD (Pageable -> Device)", 28'000);
    copy(2000, "Memcpy DtoH (Device -> Pinned)", 1'000);
    copy(3000, "Memcpy DtoD (Device -> Device)", 2'000);
  });
  const auto found = memory_levels(device.context(), {});
  REQUIRE(found.ok());
  const DeviceLevels& levels = (*found)->devices.front();
  CHECK(levels.peaks.model == "NVIDIA A100-SXM4-80GB");
  const LevelPath* up = path_of(levels, "Host", "Device memory");
  REQUIRE(up != nullptr);
  CHECK(up->bytes == 28'000);
  CHECK(*up->busy_ns == 1000);
  CHECK(levels.active_ns == 3010);
  CHECK(*up->peak_value == doctest::Approx(31.5e9));
  REQUIRE(path_of(levels, "Device memory", "Host") != nullptr);
  const LevelPath* within = path_of(levels, "Device memory", "Device memory");
  REQUIRE(within != nullptr);
  CHECK(*within->share == doctest::Approx(2 * *within->bandwidth / 2039e9));  // read and written
  CHECK_FALSE(up->limiting);                                                  // 29.5 % of the link
  CHECK(levels.reason.starts_with("nothing is near its peak"));
  // Alone in its time the copy runs at 89 % of the link.
  const auto alone = memory_levels(device.context(), {1000, 2000});
  REQUIRE(alone.ok());
  const LevelPath* limits = path_of((*alone)->devices.front(), "Host", "Device memory");
  REQUIRE(limits != nullptr);
  CHECK(limits->limiting);
  CHECK((*alone)->devices.front().reason.find("of the peak of link to the host") != std::string::npos);
  // And with a link that is entered as ten times as fast it does not.
  const auto faster = memory_levels(device.context(), {1000, 2000}, {{"NVIDIA A100-SXM4-80GB", "link", 315e9}});
  REQUIRE(faster.ok());
  CHECK_FALSE(path_of((*faster)->devices.front(), "Host", "Device memory")->limiting);
}

TEST_CASE("memory levels: what limits is not known where kernels state no bytes, however little the copies move") {
  PlainDevice device([](SessionWriter& writer, TrackNumber kernels, TrackNumber copies) {
    add_kernel(writer, kernels, 0, 10'000, "gemm", 1000, 0, "");
    writer.begin_event(copies, 20'000, 1000, writer.intern("Memcpy HtoD (Pageable -> Device)")).integer(0, 100);
  });
  const auto found = memory_levels(device.context(), {});
  REQUIRE(found.ok());
  CHECK((*found)->devices.front().reason ==
        "what limits is not known: work that is under way for 90.9 % of the time states no bytes");
  // The copy by itself is told of as ever.
  const auto alone = memory_levels(device.context(), {20'000, 21'000});
  REQUIRE(alone.ok());
  CHECK((*alone)->devices.front().reason.starts_with("nothing is near its peak"));
}

TEST_CASE("rooflines: nothing comes of a session without events or without a device") {
  PlainDevice empty([](SessionWriter&, TrackNumber, TrackNumber) {});
  const auto rooflines = device_rooflines(empty.context(), {}, RoofGrouping::name);
  REQUIRE(rooflines.ok());
  for (const Roofline& line : (*rooflines)->devices) CHECK(line.points.empty());
  const auto levels = memory_levels(empty.context(), {});
  REQUIRE(levels.ok());
  for (const DeviceLevels& each : (*levels)->devices) CHECK(each.paths.empty());
}

TEST_CASE("ceilings: the roof is the lower of the two peaks, and small transfers lower it by what each costs") {
  PeakList peaks;
  const auto add = [&](const char* what, Unit unit, double value) {
    peaks.all.push_back({.what = what, .title = std::string("Compute, ") + what, .unit = unit, .value = value});
  };
  add("bf16", kFlopsPerSecond, 80e12);
  add("fp32", kFlopsPerSecond, 20e12);
  add("hbm", kBytesPerSecond, 400e9);
  const TransferSize small{.mean_bytes = 800, .cost_bytes = 800, .mover = "DMA", .word = "descriptors"};
  const auto ceilings = roof_ceilings(peaks, {"HBM", "hbm"}, small);
  CHECK(*roof_at(ceilings, 10) == doctest::Approx(4e12));
  CHECK(*roof_at(ceilings, 1000) == doctest::Approx(80e12));
  const auto limit = std::find_if(ceilings.begin(), ceilings.end(),
                                  [](const RoofCeiling& each) { return each.kind == RoofCeiling::Kind::limit; });
  REQUIRE(limit != ceilings.end());
  CHECK(limit->value == doctest::Approx(200e9));
  CHECK(limit->title == "DMA, 800 B descriptors");
  CHECK(std::count_if(ceilings.begin(), ceilings.end(),
                      [](const RoofCeiling& each) { return each.kind == RoofCeiling::Kind::other; }) == 1);
  CHECK_FALSE(roof_at({}, 10).has_value());
  // The vendor's two measurements are met within 6 %.
  CHECK(transfer_share({.mean_bytes = 1024, .cost_bytes = 800}) * 435 == doctest::Approx(259).epsilon(0.06));
  CHECK(transfer_share({.mean_bytes = 4096, .cost_bytes = 800}) * 435 == doctest::Approx(354).epsilon(0.06));
}
