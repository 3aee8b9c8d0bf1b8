// Robots that judge every page as a user would who has keys alone, or who clicks whatever can be clicked.
#include <imgui.h>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "render/widgets/widgets.h"
#include "tests/gui/frame/sample_sessions.h"
#include "tests/support/fake_capture.h"

using namespace accelscope;
using namespace accelscope::app;
using namespace accelscope::test;
using render::Control;
using render::FocusStopKind;
using render::Key;

namespace {

using Names = std::set<std::string>;

constexpr int kMostSteps = 400;
constexpr int kMostWalks = 3;

// What another key does, though no stop is there.
struct Instead {
  std::string_view part;  // of the name
  std::string_view how;
};
constexpr std::array kInstead = std::to_array<Instead>({
    {".resize.", "Ctrl+Left and Ctrl+Right at the head of the column"},
    {".ruler", "B selects a box of lanes and time"},
    {"marker_begin.", "the Markers panel has a field for it"},
    {"marker_end.", "the Markers panel has a field for it"},
    {"output.bar", "arrows, Home and End in the lines"},
});

[[nodiscard]] bool is_among(std::span<const Instead> all, const std::string& name) {
  return std::ranges::any_of(all, [&](const Instead& each) { return name.find(each.part) != std::string::npos; });
}

// Of rows that are all alike a few are clicked.
constexpr std::array<std::string_view, 6> kRows = {".row.", ".cell.", ".line.", ".turn.", ".box.", ".semaphore."};
constexpr int kMostRows = 3;

[[nodiscard]] std::string lines_of(const Names& names) { return fmt::format("{}", fmt::join(names, "\n")); }

// The files of a page's session: one, or three that lie on one axis.
struct Sample {
  explicit Sample(std::string_view kind) {
    paths.push_back(save_sample(folder.path(), kind == "comparison" ? "kernel" : kind));
    for (const double slower : {0.3, 0.6}) {
      if (kind != "comparison") break;
      auto store = std::move(Store::create()).value();
      StoreSink sink(*store);
      REQUIRE(capture::sim::simulate({.seed = 3, .kernels = 1, .slower = slower}, sink).ok());
      paths.push_back(folder.file(fmt::format("slower_{}.accel", slower)));
      REQUIRE(store->save(paths.back()).ok());
    }
  }
  // In a window of its own, with nothing that starts outside of it.
  [[nodiscard]] std::unique_ptr<Viewer> open() {
    auto viewer = empty_window();
    viewer->open(paths.front());
    return viewer;
  }
  [[nodiscard]] std::unique_ptr<Viewer> empty_window() {
    fake.kinds = two_kinds();
    auto viewer = std::make_unique<Viewer>(
        frame::AppOptions{.compared = {paths.begin() + 1, paths.end()}, .services = fake.services()});
    viewer->shell.resize(1600, 1000, 1);
    return viewer;
  }

  TemporaryFolder folder;
  std::vector<std::string> paths;
  FakeCapture fake;
};

void show(Viewer& viewer, frame::PanelId panel) {
  viewer.app.layout().show(panel);
  REQUIRE(viewer.shell.settle());
}

class KeyRobot {
 public:
  explicit KeyRobot(Viewer& viewer) : viewer_(viewer) {}

  // Walks the pane until nothing new can be clicked; what stood there from the beginning to the end of a walk and was
  // not reached. Walking selects what it comes to, which brings more.
  [[nodiscard]] Names missed_in(const std::string& pane) {
    go_to(pane);
    for (int walk = 0; walk < kMostWalks; ++walk) {
      const Names before = pending_ = unreached(pane);
      if (before.empty()) break;
      walk_pane(pane);
      REQUIRE(viewer_.shell.settle());
      Names missed;
      std::ranges::set_intersection(before, unreached(pane), std::inserter(missed, missed.end()));
      if (!missed.empty()) return missed;
    }
    return {};
  }

 private:
  // To the end of the pane by Tab, to its beginning by Shift+Tab, and through every group and table that has something
  // to reach.
  void walk_pane(const std::string& pane) {
    visited_.clear();
    for (const bool back : {false, true}) {
      go_to(pane);
      for (int i = 0; i < kMostSteps && own_pane() == pane && !pending_.empty(); ++i) {
        visit();
        press(Key::tab, {.shift = back});
      }
    }
  }
  void go_to(const std::string& pane) {
    for (int i = 0; i < 12 && own_pane() != pane; ++i) press(Key::f6);
  }
  // Of what can be clicked where the stops of the pane lie.
  [[nodiscard]] Names unreached(const std::string& pane) {
    std::optional<render::Rect> whole;
    for (const render::FocusPlace& place : focus().places) {
      if (place.pane != pane) continue;
      const render::Rect& at = place.rect;
      if (!whole) whole = at;
      *whole = {std::min(whole->x0, at.x0), std::min(whole->y0, at.y0), std::max(whole->x1, at.x1),
                std::max(whole->y1, at.y1)};
    }
    Names names, elsewhere;
    for (const render::FocusPlace& place : focus().places) {
      if (place.pane != pane) elsewhere.insert(place.name);
    }
    for (const Control& control : viewer_.shell.ui().controls()) {
      const bool is_here = whole && whole->contains(control.rect.centre()) && !elsewhere.contains(control.name);
      if (control.enabled && is_here && !reached_.contains(control.name) && !is_among(kInstead, control.name))
        names.insert(control.name);
    }
    return names;
  }
  [[nodiscard]] const render::KeyboardFocus& focus() { return viewer_.shell.ui().front_focus(); }
  [[nodiscard]] std::string own_pane() { return focus().place ? focus().place->pane : std::string(); }
  void press(Key key, render::Modifiers modifiers = {}) {
    viewer_.shell.key(key, modifiers);
    if (render::any_popup_open()) viewer_.shell.key(Key::escape);  // a menu that an arrow opened
    reach(focus().at);
    reach(focus().part);
  }
  void reach(const std::string& name) {
    reached_.insert(name);
    pending_.erase(name);
  }
  void visit() {
    if (!focus().place) return;
    const render::FocusPlace place = *focus().place;
    if (place.kind == FocusStopKind::list) return walk_list(place.name);
    if (!place.group.empty() && visited_.insert(place.group).second) walk_group(place.group);
  }
  [[nodiscard]] bool has_pending(const std::string& group) {
    return std::ranges::any_of(focus().places, [&](const render::FocusPlace& place) {
      return place.group == group && pending_.contains(place.name);
    });
  }
  // Row by row; where that leaves some out, every arrow at every member.
  void walk_group(const std::string& group) {
    press(Key::home);
    for (int row = 0; row < 80 && has_pending(group); ++row) {
      const std::string first = focus().at;
      int columns = 0;
      for (std::string before; columns < 60 && before != focus().at && has_pending(group); ++columns) {
        before = focus().at;
        press(Key::right);
      }
      for (int i = 0; i < columns && focus().at != first; ++i) press(Key::left);
      press(Key::down);
      if (focus().at == first) break;
    }
    std::map<std::string, std::size_t> tried;
    constexpr std::array kArrows = {Key::right, Key::down, Key::left, Key::up, Key::home, Key::end};
    std::uint32_t random = 1;
    for (int idle = 0, steps = 0; idle < 20 && steps < 2 * kMostSteps && has_pending(group); ++steps) {
      if (!focus().place || focus().place->group != group) return;
      std::size_t& next = tried[focus().at];
      const bool is_new = next < kArrows.size();
      idle = is_new ? 0 : idle + 1;
      random = random * 1664525 + 1013904223;
      press(kArrows[is_new ? next++ : (random >> 16) % kArrows.size()]);
    }
  }
  // Rows, and along each row what it links to.
  void walk_list(const std::string& name) {
    const auto has_parts = [&] {
      const auto next = pending_.lower_bound(name + ".");
      return next != pending_.end() && next->starts_with(name + ".");
    };
    if (has_parts()) press(Key::home);
    for (int row = 0; row < 60 && focus().at == name && has_parts(); ++row) {
      const std::string first = focus().part;
      for (int column = 0; column < 12; ++column) {
        const std::string before = focus().part;
        press(Key::right);
        if (focus().part == before) break;
      }
      for (int column = 0; column < 12 && focus().part != first; ++column) press(Key::left);
      press(Key::down);
      if (focus().part == first) break;
    }
  }

  Viewer& viewer_;
  Names reached_, pending_, visited_;
};

// Page by page where it lies, then what lies around the pages, with what was selected on the way.
void reach_all_by_keys(std::string_view kind) {
  Sample sample(kind);
  const std::unique_ptr<Viewer> viewer = sample.open();
  KeyRobot robot(*viewer);
  Names missed;
  const auto walk = [&](const std::string& pane, std::string_view page) {
    for (const std::string& name : robot.missed_in(pane)) missed.insert(fmt::format("{} beside {}", name, page));
  };
  for (const frame::PanelInfo& panel : frame::all_panels()) {
    show(*viewer, panel.name);
    frame::PanelLayout& layout = viewer->app.layout();
    layout.pin(panel.name, true);  // Details stays behind when the walk selects an event
    walk(layout.place(panel.name) == frame::Place::right ? "right" : "bottom", panel.name);
    layout.pin(panel.name, false);
  }
  for (const char* pane : {"top", "tabs", "notices", "timeline", "right", "status"}) walk(pane, pane);
  CHECK(lines_of(missed) == "");
}

}  // namespace

TEST_CASE("robot: keys alone reach every control of a kernel") { reach_all_by_keys("kernel"); }
TEST_CASE("robot: keys alone reach every control of a trace of PyTorch") { reach_all_by_keys("trace"); }
TEST_CASE("robot: keys alone reach every control of a snapshot of memory") { reach_all_by_keys("memory"); }
TEST_CASE("robot: keys alone reach every control of three sessions on one axis") { reach_all_by_keys("comparison"); }

TEST_CASE("robot: keys alone reach every control of the start page and of the form on it") {
  Viewer viewer;
  viewer.shell.resize(1600, 1000, 1);
  REQUIRE(viewer.shell.settle());
  KeyRobot robot(viewer);
  Names missed;
  for (const char* pane : {"top", "tabs", "start", "status"}) missed.merge(robot.missed_in(pane));
  CHECK(lines_of(missed) == "");
}

namespace {

// What is clicked: a page, or what lies over the window.
struct Page {
  std::string name;
  std::function<void(Viewer&)> show;
  bool is_above = false;  // the window
};

[[nodiscard]] std::vector<Page> panel_pages() {
  std::vector<Page> pages;
  for (const frame::PanelInfo& panel : frame::all_panels())
    pages.push_back({std::string(panel.name), [name = panel.name](Viewer& viewer) { show(viewer, name); }});
  return pages;
}

[[nodiscard]] std::vector<Page> dialog_pages() {
  std::vector<Page> pages;
  for (const char* command : {"connect", "keys", "about", "editor_command", "go_to_time", "layout.save", "go_to_link",
                              "save_marker_set", "load_marker_set", "view_settings", "open", "save_as"}) {
    pages.push_back({command,
                     [command](Viewer& viewer) {
                       viewer.run(command);
                       REQUIRE(viewer.shell.settle());
                     },
                     true});
  }
  return pages;
}

const Page kStart{"start", [](Viewer& viewer) {
                    viewer.app.workspace().show_start_page();
                    REQUIRE(viewer.shell.settle());
                  }};

// With two markers and a set of them, a filter and a box: each brings controls of its own. The file has the markers of
// the window before.
[[nodiscard]] std::unique_ptr<Viewer> with_markers(Sample& sample) {
  std::unique_ptr<Viewer> viewer = sample.open();
  const std::vector<Marker>& markers = viewer->tab().markers;
  const bool is_first = markers.empty();
  for (const float share : {0.3F, 0.6F}) {
    if (markers.size() >= 2) break;
    const render::Rect canvas = *viewer->shell.find("timeline.canvas");
    viewer->shell.move({canvas.x0 + canvas.width() * share, canvas.centre().y});
    viewer->shell.key(Key::m);
  }
  REQUIRE(markers.size() >= 2);
  viewer->tab().chosen_marker = markers.back().id;
  if (is_first) {
    viewer->run("save_marker_set");
    viewer->shell.type("mine");
    viewer->shell.key(Key::enter);
  }
  viewer->tab().change([](session::ViewChoices& choices) { choices.filter.terms = {{"MATMUL", false}}; });
  REQUIRE(viewer->shell.settle());
  return viewer;
}

[[nodiscard]] std::vector<Control> controls_of(Viewer& viewer, const Page& page) {
  Names below;
  if (page.is_above) {
    for (const Control& control : viewer.shell.ui().controls()) below.insert(control.name);
  }
  page.show(viewer);
  std::vector<Control> controls = viewer.shell.ui().controls();
  std::erase_if(controls, [&](const Control& control) { return below.contains(control.name); });
  REQUIRE_FALSE(controls.empty());
  return controls;
}

// All that a user could see or hear of.
[[nodiscard]] std::string seen(Viewer& viewer) {
  std::string all = viewer.shell.visible_text() + viewer.shell.clipboard() + viewer.app.dump_state();
  std::vector<std::string> names;
  for (const auto& [name, place] : viewer.shell.ui().widgets()) names.push_back(name);
  std::ranges::sort(names);
  for (const std::string& name : names) all += name + '\n';
  std::uint64_t pixels = 1469598103934665603U;
  const ImDrawData* drawn = viewer.shell.draw_data();
  for (int i = 0; drawn != nullptr && i < drawn->CmdListsCount; ++i) {
    for (const ImDrawVert& vertex : drawn->CmdLists[i]->VtxBuffer) {
      pixels =
          (pixels ^ vertex.col ^ static_cast<std::uint64_t>(vertex.pos.x * 8 + vertex.pos.y * 8192)) * 1099511628211U;
    }
  }
  return all + std::to_string(pixels);
}

// Clicks in one window from page to page, in a new one where that has been changed too much.
class ClickRobot {
 public:
  explicit ClickRobot(std::function<std::unique_ptr<Viewer>()> begin) : begin_(std::move(begin)) {
    tabs_ = viewer().app.workspace().tab_count();
  }
  // Clicks whatever acts there, each name once; what then is as before, in a new window too.
  [[nodiscard]] Names dead_on(const Page& page) {
    if (page.is_above) start_anew();
    Names wanted, suspects, dead;
    for (const Control& control : controls_of(viewer(), page)) {
      const bool acts = control.enabled && !control.chosen && control.keys == FocusStopKind::button;
      if (acts && tried_.insert(control.name).second && is_news(control.name)) wanted.insert(control.name);
    }
    for (Names gone; !wanted.empty() && gone != wanted; start_anew()) {
      gone = std::exchange(wanted, {});
      for (const std::string& name : gone) {
        if (!bring(page, name)) {
          wanted.insert(name);
        } else if (!acts(name)) {
          suspects.insert(name);
        }
      }
    }
    for (const std::string& name : suspects) {
      start_anew();
      if (bring(page, name) && !acts(name)) dead.insert(fmt::format("{} of {}", name, page.name));
    }
    return dead;
  }

 private:
  [[nodiscard]] bool is_news(const std::string& name) {
    for (const std::string_view row : kRows) {
      if (const std::size_t at = name.find(row); at != std::string::npos)
        return ++rows_[name.substr(0, at)] <= kMostRows;
    }
    return true;
  }
  [[nodiscard]] bool bring(const Page& page, const std::string& name) {
    if (viewer().app.workspace().tab_count() != tabs_) start_anew();
    if (viewer().shell.find(name) == nullptr) page.show(viewer());
    return viewer().shell.find(name) != nullptr;
  }
  void start_anew() { viewer_.reset(); }
  [[nodiscard]] Viewer& viewer() {
    if (!viewer_) viewer_ = begin_();
    return *viewer_;
  }
  // A capture that a click began never settles.
  void rest() {
    for (int i = 0; i < 200 && !viewer_->app.settled(); ++i) {
      viewer_->shell.frame();
      std::this_thread::sleep_for(std::chrono::milliseconds(1));  // other threads are at work
    }
    viewer_->shell.frame(2);
  }
  // A click in its middle, or beside what lies over that.
  [[nodiscard]] bool acts(const std::string& name) {
    for (const float share : {0.5F, 0.2F}) {
      const render::Rect* place = viewer_->shell.find(name);
      if (place == nullptr) return true;
      const render::Point at{place->x0 + place->width() * share, place->y0 + place->height() * share};
      viewer_->shell.move(at);
      viewer_->shell.frame();
      const std::string before = seen(*viewer_);
      viewer_->shell.click(at);
      rest();
      const bool changed = seen(*viewer_) != before;
      for (int i = 0; i < 3 && render::any_popup_open(); ++i) viewer_->shell.key(Key::escape);
      if (changed) return true;
    }
    return false;
  }

  std::function<std::unique_ptr<Viewer>()> begin_;
  std::unique_ptr<Viewer> viewer_;  // null: a new one is made once it is asked for
  std::size_t tabs_ = 0;
  Names tried_;
  std::map<std::string, int> rows_;  // that were clicked, of each list
};

[[nodiscard]] Names dead_on(const std::function<std::unique_ptr<Viewer>()>& begin, const std::vector<Page>& pages) {
  ClickRobot robot(begin);
  Names dead;
  for (const Page& page : pages) dead.merge(robot.dead_on(page));
  return dead;
}

void click_all_pages(std::string_view kind) {
  Sample sample(kind);
  std::vector<Page> pages = panel_pages();
  if (kind == "comparison") std::erase_if(pages, [](const Page& page) { return page.name != "compare"; });
  const auto begin = [&] { return kind == "kernel" ? with_markers(sample) : sample.open(); };
  CHECK(lines_of(dead_on(begin, pages)) == "");
}

}  // namespace

TEST_CASE("robot: whatever can be clicked on a kernel does something or says why not") { click_all_pages("kernel"); }
TEST_CASE("robot: whatever can be clicked on a trace does something or says why not") { click_all_pages("trace"); }
TEST_CASE("robot: whatever can be clicked on a memory snapshot does something or says why not") {
  click_all_pages("memory");
}
TEST_CASE("robot: whatever can be clicked on three sessions does something or says why not") {
  click_all_pages("comparison");
}
TEST_CASE("robot: whatever can be clicked in a dialog does something or says why not") {
  Sample sample("kernel");
  CHECK(lines_of(dead_on([&] { return with_markers(sample); }, dialog_pages())) == "");
}
TEST_CASE("robot: whatever can be clicked on the start page and in the form on it does something or says why not") {
  Sample sample("kernel");
  CHECK(lines_of(dead_on([&] { return sample.empty_window(); }, {kStart})) == "");
}

TEST_CASE("controls: each of every page, of every dialog and of the start page has a label that is not its name") {
  Names nameless;
  for (const char* kind : {"kernel", "trace", "memory", "comparison"}) {
    Sample sample(kind);
    const bool is_kernel = kind == std::string_view("kernel");
    const std::unique_ptr<Viewer> viewer = is_kernel ? with_markers(sample) : sample.open();
    std::vector<Page> pages = panel_pages();
    if (is_kernel) {
      std::ranges::move(dialog_pages(), std::back_inserter(pages));
      pages.push_back(kStart);
    }
    for (const Page& page : pages) {
      for (const Control& control : controls_of(*viewer, page)) {
        if (control.label.empty() || control.label == control.name) nameless.insert(control.name);
      }
      for (int i = 0; i < 3 && page.is_above; ++i) viewer->shell.key(Key::escape);
    }
  }
  CHECK(lines_of(nameless) == "");
}
