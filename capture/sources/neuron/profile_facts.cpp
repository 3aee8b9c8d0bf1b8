#include "capture/sources/neuron/profile_facts.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <filesystem>

#include "capture/sources/neuron/table_rules.h"

namespace accelscope::capture {
namespace {

struct UnitRule {
  std::string_view ending;
  std::string_view unit;
};
// The first that fits; names that the endings would read wrongly come before them.
constexpr std::array<UnitRule, 17> kProfileFactsUnits = {{{"peak_flops_bandwidth_ratio", "flop/B"},
                                                          {"mm_arithmetic_intensity", "flop/B"},
                                                          {"_time_ns", "ns"},
                                                          {"_ns", "ns"},
                                                          {"_percent", "share"},
                                                          {"_cycles", "cycles"},
                                                          {"_cycle_count", "cycles"},
                                                          {"_count", ""},
                                                          {"_bytes", "B"},
                                                          {"_size", "B"},
                                                          {"_flops", "flop"},
                                                          {"_time", "s"},
                                                          {"_bandwidth", "B/s"},
                                                          {"_mfu", "share"},
                                                          {"_hfu", "share"},
                                                          {"_idx", ""},
                                                          {"_ratio", ""}}};

// Shares above this cannot be: known figures of the vendor's tool reach 25,300 %.
constexpr double kLargestShare = 1.0001;

}  // namespace

std::string_view metric_unit(std::string_view name) noexcept {
  for (const UnitRule& rule : kProfileFactsUnits) {
    if (name.ends_with(rule.ending)) return rule.unit;
  }
  return "";
}

void ProfileFacts::add(std::string_view table, std::span<const JsonField> fields) {
  constexpr std::size_t kMaxFacts = 20'000;  // real files have some 500
  for (const JsonField& field : fields) {
    if (field.kind == JsonKind::null || facts_.size() + summary_.size() + groups_.size() > kMaxFacts) continue;
    if (table == "summary_groups") {
      groups_[std::string(field.key)] = field.text;
    } else if (table == "summary") {
      summary_.push_back({std::string(field.key), "", std::string(field.text), field.kind});
    } else if (is_summary_key(table)) {
      summary_.push_back({std::string(field.key), std::string(table.substr(2)), std::string(field.text), field.kind});
    } else if (table != "terminology") {  // the vendor's prose; the product explains in its own words
      facts_[fmt::format("{}.{}", table, field.key)] = field.text;
    }
  }
}

const std::string* ProfileFacts::fact(const std::string& key) const {
  const auto found = facts_.find(key);
  return found == facts_.end() ? nullptr : &found->second;
}

std::optional<double> ProfileFacts::number(const std::string& key) const {
  const std::string* text = fact(key);
  if (text == nullptr) return std::nullopt;
  return to_double({.key = {}, .text = *text, .kind = JsonKind::number});
}

std::optional<std::int64_t> ProfileFacts::last_hw_timestamp() const {
  const std::string* text = fact("metadata.last_hw_timestamp");
  if (text == nullptr) return std::nullopt;
  return to_int64({.key = {}, .text = *text, .kind = JsonKind::number});
}

double ProfileFacts::peak_macs_per_ns() const {
  const auto first_of = [&](std::initializer_list<const char*> keys) {
    for (const char* key : keys) {
      if (const std::optional<double> value = number(fmt::format("metadata.{}", key))) return *value;
    }
    return 0.0;
  };
  return first_of({"pe_num_rows", "tensor_engine_num_rows"}) * first_of({"pe_num_cols", "tensor_engine_num_cols"}) *
         first_of({"pe_clock_freq", "tensor_engine_clock_freq"});
}

std::string ProfileFacts::device() const {
  for (const char* key : {"model_info.nc_idx", "summary.nc_idx", "metadata.neuroncore_idx"}) {
    if (const std::optional<double> index = number(key)) return fmt::format("nc{:.0f}", *index);
  }
  for (const SummaryField& field : summary_) {
    if (field.name == "nc_idx") return "nc" + field.text;
  }
  return "nc0";
}

std::string ProfileFacts::group_of(const std::string& name) const {
  if (const auto found = groups_.find(name); found != groups_.end()) return found->second;
  // Queue families are listed with a wildcard: qsyncpio0*.
  for (const auto& [pattern, group] : groups_) {
    if (pattern.ends_with('*') && name.starts_with(pattern.substr(0, pattern.size() - 1))) return group;
  }
  return "summary";
}

void ProfileFacts::write_metrics(SessionWriter& writer, ImportReport& report) const {
  for (const SummaryField& field : summary_) {
    Metric metric;
    metric.name = field.name;
    metric.group = group_of(field.name);
    metric.unit = metric_unit(field.name);
    metric.device = field.graph.empty() ? device() : "n_" + field.graph;  // one block of figures per compiled graph
    const std::optional<double> value =
        field.kind == JsonKind::number ? to_double({.key = {}, .text = field.text, .kind = field.kind}) : std::nullopt;
    if (value) {
      metric.value = *value;
    } else {
      metric.text = field.text;
      metric.unit.clear();
    }
    if (field.kind == JsonKind::not_finite) {
      report.note("vendor_value_implausible",
                  fmt::format("the file states {} for {}; compare with the figure computed from the events", field.text,
                              field.name),
                  Severity::note);
    } else if (value && metric.unit == "share" && *value > kLargestShare) {
      report.note("vendor_value_implausible",
                  fmt::format("the file states {:.2f} % for {}; compare with the figure computed from the events",
                              *value * 100, field.name),
                  Severity::note);
    }
    writer.add_metric(std::move(metric));
  }
}

void ProfileFacts::write(SessionWriter& writer, ImportReport& report, const std::string& path) const {
  for (const auto& [key, value] : facts_) writer.set_meta(key, value);
  const std::string* profile_name = fact("profile_info.profile_name");
  const std::string file_name = std::filesystem::path(path).filename().string();
  writer.set_meta("name",
                  profile_name != nullptr && !profile_name->empty()
                      ? fmt::format("{} ({})", std::filesystem::path(*profile_name).filename().string(), file_name)
                      : file_name);
  writer.set_meta("source.format", "neuron-json");
  writer.set_meta("source.file", file_name);
  write_capacities(writer);
  write_metrics(writer, report);
}

// The second generation of NeuronCores, whose HBM the file states with 410 GB/s for each stack, has a state buffer of
// 24 MiB and 2 MiB of partial sums. Later ones are not told apart by the file.
void ProfileFacts::write_capacities(SessionWriter& writer) const {
  const std::string* bandwidth = fact("metadata.hbm_ddr_bandwidth");
  if (bandwidth == nullptr || *bandwidth != "410000000000") return;
  writer.set_meta("capacity.SBUF", std::to_string(24 << 20));
  writer.set_meta("capacity.PSUM", std::to_string(2 << 20));
}

}  // namespace accelscope::capture
