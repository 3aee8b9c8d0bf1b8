#include "capture/sources/xplane/importer.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "capture/json/byte_source.h"
#include "capture/sources/base/batches_ahead.h"
#include "capture/sources/tracks/gpu_tables.h"
#include "capture/sources/tracks/kernel_work.h"
#include "capture/sources/xplane/read/records.h"
#include "capture/sources/xplane/read/space_index.h"
#include "core/base/capped.h"
#include "core/base/text.h"

namespace accelscope::capture::sources::xplane {
namespace {

constexpr std::string_view kDevice = "/device:";

struct PlaneName {
  std::string_view name;  // the whole, or its begin
  bool whole;
  PlaneKind kind;
};
constexpr PlaneName kPlaneNames[] = {
    {"/device:GPU:", false, PlaneKind::gpu},
    {"/device:CUSTOM:MOSAIC:", false, PlaneKind::device_notes},
    {"/device:CPU:", false, PlaneKind::host},
    {"/device:", false, PlaneKind::tpu},
    {"/virtualdevice:", false, PlaneKind::device_notes},
    {"#Chip", false, PlaneKind::device_notes},
    {"/host:CUPTI", true, PlaneKind::runtime},
    {"/host:ROCTRACER", true, PlaneKind::runtime},
    {"/host:NVTX-CUPTI", true, PlaneKind::nvtx},
    {"Task Environment", true, PlaneKind::environment},
    {"/host:", false, PlaneKind::host},
    {"Host CPUs", true, PlaneKind::host},
    {"Syscalls", true, PlaneKind::host},
    {"Host Threads", true, PlaneKind::host},
};

[[nodiscard]] const PlaneName* known_plane(std::string_view name) noexcept {
  for (const PlaneName& each : kPlaneNames) {
    if (each.whole ? name == each.name : name.starts_with(each.name)) return &each;
  }
  return nullptr;
}

// Lines of devices by name, whatever the device; a GPU's are told from its streams.
struct LineName {
  std::string_view name;
  LineClass of;
  XTable table;
  std::int64_t place;
};
constexpr LineName kLineNames[] = {
    {"Steps", LineClass::notes, XTable::step, 0},
    {"XLA Modules", LineClass::notes, XTable::xla_module, 1},
    {"XLA Ops", LineClass::ops, XTable::xla_op, 2},
    {"Async XLA Ops", LineClass::async_ops, XTable::xla_async_op, 5},
    {"XLA TraceMe", LineClass::waits, XTable::xla_annotation, 7},
    {"Sparse Core Steps", LineClass::notes, XTable::step, 0},
    {"Sparse Core Modules", LineClass::notes, XTable::xla_module, 1},
    {"Sparse Core Ops", LineClass::ops, XTable::xla_op, 2},
    {"Sparse Core Syncs", LineClass::waits, XTable::xla_annotation, 7},
    {"Tensor Core Sync Flag", LineClass::waits, XTable::xla_annotation, 7},
    {"_counters_", LineClass::counters, XTable::xla_annotation, 30},
    {"CUPTI overhead", LineClass::profiler, XTable::device_event, 40},
};
constexpr std::int64_t kNotesPlace = 10, kPartPlace = 100;

constexpr std::string_view kCollectives[] = {"all-reduce",       "all-gather",         "all-to-all",
                                             "reduce-scatter",   "collective-permute", "collective-broadcast",
                                             "ragged-all-to-all"};
constexpr std::string_view kHolders[] = {"while", "conditional", "call", "non-fusion elementwise call"};

// "Host Threads/1083" names nothing.
[[nodiscard]] std::string thread_name(std::string_view name, std::int64_t id) {
  constexpr std::string_view kNameless = "Host Threads/";
  if (name.starts_with(kNameless)) return fmt::format("thread {}", name.substr(kNameless.size()));
  return name.empty() ? fmt::format("thread {}", id) : std::string(name);
}

[[nodiscard]] LineRole role_of_thread(const PlaneRole& plane, std::string_view name, std::int64_t id) {
  LineRole role{.of = LineClass::thread, .table = XTable::host_event, .name = thread_name(name, id)};
  if (plane.kind == PlaneKind::runtime || name.starts_with("Host Threads/")) {
    role.of = LineClass::calls;
    role.table = XTable::runtime_call;
  } else if (plane.kind == PlaneKind::nvtx) {
    role.of = LineClass::ranges;
    role.table = XTable::nvtx;
  }
  if (name == "_counters_") role.of = LineClass::counters;
  return role;
}

}  // namespace

PlaneRole role_of_plane(std::string_view name) {
  PlaneRole role;
  const PlaneName* known = known_plane(name);
  role.kind = known == nullptr ? PlaneKind::host : known->kind;
  if (role.kind == PlaneKind::host || role.kind == PlaneKind::runtime || role.kind == PlaneKind::nvtx ||
      role.kind == PlaneKind::environment)
    return role;
  std::string_view rest = name;
  if (rest.starts_with(kDevice)) rest.remove_prefix(kDevice.size());
  if (rest.starts_with("CUSTOM:")) rest.remove_prefix(std::string_view("CUSTOM:").size());
  const std::size_t blank = rest.starts_with('#') ? std::string_view::npos : rest.find(' ');
  if (blank != std::string_view::npos) {
    role.part = rest.substr(blank + 1);
    rest = rest.substr(0, blank);
  }
  if (rest.starts_with('#')) rest.remove_prefix(1);
  role.device = rest;
  std::replace(role.device.begin(), role.device.end(), ':', ' ');
  const std::size_t last = role.device.rfind(' ');
  const std::string_view number = std::string_view(role.device).substr(last == std::string::npos ? 0 : last + 1);
  std::int64_t ordinal = 0;
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), ordinal);
  if (error == std::errc() && end == number.data() + number.size()) role.ordinal = ordinal;
  return role;
}

bool is_plane_name(std::string_view name) noexcept { return known_plane(name) != nullptr; }

LineRole role_of_line(const PlaneRole& plane, std::string_view name, std::int64_t id) {
  if (plane.device.empty()) return role_of_thread(plane, name, id);
  LineRole role{.name = std::string(name), .place = kNotesPlace};
  if (role.name.empty()) role.name = fmt::format("line {}", id);
  const auto known = std::find_if(std::begin(kLineNames), std::end(kLineNames),
                                  [&](const LineName& each) { return each.name == name; });
  if (known != std::end(kLineNames)) {
    role.of = known->of;
    role.table = known->table;
    role.place = known->place;
  }
  role.stream = plane.kind == PlaneKind::gpu ? tracks::stream_of_line(name) : std::nullopt;
  if (role.stream || (plane.kind == PlaneKind::gpu && name.empty())) {
    if (!role.stream) role.stream = id;
    role.of = LineClass::stream;
    role.table = XTable::kernel;
    role.name = fmt::format("stream {}", *role.stream);
    role.place = 0;
  }
  // What tells of a GPU besides its streams is made from these; other planes' rows are nobody's work.
  const bool works = role.of == LineClass::ops || role.of == LineClass::async_ops;
  if (works && plane.kind != PlaneKind::tpu) role.of = LineClass::notes;
  if (plane.kind == PlaneKind::gpu && role.of == LineClass::notes) role.place += kNotesPlace;
  if (!plane.part.empty()) {
    role.name = fmt::format("{}: {}", plane.part, role.name);
    role.place += kPartPlace;
  }
  return role;
}

bool is_collective_op(std::string_view category) noexcept {
  return std::any_of(std::begin(kCollectives), std::end(kCollectives),
                     [&](std::string_view each) { return category.find(each) != std::string_view::npos; });
}

bool is_async_begin(std::string_view category) noexcept { return category.ends_with("-start"); }

bool is_async_end(std::string_view category) noexcept { return category.ends_with("-done"); }

bool is_holder_op(std::string_view category) noexcept {
  return std::find(std::begin(kHolders), std::end(kHolders), category) != std::end(kHolders);
}

bool names_wait(std::string_view name) noexcept {
  const std::string small = lower_case(name.substr(0, 256));
  return small.find("wait") != std::string::npos || small.find("barrier") != std::string::npos;
}

std::string_view layer_of_op(std::string_view tf_op) noexcept {
  // The type follows the last colon; scopes hold none.
  const std::size_t colon = tf_op.rfind(':');
  if (colon != std::string_view::npos) tf_op = tf_op.substr(0, colon);
  return tf_op == "XlaModule" || tf_op == "Unknown" ? std::string_view() : tf_op;
}

namespace {

// The events of lines, read on a thread of their own while those before them are used.
//
//   EventsAhead ahead(bytes, lines);
//   while (const EventBatch* batch = ahead.next()) {
//     for (std::size_t i = 0; i < batch->events.size(); ++i) use(batch->lines[i], batch->events[i]);
//   }

// Events that were skipped.
struct SkippedEvents {
  std::uint64_t broken = 0;
  std::uint64_t first_broken = 0;  // where it lies
  std::uint64_t cut = 0;
  std::uint64_t too_long = 0;
};

struct EventBatch {
  std::vector<EventRecord> events;
  std::vector<std::uint32_t> lines;  // of each event, by the place among those that were asked for
  SkippedEvents skipped;
  std::uint64_t done = 0;  // of the file's bytes

 private:
  friend class EventsAhead;
  std::vector<std::size_t> first_stats;  // of each event
  std::vector<StatValue> stats;
  std::string texts;
};

class EventsAhead {
 public:
  EventsAhead(const SpaceBytes& bytes, std::vector<BytesPlace> lines);

  // Until the next call. Null at the end.
  [[nodiscard]] const EventBatch* next() { return batches_.next(); }

 private:
  [[nodiscard]] bool fill(EventBatch& batch);
  // The next field of the lines, one line after the other.
  [[nodiscard]] bool next_field(WireField& field);
  void add_event(std::string_view message, std::uint64_t at, EventBatch& batch) const;

  const SpaceBytes& bytes_;
  const std::vector<BytesPlace> lines_;
  // The reading thread's own.
  SpaceWindow window_;
  std::optional<MessageWalk> walk_;  // of line_
  std::uint32_t line_ = 0;
  BatchesAhead<EventBatch> batches_;  // begins when all of the above is there
};

constexpr std::size_t kLongestEvent = 16U << 20;
constexpr std::size_t kBatchEvents = 2048;
constexpr std::size_t kBatchTextBytes = 1U << 20;

// Texts lie in the batch, by their places until it has all of them.
void find_texts(std::vector<StatValue>& stats, std::string_view texts) {
  for (StatValue& stat : stats) {
    const bool is_text = stat.kind == StatValue::Kind::text || stat.kind == StatValue::Kind::packed;
    if (is_text) stat.text = texts.substr(std::exchange(stat.bits, 0), stat.text.size());
  }
}

EventsAhead::EventsAhead(const SpaceBytes& bytes, std::vector<BytesPlace> lines)
    : bytes_(bytes),
      lines_(std::move(lines)),
      window_(bytes),
      batches_([this](EventBatch& batch) { return fill(batch); }) {}

bool EventsAhead::next_field(WireField& field) {
  while (!walk_ || !walk_->next(field)) {
    const std::uint32_t next = walk_ ? line_ + 1 : line_;
    if (next >= lines_.size()) return false;
    line_ = next;
    walk_.emplace(window_, lines_[line_].begin, lines_[line_].begin + lines_[line_].size);
  }
  return true;
}

bool EventsAhead::fill(EventBatch& batch) {
  batch.events.clear();
  batch.lines.clear();
  batch.first_stats.clear();
  batch.stats.clear();
  batch.texts.clear();
  batch.skipped = {};
  batch.done = bytes_.size();
  bool more = false;
  WireField field;
  while (!more && next_field(field)) {
    if (!field.is_bytes(line_fields::kEvents)) continue;
    if (field.cut) {
      ++batch.skipped.cut;
    } else if (field.size > kLongestEvent) {
      ++batch.skipped.too_long;
    } else {
      const std::string_view message = window_.at(field.begin, static_cast<std::size_t>(field.size));
      // Shorter: the file cannot be read there.
      add_event(message.size() < field.size ? std::string_view("\xff") : message, field.begin, batch);
    }
    more = batch.events.size() >= kBatchEvents || batch.texts.size() >= kBatchTextBytes;
    if (more) batch.done = field.begin;
  }
  find_texts(batch.stats, batch.texts);
  for (std::size_t i = 0; i < batch.events.size(); ++i) {
    const std::size_t end = i + 1 < batch.events.size() ? batch.first_stats[i + 1] : batch.stats.size();
    batch.events[i].stats =
        std::span<const StatValue>(batch.stats).subspan(batch.first_stats[i], end - batch.first_stats[i]);
  }
  return more;
}

void EventsAhead::add_event(std::string_view message, std::uint64_t at, EventBatch& batch) const {
  const std::size_t first = batch.stats.size();
  EventRecord event;
  if (!read_event(message, event, batch.stats)) {
    batch.stats.resize(first);
    if (batch.skipped.broken++ == 0) batch.skipped.first_broken = at;
    return;
  }
  // The message goes away.
  for (std::size_t i = first; i < batch.stats.size(); ++i) {
    StatValue& stat = batch.stats[i];
    if (stat.kind != StatValue::Kind::text && stat.kind != StatValue::Kind::packed) {
      stat.text = {};
      continue;
    }
    stat.bits = batch.texts.size();
    batch.texts += stat.text;
  }
  batch.events.push_back(event);
  batch.lines.push_back(line_);
  batch.first_stats.push_back(first);
}

constexpr std::int64_t kLeastUnixNs = 100'000'000'000'000'000;  // March 1973: no profile takes so long
constexpr std::int64_t kMostTicks = std::int64_t{1} << 62;
constexpr std::int64_t kSummableTicks = std::int64_t{1} << 60;  // three of them are not yet kMostTicks
constexpr std::size_t kLongestMetadata = 16U << 20;
constexpr std::size_t kLongestName = 1U << 20;
constexpr std::size_t kLongestInflated = 1U << 20;
constexpr std::uint32_t kUnasked = StatTable::kNoField - 1;

[[nodiscard]] std::int64_t whole_of(const StatValue& value) noexcept {
  return value.kind == StatValue::Kind::real
             ? capped_integer(std::clamp(std::bit_cast<double>(value.bits), -9.0e18, 9.0e18))
             : static_cast<std::int64_t>(value.bits);
}

// A program that took the file for text has put U+FFFD in the place of every byte that was none: all is text now.
[[nodiscard]] std::optional<std::size_t> first_replaced(const SpaceBytes& bytes) {
  constexpr std::string_view kReplaced = "\xEF\xBF\xBD";
  SpaceWindow window(bytes);
  const auto size = static_cast<std::size_t>(std::min<std::uint64_t>(bytes.size(), 1U << 18U));
  const std::string_view head = window.at(0, size);
  std::optional<std::size_t> first;
  for (std::size_t i = 0; i + 4 < head.size();) {
    const std::size_t length = utf8_length(head.substr(i));
    if (length == 0) return std::nullopt;  // a byte of a binary file
    if (!first && head.substr(i, kReplaced.size()) == kReplaced) first = i;
    i += length;
  }
  return first;
}

[[nodiscard]] std::string_view shortened(std::string_view text) noexcept {
  return text.substr(0, std::min(text.size(), kLongestName));
}

}  // namespace

Result<void> XPlaneImporter::run(const SpaceBytes& bytes) {
  total_bytes_ = 3 * bytes.size();
  const Error cancelled{fmt::format("{}: the import was cancelled", path_)};
  SpaceIndex index = index_space(bytes, [&](std::uint64_t done) { return goes_on(done); });
  if (session_.cancelled()) return session_.status() ? Result<void>(cancelled) : session_.status();
  metadata_window_ = std::make_unique<SpaceWindow>(bytes, 64U << 10);
  if (Result<void> done = take_index(bytes, std::move(index)); !done) return done;
  if (!each_event(bytes, bytes.size(), &XPlaneImporter::survey_event))
    return session_.status() ? Result<void>(cancelled) : session_.status();
  constexpr std::uint64_t kFew = 100;  // damage makes some: one in so many
  in_ns_ = beyond_ps_ > survey_events_ / kFew;
  make_tables();
  add_threads();
  counts_ = {};
  if (!each_event(bytes, 2 * bytes.size(), &XPlaneImporter::write_event))
    return session_.status() ? Result<void>(cancelled) : session_.status();
  write_facts();
  write_report(bytes);
  return session_.finish({.clock = "profile",
                          .ticks_per_ns = in_ns_ ? 1.0 : 1000.0,
                          .unix_ns = start_unix_ns_,
                          .path = path_,
                          .unjoined_sources = "producers (_p, launches) have no consumer in the file, so there is no "
                                              "arrow for them: calls that started nothing that was recorded",
                          .unjoined_targets = "consumers (_c, work on a device) have no producer in the file, so there "
                                              "is no arrow for them: what started them was not recorded"});
}

bool XPlaneImporter::goes_on(std::uint64_t done) {
  if (options_.progress) options_.progress(done, total_bytes_);
  return !session_.cancelled();
}

bool XPlaneImporter::each_event(const SpaceBytes& bytes, std::uint64_t done_before, Visit visit) {
  std::vector<std::pair<PlaneState*, LineState*>> lines;
  std::vector<BytesPlace> places;
  for (PlaneState& plane : planes_) {
    for (LineState& line : plane.lines) {
      lines.emplace_back(&plane, &line);
      places.push_back(line.index.bytes);
    }
  }
  EventsAhead ahead(bytes, std::move(places));
  while (const EventBatch* batch = ahead.next()) {
    if (counts_.broken_events == 0) counts_.first_broken = batch->skipped.first_broken;
    counts_.broken_events += batch->skipped.broken;
    counts_.cut_events += batch->skipped.cut;
    counts_.long_events += batch->skipped.too_long;
    for (std::size_t i = 0; i < batch->events.size(); ++i) {
      const auto& [plane, line] = lines[batch->lines[i]];
      inflated_.clear();
      (this->*visit)(*plane, *line, batch->events[i]);
    }
    if (!goes_on(done_before + batch->done)) return false;
  }
  return goes_on(done_before + bytes.size());
}

Error XPlaneImporter::nothing_in(const SpaceBytes& bytes, const SpaceIndex& index) const {
  if (bytes.size() == 0) return Error{fmt::format("{}: the file is empty; was its writer stopped early?", path_)};
  if (const std::optional<std::size_t> at = first_replaced(bytes)) {
    return Error{
        fmt::format("{}: the file was copied as if it were text, which replaced bytes (EF BF BD from byte {} on) that "
                    "cannot be had back; copy it anew as a binary file",
                    path_, *at)};
  }
  if (!index.broken.empty()) {
    return Error{
        fmt::format("{}: nothing of an XSpace can be read: the {} {} at byte {}, and no event comes before; a profile "
                    "of JAX, TensorFlow or PyTorch/XLA is called "
                    "HOST.xplane.pb, copy it completely",
                    path_, index.broken.front().what,
                    index.broken.front().problem == MessageWalk::Problem::cut ? "breaks off" : "is no message",
                    index.broken.front().at)};
  }
  return Error{
      fmt::format("{}: holds no planes; a profile of JAX, TensorFlow or PyTorch/XLA is called HOST.xplane.pb", path_)};
}

Result<void> XPlaneImporter::take_index(const SpaceBytes& bytes, SpaceIndex index) {
  const bool any = std::any_of(index.planes.begin(), index.planes.end(), [](const PlaneIndex& plane) {
    return is_plane_name(plane.name) || !plane.lines.empty();
  });
  const bool is_space = std::any_of(index.planes.begin(), index.planes.end(),
                                    [](const PlaneIndex& plane) { return is_plane_name(plane.name); });
  if (!any || (!is_space && !index.broken.empty()) ||
      (!index.broken.empty() && (index.event_count() == 0 || first_replaced(bytes))))
    return nothing_in(bytes, index);
  if (!index.hostnames.empty()) host_ = index.hostnames.front();
  for (PlaneIndex& plane : index.planes) {
    PlaneState& state = planes_.emplace_back();
    state.role = role_of_plane(plane.name);
    has_tpu_ = has_tpu_ || (state.role.kind == PlaneKind::tpu && plane.name.starts_with("/device:TPU:"));
    for (LineIndex& line : plane.lines) {
      LineState& made = state.lines.emplace_back();
      made.role = role_of_line(state.role, line.name, line.id);
      made.index = std::move(line);
      state.has_counters = state.has_counters || made.role.of == LineClass::counters;
      for (auto& rows : made.rows) rows.fill(kNone);
    }
    plane.lines.clear();
    state.index = std::move(plane);
    state.stats.expect(state.index.stat_metadata.size());
    state.references.expect(state.index.stat_metadata.size());
    state.metadata.expect(state.index.event_metadata.size());
  }
  space_ = std::move(index);
  space_.planes.clear();
  for (std::size_t i = 0; i < kXTableCount; ++i) tables_.emplace_back(static_cast<XTable>(i));
  find_times();
  return {};
}

void XPlaneImporter::find_times() {
  for (PlaneState& plane : planes_) {
    for (const PlaneStat& stat : plane.index.stats) {
      if (slot_of(plane, stat.id).name != "profile_start_time" || !stat.value.is_number()) continue;
      const std::int64_t ns = whole_of(stat.value);
      if (ns > 0) start_unix_ns_ = ns;
    }
  }
  std::optional<std::int64_t> first;
  for (const PlaneState& plane : planes_) {
    for (const LineState& line : plane.lines) {
      const std::int64_t ns = line.index.timestamp_ns;
      if (ns > kLeastUnixNs) first = std::min(first.value_or(ns), ns);
    }
  }
  // Lines that tell the time of day lie on the time of those that do not.
  if (first) {
    base_ns_ = start_unix_ns_.value_or(*first);
    start_unix_ns_ = base_ns_;
  }
  for (PlaneState& plane : planes_) {
    for (LineState& line : plane.lines) {
      const __int128 ps = begin_ps_of(line);
      if (ps > -kSummableTicks && ps < kSummableTicks) line.begin_ps = static_cast<std::int64_t>(ps);
    }
  }
}

__int128 XPlaneImporter::begin_ps_of(const LineState& line) const noexcept {
  const std::int64_t ns = line.index.timestamp_ns;
  return (static_cast<__int128>(ns) - (ns > kLeastUnixNs ? base_ns_ : 0)) * 1000;
}

std::optional<std::int64_t> XPlaneImporter::start_of(const LineState& line, const EventRecord& event) const noexcept {
  const auto is_summable = [](std::int64_t ticks) { return ticks > -kSummableTicks && ticks < kSummableTicks; };
  if (line.begin_ps && !in_ns_ && is_summable(event.offset_ps) && is_summable(event.duration_ps))
    return *line.begin_ps + event.offset_ps;
  const __int128 ps = begin_ps_of(line) + event.offset_ps;
  __int128 start = ps;
  __int128 length = event.duration_ps;
  if (in_ns_) {
    const auto down = [](__int128 value) { return value / 1000 - (value % 1000 < 0 ? 1 : 0); };
    start = down(ps);
    length = down(ps + event.duration_ps) - start;
  }
  const bool fits = start > -kMostTicks && start < kMostTicks && start + length < kMostTicks && length > -kMostTicks;
  return fits ? std::optional(static_cast<std::int64_t>(start)) : std::nullopt;
}

XPlaneImporter::StatSlot& XPlaneImporter::slot_of(PlaneState& plane, std::int64_t id) {
  std::unique_ptr<StatSlot>& slot = plane.stats[id];
  if (slot != nullptr) return *slot;
  slot = std::make_unique<StatSlot>();
  slot->fields.fill(kUnasked);
  const auto place = plane.index.stat_metadata.find(id);
  if (place != plane.index.stat_metadata.end() && metadata_window_ != nullptr) {
    const std::size_t size = static_cast<std::size_t>(std::min<std::uint64_t>(place->second.size, kLongestMetadata));
    std::string_view name;
    if (!read_stat_metadata(metadata_window_->at(place->second.begin, size), name)) ++counts_.cut_texts;
    slot->name = name.substr(0, 1024);
  }
  if (slot->name.empty()) slot->name = fmt::format("stat {}", id);
  slot->stat = stat_of(slot->name);
  return *slot;
}

XPlaneImporter::Reference& XPlaneImporter::reference(PlaneState& plane, const StatValue& value) {
  const auto id = static_cast<std::int64_t>(value.bits);
  std::unique_ptr<Reference>& made = plane.references[id];
  if (made != nullptr) return *made;
  made = std::make_unique<Reference>();
  const auto place = plane.index.stat_metadata.find(id);
  if (place == plane.index.stat_metadata.end()) {
    made->text = fmt::format("text {}", id);
    return *made;
  }
  const std::size_t size = static_cast<std::size_t>(std::min<std::uint64_t>(place->second.size, kLongestMetadata));
  std::string_view name;
  if (!read_stat_metadata(metadata_window_->at(place->second.begin, size), name)) ++counts_.cut_texts;
  made->text = shortened(name);
  return *made;
}

std::string_view XPlaneImporter::text_of(PlaneState& plane, const StatValue& value) {
  switch (value.kind) {
    case StatValue::Kind::text:
      return shortened(value.text);
    case StatValue::Kind::reference:
      return reference(plane, value).text;
    case StatValue::Kind::packed:
      return inflated(value.text);
    default:
      return {};
  }
}

std::string_view XPlaneImporter::inflated(std::string_view packed) {
  constexpr std::size_t kStep = 16U << 10;
  std::string& text = inflated_.emplace_back();
  const auto source = json::ByteSource::from_memory(packed);
  for (std::size_t size = 0; size < kLongestInflated;) {
    text.resize(size + kStep);
    const Result<std::size_t> count = source->read(std::span(text).subspan(size));
    counts_.cut_texts += count ? 0 : 1;
    size += count ? *count : 0;
    text.resize(size);
    if (!count || *count == 0) break;
  }
  return text;
}

XPlaneImporter::MetadataSlot& XPlaneImporter::metadata_of(PlaneState& plane, std::int64_t id) {
  std::unique_ptr<MetadataSlot>& made = plane.metadata[id];
  if (made != nullptr) return *made;
  made = std::make_unique<MetadataSlot>();
  MetadataSlot& slot = *made;
  const auto place = plane.index.event_metadata.find(id);
  slot.missing = place == plane.index.event_metadata.end();
  if (slot.missing) {
    slot.name = session_.intern(fmt::format("event {}", id));
    return slot;
  }
  const std::size_t size = static_cast<std::size_t>(std::min<std::uint64_t>(place->second.size, kLongestMetadata));
  // Its own copy: texts of references are read through the same window.
  const std::string message(metadata_window_->at(place->second.begin, size));
  EventMetadata metadata;
  if (!read_event_metadata(message, metadata)) ++counts_.cut_texts;
  const std::string_view shown = metadata.display_name.empty() ? metadata.name : metadata.display_name;
  slot.name = shown.empty() ? session_.intern(fmt::format("event {}", id)) : session_.intern(shortened(shown));
  if (shown != metadata.name && !metadata.name.empty()) slot.hlo = session_.intern(shortened(metadata.name));
  if (plane.has_counters) slot.text = shown.substr(0, 1024);
  slot.python = shown.starts_with('$');
  slot.release = shown == "MemoryDeallocation";
  slot.memory = slot.release || shown == "MemoryAllocation";
  slot.copy = shown.starts_with("Memcpy");
  slot.set = shown.starts_with("Memset");
  slot.wait = names_wait(shown);
  slot.nccl = tracks::is_collective_kernel(shown);
  std::string category(shown.substr(0, 200));
  std::string tf_op;
  for (const StatValue& stat : metadata.stats) {
    StatSlot& of = slot_of(plane, stat.id);
    if (of.stat == Stat::flops && stat.is_number()) slot.flops = whole_of(stat);
    if (of.stat == Stat::bytes_accessed && stat.is_number()) slot.bytes = whole_of(stat);
    if (of.stat == Stat::category) category = text_of(plane, stat);
    if (of.stat == Stat::tf_op) tf_op = text_of(plane, stat);
    if (of.stat == Stat::source) sources_.emplace(text_of(plane, stat));
  }
  slot.collective = is_collective_op(category);
  slot.async_begin = is_async_begin(category);
  slot.async_end = is_async_end(category);
  slot.holder = is_holder_op(category);
  if (const std::string_view layer = layer_of_op(tf_op); !layer.empty()) slot.layer = session_.intern(layer);
  return slot;
}

void XPlaneImporter::understand(PlaneState& plane, const StatValue& value, StatSlot& slot, Meanings& meanings) {
  const auto number = [&](std::optional<std::int64_t>& to) {
    if (value.is_number()) to = whole_of(value);
  };
  const auto text = [&](Reference*& to) -> std::string_view {
    if (value.kind != StatValue::Kind::reference) return text_of(plane, value);
    to = &reference(plane, value);
    return to->text;
  };
  switch (slot.stat) {
    case Stat::other:
      return;
    case Stat::correlation:
      return number(meanings.correlation);
    case Stat::context: {
      // "$$1" of CUPTI.
      std::string_view word = text_of(plane, value);
      while (word.starts_with('$')) word.remove_prefix(1);
      std::int64_t context = 0;
      bool digits = !word.empty() && word.size() < 19;
      for (const char c : word) {
        digits = digits && c >= '0' && c <= '9';
        if (digits) context = context * 10 + (c - '0');
      }
      if (digits) meanings.context = context;
      return number(meanings.context);
    }
    case Stat::kernel_details:
      meanings.is_kernel = true;
      meanings.kernel_reference = nullptr;
      meanings.kernel_details = text(meanings.kernel_reference);
      return;
    case Stat::memcpy_details:
      meanings.is_copy = true;
      meanings.transfer_details = text_of(plane, value);
      return;
    case Stat::memset_details:
      meanings.is_set = true;
      meanings.transfer_details = text_of(plane, value);
      return;
    case Stat::memory_details:
      meanings.is_memory = true;
      return;
    case Stat::producer_type:
      return number(meanings.producer_type);
    case Stat::producer:
      return number(meanings.producer);
    case Stat::consumer_type:
      return number(meanings.consumer_type);
    case Stat::consumer:
      return number(meanings.consumer);
    case Stat::counter_value:
      if (value.is_number()) meanings.counter = real_of(value);
      return;
    case Stat::category:
      meanings.category = text_of(plane, value);
      return;
    case Stat::tf_op:
      meanings.tf_op_reference = nullptr;
      meanings.tf_op = text(meanings.tf_op_reference);
      return;
    case Stat::op_name:
      meanings.op_name_reference = nullptr;
      meanings.op_name = text(meanings.op_name_reference);
      return;
    case Stat::address:
      return number(meanings.address);
    case Stat::allocator:
      meanings.allocator = text_of(plane, value);
      return;
    case Stat::host_index:
      return number(meanings.host_index);
    case Stat::bytes_allocated:
      return number(meanings.allocated);
    case Stat::bytes_reserved:
      return number(meanings.reserved);
    case Stat::allocation_bytes:
      return number(meanings.allocation);
    case Stat::flops:
      return number(meanings.flops);
    case Stat::bytes_accessed:
      return number(meanings.bytes);
    case Stat::source:
      meanings.source = text_of(plane, value);
      return;
  }
}

XTable XPlaneImporter::table_of(const LineState& line, const MetadataSlot& metadata, const Meanings& meanings,
                                bool is_total) const noexcept {
  if (is_total) return XTable::total;
  switch (line.role.of) {
    case LineClass::stream:
      if (meanings.is_kernel) return XTable::kernel;
      if (meanings.is_copy || metadata.copy) return XTable::memcpy;
      if (meanings.is_set || metadata.set) return XTable::memset;
      return meanings.is_memory ? XTable::device_event : XTable::kernel;
    case LineClass::thread:
      if (metadata.memory && (meanings.address || meanings.allocated)) return XTable::memory;
      if (metadata.python) return XTable::python_function;
      return meanings.correlation ? XTable::runtime_call : XTable::host_event;
    default:
      return line.role.table;
  }
}

void XPlaneImporter::add_threads() {
  std::map<std::pair<std::string, std::int64_t>, std::size_t> known;
  for (PlaneState& plane : planes_) {
    if (!plane.role.device.empty()) continue;
    // Numbers of lines are those of threads, whoever watches them; other planes count processors, say.
    const std::string whose = plane.index.name.starts_with("/host:") ? "" : plane.index.name;
    for (LineState& line : plane.lines) {
      const auto [found, is_new] = known.try_emplace({whose, line.index.id}, threads_.size());
      if (is_new) threads_.emplace_back().rows.fill(kNone);
      ThreadState& thread = threads_[found->second];
      line.thread = found->second;
      thread.tables |= line.tables;
      thread.launches = thread.launches || (line.tables >> static_cast<unsigned>(XTable::runtime_call) & 1U) != 0;
      if (thread.name.empty() || thread.name.starts_with("thread ")) thread.name = line.role.name;
    }
  }
}

}  // namespace accelscope::capture::sources::xplane
