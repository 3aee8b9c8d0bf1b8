#include "core/analysis/dependencies/launches.h"

#include <doctest/doctest.h>

#include "core/chunk/session_writer.h"
#include "core/store/store.h"

using namespace accelscope;
using namespace accelscope::analysis;

namespace {

// Two threads that run Python and call launches, and a stream that does the work.
class HostProgram {
 public:
  HostProgram() {
    const auto schema = [&](const char* name, const char* column, ColumnType type, Role role) {
      return writer_.add_schema({.name = name, .columns = {{.name = column, .type = type, .role = role}}});
    };
    const SchemaNumber python = schema("python", "at", ColumnType::string, Role::source_location);
    const SchemaNumber call = schema("runtime_call", "id", ColumnType::uint64, Role::key);
    const SchemaNumber kernel = schema("kernel", "id", ColumnType::uint64, Role::key);
    const SchemaNumber flow =
        writer_.add_schema({.name = "flow",
                            .kind = EventKind::flow,
                            .columns = {{.name = "from", .type = ColumnType::uint64, .role = Role::flow_source},
                                        {.name = "to", .type = ColumnType::uint64, .role = Role::flow_target}}});
    const auto host = [&](const char* name, SchemaNumber number) {
      return writer_.add_track({.name = name, .kind = "host_thread", .host = "python3 (7)", .schema = number});
    };
    python_[0] = host("11 python", python);
    python_[1] = host("pt_autograd_0: python", python);
    calls_[0] = host("11 runtime", call);
    calls_[1] = host("pt_autograd_0: runtime", call);
    stream_ = writer_.add_track({.name = "stream 7", .kind = "stream", .device = "gpu 0", .schema = kernel});
    flows_ = writer_.add_track({.name = "flows", .kind = "flow", .schema = flow});
  }
  void runs(int thread, std::int64_t begin, std::int64_t end, const char* line) {
    writer_.begin_event(python_[thread], begin, end - begin, writer_.intern("f")).string(0, writer_.intern(line));
  }
  // Work of 100 ns times `length` on the stream.
  void launches(int thread, std::int64_t at, std::int64_t length) {
    writer_.begin_event(calls_[thread], at, 5, writer_.intern("cudaLaunchKernel")).unsigned_integer(0, ++key_);
    writer_.begin_event(stream_, 10'000 + at * 10, 100 * length, writer_.intern("gemm")).unsigned_integer(0, ++key_);
    Row row = writer_.begin_event(flows_, at, 0, writer_.intern("ac2g"));
    row.unsigned_integer(0, key_ - 1);
    row.unsigned_integer(1, key_);
  }
  std::shared_ptr<const SourceLines> lines() {
    REQUIRE(writer_.finish().ok());
    const auto found = launched_time({*store_, store_->snapshot(), pool_, control_});
    REQUIRE(found.ok());
    return *found;
  }

 private:
  std::unique_ptr<Store> store_ = Store::create().value();
  StoreSink sink_{*store_};
  SessionWriter writer_{sink_};
  WorkerPool pool_{2};
  TaskControl control_;
  TrackNumber python_[2] = {}, calls_[2] = {}, stream_ = 0, flows_ = 0;
  std::uint64_t key_ = 0;
};

}  // namespace

TEST_CASE("launched work counts for the innermost line of the launching thread alone") {
  HostProgram program;
  program.runs(0, 0, 10'000, "train.py:1");
  program.runs(0, 100, 400, "mlp.py:33");
  program.runs(1, 50, 9'000, "loader.py:5");  // another thread runs beside it
  program.launches(0, 150, 3);
  program.launches(0, 200, 4);
  program.launches(0, 400, 1);  // when the inner call has just ended
  program.launches(1, 500, 2);
  const auto lines = program.lines();
  REQUIRE(lines->lines.size() == 3);
  CHECK(lines->find("mlp.py", 33)->busy_ns == 700);
  CHECK(lines->find("mlp.py", 33)->event_count == 2);
  CHECK(lines->find("train.py", 1)->busy_ns == 100);
  CHECK(lines->find("loader.py", 5)->busy_ns == 200);
}

TEST_CASE("launched work outside of every line counts for none, and a session without launches has none") {
  HostProgram program;
  program.runs(0, 0, 100, "train.py:1");
  program.launches(0, 150, 3);
  CHECK(program.lines()->lines.empty());
  HostProgram quiet;
  quiet.runs(0, 0, 100, "train.py:1");
  CHECK(quiet.lines()->lines.empty());
}
