// The tables of an export and what they become: those that all profiles of GPUs share first, with what nsys tells
// beyond in columns of its own names.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "capture/sources/nsys/read/facts.h"
#include "capture/sources/tracks/unordered_session.h"
#include "core/model/column_spec.h"

namespace accelscope::capture::sources::nsys {

enum class NsysTable : std::uint8_t {
  kernel,
  memcpy,
  memset,
  cuda_sync,
  runtime_call,
  nvtx,
  cuda_graph,   // launches of whole graphs
  cuda_event,   // moments at which a device passed an event
  memory,       // allocations on devices
  memory_pool,  // what happens to pools of allocations
  page_fault,   // of unified memory
  osrt_call,    // of the system's libraries
  thread_state,
  cpu_sample,
  overhead,  // of the profiler
  diagnostic,
};
inline constexpr std::size_t kNsysTableCount = 16;

struct NsysTableRule {
  NsysTable table;
  SchemaSpec schema;                   // of those that are not common
  std::span<const ColumnSpec> common;  // "": the schema of the common table
  // Columns that are written as they are read: named as in the export. Strings are numbers of its strings there.
  std::span<const ColumnSpec> further;
};

[[nodiscard]] const NsysTableRule& nsys_rule(NsysTable table) noexcept;
[[nodiscard]] Schema nsys_schema(NsysTable table);
[[nodiscard]] std::string_view nsys_table_name(NsysTable table) noexcept;
// The place of the first further column.
[[nodiscard]] std::size_t nsys_further_place(NsysTable table) noexcept;

// Places of the columns before the further ones, of the tables that are nsys's own.
struct NvtxOwnColumns {
  static constexpr std::size_t message = 4, bytes = 5;
};
struct SyncOwnColumns {
  static constexpr std::size_t wait_on_stream = 6, record_call = 7;
};
struct GraphColumns {
  static constexpr std::size_t correlation = 0, device = 1, context = 2, stream = 3;
};
struct MemoryColumns {
  static constexpr std::size_t bytes = 0, address = 1, pool = 2, kind = 3, device = 4, context = 5, correlation = 6,
                               caller = 7;
};
struct PoolColumns {
  static constexpr std::size_t address = 0, device = 1, correlation = 2;
};
struct FaultColumns {
  static constexpr std::size_t address = 0, access = 1, source = 2;
};
struct OsrtColumns {
  static constexpr std::size_t kind = 0, stack = 1;
};
struct StateColumns {
  static constexpr std::size_t cpu = 0, reason = 1;
};
struct SampleColumns {
  static constexpr std::size_t stack = 0, state = 1;
};
struct OverheadColumns {
  static constexpr std::size_t kind = 0;
};
struct DiagnosticColumns {
  static constexpr std::size_t severity = 0, source = 1, timestamp = 2;
};
struct RuntimeOwnColumns {
  static constexpr std::size_t stack = 15;
};
struct KernelOwnColumns {
  static constexpr std::size_t launch_type = 18, cluster = 19;
};
struct TransferOwnColumns {
  static constexpr std::size_t cause = 8;
};

// The rows of the timeline: which there are, what they are called, in which order they stand. A row begins with its
// first event; it is named at the end, when it is known what else its device or thread has.

// What a stream has rows of.
enum class StreamRow : std::uint8_t { kernels, graphs, collectives, copies, sets, waits, events };
// What a thread has rows of. Libraries come in between, each with a row of its own.
enum class ThreadRow : std::uint8_t { annotations, library, runtime, system, states, samples };

class NsysRows {
 public:
  NsysRows(tracks::UnorderedSession& session, const NsysFacts& facts) : session_(session), facts_(facts) {}

  [[nodiscard]] std::uint32_t stream(StreamRow kind, std::uint64_t process, std::int64_t device, std::int64_t context,
                                     std::int64_t stream);
  // `library`: the table of a library's calls and its name, "" for the others.
  [[nodiscard]] std::uint32_t thread(ThreadRow kind, std::int64_t thread, std::string_view library = {},
                                     std::uint32_t table = kNone);
  [[nodiscard]] std::uint32_t ranges(std::uint64_t process);  // those that are not nested
  [[nodiscard]] std::uint32_t memory(std::int64_t device, bool pools);
  [[nodiscard]] std::uint32_t faults(std::uint64_t process);
  [[nodiscard]] std::uint32_t overhead(std::int64_t thread);
  [[nodiscard]] std::uint32_t messages();
  [[nodiscard]] std::uint32_t metric(std::int64_t type, std::int64_t metric);

  [[nodiscard]] std::string device_label(std::int64_t device) const;
  [[nodiscard]] const std::set<std::int64_t>& devices() const noexcept { return devices_; }

  void name_all();

 private:
  struct StreamKey {
    StreamRow kind = StreamRow::kernels;
    std::uint64_t process = 0;
    std::int64_t device = 0;
    std::int64_t context = 0;
    std::int64_t stream = 0;
    bool operator==(const StreamKey&) const = default;
    auto operator<=>(const StreamKey&) const = default;
  };
  struct StreamHash {
    std::size_t operator()(const StreamKey& key) const noexcept;
  };
  struct ThreadKey {
    ThreadRow kind = ThreadRow::annotations;
    std::uint32_t table = 0;
    std::int64_t thread = 0;
    bool operator==(const ThreadKey&) const = default;
  };
  struct ThreadHash {
    std::size_t operator()(const ThreadKey& key) const noexcept;
  };
  struct ThreadEntry {
    std::uint32_t row = 0;
    std::string label;
    int order = 0;
  };
  [[nodiscard]] std::uint32_t table(NsysTable table);
  void name_streams();
  void name_threads();

  tracks::UnorderedSession& session_;
  const NsysFacts& facts_;
  std::array<std::uint32_t, kNsysTableCount> tables_ = filled();
  static constexpr std::array<std::uint32_t, kNsysTableCount> filled() {
    std::array<std::uint32_t, kNsysTableCount> all{};
    all.fill(kNone);
    return all;
  }
  std::unordered_map<StreamKey, std::uint32_t, StreamHash> streams_;
  std::unordered_map<ThreadKey, std::uint32_t, ThreadHash> thread_rows_;
  std::map<std::int64_t, std::vector<ThreadEntry>> threads_;
  std::set<std::int64_t> launching_;
  std::set<std::int64_t> devices_;
  std::map<std::pair<int, std::int64_t>, std::uint32_t> others_;  // by what and whose
  std::map<std::int64_t, std::vector<std::uint32_t>> metrics_;    // by type and metric
};

}  // namespace accelscope::capture::sources::nsys
