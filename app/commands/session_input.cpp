#include "app/commands/session_input.h"

#include <fmt/format.h>

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <ostream>

namespace accelscope::app {
namespace {

constexpr auto kProgressPeriod = std::chrono::milliseconds(200);
constexpr std::string_view kEraseLine = "\r\x1b[2K";

void print_progress(std::ostream& err, const BackgroundJob& job) {
  const JobProgress progress = job.progress();
  std::string line = job.title();
  if (!progress.share_text.empty()) line += "  " + progress.share_text;
  if (!progress.rate_text.empty()) line += "  " + progress.rate_text;
  if (!progress.left_text.empty()) line += "  " + progress.left_text + " left";
  err << kEraseLine << line << std::flush;
}

}  // namespace

Result<void> with_progress(const std::string& title, const CommandRun& run, const BackgroundJob::Work& work) {
  if (!run.shows_progress()) {
    JobControl control;
    return work(control);
  }
  std::mutex mutex;
  std::condition_variable finished;
  BackgroundJob job(title, work, [&] {
    const std::scoped_lock lock(mutex);
    finished.notify_all();
  });
  std::unique_lock lock(mutex);
  while (!finished.wait_for(lock, kProgressPeriod, [&] { return job.finished(); }))
    print_progress(run.streams.err, job);
  lock.unlock();
  run.streams.err << kEraseLine << std::flush;
  return job.finish();
}

Result<OpenedSession> open_input(const std::vector<std::string>& paths, const OpenSessionOptions& options,
                                 const CommandRun& run) {
  std::optional<Result<OpenedSession>> session;
  const std::string what = paths.size() == 1 ? paths.front() : fmt::format("{} files", paths.size());
  const Result<void> done = with_progress("Reading " + what, run, [&](JobControl& control) -> Result<void> {
    session.emplace(load_session(paths, options, control));
    return {};
  });
  if (!done) return done.error();
  if (session->ok() && !(*session)->note.empty()) run.say("accelscope: " + (*session)->note);
  return std::move(*session);
}

Result<void> save_session(Store& store, const std::string& path, const CommandRun& run) {
  return with_progress("Saving " + path, run, [&](JobControl& control) {
    return store.save(path, [&](std::uint64_t done, std::uint64_t total) { return control.report(done, total); });
  });
}

}  // namespace accelscope::app
