// `accelscope compare` and `accelscope advise`: what is printed, and how they end.
#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>
#include <sstream>

#include "capture/sim/output/simulator.h"
#include "core/store/store.h"
#include "tests/app/program_run.h"
#include "tests/support/files.h"

using namespace accelscope;
using namespace accelscope::test;

namespace {

struct ComparedFiles {
  TemporaryFolder folder;
  std::vector<std::string> base, slower;

  explicit ComparedFiles(int captures) {
    for (const bool is_slower : {false, true}) {
      const std::string below = folder.file(is_slower ? "new" : "base");
      std::filesystem::create_directories(below);
      for (int i = 0; i < captures; ++i) {
        auto store = Store::create();
        REQUIRE(store.ok());
        StoreSink sink(**store);
        const auto seed = static_cast<std::uint64_t>(1 + i + (is_slower ? 50 : 0));
        REQUIRE(capture::sim::simulate({.seed = seed, .kernels = 1, .slower = is_slower ? 0.08 : 0.0}, sink).ok());
        const std::string path = below + "/" + std::to_string(i) + ".accel";
        REQUIRE((*store)->save(path).ok());
        (is_slower ? slower : base).push_back(path);
      }
    }
  }
  [[nodiscard]] std::vector<std::string> arguments(std::vector<std::string> more) const {
    std::vector<std::string> all{"compare"};
    all.insert(all.end(), base.begin(), base.end());
    all.insert(all.end(), slower.begin(), slower.end());
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }
};

}  // namespace

TEST_CASE("compare: a slower kernel ends with 1 where it was to be no more than 3 % slower, and with 0 at 20 %") {
  const ComparedFiles files(3);
  const ProgramOutcome failed = run(files.arguments({"--group-by", "folder", "--fail-above", "3%"}));
  CHECK(failed.code == app::terminal::kExitFailed);
  CHECK(holds(failed.out, "new (3 captures) against base (3 captures)"));
  CHECK(holds(failed.out, "% slower"));
  CHECK(holds(failed.out, "FAILED"));
  CHECK(run(files.arguments({"--group-by", "folder", "--fail-above", "20%"})).code == app::terminal::kExitDone);
  // Of figures that did not change no alarm is raised.
  CHECK(run(files.arguments({"--group-by", "folder", "--fail-above", "1%", "--metric", "hbm_read_bytes"})).code ==
        app::terminal::kExitDone);
  // The same captures against themselves.
  std::vector<std::string> same{"compare"};
  same.insert(same.end(), files.base.begin(), files.base.end());
  const std::string copy = files.folder.file("copy");
  std::filesystem::copy(std::filesystem::path(files.base[0]).parent_path(), copy);
  for (int i = 0; i < 3; ++i) same.push_back(copy + "/" + std::to_string(i) + ".accel");
  same.insert(same.end(), {"--group-by", "folder", "--fail-above", "0%"});
  const ProgramOutcome quiet = run(same);
  CHECK(quiet.code == app::terminal::kExitDone);
  CHECK(holds(quiet.out, "no difference beyond noise"));
}

TEST_CASE("compare: one capture a side is said to be no sample, and no limit is judged by it unless noise is stated") {
  const ComparedFiles files(1);
  const ProgramOutcome outcome = run(files.arguments({"--by", "metric,opcode,layer,line"}));
  CHECK(outcome.code == app::terminal::kExitDone);
  CHECK(holds(outcome.out, "whether noise explains it is not known"));
  CHECK(holds(outcome.out, "By opcode"));
  CHECK(holds(outcome.out, "MATMUL"));
  CHECK(holds(outcome.out, "transformer_layer.py:"));
  CHECK(run(files.arguments({"--fail-above", "3%"})).code == app::terminal::kExitUsage);
  CHECK(run(files.arguments({"--fail-above", "3%", "--noise", "0.5%"})).code == app::terminal::kExitFailed);
  CHECK(run(files.arguments({"--fail-above", "3%", "--metric", "no_such"})).code == app::terminal::kExitUsage);
  CHECK(run(files.arguments({"--fail-above", "much"})).code == app::terminal::kExitUsage);
  CHECK(run(files.arguments({"--metric", "work_time"})).code == app::terminal::kExitUsage);
  CHECK(run(files.arguments({"--group-by", "config"})).code == app::terminal::kExitUsage);
  CHECK(run({"compare", files.base[0]}).code == app::terminal::kExitUsage);
  CHECK(run({"compare", files.base[0], files.folder.file("absent.accel")}).code == app::terminal::kExitFailed);
  const ProgramOutcome json = run(files.arguments({"--format", "json", "--by", "metric,line,no_such_column"}));
  CHECK(json.code == app::terminal::kExitDone);
  CHECK(holds(json.out, "\"name\": \"work_time\""));
  CHECK(holds(json.out, "\"missing\": \"no table has a column no_such_column\""));
  CHECK(holds(run(files.arguments({"--format", "markdown"})).out, "| figure |"));
}

TEST_CASE("compare: where the data of two runs part is found, and equal data are said to be equal") {
  const ComparedFiles files(1);
  CHECK(holds(run(files.arguments({"--divergence"})).out, "no difference in"));
  CHECK(holds(run(files.arguments({"--divergence", "--json"})).out, "\"differing\": 0"));
}

TEST_CASE("advise: findings come ranked with their events, their line and what was not judged") {
  const ComparedFiles files(1);
  const ProgramOutcome text = run({"advise", files.base[0]});
  CHECK(text.code == app::terminal::kExitDone);
  CHECK(holds(text.out, "1. "));
  CHECK(holds(text.out, "What to try"));
  CHECK(holds(text.out, "Source line"));
  CHECK(holds(text.out, "   Event"));
  CHECK(holds(text.out, "Savings do not add up"));
  const ProgramOutcome json = run({"advise", files.base[0], "--format", "json"});
  CHECK(holds(json.out, "\"saving_ns\": "));
  CHECK(holds(json.out, "\"events\": [{\"id\": "));
  // Before the kernel begins there is nothing to find, and that is said.
  const ProgramOutcome nothing = run({"advise", files.base[0], "--range", "0:1us"});
  CHECK(nothing.code == app::terminal::kExitDone);
  CHECK(holds(nothing.out, "Nothing found."));
  CHECK(run({"advise"}).code == app::terminal::kExitUsage);
}

TEST_CASE("compare: the fused attention has fewer DMAs and fewer reloads than the baseline, as its authors tell") {
  const char* data = std::getenv("ACCELSCOPE_REAL_DATA");
  const std::string folder = std::string(data == nullptr ? "" : data) + "/neuron/allenkchau__";
  if (data == nullptr || !std::filesystem::exists(folder + "baseline_bf16_s512.json")) {
    MESSAGE("skipped: ACCELSCOPE_REAL_DATA names no such profiles");
    return;
  }
  const ProgramOutcome reported = run({"compare", folder + "baseline_bf16_s512.json", folder + "fused_bf16_s512.json"});
  CHECK(reported.code == app::terminal::kExitDone);
  CHECK(holds(reported.out, "DMAs (nc4): 2,661 to 968"));
  CHECK(holds(reported.out, "HBM reads per byte of input: 5.267 to 1"));
  // The kernels differ, so that no checksum of one tells of the other's results; fetching them is left out of it.
  CHECK(reported.out.starts_with("Whether the results differ is unknown: these are two programs"));
  CHECK(holds(reported.out, "Tensor"));
  CHECK_FALSE(holds(reported.out, "beyond noise"));
}

TEST_CASE("compare --explain: the terms of a slower kernel add up to its difference, by line, wait and resource") {
  const ComparedFiles files(1);
  const std::string a = files.base.front(), b = files.slower.front();
  const ProgramOutcome reported = run({"compare", "--explain", a, b});
  CHECK(reported.code == app::terminal::kExitDone);
  CHECK(holds(reported.out, "slower by"));
  CHECK(holds(reported.out, "transformer_layer.py:"));
  CHECK(holds(reported.out, "Nothing left over."));
  const ProgramOutcome json = run({"compare", "--explain", a, b, "--format", "json", "--rows", "3"});
  CHECK(json.code == app::terminal::kExitDone);
  const auto number_after = [&](const std::string& key, std::size_t from) {
    const std::size_t at = json.out.find("\"" + key + "\": ", from);
    REQUIRE(at != std::string::npos);
    return std::strtoll(json.out.c_str() + at + key.size() + 4, nullptr, 10);
  };
  const long long whole = number_after("difference_ns", 0);
  CHECK(whole > 0);
  for (const char* by : {"\"line\": {", "\"wait\": {", "\"resource\": {"}) {
    CAPTURE(by);
    const std::size_t part = json.out.find(by);
    REQUIRE(part != std::string::npos);
    const std::size_t left = json.out.find("\"left_out\"", part);
    long long sum = number_after("difference_ns", left);
    for (std::size_t at = json.out.find("difference_ns", part); at < left; at = json.out.find("difference_ns", at + 1))
      sum += number_after("difference_ns", at - 1);
    CHECK(sum == whole);
    CHECK(number_after("sum_ns", part) == whole);
  }
  CHECK(run({"compare", "--explain", a, b, "--by", "moon"}).code == app::terminal::kExitUsage);
}

TEST_CASE("compare --explain: of several captures a side the terms add up to the difference of their means") {
  const ComparedFiles files(2);
  const ProgramOutcome text =
      run(files.arguments({"--group-by", "folder", "--explain", "--by", "resource", "--rows", "0"}));
  CHECK(text.code == app::terminal::kExitDone);
  // Every digit is written, so that a reader can add them up.
  std::istringstream lines(text.out);
  double sum = 0, whole = 0;
  for (std::string line; std::getline(lines, line);) {
    const std::size_t unit = line.rfind(" µs"),
                      digits = unit == std::string::npos ? unit : line.find_last_of("+-", unit);
    const bool is_total = line.starts_with("total");
    if (digits == std::string::npos || line.starts_with("Longer") || line.find("slower by") != std::string::npos)
      continue;
    std::string number = line.substr(line.find_last_of("+-"));
    std::erase(number, ',');
    (is_total ? whole : sum) += std::strtod(number.c_str(), nullptr);
  }
  CHECK(whole > 0);
  CHECK(sum == doctest::Approx(whole).epsilon(1e-9));
  const ProgramOutcome json = run(files.arguments({"--group-by", "folder", "--json"}));
  const std::size_t at = json.out.find("\"name\": \"stated_total_time\"");
  REQUIRE(at != std::string::npos);
  const auto value = [&](const std::string& key) {
    return std::strtod(json.out.c_str() + json.out.find("\"" + key + "\": ", at) + key.size() + 4, nullptr);
  };
  CHECK((value("value") - value("base")) * 1e6 == doctest::Approx(whole).epsilon(1e-4));
}

TEST_CASE("compare: tags are taken whole, kernels stand against kernels by config, and swap turns them round") {
  const ComparedFiles files(2);
  std::vector<std::string> tagged{"compare"};
  for (const auto* side : {&files.base, &files.slower}) {
    for (std::size_t i = 0; i < side->size(); ++i) {
      const std::string to = (*side)[i] + ".tagged.accel", config = i == 0 ? "config=b=1, s=128" : "config=b=2; \"x\"";
      REQUIRE(run({"import", (*side)[i], "-o", to, "--tag", side == &files.base ? "kernel=plain" : "kernel=fused",
                   "--tag", config})
                  .code == app::terminal::kExitDone);
      tagged.push_back(to);
    }
  }
  const ProgramOutcome reported = run(tagged);
  CHECK(reported.code == app::terminal::kExitDone);
  CHECK(holds(reported.out, "fused (2 captures) against plain (2 captures)"));
  CHECK(holds(reported.out, "Kernel against kernel, by config"));
  CHECK(holds(reported.out, "b=1, s=128"));
  CHECK(holds(reported.out, "b=2; \"x\""));
  CHECK(holds(reported.out, "geometric mean of 2 configs"));
  CHECK(holds(reported.out, "Tensor"));
  CHECK(holds(reported.out, "Versions: Accelscope "));
  CHECK_FALSE(holds(reported.out, "beyond noise"));  // one capture of each kernel in each config
  const auto with = [&](std::vector<std::string> more) {
    std::vector<std::string> all = tagged;
    all.insert(all.end(), more.begin(), more.end());
    return run(all);
  };
  CHECK(holds(with({"--swap"}).out, "plain (2 captures) against fused (2 captures)"));
  CHECK(holds(with({"--columns", "mfu,hbm_read_bytes"}).out, "HBM read"));
  const ProgramOutcome unknown = with({"--columns", "hbm_reed_bytes"});
  CHECK(unknown.code == app::terminal::kExitUsage);
  CHECK(holds(unknown.err, "did you mean hbm_read_bytes"));
  const ProgramOutcome json = with({"--json"});
  CHECK(holds(json.out, "\"config\": \"b=1, s=128\""));
  for (const char* format : {"text", "markdown"}) {
    CAPTURE(format);
    const ProgramOutcome report = with({"--report", "--format", format});
    CHECK(report.code == app::terminal::kExitDone);
    for (const char* part :
         {"Kernel against kernel", "By opcode", "By line", "Nothing left over.", "Method", "Noise of "})
      CHECK_MESSAGE(holds(report.out, part), part);
  }
}

TEST_CASE("compare: whether the results differ is the first thing said, with the instruction where they part") {
  const TemporaryFolder folder;
  std::vector<std::string> paths;
  for (const std::uint32_t diverging : {0U, 0U, 70U}) {
    auto store = std::move(Store::create()).value();
    StoreSink sink(*store);
    capture::sim::SimulationOptions options{.seed = 1 + paths.size(), .kernels = 1};
    if (diverging > 0) options.diverging_operation = diverging;
    REQUIRE(capture::sim::simulate(options, sink).ok());
    paths.push_back(folder.file(std::to_string(paths.size()) + ".accel"));
    REQUIRE(store->save(paths.back()).ok());
  }
  CHECK(run({"compare", paths[0], paths[1]}).out.starts_with("The results agree: "));
  const ProgramOutcome differ = run({"compare", paths[0], paths[2]});
  CHECK(differ.out.starts_with("The results differ: "));
  CHECK(holds(differ.out.substr(0, differ.out.find('\n')), "; first "));
  CHECK(run({"compare", paths[0], paths[2], "--explain"}).out.starts_with("The results differ: "));
  CHECK(run({"compare", paths[0], paths[2], "--format", "markdown"}).out.starts_with("The results differ: "));
  CHECK(run({"compare", paths[0], paths[2], "--json"}).out.starts_with("{\n\"results_differ\": [\n {"));
  CHECK(holds(run({"compare", paths[0], paths[2], "--format", "html"}).out, "Do the results differ?"));
}

TEST_CASE("compare --format html: one page with the verdict, what explains it, tables, limits and both timelines") {
  const ComparedFiles files(3);
  const std::string page = files.folder.file("compared.html");
  const ProgramOutcome made =
      run(files.arguments({"--group-by", "folder", "--format", "html", "-o", page, "--fail-above", "3%"}));
  CHECK(made.code == app::terminal::kExitFailed);
  const std::string html = read_file(page);
  for (const char* text : {"new (3 captures) against base (3 captures)", "slower",
                           "What the difference is made of, by line", "Nothing left over.", "transformer_layer.py:",
                           "Figures", "By kernel", "FAILED", "Timeline: A, ", "Timeline: B, "}) {
    CAPTURE(text);
    CHECK(holds(html, text));
  }
  CHECK_FALSE(holds(html, "src=\"http"));
  CHECK(run(files.arguments({"--format", "html", "--divergence"})).code == app::terminal::kExitUsage);
}
