#include "app/panels/markers/sets_bar.h"

#include <algorithm>
#include <array>
#include <vector>

#include "core/base/format.h"
#include "render/base/icons.h"
#include "render/widgets/controls.h"
#include "render/widgets/menu.h"
#include "render/widgets/text_input.h"

namespace accelscope::app {

using namespace render;  // NOLINT: this file is nothing but drawing

namespace {

constexpr float kSetRow = 34;   // units
constexpr float kGap = 6;       // units, between controls
constexpr float kChosen = 400;  // units: what acts on a set of the list
constexpr float kNaming = 420;  // units: what makes one, and files
constexpr float kNameField = 150;

bool next_button(Ui& ui, const char* name, Rect& row, const ButtonOptions& options) {
  const bool pressed = button(ui, name, row.cut_left(button_width(ui, options)), options);
  row.cut_left(ui.px(kGap));
  return pressed;
}

}  // namespace

const MarkerSet* MarkerSetsBar::chosen(const PanelContext& context) {
  const MarkerSets& sets = sets_.of(context.tab);
  const MarkerSet* found = sets.find(chosen_);
  if (found == nullptr && !sets.all().empty()) found = &sets.all().back();
  chosen_ = found != nullptr ? found->name : "";
  return found;
}

void MarkerSetsBar::tell(const PanelContext& context, const Result<void>& done, const std::string& text) const {
  done ? context.actions.say(text) : context.actions.notify(Severity::error, done.message());
}

void MarkerSetsBar::draw(const PanelContext& context, Rect& area) {
  Ui& ui = context.ui;
  const float padding = ui.px(size::kPanelPadding);
  const auto take_row = [&] { return area.cut_top(ui.px(kSetRow)).inset(padding, 0).middle(ui.px(size::kControl)); };
  Rect row = take_row();
  if (row.width() >= ui.px(kChosen + kNaming)) {
    draw_chosen(context, row.cut_left(ui.px(kChosen)));
  } else {
    draw_chosen(context, row);
    row = take_row();
  }
  draw_naming(context, row);
  horizontal_line(ui, area.x0, area.x1, area.y0, ui.colour(Colour::line2));
  if (sets_.problem().empty()) return;
  Rect line = area.cut_top(ui.px(24)).inset(padding, 0);
  draw_text(ui, line, "The sets kept in the session cannot be read: " + sets_.problem(), {.colour = Colour::error});
}

void MarkerSetsBar::draw_chosen(const PanelContext& context, Rect row) {
  Ui& ui = context.ui;
  const MarkerSet* set = chosen(context);
  const bool none = set == nullptr;
  std::vector<std::string> names;
  int at = 0;
  for (const MarkerSet& each : sets_.of(context.tab).all()) {
    if (&each == set) at = static_cast<int>(names.size());
    names.push_back(each.name + "  (" + format_count(each.markers.size()) + ")");
  }
  if (none) names.emplace_back("No sets yet");
  const Rect list = row.cut_left(std::min(ui.px(170), row.width() / 2));
  row.cut_left(ui.px(kGap));
  if (dropdown(ui, "markers.sets", list, names, at, {.label = "Set: ", .disabled = none})) {
    chosen_ = sets_.of(context.tab).all()[static_cast<std::size_t>(at)].name;
  }
  const std::string name = chosen_;
  if (next_button(ui, "markers.sets.load", row,
                  {.label = "Load",
                   .disabled = none,
                   .tooltip = "Put the set in the place of the markers; those in no set are kept as one"})) {
    tell(context, sets_.load(context.tab, name, LoadMarkers::replace), "Loaded the markers " + name);
  }
  if (next_button(ui, "markers.sets.add", row,
                  {.label = "Add", .disabled = none, .tooltip = "Put the set's markers beside those that are there"})) {
    tell(context, sets_.load(context.tab, name, LoadMarkers::add), "Added the markers " + name);
  }
  if (next_button(ui, "markers.sets.delete", row,
                  {.label = "Delete set", .disabled = none, .tooltip = "The markers on the timeline stay"})) {
    sets_.remove(context.tab, name);
    context.actions.say("Deleted the set " + name);
  }
}

void MarkerSetsBar::draw_naming(const PanelContext& context, Rect row) {
  Ui& ui = context.ui;
  const Rect field = row.cut_left(std::min(ui.px(kNameField), row.width() / 2));
  row.cut_left(ui.px(kGap));
  const bool submitted = text_input(ui, "markers.sets.name", field, typed_, {.placeholder = "Name of a set"}).submitted;
  const bool no_name = typed_.empty();
  const bool known = sets_.of(context.tab).find(typed_) != nullptr;
  const bool can_save = !no_name && !context.tab.markers.empty();
  const bool save =
      next_button(ui, "markers.sets.save", row,
                  {.label = known ? "Replace set" : "Save set",
                   .disabled = !can_save,
                   .tooltip = can_save ? "Keep the markers under this name" : "It needs a name and markers"});
  if (can_save && (save || submitted)) {
    tell(context, sets_.save(context.tab, typed_), "Saved the markers as " + typed_);
    chosen_ = typed_;
  }
  if (next_button(ui, "markers.sets.rename", row,
                  {.label = "Rename",
                   .disabled = no_name || known || chosen_.empty(),
                   .tooltip = "Give the set on the left this name"})) {
    tell(context, sets_.rename(context.tab, chosen_, typed_), "Renamed the set to " + typed_);
    chosen_ = typed_;
  }
  if (next_button(ui, "markers.sets.import", row, {.label = "Import", .tooltip = "Sets out of a file"})) {
    context.actions.run("import_marker_sets");
  }
  if (next_button(ui, "markers.sets.export", row,
                  {.label = "Export",
                   .disabled = sets_.of(context.tab).all().empty(),
                   .tooltip = "All sets into a text file, for other sessions"})) {
    context.actions.run("export_marker_sets");
  }
}

}  // namespace accelscope::app
