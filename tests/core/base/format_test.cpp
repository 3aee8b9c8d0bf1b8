#include "core/base/format.h"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

using namespace accelscope;

TEST_CASE("durations are shown with four significant digits in the unit of their size") {
  CHECK(format_duration(0) == "0 ns");
  CHECK(format_duration(609) == "609 ns");
  CHECK(format_duration(0.5) == "0.5 ns");
  CHECK(format_duration(12'500) == "12.5 µs");
  CHECK(format_duration(1'869'400) == "1.869 ms");
  CHECK(format_duration(12.34e9) == "12.34 s");
  CHECK(format_duration(4'321e9) == "4,321 s");
  CHECK(format_duration(-1'500) == "−1.5 µs");
  CHECK(format_duration(std::nan("")) == "–");
}

TEST_CASE("a duration that rounds up to the next unit is shown in it") {
  CHECK(format_duration(999.96) == "1 µs");
  CHECK(format_duration(999'949) == "999.9 µs");
  CHECK(format_duration(999'951) == "1 ms");
}

TEST_CASE("exact times, counts and signed numbers carry every digit") {
  CHECK(format_time_exact(1'986'695) == "1,986,695 ns");
  CHECK(format_count(38'412) == "38,412");
  CHECK(format_count(999) == "999");
  CHECK(format_count(std::numeric_limits<std::uint64_t>::max()) == "18,446,744,073,709,551,615");
  CHECK(format_signed(-1'024) == "−1,024");
  CHECK(format_signed(std::numeric_limits<std::int64_t>::min()) == "−9,223,372,036,854,775,808");
}

TEST_CASE("sizes are binary, rates decimal") {
  CHECK(format_bytes(262'144) == "256 KiB");
  CHECK(format_bytes(1.91 * 1024 * 1024) == "1.91 MiB");
  CHECK(format_bytes(1023) == "1,023 B");
  CHECK(format_rate(198e9) == "198 GB/s");
  CHECK(format_rate(1.5e3) == "1.5 kB/s");
}

TEST_CASE("shares and plain numbers") {
  CHECK(format_share(0.656) == "65.6 %");
  CHECK(format_share(0) == "0.0 %");
  CHECK(format_share(0.0000123) == "0.0012 %");
  CHECK(format_share(6.2e-7) == "<0.0001 %");  // nobody reads powers of ten
  CHECK(format_share(-0.25) == "−25.0 %");
  CHECK(format_number(1'234'567.8) == "1,234,568");
  CHECK(format_number(3.14159) == "3.142");
  CHECK(format_number(0.012345) == "0.01235");
  CHECK(format_number(0) == "0");
  CHECK(format_number(-2.5) == "−2.5");
}

TEST_CASE("units: a value reads in the unit of its size, to four digits, and what is stored round is shown round") {
  CHECK(format_value(60.0 * 1024 * 1024 * 1024, "B") == "60 GiB");
  CHECK(format_value(10.0 * 1024 * 1024 * 1024, "B") == "10 GiB");
  CHECK(format_value(1'069'999, "B") == "1.02 MiB");
  CHECK(format_value(10.1e9, "B/s") == "10.1 GB/s");
  CHECK(format_value(37'381, "ns") == "37.38 µs");
  CHECK(format_value(37.381e-6, "s") == "37.38 µs");
  CHECK(format_value(0.919, "share") == "91.9 %");
  CHECK(format_value(91.9, "%") == "91.9 %");
  CHECK(format_value(9.664e9, "FLOP") == "9.664 GFLOP");
  CHECK(format_value(28.12e12, "FLOP/s") == "28.12 TFLOP/s");
  CHECK(format_value(38'412, "") == "38,412");
  CHECK(format_value(1'410, "MHz") == "1,410 MHz");
}

TEST_CASE("units: they are known by their names, whatever else a column calls its own is written behind the number") {
  CHECK(Unit("") == Unit::none);
  CHECK(Unit("ns") == Unit::ns);
  CHECK(Unit("flop") == Unit::flop);
  CHECK(Unit("cycles").kind() == Unit::other);
  CHECK(format_value(4'387, "cycles") == "4,387 cycles");
}

TEST_CASE("names are shortened in the middle, never inside a character") {
  CHECK(shorten_middle("qGpSimdSpillReload0", 16) == "qGpSimdS…Reload0");
  CHECK(shorten_middle("short", 5) == "short");
  CHECK(shorten_middle("shorter", 5) == "sh…er");
  CHECK(shorten_middle("äöüßéè", 4) == "äö…è");
  CHECK(shorten_middle("abc", 1) == "…");
  CHECK(shorten_middle("abc", 0).empty());
  CHECK(shorten_middle("\xff\xfe\xfd\xfc", 3) == "\xff…\xfc");
}

TEST_CASE("times are read in every unit, exactly") {
  const auto time = [](std::string_view text) { return parse_time(text, 1000, 3000).value(); };
  CHECK(time("1234") == 1234);
  CHECK(time("12.5us") == 12'500);
  CHECK(time("12.5 µs") == 12'500);
  CHECK(time("40 ms") == 40'000'000);
  CHECK(time("1.000000001s") == 1'000'000'001);
  CHECK(time("2min") == 120'000'000'000);
  CHECK(time("-5us") == -5'000);
  CHECK(time("9007199254740993") == 9'007'199'254'740'993);
  CHECK(time("9223372036854775807") == std::numeric_limits<std::int64_t>::max());
  CHECK(time("0%") == 1000);
  CHECK(time("25%") == 1500);
  CHECK(time("100 %") == 3000);
  for (const auto* bad : {"", "us", "1.2.3us", "12 parsecs", "nan", "--5", "9223372036854775808", "1e400s", "%"}) {
    CAPTURE(bad);
    CHECK_FALSE(parse_time(bad, 0, 1).ok());
  }
  CHECK(parse_time("soon", 0, 1).message() == "\"soon\" is not a time; try 1500, 12.5us, 40ms, 2s or 10%");
}

TEST_CASE("sizes and rates are read as users write them") {
  CHECK(parse_size("512MiB").value() == 512ULL << 20);
  CHECK(parse_size("2G").value() == 2ULL << 30);
  CHECK(parse_size("1.5 GB").value() == 1'500'000'000);
  CHECK(parse_size("1048576").value() == 1'048'576);
  CHECK_FALSE(parse_size("-1").ok());
  CHECK_FALSE(parse_size("99999999TiB").ok());
  CHECK(parse_rate("2M").value() == 2e6);
  CHECK(parse_rate("1500").value() == 1500);
  CHECK(std::isinf(parse_rate("max").value()));
  CHECK_FALSE(parse_rate("-3k").ok());
  CHECK_FALSE(parse_rate("fast").ok());
}
