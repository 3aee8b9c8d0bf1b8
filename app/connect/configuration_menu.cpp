// The user's configurations at the head of the form: choose, name, rename, copy, delete.
#include <algorithm>
#include <utility>

#include "app/connect/form.h"
#include "render/base/icons.h"
#include "render/widgets/controls.h"
#include "render/widgets/interact.h"
#include "render/widgets/menu.h"
#include "render/widgets/popup.h"

namespace accelscope::app {

using namespace render;  // NOLINT: this file is nothing but drawing

namespace {

constexpr const char* kChoose = "use.";  // and the index

std::string shown(const ConfigurationName& name) {
  return name.project.empty() ? name.name : name.project + " / " + name.name;
}

}  // namespace

void ConnectForm::draw_configurations(Ui& ui, const Rect& area) {
  Configurations& known = workspace_.configurations();
  const Configuration* current = known.find(configuration_);
  const bool changed = current != nullptr && !(form_of(current->plan, {workspace_.known_kinds(), {}}) == form_);
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
    const ConfigurationName& name = known.list()[i].name;
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
  Configurations& known = workspace_.configurations();
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
    const ConfigurationName copy = known.free_name(configuration_);
    done = known.duplicate(configuration_, copy);
    if (done) configuration_ = copy;
  } else if (item == "delete") {
    done = known.remove(std::exchange(configuration_, {}));
  }
  if (!done) workspace_.notify(Severity::error, done.message());
}

void ConnectForm::ask_for_name(Naming why, ConfigurationName suggestion) {
  naming_ = why;
  naming_opens_ = true;
  naming_problem_.clear();
  new_name_ = std::move(suggestion);
  if (new_name_.empty()) new_name_.name = title_of_plan(plan_of(form_, facts_));
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
  FocusScope keyboard(ui, id("naming"));
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
  Configurations& known = workspace_.configurations();
  const Result<void> done = naming_ == Naming::save ? known.save({new_name_, plan_of(form_, facts_)})
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

}  // namespace accelscope::app
