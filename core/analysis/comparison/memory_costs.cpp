#include "core/analysis/comparison/memory_costs.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>

#include "core/scan/event_reader.h"

namespace accelscope {
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
      const auto record = reader.read(piece.event);
      if (!record) return record.error();
      const auto* name = value_in<std::string>(*record, kPrivatePool);
      if (name == nullptr || name->empty()) continue;
      const auto known = std::find(out.names_.begin(), out.names_.end(), *name);
      const auto number = static_cast<std::uint32_t>(known - out.names_.begin());
      if (known == out.names_.end()) out.names_.push_back(*name);
      out.pieces_.push_back({piece.address, piece.address + piece.bytes, piece.begin_ns, piece.end_ns, number});
    }
    std::sort(out.pieces_.begin(), out.pieces_.end(),
              [](const HeldPiece& a, const HeldPiece& b) { return a.begin < b.begin; });
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
    auto piece = std::upper_bound(pieces_.begin(), pieces_.end(), address,
                                  [](std::uint64_t at, const HeldPiece& each) { return at < each.begin; });
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
  const auto found = memory_usage(query);
  if (!found) return found.error();
  const MemoryUsage& usage = **found;
  std::map<std::string, CostRow> rows;
  for (std::uint32_t number = 0; number < usage.pools.size(); ++number) {
    const PoolUsage& pool = usage.pools[number];
    const auto parts = PrivatePools::read(query, pool);
    if (!parts) return parts.error();
    // The first moment at which most of a part is in use, of the common one too.
    std::vector<std::int64_t> used(parts->count(), 0), most(parts->count(), 0), peak_ns(parts->count(), 0);
    std::map<std::uint32_t, std::uint32_t> part_of;
    for (std::size_t i = 0; i < pool.changes.size();) {
      const std::int64_t ns = pool.changes[i].ns;
      for (; i < pool.changes.size() && pool.changes[i].ns == ns; ++i) {
        const std::uint32_t allocation = pool.changes[i].allocation;
        const auto [part, is_new] = part_of.try_emplace(allocation, 0);
        if (is_new) part->second = parts->of(usage.allocations[allocation]);
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
        CostRow& row = rows[fmt::format("{}{}: {}", pool.name, parts->title(part), group_title(usage, allocation, by))];
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

}  // namespace accelscope
