// The real programs on a file system, or with a memory, that fails: see tests/support/faults/fault_shim.cpp.
#pragma once

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "core/store/store.h"
#include "tests/capture/wire/wire_support.h"
#include "tests/faults/trial_folder.h"
#include "tests/support/process.h"
#include "tests/support/programs_folder.h"
#include "tests/support/sanitized.h"
#include "tests/support/wait.h"

namespace accelscope::capture {

struct Fault {
  std::string kind;  // "": only count
  long at = 0;
};

struct Ended {
  int status = 0;
  std::string output;
};

// A folder whose calls are counted and fail, and others beside it that are sound.
struct FaultyPlace {
  TrialFolder root;
  std::filesystem::path disk = root.path / "disk", other = root.path / "other", shadow = root.path / "shadow";
  FaultyPlace() {
    for (const std::filesystem::path& folder : {disk, other, shadow}) std::filesystem::create_directory(folder);
  }

  [[nodiscard]] Ended run(const std::vector<std::string>& program, const Fault& fault) const {
    return run_with(program, fault, "");
  }
  // The fault is a wish for 64 KiB of memory or more.
  [[nodiscard]] Ended run_without_memory(const std::vector<std::string>& program, const Fault& fault) const {
    return run_with(program, fault, "65536");
  }
  [[nodiscard]] Result<test::Process> start(const std::vector<std::string>& program, const Fault& fault,
                                            const std::string& memory) const {
    std::vector<std::string> argv = {"/usr/bin/env",
                                     "LD_PRELOAD=" + test::programs_folder() + "/../lib/libfault_shim.so",
                                     "ACCELSCOPE_FAULT_FOLDER=" + (memory.empty() ? disk.string() : ""),
                                     "ACCELSCOPE_FAULT_MEMORY=" + memory,
                                     "ACCELSCOPE_FAULT_COUNT=" + (root.path / "count").string(),
                                     "ACCELSCOPE_FAULT_SHADOW=" + shadow.string(),
                                     "ACCELSCOPE_FAULT_KIND=" + fault.kind,
                                     fmt::format("ACCELSCOPE_FAULT_AT={}", fault.at),
                                     "TMPDIR=" + other.string(),
                                     "HOME=" + other.string(),
                                     "XDG_STATE_HOME=" + other.string(),
                                     "XDG_RUNTIME_DIR=" + other.string(),
                                     "XDG_CONFIG_HOME=" + other.string()};
    std::filesystem::remove(root.path / "count");
    argv.insert(argv.end(), program.begin(), program.end());
    return test::Process::start(argv);
  }
  [[nodiscard]] Ended run_with(const std::vector<std::string>& program, const Fault& fault,
                               const std::string& memory) const {
    Result<test::Process> process = start(program, fault, memory);
    if (!process) return {-1, process.message()};
    const int status = process->finish(test::kPatience);
    return {status, process->output()};
  }
  [[nodiscard]] long calls() const {
    std::ifstream file(root.path / "count", std::ios::binary);
    long number = 0;
    file.read(reinterpret_cast<char*>(&number), sizeof number);
    return number;
  }
};

inline std::uint64_t events_in_session(const std::filesystem::path& path) {
  const Result<std::unique_ptr<Store>> store = Store::open(path.string());
  return store ? (*store)->snapshot()->event_count : 0;
}

inline long step_of_calls(long calls, long most) {
  const char* wanted = std::getenv("ACCELSCOPE_FAULTS_STEP");
  return wanted != nullptr ? std::max(1L, std::atol(wanted)) : std::max(1L, calls / most);
}

inline bool has_programs(bool viewer) {
  if (test::sanitized()) {
    MESSAGE("skipped: a sanitizer wants to be loaded first");
    return false;
  }
  if (!viewer || std::filesystem::exists(test::programs_folder() + "/accelscope")) return true;
  MESSAGE("skipped: this build has no viewer");
  return false;
}

inline const std::string kAgentProgram = test::programs_folder() + "/accelscope-agent";
inline const std::string kViewerProgram = test::programs_folder() + "/accelscope";

}  // namespace accelscope::capture
