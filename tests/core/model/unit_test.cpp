#include "core/model/unit.h"

#include <doctest/doctest.h>

using namespace accelscope;

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
  CHECK(unit_of("") == ValueUnit::none);
  CHECK(unit_of("ns") == ValueUnit::nanoseconds);
  CHECK(unit_of("flop") == unit_of("FLOP"));
  CHECK(unit_of("cycles") == ValueUnit::other);
  CHECK(format_value(4'387, "cycles") == "4,387 cycles");
}
