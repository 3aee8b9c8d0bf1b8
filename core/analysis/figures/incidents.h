// What of a session is not to be overlooked and happened at a time: reported errors, throttling, warnings that name
// their time. For signs where they happened.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "core/model/track_kinds.h"
#include "core/scan/chunk_scan.h"

namespace accelscope::analysis {

struct Incident {
  EventId event = kNoEvent;
  std::int64_t begin_ns = 0;
  std::int64_t end_ns = 0;
  StringId name = 0;  // session-wide
  Alert alert = Alert::warning;
};

struct Incidents {
  static constexpr std::uint64_t kMost = 50'000;
  std::uint64_t snapshot_version = 0;
  std::vector<Incident> list;  // by begin
  std::uint64_t left_out = 0;  // beyond kMost, the least grave
};

// Decodes the lanes that hold them.
[[nodiscard]] Result<std::shared_ptr<const Incidents>> find_incidents(const QueryContext& query);

}  // namespace accelscope::analysis
