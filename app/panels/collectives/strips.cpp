// Two strips below the tables: how long the instances of an operation took, and when the ranks came to the chosen one.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "app/content/listings/analysis_listings.h"
#include "app/panels/collectives/panel.h"
#include "core/base/format.h"
#include "render/widgets/layout.h"

namespace accelscope::app {

using namespace render;  // NOLINT: this file is nothing but drawing

namespace {

constexpr float kStripTitle = 22, kStripAxis = 16;

// A line of time from one value to another, with a tick for each thing on it.
class TickStrip {
 public:
  TickStrip(Ui& ui, const Rect& area, double from, double to) : ui_(ui), plot_(area), from_(from), to_(to) {
    axis_ = plot_.cut_bottom(ui.px(kStripAxis));
    fill(ui, plot_, ui.colour(Colour::bg1));
  }
  [[nodiscard]] float x_of(double value) const {
    const double share = to_ > from_ ? (value - from_) / (to_ - from_) : 0;
    const float inner = plot_.width() - ui_.px(8);
    return std::round(plot_.x0 + ui_.px(4) + static_cast<float>(std::clamp(share, 0.0, 1.0)) * inner);
  }
  void tick(double value, Colour colour) {
    const float x = x_of(value);
    if (colour == last_colour_ && x == last_x_) return;
    last_x_ = x;
    last_colour_ = colour;
    fill(ui_, {x, plot_.y0 + ui_.px(6), x + ui_.px(1), plot_.y1 - ui_.px(6)}, ui_.colour(colour));
  }
  void hatched(double from, double to, const std::string& text) {
    const Rect part{x_of(from), plot_.y0 + ui_.px(6), x_of(to), plot_.y1 - ui_.px(6)};
    if (part.width() < 2) return;
    hatch(ui_, ui_.draw(), part, ui_.colour(Colour::hatch));
    const float width = text_width(ui_, TextStyle::small, text) + ui_.px(12);
    if (width > part.width()) return;
    const Rect chip =
        Rect{part.centre().x - width / 2, part.y0, part.centre().x + width / 2, part.y1}.middle(ui_.px(18));
    fill(ui_, chip, ui_.colour(Colour::bg1), size::kChipRadius);
    draw_text(ui_, chip, text, {.style = TextStyle::small, .colour = Colour::text2, .align = Align::centre});
  }
  // A value on the axis, where there is room beside those before it.
  void label(double value, const std::string& text, Colour colour = Colour::text3) {
    const float width = text_width(ui_, TextStyle::mono_small, text);
    const float x = std::clamp(x_of(value) - width / 2, plot_.x0, std::max(plot_.x0, plot_.x1 - width));
    if (x < labelled_to_) return;
    draw_text(ui_, {x, axis_.y0, x + width + ui_.px(2), axis_.y1}, text,
              {.style = TextStyle::mono_small, .colour = colour, .fit = Fit::clip});
    labelled_to_ = x + width + ui_.px(8);
  }

 private:
  Ui& ui_;
  Rect plot_, axis_;
  double from_, to_;
  float last_x_ = -1;
  Colour last_colour_ = Colour::bg0;
  float labelled_to_ = -1e9F;
};

}  // namespace

void CollectivesPanel::draw_strips(const PanelContext& context, Rect area) const {
  const float gap = context.ui.px(12);
  const bool several = shown_->report->compared > 0;
  if (!several) return draw_durations(context, area);
  const Rect left = area.cut_left((area.width() - gap) / 2);
  area.cut_left(gap);
  draw_durations(context, left);
  draw_arrivals(context, area);
}

void CollectivesPanel::draw_durations(const PanelContext& context, Rect area) const {
  Ui& ui = context.ui;
  const CollectivesReport& report = *shown_->report;
  const Collectives& all = *report.of;
  if (report.kinds.empty()) return;  // none in this stretch
  std::uint32_t kind = report.kinds.front().kind;
  if (chosen_instance_) kind = all.instances[*chosen_instance_].kind;
  if (shown_->scope.kind) kind = *shown_->scope.kind;
  const auto figures =
      std::find_if(report.kinds.begin(), report.kinds.end(), [&](const auto& f) { return f.kind == kind; });
  if (figures == report.kinds.end()) return;
  ui.register_widget("collectives.durations", area);
  heading(ui, area.cut_top(ui.px(kStripTitle)), "Durations of " + collective_title(all.kinds[kind]),
          figures->outliers == 0 ? std::string("no outlier")
                                 : fmt::format("{} above {}",
                                               figures->outliers == 1 ? std::string("1 outlier")
                                                                      : format_count(figures->outliers) + " outliers",
                                               format_duration(static_cast<double>(figures->fence_ns))));
  TickStrip strip(ui, area, 0, static_cast<double>(figures->max_ns));
  for (const DurationTick& each : shown_->durations[kind]) {
    strip.tick(static_cast<double>(each.share) * static_cast<double>(figures->max_ns),
               each.outlier ? Colour::warning_line : Colour::accent);
  }
  if (chosen_instance_ && all.instances[*chosen_instance_].kind == kind)
    strip.tick(static_cast<double>(all.instances[*chosen_instance_].duration_ns()), Colour::selection);
  strip.label(0, "0");
  const auto mark = [&](const char* what, std::int64_t ns) {
    const auto value = static_cast<double>(ns);
    strip.label(value, fmt::format("{} {}", what, format_duration(value)));
  };
  mark("p50", figures->median_ns);
  mark("max", figures->max_ns);
}

void CollectivesPanel::draw_arrivals(const PanelContext& context, Rect area) const {
  Ui& ui = context.ui;
  const Collectives& all = *shown_->report->of;
  const Rect title = area.cut_top(ui.px(kStripTitle));
  ui.register_widget("collectives.arrivals", area);
  if (!chosen_instance_) {
    heading(ui, title, "Arrivals", "click on a column of the map");
    TickStrip(ui, area, 0, 1);
    return;
  }
  const CollectiveInstance& instance = all.instances[*chosen_instance_];
  heading(ui, title, fmt::format("Arrivals in #{}", *chosen_instance_),
          fmt::format("{} ranks, a tick each", instance.count));
  TickStrip strip(ui, area, 0, static_cast<double>(instance.skew_ns()));
  const auto since = [&](std::int64_t ns) { return static_cast<double>(ns - instance.first_arrival_ns); };
  const auto noise = instance.count < 2 ? std::nullopt : all.noise_ns(instance.last_rank, instance.second_rank);
  const double alone = since(instance.last_arrival_ns) - since(instance.second_last_ns);
  const bool told = noise && alone > *noise;
  if (told) {
    strip.hatched(since(instance.second_last_ns), since(instance.last_arrival_ns),
                  fmt::format("{} wait {} for one", instance.count - 1, format_duration(alone)));
  }
  for (const CollectiveCell& cell : all.cells_of(instance)) {
    const bool last = told && cell.rank == instance.last_rank;
    strip.tick(since(cell.arrival_ns), last ? Colour::warning_line : Colour::accent);
  }
  strip.label(0, "0");
  if (told) {
    strip.label(
        since(instance.last_arrival_ns),
        fmt::format("{} +{}", all.ranks[instance.last_rank].name, format_duration(since(instance.last_arrival_ns))),
        Colour::warning);
  } else {
    strip.label(since(instance.last_arrival_ns), "+" + format_duration(since(instance.last_arrival_ns)));
  }
}

}  // namespace accelscope::app
