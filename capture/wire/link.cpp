#include "capture/wire/link.h"

#include <fmt/format.h>
#include <asio/executor_work_guard.hpp>
#include <asio/io_context.hpp>
#include <asio/ip/tcp.hpp>
#include <asio/post.hpp>
#include <asio/signal_set.hpp>
#include <asio/steady_timer.hpp>

#include <sys/socket.h>
#include <algorithm>
#include <array>
#include <csignal>
#include <cstddef>
#include <cstring>
#include <optional>
#include <utility>

#include "capture/wire/link_implementation.h"
#include "capture/wire/tls.h"

// clang-format on

namespace accelscope::capture::wire {
namespace {

// As many buffers as one writev of asio takes: a header and a body each.
constexpr std::size_t kFramesPerWrite = 8;
// The most bytes one read may ask for; asio's own default of 64 KiB would cut a chunk into three reads.
constexpr std::size_t kReadSize = std::size_t{1} << 30;

// Ticks without a byte after which a connection that cannot be written to has nothing more to read either.
constexpr int kTicksToDrain = 2;

bool may_come_first(FrameType type) { return type == FrameType::hello || type == FrameType::error; }

}  // namespace

Link::Implementation::Implementation(ByteStream connected, LinkEnds link_ends, const LinkLimits& link_limits)
    : stream(std::move(connected)),
      timer(stream.socket().get_executor()),
      limits(link_limits),
      ends(std::move(link_ends)) {
  if (stream.tls() == nullptr) return;
  channel_binding = export_channel_binding(stream.tls()->native_handle());
  tls_fingerprint = peer_fingerprint(stream.tls()->native_handle());
}

void Link::Implementation::start(LinkHandler& link_handler) {
  handler = &link_handler;
  read_header();
  schedule_tick();
}

// Reads the rest of the header, of which the last read may have brought a part or all.
void Link::Implementation::read_header() {
  if (header_bytes_read == kFrameHeaderBytes) return take_header();
  auto rest = asio::buffer(header_bytes.data() + header_bytes_read, kFrameHeaderBytes - header_bytes_read);
  stream.async_read(rest, asio::transfer_all(),
                    [self = shared_from_this()](asio::error_code failure, std::size_t count) {
                      self->header_bytes_read += count;
                      self->note_received(count);
                      if (!failure) return self->read_header();
                      self->on_read_failure(failure, self->header_bytes_read > 0, self->header_bytes_read);
                    });
}

void Link::Implementation::take_header() {
  if (handler == nullptr) return;
  header_bytes_read = 0;
  Result<FrameHeader> header = parse_frame_header(header_bytes);
  if (!header) return fail("sent " + header.message());
  frame.header = header.value();
  if (!greeted && !may_come_first(frame.header.type)) {
    return fail(fmt::format("began with a {} frame instead of hello", frame_type_name(frame.header.type)));
  }
  if (!trusted && frame.header.length > kUntrustedBody) {
    return fail(fmt::format("sent a {} frame of {} bytes before it was let in; at most {} are taken",
                            frame_type_name(frame.header.type), frame.header.length, kUntrustedBody));
  }
  frame.body = Bytes(frame.header.length);
  in_body = true;
  if (frame.body.empty()) {
    take_frame();
  } else {
    read_body();
  }
}

// Straight into the frame's own bytes; the same read brings the next header if it is there.
void Link::Implementation::read_body() {
  const std::array<asio::mutable_buffer, 2> buffers{asio::buffer(frame.body), asio::buffer(header_bytes)};
  const auto until_body = [self = this](asio::error_code failure, std::size_t count) -> std::size_t {
    self->body_bytes_read = count;
    self->ticks_silent = 0;
    return failure || count >= self->frame.body.size() ? 0 : kReadSize;
  };
  body_bytes_read = 0;
  stream.async_read(buffers, until_body, [self = shared_from_this()](asio::error_code failure, std::size_t count) {
    self->note_received(count);
    const std::size_t length = self->frame.body.size();
    if (failure && count < length) {
      return self->on_read_failure(failure, true, kFrameHeaderBytes + count);
    }
    self->header_bytes_read = count - length;
    self->take_frame();
  });
}

void Link::Implementation::take_frame() {
  in_body = false;
  if (handler == nullptr) return;
  if (Result<void> valid = verify_frame(frame.header, frame.body); !valid) return fail("sent " + valid.message());
  const FrameTypeFacts* facts = find_frame_type(frame.header.type);
  const bool control = facts == nullptr || !facts->numbered;
  if (control && ++control_frames > limits.control_frames_per_tick) return fail("floods this side with small frames");
  greeted = true;
  if (facts != nullptr && !finishing && frame.header.type != FrameType::heartbeat) {
    handler->on_frame(std::exchange(frame, {}));
  }
  if (handler != nullptr) read_header();
}

void Link::Implementation::note_received(std::size_t count) {
  if (count > 0) ticks_silent = 0;
  received_bytes.fetch_add(count, std::memory_order_relaxed);
}

void Link::Implementation::on_read_failure(const asio::error_code& failure, bool inside_frame, std::size_t done) {
  if (handler == nullptr) return;
  if (finishing) return close(Closed::finished, "");
  const bool ended = is_end_of_stream(failure);
  const std::string what = ended ? "closed the connection" : fmt::format("is gone ({})", describe(failure));
  if (!inside_frame) return close(ended ? Closed::by_peer : Closed::broken, what);
  close(Closed::broken, what + place_in_frame(done));
}

std::string Link::Implementation::place_in_frame(std::size_t done) const {
  if (!in_body) return fmt::format(" in the middle of a frame's header ({} of {} bytes)", done, kFrameHeaderBytes);
  return fmt::format(" in the middle of a {} frame ({} of {} bytes)", frame_type_name(frame.header.type), done,
                     kFrameHeaderBytes + frame.body.size());
}

void Link::Implementation::send(std::shared_ptr<const Frame> outgoing) {
  const std::lock_guard lock(queue_mutex);
  if (closed) return;
  spoken = true;
  queued_bytes += outgoing->wire_bytes();
  queue.push_back(std::move(outgoing));
  if (std::exchange(write_posted, true)) return;
  asio::post(stream.socket().get_executor(), [self = shared_from_this()] { self->write_next(); });
}

// Writes the next few frames; the frames stay in `writing` until the system has taken them.
void Link::Implementation::write_next() {
  {
    const std::lock_guard lock(queue_mutex);
    if (!closed) queued_bytes -= asio::buffer_size(write_buffers);
    writing.clear();
    write_buffers.clear();
    while (!queue.empty() && writing.size() < kFramesPerWrite) {
      writing.push_back(std::move(queue.front()));
      queue.pop_front();
    }
    write_posted = !writing.empty();
  }
  if (writing.empty()) return on_all_written();
  for (const auto& outgoing : writing) {
    write_buffers.push_back(asio::buffer(&outgoing->header, kFrameHeaderBytes));
    if (!outgoing->body.empty()) write_buffers.push_back(asio::buffer(outgoing->body));
  }
  const std::size_t total = asio::buffer_size(write_buffers);
  const auto until_all = [self = this, total](asio::error_code failure, std::size_t count) -> std::size_t {
    self->ticks_stalled = 0;
    return failure || count >= total ? 0 : kReadSize;
  };
  ticks_unsent = 0;
  stream.async_write(write_buffers, until_all,
                     [self = shared_from_this()](asio::error_code failure, std::size_t /*count*/) {
                       if (!failure) return self->write_next();
                       // The peer's last words may wait to be read: leave the end to the reader or to the next ticks.
                       self->write_failure = describe(failure);
                     });
}

void Link::Implementation::on_all_written() {
  if (!finishing || handler == nullptr) return;
  // TCP's end serves TLS too: what was said is whole if its frames are, and the last one of a capture says so.
  asio::error_code ignored;  // a connection that is gone needs no farewell
  stream.socket().shutdown(StreamSocket::shutdown_send, ignored);
}

void Link::Implementation::finish() {
  if (handler == nullptr || std::exchange(finishing, true)) return;
  ticks_finishing = 0;
  const std::lock_guard lock(queue_mutex);
  if (!write_posted) {
    write_posted = true;
    asio::post(stream.socket().get_executor(), [self = shared_from_this()] { self->write_next(); });
  }
}

void Link::Implementation::fail(const std::string& text) {
  close(finishing ? Closed::finished : Closed::given_up, text);
}

void Link::Implementation::close(Closed how, const std::string& text) {
  {
    const std::lock_guard lock(queue_mutex);
    closed = true;
    queue.clear();
    queued_bytes = 0;
  }
  asio::error_code ignored;  // closing what is closed is fine
  timer.cancel();
  stream.socket().close(ignored);
  if (LinkHandler* last = std::exchange(handler, nullptr)) last->on_closed(how, text);
}

void Link::Implementation::schedule_tick() {
  timer.expires_after(limits.tick);
  timer.async_wait([self = shared_from_this()](asio::error_code failure) {
    if (failure || self->handler == nullptr) return;
    self->tick();
    if (self->handler != nullptr) self->schedule_tick();
  });
}

void Link::Implementation::tick() {
  control_frames = 0;
  const auto over = [this](int ticks, std::chrono::milliseconds limit) { return ticks > ticks_in(limit, limits.tick); };
  const auto seconds = [](std::chrono::milliseconds time) { return static_cast<double>(time.count()) / 1000.0; };
  if (finishing && over(++ticks_finishing, limits.farewell)) return close(Closed::finished, "");
  if (!greeted && over(++ticks_ungreeted, limits.hello)) {
    return fail(fmt::format("has not said hello within {} s", seconds(limits.hello)));
  }
  ++ticks_silent;
  // What the peer sent before it went is still read; only then is its going the end.
  if (!write_failure.empty() && ticks_silent > kTicksToDrain) {
    return close(finishing ? Closed::finished : Closed::broken, "is gone (" + write_failure + ")");
  }
  if (over(ticks_silent, limits.silence)) {
    const std::string place = in_body                 ? place_in_frame(kFrameHeaderBytes + body_bytes_read)
                              : header_bytes_read > 0 ? place_in_frame(header_bytes_read)
                                                      : std::string();
    return fail(fmt::format("has sent nothing for {} s{}", seconds(limits.silence), place));
  }
  if (writing.empty()) {
    ticks_stalled = 0;
    if (spoken && ++ticks_unsent >= ticks_in(limits.heartbeat, limits.tick))
      send(std::make_shared<const Frame>(make_frame(FrameType::heartbeat, {})));
  } else if (over(++ticks_stalled, limits.stall)) {
    return fail(fmt::format("has read nothing for {} s, while {} bytes wait for it", seconds(limits.stall),
                            asio::buffer_size(write_buffers)));
  }
  handler->on_tick();
}

Link::~Link() {
  impl_->handler = nullptr;
  impl_->close(Closed::finished, "");
}

void Link::start(LinkHandler& handler) { impl_->start(handler); }
void Link::send(Frame frame) { impl_->send(std::make_shared<const Frame>(std::move(frame))); }
void Link::send(std::shared_ptr<const Frame> frame) { impl_->send(std::move(frame)); }
void Link::finish() { impl_->finish(); }
void Link::trust() { impl_->trusted = true; }
void Link::fail(const std::string& text) { impl_->fail(text); }
bool Link::loopback() const noexcept { return impl_->ends.loopback; }
const Bytes& Link::channel_binding() const noexcept { return impl_->channel_binding; }
const std::string& Link::tls_fingerprint() const noexcept { return impl_->tls_fingerprint; }
std::size_t Link::queued_bytes() const noexcept { return impl_->queued_bytes.load(std::memory_order_relaxed); }
const std::string& Link::peer_address() const noexcept { return impl_->ends.peer; }
std::uint64_t Link::received_bytes() const noexcept { return impl_->received_bytes.load(std::memory_order_relaxed); }

// clang-format off: asio allocates as the standard library says it can, if it has been heard before

struct Loop::Implementation {
  asio::io_context context{1};  // one thread runs it
  asio::executor_work_guard<asio::io_context::executor_type> guard{context.get_executor()};
  std::optional<asio::signal_set> signals;
  std::shared_ptr<LoopDoor> door = std::make_shared<LoopDoor>();
};

Loop::Loop() : impl_(std::make_unique<Implementation>()) { impl_->door->loop_ = this; }

Loop::~Loop() {
  const std::lock_guard lock(impl_->door->mutex_);
  impl_->door->loop_ = nullptr;
}

void Loop::run() { impl_->context.run(); }
void Loop::stop() { impl_->context.stop(); }
void Loop::post(std::function<void()> function) { asio::post(impl_->context, std::move(function)); }
std::shared_ptr<LoopDoor> Loop::door() const { return impl_->door; }

void Loop::after(std::chrono::milliseconds time, std::function<void()> function) {
  auto timer = std::make_shared<asio::steady_timer>(impl_->context, time);
  timer->async_wait([timer, function = std::move(function)](asio::error_code failure) {
    if (!failure) function();
  });
}

asio::io_context& Loop::context() noexcept { return impl_->context; }

void Loop::on_signal(std::function<void(int number)> function) {
  impl_->signals.emplace(impl_->context, SIGINT, SIGTERM);
  struct sigaction hang_up {};  // ignored under nohup, and then it stays so
  if (::sigaction(SIGHUP, nullptr, &hang_up) == 0 && hang_up.sa_handler != SIG_IGN) impl_->signals->add(SIGHUP);
  impl_->signals->async_wait([this, function = std::move(function)](asio::error_code failure, int number) {
    if (failure) return;
    impl_->signals->clear(failure);  // gives the signals back their usual effect
    function(number);
  });
}

void LoopDoor::post(std::function<void()> function) {
  const std::lock_guard lock(mutex_);
  if (loop_ != nullptr) loop_->post(std::move(function));
}

// What link_implementation.h says of sockets before they are links.
// clang-format off: asio allocates as the standard library says it can, if it has been heard before

namespace {

std::optional<asio::ip::tcp::endpoint> internet_endpoint(const StreamSocket::endpoint_type& generic) {
  asio::ip::tcp::endpoint endpoint;
  const int family = generic.data()->sa_family;
  if ((family != AF_INET && family != AF_INET6) || generic.size() > endpoint.capacity()) return {};
  std::memcpy(endpoint.data(), generic.data(), generic.size());
  endpoint.resize(generic.size());
  return endpoint;
}

// An IPv4 address as it is written, also if it comes to a socket that takes IPv6 and IPv4.
std::string ip_text(const asio::ip::address& ip) {
  if (ip.is_v6() && ip.to_v6().is_v4_mapped())
    return asio::ip::make_address_v4(asio::ip::v4_mapped, ip.to_v6()).to_string();
  return ip.to_string();
}

}  // namespace

LinkEnds ends_of(StreamSocket& socket, const IsLocal& is_local) {
  asio::error_code failure;
  const StreamSocket::endpoint_type own = socket.local_endpoint(failure);
  if (failure) return {};
  if (own.data()->sa_family == AF_UNIX) return {.loopback = true};
  const StreamSocket::endpoint_type peer = socket.remote_endpoint(failure);
  if (failure) return {};  // gone already, which shows at the first read
  const auto own_endpoint = internet_endpoint(own);
  const auto peer_endpoint = internet_endpoint(peer);
  if (!own_endpoint || !peer_endpoint) return {};
  LinkEnds ends;
  ends.peer_ip = ip_text(peer_endpoint->address());
  ends.peer = system::Address{ends.peer_ip, peer_endpoint->port()}.text();
  ends.loopback = is_local(ip_text(own_endpoint->address())) && is_local(ends.peer_ip);
  return ends;
}

std::unique_ptr<Link> make_link(ByteStream stream, LinkEnds ends, const LinkLimits& limits) {
  return std::make_unique<Link>(std::make_shared<Link::Implementation>(std::move(stream), std::move(ends), limits));
}

int ticks_in(std::chrono::milliseconds time, std::chrono::milliseconds tick) {
  return static_cast<int>((time + tick - std::chrono::milliseconds(1)) / tick);
}

void TickTimer::start(std::chrono::milliseconds limit, std::chrono::milliseconds tick, std::function<void()> on_over) {
  ++round_;
  wait(std::move(on_over), ticks_in(limit, tick), tick);
}

void TickTimer::stop() {
  ++round_;
  timer_.cancel();
}

void TickTimer::wait(std::function<void()> on_over, int ticks_left, std::chrono::milliseconds tick) {
  timer_.expires_after(tick);
  timer_.async_wait([this, on_over = std::move(on_over), ticks_left, tick, round = round_](asio::error_code failure) {
    if (failure || round != round_) return;
    if (ticks_left <= 1) return on_over();
    wait(on_over, ticks_left - 1, tick);
  });
}

}  // namespace accelscope::capture::wire
