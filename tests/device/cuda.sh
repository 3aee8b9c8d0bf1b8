#!/bin/sh
# The kind `cuda` on a machine with a GPU: what is captured beside what torch.profiler records of the same work, taken
# separately, and beside what the programs themselves count. Prints one table; leaves sessions, traces and table.txt in
# the folder OUT. Ends with 1 if anything differs. What is not there is skipped, with the reason.
#
#   cuda.sh --agent accelscope-agent [--viewer accelscope] [--bench accelscope-bench] [--out OUT] [--seconds 330]
#   cuda.sh --compare OUT --viewer accelscope     the table anew, elsewhere, where the viewer did not run on the machine
#
# Needs a driver; for the parts that use them CUDA's compiler or c++, PyTorch, Triton, JAX. Python runs the parts.
# ACCELSCOPE_STAND_INS=BUILD, a build's folder, takes the stand-ins of the tests in place of the machine's driver.
command -v python3 >/dev/null || { echo "skipped: python3 is not installed"; exit 0; }
exec python3 - "$@" <<'PYTHON'
import argparse, ctypes, glob, importlib.util, json, os, re, shutil, signal, subprocess, sys, threading, time

parser = argparse.ArgumentParser(prog="cuda.sh")
parser.add_argument("--agent")
parser.add_argument("--viewer")
parser.add_argument("--bench")
parser.add_argument("--out", default="cuda-device")
parser.add_argument("--seconds", type=float, default=330)
parser.add_argument("--long", type=float, default=60, help="seconds of the long run")
parser.add_argument("--compare")
given = parser.parse_args()
for name in ("agent", "viewer", "bench"):
    if getattr(given, name):
        setattr(given, name, os.path.abspath(getattr(given, name)))
out = os.path.abspath(given.compare or given.out)
os.makedirs(out, exist_ok=True)
stand_ins = os.environ.get("ACCELSCOPE_STAND_INS")
patience = 10 if stand_ins else 1  # tests run on machines at any load
begun = time.time()
rows = []  # of the table: case, what, captured, reference, result


def at(name):
    return os.path.join(out, name)


def left():
    return given.seconds - (time.time() - begun)


def row(case, what, captured="", reference="", result="ok"):
    rows.append((case, what, str(captured), str(reference), result))


def skip(case, why):
    row(case, "", "", "", "skipped: " + why)


def part(case, work, *words):
    """What goes wrong in one part is a row of the table, and the others go on."""
    try:
        return work(*words)
    except (RuntimeError, ValueError, KeyError, OSError) as failure:
        return row(case, "", "", "", f"FAILED, {failure}")


# ---------------------------------------------------------------------------------------------------- the workloads

# What every workload does around its measured part, once, warm: MODE none, capture or torch.
FRAME = r'''
import ctypes, json, os, sys, time
mode, trace = sys.argv[1], sys.argv[2]
driver = ctypes.CDLL("libcuda.so.1")
def measured(work, wait):
    profiler = None
    if mode == "torch":
        import torch.profiler as p
        profiler = p.profile(activities=[p.ProfilerActivity.CPU, p.ProfilerActivity.CUDA])
        profiler.start()
    elif mode == "capture":
        driver.cuProfilerStart()
    begin = time.perf_counter()
    facts = work() or {}
    wait()
    facts["wall"] = time.perf_counter() - begin
    if profiler:
        profiler.stop()
        profiler.export_chrome_trace(trace)
    elif mode == "capture":
        driver.cuProfilerStop()
    print("facts " + json.dumps(facts), flush=True)
'''

VECTOR = r'''
library = ctypes.CDLL(os.environ["VECTOR_LIBRARY"])
import_torch = mode == "torch"
if import_torch:
    import torch
    torch.zeros(1, device="cuda")
assert library.prepare() == 0
measured(lambda: {"kernels": {"vector_add": library.launch(20000)}, "copied": library.copy(40)}, library.settle)
'''

# ResNet's first stages, enough for convolutions, normalisations, pooling, reductions and an optimizer.
TRAINING = r'''
import torch
from torch import nn
torch.manual_seed(0)
torch.backends.cudnn.benchmark = False
def block(inner, outer):
    return nn.Sequential(nn.Conv2d(inner, outer, 3, padding=1, bias=False), nn.BatchNorm2d(outer), nn.ReLU(),
                         nn.Conv2d(outer, outer, 3, padding=1, bias=False), nn.BatchNorm2d(outer), nn.ReLU())
model = nn.Sequential(nn.Conv2d(3, 64, 7, 2, 3), nn.MaxPool2d(2), block(64, 64), block(64, 128), nn.MaxPool2d(2),
                      block(128, 256), nn.MaxPool2d(2), block(256, 512), nn.AdaptiveAvgPool2d(1), nn.Flatten(),
                      nn.Linear(512, 1000)).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
pinned = torch.randn(32, 3, 224, 224).pin_memory()
images, labels = pinned.cuda(), torch.randint(0, 1000, (32,), device="cuda")
def step():
    optimizer.zero_grad(set_to_none=False)
    nn.functional.cross_entropy(model(images), labels).backward()
    optimizer.step()
side = torch.cuda.Stream()
side.wait_stream(torch.cuda.current_stream())
with torch.cuda.stream(side):
    for _ in range(4):
        step()
torch.cuda.current_stream().wait_stream(side)
run = step
if WITH_GRAPH:
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        step()
    run = graph.replay
def work():
    for _ in range(30):
        images.copy_(pinned, non_blocking=True)
        run()
torch.cuda.synchronize()
measured(work, torch.cuda.synchronize)
'''

TRITON = r'''
import torch, triton, triton.language as tl
@triton.jit
def scaled_add(x, y, z, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(z + at, tl.load(x + at, mask=at < n) * 2 + tl.load(y + at, mask=at < n), mask=at < n)
n = 1 << 22
x, y = torch.rand(n, device="cuda"), torch.rand(n, device="cuda")
z = torch.empty_like(x)
def work():
    for _ in range(500):
        scaled_add[(n // 1024,)](x, y, z, n, BLOCK=1024)
    return {"kernels": {"scaled_add": 500}}
scaled_add[(n // 1024,)](x, y, z, n, BLOCK=1024)
torch.cuda.synchronize()
measured(work, torch.cuda.synchronize)
'''

JAX = r'''
os.environ["XLA_PYTHON_CLIENT_PREALLOCATE"] = "false"
if mode == "torch":
    import torch
    torch.zeros(1, device="cuda")
import jax, jax.numpy as np
assert jax.default_backend() == "gpu", "JAX has no GPU here"
product = jax.jit(lambda a, b: a @ b)
a = np.ones((2048, 2048), np.float32)
product(a, a).block_until_ready()
last = [a]
def work():
    for _ in range(100):
        last[0] = product(a, a)
measured(work, lambda: last[0].block_until_ready())
'''

NCCL = r'''
import torch, torch.distributed as dist
rank = int(os.environ["LOCAL_RANK"])
torch.cuda.set_device(rank)
dist.init_process_group("nccl")
values = torch.ones(1 << 22, device="cuda")
dist.all_reduce(values)
torch.cuda.synchronize()
trace = trace.replace(".json", f".{rank}.json")
def work():
    for _ in range(50):
        dist.all_reduce(values)
measured(work, torch.cuda.synchronize)
dist.destroy_process_group()
'''

KERNEL = r'''
extern "C" __global__ void vector_add(const float* a, const float* b, float* c, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) c[i] = a[i] + b[i];
}
#include <cuda_runtime.h>
static float *a, *b, *c;
static const int n = 1 << 18;
static float host[n];
extern "C" int prepare() {
  if (cudaMalloc(&a, 4 * n) || cudaMalloc(&b, 4 * n) || cudaMalloc(&c, 4 * n)) return 1;
  vector_add<<<n / 256, 256>>>(a, b, c, n);
  return cudaDeviceSynchronize();
}
extern "C" int launch(int count) {
  int done = 0;
  for (; done < count; ++done) vector_add<<<n / 256, 256>>>(a, b, c, n);
  return done;
}
extern "C" int copy(int count) {
  int bytes = 0;
  for (int i = 0; i < count; ++i) if (cudaMemcpy(a, host, 4 * n, cudaMemcpyHostToDevice) == 0) bytes += 4 * n;
  return bytes;
}
extern "C" int settle() { return cudaDeviceSynchronize(); }
'''

# The same by the driver alone, where there is no compiler of CUDA.
DRIVER = r'''
typedef unsigned long long Address;
extern "C" {
int cuInit(unsigned);
int cuDeviceGet(int*, int);
int cuDevicePrimaryCtxRetain(void**, int);
int cuCtxSetCurrent(void*);
int cuModuleLoadData(void**, const void*);
int cuModuleGetFunction(void**, void*, const char*);
int cuMemAlloc_v2(Address*, unsigned long);
int cuMemcpyHtoD_v2(Address, const void*, unsigned long);
int cuLaunchKernel(void*, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void*, void**, void**);
int cuCtxSynchronize();
}
static const char* const kText = R"(.version 7.0
.target sm_50
.address_size 64
.visible .entry vector_add(.param .u64 a, .param .u64 b, .param .u64 c, .param .u32 n) {
  .reg .pred %p; .reg .f32 %f<4>; .reg .b32 %r<6>; .reg .b64 %d<8>;
  ld.param.u64 %d1, [a]; ld.param.u64 %d2, [b]; ld.param.u64 %d3, [c]; ld.param.u32 %r1, [n];
  mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mov.u32 %r4, %tid.x;
  mad.lo.s32 %r5, %r2, %r3, %r4;
  setp.ge.s32 %p, %r5, %r1;
  @%p ret;
  mul.wide.s32 %d4, %r5, 4;
  add.s64 %d5, %d1, %d4; add.s64 %d6, %d2, %d4; add.s64 %d7, %d3, %d4;
  ld.global.f32 %f1, [%d5]; ld.global.f32 %f2, [%d6];
  add.f32 %f3, %f1, %f2;
  st.global.f32 [%d7], %f3;
  ret;
}
)";
static Address a, b, c;
static int n = 1 << 18;
static float host[1 << 18];
static void* function;
static int one() {
  void* arguments[] = {&a, &b, &c, &n};
  return cuLaunchKernel(function, n / 256, 1, 1, 256, 1, 1, 0, nullptr, arguments, nullptr);
}
extern "C" int prepare() {
  int device = 0;
  void *context = nullptr, *module = nullptr;
  if (cuInit(0) || cuDeviceGet(&device, 0) || cuDevicePrimaryCtxRetain(&context, device) || cuCtxSetCurrent(context) ||
      cuModuleLoadData(&module, kText) || cuModuleGetFunction(&function, module, "vector_add") ||
      cuMemAlloc_v2(&a, 4 * n) || cuMemAlloc_v2(&b, 4 * n) || cuMemAlloc_v2(&c, 4 * n) || one()) return 1;
  return cuCtxSynchronize();
}
extern "C" int launch(int count) {
  int done = 0;
  while (done < count && one() == 0) ++done;
  return done;
}
extern "C" int copy(int count) {
  int bytes = 0;
  for (int i = 0; i < count; ++i) if (cuMemcpyHtoD_v2(a, host, 4 * n) == 0) bytes += 4 * n;
  return bytes;
}
extern "C" int settle() { return cuCtxSynchronize(); }
'''

# Launches for so many seconds, as fast as they go.
ENDLESS = r'''
#include <chrono>
#include <cstdio>
#include <cstdlib>
int main(int, char** words) {
  if (prepare() != 0) return 1;
  long launched = 1;
  const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(std::atof(words[1]));
  while (std::chrono::steady_clock::now() < end) {
    launched += launch(1000);
    if (launched % 100000 < 1000) settle();
  }
  settle();
  std::printf("launched %ld\n", launched);
}
'''

# ------------------------------------------------------------------------------------------------------- what is there


def has(module):
    return importlib.util.find_spec(module) is not None


def run(argv, seconds, environment=None):
    """Exit status (None: it ran too long, and was ended), output, seconds."""
    start = time.time()
    process = subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL,
                               env={**os.environ, **(environment or {})}, start_new_session=True)
    try:
        text = process.communicate(timeout=max(1, min(seconds * patience, left())))[0]
        return process.returncode, text.decode(errors="replace"), time.time() - start
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        return None, process.communicate()[0].decode(errors="replace"), time.time() - start


def ended(status, text):
    last = (text.strip().splitlines() or [""])[-1][:100]
    return "it ran too long" if status is None else f"status {status}: {last}"


def runs(program, option="--version"):
    try:
        return program is not None and run([program, option], 20)[0] == 0
    except OSError:
        return False


def gpus():
    """How many the driver has, and why there is none."""
    try:
        driver = ctypes.CDLL("libcuda.so.1")
    except OSError:
        return 0, "no driver of NVIDIA (libcuda.so.1)"
    count = ctypes.c_int(0)
    status = driver.cuInit(0)
    if status != 0 or driver.cuDeviceGetCount(ctypes.byref(count)) != 0 or count.value == 0:
        return 0, f"the driver has no GPU (cuInit: {status})"
    return count.value, ""


def build_vector():
    """The library and the endless program; else why there are none."""
    nvcc = shutil.which("nvcc") or next(iter(sorted(glob.glob("/usr/local/cuda*/bin/nvcc"))), None)
    compiler = next(filter(shutil.which, ("c++", "g++", "clang++")), None)
    text = "no compiler of CUDA, and no c++"
    for tool, source, suffix, extra in ((nvcc, KERNEL, ".cu", []), (compiler, DRIVER, ".cpp", ["-l:libcuda.so.1"])):
        if tool is None or not shutil.which(compiler or "c++"):
            continue
        fine = True
        for name, body, how in (("vector", source, ["-shared"]), ("endless", source + ENDLESS, [])):
            with open(at(name + suffix), "w") as file:
                file.write(body)
            pic = ["-Xcompiler", "-fPIC"] if suffix == ".cu" else ["-fPIC"]
            target = at("libvector.so" if how else "endless")
            folders = [] if suffix == ".cu" else [f"-L{d}" for d in driver_folders()]
            status, text, _ = run([tool, "-O2", *pic, *how, at(name + suffix), "-o", target, *folders, *extra], 90)
            fine = fine and status == 0
        if fine:
            return os.path.basename(tool), ""
    return None, text.strip()[-200:]


def driver_folders():
    lines = subprocess.run(["/sbin/ldconfig", "-p"], capture_output=True, text=True).stdout
    return [os.path.dirname(path) for path in re.findall(r"=> (\S*libcuda\.so\.1)", lines)]


# ----------------------------------------------------------------------------------------------------- what they say


def ask(file, sql):
    status, text, _ = run([given.viewer, "query", "--quiet", "--format", "json", file, sql], 60)
    if status != 0 and "no such table" in text:  # nothing of that kind was captured
        return []
    if status != 0:
        raise RuntimeError(ended(status, text))
    return json.loads(text)


def figures(file):
    kernels = {r["name"]: (r["n"], r["ns"])
               for r in ask(file, "SELECT name, count(*) n, sum(dur_ns) ns FROM kernel GROUP BY name")}
    copied = {}
    for table in ("memcpy", "memset"):
        for r in ask(file, f"SELECT name, sum(bytes) b FROM {table} GROUP BY name"):
            copied[r["name"]] = copied.get(r["name"], 0) + (r["b"] or 0)
    return kernels, copied


def added(all_figures):
    kernels, copied = {}, {}
    for some_kernels, some_copied in all_figures:
        for name, (count, ns) in some_kernels.items():
            before = kernels.get(name, (0, 0))
            kernels[name] = (before[0] + count, before[1] + ns)
        for name, size in some_copied.items():
            copied[name] = copied.get(name, 0) + size
    return kernels, copied


LOSSES = ("dropped_events", "rows_lost", "probe_broken", "probe_trouble", "definition_cut", "rows_left_out")


def compare(case, session, traces, facts):
    """The rows of one case: what the session has beside the traces of torch.profiler and what the program counted."""
    kernels, copied = figures(session)
    for name, count in facts.get("kernels", {}).items():
        seen = sum(n for kernel, (n, _) in kernels.items() if name in kernel)
        row(case, f"{name}, as the program counts", seen, count, "ok" if seen == count else "DIFFERS")
    if "copied" in facts:
        seen = sum(size for name, size in copied.items() if "HtoD" in name)
        row(case, "bytes copied, as the program counts", seen, facts["copied"],
            "ok" if seen == facts["copied"] else "DIFFERS")
    if traces:
        theirs, their_bytes = added(figures(trace) for trace in traces)
        wrong = [name for name in sorted({*kernels, *theirs})
                 if kernels.get(name, (0, 0))[0] != theirs.get(name, (0, 0))[0]]
        row(case, "kernels by name", f"{sum(n for n, _ in kernels.values())} of {len(kernels)}",
            f"{sum(n for n, _ in theirs.values())} of {len(theirs)}", "DIFFERS: " + wrong[0] if wrong else "ok")
        mine, other = (sum(ns for _, ns in some.values()) for some in (kernels, theirs))
        share = abs(mine - other) / max(other, 1)
        row(case, "time of kernels, ms", f"{mine / 1e6:.3f}", f"{other / 1e6:.3f}",
            f"ok, {share:.2%}" if share <= 0.01 else f"DIFFERS by {share:.2%}")
        row(case, "bytes copied and set", sum(copied.values()), sum(their_bytes.values()),
            "ok" if copied == their_bytes else "DIFFERS")
    lost = [r for r in ask(session, "SELECT kind, count, detail FROM quality") if r["kind"] in LOSSES]
    row(case, "lost", lost[0]["detail"][:60] if lost else 0, 0, "DIFFERS" if lost else "ok")
    walls = facts.get("walls", {})
    if walls.get("none"):
        more = {mode: f"{wall / walls['none'] - 1:+.1%}" for mode, wall in walls.items() if wall}
        row(case, f"wall time beside {walls['none']:.3f} s", more.get("capture", ""), more.get("torch", ""), "figure")


def facts_of(text):
    found = [json.loads(line) for line in re.findall(r"^facts (\{.*\})$", text, re.M)]
    return {**found[0], "wall": max(f["wall"] for f in found)} if found else None


def capture(session, argv, seconds, environment, options):
    words = [given.agent, "run", "--force", "-o", session, "--kind", "cuda", *options]
    return run([*words, "--", *argv], seconds, environment)


def measure(case, argv, environment=None, options=("--range", "profiler", "--pm-sampling", "off"), seconds=60):
    """Runs a workload without anything, captured, and under torch.profiler; what they say lies in the folder then."""
    if left() < 20:
        return skip(case, "no time is left")
    session, trace = at(case + ".accel"), at(case + ".json")
    walls, facts = {}, None
    for mode in ("none", "capture", "torch"):
        if mode == "torch" and not has("torch"):
            continue
        words = [*argv, mode, trace]
        status, text, _ = (capture(session, words, seconds, environment, options) if mode == "capture"
                           else run(words, seconds, environment))
        with open(at(f"{case}.{mode}.log"), "w") as file:
            file.write(text)
        said = facts_of(text)
        if status != 0 or said is None:
            row(case, f"run: {mode}", "", "", "FAILED, " + ended(status, text))
            if mode != "torch":
                return None
            continue
        walls[mode] = said["wall"]
        facts = said if mode == "capture" else facts
    with open(at(case + ".facts"), "w") as file:
        json.dump({**facts, "walls": walls}, file)


def compare_all():
    for path in sorted(glob.glob(at("*.facts"))):
        case = os.path.basename(path)[:-len(".facts")]
        with open(path) as file:
            facts = json.load(file)
        traces = sorted(glob.glob(at(case + ".json")) + glob.glob(at(case + ".?.json")))
        part(case, compare, case, at(case + ".accel"), traces, facts)


# --------------------------------------------------------------------------------------------------------- the parts


def python_case(case, body, needs, environment=None, before="", launcher=()):
    missing = [module for module in needs if not has(module)]
    if missing:
        return skip(case, f"Python has no {missing[0]}")
    with open(at(case + ".py"), "w") as file:
        file.write(FRAME + before + body)
    part(case, measure, case, [sys.executable, *launcher, at(case + ".py")], environment)


def workloads(gpu_count):
    tool, reason = build_vector()
    if tool:
        python_case("vector", VECTOR, (), {"VECTOR_LIBRARY": at("libvector.so")})
        row("vector", "compiled by " + tool, "", "", "figure")
    else:
        skip("vector", reason)
    python_case("training", TRAINING, ("torch",), before="WITH_GRAPH = False\n")
    python_case("training-graph", TRAINING, ("torch",), before="WITH_GRAPH = True\n")
    python_case("triton", TRITON, ("torch", "triton"))
    python_case("jax", JAX, ("jax",))
    if gpu_count < 2:
        skip("nccl", "there is one GPU")
    else:
        python_case("nccl", NCCL, ("torch",), launcher=("-m", "torch.distributed.run", "--nproc_per_node=2"))
    return at("endless") if tool else None


def stand_in_workload():
    """A thousand launches of one us each by the tests' program, and a trace of as many as torch.profiler writes it."""
    count, reference = 1000, int(os.environ.get("ACCELSCOPE_STAND_IN_REFERENCE", 1000))
    words = [os.path.join(stand_ins, "bin/cuda_for_tests"), "launches", str(count)]
    status, text, _ = capture(at("stand-in.accel"), words, 60, None, ["--gpu-counters", "off"])
    if status != 0:
        return row("stand-in", "run: capture", "", "", "FAILED, " + ended(status, text))
    events = [{"ph": "X", "cat": "kernel", "name": "launched", "pid": 0, "tid": 7, "ts": 10 + 2 * i, "dur": 1,
               "args": {"device": 0, "context": 1, "stream": 7, "correlation": i + 1}} for i in range(reference)]
    with open(at("stand-in.json"), "w") as file:
        json.dump({"schemaVersion": 1, "deviceProperties": [{"id": 0, "name": "GPU"}], "traceEvents": events}, file)
    with open(at("stand-in.facts"), "w") as file:
        json.dump({"kernels": {"launched": count}}, file)


def long_run(words, environment):
    """At full launch rate, over loopback TCP, with `record` as the viewer."""
    if not runs(given.viewer):
        return skip("long", "no viewer that runs here (--viewer)")
    if left() < given.long + 40:
        return skip("long", "no time is left")
    token = at("token")
    with open(os.open(token, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
        file.write(os.urandom(32).hex() + "\n")
    log = at("agent.log")
    agent = subprocess.Popen([given.agent, "--listen", "127.0.0.1:0", "--allow-run", "--token-file", token, "--once"],
                             stdout=open(log, "w"), stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL)
    peaks = [0]  # KiB

    def watch():
        while agent.poll() is None:
            try:
                with open(f"/proc/{agent.pid}/status") as file:
                    peaks.extend(int(found) for found in re.findall(r"VmHWM:\s+(\d+)", file.read()))
            except OSError:
                return
            time.sleep(0.1)

    threading.Thread(target=watch, daemon=True).start()
    try:
        address = None
        for _ in range(200):
            found = re.search(r"127\.0\.0\.1:\d+", open(log).read())
            address = found.group(0) if found else None
            if address or agent.poll() is not None:
                break
            time.sleep(0.05)
        if not address:
            return row("long", "agent", "", "", "FAILED, " + open(log).read()[-100:])
        pairs = [word for name, value in environment.items() for word in ("--env", f"{name}={value}")]
        status, text, took = run([given.viewer, "record", address, "--token-file", token, "--force", "-o",
                                  at("long.accel"), "--kind", "cuda", "--gpu-counters", "off", *pairs, "--", *words],
                                 given.long + 60)
    finally:
        agent.terminate()
        agent.wait()
    launched = re.search(r"launched (\d+)", text)
    if status != 0:
        return row("long", "record", "", "", "FAILED, " + ended(status, text))
    seen = sum(r["n"] for r in ask(at("long.accel"), "SELECT count(*) n FROM kernel"))
    wanted = int(launched.group(1)) if launched else int(words[2])
    row("long", f"kernels, over TCP, in {took:.0f} s", seen, wanted, "ok" if seen == wanted else "DIFFERS")
    lost = [r for r in ask(at("long.accel"), "SELECT kind, detail FROM quality") if r["kind"] in LOSSES]
    row("long", "lost", lost[0]["detail"][:60] if lost else 0, 0, "DIFFERS" if lost else "ok")
    row("long", "kernels a second", round(seen / max(took, 1)), "", "figure")
    peak = max(peaks) // 1024
    row("long", "agent's memory, MiB", peak, 200, "ok" if peak <= 200 else "DIFFERS")
    size = os.path.getsize(at("long.accel"))
    row("long", "session, MB", size // 1_000_000, "", "figure")
    return None


def sampled_counters(words):
    """PM sampling of 3 s at full launch rate: as many samples as fit, and a GPU that was busy."""
    if not runs(given.viewer):
        return skip("counters", "no viewer that runs here (--viewer)")
    if left() < 40:
        return skip("counters", "no time is left")
    session, rate = at("counters.accel"), 10_000
    status, text, _ = capture(session, words, 60, None, ["--calls", "none", "--sampling-rate", str(rate)])
    if status != 0:
        return row("counters", "run: capture", "", "", "FAILED, " + ended(status, text))
    counters = ask(session, "SELECT t.name, t.unit, count(*) n, max(c.value) most, avg(c.value) mean, "
                            "max(c.ts_ns) - min(c.ts_ns) ns FROM counter c JOIN track t ON t.id = c.track_id "
                            "GROUP BY t.id")
    active = [r for r in counters if r["name"] == "SMs Active"]
    said = [r for r in ask(session, "SELECT kind, count, detail FROM quality")
            if r["kind"] in ("facts_left_out", "buffer_overflow", "probe_trouble", "bad_counter")]
    for r in said:
        row("counters", r["kind"], r["count"], "", "figure: " + r["detail"][:200])
    if not active:
        return skip("counters", "nothing was sampled: see above")
    for r in active:
        wanted = round(r["ns"] / 1e9 * rate)
        row("counters", "samples of SMs Active", r["n"], wanted, "ok" if r["n"] > 0.98 * wanted else "DIFFERS")
        row("counters", "SMs active at most, %", f"{r['most']:.1f}", "> 0", "ok" if r["most"] > 0 else "DIFFERS")
    for r in counters:
        if r["n"] >= active[0]["n"]:
            row("counters", f"{r['name']}, {r['unit']}", f"{r['mean']:.4g}", f"at most {r['most']:.4g}", "figure")
    roofs = ask(session, "SELECT name, flops, bytes FROM roofline")
    return row("counters", "kernels in the roofline", len(roofs), "> 0", "ok" if roofs else "DIFFERS")


def viewer_frames(session):
    if not runs(given.viewer):
        return skip("viewer", "no viewer that runs here (--viewer)")
    status, text, _ = run([given.viewer, "doctor"], 30)
    renderer = re.search(r".*(?:EGL|OpenGL|renderer).*", text)
    row("viewer", (renderer.group(0).strip() if renderer else "renderer not known")[:60], "", "", "figure")
    for size in ("1920x1080", "3840x2160"):
        times = []
        for _ in range(3):
            status, text, took = run([given.viewer, "screenshot", session, "--size", size, "--force", "-o",
                                      at(f"timeline-{size}.png")], 60)
            if status != 0:
                break
            times.append(took)
        if status != 0:
            skip("viewer", f"no picture of {size}: {ended(status, text)}")
            continue
        row("viewer", f"opened and drawn at {size}, s", f"{min(times):.2f}", "", "figure")
    if not runs(given.bench, "--list"):
        return skip("viewer", "frame times need the benchmarks (--bench)")
    status, text, _ = run([given.bench, "drawn_frame"], 60)
    for line in re.findall(r"^\{.*\}$", text, re.M):
        figure = json.loads(line)
        row("viewer", figure["figure"], f"{figure['value']:.2f} {figure['unit']}", figure.get("must", ""), "figure")
    return None


def print_table():
    head = ("case", "what", "captured", "reference", "result")
    widths = [max(len(r[i]) for r in [head, *rows]) for i in range(4)]
    lines = ["  ".join([*(cell.ljust(width) for cell, width in zip(r, widths)), r[4]]).rstrip() for r in [head, *rows]]
    with open(at("table.txt"), "w") as file:
        file.write("\n".join(lines) + "\n")
    print("\n".join(lines))


def bring_down():
    """Leaves what is small enough to take along."""
    for path in glob.glob(at("*")):
        if os.path.isfile(path) and os.path.getsize(path) > 32_000_000:
            row("left behind", os.path.basename(path), f"{os.path.getsize(path) // 1_000_000} MB", "", "removed")
            os.remove(path)


def take():
    for name in ("*.facts", "*.accel"):
        for path in glob.glob(at(name)):
            os.remove(path)
    if not runs(given.agent):
        return skip("all", "no agent that runs here (--agent)")
    environment, endless = {}, None
    if stand_ins:
        environment = {"ACCELSCOPE_CUPTI": os.path.join(stand_ins, "lib/libcupti_stand_in.so"),
                       "LD_LIBRARY_PATH": os.path.join(stand_ins, "lib"),
                       "STAND_IN_PATH": os.path.join(stand_ins, "lib/libcupti_stand_in.so")}
        os.environ.update(environment)
        os.environ.update({"ACCELSCOPE_CUDA_DRIVER": os.path.join(stand_ins, "lib/libcuda.so.1"), "STAND_IN_PM": "live"})
        part("stand-in", stand_in_workload)
        part("counters", sampled_counters, [os.path.join(stand_ins, "bin/cuda_for_tests"), "train", "400"])
        long_words = [os.path.join(stand_ins, "bin/cuda_for_tests"), "pace", str(round(20000 * given.long)),
                      str(round(given.long))]
    else:
        count, reason = gpus()
        if count == 0:
            for case in ("vector", "training", "training-graph", "triton", "jax", "nccl", "long", "counters", "viewer"):
                skip(case, reason)
            return None
        row("machine", f"{count} GPUs", "", "", "figure")
        endless = workloads(count)
        long_words = [endless, str(given.long)]
    if given.long == 0:
        skip("long", "--long 0")
    elif stand_ins or endless:
        part("long", long_run, long_words, environment)
    else:
        skip("long", "its program was not compiled")
    if endless:
        part("counters", sampled_counters, [endless, "3"])
    sessions = sorted(glob.glob(at("*.accel")), key=os.path.getsize)
    if sessions:
        part("viewer", viewer_frames, sessions[-1])
    return None


if not given.compare:
    take()
if glob.glob(at("*.facts")):
    if runs(given.viewer):
        compare_all()
    else:
        skip("comparison", "no viewer that runs here; elsewhere: cuda.sh --compare OUT --viewer accelscope")
bring_down()
print_table()
sys.exit(1 if any(r[4].startswith(("DIFFERS", "FAILED")) for r in rows) else 0)
PYTHON
