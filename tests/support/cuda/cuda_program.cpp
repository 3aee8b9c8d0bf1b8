// A program for tests of the kind `cuda`: it starts the stand-in for the driver, which loads the collector, and plays
// records into the stand-in for CUPTI, all of whose values follow from "base", a time that it prints. Its first
// argument says what it does.
#include <dlfcn.h>
#include <signal.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <string>
#include <thread>
#include <vector>

#include "capture/probe/cuda/nvtx_abi.h"
#include "tests/support/cuda/record_player.h"

extern "C" int cuInit(unsigned flags);
extern char** environ;

namespace {

using namespace accelscope::test::cuda;
namespace nvtx = accelscope::probe::cuda::nvtx;

int launch(int count, const char* name) {
  load_cupti();
  for (int i = 0; i < count && g_cupti.launch != nullptr; ++i) (void)g_cupti.launch(name, 7);
  return 0;
}

int launch_from_threads() {
  load_cupti();
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([i] {
      for (int k = 0; k < 20'000; ++k) (void)g_cupti.launch("many", static_cast<std::uint32_t>(i));
    });
  }
  for (std::thread& thread : threads) thread.join();
  return 0;
}

// Records that a buffer does not hold to their end, one of a kind that nobody knows, more bytes than there are.
int play_lies() {
  load_cupti();
  print_base();
  const Raw good = kernel("good", 1'000, 2'000, 7, 1);
  std::vector<std::uint8_t> bytes(good.bytes(), good.bytes() + 216);
  g_cupti.buffer(bytes.data(), bytes.size(), 100);  // cut within the record
  g_cupti.buffer(bytes.data(), bytes.size(), 2);    // within its kind
  g_cupti.buffer(bytes.data(), bytes.size(), 0);
  g_cupti.buffer(bytes.data(), bytes.size(), std::size_t{1} << 40U);
  Raw unknown(static_cast<Activity>(63));
  std::vector<std::uint8_t> mixed(unknown.bytes(), unknown.bytes() + 16);
  mixed.insert(mixed.end(), bytes.begin(), bytes.end());
  g_cupti.buffer(mixed.data(), mixed.size(), mixed.size());
  g_cupti.drop(17);
  kernel(nullptr, 3'000, 4'000, 7, 2).play();
  kernel("backwards", 9'000, 8'000, 7, 3).play();
  return 0;
}

// Dies while its thread's buffer is out, with records in it; those before have been flushed.
int die() {
  load_cupti();
  (void)launch(100, "before");
  await_flush();
  g_cupti.incomplete(true);
  (void)launch(50, "in_the_buffer");
  ::raise(SIGKILL);
  return 0;
}

int end_by_signal() {
  load_cupti();
  (void)launch(100, "before_the_end");
  ::raise(SIGTERM);
  return 0;
}

// Runs until nobody collects calls any more. What it has launched comes only by a forced flush.
int outlive_capture() {
  load_cupti();
  (void)launch(1, "before_the_end");
  g_cupti.incomplete(true);
  (void)launch(99, "before_the_end");
  std::puts("launched");
  std::fflush(stdout);
  const Raw call(Activity::driver_call);
  for (int i = 0; i < 6000 && g_cupti.record(call.bytes(), 40); ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return 0;
}

// A run of its own program, as torchrun starts its workers.
int start_children(const char* self) {
  (void)launch(10, "in_parent");
  std::array<pid_t, 3> children{};
  for (pid_t& child : children) {
    const char* arguments[] = {self, "launches", "20", nullptr};
    if (::posix_spawn(&child, self, nullptr, nullptr, const_cast<char**>(arguments), environ) != 0) return 1;
  }
  for (const pid_t child : children) {
    int status = 0;
    (void)::waitpid(child, &status, 0);
  }
  return 0;
}

// One of several workers, each of which sees one GPU and calls it 0.
int work_alone() {
  load_cupti();
  print_base();
  play_device(0, false);
  play_context(1, 0, false);
  kernel("of_worker", 1'000, 2'000, 7, 1).play();
  return 0;
}

int start_workers(const char* self) {
  for (const char* gpu : {"3", "5", "3"}) {
    ::setenv("STAND_IN_GPU", gpu, 1);
    const char* arguments[] = {self, "worker", nullptr};
    pid_t child = 0;
    int status = 0;
    if (::posix_spawn(&child, self, nullptr, nullptr, const_cast<char**>(arguments), environ) != 0) return 1;
    (void)::waitpid(child, &status, 0);
  }
  return 0;
}

// From where memory is asked for and kernels are launched. The calls come last in no function, so that each has a
// frame.
struct Called {
  std::uint32_t correlation = 1'000;
  std::uint64_t address = 0x5000'0000;
};
Called g_called;

[[gnu::noinline]] void call_allocate(std::uint32_t operation, std::uint64_t address, std::uint64_t bytes) {
  namespace to = cupti::memory;
  const std::uint32_t id = operation == 1 ? 20 : 22;
  const std::uint32_t correlation = ++g_called.correlation;
  const std::uint64_t begin = now() - g_base;
  g_cupti.call(2, id, correlation, false);
  Raw(Activity::memory)
      .set(to::operation, operation)
      .set(to::kind, std::uint32_t{3})
      .set(to::address, address)
      .set(to::bytes, bytes)
      .set(to::time, now())
      .set(to::context, std::uint32_t{1})
      .set(to::correlation, correlation)
      .play();
  g_cupti.call(2, id, correlation, true);
  play_call(Activity::runtime_call, id, begin, now() - g_base, correlation);
}
[[gnu::noinline]] std::uint64_t allocate_weights(std::uint64_t bytes) {
  const std::uint64_t address = g_called.address += 0x1000'0000;
  call_allocate(1, address, bytes);
  asm volatile("");  // else a compiler that sees nobody use the address makes a jump of the call
  return address;
}
[[gnu::noinline]] std::uint64_t allocate_activations(std::uint64_t bytes) {
  const std::uint64_t address = g_called.address += 0x2000'0000;
  call_allocate(1, address, bytes);
  return address;
}
[[gnu::noinline]] std::uint32_t run_layer(const char* kernel) {
  const std::uint32_t correlation = g_cupti.launch(kernel, 7);
  asm volatile("");
  return correlation;
}
// By the driver alone, as Triton launches.
[[gnu::noinline]] void run_layer_of_driver() {
  const std::uint32_t correlation = ++g_called.correlation;
  const std::uint64_t begin = now() - g_base;
  g_cupti.call(1, 307, correlation, false);
  g_cupti.call(1, 307, correlation, true);
  play_call(Activity::driver_call, 307, begin, now() - g_base, correlation);
  kernel("of_the_driver", begin + 10, begin + 20, 13, correlation).play();
}

[[gnu::noinline]] int play_stacks(int steps) {
  load_cupti();
  print_base();
  play_device(0, false);
  play_context(1, 0, false);
  (void)allocate_weights(std::uint64_t{3} << 30U);
  for (int step = 0; step < steps; ++step) {
    const std::uint64_t activations = allocate_activations(std::uint64_t{256} << 20U);
    (void)run_layer("_Z4gemmIfEvPT_");
    run_layer_of_driver();
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    call_allocate(2, activations, 0);
  }
  (void)allocate_activations(std::uint64_t{128} << 20U);
  void* subscriber = nullptr;
  const int result = g_cupti.subscribe(
      &subscriber, [](void*, std::uint32_t, std::uint32_t, const void*) {}, nullptr);
  std::printf("CUPTI's place for callbacks is %s\n", result == cupti::kSuccess ? "free" : "taken");
  return 0;
}

// NVTX as its headers do it: tables of functions, which a library fills in.
struct Nvtx {
  static constexpr unsigned kCount = 16;
  struct Module {
    nvtx::Function functions[kCount]{};
    nvtx::Function* table[kCount]{};
    nvtx::Function operator[](unsigned place) const { return functions[place]; }
  };
  Module core, driver, runtime, domains;
  std::intptr_t payloads[64]{};
};
Nvtx g_nvtx;

Nvtx::Module* module_of(std::uint32_t module) {
  switch (module) {
    case nvtx::kCore:
      return &g_nvtx.core;
    case nvtx::kCuda:
      return &g_nvtx.driver;
    case nvtx::kCudaRuntime:
      return &g_nvtx.runtime;
    case nvtx::kDomains:
      return &g_nvtx.domains;
    default:
      return nullptr;
  }
}

int get_functions(std::uint32_t number, nvtx::FunctionTable* table, unsigned* count) {
  Nvtx::Module* module = module_of(number);
  if (module == nullptr) return 0;
  for (unsigned i = 1; i < Nvtx::kCount; ++i) module->table[i] = &module->functions[i];
  *table = module->table;
  *count = Nvtx::kCount;
  return 1;
}

bool load_nvtx() {
  const char* path = std::getenv("NVTX_INJECTION64_PATH");
  void* library = path == nullptr ? nullptr : ::dlopen(path, RTLD_LAZY);
  if (library == nullptr) return false;
  int (*start)(nvtx::GetExportTable) = nullptr;
  take(library, "InitializeInjectionNvtx2", start);
  return start != nullptr && start([](std::uint32_t id) -> const void* {
                               static const nvtx::CallbackTable kTable{sizeof kTable, &get_functions};
                               return id == nvtx::kCallbackTable ? &kTable : nullptr;
                             }) == 1;
}

template <typename Result, typename... Arguments>
Result call(nvtx::Function function, Arguments... arguments) {
  if (function == nullptr) return Result();
  return reinterpret_cast<Result (*)(Arguments...)>(function)(arguments...);
}
template <typename Result, typename... Arguments>
Result call_payload(nvtx::PayloadFunction place, Arguments... arguments) {
  return call<Result>(reinterpret_cast<nvtx::Function>(g_nvtx.payloads[place]), arguments...);
}
int push(const char* text) { return call<int>(g_nvtx.core[9], text); }
int pop() { return call<int>(g_nvtx.core[11]); }

nvtx::Attributes attributes(const char* text) {
  nvtx::Attributes all{};
  all.version = 3;
  all.size = sizeof all;
  all.message_type = nvtx::kAscii;
  all.message.ascii = text;
  return all;
}

int play_nvtx() {
  if (!load_nvtx()) return 1;
  print_base();
  call<void>(g_nvtx.core[14], own_thread(), static_cast<const char*>("trainer"));
  void* domain = call<void*>(g_nvtx.domains[12], static_cast<const char*>("data loader"));
  call<void>(g_nvtx.domains[8], domain, std::uint32_t{3}, static_cast<const char*>("reading"));
  void* registered = call<void*>(g_nvtx.domains[10], domain, static_cast<const char*>("registered batch"));
  if (push("step") != 0) return 2;
  if (push("forward") != 1) return 3;
  call<void>(g_nvtx.core[2], static_cast<const char*>("here"));
  if (pop() != 1) return 4;
  const wchar_t wide[] = {L'b', 0x00E9, 0x4E16, 0x1F600, 0};
  if (call<int>(g_nvtx.core[10], static_cast<const wchar_t*>(wide)) != 1) return 5;
  (void)pop();
  nvtx::Attributes batch = attributes("");
  batch.message_type = nvtx::kRegistered;
  batch.message.registered = registered;
  batch.category = 3;
  batch.color_type = nvtx::kArgb;
  batch.color = 0xFF112233;
  batch.payload_type = nvtx::kSigned32;
  batch.payload.signed32 = -7;
  if (call<int>(g_nvtx.domains[4], domain, static_cast<const nvtx::Attributes*>(&batch)) != 0) return 6;
  nvtx::Attributes free_range = attributes("request");
  free_range.payload_type = nvtx::kDouble;
  free_range.payload.real64 = 2.5;
  const auto range = call<std::uint64_t>(g_nvtx.core[4], static_cast<const nvtx::Attributes*>(&free_range));
  (void)pop();  // "step", within which the domain's range began: they cross
  if (call<int>(g_nvtx.domains[5], domain) != 0) return 7;
  call<void>(g_nvtx.core[7], range);
  if (pop() != -1) return 8;
  (void)push("left open");
  // Most names come once.
  for (int i = 0; i < 5; ++i) {
    (void)push(("aten::add, seq = " + std::to_string(i)).c_str());
    (void)pop();
  }
  return 0;
}

// As NCCL describes its calls: a size, a number that stands for a word, a text, behind each other as a compiler puts
// them.
struct Message {
  std::uint64_t bytes;
  std::uint8_t operation;
  std::int32_t root;
  char algorithm[8];
};

int play_payloads() {
  if (!load_nvtx()) return 1;
  const char* path = std::getenv("NVTX_INJECTION64_PATH");
  int (*start)(const nvtx::ExtensionModule*) = nullptr;
  take(::dlopen(path, RTLD_LAZY), "InitializeInjectionNvtxExtension", start);
  nvtx::ExtensionSegment segment{0, std::size(g_nvtx.payloads), g_nvtx.payloads};
  const nvtx::ExtensionModule module{3, sizeof module, nvtx::kPayloads, 0x104, 1, &segment};
  if (start == nullptr || start(&module) != 1) return 2;
  void* domain = call<void*>(g_nvtx.domains[12], static_cast<const char*>("NCCL"));
  const nvtx::Word words[] = {{"sum", 0, 0}, {"max", 3, 0}};
  const nvtx::WordsAttributes operations{0x1E, "operations", words, std::size(words), 1, 0, nullptr};
  const auto operation = call_payload<std::uint64_t>(nvtx::kRegisterWords, domain, &operations);
  const nvtx::SchemaEntry entries[] = {
      {0, 22, "Message size [bytes]", nullptr, 0, 0, nullptr, nullptr},
      {0, operation, "Operation", nullptr, 0, 0, nullptr, nullptr},
      {0, 5, "Root", nullptr, 0, 0, nullptr, nullptr},
      {1 << 4, 1, "Algorithm", nullptr, 8, 0, nullptr, nullptr},
  };
  const nvtx::SchemaAttributes schema{0x3A, "all-reduce", 1, 0, entries, std::size(entries), 0, 0, 0, nullptr};
  const auto layout = call_payload<std::uint64_t>(nvtx::kRegisterSchema, domain, &schema);
  if (operation == 0 || layout == 0 || operation == layout) return 3;
  const Message message{1U << 20U, 3, -1, "ring"};
  const nvtx::PayloadData data{layout, sizeof message, &message};
  nvtx::Attributes all = attributes("ncclAllReduce");
  all.payload_type = nvtx::kOfSchemas;
  all.payload_count = 1;
  all.payload.data = &data;
  (void)call<int>(g_nvtx.domains[4], domain, static_cast<const nvtx::Attributes*>(&all));
  (void)call<int>(g_nvtx.domains[5], domain);
  // An event of nothing but data, one of a layout that nobody described, one of fewer bytes than there should be.
  (void)call_payload<int>(nvtx::kPush, domain, &data, std::size_t{1});
  (void)call_payload<int>(nvtx::kPop, domain, &data, std::size_t{1});
  const nvtx::PayloadData unknown{12345, sizeof message, &message};
  call_payload<void>(nvtx::kMark, domain, &unknown, std::size_t{1});
  const nvtx::PayloadData cut{layout, 9, &message};
  call_payload<void>(nvtx::kMark, domain, &cut, std::size_t{1});
  return 0;
}

// Streams, contexts and devices that the program names before it uses them.
int play_names() {
  (void)load_nvtx();
  load_cupti();
  print_base();
  play_device(0, false);
  play_context(1, 0, false);
  call<void>(g_nvtx.runtime[1], 0, static_cast<const char*>("trainer's GPU"));
  call<void>(g_nvtx.runtime[3], reinterpret_cast<void*>(7), static_cast<const char*>("compute"));
  const wchar_t wide[] = {L'c', L'o', L'p', L'i', 0x00E9, L's', 0};
  call<void>(g_nvtx.driver[6], reinterpret_cast<void*>(13), static_cast<const wchar_t*>(wide));
  nvtx::ResourceAttributes resource{};
  resource.version = 3;
  resource.size = sizeof resource;
  resource.type = nvtx::kRuntimeStream;
  resource.identifier = reinterpret_cast<void*>(9);
  resource.message_type = nvtx::kAscii;
  resource.message.ascii = "reduce";
  void* made = call<void*>(g_nvtx.domains[6], static_cast<void*>(nullptr),
                           static_cast<const nvtx::ResourceAttributes*>(&resource));
  kernel("first", 1'000, 2'000, 7, 1).play();
  kernel("second", 3'000, 4'000, 13, 2).play();
  kernel("third", 5'000, 6'000, 9, 3).play();
  return made == nullptr ? 1 : 0;
}

int play_ranges() {
  if (!load_nvtx()) return 1;
  (void)launch(10, "outside");
  (void)push("epoch");
  (void)push("wanted");
  (void)launch(20, "inside");
  (void)push("wanted");  // within itself
  (void)pop();
  (void)launch(5, "inside");
  (void)pop();
  (void)launch(10, "outside");
  (void)pop();
  g_cupti.profiler(true);
  g_cupti.profiler(true);  // once more changes nothing
  (void)launch(7, "profiled");
  g_cupti.profiler(false);
  (void)launch(10, "outside");
  return 0;
}

int play_forks() {
  if (!load_nvtx()) return 1;
  (void)push("parent");
  if (const pid_t child = ::fork(); child == 0) {
    (void)push("child");
    (void)pop();
    std::exit(0);
  } else {
    int status = 0;
    (void)::waitpid(child, &status, 0);
  }
  (void)pop();
  return 0;
}

// Steps of a training as its timeline looks: a copy on one stream, kernels that wait for it on another, a collective on
// a third, all within NVTX ranges and in real time. It ends early once there is a file of that name.
int train(int steps, const char* until) {
  load_cupti();
  (void)load_nvtx();
  print_base();
  play_device(0, false);
  play_context(1, 0, false);
  namespace memory = cupti::memory;
  const auto allocate = [](std::uint32_t operation, std::uint64_t address, std::uint64_t bytes) {
    Raw(Activity::memory)
        .set(memory::operation, operation)
        .set(memory::kind, std::uint32_t{3})
        .set(memory::address, address)
        .set(memory::bytes, bytes)
        .set(memory::time, now())
        .set(memory::context, std::uint32_t{1})
        .play();
  };
  allocate(1, 0x10000000, std::uint64_t{3} << 30U);
  std::uint32_t correlation = 1;
  const auto launched = [&](const char* name, std::uint64_t start, std::uint64_t end, std::uint32_t stream) {
    const std::uint64_t call = now() - g_base;
    play_call(Activity::runtime_call, 211, call, call + 200, ++correlation);
    kernel(name, start - g_base, end - g_base, stream, correlation).play();
  };
  for (int step = 0; step < steps && (until == nullptr || ::access(until, F_OK) != 0); ++step) {
    (void)push("step");
    const std::uint64_t begin = now();
    allocate(1, 0x20000000, std::uint64_t{512} << 20U);
    const std::uint64_t call = begin - g_base;
    play_call(Activity::runtime_call, 41, call, call + 6'000, ++correlation);
    Raw(Activity::copy)
        .set(cupti::copy::kind, std::uint8_t{1})
        .set(cupti::copy::source_kind, std::uint8_t{2})
        .set(cupti::copy::target_kind, std::uint8_t{3})
        .set(cupti::copy::bytes, std::uint64_t{64} << 20U)
        .set(cupti::copy::start, begin + 20'000)
        .set(cupti::copy::end, begin + 1'500'000)
        .set(cupti::copy::context, std::uint32_t{1})
        .set(cupti::copy::stream, std::uint32_t{13})
        .set(cupti::copy::correlation, correlation)
        .play();
    (void)push("forward");
    for (std::uint64_t layer = 0; layer < 6; ++layer) {
      const std::uint64_t at = begin + 1'600'000 + layer * 900'000;
      launched("_Z4gemmIfEvPT_", at, at + 700'000, 7);
      launched("void softmax_warp_forward<float>(float*, int)", at + 705'000, at + 850'000, 7);
    }
    (void)pop();
    (void)push("backward");
    for (std::uint64_t layer = 0; layer < 6; ++layer) {
      const std::uint64_t at = begin + 7'100'000 + layer * 1'000'000;
      launched("_Z4gemmIfEvPT_", at, at + 900'000, 7);
    }
    launched("ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)", begin + 9'000'000,
             begin + 14'500'000, 20);
    (void)pop();
    std::this_thread::sleep_until(std::chrono::steady_clock::time_point(std::chrono::nanoseconds(begin + 15'000'000)));
    Raw(Activity::synchronization)
        .set(cupti::synchronization::type, std::uint32_t{3})
        .set(cupti::synchronization::start, begin + 1'300'000)
        .set(cupti::synchronization::end, begin + 14'600'000)
        .set(cupti::synchronization::correlation, ++correlation)
        .set(cupti::synchronization::context, std::uint32_t{1})
        .set(cupti::synchronization::stream, std::uint32_t{7})
        .set(cupti::synchronization::event, cupti::kNone)
        .play();
    play_call(Activity::runtime_call, 131, begin + 1'290'000 - g_base, begin + 14'610'000 - g_base, correlation);
    allocate(2, 0x20000000, std::uint64_t{512} << 20U);
    (void)pop();
  }
  return 0;
}

// Another tool of the program takes CUPTI, as torch.profiler does.
int take_over() {
  load_cupti();
  (void)launch(10, "before");
  await_flush();
  ::setenv("STAND_IN_SUBSCRIBED", "1", 1);
  static std::size_t count = 0;
  g_cupti.register_callbacks(
      [](std::uint8_t** buffer, std::size_t* bytes, std::size_t* most) {
        *most = 0;
        *bytes = 1 << 20;
        *buffer = static_cast<std::uint8_t*>(std::malloc(*bytes));
      },
      [](void*, std::uint32_t, std::uint8_t* buffer, std::size_t, std::size_t valid) {
        std::uint8_t* record = nullptr;
        while (g_cupti.next(buffer, valid, &record) == 0) ++count;
        std::free(buffer);
      });
  (void)launch(30, "after");
  await(g_cupti.refusals, 1);
  g_cupti.flush(1);
  std::printf("the other tool has %zu\n", count);
  return 0;
}

// Long enough for some turns of the counters.
int use_gpu() {
  load_cupti();
  print_base();
  play_device(0, false);
  std::this_thread::sleep_for(std::chrono::milliseconds(1500));
  return 0;
}

// Launches for benchmarks, with and without the collector: "median wall NS" of rounds, a launch. Without it there is a
// consumer that does nothing, so that what the stand-in itself costs is in both.
int time_launches(int count) {
  load_cupti();
  if (std::getenv("CUDA_INJECTION64_PATH") == nullptr) {
    g_cupti.register_callbacks(
        [](std::uint8_t** buffer, std::size_t* bytes, std::size_t* most) {
          *most = 0;
          *bytes = 1 << 20;
          *buffer = static_cast<std::uint8_t*>(std::malloc(*bytes));
        },
        [](void*, std::uint32_t, std::uint8_t* buffer, std::size_t, std::size_t) { std::free(buffer); });
    g_cupti.enable(5);
    g_cupti.enable(10);
  }
  std::vector<double> rounds, of_thread;
  for (int round = 0; round < 31; ++round) {
    timespec before{}, after{};
    ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &before);
    const std::uint64_t begin = now();
    for (int i = 0; i < count; ++i) (void)g_cupti.launch("_Z4gemmIfEvPT_", 7);
    rounds.push_back(static_cast<double>(now() - begin) / count / 1000);
    ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &after);
    of_thread.push_back(
        static_cast<double>((after.tv_sec - before.tv_sec) * 1'000'000'000 + after.tv_nsec - before.tv_nsec) / count /
        1000);
    if (round == 0) std::this_thread::sleep_for(std::chrono::milliseconds(150));
  }
  std::sort(rounds.begin(), rounds.end());
  std::sort(of_thread.begin(), of_thread.end());
  std::printf("median wall %f thread %f\n", rounds[rounds.size() / 2], of_thread[of_thread.size() / 2]);
  return 0;
}

// So many launches in so many seconds, evenly.
int pace(int count, int seconds) {
  load_cupti();
  const std::uint64_t begin = now();
  for (int i = 0; i < count; ++i) {
    if (i % 1000 == 0) {
      const std::uint64_t due = begin + static_cast<std::uint64_t>(i) * static_cast<std::uint64_t>(seconds) *
                                            1'000'000'000U / static_cast<std::uint64_t>(count);
      while (now() < due) std::this_thread::sleep_for(std::chrono::microseconds(200));
    }
    (void)g_cupti.launch("_Z4gemmIfEvPT_", static_cast<std::uint32_t>(i % 4));
  }
  std::printf("took %f s\n", static_cast<double>(now() - begin) / 1e9);
  return 0;
}

}  // namespace

int main(int count, char** arguments) {
  const std::string what = count > 1 ? arguments[1] : "";
  const int number = count > 2 ? std::atoi(arguments[2]) : 0;
  if (what == "nvtx") return play_nvtx();
  if (what == "payloads") return play_payloads();
  (void)cuInit(0);
  if (what == "all") return play_all();
  if (what == "stacks") return play_stacks(number);
  if (what == "names") return play_names();
  if (what == "launches") return launch(number, "launched");
  if (what == "threads") return launch_from_threads();
  if (what == "lies") return play_lies();
  if (what == "nvml") return use_gpu();
  if (what == "die") return die();
  if (what == "signal") return end_by_signal();
  if (what == "outlive") return outlive_capture();
  if (what == "children") return start_children(arguments[0]);
  if (what == "workers") return start_workers(arguments[0]);
  if (what == "worker") return work_alone();
  if (what == "ranges") return play_ranges();
  if (what == "forks") return play_forks();
  if (what == "takeover") return take_over();
  if (what == "timed") return time_launches(number);
  if (what == "train") return train(number, count > 3 ? arguments[3] : nullptr);
  if (what == "pace") return pace(number, count > 3 ? std::atoi(arguments[3]) : 10);
  return 64;
}
