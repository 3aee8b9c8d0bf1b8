// Numbers of names: a name is defined once, before its number is used; a pointer that comes again costs one comparison.
// Of any thread. A forked child makes them anew: a thread that is not there may have locked the old ones.
#pragma once

#include <algorithm>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "capture/probe/bodies.h"
#include "capture/probe/client/channel.h"

namespace accelscope::probe {

// "a,b" as a user lists names.
[[nodiscard]] inline std::vector<std::string> listed_names(const std::string& text) {
  std::vector<std::string> names;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    if (end > begin) names.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return names;
}

class Names {
 public:
  // A definition of the type `type` is a number of 32 bits and the text.
  Names(Channel& channel, std::uint32_t type) : channel_(channel), type_(type) {}

  [[nodiscard]] std::uint32_t number(const char* name) {  // 0: null
    if (name == nullptr) return 0;
    const std::uint32_t generation = channel_.generation();
    const std::lock_guard lock(mutex_);
    if (generation != generation_) {  // another agent, that knows none
      generation_ = generation;
      by_pointer_.clear();
      by_text_.clear();
    }
    const auto known = by_pointer_.find(name);
    if (known != by_pointer_.end() && *known->second.text == name) return known->second.number;
    if (by_text_.size() >= kMostNames) return define(name);
    const auto [text, is_new] = by_text_.try_emplace(name, 0);
    if (is_new) text->second = define(name);
    if (by_pointer_.size() >= kMostNames) by_pointer_.clear();
    by_pointer_[name] = {&text->first, text->second};
    return text->second;
  }

 private:
  static constexpr std::size_t kMostNames = 100'000;  // then each is defined as often as it comes
  struct Known {
    const std::string* text = nullptr;
    std::uint32_t number = 0;
  };
  [[nodiscard]] std::uint32_t define(const char* name) {
    BodyWriter body;
    body.number(++last_).text(name);
    channel_.define(type_, body.bytes());
    return last_;
  }

  Channel& channel_;
  std::uint32_t type_;
  std::mutex mutex_;
  std::unordered_map<const char*, Known> by_pointer_;
  std::unordered_map<std::string, std::uint32_t> by_text_;
  std::uint32_t last_ = 0;
  std::uint32_t generation_ = 0;  // of the channel
};

}  // namespace accelscope::probe
