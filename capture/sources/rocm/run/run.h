// A run of programs on ROCm as a session: processes of one or several hosts on one time, their devices, streams and
// threads as rows, calls joined with the work that they started. The readers of all of ROCm's formats write here.
//
//   RocmRun run(sink);
//   const std::uint32_t process = run.add_process({.host = "node1", .pid = 908});
//   run.add_agent(process, 2, {.is_gpu = true, .number = 0, .name = "gfx950"});
//   run.write(dispatch, counters);
//   run.finish({.source = "rocpd", .path = path});
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "capture/json/json_cursor.h"
#include "capture/sources/rocm/run/records.h"
#include "capture/sources/rocm/run/values.h"
#include "capture/sources/sqlite/id_rows.h"
#include "capture/sources/tracks/gpu_tables.h"
#include "capture/sources/tracks/unordered_session.h"
#include "core/model/schema.h"

namespace accelscope::capture::sources::rocm {

// The tables that profiles of ROCm become, whichever of its tools wrote them: those that profiles of GPUs have in
// common (sources/tracks/gpu_tables.h), with what ROCm tells beyond them, under the names of rocpd's own tables.

enum class RocmTable : std::uint8_t { kernel, memcpy, memset, call, region, mark, sample, memory };
inline constexpr std::size_t kRocmTableCount = 8;

// Places of the columns that follow the common ones.
struct RocmKernelColumns {
  static constexpr std::size_t first = tracks::KernelColumns::count;
  static constexpr std::size_t dispatch_id = first, queue_id = first + 1, tid = first + 2, pid = first + 3,
                               kernel_id = first + 4, grid_size = first + 5, private_segment_size = first + 6,
                               arch_vgpr_count = first + 7, accum_vgpr_count = first + 8, sgpr_count = first + 9,
                               region = first + 10, graph_exec_id = first + 11, graph_node_id = first + 12,
                               further_counters = first + 13, arguments = first + 14, count = first + 15;
};
struct RocmCopyColumns {
  static constexpr std::size_t first = tracks::TransferColumns::count;
  static constexpr std::size_t source = first, destination = first + 1, src_address = first + 2,
                               dst_address = first + 3, queue_id = first + 4, tid = first + 5, pid = first + 6,
                               region = first + 7, graph_exec_id = first + 8, graph_node_id = first + 9,
                               arguments = first + 10, count = first + 11;
};
struct RocmCallColumns {  // of calls; regions and samples have them from the first place on
  static constexpr std::size_t first = tracks::RuntimeColumns::count;
  static constexpr std::size_t category = 0, parent = 1, arguments = 2, message = 3, call_stack = 4, line_info = 5,
                               count = 6;
};
struct RocmMarkColumns {
  static constexpr std::size_t correlation = tracks::NvtxColumns::count, arguments = correlation + 1,
                               call_stack = correlation + 2, count = correlation + 3;
};
struct RocmMemoryColumns {
  static constexpr std::size_t bytes = 0, address = 1, device = 2, type = 3, level = 4, call_ns = 5, correlation = 6,
                               queue_id = 7, stream_id = 8, tid = 9, pid = 10, flags = 11, count = 12;
};

// A hardware counter that was read for single kernels: a column of their table.
struct RocmCounter {
  std::string name;
  std::string unit;
  std::string description;
};

[[nodiscard]] Schema make_rocm_schema(RocmTable table, std::span<const RocmCounter> counters = {});

struct RocmProcess {
  std::string host;
  std::string machine;  // tells hosts of one name apart
  MaybeNumber pid;
  std::string command;
};

struct RocmAgent {
  bool is_gpu = false;
  std::int64_t number = 0;                                // among those of its kind
  std::string name;                                       // "gfx950"
  std::string product;                                    // "AMD Instinct MI350X"
  std::map<std::string, std::string, std::less<>> facts;  // for the session's meta data: "numSms"
};

class RocmRun {
 public:
  explicit RocmRun(EventSink& sink);

  [[nodiscard]] tracks::UnorderedSession& session() noexcept { return session_; }
  [[nodiscard]] ImportReport& report() noexcept { return session_.report(); }
  [[nodiscard]] StringId intern(std::string_view text) { return session_.intern(text); }
  // Of a kernel: those of collectives get rows of their own.
  [[nodiscard]] StringId intern_kernel(std::string_view name);

  [[nodiscard]] std::uint32_t add_process(RocmProcess process);
  [[nodiscard]] RocmProcess& process(std::uint32_t process) noexcept { return processes_[process]; }
  void add_agent(std::uint32_t process, std::int64_t id, RocmAgent agent);
  void name_thread(std::uint32_t process, std::int64_t thread, std::string name);
  // Before the first kernel is written; once.
  void set_counters(std::vector<RocmCounter> counters);
  [[nodiscard]] bool has_kernels() const noexcept;
  [[nodiscard]] std::span<const RocmCounter> counters() const noexcept { return counters_; }

  void write(const RocmDispatch& dispatch, std::span<const CounterValue> counters = {});
  void write(const RocmCopy& copy);
  void write(const RocmOnHost& event);
  void write(const RocmAllocation& allocation);
  // Rows of the source that would have become some of this table, and cannot be shown.
  void count_skipped(RocmTable table, std::uint64_t rows = 1) noexcept {
    rows_skipped_[static_cast<std::size_t>(table)] += rows;
  }

  // Whether work with this correlation was written: calls that started none need no flow.
  [[nodiscard]] bool has_work(std::uint32_t process, std::int64_t correlation) const {
    return work_[process].contains(correlation);
  }

  // A row of samples; the same for the same process, device and name. No agent: of the whole host.
  [[nodiscard]] std::uint32_t counter_row(std::uint32_t process, MaybeNumber agent, const std::string& name,
                                          const std::string& unit);
  void sample(std::uint32_t row, std::int64_t time, double value) { session_.sample(row, time, value); }

  struct Finish {
    std::string source;  // "rocpd 3.0.0"
    std::string path;    // for messages
  };
  Result<void> finish(const Finish& options);

 private:
  enum class RowSort : std::uint8_t { stream, collective, copy, fill, call, region, mark, sample, memory };
  struct RowKey {
    RowSort sort = RowSort::stream;
    std::uint32_t process = 0;
    std::int64_t device = 0;  // place in devices_
    std::int64_t number = 0;  // of the stream, queue or thread
    bool by_queue = false;
    bool operator==(const RowKey&) const = default;
  };
  struct RowKeyHash {
    std::size_t operator()(const RowKey& key) const noexcept;
  };
  struct WorkRow {
    RowKey key;
    std::uint32_t row = 0;
    std::uint64_t events = 0;
  };
  struct Device {
    std::uint32_t process = 0;
    RocmAgent agent;
    bool known = true;
    std::int64_t id = 0;
  };
  struct Released {
    std::int64_t bytes = 0;
    std::int64_t device = 0;
  };

  [[nodiscard]] std::uint32_t table_of(RocmTable table);
  [[nodiscard]] std::uint32_t row_of(const RowKey& key, RocmTable table, const char* kind);
  [[nodiscard]] std::size_t device_of(std::uint32_t process, MaybeNumber agent);
  [[nodiscard]] std::size_t device_of_copy(const RocmCopy& copy);
  [[nodiscard]] static std::string device_name(const Device& device);
  [[nodiscard]] StringId agent_title(std::uint32_t process, MaybeNumber agent);
  void begin_work(const RocmRecord& record, const tracks::WrittenEvent& event);
  [[nodiscard]] RowKey device_row(RowSort sort, const RocmOnDevice& event, std::size_t device) const;

  // The end: rows.cpp
  void name_rows();
  void name_device_row(const WorkRow& row);
  void name_thread_rows();
  void name_thread_rows(std::uint32_t process, std::int64_t thread, std::span<const WorkRow> rows);
  void write_facts(const Finish& options);
  void report_losses();
  [[nodiscard]] std::string device_label(const Device& device) const;
  [[nodiscard]] std::string host_of(std::uint32_t process) const;
  [[nodiscard]] std::string stream_name(const RowKey& key) const;
  [[nodiscard]] std::string thread_name(std::uint32_t process, std::int64_t thread) const;

  tracks::UnorderedSession session_;
  RocmValues values_;
  std::vector<RocmProcess> processes_;
  std::vector<Device> devices_;
  std::map<std::pair<std::uint32_t, std::int64_t>, std::size_t> device_ids_;
  std::map<std::pair<std::uint32_t, std::int64_t>, std::string> thread_names_;
  std::vector<RocmCounter> counters_;
  std::array<std::uint32_t, kRocmTableCount> tables_;
  std::array<std::uint64_t, kRocmTableCount> rows_written_{};
  std::array<std::uint64_t, kRocmTableCount> rows_skipped_{};
  std::unordered_map<RowKey, std::size_t, RowKeyHash> row_numbers_;  // place in rows_
  std::vector<WorkRow> rows_;
  std::map<std::string, std::uint32_t, std::less<>> counter_rows_;
  std::vector<std::pair<std::uint32_t, std::size_t>> counters_of_devices_;  // row, place in devices_
  std::set<StringId> collectives_;
  std::vector<IdSet> work_;                                     // correlations, by process
  std::unordered_map<std::uint64_t, Released> allocated_;       // by process and address
  std::set<std::pair<std::uint32_t, std::int64_t>> launching_;  // threads
  std::uint64_t unknown_releases_ = 0;
};

// Counts what is read of all parts and files of a run, for the user to see.
struct ReadingProgress {
  std::function<void(std::uint64_t done, std::uint64_t total)> tell;
  std::uint64_t done = 0;
  std::uint64_t total = 0;

  void inform() const {
    if (tell) tell(done, std::max(done, total));
  }
};

// By its name: of a library, and not one of its helpers.
[[nodiscard]] bool is_collective_kernel(std::string_view name);
// A device's name and facts as meta data: "device.0.name".
void write_agent_facts(SessionWriter& writer, const std::string& prefix, const RocmAgent& agent);

// What ROCm's profilers say of a device, as an object of JSON: facts for the session's meta data, under the names that
// other profiles of GPUs have for them.

// Nothing where the text is none.
void add_agent_facts(std::string_view object, RocmAgent& agent);
// One member of such an object.
void add_agent_field(const json::JsonField& field, RocmAgent& agent);
// One of them, by ROCm's name of it.
void add_agent_fact(std::string_view name, std::string_view value, RocmAgent& agent);

// Texts of a table of the file as strings of the session, each looked up once, when it is first needed.
class NamedIds {
 public:
  NamedIds(RocmRun& run, const sqlite::ForeignDatabase& database, std::string_view table, std::string_view column)
      : run_(run), rows_(database, table, "id", {column}) {}

  // 0 for an id that is absent or 0; "string 7" for one that the table does not have.
  [[nodiscard]] StringId name(MaybeNumber id) {
    if (id.value_or(0) == 0) return 0;
    const auto known = names_.find(*id);
    if (known != names_.end()) return known->second;
    const StringId name = run_.intern(text(*id));
    if (names_.size() < kMostRetained) names_.emplace(*id, name);
    return name;
  }
  // The text itself, until the next call.
  [[nodiscard]] std::string_view text(std::int64_t id) {
    if (rows_.find(id)) return rows_.rows().text(0);
    ++missing_;
    unknown_ = fmt::format("string {}", id);
    return unknown_;
  }
  [[nodiscard]] std::uint64_t missing() const noexcept { return missing_; }

 private:
  static constexpr std::size_t kMostRetained = 1'000'000;

  RocmRun& run_;
  sqlite::KeyedRows rows_;
  std::unordered_map<std::int64_t, StringId> names_;
  std::string unknown_;
  std::uint64_t missing_ = 0;
};

}  // namespace accelscope::capture::sources::rocm
