#include "app/panels/warnings/card.h"

#include "app/content/advice_words.h"
#include "render/base/icons.h"
#include "render/widgets/controls.h"
#include "render/widgets/layout.h"

namespace accelscope::app {

using namespace render;  // NOLINT: this file is nothing but drawing

namespace {

constexpr float kCardLabel = 96, kCardLine = 18, kCardPause = 8;  // units

}  // namespace

bool draw_finding_card(const PanelContext& context, const Finding& finding, const Rect& area) {
  Ui& ui = context.ui;
  std::vector<FindingField> fields = finding_fields(*context.tab.snapshot, finding);
  Rect inner = area.inset(ui.px(size::kPanelPadding), 0);
  Rect head = inner.cut_top(ui.px(34));
  ButtonOptions show{.label = "Show events", .tooltip = "Select what it rests on, and go there"};
  const float title = text_width(ui, TextStyle::heading, finding.rule->title) + ui.px(8);
  if (title + button_width(ui, show) > head.width()) show.label = "Show";
  const bool shown =
      button(ui, "warnings.show", head.cut_right(button_width(ui, show)).middle(ui.px(size::kSmallControl)), show);
  head.cut_right(ui.px(8));
  heading(ui, head, finding.rule->title, finding.device);
  const float label = ui.px(kCardLabel), line = ui.px(kCardLine);
  const float width = inner.width() - label - ui.px(16);
  float height = ui.px(kCardPause);
  std::vector<float> heights;
  std::erase_if(fields, [](const FindingField& field) { return field.text.empty(); });
  for (const FindingField& field : fields) {
    heights.push_back(paragraph_height(ui, TextStyle::small, field.text, width, line) + ui.px(4));
    height += heights.back();
  }
  const ScrollArea scroll(ui, "warnings.card", inner, height);
  Rect content = scroll.content();
  for (std::size_t i = 0; i < fields.size(); ++i) {
    Rect row = content.cut_top(heights[i]);
    Rect name = row.cut_left(label);
    draw_text(ui, name.cut_top(line), fields[i].label, {.style = TextStyle::small, .colour = Colour::text3});
    row.x1 = row.x0 + width;
    draw_paragraph(ui, row, fields[i].text,
                   {.style = TextStyle::small, .colour = i < 2 ? Colour::text1 : Colour::text2}, line);
  }
  return shown;
}

}  // namespace accelscope::app
