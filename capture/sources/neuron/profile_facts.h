// The tables of a profile that hold facts rather than events: metadata, profile_info, summary and its groups. They
// become meta entries ("metadata.pe_clock_freq") and metrics with units of our own; what the import itself needs of
// them is kept as fields. Tables may come in any order, so everything is written at the end.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "capture/json/json_field.h"
#include "capture/sources/import_report.h"
#include "core/model/session_writer.h"

namespace accelscope::capture {

class ProfileFacts {
 public:
  // A row of a fact table, or the only row of neff_header and model_info beside its event.
  void add(std::string_view table, std::span<const JsonField> fields);
  void write(SessionWriter& writer, ImportReport& report, const std::string& path) const;

  [[nodiscard]] std::optional<std::int64_t> last_hw_timestamp() const;
  // Multiply-accumulates that the systolic array of one physical core can do in a ns; 0 if the file does not say.
  [[nodiscard]] double peak_macs_per_ns() const;
  [[nodiscard]] std::string device() const;  // "nc0"
  [[nodiscard]] bool empty() const noexcept { return facts_.empty() && summary_.empty(); }

 private:
  struct SummaryField {
    std::string name;
    std::string graph;  // of summary-json; empty for the table
    std::string text;
    JsonKind kind;
  };
  [[nodiscard]] const std::string* fact(const std::string& key) const;
  [[nodiscard]] std::optional<double> number(const std::string& key) const;
  void write_capacities(SessionWriter& writer) const;
  void write_metrics(SessionWriter& writer, ImportReport& report) const;
  [[nodiscard]] std::string group_of(const std::string& name) const;

  std::map<std::string, std::string> facts_;  // "table.key"
  std::map<std::string, std::string> groups_;
  std::vector<SummaryField> summary_;
};

// "B", "s", "share" ... by the metric's name; "" for plain numbers.
[[nodiscard]] std::string_view metric_unit(std::string_view name) noexcept;

}  // namespace accelscope::capture
