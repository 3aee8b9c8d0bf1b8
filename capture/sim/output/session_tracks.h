// The schemas and tracks of a simulated session, defined up front so that empty rows keep their place.
#pragma once

#include <array>
#include <map>
#include <string>
#include <vector>

#include "capture/sim/kernel/trace.h"
#include "capture/sources/neuron/read/schemas.h"
#include "core/chunk/session_writer.h"

namespace accelscope::capture::sim {

struct DeviceTracks {
  std::array<TrackNumber, kEngineRows> engines = {};
  std::array<TrackNumber, kQueueCount> queues = {};
  std::array<std::array<TrackNumber, kDmaEngines>, kQueueCount> packets = {};
  std::map<int, TrackNumber> semaphores;
  std::map<unsigned, TrackNumber> cc_cores;
  std::array<TrackNumber, 2> memory = {};  // by Pool
  std::array<TrackNumber, kEngineCount> active = {};
  TrackNumber collectives = 0, pending = 0, throughput = 0, hbm = 0, utilization = 0, sbuf = 0, psum = 0;
  TrackNumber throttle = 0, errors = 0, layers = 0, flows = 0;
};

class SessionTracks {
 public:
  explicit SessionTracks(SessionWriter& writer);
  [[nodiscard]] DeviceTracks define_device(std::uint32_t device);
  [[nodiscard]] TrackNumber define_table(sources::neuron::NeuronTable table, std::string name);

 private:
  TrackNumber add(std::string name, std::string kind, sources::neuron::NeuronTable table, std::string unit = "",
                  TrackNumber parent = kNone);

  SessionWriter& writer_;
  std::array<SchemaNumber, sources::neuron::kNeuronTableCount> schemas_ = {};
  std::string device_;
  std::int64_t order_ = 0;
};

}  // namespace accelscope::capture::sim
