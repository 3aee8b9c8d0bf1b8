// What is copied to other hosts, or goes into programs there, asks for nothing that an older system does not have.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cstdlib>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "capture/probe/host/files.h"
#include "capture/system/child_process.h"
#include "tests/capture/reach/reach_support.h"
#include "tests/support/programs_folder.h"

namespace {

using accelscope::capture::system::run_child;

const std::set<std::string> kGlibc = {"libc.so.6",
                                      "libm.so.6",
                                      "libdl.so.2",
                                      "libpthread.so.0",
                                      "librt.so.1",
                                      "ld-linux-x86-64.so.2",
                                      "ld-linux-aarch64.so.1"};

std::string readelf(const char* what, const std::string& file) {
  const auto read = run_child({"/usr/bin/readelf", "-W", what, file}, [] { return false; });
  REQUIRE(read.ok());
  REQUIRE(read->exit_code == 0);
  return read->output;
}

std::vector<std::string> words_of(const std::string& line) {
  std::istringstream stream(line);
  return {std::istream_iterator<std::string>(stream), {}};
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

// Of "GLIBC_2.31": 31; below 0: no version of glibc 2.
int minor_of(const std::string& version) {
  constexpr std::string_view kName = "GLIBC_2.";
  return version.starts_with(kName) ? std::atoi(version.c_str() + kName.size()) : -1;
}

// What the file needs that is not there with glibc 2.31: libraries, versions, symbols without one.
std::vector<std::string> missing_in_old_systems(const std::string& file, bool in_python) {
  constexpr int kOldestMinor = 31;
  std::vector<std::string> missing;
  for (const std::string& line : lines_of(readelf("--dynamic", file))) {
    const std::size_t name = line.find("Shared library: [");
    if (name == std::string::npos) continue;
    const std::string library = line.substr(name + 17, line.size() - name - 18);
    if (!kGlibc.contains(library)) missing.push_back(library);
  }
  // "  12: 0000000000000000     0 FUNC    GLOBAL DEFAULT  UND pthread_create@GLIBC_2.34 (3)"
  for (const std::string& line : lines_of(readelf("--dyn-syms", file))) {
    const std::vector<std::string> words = words_of(line);
    if (words.size() < 8 || words[6] != "UND" || words[4] == "WEAK") continue;
    const std::size_t at = words[7].find('@');
    const int minor = at == std::string::npos ? -1 : minor_of(words[7].substr(words[7].find_last_of('@') + 1));
    const bool of_python = in_python && (words[7].starts_with("Py") || words[7].starts_with("_Py"));
    if (!of_python && (minor < 0 || minor > kOldestMinor)) missing.push_back(words[7]);
  }
  return missing;
}

std::string listed(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += name + " ";
  return text;
}

}  // namespace

TEST_CASE("the agent needs no shared library but glibc's, and no symbol that glibc 2.31 does not have") {
  CHECK(listed(missing_in_old_systems(accelscope::test::programs_folder() + "/accelscope-agent", false)) == "");
}

TEST_CASE("libraries that the agent puts into programs need glibc 2.31 only") {
  const accelscope::capture::reach_test::ReachFolder cache;
  ::setenv("XDG_CACHE_HOME", cache.path().c_str(), 1);
  const auto laid = accelscope::capture::probes::ProbeFiles::lay_down();
  REQUIRE(laid.ok());
  std::size_t libraries = 0;
  for (const auto& file : accelscope::capture::probes::embedded_files()) {
    const std::string path(file.path);
    if (!path.ends_with(".so")) continue;
    ++libraries;
    INFO(path);
    CHECK(listed(missing_in_old_systems(laid->path(path), path.find("python") != std::string::npos)) == "");
  }
  CHECK(libraries == 5);  // CUDA, ROCm, OpenCL, ITT and zones, Python
}
