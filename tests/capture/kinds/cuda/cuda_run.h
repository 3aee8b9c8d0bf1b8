// Runs the CUDA test program, with its stand-ins for driver and CUPTI, under the kind `cuda` and reads back what was
// written.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tests/capture/kinds/probe_run.h"

namespace accelscope::capture {

struct CudaRun : ProbeRun {
  std::int64_t origin_ns = 0;  // capture time 0, as the program's clock has it
  // When the first chunk with kernels came, when the capture was paused, from when on no kernels came, and when it went
  // on; capture time.
  std::int64_t first_kernel_came_ns = 0, paused_ns = 0, quiet_ns = 0, resumed_ns = 0;

  // A number that the program printed: "base 123".
  [[nodiscard]] std::int64_t printed_number(const std::string& word) const;
  // The program's base time in capture time.
  [[nodiscard]] std::int64_t base() const { return printed_number("base") - origin_ns; }
  // "NAME -> NAME" of every flow.
  [[nodiscard]] std::map<std::string, std::size_t> flows() const;
  // Of the events of a table.
  [[nodiscard]] std::set<TrackNumber> tracks_of(const std::string& schema) const;

  // ns since the program's base time.
  void check_times(const RecordedEvent& event, std::int64_t begin_ns, std::int64_t end_ns) const;
  // Of a program that trains while its capture pauses: launches by calls of this name stop and go on, and what is in
  // use of memory at the end is known.
  void check_pause(const std::string& launch) const;
};

struct CudaSetup {
  std::string kind = "cuda", program = "cuda_for_tests";     // others say alike what they saw
  std::vector<std::pair<std::string, std::string>> options;  // of the kind: {"memory", "off"}
  std::vector<std::string> environment;                      // of the program, beside what the kind needs
  bool names_library = true;                                 // where CUPTI is, in ACCELSCOPE_CUPTI
  bool pauses = false;                                       // a while after the first kernel
  // A file that is made once kernels came that ended since the first came, or since the pause; "": none.
  std::string until;
  std::string ends_at;  // what the program prints when the capture ends, while it runs on; "": with the program
};
[[nodiscard]] CudaRun run_cuda(const std::vector<std::string>& arguments, const CudaSetup& setup = {});
// Without a capture.
[[nodiscard]] CudaRun run_cuda_plain(const std::vector<std::string>& arguments);

[[nodiscard]] std::string stand_in_cupti();

}  // namespace accelscope::capture
