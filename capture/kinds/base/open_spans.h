// What was begun and has not ended, for all that tell a begin and an end: which end belongs to which begin, what is
// left open when something around it ends, and where it lies.
//
//   NestedSpans<Call> calls;  // of one thread: what begins inside another one ends inside it
//   calls.begin({...});
//   if (const std::size_t at = calls.find([&](const Call& call) { return call.code == code; }); at != calls.kNone)
//     calls.end(at, [&](Call& call, std::size_t depth, bool left_open) { ... });
//
//   OverlappingSpans<Id, Task> tasks;  // each on a lane of its own
//   tasks.begin(id, {...});
//   const bool was_open = tasks.end(id, [&](Task& task, std::uint32_t lane) { ... });
#pragma once

#include <algorithm>
#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

namespace accelscope::capture::kinds {

template <typename Span>
class NestedSpans {
 public:
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);

  void begin(Span span) { open_.push_back(std::move(span)); }
  // The innermost one that fits, as its depth.
  template <typename Fits>
  [[nodiscard]] std::size_t find(Fits fits) const {
    for (std::size_t at = open_.size(); at-- > 0;) {
      if (fits(open_[at])) return at;
    }
    return kNone;
  }
  // The one at that depth, after what was left open inside it: write(span, depth, left_open), the innermost first.
  template <typename Write>
  void end(std::size_t depth, Write write) {
    end_inside(depth + 1, write);
    write(open_.back(), depth, false);
    open_.pop_back();
  }
  // All from that depth on are left open.
  template <typename Write>
  void end_inside(std::size_t depth, Write write) {
    while (open_.size() > depth) {
      write(open_.back(), open_.size() - 1, true);
      open_.pop_back();
    }
  }

  [[nodiscard]] bool empty() const noexcept { return open_.empty(); }
  [[nodiscard]] std::size_t size() const noexcept { return open_.size(); }
  [[nodiscard]] Span& innermost() { return open_.back(); }
  [[nodiscard]] Span& operator[](std::size_t depth) { return open_[depth]; }
  [[nodiscard]] const std::vector<Span>& all() const noexcept { return open_; }

 private:
  std::vector<Span> open_;
};

template <typename Key, typename Span, typename Hash = std::hash<Key>>
class OverlappingSpans {
 public:
  // On the lowest lane that is free.
  void begin(const Key& key, Span span) { open_[key].push_back({std::move(span), take_lane()}); }
  // The one of that key that began last: write(span, lane). False: none is open.
  template <typename Write>
  bool end(const Key& key, Write write) {
    const auto found = open_.find(key);
    if (found == open_.end()) return false;
    give(found->second.back(), write);
    found->second.pop_back();
    if (found->second.empty()) open_.erase(found);
    return true;
  }
  // All are left open: write(key, span, lane).
  template <typename Write>
  void end_all(Write write) {
    for (auto& [key, spans] : open_) {
      for (Open& open : spans) give(open, [&](Span& span, std::uint32_t lane) { write(key, span, lane); });
    }
    open_.clear();
  }
  [[nodiscard]] bool empty() const noexcept { return open_.empty(); }

 private:
  struct Open {
    Span span;
    std::uint32_t lane;
  };
  [[nodiscard]] std::uint32_t take_lane() {
    while (free_ < taken_.size() && taken_[free_]) ++free_;
    if (free_ == taken_.size()) taken_.push_back(false);
    taken_[free_] = true;
    return free_++;
  }
  template <typename Write>
  void give(Open& open, Write write) {
    taken_[open.lane] = false;
    free_ = std::min(free_, open.lane);
    write(open.span, open.lane);
  }

  std::unordered_map<Key, std::vector<Open>, Hash> open_;
  std::vector<bool> taken_;
  std::uint32_t free_ = 0;  // no lane below it is free
};

}  // namespace accelscope::capture::kinds
