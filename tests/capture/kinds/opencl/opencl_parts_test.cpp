// Clocks, build logs and arguments of OpenCL, without OpenCL.
#include <doctest/doctest.h>

#include <cmath>
#include <random>

#include "capture/kinds/opencl/build_log.h"
#include "capture/kinds/opencl/process.h"

namespace accelscope::capture {
namespace {

using Messages = std::vector<kinds::opencl::BuildMessage>;

// A device whose clock runs 400 ppm fast and drifts.
std::int64_t device_ticks(std::int64_t ns) {
  const auto time = static_cast<double>(ns);
  return 5'000'000'000'000 + static_cast<std::int64_t>(time * 1.0004 + 2e4 * std::sin(time / 3e9));
}

}  // namespace

TEST_CASE("a device's clock that drifts is followed to within the brackets of its calls") {
  std::mt19937_64 random(7);
  kinds::opencl::DeviceClock device;
  Clock clock;
  std::int64_t now_ns = 0;
  std::vector<std::int64_t> readings;
  for (int i = 0; i < 20'000; ++i) {
    now_ns += 100'000 + static_cast<std::int64_t>(random() % 1'000'000);
    const auto width = static_cast<std::int64_t>(500 + random() % 40'000);
    const auto at = static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(width));
    device.add(device_ticks(now_ns + at), now_ns, now_ns + width);
    readings.push_back(now_ns + at);
  }
  REQUIRE(device.update(clock));
  CHECK_FALSE(device.update(clock));
  REQUIRE(clock.anchors.size() > 50);
  for (std::size_t i = 1; i < clock.anchors.size(); ++i) {
    CHECK(clock.anchors[i].ticks > clock.anchors[i - 1].ticks);
    CHECK(clock.anchors[i].ns > clock.anchors[i - 1].ns);
  }
  CHECK(clock.residual_ns > 0);
  const ClockMap map(clock);
  std::int64_t worst = 0;
  for (const std::int64_t ns : readings) worst = std::max(worst, std::abs(map.to_ns(device_ticks(ns)) - ns));
  CHECK(worst <= static_cast<std::int64_t>(clock.residual_ns) + 1'000);  // the drift between two anchors
}

TEST_CASE("calls that lost their processor do not widen a device's clock, but a clock that has moved is followed") {
  kinds::opencl::DeviceClock device;
  Clock clock;
  for (std::int64_t i = 0; i < 20; ++i) {
    const std::int64_t ns = i * kinds::opencl::DeviceClock::kFirstSpacingNs;
    const bool disturbed = i % 5 == 4;
    device.add(ns + 7, disturbed ? ns - 3'000'000 : ns - 400, disturbed ? ns + 1'000'000 : ns + 400);
  }
  REQUIRE(device.update(clock));
  CHECK(clock.anchors.size() == 16);
  CHECK(clock.residual_ns == 400);
  const std::int64_t later = 20 * kinds::opencl::DeviceClock::kFirstSpacingNs;
  device.add(later + 50'000'000, later - 3'000'000, later + 1'000'000);  // it has jumped ahead
  REQUIRE(device.update(clock));
  CHECK(clock.anchors.size() == 17);
  CHECK(clock.residual_ns == 2'000'000);
}

TEST_CASE("anchors of a device's clock stay few however long a capture takes") {
  kinds::opencl::DeviceClock device;
  Clock clock;
  for (std::int64_t i = 0; i < 100'000; ++i) {
    device.add(device_ticks(i * kinds::opencl::DeviceClock::kFirstSpacingNs),
               i * kinds::opencl::DeviceClock::kFirstSpacingNs, i * kinds::opencl::DeviceClock::kFirstSpacingNs + 800);
  }
  REQUIRE(device.update(clock));
  CHECK(clock.anchors.size() <= kinds::opencl::DeviceClock::kMostAnchors);
  CHECK(clock.anchors.size() >= kinds::opencl::DeviceClock::kMostAnchors / 4);
}

TEST_CASE("a wide bracket counts only until a tighter one comes, and a clock that falls gives no anchor") {
  kinds::opencl::DeviceClock device;
  Clock clock;
  device.add(1000, 0, 10'000'000);
  REQUIRE(device.update(clock));
  CHECK(clock.anchors == std::vector<ClockAnchor>{{1000, 5'000'000}});
  device.add(6'000'000, 6'000'000, 6'000'100);
  REQUIRE(device.update(clock));
  CHECK(clock.anchors == std::vector<ClockAnchor>{{6'000'000, 6'000'050}});
  device.add(500, 200'000'000, 200'000'100);
  (void)device.update(clock);
  CHECK(clock.anchors == std::vector<ClockAnchor>{{6'000'000, 6'000'050}});
}

TEST_CASE("errors and warnings of build logs are found in the forms that drivers print") {
  CHECK(kinds::opencl::parse_build_log("") == Messages{});
  CHECK(kinds::opencl::parse_build_log("error: /tmp/pocl/tempfile.cl:2:12: use of undeclared identifier 'x'\n") ==
        Messages{{true, 2, "use of undeclared identifier 'x'"}});
  CHECK(
      kinds::opencl::parse_build_log("<kernel>:7:3: warning: unused variable 'i'\n  int i;\n      ^\n"
                                     "1:14:2: fatal error: 'a.h' file not found\n1 warning and 1 error generated.\n") ==
      Messages{{false, 7, "unused variable 'i'"}, {true, 14, "'a.h' file not found"}});
  CHECK(kinds::opencl::parse_build_log("error: unknown target CPU 'x'\r\nnote: valid are a, b: warning: none") ==
        Messages{{true, 0, "unknown target CPU 'x'"}});
  CHECK(kinds::opencl::parse_build_log("input.cl:99999999999999999999: error: far") == Messages{});
}

TEST_CASE("the line of a kernel is that of its definition, not of what uses its name") {
  const std::string source =
      "// scale is below\nvoid rescale(int scale);\nint f(void) { return scale(1); }\n"
      "__kernel __attribute__((reqd_work_group_size(8, 1, 1)))\nvoid\nscale (global int* a) {}\n"
      "kernel void add(int kernel_count) { scale(0); }\n";
  CHECK(kinds::opencl::find_kernel(source, "scale").line == 6);
  CHECK(kinds::opencl::find_kernel(source, "add").line == 7);
  CHECK(kinds::opencl::find_kernel(source, "rescale").line == 0);
  CHECK(kinds::opencl::find_kernel(source, "").line == 0);
  CHECK(kinds::opencl::find_kernel("kernel void a()", "a").line == 1);
}

TEST_CASE("parameters of kernels are read from the source") {
  using Parameters = std::vector<kinds::opencl::KernelParameter>;
  const std::string source =
      "kernel void f(global const float *restrict a, __constant int* b /* of (two) */, unsigned int n,\n"
      "  __attribute__((aligned(4))) uint4 v, local float* s) {}\n__kernel void none(void) {} kernel void cut(int a";
  CHECK(kinds::opencl::find_kernel(source, "f").parameters.size() == 5);
  CHECK(kinds::opencl::find_kernel(source, "f").parameters[0] == kinds::opencl::KernelParameter{"float*", "a"});
  CHECK(kinds::opencl::find_kernel(source, "f").parameters[2] == kinds::opencl::KernelParameter{"uint", "n"});
  CHECK(kinds::opencl::find_kernel(source, "f").parameters[3] == kinds::opencl::KernelParameter{"uint4", "v"});
  CHECK(kinds::opencl::find_kernel(source, "none").parameters == Parameters{});
  CHECK(kinds::opencl::find_kernel(source, "cut").parameters == Parameters{});
}

TEST_CASE("arguments of kernels are shown by type, name and memory") {
  using probe::opencl::ArgumentKind;
  using probe::opencl::ArgumentRecord;
  const std::vector<ArgumentRecord> arguments = {
      {ArgumentKind::memory, {}, 8, 3},
      {ArgumentKind::value, {}, 4, 0x40200000},
      {ArgumentKind::value, {}, 4, 0xffffffff},
      {ArgumentKind::value, {}, 4, 0xffffffff},
      {ArgumentKind::value, {}, 8, ~0ULL},
      {ArgumentKind::local, {}, 2048, 0},
      {ArgumentKind::shared_pointer, {}, 8, 0x1000},
      {ArgumentKind::value, {}, 16, 1},
      {ArgumentKind::not_set, {}, 0, 0},
      {ArgumentKind::memory, {}, 8, 9},
  };
  const std::vector<kinds::opencl::ArgumentName> names = {{"float*", "a"}, {"float", "x"}, {"int", "i"},
                                                          {"uint", "u"},   {"ulong", "n"}, {"int*", "l"}};
  CHECK(kinds::opencl::argument_text(arguments, names, {{3, "buffer 3"}}) ==
        "a=buffer 3, x=2.5, i=-1, u=4294967295, n=18446744073709551615, l=local 2 KiB, 0x1000, 16 B, ?, memory 9");
  CHECK(kinds::opencl::argument_text({}, names, {}).empty());
}

}  // namespace accelscope::capture
