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
#include <cstring>
#include <deque>
#include <mutex>
#include <random>
#include <thread>
#include <utility>
#include <vector>

namespace accelscope::test {
namespace {

using Socket = asio::ip::tcp::socket;

constexpr std::size_t kProxyBufferBytes = std::size_t{64} << 10;
constexpr std::uint64_t kSlicesPerSecond = 50;  // of a throttled stream
constexpr std::size_t kMostOnTheWay = std::size_t{4} << 20;
constexpr std::size_t kHeaderBytes = 32;       // of a frame: its type lies at 4, its length at 8
constexpr std::size_t kRecordHeaderBytes = 5;  // of TLS: its length lies at 3, big-endian

struct Counters {
  std::array<std::atomic<std::uint64_t>, 2> passed{};  // by Towards
  std::atomic<std::uint64_t> connections{0};
  std::atomic<std::uint64_t> troubles{0};
};

void reset(Socket& socket) {
  asio::error_code ignored;  // closing what is closed is fine
  socket.set_option(asio::socket_base::linger(true, 0), ignored);
  socket.close(ignored);
}

// Finds the byte of a stream of frames or records at which a step lies.
class StepFinder {
 public:
  explicit StepFinder(const FrameStep& step)
      : step_(step), header_size_(step.encrypted ? kRecordHeaderBytes : kHeaderBytes) {}

  // The next bytes of the stream; nothing until the step is among them or known to lie ahead.
  std::optional<std::uint64_t> find(const char* bytes, std::size_t count) {
    for (std::size_t i = 0; i < count;) {
      if (body_left_ > 0) {
        const auto passed = static_cast<std::size_t>(std::min<std::uint64_t>(body_left_, count - i));
        body_left_ -= passed;
        offset_ += passed;
        i += passed;
        continue;
      }
      header_[header_bytes_++] = bytes[i++];
      ++offset_;
      if (header_bytes_ < header_size_) continue;
      header_bytes_ = 0;
      std::uint16_t type = step_.type;
      std::uint32_t length = 0;
      if (step_.encrypted) {
        length = static_cast<unsigned char>(header_[3]) * 256U + static_cast<unsigned char>(header_[4]);
      } else {
        std::memcpy(&type, &header_[4], sizeof type);
        std::memcpy(&length, &header_[8], sizeof length);
      }
      body_left_ = length;
      if (type != step_.type || ++seen_ != step_.nth) continue;
      const std::uint64_t begin = offset_ - header_size_;
      if (step_.at == FrameStep::At::before) return begin;
      if (step_.at == FrameStep::At::after) return offset_ + length;
      return begin + (length == 0 ? header_size_ / 2 : header_size_ + length / 2);
    }
    return {};
  }

 private:
  FrameStep step_;
  std::size_t header_size_;
  std::array<char, kHeaderBytes> header_{};
  std::size_t header_bytes_ = 0;
  std::uint64_t body_left_ = 0;
  std::uint64_t offset_ = 0;
  std::uint32_t seen_ = 0;
};

// Both directions of one connection. Everything runs on the proxy's thread.
class Passage : public std::enable_shared_from_this<Passage> {
 public:
  Passage(Socket client, ProxyPlan plan, Counters& counters)
      : plan_(plan),
        counters_(counters),
        client_(std::move(client)),
        server_(client_.get_executor()),
        directions_{Direction(client_.get_executor()), Direction(client_.get_executor())} {
    if (plan_.step) {
      finder_.emplace(*plan_.step);
    } else if (plan_.trouble != Trouble::none) {
      trouble_at_ = plan_.after_bytes;
    }
  }

  void begin(std::uint16_t server_port) {
    server_.async_connect({asio::ip::address_v4::loopback(), server_port},
                          [self = shared_from_this()](asio::error_code failure) {
                            if (failure) return self->make_trouble(Trouble::reset);
                            asio::error_code ignored;  // it is only quicker with it
                            self->client_.set_option(asio::ip::tcp::no_delay(true), ignored);
                            self->server_.set_option(asio::ip::tcp::no_delay(true), ignored);
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
  struct Piece {
    std::vector<char> bytes;
    std::chrono::steady_clock::time_point due;
    bool end = false;  // of the stream
  };
  struct Direction {
    asio::steady_timer pause;
    std::array<char, kProxyBufferBytes> buffer{};
    std::deque<Piece> on_the_way;
    std::size_t waiting_bytes = 0;
    std::chrono::steady_clock::time_point last_due;
    std::uint64_t passed = 0;
    bool reading = false;
    bool writing = false;
    explicit Direction(const asio::any_io_executor& executor) : pause(executor) {}
  };

  Direction& direction(Towards towards) { return directions_[static_cast<std::size_t>(towards)]; }
  Socket& from(Towards towards) { return towards == Towards::client ? server_ : client_; }
  Socket& to(Towards towards) { return towards == Towards::client ? client_ : server_; }

  void meet_trouble(Towards towards) {
    if (towards != plan_.towards || direction(towards).passed != trouble_at_) return;
    const Trouble trouble = std::exchange(plan_.trouble, Trouble::none);
    trouble_at_.reset();
    ++counters_.troubles;
    corrupt_next_ = trouble == Trouble::corrupt;
    make_trouble(trouble);
  }

  void read(Towards towards) {
    Direction& way = direction(towards);
    if (state_ == Trouble::stall || way.reading || way.waiting_bytes > kMostOnTheWay) return;
    way.reading = true;
    from(towards).async_read_some(asio::buffer(way.buffer),
                                  [self = shared_from_this(), towards](asio::error_code failure, std::size_t count) {
                                    self->direction(towards).reading = false;
                                    self->on_read(towards, failure, count);
                                  });
  }

  void on_read(Towards towards, const asio::error_code& failure, std::size_t count) {
    if (failure && failure != asio::error::eof) return make_trouble(Trouble::reset);
    if (failure && state_ != Trouble::none) return;
    if (state_ == Trouble::fin) return read(towards);  // thrown away, so that no reset follows
    if (state_ != Trouble::none) return;
    Direction& way = direction(towards);
    if (finder_ && towards == plan_.towards && !failure) {
      if (const auto found = finder_->find(way.buffer.data(), count)) {
        trouble_at_ = std::max(*found, way.passed);  // a header may come in pieces
        finder_.reset();
      }
    }
    Piece piece;
    piece.bytes.assign(way.buffer.begin(), way.buffer.begin() + static_cast<std::ptrdiff_t>(failure ? 0 : count));
    piece.end = bool(failure);
    const auto spread = static_cast<std::uint64_t>(plan_.jitter.count()) + 1;
    const std::chrono::milliseconds jitter(static_cast<std::int64_t>(random_() % spread));
    piece.due = std::max(way.last_due, std::chrono::steady_clock::now() + plan_.delay + jitter);
    way.last_due = piece.due;
    way.waiting_bytes += piece.bytes.size();
    way.on_the_way.push_back(std::move(piece));
    write_next(towards);
    if (!failure) read(towards);
  }

  // Up to the byte where trouble is due, and not more than a slice of what may pass in a second.
  std::size_t next_write(Towards towards, std::size_t whole) {
    std::uint64_t most = whole;
    if (plan_.bytes_per_second > 0) {
      most = std::min<std::uint64_t>(most, std::max<std::uint64_t>(plan_.bytes_per_second / kSlicesPerSecond, 1));
    }
    // At the byte itself the trouble has been met, so this is not 0.
    if (trouble_at_ && towards == plan_.towards) most = std::min(most, *trouble_at_ - direction(towards).passed);
    return static_cast<std::size_t>(most);
  }

  void write_next(Towards towards) {
    Direction& way = direction(towards);
    if (way.writing || way.on_the_way.empty() || state_ != Trouble::none) return;
    way.writing = true;
    const auto due = way.on_the_way.front().due;
    if (due <= std::chrono::steady_clock::now()) return write(towards);
    way.pause.expires_at(due);
    way.pause.async_wait([self = shared_from_this(), towards](asio::error_code) { self->write(towards); });
  }

  void write(Towards towards) {
    Direction& way = direction(towards);
    if (state_ != Trouble::none) return;
    Piece& piece = way.on_the_way.front();
    if (piece.end) return on_end(towards);
    const std::size_t count = next_write(towards, piece.bytes.size());
    if (towards == plan_.towards && std::exchange(corrupt_next_, false)) piece.bytes[0] ^= 1;
    asio::async_write(to(towards), asio::buffer(piece.bytes.data(), count),
                      [self = shared_from_this(), towards](asio::error_code failure, std::size_t written) {
                        self->on_written(towards, failure, written);
                      });
  }

  void on_written(Towards towards, const asio::error_code& failure, std::size_t written) {
    if (state_ != Trouble::none) return;
    if (failure) return make_trouble(Trouble::reset);
    Direction& way = direction(towards);
    Piece& piece = way.on_the_way.front();
    piece.bytes.erase(piece.bytes.begin(), piece.bytes.begin() + static_cast<std::ptrdiff_t>(written));
    if (piece.bytes.empty()) way.on_the_way.pop_front();
    way.waiting_bytes -= written;
    way.passed += written;
    counters_.passed[static_cast<std::size_t>(towards)] += written;
    meet_trouble(towards);
    if (plan_.bytes_per_second == 0) {
      way.writing = false;
      write_next(towards);
      return read(towards);
    }
    way.pause.expires_after(std::chrono::microseconds(written * 1'000'000 / plan_.bytes_per_second));
    way.pause.async_wait([self = shared_from_this(), towards](asio::error_code) {
      self->direction(towards).writing = false;
      self->write_next(towards);
      self->read(towards);
    });
  }

  void on_end(Towards towards) {
    asio::error_code ignored;  // a side that is gone needs no end
    to(towards).shutdown(Socket::shutdown_send, ignored);
    if (std::exchange(half_ended_, true)) make_trouble(Trouble::reset);
  }

  ProxyPlan plan_;
  Counters& counters_;
  Socket client_;
  Socket server_;
  std::array<Direction, 2> directions_;
  std::optional<StepFinder> finder_;
  std::optional<std::uint64_t> trouble_at_;  // byte of the plan's direction
  std::minstd_rand random_{4711};
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
    if (plans.empty()) return rest;
    const ProxyPlan plan = plans.front();
    plans.pop_front();
    return plan;
  }

  std::uint16_t server_port;
  Counters counters;
  std::mutex mutex;
  std::deque<ProxyPlan> plans;
  ProxyPlan rest;
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

void CuttingProxy::plan_rest(const ProxyPlan& plan) {
  const std::lock_guard lock(impl_->mutex);
  impl_->rest = plan;
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
std::uint64_t CuttingProxy::troubles() const { return impl_->counters.troubles.load(); }

}  // namespace accelscope::test
