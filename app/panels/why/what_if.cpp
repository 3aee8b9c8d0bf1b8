#include "app/panels/why/what_if.h"

#include <imgui.h>

#include "core/analysis/replay/what_if.h"

namespace accelscope::app::panels {

using namespace render;  // NOLINT: this file is nothing but drawing

namespace {

constexpr float kChangeRow = 26, kChangeSaving = 92, kChangeInput = 26;  // units

constexpr float kGhostGap = 8, kGhostLabel = 18, kLeastGhostRow = 3, kMostGhostRow = 12;  // units

unsigned ghost_slot(WorkKind kind) {
  constexpr unsigned kTransfer = 8, kCompute = 0, kCollective = 7, kHost = 5, kOther = 2;
  switch (kind) {
    case WorkKind::transfer:
      return kTransfer;
    case WorkKind::compute:
      return kCompute;
    case WorkKind::collective:
      return kCollective;
    case WorkKind::host:
      return kHost;
    default:
      return kOther;
  }
}

// Runs of equal cells as one box each, so that a row takes few of them.
void draw_cells(Ui& ui, const Rect& row, const std::vector<float>& cells, Pixel colour) {
  constexpr float kSteps = 5;
  const float width = row.width() / static_cast<float>(cells.size());
  const auto step = [&](std::size_t i) { return std::min(kSteps, std::ceil(cells[i] * kSteps)); };
  for (std::size_t i = 0; i < cells.size();) {
    std::size_t next = i + 1;
    while (next < cells.size() && step(next) == step(i)) ++next;
    if (cells[i] > 0) {
      const Rect box{row.x0 + width * static_cast<float>(i), row.y0, row.x0 + width * static_cast<float>(next), row.y1};
      fill(ui, box, mix(ui.colour(Colour::bg1), colour, step(i) / kSteps));
    }
    i = next;
  }
}

void draw_end(Ui& ui, const Rect& box, float x, const std::string& text, bool predicted) {
  const float width = text_width(ui, TextStyle::mono_small, text) + ui.px(10);
  const float x1 = std::clamp(x, box.x0 + width, box.x1);
  const Rect chip{x1 - width, box.y1 - ui.px(16), x1, box.y1};
  fill(ui, chip, ui.colour(predicted ? Colour::accent : Colour::bg4), size::kChipRadius);
  draw_text(ui, chip, text,
            {.style = TextStyle::mono_small,
             .colour = predicted ? Colour::on_accent : Colour::text1,
             .align = Align::centre,
             .fit = Fit::clip});
}

void draw_ghost(const PanelContext& context, const Rect& area, const GhostTimes& times, bool stale) {
  Ui& ui = context.ui;
  if (times.rows.empty() || area.height() < ui.px(40)) return;
  ImDrawList* list = ImGui::GetWindowDrawList();
  const float half = (area.height() - ui.px(kGhostGap)) / 2;
  const auto count = static_cast<float>(times.rows.size());
  const float row_height = std::clamp((half - ui.px(kGhostLabel)) / count, ui.px(kLeastGhostRow), ui.px(kMostGhostRow));
  const auto longest = static_cast<double>(std::max<std::int64_t>({times.before_ns, times.after_ns, 1}));
  const auto x_of = [&](std::int64_t ns) {
    return area.x0 + area.width() * static_cast<float>(static_cast<double>(ns) / longest);
  };
  for (const bool predicted : {false, true}) {
    Rect box = area;
    box.y0 = area.y0 + (predicted ? half + ui.px(kGhostGap) : 0);
    box.y1 = std::min(area.y1, box.y0 + row_height * count + ui.px(kGhostLabel));
    fill(ui, box, ui.colour(Colour::bg1));
    Rect rows = box;
    for (const content::GhostRow& row : times.rows) {
      const Rect cells = rows.cut_top(row_height).inset(0, std::min(1.0F, row_height / 8));
      draw_cells(ui, cells, predicted ? row.then : row.now, ui.theme().slice(ghost_slot(row.kind)));
      const std::string name = std::string("why.ghost.") + (predicted ? "then." : "now.") + row.label;
      tooltip(ui, interact(ui, name, cells, {.below_others = true, .keys = FocusStopKind::open, .group = "why.ghosts"}),
              cells, row.label);
    }
    const std::int64_t length_ns = predicted ? times.after_ns : times.before_ns;
    const float end = x_of(length_ns);
    if (predicted && times.after_ns < times.before_ns) {
      const Rect saved{end, box.y0, x_of(times.before_ns), box.y1};
      fill(ui, saved, ui.colour(Colour::hatch_bg));
      hatch(ui, list, saved, ui.colour(Colour::hatch));
    }
    const std::string total = format_duration(length_ns);
    draw_end(ui, box, end, stale && predicted ? "..." : predicted ? "≈ " + total : "now " + total, predicted);
    if (!predicted) continue;
    const Pixel edge = ui.colour(stale ? Colour::text3 : Colour::accent);
    dashed_line(ui, list, {box.x0, box.y0}, {end, box.y0}, edge);
    dashed_line(ui, list, {box.x0, box.y1}, {end, box.y1}, edge);
    dashed_line(ui, list, {box.x0, box.y0}, {box.x0, box.y1}, edge);
    dashed_line(ui, list, {end, box.y0}, {end, box.y1}, edge);
  }
}

constexpr float kTermBoth = 140, kTermName = 96;  // units
constexpr std::size_t kMostShares = 8;

}  // namespace

void ChangeList::suggest(const std::vector<std::string>& texts) {
  std::vector<ShownChange> retained;
  for (const std::string& text : texts) {
    const auto known = std::ranges::find_if(changes_, [&](const ShownChange& each) { return each.text == text; });
    retained.push_back({text, touched_ && known != changes_.end() && known->on, true});
  }
  for (const ShownChange& each : changes_) {
    const bool there = std::ranges::find(texts, each.text) != texts.end();
    if (!there && (!each.suggested || (touched_ && each.on))) retained.push_back(each);
  }
  changes_ = std::move(retained);
  if (!touched_ && !changes_.empty()) changes_.front().on = true;  // so that there is something to see
}

// Before those that are suggested by the path alone: they mend what was found.
void ChangeList::offer(const std::vector<std::string>& texts) {
  std::vector<ShownChange> offered;
  for (const std::string& text : texts) {
    const auto known = std::ranges::find_if(changes_, [&](const ShownChange& each) { return each.text == text; });
    offered.push_back({text, touched_ && known != changes_.end() && known->on, true});
    if (known != changes_.end()) changes_.erase(known);
  }
  changes_.insert(changes_.begin(), offered.begin(), offered.end());
  if (touched_ || offered.empty()) return;
  for (ShownChange& each : changes_) each.on = &each == changes_.data();
}

void ChangeList::choose(const std::string& text) {
  touched_ = true;
  for (ShownChange& each : changes_) {
    if (each.text != text) continue;
    each.on = true;
    return;
  }
  changes_.push_back({text, true, false});
}

void ChangeList::add_typed(const PanelContext& context) {
  const auto parsed = analysis::parse_change(typed_);
  wrong_ = parsed ? std::string() : parsed.message();
  if (!parsed) {
    context.actions.notify(Severity::warning, wrong_);
    return;
  }
  choose(parsed->text);
  typed_.clear();
}

float ChangeList::whole_width(const Ui& ui) const {
  float widest = 0;
  for (const ShownChange& each : changes_) widest = std::max(widest, checkbox_width(ui, each.text));
  return widest + ui.px(kChangeSaving);
}

void ChangeList::draw(const PanelContext& context, const Rect& area,
                      const std::vector<std::optional<content::ChangeSaving>>& savings) {
  Ui& ui = context.ui;
  Rect rest = area;
  Rect foot = rest.cut_bottom(ui.px(kChangeInput + 10)).middle(ui.px(kChangeInput));
  const ButtonOptions clear{.label = "Clear", .kind = ButtonKind::quiet};
  if (button(ui, "why.clear", foot.cut_right(button_width(ui, clear)), clear)) {
    for (ShownChange& each : changes_) each.on = false;
    touched_ = true;
  }
  foot.cut_right(ui.px(6));
  const TextInputResult typed = text_input(
      ui, "why.typed", foot, typed_,
      {.placeholder = "dma bandwidth x1.5, drop reload of w1 ...", .icon = icon::kPlus, .error = !wrong_.empty()});
  if (typed.changed) wrong_.clear();
  if (typed.submitted && !typed_.empty()) add_typed(context);
  ScrollArea scroll(ui, "why.changes", rest, ui.px(kChangeRow) * static_cast<float>(changes_.size()));
  Rect content = scroll.content();
  for (std::size_t i = 0; i < changes_.size(); ++i) {
    Rect row = content.cut_top(ui.px(kChangeRow));
    const std::string saved =
        i < savings.size() && savings[i] ? content::total_change_text(*savings[i]) : std::string();
    const Rect saving = row.cut_right(std::max(ui.px(kChangeSaving), text_width(ui, TextStyle::mono, saved)));
    const std::string name = "why.change." + std::to_string(i);
    touched_ = checkbox(ui, name, row, changes_[i].text, changes_[i].on) || touched_;
    if (i >= savings.size()) {
      draw_text(ui, saving, "...", kMonoHintRight);
    } else if (!savings[i]) {
      draw_text(ui, saving, "no effect", kHintTextRight);
    } else {
      const std::int64_t ns = savings[i]->most_ns;
      draw_text(ui, saving, saved,
                {.style = TextStyle::mono,
                 .colour = ns > 0   ? Colour::ok
                           : ns < 0 ? Colour::worse
                                    : Colour::text3,
                 .align = Align::right});
    }
  }
}

void draw_what_if(const PanelContext& context, Rect area, const WhatIfResult& result, bool stale) {
  Ui& ui = context.ui;
  if (!result.together) {
    return empty_sentence(
        ui, "why.untouched", area, icon::kClock,
        result.wrong.empty() ? "Tick changes, and the session is replayed with them here." : result.wrong);
  }
  const content::WhatIfAnswer& answer = *result.together;
  const auto before = static_cast<double>(answer.result.total_before_ns);
  const auto after = static_cast<double>(answer.result.total_after_ns);
  Rect head = area.cut_top(ui.px(24));
  const std::string totals = fmt::format("{}  →  {}", format_duration(before), content::then_text(answer.result));
  draw_text(ui, head.cut_left(text_width(ui, TextStyle::mono_strong, totals) + ui.px(12)), totals,
            {.style = TextStyle::mono_strong, .colour = stale ? Colour::text3 : Colour::text1});
  const std::string ratio = content::ratio_text(answer.result);
  draw_text(ui, head.cut_left(text_width(ui, TextStyle::mono_strong, ratio) + ui.px(12)), ratio,
            {.style = TextStyle::mono_strong, .colour = after <= before ? Colour::ok : Colour::worse});
  const std::string& why = answer.result.rests_on;
  draw_text(ui, head, why.empty() ? answer.bound_before + "  →  " + answer.bound_after : why, kLabelText);
  if (!why.empty()) {
    tooltip(ui, interact(ui, "why.rests", head, {.keys = FocusStopKind::open}), head,
            answer.bound_before + "  →  " + answer.bound_after + "; " + why);
  }
  std::vector<content::SharePair> shares = answer.shares;
  std::ranges::stable_sort(shares, [](const content::SharePair& a, const content::SharePair& b) {
    return std::max(a.before_ns, a.after_ns) > std::max(b.before_ns, b.after_ns);
  });
  shares.resize(std::min(shares.size(), kMostShares));
  const std::size_t term_rows = (shares.size() + 1) / 2;
  const float terms = ui.px(size::kTableRow) * static_cast<float>(term_rows);
  if (area.height() > terms + ui.px(80)) {
    Rect foot = area.cut_bottom(terms);
    area.cut_bottom(ui.px(6));
    Rect left = foot.cut_left(foot.width() / 2 - ui.px(8));
    foot.cut_left(ui.px(16));
    for (std::size_t i = 0; i < shares.size(); ++i) {
      Rect row = (i % 2 == 0 ? left : foot).cut_top(ui.px(size::kTableRow));
      const std::int64_t change = shares[i].after_ns - shares[i].before_ns;
      const std::string sign = change < 0 ? "−" : change > 0 ? "+" : "";
      draw_text(ui, row.cut_right(ui.px(76)), sign + format_duration(change < 0 ? -change : change),
                {.style = TextStyle::mono_small,
                 .colour = change < 0   ? Colour::ok
                           : change > 0 ? Colour::worse
                                        : Colour::text3,
                 .align = Align::right});
      const std::string both =
          fmt::format("{} → {}", format_duration(shares[i].before_ns), format_duration(shares[i].after_ns));
      if (row.width() >= ui.px(kTermBoth + kTermName)) {
        draw_text(ui, row.cut_right(ui.px(kTermBoth)), both,
                  {.style = TextStyle::mono_small, .colour = Colour::text2, .align = Align::right});
      } else {  // what it is called comes first
        tooltip(ui,
                interact(ui, "why.term." + std::to_string(i), row, {.keys = FocusStopKind::open, .group = "why.terms"}),
                row, shares[i].text() + ": " + both);
      }
      draw_text(ui, row, shares[i].text(), {.style = TextStyle::body, .fit = Fit::middle});
    }
  }
  draw_ghost(context, area, result.ghost, stale);
}

}  // namespace accelscope::app::panels
