// Threads: their zones, what they said, where they were sampled.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "capture/sources/tracy/importer.h"

namespace accelscope::capture::sources::tracy {
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
    auto found = std::lower_bound(messages_.begin(), messages_.end(), pointer,
                                  [](const HeldMessage& message, std::uint64_t of) { return message.pointer < of; });
    while (found != messages_.end() && found->pointer == pointer && found->taken != 0) ++found;
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
