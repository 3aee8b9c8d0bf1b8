// Neuron profiles as folders of Parquet tables: the same session as of JSON, and what is said of exports that are not
// whole.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <set>

#include "capture/sources/base/importers.h"
#include "capture/sources/import_input.h"
#include "capture/sources/input_parts.h"
#include "capture/sources/neuron/importer.h"
#include "core/analysis/figures/metrics.h"
#include "tests/capture/imported.h"
#include "tests/support/files.h"
#include "tests/support/parquet/parquet_writer.h"

namespace accelscope::capture {
namespace {

namespace fs = std::filesystem;
using test::ParquetColumn;

ParquetColumn whole_numbers(const std::string& name, std::vector<std::int64_t> values) {
  ParquetColumn column{name, test::kParquetInt64, {}};
  for (const std::int64_t value : values) column.values.emplace_back(value);
  return column;
}
ParquetColumn texts(const std::string& name, std::vector<std::string> values) {
  ParquetColumn column{name, test::kParquetBytes, {}, test::kDictionary};
  for (std::string& value : values) column.values.emplace_back(std::move(value));
  return column;
}
ParquetColumn reals(const std::string& name, std::vector<double> values) {
  ParquetColumn column{name, test::kParquetDouble, {}};
  for (const double value : values) column.values.emplace_back(value);
  return column;
}

void write_table(const fs::path& folder, const std::string& table, const std::vector<ParquetColumn>& columns) {
  fs::create_directories(folder);
  std::ofstream(folder / (table + ".parquet"), std::ios::binary)
      << test::parquet_file(columns, {test::kSnappy, 1, 1000, 1000, true});
}

// Two instructions on each core of two, a transfer with its packet, and what goes with them; ids beyond 2^53.
constexpr std::int64_t kLargeId = 9'007'199'254'740'993;

void write_export(const fs::path& folder) {
  write_table(
      folder, "Instruction",
      {whole_numbers("start_ts", {0, 200, 50, 900}), whole_numbers("end_ts", {100, 300, 150, 1900}),
       whole_numbers("duration_ns", {100, 100, 100, 1000}), texts("engine", {"Tensor", "Tensor", "Tensor", "Vector"}),
       texts("timeline_track", {"TensorMatrix", "TensorMatrix", "Tensor", "Vector"}),
       whole_numbers("pcore_idx", {0, 0, 1, 1}), texts("opcode", {"MATMUL", "MATMUL", "NOP", "EVENT_SEMAPHORE"}),
       texts("operands", {"src=x", "", "", ""}), whole_numbers("id", {kLargeId, kLargeId + 1, kLargeId + 2, 7}),
       whole_numbers("tensor_elements", {1'000'000, 500'000, 0, 0}),
       texts("tensor_instruction_type", {"", "TRANSPOSE", "", ""}), whole_numbers("evt_wait_time_ns", {5, 0, 0, 0}),
       whole_numbers("psum_read_sbuf_write_bytes", {0, 0, 256, 0}),
       whole_numbers("adjusted_flops", {8'000'000, 4'000'000, 0, 0}),
       whole_numbers("adjusted_flops_transpose", {0, 4'000'000, 0, 0})});
  write_table(folder, "DmaPacket_0",
              {whole_numbers("start_ts", {10}), whole_numbers("duration_ns", {40}), whole_numbers("pcore_idx", {0}),
               whole_numbers("id", {21}), whole_numbers("engine_idx", {64}), whole_numbers("queue_idx", {1}),
               texts("queue_name", {"qSync"}), whole_numbers("transfer_bytes", {512}), texts("queue_type", {"data"}),
               texts("variable", {"w"}), reals("throughput", {12.8e9 + 0.25})});
  write_table(folder, "DmaPacket_1",
              {whole_numbers("start_ts", {60}), whole_numbers("duration_ns", {4}), whole_numbers("pcore_idx", {0}),
               whole_numbers("id", {22}), whole_numbers("engine_idx", {65}), whole_numbers("queue_idx", {1}),
               texts("queue_name", {"qSync-Q1-E65"}), whole_numbers("transfer_bytes", {4}),
               texts("queue_type", {"data"}), texts("variable", {"w"})});
  write_table(folder, "DmaPacketAggregated",
              {whole_numbers("start_ts", {10}), whole_numbers("duration_ns", {54}), whole_numbers("id", {31}),
               texts("queue_name", {"qSync"}), whole_numbers("transfer_bytes", {512}), texts("queue_type", {"data"}),
               texts("source", {"[[\"WEIGHT\"]]"}), texts("dest", {"SB"}), texts("write_sbuf_partitions", {"0-127"}),
               whole_numbers("pcore_idx", {0})});
  write_table(folder, "Throttle",
              {whole_numbers("timestamp", {1}), whole_numbers("duration", {5}), whole_numbers("k", {4}),
               whole_numbers("n", {8}), texts("type", {"activity_1"}), whole_numbers("pcore_idx", {1})});
  write_table(folder, "HbmUsage",
              {whole_numbers("timestamp", {3}), reals("current_throughput", {2.5}),
               whole_numbers("total_transfer_bytes", {99}), whole_numbers("pcore_idx", {1})});
  write_table(folder, "PsumUsage",
              {whole_numbers("timestamp", {3}), reals("avg_util_percent", {0.25}), reals("bank_3_util_percent", {0.5}),
               whole_numbers("pcore_idx", {0})});
  write_table(
      folder, "Flow",
      {whole_numbers("in_id", {kLargeId, kLargeId + 1, 1}), whole_numbers("out_id", {kLargeId + 1, 31, 2}),
       texts("in_table", {"instruction", "instruction", "x"}), texts("out_table", {"instruction", "dma_block", "x"}),
       texts("dependency_type", {"FLOW_DEPENDENCE", "DMA", "x"}), whole_numbers("gap_time", {100, 0, 0})});
  write_table(folder, "Metadata",
              {texts("profile_schema_version", {"7.4.0"}), whole_numbers("num_physical_cores", {2}),
               whole_numbers("neuroncore_idx", {4}), whole_numbers("last_hw_timestamp", {1900}),
               reals("tensor_engine_clock_freq", {2.4}), whole_numbers("tensor_engine_num_rows", {128}),
               whole_numbers("tensor_engine_num_cols", {128}), reals("hbm_ddr_bandwidth", {716e9}),
               texts("profile_name", {"attention"})});
  write_table(folder, "FrameworkNode",
              {texts("node_name", {"attention"}), whole_numbers("start_ts", {0}), whole_numbers("end_ts", {300})});
  std::vector<ParquetColumn> summary = {whole_numbers("hardware_flops", {3'000'000}),
                                        whole_numbers("dma_transfer_total_bytes", {512})};
  for (int i = 0; i < 40; ++i) summary.push_back(reals(fmt::format("figure_{}_percent", i), {0.5}));
  write_table(folder, "Summary", summary);
}

Imported import_export(const fs::path& folder) {
  return Imported::by(
      [&](EventSink& sink) { return sources::neuron::import_neuron_parquet(folder.string(), {}, sink); });
}

std::string refusal_of(const fs::path& path) {
  const auto store = std::move(Store::create().value());
  StoreSink sink(*store);
  const Result<void> done = sources::neuron::import_neuron_parquet(path.string(), {}, sink);
  return done ? std::string{} : done.message();
}

}  // namespace

TEST_CASE("shares in percent are shares of one, whether the schema says so or only the values") {
  const test::TemporaryFolder folder;
  write_export(folder.path());
  const auto usage = [&](double average, double bank) {
    write_table(folder.path(), "PsumUsage",
                {whole_numbers("timestamp", {3}), reals("avg_util_percent", {average}),
                 reals("bank_3_util_percent", {bank}), whole_numbers("pcore_idx", {0})});
  };
  const auto read = [](const Imported& session) {
    const EventValues sample = session.events("psum_usage").at(0);
    return std::pair(sample.real("usage_avg").value(), sample.real("bank_3_usage").value());
  };
  const auto moved = [](const Imported& session) {
    std::string detail;
    for (const QualityEntry& entry : session.snapshot().quality) {
      if (entry.kind == "unit_moved") detail += entry.detail;
    }
    return detail;
  };
  const Imported fractions = import_export(folder.path());
  CHECK(read(fractions) == std::pair(0.25, 0.5));
  CHECK(moved(fractions).empty());

  usage(25, 0.5);  // the whole table is percent, its small values as well
  const Imported by_values = import_export(folder.path());
  CHECK(read(by_values).first == doctest::Approx(0.25));
  CHECK(read(by_values).second == doctest::Approx(0.005));
  CHECK(moved(by_values).find("the profile states no maximum") != std::string::npos);

  const auto stated = [&](double most) {
    write_table(
        folder.path(), "SchemaFields",
        {texts("table_name", {"PsumUsage", "PsumUsage"}),
         texts("field_name", {"avg_util_percent", "bank_3_util_percent"}), texts("field_type", {"number", "number"}),
         texts("field_unit", {"percent", "percent"}), reals("field_maximum", {most, most})});
  };
  stated(100);
  usage(0.5, 0.25);
  CHECK(read(import_export(folder.path())).first == doctest::Approx(0.005));
  stated(1);
  CHECK(read(import_export(folder.path())) == std::pair(0.5, 0.25));
}

TEST_CASE("shares of a run that may be above one stay, and loads of the host are percent as they are") {
  const test::TemporaryFolder folder;
  write_export(folder.path());
  write_table(folder.path(), "HostMemUsage",
              {whole_numbers("timestamp", {3}), whole_numbers("used_bytes", {1024}), reals("used_percent", {12.5}),
               texts("instance_id", {"i-1"})});
  const auto summary = [&](double dma, double tensor) {
    std::vector<ParquetColumn> columns = {reals("total_time", {1.9e-6}), reals("dma_active_time_percent", {dma}),
                                          reals("tensor_engine_active_time_percent", {tensor}),
                                          reals("mfu_max_achievable_estimated_percent", {7.5})};
    for (int i = 0; i < 40; ++i) columns.push_back(reals(fmt::format("figure_{}", i), {0.5}));
    write_table(folder.path(), "Summary", columns);
  };
  const auto figure = [&](const Imported& session, const char* name) {
    REQUIRE(session.metric(name) != nullptr);
    return session.metric(name)->value;
  };
  summary(0.304, 1.8);  // two physical cores, each busy for 0.9 of the time
  const Imported fractions = import_export(folder.path());
  CHECK(figure(fractions, "dma_active_time_percent") == doctest::Approx(0.304));
  CHECK(figure(fractions, "tensor_engine_active_time_percent") == doctest::Approx(1.8));
  CHECK(figure(fractions, "mfu_max_achievable_estimated_percent") == doctest::Approx(7.5));
  CHECK(fractions.events("host_memory").at(0).real("percent_usage").value() == doctest::Approx(12.5));
  summary(30.4, 1.8);
  const Imported percent = import_export(folder.path());
  CHECK(figure(percent, "dma_active_time_percent") == doctest::Approx(0.304));
  CHECK(figure(percent, "tensor_engine_active_time_percent") == doctest::Approx(0.018));
  CHECK(figure(percent, "mfu_max_achievable_estimated_percent") == doctest::Approx(7.5));
}

TEST_CASE("a Neuron profile in Parquet has the tables, columns, tracks and cores that its JSON would have") {
  const test::TemporaryFolder folder;
  write_export(folder.path());
  const Imported session = import_export(folder.path());
  CHECK(session.count("instruction") == 4);
  std::multiset<std::string> places;
  for (const EventValues& event : session.events("instruction")) {
    places.insert(event.device + " " + event.track);
    if (event.begin != 0) continue;
    CHECK(event.name == "MATMUL");
    CHECK(event.end == 100);
    CHECK(event.string("subgroup") == "Tensor");
    CHECK(event.string("operands") == "src=x");
    CHECK(event.integer("id") == kLargeId);
    CHECK(event.integer("raw_flops") == 2'000'000);
    CHECK(event.integer("evt_wait_time") == 5);
  }
  CHECK(places == std::multiset<std::string>{"nc4 TensorMatrix", "nc4 TensorMatrix", "nc5 Tensor", "nc5 Vector"});
  std::set<std::string> queues;
  for (const EventValues& event : session.events("dma")) queues.insert(event.track);
  CHECK(queues == std::set<std::string>{"qSync-Q1-E64", "qSync-Q1-E65"});
  CHECK(session.events("dma").at(0).integer("transfer_rate") == 12'800'000'000);
  const std::vector<EventValues> transfers = session.events("dma_transfer");
  REQUIRE(transfers.size() == 1);
  CHECK(transfers[0].track == "qSync");
  CHECK(transfers[0].string("source") == "WEIGHT");
  CHECK(transfers[0].string("dest_sb_partitions") == "0-127");
  const std::vector<EventValues> throttles = session.events("throttle");
  REQUIRE(throttles.size() == 1);
  CHECK(throttles[0].name == "activity_1");
  CHECK(throttles[0].integer("type") == 1);
  CHECK(throttles[0].device == "nc5");
  CHECK(session.events("hbm_throughput").at(0).real("hbm_transfer_rate") == 2.5);
  CHECK(session.events("hbm_throughput").at(0).integer("hbm_total_transfer_bytes") == 99);
  CHECK(session.events("psum_usage").at(0).real("bank_3_usage") == 0.5);
  CHECK(session.events("FrameworkNode").at(0).kind == "layer");
  CHECK(session.snapshot().meta_value("source.format") == "neuron-parquet");
  CHECK(session.snapshot().meta_value("metadata.profile_schema_version") == "7.4.0");
  CHECK(session.quality("wrong_types") == nullptr);
  CHECK(session.quality("unknown_table") == nullptr);
  CHECK(session.quality("transfers_incomplete") == nullptr);
  REQUIRE(session.metric("hardware_flops") != nullptr);
  CHECK(session.metric("hardware_flops")->value == 3e6);
  CHECK(session.metric("hardware_flops")->device == "nc4+nc5");
}

TEST_CASE("dependencies of a Parquet profile stand where the second event begins, and strangers are told") {
  const test::TemporaryFolder folder;
  write_export(folder.path());
  const Imported session = import_export(folder.path());
  std::set<std::pair<std::int64_t, std::int64_t>> arrows;
  for (const EventValues& event : session.events("dependency")) {
    arrows.emplace(event.begin, event.integer("out_id").value_or(0));
    if (event.begin == 200) CHECK(event.integer("gap_time") == 100);
  }
  CHECK(arrows == std::set<std::pair<std::int64_t, std::int64_t>>{{200, kLargeId + 1}, {10, 31}});
  REQUIRE(session.quality("rows_skipped") != nullptr);
  CHECK(session.quality("rows_skipped")->detail.find("row 2") != std::string::npos);
}

TEST_CASE("an instruction of a kernel has the calls, the line and the turn of its loops that the kernel's tables say") {
  const test::TemporaryFolder folder;
  write_export(folder.path());
  write_table(folder.path(), "Instruction",
              {whole_numbers("start_ts", {0, 200, 400}), whole_numbers("end_ts", {100, 300, 500}),
               texts("engine", {"Tensor", "Tensor", "Tensor"}), texts("timeline_track", {"Tensor", "Tensor", "Tensor"}),
               whole_numbers("pcore_idx", {0, 1, 0}), texts("opcode", {"MATMUL", "MATMUL", "NOP"}),
               whole_numbers("id", {1, 2, 3}), texts("kernel_instruction_name", {"inst.1:0", "inst.1:0", "other"})});
  write_table(folder.path(), "KernelInstructions",
              {texts("kernel_instruction_name", {"inst.1:0", "inst.1:0"}), whole_numbers("stack_frame_id", {42, 42}),
               whole_numbers("iteration_variables_id", {102, 102}), whole_numbers("pcore_idx", {0, 1}),
               texts("file_path", {"/k/mlp.py", "/k/mlp.py"}), whole_numbers("line_number", {76, 80})});
  write_table(
      folder.path(), "KernelStackFrames",
      {whole_numbers("stack_frame_id", {41, 42, 42}),
       texts("fully_qualified_function_name", {"mlp", "mlp.tile", "mlp.rest"}),
       whole_numbers("parent_stack_frame_id", {0, 41, 41}), whole_numbers("pcore_idx", {0, 0, 1}),
       texts("file_path", {"/k/mlp.py", "/k/mlp.py", "/k/mlp.py"}), whole_numbers("line_number", {17, 60, 70})});
  write_table(folder.path(), "KernelIterationVariables",
              {whole_numbers("iteration_variable_id", {101, 102, 102}), texts("variable_name", {"i", "k", "k"}),
               whole_numbers("variable_value", {2, 3, 4}), whole_numbers("parent_iteration_variable_id", {0, 101, 0}),
               whole_numbers("pcore_idx", {0, 0, 1})});
  const Imported session = import_export(folder.path());
  const std::vector<EventValues> events = session.events("instruction");
  REQUIRE(events.size() == 3);
  for (const EventValues& event : events) {
    CAPTURE(event.begin);
    const bool first = event.begin == 0, second = event.begin == 200;
    CHECK(event.string("stack_frames") == (first    ? "mlp.tile (/k/mlp.py:76)\nmlp (/k/mlp.py:17)"
                                           : second ? "mlp.rest (/k/mlp.py:80)"
                                                    : ""));
    CHECK(event.string("loop_variables") == (first ? "i=2, k=3" : second ? "k=4" : ""));
    CHECK(event.string("nki_source_location") == (first ? "/k/mlp.py:76" : second ? "/k/mlp.py:80" : ""));
  }
  CHECK(quality_count(session, "missing_source_locations") == 1);
}

TEST_CASE("below the calls inside of a kernel stand those of the framework that led to it") {
  const Imported session = Imported::text(
      R"({"instruction":[{"timestamp":1,"duration":1,"opcode":"ADD","label":"Vector","stack_frame_ids":"1","kernel_instruction_name":"a"}],
          "KernelInstructions":[{"kernel_instruction_name":"a","stack_frame_id":4,"file_path":"k.py","line_number":7}],
          "KernelStackFrames":[{"stack_frame_id":4,"fully_qualified_function_name":"tile","file_path":"k.py","line_number":3}],
          "stack_frame":[{"id":"1","file_location_id":1,"parent_frame_id":""}],
          "stack_frame_file_location":[{"id":"1","file_name_id":1,"function_name_id":1,"line_number":10}],
          "stack_frame_file_name":[{"id":"1","name":"m.py"}],"stack_frame_function_name":[{"id":"1","name":"main"}]})");
  const EventValues event = session.events("instruction").at(0);
  CHECK(event.string("stack_frames") == "tile (k.py:7)\nmain (m.py:10)");
  CHECK(event.string("nki_source_location") == "k.py:7");
  CHECK(event.string("other_stack_frames").empty());
}

TEST_CASE("an instruction has the names that the compiler's levels give its numbers, but none that it has itself") {
  const test::TemporaryFolder folder;
  write_export(folder.path());
  write_table(folder.path(), "Instruction",
              {whole_numbers("start_ts", {0, 200}), whole_numbers("end_ts", {100, 300}),
               texts("engine", {"Tensor", "Tensor"}), texts("timeline_track", {"Tensor", "Tensor"}),
               texts("opcode", {"MATMUL", "MATMUL"}), whole_numbers("id", {1, 2}), texts("hlo_name", {"", "dot.own"}),
               whole_numbers("raw_hlo_id", {7, 7}), whole_numbers("raw_penguin_id", {8, 9}),
               whole_numbers("raw_bir_id", {kLargeId, 1}), whole_numbers("raw_framework_id", {5, 6})});
  const auto level = [&](const char* table, const char* id, const char* name, std::int64_t of, const char* text) {
    write_table(folder.path(), table,
                {whole_numbers("id", {1}), whole_numbers(id, {of}), texts(name, {text}), whole_numbers("start_ts", {0}),
                 whole_numbers("end_ts", {100})});
  };
  level("FrameworkInstruction", "raw_framework_id", "framework_name", 5, "Layer[1]/aten.add");
  level("HloInstruction", "raw_hlo_id", "hlo_name", 7, "dot.1");
  level("PenguinInstruction", "raw_penguin_id", "penguin_name", 8, "float32<1 x 2048> $1345");
  level("BirInstruction", "raw_bir_id", "bir_name", kLargeId, "I-1347-2");
  const Imported session = import_export(folder.path());
  const std::vector<EventValues> events = session.events("instruction");
  REQUIRE(events.size() == 2);
  CHECK(events[0].string("layer") == "Layer[1]/aten.add");
  CHECK(events[0].string("hlo_name") == "dot.1");
  CHECK(events[0].string("penguin_name") == "float32<1 x 2048> $1345");
  CHECK(events[0].string("bir_instruction_name") == "I-1347-2");
  CHECK(events[1].string("hlo_name") == "dot.own");
  CHECK(events[1].string("penguin_name").empty());
  CHECK(events[1].string("layer").empty());
}

TEST_CASE("figures of a Parquet profile count what drains the partial sums, and weigh work as its rows say") {
  const test::TemporaryFolder folder;
  write_export(folder.path());
  const Imported session = import_export(folder.path());
  WorkerPool pool(2);
  TaskControl control;
  const auto metrics = analysis::session_metrics({session.store(), session.shared_snapshot(), pool, control});
  REQUIRE(metrics.ok());
  std::map<std::string, double> whole;
  std::map<std::string, double> second;
  for (const analysis::SessionMetric& metric : *metrics) {
    if (metric.value && metric.device == "nc4+nc5") whole[metric.name] = *metric.value;
    if (metric.value && metric.device == "nc5") second[metric.name] = *metric.value;
  }
  CHECK(whole["psum_read_sbuf_write_count"] == 1);
  CHECK(second["psum_read_sbuf_write_count"] == 1);
  CHECK(whole["hardware_flops"] == 3e6);
  CHECK(whole["transpose_flops"] == 1e6);
  CHECK(whole["adjusted_hardware_flops"] == 12e6);
  CHECK(whole["adjusted_transpose_flops"] == 4e6);
  CHECK(!second.contains("adjusted_hardware_flops"));
}

TEST_CASE("an export that is not finished is refused with the reason") {
  const test::TemporaryFolder folder;
  write_export(folder.path());
  const fs::path summary = fs::path(folder.path()) / "Summary.parquet";
  const std::uintmax_t size = fs::file_size(summary);
  fs::resize_file(summary, size - 1);
  std::string refused = refusal_of(folder.path());
  CHECK(refused.find("not finished") != std::string::npos);
  CHECK(refused.find("its end is missing") != std::string::npos);
  CHECK(refused.find("--disable-ui") != std::string::npos);
  fs::resize_file(summary, 4);
  refused = refusal_of(folder.path());
  CHECK(refused.find("Summary.parquet: the export is not finished: it has 4 bytes") != std::string::npos);
}

TEST_CASE("a damaged table of an export is named, and the others are read") {
  const test::TemporaryFolder folder;
  write_export(folder.path());
  fs::resize_file(fs::path(folder.path()) / "DmaPacket_0.parquet", 100);
  fs::remove(fs::path(folder.path()) / "Summary.parquet");
  const Imported session = import_export(folder.path());
  CHECK(session.count("instruction") == 4);
  CHECK(session.count("dma") == 1);
  REQUIRE(session.quality("table_unreadable") != nullptr);
  CHECK(session.quality("table_unreadable")->detail.find("DmaPacket_0.parquet: its end is missing") !=
        std::string::npos);
  CHECK(session.quality("summary_missing") != nullptr);
  for (const auto& entry : fs::directory_iterator(folder.path())) fs::resize_file(entry.path(), 30);
  CHECK(refusal_of(folder.path()).find("none of its tables can be read") != std::string::npos);
}

TEST_CASE("transfers that move less than the summary states are told of") {
  const test::TemporaryFolder folder;
  write_export(folder.path());
  std::vector<ParquetColumn> summary = {whole_numbers("dma_transfer_total_bytes", {1024})};
  for (int i = 0; i < 40; ++i) summary.push_back(reals(fmt::format("figure_{}", i), {0.5}));
  write_table(folder.path(), "Summary", summary);
  const Imported session = import_export(folder.path());
  REQUIRE(session.quality("transfers_incomplete") != nullptr);
  CHECK(session.quality("transfers_incomplete")->detail.find("50.0 % of the 1024") != std::string::npos);
}

TEST_CASE("a store of exports opens where it holds one profile, and lists them where it holds several") {
  const test::TemporaryFolder folder;
  const fs::path root = folder.path();
  write_export(root / "profiles" / "global" / "a@latest");
  for (const fs::path& place : {root, root / "profiles", root / "profiles" / "global"}) {
    const auto parts = sources::find_input_parts(sources::recognise(place.string()));
    REQUIRE(parts.ok());
    REQUIRE(parts->parts.size() == 1);
    CHECK(parts->parts[0].format->name == "neuron-parquet");
    CHECK(parts->parts[0].file.path.ends_with("a@latest"));
    CHECK(parts->skipped.empty());
  }
  write_export(root / "profiles" / "global" / "b c@latest");
  const auto several = sources::find_input_parts(sources::recognise(root.string()));
  REQUIRE(!several.ok());
  CHECK(several.message().find("holds 2 profiles") != std::string::npos);
  CHECK(several.message().find("accelscope " + (root / "profiles" / "global" / "a@latest").string()) !=
        std::string::npos);
  CHECK(several.message().find("'" + (root / "profiles" / "global" / "b c@latest").string() + "'") !=
        std::string::npos);
}

TEST_CASE("ranks of one job are parts of one session, and a single table says where to look") {
  const test::TemporaryFolder folder;
  const fs::path root = folder.path();
  write_export(root / "global" / "a@latest");
  write_export(root / "ranks" / "profile_rank_0");
  write_export(root / "ranks" / "profile_rank_1");
  const auto parts = sources::find_input_parts(sources::recognise((root / "ranks").string()));
  REQUIRE(parts.ok());
  REQUIRE(parts->parts.size() == 2);
  CHECK(parts->parts[1].label == "rank 1");
  const auto one = sources::find_input_parts(sources::recognise((root / "global" / "a@latest").string()));
  REQUIRE(one.ok());
  CHECK(one->parts.size() == 1);
  const std::string file = (root / "global" / "a@latest" / "Instruction.parquet").string();
  const std::string refused = refusal_of(file);
  CHECK(refused.find("the table Instruction of a Neuron profile") != std::string::npos);
  CHECK(refused.find("open their folder, " + (root / "global" / "a@latest").string()) != std::string::npos);
  const fs::path other = root / "other.parquet";
  fs::copy_file(file, other);
  const sources::RecognisedFile stranger = sources::recognise(other.string());
  CHECK(stranger.format() == nullptr);
  CHECK(stranger.why_not.find("a Parquet table") != std::string::npos);
}

}  // namespace accelscope::capture
