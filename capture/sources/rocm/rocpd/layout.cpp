#include "capture/sources/rocm/rocpd/layout.h"

#include <algorithm>
#include <array>

namespace accelscope::capture::sources::rocm {
namespace {

constexpr std::string_view kRocpdPrefix = "rocpd_";
// Longer names before those that they begin with.
constexpr std::array<std::string_view, 29> kBases = {"metadata",
                                                     "string",
                                                     "info_node",
                                                     "info_process",
                                                     "info_thread",
                                                     "info_agent",
                                                     "info_queue",
                                                     "info_stream",
                                                     "info_pmc",
                                                     "info_code_object",
                                                     "info_kernel_symbol",
                                                     "info_category",
                                                     "info_address_range",
                                                     "info_source_code",
                                                     "info_pc",
                                                     "track",
                                                     "event_operation",
                                                     "event",
                                                     "arg",
                                                     "line_info",
                                                     "call_stack",
                                                     "pmc_event",
                                                     "region",
                                                     "sample",
                                                     "kernel_dispatch",
                                                     "memory_copy",
                                                     "memory_allocate",
                                                     "graph_launch",
                                                     "hip_event"};

[[nodiscard]] bool is_identifier(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F') || c == '_' || c == '-';
  });
}

// The base name of a table and what is behind it; "" if it is none of rocpd.
[[nodiscard]] std::pair<std::string_view, std::string_view> split_rocpd_name(std::string_view table) {
  if (!table.starts_with(kRocpdPrefix)) return {};
  table.remove_prefix(kRocpdPrefix.size());
  for (const std::string_view base : kBases) {
    if (table.starts_with(base) && is_identifier(table.substr(base.size()))) return {base, table.substr(base.size())};
  }
  return {};
}

void read_rocpd_facts(const sqlite::ForeignDatabase& database, RocpdPart& part) {
  Result<sqlite::ForeignRows> rows = database.rows(part.table("metadata"), {"tag", "value"});
  while (rows && rows->next()) part.facts.emplace(rows->text(0), rows->text(1));
}

}  // namespace

Result<std::vector<RocpdPart>> find_rocpd_parts(const sqlite::ForeignDatabase& database) {
  Result<sqlite::ForeignRows> tables = database.select("SELECT name FROM sqlite_master WHERE type = 'table'");
  if (!tables) return tables.error();
  std::map<std::string, RocpdPart> parts;
  while (tables->next()) {
    const std::string name(tables->text(0));
    const auto [base, identifier] = split_rocpd_name(name);
    if (base.empty()) continue;
    RocpdPart& part = parts[std::string(identifier)];
    part.identifier = identifier;
    part.names.emplace(base, name);
  }
  std::vector<RocpdPart> found;
  for (auto& [identifier, part] : parts) {
    read_rocpd_facts(database, part);
    found.push_back(std::move(part));
  }
  return found;
}

RocmDatabase rocm_database_of(const std::vector<std::string>& tables) {
  const auto has = [&](std::string_view name) { return std::find(tables.begin(), tables.end(), name) != tables.end(); };
  const auto any = [&](std::string_view begin) {
    return std::any_of(tables.begin(), tables.end(), [&](const std::string& name) { return name.starts_with(begin); });
  };
  if (has("rocpd_op") || has("rocpd_api")) return RocmDatabase::rpd;
  if (any("rocpd_info_") || any("rocpd_kernel_dispatch") || any("rocpd_region")) return RocmDatabase::rocpd;
  if (has("compute_workload") || has("compute_kernel")) return RocmDatabase::compute;
  if (has("KERN") || (has("OPS") && has("COPY"))) return RocmDatabase::rocprof;
  return RocmDatabase::none;
}

std::optional<std::string> rocpd_machine(const std::string& path) {
  const Result<sqlite::ForeignDatabase> database = sqlite::ForeignDatabase::open(path);
  if (!database) return std::nullopt;
  const Result<std::vector<RocpdPart>> parts = find_rocpd_parts(*database);
  if (!parts) return std::nullopt;
  for (const RocpdPart& part : *parts) {
    Result<sqlite::ForeignRows> nodes = database->rows(part.table("info_node"), {"machine_id", "hostname"});
    if (nodes && nodes->next()) return std::string(nodes->text(0)) + " " + std::string(nodes->text(1));
  }
  return std::nullopt;
}

}  // namespace accelscope::capture::sources::rocm
