// The strings of one scope: local id -> session-wide id. Most sessions have one source and so the same ids, which
// saves a look-up per value.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "core/model/ids.h"

namespace accelscope {

class StringMap {
 public:
  StringMap() = default;
  explicit StringMap(std::vector<StringId> ids) : ids_(std::move(ids)) {
    for (std::size_t i = 0; same_ && i < ids_.size(); ++i) same_ = ids_[i] == i;
  }
  [[nodiscard]] StringId operator[](std::uint64_t local) const noexcept {
    if (local >= ids_.size()) return 0;
    return same_ ? static_cast<StringId>(local) : ids_[local];
  }
  template <std::size_t N>
  void to_session(std::array<std::uint64_t, N>& ids) const noexcept {
    if (same_) {
      // The sign says whether any id lies outside, without a branch for each.
      const std::uint64_t last = std::uint64_t{ids_.size()} - 1;
      std::uint64_t signs = 0;
      for (const std::uint64_t id : ids) signs |= (last - id) | id;
      if (static_cast<std::int64_t>(signs) >= 0) return;
      for (std::uint64_t& id : ids) id = id < ids_.size() ? id : 0;
    } else {
      for (std::uint64_t& id : ids) id = id < ids_.size() ? ids_[id] : 0;
    }
  }

 private:
  std::vector<StringId> ids_;
  bool same_ = true;
};

}  // namespace accelscope
