// What ROCm's profilers record, as the readers of their formats hand it on. Times are ns of the host's clock; an id
// that the file does not have is absent. Names and texts are of the session's dictionary, views valid during the call.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "capture/json/json_cursor.h"
#include "capture/sources/sqlite/id_rows.h"
#include "core/base/capped.h"
#include "core/model/ids.h"

namespace accelscope::capture::sources::rocm {

using MaybeNumber = std::optional<std::int64_t>;

struct RocmRecord {
  std::uint32_t process = 0;  // of RocmRun
  std::int64_t start = 0;
  std::int64_t end = 0;
  StringId name = 0;
  StringId category = 0;    // "KERNEL_DISPATCH", "HIP_RUNTIME_API" ...
  MaybeNumber correlation;  // the profiler's own: joins a call and the work that it started
  MaybeNumber external;     // the program's
  MaybeNumber thread;

  [[nodiscard]] std::int64_t duration() const noexcept { return capped_difference(end, start); }
};

struct RocmOnDevice : RocmRecord {
  MaybeNumber agent;  // as the process numbers its devices
  MaybeNumber stream;
  MaybeNumber queue;
  bool rows_by_queue = false;  // although there is a stream
  StringId region = 0;
  MaybeNumber graph_exec;
  MaybeNumber graph_node;
};

using Extent = std::array<std::int64_t, 3>;  // x, y, z; 0: not known

struct RocmDispatch : RocmOnDevice {
  MaybeNumber dispatch_id;
  MaybeNumber kernel_id;
  Extent work_items{};  // of all groups together
  Extent groups{};      // where the file counts groups instead
  Extent workgroup{};
  MaybeNumber shared_bytes;
  MaybeNumber scratch_bytes;
  MaybeNumber vgprs;
  MaybeNumber accum_vgprs;
  MaybeNumber sgprs;
  std::string_view further_counters;
  std::string_view arguments;
};

struct RocmCopy : RocmOnDevice {  // `agent`: where there is no source and destination
  bool fills = false;             // sets memory instead of copying it
  MaybeNumber source;
  MaybeNumber destination;
  MaybeNumber bytes;
  std::optional<std::uint64_t> source_address;
  std::optional<std::uint64_t> destination_address;
  StringId source_name = 0;  // where it is no device of the process
  StringId destination_name = 0;
  std::string_view arguments;
};

enum class RocmHostTable : std::uint8_t { call, region, mark, sample };

struct RocmOnHost : RocmRecord {
  RocmHostTable table = RocmHostTable::call;
  MaybeNumber parent;  // the correlation of the call that it was made in
  std::string_view arguments;
  std::string_view message;
  std::string_view call_stack;
  std::string_view line_info;
  StringId mark_kind = 0;  // of marks: how they were made
};

struct RocmAllocation : RocmOnDevice {
  StringId type = 0;
  StringId level = 0;
  StringId flags = 0;
  bool releases = false;
  std::optional<std::uint64_t> address;
  MaybeNumber bytes;
};

// A set of ids, most of which come in a row: a bit for each, in groups of 512.
class IdSet {
 public:
  // False: it was there already.
  bool insert(std::int64_t id) {
    Group& group = groups_[group_of(id)];
    std::uint64_t& word = group[word_of(id)];
    const bool is_new = (word & bit_of(id)) == 0;
    word |= bit_of(id);
    return is_new;
  }
  [[nodiscard]] bool contains(std::int64_t id) const {
    const auto found = groups_.find(group_of(id));
    return found != groups_.end() && (found->second[word_of(id)] & bit_of(id)) != 0;
  }
  [[nodiscard]] bool empty() const noexcept { return groups_.empty(); }

 private:
  using Group = std::array<std::uint64_t, 8>;
  [[nodiscard]] static std::uint64_t group_of(std::int64_t id) noexcept { return static_cast<std::uint64_t>(id) >> 9; }
  [[nodiscard]] static std::size_t word_of(std::int64_t id) noexcept { return static_cast<std::uint64_t>(id) >> 6 & 7; }
  [[nodiscard]] static std::uint64_t bit_of(std::int64_t id) noexcept {
    return std::uint64_t{1} << (static_cast<std::uint64_t>(id) & 63);
  }
  std::unordered_map<std::uint64_t, Group> groups_;
};

}  // namespace accelscope::capture::sources::rocm
