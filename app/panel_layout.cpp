#include "app/panel_layout.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "app/text_match.h"

namespace accelscope::app {

namespace {

constexpr std::array<PanelInfo, kPanelCount> kPanels = {{
    {PanelId::source, "source", "Source", Place::right},
    {PanelId::stack, "stack", "Stack trace", Place::right},
    {PanelId::details, "details", "Details", Place::bottom},
    {PanelId::search, "search", "Search", Place::bottom},
    {PanelId::selection, "selection", "Selection", Place::bottom},
    {PanelId::memory, "memory", "Memory", Place::bottom},
    {PanelId::markers, "markers", "Markers", Place::bottom},
    {PanelId::quality, "quality", "Data quality", Place::bottom},
    {PanelId::metrics, "metrics", "Metrics", Place::bottom},
    {PanelId::sql, "sql", "SQL", Place::bottom},
    {PanelId::output, "output", "Output", Place::bottom},
}};

// At 100 %: less than this and a place cannot be read; the timeline keeps its own least size.
constexpr std::array<float, kPlaceCount> kLeastSize = {240, 110};
constexpr std::array<float, kPlaceCount> kLeastCentre = {420, 200};
constexpr std::array<std::string_view, kPlaceCount> kPlaceNames = {"right", "bottom"};

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (true) {
    const std::size_t end = text.find(separator);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

std::optional<Place> find_place(std::string_view name) {
  for (std::size_t i = 0; i < kPlaceCount; ++i) {
    if (kPlaceNames[i] == name) return static_cast<Place>(i);
  }
  return std::nullopt;
}

}  // namespace

std::span<const PanelInfo> all_panels() noexcept { return kPanels; }

const PanelInfo& panel_info(PanelId id) noexcept { return kPanels[static_cast<std::size_t>(id)]; }

std::optional<PanelId> find_panel(std::string_view name) noexcept {
  for (const PanelInfo& panel : kPanels) {
    if (panel.name == name || lower_case(panel.title) == lower_case(name)) return panel.id;
  }
  return std::nullopt;
}

PanelLayout::PanelLayout() {
  for (const PanelInfo& panel : kPanels) states_[index(panel.id)] = {panel.place, true};
  front_ = {PanelId::source, PanelId::details};
}

std::vector<PanelId> PanelLayout::panels_in(Place place) const {
  std::vector<PanelId> found;
  for (const PanelInfo& panel : kPanels) {
    const State& state = states_[index(panel.id)];
    if (state.open && state.place == place) found.push_back(panel.id);
  }
  return found;
}

std::optional<PanelId> PanelLayout::front(Place place) const { return front_[index(place)]; }

bool PanelLayout::is_seen(PanelId id) const {
  if (maximised_) return *maximised_ == id;
  return is_open(id) && front(place(id)) == id;
}

void PanelLayout::keep_front_valid(Place place) {
  std::optional<PanelId>& front = front_[index(place)];
  if (front && states_[index(*front)].open && states_[index(*front)].place == place) return;
  const std::vector<PanelId> open = panels_in(place);
  front = open.empty() ? std::nullopt : std::optional(open.front());
}

void PanelLayout::show(PanelId id) {
  states_[index(id)].open = true;
  front_[index(place(id))] = id;
  if (maximised_ && *maximised_ != id) maximised_ = place(*maximised_) == place(id) ? std::optional(id) : std::nullopt;
}

void PanelLayout::close(PanelId id) {
  states_[index(id)].open = false;
  if (maximised_ == id) maximised_.reset();
  keep_front_valid(place(id));
}

void PanelLayout::move(PanelId id, Place to) {
  const Place from = place(id);
  states_[index(id)] = {to, true};
  keep_front_valid(from);
  front_[index(to)] = id;
}

void PanelLayout::maximise(PanelId id) {
  show(id);
  maximised_ = id;
}

std::array<float, kPlaceCount> PanelLayout::sizes_in(const render::Rect& area, float scale) const {
  const std::array<float, kPlaceCount> room = {area.width(), area.height()};
  std::array<float, kPlaceCount> sizes{};
  for (std::size_t i = 0; i < kPlaceCount; ++i) {
    if (!front_[i]) continue;
    const float most = std::max(room[i] - kLeastCentre[i] * scale, std::min(kLeastSize[i] * scale, room[i] / 2));
    sizes[i] = std::round(std::clamp(size_[i] * scale, std::min(kLeastSize[i] * scale, most), most));
  }
  return sizes;
}

PanelLayout::Rects PanelLayout::rects(const render::Rect& area, float scale) const {
  Rects rects;
  if (maximised_) {
    rects.places[index(place(*maximised_))] = area;
    return rects;
  }
  const auto [right, bottom] = sizes_in(area, scale);
  const float splitter = std::round(kSplitter * scale);
  rects.centre = area;
  if (bottom > 0) {
    rects.places[index(Place::bottom)] = rects.centre.cut_bottom(bottom);
    rects.bottom_splitter = rects.centre.cut_bottom(splitter);
  }
  if (right > 0) {
    rects.places[index(Place::right)] = rects.centre.cut_right(right);
    rects.right_splitter = rects.centre.cut_right(splitter);
  }
  return rects;
}

void PanelLayout::drag_splitter(Place place, float pixels, const render::Rect& area, float scale) {
  const std::size_t i = index(place);
  const float now = sizes_in(area, scale)[i];
  size_[i] = (now - pixels) / scale;
  size_[i] = sizes_in(area, scale)[i] / scale;  // within what the window allows
}

std::string PanelLayout::to_text() const {
  std::string text;
  for (std::size_t i = 0; i < kPlaceCount; ++i) {
    text += std::string(kPlaceNames[i]) + "=" + std::to_string(static_cast<int>(std::lround(size_[i]))) + ";";
  }
  for (const PanelInfo& panel : kPanels) {
    const State& state = states_[index(panel.id)];
    text += std::string(panel.name) + "=" + std::string(kPlaceNames[index(state.place)]);
    if (!state.open) text += ",closed";
    if (front_[index(state.place)] == panel.id) text += ",front";
    text += ";";
  }
  return text;
}

PanelLayout PanelLayout::from_text(std::string_view text) {
  PanelLayout layout;
  for (const std::string_view entry : split(text, ';')) {
    const std::size_t equals = entry.find('=');
    if (equals == std::string_view::npos) continue;
    const std::string_view name = entry.substr(0, equals);
    const std::vector<std::string_view> words = split(entry.substr(equals + 1), ',');
    if (const auto place = find_place(name)) {
      int size = 0;
      const auto [end, error] = std::from_chars(words[0].data(), words[0].data() + words[0].size(), size);
      if (error == std::errc{} && size > 0 && size < 10'000) layout.size_[index(*place)] = static_cast<float>(size);
      continue;
    }
    const auto panel = find_panel(name);
    const auto place = find_place(words[0]);
    if (!panel || !place) continue;
    State& state = layout.states_[index(*panel)];
    state = {*place, true};
    for (const std::string_view word : words) {
      if (word == "closed") state.open = false;
      if (word == "front") layout.front_[index(*place)] = *panel;
    }
  }
  for (std::size_t i = 0; i < kPlaceCount; ++i) layout.keep_front_valid(static_cast<Place>(i));
  return layout;
}

}  // namespace accelscope::app
