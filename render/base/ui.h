// What drawing code gets each frame: theme, fonts, scale, input, textures, and the register of what was drawn where.
//   const Rect bar = area.cut_top(ui.px(size::kTopBar));
//   if (button(ui, "top.record", bar.cut_left(ui.px(90)), {.label = "Record"})) ...
// Names of widgets are their identity for ImGui and for tests; they are unique on one screen ("details.copy").
// The Ui belongs to a shell; a client keeps no pointer to it between frames.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "render/base/fonts.h"
#include "render/base/geometry.h"
#include "render/base/input.h"
#include "render/base/picture.h"
#include "render/base/theme.h"

struct ImDrawList;

namespace accelscope::render {

// A text that was drawn in this frame and where. Retained only while recording is on (tests).
struct VisibleText {
  std::string text;
  Rect rect;
};

// Where the keyboard is among the widgets of a form. Retained by widgets/interact.h.
struct KeyboardFocus {
  struct Mark {
    Rect rect, clip;
    ImDrawList* list = nullptr;
  };
  std::string scope;
  std::string at;                  // the widget
  std::string wanted;              // in the frame of a Tab: the text field that is to take the keyboard
  std::vector<std::string> order;  // of the last frame; of this one while it is drawn
  std::optional<Mark> mark;        // where `at` was drawn in this frame
  int depth = 0;                   // popups around the scope
  bool alive = false;              // the scope is being drawn
  bool moved = false;              // by Tab, in this frame
  bool by_keyboard = false;        // the ring is shown
};

// A text for a file that the user chooses. It may be long: it is made on a worker, so it holds all that it needs.
struct FileOffer {
  std::string name;  // suggested, "metrics.csv"
  std::function<std::string()> text;
};

// A label that the user wants explained.
struct LabelWord {
  std::string name;     // for programs, "busy_ns"; "": the title is all there is
  std::string title;    // as it stands on the screen
  std::string meaning;  // what its tooltip says; may be empty
};

class Ui {
 public:
  // ---- The look
  [[nodiscard]] const Theme& theme() const noexcept { return theme_; }
  [[nodiscard]] Pixel colour(Colour token) const noexcept { return theme_[token]; }
  void set_theme(ThemeKind kind);                                // takes effect with the next frame
  [[nodiscard]] float scale() const noexcept { return scale_; }  // DPI scale times zoom(): 1 at 100 %
  [[nodiscard]] float zoom() const noexcept { return zoom_; }
  void set_zoom(float zoom);  // the user's own factor on top of the DPI scale, 0.5 to 3; next frame
  [[nodiscard]] const Fonts& fonts() const noexcept { return fonts_; }
  // Units at 100 % to whole pixels; never 0 for a positive size.
  [[nodiscard]] float px(float units) const noexcept;

  // ---- The frame
  [[nodiscard]] Rect window() const noexcept { return window_; }
  [[nodiscard]] double time() const noexcept { return time_; }  // seconds; stands still for pictures
  [[nodiscard]] const Input& input() const noexcept { return input_; }
  [[nodiscard]] bool typing() const noexcept { return typing_; }  // a text input has the keyboard
  // The key went down in this frame (or repeats), with exactly these modifiers. Heeds no text input: ask typing().
  // Without Ctrl or Alt, and except for function keys, only what is drawn in the popup in front has keys.
  [[nodiscard]] bool pressed(Key key, Modifiers modifiers = {}, bool repeat = true) const;
  [[nodiscard]] bool keys_go_elsewhere() const;               // a popup is open above what is drawn now
  [[nodiscard]] ImDrawList* draw() const;                     // of the current ImGui window
  void request_frame() noexcept { frame_requested_ = true; }  // draw again at once: something moves
  void request_frame_after(double seconds) noexcept;          // draw again then: a card opens
  void copy_to_clipboard(const std::string& text) const;
  // A long text, made on a worker, so it holds all that it needs; made at once while nobody does that.
  void copy_made(std::function<std::string()> text) const {
    makes_copy_ ? makes_copy_(std::move(text)) : copy_to_clipboard(text());
  }
  void set_copy_maker(std::function<void(std::function<std::string()>)> maker) { makes_copy_ = std::move(maker); }
  // Hands a text to whoever asks for the file and writes it; nothing happens while nobody does.
  void offer_file(FileOffer offer) const {
    if (takes_file_) takes_file_(std::move(offer));
  }
  [[nodiscard]] bool can_offer_file() const noexcept { return takes_file_ != nullptr; }
  void set_file_taker(std::function<void(FileOffer)> taker) { takes_file_ = std::move(taker); }
  // Explains a label, elsewhere than in place; nothing happens while nobody does.
  void look_up(const LabelWord& word) const {
    if (explains_) explains_(word);
  }
  [[nodiscard]] bool can_look_up() const noexcept { return explains_ != nullptr; }
  void set_explainer(std::function<void(const LabelWord&)> explainer) { explains_ = std::move(explainer); }
  // Reads back what this frame shows, once it is drawn. The null shell gives an empty picture.
  void take_picture(std::function<void(Result<Picture>)> done) { picture_requests_.push_back(std::move(done)); }

  [[nodiscard]] Textures& textures() const noexcept { return *textures_; }

  // ---- What is on the screen
  void register_widget(std::string_view name, const Rect& rect);
  [[nodiscard]] const Rect* find_widget(std::string_view name) const;  // drawn in this or the last frame
  [[nodiscard]] const std::unordered_map<std::string, Rect>& widgets() const noexcept { return shown_; }
  void note_text(std::string_view text, const Rect& rect);
  [[nodiscard]] const std::vector<VisibleText>& texts() const noexcept { return texts_; }
  void record_text(bool on) noexcept { records_text_ = on; }

  // Seconds that the pointer has rested on the widget of this name; call it in every frame in which it does. Between
  // two frames nothing moves, however long that is: a window at rest draws none.
  [[nodiscard]] double hovered_for(std::string_view name);

  [[nodiscard]] KeyboardFocus& keyboard_focus() noexcept { return keyboard_focus_; }

  // Letters that are typed into the menu of this name, those of the last second together.
  [[nodiscard]] std::string& type_ahead(std::string_view menu);

  // ---- Memory of widgets between frames, by name: what is open, where a drag began.
  [[nodiscard]] float& remembered(std::string_view name, float initial = 0);

 private:
  friend class FrameLoop;

  Theme theme_;
  Fonts fonts_;
  Textures* textures_ = nullptr;
  ThemeKind next_theme_ = ThemeKind::dark;
  float scale_ = 1;
  float zoom_ = 1;
  float next_zoom_ = 1;
  Rect window_;
  double time_ = 0;
  Input input_;
  bool typing_ = false;
  bool frame_requested_ = false;
  double frame_after_ = -1;
  bool records_text_ = false;
  std::unordered_map<std::string, Rect> drawn_;  // in this frame, until it ends
  std::unordered_map<std::string, Rect> shown_;  // in the last whole frame
  std::vector<VisibleText> texts_;
  std::unordered_map<std::string, float> remembered_;
  std::string hovered_name_;
  double hovered_since_ = 0;
  int hovered_frame_ = -1;  // the last that asked
  std::vector<std::function<void(Result<Picture>)>> picture_requests_;
  std::function<void(FileOffer)> takes_file_;
  std::function<void(std::function<std::string()>)> makes_copy_;
  std::function<void(const LabelWord&)> explains_;
  KeyboardFocus keyboard_focus_;
  std::string typed_into_;  // a menu
  std::string type_ahead_;
  double typed_at_ = 0;
};

}  // namespace accelscope::render
