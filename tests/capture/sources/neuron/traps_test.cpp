// The ways in which real profiles differ from what one would expect of them.
#include <algorithm>

#include "tests/capture/imported.h"

namespace accelscope::capture {
namespace {

const EventValues* find(const std::vector<EventValues>& events, std::string_view name) {
  for (const EventValues& event : events) {
    if (event.name == name) return &event;
  }
  return nullptr;
}

}  // namespace

TEST_CASE("ids of 64 bits come through digit by digit") {
  const Imported session = Imported::text(
      R"({"instruction":[{"timestamp":5,"duration":2,"id":5355346330717505141,"opcode":"ADD","label":"Vector","subgroup":"Vector"},
          {"timestamp":9,"duration":2,"id":18446744073709551615,"opcode":"SUB","label":"Vector","subgroup":"Vector"}]})");
  const auto events = session.events("instruction");
  REQUIRE(events.size() == 2);
  CHECK(events[0].integer("id") == 5355346330717505141);
  CHECK(static_cast<std::uint64_t>(*events[1].integer("id")) == 18446744073709551615U);
}

TEST_CASE("numbers written as strings and words for booleans are read") {
  const Imported session = Imported::text(
      R"({"dma":[{"timestamp":5,"duration":"7","dma_engine":"15","dma_queue":"3","transfer_size":"2048","aggregated":"no",
          "is_cc_dma":"yes","duplicate":"false","subgroup":"q-Q3-E15","variable":"w","queue_type":"data","source":[["WEIGHT"],["x"]]}]})");
  const auto events = session.events("dma");
  REQUIRE(events.size() == 1);
  CHECK(events[0].end == 12);
  CHECK(events[0].integer("dma_engine") == 15);
  CHECK(events[0].integer("transfer_size") == 2048);
  CHECK(events[0].integer("is_cc_dma") == 1);
  CHECK(events[0].integer("duplicate") == 0);
  CHECK(events[0].string("source") == "WEIGHT, x");
  CHECK(events[0].track == "q-Q3-E15");
}

TEST_CASE("unsorted and overlapping instructions are all kept, on sub-lanes") {
  const Imported session = Imported::text(
      R"({"instruction":[{"timestamp":50,"duration":10,"opcode":"C","label":"Tensor"},{"timestamp":0,"duration":100,"opcode":"A","label":"Tensor"},
          {"timestamp":20,"duration":10,"opcode":"B","label":"Tensor"},{"timestamp":200,"duration":0,"opcode":"D","label":"Tensor"}]})");
  CHECK(session.count("instruction") == 4);
  std::size_t lanes = 0;
  for (const LaneSnapshot& lane : session.snapshot().lanes) lanes += lane.schema->name == "instruction" ? 1 : 0;
  CHECK(lanes == 2);
  const auto events = session.events("instruction");
  CHECK(find(events, "D")->begin == 200);
  CHECK(find(events, "D")->end == 200);  // a duration of 0 is an event like any other
}

TEST_CASE("TensorMatrix rows have their own track and physical cores are devices of their own") {
  const Imported session = Imported::text(
      R"({"instruction":[{"timestamp":0,"duration":1,"opcode":"MATMUL","label":"TensorMatrix","subgroup":"Tensor","pcore_idx":0},
          {"timestamp":0,"duration":1,"opcode":"MATMUL","label":"TensorMatrix","subgroup":"Tensor","pcore_idx":1}]})");
  std::vector<std::string> names;
  for (const TrackSnapshot& track : session.snapshot().tracks) {
    if (track.track->kind == "engine") names.push_back(track.track->device + " " + track.track->name);
  }
  CHECK(names == std::vector<std::string>{"nc0 TensorMatrix", "nc1 TensorMatrix"});
}

TEST_CASE("packets lie below the transfers of their queue, in the natural order of engines") {
  const Imported session = Imported::text(
      R"({"dma":[{"timestamp":5,"duration":7,"aggregated":"no","subgroup":"qSync0-Q1-E10"},
          {"timestamp":5,"duration":7,"aggregated":"no","subgroup":"qSync0-Q1-E2"},
          {"timestamp":5,"duration":7,"aggregated":"no","subgroup":"Q0-E0"},
          {"timestamp":5,"duration":9,"aggregated":"yes","subgroup":"qSync0"}]})");
  const auto& tracks = session.snapshot().tracks;
  REQUIRE(tracks.size() == 4);
  CHECK(tracks[0].track->name == "Q0-E0");
  CHECK(tracks[0].track->parent == kNone);
  CHECK(tracks[1].track->name == "qSync0");
  CHECK(tracks[2].track->name == "qSync0-Q1-E2");
  CHECK(tracks[2].track->parent == tracks[1].track->number);
  CHECK(tracks[3].track->name == "qSync0-Q1-E10");
}

TEST_CASE("a profile in picoseconds is recognised by its last hardware time stamp") {
  const Imported session = Imported::text(
      R"({"instruction":[{"timestamp":1000000,"duration":500000,"opcode":"ADD","label":"Vector","evt_wait_time":2000}],
          "metadata":[{"last_hw_timestamp":1500}]})");
  const auto events = session.events("instruction");
  REQUIRE(events.size() == 1);
  CHECK(events[0].begin == 1000);
  CHECK(events[0].end == 1500);
  CHECK(events[0].integer("evt_wait_time") == 2);
  CHECK(session.quality("time_unit") != nullptr);
}

TEST_CASE("a file whose last event is far from its last hardware time stamp says so") {
  const Imported session = Imported::text(
      R"({"instruction":[{"timestamp":0,"duration":5,"opcode":"ADD","label":"Vector"}],"metadata":[{"last_hw_timestamp":90000}]})");
  CHECK(session.quality("time_check") != nullptr);
}

TEST_CASE("missing notifications of dynamic DMA are reported with the flag that adds them") {
  const Imported session = Imported::text(
      R"({"dma":[{"timestamp":5,"duration":7,"aggregated":"no","subgroup":"Q0-E0","variable":"unknown","queue_type":"software_dynamic"},
          {"timestamp":15,"duration":7,"aggregated":"no","subgroup":"Q14-E0","variable":"unknown","queue_type":"instruction"}],
          "pending_dma":[{"timestamp":30,"value":3},{"timestamp":4,"value":0}]})");
  REQUIRE(session.quality("missing_dge_notifications") != nullptr);
  CHECK(session.quality("missing_dge_notifications")->count == 1);
  CHECK(session.quality("missing_dge_notifications")->detail.find("--enable-dge-notifs") != std::string::npos);
  REQUIRE(session.quality("pending_dma_open") != nullptr);
  CHECK(session.quality("pending_dma_open")->count == 3);
}

TEST_CASE("the work of matrix multiplications becomes flops and utilisation") {
  const Imported session = Imported::text(
      R"({"metadata":[{"pe_num_rows":128,"pe_num_cols":128,"pe_clock_freq":2.0,"last_hw_timestamp":1000}],
          "instruction":[{"timestamp":0,"duration":1000,"opcode":"MATMUL","label":"TensorMatrix","elements":16384000,"instruction_type":"REGULAR"}]})");
  CHECK(session.events("instruction")[0].integer("raw_flops") == 32768000);
  const auto samples = session.events("pe_utilization");
  REQUIRE(!samples.empty());
  CHECK(samples[0].real("utilization") == doctest::Approx(0.5));  // 16,384 a cycle at 2 GHz for 1000 ns would be twice
  CHECK(session.quality("utilization_estimated") != nullptr);
}

TEST_CASE("predecessors and DMA triggers become dependencies") {
  const Imported session = Imported::text(
      R"({"instruction":[{"timestamp":10,"duration":5,"id":1,"opcode":"WRITE","label":"Sync","trigger":30},
          {"timestamp":60,"duration":5,"id":2,"opcode":"ADD","label":"Vector","predecessors":[{"id":1,"type":"FLOW_DEPENDENCE"},{"type":"X","id":7449597179252504843}]}],
          "dma":[{"timestamp":30,"duration":9,"id":3,"aggregated":"yes","trigger":10,"subgroup":"q","variable":"w"}]})");
  const auto flows = session.events("dependency");
  REQUIRE(flows.size() == 3);
  CHECK(find(flows, "DMA_TRIGGER")->integer("in_id") == 1);
  CHECK(find(flows, "DMA_TRIGGER")->integer("out_id") == 3);
  CHECK(find(flows, "X")->integer("in_id") == 7449597179252504843);
  CHECK(find(flows, "FLOW_DEPENDENCE")->integer("out_id") == 2);
}

TEST_CASE("fields and tables that nobody told us about are kept") {
  const Imported session = Imported::text(
      R"({"instruction":[{"timestamp":1,"duration":1,"opcode":"ADD","label":"Vector","brand_new":{"a":[1,2]},"pc":"not a number"}],
          "novelty":[{"timestamp":5,"duration":6,"name":"n1","amount":3,"ratio":0.5,"word":"x","on":true,"big":18446744073709551615},
                     {"timestamp":1,"duration":2,"name":"n0","amount":"many","later":9}],
          "words":["a","b"], "version": 3})");
  const auto instructions = session.events("instruction");
  CHECK(instructions[0].string("extra") == R"({"brand_new":{"a":[1,2]},"pc":"not a number"})");
  CHECK(session.quality("unknown_fields") != nullptr);
  CHECK(session.quality("wrong_types") != nullptr);
  const auto novelties = session.events("novelty");
  REQUIRE(novelties.size() == 2);
  CHECK(novelties[0].string("extra").find("many") == std::string::npos);
  CHECK(novelties[1].integer("amount").value_or(3) == 3);
  CHECK(find(novelties, "n1")->real("ratio") == 0.5);
  CHECK(static_cast<std::uint64_t>(find(novelties, "n1")->integer("big").value_or(0)) == 18446744073709551615U);
  CHECK(find(novelties, "n0")->begin == 1);
  CHECK(session.count("words") == 2);
  CHECK(session.count("version") == 1);
  CHECK(session.quality("unknown_table") != nullptr);
}

TEST_CASE("a system profile becomes threads, memory and processor counters") {
  const Imported session = Imported::text(
      R"({"trace_events":[{"timestamp":1700000000000000000,"duration":900,"name":"nrt_execute","id":7,"instance_id":"i-1","process_id":4,"thread_id":5,"type":3,"group":"api"},
            {"timestamp":1700000000000000100,"duration":100,"name":"inner","id":8,"parent_id":7,"instance_id":"i-1","process_id":4,"thread_id":5,"type":3}],
          "mem_usage":[{"timestamp":1700000000000000000,"duration":1000,"usage":123456789012,"percent_usage":12.5,"instance_id":"i-1"}],
          "cpu_util":[{"timestamp":1700000000000000000,"duration":1000,"cpu_id":"0","util":50,"instance_id":"i-1"},
                      {"timestamp":1700000000000000000,"duration":1000,"cpu_id":"average","util":25,"instance_id":"i-1"}]})");
  const auto events = session.events("trace_event");
  REQUIRE(events.size() == 2);
  CHECK(events[0].kind == "host_thread");
  // A session's time begins with its first event, not in 1970; where that was is kept.
  CHECK(find(events, "nrt_execute")->begin == 0);
  CHECK(find(events, "inner")->begin == 100);
  CHECK(find(events, "inner")->end == 200);
  CHECK(session.snapshot().meta_value("begin_unix_ns") == "1700000000000000000");
  CHECK(session.events("host_memory")[0].integer("usage") == 123456789012);
  CHECK(session.count("cpu_util") == 2);
  CHECK(session.quality("rows_skipped") == nullptr);
}

TEST_CASE("collectives get the bandwidths that the file leaves out") {
  const Imported session = Imported::text(
      R"({"cc_ops":[{"timestamp":0,"duration":1000,"operation":"AllReduce","input_size":4000,"output_size":4000,"replica_group":"[[0,1,2,3]]","trigger_engine":"Pool"}]})");
  const auto events = session.events("cc_op");
  REQUIRE(events.size() == 1);
  CHECK(events[0].real("algorithm_bandwidth") == doctest::Approx(4e9));
  CHECK(events[0].real("bus_bandwidth") == doctest::Approx(6e9));
}

TEST_CASE("stack frames are resolved wherever their tables lie") {
  const Imported session = Imported::text(
      R"({"instruction":[{"timestamp":1,"duration":1,"opcode":"ADD","label":"Vector","stack_frame_ids":"2,1"}],
          "stack_frame":[{"id":"1","file_location_id":1,"parent_frame_id":""},{"id":"2","file_location_id":2,"parent_frame_id":"1"}],
          "stack_frame_file_location":[{"id":"1","file_name_id":1,"function_name_id":1,"line_number":10},{"id":"2","file_name_id":1,"function_name_id":2,"line_number":20}],
          "stack_frame_file_name":[{"id":"1","name":"m.py"}],"stack_frame_function_name":[{"id":"1","name":"main"},{"id":"2","name":"inner"}]})");
  CHECK(session.events("instruction")[0].string("stack_frames") == "inner (m.py:20)\nmain (m.py:10)");
}

TEST_CASE(
    "an instruction that was made of several has the stack of the first, and the innermost frames of the others") {
  const Imported session = Imported::text(
      R"({"instruction":[{"timestamp":1,"duration":1,"opcode":"ADD","label":"Vector","stack_frame_ids":"[2, 3]"}],
          "stack_frame":[{"id":"1","file_location_id":1,"parent_frame_id":""},{"id":"2","file_location_id":2,"parent_frame_id":"1"},
                         {"id":"3","file_location_id":3,"parent_frame_id":"1"}],
          "stack_frame_file_location":[{"id":"1","file_name_id":1,"function_name_id":1,"line_number":10},
                                       {"id":"2","file_name_id":1,"function_name_id":2,"line_number":20},
                                       {"id":"3","file_name_id":1,"function_name_id":3,"line_number":30}],
          "stack_frame_file_name":[{"id":"1","name":"m.py"}],
          "stack_frame_function_name":[{"id":"1","name":"main"},{"id":"2","name":"relu"},{"id":"3","name":"add"}]})");
  const EventValues event = session.events("instruction").at(0);
  CHECK(event.string("stack_frames") == "relu (m.py:20)\nmain (m.py:10)");
  CHECK(event.string("other_stack_frames") == "add (m.py:30)");
}

TEST_CASE("spilled tensors appear in the memory tracker, marked as estimated") {
  const Imported session = Imported::text(
      R"({"dma":[{"timestamp":10,"duration":5,"aggregated":"yes","subgroup":"q","variable":"t","source":[["SB"]],"dest":["VIRTUAL"],"write_size":512},
          {"timestamp":90,"duration":10,"aggregated":"yes","subgroup":"q","variable":"t","source":[["VIRTUAL"]],"dest":["SB"],"read_size":512}],
          "neff_node":[{"variable_name":"w","type":"WEIGHT","size":"4096"}]})");
  const auto events = session.events("memory_event");
  REQUIRE(events.size() == 2);
  const EventValues* spilled = find(events, "t");
  CHECK(spilled->integer("allocation_bytes") == 512);
  CHECK(spilled->begin == 10);
  CHECK(spilled->end == 100);
  CHECK(find(events, "w")->integer("allocation_bytes") == 4096);
  CHECK(session.quality("memory_estimated") != nullptr);
}

TEST_CASE("figures of the file keep their group and get a unit, nonsense is pointed out") {
  const Imported session = Imported::text(
      R"({"summary":[{"total_time":0.5,"hbm_read_bytes":12,"driver_version":"2.1","throttle_avg_util_limit_nc0_percent":253.0,"mfu_estimated_percent":NaN}],
          "summary_groups":[{"total_time":"overall_stats"}],"metadata":[{"pe_clock_freq":2.8}],"instruction":[]})");
  REQUIRE(session.metric("total_time") != nullptr);
  CHECK(session.metric("total_time")->group == "overall_stats");
  CHECK(session.metric("total_time")->unit == "s");
  CHECK(session.metric("hbm_read_bytes")->unit == "B");
  CHECK(session.metric("driver_version")->text == "2.1");
  CHECK(session.snapshot().meta_value("metadata.pe_clock_freq") == "2.8");
  CHECK(session.quality("vendor_value_implausible") != nullptr);
}

TEST_CASE("summary-json alone is a session of figures") {
  const Imported session =
      Imported::text(R"({"n_0123456789abcdef0123456789abcdef01234567": {"total_time": 0.25, "dma_active_time": 0.1}})");
  REQUIRE(session.metric("total_time") != nullptr);
  CHECK(session.metric("total_time")->value == 0.25);
}

TEST_CASE("a time that is a day away lengthens neither the session nor its memory, and is kept and counted") {
  std::string rows;
  for (int i = 0; i < 12; ++i) {
    const std::string time = i == 5 ? "1700000000000000000" : std::to_string(100 * i);
    rows += std::string(i == 0 ? "" : ",") + R"({"timestamp":)" + time +
            R"(,"duration":50,"opcode":"ADD","label":"Vector","subgroup":"Vector"})";
  }
  const Imported session =
      Imported::text(R"({"instruction":[)" + rows + R"(],"neff_node":[{"name":"w","type":"WEIGHT","size":64}]})");
  CHECK(session.snapshot().end_ns - session.snapshot().begin_ns <= 1'150);
  REQUIRE(session.quality("impossible_times") != nullptr);
  CHECK(session.quality("impossible_times")->count == 1);
  const auto events = session.events("instruction");
  REQUIRE(events.size() == 12);
  CHECK(std::count_if(events.begin(), events.end(), [](const auto& event) { return event.kind == "doubtful"; }) == 1);
  for (const EventValues& tensor : session.events("memory")) CHECK(tensor.end <= 1'150);
  // A system profile counts from 1970, where 0 is a stamp that was never taken.
  std::string system;
  for (int i = 0; i < 8; ++i) {
    const std::string time = i == 3 ? "0" : std::to_string(1'700'000'000'000'000'000 + 1000 * i);
    system += std::string(i == 0 ? "" : ",") + R"({"timestamp":)" + time +
              R"(,"duration":500,"name":"call","process_id":1,"thread_id":2,"instance_id":"host"})";
  }
  const Imported of_host = Imported::text(R"({"trace_events":[)" + system + "]}");
  CHECK(of_host.snapshot().end_ns - of_host.snapshot().begin_ns <= 7'500);
  CHECK(quality_count(of_host, "impossible_times") == 1);
}

}  // namespace accelscope::capture
