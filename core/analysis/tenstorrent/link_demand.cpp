#include "core/analysis/tenstorrent/link_demand.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <map>

#include "core/base/format.h"
#include "core/scan/column_values.h"
#include "core/scan/group_by.h"

namespace accelscope::analysis::tenstorrent {
namespace {

constexpr std::string_view kDemandTable = "link_demand", kEventTable = "noc_event", kDemand = "demand",
                           kNetwork = "noc";
constexpr double kPercent = 100;

using LinkKey = std::pair<TrackNumber, std::uint64_t>;  // of a core's row and the link; of a trace the end and network

struct LinkWorker {
  std::map<LinkKey, LinkLoad> links;
  std::map<std::int64_t, std::pair<double, std::int64_t>> steps;  // by begin: the highest demand, and the length
  double bytes = 0;

  void merge(LinkWorker&& from) {
    bytes += from.bytes;
    for (const auto& [begin, step] : from.steps) steps[begin] = std::max(steps[begin], step);
    for (auto& [key, link] : from.links) {
      LinkLoad& sum = links[key];
      const std::uint64_t count = sum.count + link.count;
      const double moved = sum.bytes + link.bytes, crowded = sum.crowded_ns + link.crowded_ns;
      if (sum.first == kNoEvent || link.most_demand > sum.most_demand) sum = std::move(link);
      sum.count = count;
      sum.bytes = moved;
      sum.crowded_ns = crowded;
    }
  }
};

class DemandScan {
 public:
  DemandScan(const QueryContext& query, const TimeRange& range)
      : query_(query), snapshot_(*query.snapshot), range_(range) {}

  Result<LinkDemand> run() {
    LaneIndices lanes;
    for (std::uint32_t lane = 0; lane < snapshot_.lanes.size(); ++lane) {
      const auto& schema = snapshot_.lanes[lane].schema;
      if (schema && (schema->name == kDemandTable || schema->name == kEventTable)) lanes.push_back(lane);
    }
    if (lanes.empty()) return LinkDemand{};
    auto found = gather(query_, lanes, range_, LinkWorker{}, [&](const ScannedChunk& chunk, LinkWorker& worker) {
      const bool simulated = chunk.lane.schema->name == kDemandTable;
      simulated ? add_demand(chunk, worker) : add_transfers(chunk, worker);
    });
    if (!found) return found.error();
    return demand_of(*found);
  }

 private:
  void add_demand(const ScannedChunk& chunk, LinkWorker& worker) const {
    const auto column = chunk.lane.schema->find(kDemand);
    if (!column || chunk.lane.schema->columns[*column].type != ColumnType::float64) return;
    chunk.for_each_block([&](const ScannedBlock& block) {
      const BlockValues values = block.reader.column(*column, ColumnType::float64);
      for (std::uint32_t i = block.first; i < block.last; ++i) {
        if (!values.has(i)) continue;
        const double demand = std::bit_cast<double>(values.values[i]) / kPercent;
        const std::int64_t begin = block.begin_ns(i), length = block.end_ns(i) - begin;
        LinkLoad& link = worker.links[{chunk.lane.track, block.name(i)}];
        link.track = chunk.lane.track;
        if (demand > link.most_demand) {
          link.most_demand = demand;
          link.most_range = {begin, begin + length};
          link.first = block.id(i);
        }
        if (demand > 1) {
          ++link.count;
          link.crowded_ns += static_cast<double>(length) * (1 - 1 / demand);
        }
        auto& step = worker.steps[begin];
        if (demand > step.first) step = {demand, length};
      }
    });
  }

  // What a core reads comes to it, what it writes goes to the other end.
  void add_transfers(const ScannedChunk& chunk, LinkWorker& worker) const {
    const Schema& schema = *chunk.lane.schema;
    const auto network = schema.find(kNetwork);
    std::array<std::optional<std::size_t>, 5> columns = {schema.find("num_bytes"), schema.find("sx"), schema.find("sy"),
                                                         schema.find("dx"), schema.find("dy")};
    if (!network || schema.columns[*network].type != ColumnType::string) return;
    if (std::ranges::any_of(columns, [](const auto& each) { return !each; })) return;
    std::array<NumberBlock, 5> numbers;
    chunk.for_each_block([&](const ScannedBlock& block) {
      for (std::size_t n = 0; n < columns.size(); ++n)
        numbers[n].read(block.reader, *columns[n], schema.columns[*columns[n]].type);
      const BlockValues networks = block.reader.column(*network, ColumnType::string);
      for (std::uint32_t i = block.first; i < block.last; ++i) {
        if (!networks.has(i) || numbers[0][i] <= 0 || (numbers[4].valid() >> i & 1) == 0) continue;
        const bool reads = snapshot_.strings->text(block.name(i)).starts_with("READ");
        const auto x = static_cast<std::uint64_t>(numbers[reads ? 1 : 3][i]) & 0xffff;
        const auto y = static_cast<std::uint64_t>(numbers[reads ? 2 : 4][i]) & 0xffff;
        LinkLoad& link = worker.links[{static_cast<TrackNumber>(networks.values[i]), x << 16U | y}];
        if (link.count++ == 0) {
          link.first = block.id(i);
          link.track = chunk.lane.track;
          link.name = fmt::format("{} into core {},{}",
                                  snapshot_.strings->text(static_cast<StringId>(networks.values[i])), x, y);
        }
        link.bytes += static_cast<double>(numbers[0][i]);
        worker.bytes += static_cast<double>(numbers[0][i]);
      }
    });
  }

  LinkDemand demand_of(LinkWorker& found) const {
    LinkDemand all{.bytes = found.bytes};
    for (const auto& [begin, step] : found.steps)
      all.crowded_ns += step.first > 1 ? static_cast<double>(step.second) * (1 - 1 / step.first) : 0;
    for (auto& [key, link] : found.links) {
      if (link.name.empty()) link.name = name_of(key);
      if (const TrackSnapshot* track = snapshot_.find_track(link.track)) link.device = track->track->device;
      all.links.push_back(std::move(link));
    }
    std::ranges::stable_sort(all.links, [](const LinkLoad& a, const LinkLoad& b) {
      return std::pair(a.most_demand, a.bytes) > std::pair(b.most_demand, b.bytes);
    });
    return all;
  }

  // "NOC0_SOUTH of core 5,1" of the row "core 5,1 links".
  [[nodiscard]] std::string name_of(const LinkKey& key) const {
    std::string row;
    if (const TrackSnapshot* track = snapshot_.find_track(key.first)) row = track->track->name;
    constexpr std::string_view kRow = " links";
    if (row.ends_with(kRow)) row.resize(row.size() - kRow.size());
    return fmt::format("{} of {}", snapshot_.strings->text(static_cast<StringId>(key.second)), row);
  }

  const QueryContext& query_;
  const Snapshot& snapshot_;
  TimeRange range_;
};

}  // namespace

Result<LinkDemand> link_demand(const QueryContext& query, const TimeRange& range) {
  return DemandScan(query, range).run();
}

std::string demand_text(const LinkDemand& demand) {
  if (demand.links.empty()) return {};
  const LinkLoad& most = demand.links.front();
  if (most.most_demand > 0)
    return fmt::format("{} is asked for {} of what it carries", most.name, format_share(most.most_demand));
  return fmt::format("most goes over {}: {} of {} in {}", most.name, format_bytes(most.bytes),
                     format_bytes(demand.bytes), counted(most.count, "transfer"));
}

}  // namespace accelscope::analysis::tenstorrent
