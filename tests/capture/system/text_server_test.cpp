#include "capture/system/text_server.h"

#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <map>
#include <vector>

using namespace accelscope;
using namespace accelscope::capture;
using system::TextServer;

namespace {

struct HttpReply {
  std::string status;
  std::map<std::string, std::string> headers;
  std::string body;
};

system::Descriptor connected(const TextServer& server) {
  auto connection = system::connect_to_loopback(server.address().port);
  REQUIRE_MESSAGE(connection.ok(), connection.message());
  return std::move(connection).value();
}

std::string received(const system::Descriptor& connection) {
  const auto text = system::read_to_end(connection, 16U << 20, [] { return false; });
  REQUIRE_MESSAGE(text.ok(), text.message());
  return *text;
}

HttpReply reply_to(const TextServer& server, std::string_view request) {
  const system::Descriptor connection = connected(server);
  REQUIRE(system::write_all(connection, request).ok());
  const std::string text = received(connection);
  HttpReply reply;
  const std::size_t end = text.find("\r\n\r\n");
  REQUIRE(end != std::string::npos);
  reply.body = text.substr(end + 4);
  std::size_t at = text.find("\r\n");
  reply.status = text.substr(0, at);
  while (at < end) {
    const std::size_t next = text.find("\r\n", at + 2);
    const std::string line = text.substr(at + 2, next - at - 2);
    reply.headers[line.substr(0, line.find(':'))] = line.substr(line.find(':') + 2);
    at = next;
  }
  return reply;
}

std::unique_ptr<TextServer> started(std::function<std::string()> text) {
  auto server =
      TextServer::open({.host = "127.0.0.1", .port = 0}, {.path = "/metrics", .type = "text/plain"}, std::move(text));
  REQUIRE_MESSAGE(server.ok(), server.message());
  CHECK((*server)->address().port != 0);
  return std::move(server).value();
}

}  // namespace

TEST_CASE("a page for monitoring: what HTTP clients send gets its answer, and nothing else does") {
  const auto server = started([] { return std::string("a 1\n"); });
  const HttpReply page = reply_to(*server, "GET /metrics HTTP/1.1\r\nHost: x\r\nAccept: */*\r\n\r\n");
  CHECK(page.status == "HTTP/1.1 200 OK");
  CHECK(page.body == "a 1\n");
  CHECK(page.headers.at("Content-Length") == "4");
  CHECK(page.headers.at("Content-Type") == "text/plain");
  CHECK(reply_to(*server, "GET /metrics?x=1 HTTP/1.0\n\n").body == "a 1\n");
  const HttpReply head = reply_to(*server, "HEAD /metrics HTTP/1.1\r\n\r\n");
  CHECK(head.headers.at("Content-Length") == "4");
  CHECK(head.body.empty());
  CHECK(reply_to(*server, "GET / HTTP/1.1\r\n\r\n").status == "HTTP/1.1 404 Not Found");
  CHECK(reply_to(*server, "POST /metrics HTTP/1.1\r\n\r\n").status == "HTTP/1.1 405 Method Not Allowed");
  CHECK(reply_to(*server, "\x16\x03\x01 hello\r\n\r\n").status == "HTTP/1.1 400 Bad Request");
  CHECK(reply_to(*server, std::string(TextServer::kLongestRequest + 1, 'x')).status.starts_with("HTTP/1.1 431"));
  CHECK_FALSE(
      TextServer::open(server->address(), {.path = "/", .type = "text/plain"}, [] { return std::string(); }).ok());
}

TEST_CASE("a page for monitoring: clients that are silent, slow or gone keep nobody else from it") {
  std::atomic<int> asked{0};
  const std::string large(4U << 20, 'x');  // more than a socket takes by itself
  const auto server = started([&] {
    ++asked;
    return large;
  });
  std::vector<system::Descriptor> silent, slow;
  for (std::size_t i = 0; i < TextServer::kMostClients / 2 - 1; ++i) {
    silent.push_back(connected(*server));
    slow.push_back(connected(*server));  // reads nothing of its answer
    REQUIRE(system::write_all(slow.back(), "GET /metrics HTTP/1.1\r\n\r\n").ok());
  }
  for (int i = 0; i < 5; ++i) {
    connected(*server).close();  // gone at once
    CHECK(reply_to(*server, "GET /metrics HTTP/1.1\r\n\r\n").body.size() == large.size());
  }
  // More than it serves at once: those behind them have their turn when the first are given up.
  silent.push_back(connected(*server));
  for (int i = 0; i < 4; ++i) silent.push_back(connected(*server));
  const auto begin = std::chrono::steady_clock::now();
  CHECK(reply_to(*server, "GET /metrics HTTP/1.1\r\n\r\n").body.size() == large.size());
  CHECK(std::chrono::steady_clock::now() - begin < std::chrono::minutes(5));
  CHECK(asked.load() >= 6);
  CHECK(received(silent.front()).empty());  // its time was up
}
