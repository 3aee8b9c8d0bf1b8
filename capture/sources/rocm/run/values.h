// The values that ROCm's tables have for what its profilers record, file or live: a column says the same in both.
//
//   RocmValues values([&](std::string_view text) { return writer.intern(text); });
//   const tracks::EventValues& of = values.of(dispatch, device_number, pid);  // until the next call
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <unordered_map>

#include "capture/sources/rocm/run/records.h"
#include "capture/sources/tracks/event_values.h"

namespace accelscope::capture::sources::rocm {

struct CounterValue {
  std::uint32_t counter = 0;  // of RocmRun::set_counters()
  double value = 0;
};

class RocmValues {
 public:
  using Intern = std::function<StringId(std::string_view)>;
  explicit RocmValues(Intern intern) : intern_(std::move(intern)) {}

  // `device` is the device's number among those of its kind.
  [[nodiscard]] const tracks::EventValues& of(const RocmDispatch& dispatch, std::int64_t device, MaybeNumber pid,
                                              std::span<const CounterValue> counters = {});
  [[nodiscard]] const tracks::EventValues& of(const RocmCopy& copy, std::int64_t device, MaybeNumber pid,
                                              StringId source, StringId destination);
  [[nodiscard]] const tracks::EventValues& of(const RocmOnHost& event);
  // `bytes` below 0: they are released.
  [[nodiscard]] const tracks::EventValues& of(const RocmAllocation& allocation, std::int64_t device, MaybeNumber pid,
                                              MaybeNumber bytes);

 private:
  struct ExtentHash {
    std::size_t operator()(const Extent& extent) const noexcept;
  };
  [[nodiscard]] StringId extent_text(const Extent& extent);
  void put(std::size_t column, const MaybeNumber& value) {
    if (value) values_.integer(column, *value);
  }
  void put_text(std::size_t column, StringId value) {
    if (value != 0) values_.string(column, value);
  }
  void put_ids(const RocmOnDevice& event, std::int64_t device);

  Intern intern_;
  tracks::EventValues values_;
  std::unordered_map<Extent, StringId, ExtentHash> extents_;
};

// What is done, by the operation's name: "MEMORY_ALLOCATION_FREE".
void set_allocation_kind(RocmAllocation& allocation, std::string_view operation, bool is_scratch,
                         const RocmValues::Intern& intern);

}  // namespace accelscope::capture::sources::rocm
