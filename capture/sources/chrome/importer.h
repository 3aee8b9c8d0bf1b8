// One import of a Chrome JSON trace: windows of the file are read on several threads, their events
// are matched and written here, in the order of the file (track_events), and at the end flows find the events that
// they join and the tracks get their names.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "capture/json/byte_source.h"
#include "capture/json/table_reader.h"
#include "capture/sources/base/import_report.h"
#include "capture/sources/base/source.h"
#include "capture/sources/chrome/read/event_batch.h"
#include "capture/sources/chrome/read/row_reader.h"
#include "capture/sources/chrome/write/flow_binder.h"
#include "capture/sources/chrome/write/tracks.h"
#include "capture/sources/tracks/held_events.h"
#include "capture/sources/tracks/kernel_work.h"
#include "capture/sources/tracks/track_events.h"
#include "core/chunk/session_writer.h"

namespace accelscope::capture::sources::chrome {

// Joins the begin and end events of a trace: B and E by the stack of their thread, b and e by their id. Files hold them
// in the order in which buffers were written, so they wait a while, sorted by time, before they are joined; some
// 256,000 wait at most, and what comes later still is joined as it comes and counted. What was joined comes out in the
// order in which it began as long as a thread's stack empties now and then.

// An event with its own copy of what it refers to.
struct RetainedEvent {
  EventRecord record;
  std::vector<BoundValue> values;
  std::string text;
  bool closed = false;

  RetainedEvent(const EventRecord& source, const EventBatch& batch);
  // Values that the end event has beside those of the begin.
  void add_values(const ValueRange& range, const EventBatch& batch);
};

class OpenEvents {
 public:
  struct Handlers {
    std::function<void(const RetainedEvent&)> emit;
    // The end's args, which belong to the event as well.
    std::function<void(RetainedEvent& event, std::string_view args)> add_args;
    // An end whose begin is nowhere.
    std::function<void(const EventRecord& end)> without_begin;
  };
  explicit OpenEvents(Handlers handlers) : handlers_(std::move(handlers)) {}

  void begin(std::uint64_t key, const EventRecord& record, const EventBatch& batch);
  // Ends the innermost event of that name (any, if the end has none), else the innermost one at all.
  void end(std::uint64_t key, const EventRecord& record, const EventBatch& batch);
  // What is open at the end of the file lasts until then.
  void close_all(std::int64_t end_ns);

  [[nodiscard]] std::uint64_t mismatched_names() const noexcept { return mismatched_names_; }
  [[nodiscard]] std::uint64_t left_open() const noexcept { return left_open_; }
  [[nodiscard]] std::uint64_t too_late() const noexcept { return too_late_; }  // came behind what had been joined

 private:
  static constexpr std::size_t kMostWaiting = 32768;
  static constexpr std::size_t kMostMarks = 1U << 18;
  // A begin or an end that has not been joined yet. Of an end, the text is its args.
  struct Mark {
    RetainedEvent event;
    bool is_end = false;
  };
  struct Stack {
    std::deque<Mark> marks;  // those of one time stay as they came
    bool sorted = true;      // by time
    std::int64_t joined_until = INT64_MIN;
    std::vector<RetainedEvent> waiting;  // by begin; closed ones wait for those that began before them
    std::vector<std::size_t> open;       // indices into waiting
  };
  void add(std::uint64_t key, Mark mark);
  void join_some();
  void join(Stack& stack, std::size_t count);
  void join(Stack& stack, Mark& mark);
  [[nodiscard]] RetainedEvent* find(Stack& stack, StringId name);
  void close(Stack& stack, RetainedEvent& event, std::int64_t end_ns);
  void emit_closed(Stack& stack);

  Handlers handlers_;
  std::unordered_map<std::uint64_t, Stack> stacks_;
  std::size_t mark_count_ = 0;
  std::uint64_t mismatched_names_ = 0;
  std::uint64_t left_open_ = 0;
  std::uint64_t too_late_ = 0;
};

// What a trace says of itself beside its events: devices, ranks, versions, the tool's own complaints. Becomes metadata
// of the session and, where something is missing in the trace, sentences of its quality report.

class TraceFacts {
 public:
  // A window of any table but the events.
  void add(const json::JsonWindow& window);
  // A metadata event that is about the whole trace.
  void add_metadata_event(std::string_view name, std::string_view args);

  // Keys that only PyTorch's profiler writes were seen.
  [[nodiscard]] bool is_kineto() const noexcept { return kineto_; }
  // The trace was exported from a session (core/export/base/writers.h): it states every flow and counter.
  [[nodiscard]] bool is_own() const noexcept { return own_; }
  [[nodiscard]] std::optional<std::int64_t> base_ns() const noexcept { return base_ns_; }
  void write(SessionWriter& writer, ImportReport& report) const;

 private:
  static constexpr std::size_t kMaxFacts = 2000;
  static constexpr std::size_t kMaxValueBytes = 16U << 10;

  void set(std::string key, std::string_view value);
  void flatten(const std::string& key, std::string_view json, int depth);
  void add_device(std::string_view row);
  void add_message(std::string_view table, std::string_view row);

  std::map<std::string, std::string> facts_;
  std::map<std::string, std::uint64_t> complaints_;  // the tool's own lines about errors and losses
  std::uint64_t over_limit_ = 0;
  std::uint64_t secrets_ = 0;
  std::uint64_t out_of_range_ = 0;  // records that the profiler says it left out
  std::optional<std::int64_t> base_ns_;
  std::uint64_t device_count_ = 0;
  bool kineto_ = false;
  bool own_ = false;
  bool overflowed_ = false;  // the tool's buffer
};

// PyTorch's profiler writes the Python frames of threads that it does not know to thread 0 of process 0. Each frame
// names the one that called it: frames of one root are of one thread, and roots that overlap are of different threads.

class UnknownThreads {
 public:
  // From 1. Frames come after those that called them; one without an id, or whose caller is not known, begins a thread.
  [[nodiscard]] std::size_t slot_of(std::optional<std::int64_t> id, std::optional<std::int64_t> parent,
                                    std::int64_t begin_ns, std::int64_t end_ns) {
    std::size_t slot = 0;
    if (const auto caller = parent ? slots_.find(*parent) : slots_.end(); caller != slots_.end()) {
      slot = caller->second;
    } else {
      while (slot < ends_.size() && ends_[slot] > begin_ns) ++slot;
      if (slot == ends_.size()) ends_.push_back(end_ns);
      ends_[slot++] = end_ns;
    }
    if (id) slots_[*id] = slot;
    return slot;
  }

 private:
  std::unordered_map<std::int64_t, std::size_t> slots_;  // by the frame's id
  std::vector<std::int64_t> ends_;                       // of each thread's last root
};

inline constexpr std::string_view kEventTable = "traceEvents";

class ChromeImporter {
 public:
  ChromeImporter(std::string path, const ImportOptions& options, EventSink& sink);

  Result<void> run(std::unique_ptr<json::ByteSource> source, const json::JsonTableReader::Options& reader_options,
                   unsigned threads);

 private:
  struct Counts {
    std::uint64_t rows = 0;
    std::uint64_t rows_read = 0;  // that became events, or parts, ends or names of them
    std::uint64_t negative_durations = 0;
    std::uint64_t missing_durations = 0;
    std::uint64_t ends_without_begin = 0;
    std::uint64_t flows_without_id = 0;
    std::uint64_t bad_counters = 0;
    std::uint64_t rounded_counters = 0;  // whole numbers that a double does not hold
    std::map<char, std::uint64_t> unknown_phases;
  };

  // Reading: chrome/importer.cpp
  [[nodiscard]] Result<void> check_document(const json::JsonTableReader& reader) const;
  void take_batch(EventBatch& batch);
  void make_bindings(const EventBatch& batch);
  void bind_rest(EventBatch& batch);
  void take_metadata(const EventRecord& record, const EventBatch& batch);
  void take_event(EventRecord& record, EventBatch& batch);

  // Single events: chrome/events.cpp
  void write_slice(const EventRecord& record, std::span<const BoundValue> values, std::string_view text,
                   bool asynchronous);
  // Kernels of collectives whose facts only the operator that launched them has get those.
  void share_collective_facts(const EventRecord& record, std::vector<BoundValue>& values);
  // What operators compute, for the kernels that they launch, and calls and kernels by which they find each other.
  void note_work(const EventRecord& record, std::uint32_t track, std::int64_t duration,
                 std::vector<BoundValue>& values);
  void note_operator(const EventRecord& record, std::int64_t duration, std::span<const BoundValue> values);
  [[nodiscard]] const tracks::KernelWork::Operator* work_of(const TableBinding& binding, const EventRecord& record,
                                                            std::span<const BoundValue> values);
  void amend_kernels();
  void write_retained(const RetainedEvent& event, bool asynchronous);
  void write_instant(const EventRecord& record, std::span<const BoundValue> values, std::string_view text);
  void add_stated_flow(const EventRecord& record, std::string_view args);
  void write_memory(const EventRecord& record, std::span<const BoundValue> values, std::string_view text);
  void write_counters(const EventRecord& record, std::string_view args);
  void write_sample(std::uint32_t track, std::int64_t ns, double value);
  [[nodiscard]] OpenEvents::Handlers joined(bool asynchronous);
  [[nodiscard]] std::uint64_t async_key(const EventRecord& record) const;
  void saw_time(std::int64_t begin, std::int64_t end) noexcept;
  [[nodiscard]] const ChromeSchema& schema_of(ChromeTable table);
  [[nodiscard]] const ChromeSchema& counter_schema();

  // The end: chrome/importer.cpp
  Result<void> finish(const json::JsonTableReader& reader);
  Result<void> finish_events();
  Result<void> write_flows();
  void write_report(const json::JsonTableReader& reader);
  void report_losses();

  std::string path_;
  ImportOptions options_;
  EventSink& sink_;
  ChunkSpill spill_;
  tracks::HeldSink held_;
  SessionWriter writer_;
  ChromeVocabulary vocabulary_;
  LocalStrings strings_;
  ArgsBinder binder_;
  tracks::TrackEvents events_;
  ChromeTracks tracks_;
  OpenEvents stacks_;
  OpenEvents async_;
  UnknownThreads unknown_threads_;
  FlowBinder flows_;
  TraceFacts facts_;
  ImportReport report_;
  std::array<std::unique_ptr<TableBinding>, kChromeTableCount> bindings_;
  std::array<ChromeSchema, kChromeTableCount> schemas_{};
  std::unique_ptr<Schema> counter_schema_;
  std::unique_ptr<Schema> flow_schema_;
  ChromeSchema counters_;
  std::vector<BoundValue> with_category_;
  std::unordered_map<std::uint64_t, std::vector<BoundValue>> collectives_;  // by the operator's External id
  tracks::KernelWork work_{[this](StringId id) { return vocabulary_.strings.text(id); },
                           [this](std::string_view text) { return vocabulary_.strings.intern(text).id; }};
  std::vector<std::uint32_t> kernel_tracks_;                               // that may have work
  std::unordered_map<StringId, bool> may_have_work_;                       // operators by name
  std::unordered_map<StringId, tracks::KernelPart> parts_;                 // kernels by name
  std::map<std::array<StringId, 4>, tracks::KernelWork::Operator> works_;  // by name, shapes, types and values
  EventBatch end_batch_;                                                   // the values of an end's args
  std::int64_t first_ns_ = 0;
  std::int64_t last_ns_ = 0;
  bool any_time_ = false;
  bool any_memory_address_ = false;
  bool any_memory_ = false;
  bool any_on_device_ = false;
  bool any_runtime_ = false;
  Counts counts_;
};

struct ChromeReading {
  std::size_t window_bytes = 1U << 20;  // a window and what is made of it fit into a core's cache
  unsigned threads = 0;                 // 0: as many as the machine has, at most 4
};
Result<void> import_chrome_json(std::unique_ptr<json::ByteSource> bytes, const std::string& name,
                                const ImportOptions& options, EventSink& sink, const ChromeReading& reading);

}  // namespace accelscope::capture::sources::chrome
