// A list of records of what processors ask of the network.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <tuple>

#include "capture/json/json_cursor.h"
#include "capture/json/table_reader.h"
#include "capture/sources/base/sinks.h"
#include "capture/sources/tt_noc/chip_rows.h"
#include "capture/sources/tt_noc/source.h"
#include "core/base/text.h"
#include "core/model/column_spec.h"

namespace accelscope::capture::sources::tt_noc {
namespace {

using namespace columns;
using tracks::EventValues;
using tracks::UnorderedSession;

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
  AsyncSink receiver(sink);
  if (Result<void> done = NocTraceImport(name, options, receiver).run(std::move(bytes)); !done) return done;
  return receiver.finish();
}

Result<void> import_noc_trace(const std::string& path, const ImportOptions& options, EventSink& sink) {
  Result<std::unique_ptr<json::ByteSource>> source = json::ByteSource::open(path);
  if (!source) return source.error();
  return import_noc_trace(std::move(source).value(), path, options, sink);
}

}  // namespace accelscope::capture::sources::tt_noc
