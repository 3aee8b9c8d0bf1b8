// What a query had to leave out. An unreadable chunk (a damaged file) does not fail a query that has a ScanReport: the
// chunk is skipped, counted here, and whoever shows the answer shows sentence() with it. Any number of threads.
#pragma once

#include <cstdint>
#include <mutex>
#include <string>

namespace accelscope {

class ScanReport {
 public:
  // events: of the chunk, wanted or not.
  void skip(std::uint64_t events, const std::string& why);
  void clear();
  [[nodiscard]] std::uint64_t skipped_events() const;
  [[nodiscard]] std::string sentence() const;  // "" if nothing was skipped

 private:
  mutable std::mutex mutex_;
  std::uint64_t chunks_ = 0;
  std::uint64_t events_ = 0;
  std::string why_;  // the first one
};

}  // namespace accelscope
