// What an XSpace holds and where: its planes, their lines, their metadata. Bytes of events are passed over, and those
// of programs (up to half of a file) are never touched.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <unordered_map>
#include <vector>

#include "capture/sources/xplane/read/records.h"

namespace accelscope::capture::sources::xplane {

// Fields of the messages.
namespace space_fields {
inline constexpr std::uint32_t kPlanes = 1, kErrors = 2, kWarnings = 3, kHostnames = 4;
}
namespace plane_fields {
inline constexpr std::uint32_t kId = 1, kName = 2, kLines = 3, kEventMetadata = 4, kStatMetadata = 5, kStats = 6;
}
namespace line_fields {
inline constexpr std::uint32_t kId = 1, kName = 2, kTimestampNs = 3, kEvents = 4, kDurationPs = 9, kDisplayId = 10,
                               kDisplayName = 11;
}

struct BytesPlace {
  std::uint64_t begin = 0;
  std::uint64_t size = 0;
};

struct LineIndex {
  std::int64_t id = 0;
  std::string name;  // the display name where there is one
  std::int64_t timestamp_ns = 0;
  BytesPlace bytes;
  std::uint64_t events = 0;
};

struct PlaneStat {
  std::int64_t id = 0;
  StatValue value;   // without a view of its text
  std::string text;  // bytes and packed ones are left out
};

struct PlaneIndex {
  std::int64_t id = 0;
  std::string name;
  std::uint64_t begin = 0;  // in the file
  std::vector<LineIndex> lines;
  std::unordered_map<std::int64_t, BytesPlace> event_metadata;
  std::unordered_map<std::int64_t, BytesPlace> stat_metadata;
  std::vector<PlaneStat> stats;
};

struct SpaceIndex {
  std::vector<PlaneIndex> planes;
  std::vector<std::string> errors, warnings, hostnames;
  std::uint64_t unknown_fields = 0;
  std::uint64_t lines_left_out = 0;  // beyond those that a session can show
  std::uint64_t metadata_left_out = 0;
  // Messages that break off or are none.
  struct Broken {
    std::string what;  // "plane /host:CPU"
    std::uint64_t at = 0;
    MessageWalk::Problem problem = MessageWalk::Problem::none;
  };
  std::vector<Broken> broken;

  [[nodiscard]] std::uint64_t event_count() const noexcept;
};

// Texts longer than `most` are cut.
[[nodiscard]] std::string text_at(SpaceWindow& window, BytesPlace place, std::size_t most = 1U << 16);

// `progress`: called with the bytes that were gone over; false ends the reading.
[[nodiscard]] SpaceIndex index_space(const SpaceBytes& bytes, const std::function<bool(std::uint64_t)>& progress);

}  // namespace accelscope::capture::sources::xplane
