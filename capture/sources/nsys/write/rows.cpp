#include "capture/sources/nsys/write/rows.h"

#include <fmt/format.h>

#include <algorithm>

#include "capture/sources/tracks/gpu_tables.h"

namespace accelscope::capture::sources::nsys {
namespace {

constexpr std::string_view kProfilerHostName = "profiler";  // such rows come last
constexpr std::int64_t kNoStream = 4294967295;
constexpr std::int64_t kMostMetrics = 4096;  // of a device; a broken file may hold any number

struct StreamRowRule {
  StreamRow row;
  NsysTable table;
  std::string_view kind;
  std::string_view before;  // "memcpy " of "memcpy stream 7"
};
constexpr std::array kStreamRows = {
    StreamRowRule{StreamRow::kernels, NsysTable::kernel, "stream", ""},
    StreamRowRule{StreamRow::graphs, NsysTable::cuda_graph, "stream", "graphs "},
    StreamRowRule{StreamRow::collectives, NsysTable::kernel, "collective", "NCCL, "},
    StreamRowRule{StreamRow::copies, NsysTable::memcpy, "dma_queue", "memcpy "},
    StreamRowRule{StreamRow::sets, NsysTable::memset, "dma_queue", "memset "},
    StreamRowRule{StreamRow::waits, NsysTable::cuda_sync, "barrier", "sync "},
    StreamRowRule{StreamRow::events, NsysTable::cuda_event, "barrier", "events "},
};

struct ThreadRowRule {
  ThreadRow row;
  NsysTable table;
  std::string_view label;  // the last word of the row's name: it tells what the row shows of the thread
};
constexpr std::array kThreadRows = {
    ThreadRowRule{ThreadRow::annotations, NsysTable::nvtx, "annotations"},
    ThreadRowRule{ThreadRow::library, NsysTable::nvtx, ""},
    ThreadRowRule{ThreadRow::runtime, NsysTable::runtime_call, "runtime"},
    ThreadRowRule{ThreadRow::system, NsysTable::osrt_call, "system"},
    ThreadRowRule{ThreadRow::states, NsysTable::thread_state, "state"},
    ThreadRowRule{ThreadRow::samples, NsysTable::cpu_sample, "samples"},
};

enum OtherRow : int { kRangesRow, kMemoryRow, kPoolsRow, kFaultsRow, kOverheadRow, kMessagesRow };

[[nodiscard]] std::size_t mixed(std::size_t hash, std::uint64_t value) noexcept {
  constexpr std::uint64_t kRowPrime = 0x9E3779B97F4A7C15U;
  return (hash ^ value) * kRowPrime;
}

}  // namespace

std::size_t NsysRows::StreamHash::operator()(const StreamKey& key) const noexcept {
  std::size_t hash = mixed(static_cast<std::size_t>(key.kind), key.process);
  hash = mixed(hash, static_cast<std::uint64_t>(key.device));
  hash = mixed(hash, static_cast<std::uint64_t>(key.context));
  hash = mixed(hash, static_cast<std::uint64_t>(key.stream));
  return hash ^ hash >> 32;
}

std::size_t NsysRows::ThreadHash::operator()(const ThreadKey& key) const noexcept {
  const std::size_t hash =
      mixed(static_cast<std::size_t>(key.kind) << 32 | key.table, static_cast<std::uint64_t>(key.thread));
  return hash ^ hash >> 32;
}

std::uint32_t NsysRows::table(NsysTable table) {
  std::uint32_t& number = tables_[static_cast<std::size_t>(table)];
  if (number == kNone) number = session_.add_table(nsys_schema(table));
  return number;
}

std::string NsysRows::device_label(std::int64_t device) const { return tracks::gpu_name(device); }

std::uint32_t NsysRows::stream(StreamRow kind, std::uint64_t process, std::int64_t device, std::int64_t context,
                               std::int64_t stream) {
  const StreamKey key{kind, process, device, context, stream};
  if (const auto known = streams_.find(key); known != streams_.end()) return known->second;
  const StreamRowRule& rule = kStreamRows[static_cast<std::size_t>(kind)];
  const std::uint32_t row =
      session_.add_track(table(rule.table), {.kind = std::string(rule.kind)}, {tracks::kDeviceRows, 0});
  devices_.insert(facts_.gpu_of(process, device));
  streams_.try_emplace(key, row);
  return row;
}

std::uint32_t NsysRows::thread(ThreadRow kind, std::int64_t thread, std::string_view library,
                               std::uint32_t library_table) {
  const ThreadKey key{kind, library.empty() ? 0 : library_table, thread};
  if (const auto known = thread_rows_.find(key); known != thread_rows_.end()) return known->second;
  const ThreadRowRule& rule = kThreadRows[static_cast<std::size_t>(kind)];
  const std::uint32_t row =
      session_.add_track(library.empty() ? table(rule.table) : library_table, {.kind = "host_thread"});
  threads_[thread].push_back({row, std::string(library.empty() ? rule.label : library), static_cast<int>(kind)});
  if (kind == ThreadRow::runtime) launching_.insert(thread);
  thread_rows_.try_emplace(key, row);
  return row;
}

std::uint32_t NsysRows::ranges(std::uint64_t process) {
  const auto [known, added] = others_.try_emplace({kRangesRow, static_cast<std::int64_t>(process)}, 0);
  if (added) {
    known->second = session_.add_track(
        table(NsysTable::nvtx), {.name = "NVTX ranges", .kind = "host_thread", .host = facts_.process_label(process)},
        {tracks::kMainThreadRows, -1});
  }
  return known->second;
}

std::uint32_t NsysRows::memory(std::int64_t device, bool pools) {
  const auto [known, added] = others_.try_emplace({pools ? kPoolsRow : kMemoryRow, device}, 0);
  if (added) {
    const NsysTable of = pools ? NsysTable::memory_pool : NsysTable::memory;
    known->second = session_.add_track(table(of),
                                       {.name = pools ? "memory pools" : "memory",
                                        .kind = "memory",
                                        .device = device < 0 ? std::string{} : device_label(device)},
                                       {tracks::kDeviceRows, 100});
  }
  return known->second;
}

std::uint32_t NsysRows::faults(std::uint64_t process) {
  const auto [known, added] = others_.try_emplace({kFaultsRow, static_cast<std::int64_t>(process)}, 0);
  if (added) {
    known->second = session_.add_track(
        table(NsysTable::page_fault),
        {.name = "page faults", .kind = "host_thread", .host = facts_.process_label(process)}, {tracks::kHostRows, 1});
  }
  return known->second;
}

std::uint32_t NsysRows::overhead(std::int64_t thread) {
  const auto [known, added] = others_.try_emplace({kOverheadRow, thread}, 0);
  if (added) {
    known->second =
        session_.add_track(table(NsysTable::overhead),
                           {.name = fmt::format("overhead of {}, {}", facts_.process_label(process_key_of(thread)),
                                                facts_.thread_title(thread)),
                            .kind = "host_thread",
                            .host = std::string(kProfilerHostName)},
                           {tracks::kProfilerRows, 1});
  }
  return known->second;
}

std::uint32_t NsysRows::messages() {
  const auto [known, added] = others_.try_emplace({kMessagesRow, 0}, 0);
  if (added) {
    known->second =
        session_.add_track(table(NsysTable::diagnostic),
                           {.name = "messages", .kind = "host_thread", .host = std::string(kProfilerHostName)},
                           {tracks::kProfilerRows, 0});
  }
  return known->second;
}

std::uint32_t NsysRows::metric(std::int64_t type, std::int64_t metric) {
  std::vector<std::uint32_t>& of_type = metrics_[type];
  const auto place = static_cast<std::size_t>(std::clamp<std::int64_t>(metric, 0, kMostMetrics));
  if (place >= of_type.size()) of_type.resize(place + 1, kNone);
  if (of_type[place] != kNone) return of_type[place];
  const NsysMetric* known = facts_.metric(type, metric);
  constexpr std::int64_t kDeviceOfType = 0xFF;
  Track track{.name = known == nullptr ? fmt::format("metric {}", metric) : known->name,
              .kind = "counter",
              .device = device_label(type & kDeviceOfType),
              .unit = known == nullptr ? std::string{} : known->unit};
  devices_.insert(type & kDeviceOfType);
  return of_type[place] = session_.add_track(session_.counter_table(), std::move(track), {tracks::kDeviceRows, 200});
}

void NsysRows::name_all() {
  name_streams();
  name_threads();
}

// Streams of one number on one device are told apart by their process, or else by their context.
void NsysRows::name_streams() {
  std::map<std::pair<std::int64_t, std::int64_t>, std::set<std::uint64_t>> processes;  // by device and stream
  std::map<std::pair<std::int64_t, std::int64_t>, std::set<std::pair<std::uint64_t, std::int64_t>>> contexts;
  for (const auto& [key, row] : streams_) {
    const std::pair place{facts_.gpu_of(key.process, key.device), key.stream};
    processes[place].insert(key.process);
    contexts[place].emplace(key.process, key.context);
  }
  for (const auto& [key, row] : streams_) {
    const std::int64_t gpu = facts_.gpu_of(key.process, key.device);
    const StreamRowRule& rule = kStreamRows[static_cast<std::size_t>(key.kind)];
    std::string name =
        key.stream == kNoStream ? fmt::format("context {}", key.context) : fmt::format("stream {}", key.stream);
    const std::size_t sharing = processes[{gpu, key.stream}].size();
    if (sharing > 1) name += ", " + facts_.process_label(key.process);
    if (contexts[{gpu, key.stream}].size() > sharing && key.stream != kNoStream) {
      name += fmt::format(", context {}", key.context);
    }
    Track& track = session_.row(row);
    track.device = device_label(gpu);
    track.name = fmt::format("{}{}", rule.before, name);
    session_.place(row).place = static_cast<std::int64_t>(key.kind);
  }
}

void NsysRows::name_threads() {
  for (const auto& [thread, entries] : threads_) {
    const bool own = facts_.is_of_profiler(thread);
    const std::string process = facts_.process_label(process_key_of(thread));
    const std::string host = own ? std::string(kProfilerHostName) : process;
    std::string title = facts_.thread_title(thread);
    const int rank = own                                ? tracks::kProfilerRows
                     : tid_of(thread) == pid_of(thread) ? tracks::kMainThreadRows
                     : launching_.contains(thread)      ? tracks::kLaunchingRows
                                                        : tracks::kHostRows;
    if (own) title = fmt::format("{} in {}", title, process);
    std::uint32_t group = kNone;
    if (entries.size() > 1) {
      group = session_.add_group({.name = title, .kind = "host_thread", .host = host}, {rank, tid_of(thread)});
    }
    for (const ThreadEntry& entry : entries) {
      Track& track = session_.row(entry.row);
      track.host = host;
      track.name = group == kNone ? title : fmt::format("{} {}", title, entry.label);
      session_.place(entry.row) = {rank, group == kNone ? tid_of(thread) : entry.order};
      session_.above(entry.row) = group;
    }
  }
}

}  // namespace accelscope::capture::sources::nsys
