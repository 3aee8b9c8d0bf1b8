// Every widget but the table: what can be clicked, controls, text fields, frames of panels, menus, what appears over
// the rest, and what a panel shows when it has nothing to show. Each has a name, its identity for ImGui and for tests,
// fills the rectangle that it is given, and returns what happened in this frame.
#pragma once

#include "render/base/draw.h"
#include "render/base/icons.h"

namespace accelscope::render {

// The one way a rectangle becomes something that can be clicked: every widget goes through interact(), which also
// registers its name and rectangle for tests. Works in any ImGui window, so popups and scrolled areas clip it rightly.

struct Interaction {
  bool hovered = false;
  bool held = false;     // the left button is down since it went down here
  bool clicked = false;  // released here
  bool pressed = false;  // went down here in this frame
  bool double_clicked = false;
  bool right_clicked = false;
  bool middle_clicked = false;
  double hovered_for = 0;      // seconds that the pointer has rested here
  bool focused = false;        // the keyboard is here
  bool ring = false;           // and a ring shows it
  std::string_view name = {};  // while texts are recorded: of what was drawn in the last frame, too
};

struct InteractOptions {
  bool disabled = false;
  bool below_others = false;  // widgets drawn later inside this one take the pointer (rows with buttons)
  bool chosen = false;        // of several: it is the one, and a click on it does nothing more
  bool no_focus = false;      // Tab passes it by: another stop does by keys what it does. Say which
  FocusStopKind keys = FocusStopKind::button;
  std::string_view group = {};  // of rows of one list: one stop to Tab, arrows go from one to the other
  std::string_view label = {};  // for people, where it has no text of its own: Ctrl+C copies it
};

[[nodiscard]] Interaction interact(Ui& ui, std::string_view name, const Rect& rect,
                                   const InteractOptions& options = {});

// What keys do in this frame to a handle that has the keyboard.
struct HandleKeys {
  int across = 0, along = 0;  // an arrow: -1 left or up, 1 right or down
  bool far = false;           // with Shift
  int to_end = 0;             // Home: -1, End: 1
  bool removes = false;       // Delete
  [[nodiscard]] bool any() const noexcept { return across != 0 || along != 0 || to_end != 0 || removes; }
};
[[nodiscard]] HandleKeys handle_keys(Ui& ui, const Interaction& handle);

enum class Cursor : std::uint8_t { arrow, response, text, resize_horizontal, resize_vertical, move };
void set_cursor(Cursor cursor);  // for this frame

// The keyboard's way through the window, and through each dialog above it: widgets that are drawn while a FocusScope
// lives are reached by Tab and Shift+Tab and pressed by Space or Enter; F6 and Shift+F6 go from pane to pane, arrows,
// Home, End, Page keys and letters through a group. A ring shows where the keyboard is, once a key has moved it.
// interact() and the text fields take part by themselves; Modal and Popover are scopes of their own.
//   FocusScope keyboard(ui, "window");
//   { FocusPane pane(ui, "timeline", 2); ... draw ... }
class FocusScope {
 public:
  FocusScope(Ui& ui, std::string_view name, bool opens = false);  // opens: for the first time, or again
  ~FocusScope();
  FocusScope(const FocusScope&) = delete;
  FocusScope& operator=(const FocusScope&) = delete;

 private:
  Ui& ui_;
  KeyboardFocus& before_;
  bool lives_ = false;
};

// What is drawn while it lives is a part of the window that F6 goes to, in the order of the numbers.
class FocusPane {
 public:
  FocusPane(Ui& ui, std::string_view name, int order, std::string_view first = {});  // where F6 comes to at first
  ~FocusPane();
  FocusPane(const FocusPane&) = delete;
  FocusPane& operator=(const FocusPane&) = delete;

 private:
  FocusPlace& drawn_in_;
  FocusPlace before_;
};

// What is drawn while it lives is one stop to Tab, which comes to `first` or where the keyboard was last.
class FocusGroup {
 public:
  FocusGroup(Ui& ui, std::string_view name, std::string_view first = {}, bool letters = true);
  ~FocusGroup();
  FocusGroup(const FocusGroup&) = delete;
  FocusGroup& operator=(const FocusGroup&) = delete;

 private:
  FocusPlace& drawn_in_;
  FocusPlace before_;
};

struct FocusStop {
  bool here = false;       // the keyboard is at this widget
  bool ring = false;       // and it is seen to be
  bool activated = false;  // button: Space or Enter
  bool entered = false;    // by Enter: also what a double click does
  bool menu = false;       // its menu: Shift+F10
  bool take_now = false;   // text: takes the keyboard in this frame
};
// Called by widgets, before anything can leave them undrawn.
[[nodiscard]] FocusStop focus_stop(Ui& ui, std::string_view name, const Rect& rect, FocusStopKind kind,
                                   std::string_view label = {}, std::string_view group = {});
// Ctrl+C copies all of the list, which Ctrl+A chose: the labels of what is drawn, unless the caller copies its own
// text.
[[nodiscard]] bool copies_all_of(Ui& ui, std::string_view group);
// The widget has the keyboard by other means: a click, a command.
void focus_is_at(Ui& ui, std::string_view name);
// The first that begins with it, or one of whose words does, beginning with `from`; nothing where none does.
[[nodiscard]] std::optional<std::size_t> find_typed(std::size_t count, std::size_t from, std::string_view typed,
                                                    const std::function<std::string(std::size_t)>& label);
// The box that shows where the keyboard is.
void draw_ring(Ui& ui, const Rect& rect);

// Buttons, checkboxes, segments, chips, sliders, links: small controls that fill the rectangle they are given. Each has
// a name (its identity) and returns what happened in this frame. Widths that depend on text come from *_width().

enum class ButtonKind : std::uint8_t {
  normal,   // bg4 with a border
  quiet,    // bg4 without a border (small buttons in panels)
  primary,  // accent; one in a form
  flat,     // no background until hovered (menus, tool bars)
};

struct ButtonOptions {
  std::string_view label = {};
  const char* icon = nullptr;
  Pixel icon_colour = {};  // 0: as the label
  ButtonKind kind = ButtonKind::normal;
  bool disabled = false;
  bool active = false;             // stays pressed: what it opened is open, what it toggles is on
  std::string_view tooltip = {};   // for a disabled one: why
  std::string_view shortcut = {};  // "Ctrl+O", shown in the tooltip
};

[[nodiscard]] float button_width(const Ui& ui, const ButtonOptions& options);
bool button(Ui& ui, std::string_view name, const Rect& rect, const ButtonOptions& options);
// A button at the end of a row, as wide as its label; it is cut off the row.
bool button_left(Ui& ui, std::string_view name, Rect& row, const ButtonOptions& options, float height = size::kControl);
bool button_right(Ui& ui, std::string_view name, Rect& row, const ButtonOptions& options,
                  float height = size::kControl);
// A 24 or 26 px square with an icon; flat. The tooltip is its explanation, so it must have one.
bool icon_button(Ui& ui, std::string_view name, const Rect& rect, const char* icon, std::string_view tooltip,
                 const ButtonOptions& options = {});

[[nodiscard]] float checkbox_width(const Ui& ui, std::string_view label);
bool checkbox(Ui& ui, std::string_view name, const Rect& rect, std::string_view label, bool& on, bool disabled = false);

struct Segment {
  std::string_view label;
  const char* icon = nullptr;
  bool disabled = false;
  std::string_view tooltip = {};
};
[[nodiscard]] float segmented_width(const Ui& ui, std::span<const Segment> segments);
// One of several; `chosen` changes and true is returned on a click. Segments register as NAME.0, NAME.1 ...
bool segmented(Ui& ui, std::string_view name, const Rect& rect, std::span<const Segment> segments, int& chosen);
// The same at the end of a row, cut off it.
bool segmented_left(Ui& ui, std::string_view name, Rect& row, std::span<const Segment> segments, int& chosen,
                    float height = size::kControl);
bool segmented_right(Ui& ui, std::string_view name, Rect& row, std::span<const Segment> segments, int& chosen,
                     float height = size::kControl);

struct ChipOptions {
  std::string_view label;
  Pixel swatch = {};      // 0: none
  bool closable = false;  // its x registers as NAME.close
  bool accent = true;     // accent_bg (filters); false: bg4 (tags, legends)
  bool selected = false;  // accent outline
  std::string_view tooltip = {};
};
struct ChipResult {
  bool clicked = false;
  bool closed = false;
};
[[nodiscard]] float chip_width(const Ui& ui, const ChipOptions& options);
ChipResult chip(Ui& ui, std::string_view name, const Rect& rect, const ChipOptions& options);

// value runs from 0 to 1. True while it changes.
bool slider(Ui& ui, std::string_view name, const Rect& rect, float& value, bool disabled = false,
            std::string_view label = {});

[[nodiscard]] float link_width(const Ui& ui, std::string_view label, TextStyle style = TextStyle::body);
bool link(Ui& ui, std::string_view name, const Rect& rect, std::string_view label, TextStyle style = TextStyle::body);

// A key cap such as "Ctrl+F" on bg4, right-aligned in the row; returns its width.
float key_cap(Ui& ui, Rect row, std::string_view keys);
[[nodiscard]] float key_cap_width(const Ui& ui, std::string_view keys);
// A small count behind a tab's or group's name; returns its width.
float badge(Ui& ui, const Rect& row, std::string_view text);

// Text fields: a line with an optional icon, placeholder and key hints (a search box), and a block of several lines.
// The focus ring is 1.5 px accent. Editing, selection and the clipboard are ImGui's.

struct TextInputOptions {
  std::string_view placeholder = {};
  const char* icon = nullptr;                       // on the left
  std::span<const std::string_view> key_caps = {};  // on the right while empty and not focused: "Ctrl+F"
  bool mono = false;                                // numbers, paths, code
  bool password = false;
  bool disabled = false;
  bool error = false;      // red outline; say why beside it
  bool focus_now = false;  // takes the keyboard in this frame
  bool select_all = true;  // when it takes the keyboard
};
struct TextInputResult {
  bool changed = false;
  bool submitted = false;  // Enter
  bool focused = false;
  bool cancelled = false;  // Esc while focused; the text is as it was before
};
TextInputResult text_input(Ui& ui, std::string_view name, const Rect& rect, std::string& text,
                           const TextInputOptions& options = {});
// What a text area tells of its caret, and what it is asked to do, for completion.
struct TextCaret {
  std::size_t at = 0;      // bytes into the text
  bool hold_keys = false;  // in: Up and Down belong to a list, they leave the caret where it is
  bool tab = false;        // out: Tab was pressed, and it was not typed
  // In: bytes [begin, end) become `text` and the caret goes behind it. Cleared when done.
  struct Replacement {
    std::size_t begin = 0;
    std::size_t end = 0;
    std::string text;
  };
  std::optional<Replacement> replace;
};
// Several lines in mono; Ctrl+Enter submits.
TextInputResult text_area(Ui& ui, std::string_view name, const Rect& rect, std::string& text, TextCaret& caret,
                          const TextInputOptions& options = {});

// What panels are framed with: tab strips, headings, scrolled areas.

struct Tab {
  std::string name;  // identity, unique in its strip; registers as STRIP.NAME, its x as STRIP.NAME.close
  std::string label;
  std::string detail = {};  // text3 behind the label: "trn1-07 nc0"
  const char* icon = nullptr;
  std::string badge = {};  // a count: "3"
  bool closable = false;
  std::string tooltip = {};
  bool pinned = false;    // a small pin behind the label
  bool updating = false;  // a clock on its margin, STRIP.NAME.updating: it comes and goes, and moves no tab
};
struct TabStripOptions {
  bool can_add = false;      // a plus behind the last tab (STRIP.add)
  float reserved_right = 0;  // pixels kept free on the right for the caller's icons
  bool pages = false;        // chips on what is there: what the active tab of another strip is divided into
};
struct TabStripResult {
  std::optional<std::size_t> chosen;
  std::optional<std::size_t> closed;
  std::optional<std::size_t> right_clicked;
  std::optional<std::size_t> dragged;  // it follows the pointer, out of the strip or along it
  std::optional<std::size_t> dropped;  // and has been let go in this frame
  bool add = false;
};
// In pixels, where all of them are seen.
[[nodiscard]] float tab_strip_width(const Ui& ui, std::span<const Tab> tabs);
// A strip on bg0; the active tab is bg2 with a 2 px accent line on top. Tabs that do not fit are reached by a menu.
TabStripResult tab_strip(Ui& ui, std::string_view name, const Rect& rect, std::span<const Tab> tabs,
                         std::optional<std::size_t> active, const TabStripOptions& options = {});

// "Usage  SBUF, all partitions": a semibold name and a hint behind it. Returns the x where it ends.
float heading(Ui& ui, const Rect& row, std::string_view title, std::string_view hint = {});
// "Timing" in small_strong text2 over a line: a group of fields. Cuts its 24 px from the area.
void group_heading(Ui& ui, Rect& area, std::string_view title);

// The right part of the area, of that width, with a line between both.
[[nodiscard]] Rect cut_pane(Ui& ui, Rect& area, float width);

// A part that scrolls vertically when its content is higher than it:
//   ScrollArea scroll(ui, "details", area, content_height);
//   Rect content = scroll.content();   // moved by the scroll position; clip and wheel are taken care of
class ScrollArea {
 public:
  ScrollArea(Ui& ui, std::string_view name, const Rect& area, float content_height, float content_width = 0);
  ~ScrollArea();
  ScrollArea(const ScrollArea&) = delete;
  ScrollArea& operator=(const ScrollArea&) = delete;
  [[nodiscard]] const Rect& content() const noexcept { return content_; }  // full content, in window pixels
  [[nodiscard]] const Rect& visible() const noexcept { return visible_; }
  void show(const Rect& part);  // scrolls so that this part of the content is visible
  void move(float down);        // scrolls by so much, at once

 private:
  Rect content_;
  Rect visible_;
};

// Menus and dropdowns as data: a bar of menus, a popup at the pointer, a choice out of a list. Items are named
// MENU.ID for tests. All return what was chosen in this frame.

struct MenuItem {
  std::string id;  // what choosing it returns
  std::string label;
  std::string shortcut = {};  // "Ctrl+O"
  const char* icon = nullptr;
  bool enabled = true;
  bool checked = false;
  bool line_above = false;
  std::vector<MenuItem> children = {};  // a submenu
};
struct Menu {
  std::string label;
  std::function<std::vector<MenuItem>()> items;  // asked for while it is open
};

// Draws the labels from the left edge of `rect` and returns the chosen item's id. `used_width` is what they took.
[[nodiscard]] std::optional<std::string> menu_bar(Ui& ui, std::string_view name, const Rect& rect,
                                                  std::span<const Menu> menus, float* used_width = nullptr);

// open_menu() at a click, popup_menu() in every frame (it draws nothing while closed).
void open_menu(Ui& ui, std::string_view name);  // at the pointer
void open_menu_below(Ui& ui, std::string_view name, const Rect& anchor);
[[nodiscard]] bool menu_is_open(std::string_view name);
[[nodiscard]] std::optional<std::string> popup_menu(Ui& ui, std::string_view name, std::span<const MenuItem> items);

struct DropdownOptions {
  std::string_view label = {};  // before the value: "Colour: "
  const char* icon = nullptr;
  bool mono = false;
  bool flat = false;  // text and a caret only, right-aligned (panel heads)
  bool disabled = false;
  std::string_view tooltip = {};
};
[[nodiscard]] float dropdown_width(const Ui& ui, std::string_view value, const DropdownOptions& options = {});
// The same with a menu of any items, submenus too: the id of what was chosen. Items register as NAME.ID while open.
[[nodiscard]] std::optional<std::string> dropdown_menu(Ui& ui, std::string_view name, const Rect& rect,
                                                       std::string_view value, std::span<const MenuItem> items,
                                                       const DropdownOptions& options = {});
// True when another item was chosen. Items register as NAME.0, NAME.1 ... while open.
bool dropdown(Ui& ui, std::string_view name, const Rect& rect, std::span<const std::string> items, int& chosen,
              const DropdownOptions& options = {});

// What appears over the rest: tooltips, hover cards and modal dialogs. A tooltip or card opens after the pointer has
// rested for 120 ms, beside what it explains and never over it.

// For the widget just drawn: shows `text` once it has been hovered long enough.
void tooltip(Ui& ui, const Interaction& interaction, const Rect& explained, std::string_view text,
             std::string_view shortcut = {});

struct HoverCardRow {
  std::string label;
  std::string value;
  Colour colour = Colour::text1;
  TextStyle style = TextStyle::mono;
};
struct HoverCard {
  std::string title;
  std::string title_value;  // right-aligned, mono
  std::string whole;        // what the title is short for, in as many lines as it takes; may be empty
  Pixel swatch = {};
  std::vector<HoverCardRow> rows;
  std::string footer;  // a paragraph, for explanations
};
// Draws at once (the caller knows how long the pointer rested). `explained` stays visible; so does `also_visible`.
void hover_card(Ui& ui, const HoverCard& card, const Rect& explained, const Rect& also_visible = {});

// A card that stays: its lower right corner lies there. It takes no clicks.
void standing_card(Ui& ui, std::string_view name, Point corner, const HoverCard& card);

// Where a box of this size goes beside `explained`, inside `window`, over neither of the two if there is room.
[[nodiscard]] Rect place_beside(const Rect& window, Point box, const Rect& explained, const Rect& also_visible,
                                Point pointer, float gap);

// A dialog in the middle of the window that takes all input:
//   if (Modal modal(ui, "quit", "Save changes?", 420, 160); modal.open()) { ... modal.body() ... modal.close(); }
// open_modal() opens it; Esc and its x close it.
void open_modal(Ui& ui, std::string_view name);
class Modal {
 public:
  Modal(Ui& ui, std::string_view name, std::string_view title, float width_units, float height_units);
  ~Modal();
  Modal(const Modal&) = delete;
  Modal& operator=(const Modal&) = delete;
  [[nodiscard]] bool open() const noexcept { return open_; }
  [[nodiscard]] Rect head() const noexcept { return head_; }        // the title's row, left of the x
  [[nodiscard]] Rect body() const noexcept { return body_; }        // below the title, inside the padding
  [[nodiscard]] Rect buttons() const noexcept { return buttons_; }  // the row at the foot: cut buttons from its right
  void close();

 private:
  std::optional<FocusScope> keyboard_;
  bool open_ = false;
  Rect head_;
  Rect body_;
  Rect buttons_;
};

// Whether a menu, a card or a dialog is open: Esc is for it.
[[nodiscard]] bool any_popup_open();

// A card below what was clicked, or above it where there is no room, that stays until a click outside of it or Esc:
//   if (at.clicked) open_popover(ui, "agents");
//   if (Popover card(ui, "agents", anchor, 420, 200); card.open()) { ... card.body() ... }
void open_popover(Ui& ui, std::string_view name);
class Popover {
 public:
  Popover(Ui& ui, std::string_view name, const Rect& anchor, float width_units, float height_units);
  ~Popover();
  Popover(const Popover&) = delete;
  Popover& operator=(const Popover&) = delete;
  [[nodiscard]] bool open() const noexcept { return open_; }
  [[nodiscard]] Rect body() const noexcept { return body_; }  // the whole card

 private:
  std::optional<FocusScope> keyboard_;
  bool open_ = false;
  Rect body_;
};

// What a panel shows when it has nothing to show, when something failed, and while something takes long.

// One icon, what is missing in one sentence, one or two actions as links (NAME.0, NAME.1). Returns the clicked one.
std::optional<std::size_t> empty_state(Ui& ui, std::string_view name, const Rect& area, const char* icon,
                                       std::string_view sentence, std::span<const std::string_view> actions = {});

// The same with one action: true when it was clicked; and with none.
bool empty_state(Ui& ui, std::string_view name, const Rect& area, const char* icon, std::string_view sentence,
                 std::string_view action);
void empty_sentence(Ui& ui, std::string_view name, const Rect& area, const char* icon, std::string_view sentence);

enum class BannerKind : std::uint8_t { info, ok, warning, error };
[[nodiscard]] float banner_height(const Ui& ui, float width, std::string_view text, std::string_view second_line = {});
// A coloured box with an icon: what happened, to which host or file, what to try.
void banner(Ui& ui, const Rect& rect, BannerKind kind, std::string_view text, std::string_view second_line = {});

struct ProgressOptions {
  std::string_view label;
  double share = -1;              // 0 to 1; below 0: unknown, the bar wanders
  std::string_view details = {};  // "59 %  212 MB/s  4 s"
};
// A 26 px row with a 2 px bar at its foot. True when cancelled: its x registers as NAME.cancel.
bool progress(Ui& ui, std::string_view name, const Rect& rect, const ProgressOptions& options);

}  // namespace accelscope::render
