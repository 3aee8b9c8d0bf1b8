#include "app/connect_form.h"

#include <utility>

#include "render/icons.h"
#include "render/widgets/controls.h"
#include "render/widgets/layout.h"
#include "render/widgets/states.h"
#include "render/widgets/text_input.h"

namespace accelscope::app {

using namespace render;  // NOLINT: this file is nothing but drawing

namespace {

constexpr float kLabelWidth = 110;
constexpr const char* kAgentCommand = "accelscope-agent simulate --listen 127.0.0.1:7420";

void section(Ui& ui, Rect& rest, std::string_view title, std::string_view hint, bool line_above = true) {
  if (line_above) horizontal_line(ui, rest.x0 - ui.px(24), rest.x1 + ui.px(24), rest.y0, ui.colour(Colour::line1));
  rest.cut_top(ui.px(12));
  Rect row = rest.cut_top(ui.px(24));
  draw_text(ui, row.cut_left(ui.px(kLabelWidth)), title, {.style = TextStyle::heading});
  draw_text(ui, row, hint, {.style = TextStyle::small, .colour = Colour::text3});
}

// A command in a box, with a button that copies it.
void command_box(Ui& ui, const Rect& rect, const std::string& name, const std::string& command,
                 const std::function<void(std::string)>& say) {
  fill(ui, rect, ui.colour(Colour::bg1), size::kControlRadius);
  outline(ui, rect, ui.colour(Colour::line2), size::kControlRadius);
  Rect place = rect.inset(ui.px(10), 0);
  const Rect copy = place.cut_right(ui.px(size::kSmallControl)).middle(ui.px(size::kSmallControl));
  if (icon_button(ui, name, copy, icon::kCopy, "Copy the command")) {
    ui.copy_to_clipboard(command);
    say("Copied the command");
  }
  draw_text(ui, place, command, {.style = TextStyle::mono, .colour = Colour::text2});
}

}  // namespace

std::string record_command_line(const std::string& address) {
  return "accelscope record " + (address.empty() ? std::string("HOST:PORT") : address) + " -o session.accel";
}

bool ConnectForm::draw(Ui& ui, Workspace& workspace, Rect area, const std::string& prefix,
                       const std::function<void(std::string)>& say) {
  Rect rest = area;
  const auto address = check_address(address_);
  section(ui, rest, "Where", "The agent that runs beside the device. For now it must run on this machine.", false);
  rest.cut_top(ui.px(6));
  Rect row = rest.cut_top(ui.px(size::kControl));
  draw_text(ui, row.cut_left(ui.px(kLabelWidth)), "Host and port", {.colour = Colour::text2});
  const bool wrong = !address && !address_.empty();
  const TextInputResult typed = text_input(ui, prefix + ".address", row, address_,
                                           {.placeholder = kUsualAgent,
                                            .icon = icon::kPlug,
                                            .mono = true,
                                            .error = wrong,
                                            .focus_now = std::exchange(focus_now_, false)});
  rest.cut_top(ui.px(8));
  Rect verdict = rest;
  verdict.cut_left(ui.px(kLabelWidth));
  const std::string sentence = address ? "The address is well formed: " + *address
                               : address_.empty()
                                   ? std::string("Type the address that the agent printed when it started.")
                                   : address.message();
  const float height = banner_height(ui, verdict.width(), sentence);
  const BannerKind kind = wrong ? BannerKind::error : address ? BannerKind::ok : BannerKind::info;
  banner(ui, verdict.cut_top(height), kind, sentence);
  rest.cut_top(height + ui.px(16));

  section(ui, rest, "What", "The agent streams what it captures; nothing is installed on the device.");
  rest.cut_top(ui.px(4));
  row = rest.cut_top(ui.px(20));
  row.cut_left(ui.px(kLabelWidth));
  draw_text(ui, row, "No agent running yet? Start one with a simulated accelerator:",
            {.style = TextStyle::small, .colour = Colour::text3});
  row = rest.cut_top(ui.px(32));
  row.cut_left(ui.px(kLabelWidth));
  command_box(ui, row, prefix + ".copy_agent", kAgentCommand, say);
  rest.cut_top(ui.px(16));

  section(ui, rest, "How", "The same on the command line, without a window:");
  rest.cut_top(ui.px(4));
  row = rest.cut_top(ui.px(32));
  row.cut_left(ui.px(kLabelWidth));
  command_box(ui, row, prefix + ".copy_record", record_command_line(address_), say);

  Rect foot = rest;
  foot = foot.cut_bottom(ui.px(size::kControl));
  const ButtonOptions start{.label = "Connect and record",
                            .icon = icon::kPlay,
                            .kind = ButtonKind::primary,
                            .disabled = !address.ok(),
                            .tooltip = wrong ? "The address is not right yet" : ""};
  const bool pressed = button(ui, prefix + ".start", foot.cut_right(button_width(ui, start)), start);
  if (!address || !(pressed || typed.submitted)) return false;
  workspace.connect(*address);
  return true;
}

}  // namespace accelscope::app
