// What drawing code gets each frame: theme, fonts, scale, input, textures, and the register of what was drawn where.
//   const Rect bar = area.cut_top(ui.px(size::kTopBar));
//   if (button(ui, "top.record", bar.cut_left(ui.px(90)), {.label = "Record"})) ...
// Names of widgets are their identity for ImGui and for tests; they are unique on one screen ("details.copy").
// The Ui belongs to a shell; a client keeps no pointer to it between frames.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
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

// What a stop of the keyboard does with keys.
enum class FocusStopKind : std::uint8_t {
  button,   // Enter and Space press it
  text,     // is typed into
  list,     // has arrows, Home, End, Page, Enter, Space and, once a ring is round it, letters
  pointer,  // arrows move a pointer over it, with Shift they drag, Enter and Space press there
  handle,   // what a drag moves: arrows, with Shift too, Home and End move it, Enter is a double click, Delete removes
  open,     // none: commands have them
};

// A stop as it was drawn. Stops of one group are one to Tab; arrows go from one to the other.
struct FocusPlace {
  std::string name, label;
  std::string group;  // "": none
  std::string pane;
  int pane_order = 0;
  FocusStopKind kind = FocusStopKind::button;
  bool letters = false;  // of the group: what is typed goes to the member that begins with it
  Rect rect;
};

// What can be clicked, for people and for programs.
struct Control {
  std::string name;
  std::string label;  // its own, else the texts in it, else what its tooltip says
  Rect rect;          // as far as it is seen
  FocusStopKind keys = FocusStopKind::button;
  bool enabled = true;
  bool chosen = false;  // of several: it is the one
};

// Where the keyboard is among the widgets of the window or of a dialog. Retained by widgets/controls.cpp.
struct KeyboardFocus {
  struct Mark {
    Rect rect, clip;
    ImDrawList* list = nullptr;
  };
  std::string at;                           // the widget
  std::string part;                         // of a list: the row or cell that the keyboard is at
  std::string wanted;                       // in the frame of a Tab: the text field that is to take the keyboard
  std::vector<FocusPlace> places;           // of the last frame; of this one while it is drawn
  std::map<std::string, std::string> last;  // of each pane and group the stop that was used last
  FocusPlace drawn_in;                      // pane and group of what is drawn now
  std::optional<FocusPlace> place;          // of `at`, as it was drawn last
  std::optional<Mark> mark;                 // where `at` was drawn in this frame
  std::optional<Rect> menu_below;           // a key asked for the menu of what lies here
  bool drawn = false;                       // `at`, in this frame
  std::string all_chosen;                   // the list of which Ctrl+A chose all
  bool copies_all = false;                  // Ctrl+C copies that list, in this frame
  int to_end = 0;                           // a key goes to the first member of a group, or to the last
  int frames_to_end = 0;                    // in which it still does: what lies there is drawn only in sight
  std::size_t index = 0;                    // of `at` among the places
  int depth = 0;                            // popups around the scope
  bool alive = false;                       // the scope is being drawn
  bool moved = false;                       // by a key, in this frame
  bool by_keyboard = false;                 // the ring is shown
  bool keeps_tab = false;                   // a text area completes with it
};

// A text for a file that the user chooses. It may be long: it is made on a worker, so it holds all that it needs.
struct FileOffer {
  std::string name;  // suggested, "metrics.csv"
  std::function<std::string()> text;
};

// How long the last frames took on the UI thread, from their input to their draw list, and what the last one draws.
// What the graphics driver makes of it is not in it.
struct FrameTimes {
  static constexpr std::size_t kMost = 240;
  std::array<float, kMost> ms{};
  std::size_t count = 0, next = 0;
  std::uint64_t draw_calls = 0, vertices = 0;

  void add(float frame_ms) noexcept {
    ms[next] = frame_ms;
    next = (next + 1) % kMost;
    count = std::min(count + 1, kMost);
  }
  [[nodiscard]] float percentile(double share) const;  // 0.5: the median; 0 without frames
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
  // Nothing moves by itself: no wandering bars, no blinking caret.
  [[nodiscard]] bool reduced_motion() const noexcept { return reduced_motion_; }
  void set_reduced_motion(bool on) noexcept { reduced_motion_ = on; }
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

  [[nodiscard]] const FrameTimes& frame_times() const noexcept {
    return frame_times_;
  }  // of the frames before this one
  [[nodiscard]] Textures& textures() const noexcept { return *textures_; }

  // ---- What is on the screen
  void register_widget(std::string_view name, const Rect& rect);
  [[nodiscard]] const Rect* find_widget(std::string_view name) const;  // drawn in this or the last frame
  [[nodiscard]] const std::unordered_map<std::string, Rect>& widgets() const noexcept { return shown_; }
  // What can be clicked. Two of one name in a frame are one to the pointer: the later one is dead.
  void note_clickable(Control control);
  void note_explanation(std::string_view name, std::string_view text);
  // All that can be clicked and was drawn in the last frame, by name; while recording.
  [[nodiscard]] std::vector<Control> controls() const;
  [[nodiscard]] const std::set<std::string>& doubled_names() const noexcept { return doubled_; }  // while recording
  void note_text(std::string_view text, const Rect& rect);
  [[nodiscard]] const std::vector<VisibleText>& texts() const noexcept { return texts_; }
  [[nodiscard]] bool records_text() const noexcept { return records_text_; }
  void record_text(bool on) noexcept { records_text_ = on; }

  // Seconds that the pointer has rested on the widget of this name; call it in every frame in which it does. Between
  // two frames nothing moves, however long that is: a window at rest draws none.
  [[nodiscard]] double hovered_for(std::string_view name);

  // Of the scope that is drawn now.
  [[nodiscard]] KeyboardFocus& keyboard_focus() noexcept { return *focus_; }
  KeyboardFocus& begin_focus(std::string_view scope);  // until end_focus() gets what was there before
  void end_focus(KeyboardFocus& before) noexcept { focus_ = &before; }
  // Of what was in front last: the window, or the dialog above it.
  [[nodiscard]] const KeyboardFocus& front_focus() const noexcept { return *front_focus_; }
  void focus_in_front(const KeyboardFocus& focus) noexcept { front_focus_ = &focus; }
  // What has the keyboard acts on the key itself: no command has it.
  [[nodiscard]] bool focus_takes(Key key, Modifiers modifiers) const;
  // The keyboard's own pointer, in place of the mouse until that moves.
  void point_at(Point place, bool presses);
  // The same with the button down, from where it points now, until Shift comes up.
  void drag_to(Point from, Point place);
  [[nodiscard]] bool is_pointing() const noexcept { return pointer_.has_value(); }

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
  bool reduced_motion_ = false;
  FrameTimes frame_times_;
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
  std::map<std::string, Control, std::less<>> clickable_;  // in this frame, while recording
  std::map<std::string, std::string, std::less<>> explained_;
  std::set<std::string> doubled_;  // of all frames
  std::unordered_map<std::string, float> remembered_;
  std::string hovered_name_;
  double hovered_since_ = 0;
  int hovered_frame_ = -1;  // the last that asked
  std::vector<std::function<void(Result<Picture>)>> picture_requests_;
  std::function<void(FileOffer)> takes_file_;
  std::function<void(std::function<std::string()>)> makes_copy_;
  std::function<void(const LabelWord&)> explains_;
  // In place of the mouse: where it points, and whether it presses with the next frame.
  [[nodiscard]] Input with_pointer(const Input& input);

  std::unordered_map<std::string, KeyboardFocus> focuses_;  // of each scope
  KeyboardFocus* focus_ = &focuses_[""];
  const KeyboardFocus* front_focus_ = focus_;
  std::optional<Point> pointer_;
  Point mouse_;  // where it was when the keyboard's pointer came
  bool pointer_presses_ = false;
  bool pointer_holds_ = false;         // the button, while Shift is down
  std::optional<Point> pointer_next_;  // where a drag that begins in this frame goes with the next
  std::string typed_into_;             // a menu
  std::string type_ahead_;
  double typed_at_ = 0;
};

}  // namespace accelscope::render
