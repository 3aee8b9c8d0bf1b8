// Makes the seeds of every fuzz target from the simulator: FOLDER/<target>/<seed>. Usage: make_corpus FOLDER
#include <fmt/format.h>

#include <cstdio>
#include <filesystem>
#include <fstream>

#include "capture/json/table_reader.h"
#include "capture/probe/bodies.h"
#include "capture/probe/cuda/format.h"
#include "capture/sim/output/simulator.h"
#include "capture/wire/messages.h"
#include "core/store/store.h"
#include "tests/support/neuron/neff.h"
#include "tests/support/neuron/simulated_profile.h"
#include "tests/support/nsys_export.h"
#include "tests/support/parquet/parquet_writer.h"
#include "tests/support/perfetto_writer.h"
#include "tests/support/recording_sink.h"
#include "tests/support/torch/allocator_model.h"
#include "tests/support/tracy_trace.h"
#include "tests/support/tt_log_generator.h"
#include "tests/support/xspace.h"

using namespace accelscope;

namespace {

void write(const std::filesystem::path& path, ByteView bytes) {
  std::filesystem::create_directories(path.parent_path());
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
}

capture::sim::SimulationOptions small(capture::sim::Detail detail) {
  capture::sim::SimulationOptions options;
  options.detail = detail;
  options.events = 300;
  options.kernels = 1;
  return options;
}

// A GPU, a kernel with the call that launched it, a copy, memory and a range, as cuda_records_fuzz cuts its input.
void make_cuda_records(const std::filesystem::path& folder) {
  using namespace probe::cuda;
  std::string all;
  const auto define = [&all](auto type, const probe::BodyWriter& body) {
    all += {'\0', static_cast<char>(type), static_cast<char>(body.bytes().size())};
    all += body.bytes();
  };
  const auto put = [&all](RecordType type, char value, const auto& record) {
    constexpr std::size_t kHead = sizeof(probe::RecordHead);
    all += {'\4', static_cast<char>(type), static_cast<char>(sizeof record - kHead), value};
    all.append(reinterpret_cast<const char*>(&record) + kHead, sizeof record - kHead);
  };
  define(probe::TracingDefinition::name, probe::BodyWriter().number(1U).text("gemm"));
  define(DefinitionType::context, probe::BodyWriter().number(1U).number(0U).number(0U).number(std::uint8_t{0}));
  define(DefinitionType::call, probe::BodyWriter().number(2U).number(211U).text("cudaLaunchKernel_v7000"));
  CallRecord call{};
  call.start = 1'000, call.end = 2'000, call.correlation = 7;
  put(RecordType::call, 0, call);
  KernelRecord kernel{};
  kernel.start = 3'000, kernel.end = 4'000, kernel.context = kernel.name = 1, kernel.correlation = 7;
  put(RecordType::kernel, 0, kernel);
  CopyRecord copy{};
  copy.start = 5'000, copy.end = 6'000, copy.bytes = 4096, copy.context = 1, copy.kind = 1;
  put(RecordType::copy, 0, copy);
  MemoryRecord memory{};
  memory.time = 7'000, memory.address = 4096, memory.bytes = 512, memory.operation = 1, memory.kind = 3;
  put(RecordType::memory, 0, memory);
  RangeRecord range{};
  range.time = 8'000;
  put(RecordType::range_push, 1, range);
  put(RecordType::range_pop, 0, RangeEndRecord{{}, 9'000, 0});
  all += std::string("\2\0\0", 3);
  write(folder / "kernel_and_call", std::as_bytes(std::span(all)));
}

// The first rows of every table of a simulated profile, alone and all together.
Result<void> make_profiles(const std::filesystem::path& folder) {
  const std::string whole = (folder / "whole.json").string();
  std::filesystem::create_directories(folder);
  if (Result<void> done = write_simulated_profile(small(capture::sim::Detail::full), whole); !done) return done;
  Result<std::unique_ptr<capture::json::ByteSource>> bytes = capture::json::ByteSource::open(whole);
  if (!bytes) return bytes.error();
  capture::json::JsonTableReader reader(std::move(bytes.value()), {});
  std::string all;
  capture::json::JsonWindow window;
  while (reader.next(window)) {
    if (!window.first_of_table) continue;
    std::string rows;
    for (std::size_t i = 0; i < window.rows.size() && i < 3; ++i) {
      rows.append(i == 0 ? "" : ",").append(window.row(i));
    }
    const std::string table = fmt::format("\"{}\":[{}]", window.table, rows);
    all.append(all.empty() ? "" : ",").append(table);
    const std::string alone = "{" + table + "}";
    write(folder / window.table, std::as_bytes(std::span(alone)));
  }
  all = "{" + all + "}";
  write(folder / "all", std::as_bytes(std::span(all)));
  std::filesystem::remove(whole);
  return {};
}

// One seed per message, and a whole stream; the first byte is the fuzz target's choice of decoder.
void make_wire_seeds(const std::filesystem::path& folder, const test::RecordingSink& collect) {
  using namespace capture::wire;
  const auto seed = [&folder](const std::string& name, std::uint8_t choice, ByteView bytes) {
    Bytes whole{static_cast<std::byte>(choice)};
    whole.insert(whole.end(), bytes.begin(), bytes.end());
    write(folder / "wire_fuzz" / name, whole);
  };
  Hello hello;
  hello.program = "accelscope-agent";
  hello.capabilities = {"stop", "durable"};
  std::vector<Frame> frames = {encode(hello),
                               encode(Start{}),
                               encode(Stop{"enough"}),
                               encode(Received{3}),
                               encode(Durable{3}),
                               encode(ProgressReport{1, 2, 3, "text"}),
                               encode(ErrorMessage{ErrorCode::busy, "later"})};
  std::uint64_t number = 0;
  for (const Definition& definition : collect.definitions) {
    frames.push_back(make_frame(FrameType::definition, encode(definition), ++number));
  }
  for (const SealedChunk& chunk : collect.chunks) frames.push_back(make_frame(FrameType::chunk, chunk.bytes, ++number));
  frames.push_back(encode(StreamEnd{Outcome::complete, number, 300, 1, "done", {{0, 300}}}));
  Bytes stream;
  for (const Frame& frame : frames) {
    const auto header = std::as_bytes(std::span(&frame.header, 1));
    stream.insert(stream.end(), header.begin(), header.end());
    stream.insert(stream.end(), frame.body.begin(), frame.body.end());
    if (frame.header.sequence != 0) continue;
    seed(std::string(frame_type_name(frame.header.type)), static_cast<std::uint8_t>(frame.header.type), frame.body);
  }
  seed("stream", 0, stream);
  Bytes log{std::byte{0}};  // the same as a file of frames; the rules of a connection do not hold there
  log.insert(log.end(), stream.begin(), stream.end());
  write(folder / "frame_log_fuzz" / "stream", log);
}

// A small device log of every era.
void make_device_logs(const std::filesystem::path& folder) {
  for (int era = 0; era < 8; ++era) {
    test::TtLogOptions options;
    options.era = static_cast<test::TtLogEra>(era);
    options.cores_x = options.cores_y = options.programs = 1;
    options.totals = options.events = options.counters = options.dispatch = options.traced = true;
    const std::string text = test::tt_log_text(options);
    write(folder / fmt::format("era-{}", static_cast<char>('a' + era)), std::as_bytes(std::span(text)));
  }
}

// A result of rocprofv3 and some of its tables.
void make_rocm_texts(const std::filesystem::path& folder) {
  const auto seed = [&](const char* name, const std::string& text) {
    write(folder / name, std::as_bytes(std::span(text)));
  };
  seed(
      "result",
      R"({"rocprofiler-sdk-tool":[{"metadata":{"pid":1,"node":{"hostname":"h"},"command":["a"]},"agents":[{"id":)"
      R"({"handle":2},"type":2}],"counters":[{"id":{"handle":5},"name":"W"}],"strings":{"buffer_records":[{"kind":"K",)"
      R"("operations":["o"]}],"marker_api":[{"key":1,"value":"m"}]},"kernel_symbols":[{"kernel_id":8,)"
      R"("formatted_kernel_name":"k"}],"callback_records":{"counter_collection":[{"dispatch_data":{"start_timestamp":1,)"
      R"("end_timestamp":2,"dispatch_info":{"dispatch_id":1,"kernel_id":8}},"records":[{"counter_id":{"handle":5},)"
      R"("value":1}]}]},"buffer_records":{"kernel_dispatch":[{"start_timestamp":3,"end_timestamp":4,"dispatch_info":)"
      R"({"agent_id":{"handle":2},"kernel_id":8,"dispatch_id":2,"grid_size":{"x":9,"y":1,"z":1},"workgroup_size":)"
      R"({"x":4,"y":1,"z":1}},"correlation_id":{"internal":7}}],"hip_api":[{"kind":0,"operation":0,"start_timestamp":1,)"
      R"("end_timestamp":2,"correlation_id":{"internal":7}}],"memory_copy":[{"start_timestamp":1,"end_timestamp":2,)"
      R"("bytes":4}]}}]})");
  seed("kernels",
       "\"Kind\",\"Agent_Id\",\"Dispatch_Id\",\"Kernel_Name\",\"Start_Timestamp\",\"End_Timestamp\",\"Grid_Size_X\","
       "\"Workgroup_Size_X\"\n\"K\",\"GPU 0\",1,\"f<a, b>\",1,2,64,32\n");
  seed("counters",
       "\"Dispatch_Id\",\"Kernel_Name\",\"Counter_Name\",\"Counter_Value\",\"Start_Timestamp\",\"End_Timestamp\"\n1,"
       "\"k\","
       "\"W\",1.5,1,2\n1,\"k\",\"V\",2,1,2\n");
  seed("calls",
       "\"Domain\",\"Function\",\"Start_Timestamp\",\"End_Timestamp\"\n\"MARKER\",\"m\",1,1\n\"HIP\",\"h\",1,3\n");
}

// Each of the tables of tracy-csvexport, with a comma in a name and a message of two lines.
void make_tracy_tables(const std::filesystem::path& folder) {
  const auto seed = [&](const char* name, const std::string& text) {
    write(folder / name, std::as_bytes(std::span(text)));
  };
  seed("zones",
       "name,src_file,src_line,ns_since_start,exec_time_ns,thread,value\n"
       "f<a, b>,a.cpp,3,100,50,1,text\ng,a.cpp,4,110,5,1,\ndepth,,,120,,,4.5\n");
  seed("operations",
       "name;src_file;src_line;zone_name;zone_text;ns_since_start;exec_time_ns;thread;special_parent_text\n"
       "TT_DNN;ops.cpp;9;plain;\"quoted; \"\"text\"\"\";1300;5;77;\n");
  seed("messages", "MessageName,total_ns\nhello,500\ntwo\nlines,700\n");
  seed("gpu", "name,src_file,Time from start of program,GPU execution time\nk,a.cu,10,20\nk,a.cu,15,20\n");
  seed("statistics",
       "name,src_file,src_line,total_ns,total_perc,counts,mean_ns,min_ns,max_ns,std_ns\n"
       "f,a.cpp,12,1200,12.5,3,400.25,1,900,0.5\n");
}

// Small memory snapshots of several versions.
void make_snapshots(const std::filesystem::path& folder) {
  for (std::uint32_t seed = 1; seed <= 4; ++seed) {
    test::TorchModelOptions options{.seed = seed, .requests = 40};
    options.times = seed != 2;
    options.expandable = seed == 3;
    options.history = seed == 4;
    options.protocol = static_cast<int>(1 + seed);
    const std::string pickle = test::TorchModel(options).pickle();
    write(folder / fmt::format("snapshot-{}", seed), std::as_bytes(std::span(pickle)));
  }
}

// A trace of every form, unpacked as the target takes it, and some packed.
void make_tracy_traces(const std::filesystem::path& folder) {
  const test::TracyModel model = test::rich_tracy_model(1);
  const auto seed = [&](const std::string& name, const std::string& bytes) {
    write(folder / name, std::as_bytes(std::span(bytes)));
  };
  for (const test::TracyRelease& release : test::tracy_releases()) {
    seed(fmt::format("v{}_{}{}", release.minor, release.patch, release.tenstorrent ? "_tt" : ""),
         test::tracy_trace_unpacked(model, release));
  }
  seed("lz4", test::tracy_trace(model, {10, 0}));
  seed("zstd_streams", test::tracy_trace(model, {13, 1}, {true, 3}));
}

void make_ops_reports(const std::filesystem::path& folder) {
  const std::string text =
      "OP CODE,OP TYPE,GLOBAL CALL COUNT,DEVICE ID,ATTRIBUTES,HOST START TS,HOST END TS,DEVICE FW START CYCLE,DEVICE "
      "FW "
      "END CYCLE,DEVICE FW DURATION [ns],PM FPU UTIL (%)\n"
      "Matmul,tt_dnn_device,1024,0,\"{'a': 1, 'b': 2}\",1000,1500,90000,94000,4000,31.5\n"
      "sign,signpost,,,,1600,,,,,\nfallback,python_fallback,2,,{},1700,1900,,,,\n"
      "Softmax,tt_dnn_device,3072,1,{},2000000000,2000000100,95000,96000,1000,\n"
      "Softmax,tt_dnn_device,3073,1,{},9000000000,9000000100,97000,98000,1000,\n";
  write(folder / "report", std::as_bytes(std::span(text)));
}

void make_networks(const std::filesystem::path& folder) {
  const std::string trace =
      R"([{"proc":"BRISC","zone":"K","zone_phase":"begin","sx":1,"sy":2,"timestamp":4351255299000},
{"proc":"BRISC","noc":"NOC_1","vc":-1,"sx":1,"sy":2,"dx":4,"dy":5,"num_bytes":4096,"type":"READ","timestamp":4351255299100},
{"proc":"BRISC","noc":"NOC_1","sx":1,"sy":2,"type":"READ_BARRIER_START","timestamp":4351255299200},
{"proc":"BRISC","noc":"NOC_1","sx":1,"sy":2,"type":"READ_BARRIER_END","timestamp":4351255299250}])";
  const std::string timeline =
      R"({"common_info":{"arch":"wormhole_b0","link_util":4.5},"noc_transfers":[{"id":0,"src":[0,1,3],"dst":[[0,0,9]],
"start_cycle":1,"end_cycle":37,"total_bytes":8,"noc_event_type":"WRITE_","route":[{"src":[0,1,3],"start_cycle":1,"end_cycle":9,"links":[[0,1,3,"NOC1_IN"]]}]}],
"timestep_data":[{"start_cycle":0,"end_cycle":256,"avg_link_demand":1.5,"noc":{"NOC0":{"avg_link_demand":2.5}},"link_demand":[[0,1,3,"NOC1_IN",12.25]]}]})";
  write(folder / "trace", std::as_bytes(std::span(trace)));
  write(folder / "timeline", std::as_bytes(std::span(timeline)));
}

// Small tables in every encoding, codec and kind of page; the first byte is the fuzz target's choice of table.
void make_parquet(const std::filesystem::path& folder) {
  using namespace test;
  std::vector<ParquetColumn> columns = {
      {"start_ts", kParquetInt64, {}, kDelta},     {"duration_ns", kParquetInt64, {}, kPlain},
      {"opcode", kParquetBytes, {}, kDictionary},  {"operands", kParquetBytes, {}, kDeltaBytes},
      {"engine", kParquetBytes, {}, kDeltaLength}, {"id", kParquetInt64, {}, kSplit},
      {"is_busy", kParquetBoolean, {}, kRle},      {"share", kParquetDouble, {}, kPlain}};
  for (std::int64_t row = 0; row < 40; ++row) {
    columns[0].values.emplace_back(row * 100);
    columns[1].values.emplace_back(row);
    columns[2].values.emplace_back(std::string(row % 3 == 0 ? "MATMUL" : "NOP"));
    columns[3].values.emplace_back(fmt::format("src=fp16@{:#x}", row));
    columns[4].values.emplace_back(std::string("Tensor"));
    columns[5].values.emplace_back((std::int64_t{1} << 60) + row);
    columns[6].values.emplace_back(row % 2);
    columns[7].values.emplace_back(static_cast<double>(row) / 4);
    if (row % 7 == 0) columns[7].values.back() = {};
  }
  ParquetColumn list{"intervals", kParquetInt64, {}, kPlain};
  list.is_list = true;
  for (std::size_t row = 0; row < 40; ++row) list.values.emplace_back(ParquetColumn::List(row % 4, 9));
  columns.push_back(list);
  for (const int codec : {kNoCodec, kSnappy, kGzip, kZstd, kLz4Raw}) {
    for (const int version : {1, 2}) {
      const std::string text = static_cast<char>(codec) + parquet_file(columns, {codec, version, 15, 25, false});
      write(folder / fmt::format("codec-{}-pages-{}", codec, version), std::as_bytes(std::span(text)));
    }
  }
}

void make_text_profiles(const std::filesystem::path& folder) {
  const auto seed = [&](const char* name, const std::string& text) {
    write(folder / name, std::as_bytes(std::span(text)));
  };
  seed("intervals", "name,start_tsc.UTC,end_tsc,pid,tid\nf,2013-08-28 01:02:03.0004,2013-08-28 01:02:03.0005,,\n");
  seed("intervals-of-all", "name,start_tsc.TSC,end_tsc,pid,tid\nnone,1,2,,\nprocess,3,4,7,\nboth,5,6,7,8\n");
  seed("report",
       "Computing Task,Work Size:Global,GPU Memory Bandwidth, GB/sec:Read,Computing Task:Total Time\nk,64,1.5,0.25\n");
  seed("commands",
       "Thread 47 Device 59 : \"GEMM[SIMD32 {1; 1024; 1} {1024; 1; 1}]\" [ns] 100 (append) 200 (submit) 300 (start) "
       "400 (end)\n"
       "\n=== Device Timing Summary ===\n\n  Total Execution Time (ns):  558\n\n== L0 Backend ==\n\n Kernel, Calls, "
       "Time (ns)\nf(a, b), 3, 98\n");
  seed("perf", "python 12/13 [003] 12.345678: 2500 cycles:u: \n\t7f12 work+0x12 (/lib/w.so)\n\t7f13 main (/bin/p)\n\n");
  seed(
      "hatchet",
      R"json([{"frame":{"name":"ROOT","type":"function"},"metrics":{},"children":[{"frame":{"name":"k"},"metrics":{"time (ns)":20,"count":3,"device_id":"1","flops16":4e6,"bytes":64},"children":[]}]},{"CUDA":{"1":{"arch":"90"}}}])json");
  seed("collapsed", "main;work;read 12\nmain;work 3\nother 1\n");
}

// A trace with an event of every phase, and the shapes that files come in.
void make_traces(const std::filesystem::path& folder) {
  const std::string rows =
      R"json({"ph":"M","name":"thread_name","pid":1,"tid":2,"args":{"name":"main"}},
{"ph":"X","cat":"cpu_op","name":"aten::mm","pid":1,"tid":2,"ts":10.125,"dur":7.5,"args":{"External id":5,"Input Dims":[[1,2],[]],"Call stack":"a.py(3): f;b.py(4): g"}},
{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":1,"tid":2,"ts":11,"dur":2,"args":{"cbid":211,"correlation":7,"stream":"0x0"}},
{"ph":"X","cat":"kernel","name":"gemm","pid":0,"tid":7,"ts":14,"dur":3.001,"args":{"stream":7,"correlation":7,"grid":[1,1,1],"blocks per SM":0.5}},
{"ph":"X","cat":"gpu_memcpy","name":"Memcpy","pid":0,"tid":"stream 7","ts":18,"dur":1,"args":{"bytes":64,"kind":"HtoD"}},
{"ph":"X","cat":"python_function","name":"a.py(33): f","pid":0,"tid":0,"ts":9,"dur":9,"args":{"Python parent id":null}},
{"ph":"s","id":7,"cat":"ac2g","name":"ac2g","pid":1,"tid":2,"ts":11},{"ph":"f","bp":"e","id":7,"cat":"ac2g","name":"ac2g","pid":0,"tid":7,"ts":14},
{"ph":"s","id":"x","cat":"c","name":"n","pid":1,"tid":2,"ts":11},{"ph":"t","id":"x","cat":"c","name":"n","pid":1,"tid":2,"ts":12},
{"ph":"f","id":"x","cat":"c","name":"n","pid":1,"tid":2,"ts":13},
{"ph":"B","name":"b","cat":"x","pid":1,"tid":3,"ts":1,"args":{"file":"k.cc","line":3}},{"ph":"E","pid":1,"tid":3,"ts":5,"args":{"y":true}},
{"ph":"b","id":"0x1","name":"b","cat":"x","pid":1,"tid":3,"ts":1},{"ph":"e","id":1,"name":"b","cat":"x","pid":1,"tid":3,"ts":5},
{"ph":"n","id2":{"local":"0x2"},"scope":"s","name":"b","cat":"x","pid":null,"tid":-1,"ts":1e1},
{"ph":"i","s":"t","name":"[memory]","pid":1,"tid":2,"ts":12,"args":{"Bytes":-512,"Addr":1234,"Device Type":1,"Device Id":0,"Total Allocated":0}},
{"ph":"C","name":"c","pid":1,"ts":4,"args":{"a":1,"b":2.5}},{"ph":"O","name":"o","ts":1}
)json";
  const auto seed = [&](const char* name, const std::string& text) {
    write(folder / name, std::as_bytes(std::span(text)));
  };
  seed("object",
       R"({"schemaVersion":1,"distributedInfo":{"rank":0},"deviceProperties":[{"id":0,"name":"d"}],"traceEvents":[)" +
           rows + R"(],"INFO":["dropped 3 records"],"baseTimeNanoseconds":17,"traceName":"t"})");
  seed("array", "[" + rows + "]");
  seed("unterminated", "[" + rows + ",");
  seed(
      "reversed",
      R"([{"ph":"X","name":"b","ts":9,"dur":1},{"ph":"X","name":"a","ts":1,"dur":9},{"ph":"X","name":"a","ts":1,"dur":9}])");
}

// Conversations that go well: the steps of fuzz/base/peer_script.h by the numbers that the targets give their messages.
void make_handshakes(const std::filesystem::path& folder) {
  const auto seed = [&](const char* name, std::initializer_list<std::uint8_t> messages) {
    Bytes script;
    for (const std::uint8_t each : messages) {
      script.push_back(std::byte{5});
      script.push_back(std::byte{each});
    }
    write(folder / name, script);
  };
  seed("handshake_agent_fuzz/whole", {0, 3, 15, 9, 10, 13, 14});
  seed("handshake_agent_fuzz/watched", {0, 5, 15});
  seed("handshake_agent_fuzz/controls", {0, 3, 7, 8, 11, 12, 6, 15});
  seed("handshake_agent_fuzz/guess", {1, 2});
  seed("handshake_viewer_fuzz/whole", {0, 1, 12, 2, 3, 3, 3, 3, 3, 3, 3, 3, 4, 13, 8, 9});
  seed("handshake_viewer_fuzz/reports", {0, 1, 12, 2, 5, 6, 3, 10, 7, 4});
  seed("handshake_viewer_fuzz/refused", {0, 1, 12, 11});
  const Bytes pages(64, std::byte{5});  // eight steps
  write(folder / "session_pages_fuzz" / "schema", pages);
  for (std::uint8_t what = 0; what < 12; ++what) {  // a step of each kind
    Bytes step(8, std::byte{13});
    step[0] = std::byte{what};
    write(folder / "session_changes_fuzz" / fmt::format("step-{}", what), step);
  }
}

Result<void> make(const std::filesystem::path& folder) {
  make_handshakes(folder);
  make_traces(folder / "chrome_json_fuzz");
  for (const capture::sim::Detail detail : {capture::sim::Detail::full, capture::sim::Detail::slim}) {
    test::RecordingSink collect;
    if (Result<void> done = capture::sim::simulate(small(detail), collect); !done) return done;
    const char* name = detail == capture::sim::Detail::full ? "full" : "slim";
    for (std::size_t i = 0; i < collect.chunks.size() && i < 40; ++i) {
      write(folder / "chunk_fuzz" / fmt::format("{}-{}", name, i), collect.chunks[i].bytes);
    }
    make_wire_seeds(folder, collect);
    Result<std::unique_ptr<Store>> store = Store::create();
    if (!store) return store.error();
    StoreSink sink(**store);
    if (Result<void> done = capture::sim::simulate(small(detail), sink); !done) return done;
    std::filesystem::create_directories(folder / "session_fuzz");
    if (Result<void> saved = (*store)->save((folder / "session_fuzz" / name).string()); !saved) return saved;
  }
  make_device_logs(folder / "tt_device_log_fuzz");
  make_tracy_tables(folder / "tracy_csv_fuzz");
  make_rocm_texts(folder / "rocm_fuzz");
  const std::string perfetto = test::varied_trace();
  write(folder / "perfetto_fuzz" / "varied", std::as_bytes(std::span(perfetto)));
  make_parquet(folder / "parquet_fuzz");
  make_snapshots(folder / "torch_memory_fuzz");
  make_tracy_traces(folder / "tracy_fuzz");
  for (const bool metadata_first : {false, true}) {
    const std::string space = test::small_tpu_space(metadata_first);
    write(folder / "xplane_fuzz" / (metadata_first ? "names_first" : "lines_first"), std::as_bytes(std::span(space)));
  }
  const std::string program = test::neff_file(test::tar_file(test::small_program()));  // not packed: any byte counts
  write(folder / "neff_fuzz" / "whole", std::as_bytes(std::span(program)));
  make_ops_reports(folder / "tt_ops_fuzz");
  std::filesystem::create_directories(folder / "nsys_fuzz");
  for (const auto& [name, sql] :
       {std::pair{"2026", test::nsys_export_of_2026()}, {"2022", test::nsys_export_of_2022()}}) {
    if (Result<void> made = test::make_nsys_export((folder / "nsys_fuzz" / name).string(), sql); !made) return made;
  }
  make_cuda_records(folder / "cuda_records_fuzz");
  make_networks(folder / "tt_noc_fuzz");
  make_text_profiles(folder / "text_profiles_fuzz");
  return make_profiles(folder / "neuron_json_fuzz");
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    fmt::print(stderr, "make_corpus: needs one argument, the folder to write to\n");
    return 2;
  }
  const Result<void> made = make(argv[1]);
  if (!made) fmt::print(stderr, "make_corpus: {}\n", made.message());
  return made ? 0 : 1;
}
