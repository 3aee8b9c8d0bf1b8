#include "core/export/json_tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <map>
#include <set>

#include "core/analysis/time/track_devices.h"
#include "core/base/format.h"
#include "core/base/json.h"
#include "core/export/json_row.h"
#include "core/lod/range_statistics.h"
#include "core/scan/chunk_cache.h"
#include "core/scan/event_mask.h"

namespace accelscope::exporting {
namespace {

constexpr std::size_t kMostChunksAtOnce = 8;  // texts of some ten MiB each

// The lanes of one JSON table.
struct TableLanes {
  std::string table;
  struct Lane {
    std::uint32_t index = 0;
    const RowPlan* plan = nullptr;
    std::string place;
  };
  std::vector<Lane> lanes;
};

class JsonTables {
 public:
  JsonTables(const JsonExport& request, const PutText& put)
      : request_(request), snapshot_(*request.query.snapshot), put_(put), devices_(snapshot_) {
    for (std::size_t i = 0; i < request.query.pool.concurrency(); ++i) {
      writers_.emplace_back(*snapshot_.strings, request_.forms);
    }
  }

  Result<JsonExportReport> run();

 private:
  void plan();
  void leave_out(const TrackSnapshot& track, const RowPlan& rows);
  Result<void> count_flows();
  const RowPlan& plan_of(const TrackSnapshot& track);
  TableLanes& table_named(const std::string& name);
  [[nodiscard]] std::string place_of(const TrackSnapshot& track, const RowPlan& plan) const;
  Result<void> put(std::string_view text);
  Result<void> write_facts();
  Result<void> write_table(const TableLanes& table);
  Result<void> write_batch(const TableLanes& table, const std::vector<ChunkRequest>& batch,
                           const std::vector<const TableLanes::Lane*>& lanes, bool& any);
  Result<RowFlows> flows_into(const ScannedChunk& chunk, const RowPlan& plan) const;
  void collect_flows(const ScannedChunk& chunk, const LaneSnapshot& lane, const ChunkView& view,
                     const std::unordered_map<std::uint64_t, std::uint32_t>& rows, RowFlows& flows) const;

  const JsonExport& request_;
  const Snapshot& snapshot_;
  const PutText& put_;
  const analysis::TrackDevices devices_;  // say the host where there are several
  std::deque<RowWriter> writers_;
  std::map<std::pair<const Schema*, std::string>, RowPlan> plans_;
  std::deque<TableLanes> tables_;
  std::vector<std::uint32_t> flow_lanes_;
  bool several_devices_ = false;
  bool first_table_ = true;
  std::uint64_t rows_total_ = 0;
  JsonExportReport report_;
};

Result<JsonExportReport> JsonTables::run() {
  plan();
  TRY(put("{"));
  TRY(write_facts());
  for (const TableLanes& table : tables_) {
    TRY(write_table(table));
  }
  TRY(put("}\n"));
  TRY(count_flows());
  return report_;
}

void JsonTables::plan() {
  std::set<std::string> devices;
  for (const TrackSnapshot& track : snapshot_.tracks) {
    if (track.schema != nullptr && !track.lanes.empty()) devices.insert(track.track->host + track.track->device);
  }
  several_devices_ = devices.size() > 1;
  for (const TableJson& form : request_.forms.tables) {
    if (!form.table.empty()) (void)table_named(std::string(form.table));
  }
  for (const TrackSnapshot& track : snapshot_.tracks) {
    if (track.schema == nullptr) continue;
    const RowPlan& rows = plan_of(track);
    if (track.schema->kind == EventKind::flow) {
      flow_lanes_.insert(flow_lanes_.end(), track.lanes.begin(), track.lanes.end());
    }
    if (rows.table.empty() || !track.track->name.starts_with(rows.form.track_prefix)) {
      leave_out(track, rows);
      continue;
    }
    for (const std::uint32_t lane : track.lanes) {
      table_named(rows.table).lanes.push_back({lane, &rows, place_of(track, rows)});
      const EventMask* mask = rows.timed ? request_.query.mask.get() : nullptr;
      rows_total_ += mask != nullptr ? mask->count(lane) : snapshot_.lanes[lane].event_count;
    }
  }
}

// Events of the range and the mask that have no table; flows are looked at one by one in the end.
void JsonTables::leave_out(const TrackSnapshot& track, const RowPlan& rows) {
  if (rows.form.comes_back || track.schema->kind == EventKind::flow) return;
  std::uint64_t events = 0;
  for (const std::uint32_t lane : track.lanes) {
    const LaneSnapshot& snapshot = snapshot_.lanes[lane];
    const EventMask* mask = rows.timed ? request_.query.mask.get() : nullptr;
    if (mask != nullptr) {
      events += mask->count(lane);
    } else if (!rows.timed || request_.range == TimeRange{}) {
      events += snapshot.event_count;
    } else if (const auto share = lod::lane_share(request_.query.store, snapshot_, lane, request_.range)) {
      events += share->event_count;
    }
  }
  if (events == 0) return;
  constexpr std::size_t kMostNames = 4;
  std::vector<JsonLeftOut>& all = report_.left_out;
  auto known = std::ranges::find_if(all, [&](const auto& one) { return one.schema == track.schema->name; });
  if (known == all.end()) known = all.insert(all.end(), {track.schema->name, 0, {}, rows.form.left_out});
  known->events += events;
  if (known->tracks.size() < kMostNames) known->tracks.push_back(track.track->name);
}

// Flows come as a list of their target's row. Those whose target has no such row, as of DMA packets, have no place.
Result<void> JsonTables::count_flows() {
  std::vector<std::uint64_t> flows(writers_.size());
  LaneIndices lanes;
  std::string_view meaning;
  std::string schema;
  for (const TrackSnapshot& track : snapshot_.tracks) {
    if (track.schema == nullptr || track.schema->kind != EventKind::flow) continue;
    const RowPlan& rows = plan_of(track);
    if (!rows.table.empty()) continue;
    lanes.insert(lanes.end(), track.lanes.begin(), track.lanes.end());
    meaning = rows.form.left_out;
    schema = track.schema->name;
  }
  const auto& derived = request_.forms.derived_flows;
  const Result<void> scanned =
      scan_chunks(request_.query, lanes, request_.range, [&](const ScannedChunk& chunk, std::size_t worker) {
        chunk.for_each_block([&](const ScannedBlock& block) {
          for (std::uint32_t i = block.first; i < block.last; ++i) {
            const StringId name = block.name(i);
            const bool again =
                std::find(derived.begin(), derived.end(), snapshot_.strings->text(name)) != derived.end();
            flows[worker] += again ? 0 : 1;
          }
        });
      });
  if (!scanned) return scanned;
  std::uint64_t all = 0;
  for (const std::uint64_t count : flows) all += count;
  std::uint64_t written = 0;
  for (const RowWriter& writer : writers_) written += writer.flows();
  if (all > written) report_.left_out.push_back({schema, all - written, {}, meaning});
  return {};
}

const RowPlan& JsonTables::plan_of(const TrackSnapshot& track) {
  // Rows of a table that no schema was written for come under the name that their track keeps.
  const bool is_table = track.track->kind == "table";
  const std::string name = is_table ? track.track->name : track.schema->name;
  const auto key = std::make_pair(track.schema.get(), name);
  auto found = plans_.find(key);
  if (found == plans_.end()) {
    found = plans_.emplace(key, make_row_plan(*track.schema, request_.forms, name)).first;
  }
  return found->second;
}

TableLanes& JsonTables::table_named(const std::string& name) {
  const auto found = std::ranges::find_if(tables_, [&](const TableLanes& table) { return table.table == name; });
  return found != tables_.end() ? *found : tables_.emplace_back(TableLanes{name, {}});
}

std::string JsonTables::place_of(const TrackSnapshot& track, const RowPlan& plan) const {
  std::string place;
  if (!plan.form.track_key.empty()) {
    place = json_quote(plan.form.track_key) + ":" +
            json_quote(std::string_view(track.track->name).substr(plan.form.track_prefix.size())) + ",";
  }
  if (!request_.forms.writes_places) return place;
  // A column of that name keeps it.
  const auto add = [&](const std::string& key, const std::string& value) {
    place += json_quote(track.schema->find(key) ? "on_" + key : key) + ":" + json_quote(value) + ",";
  };
  if (!plan.has_form && track.track->kind != "table") add("track", track.track->name);
  if (several_devices_ && !track.track->device.empty()) {
    const auto index = static_cast<std::size_t>(&track - snapshot_.tracks.data());
    add("device", devices_.name(devices_.of_track(index)));
  }
  return place;
}

Result<void> JsonTables::put(std::string_view text) {
  report_.bytes += text.size();
  return put_(text);
}

Result<void> JsonTables::write_facts() {
  for (const FactTable& facts : request_.forms.facts) {
    std::string text = (first_table_ ? "" : ",\n") + json_quote(facts.table) + ":[";
    for (const std::string& row : facts.rows) text += (&row == facts.rows.data() ? "\n" : ",\n") + row;
    first_table_ = false;
    report_.rows += facts.rows.size();
    if (Result<void> done = put(text + "]"); !done) return done;
  }
  return {};
}

Result<void> JsonTables::write_table(const TableLanes& table) {
  const std::size_t at_once = std::min(kMostChunksAtOnce, std::max<std::size_t>(1, writers_.size()));
  std::vector<ChunkRequest> batch;
  std::vector<const TableLanes::Lane*> lanes;
  bool any = false;
  const auto flush = [&]() -> Result<void> {
    Result<void> done = batch.empty() ? Result<void>{} : write_batch(table, batch, lanes, any);
    batch.clear();
    lanes.clear();
    return done;
  };
  for (const TableLanes::Lane& lane : table.lanes) {
    const LaneSnapshot& snapshot = snapshot_.lanes[lane.index];
    // Rows without time are in every range and pass every filter.
    const bool other_kind = !lanes.empty() && lanes.back()->plan->timed != lane.plan->timed;
    if (Result<void> done = other_kind ? flush() : Result<void>{}; !done) return done;
    const TickRange ticks = lane.plan->timed ? tick_range(snapshot, request_.range) : TickRange{};
    const ChunkSpan span = chunks_in(snapshot, ticks);
    const EventMask* mask = lane.plan->timed ? request_.query.mask.get() : nullptr;
    for (std::uint32_t chunk = span.first; chunk < span.last; ++chunk) {
      if (mask != nullptr && mask->passing_in(lane.index, snapshot.chunk(chunk)) == 0) continue;
      batch.push_back({lane.index, chunk, ticks});
      lanes.push_back(&lane);
      if (batch.size() < at_once) continue;
      if (Result<void> done = flush(); !done) return done;
    }
  }
  if (Result<void> done = flush(); !done) return done;
  return any ? put("]") : Result<void>{};
}

Result<void> JsonTables::write_batch(const TableLanes& table, const std::vector<ChunkRequest>& batch,
                                     const std::vector<const TableLanes::Lane*>& lanes, bool& any) {
  struct Text {
    std::string rows;
    std::uint64_t count = 0;
    Result<void> status;
  };
  std::vector<Text> texts(batch.size());
  QueryContext query = request_.query;
  if (!lanes.front()->plan->timed) query.mask = nullptr;
  const Result<void> scanned = scan_chunks(query, batch, [&](const ScannedChunk& chunk, std::size_t worker) {
    Text& text = texts[chunk.request];
    const TableLanes::Lane& lane = *lanes[chunk.request];
    Result<RowFlows> flows = flows_into(chunk, *lane.plan);
    if (!flows) {
      text.status = flows.error();
      return;
    }
    text.count = writers_[worker].write(chunk, *lane.plan, lane.place, *flows, text.rows);
  });
  if (!scanned) return scanned;
  for (Text& text : texts) {
    if (!text.status) return text.status;
    if (text.count == 0) continue;
    text.rows.resize(text.rows.size() - 2);  // the last ",\n"
    const std::string before = any ? ",\n" : (first_table_ ? "" : ",\n") + json_quote(table.table) + ":[\n";
    any = true;
    first_table_ = false;
    report_.rows += text.count;
    if (Result<void> done = put(before); !done) return done;
    if (Result<void> done = put(text.rows); !done) return done;
    if (request_.progress) request_.progress(report_.rows, rows_total_);
  }
  return {};
}

// A flow lies at the start of the event that depends on it, so only those of the chunk's stretch are read.
Result<RowFlows> JsonTables::flows_into(const ScannedChunk& chunk, const RowPlan& plan) const {
  RowFlows flows;
  const std::optional<std::size_t> key = chunk.lane.schema->find(Role::key);
  if (plan.form.flows_key.empty() || !key || flow_lanes_.empty()) return flows;
  std::unordered_map<std::uint64_t, std::uint32_t> rows;
  for (std::uint32_t row = 0; row < chunk.view.count(); ++row) {
    if (chunk.view.has_value(*key, row)) rows.emplace(chunk.view.stored(*key, row), row);
  }
  const TimeRange stretch{chunk.lane.clock->to_ns(chunk.place.begin_ticks),
                          chunk.lane.clock->to_ns(chunk.place.end_ticks) + 1};
  for (const std::uint32_t index : flow_lanes_) {
    const LaneSnapshot& lane = snapshot_.lanes[index];
    if (scope_of(lane.number()) != scope_of(chunk.lane.number())) continue;
    const ChunkSpan span = chunks_in(lane, tick_range(lane, stretch));
    for (std::uint32_t i = span.first; i < span.last; ++i) {
      const LoadedChunk loaded = TRY(load_chunk(request_.query.store, lane, i));
      collect_flows(chunk, lane, loaded.view, rows, flows);
    }
  }
  return flows;
}

void JsonTables::collect_flows(const ScannedChunk& chunk, const LaneSnapshot& lane, const ChunkView& view,
                               const std::unordered_map<std::uint64_t, std::uint32_t>& rows, RowFlows& flows) const {
  const std::optional<std::size_t> source = lane.schema->find(Role::flow_source);
  const std::optional<std::size_t> target = lane.schema->find(Role::flow_target);
  if (!source || !target || *source >= view.column_count() || *target >= view.column_count()) return;
  for (std::uint32_t i = 0; i < view.count(); ++i) {
    const auto row = rows.find(view.stored(*target, i));
    if (row == rows.end()) continue;
    const StringId kind = chunk.session_string(view.name(i));
    const std::string_view name = snapshot_.strings->text(kind);
    const auto& derived = request_.forms.derived_flows;
    if (std::find(derived.begin(), derived.end(), name) != derived.end()) continue;
    flows[row->second].emplace_back(view.stored(*source, i), kind);
  }
}

}  // namespace

std::vector<std::string> JsonExportReport::losses() const {
  std::vector<std::string> lines;
  std::uint64_t all = 0;
  for (const JsonLeftOut& one : left_out) {
    all += one.events;
    std::string tracks;
    for (const std::string& track : one.tracks) tracks += (tracks.empty() ? " of " : ", ") + track;
    lines.push_back(fmt::format("{}: {} events{}; {}", one.schema, format_count(one.events), tracks, one.meaning));
  }
  if (all > 0) {
    lines.insert(lines.begin(), fmt::format("{} events are not in the file: the vendor's tables have no place for them",
                                            format_count(all)));
  }
  return lines;
}

Result<JsonExportReport> export_json(const JsonExport& request, const PutText& put) {
  return JsonTables(request, put).run();
}

}  // namespace accelscope::exporting
