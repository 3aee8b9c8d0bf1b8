// Reads a database of rocmProfileData (rpd) into a run: what ran on devices, the calls that started it, samples of
// monitors.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "capture/sources/rocm/run/named_ids.h"
#include "capture/sources/rocm/run/reading_progress.h"
#include "capture/sources/rocm/run/run.h"
#include "capture/sources/sqlite/id_rows.h"

namespace accelscope::capture::sources::rocm {

class RpdReader {
 public:
  RpdReader(const sqlite::ForeignDatabase& database, RocmRun& run, ReadingProgress& progress);
  void read();

 private:
  struct Launch {  // the call that started work
    MaybeNumber id;
    std::uint32_t process = 0;
    MaybeNumber thread;
    bool counts_work_items = false;
  };
  struct ApiName {
    StringId name = 0;
    bool marks = false;
    bool counts_work_items = false;
  };

  void read_operations();
  void read_calls();
  void read_monitors();
  void add_counters();
  template <typename Visit>
  void each_row(std::string_view table, std::span<const std::string_view> columns, const Visit& visit);
  void write_kernel(const sqlite::ForeignRows& rows, const Launch& launch, std::string_view type);
  void write_copy(const sqlite::ForeignRows& rows, const Launch& launch, bool fills);
  [[nodiscard]] Launch launch_of(std::int64_t operation);
  [[nodiscard]] std::uint32_t process_of(MaybeNumber pid);
  void place(const sqlite::ForeignRows& rows, const Launch& launch, RocmOnDevice& event);
  [[nodiscard]] const ApiName& api_name(MaybeNumber id);
  [[nodiscard]] std::string stack_of(std::int64_t call);
  [[nodiscard]] std::string label_of(std::int64_t call);
  [[nodiscard]] std::vector<CounterValue> counters_of(std::int64_t operation);

  const sqlite::ForeignDatabase& database_;
  RocmRun& run_;
  ReadingProgress& progress_;
  NamedIds strings_;
  NamedIds own_strings_;  // of arguments, where they have a table of their own
  bool has_own_strings_ = false;
  sqlite::KeyedRows launches_;      // by operation
  sqlite::KeyedRows calls_;         // by id
  sqlite::KeyedRows kernel_calls_;  // by call
  sqlite::KeyedRows copy_calls_;
  sqlite::KeyedRows kernel_operations_;  // by operation; of old versions
  sqlite::KeyedRows copy_operations_;
  std::unique_ptr<sqlite::KeyedRows> counts_;
  std::unique_ptr<sqlite::KeyedRows> frames_;
  std::unique_ptr<sqlite::KeyedRows> callers_;
  std::map<std::int64_t, std::uint32_t> processes_;  // by pid
  std::unordered_map<std::int64_t, ApiName> api_names_;
  std::map<std::int64_t, std::uint32_t> counter_places_;
  std::uint64_t further_launches_ = 0;
  std::uint64_t without_call_ = 0;
};

}  // namespace accelscope::capture::sources::rocm
