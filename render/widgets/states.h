// What a panel shows when it has nothing to show, when something failed, and while something takes long.
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "render/base/draw.h"
#include "render/widgets/interact.h"

namespace accelscope::render {

// One icon, what is missing in one sentence, one or two actions as links (NAME.0, NAME.1). Returns the clicked one.
std::optional<std::size_t> empty_state(Ui& ui, std::string_view name, const Rect& area, const char* icon,
                                       std::string_view sentence, std::span<const std::string_view> actions = {});

enum class BannerKind : std::uint8_t { info, ok, warning, error };
[[nodiscard]] float banner_height(const Ui& ui, float width, std::string_view text, std::string_view second_line = {});
// A coloured box with an icon: what happened, to which host or file, what to try.
void banner(Ui& ui, const Rect& rect, BannerKind kind, std::string_view text, std::string_view second_line = {});

struct ProgressOptions {
  std::string_view label;
  double share = -1;              // 0 to 1; below 0: unknown, the bar wanders
  std::string_view details = {};  // "59 %  212 MB/s  4 s"
};
// A 26 px row with a 2 px bar at its foot. True when cancelled: its x registers as NAME.cancel.
bool progress(Ui& ui, std::string_view name, const Rect& rect, const ProgressOptions& options);

}  // namespace accelscope::render
