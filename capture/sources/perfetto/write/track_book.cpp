#include "capture/sources/perfetto/write/track_book.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <tuple>

#include "capture/sources/perfetto/read/wire.h"
#include "capture/sources/perfetto/write/gpu_events.h"
#include "core/base/text.h"

namespace accelscope::capture::sources::perfetto {
namespace {

constexpr std::uint64_t kThreadTime = 1;
constexpr std::string_view kUnits[] = {"", "ns", "count", "B"};
constexpr std::string_view kCounterNames[] = {"", "thread_time", "thread_instruction_count"};
constexpr int kDeepestTrack = 64;
constexpr int kFirstProcessRank = 10;
constexpr std::uint64_t kOwnUuids = std::uint64_t{0xACCE1} << 44;  // far from those that programs choose

constexpr ColumnSpec kProcessColumns[] = {
    {"pid", columns::kInt, "", columns::kIds, "Process", "The system's number of it."},
    {"machine", columns::kInt, "", columns::kIds, "Machine",
     "The trace's number of the machine; 0 is where it was recorded."},
    {"sort_index", columns::kInt, "", columns::kIds, "Order", "Where the trace wants it among the others."},
    {"description", columns::kString, "", columns::kDetails, "Description", "What the trace says of it."},
    {"number", columns::kInt, "", columns::kIds, "Number", "Tells processes apart that had one pid after another."},
    {"host_app_package_name", columns::kString, "", columns::kDetails, "Package", "The app that it runs in."},
};
constexpr ColumnSpec kThreadColumns[] = {
    {"tid", columns::kInt, "", columns::kIds, "Thread", "The system's number of it."},
    {"pid", columns::kInt, "", columns::kIds, "Process", "Its process."},
    {"machine", columns::kInt, "", columns::kIds, "Machine",
     "The trace's number of the machine; 0 is where it was recorded."},
    {"sort_index", columns::kInt, "", columns::kIds, "Order", "Where the trace wants it among the others."},
    {"description", columns::kString, "", columns::kDetails, "Description", "What the trace says of it."},
    {"number", columns::kInt, "", columns::kIds, "Number", "Tells threads apart that had one tid after another."},
    {"process_number", columns::kInt, "", columns::kIds, "Number of the process", "As table process has it."},
};
constexpr ColumnSpec kTrackColumns[] = {
    {"uuid", columns::kUnsigned, "", columns::kIds, "Uuid", "The trace's number of the track."},
    {"parent_uuid", columns::kUnsigned, "", columns::kIds, "Parent", "The track that it lies in."},
    {"row", columns::kInt, "", columns::kIds, "Row", "Number of the row of its events."},
    {"kind", columns::kString, "", columns::kDetails, "Kind", "What it holds."},
    {"pid", columns::kInt, "", columns::kIds, "Process", "The process that it is of."},
    {"tid", columns::kInt, "", columns::kIds, "Thread", "The thread that it is of."},
    {"unit", columns::kString, "", columns::kDetails, "Unit", "Of a counter's values."},
    {"description", columns::kString, "", columns::kDetails, "Description", "What the trace says of it."},
    {"child_ordering", columns::kString, "", columns::kDetails, "Order of children",
     "How the tracks in it are put in order."},
    {"sibling_order_rank", columns::kInt, "", columns::kDetails, "Rank",
     "Where the trace wants it among those beside it."},
    {"machine", columns::kInt, "", columns::kIds, "Machine",
     "The trace's number of the machine; 0 is where it was recorded."},
    {"place", columns::kInt, "", columns::kDetails, "Place", "Where it stands among all; none: it has no events."},
    {"process_number", columns::kInt, "", columns::kIds, "Number of the process", "As table process has it."},
    {"thread_number", columns::kInt, "", columns::kIds, "Number of the thread", "As table thread has it."},
    {"first_packet", columns::kFlag, "", columns::kDetails, "First packet",
     "The first packet of a sequence described it."},
};
constexpr std::string_view kOrderings[] = {"", "lexicographic", "chronological", "explicit"};

struct DescribedCounter {
  CounterInfo info;
  std::string name;  // of the kinds that the format knows
};

[[nodiscard]] DescribedCounter read_counter(std::string_view message) {
  DescribedCounter counter;
  std::uint64_t type = 0;
  std::uint64_t unit = 0;
  std::string unit_name;
  Fields fields(message);
  while (fields.next()) {
    if (fields.into(At{1, type}, At{3, unit}, At{5, counter.info.incremental}, At{6, unit_name})) continue;
    if (fields.number() == 4 && fields.whole() != 0) counter.info.multiplier = static_cast<double>(fields.integer());
  }
  if (type < std::size(kCounterNames)) counter.name = kCounterNames[type];
  if (unit < std::size(kUnits)) counter.info.unit = kUnits[unit];
  if (type == kThreadTime && counter.info.unit.empty()) counter.info.unit = "ns";
  if (!unit_name.empty()) counter.info.unit = std::move(unit_name);
  return counter;
}

}  // namespace

PerfettoTrack& TrackBook::at(std::uint64_t uuid) {
  if (last_ != nullptr && last_uuid_ == uuid) return *last_;
  const auto [place, added] = by_uuid_.try_emplace(uuid, static_cast<std::uint32_t>(tracks_.size()));
  if (added) tracks_.emplace_back().uuid = uuid;
  last_uuid_ = uuid;
  last_ = &tracks_[place->second];
  return *last_;
}

const PerfettoTrack* TrackBook::find(std::uint64_t uuid) const {
  const auto found = by_uuid_.find(uuid);
  return found == by_uuid_.end() ? nullptr : &tracks_[found->second];
}

PerfettoTrack& TrackBook::of_uuid(std::uint64_t uuid) {
  PerfettoTrack& track = at(uuid);
  if (!track.described && uuid != 0) {
    track.described = true;
    ++undescribed_;
  }
  return track;
}

std::uint32_t TrackBook::process(std::int64_t machine, std::int64_t pid, std::uint64_t uuid) {
  const auto [place, added] =
      process_numbers_.try_emplace({machine, pid}, static_cast<std::uint32_t>(processes_.size()));
  const bool other =
      !added && uuid != 0 && processes_[place->second].uuid != 0 && processes_[place->second].uuid != uuid;
  if (other) place->second = static_cast<std::uint32_t>(processes_.size());
  if (added || other) {
    processes_.emplace_back();
    processes_.back().machine = machine;
    processes_.back().pid = pid;
  }
  if (uuid != 0) processes_[place->second].uuid = uuid;
  return place->second;
}

std::uint32_t TrackBook::thread(std::int64_t machine, std::int64_t pid, std::int64_t tid, std::uint64_t uuid) {
  const std::uint32_t of = process(machine, pid);
  const auto [place, added] =
      thread_numbers_.try_emplace({machine, pid, tid}, static_cast<std::uint32_t>(threads_.size()));
  const bool other = !added && uuid != 0 && threads_[place->second].uuid != 0 && threads_[place->second].uuid != uuid;
  if (other) place->second = static_cast<std::uint32_t>(threads_.size());
  if (added || other) {
    threads_.emplace_back();
    threads_.back().process = of;
    threads_.back().tid = tid;
  }
  if (uuid != 0) threads_[place->second].uuid = uuid;
  return place->second;
}

PerfettoTrack& TrackBook::of_process(std::int64_t machine, std::int64_t pid) {
  const std::uint32_t number = process(machine, pid);
  if (processes_[number].uuid == 0) processes_[number].uuid = kOwnUuids + next_own_++;
  PerfettoTrack& track = at(processes_[number].uuid);
  track.described = true;
  track.kind = PerfettoTrack::Kind::process;
  track.machine = machine;
  track.of = number;
  return track;
}

PerfettoTrack& TrackBook::of_thread(std::int64_t machine, std::int64_t pid, std::int64_t tid) {
  const std::uint32_t number = thread(machine, pid, tid);
  if (threads_[number].uuid == 0) threads_[number].uuid = kOwnUuids + next_own_++;
  PerfettoTrack& track = at(threads_[number].uuid);
  track.described = true;
  track.kind = PerfettoTrack::Kind::thread;
  track.machine = machine;
  track.of = number;
  return track;
}

PerfettoTrack& TrackBook::own(std::string_view key, std::uint64_t parent) {
  const auto found = own_.find(key);
  if (found != own_.end()) return at(found->second);
  const std::uint64_t uuid = kOwnUuids + next_own_++;
  own_.emplace(key, uuid);
  PerfettoTrack& track = at(uuid);
  track.described = true;
  track.parent = parent;
  return track;
}

void TrackBook::learn(std::string_view message) {
  std::uint64_t uuid = 0;
  std::string_view description;
  Fields fields(message);
  while (fields.next()) {
    if (fields.number() == 1) uuid = fields.whole();
    if (fields.number() == 14) description = fields.bytes();
  }
  std::optional<TrackWords> words = read_track_description(description);
  if (!words) return;
  if (!words->columns.empty()) tables_.add_roles(EventTableKind::memory, words->columns);
  at(uuid).own = std::move(words);
}

void TrackBook::describe(std::string_view message, std::int64_t machine, bool first_packet) {
  PerfettoTrack read;
  std::string_view process;
  std::string_view thread;
  std::string_view counter;
  std::string_view chrome_process;
  bool has_counter = false;
  bool has_state = false;
  bool sandboxed = false;
  Fields fields(message);
  while (fields.next()) {
    if (fields.into(At{1, read.uuid}, At{3, process}, At{4, thread}, At{5, read.parent}, At{6, chrome_process},
                    At{12, read.rank}, At{14, read.description}, At{16, read.merge_key}))
      continue;
    switch (fields.number()) {
      case 2:
      case 10:
      case 13:
        read.name = fields.bytes();
        break;
      case 7: {
        Fields chrome_thread(fields.bytes());
        while (chrome_thread.next()) sandboxed = chrome_thread.number() == 3 ? chrome_thread.flag() : sandboxed;
        break;
      }
      case 8:
        counter = fields.bytes();
        has_counter = true;
        break;
      case 19:
        processes_ordered_ = fields.whole() == 1;
        break;
      case 20:
        threads_ordered_ = fields.whole() == 1;
        break;
      case 11:
        read.ordering = static_cast<PerfettoTrack::Ordering>(std::min<std::uint64_t>(fields.whole(), 3));
        break;
      case 15:
        read.merging = fields.whole() == 2   ? PerfettoTrack::Merging::none
                       : fields.whole() == 3 ? PerfettoTrack::Merging::by_key
                                             : PerfettoTrack::Merging::by_name;
        break;
      case 17:
        read.merge_key = fmt::format("{}", fields.whole());
        break;
      case 18:
        has_state = true;
        break;
      default:
        break;
    }
  }
  const std::uint32_t of = !thread.empty()    ? describe_thread(thread, machine, read.uuid, sandboxed)
                           : !process.empty() ? describe_process(process, machine, read.uuid)
                                              : kNone;
  if (of != kNone && thread.empty()) {
    Fields chrome(chrome_process);
    while (chrome.next()) {
      if (chrome.number() == 4) processes_[of].package = chrome.bytes();
    }
  }
  PerfettoTrack& track = at(read.uuid);
  track.described = true;
  track.machine = machine;
  track.first_packet = track.first_packet || first_packet;
  if (read.parent != 0 && read.parent != read.uuid) track.parent = read.parent;
  // A row has its name once it has events.
  const bool any_row = !tables_of(track).empty() || track.counter_row != kNone;
  if (!read.name.empty() && (!any_row || (track.name.empty() && !track.named_by_event))) track.name = read.name;
  if (!read.description.empty()) {
    track.description = read.description;
    track.own = read_track_description(read.description);
    const bool late = track.holds_allocations() && !tables_.is_open(EventTableKind::memory);
    if (late) tables_.add_roles(EventTableKind::memory, track.own->columns);
  }
  if (read.ordering != PerfettoTrack::Ordering::unknown) track.ordering = read.ordering;
  if (read.rank != 0) track.rank = read.rank;
  if (!any_row) {
    track.merging = read.merging;
    if (!read.merge_key.empty()) track.merge_key = read.merge_key;
  }
  if (!thread.empty()) {
    track.kind = PerfettoTrack::Kind::thread;
    track.of = of;
  } else if (!process.empty()) {
    track.kind = PerfettoTrack::Kind::process;
    track.of = of;
  } else if (has_counter) {
    track.kind = PerfettoTrack::Kind::counter;
    DescribedCounter described = read_counter(counter);
    track.counter = std::move(described.info);
    if (track.name.empty()) track.name = std::move(described.name);
    track.counter_base.clear();
  } else if (has_state) {
    track.kind = PerfettoTrack::Kind::state;
  }
}

std::uint32_t TrackBook::describe_process(std::string_view message, std::int64_t machine, std::uint64_t uuid) {
  std::int64_t pid = 0;
  Process read;
  std::string command;
  Fields fields(message);
  while (fields.next()) {
    if (fields.number() == 1) pid = fields.integer();
    if (fields.number() == 2 && command.empty()) command = fields.bytes();
    if (fields.number() == 3) read.order = fields.integer32();
    if (fields.number() == 6) read.name = fields.bytes();
    if (fields.number() == 8) read.labels.emplace_back(fields.bytes());
  }
  const std::uint32_t number = process(machine, pid, uuid);
  Process& known = processes_[number];
  if (read.name.empty()) read.name = command;
  if (!read.name.empty()) known.name = read.name;
  if (read.order) known.order = read.order;
  if (!read.labels.empty()) known.labels = read.labels;
  return number;
}

std::uint32_t TrackBook::describe_thread(std::string_view message, std::int64_t machine, std::uint64_t uuid,
                                         bool sandboxed) {
  std::int64_t pid = 0;
  std::int64_t tid = 0;
  Thread read;
  Fields fields(message);
  while (fields.next()) {
    if (fields.number() == 1) pid = fields.integer();
    if (fields.number() == 2) tid = fields.integer();
    if (fields.number() == 3) read.order = fields.integer32();
    if (fields.number() == 5) read.name = fields.bytes();
  }
  if (sandboxed) tid = sandboxed_tid(pid, tid);
  const std::uint32_t number = thread(machine, pid, tid, uuid);
  Thread& known = threads_[number];
  if (!read.name.empty()) known.name = read.name;
  if (read.order) known.order = read.order;
  return number;
}

void TrackBook::name_process(std::int64_t machine, std::int64_t pid, std::string_view name) {
  processes_[process(machine, pid)].name = name;
}

void TrackBook::name_thread(std::int64_t machine, std::int64_t pid, std::int64_t tid, std::string_view name) {
  threads_[thread(machine, pid, tid)].name = name;
}

void TrackBook::saw_event(PerfettoTrack& track, std::int64_t ns, std::string_view name) {
  if (!track.first_ns || ns < *track.first_ns) track.first_ns = ns;
  const bool plain = track.kind != PerfettoTrack::Kind::thread && track.kind != PerfettoTrack::Kind::process;
  if (!plain || !track.name.empty() || name.empty() || track.uuid == 0) return;
  track.name = name;
  track.named_by_event = true;
}

// Tracks of one name that lie side by side are one row, unless their descriptors say otherwise.
std::string TrackBook::shared_key(const PerfettoTrack& track, std::string_view table) const {
  const bool by_key = track.merging == PerfettoTrack::Merging::by_key && !track.merge_key.empty();
  const bool plain = track.kind != PerfettoTrack::Kind::thread && track.kind != PerfettoTrack::Kind::process;
  if (!plain || track.merging == PerfettoTrack::Merging::none || (track.name.empty() && !by_key)) return {};
  const PerfettoTrack* const parent = track.parent == 0 ? nullptr : find(track.parent);
  return fmt::format("{} {} {} {}", parent == nullptr ? 0 : parent->uuid, table, by_key ? "key" : "name",
                     by_key ? track.merge_key : track.name);
}

std::uint32_t TrackBook::row(PerfettoTrack& track, EventTableKind table) {
  std::uint32_t& row = track.rows[static_cast<std::size_t>(table)];
  if (row != kNone) return row;
  const std::string key = shared_key(track, chrome::rule_of(table).schema);
  if (!key.empty()) {
    if (const auto found = shared_.find(key); found != shared_.end()) {
      track.shares_rows = true;
      at(found->second.second).shares_rows = true;
      return row = found->second.first;
    }
  }
  row = session_.add_track(tables_.open(table).number, {});
  track.shares_rows = track.shares_rows || !session_.row(row).name.empty();  // one of those beyond the limit
  if (!key.empty()) shared_.emplace(key, std::pair{row, track.uuid});
  return row;
}

std::uint32_t TrackBook::counter_row(PerfettoTrack& track) {
  if (track.counter_row != kNone) return track.counter_row;
  const std::string key = shared_key(track, "counter");
  if (!key.empty()) {
    if (const auto found = shared_.find(key); found != shared_.end()) return track.counter_row = found->second.first;
  }
  track.counter_row = session_.add_track(session_.counter_table(), {});
  if (!key.empty()) shared_.emplace(key, std::pair{track.counter_row, track.uuid});
  return track.counter_row;
}

EventTableKind TrackBook::table_by_name(const PerfettoTrack& track, EventTableKind otherwise) const {
  if (track.holds_allocations()) return EventTableKind::memory;
  if (otherwise != EventTableKind::event) return otherwise;
  const DeviceName* const device = device_of_track(track.name);
  return device == nullptr ? otherwise : device->table;
}

const PerfettoTrack* TrackBook::owner(const PerfettoTrack& track) const {
  const PerfettoTrack* at = &track;
  for (int depth = 0; depth < kDeepestTrack && at != nullptr; ++depth) {
    if (at->kind == PerfettoTrack::Kind::process || at->kind == PerfettoTrack::Kind::thread) return at;
    at = at->parent == 0 ? nullptr : find(at->parent);
  }
  return nullptr;
}

std::uint32_t TrackBook::process_index(const PerfettoTrack& track) const {
  const PerfettoTrack* const found = owner(track);
  if (found == nullptr || found->of == kNone) return kNone;
  return found->kind == PerfettoTrack::Kind::thread ? threads_[found->of].process : found->of;
}

std::int64_t TrackBook::process_of(const PerfettoTrack& track) const {
  const std::uint32_t number = process_index(track);
  return number == kNone ? 0 : processes_[number].pid;
}

std::int64_t TrackBook::thread_of(const PerfettoTrack& track) const {
  const PerfettoTrack* const found = owner(track);
  return found == nullptr || found->kind != PerfettoTrack::Kind::thread ? 0 : threads_[found->of].tid;
}

std::string TrackBook::process_label(std::uint32_t number) const {
  const Process& of = processes_[number];
  std::string label = of.name.empty() ? fmt::format("process {}", of.pid) : fmt::format("{} ({})", of.name, of.pid);
  for (const std::string& more : of.labels) label += " " + more;
  return of.machine == 0 ? label : fmt::format("{}, machine {}", label, of.machine);
}

std::string TrackBook::host_of(const PerfettoTrack& track) const {
  const std::uint32_t number = process_index(track);
  if (number != kNone) return process_label(number);
  return track.machine == 0 ? std::string{} : fmt::format("machine {}", track.machine);
}

std::string TrackBook::label_of(const PerfettoTrack& track) const {
  if (track.kind == PerfettoTrack::Kind::thread) {
    const Thread& of = threads_[track.of];
    if (!of.name.empty()) return of.name;
    if (!track.name.empty()) return track.name;
    return of.tid == processes_[of.process].pid ? "Main thread" : fmt::format("thread {}", of.tid);
  }
  if (!track.name.empty()) return track.name;
  if (track.kind == PerfettoTrack::Kind::process) return "Process";
  return track.uuid == 0 ? "Default track" : fmt::format("track {}", track.uuid);
}

std::vector<EventTableKind> TrackBook::tables_of(const PerfettoTrack& track) const {
  std::vector<EventTableKind> found;
  for (std::size_t i = 0; i < kEventTableCount; ++i) {
    if (track.rows[i] != kNone) found.push_back(static_cast<EventTableKind>(i));
  }
  return found;
}

void TrackBook::find_children() {
  children_.assign(tracks_.size() + 1, {});
  std::vector<bool> listed(tracks_.size(), false);
  for (const auto& [uuid, number] : by_uuid_) listed[number] = listed[number] || tracks_[number].uuid == uuid;
  for (std::uint32_t number = 0; number < tracks_.size(); ++number) {
    if (!listed[number]) continue;
    const PerfettoTrack& track = tracks_[number];
    auto parent = by_uuid_.find(track.parent);
    // A track must not lie in itself, by whatever way.
    std::uint32_t above = track.parent == 0 || parent == by_uuid_.end() ? kNone : parent->second;
    for (std::uint32_t at = above, depth = 0; at != kNone; ++depth) {
      if (at == number || depth > kDeepestTrack) {
        above = kNone;
        break;
      }
      const auto next = by_uuid_.find(tracks_[at].parent);
      at = tracks_[at].parent == 0 || next == by_uuid_.end() ? kNone : next->second;
    }
    children_[above == kNone ? tracks_.size() : above].push_back(number);
  }
}

void TrackBook::sort_children(std::vector<std::uint32_t>& children, const PerfettoTrack* parent) const {
  using Ordering = PerfettoTrack::Ordering;
  const Ordering ordering = parent == nullptr ? Ordering::unknown : parent->ordering;
  const auto order_of = [&](const PerfettoTrack& track) -> std::int64_t {
    if (track.kind != PerfettoTrack::Kind::thread) return 0;
    return threads_[track.of].order.value_or(0);
  };
  std::sort(children.begin(), children.end(), [&](std::uint32_t left, std::uint32_t right) {
    const PerfettoTrack& a = tracks_[left];
    const PerfettoTrack& b = tracks_[right];
    if (ordering == Ordering::chronological && a.first_ns != b.first_ns) {
      return a.first_ns && (!b.first_ns || *a.first_ns < *b.first_ns);
    }
    if (ordering == Ordering::explicit_rank && a.rank != b.rank) return a.rank < b.rank;
    if (ordering == Ordering::unknown) {
      // Threads first the main one, by the trace's own order; then tracks by name.
      const bool threads = a.kind == PerfettoTrack::Kind::thread && b.kind == PerfettoTrack::Kind::thread;
      if (a.kind != b.kind)
        return a.kind == PerfettoTrack::Kind::thread || (b.kind != PerfettoTrack::Kind::thread && a.kind < b.kind);
      if (threads && order_of(a) != order_of(b)) return order_of(a) < order_of(b);
      const auto is_main = [this](const PerfettoTrack& track) { return thread_of(track) == process_of(track); };
      if (threads && is_main(a) != is_main(b)) return is_main(a);
      if (threads && thread_of(a) != thread_of(b)) return thread_of(a) < thread_of(b);
    }
    const std::string first = label_of(a);
    const std::string second = label_of(b);
    if (natural_less(first, second) || natural_less(second, first)) return natural_less(first, second);
    return left < right;
  });
}

bool TrackBook::wanted(std::uint32_t number) const {
  const PerfettoTrack& track = tracks_[number];
  if (track.counter_row != kNone || !tables_of(track).empty()) return true;
  return std::any_of(children_[number].begin(), children_[number].end(),
                     [this](std::uint32_t child) { return wanted(child); });
}

Track TrackBook::on_device(const PerfettoTrack& track, EventTableKind table) const {
  Track row;
  if (track.own) {
    row.kind = track.own->kind;
    row.device = track.own->device;
    return row;
  }
  const DeviceName* const device = device_of_track(track.name);
  const chrome::TablePlace place = chrome::rule_of(table).place;
  if (device != nullptr) {
    row.kind = device->kind;
    row.device = device_label(track.name);
    row.name = track.name;
    if (place == chrome::TablePlace::dma_queue) row.kind = "dma_queue";
    return row;
  }
  row.kind = "host_thread";
  return row;
}

void TrackBook::place(std::uint32_t number, std::uint32_t above, int depth) {
  if (depth > kDeepestTrack || places_[number] >= 0 || !wanted(number)) return;
  places_[number] = next_place_;
  PerfettoTrack& track = tracks_[number];
  const std::uint32_t of = process_index(track);
  const int at_rank = of == kNone ? kFirstProcessRank - 1 : ranks_[of];
  const std::string host = track.own ? track.own->host : host_of(track);
  const std::string label = label_of(track);
  const auto put = [&](std::uint32_t row, Track described, std::uint32_t within) {
    if (row >= placed_rows_.size()) placed_rows_.resize(row + 1, false);
    if (placed_rows_[row]) return;
    placed_rows_[row] = true;
    if (!session_.row(row).name.empty()) return;  // of the rows beyond the limit
    Track& known = session_.row(row);
    const TrackNumber number_of_row = known.number;
    known = std::move(described);
    known.number = number_of_row;
    session_.place(row) = {known.device.empty() ? at_rank : tracks::kDeviceRows, next_place_++};
    session_.above(row) = within;
  };
  std::vector<EventTableKind> tables = tables_of(track);
  std::sort(tables.begin(), tables.end(),
            [](EventTableKind a, EventTableKind b) { return chrome::rule_of(a).order < chrome::rule_of(b).order; });
  bool any_child = false;
  for (const std::uint32_t child : children_[number]) any_child = any_child || wanted(child);
  any_child = any_child && track.kind != PerfettoTrack::Kind::process;
  std::uint32_t heading = kNone;
  if (tables.size() > 1 || (tables.empty() && any_child)) {
    Track group = on_device(track, tables.empty() ? EventTableKind::event : tables.front());
    group.name = label;
    group.host = host;
    heading = session_.add_group(group, {group.device.empty() ? at_rank : tracks::kDeviceRows, next_place_++}, above);
  }
  for (const EventTableKind table : tables) {
    Track row = on_device(track, table);
    row.name = heading == kNone ? label : fmt::format("{} {}", label, chrome::rule_of(table).label);
    row.host = host;
    put(track.rows[static_cast<std::size_t>(table)], std::move(row), heading == kNone ? above : heading);
  }
  if (heading == kNone && !tables.empty()) heading = track.rows[static_cast<std::size_t>(tables.front())];
  if (track.counter_row != kNone) {
    put(track.counter_row,
        {.name = label,
         .kind = track.own ? track.own->kind : "counter",
         .device = track.own ? track.own->device : "",
         .host = host,
         .unit = track.counter.unit},
        kNone);
  }
  if (track.kind == PerfettoTrack::Kind::process) heading = kNone;  // its host's heading says it
  sort_children(children_[number], &track);
  for (const std::uint32_t child : children_[number]) place(child, heading, depth + 1);
}

void TrackBook::describe_rows() {
  find_children();
  places_.assign(tracks_.size(), -1);
  for (const PerfettoTrack& track : tracks_) {
    if (track.rank == 0 || track.of == kNone) continue;
    if (processes_ordered_ && track.kind == PerfettoTrack::Kind::process) processes_[track.of].order = track.rank;
    if (threads_ordered_ && track.kind == PerfettoTrack::Kind::thread) threads_[track.of].order = track.rank;
  }
  std::vector<std::uint32_t> order(processes_.size());
  std::iota(order.begin(), order.end(), 0U);
  std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    const Process& first = processes_[a];
    const Process& second = processes_[b];
    return std::tuple(first.order.value_or(0), first.machine, first.pid) <
           std::tuple(second.order.value_or(0), second.machine, second.pid);
  });
  int rank = kFirstProcessRank;
  ranks_.assign(processes_.size(), 0);
  for (const std::uint32_t process : order) ranks_[process] = rank++;
  std::vector<std::uint32_t>& roots = children_.back();
  const PerfettoTrack* const root = find(0);
  sort_children(roots, root);
  for (const std::uint32_t track : roots) place(track, kNone, 0);
}

void TrackBook::write_tables() {
  tracks::EventValues values;
  const auto table = [&](std::string_view name, std::string_view title, std::span<const ColumnSpec> spec) {
    return session_.add_track(session_.add_table(make_schema({name, EventKind::table, "name"}, spec)),
                              {.name = std::string(title), .kind = "table"}, {1'000'000, 0});
  };
  const auto described = [&](std::uint64_t uuid) -> std::string_view {
    const PerfettoTrack* const track = find(uuid);
    return track == nullptr ? std::string_view{} : std::string_view(track->description);
  };
  const auto text = [&](std::size_t column, std::string_view value) {
    if (!value.empty()) values.string(column, session_.intern(value));
  };
  if (!processes_.empty()) {
    const std::uint32_t row = table("process", "Processes", kProcessColumns);
    for (std::size_t i = 0; i < processes_.size(); ++i) {
      const Process& each = processes_[i];
      values.clear();
      values.integer(0, each.pid);
      values.integer(1, each.machine);
      if (each.order) values.integer(2, *each.order);
      text(3, described(each.uuid));
      values.integer(4, static_cast<std::int64_t>(i));
      text(5, each.package);
      session_.write(row, 0, 0, session_.intern(each.name), values);
    }
  }
  if (!threads_.empty()) {
    const std::uint32_t row = table("thread", "Threads", kThreadColumns);
    for (std::size_t i = 0; i < threads_.size(); ++i) {
      const Thread& each = threads_[i];
      values.clear();
      values.integer(0, each.tid);
      values.integer(1, processes_[each.process].pid);
      values.integer(2, processes_[each.process].machine);
      if (each.order) values.integer(3, *each.order);
      text(4, described(each.uuid));
      values.integer(5, static_cast<std::int64_t>(i));
      values.integer(6, each.process);
      session_.write(row, 0, 0, session_.intern(each.name), values);
    }
  }
  constexpr std::string_view kKinds[] = {"slices", "process", "thread", "counter", "state"};
  const std::uint32_t row = table("track_descriptor", "Tracks of the trace", kTrackColumns);
  for (const auto& [uuid, number] : by_uuid_) {
    const PerfettoTrack& track = tracks_[number];
    if (track.uuid != uuid) continue;
    const auto put = [&](std::uint32_t of_row) {
      values.clear();
      values.unsigned_integer(0, track.uuid);
      const PerfettoTrack* const parent = track.parent == 0 ? nullptr : find(track.parent);
      if (parent != nullptr) values.unsigned_integer(1, parent->uuid);
      if (of_row != kNone) values.integer(2, session_.number(of_row));
      text(3, kKinds[static_cast<std::size_t>(track.kind)]);
      const PerfettoTrack* const of = owner(track);
      const std::uint32_t process = process_index(track);
      const bool in_thread = of != nullptr && of->kind == PerfettoTrack::Kind::thread;
      if (process != kNone) values.integer(4, processes_[process].pid);
      if (in_thread) values.integer(5, threads_[of->of].tid);
      text(6, track.counter.unit);
      text(7, track.description);
      text(8, kOrderings[static_cast<std::size_t>(track.ordering)]);
      if (track.rank != 0) values.integer(9, track.rank);
      values.integer(10, track.machine);
      if (places_[number] >= 0) values.integer(11, places_[number]);
      if (process != kNone) values.integer(12, process);
      if (in_thread) values.integer(13, of->of);
      if (track.first_packet) values.boolean(14, true);
      session_.write(row, 0, 0, session_.intern(track.name), values);
    };
    bool any = false;
    for (const EventTableKind each : tables_of(track)) {
      put(track.rows[static_cast<std::size_t>(each)]);
      any = true;
    }
    if (track.counter_row != kNone) {
      put(track.counter_row);
      any = true;
    }
    if (!any) put(kNone);
  }
}

}  // namespace accelscope::capture::sources::perfetto
