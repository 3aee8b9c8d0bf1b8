// The table of figures: a benchmark is a function here and a row below.
#pragma once

#include <array>
#include <string_view>

#include "tests/bench/base/figure.h"

namespace accelscope::bench {

void bench_stream(const BenchOptions& options);
void bench_stream_full(const BenchOptions& options);
void bench_agent_rest(const BenchOptions& options);
void bench_agent_memory(const BenchOptions& options);
void bench_stream_spool(const BenchOptions& options);
void bench_stream_cuts(const BenchOptions& options);
void bench_codec(const BenchOptions& options);
void bench_session_file(const BenchOptions& options);
void bench_spill(const BenchOptions& options);
void bench_slow_session(const BenchOptions& options);
void bench_range_statistics(const BenchOptions& options);
void bench_comparison(const BenchOptions& options);
void bench_hierarchy(const BenchOptions& options);
void bench_selection(const BenchOptions& options);
void bench_core_grid(const BenchOptions& options);
void bench_iterations(const BenchOptions& options);
void bench_statistics(const BenchOptions& options);
void bench_advice(const BenchOptions& options);
void bench_critical_path(const BenchOptions& options);
void bench_metrics(const BenchOptions& options);
void bench_collectives(const BenchOptions& options);
void bench_roofline(const BenchOptions& options);
void bench_search(const BenchOptions& options);
void bench_sql_filter(const BenchOptions& options);
void bench_sql_queries(const BenchOptions& options);
void bench_neuron_import(const BenchOptions& options);
void bench_exports(const BenchOptions& options);
void bench_json_export(const BenchOptions& options);
void bench_tt_log_import(const BenchOptions& options);
void bench_tt_log_follow(const BenchOptions& options);
void bench_chrome_import(const BenchOptions& options);
void bench_rocpd_import(const BenchOptions& options);
void bench_torch_memory_import(const BenchOptions& options);
void bench_perfetto_import(const BenchOptions& options);
void bench_tracy_import(const BenchOptions& options);
void bench_nsys_import(const BenchOptions& options);
void bench_xplane_import(const BenchOptions& options);
void bench_python_calls(const BenchOptions& options);
void bench_draw_lists(const BenchOptions& options);
void bench_draw_lists_large(const BenchOptions& options);
void bench_drawn_frame(const BenchOptions& options);
void bench_viewer_frame(const BenchOptions& options);
void bench_itt_task(const BenchOptions& options);
void bench_opencl_launch(const BenchOptions& options);
void bench_cuda_launch(const BenchOptions& options);

struct FigureEntry {
  std::string_view name;
  std::string_view what;
  void (*run)(const BenchOptions&);
};

inline constexpr auto kFigures = std::to_array<FigureEntry>({
    {"neuron_import", "importing a generated Neuron Profile JSON file of 1 GB", bench_neuron_import},
    {"exports", "writing a session of a million events as Perfetto, Chrome, CSV and Parquet", bench_exports},
    {"json_export", "writing a session of a million events as the vendor's JSON tables", bench_json_export},
    {"tt_log_import", "importing a generated tt-metal device log of 10 M rows", bench_tt_log_import},
    {"tt_log_follow", "following a tt-metal device log of 5 M rows, against its import", bench_tt_log_follow},
    {"chrome_import", "importing generated Chrome JSON traces of 5 and 2 million events", bench_chrome_import},
    {"rocpd_import", "importing a generated rocpd database of 4 M rows", bench_rocpd_import},
    {"torch_memory_import", "importing a generated memory snapshot of PyTorch", bench_torch_memory_import},
    {"perfetto_import", "importing generated Perfetto traces of 5 million slices, sorted and not",
     bench_perfetto_import},
    {"tracy_import", "importing generated traces of Tracy of 20 M zones", bench_tracy_import},
    {"nsys_import", "importing a generated export of Nsight Systems of 4 M rows", bench_nsys_import},
    {"xplane_import", "importing a generated profile of the XLA profiler of 500 MB", bench_xplane_import},
    {"stream", "agent to recorder over TCP: rate and memory; opening what was saved", bench_stream},
    {"stream_full", "the same with every column of a Neuron profile: rate and bytes", bench_stream_full},
    {"agent_rest", "an agent that nobody uses: memory and processor time", bench_agent_rest},
    {"agent_memory", "an agent whose viewer has stopped for a minute", bench_agent_memory},
    {"stream_spool", "streaming with a spool, and through TLS", bench_stream_spool},
    {"stream_cuts", "streaming while connection, agent and recorder are cut a hundred times", bench_stream_cuts},
    {"codec", "sealing, checking and inserting chunks in one thread", bench_codec},
    {"session_file", "saving while capturing, opening", bench_session_file},
    {"spill", "a capture beyond its memory budget, against the same without one", bench_spill},
    {"slow_session", "a slow capture saved and opened: bytes an event, first frame", bench_slow_session},
    {"range_statistics", "count and busy time by name over any range", bench_range_statistics},
    {"comparison", "two sessions beside each other", bench_comparison},
    {"hierarchy", "the tree of a session's layers and lines, and its flame graph", bench_hierarchy},
    {"selection_summary", "the summary of any box, and the index that it is made from", bench_selection},
    {"core_grid", "a measure of every core in 256 frames of time", bench_core_grid},
    {"iterations", "steps and tiles of ten million events, found and folded", bench_iterations},
    {"statistics", "statistics of any column with quantiles, histogram and outliers", bench_statistics},
    {"advice", "every warning of a session, and frames with their panel open", bench_advice},
    {"critical_path", "what every wait of a session was for, its critical path, and a change replayed",
     bench_critical_path},
    {"metrics", "every figure of a session, and of a part of it", bench_metrics},
    {"collectives", "collectives of 64 ranks, matched and added up", bench_collectives},
    {"roofline", "the roofline and the memory hierarchy of a session", bench_roofline},
    {"search", "a regular expression over names: hits counted and stepped", bench_search},
    {"sql_filter", "SQL with WHERE: rate of the scan, ranges of time, cost of a row", bench_sql_filter},
    {"sql_queries", "simple questions in SQL over ten million slices", bench_sql_queries},
    {"python_calls", "a program in Python that only calls, beside cProfile", bench_python_calls},
    {"itt_task", "what ITT tasks and zones cost the program that is marked with them", bench_itt_task},
    {"opencl_launch", "what the OpenCL layer costs a launch", bench_opencl_launch},
    {"cuda_launch", "what the CUDA collector costs a launch on top of CUPTI", bench_cuda_launch},
    {"draw_lists", "one frame's draw lists, 64 lanes of a million events", bench_draw_lists},
    {"draw_lists_large", "the same for ten times the events", bench_draw_lists_large},
    {"drawn_frame", "a frame of the viewer drawn through EGL, at 1080p and 4K", bench_drawn_frame},
    {"viewer_frame", "a frame of the whole viewer while five million events a second come in", bench_viewer_frame},
});

[[nodiscard]] inline const FigureEntry* find_figure(std::string_view name) {
  for (const FigureEntry& entry : kFigures) {
    if (entry.name == name) return &entry;
  }
  return nullptr;
}

}  // namespace accelscope::bench
