// How: the kinds of capture with every option that they declare, what they need on the host, and when to stop.
#include <algorithm>
#include <array>
#include <cmath>

#include "app/connect/form.h"
#include "capture/request/request.h"
#include "render/base/icons.h"
#include "render/widgets/controls.h"
#include "render/widgets/menu.h"

namespace accelscope::app {

using namespace render;  // NOLINT: this file is nothing but drawing

namespace {

constexpr float kOptionControl = 150, kTextControl = 360, kHintLine = 16;
constexpr float kExplanation = 160;  // the least width beside a control

constexpr std::array<std::string_view, 6> kAcronyms = {"cpu", "dge", "gpu", "id", "io", "neff"};

// "Sample interval" of "sample-interval", "Single IO" of "single-io".
std::string option_words(const std::string& name) {
  const auto upper = [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; };
  std::string words;
  for (std::size_t begin = 0; begin <= name.size();) {
    const std::size_t end = std::min(name.find('-', begin), name.size());
    std::string word = name.substr(begin, end - begin);
    if (std::find(kAcronyms.begin(), kAcronyms.end(), word) != kAcronyms.end()) {
      std::transform(word.begin(), word.end(), word.begin(), upper);
    }
    words += (begin == 0 ? "" : " ") + word;
    begin = end + 1;
  }
  if (!words.empty()) words[0] = upper(words[0]);
  return words;
}

std::string_view example_of(capture::request::OptionType type) {
  switch (type) {
    case capture::request::OptionType::duration:
      return "100ms";
    case capture::request::OptionType::size:
      return "64MiB";
    case capture::request::OptionType::rate:
      return "200k";
    case capture::request::OptionType::file:
      return "on the host, or a file that is sent";
    default:
      return "not set";
  }
}

// Paths, names and lists of them.
bool is_long(const capture::request::KindOption& option) {
  return option.type == capture::request::OptionType::file || option.repeats;
}

std::string title_of(const capture::request::KindFacts& kind) { return kind.title.empty() ? kind.name : kind.title; }

}  // namespace

void ConnectForm::draw_how(FormLayout& layout) {
  const bool fixed = facts_.welcome && !facts_.welcome->fixed.empty();
  const bool decided = fixed && facts_.kinds.empty();
  layout.section("How", decided ? "When it ends, and its name." : "What to capture. Each option says what it costs.");
  if (facts_.kinds.empty() && !fixed) {
    layout.hint("What can be captured is shown here once the agent has answered.");
  }
  for (std::size_t i = 0; i < form_.kinds.size(); ++i) {
    const std::size_t before = form_.kinds.size();
    draw_kind(layout, i);
    if (form_.kinds.size() != before) return;  // one was taken out
  }
  Ui& ui = layout.ui();
  const auto unused =
      std::find_if(facts_.kinds.begin(), facts_.kinds.end(), [&](const capture::request::KindFacts& kind) {
        return std::none_of(form_.kinds.begin(), form_.kinds.end(), [&](const auto& k) { return k.name == kind.name; });
      });
  if (!form_.kinds.empty() && unused != facts_.kinds.end()) {
    const ButtonOptions more{.label = "Capture another kind too",
                             .icon = icon::kPlus,
                             .kind = ButtonKind::quiet,
                             .tooltip = "Both go into one session, on one time"};
    Rect place = layout.field("");
    if (button(ui, id("kind.add"), place.cut_left(button_width(ui, more)), more)) {
      form_.kinds.push_back({unused->name, {}});
      kinds_chosen_ = true;
    }
  }
  draw_limits(layout);
}

void ConnectForm::draw_kind(FormLayout& layout, std::size_t index) {
  Ui& ui = layout.ui();
  const std::string name = "kind" + (index == 0 ? "" : "." + std::to_string(index));
  std::vector<std::string> titles;
  std::vector<const capture::request::KindFacts*> kinds;
  int chosen = -1;
  for (const capture::request::KindFacts& kind : facts_.kinds) {
    const bool taken = std::any_of(form_.kinds.begin(), form_.kinds.end(), [&](const auto& k) {
      return k.name == kind.name && k.name != form_.kinds[index].name;
    });
    if (taken) continue;
    if (kind.name == form_.kinds[index].name) chosen = static_cast<int>(kinds.size());
    titles.push_back(title_of(kind) + (kind.usable() ? "" : " (not ready)"));
    kinds.push_back(&kind);
  }
  Rect place = layout.field(index == 0 ? "Capture" : "and");
  if (index > 0) {
    const Rect x = place.cut_right(ui.px(size::kControl));
    if (icon_button(ui, id(name + ".remove"), x, icon::kClose, "Do not capture this kind")) {
      form_.kinds.erase(form_.kinds.begin() + static_cast<std::ptrdiff_t>(index));
      return;
    }
  }
  place.x1 = std::min(place.x1, place.x0 + ui.px(360));
  if (dropdown(ui, id(name), place, titles, chosen)) {
    form_.kinds[index] = {kinds[static_cast<std::size_t>(chosen)]->name, {}};
    kinds_chosen_ = true;
  }
  if (const FormProblem* wrong = problem(FormField::kind, index)) layout.hint(wrong->text, Colour::error);
  const capture::request::KindFacts* facts = facts_.find(form_.kinds[index].name);
  if (facts == nullptr) return;
  if (!facts->explanation.empty()) layout.hint(facts->explanation);
  draw_checks(layout, *facts);
  draw_options(layout, index, *facts);
  for (const std::string& warning :
       capture::request::kind_warnings(form_.kinds[index])) {  // below what is typed, which stays
    layout.banner(BannerKind::warning, warning);
  }
}

void ConnectForm::draw_checks(FormLayout& layout, const capture::request::KindFacts& kind) {
  std::string found;
  for (const capture::request::KindCheck& check : kind.checks) {
    if (!check.ok) layout.banner(BannerKind::warning, check.text);
    if (check.ok) found += (found.empty() ? "" : "; ") + check.text;
  }
  if (!found.empty()) layout.hint("Found: " + found);
}

void ConnectForm::draw_options(FormLayout& layout, std::size_t index, const capture::request::KindFacts& kind) {
  for (const capture::request::KindOption& option : kind.options) draw_option(layout, index, option);
}

void ConnectForm::draw_option(FormLayout& layout, std::size_t index, const capture::request::KindOption& option) {
  Ui& ui = layout.ui();
  capture::request::KindChoice& choice = form_.kinds[index];
  const std::string name = id("option." + option.name);
  const bool flag = option.type == capture::request::OptionType::flag;
  const std::string label = option_words(option.name);
  const float line = ui.px(kHintLine);
  const float control = flag              ? checkbox_width(ui, label)
                        : is_long(option) ? std::min(layout.field_width(), ui.px(kTextControl))
                                          : ui.px(kOptionControl);
  const float beside = layout.field_width() - control - ui.px(12);
  const bool fits = beside > ui.px(kExplanation);
  const float text_height =
      paragraph_height(ui, TextStyle::small, option.explanation, fits ? beside : layout.field_width(), line);
  const float height = std::max(ui.px(flag ? 20 : size::kControl), fits ? text_height : 0);
  Rect row = layout.field(flag ? "" : label, height);
  Rect place = row.cut_left(control);
  place.y1 = place.y0 + ui.px(flag ? 20 : size::kControl);
  std::string value = option_value(choice, option);
  const std::string before = value;
  const FormProblem* wrong = problem(FormField::option, index, option.name);
  if (!shows_problem(wrong, value)) wrong = nullptr;
  if (flag) {
    bool on = value == "on";
    checkbox(ui, name, place, label, on);
    value = on ? "on" : "off";
    if (before.empty() && !on) value.clear();
  } else if (option.type == capture::request::OptionType::choice) {
    const auto found = std::find(option.choices.begin(), option.choices.end(), value);
    int chosen = found == option.choices.end() ? -1 : static_cast<int>(found - option.choices.begin());
    if (dropdown(ui, name, place, option.choices, chosen)) value = option.choices[static_cast<std::size_t>(chosen)];
  } else {
    const TextInputResult typed = text_input(
        ui, name, place, value, {.placeholder = example_of(option.type), .mono = true, .error = wrong != nullptr});
    if (typed.focused && !nags_) wrong = nullptr;  // the frame and the foot say it
  }
  if (value != before) {
    set_option(choice, option, value);
    kinds_chosen_ = true;
  }
  if (fits) {
    row.cut_left(ui.px(12));
    if (text_height <= line) row.y0 += std::floor((ui.px(flag ? 20 : size::kControl) - line) / 2);
    draw_paragraph(ui, row, option.explanation, {.style = TextStyle::small, .colour = Colour::text3}, line);
  } else {
    layout.hint(option.explanation);
  }
  if (wrong != nullptr) layout.hint(wrong->text, Colour::error);
}

void ConnectForm::draw_limits(FormLayout& layout) {
  Ui& ui = layout.ui();
  Rect row = layout.field("Stop after");
  const FormProblem* wrong = problem(FormField::stop_after);
  const TextInputResult typed = text_input(ui, id("stop_after"), row.cut_left(ui.px(100)), form_.stop_after,
                                           {.placeholder = "no limit", .mono = true, .error = wrong != nullptr});
  row.cut_left(ui.px(12));
  draw_text(ui, row, "at the latest, such as 60 s; then the capture ends cleanly",
            {.style = TextStyle::small, .colour = Colour::text3});
  if (wrong != nullptr && (nags_ || !typed.focused)) layout.hint(wrong->text, Colour::error);
  Rect name = layout.field("Name");
  name.x1 = std::min(name.x1, name.x0 + ui.px(360));
  const std::string placeholder = title_of_plan(plan_of(form_, facts_));
  text_input(ui, id("name"), name, form_.name, {.placeholder = placeholder});
}

}  // namespace accelscope::app
