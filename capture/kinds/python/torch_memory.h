// PyTorch's memory of the programs of a capture, seen while they run: the collector inside each of them leaves what is
// new of its snapshot in a folder, a file at a time (capture/probe/python/accelscope/torch_memory.py), which is read
// and removed.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "capture/request/kind.h"
#include "capture/sources/base/sinks.h"
#include "core/base/result.h"

namespace accelscope::capture::kinds::python {

class TorchMemory {
 public:
  // `sink`: of the capture, for what is to be said of all programs.
  TorchMemory(const request::KindRun& run, EventSink& sink);
  ~TorchMemory();
  TorchMemory(const TorchMemory&) = delete;
  TorchMemory& operator=(const TorchMemory&) = delete;

  // Where programs leave their snapshots. Nothing can be read before.
  [[nodiscard]] Result<std::string> make_folder();
  // Reads what has come since, if it is time to look again.
  void turn();
  // Reads what is left once no program writes any more. Fails if nothing could be read, or a sink fails.
  [[nodiscard]] Result<void> finish();

 private:
  struct Program;
  void read_all();
  void read(const std::string& path);
  [[nodiscard]] Program& program_of(const std::string& process, bool is_first);
  void end(Program& program);
  void fail(const Result<void>& done);

  const request::KindRun& run_;
  EventSink& sink_;
  std::string folder_;
  std::chrono::steady_clock::time_point looked_;
  std::int64_t zero_unix_ns_ = 0;
  sources::SharedFacts facts_;
  std::vector<std::unique_ptr<Program>> programs_;
  std::map<std::string, Program*, std::less<>> running_;  // by the number of their process
  std::string unreadable_;                                // why the first one was
  Result<void> status_;
};

}  // namespace accelscope::capture::kinds::python
