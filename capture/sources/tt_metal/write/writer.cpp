#include "capture/sources/tt_metal/write/writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <set>
#include <string_view>
#include <tuple>

#include "capture/sources/base/import_report.h"
#include "capture/sources/base/source_finder.h"
#include "capture/sources/tt_metal/read/layout.h"
#include "core/model/track_kinds.h"

namespace accelscope::capture::sources::tt_metal {
namespace {

struct ProblemText {
  RowProblem problem;
  QualityKind kind;
  std::string_view text;  // {} is the line
};
constexpr ProblemText kProblems[] = {
    {RowProblem::too_few_cells, "rows_skipped",
     "rows with fewer cells than the header were skipped, the first in line {}; two writers may have mixed their "
     "lines"},
    {RowProblem::too_many_cells, "rows_skipped",
     "rows with more cells than the header were skipped, the first in line {}; is a comma in a name there?"},
    {RowProblem::not_a_row, "rows_skipped",
     "lines that are no rows were skipped, the first is line {}; was a program's output mixed in?"},
    {RowProblem::open_quote, "rows_skipped", "rows with a quote that stays open were skipped, the first in line {}"},
    {RowProblem::not_a_number, "rows_skipped",
     "rows with something else than a number for the time, chip or core were skipped, the first in line {}"},
    {RowProblem::negative, "rows_skipped",
     "rows with a negative time, chip or core were skipped, the first in line {}"},
    {RowProblem::too_large, "rows_skipped",
     "rows with a time, chip or core beyond what a device can have were skipped, the first in line {}"},
    {RowProblem::bad_processor, "rows_skipped",
     "rows without the name of a RISC processor were skipped, the first in line {}"},
    {RowProblem::too_many_processors, "rows_skipped",
     "rows of more processors than a session can hold were skipped, the first in line {}; split the log by its chips"},
    {RowProblem::prologue, "repeated_header",
     "further headers, the first in line {}: logs of several runs were joined, and their cycles may begin anew; split "
     "the "
     "file there if the timeline looks wrong"},
    {RowProblem::cut_short, "truncated",
     "the file ends in the middle of line {}; everything before it was read. Copy it completely, or let the program on "
     "the host end properly"},
    {RowProblem::value_left_out, "values_left_out",
     "rows were read without an id or a value that is no number, the first in line {}"},
};

}  // namespace

std::string processor_name(const LogProcessor& processor) {
  return fmt::format("core {},{} {}", processor.core_x, processor.core_y, processor.risc);
}

std::string chip_name(std::uint32_t chip) { return fmt::format("chip {}", chip); }

void CountByProcessor::add(const LogProcessor& processor, std::uint64_t count) {
  if (count == 0) return;
  total_ += count;
  if (processors_++ >= kNamed) return;
  names_ += fmt::format("{}{} {} ({})", names_.empty() ? "" : ", ", chip_name(processor.chip),
                        processor_name(processor), count);
}

std::string CountByProcessor::names() const {
  return processors_ <= kNamed ? names_ : fmt::format("{} and {} more", names_, processors_ - kNamed);
}

Error no_device_log(const std::string& name, const std::string& reason) {
  return Error{fmt::format(
      "{}: {}; a device log is the file profile_log_device.csv that tt-metal writes with TT_METAL_DEVICE_PROFILER=1",
      name, reason)};
}

void write_facts(const DeviceLogCounts& counts, const DeviceLogLayout& layout, SessionWriter& writer) {
  if (!layout.arch.empty()) writer.set_meta("arch", layout.arch);
  if (layout.frequency_mhz > 0) writer.set_meta("chip_freq_mhz", fmt::format("{}", layout.frequency_mhz));
  if (layout.max_compute_cores) writer.set_meta("max_compute_cores", fmt::format("{}", *layout.max_compute_cores));
  writer.set_meta("device_log_rows", fmt::format("{}", counts.rows));
  for (std::size_t i = 0; i < kLogTableCount; ++i) {
    if (counts.table_rows[i] == 0) continue;
    set_row_counts(writer, device_log_schema(static_cast<LogTable>(i), {}).name, counts.table_rows[i],
                   counts.table_rows[i]);
  }
}

void write_sources(const DeviceLogDictionary& dictionary, const std::vector<std::string>& roots,
                   SessionWriter& writer) {
  std::set<std::string> files;
  for (const LogSite& site : dictionary.sites()) {
    if (!site.file.empty()) files.insert(site.file);
  }
  add_source_files(files, roots, "the log names", writer, ", such as a checkout of tt-metal,");
}

void write_report(const DeviceLogCounts& counts, const DeviceLogLayout& layout, SessionWriter& writer) {
  const auto note = [&](QualityKind kind, std::uint64_t count, std::string detail) {
    if (count > 0) writer.add_quality({kind, count, std::move(detail)});
  };
  for (const ProblemText& text : kProblems) {
    const RowProblemCount& counted = counts.problems[text.problem];
    note(text.kind, counted.count, fmt::format(fmt::runtime(text.text), counted.first_line));
  }
  note("rows_skipped", counts.long_lines, "lines of more than half a MiB were skipped; is this a text file?");
  note("file_holes", counts.hole_bytes, hole_in_words(counts.first_hole));
  note("unreadable", counts.unreadable.empty() ? 0 : 1, counts.unreadable);
  const bool reported = counts.problems[RowProblem::cut_short].count > 0 || !counts.unreadable.empty();
  note(QualityKind("truncated").as(Severity::warning), counts.ends_in_line && !reported ? 1 : 0,
       std::string(kLastLineIsOpen));
  note(
      "no_rows", counts.rows == 0 ? 1 : 0,
      "the log has a header but no rows; run the program with TT_METAL_DEVICE_PROFILER=1 and read the device's profile "
      "before it ends");
  note("unmatched_begins", counts.unfinished.total(),
       fmt::format("zones begin but never end, on {}: the device's marker buffer was full or the log was taken while "
                   "kernels ran. They are drawn to where their parent ends and marked unfinished; read the device's "
                   "profile more often",
                   counts.unfinished.names()));
  note("unmatched_ends", counts.lone_ends.total(),
       fmt::format(
           "zones end that never began, on {}: the device's marker buffer dropped their begin. They are instants "
           "in ts_event; read the device's profile more often",
           counts.lone_ends.names()));
  note("impossible_times", counts.doubtful,
       "markers have times that all others of their chip belie, such as 0 or a day away; they are moments on rows of "
       "their own (\"impossible times\") and count in no view");
  note("duplicate_rows", counts.duplicates, "rows that repeat another one to the last digit were counted once");
  note("unknown_types", counts.unknown_types,
       "rows of types that this version does not know; they are instants in ts_event with their type");
  note("names_left_out", counts.names_left_out,
       "more different names, ids or meta data than can be kept apart; the later ones are missing from their events");
  note("lanes_left_out", counts.left_out.total(),
       fmt::format("events found no lane, for a session holds {} of them, on {}; split the log by its chips and import "
                   "the parts",
                   kMaxLocalNumber, counts.left_out.names()));
  note("frequency_missing", layout.frequency_mhz > 0 ? 0 : 1,
       "the log states no frequency of the chip (CHIP_FREQ in its first line): a cycle is shown as 1 ns");
  note("chips_not_synchronised", counts.chips > 1 ? counts.chips : 0,
       "chips count cycles of their own that the log does not relate: times within a chip are exact, and each chip "
       "begins at "
       "its own first event; compare no times between chips");
  if (layout.extras.empty()) return;
  std::string names;
  for (const DeviceLogLayout::Extra& extra : layout.extras) {
    names += names.empty() ? "\"" : ", \"";
    names += extra.name.substr(0, 60) + "\"";
  }
  note("unknown_columns", layout.extras.size(),
       fmt::format("columns that this version does not know were kept as text: {}", names));
}

bool canonical_order(const LogMarker& a, const LogMarker& b, const DeviceLogDictionary& dictionary) {
  if (a.site != b.site) {
    const auto text = [&](const LogMarker& marker) {
      const LogSite& site = dictionary.site(marker.site);
      return std::tie(site.rank, site.name, site.file, site.line, site.kind, site.type, site.timer_id);
    };
    return text(a) < text(b);
  }
  if (a.context != b.context) {
    const LogContext& left = dictionary.context(a.context);
    const LogContext& right = dictionary.context(b.context);
    if (!left.same_run(right)) {
      if (left.present != right.present) return left.present < right.present;
      return std::lexicographical_compare(std::begin(left.ids), std::end(left.ids), std::begin(right.ids),
                                          std::end(right.ids));
    }
    return left.extras < right.extras;
  }
  if (a.data != b.data) return a.data < b.data;
  if (a.extra == b.extra) return false;
  if (dictionary.site(a.site).kind == MarkerKind::counter) return a.extra < b.extra;
  return dictionary.meta_data(a.extra) < dictionary.meta_data(b.extra);
}

// The end of the zone opened last, or of one opened at the same time as it: of those the file does not tell which
// encloses which before they end.
bool ZoneMatcher::close_newest(const LogMarker& end) {
  const std::uint32_t zone = site(end).zone;
  for (std::size_t place = stack_.size(); place-- > 0;) {
    const Open& open = stack_[place];
    if (open.begin.time != stack_.back().begin.time || open.rank != stack_.back().rank) return false;
    if (open.zone != zone) continue;
    on_zone_({&open.begin, &end, end.time, static_cast<std::uint32_t>(stack_.size() - 1)});
    stack_.erase(stack_.begin() + static_cast<std::ptrdiff_t>(place));
    return true;
  }
  return false;
}

// The end of an enclosing zone: those in it have lost theirs.
bool ZoneMatcher::close_deeper(const LogMarker& end) {
  const std::uint32_t zone = site(end).zone;
  const auto found = std::find_if(stack_.rbegin(), stack_.rend(), [&](const Open& open) { return open.zone == zone; });
  if (found == stack_.rend()) return false;
  const auto place = static_cast<std::size_t>(stack_.rend() - found) - 1;
  close_from(place + 1, end.time);
  on_zone_({&stack_.back().begin, &end, end.time, static_cast<std::uint32_t>(place)});
  stack_.pop_back();
  return true;
}

void ZoneMatcher::close_from(std::size_t place, std::int64_t time) {
  while (stack_.size() > place) {
    on_zone_({&stack_.back().begin, nullptr, time, static_cast<std::uint32_t>(stack_.size() - 1)});
    stack_.pop_back();
  }
}

void ZoneMatcher::open(const LogMarker& begin) {
  const LogSite& zone = site(begin);
  const LogContext& run = dictionary_.context(begin.context);
  // Firmware and kernels do not call themselves, and no zone goes on in another run.
  const auto lost = std::find_if(stack_.begin(), stack_.end(), [&](const Open& open) {
    return open.zone == zone.zone && (open.rank < 2 || !dictionary_.context(open.begin.context).same_run(run));
  });
  if (lost != stack_.end()) close_from(static_cast<std::size_t>(lost - stack_.begin()), begin.time);
  if (stack_.size() == kDeepest) close_from(kDeepest - 1, begin.time);
  stack_.push_back({begin, zone.zone, zone.rank});
}

void ZoneMatcher::add(const std::vector<LogMarker>& of_one_time) {
  if (of_one_time.size() > 1) return add_group(of_one_time);
  const LogMarker& marker = of_one_time.front();
  if (site(marker).kind == MarkerKind::zone_begin) return open(marker);
  if (!close_newest(marker) && !close_deeper(marker)) on_lone_end_(marker);
}

// At one time, zones that were open end first, then further ones begin; what then still wants to end began just now.
void ZoneMatcher::add_group(const std::vector<LogMarker>& of_one_time) {
  std::vector<LogMarker> begins;
  std::vector<LogMarker> ends;
  for (const LogMarker& marker : of_one_time)
    (site(marker).kind == MarkerKind::zone_begin ? begins : ends).push_back(marker);
  const auto close_all = [&](bool (ZoneMatcher::*close)(const LogMarker&)) {
    for (bool any = true; any;) {
      const auto closed =
          std::find_if(ends.begin(), ends.end(), [&](const LogMarker& end) { return (this->*close)(end); });
      any = closed != ends.end();
      if (any) ends.erase(closed);
    }
  };
  close_all(&ZoneMatcher::close_newest);
  close_all(&ZoneMatcher::close_deeper);
  // Zones without length lie beside each other in what is open now.
  std::erase_if(begins, [&](const LogMarker& begin) {
    const auto end = std::find_if(ends.begin(), ends.end(),
                                  [&](const LogMarker& other) { return site(other).zone == site(begin).zone; });
    if (end == ends.end()) return false;
    on_zone_({&begin, &*end, begin.time, static_cast<std::uint32_t>(std::min(stack_.size(), kDeepest))});
    ends.erase(end);
    return true;
  });
  for (const LogMarker& end : ends) on_lone_end_(end);
  for (const LogMarker& begin : begins) open(begin);
}

void ZoneMatcher::finish(std::int64_t last_time) { close_from(0, last_time); }

namespace {

// TRISC_0 to TRISC_2 after the movers of data; processors that are not known come last, by name.
[[nodiscard]] std::int64_t order_of(const LogProcessor& processor) {
  constexpr std::array<std::string_view, 7> kRiscs = {"BRISC",   "NCRISC",  "TRISC", "TRISC_0",
                                                      "TRISC_1", "TRISC_2", "ERISC"};
  const auto known = std::find(kRiscs.begin(), kRiscs.end(), processor.risc);
  const std::int64_t core = (std::int64_t{processor.core_x} << 16) | processor.core_y;
  return core * 16 + (known - kRiscs.begin());
}

}  // namespace

LogTable table_of(MarkerKind kind) noexcept {
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

DeviceLogWriter::DeviceLogWriter(const DeviceLogLayout& layout, const DeviceLogDictionary& dictionary,
                                 SessionWriter& writer, DeviceLogCounts& counts)
    : layout_(layout), dictionary_(dictionary), writer_(writer), counts_(counts) {
  const auto& texts = dictionary.meta_data();
  dispatch_ = std::any_of(texts.begin(), texts.end(), [](const std::string& text) {
    return std::any_of(kDispatchKeys.begin(), kDispatchKeys.end(),
                       [&](const DispatchKey& key) { return !meta_data_field(text, key.name).empty(); });
  });
  add_schemas();
}

DeviceLogWriter::DeviceLogWriter(const DeviceLogLayout& layout, const DeviceLogDictionary& dictionary,
                                 SessionWriter& writer, DeviceLogCounts& counts, const LiveLog& live)
    : layout_(layout),
      dictionary_(dictionary),
      writer_(writer),
      counts_(counts),
      label_(live.label),
      dispatch_(layout.has(LogColumn::meta_data)),
      track_count_(live.tracks),
      lane_count_(live.lanes) {
  add_schemas();
}

void DeviceLogWriter::add_schemas() {
  LogTableColumns more;
  more.dispatch = dispatch_;
  for (const DeviceLogLayout::Extra& extra : layout_.extras) more.extras.push_back(extra.name);
  for (std::size_t i = 0; i < kLogTableCount; ++i)
    schemas_[i] = writer_.add_schema(device_log_schema(static_cast<LogTable>(i), more));
}

Clock DeviceLogWriter::begin_chip(std::uint32_t chip, ClockAnchor anchor) {
  Clock clock;
  clock.name = label_ + chip_name(chip);
  if (layout_.frequency_mhz > 0) clock.ticks_per_ns = layout_.frequency_mhz / 1000;
  clock.anchors = {anchor};
  clock.number = clock_ = writer_.add_clock(clock);
  return clock;
}

std::unique_ptr<DeviceLogWriter::Processor> DeviceLogWriter::begin(const LogProcessor& processor, ClockNumber clock) {
  auto begun = std::make_unique<Processor>(
      processor, dictionary_, [this](const MatchedZone& zone) { add_zone(zone); },
      [this](const LogMarker& end) {
        ++at_->lone_ends;
        add_instant(end, LogTable::ts_event, true);
      });
  begun->clock = clock;
  begun->risc = writer_.intern(processor.risc);
  begun->bounds = &bounds_[processor.chip];
  return begun;
}

Result<void> DeviceLogWriter::write(const LogProcessor& processor, MarkerRuns& markers, ChunkSpill& spill) {
  if (processors_left_ > 0) --processors_left_;
  const std::unique_ptr<Processor> to = begin(processor, clock_);
  std::int64_t last = markers.first_time();
  constexpr std::uint32_t kCancelInterval = 4096;  // asking costs a lock
  std::uint32_t until_asked = kCancelInterval;
  const Result<void> merged = markers.merge(spill, [&](std::vector<LogMarker>& of_one_time) {
    for (const LogMarker& marker : of_one_time)
      ++counts_.table_rows[static_cast<std::size_t>(table_of(dictionary_.site(marker.site).kind))];
    if (add(*to, of_one_time)) last = of_one_time.front().time;
    if (--until_asked > 0) return true;
    until_asked = kCancelInterval;
    return !writer_.cancelled();
  });
  end(*to, last);
  for (const TrackState& track : to->tracks) seal(track);
  seal(to->doubtful);
  for (const auto& [name, track] : to->counter_tracks) seal(track);
  return merged;
}

void DeviceLogWriter::add_doubtful(const LogMarker& marker) {
  ++counts_.doubtful;
  TrackState& track = at_->doubtful;
  if (track.number == kNone) {
    track.number = add_track(fmt::format("{} (impossible times)", processor_name(at_->facts)),
                             std::string(kDoubtfulTrack), LogTable::ts_event, core_track());
  }
  add_instant(marker, LogTable::ts_event, track, false);
}

void DeviceLogWriter::end(Processor& of, std::int64_t last_time) {
  at_ = &of;
  of.matcher.finish(last_time);
  of.late.finish(last_time);
  counts_.unfinished.add(of.facts, of.unfinished);
  counts_.lone_ends.add(of.facts, of.lone_ends);
  counts_.left_out.add(of.facts, of.left_out);
}

void DeviceLogWriter::seal(const TrackState& track) {
  if (track.number != kNone) writer_.flush(track.number);
}

bool DeviceLogWriter::add(Processor& to, std::vector<LogMarker>& of_one_time, bool late) {
  at_ = &to;
  if (of_one_time.size() > 1) {
    std::sort(of_one_time.begin(), of_one_time.end(),
              [&](const LogMarker& a, const LogMarker& b) { return canonical_order(a, b, dictionary_); });
    const auto repeated = std::unique(of_one_time.begin(), of_one_time.end());
    counts_.duplicates += static_cast<std::uint64_t>(of_one_time.end() - repeated);
    of_one_time.erase(repeated, of_one_time.end());
  }
  if (!to.bounds->hold(of_one_time.front().time, 0)) {
    for (const LogMarker& marker : of_one_time) add_doubtful(marker);
    return false;
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
  if (!zone_markers_.empty()) (late ? to.late : to.matcher).add(zone_markers_);
  return true;
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
  track.device = label_ + chip_name(at_->facts.chip);
  track.schema = schemas_[static_cast<std::size_t>(table)];
  track.clock = at_->clock;
  track.order = order_of(at_->facts);
  return writer_.add_track(std::move(track));
}

// What the rows of a core's processors lie below; none where tracks are short.
TrackNumber DeviceLogWriter::core_track() {
  const LogProcessor& of = at_->facts;
  const auto [core, added] = cores_.try_emplace({of.chip, of.core_x, of.core_y}, kNone);
  if (!added) return core->second;
  // Those that are still to come need rows of zones and of markers more than a row above them.
  constexpr std::uint64_t kRowsOfProcessor = 3;
  if (track_count_ + kRowsOfProcessor * (processors_left_ + 1) >= kMostTracks) return kNone;
  ++track_count_;
  Track track;
  track.name = fmt::format("core {},{}", of.core_x, of.core_y);
  track.kind = "engine";
  track.device = label_ + chip_name(of.chip);
  track.order = order_of(of) / 16 * 16;
  return core->second = writer_.add_track(std::move(track));
}

// The row of the zones; markers of other kinds lie in rows below it.
DeviceLogWriter::TrackState& DeviceLogWriter::track_of(LogTable table) {
  constexpr std::array<std::string_view, kLogTableCount> kSuffixes = {"", " totals", " data", " events", ""};
  TrackState& track = at_->tracks[static_cast<std::size_t>(table)];
  if (track.number != kNone) return track;
  const TrackNumber parent = table == LogTable::zone ? core_track() : track_of(LogTable::zone).number;
  track.number = add_track(fmt::format("{}{}", processor_name(at_->facts), kSuffixes[static_cast<std::size_t>(table)]),
                           "engine", table, parent);
  return track;
}

DeviceLogWriter::TrackState& DeviceLogWriter::counter_track(const LogSite& site) {
  const auto [place, added] = at_->counter_tracks.try_emplace(site.name);
  if (added)
    place->second.number = add_track(fmt::format("{} {}", processor_name(at_->facts), site.name), "counter",
                                     LogTable::perf_counter, kNone);
  return place->second;
}

// The first lane of a processor's zones is kept free for it; all others go to those that come first.
bool DeviceLogWriter::has_lane(TrackState& track, std::uint32_t depth) {
  const std::uint32_t needed = depth + 1 > track.lanes ? depth + 1 - track.lanes : 0;
  const TrackState& zones = at_->tracks[static_cast<std::size_t>(LogTable::zone)];
  const bool is_retained_free = &track == &zones && depth == 0;
  const std::uint32_t retained_free =
      is_retained_free ? 0 : processors_left_ + (zones.lanes == 0 && &track != &zones ? 1 : 0);
  if (track.number == kNone || (needed > 0 && lane_count_ + needed + retained_free > kMostLanes)) {
    ++at_->left_out;
    return false;
  }
  lane_count_ += needed;
  track.lanes += needed;
  return true;
}

const DeviceLogWriter::SiteStrings& DeviceLogWriter::strings_of(std::uint32_t number) {
  if (number >= site_strings_.size()) site_strings_.resize(dictionary_.sites().size());
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
  if (number >= meta_strings_.size()) meta_strings_.resize(dictionary_.meta_data().size());
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
  row.integer(at[LogField::pcie_slot], at_->facts.chip);
  row.integer(at[LogField::core_x], at_->facts.core_x);
  row.integer(at[LogField::core_y], at_->facts.core_y);
  row.string(at[LogField::risc], at_->risc);
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

void DeviceLogWriter::fill_meta_data(Row& row, const LogColumns& at, const LogMarker& marker) {
  if (dictionary_.site(marker.site).kind == MarkerKind::counter) {  // among markers: its time cannot be true
    row.string(at[LogField::meta_data], writer_.intern(fmt::format("{{\"ref cnt\":{}}}", marker.extra)));
    return;
  }
  const std::uint64_t number = marker.extra;
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
  if (zone.end == nullptr) ++at_->unfinished;
  if (zone.depth == 0) add_to_run(zone);
  TrackState& track = track_of(LogTable::zone);
  if (!has_lane(track, zone.depth)) return;
  const LogMarker& begin = *zone.begin;
  const LogColumns at(LogTable::zone);
  const std::int64_t cycles = zone.end_time - begin.time;
  Row row = writer_.begin_event_at(track.number, zone.depth, begin.time, cycles, strings_of(begin.site).name);
  fill(row, at, begin);
  row.integer(at[LogField::own], cycles);
  row.boolean(at[LogField::unfinished], zone.end == nullptr);
  const LogMarker& end = zone.end == nullptr ? begin : *zone.end;
  row.unsigned_integer(at[LogField::value], begin.data != 0 ? begin.data : end.data);
  fill_meta_data(row, at, begin);
  if (end.extra != begin.extra) row.string(at[LogField::end_meta_data], strings_of_meta_data(end.extra).text);
}

void DeviceLogWriter::add_to_run(const MatchedZone& zone) {
  const LogContext& context = dictionary_.context(zone.begin->context);
  if (!context.has(LogContext::run_host_id) && !context.has(LogContext::run_id)) return;
  RunKey key{at_->facts.chip, context.present, {}};
  std::copy(std::begin(context.ids), std::end(context.ids), std::get<2>(key).begin());
  const auto [place, added] = runs_.try_emplace(key);
  Run& run = place->second;
  if (added) {
    run.chip = at_->facts.chip;
    run.clock = at_->clock;
    run.present = context.present;
    run.ids = std::get<2>(key);
    run.begin = zone.begin->time;
    run.end = zone.end_time;
  }
  run.begin = std::min(run.begin, zone.begin->time);
  run.end = std::max(run.end, zone.end_time);
  run.stretch = stretch_;
  const auto core = static_cast<std::uint32_t>(order_of(at_->facts) / 16);
  const auto counted = std::lower_bound(run.cores.begin(), run.cores.end(), core);
  if (counted == run.cores.end() || *counted != core) run.cores.insert(counted, core);
}

void DeviceLogWriter::write_runs() {
  std::vector<const Run*> runs;
  for (const auto& [key, run] : runs_) runs.push_back(&run);
  write(std::move(runs));
  runs_.clear();
}

void DeviceLogWriter::write_runs_before_stretch() {
  std::vector<const Run*> runs;
  for (const auto& [key, run] : runs_) {
    if (run.stretch < stretch_) runs.push_back(&run);
  }
  write(std::move(runs));
  std::erase_if(runs_, [&](const auto& each) { return each.second.stretch < stretch_; });
}

void DeviceLogWriter::write(std::vector<const Run*> runs) {
  std::sort(runs.begin(), runs.end(), [](const Run* a, const Run* b) {
    return std::tie(a->chip, a->begin, a->end, a->ids) < std::tie(b->chip, b->begin, b->end, b->ids);
  });
  if (runs.empty() || std::uint64_t{track_count_} + runs.back()->chip >= kMostTracks) return;
  if (run_schema_ == kNone) run_schema_ = writer_.add_schema(run_schema());
  for (const Run* run : runs) {
    const auto [place, added] = run_tracks_.try_emplace(run->chip, kNone);
    if (added) {
      ++track_count_;
      place->second = writer_.add_track({.name = "Runs",
                                         .kind = "layer",
                                         .device = label_ + chip_name(run->chip),
                                         .schema = run_schema_,
                                         .clock = run->clock});
    }
    const TrackNumber track = place->second;
    const auto has = [run](std::size_t id) { return (run->present >> id & 1) != 0; };
    const std::size_t named_by = has(LogContext::run_host_id) ? LogContext::run_host_id : LogContext::run_id;
    std::string name = fmt::format("run {}", run->ids[named_by]);
    if (has(LogContext::trace_id_counter)) name += fmt::format(", replay {}", run->ids[LogContext::trace_id_counter]);
    if (name_of_run_ && has(LogContext::run_host_id)) {
      const std::string operation = name_of_run_(chip_name(run->chip), run->ids[LogContext::run_host_id]);
      if (!operation.empty()) name = operation;
    }
    Row row = writer_.begin_event(track, run->begin, run->end - run->begin, writer_.intern(name));
    for (std::size_t id = 0; id < LogContext::kIds; ++id) {
      if (has(id)) row.unsigned_integer(id, run->ids[id]);
    }
    row.integer(LogContext::kIds, run->end - run->begin);
    row.integer(LogContext::kIds + 1, static_cast<std::int64_t>(run->cores.size()));
  }
}

void DeviceLogWriter::add_instant(const LogMarker& marker, LogTable table, bool lone_end) {
  add_instant(marker, table, track_of(table), lone_end);
}

void DeviceLogWriter::add_instant(const LogMarker& marker, LogTable table, TrackState& track, bool lone_end) {
  if (!has_lane(track, 0)) return;
  const LogColumns at(table);
  const SiteStrings& strings = strings_of(marker.site);
  Row row = writer_.begin_event(track.number, marker.time, 0, strings.name);
  fill(row, at, marker);
  row.unsigned_integer(at[LogField::value], marker.data);
  fill_meta_data(row, at, marker);
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
  const LogColumns at(LogTable::perf_counter);
  Row row = writer_.begin_event(track.number, marker.time, 0, strings_of(marker.site).name);
  fill(row, at, marker);
  row.unsigned_integer(at[LogField::value], marker.data);
  row.unsigned_integer(at[LogField::own], marker.extra);
}

}  // namespace accelscope::capture::sources::tt_metal
