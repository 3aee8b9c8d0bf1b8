// The numbers of one record of a result of rocprofv3, whatever objects they lie in, by what they mean.
#pragma once

#include <array>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>

#include "capture/json/json_field.h"
#include "capture/sources/rocm/run/records.h"

namespace accelscope::capture::sources::rocm {

enum class RecordField : std::uint8_t {
  kind,
  operation,
  thread,
  internal,
  external,
  ancestor,
  start,
  end,
  agent,
  queue,
  stream,
  kernel,
  dispatch,
  private_segment,
  group_segment,
  workgroup_x,
  workgroup_y,
  workgroup_z,
  grid_x,
  grid_y,
  grid_z,
  source_agent,
  destination_agent,
  source_address,
  destination_address,
  bytes,
  address,
  allocation_size,
  flags,
  vgprs,
  accum_vgprs,
  sgprs,
  graph_exec,
  graph_node,
  count
};

class RecordFields {
 public:
  void clear() noexcept {
    numbers_.fill(std::nullopt);
    arguments_.clear();
  }
  // A field of the record and, if it is an object, all within it.
  void add(const json::JsonField& field);
  void add_unread(std::string_view path);

  [[nodiscard]] const MaybeNumber& operator[](RecordField field) const noexcept {
    return numbers_[static_cast<std::size_t>(field)];
  }
  [[nodiscard]] std::int64_t integer(RecordField field) const noexcept { return (*this)[field].value_or(0); }
  [[nodiscard]] const std::string& arguments() const noexcept { return arguments_; }  // as JSON; or ""
  // Values that mean nothing here, of all records: "dispatch_info.size".
  [[nodiscard]] const std::set<std::string, std::less<>>& unread() const noexcept { return unread_; }

 private:
  void add(std::string& path, const json::JsonField& field, unsigned depth);

  std::array<MaybeNumber, static_cast<std::size_t>(RecordField::count)> numbers_;
  std::string arguments_;
  std::string path_;
  std::set<std::string, std::less<>> unread_;
};

}  // namespace accelscope::capture::sources::rocm
