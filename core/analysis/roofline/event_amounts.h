// What single events of a device computed and moved, a block at a time: operations, and bytes along each path of its
// memories. Where its maker has no words for paths there is one: the bytes that columns with Role::bytes state.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/analysis/time/track_devices.h"
#include "core/analysis/vendors/vendor.h"
#include "core/scan/chunk_scan.h"
#include "core/scan/column_values.h"

namespace accelscope::analysis {

// Which lanes of a session tell of a device's operations and bytes, and which of its time alone. A device that is made
// of others is one with them.
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

class EventAmounts {
 public:
  // Of the events of the chunk's lane.
  EventAmounts(const ScannedChunk& chunk, const DeviceLane& lane, const StringPool& strings);
  void read(BlockReader& reader);

  // Of the block that was read.
  [[nodiscard]] double flops(std::uint32_t i) const;
  [[nodiscard]] std::size_t path_count() const noexcept { return paths_.size(); }
  [[nodiscard]] double bytes(std::size_t path, std::uint32_t i) const;  // path: of MemoryWords::paths
  [[nodiscard]] bool any(std::uint32_t i) const;                        // it states operations or bytes
  [[nodiscard]] bool is_matrix(std::uint32_t i) const;                  // it is of the matrix engine
  [[nodiscard]] bool sets_off_transfers(std::uint32_t i) const;         // its bytes are moved by transfers

 private:
  struct Numbers {
    std::optional<std::size_t> column;
    ColumnType type = ColumnType::int64;
    NumberBlock values;
    // Sizes below 0 are damage.
    [[nodiscard]] double at(std::uint32_t i) const noexcept {
      return column && values[i] > 0 ? static_cast<double>(values[i]) : 0;
    }
  };
  [[nodiscard]] static Numbers numbers(const Schema& schema, std::string_view name);

  const MemoryWords* words_ = nullptr;
  std::unique_ptr<EventWork> work_;
  std::vector<Numbers> paths_;  // of words_; else those of Role::bytes, which are one path
  std::vector<Numbers> flops_;  // where no maker tells them
  std::optional<std::size_t> engine_column_;
  StringId matrix_ = kNone;
  BlockValues engines_;
};

}  // namespace accelscope::analysis
