#include "capture/agent/run/capture_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <filesystem>
#include <functional>
#include <new>
#include <utility>

#include "capture/sources/base/line_blocks.h"
#include "core/base/checksum.h"
#include "core/base/format.h"

namespace accelscope::capture::agent {
namespace {

// A source is foreign code at a module's border: what it throws becomes an error like any other.
Result<void> run_guarded(const PartFunction& source, EventSink& sink, const request::OpenScope& open_scope,
                         const request::AskCapture& ask) {
  try {
    return source(sink, open_scope, ask);
  } catch (const std::bad_alloc&) {
    return Error{"the source failed: there is not enough memory for it"};
  } catch (const std::exception& thrown) {
    return Error{fmt::format("the source failed: {}", thrown.what())};
  }
}

// One scope more than the wire can tell apart.
class NoScope final : public EventSink {
 public:
  Result<void> define(const Definition& /*definition*/) override { return failure(); }
  Result<void> append(SealedChunk /*chunk*/) override { return failure(); }

 private:
  static Error failure() {
    return Error{
        fmt::format("a capture joins at most {} sources; capture or replay fewer at once", wire::kMaxWireScope)};
  }
};

}  // namespace

// A scope of the capture: what its source writes goes into the outbox.
class CaptureRun::Sink final : public EventSink {
 public:
  // urgent: writes on the agent's loop, which must not wait for a viewer.
  Sink(CaptureRun& run, std::uint32_t scope, bool urgent) : run_(run), scope_(scope), urgent_(urgent) {}
  Result<void> define(const Definition& definition) override {
    if (run_.own_time_) time_.define(definition);
    return run_.outbox_->put(scope_, wire::FrameType::definition, encode(definition), 0, 0, urgent_);
  }
  Result<void> append(SealedChunk chunk) override {
    if (run_.own_time_) note_time(chunk);
    const ChunkHeader header = chunk.header();
    return run_.outbox_->put(scope_, wire::FrameType::chunk, std::move(chunk.bytes), header.lane, header.count,
                             urgent_);
  }
  [[nodiscard]] bool cancelled() const override { return run_.cancelled_.load(std::memory_order_relaxed); }
  [[nodiscard]] bool paused() const override { return run_.paused_.load(std::memory_order_relaxed); }

 private:
  void note_time(const SealedChunk& chunk) {
    const std::optional<TimeRange> range = time_.of(chunk);
    if (!range) return;
    const auto move_to = [](std::atomic<std::int64_t>& bound, std::int64_t ns, auto beyond) {
      std::int64_t known = bound.load();
      while (beyond(ns, known) && !bound.compare_exchange_weak(known, ns)) {
      }
    };
    move_to(run_.oldest_ns_, range->begin_ns, std::less<>());
    move_to(run_.newest_ns_, range->end_ns, std::greater<>());
  }

  CaptureRun& run_;
  std::uint32_t scope_;
  bool urgent_;
  sources::StreamTime time_;
};

// A source that repeats itself: its first frames are in the spool already.
class CaptureRun::RepeatSink final : public ForwardingSink {
 public:
  RepeatSink(Sink& sink, const Outbox::Adopted& sealed) : ForwardingSink(sink), left_(sealed.frames), sealed_(sealed) {}
  Result<void> define(const Definition& definition) override {
    return left_ == 0 ? ForwardingSink::define(definition) : leave_out(encode(definition));
  }
  Result<void> append(SealedChunk chunk) override {
    return left_ == 0 ? ForwardingSink::append(std::move(chunk)) : leave_out(chunk.bytes);
  }

 private:
  Result<void> leave_out(ByteView body) {
    if (--left_ > 0 || checksum(body) == sealed_.last_checksum) return {};
    return Error{"the capture cannot go on: its source makes other events now than before; what was sealed is kept"};
  }
  std::uint64_t left_;
  Outbox::Adopted sealed_;
};

CaptureRun::CaptureRun(Options options)
    : options_(std::move(options)),
      facts_(options_.facts),
      own_time_(!options_.parts.empty() && std::all_of(options_.parts.begin(), options_.parts.end(),
                                                       [](const SourcePart& part) { return part.own_time; })) {}

CaptureRun::~CaptureRun() {
  cancelled_ = true;
  if (outbox_) outbox_->close("the agent ends");
  for (std::thread& thread : threads_) {
    if (thread.joinable()) thread.join();
  }
  if (options_.work_folder.empty()) return;
  std::error_code ignored;  // a temporary folder that stays behind
  std::filesystem::remove_all(options_.work_folder, ignored);
}

Result<std::unique_ptr<CaptureRun>> CaptureRun::begin(Options options) {
  std::unique_ptr<CaptureRun> run(new CaptureRun(std::move(options)));
  if (run->options_.parts.size() > wire::kMaxWireScope) return Error{"too many kinds for one capture"};
  std::unique_ptr<log::FrameLog> log;
  if (!run->options_.spool_folder.empty()) {
    std::unique_ptr<log::FrameLog> made = TRY(log::FrameLog::create(
        run->options_.spool_folder,
        {.capture_id = run->facts_.id, .segment_bytes = run->options_.outbox.spool_segment_bytes}));
    log = std::move(made);
  }
  run->make_outbox(std::move(log));
  TRY(run->keep_facts());
  run->start_parts();
  return run;
}

std::unique_ptr<EventSink> CaptureRun::open_scope() {
  const std::uint32_t scope = next_scope_++;
  if (scope > wire::kMaxWireScope) return std::make_unique<NoScope>();
  return std::make_unique<Sink>(*this, scope, false);
}

void CaptureRun::ask(request::CaptureIntent intent, const std::string& reason, std::function<void()> followed) {
  options_.post([this, intent, reason, followed = std::move(followed)] {
    switch (intent) {
      case request::CaptureIntent::pause:
        pause(reason);
        break;
      case request::CaptureIntent::resume:
        resume(reason);
        break;
      case request::CaptureIntent::stop:
        stop(reason);
        break;
    }
    if (followed) followed();
  });
}

void CaptureRun::start_parts() {
  for (std::size_t i = 0; i <= options_.parts.size(); ++i) {
    sinks_.push_back(std::make_unique<Sink>(*this, static_cast<std::uint32_t>(i), i == options_.parts.size()));
  }
  next_scope_ = static_cast<std::uint32_t>(sinks_.size());
  if (options_.paused) pause("started paused");
  running_ = options_.parts.size();
  for (std::size_t i = 0; i < options_.parts.size(); ++i) {
    threads_.emplace_back([this, i] {
      RepeatSink repeat(*sinks_[i], i == 0 ? sealed_before_ : Outbox::Adopted{});
      Result<void> result = run_guarded(
          options_.parts[i].write, repeat, [this] { return open_scope(); },
          [this](request::CaptureIntent intent, const std::string& reason, std::function<void()> followed) {
            ask(intent, reason, std::move(followed));
          });
      options_.post([this, i, result = std::move(result)] { on_part_done(i, result); });
    });
  }
}

Result<std::unique_ptr<CaptureRun>> CaptureRun::reopen(const std::string& spool_folder, Options options,
                                                       const std::function<bool(std::uint64_t bytes)>& on_read) {
  log::FrameLogFacts retained = TRY(log::FrameLog::read_facts(spool_folder));
  log::FrameLogRecovery found;
  std::unique_ptr<log::FrameLog> log = TRY(log::FrameLog::open_existing(
      spool_folder,
      {.capture_id = retained.capture_id, .segment_bytes = options.outbox.spool_segment_bytes, .on_read = on_read},
      found));
  const bool would_go_on = CaptureRun::would_go_on(retained, options.facts.repeats);
  options.facts = {retained.capture_id, retained.place, retained.name, retained.description, retained.begun_unix_ns};
  options.spool_folder = spool_folder;
  std::unique_ptr<CaptureRun> run(new CaptureRun(std::move(options)));
  run->make_outbox(std::move(log));
  Outbox::Adopted adopted = TRY(run->outbox_->adopt_spool(retained, on_read));
  run->sealed_before_ = adopted;
  run->would_go_on_ = would_go_on;
  run->cut_bytes_ = found.cut_bytes;
  run->spooled_ = std::move(retained);
  return run;
}

void CaptureRun::settle(std::vector<SourcePart> parts, std::chrono::steady_clock::time_point origin) {
  // What a repeating source makes is told from what was sealed by its count.
  if (would_go_on_ && parts.size() == 1 && !outbox_->spool_damaged()) {
    own_time_ = parts.front().own_time;
    options_.parts = std::move(parts);
    options_.origin = origin;
    start_parts();
  } else if (spooled_.end) {
    state_ = wire::CaptureState::ended;
    outbox_->finish(*spooled_.end);
  } else {
    state_ = wire::CaptureState::interrupted;
    state_reason_ = fmt::format(
        "the agent died during the capture; the {} events that it had sealed are here, what it had not sealed is "
        "lost{}{}",
        format_count(outbox_->totals().events),
        outbox_->spool_damaged() ? "; parts of the spool are damaged and cannot be read" : "",
        cut_bytes_ == 0 ? "" : fmt::format(" (a frame of which {} bytes were written)", cut_bytes_));
    outbox_->finish(wire::Outcome::failed, state_reason_);
  }
}

void CaptureRun::make_outbox(std::unique_ptr<log::FrameLog> log) {
  outbox_ = std::make_unique<Outbox>(options_.outbox, std::move(log), [this] {
    options_.post([this] { stop("the room for what no viewer has taken is used up"); });
  });
}

void CaptureRun::on_part_done(std::size_t index, const Result<void>& result) {
  threads_[index].join();
  --running_;
  if (!result && failure_.empty()) failure_ = result.message();
  if (running_ == 0) return end_capture();
  // A program has ended: what only watches it ends too. A failed part ends a capture that would miss it.
  if (options_.parts[index].leads || !result) {
    cancelled_ = true;
    outbox_->wind_down();
  }
}

void CaptureRun::end_capture() {
  note_pause_end();
  for (const std::int64_t length : std::exchange(early_pauses_, {})) {
    write_pause(newest_ns_ < oldest_ns_ ? 0 : oldest_ns_.load(), length);
  }
  const Outbox::Totals totals = outbox_->totals();
  std::vector<QualityEntry> entries;
  if (totals.dropped_events > 0) {
    entries.push_back({wire::kDroppedEvents, totals.dropped_events,
                       "the agent dropped events for want of room; give it a larger --buffer or --spool-limit, or "
                       "--when-full wait"});
  }
  if (!totals.spool_failure.empty()) {
    entries.push_back({"spool_failed", 1, "the agent's spool failed: " + totals.spool_failure});
  }
  for (const QualityEntry& entry : entries) {
    if (Result<void> noted = sinks_.back()->define(entry); !noted && failure_.empty()) failure_ = noted.message();
  }
  const wire::Outcome outcome = !failure_.empty() ? wire::Outcome::failed
                                : stopped_        ? wire::Outcome::stopped
                                                  : wire::Outcome::complete;
  outbox_->finish(outcome, !failure_.empty() ? failure_ : stop_reason_);
  set_state(wire::CaptureState::ended, !failure_.empty() ? failure_ : stop_reason_);
}

bool CaptureRun::over() const noexcept { return running_ == 0; }

bool CaptureRun::delivered() const {
  const Outbox::Totals totals = outbox_->totals();
  return over() && totals.received == totals.frames;
}

bool CaptureRun::saved() const {
  const Outbox::Totals totals = outbox_->totals();
  return over() && totals.durable == totals.frames;
}

wire::CaptureOffer CaptureRun::offer() const {
  const Outbox::Totals totals = outbox_->totals();
  return {facts_.id,     facts_.name,   facts_.description,   state_, totals.first,
          totals.frames, totals.events, facts_.begun_unix_ns, ""};
}

std::optional<std::int64_t> CaptureRun::now_ns() const {
  if (over()) return {};
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now() - options_.origin)
      .count();
}

Result<void> CaptureRun::outcome() const {
  if (state_ == wire::CaptureState::interrupted) return Error{state_reason_};
  return failure_.empty() ? Result<void>() : Result<void>(Error{failure_});
}

void CaptureRun::pause(const std::string& reason) {
  if (state_ != wire::CaptureState::running) return;
  paused_ = true;
  paused_since_ns_ = now_ns().value_or(0);
  set_state(wire::CaptureState::paused, reason);
}

void CaptureRun::resume(const std::string& reason) {
  if (state_ != wire::CaptureState::paused) return;
  note_pause_end();
  paused_ = false;
  set_state(wire::CaptureState::running, reason);
}

// The pause becomes an event of the session, so that an empty stretch explains itself. A device that stands still while
// the host waits has no such stretch: there it is a moment in the device's time that says how long the host waited.
void CaptureRun::note_pause_end() {
  if (!paused_since_ns_) return;
  const std::int64_t begin = *std::exchange(paused_since_ns_, {});
  const std::int64_t end =
      std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now() - options_.origin).count();
  const std::int64_t length = std::max<std::int64_t>(end - begin, 1);
  if (!own_time_) return write_pause(begin, length);
  const std::int64_t newest = newest_ns_;
  newest < oldest_ns_ ? early_pauses_.push_back(length) : write_pause(newest, length);
}

void CaptureRun::write_pause(std::int64_t begin_ns, std::int64_t length_ns) {
  if (!own_track_) {
    own_track_ = std::make_unique<SessionWriter>(*sinks_.back());
    Schema schema{.name = "capture_state", .kind = own_time_ ? EventKind::instant : EventKind::slice};
    schema.columns = {{"paused_ns", ColumnType::int64, "ns", "Timing", "Paused for",
                       "How long the capture was paused, by the host's clock."}};
    const SchemaNumber number = own_track_->add_schema(std::move(schema));
    (void)own_track_->add_track({.name = "Capture", .kind = "capture", .schema = number, .order = -1});
  }
  own_track_->begin_event(0, begin_ns, own_time_ ? 0 : length_ns, own_track_->intern("paused")).integer(0, length_ns);
  own_track_->flush();
  if (const Result<void> written = own_track_->status(); !written && failure_.empty()) failure_ = written.message();
}

void CaptureRun::stop(const std::string& reason) {
  if (over() || std::exchange(stopped_, true)) return;
  stop_reason_ = reason;
  cancelled_ = true;
  outbox_->wind_down();
}

Result<std::string> CaptureRun::obey(ControlCommand command) {
  if (over()) return Error{facts_.name + " has ended"};
  const double seconds = static_cast<double>(now_ns().value_or(0)) / 1e9;
  const auto done = [&](const char* what) {
    return fmt::format("{}: {} at {:.1f} s, {} events", facts_.name, what, seconds,
                       format_count(outbox_->totals().events));
  };
  const bool paused = state_ == wire::CaptureState::paused;
  switch (command) {
    case ControlCommand::pause:
      if (paused) return Error{facts_.name + " is paused already"};
      pause("paused from another shell");
      return done("paused");
    case ControlCommand::resume:
      if (!paused) return Error{facts_.name + " is not paused"};
      resume("resumed from another shell");
      return done("resumed");
    case ControlCommand::stop:
      stop("stopped from another shell");
      return done("stopped");
    case ControlCommand::status:
    case ControlCommand::held:
      break;
  }
  return done(paused ? "paused" : "running");
}

void CaptureRun::tick() {
  outbox_->sync_spool();
  if (options_.duration_seconds <= 0 || over() || stopped_) return;
  if (static_cast<double>(now_ns().value_or(0)) >= options_.duration_seconds * 1e9) stop("its time is up");
}

void CaptureRun::set_state(wire::CaptureState state, const std::string& reason) {
  state_ = state;
  state_reason_ = reason;
  (void)keep_facts();  // a failure stands in the outbox's totals
  if (options_.on_change) options_.on_change();
}

Result<void> CaptureRun::keep_facts() {
  return outbox_->keep_facts({facts_.id, facts_.repeats, facts_.name, facts_.description, facts_.begun_unix_ns, state_,
                              outbox_->totals().durable, outbox_->end()});
}

void CaptureRun::remove_spool() {
  if (options_.spool_folder.empty()) return;
  std::error_code ignored;         // what cannot be removed is offered again at the next start
  if (outbox_->spool_damaged()) {  // what nobody could read may still be wanted
    std::filesystem::rename(options_.spool_folder, options_.spool_folder + std::string(kDamagedSpool), ignored);
    return;
  }
  std::filesystem::remove_all(options_.spool_folder, ignored);
}

}  // namespace accelscope::capture::agent
