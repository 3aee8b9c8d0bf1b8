// The rules about engines whose dependencies are known: what mending saves is what a replay of the session gives.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/analysis/advice/judgement.h"
#include "core/analysis/replay/mendings.h"
#include "core/base/format.h"

namespace accelscope {
namespace {

// What saves less of the whole is within what seeds and jitter do.
constexpr double kLeastReplayedShare = 0.03;

class ReplayJudge {
 public:
  ReplayJudge(const Judgement& judgement, const std::vector<DeviceSum>& devices, const WorkReplay& replay)
      : judgement_(judgement),
        devices_(devices),
        replay_(replay),
        labels_(judgement.snapshot()),
        mendings_(replay, judgement.snapshot()) {}

  void judge() {
    judge_tensors();
    judge_spilled();
    judge_packets();
    judge_limits();
    judge_turned();
    judge_tiles();
    judge_buffers();
    judge_requests();
  }

 private:
  [[nodiscard]] std::string text(StringId id) const { return std::string(judgement_.snapshot().strings->text(id)); }
  [[nodiscard]] bool is_judged(const DeviceSum& device) const {
    for (std::uint32_t d = 0; d < labels_.count(); ++d) {
      if (labels_.label(d) == device.device) return replay_.replays(d);
    }
    return false;
  }
  [[nodiscard]] const DeviceSum& device_of(std::uint32_t node) const {
    const std::string& label = labels_.label(replay_.nodes()[node].device);
    const auto found =
        std::find_if(devices_.begin(), devices_.end(), [&](const DeviceSum& each) { return each.device == label; });
    return found == devices_.end() ? devices_.front() : *found;
  }

  // The finding of a mending, without its words; nothing where it saves too little.
  std::optional<Finding> finding(RuleId rule, const Mending& mending, std::vector<std::string> terms,
                                 const std::string& subject = "") const {
    const std::int64_t saved = replay_.total_ns() - replay_.total_ns(mending.change);
    const double share =
        static_cast<double>(saved) / static_cast<double>(std::max<std::int64_t>(1, replay_.total_ns()));
    if (share < std::max(kLeastReplayedShare, rule_of(rule).least_share)) return std::nullopt;
    EvidenceSum evidence;
    for (const std::uint32_t i : mending.nodes) {
      const ReplayNode& node = replay_.nodes()[i];
      evidence.add(node.event, judgement_.snapshot().tracks[node.track].track->number, node.begin_ns, node.end_ns,
                   node.bytes, node.line, true);
    }
    evidence.clear_open();
    Finding made = judgement_.finding(rule, device_of(mending.nodes.front()), static_cast<double>(saved), evidence,
                                      std::move(terms), subject);
    made.share = share;
    made.is_replayed = true;
    return made;
  }
  void tell(std::optional<Finding> found, std::string headline, std::string tab) const {
    if (!found) return;
    found->headline = std::move(headline);
    found->tab = std::move(tab);
    judgement_.tell(std::move(*found));
  }

  void judge_tensors() const {
    judgement_.judged(RuleId::reloaded_tensor);
    const Vendor& words = vendors().front();
    for (const DeviceSum& device : devices_) {
      if (!is_judged(device)) continue;
      for (const auto& [name, tensor] : device.tensors) {
        if (tensor.size == 0 || tensor.loads.count == 0) continue;
        const double times = static_cast<double>(tensor.loads.bytes) / static_cast<double>(tensor.size);
        if (!(times > rule_of(RuleId::reloaded_tensor).threshold)) continue;
        const auto mending = mendings_.keep_tensor(name, tensor.size);
        if (!mending) continue;
        tell(
            finding(RuleId::reloaded_tensor, *mending,
                    {quoted_term("name", tensor.name), quoted_term(words.to_column, words.on_chip_place)}, tensor.name),
            fmt::format("{} loaded {}: {} read again", tensor.name, times_text(times),
                        format_bytes(static_cast<double>(mending->bytes))),
            fmt::format("{} loaded {}", tensor.name, times_text(times)));
      }
      break;  // the program is that of all
    }
  }

  void judge_spilled() const {
    judgement_.judged(RuleId::spills);
    const auto mending = mendings_.drop_spills();
    if (!mending) return;
    const DeviceSum& device = device_of(mending->nodes.front());
    const double read = static_cast<double>(std::max<std::uint64_t>(1, device.off_chip_read));
    const auto reloaded = static_cast<double>(device.reloaded_bytes);
    const Vendor& words = vendors().front();
    tell(finding(RuleId::spills, *mending, {quoted_term(words.from_column, words.spill_place)}),
         fmt::format("{} spilled and {} reloaded, {} of what is read",
                     format_bytes(static_cast<double>(device.saved_bytes)), format_bytes(reloaded),
                     format_share(reloaded / read)),
         fmt::format("{} reloaded after spills", format_bytes(reloaded)));
  }

  void judge_packets() const {
    judgement_.judged(RuleId::small_transfers);
    const double least = rule_of(RuleId::small_transfers).threshold;
    const auto mending = mendings_.merge_transfers(least, 2 * least);
    if (!mending) return;
    const DeviceSum& device = device_of(mending->nodes.front());
    const double mean =
        static_cast<double>(device.small.bytes) / static_cast<double>(std::max<std::uint64_t>(1, device.small.count));
    tell(finding(RuleId::small_transfers, *mending,
                 {fmt::format("bytes<{:.0f}", least), fmt::format("bytes>{}", vendors().front().no_payload_bytes)}),
         fmt::format("{} of {} packets below 2 KiB, ⌀ {}", format_count(device.small.count),
                     format_count(device.packets), format_bytes(mean)),
         fmt::format("DMA packets of ⌀ {}", format_bytes(mean)));
  }

  void judge_limits() const {
    std::vector<Mendings::Throttled> throttled;
    const DeviceSum* most = nullptr;
    for (std::uint32_t d = 0; d < labels_.count(); ++d) {
      for (const DeviceSum& device : devices_) {
        if (device.device != labels_.label(d) || !device.has_limits) continue;
        judgement_.judged(RuleId::throttling);
        throttled.push_back({d, device.limits});
        if (most == nullptr || device.throttled_ns > most->throttled_ns) most = &device;
      }
    }
    if (most == nullptr) return;
    const auto mending = mendings_.lift_limits(throttled);
    if (!mending) return;
    auto found = finding(RuleId::throttling, *mending, {});
    if (found) {
      Finding limits = judgement_.finding(RuleId::throttling, *most, 0, most->throttled, {});
      found->source.clear();  // no line is the cause: the device is slowed down as a whole
      found->tracks = limits.tracks;
      found->events = limits.events;
      found->count = limits.count;
      found->first = limits.first;
      found->places = limits.places;
    }
    const double ns = static_cast<double>(most->throttled.time.length_ns());
    tell(std::move(found),
         fmt::format("{} throttled for {}, {} of it lost", most->device, format_duration(ns),
                     format_duration(most->throttled_ns)),
         fmt::format("throttled {}", format_duration(ns)));
  }

  void judge_turned() const {
    judgement_.judged(RuleId::transposes);
    const auto mending = mendings_.drop_transposes();
    if (!mending) return;
    const DeviceSum& device = device_of(mending->nodes.front());
    const auto turning = static_cast<double>(device.transposes.time.length_ns());
    const double all = turning + static_cast<double>(device.multiplications.time.length_ns());
    if (turning <= rule_of(RuleId::transposes).threshold * all) return;
    tell(finding(RuleId::transposes, *mending, {std::string(vendors().front().transpose_term)}),
         fmt::format("{} of the matrix engine's time goes to transposes, {} of them", format_share(turning / all),
                     format_count(device.transposes.count)),
         fmt::format("transposes {}", format_duration(turning)));
  }

  void judge_tiles() const {
    judgement_.judged(RuleId::low_utilisation);
    const auto mending = mendings_.widen_tiles();
    if (!mending) return;
    const Vendor& words = vendors().front();
    const ReplayNode& first = replay_.nodes()[mending->nodes.front()];
    tell(finding(RuleId::low_utilisation, *mending, {std::string(words.multiply_term)}),
         fmt::format("{} multiplications move {} columns, {:.0f} would do", format_count(mending->nodes.size()),
                     format_number(first.flops / words.column_flops), words.widest_columns),
         fmt::format("tiles of {} columns", format_number(first.flops / words.column_flops)));
  }

  void judge_buffers() const {
    judgement_.judged(RuleId::serial_engines);
    judgement_.judged(RuleId::single_buffer);
    for (const Mendings::BufferWait& each : mendings_.double_buffers()) {
      const RuleId rule = each.loads ? RuleId::single_buffer : RuleId::serial_engines;
      const std::string what = text(each.name);
      tell(finding(rule, each.mending, {quoted_term("name", what)}, what + " " + text(each.line)),
           each.loads ? fmt::format("Loads of {} wait until {} has used the tile before: twice the buffers would hide "
                                    "them",
                                    what, text(each.releaser))
                      : fmt::format("{} waits until {} has emptied its only buffers", what, text(each.releaser)),
           each.loads ? fmt::format("{} loaded too late", what)
                      : fmt::format("{} waits for {}", what, text(each.releaser)));
    }
  }

  void judge_requests() const {
    judgement_.judged(RuleId::late_collective);
    for (const Mending& mending : mendings_.early_collectives()) {
      const std::string name = text(replay_.nodes()[mending.nodes.front()].name);
      tell(finding(RuleId::late_collective, mending, {quoted_term("name", name)},
                   name + " " + text(replay_.nodes()[mending.nodes.front()].line)),
           fmt::format("{} asked for long after its data were there", name), fmt::format("{} late", name));
    }
  }

  const Judgement& judgement_;
  const std::vector<DeviceSum>& devices_;
  const WorkReplay& replay_;
  TrackDevices labels_;
  Mendings mendings_;
};

}  // namespace

void judge_replayed(const Judgement& judgement, const std::vector<DeviceSum>& devices, const WorkReplay& replay) {
  ReplayJudge(judgement, devices, replay).judge();
}

}  // namespace accelscope
