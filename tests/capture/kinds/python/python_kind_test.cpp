// The kind `python` on real programs: every call to the last one, in order and nested, and a program that does what it
// does without.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "capture/sources/base/importers.h"
#include "tests/capture/imported.h"
#include "tests/capture/kinds/python/python_run.h"
#include "tests/capture/wire/wire_support.h"
#include "tests/support/programs_folder.h"

namespace accelscope::capture {
namespace {

const std::vector<request::OptionSetting> kOwnCode = {{"only-modules", "__main__"}};

void check_same(const PlainRun& captured, const PlainRun& plain) {
  CHECK(captured.out == plain.out);
  CHECK(captured.err == plain.err);
  CHECK(captured.exit_status == plain.exit_status);
}

TEST_CASE("python: every call of a program is a slice, in order and nested, with its place and its caller") {
  const PythonFolder folder{{"script.py", R"py(class Model:
    def forward(self, n):
        def twice():
            return [double(0), double(1)]
        return twice()

def double(i):
    return i * 2

def numbers(n):
    for i in range(n):
        yield i

def fails():
    raise ValueError("no")

def recursive(n):
    return 0 if n == 0 else 1 + recursive(n - 1)

def main():
    Model().forward(2)
    list(numbers(2))
    try:
        fails()
    except ValueError:
        pass
    recursive(2)
    exec("double(1)")
    return len([1])

print(main())
)py"}};
  CapturedRun run(folder, {"script.py"}, kOwnCode);
  check_same(run.plain, folder.plain({"script.py"}));
  CHECK(run.tree() == R"py(<module> __main__
  __build_class__
    Model
  main
    Model.forward
      Model.forward.<locals>.twice
        double
        double
    numbers
    numbers
    numbers
    fails
    recursive
      recursive
        recursive
    exec
      <module> <string>
        double
    len
  print
)py");
  const std::string script = std::filesystem::canonical(folder.path("script.py")).string();
  const auto facts = [&](const std::string& name) {
    return run
        .rows(fmt::format("SELECT location, module, what, caller, raised FROM python_call WHERE name = '{}'", name))
        .front();
  };
  using Row = std::vector<std::string>;
  CHECK(facts("Model.forward") == Row{script + ":2", "__main__", "function", "main", ""});
  CHECK(facts("fails") == Row{script + ":14", "__main__", "function", "main", "1"});
  CHECK(facts("numbers") == Row{script + ":10", "__main__", "generator", "main", ""});
  CHECK(facts("Model")[2] == "class body");
  CHECK(facts("len") == Row{"", "builtins", "built-in", "main", ""});
  CHECK(run.count("SELECT count(*) FROM python_call WHERE partial IS NOT NULL") == 0);
  CHECK(run.count("SELECT count(*) FROM python_call WHERE self_ns < 0 OR self_ns > dur_ns") == 0);
  CHECK(run.cell("SELECT length(content) FROM source_file WHERE path = '" + script + "'") ==
        fmt::format("{}", std::filesystem::file_size(script)));
  CHECK(run.count("SELECT count(*) FROM quality") == 0);
}

TEST_CASE("python: a script under python -m accelscope sees what it sees under python") {
  const PythonFolder folder{{"package/__init__.py", ""},
                            {"package/tool.py", "import sys\nprint(sys.argv, __name__, __package__)\n"},
                            {"tools/script.py", R"py(import os, sys
print(sys.argv, sys.path, __name__, __file__, __spec__, sorted(globals()))
print(sys.modules["__main__"].__dict__ is globals(), sys.flags, sys.orig_argv[-2:])
print([name for name in sys.modules if "site" in name], len(sys.stdin.read()))
sys.stderr.write("to stderr\n")
def deep():
    return 1 // 0
deep()
)py"}};
  const PlainRun plain = folder.plain({"tools/script.py", "a", "b c"});
  CHECK(contains(plain.err, "ZeroDivisionError"));
  check_same(CapturedRun(folder, {"tools/script.py", "a", "b c"}).plain, plain);
  CapturedRun launched(folder, {"-m", "accelscope", "tools/script.py", "a", "b c"}, kOwnCode);
  check_same(launched.plain, plain);
  CHECK(launched.count("SELECT count(*) FROM python_call WHERE name = 'deep' AND raised = 1") == 1);
  CHECK(launched.count("SELECT count(DISTINCT device) FROM track WHERE kind = 'host_thread'") == 1);
  CapturedRun module(folder, {"-O", "-m", "accelscope", "-m", "package.tool", "x"}, kOwnCode);
  check_same(module.plain, folder.plain({"-O", "-m", "package.tool", "x"}));
  CHECK(module.tree() == "<module> __main__\n  print\n");
  check_same(CapturedRun(folder, {"-m", "accelscope", "-c", "import sys; sys.exit('bye')"}).plain,
             folder.plain({"-c", "import sys; sys.exit('bye')"}));
}

TEST_CASE("python: with -p only what is enabled is collected, in all threads") {
  const PythonFolder folder{{"script.py", R"py(import threading
from accelscope import Profiler
go, gone = threading.Event(), threading.Event()
def before(): pass
def inside(): pass
def after(): pass
def outer():
    before()
    with Profiler():
        inside()
        inner = Profiler()
        inner.enable()
        inner.disable()
        inside()
    after()
@Profiler()
def decorated(): inside()
def tick(): pass
def other():
    while not gone.is_set():
        tick()
        go.set()
outer()
decorated()
thread = threading.Thread(target=other, name="other")
thread.start()
go.wait()
p = Profiler()
p.enable()
go.clear(); go.wait()
go.clear(); go.wait()
p.disable()
go.clear(); go.wait()
gone.set()
thread.join()
)py"}};
  std::vector<request::OptionSetting> options = kOwnCode;
  options.push_back({"c-functions", "off"});
  CapturedRun run(folder, {"-m", "accelscope", "-p", "script.py"}, options);
  CHECK_MESSAGE(run.plain.exit_status == 0, run.plain.err);
  CHECK(run.tree() == R"py(<module> __main__
  outer
    inside
    inside
<module> __main__
  decorated
    inside
<module> __main__
)py");
  CHECK(run.count("SELECT count(*) FROM python_call c JOIN track t ON t.id = c.track_id WHERE t.name = 'other' AND "
                  "c.name = 'other' AND c.partial = 1") == 1);
  CHECK(run.count("SELECT count(*) FROM python_call WHERE name = 'tick'") >= 1);
  CHECK(run.count("SELECT count(*) FROM python_call WHERE name IN ('before', 'after')") == 0);
  // The region's end ends the other thread's calls as well.
  CHECK(run.cell("SELECT max(ts_ns + dur_ns) FROM python_call WHERE name = '<module> __main__'") ==
        run.cell("SELECT ts_ns + dur_ns FROM python_call WHERE name = 'other'"));
}

TEST_CASE("python: with -l every line that runs is a slice within its function, with its text") {
  const PythonFolder folder{{"script.py", R"py(def twice(n):
    total = 0
    for i in range(n):
        total += one(
            i)
    return total

def one(i): return 1

twice(2)
)py"}};
  std::vector<request::OptionSetting> options = kOwnCode;
  options.push_back({"c-functions", "off"});
  CapturedRun run(folder, {"-m", "accelscope", "-l", "script.py"}, options);
  CHECK(run.tree() == R"py(<module> __main__
  1  def twice(n):
  8  def one(i): return 1
  10  twice(2)
    twice
      2  total = 0
      3  for i in range(n):
      4  total += one(
      5  i)
      4  total += one(
        one
          8  def one(i): return 1
      3  for i in range(n):
      4  total += one(
      5  i)
      4  total += one(
        one
          8  def one(i): return 1
      3  for i in range(n):
      6  return total
)py");
  const std::string script = std::filesystem::canonical(folder.path("script.py")).string();
  CHECK(run.count("SELECT event_count FROM source_line WHERE path = '" + script + "' AND line = 3") == 3);
  CHECK(run.count("SELECT count(*) FROM python_call WHERE what = 'line' AND module = '__main__'") == 16);
}

TEST_CASE("python: threads, coroutines and the collector of garbage have their slices") {
  const PythonFolder folder{{"script.py", R"py(import asyncio, gc, threading
def work(n):
    return n
async def step():
    await asyncio.sleep(0)
threads = [threading.Thread(target=work, args=(i,), name=f"worker {i}") for i in range(3)]
for thread in threads: thread.start()
for thread in threads: thread.join()
asyncio.run(step())
def collect(): gc.collect(1)
collect()
)py"}};
  CapturedRun run(folder, {"script.py"});
  CHECK_MESSAGE(run.plain.exit_status == 0, run.plain.err);
  for (int i = 0; i < 3; ++i) {
    const std::string tree = run.tree(fmt::format("worker {}", i));
    CAPTURE(tree);
    // Python 3.14 runs it in a context of its own.
    CHECK((tree.starts_with("Thread.run\n  work\n") || tree.starts_with("Context.run\n  Thread.run\n    work\n")));
  }
  CHECK(run.count("SELECT count(*) FROM python_call WHERE name = 'step' AND what = 'coroutine'") == 2);
  CHECK(run.count("SELECT count(*) FROM python_call WHERE name = 'garbage collection (generation 1)' AND what = "
                  "'garbage collection' AND metadata LIKE '% objects freed' AND caller = 'collect'") +
            run.count("SELECT count(*) FROM python_call WHERE name = 'garbage collection (generation 1)' AND caller = "
                      "'gc.collect' OR name = 'garbage collection (generation 1)' AND caller = 'collect'") >=
        1);
}

TEST_CASE("python: signposts, metadata and facts of the session") {
  const PythonFolder folder{{"script.py", R"py(from accelscope import append_meta_data, signpost
def step(n):
    signpost("step", f"number {n}")
    append_meta_data(f"batch {n}")
    append_meta_data("warm")
step(1)
signpost(header="done")
append_meta_data(model="bert", layers=12)
)py"}};
  CapturedRun run(folder, {"script.py"}, kOwnCode);
  CHECK_MESSAGE(run.plain.exit_status == 0, run.plain.err);
  const std::string script = std::filesystem::canonical(folder.path("script.py")).string();
  using Rows = std::vector<std::vector<std::string>>;
  CHECK(run.rows("SELECT name, message, location, thread FROM python_signpost ORDER BY ts_ns") ==
        Rows{{"step", "number 1", script + ":3", "MainThread"}, {"done", "", script + ":7", "MainThread"}});
  CHECK(run.cell("SELECT metadata FROM python_call WHERE name = 'step'") == "batch 1\nwarm");
  CHECK(run.cell("SELECT value FROM meta WHERE key = 'python.model'") == "bert");
  CHECK(run.cell("SELECT value FROM meta WHERE key = 'python.layers'") == "12");
  const PlainRun without = folder.plain({"-c", "import sys; sys.exit('accelscope' in sys.modules)"});
  CHECK(without.exit_status == 0);
}

TEST_CASE("python: a program that ends early keeps every call until then") {
  const PythonFolder folder{{"script.py", R"py(import ctypes, os, signal, sys
def last():
    if sys.argv[1] == "exit": os._exit(3)
    if sys.argv[1] == "crash": ctypes.string_at(0)
    if sys.argv[1] == "interrupt": os.kill(os.getpid(), signal.SIGINT)
    if sys.argv[1] == "exec": os.execv(sys.executable, [sys.executable, sys.argv[0], "end"])
    if sys.argv[1] == "leave": sys.exit(4)
def many():
    for i in range(1000): few()
    last()
def few(): pass
many()
)py"}};
  for (const std::string how : {"exit", "crash", "interrupt", "exec", "leave", "end"}) {
    CAPTURE(how);
    CapturedRun run(folder, {"script.py", how}, kOwnCode);
    const PlainRun plain = folder.plain({"script.py", how});
    CHECK(run.plain.out == plain.out);
    CHECK(run.plain.err == plain.err);
    CHECK(run.plain.exit_status == plain.exit_status);
    const std::uint64_t processes = how == "exec" ? 2 : 1;
    CHECK(run.count("SELECT count(*) FROM python_call WHERE name = 'few'") == 1000 * processes);
    CHECK(run.count("SELECT count(*) FROM python_call WHERE name = 'last'") == processes);
    // <module>, many, last, and the built-in function that does not return.
    const std::uint64_t open = how == "exit" || how == "exec" ? 4 : how == "crash" ? 3 : 0;
    CHECK(run.count("SELECT count FROM quality WHERE kind = 'python_calls_open'") == open);
    CHECK(run.count("SELECT count(*) FROM python_call WHERE partial = 1") == open);
  }
}

TEST_CASE("python: forked and spawned processes have tracks of their own") {
  const PythonFolder folder{{"script.py", R"py(import multiprocessing, os, subprocess, sys
def in_child(): pass
def in_worker(n): in_child()
def after_fork(): pass
if __name__ == "__main__":
    child = os.fork()
    if child == 0:
        in_child()
        sys.exit(0)
    os.waitpid(child, 0)
    for way in "fork", "spawn":
        worker = multiprocessing.get_context(way).Process(target=in_worker, args=(1,))
        worker.start()
        worker.join()
        assert worker.exitcode == 0
    subprocess.run([sys.executable, "-c", "def in_child(): pass\nin_child()"], check=True)
    after_fork()
)py"}};
  CapturedRun run(folder, {"script.py"}, {{"c-functions", "off"}});
  CHECK_MESSAGE(run.plain.exit_status == 0, run.plain.err);
  CHECK(run.count("SELECT count(*) FROM python_call WHERE name = 'in_child'") == 4);
  CHECK(run.count("SELECT count(DISTINCT t.device) FROM python_call c JOIN track t ON t.id = c.track_id WHERE c.name = "
                  "'in_child'") == 4);
  CHECK(run.count("SELECT count(*) FROM python_call WHERE name = 'after_fork'") == 1);
}

TEST_CASE("python: a million calls are a million slices") {
  const PythonFolder folder{{"script.py", "def f(): pass\nfor i in range(1_000_000): f()\n"}};
  CapturedRun run(folder, {"script.py"}, {{"buffer", "128KiB"}});
  CHECK(run.plain.exit_status == 0);
  CHECK(run.count("SELECT count(*) FROM python_call WHERE name = 'f' AND what = 'function'") == 1'000'000);
  CHECK(run.quality("dropped_events").empty());
}

TEST_CASE("python: calls that are too deep are counted, code compiled again and again costs nothing") {
  const PythonFolder folder{{"script.py", R"py(import sys
def f(n): return 0 if n == 0 else f(n - 1)
sys.setrecursionlimit(9000)
f(8000)
for i in range(20000): exec("def again(): pass\nagain()")
)py"}};
  std::vector<request::OptionSetting> options = kOwnCode;
  options.push_back({"c-functions", "off"});
  options.push_back({"gc", "off"});
  CapturedRun run(folder, {"script.py"}, options);
  CHECK(run.plain.exit_status == 0);
  // f(8000) to f(0) below <module>: one lane is that one's.
  CHECK(run.count("SELECT count(*) FROM python_call WHERE name = 'f'") == 3'999);
  CHECK(run.count("SELECT count FROM quality WHERE kind = 'python_calls_too_deep'") == 8'001 - 3'999);
  CHECK(run.count("SELECT count(*) FROM python_call WHERE name = 'again'") == 20'000);
}

TEST_CASE("python: a program that closes all descriptors finds nothing foreign in the files that it opens then") {
  const PythonFolder folder{{"script.py", R"py(import os
def f(): pass
f()
file = os.open("own", os.O_RDWR | os.O_CREAT)
os.write(file, b"own")
for number in range(3, 1000):
    if number != file: os.dup2(file, number)
for i in range(300_000): f()
for i in range(100): exec(f"def new_{i}(): pass\nnew_{i}()")
child = os.fork()
if child == 0:
    f()
    os._exit(0 if os.read(700, 9) == b"" else 1)
print(os.waitpid(child, 0)[1], os.path.getsize("own"), os.pread(file, 100, 0))
)py"}};
  CapturedRun run(folder, {"script.py"}, {{"buffer", "128KiB"}});
  CHECK(run.plain.out == "0 3 b'own'\n");
  CHECK(run.plain.err.empty());
  CHECK(run.count("SELECT count(*) FROM python_call WHERE name = 'f'") >= 1);
}

TEST_CASE("python: a run of pytest has a slice for each test with its phases and outcomes") {
  const PythonFolder folder{{"test_it.py", R"py(import pytest
def helper(): pass
@pytest.fixture
def broken(): raise RuntimeError
def test_good(): helper()
def test_bad(): assert False
@pytest.mark.skip
def test_skipped(): pass
@pytest.mark.xfail
def test_expected(): assert False
def test_error(broken): pass
@pytest.mark.parametrize("n", [1, 2])
def test_each(n, accelscope_profiler): helper()
)py"}};
  const std::vector<std::string> arguments = {"-m", "accelscope", "-m", "pytest", "-q", "-p", "no:cacheprovider"};
  CapturedRun run(folder, arguments);
  if (contains(run.plain.err, "No module named pytest")) return;
  CHECK(run.plain.exit_status == 1);
  CHECK(contains(run.plain.out, "1 failed, 3 passed, 1 skipped, 1 xfailed, 1 error"));
  using Rows = std::vector<std::vector<std::string>>;
  CHECK(run.rows("SELECT name, outcome FROM python_test WHERE phase = 'test' ORDER BY ts_ns") ==
        Rows{{"test_it.py::test_good", "passed"},
             {"test_it.py::test_bad", "failed"},
             {"test_it.py::test_skipped", "skipped"},
             {"test_it.py::test_expected", "xfailed"},
             {"test_it.py::test_error", "error"},
             {"test_it.py::test_each[1]", "passed"},
             {"test_it.py::test_each[2]", "passed"}});
  CHECK(run.rows("SELECT name, outcome FROM python_test WHERE test_id = 'test_it.py::test_bad' AND phase <> 'test' "
                 "ORDER BY ts_ns") == Rows{{"setup", "passed"}, {"call", "failed"}, {"teardown", "passed"}});
  CHECK(run.count("SELECT count(*) FROM python_call WHERE name = 'helper'") == 3);
  const std::string file = std::filesystem::canonical(folder.path("test_it.py")).string();
  CHECK(run.cell("SELECT location FROM python_test WHERE name = 'test_it.py::test_bad'") == file + ":6");
  // With -p only what the fixture enables.
  CapturedRun enabled(folder, {"-m", "accelscope", "-p", "-m", "pytest", "-q", "-p", "no:cacheprovider"});
  CHECK(enabled.count("SELECT count(*) FROM python_call WHERE name = 'helper'") == 2);
  CHECK(enabled.count("SELECT count(*) FROM python_test WHERE phase = 'test'") == 7);
}

TEST_CASE("python: what runs while the capture is paused is left out, what runs on shows before and after") {
  const PythonFolder folder{{"script.py", R"py(import subprocess, sys
from accelscope import collecting
def paused(): pass
def collected(): pass
def ask(wish):
    subprocess.run([sys.argv[1], wish, "python-pause-test"], check=True, stdout=subprocess.DEVNULL)
    while collecting() != (wish == "resume"): pass
def main():
    for _ in range(2):
        paused()
        ask("resume")
        collected()
        ask("pause")
        paused()
main()
)py"}};
  std::vector<request::OptionSetting> options = kOwnCode;
  options.push_back({"c-functions", "off"});
  CapturedRun run(folder, {"script.py", accelscope::test::programs_folder() + "/accelscope-agent"}, options, {},
                  "python-pause-test");
  CHECK_MESSAGE(run.plain.exit_status == 0, run.plain.err);
  CHECK(run.count("SELECT count(*) FROM python_call WHERE name = 'collected' AND partial IS NULL") == 2);
  CHECK(run.count("SELECT count(*) FROM python_call WHERE name = 'paused'") == 0);
  CHECK(run.count("SELECT count(*) FROM python_call WHERE name = 'main' AND partial = 1") == 2);
  CHECK(run.count("SELECT count(*) FROM python_call WHERE name = '<module> __main__' AND partial = 1") == 2);
}

TEST_CASE("python: a sitecustomize that was there before still runs, and output stays the same") {
  const PythonFolder folder{{"site/sitecustomize.py", "print('customized')\n"}, {"script.py", "print('ran')\n"}};
  const std::string before = "PYTHONPATH=" + folder.path("site");
  CapturedRun run(folder, {"script.py"}, kOwnCode, {before});
  CHECK(run.plain.out == "customized\nran\n");
  CHECK(run.plain.err.empty());
  CHECK(run.tree() == "<module> __main__\n  print\n");
}

TEST_CASE("python: a program that sets a profile function of its own is told of") {
  const PythonFolder folder{{"script.py", "import sys\nsys.setprofile(lambda *a: None)\n"}};
  CapturedRun run(folder, {"script.py"}, kOwnCode);
  CHECK(contains(run.quality("python_profile_replaced"), "sys.setprofile"));
}

TEST_CASE("python: a program may put its profile and trace functions aside and set them again") {
  const PythonFolder folder{{"script.py", R"py(import sys
def seen(): pass
def hidden(): pass
def main():
    seen()
    profile = sys.getprofile()
    sys.setprofile(None)
    hidden()
    sys.setprofile(profile)
    seen()
    trace = sys.gettrace()
    sys.settrace(None)
    sys.settrace(trace)
    seen()
main()
)py"}};
  CapturedRun run(folder, {"-m", "accelscope", "-l", "script.py"}, kOwnCode);
  CHECK_MESSAGE(run.plain.exit_status == 0, run.plain.err);
  CHECK(run.count("SELECT count(*) FROM python_call WHERE name = 'seen' AND what = 'function'") == 3);
  CHECK(run.count("SELECT count(*) FROM python_call WHERE name = 'hidden' AND what = 'function'") == 0);
  CHECK(run.count("SELECT count(*) FROM python_call WHERE name = '2  def seen(): pass' AND caller IS NULL") >= 2);
  CHECK(run.quality("python_profile_replaced").empty());
  CHECK(run.quality("python_trace_replaced").empty());
}

TEST_CASE("python: an interpreter whose name tells its version is not started to ask for it") {
  const auto checked = [](const std::string& name) {
    const ScratchFolder folder;
    std::filesystem::create_directory(folder.file("bin"));
    std::ofstream(folder.file("bin/" + name)) << "#!/bin/sh\necho started > " << folder.file("started") << "\n";
    std::filesystem::permissions(folder.file("bin/" + name), std::filesystem::perms::owner_all);
    std::filesystem::create_symlink(name, folder.file("bin/python3"));
    const std::string path = ::getenv("PATH");
    ::setenv("PATH", folder.file("bin").c_str(), 1);
    const std::vector<request::KindChoice> chosen = {{"python", {}}};
    std::string said;
    for (const request::KindFacts& facts : request::checked_kinds(chosen)) {
      for (const request::KindCheck& check : facts.checks) said += check.text;
    }
    ::setenv("PATH", path.c_str(), 1);
    CHECK_FALSE(std::filesystem::exists(folder.file("started")));
    return said;
  };
  CHECK(checked("python3.12").ends_with("/bin/python3 (3.12)"));
  CHECK(checked("python3.9").ends_with("/bin/python3 (3.9)"));
  CHECK(checked("python3.8").ends_with(" is 3.8: too old; name an interpreter of 3.9 or later in the command"));
}

TEST_CASE("python: without an agent -m accelscope says what to do") {
  const PythonFolder folder{{"script.py", ""}};
  CapturedRun laid_down(folder, {"script.py"});  // puts the package where it can be used by hand
  const std::string package =
      CapturedRun(folder, {"-c", "import accelscope, os; print(os.path.dirname(os.path.dirname(accelscope.__file__)))"})
          .plain.out;
  ::setenv("PYTHONPATH", package.substr(0, package.find('\n')).c_str(), 1);
  ::setenv("ACCELSCOPE_AGENT", "/no/such/agent", 1);
  const PlainRun run = folder.plain({"-m", "accelscope", "script.py"});
  ::unsetenv("ACCELSCOPE_AGENT");
  const PlainRun wrong = folder.plain({"-m", "accelscope", "--no-such-option"});
  ::unsetenv("PYTHONPATH");
  CHECK(run.exit_status == 1);
  CHECK(run.err ==
        "accelscope: /no/such/agent: No such file or directory; set ACCELSCOPE_AGENT to the path of "
        "accelscope-agent\n");
  CHECK(wrong.exit_status == 2);
  CHECK(contains(wrong.err, "example: python -m accelscope"));
}

}  // namespace
namespace {

// What the kind asks of PyTorch, as it is documented: an allocator that records, and the snapshot of it.
constexpr const char* kTorchCuda = R"PY(
_waiting = []
_is_started = False
def is_initialized():
    return _is_started
def _lazy_call(function):
    if _is_started:
        function()
    else:
        _waiting.append(function)
def init():
    global _is_started
    _is_started = True
    for function in _waiting:
        function()
from . import memory
)PY";
constexpr const char* kTorchCudaMemory = R"PY(
import collections, pickle, sys, threading, time
_entries = None
_blocks = {}
_lock = threading.RLock()
_taken = 0
_drifts = False
def _record_memory_history(enabled="all", context="all", stacks="all", max_entries=sys.maxsize):
    global _entries
    _entries = collections.deque(maxlen=max_entries)
def _note(action, address, size):
    if _entries is None:
        return
    frame = sys._getframe(2)
    frames = [{"name": frame.f_code.co_name, "filename": frame.f_code.co_filename, "line": frame.f_lineno}]
    _entries.append({"action": action, "addr": address, "size": size, "stream": 0, "frames": frames,
                     "time_us": time.time_ns() // 1000})
def allocate(address, size):
    with _lock:
        _blocks[address] = size
        _note("alloc", address, size)
def free(address):
    with _lock:
        size = _blocks.pop(address)
        _note("free_requested", address, size)
        _note("free_completed", address, size)
def _snapshot(device=None):
    global _taken
    with _lock:
        _taken += 1
        blocks = [{"address": at, "size": size, "requested_size": size, "state": "active_allocated", "frames": []}
                  for at, size in sorted(_blocks.items())]
        segments = [{"device": 0, "address": 0x10000000, "total_size": 64 << 20, "stream": 0, "segment_type": "large",
                     "allocated_size": sum(_blocks.values()), "active_size": sum(_blocks.values()), "blocks": blocks}]
        shift = _taken % 3 if _drifts else 0
        entries = [dict(entry, time_us=entry["time_us"] + shift) for entry in _entries]
        snapshot = {"segments": segments, "device_traces": [entries, []]}
        _note("snapshot", 0, sum(_blocks.values()))
        return snapshot
def _dump_snapshot(path):
    with open(path, "wb") as file:
        pickle.dump(_snapshot(), file)
)PY";
constexpr const char* kTrainer = R"PY(
import torch
from torch.cuda import memory

def weights():
    memory.allocate(0x10000000, 4 << 20)

def activations():
    memory.allocate(0x10800000, 2 << 20)

def step():
    activations()
    memory.free(0x10800000)

torch.cuda.init()
weights()
for _ in range(3):
    step()
)PY";

// `until_read`: a further snapshot is taken once the capture has read the one before.
constexpr const char* kLiveTrainer = R"PY(
import sys, time, torch
from accelscope import torch_memory
from torch.cuda import memory

def activations():
    memory.allocate(0x10800000, 2 << 20)

def step():
    activations()
    memory.free(0x10800000)

def until_read():
    taken, last = memory._taken, time.monotonic() + 30
    while memory._taken < taken + 2:
        if time.monotonic() > last:
            sys.exit("nobody reads the snapshots")
        time.sleep(torch_memory.LOOK)

torch_memory.PERIOD = torch_memory.LOOK = 0.02
torch_memory.MOST_ENTRIES = int(sys.argv[2])
memory._drifts = "drift" in sys.argv
torch.cuda.init()
memory.allocate(0x10000000, 4 << 20)
for burst in range(int(sys.argv[1])):
    with memory._lock:
        for _ in range(int(sys.argv[3])):
            step()
    until_read()
if "kill" in sys.argv:
    memory.allocate(0x11000000, 1 << 20)
    import os
    os._exit(3)
memory._dump_snapshot("end.pickle")
)PY";

// The second snapshot is the last one, though the program runs longer than two would take.
constexpr const char* kSlowTrainer = R"PY(
import atexit, threading, time, torch
from torch.cuda import memory
quick, first = memory._snapshot, threading.Event()
def slow(device=None):
    until = time.thread_time() + 0.25
    while time.thread_time() < until:
        pass
    snapshot = quick()
    first.set()
    return snapshot
memory._snapshot = slow
atexit.register(lambda: print(memory._taken))
torch.cuda.init()
memory.allocate(0x10000000, 4 << 20)
first.wait(30)
until = time.monotonic() + 1.5
while time.monotonic() < until:
    memory.allocate(0x10800000, 2 << 20)
    memory.free(0x10800000)
    time.sleep(0.05)
)PY";

// What every event of a table says, from the first one on.
[[nodiscard]] std::vector<std::string> memory_rows(const Imported& session, const std::string& table) {
  std::vector<std::string> rows;
  std::int64_t first = 0;
  for (const EventValues& event : session.events(table)) {
    if (event.device != "GPU 0") continue;
    if (rows.empty()) first = event.begin;
    std::string row = fmt::format("{} {} {}", event.track, event.begin - first, event.name);
    for (const auto& [column, value] : event.strings) row += fmt::format(" {}={}", column, value);
    for (const auto& [column, value] : event.integers) row += fmt::format(" {}={}", column, value);
    rows.push_back(row);
  }
  return rows;
}

[[nodiscard]] PythonFolder trainer_folder() {
  return PythonFolder{{"train.py", kTrainer},
                      {"live.py", kLiveTrainer},
                      {"slow.py", kSlowTrainer},
                      {"torch/__init__.py", "from . import cuda"},
                      {"torch/cuda/__init__.py", kTorchCuda},
                      {"torch/cuda/memory.py", kTorchCudaMemory}};
}

}  // namespace

TEST_CASE("with --torch-memory the allocations of PyTorch stand in the session, when they happened and by whom") {
  const PythonFolder folder = trainer_folder();
  CapturedRun run(folder, {"train.py"}, {{"torch-memory", "on"}});
  CHECK(run.plain.exit_status == 0);
  CHECK(run.plain.err.empty());
  const std::string allocations = "SELECT count(*) FROM memory_event WHERE action = 'alloc'";
  CHECK(run.count(allocations) == 4);
  CHECK(run.count(allocations + " AND name LIKE 'activations (train.py:%)'") == 3);
  CHECK(run.count(allocations + " AND name LIKE 'weights (train.py:%)'") == 1);
  // Within the call in Python that made it, but for what the clocks of a host differ.
  const std::int64_t slack_ns = 2'000'000;
  const std::string call = "FROM slice s JOIN python_call c ON c.id = s.id WHERE s.name = 'weights'";
  const std::int64_t allocated = std::stoll(run.cell("SELECT ts_ns FROM memory_event WHERE name LIKE 'weights%'"));
  CHECK(allocated >= std::stoll(run.cell("SELECT s.ts_ns " + call)) - slack_ns);
  CHECK(allocated <= std::stoll(run.cell("SELECT s.ts_ns + s.dur_ns " + call)) + slack_ns);
}

TEST_CASE("with --torch-memory allocations are in the session while the program runs, each once, as a file has them") {
  const PythonFolder folder = trainer_folder();
  CapturedRun run(folder, {"live.py", "4", "1000000", "5"}, {{"torch-memory", "on"}});
  CHECK_MESSAGE(run.plain.exit_status == 0, run.plain.err);
  CHECK(run.count("SELECT count(*) FROM memory_event WHERE action = 'alloc'") == 21);
  CHECK(run.count("SELECT count(*) FROM memory_event WHERE action = 'free_completed'") == 20);
  for (const char* kind : {"buffer_overflow", "rows_mended", "relations_open", "truncated", "trace_unreadable"}) {
    CHECK(run.quality(kind) == "");
  }
  CHECK(run.count("SELECT count(*) FROM python_call WHERE module LIKE 'accelscope%'") == 0);
  const Imported live = Imported::session(folder.path("session.accel"));
  const Imported file = Imported::by([&](EventSink& sink) {
    return sources::import_file(sources::torch_memory::import_torch_memory, folder.path("end.pickle"), {}, sink);
  });
  CHECK(memory_rows(live, "memory").size() == 1 + 20 * 3);
  CHECK(memory_rows(live, "memory") == memory_rows(file, "memory"));
  CHECK(memory_rows(live, "memory_segment") == memory_rows(file, "memory_segment"));
  CHECK(memory_rows(live, "counter") == memory_rows(file, "counter"));
}

TEST_CASE("with --torch-memory a trace that is full loses nothing where it is read in time, and says what it lost") {
  const PythonFolder folder = trainer_folder();
  CapturedRun in_time(folder, {"live.py", "8", "40", "5", "drift"}, {{"torch-memory", "on"}});
  CHECK_MESSAGE(in_time.plain.exit_status == 0, in_time.plain.err);
  CHECK(in_time.count("SELECT count(*) FROM memory_event WHERE action = 'alloc'") == 41);
  CHECK(in_time.quality("buffer_overflow") == "");
  CHECK(in_time.quality("pairs_out_of_order") == "");
  CapturedRun overrun(folder, {"live.py", "3", "40", "20"}, {{"torch-memory", "on"}});
  CHECK_MESSAGE(overrun.plain.exit_status == 0, overrun.plain.err);
  // The first burst may come before the first snapshot: its trace has lost its begin then, as any file's.
  const std::uint64_t gaps = overrun.count("SELECT count FROM quality WHERE kind = 'buffer_overflow'");
  CHECK(gaps >= 2);
  CHECK(gaps <= 3);
  const Imported live = Imported::session(folder.path("session.accel"));
  std::int64_t left = 0;
  for (const EventValues& event : live.events("memory")) left += event.integer("Bytes").value_or(0);
  CHECK(left == 4 << 20);
}

TEST_CASE("with --torch-memory snapshots that take long are taken less often, and it is said how often") {
  PythonFolder folder = trainer_folder();
  CapturedRun run(folder, {"slow.py"}, {{"torch-memory", "on"}});
  CHECK_MESSAGE(run.plain.exit_status == 0, run.plain.err);
  CHECK(contains(run.quality("memory_snapshots_rare"), "one is taken every "));
  CHECK(run.plain.out == "2\n");
}

TEST_CASE("with --torch-memory a program that is killed leaves what it had allocated until a second before") {
  const PythonFolder folder = trainer_folder();
  CapturedRun run(folder, {"live.py", "2", "1000000", "5", "kill"}, {{"torch-memory", "on"}});
  CHECK(run.plain.exit_status == 3);
  CHECK(run.count("SELECT count(*) FROM memory_event WHERE action = 'alloc'") >= 11);
  CHECK(contains(run.quality("truncated"), "the last snapshot of PyTorch's memory is missing"));
}

TEST_CASE("without --torch-memory, or without PyTorch, a program in Python is captured as before") {
  const PythonFolder folder = trainer_folder();
  CapturedRun plain(folder, {"train.py"});
  CHECK(plain.count("SELECT count(*) FROM track WHERE kind = 'memory'") == 0);
  const PythonFolder other{{"main.py", "print('done')"}};
  CapturedRun without(other, {"main.py"}, {{"torch-memory", "on"}});
  CHECK(without.plain.out == "done\n");
  CHECK(without.quality("no_trace").find("no memory snapshot") != std::string::npos);
}

}  // namespace accelscope::capture
