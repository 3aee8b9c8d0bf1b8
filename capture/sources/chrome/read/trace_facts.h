// What a trace says of itself beside its events: devices, ranks, versions, the tool's own complaints. Becomes metadata
// of the session and, where something is missing in the trace, sentences of its quality report.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "capture/json/table_reader.h"
#include "capture/sources/base/import_report.h"
#include "core/chunk/session_writer.h"

namespace accelscope::capture::sources::chrome {

class TraceFacts {
 public:
  // A window of any table but the events.
  void add(const json::JsonWindow& window);
  // A metadata event that is about the whole trace.
  void add_metadata_event(std::string_view name, std::string_view args);

  // Keys that only PyTorch's profiler writes were seen.
  [[nodiscard]] bool is_kineto() const noexcept { return kineto_; }
  // The trace was exported from a session (core/export/traces/chrome_trace.h): it states every flow and counter.
  [[nodiscard]] bool is_own() const noexcept { return own_; }
  [[nodiscard]] std::optional<std::int64_t> base_ns() const noexcept { return base_ns_; }
  void write(SessionWriter& writer, ImportReport& report) const;

 private:
  static constexpr std::size_t kMaxFacts = 2000;
  static constexpr std::size_t kMaxValueBytes = 16U << 10;

  void set(std::string key, std::string_view value);
  void flatten(const std::string& key, std::string_view json, int depth);
  void add_device(std::string_view row);
  void add_message(std::string_view table, std::string_view row);

  std::map<std::string, std::string> facts_;
  std::map<std::string, std::uint64_t> complaints_;  // the tool's own lines about errors and losses
  std::uint64_t over_limit_ = 0;
  std::uint64_t secrets_ = 0;
  std::uint64_t out_of_range_ = 0;  // records that the profiler says it left out
  std::optional<std::int64_t> base_ns_;
  std::uint64_t device_count_ = 0;
  bool kineto_ = false;
  bool own_ = false;
  bool overflowed_ = false;  // the tool's buffer
};

}  // namespace accelscope::capture::sources::chrome
