#include "core/analysis/hierarchy/path_scan.h"

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/analysis/dependencies/launches.h"
#include "core/analysis/hierarchy/path_worker.h"
#include "core/analysis/selection/amount_block.h"
#include "core/analysis/source/event_costs.h"
#include "core/analysis/source/own_code.h"
#include "core/analysis/vendors/vendor.h"
#include "core/base/text.h"
#include "core/model/source_location.h"
#include "core/names/name_forms.h"
#include "core/scan/column_values.h"
#include "core/scan/event_mask.h"
#include "core/scan/wait_names.h"

namespace accelscope::analysis {
namespace {

// Events into a tree by a column of theirs, or by what ran them. Calls of a host lie within calls: their time is that
// in which they are the innermost with such a path, as in core/analysis/source/host_calls.h.
class ColumnPaths {
 public:
  explicit ColumnPaths(const PathPlan& plan) : worker_(plan) {}
  void add(const ScannedChunk& chunk, const ScanWindow& window);
  [[nodiscard]] WindowPart close(const ScanWindow& window);
  [[nodiscard]] PathWorker& worker() noexcept { return worker_; }

 private:
  struct Placed {
    std::uint32_t node = 0;
    bool cut = false;    // it lies deeper
    bool known = false;  // it was looked for; the root then says that there is none
  };
  struct HostCall {
    std::int64_t begin_ns = 0, end_ns = 0;
    std::int64_t rank = 0;
    std::uint32_t node = 0, unit = 0;
    bool waits = false, has_path = true;
  };
  struct KnownCall {
    bool waits = false, marks = false;
  };
  [[nodiscard]] const KnownCall& known_of(StringId name);
  [[nodiscard]] Placed place_of_text(std::string_view text);
  [[nodiscard]] const Placed& place_of_string(StringId id);
  [[nodiscard]] Placed place_of_stack(StringId id);
  [[nodiscard]] std::uint32_t start_of(const ScannedChunk& chunk);
  // Where the paths of a chunk lie, and of a block of it.
  struct ChunkColumns {
    bool by_name = false;      // what runs the chunk, then the name
    bool is_retained = false;  // places_ has the nodes of its paths once they were met
    std::uint32_t start = 0;   // of by_name: the node of what runs it
    std::optional<std::size_t> path, line, stack;
    LevelColumns levels;  // of PathSplit::levels
    std::array<BlockValues, LevelColumns{}.size()> level_values;
    bool borrows = false;                           // its paths are others'
    std::optional<std::size_t> part;                // of borrows: see BorrowedPaths
    const BorrowedPaths::Wholes* wholes = nullptr;  // of part
    ColumnType type = ColumnType::string;           // of path
    BlockValues paths, lines, stacks, parts;
  };
  [[nodiscard]] Placed place_of(const ChunkColumns& columns, const ScannedChunk& chunk, const ScannedBlock& block,
                                std::uint32_t i);
  [[nodiscard]] StringId borrowed_path(const ChunkColumns& columns, const ScannedBlock& block, std::uint32_t i) const;
  [[nodiscard]] Placed place_on_levels(const ChunkColumns& columns, const ScannedBlock& block, std::uint32_t i);
  [[nodiscard]] std::uint32_t missing_node();
  [[nodiscard]] std::uint32_t line_below(std::uint32_t node, StringId text);

  PathWorker worker_;
  std::unordered_map<StringId, Placed> stack_places_;             // by recorded stack
  std::vector<Placed> places_;                                    // by string of the session
  std::uint32_t missing_ = 0;                                     // the node of events without a value; 0: none yet
  std::unordered_map<std::size_t, std::vector<HostCall>> calls_;  // of a window, by thread
  std::unordered_map<StringId, KnownCall> known_;                 // calls of a host
  // Neighbours mostly come from one line.
  std::uint32_t last_line_ = 0, last_line_parent_ = 0, last_line_node_ = 0;
};

// What the events of a block moved, computed and waited.
class EventAmounts {
 public:
  EventAmounts(const ScannedChunk& chunk, const StringPool& strings) : schema_(*chunk.lane.schema) {
    if (const Vendor* vendor = vendor_of_work(chunk.lane)) work_ = vendor->event_work(chunk.lane, strings);
    for (std::size_t i = 0; i < std::min(schema_.columns.size(), chunk.view.column_count()); ++i) {
      const accelscope::Column& column = schema_.columns[i];
      if (is_text(column.type)) continue;
      if (column.role == Role::bytes) byte_columns_.push_back(i);
      if (column.role == Role::flops) flop_columns_.push_back(i);
      if (column.role == Role::wait_ns) wait_columns_.push_back(i);
    }
  }
  void read(BlockReader& reader) {
    if (!byte_columns_.empty()) bytes_.read(reader, schema_, byte_columns_);
    if (!wait_columns_.empty()) waits_.read(reader, schema_, wait_columns_);
    if (work_ != nullptr) {
      work_->read(reader);
    } else if (!flop_columns_.empty()) {
      flops_.read(reader, schema_, flop_columns_);
    }
  }
  [[nodiscard]] std::uint64_t bytes(std::uint32_t i) const noexcept { return bytes_[i]; }
  [[nodiscard]] std::uint64_t waited_ns(std::uint32_t i) const noexcept { return waits_[i]; }
  [[nodiscard]] double flops(std::uint32_t i) const {
    if (work_ != nullptr) return work_->at(i);
    return flops_.any() ? static_cast<double>(flops_[i]) : 0;
  }

 private:
  const Schema& schema_;
  std::unique_ptr<EventWork> work_;
  std::vector<std::size_t> byte_columns_, flop_columns_, wait_columns_;
  AmountBlock bytes_, flops_, waits_;
};

ColumnPaths::Placed ColumnPaths::place_of_text(std::string_view text) {
  const PathPlan& plan = worker_.plan;
  std::uint32_t node = PathTree::kRoot;
  bool cut = false;
  const auto descend = [&](std::string_view part) {
    if (part.empty()) return;
    if (worker_.nodes[node].depth >= NameLimits::kFrames) return void(cut = true);
    cut = cut || worker_.nodes[node].depth >= plan.depth;
    node = worker_.child_of_text(node, part);
  };
  const auto each_part = [&](char separator) {
    for (std::size_t at = 0; at <= text.size();) {
      const std::size_t end = std::min(text.find(separator, at), text.size());
      descend(text.substr(at, end - at));
      at = end + 1;
    }
  };
  switch (plan.kind.split) {
    case PathSplit::whole:
      descend(text);
      break;
    case PathSplit::slash:
      each_part('/');
      break;
    case PathSplit::levels:  // not one text
      break;
    case PathSplit::line: {
      std::string_view file;
      std::uint32_t line = 0;
      if (parse_source_location(text, file, line)) descend(file);
      descend(text);
      break;
    }
    case PathSplit::function:
      descend(plan.functions->of_location(text));
      break;
    case PathSplit::frames:
      text = innermost_frames(text);
      for (std::size_t end = text.size(); end > 0;) {
        const std::size_t before = text.rfind('\n', end - 1);
        const std::size_t begin = before == std::string_view::npos ? 0 : before + 1;
        descend(text.substr(begin, end - begin));
        end = before == std::string_view::npos ? 0 : before;
      }
      break;
  }
  return {node, cut, true};
}

const ColumnPaths::Placed& ColumnPaths::place_of_string(StringId id) {
  if (places_.size() <= id) places_.resize(std::size_t{id} + 1);
  Placed& place = places_[id];
  if (!place.known) place = place_of_text(worker_.plan.snapshot().strings->text(id));
  return place;
}

// Of the function of its innermost frame. Node 0: it names none.
ColumnPaths::Placed ColumnPaths::place_of_stack(StringId id) {
  const auto [known, is_new] = stack_places_.try_emplace(id);
  if (!is_new) return known->second;
  const std::string function = FunctionNames::of_stack(worker_.plan.snapshot().strings->text(id));
  if (!function.empty()) known->second = {worker_.child_of_text(PathTree::kRoot, function), false, true};
  return known->second;
}

// Of a chunk whose paths begin with what ran it: that node. Else the root.
std::uint32_t ColumnPaths::start_of(const ScannedChunk& chunk) {
  if (worker_.plan.kind.source != PathSource::unit) return PathTree::kRoot;
  const std::uint32_t unit = worker_.plan.units.of_lane(chunk.lane_index);
  return worker_.child_of_text(PathTree::kRoot, worker_.plan.units.units()[unit].name);
}

const ColumnPaths::KnownCall& ColumnPaths::known_of(StringId name) {
  const auto [known, is_new] = known_.try_emplace(name);
  if (is_new) {
    const std::string_view text = worker_.plan.snapshot().strings->text(name);
    known->second = {is_waiting_call(text), is_mark(text)};
  }
  return known->second;
}

WindowPart ColumnPaths::close(const ScanWindow& window) {
  worker_.open(window);
  struct Open {
    const HostCall* call;       // the innermost
    const HostCall* with_path;  // it, or the one around it that has a path
  };
  const auto enter = [](const HostCall& call, const Open* outer) {
    return Open{&call, call.has_path || outer == nullptr ? &call : outer->with_path};
  };
  const auto spend = [this](const Open& open, std::int64_t from, std::int64_t to) {
    const HostCall& call = *open.with_path;
    if (call.node == PathTree::kRoot) return;
    const std::uint32_t slot = worker_.sums.slot_of(call.node);
    if (open.call->waits) {
      worker_.sums.at(slot).wait_ns += to - from;
    } else {
      worker_.sums.cover(from, to, slot, call.unit);
    }
  };
  for (auto& [thread, calls] : calls_) {
    walk_nested_calls<Open>(calls, window.range, enter, spend);
    calls.clear();
  }
  return worker_.close(window);
}

// The node of one event; the root where it has no path.
ColumnPaths::Placed ColumnPaths::place_of(const ChunkColumns& columns, const ScannedChunk& chunk,
                                          const ScannedBlock& block, std::uint32_t i) {
  if (columns.by_name) {
    return {worker_.child(columns.start, block.name(i)), worker_.nodes[columns.start].depth >= worker_.plan.depth,
            true};
  }
  if (columns.borrows) {
    const StringId path = borrowed_path(columns, block, i);
    return path == 0 ? Placed{} : place_of_string(path);
  }
  if (worker_.plan.kind.split == PathSplit::levels) return place_on_levels(columns, block, i);
  if (!columns.paths.has(i)) return {};
  if (columns.stacks.has(i)) {
    const Placed place = place_of_stack(static_cast<StringId>(columns.stacks.values[i]));
    if (place.node != PathTree::kRoot) return place;
  }
  if (columns.type == ColumnType::text) return place_of_text(chunk.view.text(*columns.path, block.row(i)));
  return place_of_string(static_cast<StringId>(columns.paths.values[i]));
}

// A level that an event does not name keeps its place, as long as it names one.
ColumnPaths::Placed ColumnPaths::place_on_levels(const ChunkColumns& columns, const ScannedBlock& block,
                                                 std::uint32_t i) {
  const auto text = [&](const BlockValues& values) {
    return values.has(i) ? static_cast<StringId>(values.values[i]) : StringId{0};
  };
  if (std::ranges::none_of(columns.level_values, [&](const BlockValues& values) { return text(values) != 0; }))
    return {};
  std::uint32_t node = PathTree::kRoot;
  for (const BlockValues& values : columns.level_values) {
    const StringId level = text(values);
    node = level != 0 ? worker_.child(node, level) : worker_.child_of_text(node, worker_.plan.kind.missing);
  }
  return {worker_.child(node, block.name(i)), worker_.plan.depth <= columns.level_values.size(), true};
}

// Of what it is a part of, or of what set it off.
StringId ColumnPaths::borrowed_path(const ChunkColumns& columns, const ScannedBlock& block, std::uint32_t i) const {
  if (columns.part) {
    if (columns.wholes == nullptr || !columns.parts.has(i)) return 0;
    const auto found = columns.wholes->find(columns.parts.values[i]);
    return found == columns.wholes->end() ? 0 : found->second;
  }
  return worker_.plan.borrowed->of_event(block.id(i));
}

std::uint32_t ColumnPaths::missing_node() {
  if (missing_ == 0) missing_ = worker_.child_of_text(PathTree::kRoot, worker_.plan.kind.missing);
  return missing_;
}

std::uint32_t ColumnPaths::line_below(std::uint32_t node, StringId text) {
  if (text != last_line_ || node != last_line_parent_) {
    last_line_ = text;
    last_line_parent_ = node;
    last_line_node_ = worker_.child(node, text, true);
  }
  return last_line_node_;
}

void ColumnPaths::add(const ScannedChunk& chunk, const ScanWindow& window) {
  worker_.open(window);
  const PathPlan& plan = worker_.plan;
  const StringPool& strings = *plan.snapshot().strings;
  const Schema& schema = *chunk.lane.schema;
  ChunkColumns columns;
  columns.by_name = plan.kind.source == PathSource::unit;
  columns.path = path_column(plan.kind, schema);
  if (columns.path && *columns.path >= chunk.view.column_count()) columns.path.reset();
  if (columns.path) columns.type = schema.columns[*columns.path].type;
  if (plan.kind.has_lines) columns.line = schema.find(Role::source_location);
  if (columns.line &&
      (*columns.line >= chunk.view.column_count() || schema.columns[*columns.line].type != ColumnType::string)) {
    columns.line.reset();
  }
  if (columns.path && plan.kind.split == PathSplit::function) columns.stack = schema.find(Role::stack);
  if (columns.stack &&
      (*columns.stack >= chunk.view.column_count() || schema.columns[*columns.stack].type != ColumnType::string)) {
    columns.stack.reset();
  }
  const bool has_levels = plan.kind.split == PathSplit::levels;
  if (has_levels) columns.levels = level_columns(plan.kind, schema);
  columns.is_retained = columns.path && columns.type == ColumnType::string && !columns.stack && !has_levels;
  columns.borrows = plan.borrowed != nullptr && plan.borrowed->has_lane(chunk.lane_index);
  if (columns.borrows) {
    columns.part = BorrowedPaths::part_column(schema);
    if (columns.part && *columns.part >= chunk.view.column_count()) columns.part.reset();
    columns.wholes = plan.borrowed->wholes_of(chunk.lane.number());
  }
  columns.start = start_of(chunk);
  const std::uint32_t unit = plan.units.of_lane(chunk.lane_index);
  const WaitNames waits(&schema, strings);
  EventAmounts amounts(chunk, strings);
  const bool on_host = plan.works.of_lane(chunk.lane_index) == WorkKind::host;
  const std::int64_t rank = on_host ? plan.works.rank_of_lane(chunk.lane_index) : 0;
  std::vector<HostCall>* calls = on_host ? &calls_[plan.works.thread_of_lane(chunk.lane_index)] : nullptr;
  // Of a table that has no such paths: only whether it waits counts, for the call around it.
  const bool is_within = on_host && !columns.by_name && !path_column(plan.kind, schema);
  const bool needs_names = on_host || !waits.empty();
  const TimeRange clip = worker_.sums.window();
  std::uint32_t read_block = ~std::uint32_t{0}, next_row = ~std::uint32_t{0};
  std::int64_t free_since = 0;  // before next_row
  chunk.for_each_block([&](const ScannedBlock& block) {
    if (block.block != read_block) {
      read_block = block.block;
      amounts.read(block.reader);
      columns.paths = columns.path ? block.reader.column(*columns.path, columns.type) : BlockValues{};
      columns.stacks = columns.stack ? block.reader.column(*columns.stack, ColumnType::string) : BlockValues{};
      columns.parts = columns.part ? block.reader.column(*columns.part, ColumnType::uint64) : BlockValues{};
      for (std::size_t level = 0; level < columns.levels.size(); ++level) {
        const auto at = columns.levels[level];
        const bool is_there = at && *at < chunk.view.column_count();
        columns.level_values[level] = is_there ? block.reader.column(*at, ColumnType::string) : BlockValues{};
      }
      columns.lines = columns.line ? block.reader.column(*columns.line, ColumnType::string) : BlockValues{};
    }
    const std::int64_t* begins = block.reader.begins_ns();
    const std::int64_t* ends = block.reader.ends_ns();
    const BlockTimes& ticks = block.ticks();
    for (std::uint32_t i = block.first; i < block.last; ++i) {
      const StringId name = needs_names ? block.name(i) : 0;
      const KnownCall call = on_host ? known_of(name) : KnownCall{};
      if (call.marks) continue;
      const bool is_wait = call.waits || waits.contains(name);
      if (is_within) {
        calls->push_back({begins[i], ends[i], rank, PathTree::kRoot, unit, is_wait, false});
        continue;
      }
      const StringId path = columns.is_retained ? static_cast<StringId>(columns.paths.values[i]) : 0;
      const bool is_met = columns.is_retained && columns.paths.has(i) && path < places_.size();
      const Placed place = is_met && places_[path].known ? places_[path] : place_of(columns, chunk, block, i);
      const bool has_path = place.node != PathTree::kRoot;
      if (columns.borrows && !has_path) continue;  // nothing of the tree set it off
      std::uint32_t node = has_path ? place.node : missing_node();
      if (columns.lines.has(i) && columns.lines.values[i] != 0) {
        node = line_below(node, static_cast<StringId>(columns.lines.values[i]));
      }
      const std::uint32_t slot = worker_.sums.slot_of(node);
      if (window.owns(chunk, ticks.begins[i])) {
        EventAmount amount{.bytes = amounts.bytes(i), .waited_ns = amounts.waited_ns(i), .flops = amounts.flops(i)};
        amount.waits = is_wait && !on_host;
        if (amount.waited_ns > 0) {
          const bool follows = i == 0 && block.row(i) == next_row;
          amount.free_since_ns = follows ? free_since : lane_free_since(chunk, block, i);
        }
        worker_.add_event(slot, node, chunk.lane_index, block.id(i), begins[i], ends[i], amount);
        worker_.cut_events += place.cut ? 1 : 0;
      }
      if (calls != nullptr) {
        calls->push_back({begins[i], ends[i], rank, node, unit, is_wait, has_path});
      } else if (!is_wait) {
        worker_.sums.cover(std::max(begins[i], clip.begin_ns), std::min(ends[i], clip.end_ns), slot, unit);
      }
    }
    next_row = block.row(block.last - 1) + 1;
    free_since = ends[block.last - 1];
  });
}

// Events into a tree by the events that they lie in: calls of a host's threads, zones of a device's tracks.
class NestedPaths {
 public:
  // `launches` by source. `passing`: the events that are counted, null: all. The chunks must have no mask, as the
  // others still lie within and around.
  NestedPaths(const PathPlan& plan, const std::vector<HostLaunch>& launches, const EventMask* passing)
      : worker_(plan), launches_(launches), passing_(passing) {}
  void add(const ScannedChunk& chunk, const ScanWindow& window);
  [[nodiscard]] WindowPart close(const ScanWindow& window);
  [[nodiscard]] PathWorker& worker() noexcept { return worker_; }

 private:
  struct Call {
    std::int64_t begin_ns = 0, end_ns = 0;
    std::int64_t rank = 0;
    EventId id = kNoEvent;
    StringId name = 0;
    std::uint32_t lane = 0;
    std::uint32_t launch = 0, launch_count = 0;  // in launches_
    std::uint64_t bytes = 0;
    bool waits = false, counts = true, owned = true;
  };
  struct Open {
    const Call* call = nullptr;
    std::uint32_t node = 0;
    std::uint32_t counted = 0;  // the node of the innermost call from here on out that counts; 0: none does
  };
  struct Known {
    bool waits = false, marks = false;
  };
  [[nodiscard]] const Known& known_of(StringId name);
  [[nodiscard]] Open enter(const Call& call, const Open* outer);
  void add_launches(const Call& call, std::uint32_t node, std::uint32_t slot);

  PathWorker worker_;
  const std::vector<HostLaunch>& launches_;
  const EventMask* passing_;
  std::unordered_map<std::uint64_t, std::vector<Call>> stacks_;  // by thread, or by track of a device
  std::unordered_map<StringId, Known> known_;
};

const NestedPaths::Known& NestedPaths::known_of(StringId name) {
  const auto [known, is_new] = known_.try_emplace(name);
  if (is_new && worker_.plan.kind.source == PathSource::host_calls) {
    const std::string_view text = worker_.plan.snapshot().strings->text(name);
    known->second = {is_waiting_call(text), is_mark(text)};
  }
  return known->second;
}

void NestedPaths::add(const ScannedChunk& chunk, const ScanWindow& window) {
  worker_.open(window);
  const PathPlan& plan = worker_.plan;
  const Schema& schema = *chunk.lane.schema;
  const bool on_host = plan.kind.source == PathSource::host_calls;
  std::vector<Call>& calls = stacks_[on_host ? plan.works.thread_of_lane(chunk.lane_index) : chunk.lane.track];
  const std::int64_t rank =
      on_host ? plan.works.rank_of_lane(chunk.lane_index) : std::int64_t{chunk.lane.data->lane.depth};
  const WaitNames waits(&schema, *plan.snapshot().strings);
  std::vector<std::size_t> byte_columns;
  for (std::size_t i = 0; i < std::min(schema.columns.size(), chunk.view.column_count()); ++i) {
    if (schema.columns[i].role == Role::bytes && !is_text(schema.columns[i].type)) byte_columns.push_back(i);
  }
  auto launch = std::ranges::lower_bound(launches_, chunk.event_id(0), {}, &HostLaunch::source);
  AmountBlock bytes;
  chunk.for_each_block([&](const ScannedBlock& block) {
    if (!byte_columns.empty()) bytes.read(block.reader, schema, byte_columns);
    for (std::uint32_t i = block.first; i < block.last; ++i) {
      Call call;
      call.name = block.name(i);
      const Known& known = known_of(call.name);
      if (known.marks) continue;
      call.begin_ns = block.begin_ns(i);
      call.end_ns = block.end_ns(i);
      call.rank = rank;
      call.id = block.id(i);
      call.lane = chunk.lane_index;
      call.waits = known.waits || waits.contains(call.name);
      call.bytes = bytes[i];
      call.owned = window.owns(chunk, block.ticks().begins[i]);
      call.counts = passing_ == nullptr ||
                    passing_->passes(chunk.lane, chunk.lane_index, chunk.place.first_ordinal + block.row(i));
      while (launch != launches_.end() && launch->source < call.id) ++launch;
      call.launch = static_cast<std::uint32_t>(launch - launches_.begin());
      for (; launch != launches_.end() && launch->source == call.id; ++launch) ++call.launch_count;
      calls.push_back(call);
    }
  });
}

void NestedPaths::add_launches(const Call& call, std::uint32_t node, std::uint32_t slot) {
  for (std::uint32_t i = 0; i < call.launch_count; ++i) {
    worker_.add_launch(worker_.sums.at(slot), {node, call.begin_ns, call.end_ns, launches_[call.launch + i].work});
  }
}

NestedPaths::Open NestedPaths::enter(const Call& call, const Open* outer) {
  const std::uint32_t parent = outer == nullptr ? PathTree::kRoot : outer->node;
  Open open{&call, worker_.child(parent, call.name), outer == nullptr ? 0 : outer->counted};
  if (!call.counts) return open;
  open.counted = open.node;
  const std::uint32_t slot = worker_.sums.slot_of(open.node);
  if (!call.owned) return open;
  worker_.add_event(slot, open.node, call.lane, call.id, call.begin_ns, call.end_ns, {.bytes = call.bytes});
  add_launches(call, open.node, slot);
  const bool cut = open.node == parent && parent != PathTree::kRoot;
  worker_.cut_events += cut ? 1 : 0;
  return open;
}

// At each moment the innermost call works or waits, and so do those around it; where a filter leaves it out, the one
// that it lies in.
WindowPart NestedPaths::close(const ScanWindow& window) {
  worker_.open(window);
  const auto enter_call = [this](const Call& call, const Open* outer) { return enter(call, outer); };
  const auto spend = [this](const Open& open, std::int64_t from, std::int64_t to) {
    if (open.counted == PathTree::kRoot) return;
    const std::uint32_t slot = worker_.sums.slot_of(open.counted);
    if (open.call->waits) {
      worker_.sums.at(slot).wait_ns += to - from;
    } else {
      worker_.sums.cover(from, to, slot, worker_.plan.units.of_lane(open.call->lane));
    }
  };
  for (auto& [stack, calls] : stacks_) {
    walk_nested_calls<Open>(calls, window.range, enter_call, spend);
    calls.clear();
  }
  return worker_.close(window);
}

// Which devices could have computed what the lane's events did: those whose events have operations.
std::vector<std::uint64_t> device_bits_of(const Snapshot& snapshot, const TrackDevices& devices) {
  std::vector<std::uint64_t> bits(snapshot.lanes.size(), 0);
  for (std::size_t i = 0; i < snapshot.lanes.size(); ++i) {
    const LaneSnapshot& lane = snapshot.lanes[i];
    if (!lane.schema || (vendor_of_work(lane) == nullptr && !lane.schema->find(Role::flops))) continue;
    bits[i] = std::uint64_t{1} << std::min(devices.of_lane(i), kDeviceBits);
  }
  return bits;
}

LaneIndices with_whole_threads(const Snapshot& snapshot, const WorkKinds& works, LaneIndices lanes) {
  std::set<std::size_t> threads;
  for (const std::uint32_t lane : lanes) {
    if (works.of_lane(lane) == WorkKind::host) threads.insert(works.thread_of_lane(lane));
  }
  const std::set<std::uint32_t> known(lanes.begin(), lanes.end());
  for (std::uint32_t i = 0; i < snapshot.lanes.size(); ++i) {
    if (works.of_lane(i) != WorkKind::host || snapshot.lanes[i].event_count == 0 || known.contains(i)) continue;
    if (threads.contains(works.thread_of_lane(i))) lanes.push_back(i);
  }
  return lanes;
}

LaneIndices joined_lanes(LaneIndices lanes, const LaneIndices& others) {
  lanes.insert(lanes.end(), others.begin(), others.end());
  return lanes;
}

template <typename Paths, typename... Arguments>
Result<void> scan_by(const QueryContext& query, const PathScan& scan, const TimeRange& stretch, bool first,
                     Arguments&... arguments) {
  std::vector<std::unique_ptr<Paths>> workers(query.pool.concurrency());
  for (auto& each : workers) each = std::make_unique<Paths>(scan.plan, arguments...);
  const auto as_asked = [first](const ScanWindow& window) { return ScanWindow{window.range, window.first && first}; };
  return scan_windows(query, scan.subject.scanned, stretch,
                      {.chunk = [&](const ScannedChunk& chunk, const ScanWindow& window,
                                    std::size_t worker) { workers[worker]->add(chunk, as_asked(window)); },
                       .end = [&](const ScanWindow& window,
                                  std::size_t worker) { scan.add(workers[worker]->close(as_asked(window))); }},
                      scan.window_events);
}

}  // namespace

PathSubject::PathSubject(const Snapshot& snapshot, const PathKind& of, std::shared_ptr<const BorrowedPaths> borrows)
    : kind(of),
      works(snapshot),
      devices(snapshot),
      borrowed(std::move(borrows)),
      lanes(joined_lanes(lanes_with_paths(snapshot, works, of), borrowed->lanes())),
      scanned(of.is_nested() ? lanes : with_whole_threads(snapshot, works, lanes)),
      units(snapshot, works, lanes),
      device_bits(device_bits_of(snapshot, devices)) {
  if (of.split == PathSplit::function) functions = FunctionNames(snapshot.sources);
}

Result<PathSubject> PathSubject::find(const QueryContext& query, const PathKind& kind,
                                      const std::shared_ptr<const BorrowedPaths>& known) {
  if (known) return PathSubject(*query.snapshot, kind, known);
  if (!kind.borrows) return PathSubject(*query.snapshot, kind);
  const WorkKinds works(*query.snapshot);
  auto borrowed = TRY(BorrowedPaths::find(query, kind, works, lanes_with_paths(*query.snapshot, works, kind)));
  return PathSubject(*query.snapshot, kind, std::make_shared<const BorrowedPaths>(std::move(borrowed)));
}

Result<void> scan_paths(const PathScan& scan, const TimeRange& stretch, bool first) {
  if (!scan.subject.kind.is_nested()) return scan_by<ColumnPaths>(scan.query, scan, stretch, first);
  // What does not pass still lies within and around what does.
  const QueryContext whole = scan.query.unmasked();
  const EventMask* passing = scan.query.mask.get();
  return scan_by<NestedPaths>(whole, scan, stretch, first, scan.launches, passing);
}

Result<std::vector<HostLaunch>> launches_of(const QueryContext& query, const PathSubject& subject,
                                            const std::vector<HostLaunch>* known) {
  std::vector<HostLaunch> launches;
  if (subject.kind.source != PathSource::host_calls) return launches;
  if (known != nullptr) {
    launches = *known;
  } else {
    const QueryContext whole = query.unmasked();
    auto found = TRY(host_launches(whole, subject.works));
    launches = std::move(found);
  }
  std::ranges::sort(launches, [](const HostLaunch& a, const HostLaunch& b) {
    return a.source != b.source ? a.source < b.source : a.target < b.target;
  });
  return launches;
}

}  // namespace accelscope::analysis
