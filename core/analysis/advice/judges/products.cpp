// Products of matrices against what the device could do: of kernels whose operations and bytes are known.
#include <fmt/format.h>

#include <algorithm>

#include "core/analysis/advice/judgement.h"
#include "core/base/format.h"
#include "core/names/name_forms.h"

namespace accelscope::analysis {
namespace {

constexpr double kNsInSecond = 1e9;

// What operations and bytes take at the device's peaks, the longer of both; 0: no peak is known.
[[nodiscard]] double ideal_ns(const Hotspot& row, const Peak* peak, const std::optional<double>& bandwidth) {
  if (peak == nullptr || !peak->value || row.flops <= 0) return 0;
  const double bytes = bandwidth ? static_cast<double>(row.bytes) / *bandwidth * kNsInSecond : 0;
  return std::max(row.flops / *peak->value * kNsInSecond, bytes);
}

void judge_product(const Judgement& judgement, const DeviceSum& device, const Hotspot& row, const PeakList& peaks) {
  const AdviceRule& rule = rule_of(RuleId::slow_products);
  const auto took = static_cast<double>(row.flops_ns);
  const Peak* own = peaks.compute_in(row.precision);
  // Products in fp32 pass by the units for matrices, which take them in TF32.
  const Peak* wider = row.precision == "fp32" ? peaks.compute_in("tf32") : nullptr;
  const bool passes_by = wider != nullptr && own != nullptr && *wider->value > *own->value;
  const double least = ideal_ns(row, passes_by ? wider : own, peaks.value("hbm"));
  if (least <= 0 || least >= rule.threshold * took) return;
  const std::string name(judgement.snapshot().strings->text(row.name));
  Finding found = judgement.finding(RuleId::slow_products, device, took - least, name);
  found.count = row.count;
  found.first = row.longest;
  found.tracks = row.tracks;
  found.events.tracks = row.tracks;
  found.events.terms.push_back({quoted_term("name", name), false});
  const double rate = row.flops / took * kNsInSecond;
  found.headline =
      fmt::format("{} at {}, {} of the peak in {}", usual_name(name), format_value(rate, Unit::flop_per_second),
                  format_share(rate / *own->value), row.precision.empty() ? std::string("its type") : row.precision);
  if (passes_by) {
    found.headline += fmt::format("; {} in TF32", format_value(*wider->value, Unit::flop_per_second));
    found.remedy =
        "Where the results allow it, let matrix units take fp32 as TF32 (torch.set_float32_matmul_precision(\"high\")) "
        "or compute in bf16 (autocast).";
  }
  found.tab = usual_name(name) + " far below its peak";
  const double by_operations = row.flops / *(passes_by ? wider : own)->value * kNsInSecond;
  found.evidence = fmt::format(
      "{} in {}; {}{}", row.count == 1 ? std::string("1 launch") : fmt::format("{} launches", format_count(row.count)),
      format_duration(took), row.work_from, least > by_operations ? "; its bytes bound it before its operations" : "");
  judgement.tell(std::move(found));
}

}  // namespace

bool is_of(const Hotspot& row, const DeviceSum& device) {
  return std::ranges::any_of(row.tracks, [&](TrackNumber track) {
    return std::find(device.tracks.begin(), device.tracks.end(), track) != device.tracks.end();
  });
}

void judge_products(const Judgement& judgement, const std::vector<DeviceSum>& devices, const HotspotList& kernels) {
  bool any = false;
  for (const DeviceSum& device : devices) {
    if (!device.has_streams) continue;
    const PeakList peaks = peaks_of_device(judgement.snapshot(), device.device);
    for (const Hotspot& row : kernels.rows) {
      if (row.work != WorkKind::compute || row.flops_ns <= 0 || !row.peak || !is_of(row, device)) continue;
      any = true;
      judge_product(judgement, device, row, peaks);
    }
  }
  if (any) judgement.judged(RuleId::slow_products);
}

}  // namespace accelscope::analysis
