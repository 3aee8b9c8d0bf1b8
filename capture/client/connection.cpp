#include "capture/client/connection.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "capture/client/connection_implementation.h"
#include "capture/ingest/stream_ingest.h"
#include "core/base/format.h"

namespace accelscope::capture::client {
namespace {

constexpr double kLargeResidual = 1e6;  // ns; the eye compares hosts at about a millisecond
constexpr std::uintmax_t kReserve = 64U << 20;

// A pair as a log keeps it: the agent's answer, and how sure it is.
struct RetainedPair {
  wire::ClockReport report;
  std::int64_t uncertainty_ns = 0;
  static void fields(auto& walk, auto& pair) { walk(pair.report, pair.uncertainty_ns); }
};

}  // namespace

wire::Frame encode_clock_pair(const ClockPair& pair) {
  return wire::make_frame(wire::FrameType::clock,
                          write_fields(RetainedPair{{pair.ns, pair.ticks}, pair.uncertainty_ns}));
}

Result<ClockPair> decode_clock_pair(ByteView body) {
  const RetainedPair retained = TRY(read_fields<RetainedPair>(body, "reading of clocks"));
  return ClockPair{retained.report.agent_ns, retained.report.viewer_ns, retained.uncertainty_ns};
}

std::string HostNames::name(const std::string& host, const std::string& place) {
  const std::lock_guard lock(mutex_);
  const auto [known, first] = places_.try_emplace(host, place);
  if (first || known->second == place) return host;
  const std::string port = place.substr(std::min(place.size(), place.rfind(':') + 1));
  const bool has_port = !port.empty() && port.find_first_not_of("0123456789") == std::string::npos;
  return has_port ? fmt::format("{}:{}", host, port) : fmt::format("{} ({})", host, place);
}

AgentFeed::AgentFeed(ingest::SinkProvider& sinks, AgentFeedOptions options)
    : sinks_(sinks), options_(std::move(options)), clock_(options_.clock, options_.reference), ingest_(*this) {
  facts_.place = options_.place;
}

EventSink& AgentFeed::sink(std::uint32_t scope) {
  EventSink& inner = sinks_.sink(scope);
  if (options_.reference && !options_.names_host) return inner;
  std::unique_ptr<ingest::HostClockSink>& found = scopes_[scope];
  if (!found) {
    found = std::make_unique<ingest::HostClockSink>(inner, host(), options_.reference,
                                                    options_.hosts ? options_.hosts->facts() : nullptr);
    if (!map_.empty()) found->start_with(map_, clock_.fit().residual_ns());
  }
  return *found;
}

Result<void> AgentFeed::begin(const wire::Started& started, const std::string& host_name) {
  host_ = options_.hosts ? options_.hosts->name(host_name, options_.place) : host_name;
  facts_.capture_id = started.capture_id;
  facts_.name = started.name;
  facts_.description = started.description;
  facts_.begun_unix_ns = started.begun_unix_ns;
  facts_.state = wire::CaptureState::running;
  if (log_ || options_.folder.empty()) return write_facts();
  Result<std::unique_ptr<log::FrameLog>> log =
      log::FrameLog::create(options_.folder, {.capture_id = started.capture_id});
  if (!log) return lose_log(log.error());
  log_ = std::move(log).value();
  return write_facts();
}

Result<void> AgentFeed::write_facts() {
  if (!log_) return {};
  const Result<void> written = log_->write_facts(facts_);
  return written ? Result<void>() : lose_log(written.error());
}

// The capture goes on without it; only a death of this process would then cost something.
Result<void> AgentFeed::lose_log(const Error& why) {
  log_.reset();
  options_.folder.clear();
  unsafe_ = "what comes from now on is in memory only: " + why.message;
  return note({"recovery_file", 1, "what came after this could not be saved while capturing: " + why.message});
}

Result<void> AgentFeed::log(const wire::Frame& frame) {
  if (!log_) return {};
  // After damage in the file the agent may send what the file already counts.
  if (frame.header.sequence != 0 && frame.header.sequence <= log_->last_sequence()) return {};
  const Result<void> retained = log_->append(frame);
  return retained ? Result<void>() : lose_log(retained.error());
}

std::uint64_t AgentFeed::durable() const noexcept {
  return log_ ? std::min(log_->synced_sequence(), ingest_.last_sequence()) : 0;
}

Result<void> AgentFeed::take(wire::Frame frame) {
  if (frame.header.sequence == ingest_.last_sequence() + 1) {
    if (Result<void> retained = log(frame); !retained) return retained;
  }
  return ingest_.take(std::move(frame));
}

Result<void> AgentFeed::take(const wire::Gap& gap) {
  if (Result<void> taken = ingest_.take(gap); !taken) return taken;
  return log(wire::encode(gap));
}

Result<std::string> AgentFeed::finish(const wire::StreamEnd& end) {
  TRY(tick(true));
  if (!facts_.end) {
    facts_.end = end;
    facts_.state = wire::CaptureState::ended;
    TRY(log(wire::encode(end)));
    TRY(write_facts());
    if (const Result<void> synced = log_ ? log_->sync() : Result<void>(); !synced) {
      TRY(lose_log(synced.error()));
    }
  }
  return ingest_.finish(end);
}

Result<void> AgentFeed::add_clock(const ClockPair& pair) {
  clock_.add(pair);
  return log(encode_clock_pair(pair));
}

// What is on the disk grows with every tick. The disk is not filled to its end: what else is written there fails first,
// and the session itself needs room.
Result<void> AgentFeed::keep_log_safe() {
  if (!log_) return {};
  log_->request_sync();
  if (const std::string failure = log_->sync_failure(); !failure.empty()) return lose_log(Error{failure});
  std::error_code unknown;
  const auto room = std::filesystem::space(options_.folder, unknown);
  if (unknown || room.available >= kReserve) return {};
  return lose_log(
      Error{fmt::format("{}: only {} are left there", options_.folder.string(), format_bytes(room.available))});
}

Result<void> AgentFeed::tick(bool last) {
  if (Result<void> safe = keep_log_safe(); !safe) return safe;
  const std::optional<std::vector<ClockAnchor>> anchors = clock_.due(std::chrono::steady_clock::now(), last);
  const double residual = clock_.fit().residual_ns();
  if (anchors) {
    map_ = *anchors;
    for (auto& [number, scope] : scopes_) {
      if (Result<void> set = scope->set_map(*anchors, residual); !set) return set;
    }
  }
  if (!last || clock_.reference() || clock_.fit().empty()) return {};
  if (Result<void> retained =
          sink(0).define(MetaEntry{fmt::format("clock.{}.residual_ns", host()), fmt::format("{:.0f}", residual)});
      !retained) {
    return retained;
  }
  if (residual <= kLargeResidual) return {};
  return note({QualityKind("clock_residual").as(Severity::warning), 1,
               fmt::format("the clock of {} could be brought onto the session's time only within {}; compare its "
                           "events with those of other hosts at no finer scale",
                           host(), format_duration(residual))});
}

Result<void> AgentFeed::replay() {
  const Result<log::FrameLogFacts> facts = log::FrameLog::read_facts(options_.folder);
  if (facts) facts_ = facts.value();
  facts_.end.reset();  // it comes with the frames
  log::FrameLogRecovery found;
  std::unique_ptr<log::FrameLog> log =
      TRY(log::FrameLog::open_existing(options_.folder, {.capture_id = facts_.capture_id}, found));
  ingest::LoggedFrames frames(options_.folder, "recovery files", ingest_);
  const Result<void> read = frames.read([] { return true; }, [this](const wire::Frame& frame) { replay(frame); });
  if (!read) return read;
  log_ = std::move(log);
  log_->request_sync();
  if (Result<void> reported = tick(true); !reported) return reported;
  if (Result<void> noted = frames.finish(sink(0)); !noted) return noted;
  if (facts_.end) {
    TRY(ingest_.finish(*facts_.end));
  }
  if (found.cut_bytes == 0) return {};
  return note({"recovery_cut", found.cut_bytes,
               "bytes of a last frame that was being written when the program ended; the agent sends it again if it "
               "still has the capture"});
}

void AgentFeed::replay(const wire::Frame& frame) {
  if (frame.header.type == wire::FrameType::clock) {
    if (const Result<ClockPair> pair = decode_clock_pair(frame.body); pair) clock_.add(pair.value());
  }
  if (frame.header.type == wire::FrameType::end) {
    if (const Result<wire::StreamEnd> end = wire::decode<wire::StreamEnd>(frame.body); end) facts_.end = end.value();
  }
}

namespace {

using std::chrono::milliseconds;

constexpr milliseconds kLastWords{250};
constexpr milliseconds kFirstRetry{50};
constexpr milliseconds kLongestRetry{1000};
constexpr milliseconds kBusyPatience{1000};
constexpr milliseconds kFilesPause{5};
constexpr std::size_t kFilesAhead = 4U << 20;  // bytes of files that wait in the link

milliseconds retry_delay(std::uint64_t retries) {
  if (retries == 0) return milliseconds(0);
  return std::min<milliseconds>(kLongestRetry, kFirstRetry * (1LL << std::min<std::uint64_t>(retries - 1, 8)));
}

}  // namespace

Connection::Implementation::Implementation(ConnectionOptions connection_options, AgentFeed& agent_feed)
    : options(std::move(connection_options)), feed(agent_feed), peer(options.place) {
  if (!options.now_ns) {
    options.now_ns = [] { return std::chrono::steady_clock::now().time_since_epoch() / std::chrono::nanoseconds(1); };
  }
  if (options.start.mode == wire::StartMode::take_up) {
    options.start.after_sequence = feed.counts().last_sequence();
    stream_end = feed.facts().end;
  }
  shared.place = options.place;
  shared.peer = peer;
  publish();
}

void Connection::Implementation::connect() {
  step = Step::connecting;
  options.connector(loop, options.limits, [this, number = ++attempt](Result<std::unique_ptr<wire::Link>> connected) {
    if (number == attempt && !over()) on_connected(std::move(connected));
  });
}

void Connection::Implementation::on_connected(Result<std::unique_ptr<wire::Link>> connected) {
  if (!connected) return on_break(connected.message());
  if (Result<void> ready = begin_proof(); !ready) return fail(fmt::format("{}: {}", options.place, ready.message()));
  link = std::move(connected).value();
  handler = std::make_unique<Handler>(*this, attempt);
  step = Step::greeting;
  {
    const std::lock_guard lock(mutex);
    link_closed = false;
  }
  link->start(*handler);
  link->send(wire::encode(hello()));
  publish();
}

wire::Hello Connection::Implementation::hello() const {
  wire::Hello own;
  own.role = wire::PeerRole::viewer;
  own.program = "accelscope";
  own.program_version = ACCELSCOPE_VERSION;
  own.session_id = options.viewer_id;
  own.description = options.description;
  own.window_bytes = options.window_bytes;
  own.capabilities = {"stop", "progress", "durable", "resume", "pause", "clock"};
  if (proof) own.nonce = proof->nonce();
  return own;
}

Result<void> Connection::Implementation::begin_proof() {
  std::optional<security::Token> token = reported_token;
  if (!token && options.token) {
    std::optional<security::Token> known = TRY(options.token());
    token = std::move(known);
  }
  token_known = token.has_value();
  security::ViewerProof begun = TRY(security::ViewerProof::begin(std::move(token)));
  proof = std::move(begun);
  return {};
}

// The agent is not kept waiting while the user looks for the token: the connection is made anew with it.
bool Connection::Implementation::prove(const wire::Hello& agent) {
  const auto& wanted = agent.capabilities;
  if (std::find(wanted.begin(), wanted.end(), "token") == wanted.end()) {
    const bool given = reported_token || (token_known && options.must_prove);
    if (!given && !sends_what_is_private()) return true;
    fail(fmt::format(
        "{}: it asks for no token, so it cannot show that it is the agent that is meant; nothing was sent to it. {}",
        peer, given ? "Check the address, or leave the token out" : "Only an agent with --allow-run starts programs"));
    hang_up();
    return false;
  }
  if (!token_known && options.ask_token && !std::exchange(token_asked, true)) {
    drop_link();
    step = Step::connecting;
    options.ask_token();
    return false;
  }
  Result<std::string> mac = proof->prove(agent.nonce, link->channel_binding());
  if (mac) {
    link->send(wire::encode(wire::ProofMessage{std::move(mac).value()}));
    return true;
  }
  fail(fmt::format("{}: {}", peer, mac.message()));
  hang_up();
  return false;
}

// Files, programs, scripts and variables are for an agent that has proved itself only.
bool Connection::Implementation::sends_what_is_private() const {
  const request::CaptureRequest& request = options.start.request;
  return options.start.mode == wire::StartMode::begin &&
         (!options.send.empty() || !request.program.empty() || !request.script.empty() || !request.environment.empty());
}

void Connection::Implementation::on_token(std::optional<security::Token> token) {
  if (over()) return;
  if (!token) return fail(fmt::format("{}: the agent wants a token; name the file it is in with --token-file", peer));
  reported_token = std::move(token);
  connect();
}

void Connection::Implementation::on_frame(wire::Frame frame) {
  using Self = Implementation;
  const bool streams = step == Step::streaming;
  const bool fetches = step == Step::fetching;
  if (streams && wire::find_frame_type(frame.header.type)->numbered) return on_data(std::move(frame));
  wire::Hearing heard(*this, frame);
  heard.on(true, &Self::on_error);
  heard.on(step == Step::greeting, &Self::on_hello);
  heard.on(step == Step::welcoming, &Self::on_welcome);
  heard.on(step == Step::starting, &Self::on_started);
  heard.on(streams, &Self::on_gap);
  heard.on(streams, &Self::on_end);
  heard.on(true, &Self::on_progress);
  heard.on(true, &Self::on_state);
  heard.on(true, &Self::on_clock);
  heard.on(fetches, &Self::on_file);
  heard.on(fetches, &Self::on_fetched);
  if (!heard.problem().empty()) return give_up(wire::ErrorCode::protocol, "sent " + heard.problem());
  if (heard.taken() || over()) return;
  give_up(wire::ErrorCode::protocol,
          fmt::format("sent a {} frame where none belongs", wire::frame_type_name(frame.header.type)));
}

void Connection::Implementation::on_hello(const wire::Hello& agent) {
  peer = fmt::format("{} ({} {})", options.place, wire::printable(agent.program, 64),
                     wire::printable(agent.program_version, 64));
  if (Result<void> versions = wire::check_versions(hello(), agent); !versions) {
    fail(fmt::format("{}: {}", peer, versions.message()));
    link->send(wire::encode(wire::ErrorMessage{wire::ErrorCode::version, versions.message()}));
    return hang_up();
  }
  if (agent.role != wire::PeerRole::agent) {
    return give_up(wire::ErrorCode::protocol, "is not an agent; connect to the address that accelscope-agent prints");
  }
  if (!prove(agent)) return;
  link->trust();  // its welcome is longer; whether it is genuine is known then
  step = Step::welcoming;
  {
    const std::lock_guard lock(mutex);
    if (shared.description.empty()) shared.description = wire::printable(agent.description);
  }
  publish();
}

void Connection::Implementation::on_welcome(const wire::Welcome& welcome) {
  if (const Result<void> genuine = proof->check_welcome(welcome.mac); !genuine) {
    fail(fmt::format("{}: {}", peer, genuine.message()));
    return hang_up();
  }
  host = wire::printable(welcome.host, 256);
  const bool first = !began() && options.start.mode == wire::StartMode::begin;
  if (!first || options.send.empty()) return send_start();
  log::FileList list = log::list_files(options.send, std::filesystem::path());
  if (!list.missing.empty()) {
    fail(fmt::format("{}: there is no such file to send to {}; mend --send", list.missing.front(), options.place));
    return hang_up();
  }
  step = Step::sending;
  sender.emplace(std::move(list.files));
  send_files();
}

// A few megabytes at a time: the rest waits on the disk, not in memory.
void Connection::Implementation::send_files() {
  if (step != Step::sending) return;
  while (link->queued_bytes() < kFilesAhead) {
    const Result<std::optional<wire::FilePiece>> piece = sender->next();
    if (!piece) {
      fail(piece.message());
      return hang_up();
    }
    if (!piece.value()) return send_start();
    link->send(wire::encode(*piece.value()));
  }
  publish();
  loop.after(kFilesPause, [this, number = attempt] {
    if (number == attempt) send_files();
  });
}

// Whoever decodes it must get what was meant: texts that are too long for the wire would be cut.
Result<wire::Frame> Connection::Implementation::start_frame() const {
  wire::Start start = options.start;
  if (began()) {
    start = {
        .mode = controls ? wire::StartMode::take_up : wire::StartMode::watch, .capture_id = capture_id, .request = {}};
    start.after_sequence = feed.counts().last_sequence();
  }
  const Error too_large{
      fmt::format("{}: what is asked for is too large to send; shorten the script, the arguments or the environment, "
                  "or put them into a file and send that",
                  options.place)};
  wire::Frame frame = wire::encode(start);
  if (frame.body.size() > find_frame_type(wire::FrameType::start)->max_length) return too_large;
  const Result<wire::Start> understood = wire::decode<wire::Start>(frame.body);
  if (!understood || understood.value() != start) return too_large;
  return frame;
}

void Connection::Implementation::send_start() {
  Result<wire::Frame> frame = start_frame();
  if (!frame) {
    fail(frame.message());
    return hang_up();
  }
  step = Step::starting;
  link->send(std::move(frame).value());
  publish();
}

void Connection::Implementation::on_error(const wire::ErrorMessage& error) {
  const std::string text = wire::printable(error.text);
  // The agent may not know yet that our last connection is dead.
  // Nor, on a busy host, that the viewer before us has just left.
  if (error.code == wire::ErrorCode::busy) {
    const auto now = std::chrono::steady_clock::now();
    if (began() || now - busy_since.value_or(now) < kBusyPatience) {
      busy_since = busy_since.value_or(now);
      return on_break(text);
    }
  }
  fail(fmt::format("{}: {}{}", peer, text, retained_events()));
  hang_up();
}

void Connection::Implementation::on_closed(wire::Closed how, const std::string& text) {
  {
    const std::lock_guard lock(mutex);
    link_closed = true;
    changed.notify_all();
  }
  if (over()) return;
  // What breaks the rules before anything has begun is no agent, and will be none when it is tried again.
  if (how == wire::Closed::given_up && !began()) return fail_after_breaks(text);
  on_break(how == wire::Closed::finished ? "was closed" : text);
}

void Connection::Implementation::fail_after_breaks(const std::string& what) {
  fail(fmt::format("{}: the agent {}; look at the agent's own messages, start it again and connect anew", peer, what));
}

// The connection is made anew. A capture that has begun is taken up again; one that may have begun is asked for once
// more by the same name. An agent that cannot be reached at all is not waited for.
void Connection::Implementation::on_break(const std::string& what) {
  const bool connecting = step == Step::connecting;
  if (connecting && !began() && !broken_since) {
    out_of_reach = true;
    return fail(what);
  }
  drop_link();
  const auto now = std::chrono::steady_clock::now();
  if (!broken_since) broken_since = now;
  if (break_text.empty()) break_text = connecting ? what : "the agent " + what;
  const milliseconds limit = began() ? options.give_up : std::min(options.give_up, options.begin_limit);
  if (now - *broken_since >= limit) {
    out_of_reach = true;
    return fail(
        fmt::format("{}: {}, and the connection could not be made again within {} s{}; look at the agent's "
                    "own messages",
                    peer, break_text, std::chrono::duration<double>(limit).count(), retained_events()));
  }
  step = Step::connecting;
  publish();
  loop.after(retry_delay(retries++), [this, number = attempt] {
    if (number == attempt && !over()) connect();
  });
}

// Not at once: its own call may have brought us here.
void Connection::Implementation::drop_link() {
  ++attempt;
  joined = false;
  if (!link) return;
  bytes_before += link->received_bytes();
  loop.post(
      [old = std::shared_ptr<wire::Link>(std::move(link)), its = std::shared_ptr<Handler>(std::move(handler))] {});
}

std::string Connection::Implementation::retained_events() const {
  if (feed.counts().last_sequence() == 0) return "";
  return fmt::format("; the {} events that came before are kept", format_count(feed.counts().events()));
}

// This side finds fault with the agent: tells it and closes.
void Connection::Implementation::give_up(wire::ErrorCode code, const std::string& what) {
  fail(fmt::format("{}: the agent {}{}", peer, what, retained_events()));
  if (link) link->send(wire::encode(wire::ErrorMessage{code, "the agent " + what}));
  hang_up();
}

void Connection::Implementation::fail(const std::string& message) {
  if (over()) return;
  std::string shown = message;
  if (feed.counts().last_sequence() > 0) {
    if (Result<void> noted = feed.note({"connection_lost", 1, message}); !noted) {
      shown += "; " + noted.message();
    }
  }
  end(CapturePhase::failed, shown);
}

void Connection::Implementation::end(CapturePhase how, const std::string& message) {
  rate.add(std::chrono::steady_clock::now(), feed.counts().events(),
           bytes_before + (link ? link->received_bytes() : 0));
  publish();
  step = Step::over;
  ending = how;
  end_message = message;
  publish();
}

void Connection::Implementation::hang_up() {
  if (link) link->finish();
}

CapturePhase Connection::Implementation::phase() const {
  if (over()) return ending;
  if (broken_since && step != Step::streaming && step != Step::fetching) return CapturePhase::reconnecting;
  if (wants_stop || step == Step::fetching) return CapturePhase::stopping;
  if (step != Step::streaming) return CapturePhase::preparing;
  return paused ? CapturePhase::paused : CapturePhase::streaming;
}

Connection::Connection(ConnectionOptions options, AgentFeed& feed)
    : impl_(std::make_unique<Implementation>(std::move(options), feed)) {}

void Connection::begin() {
  impl_->loop.post([impl = impl_.get()] { impl->connect(); });
  impl_->thread = std::thread([impl = impl_.get()] { impl->loop.run(); });
}

Connection::~Connection() {
  if (done()) close();
  impl_->loop.stop();
  if (impl_->thread.joinable()) impl_->thread.join();
  impl_->link.reset();  // before the loop that it lives on
}

AgentStatus Connection::status() const {
  const std::lock_guard lock(impl_->mutex);
  return impl_->shared;
}

bool Connection::done() const { return wait_for(milliseconds(0)); }

void Connection::wait() const {
  while (!wait_for(std::chrono::hours(1))) continue;
}

bool Connection::wait_for(milliseconds limit) const {
  std::unique_lock lock(impl_->mutex);
  return impl_->changed.wait_for(lock, limit, [this] {
    return impl_->shared.phase == CapturePhase::ended || impl_->shared.phase == CapturePhase::failed;
  });
}

void Connection::set_token(std::optional<security::Token> token) {
  impl_->loop.post([impl = impl_.get(), token = std::move(token)] { impl->on_token(token); });
}

void Connection::set_paused(bool paused) {
  impl_->loop.post([impl = impl_.get(), paused] {
    impl->wants_pause = paused;
    impl->apply_intents();
  });
}

void Connection::stop() {
  impl_->loop.post([impl = impl_.get()] { impl->ask_to_stop("stopped by the viewer"); });
}

void Connection::leave() {
  impl_->loop.post([impl = impl_.get()] {
    if (impl->over()) return;
    if (impl->began() && impl->controls) return impl->ask_to_stop("the viewer left");
    impl->end(CapturePhase::ended, "left");
    impl->hang_up();
  });
}

void Connection::saved() {
  impl_->loop.post([impl = impl_.get()] {
    const std::uint64_t last = impl->feed.counts().last_sequence();
    if (!impl->joined || impl->acknowledged < last) return;
    impl->acknowledged_durable = last;
    impl->link->send(wire::encode(wire::Durable{last}));
    impl->inform_done();
  });
}

void Connection::discard() {
  impl_->loop.post([impl = impl_.get()] {
    if (!impl->joined || !impl->controls) return;
    impl->link->send(wire::encode(wire::Discard{impl->capture_id}));
  });
}

void Connection::close() {
  impl_->loop.post([impl = impl_.get()] { impl->hang_up(); });
  std::unique_lock lock(impl_->mutex);
  impl_->changed.wait_for(lock, kLastWords, [this] { return impl_->link_closed; });
}

}  // namespace accelscope::capture::client
