#include "capture/sources/tt_noc/chip_rows.h"

#include <fmt/format.h>

namespace accelscope::capture::sources::tt_noc {
namespace {

[[nodiscard]] Track noc_track(std::string name, std::string_view kind, std::int64_t chip) {
  Track track;
  track.name = std::move(name);
  track.kind = kind;
  track.device = fmt::format("chip {}", chip);
  return track;
}

// Cores in the order of their columns, then rows, as in device logs.
[[nodiscard]] tracks::RowPlace place_of(const CorePlace& place) {
  constexpr std::int64_t kMostRowsOfChip = 1 << 16;
  return {tracks::kDeviceRows, place.x * kMostRowsOfChip + place.y};
}

}  // namespace

std::uint32_t ChipRows::of_core(const CorePlace& place, std::string_view suffix, std::uint32_t table,
                                std::string_view kind) {
  const auto [row, added] = rows_.try_emplace({place, std::string(suffix)}, kNone);
  if (!added) return row->second;
  const auto [core, new_core] = cores_.try_emplace(place, kNone);
  const std::string name = fmt::format("core {},{}", place.x, place.y);
  if (new_core) core->second = session_.add_group(noc_track(name, "engine", place.chip), place_of(place));
  row->second = session_.add_track(table, noc_track(fmt::format("{} {}", name, suffix), kind, place.chip),
                                   place_of(place), core->second);
  return row->second;
}

std::uint32_t ChipRows::counter(std::int64_t chip, const std::string& name, const std::string& unit) {
  const auto [row, added] = rows_.try_emplace({{chip, -1, -1}, name}, kNone);
  if (added) {
    Track track = noc_track(name, "counter", chip);
    track.unit = unit;
    row->second = session_.add_track(session_.counter_table(), std::move(track));
  }
  return row->second;
}

}  // namespace accelscope::capture::sources::tt_noc
