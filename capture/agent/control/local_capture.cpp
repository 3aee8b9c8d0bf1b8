#include "capture/agent/control/local_capture.h"

#include <fmt/format.h>

#include <atomic>
#include <condition_variable>
#include <deque>
#include <filesystem>
#include <future>
#include <mutex>
#include <utility>

#include "capture/agent/run/capture_run.h"
#include "capture/agent/viewers/kinds_lookup.h"
#include "capture/ingest/stream_ingest.h"
#include "capture/request/options.h"
#include "capture/security/secrets.h"
#include "capture/system/address.h"
#include "core/base/format.h"
#include "core/store/salvage/rescue.h"

namespace accelscope::capture::agent {
namespace {

using namespace std::chrono_literals;
using SteadyClock = std::chrono::steady_clock;

constexpr auto kTurn = 100ms;
constexpr auto kAnswerLimit = 5s;

// Functions that other threads leave to the capture's own.
class TaskQueue {
 public:
  void post(std::function<void()> task) {
    const std::scoped_lock lock(mutex_);
    tasks_.push_back(std::move(task));
    added_.notify_one();
  }
  // Those that wait, or the first that comes in time.
  void run(SteadyClock::duration at_most) {
    std::unique_lock lock(mutex_);
    added_.wait_for(lock, at_most, [this] { return !tasks_.empty(); });
    std::deque<std::function<void()>> taken;
    taken.swap(tasks_);
    lock.unlock();
    for (const std::function<void()>& task : taken) task();
  }

 private:
  std::mutex mutex_;
  std::condition_variable added_;
  std::deque<std::function<void()>> tasks_;
};

class LocalCapture {
 public:
  LocalCapture(const LocalCaptureOptions& options, Store& store)
      : options_(options), scopes_(store), ingest_(scopes_) {}

  Result<void> begin();
  Result<void> run();
  // What went wrong, in a sentence; "": nothing.
  [[nodiscard]] std::string failure() const;
  [[nodiscard]] std::uint64_t events() const { return ingest_.events(); }
  void remove_spool() { run_->remove_spool(); }

 private:
  Result<void> pump();
  Result<std::string> obey(ControlCommand command);
  Result<std::string> obey_from_elsewhere(ControlCommand command);

  const LocalCaptureOptions& options_;
  ingest::StoreScopes scopes_;
  ingest::StreamIngest ingest_;
  TaskQueue tasks_;  // outlives what posts to it
  std::unique_ptr<CaptureRun> run_;
  std::unique_ptr<OutboxReader> reader_;
  std::unique_ptr<ControlSocket> control_;
  std::string missing_;
  bool stopped_ = false;            // from this shell or another
  std::atomic<bool> ended_{false};  // the control socket's thread need not wait for an answer
};

Result<void> LocalCapture::begin() {
  CaptureRun::Options run;
  run.origin = SteadyClock::now();
  std::vector<SourcePart> parts = TRY(kind_parts(options_.request, options_.work_folder, run.origin, options_.watch));
  run.parts = std::move(parts);
  run.facts.id = system::random_id();
  // The name that a shell may use is known before anything runs.
  Result<std::unique_ptr<ControlSocket>> control = ControlSocket::open(
      request::capture_name(options_.request), [this](ControlCommand command) { return obey_from_elsewhere(command); });
  if (control) control_ = std::move(control).value();
  run.facts.name = control_ ? control_->name() : request::capture_name(options_.request);
  run.facts.begun_unix_ns = static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::system_clock::now().time_since_epoch())
          .count());
  if (!options_.spool.empty()) {
    if (Result<void> ready = security::ensure_private_folder(options_.spool); !ready) return ready;
    run.spool_folder = options_.spool + "/" + run.facts.id;
  }
  run.work_folder = options_.work_folder;
  run.paused = options_.request.paused;
  run.duration_seconds = options_.request.duration_seconds;
  run.post = [this](std::function<void()> task) { tasks_.post(std::move(task)); };
  std::unique_ptr<CaptureRun> begun = TRY(CaptureRun::begin(std::move(run)));
  run_ = std::move(begun);
  run_->outbox().attach();
  run_->outbox().on_more([this] { tasks_.post([] {}); });
  reader_ = std::make_unique<OutboxReader>(run_->outbox(), 0);
  return {};
}

Result<void> LocalCapture::pump() {
  for (;;) {
    std::optional<OutboxReader::Item> item = TRY(reader_->next());
    if (!item.has_value()) return {};
    if (item->gap) {
      if (Result<void> taken = ingest_.take(*item->gap); !taken) return taken;
    }
    if (item->frame == nullptr) continue;
    if (Result<void> taken = ingest_.take(*item->frame); !taken) return taken;
    (void)run_->outbox().received(ingest_.last_sequence());
  }
}

Result<void> LocalCapture::run() {
  Result<void> retained;
  while (retained.ok()) {
    tasks_.run(kTurn);
    const bool over = run_->over();  // before the last frames are taken
    retained = pump();
    if (over) break;
    run_->tick();
    if (!stopped_ && options_.asked_to_stop && options_.asked_to_stop()) {
      stopped_ = true;
      run_->stop("stopped by the user");
    }
  }
  if (!retained) {
    run_->stop(retained.message());
    run_->outbox().close(retained.message());
    while (!run_->over()) tasks_.run(kTurn);
    return retained;
  }
  ended_ = true;
  control_.reset();
  const std::optional<wire::StreamEnd> end = run_->outbox().end();
  if (!end) return Error{"the capture has no end"};
  std::string missing = TRY(ingest_.finish(*end));
  missing_ = missing;
  return {};
}

std::string LocalCapture::failure() const {
  const Result<void> outcome = run_->outcome();
  return outcome ? missing_ : outcome.message();
}

Result<std::string> LocalCapture::obey(ControlCommand command) {
  if (command == ControlCommand::held) return Error{"the capture has no viewer"};
  stopped_ = stopped_ || (command == ControlCommand::stop && !run_->over());
  return run_->obey(command);
}

// On the control socket's thread.
Result<std::string> LocalCapture::obey_from_elsewhere(ControlCommand command) {
  const auto answer = std::make_shared<std::promise<Result<std::string>>>();
  std::future<Result<std::string>> answered = answer->get_future();
  tasks_.post([this, command, answer] { answer->set_value(obey(command)); });
  const SteadyClock::time_point give_up = SteadyClock::now() + kAnswerLimit;
  while (answered.wait_for(kTurn) != std::future_status::ready) {
    if (ended_) return Error{"the capture has just ended"};
    if (SteadyClock::now() > give_up) return Error{"the capture does not answer"};
  }
  return answered.get();
}

}  // namespace

Result<LocalCaptureReport> capture_locally(const LocalCaptureOptions& options) {
  std::unique_ptr<Store> store = TRY(Store::create(options.store));
  LocalCapture capture(options, *store);
  TRY(capture.begin());
  const Result<void> done = capture.run();
  LocalCaptureReport report{capture.events(), options.output, done ? capture.failure() : done.message()};
  if (!report.failure.empty()) {
    if (report.events == 0) return Error{report.failure};
    store->add_quality({"capture_failed", 1, report.failure + "; what came before is here"});
  }
  Result<SavedSession> saved = save_or_rescue(*store, options.output, {}, FileAccess::owner);
  if (!saved) {
    return Error{saved.message() + (options.spool.empty() ? "; what was captured is lost. --spool keeps it on a disk "
                                                            "with room while it is captured"
                                                          : "; what was captured is kept in " + options.spool)};
  }
  report.path = saved->path;
  if (!saved->problem.empty()) report.failure += (report.failure.empty() ? "" : "; ") + saved->problem;
  capture.remove_spool();
  return report;
}

}  // namespace accelscope::capture::agent
