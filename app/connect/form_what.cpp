// What: the program or script to run, its surroundings, and the files that go with it. Kinds that run nothing need
// none of it.
#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "app/connect/form.h"
#include "app/plan/editor.h"
#include "render/base/icons.h"
#include "render/widgets/controls.h"

namespace accelscope::app {

using namespace render;  // NOLINT: this file is nothing but drawing

namespace {

constexpr float kScriptHeight = 110, kVariableWidth = 230, kWord = 20;
constexpr std::array<Segment, 2> kForms = {{{.label = "Program"}, {.label = "Script"}}};

// Under the program there is always a line, so that the fields below stay where they are.
Rect word_line(FormLayout& layout) {
  layout.space(-FormLayout::kGap + 4);
  return layout.field("", layout.ui().px(kWord));
}

void draw_word_note(FormLayout& layout, std::string_view text, Colour colour) {
  draw_text(layout.ui(), word_line(layout), text, {.style = TextStyle::small, .colour = colour});
}

// Each word as a box, so that it is seen where it begins and ends, or what a shell would make of it and nobody does.
void draw_words(FormLayout& layout, const Result<ShellWords>& split) {
  if (!split || split->words.empty()) {
    return draw_word_note(layout, "Each word is passed on as it is typed; no shell runs.", Colour::text3);
  }
  if (split->shell_sign != 0) {
    const std::string sign(1, split->shell_sign);
    return draw_word_note(layout, "No shell runs: " + sign + " is passed on as it is. Use a script for it.",
                          Colour::warning);
  }
  Ui& ui = layout.ui();
  Rect line = word_line(layout);
  const std::vector<std::string>& words = split->words;
  const float gap = ui.px(4);
  const float room_for_rest = ui.px(48);
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string_view word = words[i].empty() ? std::string_view("(empty)") : words[i];
    const float wanted = text_width(ui, TextStyle::mono_small, word) + ui.px(12);
    const bool last = i + 1 == words.size();
    if (wanted > line.width() - (last ? 0 : room_for_rest) && i > 0) {
      draw_text(ui, line, "+" + std::to_string(words.size() - i),
                {.style = TextStyle::mono_small, .colour = Colour::text3});
      return;
    }
    const Rect box = line.cut_left(std::min(wanted, line.width() - (last ? 0 : room_for_rest)));
    line.cut_left(gap);
    fill(ui, box, ui.colour(Colour::bg3), size::kChipRadius);
    draw_text(ui, box.inset(ui.px(6), 0), word,
              {.style = TextStyle::mono_small, .colour = i == 0 ? Colour::text1 : Colour::text2, .fit = Fit::middle});
  }
}

}  // namespace

void ConnectForm::draw_what(FormLayout& layout) {
  const ProgramUse use = program_use(form_, facts_);
  if (use == ProgramUse::none) {
    const bool fixed = facts_.welcome && !facts_.welcome->fixed.empty() && form_.kinds.empty();
    layout.section("What", fixed ? "The agent was started with what it captures." : "Nothing is run for this kind.");
    if (fixed) {
      draw_text(layout.ui(), layout.field("It captures"), facts_.welcome->fixed, {.colour = Colour::text1});
    }
    return;
  }
  layout.section("What", use == ProgramUse::needed ? "The program to run. It stays as it is."
                                                   : "A program to run and look into, or none. It stays as it is.");
  draw_program(layout);
  const bool is_here = form_.where == Where::local && form_.send.empty();
  text_field(layout, "Working directory", "directory", form_.directory, FormField::directory,
             {.placeholder = is_here ? "where the viewer was started" : "the folder of the files that are sent"});
  draw_environment(layout);
  text_field(layout, "Files to send", "send", form_.send, FormField::send,
             {.placeholder = "none; files and folders of this machine"});
  const TextInputResult results = text_field(layout, "Results", "results", form_.results, FormField::results,
                                             {.placeholder = "none; files to bring back, such as out/*.neff"});
  if (!results.focused) brings_results_ = !form_.results.empty();  // no row comes while one types
  if (!brings_results_) return;
  text_field(layout, "Bring them to", "results_folder", form_.results_folder, FormField::results,
             {.placeholder = "beside the session"});
}

void ConnectForm::draw_program(FormLayout& layout) {
  Ui& ui = layout.ui();
  int form = form_.uses_script ? 1 : 0;
  Rect place = layout.field("Run a");
  place.x1 = std::min(place.x1, place.x0 + segmented_width(ui, kForms));
  if (segmented(ui, id("run"), place, kForms, form)) form_.uses_script = form == 1;
  if (form_.uses_script) {
    text_area(ui, id("script"), layout.field("Script", ui.px(kScriptHeight)), form_.script, script_caret_,
              {.placeholder = "#!/bin/bash"});
    const FormProblem* wrong = problem(FormField::script);
    if (shows_problem(wrong, form_.script)) layout.hint(wrong->text, Colour::error);
  } else {
    const FormProblem* wrong = problem(FormField::program);
    text_input(
        ui, id("program"), layout.field("Program"), form_.program,
        {.placeholder = program_use(form_, facts_) == ProgramUse::needed ? "python3 bench_mlp.py --m 512"
                                                                         : "none, or python3 bench_mlp.py --m 512",
         .mono = true,
         .error = shows_problem(wrong, form_.program)});
    if (wrong != nullptr && shows_problem(wrong, form_.program)) {
      draw_word_note(layout, wrong->text, Colour::error);
    } else {
      draw_words(layout, split_words(form_.program));
    }
  }
  if (const FormProblem* refused = problem(FormField::permission)) layout.banner(BannerKind::error, refused->text);
}

void ConnectForm::draw_environment(FormLayout& layout) {
  Ui& ui = layout.ui();
  const float gap = ui.px(8);
  const ButtonOptions add{.label = "Add", .icon = icon::kPlus, .kind = ButtonKind::quiet};
  const float add_width = button_width(ui, add);
  Rect line = layout.field("Environment");
  const float whole = line.width();
  const float wanted = std::min(ui.px(kVariableWidth), whole);
  std::optional<std::size_t> removed;
  std::optional<std::size_t> typed;
  for (std::size_t i = 0; i < form_.environment.size(); ++i) {
    if (line.width() < wanted) line = layout.field("");
    Rect place = line.cut_left(wanted);
    line.cut_left(gap);
    const Rect x = place.cut_right(ui.px(size::kSmallControl)).middle(ui.px(size::kSmallControl));
    const FormProblem* wrong = problem(FormField::environment, i);
    const TextInputResult field = text_input(ui, id("environment." + std::to_string(i)), place, form_.environment[i],
                                             {.placeholder = "NAME=VALUE", .mono = true, .error = wrong != nullptr});
    if (field.focused) typed = i;
    if (icon_button(ui, id("environment." + std::to_string(i) + ".remove"), x, icon::kClose, "Take it out"))
      removed = i;
  }
  if (line.width() < add_width) line = layout.field("");
  if (button(ui, id("environment.add"), line.cut_left(add_width), add)) form_.environment.emplace_back();
  for (std::size_t i = 0; i < form_.environment.size(); ++i) {
    const FormProblem* wrong = problem(FormField::environment, i);
    if (wrong != nullptr && (nags_ || typed != i)) layout.hint(wrong->text, Colour::error);
  }
  if (removed) form_.environment.erase(form_.environment.begin() + static_cast<std::ptrdiff_t>(*removed));
}

}  // namespace accelscope::app
