#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "capture/sources/base/importers.h"
#include "tests/capture/recording_sink.h"

namespace accelscope::capture::sources::tt_noc {
namespace {

using Import = Result<void> (*)(std::unique_ptr<json::ByteSource>, const std::string&, const ImportOptions&,
                                EventSink&);

void import_network(Import import, const std::string& text, RecordingSink& sink, const std::string& name = "noc.json") {
  const Result<void> done = import(json::ByteSource::from_memory(text), name, {}, sink);
  REQUIRE_MESSAGE(done.ok(), done.message());
}

std::vector<RecordedEvent> named_events(const RecordingSink& sink, const std::string& row, const std::string& name) {
  std::vector<RecordedEvent> found = sink.events();
  std::erase_if(
      found, [&](const RecordedEvent& event) { return sink.tracks.at(event.track).name != row || event.name != name; });
  return found;
}

std::uint64_t noted(const RecordingSink& sink, const std::string& kind) {
  std::uint64_t count = 0;
  for (const QualityEntry& entry : sink.qualities) count += entry.kind == kind ? entry.count : 0;
  return count;
}

TEST_CASE("a network trace: requests, barriers as waits, zones, by the cores' places") {
  RecordingSink sink;
  import_network(
      import_noc_trace,
      R"([{"proc":"BRISC" ,"zone":"BRISC-KERNEL","zone_phase":"begin","sx":1,"sy":2,"timestamp":4351255299000},
                     {"proc":"BRISC","noc":"NOC_1","vc":-1,"sx":1,"sy":2,"dx":4,"dy":5,"num_bytes":4096,"type":"READ   ","timestamp":4351255299100,"kernel_start_delta":100},
                     {"proc":"BRISC","noc":"NOC_1","vc":-1,"sx":1,"sy":2,"num_bytes":0,"type":"READ_BARRIER_START","timestamp":4351255299200},
                     {"proc":"BRISC","noc":"NOC_1","vc":-1,"sx":1,"sy":2,"num_bytes":0,"type":"READ_BARRIER_END","timestamp":4351255299250},
                     {"proc":"NCRISC","noc":"NOC_0","vc":-1,"sx":1,"sy":2,"num_bytes":0,"type":"WRITE_BARRIER_END","timestamp":4351255299250},
                     {"proc":"BRISC","sx":1,"sy":2}])",
      sink, "run/noc_trace_dev3_Matmul_ID7.json");
  const auto reads = named_events(sink, "core 1,2 BRISC network", "READ");
  REQUIRE(reads.size() == 1);
  CHECK(sink.tracks.at(reads[0].track).device == "chip 3");
  const Schema& schema = sink.schema_of(reads[0]);
  CHECK(sink.view(reads[0]).int64(*schema.find(Role::bytes), reads[0].row) == 4096);
  CHECK(sink.view(reads[0]).int64(*schema.find("dy"), reads[0].row) == 5);
  CHECK(sink.view(reads[0]).int64(*schema.find("kernel_start_delta"), reads[0].row) == 100);
  const auto barriers = named_events(sink, "core 1,2 BRISC network", "READ_BARRIER");
  REQUIRE(barriers.size() == 1);
  CHECK(barriers[0].end - barriers[0].start == 50);
  CHECK(std::find(schema.wait_names.begin(), schema.wait_names.end(), "READ_BARRIER") != schema.wait_names.end());
  const auto zones = named_events(sink, "core 1,2 BRISC", "BRISC-KERNEL");
  REQUIRE(zones.size() == 1);
  CHECK(zones[0].end == 4351255299250);  // has no end: up to the last record
  CHECK(noted(sink, "begin_without_end") == 1);
  CHECK(noted(sink, "end_without_begin") == 1);
  CHECK(noted(sink, "rows_skipped") == 1);
  CHECK(noted(sink, "frequency_missing") == 1);
  CHECK(noted(sink, "clocks_not_aligned") == 0);
}

TEST_CASE("times since a kernel's begin cannot be compared between cores, which is said") {
  RecordingSink sink;
  import_network(import_noc_trace,
                 R"([{"proc":"BRISC","zone":"K","zone_phase":"begin","sx":1,"sy":2,"timestamp":0,"run_host_id":2},
                     {"proc":"BRISC","noc":"NOC_0","sx":1,"sy":2,"type":"WRITE_","num_bytes":7,"timestamp":5,"src_device_id":6,"fabric_send":{"hops":[1,2]}},
                     {"proc":"BRISC","zone":"K","zone_phase":"end","sx":1,"sy":2,"timestamp":9,"run_host_id":2}])",
                 sink);
  CHECK(noted(sink, "clocks_not_aligned") == 1);
  CHECK(noted(sink, "begin_without_end") == 0);
  const auto writes = named_events(sink, "core 1,2 BRISC network", "WRITE_");
  REQUIRE(writes.size() == 1);
  CHECK(sink.tracks.at(writes[0].track).device == "chip 6");
}

TEST_CASE("zones of a network trace lie on the chip of the requests within them, however their phases are spelt") {
  RecordingSink sink;
  import_network(import_noc_trace,
                 R"([{"proc":"BRISC","zone":"K","zone_phase":"ZONE_START","sx":1,"sy":2,"timestamp":10},
          {"proc":"BRISC","noc":"NOC_0","sx":1,"sy":2,"type":"READ","num_bytes":7,"timestamp":12,"src_device_id":2},
          {"proc":"BRISC","zone":"K","zone_phase":"ZONE_END","sx":1,"sy":2,"timestamp":30},
          {"proc":"BRISC","zone":"K","zone_phase":"ZONE_START","sx":1,"sy":2,"timestamp":15},
          {"proc":"BRISC","noc":"NOC_0","sx":1,"sy":2,"type":"READ","num_bytes":7,"timestamp":16,"src_device_id":5},
          {"proc":"BRISC","zone":"K","zone_phase":"ZONE_END","sx":1,"sy":2,"timestamp":25}])",
                 sink);
  std::map<std::string, std::int64_t> lengths;
  for (const RecordedEvent& zone : named_events(sink, "core 1,2 BRISC", "K"))
    lengths[sink.tracks.at(zone.track).device] = zone.end - zone.start;
  CHECK(lengths == std::map<std::string, std::int64_t>{{"chip 2", 20}, {"chip 5", 10}});
  CHECK(noted(sink, "begin_without_end") + noted(sink, "end_without_begin") == 0);
}

constexpr const char* kTimeline = R"({"chips":{"0":[0,0,0,0]},
  "common_info":{"arch":"blackhole","cycles_per_timestep":256,"congestion_model_name":"fast","link_util":4.5},
  "noc_transfers":[
    {"id":0,"src":[0,1,3],"dst":[[0,0,9]],"start_cycle":100,"end_cycle":370,"total_bytes":2048,"noc_event_type":"WRITE_",
     "route":[{"device_id":0,"src":[0,1,3],"dst":[[0,0,9]],"start_cycle":100,"end_cycle":235,"injection_rate":28.5,"noc_type":"NOC1","links":[[0,1,3,"NOC1_IN"]]},
              {"device_id":1,"src":[1,4,4],"dst":[[1,0,9]],"start_cycle":235,"end_cycle":370,"noc_type":"NOC0"}]},
    {"id":1,"src":[0,1,3],"dst":[[0,0,9]],"end_cycle":370}],
  "timestep_data":[{"start_cycle":0,"end_cycle":256,"avg_link_demand":1.5,"avg_link_util":0.5,"noc":{"NOC0":{"avg_link_demand":2.5}},
    "link_demand":[[0,1,3,"NOC1_IN",12.25],[0,1,3,"NOC1_OUT",0.5],[0,1]],"active_transfers":[0]}]})";

TEST_CASE("a timeline of a simulated network: transfers by the parts of their routes, links and figures over time") {
  RecordingSink sink;
  import_network(import_npe_timeline, kTimeline, sink);
  const auto first = named_events(sink, "core 3,1 network", "WRITE_");
  REQUIRE(first.size() == 1);
  const ClockMap clock(sink.clocks.at(sink.tracks.at(first[0].track).clock));
  CHECK(clock.to_ns(first[0].end) - clock.to_ns(first[0].start) == 100);  // 135 cycles at 1.35 GHz
  const auto second = named_events(sink, "core 4,4 network", "WRITE_");
  REQUIRE(second.size() == 1);
  // A transfer's bytes are told once, not for each part of its route.
  CHECK(sink.view(first[0]).int64(0, first[0].row) == 2048);
  CHECK_FALSE(sink.view(second[0]).has_value(0, second[0].row));
  const auto links = named_events(sink, "core 3,1 links", "NOC1_IN");
  REQUIRE(links.size() == 1);
  CHECK(sink.view(links[0]).float64(0, links[0].row) == 12.25);
  CHECK(named_events(sink, "core 3,1 links", "NOC1_OUT").size() == 1);
  CHECK(named_events(sink, "NOC0 avg_link_demand", "").size() == 1);
  CHECK(sink.metrics.at("link_util").value == 4.5);
  CHECK(sink.meta.at("source.rows.noc_transfer") == "2");
  CHECK(sink.meta.at("source.read.noc_transfer") == "1");
  CHECK(noted(sink, "rows_skipped") == 2);  // the transfer without a begin, the link without a name
}

TEST_CASE("bytes of a simulated network are what its transfers state, however many chips their routes cross") {
  RecordingSink sink;
  std::string text = R"({"common_info":{"arch":"wormhole_b0","cycles_per_timestep":256},"noc_transfers":[)";
  std::int64_t stated = 0;
  for (int i = 0; i < 6; ++i) {
    const int bytes = 1024 * (i + 1);
    stated += bytes;
    text += fmt::format(R"({}{{"id":{},"src":[0,1,1],"start_cycle":0,"end_cycle":90,"total_bytes":{},)",
                        i == 0 ? "" : ",", i, bytes);
    text += R"("noc_event_type":"WRITE_","route":[)";
    for (int hop = 0; hop <= i % 3; ++hop)
      text += fmt::format(R"({}{{"src":[{},1,1],"start_cycle":0,"end_cycle":90}})", hop == 0 ? "" : ",", hop);
    text += "]}";
  }
  import_network(import_npe_timeline, text + "],\"colours\":[{\"a\":1}]}", sink);
  std::int64_t found = 0;
  std::size_t parts = 0;
  for (const RecordedEvent& event : sink.events()) {
    const Schema& schema = sink.schema_of(event);
    if (schema.name != "noc_transfer") continue;
    ++parts;
    const std::size_t bytes = *schema.find(Role::bytes);
    if (sink.view(event).has_value(bytes, event.row)) found += sink.view(event).int64(bytes, event.row);
  }
  CHECK(parts == 12);
  CHECK(found == stated);
  // What nobody reads is named.
  REQUIRE(noted(sink, "unknown_columns") == 1);
  const auto unread = std::find_if(sink.qualities.begin(), sink.qualities.end(),
                                   [](const QualityEntry& entry) { return entry.kind == "unknown_columns"; });
  CHECK(unread->detail.find("colours") != std::string::npos);
}

TEST_CASE("records of a network trace add up: events, zones and ends are all of them, and unknown fields are named") {
  RecordingSink sink;
  import_network(import_noc_trace,
                 R"([{"proc":"BRISC","zone":"K","zone_phase":"begin","sx":1,"sy":2,"timestamp":0},
                     {"proc":"BRISC","noc":"NOC_0","sx":1,"sy":2,"type":"READ","num_bytes":7,"timestamp":5,"colour":"red"},
                     {"proc":"BRISC","noc":"NOC_0","sx":1,"sy":2,"type":"READ_BARRIER_START","timestamp":6},
                     {"proc":"BRISC","noc":"NOC_0","sx":1,"sy":2,"type":"READ_BARRIER_END","timestamp":8},
                     {"proc":"BRISC","zone":"K","zone_phase":"end","sx":1,"sy":2,"timestamp":9},
                     {"proc":"BRISC"}])",
                 sink);
  CHECK(sink.meta.at("source.rows.noc_event") == "6");
  CHECK(sink.meta.at("source.read.noc_event") == "5");
  const auto unread = std::find_if(sink.qualities.begin(), sink.qualities.end(),
                                   [](const QualityEntry& entry) { return entry.kind == "unknown_columns"; });
  REQUIRE(unread != sink.qualities.end());
  CHECK(unread->detail.find("colour") != std::string::npos);
}

TEST_CASE("a network trace that is cut at any byte gives what it holds, or an error that names the file") {
  const std::string whole = kTimeline;
  for (std::size_t size = 0; size < whole.size(); size += 7) {
    RecordingSink sink;
    const std::string cut = whole.substr(0, size);
    const Result<void> done = import_npe_timeline(json::ByteSource::from_memory(cut), "cut.json", {}, sink);
    if (done) {
      CHECK(noted(sink, "truncated") + sink.qualities.size() > 0);
    } else {
      CHECK(done.message().find("cut.json") != std::string::npos);
    }
  }
}

TEST_CASE("a network trace whose cores lie at places that no chip has is read with rows of those names") {
  RecordingSink sink;
  import_network(import_noc_trace,
                 R"([{"proc":"BRISC","noc":"NOC_1","sx":9223372036854775807,"sy":9223372036854775807,"type":"READ",)"
                 R"("timestamp":1},{"proc":"BRISC","noc":"NOC_1","sx":-9223372036854775808,"sy":-1,"type":"READ",)"
                 R"("timestamp":2}])",
                 sink);
  CHECK(named_events(sink, "core 9223372036854775807,9223372036854775807 BRISC network", "READ").size() == 1);
  CHECK(named_events(sink, "core -9223372036854775808,-1 BRISC network", "READ").size() == 1);
}

}  // namespace
}  // namespace accelscope::capture::sources::tt_noc
