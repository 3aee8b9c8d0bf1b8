#include "capture/sources/chrome/importer.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <string_view>
#include <thread>

#include "capture/json/json_cursor.h"
#include "capture/json/window_pipeline.h"
#include "capture/sources/base/importers.h"
#include "capture/sources/base/sinks.h"
#include "capture/sources/tracks/flow_ends.h"
#include "capture/sources/tracks/gpu_tables.h"
#include "capture/system/shown_command.h"
#include "core/base/text.h"
#include "core/export/base/writers.h"

namespace accelscope::capture::sources::chrome {

RetainedEvent::RetainedEvent(const EventRecord& source, const EventBatch& batch) : record(source) {
  add_values(source.values, batch);
}

void RetainedEvent::add_values(const ValueRange& range, const EventBatch& batch) {
  for (std::uint32_t i = range.first; i < range.first + range.count; ++i) {
    BoundValue value = batch.values[i];
    if (value.size > 0) {  // a text
      const TextRange place{static_cast<std::uint32_t>(value.value), value.size};
      value.value = text.size();
      text += batch.text_at(place);
    }
    const auto known = std::find_if(values.begin(), values.end(),
                                    [&](const BoundValue& other) { return other.column == value.column; });
    if (known != values.end()) {
      *known = value;
    } else {
      values.push_back(value);
    }
  }
}

void OpenEvents::begin(std::uint64_t key, const EventRecord& record, const EventBatch& batch) {
  add(key, {RetainedEvent(record, batch), false});
}

void OpenEvents::end(std::uint64_t key, const EventRecord& record, const EventBatch& batch) {
  EventRecord bare = record;
  bare.values = {};
  Mark mark{RetainedEvent(bare, batch), true};
  mark.event.text = batch.text_at(record.raw_args);
  add(key, std::move(mark));
}

void OpenEvents::add(std::uint64_t key, Mark mark) {
  Stack& stack = stacks_[key];
  const std::int64_t start = mark.event.record.start;
  if (start < stack.joined_until) ++too_late_;
  stack.sorted = stack.sorted && (stack.marks.empty() || stack.marks.back().event.record.start <= start);
  stack.marks.push_back(std::move(mark));
  if (++mark_count_ >= kMostMarks) join_some();
}

// The earlier half of every stack.
void OpenEvents::join_some() {
  for (auto& [key, stack] : stacks_) join(stack, (stack.marks.size() + 1) / 2);
}

void OpenEvents::join(Stack& stack, std::size_t count) {
  mark_count_ -= count;
  if (!stack.sorted) {
    std::stable_sort(stack.marks.begin(), stack.marks.end(),
                     [](const Mark& a, const Mark& b) { return a.event.record.start < b.event.record.start; });
    stack.sorted = true;
  }
  for (; count > 0; --count) {
    stack.joined_until = std::max(stack.joined_until, stack.marks.front().event.record.start);
    join(stack, stack.marks.front());
    stack.marks.pop_front();
  }
}

void OpenEvents::join(Stack& stack, Mark& mark) {
  if (!mark.is_end) {
    stack.open.push_back(stack.waiting.size());
    stack.waiting.push_back(std::move(mark.event));
    return;
  }
  const EventRecord& end = mark.event.record;
  RetainedEvent* const event = find(stack, end.name);
  if (event == nullptr) return handlers_.without_begin(end);
  if (!mark.event.text.empty()) handlers_.add_args(*event, mark.event.text);
  close(stack, *event, end.start);
}

RetainedEvent* OpenEvents::find(Stack& stack, StringId name) {
  if (stack.open.empty()) return nullptr;
  if (name == 0) return &stack.waiting[stack.open.back()];
  constexpr std::size_t kDeepest = 512;  // names are looked for among so many; files may leave millions open
  const std::size_t last = stack.open.size() > kDeepest ? stack.open.size() - kDeepest : 0;
  for (auto index = stack.open.rbegin(); index != stack.open.rend() - static_cast<std::ptrdiff_t>(last); ++index) {
    if (stack.waiting[*index].record.name == name) return &stack.waiting[*index];
  }
  ++mismatched_names_;
  return &stack.waiting[stack.open.back()];
}

void OpenEvents::close(Stack& stack, RetainedEvent& event, std::int64_t end_ns) {
  event.closed = true;
  event.record.duration = std::max<std::int64_t>(0, end_ns - event.record.start);
  const auto index = static_cast<std::size_t>(&event - stack.waiting.data());
  const auto place = std::find(stack.open.rbegin(), stack.open.rend(), index);
  stack.open.erase(std::next(place).base());
  if (stack.open.empty() || stack.waiting.size() >= std::max(kMostWaiting, 2 * stack.open.size())) emit_closed(stack);
}

void OpenEvents::emit_closed(Stack& stack) {
  std::vector<RetainedEvent> still_open;
  for (RetainedEvent& event : stack.waiting) {
    if (event.closed) {
      handlers_.emit(event);
    } else {
      still_open.push_back(std::move(event));
    }
  }
  stack.waiting = std::move(still_open);
  for (std::size_t i = 0; i < stack.open.size(); ++i) stack.open[i] = i;
}

void OpenEvents::close_all(std::int64_t end_ns) {
  for (auto& [key, stack] : stacks_) {
    join(stack, stack.marks.size());
    for (const std::size_t index : stack.open) {
      RetainedEvent& event = stack.waiting[index];
      event.closed = true;
      event.record.duration = std::max<std::int64_t>(0, end_ns - event.record.start);
      ++left_open_;
    }
    stack.open.clear();
    emit_closed(stack);
  }
  stacks_.clear();
}

namespace {

constexpr std::string_view kBaseTime = "baseTimeNanoseconds";  // what the events' times count from, in Unix time
constexpr std::array<std::string_view, 8> kKinetoKeys = {"schemaVersion", "deviceProperties", "distributedInfo",
                                                         "record_shapes", "profile_memory",   "with_stack",
                                                         "cupti_version", kBaseTime};
constexpr std::array<std::string_view, 4> kMessageTables = {"INFO", "WARNING", "WARN", "ERROR"};
// Words by which the profiler's own lines tell of losses.
constexpr std::array<std::string_view, 5> kLossWords = {"dropped", "failed", "lost", "overflow", "missing"};

template <std::size_t Size>
[[nodiscard]] bool is_among(const std::array<std::string_view, Size>& words, std::string_view word) noexcept {
  return std::find(words.begin(), words.end(), word) != words.end();
}

[[nodiscard]] bool tells_of_loss(std::string_view line) {
  const std::string lower = lower_case(line);
  return std::any_of(kLossWords.begin(), kLossWords.end(),
                     [&](std::string_view word) { return lower.find(word) != std::string::npos; });
}

// N of "Record counts: Out-of-range = N, ...".
[[nodiscard]] std::uint64_t records_out_of_range(std::string_view line) {
  constexpr std::string_view kCount = "Out-of-range = ";
  const std::size_t at = line.find(kCount);
  if (at == std::string_view::npos) return 0;
  const std::string_view rest = line.substr(at + kCount.size());
  const std::string_view digits = rest.substr(0, rest.find_first_not_of("0123456789"));
  return json::to_uint64({.key = {}, .text = digits, .kind = json::JsonKind::number}).value_or(0);
}

[[nodiscard]] std::string text_at(std::string_view object, std::string_view key) {
  std::string text;
  (void)json::each_member(object, [&](const json::JsonField& field) {
    if (field.key == key) text = field.text;
    return field.key != key;
  });
  return text;
}

}  // namespace

void TraceFacts::set(std::string key, std::string_view value) {
  if (facts_.size() >= kMaxFacts && !facts_.contains(key)) {
    ++over_limit_;
    return;
  }
  if (value.size() > kMaxValueBytes) {
    ++over_limit_;
    value = value.substr(0, kMaxValueBytes);
  }
  // Traces carry the environment of the process now and then; sessions are passed on to others.
  const bool secret = system::names_a_secret(key, value);
  secrets_ += secret ? 1 : 0;
  facts_[std::move(key)] =
      secret ? std::string("(left out: it looks like a secret)") : system::without_secrets(json::repair_utf8(value));
}

void TraceFacts::add(const json::JsonWindow& window) {
  kineto_ = kineto_ || is_among(kKinetoKeys, window.table);
  own_ = own_ || window.table == exporting::kOwnChromeKey;
  for (std::size_t i = 0; i < window.rows.size(); ++i) {
    const std::string_view row = window.row(i);
    if (window.table == "deviceProperties") {
      add_device(row);
    } else if (window.in_array && is_among(kMessageTables, window.table)) {
      add_message(window.table, row);
    } else if (window.in_array) {
      constexpr std::size_t kMaxRows = 100;  // of a table that nobody knows
      if (i < kMaxRows) {
        flatten(fmt::format("{}.{}", window.table, i), row, 0);
      } else {
        ++over_limit_;
      }
    } else {
      if (window.table == exporting::kOwnChromeKey) {
        base_ns_ = json::to_int64({.key = {}, .text = text_at(row, "begin_unix_ns"), .kind = json::JsonKind::number});
        continue;
      }
      flatten(window.table, row, 0);
      json::JsonCursor cursor(row);
      const json::JsonField value = cursor.value();
      if (window.table == kBaseTime && cursor.ok()) base_ns_ = json::to_int64(value);
    }
  }
}

void TraceFacts::flatten(const std::string& key, std::string_view json, int depth) {
  constexpr int kDeepest = 3;
  json::JsonCursor cursor(json);
  if (depth < kDeepest && cursor.enter('{')) {
    (void)json::each_member(json, [&](const json::JsonField& field) {
      // What a session knew of itself it knows again.
      const bool again = own_ && depth == 0 && key == "otherData";
      const std::string inner = again ? std::string(field.key) : fmt::format("{}.{}", key, field.key);
      if (field.kind == json::JsonKind::object) {
        flatten(inner, field.text, depth + 1);
      } else if (field.kind != json::JsonKind::null) {
        set(inner, field.text);
        // VizTracer has it in an object of its own.
        if (field.key == kBaseTime && !base_ns_) base_ns_ = json::to_int64(field);
      }
      return true;
    });
    return;
  }
  const json::JsonField value = cursor.value();
  if (cursor.ok() && value.kind != json::JsonKind::null) set(key, value.text);
}

void TraceFacts::add_device(std::string_view row) {
  const std::string id = text_at(row, "id");
  const std::string number = id.empty() ? std::to_string(device_count_) : id;
  ++device_count_;
  flatten("device." + number, row, 0);
  // The pool that allocations of this device lie in is named so by ArgsBinder.
  const std::string bytes = text_at(row, "totalGlobalMem");
  if (!bytes.empty()) set(fmt::format("capacity.{} memory", tracks::gpu_name(number)), bytes);
}

void TraceFacts::add_message(std::string_view table, std::string_view row) {
  json::JsonCursor cursor(row);
  const json::JsonField line = cursor.value();
  if (!cursor.ok()) return;
  const std::string text = json::repair_utf8(line.text.substr(0, 500));
  out_of_range_ += records_out_of_range(line.text);
  if (table == "ERROR" || tells_of_loss(line.text)) ++complaints_[text];
  std::string& all = facts_[std::string(table)];
  if (all.size() + text.size() > kMaxValueBytes) {
    ++over_limit_;
  } else {
    all += all.empty() ? text : "\n" + text;
  }
}

void TraceFacts::add_metadata_event(std::string_view name, std::string_view args) {
  if (name == "trace_buffer_overflowed") overflowed_ = true;
  flatten("metadata." + std::string(name), args, 0);
}

void TraceFacts::write(SessionWriter& writer, ImportReport& report) const {
  for (const auto& [key, value] : facts_) writer.set_meta(key, value);
  // What captures have of the launcher, by the same names.
  for (const auto& [key, of_job] :
       {std::pair{"distributedInfo.rank", "job.rank"}, {"distributedInfo.world_size", "job.ranks"}}) {
    if (const auto found = facts_.find(key); found != facts_.end()) writer.set_meta(of_job, found->second);
  }
  constexpr std::size_t kMostLines = 50;
  std::size_t lines = 0;
  for (const auto& [line, count] : complaints_) {
    if (++lines > kMostLines) break;
    report.note("profiler_message", fmt::format("the profiler that wrote the trace says: {}", line), count);
  }
  report.note("records_out_of_range",
              "records of the device lay outside of the captured steps and were left out by the profiler; in a short "
              "capture that may be all of them: record more steps, with a warm-up step before",
              out_of_range_);
  if (overflowed_) {
    report.note(
        "buffer_overflow",
        "the tracer's buffer overflowed, so events are missing; record a shorter time, fewer categories or with "
        "a larger buffer");
  }
  report.note("secrets_left_out",
              "values of the metadata that look like passwords or tokens were left out of the session; the file "
              "itself still holds them",
              secrets_);
  report.note("facts_left_out", "facts beside the events that are too many or too long were left out or cut short",
              over_limit_);
}

namespace {

constexpr std::size_t kHeldMemoryBytes = 512U << 20;  // packed events beyond this go to a temporary file

[[nodiscard]] bool has_problem(const json::JsonTableReader& reader, json::JsonProblem::Kind kind) noexcept {
  return std::any_of(reader.problems().begin(), reader.problems().end(),
                     [&](const json::JsonProblem& problem) { return problem.kind == kind; });
}

[[nodiscard]] bool takes_columns(char phase) noexcept {
  constexpr std::string_view kPhases = "XBiIRbnSTp";
  return kPhases.find(phase) != std::string_view::npos;
}

// The table of events: its key in an object, or the nameless one of a bare array.
[[nodiscard]] bool is_event_table(const json::JsonWindow& window) noexcept {
  return window.in_array && (window.table == kEventTable || window.table.empty());
}

// Ends are events of a table too, in case that they have no begin.
[[nodiscard]] bool needs_table(char phase) noexcept {
  return takes_columns(phase) || phase == 'E' || phase == 'e' || phase == 'F';
}

}  // namespace

ChromeImporter::ChromeImporter(std::string path, const ImportOptions& options, EventSink& sink)
    : path_(std::move(path)),
      options_(options),
      sink_(sink),
      spill_(kHeldMemoryBytes),
      held_(sink, spill_),
      writer_(held_),
      strings_(vocabulary_.strings),
      binder_(strings_),
      events_(writer_, held_),
      tracks_(events_, vocabulary_),
      stacks_(joined(false)),
      async_(joined(true)) {}

Result<void> ChromeImporter::run(std::unique_ptr<json::ByteSource> source,
                                 const json::JsonTableReader::Options& reader_options, unsigned threads) {
  using Windows = json::WindowPipeline<EventBatch>;
  Windows windows(json::JsonTableReader(std::move(source), reader_options), threads, [this] {
    return [rows = std::make_shared<ChromeRowReader>(vocabulary_)](Windows::Slot& slot) {
      if (is_event_table(slot.window)) rows->read(slot.window, slot.made);
    };
  });
  bool any = false;
  bool any_events = false;
  while (Windows::Slot* slot = windows.next()) {
    if (writer_.cancelled()) {
      if (const Result<void> status = writer_.status(); !status) return status;
      return Error{fmt::format("{}: the import was cancelled", path_)};
    }
    any = true;
    if (is_event_table(slot->window)) {
      any_events = true;
      take_batch(slot->made);
    } else {
      facts_.add(slot->window);
    }
    if (options_.progress) options_.progress(windows.bytes_done(), windows.bytes_total());
  }
  const json::JsonTableReader& reader = windows.reader();
  if (const Result<void> fine = check_document(reader); !fine) return fine;
  if (!any && has_problem(reader, json::JsonProblem::Kind::truncated)) {
    return Error{
        fmt::format("{}: the file ends at byte {} before the first event; copy it completely or export it again", path_,
                    reader.bytes_read())};
  }
  if (!any_events) {
    return Error{
        fmt::format("{}: holds no \"traceEvents\"; a trace is written by torch.profiler's "
                    "export_chrome_trace() or by chrome://tracing",
                    path_)};
  }
  return finish(reader);
}

Result<void> ChromeImporter::check_document(const json::JsonTableReader& reader) const {
  if (reader.is_json()) return {};
  for (const json::JsonProblem& problem : reader.problems()) {
    if (problem.kind == json::JsonProblem::Kind::unreadable) return Error{problem.what};
  }
  return Error{fmt::format("{}: {}; a trace is a JSON object with \"traceEvents\" or an array of events", path_,
                           reader.bytes_read() == 0 ? "the file is empty" : "this is not JSON")};
}

void ChromeImporter::take_batch(EventBatch& batch) {
  binder_.begin_batch();
  for (const EventRecord& record : batch.records) {
    if (record.phase == 'M') take_metadata(record, batch);  // it says which columns are what
  }
  make_bindings(batch);
  bind_rest(batch);
  counts_.rows += batch.records.size() + batch.problems.size();
  for (const UnreadRow& problem : batch.problems) {
    report_.skipped_row("traceEvents", problem.reason, problem.offset);
  }
  if (batch.repaired_rows > 0) {
    report_.note("rows_mended",
                 "events hold bytes that are not UTF-8, stray commas or control characters and were read after "
                 "mending; texts in them may differ",
                 batch.repaired_rows);
  }
  if (batch.doubled_keys > 0) {
    report_.note("doubled_keys", "events name one field twice; the last one counts", batch.doubled_keys);
  }
  for (EventRecord& record : batch.records) take_event(record, batch);
  if (batch.broken_args > 0) {
    report_.note("broken_args", "the args of events are not JSON throughout and were read up to the mistake",
                 batch.broken_args);
  }
}

// The tables that come for the first time get their columns from the events of this batch.
void ChromeImporter::make_bindings(const EventBatch& batch) {
  constexpr std::uint32_t kMostSamples = 4000;  // of a table
  std::array<std::unique_ptr<ArgsInference>, kChromeTableCount> inferences;
  std::array<std::uint32_t, kChromeTableCount> samples{};
  for (const EventRecord& record : batch.records) {
    const auto table = static_cast<std::size_t>(record.table);
    if (bindings_[table] != nullptr || !needs_table(record.phase)) continue;
    if (inferences[table] == nullptr) inferences[table] = std::make_unique<ArgsInference>();
    if (++samples[table] > kMostSamples) continue;
    // What is read before a mistake tells enough.
    (void)json::each_member(batch.text_at(record.raw_args), [&](const json::JsonField& field) {
      inferences[table]->add(field);
      return true;
    });
  }
  for (std::size_t table = 0; table < kChromeTableCount; ++table) {
    if (inferences[table] == nullptr) continue;
    const auto which = static_cast<ChromeTable>(table);
    const AllocationColumns& allocations = tracks_.allocation_columns();
    bindings_[table] =
        std::make_unique<TableBinding>(which, inferences[table]->schema(which, allocations), allocations);
    vocabulary_.bindings[table].store(bindings_[table].get(), std::memory_order_release);
  }
}

void ChromeImporter::bind_rest(EventBatch& batch) {
  std::string args;
  for (EventRecord& record : batch.records) {
    if (record.bound || !takes_columns(record.phase)) continue;
    args = batch.text_at(record.raw_args);  // binding adds to the batch's text
    const TableBinding& binding = *bindings_[static_cast<std::size_t>(record.table)];
    const bool named = record.table == ChromeTable::python_function;
    record.values =
        binder_.bind(binding, named ? vocabulary_.strings.text(record.name) : std::string_view{}, args, {}, batch);
    record.bound = true;
  }
}

void ChromeImporter::take_metadata(const EventRecord& record, const EventBatch& batch) {
  const std::string_view name = vocabulary_.strings.text(record.name);
  const std::string_view args = batch.text_at(record.raw_args);
  if (!tracks_.add_metadata(name, record.thread, args)) facts_.add_metadata_event(name, args);
}

void ChromeImporter::take_event(EventRecord& record, EventBatch& batch) {
  const std::span<const BoundValue> values =
      std::span<const BoundValue>(batch.values).subspan(record.values.first, record.values.count);
  ++counts_.rows_read;
  switch (record.phase) {
    case 'X':
      if (!record.has_duration) ++counts_.missing_durations;
      write_slice(record, values, batch.text, false);
      break;
    case 'B':
      stacks_.begin(record.thread, record, batch);
      saw_time(record.start, record.start);
      break;
    case 'E':
      stacks_.end(record.thread, record, batch);
      saw_time(record.start, record.start);
      break;
    case 'b':
    case 'S':
      async_.begin(async_key(record), record, batch);
      saw_time(record.start, record.start);
      break;
    case 'e':
    case 'F':
      async_.end(async_key(record), record, batch);
      saw_time(record.start, record.start);
      break;
    case 'i':
    case 'I':
    case 'R':
    case 'n':
    case 'T':
    case 'p':
      write_instant(record, values, batch.text);
      break;
    case 'C':
      write_counters(record, batch.text_at(record.raw_args));
      break;
    case 's':
    case 't':
    case 'f':
      if (record.has_id && facts_.is_own()) {
        add_stated_flow(record, batch.text_at(record.raw_args));
      } else if (record.has_id) {
        flows_.add(record, is_launch_flow(vocabulary_.strings.text(record.category)));
      } else {
        --counts_.rows_read;
        ++counts_.flows_without_id;
      }
      break;
    case 'M':
      break;  // it came before all others of the batch
    default:
      --counts_.rows_read;
      ++counts_.unknown_phases[record.phase];
  }
}

// Chrome JSON traces (the "Trace Event Format"), above all those of PyTorch's profiler: an object with "traceEvents" or
// a bare array of events, closed or not, plain or packed with gzip or zstd. Tables and columns: read/tables.h.

namespace {

constexpr int kCertain = 95;  // the table of events is there
constexpr int kLikely = 70;   // keys that only such traces have, or rows that look like events

[[nodiscard]] bool contains_key(std::string_view text, std::string_view key) {
  for (std::size_t at = text.find(key); at != std::string_view::npos; at = text.find(key, at + 1)) {
    const std::size_t after = text.find_first_not_of(" \t\r\n", at + key.size());
    if (after != std::string_view::npos && text[after] == ':') return true;
  }
  return false;
}

}  // namespace

int probe_chrome_json(std::string_view text, const std::string& /*path*/) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) return 0;
  const auto has = [&](std::string_view key) { return contains_key(text, key); };
  if (text[first] == '[') return has("\"ph\"") && (has("\"ts\"") || has("\"name\"")) ? kLikely : 0;
  if (text[first] != '{') return 0;
  if (has("\"traceEvents\"")) return kCertain;
  constexpr std::array<std::string_view, 6> kTelling = {"\"deviceProperties\"",      "\"distributedInfo\"",
                                                        "\"displayTimeUnit\"",       "\"baseTimeNanoseconds\"",
                                                        "\"torch_profiler_kwargs\"", "\"systemTraceEvents\""};
  return std::any_of(kTelling.begin(), kTelling.end(), has) ? kLikely : 0;
}

std::optional<std::uint32_t> rank_in_chrome_json(std::string_view head) {
  const std::size_t at = head.find("\"distributedInfo\"");
  if (at == std::string_view::npos) return std::nullopt;
  constexpr std::size_t kFar = 4096;  // what the object says of groups of ranks may be long, and comes behind it
  constexpr std::string_view kKey = "\"rank\"";
  std::string_view object = head.substr(at, kFar);
  object = object.substr(0, std::min(object.find("\"traceEvents\""), object.size()));
  const std::size_t key = object.find(kKey);
  if (key == std::string_view::npos) return std::nullopt;
  std::string_view rest = object.substr(key + kKey.size());
  rest.remove_prefix(std::min(rest.find_first_not_of(" \t\r\n:"), rest.size()));
  std::uint32_t rank = 0;
  const auto [end, wrong] = std::from_chars(rest.data(), rest.data() + rest.size(), rank);
  if (wrong != std::errc() || end == rest.data() + rest.size()) return std::nullopt;  // it may go on
  return rank;
}

Result<void> import_chrome_json(std::unique_ptr<json::ByteSource> bytes, const std::string& name,
                                const ImportOptions& options, EventSink& sink, const ChromeReading& reading) {
  constexpr unsigned kMostThreads = 4;
  const unsigned threads =
      reading.threads > 0 ? reading.threads : std::clamp(std::thread::hardware_concurrency(), 1U, kMostThreads);
  json::JsonTableReader::Options reader;
  reader.further_documents = true;  // Proton writes one for each stream
  reader.window_bytes = reading.window_bytes;
  reader.opened_table = kEventTable;  // chrome://tracing wraps traces that it was handed once more
  return ChromeImporter(name, options, sink).run(std::move(bytes), reader, threads);
}

Result<void> import_chrome_json(std::unique_ptr<json::ByteSource> bytes, const std::string& name,
                                const ImportOptions& options, EventSink& sink) {
  return import_chrome_json(std::move(bytes), name, options, sink, {});
}

// What is done once all rows are read: flows, the clock, the tracks, the report.

namespace {

// Calls of drivers that give a device something to do, by a part of their names; all others ask, wait or set up.
constexpr std::array<std::string_view, 9> kStartingWords = {"launch",  "memcpy", "memset",  "copy",    "fill",
                                                            "enqueue", "submit", "execute", "prefetch"};

bool starts_work(std::string_view call) {
  const std::string name = lower_case(call);
  return std::any_of(kStartingWords.begin(), kStartingWords.end(),
                     [&](std::string_view word) { return name.find(word) != std::string::npos; });
}

// September 2001: no machine has been up for so long, so that such a time is of the day.
constexpr std::int64_t kLeastUnixNs = 1'000'000'000'000'000'000;

[[nodiscard]] std::string meaning_of_phase(char phase) {
  switch (phase) {
    case 'P':
      return "samples (\"P\")";
    case 'N':
    case 'O':
    case 'D':
      return "object life times";
    case 'v':
    case 'V':
      return "memory dumps";
    case 'c':
      return "clock marks";
    case '(':
    case ')':
      return "contexts";
    default:
      return "a phase that is not known";
  }
}

}  // namespace

Result<void> ChromeImporter::finish(const json::JsonTableReader& reader) {
  stacks_.close_all(last_ns_);
  async_.close_all(last_ns_);
  if (Result<void> done = finish_events(); !done) return done;
  if (Result<void> done = write_flows(); !done) return done;
  if (Result<void> done = writer_.finish(); !done) return done;

  Clock clock;
  clock.name = "trace";
  if (any_time_) clock.anchors = {{first_ns_, 0}};
  const ClockNumber number = writer_.add_clock(clock);
  facts_.write(writer_, report_);
  tracks_.for_each_label([&](const std::string& pid, const std::string& labels) {
    writer_.set_meta(fmt::format("process.{}.labels", pid), labels);
  });
  writer_.set_meta("source_format", facts_.is_kineto() ? "PyTorch profiler trace (Chrome JSON)" : "Chrome JSON trace");
  if (any_time_) {
    writer_.set_meta("trace_begin_ns", std::to_string(first_ns_));
    const std::int64_t base = facts_.base_ns().value_or(0);
    if (first_ns_ >= kLeastUnixNs) {  // older profilers tell the time of day itself
      writer_.set_meta("begin_unix_ns", std::to_string(first_ns_));
    } else if (base > 0 && first_ns_ >= 0 && base < kMaxTimeNs) {
      writer_.set_meta("begin_unix_ns", std::to_string(base + first_ns_));
    }
  }
  write_report(reader);
  if (Result<void> done = writer_.status(); !done) return done;
  if (Result<void> done = tracks_.define_all(sink_, writer_, number, facts_.is_kineto()); !done) return done;
  if (Result<void> done = vocabulary_.strings.define_all(sink_); !done) return done;
  if (Result<void> done = held_.release(); !done) {
    return sink_.cancelled() ? Error{fmt::format("{}: the import was cancelled", path_)} : done;
  }
  return {};
}

Result<void> ChromeImporter::finish_events() {
  amend_kernels();
  const auto uses = tracks_.time_uses();
  if (Result<void> done = events_.finish([&](std::uint32_t track) { return uses[track]; }); !done) return done;
  if (events_.doubtful_count() == 0) return {};
  first_ns_ = std::numeric_limits<std::int64_t>::max();
  for (std::uint32_t track = 0; track < uses.size(); ++track)
    first_ns_ = std::min(first_ns_, events_.first_start(track));
  any_time_ = first_ns_ != std::numeric_limits<std::int64_t>::max();
  return {};
}

Result<void> ChromeImporter::write_flows() {
  if (facts_.is_own()) {
    flows_.state_all();
    tracks_.keep_names();
  }
  tracks_.find_ranks(facts_.is_kineto() || any_on_device_);
  const StringId launch = vocabulary_.strings.intern("launch").id;
  flows_.set_launches([this](StringId name) { return starts_work(vocabulary_.strings.text(name)); });
  std::vector<BoundFlow> flows = TRY(flows_.bind(tracks_.bound_tracks(), held_, launch));
  if (flows.empty()) return {};
  flow_schema_ = std::make_unique<Schema>(tracks::make_flow_schema());
  const ChromeSchema schema{writer_.add_schema(*flow_schema_), flow_schema_.get()};
  const std::uint32_t track = tracks_.of_flows(schema);
  for (const BoundFlow& flow : flows) {
    std::array<BoundValue, 4> values{
        BoundValue{tracks::kFlowSource, 0, flow.source}, BoundValue{tracks::kFlowTarget, 0, flow.target},
        BoundValue{static_cast<std::uint32_t>(flow.id_is_text ? tracks::kFlowIdText : tracks::kFlowId), 0, flow.id},
        BoundValue{tracks::kFlowCategory, 0, flow.category}};
    const std::size_t count = flow.category == 0 ? 3 : 4;
    events_.write(track, flow.target_ns, 0, flow.name, std::span(values).first(count), {});
  }
  return {};
}

void ChromeImporter::write_report(const json::JsonTableReader& reader) {
  set_row_counts(writer_, "traceEvents", counts_.rows, counts_.rows_read);
  for (const json::JsonProblem& problem : reader.problems()) {
    // The bracket at the end of an array of events may be left out.
    if (problem.kind != json::JsonProblem::Kind::unclosed) report_.add(problem);
  }
  for (const auto& [phase, count] : counts_.unknown_phases) {
    report_.note(
        "unknown_phase",
        fmt::format("events of phase \"{}\" ({}) were skipped: they are neither intervals, instants, counters "
                    "nor flows",
                    phase >= ' ' && phase <= '~' ? std::string(1, phase) : std::string("?"), meaning_of_phase(phase)),
        count);
  }
  report_.note("negative_duration", "events end before they begin; they are shown with no duration",
               counts_.negative_durations);
  report_.note("missing_duration",
               "complete events (\"X\") without a duration are shown with none; they had probably not ended",
               counts_.missing_durations);
  report_.note("begin_without_end", "events begin but never end; they are shown up to the end of the trace",
               stacks_.left_open() + async_.left_open());
  report_.note("end_without_begin",
               "events end but never begin, probably because the capture started later; they are shown as moments",
               counts_.ends_without_begin);
  report_.note(
      "pairs_out_of_order",
      "begins and ends of events come far behind later ones of their thread, so that some may be joined wrongly",
      stacks_.too_late() + async_.too_late());
  report_.note("mismatched_end",
               "an end (\"E\") names another event than any that is open; the innermost one was closed",
               stacks_.mismatched_names());
  report_.note("bad_counter", "counter events (\"C\") without a number were skipped", counts_.bad_counters);
  report_.note(
      "rounded_counter",
      "counters hold whole numbers beyond 2^53; they were rounded to the nearest of the 53 bits that a sample has",
      counts_.rounded_counters);
  report_losses();
  report_.write(writer_);
}

void ChromeImporter::report_losses() {
  report_.note(
      "flow_without_partner",
      "flow events have no begin or no end in the file, so there is no arrow for them; in profiler traces these are "
      "launches whose work was not recorded, or work whose call was not",
      flows_.counts().without_partner);
  report_.note("calls_without_work",
               "flows begin at calls that start nothing on a device, such as questions and waits; nothing is missing",
               flows_.counts().without_work);
  report_.note("flow_without_event",
               "flows begin or end where no event of their thread lies whose times can be true, so there is no arrow "
               "for them",
               flows_.counts().without_event);
  report_.note("flow_begun_twice",
               "flows (\"bind_id\") begin at a second event while they are under way; the first one counts",
               flows_.counts().doubled);
  report_.note("flow_without_id", "flow events without an id were skipped", counts_.flows_without_id);
  events_.report_losses(report_);
  report_.note("too_many_tracks",
               "events of threads or counters beyond the first 6,000 share rows called \"further ...\"",
               tracks_.merged());
  report_.note("names_over_limit", "more different texts than can be kept apart; the later ones share one name",
               vocabulary_.strings.overflowing());
  if (any_runtime_ && !any_on_device_) {
    report_.note("nothing_on_device",
                 "the trace has runtime calls but nothing that ran on a device: the profiler was not able to record "
                 "the device; include "
                 "ProfilerActivity.CUDA (or XPU) in `activities`, record more than one step, and let no other profiler "
                 "hold the device");
  }
  if (any_memory_ && !any_memory_address_) {
    report_.note("memory_without_addresses",
                 "memory events have no addresses, so releases are matched to allocations by size; profilers since "
                 "2022 record them with profile_memory=True");
  }
}

}  // namespace accelscope::capture::sources::chrome
