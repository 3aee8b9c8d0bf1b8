#include "app/panels/markers/panel.h"

namespace accelscope::app::panels {

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

constexpr float kEditorWidth = 320;

// By time until a column is chosen.
void sort_markers(std::vector<const Marker*>& rows, const TableState& state) {
  std::ranges::sort(rows, [](const Marker* a, const Marker* b) { return a->ts_ns < b->ts_ns; });
  const auto less = [&](const Marker& a, const Marker& b) {
    switch (state.sort_column) {
      case 0:
        return natural_less(view::marker_called(a), view::marker_called(b));
      case 1:
        return a.set_name < b.set_name;
      case 3:
        return a.end_ns.value_or(a.ts_ns) - a.ts_ns < b.end_ns.value_or(b.ts_ns) - b.ts_ns;
      case 5:
        return a.note < b.note;
      default:
        return a.ts_ns < b.ts_ns;
    }
  };
  if (state.sort_column < 0) return;
  std::ranges::stable_sort(
      rows, [&](const Marker* a, const Marker* b) { return state.descending ? less(*b, *a) : less(*a, *b); });
}

const Marker* find_marker(const session::SessionTab& tab, std::optional<std::int64_t> id) {
  const auto found = std::ranges::find_if(tab.markers, [&](const Marker& m) { return m.id == id; });
  return found == tab.markers.end() ? nullptr : &*found;
}

}  // namespace

const view::MarkerSet* MarkerSetsBar::chosen(const PanelContext& context) {
  const view::MarkerSets& sets = sets_.of(context.tab);
  const view::MarkerSet* found = sets.find(chosen_);
  if (found == nullptr && !sets.all().empty()) found = &sets.all().back();
  chosen_ = found != nullptr ? found->name : "";
  return found;
}

void MarkerSetsBar::tell(const PanelContext& context, const Result<void>& done, const std::string& text) const {
  done ? context.actions.inform(text) : context.actions.notify(Severity::error, done.message());
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
  const view::MarkerSet* set = chosen(context);
  const bool none = set == nullptr;
  std::vector<std::string> names;
  int at = 0;
  for (const view::MarkerSet& each : sets_.of(context.tab).all()) {
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
    tell(context, sets_.load(context.tab, name, view::LoadMarkers::replace), "Loaded the markers " + name);
  }
  if (next_button(ui, "markers.sets.add", row,
                  {.label = "Add", .disabled = none, .tooltip = "Put the set's markers beside those that are there"})) {
    tell(context, sets_.load(context.tab, name, view::LoadMarkers::add), "Added the markers " + name);
  }
  if (next_button(ui, "markers.sets.delete", row,
                  {.label = "Delete set", .disabled = none, .tooltip = "The markers on the timeline stay"})) {
    sets_.remove(context.tab, name);
    context.actions.inform("Deleted the set " + name);
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

std::optional<bool> MarkersPanel::has_content(const PanelContext& context) const {
  return !context.tab.markers.empty() || view::SessionMarkerSets::any_in(context.tab);
}

void MarkersPanel::draw(const PanelContext& context, const Rect& area) {
  Ui& ui = context.ui;
  session::SessionTab& tab = context.tab;
  Rect rest = area;
  bar_.draw(context, rest);
  if (tab.markers.empty()) {
    if (empty_state(ui, "markers.empty", rest, icon::kFlag,
                    "No markers yet. Press M over the timeline, or right-click it.", "Drop a marker at the cursor")) {
      context.actions.run("drop_marker");
    }
    return;
  }
  const std::vector<Marker> markers = tab.markers;  // the editor below may change the tab's
  std::vector<const Marker*> rows;
  for (const Marker& marker : markers) rows.push_back(&marker);
  sort_markers(rows, table_);
  if (find_marker(tab, tab.chosen_marker) == nullptr) tab.chosen_marker = rows.front()->id;
  // One that was chosen or renamed on the timeline is not what is being typed here.
  const Marker& now = *find_marker(tab, tab.chosen_marker);
  const bool is_other = now.id != retained_.id;
  if (is_other || now.name != retained_.name || now.note != retained_.note) {
    retained_ = now;
    name_ = now.name;
    note_ = now.note;
    set_ = now.set_name;
  }
  if (find_marker(tab, base_) == nullptr) base_ = rows.front()->id;
  const Marker base = *find_marker(tab, base_);

  draw_editor(context, area, rest.cut_right(std::min(ui.px(kEditorWidth), rest.width() / 2)));
  const std::array<TableColumn, 6> columns = {{{.title = "Name"},
                                               {.title = "Set", .width = 90},
                                               {.title = "Time", .width = 130, .align = Align::right},
                                               {.title = "Span", .width = 100, .align = Align::right},
                                               {.title = "From " + view::marker_called(base),
                                                .width = 120,
                                                .align = Align::right,
                                                .tooltip = "Time from the base marker to this one"},
                                               {.title = "Note"}}};
  const auto content = [&](std::size_t row, std::size_t column) -> TableCell {
    const Marker& marker = *rows[row];
    switch (column) {
      case 0:
        return {.text = view::marker_called(marker),
                .style = TextStyle::heading,
                .icon = icon::kFlag,
                .icon_colour = Colour::marker};
      case 1:
        return {.text = marker.set_name, .colour = Colour::text3, .style = TextStyle::body};
      case 2:
        return {.text = format_time_exact(marker.ts_ns)};
      case 3:
        return {.text = marker.end_ns ? format_time_exact(*marker.end_ns - marker.ts_ns) : "–"};
      case 4:
        return {.text = marker.id == base.id ? "base" : format_time_exact(marker.ts_ns - base.ts_ns)};
      default:
        return {.text = marker.note, .colour = Colour::text2, .style = TextStyle::body};
    }
  };
  std::optional<std::size_t> show_row;
  if (is_other) show_row = std::ranges::find(rows, tab.chosen_marker, &Marker::id) - rows.begin();
  const TableResult result =
      table(ui, "markers.table", rest, columns, rows.size(), content, table_,
            {.selected = [&](std::size_t row) { return rows[row]->id == tab.chosen_marker; }, .show_row = show_row});
  if (result.clicked) tab.chosen_marker = rows[*result.clicked]->id;
  if (result.double_clicked) {
    const Marker& marker = *rows[*result.double_clicked];
    const auto half = static_cast<std::int64_t>(tab.view.span_ns() / 2);
    if (marker.end_ns) {
      view::show_stretch(tab, marker.ts_ns, *marker.end_ns);
    } else {
      tab.show({static_cast<double>(marker.ts_ns - half), static_cast<double>(marker.ts_ns + half)});
    }
  }
}

// From any other marker to the chosen one, begin to begin; the list measures from the same one.
void MarkersPanel::draw_difference(const PanelContext& context, const Marker& chosen, Rect row) {
  Ui& ui = context.ui;
  const std::vector<Marker>& markers = context.tab.markers;
  std::vector<std::string> names;
  int at = 0;
  for (const Marker& marker : markers) {
    if (marker.id == base_) at = static_cast<int>(names.size());
    names.push_back(view::marker_called(marker));
  }
  draw_text(ui, row.cut_left(ui.px(56)), "Diff vs", {.colour = Colour::text2});
  const Rect list = row.cut_left(std::min(ui.px(120), row.width() / 2)).middle(ui.px(size::kControl));
  if (dropdown(ui, "markers.diff", list, names, at)) base_ = markers[static_cast<std::size_t>(at)].id;
  row.cut_left(ui.px(8));
  const Marker* base = find_marker(context.tab, base_);
  if (base == nullptr) return;
  draw_text(ui, row, format_time_exact(chosen.ts_ns - base->ts_ns), {.style = TextStyle::mono_strong});
}

void MarkersPanel::draw_editor(const PanelContext& context, const Rect& whole, Rect area) {
  Ui& ui = context.ui;
  const Marker* found = find_marker(context.tab, context.tab.chosen_marker);
  if (found == nullptr) return;
  const Marker marker = *found;  // what is put below makes the tab's list anew
  const Marker* chosen = &marker;
  vertical_line(ui, area.x0, area.y0, area.y1, ui.colour(Colour::line2));
  Rect rest = area.inset(ui.px(size::kPanelPadding), ui.px(8));
  Marker changed = *chosen;
  const std::array<std::pair<const char*, std::string*>, 3> fields = {
      {{"Name", &name_}, {"Note", &note_}, {"Set", &set_}}};
  const bool area_holds_pointer = whole.contains(ui.input().mouse);  // Del is meant for the chosen marker only here
  bool submitted = false;
  for (const auto& [label, text] : fields) {
    Rect row = rest.cut_top(ui.px(30));
    draw_text(ui, row.cut_left(ui.px(56)), label, {.colour = Colour::text2});
    const std::string name = std::string("markers.edit.") + label;
    const std::string empty = "No " + lower_case(label);
    submitted |= text_input(ui, name, row.middle(ui.px(size::kControl)), *text, {.placeholder = empty}).submitted;
  }
  rest.cut_top(ui.px(6));
  const bool differs = name_ != chosen->name || note_ != chosen->note || set_ != chosen->set_name;
  Rect row = rest.cut_top(ui.px(size::kControl));
  const ButtonOptions keep{.label = "Keep", .kind = ButtonKind::primary, .disabled = !differs};
  const ButtonOptions base{.label = "Measure from here", .disabled = base_ == marker.id};
  const ButtonOptions remove{.label = "Delete", .icon = icon::kTrash};
  submitted |= button(ui, "markers.keep", row.cut_left(button_width(ui, keep)), keep);
  row.cut_left(ui.px(8));
  if (button(ui, "markers.base", row.cut_left(button_width(ui, base)), base)) base_ = marker.id;
  row.cut_left(ui.px(8));
  const bool deleted = button(ui, "markers.delete", row.cut_left(button_width(ui, remove)), remove);
  rest.cut_top(ui.px(6));
  draw_difference(context, marker, rest.cut_top(ui.px(30)));
  if (submitted && differs) {
    changed.name = name_;
    changed.note = note_;
    changed.set_name = set_;
    session::put_marker(context.tab, changed);
  } else if (deleted || (!ui.typing() && area_holds_pointer && ui.pressed(Key::del, {}, false))) {
    session::remove_marker(context.tab, changed.id);
  }
}

std::unique_ptr<Panel> make_markers_panel(const PanelParts&) { return std::make_unique<MarkersPanel>(); }

}  // namespace accelscope::app::panels
