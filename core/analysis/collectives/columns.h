// Where tables of collectives say what is asked of them: the names of columns are rows of tables in columns.cpp.
#pragma once

#include <optional>
#include <vector>

#include "core/model/schema.h"

namespace accelscope {

// Where a table of collectives says what; nothing where it does not.
struct CollectiveColumns {
  explicit CollectiveColumns(const Schema& schema);

  std::optional<std::size_t> wait;    // ns from the arrival to the recorded begin
  std::vector<std::size_t> bytes;     // the size is the largest of these
  std::vector<std::size_t> elements;  // before them, the largest of these times the type's bytes
  std::optional<std::size_t> type, group, group_size, algorithm, operation, id;
};

}  // namespace accelscope
