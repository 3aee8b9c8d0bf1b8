#include "capture/sources/nsys/read/facts.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "capture/sources/nsys/read/words.h"
#include "core/base/text.h"

namespace accelscope::capture::sources::nsys {
namespace {

constexpr std::string_view kStringTable = "StringIds";

}  // namespace

std::string_view name_in_form(std::string_view text, NsysNameForm form) noexcept {
  switch (form) {
    case NsysNameForm::whole:
      return text;
    case NsysNameForm::function:
      return without_version(text);
    case NsysNameForm::range:
      return without_operator_id(text);
  }
  return text;
}

Result<void> NsysStrings::open(const sqlite::ForeignDatabase& file) {
  if (!file.has_table(kStringTable)) return {};
  if (file.has_index(kStringTable, "id")) {
    Statement lookup = TRY(file.prepare("SELECT \"value\" FROM \"StringIds\" WHERE \"id\" = ?"));
    lookup_ = std::move(lookup);
    any_ = true;
    return {};
  }
  // Files that tools have cut out of an export may have no index.
  sqlite::ForeignRows rows = TRY(file.rows(kStringTable, {"id", "value"}));
  while (rows.next()) whole_.try_emplace(rows.integer(0), sqlite::valid_text(rows.text(1), repaired_));
  whole_read_ = true;
  return rows.status();
}

std::string_view NsysStrings::text(std::int64_t number) {
  if (whole_read_) {
    const auto found = whole_.find(number);
    missing_ += found == whole_.end() ? 1 : 0;
    return found == whole_.end() ? std::string_view{} : std::string_view(found->second);
  }
  if (any_) {
    lookup_.reset();
    const Result<bool> row = lookup_.bind(1, number).step();
    if (row && row.value()) return sqlite::valid_text(lookup_.text(0), repaired_);
  }
  ++missing_;
  return {};
}

StringId NsysStrings::intern(std::int64_t number, NsysNameForm form) {
  std::vector<StringId>& known = known_[static_cast<std::size_t>(form)];
  const auto place = static_cast<std::uint64_t>(number);
  if (place < known.size() && known[place] != 0) return known[place];
  const StringId id = writer_.intern(name_in_form(text(number), form));
  if (place >= kMostRemembered) return id;
  if (place >= known.size()) known.resize(std::max<std::size_t>(place + 1, known.size() + known.size() / 2));
  known[place] = id;
  return id;
}

namespace {

constexpr std::size_t kMostFactRows = 4'000'000;  // of a table: a broken file may hold anything

// Types of NVTX rows that give names to others.
constexpr std::int64_t kNamesCategory = 33, kNamesThread = 39, kNamesDomain = 75;

// "SMs Active" and "%" of "SMs Active [Throughput %]".
[[nodiscard]] NsysMetric metric_of(std::string_view text) {
  NsysMetric metric{std::string(text), {}};
  const std::size_t open = text.rfind(" [");
  if (open == std::string_view::npos || !text.ends_with(']')) return metric;
  const std::string_view unit = text.substr(open + 2, text.size() - open - 3);
  metric.name = text.substr(0, open);
  metric.unit = unit.ends_with('%') ? std::string("%") : std::string(unit);
  return metric;
}

// Of the machine that an id is of, without pid and tid.
[[nodiscard]] std::uint64_t machine_key(std::int64_t hardware, std::int64_t machine, std::int64_t pid) {
  return static_cast<std::uint64_t>(hardware) << 32 | (static_cast<std::uint64_t>(machine) & 0xFF) << 24 |
         (static_cast<std::uint64_t>(pid) & 0xFFFFFF);
}

}  // namespace

template <typename Visit>
void NsysFacts::each_row(std::string_view table, std::initializer_list<std::string_view> columns,
                         std::string_view further, Visit visit) {
  Result<sqlite::ForeignRows> rows = file_.rows(table, columns, further);
  if (!rows) return note(rows.error());
  for (std::size_t count = 0; count < kMostFactRows && rows->next(); ++count) visit(*rows);
  note(rows->status());
}

void NsysFacts::note(const Result<void>& status) {
  if (status_ && !status) status_ = status;
}

Result<void> NsysFacts::read() {
  for (const std::string_view table : {"META_DATA_EXPORT", "EXPORT_META_DATA"}) {
    each_row(table, {"name", "value"}, {},
             [&](const sqlite::ForeignRows& row) { exported_.try_emplace(std::string(row.text(0)), row.text(1)); });
  }
  each_row("TARGET_INFO_SYSTEM_ENV", {"name", "value"}, {},
           [&](const sqlite::ForeignRows& row) { environment_.try_emplace(std::string(row.text(0)), row.text(1)); });
  each_row("TARGET_INFO_SESSION_START_TIME", {"utcEpochNs"}, {}, [&](const sqlite::ForeignRows& row) {
    if (!unix_ns_ && row.has(0)) unix_ns_ = row.integer(0);
  });
  read_processes();
  read_devices();
  read_names_of_ranges();
  read_metrics();
  return status_;
}

void NsysFacts::read_processes() {
  each_row("PROCESSES", {"globalPid", "name"}, {}, [&](const sqlite::ForeignRows& row) {
    const std::string name = file_name(row.text(1));
    machines_.insert(machine_of(row.integer(0)));
    if (!name.empty()) processes_.try_emplace(process_key_of(row.integer(0)), name);
  });
  each_row("ThreadNames", {"globalTid", "nameId"}, {}, [&](const sqlite::ForeignRows& row) {
    if (row.has(1)) threads_.try_emplace(row.integer(0), strings_.text(row.integer(1)));
  });
}

void NsysFacts::read_devices() {
  each_row("TARGET_INFO_GPU", {"id", "name", "totalMemory", "smCount"}, {}, [&](const sqlite::ForeignRows& row) {
    gpus_.try_emplace(row.integer(0), NsysGpu{std::string(row.text(1)), row.integer(2), row.integer(3)});
  });
  each_row("TARGET_INFO_CUDA_GPU", {"id", "name", "memorySize", "multiprocessors"}, {},
           [&](const sqlite::ForeignRows& row) {
             gpus_.try_emplace(row.integer(0), NsysGpu{std::string(row.text(1)), row.integer(2), row.integer(3)});
           });
  // Which machine a pid is of is not said here; where a job has several, their GPUs have numbers of their own.
  each_row("TARGET_INFO_CUDA_DEVICE", {"pid", "cudaId", "gpuId"}, {}, [&](const sqlite::ForeignRows& row) {
    if (row.has(2)) gpu_of_device_.try_emplace({row.integer(0) & 0xFFFFFF, row.integer(1)}, row.integer(2));
  });
  for (const std::string_view table : {"TARGET_INFO_CUDA_CONTEXT_INFO", "TARGET_INFO_CUDA_NULL_STREAM"}) {
    each_row(table, {"hwId", "vmId", "processId", "contextId", "deviceId"}, {}, [&](const sqlite::ForeignRows& row) {
      saw_context(machine_key(row.integer(0), row.integer(1), row.integer(2)), row.integer(3), row.integer(4));
    });
  }
}

void NsysFacts::read_names_of_ranges() {
  each_row("NVTX_EVENTS", {"eventType", "globalTid", "domainId", "category", "text", "textId"},
           " WHERE \"eventType\" IN (33, 39, 75)", [&](const sqlite::ForeignRows& row) {
             std::string text(row.text(4));
             if (text.empty() && row.has(5)) text = strings_.text(row.integer(5));
             const std::uint64_t process = process_key_of(row.integer(1));
             if (row.integer(0) == kNamesDomain) {
               domains_.try_emplace({process, row.integer(2)}, text);
               domains_.try_emplace({0, row.integer(2)}, text);
             } else if (row.integer(0) == kNamesCategory) {
               categories_.try_emplace({{process, row.integer(2)}, row.integer(3)}, text);
             } else if (row.integer(0) == kNamesThread && !text.empty()) {
               threads_[row.integer(1)] = text;  // the program's own name for it
             }
           });
  for (const auto& [thread, name] : threads_) ++shared_names_[{process_key_of(thread), name}];
}

void NsysFacts::read_metrics() {
  each_row("TARGET_INFO_GPU_METRICS", {"typeId", "metricId", "metricName"}, {}, [&](const sqlite::ForeignRows& row) {
    metrics_.try_emplace({row.integer(0), row.integer(1)}, metric_of(row.text(2)));
  });
}

std::string NsysFacts::exported_value(const std::string& name) const {
  const auto found = exported_.find(name);
  return found == exported_.end() ? std::string{} : found->second;
}

std::string NsysFacts::process_label(std::uint64_t process) const {
  const auto known = processes_.find(process);
  const auto global = static_cast<std::int64_t>(process << 24);
  std::string label = known == processes_.end() ? fmt::format("process {}", pid_of(global))
                                                : fmt::format("{} ({})", known->second, pid_of(global));
  if (several_machines()) label += fmt::format(" on {}", machine_of(global));
  return label;
}

std::string NsysFacts::thread_title(std::int64_t thread) const {
  if (tid_of(thread) == 0) return "whole process";
  if (tid_of(thread) == pid_of(thread)) return "Main thread";
  const auto known = threads_.find(thread);
  if (known == threads_.end() || known->second.empty()) return fmt::format("thread {}", tid_of(thread));
  const auto process = processes_.find(process_key_of(thread));
  if (process != processes_.end() && process->second == known->second) return fmt::format("thread {}", tid_of(thread));
  const auto shared = shared_names_.find({process_key_of(thread), known->second});
  return shared != shared_names_.end() && shared->second > 1 ? fmt::format("{} {}", known->second, tid_of(thread))
                                                             : known->second;
}

bool NsysFacts::is_of_profiler(std::int64_t thread) const {
  constexpr std::string_view kOwnThreads[] = {"[NSys", "CUPTI worker"};
  const auto known = threads_.find(thread);
  return known != threads_.end() &&
         std::any_of(std::begin(kOwnThreads), std::end(kOwnThreads),
                     [&](std::string_view begin) { return known->second.starts_with(begin); });
}

std::int64_t NsysFacts::gpu_of(std::uint64_t process, std::int64_t device) const {
  const auto known = gpu_of_device_.find({process & 0xFFFFFF, device});
  return known == gpu_of_device_.end() ? device : known->second;
}

std::optional<std::int64_t> NsysFacts::device_of_context(std::uint64_t process, std::int64_t context) const {
  const auto known = device_of_context_.find({process, context});
  return known == device_of_context_.end() ? std::nullopt : std::optional(known->second);
}

void NsysFacts::saw_context(std::uint64_t process, std::int64_t context, std::int64_t device) {
  device_of_context_.try_emplace({process, context}, device);
}

const NsysGpu* NsysFacts::find_gpu(std::int64_t number) const {
  const auto known = gpus_.find(number);
  return known == gpus_.end() ? nullptr : &known->second;
}

std::string_view NsysFacts::domain(std::int64_t thread, std::int64_t domain) const {
  auto known = domains_.find({process_key_of(thread), domain});
  if (known == domains_.end()) known = domains_.find({0, domain});
  return known == domains_.end() ? std::string_view{} : std::string_view(known->second);
}

std::string_view NsysFacts::category(std::int64_t thread, std::int64_t domain, std::int64_t category) const {
  const auto known = categories_.find({{process_key_of(thread), domain}, category});
  return known == categories_.end() ? std::string_view{} : std::string_view(known->second);
}

const NsysMetric* NsysFacts::metric(std::int64_t type, std::int64_t metric) const {
  const auto known = metrics_.find({type, metric});
  return known == metrics_.end() ? nullptr : &known->second;
}

}  // namespace accelscope::capture::sources::nsys
