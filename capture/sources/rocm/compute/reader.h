// Reads the database that ROCm Compute Profiler's analysis writes into a run: launches, and the figures of kernels.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "capture/sources/rocm/run/reading_progress.h"
#include "capture/sources/rocm/run/run.h"
#include "capture/sources/sqlite/id_rows.h"

namespace accelscope::capture::sources::rocm {

class ComputeReader {
 public:
  ComputeReader(const sqlite::ForeignDatabase& database, RocmRun& run, ReadingProgress& progress)
      : database_(database), run_(run), progress_(progress) {}
  void read();

 private:
  struct Figure {  // what a metric is
    StringId id = 0, name = 0, table = 0, part = 0, unit = 0;
  };
  void read_facts();
  void read_kernels();
  void read_launches();
  void read_values();
  void read_workload_values();
  static void put_figure(tracks::EventValues& values, const Figure& figure, StringId kind);
  void read_rooflines();

  const sqlite::ForeignDatabase& database_;
  RocmRun& run_;
  ReadingProgress& progress_;
  std::map<std::int64_t, StringId> kernels_;
  std::map<std::int64_t, StringId> workloads_;
  std::map<std::int64_t, Figure> figures_;
  std::uint32_t process_ = 0;
};

}  // namespace accelscope::capture::sources::rocm
