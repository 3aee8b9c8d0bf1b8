// What the rules are asked with, and the functions that answer, by kind of device. Each adds the findings of one
// device, and which rules it could judge.
#pragma once

#include <optional>

#include "core/analysis/advice/advice.h"
#include "core/analysis/advice/device_sums.h"
#include "core/analysis/advice/idle_causes.h"
#include "core/analysis/collectives/collectives.h"
#include "core/analysis/compilation/compile_events.h"
#include "core/analysis/hotspots/hotspots.h"
#include "core/analysis/replay/host_replay.h"
#include "core/analysis/replay/work_replay.h"
#include "core/base/format.h"

namespace accelscope::analysis {

struct Judgement {
  const QueryContext& query;
  TimeRange range;  // in which the devices work, within the filter's
  const Dependencies* dependencies = nullptr;
  const HostsByProcess& host;
  const std::vector<CompileEvent>& compiling;  // of the whole session, by begin
  const HostReplay* without_host = nullptr;    // null: it cannot be replayed
  bool filtered = false;                       // single events or tracks are left out: their time would look idle
  Advice& advice;

  [[nodiscard]] const Snapshot& snapshot() const noexcept { return *query.snapshot; }
  void judged(RuleId rule) const;
  void not_judged(RuleId rule, std::string why) const;
  // The same, where what the filter leaves of the devices is enough to judge the rule; else false.
  [[nodiscard]] bool judges(RuleId rule) const;
  // A finding of the rule with what all have; `subject` tells several of one device apart.
  [[nodiscard]] Finding finding(RuleId rule, const DeviceSum& device, double saving_ns,
                                const std::string& subject = "") const;
  // The same, that rests on events: their count, line, tracks, stretch, and the terms that find them.
  [[nodiscard]] Finding finding(RuleId rule, const DeviceSum& device, double saving_ns, const EvidenceSum& evidence,
                                std::vector<std::string> terms, const std::string& subject = "") const;
  // What a device would be spared without one of its host's delays; nothing where it cannot be said.
  [[nodiscard]] std::optional<std::int64_t> saving_without(const DeviceSum& device, HostDelay delay) const {
    return without_host == nullptr ? std::nullopt : without_host->saving_ns(device.device, delay);
  }
  // Takes it, if what it saves is worth telling.
  void tell(Finding finding) const;
};

void judge_transfers(const Judgement& judgement, const DeviceSum& device);
// By the figures of the whole session.
[[nodiscard]] Result<void> judge_inputs(const Judgement& judgement, const std::vector<DeviceSum>& devices);
[[nodiscard]] Result<void> judge_engines(const Judgement& judgement, const DeviceSum& device);
[[nodiscard]] Result<void> judge_streams(const Judgement& judgement, const DeviceSum& device);
// Of devices whose dependencies can be replayed, all at once.
[[nodiscard]] Result<void> judge_replayed(const Judgement& judgement, const std::vector<DeviceSum>& devices,
                                          const WorkReplay& replay);
void judge_engine_gaps(const Judgement& judgement, const std::vector<DeviceSum>& devices);
// `collectives`: of the session.
[[nodiscard]] Result<void> judge_ranks(const Judgement& judgement, const std::vector<DeviceSum>& devices,
                                       const Collectives& collectives);
// Copies and collectives. After the rules that name causes of transfers: time that such a cause explains is not told
// once more. has_dependencies: between the events of devices of engines.
[[nodiscard]] Result<void> judge_moves(const Judgement& judgement, const std::vector<DeviceSum>& devices,
                                       const Collectives& collectives, bool has_dependencies);
// What the busiest engine of a device waits for: evidence of the findings of that device.
[[nodiscard]] Result<void> add_waits(const Judgement& judgement, const DeviceSum& device);
void judge_cores(const Judgement& judgement, const DeviceSum& device);
// A kernel ran on the device.
[[nodiscard]] bool is_of(const Hotspot& row, const DeviceSum& device);
// Of devices of streams, by the session's kernels.
void judge_products(const Judgement& judgement, const std::vector<DeviceSum>& devices, const HotspotList& kernels);
[[nodiscard]] Result<void> judge_kernels(const Judgement& judgement, const std::vector<DeviceSum>& devices,
                                         const HotspotList& kernels);
// By counters of the devices' memory, where they were sampled.
[[nodiscard]] Result<void> judge_memory_bound(const Judgement& judgement, const std::vector<DeviceSum>& devices,
                                              const HotspotList& kernels);
[[nodiscard]] Result<void> judge_operations(const Judgement& judgement, const std::vector<DeviceSum>& devices);
[[nodiscard]] Result<void> judge_links(const Judgement& judgement, const std::vector<DeviceSum>& devices);
// Of the whole session's allocators.
[[nodiscard]] Result<void> judge_memory(const QueryContext& query, Advice& advice);
void judge_host(const Judgement& judgement);
void judge_setup(const Judgement& judgement, const std::vector<DeviceSum>& devices);

// Whether gaps of devices are the host's doing: false, and said why, where a profiler made them.
[[nodiscard]] bool judges_gaps(const Judgement& judgement);
// 0 of nothing.
[[nodiscard]] inline double share_of(std::int64_t part, std::int64_t all) noexcept {
  return all > 0 ? static_cast<double>(part) / static_cast<double>(all) : 0;
}
// "4×", "2.5×"
[[nodiscard]] std::string times_text(double times);
// "nc0 throttled for 8.4 µs of its multiplications (40 %), 4.2 µs of it lost", by which kinds of limits, and in a few
// words.
[[nodiscard]] std::string throttled_text(const DeviceSum& device);
[[nodiscard]] std::string throttled_kinds(const Snapshot& snapshot, const DeviceSum& device);
[[nodiscard]] std::string throttled_tab(const DeviceSum& device);
// A value of a search term, in quotes where it has to be.
[[nodiscard]] std::string quoted_term(std::string_view column, std::string_view value);
// Of places only the longest are kept; by time.
void set_places(Finding& finding, std::vector<FindingPlace> places);

}  // namespace accelscope::analysis
