// What the layer knows of the program's handles. Any thread; parts with a lock each keep threads out of each other's
// way.
#pragma once

#include <array>
#include <cstdint>
#include <mutex>
#include <unordered_map>
#include <utility>
#include <vector>

namespace accelscope::probe::opencl {

template <typename Value>
class HandleMap {
 public:
  void set(const void* handle, Value value) {
    Part& part = part_of(handle);
    const std::lock_guard lock(part.mutex);
    part.values[handle] = std::move(value);
  }
  // Value() if the handle is not known.
  [[nodiscard]] Value find(const void* handle) {
    Part& part = part_of(handle);
    const std::lock_guard lock(part.mutex);
    const auto found = part.values.find(handle);
    return found == part.values.end() ? Value() : found->second;
  }
  Value take(const void* handle) {
    Part& part = part_of(handle);
    const std::lock_guard lock(part.mutex);
    const auto found = part.values.find(handle);
    if (found == part.values.end()) return Value();
    Value value = std::move(found->second);
    part.values.erase(found);
    return value;
  }
  [[nodiscard]] std::vector<Value> all() {
    std::vector<Value> values;
    for (Part& part : parts_) {
      const std::lock_guard lock(part.mutex);
      for (const auto& [handle, value] : part.values) values.push_back(value);
    }
    return values;
  }

 private:
  struct Part {
    std::mutex mutex;
    std::unordered_map<const void*, Value> values;
  };
  [[nodiscard]] Part& part_of(const void* handle) {
    const auto bits = reinterpret_cast<std::uintptr_t>(handle);
    return parts_[(bits >> 4 ^ bits >> 10) % parts_.size()];
  }
  std::array<Part, 16> parts_;
};

// Numbers of the commands of events. A program may be given an event for each of a million commands, so nothing is
// allocated for one: each part is one table in which a handle keeps its place for good, since drivers use handles
// again.
class EventNumbers {
 public:
  void set(const void* event, std::uint64_t command) {
    Part& part = part_of(event);
    const std::lock_guard lock(part.mutex);
    if (2 * (part.used + 1) > part.entries.size()) part.grow();
    Entry& entry = part.place(event);
    if (entry.event == nullptr) ++part.used;
    entry = {event, command};
  }
  void forget(const void* event) {
    Part& part = part_of(event);
    const std::lock_guard lock(part.mutex);
    if (!part.entries.empty()) part.place(event).command = 0;
  }
  // 0: not known.
  [[nodiscard]] std::uint64_t find(const void* event) {
    Part& part = part_of(event);
    const std::lock_guard lock(part.mutex);
    return part.entries.empty() ? 0 : part.place(event).command;
  }

 private:
  struct Entry {
    const void* event = nullptr;
    std::uint64_t command = 0;
  };
  struct Part {
    std::mutex mutex;
    std::vector<Entry> entries;  // a power of two; at most half of them used
    std::size_t used = 0;

    [[nodiscard]] Entry& place(const void* event) {
      const std::size_t mask = entries.size() - 1;
      std::size_t at = hash(event) & mask;
      while (entries[at].event != nullptr && entries[at].event != event) at = (at + 1) & mask;
      return entries[at];
    }
    void grow() {
      std::vector<Entry> old(entries.empty() ? 1024 : 2 * entries.size());
      old.swap(entries);
      for (const Entry& entry : old) {
        if (entry.event != nullptr) place(entry.event) = entry;
      }
    }
  };
  [[nodiscard]] static std::size_t hash(const void* event) {
    return (reinterpret_cast<std::uintptr_t>(event) >> 4) * 0x9E3779B97F4A7C15U >> 20;
  }
  [[nodiscard]] Part& part_of(const void* event) { return parts_[hash(event) >> 24 & (parts_.size() - 1)]; }
  std::array<Part, 4> parts_;
};

}  // namespace accelscope::probe::opencl
