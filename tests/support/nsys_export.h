// Small exports of Nsight Systems, as SQL: the tables of one version each, and databases made of them.
#pragma once

#include <string>
#include <string_view>

#include "core/base/result.h"

namespace accelscope::test {

// Two processes (pids 111 and 112) with a GPU each that both call device 0, correlation 5 in both, threads with names,
// NVTX ranges of all kinds, copies, sets, waits, a graph, allocations, metrics, samples, system calls, MPI, messages.
[[nodiscard]] const char* nsys_export_of_2026() noexcept;
// Schema 2.9: no tables that explain numbers, fewer columns, the metadata under its old name.
[[nodiscard]] const char* nsys_export_of_2022() noexcept;

// The database of the SQL at the path.
[[nodiscard]] Result<void> make_nsys_export(const std::string& path, std::string_view sql);

}  // namespace accelscope::test
