// Where: how the agents are reached, what they answer, and the captures that they hold already.
#include <algorithm>
#include <array>
#include <utility>

#include "app/connect/form.h"
#include "core/base/format.h"
#include "render/base/icons.h"
#include "render/widgets/controls.h"
#include "render/widgets/menu.h"

namespace accelscope::app {

using namespace render;  // NOLINT: this file is nothing but drawing

namespace {

constexpr float kVerdictHeight = 44;  // of two lines: most answers, whatever was typed

constexpr std::array<Segment, kWhereCount> kWays = {{
    {.label = "This machine",
     .icon = icon::kLaptop,
     .tooltip = "An agent is started beside this program, and ends with the capture"},
    {.label = "Agent", .icon = icon::kPlug, .tooltip = "An agent that runs already: HOST:PORT"},
    {.label = "ssh", .icon = icon::kLock, .tooltip = "The agent is copied and started through ssh"},
}};

constexpr std::array<std::string_view, kWhereCount> kHints = {
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

}  // namespace

void ConnectForm::draw_where(FormLayout& layout) {
  Ui& ui = layout.ui();
  layout.section("Where", kHints[static_cast<std::size_t>(form_.where)], false);
  int way = static_cast<int>(form_.where);
  Rect place = layout.field("Reach it by");
  place.x1 = std::min(place.x1, place.x0 + segmented_width(ui, kWays));
  if (segmented(ui, id("where"), place, kWays, way)) {
    form_.where = static_cast<Where>(way);
    focus_now_ = form_.where != Where::local;
  }
  switch (form_.where) {
    case Where::local:
      break;
    case Where::agent:
      draw_host(layout, form_.agent_hosts, kUsualAgent);
      break;
    case Where::ssh:
      draw_host(layout, form_.ssh_hosts, "ssh://ubuntu@trn1-07");
      break;
  }
  draw_verdicts(layout);
  draw_captures(layout);
}

void ConnectForm::draw_host(FormLayout& layout, std::string& hosts, std::string_view placeholder) {
  Ui& ui = layout.ui();
  const bool ssh = form_.where == Where::ssh;
  const bool malformed =
      std::any_of(probe_.verdicts().begin(), probe_.verdicts().end(),
                  [](const PlaceVerdict& verdict) { return verdict.state == PlaceVerdict::State::malformed; });
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
                  .error = (touched_ && malformed) || (nags_ && problem(FormField::host) != nullptr),
                  .focus_now = std::exchange(focus_now_, false)});
  if (typed.submitted) wish_ = Wish::start;
  if (ssh) {
    text_input(ui, id("ssh_config"), second, form_.ssh_config_file,
               {.placeholder = "ssh's own", .icon = icon::kFile, .mono = true});
  } else {
    text_input(ui, id("token"), second, form_.token_file,
               {.placeholder = "found by itself", .icon = icon::kKey, .mono = true});
  }
}

void ConnectForm::draw_verdicts(FormLayout& layout) {
  const float least = form_.where == Where::local ? 0 : kVerdictHeight;
  if (const FormProblem* missing = problem(FormField::host); missing != nullptr && probe_.verdicts().empty()) {
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

}  // namespace accelscope::app
