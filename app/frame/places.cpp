#include "app/frame/places.h"

#include <cassert>
#include <charconv>

namespace accelscope::app::frame {

// The panels, a row each, in the order of their tabs.

namespace {

namespace icon = render::icon;

constexpr std::string_view kOfSelected = "Not filtered: the selected event with all that it depends on";
constexpr std::array kPanels = std::to_array<PanelInfo>({
    {"source", "Source", Place::right, Question::what, icon::kFileCode, panels::make_source_panel},
    {"stack", "Stack trace", Place::right, Question::what, icon::kList, panels::make_stack_panel, kOfSelected},
    {"selection", "Selection", Place::bottom, Question::what, icon::kTable, panels::make_selection_panel},
    {"details", "Details", Place::bottom, Question::what, icon::kInfo, panels::make_details_panel, kOfSelected},
    {"search", "Search", Place::bottom, Question::what, icon::kList, panels::make_search_panel},
    {"markers", "Markers", Place::bottom, Question::what, icon::kFlag, panels::make_markers_panel,
     "Not filtered: markers belong to the whole session"},
    {"layers", "Layers", Place::bottom, Question::time, icon::kSitemap, panels::make_layers_panel, "",
     "no layers, operators, zones or host stacks in this session", &content::PageFacts::layers},
    {"hotspots", "Hotspots", Place::bottom, Question::time, icon::kChip, panels::make_hotspots_panel, "",
     "no work of a device in this session", &content::PageFacts::hotspots},
    {"statistics", "Statistics", Place::bottom, Question::time, icon::kBarChart, panels::make_statistics_panel},
    {"iterations", "Iterations", Place::bottom, Question::time, icon::kHistory, panels::make_iterations_panel, "",
     "nothing repeats in this session", &content::PageFacts::iterations},
    {"compilation", "Compilation", Place::bottom, Question::time, icon::kSettings, panels::make_compilation_panel, "",
     "nothing tells of compiling in this session", &content::PageFacts::compilation},
    {"warnings", "Findings", Place::bottom, Question::why, icon::kWarning, panels::make_why_panel},
    {"roofline", "Roofline", Place::bottom, Question::why, icon::kLineChart, panels::make_roofline_panel, "",
     "no bytes or operations of a device in this session", &content::PageFacts::roofline},
    {"memory", "Memory", Place::bottom, Question::memory, icon::kAreaChart, panels::make_memory_panel, "",
     "no memory was recorded in this session"},
    {"collectives", "Collectives", Place::bottom, Question::across, icon::kBalance, panels::make_collectives_panel, "",
     "no collective operation in this session", &content::PageFacts::collectives},
    {"core-grid", "Core grid", Place::right, Question::across, icon::kTh, panels::make_core_grid_panel, "",
     "nothing says on which core it ran in this session"},
    {"compare", "Compare", Place::bottom, Question::across, icon::kBalance, panels::make_compare_panel,
     "Not filtered: both sessions as a whole"},
    {"tables", "Tables", Place::bottom, Question::data, icon::kTable, panels::make_tables_panel,
     "Not filtered: tables without time belong to the whole session"},
    {"metrics", "Metrics", Place::bottom, Question::data, icon::kLineChart, panels::make_metrics_panel},
    {"sql", "SQL", Place::bottom, Question::data, icon::kDatabase, panels::make_sql_panel},
    {"quality", "Data quality", Place::bottom, Question::data, icon::kWarning, panels::make_quality_panel,
     "Not filtered: the quality of all data"},
    {"output", "Output", Place::bottom, Question::data, icon::kPrint, panels::make_output_panel,
     "Not filtered: the output of the whole run", "no output of a program was recorded in this session"},
});

constexpr std::array kParts = std::to_array<PanelPart>({{"why", "Path and what-if", "warnings"}});

// The first that applies. A trace without errors opens with its summary or with what the user looked at last: the
// verdict above the timeline names its findings.
struct OpeningRule {
  PanelId panel;
  bool (*applies)(const content::SessionContent& content);
};
constexpr std::array kOpeningRules = std::to_array<OpeningRule>({
    {"selection", [](const content::SessionContent& has) { return has.grows; }},  // what comes in, as it comes
    {"metrics", [](const content::SessionContent& has) { return !has.timeline && has.figures; }},
    {"tables", [](const content::SessionContent& has) { return !has.timeline; }},
    {"warnings", [](const content::SessionContent& has) { return has.errors; }},  // times of such a run say little
    {"memory", [](const content::SessionContent& has) { return has.memory && !has.work; }},
});

constexpr std::array<QuestionInfo, kQuestionCount> kQuestions = {{{"what", "What is here", "Here"},
                                                                  {"time", "Where does time go", "Time"},
                                                                  {"why", "Why", "Why"},
                                                                  {"memory", "Memory", "Memory"},
                                                                  {"across", "Across", "Across"},
                                                                  {"data", "Data", "Data"}}};

// At 100 %: less than this and a place cannot be read; the timeline keeps its own least size.
constexpr std::array<float, kPlaceCount> kLeastSize = {240, 110};
constexpr std::array<float, kPlaceCount> kLeastCentre = {420, 200};
constexpr float kLeastForBoth = 170;  // of height: with less the timeline has it, and the bottom shows its tabs alone
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
std::span<const PanelPart> panel_parts() noexcept { return kParts; }

const QuestionInfo& question_info(Question question) noexcept { return kQuestions[static_cast<std::size_t>(question)]; }

std::size_t panel_index(PanelId id) noexcept {
  const auto part = std::ranges::find(kParts, id, &PanelPart::name);
  const auto panels = all_panels();
  const auto found = std::ranges::find(panels, part == kParts.end() ? id : part->panel, &PanelInfo::name);
  assert(found != panels.end());
  return static_cast<std::size_t>(found - panels.begin());
}

std::optional<PanelId> find_panel(std::string_view name) noexcept {
  for (const PanelInfo& panel : all_panels()) {
    if (panel.name == lower_case(name) || lower_case(panel.title) == lower_case(name)) return panel.name;
  }
  for (const PanelPart& part : kParts) {
    if (part.name == lower_case(name) || lower_case(part.title) == lower_case(name)) return part.name;
  }
  return std::nullopt;
}

std::optional<PanelId> opening_panel(const content::SessionContent& content) noexcept {
  const auto rule = std::ranges::find_if(kOpeningRules, [&](const OpeningRule& each) { return each.applies(content); });
  return rule == kOpeningRules.end() ? std::nullopt : std::optional(rule->panel);
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
  id = panel_info(id).name;
  if (maximised_) return *maximised_ == id;
  if (door_ && place(id) == Place::right) return false;
  return is_open(id) && front(place(id)) == id;
}

std::vector<PanelId> PanelLayout::pages_of(Question question) const {
  std::vector<PanelId> pages = panels_in(Place::bottom);
  std::erase_if(pages, [&](PanelId id) { return panel_info(id).question != question; });
  return pages;
}

std::optional<PanelId> PanelLayout::page_of(Question question, const std::function<bool(PanelId)>& has_content) const {
  const std::vector<PanelId> pages = pages_of(question);
  const std::optional<PanelId> last = pages_[static_cast<std::size_t>(question)];
  if (last && std::ranges::find(pages, *last) != pages.end() && has_content(*last)) return last;
  const auto full = std::ranges::find_if(pages, has_content);
  if (full != pages.end()) return *full;
  return pages.empty() ? std::nullopt : std::optional(pages.front());
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

void PanelLayout::greet(bool other_session, std::optional<PanelId> asked, PanelId summary,
                        const std::function<bool(PanelId)>& has_content) {
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
    const bool brings = other_session && asked && !chosen_in_run_[i] && is_open(*asked) && index(place(*asked)) == i;
    if (brings && front_[i] != asked) {
      set_aside_[i] = wanted;
      put(*asked);
      continue;
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
  opened_ = id;
  show_page(panel_info(id).name);
}

void PanelLayout::show_page(PanelId id) {
  chosen_[index(place(id))] = id;
  chosen_in_run_[index(place(id))] = true;
  set_aside_[index(place(id))].reset();
  states_[index(id)].open = true;
  front_[index(place(id))] = id;
  if (place(id) == Place::bottom) pages_[static_cast<std::size_t>(panel_info(id).question)] = id;
  const bool is_right = place(id) == Place::right;
  asked_early_ = asked_early_ || (is_right && !arranged_);
  if (is_right && door_) open_column(true);
  if (place(id) == place("details")) hidden_by_details_.reset();
  if (maximised_ && *maximised_ != id) maximised_ = place(*maximised_) == place(id) ? std::optional(id) : std::nullopt;
}

void PanelLayout::close(PanelId id) {
  id = panel_info(id).name;
  states_[index(id)].open = false;
  pin(id, false);
  if (hidden_by_details_ == id) hidden_by_details_.reset();
  if (maximised_ == id) maximised_.reset();
  keep_front_valid(place(id));
}

void PanelLayout::move(PanelId id, Place to) {
  const Place from = place(id);
  id = panel_info(id).name;
  pin(id, false);
  states_[index(id)] = {to, true};
  keep_front_valid(from);
  front_[index(to)] = chosen_[index(to)] = id;
  chosen_in_run_[index(to)] = true;
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
  folded_ = area.height() < kLeastForBoth * scale;
  arranged_ = true;
  if (std::exchange(asked_early_, false) && door_) open_column(true);
}

// A wish that is what would be anyway is none: the column goes on to follow what it has to say.
void PanelLayout::open_column(bool open) {
  column_ = open != automatic_door_ ? ColumnIntent::automatic : open ? ColumnIntent::open : ColumnIntent::shut;
  door_ = !open && front_[index(Place::right)].has_value();
}

void PanelLayout::maximise(PanelId id) {
  is_seen(id) ? show_page(panel_info(id).name) : show(id);  // as it is, where the user sees it
  maximised_ = panel_info(id).name;
}

std::array<float, kPlaceCount> PanelLayout::sizes_in(const render::Rect& area, float scale) const {
  const std::array<float, kPlaceCount> room = {area.width(), area.height()};
  const float height = area.height() / scale;
  const std::array<float, kPlaceCount> wanted = {right_width_,
                                                 bottom_share_ ? *bottom_share_ * height : usual_bottom(height)};
  std::array<float, kPlaceCount> sizes{};
  for (std::size_t i = 0; i < kPlaceCount; ++i) {
    if (!front_[i] || (door_ && i == index(Place::right))) continue;
    if (i == index(Place::bottom) && height < kLeastForBoth) {
      sizes[i] = std::round(std::min(render::size::kPanelTabs * scale, room[i] / 2));
      continue;
    }
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

void PanelLayout::reset_size(Place place) {
  if (place == Place::right) right_width_ = kUsualRight;
  if (place == Place::bottom) bottom_share_.reset();
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
    if (pages_[static_cast<std::size_t>(panel.question)] == panel.name) text += ",page";
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
    const auto known = find_panel(name);
    const auto place = find_place(words[0]);
    if (!known || !place) continue;
    const PanelId panel = panel_info(*known).name;
    const bool closed = std::ranges::find(words, "closed") != words.end();
    if (panel != *known && closed) continue;  // a part, which once was a panel: it closes no other
    layout.states_[index(panel)] = {*place, !closed};
    for (const std::string_view word : words) {
      if (word == "front") layout.front_[index(*place)] = panel;
      if (word == "page") layout.pages_[static_cast<std::size_t>(panel_info(panel).question)] = panel;
      if (word == "pinned") layout.pinned_[index(*place)] = panel;
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

}  // namespace accelscope::app::frame
