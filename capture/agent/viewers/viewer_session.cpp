#include "capture/agent/viewers/viewer_session.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/base/format.h"

namespace accelscope::capture::agent {
namespace {

constexpr std::chrono::seconds kProgressInterval{1};
constexpr std::chrono::seconds kStopLimit{10};  // for the viewer to take what was still on its way

constexpr std::size_t kFilesInFlight = 4U << 20;
constexpr std::size_t kFramesInLink = 8U << 20;

std::uint64_t smaller_window(std::uint64_t own, std::uint64_t intended) {
  return intended == 0 ? own : std::min(own, intended);
}

}  // namespace

ViewerSession::ViewerSession(SessionHost& host, std::unique_ptr<wire::Link> link)
    : host_(host), link_(std::move(link)), viewer_(link_->peer_address()), window_bytes_(host.options().window_bytes) {}

void ViewerSession::begin() {
  link_->start(*this);
  Result<security::AgentGate::Visit> visit = host_.gate().visit(link_->channel_binding());
  if (!visit) return refuse(wire::ErrorCode::refused, visit.message());
  visit_ = std::move(visit).value();
  wire::Hello hello = host_.hello();
  hello.nonce = visit_->nonce();
  link_->send(wire::encode(hello));
}

void ViewerSession::on_frame(wire::Frame frame) {
  using Self = ViewerSession;
  const bool captures = run_ != nullptr;
  const bool may_start = welcomed_ && !captures && !waiting_start_;
  wire::Hearing heard(*this, frame);
  heard.on(true, &Self::on_error);
  heard.on(!greeted_, &Self::on_hello);
  heard.on(admitted_, &Self::on_proof);
  heard.on(may_start, &Self::on_start);
  heard.on(captures, &Self::on_received);
  heard.on(captures, &Self::on_durable);
  heard.on(welcomed_, &Self::on_clock);
  heard.on(welcomed_, &Self::on_discard);
  heard.on(may_start, &Self::on_file);
  heard.on(welcomed_ && outgoing_ == nullptr, &Self::on_fetch);
  heard.on(controls_, &Self::on_stop);
  heard.on(controls_, &Self::on_pause);
  heard.on(controls_, &Self::on_resume);
  std::string problem = heard.problem();
  if (!heard.taken()) {
    if (admitted_) return admit("");  // a viewer without the token goes on without a proof: say what it needs
    problem = fmt::format("a {} frame where none belongs", wire::frame_type_name(frame.header.type));
  }
  if (problem.empty()) return;
  refuse(wire::ErrorCode::protocol, fmt::format("{}: sent {}; update the viewer or report this", viewer_, problem));
}

void ViewerSession::on_error(const wire::ErrorMessage& error) {
  host_.log(fmt::format("{}: the viewer gives up: {}", viewer_, wire::printable(error.text)));
  link_->finish();
}

void ViewerSession::on_clock(const wire::ClockReport& asked) {
  link_->send(wire::encode(wire::ClockReport{asked.viewer_ns, run_ == nullptr ? -1 : run_->now_ns().value_or(-1)}));
}

void ViewerSession::on_discard(const wire::Discard& discard) { host_.discard(discard.capture_id, *this); }

void ViewerSession::on_hello(const wire::Hello& hello) {
  greeted_ = true;
  viewer_ = fmt::format("{} ({} {})", link_->peer_address(), wire::printable(hello.program, 64),
                        wire::printable(hello.program_version, 64));
  if (Result<void> versions = wire::check_versions(host_.hello(), hello); !versions) {
    return refuse(wire::ErrorCode::version, versions.message());
  }
  if (hello.role != wire::PeerRole::viewer)
    return refuse(wire::ErrorCode::protocol, "only a viewer may connect to an agent");
  window_bytes_ = smaller_window(window_bytes_, hello.window_bytes);
  viewer_id_ = wire::printable(hello.session_id, 64);
  viewer_nonce_ = hello.nonce;
  admitted_ = true;
  if (!host_.gate().wants_token()) admit("");
}

void ViewerSession::on_proof(const wire::ProofMessage& proof) { admit(proof.mac); }

void ViewerSession::admit(const std::string& mac) {
  admitted_ = false;
  const Result<std::string> own = visit_->check(viewer_nonce_, mac);
  if (!own) return refuse(wire::ErrorCode::refused, own.message());
  proved_ = true;
  own_mac_ = own.value();
  link_->trust();
  host_.welcome(*this);
}

void ViewerSession::welcome(wire::Welcome welcome) {
  if (closed_) return;
  welcomed_ = true;
  welcome.mac = own_mac_;
  link_->send(wire::encode(welcome));
  host_.log(fmt::format("{}: connected", viewer_));
}

void ViewerSession::on_start(const wire::Start& start) {
  if (start.mode == wire::StartMode::look) return;
  if (stopping_) return refuse(wire::ErrorCode::refused, "the agent is stopping; start it again");
  if (host_.has_to_wait(start)) {
    waiting_start_ = start;
    host_.log(fmt::format("{}: waits until the spool is read", viewer_));
    return;
  }
  wire::ErrorCode code = wire::ErrorCode::refused;
  Result<CaptureRun*> run = host_.start(start, *this, code);
  if (!run) return refuse(code, run.message());
  run_ = run.value();
  controls_ = start.mode != wire::StartMode::watch;
  acknowledged_ = acknowledged_at_tick_ = start.after_sequence;
  if (controls_) {
    (void)run_->outbox().received(start.after_sequence);  // host_.start has checked it
    run_->outbox().attach();
  }
  reader_ = std::make_unique<OutboxReader>(run_->outbox(), start.after_sequence);
  last_progress_ = std::chrono::steady_clock::now();
  const CaptureFacts& facts = run_->facts();
  link_->send(wire::encode(wire::Started{facts.id, facts.name, facts.description, facts.begun_unix_ns, controls_}));
  host_.log(fmt::format("{}: {} {}{}", viewer_,
                        start.mode == wire::StartMode::watch     ? "watches"
                        : start.mode == wire::StartMode::take_up ? "takes up"
                                                                 : "the capture begins:",
                        facts.name,
                        start.after_sequence == 0 ? "" : fmt::format(" after frame {}", start.after_sequence)));
  send_state();
  pump();
}

void ViewerSession::go_on() {
  const std::optional<wire::Start> start = std::exchange(waiting_start_, {});
  if (start && !closed_) on_start(*start);
}

// What the viewer gives as its reason, or that it was this viewer.
std::string ViewerSession::reason(const std::string& given, const char* what) const {
  return given.empty() ? fmt::format("{} by the viewer at {}", what, link_->peer_address()) : wire::printable(given);
}

void ViewerSession::on_stop(const wire::Stop& intent) {
  run_->stop(intent.reason.empty() ? "stopped by the viewer" : wire::printable(intent.reason));
}

void ViewerSession::on_pause(const wire::Pause& intent) { run_->pause(reason(intent.reason, "paused")); }
void ViewerSession::on_resume(const wire::Resume& intent) { run_->resume(reason(intent.reason, "resumed")); }

// Files are for programs that are started.
void ViewerSession::on_file(const wire::FilePiece& piece) {
  if (!host_.options().may_run) {
    return refuse(wire::ErrorCode::refused,
                  "the agent may not start programs, so it takes no files; start it with --allow-run");
  }
  if (!incoming_) {
    Result<std::filesystem::path> folder = host_.new_work_folder();
    if (!folder) return refuse(wire::ErrorCode::refused, folder.message());
    incoming_ =
        std::make_unique<log::FileReceiver>(std::move(folder).value(), log::FileReceiverOptions{.keeps_mode = true});
  }
  if (Result<void> taken = incoming_->take(piece); !taken) return refuse(wire::ErrorCode::refused, taken.message());
}

std::string ViewerSession::take_work_folder() {
  const std::unique_ptr<log::FileReceiver> receiver = std::move(incoming_);
  return receiver ? receiver->folder().string() : "";
}

void ViewerSession::on_fetch(const wire::Fetch& fetch) {
  const CaptureRun* run = host_.find_run(fetch.capture_id);
  if (run == nullptr || !host_.options().may_run) {
    return link_->send(wire::encode(wire::Fetched{0, 0, "the agent does not have that capture any more"}));
  }
  log::FileList list = log::list_files(fetch.patterns, run->results_base());
  outgoing_problems_.clear();
  for (const std::string& missing : list.missing) {
    outgoing_problems_ += fmt::format("{}{}: no such file", outgoing_problems_.empty() ? "" : "; ", missing);
  }
  outgoing_ = std::make_unique<log::FileSender>(std::move(list.files));
  embed_files();
}

// As the link takes them, so that little waits in memory.
void ViewerSession::embed_files() {
  while (outgoing_ && !closed_) {
    if (link_->queued_bytes() > kFilesInFlight) return host_.continue_soon();
    Result<std::optional<wire::FilePiece>> piece = outgoing_->next();
    if (!piece) {
      outgoing_problems_ += (outgoing_problems_.empty() ? "" : "; ") + piece.message();
    } else if (piece.value()) {
      link_->send(wire::encode(*piece.value()));
    } else {
      link_->send(wire::encode(wire::Fetched{outgoing_->sent_files(), outgoing_->sent_bytes(), outgoing_problems_}));
      outgoing_.reset();
    }
  }
}

void ViewerSession::pump() {
  if (reader_ == nullptr || closed_ || end_sent_) return;
  for (;;) {
    // What waits in the link is in memory beside the outbox, so it is kept short.
    if (link_->queued_bytes() > kFramesInLink) return host_.continue_soon();
    if (!next_item_) {
      Result<std::optional<OutboxReader::Item>> item = reader_->next();
      if (!item) return refuse(wire::ErrorCode::refused, item.message());
      if (!item.value()) break;
      next_item_ = std::move(item).value();
    }
    const std::size_t bytes = next_item_->frame ? next_item_->frame->wire_bytes() : 0;
    if (!in_flight_.empty() && in_flight_bytes_ + bytes > window_bytes_) return;
    send_item(*std::exchange(next_item_, {}));
  }
  if (reader_->position() < run_->outbox().totals().frames) return;
  if (const std::optional<wire::StreamEnd> end = run_->outbox().end()) {
    end_sent_ = true;
    link_->send(wire::encode(*end));
    if (controls_) {
      host_.log(fmt::format("{}: the capture ends after {} events{}", viewer_, format_count(end->events),
                            end->text.empty() ? "" : ": " + end->text));
    }
    finish_if_over();
  }
}

void ViewerSession::send_item(const OutboxReader::Item& item) {
  if (item.gap) link_->send(wire::encode(*item.gap));
  if (!item.frame) return;
  in_flight_.push_back({item.frame->header.sequence, item.frame->wire_bytes()});
  in_flight_bytes_ += item.frame->wire_bytes();
  sent_bytes_ += item.frame->wire_bytes();
  link_->send(item.frame);
}

void ViewerSession::on_received(const wire::Received& message) {
  if (message.sequence > reader_->position()) return refuse_acknowledgement(message.sequence);
  while (!in_flight_.empty() && in_flight_.front().sequence <= message.sequence) {
    in_flight_bytes_ -= in_flight_.front().bytes;
    in_flight_.pop_front();
  }
  acknowledged_ = std::max(acknowledged_, message.sequence);
  if (controls_) (void)run_->outbox().received(message.sequence);  // known to be possible
  on_delivery();
}

void ViewerSession::on_durable(const wire::Durable& message) {
  if (message.sequence > acknowledged_) return refuse_acknowledgement(message.sequence);
  if (controls_) {
    (void)run_->outbox().durable(message.sequence);  // known to be possible
    if (run_->saved())
      host_.log(fmt::format("{}: the viewer has saved everything up to frame {}", viewer_, message.sequence));
  }
  on_delivery();
}

void ViewerSession::refuse_acknowledgement(std::uint64_t sequence) {
  refuse(wire::ErrorCode::protocol,
         fmt::format("{}: acknowledges frame {}, which it cannot have; report this", viewer_, sequence));
}

void ViewerSession::on_delivery() {
  if (controls_) host_.on_delivery(*run_);
  pump();
  finish_if_over();
}

void ViewerSession::send_state() {
  if (run_ != nullptr && !closed_) link_->send(wire::encode(host_.state_of(*run_)));
}

void ViewerSession::stop(const std::string& reason) {
  if (std::exchange(stopping_, true)) return;
  stopped_at_ = std::chrono::steady_clock::now();
  if (run_ != nullptr && controls_) run_->stop(reason);
  finish_if_over();
}

void ViewerSession::drop(const std::string& reason) { link_->fail(reason); }

void ViewerSession::make_room() {
  makes_room_ = true;
  drop("made room for another connection");
}

std::string ViewerSession::peer_ip() const {
  const Result<system::Address> address = system::parse_address(link_->peer_address());
  return address ? address->host : link_->peer_address();
}

void ViewerSession::refuse(wire::ErrorCode code, const std::string& text) {
  host_.log(fmt::format("{}: refused: {}", viewer_, text));
  link_->send(wire::encode(wire::ErrorMessage{code, text}));
  link_->finish();
}

void ViewerSession::on_tick() {
  const auto now = std::chrono::steady_clock::now();
  if (stopping_ && (run_ == nullptr || run_->over()) && now - stopped_at_ > kStopLimit) return link_->finish();
  if (!welcomed_ && (unproved_for_ += host_.options().limits.tick) > 2 * host_.options().limits.hello) {
    unproved_for_ = {};
    return refuse(wire::ErrorCode::refused, fmt::format("{}: has not proved that it knows the token in time", viewer_));
  }
  if (run_ == nullptr) return;
  if (!acknowledges()) {
    return link_->fail(fmt::format("has acknowledged nothing for {} s",
                                   std::chrono::duration<double>(host_.options().limits.stall).count()));
  }
  if (run_->over() || now - last_progress_ < kProgressInterval) return;
  last_progress_ = now;
  const Outbox::Totals totals = run_->outbox().totals();
  link_->send(
      wire::encode(wire::ProgressReport{totals.events, totals.waiting_bytes,
                                        static_cast<std::uint64_t>(totals.waited.count()), run_->facts().description}));
  if (totals.dropped_events > 0) send_state();
}

// A viewer may read, or the system may read for it, and still take nothing in.
bool ViewerSession::acknowledges() {
  if (in_flight_.empty() || acknowledged_ != acknowledged_at_tick_) {
    acknowledged_at_tick_ = acknowledged_;
    unacknowledged_for_ = std::chrono::milliseconds(0);
    return true;
  }
  unacknowledged_for_ += host_.options().limits.tick;
  return unacknowledged_for_ <= host_.options().limits.stall;
}

bool ViewerSession::all_taken() const { return end_sent_ && in_flight_.empty(); }

void ViewerSession::finish_if_over() {
  if (stopping_ && !closed_ && (run_ == nullptr || all_taken())) link_->finish();
}

void ViewerSession::on_closed(wire::Closed how, const std::string& text) {
  closed_ = true;
  if (incoming_) {  // files of a capture that never began
    std::error_code ignored;
    std::filesystem::remove_all(take_work_folder(), ignored);
  }
  if (run_ != nullptr && controls_) run_->outbox().detach();
  const bool broke = how == wire::Closed::broken || how == wire::Closed::given_up;
  if (run_ != nullptr) {
    const Outbox::Totals totals = run_->outbox().totals();
    const bool taken = all_taken();
    host_.log(taken ? fmt::format("{}: done", viewer_)
                    : fmt::format("{}: {} before the capture was delivered: {} events were made, {} frames were not "
                                  "acknowledged",
                                  viewer_, broke ? text : "left", format_count(totals.events),
                                  totals.frames - std::min(totals.frames, acknowledged_)));
  } else if (!makes_room_ && (welcomed_ || how == wire::Closed::given_up || (broke && !greeted_))) {
    host_.log(fmt::format("{}: {}", viewer_, text.empty() ? "left" : text));
  }
  host_.on_done(*this);
}

}  // namespace accelscope::capture::agent
