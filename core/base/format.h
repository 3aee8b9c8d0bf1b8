// Numbers as users read and write them. Durations and sizes are shown with four significant digits in the unit of
// their size; thousands are separated by commas; exact forms carry every digit.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/result.h"

namespace accelscope {

[[nodiscard]] std::string format_duration(double ns);            // "609 ns", "12.5 µs", "1.869 ms", "12.34 s"
[[nodiscard]] std::string format_time_exact(std::int64_t ns);    // "1,986,695 ns"
[[nodiscard]] std::string format_bytes(double bytes);            // "256 KiB", "1.91 MiB"
[[nodiscard]] std::string format_rate(double bytes_per_second);  // "198 GB/s"
[[nodiscard]] std::string format_scaled(double value, std::string_view unit);  // "28.12 TFLOP/s", decimal prefixes
[[nodiscard]] std::string format_count(std::uint64_t count);                   // "38,412"
[[nodiscard]] std::string format_signed(std::int64_t value);                   // "-1,024" with a true minus
[[nodiscard]] std::string format_share(double fraction);                       // "65.6 %"
[[nodiscard]] std::string format_number(double value);  // four significant digits, thousands by comma
// The smallest of 1, 2 and 5 times a power of ten that is not below the value, for steps of axes and upper ends of
// scales; 1 for what is not above 0.
[[nodiscard]] double round_step(double least) noexcept;
// Shortened in the middle to at most max_chars characters: "qGpSimdS…Reload0".
[[nodiscard]] std::string shorten_middle(std::string_view text, std::size_t max_chars);

// "12.5us", "40 ms", "1234" (ns). "10%" is resolved against [begin_ns, end_ns].
[[nodiscard]] Result<std::int64_t> parse_time(std::string_view text, std::int64_t begin_ns, std::int64_t end_ns);
[[nodiscard]] Result<std::uint64_t> parse_size(std::string_view text);  // "512MiB", "2G" (binary), "1.5 GB", "1048576"
[[nodiscard]] Result<double> parse_rate(std::string_view text);         // "2M", "max" (infinity), "1500"; up to P

// JSON: texts with their quotes, bad UTF-8 as U+FFFD; numbers that are not finite as null.
void append_json_quoted(std::string& out, std::string_view text);
[[nodiscard]] std::string json_quote(std::string_view text);
[[nodiscard]] std::string json_number(double value);

}  // namespace accelscope
