// What users call the events of a table, by the name that SQL knows it by: "cc_op" -> "Collective operation".
#pragma once

#include <string>
#include <string_view>

namespace accelscope {

// Of a table that is not known, its name as words: "perf_counter" -> "Perf counter".
[[nodiscard]] std::string table_title(std::string_view table);

}  // namespace accelscope
