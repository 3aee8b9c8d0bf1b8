// Texts of a table of the file as strings of the session, each looked up once, when it is first needed.
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <unordered_map>

#include "capture/sources/rocm/run/run.h"
#include "capture/sources/sqlite/id_rows.h"

namespace accelscope::capture::sources::rocm {

class NamedIds {
 public:
  NamedIds(RocmRun& run, const sqlite::ForeignDatabase& database, std::string_view table, std::string_view column)
      : run_(run), rows_(database, table, "id", {column}) {}

  // 0 for an id that is absent or 0; "string 7" for one that the table does not have.
  [[nodiscard]] StringId name(MaybeNumber id) {
    if (id.value_or(0) == 0) return 0;
    const auto known = names_.find(*id);
    if (known != names_.end()) return known->second;
    const StringId name = run_.intern(text(*id));
    if (names_.size() < kMostKept) names_.emplace(*id, name);
    return name;
  }
  // The text itself, until the next call.
  [[nodiscard]] std::string_view text(std::int64_t id) {
    if (rows_.find(id)) return rows_.rows().text(0);
    ++missing_;
    unknown_ = fmt::format("string {}", id);
    return unknown_;
  }
  [[nodiscard]] std::uint64_t missing() const noexcept { return missing_; }

 private:
  static constexpr std::size_t kMostKept = 1'000'000;

  RocmRun& run_;
  sqlite::KeyedRows rows_;
  std::unordered_map<std::int64_t, StringId> names_;
  std::string unknown_;
  std::uint64_t missing_ = 0;
};

}  // namespace accelscope::capture::sources::rocm
