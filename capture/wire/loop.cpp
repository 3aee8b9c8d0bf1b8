#include <fmt/format.h>

#include <asio/executor_work_guard.hpp>
#include <asio/io_context.hpp>
#include <asio/post.hpp>
#include <asio/signal_set.hpp>
#include <csignal>
#include <optional>
#include <utility>

#include "capture/wire/link_implementation.h"

namespace accelscope::capture {

struct Loop::Implementation {
  asio::io_context context{1};  // one thread runs it
  asio::executor_work_guard<asio::io_context::executor_type> guard{context.get_executor()};
  std::optional<asio::signal_set> signals;
};

Loop::Loop() : impl_(std::make_unique<Implementation>()) {}
Loop::~Loop() = default;
void Loop::run() { impl_->context.run(); }
void Loop::stop() { impl_->context.stop(); }
void Loop::post(std::function<void()> function) { asio::post(impl_->context, std::move(function)); }
asio::io_context& Loop::context() noexcept { return impl_->context; }

void Loop::on_signal(std::function<void()> function) {
  impl_->signals.emplace(impl_->context, SIGINT, SIGTERM);
  impl_->signals->async_wait([this, function = std::move(function)](asio::error_code failure, int /*number*/) {
    if (failure) return;
    impl_->signals->clear(failure);  // gives the signals back their usual effect
    function();
  });
}

namespace {

asio::ip::tcp::endpoint endpoint_of(const Address& address) {
  return {asio::ip::make_address(address.host), address.port};
}

std::unique_ptr<Link> make_link(asio::ip::tcp::socket socket, const LinkLimits& limits) {
  return std::make_unique<Link>(std::make_shared<Link::Implementation>(std::move(socket), limits));
}

}  // namespace

void connect(Loop& loop, const Address& address, const LinkLimits& limits, LinkCallback callback) {
  auto socket = std::make_shared<asio::ip::tcp::socket>(loop.context());
  socket->async_connect(
      endpoint_of(address), [socket, address, limits, callback = std::move(callback)](asio::error_code failure) {
        if (failure) {
          return callback(Error{fmt::format("{}: cannot connect: {}; start accelscope-agent there, or check the port",
                                            address.text(), failure.message())});
        }
        callback(make_link(std::move(*socket), limits));
      });
}

struct Listener::Implementation : std::enable_shared_from_this<Implementation> {
  Implementation(asio::io_context& context, const LinkLimits& link_limits)
      : acceptor(context), pause(context), limits(link_limits) {}

  void accept_next() {
    acceptor.async_accept([self = shared_from_this()](asio::error_code failure, asio::ip::tcp::socket socket) {
      if (!self->acceptor.is_open()) return;
      if (failure) return self->accept_later();
      self->callback(make_link(std::move(socket), self->limits));
      self->accept_next();
    });
  }

  // Out of file descriptors, most likely: trying again at once would only burn time.
  void accept_later() {
    pause.expires_after(limits.tick);
    pause.async_wait([self = shared_from_this()](asio::error_code failure) {
      if (!failure && self->acceptor.is_open()) self->accept_next();
    });
  }

  asio::ip::tcp::acceptor acceptor;
  asio::steady_timer pause;
  LinkLimits limits;
  Address address;
  std::function<void(std::unique_ptr<Link>)> callback;
};

Result<std::unique_ptr<Listener>> Listener::open(Loop& loop, const Address& address, const LinkLimits& limits) {
  auto impl = std::make_shared<Implementation>(loop.context(), limits);
  const asio::ip::tcp::endpoint endpoint = endpoint_of(address);
  asio::error_code failure;
  impl->acceptor.open(endpoint.protocol(), failure);
  if (!failure) impl->acceptor.set_option(asio::ip::tcp::acceptor::reuse_address(true), failure);
  if (!failure) impl->acceptor.bind(endpoint, failure);
  if (!failure) impl->acceptor.listen(asio::socket_base::max_listen_connections, failure);
  if (failure) {
    return Error{fmt::format("{}: cannot listen: {}; is another agent running? take another port with --listen",
                             address.text(), failure.message())};
  }
  impl->address = {address.host, impl->acceptor.local_endpoint(failure).port()};
  return std::make_unique<Listener>(std::move(impl));
}

Listener::~Listener() {
  asio::error_code ignored;  // closing what is closed is fine
  impl_->pause.cancel();
  impl_->acceptor.close(ignored);
}

void Listener::accept(std::function<void(std::unique_ptr<Link>)> callback) {
  impl_->callback = std::move(callback);
  impl_->accept_next();
}

const Address& Listener::address() const noexcept { return impl_->address; }

}  // namespace accelscope::capture
