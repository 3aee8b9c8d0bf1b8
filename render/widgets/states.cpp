#include "render/widgets/states.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "render/base/icons.h"
#include "render/widgets/controls.h"
#include "render/widgets/popup.h"

namespace accelscope::render {
namespace {

constexpr float kEmptyWidth = 420, kStatesLine = 20;
constexpr float kBannerPadding = 10, kBannerIcon = 24;

struct BannerLook {
  Colour background;
  Colour icon_colour;
  const char* icon;
};

BannerLook look_of(BannerKind kind) {
  constexpr BannerLook kLooks[] = {{Colour::bg3, Colour::text2, icon::kInfo},
                                   {Colour::ok_bg, Colour::ok, icon::kCheckCircle},
                                   {Colour::warning_bg, Colour::warning_line, icon::kWarning},
                                   {Colour::error_bg, Colour::error, icon::kError}};
  return kLooks[static_cast<std::size_t>(kind)];
}

}  // namespace

std::optional<std::size_t> empty_state(Ui& ui, std::string_view name, const Rect& area, const char* icon,
                                       std::string_view sentence, std::span<const std::string_view> actions) {
  const float text_limit = std::min(ui.px(kEmptyWidth), area.width() - 2 * ui.px(size::kPanelPadding));
  if (text_limit <= 0) return std::nullopt;
  const float sentence_width = std::min(std::ceil(text_width(ui, TextStyle::body, sentence)) + 1, text_limit);
  const float line = ui.px(kStatesLine);
  const float sentence_height = paragraph_height(ui, TextStyle::body, sentence, sentence_width, line);
  const float height = ui.px(24) + sentence_height + (actions.empty() ? 0 : line);
  Rect rest = area.middle(std::min(height, area.height()));
  draw_icon(ui, rest.cut_top(ui.px(24)), icon, ui.colour(Colour::text3), TextStyle::icon16);
  Rect text = rest.cut_top(sentence_height);
  text.x0 = std::round(area.centre().x - sentence_width / 2);
  text.x1 = text.x0 + sentence_width;
  draw_paragraph(ui, text, sentence, {.colour = Colour::text1}, line);

  constexpr std::string_view kOr = "or";
  float actions_width = 0;
  for (const std::string_view action : actions) actions_width += link_width(ui, action);
  const float between = text_width(ui, TextStyle::body, kOr) + 2 * ui.px(4);
  if (actions.size() > 1) actions_width += static_cast<float>(actions.size() - 1) * between;
  Rect row = rest.cut_top(line);
  row.x0 = std::max(area.x0, std::round(area.centre().x - actions_width / 2));
  std::optional<std::size_t> clicked;
  for (std::size_t index = 0; index < actions.size(); ++index) {
    if (index > 0) draw_text(ui, row.cut_left(between), kOr, {.colour = Colour::text3, .align = Align::centre});
    const std::string link_name = std::string(name) + '.' + std::to_string(index);
    if (link(ui, link_name, row.cut_left(link_width(ui, actions[index])), actions[index])) clicked = index;
  }
  return clicked;
}

float banner_height(const Ui& ui, float width, std::string_view text, std::string_view second_line) {
  const float inside = width - 2 * ui.px(kBannerPadding) - ui.px(kBannerIcon);
  const float first = paragraph_height(ui, TextStyle::body, text, inside);
  const float second = second_line.empty() ? 0 : paragraph_height(ui, TextStyle::small, second_line, inside);
  return first + second + 2 * ui.px(4);
}

void banner(Ui& ui, const Rect& rect, BannerKind kind, std::string_view text, std::string_view second_line) {
  const BannerLook look = look_of(kind);
  fill(ui, rect, ui.colour(look.background), size::kControlRadius);
  Rect inside = rect.inset(ui.px(kBannerPadding), 0);
  const float content = banner_height(ui, rect.width(), text, second_line) - 2 * ui.px(4);
  inside = inside.middle(std::min(content, rect.height()));
  Rect icon_column = inside.cut_left(ui.px(kBannerIcon));
  icon_column.x1 = icon_column.x0 + ui.px(14);
  icon_column.y1 = icon_column.y0 + ui.px(18);
  draw_icon(ui, icon_column, look.icon, ui.colour(look.icon_colour), TextStyle::icon14);
  inside.cut_top(draw_paragraph(ui, inside, text));
  draw_paragraph(ui, inside, second_line, {.style = TextStyle::small, .colour = Colour::text2});
}

bool progress(Ui& ui, std::string_view name, const Rect& rect, const ProgressOptions& options) {
  ui.register_widget(name, rect);
  fill(ui, rect, ui.colour(Colour::bg3), size::kChipRadius);
  Rect row = rect;
  Rect bar = row.cut_bottom(ui.px(2));
  if (options.share >= 0) {
    bar.x1 = bar.x0 + std::round(bar.width() * static_cast<float>(std::clamp(options.share, 0.0, 1.0)));
  } else {  // wanders once in two seconds
    const auto phase = static_cast<float>(std::fmod(ui.time() / 2, 1.0));
    const float length = bar.width() / 4;
    const float from = bar.x0 + phase * (bar.width() + length) - length;
    bar = Rect{from, bar.y0, from + length, bar.y1}.intersected(bar);
    ui.request_frame();
  }
  fill(ui, bar, ui.colour(Colour::accent));
  Rect inside = row.inset(ui.px(10), 0);
  const Rect x = inside.cut_right(ui.px(18)).middle(ui.px(18));
  const bool cancelled = icon_button(ui, std::string(name) + ".cancel", x, icon::kClose, "Cancel");
  inside.cut_right(ui.px(8));
  const float details = text_width(ui, TextStyle::mono, options.details);
  draw_text(ui, inside.cut_right(std::ceil(details)), options.details,
            {.style = TextStyle::mono, .colour = Colour::text2, .fit = Fit::clip});
  inside.cut_right(ui.px(16));
  draw_text(ui, inside, options.label, {.fit = Fit::middle});
  return cancelled;
}

}  // namespace accelscope::render
