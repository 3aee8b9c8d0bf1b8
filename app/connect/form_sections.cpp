#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>

#include "app/connect/form.h"
#include "app/plan/editor.h"
#include "capture/request/options.h"
#include "capture/request/request.h"
#include "core/base/text.h"

namespace accelscope::app::connect {

using namespace render;  // NOLINT: this file is nothing but drawing

// Where: how the agents are reached, what they answer, and the captures that they hold already.

namespace {

constexpr float kVerdictHeight = 44;  // of two lines: most answers, whatever was typed

constexpr std::array<Segment, plan::kWhereCount> kWays = {{
    {.label = "This machine",
     .icon = icon::kLaptop,
     .tooltip = "An agent is started beside this program, and ends with the capture"},
    {.label = "Agent", .icon = icon::kPlug, .tooltip = "An agent that runs already: HOST:PORT"},
    {.label = "ssh", .icon = icon::kLock, .tooltip = "The agent is copied and started through ssh"},
}};

constexpr std::array<std::string_view, plan::kWhereCount> kHints = {
    "The device is in this machine. An agent is started for this capture.",
    "The host with the device. Several, with commas, make one session.",
    "The host with the device. The agent is started there if it does not run.",
};

std::string offer_text(const capture::wire::CaptureOffer& offer) {
  std::string text = offer.name.empty() ? offer.description : offer.name;
  if (offer.state == capture::wire::CaptureState::paused) text += ", paused";
  if (offer.state == capture::wire::CaptureState::ended) text += ", ended";
  if (offer.state == capture::wire::CaptureState::interrupted) text += ", interrupted";
  text += ", " + format_count(offer.events) + " events";
  return offer.controller.empty() ? text : text + ", controlled by " + offer.controller;
}

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
void draw_words(FormLayout& layout, const Result<plan::ShellWords>& split) {
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
      draw_text(ui, line, "+" + std::to_string(words.size() - i), kMonoHint);
      return;
    }
    const Rect box = line.cut_left(std::min(wanted, line.width() - (last ? 0 : room_for_rest)));
    line.cut_left(gap);
    fill(ui, box, ui.colour(Colour::bg3), size::kChipRadius);
    draw_text(ui, box.inset(ui.px(6), 0), word,
              {.style = TextStyle::mono_small, .colour = i == 0 ? Colour::text1 : Colour::text2, .fit = Fit::middle});
  }
}

constexpr float kOptionControl = 150, kTextControl = 360, kHintLine = 16;
constexpr float kExplanation = 160;  // the least width beside a control

constexpr std::array<std::string_view, 7> kAcronyms = {"cpu", "dge", "gpu", "id", "io", "neff", "vllm"};

// "Sample interval" of "sample-interval", "Single IO" of "single-io".
std::string option_words(const std::string& name) {
  const auto upper = [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; };
  std::string words;
  for (std::size_t begin = 0; begin <= name.size();) {
    const std::size_t end = std::min(name.find('-', begin), name.size());
    std::string word = name.substr(begin, end - begin);
    if (std::ranges::find(kAcronyms, word) != kAcronyms.end()) {
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

constexpr const char* kChoose = "use.";  // and the index

std::string shown(const plan::ConfigurationName& name) {
  return name.project.empty() ? name.name : name.project + " / " + name.name;
}

}  // namespace

void ConnectForm::draw_where(FormLayout& layout) {
  Ui& ui = layout.ui();
  layout.section("Where", kHints[static_cast<std::size_t>(form_.where)], false);
  int way = static_cast<int>(form_.where);
  Rect place = layout.field("Reach it by");
  place.x1 = std::min(place.x1, place.x0 + segmented_width(ui, kWays));
  if (segmented(ui, id("where"), place, kWays, way)) {
    form_.where = static_cast<plan::Where>(way);
    focus_now_ = form_.where != plan::Where::local;
  }
  switch (form_.where) {
    case plan::Where::local:
      break;
    case plan::Where::agent:
      draw_host(layout, form_.agent_hosts, plan::kUsualAgent);
      break;
    case plan::Where::ssh:
      draw_host(layout, form_.ssh_hosts, "ssh://ubuntu@trn1-07");
      break;
  }
  draw_verdicts(layout);
  draw_test(layout);
  draw_captures(layout);
}

void ConnectForm::draw_host(FormLayout& layout, std::string& hosts, std::string_view placeholder) {
  Ui& ui = layout.ui();
  const bool ssh = form_.where == plan::Where::ssh;
  const bool malformed = std::ranges::any_of(
      probe_.verdicts(), [](const PlaceVerdict& verdict) { return verdict.state == PlaceVerdict::State::malformed; });
  Rect row = layout.field("Host");
  // The second field stands beside the first when there is room.
  const std::string_view second_label = ssh ? "Config" : "Token";
  Rect second = row.width() > ui.px(380) ? row.cut_right(row.width() * 0.45F) : layout.field(second_label);
  if (second.y0 == row.y0) {
    second.cut_left(ui.px(16));
    second.cut_left(draw_text(ui, second, second_label, {.colour = Colour::text2}) + ui.px(10));
  }
  const TextInputResult typed =
      text_input(ui, id("address"), row, hosts,
                 {.placeholder = placeholder,
                  .icon = ssh ? icon::kLock : icon::kPlug,
                  .mono = true,
                  .error = (touched_ && malformed) || (nags_ && problem(plan::FormField::host) != nullptr),
                  .focus_now = std::exchange(focus_now_, false)});
  if (typed.submitted) intent_ = Intent::start;
  if (ssh) {
    text_input(ui, id("ssh_config"), second, form_.ssh_config_file,
               {.placeholder = "ssh's own", .icon = icon::kFile, .mono = true});
    draw_key_file(layout);
  } else {
    text_input(ui, id("token"), second, form_.token_file,
               {.placeholder = "found by itself", .icon = icon::kKey, .mono = true});
  }
}

void ConnectForm::draw_key_file(FormLayout& layout) {
  Ui& ui = layout.ui();
  Rect row = layout.field("Key file");
  const ButtonOptions browse{.label = "Browse...", .icon = icon::kFolder, .tooltip = "Choose a private key"};
  if (button(ui, id("ssh_identity.browse"), row.cut_right(button_width(ui, browse)), browse)) {
    const system::Environment environment = system::process_environment();
    const std::string home = system::home_directory(environment);
    const std::string keys = system::join_path(home, ".ssh");
    std::vector<system::NamedPlace> places = system::standard_places(environment);
    places.insert(places.begin(), {"Keys of ssh", keys});
    std::error_code failure;
    key_dialog_.show_files("Choose a private key", std::filesystem::is_directory(keys, failure) ? keys : home,
                           std::move(places), [this](const std::string& path) { form_.ssh_identity_file = path; });
  }
  row.cut_right(ui.px(8));
  text_input(ui, id("ssh_identity"), row, form_.ssh_identity_file,
             {.placeholder = "ssh's own keys", .icon = icon::kKey, .mono = true});
}

// Each line: what was looked at, what there is and how long it took, or what to try.
void ConnectForm::draw_test(FormLayout& layout) {
  if (!workspace_.services().check_host) return;
  const capture::client::CapturePlan plan = plan::plan_of(form_, facts_);
  HostTest wanted{plan.places, {plan.token_file, plan.ssh_config_file, plan.ssh_identity_file, {}}, {}};
  const bool is_good = !wanted.places.empty() && std::ranges::all_of(wanted.places, [](const std::string& place) {
    return plan::check_place(place).ok();
  });
  if (!test_.is_of(wanted)) test_.cancel();
  Ui& ui = layout.ui();
  const bool runs = test_.shared && !test_.shared->finished;
  const ButtonOptions test{.label = runs ? "Cancel" : "Test",
                           .icon = runs ? icon::kClose : icon::kCheck,
                           .disabled = !is_good,
                           .tooltip = "Reach it and look at the agent, its version and what it can capture"};
  Rect row = layout.field("");
  const bool pressed = button(ui, id("test"), row.cut_left(button_width(ui, test)), test);
  row.cut_left(ui.px(12));
  if (pressed && runs) {
    test_.cancel();
  } else if (pressed) {
    start_test(std::move(wanted));
  }
  if (!test_.shared) return;
  const std::scoped_lock lock(test_.shared->mutex);
  if (!test_.shared->finished) draw_text(ui, row, test_.shared->step, kHintText);
  for (const capture::client::HostFinding& finding : test_.shared->findings) {
    Rect line = layout.field("", ui.px(kWord));
    layout.space(-FormLayout::kGap + 2);
    draw_icon(ui, line.cut_left(ui.px(18)), finding.works ? icon::kCheckCircle : icon::kError,
              ui.colour(finding.works ? Colour::ok : Colour::error), TextStyle::icon13);
    draw_text(ui, line.cut_left(ui.px(90)), finding.subject, kLabelText);
    const std::string took =
        finding.milliseconds ? format_duration(std::round(*finding.milliseconds) * 1e6) : std::string();
    draw_text(ui, line.cut_right(text_width(ui, TextStyle::mono_small, took)), took, kMonoHintRight);
    draw_text(ui, line, finding.found, {.style = TextStyle::small, .fit = Fit::middle});
    if (!finding.works && !finding.advice.empty()) {
      layout.space(FormLayout::kGap - 2);
      layout.hint("Try: " + finding.advice);
      layout.space(-FormLayout::kGap + 2);
    }
  }
  layout.space(FormLayout::kGap - 2);
}

void ConnectForm::start_test(HostTest test) {
  test.shared = std::make_shared<HostTest::Shared>();
  test.shared->step = "Reaching " + joined(test.places);
  test.options.on_step = [shared = test.shared, wake = workspace_.wake()](const std::string& step) {
    {
      const std::scoped_lock lock(shared->mutex);
      shared->step = step;
    }
    if (wake) wake();
  };
  auto work = [test, check = workspace_.services().check_host](session::JobControl& control) -> Result<void> {
    for (const std::string& place : test.places) {
      const auto cancelled = [&] { return control.cancelled() || test.shared->cancelled.load(); };
      capture::client::HostCheck checked = check(place, test.options, cancelled);
      const std::scoped_lock lock(test.shared->mutex);
      for (capture::client::HostFinding& finding : checked.findings) {
        if (test.places.size() > 1) finding.found = place + ": " + finding.found;
        test.shared->findings.push_back(std::move(finding));
      }
      if (!test.shared->welcome) test.shared->welcome = std::move(checked.welcome);
    }
    test.shared->finished = true;
    return {};
  };
  workspace_.start_job("Testing " + joined(test.places), std::move(work), [](const Result<void>&) {});
  test_ = std::move(test);
}

void ConnectForm::draw_verdicts(FormLayout& layout) {
  const float least = form_.where == plan::Where::local ? 0 : kVerdictHeight;
  if (const plan::FormProblem* missing = problem(plan::FormField::host);
      missing != nullptr && probe_.verdicts().empty()) {
    layout.banner(nags_ ? BannerKind::error : BannerKind::info, missing->text, least);
    return;
  }
  // What a form that was only shown again finds is no mistake of the user's.
  const BannerKind failed = touched_ || nags_ ? BannerKind::error : BannerKind::info;
  for (const PlaceVerdict& verdict : probe_.verdicts()) {
    const bool names_itself = verdict.text.find(verdict.place) != std::string::npos;
    const bool several = probe_.verdicts().size() > 1;
    const std::string text = several && !names_itself ? verdict.place + ": " + verdict.text : verdict.text;
    switch (verdict.state) {
      case PlaceVerdict::State::unknown:
        layout.banner(BannerKind::info, several ? verdict.place + " is well formed." : "Well formed.", least);
        break;
      case PlaceVerdict::State::asking:
      case PlaceVerdict::State::unasked:
        layout.banner(BannerKind::info, text, least);
        break;
      case PlaceVerdict::State::reached:
        layout.banner(BannerKind::ok, text, least);
        break;
      case PlaceVerdict::State::malformed:
      case PlaceVerdict::State::failed:
        layout.banner(failed, text, least);
        break;
    }
  }
}

// An agent may be busy already: its capture can be watched, or taken up when nobody controls it.
void ConnectForm::draw_captures(FormLayout& layout) {
  if (!facts_.welcome || facts_.welcome->captures.empty()) return;
  std::vector<std::string> items = {"A new capture"};
  std::vector<std::pair<capture::wire::StartMode, std::string>> choices = {{capture::wire::StartMode::begin, ""}};
  for (const capture::wire::CaptureOffer& offer : facts_.welcome->captures) {
    items.push_back("Watch " + offer_text(offer));
    choices.emplace_back(capture::wire::StartMode::watch, offer.id);
    if (!offer.controller.empty()) continue;
    items.push_back("Take up " + offer_text(offer));
    choices.emplace_back(capture::wire::StartMode::take_up, offer.id);
  }
  int chosen = 0;
  for (std::size_t i = 0; i < choices.size(); ++i) {
    if (choices[i] == std::pair(form_.mode, form_.capture_id)) chosen = static_cast<int>(i);
  }
  if (dropdown(layout.ui(), id("captures"), layout.field("It holds"), items, chosen)) {
    std::tie(form_.mode, form_.capture_id) = choices[static_cast<std::size_t>(chosen)];
  }
}

// What: the program or script to run, its surroundings, and the files that go with it. Kinds that run nothing need
// none of it.

void ConnectForm::draw_what(FormLayout& layout) {
  const plan::ProgramUse use = plan::program_use(form_, facts_);
  if (use == plan::ProgramUse::none) {
    const bool fixed = facts_.welcome && !facts_.welcome->fixed.empty() && form_.kinds.empty();
    layout.section("What", fixed ? "The agent was started with what it captures." : "Nothing is run for this kind.");
    if (fixed) {
      draw_text(layout.ui(), layout.field("It captures"), facts_.welcome->fixed, {.colour = Colour::text1});
    }
    return;
  }
  layout.section("What", use == plan::ProgramUse::needed
                             ? "The program to run. It stays as it is."
                             : "A program to run and look into, or none. It stays as it is.");
  draw_program(layout);
  const bool is_here = form_.where == plan::Where::local && form_.send.empty();
  text_field(layout, "Working directory", "directory", form_.directory, plan::FormField::directory,
             {.placeholder = is_here ? "where the viewer was started" : "the folder of the files that are sent"});
  draw_environment(layout);
  text_field(layout, "Files to send", "send", form_.send, plan::FormField::send,
             {.placeholder = "none; files and folders of this machine"});
  const TextInputResult results = text_field(layout, "Results", "results", form_.results, plan::FormField::results,
                                             {.placeholder = "none; files to bring back, such as out/*.neff"});
  if (!results.focused) brings_results_ = !form_.results.empty();  // no row comes while one types
  if (!brings_results_) return;
  text_field(layout, "Bring them to", "results_folder", form_.results_folder, plan::FormField::results,
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
    const plan::FormProblem* wrong = problem(plan::FormField::script);
    if (shows_problem(wrong, form_.script)) layout.hint(wrong->text, Colour::error);
  } else {
    const plan::FormProblem* wrong = problem(plan::FormField::program);
    text_input(ui, id("program"), layout.field("Program"), form_.program,
               {.placeholder = plan::program_use(form_, facts_) == plan::ProgramUse::needed
                                   ? "python3 bench_mlp.py --m 512"
                                   : "none, or python3 bench_mlp.py --m 512",
                .mono = true,
                .error = shows_problem(wrong, form_.program)});
    if (wrong != nullptr && shows_problem(wrong, form_.program)) {
      draw_word_note(layout, wrong->text, Colour::error);
    } else {
      draw_words(layout, plan::split_words(form_.program));
    }
  }
  if (const plan::FormProblem* refused = problem(plan::FormField::permission))
    layout.banner(BannerKind::error, refused->text);
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
    const plan::FormProblem* wrong = problem(plan::FormField::environment, i);
    const TextInputResult field = text_input(ui, id("environment." + std::to_string(i)), place, form_.environment[i],
                                             {.placeholder = "NAME=VALUE", .mono = true, .error = wrong != nullptr});
    if (field.focused) typed = i;
    if (icon_button(ui, id("environment." + std::to_string(i) + ".remove"), x, icon::kClose, "Take it out"))
      removed = i;
  }
  if (line.width() < add_width) line = layout.field("");
  if (button(ui, id("environment.add"), line.cut_left(add_width), add)) form_.environment.emplace_back();
  for (std::size_t i = 0; i < form_.environment.size(); ++i) {
    const plan::FormProblem* wrong = problem(plan::FormField::environment, i);
    if (wrong != nullptr && (nags_ || typed != i)) layout.hint(wrong->text, Colour::error);
  }
  if (removed) form_.environment.erase(form_.environment.begin() + static_cast<std::ptrdiff_t>(*removed));
}

// How: the kinds of capture with every option that they declare, what they need on the host, and when to stop.

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
  const auto unused = std::ranges::find_if(facts_.kinds, [&](const capture::request::KindFacts& kind) {
    return std::ranges::none_of(form_.kinds, [&](const auto& k) { return k.name == kind.name; });
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
    const bool taken = std::ranges::any_of(
        form_.kinds, [&](const auto& k) { return k.name == kind.name && k.name != form_.kinds[index].name; });
    if (taken) continue;
    if (kind.name == form_.kinds[index].name) chosen = static_cast<int>(kinds.size());
    const std::string missing = plan::missing_tool(kind);
    titles.push_back(title_of(kind) + (missing.empty() ? "" : " – " + missing.substr(0, missing.find(';'))));
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
  if (const plan::FormProblem* wrong = problem(plan::FormField::kind, index)) layout.hint(wrong->text, Colour::error);
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
  for (const capture::request::KindOption& option : kind.options) {
    if (capture::request::applies(option, kind, form_.kinds[index])) draw_option(layout, index, option);
  }
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
  std::string value = plan::option_value(choice, option);
  const std::string before = value;
  const plan::FormProblem* wrong = problem(plan::FormField::option, index, option.name);
  if (!shows_problem(wrong, value)) wrong = nullptr;
  if (flag) {
    bool on = value == "on";
    checkbox(ui, name, place, label, on);
    value = on ? "on" : "off";
    if (before.empty() && !on) value.clear();
  } else if (option.type == capture::request::OptionType::choice) {
    const auto found = std::ranges::find(option.choices, value);
    int chosen = found == option.choices.end() ? -1 : static_cast<int>(found - option.choices.begin());
    if (dropdown(ui, name, place, option.choices, chosen)) value = option.choices[static_cast<std::size_t>(chosen)];
  } else {
    const TextInputResult typed = text_input(
        ui, name, place, value, {.placeholder = example_of(option.type), .mono = true, .error = wrong != nullptr});
    if (typed.focused && !nags_) wrong = nullptr;  // the frame and the foot say it
  }
  if (value != before) {
    plan::set_option(choice, option, value);
    kinds_chosen_ = true;
  }
  if (fits) {
    row.cut_left(ui.px(12));
    if (text_height <= line) row.y0 += std::floor((ui.px(flag ? 20 : size::kControl) - line) / 2);
    draw_paragraph(ui, row, option.explanation, kHintText, line);
  } else {
    layout.hint(option.explanation);
  }
  if (wrong != nullptr) layout.hint(wrong->text, Colour::error);
}

void ConnectForm::draw_limits(FormLayout& layout) {
  Ui& ui = layout.ui();
  Rect row = layout.field("Stop after");
  const plan::FormProblem* wrong = problem(plan::FormField::stop_after);
  const TextInputResult typed = text_input(ui, id("stop_after"), row.cut_left(ui.px(100)), form_.stop_after,
                                           {.placeholder = "no limit", .mono = true, .error = wrong != nullptr});
  row.cut_left(ui.px(12));
  draw_text(ui, row, "at the latest, such as 60 s; then the capture ends cleanly", kHintText);
  if (wrong != nullptr && (nags_ || !typed.focused)) layout.hint(wrong->text, Colour::error);
  Rect name = layout.field("Name");
  name.x1 = std::min(name.x1, name.x0 + ui.px(360));
  const std::string placeholder = plan::title_of_plan(plan::plan_of(form_, facts_));
  text_input(ui, id("name"), name, form_.name, {.placeholder = placeholder});
}

// The user's configurations at the head of the form: choose, name, rename, copy, delete.

void ConnectForm::draw_configurations(Ui& ui, const Rect& area) {
  plan::Configurations& known = workspace_.configurations();
  const plan::Configuration* current = known.find(configuration_);
  const bool changed = current != nullptr && !(plan::form_of(current->plan, {workspace_.known_kinds(), {}}) == form_);
  const std::string value = current == nullptr ? "new" : shown(configuration_) + (changed ? " \xe2\x80\xa2" : "");
  const DropdownOptions look{.label = "Configuration: ", .flat = true};
  Rect place = area.middle(ui.px(size::kControl));
  place.x0 = std::max(place.x0, place.x1 - dropdown_width(ui, value, look));
  // The closed dropdown only; its menu has more in it than choices.
  const Interaction at = interact(ui, id("configuration"), place);
  Rect inside = place;
  draw_icon(ui, inside.cut_right(ui.px(10)), icon::kCaretDown, ui.colour(Colour::text2));
  inside.cut_right(ui.px(6));
  const Colour colour = at.hovered ? Colour::text1 : Colour::text2;
  inside.cut_left(draw_text(ui, inside, look.label, {.colour = colour}));
  draw_text(ui, inside, value, {.colour = colour, .fit = Fit::middle});
  const std::string menu = id("configurations");
  if (at.pressed) open_menu_below(ui, menu, place);

  std::vector<MenuItem> items;
  for (std::size_t i = 0; i < known.list().size(); ++i) {
    const plan::ConfigurationName& name = known.list()[i].name;
    const bool new_project = i > 0 && known.list()[i - 1].name.project != name.project;
    items.push_back({.id = kChoose + std::to_string(i),
                     .label = shown(name),
                     .checked = name == configuration_,
                     .line_above = new_project});
  }
  const bool any = current != nullptr;
  items.push_back({.id = "new", .label = "New", .icon = icon::kPlus, .line_above = !items.empty()});
  items.push_back({.id = "rename", .label = "Rename...", .icon = icon::kEdit, .enabled = any});
  items.push_back({.id = "duplicate", .label = "Duplicate", .icon = icon::kCopy, .enabled = any});
  items.push_back({.id = "delete", .label = "Delete", .icon = icon::kTrash, .enabled = any});
  if (const auto chosen = popup_menu(ui, menu, items)) run_configuration_item(*chosen);
}

void ConnectForm::run_configuration_item(const std::string& item) {
  plan::Configurations& known = workspace_.configurations();
  Result<void> done;
  if (item.starts_with(kChoose)) {
    show(known.list()[std::stoul(item.substr(std::string_view(kChoose).size()))]);
    done = known.use(configuration_);
  } else if (item == "new") {
    form_ = {};
    configuration_ = {};
    kinds_chosen_ = nags_ = false;
  } else if (item == "rename") {
    ask_for_name(Naming::rename, configuration_);
  } else if (item == "duplicate") {
    const plan::ConfigurationName copy = known.free_name(configuration_);
    done = known.duplicate(configuration_, copy);
    if (done) configuration_ = copy;
  } else if (item == "delete") {
    done = known.remove(std::exchange(configuration_, {}));
  }
  if (!done) workspace_.notify(Severity::error, done.message());
}

void ConnectForm::ask_for_name(Naming why, plan::ConfigurationName suggestion) {
  naming_ = why;
  naming_opens_ = true;
  naming_problem_.clear();
  new_name_ = std::move(suggestion);
  if (new_name_.empty()) new_name_.name = plan::title_of_plan(plan::plan_of(form_, facts_));
}

void ConnectForm::draw_naming(Ui& ui) {
  if (naming_ == Naming::none) return;
  const bool opens = std::exchange(naming_opens_, false);
  if (opens) open_modal(ui, id("naming"));
  const bool saves = naming_ == Naming::save;
  Modal modal(ui, id("naming"), saves ? "Save as a configuration" : "Rename the configuration", 460, 250);
  if (!modal.open()) {
    if (!opens) naming_ = Naming::none;
    return;
  }
  FormLayout layout(ui, modal.body());
  const auto name = text_input(ui, id("naming.name"), layout.field("Name"), new_name_.name, {.focus_now = opens});
  const auto project =
      text_input(ui, id("naming.project"), layout.field("Project"), new_name_.project, {.placeholder = "none"});
  Rect chips = layout.field("", ui.px(size::kSmallControl));
  for (const std::string& known : workspace_.configurations().projects()) {
    const ChipOptions chip_options{.label = known, .accent = false, .selected = known == new_name_.project};
    const float width = chip_width(ui, chip_options);
    if (width > chips.width()) break;
    if (chip(ui, id("naming.project." + known), chips.cut_left(width), chip_options).clicked) new_name_.project = known;
    chips.cut_left(ui.px(6));
  }
  const bool replaces = saves && workspace_.configurations().find(new_name_) != nullptr;
  if (!naming_problem_.empty()) {
    layout.banner(BannerKind::error, naming_problem_);
  } else if (replaces) {
    layout.hint("It exists already and is replaced.", Colour::warning);
  }
  Rect foot = modal.buttons();
  const ButtonOptions keep{
      .label = saves ? "Save" : "Rename", .kind = ButtonKind::primary, .disabled = new_name_.name.empty()};
  const ButtonOptions cancel{.label = "Cancel"};
  const Rect keep_place = foot.cut_right(std::max(ui.px(88), button_width(ui, keep)));
  foot.cut_right(ui.px(8));
  if (button(ui, id("naming.cancel"), foot.cut_right(button_width(ui, cancel)), cancel)) {
    naming_ = Naming::none;
    modal.close();
  }
  const bool pressed = button(ui, id("naming.save"), keep_place, keep);
  if ((pressed || name.submitted || project.submitted) && !new_name_.name.empty() && finish_naming()) modal.close();
}

bool ConnectForm::finish_naming() {
  plan::Configurations& known = workspace_.configurations();
  const Result<void> done = naming_ == Naming::save ? known.save({new_name_, plan::plan_of(form_, facts_)})
                                                    : known.rename(configuration_, new_name_);
  if (!done) {
    naming_problem_ = done.message();
    return false;
  }
  configuration_ = new_name_;
  kinds_chosen_ = true;
  naming_ = Naming::none;
  return true;
}

}  // namespace accelscope::app::connect
