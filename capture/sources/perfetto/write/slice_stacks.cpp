#include "capture/sources/perfetto/write/slice_stacks.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <tuple>

#include "core/base/capped.h"

namespace accelscope::capture::sources::perfetto {
namespace {

constexpr std::size_t kMostOpen = 512;  // of a track; programs do not nest so deep
constexpr std::size_t kSpillMemoryBytes = 64U << 20;
constexpr std::size_t kMarkBatchBytes = 8U << 20;
constexpr std::size_t kMostMarkBytes = (64U << 20) - 1;  // the sorter cuts longer texts
constexpr std::uint64_t kMarksPerLook = 1024;            // at whether the user has cancelled

// A mark as it waits in the sorter.
struct PackedMark {
  std::int64_t duration = 0;
  std::int64_t thread_ns = 0;
  std::int64_t instructions = 0;
  StringId name = 0;
  StringId category = 0;
  std::uint32_t values = 0;
  std::uint32_t text = 0;
  std::uint32_t rest = 0;
  std::uint32_t flows = 0;
  std::uint8_t kind = 0;
  std::uint8_t table = 0;
  bool has_thread_ns = false;
  bool has_instructions = false;
  bool flows_to_enclosing = false;
  bool flows_to_next = false;
};

[[nodiscard]] std::size_t packed_bytes(const SliceMark& mark) noexcept {
  return sizeof(PackedMark) + mark.values.values().size_bytes() + mark.values.texts().size() + mark.rest.size() +
         mark.flows.size() * sizeof(FlowPoint);
}

void pack_mark(const SliceMark& mark, std::string& out) {
  PackedMark head;
  head.duration = mark.duration;
  head.thread_ns = mark.thread_ns.value_or(0);
  head.instructions = mark.instructions.value_or(0);
  head.name = mark.name;
  head.category = mark.category;
  head.values = static_cast<std::uint32_t>(mark.values.values().size());
  head.text = static_cast<std::uint32_t>(mark.values.texts().size());
  head.rest = static_cast<std::uint32_t>(mark.rest.size());
  head.flows = static_cast<std::uint32_t>(mark.flows.size());
  head.kind = static_cast<std::uint8_t>(mark.kind);
  head.table = static_cast<std::uint8_t>(mark.table);
  head.has_thread_ns = mark.thread_ns.has_value();
  head.has_instructions = mark.instructions.has_value();
  head.flows_to_enclosing = mark.flows_to_enclosing;
  head.flows_to_next = mark.flows_to_next;
  const std::size_t flow_bytes = mark.flows.size() * sizeof(FlowPoint);
  out.resize(sizeof head + mark.values.values().size_bytes() + head.text + head.rest + flow_bytes);
  char* at = out.data();
  const auto put = [&at](const void* bytes, std::size_t size) {
    if (size > 0) std::memcpy(at, bytes, size);
    at += size;
  };
  put(&head, sizeof head);
  put(mark.values.values().data(), mark.values.values().size_bytes());
  put(mark.values.texts().data(), head.text);
  put(mark.rest.data(), head.rest);
  put(mark.flows.data(), flow_bytes);
}

void unpack_mark(std::string_view packed, std::int64_t ns, SliceMark& mark) {
  PackedMark head;
  const auto take = [&](void* to, std::size_t size) {
    std::memcpy(to, packed.data(), size);
    packed.remove_prefix(size);
  };
  take(&head, sizeof head);
  mark.clear();
  mark.kind = static_cast<SliceMark::Kind>(head.kind);
  mark.table = static_cast<EventTableKind>(head.table);
  mark.ns = ns;
  mark.duration = head.duration;
  mark.name = head.name;
  mark.category = head.category;
  if (head.has_thread_ns) mark.thread_ns = head.thread_ns;
  if (head.has_instructions) mark.instructions = head.instructions;
  mark.flows_to_enclosing = head.flows_to_enclosing;
  mark.flows_to_next = head.flows_to_next;
  const std::size_t value_bytes = head.values * sizeof(tracks::BoundValue);
  const auto values = mark.values.assign(head.values, packed.substr(value_bytes, head.text));
  if (value_bytes > 0) take(values.data(), value_bytes);
  packed.remove_prefix(head.text);
  mark.rest = packed.substr(0, head.rest);
  packed.remove_prefix(head.rest);
  mark.flows.resize(head.flows);
  if (head.flows > 0) take(mark.flows.data(), mark.flows.size() * sizeof(FlowPoint));
}

[[nodiscard]] Schema mark_schema() {
  Schema schema;
  schema.name = "mark";
  schema.columns.push_back(make_column({.name = "mark", .type = ColumnType::text}));
  return schema;
}

}  // namespace

void SliceMark::clear() {
  kind = Kind::begin;
  table = EventTableKind::event;
  ns = 0;
  duration = 0;
  name = 0;
  category = 0;
  thread_ns.reset();
  instructions.reset();
  flows_to_enclosing = false;
  flows_to_next = false;
  values.clear();
  rest.clear();
  flows.clear();
}

void SliceMark::take(SliceMark& from) noexcept {
  kind = from.kind;
  table = from.table;
  ns = from.ns;
  duration = from.duration;
  name = from.name;
  category = from.category;
  thread_ns = from.thread_ns;
  instructions = from.instructions;
  flows_to_enclosing = from.flows_to_enclosing;
  flows_to_next = from.flows_to_next;
  values.swap(from.values);
  if (!rest.empty() || !from.rest.empty()) rest.swap(from.rest);
  flows.swap(from.flows);
}

SliceStacks::SliceStacks(tracks::UnorderedSession& session, TrackBook& book, EventTables& tables, FlowChains& flows)
    : session_(session), book_(book), tables_(tables), flows_(flows), spill_(kSpillMemoryBytes) {}

SliceStacks::~SliceStacks() = default;

SliceStacks::Stack& SliceStacks::stack_of(PerfettoTrack& track) {
  if (track.stack == kNone) {
    track.stack = static_cast<std::uint32_t>(stacks_.size());
    stacks_.push_back(std::make_unique<Stack>());
    stacks_.back()->track = &track;
  }
  return *stacks_[track.stack];
}

void SliceStacks::add(PerfettoTrack& track, SliceMark& mark) {
  Stack& stack = stack_of(track);
  if (mark.kind == SliceMark::Kind::instant && !mark.flows_to_enclosing) {
    instant(stack, mark);
  } else {
    if (!stack.waits && (mark.ns < stack.last_ns || stack.depth >= kMostOpen)) put_aside(stack, mark.ns);
    stack.last_ns = std::max(stack.last_ns, mark.ns);
    if (mark.kind != SliceMark::Kind::end) stack.last_table = mark.table;
    if (stack.waits) {
      keep(stack, mark);
    } else {
      take(stack, mark);
    }
  }
  mark.clear();
}

std::optional<EventTableKind> SliceStacks::open_table(const PerfettoTrack& track) const {
  if (track.stack == kNone) return std::nullopt;
  const Stack& stack = *stacks_[track.stack];
  if (stack.depth == 0) return stack.last_table;
  return stack.slots[stack.depth - 1].mark.table;
}

void SliceStacks::put_aside(Stack& stack, std::int64_t ns) {
  stack.waits = true;
  ++counts_.resorted_tracks;
  // What was joined may have to be joined otherwise. Rows that tracks share stay as they are.
  const bool late = ns < stack.written_until || !stack.unmatched.empty();
  if (late && !stack.track->shares_rows) take_back(stack);
  for (const SliceMark& mark : stack.unmatched) keep(stack, mark);
  stack.unmatched = {};
  for (std::size_t i = 0; i < stack.depth; ++i) {
    OpenSlice& slice = stack.slots[i];
    if (slice.pending) keep(stack, slice.mark);
  }
  stack.depth = 0;
  stack.slots = {};
}

void SliceStacks::take_back(Stack& stack) {
  struct TakenSlice {
    std::int64_t start = 0;
    std::int64_t end = 0;
  };
  for (std::size_t table = 0; table < kEventTableCount; ++table) {
    const std::uint32_t row = stack.track->rows[table];
    if (row == kNone || static_cast<EventTableKind>(table) == EventTableKind::instant) continue;
    std::vector<TakenSlice> open;
    SliceMark end;
    const auto close_until = [&](std::int64_t ns) {
      while (!open.empty() && open.back().end <= ns) {
        end.clear();
        end.kind = SliceMark::Kind::end;
        end.table = static_cast<EventTableKind>(table);
        end.ns = open.back().end;
        keep(stack, end);
        open.pop_back();
      }
    };
    SliceMark mark;
    session_.take(row, [&](tracks::TrackEvents::TakenEvent& event) {
      close_until(event.start);
      mark.clear();
      mark.kind = stack.any_complete ? SliceMark::Kind::complete : SliceMark::Kind::begin;
      mark.table = static_cast<EventTableKind>(table);
      mark.ns = event.start;
      mark.duration = stack.any_complete ? event.duration : 0;
      mark.name = event.name;
      mark.values = std::move(event.values);
      keep(stack, mark);
      if (!stack.any_complete) open.push_back({event.start, event.start + event.duration});
    });
    close_until(std::numeric_limits<std::int64_t>::max());
  }
  stack.written_until = INT64_MIN;
}

void SliceStacks::keep(const Stack& stack, const SliceMark& mark) {
  if (packed_bytes(mark) > kMostMarkBytes) {
    SliceMark bare = mark;
    bare.rest.clear();
    if (packed_bytes(bare) > kMostMarkBytes) {
      bare.values.clear();
      bare.flows.clear();
    }
    ++counts_.too_large;
    return keep(stack, bare);
  }
  if (sorter_ == nullptr) {
    sorter_ = std::make_unique<EventSorter>(mark_schema(), spill_, EventSorter::Options{kMarkBatchBytes});
  }
  pack_mark(mark, packed_);
  sorter_->begin();
  sorter_->text(0, packed_);
  sorter_->commit(stack.track->stack, mark.ns, 0, 0);
}

void SliceStacks::take(Stack& stack, SliceMark& mark) {
  using Kind = SliceMark::Kind;
  if (mark.kind == Kind::end) return end(stack, mark);
  if (mark.kind == Kind::instant) {
    // Only its flows count.
    close_ended(stack, mark.ns);
    if (mark.flows_to_next) {
      stack.for_next.insert(stack.for_next.end(), mark.flows.begin(), mark.flows.end());
    } else if (stack.depth == 0) {
      counts_.flows_without_slice += mark.flows.size();
    } else {
      OpenSlice& slice = stack.slots[stack.depth - 1];
      for (const FlowPoint& flow : mark.flows) {
        if (slice.written) {
          flows_.add(flow, *slice.written);
        } else {
          slice.mark.flows.push_back(flow);
        }
      }
    }
    return;
  }
  if (mark.kind == Kind::state) {
    while (stack.depth > 0) close(stack, stack.depth - 1, mark.ns, true);
    if (mark.name == 0) return;
  }
  begin(stack, mark);
}

void SliceStacks::close_ended(Stack& stack, std::int64_t ns) {
  while (stack.depth > 0) {
    const OpenSlice& top = stack.slots[stack.depth - 1];
    if (top.pending || top.end_ns > ns) return;
    drop_top(stack);
  }
}

void SliceStacks::drop_top(Stack& stack) {
  --stack.depth;
  stack.slots[stack.depth].written.reset();
}

void SliceStacks::begin(Stack& stack, SliceMark& mark) {
  close_ended(stack, mark.ns);
  if (stack.depth == stack.slots.size()) stack.slots.emplace_back();
  OpenSlice& slice = stack.slots[stack.depth];
  slice.mark.take(mark);
  slice.row = book_.row(*stack.track, slice.mark.table);
  slice.depth = 0;
  for (std::size_t below = stack.depth; below > 0; --below) {
    if (stack.slots[below - 1].row != slice.row) continue;
    slice.depth = stack.slots[below - 1].depth + 1;
    break;
  }
  slice.pending = slice.mark.kind != SliceMark::Kind::complete;
  stack.any_complete = stack.any_complete || !slice.pending;
  if (!stack.for_next.empty()) {
    slice.mark.flows.insert(slice.mark.flows.end(), stack.for_next.begin(), stack.for_next.end());
    stack.for_next.clear();
  }
  ++stack.depth;
  if (!slice.pending) {
    slice.end_ns = slice.mark.ns + slice.mark.duration;
    slice.written = write(stack, slice, slice.mark.duration);
  }
}

void SliceStacks::end(Stack& stack, SliceMark& mark) {
  std::size_t at = stack.depth;
  while (at > 0) {
    const OpenSlice& slice = stack.slots[at - 1];
    const bool named = mark.name == 0 || slice.mark.name == 0 || slice.mark.name == mark.name;
    const bool of_category = mark.category == 0 || slice.mark.category == 0 || slice.mark.category == mark.category;
    if (slice.pending && named && of_category) break;
    --at;
  }
  if (at == 0) {
    constexpr std::size_t kMostUnmatched = 1024;
    if (!stack.last_pass && stack.unmatched.size() < kMostUnmatched) {
      stack.unmatched.push_back(mark);
      return;
    }
    ++counts_.ends_without_begin;
    counts_.flows_without_slice += mark.flows.size();
    return;
  }
  OpenSlice& slice = stack.slots[at - 1];
  const EventTable& table = tables_.open(slice.mark.table);
  if (mark.table == slice.mark.table) {
    tables_.merge(table, mark.values, slice.mark.values);
  } else {
    counts_.arguments_lost += mark.values.values().size();
  }
  if (!mark.rest.empty()) slice.mark.rest += slice.mark.rest.empty() ? mark.rest : "," + mark.rest.substr(1);
  slice.mark.flows.insert(slice.mark.flows.end(), mark.flows.begin(), mark.flows.end());
  if (mark.thread_ns && slice.mark.thread_ns) {
    tables_.set_number(table, OwnColumn::thread_duration, capped_difference(*mark.thread_ns, *slice.mark.thread_ns),
                       slice.mark.values, slice.mark.rest);
  }
  if (mark.instructions && slice.mark.instructions) {
    tables_.set_number(table, OwnColumn::instruction_count,
                       capped_difference(*mark.instructions, *slice.mark.instructions), slice.mark.values,
                       slice.mark.rest);
  }
  close(stack, at - 1, mark.ns, true);
}

void SliceStacks::close(Stack& stack, std::size_t slot, std::int64_t ns, bool finished) {
  OpenSlice& slice = stack.slots[slot];
  if (slice.pending) {
    if (!finished) {
      ++counts_.unfinished;
      const std::uint32_t column = tables_.open(slice.mark.table).column(OwnColumn::unfinished);
      slice.mark.values.boolean(column, true);
    }
    (void)write(stack, slice, std::max<std::int64_t>(0, capped_difference(ns, slice.mark.ns)));
  }
  if (slot + 1 < stack.depth) {
    std::rotate(stack.slots.begin() + static_cast<std::ptrdiff_t>(slot),
                stack.slots.begin() + static_cast<std::ptrdiff_t>(slot) + 1,
                stack.slots.begin() + static_cast<std::ptrdiff_t>(stack.depth));
  }
  drop_top(stack);
}

void SliceStacks::complete(SliceMark& mark) {
  const EventTable& table = tables_.open(mark.table);
  if (mark.thread_ns) tables_.set_number(table, OwnColumn::thread_time, *mark.thread_ns, mark.values, mark.rest);
  if (mark.instructions) {
    tables_.set_number(table, OwnColumn::instructions, *mark.instructions, mark.values, mark.rest);
  }
  EventTables::set_rest(table, mark.rest, mark.values);
  if (mark.category != 0) mark.values.string(table.column(OwnColumn::category), mark.category);
}

tracks::WrittenEvent SliceStacks::write(Stack& stack, OpenSlice& slice, std::int64_t duration) {
  SliceMark& mark = slice.mark;
  complete(mark);
  const tracks::WrittenEvent event =
      stack.mixed || stack.track->shares_rows
          ? session_.write(slice.row, mark.ns, duration, mark.name, mark.values)
          : session_.write_at(slice.row, slice.depth, mark.ns, duration, mark.name, mark.values);
  stack.written_until = std::max(stack.written_until, capped_sum(mark.ns, duration));
  for (const FlowPoint& flow : mark.flows) flows_.add(flow, event);
  slice.pending = false;
  return event;
}

void SliceStacks::instant(Stack& stack, SliceMark& mark) {
  mark.table = stack.track->holds_allocations() ? EventTableKind::memory : EventTableKind::instant;
  complete(mark);
  const std::uint32_t row = book_.row(*stack.track, mark.table);
  const tracks::WrittenEvent event = session_.write(row, mark.ns, 0, mark.name, mark.values);
  for (const FlowPoint& flow : mark.flows) flows_.add(flow, event);
}

void SliceStacks::close_all(Stack& stack, std::int64_t end_ns) {
  while (stack.depth > 0) close(stack, stack.depth - 1, std::max(end_ns, stack.slots[stack.depth - 1].mark.ns), false);
  counts_.ends_without_begin += stack.unmatched.size();
  for (const SliceMark& mark : stack.unmatched) counts_.flows_without_slice += mark.flows.size();
  stack.unmatched.clear();
  counts_.flows_without_slice += stack.for_next.size();
  stack.for_next.clear();
}

Result<void> SliceStacks::finish(std::int64_t end_ns) {
  if (sorter_ != nullptr) {
    std::uint32_t at = kNone;
    std::uint64_t seen = 0;
    const Result<void> done = sorter_->merge([&](const SortedEvent& event) {
      Stack& stack = *stacks_[event.track];
      if (event.track != at) {
        if (at != kNone) close_all(*stacks_[at], end_ns);
        at = event.track;
        stack.waits = false;
        stack.last_pass = true;
        stack.mixed = stack.written_until > event.start;
      }
      unpack_mark(event.text(0), event.start, read_);
      take(stack, read_);
      return ++seen % kMarksPerLook != 0 || !session_.cancelled();
    });
    if (!done) return done;
  }
  for (const std::unique_ptr<Stack>& stack : stacks_) close_all(*stack, end_ns);
  return {};
}

void FlowChains::add(const FlowPoint& point, const tracks::WrittenEvent& event) {
  if (point.role == FlowRole::submits) {
    return session_.add_flow(tracks::FlowSide::source, submission_key(point.id), point.id, event);
  }
  if (point.role == FlowRole::waits) {
    return session_.add_flow(tracks::FlowSide::target, wait_key(point.id), point.id, event, session_.intern("wait"));
  }
  points_.push_back({point, points_.size(), event});
}

void FlowChains::join() {
  std::sort(points_.begin(), points_.end(), [](const Point& a, const Point& b) {
    return std::tie(a.flow.key, a.flow.ns, a.serial) < std::tie(b.flow.key, b.flow.ns, b.serial);
  });
  const StringId name = points_.empty() ? 0 : session_.intern("flow");
  std::uint64_t step = 0;
  const Point* last = nullptr;  // of the chain at hand
  for (std::size_t i = 0; i < points_.size(); ++i) {
    const Point& point = points_[i];
    if (i > 0 && points_[i - 1].flow.key != point.flow.key) last = nullptr;
    const FlowRole role = point.flow.role;
    if (role == FlowRole::begin || (last == nullptr && role == FlowRole::pass)) {
      last = &point;
      continue;
    }
    if (last == nullptr) {
      ++without_begin_;
      continue;
    }
    const std::uint64_t key = tracks::flow_key(0xF10, ++step);
    session_.add_flow(tracks::FlowSide::source, key, point.flow.id, last->event, name);
    session_.add_flow(tracks::FlowSide::target, key, point.flow.id, point.event, name);
    if (role == FlowRole::terminate) last = nullptr;
    if (role == FlowRole::pass || role == FlowRole::step) last = &point;
  }
  points_ = {};
}

}  // namespace accelscope::capture::sources::perfetto
