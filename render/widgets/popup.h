// What appears over the rest: tooltips, hover cards and modal dialogs. A tooltip or card opens after the pointer has
// rested for 120 ms, beside what it explains and never over it.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "render/base/draw.h"
#include "render/widgets/interact.h"

namespace accelscope::render {

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
  bool open_ = false;
  Rect body_;
};

}  // namespace accelscope::render
