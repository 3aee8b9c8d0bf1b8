#include "core/analysis/source/own_code.h"

#include <algorithm>
#include <array>

namespace accelscope::analysis {
namespace {

// Packages that carry out the operations of a model, as folders.
constexpr std::array<std::string_view, 24> kPackages = {
    "torch", "torchvision", "torchaudio", "torch_xla",         "torch_neuronx", "torch_tpu", "functorch", "triton",
    "jax",   "jaxlib",      "flax",       "tensorflow",        "keras",         "numpy",     "scipy",     "pandas",
    "apex",  "lightning",   "accelerate", "pytorch_lightning", "libneuronxla",  "neuronxcc", "ttnn",      "pybind11"};

// Modules of Python's own library that stand in stacks, sorted.
constexpr std::array<std::string_view, 44> kModules = {
    "_bootlocale.py", "_weakrefset.py", "abc.py",       "argparse.py",   "ast.py",
    "bdb.py",         "cProfile.py",    "codecs.py",    "contextlib.py", "copy.py",
    "copyreg.py",     "dataclasses.py", "enum.py",      "fnmatch.py",    "functools.py",
    "genericpath.py", "glob.py",        "heapq.py",     "inspect.py",    "ipykernel_launcher.py",
    "linecache.py",   "locale.py",      "os.py",        "pathlib.py",    "pickle.py",
    "posixpath.py",   "queue.py",       "random.py",    "re.py",         "runpy.py",
    "selectors.py",   "shutil.py",      "site.py",      "socket.py",     "subprocess.py",
    "tempfile.py",    "textwrap.py",    "threading.py", "traceback.py",  "types.py",
    "typing.py",      "uuid.py",        "warnings.py",  "weakref.py"};

// Folders of Python's own library.
constexpr std::array<std::string_view, 12> kFolders = {"asyncio", "collections",     "concurrent", "ctypes",
                                                       "email",   "encodings",       "importlib",  "json",
                                                       "logging", "multiprocessing", "unittest",   "xml"};

template <std::size_t N>
bool is_one_of(const std::array<std::string_view, N>& names, std::string_view name) noexcept {
  return std::find(names.begin(), names.end(), name) != names.end();
}

constexpr std::array<std::string_view, 12> kWaitingBuiltIns = {"method acquire of _thread.",
                                                               "method acquire of _multiprocessing.",
                                                               "method poll of select.",
                                                               "method wait of ",
                                                               "function sleep>",
                                                               "function time.sleep",
                                                               "function nanosleep",
                                                               "method sleep of ",
                                                               "function select>",
                                                               "method __enter__ of _thread.",
                                                               "method get of _queue.SimpleQueue",
                                                               "method join of _thread."};

// Functions of Python's library in which a thread waits, as frames: "threading.py(359): wait".
struct WaitingFrame {
  std::string_view file, function;
};
constexpr std::array<WaitingFrame, 13> kWaitingFrames = {{{"threading.py", "wait"},
                                                          {"threading.py", "wait_for"},
                                                          {"threading.py", "join"},
                                                          {"threading.py", "_wait_for_tstate_lock"},
                                                          {"selectors.py", "select"},
                                                          {"queue.py", "get"},
                                                          {"queue.py", "put"},
                                                          {"connection.py", "poll"},
                                                          {"connection.py", "wait"},
                                                          {"connection.py", "_poll"},
                                                          {"subprocess.py", "wait"},
                                                          {"subprocess.py", "_wait"},
                                                          {"_base.py", "result"}}};

// Calls as recorders of functions name them, sorted: "time.sleep", "sleep", "clock_nanosleep".
constexpr std::array<std::string_view, 29> kWaitingCalls = {"RLock.acquire",
                                                            "SimpleQueue.get",
                                                            "__poll",
                                                            "__select",
                                                            "_queue.SimpleQueue.get",
                                                            "_thread.RLock.acquire",
                                                            "_thread.lock.acquire",
                                                            "asyncio.sleep",
                                                            "clock_nanosleep",
                                                            "epoll.poll",
                                                            "epoll_pwait",
                                                            "epoll_wait",
                                                            "lock.acquire",
                                                            "nanosleep",
                                                            "poll.poll",
                                                            "ppoll",
                                                            "pselect",
                                                            "pthread_cond_timedwait",
                                                            "pthread_cond_wait",
                                                            "pthread_join",
                                                            "select.epoll.poll",
                                                            "select.poll.poll",
                                                            "select.select",
                                                            "sem_timedwait",
                                                            "sem_wait",
                                                            "sleep",
                                                            "time.sleep",
                                                            "usleep",
                                                            "wait4"};

// "time.sleep (<built-in>)", "time.sleep()", "time.sleep": what stands behind the name says where it is.
bool is_waiting_function(std::string_view name) noexcept {
  name = name.substr(0, name.find_first_of(" ("));
  return std::binary_search(kWaitingCalls.begin(), kWaitingCalls.end(), name);
}

bool is_waiting_frame(std::string_view name) noexcept {
  const std::size_t close = name.find("): ");
  const std::size_t open = close == std::string_view::npos ? close : name.rfind('(', close);
  if (open == std::string_view::npos) return is_waiting_function(name);
  const std::string_view path = name.substr(0, open);
  const std::string_view file = path.substr(path.rfind('/') + 1);
  const std::string_view function = name.substr(close + 3);
  return std::ranges::any_of(kWaitingFrames,
                             [&](const WaitingFrame& each) { return each.file == file && each.function == function; });
}

}  // namespace

bool is_waiting_call(std::string_view name) noexcept {
  constexpr std::string_view kBuiltIn = "<built-in ";
  if (!name.starts_with(kBuiltIn)) return is_waiting_frame(name);
  name.remove_prefix(kBuiltIn.size());
  return std::ranges::any_of(kWaitingBuiltIns, [&](std::string_view each) { return name.starts_with(each); });
}

bool is_mark(std::string_view name) noexcept { return name.starts_with("ProfilerStep"); }

bool is_framework_path(std::string_view path) noexcept {
  if (path.starts_with('<')) return true;  // "<frozen importlib>", "<built-in method ...>"
  constexpr std::array<std::string_view, 3> kLibraries = {"site-packages/", "dist-packages/", "/lib/python3"};
  for (const std::string_view library : kLibraries) {
    const std::size_t at = path.find(library);
    if (at == std::string_view::npos) continue;
    if (library.starts_with('/')) return true;
    const std::string_view inside = path.substr(at + library.size());
    return is_framework_path(inside);  // other packages may be the user's own, installed
  }
  if (path.starts_with("./")) path.remove_prefix(2);
  if (path.starts_with('/')) return false;
  const std::size_t slash = path.find('/');
  if (slash == std::string_view::npos) return is_one_of(kModules, path);
  const std::string_view first = path.substr(0, slash);
  return is_one_of(kPackages, first) || is_one_of(kFolders, first);
}

}  // namespace accelscope::analysis
