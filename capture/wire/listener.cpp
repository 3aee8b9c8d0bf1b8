#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <asio/io_context.hpp>
#include <asio/ip/tcp.hpp>
#include <asio/ip/v6_only.hpp>
#include <asio/post.hpp>
#include <asio/ssl/context.hpp>
#include <list>
#include <map>
#include <utility>
#include <vector>

#include "capture/security/identities.h"
#include "capture/wire/connector.h"
#include "capture/wire/link_implementation.h"
#include "capture/wire/messages.h"
#include "capture/wire/tls.h"

namespace accelscope::capture::wire {
namespace {

constexpr std::byte kTlsHandshakeRecord{0x16};  // RFC 8446, 5.1; a frame begins with the 'A' of its magic
// Connections before their first frame: enough for every viewer there may be, too few to exhaust an agent.
constexpr std::size_t kMostReceptions = 256;

constexpr const char* kPlainRefused =
    "this agent takes encrypted connections only from other machines; update the viewer, or connect through ssh";

double seconds(std::chrono::milliseconds time) { return static_cast<double>(time.count()) / 1000.0; }

}  // namespace

struct Listener::Implementation : std::enable_shared_from_this<Implementation> {
  class Reception;
  class Refusal;

  Implementation(asio::io_context& context, const LinkLimits& link_limits, ListenOptions listen_options)
      : acceptor(context), pause(context), limits(link_limits), options(std::move(listen_options)) {
    if (!options.is_local) options.is_local = [](const std::string& ip) { return system::is_loopback(ip); };
  }

  void accept_next();
  void accept_later();
  void receive(asio::ip::tcp::socket socket);
  void make_room();
  void take(ByteStream stream, const LinkEnds& ends);
  void refuse(ByteStream stream, const LinkEnds& ends);
  void log(const std::string& line) const {
    if (options.log) options.log(line);
  }
  void close();

  asio::ip::tcp::acceptor acceptor;
  asio::steady_timer pause;
  LinkLimits limits;
  ListenOptions options;
  std::shared_ptr<asio::ssl::context> tls;  // none: TLS is not spoken
  system::Address address;
  std::function<void(std::unique_ptr<Link>)> callback;
  std::vector<std::shared_ptr<Reception>> receptions;
  std::list<std::unique_ptr<Refusal>> refusals;
  bool full = false;  // said once, not for every connection of a flood
};

// A connection before it is a link: waits for the first byte, which tells TLS from plain, and shakes hands.
class Listener::Implementation::Reception : public std::enable_shared_from_this<Reception> {
 public:
  Reception(const std::shared_ptr<Implementation>& listener, StreamSocket socket, LinkEnds ends)
      : listener_(listener), ends_(std::move(ends)), timer_(socket.get_executor()), socket_(std::move(socket)) {}

  [[nodiscard]] const std::string& peer_ip() const { return ends_.peer_ip; }

  void begin() {
    limit(listener()->limits.hello, "has not said hello within {} s");
    look();
  }

  void close() {
    timer_.stop();
    asio::error_code ignored;  // closing what is closed is fine
    socket_.close(ignored);
    if (tls_) tls_->next_layer().close(ignored);
  }

 private:
  [[nodiscard]] std::shared_ptr<Implementation> listener() const { return listener_.lock(); }

  void limit(std::chrono::milliseconds time, const char* text) {
    timer_.start(time, listener()->limits.tick, [self = shared_from_this(), time, text] {
      self->give_up(fmt::format(fmt::runtime(text), seconds(time)));
    });
  }

  void look() {
    socket_.async_wait(StreamSocket::wait_read, [self = shared_from_this()](asio::error_code failure) {
      if (!self->listener() || !self->socket_.is_open()) return;
      if (failure) return self->give_up("");
      self->on_first_byte();
    });
  }

  void on_first_byte() {
    std::array<std::byte, 1> first{};
    asio::error_code failure;
    const std::size_t count = socket_.receive(asio::buffer(first), StreamSocket::message_peek, failure);
    if (failure == asio::error::would_block || failure == asio::error::try_again) return look();
    if (failure || count == 0) return give_up("");  // left without a word, as those who only look for open ports do
    if (first[0] == kTlsHandshakeRecord) return perform_handshake();
    const auto listener = this->listener();
    ByteStream stream(std::move(socket_));
    leave();
    if (ends_.loopback) return listener->take(std::move(stream), ends_);
    listener->refuse(std::move(stream), ends_);
  }

  void perform_handshake() {
    if (!listener()->tls) return give_up("speaks TLS, for which this agent has no certificate; connect without tls://");
    tls_ = std::make_unique<TlsStream>(std::move(socket_), *listener()->tls);
    limit(listener()->limits.handshake, "has not finished the TLS handshake within {} s");
    tls_->async_handshake(TlsStream::server, [self = shared_from_this()](asio::error_code failure) {
      if (!self->listener() || !self->tls_->next_layer().is_open()) return;
      if (failure) return self->give_up(fmt::format("no encrypted connection: {}", describe(failure)));
      self->on_encrypted();
    });
  }

  void on_encrypted() {
    if (export_channel_binding(tls_->native_handle()).empty()) {
      return give_up("the TLS connection has no secrets of its own");
    }
    const auto listener = this->listener();
    ByteStream stream(std::move(tls_));
    leave();
    listener->take(std::move(stream), ends_);
  }

  void give_up(const std::string& text) {
    if (const auto listener = this->listener(); listener && !text.empty()) {
      listener->log(fmt::format("{}: {}", ends_.peer, text));
    }
    close();
    leave();
  }

  void leave() {
    timer_.stop();
    if (const auto listener = this->listener()) std::erase(listener->receptions, shared_from_this());
  }

  std::weak_ptr<Implementation> listener_;
  LinkEnds ends_;
  TickTimer timer_;
  StreamSocket socket_;
  std::unique_ptr<TlsStream> tls_;
};

// The last words to a viewer that does not encrypt, as far as it understands them.
class Listener::Implementation::Refusal final : public LinkHandler {
 public:
  Refusal(Implementation& listener, std::unique_ptr<Link> link) : listener_(listener), link_(std::move(link)) {
    link_->start(*this);
    link_->send(encode(ErrorMessage{ErrorCode::refused, kPlainRefused}));
    link_->finish();
  }
  void on_frame(Frame /*frame*/) override {}
  void on_closed(Closed /*how*/, const std::string& /*text*/) override {
    asio::post(listener_.acceptor.get_executor(), [weak = listener_.weak_from_this(), this] {
      const auto listener = weak.lock();
      if (listener) std::erase_if(listener->refusals, [this](const auto& known) { return known.get() == this; });
    });
  }

 private:
  Implementation& listener_;
  std::unique_ptr<Link> link_;
};

void Listener::Implementation::accept_next() {
  acceptor.async_accept([self = shared_from_this()](asio::error_code failure, asio::ip::tcp::socket socket) {
    if (!self->acceptor.is_open()) return;
    if (failure) return self->accept_later();
    self->receive(std::move(socket));
    self->accept_next();
  });
}

// Out of file descriptors, most likely: trying again at once would only burn time.
void Listener::Implementation::accept_later() {
  pause.expires_after(limits.tick);
  pause.async_wait([self = shared_from_this()](asio::error_code failure) {
    if (!failure && self->acceptor.is_open()) self->accept_next();
  });
}

void Listener::Implementation::receive(asio::ip::tcp::socket accepted) {
  asio::error_code ignored;  // a peer that is gone already shows at the first read
  accepted.set_option(asio::ip::tcp::no_delay(true), ignored);
  accepted.non_blocking(true, ignored);
  StreamSocket socket(std::move(accepted));
  LinkEnds ends = ends_of(socket, options.is_local);
  make_room();
  receptions.push_back(std::make_shared<Reception>(shared_from_this(), std::move(socket), std::move(ends)));
  receptions.back()->begin();
}

// Nobody is turned away: who has waited longest goes, of the address that most wait from.
void Listener::Implementation::make_room() {
  full = full && receptions.size() > kMostReceptions / 2;
  if (refusals.size() >= kMostReceptions) refusals.pop_front();
  if (receptions.size() < kMostReceptions) return;
  std::map<std::string, std::size_t> of_peer;
  for (const auto& reception : receptions) ++of_peer[reception->peer_ip()];
  const auto out = std::max_element(receptions.begin(), receptions.end(), [&](const auto& a, const auto& b) {
    return of_peer[a->peer_ip()] < of_peer[b->peer_ip()];
  });
  if (!std::exchange(full, true)) {
    log(fmt::format("{}: closed for others: too many connections, most of them from there, have not said hello",
                    (*out)->peer_ip()));
  }
  const std::shared_ptr<Reception> gone = *out;
  receptions.erase(out);
  gone->close();
}

void Listener::Implementation::take(ByteStream stream, const LinkEnds& ends) {
  callback(make_link(std::move(stream), ends, limits));
}

void Listener::Implementation::refuse(ByteStream stream, const LinkEnds& ends) {
  log(fmt::format("{}: refused: does not encrypt; only this machine's own viewers may connect without TLS", ends.peer));
  refusals.push_back(std::make_unique<Refusal>(*this, make_link(std::move(stream), ends, limits)));
}

void Listener::Implementation::close() {
  asio::error_code ignored;  // closing what is closed is fine
  pause.cancel();
  acceptor.close(ignored);
  for (const auto& reception : std::exchange(receptions, {})) reception->close();
  refusals.clear();
}

Result<std::unique_ptr<Listener>> Listener::open(Loop& loop, const system::Address& address, const LinkLimits& limits,
                                                 ListenOptions options) {
  if (!system::is_loopback(address) && !options.identity) {
    return Error{
        fmt::format("{}: only this machine's own addresses (127.0.0.1, ::1, localhost) are listened on without a "
                    "certificate, because "
                    "the connection is not encrypted; for another machine open a tunnel, ssh -L {}:127.0.0.1:{} HOST, "
                    "and connect to "
                    "127.0.0.1:{}",
                    address.text(), address.port, address.port, address.port)};
  }
  auto impl = std::make_shared<Implementation>(loop.context(), limits, std::move(options));
  if (impl->options.identity) {
    auto tls = make_server_context(*impl->options.identity);
    if (!tls) return Error{fmt::format("{}: {}", address.text(), tls.message())};
    impl->tls = std::move(tls).value();
  }
  const Result<std::vector<std::string>> found = find_host(address.host);
  if (!found) return Error{fmt::format("{}: cannot listen: {}", address.text(), found.message())};
  const asio::ip::tcp::endpoint endpoint(asio::ip::make_address(found.value().front()), address.port);
  asio::error_code failure;
  impl->acceptor.open(endpoint.protocol(), failure);
  if (!failure) impl->acceptor.set_option(asio::ip::tcp::acceptor::reuse_address(true), failure);
  // [::] listens for IPv4 too.
  if (!failure && endpoint.address().is_v6()) impl->acceptor.set_option(asio::ip::v6_only(false), failure);
  if (!failure) impl->acceptor.bind(endpoint, failure);
  if (!failure) impl->acceptor.listen(asio::socket_base::max_listen_connections, failure);
  if (failure) {
    return Error{fmt::format("{}: cannot listen: {}; is another agent running? take another port with --listen",
                             address.text(), failure.message())};
  }
  impl->address = {address.host, impl->acceptor.local_endpoint(failure).port()};
  return std::make_unique<Listener>(std::move(impl));
}

Listener::~Listener() { impl_->close(); }

void Listener::accept(std::function<void(std::unique_ptr<Link>)> callback) {
  impl_->callback = std::move(callback);
  impl_->accept_next();
}

const system::Address& Listener::address() const noexcept { return impl_->address; }

}  // namespace accelscope::capture::wire
