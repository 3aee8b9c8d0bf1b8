#include "render/widgets/layout.h"

#include <imgui.h>

#include <algorithm>
#include <cmath>

namespace accelscope::render {

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

void ScrollArea::move(float down) {
  const float most = std::max(0.0F, content_.height() - visible_.height());
  const float from = std::round(ImGui::GetScrollY());
  const float to = std::clamp(from + std::round(down), 0.0F, most);
  ImGui::SetScrollY(to);
  content_.y0 -= to - from;
  content_.y1 -= to - from;
}

}  // namespace accelscope::render
