// What link_implementation.h says of sockets before they are links.
// clang-format off: asio allocates as the standard library says it can, if it has been heard before
#include <cstddef>
// clang-format on

#include <sys/socket.h>

#include <asio/ip/tcp.hpp>
#include <cstring>

#include "capture/wire/link_implementation.h"

namespace accelscope::capture::wire {
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
