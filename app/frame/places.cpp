#include "app/frame/places.h"

#include <cassert>
#include <charconv>

namespace accelscope::app {

// The panels, a row each, in the order of their tabs.

namespace {

namespace icon = render::icon;

constexpr std::string_view kOfSelected = "Not filtered: the selected event with all that it depends on";
constexpr std::array kPanels = std::to_array<PanelInfo>({
    {"source", "Source", Place::right, icon::kFileCode, make_source_panel},
    {"stack", "Stack trace", Place::right, icon::kList, make_stack_panel, kOfSelected},
    {"core-grid", "Core grid", Place::right, icon::kTh, make_core_grid_panel},
    {"details", "Details", Place::bottom, icon::kInfo, make_details_panel, kOfSelected},
    {"search", "Search", Place::bottom, icon::kList, make_search_panel},
    {"selection", "Selection", Place::bottom, icon::kTable, make_selection_panel},
    {"layers", "Layers", Place::bottom, icon::kSitemap, make_layers_panel},
    {"hotspots", "Hotspots", Place::bottom, icon::kChip, make_hotspots_panel},
    {"statistics", "Statistics", Place::bottom, icon::kBarChart, make_statistics_panel},
    {"iterations", "Iterations", Place::bottom, icon::kHistory, make_iterations_panel},
    {"warnings", "Warnings", Place::bottom, icon::kWarning, make_warnings_panel},
    {"why", "Why", Place::bottom, icon::kSearch, make_why_panel},
    {"compilation", "Compilation", Place::bottom, icon::kSettings, make_compilation_panel},
    {"collectives", "Collectives", Place::bottom, icon::kBalance, make_collectives_panel},
    {"memory", "Memory", Place::bottom, icon::kAreaChart, make_memory_panel},
    {"roofline", "Roofline", Place::bottom, icon::kLineChart, make_roofline_panel},
    {"markers", "Markers", Place::bottom, icon::kFlag, make_markers_panel,
     "Not filtered: markers belong to the whole session"},
    {"quality", "Data quality", Place::bottom, icon::kWarning, make_quality_panel,
     "Not filtered: the quality of all data"},
    {"metrics", "Metrics", Place::bottom, icon::kLineChart, make_metrics_panel},
    {"tables", "Tables", Place::bottom, icon::kTable, make_tables_panel,
     "Not filtered: tables without time belong to the whole session"},
    {"compare", "Compare", Place::bottom, icon::kBalance, make_compare_panel, "Not filtered: both sessions as a whole"},
    {"sql", "SQL", Place::bottom, icon::kDatabase, make_sql_panel},
    {"output", "Output", Place::bottom, icon::kPrint, make_output_panel, "Not filtered: the output of the whole run"},
});

// At 100 %: less than this and a place cannot be read; the timeline keeps its own least size.
constexpr std::array<float, kPlaceCount> kLeastSize = {240, 110};
constexpr std::array<float, kPlaceCount> kLeastCentre = {420, 200};
constexpr std::array<std::string_view, kPlaceCount> kPlaceNames = {"right", "bottom"};
constexpr std::array<std::string_view, 3> kColumnNames = {"automatic", "open", "shut"};
constexpr std::string_view kColumn = "column";

constexpr float kLeastForColumn = 1400;  // of width: with less the column would take the timeline's half of the window
constexpr float kUsualMiddle = 784;      // of what lies between tabs and status bar in a window of 900

// Three tenths of the height; in a low window enough for a table of a few rows, which is still not half of it.
float usual_bottom(float height) { return std::max(0.30F * height, std::min(216.0F, 0.36F * height)); }

// "34.5%"; what older versions wrote, "236", are units in a window of the usual size.
std::optional<float> parse_share(std::string_view text) {
  float value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || value <= 0) return std::nullopt;
  const bool percent = end != text.data() + text.size() && *end == '%';
  const float share = percent ? value / 100 : value / kUsualMiddle;
  return share < 1 ? std::optional(share) : std::nullopt;
}

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

std::size_t panel_index(PanelId id) noexcept {
  const auto panels = all_panels();
  const auto found = std::ranges::find_if(panels, [&](const PanelInfo& each) { return each.name == id; });
  assert(found != panels.end());
  return static_cast<std::size_t>(found - panels.begin());
}

std::optional<PanelId> find_panel(std::string_view name) noexcept {
  for (const PanelInfo& panel : all_panels()) {
    if (panel.name == name || lower_case(panel.title) == lower_case(name)) return panel.name;
  }
  return std::nullopt;
}

PanelLayout::PanelLayout() {
  for (const PanelInfo& panel : all_panels()) states_.push_back({panel.place, true});
  front_ = {"source", "selection"};  // which says what is visible while nothing is selected
}

std::vector<PanelId> PanelLayout::panels_in(Place place) const {
  std::vector<PanelId> found;
  for (const PanelInfo& panel : all_panels()) {
    const State& state = states_[index(panel.name)];
    if (state.open && state.place == place) found.push_back(panel.name);
  }
  return found;
}

std::optional<PanelId> PanelLayout::front(Place place) const { return front_[index(place)]; }

bool PanelLayout::is_seen(PanelId id) const {
  if (maximised_) return *maximised_ == id;
  if (door_ && place(id) == Place::right) return false;
  return is_open(id) && front(place(id)) == id;
}

void PanelLayout::keep_front_valid(Place place) {
  std::optional<PanelId>& front = front_[index(place)];
  if (front && states_[index(*front)].open && states_[index(*front)].place == place) return;
  const std::vector<PanelId> open = panels_in(place);
  front = open.empty() ? std::nullopt : std::optional(open.front());
  set_aside_[index(place)].reset();
  if (front == "details") prefer_summary(place);
}

// Details has nothing to say while nothing is selected, and comes forward when something is.
void PanelLayout::prefer_summary(Place place) {
  constexpr PanelId kSummary = "selection";
  if (is_open(kSummary) && this->place(kSummary) == place) front_[index(place)] = kSummary;
}

void PanelLayout::greet(bool other_session, PanelId summary, const std::function<bool(PanelId)>& has_content) {
  for (std::size_t i = 0; i < kPlaceCount; ++i) {
    if (!front_[i] || pinned_[i] == front_[i] || hidden_by_details_) continue;
    const auto put = [&](PanelId id) {
      if (maximised_ == front_[i]) maximised_ = id;
      front_[i] = id;
    };
    const PanelId wanted = set_aside_[i].value_or(*front_[i]);
    if (other_session && has_content(wanted)) {
      put(wanted);
      set_aside_[i].reset();
    }
    if (has_content(*front_[i])) continue;
    const std::vector<PanelId> open = panels_in(static_cast<Place>(i));
    const auto other = std::ranges::find(open, summary);
    const auto full = other != open.end() ? other : std::ranges::find_if(open, has_content);
    if (full == open.end()) continue;
    set_aside_[i] = wanted;
    put(*full);
  }
}

void PanelLayout::show(PanelId id) {
  chosen_[index(place(id))] = id;
  set_aside_[index(place(id))].reset();
  states_[index(id)].open = true;
  front_[index(place(id))] = id;
  const bool is_right = place(id) == Place::right;
  asked_early_ = asked_early_ || (is_right && !arranged_);
  if (is_right && door_) open_column(true);
  if (place(id) == place("details")) hidden_by_details_.reset();
  if (maximised_ && *maximised_ != id) maximised_ = place(*maximised_) == place(id) ? std::optional(id) : std::nullopt;
}

void PanelLayout::close(PanelId id) {
  states_[index(id)].open = false;
  pin(id, false);
  if (hidden_by_details_ == id) hidden_by_details_.reset();
  if (maximised_ == id) maximised_.reset();
  keep_front_valid(place(id));
}

void PanelLayout::move(PanelId id, Place to) {
  const Place from = place(id);
  pin(id, false);
  states_[index(id)] = {to, true};
  keep_front_valid(from);
  front_[index(to)] = chosen_[index(to)] = id;
  set_aside_[index(to)].reset();
  hidden_by_details_.reset();
  if (to == Place::right) open_column(true);
}

void PanelLayout::pin(PanelId id, bool pinned) {
  std::optional<PanelId>& held = pinned_[index(place(id))];
  if (pinned) {
    held = id;
  } else if (held == id) {
    held.reset();
  }
}

void PanelLayout::selection_changed(bool selected) {
  constexpr PanelId kDetails = "details";
  std::optional<PanelId>& front = front_[index(place(kDetails))];
  if (!is_open(kDetails) || pinned_[index(place(kDetails))]) return;
  if (!selected) {
    if (front == kDetails && hidden_by_details_) front = hidden_by_details_;
    hidden_by_details_.reset();
  } else if (front != kDetails) {
    hidden_by_details_ = front;
    front = kDetails;
  }
}

void PanelLayout::arrange(const render::Rect& area, float scale, bool right_has_text) {
  automatic_door_ = !right_has_text || area.width() < kLeastForColumn * scale;
  const bool door = column_ == ColumnIntent::automatic ? automatic_door_ : column_ == ColumnIntent::shut;
  door_ = door && front_[index(Place::right)].has_value();
  arranged_ = true;
  if (std::exchange(asked_early_, false) && door_) open_column(true);
}

// A wish that is what would be anyway is none: the column goes on to follow what it has to say.
void PanelLayout::open_column(bool open) {
  column_ = open != automatic_door_ ? ColumnIntent::automatic : open ? ColumnIntent::open : ColumnIntent::shut;
  door_ = !open && front_[index(Place::right)].has_value();
}

void PanelLayout::maximise(PanelId id) {
  show(id);
  maximised_ = id;
}

std::array<float, kPlaceCount> PanelLayout::sizes_in(const render::Rect& area, float scale) const {
  const std::array<float, kPlaceCount> room = {area.width(), area.height()};
  const float height = area.height() / scale;
  const std::array<float, kPlaceCount> wanted = {right_width_,
                                                 bottom_share_ ? *bottom_share_ * height : usual_bottom(height)};
  std::array<float, kPlaceCount> sizes{};
  for (std::size_t i = 0; i < kPlaceCount; ++i) {
    if (!front_[i] || (door_ && i == index(Place::right))) continue;
    const float most = std::max(room[i] - kLeastCentre[i] * scale, std::min(kLeastSize[i] * scale, room[i] / 2));
    sizes[i] = std::round(std::clamp(wanted[i] * scale, std::min(kLeastSize[i] * scale, most), most));
  }
  return sizes;
}

PanelLayout::Rects PanelLayout::rects(const render::Rect& area, float scale, bool centre) const {
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
  if (door_) rects.door = rects.centre.cut_right(std::round(kDoor * scale));
  if (right > 0) {
    rects.places[index(Place::right)] = rects.centre.cut_right(right);
    rects.right_splitter = rects.centre.cut_right(splitter);
  }
  if (!centre && bottom > 0) {
    rects.places[index(Place::bottom)].y0 = area.y0;
    rects.places[index(Place::bottom)].x1 = rects.centre.x1;
    for (render::Rect* beside : {&rects.places[index(Place::right)], &rects.right_splitter, &rects.door}) {
      if (!beside->empty()) beside->y1 = area.y1;
    }
    rects.centre = rects.bottom_splitter = {};
  }
  return rects;
}

void PanelLayout::drag_splitter(Place place, float pixels, const render::Rect& area, float scale) {
  const std::size_t i = index(place);
  const auto keep = [&](float size) {
    if (place == Place::right) {
      right_width_ = size / scale;
    } else if (area.height() > 0) {
      bottom_share_ = size / area.height();
    }
  };
  keep(sizes_in(area, scale)[i] - pixels);
  keep(sizes_in(area, scale)[i]);  // within what the window allows
}

std::string PanelLayout::to_text() const {
  std::string text = "right=" + std::to_string(static_cast<int>(std::lround(right_width_))) + ";";
  if (bottom_share_) {
    const long permille = std::lround(*bottom_share_ * 1000);
    text += "bottom=" + std::to_string(permille / 10) + "." + std::to_string(permille % 10) + "%;";
  }
  if (column_ != ColumnIntent::automatic) {
    text += std::string(kColumn) + "=" + std::string(kColumnNames[static_cast<std::size_t>(column_)]) + ";";
  }
  for (const PanelInfo& panel : all_panels()) {
    const State& state = states_[index(panel.name)];
    text += std::string(panel.name) + "=" + std::string(kPlaceNames[index(state.place)]);
    if (!state.open) text += ",closed";
    const std::optional<PanelId> front = remembered_front(state.place);
    if (front == panel.name) text += ",front";
    if (is_pinned(panel.name)) text += ",pinned";
    text += ";";
  }
  return text;
}

// Details that came forward by itself is not what the user put there.
std::optional<PanelId> PanelLayout::remembered_front(Place place) const {
  const bool by_itself = hidden_by_details_ && place == this->place("details");
  if (set_aside_[index(place)]) return set_aside_[index(place)];
  return by_itself ? hidden_by_details_ : front_[index(place)];
}

PanelLayout PanelLayout::from_text(std::string_view text) {
  PanelLayout layout;
  for (const std::string_view entry : split(text, ';')) {
    const std::size_t equals = entry.find('=');
    if (equals == std::string_view::npos) continue;
    const std::string_view name = entry.substr(0, equals);
    const std::vector<std::string_view> words = split(entry.substr(equals + 1), ',');
    if (const auto place = find_place(name)) {
      layout.read_size(*place, words[0]);
      continue;
    }
    if (name == kColumn) {
      const auto known = std::ranges::find(kColumnNames, words[0]);
      if (known != kColumnNames.end()) layout.column_ = static_cast<ColumnIntent>(known - kColumnNames.begin());
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
      if (word == "pinned") layout.pinned_[index(*place)] = *panel;
    }
  }
  for (std::size_t i = 0; i < kPlaceCount; ++i) {
    layout.keep_front_valid(static_cast<Place>(i));
    const std::optional<PanelId> pinned = layout.pinned_[i];
    if (pinned && (!layout.is_open(*pinned) || index(layout.place(*pinned)) != i)) layout.pinned_[i].reset();
    if (layout.front_[i] == "details" && !layout.pinned_[i]) layout.prefer_summary(static_cast<Place>(i));
  }
  return layout;
}

void PanelLayout::read_size(Place place, std::string_view text) {
  if (place == Place::bottom) {
    bottom_share_ = parse_share(text);
    return;
  }
  int size = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), size);
  if (error == std::errc{} && size > 0 && size < 10'000) right_width_ = static_cast<float>(size);
}

}  // namespace accelscope::app
