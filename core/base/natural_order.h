// Names as people sort them: runs of digits count as numbers, so that "rank 2" comes before "rank 10".
#pragma once

#include <string_view>

namespace accelscope {

[[nodiscard]] bool natural_less(std::string_view a, std::string_view b) noexcept;

}  // namespace accelscope
