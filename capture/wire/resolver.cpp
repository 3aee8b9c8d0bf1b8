#include "capture/wire/resolver.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netdb.h>
#include <sys/socket.h>

#include <array>
#include <asio/ip/address.hpp>
#include <memory>
#include <thread>
#include <utility>

namespace accelscope::capture::wire {
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
