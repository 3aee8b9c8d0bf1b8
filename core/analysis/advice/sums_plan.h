// Which lanes device_sums.h reads, and what their events are to the rules: found once, before the pass.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "core/analysis/advice/device_sums.h"
#include "core/analysis/vendors/vendor.h"

namespace accelscope::analysis {

// What a lane's events are to the rules, found once for each lane.
struct LanePlan {
  enum class Part : std::uint8_t { none, work, throttle, runs, totals };
  Part part = Part::none;
  std::size_t device = 0, track = 0;
  TrackNumber number = 0;
  WorkUnit unit = WorkUnit::compute;
  bool covers = true;        // else its time lies in other lanes in more detail
  bool is_stream = false;    // its events are kernels of a stream
  bool names_loads = false;  // its transfers are those that tensors are looked up by
  bool is_packets = false;
  const Vendor* vendor = nullptr;         // of transfers and throttling
  const Vendor* matrix_vendor = nullptr;  // of matrix multiplications
  std::string_view kernel_suffix;         // of a device with runs
  std::size_t core = 0;                   // of such a device
  std::optional<std::size_t> total;       // the column of what a core has summed up
  StringId data_wait = kNone, room_wait = kNone;
  std::optional<std::size_t> line, bytes, from, to, purpose;
  // The vendor's words as the session's strings have them; kNone: no event has it.
  struct Words {
    StringId on_chip = kNone, spill = kNone, program = kNone;
  };
  Words words;
};

struct SumsPlan {
  WorkKinds kinds;
  TrackDevices devices;
  std::vector<LanePlan> lanes;  // by index
  LaneIndices chosen;
  std::vector<DeviceSum> blank;                           // as a worker begins, by device
  std::vector<std::vector<TrackNumber>> core_tracks;      // by device, of each core one
  std::vector<std::map<std::string, std::size_t>> cores;  // by device: their names, and indices among core_tracks

  SumsPlan(const QueryContext& query, const EventFilter& filter);

 private:
  void plan_core(const Snapshot& snapshot, std::size_t t, const ProgramTables& program, LanePlan& plan);
  void plan_track(const Snapshot& snapshot, std::size_t t, LanePlan plan, bool has_transfers);
  [[nodiscard]] LanePlan plan_of(const Snapshot& snapshot, std::size_t t) const;
  void note(const LanePlan& plan, const LaneSnapshot& lane);
  void add_tensors(const QueryContext& query);
};

}  // namespace accelscope::analysis
