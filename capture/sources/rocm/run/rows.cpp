// What is done once everything is written: names and order of the rows, facts, the report.
#include <fmt/format.h>

#include <algorithm>

#include "capture/sources/rocm/run/run.h"
#include "core/base/text.h"

namespace accelscope::capture::sources::rocm {
namespace {

// Rows of a device: kernels, those of collectives, copies, what is set, memory, then samples.
constexpr std::int64_t kMemoryPlace = 8, kCounterPlace = 9;

// "python3.10" of "/opt/conda/bin/python3.10 -u train.py".
[[nodiscard]] std::string program_of(std::string_view command) {
  return file_name(command.substr(0, command.find(' ')));
}

}  // namespace

std::string RocmRun::host_of(std::uint32_t process) const {
  const RocmProcess& of = processes_[process];
  const bool several = std::any_of(processes_.begin(), processes_.end(), [&](const RocmProcess& other) {
    return other.host != of.host || other.machine != of.machine;
  });
  return several ? (of.host.empty() ? of.machine : of.host) : std::string();
}

std::string RocmRun::device_label(const Device& device) const {
  if (device.id < 0 && !device.known) return {};
  const std::string host = host_of(device.process);
  return host.empty() ? device_name(device) : fmt::format("{} {}", host, device_name(device));
}

std::string RocmRun::stream_name(const RowKey& key) const {
  std::string name =
      key.number < 0 ? std::string("no stream") : fmt::format("{} {}", key.by_queue ? "queue" : "stream", key.number);
  const bool several = processes_.size() > 1 && processes_[key.process].pid;
  return several ? fmt::format("pid {} {}", *processes_[key.process].pid, name) : name;
}

void RocmRun::name_device_row(const WorkRow& row) {
  Track& track = session_.row(row.row);
  const Device& device = devices_[static_cast<std::size_t>(row.key.device)];
  track.device = device_label(device);
  session_.place(row.row) = {tracks::kDeviceRows, static_cast<std::int64_t>(row.key.sort)};
  const std::string stream = stream_name(row.key);
  switch (row.key.sort) {
    case RowSort::collective:
      track.name = "NCCL, " + stream;
      break;
    case RowSort::copy:
      track.name = "memcpy " + stream;
      break;
    case RowSort::fill:
      track.name = "memset " + stream;
      break;
    case RowSort::memory:
      session_.place(row.row).place = kMemoryPlace;
      track.name = track.device.empty() ? "memory" : track.device + " memory";
      if (processes_.size() > 1 && processes_[row.key.process].pid) {
        track.name += fmt::format(" of {}", *processes_[row.key.process].pid);
      }
      break;
    default:
      track.name = stream;
      session_.place(row.row).place = 0;
  }
}

std::string RocmRun::thread_name(std::uint32_t process, std::int64_t thread) const {
  if (thread < 0) return "all threads";
  const auto named = thread_names_.find({process, thread});
  const std::string number = std::to_string(thread);
  const std::string name = named == thread_names_.end() ? std::string() : named->second;
  if (!name.empty() && name.find(number) == std::string::npos) return fmt::format("{} ({})", name, number);
  return processes_[process].pid == thread ? "Main thread" : "thread " + number;
}

// Rows of one thread, several of which lie in a group that is named like it.
void RocmRun::name_thread_rows(std::uint32_t process, std::int64_t thread, std::span<const WorkRow> rows) {
  const RocmProcess& of = processes_[process];
  std::string host = host_of(process);
  if (std::string program = program_of(of.command); !program.empty()) host += (host.empty() ? "" : " ") + program;
  if (of.pid) host += host.empty() ? fmt::format("process {}", *of.pid) : fmt::format(" ({})", *of.pid);
  const int rank = of.pid == thread                         ? tracks::kMainThreadRows
                   : launching_.contains({process, thread}) ? tracks::kLaunchingRows
                                                            : tracks::kHostRows;
  const std::string name = thread_name(process, thread);
  std::uint32_t group = kNone;
  if (rows.size() > 1) {
    group = session_.add_group({.name = name, .kind = "host_thread", .host = host}, {rank, 0});
  }
  struct Part {
    RowSort sort;
    std::string_view name;
    int place;
  };
  constexpr std::array<Part, 4> kParts = {Part{RowSort::mark, "annotations", 0}, Part{RowSort::region, "regions", 1},
                                          Part{RowSort::call, "runtime", 2}, Part{RowSort::sample, "samples", 3}};
  for (const WorkRow& row : rows) {
    const auto part =
        std::find_if(kParts.begin(), kParts.end(), [&](const Part& each) { return each.sort == row.key.sort; });
    Track& track = session_.row(row.row);
    track.host = host;
    track.name = rows.size() > 1 ? fmt::format("{} {}", name, part->name) : name;
    session_.place(row.row) = {rank, part->place};
    if (group != kNone) session_.above(row.row) = group;
  }
}

void RocmRun::name_thread_rows() {
  std::map<std::pair<std::uint32_t, std::int64_t>, std::vector<WorkRow>> threads;
  for (const WorkRow& row : rows_) {
    if (row.key.device < 0) threads[{row.key.process, row.key.number}].push_back(row);
  }
  for (const auto& [thread, rows] : threads) name_thread_rows(thread.first, thread.second, rows);
}

std::uint32_t RocmRun::counter_row(std::uint32_t process, MaybeNumber agent, const std::string& name,
                                   const std::string& unit) {
  const std::size_t device = device_of(process, agent);
  const std::string key = fmt::format("{}\n{}\n{}", agent ? std::to_string(device) : std::string("-"), process, name);
  const auto known = counter_rows_.find(key);
  if (known != counter_rows_.end()) return known->second;
  const tracks::RowPlace place =
      agent ? tracks::RowPlace{tracks::kDeviceRows, kCounterPlace} : tracks::RowPlace{tracks::kProfilerRows, 0};
  const std::uint32_t row =
      session_.add_track(session_.counter_table(), {.name = name, .kind = "counter", .unit = unit}, place);
  counter_rows_.emplace(key, row);
  if (agent) counters_of_devices_.emplace_back(row, device);
  return row;
}

void write_agent_facts(SessionWriter& writer, const std::string& prefix, const RocmAgent& agent) {
  const std::string& name = agent.product.empty() ? agent.name : agent.product;
  if (!name.empty()) writer.set_meta(prefix + "name", name);
  if (!agent.name.empty()) writer.set_meta(prefix + "architecture", agent.name);
  for (const auto& [key, value] : agent.facts) writer.set_meta(prefix + key, value);
}

void RocmRun::write_facts(const Finish& options) {
  SessionWriter& writer = session_.writer();
  writer.set_meta("source_format", options.source);
  for (const RocmProcess& process : processes_) {
    const std::string prefix = processes_.size() > 1 && process.pid ? fmt::format("process.{}.", *process.pid) : "";
    if (!process.host.empty()) writer.set_meta(prefix + "hostname", process.host);
    if (!process.command.empty()) writer.set_meta(prefix + "command", process.command);
    if (process.pid && prefix.empty()) writer.set_meta("pid", std::to_string(*process.pid));
  }
  for (const Device& device : devices_) {
    if (!device.known || !device.agent.is_gpu) continue;
    const std::string host = host_of(device.process);
    const std::string prefix = fmt::format("device.{}{}.", host.empty() ? "" : host + ".", device.agent.number);
    write_agent_facts(writer, prefix, device.agent);
  }
  for (std::size_t table = 0; table < kRocmTableCount; ++table) {
    const std::uint64_t written = rows_written_[table];
    const std::uint64_t rows = written + rows_skipped_[table];
    if (rows > 0) set_row_counts(writer, session_.table(table_of(static_cast<RocmTable>(table))).name, rows, written);
  }
}

void RocmRun::report_losses() {
  report().note("releases_unknown",
                "memory is released whose allocation is not in the profile, because recording began later",
                unknown_releases_);
  const auto written = [&](RocmTable table) { return rows_written_[static_cast<std::size_t>(table)]; };
  if (written(RocmTable::call) > 0 && written(RocmTable::kernel) + written(RocmTable::memcpy) == 0) {
    report().note("nothing_on_device",
                  "the profile has runtime calls but nothing that ran on a device: record it with --kernel-trace and "
                  "--memory-copy-trace (or --sys-trace) too");
  }
}

Result<void> RocmRun::finish(const Finish& options) {
  for (const WorkRow& row : rows_) {
    if (row.key.device >= 0) name_device_row(row);
  }
  for (const auto& [row, device] : counters_of_devices_) session_.row(row).device = device_label(devices_[device]);
  name_thread_rows();
  write_facts(options);
  report_losses();
  return session_.finish(
      {.clock = "host",
       .path = options.path,
       .unjoined_targets = launching_.empty()
                               ? std::string_view{}
                               : "work on a device was started by a call that is not in the profile, so there is no "
                                 "arrow for it"});
}

}  // namespace accelscope::capture::sources::rocm
