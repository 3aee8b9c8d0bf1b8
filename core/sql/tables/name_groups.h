// Events of a table gathered by name, for GROUP BY name: SQLite would otherwise sort every row by its text. Keeps only
// the numbers that the query uses, 8 bytes each.
#pragma once

#include <string_view>
#include <vector>

#include "core/sql/tables/event_table.h"
#include "core/sql/tables/lane_scan.h"

namespace accelscope::sql {

// Fields that can be kept as one number.
[[nodiscard]] bool is_number(EventField field) noexcept;
[[nodiscard]] std::int64_t number_of(LaneScan& scan, EventField field);

class NameGroups {
 public:
  // fields: what is kept of each event.
  explicit NameGroups(std::vector<EventField> fields) : fields_(std::move(fields)) {}
  void add(LaneScan& scan);
  // To the first row, groups by the texts of their names: ORDER BY may rely on the order that GROUP BY asked for.
  void sort(const StringPool& strings, bool descending);

  [[nodiscard]] bool at_end() const noexcept { return group_ >= groups_.size(); }
  void next() noexcept;
  [[nodiscard]] StringId name() const noexcept { return groups_[group_].name; }
  [[nodiscard]] std::int64_t number(EventField field) const noexcept;

 private:
  struct Group {
    StringId name = 0;
    std::uint64_t count = 0;
    std::vector<std::int64_t> numbers;  // one per field, row by row
  };
  std::vector<EventField> fields_;
  std::vector<Group> groups_;
  std::vector<std::uint32_t> group_of_name_;  // by session-wide id, plus one; 0: none yet
  std::size_t group_ = 0;
  std::uint64_t row_ = 0;
};

}  // namespace accelscope::sql
