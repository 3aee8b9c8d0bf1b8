// A random session of NeuronCores for tests of figures: every table that they are made of, several lanes that overlap
// each other, two devices and two physical cores; and its events as plain rows, read one by one.
#pragma once

#include <doctest/doctest.h>

#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "core/chunk/session_writer.h"
#include "core/scan/chunk_scan.h"
#include "core/scan/event_reader.h"

namespace accelscope::analysis {

struct PlainRow {
  std::string table, track, device, name;
  std::int64_t begin = 0, end = 0;  // ns
  std::map<std::string, std::int64_t> numbers;
  std::map<std::string, std::string> texts;

  [[nodiscard]] std::int64_t number(const std::string& column) const {
    const auto found = numbers.find(column);
    return found == numbers.end() ? 0 : found->second;
  }
  [[nodiscard]] std::string text(const std::string& column) const {
    const auto found = texts.find(column);
    return found == texts.end() ? "" : found->second;
  }
};

class MetricsSession {
 public:
  explicit MetricsSession(std::uint32_t seed, int events_per_lane = 700, int devices = 2) : random_(seed) {
    auto created = Store::create();
    REQUIRE(created.ok());
    store = std::move(created).value();
    StoreSink sink(*store);
    SessionWriter writer(sink);
    for (const auto& [key, value] : std::map<std::string, std::string>{{"pe_clock_freq", "2.8"},
                                                                       {"pe_clock_others", "1.4"},
                                                                       {"pe_num_rows", "128"},
                                                                       {"pe_num_cols", "128"},
                                                                       {"hbm_ddr_bandwidth", "410000000000"},
                                                                       {"num_physical_cores", "2"}}) {
      writer.set_meta("metadata." + key, value);
    }
    define_schemas(writer);
    for (int device = 0; device < devices; ++device) write_device(writer, device, events_per_lane);
    REQUIRE(writer.finish().ok());
    snapshot = store->snapshot();
    read_back();
  }

  [[nodiscard]] QueryContext context() { return {*store, snapshot, pool, control}; }
  [[nodiscard]] TimeRange random_range() {
    const auto edge = [&] {
      if (random_() % 2 == 0) {  // exactly where an event begins or ends
        const PlainRow& row = rows[random_() % rows.size()];
        return random_() % 2 == 0 ? row.begin : row.end;
      }
      return static_cast<std::int64_t>(random_() % static_cast<std::uint64_t>(snapshot->end_ns));
    };
    const std::int64_t a = edge();
    const std::int64_t b = edge();
    return {std::min(a, b), std::max(a, b)};
  }

  std::unique_ptr<Store> store;
  std::shared_ptr<const Snapshot> snapshot;
  WorkerPool pool{2};
  TaskControl control;
  std::vector<PlainRow> rows;

 private:
  void define_schemas(SessionWriter& writer) {
    const auto number = [](const char* name, Role role = Role::none) {
      return Column{.name = name, .type = ColumnType::int64, .role = role};
    };
    const auto text = [](const char* name) { return Column{.name = name, .type = ColumnType::string}; };
    const auto add = [&](const char* name, EventKind kind, std::vector<Column> columns,
                         std::vector<std::string> waits = {}) {
      Schema schema;
      schema.name = name;
      schema.kind = kind;
      schema.columns = std::move(columns);
      schema.wait_names = std::move(waits);
      schemas_[name] = writer.add_schema(std::move(schema));
    };
    add("instruction", EventKind::slice,
        {text("subgroup"), text("instruction_type"), number("elements"), number("hbm_read_bytes"),
         number("sbuf_write_bytes"), Column{.name = "is_psum_read_sbuf_write", .type = ColumnType::boolean}},
        {"EVENT_SEMAPHORE"});
    add("dma", EventKind::slice,
        {text("queue_type"), number("transfer_size", Role::bytes), number("dma_queue"), number("dma_engine")});
    add("dma_transfer", EventKind::slice, {number("transfer_size", Role::bytes)});
    add("cc_op", EventKind::slice, {});
    add("throttle", EventKind::slice, {number("k"), number("n")});
    add("semaphore_update", EventKind::counter,
        {Column{.name = "value", .type = ColumnType::int64, .role = Role::value, .required = true}});
    add("neff_node", EventKind::table, {text("type"), number("size")});
  }

  TrackNumber track(SessionWriter& writer, const std::string& name, const char* kind, const char* schema, int device) {
    return writer.add_track(
        {.name = name, .kind = kind, .device = "nc" + std::to_string(device), .schema = schemas_.at(schema)});
  }

  // Walks a lane; gaps, instants and events back to back.
  template <typename Fill>
  void write_lane(SessionWriter& writer, TrackNumber track, int count, const std::vector<const char*>& names,
                  Fill fill) {
    std::int64_t at = static_cast<std::int64_t>(random_() % 500);
    for (int i = 0; i < count; ++i) {
      const auto duration = static_cast<std::int64_t>(random_() % 6 == 0 ? 0 : random_() % 90);
      Row row = writer.begin_event(track, at, duration, writer.intern(names[random_() % names.size()]));
      fill(row);
      at += duration + (random_() % 3 == 0 ? 0 : static_cast<std::int64_t>(random_() % 60));
      if (random_() % 400 == 0) writer.flush();
    }
  }

  void write_device(SessionWriter& writer, int device, int count) {
    for (const char* engine : {"Tensor", "TensorMatrix", "Vector"}) {
      const std::string of = engine == std::string("TensorMatrix") ? "Tensor" : engine;
      for (const char* core : {" (nc0)", " (nc1)"}) {
        write_lane(writer, track(writer, std::string(engine) + core, "engine", "instruction", device), count,
                   {"MATMUL", "ACTIVATE", "EVENT_SEMAPHORE", "NOP", "COPY"}, [&](Row& row) {
                     row.string(0, writer.intern(of));
                     if (random_() % 3 == 0) row.string(1, writer.intern("TRANSPOSE"));
                     row.integer(2, static_cast<std::int64_t>(random_() % 5000));
                     if (random_() % 2 == 0) row.integer(3, static_cast<std::int64_t>(random_() % 4096));
                     row.integer(4, static_cast<std::int64_t>(random_() % 100));
                     if (random_() % 4 == 0) row.boolean(5, true);
                   });
      }
    }
    for (int queue = 0; queue < 5; ++queue) {
      write_lane(writer, track(writer, "q" + std::to_string(queue), "dma_queue", "dma", device), count, {"copy"},
                 [&](Row& row) {
                   const char* types[] = {"data", "software_dynamic", "hardware_dynamic", "instruction"};
                   row.string(0, writer.intern(types[random_() % 4]));
                   row.integer(1, static_cast<std::int64_t>(random_() % 2048));
                   row.integer(2, queue / 2);
                   row.integer(3, static_cast<std::int64_t>(random_() % 3));
                 });
    }
    write_lane(writer, track(writer, "transfers", "dma_queue", "dma_transfer", device), count, {"copy"},
               [&](Row& row) { row.integer(0, static_cast<std::int64_t>(random_() % 65536)); });
    write_lane(writer, track(writer, "Collectives", "collective", "cc_op", device), count / 8, {"AllReduce"},
               [](Row&) {});
    for (const char* name : {"Throttling (nc0)", "Throttling (nc1)"}) {
      write_lane(writer, track(writer, name, "throttle", "throttle", device), count / 4, {"activity_0", "unknown"},
                 [&](Row& row) {
                   row.integer(0, static_cast<std::int64_t>(random_() % 9));
                   row.integer(1, 8);
                 });
    }
    const TrackNumber semaphore = track(writer, "S[2]", "semaphore", "semaphore_update", device);
    for (int i = 0; i < count; ++i) {
      writer.begin_event(semaphore, static_cast<std::int64_t>(i) * 37, 0, 0).integer(0, i % 5);
    }
    const TrackNumber tensors = track(writer, "Tensors", "table", "neff_node", device);
    const char* kinds[] = {"IN", "WEIGHT", "OUT", ""};
    for (int i = 0; i < 4; ++i) {
      Row row = writer.begin_event(tensors, 0, 0, writer.intern("t" + std::to_string(i)));
      row.string(0, writer.intern(kinds[i]));
      row.integer(1, 1000 << (3 * i + device));
    }
  }

  void read_back() {
    EventReader reader(*store, snapshot);
    for (const TrackSnapshot& track : snapshot->tracks) {
      for (const std::uint32_t index : track.lanes) {
        const LaneSnapshot& lane = snapshot->lanes[index];
        for (std::uint64_t ordinal = 0; ordinal < lane.event_count; ++ordinal) {
          const auto event = reader.read(make_event_id(lane.number(), ordinal));
          REQUIRE(event.ok());
          PlainRow row{lane.schema->name,
                       track.track->name,
                       track.track->device,
                       event->name_text,
                       event->begin_ns,
                       event->end_ns,
                       {},
                       {}};
          for (std::size_t c = 0; c < lane.schema->columns.size(); ++c) {
            const std::string& name = lane.schema->columns[c].name;
            const FieldValue& value = event->fields[c];
            if (const auto* whole = std::get_if<std::int64_t>(&value)) row.numbers[name] = *whole;
            if (const auto* flag = std::get_if<bool>(&value)) row.numbers[name] = *flag ? 1 : 0;
            if (const auto* text = std::get_if<std::string>(&value)) row.texts[name] = *text;
          }
          rows.push_back(std::move(row));
        }
      }
    }
  }

  std::mt19937_64 random_;
  std::map<std::string, SchemaNumber> schemas_;
};

}  // namespace accelscope::analysis
