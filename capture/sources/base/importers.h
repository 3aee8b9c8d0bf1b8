// What every format brings to the table in sources/formats.cpp: how its files are recognised, and how they are read.
// What a format's files hold, and what becomes of it, stands at the head of its source.
#pragma once

#include "capture/sources/base/source.h"

namespace accelscope::capture::sources {

namespace chrome {  // Chrome JSON traces (the "Trace Event Format"), above all those of PyTorch's profiler
Probe probe_chrome_json;
ImportBytes import_chrome_json;
[[nodiscard]] std::optional<std::uint32_t> rank_in_chrome_json(std::string_view head);  // of "distributedInfo"
}  // namespace chrome

namespace neuron {  // what neuron-profile shows, raw traces through its tool, programs by themselves
std::string run_of_neuron_csv(const FileHead& head);  // the tables of a folder are one profile
Probe probe_neuron_json, probe_neuron_parquet, probe_neuron_csv, probe_neuron_summary, probe_ntff, probe_neff;
ImportBytes import_neuron_json, import_neuron_summary, import_neff;
ImportPath import_neuron_parquet, import_neuron_csv;
ConvertRaw convert_ntff;
}  // namespace neuron

namespace nsys {  // exports of Nsight Systems, and its reports through the vendor's tool
DatabaseProbe probe_nsys;
Probe probe_nsys_report;
ImportPath import_nsys;
ConvertRaw convert_nsys_report;
}  // namespace nsys

namespace perfetto {  // Perfetto's own traces (protobuf)
Probe probe_perfetto;
ImportPath import_perfetto;
}  // namespace perfetto

namespace proton {  // trees of Triton's profiler Proton (.hatchet)
Probe probe_hatchet;
ImportBytes import_hatchet;
}  // namespace proton

namespace rocm {  // what ROCm's profilers write
DatabaseProbe probe_rocpd, probe_rpd, probe_rocprof_compute, probe_rocprof_database;
Probe probe_rocprofv3_json, probe_rocprofv3_csv, probe_rocprof_csv;
ImportPath import_rocpd, import_rpd, import_rocprof_compute, import_rocprof_database;
ImportPath import_rocprofv3_json, import_rocprofv3_csv, import_rocprof_csv;
[[nodiscard]] std::string run_of_rocpd(const FileHead& head);
[[nodiscard]] std::string run_of_rocprofv3_json(const FileHead& head);
[[nodiscard]] std::string run_of_rocprofv3_csv(const FileHead& head);
// "node1/908" of "node1/908_results.db", "node1/908_results.json" and "node1/908_kernel_trace.csv"; and of rocprof, the
// profiler before rocprofv3, "out/results" of "out/results.csv".
FilesInCommon output_of_rocprofv3, output_of_rocprof;
}  // namespace rocm

namespace session {  // session files, replayed as captures
Probe probe_session;
ImportPath replay_session;
}  // namespace session

namespace stacks {  // call stacks of sampled programs, as text: what perf script prints, and collapsed stacks
Probe probe_perf_script, probe_collapsed;
ImportBytes import_perf_script, import_collapsed;
}  // namespace stacks

namespace torch_memory {  // PyTorch's memory snapshots
Probe probe_torch_memory;
ImportBytes import_torch_memory;
}  // namespace torch_memory

namespace tracy {  // traces as Tracy saves them
Probe probe_tracy;
ImportBytes import_tracy;
}  // namespace tracy

namespace tracy_csv {  // what tracy-csvexport writes
Probe probe_tracy_csv;
ImportBytes import_tracy_csv;
}  // namespace tracy_csv

namespace tt_metal {  // tt-metal's device log
Probe probe_device_log;
ImportBytes import_device_log;
}  // namespace tt_metal

namespace tt_noc {  // traces of Tenstorrent's networks, and simulations of them
Probe probe_noc_trace, probe_npe_timeline;
ImportBytes import_noc_trace, import_npe_timeline;
}  // namespace tt_noc

namespace tt_ops {  // operations reports of tt-metal
Probe probe_ops_report;
// Of a run that tells nothing of the host: in a folder an operations report beside it says all of it again.
Probe probe_device_report;
ImportPath import_ops_report;
FilesInCommon folder_of_report;
}  // namespace tt_ops

namespace ttnn {  // memory reports of TTNN
DatabaseProbe probe_memory_report;
ImportPath import_memory_report;
}  // namespace ttnn

namespace unitrace {  // what unitrace prints
Probe probe_unitrace;
ImportBytes import_unitrace;
}  // namespace unitrace

namespace vtune {  // the table of external intervals that programs write for VTune, and the tables that it prints
Probe probe_intervals, probe_report;
ImportBytes import_intervals, import_report;
}  // namespace vtune

namespace xplane {  // what the XLA profiler of JAX, TensorFlow and PyTorch/XLA writes as HOST.xplane.pb
Probe probe_xplane;
ImportPath import_xplane;
// "tw003" of ".../plugins/profile/2026_02_20_13_54_10/tw003.xplane.pb"; "" of files that are called otherwise.
[[nodiscard]] std::string host_of_file(const std::string& path);
// Whether a profiler's log directory has this file beside its XPlane file: the same once more, or a part of it.
[[nodiscard]] bool is_double_of_xplane(const std::string& path);
}  // namespace xplane

}  // namespace accelscope::capture::sources
