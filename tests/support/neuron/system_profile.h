// A small system profile as tables of Parquet and as JSON: two machines, two processes on the first of them, each with
// a core of its own that is number 0 in its process. Every worker runs kSteps steps; all figures of a step are below.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace accelscope::test {

struct SystemEvent {
  std::int64_t id = 0;
  std::string name;
  std::int64_t start = 0;  // ns since 1970
  std::int64_t end = 0;
  std::string source;  // "neuron_rt"
  std::string instance;
  std::int64_t process = 0;
  std::int64_t thread = 0;
  std::int64_t core = -1;  // -1: not stated
  std::int64_t worker = -1;
  std::vector<std::string> flows = {};
  std::string attributes = {};  // JSON
};

struct HbmSample {
  std::int64_t time = 0;
  std::int64_t weights = 0;
  std::int64_t tensors = 0;
};

struct ListedProfile {
  std::string name;
  std::string instance;
  std::int64_t process = 0;
  std::int64_t core = 0;
  std::int64_t model = -1;
};

struct SystemRun {
  static constexpr std::int64_t kBegin = 1'766'072'156'000'000'000;
  static constexpr std::int64_t kStep = 1'000'000;  // ns
  static constexpr int kSteps = 2;
  // Of one worker and step.
  static constexpr std::int64_t kWritten = 1'000'000;     // bytes, by a write with a copy of as many within
  static constexpr std::int64_t kBatch = 600'000;         // by a batch, 500,000 of them in two copies within
  static constexpr std::int64_t kRead = 250'000;          // by a read with a copy of as many within
  static constexpr std::int64_t kExecutedFrom = 250'000;  // ns after the step's begin
  static constexpr std::int64_t kExecuted = 400'000;      // ns
  static constexpr std::int64_t kDeviceBehind = 1'700'000'000'000'000'000;  // ns, the devices' clocks behind 1970
  static constexpr std::int64_t kCapacity = 24LL << 30;

  std::vector<SystemEvent> events;
  std::vector<HbmSample> hbm;  // HBM 1 of device 0 of the first machine
  std::vector<ListedProfile> listed;
};

[[nodiscard]] SystemRun system_run();
void write_system_tables(const SystemRun& run, const std::filesystem::path& folder);
[[nodiscard]] std::string system_json(const SystemRun& run);
// A profile of a device that counts from 0: engines work from `first` for `length` ns.
void write_device_tables(const std::filesystem::path& folder, std::int64_t first, std::int64_t length,
                         const std::string& first_date);

}  // namespace accelscope::test
