#include "core/analysis/hierarchy/column_paths.h"

#include <algorithm>
#include <memory>

#include "core/analysis/selection/amount_block.h"
#include "core/analysis/source/call_nesting.h"
#include "core/analysis/source/event_part.h"
#include "core/analysis/source/own_code.h"
#include "core/analysis/vendors/vendor.h"
#include "core/base/text.h"
#include "core/model/source_location.h"
#include "core/scan/column_values.h"
#include "core/scan/wait_names.h"

namespace accelscope {
namespace {

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
    bytes_.read(reader, schema_, byte_columns_);
    waits_.read(reader, schema_, wait_columns_);
    if (work_ != nullptr) {
      work_->read(reader);
    } else {
      flops_.read(reader, schema_, flop_columns_);
    }
  }
  [[nodiscard]] bool waited(std::uint32_t i) const noexcept { return waits_.has(i); }
  // free_ns: of longest_wait_ns().
  void add_to(NodeTotals& totals, std::uint32_t i, double inside, std::int64_t waits_for_ns,
              std::int64_t free_ns) const {
    if (bytes_.has(i)) totals.bytes = capped_sum(totals.bytes, part_of_amount(bytes_[i], inside));
    totals.flops += (work_ != nullptr ? work_->at(i) : static_cast<double>(flops_[i])) * inside;
    totals.wait_ns += waits_for_ns;
    if (waits_for_ns == 0 && waits_.has(i) && free_ns > 0) {
      totals.wait_ns += static_cast<std::int64_t>(std::min(waits_[i], static_cast<std::uint64_t>(free_ns)));
    }
  }

 private:
  const Schema& schema_;
  std::unique_ptr<EventWork> work_;
  std::vector<std::size_t> byte_columns_, flop_columns_, wait_columns_;
  AmountBlock bytes_, flops_, waits_;
};

}  // namespace

ColumnPaths::Placed ColumnPaths::place_of_text(std::string_view text) {
  const PathPlan& plan = worker_.plan;
  std::uint32_t node = PathTree::kRoot;
  bool cut = false;
  const auto descend = [&](std::string_view part) {
    if (part.empty()) return;
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
    case PathSplit::line: {
      std::string_view file;
      std::uint32_t line = 0;
      if (parse_source_location(text, file, line)) descend(file);
      descend(text);
      break;
    }
    case PathSplit::frames:
      for (std::size_t end = text.size(); end > 0;) {
        const std::size_t before = text.rfind('\n', end - 1);
        const std::size_t begin = before == std::string_view::npos ? 0 : before + 1;
        descend(text.substr(begin, end - begin));
        end = before == std::string_view::npos ? 0 : before;
      }
      break;
  }
  return {node, cut};
}

const ColumnPaths::Placed& ColumnPaths::place_of_string(StringId id) {
  if (places_.size() <= id) places_.resize(std::size_t{id} + 1);
  Placed& place = places_[id];
  if (place.node == 0) place = place_of_text(worker_.plan.snapshot().strings->text(id));
  return place;
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

void ColumnPaths::close(const ScanWindow& window) {
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
    if (open.call->waits) {
      worker_.sums.totals(call.node).wait_ns += to - from;
    } else {
      worker_.sums.cover(from, to, call.node, call.unit, true);
    }
  };
  for (auto& [thread, calls] : calls_) {
    walk_nested_calls<Open>(calls, window.range, enter, spend);
    calls.clear();
  }
  worker_.sums.close_window(window.range, worker_.nodes);
}

void ColumnPaths::add(const ScannedChunk& chunk, const ScanWindow& window) {
  const PathPlan& plan = worker_.plan;
  const StringPool& strings = *plan.snapshot().strings;
  const Schema& schema = *chunk.lane.schema;
  const bool by_name = plan.kind.source == PathSource::unit;
  auto main = path_column(plan.kind, schema);
  if (main && *main >= chunk.view.column_count()) main.reset();
  const ColumnType main_type = main ? schema.columns[*main].type : ColumnType::string;
  auto line = plan.kind.has_lines ? schema.find(Role::source_location) : std::nullopt;
  if (line && (*line >= chunk.view.column_count() || schema.columns[*line].type != ColumnType::string)) line.reset();
  const std::uint32_t start = start_of(chunk);
  const std::uint32_t unit = plan.units.of_lane(chunk.lane_index);
  const WaitNames waits(&schema, strings);
  EventAmounts amounts(chunk, strings);
  const bool on_host = plan.works.of_lane(chunk.lane_index) == WorkKind::host;
  std::vector<HostCall>* calls = on_host ? &calls_[plan.works.thread_of_lane(chunk.lane_index)] : nullptr;
  // Of a table that has no such paths: only whether it waits counts, for the call around it.
  const bool is_within = on_host && !by_name && !path_column(plan.kind, schema);
  const std::int64_t first_ns = std::max(plan.range.begin_ns, plan.snapshot().begin_ns);
  std::uint32_t read_block = ~std::uint32_t{0};
  BlockValues paths, lines;
  chunk.for_each_block([&](const ScannedBlock& block) {
    if (block.block != read_block) {
      read_block = block.block;
      amounts.read(block.reader);
      paths = main ? block.reader.column(*main, main_type) : BlockValues{};
      lines = line ? block.reader.column(*line, ColumnType::string) : BlockValues{};
    }
    const std::int64_t* begins = block.reader.begins_ns();
    const std::int64_t* ends = block.reader.ends_ns();
    const std::uint64_t* names = block.reader.names();
    const BlockTimes& ticks = block.ticks();
    for (std::uint32_t i = block.first; i < block.last; ++i) {
      const auto name = static_cast<StringId>(names[i]);
      const KnownCall call = on_host ? known_of(name) : KnownCall{};
      if (call.marks) continue;
      const bool is_wait = call.waits || waits.contains(name);
      if (is_within) {
        calls->push_back(
            {begins[i], ends[i], plan.works.rank_of_lane(chunk.lane_index), PathTree::kRoot, unit, is_wait, false});
        continue;
      }
      Placed place;
      if (by_name) {
        place.node = worker_.child(start, name);
      } else if (paths.has(i)) {
        place = main_type == ColumnType::string ? place_of_string(static_cast<StringId>(paths.values[i]))
                                                : place_of_text(chunk.view.text(*main, block.row(i)));
      }
      const bool has_path = place.node != PathTree::kRoot;
      if (!has_path) {
        if (missing_ == 0) missing_ = worker_.child_of_text(PathTree::kRoot, plan.kind.missing);
        place.node = missing_;
      }
      if (lines.has(i) && lines.values[i] != 0) {
        const auto text = static_cast<std::uint32_t>(lines.values[i]);
        if (text != last_line_ || place.node != last_line_parent_) {
          last_line_ = text;
          last_line_parent_ = place.node;
          last_line_node_ = worker_.child(place.node, text, true);
        }
        place.node = last_line_node_;
      }
      const std::int64_t begin = std::max(begins[i], window.range.begin_ns);
      const std::int64_t end = std::min(ends[i], window.range.end_ns);
      if (window.owns(chunk, ticks.begins[i])) {
        worker_.add_event(place.node, chunk.lane_index, block.id(i), begins[i], ends[i]);
        const std::int64_t inside_ns = std::min(ends[i], plan.range.end_ns) - std::max(begins[i], plan.range.begin_ns);
        std::int64_t free_ns = 0;
        if (amounts.waited(i)) free_ns = longest_wait_ns(chunk, block, i, first_ns);
        amounts.add_to(worker_.sums.totals(place.node), i, share_inside(plan.range, begins[i], ends[i]),
                       is_wait && !on_host ? std::max<std::int64_t>(inside_ns, 0) : 0, free_ns);
        worker_.cut_events += place.cut ? 1 : 0;
      } else {
        (void)worker_.sums.totals(place.node);
      }
      if (calls != nullptr) {
        calls->push_back(
            {begins[i], ends[i], plan.works.rank_of_lane(chunk.lane_index), place.node, unit, is_wait, has_path});
      } else if (!is_wait) {
        worker_.sums.cover(begin, end, place.node, unit, true);
      }
    }
  });
}

}  // namespace accelscope
