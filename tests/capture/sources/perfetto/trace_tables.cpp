#include "tests/capture/sources/perfetto/trace_tables.h"

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <simdjson.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <set>

#include "capture/json/json_cursor.h"
#include "core/chunk/chunk_view.h"

namespace accelscope::capture::perfetto_conformance {
namespace {

constexpr const char* kTraceTables = R"(
create table process(id integer, upid integer, pid integer, name text, machine_id integer, arg_set_id integer);
create table thread(id integer, utid integer, tid integer, name text, upid integer, is_main_thread integer,
                    machine_id integer, arg_set_id integer);
create table track(id integer, name text, type text, parent_id integer, utid integer, upid integer, unit text,
                   description text, gpu_id integer, machine_id integer, source_arg_set_id integer,
                   dimension_arg_set_id integer, place integer, ordering text, rank integer, kind text);
create table slice(id integer, slice_id integer, ts integer, dur integer, name text, category text, depth integer,
                   parent_id integer, track_id integer, arg_set_id integer, thread_ts integer, thread_dur integer,
                   thread_instruction_count integer, thread_instruction_delta integer, type text, kind text);
create table state(id integer, ts integer, dur integer, category text, value text, track_id integer, arg_set_id integer);
create table counter(id integer, ts integer, value real, track_id integer, arg_set_id integer);
create table flow(id integer, slice_out integer, slice_in integer, trace_id integer, arg_set_id integer);
create table args(id integer, arg_set_id integer, flat_key text, key text, int_value integer, string_value text,
                  real_value real, value_type text, display_value text);
create table stats(name text, idx integer, value integer);
create table gpu(id integer, gpu integer, name text, vendor text, model text, arg_set_id integer);
create table gpu_counter_group(group_id integer, name text, description text, track_id integer);
create view thread_track as select * from track where utid is not null and kind = 'slices';
create view process_track as select * from track where utid is null and upid is not null and kind = 'slices';
create view counter_track as select * from track where kind = 'counter';
create view process_counter_track as select * from counter_track where utid is null and upid is not null;
create view thread_counter_track as select * from counter_track where utid is not null;
create view gpu_counter_track as select * from counter_track where gpu_id is not null;
create view gpu_track as select * from track where gpu_id is not null and kind = 'slices';
create view state_track as select * from track where kind = 'state';
create view process_state_track as select * from state_track where utid is null and upid is not null;
create view thread_state_track as select * from state_track where utid is not null;
create view slices as select * from slice;
create view instant as select * from slice where dur = 0;
create view gpu_slice as select s.*, ifnull(extract_arg(s.arg_set_id, 'context_id'), 0) context_id,
  ifnull(extract_arg(s.arg_set_id, 'render_target'), 0) render_target, null render_target_name,
  ifnull(extract_arg(s.arg_set_id, 'render_pass'), 0) render_pass, null render_pass_name,
  ifnull(extract_arg(s.arg_set_id, 'command_buffer'), 0) command_buffer, null command_buffer_name,
  ifnull(extract_arg(s.arg_set_id, 'submission_id'), 0) submission_id,
  extract_arg(t.source_arg_set_id, 'hw_queue_id') hw_queue_id, null render_subpasses
  from slice s join track t on s.track_id = t.id where t.gpu_id is not null;
create view thread_or_process_slice as select s.*, th.name thread_name, th.tid tid, p.name process_name, p.pid pid
  from slice s join track t on s.track_id = t.id left join thread th on t.utid = th.utid
  left join process p on p.upid = ifnull(th.upid, t.upid) where t.type not like 'legacy_async%';
create view _track_event_tracks_ordered_groups as select cast(t.id as text) track_ids, t.name name,
  t.description description, t.parent_id parent_id,
  (select count(*) from track o where o.parent_id is t.parent_id and o.kind is not 'counter' and o.place <= t.place)
  order_id from track t where t.place is not null and t.utid is null;
)";

void extract_arg(sqlite3_context* context, int /*count*/, sqlite3_value** values) {
  sqlite3* const database = sqlite3_context_db_handle(context);
  sqlite3_stmt* statement = nullptr;
  sqlite3_prepare_v2(database,
                     "select coalesce(int_value, string_value, real_value) from args where arg_set_id = ? and "
                     "(flat_key = ? or key = ?)",
                     -1, &statement, nullptr);
  sqlite3_bind_value(statement, 1, values[0]);
  sqlite3_bind_value(statement, 2, values[1]);
  sqlite3_bind_value(statement, 3, values[1]);
  if (sqlite3_step(statement) == SQLITE_ROW) {
    sqlite3_result_value(context, sqlite3_column_value(statement, 0));
  } else {
    sqlite3_result_null(context);
  }
  sqlite3_finalize(statement);
}

std::string quoted(const std::string& text) {
  std::string out = "'";
  for (const char letter : text) out += letter == '\'' ? std::string("''") : std::string(1, letter);
  return out + "'";
}
std::string quoted_or_null(const std::string& text) { return text.empty() ? "null" : quoted(text); }
std::string number_or_null(const std::optional<std::int64_t>& number) {
  return number ? std::to_string(*number) : "null";
}

// One event with its columns.
struct Row {
  const RecordingSink& sink;
  const RecordedEvent& event;
  const Schema& schema;
  ChunkView view;
  Row(const RecordingSink& of, const RecordedEvent& recorded)
      : sink(of), event(recorded), schema(of.schema_of(recorded)), view(of.view(recorded)) {}

  [[nodiscard]] bool has(std::size_t column) const { return view.has_value(column, event.row); }
  [[nodiscard]] std::optional<std::int64_t> number(std::string_view name) const {
    const auto column = schema.find(name);
    if (!column || !has(*column)) return std::nullopt;
    return number(*column);
  }
  [[nodiscard]] std::int64_t number(std::size_t column) const {
    const std::uint64_t stored = view.stored(column, event.row);
    const bool is_signed = schema.columns[column].type == ColumnType::int64;
    return static_cast<std::int64_t>(is_signed ? stored ^ (std::uint64_t{1} << 63) : stored);
  }
  [[nodiscard]] std::string text(std::string_view name) const {
    const auto column = schema.find(name);
    return column && has(*column) ? text(*column) : std::string{};
  }
  [[nodiscard]] std::string text(std::size_t column) const {
    if (schema.columns[column].type == ColumnType::text) return std::string(view.text(column, event.row));
    return sink.strings.at(view.stored(column, event.row));
  }
  [[nodiscard]] EventId id() const {
    return make_event_id(event.lane, sink.chunks[event.chunk].first_ordinal() + event.row);
  }
};

class Filler {
 public:
  Filler(const RecordingSink& sink, const std::string& json, std::string& sql) : sink_(sink), json_(json), sql_(sql) {
    events_ = sink.events();
  }
  void fill() {
    add_processes();
    add_tracks();
    add_queues();
    add_slices();
    add_flows();
    add_stats();
  }

 private:
  struct TrackRow {
    std::int64_t id = 0;
    std::string kind;
    TrackNumber row = kNone;
  };
  [[nodiscard]] bool is_table(const Row& row, std::string_view name) const {
    return row.schema.kind == EventKind::table && row.schema.name == name;
  }
  std::int64_t new_set() { return ++sets_; }
  void add_argument(std::int64_t set, const std::string& key, const std::string& flat, const std::string& columns,
                    const std::string& values) {
    sql_ += fmt::format("insert into args(id, arg_set_id, flat_key, key, {}) values({}, {}, {}, {}, {});\n", columns,
                        arguments_++, set, quoted(flat), quoted(key), values);
  }
  void add_number(std::int64_t set, const std::string& key, std::int64_t value) {
    add_argument(set, key, key, "int_value, value_type, display_value", fmt::format("{}, 'int', '{}'", value, value));
  }
  void add_text(std::int64_t set, const std::string& key, const std::string& value) {
    add_argument(set, key, key, "string_value, value_type, display_value",
                 fmt::format("{}, 'string', {}", quoted(value), quoted(value)));
  }
  void add_json(std::int64_t set, const std::string& key, const std::string& flat, const json::JsonField& field);
  void add_processes();
  void add_json_processes();
  void add_tracks();
  void add_track(std::int64_t id, const std::string& name, const std::string& type, const std::string& kind,
                 const Track* track, const std::optional<std::int64_t>& upid, const std::optional<std::int64_t>& utid);
  void add_arguments(const Row& row, std::int64_t set, bool on_device);
  void add_queues();
  void add_slices();
  void add_flows();
  void add_stats();

  const RecordingSink& sink_;
  std::string json_;
  std::string& sql_;
  std::vector<RecordedEvent> events_;
  std::map<std::int64_t, std::int64_t> upids_;  // by the number of the process; of JSON, its pid
  std::map<std::int64_t, std::int64_t> pids_;
  std::map<std::int64_t, std::int64_t> utids_;  // by the number of the thread
  struct JsonThread {
    std::int64_t pid = 0;
    std::int64_t tid = 0;
    std::string name;
    std::int64_t utid = 0;
  };
  std::vector<JsonThread> json_threads_;
  std::int64_t next_process_ = 1;
  std::map<TrackNumber, TrackRow> tracks_;
  std::map<EventId, std::int64_t> slice_ids_;
  std::int64_t next_track_ = 0;
  std::int64_t sets_ = 0;
  std::int64_t arguments_ = 0;
};

void Filler::add_json(std::int64_t set, const std::string& key, const std::string& flat, const json::JsonField& field) {
  switch (field.kind) {
    case json::JsonKind::object:
      (void)json::each_member(field.text, [&](const json::JsonField& member) {
        const std::string name(member.key);
        add_json(set, key + "." + name, flat + "." + name, member);
        return true;
      });
      return;
    case json::JsonKind::array: {
      std::size_t index = 0;
      simdjson::dom::parser parser;
      simdjson::dom::element element;
      if (parser.parse(std::string(field.text)).get(element) != simdjson::SUCCESS) return;
      for (const simdjson::dom::element item : element.get_array()) {
        const std::string text = simdjson::to_string(item);
        std::string_view word;
        json::JsonField inner{"", text, json::JsonKind::number};
        if (item.is_object()) inner.kind = json::JsonKind::object;
        if (item.is_array()) inner.kind = json::JsonKind::array;
        if (item.is_bool()) inner.kind = json::JsonKind::boolean;
        if (item.get(word) == simdjson::SUCCESS) inner = {"", word, json::JsonKind::string};
        add_json(set, fmt::format("{}[{}]", key, index++), flat, inner);
      }
      return;
    }
    case json::JsonKind::number:
      if (const auto whole = json::to_int64(field)) {
        return add_argument(set, key, flat, "int_value, value_type, display_value",
                            fmt::format("{}, 'int', '{}'", *whole, *whole));
      }
      return add_argument(set, key, flat, "real_value, value_type", fmt::format("{}, 'real'", field.text));
    case json::JsonKind::boolean:
      return add_argument(set, key, flat, "int_value, value_type",
                          fmt::format("{}, 'bool'", field.text == "true" ? 1 : 0));
    case json::JsonKind::null:
      return;
    default:
      return add_argument(
          set, key, flat, "string_value, value_type, display_value",
          fmt::format("{}, 'string', {}", quoted(std::string(field.text)), quoted(std::string(field.text))));
  }
}

void Filler::add_processes() {
  sql_ += "insert into process(id, upid, pid) values(0, 0, 0);\n";
  sql_ += "insert into thread values(0, 0, 0, 'swapper', 0, 1, null, null);\n";
  if (!json_.empty()) upids_[0] = 0;
  if (!json_.empty()) return add_json_processes();
  for (const RecordedEvent& event : events_) {
    const Row row(sink_, event);
    if (!is_table(row, "process")) continue;
    const std::int64_t machine = row.number("machine").value_or(0);
    const std::int64_t pid = row.number("pid").value_or(0);
    const std::int64_t number = row.number("number").value_or(0);
    if (pid == 0 && machine == 0) {
      upids_[number] = 0;
      continue;
    }
    const auto upid = next_process_++;
    upids_[number] = upid;
    pids_[number] = pid;
    const std::int64_t set = new_set();
    if (const auto order = row.number("sort_index")) add_number(set, "process_sort_index_hint", *order);
    if (!row.text("host_app_package_name").empty()) {
      add_text(set, "chrome.host_app_package_name", row.text("host_app_package_name"));
    }
    sql_ += fmt::format("insert into process values({}, {}, {}, {}, {}, {});\n", upid, upid, pid,
                        quoted_or_null(event.name), machine == 0 ? "null" : std::to_string(machine), set);
  }
  // Every process has a main thread, whether the trace tells of it or not.
  std::int64_t next = 1;
  const auto add = [&](std::int64_t tid, const std::string& name, std::int64_t upid, bool is_main, std::int64_t machine,
                       std::int64_t set) {
    sql_ +=
        fmt::format("insert into thread values({}, {}, {}, {}, {}, {}, {}, {});\n", next, next, tid,
                    quoted_or_null(name), upid, is_main ? 1 : 0, machine == 0 ? "null" : std::to_string(machine), set);
    return next++;
  };
  std::set<std::int64_t> with_main;
  for (const RecordedEvent& event : events_) {
    const Row row(sink_, event);
    if (is_table(row, "thread") && row.number("tid") == row.number("pid")) {
      with_main.insert(row.number("process_number").value_or(0));
    }
  }
  for (const auto& [number, pid] : pids_) {
    if (!with_main.contains(number)) add(pid, "", upids_[number], true, 0, new_set());
  }
  for (const RecordedEvent& event : events_) {
    const Row row(sink_, event);
    if (!is_table(row, "thread")) continue;
    const std::int64_t tid = row.number("tid").value_or(0);
    const std::int64_t set = new_set();
    if (const auto order = row.number("sort_index")) add_number(set, "thread_sort_index_hint", *order);
    utids_[row.number("number").value_or(0)] = add(tid, event.name, upids_[row.number("process_number").value_or(0)],
                                                   tid == row.number("pid"), row.number("machine").value_or(0), set);
  }
}

// A JSON trace has no such tables: its own rows say what its processes and threads are.
void Filler::add_json_processes() {
  std::map<std::int64_t, std::string> process_names;
  std::map<std::pair<std::int64_t, std::int64_t>, std::string> thread_names;
  std::map<std::int64_t, std::int64_t> process_orders;
  std::map<std::pair<std::int64_t, std::int64_t>, std::int64_t> thread_orders;
  std::vector<std::int64_t> pids;
  std::vector<std::pair<std::int64_t, std::int64_t>> tids;
  simdjson::dom::parser parser;
  simdjson::dom::element document;
  if (parser.parse(json_).get(document) != simdjson::SUCCESS) return;
  simdjson::dom::array rows;
  if (document.get(rows) != simdjson::SUCCESS && document["traceEvents"].get(rows) != simdjson::SUCCESS) return;
  const auto number = [](simdjson::dom::element row, const char* key) -> std::optional<std::int64_t> {
    std::int64_t value = 0;
    std::string_view text;
    if (row[key].get(value) == simdjson::SUCCESS) return value;
    if (row[key].get(text) != simdjson::SUCCESS) return std::nullopt;
    return json::to_int64({"", text, json::JsonKind::string});
  };
  for (const simdjson::dom::element row : rows) {
    const std::int64_t pid = number(row, "pid").value_or(number(row, "tid").value_or(0));
    const std::int64_t tid = number(row, "tid").value_or(pid);
    if (std::find(pids.begin(), pids.end(), pid) == pids.end()) pids.push_back(pid);
    std::string_view name;
    std::string_view value;
    if (row["name"].get(name) != simdjson::SUCCESS) name = {};
    if (row["args"]["name"].get(value) != simdjson::SUCCESS) value = {};
    const bool of_process = name.starts_with("process_");
    if (!of_process && std::find(tids.begin(), tids.end(), std::pair{pid, tid}) == tids.end())
      tids.emplace_back(pid, tid);
    if (name == "process_name") process_names[pid] = value;
    if (name == "thread_name") thread_names[{pid, tid}] = value;
    std::int64_t order = 0;
    if (row["args"]["sort_index"].get(order) == simdjson::SUCCESS) {
      if (of_process) process_orders[pid] = order;
      if (!of_process) thread_orders[{pid, tid}] = order;
    }
  }
  for (const std::int64_t pid : pids) {
    if (std::find(tids.begin(), tids.end(), std::pair{pid, pid}) == tids.end()) tids.emplace_back(pid, pid);
    if (pid == 0) continue;
    const auto upid = next_process_++;
    upids_[pid] = upid;
    const std::int64_t set = new_set();
    if (process_orders.contains(pid)) add_number(set, "process_sort_index_hint", process_orders[pid]);
    sql_ += fmt::format("insert into process values({}, {}, {}, {}, null, {});\n", upid, upid, pid,
                        quoted_or_null(process_names[pid]), set);
  }
  std::int64_t utid = 1;
  for (const auto& [pid, tid] : tids) {
    const std::int64_t set = new_set();
    if (thread_orders.contains({pid, tid})) add_number(set, "thread_sort_index_hint", thread_orders[{pid, tid}]);
    const bool swapper = pid == 0 && tid == 0;
    json_threads_.push_back({pid, tid, thread_names[{pid, tid}], swapper ? 0 : utid});
    if (swapper) {
      sql_ += "update thread set name = null where utid = 0;\n";
      continue;
    }
    sql_ += fmt::format("insert into thread values({}, {}, {}, {}, {}, {}, null, {});\n", utid, utid, tid,
                        quoted_or_null(thread_names[{pid, tid}]), upids_[pid], pid == tid ? 1 : 0, set);
    ++utid;
  }
}

// As Perfetto names it.
std::string perfetto_unit(const std::string& unit) { return unit == "B" ? "bytes" : unit; }

void Filler::add_track(std::int64_t id, const std::string& name, const std::string& type, const std::string& kind,
                       const Track* track, const std::optional<std::int64_t>& upid,
                       const std::optional<std::int64_t>& utid) {
  std::optional<std::int64_t> gpu;
  if (track != nullptr && track->device.starts_with("GPU ")) gpu = std::stoll(track->device.substr(4));
  const std::string unit = perfetto_unit(track == nullptr ? "" : track->unit);
  sql_ += fmt::format(
      "insert into track(id, name, type, utid, upid, unit, gpu_id, place, kind) values({}, {}, {}, {}, {}, {}, {}, {}, "
      "{});\n",
      id, quoted_or_null(name), quoted_or_null(type), number_or_null(utid), number_or_null(utid ? std::nullopt : upid),
      quoted_or_null(unit), number_or_null(gpu), track == nullptr ? "null" : std::to_string(track->order),
      quoted(kind));
}

void Filler::add_tracks() {
  // Tracks that the trace describes: one for all their rows, and one for all those that share a row.
  std::map<std::uint64_t, std::int64_t> by_uuid;
  std::map<std::int64_t, std::int64_t> by_row;
  std::map<std::int64_t, std::uint64_t> parents;
  for (const RecordedEvent& event : events_) {
    const Row row(sink_, event);
    if (!is_table(row, "track_descriptor")) continue;
    const auto uuid = static_cast<std::uint64_t>(row.number("uuid").value_or(0));
    const std::optional<std::int64_t> of_row = row.number("row");
    const bool first = !by_uuid.contains(uuid);
    std::int64_t id = 0;
    if (!first) {
      id = by_uuid[uuid];
    } else if (of_row && by_row.contains(*of_row)) {
      by_uuid[uuid] = by_row[*of_row];
      continue;
    } else {
      id = next_track_++;
    }
    by_uuid[uuid] = id;
    const Track* const track = of_row ? &sink_.tracks.at(static_cast<TrackNumber>(*of_row)) : nullptr;
    const std::string kind = row.text("kind");
    const std::string table_kind = kind == "counter" || kind == "state" ? kind : "slices";
    if (of_row) {
      by_row[*of_row] = id;
      const bool is_state = track->schema != kNone && sink_.schemas.at(track->schema).name == "thread_state";
      tracks_[static_cast<TrackNumber>(*of_row)] = {id, is_state ? "state" : table_kind,
                                                    static_cast<TrackNumber>(*of_row)};
    }
    if (!first) {
      continue;
    }
    const std::int64_t machine = row.number("machine").value_or(0);
    const std::optional<std::int64_t> pid = row.number("pid");
    const std::optional<std::int64_t> tid = row.number("tid");
    std::optional<std::int64_t> upid;
    std::optional<std::int64_t> utid;
    if (pid) upid = upids_[row.number("process_number").value_or(0)];
    if (pid && tid) utid = utids_[row.number("thread_number").value_or(0)];
    std::string name = event.name;
    if (uuid == 0 && name.empty()) name = "Default Track";
    // Slices on tracks within a thread are not the thread's own.
    if (kind == "slices") {
      upid = utid ? upid : upid;
      utid.reset();
    }
    const bool is_own = kind == "process" || kind == "thread";
    add_track(id, is_own ? "" : name, "", table_kind, track, upid, utid);
    const std::int64_t set = new_set();
    const auto text = [&](const char* column) {
      if (!row.text(column).empty()) add_text(set, column, row.text(column));
    };
    text("description");
    text("child_ordering");
    if (row.number("first_packet")) add_number(set, "has_first_packet_on_sequence", 1);
    if (const auto rank = row.number("sibling_order_rank")) add_number(set, "sibling_order_rank", *rank);
    sql_ += fmt::format(
        "update track set source_arg_set_id = {}, description = {}, machine_id = {}, unit = {}, place = {} where id = "
        "{};\n",
        set, quoted_or_null(row.text("description")), machine == 0 ? "null" : std::to_string(machine),
        quoted_or_null(perfetto_unit(row.text("unit"))), number_or_null(row.number("place")), id);
    if (const auto parent = row.number("parent_uuid")) parents[id] = static_cast<std::uint64_t>(*parent);
  }
  for (const auto& [id, parent] : parents) {
    if (by_uuid.contains(parent)) {
      sql_ += fmt::format("update track set parent_id = {} where id = {};\n", by_uuid[parent], id);
    }
  }
  // And all other rows.
  for (const auto& [number, track] : sink_.tracks) {
    if (tracks_.contains(number) || track.schema == kNone) continue;
    const Schema& schema = sink_.schemas.at(track.schema);
    if (schema.kind == EventKind::table || schema.kind == EventKind::flow) continue;
    if (json_.empty() && track.device.empty()) continue;
    const bool is_counter = schema.kind == EventKind::counter;
    std::optional<std::int64_t> upid;
    std::optional<std::int64_t> utid;
    std::string host = track.host;
    const auto digits = [](std::string_view text) -> std::optional<std::int64_t> {
      std::int64_t value = 0;
      const auto [end, wrong] = std::from_chars(text.data(), text.data() + text.size(), value);
      if (wrong != std::errc() || end != text.data() + text.size()) return std::nullopt;
      return value;
    };
    std::optional<std::int64_t> pid;
    if (host.starts_with("process ")) pid = digits(std::string_view(host).substr(8));
    if (host.ends_with(")"))
      pid = digits(std::string_view(host).substr(host.rfind('(') + 1, host.size() - host.rfind('(') - 2));
    if (pid && upids_.contains(*pid)) upid = upids_[*pid];
    for (const JsonThread& thread : json_threads_) {
      const std::string plain = fmt::format("thread {}", thread.tid);
      const bool named = !thread.name.empty() && track.name.starts_with(thread.name);
      const bool whole = thread.tid == thread.pid && (track.name == "whole trace" || track.name == "Main thread");
      const bool of_process = pid ? thread.pid == *pid : host.empty() && thread.pid == 0;
      if (of_process && !is_counter && (named || whole || track.name == plain || track.name.starts_with(plain + " "))) {
        utid = thread.utid;
      }
    }
    std::int64_t id = next_track_++;
    tracks_[number] = {id, is_counter ? "counter" : "slices", number};
    const bool asynchronous = track.name.starts_with("asynchronous");
    const std::string type = track.name == "gpufreq" ? "gpu_frequency"
                             : json_.empty()         ? "gpu_render_stage"
                             : asynchronous          ? "legacy_async_slice"
                                                     : "thread_execution";
    add_track(id, track.name, type, is_counter ? "counter" : "slices", &track, upid, utid);
  }
}

void Filler::add_queues() {
  for (const RecordedEvent& event : events_) {
    const Row row(sink_, event);
    if (is_table(row, "gpu_queue")) {
      const auto track = tracks_.find(static_cast<TrackNumber>(row.number("row").value_or(0)));
      if (track == tracks_.end()) continue;
      const std::int64_t set = new_set();
      add_number(set, "hw_queue_id", row.number("number").value_or(0));
      sql_ += fmt::format("update track set description = {}, source_arg_set_id = {} where id = {};\n",
                          quoted_or_null(row.text("description")), set, track->second.id);
    }
    if (is_table(row, "gpu_counter_group")) {
      const auto track = tracks_.find(static_cast<TrackNumber>(row.number("row").value_or(0)));
      if (track == tracks_.end()) continue;
      sql_ += fmt::format("insert into gpu_counter_group values({}, {}, {}, {});\n", row.number("group_id").value_or(0),
                          quoted_or_null(event.name), quoted_or_null(row.text("description")), track->second.id);
    }
  }
}

void Filler::add_arguments(const Row& row, std::int64_t set, bool on_device) {
  struct Renamed {
    std::string_view column;
    std::string_view key;
  };
  constexpr Renamed kRenamed[] = {
      {"function_name", "source.function_name"},
      {"registers per thread", "registers_per_thread"},
      {"shared memory", "shared_mem_dynamic"},
      {"gpu_api", "gpu_api"},
      {"kernel_name", "kernel_name"},
      {"arch", "arch"},
      {"description", "description"},
      {"graphics_context", "context_id"},
      {"render_target", "render_target"},
      {"render_pass", "render_pass"},
      {"command_buffer", "command_buffer"},
      {"submission_id", "submission_id"},
      {"correlation_id", "correlation_id"},
      {"correlation_id_text", "correlation_id"},
      {"phase", "legacy_event.phase"},
  };
  constexpr std::string_view kNoArguments[] = {"cat",
                                               "unfinished",
                                               "thread_ts",
                                               "thread_dur",
                                               "thread_instruction_count",
                                               "thread_instruction_delta",
                                               "stage",
                                               "event_id",
                                               "pid",
                                               "Call stack",
                                               "hw_queue"};
  for (std::size_t i = 0; i < row.schema.columns.size(); ++i) {
    const Column& column = row.schema.columns[i];
    if (!row.has(i) ||
        std::find(std::begin(kNoArguments), std::end(kNoArguments), column.name) != std::end(kNoArguments))
      continue;
    if (column.name == "args") {
      (void)json::each_member(row.text(i), [&](const json::JsonField& field) {
        const std::string key = (on_device ? "" : json_.empty() ? "debug." : "args.") + std::string(field.key);
        add_json(set, key, key, field);
        return true;
      });
      continue;
    }
    if (column.name == "grid" || column.name == "block") {
      const std::string text = row.text(i);
      std::int64_t sizes[3] = {};
      std::sscanf(text.c_str(), "[%ld, %ld, %ld]", &sizes[0], &sizes[1], &sizes[2]);
      const std::string before = column.name == "grid" ? "launch.grid_size." : "launch.workgroup_size.";
      for (int axis = 0; axis < 3; ++axis) add_number(set, before + "xyz"[axis], sizes[axis]);
      continue;
    }
    if (column.name == "source_location") {
      const std::string text = row.text(i);
      const std::size_t colon = text.rfind(':');
      add_text(set, "source.file_name", text.substr(0, colon));
      if (colon != std::string::npos) add_number(set, "source.line_number", std::stoll(text.substr(colon + 1)));
      continue;
    }
    if (column.name == "log_message") {
      add_text(set, "track_event.log_message.message", row.text(i));
      continue;
    }
    std::string key;
    for (const Renamed& renamed : kRenamed) {
      if (renamed.column == column.name) key = renamed.key;
    }
    if (key.empty()) key = (on_device ? "" : json_.empty() ? "debug." : "args.") + column.name;
    switch (column.type) {
      case ColumnType::float64:
        add_argument(set, key, key, "real_value, value_type",
                     fmt::format("{}, 'real'", row.view.float64(i, row.event.row)));
        break;
      case ColumnType::string:
      case ColumnType::text: {
        const std::string text = row.text(i);
        const json::JsonKind kind = text.starts_with('{')   ? json::JsonKind::object
                                    : text.starts_with('[') ? json::JsonKind::array
                                                            : json::JsonKind::string;
        add_json(set, key, key, {"", text, kind});
        break;
      }
      default:
        add_number(set, key, row.number(i));
    }
  }
}

void Filler::add_slices() {
  struct Slice {
    const RecordedEvent* event;
    std::int64_t track;
    std::int64_t dur;
    bool state;
  };
  std::vector<Slice> all;
  std::vector<std::pair<const RecordedEvent*, std::int64_t>> samples;
  for (const RecordedEvent& event : events_) {
    const Row row(sink_, event);
    const auto track = tracks_.find(event.track);
    if (track == tracks_.end()) continue;
    if (row.schema.kind == EventKind::counter) samples.emplace_back(&event, track->second.id);
    if (row.schema.kind != EventKind::slice && row.schema.kind != EventKind::instant) continue;
    const bool unfinished = row.number("unfinished").value_or(0) != 0;
    all.push_back(
        {&event, track->second.id, unfinished ? -1 : event.end - event.start, row.schema.name == "thread_state"});
  }
  const auto length = [](const Slice& slice) { return slice.dur < 0 ? INT64_MAX : slice.dur; };
  std::stable_sort(all.begin(), all.end(), [&](const Slice& a, const Slice& b) {
    if (a.event->start != b.event->start) return a.event->start < b.event->start;
    return length(a) > length(b);
  });
  const std::int64_t trace_begin = json_.empty() ? 0 : 0;
  struct Open {
    std::int64_t start = 0;
    std::int64_t end = 0;
    std::int64_t id = 0;
  };
  std::map<std::int64_t, std::vector<Open>> stacks;
  std::int64_t id = 0;
  std::int64_t state_id = 0;
  for (const Slice& slice : all) {
    const Row row(sink_, *slice.event);
    const std::int64_t set = new_set();
    const bool on_device = !sink_.tracks.at(slice.event->track).device.empty();
    add_arguments(row, set, on_device);
    if (slice.state && json_.empty()) {
      sql_ += fmt::format("insert into state values({}, {}, {}, {}, {}, {}, {});\n", state_id++, slice.event->start,
                          slice.dur, quoted_or_null(row.text("cat")), quoted(slice.event->name), slice.track, set);
      continue;
    }
    auto& stack = stacks[slice.track];
    // Two of no duration at one time lie in each other.
    while (!stack.empty() && stack.back().end <= slice.event->start && stack.back().start != slice.event->start) {
      stack.pop_back();
    }
    // What only overlaps lies beside.
    const std::int64_t end = slice.dur < 0 ? INT64_MAX : slice.event->start + slice.dur;
    std::size_t depth = stack.size();
    while (depth > 0 && stack[depth - 1].end < end) --depth;
    slice_ids_[row.id()] = id;
    // Of JSON, in microseconds with a fraction, as it was written.
    const auto optional = [&](const char* name, const char* json_name = "") {
      const auto column = row.schema.find(json_name);
      if (json_.empty() || !column || !row.has(*column)) return number_or_null(row.number(name));
      const Column& of = row.schema.columns[*column];
      const double us = of.type == ColumnType::float64 ? row.view.float64(*column, row.event.row)
                        : of.type == ColumnType::string || of.type == ColumnType::text
                            ? std::stod(row.text(*column))
                            : static_cast<double>(row.number(*column));
      return std::to_string(static_cast<std::int64_t>(us * 1000));
    };
    sql_ += fmt::format(
        "insert into slice values({}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, null, {});\n", id, id,
        slice.event->start + trace_begin, slice.dur, quoted_or_null(slice.event->name), quoted_or_null(row.text("cat")),
        depth, depth == 0 ? "null" : std::to_string(stack[depth - 1].id), slice.track, set,
        optional("thread_ts", "tts"), optional("thread_dur", "tdur"), optional("thread_instruction_count"),
        optional("thread_instruction_delta"), quoted(row.schema.name));
    stack.push_back({slice.event->start, end, id++});
  }
  std::stable_sort(samples.begin(), samples.end(),
                   [](const auto& a, const auto& b) { return a.first->start < b.first->start; });
  std::int64_t sample = 0;
  for (const auto& [event, track] : samples) {
    const Row row(sink_, *event);
    sql_ += fmt::format("insert into counter values({}, {}, {}, {}, null);\n", sample++, event->start,
                        row.view.float64(0, event->row), track);
  }
}

void Filler::add_flows() {
  std::int64_t id = 0;
  for (const RecordedEvent& event : events_) {
    const Row row(sink_, event);
    if (row.schema.kind != EventKind::flow) continue;
    const auto source = slice_ids_.find(static_cast<EventId>(row.number("source_event").value_or(0)));
    const auto target = slice_ids_.find(static_cast<EventId>(row.number("target_event").value_or(0)));
    if (source == slice_ids_.end() || target == slice_ids_.end()) continue;
    sql_ += fmt::format("insert into flow values({}, {}, {}, null, null);\n", id++, source->second, target->second);
  }
}

void Filler::add_stats() {
  // What Perfetto counts, and where the quality report says the same.
  struct Counted {
    const char* stat;
    const char* kind;
    const char* words;
  };
  constexpr Counted kCounted[] = {
      {"gpu_counters_missing_timestamp", "bad_counter", "without a time"},
      {"track_event_invalid_timestamp", "rows_skipped", "out of range"},
      {"track_event_parser_errors", "rows_skipped", "on a track that"},
      {"slice_drop_overlapping_complete_event", "too_many_overlaps", ""},
      {"tokenizer_skipped_packets", "rows_skipped", "what they refer to"},
  };
  for (const Counted& counted : kCounted) {
    std::uint64_t count = 0;
    for (const QualityEntry& entry : sink_.qualities) {
      if (entry.kind == counted.kind && entry.detail.find(counted.words) != std::string::npos) count += entry.count;
    }
    sql_ += fmt::format("insert into stats values('{}', null, {});\n", counted.stat, count);
  }
  std::uint64_t beside = 0;  // slices that only overlap another of their row
  for (const auto& [number, lane] : sink_.lanes) beside += lane.depth > 0 && !json_.empty() ? 1U : 0U;
  sql_ += fmt::format("insert into stats values('slice_spill_overlapping_complete_event', null, {});\n", beside);
  for (const RecordedEvent& event : events_) {
    const Row row(sink_, event);
    if (is_table(row, "gpu")) {
      const std::int64_t set = new_set();
      (void)json::each_member(row.text("extra"), [&](const json::JsonField& field) {
        add_text(set, std::string(field.key), std::string(field.text));
        return true;
      });
      const std::int64_t number = row.number("gpu").value_or(0);
      sql_ +=
          fmt::format("insert into gpu values({}, {}, {}, {}, {}, {});\n", number, number, quoted_or_null(event.name),
                      quoted_or_null(row.text("vendor")), quoted_or_null(row.text("model")), set);
    }
  }
}

std::string as_csv(sqlite3_stmt* statement, int column) {
  switch (sqlite3_column_type(statement, column)) {
    case SQLITE_NULL:
      return "\"[NULL]\"";
    case SQLITE_INTEGER:
      return std::to_string(sqlite3_column_int64(statement, column));
    case SQLITE_FLOAT:
      return fmt::format("{:.6f}", sqlite3_column_double(statement, column));
    default:
      return fmt::format("\"{}\"", reinterpret_cast<const char*>(sqlite3_column_text(statement, column)));
  }
}

}  // namespace

TraceTables::TraceTables(const RecordingSink& sink, const std::string& json) {
  REQUIRE(sqlite3_open(":memory:", &database_) == SQLITE_OK);
  sqlite3_create_function(database_, "extract_arg", 2, SQLITE_UTF8, nullptr, extract_arg, nullptr, nullptr);
  execute(kTraceTables);
  std::string sql;
  Filler(sink, json, sql).fill();
  execute("begin;" + sql + "commit;");
}

void TraceTables::execute(const std::string& sql) const {
  char* message = nullptr;
  sqlite3_exec(database_, sql.c_str(), nullptr, nullptr, &message);
  INFO((message == nullptr ? "" : message));
  CHECK(message == nullptr);
  sqlite3_free(message);
}

TraceTables::Answer TraceTables::ask(const std::string& query) const {
  Answer answer;
  const char* rest = query.c_str();
  while (*rest != 0) {
    sqlite3_stmt* statement = nullptr;
    if (sqlite3_prepare_v2(database_, rest, -1, &statement, &rest) != SQLITE_OK) {
      answer.error = sqlite3_errmsg(database_);
      return answer;
    }
    if (statement == nullptr) break;
    while (sqlite3_step(statement) == SQLITE_ROW) {
      std::string line;
      for (int column = 0; column < sqlite3_column_count(statement); ++column) {
        if (column > 0) line += ',';
        line += as_csv(statement, column);
      }
      answer.rows.push_back(std::move(line));
    }
    sqlite3_finalize(statement);
  }
  return answer;
}

}  // namespace accelscope::capture::perfetto_conformance
