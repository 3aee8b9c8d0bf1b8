// What belongs to no thread alone: frames, sections, locks, plots, memory.
#include <fmt/format.h>

#include <algorithm>
#include <array>

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
    const auto kept = event.next<std::int64_t>();  // until it is released; below 0: it is not
    const std::array<std::uint16_t, 2> threads = {event.next<std::uint16_t>(), event.next<std::uint16_t>()};
    const auto begin = static_cast<std::int64_t>(allocated);
    const bool released = kept >= 0;
    if (bytes < 0 || !is_time(begin) || !is_time(kept)) continue;
    for (std::size_t side = 0; side < (released ? 2U : 1U); ++side) {
      sorter.begin();
      sorter.integer(MemoryColumns::bytes, side == 0 ? bytes : -bytes);
      sorter.unsigned_integer(MemoryColumns::address, address);
      sorter.string(MemoryColumns::pool, pool);
      sorter.integer(MemoryColumns::thread, static_cast<std::int64_t>(names_.thread(threads[side])));
      if (stacks[side] != 0) sorter.integer(MemoryColumns::callstack, stacks[side]);
      sorter.commit(row, side == 0 ? begin : begin + kept, 0, pool);
    }
  }
  reader_.skip(32);  // addresses and use, which the events tell, and its name again
}

}  // namespace accelscope::capture::sources::tracy
