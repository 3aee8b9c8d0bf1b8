#include "core/analysis/dependencies/event_stack.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "core/analysis/time/executors.h"
#include "core/chunk/session_writer.h"
#include "core/store/store.h"

using namespace accelscope;
using namespace accelscope::analysis;

namespace {

// A host with two threads, each with rows for Python, operators and calls of the driver, and a stream.
class TracedProgram {
 public:
  TracedProgram() {
    python_schema_ =
        writer_.add_schema({.name = "python_function",
                            .columns = {{.name = "id", .type = ColumnType::int64, .role = Role::key},
                                        {.name = "parent", .type = ColumnType::int64},
                                        {.name = "at", .type = ColumnType::string, .role = Role::source_location}}});
    operator_schema_ = writer_.add_schema(
        {.name = "cpu_op", .columns = {{.name = "stack", .type = ColumnType::string, .role = Role::stack}}});
    plain_schema_ = writer_.add_schema({.name = "runtime_call"});
    overhead_schema_ = writer_.add_schema({.name = "overhead"});
    kernel_schema_ = writer_.add_schema({.name = "kernel"});
    const SchemaNumber flow =
        writer_.add_schema({.name = "flow",
                            .kind = EventKind::flow,
                            .columns = {{.name = "from", .type = ColumnType::uint64, .role = Role::flow_source_event},
                                        {.name = "to", .type = ColumnType::uint64, .role = Role::flow_target_event}}});
    std::int64_t order = 0;
    const auto host = [&](const std::string& name, SchemaNumber schema) {
      return writer_.add_track(
          {.name = name, .kind = "host_thread", .host = "python3 (7)", .schema = schema, .order = order++});
    };
    for (int i = 0; i < 2; ++i) {
      const std::string thread = i == 0 ? "4127" : "pt_autograd_0:";
      python_[i] = host(thread + " python", python_schema_);
      operators_[i] = host(thread + " operators", operator_schema_);
      calls_[i] = host(thread + " runtime", plain_schema_);
      overhead_[i] = host(thread + " overhead", overhead_schema_);
    }
    stream_ = writer_.add_track({.name = "stream 7", .kind = "stream", .device = "gpu 0", .schema = kernel_schema_});
    flows_ = writer_.add_track({.name = "flows", .kind = "flow", .schema = flow});
  }

  EventId python(int thread, std::int64_t begin, std::int64_t end, const char* name, const char* at, std::int64_t id,
                 std::int64_t parent = 0) {
    Row row = writer_.begin_event(python_[thread], begin, end - begin, writer_.intern(name));
    row.integer(0, id);
    if (parent != 0) row.integer(1, parent);
    row.string(2, writer_.intern(at));
    return row.id();
  }
  EventId operation(int thread, std::int64_t begin, std::int64_t end, const char* name, const char* stack = "") {
    Row row = writer_.begin_event(operators_[thread], begin, end - begin, writer_.intern(name));
    if (*stack != 0) row.string(0, writer_.intern(stack));
    return row.id();
  }
  EventId call(int thread, std::int64_t begin, std::int64_t end, const char* name) {
    return writer_.begin_event(calls_[thread], begin, end - begin, writer_.intern(name)).id();
  }
  EventId overhead(int thread, std::int64_t begin, std::int64_t end) {
    return writer_.begin_event(overhead_[thread], begin, end - begin, writer_.intern("Buffer Request")).id();
  }
  EventId kernel(std::int64_t begin, std::int64_t end, const char* name) {
    return writer_.begin_event(stream_, begin, end - begin, writer_.intern(name)).id();
  }
  void leads(EventId from, EventId to, const char* kind) {
    Row row = writer_.begin_event(flows_, flow_at_++, 0, writer_.intern(kind));
    row.unsigned_integer(0, from);
    row.unsigned_integer(1, to);
  }

  EventStack stack_of(EventId event) {
    if (!finished_) REQUIRE(writer_.finish().ok());
    finished_ = true;
    const QueryContext query{*store_, store_->snapshot(), pool_, control_};
    const auto dependencies = Dependencies::build(query);
    REQUIRE(dependencies.ok());
    const auto stack = event_stack(query, **dependencies, event,
                                   {[](const Schema& schema) { return schema.name != "overhead"; }, "id", "parent"});
    REQUIRE(stack.ok());
    return *stack;
  }

 private:
  std::unique_ptr<Store> store_ = Store::create().value();
  StoreSink sink_{*store_};
  SessionWriter writer_{sink_};
  WorkerPool pool_{2};
  TaskControl control_;
  SchemaNumber python_schema_, operator_schema_, plain_schema_, overhead_schema_, kernel_schema_;
  TrackNumber python_[2], operators_[2], calls_[2], overhead_[2], stream_, flows_;
  std::int64_t flow_at_ = 0;
  bool finished_ = false;
};

std::string names(const std::vector<StackCall>& calls) {
  std::string text;
  for (const StackCall& call : calls) text += (text.empty() ? "" : " < ") + call.name;
  return text;
}

}  // namespace

TEST_CASE("the stack of a kernel goes by its launch into the operators and Python's calls of that thread alone") {
  TracedProgram program;
  program.python(0, 0, 100'000, "main", "train.py:1", 1);
  program.python(0, 10'000, 60'000, "forward", "moe.py:57", 2, 1);
  program.python(1, 0, 100'000, "watch", "monitor.py:9", 9);  // another thread at the same time
  program.operation(0, 20'000, 50'000, "aten::linear");
  program.operation(0, 22'000, 40'000, "aten::mm");
  program.operation(1, 0, 90'000, "aten::other");
  const EventId launch = program.call(0, 30'000, 31'000, "cudaLaunchKernel");
  program.overhead(0, 29'000, 32'000);
  const EventId kernel = program.kernel(70'000, 75'000, "gemm");
  program.leads(launch, kernel, "ac2g");
  const EventStack stack = program.stack_of(kernel);
  CHECK(names(stack.calls) == "gemm < cudaLaunchKernel < aten::mm < aten::linear < forward < main");
  CHECK(stack.own == 2);
  CHECK(stack.calls[4].source == "moe.py:57");
  CHECK(stack.calls[4].table == "python_function");
  CHECK(stack.forward.empty());
  // What inner calls took is no time of their own; neither is it counted twice.
  CHECK(stack.calls[1].self_ns == 1'000);
  CHECK(stack.calls[2].self_ns == 17'000);
  CHECK(stack.calls[3].self_ns == 12'000);
  CHECK(stack.calls[4].self_ns == 20'000);
  CHECK(stack.calls[5].self_ns == 50'000);
}

TEST_CASE("the stack of a call of the host begins with itself, and siblings are not in it") {
  TracedProgram program;
  const EventId outer = program.python(0, 0, 100'000, "main", "train.py:1", 1);
  const EventId step = program.python(0, 10'000, 40'000, "step", "train.py:5", 2, 1);
  program.python(0, 40'000, 90'000, "log", "train.py:6", 3, 1);
  const EventId mm = program.operation(0, 15'000, 20'000, "aten::mm");
  program.operation(0, 20'000, 30'000, "aten::add");
  CHECK(names(program.stack_of(mm).calls) == "aten::mm < step < main");
  CHECK(names(program.stack_of(step).calls) == "step < main");
  CHECK(names(program.stack_of(outer).calls) == "main");
}

TEST_CASE("events whose ends are rounded apart still lie in each other, and equal ones nest by their rows") {
  TracedProgram program;
  program.python(0, 10'000, 20'000, "forward", "moe.py:57", 1);
  const EventId op = program.operation(0, 10'000, 20'000, "aten::mm");       // as long as the call
  const EventId call = program.call(0, 18'500, 20'500, "cudaLaunchKernel");  // ends after what it is in
  program.call(0, 20'500, 21'500, "cudaGetLastError");                       // begins where that ends
  CHECK(names(program.stack_of(op).calls) == "aten::mm < forward");
  CHECK(names(program.stack_of(call).calls) == "cudaLaunchKernel < aten::mm < forward");
}

TEST_CASE("parents that a call names are followed where their times do not enclose it, and rings end") {
  TracedProgram program;
  program.python(1, 0, 5'000, "scheduler", "loop.py:3", 7, 8);
  program.python(1, 6'000, 9'000, "start", "main.py:1", 8);
  const EventId resumed = program.python(0, 20'000, 30'000, "resume", "loop.py:9", 5, 7);
  const EventId a = program.python(0, 40'000, 50'000, "a", "ring.py:1", 21, 22);
  program.python(0, 60'000, 70'000, "b", "ring.py:2", 22, 21);
  CHECK(names(program.stack_of(resumed).calls) == "resume < scheduler < start");
  CHECK(names(program.stack_of(a).calls) == "a < b");
}

TEST_CASE("a stack that was recorded as text stands behind the operators, and not beside calls that are events") {
  TracedProgram program;
  program.operation(0, 0, 50'000, "aten::zeros", "forward (moe.py:57)\nmain (train.py:1)");
  program.operation(0, 10'000, 20'000, "aten::empty", "forward (moe.py:57)\nmain (train.py:1)");
  const EventId call = program.call(0, 12'000, 13'000, "cudaMalloc");
  const EventStack stack = program.stack_of(call);
  CHECK(names(stack.calls) == "cudaMalloc < aten::empty < aten::zeros < forward (moe.py:57) < main (train.py:1)");
  REQUIRE(stack.calls.size() == 5);
  CHECK(stack.calls[3].source == "moe.py:57");
  TracedProgram both;
  both.python(0, 0, 100'000, "main", "train.py:1", 1);
  const EventId op = both.operation(0, 10'000, 20'000, "aten::empty", "main (train.py:1)");
  CHECK(names(both.stack_of(op).calls) == "aten::empty < main");
}

TEST_CASE("work of a backward pass has the calls of the forward pass that it is for") {
  TracedProgram program;
  program.python(0, 0, 100'000, "main", "train.py:1", 1);
  program.python(0, 10'000, 30'000, "forward", "moe.py:57", 2, 1);
  const EventId mm = program.operation(0, 15'000, 20'000, "aten::mm");
  const EventId backward = program.operation(1, 110'000, 150'000, "MmBackward0");
  program.operation(1, 120'000, 130'000, "aten::mm");
  const EventId launch = program.call(1, 125'000, 126'000, "cudaLaunchKernel");
  const EventId kernel = program.kernel(160'000, 170'000, "gemm");
  program.leads(mm, backward, "fwdbwd");
  program.leads(launch, kernel, "ac2g");
  const EventStack stack = program.stack_of(kernel);
  CHECK(names(stack.calls) == "gemm < cudaLaunchKernel < aten::mm < MmBackward0");
  CHECK(stack.forward_flow == "fwdbwd");
  CHECK(names(stack.forward) == "aten::mm < forward < main");
}

TEST_CASE("work whose launch is not there has no calls but itself") {
  TracedProgram program;
  program.python(0, 0, 100'000, "main", "train.py:1", 1);
  const EventId kernel = program.kernel(10'000, 20'000, "gemm");
  const EventStack stack = program.stack_of(kernel);
  CHECK(names(stack.calls) == "gemm");
  CHECK(stack.own == 1);
}

TEST_CASE("work that other work set off has the call that began that, with the work between them") {
  TracedProgram program;
  program.python(0, 0, 100'000, "main", "train.py:1", 1);
  const EventId launch = program.call(0, 30'000, 31'000, "cudaGraphLaunch");
  const EventId copy = program.kernel(40'000, 45'000, "copy");
  const EventId kernel = program.kernel(50'000, 60'000, "gemm");
  const EventId lost = program.kernel(70'000, 75'000, "lost");
  const EventId later = program.kernel(80'000, 85'000, "later");
  program.leads(launch, copy, "ac2g");
  program.leads(copy, kernel, "graph");
  program.leads(lost, later, "graph");
  program.leads(later, lost, "graph");  // a ring
  const EventStack stack = program.stack_of(kernel);
  CHECK(names(stack.calls) == "gemm < copy < cudaGraphLaunch < main");
  CHECK(stack.own == 3);
  CHECK(program.stack_of(copy).own == 2);
  CHECK(names(program.stack_of(later).calls) == "later");
  CHECK(program.stack_of(later).own == 1);
}

TEST_CASE("threads that have one row each are not taken for one thread, whatever their rows show") {
  auto store = Store::create().value();
  StoreSink sink(*store);
  SessionWriter writer(sink);
  const SchemaNumber task = writer.add_schema({.name = "task"});
  const SchemaNumber range = writer.add_schema({.name = "range"});
  const auto track = [&](const char* name, SchemaNumber schema) {
    return writer.add_track({.name = name, .kind = "host_thread", .host = "app", .schema = schema});
  };
  const TrackNumber one = track("thread 1", task), two = track("thread 2", range), left = track("worker left", task),
                    right = track("worker right", task);
  for (const TrackNumber each : {one, two, left, right}) writer.begin_event(each, 0, 10, writer.intern("work"));
  REQUIRE(writer.finish().ok());
  const auto snapshot = store->snapshot();
  const HostThreads threads(*snapshot);
  CHECK(threads.of_track(one) != threads.of_track(two));
  CHECK(threads.of_track(left) != threads.of_track(right));
  CHECK_FALSE(threads.of_track(kNone).has_value());
}
