#include "capture/agent/viewer_session.h"
#include "capture/wire/capture_messages.h"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <utility>

#include "core/base/format.h"

namespace accelscope::capture {
namespace {

constexpr std::chrono::seconds kProgressInterval{1};
constexpr std::chrono::seconds kStopLimit{10};  // for the viewer to take what was still on its way

std::uint64_t smaller_window(std::uint64_t own, std::uint64_t wished) {
  return wished == 0 ? own : std::min(own, wished);
}

// A source is foreign code at a module's border: what it throws becomes an error like any other.
Result<void> run_guarded(const SourceFunction& source, EventSink& sink) {
  try {
    return source(sink);
  } catch (const std::exception& thrown) {
    return Error{fmt::format("the source failed: {}", thrown.what())};
  }
}

}  // namespace

ViewerSession::ViewerSession(SessionHost& host, std::unique_ptr<Link> link)
    : host_(host), link_(std::move(link)), viewer_(link_->peer_address()), window_bytes_(host.options().window_bytes) {}

ViewerSession::~ViewerSession() {
  if (sink_) sink_->disconnect("the agent ends");
  if (source_thread_.joinable()) source_thread_.join();
}

void ViewerSession::begin() {
  link_->start(*this);
  link_->send(encode(host_.hello()));
}

void ViewerSession::on_frame(Frame frame) {
  const auto broken = [this](const std::string& text) {
    refuse(ErrorCode::protocol, fmt::format("{}: sent {}; update the viewer or report this", viewer_, text));
  };
  const auto take = [&](const auto& message, const auto& act) {
    if (!message) return broken(message.message());
    act(message.value());
  };
  const FrameType type = frame.header.type;
  if (type == FrameType::error) {
    return take(decode_error(frame.body), [this](const ErrorMessage& error) {
      host_.log(fmt::format("{}: the viewer gives up: {}", viewer_, printable(error.text)));
      lost_ = printable(error.text);
      link_->finish();
    });
  }
  if (type == FrameType::hello && !greeted_) {
    return take(decode_hello(frame.body), [this](const Hello& hello) { on_hello(hello); });
  }
  if (type == FrameType::start && controls_ && !sink_) {
    return take(decode_start(frame.body), [this](const Start& start) { on_start(start); });
  }
  if (type == FrameType::stop && controls_) {
    return take(decode_stop(frame.body), [this](const Stop& request) {
      stop(request.reason.empty() ? "stopped by the viewer" : printable(request.reason));
    });
  }
  if ((type == FrameType::received || type == FrameType::durable) && sink_) {
    return take(decode_acknowledgement(frame.body),
                [this, type](const Acknowledgement& message) { on_acknowledgement(type, message); });
  }
  broken(fmt::format("a {} frame where none belongs", frame_type_name(type)));
}

void ViewerSession::on_hello(const Hello& hello) {
  greeted_ = true;
  viewer_ = fmt::format("{} ({} {})", link_->peer_address(), printable(hello.program, 64),
                        printable(hello.program_version, 64));
  if (Result<void> versions = check_versions(host_.hello(), hello); !versions) {
    return refuse(ErrorCode::version, versions.message());
  }
  if (hello.role != PeerRole::viewer) return refuse(ErrorCode::protocol, "only a viewer may connect to an agent");
  if (Result<void> control = host_.take_control(*this); !control) return refuse(ErrorCode::busy, control.message());
  controls_ = true;
  window_bytes_ = smaller_window(window_bytes_, hello.window_bytes);
  host_.log(fmt::format("{}: connected", viewer_));
}

void ViewerSession::on_start(const Start& start) {
  if (start.after_sequence != 0) {
    return refuse(ErrorCode::refused, "this agent keeps no earlier frames to resume from; start a new capture");
  }
  if (stopping_) return refuse(ErrorCode::refused, "the agent is stopping; start it again");
  sink_ = std::make_unique<WireSink>(*link_, window_bytes_);
  source_runs_ = true;
  last_progress_ = std::chrono::steady_clock::now();
  host_.log(fmt::format("{}: the capture begins", viewer_));
  source_thread_ = std::thread([this] { run_source(); });
}

// On the source's own thread.
void ViewerSession::run_source() {
  Result<void> result = run_guarded(host_.source(), *sink_);
  host_.loop().post([this, result = std::move(result)] { on_source_done(result); });
}

void ViewerSession::on_source_done(const Result<void>& result) {
  source_thread_.join();
  source_runs_ = false;
  source_result_ = result;
  if (!closed_) {
    const Outcome outcome = !result ? Outcome::failed : stopping_ ? Outcome::stopped : Outcome::complete;
    const std::string text = !result ? result.message() : stop_reason_;
    // A sink that is disconnected by now says so in on_closed.
    if (Result<void> sent = sink_->finish(outcome, text); sent) {
      host_.log(fmt::format("{}: the capture ends after {} events{}", viewer_, format_count(sink_->totals().events),
                            text.empty() ? "" : ": " + text));
    }
  }
  end_if_over();
}

void ViewerSession::on_acknowledgement(FrameType type, const Acknowledgement& message) {
  if (type == FrameType::durable ? message.sequence > sink_->totals().acknowledged
                                 : !sink_->acknowledge(message.sequence)) {
    return refuse(ErrorCode::protocol, fmt::format("{}: acknowledges frame {}, which it cannot have; report this",
                                                   viewer_, message.sequence));
  }
  if (type == FrameType::durable && message.sequence > durable_) {
    durable_ = message.sequence;
    host_.log(fmt::format("{}: the viewer has saved everything up to frame {}", viewer_, durable_));
  }
  end_if_over();
}

void ViewerSession::stop(const std::string& reason) {
  if (std::exchange(stopping_, true)) return;
  stop_reason_ = reason;
  stopped_at_ = std::chrono::steady_clock::now();
  if (source_runs_) sink_->cancel();
  end_if_over();
}

void ViewerSession::refuse(ErrorCode code, const std::string& text) {
  host_.log(fmt::format("{}: refused: {}", viewer_, text));
  if (sink_) {
    lost_ = text;
    sink_->disconnect(text);
  }
  link_->send(encode(ErrorMessage{code, text}));
  link_->finish();
}

void ViewerSession::on_tick() {
  const auto now = std::chrono::steady_clock::now();
  if (stopping_ && !source_runs_ && now - stopped_at_ > kStopLimit) return link_->finish();
  if (sink_ && !acknowledges()) {
    return link_->fail(fmt::format("has acknowledged nothing for {} s",
                                   std::chrono::duration<double>(host_.options().limits.stall).count()));
  }
  if (!source_runs_ || now - last_progress_ < kProgressInterval) return;
  last_progress_ = now;
  const WireSink::Totals totals = sink_->totals();
  link_->send(encode(ProgressReport{totals.events, totals.waiting_bytes,
                                    static_cast<std::uint64_t>(totals.waited.count()), host_.options().description}));
}

// A viewer may read, or the system may read for it, and still take nothing in.
bool ViewerSession::acknowledges() {
  const WireSink::Totals totals = sink_->totals();
  if (totals.acknowledged == totals.frames || totals.acknowledged != acknowledged_at_tick_) {
    acknowledged_at_tick_ = totals.acknowledged;
    unacknowledged_for_ = std::chrono::milliseconds(0);
    return true;
  }
  unacknowledged_for_ += host_.options().limits.tick;
  return unacknowledged_for_ <= host_.options().limits.stall;
}

void ViewerSession::on_closed(Closed how, const std::string& text) {
  closed_ = true;
  if (sink_) {
    if (!delivered() && lost_.empty()) lost_ = loss_report(how, text);
    sink_->disconnect(lost_.empty() ? "the capture is over" : lost_);
    host_.log(lost_.empty() ? fmt::format("{}: done", viewer_) : lost_);
  } else if (controls_ || (how == Closed::broken && !greeted_)) {
    host_.log(fmt::format("{}: {}", viewer_, text.empty() ? "left" : text));
  }
  end_if_over();
}

std::string ViewerSession::loss_report(Closed how, const std::string& text) const {
  const WireSink::Totals totals = sink_->totals();
  return fmt::format("{} {} before the capture was delivered: {} events were made, {} frames were not acknowledged",
                     viewer_, how == Closed::broken ? text : "left", format_count(totals.events),
                     totals.frames - totals.acknowledged);
}

bool ViewerSession::delivered() const {
  if (!source_result_) return false;
  const WireSink::Totals totals = sink_->totals();
  return totals.acknowledged == totals.frames;
}

void ViewerSession::end_if_over() {
  if (closed_) {
    if (!source_runs_ && !std::exchange(done_, true)) host_.on_done(*this);
  } else if (stopping_ && !source_runs_ && (!sink_ || delivered())) {
    link_->finish();
  }
}

std::optional<Result<void>> ViewerSession::verdict() const {
  if (!sink_) return {};
  if (source_result_ && !source_result_->ok()) return source_result_;
  if (!lost_.empty()) return Result<void>(Error{lost_});
  return Result<void>();
}

}  // namespace accelscope::capture
