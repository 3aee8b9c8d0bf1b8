#include "core/analysis/comparison/cost_kinds.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <string>

#include "core/analysis/advice/advice.h"
#include "core/analysis/hierarchy/hierarchy.h"
#include "core/analysis/hotspots/hotspots.h"
#include "core/analysis/source/source_lines.h"
#include "core/analysis/statistics/statistics.h"
#include "core/base/text.h"
#include "core/model/source_location.h"
#include "core/scan/event_reader.h"

namespace accelscope::analysis {
namespace {

// Of one name on engines and on queues there are two hotspots; a name is one row here.
Result<std::vector<CostRow>> costs_by_kernel(const QueryContext& query) {
  const auto found = TRY(find_hotspots(query, {}));
  std::map<StringId, CostRow> rows;
  for (const Hotspot& each : found.rows) {
    CostRow& row = rows[each.name];
    row.key = query.snapshot->strings->text(each.name);
    row.amount += static_cast<double>(each.total_ns);
    row.count += static_cast<double>(each.count);
    row.bytes += static_cast<double>(each.bytes);
  }
  std::vector<CostRow> out;
  for (auto& [name, row] : rows) out.push_back(std::move(row));
  return out;
}

Result<std::vector<CostRow>> costs_by_path(const QueryContext& query, const std::string& kind) {
  const auto known = TRY(kind_of_question(query, kind));
  std::vector<CostRow> out;
  if (known == nullptr) return out;
  const auto tree = session_hierarchy(query, {.kind = kind, .marked = {}});
  if (!tree) return tree.error();
  for (std::size_t i = 1; i < (**tree).nodes.size(); ++i) {
    const HierarchyNode& node = (**tree).nodes[i];
    if (node.detail || node.missing) continue;
    out.push_back({(**tree).path(i), "", static_cast<double>(node.cover.busy_ns),
                   static_cast<double>(node.totals.events), static_cast<double>(node.totals.bytes)});
  }
  return out;
}

Result<std::vector<CostRow>> costs_by_layer(const QueryContext& query) { return costs_by_path(query, "layer"); }
Result<std::vector<CostRow>> costs_by_opcode(const QueryContext& query) { return costs_by_column(query, "opcode"); }

// What a graph or a framework calls its operations; of tt-metal's reports the operation's own code.
Result<std::vector<CostRow>> costs_by_operation(const QueryContext& query) {
  auto found = costs_by_path(query, "operator");
  if (!found || !found->empty()) return found;
  return costs_by_column(query, "OP CODE");
}

std::string_view text_at_line(const std::string& content, std::uint32_t line) {
  std::size_t at = 0;
  for (std::uint32_t i = 1; i < line; ++i) {
    at = content.find('\n', at);
    if (at == std::string::npos) return "";
    ++at;
  }
  return trimmed(std::string_view(content).substr(at, content.find('\n', at) - at));
}

Result<std::vector<CostRow>> costs_by_line(const QueryContext& query) {
  const auto found = TRY(source_lines(query, {}));
  std::vector<CostRow> out;
  for (const SourceLine& each : found->lines) {
    const auto source = find_source(query.snapshot->sources, each.path);
    const std::string_view text = source ? text_at_line(query.snapshot->sources[*source]->content, each.line) : "";
    out.push_back({fmt::format("{}:{}", each.path, each.line), std::string(text),
                   static_cast<double>(each.busy_ns + each.wait_ns), static_cast<double>(each.event_count),
                   static_cast<double>(each.bytes)});
  }
  return out;
}

// By rule and what it is about, without the numbers that the headline states.
Result<std::vector<CostRow>> costs_by_finding(const QueryContext& query) {
  const auto advice = TRY(find_advice(query, {}));
  std::vector<CostRow> out;
  for (const Finding& each : advice->findings)
    out.push_back({each.key, each.headline, static_cast<double>(each.saving_ns), static_cast<double>(each.count), 0});
  return out;
}

Result<std::vector<CostRow>> costs_by_memory_line(const QueryContext& query) {
  return memory_costs(query, UsageGrouping::site);
}
Result<std::vector<CostRow>> costs_by_memory_stack(const QueryContext& query) {
  return memory_costs(query, UsageGrouping::stack);
}

constexpr std::array kCostKinds = {
    CostKind{"kernel", "Kernel or operation", "total time", "no work of a device is recorded", "ns", false,
             costs_by_kernel},
    CostKind{"opcode", "Opcode", "total time", "no table has a column opcode", "ns", false, costs_by_opcode},
    CostKind{"operation", "Operation", "busy time", "no graph operators are recorded", "ns", false, costs_by_operation},
    CostKind{"layer", "Layer", "busy time", "no layers are recorded", "ns", false, costs_by_layer},
    CostKind{"line", "Source line", "busy and waiting time", "no lines of source are recorded", "ns", true,
             costs_by_line},
    CostKind{"finding", "Finding", "what it would save at most", "no rule found anything", "ns", false,
             costs_by_finding},
    CostKind{"memory", "Pool and allocating line", "in use at the pool's peak", "no allocations are recorded", "B",
             true, costs_by_memory_line},
    CostKind{"memory_stack", "Pool and allocating stack", "in use at the pool's peak", "no allocations are recorded",
             "B", true, costs_by_memory_stack},
};

std::string key_text(const FieldValue& value) {
  if (const auto* text = std::get_if<std::string>(&value)) return *text;
  if (const auto* number = std::get_if<std::int64_t>(&value)) return std::to_string(*number);
  if (const auto* number = std::get_if<std::uint64_t>(&value)) return std::to_string(*number);
  if (const auto* number = std::get_if<double>(&value)) return fmt::format("{}", *number);
  if (const auto* is = std::get_if<bool>(&value)) return *is ? "true" : "false";
  return "";
}

}  // namespace

std::span<const CostKind> cost_kinds() noexcept { return kCostKinds; }

const CostKind* find_cost_kind(std::string_view name) noexcept {
  const auto found = std::ranges::find_if(kCostKinds, [name](const CostKind& each) { return each.name == name; });
  return found == kCostKinds.end() ? nullptr : &*found;
}

Result<std::vector<CostRow>> costs_by_column(const QueryContext& query, const std::string& column) {
  std::vector<CostRow> out;
  const std::vector<GroupColumn> columns = group_columns(*query.snapshot);
  const bool has = std::ranges::any_of(
      columns, [&](const GroupColumn& each) { return each.name == column || each.name.ends_with("." + column); });
  const auto& schemas = query.snapshot->schemas;
  const bool is_name = std::ranges::any_of(schemas, [&](const auto& each) {
    return each->name_column == column || each->name + "." + each->name_column == column;
  });
  if (!has && !is_name && column != "name") return out;
  const auto found = statistics(query, {.filter = {}, .by = {column}});
  if (!found) return found.error();
  std::map<std::string, CostRow> rows;
  for (const StatisticsRow& each : (**found).rows) {
    if (each.keys.empty()) continue;
    const std::string key = key_text(each.keys.front());
    if (key.empty()) continue;
    CostRow& row = rows[key];
    row.key = key;
    row.amount += each.figures.total;
    row.count += static_cast<double>(each.figures.count);
  }
  for (auto& [key, row] : rows) out.push_back(std::move(row));
  return out;
}

namespace {

constexpr std::string_view kPrivatePool = "segment_pool_id";  // as PyTorch calls it; "" of the common one

// Memory that an allocator holds for one of its pools.
struct HeldPiece {
  std::uint64_t begin = 0, end = 0;
  std::int64_t begin_ns = 0;
  std::optional<std::int64_t> end_ns;
  std::uint32_t pool = 0;  // 0: the common one
};

// Which private pool of its allocator an allocation lies in.
class PrivatePools {
 public:
  static Result<PrivatePools> read(const QueryContext& query, const PoolUsage& pool) {
    PrivatePools out;
    EventReader reader(query.store, query.snapshot);
    for (const ReservedPiece& piece : pool.reserved) {
      if (piece.event == kNoEvent) continue;
      const auto record = TRY(reader.read(piece.event));
      const auto* name = value_in<std::string>(record, kPrivatePool);
      if (name == nullptr || name->empty()) continue;
      const auto known = std::find(out.names_.begin(), out.names_.end(), *name);
      const auto number = static_cast<std::uint32_t>(known - out.names_.begin());
      if (known == out.names_.end()) out.names_.push_back(*name);
      out.pieces_.push_back({piece.address, piece.address + piece.bytes, piece.begin_ns, piece.end_ns, number});
    }
    std::ranges::sort(out.pieces_, {}, &HeldPiece::begin);
    for (const HeldPiece& piece : out.pieces_) out.longest_ = std::max(out.longest_, piece.end - piece.begin);
    return out;
  }

  [[nodiscard]] std::size_t count() const noexcept { return names_.size(); }
  // "" of the common one
  [[nodiscard]] std::string title(std::uint32_t number) const {
    return number == 0 ? "" : ", private pool " + names_[number];
  }
  [[nodiscard]] std::uint32_t of(const Allocation& allocation) const {
    if (!allocation.address || pieces_.empty()) return 0;
    const std::uint64_t address = *allocation.address;
    auto piece = std::ranges::upper_bound(pieces_, address, {}, &HeldPiece::begin);
    while (piece != pieces_.begin()) {
      --piece;
      if (piece->begin + longest_ < address) break;
      const bool held =
          piece->begin_ns <= allocation.begin_ns && (!piece->end_ns || *piece->end_ns > allocation.begin_ns);
      if (held && address >= piece->begin && address < piece->end) return piece->pool;
    }
    return 0;
  }

 private:
  std::vector<std::string> names_{""};
  std::vector<HeldPiece> pieces_;  // of private pools, by address
  std::uint64_t longest_ = 0;
};

std::string group_title(const MemoryUsage& usage, const Allocation& allocation, UsageGrouping by) {
  const std::string& site = usage.sites[allocation.site];
  std::string name = by == UsageGrouping::stack ? usage.stacks[allocation.stack] : site;
  // A stack begins at the line that allocates: what is below it is the allocator's own.
  if (const std::size_t at = site.empty() ? std::string::npos : name.find(site); at != std::string::npos) {
    const std::size_t frame = name.rfind('\n', at);
    if (frame != std::string::npos) name.erase(0, frame + 1);
  }
  for (std::size_t at = name.find('\n'); at != std::string::npos; at = name.find('\n', at)) name.replace(at, 1, " < ");
  if (name.empty() && by == UsageGrouping::stack) name = site;
  return name.empty() ? usage.tensors[allocation.tensor] : name;
}

}  // namespace

Result<std::vector<CostRow>> memory_costs(const QueryContext& query, UsageGrouping by) {
  const auto found = TRY(memory_usage(query));
  const MemoryUsage& usage = *found;
  std::map<std::string, CostRow> rows;
  for (std::uint32_t number = 0; number < usage.pools.size(); ++number) {
    const PoolUsage& pool = usage.pools[number];
    const auto parts = TRY(PrivatePools::read(query, pool));
    // The first moment at which most of a part is in use, of the common one too.
    std::vector<std::int64_t> used(parts.count(), 0), most(parts.count(), 0), peak_ns(parts.count(), 0);
    std::map<std::uint32_t, std::uint32_t> part_of;
    for (std::size_t i = 0; i < pool.changes.size();) {
      const std::int64_t ns = pool.changes[i].ns;
      for (; i < pool.changes.size() && pool.changes[i].ns == ns; ++i) {
        const std::uint32_t allocation = pool.changes[i].allocation;
        const auto [part, is_new] = part_of.try_emplace(allocation, 0);
        if (is_new) part->second = parts.of(usage.allocations[allocation]);
        used[part->second] += pool.changes[i].bytes;
      }
      for (std::size_t part = 0; part < used.size(); ++part) {
        if (used[part] <= most[part]) continue;
        most[part] = used[part];
        peak_ns[part] = ns;
      }
    }
    for (std::uint32_t part = 0; part < used.size(); ++part) {
      if (most[part] == 0) continue;
      for (const std::uint32_t index : usage.alive_at(number, peak_ns[part])) {
        const Allocation& allocation = usage.allocations[index];
        if (const auto known = part_of.find(index); known == part_of.end() || known->second != part) continue;
        CostRow& row = rows[fmt::format("{}{}: {}", pool.name, parts.title(part), group_title(usage, allocation, by))];
        row.amount += static_cast<double>(allocation.bytes);
        row.bytes = row.amount;
        row.count += 1;
      }
    }
  }
  std::vector<CostRow> out;
  for (auto& [key, row] : rows) {
    row.key = key;
    out.push_back(std::move(row));
  }
  return out;
}

}  // namespace accelscope::analysis
