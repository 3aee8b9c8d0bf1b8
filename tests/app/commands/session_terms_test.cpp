// The words by which views speak of a session: whoever prints a number under one of them prints the same.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <sstream>

#include "app/mcp/server.h"
#include "core/analysis/figures/session_terms.h"
#include "core/analysis/figures/terminology.h"
#include "core/base/format.h"
#include "tests/app/program_run.h"

using namespace accelscope;
using namespace accelscope::app;
using test::csv;
using test::holds;
using test::run;

namespace {

double figure(const std::string& session, std::string_view name) {
  const std::string text =
      csv(session, fmt::format("SELECT value FROM metric WHERE name = '{}' AND device = ''", name));
  return text.empty() ? std::nan("") : std::strtod(text.c_str(), nullptr);
}

// The number after a key of JSON.
double number_after(const std::string& json, const std::string& key) {
  const std::size_t at = json.find(key);
  return at == std::string::npos ? std::nan("") : std::strtod(json.c_str() + at + key.size(), nullptr);
}

// What a coding agent is told of it.
std::string answers_to_agents(const std::string& session) {
  std::string input;
  for (const auto& [tool, arguments] : {std::pair("open_session", fmt::format(R"({{"path":["{}"]}})", session)),
                                        std::pair("summarise", std::string(R"({"session":"s1"})"))}) {
    input += fmt::format(R"({{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"{}","arguments":{}}}}})",
                         tool, arguments) +
             "\n";
  }
  std::istringstream in(input);
  std::ostringstream out, err;
  REQUIRE(mcp::serve_mcp(in, out, err, {}, {}));
  return out.str();
}

// What bounds it, without findings and what follows: up to the first semicolon.
std::string verdict_of(const std::string& summary) {
  const std::size_t line = summary.find('\n', summary.find(" events over ")) + 1;
  const std::size_t begin = summary.find_first_not_of(' ', line);
  return summary.substr(begin, summary.find_first_of(";\n", begin) - begin);
}

// What is printed behind a listing: the first sentence of its note.
std::string first_said(const std::string& session, const char* table) {
  const std::string said = run({"view", session, "--table", table}).err;
  const std::size_t begin = std::min(said.find("accel: "), said.size());
  return said.substr(begin, said.find_first_of(";\n", begin) - begin);
}

// Whose peak the verdict speaks of, how long each device is active, what the devices are called together.
void check_devices(const std::string& session, const std::string& verdict, const std::string& device) {
  const std::string levels = run({"view", session, "--table", "memory-levels", "--output-format", "json"}).out;
  const std::size_t compute = levels.find("\"path\": \"Compute");
  const bool alone =
      compute != std::string::npos && levels.find("\"path\": \"Compute", compute + 1) == std::string::npos;
  if (const std::size_t peak = verdict.find(" of peak"); peak != std::string::npos && alone) {
    CHECK(verdict.substr(0, peak) == format_share(number_after(levels.substr(compute), "\"share\": ")));
  }
  const std::string devices = run({"view", session, "--table", "devices", "--output-format", "csv"}).out;
  std::istringstream stated(
      csv(session, "SELECT device, round(value * 1e9) FROM metric WHERE name = 'total_active_time' AND device <> ''"));
  for (std::string row; std::getline(stated, row);) {
    const std::string name = row.substr(0, row.find(','));
    const std::size_t at = devices.find("\n" + name + ",");
    if (at == std::string::npos) continue;  // one that is made of those in the table
    const std::size_t active = devices.find(',', at + name.size() + 2) + 1;
    CHECK(std::strtod(devices.c_str() + active, nullptr) == std::strtod(row.c_str() + name.size() + 1, nullptr));
  }
  const std::size_t verb = std::min(verdict.find(" busy "), verdict.find(" idle "));
  const bool several = !device.empty() && device[0] >= '0' && device[0] <= '9';
  if (several && verb != std::string::npos) CHECK(verdict.substr(0, verb) == device);
  const std::string reported = answers_to_agents(session);
  CHECK(holds(reported, "\\\"device\\\":\\\"" + device));
  CHECK(holds(reported, "\\\"verdict\\\":\\\"" + verdict));
}

// The time that the verdict says a device idles is the time of its gaps, each of which is listed.
// False: the verdict says nothing of idle time.
bool check_gaps(const std::string& session, const std::string& verdict) {
  std::size_t at = verdict.find(" idle ");
  if (at == std::string::npos || verdict.find(" idle >") == at) return false;
  const double said = std::strtod(verdict.c_str() + at + 6, nullptr);
  std::istringstream gaps(run({"view", session, "--table", "idle", "--by", "device", "--output-format", "csv"}).out);
  double share = 0, devices = 0;
  std::string row;
  for (std::getline(gaps, row); std::getline(gaps, row); ++devices) {
    share += std::strtod(row.c_str() + row.rfind(',') + 1, nullptr);
  }
  const double count = std::max({1.0, devices, std::strtod(verdict.c_str(), nullptr)});  // "2 GPUs"
  CHECK(std::abs(100 * share / count - said) < 0.051);
  return true;
}

void check_views(const std::string& folder, const std::string& session) {
  CAPTURE(session);
  const double work_ns = figure(session, analysis::terms::kWork) * 1e9,
               total_ns = figure(session, analysis::terms::kTotal) * 1e9;
  const double active_ns = figure(session, analysis::terms::kActive) * 1e9,
               idle_ns = figure(session, analysis::terms::kIdle) * 1e9;
  const double events = figure(session, analysis::terms::kEvents), stated = figure(session, analysis::terms::kStated);
  REQUIRE(work_ns > 0);
  CHECK(active_ns <= total_ns + 1);
  CHECK(work_ns <= total_ns + 1);
  CHECK(active_ns + idle_ns == doctest::Approx(total_ns).epsilon(1e-9));
  const auto written = [](double ns) { return format_duration(std::round(ns)); };
  const std::string count = format_count(static_cast<std::uint64_t>(events));

  const std::string list = run({"list", folder, "--json"}).out;
  CHECK(number_after(list, "\"work_ns\": ") == doctest::Approx(work_ns).epsilon(1e-9));
  CHECK(number_after(list, "\"events\": ") == events);
  CHECK(number_after(list, "\"duration_ns\": ") == doctest::Approx(total_ns).epsilon(1e-9));
  CHECK(holds(run({"list", folder}).out, written(work_ns)));
  constexpr std::string_view kDevice = "\"device\": \"";
  const std::size_t device = list.find(kDevice) + kDevice.size();

  const std::string summary = run({"view", session, "--output-format", "summary-text"}).out;
  CHECK(holds(summary, count + " events over " + written(total_ns)));
  if (const std::size_t of_work = summary.find(" of work"); of_work != std::string::npos) {
    CHECK(summary.substr(0, of_work).ends_with(written(work_ns)));
  }

  const std::string report = run({"view", session, "--output-format", "markdown", "-o", "-"}).out;
  CHECK(holds(report, "- Events: " + count));
  CHECK(holds(report, "- Length: " + written(total_ns)));
  CHECK_MESSAGE(holds(report, verdict_of(summary)), report.substr(0, 1000));
  if (const std::string run_time = "Time of the run | "; !std::isnan(stated) && holds(report, run_time)) {
    CHECK(holds(report, run_time + written(stated * 1e9)));
  }
  CHECK(first_said(session, "bounds") == first_said(session, "critical-path"));
  check_devices(session, verdict_of(summary), list.substr(device, list.find('"', device) - device));

  const std::string advice = run({"advise", session, "--format", "json"}).out;
  for (std::size_t at = 0; (at = advice.find("\"saving_ns\": ", at)) != std::string::npos; ++at) {
    CHECK(number_after(advice.substr(at), "\"saving_ns\": ") <= work_ns + 1);
    CHECK(number_after(advice.substr(at), "\"share\": ") <= 1);
  }

  const std::string reported = answers_to_agents(session);
  CHECK(number_after(reported, R"(\"events\":)") == events);
  CHECK(number_after(reported, R"(\"duration_ns\":)") == doctest::Approx(total_ns).epsilon(1e-9));
  const std::string range = reported.substr(reported.find(R"(\"work_range_ns\":[)"));
  CHECK(number_after(range, ",") - number_after(range, "[") == doctest::Approx(work_ns).epsilon(1e-9));
  for (const std::string_view word : {analysis::terms::kWork, analysis::terms::kTotal, analysis::terms::kActive,
                                      analysis::terms::kIdle, analysis::terms::kEvents}) {
    const std::string entry = reported.substr(reported.find(fmt::format(R"({{\"name\":\"{}\")", word)));
    CHECK(number_after(entry, R"(\"value\":)") == doctest::Approx(figure(session, word)).epsilon(1e-9));
  }

  const test::TemporaryFolder other;
  std::filesystem::copy_file(session, other.file("other.accel"));
  const std::string compared = run({"compare", session, other.file("other.accel")}).out;
  const double headline_ns = std::isnan(stated) ? work_ns : stated * 1e9;
  CHECK_MESSAGE(holds(compared, fmt::format("{0} to {0}", written(headline_ns))), compared);
  CHECK_MESSAGE(holds(compared, fmt::format("active {0} to {0}", written(active_ns))), compared);
}

}  // namespace

TEST_CASE("every view of ten sessions shows the same number under the same word") {
  for (int seed = 1; seed <= 10; ++seed) {
    const test::TemporaryFolder folder;
    const std::string session = folder.file("s.accel");
    REQUIRE(run({"simulate", "-o", session, "--kernels", "1", "--seed", std::to_string(seed)}).code ==
            terminal::kExitDone);
    check_views(folder.path(), session);
  }
}

TEST_CASE("every view of real profiles shows the same number under the same word") {
  const char* root = std::getenv("ACCELSCOPE_REAL_DATA");
  if (root == nullptr) return;
  for (const char* file :
       {"neuron/allenkchau__baseline_bf16_s512.json", "neuron/profile_128x128x512.json",
        "kineto/TraceLens__h100__Qwen_Qwen1.5-0.5B-Chat__1016005.json.gz",
        "kineto/TraceLens__mi210__gpu_only_trace__gpu_only_trace.json.gz", "nsys/nsysai__h100_2gpu_1s.sqlite",
        "rocpd/ammarwa__test_rocm_database.db", "rocprof/TraceLens__rocprof__908_results.json.gz",
        "tenstorrent/ttperfreport__bh_p100_dlv3.csv", "xplane/xprof__tpu_v6e_inference_2.xplane.pb",
        "perfetto/GENERATED_torch_cupti_monitor_layout.pftrace", "reported/fused_ranks.json",
        "reported/proton_intra.chrome_trace"}) {
    const test::TemporaryFolder folder;
    const std::string session = folder.file("s.accel");
    REQUIRE(run({"import", std::string(root) + "/" + file, "-o", session}).code == terminal::kExitDone);
    check_views(folder.path(), session);
  }
}

TEST_CASE("what the verdict of any real profile says a device idles is the sum of the gaps that are listed") {
  const char* root = std::getenv("ACCELSCOPE_REAL_DATA");
  if (root == nullptr) return;
  int checked = 0;
  for (const char* kind : {"kineto", "nsys", "rocpd", "rocprof", "xplane", "reported"}) {
    for (const auto& entry : std::filesystem::directory_iterator(std::string(root) + "/" + kind)) {
      const test::TemporaryFolder folder;
      const std::string session = folder.file("s.accel");
      if (run({"import", entry.path().string(), "-o", session}).code != terminal::kExitDone)
        continue;  // some are broken
      CAPTURE(entry.path().string());
      const std::string summary = run({"view", session, "--output-format", "summary-text"}).out;
      checked += check_gaps(session, verdict_of(summary)) ? 1 : 0;
    }
  }
  CHECK(checked > 20);
}

TEST_CASE("a comparison is headed by what the maker publishes, and what explains it adds up to that") {
  const char* root = std::getenv("ACCELSCOPE_REAL_DATA");
  if (root == nullptr) return;
  const std::string base = std::string(root) + "/neuron/allenkchau__baseline_bf16_s512.json";
  const std::string fused = std::string(root) + "/neuron/allenkchau__fused_bf16_s512.json";
  const std::string text = run({"compare", base, fused}).out;
  CHECK(holds(text, "1.49× faster"));
  CHECK(holds(text, "first to last work 37.38 µs to 18.91 µs, 1.98× faster"));
  const std::string json = run({"compare", base, fused, "--explain", "--by", "line", "--format", "json"}).out;
  const double difference = number_after(json, "\"difference_ns\": ");
  CHECK(difference == number_after(json, "\"sum_ns\": "));
  CHECK(difference ==
        doctest::Approx((figure(fused, analysis::terms::kStated) - figure(base, analysis::terms::kStated)) * 1e9)
            .epsilon(1e-4));
}

TEST_CASE("each of the words has its entry in the glossary") {
  for (const std::string_view word :
       {analysis::terms::kTotal, analysis::terms::kWork, analysis::terms::kSpan, analysis::terms::kActive,
        analysis::terms::kIdle, analysis::terms::kEvents, analysis::terms::kStated}) {
    const analysis::FigureTerm* term = analysis::find_term(word);
    REQUIRE(term != nullptr);
    CHECK(term->name == word);
    CHECK_FALSE(term->text.empty());
  }
  for (const char* word :
       {"total", "work", "span", "active", "idle", "events", "stated", "wait", "of peak", "devices", "bound"}) {
    CHECK_MESSAGE(holds(run({"view", "--terminology", word}).out, "meaning"), word);
  }
}

TEST_CASE("two snapshots of memory are neither faster nor slower than each other") {
  const char* root = std::getenv("ACCELSCOPE_REAL_DATA");
  if (root == nullptr) return;
  const std::string folder = std::string(root) + "/memory_snapshot/";
  const std::string text =
      run({"compare", folder + "silmont__memory_forward_bf16_128.pickle", folder + "bcrafton__memory_snapshot.pickle"})
          .out;
  CHECK_FALSE(holds(text, "faster"));
  CHECK_FALSE(holds(text, "slower"));
  CHECK(holds(text, "the memory at the peak"));
  CHECK(holds(run({"view", folder + "bcrafton__memory_snapshot.pickle"}).out,
              "PyTorch memory peaks at 3.596 GiB, no work was recorded"));
}
