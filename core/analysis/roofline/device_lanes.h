// Which lanes of a session tell of a device's operations and bytes, and which of its time alone. A device that is made
// of others is one with them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/analysis/time/track_devices.h"
#include "core/analysis/vendors/vendor.h"
#include "core/scan/chunk_scan.h"

namespace accelscope {

struct DeviceLane {
  enum class Tells : std::uint8_t {
    nothing,
    amounts,   // operations and bytes of work
    transfer,  // of transfers whose bytes are counted where they are set off: time alone
    layer,     // when a layer was under way
  };
  Tells tells = Tells::nothing;
  std::uint32_t device = 0;            // of DeviceLanes
  const Vendor* vendor = nullptr;      // whose words its amounts are in; null: the columns' roles tell
  const MemoryWords* words = nullptr;  // of its device; null: none
};

class DeviceLanes {
 public:
  explicit DeviceLanes(const Snapshot& snapshot);

  [[nodiscard]] std::size_t device_count() const noexcept { return names_.size(); }  // those with device work
  [[nodiscard]] const std::string& name(std::size_t device) const noexcept { return names_[device]; }
  [[nodiscard]] const MemoryWords* words(std::size_t device) const noexcept { return words_[device]; }
  [[nodiscard]] const DeviceLane& lane(std::size_t lane) const noexcept { return lanes_[lane]; }
  [[nodiscard]] const LaneIndices& telling() const noexcept { return telling_; }  // all that tell something

 private:
  std::vector<std::string> names_;
  std::vector<const MemoryWords*> words_;
  std::vector<DeviceLane> lanes_;  // by lane
  LaneIndices telling_;
};

}  // namespace accelscope
