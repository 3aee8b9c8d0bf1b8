// The rules about engines whose dependencies are known: what mending saves is what a replay of the session gives.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "core/analysis/advice/judgement.h"
#include "core/analysis/time/track_devices.h"
#include "core/base/format.h"

namespace accelscope::analysis {
namespace {

// What saves less of the whole is within what seeds and jitter do.
constexpr double kLeastReplayedShare = 0.03;
constexpr std::string_view kReplayedReported = "a replay saves 3 % of the time and more";
constexpr std::size_t kMostBufferWaits = 16;  // each is replayed

class ReplayJudge {
 public:
  ReplayJudge(const Judgement& judgement, const std::vector<DeviceSum>& devices, const WorkReplay& replay)
      : judgement_(judgement),
        devices_(devices),
        replay_(replay),
        repairs_(replay.repairs()),
        labels_(judgement.snapshot()) {}

  Result<void> judge() {
    judge_tensors();
    judge_spilled();
    judge_packets();
    judge_limits();
    judge_turned();
    judge_tiles();
    judge_buffers();
    judge_requests();
    return std::move(failed_);
  }

 private:
  [[nodiscard]] std::string text(StringId id) const { return std::string(judgement_.snapshot().strings->text(id)); }
  [[nodiscard]] bool is_judged(const DeviceSum& device) const {
    for (std::uint32_t d = 0; d < labels_.count(); ++d) {
      if (labels_.label(d) == device.device) return replay_.has_engines(d);
    }
    return false;
  }
  [[nodiscard]] const DeviceSum& device_of(const Repaired& repaired) const {
    std::uint32_t first = repaired.events.front().device;  // of several the first
    for (const RepairedEvent& each : repaired.events) first = std::min(first, each.device);
    const std::string& label = labels_.label(first);
    const auto found = std::ranges::find_if(devices_, [&](const DeviceSum& each) { return each.device == label; });
    return found == devices_.end() ? devices_.front() : *found;
  }

  // Bytes of what is mended on the device, and how many others it is mended on: " on nc0, as on 3 others"; "" for none.
  struct DeviceShare {
    std::uint64_t bytes = 0;
    std::string others;
  };
  [[nodiscard]] DeviceShare share_of_device(const Repaired& repaired, const DeviceSum& device) const {
    DeviceShare share;
    std::set<std::uint32_t> others;
    for (const RepairedEvent& each : repaired.events) {
      if (labels_.label(each.device) == device.device) {
        share.bytes += each.bytes;
      } else {
        others.insert(each.device);
      }
    }
    if (!others.empty())
      share.others = fmt::format(
          " on {}, as on {}", device.device,
          others.size() == 1 ? labels_.label(*others.begin()) : fmt::format("{} other devices", others.size()));
    return share;
  }

  // The finding of a mending, without its words; nothing where it saves too little. `change` as what-if has it.
  std::optional<Finding> finding(RuleId rule, const Repaired& repaired, const ChangedGraph& changed, std::string change,
                                 std::vector<std::string> terms, const std::string& subject = "") {
    const auto saved = replay_.saving(changed);
    if (!saved) {
      failed_ = saved.error();
      return std::nullopt;
    }
    const double share =
        static_cast<double>(saved->most_ns) / static_cast<double>(std::max<std::int64_t>(1, replay_.total_ns()));
    if (share < std::max(kLeastReplayedShare, rule_of(rule).least_share)) return std::nullopt;
    EvidenceSum evidence;
    for (const RepairedEvent& each : repaired.events) {
      const LaneSnapshot* lane = judgement_.snapshot().find_lane(lane_of(each.event));
      if (lane == nullptr) continue;
      evidence.add(each.event, lane->track, each.begin_ns, each.end_ns, each.bytes, each.line, true);
    }
    evidence.clear_open();
    Finding made = judgement_.finding(rule, device_of(repaired), static_cast<double>(saved->most_ns), evidence,
                                      std::move(terms), subject);
    made.share = share;
    made.least_ns = saved->least_ns;
    made.is_replayed = saved->least_ns == saved->most_ns;
    made.change = std::move(change);
    return made;
  }
  void tell(std::optional<Finding> found, std::string headline, std::string tab) const {
    if (!found) return;
    found->headline = std::move(headline);
    found->tab = std::move(tab);
    judgement_.tell(std::move(*found));
  }

  void judge_tensors() {
    judgement_.judged(RuleId::reloaded_tensor);
    const Vendor& words = vendors().front();
    for (const DeviceSum& device : devices_) {
      if (!is_judged(device)) continue;
      for (const auto& [name, tensor] : device.tensors) {
        if (tensor.size == 0 || tensor.loads.count == 0) continue;
        const double times = static_cast<double>(tensor.loads.bytes) / static_cast<double>(tensor.size);
        if (!(times > rule_of(RuleId::reloaded_tensor).threshold)) continue;
        ChangedGraph changed(replay_.graph());
        const auto repaired = repairs_.keep_tensor(name, static_cast<std::int64_t>(tensor.size), changed);
        if (!repaired) continue;
        const DeviceShare own = share_of_device(*repaired, device);
        tell(
            finding(RuleId::reloaded_tensor, *repaired, changed, "drop reload of " + tensor.name,
                    {quoted_term("name", tensor.name), quoted_term(words.to_column, words.on_chip_place)}, tensor.name),
            fmt::format("{} loaded {}: {} read again{}", tensor.name, times_text(times), format_bytes(own.bytes),
                        own.others),
            fmt::format("{} loaded {}", tensor.name, times_text(times)));
      }
      break;  // the program is that of all
    }
  }

  void judge_spilled() {
    judgement_.judged(RuleId::spills);
    ChangedGraph changed(replay_.graph());
    const auto repaired = repairs_.drop_spills(changed);
    if (!repaired) return;
    const DeviceSum& device = device_of(*repaired);
    if (device.reloaded_bytes == 0) {  // no source calls it a spill: what is written is read back
      const NodeIndex first = replay_.graph().find(repaired->events.front().event);
      const std::string name = first == kNoNode ? std::string() : text(replay_.graph().names[first]);
      const DeviceShare own = share_of_device(*repaired, device);
      const std::string moved = format_bytes(own.bytes) + own.others;  // that come back
      return tell(finding(RuleId::spills, *repaired, changed, "drop spills", {quoted_term("name", name)}),
                  fmt::format("{} go to device memory and come back, in {} transfers that are waited for", moved,
                              format_count(repaired->events.size())),
                  fmt::format("{} to device memory and back", moved));
    }
    const double read = static_cast<double>(std::max<std::uint64_t>(1, device.off_chip_read));
    const auto reloaded = static_cast<double>(device.reloaded_bytes);
    const Vendor& words = vendors().front();
    auto made =
        finding(RuleId::spills, *repaired, changed, "drop spills", {quoted_term(words.from_column, words.spill_place)});
    if (made) made->reported = kReplayedReported;
    tell(std::move(made),
         fmt::format("{} spilled and {} reloaded, {} of what is read{}", format_bytes(device.saved_bytes),
                     format_bytes(reloaded), format_share(reloaded / read), share_of_device(*repaired, device).others),
         fmt::format("{} reloaded after spills", format_bytes(reloaded)));
  }

  void judge_packets() {
    judgement_.judged(RuleId::small_transfers);
    const double least = rule_of(RuleId::small_transfers).threshold;
    const std::size_t count = repairs_.transfers_of(2 * least);
    ChangedGraph changed(replay_.graph());
    const auto repaired = repairs_.merge_transfers(kNone, count, changed);
    if (!repaired) return;
    const DeviceSum& device = device_of(*repaired);
    const double mean =
        static_cast<double>(device.small.bytes) / static_cast<double>(std::max<std::uint64_t>(1, device.small.count));
    tell(finding(RuleId::small_transfers, *repaired, changed, fmt::format("merge dmas x{}", count),
                 {fmt::format("bytes<{:.0f}", least), fmt::format("bytes>{}", vendors().front().no_payload_bytes)}),
         fmt::format("{} of {} packets below 2 KiB, ⌀ {}", format_count(device.small.count),
                     format_count(device.packets), format_bytes(mean)),
         fmt::format("DMA packets of ⌀ {}", format_bytes(mean)));
  }

  void judge_limits() {
    const DeviceSum* most = nullptr;
    for (const DeviceSum& device : devices_) {
      if (!device.has_limits) continue;
      judgement_.judged(RuleId::throttling);
      if (most == nullptr || device.throttled_ns > most->throttled_ns) most = &device;
    }
    if (most == nullptr) return;
    ChangedGraph changed(replay_.graph());
    const auto repaired = repairs_.lift_limits(changed);
    if (!repaired) return;
    auto found = finding(RuleId::throttling, *repaired, changed, "lift throttling", {});
    if (found) {
      Finding limits = judgement_.finding(RuleId::throttling, *most, 0, most->throttled, {});
      found->source.clear();  // no line is the cause: the device is slowed down as a whole
      found->tracks = limits.tracks;
      found->events = limits.events;
      found->count = limits.count;
      found->first = limits.first;
      found->places = limits.places;
      found->evidence = throttled_kinds(judgement_.snapshot(), *most);
    }
    tell(std::move(found), throttled_text(*most), throttled_tab(*most));
  }

  void judge_turned() {
    judgement_.judged(RuleId::transposes);
    ChangedGraph changed(replay_.graph());
    const auto repaired = repairs_.drop_transposes(changed);
    if (!repaired) return;
    const DeviceSum& device = device_of(*repaired);
    const auto turning = static_cast<double>(device.transposes.time.length_ns());
    const double all = turning + static_cast<double>(device.multiplications.time.length_ns());
    if (turning <= rule_of(RuleId::transposes).threshold * all) return;
    tell(finding(RuleId::transposes, *repaired, changed, "drop transposes",
                 {std::string(vendors().front().transpose_term)}),
         fmt::format("{} of the matrix engine's time goes to transposes, {} of them", format_share(turning / all),
                     format_count(device.transposes.count)),
         fmt::format("transposes {}", format_duration(turning)));
  }

  void judge_tiles() {
    judgement_.judged(RuleId::low_utilisation);
    ChangedGraph changed(replay_.graph());
    const auto repaired = repairs_.widen_tiles(changed);
    if (!repaired) return;
    const Vendor& words = vendors().front();
    const double columns = repairs_.columns_of(repaired->events.front().event);
    auto made = finding(RuleId::low_utilisation, *repaired, changed, "widen tiles", {std::string(words.multiply_term)});
    if (made) made->reported = kReplayedReported;
    tell(std::move(made),
         fmt::format("{} multiplications move {} columns, {:.0f} would do", format_count(repaired->events.size()),
                     format_number(columns), words.widest_columns),
         fmt::format("tiles of {} columns", format_number(columns)));
  }

  void judge_buffers() {
    judgement_.judged(RuleId::serial_engines);
    judgement_.judged(RuleId::single_buffer);
    std::vector<Repairs::BufferWait> waits = repairs_.buffer_waits();
    waits.resize(std::min(waits.size(), kMostBufferWaits));
    for (const Repairs::BufferWait& each : waits) {
      const RuleId rule = each.loads ? RuleId::single_buffer : RuleId::serial_engines;
      ChangedGraph changed(replay_.graph());
      const auto repaired = repairs_.double_buffers(each, changed);
      if (!repaired) continue;
      const std::string what = text(each.name), releaser = text(each.releaser), line = text(each.line);
      const std::string change =
          fmt::format("double buffers of {} after {}{}", what, releaser, line.empty() ? "" : " at " + line);
      auto made = finding(rule, *repaired, changed, change, {quoted_term("name", what)}, what + " " + line);
      if (made && !each.loads) made->reported = kReplayedReported;  // a replay says more than shares of time
      tell(std::move(made),
           each.loads
               ? fmt::format("{} has one buffer that {} must have used before the next load: twice the buffers "
                             "would hide the loads",
                             what, releaser)
               : fmt::format("{} writes into buffers that {} must have emptied: twice the buffers would let both "
                             "work at once",
                             what, releaser),
           each.loads ? fmt::format("{} loaded too late", what) : fmt::format("too few buffers of {}", what));
    }
  }

  void judge_requests() {
    judgement_.judged(RuleId::late_collective);
    for (const Repairs::LateCollective& each : repairs_.late_collectives()) {
      ChangedGraph changed(replay_.graph());
      const auto repaired = repairs_.ask_early(each, changed);
      if (!repaired) continue;
      const std::string name = text(each.name), line = text(each.line);
      const std::string change = fmt::format("ask early for {}{}", name, line.empty() ? "" : " at " + line);
      tell(finding(RuleId::late_collective, *repaired, changed, change, {quoted_term("name", name)}, name + " " + line),
           fmt::format("{} asked for long after its data were there", name), fmt::format("{} late", name));
    }
  }

  const Judgement& judgement_;
  const std::vector<DeviceSum>& devices_;
  const WorkReplay& replay_;
  const Repairs& repairs_;
  TrackDevices labels_;
  Result<void> failed_;
};

}  // namespace

Result<void> judge_replayed(const Judgement& judgement, const std::vector<DeviceSum>& devices,
                            const WorkReplay& replay) {
  return ReplayJudge(judgement, devices, replay).judge();
}

}  // namespace accelscope::analysis
