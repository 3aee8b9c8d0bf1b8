#include "core/analysis/advice/device_sums.h"

#include <algorithm>
#include <numeric>
#include <set>
#include <tuple>

#include "core/analysis/advice/rules.h"
#include "core/analysis/advice/sums_plan.h"
#include "core/analysis/time/stretches.h"
#include "core/analysis/vendors/vendor.h"
#include "core/scan/chunk_scan.h"
#include "core/scan/column_values.h"
#include "core/scan/wait_names.h"

namespace accelscope::analysis {
namespace {

constexpr unsigned kTransfersAlone = 1U << static_cast<unsigned>(WorkUnit::transfer);
constexpr unsigned kCollectivesAlone = 1U << static_cast<unsigned>(WorkUnit::collective);

struct KernelZone {
  std::int64_t begin_ns, end_ns;
  std::size_t core;
};

// What a core says at its end of a run.
struct CoreWait {
  std::int64_t at_ns, length_ns;
  std::size_t core;
  bool for_data;  // else for room
};

// What a window holds of a device until it is closed.
struct OpenDevice {
  Stretches transfers, collectives;
  Stretches matrix;  // multiplications and transposes: what limits slow down
  Stretches setup;   // of engines: under way, but no work
  std::vector<std::int64_t> tiny_begins;
  std::vector<DeviceLimit> limits;
};

// Time that limits cost while what they slow down works.
void add_throttled(DeviceSum& sum, const std::vector<DeviceLimit>& limits, const Stretches& work) {
  for (const DeviceLimit& limit : limits) {
    const std::int64_t shared = shared_ns(work, limit.begin_ns, limit.end_ns);
    const double lost_ns = static_cast<double>(shared) * (1 - limit.limit);
    sum.limited_work_ns += shared;
    sum.throttled_ns += lost_ns;
    if (limit.warms_up) sum.warm_up_ns += lost_ns;
  }
}

// Where a window's work of a device begins and ends: the gap between two windows is known when all are.
struct WindowEdge {
  std::size_t device;
  std::int64_t first_ns, last_ns;
  bool tiny_first;
};

void keep_longest(std::vector<DeviceGap>& gaps) {
  if (gaps.size() <= kMostGaps) return;
  std::nth_element(gaps.begin(), gaps.begin() + kMostGaps, gaps.end(),
                   [](const DeviceGap& a, const DeviceGap& b) { return a.length_ns() > b.length_ns(); });
  gaps.resize(kMostGaps);
}

void add_gap(DeviceSum& sum, std::int64_t begin, std::int64_t end, bool before_tiny) {
  const std::int64_t length = end - begin;
  if (length <= 0) return;
  if (before_tiny && length <= kMostPauseNs) sum.tiny_pauses_ns += length;
  if (length < kLeastGapNs) return;
  sum.gaps.push_back({begin, end});
  if (sum.gaps.size() < 2 * kMostGaps) return;
  keep_longest(sum.gaps);
}

class SumsWorker {
 public:
  SumsWorker(const QueryContext& query, const SumsPlan& plan)
      : sums(plan.blank),
        zones(plan.blank.size()),
        core_waits(plan.blank.size()),
        engine_busy(query.snapshot->tracks.size(), 0),
        snapshot_(*query.snapshot),
        plan_(plan),
        open_(plan.blank.size()),
        known_tensors_(kKnownTensors),
        engines_(query.snapshot->tracks.size()),
        collective_(query.snapshot->strings->size(), kUnknown),
        kernel_(query.snapshot->strings->size(), kUnknown),
        setup_(query.snapshot->strings->size(), kUnknown) {
    for (DeviceSum& sum : sums) sum.tensors.clear();  // those that are loaded come back
  }

  void add(const ScannedChunk& chunk, const ScanWindow& window) {
    const LanePlan& lane = plan_.lanes[chunk.lane_index];
    switch (lane.part) {
      case LanePlan::Part::runs:
        return add_runs(chunk, window, lane);
      case LanePlan::Part::throttle:
        return add_limits(chunk, window, lane);
      case LanePlan::Part::totals:
        return add_totals(chunk, window, lane);
      case LanePlan::Part::work:
        if (lane.unit == WorkUnit::compute) return add_compute(chunk, window, lane);
        return add_moves(chunk, window, lane);
      case LanePlan::Part::none:
        return;
    }
  }

  void close() {
    for (std::size_t d = 0; d < sums.size(); ++d) close_device(d);
  }

  void merge(SumsWorker&& from) {
    for (std::size_t d = 0; d < sums.size(); ++d) {
      merge_part(sums[d], std::move(from.sums[d]));
      keep_longest(sums[d].gaps);
    }
    zones.merge(std::move(from.zones));
    core_waits.merge(std::move(from.core_waits));
    engine_busy.merge(std::move(from.engine_busy));
    merge_part(edges, std::move(from.edges));
  }

  std::vector<DeviceSum> sums;                // by device
  ByPlace<std::vector<KernelZone>> zones;     // by device
  ByPlace<std::vector<CoreWait>> core_waits;  // by device
  ByPlace<std::int64_t> engine_busy;          // by track
  std::vector<WindowEdge> edges;

 private:
  static constexpr std::uint8_t kUnknown = 2;
  bool is_collective(StringId name) {
    if (name >= collective_.size()) return names_collective(snapshot_.strings->text(name));
    if (collective_[name] == kUnknown) collective_[name] = names_collective(snapshot_.strings->text(name)) ? 1 : 0;
    return collective_[name] == 1;
  }
  bool is_kernel(StringId name, std::string_view suffix) {
    if (name >= kernel_.size()) return false;
    if (kernel_[name] == kUnknown) kernel_[name] = snapshot_.strings->text(name).ends_with(suffix) ? 1 : 0;
    return kernel_[name] == 1;
  }
  bool is_setup(StringId name) {
    if (name >= setup_.size()) return false;
    if (setup_[name] == kUnknown) {
      const std::string_view text = snapshot_.strings->text(name);
      const auto prepares = [&](const Vendor& each) {
        return std::find(each.setup_names.begin(), each.setup_names.end(), text) != each.setup_names.end();
      };
      setup_[name] = std::ranges::any_of(vendors(), prepares) ? 1 : 0;
    }
    return setup_[name] == 1;
  }
  static StringId string_in(const BlockValues& values, std::uint32_t i) {
    return values.has(i) ? static_cast<StringId>(values.values[i]) : 0;
  }

  void add_compute(const ScannedChunk& chunk, const ScanWindow& window, const LanePlan& lane) {
    const WaitNames waits(chunk.lane.schema.get(), *snapshot_.strings);
    DeviceSum& sum = sums[lane.device];
    OpenDevice& open = open_[lane.device];
    Stretches& engine = engines_[lane.track];
    std::unique_ptr<EventWork> work;
    if (lane.matrix_vendor != nullptr) work = lane.matrix_vendor->event_work(chunk.lane, *snapshot_.strings);
    chunk.for_each_block([&](const ScannedBlock& block) {
      if (work) work->read(block.reader);
      const BlockValues lines = work && lane.line ? block.reader.column(*lane.line, ColumnType::string) : BlockValues{};
      for (std::uint32_t i = block.first; i < block.last; ++i) {
        const StringId name = block.name(i);
        const std::int64_t whole_begin = block.begin_ns(i), whole_end = block.end_ns(i);
        const std::int64_t begin = std::max(whole_begin, window.range.begin_ns);
        const std::int64_t end = std::min(whole_end, window.range.end_ns);
        if (begin >= end || waits.contains(name)) continue;
        if (lane.is_stream && is_collective(name)) {
          add_stretch(open.collectives, begin, end);
          continue;
        }
        if (!lane.is_stream && is_setup(name)) {
          add_stretch(open.setup, begin, end);
          continue;
        }
        add_stretch(engine, begin, end);
        const bool own = window.owns(chunk, block.ticks().begins[i]);
        if (lane.is_stream && own) add_kernel(sum, open, block.id(i), lane.number, whole_begin, whole_end);
        if (!lane.kernel_suffix.empty() && own && is_kernel(name, lane.kernel_suffix)) {
          add_zone(lane, whole_begin, whole_end);
        }
        if (!work) continue;
        const double flops = work->at(i);
        if (flops > 0 || work->transposes(i)) add_stretch(open.matrix, begin, end);
        if (flops > 0) {
          sum.multiplications.add(block.id(i), lane.number, begin, end, 0, string_in(lines, i), own);
          sum.flops += flops * share_inside(window.range, whole_begin, whole_end);
        } else if (work->transposes(i)) {
          sum.transposes.add(block.id(i), lane.number, begin, end, 0, string_in(lines, i), own);
        }
      }
    });
  }

  void add_zone(const LanePlan& lane, std::int64_t begin, std::int64_t end) {
    if (zone_count_ == kMostZones) {
      ++sums[lane.device].zones_left_out;
      return;
    }
    ++zone_count_;
    zones[lane.device].push_back({begin, end, lane.core});
  }

  static void add_kernel(DeviceSum& sum, OpenDevice& open, EventId event, TrackNumber track, std::int64_t begin,
                         std::int64_t end) {
    ++sum.kernels;
    if (end - begin >= kTinyKernelNs) return;
    ++sum.tiny_kernels;
    sum.tiny.add(event, track, begin, begin, 0, 0, true);
    open.tiny_begins.push_back(begin);
  }

  void add_moves(const ScannedChunk& chunk, const ScanWindow& window, const LanePlan& lane) {
    DeviceSum& sum = sums[lane.device];
    OpenDevice& open = open_[lane.device];
    const WaitNames waits(chunk.lane.schema.get(), *snapshot_.strings);
    Stretches& parts = lane.unit == WorkUnit::transfer ? open.transfers : open.collectives;
    const bool looks = lane.vendor != nullptr && (lane.names_loads || lane.is_packets);
    NumberBlock bytes;
    chunk.for_each_block([&](const ScannedBlock& block) {
      MoveColumns columns;
      if (looks) {
        if (lane.bytes) bytes.read(block.reader, *lane.bytes, chunk.lane.schema->columns[*lane.bytes].type);
        const auto read = [&](const std::optional<std::size_t>& column) {
          return column ? block.reader.column(*column, ColumnType::string) : BlockValues{};
        };
        columns = {read(lane.from), read(lane.to), read(lane.purpose), read(lane.line)};
      }
      for (std::uint32_t i = block.first; i < block.last; ++i) {
        const std::int64_t begin = std::max(block.begin_ns(i), window.range.begin_ns);
        const std::int64_t end = std::min(block.end_ns(i), window.range.end_ns);
        if (begin >= end) continue;
        if (!waits.contains(block.name(i)) && lane.covers) add_stretch(parts, begin, end);
        if (!looks) continue;
        const double share = share_inside(window.range, block.begin_ns(i), block.end_ns(i));
        const auto size = static_cast<std::uint64_t>(std::max(0.0, static_cast<double>(bytes[i]) * share));
        const bool own = window.owns(chunk, block.ticks().begins[i]);
        const Move move{block.id(i), begin, end, size, bytes[i], block.name(i), own};
        if (lane.is_packets) add_packet(sum, lane, move, string_in(columns.purpose, i), string_in(columns.line, i));
        if (lane.names_loads) {
          add_load(sum, lane, move, string_in(columns.from, i), string_in(columns.to, i), string_in(columns.line, i));
        }
      }
    });
  }

  struct MoveColumns {
    BlockValues from, to, purpose, line;
  };
  struct Move {
    EventId event;
    std::int64_t begin_ns, end_ns;
    std::uint64_t bytes;       // inside of the window
    std::int64_t whole_bytes;  // of all of it
    StringId name;
    bool own;  // the window's
  };

  void add_packet(DeviceSum& sum, const LanePlan& lane, const Move& move, StringId purpose, StringId line) {
    const Vendor& vendor = *lane.vendor;
    if (move.whole_bytes <= vendor.no_payload_bytes) return;
    if (purpose != 0 && purpose == lane.words.program) return;
    if (move.own) ++sum.packets;
    const double least = rule_of(RuleId::small_transfers).threshold;
    if (static_cast<double>(move.whole_bytes) < least) {
      sum.small.add(move.event, lane.number, move.begin_ns, move.end_ns, move.bytes, line, move.own);
    } else if (static_cast<double>(move.whole_bytes) >= 2 * least) {
      sum.large_bytes += static_cast<double>(move.bytes);
      sum.large_ns += static_cast<double>(move.end_ns - move.begin_ns);
    }
  }

  void add_load(DeviceSum& sum, const LanePlan& lane, const Move& move, StringId from, StringId to, StringId line) {
    const bool loads = to != 0 && to == lane.words.on_chip;
    if (loads && from != lane.words.on_chip) sum.off_chip_read += move.bytes;
    const bool reloads = from != 0 && from == lane.words.spill;
    const bool saves = to != 0 && to == lane.words.spill;
    if (reloads || saves) {
      (reloads ? sum.reloaded_bytes : sum.saved_bytes) += move.bytes;
      sum.spills.add(move.event, lane.number, move.begin_ns, move.end_ns, move.bytes, line, move.own);
      return;  // told as spills, not as a tensor that is loaded again
    }
    if (!loads) return;
    if (LoadedTensor* const tensor = tensor_of(lane.device, move.name))
      tensor->loads.add(move.event, lane.number, move.begin_ns, move.end_ns, move.bytes, line, move.own);
  }

  // Null where the name is no tensor's.
  LoadedTensor* tensor_of(std::size_t device, StringId name) {
    const auto& tensors = plan_.blank[device].tensors;
    if (tensors.empty()) return nullptr;
    KnownTensor& known = known_tensors_[(name * std::size_t{31} + device) % kKnownTensors];
    if (known.name == name && known.device == device) return known.tensor;
    known = {device, name, tensors.contains(name) ? &sums[device].tensors[name] : nullptr};
    return known.tensor;
  }

  void add_limits(const ScannedChunk& chunk, const ScanWindow& window, const LanePlan& lane) {
    LimitBlock limits(*chunk.lane.schema, *snapshot_.strings);
    if (!limits.is_known()) return;
    chunk.for_each_block([&](const ScannedBlock& block) {
      limits.read(block.reader);
      for (std::uint32_t i = block.first; i < block.last; ++i) {
        const std::int64_t begin = std::max(block.begin_ns(i), window.range.begin_ns);
        const std::int64_t end = std::min(block.end_ns(i), window.range.end_ns);
        const double limit = limits.at(i, block.name(i));
        if (begin >= end || limit >= 1) continue;
        open_[lane.device].limits.push_back({begin, end, limit, limits.warms_up(block.name(i))});
        sums[lane.device].limits_ns[block.name(i)] += end - begin;
        const bool own = window.owns(chunk, block.ticks().begins[i]);
        sums[lane.device].throttled.add(block.id(i), lane.number, begin, end, 0, 0, own);
      }
    });
  }

  void add_runs(const ScannedChunk& chunk, const ScanWindow& window, const LanePlan& lane) {
    chunk.for_each_event([&](const ScannedBlock& block, std::uint32_t i) {
      if (!window.owns(chunk, block.ticks().begins[i])) return;
      ProgramRun run;
      run.event = block.id(i);
      run.begin_ns = block.begin_ns(i);
      run.end_ns = block.end_ns(i);
      run.longest_track = lane.number;
      sums[lane.device].runs.push_back(run);
    });
  }

  void add_totals(const ScannedChunk& chunk, const ScanWindow& window, const LanePlan& lane) {
    NumberBlock lengths;
    chunk.for_each_block([&](const ScannedBlock& block) {
      lengths.read(block.reader, *lane.total, chunk.lane.schema->columns[*lane.total].type);
      for (std::uint32_t i = block.first; i < block.last; ++i) {
        const StringId name = block.name(i);
        if (name == 0 || (name != lane.data_wait && name != lane.room_wait)) continue;
        if (!window.owns(chunk, block.ticks().begins[i])) continue;
        if (zone_count_ == kMostZones) {
          ++sums[lane.device].zones_left_out;
          continue;
        }
        ++zone_count_;
        core_waits[lane.device].push_back({block.begin_ns(i), lengths[i], lane.core, name == lane.data_wait});
      }
    });
  }

  void close_device(std::size_t d) {
    OpenDevice& open = open_[d];
    DeviceSum& sum = sums[d];
    Stretches compute;
    for (std::size_t t = 0; t < engines_.size(); ++t) {
      if (engines_[t].empty() || plan_.devices.of_track(t) != d) continue;
      engine_busy[t] += settle(engines_[t]);
      compute.insert(compute.end(), engines_[t].begin(), engines_[t].end());
      engines_[t].clear();
    }
    sum.compute_ns += settle(compute);
    settle(open.transfers);
    settle(open.collectives);
    settle(open.matrix);
    add_throttled(sum, lowest_limits(open.limits), plan_.blank[d].has_matrix ? open.matrix : compute);
    if (!open.setup.empty()) {
      compute.insert(compute.end(), open.setup.begin(), open.setup.end());
      settle(compute);
    }
    const Stretches any = sweep(sum, {&compute, &open.transfers, &open.collectives});
    if (!any.empty()) {
      std::ranges::sort(open.tiny_begins);
      add_gaps(sum, any, open.tiny_begins);
      const bool tiny_first = std::binary_search(open.tiny_begins.begin(), open.tiny_begins.end(), any.front().first);
      edges.push_back({d, any.front().first, any.back().second, tiny_first});
    }
    open = {};
    for (EvidenceSum* each :
         {&sum.small, &sum.spills, &sum.transposes, &sum.multiplications, &sum.throttled, &sum.tiny}) {
      each->clear_open();
    }
    for (auto& [name, tensor] : sum.tensors) tensor.loads.clear_open();
  }

  static void keep_alone(Stretches& alone, std::int64_t begin, std::int64_t end) {
    if (alone.size() < kMostGaps) add_stretch(alone, begin, end);
  }

  // Adds up the time of every set of units; returns the stretches in which any is under way.
  static Stretches sweep(DeviceSum& sum, const std::array<const Stretches*, kWorkUnits>& units) {
    Stretches any;
    std::array<std::size_t, kWorkUnits> at{};
    std::int64_t now = INT64_MIN;
    for (;;) {
      unsigned under_way = 0;
      std::int64_t next = INT64_MAX;
      for (std::size_t u = 0; u < kWorkUnits; ++u) {
        const Stretches& parts = *units[u];
        while (at[u] < parts.size() && parts[at[u]].second <= now) ++at[u];
        if (at[u] == parts.size()) continue;
        const bool runs = parts[at[u]].first <= now;
        if (runs) under_way |= 1U << u;
        next = std::min(next, runs ? parts[at[u]].second : parts[at[u]].first);
      }
      if (next == INT64_MAX) return any;
      if (under_way != 0) {
        sum.times_ns[under_way] += next - now;
        if (under_way == kTransfersAlone) keep_alone(sum.transfers_alone, now, next);
        if (under_way == kCollectivesAlone) keep_alone(sum.collectives_alone, now, next);
        add_stretch(any, now, next);
      }
      now = next;
    }
  }

  static void add_gaps(DeviceSum& sum, const Stretches& any, const std::vector<std::int64_t>& tiny) {
    for (std::size_t i = 1; i < any.size(); ++i) {
      const bool is_tiny = std::binary_search(tiny.begin(), tiny.end(), any[i].first);
      add_gap(sum, any[i - 1].second, any[i].first, is_tiny);
    }
  }

  static constexpr std::size_t kKnownTensors = 1024;
  struct KnownTensor {
    std::size_t device = 0;
    StringId name = kNone;
    LoadedTensor* tensor = nullptr;  // a node of a map stays where it is
  };

  const Snapshot& snapshot_;
  const SumsPlan& plan_;
  std::size_t zone_count_ = 0;
  std::vector<OpenDevice> open_;
  std::vector<KnownTensor> known_tensors_;                 // those met last
  std::vector<Stretches> engines_;                         // by track
  std::vector<std::uint8_t> collective_, kernel_, setup_;  // by name: 0, 1, or not looked at yet
};

// What the workers gathered, together.
// The gaps between windows, and from where to where each device works.
void join_windows(std::vector<DeviceSum>& devices, std::vector<WindowEdge>& edges) {
  std::ranges::sort(edges, [](const WindowEdge& a, const WindowEdge& b) {
    return std::tie(a.device, a.first_ns) < std::tie(b.device, b.first_ns);
  });
  for (std::size_t i = 0; i < edges.size(); ++i) {
    DeviceSum& device = devices[edges[i].device];
    const bool begins = i == 0 || edges[i - 1].device != edges[i].device;
    if (begins) device.stretch = {edges[i].first_ns, edges[i].last_ns};
    if (!begins) add_gap(device, edges[i - 1].last_ns, edges[i].first_ns, edges[i].tiny_first);
    device.stretch.end_ns = std::max(device.stretch.end_ns, edges[i].last_ns);
  }
  for (DeviceSum& device : devices) {
    std::ranges::sort(device.gaps, {}, &DeviceGap::begin_ns);
    settle(device.transfers_alone);
    settle(device.collectives_alone);
  }
}

// What a core does of a run: from its first kernel's begin to its last one's end, as tt-metal's PER CORE columns have
// it. Of several of its processors that wait for one thing that which waits longest counts.
struct CorePart {
  std::int64_t begin_ns = INT64_MAX, end_ns = INT64_MIN;
  std::int64_t data_wait_ns = 0, room_wait_ns = 0;
  [[nodiscard]] std::int64_t length_ns() const noexcept { return end_ns - begin_ns; }
};

// Cores that ever ran a program together.
class CoreParts {
 public:
  explicit CoreParts(std::size_t cores) : above_(cores) { std::iota(above_.begin(), above_.end(), std::size_t{0}); }
  std::size_t of(std::size_t core) {
    while (above_[core] != core) core = above_[core] = above_[above_[core]];
    return core;
  }
  void join(std::size_t a, std::size_t b) { above_[of(a)] = of(b); }

 private:
  std::vector<std::size_t> above_;
};

// Programs that keep to parts of the chip of several cores each, as those of sub-devices do.
void find_parts(DeviceSum& device, const std::map<std::pair<std::size_t, std::size_t>, CorePart>& parts) {
  constexpr std::size_t kMostParts = 8;
  CoreParts joined(device.cores);
  std::vector<std::size_t> first(device.runs.size(), device.cores);
  for (const auto& [place, part] : parts) {
    const auto [run, core] = place;
    if (core >= device.cores) return;
    if (first[run] == device.cores) first[run] = core;
    joined.join(core, first[run]);
  }
  std::map<std::size_t, std::set<std::size_t>> cores;
  for (const auto& [place, part] : parts) cores[joined.of(place.second)].insert(place.second);
  if (cores.size() < 2 || cores.size() > kMostParts) return;
  const bool all_wide = std::ranges::all_of(cores, [](const auto& each) { return each.second.size() > 1; });
  if (!all_wide) return;
  device.parts = cores.size();
  for (std::size_t run = 0; run < device.runs.size(); ++run) {
    if (first[run] == device.cores) continue;
    const auto part = cores.find(joined.of(first[run]));
    device.runs[run].part = static_cast<std::size_t>(std::distance(cores.begin(), part));
    device.runs[run].part_cores = part->second.size();
  }
}

void measure_runs(DeviceSum& device, const std::vector<KernelZone>& zones, const std::vector<CoreWait>& core_waits,
                  const std::vector<TrackNumber>& core_tracks) {
  std::vector<ProgramRun>& runs = device.runs;
  std::ranges::sort(runs, {}, &ProgramRun::begin_ns);
  const auto run_at = [&runs](std::int64_t ns) -> std::optional<std::size_t> {
    auto run = std::ranges::upper_bound(runs, ns, {}, &ProgramRun::begin_ns);
    if (run == runs.begin() || (--run)->end_ns < ns) return std::nullopt;
    return static_cast<std::size_t>(run - runs.begin());
  };
  std::map<std::pair<std::size_t, std::size_t>, CorePart> parts;  // by run and core
  for (const KernelZone& zone : zones) {
    const auto run = run_at(zone.begin_ns);
    if (!run) continue;
    CorePart& part = parts[{*run, zone.core}];
    part.begin_ns = std::min(part.begin_ns, zone.begin_ns);
    part.end_ns = std::max(part.end_ns, zone.end_ns);
  }
  for (const CoreWait& wait : core_waits) {
    const auto run = run_at(wait.at_ns);
    const auto part = run ? parts.find({*run, wait.core}) : parts.end();
    if (part == parts.end()) continue;
    std::int64_t& sum = wait.for_data ? part->second.data_wait_ns : part->second.room_wait_ns;
    sum = std::max(sum, std::min(wait.length_ns, part->second.length_ns()));
  }
  for (const auto& [place, part] : parts) {
    ProgramRun& run = runs[place.first];
    const std::int64_t length = part.length_ns();
    ++run.cores;
    run.mean_ns += static_cast<double>(length);
    run.data_wait_ns += part.data_wait_ns;
    run.room_wait_ns += part.room_wait_ns;
    run.without_data_wait_ns = std::max(run.without_data_wait_ns, length - part.data_wait_ns);
    run.without_room_wait_ns = std::max(run.without_room_wait_ns, length - part.room_wait_ns);
    if (length <= run.longest_ns) continue;
    run.longest_ns = length;
    if (place.second < core_tracks.size()) run.longest_track = core_tracks[place.second];
  }
  for (ProgramRun& run : runs) run.mean_ns = run.cores == 0 ? 0 : run.mean_ns / static_cast<double>(run.cores);
  find_parts(device, parts);
}

}  // namespace

void EvidenceSum::add(EventId event, TrackNumber track, std::int64_t begin_ns, std::int64_t end_ns, std::uint64_t size,
                      StringId line, bool own) {
  time.add(begin_ns, end_ns);
  if (own) ++count;
  bytes += size;
  sum_ns += end_ns - begin_ns;
  if (begin_ns < stretch.begin_ns) first = event;
  stretch.begin_ns = std::min(stretch.begin_ns, begin_ns);
  stretch.end_ns = std::max(stretch.end_ns, end_ns);
  if (line != 0) add_line(line, end_ns - begin_ns);
  if (track != open_track_) {
    if (open_events_ > 0) tracks[open_track_] += open_events_;
    open_track_ = track;
    open_events_ = 0;
  }
  if (own) ++open_events_;
}

// Most have few lines: there are more places once two of them want the same.
void EvidenceSum::add_line(StringId line, std::int64_t ns) {
  if (open_lines_.empty()) open_lines_.resize(kFirstOpenLines);
  OpenLine* open = &open_lines_[line & (open_lines_.size() - 1)];
  if (open->line != line && open->line != 0 && open_lines_.size() < kOpenLines) {
    const std::size_t more = 4 * open_lines_.size();
    close_lines();
    open_lines_.resize(more);
    open = &open_lines_[line & (more - 1)];
  }
  if (open->line != line) {
    if (open->line != 0) lines[open->line] += open->ns;
    *open = {line, 0};
  }
  open->ns += ns;
}

void EvidenceSum::close_lines() {
  for (const OpenLine& open : open_lines_) {
    if (open.line != 0) lines[open.line] += open.ns;
  }
  open_lines_ = {};
}

void EvidenceSum::clear_open() {
  time.close_window();
  time.free_room();
  close_lines();
  if (open_events_ > 0) tracks[open_track_] += open_events_;
  open_events_ = 0;
}

void EvidenceSum::append(const EvidenceSum& other) {
  time.add(other.time);
  count += other.count;
  bytes += other.bytes;
  sum_ns += other.sum_ns;
  if (other.stretch.begin_ns < stretch.begin_ns) first = other.first;
  stretch.begin_ns = std::min(stretch.begin_ns, other.stretch.begin_ns);
  stretch.end_ns = std::max(stretch.end_ns, other.stretch.end_ns);
  merge_part(lines, other.lines);
  merge_part(tracks, other.tracks);
}

StringId EvidenceSum::costliest_line() const {
  StringId best = 0;
  std::int64_t most = 0;
  for (const auto& [line, ns] : lines) {
    if (ns > most || (ns == most && line < best)) best = line, most = ns;
  }
  return best;
}

std::int64_t DeviceSum::active_ns() const noexcept {
  std::int64_t sum = 0;
  for (const std::int64_t each : times_ns) sum += each;
  return sum;
}

std::int64_t DeviceSum::active_ns(WorkUnit unit) const {
  DeviceActivity of;
  of.times_ns = times_ns;
  return of.active_ns(unit);
}

Stretches DeviceSum::gap_stretches() const {
  Stretches stretches;
  for (const DeviceGap& each : gaps) stretches.emplace_back(each.begin_ns, each.end_ns);
  return stretches;
}

Result<std::vector<DeviceSum>> device_sums(const QueryContext& query, const EventFilter& filter) {
  const Snapshot& snapshot = *query.snapshot;
  const TimeRange wanted = filter.range.value_or(TimeRange{});
  const TimeRange range{std::max(wanted.begin_ns, snapshot.begin_ns), std::min(wanted.end_ns, snapshot.end_ns)};
  const SumsPlan plan(query, filter);
  auto found = gather_windows(
      query, plan.chosen, range, SumsWorker(query, plan),
      [](const ScannedChunk& chunk, const ScanWindow& window, SumsWorker& worker) { worker.add(chunk, window); },
      [](const ScanWindow&, SumsWorker& worker) { worker.close(); });
  if (!found) return found.error();
  std::vector<DeviceSum> devices = plan.blank;
  for (std::size_t d = 0; d < devices.size(); ++d) merge_part(devices[d], std::move(found->sums[d]));
  join_windows(devices, found->edges);
  const std::vector<std::int64_t>& busy = found->engine_busy;
  for (std::size_t t = 0; t < busy.size(); ++t) {
    if (busy[t] <= 0) continue;
    const Track& track = *snapshot.tracks[t].track;
    devices[plan.devices.of_track(t)].engines.push_back({track.number, busy[t], track.kind == "stream"});
  }
  for (std::size_t d = 0; d < devices.size(); ++d) {
    devices[d].has_core_waits = !found->core_waits[d].empty();
    devices[d].cores = plan.cores[d].size();
    measure_runs(devices[d], found->zones[d], found->core_waits[d], plan.core_tracks[d]);
  }
  std::erase_if(devices, [](const DeviceSum& each) { return each.stretch.empty(); });
  return devices;
}

}  // namespace accelscope::analysis
