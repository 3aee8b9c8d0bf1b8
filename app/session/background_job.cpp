#include "app/session/background_job.h"

#include <algorithm>
#include <cmath>
#include <new>

#include "core/base/format.h"
#include "core/base/worker_pool.h"

namespace accelscope::app::session {

namespace {
constexpr double kSecondsBeforeRate = 0.3;  // a rate over less than this only flickers
}

bool JobControl::report(std::uint64_t done, std::uint64_t total) noexcept {
  done_ = done;
  total_ = total;
  return !cancelled_;
}

JobProgress describe_progress(std::uint64_t done, std::uint64_t total, double elapsed_s, JobUnit unit) {
  const auto amount = [unit](std::uint64_t count) {
    return unit == JobUnit::bytes ? format_bytes(count) : format_count(count);
  };
  JobProgress progress;
  if (total > 0) {
    progress.share = std::clamp(static_cast<double>(done) / static_cast<double>(total), 0.0, 1.0);
    progress.share_text = std::to_string(static_cast<int>(progress.share * 100)) + " %";
  }
  if (done == 0 || elapsed_s < kSecondsBeforeRate) return progress;
  progress.done_text = amount(done);
  if (total >= done && total > 0) progress.done_text += " of " + amount(total);
  if (unit == JobUnit::events) progress.done_text += " events";
  const double rate = static_cast<double>(done) / elapsed_s;
  progress.rate_text = unit == JobUnit::bytes ? format_rate(rate) : format_number(rate) + "/s";
  if (total >= done && total > 0) {
    const double left_s = std::ceil(static_cast<double>(total - done) / rate);
    progress.left_text = left_s < 60 ? std::to_string(static_cast<long>(left_s)) + " s left"
                                     : std::to_string(static_cast<long>(left_s / 60)) + " min left";
  }
  return progress;
}

std::string progress_text(const JobProgress& progress) {
  std::string text;
  for (const std::string* part :
       {&progress.share_text, &progress.done_text, &progress.rate_text, &progress.left_text}) {
    if (!part->empty()) text += (text.empty() ? "" : "  ") + *part;
  }
  return text;
}

BackgroundJob::BackgroundJob(std::string title, Work work, std::function<void()> wake) : title_(std::move(title)) {
  thread_ = std::thread([this, work = std::move(work), wake = std::move(wake)] {
    try {
      result_.emplace(work(control_));
    } catch (const std::bad_alloc&) {
      result_.emplace(out_of_memory_error());
    }
    finished_ = true;
    if (wake) wake();
  });
}

BackgroundJob::~BackgroundJob() {
  cancel();
  if (thread_.joinable()) thread_.join();
}

double BackgroundJob::elapsed_s() const {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
}

JobProgress BackgroundJob::progress() const {
  return describe_progress(control_.done(), control_.total(), elapsed_s(), control_.unit());
}

Result<void> BackgroundJob::finish() {
  if (thread_.joinable()) thread_.join();
  return *result_;
}

}  // namespace accelscope::app::session
