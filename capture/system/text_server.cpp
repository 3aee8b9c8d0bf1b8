#include "capture/system/text_server.h"

#include <fmt/format.h>
#include <netdb.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <string_view>
#include <utility>
#include <vector>

namespace accelscope::capture::system {
namespace {

using ServerClock = std::chrono::steady_clock;

struct HttpClient {
  Descriptor connection;
  ServerClock::time_point until;
  std::string request;
  std::string answer;  // "": the request is not whole
  std::size_t sent = 0;
  bool over = false;
};

[[nodiscard]] std::string http_answer(std::string_view status, std::string_view type, std::string_view body,
                                      bool with_body, std::string_view more = "") {
  return fmt::format("HTTP/1.1 {}\r\nContent-Type: {}\r\nContent-Length: {}\r\nConnection: close\r\n{}\r\n{}", status,
                     type, body.size(), more, with_body ? body : std::string_view());
}

[[nodiscard]] std::string http_answer_to(std::string_view request, const TextServer::Page& page,
                                         const std::function<std::string()>& text) {
  constexpr std::string_view kPlain = "text/plain; charset=utf-8";
  const std::string_view line = request.substr(0, request.find_first_of("\r\n"));
  const std::size_t first = line.find(' ');
  const std::size_t second = line.find(' ', first == std::string_view::npos ? first : first + 1);
  if (second == std::string_view::npos || !line.substr(second).starts_with(" HTTP/1."))
    return http_answer("400 Bad Request", kPlain, "this is no request of HTTP 1\n", true);
  const std::string_view method = line.substr(0, first);
  std::string_view path = line.substr(first + 1, second - first - 1);
  path = path.substr(0, path.find('?'));
  const bool head = method == "HEAD";
  if (method != "GET" && !head)
    return http_answer("405 Method Not Allowed", kPlain, "GET and HEAD only\n", true, "Allow: GET, HEAD\r\n");
  if (path != page.path) return http_answer("404 Not Found", kPlain, fmt::format("see {}\n", page.path), !head);
  return http_answer("200 OK", page.type, text(), !head);
}

// Takes what there is of a request.
void receive_http(HttpClient& client, const TextServer::Page& page, const std::function<std::string()>& text) {
  std::array<char, 2'048> buffer{};
  const ssize_t count = ::recv(client.connection.get(), buffer.data(), buffer.size(), MSG_DONTWAIT);
  if (count < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (count <= 0) {
    client.over = true;
    return;
  }
  if (!client.answer.empty()) return;  // beyond the request: it is read so that the answer is not lost with it
  client.request.append(buffer.data(), static_cast<std::size_t>(count));
  if (client.request.find("\r\n\r\n") != std::string::npos || client.request.find("\n\n") != std::string::npos) {
    client.answer = http_answer_to(client.request, page, text);
  } else if (client.request.size() > TextServer::kLongestRequest) {
    client.answer = http_answer("431 Request Header Fields Too Large", "text/plain; charset=utf-8",
                                "the request is too long\n", true);
  }
}

void send_http(HttpClient& client) {
  const std::string_view left = std::string_view(client.answer).substr(client.sent);
  const ssize_t count = ::send(client.connection.get(), left.data(), left.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
  if (count < 0) {
    client.over = errno != EAGAIN && errno != EINTR;
    return;
  }
  client.sent += static_cast<std::size_t>(count);
  if (client.sent < client.answer.size()) return;
  // The client closes when it has read all; it has until its time is up.
  if (client.sent == client.answer.size()) ::shutdown(client.connection.get(), SHUT_WR);
}

[[nodiscard]] Result<Descriptor> listen_http(Address& address) {
  addrinfo wanted{};
  wanted.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV | AI_PASSIVE;
  wanted.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  if (::getaddrinfo(address.host.c_str(), std::to_string(address.port).c_str(), &wanted, &found) != 0)
    return Error{address.host_and_port() + ": is no IP address and port to listen on"};
  const std::unique_ptr<addrinfo, void (*)(addrinfo*)> owner(found, ::freeaddrinfo);
  Descriptor listener(::socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  const int on = 1;
  ::setsockopt(listener.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (!listener || ::bind(listener.get(), found->ai_addr, found->ai_addrlen) != 0 || ::listen(listener.get(), 64) != 0)
    return system_error(address.host_and_port());
  sockaddr_storage bound{};
  socklen_t size = sizeof bound;
  std::array<char, 16> port{};
  if (::getsockname(listener.get(), reinterpret_cast<sockaddr*>(&bound), &size) == 0 &&
      ::getnameinfo(reinterpret_cast<sockaddr*>(&bound), size, nullptr, 0, port.data(), port.size(), NI_NUMERICSERV) ==
          0)
    address.port = static_cast<std::uint16_t>(std::stoi(port.data()));
  return listener;
}

}  // namespace

TextServer::TextServer(Address address, Descriptor listener, std::pair<Descriptor, Descriptor> end, Page page,
                       std::function<std::string()> text)
    : address_(std::move(address)),
      listener_(std::move(listener)),
      end_(std::move(end)),
      page_(std::move(page)),
      text_(std::move(text)),
      thread_([this] { serve(); }) {}

TextServer::~TextServer() {
  end_.second.close();
  thread_.join();
}

Result<std::unique_ptr<TextServer>> TextServer::open(const Address& listen, Page page,
                                                     std::function<std::string()> text) {
  Address address = listen;
  Descriptor listener = TRY(listen_http(address));
  auto end = TRY(make_pipe());
  return std::unique_ptr<TextServer>(
      new TextServer(std::move(address), std::move(listener), std::move(end), std::move(page), std::move(text)));
}

void TextServer::serve() {
  std::vector<HttpClient> clients;
  for (;;) {
    std::vector<pollfd> waiting = {{end_.first.get(), POLLIN, 0},
                                   {clients.size() < kMostClients ? listener_.get() : -1, POLLIN, 0}};
    int timeout = -1;
    const auto now = ServerClock::now();
    for (const HttpClient& client : clients) {
      const bool sends = client.sent < client.answer.size();
      waiting.push_back({client.connection.get(), static_cast<short>(sends ? POLLIN | POLLOUT : POLLIN), 0});
      const auto left = std::chrono::ceil<std::chrono::milliseconds>(client.until - now).count();
      const int ms = static_cast<int>(std::clamp<std::int64_t>(left, 0, kPatienceMs));
      timeout = timeout < 0 ? ms : std::min(timeout, ms);
    }
    if (::poll(waiting.data(), waiting.size(), timeout) < 0 && errno != EINTR) return;
    if (waiting[0].revents != 0) return;
    for (std::size_t i = 0; i < clients.size(); ++i) {
      HttpClient& client = clients[i];
      const short ready = waiting[i + 2].revents;
      if ((ready & (POLLIN | POLLHUP | POLLERR)) != 0) receive_http(client, page_, text_);
      if (!client.over && client.sent < client.answer.size()) send_http(client);
    }
    std::erase_if(clients, [](const HttpClient& client) { return client.over || ServerClock::now() >= client.until; });
    if ((waiting[1].revents & POLLIN) == 0) continue;
    Descriptor connection(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (!connection) continue;  // it is gone, or there are no descriptors left for now
    clients.push_back(
        {std::move(connection), ServerClock::now() + std::chrono::milliseconds(kPatienceMs), {}, {}, 0, false});
  }
}

}  // namespace accelscope::capture::system
