// Which device every track of a session belongs to, for figures of one device each. A device is named as its tracks
// name it ("nc0"), tracks of a host by the host. Where devices of several hosts are in the session their hosts are part
// of their names, "trn1 nc0" and "trn2 nc0", but for ranks whose numbers say enough. Two sources of one host that name
// theirs alike get "nc0" and "nc0 (2)", but for a process, "python3 (4711)", which is one whoever tells of it.
//
// A device that is made of others is named by them: "nc4+nc5" is the logical core of the physical cores "nc4" and
// "nc5", and "rank 3 nc4+nc5" that of "rank 3 nc4" and "rank 3 nc5". Its own tracks hold what the parts share.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "core/scan/chunk_scan.h"
#include "core/store/snapshot.h"

namespace accelscope::analysis {

// "python3 (4711)": a process and its number, which no other of its host has at the time.
[[nodiscard]] bool is_process_label(std::string_view label) noexcept;

// The devices that one is made of; none where it is one by itself.
[[nodiscard]] std::vector<std::string> parts_of_device(std::string_view device);

// "rank 37" of "rank 37 nc5"; "" where the device names no rank.
[[nodiscard]] std::string_view rank_of_device(std::string_view device) noexcept;

// The hosts whose devices work, as the session's tracks name them; a process is none.
[[nodiscard]] std::set<std::string> device_hosts(const Snapshot& snapshot);

class TrackDevices {
 public:
  explicit TrackDevices(const Snapshot& snapshot);

  [[nodiscard]] std::size_t count() const noexcept { return labels_.size(); }  // in the order of their first tracks
  [[nodiscard]] const std::string& label(std::size_t device) const noexcept { return labels_[device]; }
  // The label without the number that tells sources of one host apart.
  [[nodiscard]] const std::string& name(std::size_t device) const noexcept { return names_[device]; }
  [[nodiscard]] std::size_t of_track(std::size_t track) const noexcept { return devices_[track]; }  // of its index
  [[nodiscard]] std::size_t of_lane(std::size_t lane) const noexcept { return lane_devices_[lane]; }
  [[nodiscard]] const TrackSnapshot& track_of_lane(std::size_t lane) const noexcept { return *lane_tracks_[lane]; }
  // Those it is made of, in the order of its name; empty for most.
  [[nodiscard]] const std::vector<std::size_t>& parts(std::size_t device) const noexcept { return parts_[device]; }

 private:
  std::vector<std::string> labels_;
  std::vector<std::string> names_;
  std::vector<std::vector<std::size_t>> parts_;
  std::vector<std::size_t> devices_;
  std::vector<std::size_t> lane_devices_;
  std::vector<const TrackSnapshot*> lane_tracks_;  // of the snapshot, which must outlive this
};

// Which tracks show what one stream of a device ran, each another kind of it: kernels, collectives, copies, sets of
// memory. A stream (a queue in order, a core that runs its operations one by one) is one server: what it was given runs
// in order, whatever tracks it is drawn on.
//
// Tracks of one stream share their device and their names but for words before or after that say what they show of it:
// "stream 7", "NCCL, stream 7", "memcpy stream 7"; "XLA Ops", "XLA Ops, collectives"; "queue 1", "queue 1 transfers".
class DeviceStreams {
 public:
  explicit DeviceStreams(const Snapshot& snapshot);

  // The number of the stream that a track of work shows, or, of waits, the one that waited; nothing where it shows
  // none: engines and DMA queues that are servers of their own.
  [[nodiscard]] std::optional<std::size_t> of_track(TrackNumber track) const;
  // That of the name, "stream 7", on the device of a track that shows one.
  [[nodiscard]] std::optional<std::size_t> beside(TrackNumber track, const std::string& name) const;

 private:
  using Key = std::tuple<std::uint32_t, std::string, std::string, std::string>;  // scope, host, device, stream
  std::map<TrackNumber, std::size_t> of_track_;
  std::map<Key, std::size_t> by_name_;
  std::vector<const Key*> names_;  // by number
};

}  // namespace accelscope::analysis
