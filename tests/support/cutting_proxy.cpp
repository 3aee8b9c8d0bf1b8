#include "tests/support/cutting_proxy.h"

#include <algorithm>
#include <array>
#include <asio/io_context.hpp>
#include <asio/ip/tcp.hpp>
#include <asio/post.hpp>
#include <asio/steady_timer.hpp>
#include <asio/write.hpp>
#include <atomic>
#include <chrono>
#include <deque>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace accelscope::test {
namespace {

using Socket = asio::ip::tcp::socket;

constexpr std::size_t kProxyBufferBytes = std::size_t{64} << 10;
constexpr std::uint64_t kSlicesPerSecond = 50;  // of a throttled stream

struct Counters {
  std::array<std::atomic<std::uint64_t>, 2> passed{};  // by Towards
  std::atomic<std::uint64_t> connections{0};
};

void reset(Socket& socket) {
  asio::error_code ignored;  // closing what is closed is fine
  socket.set_option(asio::socket_base::linger(true, 0), ignored);
  socket.close(ignored);
}

// Both directions of one connection. Everything runs on the proxy's thread.
class Passage : public std::enable_shared_from_this<Passage> {
 public:
  Passage(Socket client, ProxyPlan plan, Counters& counters)
      : plan_(plan),
        counters_(counters),
        client_(std::move(client)),
        server_(client_.get_executor()),
        directions_{Direction(client_.get_executor()), Direction(client_.get_executor())} {}

  void begin(std::uint16_t server_port) {
    server_.async_connect({asio::ip::address_v4::loopback(), server_port},
                          [self = shared_from_this()](asio::error_code failure) {
                            if (failure) return self->make_trouble(Trouble::reset);
                            self->meet_trouble(self->plan_.towards);
                            self->read(Towards::client);
                            self->read(Towards::server);
                          });
  }

  void make_trouble(Trouble trouble) {
    if (trouble == Trouble::none || trouble == Trouble::corrupt) return;
    state_ = trouble;
    asio::error_code ignored;  // a side that is gone has its trouble already
    if (trouble == Trouble::reset) {
      reset(client_);
      reset(server_);
    } else if (trouble == Trouble::fin) {
      client_.shutdown(Socket::shutdown_send, ignored);
      server_.shutdown(Socket::shutdown_send, ignored);
    }
  }

  [[nodiscard]] bool open() const { return client_.is_open() || server_.is_open(); }

 private:
  struct Direction {
    asio::steady_timer pause;
    std::array<char, kProxyBufferBytes> buffer{};
    std::uint64_t passed = 0;
    explicit Direction(const asio::any_io_executor& executor) : pause(executor) {}
  };

  Direction& direction(Towards towards) { return directions_[static_cast<std::size_t>(towards)]; }
  Socket& from(Towards towards) { return towards == Towards::client ? server_ : client_; }
  Socket& to(Towards towards) { return towards == Towards::client ? client_ : server_; }

  void meet_trouble(Towards towards) {
    if (towards != plan_.towards || direction(towards).passed != plan_.after_bytes) return;
    const Trouble trouble = std::exchange(plan_.trouble, Trouble::none);
    corrupt_next_ = trouble == Trouble::corrupt;
    make_trouble(trouble);
  }

  // Up to the byte where trouble is due, and not more than a slice of what may pass in a second.
  std::size_t next_read(Towards towards) {
    std::uint64_t most = kProxyBufferBytes;
    if (plan_.bytes_per_second > 0) {
      most = std::clamp<std::uint64_t>(plan_.bytes_per_second / kSlicesPerSecond, 1, kProxyBufferBytes);
    }
    if (plan_.trouble != Trouble::none && towards == plan_.towards) {
      // At the byte itself the trouble has been met, so this is not 0.
      most = std::min(most, plan_.after_bytes - direction(towards).passed);
    }
    return static_cast<std::size_t>(most);
  }

  void read(Towards towards) {
    if (state_ == Trouble::stall) return;
    from(towards).async_read_some(asio::buffer(direction(towards).buffer, next_read(towards)),
                                  [self = shared_from_this(), towards](asio::error_code failure, std::size_t count) {
                                    if (failure) return self->on_end(towards, failure);
                                    if (self->state_ == Trouble::fin)
                                      return self->read(towards);  // thrown away, so that no reset follows
                                    if (self->state_ == Trouble::none) self->write(towards, count);
                                  });
  }

  void write(Towards towards, std::size_t count) {
    Direction& way = direction(towards);
    if (towards == plan_.towards && std::exchange(corrupt_next_, false)) way.buffer[0] ^= 1;
    asio::async_write(to(towards), asio::buffer(way.buffer, count),
                      [self = shared_from_this(), towards](asio::error_code failure, std::size_t written) {
                        self->on_written(towards, failure, written);
                      });
  }

  void on_written(Towards towards, const asio::error_code& failure, std::size_t written) {
    if (failure) return make_trouble(Trouble::reset);
    Direction& way = direction(towards);
    way.passed += written;
    counters_.passed[static_cast<std::size_t>(towards)] += written;
    meet_trouble(towards);
    if (plan_.bytes_per_second == 0) return read(towards);
    way.pause.expires_after(std::chrono::microseconds(written * 1'000'000 / plan_.bytes_per_second));
    way.pause.async_wait([self = shared_from_this(), towards](asio::error_code) { self->read(towards); });
  }

  void on_end(Towards towards, const asio::error_code& failure) {
    if (failure != asio::error::eof) return make_trouble(Trouble::reset);
    if (state_ != Trouble::none) return;
    asio::error_code ignored;  // a side that is gone needs no end
    to(towards).shutdown(Socket::shutdown_send, ignored);
    if (std::exchange(half_ended_, true)) make_trouble(Trouble::reset);
  }

  ProxyPlan plan_;
  Counters& counters_;
  Socket client_;
  Socket server_;
  std::array<Direction, 2> directions_;
  Trouble state_ = Trouble::none;
  bool corrupt_next_ = false;
  bool half_ended_ = false;
};

}  // namespace

struct CuttingProxy::Implementation {
  explicit Implementation(std::uint16_t server) : server_port(server) {}

  void accept() {
    acceptor.async_accept([this](asio::error_code failure, Socket socket) {
      if (failure) return;
      ++counters.connections;
      std::erase_if(passages, [](const auto& passage) { return !passage->open(); });
      passages.push_back(std::make_shared<Passage>(std::move(socket), take_plan(), counters));
      passages.back()->begin(server_port);
      accept();
    });
  }

  ProxyPlan take_plan() {
    const std::lock_guard lock(mutex);
    if (plans.empty()) return {};
    const ProxyPlan plan = plans.front();
    plans.pop_front();
    return plan;
  }

  std::uint16_t server_port;
  Counters counters;
  std::mutex mutex;
  std::deque<ProxyPlan> plans;
  asio::io_context context{1};
  asio::ip::tcp::acceptor acceptor{context, {asio::ip::address_v4::loopback(), 0}};
  std::uint16_t port = acceptor.local_endpoint().port();
  std::vector<std::shared_ptr<Passage>> passages;
  std::thread thread;
};

CuttingProxy::CuttingProxy(std::uint16_t server_port) : impl_(std::make_unique<Implementation>(server_port)) {
  impl_->accept();
  impl_->thread = std::thread([impl = impl_.get()] { impl->context.run(); });
}

CuttingProxy::~CuttingProxy() {
  trouble_all(Trouble::reset);
  asio::post(impl_->context, [this] { impl_->context.stop(); });
  impl_->thread.join();
}

std::uint16_t CuttingProxy::port() const { return impl_->port; }

void CuttingProxy::plan(const ProxyPlan& plan) {
  const std::lock_guard lock(impl_->mutex);
  impl_->plans.push_back(plan);
}

void CuttingProxy::trouble_all(Trouble trouble) {
  asio::post(impl_->context, [this, trouble] {
    for (const auto& passage : impl_->passages) passage->make_trouble(trouble);
  });
}

std::uint64_t CuttingProxy::passed_bytes(Towards towards) const {
  return impl_->counters.passed[static_cast<std::size_t>(towards)].load();
}

std::uint64_t CuttingProxy::connections() const { return impl_->counters.connections.load(); }

}  // namespace accelscope::test
