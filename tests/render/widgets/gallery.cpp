#include <array>

#include "gallery.h"
#include "render/base/icons.h"
#include "render/widgets/widgets.h"

namespace accelscope::render {
namespace {

const Menu kMenus[] = {
    {"File",
     [] {
       return std::vector<MenuItem>{
           {.id = "open", .label = "Open", .shortcut = "Ctrl+O", .icon = icon::kFolderOpen},
           {.id = "save", .label = "Save", .shortcut = "Ctrl+S", .enabled = false},
           {.id = "recent", .label = "Recent", .line_above = true, .children = {{.id = "one", .label = "One"}}}};
     }},
    {"View", [] { return std::vector<MenuItem>{{.id = "dark", .label = "Dark", .checked = true}}; }},
};
const std::string kChoices[] = {"Tensor", "Queue", "Size"};
const TableColumn kColumns[] = {{.title = "Name"},
                                {.title = "Count", .width = 72, .align = Align::right},
                                {.title = "Busy", .width = 96, .align = Align::right},
                                {.title = "Average", .width = 88, .align = Align::right},
                                {.title = "Share", .width = 240}};
struct GalleryRow {
  const char* name;
  const char* count;
  const char* busy;
  const char* average;
  const char* share_text;
  double share;
  unsigned slot;
};
constexpr GalleryRow kRows[] = {{"MATMUL", "512", "187.4 µs", "366 ns", "65.6 %", 0.656, 0},
                                {"LDWEIGHTS", "512", "39.61 µs", "77 ns", "13.9 %", 0.139, 1},
                                {"TRANSPOSE", "136", "21.59 µs", "159 ns", "7.5 %", 0.075, 2},
                                {"TENSOR_COPY", "136", "23.49 µs", "173 ns", "8.2 %", 0.082, 4}};

}  // namespace

void Gallery::frame(Ui& ui) {
  const FocusScope keyboard(ui, "gallery");
  Rect window = ui.window();
  fill(ui, window, ui.colour(Colour::bg2));
  Rect bar = window.cut_top(ui.px(size::kTopBar));
  fill(ui, bar, ui.colour(Colour::bg3));
  bar.cut_left(ui.px(8));
  float used = 0;
  if (const auto item = menu_bar(ui, "menu", bar, kMenus, &used)) chosen_menu_item = *item;
  bar.cut_left(used + ui.px(40));
  const std::array<std::string_view, 2> caps = {"Ctrl+F", "Ctrl+P"};
  text_input(ui, "search", bar.cut_left(ui.px(420)).middle(ui.px(size::kControl)), search,
             {.placeholder = "Search events, or run a command", .icon = icon::kSearch, .key_caps = caps});
  bar.cut_right(ui.px(8));
  if (icon_button(ui, "theme", bar.cut_right(ui.px(26)).middle(ui.px(26)), icon::kSun, "Light theme",
                  {.shortcut = "Ctrl+T"})) {
    ui.set_theme(ThemeKind::light);
  }
  icon_button(ui, "settings", bar.cut_right(ui.px(26)).middle(ui.px(26)), icon::kSettings, "Settings");
  const Tab tabs[] = {
      {.name = "one", .label = "mlp_fwd", .detail = "trn1-07 nc0", .icon = icon::kChip, .closable = true},
      {.name = "two", .label = "mlp_fwd_resident", .detail = "trn1-07 nc0", .icon = icon::kChip, .closable = true},
      {.name = "three", .label = "Warnings", .badge = "3"}};
  const TabStripResult strip =
      tab_strip(ui, "tabs", window.cut_top(ui.px(size::kSessionTabs)), tabs, active_tab, {.can_add = true});
  if (strip.chosen) active_tab = *strip.chosen;
  if (strip.closed) closed_tab = static_cast<int>(*strip.closed);

  const Rect status = window.cut_bottom(ui.px(size::kStatusBar));
  fill(ui, status, ui.colour(Colour::bg3));
  horizontal_line(ui, status.x0, status.x1, status.y0, ui.colour(Colour::line2));
  draw_text(ui, status.inset(ui.px(12), 0), "38,412 events", {.style = TextStyle::small, .colour = Colour::text2});

  Rect right = window.cut_right(ui.px(120));
  fill(ui, right, ui.colour(Colour::bg1));
  hatch(ui, ui.draw(), right.cut_top(ui.px(120)), ui.colour(Colour::hatch));

  Rect body = window.inset(ui.px(24), ui.px(12));
  draw_text_styles(ui, body.cut_top(ui.px(76)));
  draw_marks(ui, body.cut_top(ui.px(60)));
  draw_controls(ui, body.cut_top(ui.px(150)));
  draw_states(ui, body.cut_top(ui.px(190)));
  draw_table(ui, body.cut_top(ui.px(140)));
}

void Gallery::draw_text_styles(Ui& ui, Rect area) {
  Rect row = area.cut_top(ui.px(36));
  row.cut_left(draw_text(ui, row, "Accelscope", {.style = TextStyle::display}) + ui.px(12));
  row.cut_left(draw_text(ui, row, "Connect and record", {.style = TextStyle::title}) + ui.px(12));
  draw_text(ui, row, "Profiles of AI accelerators, from a device or a file", {.colour = Colour::text2});
  row = area.cut_top(ui.px(20));
  const TextStyle styles[] = {TextStyle::body, TextStyle::heading,     TextStyle::small,     TextStyle::small_strong,
                              TextStyle::mono, TextStyle::mono_strong, TextStyle::mono_small};
  for (const TextStyle style : styles) {
    row.cut_left(draw_text(ui, row, "Tile 1,986,695 ns", {.style = style}) + ui.px(16));
  }
  row = area.cut_top(ui.px(20));
  row.cut_left(draw_text(ui, row, "µ × − ≈ – … ⌀ → • Σ ≤ ½ é ß Ω", {}) + ui.px(16));
  row.cut_left(draw_text(ui, row, "µ × − ≈ – … ⌀ → • Σ ≤ ½", {.style = TextStyle::mono}) + ui.px(16));
  draw_text(ui, row.cut_left(ui.px(120)), "qGpSimdSpillReload0", {.fit = Fit::middle});
  row.cut_left(ui.px(16));
  draw_text(ui, row.cut_left(ui.px(120)), "nl.load(w1[k, h])  again", {.style = TextStyle::mono});
}

void Gallery::draw_marks(Ui& ui, Rect area) {
  Rect row = area.cut_top(ui.px(24));
  const char* icons[] = {icon::kSearch,      icon::kFilter,   icon::kPlus,      icon::kClose,      icon::kSettings,
                         icon::kSun,         icon::kMoon,     icon::kArrowLeft, icon::kArrowRight, icon::kCaretDown,
                         icon::kCaretRight,  icon::kChip,     icon::kStar,      icon::kBalance,    icon::kFolderOpen,
                         icon::kPlug,        icon::kPlay,     icon::kPause,     icon::kStop,       icon::kCircle,
                         icon::kLaptop,      icon::kLock,     icon::kKey,       icon::kWarning,    icon::kError,
                         icon::kCheckCircle, icon::kInfo,     icon::kFileCode,  icon::kFlag,       icon::kCopy,
                         icon::kDownload,    icon::kExpand,   icon::kMaximise,  icon::kMenu,       icon::kPin,
                         icon::kAreaChart,   icon::kDatabase, icon::kClock,     icon::kSave,       icon::kTable,
                         icon::kTrash,       icon::kUndo,     icon::kHistory};
  for (const char* shown : icons) draw_icon(ui, row.cut_left(ui.px(22)), shown, ui.colour(Colour::text2));
  row = area.cut_top(ui.px(28));
  for (unsigned slot = 0; slot < 12; ++slot) {
    const Rect slice = row.cut_left(ui.px(60)).middle(ui.px(size::kSlice));
    const Pixel colour = ui.theme().slice(slot);
    fill(ui, slice, colour, size::kSliceRadius);
    if (ui.theme().kind() == ThemeKind::light) outline(ui, slice, ui.theme().slice_edge(colour), size::kSliceRadius);
    draw_text(ui, slice.inset(ui.px(6), 0), "MATMUL", {.style = TextStyle::mono_small, .colour = Colour::ink});
    row.cut_left(ui.px(6));
  }
  const Rect dashed = row.cut_left(ui.px(90)).middle(ui.px(size::kSlice));
  dashed_line(ui, ui.draw(), {dashed.x0, dashed.y1}, {dashed.x1, dashed.y1}, ui.colour(Colour::accent));
  draw_text(ui, dashed.inset(ui.px(6), 0), "≈ estimated", {.style = TextStyle::mono_small});
}

void Gallery::draw_controls(Ui& ui, Rect area) {
  heading(ui, area.cut_top(ui.px(22)), "Controls", "height 26; radius 4; focus 1.5 px accent");
  Rect row = area.cut_top(ui.px(26));
  const ButtonOptions buttons[] = {
      {.label = "Normal"},
      {.label = "Quiet", .kind = ButtonKind::quiet},
      {.label = "Primary", .kind = ButtonKind::primary},
      {.label = "Disabled", .disabled = true, .tooltip = "Nothing is selected"},
      {.label = "Record", .icon = icon::kCircle, .icon_colour = ui.colour(Colour::error)},
      {.label = "Stop  00:12", .icon = icon::kStop, .icon_colour = ui.colour(Colour::error)},
      {.label = "Active", .icon = icon::kPin, .active = true},
      {.label = "Flat", .icon = icon::kFilter, .kind = ButtonKind::flat}};
  for (const ButtonOptions& options : buttons) {
    if (button(ui, "button." + std::string(options.label), row.cut_left(button_width(ui, options)), options)) ++presses;
    row.cut_left(ui.px(8));
  }
  row.cut_left(ui.px(16));
  text_input(ui, "field", row.cut_left(ui.px(140)), typed,
             {.placeholder = "placeholder", .mono = true, .focus_now = focus_field});
  focus_field = false;
  area.cut_top(ui.px(10));
  row = area.cut_top(ui.px(26));
  const ChipOptions filter{.label = "mlp_fwd.py:33–43", .closable = true};
  if (chip(ui, "chip", row.cut_left(chip_width(ui, filter)).middle(ui.px(24)), filter).closed) chip_closed = true;
  row.cut_left(ui.px(8));
  const ChipOptions legend{.label = "MATMUL", .swatch = ui.theme().slice(0), .accent = false};
  chip(ui, "legend", row.cut_left(chip_width(ui, legend)).middle(ui.px(24)), legend);
  row.cut_left(ui.px(8));
  const ChipOptions tag{.label = "baseline", .accent = false};
  chip(ui, "tag", row.cut_left(chip_width(ui, tag)).middle(ui.px(18)), tag);
  row.cut_left(ui.px(16));
  checkbox(ui, "on", row.cut_left(checkbox_width(ui, "on") + ui.px(16)), "on", checked);
  checkbox(ui, "off", row.cut_left(checkbox_width(ui, "off") + ui.px(16)), "off", unchecked);
  slider(ui, "slider", row.cut_left(ui.px(120)), level);
  row.cut_left(ui.px(16));
  if (link(ui, "link", row.cut_left(ui.px(40)), "link")) last_link = "link";
  key_cap(ui, row.cut_left(ui.px(60)), "Ctrl+F");
  area.cut_top(ui.px(10));
  row = area.cut_top(ui.px(26));
  const Segment segments[] = {{.label = "This machine", .icon = icon::kLaptop},
                              {.label = "Agent", .icon = icon::kPlug},
                              {.label = "ssh", .icon = icon::kLock}};
  segmented(ui, "segments", row.cut_left(segmented_width(ui, segments)), segments, segment);
  row.cut_left(ui.px(16));
  dropdown(ui, "dropdown", row.cut_left(ui.px(200)), kChoices, choice, {.icon = icon::kKey, .mono = true});
  row.cut_left(ui.px(16));
  dropdown(ui, "flat", row.cut_left(ui.px(160)), kChoices, choice, {.label = "Heat: ", .flat = true});
}

void Gallery::draw_states(Ui& ui, Rect area) {
  Rect left = area.cut_left(ui.px(380));
  heading(ui, left.cut_top(ui.px(22)), "Hover card", "never over its slice; after 120 ms");
  Rect box = left.cut_top(ui.px(150));
  fill(ui, box, ui.colour(Colour::bg1), size::kCardRadius);
  outline(ui, box, ui.colour(Colour::line1), size::kCardRadius);
  Rect lane = box.inset(ui.px(12), ui.px(8)).cut_top(ui.px(16));
  hatch(ui, ui.draw(), lane.cut_left(ui.px(60)), ui.colour(Colour::hatch));
  const Rect slice = lane.cut_left(ui.px(72));
  fill(ui, slice, ui.theme().slice(0), size::kSliceRadius);
  outline(ui, slice, ui.colour(Colour::text2), size::kSliceRadius);
  draw_text(ui, slice.inset(ui.px(6), 0), "MATMUL", {.style = TextStyle::mono_small, .colour = Colour::ink});
  if (show_card) {
    const HoverCard card{.title = "MATMUL",
                         .title_value = "368 ns",
                         .swatch = ui.theme().slice(0),
                         .rows = {{"Start", "1,986,695 ns"},
                                  {"Waited", "609 ns", Colour::warning},
                                  {"Tile", "w1[7, 2]"},
                                  {"Source", "mlp_fwd.py:37"}},
                         .footer = {}};
    hover_card(ui, card, slice);
  }
  area.cut_left(ui.px(24));
  area.cut_right(ui.px(40));
  heading(ui, area.cut_top(ui.px(22)), "Empty state");
  box = area.cut_top(ui.px(80));
  fill(ui, box, ui.colour(Colour::bg1), size::kCardRadius);
  outline(ui, box, ui.colour(Colour::line1), size::kCardRadius);
  const std::array<std::string_view, 2> actions = {"Clear the search", "Widen the range"};
  if (const auto action =
          empty_state(ui, "empty", box, icon::kSearch, "No event matches \"nc_matmul k=9\".", actions)) {
    empty_action = static_cast<int>(*action);
  }
  area.cut_top(ui.px(8));
  banner(ui, area.cut_top(ui.px(26)), BannerKind::error, "trn1-07:7420 refused the token; copy it anew.");
  area.cut_top(ui.px(4));
  if (progress(ui, "progress", area.cut_top(ui.px(26)),
               {.label = "Importing profile_rank_3.json", .share = 0.59, .details = "59 %  212 MB/s  4 s"})) {
    cancelled = true;
  }
}

void Gallery::draw_table(Ui& ui, Rect area) {
  heading(ui, area.cut_top(ui.px(22)), "Table", "header 22, row 20; numbers to the right; hover, selected, sorted");
  area.cut_right(ui.px(40));
  if (table_state.sort_column < 0) table_state.sort_column = 2;
  const auto content = [&](std::size_t row, std::size_t column) {
    const GalleryRow& line = kRows[row];
    const char* texts[] = {line.name, line.count, line.busy, line.average, line.share_text};
    TableCell cell{.text = texts[column]};
    if (column == 0) cell.swatch = ui.theme().slice(line.slot);
    if (column == 4) {
      cell.bar = line.share;
      cell.bar_colour = ui.theme().slice(line.slot);
    }
    return cell;
  };
  last_table = table(ui, "table", area, kColumns, std::size(kRows), content, table_state,
                     {.selected = [&](std::size_t row) { return row == selected_row; }});
  if (last_table.clicked) selected_row = *last_table.clicked;
}

}  // namespace accelscope::render
