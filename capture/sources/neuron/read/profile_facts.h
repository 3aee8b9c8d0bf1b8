// The tables of a profile that hold facts rather than events: metadata, profile_info, summary and its groups. They
// become meta entries ("metadata.pe_clock_freq") and metrics with units of our own; what the import itself needs of
// them is kept as fields. The vendor's terminology and its groups of figures are kept as JSON for whoever writes the
// file again (core/export/neuron). Tables may come in any order, so everything is written at the end.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "capture/json/json_field.h"
#include "capture/sources/base/import_report.h"
#include "capture/sources/neuron/read/core_plan.h"
#include "core/chunk/session_writer.h"

namespace accelscope::capture::sources::neuron {

class ProfileFacts {
 public:
  // A row of a fact table, or the only row of neff_header and model_info beside its event.
  void add(std::string_view table, std::span<const json::JsonField> fields);
  // Figures of a logical core made of several physical ones are of the device that stands for all. `format`: what the
  // profile came as, "neuron-json".
  void write(SessionWriter& writer, ImportReport& report, const std::string& path, std::string_view format,
             const CorePlan& cores) const;

  [[nodiscard]] std::optional<std::int64_t> last_hw_timestamp() const;
  // A figure of the only row of the summary.
  [[nodiscard]] std::optional<double> summary_number(std::string_view name) const;
  // Multiply-accumulates that the systolic array of one physical core can do in a ns; 0 if the file does not say.
  [[nodiscard]] double peak_macs_per_ns() const;
  [[nodiscard]] std::optional<std::int64_t> physical_cores() const;  // of the logical core
  [[nodiscard]] std::int64_t core_number() const;                    // of the (first) core on its chip; 0 if unknown

 private:
  struct SummaryField {
    std::string name;
    std::string graph;    // of summary-json; empty for the table
    std::size_t row = 0;  // of the table
    std::string text;
    json::JsonKind kind;
  };
  void keep_row(std::string_view table, std::span<const json::JsonField> fields);
  [[nodiscard]] const std::string* fact(const std::string& key) const;
  [[nodiscard]] std::optional<double> number(const std::string& key) const;
  void write_capacities(SessionWriter& writer) const;
  void write_metrics(SessionWriter& writer, ImportReport& report, const CorePlan& cores) const;
  void write_core_metrics(SessionWriter& writer, const CorePlan& cores, std::set<std::string>& written) const;
  [[nodiscard]] std::string device_of(const SummaryField& field, const CorePlan& cores) const;
  [[nodiscard]] std::string group_of(const std::string& name) const;

  std::map<std::string, std::string> facts_;  // "table.key"
  std::map<std::string, std::string> groups_;
  std::map<std::string, std::string> kept_rows_;  // by table, as JSON
  std::vector<SummaryField> summary_;
  std::size_t summary_rows_ = 0;
  // model_info has a row for each physical core.
  std::vector<std::map<std::string, std::string>> model_rows_;
};

// "B", "s", "share" ... by the metric's name; "" for plain numbers.
[[nodiscard]] std::string_view metric_unit(std::string_view name) noexcept;

}  // namespace accelscope::capture::sources::neuron
