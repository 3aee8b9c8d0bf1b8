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

}  // namespace accelscope::probe::opencl
