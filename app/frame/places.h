// Which panels are open, where they lie, which is in front, how large the places are: the part of the window that
// the user arranges and that is remembered. Pure data and arithmetic; app/frame/window_frame.cpp draws it.
#pragma once

#include "app/content/page_facts.h"
#include "app/panels/panel.h"
#include "core/base/worker_pool.h"

namespace accelscope::app::frame {

enum class Place : std::uint8_t { right, bottom };
inline constexpr std::size_t kPlaceCount = 2;

// What users ask of a session. The bottom has a tab for each of them, whose pages are the panels that answer it; the
// right place, of few panels, has a tab for each panel.
enum class Question : std::uint8_t { what, time, why, memory, across, data };
inline constexpr std::size_t kQuestionCount = 6;
struct QuestionInfo {
  std::string_view name;   // stable: commands
  std::string_view title;  // for the user
  std::string_view brief;  // where there is less room
};
[[nodiscard]] const QuestionInfo& question_info(Question question) noexcept;

// A panel goes by its name: a row of the table in places.cpp.
using PanelId = std::string_view;
struct PanelInfo {
  PanelId name;            // stable: settings, command line
  std::string_view title;  // for the user
  Place place;             // at first
  Question question;       // that it answers at the bottom
  const char* icon;        // of render/base/icons.h
  panels::PanelMaker* make;
  // Why what it shows is not what passes the filter; "" where it is, or where the panel says so itself.
  std::string_view unfiltered = "";
  std::string_view missing = "";  // why it is no page of a session that has nothing for it; "": it always is one
  bool content::PageFacts::*fact = nullptr;  // that tells so before it is opened; null: only the panel itself knows
};
[[nodiscard]] std::span<const PanelInfo> all_panels() noexcept;  // in the order of their tabs
// A part of a panel that goes by a name of its own: whoever asks for it sees the panel open there (Panel::open_at).
struct PanelPart {
  PanelId name;
  std::string_view title;
  PanelId panel;
};
[[nodiscard]] std::span<const PanelPart> panel_parts() noexcept;
[[nodiscard]] std::size_t panel_index(PanelId id) noexcept;  // in all_panels(), of a part that of its panel
[[nodiscard]] inline const PanelInfo& panel_info(PanelId id) noexcept { return all_panels()[panel_index(id)]; }
[[nodiscard]] std::optional<PanelId> find_panel(std::string_view name) noexcept;  // or a part, by name or title

// The panel that a session asks for with what it consists of, by a table of rules; none: any will do.
[[nodiscard]] std::optional<PanelId> opening_panel(const content::SessionContent& content) noexcept;

// A panel for each place, or none.
using PlaceFronts = std::array<std::optional<PanelId>, kPlaceCount>;

// The right place is a column that closes to a slim door where it would have nothing to say or where the timeline needs
// its room, unless the user wants it otherwise.
enum class ColumnIntent : std::uint8_t { automatic, open, shut };

class PanelLayout {
 public:
  static constexpr float kSplitter = 4;  // thickness, at 100 %
  static constexpr float kDoor = 32;
  static constexpr float kUsualRight = 492;

  PanelLayout();  // as a new user sees it

  [[nodiscard]] bool is_open(PanelId id) const noexcept { return states_[index(id)].open; }
  [[nodiscard]] Place place(PanelId id) const noexcept { return states_[index(id)].place; }
  [[nodiscard]] std::vector<PanelId> panels_in(Place place) const;  // open ones, in the order of their tabs
  [[nodiscard]] std::optional<PanelId> front(Place place) const;    // the one that is seen
  // That one, if it is the user who brought a panel forward there in this run.
  [[nodiscard]] std::optional<PanelId> chosen(Place place) const {
    return chosen_in_run_[static_cast<std::size_t>(place)] ? front(place) : std::nullopt;
  }
  [[nodiscard]] std::optional<PanelId> maximised() const noexcept { return maximised_; }
  [[nodiscard]] bool is_seen(PanelId id) const;
  [[nodiscard]] std::vector<PanelId> pages_of(Question question) const;  // open ones at the bottom, in order
  // The page that a question opens at: the one that was in front last, else the first that has something to say, else
  // the first; none: no panel at the bottom answers it.
  [[nodiscard]] std::optional<PanelId> page_of(Question question,
                                               const std::function<bool(PanelId)>& has_content) const;

  void show(PanelId id);       // opens it and brings it to the front, through the door where there is one
  void show_page(PanelId id);  // the same, as the user left it
  // The name by which a panel was asked for since the last call.
  [[nodiscard]] std::optional<PanelId> take_opened() noexcept { return std::exchange(opened_, {}); }
  void close(PanelId id);
  void toggle(PanelId id) { is_seen(id) ? close(id) : show(id); }
  void move(PanelId id, Place place);
  void maximise(PanelId id);
  void restore() noexcept { maximised_.reset(); }
  void reset() { *this = PanelLayout(); }

  // A pinned panel keeps its place's front until the user chooses another: nothing comes forward by itself.
  [[nodiscard]] bool is_pinned(PanelId id) const noexcept { return pinned_[index(place(id))] == panel_info(id).name; }
  void pin(PanelId id, bool pinned);

  // Once per frame: another session brings the panel that it asks for, where it does, unless the user has chosen one in
  // this run; and where what is in front has nothing to say of the session, its summary or else the first panel that
  // has stands there instead. What the user put there is remembered, and comes back with a session that it tells of.
  void greet(bool other_session, std::optional<PanelId> asked, PanelId summary,
             const std::function<bool(PanelId)>& has_content);
  // The panel of each place that was shown on wish since the last call.
  [[nodiscard]] PlaceFronts take_chosen() noexcept { return std::exchange(chosen_, {}); }

  // Details comes forward when an event is selected, and what it hid comes back when none is.
  void selection_changed(bool selected);
  [[nodiscard]] bool is_behind_details(PanelId id) const { return hidden_by_details_ == panel_info(id).name; }

  // Once per frame, before rects(): whether the right column has anything to say decides whether it is a door.
  void arrange(const render::Rect& area, float scale, bool right_has_text);
  [[nodiscard]] bool door() const noexcept { return door_; }
  [[nodiscard]] bool folded() const noexcept { return folded_; }  // the bottom has room for its tabs alone
  void open_column(bool open);

  // Sizes at 100 %; rects() and the drag functions work in pixels of the given scale.
  struct Rects {
    render::Rect centre;
    std::array<render::Rect, kPlaceCount> places;  // empty when no panel is open there
    render::Rect right_splitter, bottom_splitter;
    render::Rect door;  // in place of the right column
  };
  // `centre`: whether there is something for it; else the bottom, where a panel is open, has its room.
  [[nodiscard]] Rects rects(const render::Rect& area, float scale, bool centre = true) const;
  void drag_splitter(Place place, float pixels, const render::Rect& area, float scale);  // > 0: right or down
  void reset_size(Place place);                                                          // as a new user sees it

  [[nodiscard]] std::string to_text() const;
  static PanelLayout from_text(std::string_view text);  // what it cannot read stays as a new user sees it

 private:
  struct State {
    Place place = Place::bottom;
    bool open = true;
  };
  static std::size_t index(PanelId id) noexcept { return panel_index(id); }
  static constexpr std::size_t index(Place place) noexcept { return static_cast<std::size_t>(place); }
  void keep_front_valid(Place place);
  void prefer_summary(Place place);
  void read_size(Place place, std::string_view text);
  [[nodiscard]] std::optional<PanelId> remembered_front(Place place) const;
  [[nodiscard]] std::array<float, kPlaceCount> sizes_in(const render::Rect& area, float scale) const;

  std::vector<State> states_;  // of all_panels()
  std::array<std::optional<PanelId>, kPlaceCount> front_;
  std::array<std::optional<PanelId>, kPlaceCount> pinned_;
  std::array<std::optional<PanelId>, kQuestionCount> pages_;  // that the user saw last of each question
  PlaceFronts chosen_;
  std::optional<PanelId> opened_;
  std::array<bool, kPlaceCount> chosen_in_run_{};  // what stands in front there is the user's choice
  PlaceFronts set_aside_;                          // in front, were it not empty for this session
  std::optional<PanelId> hidden_by_details_;       // came back to when nothing is selected any more
  float right_width_ = kUsualRight;
  std::optional<float> bottom_share_;  // of the height, once the user has chosen it
  ColumnIntent column_ = ColumnIntent::automatic;
  bool automatic_door_ = false;  // what the column would be if the user had no wish
  bool door_ = false;
  bool folded_ = false;
  bool arranged_ = false;     // it is known whether the column is a door
  bool asked_early_ = false;  // a panel of the column was shown before that
  std::optional<PanelId> maximised_;
};

}  // namespace accelscope::app::frame
