#include "tests/support/cuda/record_player.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <chrono>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <thread>

namespace accelscope::test::cuda {

StandIn g_cupti;
std::uint64_t g_base = 0;

namespace {

// Which of the host's GPUs this process calls 0, as CUDA_VISIBLE_DEVICES has it.
std::uint64_t visible_gpu() {
  const char* given = std::getenv("STAND_IN_GPU");
  return given == nullptr ? 0 : std::strtoull(given, nullptr, 10);
}

}  // namespace

std::uint32_t own_thread() { return static_cast<std::uint32_t>(::syscall(SYS_gettid)); }

std::uint64_t now() {
  timespec time{};
  ::clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000U + static_cast<std::uint64_t>(time.tv_nsec);
}

void load_cupti() {
  const char* path = std::getenv("ACCELSCOPE_CUPTI");
  if (path == nullptr) path = std::getenv("STAND_IN_PATH");
  void* library = path == nullptr ? nullptr : ::dlopen(path, RTLD_NOW);
  if (library == nullptr) return;
  take(library, "stand_in_record", g_cupti.record);
  take(library, "stand_in_launch", g_cupti.launch);
  take(library, "stand_in_buffer", g_cupti.buffer);
  take(library, "stand_in_drop", g_cupti.drop);
  take(library, "stand_in_profiler", g_cupti.profiler);
  take(library, "stand_in_call", g_cupti.call);
  take(library, "stand_in_incomplete", g_cupti.incomplete);
  take(library, "stand_in_flushes", g_cupti.flushes);
  take(library, "stand_in_refusals", g_cupti.refusals);
  take(library, "cuptiSubscribe", g_cupti.subscribe);
  take(library, "cuptiActivityEnable", g_cupti.enable);
  take(library, "cuptiActivityFlushAll", g_cupti.flush);
  take(library, "cuptiActivityRegisterCallbacks", g_cupti.register_callbacks);
  take(library, "cuptiActivityGetNextRecord", g_cupti.next);
}

void await(decltype(&stand_in_flushes) count, std::uint64_t more) {
  const std::uint64_t until = count() + more;
  for (int i = 0; i < 6'000 && count() < until; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(10));
}

void print_base() {
  g_base = now();
  std::printf("base %" PRIu64 "\nthread %ld\n", g_base, ::syscall(SYS_gettid));
  std::fflush(stdout);
}

void play_device(std::uint32_t id, bool is_mig) {
  namespace to = cupti::device;
  Raw(Activity::device)
      .set(to::memory_bandwidth, std::uint64_t{3'352'320'000})
      .set(to::memory_bytes, std::uint64_t{80} << 30U)
      .set(to::multiprocessors, std::uint32_t{132})
      .set(to::clock_khz, std::uint32_t{1'980'000})
      .set(to::warps, std::uint32_t{64})
      .set(to::major, std::uint32_t{9})
      .set(to::id, id)
      .set(to::uuid_low, std::uint64_t{0x0807060504030201} + id + visible_gpu())
      .set(to::uuid_high, std::uint64_t{0x100f0e0d0c0b0a09})
      .set(to::name, static_cast<const char*>("NVIDIA H100 80GB HBM3"))
      .set(to::is_mig, std::uint8_t{is_mig})
      .set(to::gpu_instance, std::uint32_t{2})
      .set(to::compute_instance, std::uint32_t{1})
      .set(to::mig_uuid_low, std::uint64_t{0xABCDEF} + id)
      .play();
}

void play_context(std::uint32_t id, std::uint32_t device, bool is_green) {
  namespace to = cupti::context;
  Raw(Activity::context)
      .set(to::context, id)
      .set(to::device, device)
      .set(to::is_green, std::uint8_t{is_green})
      .set(to::multiprocessors, std::uint16_t{16})
      .play();
}

Raw kernel(const char* name, std::uint64_t start, std::uint64_t end, std::uint32_t stream, std::uint32_t correlation) {
  namespace to = cupti::kernel;
  Raw raw(Activity::concurrent_kernel);
  raw.set(to::start, g_base + start)
      .set(to::end, g_base + end)
      .set(to::context, std::uint32_t{1})
      .set(to::stream, stream)
      .set(to::grid_x, std::int32_t{128})
      .set(to::grid_y, std::int32_t{2})
      .set(to::grid_z, std::int32_t{1})
      .set(to::block_x, std::int32_t{256})
      .set(to::block_y, std::int32_t{1})
      .set(to::block_z, std::int32_t{1})
      .set(to::correlation, correlation)
      .set(to::name, name);
  return raw;
}

void play_call(Activity kind, std::uint32_t id, std::uint64_t start, std::uint64_t end, std::uint32_t correlation,
               std::uint32_t result) {
  namespace to = cupti::call;
  Raw(kind)
      .set(to::id, id)
      .set(to::start, g_base + start)
      .set(to::end, g_base + end)
      .set(to::process, static_cast<std::uint32_t>(::getpid()))
      .set(to::thread, own_thread())
      .set(to::correlation, correlation)
      .set(to::result, result)
      .play();
}

namespace {

void play_kernels() {
  namespace to = cupti::kernel;
  kernel("_Z4gemmIfEvPT_", 10'000, 20'001, 7, 101)
      .set(to::queued, g_base + 9'000)
      .set(to::submitted, g_base + 9'500)
      .set(to::registers, std::uint16_t{168})
      .set(to::static_shared, std::int32_t{1024})
      .set(to::dynamic_shared, std::int32_t{65'536})
      .set(to::local_per_thread, std::uint32_t{48})
      .set(to::local_total, std::uint32_t{12'345})
      .set(to::local_total_wide, std::uint64_t{5'000'000'000})
      .set(to::grid_id, std::int64_t{77})
      .set(to::launch_type, std::uint8_t{1})
      .set(to::cache_config, std::uint8_t{2})
      .set(to::carveout_requested, std::uint8_t{1})
      .set(to::carveout, std::uint8_t{75})
      .set(to::shared_executed, std::uint32_t{102'400})
      .set(to::shared_limit, std::uint32_t{1})
      .set(to::graph, std::uint32_t{5})
      .set(to::graph_node, std::uint64_t{0x500000003})
      .set(to::cluster_x, std::uint32_t{2})
      .set(to::cluster_y, std::uint32_t{1})
      .set(to::cluster_z, std::uint32_t{1})
      .set(to::cluster_policy, std::uint32_t{1})
      .set(to::largest_cluster, std::uint32_t{16})
      .set(to::active_clusters, std::uint32_t{66})
      .play();
  kernel("ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)", 21'000, 30'000, 9, 102).play();
  kernel("triton_poi_fused_add_0", 12'000, 15'000, 13, 103).set(to::context, std::uint32_t{2}).play();
  kernel("on_second_gpu", 11'000, 11'001, 7, 104)
      .set(to::device, std::uint32_t{1})
      .set(to::context, std::uint32_t{3})
      .play();
  kernel("never_timed", 0, 0, 7, 105).set(to::start, std::uint64_t{0}).set(to::end, std::uint64_t{0}).play();
}

void play_transfers() {
  namespace copy = cupti::copy;
  namespace peer = cupti::peer_copy;
  namespace set = cupti::set;
  Raw(Activity::copy)
      .set(copy::kind, std::uint8_t{1})
      .set(copy::source_kind, std::uint8_t{2})
      .set(copy::target_kind, std::uint8_t{3})
      .set(copy::bytes, std::uint64_t{6'000'000'007})
      .set(copy::start, g_base + 31'000)
      .set(copy::end, g_base + 41'000)
      .set(copy::context, std::uint32_t{1})
      .set(copy::stream, std::uint32_t{7})
      .set(copy::correlation, std::uint32_t{110})
      .set(copy::graph_node, std::uint64_t{9})
      .set(copy::count, std::uint64_t{3})
      .play();
  Raw(Activity::peer_copy)
      .set(copy::kind, std::uint8_t{10})
      .set(copy::source_kind, std::uint8_t{3})
      .set(copy::target_kind, std::uint8_t{3})
      .set(copy::bytes, std::uint64_t{4096})
      .set(copy::start, g_base + 42'000)
      .set(copy::end, g_base + 43'000)
      .set(copy::context, std::uint32_t{1})
      .set(copy::stream, std::uint32_t{7})
      .set(peer::source_device, std::uint32_t{0})
      .set(peer::source_context, std::uint32_t{1})
      .set(peer::target_device, std::uint32_t{1})
      .set(peer::target_context, std::uint32_t{3})
      .set(peer::correlation, std::uint32_t{111})
      .play();
  Raw(Activity::set)
      .set(set::value, std::uint32_t{0xAB})
      .set(set::bytes, std::uint64_t{1 << 20})
      .set(set::start, g_base + 44'000)
      .set(set::end, g_base + 45'000)
      .set(set::context, std::uint32_t{1})
      .set(set::stream, std::uint32_t{7})
      .set(set::correlation, std::uint32_t{112})
      .set(set::memory_kind, std::uint16_t{3})
      .play();
}

void play_calls() {
  Raw(Activity::external_correlation)
      .set(cupti::external_correlation::kind, std::uint32_t{3})
      .set(cupti::external_correlation::id, std::uint64_t{4242})
      .set(cupti::external_correlation::correlation, std::uint32_t{101})
      .play();
  play_call(Activity::driver_call, 307, 1'200, 1'900, 101);
  play_call(Activity::runtime_call, 211, 1'000, 2'000, 101);
  play_call(Activity::driver_call, 307, 2'100, 2'200, 103);
  play_call(Activity::runtime_call, 41, 3'000, 4'000, 110);
  play_call(Activity::runtime_call, 10, 4'100, 4'101, 120, 700);
  play_call(Activity::runtime_call, 20, 4'200, 4'900, 130);
  play_call(Activity::runtime_call, 135, 5'000, 5'100, 140);
  play_call(Activity::runtime_call, 147, 5'200, 5'300, 141);
  play_call(Activity::runtime_call, 131, 6'000, 46'000, 142);
  play_call(Activity::runtime_call, 311, 46'100, 46'200, 150);
}

void play_waits() {
  namespace to = cupti::synchronization;
  namespace event = cupti::cuda_event;
  Raw(Activity::cuda_event)
      .set(event::correlation, std::uint32_t{140})
      .set(event::context, std::uint32_t{1})
      .set(event::stream, std::uint32_t{7})
      .set(event::event, std::uint32_t{55})
      .set(event::device_time, g_base + 20'500)
      .set(event::sync, std::uint64_t{9001})
      .play();
  const auto sync = [](std::uint32_t type, std::uint64_t start, std::uint64_t end, std::uint32_t correlation) {
    Raw raw(Activity::synchronization);
    raw.set(to::type, type)
        .set(to::start, g_base + start)
        .set(to::end, g_base + end)
        .set(to::correlation, correlation)
        .set(to::context, std::uint32_t{1})
        .set(to::stream, cupti::kNone)
        .set(to::event, cupti::kNone);
    return raw;
  };
  sync(2, 5'210, 5'211, 141)
      .set(to::stream, std::uint32_t{9})
      .set(to::event, std::uint32_t{55})
      .set(to::event_sync, std::uint64_t{9001})
      .play();
  sync(3, 6'010, 45'990, 142).set(to::stream, std::uint32_t{7}).play();
  sync(1, 46'000, 46'010, 143).set(to::event, std::uint32_t{55}).play();
  sync(4, 47'000, 47'100, 144).play();
}

void play_memory() {
  namespace to = cupti::memory;
  const auto memory = [](std::uint32_t operation, std::uint32_t kind, std::uint64_t address, std::uint64_t bytes,
                         std::uint64_t time) {
    Raw raw(Activity::memory);
    raw.set(to::operation, operation)
        .set(to::kind, kind)
        .set(to::address, address)
        .set(to::bytes, bytes)
        .set(to::time, g_base + time)
        .set(to::correlation, std::uint32_t{130})
        .set(to::pc, std::uint64_t{0xC0DE})
        .set(to::context, std::uint32_t{1});
    return raw;
  };
  memory(1, 3, 0x7F00'0000'0000, 6'442'450'945, 4'300).set(to::name, static_cast<const char*>("weights")).play();
  memory(1, 2, 0x1000, 4096, 4'400).play();
  memory(1, 5, 0x2000, 8192, 4'500).play();
  memory(1, 3, 0x3000, 512, 4'600)
      .set(to::is_async, std::uint32_t{1})
      .set(to::stream, std::uint32_t{7})
      .set(to::pool_type, std::uint32_t{1})
      .set(to::pool_address, std::uint64_t{0xABCD})
      .set(to::pool_threshold, std::uint64_t{1024})
      .set(to::pool_size, std::uint64_t{33'554'432})
      .set(to::pool_used, std::uint64_t{512})
      .play();
  memory(1, 5, 0x4000, 64, 4'700).set(to::device, cupti::kNone).play();
  memory(2, 3, 0x7F00'0000'0000, 0, 50'000).play();  // of so many bytes as were allocated
  namespace pool = cupti::memory_pool;
  for (std::uint32_t operation = 1; operation <= 3; ++operation) {
    Raw(Activity::memory_pool)
        .set(pool::operation, operation)
        .set(pool::type, std::uint32_t{1})
        .set(pool::correlation, std::uint32_t{131})
        .set(pool::process, std::uint32_t{17})
        .set(pool::least_bytes, std::uint64_t{2048})
        .set(pool::address, std::uint64_t{0xABCD})
        .set(pool::size, std::uint64_t{33'554'432})
        .set(pool::threshold, std::uint64_t{1024})
        .set(pool::time, g_base + 4'550 + operation)
        .set(pool::used, std::uint64_t{512})
        .play();
  }
}

void play_others() {
  Raw(Activity::graph)
      .set(cupti::graph::correlation, std::uint32_t{150})
      .set(cupti::graph::start, g_base + 48'000)
      .set(cupti::graph::end, g_base + 49'000)
      .set(cupti::graph::graph, std::uint32_t{6})
      .set(cupti::graph::context, std::uint32_t{1})
      .set(cupti::graph::stream, std::uint32_t{7})
      .play();
  namespace jit = cupti::jit;
  Raw(Activity::jit)
      .set(jit::entry, std::uint32_t{1})
      .set(jit::operation, std::uint32_t{3})
      .set(jit::start, g_base + 500)
      .set(jit::end, g_base + 900)
      .set(jit::correlation, std::uint32_t{99})
      .set(jit::cache_bytes, std::uint64_t{70'000})
      .set(jit::cache_path, static_cast<const char*>("/home/user/.nv/ComputeCache/7/5/ab12"))
      .play();
  namespace overhead = cupti::overhead;
  Raw(Activity::overhead)
      .set(overhead::kind, std::uint32_t{5U << 16U})
      .set(overhead::object_kind, std::uint32_t{2})
      .set(overhead::thread, own_thread())
      .set(overhead::start, g_base + 1'300)
      .set(overhead::end, g_base + 1'700)
      .set(overhead::correlation, std::uint32_t{101})
      .play();
  namespace unified = cupti::unified_memory;
  for (std::uint32_t kind = 1; kind <= 8; ++kind) {
    Raw(Activity::unified_memory)
        .set(unified::kind, kind)
        .set(unified::value, std::uint64_t{65'536} * kind)
        .set(unified::start, g_base + 50'000 + 100 * kind)
        .set(unified::end, g_base + 50'050 + 100 * kind)
        .set(unified::address, std::uint64_t{0x7E00'0000'0000})
        .set(unified::stream, std::uint32_t{7})
        .set(unified::flags, std::uint32_t{2})
        .play();
  }
  namespace environment = cupti::environment;
  const auto sample = [](std::uint32_t kind, std::uint32_t first, std::uint32_t second) {
    Raw(Activity::environment)
        .set(environment::time, g_base + 100)
        .set(environment::kind, kind)
        .set(environment::first, first)
        .set(environment::second, second)
        .play();
  };
  sample(1, 1980, 2619);
  sample(2, 61, 0);
  sample(3, 412'500, 700'000);
}

}  // namespace

int play_all() {
  load_cupti();
  print_base();
  play_device(0, false);
  play_device(1, true);
  play_context(1, 0, false);
  play_context(2, 0, true);
  play_context(3, 1, false);
  Raw(Activity::stream)
      .set(cupti::stream::context, std::uint32_t{1})
      .set(cupti::stream::stream, std::uint32_t{9})
      .set(cupti::stream::priority, static_cast<std::uint32_t>(-5))
      .play();
  play_calls();
  play_kernels();
  play_transfers();
  play_waits();
  play_memory();
  play_others();
  return 0;
}

}  // namespace accelscope::test::cuda
