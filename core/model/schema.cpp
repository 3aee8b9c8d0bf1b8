#include "core/model/schema.h"

#include <algorithm>

namespace accelscope {
namespace {

template <typename Predicate>
std::optional<std::size_t> find_column(const std::vector<Column>& columns, Predicate predicate) {
  const auto found = std::ranges::find_if(columns, predicate);
  if (found == columns.end()) return std::nullopt;
  return static_cast<std::size_t>(found - columns.begin());
}

}  // namespace

std::optional<std::size_t> Schema::find(std::string_view column) const {
  return find_column(columns, [column](const Column& c) { return c.name == column; });
}

std::optional<std::size_t> Schema::find(Role role) const {
  return find_column(columns, [role](const Column& c) { return c.role == role; });
}

}  // namespace accelscope
