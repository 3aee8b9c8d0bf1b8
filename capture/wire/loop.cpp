// clang-format off: asio allocates as the standard library says it can, if it has been heard before
#include <cstddef>
// clang-format on

#include <asio/executor_work_guard.hpp>
#include <asio/io_context.hpp>
#include <asio/post.hpp>
#include <asio/signal_set.hpp>
#include <asio/steady_timer.hpp>
#include <csignal>
#include <optional>
#include <utility>

#include "capture/wire/link.h"

namespace accelscope::capture::wire {

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

}  // namespace accelscope::capture::wire
