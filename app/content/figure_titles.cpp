#include "app/content/figure_titles.h"

#include <algorithm>
#include <array>

namespace accelscope::app {
namespace {

struct Titled {
  std::string_view name, title;
};

// In the order in which they come first in a table.
constexpr std::array<Titled, 14> kKeyFigures = {{
    {"mfu_estimated_percent", "Model FLOPs utilisation (MFU)"},
    {"hfu_estimated_percent", "Hardware FLOPs utilisation (HFU)"},
    {"total_time", "Time of the run"},
    {"total_active_time", "Active time"},
    {"total_active_time_percent", "Active, share of the run"},
    {"session_time", "Time of the session"},
    {"kernel_busy_time", "Kernels, at least one runs"},
    {"kernel_busy_share", "Kernels, share of the span"},
    {"mbu_estimated_percent", "Memory bandwidth utilisation (MBU)"},
    {"dma_active_time_percent", "DMA active, share of the run"},
    {"hbm_read_bytes", "HBM read"},
    {"hbm_write_bytes", "HBM written"},
    {"memcpy_moved_bytes", "Bytes copied"},
    {"tensor_engine_active_time_percent", "Tensor engine active, share of the run"},
}};

constexpr std::array<Titled, 25> kTitles = {{
    {"stated_total_time", "Total time as the file states it"},
    {"work_time", "First to last work"},
    {"active_time", "Active"},
    {"idle_time", "Idle"},
    {"span_time", "Span of the shares"},
    {"input_reads", "HBM reads per byte of input"},
    {"dma_event_count", "DMAs"},
    {"dma_moved_bytes", "Moved by DMA"},
    {"sbuf_peak_bytes", "SBUF peak"},
    {"psum_peak_bytes", "PSUM peak"},
    {"kernel_event_count", "Kernels"},
    {"spill_save_bytes", "Spilled"},
    {"spill_reload_bytes", "Reloaded after spilling"},
    {"mfu_max_achievable_estimated_percent", "MFU that memory allows at most"},
    {"mbu_min_read_util_percent", "MBU if inputs were read once"},
    {"mm_arithmetic_intensity", "Arithmetic intensity of matrix products"},
    {"peak_flops_bandwidth_ratio", "FLOPs per byte at the roofline's knee"},
    {"total_exec_time", "First to last instruction that works"},
    {"neuroncore_cycle_count", "Core cycles of the run"},
    {"event_count", "Events reported by the hardware"},
    {"trace_count", "Records written by the hardware"},
    {"model_flops", "FLOPs of the model"},
    {"hardware_flops", "FLOPs carried out"},
    {"transpose_flops", "FLOPs of transposes"},
    {"session_event_count", "Events of the session"},
}};

// How words of names are written; "percent" is said by the value.
constexpr std::array<Titled, 27> kWords = {{
    {"dma", "DMA"},
    {"hbm", "HBM"},
    {"sbuf", "SBUF"},
    {"psum", "PSUM"},
    {"mfu", "MFU"},
    {"hfu", "HFU"},
    {"mbu", "MBU"},
    {"hlo", "HLO"},
    {"cc", "CC"},
    {"gpsimd", "GpSimd"},
    {"nc0", "NC0"},
    {"nc1", "NC1"},
    {"flops", "FLOPs"},
    {"util", "utilisation"},
    {"avg", "average"},
    {"op", "operation"},
    {"ops", "operations"},
    {"inst", "instruction"},
    {"mm", "matrix product"},
    {"kv", "KV"},
    {"cpu", "CPU"},
    {"gpu", "GPU"},
    {"hw", "hardware"},
    {"sw", "software"},
    {"num", "number of"},
    {"neuroncore", "NeuronCore"},
    {"id", "id"},
}};

template <std::size_t N>
const Titled* find_titled(const std::array<Titled, N>& table, std::string_view name) noexcept {
  const auto* found = std::find_if(table.begin(), table.end(), [&](const Titled& each) { return each.name == name; });
  return found == table.end() ? nullptr : found;
}

std::string spelt(std::string_view word) {
  const Titled* known = find_titled(kWords, word);
  return std::string(known != nullptr ? known->title : word);
}

}  // namespace

std::string figure_title(std::string_view name) {
  if (const Titled* key = find_titled(kKeyFigures, name)) return std::string(key->title);
  if (const Titled* known = find_titled(kTitles, name)) return std::string(known->title);
  constexpr std::string_view kShare = "_time_percent", kPercent = "_percent", kEstimated = "_estimated";
  const bool share = name.ends_with(kShare);
  if (share) {
    name.remove_suffix(kShare.size());
  } else if (name.ends_with(kPercent)) {
    name.remove_suffix(kPercent.size());
  }
  if (name.ends_with(kEstimated)) name.remove_suffix(kEstimated.size());
  std::string title;
  for (std::size_t at = 0; at <= name.size();) {
    const std::size_t end = std::min(name.find('_', at), name.size());
    if (end > at) title += (title.empty() ? "" : " ") + spelt(name.substr(at, end - at));
    at = end + 1;
  }
  if (!title.empty() && title[0] >= 'a' && title[0] <= 'z') title[0] = static_cast<char>(title[0] - 'a' + 'A');
  return share ? title + ", share of time" : title;
}

std::optional<std::size_t> key_place(std::string_view name) noexcept {
  const Titled* key = find_titled(kKeyFigures, name);
  return key == nullptr ? std::nullopt : std::optional(static_cast<std::size_t>(key - kKeyFigures.data()));
}

}  // namespace accelscope::app
