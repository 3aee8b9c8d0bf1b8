// The markers of the session: rename, note, delete, go there, and the time from any one to another.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "app/panels/panel_context.h"
#include "render/widgets/table.h"

namespace accelscope::app {

class MarkersPanel {
 public:
  void draw(const PanelContext& context, const render::Rect& area);

 private:
  void draw_editor(const PanelContext& context, const render::Rect& whole, render::Rect area);
  void put(const PanelContext& context, const Marker& marker);

  render::TableState table_;
  std::optional<std::int64_t> chosen_;  // id of the marker in the editor
  std::optional<std::int64_t> base_;    // id of the one that differences are taken from
  std::string name_, note_, set_;       // what is being typed for it
};

}  // namespace accelscope::app
