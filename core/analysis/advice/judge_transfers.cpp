// The rules about what DMA moves.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/analysis/advice/judgement.h"
#include "core/analysis/figures/metrics.h"
#include "core/analysis/vendors/vendor.h"
#include "core/base/format.h"

namespace accelscope::analysis {
namespace {

// Whoever's words the session's transfers have: those of the first maker that has any.
const Vendor& transfer_words() { return vendors().front(); }

void judge_tensor(const Judgement& judgement, const DeviceSum& device, const LoadedTensor& tensor) {
  const auto loaded = static_cast<double>(tensor.loads.bytes);
  const double times = tensor.size > 0 ? loaded / static_cast<double>(tensor.size) : tensor.stated;
  if (tensor.loads.count == 0) return;
  if (!(times > rule_of(RuleId::reloaded_tensor).threshold) || !std::isfinite(times)) return;  // a source may state NaN
  const double again = 1 - 1 / times;
  const Vendor& words = transfer_words();
  Finding found = judgement.finding(
      RuleId::reloaded_tensor, device, static_cast<double>(tensor.loads.time.length_ns()) * again, tensor.loads,
      {quoted_term("name", tensor.name), quoted_term(words.to_column, words.on_chip_place)}, tensor.name);
  found.headline =
      fmt::format("{} loaded {}: {} read again", tensor.name, times_text(times), format_bytes(loaded * again));
  found.tab = fmt::format("{} loaded {}", tensor.name, times_text(times));
  judgement.tell(std::move(found));
}

void judge_spills(const Judgement& judgement, const DeviceSum& device) {
  const auto reloaded = static_cast<double>(device.reloaded_bytes);
  const auto read = static_cast<double>(device.off_chip_read);
  if (read <= 0 || reloaded / read <= rule_of(RuleId::spills).threshold) return;
  const Vendor& words = transfer_words();
  Finding found = judgement.finding(RuleId::spills, device, static_cast<double>(device.spills.time.length_ns()),
                                    device.spills, {quoted_term(words.from_column, words.spill_place)});
  found.headline = fmt::format("{} spilled and {} reloaded, {} of what is read", format_bytes(device.saved_bytes),
                               format_bytes(reloaded), format_share(reloaded / read));
  found.tab = fmt::format("{} reloaded after spills", format_bytes(reloaded));
  judgement.tell(std::move(found));
}

void judge_small(const Judgement& judgement, const DeviceSum& device) {
  const EvidenceSum& small = device.small;
  if (small.count == 0) return;
  const Vendor& words = transfer_words();
  const double rate = device.large_ns > 0 ? device.large_bytes / device.large_ns : words.packet_rate / 1e9;
  const double ideal = std::min(1.0, static_cast<double>(small.bytes) / rate / static_cast<double>(small.sum_ns));
  Finding found = judgement.finding(RuleId::small_transfers, device,
                                    static_cast<double>(small.time.length_ns()) * (1 - ideal), small,
                                    {fmt::format("bytes<{:.0f}", rule_of(RuleId::small_transfers).threshold),
                                     fmt::format("bytes>{}", words.no_payload_bytes)});
  const double mean = static_cast<double>(small.bytes) / static_cast<double>(small.count);
  found.headline =
      fmt::format("{} of {} packets below 2 KiB, ⌀ {}, at {} of the rate of large ones", format_count(small.count),
                  format_count(device.packets), format_bytes(mean), format_share(ideal));
  found.tab = fmt::format("DMA packets of ⌀ {}", format_bytes(mean));
  judgement.tell(std::move(found));
}

}  // namespace

Result<void> judge_inputs(const Judgement& judgement, const std::vector<DeviceSum>& devices) {
  const DeviceSum* most = nullptr;
  for (const DeviceSum& device : devices) {
    for (const auto& [name, tensor] : device.tensors) {
      if (tensor.loads.count > 0) return {};  // each is judged by itself
    }
    if (device.packets > 0 && (most == nullptr || device.packets > most->packets)) most = &device;
  }
  if (most == nullptr) return {};
  const auto metrics = TRY(session_metrics(judgement.query));
  const auto reads = input_reads(metrics);
  if (!reads || !judgement.judges(RuleId::reread_inputs)) return {};
  if (!(*reads > rule_of(RuleId::reread_inputs).threshold) || !std::isfinite(*reads)) return {};
  const double read = metric_value(metrics, "hbm_read_bytes").value_or(0);
  const double moved = read + metric_value(metrics, "hbm_write_bytes").value_or(0);
  const double again = read * (1 - 1 / *reads);
  const std::int64_t moving_ns = most->active_ns(WorkUnit::transfer);
  // At least the transfers that nothing overlaps go; at most all of them, with what the busiest engine waits meanwhile.
  const double share = again / std::max(1.0, moved);
  std::int64_t busy_ns = 0;
  for (const EngineSum& each : most->engines) busy_ns = std::max(busy_ns, each.busy_ns);
  const auto waited_ns = static_cast<double>(busy_ns > 0 ? most->active_ns() - busy_ns : 0);
  Finding found =
      judgement.finding(RuleId::reread_inputs, *most, std::max(static_cast<double>(moving_ns) * share, waited_ns));
  found.least_ns = static_cast<std::int64_t>(static_cast<double>(most->alone_ns(WorkUnit::transfer)) * share);
  found.tracks = most->transfer_tracks;
  found.events.tracks = found.tracks;
  found.count = most->packets;
  found.headline =
      fmt::format("{} of inputs and weights read {}: {} read again, in {} DMA packets", format_bytes(read / *reads),
                  times_text(*reads), format_bytes(again), format_count(most->packets));
  found.tab = fmt::format("inputs read {}", times_text(*reads));
  judgement.tell(std::move(found));
  return {};
}

void judge_transfers(const Judgement& judgement, const DeviceSum& device) {
  if (device.has_places) {
    if (!device.tensors.empty()) judgement.judged(RuleId::reloaded_tensor);
    for (const auto& [name, tensor] : device.tensors) judge_tensor(judgement, device, tensor);
    judgement.judged(RuleId::spills);
    judge_spills(judgement, device);
  }
  if (!device.has_packets) return;
  judgement.judged(RuleId::small_transfers);
  judge_small(judgement, device);
}

}  // namespace accelscope::analysis
