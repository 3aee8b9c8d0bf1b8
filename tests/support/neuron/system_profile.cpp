#include "tests/support/neuron/system_profile.h"

#include <fmt/format.h>

#include <fstream>
#include <functional>

#include "tests/support/parquet/parquet_writer.h"

namespace accelscope::test {
namespace {

struct Worker {
  const char* instance;
  std::int64_t process;
  std::int64_t thread;
};
constexpr Worker kWorkers[] = {{"i-0a", 41, 7}, {"i-0a", 42, 7}, {"i-0b", 41, 9}};

void add_step(SystemRun& run, std::int64_t worker, int step) {
  constexpr std::int64_t kUs = 1000;
  const Worker& of = kWorkers[worker];
  const std::int64_t begin = SystemRun::kBegin + worker * kUs + step * SystemRun::kStep;
  const std::string flow = std::to_string(100 + worker * 10 + step);
  const auto add = [&](const char* source, std::string name, std::int64_t from_us, std::int64_t until_us,
                       bool on_core = false, std::vector<std::string> flows = {}, std::string attributes = {}) {
    run.events.push_back({static_cast<std::int64_t>(run.events.size()) + 1, std::move(name), begin + from_us * kUs,
                          begin + until_us * kUs, source, of.instance, of.process, of.thread, on_core ? 0 : -1,
                          on_core ? worker : -1, std::move(flows), std::move(attributes)});
  };
  const auto size = [](std::int64_t bytes) { return fmt::format(R"({{"size":{},"tensor_name":"input"}})", bytes); };
  add("framework", "torch_neuronx/x.py(83): step", 0, 900, false, {flow});
  add("framework", "aten::linear", 10, 800);
  add("neuron_rt", "nrt_tensor_write", 20, 120, false, {}, size(SystemRun::kWritten));
  add("neuron_rt", "dmem_buf_copyin", 30, 110, true, {}, size(SystemRun::kWritten));
  add("neuron_rt", "nrt_tensor_write_batch", 130, 180, false, {},
      fmt::format(R"({{"num_batches":2,"total_num_ops":2,"total_size":{},"colour":"red"}})", SystemRun::kBatch));
  add("neuron_rt", "dmem_buf_copyin", 135, 150, true, {}, size(200'000));
  add("neuron_rt", "dmem_buf_copyin", 155, 175, true, {}, size(300'000));
  add("neuron_rt", "nrta_execute_schedule", 200, 220, true, {flow});
  add("neuron_rt", "kbl_exec_wait", 230, 660, true);
  const std::int64_t device_time = begin + SystemRun::kExecutedFrom - SystemRun::kDeviceBehind;
  add("neuron_hw", "nc_exec_running", 250, 650, true, {flow},
      fmt::format(R"({{"model_id":7,"exec_id":{},"nc_timestamp_ns":{},"cpu_timestamp_ns":{}}})", step, device_time,
                  begin + SystemRun::kExecutedFrom));
  add("neuron_hw", "cc_running", 500, 600, true);
  add("neuron_hw", "cc_exec_barrier", 480, 500, true);
  add("neuron_rt", "nrt_tensor_read", 700, 750, false, {}, size(SystemRun::kRead));
  add("neuron_rt", "dmem_buf_copyout", 710, 740, true, {}, size(SystemRun::kRead));
}

void write_file(const std::filesystem::path& folder, const std::string& table,
                const std::vector<ParquetColumn>& columns) {
  std::filesystem::create_directories(folder);
  std::ofstream(folder / (table + ".parquet"), std::ios::binary) << parquet_file(columns);
}

template <typename Rows, typename Cell>
[[nodiscard]] ParquetColumn column(const std::string& name, ParquetType type, const Rows& rows, Cell cell) {
  ParquetColumn made{name, type, {}};
  for (const auto& row : rows) made.values.emplace_back(cell(row));
  return made;
}

[[nodiscard]] ParquetColumn::Value unless_absent(std::int64_t value) {
  return value < 0 ? ParquetColumn::Value() : ParquetColumn::Value(value);
}

}  // namespace

SystemRun system_run() {
  SystemRun run;
  for (int step = 0; step < SystemRun::kSteps; ++step) {
    for (std::int64_t worker = 0; worker < 3; ++worker) add_step(run, worker, step);
  }
  constexpr std::int64_t kMiB = 1 << 20;
  run.hbm = {{SystemRun::kBegin, 64 * kMiB, 0},
             {SystemRun::kBegin + 500'000, 64 * kMiB, 16 * kMiB},
             {SystemRun::kBegin + 1'000'000, 64 * kMiB, 8 * kMiB}};
  run.listed = {{"device_a", "i-0b", 41, 0, 7}};
  return run;
}

void write_system_tables(const SystemRun& run, const std::filesystem::path& folder) {
  const auto of = [&](const std::string& name, ParquetType type, auto value) {
    return column(name, type, run.events, value);
  };
  ParquetColumn flows = of("flow_id", kParquetBytes, [](const SystemEvent& e) {
    return e.flows.empty() ? ParquetColumn::Value() : ParquetColumn::Texts(e.flows);
  });
  flows.is_list = true;
  write_file(folder, "SystemProfileEvents",
             {of("id", kParquetInt64, [](const SystemEvent& e) { return e.id; }),
              of("name", kParquetBytes, [](const SystemEvent& e) { return e.name; }),
              of("start_ts", kParquetInt64, [](const SystemEvent& e) { return e.start; }),
              of("end_ts", kParquetInt64, [](const SystemEvent& e) { return e.end; }),
              of("duration_ns", kParquetInt64, [](const SystemEvent& e) { return e.end - e.start; }),
              of("trace_event_source", kParquetBytes, [](const SystemEvent& e) { return e.source; }),
              of("instance_id", kParquetBytes, [](const SystemEvent& e) { return e.instance; }),
              of("process_id", kParquetInt64, [](const SystemEvent& e) { return e.process; }),
              of("thread_id", kParquetInt64, [](const SystemEvent& e) { return e.thread; }),
              of("nc_idx", kParquetInt64, [](const SystemEvent& e) { return unless_absent(e.core); }),
              of("worker_gid", kParquetInt64, [](const SystemEvent& e) { return unless_absent(e.worker); }), flows,
              of("extra_attributes_json", kParquetBytes,
                 [](const SystemEvent& e) { return e.attributes.empty() ? ParquetColumn::Value() : e.attributes; })});
  const auto of_hbm = [&](const std::string& name, auto value) { return column(name, kParquetInt64, run.hbm, value); };
  write_file(folder, "SystemProfileHbmUsage",
             {of_hbm("timestamp", [](const HbmSample& s) { return s.time; }),
              of_hbm("total_bytes", [](const HbmSample& s) { return s.weights + s.tensors; }),
              of_hbm("generic_bytes", [](const HbmSample&) { return std::int64_t{0}; }),
              of_hbm("weights_bytes", [](const HbmSample& s) { return s.weights; }),
              of_hbm("tensors_bytes", [](const HbmSample& s) { return s.tensors; }),
              of_hbm("device_idx", [](const HbmSample&) { return std::int64_t{0}; }),
              of_hbm("hbm_idx", [](const HbmSample&) { return std::int64_t{1}; }),
              column("instance_id", kParquetBytes, run.hbm, [](const HbmSample&) { return std::string("i-0a"); })});
  const std::vector<int> one = {0};
  write_file(folder, "SystemProfileMetadata",
             {column("first_ts_ns", kParquetBytes, one, [](int) { return std::to_string(SystemRun::kBegin); }),
              column("ntff_version", kParquetInt64, one, [](int) { return std::int64_t{5}; }),
              column("hbm_capacity_bytes", kParquetInt64, one, [](int) { return SystemRun::kCapacity; })});
  if (run.listed.empty()) return;
  const auto of_list = [&](const std::string& name, ParquetType type, auto value) {
    return column(name, type, run.listed, value);
  };
  write_file(folder, "DeviceProfileList",
             {of_list("device_profile_name", kParquetBytes, [](const ListedProfile& p) { return p.name; }),
              of_list("instance_id", kParquetBytes, [](const ListedProfile& p) { return p.instance; }),
              of_list("process_id", kParquetInt64, [](const ListedProfile& p) { return p.process; }),
              of_list("nc_id", kParquetInt64, [](const ListedProfile& p) { return p.core; }),
              of_list("model_id", kParquetInt64, [](const ListedProfile& p) { return unless_absent(p.model); })});
}

std::string system_json(const SystemRun& run) {
  std::string rows;
  for (const SystemEvent& event : run.events) {
    const bool framework = event.source == "framework";
    std::string row = fmt::format(
        R"({{"id":{},"name":"{}","timestamp":{},"duration":{},"group":"{}","type":{},"instance_id":"{}","process_id":"{}",)"
        R"("thread_id":{})",
        event.id, event.name, event.start, event.end - event.start, framework ? "" : "nrt-nc-000",
        framework ? 99'999 : 11, event.instance, event.process, event.thread);
    if (event.core >= 0) row += fmt::format(R"(,"lnc_idx":"{}")", event.core);
    if (!event.flows.empty()) row += fmt::format(R"(,"flow_id":["{}"])", fmt::join(event.flows, "\",\""));
    if (!event.attributes.empty()) row += "," + event.attributes.substr(1, event.attributes.size() - 2);
    rows += (rows.empty() ? "" : ",\n") + row + "}";
  }
  return "{\"trace_events\":[" + rows + "]}";
}

void write_device_tables(const std::filesystem::path& folder, std::int64_t first, std::int64_t length,
                         const std::string& first_date) {
  constexpr std::int64_t kInstructions = 40;
  std::vector<std::int64_t> places;
  for (std::int64_t i = 0; i < kInstructions; ++i) places.push_back(i);
  const std::int64_t each = length / kInstructions;
  const auto number = [&](const std::string& name, auto value) { return column(name, kParquetInt64, places, value); };
  const auto text = [&](const std::string& name, auto value) {
    return column(name, kParquetBytes, places, [&](std::int64_t i) { return std::string(value(i)); });
  };
  const auto engine = [](std::int64_t i) { return i % 4 == 3 ? "Vector" : "Tensor"; };
  write_file(folder, "Instruction",
             {number("id", [](std::int64_t i) { return i + 1; }),
              number("start_ts", [&](std::int64_t i) { return first + i * each; }),
              number("end_ts", [&](std::int64_t i) { return first + (i + 1) * each; }),
              number("duration_ns", [&](std::int64_t) { return each; }), text("engine", engine),
              text("timeline_track", engine),
              text("opcode", [](std::int64_t i) { return i % 4 == 3 ? "ACTIVATE" : "MATMUL"; })});
  const std::vector<int> one = {0};
  write_file(folder, "Metadata",
             {column("profile_schema_version", kParquetBytes, one, [](int) { return std::string("7.4.0"); }),
              column("first_hw_timestamp", kParquetInt64, one, [&](int) { return first; }),
              column("last_hw_timestamp", kParquetInt64, one, [&](int) { return first + length; }),
              column("first_ts", kParquetBytes, one, [&](int) { return first_date; })});
}

}  // namespace accelscope::test
