// The memory hierarchy of a device over a range: its memories and engines, what went from one to the other, how fast,
// and which path limits.
//
//   const auto levels = memory_levels(query, range, edits);   // one for each device with work that moves bytes
//
// active    = time in which device work that passes is under way, a union
// bandwidth = bytes of the path / active
// share     = bandwidth / peak; of paths that one peak serves together each has its own part of it
// ideal     = bytes / peak: how long the path would take by itself
//             (a copy within the device's memory reads and writes it: its bytes count twice against the peak)
// busy      = time in which something moves on the path, a union; rate while busy = bytes / busy
// Of work that states neither operations nor bytes both are its share of what counters of its device sampled
// (sampled_amounts.h); copies state theirs.
// Paths that transfers serve are timed by the transfers. Where a filter lets the instructions pass that set them off,
// and not the transfers, the bytes are known and the time is not: bandwidth and share are missing then.
//
// Limiting is the peak (of a memory, of compute) whose share of the active time would be largest; it limits from
// kLeastLimit of its peak on, or where the transfers that serve it are small and under way for most of the time. Below
// that nothing does: latency, dependencies or waiting for others bound the work; unless more than kMostUnstated of the
// active time goes to work that states no bytes, as kernels of a trace of runtime calls: then it is not known.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/analysis/peaks/peaks.h"
#include "core/analysis/roofline/roofline.h"
#include "core/analysis/vendors/vendor.h"
#include "core/scan/chunk_scan.h"

namespace accelscope::analysis {

inline constexpr double kLeastLimit = 0.6;           // of a peak
inline constexpr double kSmallTransferBytes = 4096;  // below this a transfer costs more than a fifth of its time
inline constexpr double kSignalBytes = 64;           // transfers up to this only signal: they move no data
inline constexpr double kBusyTransfers = 0.8;        // of the active time
inline constexpr double kMostUnstated = 0.1;         // of the active time in work that states no bytes

struct LevelPath {
  std::string from, to;  // names of boxes
  std::string peak;      // of core/analysis/peaks; "": none is known for it
  double bytes = 0;
  std::uint64_t count = 0;  // of the events that tell of them
  std::optional<std::int64_t> busy_ns;
  bool by_transfers = false;
  std::optional<double> bandwidth, peak_value, share, ideal_ns;  // B/s, B/s, of 1, ns
  bool limiting = false;
};

struct LevelBox {
  std::string name, title;
  MemoryBox::Kind kind = MemoryBox::Kind::memory;
  bool is_matrix = false;  // the engine that operations are counted of
  int row = 0, column = 0;
  bool can_have_peak = false;        // core/analysis/peaks has a row for it
  std::optional<double> peak_value;  // of a memory or mover
  std::optional<std::uint64_t> capacity_bytes;
  double read_bytes = 0, written_bytes = 0;  // out of it, into it
  std::int64_t busy_ns = 0;                  // of a mover or engine
  std::uint64_t count = 0;                   // transfers of a mover, events of an engine
};

struct DeviceLevels {
  std::string device;
  PeakList peaks;
  std::int64_t active_ns = 0;
  double flops = 0;
  bool is_sampled = false;              // from counters, where work states nothing
  std::optional<double> compute_share;  // of the highest compute peak
  bool compute_limits = false;
  TransferSize transfers;
  std::uint64_t transfer_count = 0;  // without those that only signal
  std::vector<LevelBox> boxes;
  std::vector<LevelPath> paths;  // those with bytes
  std::string reason;            // of what limits: "descriptors of 512 B", "98.1 % of the peak of HBM"
  std::string note;              // what is not known
};

struct MemoryLevels {
  std::vector<DeviceLevels> devices;
};

[[nodiscard]] Result<std::shared_ptr<const MemoryLevels>> memory_levels(const QueryContext& query,
                                                                        const TimeRange& range,
                                                                        const PeakEdits& edits = {});

}  // namespace accelscope::analysis
