#include "app/content/visible_summary.h"

#include <doctest/doctest.h>

#include "core/chunk/session_writer.h"
#include "core/store/store.h"

using namespace accelscope;
using namespace accelscope::app::content;
using namespace accelscope::app;

namespace {

// A training step: a host that launches and waits, a stream, a copy, an allocation, a profiler's span over all.
class Step {
 public:
  Step() {
    const SchemaNumber work = writer_.add_schema({.name = "kernel"});
    const SchemaNumber copy =
        writer_.add_schema({.name = "memcpy", .columns = {{.name = "bytes", .unit = "B", .role = Role::bytes}}});
    const SchemaNumber call = writer_.add_schema({.name = "runtime_call", .wait_names = {"cudaDeviceSynchronize"}});
    const SchemaNumber operators = writer_.add_schema({.name = "cpu_op"});
    const SchemaNumber mark = writer_.add_schema({.name = "user_annotation"});
    const SchemaNumber memory =
        writer_.add_schema({.name = "memory",
                            .kind = EventKind::memory,
                            .columns = {{.name = "size", .unit = "B", .role = Role::allocation},
                                        {.name = "tensor", .type = ColumnType::string, .role = Role::tensor},
                                        {.name = "pool", .type = ColumnType::string, .role = Role::pool}}});
    const auto host = [&](const char* name, SchemaNumber schema) {
      return writer_.add_track({.name = name, .kind = "host_thread", .host = "python3 (7)", .schema = schema});
    };
    const auto device = [&](const char* name, const char* kind, SchemaNumber schema) {
      return writer_.add_track({.name = name, .kind = kind, .device = "gpu 0", .schema = schema});
    };
    add(host("11 annotations", mark), 0, 10'000, "ProfilerStep#3");
    const TrackNumber ops = host("11 operators", operators), calls = host("11 runtime", call);
    add(ops, 0, 6'000, "aten::linear");
    add(ops, 1'000, 5'000, "aten::addmm", 1);
    add(calls, 6'000, 9'000, "cudaDeviceSynchronize");
    const TrackNumber stream = device("stream 7", "stream", work), second = device("stream 8", "stream", work);
    add(second, 2'000, 3'000, "void at::native::gemm_kernel<float>(float*)");  // beside the same on the other stream
    add(stream, 2'000, 4'000, "void at::native::gemm_kernel<float>(float*)");
    add(second, 3'000, 5'000, "softmax");
    Row moved = writer_.begin_event(device("memcpy stream 7", "dma_queue", copy), 500, 1'000, writer_.intern("HtoD"));
    moved.integer(0, 2'000);
    const SchemaNumber fill =
        writer_.add_schema({.name = "memset", .columns = {{.name = "bytes", .unit = "B", .role = Role::bytes}}});
    Row set = writer_.begin_event(device("memset stream 7", "dma_queue", fill), 800, 700, writer_.intern("fill"));
    set.integer(0, 900'000);
    Row held = writer_.begin_event(device("Memory", "memory", memory), 0, 10'000, writer_.intern("weights"));
    held.integer(0, 4'096);
    held.string(1, writer_.intern("weights"));
    held.string(2, writer_.intern("HBM"));
    REQUIRE(writer_.finish().ok());
  }
  VisibleColumns columns(std::optional<TimeRange> range = {}) {
    EventFilter filter;
    filter.range = range;
    const QueryContext query{*store_, store_->snapshot(), pool_, control_};
    const auto summary = analysis::selection_summary(query, filter);
    const auto memory = analysis::memory_usage(query);
    REQUIRE(summary.ok());
    REQUIRE(memory.ok());
    const auto report =
        analysis::range_report(query, filter, {.index = nullptr, .dependencies = nullptr, .memory = *memory});
    REQUIRE(report.ok());
    return visible_columns(*query.snapshot, VisibleFacts(*query.snapshot), **summary, report->get());
  }

 private:
  void add(TrackNumber track, std::int64_t begin, std::int64_t end, const char* name, std::uint32_t depth = 0) {
    writer_.begin_event_at(track, depth, begin, end - begin, writer_.intern(name));
  }
  std::unique_ptr<Store> store_ = Store::create().value();
  StoreSink sink_{*store_};
  SessionWriter writer_{sink_};
  WorkerPool pool_{2};
  TaskControl control_;
};

const VisibleRow* find_row(const VisibleColumn& column, const std::string& text) {
  for (const VisibleRow& row : column.rows) {
    if (row.text == text) return &row;
  }
  return nullptr;
}

std::string value_of(const VisibleColumn& column, const std::string& text) {
  const VisibleRow* row = find_row(column, text);
  return row == nullptr ? "none" : row->value;
}

}  // namespace

TEST_CASE("visible range: five columns, of which none counts what another one counts") {
  Step step;
  const auto [work, transfers, waits, host, memory] = step.columns();
  CHECK(work.title == "Device work, union");
  CHECK(work.value == "30.0 %");  // 2,000 to 5,000 of 10,000, side by side once
  CHECK(work.rows.size() == 2);
  CHECK(value_of(work, "gemm_kernel") == "2 µs");  // 3 added up, as the head says a union
  CHECK(transfers.title == "Copies, union");
  CHECK(transfers.value == "10.0 %");  // beside the copy a fill, for a part of its time
  CHECK(value_of(transfers, "fill") == "700 ns");
  CHECK(value_of(transfers, "HtoD") == "1 µs");
  CHECK(value_of(transfers, "moved") == "1.953 KiB");   // a fill moves nothing
  CHECK(value_of(transfers, "bandwidth") == "2 GB/s");  // 2,000 B in the 1,000 ns of the copy, not of the view
  CHECK(value_of(waits, "cudaDeviceSynchronize") == "3 µs");
  CHECK(value_of(waits, "gpu 0 idle") == "6 µs");
  CHECK(host.title == "Host, self");
  CHECK(host.value == "60.0 %");  // the waiting call and the annotation do not work
  CHECK(host.rows.size() == 2);
  CHECK(value_of(host, "linear") == "2 µs");
  CHECK(value_of(host, "addmm") == "4 µs");
  CHECK(memory.title.find("HBM") != std::string::npos);
  CHECK(memory.value == "4 KiB");
  CHECK(value_of(memory, "weights") == "4 KiB");
}

TEST_CASE("visible range: what is cut by its edges counts by its part") {
  Step step;
  const auto [work, transfers, waits, host, memory] = step.columns(TimeRange{4'500, 6'500});
  CHECK(work.value == "25.0 %");
  CHECK(work.rows.size() == 1);
  CHECK(transfers.rows.empty());
  CHECK(transfers.empty == "No transfer in view.");
  CHECK(value_of(waits, "cudaDeviceSynchronize") == "500 ns");
  CHECK(value_of(host, "addmm") == "500 ns");
  CHECK(value_of(host, "linear") == "1 µs");
  CHECK(memory.value == "4 KiB");
}

TEST_CASE("visible range: what is not known yet says so, and a row selects its events") {
  Step step;
  const auto columns = step.columns();
  CHECK(columns[0].rows[0].search.starts_with("name="));
  CHECK(columns_text(columns, '\t').find("Device work, union\t30.0 %\n") != std::string::npos);
}

TEST_CASE("visible range: where a session has memory, a range without says so, and not that none was recorded") {
  Step step;
  CHECK(step.columns(TimeRange{20'000, 21'000})[4].empty == "No memory is in use in view.");
  CHECK(step.columns(TimeRange{20'000, 21'000})[3].empty == "The host does nothing in view.");
}
