#include "capture/client/connection.h"
#include "capture/wire/capture_messages.h"

#include <fmt/format.h>

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include "capture/client/stream_ingest.h"
#include "core/base/format.h"

namespace accelscope::capture {
namespace {

constexpr std::uint64_t kAcknowledgeEvery = 2ULL << 20;
constexpr std::chrono::milliseconds kRateInterval{1000};
constexpr std::chrono::milliseconds kLastWords{250};

// Events and bytes per second over about the last second.
class RateMeter {
 public:
  void add(std::chrono::steady_clock::time_point now, std::uint64_t events, std::uint64_t bytes) {
    samples_.push_back({now, events, bytes});
    while (samples_.size() > 2 && now - samples_[1].time >= kRateInterval) samples_.pop_front();
    const Sample& first = samples_.front();
    const double seconds = std::chrono::duration<double>(now - first.time).count();
    if (seconds <= 0) return;
    events_per_second = static_cast<double>(events - first.events) / seconds;
    bytes_per_second = static_cast<double>(bytes - first.bytes) / seconds;
  }
  double events_per_second = 0;
  double bytes_per_second = 0;

 private:
  struct Sample {
    std::chrono::steady_clock::time_point time;
    std::uint64_t events;
    std::uint64_t bytes;
  };
  std::deque<Sample> samples_;
};

}  // namespace

struct Connection::Implementation final : LinkHandler, SinkProvider {
  Implementation(ConnectionOptions connection_options, EventSink& event_sink)
      : options(std::move(connection_options)), event_sink_(event_sink), ingest(*this), peer(options.address.text()) {
    shared.peer = peer;
  }

  EventSink& sink(std::uint32_t /*scope*/) override { return event_sink_; }
  void begin();
  void on_frame(Frame frame) override;
  void on_tick() override;
  void on_closed(Closed how, const std::string& text) override;

  void on_hello(const Hello& agent);
  void on_data(Frame frame);
  void on_end(const StreamEnd& end);
  void acknowledge();
  void publish();
  void set_state(ConnectionState next, const std::string& message);
  void give_up(ErrorCode code, const std::string& what);
  void fail(const std::string& message);
  void ask_to_stop();
  void finish_link();
  [[nodiscard]] Hello hello() const;
  [[nodiscard]] std::string kept_events() const;
  [[nodiscard]] bool is_done() const { return state == ConnectionState::ended || state == ConnectionState::failed; }

  ConnectionOptions options;
  EventSink& event_sink_;
  Loop loop;

  // Of the loop's thread.
  StreamIngest ingest;
  std::unique_ptr<Link> link;
  std::string peer;
  ConnectionState state = ConnectionState::connecting;
  RateMeter rate;
  std::uint64_t unacknowledged_bytes = 0;
  std::uint64_t acknowledged = 0;
  std::chrono::milliseconds stopping_for{0};
  std::optional<std::chrono::steady_clock::time_point> started;
  bool greeted = false;
  bool welcome_awaited = false;
  bool closed = false;

  // Of all threads.
  mutable std::mutex mutex;
  mutable std::condition_variable changed;
  ConnectionStatus shared;
  bool link_closed = false;

  std::thread thread;  // last: everything else is there when it begins
};

void Connection::Implementation::begin() {
  connect(loop, options.address, options.limits, [this](Result<std::unique_ptr<Link>> connected) {
    if (is_done()) return;
    if (!connected) {
      closed = true;
      return fail(connected.message());
    }
    link = std::move(connected).value();
    link->start(*this);
    link->send(encode(hello()));
  });
  thread = std::thread([this] { loop.run(); });
}

Hello Connection::Implementation::hello() const {
  Hello own;
  own.role = PeerRole::viewer;
  own.program = "accelscope";
  own.program_version = options.version;
  own.description = options.description;
  own.window_bytes = options.window_bytes;
  own.capabilities = {"stop", "progress", "durable"};
  return own;
}

void Connection::Implementation::on_frame(Frame frame) {
  const auto take = [this](const auto& message, const auto& act) {
    if (!message) return give_up(ErrorCode::protocol, "sent " + message.message());
    act(message.value());
  };
  const bool streams = state == ConnectionState::streaming || state == ConnectionState::stopping;
  switch (frame.header.type) {
    case FrameType::chunk:
    case FrameType::definition:
      if (streams) return on_data(std::move(frame));
      break;
    case FrameType::hello:
      if (!greeted) return take(decode_hello(frame.body), [this](const Hello& agent) { on_hello(agent); });
      break;
    case FrameType::error:
      return take(decode_error(frame.body), [this](const ErrorMessage& error) {
        fail(fmt::format("{}: {}{}", peer, printable(error.text), kept_events()));
        link->finish();
      });
    case FrameType::progress:
      return take(decode_progress(frame.body), [this](const ProgressReport& report) {
        const std::lock_guard lock(mutex);
        shared.agent = report;
        shared.agent.text = printable(report.text);
      });
    case FrameType::welcome:
      if (std::exchange(welcome_awaited, false)) {
        started = std::chrono::steady_clock::now();
        set_state(ConnectionState::streaming, "");
        return link->send(encode(Start{}));
      }
      break;
    case FrameType::started:
    case FrameType::state:
      return;
    case FrameType::end:
      if (streams) return take(decode_end(frame.body), [this](const StreamEnd& end) { on_end(end); });
      break;
    default:
      break;
  }
  if (is_done()) return;
  give_up(ErrorCode::protocol, fmt::format("sent a {} frame where none belongs", frame_type_name(frame.header.type)));
}

void Connection::Implementation::on_hello(const Hello& agent) {
  greeted = true;
  peer = fmt::format("{} ({} {})", options.address.text(), printable(agent.program, 64),
                     printable(agent.program_version, 64));
  {
    const std::lock_guard lock(mutex);
    shared.peer = peer;
    shared.description = printable(agent.description);
    shared.session_id = printable(agent.session_id, 64);
  }
  if (Result<void> versions = check_versions(hello(), agent); !versions) {
    fail(fmt::format("{}: {}", peer, versions.message()));
    link->send(encode(ErrorMessage{ErrorCode::version, versions.message()}));
    return link->finish();
  }
  if (agent.role != PeerRole::agent) {
    return give_up(ErrorCode::protocol, "is not an agent; connect to the address that accelscope-agent prints");
  }
  welcome_awaited = true;
}

void Connection::Implementation::on_data(Frame frame) {
  unacknowledged_bytes += frame.wire_bytes();
  if (Result<void> taken = ingest.take(std::move(frame)); !taken) {
    return give_up(ErrorCode::store, taken.message());
  }
  if (unacknowledged_bytes >= std::min(kAcknowledgeEvery, options.window_bytes / 8)) acknowledge();
}

// Only what the sink has taken: the agent may forget what is acknowledged.
void Connection::Implementation::acknowledge() {
  unacknowledged_bytes = 0;
  publish();
  if (acknowledged == ingest.last_sequence()) return;
  acknowledged = ingest.last_sequence();
  link->send(encode_received({acknowledged}));
}

void Connection::Implementation::publish() {
  const std::lock_guard lock(mutex);
  shared.events = ingest.events();
  shared.chunks = ingest.chunks();
  shared.doubled_frames = ingest.doubled_frames();
  shared.lost_events = ingest.lost_events();
  if (started && !is_done()) {
    shared.streaming_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - *started).count();
  }
  shared.last_sequence = ingest.last_sequence();
  if (link) shared.bytes = link->received_bytes();
  shared.events_per_second = rate.events_per_second;
  shared.bytes_per_second = rate.bytes_per_second;
}

void Connection::Implementation::on_end(const StreamEnd& end) {
  const Result<std::string> missing = ingest.finish(end);
  acknowledge();
  if (!missing) return give_up(ErrorCode::store, missing.message());
  std::string message = printable(end.text);
  if (!missing.value().empty()) message = fmt::format("{}: {}", peer, missing.value());
  {
    const std::lock_guard lock(mutex);
    shared.outcome = end.outcome;
  }
  if (end.outcome == Outcome::failed) {
    fail(fmt::format("{}: the capture failed: {}{}", peer, message, kept_events()));
  } else {
    set_state(ConnectionState::ended, message);
  }
  if (!options.stay_after_end) link->finish();
}

void Connection::Implementation::on_tick() {
  rate.add(std::chrono::steady_clock::now(), ingest.events(), link->received_bytes());
  acknowledge();
  if (state != ConnectionState::stopping) return;
  stopping_for += options.limits.tick;
  if (stopping_for > options.stop_limit) {
    link->fail(fmt::format("has not ended the capture within {} s of being asked",
                           std::chrono::duration<double>(options.stop_limit).count()));
  }
}

void Connection::Implementation::on_closed(Closed how, const std::string& text) {
  closed = true;
  if (!is_done()) {
    const std::string what = how == Closed::finished ? "was closed" : text;
    fail(fmt::format("{}: the agent {}{}; look at the agent's own messages, start it again and connect anew", peer,
                     what, kept_events()));
  }
  const std::lock_guard lock(mutex);
  link_closed = true;
  changed.notify_all();
}

std::string Connection::Implementation::kept_events() const {
  if (ingest.last_sequence() == 0) return "";
  return fmt::format("; the {} events that came before are kept", format_count(ingest.events()));
}

// This side finds fault with the agent: tells it and closes.
void Connection::Implementation::give_up(ErrorCode code, const std::string& what) {
  fail(fmt::format("{}: the agent {}{}", peer, what, kept_events()));
  link->send(encode(ErrorMessage{code, "the agent " + what}));
  link->finish();
}

void Connection::Implementation::fail(const std::string& message) {
  if (is_done()) return;
  std::string shown = message;
  if (ingest.last_sequence() > 0) {
    const QualityEntry entry{"connection_lost", 1, message, Severity::error};
    if (Result<void> noted = event_sink_.define(entry); !noted) shown += "; " + noted.message();
  }
  set_state(ConnectionState::failed, shown);
}

void Connection::Implementation::set_state(ConnectionState next, const std::string& message) {
  state = next;
  rate.add(std::chrono::steady_clock::now(), ingest.events(), link ? link->received_bytes() : 0);
  publish();
  const std::lock_guard lock(mutex);
  shared.state = next;
  shared.message = message;
  changed.notify_all();
}

void Connection::Implementation::ask_to_stop() {
  if (state == ConnectionState::streaming) {
    link->send(encode(Stop{"stopped by the viewer"}));
    return set_state(ConnectionState::stopping, "");
  }
  if (state != ConnectionState::connecting) return;
  set_state(ConnectionState::ended, "stopped before the agent answered");
  finish_link();
}

void Connection::Implementation::finish_link() {
  if (link && !closed) return link->finish();
  const std::lock_guard lock(mutex);
  link_closed = true;
  changed.notify_all();
}

Connection::Connection(ConnectionOptions options, EventSink& sink)
    : impl_(std::make_unique<Implementation>(std::move(options), sink)) {
  impl_->begin();
}

Connection::~Connection() {
  {
    // The agent should learn that everything came: the last acknowledgement may still be on its way out.
    std::unique_lock lock(impl_->mutex);
    const bool ended = impl_->shared.state == ConnectionState::ended && !impl_->options.stay_after_end;
    if (ended) impl_->changed.wait_for(lock, kLastWords, [this] { return impl_->link_closed; });
  }
  impl_->loop.stop();
  impl_->thread.join();
  impl_->link.reset();  // before the loop that it lives on
}

ConnectionStatus Connection::status() const {
  const std::lock_guard lock(impl_->mutex);
  return impl_->shared;
}

bool Connection::done() const {
  const std::lock_guard lock(impl_->mutex);
  return impl_->shared.state == ConnectionState::ended || impl_->shared.state == ConnectionState::failed;
}

void Connection::wait() const {
  std::unique_lock lock(impl_->mutex);
  impl_->changed.wait(lock, [this] {
    return impl_->shared.state == ConnectionState::ended || impl_->shared.state == ConnectionState::failed;
  });
}

bool Connection::wait_for(std::chrono::milliseconds limit) const {
  std::unique_lock lock(impl_->mutex);
  return impl_->changed.wait_for(lock, limit, [this] {
    return impl_->shared.state == ConnectionState::ended || impl_->shared.state == ConnectionState::failed;
  });
}

void Connection::stop() {
  impl_->loop.post([this] { impl_->ask_to_stop(); });
}

void Connection::acknowledge_durable(std::uint64_t sequence) {
  impl_->loop.post([this, sequence] {
    if (impl_->link && !impl_->closed) impl_->link->send(encode_durable({sequence}));
  });
}

void Connection::close() {
  impl_->loop.post([this] { impl_->finish_link(); });
  std::unique_lock lock(impl_->mutex);
  impl_->changed.wait(lock, [this] { return impl_->link_closed; });
}

}  // namespace accelscope::capture
