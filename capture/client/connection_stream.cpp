#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "capture/client/connection_implementation.h"
#include "core/base/format.h"

namespace accelscope::capture::client {
namespace {

using std::chrono::milliseconds;

constexpr std::uint64_t kAcknowledgeEvery = 2ULL << 20;
constexpr std::uint64_t kFirstQuestions = 8;  // of clocks, at every tick
constexpr milliseconds kClockEvery{2'000};
constexpr std::size_t kOpenQuestions = 8;

}  // namespace

void Connection::Implementation::on_started(const wire::Started& message) {
  const bool again = began();
  if (!again) note_progress();  // breaks until now are forgotten
  if (again && message.capture_id != capture_id) {
    return give_up(wire::ErrorCode::protocol, "began another capture than the one that was asked for");
  }
  capture_id = wire::printable(message.capture_id, 256);
  controls = message.controls;
  step = Step::streaming;
  joined = true;
  acknowledged = feed.counts().last_sequence();
  acknowledged_durable = 0;
  clock_asked.clear();
  if (!started) started = std::chrono::steady_clock::now();
  if (Result<void> begun = feed.begin(message, host); !begun) return give_up(wire::ErrorCode::store, begun.message());
  {
    const std::lock_guard lock(mutex);
    shared.host = host;
    shared.capture_id = capture_id;
    shared.name = wire::printable(message.name, 256);
    if (!message.description.empty()) shared.description = wire::printable(message.description);
    if (again) ++shared.reconnects;
  }
  publish();
  ask_clock();
  apply_intents();
}

void Connection::Implementation::on_progress(const wire::ProgressReport& report) {
  const std::lock_guard lock(mutex);
  shared.waiting_bytes = report.queued_bytes;
  if (!report.text.empty()) shared.description = wire::printable(report.text);
}

void Connection::Implementation::on_data(wire::Frame frame) {
  unacknowledged_bytes += frame.wire_bytes();
  const std::uint64_t before = feed.counts().last_sequence();
  if (Result<void> taken = feed.take(std::move(frame)); !taken) return give_up(wire::ErrorCode::store, taken.message());
  if (feed.counts().last_sequence() > before) note_progress();
  if (unacknowledged_bytes >= std::min(kAcknowledgeEvery, options.window_bytes / 8)) acknowledge();
}

void Connection::Implementation::on_gap(const wire::Gap& gap) {
  if (Result<void> taken = feed.take(gap); !taken) return give_up(wire::ErrorCode::protocol, taken.message());
  note_progress();
}

void Connection::Implementation::note_progress() {
  broken_since.reset();
  break_text.clear();
  retries = 0;
  stopping_for = milliseconds(0);
}

// Only what the store has taken: the agent may forget what is acknowledged. Durable is what the recovery file has.
void Connection::Implementation::acknowledge() {
  unacknowledged_bytes = 0;
  publish();
  if (!joined) return;
  if (const std::uint64_t last = feed.counts().last_sequence(); acknowledged < last) {
    acknowledged = last;
    link->send(wire::encode(wire::Received{last}));
  }
  if (const std::uint64_t durable = std::min(feed.durable(), acknowledged); acknowledged_durable < durable) {
    acknowledged_durable = durable;
    link->send(wire::encode(wire::Durable{durable}));
  }
}

void Connection::Implementation::on_state(const wire::StateReport& report) {
  paused = report.state == wire::CaptureState::paused;
  dropped_reported = std::max(dropped_reported, report.dropped_events);
  {
    const std::lock_guard lock(mutex);
    shared.controller = wire::printable(report.controller, 256);
    shared.watchers = report.watchers;
  }
  publish();
}

void Connection::Implementation::ask_clock() {
  if (!joined) return;
  clock_asked.push_back(options.now_ns());
  while (clock_asked.size() > kOpenQuestions) clock_asked.pop_front();
  ++clock_questions;
  link->send(wire::encode(wire::ClockReport{clock_asked.back(), -1}));
}

// The agent read its clock somewhere between the question and the answer.
void Connection::Implementation::on_clock(const wire::ClockReport& report) {
  const auto asked = std::find(clock_asked.begin(), clock_asked.end(), report.viewer_ns);
  if (asked == clock_asked.end()) return;
  clock_asked.erase(clock_asked.begin(), asked + 1);
  const std::int64_t round_trip = options.now_ns() - report.viewer_ns;
  if (report.agent_ns < 0 || round_trip < 0) return;
  const ClockPair pair{report.agent_ns, report.viewer_ns + round_trip / 2, (round_trip + 1) / 2};
  Result<void> added = feed.add_clock(pair);
  if (added) added = feed.tick();
  if (!added) return give_up(wire::ErrorCode::store, added.message());
  publish();
}

void Connection::Implementation::on_end(const wire::StreamEnd& message) {
  note_progress();
  if (!stream_end) {  // else only the files are still to be brought
    stream_end = message;
    const Result<std::string> missing = feed.finish(message);
    if (!missing) return give_up(wire::ErrorCode::store, missing.message());
    end_message = wire::printable(message.text);
    if (!missing.value().empty()) end_message = fmt::format("{}: {}", peer, missing.value());
  }
  acknowledged_durable = 0;  // said once more: before its end the agent could not know that this was all
  acknowledge();
  const std::vector<std::string>& results = options.start.request.results;
  if (results.empty() || !controls) return conclude("");
  step = Step::fetching;
  if (receiver) {
    receiver->start_over();
  } else {
    receiver = std::make_unique<log::FileReceiver>(
        options.results_folder, log::FileReceiverOptions{.asked = results, .replaces = options.replaces_results});
  }
  link->send(wire::encode(wire::Fetch{capture_id, results}));
  publish();
}

void Connection::Implementation::on_file(const wire::FilePiece& piece) {
  note_progress();
  if (Result<void> taken = receiver->take(piece); !taken) {
    files_agree = false;
    return conclude("the results could not be written: " + taken.message());
  }
  const std::lock_guard lock(mutex);
  shared.results_files = receiver->files();
}

void Connection::Implementation::on_fetched(const wire::Fetched& all) {
  std::string text = wire::printable(all.message);
  const auto add = [&text](const std::string& more) { text += (text.empty() || more.empty() ? "" : "; ") + more; };
  if (receiver) {
    add(receiver->problems());
    const std::string differs = receiver->compare(all.files, all.bytes);
    files_agree = differs.empty();
    add(differs);
  }
  conclude(text);
}

// The capture has ended, and its results are here.
void Connection::Implementation::conclude(const std::string& message) {
  std::string text = end_message;
  if (!message.empty()) text += (text.empty() ? "" : "; ") + message;
  receiver.reset();
  if (stream_end->outcome == wire::Outcome::failed) {
    fail(fmt::format("{}: the capture failed: {}{}", peer, text, retained_events()));
  } else {
    end(CapturePhase::ended, text);
  }
  // What is not on a disk here is still to be said to be saved.
  if (options.stay_after_end || !feed.unsafe().empty()) return;
  inform_done();
  hang_up();
}

// The agent need not keep the capture any longer.
void Connection::Implementation::inform_done() {
  if (joined && controls && over()) link->send(wire::encode(wire::Discard{capture_id}));
}

void Connection::Implementation::on_tick() {
  rate.add(std::chrono::steady_clock::now(), feed.counts().events(), bytes_before + link->received_bytes());
  acknowledge();
  if (over() || step != Step::streaming) return;
  clock_wait += options.limits.tick;
  if (clock_questions < kFirstQuestions || clock_wait >= kClockEvery) {
    clock_wait = milliseconds(0);
    ask_clock();
  }
  if (Result<void> reported = feed.tick(); !reported) return give_up(wire::ErrorCode::store, reported.message());
  if (!wants_stop) return;
  stopping_for += options.limits.tick;
  if (stopping_for > options.stop_limit) {
    give_up(wire::ErrorCode::refused, fmt::format("has not ended the capture within {} s of being asked",
                                                  std::chrono::duration<double>(options.stop_limit).count()));
  }
}

// What the user wants is said once there is somebody to hear it, and again after a break.
void Connection::Implementation::apply_intents() {
  if (step != Step::streaming || !controls) return;
  if (wants_stop) return link->send(wire::encode(wire::Stop{stop_reason}));
  if (!wants_pause) return;
  link->send(*wants_pause ? wire::encode(wire::Pause{}) : wire::encode(wire::Resume{}));
}

void Connection::Implementation::ask_to_stop(const std::string& reason) {
  if (over() || wants_stop) return;
  if (!began() && step != Step::starting) {
    end(CapturePhase::ended, "stopped before the agent answered");
    return hang_up();
  }
  if (began() && !controls) {
    end(CapturePhase::ended, "");
    return hang_up();
  }
  wants_stop = true;
  stop_reason = reason;
  apply_intents();
  publish();
}

void Connection::Implementation::publish() {
  const ingest::StreamIngest& counts = feed.counts();
  const std::lock_guard lock(mutex);
  shared.peer = peer;
  shared.phase = phase();
  shared.message = over() ? end_message : shared.phase == CapturePhase::reconnecting ? break_text : feed.unsafe();
  shared.controls = controls;
  shared.events = counts.events();
  shared.chunks = counts.chunks();
  shared.dropped_events = std::max(dropped_reported, counts.dropped_events());
  shared.lost_events = counts.lost_events() + shared.dropped_events - counts.dropped_events();
  shared.totals_agree = counts.totals_agree() && files_agree;
  shared.doubled_frames = counts.doubled_frames();
  shared.last_sequence = counts.last_sequence();
  shared.bytes = bytes_before + (link ? link->received_bytes() : 0);
  shared.events_per_second = rate.events_per_second;
  shared.bytes_per_second = rate.bytes_per_second;
  if (stream_end) shared.outcome = stream_end->outcome;
  shared.end_known = stream_end.has_value();
  shared.out_of_reach = out_of_reach;
  if (started && !over()) {
    shared.streaming_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - *started).count();
  }
  const ingest::HostClock& clock = feed.clock();
  if (!clock.fit().empty()) {
    shared.round_trip_ns = 2.0 * static_cast<double>(clock.fit().best_uncertainty_ns());
    if (!clock.reference()) shared.clock_residual_ns = clock.fit().residual_ns();
  }
  changed.notify_all();
}

}  // namespace accelscope::capture::client
