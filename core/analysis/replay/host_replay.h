// How long devices would take if the hosts that feed them were without one of their delays: the work graph run again.
// For savings that are computed, not bounded by gaps: what follows a wait may come late too, and what waits for a slow
// host may hide other waits.
//
//   const auto replay = HostReplay::build(query, {devices, loading});
//   if (*replay) saved = (*replay)->saving_ns("GPU 0", HostDelay::synchronising);  // if it can be said
//
// All hosts of the session are without it at once: they run one program. Nothing comes of a session with too many
// events, of a device of whose events less than kLeastLaunched are known to be launched, nor of a change after which
// delays of devices that nothing explains would make more than kMostUnexplained of the recorded time.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/analysis/replay/changed_graph.h"
#include "core/analysis/time/stretches.h"
#include "core/model/time_range.h"

namespace accelscope::analysis {

enum class HostDelay : std::uint8_t {
  own,            // all that it does but for loading and waiting
  loading,        // of data
  synchronising,  // it waits for no device, but in copies
  copying,        // it waits for no copy in the call that makes it
  tiny_launches,  // what it does before its calls that start tiny kernels, and the pauses before these
};

struct LaunchedWork {
  struct Device {
    std::string name;
    std::vector<TrackNumber> tracks;
    TimeRange stretch;  // of its work
  };
  std::vector<Device> devices;
  std::int64_t tiny_ns = 0;  // shorter kernels are tiny
  // When the processes of hosts load data, by the scope of their source and their number in TrackDevices; settled.
  std::map<std::pair<std::uint32_t, std::size_t>, Stretches> loading;
};

class HostReplay {
 public:
  static constexpr std::size_t kMostEvents = 4'000'000;
  static constexpr double kLeastLaunched = 0.9;
  static constexpr double kMostUnexplained = 0.1;

  // Null where it cannot be replayed. Fails when cancelled.
  [[nodiscard]] static Result<std::unique_ptr<HostReplay>> build(const QueryContext& query, const LaunchedWork& work);

  // Of one of LaunchedWork::devices. At least 0; nothing where it cannot be said.
  [[nodiscard]] std::optional<std::int64_t> saving_ns(std::string_view device, HostDelay without) const {
    const auto found = savings_.find(device);
    return found == savings_.end() ? std::nullopt : found->second[static_cast<std::size_t>(without)];
  }

 private:
  static constexpr std::size_t kDelays = 5;
  std::map<std::string, std::array<std::optional<std::int64_t>, kDelays>, std::less<>> savings_;  // by device
};

}  // namespace accelscope::analysis
