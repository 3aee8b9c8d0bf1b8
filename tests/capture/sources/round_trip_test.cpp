// A session that is exported and imported again: tracks, slices with their arguments, moments, samples and dependencies
// are the same. What a format has no place for, the export says; that much may be missing and nothing else.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "capture/sources/base/importers.h"
#include "capture/sources/perfetto/importer.h"
#include "core/analysis/memory/usage.h"
#include "core/chunk/session_writer.h"
#include "core/export/base/writers.h"
#include "core/export/json_tables.h"
#include "core/model/column_spec.h"
#include "tests/capture/imported.h"
#include "tests/core/export/export_session.h"

namespace accelscope::capture::round_trip {
namespace {

using test::CollectedFiles;
using test::ExportedArrow;
using test::ExportedEvent;
using test::ExportSession;

struct RoundEvent {
  std::string table;
  std::string track;
  std::string name;
  std::int64_t begin = 0;  // since the first of all
  std::int64_t end = 0;
  std::map<std::string, std::string> args;
  auto operator<=>(const RoundEvent&) const = default;
};
struct RoundSample {
  std::string track;
  std::string unit;
  std::int64_t ns = 0;
  double value = 0;
  auto operator<=>(const RoundSample&) const = default;
};

// Everything that both sessions are asked for, in order.
struct RoundContent {
  std::vector<RoundEvent> events;
  std::vector<RoundSample> samples;
  std::vector<ExportedArrow> arrows;

  void arrange() {
    std::int64_t first = INT64_MAX;
    for (const RoundEvent& event : events) first = std::min(first, event.begin);
    for (RoundEvent& event : events) {
      event.begin -= first;
      event.end -= first;
    }
    for (RoundSample& sample : samples) sample.ns -= first;
    std::sort(events.begin(), events.end());
    std::sort(samples.begin(), samples.end());
    std::sort(arrows.begin(), arrows.end());
  }
};

RoundContent content_of(const ExportSession& session) {
  const std::map<std::string, std::string> tracks = {
      {"runtime_call", "main; thread"}, {"kernel", "stream 7"}, {"mark", "marks"}};
  RoundContent content;
  for (const ExportedEvent& event : session.events) {
    content.events.push_back({event.table, tracks.at(event.table), event.name, event.begin, event.end, event.args});
  }
  for (const auto& [ns, value] : session.samples) {
    const bool real = value.find('.') != std::string::npos;
    content.samples.push_back({real ? "load" : "memory in use", real ? "%" : "B", ns, std::stod(value)});
  }
  content.arrows = session.arrows;
  content.arrange();
  return content;
}

// The columns of ExportSession as it spells their values; all others are the importer's own.
std::map<std::string, std::string> args_of(const EventValues& event) {
  std::map<std::string, std::string> args;
  if (const auto key = event.integer("key")) args["key"] = std::to_string(static_cast<std::uint64_t>(*key));
  if (const auto size = event.integer("size")) args["size"] = std::to_string(*size);
  if (const auto sync = event.integer("sync")) args["sync"] = *sync != 0 ? "true" : "false";
  if (const auto share = event.real("share")) args["share"] = std::to_string(*share);
  for (const std::string column : {"file", "note"}) {
    if (event.strings.contains(column)) args[column] = event.string(column);
  }
  return args;
}

// Of tracks that became several for events that overlap: "stream 7 (2)".
std::string without_number(const std::string& name) {
  const std::size_t open = name.rfind(" (");
  return open == std::string::npos || !name.ends_with(')') ? name : name.substr(0, open);
}

RoundContent content_of(const Imported& session) {
  RoundContent content;
  std::map<EventId, std::string> keys;
  std::set<std::string> tables;
  std::set<std::string> flows;
  std::map<std::string, std::string> units;
  for (const LaneSnapshot& lane : session.snapshot().lanes) {
    if (lane.schema->kind == EventKind::flow) flows.insert(lane.schema->name);
    if (lane.schema->kind != EventKind::flow && lane.schema->kind != EventKind::table) tables.insert(lane.schema->name);
    if (lane.schema->kind == EventKind::counter) {
      const Track& track = *session.snapshot().find_track(lane.track)->track;
      units[track.name] = track.unit;
    }
  }
  for (const std::string& table : tables) {
    for (const EventValues& event : session.events(table)) {
      if (units.contains(event.track)) {
        const auto whole = event.integer("value");
        content.samples.push_back({event.track, units[event.track], event.begin,
                                   whole ? static_cast<double>(*whole) : event.real("value").value_or(-1)});
        continue;
      }
      const std::map<std::string, std::string> args = args_of(event);
      keys[event.id] = args.contains("key") ? args.at("key") : "none";
      const std::string category = event.string("cat");
      content.events.push_back(
          {category.empty() ? table : category, without_number(event.track), event.name, event.begin, event.end, args});
    }
  }
  for (const std::string& table : flows) {
    for (const EventValues& flow : session.events(table)) {
      std::vector<std::string> ends;
      for (const LaneSnapshot& lane : session.snapshot().lanes) {
        if (lane.schema->name != table) continue;
        for (const Role role : {Role::flow_source_event, Role::flow_target_event}) {
          const auto column = lane.schema->find(role);
          REQUIRE(column.has_value());
          const auto id = static_cast<EventId>(*flow.integer(lane.schema->columns[*column].name));
          ends.push_back(keys.contains(id) ? keys.at(id) : "no event");
        }
        break;
      }
      content.arrows.push_back({ends.at(0), ends.at(1)});
    }
  }
  content.arrange();
  return content;
}

std::string words(const RoundEvent& event) {
  std::string text = fmt::format("{} / {} / {} {}-{}", event.table, event.track, event.name, event.begin, event.end);
  for (const auto& [key, value] : event.args) text += fmt::format(" {}={}", key, value);
  return text;
}

std::string words(const RoundSample& sample) {
  return fmt::format("{} {} {} {}", sample.track, sample.unit, sample.ns, sample.value);
}

std::string words(const ExportedArrow& arrow) { return arrow.source + " -> " + arrow.target; }

// The first that differs, in words.
template <typename Row>
std::string difference(const std::vector<Row>& expected, const std::vector<Row>& found) {
  const auto [a, b] = std::mismatch(expected.begin(), expected.end(), found.begin(), found.end());
  std::string text = fmt::format("{} expected, {} found", expected.size(), found.size());
  if (a != expected.end()) text += "\nexpected " + words(*a);
  if (b != found.end()) text += "\nfound    " + words(*b);
  return text;
}

void check_same(const RoundContent& expected, const RoundContent& found) {
  CHECK_MESSAGE(expected.events == found.events, difference(expected.events, found.events));
  CHECK_MESSAGE(expected.samples == found.samples, difference(expected.samples, found.samples));
  // Said on their own, because that is what users compare first.
  const auto length = [](const RoundContent& content) {
    std::map<std::string, std::int64_t> by_track;
    for (const RoundEvent& event : content.events) by_track[event.track] += event.end - event.begin;
    return by_track;
  };
  CHECK(length(expected) == length(found));
}

// Chrome's flows name their events by thread, name, begin and length: of events that are alike in all of these, any may
// be the one.
std::vector<ExportedArrow> arrows_between_alike(const RoundContent& content) {
  std::map<std::tuple<std::string, std::string, std::int64_t, std::int64_t>, std::string> first;
  std::map<std::string, std::string> alike;
  for (const RoundEvent& event : content.events) {
    const std::string& key = event.args.at("key");
    alike[key] = first.try_emplace({event.track, event.name, event.begin, event.end}, key).first->second;
  }
  std::vector<ExportedArrow> arrows;
  for (const ExportedArrow& arrow : content.arrows) {
    arrows.push_back({alike.at(arrow.source), alike.at(arrow.target)});
  }
  std::sort(arrows.begin(), arrows.end());
  return arrows;
}

template <typename Write>
std::string exported_by(const exporting::ExportRequest& request, Write write, exporting::ExportReport& report) {
  CollectedFiles output;
  const auto written = write(request, output);
  REQUIRE(written.ok());
  report = *written;
  return output.files[""];
}

template <typename Import>
Imported imported_from(const std::string& bytes, Import import_bytes) {
  return Imported::by([&](EventSink& sink) { return import_bytes(json::ByteSource::from_memory(bytes), sink); });
}

Imported from_perfetto(const std::string& trace) {
  return Imported::by([&](EventSink& sink) {
    return sources::perfetto::PerfettoImporter("test.pftrace", {}, sink)
        .run([&]() -> Result<std::unique_ptr<json::ByteSource>> { return json::ByteSource::from_memory(trace); });
  });
}

}  // namespace

TEST_CASE("a session that goes out as a Perfetto trace and comes in again is the same") {
  for (const std::uint32_t seed : {21U, 22U}) {
    ExportSession session(seed, 6'000);
    exporting::ExportReport report;
    const std::string trace = exported_by(session.request(), exporting::write_perfetto, report);
    const Imported again = from_perfetto(trace);
    const RoundContent expected = content_of(session);
    const RoundContent found = content_of(again);
    check_same(expected, found);
    // Flows go forward in the trace: the others are missing, and the export says how many.
    std::map<std::string, const ExportedEvent*> by_key;
    for (const ExportedEvent& event : session.events) by_key[event.args.at("key")] = &event;
    std::vector<ExportedArrow> forward;
    for (const ExportedArrow& arrow : expected.arrows) {
      const ExportedEvent& source = *by_key.at(arrow.source);
      const ExportedEvent& target = *by_key.at(arrow.target);
      if (target.begin > source.begin || target.end > source.begin) forward.push_back(arrow);
    }
    REQUIRE(forward.size() > 100);
    CHECK_MESSAGE(std::includes(found.arrows.begin(), found.arrows.end(), forward.begin(), forward.end()),
                  difference(forward, found.arrows));
    CHECK_MESSAGE(
        std::includes(expected.arrows.begin(), expected.arrows.end(), found.arrows.begin(), found.arrows.end()),
        difference(expected.arrows, found.arrows));
    const std::string lost = std::to_string(expected.arrows.size() - found.arrows.size()) + " dependencies lead";
    CHECK(std::any_of(report.losses.begin(), report.losses.end(),
                      [&](const std::string& loss) { return loss.starts_with(lost); }));
  }
}

TEST_CASE("engines that go out as a trace come in again as engines of their device, and allocations as memory") {
  const auto store = std::move(Store::create().value());
  StoreSink sink(*store);
  SessionWriter writer(sink);
  const Schema work = make_schema({"instruction", EventKind::slice, "opcode"});
  const Schema blocks = make_schema({"memory_event", EventKind::memory, "tensor_name"},
                                    {{"allocation_bytes", ColumnType::int64, "B", "", "", "", Role::allocation},
                                     {"start", ColumnType::uint64, "", "", "", "", Role::address}});
  // As another tool calls the same, in one session with it.
  const Schema other_blocks = make_schema({"memory", EventKind::memory, "name"},
                                          {{"Bytes", ColumnType::int64, "B", "", "", "", Role::allocation},
                                           {"Addr", ColumnType::uint64, "", "", "", "", Role::address},
                                           {"pool", ColumnType::string, "", "", "", "", Role::pool}});
  const TrackNumber engine = writer.add_track(
      {.name = "Tensor", .kind = "engine", .device = "nc0; a", .host = "trn1", .schema = writer.add_schema(work)});
  const TrackNumber pool = writer.add_track(
      {.name = "SBUF", .kind = "memory", .device = "nc0; a", .host = "trn1", .schema = writer.add_schema(blocks)});
  const TrackNumber other_pool = writer.add_track(
      {.name = "GPU 1 memory", .kind = "memory", .device = "GPU 1", .schema = writer.add_schema(other_blocks)});
  for (std::int64_t i = 0; i < 3; ++i) (void)writer.begin_event(engine, 100 * i, 50, writer.intern("MATMUL"));
  const auto block = [&](std::int64_t at, std::int64_t bytes) {
    Row row = writer.begin_event(pool, at, 0, writer.intern("weights"));
    row.integer(0, bytes);
    row.unsigned_integer(1, 4096);
  };
  block(10, 2048);
  block(210, -2048);
  Row retained = writer.begin_event(other_pool, 20, 0, writer.intern("[memory]"));
  retained.integer(0, 512);
  retained.unsigned_integer(1, 0xFFFF'8000'0000'1000);
  retained.string(2, writer.intern("GPU 1 memory"));
  REQUIRE(writer.finish().ok());

  WorkerPool workers(1);
  TaskControl control;
  exporting::ExportReport report;
  const exporting::ExportRequest request{{*store, store->snapshot(), workers, control}};
  const auto check = [&](const Imported& again) {
    const auto track = [&](std::string_view name) {
      for (const TrackSnapshot& each : again.snapshot().tracks) {
        if (each.track->name == name) return *each.track;
      }
      return Track{};
    };
    CHECK(track("Tensor").kind == "engine");
    CHECK(track("SBUF").kind == "memory");
    for (const Track& each : {track("Tensor"), track("SBUF")}) {
      CHECK(each.device == "nc0; a");
      CHECK(each.host == "trn1");
    }
    CHECK(track("GPU 1 memory").device == "GPU 1");
    const auto usage = analysis::memory_usage(
        {.store = again.store(), .snapshot = again.shared_snapshot(), .pool = workers, .control = control});
    REQUIRE(usage.ok());
    REQUIRE((*usage)->pools.size() == 2);
    std::map<std::string, std::uint64_t> peaks;
    for (const auto& each : (*usage)->pools) peaks[each.base_name] = each.peak_bytes;
    CHECK(peaks == std::map<std::string, std::uint64_t>{{"SBUF", 2048}, {"GPU 1 memory", 512}});
    REQUIRE((*usage)->allocations.size() == 2);
    std::map<std::uint64_t, bool> released;  // by address
    for (const auto& each : (*usage)->allocations) released[each.address.value_or(0)] = each.end_ns.has_value();
    CHECK(released == std::map<std::uint64_t, bool>{{4096, true}, {0xFFFF'8000'0000'1000, false}});
    CHECK(again.count("instant") == 0);
  };
  check(from_perfetto(exported_by(request, exporting::write_perfetto, report)));
  check(imported_from(exported_by(request, exporting::write_chrome, report), [](auto bytes, EventSink& to) {
    return sources::chrome::import_chrome_json(std::move(bytes), "test.json", {}, to);
  }));
}

TEST_CASE("a session that goes out as a Chrome trace and comes in again is the same") {
  for (const std::uint32_t seed : {23U, 24U}) {
    ExportSession session(seed, 6'000);
    exporting::ExportReport report;
    const std::string trace = exported_by(session.request(), exporting::write_chrome, report);
    const Imported again = imported_from(trace, [](auto bytes, EventSink& sink) {
      return sources::chrome::import_chrome_json(std::move(bytes), "test.json", {}, sink);
    });
    RoundContent expected = content_of(session);
    for (RoundSample& sample : expected.samples) sample.unit.clear();  // the format has none
    const RoundContent found = content_of(again);
    check_same(expected, found);
    CHECK_MESSAGE(arrows_between_alike(expected) == arrows_between_alike(found),
                  difference(arrows_between_alike(expected), arrows_between_alike(found)));
  }
}

TEST_CASE("a session that goes out as JSON tables and comes in again has the same rows") {
  ExportSession session(25, 6'000);
  std::string text;
  const auto report = exporting::export_json({session.request().query, {}, {}, {}}, [&](std::string_view part) {
    text += part;
    return Result<void>{};
  });
  REQUIRE(report.ok());
  const Imported again = imported_from(text, [](auto bytes, EventSink& sink) {
    return sources::neuron::import_neuron_json(std::move(bytes), "test.json", {}, sink);
  });
  // Nothing says what such tables are: they are rows at their times, and their fields are columns.
  RoundContent found;
  for (const char* const table : {"runtime_call", "kernel", "mark"}) {
    for (const EventValues& row : again.events(table)) {
      const std::string name = row.name.empty() ? row.string("name") : row.name;
      found.events.push_back({table, row.string("track"), name, row.begin, row.end, args_of(row)});
    }
  }
  for (const char* const table : {"bytes", "load"}) {
    for (const EventValues& row : again.events(table)) {
      const auto whole = row.integer("value");
      const double value = whole ? static_cast<double>(*whole) : row.real("value").value_or(-1);
      found.samples.push_back({row.string("track"), "", row.begin, value});
    }
  }
  for (const EventValues& row : again.events("dependency")) {
    const auto key = [&](std::string_view column) {
      return std::to_string(static_cast<std::uint64_t>(row.integer(column).value_or(0)));
    };
    found.arrows.push_back({key("from"), key("to")});
  }
  found.arrange();
  RoundContent expected = content_of(session);
  for (RoundSample& sample : expected.samples) sample.unit.clear();
  // An empty text is no value in such tables: the vendor writes it for what is absent.
  for (RoundEvent& event : expected.events)
    std::erase_if(event.args, [](const auto& arg) { return arg.second.empty(); });
  expected.arrange();
  check_same(expected, found);
  CHECK_MESSAGE(expected.arrows == found.arrows, difference(expected.arrows, found.arrows));
}

}  // namespace accelscope::capture::round_trip
