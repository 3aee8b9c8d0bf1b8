// Reads the tables that rocprofv3 writes as CSV into a run: those of one process, and of several of one host.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "capture/sources/base/csv_table.h"
#include "capture/sources/rocm/run/id_set.h"
#include "capture/sources/rocm/run/run.h"

namespace accelscope::capture::sources::rocm {

enum class RocprofTable : std::uint8_t {
  none,
  agents,
  kernels,
  counters,
  copies,
  allocations,
  scratch,
  calls,
  marks,
  samples,     // of instructions
  statistics,  // sums of what other tables hold
};
// Of the first line of a table.
[[nodiscard]] RocprofTable rocprof_table_of(const std::vector<std::string>& columns);
[[nodiscard]] int probe_rocprof_table(std::string_view text);

// What is common to the tables of one process: "/out/node1/908" of "/out/node1/908_kernel_trace.csv".
[[nodiscard]] std::string rocprof_process_of(const std::string& path);

class CsvReader {
 public:
  using Open = std::function<Result<std::unique_ptr<json::ByteSource>>(const std::string& path)>;
  using Progress = std::function<void(std::uint64_t done, std::uint64_t total)>;

  CsvReader(RocmRun& run, Open open, Progress progress)
      : run_(run), open_(std::move(open)), progress_(std::move(progress)) {}

  // Fails if none of the files can be read.
  Result<void> read(const std::vector<std::string>& paths);

 private:
  struct File {
    std::string path;
    std::string prefix;  // of its process
    RocprofTable table = RocprofTable::none;
  };
  struct Held {  // a counter's value, until its launch is read
    std::int64_t dispatch = 0;
    std::uint32_t counter = 0;
    double value = 0;
  };
  struct Process {
    std::uint32_t number = 0;
    std::vector<Held> held;  // by dispatch
    IdSet traced;            // dispatches
  };
  struct Columns;

  Result<void> find_tables(const std::vector<std::string>& paths);
  void choose_counters();
  void read_file(const File& file);
  void read_agents(CsvTable& table, Process& process);
  void read_kernel(const CsvTable& table, const Columns& columns, Process& process);
  void describe_dispatch(const CsvTable& table, const Columns& columns, Process& process, RocmDispatch& dispatch);
  static void add_value(std::vector<CounterValue>& values, std::uint32_t counter, double value);
  void process_pid(const Process& process, MaybeNumber pid);
  void hold_counters(const File& file, Process& process);
  void read_counters(CsvTable& table, Process& process);
  void read_copy(const CsvTable& table, const Columns& columns, Process& process);
  void read_allocation(const CsvTable& table, const Columns& columns, Process& process, bool scratch);
  void read_call(const CsvTable& table, const Columns& columns, Process& process, bool mark);
  void read_sample(const CsvTable& table, const Columns& columns, Process& process);
  [[nodiscard]] bool place(const CsvTable& table, const Columns& columns, const Process& process, RocmRecord& record);
  [[nodiscard]] MaybeNumber agent_of(std::string_view cell, Process& process);
  [[nodiscard]] Process& process_of(const File& file, MaybeNumber pid = {});
  void skip_without_time(const CsvTable& table);
  void report_file(const CsvTable& table, const File& file);

  RocmRun& run_;
  Open open_;
  Progress progress_;
  std::vector<File> files_;
  std::map<std::string, Process> processes_;  // by prefix
  std::unordered_map<std::string, std::uint32_t> counter_places_;
  RocmTable becomes_ = RocmTable::kernel;  // what the row at hand
  std::uint64_t without_time_ = 0;
  std::uint64_t first_without_time_ = 0;
  std::uint64_t events_ = 0;
};

}  // namespace accelscope::capture::sources::rocm
