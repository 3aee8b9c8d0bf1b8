#include "capture/sources/tracy/importer.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <limits>
#include <map>

#include "capture/sources/base/importers.h"
#include "capture/sources/base/sinks.h"
#include "capture/sources/base/source_finder.h"
#include "capture/sources/tracks/track_events.h"
#include "core/base/text.h"

namespace accelscope::capture::sources::tracy {

std::optional<TrackNumber> LaneSpace::add_track(Track track) {
  if (tracks_ == kMostTracks) {
    ++tracks_left_out_;
    return std::nullopt;
  }
  ++tracks_;
  const TrackNumber number = writer_.add_track(std::move(track));
  if (ends_.size() <= number) ends_.resize(number + 1);
  return number;
}

bool LaneSpace::grow(std::vector<std::int64_t>& ends, std::uint32_t depth) {
  const auto more = static_cast<std::uint32_t>(depth + 1 - ends.size());
  if (depth >= kMostDepth || lanes_ + more > kMostLanes) {
    ++without_lane_;
    return false;
  }
  lanes_ += more;
  ends.resize(depth + 1, std::numeric_limits<std::int64_t>::min());
  return true;
}

std::optional<Row> LaneSpace::put(TrackNumber track, std::int64_t start, std::int64_t duration, StringId name) {
  std::vector<std::int64_t>& ends = ends_[track];
  std::uint32_t depth = 0;
  while (depth < ends.size() && ends[depth] > start) ++depth;
  return put_at(track, depth, start, start + duration, name);
}

namespace {

constexpr TraceVersion kOldest = {0, 9, 0};
constexpr TraceVersion kTooNew = {0, 15, 0};

constexpr std::array kChanges = {
    LayoutChange{{0, 9, 2}, &TraceLayout::on_demand, true},
    LayoutChange{{0, 11, 1}, &TraceLayout::group_hints, true},
    LayoutChange{{0, 11, 2}, &TraceLayout::dies, true},
    LayoutChange{{0, 11, 3}, &TraceLayout::wakeup_cpu, true},
    LayoutChange{{0, 12, 3}, &TraceLayout::timer_delay, false},
    LayoutChange{{0, 12, 4}, &TraceLayout::gpu_notes, true},
    LayoutChange{{0, 13, 2}, &TraceLayout::message_severity, true},
    LayoutChange{{0, 13, 3}, &TraceLayout::sorted_plots, true},
    LayoutChange{{0, 13, 4}, &TraceLayout::sections, true},
};

}  // namespace

std::string version_text(TraceVersion version) {
  return fmt::format("{}.{}.{}", version.major, version.minor, version.patch);
}

std::span<const LayoutChange> layout_changes() noexcept { return kChanges; }

Result<TraceLayout> layout_of(TraceVersion version) {
  if (version < kOldest) {
    return Error{
        fmt::format("a trace of Tracy {}, and those of {} are read; convert it with tracy-update of Tracy 0.10",
                    version_text(version), kVersionsRead)};
  }
  if (version >= kTooNew) {
    return Error{
        fmt::format("a trace of Tracy {}, and those of {} are read; import what that version's tracy-csvexport "
                    "-u writes of it",
                    version_text(version), kVersionsRead)};
  }
  TraceLayout layout;
  layout.version = version;
  for (const LayoutChange& change : kChanges) {
    if (version >= change.since) layout.*change.field = change.value;
  }
  return layout;
}

namespace {

constexpr std::size_t kTracySpillBytes = 48U << 20;  // packed events beyond this go to a temporary file
constexpr std::string_view kTraceMark = "tracy";
constexpr std::size_t kMostNameBytes = 64U << 10;
constexpr std::int64_t kLargestTraceTime = std::int64_t{1} << 60;
constexpr std::size_t kPlaceNumbers = 65'536;

}  // namespace

TracyImport::TracyImport(std::string path, const ImportOptions& options, TracyBlocks blocks, EventSink& sink)
    : path_(std::move(path)),
      options_(options),
      reader_(std::move(blocks)),
      writer_(sink),
      lanes_(writer_),
      spill_(kTracySpillBytes),
      places_(kPlaceNumbers) {
  schemas_.fill(kNone);
}

std::span<const TracyImport::Section> TracyImport::sections() {
  static constexpr std::array kSections = {
      Section{"the header", &TracyImport::read_header},
      Section{"frames", &TracyImport::read_frames},
      Section{"sections", &TracyImport::read_marked_sections},
      Section{"texts", &TracyImport::read_texts},
      Section{"places in the source", &TracyImport::read_places},
      Section{"counts of zones", &TracyImport::skip_zone_counts},
      Section{"locks", &TracyImport::read_locks},
      Section{"messages", &TracyImport::read_messages},
      Section{"texts of zones", &TracyImport::read_zone_extras},
      Section{"zones of threads", &TracyImport::read_threads},
      Section{"GPU zones", &TracyImport::read_gpu},
      Section{"plots", &TracyImport::read_plots},
      Section{"memory", &TracyImport::read_memory},
      Section{"call stacks", &TracyImport::read_callstacks},
      Section{"facts about the program", &TracyImport::read_app_info},
      Section{"pictures of frames", &TracyImport::skip_frame_images},
      Section{"context switches", &TracyImport::read_context_switches},
      Section{"what processors ran", &TracyImport::read_cpus},
      Section{"symbols", &TracyImport::skip_symbols},
      Section{"source files", &TracyImport::read_source_files},
  };
  return kSections;
}

Result<void> TracyImport::run() {
  if (Result<void> done = read_version(); !done) return done;
  clock_ = writer_.add_clock({.name = "Tracy", .anchors = {{0, 0}}});
  for (const Section& section : sections()) {
    if (reader_.ended()) {
      missing_.emplace_back(section.name);
      continue;
    }
    (this->*section.read)();
    if (writer_.cancelled()) {
      if (Result<void> failed = writer_.status(); !failed) return failed;
      return Error{fmt::format("{}: the import was cancelled", path_)};
    }
    if (reader_.ended()) ended_in_ = section.name;
  }
  write_frames();  // where the texts were not reached
  if (writer_.event_count() == 0 && !ended_in_.empty()) {
    report_end();
    return Error{fmt::format("{}: nothing of it could be read: {}; save the trace again, or copy the file whole", path_,
                             reader_.gave_up().empty() ? reader_.blocks().problem().empty()
                                                             ? fmt::format("it ends within {}", ended_in_)
                                                             : reader_.blocks().problem()
                                                       : reader_.gave_up())};
  }
  write_report();
  return writer_.finish();
}

Result<void> TracyImport::read_version() {
  TraceRecord record = reader_.record(kTraceMark.size() + 3);
  std::array<char, kTraceMark.size()> mark = {};
  for (char& c : mark) c = record.next<char>();
  if (reader_.ended() || std::string_view(mark.data(), mark.size()) != kTraceMark) {
    const std::string& problem = reader_.blocks().problem();
    return Error{fmt::format("{}: no trace of Tracy{}{}", path_, problem.empty() ? "" : ": ", problem)};
  }
  TraceVersion version;
  version.major = record.next<std::uint8_t>();
  version.minor = record.next<std::uint8_t>();
  version.patch = record.next<std::uint8_t>();
  Result<TraceLayout> layout = layout_of(version);
  if (!layout) return Error{fmt::format("{}: {}", path_, layout.message())};
  layout_ = layout.value();
  writer_.set_meta("source_format", "tracy");
  writer_.set_meta("tracy_version", version_text(version));
  return {};
}

void TracyImport::read_header() {
  if (layout_.timer_delay) reader_.skip(8);
  TraceRecord record = reader_.record(8 * 6 + 1 + 4 + 12);
  const auto resolution = record.next<std::uint64_t>();
  (void)record.next<double>();  // ns of a tick: times are in ns already
  last_time_ = record.next<std::int64_t>();
  frame_offset_ = record.next<std::uint64_t>();
  const auto process = record.next<std::uint64_t>();
  const auto sampling = record.next<std::int64_t>();
  if (layout_.on_demand) (void)reader_.number<std::uint8_t>();
  const auto text = [&] { return reader_.text(reader_.count(), kMostNameBytes); };
  const std::string name = text();
  program_ = text();
  const auto captured = reader_.number<std::uint64_t>();
  (void)reader_.number<std::uint64_t>();  // when the program was built
  const std::string host = text();
  read_topology();
  TraceRecord crash = reader_.record(28);
  (void)crash.next<std::uint64_t>();
  const auto crashed = crash.next<std::int64_t>();
  if (reader_.ended()) return;
  if (!is_time(last_time_)) last_time_ = 0;
  const auto tell = [&](const char* key, std::string value) {
    if (!value.empty()) writer_.set_meta(key, std::move(value));
  };
  tell("capture", name);
  tell("program", program_);
  tell("host_info", host);
  tell("process_id", std::to_string(process));
  tell("captured_unix_s", std::to_string(captured));
  tell("timer_resolution_ns", std::to_string(resolution));
  if (sampling > 0) tell("sampling_period_ns", std::to_string(sampling));
  if (crashed != 0) {
    report_.note("program_failed", fmt::format("the program crashed {} ns after the trace's begin", crashed));
  }
}

// Of no use here: which threads of which cores, dies and packages.
void TracyImport::read_topology() {
  const std::uint64_t packages = reader_.count();
  for (std::uint64_t package = 0; package < packages && !reader_.ended(); ++package) {
    reader_.skip(4);
    const std::uint64_t dies = reader_.count();
    for (std::uint64_t die = 0; die < dies && !reader_.ended(); ++die) {
      reader_.skip(4);
      const std::uint64_t cores = reader_.count();
      if (!layout_.dies) {
        reader_.skip(cores, 4);
        continue;
      }
      for (std::uint64_t core = 0; core < cores && !reader_.ended(); ++core) {
        reader_.skip(4);
        reader_.skip(reader_.count(), 4);
      }
    }
  }
}

void TracyImport::read_texts() {
  names_.read_texts(reader_);
  names_.read_threads(reader_);
  write_frames();
}

void TracyImport::read_places() { names_.read_places(reader_); }

void TracyImport::skip_zone_counts() {
  reader_.skip(reader_.count(), 10);
  reader_.skip(reader_.count(), 10);
}

void TracyImport::read_app_info() {
  std::string facts;
  for (std::uint64_t left = reader_.count(); left > 0; --left) {
    TraceRecord record = reader_.record(TraceNames::kReferenceBytes);
    if (reader_.ended()) break;
    const std::string_view text = names_.text(names_.reference(record));
    if (facts.size() + text.size() > kMostNameBytes) continue;
    facts.append(facts.empty() ? "" : "\n").append(text);
  }
  if (!facts.empty()) writer_.set_meta("app_info", facts);
}

void TracyImport::skip_frame_images() {
  reader_.skip(reader_.number<std::uint32_t>());  // a dictionary
  for (std::uint64_t left = reader_.count(); left > 0; --left) {
    TraceRecord record = reader_.record(5);
    if (reader_.ended()) return;
    const std::uint64_t width = record.next<std::uint16_t>();
    const std::uint64_t height = record.next<std::uint16_t>();
    reader_.skip(width * height / 2);
    ++frame_images_;
  }
}

void TracyImport::skip_symbols() {
  reader_.skip(16);
  constexpr std::uint64_t kSymbolBytes = 32;
  const std::uint64_t symbols = reader_.count();
  reader_.skip(symbols, kSymbolBytes);
  if (!reader_.ended()) symbols_ = symbols;
  for (std::uint64_t left = reader_.count(); left > 0 && !reader_.ended(); --left) {
    reader_.skip(8);
    reader_.skip(reader_.number<std::uint32_t>());
  }
  reader_.skip(reader_.count(), 16);
  constexpr int kKindsOfHardwareSamples = 6;
  for (std::uint64_t left = reader_.count(); left > 0 && !reader_.ended(); --left) {
    reader_.skip(8);
    for (int kind = 0; kind < kKindsOfHardwareSamples && !reader_.ended(); ++kind) {
      const std::uint64_t samples = reader_.count();
      reader_.skip(samples, 8);
      if (!reader_.ended()) hardware_samples_ += samples;
    }
  }
}

void TracyImport::read_source_files() {
  constexpr std::size_t kMostSourceBytes = 64U << 20;
  for (std::uint64_t left = reader_.count(); left > 0; --left) {
    std::string path = reader_.text(reader_.number<std::uint32_t>(), kMostNameBytes);
    std::string content = reader_.text(reader_.number<std::uint32_t>(), kMostSourceBytes);
    if (reader_.ended()) return;
    files_.erase(path);
    writer_.add_source_file(std::move(path), std::move(content));
  }
}

SchemaNumber TracyImport::schema(TracyTableKind kind) {
  SchemaNumber& number = schemas_[static_cast<std::size_t>(kind)];
  if (number == kNone) number = writer_.add_schema(tracy_table(kind));
  return number;
}

const TracyImport::PlaceIds& TracyImport::place(std::int16_t number) {
  PlaceIds& ids = places_[static_cast<std::uint16_t>(number)];
  if (ids.ready) return ids;
  ids.ready = true;
  const SourcePlace* const place = names_.place(number);
  if (place == nullptr) {
    ++unknown_places_;
    ids.name = writer_.intern(fmt::format("(place {})", number));
    return ids;
  }
  const std::string_view function = names_.text(place->function);
  const std::string_view file = names_.text(place->file);
  ids.name = writer_.intern(place->name == kNoText ? function : names_.text(place->name));
  ids.function = writer_.intern(function);
  if (!file.empty()) {
    files_.emplace(file);
    ids.source = writer_.intern(place->line == 0 ? std::string(file) : fmt::format("{}:{}", file, place->line));
  }
  return ids;
}

void TracyImport::write_sorted(EventSorter& sorter, const std::vector<Track>& tracks, TracyTableKind table,
                               const std::function<void(const SortedEvent&, const Row&)>& made,
                               const std::function<bool(const SortedEvent&)>& is_doubtful) {
  const Schema& schema = sorter.schema();
  std::map<std::pair<std::uint32_t, bool>, std::optional<TrackNumber>> numbers;  // by track, and whether doubtful
  const Result<void> done = sorter.merge([&](const SortedEvent& event) {
    const bool doubtful = is_doubtful && is_doubtful(event);
    const auto [number, added] = numbers.try_emplace({event.track, doubtful});
    if (added) {
      const Track& track = tracks[event.track];
      number->second = lanes_.add_track(doubtful ? tracks::doubtful_track(track, kNone, track.order) : track);
    }
    if (!number->second) return true;
    std::optional<Row> row = lanes_.put(*number->second, event.start, event.duration, event.name);
    if (!row) return !writer_.cancelled();
    count_row(table);
    copy_values(event, schema, *row);
    doubtful_times_ += doubtful ? 1 : 0;
    if (made && !doubtful) made(event, *row);
    return !writer_.cancelled();
  });
  if (!done) report_.note("spill_failed", done.message());
}

std::string TracyImport::thread_label(std::uint64_t thread) const {
  const std::string_view name = names_.thread_name(thread);
  const bool number = std::all_of(name.begin(), name.end(), is_digit);
  return number ? fmt::format("Thread {}", thread) : fmt::format("{} ({})", name, thread);
}

Track TracyImport::track_of(std::string name, std::string kind, TracyTableKind table) {
  return {.name = std::move(name), .kind = std::move(kind), .schema = schema(table), .clock = clock_};
}

bool TracyImport::is_time(std::int64_t time) noexcept {
  if (time > -kLargestTraceTime && time < kLargestTraceTime) return true;
  ++bad_times_;
  return false;
}

bool TracyImport::stopped() {
  if (options_.progress) {
    const json::ByteSource& source = reader_.blocks().source();
    options_.progress(source.file_bytes_read(), source.file_bytes());
  }
  return reader_.ended() || writer_.cancelled();
}

void TracyImport::report_end() {
  if (ended_in_.empty()) return;
  const std::string& problem = reader_.gave_up().empty() ? reader_.blocks().problem() : reader_.gave_up();
  std::string said = fmt::format("the trace ends within {}", ended_in_);
  if (!problem.empty()) said += ": " + problem;
  if (!missing_.empty()) said += "; missing are further " + joined(missing_);
  said += "; save it again, or copy the file whole";
  report_.note("truncated", said);
}

void TracyImport::write_report() {
  report_end();
  if (ended_in_.empty() && !reader_.at_end()) {
    report_.note("trailing_bytes", "bytes follow the last section that traces of this version have; they are not read");
  }
  const std::uint64_t zones = rows_[static_cast<std::size_t>(TracyTableKind::zone)];
  if (ended_in_.empty() && claimed_zones_ > zones) {
    report_.note("rows_lost", fmt::format("the trace tells of {} zones and holds {}", claimed_zones_, zones),
                 claimed_zones_ - zones);
  }
  report_.note("tasks_unfinished", "zones and waits had not ended when the trace was saved; they are drawn to its end",
               unfinished_zones_);
  report_.note("negative_duration", "zones end before they begin; they are shown without length", negative_zones_);
  report_.note("missing_duration", "GPU zones whose times never came from the device were left out",
               gpu_without_times_);
  report_.note("rows_skipped", "events at times that no trace has were left out", bad_times_);
  report_.note("impossible_times", std::string(tracks::kDoubtfulTimesAreSetAside), doubtful_times_);
  report_.note("missing_source_locations", "zones are of places in the source that the trace does not have",
               unknown_places_);
  report_.note("names_left_out", "messages after many different ones are called \"message\"; their text is whole",
               unnamed_messages_);
  report_.note("rows_mended", "zones begin before the one before them has ended; they are shortened",
               lanes_.shortened());
  report_.note("too_many_overlaps", "events lie too deep in one another, or on too many rows, and were left out",
               lanes_.without_lane());
  report_.note("too_many_tracks", "threads, plots or locks beyond those that a session can have were left out",
               lanes_.tracks_left_out());
  report_.note("frame_images_left_out", "pictures of frames are not read", frame_images_);
  report_.note("rows_left_out", "samples of hardware counters are not read; see them in Tracy", hardware_samples_);
  report_.note("rows_left_out", "symbols and their machine code are not read; see them in Tracy", symbols_);
  for (std::size_t i = 0; i < kTracyTableKinds; ++i) {
    if (rows_[i] == 0) continue;
    const std::string table = tracy_table(static_cast<TracyTableKind>(i)).name;
    writer_.set_meta("source.rows." + table, std::to_string(rows_[i]));
  }
  report_.write(writer_);
  add_source_files(files_, options_.source_roots, "the zones name", writer_);
}

// Traces as Tracy saves them (.tracy), of Tracy 0.9 to 0.14 and tt-metal's variants, packed by LZ4 or zstd; also packed
// once more as a whole. Tables: those of read/tables.h, and dependency. Times are ns since the trace's start, ticks of
// a clock of its own.

int probe_tracy(std::string_view head, const std::string& /*path*/) {
  constexpr int kCertain = 95;
  return begins_as_tracy(head) ? kCertain : 0;
}

Result<void> import_tracy(std::unique_ptr<json::ByteSource> bytes, const std::string& name,
                          const ImportOptions& options, EventSink& sink) {
  Result<TracyBlocks> blocks = TracyBlocks::open(std::move(bytes));
  if (!blocks) return Error{fmt::format("{}: {}", name, blocks.message())};
  return TracyImport(name, options, std::move(blocks).value(), sink).run();
}

// What the system told of the program's threads: call stacks, when they ran, what the processors ran.

namespace {

constexpr std::size_t kProcessorsRetained = 256;
constexpr std::size_t kMostStackText = 16U << 10;

}  // namespace

void TracyImport::read_callstacks() {
  std::vector<std::uint64_t> addresses;
  std::vector<std::uint64_t> ends;
  for (std::uint64_t left = reader_.count(); left > 0 && !reader_.ended(); --left) {
    for (auto frames = reader_.number<std::uint16_t>(); frames > 0 && !reader_.ended(); --frames) {
      addresses.push_back(reader_.number<std::uint64_t>());
    }
    ends.push_back(addresses.size());
  }
  std::vector<StackFrame> frames;
  std::vector<FrameGroup> groups;
  for (std::uint64_t left = reader_.count(); left > 0; --left) {
    TraceRecord record = reader_.record(12);
    if (reader_.ended()) break;
    FrameGroup group;
    group.address = record.next<std::uint64_t>();
    group.first = frames.size();
    for (auto inlined = record.next<std::uint8_t>(); inlined > 0; --inlined) {
      TraceRecord frame = reader_.record(18);
      if (reader_.ended()) break;
      StackFrame& at = frames.emplace_back();
      at.name = frame.next24();
      at.file = frame.next24();
      at.line = frame.next<std::uint32_t>();
    }
    group.count = frames.size() - group.first;
    groups.push_back(group);
  }
  write_callstacks(addresses, ends, frames, std::move(groups));
}

void TracyImport::write_callstacks(const std::vector<std::uint64_t>& addresses, const std::vector<std::uint64_t>& ends,
                                   const std::vector<StackFrame>& frames, std::vector<FrameGroup> groups) {
  if (ends.empty()) return;
  std::sort(groups.begin(), groups.end(),
            [](const FrameGroup& a, const FrameGroup& b) { return a.address < b.address; });
  const auto track = lanes_.add_track(track_of("Call stacks", "table", TracyTableKind::callstack));
  if (!track) return;
  std::uint64_t begin = 0;
  for (std::size_t i = 0; i < ends.size(); begin = ends[i], ++i) {
    std::string text;
    std::string_view innermost;
    for (std::uint64_t at = begin; at < ends[i] && text.size() < kMostStackText; ++at) {
      const auto group =
          std::lower_bound(groups.begin(), groups.end(), addresses[at],
                           [](const FrameGroup& a, std::uint64_t address) { return a.address < address; });
      if (group == groups.end() || group->address != addresses[at]) {
        text += fmt::format("{}0x{:x}", text.empty() ? "" : "\n", addresses[at]);
        continue;
      }
      const std::size_t behind = group->first + group->count;
      for (std::size_t frame = group->first; frame < behind && text.size() < kMostStackText; ++frame) {
        const std::string_view name = names_.text_above(frames[frame].name).substr(0, kMostStackText);
        if (innermost.empty()) innermost = name;
        text += fmt::format("{}{} ({}:{})", text.empty() ? "" : "\n", name,
                            names_.text_above(frames[frame].file).substr(0, kMostStackText), frames[frame].line);
      }
    }
    std::optional<Row> row = lanes_.put(*track, 0, 0, writer_.intern(innermost));
    if (!row) return;
    count_row(TracyTableKind::callstack);
    row->integer(CallstackColumns::callstack, static_cast<std::int64_t>(i + 1));
    row->text(CallstackColumns::stack, text);
  }
}

void TracyImport::read_context_switches() {
  for (std::uint64_t left = reader_.count(); left > 0 && !stopped(); --left) {
    TraceRecord head = reader_.record(16);
    if (reader_.ended()) return;
    const std::string name = thread_label(head.next<std::uint64_t>()) + " running";
    std::optional<TrackNumber> track;
    std::uint64_t time = 0;
    for (auto switches = head.next<std::uint64_t>(); switches > 0; --switches) {
      TraceRecord record = reader_.record(35U + (layout_.wakeup_cpu ? 1U : 0U));
      if (reader_.ended()) return;
      const auto woken = static_cast<std::int64_t>(time += record.next<std::uint64_t>());
      const auto begin = static_cast<std::int64_t>(time += record.next<std::uint64_t>());
      auto end = static_cast<std::int64_t>(time += record.next<std::uint64_t>());
      const auto cpu = record.next<std::uint8_t>();
      const auto reason = record.next<std::int8_t>();
      const auto state = record.next<std::int8_t>();
      (void)record.next<std::uint64_t>();
      if (!is_time(woken) || !is_time(begin) || !is_time(end)) continue;
      if (end < 0) end = std::max(last_time_, begin);
      if (!track) track = lanes_.add_track(track_of(name, "layer", TracyTableKind::context_switch));
      if (!track) continue;
      std::optional<Row> row = lanes_.put_at(*track, 0, begin, end, writer_.intern("running"));
      if (!row) continue;
      count_row(TracyTableKind::context_switch);
      row->integer(SwitchColumns::cpu, cpu);
      row->integer(SwitchColumns::waited, std::max<std::int64_t>(begin - woken, 0));
      row->integer(SwitchColumns::reason, reason);
      row->integer(SwitchColumns::state, state);
      if (layout_.wakeup_cpu) row->integer(SwitchColumns::wakeup_cpu, record.next<std::uint8_t>());
    }
  }
}

void TracyImport::read_cpus() {
  reader_.skip(8);  // how many there are on all processors
  for (std::size_t cpu = 0; cpu < kProcessorsRetained && !stopped(); ++cpu) {
    std::optional<TrackNumber> track;
    std::uint64_t time = 0;
    for (std::uint64_t left = reader_.count(); left > 0; --left) {
      TraceRecord record = reader_.record(18);
      if (reader_.ended()) return;
      const auto begin = static_cast<std::int64_t>(time += record.next<std::uint64_t>());
      auto end = static_cast<std::int64_t>(time += record.next<std::uint64_t>());
      const std::uint64_t thread = names_.other_thread(record.next<std::uint16_t>());
      if (!is_time(begin) || !is_time(end)) continue;
      if (end < 0) end = std::max(last_time_, begin);
      if (!track) track = lanes_.add_track(track_of(fmt::format("CPU {}", cpu), "layer", TracyTableKind::cpu));
      if (!track) continue;
      const std::string_view program = names_.other_program(thread);
      const std::string_view name = names_.thread_name(thread);
      const StringId what = writer_.intern(!name.empty()     ? thread_label(thread)
                                           : program.empty() ? fmt::format("Thread {}", thread)
                                                             : std::string(program));
      std::optional<Row> row = lanes_.put_at(*track, 0, begin, end, what);
      if (!row) continue;
      count_row(TracyTableKind::cpu);
      row->integer(CpuColumns::thread, static_cast<std::int64_t>(thread));
    }
  }
  reader_.skip(reader_.count(), 16);  // the processes of threads
  reader_.skip(reader_.count(), 24);  // how long threads ran, which their switches tell
}

}  // namespace accelscope::capture::sources::tracy
