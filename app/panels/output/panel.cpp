#include <imgui.h>

#include "app/content/capture/output_lines.h"
#include "app/panels/panel.h"

namespace accelscope::app::panels {

using namespace render;  // NOLINT: this file is nothing but drawing

namespace {

// What the program printed, line by line as it comes: stdout and stderr in the order of time, beside the session's
// time; a click goes to the event. Follows the end until it is scrolled up.
class OutputPanel final : public Panel {
 public:
  explicit OutputPanel(WorkerPool& pool) : lines_(pool) {}
  void draw(const PanelContext& context, const Rect& area) override;
  [[nodiscard]] std::optional<bool> has_content(const PanelContext& context) const override;
  [[nodiscard]] bool pending() const override { return lines_.pending(); }

 private:
  void draw_head(const PanelContext& context, Rect row);
  void draw_lines(const PanelContext& context, const Rect& area);
  void draw_line(const PanelContext& context, const Rect& row, std::size_t index);
  void scroll(Ui& ui, const Rect& area, double visible);
  void draw_bar(Ui& ui, const Rect& bar, double visible);

  content::OutputLines lines_;
  std::string filter_;
  double top_ = 0;  // the first line in sight; counted in lines, so that a million are scrolled to the pixel
  bool follows_ = true;
};

constexpr float kOutputHead = 34, kTimeWidth = 92, kBarWidth = 10, kLeastThumb = 16;
constexpr double kLinesPerNotch = 3;
constexpr std::size_t kMostCopied = std::size_t{64} << 20;

// "exit status 1", "ended by SIGKILL"; "" while it runs, or when no program was run.
std::string exit_text(const Snapshot& snapshot) {
  const std::string_view signal = snapshot.meta_value("program.signal");
  if (!signal.empty()) return "ended by " + std::string(signal);
  const std::string_view status = snapshot.meta_value("program.exit_status");
  return status.empty() ? "" : "exit status " + std::string(status);
}

bool exit_is_good(const Snapshot& snapshot) {
  return snapshot.meta_value("program.signal").empty() && snapshot.meta_value("program.exit_status") == "0";
}

}  // namespace

std::optional<bool> OutputPanel::has_content(const PanelContext& context) const {
  return std::ranges::any_of(context.tab.snapshot->tracks,
                             [](const TrackSnapshot& track) { return track.track->kind == "output"; });
}

void OutputPanel::draw(const PanelContext& context, const Rect& area) {
  Ui& ui = context.ui;
  lines_.update(context.tab.store, context.tab.snapshot);
  if (!lines_.any_tracks()) {
    constexpr std::array<std::string_view, 1> kActions = {"Connect and record"};
    if (empty_state(ui, "output.empty", area, icon::kFileCode,
                    "No program's output is in this session. Capture a program to see its lines here as they come.",
                    kActions)) {
      context.actions.run("connect");
    }
    return;
  }
  Rect rest = area;
  draw_head(context, rest.cut_top(ui.px(kOutputHead)));
  if (lines_.shown_count() > 0) return draw_lines(context, rest);
  const bool waits = lines_.lines().empty();
  constexpr std::array<std::string_view, 1> kActions = {"Show all"};
  const std::string sentence =
      waits ? std::string("The program has printed nothing so far.") : "No line holds \"" + filter_ + "\".";
  const bool clear = !waits && !lines_.pending();
  const auto action =
      empty_state(ui, "output.none", rest, icon::kFileCode, sentence,
                  clear ? std::span<const std::string_view>(kActions) : std::span<const std::string_view>());
  if (action) filter_.clear();
}

void OutputPanel::draw_head(const PanelContext& context, Rect row) {
  Ui& ui = context.ui;
  row = padded(ui, row);
  const Rect field = row.cut_left(std::min(ui.px(260), row.width() / 2)).middle(ui.px(size::kSmallControl));
  text_input(ui, "output.filter", field, filter_, {.placeholder = "Filter lines", .icon = icon::kFilter});
  lines_.set_filter(filter_);
  row.cut_left(ui.px(12));
  const auto small = [&](const ButtonOptions& options) {
    const Rect place = row.cut_right(button_width(ui, options)).middle(ui.px(size::kSmallControl));
    row.cut_right(ui.px(8));
    return place;
  };
  const ButtonOptions copy{
      .label = "Copy", .icon = icon::kCopy, .kind = ButtonKind::quiet, .tooltip = "Copy the lines shown"};
  if (button(ui, "output.copy", small(copy), copy)) {
    context.copy(lines_.text(kMostCopied), format_count(lines_.shown_count()) + " lines");
  }
  const ButtonOptions follow{.label = "Follow",
                             .icon = icon::kArrowDown,
                             .kind = ButtonKind::quiet,
                             .active = follows_,
                             .tooltip = "Stay at the newest line"};
  if (button(ui, "output.follow", small(follow), follow)) follows_ = !follows_;
  const std::string end = exit_text(*context.tab.snapshot);
  if (!end.empty()) {
    const bool good = exit_is_good(*context.tab.snapshot);
    const float width = text_width(ui, TextStyle::body, end) + ui.px(22);
    Rect place = row.cut_right(width);
    row.cut_right(ui.px(12));
    draw_icon(ui, place.cut_left(ui.px(14)), good ? icon::kCheckCircle : icon::kError,
              ui.colour(good ? Colour::ok : Colour::error));
    place.cut_left(ui.px(6));
    draw_text(ui, place, end, {.colour = good ? Colour::text2 : Colour::error});
  }
  const std::size_t all = lines_.lines().size();
  const std::size_t shown = lines_.shown_count();
  const std::string count =
      shown == all ? counted(all, "line") : format_count(shown) + " of " + format_count(all) + " lines";
  draw_text(ui, row, lines_.problem().empty() ? count : count + "; " + lines_.problem(), kHintText);
}

void OutputPanel::draw_lines(const PanelContext& context, const Rect& area) {
  Ui& ui = context.ui;
  fill(ui, area, ui.colour(Colour::bg1));
  const float row_height = ui.px(size::kCodeRow);
  const double visible = std::max(1.0F, area.height() / row_height);
  scroll(ui, area, visible);
  Rect content = area;
  draw_bar(ui, content.cut_right(ui.px(kBarWidth)), visible);
  ImDrawList* list = ui.draw();
  list->PushClipRect(ImVec2(content.x0, content.y0), ImVec2(content.x1, content.y1), true);
  const auto first = static_cast<std::size_t>(top_);
  float y = content.y0 - std::round(static_cast<float>(top_ - std::floor(top_)) * row_height);
  for (std::size_t i = first; i < lines_.shown_count() && y < content.y1; ++i, y += row_height) {
    draw_line(context, {content.x0, y, content.x1, y + row_height}, i);
  }
  list->PopClipRect();
  if (copies_all_of(ui, "output.lines"))
    context.copy(lines_.text(kMostCopied), format_count(lines_.shown_count()) + " lines");
}

void OutputPanel::draw_line(const PanelContext& context, const Rect& row, std::size_t index) {
  Ui& ui = context.ui;
  const content::OutputLine& line = lines_.shown(index);
  const Interaction response =
      interact(ui, "output.line." + std::to_string(index), row, {.group = "output.lines", .label = line.text});
  const bool selected = context.tab.selected == line.id;
  if (selected || response.hovered) fill(ui, row, ui.colour(selected ? Colour::accent_bg : Colour::bg3));
  if (selected) fill(ui, {row.x0, row.y0, row.x0 + ui.px(size::kAccentLine), row.y1}, ui.colour(Colour::accent));
  if (line.err)
    fill(ui, {row.x0 + ui.px(4), row.y0 + 1, row.x0 + ui.px(6), row.y1 - 1}, ui.colour(Colour::warning_line));
  Rect inside = padded(ui, row);
  draw_text(ui, inside.cut_left(ui.px(kTimeWidth)), format_duration(line.ns), kMonoHintRight);
  inside.cut_left(ui.px(12));
  if (lines_.programs().size() > 1) {
    draw_text(ui, inside.cut_left(ui.px(120)), lines_.programs()[line.program],
              {.style = TextStyle::small, .colour = Colour::text3, .fit = Fit::middle});
    inside.cut_left(ui.px(8));
  }
  draw_text(ui, inside, line.text,
            {.style = TextStyle::mono, .colour = line.err ? Colour::warning : Colour::text1, .fit = Fit::ellipsis});
  if (!response.clicked) return;
  view::select_event(context.tab, line.id);
  context.actions.reveal(line.id);
}

void OutputPanel::scroll(Ui& ui, const Rect& area, double visible) {
  const double most = std::max(0.0, static_cast<double>(lines_.shown_count()) - visible);
  const double before = top_;
  if (area.contains(ui.input().mouse)) {
    top_ -= static_cast<double>(ui.input().wheel.y) * kLinesPerNotch;
    if (!ui.typing()) {
      if (ui.pressed(Key::page_down)) top_ += visible - 1;
      if (ui.pressed(Key::page_up)) top_ -= visible - 1;
      if (ui.pressed(Key::home, {}, false)) top_ = 0;
      if (ui.pressed(Key::end, {}, false)) follows_ = true;
    }
  }
  if (top_ < before) follows_ = false;
  if (top_ > before && top_ >= most) follows_ = true;
  if (follows_) top_ = most;
  top_ = std::clamp(top_, 0.0, most);
}

void OutputPanel::draw_bar(Ui& ui, const Rect& bar, double visible) {
  const auto count = static_cast<double>(lines_.shown_count());
  if (count <= visible) return;
  const float length = std::max(ui.px(kLeastThumb), bar.height() * static_cast<float>(visible / count));
  const double travel = std::max(1.0F, bar.height() - length);
  const double most = count - visible;
  const Interaction response =
      interact(ui, "output.bar", bar,
               {.no_focus = true, .keys = FocusStopKind::open, .label = "Scroll bar"});  // Page keys on the lines
  if (response.held) {
    const double wanted = static_cast<double>(ui.input().mouse.y - bar.y0) - static_cast<double>(length) / 2;
    top_ = std::clamp(wanted / travel, 0.0, 1.0) * most;
    follows_ = top_ >= most;
  }
  const float y = bar.y0 + static_cast<float>(top_ / most * travel);
  const bool lit = response.hovered || response.held;
  fill(ui, Rect{bar.x0, y, bar.x1, y + length}.inset(ui.px(1), 0), ui.colour(lit ? Colour::line2 : Colour::bg4), 5);
}

std::unique_ptr<Panel> make_output_panel(const PanelParts& parts) { return std::make_unique<OutputPanel>(parts.pool); }

}  // namespace accelscope::app::panels
