#include "app/commands/session_input.h"

#include <fmt/format.h>

#include <chrono>
#include <condition_variable>
#include <filesystem>
#include <mutex>
#include <ostream>

#include "app/session_opening.h"
#include "capture/sources/source.h"

namespace accelscope::app {
namespace {

constexpr auto kProgressPeriod = std::chrono::milliseconds(200);
constexpr std::string_view kEraseLine = "\r\x1b[2K";

class CancellableSink final : public EventSink {
 public:
  CancellableSink(Store& store, const JobControl& control) : sink_(store), control_(control) {}
  Result<void> define(const Definition& definition) override { return sink_.define(definition); }
  Result<void> append(SealedChunk chunk) override { return sink_.append(std::move(chunk)); }
  [[nodiscard]] bool cancelled() const override { return control_.cancelled(); }

 private:
  StoreSink sink_;
  const JobControl& control_;
};

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

Result<void> import_into(Store& store, const std::string& path, const SessionInputOptions& options,
                         const CommandRun& run) {
  std::error_code error;
  if (!std::filesystem::exists(path, error)) return Error{path + ": there is no such file; check the path"};
  auto format = options.format.empty() ? capture::guess_format(path) : capture::find_format(options.format);
  if (!format) return format.error();
  return with_progress("Reading " + path, run, [&](JobControl& control) -> Result<void> {
    CancellableSink sink(store, control);
    capture::ImportOptions import_options;
    import_options.source_roots = options.source_roots;
    import_options.progress = [&](std::uint64_t done, std::uint64_t total) { control.report(done, total); };
    return (*format)->run(path, import_options, sink);
  });
}

Result<SessionInput> open_input(const std::string& path, const SessionInputOptions& options, const CommandRun& run) {
  SessionInput input;
  if (!options.format.empty()) {
    auto store = Store::create();
    if (!store) return store.error();
    input.store = std::move(*store);
    input.imported = true;
    if (auto done = import_into(*input.store, path, options, run); !done) return done.error();
    input.title = title_of_path(path);
    return input;
  }
  std::string note;
  const Result<void> done = with_progress("Opening " + path, run, [&](JobControl& control) -> Result<void> {
    WorkerPool pool(1);
    auto opened = open_session(path, {.source_roots = options.source_roots}, pool, control);
    if (!opened) return opened.error();
    input.store = std::move(opened->store);
    input.title = opened->title;
    input.imported = opened->path.empty();
    note = opened->note;
    return {};
  });
  if (!done) return done.error();
  if (!note.empty()) run.say("accelscope: " + note);
  return input;
}

Result<void> save_session(Store& store, const std::string& path, const CommandRun& run) {
  return with_progress("Saving " + path, run, [&](JobControl& control) {
    return store.save(path, [&](std::uint64_t done, std::uint64_t total) { return control.report(done, total); });
  });
}

}  // namespace accelscope::app
