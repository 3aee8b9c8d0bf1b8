#include "render/widgets/layout.h"

#include <imgui.h>

#include <algorithm>
#include <cmath>

namespace accelscope::render {

bool splitter(Ui& ui, std::string_view name, const Rect& rect, SplitAxis axis, float& size_units,
              const SplitterOptions& options) {
  const bool columns = axis == SplitAxis::columns;
  const Interaction at = interact(ui, name, rect);
  const bool lit = at.hovered || at.held;
  fill(ui, rect, ui.colour(lit ? Colour::accent : Colour::bg0));
  const Point middle = rect.centre();
  for (int dot = -1; dot <= 1; ++dot) {
    const float offset = static_cast<float>(dot) * ui.px(6);
    const float half = ui.px(1);
    const Point at_dot = columns ? Point{middle.x, middle.y + offset} : Point{middle.x + offset, middle.y};
    fill(ui, {at_dot.x - half, at_dot.y - half, at_dot.x + half, at_dot.y + half},
         ui.colour(lit ? Colour::on_accent : Colour::text3));
  }
  if (lit) set_cursor(columns ? Cursor::resize_horizontal : Cursor::resize_vertical);

  const float before = size_units;
  float& size_at_press = ui.remembered(std::string(name) + "#size");
  float& mouse_at_press = ui.remembered(std::string(name) + "#mouse");
  const float mouse = columns ? ui.input().mouse.x : ui.input().mouse.y;
  if (at.pressed) {
    size_at_press = size_units;
    mouse_at_press = mouse;
  }
  if (at.double_clicked) {
    size_units = options.initial;
    size_at_press = size_units;
  } else if (at.held) {
    const float moved = (mouse - mouse_at_press) / ui.scale();
    size_units = size_at_press + (options.grows_backwards ? -moved : moved);
  }
  size_units = std::clamp(size_units, options.minimum, std::max(options.minimum, options.maximum));
  return size_units != before;
}

float heading(Ui& ui, const Rect& row, std::string_view title, std::string_view hint) {
  Rect rest = row;
  rest.cut_left(draw_text(ui, row, title, {.style = TextStyle::heading}));
  if (hint.empty()) return rest.x0;
  rest.cut_left(ui.px(8));
  return rest.x0 + draw_text(ui, rest, hint, {.style = TextStyle::small, .colour = Colour::text3});
}

void group_heading(Ui& ui, Rect& area, std::string_view title) {
  const Rect row = area.cut_top(ui.px(24));
  draw_text(ui, row, title, {.style = TextStyle::small_strong, .colour = Colour::text2});
  horizontal_line(ui, row.x0, row.x1, row.y1 - ui.px(3), ui.colour(Colour::line1));
}

ScrollArea::ScrollArea(Ui& ui, std::string_view name, const Rect& area, float content_height, float content_width) {
  ui.register_widget(name, area);
  const float bar = ui.px(10);
  const float width = std::max(0.0F, area.width());
  const float height = std::max(0.0F, area.height());
  const bool bar_below = content_width > width;
  const bool bar_right = content_height > height - (bar_below ? bar : 0);
  ImGui::SetCursorScreenPos(ImVec2(area.x0, area.y0));
  ImGui::SetNextWindowContentSize(ImVec2(content_width, content_height));
  ImGui::BeginChild(ImGui::GetID(std::string(name).c_str()), ImVec2(std::max(1.0F, width), std::max(1.0F, height)),
                    false,
                    ImGuiWindowFlags_NoMove | ImGuiWindowFlags_NoSavedSettings | ImGuiWindowFlags_NoNav |
                        (bar_below ? ImGuiWindowFlags_HorizontalScrollbar : ImGuiWindowFlags_None));
  visible_ = {area.x0, area.y0, area.x1 - (bar_right ? bar : 0), area.y1 - (bar_below ? bar : 0)};
  const float x = area.x0 - std::round(ImGui::GetScrollX());
  const float y = area.y0 - std::round(ImGui::GetScrollY());
  content_ = {x, y, x + std::max(content_width, visible_.width()), y + std::max(content_height, 0.0F)};
}

ScrollArea::~ScrollArea() { ImGui::EndChild(); }

void ScrollArea::show(const Rect& part) {
  if (part.y0 < visible_.y0) ImGui::SetScrollY(ImGui::GetScrollY() + part.y0 - visible_.y0);
  if (part.y1 > visible_.y1) ImGui::SetScrollY(ImGui::GetScrollY() + part.y1 - visible_.y1);
}

}  // namespace accelscope::render
