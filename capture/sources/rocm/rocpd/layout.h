// Which tables of a rocpd database belong together. Each process that wrote into it has its own: "rocpd_event" with its
// identifier behind, "rocpd_event_0000090f_565d_...". Views without an identifier join those of all; a program that
// crashed has left none, and those that there are need not be trusted, so that only tables are read.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "capture/sources/sqlite/foreign_database.h"

namespace accelscope::capture::sources::rocm {

struct RocpdPart {
  std::string identifier;                                 // behind the tables' names; "" if there is none
  std::map<std::string, std::string, std::less<>> names;  // "event" -> "rocpd_event_0000..."
  std::map<std::string, std::string, std::less<>> facts;  // of its table of metadata: schema_version, guid

  // "" if it has no such table.
  [[nodiscard]] std::string_view table(std::string_view base) const {
    const auto found = names.find(base);
    return found == names.end() ? std::string_view{} : std::string_view(found->second);
  }
  [[nodiscard]] std::string_view fact(std::string_view tag) const {
    const auto found = facts.find(tag);
    return found == facts.end() ? std::string_view{} : std::string_view(found->second);
  }
};

[[nodiscard]] Result<std::vector<RocpdPart>> find_rocpd_parts(const sqlite::ForeignDatabase& database);

// What the first bytes of a database of ROCm's profilers, or the names of its tables, say that it is.
enum class RocmDatabase : std::uint8_t { none, rocpd, rpd, compute, rocprof };
[[nodiscard]] RocmDatabase rocm_database_of(const std::vector<std::string>& tables);

// The host that a database of rocpd was recorded on, as its machine id; nothing if it does not say.
[[nodiscard]] std::optional<std::string> rocpd_machine(const std::string& path);

}  // namespace accelscope::capture::sources::rocm
