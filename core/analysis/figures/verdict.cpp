#include "core/analysis/figures/verdict.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "core/analysis/dependencies/launches.h"
#include "core/analysis/figures/session_terms.h"
#include "core/analysis/memory/pressure.h"
#include "core/analysis/tenstorrent/link_demand.h"
#include "core/base/format.h"
#include "core/base/text.h"
#include "core/names/collective_words.h"
#include "core/names/name_forms.h"
#include "core/scan/chunk_scan.h"
#include "core/scan/column_values.h"
#include "core/scan/group_by.h"

namespace accelscope::analysis {
namespace {

// Times that a tool printed as sums alone, a row per kernel or call: which part is the largest, and which row. When
// anything ran, and beside what, such a file does not tell.
//
//   const auto sums = summed_times(query);  // of "Device Timing Summary": copies 58 % of 22 ms
struct SummedTimes {
  enum class Part : std::uint8_t { work, communication, copies, waits };
  static constexpr std::size_t kParts = 4;
  bool of_device = false;  // kernels and copies; else calls of a host
  double total_ns = 0;     // of all rows; 0: the session has no such table
  std::array<double, kParts> part_ns{};
  std::string longest;  // the row with the largest sum
  double longest_ns = 0;

  void append(const SummedTimes& other) {
    total_ns += other.total_ns;
    merge_part(part_ns, other.part_ns);
    if (std::pair(other.longest_ns, std::string_view(longest)) <=
        std::pair(longest_ns, std::string_view(other.longest)))
      return;
    longest_ns = other.longest_ns;
    longest = other.longest;
  }
  [[nodiscard]] Part largest() const noexcept;
  [[nodiscard]] double share(Part part) const noexcept { return part_ns[static_cast<std::size_t>(part)] / total_ns; }
};

constexpr double kReportedShare = 0.05;  // smaller parts are not spoken of

struct PartWords {
  std::string_view of_device, of_host;
};
constexpr std::array<PartWords, SummedTimes::kParts> kParts = {
    {{"kernels", "other calls"}, {"communication", "communication"}, {"copies", "copies"}, {"waits", "waits"}}};

bool holds_any(std::string_view name, std::initializer_list<std::string_view> words) {
  const std::string lower = lower_case(name);
  return std::ranges::any_of(words, [&](std::string_view word) { return lower.find(word) != std::string::npos; });
}

SummedTimes::Part part_of(std::string_view name, bool of_device) {
  if (collective_operation(name)) return SummedTimes::Part::communication;
  if (holds_any(name, {"memcpy", "memorycopy", "memset", "memoryfill", "imagecopy"})) return SummedTimes::Part::copies;
  if (!of_device && holds_any(name, {"synchronize", "clfinish", "waitforevents"})) return SummedTimes::Part::waits;
  return SummedTimes::Part::work;
}

std::optional<std::size_t> time_column(const Schema& schema) {
  if (schema.kind != EventKind::table) return std::nullopt;
  for (std::size_t i = 0; i < schema.columns.size(); ++i) {
    const Column& column = schema.columns[i];
    if (column.unit == Unit::ns && !is_text(column.type) && column.name.starts_with("Time")) return i;
  }
  return std::nullopt;
}

SummedTimes::Part SummedTimes::largest() const noexcept {
  return static_cast<Part>(std::max_element(part_ns.begin(), part_ns.end()) - part_ns.begin());
}

// Of tables without time (EventKind::table) that have a column "Time" in a unit of time; those of a device come first,
// where there are also some of a host.
[[nodiscard]] Result<SummedTimes> summed_times(const QueryContext& query) {
  const Snapshot& snapshot = *query.snapshot;
  SummedTimes sums;
  LaneIndices lanes;
  for (std::uint32_t i = 0; i < snapshot.lanes.size(); ++i) {
    const LaneSnapshot& lane = snapshot.lanes[i];
    if (lane.event_count == 0 || !lane.schema || !time_column(*lane.schema)) continue;
    const bool of_device = lane.schema->name_column != "Function";
    if (of_device && !sums.of_device) lanes.clear();
    sums.of_device = sums.of_device || of_device;
    if (of_device == sums.of_device) lanes.push_back(i);
  }
  return gather(query, lanes, {}, sums, [&](const ScannedChunk& chunk, SummedTimes& mine) {
    const std::size_t column = *time_column(*chunk.lane.schema);
    const ColumnType type = chunk.lane.schema->columns[column].type;
    for (std::uint32_t row = 0; row < chunk.view.count(); ++row) {
      if (!chunk.view.has_value(column, row)) continue;
      const double ns = std::max(0.0, real_number(chunk.view, column, type, chunk.view.stored(column, row)));
      const std::string_view name = snapshot.strings->text(chunk.session_string(chunk.view.name(row)));
      mine.total_ns += ns;
      mine.part_ns[static_cast<std::size_t>(part_of(name, mine.of_device))] += ns;
      if (ns > mine.longest_ns || (ns == mine.longest_ns && name < mine.longest)) {
        mine.longest_ns = ns;
        mine.longest = name;
      }
    }
  });
}

// "Sums alone: 22.02 ms of device work, copies 58.0 %, kernels 42.0 %: mostly copies"; "" where there are none.
[[nodiscard]] std::string bound_text(const SummedTimes& sums) {
  if (sums.total_ns <= 0) return "";
  std::vector<SummedTimes::Part> parts;
  for (std::size_t i = 0; i < SummedTimes::kParts; ++i) {
    if (sums.part_ns[i] >= kReportedShare * sums.total_ns) parts.push_back(static_cast<SummedTimes::Part>(i));
  }
  std::ranges::stable_sort(parts,
                           [&](SummedTimes::Part a, SummedTimes::Part b) { return sums.share(a) > sums.share(b); });
  const auto words = [&](SummedTimes::Part part) {
    const PartWords& both = kParts[static_cast<std::size_t>(part)];
    return sums.of_device ? both.of_device : both.of_host;
  };
  std::string text = fmt::format("Sums alone, {} of {}", format_duration(sums.total_ns),
                                 sums.of_device ? "device work" : "a host's calls");
  for (const SummedTimes::Part part : parts)
    text += fmt::format(", {} {}", words(part), format_share(sums.share(part)));
  const SummedTimes::Part most = sums.largest();
  if (most != SummedTimes::Part::work) return fmt::format("{}: mostly {}", text, words(most));
  return text + (sums.of_device ? ": mostly its kernels" : ": host-bound");
}

// "Longest in zeCommandListAppendMemoryCopy(M2D), 44.9 %"
[[nodiscard]] std::string cause_text(const SummedTimes& sums) {
  if (sums.total_ns <= 0 || sums.longest.empty()) return "";
  return fmt::format("Longest in {}, {}", usual_name(sums.longest), format_share(sums.longest_ns / sums.total_ns));
}

constexpr double kIdlesMuch = 0.2, kIdlesSome = 0.1, kHalf = 0.5, kMuchOf = 0.4, kFarAhead = 1.5;
constexpr double kManyDoubtful = 0.2;  // of a device's events: what the others say is not the whole
constexpr std::uint64_t kSeveralDoubtful = 3;
constexpr double kReportedPart = 0.05;  // smaller parts of the time are not spoken of

// Engines that wait are within a program of theirs; where nothing at all is under way nobody has given them one.
bool host_bound(const SessionLoad& load) {
  if (load.kind == SessionLoad::Kind::engines) {
    return static_cast<double>(load.empty_ns) >= kHalf * static_cast<double>(load.span_ns) && load.span_ns > 0;
  }
  const double moves = std::max(load.split.share(TimePart::communication), load.split.share(TimePart::copies));
  return load.kind == SessionLoad::Kind::streams && load.idle_share() >= kIdlesMuch && load.idle_share() >= moves;
}

bool is_doubtful(const SessionLoad& load) {
  return load.doubtful >= kSeveralDoubtful &&
         static_cast<double>(load.doubtful) >= kManyDoubtful * static_cast<double>(load.doubtful + load.timed);
}

// " (compute 60.5 %, communication alone 18.6 %)"; "" where there is no second part.
std::string parts_text(const SessionLoad& load, bool with_idle) {
  std::vector<TimePart> parts;
  for (std::size_t i = 0; i < kTimeParts; ++i) {
    const auto part = static_cast<TimePart>(i);
    if (load.split.share(part) >= kReportedPart && (with_idle || part != TimePart::idle)) parts.push_back(part);
  }
  std::ranges::stable_sort(parts, [&](TimePart a, TimePart b) { return load.split.share(a) > load.split.share(b); });
  if (parts.size() < 2) return "";
  std::string text;
  for (const TimePart part : parts) {
    const bool network = part == TimePart::copies && load.over_network;
    text += fmt::format("{}{} {}", text.empty() ? " (" : ", ", network ? "transfers alone" : name_of(part),
                        format_share(load.split.share(part)));
  }
  return text + ")";
}

std::string idle_bound(const SessionLoad& load) {
  constexpr double kNearlyAll = 0.9995;  // that is written as 100 %, though there is work
  const bool nearly = load.idle_share() >= kNearlyAll && load.active_ns > 0;
  const bool streams = load.kind == SessionLoad::Kind::streams;
  return fmt::format("{} idle {} of {}{}: host-bound", load.device,
                     nearly ? ">99.9 %" : format_share(load.idle_share()), format_duration(load.span_ns),
                     streams ? parts_text(load, false) : "");
}

std::string idle_cause(const SessionLoad& load) {
  if (load.gap.empty()) return "";
  std::string text = "Largest gap " + format_duration(load.gap.length_ns());
  text += load.before_gap.empty() ? " before the first work" : " after " + load.before_gap;
  if (!load.host_in_gap.empty()) text += ", host in " + load.host_in_gap;
  if (!load.runtime_in_gap.empty() && load.runtime_in_gap != load.host_in_gap)
    text += ", runtime in " + load.runtime_in_gap;
  return text;
}

std::string streams_bound(const SessionLoad& load) {
  const std::string span = format_duration(load.span_ns);
  const std::string busy = fmt::format("{} busy {} of {}", load.device, format_share(1 - load.idle_share()), span);
  const double compute = load.split.share(TimePart::compute), copies = load.split.share(TimePart::copies);
  const double communication = load.split.share(TimePart::communication);
  std::string bound = "its kernels";
  if (communication > compute && communication >= copies) bound = "communication";
  if (copies > compute && copies > communication) bound = load.over_network ? "communication" : "copies";
  // What it idles may have held up all the rest.
  const char* const so = load.idle_share() < kIdlesSome ? "bound by" : "mostly";
  return fmt::format("{}{}: {} {}", busy, parts_text(load, true), so, bound);
}

struct BoundUnit {
  std::string name;
  double share = 0;
};

// What is under way of a device of engines, the longest first.
std::vector<BoundUnit> units_of(const SessionLoad& load) {
  std::vector<BoundUnit> units = {{"DMA", load.share(WorkUnit::transfer)},
                                  {load.busiest, load.busiest_share},
                                  {"collectives", load.share(WorkUnit::collective)}};
  std::erase_if(units, [](const BoundUnit& unit) { return unit.share <= 0 || unit.name.empty(); });
  std::ranges::stable_sort(units, std::ranges::greater{}, &BoundUnit::share);
  return units;
}

std::string engines_bound(const SessionLoad& load) {
  const std::vector<BoundUnit> units = units_of(load);
  std::string bound = "latency-bound";
  // For half of the time, or for much of it and much longer than any other.
  const double next = units.size() > 1 ? units[1].share : 0;
  if (!units.empty() &&
      (units.front().share >= kHalf || (units.front().share >= kMuchOf && units.front().share >= kFarAhead * next))) {
    bound = units.front().name + "-bound";
    if (units.front().name == load.busiest) bound = "bound by " + load.busiest;
    if (units.front().name == "collectives") bound = "bound by communication";
  }
  if (load.waits_share >= kHalf)
    bound = fmt::format("bound by waits, {} of the programs' time, most in {}", format_share(load.waits_share),
                        load.longest_wait);
  const std::string work = format_duration(load.span_ns) + " of work";
  std::string text = load.of_peak ? fmt::format("{} of peak: {}", format_share(*load.of_peak), bound) : bound;
  text += load.ideal_ns ? fmt::format(", ideal {} for {}", format_duration(*load.ideal_ns), work) : ", " + work;
  return text;
}

std::string engines_cause(const SessionLoad& load) {
  std::string text;
  for (const BoundUnit& unit : units_of(load)) {
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", unit.name, format_share(unit.share));
  }
  if (!text.empty()) text += " of the work's active time";
  return text;
}

}  // namespace

std::string bound_text(const SessionLoad& load) {
  if (is_doubtful(load))
    return fmt::format("Unknown: {} of {} events have impossible durations, and are left out",
                       format_count(load.doubtful), format_count(load.doubtful + load.timed));
  if (host_bound(load)) return capitalised(idle_bound(load));
  switch (load.kind) {
    case SessionLoad::Kind::nothing:
      return "Unknown: no work was recorded, capture engines, streams or threads";
    case SessionLoad::Kind::host_only:
      return fmt::format("{}: no device work was recorded, threads work {} of {}",
                         load.split.share(TimePart::communication) >= kHalf ? "Bound by communication" : "Host-bound",
                         format_duration(load.active_ns), format_duration(load.span_ns));
    case SessionLoad::Kind::streams:
      return capitalised(streams_bound(load));
    case SessionLoad::Kind::engines:
      return capitalised(engines_bound(load));
  }
  return "";
}

std::string cause_text(const SessionLoad& load) {
  if (is_doubtful(load)) return "";
  if (host_bound(load)) return idle_cause(load);
  const auto longest = [&](const char* what) {
    if (load.busiest.empty() || load.busiest_share <= 0) return std::string();
    return fmt::format("{} in {}, {}", what, load.busiest, format_share(load.busiest_share));
  };
  switch (load.kind) {
    case SessionLoad::Kind::nothing:
      return "";
    case SessionLoad::Kind::host_only:
      return longest("Longest");
    case SessionLoad::Kind::streams:
      return longest("Longest");
    case SessionLoad::Kind::engines:
      return engines_cause(load);
  }
  return "";
}

std::optional<WorstLine> worst_line(const SourceLines& lines, const SourceLines& own, const SourceLines& launched) {
  const SourceLine* on_device = nullptr;
  const auto cost = [](const SourceLine& line) { return std::pair(line.wait_ns, line.busy_ns); };
  for (const SourceLine& line : lines.lines) {
    if ((line.busy_ns == 0 && line.wait_ns == 0) || line.host_ns >= line.busy_ns + line.wait_ns) continue;
    if (on_device == nullptr || cost(line) > cost(*on_device)) on_device = &line;
  }
  if (on_device != nullptr) {
    const bool waits = on_device->wait_ns > 0;
    return WorstLine{on_device->path, on_device->line, waits ? LineReason::waits : LineReason::works,
                     waits ? on_device->wait_ns : on_device->busy_ns, 0};
  }
  std::map<std::pair<std::string_view, std::uint32_t>, WorstLine> on_host;
  const auto of = [&](const SourceLine& line) -> WorstLine& {
    return on_host.try_emplace({line.path, line.line}, WorstLine{line.path, line.line, LineReason::host, 0, 0})
        .first->second;
  };
  for (const SourceLine& line : own.lines) of(line).ns += line.busy_ns;
  for (const SourceLine& line : launched.lines) {
    of(line).ns += line.busy_ns;
    of(line).launched_ns += line.busy_ns;
  }
  const auto worst = std::max_element(on_host.begin(), on_host.end(),
                                      [](const auto& a, const auto& b) { return a.second.ns < b.second.ns; });
  return worst == on_host.end() || worst->second.ns == 0 ? std::nullopt : std::optional(worst->second);
}

std::string line_text(const WorstLine& line) {
  const std::string place = fmt::format("{}:{}", file_name(line.path), line.line);
  const std::string time = format_duration(line.ns);
  switch (line.reason) {
    case LineReason::waits:
      return fmt::format("{} waits {}", place, time);
    case LineReason::works:
      return fmt::format("{} works {}", place, time);
    case LineReason::host: {
      if (line.launched_ns == 0) return fmt::format("{} works {} on the host", place, time);
      std::string text = fmt::format("{} launches {} of device work", place, format_duration(line.launched_ns));
      if (line.ns > line.launched_ns)
        text += fmt::format(", {} of its own", format_duration(line.ns - line.launched_ns));
      return text;
    }
  }
  return "";
}

std::string missing_text(const Snapshot& snapshot) {
  const auto worst = std::ranges::max_element(snapshot.quality, {}, &QualityEntry::severity);
  if (worst == snapshot.quality.end() || worst->severity == Severity::note) return "";
  return worst->count > 1 ? fmt::format("{} ({})", with_blanks(worst->kind), format_count(worst->count))
                          : with_blanks(worst->kind);
}

namespace {

// What data lack, where the kind of the entry alone says little of what it keeps from whoever reads the figures.
struct MissingWords {
  std::string_view kind, text;
};
constexpr MissingWords kMissingWords[] = {
    {"missing_dge_notifications", "reloads and spills among these DMA packets are not known"}};

}  // namespace

std::string Verdict::text() const {
  std::string all = bound;
  if (!cause.empty()) all += "; " + cause;
  if (worst) all += "; " + line_text(*worst);
  if (!missing.empty()) all += "; data quality: " + missing;
  for (const MissingWords& words : kMissingWords) {
    if (missing.starts_with(with_blanks(std::string(words.kind)))) all += fmt::format(": {}", words.text);
  }
  return all;
}

namespace {

// Lines of the user's own by the time in which they were the innermost ones.
SourceLines own_lines(const HostTimes& host, const StringPool& strings) {
  SourceLines lines;
  std::map<std::pair<std::string_view, std::uint32_t>, SourceLine> by_line;
  for (const auto& [location, time] : host.own_lines) {
    std::string_view path;
    std::uint32_t number = 0;
    if (!parse_source_location(strings.text(location), path, number)) continue;
    SourceLine& line = by_line[{path, number}];
    line.path = path;
    line.line = number;
    line.busy_ns += time.busy_ns;
    line.wait_ns += time.wait_ns;
  }
  for (auto& [place, line] : by_line) lines.lines.push_back(std::move(line));
  return lines;
}

// "9.2 MiB to the devices, 1.4 MiB back", where a session says what its hosts and devices exchanged. Figures of a core
// are part of those of its source.
std::string exchanged_text(const Snapshot& snapshot) {
  std::set<std::string_view> devices;
  for (const TrackSnapshot& track : snapshot.tracks) devices.insert(track.track->device);
  devices.erase("");
  double to_device = 0, to_host = 0;
  std::set<std::string_view> cores;
  for (const Metric& metric : snapshot.metrics) {
    const bool up = metric.name == "host_to_device_bytes";
    if (!up && metric.name != "device_to_host_bytes") continue;
    if (devices.contains(metric.device)) {
      cores.insert(metric.device);
    } else {
      (up ? to_device : to_host) += metric.value;
    }
  }
  if (to_device + to_host <= 0) return "";
  return fmt::format("{} to the {}, {} back", format_bytes(to_device), cores.size() > 1 ? "devices" : "device",
                     format_bytes(to_host));
}

}  // namespace

Result<Verdict> range_verdict(const QueryContext& query, const TimeRange& active, const ActivityIndex* index) {
  const SessionLoad load = TRY(session_load(query, active, index));
  Verdict verdict;
  verdict.bound = bound_text(load);
  verdict.cause = cause_text(load);
  if (host_bound(load) && !load.gap.empty()) verdict.cause_range = load.gap;
  if (load.kind != SessionLoad::Kind::nothing) return verdict;
  const auto usage = TRY(memory_usage(query));
  const auto pressure = TRY(memory_pressure(query, *usage));
  const auto sums = TRY(summed_times(query));
  if (std::string memory = pressure_text(pressure); !memory.empty()) {
    verdict.bound = std::move(memory);
    verdict.cause = pressure_cause(pressure);
  } else if (std::string summed = bound_text(sums); !summed.empty()) {
    verdict.bound = std::move(summed);
    verdict.cause = cause_text(sums);
  } else if (is_program_alone(*query.snapshot)) {
    verdict.bound = "No times: a program without a trace";
    verdict.cause = "Tables shows what is in it, Data quality how to record a trace";
  }
  return verdict;
}

Result<Verdict> session_verdict(const QueryContext& query, const std::optional<TimeRange>& active,
                                const SourceLines& lines, const ActivityIndex* index) {
  Result<Verdict> found = range_verdict(query, active.value_or(TimeRange{0, 0}), index);
  if (!found) return found;
  Verdict& verdict = *found;
  const auto add = [&](const std::string& more) {
    if (!more.empty()) verdict.cause += (verdict.cause.empty() ? "" : ", ") + more;
  };
  add(exchanged_text(*query.snapshot));
  const SessionLoad inside = TRY(executed_load(query, active.value_or(TimeRange{0, 0}), index));
  if (inside.kind == SessionLoad::Kind::engines) {
    const std::string parts = cause_text(inside);
    const std::string bound = bound_text(inside);
    const bool is_word = bound.size() > 1 && bound[1] >= 'a' && bound[1] <= 'z';
    add(fmt::format("inside the profiled execution {}{}{}",
                    is_word ? lower_case(bound.substr(0, 1)) : bound.substr(0, 1), bound.substr(1),
                    parts.empty() ? "" : " (" + parts + ")"));
  }
  const auto demand = TRY(tenstorrent::link_demand(query, {}));
  add(tenstorrent::demand_text(demand));
  const bool host_alone = std::ranges::all_of(
      lines.lines, [](const SourceLine& line) { return line.host_ns == line.busy_ns + line.wait_ns; });
  if (host_alone && !lines.lines.empty()) {
    EventFilter filter;
    filter.range = lines.range;
    const auto activity = TRY(range_activity(query, filter, index));
    const auto launched = TRY(launched_time(query));
    verdict.worst = worst_line(lines, own_lines(activity->host, *query.snapshot->strings), *launched);
  } else {
    verdict.worst = worst_line(lines);
  }
  verdict.missing = missing_text(*query.snapshot);
  return found;
}

}  // namespace accelscope::analysis
