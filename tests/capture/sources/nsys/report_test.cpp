// Reports, converted by a stand-in for the vendor's tool that each case writes into a folder on PATH.
#include <doctest/doctest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>

#include "capture/sources/base/importers.h"
#include "tests/capture/imported.h"
#include "tests/support/files.h"
#include "tests/support/nsys_export.h"

namespace accelscope::capture::sources::nsys {
namespace {

namespace fs = std::filesystem;

// A report, and a folder of tools that alone is on PATH.
class ReportBench {
 public:
  ReportBench() {
    test::write_file(report(), std::string("NVIDIA Tegra Profiler Report\0\x01\x02", 31));
    fs::create_directories(folder_.file("tools"));
    fs::create_directories(folder_.file("tmp"));
    for (auto& [name, value] : old_) {
      const char* before = std::getenv(name);
      value = before == nullptr ? "" : before;
    }
    ::setenv("PATH", folder_.file("tools").c_str(), 1);
    ::setenv("TMPDIR", folder_.file("tmp").c_str(), 1);
  }
  ~ReportBench() {
    for (const auto& [name, value] : old_) {
      if (value.empty()) {
        ::unsetenv(name);
      } else {
        ::setenv(name, value.c_str(), 1);
      }
    }
  }
  ReportBench(const ReportBench&) = delete;
  ReportBench& operator=(const ReportBench&) = delete;

  void install(const std::string& script) const {
    test::write_file(folder_.file("tools/nsys"), "#!/bin/sh\nPATH=/bin:/usr/bin\n" + script);
    ::chmod(folder_.file("tools/nsys").c_str(), 0755);
  }
  [[nodiscard]] std::string report() const { return folder_.file("my report.nsys-rep"); }
  [[nodiscard]] std::string file(const std::string& name) const { return folder_.file(name); }
  [[nodiscard]] bool left_nothing() const { return fs::is_empty(folder_.file("tmp")); }

 private:
  test::TemporaryFolder folder_;
  std::pair<const char*, std::string> old_[2] = {{"PATH", ""}, {"TMPDIR", ""}};
};

}  // namespace

TEST_CASE("a report of Nsight Systems is converted by the vendor's tool and read, and nothing is left behind") {
  const ReportBench bench;
  REQUIRE(test::make_nsys_export(bench.file("converted.sqlite"), test::nsys_export_of_2022()).ok());
  bench.install("echo \"$@\" > '" + bench.file("arguments") + "'\ncp '" + bench.file("converted.sqlite") +
                "' \"$7\"\n");
  CHECK(recognise(bench.report()).name() == "nsys-rep");
  const Imported session = Imported::input(bench.report());
  CHECK(session.count("kernel") == 1);
  const std::string arguments = test::read_file(bench.file("arguments"));
  CHECK(arguments.starts_with("export --type sqlite --force-overwrite true --output "));
  CHECK(arguments.ends_with(bench.report() + "\n"));
  CHECK(bench.left_nothing());
}

TEST_CASE("a report of Nsight Systems that its tool cannot convert: what the tool printed, and the command to try") {
  const ReportBench bench;
  bench.install("echo 'unsupported version of the report'\nexit 3\n");
  const std::string message = Imported::input_failure(bench.report());
  CHECK(message.find("exit code 3") != std::string::npos);
  CHECK(message.find("unsupported version of the report") != std::string::npos);
  CHECK(message.find("export --type sqlite") != std::string::npos);
  CHECK(bench.left_nothing());
}

TEST_CASE("without the vendor's tool a report of Nsight Systems names the exact command to run elsewhere") {
  const ReportBench bench;
  const std::string message = Imported::input_failure(bench.report());
  if (message.find("not on PATH") == std::string::npos) return;  // it is installed on this machine
  CHECK(message.find("nsys export --type sqlite --force-overwrite true --output '" + bench.file("my report.sqlite") +
                     "' '" + bench.report() + "'") != std::string::npos);
}

}  // namespace accelscope::capture::sources::nsys
