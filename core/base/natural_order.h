// Names as people sort them (runs of digits count as numbers, so that "rank 2" comes before "rank 10"), and what
// somebody may have meant who wrote one that does not exist.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace accelscope {

[[nodiscard]] bool natural_less(std::string_view a, std::string_view b) noexcept;

// The most similar of the names, regardless of case; "" if none is similar. A name that begins or ends like the wanted
// one (dur and dur_ns, duration and dur_ns) counts as similar, as do a few letters more, fewer, other or exchanged.
[[nodiscard]] std::string nearest_name(std::string_view wanted, std::span<const std::string> names);

}  // namespace accelscope
