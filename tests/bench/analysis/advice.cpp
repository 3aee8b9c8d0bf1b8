// What it takes to find every warning of a large session of two cores, and what frames cost the UI thread with the
// panel open while that goes on.
#include "core/analysis/advice/advice.h"

#include <fmt/format.h>

#include <algorithm>
#include <ctime>

#include "app/frame/app.h"
#include "app/session/analysis.h"
#include "core/chunk/session_writer.h"
#include "render/shell/null_shell.h"
#include "tests/bench/base/figures.h"

namespace accelscope::bench {
namespace {

constexpr int kCores = 2, kEngines = 5, kQueues = 16;
constexpr const char* kAdviceRecipe =
    "two cores, each five engines and sixteen DMA queues with equally many events; engines: a fifth each of "
    "multiplications, transposes, waits, two others, columns elements, type, line; queues: packets of 512 B and 8 KiB "
    "of "
    "16 tensors with source, destination, purpose, line; durations 64 to 319 ns, pauses 0 to 127 ns; two threads";

struct CoreSchemas {
  SchemaNumber instruction, dma, tensor;
};

CoreSchemas add_schemas(SessionWriter& writer) {
  Schema instruction;
  instruction.name = "instruction";
  instruction.wait_names = {"EVENT_SEMAPHORE"};
  instruction.columns = {{.name = "elements", .type = ColumnType::int64},
                         {.name = "instruction_type", .type = ColumnType::string},
                         {.name = "line", .type = ColumnType::string, .role = Role::source_location}};
  Schema dma;
  dma.name = "dma";
  dma.columns = {{.name = "transfer_size", .type = ColumnType::int64, .role = Role::bytes},
                 {.name = "source", .type = ColumnType::string},
                 {.name = "dest", .type = ColumnType::string},
                 {.name = "queue_type", .type = ColumnType::string},
                 {.name = "line", .type = ColumnType::string, .role = Role::source_location}};
  Schema tensor;
  tensor.name = "neff_node";
  tensor.kind = EventKind::table;
  tensor.columns = {{.name = "size", .type = ColumnType::int64},
                    {.name = "load_to_sbuf_repeat_factor", .type = ColumnType::float64}};
  return {writer.add_schema(instruction), writer.add_schema(dma), writer.add_schema(tensor)};
}

std::unique_ptr<Store> generate_cores(std::uint64_t events) {
  auto created = Store::create();
  if (!created) return nullptr;
  std::unique_ptr<Store> store = std::move(created).value();
  StoreSink sink(*store);
  SessionWriter writer(sink);
  const CoreSchemas schemas = add_schemas(writer);
  const std::uint64_t per_lane = events / (kCores * (kEngines + kQueues));
  std::uint64_t state = 0x9E3779B97F4A7C15U;
  const auto below = [&](std::uint64_t bound) {
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    return static_cast<std::int64_t>((state >> 20) % bound);
  };
  std::vector<StringId> tensors, lines;
  for (int i = 0; i < 16; ++i) tensors.push_back(writer.intern("w" + std::to_string(i)));
  for (int i = 0; i < 60; ++i) lines.push_back(writer.intern("mlp.py:" + std::to_string(i + 1)));
  const StringId opcodes[] = {writer.intern("MATMUL"), writer.intern("MATMUL"), writer.intern("EVENT_SEMAPHORE"),
                              writer.intern("ACTIVATE"), writer.intern("TENSOR_COPY")};
  const StringId regular = writer.intern("REGULAR"), transpose = writer.intern("TRANSPOSE"),
                 weight = writer.intern("WEIGHT"), on_chip = writer.intern("SB"), spill = writer.intern("VIRTUAL"),
                 data = writer.intern("data");
  for (int core = 0; core < kCores; ++core) {
    const std::string device = "nc" + std::to_string(core);
    const TrackNumber table =
        writer.add_track({.name = "Tensors", .kind = "table", .device = device, .schema = schemas.tensor});
    for (const StringId tensor : tensors) writer.begin_event(table, 0, 0, tensor).integer(0, 1 << 20);
    for (int lane = 0; lane < kEngines + kQueues; ++lane) {
      const bool engine = lane < kEngines;
      const TrackNumber track = writer.add_track({.name = (engine ? "E" : "q") + std::to_string(lane),
                                                  .kind = engine ? "engine" : "dma_queue",
                                                  .device = device,
                                                  .schema = engine ? schemas.instruction : schemas.dma});
      std::int64_t at = 0;
      for (std::uint64_t i = 0; i < per_lane; ++i) {
        at += below(128);
        const std::int64_t length = 64 + below(256), kind = below(5);
        if (engine) {
          Row row = writer.begin_event(track, at, length, opcodes[kind]);
          row.integer(0, kind < 2 ? 1'000'000 : 0);
          row.string(1, kind == 1 ? transpose : regular);
          row.string(2, lines[static_cast<std::size_t>(below(60))]);
        } else {
          Row row = writer.begin_event(track, at, length, tensors[static_cast<std::size_t>(below(16))]);
          row.integer(0, kind == 0 ? 512 : 8'192);
          row.string(1, kind == 1 ? spill : weight);
          row.string(2, on_chip);
          row.string(3, data);
          row.string(4, lines[static_cast<std::size_t>(below(60))]);
        }
        at += length;
      }
    }
  }
  return writer.finish() ? std::move(store) : nullptr;
}

double thread_cpu_ms() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) * 1e-6;
}

// Frames from the opening of the panel until some time after the findings are there.
void measure_frames(const BenchOptions& options, const std::string& path, std::uint64_t events) {
  app::frame::App app({.state_directory = options.work_folder});
  render::NullShell shell(app, {.width = 1920, .height = 1080});
  shell.ui().record_text(false);
  app.open(path);
  constexpr int kMostFrames = 20'000, kAfter = 300;
  int frames = 0;
  while ((app.workspace().active() == nullptr || app.workspace().active()->snapshot->event_count == 0) &&
         ++frames < kMostFrames) {
    shell.frame();
  }
  if (app.workspace().active() == nullptr) return;
  app.layout().show("warnings");
  std::vector<double> times;
  int after = 0;
  for (frames = 0; frames < kMostFrames && after < kAfter; ++frames) {
    const double begin = thread_cpu_ms();
    shell.frame();
    times.push_back(thread_cpu_ms() - begin);
    const auto& state = app.workspace().active()->analysis->advice_state();
    if (state.value && !state.task.valid()) ++after;
  }
  std::sort(times.begin(), times.end());
  report({"advice_frame_p99", times[times.size() * 99 / 100], "ms", "at most 4", "", 0,
          fmt::format(
              "{} frames of 1920 x 1080 with the panel open, from its opening on, {:.2f} ms at most; {} events; {}",
              times.size(), times.back(), events, kAdviceRecipe)});
}

}  // namespace

void bench_advice(const BenchOptions& options) {
  std::unique_ptr<Store> store = generate_cores(static_cast<std::uint64_t>(50e6 * options.scale));
  if (!store) return;
  const std::uint64_t events = store->snapshot()->event_count;
  {
    WorkerPool pool(1);  // and the thread that asks
    TaskControl control;
    const QueryContext query{*store, store->snapshot(), pool, control};
    std::size_t findings = 0;
    bool failed = false;
    const double all = best_seconds(2, [&] {
      const auto advice = analysis::find_advice(query, {});
      failed = failed || !advice.ok();
      if (advice) findings = (*advice)->findings.size();
    });
    const double bare = best_seconds(2, [&] {
      std::vector<std::int64_t> sums(pool.concurrency() * 8, 0);
      const auto scanned =
          scan_chunks(query, all_lanes(*query.snapshot), {}, [&](const ScannedChunk& chunk, std::size_t worker) {
            chunk.for_each_block([&](const ScannedBlock& block) {
              for (std::uint32_t i = block.first; i < block.last; ++i) {
                sums[worker * 8] += block.end_ns(i) - block.begin_ns(i) + block.name(i);
              }
            });
          });
      failed = failed || !scanned.ok();
    });
    if (failed) return;
    report({"advice_all", all, "s", "at most 2", "reading begin, end and name of every event", bare,
            fmt::format("{} events, {} findings; {}", events, findings, kAdviceRecipe)});
  }
  const std::string path = options.work_folder + "/advice.accel";
  if (!store->save(path).ok()) return;
  store.reset();
  measure_frames(options, path, events);
}

}  // namespace accelscope::bench
