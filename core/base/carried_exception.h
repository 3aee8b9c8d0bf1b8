// What was thrown on one thread, to be thrown on on the thread that waits for its work.
//
//   CarriedException thrown;
//   ... on a worker:   if (!thrown.keep([&] { work(); })) tell_whoever_waits();
//   ... who waits:     thrown.throw_on();
#pragma once

#include <exception>
#include <mutex>

namespace accelscope {

class CarriedException {
 public:
  // False: the function threw. The first exception of all calls is kept.
  template <typename Function>
  bool keep(Function&& function) {
    try {
      function();
      return true;
    } catch (...) {
      const std::scoped_lock lock(mutex_);
      if (!thrown_) thrown_ = std::current_exception();
      return false;
    }
  }
  [[nodiscard]] bool any() const {
    const std::scoped_lock lock(mutex_);
    return thrown_ != nullptr;
  }
  void throw_on() const {
    const std::scoped_lock lock(mutex_);
    if (thrown_) std::rethrow_exception(thrown_);
  }

 private:
  mutable std::mutex mutex_;
  std::exception_ptr thrown_;
};

}  // namespace accelscope
