// Who is who in an export: processes, threads, devices, contexts, domains, metrics. Read once, before the events.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "capture/sources/nsys/read/words.h"
#include "capture/sources/sqlite/foreign_database.h"
#include "core/chunk/session_writer.h"
#include "core/model/ids.h"

namespace accelscope::capture::sources::nsys {

// The strings that rows refer to by number. An export of a long run holds millions that no event names (the ranges of
// a framework that numbers its operators), so they are looked up as they are needed.

// What of a string becomes a name.
enum class NsysNameForm : std::uint8_t {
  whole,
  function,  // without_version()
  range,     // without_operator_id()
};

class NsysStrings {
 public:
  explicit NsysStrings(SessionWriter& writer) : writer_(writer) {}

  Result<void> open(const sqlite::ForeignDatabase& file);
  // "" if there is none, which is counted. Valid until the next call.
  [[nodiscard]] std::string_view text(std::int64_t number);
  // In the session's dictionary; what is asked for again is remembered by number.
  [[nodiscard]] StringId intern(std::int64_t number, NsysNameForm form = NsysNameForm::whole);
  [[nodiscard]] std::uint64_t missing() const noexcept { return missing_; }

 private:
  static constexpr std::size_t kMostRemembered = 16U << 20;  // numbers beyond are looked up each time

  SessionWriter& writer_;
  Statement lookup_;
  std::unordered_map<std::int64_t, std::string> whole_;  // of a table that cannot be looked up in
  std::array<std::vector<StringId>, 3> known_;           // by form and number; 0: not asked for yet
  std::string repaired_;
  std::uint64_t missing_ = 0;
  bool any_ = false;
  bool whole_read_ = false;
};

// What becomes a name of the text.
[[nodiscard]] std::string_view name_in_form(std::string_view text, NsysNameForm form) noexcept;

struct NsysGpu {
  std::string name;
  std::int64_t memory_bytes = 0;
  std::int64_t multiprocessors = 0;
};

struct NsysMetric {
  std::string name;  // "SMs Active"
  std::string unit;  // "%"
};

class NsysFacts {
 public:
  NsysFacts(const sqlite::ForeignDatabase& file, NsysStrings& strings) : file_(file), strings_(strings) {}

  // The first table that cannot be read is told; the others are read all the same.
  Result<void> read();

  [[nodiscard]] std::string schema_version() const { return exported_value("EXPORT_SCHEMA_VERSION"); }
  [[nodiscard]] std::string product_version() const { return exported_value("EXPORT_PRODUCT_VERSION"); }
  [[nodiscard]] std::string exported_value(const std::string& name) const;
  [[nodiscard]] const std::map<std::string, std::string>& environment() const noexcept { return environment_; }
  // What time it was when the session's clock began.
  [[nodiscard]] std::optional<std::int64_t> unix_ns() const noexcept { return unix_ns_; }

  // "python3 (111)".
  [[nodiscard]] std::string process_label(std::uint64_t process) const;
  // "Main thread", "pt_autograd_0", "thread 112"; "whole process" of what is told of no thread.
  [[nodiscard]] std::string thread_title(std::int64_t thread) const;
  [[nodiscard]] bool is_of_profiler(std::int64_t thread) const;  // nsys starts threads in the programs it watches
  [[nodiscard]] bool several_machines() const noexcept { return machines_.size() > 1; }

  // The number of the GPU that a process calls device N.
  [[nodiscard]] std::int64_t gpu_of(std::uint64_t process, std::int64_t device) const;
  [[nodiscard]] std::optional<std::int64_t> device_of_context(std::uint64_t process, std::int64_t context) const;
  void saw_context(std::uint64_t process, std::int64_t context, std::int64_t device);
  [[nodiscard]] const std::map<std::int64_t, NsysGpu>& gpus() const noexcept { return gpus_; }
  [[nodiscard]] const NsysGpu* find_gpu(std::int64_t number) const;

  [[nodiscard]] std::string_view domain(std::int64_t thread, std::int64_t domain) const;
  [[nodiscard]] std::string_view category(std::int64_t thread, std::int64_t domain, std::int64_t category) const;
  [[nodiscard]] const NsysMetric* metric(std::int64_t type, std::int64_t metric) const;

 private:
  using Pair = std::pair<std::uint64_t, std::int64_t>;
  void read_processes();
  void read_devices();
  void read_names_of_ranges();
  void read_metrics();
  void note(const Result<void>& status);
  template <typename Visit>
  void each_row(std::string_view table, std::initializer_list<std::string_view> columns, std::string_view further,
                Visit visit);

  const sqlite::ForeignDatabase& file_;
  NsysStrings& strings_;
  Result<void> status_;
  std::map<std::string, std::string> exported_;
  std::map<std::string, std::string> environment_;
  std::optional<std::int64_t> unix_ns_;
  std::unordered_map<std::uint64_t, std::string> processes_;
  std::unordered_map<std::int64_t, std::string> threads_;
  std::map<std::pair<std::uint64_t, std::string>, int> shared_names_;  // how many threads of a process have the name
  std::set<std::uint32_t> machines_;
  std::map<std::int64_t, NsysGpu> gpus_;
  std::map<Pair, std::int64_t> gpu_of_device_;
  std::map<Pair, std::int64_t> device_of_context_;
  std::map<Pair, std::string> domains_;                              // by process; 0: of any
  std::map<std::pair<Pair, std::int64_t>, std::string> categories_;  // by process and domain
  std::map<std::pair<std::int64_t, std::int64_t>, NsysMetric> metrics_;
};

}  // namespace accelscope::capture::sources::nsys
