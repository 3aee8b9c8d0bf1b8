#include "core/analysis/source/own_code.h"

#include <doctest/doctest.h>

using namespace accelscope;
using namespace accelscope::analysis;

TEST_CASE("own code: frameworks and Python's library are told from the user's files and other packages") {
  for (const char* path :
       {"torch/nn/modules/module.py", "threading.py", "/usr/lib/python3.11/contextlib.py",
        "/opt/venv/lib/python3.10/site-packages/torch/autograd/function.py", "<frozen importlib>",
        "/usr/lib/python3/dist-packages/numpy/core/numeric.py", "./torch/_utils.py", "json/decoder.py"}) {
    CHECK_MESSAGE(is_framework_path(path), path);
  }
  for (const char* path :
       {"train.py", "/home/me/torch/train.py", "moe/layers/attention.py", "./train.py",
        "/opt/venv/lib/python3.10/site-packages/my_model/mlp.py", "transformers/models/qwen2/modeling_qwen2.py"}) {
    CHECK_MESSAGE(!is_framework_path(path), path);
  }
}

TEST_CASE("own code: calls in which a thread only waits are told by what they are, whatever their object's address") {
  CHECK(is_waiting_call("<built-in method acquire of _thread.lock object at 0x7f2b8c0d5a40>"));
  CHECK(is_waiting_call("<built-in function sleep>"));
  for (const char* sleep : {"time.sleep", "time.sleep()", "time.sleep (<built-in>)", "sleep", "clock_nanosleep",
                            "<built-in method sleep of module object at 0x7f2b8c0d5a40>"}) {
    CHECK_MESSAGE(is_waiting_call(sleep), sleep);
  }
  for (const char* work : {"sleepy", "time.sleep_for_test", "model.select", "poll_results", "my.time.sleep"}) {
    CHECK_MESSAGE(!is_waiting_call(work), work);
  }
  CHECK(is_waiting_call("threading.py(359): wait"));
  CHECK(is_waiting_call("/usr/lib/python3.11/queue.py(171): get"));
  CHECK_FALSE(is_waiting_call("my_queue.py(171): get"));
  CHECK_FALSE(is_waiting_call("<built-in method acquire_buffer of Pool object at 0x7f2b8c0d5a40>"));
  CHECK_FALSE(is_waiting_call("acquire"));
  CHECK(is_mark("ProfilerStep#8"));
  CHECK_FALSE(is_mark("aten::add"));
}
