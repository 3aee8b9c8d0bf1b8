// What figures are called for people, beside the vendor's names; and which of them come first.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace accelscope::app {

// "mfu_estimated_percent" -> "Model FLOPs utilisation (MFU)", "dma_active_time_percent" -> "DMA active, share of the
// run". Names that no rule knows get spaces and a capital: "tt_launch_count" -> "Tt launch count".
[[nodiscard]] std::string figure_title(std::string_view name);

// The place of a key figure: utilisation, time, bandwidth; nothing for others.
[[nodiscard]] std::optional<std::size_t> key_place(std::string_view name) noexcept;

}  // namespace accelscope::app
