#include "app/panels/source_panel.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>

#include "app/selection.h"
#include "core/base/format.h"
#include "render/icons.h"
#include "render/widgets/controls.h"
#include "render/widgets/layout.h"
#include "render/widgets/menu.h"
#include "render/widgets/popup.h"
#include "render/widgets/states.h"

namespace accelscope::app {

using namespace render;  // NOLINT: this file is nothing but drawing

namespace {

constexpr float kHeadRow = 36, kFootHeight = 84;
constexpr float kCostWidth = 66, kBarWidth = 32, kNumberWidth = 40;
constexpr float kHeatBar = 24;  // the hottest line's

struct HeatChoice {
  Heat heat;
  const char* title;
};
constexpr std::array kHeats = {HeatChoice{Heat::busy, "busy time"}, HeatChoice{Heat::wait, "wait time"},
                               HeatChoice{Heat::events, "events"}, HeatChoice{Heat::bytes, "bytes"}};

Colour colour_of(TokenKind kind) {
  switch (kind) {
    case TokenKind::text:
      return Colour::text1;
    case TokenKind::keyword:
      return Colour::code_keyword;
    case TokenKind::string:
      return Colour::code_string;
    case TokenKind::number:
      return Colour::code_number;
    case TokenKind::comment:
      return Colour::text3;
    case TokenKind::operation:
      return Colour::text2;
  }
  return Colour::text1;
}

std::string file_name(const std::string& path) { return std::filesystem::path(path).filename().string(); }

}  // namespace

void SourcePanel::choose_file(const PanelContext& context) {
  SessionTab& tab = context.tab;
  const auto& sources = tab.snapshot->sources;
  if (tab.selected_source != followed_) {
    followed_ = tab.selected_source;
    std::string_view path;
    std::uint32_t line = 0;
    if (parse_source_location(followed_, path, line)) {
      if (const auto found = find_source(sources, path)) {
        if (file_ != sources[*found]) lines_.clear();
        file_ = sources[*found];
      }
      lit_line_ = line;
      scroll_to_ = line;
    }
  }
  if (!file_ && !sources.empty()) file_ = sources.front();
  if (file_ && lines_.empty()) {
    lines_ = code_lines(*file_);
    costs_of_.reset();
  }
}

void SourcePanel::refresh_costs(const PanelContext& context) {
  const auto lines = context.analysis().source_lines();
  if (lines && (lines != costs_of_ || hottest_of_ != heat_)) {
    costs_of_ = lines;
    hottest_of_ = heat_;
    costs_ = file_ ? line_costs(*lines, file_->path, lines_.size()) : std::vector<LineCost>{};
    hottest_ = 0;
    std::uint32_t hottest_line = 0;
    for (std::uint32_t i = 0; i < costs_.size(); ++i) {
      if (heat_value(costs_[i], heat_) <= hottest_) continue;
      hottest_ = heat_value(costs_[i], heat_);
      hottest_line = i + 1;
    }
    const bool first_costs = file_ && shown_first_ != file_;
    if (first_costs && hottest_line > 0) {  // something useful at once: the line that costs most
      shown_first_ = file_;
      if (!lit_line_) scroll_to_ = hottest_line;
    }
  }
  if (auto events = context.analysis().take_line_events()) {
    context.tab.related = std::move(events->events);
    const bool fit = std::exchange(fit_when_ready_, false);
    if (fit) {
      if (const auto stretch = stretch_of(context.tab, context.tab.related)) {
        show_stretch(context.tab, stretch->begin_ns, stretch->end_ns);
      }
    }
  }
}

void SourcePanel::light_line(const PanelContext& context, std::uint32_t line) {
  lit_line_ = line;
  const std::string location = file_->path + ":" + std::to_string(line);
  context.tab.selected.reset();
  context.tab.related.clear();
  context.tab.selected_source = location;
  followed_ = location;
  // Events name the file as the source recorded it, which may be shorter than the stored path.
  std::string path = file_->path;
  if (costs_of_) {
    for (const SourceLine& cost : costs_of_->lines) {
      if (cost.line == line && same_source(cost.path, path)) {
        path = cost.path;
        break;
      }
    }
  }
  context.analysis().ask_line_events(path, line);
}

void SourcePanel::draw(const PanelContext& context, const Rect& area) {
  choose_file(context);
  refresh_costs(context);
  if (!file_) return draw_without_text(context, area);
  Ui& ui = context.ui;
  Rect rest = area;
  fill(ui, rest, ui.colour(Colour::bg1));
  draw_head(context, rest.cut_top(ui.px(kHeadRow)));
  const bool has_foot = lit_line_ && *lit_line_ > 0 && *lit_line_ <= lines_.size();
  if (has_foot) draw_foot(context, rest.cut_bottom(ui.px(kFootHeight)));
  draw_code(context, rest);
}

void SourcePanel::draw_without_text(const PanelContext& context, const Rect& area) {
  const auto lines = context.analysis().source_lines();
  const bool has_locations = lines && !lines->lines.empty();
  constexpr std::string_view kNoText =
      "Events name source lines, but the session does not store the files. Import it again and say where they are: "
      "accelscope import FILE -o S.accel --source-root FOLDER";
  constexpr std::string_view kNoLines =
      "No event names a source line. Kernels compiled with debug information do; the sources are then stored with the "
      "session.";
  empty_state(context.ui, "source.empty", area, icon::kFileCode, has_locations ? kNoText : kNoLines);
}

void SourcePanel::draw_head(const PanelContext& context, Rect row) {
  Ui& ui = context.ui;
  fill(ui, row, ui.colour(Colour::bg2));
  Rect place = row.inset(ui.px(size::kPanelPadding), 0);
  std::vector<std::string> heats;
  int chosen = 0;
  for (std::size_t i = 0; i < kHeats.size(); ++i) {
    heats.emplace_back(kHeats[i].title);
    if (kHeats[i].heat == heat_) chosen = static_cast<int>(i);
  }
  const DropdownOptions options{.label = "Heat: ", .flat = true};
  const Rect heat_rect = place.cut_right(dropdown_width(ui, heats[static_cast<std::size_t>(chosen)], options))
                             .middle(ui.px(size::kControl));
  if (dropdown(ui, "source.heat", heat_rect, heats, chosen, options)) {
    heat_ = kHeats[static_cast<std::size_t>(chosen)].heat;
  }
  place.cut_right(ui.px(12));
  draw_icon(ui, place.cut_left(ui.px(16)), icon::kFileCode, ui.colour(Colour::text2), TextStyle::icon14);
  place.cut_left(ui.px(8));

  const auto& sources = context.tab.snapshot->sources;
  if (sources.size() > 1) {
    std::vector<std::string> names;
    int current = 0;
    for (std::size_t i = 0; i < sources.size(); ++i) {
      names.push_back(file_name(sources[i]->path));
      if (sources[i] == file_) current = static_cast<int>(i);
    }
    const std::string& name = names[static_cast<std::size_t>(current)];
    const Rect choice = place.cut_left(dropdown_width(ui, name, {.flat = true})).middle(ui.px(size::kControl));
    if (dropdown(ui, "source.file", choice, names, current, {.flat = true})) {
      file_ = sources[static_cast<std::size_t>(current)];
      lines_.clear();
      lit_line_.reset();
      choose_file(context);
    }
  } else {
    place.cut_left(draw_text(ui, place, file_name(file_->path), {.style = TextStyle::heading}));
  }
  place.cut_left(ui.px(10));
  draw_text(ui, place, std::filesystem::path(file_->path).parent_path().string(),
            {.style = TextStyle::mono, .colour = Colour::text3, .fit = Fit::middle});
}

void SourcePanel::draw_code(const PanelContext& context, const Rect& area) {
  Ui& ui = context.ui;
  const float row_height = ui.px(size::kCodeRow);
  std::size_t widest = 0;
  for (const CodeLine& line : lines_) widest = std::max(widest, line.text.size());
  const float width = ui.px(kCostWidth + kBarWidth + kNumberWidth + 40) +
                      static_cast<float>(widest) * text_width(ui, TextStyle::mono, "m");
  ScrollArea scroll(ui, "source.scroll", area, row_height * static_cast<float>(lines_.size() + 1), width);
  const Rect content = scroll.content();
  const Rect visible = scroll.visible();
  const auto first = static_cast<std::size_t>(std::max(0.0F, std::floor((visible.y0 - content.y0) / row_height)));
  for (std::size_t i = first; i < lines_.size(); ++i) {
    const float y = content.y0 + static_cast<float>(i) * row_height;
    if (y > visible.y1) break;
    draw_line(context, i, {content.x0, y, std::max(content.x1, visible.x1), y + row_height});
  }
  if (scroll_to_ && *scroll_to_ > 0) {
    const float y = content.y0 + static_cast<float>(*scroll_to_ - 1) * row_height;
    scroll.show({content.x0, y - 4 * row_height, content.x0 + 1, y + 5 * row_height});
  }
  scroll_to_.reset();
}

void SourcePanel::draw_line(const PanelContext& context, std::size_t index, Rect row) {
  Ui& ui = context.ui;
  const auto number = static_cast<std::uint32_t>(index + 1);
  const std::string name = "source.line." + std::to_string(number);
  const Interaction hand = interact(ui, name, row);
  const bool lit = lit_line_ == number;
  if (lit || hand.hovered) fill(ui, row, ui.colour(lit ? Colour::accent_bg : Colour::bg3));
  if (lit) fill(ui, {row.x0, row.y0, row.x0 + ui.px(size::kAccentLine), row.y1}, ui.colour(Colour::accent));
  draw_margin(context, index, row.cut_left(ui.px(kCostWidth + kBarWidth + 8)));
  draw_text(ui, row.cut_left(ui.px(kNumberWidth)), std::to_string(number),
            {.style = TextStyle::mono, .colour = lit ? Colour::text1 : Colour::text3, .align = Align::right});
  row.cut_left(ui.px(16));
  const CodeLine& line = lines_[index];
  float x = row.x0;
  for (const CodeToken& token : line.tokens) {
    const std::string_view text = std::string_view(line.text).substr(token.begin, token.end - token.begin);
    if (text.find_first_not_of(' ') != std::string_view::npos) {
      draw_text(ui, {x, row.y0, x + text_width(ui, TextStyle::mono, text) + 1, row.y1}, text,
                {.style = TextStyle::mono, .colour = colour_of(token.kind), .fit = Fit::clip});
    }
    x += text_width(ui, TextStyle::mono, text);
  }
  if (hand.hovered) set_cursor(Cursor::hand);
  if (hand.clicked) light_line(context, number);
  if (hand.double_clicked) fit_when_ready_ = true;
}

void SourcePanel::draw_margin(const PanelContext& context, std::size_t index, Rect margin) {
  Ui& ui = context.ui;
  if (index >= costs_.size()) return;
  const LineCost& cost = costs_[index];
  const double value = heat_value(cost, heat_);
  if (value <= 0) return;
  const double share = hottest_ > 0 ? value / hottest_ : 0;
  draw_text(ui, margin.cut_left(ui.px(kCostWidth)), heat_text(cost, heat_),
            {.style = share >= 0.5 ? TextStyle::mono_strong : TextStyle::mono,
             .colour = Colour::text1,
             .align = Align::right});
  margin.cut_left(ui.px(8));
  const float width = std::max(ui.px(1), std::round(static_cast<float>(share) * ui.px(kHeatBar)));
  const Rect bar = Rect{margin.x0, margin.y0, margin.x0 + width, margin.y1}.middle(ui.px(10));
  fill(ui, bar, mix(ui.colour(Colour::bg4), ui.colour(Colour::accent), static_cast<float>(0.35 + 0.65 * share)));
}

void SourcePanel::draw_foot(const PanelContext& context, Rect area) {
  Ui& ui = context.ui;
  const std::uint32_t line = *lit_line_;
  fill(ui, area, ui.colour(Colour::bg2));
  horizontal_line(ui, area.x0, area.x1, area.y0, ui.colour(Colour::line2));
  Rect rest = area.inset(ui.px(size::kPanelPadding), ui.px(6));
  Rect head = rest.cut_top(ui.px(28));
  const bool lit_events = !context.tab.related.empty() && !context.tab.selected;
  const ButtonOptions show{
      .label = "Show on timeline", .disabled = costs_.empty(), .tooltip = "Zoom to the events of this line"};
  if (button(ui, "source.show", head.cut_right(button_width(ui, show)).middle(ui.px(size::kSmallControl)), show)) {
    fit_when_ready_ = true;
    light_line(context, line);
  }
  head.cut_left(draw_text(ui, head, "Line " + std::to_string(line), {.style = TextStyle::heading}) + ui.px(12));
  if (lit_events) {
    draw_text(ui, head, format_count(context.tab.related.size()) + " events lit on the timeline",
              {.style = TextStyle::small, .colour = Colour::text3});
  }
  const LineCost cost = line <= costs_.size() ? costs_[line - 1] : LineCost{};
  const std::array<std::pair<const char*, std::string>, 4> figures = {{
      {"Events", format_count(cost.event_count)},
      {"Busy", cost.busy_ns > 0 ? format_duration(static_cast<double>(cost.busy_ns)) : "–"},
      {"Wait", cost.wait_ns > 0 ? format_duration(static_cast<double>(cost.wait_ns)) : "–"},
      {"Bytes", cost.bytes > 0 ? format_bytes(static_cast<double>(cost.bytes)) : "–"},
  }};
  const float width = rest.width() / static_cast<float>(figures.size());
  for (const auto& [label, value] : figures) {
    Rect cell = rest.cut_left(width);
    draw_text(ui, cell.cut_top(ui.px(20)), label, {.colour = Colour::text2});
    draw_text(ui, cell.cut_top(ui.px(20)), value, {.style = TextStyle::mono});
  }
}

}  // namespace accelscope::app
