// Writes traces as Tracy saves them, of any version from 0.9 to 0.14, for tests, fuzzing and benchmarks: from a model
// of what is in them, section by section in the profiler's order.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace accelscope::test {

struct TracyRelease {
  std::uint8_t minor = 10;
  std::uint8_t patch = 0;
  bool tenstorrent = false;  // tt-metal's variant of 0.13.4
  auto operator<=>(const TracyRelease&) const = default;
};
// One for every form that the file has had, and the newest.
[[nodiscard]] std::vector<TracyRelease> tracy_releases();

struct TracyPacking {
  bool zstd = false;
  std::uint8_t streams = 0;  // 0: the container of old, with one
  bool unpacked = false;     // no container at all
};

// Bytes into packed blocks.
class TracyPacker {
 public:
  explicit TracyPacker(TracyPacking packing);
  ~TracyPacker();
  TracyPacker(const TracyPacker&) = delete;
  TracyPacker& operator=(const TracyPacker&) = delete;

  void bytes(const void* data, std::size_t size);
  template <typename Number>
  void number(Number value) {
    bytes(&value, sizeof value);
  }
  void number24(std::uint32_t value) { bytes(&value, 3); }
  void text(std::string_view text) {
    number<std::uint64_t>(text.size());
    bytes(text.data(), text.size());
  }
  // The file, of all bytes so far. Ends the packer.
  [[nodiscard]] std::string finish();

 private:
  struct Packing;
  void pack();
  std::unique_ptr<Packing> packing_;
};

struct TracyModelPlace {
  std::string name;  // "": none, and the function stands for it
  std::string function;
  std::string file;
  std::uint32_t line = 0;
};
struct TracyModelZone {
  std::size_t place = 0;
  std::int64_t begin = 0;
  std::int64_t end = 0;  // -1: it had not ended
  std::string name;
  std::string text;
  std::uint32_t stack = 0;
  std::vector<TracyModelZone> inner;
};
struct TracyModelMessage {
  std::int64_t time = 0;
  std::string text;
  std::uint8_t severity = 2;
};
struct TracyModelThread {
  std::uint64_t id = 0;
  std::string name;
  std::uint64_t generated = 0;  // so many zones besides, made while they are written: nine lie in one
  std::vector<TracyModelZone> zones;
  std::vector<TracyModelMessage> messages;
  std::vector<std::pair<std::int64_t, std::uint32_t>> samples;  // time, call stack
  std::vector<std::array<std::int64_t, 4>> ran;                 // woken, begin, end, processor
};
struct TracyModelFrames {
  std::string name;  // "": the first set of all
  bool continuous = true;
  std::vector<std::pair<std::int64_t, std::int64_t>> frames;
};
struct TracyModelSection {
  std::int64_t begin = 0;
  std::int64_t end = 0;
  std::string text;
};
struct TracyModelLock {
  std::uint32_t number = 0;
  std::string name;
  std::vector<std::uint64_t> threads;
  struct Event {
    std::int64_t time = 0;
    std::uint8_t thread = 0;
    std::uint8_t step = 0;  // wait, obtain, release, and the same to share
  };
  std::vector<Event> events;
};
struct TracyModelGpuZone {
  std::size_t place = 0;
  std::int64_t cpu_begin = 0;
  std::int64_t cpu_end = 0;
  std::int64_t begin = 0;  // -1: its time never came
  std::int64_t end = 0;
  std::uint64_t thread = 0;
  std::uint16_t query = 0;
  std::vector<TracyModelGpuZone> inner;
};
struct TracyModelGpu {
  std::string name;
  std::uint8_t type = 2;
  std::map<std::uint64_t, std::vector<TracyModelGpuZone>> threads;
  struct Note {
    std::uint16_t query = 0;
    std::string name;
    double value = 0;
  };
  std::vector<Note> notes;  // since 0.12.4
  struct Marker {
    std::int64_t time = 0;
    std::size_t place = 0;
    std::string meta;
  };
  std::map<std::uint64_t, std::vector<Marker>> markers;  // of tt-metal's variant
};
struct TracyModelPlot {
  std::string name;
  std::uint8_t type = 0;
  std::uint8_t format = 0;
  std::vector<std::pair<std::int64_t, double>> samples;
};
struct TracyModelPool {
  std::string name;  // "": the program's memory
  struct Use {
    std::uint64_t address = 0;
    std::uint64_t bytes = 0;
    std::int64_t allocated = 0;
    std::int64_t released = -1;
    std::uint64_t thread = 0;
  };
  std::vector<Use> uses;
};
struct TracyModelProcessor {
  std::vector<std::array<std::int64_t, 3>> ran;  // begin, end, thread
};

struct TracyModel {
  std::string program = "program";
  std::int64_t last_time = 0;
  std::vector<TracyModelPlace> places;
  std::vector<TracyModelFrames> frames;
  std::vector<TracyModelSection> sections;
  std::vector<TracyModelThread> threads;
  std::vector<TracyModelLock> locks;
  std::vector<TracyModelGpu> gpus;
  std::vector<TracyModelPlot> plots;
  std::vector<TracyModelPool> pools;
  std::vector<std::vector<std::string>> stacks;  // functions, the innermost first
  std::vector<TracyModelProcessor> processors;
  std::map<std::string, std::string> source_files;
  std::uint32_t images = 0;
  std::uint32_t symbols = 0;
  std::uint32_t hardware_samples = 0;
};

[[nodiscard]] std::string tracy_trace(const TracyModel& model, TracyRelease release, TracyPacking packing = {});
// The same bytes before they are packed.
[[nodiscard]] std::string tracy_trace_unpacked(const TracyModel& model, TracyRelease release);
// One thread with so many zones, ten of which lie in one; made while it is written.
[[nodiscard]] std::string tracy_trace_of_zones(std::uint64_t zones, TracyPacking packing);

// A trace with something in every section.
[[nodiscard]] TracyModel rich_tracy_model(std::uint64_t seed);

}  // namespace accelscope::test
