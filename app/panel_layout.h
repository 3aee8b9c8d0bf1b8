// Which panels are open, where they lie, which is in front, how large the places are: the part of the window that
// the user arranges and that is remembered. Pure data and arithmetic; app/window_frame.cpp draws it.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "render/geometry.h"

namespace accelscope::app {

enum class PanelId : std::uint8_t {
  source,
  stack,
  details,
  search,
  selection,
  memory,
  markers,
  quality,
  metrics,
  sql,
  output
};
inline constexpr std::size_t kPanelCount = 11;

enum class Place : std::uint8_t { right, bottom };
inline constexpr std::size_t kPlaceCount = 2;

struct PanelInfo {
  PanelId id;
  std::string_view name;   // stable: settings, command line
  std::string_view title;  // for the user
  Place place;             // at first
};
[[nodiscard]] std::span<const PanelInfo> all_panels() noexcept;
[[nodiscard]] const PanelInfo& panel_info(PanelId id) noexcept;
[[nodiscard]] std::optional<PanelId> find_panel(std::string_view name) noexcept;  // by name or title

class PanelLayout {
 public:
  static constexpr float kSplitter = 4;  // thickness, at 100 %

  PanelLayout();  // as a new user sees it

  [[nodiscard]] bool is_open(PanelId id) const noexcept { return states_[index(id)].open; }
  [[nodiscard]] Place place(PanelId id) const noexcept { return states_[index(id)].place; }
  [[nodiscard]] std::vector<PanelId> panels_in(Place place) const;  // open ones, in the order of their tabs
  [[nodiscard]] std::optional<PanelId> front(Place place) const;    // the one that is seen
  [[nodiscard]] std::optional<PanelId> maximised() const noexcept { return maximised_; }
  [[nodiscard]] bool is_seen(PanelId id) const;

  void show(PanelId id);  // opens it and brings it to the front
  void close(PanelId id);
  void toggle(PanelId id) { is_seen(id) ? close(id) : show(id); }
  void move(PanelId id, Place place);
  void maximise(PanelId id);
  void restore() noexcept { maximised_.reset(); }
  void reset() { *this = PanelLayout(); }

  // Sizes at 100 %; rects() and the drag functions work in pixels of the given scale.
  struct Rects {
    render::Rect centre;
    std::array<render::Rect, kPlaceCount> places;  // empty when no panel is open there
    render::Rect right_splitter, bottom_splitter;
  };
  [[nodiscard]] Rects rects(const render::Rect& area, float scale) const;
  void drag_splitter(Place place, float pixels, const render::Rect& area, float scale);  // > 0: right or down

  [[nodiscard]] std::string to_text() const;
  static PanelLayout from_text(std::string_view text);  // what it cannot read stays as a new user sees it

 private:
  struct State {
    Place place = Place::bottom;
    bool open = true;
  };
  static constexpr std::size_t index(PanelId id) noexcept { return static_cast<std::size_t>(id); }
  static constexpr std::size_t index(Place place) noexcept { return static_cast<std::size_t>(place); }
  void keep_front_valid(Place place);
  [[nodiscard]] std::array<float, kPlaceCount> sizes_in(const render::Rect& area, float scale) const;

  std::array<State, kPanelCount> states_;
  std::array<std::optional<PanelId>, kPlaceCount> front_;
  std::array<float, kPlaceCount> size_ = {492, 236};
  std::optional<PanelId> maximised_;
};

}  // namespace accelscope::app
