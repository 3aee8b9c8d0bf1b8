#include "capture/sources/tracks/launch_details.h"

#include <fmt/format.h>

#include <array>
#include <charconv>

#include "core/base/text.h"

namespace accelscope::capture::sources::tracks {
namespace {

// No device has more. A profiler that reads a structure of another version writes what lies in memory there.
constexpr std::int64_t kMostRegisters = 2048, kMostSharedBytes = 16 << 20, kMostPrivateBytes = 1 << 30,
                       kMostBlocks = (std::int64_t{1} << 32) - 1, kMostThreads = 4096;
constexpr std::int64_t kMostBytes = std::int64_t{1} << 50;

template <typename Number>
[[nodiscard]] bool take_number(std::string_view text, Number& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size();
}

// Calls with every "key:value" of the text.
template <typename Visit>
void each_detail(std::string_view text, Visit visit) {
  while (!text.empty()) {
    const std::size_t blank = std::min(text.find(' '), text.size());
    const std::string_view word = text.substr(0, blank);
    text.remove_prefix(std::min(blank + 1, text.size()));
    const std::size_t colon = word.find(':');
    if (colon != std::string_view::npos) visit(word.substr(0, colon), word.substr(colon + 1));
  }
}

[[nodiscard]] std::optional<std::int64_t> bounded(std::string_view text, std::int64_t most,
                                                  std::uint32_t& implausible) {
  std::int64_t value = 0;
  if (take_number(text, value) && value >= 0 && value <= most) return value;
  ++implausible;
  return std::nullopt;
}

// "[16, 1, 1]" of "16,1,1"; "" if one of the three is more than `most`, or there are not three.
[[nodiscard]] std::string three_of(std::string_view text, std::int64_t most, std::uint32_t& implausible) {
  std::array<std::int64_t, 3> all{};
  std::string_view rest = text;
  for (std::int64_t& each : all) {
    const std::size_t comma = std::min(rest.find(','), rest.size());
    if (!take_number(rest.substr(0, comma), each) || each < 0 || each > most) {
      ++implausible;
      return {};
    }
    rest.remove_prefix(std::min(comma + 1, rest.size()));
  }
  return fmt::format("[{}, {}, {}]", all[0], all[1], all[2]);
}

}  // namespace

KernelDetails read_kernel_details(std::string_view text) {
  KernelDetails made;
  const auto add_shared = [&](std::string_view value) {
    const auto bytes = bounded(value, kMostSharedBytes, made.implausible);
    if (bytes) made.shared_memory = made.shared_memory.value_or(0) + *bytes;
  };
  each_detail(text, [&](std::string_view key, std::string_view value) {
    if (key == "regs") {
      made.registers = bounded(value, kMostRegisters, made.implausible);
    } else if (key == "static_shared" || key == "dynamic_shared" || key == "group_mem") {
      add_shared(value);
    } else if (key == "private_mem") {
      made.private_memory = bounded(value, kMostPrivateBytes, made.implausible);
    } else if (key == "grid") {
      made.grid = three_of(value, kMostBlocks, made.implausible);
    } else if (key == "block") {
      made.block = three_of(value, kMostThreads, made.implausible);
    } else if (key == "occ_pct") {
      double percent = 0;
      if (!take_number(value, percent) || percent < 0 || percent > 100) {
        ++made.implausible;
      } else if (percent > 0) {
        made.occupancy = percent;
      }
    }
  });
  return made;
}

TransferDetails read_transfer_details(std::string_view text) {
  TransferDetails made;
  std::string_view from, to;
  each_detail(text, [&](std::string_view key, std::string_view value) {
    if (key == "kind") made.kind = value;
    if (key == "kind_src") from = value;
    if (key == "kind_dst") to = value;
    if (key == "size" || key == "num_bytes") made.bytes = bounded(value, kMostBytes, made.implausible);
  });
  if (!from.empty() || !to.empty()) made.kind = fmt::format("{} > {}", from, to);
  return made;
}

std::optional<std::int64_t> stream_of_line(std::string_view name) {
  constexpr std::string_view kBegin = "Stream #";
  if (!name.starts_with(kBegin)) return std::nullopt;
  name.remove_prefix(kBegin.size());
  std::size_t digits = 0;
  while (digits < name.size() && is_digit(name[digits])) ++digits;
  std::int64_t number = 0;
  if (digits == 0 || !take_number(name.substr(0, digits), number)) return std::nullopt;
  return number;
}

}  // namespace accelscope::capture::sources::tracks
