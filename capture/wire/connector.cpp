#include "capture/wire/connector.h"

#include <fmt/format.h>
#include <asio/connect.hpp>
#include <asio/io_context.hpp>
#include <asio/ip/address.hpp>
#include <asio/ip/tcp.hpp>
#include <asio/ssl/context.hpp>

#include <arpa/inet.h>
#include <netdb.h>
#include <sys/socket.h>
#include <unistd.h>
#include <array>
#include <cerrno>
#include <cstring>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "capture/security/identities.h"
#include "capture/wire/link_implementation.h"
#include "capture/wire/tls.h"

namespace accelscope::capture::wire {
namespace {

constexpr const char* kWithoutTls = " One without a certificate is reached on this machine only, without tls://";

// Connections and handshakes that break off are begun anew for so long.
constexpr std::chrono::milliseconds kShakeAgainFor{2'000};
constexpr std::chrono::milliseconds kShakeAgainAfter{50};

using SteadyTime = std::chrono::steady_clock::time_point;
using Endpoints = std::vector<asio::ip::tcp::endpoint>;

// What all connections of one connector share.
struct Trust {
  TlsClientOptions options;
  std::mutex mutex;
  std::string accepted;  // by the user, in this connector's life
};

// One connection in the making: find the host, connect, shake hands, look at the certificate, and ask the user if it
// is a new one. While the user thinks, only the timer keeps the attempt alive, so it goes with its loop.
class Attempt : public std::enable_shared_from_this<Attempt> {
 public:
  Attempt(Loop& loop, system::Address address, std::shared_ptr<Trust> trust, const LinkLimits& limits,
          LinkCallback callback, SteadyTime again_until = std::chrono::steady_clock::now() + kShakeAgainFor)
      : loop_(loop),
        address_(std::move(address)),
        trust_(std::move(trust)),
        limits_(limits),
        callback_(std::move(callback)),
        again_until_(again_until),
        timer_(loop.context().get_executor()),
        socket_(loop.context()) {}

  void begin() {
    limit(limits_.connect, [](Attempt& self) { self.on_connect_limit(); });
    asio::error_code failure;
    const asio::ip::address ip = asio::ip::make_address(address_.host, failure);
    if (!failure) return connect_to({{ip, address_.port}});
    find_host(loop_, address_.host, [weak = weak_from_this()](const Result<std::vector<std::string>>& found) {
      if (const auto self = weak.lock()) self->on_found(found);
    });
  }

 private:
  // The time limit's closure owns the attempt; whoever ends it ends the attempt.
  void limit(std::chrono::milliseconds time, void (*on_over)(Attempt&)) {
    timer_.start(time, limits_.tick, [self = shared_from_this(), on_over] { on_over(*self); });
  }

  void on_found(const Result<std::vector<std::string>>& found) {
    if (callback_ == nullptr) return;
    if (!found) return fail(found.message());
    Endpoints endpoints;
    for (const std::string& ip : found.value()) {
      asio::error_code failure;
      const asio::ip::address parsed = asio::ip::make_address(ip, failure);
      if (!failure) endpoints.emplace_back(parsed, address_.port);
    }
    connect_to(std::move(endpoints));
  }

  void connect_to(Endpoints endpoints) {
    endpoints_ = std::move(endpoints);
    asio::async_connect(socket_, endpoints_,
                        [self = shared_from_this()](asio::error_code failure, const asio::ip::tcp::endpoint&) {
                          if (self->callback_ != nullptr) self->on_connected(failure);
                        });
  }

  void on_connect_limit() {
    fail(fmt::format("no answer within {} s; check the address, that the host is up, and that no firewall is between",
                     std::chrono::duration<double>(limits_.connect).count()));
  }

  void on_connected(const asio::error_code& failure) {
    if (breaks_off(failure)) return try_again();
    if (failure == asio::error::network_unreachable || failure == asio::error::host_unreachable) {
      return fail(fmt::format("cannot be reached: {}; check the address and the network", failure.message()));
    }
    if (failure) {
      return fail(
          fmt::format("cannot connect: {}; start accelscope-agent there, or check the port", failure.message()));
    }
    asio::error_code ignored;  // only speed depends on it
    socket_.set_option(asio::ip::tcp::no_delay(true), ignored);
    StreamSocket socket(std::move(socket_));
    LinkEnds ends = ends_of(socket, [](const std::string& ip) { return system::is_loopback(ip); });
    if (!system::needs_tls(address_)) return finish(make_link(ByteStream(std::move(socket)), std::move(ends), limits_));
    perform_handshake(std::move(socket), std::move(ends));
  }

  void perform_handshake(StreamSocket socket, LinkEnds ends) {
    const std::shared_ptr<asio::ssl::context> context = make_client_context();
    tls_ = std::make_unique<TlsStream>(std::move(socket), *context);
    limit(limits_.handshake, [](Attempt& self) {
      self.fail(fmt::format("has not answered in TLS within {} s; is it an accelscope-agent?",
                            std::chrono::duration<double>(self.limits_.handshake).count()));
    });
    tls_->async_handshake(TlsStream::client, [self = shared_from_this(),
                                              ends = std::move(ends)](asio::error_code failure) {
      if (self->callback_ == nullptr) return;
      if (self->breaks_off(failure)) return self->try_again();
      if (failure) {
        return self->fail(fmt::format("no encrypted connection: {}; is an accelscope-agent of this version there?{}",
                                      describe(failure), system::is_loopback(self->address_) ? kWithoutTls : ""));
      }
      self->on_certificate(ends);
    });
  }

  // The connection went away, which says nothing of who is there; and there is time for another.
  [[nodiscard]] bool breaks_off(const asio::error_code& failure) const {
    const bool broke = is_end_of_stream(failure) || failure == asio::error::connection_reset;
    return broke && std::chrono::steady_clock::now() < again_until_;
  }

  void try_again() {
    const LinkCallback callback = std::exchange(callback_, nullptr);
    timer_.stop();
    asio::error_code ignored;  // closing what is closed is fine
    socket_.close(ignored);
    if (tls_) tls_->next_layer().close(ignored);
    const auto next = std::make_shared<Attempt>(loop_, address_, trust_, limits_, callback, again_until_);
    loop_.after(kShakeAgainAfter, [next] { next->begin(); });
  }

  void on_certificate(const LinkEnds& ends) {
    const std::string fingerprint = peer_fingerprint(tls_->native_handle());
    const Result<security::AgentCheck> check = check_certificate(fingerprint);
    if (!check) return fail(check.message());
    if (check.value().verdict == security::AgentVerdict::changed) return fail(check.value().message);
    if (check.value().verdict == security::AgentVerdict::first_use) return ask(fingerprint);
    if (export_channel_binding(tls_->native_handle()).empty())
      return fail("the TLS connection has no secrets of its own");
    finish(make_link(ByteStream(std::move(tls_)), ends, limits_));
  }

  Result<security::AgentCheck> check_certificate(const std::string& fingerprint) {
    const std::lock_guard lock(trust_->mutex);
    if (!trust_->accepted.empty()) {
      if (trust_->accepted == fingerprint) return security::AgentCheck{security::AgentVerdict::known, ""};
      return Error{
          fmt::format("the agent's certificate has changed during the session: it was {}, now it is {}; connect anew",
                      trust_->accepted, fingerprint)};
    }
    if (trust_->options.known_agents_path.empty()) return security::AgentCheck{};
    return security::KnownAgents(trust_->options.known_agents_path).check(address_.host_and_port(), fingerprint);
  }

  void ask(const std::string& fingerprint) {
    asio::error_code ignored;  // the agent is not kept waiting; closing what is closed is fine
    tls_->next_layer().close(ignored);
    const TlsClientOptions& options = trust_->options;
    if (!options.trusted.empty()) return on_answer(fingerprint, options.trusted == fingerprint);
    if (!options.decide) {
      return fail(
          fmt::format("nobody has seen this agent's certificate before: {}; if accelscope-agent prints the same on "
                      "that host at its "
                      "start, trust it by adding the line '{} {}' to {}",
                      fingerprint, address_.host_and_port(), fingerprint,
                      options.known_agents_path.empty() ? "known_agents" : options.known_agents_path));
    }
    limit(options.decision, [](Attempt& self) { self.fail("nobody said whether to trust the agent's certificate"); });
    options.decide({address_.host_and_port(), fingerprint},
                   [door = loop_.door(), weak = weak_from_this(), fingerprint](bool trusted) {
                     door->post([weak, fingerprint, trusted] {
                       if (const auto self = weak.lock()) self->on_answer(fingerprint, trusted);
                     });
                   });
  }

  void on_answer(const std::string& fingerprint, bool trusted) {
    if (callback_ == nullptr) return;
    if (!trusted) {
      return fail(trust_->options.trusted.empty()
                      ? fmt::format("the agent's certificate, {}, was not trusted; compare it with the fingerprint in "
                                    "the agent's own messages, then trust it (record: --accept-new-agent)",
                                    fingerprint)
                      : fmt::format("the agent's certificate is {}, not {} as was asked for", fingerprint,
                                    trust_->options.trusted));
    }
    if (Result<void> retained = remember(fingerprint); !retained) return fail(retained.message());
    // A new attempt, which takes this certificate and no other.
    const LinkCallback callback = std::exchange(callback_, nullptr);
    timer_.stop();
    std::make_shared<Attempt>(loop_, address_, trust_, limits_, callback)->begin();
  }

  Result<void> remember(const std::string& fingerprint) {
    const std::lock_guard lock(trust_->mutex);
    trust_->accepted = fingerprint;
    if (trust_->options.known_agents_path.empty()) return {};
    return security::KnownAgents(trust_->options.known_agents_path).remember(address_.host_and_port(), fingerprint);
  }

  void fail(const std::string& text) { finish(Error{fmt::format("{}: {}", address_.text(), text)}); }

  void finish(Result<std::unique_ptr<Link>> result) {
    const auto self = shared_from_this();
    timer_.stop();
    asio::error_code ignored;  // closing what is closed is fine
    socket_.close(ignored);
    if (tls_) tls_->next_layer().close(ignored);
    if (const LinkCallback callback = std::exchange(callback_, nullptr)) callback(std::move(result));
  }

  Loop& loop_;
  system::Address address_;
  std::shared_ptr<Trust> trust_;
  LinkLimits limits_;
  LinkCallback callback_;  // none once it was called
  SteadyTime again_until_;
  TickTimer timer_;
  Endpoints endpoints_;
  asio::ip::tcp::socket socket_;
  std::unique_ptr<TlsStream> tls_;
};

bool is_stream_socket(int descriptor) {
  int type = 0;
  socklen_t length = sizeof type;
  return ::getsockopt(descriptor, SOL_SOCKET, SO_TYPE, &type, &length) == 0 && type == SOCK_STREAM;
}

int family_of(int descriptor) {
  sockaddr_storage own{};
  socklen_t length = sizeof own;
  return ::getsockname(descriptor, reinterpret_cast<sockaddr*>(&own), &length) == 0 ? own.ss_family : AF_UNSPEC;
}

}  // namespace

Connector tcp_connector(const system::Address& address, TlsClientOptions options) {
  auto trust = std::make_shared<Trust>();
  trust->options = std::move(options);
  return [address, trust](Loop& loop, const LinkLimits& limits, LinkCallback callback) {
    std::make_shared<Attempt>(loop, address, trust, limits, std::move(callback))->begin();
  };
}

void connect(Loop& loop, const system::Address& address, const LinkLimits& limits, LinkCallback callback) {
  tcp_connector(address, {})(loop, limits, std::move(callback));
}

void adopt(Loop& loop, int descriptor, const std::string& peer_name, const LinkLimits& limits,
           const LinkCallback& callback) {
  if (!is_stream_socket(descriptor)) {
    const std::string reason = errno == 0 ? "it is no stream socket" : std::strerror(errno);
    if (descriptor >= 0) ::close(descriptor);
    return callback(Error{fmt::format("{}: cannot be talked to: {}", peer_name, reason)});
  }
  StreamSocket socket(loop.context());
  asio::error_code failure;
  socket.assign(StreamSocket::protocol_type(family_of(descriptor), 0), descriptor, failure);
  if (failure) {
    ::close(descriptor);
    return callback(Error{fmt::format("{}: cannot be talked to: {}", peer_name, failure.message())});
  }
  LinkEnds ends = ends_of(socket, [](const std::string& ip) { return system::is_loopback(ip); });
  ends.peer = peer_name;
  callback(make_link(ByteStream(std::move(socket)), std::move(ends), limits));
}

namespace {

std::string ip_text(const addrinfo& found) {
  std::array<char, NI_MAXHOST> text{};
  const int failure =
      getnameinfo(found.ai_addr, found.ai_addrlen, text.data(), text.size(), nullptr, 0, NI_NUMERICHOST);
  return failure == 0 ? text.data() : std::string();
}

}  // namespace

Result<std::vector<std::string>> find_host(const std::string& host) {
  asio::error_code no_ip;
  const asio::ip::address ip = asio::ip::make_address(host, no_ip);
  if (!no_ip) return std::vector<std::string>{ip.to_string()};
  addrinfo wanted{};
  wanted.ai_socktype = SOCK_STREAM;
  wanted.ai_flags = AI_ADDRCONFIG;
  addrinfo* first = nullptr;
  const int failure = getaddrinfo(host.c_str(), nullptr, &wanted, &first);
  if (failure != 0) {
    return Error{
        fmt::format("cannot find host '{}': {}; check the name, or write its IP address", host, gai_strerror(failure))};
  }
  const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> list(first, &freeaddrinfo);
  std::vector<std::string> addresses;
  for (const addrinfo* found = first; found != nullptr; found = found->ai_next) {
    if (std::string text = ip_text(*found); !text.empty()) addresses.push_back(std::move(text));
  }
  return addresses;
}

void find_host(Loop& loop, const std::string& host, std::function<void(Result<std::vector<std::string>>)> callback) {
  std::thread([door = loop.door(), host, callback = std::move(callback)]() mutable {
    Result<std::vector<std::string>> found = find_host(host);
    // Moved, so that nothing of the caller's is left on this thread.
    door->post([callback = std::move(callback), found = std::move(found)] { callback(found); });
  }).detach();
}

}  // namespace accelscope::capture::wire
