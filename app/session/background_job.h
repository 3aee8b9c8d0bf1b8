// Work that must not block a frame: opening, importing, saving. It runs on its own thread, reports done and total,
// can be cancelled, and hands over what it made on the UI thread.
//
//   BackgroundJob job("Saving mlp.accel", [](JobControl& control) { ...; return Result<void>{}; });
//   job.finished() -> job.finish();      // joins, and returns what the work returned
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <thread>

#include "core/base/result.h"

namespace accelscope::app::session {

enum class JobUnit : std::uint8_t { bytes, events };

// Shared by the work and its observer.
class JobControl {
 public:
  void set_unit(JobUnit unit) noexcept { unit_ = unit; }  // bytes unless said otherwise
  [[nodiscard]] JobUnit unit() const noexcept { return unit_; }
  // Returns false once the user has cancelled.
  bool report(std::uint64_t done, std::uint64_t total) noexcept;
  void cancel() noexcept { cancelled_ = true; }
  [[nodiscard]] bool cancelled() const noexcept { return cancelled_; }
  [[nodiscard]] std::uint64_t done() const noexcept { return done_; }
  [[nodiscard]] std::uint64_t total() const noexcept { return total_; }

 private:
  std::atomic<std::uint64_t> done_ = 0;
  std::atomic<std::uint64_t> total_ = 0;
  std::atomic<bool> cancelled_ = false;
  std::atomic<JobUnit> unit_ = JobUnit::bytes;
};

// What a progress bar says.
struct JobProgress {
  double share = 0;        // 0 .. 1; 0 while the total is unknown
  std::string share_text;  // "59 %", "" while the total is unknown
  std::string done_text;   // "312 MiB of 1.2 GiB", "312 MiB" while the total is unknown, "" at first
  std::string rate_text;   // "212 MB/s", "" at first
  std::string left_text;   // "4 s left", "" while it cannot be told
};
[[nodiscard]] JobProgress describe_progress(std::uint64_t done, std::uint64_t total, double elapsed_s,
                                            JobUnit unit = JobUnit::bytes);
// "59 %  312 MiB of 1.2 GiB  212 MB/s  4 s left": the parts that are known, for a terminal and for the viewer.
[[nodiscard]] std::string progress_text(const JobProgress& progress);

class BackgroundJob {
 public:
  using Work = std::function<Result<void>(JobControl&)>;
  // wake is called from the job's thread when it has finished, so that a sleeping frame loop draws again.
  BackgroundJob(std::string title, Work work, std::function<void()> wake = {});
  ~BackgroundJob();  // cancels and waits
  BackgroundJob(const BackgroundJob&) = delete;
  BackgroundJob& operator=(const BackgroundJob&) = delete;

  [[nodiscard]] const std::string& title() const noexcept { return title_; }
  [[nodiscard]] bool finished() const noexcept { return finished_; }
  [[nodiscard]] bool cancelled() const noexcept { return control_.cancelled(); }
  [[nodiscard]] double elapsed_s() const;
  [[nodiscard]] JobProgress progress() const;
  void cancel() noexcept { control_.cancel(); }
  Result<void> finish();  // waits when it has not finished

 private:
  std::string title_;
  JobControl control_;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  std::optional<Result<void>> result_;  // written by the thread before finished_
  std::atomic<bool> finished_ = false;
  std::thread thread_;
};

}  // namespace accelscope::app::session
