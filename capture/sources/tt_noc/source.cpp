// What tt-metal records of its chips' networks (noc_trace_dev<N>_*.json), and what tt-npe makes of it by simulation
// (the timeline that it writes for a visualizer).
//
// A trace is a list of records: begins and ends of kernels by core and processor, and what each processor asks of the
// network. They become the tables "zone" and "noc_event", on rows of cores called by their places, which the chip's
// grid shows as well. A barrier's two records become one event, which waits. A request has no end in the file: it is an
// instant. A timeline has transfers with begin and end ("noc_transfer"), the demand on every link ("link_demand"), and
// the networks' use over time (counters).
//
// Times are cycles. Traces do not tell a frequency: a cycle is shown as 1 ns, and the report says so; timelines name
// the chip, whose nominal clock is taken.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>

#include "capture/json/json_cursor.h"
#include "capture/json/table_reader.h"
#include "capture/sources/base/importers.h"
#include "capture/sources/base/sinks.h"
#include "capture/sources/tracks/unordered_session.h"
#include "core/base/capped.h"
#include "core/base/text.h"
#include "core/model/column_spec.h"

namespace accelscope::capture::sources::tt_noc {
namespace {

using namespace columns;
using tracks::EventValues;
using tracks::UnorderedSession;

// The rows of cores by their places on a chip, as device logs call them ("core 4,3 BRISC" of "chip 0"), made as they
// are first met.
struct CorePlace {
  std::int64_t chip = 0;
  std::int64_t x = 0;
  std::int64_t y = 0;
  auto operator<=>(const CorePlace&) const = default;
};

class ChipRows {
 public:
  explicit ChipRows(tracks::UnorderedSession& session) : session_(session) {}

  // "core 4,3 BRISC" for the suffix "BRISC".
  [[nodiscard]] std::uint32_t of_core(const CorePlace& place, std::string_view suffix, std::uint32_t table,
                                      std::string_view kind);
  [[nodiscard]] std::uint32_t counter(std::int64_t chip, const std::string& name, const std::string& unit);

 private:
  tracks::UnorderedSession& session_;
  std::map<CorePlace, std::uint32_t> cores_;
  std::map<std::pair<CorePlace, std::string>, std::uint32_t> rows_;
};

[[nodiscard]] Track noc_track(std::string name, std::string_view kind, std::int64_t chip) {
  Track track;
  track.name = std::move(name);
  track.kind = kind;
  track.device = fmt::format("chip {}", chip);
  return track;
}

// Cores in the order of their columns, then rows, as in device logs.
[[nodiscard]] tracks::RowPlace place_of(const CorePlace& place) {
  constexpr std::int64_t kMostRowsOfChip = 1 << 16;
  return {tracks::kDeviceRows, capped_sum(capped_product(place.x, kMostRowsOfChip), place.y)};
}

std::uint32_t ChipRows::of_core(const CorePlace& place, std::string_view suffix, std::uint32_t table,
                                std::string_view kind) {
  const auto [row, added] = rows_.try_emplace({place, std::string(suffix)}, kNone);
  if (!added) return row->second;
  const auto [core, new_core] = cores_.try_emplace(place, kNone);
  const std::string name = fmt::format("core {},{}", place.x, place.y);
  if (new_core) core->second = session_.add_group(noc_track(name, "engine", place.chip), place_of(place));
  row->second = session_.add_track(table, noc_track(fmt::format("{} {}", name, suffix), kind, place.chip),
                                   place_of(place), core->second);
  return row->second;
}

std::uint32_t ChipRows::counter(std::int64_t chip, const std::string& name, const std::string& unit) {
  const auto [row, added] = rows_.try_emplace({{chip, -1, -1}, name}, kNone);
  if (added) {
    Track track = noc_track(name, "counter", chip);
    track.unit = unit;
    row->second = session_.add_track(session_.counter_table(), std::move(track));
  }
  return row->second;
}

constexpr std::string_view kNocWaits[] = {"READ_BARRIER", "WRITE_BARRIER", "FULL_BARRIER", "ATOMIC_BARRIER",
                                          "SEMAPHORE_WAIT"};
constexpr std::string_view kBarrierStart = "_BARRIER_START";
constexpr std::string_view kBarrierEnd = "_BARRIER_END";

// Numbers that a record may tell, in the order of the table's columns.
constexpr ColumnSpec kNocColumns[] = {
    {"num_bytes", kInt, "B", kTransfer, "Bytes", "Bytes that were asked for.", Role::bytes},
    {"sx", kInt, "", kTransfer, "", "Column of the core that asks."},
    {"sy", kInt, "", kTransfer, "", "Row of the core that asks."},
    {"dx", kInt, "", kTransfer, "", "Column of the other end."},
    {"dy", kInt, "", kTransfer, "", "Row of the other end."},
    {"mcast_start_x", kInt, "", kTransfer, "", "Of a multicast: the rectangle's first column."},
    {"mcast_start_y", kInt, "", kTransfer, "", "Of a multicast: the rectangle's first row."},
    {"mcast_end_x", kInt, "", kTransfer, "", "Of a multicast: the rectangle's last column."},
    {"mcast_end_y", kInt, "", kTransfer, "", "Of a multicast: the rectangle's last row."},
    {"vc", kInt, "", kTransfer, "", "The virtual channel; -1: any."},
    {"src_device_id", kInt, "", kIds, "", "The chip that asks."},
    {"dst_device_id", kInt, "", kIds, "", "The chip of the other end."},
    {"run_host_id", kInt, "", kIds, "", "GLOBAL CALL COUNT of an operations report."},
    {"run_id", kInt, "", kIds, "", "Number of the run."},
    {"kernel_start_delta", kInt, "cycles", kTiming, "", "Since the kernel's begin on that processor."},
    {"noc", kString, "", kTransfer, "", "Which of the chip's networks."},
    {"proc", kString, "", kOperation, "", "The processor that asks."},
    {"op_name", kString, "", kOperation, "", "The operation that it is of."},
    {"fabric_send", kString, "", kTransfer, "", "How it goes on between chips, as JSON."},
};
constexpr std::size_t kNocNumbers = 15;
constexpr std::size_t kMostUnread = 64;  // names of fields that are remembered

constexpr ColumnSpec kNocZoneColumns[] = {
    {"core_x", kInt, "", kOperation, "Core x", "Column of the core on the chip's network."},
    {"core_y", kInt, "", kOperation, "Core y", "Row of the core on the chip's network."},
    {"risc", kString, "", kOperation, "RISC", "Processor of the core that ran the code."},
    {"run_host_id", kInt, "", kIds, "Run host ID", "GLOBAL CALL COUNT of an operations report."},
    {"op_name", kString, "", kOperation, "Operation", "The operation that it is of."},
    {"unfinished", kFlag, "", kTiming, "Unfinished",
     "The zone has no end in the file; it is drawn to its last record."},
};

// A record, its texts as the row has them.
struct NocRecord {
  std::array<std::optional<std::int64_t>, kNocNumbers> numbers;
  std::optional<std::int64_t> time;
  std::string type, noc, proc, op_name, fabric, zone, phase;

  [[nodiscard]] std::int64_t number(std::string_view name) const {
    for (std::size_t i = 0; i < kNocNumbers; ++i) {
      if (kNocColumns[i].name == name) return numbers[i].value_or(0);
    }
    return 0;
  }
};

// "3" of "noc_trace_dev3_Matmul_ID7.json".
[[nodiscard]] std::optional<std::int64_t> device_of_name(const std::string& path) {
  const std::string name = file_name(path);
  const std::size_t at = name.find("_dev");
  if (at == std::string::npos || at + 4 >= name.size() || !is_digit(name[at + 4])) return std::nullopt;
  std::int64_t device = 0;
  constexpr std::int64_t kMost = 1'000'000;
  for (std::size_t i = at + 4; i < name.size() && is_digit(name[i]) && device < kMost; ++i) {
    device = device * 10 + (name[i] - '0');
  }
  return device;
}

class NocTraceImport {
 public:
  NocTraceImport(const std::string& name, const ImportOptions& options, EventSink& sink)
      : name_(name), options_(options), session_(sink), rows_(session_), named_device_(device_of_name(name)) {}

  Result<void> run(std::unique_ptr<json::ByteSource> bytes);

 private:
  // What of a core's processor is still open.
  struct Open {
    std::int64_t begin = 0;
    StringId name = 0;
    NocRecord record;
    std::optional<std::int64_t> chip;
  };
  struct NocProcessor {
    std::vector<Open> barriers;
    std::int64_t last = 0;
  };
  // Records of zones do not say of which chip they are: it is that of the requests within the zone.
  struct ZoneStack {
    std::vector<Open> zones;
    std::optional<std::int64_t> chip;  // of the last request
    std::int64_t last = 0;
  };
  [[nodiscard]] bool read(std::string_view row, NocRecord& record);
  void take(const NocRecord& record);
  void take_zone(const NocRecord& record, ZoneStack& stack);
  void write_zone(const Open& zone, const ZoneStack& stack, std::int64_t end, bool unfinished);
  void write_event(const NocRecord& record, const CorePlace& place, std::int64_t begin, std::int64_t duration,
                   std::string_view name);
  void finish_open();

  std::string name_;
  const ImportOptions& options_;
  UnorderedSession session_;
  ChipRows rows_;
  std::optional<std::int64_t> named_device_;
  EventValues values_;
  std::uint32_t events_ = kNone;
  std::uint32_t zones_ = kNone;
  std::map<std::pair<CorePlace, std::string>, NocProcessor> processors_;
  std::map<std::tuple<std::int64_t, std::int64_t, std::string>, ZoneStack> zone_stacks_;  // by x, y and processor
  std::set<std::string, std::less<>> unread_;                                             // fields
  std::uint64_t records_ = 0;
  std::uint64_t unfinished_ = 0;
  std::uint64_t lone_ends_ = 0;
  bool absolute_ = false;
};

bool NocTraceImport::read(std::string_view row, NocRecord& record) {
  record = {};
  const bool whole = json::each_member(row, [&](const json::JsonField& field) {
    if (field.key == "timestamp") {
      record.time = json::to_int64(field);
      return true;
    }
    for (std::size_t i = 0; i < kNocNumbers; ++i) {
      if (kNocColumns[i].name == field.key) {
        record.numbers[i] = json::to_int64(field);
        return true;
      }
    }
    const std::array<std::pair<std::string_view, std::string*>, 7> texts = {{{"type", &record.type},
                                                                             {"noc", &record.noc},
                                                                             {"proc", &record.proc},
                                                                             {"op_name", &record.op_name},
                                                                             {"fabric_send", &record.fabric},
                                                                             {"zone", &record.zone},
                                                                             {"zone_phase", &record.phase}}};
    for (const auto& [key, text] : texts) {
      if (key != field.key) continue;
      if (field.kind != json::JsonKind::null) *text = trimmed(field.text);
      return true;
    }
    if (unread_.size() < kMostUnread) unread_.emplace(field.key);
    return true;
  });
  constexpr std::int64_t kLargest = std::int64_t{1} << 61;
  return whole && record.time && *record.time >= 0 && *record.time < kLargest &&
         (!record.type.empty() || !record.zone.empty());
}

Result<void> NocTraceImport::run(std::unique_ptr<json::ByteSource> bytes) {
  Schema events =
      make_schema({"noc_event", EventKind::slice, "type", "What was asked of the network.", kNocWaits}, kNocColumns);
  events_ = session_.add_table(std::move(events));
  zones_ =
      session_.add_table(make_schema({"zone", EventKind::slice, "zone_name", "Name of the zone."}, kNocZoneColumns));
  json::JsonTableReader reader(std::move(bytes), {});
  json::JsonWindow window;
  NocRecord record;
  while (reader.next(window)) {
    for (std::size_t i = 0; i < window.rows.size(); ++i) {
      if (read(window.row(i), record)) {
        take(record);
      } else {
        session_.report().skipped_row("noc_event", "it is no record with a time and a type or zone",
                                      window.rows[i].offset);
      }
    }
    if (session_.cancelled()) return Error{fmt::format("{}: the import was cancelled", name_)};
    if (options_.progress) options_.progress(reader.bytes_read(), reader.bytes_read());
  }
  for (const json::JsonProblem& problem : reader.problems()) session_.report().add(problem);
  finish_open();
  if (records_ == 0) return Error{fmt::format("{}: holds no record of a network trace", name_)};
  session_.writer().set_meta("source_format", "tt-metal network trace");
  session_.report().note_unread("noc_event", {unread_.begin(), unread_.end()});
  const std::uint64_t skipped = session_.report().skipped_rows("noc_event");
  set_row_counts(session_.writer(), "noc_event", records_ + skipped, records_ - lone_ends_);
  ImportReport& report = session_.report();
  report.note("frequency_missing", "the trace counts cycles and tells no frequency: a cycle is shown as 1 ns");
  report.note("begin_without_end", "zones begin but never end; they are shown up to their processor's last record",
              unfinished_);
  report.note("end_without_begin", "ends of zones or barriers without a begin were skipped", lone_ends_);
  if (!absolute_) {
    report.note("clocks_not_aligned",
                "times are counted from each processor's own begin, so those of different cores cannot be compared");
  }
  return session_.finish({.clock = "cycles", .path = name_});
}

void NocTraceImport::take(const NocRecord& record) {
  // Traces of before 2025 tell absolute cycles, newer ones those since the kernel began.
  constexpr std::int64_t kLeastAbsolute = std::int64_t{1} << 32;
  absolute_ = absolute_ || *record.time >= kLeastAbsolute;
  const CorePlace place{record.numbers[10].value_or(named_device_.value_or(0)), record.number("sx"),
                        record.number("sy")};
  ++records_;
  ZoneStack& stack = zone_stacks_[{place.x, place.y, record.proc}];
  stack.last = std::max(stack.last, *record.time);
  if (record.type.empty()) return take_zone(record, stack);
  if (record.numbers[10]) {
    stack.chip = record.numbers[10];
    for (Open& zone : stack.zones) {
      if (!zone.chip) zone.chip = stack.chip;
    }
  }
  NocProcessor& processor = processors_[{place, record.proc}];
  processor.last = std::max(processor.last, *record.time);
  if (record.type.ends_with(kBarrierStart)) {
    processor.barriers.push_back({*record.time, 0, record, std::nullopt});
    return;
  }
  if (record.type.ends_with(kBarrierEnd)) {
    const std::string name = record.type.substr(0, record.type.size() - std::string_view("_END").size());
    const auto open = std::find_if(processor.barriers.rbegin(), processor.barriers.rend(),
                                   [&](const auto& begun) { return begun.record.type == name + "_START"; });
    if (open == processor.barriers.rend()) {
      ++lone_ends_;
      return;
    }
    write_event(open->record, place, open->begin, *record.time - open->begin, name);
    processor.barriers.erase(std::next(open).base());
    return;
  }
  write_event(record, place, *record.time, 0, record.type);
}

void NocTraceImport::take_zone(const NocRecord& record, ZoneStack& stack) {
  const StringId name = session_.intern(record.zone);
  if (record.phase == "begin" || record.phase == "ZONE_START") {
    const std::optional<std::int64_t> chip = record.numbers[10] ? record.numbers[10] : named_device_;
    stack.zones.push_back({*record.time, name, record, chip});
    return;
  }
  const auto open =
      std::find_if(stack.zones.rbegin(), stack.zones.rend(), [&](const Open& begun) { return begun.name == name; });
  if (open == stack.zones.rend()) {
    ++lone_ends_;
    return;
  }
  write_zone(*open, stack, *record.time, false);
  stack.zones.erase(std::next(open).base());
}

void NocTraceImport::write_zone(const Open& zone, const ZoneStack& stack, std::int64_t end, bool unfinished) {
  const CorePlace place{zone.chip.value_or(stack.chip.value_or(0)), zone.record.number("sx"), zone.record.number("sy")};
  values_.clear();
  values_.integer(0, place.x);
  values_.integer(1, place.y);
  values_.string(2, session_.intern(zone.record.proc));
  if (zone.record.numbers[12]) values_.integer(3, *zone.record.numbers[12]);
  if (!zone.record.op_name.empty()) values_.string(4, session_.intern(zone.record.op_name));
  values_.boolean(5, unfinished);
  session_.write(rows_.of_core(place, zone.record.proc, zones_, "engine"), zone.begin, end - zone.begin, zone.name,
                 values_);
}

void NocTraceImport::write_event(const NocRecord& record, const CorePlace& place, std::int64_t begin,
                                 std::int64_t duration, std::string_view name) {
  values_.clear();
  for (std::size_t i = 0; i < kNocNumbers; ++i) {
    if (record.numbers[i]) values_.integer(i, *record.numbers[i]);
  }
  const std::array<const std::string*, 4> texts = {&record.noc, &record.proc, &record.op_name, &record.fabric};
  for (std::size_t i = 0; i < texts.size(); ++i) {
    if (!texts[i]->empty()) values_.string(kNocNumbers + i, session_.intern(*texts[i]));
  }
  session_.write(rows_.of_core(place, record.proc + " network", events_, "dma_queue"), begin, duration,
                 session_.intern(name), values_);
}

void NocTraceImport::finish_open() {
  for (auto& [key, processor] : processors_) {
    for (const Open& barrier : processor.barriers) {
      const std::string_view type = barrier.record.type;
      write_event(barrier.record, key.first, barrier.begin, processor.last - barrier.begin,
                  type.substr(0, type.size() - std::string_view("_START").size()));
      ++unfinished_;
    }
  }
  for (auto& [key, stack] : zone_stacks_) {
    for (const Open& zone : stack.zones) {
      write_zone(zone, stack, stack.last, true);
      ++unfinished_;
    }
  }
}

}  // namespace

int probe_noc_trace(std::string_view head, const std::string& /*path*/) {
  constexpr int kLikely = 90;
  const std::size_t first = head.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos || head[first] != '[') return 0;
  const auto has = [&](std::string_view word) { return head.find(word) != std::string_view::npos; };
  return has("\"sx\"") && has("\"sy\"") && has("\"timestamp\"") && (has("\"noc\"") || has("\"zone_phase\"")) ? kLikely
                                                                                                             : 0;
}

Result<void> import_noc_trace(std::unique_ptr<json::ByteSource> bytes, const std::string& name,
                              const ImportOptions& options, EventSink& sink) {
  return NocTraceImport(name, options, sink).run(std::move(bytes));
}

// The timeline that tt-npe writes: transfers by their routes, and the links' demand in equal steps of time.

namespace {

constexpr ColumnSpec kTransferColumns[] = {
    {"total_bytes", kInt, "B", kTransfer, "Bytes", "Bytes of the transfer, told once: of the first part of its route.",
     Role::bytes},
    {"id", kInt, "", kIds, "", "Number of the transfer in the file."},
    {"dst", kString, "", kTransfer, "To", "Where it goes: chip, row, column."},
    {"noc_type", kString, "", kTransfer, "Network", "Which of the chip's networks."},
    {"injection_rate", kReal, "B/cycle", kTransfer, "Injection rate", "Bytes that the core sends in a cycle."},
    {"links", kString, "", kTransfer, "Links", "The links of its route, as JSON."},
    {"part", kInt, "", kTransfer, "Part", "Of a transfer over several chips: which part of its route, from 0."},
    {"part_bytes", kInt, "B", kTransfer, "Part's bytes", "Bytes that go over this part of the route."},
};
constexpr ColumnSpec kLinkColumns[] = {
    {"demand", kReal, "%", "Utilisation", "Demand", "Of what the link can carry; beyond 100 % transfers wait."},
};

struct NominalClock {
  std::string_view arch;
  double cycles_per_ns;
};
constexpr std::array kNominalClocks = {NominalClock{"wormhole", 1.0}, NominalClock{"blackhole", 1.35},
                                       NominalClock{"grayskull", 1.2}};

struct Figure {
  std::string_view key;
  std::string_view unit;
};
constexpr std::array kFigures = {Figure{"avg_link_demand", "%"}, Figure{"avg_link_util", "%"},
                                 Figure{"max_link_demand", "%"}, Figure{"avg_noc_link_demand", "%"}};

// [chip, row, column, ...]
[[nodiscard]] std::optional<CorePlace> place_of_list(std::string_view list) {
  std::array<std::optional<std::int64_t>, 3> parts;
  std::size_t count = 0;
  (void)json::each_element(list, [&](const json::JsonField& value) {
    if (count < parts.size()) parts[count] = json::to_int64(value);
    return ++count < parts.size();
  });
  if (!parts[0] || !parts[1] || !parts[2]) return std::nullopt;
  return CorePlace{*parts[0], *parts[2], *parts[1]};
}

class NpeTimelineImport {
 public:
  NpeTimelineImport(const std::string& name, const ImportOptions& options, EventSink& sink)
      : name_(name), options_(options), session_(sink), rows_(session_) {}

  Result<void> run(std::unique_ptr<json::ByteSource> bytes);

 private:
  struct Part {
    std::optional<std::int64_t> begin, end, bytes, id;
    std::optional<CorePlace> source;
    std::optional<double> rate;
    std::string type, destination, noc, links, route;
  };
  [[nodiscard]] bool read_part(std::string_view row, Part& part);
  void add_unread(std::string_view table, std::string_view field);
  [[nodiscard]] bool take_transfer(std::string_view row);
  [[nodiscard]] bool write_part(const Part& part, std::int64_t number, std::optional<std::int64_t> transfer_bytes);
  [[nodiscard]] bool take_step(std::string_view row);
  void take_links(std::string_view links, std::int64_t begin, std::int64_t end);
  void take_figures(std::string_view figures, std::string_view of, std::int64_t begin);
  void take_info(std::string_view info);

  std::string name_;
  const ImportOptions& options_;
  UnorderedSession session_;
  ChipRows rows_;
  EventValues values_;
  std::uint32_t transfers_ = kNone;
  std::uint32_t links_ = kNone;
  std::set<std::string, std::less<>> unread_;  // "TABLE.FIELD"
  std::uint64_t transfer_count_ = 0;
  std::uint64_t step_count_ = 0;
  std::uint64_t bad_links_ = 0;
  double cycles_per_ns_ = 1;
  bool clock_known_ = false;
};

Result<void> NpeTimelineImport::run(std::unique_ptr<json::ByteSource> bytes) {
  transfers_ = session_.add_table(make_schema(
      {"noc_transfer", EventKind::slice, "noc_event_type", "What was asked of the network."}, kTransferColumns));
  links_ =
      session_.add_table(make_schema({"link_demand", EventKind::slice, "link", "The link of the core."}, kLinkColumns));
  json::JsonTableReader reader(std::move(bytes), {});
  json::JsonWindow window;
  while (reader.next(window)) {
    for (std::size_t i = 0; i < window.rows.size(); ++i) {
      const std::string_view row = window.row(i);
      bool taken = true;
      if (window.table == "noc_transfers") {
        taken = take_transfer(row);
      } else if (window.table == "timestep_data") {
        taken = take_step(row);
      } else if (window.table == "common_info") {
        take_info(row);
      } else {
        unread_.insert(window.table);
      }
      if (!taken) {
        session_.report().skipped_row(window.table, "it has no begin, end or place", window.rows[i].offset);
      }
    }
    if (session_.cancelled()) return Error{fmt::format("{}: the import was cancelled", name_)};
    if (options_.progress) options_.progress(reader.bytes_read(), reader.bytes_read());
  }
  for (const json::JsonProblem& problem : reader.problems()) session_.report().add(problem);
  if (transfer_count_ + step_count_ == 0) return Error{fmt::format("{}: holds no transfers of a network", name_)};
  session_.report().note("rows_skipped", "demands of links without a place or a value were skipped", bad_links_);
  session_.writer().set_meta("source_format", "tt-npe timeline");
  session_.report().note_unread("the timeline", {unread_.begin(), unread_.end()});
  const std::uint64_t skipped = session_.report().skipped_rows("noc_transfers");
  set_row_counts(session_.writer(), "noc_transfer", transfer_count_ + skipped, transfer_count_);
  const std::uint64_t steps = step_count_ + session_.report().skipped_rows("timestep_data");
  if (steps > 0) set_row_counts(session_.writer(), "timestep_data", steps, step_count_);
  if (!clock_known_) {
    session_.report().note("frequency_missing",
                           "the timeline counts cycles of a chip that is not known: a cycle is shown as 1 ns");
  }
  return session_.finish({.clock = "cycles", .ticks_per_ns = cycles_per_ns_, .path = name_});
}

bool NpeTimelineImport::read_part(std::string_view row, Part& part) {
  return json::each_member(row, [&](const json::JsonField& field) {
    if (field.key == "start_cycle") part.begin = json::to_int64(field);
    if (field.key == "end_cycle") part.end = json::to_int64(field);
    if (field.key == "total_bytes") part.bytes = json::to_int64(field);
    if (field.key == "id") part.id = json::to_int64(field);
    if (field.key == "src") part.source = place_of_list(field.text);
    if (field.key == "injection_rate") part.rate = json::to_double(field);
    if (field.key == "noc_event_type") part.type = field.text;
    if (field.key == "dst") part.destination = field.text;
    if (field.key == "noc_type") part.noc = field.text;
    if (field.key == "links") part.links = field.text;
    if (field.key == "route") part.route = field.text;
    constexpr std::string_view kRead[] = {"start_cycle", "end_cycle",      "total_bytes", "id",
                                          "src",         "injection_rate", "dst",         "noc_event_type",
                                          "noc_type",    "links",          "route"};
    if (std::find(std::begin(kRead), std::end(kRead), field.key) == std::end(kRead))
      add_unread("noc_transfers", field.key);
    return true;
  });
}

void NpeTimelineImport::add_unread(std::string_view table, std::string_view field) {
  if (unread_.size() < kMostUnread) unread_.insert(fmt::format("{}.{}", table, field));
}

// A transfer, by the parts of its route where it has any.
bool NpeTimelineImport::take_transfer(std::string_view row) {
  Part whole;
  if (!read_part(row, whole)) return false;
  std::int64_t number = 0;
  bool written = true;
  (void)json::each_element(whole.route, [&](const json::JsonField& element) {
    Part part = whole;
    part.route.clear();
    written = read_part(element.text, part) && write_part(part, number, whole.bytes) && written;
    ++number;
    return true;
  });
  if (number == 0) written = write_part(whole, 0, whole.bytes);
  transfer_count_ += written ? 1 : 0;
  return written;
}

bool NpeTimelineImport::write_part(const Part& part, std::int64_t number, std::optional<std::int64_t> transfer_bytes) {
  if (!part.begin || !part.end || !part.source || *part.begin < 0 || *part.end < *part.begin) return false;
  values_.clear();
  const std::optional<std::int64_t> bytes = transfer_bytes ? transfer_bytes : part.bytes;
  if (bytes && number == 0) values_.integer(0, *bytes);
  if (part.bytes) values_.integer(7, *part.bytes);
  if (part.id) values_.integer(1, *part.id);
  if (!part.destination.empty()) values_.string(2, session_.intern(part.destination));
  if (!part.noc.empty()) values_.string(3, session_.intern(part.noc));
  if (part.rate) values_.real(4, *part.rate);
  if (!part.links.empty()) values_.string(5, session_.intern(part.links));
  values_.integer(6, number);
  session_.write(rows_.of_core(*part.source, "network", transfers_, "dma_queue"), *part.begin, *part.end - *part.begin,
                 session_.intern(part.type), values_);
  return true;
}

bool NpeTimelineImport::take_step(std::string_view row) {
  std::optional<std::int64_t> begin, end;
  std::string links, networks;
  const bool whole = json::each_member(row, [&](const json::JsonField& field) {
    if (field.key == "start_cycle") begin = json::to_int64(field);
    if (field.key == "end_cycle") end = json::to_int64(field);
    if (field.key == "link_demand") links = field.text;
    if (field.key == "noc") networks = field.text;
    constexpr std::string_view kRead[] = {"start_cycle", "end_cycle", "link_demand", "noc"};
    const bool figure =
        std::any_of(kFigures.begin(), kFigures.end(), [&](const Figure& each) { return each.key == field.key; });
    if (!figure && std::find(std::begin(kRead), std::end(kRead), field.key) == std::end(kRead))
      add_unread("timestep_data", field.key);
    return true;
  });
  if (!whole || !begin || !end || *begin < 0 || *end < *begin) return false;
  ++step_count_;
  take_figures(row, "", *begin);
  (void)json::each_member(networks, [&](const json::JsonField& network) {
    take_figures(network.text, network.key, *begin);
    return true;
  });
  take_links(links, *begin, *end);
  return true;
}

// Of all chips together: the file does not tell them apart.
void NpeTimelineImport::take_figures(std::string_view figures, std::string_view of, std::int64_t begin) {
  (void)json::each_member(figures, [&](const json::JsonField& field) {
    for (const Figure& figure : kFigures) {
      const std::optional<double> value = figure.key == field.key ? json::to_double(field) : std::nullopt;
      if (!value) continue;
      const std::string name = of.empty() ? std::string(figure.key) : fmt::format("{} {}", of, figure.key);
      session_.sample(rows_.counter(0, name, std::string(figure.unit)), begin, *value);
    }
    return true;
  });
}

// [[chip, row, column, "NOC1_NORTH", percent], ...]
void NpeTimelineImport::take_links(std::string_view links, std::int64_t begin, std::int64_t end) {
  (void)json::each_element(links, [&](const json::JsonField& link) {
    const std::optional<CorePlace> place = place_of_list(link.text);
    std::string name;
    std::optional<double> demand;
    (void)json::each_element(link.text, [&](const json::JsonField& part) {
      if (part.kind == json::JsonKind::string) name = part.text;
      if (!name.empty() && part.kind == json::JsonKind::number) demand = json::to_double(part);
      return true;
    });
    if (!place || !demand) {
      ++bad_links_;
      return true;
    }
    values_.clear();
    values_.real(0, *demand);
    session_.write(rows_.of_core(*place, "links", links_, "layer"), begin, end - begin, session_.intern(name), values_);
    return true;
  });
}

void NpeTimelineImport::take_info(std::string_view info) {
  (void)json::each_member(info, [&](const json::JsonField& field) {
    if (field.key == "arch") {
      for (const NominalClock& clock : kNominalClocks) {
        if (!field.text.starts_with(clock.arch)) continue;
        cycles_per_ns_ = clock.cycles_per_ns;
        clock_known_ = true;
      }
    }
    if (const auto value = field.kind == json::JsonKind::number ? json::to_double(field) : std::nullopt) {
      session_.writer().add_metric({.name = std::string(field.key), .group = "Network", .value = *value});
    } else if (field.kind == json::JsonKind::string) {
      session_.writer().set_meta("npe." + std::string(field.key), std::string(field.text));
    }
    return true;
  });
}

}  // namespace

int probe_npe_timeline(std::string_view head, const std::string& /*path*/) {
  constexpr int kLikely = 90;
  const auto has = [&](std::string_view word) { return head.find(word) != std::string_view::npos; };
  return has("\"common_info\"") && (has("\"cycles_per_timestep\"") || has("\"congestion_model_name\"")) ? kLikely : 0;
}

Result<void> import_npe_timeline(std::unique_ptr<json::ByteSource> bytes, const std::string& name,
                                 const ImportOptions& options, EventSink& sink) {
  return NpeTimelineImport(name, options, sink).run(std::move(bytes));
}

}  // namespace accelscope::capture::sources::tt_noc
