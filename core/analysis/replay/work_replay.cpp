#include "core/analysis/replay/work_replay.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>
#include <span>
#include <tuple>
#include <unordered_map>

#include "core/analysis/time/work_kind.h"
#include "core/analysis/vendors/vendor.h"
#include "core/scan/column_values.h"
#include "core/scan/wait_names.h"

namespace accelscope {
namespace {

constexpr std::int64_t kLeastIdleNs = 5'000;  // shorter pauses are latencies of its own work
constexpr std::int64_t kNoTime = std::numeric_limits<std::int64_t>::min();

struct ReplayAddress {
  EventId event;
  std::uint64_t address;
  bool written;
};

struct ReplayPacket {
  std::uint64_t transfer;  // its key
  std::uint64_t server;    // the DMA engine
  std::uint32_t device;
  std::int64_t begin_ns, end_ns;
  bool payload;
};

// What a thread reads.
struct ReplayPart {
  std::vector<ReplayNode> nodes;
  std::vector<ReplayAddress> addresses;
  std::vector<ReplayPacket> packets;
  std::vector<std::pair<EventId, std::uint64_t>> keys;  // of transfers
};

std::optional<std::size_t> column_of_strings(const Schema& schema, std::string_view name) {
  const auto column = schema.find(name);
  return column && schema.columns[*column].type == ColumnType::string ? column : std::nullopt;
}

// A wait is over when what it waited for is; all else is in order when it begins.
std::int64_t order_key(const ReplayNode& node) { return node.kind == ReplayKind::wait ? node.end_ns : node.begin_ns; }

}  // namespace

class ReplayBuilder {
 public:
  ReplayBuilder(const QueryContext& query, const TimeRange& range)
      : query_(query), snapshot_(*query.snapshot), range_(range), devices_(snapshot_), kinds_(snapshot_) {
    for (const Vendor& vendor : vendors()) {
      for (const std::string_view name : vendor.setup_names) setup_.insert(snapshot_.strings->find(name));
    }
  }

  Result<std::unique_ptr<WorkReplay>> build(const Dependencies& dependencies) {
    if (!choose()) return std::unique_ptr<WorkReplay>{};
    if (const auto done = read(); !done) return done.error();
    if (made_->nodes_.empty()) return std::unique_ptr<WorkReplay>{};
    order();
    join(dependencies);
    if (made_->edges_.empty()) return std::unique_ptr<WorkReplay>{};
    meet();
    learn();
    const std::int64_t observed = end_ns_ - made_->begin_ns_;
    made_->total_ns_ = made_->run(made_->no_change());
    const auto off = static_cast<double>(std::abs(made_->total_ns_ - observed));
    if (off > WorkReplay::kMostError * static_cast<double>(observed)) return std::unique_ptr<WorkReplay>{};
    const auto explained = static_cast<double>(made_->explained_ns());
    if (explained < WorkReplay::kLeastExplained * static_cast<double>(observed)) return std::unique_ptr<WorkReplay>{};
    return std::move(made_);
  }

 private:
  // Lanes of engines, whole transfers and whole collectives; false where there are none, or too many events.
  bool choose() {
    std::uint64_t count = 0;
    std::set<std::size_t> whole;  // devices with transfers beside their packets
    for (std::uint32_t lane = 0; lane < snapshot_.lanes.size(); ++lane) {
      if (kinds_.of_lane(lane) == WorkKind::transfer && !kinds_.covers_time(lane) &&
          snapshot_.lanes[lane].event_count > 0) {
        whole.insert(devices_.of_lane(lane));
      }
    }
    bool has_engines = false;
    for (std::size_t t = 0; t < snapshot_.tracks.size(); ++t) {
      const TrackSnapshot& track = snapshot_.tracks[t];
      for (const std::uint32_t lane : track.lanes) {
        const WorkKind kind = kinds_.of_lane(lane);
        if (!is_device_work(kind) || snapshot_.lanes[lane].event_count == 0) continue;
        if (track.track->kind == "stream") return false;
        if (kind == WorkKind::collective && !kinds_.covers_time(lane)) continue;  // steps of those that are read
        const bool is_whole =
            kind != WorkKind::transfer || whole.count(devices_.of_lane(lane)) == 0 || !kinds_.covers_time(lane);
        track_of_lane_[lane] = static_cast<std::uint32_t>(t);
        lanes_.push_back(lane);
        if (!is_whole) packets_.insert(lane);
        has_engines = has_engines || kind == WorkKind::compute;
        count += snapshot_.lanes[lane].event_count;
      }
    }
    return has_engines && count <= WorkReplay::kMostNodes;
  }

  Result<void> read() {
    QueryContext whole = query_;
    whole.mask = nullptr;
    std::vector<ReplayPart> parts(query_.pool.concurrency());
    const auto scanned = scan_chunks(whole, lanes_, range_, [&](const ScannedChunk& chunk, std::size_t worker) {
      if (packets_.count(chunk.lane_index) != 0) {
        read_packets(chunk, parts[worker]);
      } else {
        read_nodes(chunk, parts[worker]);
      }
    });
    if (!scanned) return scanned.error();
    std::unordered_map<EventId, std::uint64_t> keys;
    std::vector<ReplayPacket> packets;
    made_ = std::make_unique<WorkReplay>();
    for (ReplayPart& part : parts) {
      made_->nodes_.insert(made_->nodes_.end(), part.nodes.begin(), part.nodes.end());
      addresses_.insert(addresses_.end(), part.addresses.begin(), part.addresses.end());
      packets.insert(packets.end(), part.packets.begin(), part.packets.end());
      keys.insert(part.keys.begin(), part.keys.end());
      part = {};
    }
    share_out(packets, keys);
    return {};
  }

  // Transfers by what each DMA engine did of them: the packets of one on one engine are one.
  void share_out(std::vector<ReplayPacket>& packets, const std::unordered_map<EventId, std::uint64_t>& keys) {
    std::sort(packets.begin(), packets.end(), [](const ReplayPacket& a, const ReplayPacket& b) {
      return std::tie(a.transfer, a.server, a.begin_ns) < std::tie(b.transfer, b.server, b.begin_ns);
    });
    std::map<std::pair<std::uint32_t, std::uint64_t>, std::uint32_t> servers;  // by device and engine
    for (ReplayNode& node : made_->nodes_) {
      const auto key = node.kind == ReplayKind::transfer ? keys.find(node.event) : keys.end();
      if (key == keys.end()) continue;
      auto packet = std::lower_bound(packets.begin(), packets.end(), key->second,
                                     [](const ReplayPacket& a, std::uint64_t k) { return a.transfer < k; });
      node.first_part = static_cast<std::uint32_t>(made_->shares_.size());
      const ReplayPacket* last = nullptr;
      for (; packet != packets.end() && packet->transfer == key->second; ++packet) {
        if (packet->payload) ++node.packets;
        if (last == nullptr || last->server != packet->server) {
          const auto [server, is_new] =
              servers.try_emplace({packet->device, packet->server}, static_cast<std::uint32_t>(servers.size()));
          made_->shares_.push_back({server->second, packet->begin_ns, 0, 0});
        }
        ReplayShare& share = made_->shares_.back();
        share.length_ns = std::max(share.length_ns, packet->end_ns - share.begin_ns);
        last = &*packet;
      }
      node.part_count = static_cast<std::uint32_t>(made_->shares_.size()) - node.first_part;
      std::int64_t done = kNoTime;
      for (const ReplayShare& share : made_->shares(node)) done = std::max(done, share.begin_ns + share.length_ns);
      if (node.part_count > 0) node.tail_ns = node.end_ns - done;
    }
    made_->servers_ = static_cast<std::uint32_t>(servers.size());
  }

  void read_packets(const ScannedChunk& chunk, ReplayPart& part) const {
    const Schema& schema = *chunk.lane.schema;
    const auto device = static_cast<std::uint32_t>(devices_.of_lane(chunk.lane_index));
    for (const Vendor& vendor : vendors()) {
      for (const Vendor::DetailedTable& table : vendor.detailed_tables) {
        const auto column = schema.find(table.part_column);
        const auto server = schema.find(table.server_column);
        const auto bytes = schema.find(Role::bytes);
        if (table.detail != schema.name || !column || !server || !bytes) continue;
        NumberBlock sizes;
        chunk.for_each_block([&](const ScannedBlock& block) {
          sizes.read(block.reader, *bytes, schema.columns[*bytes].type);
          const BlockValues keys = block.reader.column(*column, schema.columns[*column].type);
          const BlockValues servers = block.reader.column(*server, schema.columns[*server].type);
          for (std::uint32_t i = block.first; i < block.last; ++i) {
            if (!keys.has(i) || !servers.has(i)) continue;
            part.packets.push_back({keys.values[i], servers.values[i], device, block.begin_ns(i), block.end_ns(i),
                                    sizes[i] > vendor.no_payload_bytes});
          }
        });
      }
    }
  }

  void read_nodes(const ScannedChunk& chunk, ReplayPart& part) const {
    const Schema& schema = *chunk.lane.schema;
    const WaitNames waits(&schema, *snapshot_.strings);
    const WorkKind kind = kinds_.of_lane(chunk.lane_index);
    const auto line = schema.find(Role::source_location);
    const auto bytes = schema.find(Role::bytes);
    const auto key = schema.find(Role::key);
    const Vendor* const words = kind == WorkKind::transfer ? transfer_vendor(schema) : nullptr;
    const Vendor* const matrix = kind == WorkKind::compute ? vendor_of_work(chunk.lane) : nullptr;
    std::unique_ptr<EventWork> work;
    if (matrix != nullptr) work = matrix->event_work(chunk.lane, *snapshot_.strings);
    const auto operands = matrix == nullptr ? std::nullopt : schema.find(matrix->operands_column);
    NumberBlock sizes;
    chunk.for_each_block([&](const ScannedBlock& block) {
      if (work) work->read(block.reader);
      const auto strings = [&](const std::optional<std::size_t>& column) {
        return column && schema.columns[*column].type == ColumnType::string
                   ? block.reader.column(*column, ColumnType::string)
                   : BlockValues{};
      };
      const BlockValues lines = strings(line);
      BlockValues from, to, keys;
      if (words != nullptr) {
        from = strings(column_of_strings(schema, words->from_column));
        to = strings(column_of_strings(schema, words->to_column));
        if (key) keys = block.reader.column(*key, schema.columns[*key].type);
        if (bytes) sizes.read(block.reader, *bytes, schema.columns[*bytes].type);
      }
      for (std::uint32_t i = block.first; i < block.last; ++i) {
        ReplayNode node;
        node.event = block.id(i);
        node.begin_ns = block.begin_ns(i);
        node.end_ns = block.end_ns(i);
        if (node.begin_ns < range_.begin_ns || node.end_ns > range_.end_ns) continue;
        node.name = block.name(i);
        node.line = lines.has(i) ? static_cast<StringId>(lines.values[i]) : 0;
        node.track = track_of_lane_.at(chunk.lane_index);
        node.device = static_cast<std::uint32_t>(devices_.of_lane(chunk.lane_index));
        node.kind = kind == WorkKind::transfer     ? ReplayKind::transfer
                    : kind == WorkKind::collective ? ReplayKind::collective
                    : waits.contains(node.name)    ? ReplayKind::wait
                                                   : ReplayKind::work;
        if (words != nullptr) {
          const auto is = [&](const BlockValues& values, std::string_view word) {
            return values.has(i) && snapshot_.strings->text(static_cast<StringId>(values.values[i])) == word;
          };
          node.into_chip = is(to, words->on_chip_place);
          node.from_spill = is(from, words->spill_place);
          node.to_spill = is(to, words->spill_place);
          node.bytes = bytes ? static_cast<std::uint64_t>(std::max<std::int64_t>(0, sizes[i])) : 0;
          if (keys.has(i)) part.keys.emplace_back(node.event, keys.values[i]);
        }
        if (work) {
          node.flops = work->at(i);
          node.transposes = work->transposes(i);
        }
        part.nodes.push_back(node);
        if (operands && schema.columns[*operands].type == ColumnType::text && node.kind == ReplayKind::work) {
          matrix->visit_operands(chunk.view.text(*operands, block.row(i)), [&](std::uint64_t address, bool written) {
            part.addresses.push_back({node.event, address, written});
          });
        }
      }
    });
  }

  static const Vendor* transfer_vendor(const Schema& schema) {
    for (const Vendor& vendor : vendors()) {
      if (column_of_strings(schema, vendor.to_column)) return &vendor;
    }
    return nullptr;
  }

  // By time, and who came before whom.
  void order() {
    std::vector<ReplayNode>& nodes = made_->nodes_;
    // Of what begins at once, weights may have waited for a multiplication to begin.
    const StringId weights_name = snapshot_.strings->find(vendors().front().weights_name);
    const auto rank = [weights_name](const ReplayNode& node) {
      if (node.kind == ReplayKind::wait) return 0;
      return node.name == weights_name ? 2 : 1;
    };
    std::sort(nodes.begin(), nodes.end(), [&rank](const ReplayNode& a, const ReplayNode& b) {
      return std::tuple(order_key(a), rank(a), a.event) < std::tuple(order_key(b), rank(b), b.event);
    });
    std::unordered_map<std::uint32_t, std::uint32_t> last_of_track, last_of_dma, last_multiply, weights;
    std::map<std::uint32_t, std::pair<std::int64_t, std::uint32_t>> reached;  // by device: until when, idle stretches
    std::set<std::uint32_t> known;
    made_->begin_ns_ = nodes.front().begin_ns;
    for (std::uint32_t i = 0; i < nodes.size(); ++i) {
      ReplayNode& node = nodes[i];
      made_->begin_ns_ = std::min(made_->begin_ns_, node.begin_ns);
      node.counts = node.kind != ReplayKind::transfer && setup_.count(node.name) == 0;
      if (node.counts) end_ns_ = std::max(end_ns_, node.end_ns);
      index_.emplace(node.event, i);
      known.insert(node.device);
      auto& last = node.kind == ReplayKind::transfer ? last_of_dma : last_of_track;
      const std::uint32_t server = node.kind == ReplayKind::transfer ? node.device : node.track;
      const auto before = last.find(server);
      node.before = before == last.end() || node.part_count > 0 ? kNoReplayNode : before->second;
      if (node.part_count == 0) last[server] = i;
      node.begun_by = kNoReplayNode;
      const std::string_view name = snapshot_.strings->text(node.name);
      if (name == vendors().front().multiply_name) last_multiply[node.device] = i;
      if (name == vendors().front().weights_name) {
        if (const auto found = last_multiply.find(node.device); found != last_multiply.end()) {
          node.begun_by = found->second;
        }
      }
      const bool is_new = reached.find(node.device) == reached.end();
      auto& [until, stretches] = reached[node.device];
      // Waits span idle time: nothing works in it.
      if (node.kind != ReplayKind::wait) {
        if (!is_new && until != kNoTime && node.begin_ns - until >= kLeastIdleNs) ++stretches;
        until = is_new ? node.end_ns : std::max(until, node.end_ns);
      } else if (is_new) {
        until = kNoTime;
      }
      node.idle_before = stretches;
    }
    made_->devices_.assign(known.begin(), known.end());
    std::sort(addresses_.begin(), addresses_.end(),
              [](const ReplayAddress& a, const ReplayAddress& b) { return a.event < b.event; });
    for (const ReplayAddress& each : addresses_)
      made_->addresses_.push_back({index_.at(each.event), each.address, each.written});
    std::sort(made_->addresses_.begin(), made_->addresses_.end(),
              [](const auto& a, const auto& b) { return a.node < b.node; });
  }

  void join(const Dependencies& dependencies) {
    std::vector<std::pair<std::uint32_t, std::uint32_t>> pairs;  // target, source
    for (const Dependency& each : dependencies.all()) {
      const auto source = index_.find(each.source), target = index_.find(each.target);
      if (source == index_.end() || target == index_.end() || source->second >= target->second) continue;
      pairs.emplace_back(target->second, source->second);
    }
    std::sort(pairs.begin(), pairs.end());
    pairs.erase(std::unique(pairs.begin(), pairs.end()), pairs.end());
    std::vector<ReplayNode>& nodes = made_->nodes_;
    std::size_t at = 0;
    for (std::uint32_t i = 0; i < nodes.size(); ++i) {
      nodes[i].first_edge = static_cast<std::uint32_t>(made_->edges_.size());
      for (; at < pairs.size() && pairs[at].first == i; ++at) made_->edges_.push_back({pairs[at].second, 0});
      nodes[i].edge_count = static_cast<std::uint32_t>(made_->edges_.size()) - nodes[i].first_edge;
    }
  }

  // The parts of one collective: the n-th of its name on each device, where all have as many.
  void meet() {
    const std::vector<ReplayNode>& nodes = made_->nodes_;
    made_->meetings_.resize(nodes.size());
    std::map<std::pair<StringId, std::uint32_t>, std::map<std::uint32_t, std::vector<std::uint32_t>>> found;
    for (std::uint32_t i = 0; i < nodes.size(); ++i) {
      made_->meetings_[i] = i;
      if (nodes[i].kind == ReplayKind::collective) found[{nodes[i].name, 0}][nodes[i].device].push_back(i);
    }
    for (const auto& [name, devices] : found) {
      const std::size_t count = devices.begin()->second.size();
      const bool equal = std::all_of(devices.begin(), devices.end(),
                                     [count](const auto& each) { return each.second.size() == count; });
      if (!equal) continue;
      for (std::size_t n = 0; n < count; ++n) {
        std::uint32_t first = kNoReplayNode;
        for (const auto& [device, list] : devices) first = std::min(first, list[n]);
        for (const auto& [device, list] : devices) {
          made_->meetings_[list[n]] = first;
          made_->parts_of_[first].push_back(list[n]);
        }
      }
    }
  }

  // The least time from one track to another, and what of each event's begin that does not explain.
  void learn() {
    std::vector<ReplayNode>& nodes = made_->nodes_;
    made_->track_latency_ns_.assign(snapshot_.tracks.size(), std::numeric_limits<std::int64_t>::max());
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::int64_t> least;
    std::map<std::uint32_t, std::int64_t> held;                         // by track: after the last of them all
    std::int64_t transfers = std::numeric_limits<std::int64_t>::max();  // a queue that others keep busy shows none
    for (const ReplayNode& node : nodes) {
      if (node.before != kNoReplayNode && nodes[node.before].idle_before == node.idle_before) {
        std::int64_t& latency = made_->track_latency_ns_[node.track];
        latency = std::min(latency, node.begin_ns - nodes[node.before].end_ns);
      }
      std::int64_t last = kNoTime;
      for (std::uint32_t e = 0; e < node.edge_count; ++e) {
        const ReplayNode& source = nodes[made_->edges_[node.first_edge + e].source];
        const std::int64_t after = node.begin_ns - source.end_ns;
        const auto [found, is_new] = least.try_emplace({source.track, node.track}, after);
        found->second = std::min(found->second, after);
        last = std::max(last, source.end_ns);
      }
      if (last != kNoTime) {
        const auto [shortest, is_new] = held.try_emplace(node.track, node.begin_ns - last);
        shortest->second = std::min(shortest->second, node.begin_ns - last);
        if (node.kind == ReplayKind::transfer) transfers = std::min(transfers, node.begin_ns - last);
      }
    }
    // An engine that always waits shows no latency of its own: all issue as fast as the fastest. What one is slower by
    // stays as its events' delay.
    std::int64_t fastest = std::numeric_limits<std::int64_t>::max();
    for (const std::int64_t each : made_->track_latency_ns_)
      fastest = std::min(fastest, std::max<std::int64_t>(0, each));
    if (fastest == std::numeric_limits<std::int64_t>::max()) fastest = 0;
    for (std::int64_t& each : made_->track_latency_ns_) each = std::min(each, fastest);
    for (const ReplayNode& node : nodes) {
      for (std::uint32_t e = 0; e < node.edge_count; ++e) {
        ReplayEdge& edge = made_->edges_[node.first_edge + e];
        // What never held anything up tells nothing of its own latency.
        edge.latency_ns = node.kind == ReplayKind::transfer
                              ? transfers
                              : std::min(least.at({nodes[edge.source].track, node.track}), held.at(node.track));
      }
    }
    shorten_waits();
    explain();
  }

  // When the edges of a node let it begin; kNoTime: it has none.
  std::int64_t edges_allow(const ReplayNode& node) const {
    std::int64_t allowed = kNoTime;
    for (std::uint32_t e = 0; e < node.edge_count; ++e) {
      const ReplayEdge& edge = made_->edges_[node.first_edge + e];
      allowed = std::max(allowed, model_end(edge.source) + edge.latency_ns);
    }
    return allowed;
  }

  std::int64_t model_end(std::uint32_t node) const { return made_->nodes_[node].begin_ns + made_->base_lengths_[node]; }

  // A wait is as long as it must be where the event after it says what for; else as long as it was.
  void shorten_waits() {
    constexpr std::int64_t kSlackNs = 64, kMostShortWaitNs = 64;
    std::vector<ReplayNode>& nodes = made_->nodes_;
    std::int64_t least = kMostShortWaitNs;  // of any engine: one may always have to wait
    made_->base_lengths_.resize(nodes.size());
    made_->shortened_.resize(nodes.size(), false);
    for (std::uint32_t i = 0; i < nodes.size(); ++i) {
      made_->base_lengths_[i] = nodes[i].length_ns();
      if (nodes[i].kind == ReplayKind::wait) least = std::min(least, nodes[i].length_ns());
    }
    for (const ReplayNode& node : nodes) {
      if (node.before == kNoReplayNode || nodes[node.before].kind != ReplayKind::wait || node.edge_count == 0) continue;
      const ReplayNode& wait = nodes[node.before];
      const std::int64_t allowed =
          std::max(edges_allow(node), wait.begin_ns + least + made_->track_latency_ns_[node.track]);
      if (node.begin_ns - allowed > kSlackNs) continue;
      made_->base_lengths_[node.before] = least;
      made_->shortened_[node.before] = true;
    }
  }

  // What is later by little took longer to learn of what it waited for: without that it is not late.
  void delay_edges(ReplayNode& node, std::int64_t allowed) {
    for (std::uint32_t e = node.first_edge; e < node.first_edge + node.edge_count; ++e) {
      ReplayEdge& edge = made_->edges_[e];
      if (model_end(edge.source) + edge.latency_ns == allowed) edge.latency_ns += node.delay_ns;
    }
    node.delay_ns = 0;
  }

  // What of each event's begin nothing explains.
  void explain() {
    constexpr std::int64_t kMostEdgeDelayNs = 64;
    std::vector<ReplayNode>& nodes = made_->nodes_;
    struct DeviceTimes {
      std::int64_t reached = kNoTime, idle = kNoTime;
      std::uint32_t stretches = 0;
    };
    std::map<std::uint32_t, DeviceTimes> devices;
    std::map<std::uint32_t, std::int64_t> met;                    // when all parts of a collective could have begun
    std::vector<std::int64_t> servers(made_->servers_, kNoTime);  // when each DMA engine is done
    for (std::uint32_t i = 0; i < nodes.size(); ++i) {
      ReplayNode& node = nodes[i];
      DeviceTimes& device = devices[node.device];
      const std::int64_t by_edges = edges_allow(node);
      std::int64_t explained = by_edges;
      if (node.before != kNoReplayNode) {
        explained = std::max(explained, model_end(node.before) + made_->track_latency_ns_[node.track]);
      }
      if (node.begun_by != kNoReplayNode) explained = std::max(explained, nodes[node.begun_by].begin_ns);
      if (node.kind != ReplayKind::wait) {
        if (device.stretches != node.idle_before) device = {device.reached, device.reached, node.idle_before};
        explained = std::max(explained, device.idle);
        device.reached = std::max(device.reached, model_end(i));
      }
      if (explained == kNoTime) explained = made_->begin_ns_;
      const std::span<ReplayShare> shares{made_->shares_.data() + node.first_part, node.part_count};
      if (!shares.empty()) {
        std::int64_t first = std::numeric_limits<std::int64_t>::max();
        for (const ReplayShare& share : shares) first = std::min(first, std::max(explained, servers[share.server]));
        node.delay_ns = std::max<std::int64_t>(0, node.begin_ns - first);
        for (ReplayShare& share : shares) {
          const std::int64_t free = std::max(explained + node.delay_ns, servers[share.server]);
          share.delay_ns = std::max<std::int64_t>(0, share.begin_ns - free);
          servers[share.server] = share.begin_ns + share.length_ns;
        }
        continue;
      }
      node.delay_ns = std::max<std::int64_t>(0, node.begin_ns - explained);
      if (by_edges == explained && node.delay_ns <= kMostEdgeDelayNs && node.kind != ReplayKind::collective) {
        delay_edges(node, by_edges);
      }
      if (node.kind != ReplayKind::collective) continue;
      const auto [all, is_new] = met.try_emplace(made_->meetings_[i], explained);
      all->second = std::max(all->second, explained);
    }
    for (std::uint32_t i = 0; i < nodes.size(); ++i) {
      if (nodes[i].kind != ReplayKind::collective) continue;
      nodes[i].delay_ns = std::max<std::int64_t>(0, nodes[i].begin_ns - met.at(made_->meetings_[i]));
    }
  }

  const QueryContext& query_;
  const Snapshot& snapshot_;
  TimeRange range_;
  TrackDevices devices_;
  WorkKinds kinds_;
  LaneIndices lanes_;
  std::set<std::uint32_t> packets_;
  std::unordered_map<std::uint32_t, std::uint32_t> track_of_lane_;
  std::vector<ReplayAddress> addresses_;
  std::unordered_map<EventId, std::uint32_t> index_;
  std::set<StringId> setup_;  // names of events that are no work
  std::int64_t end_ns_ = kNoTime;
  std::unique_ptr<WorkReplay> made_;
};

Result<std::unique_ptr<WorkReplay>> WorkReplay::build(const QueryContext& query, const Dependencies& dependencies,
                                                      const TimeRange& range) {
  if (dependencies.total() == 0) return std::unique_ptr<WorkReplay>{};
  return ReplayBuilder(query, range).build(dependencies);
}

std::uint32_t WorkReplay::wait_of(std::uint32_t node) const noexcept {
  const std::uint32_t before = nodes_[node].before;
  return before != kNoReplayNode && shortened_[before] ? before : kNoReplayNode;
}

bool WorkReplay::replays(std::uint32_t device) const noexcept {
  return std::binary_search(devices_.begin(), devices_.end(), device);
}

std::pair<const WorkReplay::Address*, const WorkReplay::Address*> WorkReplay::addresses_of(
    std::uint32_t node) const noexcept {
  const auto [first, last] = std::equal_range(addresses_.begin(), addresses_.end(), Address{node, 0, false},
                                              [](const Address& a, const Address& b) { return a.node < b.node; });
  return {addresses_.data() + (first - addresses_.begin()), addresses_.data() + (last - addresses_.begin())};
}

bool WorkReplay::reuses_buffer(std::uint32_t source, std::uint32_t node) const noexcept {
  const auto [source_first, source_last] = addresses_of(source);
  const auto [node_first, node_last] = addresses_of(node);
  bool over_read = false;
  for (const Address* a = source_first; a != source_last; ++a) {
    for (const Address* b = node_first; b != node_last; ++b) {
      if (a->address != b->address) continue;
      if (a->written && !b->written) return false;  // it reads what the source wrote
      over_read = over_read || (!a->written && b->written);
    }
  }
  return over_read;
}

std::uint64_t WorkReplay::written_address(std::uint32_t node) const noexcept {
  const auto [first, last] = addresses_of(node);
  const auto* const written = std::find_if(first, last, [](const Address& each) { return each.written; });
  return written == last ? 0 : written->address;
}

ReplayChange WorkReplay::no_change() const {
  ReplayChange change;
  change.modes.assign(nodes_.size(), ReplayMode::kept);
  change.lengths_ns = base_lengths_;
  change.sources.reserve(edges_.size());
  for (const ReplayEdge& edge : edges_) change.sources.push_back(edge.source);
  return change;
}

std::vector<std::uint32_t> WorkReplay::order_of(const ReplayChange& change) const {
  std::vector<std::uint32_t> order(nodes_.size());
  std::iota(order.begin(), order.end(), 0U);
  if (change.places.empty()) return order;
  const auto place = [&change](std::uint32_t node) {
    const auto moved = change.places.find(node);
    return moved == change.places.end() ? node : moved->second;
  };
  std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) { return place(a) < place(b); });
  return order;
}

std::int64_t WorkReplay::explained_ns() {
  std::vector<std::int64_t> delays;
  delays.reserve(nodes_.size());
  for (ReplayNode& node : nodes_) {
    delays.push_back(node.delay_ns);
    if (node.delay_ns < kLeastIdleNs) node.delay_ns = 0;
  }
  const std::int64_t total = run(no_change());
  for (std::size_t i = 0; i < nodes_.size(); ++i) nodes_[i].delay_ns = delays[i];
  return total;
}

std::int64_t WorkReplay::run(const ReplayChange& change) const {
  struct DeviceTimes {
    std::int64_t reached = kNoTime, idle = kNoTime, dma = kNoTime;
    std::uint32_t stretches = 0;
  };
  std::unordered_map<std::uint32_t, DeviceTimes> devices;
  std::vector<std::int64_t> begins(nodes_.size(), kNoTime), ends(nodes_.size(), kNoTime);
  std::vector<std::int64_t> tracks(track_latency_ns_.size(), kNoTime);
  std::unordered_map<std::uint32_t, std::int64_t> met;
  std::vector<std::int64_t> servers(servers_, kNoTime);
  std::int64_t end = begin_ns_;
  const auto allowed = [&](std::uint32_t i) {
    const ReplayNode& node = nodes_[i];
    std::int64_t at = kNoTime;
    for (std::uint32_t e = node.first_edge; e < node.first_edge + node.edge_count; ++e) {
      const std::uint32_t source = change.sources[e];
      if (source == kNoReplayNode || ends[source] == kNoTime) continue;
      const bool passes = change.modes[i] == ReplayMode::bypassed;
      at = std::max(at, ends[source] + (passes ? 0 : edges_[e].latency_ns));
    }
    return at;
  };
  for (const std::uint32_t i : order_of(change)) {
    const ReplayNode& node = nodes_[i];
    if (change.modes[i] == ReplayMode::removed) continue;
    std::int64_t at = allowed(i);
    if (change.modes[i] == ReplayMode::bypassed) {
      begins[i] = ends[i] = at;
      continue;
    }
    DeviceTimes& device = devices[node.device];
    std::int64_t own = kNoTime;
    std::int64_t& server = node.part_count > 0                 ? own
                           : node.kind == ReplayKind::transfer ? device.dma
                                                               : tracks[node.track];
    if (server != kNoTime) at = std::max(at, server + track_latency_ns_[node.track]);
    if (node.begun_by != kNoReplayNode) at = std::max(at, begins[node.begun_by]);
    if (node.kind != ReplayKind::wait) {
      if (device.stretches != node.idle_before) device = {device.reached, device.reached, device.dma, node.idle_before};
      at = std::max(at, device.idle);
    }
    if (at == kNoTime) at = begin_ns_;
    if (const auto parts = parts_of_.find(meetings_[i]); parts != parts_of_.end()) {
      const auto [all, is_new] = met.try_emplace(meetings_[i], at);
      // The others follow directly: all that they come after is known.
      for (std::size_t p = 0; is_new && p < parts->second.size(); ++p) {
        const std::uint32_t part = parts->second[p];
        all->second = std::max({all->second, allowed(part), tracks[nodes_[part].track]});
      }
      at = std::max(all->second, at);
    }
    begins[i] = at + node.delay_ns;
    ends[i] = begins[i] + change.lengths_ns[i];
    if (node.part_count > 0) {
      const std::int64_t longer = change.lengths_ns[i] - base_lengths_[i];
      const std::int64_t ready = begins[i];
      begins[i] = std::numeric_limits<std::int64_t>::max();
      ends[i] = kNoTime;
      for (const ReplayShare& share : shares(node)) {
        std::int64_t& free = servers[share.server];
        const std::int64_t begin = std::max(free, ready) + share.delay_ns;
        free = begin + std::max<std::int64_t>(0, share.length_ns + longer);
        begins[i] = std::min(begins[i], begin);
        ends[i] = std::max(ends[i], free);
      }
      ends[i] += node.tail_ns;
    }
    server = ends[i];
    if (node.kind != ReplayKind::wait) device.reached = std::max(device.reached, ends[i]);
    if (node.counts) end = std::max(end, ends[i]);
  }
  return end - begin_ns_;
}

}  // namespace accelscope
