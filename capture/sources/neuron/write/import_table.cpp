#include "capture/sources/neuron/write/import_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "capture/sources/tracks/track_events.h"
#include "core/base/capped.h"
#include "core/base/text.h"

namespace accelscope::capture::sources::neuron {
namespace {

// Matrix work first, then what feeds it, then control.
constexpr std::array<std::string_view, 6> kEngineOrder = {"TensorMatrix", "Tensor", "Vector",
                                                          "Scalar",       "GpSimd", "Sync"};

[[nodiscard]] std::size_t engine_rank(std::string_view name) noexcept {
  return static_cast<std::size_t>(std::find(kEngineOrder.begin(), kEngineOrder.end(), name) - kEngineOrder.begin());
}

}  // namespace

std::string TrackPlan::key_of(SchemaNumber schema, std::string_view kind, std::string_view name,
                              std::int64_t core) const {
  return fmt::format("{} {} {} {}", schema, core, kind, name);
}

void TrackPlan::set_parent_name(std::uint32_t track, SchemaNumber schema, std::string name) {
  tracks_[track].parent_schema = schema;
  tracks_[track].parent_name = std::move(name);
}

TrackNumber TrackPlan::parent_of(const Planned& planned) const {
  if (planned.parent != kNone) return written(planned.parent);
  if (planned.parent_name.empty()) return kNone;
  const auto found = by_key_.find(key_of(planned.parent_schema, planned.track.kind, planned.parent_name, planned.core));
  return found == by_key_.end() ? kNone : tracks_[found->second].number;
}

std::uint32_t TrackPlan::track(SchemaNumber schema, std::string_view kind, std::string_view name, std::int64_t core) {
  std::string key = key_of(schema, kind, name, core);
  if (const auto found = by_key_.find(key); found != by_key_.end()) return found->second;
  const auto number = static_cast<std::uint32_t>(tracks_.size());
  Planned planned;
  planned.track.name = name;
  planned.track.kind = kind;
  planned.track.schema = schema;
  planned.core = core;
  planned.canonical = number;
  tracks_.push_back(std::move(planned));
  by_key_.emplace(std::move(key), number);
  return number;
}

bool TrackPlan::comes_before(std::size_t a, std::size_t b) const {
  const Planned& left = tracks_[a];
  const Planned& right = tracks_[b];
  const bool left_is_whole = left.core == CorePlan::kWhole;
  if (left_is_whole != (right.core == CorePlan::kWhole)) return left_is_whole != whole_is_last_;
  if (left.core != right.core) return left.core < right.core;
  if (left.track.kind != right.track.kind) return left.track.kind < right.track.kind;
  const bool engines = left.track.kind == "engine";
  const std::size_t left_rank = engines ? engine_rank(left.track.name) : 0;
  const std::size_t right_rank = engines ? engine_rank(right.track.name) : 0;
  if (left_rank != right_rank) return left_rank < right_rank;
  return natural_less(left.track.name, right.track.name);
}

void TrackPlan::settle(const CorePlan& cores) {
  by_key_.clear();
  whole_is_last_ = cores.count() > 1;
  for (std::uint32_t i = 0; i < tracks_.size(); ++i) {
    Planned& planned = tracks_[i];
    planned.core = cores.core_of(planned.core);
    const std::string key = key_of(planned.track.schema, planned.track.kind, planned.track.name, planned.core);
    planned.canonical = by_key_.emplace(key, i).first->second;
  }
}

bool TrackPlan::has_joined(SchemaNumber schema) const noexcept {
  for (std::uint32_t i = 0; i < tracks_.size(); ++i) {
    if (tracks_[i].track.schema == schema && tracks_[i].canonical != i) return true;
  }
  return false;
}

void TrackPlan::write(SessionWriter& writer, const CorePlan& cores, ClockNumber clock) {
  std::vector<std::size_t> order;
  bool any_of_whole = false;
  for (std::size_t i = 0; i < tracks_.size(); ++i) {
    if (tracks_[i].canonical != i) continue;
    order.push_back(i);
    any_of_whole = any_of_whole || tracks_[i].core == CorePlan::kWhole;
  }
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return comes_before(a, b); });
  std::int64_t place = 0;
  for (const std::size_t index : order) {
    Planned& planned = tracks_[index];
    Track track = planned.track;
    if (track.host.empty() && track.device.empty()) track.device = cores.device(planned.core);
    if (!planned.title.empty()) track.name = planned.title;
    track.clock = planned.timed ? clock : kNone;
    track.parent = parent_of(planned);  // comes first in natural order: its name begins this one's
    track.order = place++;
    planned.number = writer.add_track(track);
    planned.track = std::move(track);
  }
  // The device of all cores has the figures of all, so there is one even where nothing else lies on it.
  if (!any_of_whole && cores.count() > 1) {
    (void)writer.add_track(
        {.name = "Logical core", .kind = "table", .device = cores.device(CorePlan::kWhole), .order = place});
  }
}

ImportTable::ImportTable(Schema schema, std::span<const std::string_view> consumed, ChunkSpill& spill,
                         SessionWriter& writer)
    : spill_(spill),
      sorter_(std::make_unique<EventSorter>(schema, spill, EventSorter::Options{})),
      binding_(schema, consumed),
      number_(writer.add_schema(std::move(schema))) {}

std::size_t ImportTable::column(std::string_view name) const noexcept { return schema().find(name).value_or(SIZE_MAX); }

std::uint32_t ImportTable::track(TrackPlan& plan, std::string_view kind, std::string_view prefix, std::string_view name,
                                 std::int64_t core) {
  constexpr std::size_t kMostPlaces = 64;
  if (last_place_ >= tracks_.size() || tracks_[last_place_].first != core) {
    const auto of_place = [core](const auto& known) { return known.first == core; };
    const auto found = std::find_if(tracks_.begin(), tracks_.end(), of_place);
    last_place_ = static_cast<std::size_t>(found - tracks_.begin());
    if (found == tracks_.end() && tracks_.size() < kMostPlaces) tracks_.emplace_back(core, TracksByName{});
  }
  TracksByName* const known = last_place_ < tracks_.size() ? &tracks_[last_place_].second : nullptr;
  if (known != nullptr) {
    if (const auto found = known->find(name); found != known->end()) return found->second;
  }
  const std::uint32_t number = plan.track(number_, kind, std::string(prefix).append(name), core);
  const bool has_unit = schema().kind == EventKind::counter || schema().kind == EventKind::memory;
  if (has_unit) plan.set_unit(number, schema().columns.front().unit);
  if (!timed()) plan.set_untimed(number);
  if (known != nullptr) known->emplace(name, number);
  return number;
}

Result<void> ImportTable::join_tracks(const TrackPlan& plan) {
  auto joined = std::make_unique<EventSorter>(schema(), spill_, EventSorter::Options{});
  const Result<void> merged = sorter_->merge([&](const SortedEvent& event) {
    joined->begin();
    copy_values(event, schema(), *joined);
    joined->commit(plan.canonical(event.track), event.start, event.duration, event.name);
    return true;
  });
  if (merged) sorter_ = std::move(joined);
  return merged;
}

Result<void> ImportTable::write(const TrackPlan& plan, SessionWriter& writer, const tracks::TimeBounds& bounds,
                                std::int64_t ticks_per_ns, const Visitor& visitor) {
  if (plan.has_joined(number_)) {
    if (Result<void> joined = join_tracks(plan); !joined) return joined;
  }
  const std::vector<Column>& columns = schema().columns;
  std::uint32_t track = kNone;
  TrackNumber aside = kNone;  // for those of the track at hand whose times cannot be true
  const Result<void> merged = sorter_->merge([&](const SortedEvent& event) {
    // A track that is done needs its buffers no longer: a profile may have hundreds.
    if (event.track != track && track != kNone) writer.release_buffers();
    if (event.track != track) aside = kNone;
    track = event.track;
    const bool doubtful = timed() && !bounds.hold(event.start, event.duration);
    if (doubtful && aside == kNone) {
      const Track& of = plan.defined(event.track);
      aside = writer.add_track(tracks::doubtful_track(of, kNone, of.order));
    }
    doubtful_ += doubtful ? 1 : 0;
    Row row = writer.begin_event(doubtful ? aside : plan.written(event.track), event.start, event.duration, event.name);
    copy_values(event, schema(), row);
    for (std::size_t i = 0; ticks_per_ns != 1 && i < columns.size(); ++i) {
      if (columns[i].type == ColumnType::int64 && columns[i].unit == Unit::ns && event.has(i)) {
        row.integer(i, event.int64(i) / ticks_per_ns);
      }
    }
    if (visitor && !doubtful) visitor(event, row);
    return !writer.cancelled();
  });
  if (!merged) return merged;
  writer.release_buffers();
  return writer.status();
}

namespace {

constexpr std::int64_t kLeastBucketNs = 1000;  // as fine as the figure means anything: a few matrix multiplications
constexpr std::int64_t kMostBuckets = 1 << 16;

}  // namespace

PeUtilization::PeUtilization(std::int64_t begin, std::int64_t end, std::int64_t ticks_per_ns, double macs_per_ns)
    : begin_(begin), bucket_(std::max(kLeastBucketNs * ticks_per_ns, (end - begin) / kMostBuckets + 1)) {
  macs_per_bucket_ = macs_per_ns * static_cast<double>(bucket_) / static_cast<double>(ticks_per_ns);
  macs_.resize(static_cast<std::size_t>((end - begin) / bucket_ + 1));
}

void PeUtilization::add(std::int64_t start, std::int64_t duration, std::int64_t macs) {
  any_ = true;
  const auto bucket_of = [&](std::int64_t ticks) {
    return std::clamp<std::int64_t>((ticks - begin_) / bucket_, 0, std::ssize(macs_) - 1);
  };
  const std::int64_t first = bucket_of(start);
  const std::int64_t last = bucket_of(start + std::max<std::int64_t>(duration - 1, 0));
  for (std::int64_t bucket = first; bucket <= last; ++bucket) {
    const std::int64_t from = std::max(start, begin_ + bucket * bucket_);
    const std::int64_t until = std::min(start + duration, begin_ + (bucket + 1) * bucket_);
    const double share = first == last ? 1.0 : static_cast<double>(until - from) / static_cast<double>(duration);
    macs_[static_cast<std::size_t>(bucket)] += share * static_cast<double>(macs);
  }
}

void PeUtilization::samples(const std::function<void(std::int64_t ticks, double share)>& sample) const {
  double last = -1;
  for (std::size_t i = 0; i < macs_.size(); ++i) {
    const double share = macs_per_bucket_ > 0 ? macs_[i] / macs_per_bucket_ : 0;
    if (share != last) sample(begin_ + static_cast<std::int64_t>(i) * bucket_, share);
    last = share;
  }
  if (last > 0) sample(begin_ + std::ssize(macs_) * bucket_, 0);
}

void TriggerLinks::add_instruction(std::int64_t start, std::int64_t triggered_start, std::uint64_t id) {
  instructions_.push_back({start, triggered_start, id});
}

void TriggerLinks::add_transfer(std::int64_t start, std::int64_t trigger_start, std::uint64_t id) {
  transfers_.push_back({trigger_start, start, id});
}

void TriggerLinks::links(
    const std::function<void(std::uint64_t instruction, std::uint64_t transfer, std::int64_t start)>& link) {
  std::sort(instructions_.begin(), instructions_.end());
  for (const End& transfer : transfers_) {
    const auto by_start = [](const End& a, const End& b) { return a.instruction_start < b.instruction_start; };
    const auto [first, last] = std::equal_range(instructions_.begin(), instructions_.end(), transfer, by_start);
    const auto agrees = [&](const End& instruction) { return instruction.transfer_start == transfer.transfer_start; };
    auto found = std::find_if(first, last, agrees);
    // The instruction may name another of several transfers that it set off.
    if (found == last && last - first == 1) found = first;
    if (found != last) link(found->id, transfer.id, transfer.transfer_start);
  }
}

void SpillLifetimes::add(std::string_view variable, std::int64_t start, std::int64_t end, std::int64_t bytes,
                         bool is_save) {
  auto found = moves_.find(variable);
  if (found == moves_.end()) found = moves_.emplace(std::string(variable), std::vector<Move>{}).first;
  found->second.push_back({start, end, bytes, is_save});
}

std::optional<std::int64_t> EventStarts::find(std::uint64_t id) {
  if (!sorted_) std::sort(starts_.begin(), starts_.end());
  sorted_ = true;
  const auto found = std::lower_bound(starts_.begin(), starts_.end(), Start{id, INT64_MIN});
  return found == starts_.end() || found->id != id ? std::nullopt : std::optional(found->start);
}

std::vector<SpillLifetimes::Block> SpillLifetimes::blocks() const {
  std::vector<Block> blocks;
  for (const auto& [variable, unsorted] : moves_) {
    std::vector<Move> moves = unsorted;
    std::sort(moves.begin(), moves.end(), [](const Move& a, const Move& b) { return a.start < b.start; });
    // Saves after a reload begin the next lifetime; saves in a row fill one block.
    Block block;
    bool reloaded = true;
    for (const Move& move : moves) {
      if (reloaded && move.is_save) {
        if (block.bytes > 0) blocks.push_back(block);
        block = {variable, move.start, move.end, 0};
        reloaded = false;
      } else if (block.variable.empty()) {
        block = {variable, move.start, move.end, 0};  // its save is not in the profile
      }
      if (move.is_save) block.bytes = capped_sum(block.bytes, move.bytes);
      if (!move.is_save) {
        if (block.bytes == 0) block.bytes = move.bytes;
        reloaded = true;
      }
      block.end = std::max(block.end, move.end);
    }
    if (block.bytes > 0) blocks.push_back(block);
  }
  std::stable_sort(blocks.begin(), blocks.end(), [](const Block& a, const Block& b) { return a.begin < b.begin; });
  return blocks;
}

}  // namespace accelscope::capture::sources::neuron
