// What: the program or script to run, its surroundings, and the files that go with it. Kinds that run nothing need
// none of it.
#include <algorithm>
#include <array>

#include "app/connect_form.h"
#include "app/shell_words.h"
#include "render/icons.h"
#include "render/widgets/controls.h"

namespace accelscope::app {

using namespace render;  // NOLINT: this file is nothing but drawing

namespace {

constexpr float kScriptHeight = 110, kVariableWidth = 230, kWord = 20;
constexpr std::array<Segment, 2> kForms = {{{.label = "Program"}, {.label = "Script"}}};

// The words as boxes, so that it is seen where each begins and ends; in as many lines as they need, but no more than
// three.
void draw_words(FormLayout& layout, const std::vector<std::string>& words) {
  Ui& ui = layout.ui();
  const float height = ui.px(kWord);
  const float gap = ui.px(4);
  const float width = layout.field_width();
  struct Box {
    float x, y, width;
  };
  std::vector<Box> boxes;
  float x = 0;
  float y = 0;
  for (const std::string& word : words) {
    const float wanted = std::min(width, text_width(ui, TextStyle::mono_small, word) + ui.px(12));
    if (x > 0 && x + wanted > width) {
      x = 0;
      y += height + gap;
    }
    if (y > 2 * (height + gap)) break;
    boxes.push_back({x, y, wanted});
    x += wanted + gap;
  }
  if (boxes.empty()) return;
  layout.space(-FormLayout::kGap + 4);
  const Rect place = layout.field("", boxes.back().y + height);
  for (std::size_t i = 0; i < boxes.size(); ++i) {
    const Rect box{place.x0 + boxes[i].x, place.y0 + boxes[i].y, place.x0 + boxes[i].x + boxes[i].width,
                   place.y0 + boxes[i].y + height};
    fill(ui, box, ui.colour(Colour::bg3), size::kChipRadius);
    draw_text(ui, box.inset(ui.px(6), 0), words[i].empty() ? std::string_view("(empty)") : words[i],
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
  text_field(layout, "Working directory", "directory", form_.directory, FormField::directory,
             {.placeholder = "the folder of the files that are sent"});
  draw_environment(layout);
  text_field(layout, "Files to send", "send", form_.send, FormField::send,
             {.placeholder = "none; files and folders of this machine"});
  text_field(layout, "Results", "results", form_.results, FormField::results,
             {.placeholder = "none; files to bring back, such as out/*.neff"});
  if (form_.results.empty()) return;
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
    text_field(
        layout, "Program", "program", form_.program, FormField::program,
        {.placeholder = program_use(form_, facts_) == ProgramUse::needed ? "python3 bench_mlp.py --m 512"
                                                                         : "none, or python3 bench_mlp.py --m 512"});
    if (const auto split = split_words(form_.program); split) {
      draw_words(layout, split->words);
      if (split->shell_sign != 0) {
        layout.hint(std::string("No shell runs: ") + split->shell_sign + " is passed on as it is. Use a script for it.",
                    Colour::warning);
      }
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
  for (std::size_t i = 0; i < form_.environment.size(); ++i) {
    if (line.width() < wanted) line = layout.field("");
    Rect place = line.cut_left(wanted);
    line.cut_left(gap);
    const Rect x = place.cut_right(ui.px(size::kSmallControl)).middle(ui.px(size::kSmallControl));
    const FormProblem* wrong = problem(FormField::environment, i);
    text_input(ui, id("environment." + std::to_string(i)), place, form_.environment[i],
               {.placeholder = "NAME=VALUE", .mono = true, .error = wrong != nullptr});
    if (icon_button(ui, id("environment." + std::to_string(i) + ".remove"), x, icon::kClose, "Take it out"))
      removed = i;
  }
  if (line.width() < add_width) line = layout.field("");
  if (button(ui, id("environment.add"), line.cut_left(add_width), add)) form_.environment.emplace_back();
  for (std::size_t i = 0; i < form_.environment.size(); ++i) {
    if (const FormProblem* wrong = problem(FormField::environment, i)) layout.hint(wrong->text, Colour::error);
  }
  if (removed) form_.environment.erase(form_.environment.begin() + static_cast<std::ptrdiff_t>(*removed));
}

}  // namespace accelscope::app
