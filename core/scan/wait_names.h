// Which names of a schema mean waiting, as session-wide string ids. A name that no source has interned yet is not
// among them: no event has it.
#pragma once

#include <algorithm>
#include <vector>

#include "core/model/schema.h"
#include "core/store/string_pool.h"

namespace accelscope {

class WaitNames {
 public:
  WaitNames() = default;
  WaitNames(const Schema* schema, const StringPool& strings) {
    if (schema == nullptr) return;
    for (const std::string& name : schema->wait_names) {
      const StringId id = strings.find(name);
      if (id != kNone) ids_.push_back(id);
    }
  }
  [[nodiscard]] bool empty() const noexcept { return ids_.empty(); }
  [[nodiscard]] bool contains(StringId name) const noexcept {
    return std::find(ids_.begin(), ids_.end(), name) != ids_.end();
  }

 private:
  std::vector<StringId> ids_;  // a handful
};

}  // namespace accelscope
