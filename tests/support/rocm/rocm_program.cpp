// A program for tests of the kind `rocm`: it starts the stand-in for rocprofiler-sdk, which loads the collector, and
// plays records into it, all of whose values follow from "base", a time that it prints. Its first argument says what it
// does.
#include <signal.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <string>
#include <thread>
#include <vector>

#include "tests/support/rocm/stand_in_sdk.h"

extern char** environ;

namespace {

constexpr std::uint64_t kCpu = 7000, kGpu = 7001, kSecondGpu = 7002;
constexpr int kEnter = 1, kExit = 2;
enum Roctx : int { kMark, kPush, kPop, kStart, kStop };

std::uint64_t now() {
  timespec time{};
  ::clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000U + static_cast<std::uint64_t>(time.tv_nsec);
}
std::uint64_t own_thread() { return static_cast<std::uint64_t>(::syscall(SYS_gettid)); }
bool is_wide() { return stand_in::version() >= 10'000; }

std::uint64_t g_base = 0;
void print_base() {
  g_base = now();
  std::printf("base %" PRIu64 "\nthread %" PRIu64 "\n", g_base, own_thread());
  std::fflush(stdout);
}

// Calls with the ids that this version has.
template <typename Use>
void with_ids(std::uint64_t correlation, std::uint64_t ancestor, Use use) {
  if (is_wide()) {
    use(stand_in::WideIds{correlation, 0, ancestor});
  } else {
    use(stand_in::Ids{correlation, 0});
  }
}

bool play_call(const char* kind, int operation, std::uint64_t start, std::uint64_t end, std::uint64_t correlation,
               std::uint64_t ancestor = 0) {
  bool is_wanted = false;
  with_ids(correlation, ancestor, [&]<typename OfCall>(OfCall ids) {
    stand_in::Call<OfCall> call{0, 0, operation, ids, start, end, own_thread()};
    is_wanted = stand_in::record(kind, &call, sizeof call);
  });
  return is_wanted;
}

stand_in::Dispatch dispatch(std::uint64_t kernel, std::uint64_t start, std::uint64_t end, std::uint64_t correlation,
                            std::uint64_t stream) {
  stand_in::Dispatch record{};
  record.operation = 2;
  record.ids = {correlation, stream};
  record.thread = own_thread();
  record.start = start;
  record.end = end;
  record.info = {72, kGpu, 2, kernel, 500 + kernel, 0, 0, {256, 1, 1}, {32'768, 2, 1}, {}};
  return record;
}
void play(stand_in::Dispatch record) { (void)stand_in::record("KERNEL_DISPATCH", &record, sizeof record); }

void define_kernel(std::uint64_t id, const char* name, std::uint32_t vgprs = 0) {
  const stand_in::Symbol symbol{sizeof symbol,         id,    1,         name, 0, 64, 16, 0, 0,
                                vgprs == 0 ? 0U : 96U, vgprs, vgprs / 2, 0,    0};
  stand_in::call_back("CODE_OBJECT", 2, kEnter, &symbol);
  stand_in::call_back("CODE_OBJECT", 2, kExit, &symbol);  // it is unloaded
}

// What `work` enqueues, enqueued on a stream.
template <typename Work>
void on_stream(std::uint64_t stream, Work work) {
  const stand_in::Stream set{sizeof set, stream, 0};
  stand_in::call_back("HIP_STREAM", 3, kEnter, &set);
  work();
  stand_in::call_back("HIP_STREAM", 3, kExit, &set);
}

// A launch as HIP makes it: the call, and a kernel of one us that begins when the call has ended. False: nobody wants
// it.
bool launch(const char* name, std::uint64_t stream) {
  static std::atomic<std::uint64_t> last{1'000};
  static const bool kDefined = [&] {
    define_kernel(77, name);
    return true;
  }();
  (void)kDefined;
  const std::uint64_t correlation = ++last, begin = now();
  std::uint64_t external = 0;
  on_stream(stream, [&] { external = stand_in::external_id(11); });
  const std::uint64_t end = now();
  const bool is_wanted = play_call("HIP_RUNTIME_API", 1, begin, end, correlation);
  play(dispatch(77, end, end + 1'000, correlation, external));
  return is_wanted;
}

int launch_all(int count, const char* name) {
  for (int i = 0; i < count; ++i) (void)launch(name, 3);
  return 0;
}

void roctx(int operation, const char* text, std::uint64_t range = 0) {
  stand_in::Roctx payload{};
  payload.size = sizeof payload;
  if (operation == kStop) {
    payload.argument.range = range;
  } else {
    payload.argument.text = text;
  }
  stand_in::call_back("MARKER_CORE_API", operation, kEnter, &payload);
  if (operation == kStart) payload.result = range;
  stand_in::call_back("MARKER_CORE_API", operation, kExit, &payload);
}
void profiler(bool on) {
  const stand_in::Roctx payload{sizeof payload, {nullptr}, 0, 0};
  for (const int phase : {kEnter, kExit}) stand_in::call_back("MARKER_CONTROL_API", on ? 1 : 0, phase, &payload);
}

void play_memory() {
  const auto allocation = [](int operation, std::uint64_t agent, std::uint64_t address, std::uint64_t bytes,
                             std::uint64_t start) {
    with_ids(130, 0, [&]<typename OfCall>(OfCall ids) {
      stand_in::Allocation<OfCall> record{
          0, 0, operation, ids, own_thread(), g_base + start, g_base + start + 50, agent, address, bytes};
      (void)stand_in::record("MEMORY_ALLOCATION", &record, sizeof record);
    });
  };
  allocation(1, kGpu, 0x7F00'0000'0000, 6'442'450'945, 4'300);
  allocation(1, kCpu, 0x1000, 4'096, 4'400);
  allocation(2, kSecondGpu, 0x2000, 8'192, 4'500);
  allocation(3, kCpu, 0x7F00'0000'0000, 0, 50'000);  // of so many bytes as were allocated, where they lay
  allocation(3, kGpu, 0xDEAD, 0, 50'100);            // of before the capture
  with_ids(101, 0, [&]<typename OfCall>(OfCall ids) {
    stand_in::Scratch<OfCall> record{0, 0, 1, ids, kGpu, 2, own_thread(), g_base + 9'500, g_base + 9'600, 4, 65'536};
    const bool has_bytes = stand_in::version() >= 10'300;
    (void)stand_in::record("SCRATCH_MEMORY", &record, has_bytes ? sizeof record : sizeof record - 8);
  });
}

void play_copies() {
  stand_in::Copy copy{0,
                      0,
                      2,
                      {110, 0},
                      own_thread(),
                      g_base + 31'000,
                      g_base + 41'000,
                      kGpu,
                      kCpu,
                      6'000'000'007,
                      0x7F00'0000'0000,
                      0x1000};
  on_stream(4, [&] { copy.ids.external = stand_in::external_id(10); });
  const std::size_t bytes = is_wide() ? sizeof copy : sizeof copy - 16;
  (void)stand_in::record("MEMORY_COPY", &copy, bytes);
  stand_in::Copy peer{0, 0, 4, {111, 0}, own_thread(), g_base + 42'000, g_base + 43'000, kSecondGpu, kGpu, 4'096, 1, 2};
  (void)stand_in::record("MEMORY_COPY", &peer, bytes);
}

int play_all() {
  print_base();
  define_kernel(1, "_Z4gemmIfEvPT_.kd", 128);
  define_kernel(2, "ncclDevKernel_Generic_1(ncclDevKernelArgsStorage<4096ul>).kd");
  (void)play_call("HSA_CORE_API", 5, g_base + 1'200, g_base + 1'300, 201, 101);
  (void)play_call("HIP_COMPILER_API", 0, g_base + 900, g_base + 950, 202);
  (void)play_call("HIP_RUNTIME_API", 1, g_base + 1'000, g_base + 2'000, 101, 100);
  (void)play_call("HIP_RUNTIME_API", 2, g_base + 3'000, g_base + 4'000, 110);
  (void)play_call("HIP_RUNTIME_API", 0, g_base + 4'100, g_base + 4'101, 120);
  (void)play_call("HIP_RUNTIME_API", 3, g_base + 4'200, g_base + 4'900, 130);
  (void)play_call("HIP_RUNTIME_API", 99, g_base + 5'000, g_base + 5'100, 131);  // of a version that is newer
  (void)play_call("RCCL_API", 0, g_base + 6'000, g_base + 7'000, 102);
  std::uint64_t stream = 0;
  on_stream(3, [&] { stream = stand_in::external_id(11); });
  stand_in::Dispatch gemm = dispatch(1, g_base + 10'000, g_base + 20'001, 101, stream);
  gemm.info.private_bytes = 48;
  gemm.info.group_bytes = 65'536;
  play(gemm);
  play(dispatch(2, g_base + 21'000, g_base + 30'000, 102, stream));
  stand_in::Dispatch other = dispatch(9, g_base + 11'000, g_base + 11'001, 104, 0);  // whose symbol never came
  other.info.agent = kSecondGpu;
  play(other);
  play(dispatch(1, 0, 0, 105, stream));
  play_copies();
  play_memory();
  stand_in::Migration moved{0,    0,    1, g_base + 50'000, g_base + 50'500, 1, 0x7E00'0000, 0x7E01'0000, kCpu, kGpu,
                            kGpu, kGpu, 0};
  (void)stand_in::record("KFD_PAGE_MIGRATE", &moved, 92);
  stand_in::Fault fault{0, 0, 1, g_base + 51'000, g_base + 51'020, 1, kGpu, 0x7E00'1000};
  (void)stand_in::record("KFD_PAGE_FAULT", &fault, sizeof fault);
  return 0;
}

int play_roctx() {
  print_base();
  const stand_in::Roctx named{sizeof named, {"trainer"}, 0, 0};
  stand_in::call_back("MARKER_NAME_API", 0, kEnter, &named);
  roctx(kPush, "step");
  roctx(kPush, "forward");
  roctx(kMark, "here");
  roctx(kPop, nullptr);
  roctx(kStart, "request", 41);
  roctx(kPop, nullptr);
  roctx(kStop, nullptr, 41);
  roctx(kPop, nullptr);        // of nothing
  roctx(kStop, nullptr, 999);  // of nothing
  roctx(kMark, nullptr);
  roctx(kPush, "left open");
  return 0;
}

int play_ranges() {
  (void)launch_all(10, "work");
  roctx(kPush, "epoch");
  roctx(kPush, "wanted");
  (void)launch_all(20, "work");
  roctx(kPush, "wanted");  // within itself
  roctx(kPop, nullptr);
  (void)launch_all(5, "work");
  roctx(kPop, nullptr);
  (void)launch_all(10, "work");
  roctx(kPop, nullptr);
  roctx(kStart, "wanted", 7);
  (void)launch_all(3, "work");
  roctx(kStop, nullptr, 7);
  profiler(true);
  profiler(true);  // once more changes nothing
  (void)launch_all(7, "work");
  profiler(false);
  (void)launch_all(10, "work");
  return 0;
}

// Records that are too short for what they are, or say so, of kinds that nobody asked for, and callbacks alike.
int play_lies() {
  print_base();
  define_kernel(1, "good");
  play(dispatch(1, g_base + 1'000, g_base + 2'000, 1, 0));
  stand_in::Dispatch cut = dispatch(1, g_base + 3'000, g_base + 4'000, 2, 0);
  (void)stand_in::record("KERNEL_DISPATCH", &cut, sizeof cut, 100);
  (void)stand_in::record("KERNEL_DISPATCH", &cut, 12);
  (void)stand_in::record("KERNEL_DISPATCH", &cut, 8);
  stand_in::Copy copy{};
  (void)stand_in::record("MEMORY_COPY", &copy, sizeof copy, 79);
  stand_in::Dispatch backwards = dispatch(1, g_base + 9'000, g_base + 8'000, 3, ~std::uint64_t{0});
  backwards.info.agent = ~std::uint64_t{0};
  play(backwards);
  stand_in::Dispatch endless = dispatch(1, ~std::uint64_t{0} - 1, ~std::uint64_t{0}, 4, 0);
  endless.operation = -1;
  play(endless);
  stand_in::empty_header();
  const std::uint64_t short_one[8] = {9, 1, 1, 1, 1, 1, 1, 1};  // which says that it has 9 bytes
  stand_in::call_back("CODE_OBJECT", 2, kEnter, short_one);
  stand_in::call_back("MARKER_CORE_API", kPush, kExit, short_one);
  stand_in::call_back("MARKER_CORE_API", kPop, kEnter, short_one);
  stand_in::call_back("HIP_STREAM", 3, kEnter, short_one);
  for (int i = 0; i < 100; ++i) stand_in::call_back("HIP_STREAM", 3, kExit, short_one);
  stand_in::drop(17);
  return 0;
}

int launch_from_threads() {
  std::vector<std::thread> threads;
  for (std::uint64_t i = 0; i < 8; ++i) {
    threads.emplace_back([i] {
      for (int k = 0; k < 5'000; ++k) (void)launch("many", i);
    });
  }
  for (std::thread& thread : threads) thread.join();
  return 0;
}

// Dies while the library holds records back; those before have been flushed.
int die() {
  (void)launch_all(100, "before");
  stand_in::await_flush();
  stand_in::hold(1 << 30);
  (void)launch_all(50, "before");
  ::raise(SIGKILL);
  return 0;
}

int end_by_signal() {
  (void)launch_all(100, "before_the_end");
  ::raise(SIGTERM);
  return 0;
}

// Runs until nobody collects any more. What it has launched comes after some tries only.
int outlive_capture() {
  stand_in::hold(8);
  (void)launch_all(100, "before_the_end");
  std::puts("launched");
  std::fflush(stdout);
  for (int i = 0; i < 6'000 && play_call("HIP_RUNTIME_API", 0, 1, 1, 0); ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return 0;
}

// Runs of its own program, as torchrun starts its workers.
int start_children(const char* self) {
  (void)launch_all(10, "in_parent");
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

int play_forks() {
  roctx(kPush, "parent");
  if (const pid_t child = ::fork(); child == 0) {
    roctx(kPush, "child");
    roctx(kPop, nullptr);
    std::exit(0);
  } else {
    int status = 0;
    (void)::waitpid(child, &status, 0);
  }
  roctx(kPop, nullptr);
  return 0;
}

// Steps of a training in real time: memory, a copy on one stream, kernels on another, a collective on a third. It ends
// early once there is a file of that name.
int train(int steps, const char* until) {
  define_kernel(1, "_Z4gemmIfEvPT_.kd", 128);
  define_kernel(2, "ncclDevKernel_Generic_1(ncclDevKernelArgsStorage<4096ul>)");
  const auto allocate = [](int operation, std::uint64_t address, std::uint64_t bytes) {
    with_ids(1, 0, [&]<typename OfCall>(OfCall ids) {
      const std::uint64_t at = now();
      stand_in::Allocation<OfCall> record{0, 0, operation, ids, own_thread(), at, at + 10, kGpu, address, bytes};
      (void)stand_in::record("MEMORY_ALLOCATION", &record, sizeof record);
    });
  };
  allocate(1, 0x10000000, std::uint64_t{3} << 30U);
  std::uint64_t correlation = 1;
  const auto run = [&](std::uint64_t kernel, std::uint64_t start, std::uint64_t end, std::uint64_t stream) {
    const std::uint64_t call = now();
    (void)play_call("HIP_RUNTIME_API", 1, call, call + 200, ++correlation);
    play(dispatch(kernel, start, end, correlation, stream + 1));
  };
  for (int step = 0; step < steps && (until == nullptr || ::access(until, F_OK) != 0); ++step) {
    roctx(kPush, "step");
    const std::uint64_t begin = now();
    allocate(1, 0x20000000, std::uint64_t{512} << 20U);
    (void)play_call("HIP_RUNTIME_API", 2, begin, begin + 6'000, ++correlation);
    stand_in::Copy copy{0,
                        0,
                        2,
                        {correlation, 14},
                        own_thread(),
                        begin + 20'000,
                        begin + 1'500'000,
                        kGpu,
                        kCpu,
                        std::uint64_t{64} << 20U,
                        1,
                        2};
    (void)stand_in::record("MEMORY_COPY", &copy, is_wide() ? sizeof copy : sizeof copy - 16);
    for (std::uint64_t layer = 0; layer < 12; ++layer) {
      const std::uint64_t at = begin + 1'600'000 + layer * 1'000'000;
      run(1, at, at + 900'000, 7);
    }
    run(2, begin + 9'000'000, begin + 14'500'000, 20);
    std::this_thread::sleep_until(std::chrono::steady_clock::time_point(std::chrono::nanoseconds(begin + 15'000'000)));
    (void)play_call("HIP_RUNTIME_API", 4, begin + 1'290'000, begin + 14'610'000, ++correlation);
    allocate(3, 0x20000000, 0);
    roctx(kPop, nullptr);
  }
  return 0;
}

}  // namespace

int main(int count, char** arguments) {
  const std::string what = count > 1 ? arguments[1] : "";
  const int number = count > 2 ? std::atoi(arguments[2]) : 0;
  if (what == "none") return 0;  // uses no GPU
  stand_in::start();
  if (what == "nothing") return 0;
  if (what == "all") return play_all();
  if (what == "launches") return launch_all(number, "launched");
  if (what == "roctx") return play_roctx();
  if (what == "ranges") return play_ranges();
  if (what == "lies") return play_lies();
  if (what == "threads") return launch_from_threads();
  if (what == "die") return die();
  if (what == "signal") return end_by_signal();
  if (what == "outlive") return outlive_capture();
  if (what == "children") return start_children(arguments[0]);
  if (what == "forks") return play_forks();
  if (what == "train") return train(number, count > 3 ? arguments[3] : nullptr);
  return 64;
}
