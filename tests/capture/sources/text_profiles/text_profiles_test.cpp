// Profiles that tools print as text: VTune's intervals and reports, unitrace, perf script, collapsed stacks.
#include <doctest/doctest.h>

#include <fmt/format.h>

#include <algorithm>

#include "capture/sources/base/csv_table.h"
#include "capture/sources/base/import_report.h"
#include "capture/sources/base/importers.h"
#include "capture/sources/unitrace/command_name.h"
#include "tests/capture/recording_sink.h"

namespace accelscope::capture::sources {
namespace {

using TextImport = Result<void> (*)(std::unique_ptr<json::ByteSource>, const std::string&, const ImportOptions&,
                                    EventSink&);

void import_text(TextImport import, const std::string& text, RecordingSink& sink, const std::string& name = "t.txt") {
  const Result<void> done = import(json::ByteSource::from_memory(text), name, {}, sink);
  REQUIRE_MESSAGE(done.ok(), done.message());
}

std::vector<RecordedEvent> text_events(const RecordingSink& sink, const std::string& table, const std::string& name) {
  std::vector<RecordedEvent> found = sink.events();
  std::erase_if(found, [&](const RecordedEvent& event) {
    return sink.schema_of(event).name != table || (!name.empty() && event.name != name);
  });
  return found;
}

std::string string_value(const RecordingSink& sink, const RecordedEvent& event, const std::string& column) {
  return sink.strings.at(sink.view(event).stored(*sink.schema_of(event).find(column), event.row));
}

std::int64_t number_value(const RecordingSink& sink, const RecordedEvent& event, const std::string& column) {
  return sink.view(event).int64(*sink.schema_of(event).find(column), event.row);
}

std::uint64_t said(const RecordingSink& sink, const std::string& kind) {
  std::uint64_t count = 0;
  for (const QualityEntry& entry : sink.qualities) count += entry.kind == kind ? entry.count : 0;
  return count;
}

std::string said_of(const RecordingSink& sink, const std::string& kind) {
  std::string details;
  for (const QualityEntry& entry : sink.qualities) details += entry.kind == kind ? entry.detail + "\n" : "";
  return details;
}

TEST_CASE("external intervals: tasks on their threads, frames on their own, the host from the file's name") {
  RecordingSink sink;
  import_text(
      vtune::import_intervals,
      "name,start_tsc.QPC,end_tsc,pid,tid\r\nframe1,2,30,,\r\n\"a, b\",3,43,1,7\r\ninner,5,33,1,7\r\nbad,x,9,1,7\r\n",
      sink, "run/phases-hostname-octagon53.csv");
  const auto tasks = text_events(sink, "task", "");
  REQUIRE(tasks.size() == 2);
  CHECK(text_events(sink, "task", "a, b").size() == 1);
  CHECK(sink.tracks.at(tasks[0].track).name == "thread 7");
  CHECK(sink.tracks.at(tasks[0].track).host == "octagon53 process 1");
  const auto frames = text_events(sink, "frame", "frame1");
  REQUIRE(frames.size() == 1);
  CHECK(frames[0].end - frames[0].start == 28);
  CHECK(said(sink, "frequency_missing") == 1);
  CHECK(said(sink, "rows_skipped") == 1);
}

TEST_CASE("an interval of a process without a thread is a frame of that process, whatever the ids") {
  RecordingSink sink;
  import_text(vtune::import_intervals,
              "name,start_tsc.TSC,end_tsc,pid,tid\nwhole,1,2,7,\nodd,3,4,7,x\nminus,5,6,-1,-1\nnone,7,8,,\n"
              "thread,9,10,,5\nback,1,2,7,\n",
              sink);
  const auto frames = text_events(sink, "frame", "");
  REQUIRE(frames.size() == 4);
  for (const char* const name : {"whole", "odd", "back"}) {
    const auto found = text_events(sink, "frame", name);
    REQUIRE(found.size() == 1);
    CHECK(number_value(sink, found[0], "pid") == 7);
    CHECK(sink.tracks.at(found[0].track).name == "frames");
    CHECK(sink.tracks.at(found[0].track).host == "host process 7");
  }
  REQUIRE(text_events(sink, "task", "").size() == 2);
  const auto minus = text_events(sink, "task", "minus");
  REQUIRE(minus.size() == 1);
  CHECK(number_value(sink, minus[0], "tid") == -1);
}

TEST_CASE("a text without its last line end is read, and its report says that it may be cut") {
  struct Cut {
    TextImport import;
    std::string whole;
  };
  const Cut cuts[] = {
      {vtune::import_intervals, "name,start_tsc.TSC,end_tsc,pid,tid\nframe1,2,30,4,11\n"},
      {vtune::import_report, "Function\tCPU Time\nwork\t1.25\n"},
      {unitrace::import_unitrace,
       "Thread 1 Device 2 : \"k\" [ns] 1 (append) 2 (submit) 3 (start) 40 (end)\nsaid by the program\n"},
      {stacks::import_collapsed, "main;work 12\n"},
      {stacks::import_perf_script, "tool 12/13 [003] 12.345678901: cycles:u: \n\t 7f12 work (/lib/w.so)\n\n"},
  };
  for (const Cut& cut : cuts) {
    RecordingSink whole;
    import_text(cut.import, cut.whole, whole);
    CHECK(said(whole, "truncated") == 0);
    RecordingSink sink;
    import_text(cut.import, cut.whole.substr(0, cut.whole.size() - 1), sink);
    CHECK(sink.event_count == whole.event_count);
    CHECK(said(sink, "truncated") == 1);
  }
  // Whole lines, but not a whole sample.
  RecordingSink sample;
  import_text(stacks::import_perf_script,
              "tool 12/13 [003] 12.3: cycles:u: \n\t 7f12 work (/lib/w.so)\n\ntool 12/13 [003] 12.4: cycles:u: \n",
              sample);
  CHECK(said(sample, "truncated") == 1);
  RecordingSink flat;
  import_text(stacks::import_perf_script, "tool 12/13 [003] 12.3: cycles:u: \ntool 12/13 [003] 12.4: cycles:u: \n",
              flat);
  CHECK(said(flat, "truncated") == 0);
}

TEST_CASE("a table of unitrace that lost its middle takes no row of the next table for a name with commas") {
  RecordingSink sink;
  import_text(unitrace::import_unitrace,
              "=== Device Timing Summary ===\n\n Kernel, Calls, Time (ns)\n g<int, 2>(a, b), 3, 70\n"
              " h[SIMD16 {1; 1; 1}],0,0,563720,817391\n k, 1, 20\n",
              sink);
  CHECK(text_events(sink, "device_timing_summary", "").size() == 2);
  CHECK(text_events(sink, "device_timing_summary", "g<int, 2>(a, b)").size() == 1);
  CHECK(said(sink, "rows_skipped") == 1);
}

TEST_CASE("bytes of zero in a text cost their lines, and the report says where") {
  RecordingSink sink;
  std::string text = "main;work 12\nmain;read 1\nmain;write 5\n";
  text.replace(text.find("read"), 4, std::string(4, '\0'));
  import_text(stacks::import_collapsed, text, sink);
  CHECK(said(sink, "file_holes") == 4);
  CHECK(sink.meta.at("counts") == "17");
}

TEST_CASE("a table with more columns than a session holds is read without those, which is said") {
  std::string header = "Function\tCPU Time";
  std::string row = "work\t1.5";
  for (int i = 0; i < 60'000; ++i) {
    header += "\tc" + std::to_string(i);
    row += "\t7";
  }
  RecordingSink sink;
  import_text(vtune::import_report, header + "\n" + row + "\n", sink);
  const auto rows = text_events(sink, "report", "work");
  REQUIRE(rows.size() == 1);
  CHECK(sink.schema_of(rows[0]).columns.size() == kMostFileColumns);
  CHECK(said(sink, "values_left_out") == 60'001 - kMostFileColumns);
  CHECK(said_of(sink, "values_left_out").find(fmt::format("c{}, ", kMostFileColumns - 1)) != std::string::npos);
  // Tables of unitrace have no such number; a name of so many commas is one name.
  RecordingSink printed;
  std::string name = "f(";
  for (int i = 0; i < 100'000; ++i) name += "a, ";
  import_text(unitrace::import_unitrace,
              "=== Device Timing Summary ===\n\n Kernel, Calls, Time (ns)\n " + name + "b), 3, 70\n", printed);
  CHECK(text_events(printed, "device_timing_summary", name + "b)").size() == 1);
}

TEST_CASE("times of the day are ns since 1970, exactly") {
  CHECK(csv_utc_ns("2013-08-28 01:02:03.0004") == 1377651723000400000);
  CHECK(csv_utc_ns("1970-01-01T00:00:00Z") == 0);
  CHECK(csv_utc_ns("2024-02-29 23:59:59.999999999") == 1709251199999999999);
  for (const char* wrong :
       {"", "2013-02-30 01:02:03", "2013-08-28", "2013-08-28 01:02:03.4x", "yesterday 01:02:03 and"}) {
    CHECK(!csv_utc_ns(wrong));
  }
  RecordingSink sink;
  import_text(vtune::import_intervals,
              "name,start_tsc.UTC,end_tsc,pid,tid\nT,2013-08-28 01:02:03.0004,2013-08-28 01:02:03.0005,1234,1235\n",
              sink);
  CHECK(sink.meta.at("begin_unix_ns") == "1377651723000400000");
  const auto tasks = text_events(sink, "task", "T");
  REQUIRE(tasks.size() == 1);
  CHECK(tasks[0].end - tasks[0].start == 100'000);
}

TEST_CASE("a report of VTune: columns with commas in their names, time outside tasks left out") {
  RecordingSink sink;
  import_text(vtune::import_report,
              "Computing Task,Work Size:Global,GPU Memory Bandwidth, GB/sec:Read,Computing Task:Instance Count\n"
              "gemm,1024 x 1,12.5,3\n[Outside any task],,1.5,\nadd,64,7,1\n",
              sink);
  const auto rows = text_events(sink, "report", "");
  REQUIRE(rows.size() == 2);
  const auto gemm = text_events(sink, "report", "gemm");
  REQUIRE(gemm.size() == 1);
  const Schema& schema = sink.schema_of(gemm[0]);
  const auto bandwidth = schema.find("GPU Memory Bandwidth, GB/sec:Read");
  REQUIRE(bandwidth);
  CHECK(sink.view(gemm[0]).float64(*bandwidth, gemm[0].row) == 12.5);
  CHECK(schema.columns[*bandwidth].unit == "GB/s");
  CHECK(number_value(sink, gemm[0], "Computing Task:Instance Count") == 3);
  CHECK(said(sink, "rows_left_out") == 1);
}

TEST_CASE("names of unitrace's commands tell kinds, extents and bytes") {
  const unitrace::CommandName kernel = unitrace::read_command_name("f(a<b, c>[3])[SIMD32 {1; 1024; 1} {16; 2; 1}]");
  CHECK(kernel.kind == unitrace::CommandKind::kernel);
  CHECK(kernel.name == "f(a<b, c>[3])");
  CHECK(kernel.simd == 32);
  CHECK(kernel.groups == "[1, 1024, 1]");
  CHECK(kernel.group_size == "[16, 2, 1]");
  const unitrace::CommandName copy = unitrace::read_command_name("zeCommandListAppendMemoryCopy(M2D)[4194304]");
  CHECK(copy.kind == unitrace::CommandKind::copy);
  CHECK(copy.bytes == 4194304);
  CHECK(unitrace::read_command_name("zeCommandListAppendBarrier").kind == unitrace::CommandKind::other);
  CHECK(unitrace::read_command_name("plain[x]").name == "plain[x]");
}

TEST_CASE("lines and tables of unitrace between a program's own output") {
  RecordingSink sink;
  import_text(unitrace::import_unitrace,
              "hello from the program\n"
              "Thread 47 Device 597 : \"GEMM[SIMD32 {1; 1024; 1} {1024; 1; 1}]\" [ns] 1000 (append) 1100 (submit) 1300 "
              "(start) 1800 (end)\n"
              "Thread 47 Device 597 : \"zeCommandListAppendMemoryCopy(M2D)[4096]\" [ns] 900 (append) 950 (submit) 1000 "
              "(start) 1200 (end)\n"
              "Thread 47 Device 597 : \"cut\" [ns] 900 (append)\n"
              "\n=== Device Timing Summary ===\n\n                Total Execution Time (ns):           "
              "5579618203\n\n== L0 Backend ==\n\n"
              "    Kernel,       Calls,           Time (ns), Time (%)\n"
              "  f(a, b)[SIMD16 {1; 1; 1} {4; 2; 1}],  3,  9874480,    44.85\n  g, 1, 20, 0.1\n\n"
              "=== Kernel Properties ===\n\n   Kernel, Number of Arguments, SLM Per Work Group\n  f,  27     8\n",
              sink);
  const auto kernels = text_events(sink, "kernel", "GEMM");
  REQUIRE(kernels.size() == 1);
  CHECK(kernels[0].end - kernels[0].start == 500);
  CHECK(number_value(sink, kernels[0], "submit") == 1100);
  CHECK(string_value(sink, kernels[0], "grid") == "[1, 1024, 1]");
  const auto copies = text_events(sink, "memcpy", "zeCommandListAppendMemoryCopy(M2D)");
  REQUIRE(copies.size() == 1);
  CHECK(number_value(sink, copies[0], "bytes") == 4096);
  const auto rows = text_events(sink, "device_timing_summary", "");
  REQUIRE(rows.size() == 2);
  CHECK(text_events(sink, "device_timing_summary", "f(a, b)[SIMD16 {1; 1; 1} {4; 2; 1}]").size() == 1);
  CHECK(number_value(sink, text_events(sink, "device_timing_summary", "g").at(0), "Time (ns)") == 20);
  CHECK(number_value(sink, text_events(sink, "kernel_properties", "f").at(0), "SLM Per Work Group") == 8);
  CHECK(sink.metrics.size() == 1);
  CHECK(said(sink, "rows_skipped") == 1);
  CHECK(said(sink, "rows_left_out") == 1);
  CHECK(sink.meta.at("trace_begin_ns") == "1000");
}

TEST_CASE("samples of perf script: exact times, names with blanks, frames without symbols") {
  RecordingSink sink;
  import_text(stacks::import_perf_script,
              "# cmdline : perf record\n"
              "my tool 12/13 [003] 12.345678901:     250000 cycles:u: \n"
              "\t    7f12ab34 std::vector<int, a>::push_back(int const&)+0x12 (/usr/lib/libwork.so)\n"
              "\t    7f12ab35 [unknown] (/usr/lib/libother.so)\n"
              "\t    55aa main (/bin/tool)\n\n"
              "swapper     0 [000] 12.400000: cpu-clock:pppH:\n\n"
              "nonsense line\n",
              sink);
  const auto samples = text_events(sink, "cpu_sample", "");
  REQUIRE(samples.size() == 2);
  const auto deep = text_events(sink, "cpu_sample", "std::vector<int, a>::push_back(int const&)");
  REQUIRE(deep.size() == 1);
  CHECK(deep[0].start == 12345678901);
  CHECK(sink.tracks.at(deep[0].track).name == "my tool 13");
  CHECK(string_value(sink, deep[0], "stack") ==
        "std::vector<int, a>::push_back(int const&)\n/usr/lib/libother.so\nmain");
  CHECK(string_value(sink, deep[0], "event") == "cycles:u");
  CHECK(number_value(sink, deep[0], "period") == 250000);
  CHECK(number_value(sink, deep[0], "cpu") == 3);
  const auto idle = text_events(sink, "cpu_sample", "cpu-clock:pppH");
  REQUIRE(idle.size() == 1);
  CHECK(idle[0].start == 12400000000);
  CHECK(said(sink, "rows_skipped") == 1);
  CHECK(stacks::probe_perf_script("my tool 12/13 [003] 12.345678: cycles:u: \n\t 7f main (/bin/t)\n", "") > 0);
  CHECK(stacks::probe_perf_script("a;b 12\n", "") == 0);
}

TEST_CASE("perf script of one line a sample: as many samples as lines, each with its function and its time") {
  RecordingSink sink;
  import_text(stacks::import_perf_script,
              "   timer_manager  7741 [002]  1480.000000:     250000 cpu-clock:  ffffffff9e9b0095 __lock_text+0x25 "
              "([kernel.kallsyms])\n"
              "          pytest  8461 [003]  1480.000100:     250000 cpu-clock:      7fac85f24247 "
              "clock_nanosleep@@GLIBC_2.17+0xe7 (/usr/lib/libc.so)\n"
              "          pytest  8461 [001]  1480.900000:     250000 cpu-clock:      7fac85f24247 spin+0xe7 (/x)\n",
              sink);
  CHECK(text_events(sink, "cpu_sample", "").size() == 3);
  const auto locked = text_events(sink, "cpu_sample", "__lock_text");
  REQUIRE(locked.size() == 1);
  CHECK(string_value(sink, locked[0], "module") == "[kernel.kallsyms]");
  CHECK(number_value(sink, locked[0], "cpu") == 2);
  const auto spin = text_events(sink, "cpu_sample", "spin");
  REQUIRE(spin.size() == 1);
  CHECK(spin[0].end - spin[0].start == 250000);
  CHECK(said(sink, "truncated") == 0);
  CHECK(said(sink, "rows_skipped") == 0);
}

TEST_CASE("samples of perf stand for the time to the next one of their thread, and no longer than usual") {
  RecordingSink sink;
  std::string text;
  for (const int ms : {0, 1, 2, 3, 4, 5, 900, 901}) {
    text += fmt::format(
        "python3  5007 [003]   100.{:03}000:     250000 cycles:u: \n"
        "\t    55d0a0001000 gemm_inner+0x10 (/x/lib.so)\n\t    55d0a0002000 main+0x10 (/x/app)\n\n",
        ms);
  }
  import_text(stacks::import_perf_script, text, sink);
  const auto samples = text_events(sink, "cpu_sample", "gemm_inner");
  REQUIRE(samples.size() == 8);
  for (const RecordedEvent& sample : samples) CHECK(sample.end - sample.start == 1'000'000);
  CHECK(sink.schema_of(samples[0]).kind == EventKind::slice);  // what hotspots and trees of stacks add up
}

TEST_CASE("collapsed stacks become a flame graph: frames that follow each other are one, counts are kept") {
  RecordingSink sink;
  import_text(stacks::import_collapsed, "main;work;read 12\nmain;work 3\nmain;write 5\nno count\nother 1\n", sink);
  const auto main = text_events(sink, "frame", "main");
  REQUIRE(main.size() == 1);
  CHECK(main[0].end - main[0].start == 20'000);
  const auto work = text_events(sink, "frame", "work");
  REQUIRE(work.size() == 1);
  CHECK(number_value(sink, work[0], "counts") == 15);
  CHECK(text_events(sink, "frame", "read").at(0).end == 12'000);
  CHECK(text_events(sink, "frame", "write").at(0).start == 15'000);
  CHECK(sink.lanes.at(text_events(sink, "frame", "read").at(0).lane).depth == 2);
  CHECK(sink.meta.at("counts") == "21");
  CHECK(said(sink, "rows_skipped") == 1);
  CHECK(said(sink, "time_unit") == 1);
  CHECK(stacks::probe_collapsed("a;b 12\n", "") > 0);
  CHECK(stacks::probe_collapsed("plain words of a text\nmore of them\n", "") == 0);
}

TEST_CASE("collapsed stacks: a count that is no number costs its line alone") {
  RecordingSink sink;
  import_text(stacks::import_collapsed, "main;work nan\nmain;read 3\nmain;read -nan\nmain inf\n", sink);
  CHECK(text_events(sink, "frame", "work").empty());
  CHECK(sink.meta.at("counts") == "3");
  CHECK(said(sink, "rows_skipped") == 3);
}

TEST_CASE("perf script: a tracepoint's fields are kept, and what of frames is not is named") {
  RecordingSink sink;
  import_text(stacks::import_perf_script,
              "tool 7/8 [001] 12.000100: sched:sched_switch: prev_comm=tool prev_state=R ==> next_comm=idle\n"
              "\t 7f12ab34 schedule+0x12 ([kernel.kallsyms])\n"
              "  core.c:31\n"
              "\t 55aa main (/bin/tool)\n\n"
              "tool 7/8 [001] 12.000200: 1000 cache-misses: ffff8800aabb\n"
              "\t 7f12ab35 touch (/lib/w.so)\n\n",
              sink);
  const auto switched = text_events(sink, "cpu_sample", "schedule");
  REQUIRE(switched.size() == 1);
  const auto fields = sink.schema_of(switched[0]).find("fields");
  REQUIRE(fields);
  CHECK(sink.view(switched[0]).text(*fields, switched[0].row) == "prev_comm=tool prev_state=R ==> next_comm=idle");
  CHECK(string_value(sink, switched[0], "stack") == "schedule\nmain");
  const auto touched = text_events(sink, "cpu_sample", "touch");
  REQUIRE(touched.size() == 1);
  CHECK(sink.view(touched[0]).text(*fields, touched[0].row) == "ffff8800aabb");
  CHECK(said(sink, "unknown_columns") == 3);
  CHECK(said_of(sink, "unknown_columns").find("ip, symoff, srcline") != std::string::npos);
}

TEST_CASE("unitrace: tables under headings that are not known, and times of other names, are told of") {
  RecordingSink sink;
  import_text(unitrace::import_unitrace,
              "Thread 4 Device 5 Queue 6 : \"k\" [ns] 1 (append) 2 (submit) 3 (start) 40 (end) 41 (retired)\n"
              "=== Device Timing Summary ===\n\n Kernel, Calls, Time (ns)\n k, 1, 20\n cut\n\n"
              "=== Power Summary ===\n\n Domain, Joules\n card, 7\n package, 9\n",
              sink);
  CHECK(said_of(sink, "unknown_columns").find("Queue, retired") != std::string::npos);
  CHECK(said(sink, "unknown_table") == 3);
  CHECK(said_of(sink, "unknown_table").find("Power Summary") != std::string::npos);
  CHECK(said(sink, "rows_left_out") == 0);
  CHECK(sink.meta.at("source.rows.device_timing_summary") == "2");
  CHECK(sink.meta.at("source.read.device_timing_summary") == "1");
}

TEST_CASE("an interval's further columns are named, and every row of the table is in its sum") {
  RecordingSink sink;
  import_text(vtune::import_intervals,
              "name,start_tsc.TSC,end_tsc,pid,tid,color,shape\na,1,2,7,8,red,round\nb,x,2,7,8,red,round\n", sink);
  CHECK(text_events(sink, "task", "a").size() == 1);
  CHECK(said_of(sink, "unknown_columns").find("color, shape") != std::string::npos);
  CHECK(sink.meta.at("source.rows.interval") == "2");
  CHECK(sink.meta.at("source.read.interval") == "1");
}

TEST_CASE("texts that hold nothing of a tool are refused by name") {
  for (const TextImport import :
       {TextImport{vtune::import_intervals}, TextImport{vtune::import_report}, TextImport{unitrace::import_unitrace},
        TextImport{stacks::import_perf_script}, TextImport{stacks::import_collapsed}}) {
    for (const char* text : {"", "nothing of the kind\nat all", "\xff\xfe\n\n\"", ",,,\n"}) {
      RecordingSink sink;
      const Result<void> done = import(json::ByteSource::from_memory(std::string_view(text)), "odd.txt", {}, sink);
      REQUIRE(!done.ok());
      CHECK(done.message().find("odd.txt") != std::string::npos);
    }
  }
}

}  // namespace
}  // namespace accelscope::capture::sources
