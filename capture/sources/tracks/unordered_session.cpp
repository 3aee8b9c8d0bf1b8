#include "capture/sources/tracks/unordered_session.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <numeric>

#include "capture/sources/tracks/gpu_tables.h"
#include "core/base/capped.h"
#include "core/base/text.h"
#include "core/model/column_spec.h"
#include "core/model/track_kinds.h"

namespace accelscope::capture::sources::tracks {
namespace {

constexpr std::size_t kHeldMemoryBytes = 256U << 20;  // packed events beyond it go to a temporary file

}  // namespace

UnorderedSession::UnorderedSession(EventSink& sink)
    : sink_(sink), spill_(kHeldMemoryBytes), held_(sink, spill_), writer_(held_), events_(writer_, held_) {}

std::uint32_t UnorderedSession::add_table(Schema schema) {
  const SchemaNumber number = writer_.add_schema(schema);
  tables_.push_back({std::move(schema), number, kNone});
  return static_cast<std::uint32_t>(tables_.size() - 1);
}

std::uint32_t UnorderedSession::counter_table() {
  if (counters_ == kNone) {
    counters_ = add_table(make_counter_schema());
  }
  return counters_;
}

std::uint32_t UnorderedSession::add_track(std::uint32_t table, Track track, RowPlace place, std::uint32_t above) {
  Table& of = tables_[table];
  if (rows_.size() >= kMostRows) {
    ++shared_rows_;
    if (of.overflow != kNone) return of.overflow;
    track.name = "further rows of " + of.schema.name;
    above = kNone;
  }
  const auto number = static_cast<std::uint32_t>(rows_.size());
  if (rows_.size() >= kMostRows) of.overflow = number;
  rows_.push_back({std::move(track), place, above, table, events_.add_track(of.number, of.schema)});
  return number;
}

std::uint32_t UnorderedSession::add_group(Track track, RowPlace place, std::uint32_t above) {
  rows_.push_back({std::move(track), place, above, kNone, kNone});
  return static_cast<std::uint32_t>(rows_.size() - 1);
}

void UnorderedSession::note_time(const SessionRow& row, std::int64_t& duration) {
  if (duration < 0) {
    ++negative_durations_;
    duration = 0;
  }
  any_ = any_ || (row.track.clock == kNone && tables_[row.table].schema.kind != EventKind::table);
}

Result<void> UnorderedSession::finish_events(double ticks_per_ns) {
  std::vector<const SessionRow*> by_events(events_.size(), nullptr);
  for (const SessionRow& row : rows_) {
    if (row.events != kNone) by_events[row.events] = &row;
  }
  const auto use = [&](std::uint32_t events) {
    const SessionRow& row = *by_events[events];
    const WorkKind work = track_kind_of(row.track.kind).work;
    TrackEvents::TimeUse of;
    of.timed = tables_[row.table].schema.kind != EventKind::table;
    of.clock = row.track.clock;
    of.ticks_per_ns = row.track.clock == kNone ? ticks_per_ns : 1;
    of.on_host = work == WorkKind::host;
    of.in_order = is_in_order(row.track.kind, tables_[row.table].schema.name);
    return of;
  };
  if (Result<void> done = events_.finish(use); !done) return done;
  first_ = std::numeric_limits<std::int64_t>::max();
  for (const SessionRow& row : rows_) {
    const bool main = row.events != kNone && row.track.clock == kNone;
    if (main && use(row.events).timed) first_ = std::min(first_, events_.first_start(row.events));
  }
  any_ = any_ && first_ != std::numeric_limits<std::int64_t>::max();
  return {};
}

WrittenEvent UnorderedSession::write(std::uint32_t row, std::int64_t start, std::int64_t duration, StringId name,
                                     const EventValues& values) {
  const SessionRow& of = rows_[row];
  note_time(of, duration);
  const EventId id = events_.write(of.events, start, duration, name, values.values(), values.texts());
  return {of.events, static_cast<std::uint32_t>(events_written_++), start, duration, name, id};
}

WrittenEvent UnorderedSession::write_at(std::uint32_t row, std::uint32_t depth, std::int64_t start,
                                        std::int64_t duration, StringId name, const EventValues& values) {
  const SessionRow& of = rows_[row];
  note_time(of, duration);
  const EventId id = events_.write_at(of.events, depth, start, duration, name, values.values(), values.texts());
  return {of.events, static_cast<std::uint32_t>(events_written_++), start, duration, name, id};
}

void UnorderedSession::sample(std::uint32_t row, std::int64_t ticks, double value) {
  sample_.clear();
  sample_.real(0, value);
  write(row, ticks, 0, 0, sample_);
}

void UnorderedSession::add_flow(FlowSide side, std::uint64_t key, std::uint64_t id, const WrittenEvent& event,
                                StringId name) {
  if (name == 0 && launch_ == 0) launch_ = intern("launch");
  flows_.add(side, key, id, name == 0 ? launch_ : name, event);
}

Result<void> UnorderedSession::finish(const Finish& options) {
  if (Result<void> done = finish_events(options.ticks_per_ns); !done) return done;
  if (options.about_rows) options.about_rows();
  if (Result<void> done = write_flows(options); !done) return done;
  if (Result<void> done = writer_.finish(); !done) return done;
  Clock clock;
  clock.name = options.clock;
  clock.ticks_per_ns = options.ticks_per_ns;
  if (any_) clock.anchors = {{first_, 0}};
  const ClockNumber number = writer_.add_clock(clock);
  if (any_) {
    const std::int64_t first_ns = capped_integer(static_cast<double>(first_) / options.ticks_per_ns);
    writer_.set_meta("trace_begin_ns", std::to_string(options.ticks_per_ns == 1 ? first_ : first_ns));
    if (options.unix_ns) {
      writer_.set_meta("begin_unix_ns",
                       std::to_string(capped_sum(*options.unix_ns, options.ticks_per_ns == 1 ? first_ : first_ns)));
    }
  }
  report_losses();
  report_.write(writer_);
  if (Result<void> done = writer_.finish(); !done) return done;
  if (Result<void> done = define_rows(number); !done) return done;
  if (Result<void> done = held_.release(); !done) {
    return sink_.cancelled() ? Error{fmt::format("{}: the import was cancelled", options.path)} : done;
  }
  return {};
}

Result<void> UnorderedSession::write_flows(const Finish& options) {
  if (flows_.empty()) return {};
  EventValues values;
  std::uint32_t row = kNone;
  const Result<void> joined = flows_.join(events_, held_, [&](const FlowEnds::Joined& flow) {
    if (row == kNone) row = add_track(add_table(make_flow_schema()), {.name = "flows", .kind = "flow"});
    values.clear();
    values.unsigned_integer(kFlowSource, flow.source);
    values.unsigned_integer(kFlowTarget, flow.target);
    values.integer(kFlowId, static_cast<std::int64_t>(flow.id));
    events_.write(rows_[row].events, flow.target_start, 0, flow.name, values.values(), values.texts());
    return !cancelled();
  });
  if (!joined) return joined;
  report_.note("flow_without_partner", std::string(options.unjoined_sources),
               options.unjoined_sources.empty() ? 0 : flows_.counts().without_target);
  report_.note("flow_without_partner", std::string(options.unjoined_targets),
               options.unjoined_targets.empty() ? 0 : flows_.counts().without_source);
  report_.note(
      "flow_without_event",
      "flows begin or end at events that were left out or whose times cannot be true, so there is no arrow for "
      "them",
      flows_.counts().without_event);
  return {};
}

std::vector<std::uint32_t> UnorderedSession::rows_in_order() const {
  std::vector<std::uint32_t> order(rows_.size());
  std::iota(order.begin(), order.end(), 0U);
  const auto natural = [](const std::string& a, const std::string& b) {
    return natural_less(a, b) ? -1 : natural_less(b, a) ? 1 : 0;
  };
  std::stable_sort(order.begin(), order.end(), [&](std::uint32_t left, std::uint32_t right) {
    const SessionRow& a = rows_[left];
    const SessionRow& b = rows_[right];
    if (a.place.rank != b.place.rank) return a.place.rank < b.place.rank;
    if (const int hosts = natural(a.track.host, b.track.host); hosts != 0) return hosts < 0;
    if (const int devices = natural(a.track.device, b.track.device); devices != 0) return devices < 0;
    if (a.place.place != b.place.place) return a.place.place < b.place.place;
    return natural(a.track.name, b.track.name) < 0;
  });
  std::vector<std::vector<std::uint32_t>> below(rows_.size() + 1);
  for (const std::uint32_t row : order) {
    below[rows_[row].above == kNone ? rows_.size() : rows_[row].above].push_back(row);
  }
  std::vector<std::uint32_t> sorted;
  std::vector<std::uint32_t> waiting(below.back().rbegin(), below.back().rend());
  while (!waiting.empty()) {
    const std::uint32_t row = waiting.back();
    waiting.pop_back();
    sorted.push_back(row);
    waiting.insert(waiting.end(), below[row].rbegin(), below[row].rend());
  }
  return sorted;
}

Result<void> UnorderedSession::define_rows(ClockNumber clock) {
  for (SessionRow& row : rows_) {
    row.track.number = row.table == kNone ? writer_.add_track({}) : events_.number(row.events);
    if (row.table == kNone) continue;
    row.track.schema = tables_[row.table].number;
    if (row.track.clock == kNone && tables_[row.table].schema.kind != EventKind::table) row.track.clock = clock;
  }
  std::int64_t order = 0;
  for (const std::uint32_t number : rows_in_order()) {
    SessionRow& row = rows_[number];
    row.track.parent = row.above == kNone ? kNone : rows_[row.above].track.number;
    row.track.order = order++;
    if (Result<void> done = sink_.define(row.track); !done) return done;
    if (row.events == kNone || events_.doubtful(row.events) == kNone) continue;
    const Track aside = doubtful_track(row.track, events_.doubtful(row.events), order++);
    if (Result<void> done = sink_.define(aside); !done) return done;
  }
  return {};
}

void UnorderedSession::report_losses() {
  report_.note("negative_duration", "events end before they begin; they are shown with no duration",
               negative_durations_);
  events_.report_losses(report_);
  report_.note("too_many_tracks",
               fmt::format("rows beyond the first {} share rows called \"further rows ...\"", kMostRows), shared_rows_);
}

}  // namespace accelscope::capture::sources::tracks
