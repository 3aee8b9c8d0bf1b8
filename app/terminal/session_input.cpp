#include "app/terminal/session_input.h"

#include <fmt/format.h>

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <ostream>

#include "app/output/output_file.h"
#include "app/terminal/terminal.h"
#include "app/workspace/headline.h"
#include "capture/command_line/options.h"
#include "capture/wire/messages.h"
#include "core/base/format.h"
#include "core/base/own_files.h"

namespace accelscope::app::terminal {
namespace {

constexpr auto kProgressPeriod = std::chrono::milliseconds(200);

void print_progress(std::ostream& err, const session::BackgroundJob& job) {
  const std::string progress = session::progress_text(job.progress());
  err << erase_line << job.title() << (progress.empty() ? "" : "  ") << progress << std::flush;
}

// Details of a foreign session are foreign text.
void inform_what_is_missing(const Snapshot& snapshot, const InputPaths& inputs, const std::string& input,
                            const CommandRun& run) {
  constexpr std::size_t kSaid = 5;
  std::size_t count = 0;
  for (const QualityEntry& entry : snapshot.quality) {
    if (entry.severity != Severity::error || count++ >= kSaid) continue;
    const std::string number = entry.count > 1 ? format_count(entry.count) + " " : "";
    (void)run.fail(fmt::format("{}: {}{}", input, number, capture::wire::printable(inputs.shown(entry.detail), 2000)));
  }
  if (count > kSaid)
    (void)run.fail(
        fmt::format("{}: and {} more such findings: accelscope ingest-check {}", input, count - kSaid, input));
}

}  // namespace

Result<void> with_progress(const std::string& title, const CommandRun& run, const session::BackgroundJob::Work& work) {
  const Interruptible interruptible;
  std::mutex mutex;
  std::condition_variable finished;
  session::BackgroundJob job(title, work, [&] {
    const std::scoped_lock lock(mutex);
    finished.notify_all();
  });
  std::unique_lock lock(mutex);
  while (!finished.wait_for(lock, kProgressPeriod, [&] { return job.finished(); })) {
    if (interruptible.interrupted()) job.cancel();
    if (run.shows_progress()) print_progress(run.streams.err, job);
  }
  lock.unlock();
  if (run.shows_progress()) run.streams.err << erase_line << std::flush;
  return job.finish();
}

namespace {

Result<workspace::OpenedSession> open_files(
    const std::vector<std::string>& paths,
    const std::function<std::vector<capture::sources::RecognisedFile>(const std::vector<std::string>&)>& recognise,
    const workspace::OpenSessionOptions& options, const CommandRun& run, bool reports_quality) {
  OutputAccess::narrow_to(paths);
  const InputPaths inputs = TRY(InputPaths::read(paths));
  std::optional<Result<workspace::OpenedSession>> session;
  const std::string what = paths.size() == 1 ? paths.front() : fmt::format("{} files", paths.size());
  const Result<void> done = with_progress("Reading " + what, run, [&](session::JobControl& control) -> Result<void> {
    session.emplace(workspace::load_session(recognise(inputs.paths()), options, control));
    return {};
  });
  if (!done) return done.error();
  if (!session->ok()) return Error{inputs.shown(session->message())};
  (*session)->keeper = inputs.keeper();
  if (!(*session)->note.empty()) run.inform("accelscope: " + inputs.shown((*session)->note));
  if (!reports_quality) inform_what_is_missing(*(*session)->store->snapshot(), inputs, inputs.shown(what), run);
  return std::move(*session);
}

}  // namespace

Result<workspace::OpenedSession> open_input(const std::vector<std::string>& paths,
                                            const workspace::OpenSessionOptions& options, const CommandRun& run,
                                            bool reports_quality) {
  return open_files(
      paths, [](const std::vector<std::string>& files) { return capture::sources::recognise(files); }, options, run,
      reports_quality);
}

Result<workspace::OpenedSession> open_recognised(const capture::sources::RecognisedFile& file,
                                                 const workspace::OpenSessionOptions& options, const CommandRun& run) {
  return open_files(
      {file.path}, [&](const auto&) { return std::vector{file}; }, options, run, false);
}

void declare_source_roots(command_line::OptionSet& options, workspace::OpenSessionOptions& input) {
  options
      .add_option("--nki-source-root,--framework-source-root", input.source_roots,
                  "Folder in which named source files are looked for")
      .repeats();
}

int write_answer(const std::string& path, bool is_data, const CommandRun& run,
                 const std::function<void(std::ostream& out)>& write) {
  const auto output = output::OutputFile::open(path.empty() ? std::string(output::kStandardOutput) : path,
                                               is_data ? run.data_out() : run.streams.out);
  if (!output) return run.fail(output.message());
  write((*output)->stream());
  const Result<void> finished = (*output)->finish();
  return finished ? kExitDone : run.fail(finished.message());
}

Result<void> save_session(Store& store, const std::string& path, const CommandRun& run) {
  return with_progress("Saving " + path, run, [&](session::JobControl& control) {
    WorkerPool pool;
    workspace::keep_headline(store, pool);
    return store.save(path, [&](std::uint64_t done, std::uint64_t total) { return control.report(done, total); });
  });
}

}  // namespace accelscope::app::terminal
