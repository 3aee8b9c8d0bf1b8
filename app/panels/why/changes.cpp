#include "app/panels/why/changes.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/analysis/replay/what_if.h"
#include "core/base/format.h"
#include "render/base/icons.h"
#include "render/widgets/controls.h"
#include "render/widgets/layout.h"
#include "render/widgets/text_input.h"

namespace accelscope::app {

using namespace render;  // NOLINT: this file is nothing but drawing

namespace {

constexpr float kChangeRow = 26, kChangeSaving = 92, kChangeInput = 26;  // units

}  // namespace

void ChangeList::suggest(const std::vector<std::string>& texts) {
  std::vector<ShownChange> kept;
  for (const std::string& text : texts) {
    const auto known =
        std::find_if(changes_.begin(), changes_.end(), [&](const ShownChange& each) { return each.text == text; });
    kept.push_back({text, touched_ && known != changes_.end() && known->on, true});
  }
  for (const ShownChange& each : changes_) {
    const bool there = std::find(texts.begin(), texts.end(), each.text) != texts.end();
    if (!there && (!each.suggested || (touched_ && each.on))) kept.push_back(each);
  }
  changes_ = std::move(kept);
  if (!touched_ && !changes_.empty()) changes_.front().on = true;  // so that there is something to see
}

// Before those that are suggested by the path alone: they mend what was found.
void ChangeList::offer(const std::vector<std::string>& texts) {
  std::vector<ShownChange> offered;
  for (const std::string& text : texts) {
    const auto known =
        std::find_if(changes_.begin(), changes_.end(), [&](const ShownChange& each) { return each.text == text; });
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
  const auto parsed = parse_change(typed_);
  wrong_ = parsed ? std::string() : parsed.message();
  if (!parsed) {
    context.actions.notify(Severity::warning, wrong_);
    return;
  }
  choose(parsed->text);
  typed_.clear();
}

void ChangeList::draw(const PanelContext& context, const Rect& area,
                      const std::vector<std::optional<ChangeSaving>>& savings) {
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
    const std::string saved = i < savings.size() && savings[i] ? total_change_text(*savings[i]) : std::string();
    const Rect saving = row.cut_right(std::max(ui.px(kChangeSaving), text_width(ui, TextStyle::mono, saved)));
    const std::string name = "why.change." + std::to_string(i);
    touched_ = checkbox(ui, name, row, changes_[i].text, changes_[i].on) || touched_;
    if (i >= savings.size()) {
      draw_text(ui, saving, "...", {.style = TextStyle::mono_small, .colour = Colour::text3, .align = Align::right});
    } else if (!savings[i]) {
      draw_text(ui, saving, "no effect", {.style = TextStyle::small, .colour = Colour::text3, .align = Align::right});
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

}  // namespace accelscope::app
