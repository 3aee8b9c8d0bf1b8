// Puts the files of a growing log on the disk while the log goes on: they are synced in the order in which they were
// begun, and their folder with each of them, so that what counts as synced has no hole.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "capture/log/frame_segment.h"

namespace accelscope::capture::log {

class DiskSync {
 public:
  // The folders above may be new as well, and a file is only there if its folders are.
  explicit DiskSync(const std::filesystem::path& folder);
  ~DiskSync();
  DiskSync(const DiskSync&) = delete;
  DiskSync& operator=(const DiskSync&) = delete;

  // The file's frames up to `sequence`. A copy of the descriptor is kept until it is synced.
  void request(int descriptor, std::uint32_t segment, std::uint64_t sequence);
  void wait();                                 // until all that was requested is synced, or cannot be
  [[nodiscard]] std::uint64_t synced() const;  // frames up to this one are on the disk
  [[nodiscard]] std::string failure() const;   // "": none

 private:
  struct Request {
    system::Descriptor file;
    std::uint32_t segment = 0;
    std::uint64_t sequence = 0;
  };
  void run();
  void fail();

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Request> waiting_;
  std::uint64_t synced_ = 0;
  bool busy_ = false;
  std::string failure_;
  bool ending_ = false;
  system::Descriptor folder_;
  std::vector<system::Descriptor> above_;  // until they are synced
  std::thread thread_;                     // last: everything else is there when it begins
};

}  // namespace accelscope::capture::log
