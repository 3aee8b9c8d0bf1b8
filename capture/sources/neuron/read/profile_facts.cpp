#include "capture/sources/neuron/read/profile_facts.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <filesystem>

#include "capture/sources/neuron/read/table_rules.h"
#include "core/export/neuron/neuron_facts.h"

namespace accelscope::capture::sources::neuron {
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

void ProfileFacts::add(std::string_view table, std::span<const json::JsonField> fields) {
  constexpr std::size_t kMaxFacts = 20'000;  // real files have some 500
  constexpr std::size_t kMaxCores = 64;
  if (table == "summary") ++summary_rows_;
  if (table == "terminology" || table == "summary_groups") keep_row(table, fields);
  const bool of_core = table == "model_info";
  if (of_core && model_rows_.size() < kMaxCores) model_rows_.emplace_back();
  for (const json::JsonField& field : fields) {
    if (field.kind == json::JsonKind::null || facts_.size() + summary_.size() + groups_.size() > kMaxFacts) continue;
    if (field.key == "device" && table != "summary") continue;  // of our own export: where the row belongs
    if (of_core) model_rows_.back().insert_or_assign(std::string(field.key), std::string(field.text));
    if (table == "summary_groups") {
      groups_[std::string(field.key)] = field.text;
    } else if (table == "summary") {
      summary_.push_back({std::string(field.key), "", summary_rows_, std::string(field.text), field.kind});
    } else if (is_summary_key(table)) {
      summary_.push_back(
          {std::string(field.key), std::string(table.substr(2)), 0, std::string(field.text), field.kind});
    } else if (of_core) {
      facts_.try_emplace(fmt::format("{}.{}", table, field.key), field.text);  // the first core's
    } else if (table != "terminology") {                                       // the product explains in its own words
      facts_[fmt::format("{}.{}", table, field.key)] = field.text;
    }
  }
}

void ProfileFacts::keep_row(std::string_view table, std::span<const json::JsonField> fields) {
  constexpr std::size_t kMostBytes = 1U << 20;  // real ones have some 30 kB
  std::string row = "{";
  for (const json::JsonField& field : fields) {
    if (row.size() > 1) row += ',';
    json::append_json(row, field);
  }
  if (row.size() < kMostBytes) kept_rows_.try_emplace(std::string(table), row + "}");
}

const std::string* ProfileFacts::fact(const std::string& key) const {
  const auto found = facts_.find(key);
  return found == facts_.end() ? nullptr : &found->second;
}

std::optional<double> ProfileFacts::number(const std::string& key) const {
  const std::string* text = fact(key);
  if (text == nullptr) return std::nullopt;
  return json::to_double({.key = {}, .text = *text, .kind = json::JsonKind::number});
}

std::optional<std::int64_t> ProfileFacts::last_hw_timestamp() const {
  const std::string* text = fact("metadata.last_hw_timestamp");
  if (text == nullptr) return std::nullopt;
  return json::to_int64({.key = {}, .text = *text, .kind = json::JsonKind::number});
}

std::optional<double> ProfileFacts::summary_number(std::string_view name) const {
  if (summary_rows_ != 1) return std::nullopt;
  for (const SummaryField& field : summary_) {
    if (field.name != name || field.row != 1 || field.kind != json::JsonKind::number) continue;
    return json::to_double({.key = {}, .text = field.text, .kind = field.kind});
  }
  return std::nullopt;
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

std::optional<std::int64_t> ProfileFacts::physical_cores() const {
  const std::optional<double> stated = number("metadata.num_physical_cores");
  if (!stated || !(*stated >= 1) || *stated > 1e6) return std::nullopt;
  return static_cast<std::int64_t>(*stated);
}

std::int64_t ProfileFacts::core_number() const {
  const auto valid = [](std::optional<double> value) { return value && *value >= 0 && *value <= 1e6; };
  for (const char* key : {"model_info.nc_idx", "summary.nc_idx", "metadata.neuroncore_idx"}) {
    if (const std::optional<double> index = number(key); valid(index)) return static_cast<std::int64_t>(*index);
  }
  for (const SummaryField& field : summary_) {
    if (field.name != "nc_idx") continue;
    const auto index = json::to_int64({.key = {}, .text = field.text, .kind = json::JsonKind::number});
    if (index && *index >= 0 && *index <= 1'000'000) return *index;
  }
  return 0;
}

std::string ProfileFacts::group_of(const std::string& name) const {
  if (const auto found = groups_.find(name); found != groups_.end()) return found->second;
  // Queue families are listed with a wildcard: qsyncpio0*.
  for (const auto& [pattern, group] : groups_) {
    if (pattern.ends_with('*') && name.starts_with(pattern.substr(0, pattern.size() - 1))) return group;
  }
  return "summary";
}

// A row of figures is of all cores together unless there are several rows and it names one core.
std::string ProfileFacts::device_of(const SummaryField& field, const CorePlan& cores) const {
  if (!field.graph.empty()) return "n_" + field.graph;  // one block of figures per compiled graph
  for (const SummaryField& other : summary_) {          // as our own export writes it
    if (other.row == field.row && other.name == "device" && other.graph.empty()) return other.text;
  }
  for (const SummaryField& other : summary_) {
    if (summary_rows_ < 2 || other.row != field.row || other.name != "nc_idx" || !other.graph.empty()) continue;
    const auto index = json::to_int64({.key = {}, .text = other.text, .kind = json::JsonKind::number});
    const auto core = index ? cores.core_numbered(*index) : std::nullopt;
    if (core && cores.count() > 1) return cores.device(*core);
  }
  return cores.device(CorePlan::kWhole);
}

// The counts of each physical core, where the summary only has those of all.
void ProfileFacts::write_core_metrics(SessionWriter& writer, const CorePlan& cores,
                                      std::set<std::string>& written) const {
  if (cores.count() < 2) return;
  for (const std::map<std::string, std::string>& row : model_rows_) {
    const auto of_row = [&](const char* key) {
      const auto found = row.find(key);
      return found == row.end() ? std::nullopt
                                : json::to_int64({.key = {}, .text = found->second, .kind = json::JsonKind::number});
    };
    const auto number = of_row("nc_idx");
    const auto core = number ? cores.core_numbered(*number) : std::nullopt;
    if (!core) continue;
    for (const auto& [name, text] : row) {
      const auto value = json::to_double({.key = {}, .text = text, .kind = json::JsonKind::number});
      if (!value || name == "sg_name" || !written.insert(cores.device(*core) + " " + name).second) continue;
      writer.add_metric({.name = name,
                         .group = group_of(name),
                         .value = *value,
                         .unit = std::string(metric_unit(name)),
                         .text = {},
                         .device = cores.device(*core)});
    }
  }
}

void ProfileFacts::write_metrics(SessionWriter& writer, ImportReport& report, const CorePlan& cores) const {
  std::set<std::string> written;
  for (const SummaryField& field : summary_) {
    if (field.name == "device" && field.graph.empty()) continue;
    Metric metric;
    metric.name = field.name;
    metric.group = group_of(field.name);
    metric.unit = metric_unit(field.name);
    metric.device = device_of(field, cores);
    written.insert(metric.device + " " + metric.name);
    const std::optional<double> value = field.kind == json::JsonKind::number
                                            ? json::to_double({.key = {}, .text = field.text, .kind = field.kind})
                                            : std::nullopt;
    if (value) {
      metric.value = *value;
    } else {
      metric.text = field.text;
      metric.unit.clear();
    }
    if (field.kind == json::JsonKind::not_finite) {
      report.note("vendor_value_implausible",
                  fmt::format("the file states {} for {}; compare with the figure computed from the events", field.text,
                              field.name));
    } else if (value && metric.unit == "share" && *value > kLargestShare) {
      report.note("vendor_value_implausible",
                  fmt::format("the file states {:.2f} % for {}; compare with the figure computed from the events",
                              *value * 100, field.name));
    }
    writer.add_metric(std::move(metric));
  }
  write_core_metrics(writer, cores, written);
}

void ProfileFacts::write(SessionWriter& writer, ImportReport& report, const std::string& path, std::string_view format,
                         const CorePlan& cores) const {
  for (const auto& [key, value] : facts_) writer.set_meta(key, value);
  for (const auto& [table, row] : kept_rows_) writer.set_meta(accelscope::neuron::kKeptRowPrefix + table, row);
  for (const std::map<std::string, std::string>& row : model_rows_) {
    const auto graph = row.find("sg_name");
    const auto number = row.find("nc_idx");
    if (model_rows_.size() < 2 || graph == row.end() || number == row.end()) continue;
    writer.set_meta(fmt::format("model_info.nc{}.sg_name", number->second), graph->second);
  }
  const std::string* profile_name = fact("profile_info.profile_name");
  if (profile_name == nullptr) profile_name = fact("metadata.profile_name");
  const std::string file_name = std::filesystem::path(path).filename().string();
  writer.set_meta("name",
                  profile_name != nullptr && !profile_name->empty()
                      ? fmt::format("{} ({})", std::filesystem::path(*profile_name).filename().string(), file_name)
                      : file_name);
  writer.set_meta("source.format", std::string(format));
  writer.set_meta("source.file", file_name);
  write_capacities(writer);
  write_metrics(writer, report, cores);
}

// The second generation of NeuronCores, whose HBM the file states with 410 GB/s for each stack, has a state buffer of
// 24 MiB and 2 MiB of partial sums. Later ones are not told apart by the file.
void ProfileFacts::write_capacities(SessionWriter& writer) const {
  const std::string* bandwidth = fact("metadata.hbm_ddr_bandwidth");
  if (bandwidth == nullptr || *bandwidth != "410000000000") return;
  writer.set_meta("capacity.SBUF", std::to_string(24 << 20));
  writer.set_meta("capacity.PSUM", std::to_string(2 << 20));
}

}  // namespace accelscope::capture::sources::neuron
