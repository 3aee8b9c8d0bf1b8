#include "capture/sources/chrome/read/row_reader.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <random>
#include <string>

using namespace accelscope::capture;

namespace {

sources::chrome::ExactTime read(std::string_view text) {
  sources::chrome::ExactTime time;
  REQUIRE(sources::chrome::read_microseconds(text, time) == sources::chrome::TimeReading::ok);
  return time;
}
std::int64_t ns_of(std::string_view text) { return read(text).ns; }
sources::chrome::TimeReading reading_of(std::string_view text) {
  sources::chrome::ExactTime time;
  return sources::chrome::read_microseconds(text, time);
}

}  // namespace

TEST_CASE("microseconds with ns behind the point are read to the ns, whatever their size") {
  CHECK(ns_of("1712195495519689.813") == 1712195495519689813);
  CHECK(ns_of("2413669096090.1") == 2413669096090100);
  CHECK(ns_of("0.001") == 1);
  CHECK(ns_of("12") == 12000);
  CHECK(ns_of("1661203462598738") == 1661203462598738000);
  CHECK(ns_of("-1.5") == -1500);
  CHECK(ns_of("1.7e15") == 1700000000000000000);
  CHECK(ns_of("1.5E+3") == 1500000);
  CHECK(ns_of("15e-1") == 1500);
  CHECK(ns_of("0") == 0);
  CHECK(ns_of("0.0e999") == 0);
  CHECK(ns_of(".5") == 500);
  CHECK(ns_of(" 7 ") == 7000);
}

TEST_CASE("what is finer than a ns is rounded down at both ends, so that nested events stay nested") {
  CHECK(ns_of("0.0019") == 1);
  CHECK(read("0.0019").part == 900'000'000);
  CHECK(ns_of("-0.0019") == -2);
  const sources::chrome::ExactTime end = read("0.0019") + read("0.0002");
  CHECK(end.ns == 2);
  CHECK(end.part == 100'000'000);
}

TEST_CASE("texts that are no time are told from times that are too large") {
  for (const char* text : {"", "x", "1.2.3", "0x10", "NaN", "Infinity", "1e", "-", ".", "1 2", "--1"}) {
    CAPTURE(text);
    CHECK(reading_of(text) == sources::chrome::TimeReading::not_a_number);
  }
  for (const char* text : {"1e300", "99999999999999999999", "9999999999999999999", "-1e30", "2305843009213694"}) {
    CAPTURE(text);
    CHECK(reading_of(text) == sources::chrome::TimeReading::out_of_range);
  }
  CHECK(reading_of("1e-300") == sources::chrome::TimeReading::ok);
  CHECK(reading_of("2305843009213693") == sources::chrome::TimeReading::ok);
}

TEST_CASE("every way to write a time reads the same") {
  std::mt19937_64 random(7);
  for (int i = 0; i < 20000; ++i) {
    const std::int64_t ns = static_cast<std::int64_t>(random() >> (4 + random() % 58)) % sources::chrome::kMaxTimeNs;
    const std::string plain = fmt::format("{}.{:03}", ns / 1000, ns % 1000);
    CAPTURE(plain);
    CHECK(ns_of(plain) == ns);
    CHECK(ns_of(plain + "000") == ns);
    CHECK(ns_of(fmt::format("{}e-3", ns)) == ns);
    CHECK(ns_of(fmt::format("0.{:019}e16", ns)) == ns);
    if (ns > 0) CHECK(ns_of("-" + plain) == -ns);
  }
}
