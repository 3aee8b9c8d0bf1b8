#include "core/export/base/writers.h"

#include <fmt/format.h>

#include <atomic>
#include <bit>
#include <map>
#include <memory>
#include <optional>
#include <set>

#include "core/base/json.h"
#include "core/export/base/event_cells.h"
#include "core/export/base/event_pieces.h"
#include "core/export/base/export_format.h"
#include "core/export/base/flow_ends.h"
#include "core/export/base/track_groups.h"
#include "core/model/track_kinds.h"

namespace accelscope::exporting {
namespace {

// Where the events of a lane go, as JSON.
struct ChromePlace {
  std::string process;  // "\"pid\":\"GPU 0\""
  std::string thread;   // ",\"tid\":\"stream 7\""
  std::string counter;  // a counter's name, quoted
};

struct ChromePlan {
  ExportPlan events;
  FlowEnds flows;
  std::map<std::uint32_t, ChromePlace> places;  // by index into Snapshot::lanes
  std::atomic<std::uint64_t> written{0};
  std::atomic<std::uint64_t> without_value{0};
  std::atomic<std::uint64_t> beside_samples{0};
};

// A name that no other of its kind in the process has.
std::string unique_name(std::set<std::pair<std::string, std::string>>& taken, const std::string& process,
                        const std::string& name) {
  std::string unique = name;
  for (int i = 2; !taken.emplace(process, unique).second; ++i) unique = fmt::format("{} ({})", name, i);
  return unique;
}

// Chrome's keys of arguments and what of a session they come from.
struct ChromeColumns {
  explicit ChromeColumns(const Schema& schema) : category(schema.find("cat")), rest(schema.find("args")) {
    if (category && schema.columns[*category].type != ColumnType::string) category.reset();
    if (rest && schema.columns[*rest].type != ColumnType::text) rest.reset();
    const bool allocations = schema.kind == EventKind::memory && schema.find(Role::allocation);
    if (allocations) category.reset();
    for (const Column& column : schema.columns) keys.push_back(json_quote(column.name) + ":");
    table = json_quote(allocations ? kOwnChromeAllocation : schema.name);
  }
  std::optional<std::size_t> category;  // the event's own, of sessions that were read from such a trace
  std::optional<std::size_t> rest;      // JSON of what had no column
  std::vector<std::string> keys;
  std::string table;
};

class ChromePieces {
 public:
  ChromePieces(const ExportRequest& request, ChromePlan& plan)
      : plan_(plan),
        quoted_(*request.query.snapshot->strings),
        reader_(request.query, request.range),
        flows_(&plan.flows) {}

  Result<void> write(const EventPiece& piece, std::string& out);

 private:
  void add_event(const PieceEvent& event);
  void add_sample(const PieceEvent& event);
  void add_category(const PieceEvent& event, BlockReader& reader);
  void add_args(const PieceEvent& event, BlockReader& reader);
  void add_flow(const PieceEvent& event, char phase, std::uint32_t number, const ExportFlow& flow);
  void add_time(std::string_view key, std::int64_t ns) {
    *out_ += key;
    append_microseconds(*out_, ns);
  }

  ChromePlan& plan_;
  JsonStrings quoted_;
  PieceReader reader_;
  PieceFlows flows_;
  std::map<const Schema*, ChromeColumns> columns_;
  const ChromeColumns* at_ = nullptr;
  const ChromePlace* place_ = nullptr;
  const Schema* schema_ = nullptr;
  std::string* out_ = nullptr;
  std::uint64_t beside_ = 0;  // values of samples that have no place
};

Result<void> ChromePieces::write(const EventPiece& piece, std::string& out) {
  if (Result<void> opened = reader_.open(plan_.events.tracks[piece.track], piece); !opened) return opened;
  flows_.open(reader_);
  out_ = &out;
  schema_ = &reader_.schema();
  at_ = &columns_.try_emplace(schema_, *schema_).first->second;
  place_ = &plan_.places.at(piece.lane);
  const bool samples = schema_->kind == EventKind::counter;
  beside_ = 0;
  for (const PieceEvent& event : reader_.events()) samples ? add_sample(event) : add_event(event);
  plan_.beside_samples.fetch_add(beside_, std::memory_order_relaxed);
  plan_.written.fetch_add(reader_.events().size(), std::memory_order_relaxed);
  return {};
}

void ChromePieces::add_category(const PieceEvent& event, BlockReader& reader) {
  if (!at_->category) {
    *out_ += "\"cat\":";
    *out_ += at_->table;
    *out_ += ',';
    return;
  }
  const BlockValues values = reader.column(*at_->category, ColumnType::string);
  const std::uint32_t at = event.row % kBlockEvents;
  if (!values.has(at)) return;
  *out_ += "\"cat\":";
  *out_ += quoted_.quoted(static_cast<StringId>(values.values[at]));
  *out_ += ',';
}

void ChromePieces::add_event(const PieceEvent& event) {
  BlockReader& reader = reader_.at(event);
  const std::int64_t begin = reader_.ns(event.begin);
  const std::int64_t end = reader_.ns(event.end);
  const bool moment = schema_->kind != EventKind::slice && begin == end;
  *out_ += moment ? R"({"ph":"i","s":"t",)" : R"({"ph":"X",)";
  add_category(event, reader);
  *out_ += "\"name\":";
  *out_ += quoted_.quoted(reader_.name(event));
  *out_ += ',';
  *out_ += place_->process;
  *out_ += place_->thread;
  add_time(",\"ts\":", begin);
  if (!moment) add_time(",\"dur\":", end - begin);
  add_args(event, reader);
  *out_ += "},\n";
  const EventId id = reader_.id(event);
  const auto add = [&](char phase) {
    return [this, &event, phase](std::uint32_t number, const ExportFlow& flow) {
      if (flow.retained()) add_flow(event, phase, number, flow);
    };
  };
  flows_.out_of(event, id, add('s'));
  flows_.into(event, id, add('f'));
}

void ChromePieces::add_args(const PieceEvent& event, BlockReader& reader) {
  const std::uint32_t at = event.row % kBlockEvents;
  bool any = false;
  const auto begin = [&] {
    *out_ += any ? "," : ",\"args\":{";
    any = true;
  };
  for (std::size_t column = 0; column < schema_->columns.size(); ++column) {
    if (column == at_->category) continue;
    const ColumnType type = schema_->columns[column].type;
    const BlockValues values = reader.column(column, type);
    if (!values.has(at)) continue;
    if (type != ColumnType::text) {
      begin();
      *out_ += at_->keys[column];
      append_json_value(*out_, type, values.values[at], quoted_);
      continue;
    }
    const std::string_view text = reader_.text(event, column);
    if (column == at_->rest && text.size() > 2 && text.front() == '{' && text.back() == '}') {
      begin();
      *out_ += text.substr(1, text.size() - 2);
    } else {
      begin();
      *out_ += at_->keys[column];
      append_json_quoted(*out_, text);
    }
  }
  if (any) *out_ += '}';
}

// Viewers join the ends of a flow to the events of their thread at that time; what else could lie there, the arguments
// tell apart.
void ChromePieces::add_flow(const PieceEvent& event, char phase, std::uint32_t number, const ExportFlow& flow) {
  const std::int64_t begin = reader_.ns(event.begin);
  const std::int64_t end = reader_.ns(event.end);
  std::int64_t at = begin;
  // A flow that reaches an event which is under way arrives when it leaves.
  if (phase == 'f' && flow.source_begin_ns > begin && flow.source_begin_ns <= end) at = flow.source_begin_ns;
  *out_ += R"({"ph":")";
  *out_ += phase;
  *out_ += phase == 'f' ? R"(","bp":"e","id":)" : R"(","id":)";
  append_json_integer(*out_, std::uint64_t{number});
  *out_ += ",\"cat\":\"flow\",\"name\":";
  *out_ += quoted_.quoted(flow.kind);
  *out_ += ',';
  *out_ += place_->process;
  *out_ += place_->thread;
  add_time(",\"ts\":", at);
  *out_ += ",\"args\":{\"event\":";
  *out_ += quoted_.quoted(reader_.name(event));
  add_time(",\"ts\":", begin);
  add_time(",\"dur\":", end - begin);
  *out_ += "}},\n";
}

void ChromePieces::add_sample(const PieceEvent& event) {
  const std::size_t column = schema_->find(Role::value).value_or(0);
  const ColumnType type = schema_->columns[column].type;
  const std::uint32_t at = event.row % kBlockEvents;
  const BlockValues values = reader_.at(event).column(column, type);
  if (!values.has(at)) {
    plan_.without_value.fetch_add(1, std::memory_order_relaxed);
    return;
  }
  beside_ += reader_.beside(event, column);
  *out_ += R"({"ph":"C","name":)";
  *out_ += place_->counter;
  *out_ += ',';
  *out_ += place_->process;
  add_time(",\"ts\":", reader_.ns(event.begin));
  *out_ += ",\"args\":{\"value\":";
  append_json_value(*out_, type, values.values[at], quoted_);
  *out_ += "}},\n";
}

// Everything before the events, and the rows that say where they go.
class ChromeHead {
 public:
  ChromeHead(const ExportRequest& request, ChromePlan& plan)
      : request_(request), snapshot_(*request.query.snapshot), plan_(plan) {}

  std::string write() {
    out_ = "{\"displayTimeUnit\":\"ns\",\n" + json_quote(kOwnChromeKey) + ":{\"flows\":\"stated\"";
    if (const auto unix_ns = unix_begin_ns(snapshot_)) out_ += fmt::format(",\"begin_unix_ns\":{}", *unix_ns);
    out_ += "},\n\"otherData\":";
    JsonWriter facts = JsonWriter(JsonLayout::rows).begin_object();
    std::set<std::string> named;
    for (const auto& [name, value] : session_facts(snapshot_)) {
      std::string key = name;
      for (int i = 2; !named.insert(key).second; ++i) key = fmt::format("{}.{}", name, i);
      facts.add(key, value);
    }
    out_ += facts.done() + ",\n\"traceEvents\":[\n";
    place_tracks();
    add_markers();
    return std::move(out_);
  }

 private:
  void place_tracks();
  void add_markers();
  void add_metadata(std::string_view what, const std::string& place, std::string_view key, const std::string& value) {
    out_ += fmt::format("{{\"ph\":\"M\",\"name\":\"{}\",{},\"args\":{{\"{}\":{}}}}},\n", what, place, key, value);
  }

  const ExportRequest& request_;
  const Snapshot& snapshot_;
  ChromePlan& plan_;
  std::string out_;
};

void ChromeHead::place_tracks() {
  std::vector<const TrackSnapshot*> tracks;
  for (const ExportTrack& track : plan_.events.tracks) tracks.push_back(track.snapshot);
  const TrackGroups groups(tracks);
  for (std::size_t i = 0; i < groups.all().size(); ++i) {
    const std::string process = "\"pid\":" + json_quote(groups.all()[i].title);
    add_metadata("process_name", process, "name", json_quote(groups.all()[i].title));
    add_metadata("process_sort_index", process, "sort_index", std::to_string(i));
  }
  std::set<std::pair<std::string, std::string>> threads, counters;
  std::size_t order = 0;
  for (const ExportTrack& track : plan_.events.tracks) {
    const Track& of = *track.snapshot->track;
    const std::string title = groups.all()[groups.of(of)].title;
    const bool samples = track.snapshot->schema->kind == EventKind::counter;
    for (const std::uint32_t lane : track.snapshot->lanes) {
      ChromePlace place;
      place.process = "\"pid\":" + json_quote(title);
      if (samples) {
        place.counter = json_quote(unique_name(counters, title, of.name));
      } else {
        const std::string thread = unique_name(threads, title, of.name.empty() ? "track" : of.name);
        place.thread = ",\"tid\":" + json_quote(thread);
        add_metadata("thread_name", place.process + place.thread, "name", json_quote(thread));
        add_metadata("thread_sort_index", place.process + place.thread, "sort_index", std::to_string(order++));
        add_metadata("thread_words", place.process + place.thread, "words",
                     json_quote(track_description(words_of_track(of, track.snapshot->schema.get()))));
      }
      plan_.places[lane] = std::move(place);
      if (track.nested) break;  // one thread for all levels
    }
  }
}

void ChromeHead::add_markers() {
  std::size_t number = 0;
  for (const Marker& marker : request_.query.store.markers()) {
    const std::int64_t end = marker.end_ns.value_or(marker.ts_ns);
    if (!request_.range.holds(marker.ts_ns, end)) continue;
    const auto microseconds = [](std::int64_t ns) {
      std::string text;
      append_microseconds(text, ns);
      return text;
    };
    JsonWriter json;
    json.begin_object("ph", marker.end_ns ? "X" : "i");
    if (!marker.end_ns) json.add("s", "g");
    json.add("cat", "marker", "pid", "Markers", "tid", fmt::format("marker {}", ++number), "name", marker.name);
    json.add("ts", JsonValue::raw(microseconds(marker.ts_ns)));
    if (marker.end_ns) json.add("dur", JsonValue::raw(microseconds(end - marker.ts_ns)));
    json.key("args").object("note", marker.note);
    out_ += json.done() + ",\n";
  }
}

[[nodiscard]] bool has_chrome_place(const TrackSnapshot& track) {
  return track.schema->kind != EventKind::table && track.schema->kind != EventKind::flow;
}

}  // namespace

Result<ExportReport> write_chrome(const ExportRequest& request, ExportOutput& output) {
  ChromePlan plan;
  ExportPlan events = TRY(plan_export(request, has_chrome_place));
  plan.events = std::move(events);
  FlowEnds flows = TRY(FlowEnds::build(request, plan.events));
  plan.flows = std::move(flows);

  ExportReport report;
  std::string held = ChromeHead(request, plan).write();  // the last rows, whose comma may be one too many
  const auto put = [&](std::string_view bytes) -> Result<void> {
    report.bytes += bytes.size();
    return output.write(bytes);
  };
  std::vector<std::unique_ptr<ChromePieces>> writers(request.query.pool.concurrency());
  const Result<void> written = write_pieces(
      request.query, plan.events.pieces.size(),
      [&](std::size_t piece, std::size_t worker, std::string& out) -> Result<void> {
        if (!writers[worker]) writers[worker] = std::make_unique<ChromePieces>(request, plan);
        return writers[worker]->write(plan.events.pieces[piece], out);
      },
      [&](std::size_t, std::string_view bytes) -> Result<void> {
        if (bytes.empty()) return {};
        if (request.progress) request.progress(plan.written.load(std::memory_order_relaxed), plan.events.events);
        if (Result<void> done = put(held); !done) return done;
        held = bytes;
        return {};
      });
  if (!written) return written.error();
  if (held.ends_with(",\n")) held.resize(held.size() - 2);
  TRY(put(held + "\n]}\n"));

  report.rows = plan.written - plan.without_value;
  report.losses = losses_by_kind(request, {.markers = false});
  add_flow_losses(plan.flows, report.losses);
  add_sample_losses(plan.beside_samples, plan.without_value, report.losses);
  return report;
}

}  // namespace accelscope::exporting
