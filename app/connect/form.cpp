#include "app/connect/form.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>

#include "app/plan/editor.h"

namespace accelscope::app::connect {

using namespace render;  // NOLINT: this file is nothing but drawing

namespace {

constexpr float kFormLayoutHintLine = 16;

constexpr float kFoot = 50, kCommandLine = 18, kCommandPadding = 12;
constexpr float kCommandFrame = 50;     // around its lines
constexpr float kCommandShare = 0.25F;  // of the form's height at most
constexpr std::string_view kPausedHint = "Everything is prepared, and nothing recorded until you resume";
constexpr std::string_view kAddHint = "This agent's events go into the session in front, on its time";

}  // namespace

float FormLayout::field_width() const { return rest_.width() - (narrow() ? 0 : ui_.px(kLabel)); }

void FormLayout::section(std::string_view title, std::string_view hint, bool line_above) {
  if (line_above) {
    rest_.y0 += ui_.px(8);
    line();
  }
  rest_.y0 += ui_.px(10);
  Rect row = strip(ui_.px(24));
  const float title_width = text_width(ui_, TextStyle::heading, title) + ui_.px(12);
  draw_text(ui_, row.cut_left(narrow() ? title_width : ui_.px(kLabel)), title, {.style = TextStyle::heading});
  draw_text(ui_, row, hint, kHintText);
  rest_.y0 += ui_.px(4);
}

void FormLayout::line() {
  const float beyond = ui_.px(kBeyond);
  horizontal_line(ui_, rest_.x0 - beyond, rest_.x1 + beyond, rest_.y0, ui_.colour(Colour::line1));
}

Rect FormLayout::strip(float height) {
  rest_.y1 = std::numeric_limits<float>::max();
  return rest_.cut_top(height);
}

Rect FormLayout::field(std::string_view label, float height) {
  const float control = ui_.px(size::kControl);
  if (height <= 0) height = control;
  if (narrow()) {
    if (!label.empty()) draw_text(ui_, strip(ui_.px(20)), label, {.colour = Colour::text2});
    const Rect row = strip(height);
    rest_.y0 += ui_.px(kGap);
    return row;
  }
  const float label_width = ui_.px(kLabel - 8);
  const bool wraps = text_width(ui_, TextStyle::body, label) > label_width;
  const float line = ui_.px(kFormLayoutHintLine);
  const float label_height = wraps ? paragraph_height(ui_, TextStyle::small, label, label_width, line) : 0;
  Rect row = strip(std::max(height, label_height));
  rest_.y0 += ui_.px(kGap);
  Rect place = row.cut_left(ui_.px(kLabel));
  place.x1 = place.x0 + label_width;
  place.y1 = place.y0 + std::max(control, label_height);
  if (wraps) {
    draw_paragraph(ui_, place.middle(label_height), label, kLabelText, line);
  } else {
    draw_text(ui_, place, label, {.colour = Colour::text2});
  }
  row.y1 = row.y0 + height;
  return row;
}

void FormLayout::hint(std::string_view text, Colour colour) {
  const float line = ui_.px(kFormLayoutHintLine);
  rest_.y0 -= ui_.px(kGap - 3);
  const Rect place = field("", paragraph_height(ui_, TextStyle::small, text, field_width(), line));
  draw_paragraph(ui_, place, text, {.style = TextStyle::small, .colour = colour}, line);
}

void FormLayout::banner(BannerKind kind, std::string_view text, float least_height) {
  const float least = least_height > 0 ? ui_.px(least_height) : 0;
  const Rect place = field("", std::max(banner_height(ui_, field_width(), text, {}), least));
  render::banner(ui_, place, kind, text, {});
}

// The form as a whole: its parts in order, the command line, and what starts it.

struct PlaceProbe::Shared {
  std::atomic<bool> cancelled = false;
  std::atomic<bool> finished = false;
  std::optional<Result<capture::client::Reached>> result;  // written before finished
};

PlaceProbe::PlaceProbe(Reach reach, std::function<void()> wake) : reach_(std::move(reach)), wake_(std::move(wake)) {}

PlaceProbe::~PlaceProbe() {
  drop_runs();
  for (Run& run : dropped_) run.thread.join();
}

void PlaceProbe::update(const std::vector<std::string>& places, const std::string& token_file, double now_s) {
  if (places != places_ || token_file != token_file_) {
    drop_runs();
    places_ = places;
    token_file_ = token_file;
    std::vector<PlaceVerdict> verdicts;
    for (const std::string& place : places) {
      PlaceVerdict verdict{.place = place, .text = place};
      if (auto good = plan::check_place(place); !good) {
        verdict.state = PlaceVerdict::State::malformed;
        verdict.text = good.message();
      } else if (place == "local") {
        verdict.state = PlaceVerdict::State::unasked;
        verdict.text = "Ready: the agent beside this program is started with the capture, and ends with it.";
      } else if (place.starts_with("ssh://") || !reach_) {
        verdict.state = PlaceVerdict::State::unasked;
        verdict.text = "Well formed. It is reached, and may ask you something, when the capture starts.";
      }
      verdicts.push_back(std::move(verdict));
    }
    verdicts_ = std::move(verdicts);
    ask_at_s_ = now_s + kPause;
  }
  take_answers(now_s);
  if (ask_at_s_ && now_s >= *ask_at_s_) begin_runs(now_s);
  reap();
}

std::optional<double> PlaceProbe::due_in(double now_s) const {
  if (!ask_at_s_) return std::nullopt;
  return std::max(0.0, *ask_at_s_ - now_s);
}

const PlaceVerdict* PlaceProbe::first_reached() const noexcept {
  const auto found = std::ranges::find_if(
      verdicts_, [](const PlaceVerdict& verdict) { return verdict.state == PlaceVerdict::State::reached; });
  return found == verdicts_.end() ? nullptr : &*found;
}

void PlaceProbe::begin_runs(double now_s) {
  ask_at_s_.reset();
  for (PlaceVerdict& verdict : verdicts_) {
    const bool fresh = verdict.state == PlaceVerdict::State::unknown;
    if (!fresh && verdict.state != PlaceVerdict::State::failed) continue;
    if (fresh) {
      verdict.state = PlaceVerdict::State::asking;
      verdict.text = "Trying " + verdict.place;
    }
    Run run{verdict.place, std::make_shared<Shared>(), {}};
    run.thread =
        std::thread([reach = reach_, wake = wake_, place = verdict.place, token = token_file_, shared = run.shared] {
          shared->result = reach(place, token, [shared] { return shared->cancelled.load(); });
          shared->finished = true;
          if (wake) wake();
        });
    runs_.push_back(std::move(run));
  }
  if (runs_.empty() && std::ranges::any_of(verdicts_, [](const PlaceVerdict& verdict) {
        return verdict.state == PlaceVerdict::State::failed;
      })) {
    ask_at_s_ = now_s + kAgain;
  }
}

void PlaceProbe::take_answers(double now_s) {
  for (std::size_t i = runs_.size(); i-- > 0;) {
    if (!runs_[i].shared->finished) continue;
    runs_[i].thread.join();
    Result<capture::client::Reached>& result = *runs_[i].shared->result;
    for (PlaceVerdict& verdict : verdicts_) {
      if (verdict.place != runs_[i].place) continue;
      if (result) {
        verdict.state = PlaceVerdict::State::reached;
        verdict.text = describe_reached(*result);
        verdict.reached = *result;
      } else {
        verdict.state = PlaceVerdict::State::failed;
        verdict.text = result.message();
        ask_at_s_ = now_s + kAgain;
      }
    }
    runs_.erase(runs_.begin() + static_cast<std::ptrdiff_t>(i));
  }
}

void PlaceProbe::drop_runs() {
  for (Run& run : runs_) {
    run.shared->cancelled = true;
    dropped_.push_back(std::move(run));
  }
  runs_.clear();
}

void PlaceProbe::reap() {
  for (std::size_t i = dropped_.size(); i-- > 0;) {
    if (!dropped_[i].shared->finished) continue;
    dropped_[i].thread.join();
    dropped_.erase(dropped_.begin() + static_cast<std::ptrdiff_t>(i));
  }
}

std::string describe_reached(const capture::client::Reached& reached) {
  std::string program = reached.peer;  // "127.0.0.1:7420 (accelscope-agent 0.1.0)"
  if (const std::size_t open = program.find('('); open != std::string::npos && program.ends_with(')')) {
    program = program.substr(open + 1, program.size() - open - 2);
  }
  std::string text = "Reached in " + format_duration(std::round(reached.milliseconds) * 1e6) + ". " + program;
  const capture::wire::Welcome& welcome = reached.welcome;
  if (!welcome.host.empty()) text += " on " + welcome.host;
  if (!welcome.system.empty()) text += ", " + welcome.system;
  std::string offers = welcome.fixed;
  for (const capture::request::KindFacts& kind : welcome.kinds) {
    if (welcome.fixed.empty()) offers += (offers.empty() ? "" : ", ") + kind.name;
  }
  return offers.empty() ? text : text + "; " + offers;
}

ConnectForm::ConnectForm(workspace::Workspace& workspace)
    : workspace_(workspace), probe_(workspace.services().reach, workspace.wake()) {
  const plan::Configurations& known = workspace.configurations();
  if (const plan::Configuration* last = known.find(known.last_used())) show(*last);
}

void ConnectForm::show(const plan::Configuration& configuration) {
  form_ = plan::form_of(configuration.plan, {workspace_.known_kinds(), {}});
  configuration_ = configuration.name;
  kinds_chosen_ = !form_.kinds.empty();
  nags_ = touched_ = false;
}

void ConnectForm::show_place(const std::string& places) {
  capture::client::CapturePlan plan = plan::plan_of(form_, facts_);
  plan.places.clear();
  for (std::size_t begin = 0; begin <= places.size();) {
    const std::size_t end = std::min(places.find(',', begin), places.size());
    if (end > begin) plan.places.push_back(places.substr(begin, end - begin));
    begin = end + 1;
  }
  form_ = plan::form_of(plan, facts_);
  focus_now_ = true;
}

// What the agent says of itself decides what the rest of the form offers.
void ConnectForm::prepare(Ui& ui) {
  probe_.update(plan::places_of(form_), form_.where == plan::Where::agent ? form_.token_file : std::string(),
                ui.time());
  if (const auto due = probe_.due_in(ui.time())) ui.request_frame_after(*due);
  const PlaceVerdict* reached = probe_.first_reached();
  facts_.welcome.reset();
  if (reached != nullptr) facts_.welcome = reached->reached->welcome;
  if (reached == nullptr && test_.shared && test_.shared->finished) facts_.welcome = test_.shared->welcome;
  const bool agent_has_kinds = facts_.welcome && !facts_.welcome->kinds.empty();
  const bool fixed = facts_.welcome && !facts_.welcome->fixed.empty();
  facts_.kinds = agent_has_kinds ? facts_.welcome->kinds
                 : fixed         ? std::vector<capture::request::KindFacts>{}
                                 : workspace_.known_kinds();
  if (!kinds_chosen_) {
    form_.kinds.clear();
    const auto usable =
        std::ranges::find_if(facts_.kinds, [](const capture::request::KindFacts& kind) { return kind.usable(); });
    if (!fixed && usable != facts_.kinds.end()) form_.kinds.push_back({usable->name, {}});
  }
  const bool held = facts_.welcome && std::ranges::any_of(facts_.welcome->captures, [&](const auto& offer) {
                      return offer.id == form_.capture_id;
                    });
  if (facts_.welcome && !held) {
    form_.mode = capture::wire::StartMode::begin;
    form_.capture_id.clear();
  }
  problems_ = plan::check_form(form_, facts_);
}

bool ConnectForm::draw(Ui& ui, const Rect& head, Rect area, const std::function<void(std::string)>& inform) {
  intent_ = Intent::none;
  const bool clicked = ui.input().down(MouseButton::left) && area.contains(ui.input().mouse);
  touched_ = touched_ || (!ui.keys_go_elsewhere() && (clicked || (ui.typing() && !ui.input().text.empty())));
  prepare(ui);
  draw_configurations(ui, head);
  Rect foot = area.cut_bottom(std::min(ui.px(kFoot), area.height()));
  // The command stays in sight while the fields scroll.
  const std::vector<std::string> lines = command_lines(ui, area);
  const float command_height = ui.px(kCommandFrame) + static_cast<float>(lines.size()) * ui.px(kCommandLine);
  const Rect command = area.cut_bottom(std::min(command_height, area.height()));
  foot_height_ = ui.px(kFoot) + command_height;
  const float content = std::max(content_height_, 1.0F);
  const float beyond = ui.px(FormLayout::kBeyond);
  {
    // Lines between sections and the scroll bar go beyond the fields.
    ScrollArea scroll(ui, id("scroll"), {area.x0 - beyond, area.y0, area.x1 + beyond, area.y1}, content);
    FormLayout layout(ui, {area.x0, scroll.content().y0, area.x1, scroll.content().y1});
    draw_where(layout);
    if (form_.mode == capture::wire::StartMode::begin) {
      draw_what(layout);
      draw_how(layout);
    }
    if (layout.used() != content_height_) {
      content_height_ = layout.used();
      ui.request_frame();
    }
  }
  draw_command(ui, command, lines, inform);
  draw_foot(ui, foot);
  if (!ui.keys_go_elsewhere() && ui.pressed(Key::enter, {.ctrl = true}, false)) intent_ = Intent::start;
  draw_naming(ui);
  key_dialog_.draw(ui);
  return fulfil();
}

std::vector<std::string> ConnectForm::command_words() const {
  const capture::client::CapturePlan plan = plan::plan_of(form_, facts_);
  return capture::client::record_command(plan, plan::file_of_title(plan::title_of_plan(plan)));
}

// Of a long one the first lines, and how many more there are.
std::vector<std::string> ConnectForm::command_lines(Ui& ui, const Rect& area) const {
  const float letter = std::max(1.0F, text_width(ui, TextStyle::mono, "0"));
  const float room = area.width() - 2 * ui.px(kCommandPadding) - ui.px(size::kSmallControl + 8);
  std::vector<std::string> lines =
      plan::wrap_command(command_words(), static_cast<std::size_t>(std::max(20.0F, room / letter)));
  const auto most = static_cast<std::size_t>(std::max(2.0F, area.height() * kCommandShare / ui.px(kCommandLine)));
  if (lines.size() <= most) return lines;
  const std::size_t more = lines.size() - most + 1;
  lines.resize(most - 1);
  lines.push_back("  ... and " + std::to_string(more) + " lines more, which are copied with it");
  return lines;
}

void ConnectForm::draw_command(Ui& ui, const Rect& area, const std::vector<std::string>& lines,
                               const std::function<void(std::string)>& inform) {
  const float padding = ui.px(kCommandPadding);
  FormLayout layout(ui, area);
  layout.line();
  layout.space(6);
  draw_text(ui, layout.strip(ui.px(24)), "The same on the command line", kHintText);
  const Rect box = layout.strip(static_cast<float>(lines.size()) * ui.px(kCommandLine) + ui.px(14));
  fill(ui, box, ui.colour(Colour::bg1), size::kControlRadius);
  outline(ui, box, ui.colour(Colour::line1), size::kControlRadius);
  ui.register_widget(id("command"), box);
  Rect inside = box.inset(padding, ui.px(7));
  Rect copy = inside.cut_right(ui.px(size::kSmallControl));
  copy.y1 = copy.y0 + ui.px(size::kSmallControl);
  if (icon_button(ui, id("copy"), copy.moved(ui.px(4), -ui.px(3)), icon::kCopy, "Copy the command")) {
    constexpr std::size_t kColumns = 100;
    std::string text;
    for (const std::string& line : plan::wrap_command(command_words(), kColumns))
      text += (text.empty() ? "" : "\n") + line;
    ui.copy_to_clipboard(text);
    inform("Copied the command");
  }
  for (const std::string& line : lines) {
    draw_text(ui, inside.cut_top(ui.px(kCommandLine)), line,
              {.style = TextStyle::mono, .colour = Colour::text2, .fit = Fit::clip});
  }
}

void ConnectForm::draw_foot(Ui& ui, Rect foot) {
  Rect row = foot.middle(ui.px(size::kControl + 2));
  const bool ready = problems_.empty();
  const std::string why = ready ? std::string() : problems_.front().text;
  const bool begins = form_.mode == capture::wire::StartMode::begin;
  const ButtonOptions start_options{.label = begins                                          ? "Start"
                                             : form_.mode == capture::wire::StartMode::watch ? "Watch"
                                                                                             : "Take up",
                                    .icon = begins ? icon::kPlay : icon::kEye,
                                    .kind = ButtonKind::primary,
                                    .disabled = !ready,
                                    .tooltip = why,
                                    .shortcut = ready ? "Ctrl+Enter" : ""};
  const ButtonOptions paused{.label = "Start paused",
                             .icon = icon::kPause,
                             .disabled = !ready || !begins,
                             .tooltip = ready ? kPausedHint : std::string_view(why)};
  const ButtonOptions save{.label = "Save as...", .tooltip = "Keep this form as a configuration"};
  const ButtonOptions add{.label = "Add to this session",
                          .icon = icon::kPlus,
                          .disabled = !ready,
                          .tooltip = ready ? kAddHint : std::string_view(why)};
  // Drawn from the right, but reached by Tab from the left.
  const float gap = ui.px(8);
  const Rect start_place = row.cut_right(std::max(button_width(ui, start_options), ui.px(96)));
  row.cut_right(gap);
  const Rect paused_place = begins ? row.cut_right(button_width(ui, paused)) : Rect{};
  row.cut_right(gap);
  const auto front = workspace_.active_index();
  const bool live = front && workspace_.is_live(*front);
  const Rect add_place = live ? row.cut_right(button_width(ui, add)) : Rect{};
  if (live) row.cut_right(gap);
  if (button(ui, id("save"), row.cut_left(button_width(ui, save)), save)) ask_for_name(Naming::save, configuration_);
  row.cut_left(ui.px(12));
  const std::string missing = plan::missing_tools(form_, facts_);
  if (!ready) {
    draw_text(ui, row, why, kHintTextRight);
  } else if (!missing.empty()) {
    ui.register_widget(id("missing"), row);
    const float width = std::min(row.width(), text_width(ui, TextStyle::small, missing) + ui.px(20));
    Rect note = row.cut_right(width);
    draw_icon(ui, note.cut_left(ui.px(18)), icon::kWarning, ui.colour(Colour::warning_line), TextStyle::icon13);
    draw_text(ui, note, missing, {.style = TextStyle::small, .colour = Colour::warning});
    tooltip(ui, interact(ui, id("missing.whole"), note), note, missing);
  }
  if (live && button(ui, id("add"), add_place, add)) intent_ = Intent::add;
  if (begins && button(ui, id("start_paused"), paused_place, paused)) intent_ = Intent::start_paused;
  if (button(ui, id("start"), start_place, start_options)) intent_ = Intent::start;
}

bool ConnectForm::fulfil() {
  if (intent_ == Intent::none) return false;
  nags_ = !problems_.empty();
  if (nags_) return false;
  if (intent_ == Intent::add) {
    workspace_.add_agents(*workspace_.active_index(), plan::places_of(form_));
  } else {
    workspace_.connect(plan::plan_of(form_, facts_, intent_ == Intent::start_paused), configuration_);
  }
  return true;
}

TextInputResult ConnectForm::text_field(FormLayout& layout, std::string_view label, std::string_view name,
                                        std::string& value, plan::FormField field, TextInputOptions options) {
  const plan::FormProblem* wrong = problem(field);
  const bool shown = shows_problem(wrong, value);
  options.mono = true;
  options.error = shown;
  const TextInputResult result = text_input(layout.ui(), id(name), layout.field(label), value, options);
  // While it is typed the frame and the foot say it: what lies below stays where it is.
  if (shown && (nags_ || !result.focused)) layout.hint(wrong->text, Colour::error);
  return result;
}

const plan::FormProblem* ConnectForm::problem(plan::FormField field, std::size_t index, std::string_view option) const {
  const auto found = std::ranges::find_if(problems_, [&](const plan::FormProblem& p) {
    return p.field == field && p.index == index && p.option == option;
  });
  return found == problems_.end() ? nullptr : &*found;
}

// What is only missing is no mistake until a start was tried.
bool ConnectForm::shows_problem(const plan::FormProblem* problem, const std::string& value) const {
  return problem != nullptr && (nags_ || !value.empty());
}

}  // namespace accelscope::app::connect
