// A mark of the byte order before the first byte, which spreadsheets and editors put there, is nobody's business: every
// text is recognised and read as without it, packed or not.
#include <doctest/doctest.h>

#include <map>

#include "capture/sources/base/source.h"
#include "tests/capture/imported.h"
#include "tests/capture/recording_sink.h"
#include "tests/support/files.h"

namespace accelscope::capture::sources {
namespace {

struct Text {
  const char* name;
  std::string content;
};

std::vector<Text> texts() {
  return {
      {"ops_perf_results.csv",
       "OP CODE,OP TYPE,GLOBAL CALL COUNT,DEVICE ID,HOST START TS,DEVICE FW START CYCLE,DEVICE FW END CYCLE\r\n"
       "Matmul,tt_dnn_device,1,0,1000,9000,9090\r\n"},
      {"results.csv", "Index,KernelName,gpu-id,queue-id,pid,tid,grd,wgr,BeginNs,EndNs\n0,a,1,0,7,7,64,64,100,200\n"},
      {"908_kernel_trace.csv",
       "\"Kind\",\"Agent_Id\",\"Queue_Id\",\"Kernel_Name\",\"Start_Timestamp\",\"End_Timestamp\"\n"
       "\"KERNEL_DISPATCH\",4,1,\"gemm\",100,190\n"},
      {"phases-hostname-box.csv", "name,start_tsc.TSC,end_tsc,pid,tid\ntask,100,190,77,78\n"},
      {"report.csv", "Function\tCPU Time\tModule\nf\t1.25\tlibwork.so\n"},
      {"zones.csv", "name,src_file,src_line,ns_since_start,exec_time_ns,thread\nzone,a.cpp,1,100,90,5\n"},
      {"stacks.txt", "main;work;leaf 100\nmain;work 3\n"},
      {"perf.txt",
       "tool 7/8 [001] 12.000100: 1000 cycles:u: \n\t 7f12ab34 work+0x12 (/usr/lib/libwork.so)\n\t 55aa main+0x3 "
       "(/bin/tool)\n\n"},
      {"trace.json", R"({"traceEvents":[{"ph":"X","name":"a","pid":1,"tid":1,"ts":1,"dur":2}]})"},
      {"array.json", R"([{"ph":"X","name":"a","pid":1,"tid":1,"ts":1,"dur":2}])"},
      {"profile.json", R"({"instruction":[{"timestamp":10,"duration":9,"opcode":"MATMUL","id":1}]})"},
      {"run.hatchet",
       R"json([{"frame":{"name":"ROOT"},"metrics":{"time (ns)":5},"children":[]},{"CUDA":{"0":{"arch":"90"}}}])json"},
      {"noc_trace_dev0.json",
       R"([{"proc":"BRISC","noc":"NOC_0","sx":1,"sy":2,"type":"WRITE_","num_bytes":7,"timestamp":9,"run_host_id":2}])"},
  };
}

}  // namespace

TEST_CASE("texts of any format are read with a mark of the byte order before them as without it") {
  const test::TemporaryFolder folder;
  for (const Text& text : texts()) {
    CAPTURE(text.name);
    const std::string path = folder.file(text.name);
    const auto read = [&](const std::string& content) {
      test::write_file(path, content);
      const RecognisedFile file = recognise(path);
      REQUIRE_MESSAGE(file.format() != nullptr, file.why_not);
      RecordingSink sink;
      const Result<void> done = file.format()->run(path, {}, sink);
      REQUIRE_MESSAGE(done.ok(), done.message());
      std::map<std::string, int> found = {{"format " + std::string(file.name()), 1}};
      for (const RecordedEvent& event : sink.events()) ++found[event.name];
      for (const QualityEntry& entry : sink.qualities) ++found[entry.kind];
      return found;
    };
    const auto plain = read(text.content);
    CHECK(read("\xef\xbb\xbf" + text.content) == plain);
    CHECK(read(gzip_of("\xef\xbb\xbf" + text.content)) == plain);
  }
}

}  // namespace accelscope::capture::sources
