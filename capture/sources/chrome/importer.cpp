#include "capture/sources/chrome/importer.h"

#include <fmt/format.h>

#include <algorithm>

#include "capture/json/json_cursor.h"
#include "capture/json/window_pipeline.h"

namespace accelscope::capture::sources::chrome {
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
  if (batch.mended_rows > 0) {
    report_.note("rows_mended",
                 "events hold bytes that are not UTF-8, stray commas or control characters and were read after "
                 "mending; texts in them may differ",
                 batch.mended_rows);
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

}  // namespace accelscope::capture::sources::chrome
