#include "core/sql/tables/name_groups.h"

#include <algorithm>

namespace accelscope::sql {

bool is_number(EventField field) noexcept {
  switch (field) {
    case EventField::id:
    case EventField::track_id:
    case EventField::lane:
    case EventField::ts_ns:
    case EventField::dur_ns:
    case EventField::end_ns:
      return true;
    default:
      return false;
  }
}

std::int64_t number_of(LaneScan& scan, EventField field) {
  switch (field) {
    case EventField::id:
      return static_cast<std::int64_t>(scan.id());
    case EventField::track_id:
      return scan.lane().track;
    case EventField::lane:
      return scan.lane().data->lane.depth;
    case EventField::ts_ns:
      return scan.begin_ns();
    case EventField::dur_ns:
      return scan.end_ns() - scan.begin_ns();
    case EventField::end_ns:
      return scan.end_ns();
    default:
      return 0;
  }
}

void NameGroups::add(LaneScan& scan) {
  const StringId name = scan.name();
  if (name >= group_of_name_.size()) group_of_name_.resize(name + std::size_t{1});
  std::uint32_t& group = group_of_name_[name];
  if (group == 0) {
    groups_.push_back({name, 0, {}});
    group = static_cast<std::uint32_t>(groups_.size());
  }
  Group& place = groups_[group - 1];
  ++place.count;
  for (const EventField field : fields_) place.numbers.push_back(number_of(scan, field));
}

void NameGroups::sort(const StringPool& strings, bool descending) {
  std::sort(groups_.begin(), groups_.end(), [&](const Group& a, const Group& b) {
    return descending ? strings.text(b.name) < strings.text(a.name) : strings.text(a.name) < strings.text(b.name);
  });
  group_ = 0;
  row_ = 0;
}

void NameGroups::next() noexcept {
  if (++row_ < groups_[group_].count) return;
  row_ = 0;
  groups_[group_].numbers = {};  // read once: what has been read makes room
  ++group_;
}

std::int64_t NameGroups::number(EventField field) const noexcept {
  for (std::size_t i = 0; i < fields_.size(); ++i) {
    if (fields_[i] == field) return groups_[group_].numbers[row_ * fields_.size() + i];
  }
  return 0;
}

}  // namespace accelscope::sql
