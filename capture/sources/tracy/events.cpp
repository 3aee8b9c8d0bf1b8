// What belongs to no thread alone: frames, sections, locks, plots, memory.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "capture/sources/tracy/importer.h"

namespace accelscope::capture::sources::tracy {
namespace {

constexpr std::size_t kSectionBytes = 15;
constexpr std::size_t kMostLockThreads = 64;
constexpr std::uint64_t kLongestFirstText = 1U << 20;

enum class LockStep : std::uint8_t { wait, obtain, release, wait_shared, obtain_shared, release_shared };
constexpr std::uint8_t kLockSteps = 6;

[[nodiscard]] EventSorter::Options few_megabytes() { return {.batch_bytes = 8U << 20}; }

// What a thread does at a lock.
struct AtLock {
  std::int64_t since = 0;
  std::uint32_t times = 0;  // a lock may be obtained again by the thread that holds it
};

constexpr std::array<std::string_view, 4> kPlotUnits = {"", "B", "%", "W"};
constexpr std::uint8_t kPlotOfProcessorTime = 2;

}  // namespace

void TracyImport::read_frames() {
  for (std::uint64_t left = reader_.count(); left > 0 && !reader_.ended(); --left) {
    TraceRecord record = reader_.record(17);
    FrameSet set;
    set.name = record.next<std::uint64_t>();
    set.continuous = record.next<std::uint8_t>() != 0;
    std::uint64_t time = 0;
    for (std::uint64_t frames = record.next<std::uint64_t>(); frames > 0; --frames) {
      TraceRecord frame = reader_.record(set.continuous ? 12 : 20);
      if (reader_.ended()) break;
      HeldSlice slice;
      time += frame.next<std::uint64_t>();
      slice.begin = static_cast<std::int64_t>(time);
      if (!set.continuous) time += frame.next<std::uint64_t>();
      slice.end = set.continuous ? -1 : static_cast<std::int64_t>(time);
      if (set.continuous && !set.frames.empty()) set.frames.back().end = slice.begin;
      set.frames.push_back(slice);
    }
    if (!set.frames.empty()) frame_sets_.push_back(std::move(set));
  }
}

// Since 0.13.4 there are sections, but not in tt-metal's variant of that version, which has markers of its devices
// instead. There the texts follow: a count, an address, a length that a text can have. In a section's place the length
// would be made of two times and a text's number.
void TracyImport::read_marked_sections() {
  if (!layout_.sections) return;
  if (const char* const bytes = reader_.peek(24); bytes != nullptr) {
    TraceRecord look(bytes);
    const auto count = look.next<std::uint64_t>();
    (void)look.next<std::uint64_t>();
    if (count > 0 && look.next<std::uint64_t>() < kLongestFirstText) {
      layout_.sections = false;
      layout_.device_markers = true;
      return;
    }
  }
  for (std::uint64_t left = reader_.count(); left > 0; --left) {
    TraceRecord record = reader_.record(kSectionBytes);
    if (reader_.ended()) return;
    HeldSlice slice;
    slice.begin = record.next48();
    slice.end = record.next48();
    slice.text = record.next24();
    marked_sections_.push_back(slice);
  }
}

void TracyImport::write_frames() {
  const auto write = [&](TrackNumber track, TracyTableKind table, const HeldSlice& slice, StringId name) {
    if (!is_time(slice.begin) || !is_time(slice.end)) return std::optional<Row>();
    const std::int64_t end = slice.end < 0 ? std::max(last_time_, slice.begin) : slice.end;
    std::optional<Row> row = lanes_.put(track, slice.begin, std::max<std::int64_t>(end - slice.begin, 0), name);
    if (row) count_row(table);
    return row;
  };
  for (const FrameSet& set : frame_sets_) {
    const std::string_view given = names_.literal(set.name);
    const std::string name(given.empty() ? "Frame" : given);
    const auto track = lanes_.add_track(track_of(name, "layer", TracyTableKind::frame));
    std::uint64_t number = set.name == 0 ? frame_offset_ : 0;
    for (const HeldSlice& frame : set.frames) {
      std::optional<Row> row;
      if (track) row = write(*track, TracyTableKind::frame, frame, writer_.intern(name));
      if (row) row->integer(FrameColumns::number, static_cast<std::int64_t>(number));
      ++number;
    }
  }
  frame_sets_ = {};
  std::sort(marked_sections_.begin(), marked_sections_.end(),
            [](const HeldSlice& a, const HeldSlice& b) { return a.begin < b.begin; });
  std::optional<TrackNumber> sections;
  if (!marked_sections_.empty()) sections = lanes_.add_track(track_of("Sections", "layer", TracyTableKind::section));
  for (const HeldSlice& section : marked_sections_) {
    if (sections) {
      (void)write(*sections, TracyTableKind::section, section, writer_.intern(names_.text_above(section.text)));
    }
  }
  marked_sections_ = {};
}

void TracyImport::read_locks() {
  EventSorter sorter(tracy_table(TracyTableKind::lock), spill_, few_megabytes());
  std::vector<Track> tracks;
  for (std::uint64_t left = reader_.count(); left > 0 && !stopped(); --left) read_lock(sorter, tracks);
  write_sorted(sorter, tracks, TracyTableKind::lock);
}

void TracyImport::read_lock(EventSorter& sorter, std::vector<Track>& tracks) {
  TraceRecord record = reader_.record(4 + 3 + 2 + 1 + 1 + 8 + 8);
  const auto number = record.next<std::uint32_t>();
  const std::string_view given = names_.text_above(record.next24());
  const auto made_at = record.next<std::int16_t>();
  (void)record.next<std::uint8_t>();  // whether it can be shared, which its events say themselves
  (void)record.next<std::uint8_t>();
  auto time = record.next<std::uint64_t>();
  std::vector<std::uint64_t> threads;
  for (std::uint64_t left = reader_.count(); left > 0 && !reader_.ended(); --left) {
    const auto thread = reader_.number<std::uint64_t>();
    if (threads.size() < kMostLockThreads) threads.push_back(thread);
  }
  if (reader_.ended()) return;
  const auto row = static_cast<std::uint32_t>(tracks.size());
  tracks.push_back(track_of(fmt::format("Lock {} {}", number, given), "semaphore", TracyTableKind::lock));
  if (given.empty()) {
    const SourcePlace* const where = names_.place(made_at);
    const std::string_view name =
        where == nullptr ? "" : names_.text(where->name == kNoText ? where->function : where->name);
    tracks.back().name = fmt::format("Lock {}{}{}", number, name.empty() ? "" : " ", name);
  }
  const auto hold = [&](const AtLock& at, std::int64_t end, std::string_view what, std::size_t thread,
                        std::int16_t where) {
    if (!is_time(at.since) || !is_time(end)) return;
    sorter.begin();
    if (const StringId source = place(where).source; source != 0) sorter.string(LockColumns::source, source);
    sorter.integer(LockColumns::thread, static_cast<std::int64_t>(threads[thread]));
    sorter.integer(LockColumns::lock, number);
    sorter.commit(row, at.since, std::max<std::int64_t>(end - at.since, 0), writer_.intern(what));
  };
  std::array<std::array<AtLock, 4>, kMostLockThreads> at = {};
  constexpr std::array<std::string_view, 4> kWhat = {"wait", "hold", "wait to share", "share"};
  for (std::uint64_t left = reader_.count(); left > 0; --left) {
    TraceRecord event = reader_.record(8 + 2 + 1 + 1);
    if (reader_.ended()) break;
    time += event.next<std::uint64_t>();
    const auto now = static_cast<std::int64_t>(time);
    const auto where = event.next<std::int16_t>();
    const auto thread = event.next<std::uint8_t>();
    const auto code = event.next<std::uint8_t>();
    if (thread >= threads.size() || code >= kLockSteps) {
      ++bad_times_;
      continue;
    }
    const std::size_t shared = code >= static_cast<std::uint8_t>(LockStep::wait_shared) ? 2 : 0;
    AtLock& wait = at[thread][shared];
    AtLock& held = at[thread][shared + 1];
    switch (static_cast<LockStep>(code)) {
      case LockStep::wait:
      case LockStep::wait_shared:
        if (wait.times++ == 0) wait.since = now;
        break;
      case LockStep::obtain:
      case LockStep::obtain_shared:
        if (wait.times > 0) hold(wait, now, kWhat[shared], thread, where);
        wait.times = 0;
        if (held.times++ == 0) held.since = now;
        break;
      case LockStep::release:
      case LockStep::release_shared:
        if (held.times > 0 && --held.times == 0) hold(held, now, kWhat[shared + 1], thread, where);
        break;
    }
  }
  for (std::size_t thread = 0; thread < threads.size(); ++thread) {
    for (std::size_t what = 0; what < kWhat.size(); ++what) {
      const AtLock& open = at[thread][what];
      if (open.times == 0) continue;
      ++unfinished_zones_;
      hold(open, std::max(last_time_, open.since), kWhat[what], thread, made_at);
    }
  }
}

void TracyImport::read_plots() {
  EventSorter sorter(tracy_table(TracyTableKind::plot), spill_, few_megabytes());
  std::vector<Track> tracks;
  for (std::uint64_t left = reader_.count(); left > 0 && !stopped(); --left) read_plot(sorter, tracks);
  write_sorted(sorter, tracks, TracyTableKind::plot);
}

void TracyImport::read_plot(EventSorter& sorter, std::vector<Track>& tracks) {
  TraceRecord record = reader_.record(8 + 8 + 3 * 8 + 8);
  const auto type = record.next<std::uint8_t>();
  const auto format = record.next<std::uint8_t>();
  (void)record.next<std::uint16_t>();  // how it is drawn
  (void)record.next<std::uint32_t>();
  const std::string_view name = names_.literal(record.next<std::uint64_t>());
  for (int i = 0; i < 3; ++i) (void)record.next<double>();  // least, greatest, sum
  const auto row = static_cast<std::uint32_t>(tracks.size());
  tracks.push_back(track_of(type == kPlotOfProcessorTime ? "CPU usage" : std::string(name.empty() ? "Plot" : name),
                            "counter", TracyTableKind::plot));
  if (format < kPlotUnits.size()) tracks.back().unit = kPlotUnits[format];
  std::uint64_t time = 0;
  for (auto left = record.next<std::uint64_t>(); left > 0; --left) {
    TraceRecord sample = reader_.record(16);
    if (reader_.ended()) return;
    time += sample.next<std::uint64_t>();
    const auto at = static_cast<std::int64_t>(time);
    if (!is_time(at)) continue;
    sorter.begin();
    sorter.real(0, sample.next<double>());
    sorter.commit(row, at, 0, 0);
  }
}

void TracyImport::read_memory() {
  EventSorter sorter(tracy_table(TracyTableKind::memory), spill_, few_megabytes());
  std::vector<Track> tracks;
  const std::uint64_t pools = reader_.count();
  reader_.skip(8);  // events of all
  for (std::uint64_t left = pools; left > 0 && !stopped(); --left) read_pool(sorter, tracks);
  write_sorted(sorter, tracks, TracyTableKind::memory);
}

void TracyImport::read_pool(EventSorter& sorter, std::vector<Track>& tracks) {
  TraceRecord record = reader_.record(32);
  const auto named = record.next<std::uint64_t>();
  const std::string_view given = names_.literal(named);
  const auto count = record.next<std::uint64_t>();
  const auto row = static_cast<std::uint32_t>(tracks.size());
  const std::string name(given.empty() || named == 0 ? "Memory" : given);
  tracks.push_back(track_of(name, "memory", TracyTableKind::memory));
  const StringId pool = writer_.intern(name);
  std::uint64_t allocated = 0;
  for (std::uint64_t left = count; left > 0; --left) {
    TraceRecord event = reader_.record(8 + 8 + 3 + 3 + 8 + 8 + 2 + 2);
    if (reader_.ended()) return;
    const auto address = event.next<std::uint64_t>();
    const auto bytes = event.next<std::int64_t>();
    const std::array<std::uint32_t, 2> stacks = {event.next24(), event.next24()};
    allocated += event.next<std::uint64_t>();
    const auto retained = event.next<std::int64_t>();  // until it is released; below 0: it is not
    const std::array<std::uint16_t, 2> threads = {event.next<std::uint16_t>(), event.next<std::uint16_t>()};
    const auto begin = static_cast<std::int64_t>(allocated);
    const bool released = retained >= 0;
    if (bytes < 0 || !is_time(begin) || !is_time(retained)) continue;
    for (std::size_t side = 0; side < (released ? 2U : 1U); ++side) {
      sorter.begin();
      sorter.integer(MemoryColumns::bytes, side == 0 ? bytes : -bytes);
      sorter.unsigned_integer(MemoryColumns::address, address);
      sorter.string(MemoryColumns::pool, pool);
      sorter.integer(MemoryColumns::thread, static_cast<std::int64_t>(names_.thread(threads[side])));
      if (stacks[side] != 0) sorter.integer(MemoryColumns::callstack, stacks[side]);
      sorter.commit(row, side == 0 ? begin : begin + retained, 0, pool);
    }
  }
  reader_.skip(32);  // addresses and use, which the events tell, and its name again
}

// Threads: their zones, what they said, where they were sampled.

namespace {

constexpr std::size_t kExtraBytes = 12;
constexpr std::size_t kZoneBytes = 18;
constexpr std::size_t kDeepestZones = 65'536;
constexpr std::int64_t kNotEnded = -1;
constexpr std::size_t kMessageBytes = 8 + 8 + TraceNames::kReferenceBytes + 4 + 3;
constexpr std::array<std::string_view, 6> kSeverities = {"trace", "debug", "info", "warning", "error", "fatal"};
constexpr std::size_t kMostMessageNames = 50'000;
constexpr std::uint8_t kUnknownSeverity = kSeverities.size();

}  // namespace

void TracyImport::read_messages() {
  std::uint64_t time = 0;
  for (std::uint64_t left = reader_.count(); left > 0; --left) {
    TraceRecord record = reader_.record(kMessageBytes + (layout_.message_severity ? 2U : 0U));
    if (reader_.ended()) break;
    HeldMessage message;
    message.pointer = record.next<std::uint64_t>();
    time += record.next<std::uint64_t>();
    message.time = static_cast<std::int64_t>(time);
    message.text = names_.reference(record);
    (void)record.next<std::uint32_t>();  // its colour
    message.callstack = record.next24() & 0xffffffU;
    message.severity = kUnknownSeverity;
    if (layout_.message_severity) {
      (void)record.next<std::uint8_t>();  // the program's, or the profiler's own
      message.severity = std::min(record.next<std::uint8_t>(), kUnknownSeverity) & 0x7fU;
    }
    messages_.push_back(message);
  }
  std::sort(messages_.begin(), messages_.end(), [](const HeldMessage& a, const HeldMessage& b) {
    return std::pair(a.pointer, a.time) < std::pair(b.pointer, b.time);
  });
}

void TracyImport::read_zone_extras() {
  for (std::uint64_t left = reader_.count(); left > 0; --left) {
    TraceRecord record = reader_.record(kExtraBytes);
    if (reader_.ended()) return;
    ZoneExtra& extra = zone_extras_.emplace_back();
    extra.callstack = record.next24();
    extra.text = record.next24();
    extra.name = record.next24();
  }
}

void TracyImport::read_threads() {
  claimed_zones_ = reader_.count();
  reader_.skip(8);  // how many zones hold others
  for (std::uint64_t left = reader_.count(); left > 0 && !stopped(); --left) {
    TraceRecord record = reader_.record(25);
    if (reader_.ended()) break;
    ThreadRow thread;
    thread.id = record.next<std::uint64_t>();
    thread.name = thread_label(thread.id);
    if (layout_.group_hints) reader_.skip(4);
    const auto zones = reader_.number<std::uint32_t>();
    read_zones(zones, thread);
    read_thread_messages(thread);
    read_samples(thread, true);
    read_samples(thread, false);
  }
  write_untaken_messages();
  zone_extras_ = {};
  messages_ = {};
}

// A zone's record has its begin and how many zones lie in it; those follow, then its end. So inner zones are whole
// before outer ones, and at each depth they come in the order of time.
void TracyImport::read_zones(std::uint32_t count, ThreadRow& thread) {
  open_.clear();
  std::uint64_t time = 0;
  for (std::uint32_t left = count;;) {
    if (left > 0) {
      TraceRecord record = reader_.record(kZoneBytes);
      if (reader_.ended()) break;
      OpenZone zone;
      zone.place = record.next<std::int16_t>();
      time += record.next<std::uint64_t>();
      zone.start = static_cast<std::int64_t>(time);
      zone.extra = record.next<std::uint32_t>();
      const auto inner = record.next<std::uint32_t>();
      zone.siblings = left - 1;
      open_.push_back(zone);
      left = inner;
      if (open_.size() > kDeepestZones) reader_.give_up("zones lie in one another deeper than any program calls");
      continue;
    }
    if (open_.empty()) return;
    const auto length = reader_.number<std::uint64_t>();
    if (reader_.ended()) break;
    time += length;
    const OpenZone zone = open_.back();
    open_.pop_back();
    write_zone(thread, static_cast<std::uint32_t>(open_.size()), zone, static_cast<std::int64_t>(time));
    left = zone.siblings;
    constexpr std::uint32_t kLookEvery = 0xffff;
    if ((rows_[0] & kLookEvery) == 0 && stopped()) break;
  }
  for (; !open_.empty(); open_.pop_back()) {
    write_zone(thread, static_cast<std::uint32_t>(open_.size() - 1), open_.back(), kNotEnded);
  }
}

void TracyImport::write_zone(ThreadRow& thread, std::uint32_t depth, const OpenZone& zone, std::int64_t end) {
  if (!is_time(zone.start) || !is_time(end)) return;
  if (end < 0 && zone.start >= 0) {
    ++unfinished_zones_;
    end = std::max(last_time_, zone.start);
  } else if (end < zone.start) {
    ++negative_zones_;
  }
  if (!thread.zones) thread.zones = lanes_.add_track(track_of(thread.name, "host_thread", TracyTableKind::zone));
  if (!thread.zones) return;
  const PlaceIds& where = place(zone.place);
  std::optional<Row> row = lanes_.put_at(*thread.zones, depth, zone.start, end, where.name);
  if (!row) return;
  ++rows_[static_cast<std::size_t>(TracyTableKind::zone)];
  if (where.source != 0) row->string(ZoneColumns::source, where.source);
  row->integer(ZoneColumns::thread, static_cast<std::int64_t>(thread.id));
  if (where.function != 0) row->string(ZoneColumns::function, where.function);
  if (zone.extra != 0) set_zone_extra(*row, zone.extra);
}

void TracyImport::set_zone_extra(Row& row, std::uint32_t extra) {
  if (extra >= zone_extras_.size()) return;
  const ZoneExtra& more = zone_extras_[extra];
  const std::string_view text = names_.text_above(more.text);
  const std::string_view name = names_.text_above(more.name);
  if (!name.empty()) row.text(ZoneColumns::zone_name, name);
  if (!text.empty()) row.text(ZoneColumns::zone_text, text);
  if (more.callstack != 0) row.integer(ZoneColumns::callstack, more.callstack);
}

void TracyImport::read_thread_messages(const ThreadRow& thread) {
  std::vector<std::uint32_t> mine;
  for (std::uint64_t left = reader_.count(); left > 0; --left) {
    const auto pointer = reader_.number<std::uint64_t>();
    if (reader_.ended()) break;
    // Of those of one pointer the first are taken first.
    const auto found =
        std::lower_bound(messages_.begin(), messages_.end(), pointer, [](const HeldMessage& message, std::uint64_t of) {
          return message.pointer < of || (message.pointer == of && message.taken != 0);
        });
    if (found == messages_.end() || found->pointer != pointer) continue;
    found->taken = 1;
    mine.push_back(static_cast<std::uint32_t>(found - messages_.begin()));
  }
  write_messages(mine, thread);
}

void TracyImport::write_messages(std::span<const std::uint32_t> messages, const ThreadRow& thread) {
  if (messages.empty()) return;
  std::vector<std::uint32_t> order(messages.begin(), messages.end());
  std::stable_sort(order.begin(), order.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return messages_[a].time < messages_[b].time; });
  Track row_of_messages = track_of(thread.name + " messages", "host_thread", TracyTableKind::message);
  if (thread.zones) row_of_messages.parent = *thread.zones;
  const std::optional<TrackNumber> track = lanes_.add_track(std::move(row_of_messages));
  if (!track) return;
  for (const std::uint32_t index : order) {
    const HeldMessage& message = messages_[index];
    if (!is_time(message.time)) continue;
    const std::string_view text = names_.text(message.text);
    std::optional<Row> row = lanes_.put(*track, message.time, 0, name_of_message(text));
    if (!row) continue;
    count_row(TracyTableKind::message);
    row->text(MessageColumns::message, text);
    if (thread.id != 0) row->integer(MessageColumns::thread, static_cast<std::int64_t>(thread.id));
    if (message.severity < kSeverities.size()) {
      row->string(MessageColumns::severity, writer_.intern(kSeverities[message.severity]));
    }
    if (message.callstack != 0) row->integer(MessageColumns::callstack, message.callstack);
  }
}

// Messages may all be different; names are kept for as long as the session is open.
StringId TracyImport::name_of_message(std::string_view text) {
  const std::string name = message_name(text);
  const std::size_t hash = std::hash<std::string>{}(name);
  if (message_names_.size() >= kMostMessageNames && !message_names_.contains(hash)) {
    ++unnamed_messages_;
    return writer_.intern("message");
  }
  message_names_.insert(hash);
  return writer_.intern(name);
}

// Of a trace that was cut before its threads.
void TracyImport::write_untaken_messages() {
  std::vector<std::uint32_t> untaken;
  for (std::size_t i = 0; i < messages_.size(); ++i) {
    if (messages_[i].taken == 0) untaken.push_back(static_cast<std::uint32_t>(i));
  }
  write_messages(untaken, {.id = 0, .name = "Further", .zones = std::nullopt});
}

void TracyImport::read_samples(const ThreadRow& thread, bool at_switch) {
  std::optional<TrackNumber> track;
  std::uint64_t time = 0;
  for (std::uint64_t left = reader_.count(); left > 0; --left) {
    TraceRecord record = reader_.record(11);
    if (reader_.ended()) return;
    time += record.next<std::uint64_t>();
    const auto at = static_cast<std::int64_t>(time);
    if (!is_time(at)) continue;
    if (!track) {
      track = lanes_.add_track(
          track_of(thread.name + (at_switch ? " samples at switches" : " samples"), "layer", TracyTableKind::sample));
    }
    if (!track) continue;
    std::optional<Row> row = lanes_.put_at(*track, 0, at, at, writer_.intern("sample"));
    if (!row) continue;
    count_row(TracyTableKind::sample);
    row->integer(SampleColumns::callstack, record.next24());
    row->boolean(SampleColumns::at_switch, at_switch);
  }
}

}  // namespace accelscope::capture::sources::tracy
