// What the tables "info" say: processes, threads, devices, functions, counters.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

#include "capture/json/json_cursor.h"
#include "capture/sources/rocm/rocpd/reader.h"
#include "capture/sources/rocm/run/records.h"
#include "capture/sources/rocm/run/run.h"

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
  sqlite::ForeignRows tables = TRY(database.select("SELECT name FROM sqlite_master WHERE type = 'table'"));
  std::map<std::string, RocpdPart> parts;
  while (tables.next()) {
    const std::string name(tables.text(0));
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

std::string rocpd_machine(const sqlite::ForeignDatabase& database) {
  const Result<std::vector<RocpdPart>> parts = find_rocpd_parts(database);
  if (!parts) return {};
  for (const RocpdPart& part : *parts) {
    Result<sqlite::ForeignRows> nodes = database.rows(part.table("info_node"), {"machine_id", "hostname"});
    if (nodes && nodes->next()) return std::string(nodes->text(0)) + " " + std::string(nodes->text(1));
  }
  return {};
}

namespace {

using sqlite::ForeignDatabase;
using sqlite::ForeignRows;
using sqlite::quoted_name;

constexpr std::array<std::string_view, 7> kEventTables = {
    "kernel_dispatch", "memory_copy", "memory_allocate", "region", "sample", "graph_launch", "pmc_event"};

// Of counters that are not samples of their own (see read_streamed_counters).
[[nodiscard]] std::string not_streamed(const ForeignDatabase& database, std::string_view table) {
  for (const std::string& column : database.columns(table)) {
    if (column == "sample_id") return "\"sample_id\" IS NULL";
  }
  return {};
}

// Calls of libraries, by how their categories begin; other categories are regions that the program or a tool made.
constexpr std::array<std::string_view, 12> kLibraries = {"HIP",      "HSA",      "RCCL",      "ROCDECODE",
                                                         "ROCJPEG",  "ROCSHMEM", "HIPFILE",   "OMPT",
                                                         "rocm_hip", "rocm_hsa", "rocm_rccl", "hip_"};

[[nodiscard]] RocmHostTable host_table_of(std::string_view category) {
  if (category.starts_with("MARKER") || category.starts_with("rocm_marker")) return RocmHostTable::mark;
  for (const std::string_view library : kLibraries) {
    if (category.starts_with(library)) return RocmHostTable::call;
  }
  return RocmHostTable::region;
}

}  // namespace

std::uint64_t rocpd_events(const ForeignDatabase& database, const RocpdPart& part) {
  std::uint64_t events = 0;
  for (const std::string_view table : kEventTables) events += sqlite::last_id(database, part.table(table));
  return events;
}

// A counter is a column of the kernels if it was read for some: whether its first event is one of them tells.
void RocpdCounters::add(const ForeignDatabase& database, const RocpdPart& part) {
  const std::string_view table = part.table("pmc_event");
  if (table.empty()) return;
  const std::string condition = not_streamed(database, table);
  Result<ForeignRows> first =
      database.select(fmt::format("SELECT pmc_id, min(event_id) FROM {} {} {} GROUP BY pmc_id", quoted_name(table),
                                  condition.empty() ? "" : "WHERE", condition));
  if (!first) return;
  std::map<std::int64_t, std::vector<std::int64_t>> counters_of_event;
  while (first->next()) counters_of_event[first->integer(1)].push_back(first->integer(0));
  if (counters_of_event.empty()) return;
  std::set<std::int64_t> of_kernels;
  Result<ForeignRows> kernels = database.rows(part.table("kernel_dispatch"), {"event_id"});
  while (kernels && kernels->next()) {
    const auto found = counters_of_event.find(kernels->integer(0));
    if (found != counters_of_event.end()) of_kernels.insert(found->second.begin(), found->second.end());
  }
  Result<ForeignRows> facts =
      database.rows(part.table("info_pmc"), {"id", "name", "symbol", "units", "description"}, " ORDER BY \"id\"");
  while (facts && facts->next() && counters_.size() < kMostColumns) {
    if (!of_kernels.contains(facts->integer(0))) continue;
    const std::string name(facts->text(facts->has(1) ? 1 : 2));
    const auto [place, is_new] = places_.try_emplace(name, static_cast<std::uint32_t>(counters_.size()));
    if (is_new) counters_.push_back({name, std::string(facts->text(3)), std::string(facts->text(4))});
  }
}

std::vector<RocmCounter> RocpdCounters::columns() const { return counters_; }

std::optional<std::uint32_t> RocpdCounters::place(const std::string& name) const {
  const auto found = places_.find(name);
  if (found == places_.end()) return std::nullopt;
  return found->second;
}

RocpdReader::RocpdReader(const ForeignDatabase& database, const ForeignDatabase& ahead, const RocpdPart& part,
                         const RocpdCounters& counters, RocmRun& run, ReadingProgress& progress)
    : database_(database),
      ahead_(ahead),
      part_(part),
      counter_columns_(counters),
      run_(run),
      progress_(progress),
      strings_(run, database, part.table("string"), "string"),
      category_names_(run, database, part.table("info_category"), "name"),
      own_categories_(!part.table("info_category").empty()),
      symbol_rows_(database, part.table("info_kernel_symbol"), "id",
                   {"display_name", "kernel_name", "arch_vgpr_count", "accum_vgpr_count", "sgpr_count"}),
      events_(database, part.table("event"), "id",
              {"category_id", "stack_id", "parent_stack_id", "correlation_id", "call_stack", "line_info", "extdata"}) {
  has_arguments_ = sqlite::last_id(database, part.table("arg")) > 0;
  has_counts_ = sqlite::last_id(database, part.table("pmc_event")) > 0;
}

void RocpdReader::read() {
  read_processes();
  read_threads();
  read_agents();
  read_tracks();
  if (has_counts_) read_counters();
  read_kernels();
  read_copies();
  read_allocations();
  read_regions();
  read_streamed_counters();
  read_samples();
  read_graph_launches();
  report_left_out();
}

void RocpdReader::read_processes() {
  struct Node {
    std::string host, machine;
  };
  std::map<std::int64_t, Node> nodes;
  Result<ForeignRows> hosts = database_.rows(part_.table("info_node"), {"id", "hostname", "machine_id"});
  while (hosts && hosts->next()) {
    nodes[hosts->integer(0)] = {std::string(hosts->text(1)), std::string(hosts->text(2))};
  }
  Result<ForeignRows> rows = database_.rows(part_.table("info_process"), {"id", "nid", "pid", "command"});
  while (rows && rows->next()) {
    const Node& node = nodes[rows->integer(1)];
    processes_[rows->integer(0)] =
        run_.add_process({node.host, node.machine, rows->number(2), std::string(rows->text(3))});
  }
}

std::uint32_t RocpdReader::process_of(MaybeNumber id) {
  const auto known = processes_.find(id.value_or(0));
  if (known != processes_.end()) return known->second;
  if (!id && !processes_.empty()) return processes_.begin()->second;
  const std::uint32_t process = run_.add_process({{}, {}, id, {}});
  processes_.emplace(id.value_or(0), process);
  return process;
}

void RocpdReader::read_threads() {
  Result<ForeignRows> rows = database_.rows(part_.table("info_thread"), {"id", "pid", "tid", "name"});
  while (rows && rows->next()) {
    const std::int64_t thread = rows->number(2).value_or(rows->integer(0));
    threads_[rows->integer(0)] = thread;
    if (rows->has(3)) run_.name_thread(process_of(rows->number(1)), thread, std::string(rows->text(3)));
  }
}

MaybeNumber RocpdReader::thread_of(MaybeNumber id) const {
  if (!id) return id;
  const auto known = threads_.find(*id);
  return known == threads_.end() ? id : MaybeNumber(known->second);
}

// The devices of the host, which every process of the part may use.
void RocpdReader::read_agents() {
  Result<ForeignRows> rows = database_.rows(
      part_.table("info_agent"),
      {"id", "type", "type_index", "name", "product_name", "model_name", "extdata", "generic_name", "user_name"});
  if (processes_.empty()) (void)process_of({});
  std::map<std::string, std::int64_t> count;
  while (rows && rows->next()) {
    RocmAgent agent;
    const std::string type(rows->text(1));
    agent.is_gpu = type == "GPU";
    const std::int64_t place = count[type]++;
    agent.number = rows->number(2).value_or(place);
    agent.name = rows->text(rows->has(7) ? 7 : 3);
    agent.product = rows->text(rows->has(4) ? 4 : 8);
    add_agent_facts(rows->text(6), agent);
    for (const auto& [id, process] : processes_) run_.add_agent(process, rows->integer(0), agent);
  }
}

void RocpdReader::read_tracks() {
  Result<ForeignRows> rows =
      database_.rows(part_.table("track"), {"id", "pid", "tid", "agent_id", "queue_id", "stream_id", "name_id"});
  while (rows && rows->next()) {
    tracks_[rows->integer(0)] = {rows->number(1), rows->number(2), rows->number(3),
                                 rows->number(4), rows->number(5), rows->number(6)};
  }
}

void RocpdReader::read_counters() {
  Result<ForeignRows> rows =
      database_.rows(part_.table("info_pmc"), {"id", "name", "symbol", "units", "agent_id", "pid"});
  while (rows && rows->next()) {
    CounterFacts facts;
    facts.name = rows->text(rows->has(1) ? 1 : 2);
    facts.unit = rows->text(3);
    facts.agent = rows->number(4);
    facts.process = rows->number(5);
    facts.column = counter_columns_.place(facts.name);
    counters_[rows->integer(0)] = std::move(facts);
  }
}

const RocpdReader::CategoryFacts& RocpdReader::category_of(MaybeNumber id) {
  const auto known = categories_.find(id.value_or(0));
  if (known != categories_.end()) return known->second;
  CategoryFacts facts;
  if (id) {
    NamedIds& names = own_categories_ ? category_names_ : strings_;
    facts.name = names.name(id);
    facts.table = host_table_of(names.text(*id));
  }
  return categories_.emplace(id.value_or(0), facts).first->second;
}

const RocpdReader::Symbol& RocpdReader::symbol_of(MaybeNumber id) {
  const auto known = symbols_.find(id.value_or(0));
  if (known != symbols_.end()) return known->second;
  Symbol symbol;
  if (id && symbol_rows_.find(*id)) {
    const ForeignRows& rows = symbol_rows_.rows();
    symbol.name = run_.intern_kernel(rows.text(rows.text(0).empty() ? 1 : 0));
    symbol.vgprs = rows.number(2);
    symbol.accum_vgprs = rows.number(3);
    symbol.sgprs = rows.number(4);
  }
  if (symbol.name == 0) symbol.name = run_.intern(id ? fmt::format("kernel {}", *id) : std::string("kernel"));
  return symbols_.emplace(id.value_or(0), symbol).first->second;
}

}  // namespace accelscope::capture::sources::rocm
