// Texts numbered from 1 in the order in which they first come, for several threads at once. They become the
// session's dictionary, so the numbers are the StringIds of its chunks. A LocalStrings in front, one per thread,
// answers for what that thread has seen lately without the lock.
#pragma once

#include <cstdint>
#include <deque>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/chunk/event_sink.h"

namespace accelscope::capture::sources::chrome {

class SharedStrings {
 public:
  struct Known {
    StringId id = 0;
    std::string_view text;  // stays valid as long as the strings
  };
  [[nodiscard]] Known intern(std::string_view text);
  [[nodiscard]] std::string_view text(StringId id) const;
  [[nodiscard]] std::uint64_t overflowing() const noexcept { return overflowing_; }
  // Every string as definitions of the session.
  Result<void> define_all(EventSink& sink) const;

 private:
  mutable std::mutex mutex_;
  std::deque<std::string> strings_;
  std::unordered_map<std::string_view, StringId> ids_;
  std::uint64_t overflowing_ = 0;
};

class LocalStrings {
 public:
  explicit LocalStrings(SharedStrings& shared) : shared_(shared), places_(kPlaces) {}
  [[nodiscard]] StringId intern(std::string_view text);
  [[nodiscard]] std::string_view text(StringId id) const { return shared_.text(id); }

 private:
  static constexpr std::size_t kPlaces = 1U << 14;  // a power of two
  SharedStrings& shared_;
  std::vector<SharedStrings::Known> places_;
};

}  // namespace accelscope::capture::sources::chrome
