#include "core/analysis/selection/summary.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <map>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/analysis/selection/summary_index.h"
#include "core/analysis/selection/summary_tally.h"
#include "core/analysis/time/work_kind.h"
#include "core/model/source_location.h"
#include "core/model/track_kinds.h"
#include "core/scan/event_mask.h"
#include "core/scan/group_by.h"

namespace accelscope::analysis {
namespace {

// What a range of one lane is answered from, with the least to decode: kept stretches taken whole, what lies outside of
// the range taken off them, and parts of chunks that have to be read.

// All of a chunk's parts.
inline constexpr std::uint32_t kAllParts = ~std::uint32_t{0};

// Where an answer comes from. Events may be added up as they lie inside the range, or a kept stretch may be taken whole
// and what lies outside of the range taken off it, whichever is less to decode.
struct Cover {
  struct Stretch {
    const PackedStretch* stretch = nullptr;
    std::uint32_t chunk = 0;  // its first
    bool adds = true;         // else it is taken off
  };
  // Parts of a chunk to decode: bit p is part p.
  struct Parts {
    std::uint32_t chunk = 0;
    std::uint32_t inside = 0;   // to add
    std::uint32_t outside = 0;  // to take off
  };
  double cost = 0;  // ns, roughly
  std::vector<Stretch> stretches;
  std::vector<Parts> parts;

  void add(Cover&& other) {
    cost += other.cost;
    stretches.insert(stretches.end(), other.stretches.begin(), other.stretches.end());
    parts.insert(parts.end(), other.parts.begin(), other.parts.end());
  }
};

// Parts of a chunk, a bit for each.
static_assert(kMaxChunkEvents / (kBlockEvents * SummaryIndex::kBlocksPerPart) <= 31);

// Measured: an event that is decoded, an entry of a stretch, what a chunk to read costs beside its events. In ns.
constexpr double kEventCost = 20, kEntryCost = 4, kStretchCost = 200, kChunkCost = 30'000;

// Finds the cheapest cover of a range in one lane.
class LanePlanner {
 public:
  LanePlanner(const LaneSnapshot& lane, const TickRange& range, const SummaryIndex::Lane* known)
      : lane_(lane), range_(range), known_(known) {}

  [[nodiscard]] Cover run() const {
    const ChunkSpan span = chunks_in(lane_, range_);
    const bool has_head = known_ != nullptr && known_->head != nullptr && known_->head->is_exact() &&
                          known_->head_chunks <= lane_.chunk_count && span.first < known_->head_chunks;
    if (!has_head) return roots(span.first, span.last, false).inside;
    Cover cover = head(*known_->head, known_->head_chunks);
    cover.add(roots(known_->head_chunks, span.last, false).inside);
    return cover;
  }

 private:
  static constexpr unsigned kBits = std::bit_width(SummaryIndex::kFanout) - 1;
  [[nodiscard]] static constexpr unsigned shift(std::size_t level) noexcept {
    return static_cast<unsigned>(level) * kBits;
  }
  // Whether the stretch lies within what the index knows and the snapshot has.
  [[nodiscard]] bool has(std::size_t level, std::uint32_t index) const {
    if (known_ == nullptr || index >= known_->levels[level].size()) return false;
    return (std::uint64_t{index} + 1) << shift(level) <= lane_.chunk_count;
  }
  [[nodiscard]] const PackedStretch* retained(std::size_t level, std::uint32_t index) const {
    if (known_ == nullptr || index >= known_->levels[level].size()) return nullptr;
    return known_->levels[level][index].get();
  }
  [[nodiscard]] const SummaryIndex::Chunk* known_chunk(std::uint32_t chunk) const {
    return known_ != nullptr && chunk < known_->chunks.size() ? known_->chunks[chunk].get() : nullptr;
  }

  enum class Place : std::uint8_t { outside, cut, inside };
  [[nodiscard]] Place place(std::int64_t begin, std::int64_t end) const noexcept {
    if (begin >= range_.end || end < range_.begin) return Place::outside;
    return range_.covers(begin, end) ? Place::inside : Place::cut;
  }
  [[nodiscard]] Place place(std::size_t level, std::uint32_t index) const {
    const std::uint32_t last = ((index + 1) << shift(level)) - 1;
    return place(lane_.chunk(index << shift(level)).begin_ticks, lane_.chunk(last).end_ticks);
  }

  // All events of the stretch, to be added.
  [[nodiscard]] Cover whole(std::size_t level, std::uint32_t index, bool adds) const {
    Cover cover;
    if (const PackedStretch* stretch = retained(level, index)) {
      cover.cost = cost_of(*stretch);
      cover.stretches.push_back({stretch, index << shift(level), adds});
      return cover;
    }
    if (level == 0) return parts(index, adds);
    for (std::uint32_t i = 0; i < SummaryIndex::kFanout; ++i) {
      cover.add(whole(level - 1, index * SummaryIndex::kFanout + i, adds));
    }
    return cover;
  }
  // What lies inside the range, to be added, and outside of it, to be taken off.
  struct Sides {
    Cover inside, outside;
  };
  [[nodiscard]] Cover head(const PackedStretch& stretch, std::uint32_t chunks) const {
    Sides both;
    if (place(lane_.chunk(0).begin_ticks, lane_.chunk(chunks - 1).end_ticks) == Place::inside) {
      both.inside.stretches.push_back({&stretch, 0, true});
      return both.inside;
    }
    both = roots(0, chunks, true);
    use_whole(stretch, 0, both);
    return both.inside;
  }
  // Of the largest stretches around the chunks [first, last).
  [[nodiscard]] Sides roots(std::uint32_t first, std::uint32_t last, bool wants_outside) const {
    Sides both;
    for (std::uint32_t chunk = first; chunk < last;) {
      std::size_t level = 0;
      while (level + 1 < SummaryIndex::kLevels && has(level + 1, chunk >> shift(level + 1))) ++level;
      const std::uint32_t index = chunk >> shift(level);
      Sides root = sides(level, index, wants_outside);
      both.inside.add(std::move(root.inside));
      both.outside.add(std::move(root.outside));
      chunk = (index + 1) << shift(level);
    }
    return both;
  }
  [[nodiscard]] Sides sides(std::size_t level, std::uint32_t index, bool wants_outside) const {
    const Place where = place(level, index);
    if (where == Place::inside) return {whole(level, index, true), {}};
    if (where == Place::outside) return {{}, wants_outside ? whole(level, index, false) : Cover{}};
    const PackedStretch* stretch = retained(level, index);
    if (stretch != nullptr && !stretch->is_exact()) stretch = nullptr;
    wants_outside = wants_outside || stretch != nullptr;
    Sides both;
    if (level == 0) {
      both.inside = parts(index, true);
      if (wants_outside) both.outside = parts(index, false);
    } else {
      for (std::uint32_t i = 0; i < SummaryIndex::kFanout; ++i) {
        Sides child = sides(level - 1, index * SummaryIndex::kFanout + i, wants_outside);
        both.inside.add(std::move(child.inside));
        both.outside.add(std::move(child.outside));
      }
    }
    if (stretch != nullptr) use_whole(*stretch, index << shift(level), both);
    return both;
  }
  // Each side is also the stretch less its other side.
  static void use_whole(const PackedStretch& stretch, std::uint32_t chunk, Sides& both) {
    const double cost = cost_of(stretch);
    if (both.outside.cost + cost < both.inside.cost) {
      both.inside = both.outside;
      both.inside.cost += cost;
      both.inside.stretches.push_back({&stretch, chunk, true});
    } else if (both.inside.cost + cost < both.outside.cost) {
      both.outside = both.inside;
      both.outside.cost += cost;
      both.outside.stretches.push_back({&stretch, chunk, false});
    }
  }

  // One side of a chunk, from its parts.
  [[nodiscard]] Cover parts(std::uint32_t chunk, bool is_inside) const {
    Cover cover;
    const SummaryIndex::Chunk* known = known_chunk(chunk);
    if (known == nullptr) {
      cover.parts.push_back({chunk, kAllParts, 0});
      cover.cost = kChunkCost + kEventCost * lane_.chunk(chunk).count;
      return cover;
    }
    std::uint32_t decode = 0;
    for (std::size_t p = 0; p < known->parts.size(); ++p) {
      const SummaryIndex::Part& part = known->parts[p];
      const Place where = place(part.begin_ticks, part.end_ticks);
      if (where != Place::cut && (where == Place::inside) != is_inside) continue;
      if (where != Place::cut && part.sums) {
        cover.cost += cost_of(*part.sums);
        cover.stretches.push_back({part.sums.get(), chunk, is_inside});
        continue;
      }
      decode |= std::uint32_t{1} << p;
      cover.cost += kEventCost * events_of(chunk, p) * (where == Place::cut ? share(part, is_inside) : 1);
    }
    if (decode == 0) return cover;
    cover.cost += kChunkCost;
    cover.parts.push_back({chunk, is_inside ? decode : 0, is_inside ? 0 : decode});
    return cover;
  }
  [[nodiscard]] double events_of(std::uint32_t chunk, std::size_t part) const {
    constexpr std::uint32_t kPartEvents = SummaryIndex::kBlocksPerPart * kBlockEvents;
    const std::uint32_t before = static_cast<std::uint32_t>(part) * kPartEvents;
    const std::uint32_t count = lane_.chunk(chunk).count;
    return count > before ? std::min(kPartEvents, count - before) : 0;
  }
  // How much of the part lies on a side.
  [[nodiscard]] double share(const SummaryIndex::Part& part, bool is_inside) const noexcept {
    const auto length = static_cast<double>(part.end_ticks - part.begin_ticks);
    const double shared = static_cast<double>(range_.shared(part.begin_ticks, part.end_ticks));
    const double of_inside = length > 0 ? shared / length : 1;
    return is_inside ? of_inside : 1 - of_inside;
  }
  [[nodiscard]] static double cost_of(const PackedStretch& stretch) noexcept {
    return kStretchCost + kEntryCost * static_cast<double>(stretch.entry_count());
  }

  const LaneSnapshot& lane_;
  TickRange range_;
  const SummaryIndex::Lane* known_;
};

// `known` is what the index holds of the lane, or null; the cover points into it.
[[nodiscard]] Cover cheapest_cover(const LaneSnapshot& lane, const TickRange& range, const SummaryIndex::Lane* known) {
  return LanePlanner(lane, range, known).run();
}

// A sum over lanes of different clocks. Doubles hold sums of whole ns exactly up to 104 days.
struct Sum {
  std::uint32_t key = 0;
  std::uint64_t count = 0;
  double busy_ns = 0;
  std::uint64_t amount = 0;
  void add(const Sum& other) noexcept {
    count += other.count;
    busy_ns += other.busy_ns;
    amount = capped_sum(amount, other.amount);
  }
};

// Of a capped sum; what reached the cap stays there.
[[nodiscard]] std::uint64_t less(std::uint64_t sum, std::uint64_t part) noexcept {
  return sum == ~std::uint64_t{0} ? sum : sum - std::min(part, sum);
}

class SumTable {
 public:
  void add(const Sum& sum) {
    if (places_.size() <= sum.key) places_.resize(std::size_t{sum.key} + 1, 0);
    std::uint32_t& place = places_[sum.key];
    if (place == 0) {
      sums_.push_back({.key = sum.key});
      place = static_cast<std::uint32_t>(sums_.size());
    }
    sums_[place - 1].add(sum);
  }
  // Takes off what the other one, made of a part of the same events, holds. What has no event left goes; nothing can
  // be added afterwards.
  void subtract(const SumTable& other) {
    for (const Sum& sum : other.sums_) {
      if (sum.key >= places_.size() || places_[sum.key] == 0) continue;
      Sum& of = sums_[places_[sum.key] - 1];
      of.count -= sum.count;
      of.busy_ns -= sum.busy_ns;
      of.amount = less(of.amount, sum.amount);
    }
    if (!other.sums_.empty()) std::erase_if(sums_, [](const Sum& sum) { return sum.count == 0; });
    places_.clear();
  }
  [[nodiscard]] const std::vector<Sum>& sums() const noexcept { return sums_; }

 private:
  std::vector<std::uint32_t> places_;  // by key, index into sums_, + 1
  std::vector<Sum> sums_;
};

struct TrackSum {
  std::uint64_t count = 0, bytes = 0;
  double busy_ns = 0, wait_ns = 0;
};

using TextSums = std::unordered_map<std::string, Sum>;

// The lanes that are summarised, and which of them hold work.
struct Lanes {
  LaneIndices indices;
  std::vector<char> works;           // by index into Snapshot::lanes
  std::vector<std::size_t> tracks;   // likewise, index into Snapshot::tracks
  std::vector<std::size_t> kind_of;  // likewise, index into kinds
  struct Kind {
    std::string field;  // behind the names
    WorkKind work = WorkKind::none;
    bool repeats = false;
    std::shared_ptr<const Schema> schema;  // one that says which names wait
    bool operator==(const Kind& other) const {
      return field == other.field && work == other.work && repeats == other.repeats;
    }
  };
  std::vector<Kind> kinds;    // of names
  std::vector<char> nested;   // by lane: calls within calls
  std::vector<char> stacked;  // those, and zones within zones

  Lanes(const Snapshot& snapshot, const EventFilter& filter)
      : works(snapshot.lanes.size(), 0),
        tracks(snapshot.lanes.size(), snapshot.tracks.size()),
        kind_of(snapshot.lanes.size(), 0),
        nested(snapshot.lanes.size(), 0),
        stacked(snapshot.lanes.size(), 0) {
    const WorkKinds work(snapshot);
    bool any_works = false;
    for (std::size_t t = 0; t < snapshot.tracks.size(); ++t) {
      const TrackSnapshot& track = snapshot.tracks[t];
      if (!filter.has_track(track.track->number)) continue;
      const TrackKind kind = track_kind_of(track.track->kind);
      const bool marks = kind.work == WorkKind::host && work_kind_of(track) == WorkKind::none;
      for (const std::uint32_t lane : track.lanes) {
        if (!takes_part_in_summaries(snapshot.lanes[lane].data->kind)) continue;
        indices.push_back(lane);
        const bool instants = snapshot.lanes[lane].data->kind == EventKind::instant;
        const bool commentary =
            kind.commentary || (marks && !instants) || snapshot.lanes[lane].data->kind == EventKind::memory;
        works[lane] = commentary ? 0 : 1;
        tracks[lane] = t;
        kind_of[lane] = place_of({std::string(kind_of_names(snapshot.lanes[lane].schema.get())), work.of_lane(lane),
                                  !work.covers_time(lane), snapshot.lanes[lane].schema});
        nested[lane] = work.of_lane(lane) == WorkKind::host ? 1 : 0;
        stacked[lane] = nested[lane] != 0 || work.has_zones(lane) ? 1 : 0;
        any_works = any_works || !commentary;
      }
    }
    if (!any_works) std::fill(works.begin(), works.end(), 1);
  }

 private:
  // The vendor's field behind the names; one called "name" says nothing, the table does.
  static std::string_view kind_of_names(const Schema* schema) {
    if (schema == nullptr) return "";
    return schema->name_column.empty() || schema->name_column == "name" ? schema->name : schema->name_column;
  }
  std::size_t place_of(Kind kind) {
    const auto found = std::find(kinds.begin(), kinds.end(), kind);
    if (found != kinds.end()) return static_cast<std::size_t>(found - kinds.begin());
    kinds.push_back(std::move(kind));
    return kinds.size() - 1;
  }
};

// What one worker added up.
struct Sums {
  std::uint64_t events = 0, waited_ns = 0, bytes = 0, flops = 0;
  double busy_ns = 0, wait_ns = 0;
  std::array<SumTable, kSummaryTables> tables;  // but names, which are by kind
  std::vector<SumTable> names;                  // by index into Lanes::kinds
  std::array<TextSums, 2> texts;                // lines, layers
  std::vector<TrackSum> lanes;                  // by index
  SummaryTally tally;                           // for chunks that are decoded

  void add(const SummaryStretch& stretch, std::uint32_t lane, double ns_per_tick, const Lanes& all) {
    if (!add_totals(stretch.totals, lane, ns_per_tick, all)) return;
    for (std::size_t i = 0; i < kSummaryTables; ++i) {
      SumTable& table = table_of(i, lane, all);
      for (const SummaryEntry& entry : stretch.of(static_cast<SummaryTable>(i))) {
        table.add({entry.key, entry.count, ns_per_tick * static_cast<double>(entry.busy_ticks), entry.amount});
      }
    }
  }
  void add(const PackedStretch& stretch, std::uint32_t lane, double ns_per_tick, const Lanes& all) {
    if (!add_totals(stretch.totals(), lane, ns_per_tick, all)) return;
    for (std::size_t i = 0; i < kSummaryTables; ++i) {
      SumTable& table = table_of(i, lane, all);
      stretch.for_each(static_cast<SummaryTable>(i), [&](const SummaryEntry& entry) {
        table.add({entry.key, entry.count, ns_per_tick * static_cast<double>(entry.busy_ticks), entry.amount});
      });
    }
  }
  // False: its events are in no table.
  bool add_totals(const SummaryTotals& totals, std::uint32_t lane, double ns_per_tick, const Lanes& all) {
    events += totals.events;
    TrackSum& of_lane = lanes[lane];
    const double busy = ns_per_tick * static_cast<double>(totals.busy_ticks);
    const double wait = ns_per_tick * static_cast<double>(totals.wait_ticks);
    of_lane.count += totals.events;
    of_lane.bytes = capped_sum(of_lane.bytes, totals.bytes);
    of_lane.busy_ns += busy;
    of_lane.wait_ns += wait;
    if (all.works[lane] == 0) return false;
    if (all.nested[lane] == 0) busy_ns += busy;
    wait_ns += wait;
    waited_ns = capped_sum(waited_ns, totals.waited_ns);
    bytes = capped_sum(bytes, totals.bytes);
    flops = capped_sum(flops, totals.flops);
    return true;
  }
  [[nodiscard]] SumTable& table_of(std::size_t table, std::uint32_t lane, const Lanes& all) {
    return static_cast<SummaryTable>(table) == SummaryTable::names ? names[all.kind_of[lane]] : tables[table];
  }
  // The parts of the chunk whose bits are set.
  void decode(const ScannedChunk& chunk, const StringPool& strings, std::uint32_t parts, TallySide side,
              const Lanes& all) {
    if (parts == 0) return;
    if (parts == kAllParts) tally.add(chunk, strings, 0, chunk.view.block_count(), side);
    for (std::uint32_t p = 0; parts != kAllParts && p < 32; ++p) {
      if ((parts >> p & 1) == 0) continue;
      const std::uint32_t first = p * SummaryIndex::kBlocksPerPart;
      tally.add(chunk, strings, first, first + SummaryIndex::kBlocksPerPart, side);
    }
    take_tally(chunk.lane_index, chunk.ns_per_tick, all);
  }
  void take_tally(std::uint32_t lane, double ns_per_tick, const Lanes& all) {
    const auto take_texts = [&](const SummaryTally::Texts& from, TextSums& to) {
      for (const auto& [text, entry] : from) {
        to[text].add({0, entry.count, ns_per_tick * static_cast<double>(entry.busy_ticks), entry.amount});
      }
    };
    if (all.works[lane] != 0) take_texts(tally.line_texts(), texts[0]), take_texts(tally.layer_texts(), texts[1]);
    tally.clear_texts();
    add(tally.take(), lane, ns_per_tick, all);
  }
  void add(const Sums& other) {
    events += other.events;
    waited_ns = capped_sum(waited_ns, other.waited_ns);
    bytes = capped_sum(bytes, other.bytes);
    flops = capped_sum(flops, other.flops);
    busy_ns += other.busy_ns;
    wait_ns += other.wait_ns;
    for (std::size_t i = 0; i < kSummaryTables; ++i) {
      for (const Sum& sum : other.tables[i].sums()) tables[i].add(sum);
    }
    for (std::size_t i = 0; i < names.size(); ++i) {
      for (const Sum& sum : other.names[i].sums()) names[i].add(sum);
    }
    for (std::size_t i = 0; i < texts.size(); ++i) {
      for (const auto& [text, sum] : other.texts[i]) texts[i][text].add(sum);
    }
    for (std::size_t i = 0; i < lanes.size(); ++i) {
      lanes[i].count += other.lanes[i].count;
      lanes[i].bytes = capped_sum(lanes[i].bytes, other.lanes[i].bytes);
      lanes[i].busy_ns += other.lanes[i].busy_ns;
      lanes[i].wait_ns += other.lanes[i].wait_ns;
    }
  }
  // Takes off what is in it. Texts are never taken off: what has them is kept nowhere.
  void subtract(const Sums& other) {
    events -= other.events;
    waited_ns = less(waited_ns, other.waited_ns);
    bytes = less(bytes, other.bytes);
    flops = less(flops, other.flops);
    busy_ns -= other.busy_ns;
    wait_ns -= other.wait_ns;
    for (std::size_t i = 0; i < kSummaryTables; ++i) tables[i].subtract(other.tables[i]);
    for (std::size_t i = 0; i < names.size(); ++i) names[i].subtract(other.names[i]);
    for (std::size_t i = 0; i < lanes.size(); ++i) {
      lanes[i].count -= other.lanes[i].count;
      lanes[i].bytes = less(lanes[i].bytes, other.lanes[i].bytes);
      lanes[i].busy_ns -= other.lanes[i].busy_ns;
      lanes[i].wait_ns -= other.lanes[i].wait_ns;
    }
  }
};

// What is to be done in all lanes.
struct Plan {
  struct Retained {
    const PackedStretch* stretch;
    std::uint32_t lane;
    double ns_per_tick;
    bool adds;
  };
  std::vector<Retained> retained;
  std::vector<ChunkRequest> chunks;
  std::vector<Cover::Parts> parts;  // beside chunks

  void take(const LaneSnapshot& lane, std::uint32_t lane_index, const TickRange& range, const Cover& cover) {
    for (const Cover::Stretch& each : cover.stretches) {
      // Several chunks are only kept as one stretch where the clock has one rate.
      const ChunkPlace& place = lane.chunk(each.chunk);
      retained.push_back(
          {each.stretch, lane_index, mean_ns_per_tick(*lane.clock, place.begin_ticks, place.end_ticks), each.adds});
    }
    for (const Cover::Parts& each : cover.parts) {
      chunks.push_back({lane_index, each.chunk, range});
      parts.push_back(each);
    }
  }
};

std::int64_t whole_ns(double ns) noexcept { return std::llround(std::max(0.0, ns)); }

// The longest ones in front, the rest dropped.
SummaryRows longest(std::vector<SummaryRow> rows) {
  SummaryRows result;
  result.distinct = rows.size();
  const auto longer = [](const SummaryRow& a, const SummaryRow& b) {
    if (a.busy_ns != b.busy_ns) return a.busy_ns > b.busy_ns;
    return a.count != b.count ? a.count > b.count : a.text < b.text;
  };
  const auto head = rows.begin() + static_cast<std::ptrdiff_t>(std::min(rows.size(), SummaryRows::kMost));
  std::partial_sort(rows.begin(), head, rows.end(), longer);
  rows.erase(head, rows.end());
  result.rows = std::move(rows);
  return result;
}

// A million names are not made into text only to be dropped: the longest by time are chosen first.
std::vector<Sum> longest_sums(std::vector<Sum> sums) {
  if (sums.size() <= SummaryRows::kMost) return sums;
  const auto head = sums.begin() + static_cast<std::ptrdiff_t>(SummaryRows::kMost);
  std::nth_element(sums.begin(), head, sums.end(), [](const Sum& a, const Sum& b) {
    if (a.busy_ns != b.busy_ns) return a.busy_ns > b.busy_ns;
    return a.count != b.count ? a.count > b.count : a.key < b.key;
  });
  sums.erase(head, sums.end());
  return sums;
}

SummaryRows name_rows(const std::vector<SumTable>& tables, const std::vector<Lanes::Kind>& kinds,
                      const StringPool& strings) {
  std::vector<SummaryRow> rows;
  std::uint64_t distinct = 0;
  for (std::size_t kind = 0; kind < tables.size(); ++kind) {
    distinct += tables[kind].sums().size();
    const WaitNames waits(kinds[kind].schema.get(), strings);
    for (const Sum& sum : longest_sums(tables[kind].sums())) {
      rows.push_back({std::string(strings.text(sum.key)), kinds[kind].field, sum.count, whole_ns(sum.busy_ns),
                      sum.amount, 0, kinds[kind].work, waits.contains(sum.key), kinds[kind].repeats});
    }
  }
  SummaryRows result = longest(std::move(rows));
  result.distinct = distinct;
  return result;
}

// Layers, and lines without their columns. What has no text is left out.
SummaryRows text_rows(const SumTable& table, const TextSums& texts, const StringPool& strings, bool are_lines) {
  constexpr std::int64_t kNoLine = -1;
  std::map<std::pair<std::string_view, std::int64_t>, Sum> merged;
  const auto add = [&](std::string_view text, const Sum& sum) {
    std::string_view path;
    std::uint32_t line = 0;
    if (are_lines && parse_source_location(text, path, line)) {
      merged[{path, line}].add(sum);
    } else if (!text.empty()) {
      merged[{text, kNoLine}].add(sum);
    }
  };
  for (const Sum& sum : table.sums()) add(strings.text(sum.key), sum);
  for (const auto& [text, sum] : texts) add(text, sum);
  std::vector<SummaryRow> rows;
  rows.reserve(merged.size());
  for (const auto& [place, sum] : merged) {
    std::string text(place.first);
    if (place.second != kNoLine) text += ":" + std::to_string(place.second);
    rows.push_back({std::move(text), "", sum.count, whole_ns(sum.busy_ns), are_lines ? sum.amount : 0,
                    are_lines ? 0 : sum.amount, WorkKind::none, false, false});
  }
  return longest(std::move(rows));
}

std::vector<SummaryBin> bins(const SumTable& table, bool are_sizes) {
  std::vector<Sum> sums = table.sums();
  std::ranges::sort(sums, {}, &Sum::key);
  std::vector<SummaryBin> result;
  const auto begin = [&](std::uint32_t bin) {
    return are_sizes ? size_bin_begin(bin) : static_cast<std::uint64_t>(duration_bin_begin(bin));
  };
  for (const Sum& sum : sums) {
    const bool last = are_sizes && sum.key == 64;
    result.push_back(
        {begin(sum.key), last ? ~std::uint64_t{0} : begin(sum.key + 1), sum.count, whole_ns(sum.busy_ns), sum.amount});
  }
  return result;
}

std::vector<SummaryTrack> track_rows(const Snapshot& snapshot, const Lanes& lanes, const Sums& sums) {
  std::vector<TrackSum> tracks(snapshot.tracks.size());
  for (const std::uint32_t lane : lanes.indices) {
    TrackSum& track = tracks[lanes.tracks[lane]];
    track.count += sums.lanes[lane].count;
    track.bytes = capped_sum(track.bytes, sums.lanes[lane].bytes);
    if (lanes.stacked[lane] != 0) {  // what is deeper lies within what is above: the fullest lane stands for all
      track.busy_ns = std::max(track.busy_ns, sums.lanes[lane].busy_ns);
      track.wait_ns = std::max(track.wait_ns, sums.lanes[lane].wait_ns);
      continue;
    }
    track.busy_ns += sums.lanes[lane].busy_ns;
    track.wait_ns += sums.lanes[lane].wait_ns;
  }
  std::vector<SummaryTrack> rows;
  for (std::size_t t = 0; t < tracks.size(); ++t) {
    if (tracks[t].count == 0) continue;
    rows.push_back({snapshot.tracks[t].track->number, tracks[t].count, whole_ns(tracks[t].busy_ns),
                    whole_ns(tracks[t].wait_ns), tracks[t].bytes});
  }
  return rows;
}

void collect(const Sums& sums, const Snapshot& snapshot, const Lanes& lanes, SelectionSummary& summary) {
  const auto table = [&](SummaryTable which) -> const SumTable& {
    return sums.tables[static_cast<std::size_t>(which)];
  };
  summary.event_count = sums.events;
  summary.busy_ns = whole_ns(sums.busy_ns);
  summary.wait_ns = whole_ns(sums.wait_ns);
  summary.waited_ns = static_cast<std::int64_t>(std::min<std::uint64_t>(sums.waited_ns, INT64_MAX));
  summary.bytes = sums.bytes;
  summary.flops = sums.flops;
  summary.names = name_rows(sums.names, lanes.kinds, *snapshot.strings);
  summary.lines = text_rows(table(SummaryTable::lines), sums.texts[0], *snapshot.strings, true);
  summary.layers = text_rows(table(SummaryTable::layers), sums.texts[1], *snapshot.strings, false);
  summary.sizes = bins(table(SummaryTable::sizes), true);
  summary.durations = bins(table(SummaryTable::durations), false);
  summary.tracks = track_rows(snapshot, lanes, sums);
}

}  // namespace

std::vector<SummaryRow> with_self_times(std::vector<SummaryRow> lines, const SelfTimes& own,
                                        const StringPool& strings) {
  std::map<std::string, SelfTime, std::less<>> by_line;
  for (const auto& [location, time] : own) {
    std::string_view path;
    std::uint32_t line = 0;
    if (!parse_source_location(strings.text(location), path, line)) continue;
    by_line[std::string(path) + ":" + std::to_string(line)].add(time);
  }
  for (SummaryRow& row : lines) {
    const auto line = by_line.find(row.text);
    if (line != by_line.end()) row.busy_ns = line->second.busy_ns;
  }
  std::ranges::stable_sort(lines, std::ranges::greater{}, &SummaryRow::busy_ns);
  return lines;
}

std::uint64_t copied_bytes(const Snapshot& snapshot, const WorkKinds& kinds, const SelectionSummary& summary) {
  std::uint64_t bytes = 0;
  for (const SummaryTrack& each : summary.tracks) {
    const TrackSnapshot* track = snapshot.find_track(each.track);
    if (track == nullptr || work_kind_of(*track) != WorkKind::transfer || only_fills(*track)) continue;
    if (!track->lanes.empty() && kinds.covers_time(track->lanes.front())) bytes = capped_sum(bytes, each.bytes);
  }
  return bytes;
}

LaneIndices working_lanes(const Snapshot& snapshot, const EventFilter& filter) {
  const Lanes all(snapshot, filter);
  LaneIndices working;
  for (const std::uint32_t lane : all.indices) {
    if (all.works[lane] != 0) working.push_back(lane);
  }
  return working;
}

Result<std::shared_ptr<const SelectionSummary>> selection_summary(const QueryContext& query, const EventFilter& filter,
                                                                  const SummaryIndex* index) {
  const Snapshot& snapshot = *query.snapshot;
  const TimeRange range = filter.range.value_or(TimeRange{});
  auto summary = std::make_shared<SelectionSummary>();
  summary->filter = filter;
  summary->snapshot_version = snapshot.version;
  summary->range = {std::max(range.begin_ns, snapshot.begin_ns), std::min(range.end_ns, snapshot.end_ns)};
  summary->scanned = index == nullptr || query.mask != nullptr;
  const Lanes lanes(snapshot, filter);
  Plan plan;
  for (const std::uint32_t i : lanes.indices) {
    const LaneSnapshot& lane = snapshot.lanes[i];
    const SummaryIndex::Lane* known = summary->scanned ? nullptr : index->lane(i, lane.number());
    if (query.mask && query.mask->count(i) == 0) continue;
    const TickRange ticks = tick_range(lane, range);
    plan.take(lane, i, ticks, cheapest_cover(lane, ticks, known));
  }
  summary->decoded_chunks = plan.chunks.size();
  struct Worker {
    Sums added, taken_off;
    auto measures() { return std::tie(added, taken_off); }
  };
  WorkerParts parts(query, [&] {
    Worker worker;
    for (Sums* sums : {&worker.added, &worker.taken_off}) {
      sums->lanes.resize(snapshot.lanes.size());
      sums->names.resize(lanes.kinds.size());
    }
    return worker;
  });
  constexpr std::size_t kAtOnce = 32;
  query.pool.for_each((plan.retained.size() + kAtOnce - 1) / kAtOnce, query.control,
                      [&](std::size_t part, std::size_t worker) {
                        const std::size_t end = std::min(plan.retained.size(), (part + 1) * kAtOnce);
                        for (std::size_t i = part * kAtOnce; i < end; ++i) {
                          const Plan::Retained& retained = plan.retained[i];
                          Sums& sums = retained.adds ? parts.of(worker).added : parts.of(worker).taken_off;
                          sums.add(*retained.stretch, retained.lane, retained.ns_per_tick, lanes);
                        }
                      });
  const Result<void> scanned = scan_chunks(query, plan.chunks, [&](const ScannedChunk& chunk, std::size_t worker) {
    const Cover::Parts& cover = plan.parts[chunk.request];
    parts.of(worker).added.decode(chunk, *snapshot.strings, cover.inside, TallySide::inside, lanes);
    parts.of(worker).taken_off.decode(chunk, *snapshot.strings, cover.outside, TallySide::outside, lanes);
  });
  if (!scanned) return scanned.error();
  Worker sums = parts.merged();
  sums.added.subtract(sums.taken_off);
  collect(sums.added, snapshot, lanes, *summary);
  return std::shared_ptr<const SelectionSummary>(std::move(summary));
}

LaneIndices active_lanes(const Snapshot& snapshot, const EventFilter& filter) {
  const WorkKinds work(snapshot);
  LaneIndices lanes;
  LaneIndices repeated;
  for (const TrackSnapshot& track : snapshot.tracks) {
    if (!filter.has_track(track.track->number)) continue;
    for (const std::uint32_t lane : track.lanes) {
      if (is_device_work(work.of_lane(lane))) (work.covers_time(lane) ? lanes : repeated).push_back(lane);
    }
  }
  if (!lanes.empty()) return lanes;
  return repeated.empty() ? working_lanes(snapshot, filter) : repeated;  // transfers alone were asked for
}

bool has_cut_times(const Snapshot& snapshot) noexcept { return !snapshot.meta_value(kCutTimesFact).empty(); }

std::int64_t active_ns(const CoveredTime& covered, bool cut_times) noexcept {
  return covered.length_ns() + (cut_times ? static_cast<std::int64_t>(covered.stretches() / 2) : 0);
}

}  // namespace accelscope::analysis
