// Slows down whoever tries tokens: after five wrong ones within a minute an address is refused for 30 s, after the next
// five for twice as long, up to 10 min. What is remembered is bounded; an address that behaves is forgotten.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <string>

namespace accelscope::capture {

class FailureLimit {
 public:
  using TimePoint = std::chrono::steady_clock::time_point;
  using Clock = std::function<TimePoint()>;

  explicit FailureLimit(Clock clock = [] { return std::chrono::steady_clock::now(); }) : clock_(std::move(clock)) {}

  // How long the address must wait; 0: it may try. The addresses of an IPv6 network of 64 bits count as one, as
  // whoever has one of them has all.
  [[nodiscard]] std::chrono::seconds wait_time(const std::string& ip) const;
  void failed(const std::string& ip);
  void succeeded(const std::string& ip);
  [[nodiscard]] std::size_t size() const noexcept { return records_.size(); }  // addresses that are remembered

  static constexpr std::uint32_t kFailures = 5;
  static constexpr std::chrono::seconds kWithin{60};
  static constexpr std::chrono::seconds kFirstBlock{30};
  static constexpr std::chrono::seconds kLongestBlock{600};
  static constexpr std::size_t kMostAddresses = 1024;

 private:
  struct Record {
    std::uint32_t failures = 0;  // since `since`
    TimePoint since;
    TimePoint last;
    TimePoint blocked_until;
    std::chrono::seconds next_block = kFirstBlock;
  };
  void make_room();

  Clock clock_;
  std::map<std::string, Record> records_;
};

}  // namespace accelscope::capture
