#include "app/panels/warnings/card.h"

#include <fmt/format.h>

#include <array>

#include "app/content/axes/time_axis.h"
#include "core/base/format.h"
#include "render/base/icons.h"
#include "render/widgets/controls.h"
#include "render/widgets/layout.h"

namespace accelscope::app {

using namespace render;  // NOLINT: this file is nothing but drawing

namespace {

constexpr float kCardLabel = 96, kCardLine = 18, kCardPause = 8;  // units

struct CardField {
  const char* label;
  std::string text;
};

std::vector<CardField> fields_of(const PanelContext& context, const Finding& finding) {
  const AdviceRule& rule = *finding.rule;
  const TimeRange range = finding.events.range.value_or(finding.places.front().range);
  const auto tracks = [&] {
    constexpr std::size_t kNamed = 4;
    std::string text;
    for (std::size_t i = 0; i < std::min(kNamed, finding.tracks.size()); ++i) {
      const TrackSnapshot* track = context.tab.snapshot->find_track(finding.tracks[i]);
      if (track != nullptr) text += (text.empty() ? "" : ", ") + track->track->name;
    }
    if (finding.tracks.size() > kNamed) text += fmt::format(" and {} more", finding.tracks.size() - kNamed);
    return text;
  };
  return {{"Why", std::string(rule.explanation)},
          {"What to try", std::string(rule.remedy)},
          {"The saving is", std::string(rule.cost)},
          {"Rests on",
           fmt::format("{} {} on {}, {}", format_count(finding.count),
                       rule.of_gaps                                  ? (finding.count == 1 ? "gap" : "gaps")
                       : rule.of_device || finding.first == kNoEvent ? "items"
                       : finding.count == 1                          ? "event"
                                                                     : "events",
                       tracks(), range_text(static_cast<double>(range.begin_ns), static_cast<double>(range.end_ns)))},
          {"Told from", fmt::format("{} ({})", rule.told, rule.source)},
          {"Read more", std::string(rule.page)}};
}

}  // namespace

bool draw_finding_card(const PanelContext& context, const Finding& finding, const Rect& area) {
  Ui& ui = context.ui;
  const std::vector<CardField> fields = fields_of(context, finding);
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
  for (const CardField& field : fields) {
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
