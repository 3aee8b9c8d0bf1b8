#include "capture/sources/import_input.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <deque>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "capture/sources/base/sinks.h"
#include "capture/sources/input_parts.h"
#include "capture/sources/tt_ops/columns.h"
#include "core/base/capped.h"
#include "core/base/format.h"
#include "core/base/text.h"
#include "core/chunk/chunk_view.h"
#include "core/chunk/event_sink.h"

namespace accelscope::capture::sources {
namespace {

// What operations are called, by their numbers, as an operations report of tt-metal says: a device log of the same run
// has the numbers only. Sees what the report's import hands on.
class OperationNames {
 public:
  void see(const Definition& definition);
  void see(const SealedChunk& chunk);

  // "" where the report has no such call of that device ("chip 0").
  [[nodiscard]] std::string find(const std::string& device, std::uint64_t call) const;
  [[nodiscard]] bool empty() const noexcept { return names_.empty(); }

 private:
  std::map<SchemaNumber, std::size_t> call_columns_;  // of tables of operations
  std::map<TrackNumber, std::pair<SchemaNumber, std::string>> tracks_;
  std::map<LaneNumber, TrackNumber> lanes_;
  std::map<StringId, std::string> strings_;
  std::map<std::pair<std::string, std::uint64_t>, std::string> names_;  // by device and call
};

void OperationNames::see(const Definition& definition) {
  if (const auto* schema = std::get_if<Schema>(&definition); schema != nullptr && schema->name == "op") {
    for (const std::string_view name : tt_ops::OpColumn::call_count) {
      const auto column = name.empty() ? std::nullopt : schema->find(name);
      if (column && schema->columns[*column].type == ColumnType::int64) {
        call_columns_[schema->number] = *column;
        break;
      }
    }
  }
  if (call_columns_.empty()) return;
  if (const auto* track = std::get_if<Track>(&definition); track != nullptr && call_columns_.contains(track->schema)) {
    const std::size_t chip = track->device.rfind("chip ");  // behind the label of its rank
    tracks_[track->number] = {track->schema, chip == std::string::npos ? "chip 0" : track->device.substr(chip)};
  }
  if (const auto* lane = std::get_if<Lane>(&definition); lane != nullptr && tracks_.contains(lane->track)) {
    lanes_[lane->number] = lane->track;
  }
  if (const auto* batch = std::get_if<StringBatch>(&definition)) {
    StringId id = batch->first_id;
    for (const std::string& text : batch->strings) strings_[id++] = text;
  }
}

void OperationNames::see(const SealedChunk& chunk) {
  const auto lane = lanes_.find(chunk.lane());
  if (lane == lanes_.end()) return;
  const auto& [schema, device] = tracks_.at(lane->second);
  const std::size_t column = call_columns_.at(schema);
  const Result<ChunkView> view = ChunkView::parse(chunk.bytes);
  if (!view) return;
  for (std::uint32_t row = 0; row < view->count(); ++row) {
    if (!view->has_value(column, row)) continue;
    const auto name = strings_.find(view->name(row));
    if (name == strings_.end()) continue;
    names_.try_emplace({device, static_cast<std::uint64_t>(view->int64(column, row))}, name->second);
  }
}

std::string OperationNames::find(const std::string& device, std::uint64_t call) const {
  const auto found = names_.find({device, call});
  return found == names_.end() ? std::string() : found->second;
}

// Whether an import has brought anything that can be named: an event with a name, a sample of a counter, a figure. A
// file that is read as what it is not yields rows, but nothing that anybody could call by a name.
class NameWatch {
 public:
  void see(const Definition& definition);
  void see(const SealedChunk& chunk);
  [[nodiscard]] bool found() const noexcept { return found_; }
  [[nodiscard]] std::uint64_t nameless_events() const noexcept { return nameless_; }  // none is counted once found

 private:
  bool found_ = false;
  std::uint64_t nameless_ = 0;
  std::map<SchemaNumber, EventKind> kinds_;
  std::map<TrackNumber, EventKind> tracks_;
  std::map<LaneNumber, EventKind> lanes_;
};

[[nodiscard]] bool has_named_event(const ChunkView& chunk) {
  std::array<std::uint64_t, kBlockEvents> names{};
  for (std::uint32_t block = 0; block < chunk.block_count(); ++block) {
    chunk.names(block, names.data());
    const auto end = names.begin() + chunk.block_size(block);
    if (std::any_of(names.begin(), end, [](std::uint64_t name) { return name != 0; })) return true;
  }
  return false;
}

void NameWatch::see(const Definition& definition) {
  if (found_) return;
  if (const auto* schema = std::get_if<Schema>(&definition)) kinds_[schema->number] = schema->kind;
  if (const auto* track = std::get_if<Track>(&definition); track != nullptr && kinds_.contains(track->schema)) {
    tracks_[track->number] = kinds_[track->schema];
  }
  if (const auto* lane = std::get_if<Lane>(&definition); lane != nullptr && tracks_.contains(lane->track)) {
    lanes_[lane->number] = tracks_[lane->track];
  }
  found_ = std::holds_alternative<Metric>(definition);
}

void NameWatch::see(const SealedChunk& chunk) {
  if (found_) return;
  const auto kind = lanes_.find(chunk.lane());
  const Result<ChunkView> view = ChunkView::parse(chunk.bytes);
  found_ = (kind != lanes_.end() && kind->second == EventKind::counter) || (view && has_named_event(*view));
  if (!found_) nameless_ += chunk.count();
}

namespace fs = std::filesystem;

struct Input {
  std::string path;
  bool is_folder = false;
  InputParts found;
};

// Of a file, or of the files of a folder.
[[nodiscard]] std::uint64_t bytes_of(const std::string& path) {
  std::error_code failure;
  if (!fs::is_directory(path, failure)) {
    const std::uintmax_t bytes = fs::file_size(path, failure);
    return failure ? 0 : static_cast<std::uint64_t>(bytes);
  }
  std::uint64_t all = 0;
  for (fs::directory_iterator entry(path, failure); !failure && entry != fs::directory_iterator();
       entry.increment(failure)) {
    std::error_code unknown;
    if (entry->is_regular_file(unknown)) all += static_cast<std::uint64_t>(entry->file_size(unknown));
  }
  return all;
}

[[nodiscard]] std::uint64_t bytes_of(const InputPart& part) {
  std::uint64_t all = bytes_of(part.file.path);
  for (const std::string& companion : part.companions) all += bytes_of(companion);
  return all;
}

constexpr std::string_view kOperationsReport = "tt-ops";

[[nodiscard]] bool names_others(const InputPart& part) { return part.format->name == kOperationsReport; }

// Sources that began further apart than this are of different runs, or one of their clocks is wrong.
constexpr std::int64_t kLongestRunNs = std::int64_t{24} * 3600 * 1'000'000'000;

// Knows whether what failed was the receiver, in which case going on is useless.
class WatchedSink final : public ForwardingSink {
 public:
  WatchedSink(std::unique_ptr<EventSink> next, OperationNames* operations)
      : ForwardingSink(std::move(next)), operations_(operations) {}
  Result<void> define(const Definition& definition) override {
    names_.see(definition);
    const auto* schema = std::get_if<Schema>(&definition);
    has_times_ = has_times_ || (schema != nullptr && schema->kind != EventKind::table);
    if (operations_ != nullptr) operations_->see(definition);
    return watch(ForwardingSink::define(definition));
  }
  Result<void> append(SealedChunk chunk) override {
    names_.see(chunk);
    if (operations_ != nullptr) operations_->see(chunk);
    return watch(ForwardingSink::append(std::move(chunk)));
  }
  [[nodiscard]] bool broken() const noexcept { return broken_; }
  [[nodiscard]] bool has_times() const noexcept { return has_times_; }  // else it is tables and figures
  [[nodiscard]] const NameWatch& names() const noexcept { return names_; }

 private:
  Result<void> watch(Result<void> result) {
    broken_ = broken_ || !result.ok();
    return result;
  }
  NameWatch names_;
  OperationNames* operations_;  // of one report; null: the input is none
  bool broken_ = false;
  bool has_times_ = false;
};

// What the file is rather than what the user has said. "": that is not known.
[[nodiscard]] std::string what_it_is(const InputPart& part) {
  if (!part.file.title.empty()) return fmt::format("; this is {}", part.file.title);
  return part.file.formats.empty() ? "" : fmt::format("; it looks like {}: leave --format out", part.file.name());
}

// A format that the user has forced upon a file, and that does not know it for its own.
[[nodiscard]] Result<void> check_forced(const InputPart& part, const Result<void>& done, const NameWatch& names) {
  if (std::ranges::find(part.file.formats, part.format) != part.file.formats.end()) return done;
  const std::string truth = what_it_is(part);
  if (!done) return Error{done.message() + truth};
  if (names.found() && truth.empty()) return done;
  const std::string found = names.found() ? std::string("it holds none of that format's tables")
                            : names.nameless_events() == 0
                                ? std::string("nothing of it can be read")
                                : fmt::format("{} events come out, and none has a name", names.nameless_events());
  return Error{fmt::format("{}: read as {}, {}{}", part.file.path, part.format->name, found, truth)};
}

// Whether the executions are those of the profile: by its name, that of its file or folder, or its model's number.
[[nodiscard]] bool shows_executions(const ListedExecutions& listed, const OwnSpan& span, const std::string& path) {
  const fs::path whole = fs::path(path).lexically_normal();
  const fs::path file = whole.filename().empty() ? whole.parent_path().filename() : whole.filename();
  std::string name = file.string();
  if (const std::size_t version = name.find('@'); version != std::string::npos) name.resize(version);
  if (listed.profile == span.profile || listed.profile == name || listed.profile == file.stem().string()) return true;
  return listed.model >= 0 && label_of_path(name) == fmt::format("model {}", listed.model);
}

struct PlacedProfile {
  std::int64_t first_unix_ns = 0;  // when its first event was
  std::string how;                 // in words
};

// By the device's clock where the profile's own times are of it; else at the first execution that is about as long.
[[nodiscard]] std::optional<PlacedProfile> place_profile(const ListedExecutions& listed, const OwnSpan& span) {
  constexpr double kAlike = 0.25;  // of the longer one: what the host sees begins before the device, and ends after it
  const std::int64_t length = span.last_ns - span.first_ns;
  const auto difference = [&](const ProfileExecution& execution) {
    return format_duration(std::abs(capped_difference(execution.duration_ns, length)));
  };
  for (const ProfileExecution& execution : listed.executions) {
    if (!execution.device_behind_ns) continue;
    const std::int64_t slack = execution.duration_ns / 10 + 1000;
    const std::int64_t begin = capped_sum(span.first_ns, *execution.device_behind_ns);
    if (begin < capped_difference(execution.begin_unix_ns, slack) ||
        capped_sum(begin, length) > capped_sum(capped_sum(execution.begin_unix_ns, execution.duration_ns), slack))
      continue;
    return PlacedProfile{
        begin, fmt::format("placed by the clock of the device, which the system profile states beside that of "
                           "the host; its execution there is {} longer or shorter than its own {}",
                           difference(execution), format_duration(length))};
  }
  std::size_t number = 0;
  for (const ProfileExecution& execution : listed.executions) {
    ++number;
    const auto longer = static_cast<double>(std::max(execution.duration_ns, length));
    if (static_cast<double>(std::abs(capped_difference(execution.duration_ns, length))) > kAlike * longer) continue;
    return PlacedProfile{
        execution.begin_unix_ns,
        fmt::format("placed at the begin of execution {} of {} that the system profile has of its core: it lasts {} "
                    "there and {} here, {} apart, so times may be off by that much",
                    number, listed.executions.size(), format_duration(execution.duration_ns), format_duration(length),
                    difference(execution))};
  }
  return std::nullopt;
}

class InputImport {
 public:
  InputImport(const InputOptions& options, const MakeSink& make_sink) : options_(options), make_sink_(make_sink) {}

  Result<void> run(const std::vector<RecognisedFile>& files);

 private:
  Result<void> find(const std::vector<RecognisedFile>& files);
  Result<void> import_folder(const Input& input);
  Result<void> import_file(const InputPart& part);
  Result<void> report_lost_ranks();
  Result<void> import_part(const InputPart& part);
  Result<void> import_converted(const InputPart& part, ConvertRaw& convert);
  Result<void> read_part(const InputPart& part, std::unique_ptr<EventSink> receiver);
  Result<void> report(const Input& input, const std::vector<std::string>& unreadable);
  struct Source;
  [[nodiscard]] Result<bool> follows(Source& source);
  Result<void> place_by_executions();
  Result<void> align();

  const InputOptions& options_;
  const MakeSink& make_sink_;
  std::vector<Input> inputs_;
  std::vector<std::string> lost_ranks_;  // why files that were named as ranks could not be read
  std::size_t parts_ = 0;                // of all inputs
  std::uint64_t bytes_total_ = 0;
  std::uint64_t bytes_done_ = 0;
  SharedFacts facts_;
  std::deque<OperationNames> operations_;  // of each report
  struct Source {
    Source(std::unique_ptr<EventSink> target, const InputPart& part, bool alone, SharedFacts& facts,
           OperationNames* operations)
        : sink(std::move(target), operations),
          labelled(sink, part.label, facts,
                   part.label.empty() && !alone ? std::string(part.format->name) : std::string()),
          path(part.file.path) {}
    WatchedSink sink;
    LabelledSink labelled;
    std::string path;
    bool read = false;
  };
  std::deque<Source> sources_;  // the last one is at hand
};

Result<void> InputImport::run(const std::vector<RecognisedFile>& files) {
  if (Result<void> done = find(files); !done) return done;
  for (const Input& input : inputs_) {
    const Result<void> done = input.is_folder ? import_folder(input) : import_file(input.found.parts.front());
    if (!done) return done;
  }
  if (!lost_ranks_.empty()) {
    if (Result<void> done = report_lost_ranks(); !done) return done;
  }
  return align();
}

// What is wrong with one rank of several does not spoil the others, as in a folder.
Result<void> InputImport::import_file(const InputPart& part) {
  const Result<void> done = import_part(part);
  const bool goes_on = inputs_.size() > 1 && is_rank_label(part.label) && !sources_.back().sink.broken() &&
                       !sources_.back().sink.cancelled();
  if (done || !goes_on) return done;
  lost_ranks_.push_back(done.message());
  return {};
}

Result<void> InputImport::report_lost_ranks() {
  const bool nothing_read =
      std::none_of(sources_.begin(), sources_.end(), [](const Source& source) { return source.read; });
  if (nothing_read) return Error{lost_ranks_.front()};
  for (const std::string& why : lost_ranks_) {
    const QualityEntry entry{"unreadable_input", 1, why + "; the other files were read"};
    if (Result<void> done = sources_.back().sink.define(entry); !done) return done;
  }
  return {};
}

Result<void> InputImport::find(const std::vector<RecognisedFile>& files) {
  for (const RecognisedFile& file : files) {
    InputParts found = TRY(find_input_parts(file, options_.format, options_.one_run));
    std::error_code failure;
    inputs_.push_back({file.path, fs::is_directory(file.path, failure), std::move(found)});
    for (InputPart& part : inputs_.back().found.parts) {
      // Ranks that are named one by one are told apart as well.
      if (files.size() > 1 && part.label.empty()) part.label = label_of_file(part.file, file_name(part.file.path));
      bytes_total_ += bytes_of(part);
    }
    parts_ += inputs_.back().found.parts.size();
  }
  // A report that says what others have numbers for comes first.
  for (Input& input : inputs_) {
    std::stable_partition(input.found.parts.begin(), input.found.parts.end(), names_others);
  }
  std::stable_partition(inputs_.begin(), inputs_.end(), [](const Input& input) {
    return !input.is_folder && std::any_of(input.found.parts.begin(), input.found.parts.end(), names_others);
  });
  if (files.size() == 1) return {};
  const auto all = [&] {
    std::vector<InputPart*> parts;
    for (Input& input : inputs_) {
      for (InputPart& part : input.found.parts) parts.push_back(&part);
    }
    return parts;
  };
  join_runs(all());
  for (Input& input : inputs_) {
    std::erase_if(input.found.parts, [](const InputPart& part) { return part.file.path.empty(); });
  }
  std::erase_if(inputs_, [](const Input& input) { return input.found.parts.empty(); });
  parts_ = all().size();
  share_rank(all());
  tell_apart(all());
  return {};
}

// Whether the source has a device's clock that another one has placed; its times are then those of the other.
Result<bool> InputImport::follows(Source& source) {
  for (const Source& other : sources_) {
    if (&other == &source || !other.read) continue;
    const Result<bool> shared = source.labelled.share_clocks(other.labelled);
    if (!shared || shared.value()) return shared;
  }
  return false;
}

// Profiles of devices that do not know when they began lie where another source saw their executions.
Result<void> InputImport::place_by_executions() {
  std::vector<const ListedExecutions*> listed;
  std::size_t spans = 0;
  for (const Source& source : sources_) {
    spans += source.read && source.labelled.own_span() ? 1 : 0;
    for (const ListedExecutions& each : source.labelled.executions()) listed.push_back(&each);
  }
  for (Source& source : sources_) {
    const std::optional<OwnSpan>& span = source.labelled.own_span();
    if (!source.read || !span || source.labelled.begin_unix_ns()) continue;
    const auto found = std::ranges::find_if(
        listed, [&](const ListedExecutions* each) { return shows_executions(*each, *span, source.path); });
    const ListedExecutions* const own = found != listed.end()              ? *found
                                        : spans == 1 && listed.size() == 1 ? listed.front()
                                                                           : nullptr;
    if (own == nullptr) continue;
    const std::optional<PlacedProfile> placed = place_profile(*own, *span);
    if (!placed) continue;
    TRY(source.labelled.begin_at(capped_difference(placed->first_unix_ns, span->first_ns - span->zero_ns)));
    TRY(source.labelled.define(QualityEntry{"device_clock_estimated", 1, placed->how}));
  }
  return {};
}

// Sources that say when they began are laid on one time; the others begin where the session does.
Result<void> InputImport::align() {
  TRY(place_by_executions());
  std::vector<Source*> known;
  std::size_t unknown = 0;
  for (Source& source : sources_) {
    if (!source.read) continue;
    const bool follower = TRY(follows(source));
    if (follower) continue;
    if (source.labelled.begin_unix_ns()) {
      known.push_back(&source);
    } else if (source.sink.has_times()) {
      ++unknown;
    }
  }
  if (known.size() + unknown < 2) return {};
  const auto earlier = [](const Source* a, const Source* b) {
    return *a->labelled.begin_unix_ns() < *b->labelled.begin_unix_ns();
  };
  const auto [first, last] = std::minmax_element(known.begin(), known.end(), earlier);
  const std::int64_t begin = known.empty() ? 0 : *(*first)->labelled.begin_unix_ns();
  const bool one_run = !known.empty() && *(*last)->labelled.begin_unix_ns() - begin <= kLongestRunNs;
  for (Source* source : known) {
    const std::int64_t delay = *source->labelled.begin_unix_ns() - begin;
    if (!one_run || delay == 0) continue;
    if (Result<void> done = source->labelled.delay(delay); !done) return done;
  }
  if (one_run) {  // whichever source's it was until here
    const MetaEntry earliest{"begin_unix_ns", std::to_string(begin)};
    if (Result<void> done = sources_.front().sink.define(earliest); !done) return done;
    if (unknown == 0) return {};
  }
  const QualityEntry apart{
      QualityKind("clocks_not_aligned").as(Severity::warning), one_run ? unknown : known.size() + unknown,
      one_run || known.empty()
          ? "profiles that do not say when they began are shown from their own first event: times of different ones "
            "cannot be compared"
          : "profiles that began more than a day apart are shown from their own first events; are they of one run?"};
  return sources_.back().sink.define(apart);
}

Result<void> InputImport::import_part(const InputPart& part) {
  if (ConvertRaw* const convert = part.format->converter()) return import_converted(part, *convert);
  return read_part(part, make_sink_());
}

// What a tool makes of the part is read in its place, and is gone when it was read.
Result<void> InputImport::import_converted(const InputPart& part, ConvertRaw& convert) {
  std::unique_ptr<EventSink> first = make_sink_();
  const Result<Converted> made = convert(part.file.path, options_.import, *first);
  if (!made) {
    const bool cancelled = first->cancelled();
    sources_.emplace_back(std::move(first), part, parts_ == 1, facts_, nullptr);
    return options_.format.empty() || cancelled ? made.error() : check_forced(part, made.error(), NameWatch());
  }
  const std::vector<InputPart> parts = TRY(parts_of_conversion(part, *made));
  parts_ += parts.size() - 1;
  bytes_done_ += bytes_of(part);
  for (const InputPart& each : parts) bytes_total_ += bytes_of(each);
  std::vector<QualityEntry> findings = made->findings;
  std::string failed;
  std::size_t read = 0;
  for (const InputPart& each : parts) {
    const Result<void> done = read_part(each, first == nullptr ? make_sink_() : std::move(first));
    if (!done && (sources_.back().sink.broken() || sources_.back().sink.cancelled() || parts.size() == 1)) return done;
    if (done) {
      ++read;
      continue;
    }
    if (failed.empty()) failed = done.message();
    findings.push_back({"unreadable_input", 1, done.message() + "; the other profiles of the run were read"});
  }
  if (read == 0) return Error{failed};
  LabelledSink report(sources_.back().sink, part.label, facts_);
  for (const QualityEntry& finding : findings) TRY(report.define(finding));
  if (parts.size() == 1 || inputs_.size() > 1) return {};
  return sources_.back().sink.define(MetaEntry{"name", file_name(part.file.path)});
}

Result<void> InputImport::read_part(const InputPart& part, std::unique_ptr<EventSink> receiver) {
  // Only inputs of several parts have whom to tell of them.
  const bool report = parts_ > 1 && names_others(part);
  OperationNames* const operations = report ? &operations_.emplace_back() : nullptr;
  Source& source = sources_.emplace_back(std::move(receiver), part, parts_ == 1, facts_, operations);
  WatchedSink& target = source.sink;
  ImportOptions import = options_.import;
  import.shown = part.shown;
  import.companions = part.companions;
  import.beside_others = parts_ > 1;
  import.operation_name = [this](const std::string& device, std::uint64_t call) {
    // Two reports may number their calls alike: then it is not known which one it is.
    return operations_.size() == 1 ? operations_.front().find(device, call) : std::string();
  };
  const std::uint64_t bytes = bytes_of(part);
  import.progress = [&](std::uint64_t done, std::uint64_t total) {
    if (!options_.import.progress) return;
    if (bytes_total_ == 0) return options_.import.progress(done, total);
    if (total == 0) return options_.import.progress(bytes_done_, bytes_total_);
    const double share = std::min(1.0, static_cast<double>(done) / static_cast<double>(total));
    options_.import.progress(bytes_done_ + static_cast<std::uint64_t>(share * static_cast<double>(bytes)),
                             bytes_total_);
  };
  Result<void> done = part.format->run(part.file.path, import, source.labelled);
  const bool is_named = !options_.format.empty() && part.format->name == options_.format;
  if (is_named && !target.broken() && !target.cancelled()) {
    done = check_forced(part, done, target.names());
  }
  source.read = done.ok();
  bytes_done_ += bytes;
  if (target.cancelled()) {
    return Error{fmt::format("{}: the import was cancelled", part.shown.empty() ? part.file.path : part.shown)};
  }
  return done;
}

Result<void> InputImport::import_folder(const Input& input) {
  std::vector<std::string> unreadable = input.found.unreadable;
  std::size_t read = 0;
  for (const InputPart& part : input.found.parts) {
    const Result<void> done = import_part(part);
    if (!done && (sources_.back().sink.broken() || sources_.back().sink.cancelled())) return done;
    if (done) {
      ++read;
    } else {
      unreadable.push_back(done.message());
    }
  }
  if (read == 0) return Error{unreadable.front()};
  return report(input, unreadable);
}

Result<void> InputImport::report(const Input& input, const std::vector<std::string>& unreadable) {
  const std::string name = fs::path(input.path).lexically_normal().filename().string();
  const std::string folder = name.empty() ? fs::path(input.path).parent_path().filename().string() : name;
  if (inputs_.size() == 1 && !folder.empty()) {
    if (Result<void> done = sources_.back().sink.define(MetaEntry{"name", folder}); !done) return done;
  }
  for (const std::string& why : unreadable) {
    const QualityEntry entry{"unreadable_input", 1, fmt::format("{}; what else the folder holds was read", why)};
    if (Result<void> done = sources_.back().sink.define(entry); !done) return done;
  }
  if (input.found.skipped.empty()) return {};
  const QualityEntry skipped{
      "files_skipped", input.found.skipped.size(),
      fmt::format("files in {} that are no profiles, or hold what another one holds, such as {}; name such a file "
                  "itself to read it",
                  input.path, input.found.skipped.front())};
  return sources_.back().sink.define(skipped);
}

}  // namespace

Result<void> import_input(const std::vector<RecognisedFile>& files, const InputOptions& options,
                          const MakeSink& make_sink) {
  return InputImport(options, make_sink).run(files);
}

}  // namespace accelscope::capture::sources
