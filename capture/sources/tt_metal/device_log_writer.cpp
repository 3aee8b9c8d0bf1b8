#include "capture/sources/tt_metal/device_log_writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "capture/sources/tt_metal/log_meta_data.h"

namespace accelscope::capture {
namespace {

// TRISC_0 to TRISC_2 after the movers of data; processors that are not known come last, by name.
[[nodiscard]] std::int64_t order_of(const LogProcessor& processor) {
  constexpr std::array<std::string_view, 7> kRiscs = {"BRISC",   "NCRISC",  "TRISC", "TRISC_0",
                                                      "TRISC_1", "TRISC_2", "ERISC"};
  const auto known = std::find(kRiscs.begin(), kRiscs.end(), processor.risc);
  const std::int64_t core = (std::int64_t{processor.core_x} << 16) | processor.core_y;
  return core * 16 + (known - kRiscs.begin());
}

[[nodiscard]] LogTable table_of(MarkerKind kind) noexcept {
  switch (kind) {
    case MarkerKind::zone_begin:
    case MarkerKind::zone_end:
      return LogTable::zone;
    case MarkerKind::zone_total:
      return LogTable::zone_total;
    case MarkerKind::ts_data:
      return LogTable::ts_data;
    case MarkerKind::counter:
      return LogTable::perf_counter;
    case MarkerKind::ts_event:
    case MarkerKind::other:
      break;
  }
  return LogTable::ts_event;
}

const std::array<LogColumns, kLogTableCount> kColumns = {LogColumns(LogTable::zone), LogColumns(LogTable::zone_total),
                                                         LogColumns(LogTable::ts_data), LogColumns(LogTable::ts_event),
                                                         LogColumns(LogTable::perf_counter)};

[[nodiscard]] const LogColumns& columns_of(LogTable table) noexcept {
  return kColumns[static_cast<std::size_t>(table)];
}

}  // namespace

DeviceLogWriter::DeviceLogWriter(const DeviceLogLayout& layout, const DeviceLogDictionary& dictionary,
                                 SessionWriter& writer, DeviceLogCounts& counts)
    : layout_(layout),
      dictionary_(dictionary),
      writer_(writer),
      counts_(counts),
      matcher_(
          dictionary, [this](const MatchedZone& zone) { add_zone(zone); },
          [this](const LogMarker& end) {
            ++lone_ends_;
            add_instant(end, LogTable::ts_event, true);
          }),
      site_strings_(dictionary.sites().size()),
      meta_strings_(dictionary.meta_data().size()) {
  const auto& texts = dictionary.meta_data();
  dispatch_ = std::any_of(texts.begin(), texts.end(), [](const std::string& text) {
    return std::any_of(kDispatchKeys.begin(), kDispatchKeys.end(),
                       [&](const DispatchKey& key) { return !meta_data_field(text, key.name).empty(); });
  });
  LogTableColumns more;
  more.dispatch = dispatch_;
  for (const DeviceLogLayout::Extra& extra : layout.extras) more.extras.push_back(extra.name);
  for (std::size_t i = 0; i < kLogTableCount; ++i)
    schemas_[i] = writer.add_schema(device_log_schema(static_cast<LogTable>(i), more));
}

void DeviceLogWriter::begin_chip(std::uint32_t chip, std::int64_t first) {
  Clock clock;
  clock.name = chip_name(chip);
  if (layout_.frequency_mhz > 0) clock.ticks_per_ns = layout_.frequency_mhz / 1000;
  clock.anchors = {{first, 0}};
  clock_ = writer_.add_clock(std::move(clock));
}

Result<void> DeviceLogWriter::write(const LogProcessor& processor, MarkerRuns& markers, ChunkSpill& spill) {
  processor_ = &processor;
  if (processors_left_ > 0) --processors_left_;
  risc_ = writer_.intern(processor.risc);
  tracks_ = {};
  counter_tracks_.clear();
  unfinished_ = lone_ends_ = left_out_ = 0;
  const std::int64_t last = markers.last_time();
  constexpr std::uint32_t kCancelInterval = 4096;  // asking costs a lock
  std::uint32_t until_asked = kCancelInterval;
  const Result<void> merged = markers.merge(spill, [&](std::vector<LogMarker>& of_one_time) {
    add(of_one_time);
    if (--until_asked > 0) return true;
    until_asked = kCancelInterval;
    return !writer_.cancelled();
  });
  matcher_.finish(last);
  for (const TrackState& track : tracks_) seal(track);
  for (const auto& [name, track] : counter_tracks_) seal(track);
  counts_.unfinished.add(processor, unfinished_);
  counts_.lone_ends.add(processor, lone_ends_);
  counts_.left_out.add(processor, left_out_);
  return merged;
}

void DeviceLogWriter::seal(const TrackState& track) {
  if (track.number != kNone) writer_.flush(track.number);
}

void DeviceLogWriter::add(std::vector<LogMarker>& of_one_time) {
  for (const LogMarker& marker : of_one_time)
    ++counts_.table_rows[static_cast<std::size_t>(table_of(dictionary_.site(marker.site).kind))];
  if (of_one_time.size() > 1) {
    std::sort(of_one_time.begin(), of_one_time.end(),
              [&](const LogMarker& a, const LogMarker& b) { return canonical_order(a, b, dictionary_); });
    const auto repeated = std::unique(of_one_time.begin(), of_one_time.end());
    counts_.duplicates += static_cast<std::uint64_t>(of_one_time.end() - repeated);
    of_one_time.erase(repeated, of_one_time.end());
  }
  zone_markers_.clear();
  for (const LogMarker& marker : of_one_time) {
    const MarkerKind kind = dictionary_.site(marker.site).kind;
    if (kind == MarkerKind::zone_begin || kind == MarkerKind::zone_end) {
      zone_markers_.push_back(marker);
    } else {
      add_event(marker);
    }
  }
  if (!zone_markers_.empty()) matcher_.add(zone_markers_);
}

void DeviceLogWriter::add_event(const LogMarker& marker) {
  const MarkerKind kind = dictionary_.site(marker.site).kind;
  if (kind == MarkerKind::other) ++counts_.unknown_types;
  if (kind == MarkerKind::counter) return add_counter(marker);
  add_instant(marker, table_of(kind), false);
}

TrackNumber DeviceLogWriter::add_track(std::string name, std::string kind, LogTable table, TrackNumber parent) {
  if (track_count_ == kMostTracks) return kNone;
  ++track_count_;
  Track track;
  track.parent = parent;
  track.name = std::move(name);
  track.kind = std::move(kind);
  track.device = chip_name(processor_->chip);
  track.schema = schemas_[static_cast<std::size_t>(table)];
  track.clock = clock_;
  track.order = order_of(*processor_);
  return writer_.add_track(std::move(track));
}

// The row of the zones; markers of other kinds lie in rows below it.
DeviceLogWriter::TrackState& DeviceLogWriter::track_of(LogTable table) {
  constexpr std::array<std::string_view, kLogTableCount> kSuffixes = {"", " totals", " data", " events", ""};
  TrackState& track = tracks_[static_cast<std::size_t>(table)];
  if (track.number != kNone) return track;
  const TrackNumber parent = table == LogTable::zone ? kNone : track_of(LogTable::zone).number;
  track.number = add_track(fmt::format("{}{}", processor_name(*processor_), kSuffixes[static_cast<std::size_t>(table)]),
                           "engine", table, parent);
  return track;
}

DeviceLogWriter::TrackState& DeviceLogWriter::counter_track(const LogSite& site) {
  const auto [place, added] = counter_tracks_.try_emplace(site.name);
  if (added)
    place->second.number = add_track(fmt::format("{} {}", processor_name(*processor_), site.name), "counter",
                                     LogTable::perf_counter, kNone);
  return place->second;
}

// The first lane of a processor's zones is kept free for it; all others go to those that come first.
bool DeviceLogWriter::has_lane(TrackState& track, std::uint32_t depth) {
  const std::uint32_t needed = depth + 1 > track.lanes ? depth + 1 - track.lanes : 0;
  const TrackState& zones = tracks_[static_cast<std::size_t>(LogTable::zone)];
  const bool is_kept_free = &track == &zones && depth == 0;
  const std::uint32_t kept_free = is_kept_free ? 0 : processors_left_ + (zones.lanes == 0 && &track != &zones ? 1 : 0);
  if (track.number == kNone || (needed > 0 && lane_count_ + needed + kept_free > kMostLanes)) {
    ++left_out_;
    return false;
  }
  lane_count_ += needed;
  track.lanes += needed;
  return true;
}

const DeviceLogWriter::SiteStrings& DeviceLogWriter::strings_of(std::uint32_t number) {
  SiteStrings& strings = site_strings_[number];
  if (strings.known) return strings;
  const LogSite& site = dictionary_.site(number);
  strings.known = true;
  strings.name = writer_.intern(site.name);
  strings.type = writer_.intern(site.type);
  if (!site.file.empty()) strings.source = writer_.intern(fmt::format("{}:{}", site.file, site.line));
  return strings;
}

const DeviceLogWriter::MetaStrings& DeviceLogWriter::strings_of_meta_data(std::uint64_t number) {
  MetaStrings& strings = meta_strings_[number];
  if (strings.known) return strings;
  const std::string& text = dictionary_.meta_data(number);
  strings.known = true;
  strings.text = writer_.intern(text);
  for (std::size_t i = 0; i < kDispatchKeys.size(); ++i)
    strings.dispatch[i] = writer_.intern(meta_data_field(text, kDispatchKeys[i].name));
  return strings;
}

void DeviceLogWriter::fill(Row& row, const LogColumns& at, const LogMarker& marker) {
  const LogSite& site = dictionary_.site(marker.site);
  row.integer(at[LogField::pcie_slot], processor_->chip);
  row.integer(at[LogField::core_x], processor_->core_x);
  row.integer(at[LogField::core_y], processor_->core_y);
  row.string(at[LogField::risc], risc_);
  row.integer(at[LogField::time_cycles], marker.time);
  if (site.has_timer_id) row.unsigned_integer(at[LogField::timer_id], site.timer_id);
  if (const StringId source = strings_of(marker.site).source; source != 0) row.string(at[LogField::source], source);
  const LogContext& context = dictionary_.context(marker.context);
  constexpr std::array<LogField, LogContext::kIds> kIdFields = {LogField::run_id, LogField::run_host_id,
                                                                LogField::trace_id, LogField::trace_id_counter};
  for (std::size_t id = 0; id < LogContext::kIds; ++id) {
    if (context.has(id)) row.unsigned_integer(at[kIdFields[id]], context.ids[id]);
  }
  const std::size_t extras = at.further() + (dispatch_ ? kDispatchKeys.size() : 0);
  for (std::size_t i = 0; i < context.extras.size(); ++i) {
    if (!context.extras[i].empty()) row.string(extras + i, writer_.intern(context.extras[i]));
  }
}

void DeviceLogWriter::fill_meta_data(Row& row, const LogColumns& at, std::uint64_t number) {
  if (number == 0) return;
  const MetaStrings& strings = strings_of_meta_data(number);
  row.string(at[LogField::meta_data], strings.text);
  if (!dispatch_) return;
  for (std::size_t i = 0; i < kDispatchKeys.size(); ++i) {
    if (strings.dispatch[i] == 0) continue;
    const std::string_view text = meta_data_field(dictionary_.meta_data(number), kDispatchKeys[i].name);
    std::uint64_t value = 0;
    if (kDispatchKeys[i].type == ColumnType::string) {
      row.string(at.further() + i, strings.dispatch[i]);
    } else if (read_number(text, value) == NumberState::ok) {
      row.unsigned_integer(at.further() + i, value);
    }
  }
}

void DeviceLogWriter::add_zone(const MatchedZone& zone) {
  if (zone.end == nullptr) ++unfinished_;
  TrackState& track = track_of(LogTable::zone);
  if (!has_lane(track, zone.depth)) return;
  const LogMarker& begin = *zone.begin;
  const LogColumns& at = columns_of(LogTable::zone);
  const std::int64_t cycles = zone.end_time - begin.time;
  Row row = writer_.begin_event_at(track.number, zone.depth, begin.time, cycles, strings_of(begin.site).name);
  fill(row, at, begin);
  row.integer(at[LogField::own], cycles);
  row.boolean(at[LogField::unfinished], zone.end == nullptr);
  const LogMarker& end = zone.end == nullptr ? begin : *zone.end;
  row.unsigned_integer(at[LogField::value], begin.data != 0 ? begin.data : end.data);
  fill_meta_data(row, at, begin.extra);
  if (end.extra != begin.extra) row.string(at[LogField::end_meta_data], strings_of_meta_data(end.extra).text);
}

void DeviceLogWriter::add_instant(const LogMarker& marker, LogTable table, bool lone_end) {
  TrackState& track = track_of(table);
  if (!has_lane(track, 0)) return;
  const LogColumns& at = columns_of(table);
  const SiteStrings& strings = strings_of(marker.site);
  Row row = writer_.begin_event(track.number, marker.time, 0, strings.name);
  fill(row, at, marker);
  row.unsigned_integer(at[LogField::value], marker.data);
  fill_meta_data(row, at, marker.extra);
  if (table == LogTable::zone_total) {
    const double mhz = layout_.frequency_mhz > 0 ? layout_.frequency_mhz : 1000;
    row.integer(at[LogField::own], std::llround(std::min(static_cast<double>(marker.data) * 1000 / mhz, 9e18)));
  } else if (table == LogTable::ts_event) {
    row.string(at[LogField::own], strings.type);
    row.boolean(at[LogField::unfinished], lone_end);
  }
}

void DeviceLogWriter::add_counter(const LogMarker& marker) {
  TrackState& track = counter_track(dictionary_.site(marker.site));
  if (!has_lane(track, 0)) return;
  const LogColumns& at = columns_of(LogTable::perf_counter);
  Row row = writer_.begin_event(track.number, marker.time, 0, strings_of(marker.site).name);
  fill(row, at, marker);
  row.unsigned_integer(at[LogField::value], marker.data);
  row.unsigned_integer(at[LogField::own], marker.extra);
}

}  // namespace accelscope::capture
