// Three sessions that fill most pages between them: a kernel of an accelerator, a trace of PyTorch's profiler, and a
// snapshot of its memory.
#pragma once

#include <fstream>

#include "tests/gui/viewer.h"
#include "tests/support/simulated_session.h"
#include "tests/support/torch/allocator_model.h"

namespace accelscope::test {

[[nodiscard]] inline std::string save_torch_trace(const std::string& folder) {
  const std::string path = folder + "/step.pt.trace.json";
  std::string text = "{\"schemaVersion\":1,\"traceEvents\":[\n";
  const auto complete = [&](const char* category, const std::string& name, int tid, int begin_us, int length_us,
                            const std::string& args) {
    text += fmt::format(R"({{"ph":"X","cat":"{}","name":"{}","pid":7,"tid":{},"ts":{},"dur":{},"args":{{{}}}}},)",
                        category, name, tid, begin_us, length_us, args);
    text += '\n';
  };
  for (int step = 0; step < 4; ++step) {
    const int at = step * 2'000;
    complete("user_annotation", fmt::format("ProfilerStep#{}", step), 7, at, 1'900, "");
    complete("python_function", "train.py(31): main", 7, at, 1'000, R"("Python id":1,"Python parent id":null)");
    complete("python_function", "model.py(57): forward", 7, at + 20, 900, R"("Python id":2,"Python parent id":1)");
    complete("cpu_op", "aten::linear", 7, at + 200, 100, R"("External id":5)");
    complete("cuda_runtime", "cudaLaunchKernel", 7, at + 220, 10,
             fmt::format(R"("External id":5,"correlation":{})", step + 1));
    complete("kernel", "gemm_kernel", 3, at + 400, 500,
             fmt::format(R"("External id":5,"correlation":{},"device":0,"stream":3)", step + 1));
  }
  text += R"({"ph":"M","name":"process_name","pid":7,"tid":0,"args":{"name":"python3"}}]})";
  std::ofstream(path) << text;
  return path;
}

[[nodiscard]] inline std::string save_memory_snapshot(const std::string& folder) {
  const std::string path = folder + "/memory.pickle";
  std::ofstream(path, std::ios::binary) << TorchModel({.requests = 60}).pickle();
  return path;
}

[[nodiscard]] inline std::string save_sample(const std::string& folder, std::string_view kind) {
  if (kind == "trace") return save_torch_trace(folder);
  if (kind == "memory") return save_memory_snapshot(folder);
  const std::string path = folder + "/kernel.accel";
  save_simulated_session(path);
  return path;
}

}  // namespace accelscope::test
