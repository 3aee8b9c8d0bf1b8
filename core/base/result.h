// Errors as values. A function that can fail on bad input returns Result<T>; the message is written for the
// user: what is wrong, with which file or peer, where, and what to try. Broken invariants are assert()s.
#pragma once

#include <cassert>
#include <string>
#include <utility>
#include <variant>

namespace accelscope {

struct Error {
  std::string message;
};

template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}

  [[nodiscard]] bool ok() const noexcept { return state_.index() == 0; }
  explicit operator bool() const noexcept { return ok(); }

  [[nodiscard]] T& value() & {
    assert(ok());
    return *std::get_if<0>(&state_);
  }
  [[nodiscard]] const T& value() const& {
    assert(ok());
    return *std::get_if<0>(&state_);
  }
  [[nodiscard]] T&& value() && {
    assert(ok());
    return std::move(*std::get_if<0>(&state_));
  }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  // The value, moved out: see TRY.
  T take() { return std::move(value()); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }

  [[nodiscard]] const Error& error() const {
    assert(!ok());
    return *std::get_if<1>(&state_);
  }
  // "" of a success, so that a check may name it beside ok().
  [[nodiscard]] const std::string& message() const noexcept {
    static const std::string none;
    const Error* failure = std::get_if<1>(&state_);
    return failure == nullptr ? none : failure->message;
  }

 private:
  std::variant<T, Error> state_;
};

template <>
class [[nodiscard]] Result<void> {
 public:
  Result() = default;
  Result(Error error) : error_(std::move(error)), failed_(true) {}

  [[nodiscard]] bool ok() const noexcept { return !failed_; }
  explicit operator bool() const noexcept { return ok(); }
  [[nodiscard]] const Error& error() const {
    assert(failed_);
    return error_;
  }
  [[nodiscard]] const std::string& message() const noexcept { return error_.message; }
  void take() const noexcept { assert(!failed_); }

 private:
  Error error_;
  bool failed_ = false;
};

}  // namespace accelscope

// The value of a Result, or the function returns its error: `const Header header = TRY(read_header(file));`. It stands
// alone or begins an initialiser: what else the expression made would not be destroyed on the way out.
#define TRY(expression)                         \
  ({                                            \
    auto&& try_result = (expression);           \
    if (!try_result) return try_result.error(); \
    try_result.take();                          \
  })
