// The stack of a trace of PyTorch's profiler, as it comes out of the file: what stands in the list, where its rows lead
// and what it says where something is missing.
#include <fstream>
#include <string>

#include "tests/gui/viewer.h"

using namespace accelscope;
using namespace accelscope::app;
using namespace accelscope::test;

namespace {

std::string complete(const char* category, const char* name, int pid, int tid, double begin_us, double length_us,
                     const std::string& args) {
  return std::string(R"({"ph":"X","cat":")") + category + R"(","name":")" + name + R"(","pid":)" + std::to_string(pid) +
         R"(,"tid":)" + std::to_string(tid) + R"(,"ts":)" + std::to_string(begin_us) + R"(,"dur":)" +
         std::to_string(length_us) + R"(,"args":{)" + args + "}},\n";
}

std::string python(const char* name, double begin_us, double length_us, int id, const char* parent) {
  return complete("python_function", name, 7, 7, begin_us, length_us,
                  R"("Python id":)" + std::to_string(id) + R"(,"Python parent id":)" + parent + R"(,"Ev Idx":0)");
}

// One thread that runs Python down to a kernel, another one that waits meanwhile, and a kernel of which nothing but
// itself was recorded.
std::string save_trace(const std::string& folder, bool with_stack) {
  const std::string path = folder + "/train.pt.trace.json";
  std::string text = "{\"schemaVersion\":1,\"traceEvents\":[\n";
  if (with_stack) {
    text += python("train.py(31): main", 0, 1000, 1, "null");
    text += python("torch/nn/modules/module.py(1532): _wrapped_call_impl", 100, 700, 2, "1");
    text += python("torch/nn/modules/module.py(1541): _call_impl", 110, 600, 3, "2");
    text += python("moe/attention.py(57): forward", 120, 500, 4, "3");
    text +=
        complete("python_function", "monitor.py(9): wait", 0, 0, 0, 1000, R"("Python id":9,"Python parent id":null)");
  }
  text += complete("cpu_op", "aten::linear", 7, 7, 200, 100, R"("External id":5)");
  text += complete("cpu_op", "aten::mm", 7, 7, 210, 80, R"("External id":6)");
  text += complete("cuda_runtime", "cudaLaunchKernel", 7, 7, 220, 10, R"("External id":6,"correlation":42)");
  text += complete("kernel", "gemm_kernel", 0, 3, 400, 50, R"("External id":6,"correlation":42,"device":0,"stream":3)");
  text += complete("kernel", "early_kernel", 0, 3, 10, 5, R"("correlation":41,"device":0,"stream":3)");
  text += R"({"ph":"M","name":"process_name","pid":7,"tid":0,"args":{"name":"python3"}}]})";
  std::ofstream(path) << text;
  return path;
}

struct TraceViewer : Viewer {
  explicit TraceViewer(bool with_stack = true) {
    open(save_trace(folder.path(), with_stack));
    run("panel_stack");
  }
  void select_named(const std::string& name) {
    for (const LaneSnapshot& lane : tab().snapshot->lanes) {
      for (std::uint64_t i = 0; i < lane.event_count; ++i) {
        const EventId id = make_event_id(lane.number(), i);
        const auto record = read_event(tab(), id);
        if (record.ok() && record->name_text == name && lane.data->kind == EventKind::slice) tab().selected = id;
      }
    }
    REQUIRE(tab().selected.has_value());
    REQUIRE(read_event(tab(), *tab().selected)->name_text == name);
    shell.frame(2);  // what was shown of another event is gone
    REQUIRE(wait_for([&] { return shell.find("stack.copy") != nullptr || shell.shows("The call that launched"); }));
    shell.frame(2);
  }
  TemporaryFolder folder;
};

}  // namespace

TEST_CASE_FIXTURE(TraceViewer, "stack of a trace: a kernel has the call that launched it, its operators and Python") {
  select_named("gemm_kernel");
  CHECK(shell.shows("Kernel"));
  CHECK(shell.shows("Runtime"));
  CHECK(shell.shows("cudaLaunchKernel"));
  CHECK(shell.shows("aten::mm"));
  CHECK(shell.shows("aten::linear"));
  CHECK(shell.shows("attention.py:57"));
  CHECK(shell.shows("train.py:31"));
  CHECK(shell.shows("2 frames of torch.nn.modules"));
  CHECK_FALSE(shell.shows("recorded"));
  CHECK(shell.shows("Launched"));
  CHECK(shell.shows("queued 170"));
  REQUIRE(shell.click("stack.copy"));
  CHECK(shell.clipboard() ==
        "gemm_kernel\ncudaLaunchKernel\naten::mm\naten::linear\nmoe/attention.py(57): forward\n"
        "torch/nn/modules/module.py(1541): _call_impl\ntorch/nn/modules/module.py(1532): _wrapped_call_impl\n"
        "train.py(31): main\n");
  REQUIRE(shell.click("stack.frame.fold.5"));
  shell.frame(2);
  CHECK(shell.shows("module.py:1532"));
}

TEST_CASE_FIXTURE(TraceViewer, "stack of a trace: a call of Python has its callers, and a row leads to its line") {
  select_named("moe/attention.py(57): forward");
  CHECK(shell.shows("attention.py:57"));
  REQUIRE(shell.click("stack.copy"));
  CHECK(shell.clipboard().starts_with("moe/attention.py(57): forward\n"));
  CHECK(shell.clipboard().ends_with("train.py(31): main\n"));
  select_named("aten::mm");
  REQUIRE(wait_for([&] { return shell.shows("aten::linear"); }));  // in place of the stack before
  REQUIRE(shell.click("stack.frame.2"));
  CHECK(tab().selected_source == "moe/attention.py:57");
  CHECK(app.layout().is_seen("source"));
  REQUIRE(tab().related.size() == 1);
  CHECK(read_event(tab(), tab().related.front())->name_text == "moe/attention.py(57): forward");
}

TEST_CASE_FIXTURE(TraceViewer, "stack of a trace: a row without a line selects its event") {
  select_named("gemm_kernel");
  REQUIRE(shell.click("stack.frame.1"));
  REQUIRE(tab().selected.has_value());
  CHECK(read_event(tab(), *tab().selected)->name_text == "cudaLaunchKernel");
}

TEST_CASE_FIXTURE(TraceViewer,
                  "stack of a trace: of work that ran before the capture it says that its launch is missing") {
  select_named("early_kernel");
  CHECK(shell.shows("The call that launched this is not in the session"));
}

TEST_CASE("stack of a trace without Python: the operators are there, and what would bring Python") {
  TraceViewer viewer(false);
  viewer.select_named("gemm_kernel");
  CHECK(viewer.shell.shows("aten::linear"));
  CHECK(viewer.shell.shows("with_stack=True"));
}
