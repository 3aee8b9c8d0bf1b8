#include "tests/support/tt_log_generator.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <iterator>
#include <map>
#include <memory>
#include <random>

namespace accelscope::test {
namespace {

struct Risc {
  std::string_view name;
  std::string_view firmware;
  std::string_view kernel;
  std::string_view firmware_file;
  std::string_view kernel_file;
};
constexpr std::array<Risc, 5> kRiscs = {{
    {"BRISC", "BRISC-FW", "BRISC-KERNEL", "tt_metal/hw/firmware/src/brisc.cc", "tt_metal/hw/firmware/src/brisck.cc"},
    {"NCRISC", "NCRISC-FW", "NCRISC-KERNEL", "tt_metal/hw/firmware/src/ncrisc.cc",
     "tt_metal/hw/firmware/src/ncrisck.cc"},
    {"TRISC_0", "TRISC-FW", "TRISC-KERNEL", "tt_metal/hw/firmware/src/trisc.cc", "tt_metal/hw/firmware/src/trisck.cc"},
    {"TRISC_1", "TRISC-FW", "TRISC-KERNEL", "tt_metal/hw/firmware/src/trisc.cc", "tt_metal/hw/firmware/src/trisck.cc"},
    {"TRISC_2", "TRISC-FW", "TRISC-KERNEL", "tt_metal/hw/firmware/src/trisc.cc", "tt_metal/hw/firmware/src/trisck.cc"},
}};
constexpr std::array<std::string_view, 8> kZones = {"READ-TILE", "NOC-WAIT", "UNPACK", "CB-WAIT",
                                                    "MATMUL",    "PACK",     "SYNC",   "WRITE-TILE"};
constexpr std::string_view kKernelFile = "ttnn/cpp/kernels/dataflow/reader_unary.cpp";
constexpr std::string_view kDispatch =
    R"({"workers_runtime_id":2048;"dispatch_command_type":"CQ_DISPATCH_CMD_WAIT";"dispatch_command_subtype":"NONE"})";

[[nodiscard]] bool has_names(TtLogEra era) { return era >= TtLogEra::d; }
[[nodiscard]] bool has_types(TtLogEra era) { return era >= TtLogEra::f; }

// The rows of one processor's run of a program. Times are kept apart by at least a cycle.
class ProgramRun {
 public:
  ProgramRun(const TtLogOptions& options, std::mt19937_64& random, const std::function<void(const TtRow&)>& take,
             const Risc& risc, TtRow row, std::uint64_t& clock)
      : options_(options), random_(random), take_(take), risc_(risc), row_(row), clock_(clock) {}

  void make() {
    const std::uint64_t begin = step(2000);
    const std::uint64_t kernel_begin = step(400);
    make_contents();
    const std::uint64_t kernel_end = step(300);
    const std::uint64_t end = step(400);
    const auto firmware = [&](std::string_view type, std::uint64_t time, std::uint32_t old_timer) {
      zone(type, time, risc_.firmware, 22845, 396, risc_.firmware_file, old_timer, {});
    };
    const auto kernel = [&](std::string_view type, std::uint64_t time, std::uint32_t old_timer) {
      zone(type, time, risc_.kernel, 21766, 49, risc_.kernel_file, old_timer,
           options_.dispatch && type == "ZONE_START" ? kDispatch : std::string_view{});
    };
    firmware("ZONE_START", begin, 1);
    firmware("ZONE_END", end, 4);
    kernel("ZONE_START", kernel_begin, 2);
    kernel("ZONE_END", kernel_end, 3);
    for (const TtRow& row : contents_) take_(row);
  }

 private:
  std::uint64_t step(std::uint64_t most) { return clock_ += 1 + random_() % most; }

  void zone(std::string_view type, std::uint64_t time, std::string_view name, std::uint32_t timer, std::uint32_t line,
            std::string_view file, std::uint32_t old_timer, std::string_view meta_data) {
    TtRow row = row_;
    row.type = type;
    row.time = time;
    row.name = name;
    row.timer_id = timer;
    row.line = line;
    row.file = file;
    row.old_timer_id = old_timer;
    row.meta_data = meta_data;
    take_(row);
  }

  void add(std::string_view type, std::string_view name, std::uint32_t timer, std::uint32_t line, std::uint64_t data) {
    TtRow row = row_;
    row.type = type;
    row.time = step(200);
    row.name = name;
    row.timer_id = timer;
    row.line = line;
    row.file = line == 0 ? std::string_view{} : kKernelFile;
    row.data = data;
    contents_.push_back(row);
  }

  void make_contents() {
    if (has_names(options_.era)) {
      for (std::uint32_t i = 0; i < options_.zones; ++i) {
        const bool nested = i + 1 < options_.zones && i % 2 == 0;
        begin_or_end("ZONE_START", i);
        if (nested) begin_or_end("ZONE_START", i + 1);
        if (nested) begin_or_end("ZONE_END", i + 1);
        begin_or_end("ZONE_END", i);
        if (nested) ++i;
      }
    }
    if (!has_types(options_.era)) return;
    for (std::uint32_t i = 0; i < options_.data; ++i) add("TS_DATA", "", 12345, 0, random_());
    if (options_.totals) add("ZONE_TOTAL", "CB-COMPUTE-WAIT-FRONT", 4711, 88, 1 + random_() % 10000);
    if (options_.events) add("TS_EVENT", "PACKET-SENT", 815, 99, 0);
    if (!options_.counters) return;
    for (const char* counter : {"FPU_COUNTER", "SFPU_COUNTER"}) {
      add("TS_DATA", "", 9090, 0, 0);
      texts_.push_back(std::make_unique<std::string>(fmt::format(R"({{"counter type":"{}";"ref cnt":{};"value":{}}})",
                                                                 counter, 1000 + random_() % 9000, random_() % 1000)));
      contents_.back().meta_data = *texts_.back();
    }
  }

  void begin_or_end(std::string_view type, std::uint32_t zone_number) {
    const std::string_view name = kZones[zone_number % kZones.size()];
    const std::uint32_t line = 20 + 3 * zone_number;
    add(type, name, 1000 + 37 * zone_number, line, 0);
  }

  const TtLogOptions& options_;
  std::mt19937_64& random_;
  const std::function<void(const TtRow&)>& take_;
  const Risc& risc_;
  TtRow row_;
  std::uint64_t& clock_;
  std::vector<TtRow> contents_;
  std::vector<std::unique_ptr<std::string>> texts_;
};

[[nodiscard]] std::string_view old_phase(std::string_view type) { return type == "ZONE_START" ? "begin" : "end  "; }

}  // namespace

std::string tt_log_header(const TtLogOptions& options) {
  constexpr std::string_view kPlace =
      "PCIe slot, core_x, core_y, RISC processor type, timer_id, time[cycles since reset]";
  const std::string chip = fmt::format("ARCH: wormhole_b0, CHIP_FREQ[MHz]: {}", options.frequency_mhz);
  switch (options.era) {
    case TtLogEra::a:
      return {};
    case TtLogEra::b:
      return fmt::format("Chip clock is at {} GHz\n{}\n", options.frequency_mhz / 1000, kPlace);
    case TtLogEra::c:
      return fmt::format("{}\nProgram ID, {}\n", chip, kPlace);
    case TtLogEra::d:
      return fmt::format("{}\n{}, stat value, Run ID, zone name, zone phase, source line, source file\n", chip, kPlace);
    case TtLogEra::e:
      return fmt::format("{}\n{}, stat value, run ID, run host ID,  zone name, zone phase, source line, source file\n",
                         chip, kPlace);
    case TtLogEra::f:
      return fmt::format("{}\n{}, data, run ID, run host ID,  zone name, type, source line, source file, meta data\n",
                         chip, kPlace);
    case TtLogEra::g:
      return fmt::format("{}\n{}, data, run host ID,  zone name, type, source line, source file, meta data\n", chip,
                         kPlace);
    case TtLogEra::h:
      break;
  }
  return fmt::format(
      "{}, Max Compute Cores: {}\n{}, data, run host ID, trace id, trace id counter, zone name, type, source line, "
      "source file, meta data\n",
      chip, options.cores_x * options.cores_y, kPlace);
}

void append_tt_row(const TtRow& row, const TtLogOptions& options, std::string& text) {
  auto out = std::back_inserter(text);
  const std::uint32_t old_timer = row.timer_id + (row.type == "ZONE_END" ? 65536 : 0);
  switch (options.era) {
    case TtLogEra::a:
      fmt::format_to(out, "{}, {}, {}, {}, {}, {}\n", row.chip, row.core_x, row.core_y, row.risc, row.old_timer_id,
                     row.time);
      return;
    case TtLogEra::c:
      fmt::format_to(out, "{},", row.run);
      [[fallthrough]];
    case TtLogEra::b:
      fmt::format_to(out, "{},{},{},{},{},{}\n", row.chip, row.core_x, row.core_y, row.risc, row.old_timer_id,
                     row.time);
      return;
    default:
      break;
  }
  fmt::format_to(out, "{},{},{},{},", row.chip, row.core_x, row.core_y, row.risc);
  switch (options.era) {
    case TtLogEra::d:
      fmt::format_to(out, "{:<6},{},{},{},{:<12},{},{:<3},{}\n", old_timer, row.time, row.data, row.run, row.name,
                     old_phase(row.type), row.line, row.file);
      return;
    case TtLogEra::e:
      fmt::format_to(out, "{:<6},{},{},0,{},{:<12},{},{:<3},{}\n", old_timer, row.time, row.data, row.run, row.name,
                     old_phase(row.type), row.line, row.file);
      return;
    case TtLogEra::f:
      fmt::format_to(out, "{},{},{},0,{},", row.timer_id, row.time, row.data, row.run);
      break;
    case TtLogEra::g:
      fmt::format_to(out, "{},{},{},{},", row.timer_id, row.time, row.data, row.run);
      break;
    default:
      fmt::format_to(out, "{},{},{},{},{},{},", row.timer_id, row.time, row.data, row.run, options.traced ? "5" : "",
                     options.traced ? fmt::format("{}", row.run % 7) : "");
      break;
  }
  fmt::format_to(out, "{},{},{},{},{}\n", row.name, row.type, row.line, row.file, row.meta_data);
}

void generate_tt_rows(const TtLogOptions& options, const std::function<void(const TtRow&)>& take) {
  std::mt19937_64 random(options.seed);
  std::vector<std::uint64_t> clocks;  // by processor
  for (std::uint32_t chip = 0; chip < options.chips; ++chip) {
    const std::uint64_t reset = 2'000'000'000'000 + random() % 1'000'000'000'000;
    clocks.insert(clocks.end(), std::size_t{options.cores_x} * options.cores_y * kRiscs.size(), reset);
  }
  const std::uint32_t per_read = std::max(options.programs_per_read, 1U);
  for (std::uint32_t first = 0; first < options.programs; first += per_read) {
    std::size_t processor = 0;
    for (std::uint32_t core = 0; core < options.chips * options.cores_x * options.cores_y; ++core) {
      const std::uint32_t of_chip = core % (options.cores_x * options.cores_y);
      for (const Risc& risc : kRiscs) {
        for (std::uint32_t program = first; program < std::min(first + per_read, options.programs); ++program) {
          TtRow row;
          row.chip = core / (options.cores_x * options.cores_y);
          row.core_x = 1 + of_chip % options.cores_x;
          row.core_y = 1 + of_chip / options.cores_x;
          row.risc = risc.name;
          row.run = (std::uint64_t{program} + 1) * 1024 + row.chip;
          ProgramRun(options, random, take, risc, row, clocks[processor]).make();
        }
        ++processor;
      }
    }
  }
}

std::string tt_log_text(const TtLogOptions& options) {
  std::string text = tt_log_header(options);
  generate_tt_rows(options, [&](const TtRow& row) { append_tt_row(row, options, text); });
  return text;
}

std::vector<TtZone> tt_log_zones(const TtLogOptions& options) {
  std::vector<TtZone> zones;
  std::map<std::string, std::size_t> open;  // by processor and name: no zone lies in itself
  generate_tt_rows(options, [&](const TtRow& row) {
    const std::string track = fmt::format("core {},{} {}", row.core_x, row.core_y, row.risc);
    const std::string key = fmt::format("{} {} {}", row.chip, track, row.name);
    if (row.type == "ZONE_START") {
      TtZone zone;
      zone.chip = row.chip;
      zone.track = track;
      zone.name = row.name;
      zone.begin = static_cast<std::int64_t>(row.time);
      if (has_names(options.era)) zone.source = fmt::format("{}:{}", row.file, row.line);
      if (options.era >= TtLogEra::c) zone.run = row.run;
      open[key] = zones.size();
      zones.push_back(std::move(zone));
    } else if (row.type == "ZONE_END") {
      zones[open.at(key)].end = static_cast<std::int64_t>(row.time);
    }
  });
  for (TtZone& zone : zones) {
    for (const TtZone& other : zones) {
      const bool around =
          other.chip == zone.chip && other.track == zone.track && other.begin < zone.begin && other.end > zone.end;
      if (around) ++zone.depth;
    }
  }
  std::sort(zones.begin(), zones.end());
  return zones;
}

Result<std::uint64_t> write_tt_log(const TtLogOptions& options, const std::string& path) {
  struct CloseFile {
    void operator()(std::FILE* file) const noexcept { std::fclose(file); }
  };
  const std::unique_ptr<std::FILE, CloseFile> file(std::fopen(path.c_str(), "wb"));
  if (file == nullptr) return Error{fmt::format("{}: cannot be written; check the folder", path)};
  constexpr std::size_t kBufferBytes = 1U << 20;
  std::uint64_t rows = 0;
  bool good = true;
  std::string text = tt_log_header(options);
  const auto flush = [&] {
    good = good && std::fwrite(text.data(), 1, text.size(), file.get()) == text.size();
    text.clear();
  };
  generate_tt_rows(options, [&](const TtRow& row) {
    append_tt_row(row, options, text);
    ++rows;
    if (text.size() >= kBufferBytes) flush();
  });
  flush();
  if (!good) return Error{fmt::format("{}: cannot be written; is the disk full?", path)};
  return rows;
}

}  // namespace accelscope::test
