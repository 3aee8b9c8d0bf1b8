// The style and the script that html_report.h puts into every page. Both are written for it alone: they know its
// classes and the shape of its timeline (html_timeline.h).
#pragma once

#include <string_view>

namespace accelscope {

[[nodiscard]] std::string_view report_style() noexcept;
[[nodiscard]] std::string_view report_script() noexcept;

}  // namespace accelscope
