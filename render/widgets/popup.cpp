#include <imgui.h>

#include <algorithm>
#include <cmath>

#include "render/base/imgui_compat.h"
#include "render/widgets/widgets.h"

namespace accelscope::render {

namespace {

constexpr float kCardPadding = 10, kCardRow = 18, kCardTitle = 22, kWholeLine = 14, kTooltipWidth = 320;
constexpr float kModalTitle = 44, kModalFoot = 50, kModalPadding = 20;

constexpr ImGuiWindowFlags kCardFlags = ImGuiWindowFlags_Tooltip | ImGuiWindowFlags_NoInputs |
                                        ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoMove |
                                        ImGuiWindowFlags_NoSavedSettings | ImGuiWindowFlags_NoNav |
                                        ImGuiWindowFlags_NoFocusOnAppearing | ImGuiWindowFlags_NoBackground;

bool begin_card(Ui& ui, const char* id, const Rect& box) {
  ImGui::SetNextWindowPos(ImVec2(box.x0, box.y0));
  ImGui::SetNextWindowSize(ImVec2(box.width(), box.height()));
  ImGui::PushStyleVar(ImGuiStyleVar_PopupBorderSize, 0);  // ImGui would clip our own border by the width of its border
  const bool visible = ImGui::Begin(id, nullptr, kCardFlags);
  ImGui::PopStyleVar();
  if (visible) {
    fill(ui, box, ui.colour(Colour::bg4), size::kControlRadius);
    outline(ui, box, ui.colour(Colour::line2), size::kControlRadius);
  }
  return visible;
}

// Text can be on a card that lies on bg4: the widest row decides, the longest value is shortened in the middle.
float card_width(const Ui& ui, const HoverCard& card) {
  float width = text_width(ui, TextStyle::heading, card.title) + text_width(ui, TextStyle::mono, card.title_value) +
                (card.swatch != 0 ? ui.px(18) : 0) + ui.px(24);
  for (const HoverCardRow& row : card.rows) {
    width =
        std::max(width, text_width(ui, TextStyle::small, row.label) + text_width(ui, row.style, row.value) + ui.px(24));
  }
  if (!card.whole.empty()) width = std::max(width, text_width(ui, TextStyle::mono_small, card.whole));
  const float widest = ui.px(card.whole.empty() ? 420 : 560);
  return std::clamp(std::ceil(width) + 2 * ui.px(kCardPadding), ui.px(180),
                    std::min(widest, ui.window().width() * 0.6F));
}

// The text input that has the keyboard: nothing that explains covers what is being typed.
Rect typed_field(const Ui& ui) {
  const Rect* const field = ui.typing() ? ui.find_widget("input.typed") : nullptr;
  return field == nullptr ? Rect{} : *field;
}

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

Rect place_beside(const Rect& window, Point box, const Rect& explained, const Rect& also_visible, Point pointer,
                  float gap) {
  const auto into = [](float low, float high, float length, float wanted) {
    return std::max(low, std::min(wanted, high - length));
  };
  const float x = into(window.x0 + gap, window.x1 - gap, box.x, pointer.x + gap);
  const float y = into(window.y0 + gap, window.y1 - gap, box.y, pointer.y + gap);
  std::vector<Point> corners = {
      {x, explained.y1 + gap},
      {x, explained.y0 - gap - box.y},
      {explained.x1 + gap, y},
      {explained.x0 - gap - box.x, y},
      {into(window.x0 + gap, window.x1 - gap, box.x, also_visible.x1 + gap), explained.y1 + gap},
  };
  if (!also_visible.empty()) {  // over or below both
    corners.push_back({x, std::min(explained.y0, also_visible.y0) - gap - box.y});
    corners.push_back({x, std::max(explained.y1, also_visible.y1) + gap});
  }
  const auto at = [&](Point corner) { return Rect{corner.x, corner.y, corner.x + box.x, corner.y + box.y}; };
  for (const bool strict : {true, false}) {  // if there is no room beside both, then at least beside what is explained
    for (const Point corner : corners) {
      const Rect place = at(corner);
      const bool inside =
          place.x0 >= window.x0 && place.x1 <= window.x1 && place.y0 >= window.y0 && place.y1 <= window.y1;
      if (inside && !place.overlaps(explained) && (!strict || !place.overlaps(also_visible))) return place;
    }
  }
  return at({x, into(window.y0, window.y1, box.y, explained.y1 + gap)});
}

void tooltip(Ui& ui, const Interaction& interaction, const Rect& explained, std::string_view text,
             std::string_view shortcut) {
  ui.note_explanation(interaction.name, text);
  // The keyboard rests at once where it was brought.
  const bool rests = interaction.hovered && interaction.hovered_for >= kHoverCardDelay;
  if (interaction.held || (!rests && !(interaction.ring && !ui.keyboard_focus().moved))) return;
  const float padding = ui.px(8);
  const float keys = shortcut.empty() ? 0 : std::ceil(text_width(ui, TextStyle::mono_small, shortcut)) + ui.px(22);
  const float natural = std::ceil(text_width(ui, TextStyle::small, text));
  const float width = std::min(natural, ui.px(kTooltipWidth));
  const float line = ui.px(16);
  const float height = std::max(line, paragraph_height(ui, TextStyle::small, text, width + 1, line));
  const Point size{width + keys + 2 * padding, height + 2 * ui.px(5)};
  const Point at = rests ? ui.input().mouse : explained.centre();
  const Rect box = place_beside(ui.window(), size, explained, typed_field(ui), at, ui.px(4));
  if (begin_card(ui, "##tooltip", box)) {
    Rect inside = box.inset(padding, ui.px(5));
    if (!shortcut.empty()) key_cap(ui, {inside.x0, inside.y0, inside.x1, inside.y0 + line}, shortcut);
    inside.x1 = inside.x0 + width + 1;
    draw_paragraph(ui, inside, text, {.style = TextStyle::small}, line);
  }
  ImGui::End();
}

namespace {

float card_height(const Ui& ui, const HoverCard& card, float width) {
  const float inner = width - 2 * ui.px(kCardPadding);
  const float footer =
      card.footer.empty() ? 0 : ui.px(6) + paragraph_height(ui, TextStyle::small, card.footer, inner, ui.px(16));
  const auto whole = static_cast<float>(broken_lines(ui, TextStyle::mono_small, card.whole, inner).size());
  const float whole_height = whole > 0 ? whole * ui.px(kWholeLine) + ui.px(4) : 0;
  return 2 * ui.px(6) + ui.px(kCardTitle) + whole_height + static_cast<float>(card.rows.size()) * ui.px(kCardRow) +
         footer;
}

void draw_card(Ui& ui, const char* id, const HoverCard& card, const Rect& box) {
  const float padding = ui.px(kCardPadding);
  const std::vector<std::string_view> whole =
      broken_lines(ui, TextStyle::mono_small, card.whole, box.width() - 2 * padding);
  if (begin_card(ui, id, box)) {
    Rect rest = box.inset(padding, ui.px(6));
    Rect title = rest.cut_top(ui.px(kCardTitle));
    if (card.swatch != 0) {
      draw_swatch(ui, title, card.swatch);
      title.cut_left(ui.px(18));
    }
    const float value = draw_text(ui, title, card.title_value, {.style = TextStyle::mono, .align = Align::right});
    title.cut_right(value + ui.px(12));
    draw_text(ui, title, card.title, {.style = TextStyle::heading, .fit = Fit::middle});
    for (const std::string_view text : whole) {
      draw_text(ui, rest.cut_top(ui.px(kWholeLine)), text, {.style = TextStyle::mono_small, .colour = Colour::text2});
    }
    if (!whole.empty()) rest.cut_top(ui.px(4));
    for (const HoverCardRow& row : card.rows) {
      Rect line = rest.cut_top(ui.px(kCardRow));
      const float label = draw_text(ui, line, row.label, kLabelText);
      line.cut_left(label + ui.px(12));
      draw_text(ui, line, row.value,
                {.style = row.style, .colour = row.colour, .align = Align::right, .fit = Fit::middle});
    }
    if (!card.footer.empty()) {
      rest.cut_top(ui.px(6));
      draw_paragraph(ui, rest, card.footer, kLabelText, ui.px(16));
    }
  }
  ImGui::End();
}

}  // namespace

void hover_card(Ui& ui, const HoverCard& card, const Rect& explained, const Rect& also_visible) {
  const float width = card_width(ui, card);
  const Point size{width, card_height(ui, card, width)};
  const Rect beside = also_visible.empty() ? typed_field(ui) : also_visible;
  draw_card(ui, "##card", card, place_beside(ui.window(), size, explained, beside, ui.input().mouse, ui.px(6)));
}

void standing_card(Ui& ui, std::string_view name, Point corner, const HoverCard& card) {
  const float width = card_width(ui, card);
  const Rect box{corner.x - width, corner.y - card_height(ui, card, width), corner.x, corner.y};
  draw_card(ui, ("##" + std::string(name)).c_str(), card, box);
  ui.register_widget(name, box);
}

// Popups are known by their name alone, wherever they are opened and drawn.
static constexpr ImGuiID kModalSeed = 0x6d6f646c;

void open_modal(Ui& ui, std::string_view name) {
  ImGui::PushOverrideID(kModalSeed);
  ImGui::OpenPopup(std::string(name).c_str());
  ImGui::PopID();
  ui.request_frame();
}

Modal::Modal(Ui& ui, std::string_view name, std::string_view title, float width_units, float height_units) {
  const Rect window = ui.window();
  const float width = std::min(ui.px(width_units), window.width());
  const float height = std::min(ui.px(height_units), window.height());
  const Rect box = Rect{std::floor((window.width() - width) / 2), std::floor((window.height() - height) * 0.4F), 0, 0};
  Rect rest{box.x0, box.y0, box.x0 + width, box.y0 + height};
  ImGui::PushOverrideID(kModalSeed);
  ImGui::SetNextWindowPos(ImVec2(rest.x0, rest.y0));
  ImGui::SetNextWindowSize(ImVec2(width, height));
  ImGui::PushStyleVar(ImGuiStyleVar_WindowRounding, size::kCardRadius * ui.scale());
  ImGui::PushStyleVar(ImGuiStyleVar_WindowBorderSize, ui.px(1));
  ImGui::PushStyleColor(ImGuiCol_PopupBg, ui.colour(Colour::bg2));
  open_ = ImGui::BeginPopupModal(std::string(name).c_str(), nullptr,
                                 ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoMove |
                                     ImGuiWindowFlags_NoSavedSettings | ImGuiWindowFlags_NoNav);
  ImGui::PopStyleColor();
  ImGui::PopStyleVar(2);
  if (!open_) {
    ImGui::PopID();
    return;
  }
  keyboard_.emplace(ui, "dialog." + std::string(name), ImGui::IsWindowAppearing());
  Rect head = rest.cut_top(ui.px(kModalTitle)).inset(ui.px(kModalPadding), 0);
  const Rect x = head.cut_right(ui.px(size::kSmallControl)).middle(ui.px(size::kSmallControl));
  head_ = head;
  head_.cut_right(ui.px(8));
  draw_text(ui, head, title, {.style = TextStyle::title});
  horizontal_line(ui, rest.x0 + ui.px(1), rest.x1 - ui.px(1), rest.y0, ui.colour(Colour::line1));
  buttons_ = rest.cut_bottom(ui.px(kModalFoot)).inset(ui.px(kModalPadding), ui.px(12));
  body_ = rest.inset(ui.px(kModalPadding), ui.px(12));
  const bool closes = icon_button(ui, std::string(name) + ".close", x, icon::kClose, "Close", {.shortcut = "Esc"});
  const ImGuiContext& context = *ImGui::GetCurrentContext();
  const bool in_front =
      context.OpenPopupStack.Size == context.BeginPopupStack.Size;  // else Esc is for what lies over it
  if (closes || (in_front && ui.pressed(Key::escape, {}, false))) ImGui::CloseCurrentPopup();  // from its fields too
}

Modal::~Modal() {
  if (!open_) return;
  keyboard_.reset();
  ImGui::EndPopup();
  ImGui::PopID();  // of the window that the dialog was opened from, which is the current one again
}

void Modal::close() { ImGui::CloseCurrentPopup(); }

bool any_popup_open() { return ImGui::GetCurrentContext()->OpenPopupStack.Size > 0; }

void open_popover(Ui& ui, std::string_view name) {
  ImGui::OpenPopupEx(ImHashStr(name.data(), name.size(), kModalSeed));
  ui.request_frame();
}

Popover::Popover(Ui& ui, std::string_view name, const Rect& anchor, float width_units, float height_units) {
  const Rect window = ui.window();
  const float width = std::min(std::round(width_units * ui.scale()), window.width());
  const float x = std::round(std::clamp(anchor.x0, window.x0, window.x1 - width));
  const float below = std::round(anchor.y1 + ui.px(4));
  const float above = std::round(anchor.y0 - ui.px(4));  // where there is more room, if there is too little below
  const float wanted = std::round(height_units * ui.scale());
  const bool up = wanted > window.y1 - below && above - window.y0 > window.y1 - below;
  const float height = std::min(wanted, up ? above - window.y0 : window.y1 - below);
  const float y = up ? above - height : below;
  body_ = {x, y, x + width, y + height};
  ImGui::SetNextWindowPos(ImVec2(x, y));
  ImGui::SetNextWindowSize(ImVec2(width, std::max(1.0F, height)));
  open_ = ImGui::BeginPopupEx(ImHashStr(name.data(), name.size(), kModalSeed),
                              ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoMove |
                                  ImGuiWindowFlags_NoSavedSettings | ImGuiWindowFlags_NoNav);
  if (!open_) return;
  keyboard_.emplace(ui, "card." + std::string(name), ImGui::IsWindowAppearing());
  ui.register_widget(std::string(name) + ".card", body_);
  if (ui.pressed(Key::escape, {}, false)) ImGui::CloseCurrentPopup();
}

Popover::~Popover() {
  keyboard_.reset();
  if (open_) ImGui::EndPopup();
}

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

bool empty_state(Ui& ui, std::string_view name, const Rect& area, const char* icon, std::string_view sentence,
                 std::string_view action) {
  return empty_state(ui, name, area, icon, sentence, std::span(&action, 1)).has_value();
}

void empty_sentence(Ui& ui, std::string_view name, const Rect& area, const char* icon, std::string_view sentence) {
  (void)empty_state(ui, name, area, icon, sentence, std::span<const std::string_view>());
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
  draw_paragraph(ui, inside, second_line, kLabelText);
}

bool progress(Ui& ui, std::string_view name, const Rect& rect, const ProgressOptions& options) {
  ui.register_widget(name, rect);
  fill(ui, rect, ui.colour(Colour::bg3), size::kChipRadius);
  Rect row = rect;
  Rect bar = row.cut_bottom(ui.px(2));
  if (options.share >= 0) {
    bar.x1 = bar.x0 + std::round(bar.width() * static_cast<float>(std::clamp(options.share, 0.0, 1.0)));
  } else if (!ui.reduced_motion()) {  // wanders once in two seconds
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
