// One import of a Chrome JSON trace: windows of the file are read on several threads, their events
// are matched and written here, in the order of the file (track_events), and at the end flows find the events that
// they join and the tracks get their names.
#pragma once

#include <array>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>

#include "capture/json/byte_source.h"
#include "capture/sources/base/import_report.h"
#include "capture/sources/base/source.h"
#include "capture/sources/chrome/read/row_reader.h"
#include "capture/sources/chrome/read/trace_facts.h"
#include "capture/sources/chrome/write/flow_binder.h"
#include "capture/sources/chrome/write/open_events.h"
#include "capture/sources/chrome/write/tracks.h"
#include "capture/sources/chrome/write/unknown_threads.h"
#include "capture/sources/tracks/held_sink.h"
#include "capture/sources/tracks/kernel_work.h"
#include "capture/sources/tracks/track_events.h"

namespace accelscope::capture::sources::chrome {

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
  void write_kept(const KeptEvent& event, bool asynchronous);
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

  // The end: chrome/finish.cpp
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

}  // namespace accelscope::capture::sources::chrome
