// What is written for other tools: VTune's intervals, the files of tt-metal's own tools, all of them as one archive.
#include <doctest/doctest.h>

#include "core/analysis/tenstorrent/operation_performance.h"
#include "core/export/base/writers.h"
#include "tests/app/program_run.h"

using namespace accelscope;
using test::csv;
using test::holds;
using test::ProgramOutcome;
using test::run;

namespace {

constexpr const char* kReport =
    "OP CODE,OP TYPE,GLOBAL CALL COUNT,DEVICE ID,DEVICE ARCH,ATTRIBUTES,MATH FIDELITY,CORE COUNT,HOST START TS,HOST "
    "END "
    "TS,HOST DURATION [ns],DEVICE FW START CYCLE,DEVICE FW END CYCLE,OP TO OP LATENCY [ns],DEVICE FW DURATION "
    "[ns],DEVICE KERNEL DURATION "
    "[ns],INPUT_0_W,INPUT_0_Z,INPUT_0_Y,INPUT_0_X,INPUT_0_DATATYPE,INPUT_0_MEMORY,INPUT_1_X,INPUT_1_Y,INPUT_1_W,INPUT_"
    "1_Z,INPUT_1_DATATYPE,INPUT_1_MEMORY,OWN COLUMN\n"
    "Matmul,tt_dnn_device,1024,0,wormhole_b0,\"{'a': 1, 'b': 2}\",HiFi4,64,1000,1500,500,90000,190000,0,100000,100000,"
    "1,1,1024,1024,BFLOAT16,DEV_1_DRAM_INTERLEAVED,2048,1024,1,1,BFLOAT16,DEV_1_L1_INTERLEAVED,12.5\n"
    "mark one,signpost,,,,,,,160000,,,,,,,,,,,,,,,,,,,,\n"
    "Softmax,tt_dnn_device,2048,0,wormhole_b0,{},,8,170000,170100,100,290000,295000,100000,5000,4000,"
    "1,1,32,32[19],BFLOAT16,DEV_1_L1_INTERLEAVED,,,,,,,\n"
    "ttnn.to_torch (torch),python_fallback,3,,,{},,,400000,400900,900,,,,,,,,,,,,,,,,,,\n";

std::string saved_report(const test::TemporaryFolder& folder) {
  const std::string path = folder.file("ops_perf_results.csv");
  test::write_file(path, kReport);
  return path;
}

std::string saved_log(const test::TemporaryFolder& folder) {
  const std::string path = folder.file("profile_log_device.csv");
  std::string text =
      "ARCH: wormhole_b0, CHIP_FREQ[MHz]: 1000\n"
      "PCIe slot, core_x, core_y, RISC processor type, timer_id, time[cycles since reset], data, run host ID,  zone "
      "name, type, source line, source file, meta data\n";
  const auto zone = [&](int core, const char* risc, const char* name, long begin, long end, int run) {
    for (const auto& [time, type] : {std::pair{begin, "ZONE_START"}, std::pair{end, "ZONE_END"}}) {
      text += "0," + std::to_string(core) + ",1," + risc + ",1," + std::to_string(time) + ",0," + std::to_string(run) +
              "," + name + "," + type + ",1,k.cc,\n";
    }
  };
  zone(1, "BRISC", "BRISC-FW", 1000, 9000, 1024);
  zone(1, "BRISC", "BRISC-KERNEL", 2000, 8000, 1024);
  zone(2, "NCRISC", "NCRISC-KERNEL", 2500, 5000, 1024);
  zone(1, "BRISC", "BRISC-FW", 12000, 13000, 2048);
  zone(1, "BRISC", "BRISC-KERNEL", 12100, 12900, 2048);
  test::write_file(path, text);
  return path;
}

TEST_CASE("an operations report that is written again has every cell, and reads back as the same session") {
  const test::TemporaryFolder folder;
  const std::string again = folder.file("again.csv");
  const ProgramOutcome written = run({"view", saved_report(folder), "--output-format", "ops-csv", "-o", again});
  REQUIRE_MESSAGE(written.code == app::terminal::kExitDone, written.err);
  const std::string text = test::read_file(again);
  CHECK(text.starts_with("OP CODE,OP TYPE,GLOBAL CALL COUNT,DEVICE ID,DEVICE ARCH,ATTRIBUTES,MATH FIDELITY,"));
  CHECK(holds(text.substr(0, text.find('\n')), ",PM FPU UTIL (%),"));
  CHECK(text.find("Matmul,") < text.find("mark one,signpost"));
  CHECK(text.find("mark one,signpost") < text.find("Softmax,"));
  const std::string question =
      "SELECT name, ts_ns, dur_ns, \"GLOBAL CALL COUNT\", ATTRIBUTES, \"INPUT_0_X\", \"OWN COLUMN\", \"HOST START TS\" "
      "FROM op ORDER BY ts_ns, name";
  const std::string rows = csv(saved_report(folder), question);
  CHECK(holds(rows, "32[19]"));
  CHECK(holds(rows, "12.5"));
  CHECK(csv(again, question) == rows);
  CHECK(csv(again, "SELECT name, ts_ns FROM signpost") ==
        csv(saved_report(folder), "SELECT name, ts_ns FROM signpost"));
}

TEST_CASE("of a device log the operations report tells what its zones do, by the tools' formulas") {
  const test::TemporaryFolder folder;
  const std::string made = folder.file("ops.csv");
  const ProgramOutcome written = run({"view", saved_log(folder), "--output-format", "ops-csv", "-o", made});
  REQUIRE_MESSAGE(written.code == app::terminal::kExitDone, written.err);
  CHECK(holds(written.err, "does not tell operations' names"));
  CHECK(csv(made,
            "SELECT \"GLOBAL CALL COUNT\", \"CORE COUNT\", \"DEVICE FW START CYCLE\", \"DEVICE FW END CYCLE\", "
            "\"DEVICE FW "
            "DURATION [ns]\", \"OP TO OP LATENCY [ns]\", \"DEVICE KERNEL DURATION [ns]\", \"DEVICE KERNEL DURATION PER "
            "CORE "
            "MIN [ns]\", \"DEVICE KERNEL DURATION PER CORE AVG [ns]\", \"DEVICE KERNEL FIRST TO LAST START [ns]\", "
            "\"DEVICE "
            "NCRISC KERNEL DURATION [ns]\" FROM op ORDER BY 1") ==
        "1024,2,1000,9000,8000,0,6000,2500,4250,500,2500\n2048,1,12000,13000,1000,3000,800,800,800,0,\n");
}

TEST_CASE("time stamps by core: a row for each, the begins and ends of its zones in cycles") {
  const test::TemporaryFolder folder;
  const ProgramOutcome written = run({"view", saved_log(folder), "--output-format", "rearranged-csv", "-o", "-"});
  REQUIRE_MESSAGE(written.code == app::terminal::kExitDone, written.err);
  CHECK(written.out ==
        "device,core_x,core_y,BRISC BRISC-FW begin 1,BRISC BRISC-FW end 1,BRISC BRISC-FW begin 2,BRISC BRISC-FW end 2,"
        "BRISC BRISC-KERNEL begin 1,BRISC BRISC-KERNEL end 1,BRISC BRISC-KERNEL begin 2,BRISC BRISC-KERNEL end 2,"
        "NCRISC NCRISC-KERNEL begin,NCRISC NCRISC-KERNEL end\n"
        "0,1,1,1000,9000,12000,13000,2000,8000,12100,12900,,\n"
        "0,2,1,,,,,,,,,2500,5000\n");
}

TEST_CASE("the report in tt-perf's style: shares, bounds by the chip's peaks, advice") {
  const test::TemporaryFolder folder;
  const ProgramOutcome printed = run({"view", saved_report(folder), "--table", "tt-perf", "--output-format", "csv"});
  REQUIRE_MESSAGE(printed.code == app::terminal::kExitDone, printed.err);
  // 2 x 1024 x 1024 x 2048 operations in 100 us on 64 of the 72 cores of 262 / 4 TFLOP/s; 2 MiB of DRAM.
  CHECK(holds(printed.out, "Matmul 1024 x 1024 x 2048"));
  CHECK(holds(printed.out, ",FLOP,"));  // 43 of 58 TFLOP/s
  CHECK(holds(printed.out, ",HOST,"));
  CHECK(holds(printed.out, "few cores"));
  CHECK(holds(printed.out, "a long gap"));
  CHECK(holds(run({"view", saved_report(folder), "--output-format", "tt-perf"}).out, "Matmul 1024 x 1024 x 2048"));
  using namespace analysis::tenstorrent;
  CHECK(bound_of(0.7, 0.2) == "DRAM");
  CHECK(bound_of(0.65, 0.65) == "BOTH");
  CHECK(bound_of(0.1, 0.66) == "FLOP");
  CHECK(analysis::tenstorrent::passes_of_fidelity("HiFi4") == 4);
  CHECK(analysis::tenstorrent::passes_of_fidelity("LoFi") == 1);
  CHECK(analysis::tenstorrent::passes_of_fidelity("") == 0);
  CHECK(analysis::tenstorrent::chip_peaks("blackhole")->dram_bytes_per_s == 512e9);
  CHECK(!analysis::tenstorrent::chip_peaks("another"));
}

TEST_CASE("intervals for VTune read back with the same names, times and threads") {
  const test::TemporaryFolder folder;
  const std::string source = folder.file("in-hostname-box.csv");
  test::write_file(
      source,
      "name,start_tsc.UTC,end_tsc,pid,tid\n\"a, b\",2013-08-28 01:02:03.0004,2013-08-28 01:02:03.0005,1,7\n"
      "inner,2013-08-28 01:02:03.00041,2013-08-28 01:02:03.00042,1,7\n");
  const std::string made = folder.file("out-hostname-box.csv");
  const ProgramOutcome written = run({"view", source, "--output-format", "vtune-csv", "-o", made});
  REQUIRE_MESSAGE(written.code == app::terminal::kExitDone, written.err);
  CHECK(holds(written.err, "became blanks"));
  const std::string text = test::read_file(made);
  CHECK(holds(text, "a  b,2013-08-28 01:02:03.000400000,2013-08-28 01:02:03.000500000,1,7\n"));
  const std::string question = "SELECT ts_ns, dur_ns, pid, tid FROM task ORDER BY ts_ns";
  CHECK(csv(made, question) == csv(source, question));
  CHECK(exporting::utc_text(0) == "1970-01-01 00:00:00.000000000");
  CHECK(exporting::utc_text(-1) == "1969-12-31 23:59:59.999999999");
}

TEST_CASE("a bundle holds what the session gives, under names with the time, and says what it lacks") {
  const test::TemporaryFolder folder;
  const std::string tar = folder.file("all.tar");
  const ProgramOutcome written = run({"view", saved_log(folder), "--bundle", tar});
  REQUIRE_MESSAGE(written.code == app::terminal::kExitDone, written.err);
  const std::string bytes = test::read_file(tar);
  REQUIRE(bytes.size() % 512 == 0);
  std::string names;
  for (std::size_t at = 0; at + 512 <= bytes.size() && bytes[at] != '\0';) {
    unsigned sum = 0;
    for (std::size_t i = 0; i < 512; ++i) sum += i >= 148 && i < 156 ? ' ' : static_cast<unsigned char>(bytes[at + i]);
    CHECK(std::stoul(bytes.substr(at + 148, 6), nullptr, 8) == sum);
    names += std::string(bytes.c_str() + at) + "\n";
    const std::size_t size = std::stoul(bytes.substr(at + 124, 11), nullptr, 8);
    at += 512 + (size + 511) / 512 * 512;
  }
  CHECK(holds(names, "device_stats_20"));
  CHECK(holds(names, "ops_perf_results_20"));
  CHECK(holds(names, "device_rearranged_timestamps_20"));
  CHECK(holds(names, "summary_20"));
  CHECK(!holds(names, "tt_perf_report"));
  CHECK(holds(written.err, "tt_perf_report.csv: the session has nothing for it"));
}

}  // namespace
