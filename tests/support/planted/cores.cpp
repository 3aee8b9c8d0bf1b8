#include "tests/support/planted/cores.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "capture/sources/tt_metal/read/schemas.h"
#include "core/chunk/session_writer.h"
#include "tests/support/planted/draw.h"

namespace accelscope::capture::sim {
namespace {

// When a core of three stages is done with its tiles: it reads, computes and writes, with room for two tiles between
// each two stages.
struct TileTimes {
  std::int64_t read_ns = 0, compute_ns = 0, write_ns = 0;
};

// From the begin of the core's kernels.
struct CoreTimes {
  std::int64_t read_ns = 0, compute_ns = 0, write_ns = 0;       // when each stage is done with the last tile
  std::int64_t waited_for_data_ns = 0, waited_for_room_ns = 0;  // of computing
};

inline CoreTimes run_tiles(const TileTimes& tile, int count, Draw& draw) {
  constexpr std::size_t kRoom = 2;
  std::array<std::int64_t, kRoom> computed{}, written{};  // of the tiles before, in turn
  CoreTimes times;
  const auto about = [&draw](std::int64_t ns) { return ns + ns * draw(-50, 50) / 1'000; };
  for (int i = 0; i < count; ++i) {
    const std::size_t slot = static_cast<std::size_t>(i) % kRoom;
    times.read_ns = std::max(times.read_ns, computed[slot]) + about(tile.read_ns);
    const std::int64_t ready = std::max(times.compute_ns, times.read_ns);
    times.waited_for_data_ns += ready - times.compute_ns;
    const std::int64_t begin = std::max(ready, written[slot]);
    times.waited_for_room_ns += begin - ready;
    times.compute_ns = computed[slot] = begin + about(tile.compute_ns);
    times.write_ns = written[slot] = std::max(times.write_ns, times.compute_ns) + about(tile.write_ns);
  }
  return times;
}

namespace tt = sources::tt_metal;

constexpr std::array<std::string_view, kCoreDefectCount> kCoreDefects = {"none",        "late dispatch", "uneven cores",
                                                                         "slow reader", "slow writer",   "few cores"};
constexpr std::array<std::string_view, 5> kProcessors = {"BRISC", "NCRISC", "TRISC_0", "TRISC_1", "TRISC_2"};
constexpr std::array<std::string_view, 5> kZones = {"BRISC", "NCRISC", "TRISC", "TRISC", "TRISC"};
enum Processor : std::size_t { kReads, kWrites, kUnpacks, kComputes, kPacks };

struct ChipShape {
  int columns = 0, rows = 0;
  int runs = 0;
  std::vector<int> tiles;  // of each core
  TileTimes tile;
  std::int64_t late_ns = 0;       // of every other run
  int share = 1;                  // every other run uses one of so many cores, which have as many more tiles
  std::size_t uneven = SIZE_MAX;  // the core with more tiles

  [[nodiscard]] std::size_t cores() const { return tiles.size(); }
  [[nodiscard]] std::string core_name(std::size_t core) const {
    const auto number = static_cast<int>(core);
    return fmt::format("core {},{}", 1 + number % columns, 1 + number / columns);
  }
};

ChipShape draw_chip(CoreDefect defect, std::uint64_t seed, bool repaired) {
  Draw draw(seed * kCoreDefectCount + static_cast<std::uint64_t>(defect));
  ChipShape shape;
  shape.columns = 4;
  shape.rows = draw(2, 6);
  shape.runs = draw(12, 30);
  const int tiles = draw(80, 160);
  for (int core = 0; core < shape.columns * shape.rows; ++core) shape.tiles.push_back(tiles);
  const int compute = draw(600, 1'500);
  shape.tile = {compute * draw(50, 85) / 100, compute, compute * draw(30, 80) / 100};
  switch (defect) {
    case CoreDefect::none:
      break;
    case CoreDefect::late_dispatch: {
      const int late = draw(15'000, 150'000);
      if (!repaired) shape.late_ns = late;
      break;
    }
    case CoreDefect::uneven_cores: {
      // As many more as the others can share.
      const auto cores = static_cast<int>(shape.cores());
      shape.uneven = static_cast<std::size_t>(draw(0, cores - 1));
      const int more = std::max(1, tiles * draw(30, 100) / 100 / cores);
      if (!repaired) shape.tiles[shape.uneven] += more * cores;
      for (int& each : shape.tiles) each += repaired ? more : 0;
      break;
    }
    case CoreDefect::slow_reader: {
      const int slower = draw(140, 300);
      if (!repaired) shape.tile.read_ns = compute * slower / 100;
      break;
    }
    case CoreDefect::slow_writer: {
      const int slower = draw(140, 300);
      if (!repaired) shape.tile.write_ns = compute * slower / 100;
      break;
    }
    case CoreDefect::few_cores: {
      const int share = draw(1, 2) * 2;
      if (!repaired) shape.share = share;
      break;
    }
  }
  return shape;
}

class PlantedChip {
 public:
  PlantedChip(const ChipShape& shape, std::uint64_t seed, EventSink& sink)
      : shape_(shape), draw_(seed + 1'000), writer_(sink) {
    const ClockNumber clock = writer_.add_clock({.name = "chip 0", .ticks_per_ns = 1, .anchors = {{0, 0}}});
    const SchemaNumber zone = writer_.add_schema(tt::device_log_schema(tt::LogTable::zone, {}));
    const SchemaNumber total = writer_.add_schema(tt::device_log_schema(tt::LogTable::zone_total, {}));
    runs_ = writer_.add_track({.name = "Runs",
                               .kind = "layer",
                               .device = "chip 0",
                               .schema = writer_.add_schema(tt::run_schema()),
                               .clock = clock});
    for (std::size_t core = 0; core < shape_.cores(); ++core) {
      const TrackNumber group =
          writer_.add_track({.name = shape_.core_name(core), .kind = "engine", .device = "chip 0"});
      for (const std::string_view processor : kProcessors) {
        const std::string name = fmt::format("{} {}", shape_.core_name(core), processor);
        const TrackNumber zones = writer_.add_track(
            {.parent = group, .name = name, .kind = "engine", .device = "chip 0", .schema = zone, .clock = clock});
        zones_.push_back(zones);
        totals_.push_back(writer_.add_track({.parent = zones,
                                             .name = name + " totals",
                                             .kind = "engine",
                                             .device = "chip 0",
                                             .schema = total,
                                             .clock = clock}));
      }
    }
  }

  Result<void> run() {
    for (int number = 0; number < shape_.runs; ++number) {
      const bool odd = number % 2 == 1;
      run_program(number, odd ? shape_.share : 1);
      now_ += draw_(1'000, 3'000) + (odd ? shape_.late_ns : 0);
    }
    return writer_.finish();
  }

 private:
  static constexpr std::int64_t kFirmwareNs = 300;

  void run_program(int number, int share) {
    std::int64_t end = now_;
    const std::size_t cores = shape_.cores() / static_cast<std::size_t>(share);
    for (std::size_t core = 0; core < cores; ++core) {
      const std::int64_t begin = now_ + draw_(0, 200);
      const CoreTimes times = run_tiles(shape_.tile, shape_.tiles[core] * share, draw_);
      end = std::max(end, run_core(core, begin, times));
    }
    Row row = writer_.begin_event(runs_, now_, end - now_, writer_.intern(fmt::format("run {}", number)));
    row.integer(kRunCycles, end - now_);
    row.integer(kRunCycles + 1, static_cast<std::int64_t>(cores));
    now_ = end;
  }

  // All its processors begin together; each is done with its own stage.
  std::int64_t run_core(std::size_t core, std::int64_t begin, const CoreTimes& times) {
    const std::array<std::int64_t, kProcessors.size()> lengths = {times.read_ns, times.write_ns, times.compute_ns,
                                                                  times.compute_ns, times.compute_ns};
    std::int64_t end = begin;
    for (std::size_t p = 0; p < kProcessors.size(); ++p) {
      const TrackNumber track = zones_[core * kProcessors.size() + p];
      zone(track, 0, begin, lengths[p] + 2 * kFirmwareNs, fmt::format("{}-FW", kZones[p]));
      zone(track, 1, begin + kFirmwareNs, lengths[p], fmt::format("{}-KERNEL", kZones[p]));
      end = std::max(end, begin + lengths[p] + 2 * kFirmwareNs);
    }
    const std::int64_t at = begin + kFirmwareNs + times.compute_ns;
    total(totals_[core * kProcessors.size() + kUnpacks], at, "CB-COMPUTE-WAIT-FRONT", times.waited_for_data_ns);
    total(totals_[core * kProcessors.size() + kPacks], at, "CB-COMPUTE-RESERVE-BACK", times.waited_for_room_ns);
    return end;
  }

  void zone(TrackNumber track, std::uint32_t depth, std::int64_t begin, std::int64_t length, std::string_view name) {
    const tt::LogColumns at(tt::LogTable::zone);
    Row row = writer_.begin_event_at(track, depth, begin, length, writer_.intern(name));
    row.integer(at[tt::LogField::own], length);
  }

  void total(TrackNumber track, std::int64_t at_ns, std::string_view name, std::int64_t ns) {
    const tt::LogColumns at(tt::LogTable::zone_total);
    Row row = writer_.begin_event(track, at_ns, 0, writer_.intern(name));
    row.unsigned_integer(at[tt::LogField::value], static_cast<std::uint64_t>(ns));
    row.integer(at[tt::LogField::own], ns);
  }

  static constexpr std::size_t kRunCycles = 4;  // behind the ids
  const ChipShape& shape_;
  Draw draw_;
  SessionWriter writer_;
  TrackNumber runs_ = 0;
  std::vector<TrackNumber> zones_, totals_;  // core by core
  std::int64_t now_ = 0;
};

}  // namespace

std::string_view core_defect_name(CoreDefect defect) noexcept { return kCoreDefects[static_cast<std::size_t>(defect)]; }

Result<void> simulate_planted_cores(CoreDefect defect, std::uint64_t seed, bool repaired, EventSink& sink) {
  const ChipShape shape = draw_chip(defect, seed, repaired);
  return PlantedChip(shape, seed, sink).run();
}

std::string planted_core(CoreDefect defect, std::uint64_t seed) {
  const ChipShape shape = draw_chip(defect, seed, false);
  return shape.uneven == SIZE_MAX ? "" : shape.core_name(shape.uneven);
}

}  // namespace accelscope::capture::sim
