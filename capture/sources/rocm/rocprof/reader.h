// Reads what rocprof, ROCm's profiler before rocprofv3, writes into a run: its table of kernels (results.csv), or its
// database (results.db), which has the calls, copies and marks beside them.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "capture/sources/base/csv_table.h"
#include "capture/sources/rocm/run/records.h"
#include "capture/sources/rocm/run/run.h"
#include "capture/sources/sqlite/foreign_database.h"

namespace accelscope::capture::sources::rocm {

// Whether a table of these columns is one of kernels; with times or, if rocprof was not asked for them, without.
[[nodiscard]] bool is_rocprof_table(const std::vector<std::string>& columns);

class RocprofReader {
 public:
  RocprofReader(RocmRun& run, ReadingProgress& progress) : run_(run), progress_(progress) {}

  // Fails if the launches have no times.
  Result<void> read(CsvTable& table, const std::string& name);
  void read(const sqlite::ForeignDatabase& database);

 private:
  using TextOf = std::function<std::string_view(std::size_t column)>;
  struct KernelLayout;

  void write_kernel(const KernelLayout& layout, const TextOf& text);
  void read_kernels(const sqlite::ForeignDatabase& database);
  void read_operations(const sqlite::ForeignDatabase& database);
  void read_copies(const sqlite::ForeignDatabase& database, bool joined);
  void read_calls(const sqlite::ForeignDatabase& database, std::string_view table, bool joined);
  void read_marks(const sqlite::ForeignDatabase& database);
  void leave_out(const sqlite::ForeignDatabase& database, std::string_view table, std::string_view why);
  // Columns 0 and 1 are the begin and the end, 2 the process, 3 the thread.
  [[nodiscard]] bool place(const sqlite::ForeignRows& rows, RocmTable becomes, RocmRecord& record);
  [[nodiscard]] std::uint32_t process_of(MaybeNumber pid);
  [[nodiscard]] MaybeNumber agent_of(std::uint32_t process, MaybeNumber gpu);
  void report();

  RocmRun& run_;
  ReadingProgress& progress_;
  std::map<std::int64_t, std::uint32_t> processes_;  // by pid
  std::uint64_t without_time_ = 0;
  std::uint64_t flat_sizes_ = 0;
};

}  // namespace accelscope::capture::sources::rocm
