#include "core/analysis/advice/evidence.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "core/chunk/session_writer.h"

using namespace accelscope;
using namespace accelscope::analysis;

namespace {

struct ErrorSession {
  std::unique_ptr<Store> store = std::move(Store::create()).value();
  StoreSink sink{*store};
  SessionWriter writer{sink};
  WorkerPool pool{2};
  TaskControl control;
  SchemaNumber work = 0, error = 0;

  ErrorSession() {
    Schema instruction;
    instruction.name = "instruction";
    instruction.columns = {{.name = "operands", .type = ColumnType::text, .role = Role::operands},
                           {.name = "line", .type = ColumnType::string, .role = Role::source_location}};
    work = writer.add_schema(instruction);
    Schema errors;
    errors.name = "error";
    errors.kind = EventKind::instant;
    errors.columns = {{.name = "metadata", .type = ColumnType::text}};
    error = writer.add_schema(errors);
  }
  TrackNumber track(const char* name, const char* kind, SchemaNumber schema, const char* device = "nc0") {
    return writer.add_track({.name = name, .kind = kind, .device = device, .schema = schema});
  }
  void run(TrackNumber on, std::int64_t begin, std::int64_t length, const char* name, const char* operands = "") {
    Row row = writer.begin_event(on, begin, length, writer.intern(name));
    row.text(0, operands);
    row.string(1, writer.intern("mlp.py:5"));
  }
  std::shared_ptr<const ErrorReport> report(const EventFilter& filter = {}) {
    REQUIRE(writer.finish());
    const auto made = report_errors({*store, store->snapshot(), pool, control}, filter);
    REQUIRE(made.ok());
    return *made;
  }
};

}  // namespace

TEST_CASE("errors: each is told with what was under way on every engine of its device, else what began last before") {
  ErrorSession session;
  const TrackNumber tensor = session.track("Tensor", "engine", session.work);
  const TrackNumber vector = session.track("Vector", "engine", session.work);
  const TrackNumber late = session.track("Scalar", "engine", session.work);
  const TrackNumber other = session.track("Tensor", "engine", session.work, "nc1");
  const TrackNumber errors = session.track("Errors", "error", session.error);
  session.run(tensor, 0, 100, "LOAD");
  session.run(tensor, 100, 100, "MATMUL", "src=bf16@0x10");
  session.run(vector, 20, 40, "COPY");
  session.run(late, 500, 40, "ACTIVATE");
  session.run(other, 100, 200, "MATMUL");
  session.writer.begin_event(errors, 150, 0, session.writer.intern("out of bounds")).text(0, "row 512 of 512");
  const auto report = session.report();
  REQUIRE(report->errors.size() == 1);
  const ReportedError& error = report->errors.front();
  CHECK(error.name == "out of bounds");
  CHECK(error.details == "row 512 of 512");
  CHECK(error.device == "nc0");
  REQUIRE(error.around.size() == 2);  // nothing of Scalar had begun, nc1 is another device
  CHECK(error.around[0].track == tensor);
  CHECK(error.around[0].under_way);
  CHECK(error.around[0].name == "MATMUL");
  CHECK(error.around[0].operands == "src=bf16@0x10");
  CHECK(error.around[0].source == "mlp.py:5");
  CHECK(error.around[1].track == vector);
  CHECK_FALSE(error.around[1].under_way);
  CHECK(error.around[1].name == "COPY");
}

TEST_CASE("errors: a range holds its own, too many are counted, and a session without any has none") {
  ErrorSession session;
  const TrackNumber errors = session.track("Errors", "error", session.error);
  const TrackNumber tensor = session.track("Tensor", "engine", session.work);
  session.run(tensor, 0, 10'000, "MATMUL");
  for (int i = 0; i < 700; ++i) session.writer.begin_event(errors, i * 10, 0, session.writer.intern("NaN"));
  const auto all = session.report();
  CHECK(all->errors.size() == ErrorReport::kMost);
  CHECK(all->left_out == 200);
  EventFilter filter;
  filter.range = TimeRange{1'000, 1'100};
  const auto some = session.report(filter);
  REQUIRE(some->errors.size() == 10);
  CHECK(some->errors.front().incident.begin_ns == 1'000);
  CHECK(some->errors.front().around.size() == 1);
  ErrorSession none;
  CHECK(none.report()->errors.empty());
}
