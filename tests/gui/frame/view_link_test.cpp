// A link to the view, and the view that a session file keeps.
#include "app/view/record.h"
#include "tests/gui/viewer.h"

using namespace accelscope;
using namespace accelscope::app;
using namespace accelscope::test;
using render::Key;
using render::Modifiers;

namespace {

constexpr Modifiers kCtrlShift{.ctrl = true, .shift = true};

// A view with something chosen in every part.
struct ChosenView : OpenViewer {
  ChosenView() {
    REQUIRE(wait_for([&] { return !shell.shows("Looking for what bounds it"); }));
    select(kFirstMatmul);
    tab().change([](session::ViewChoices& choices) {
      choices.filter.terms = {{"name!=WAIT", false}};
      choices.filter.tracks = {0, 1};
      choices.search = "MATMUL duration>=100";
      choices.rows.pinned = {"track:engine/Scalar@nc0"};
      choices.rows.hidden = {"group:Counters"};
      choices.rows.sizes = {{"track:engine/Tensor@nc0", rows::RowSize::tall}};
    });
    tab().show({1'050, 3'100.5});
    rest();
  }
  // Until nothing moves and what was said for a moment is gone.
  void rest() {
    shell.move({800, 2});
    shell.wait(3);
    REQUIRE(shell.settle());
  }
  std::string copied() {
    shell.key(Key::c, kCtrlShift);
    shell.frame(3);
    return shell.clipboard();
  }
  void go_to(std::string_view link) {
    shell.key(Key::g, kCtrlShift);
    shell.frame(3);
    shell.type(link);
    shell.frame(3);
    shell.key(Key::enter);
    shell.frame(3);
  }
};

}  // namespace

TEST_CASE_FIXTURE(ChosenView, "links: a copied link brings back all that was seen, as one step of the history") {
  const std::string before = shell.visible_text();
  const std::string link = copied();
  CHECK(shell.shows("Copied a link to this view"));
  CHECK(link.starts_with("accelscope-view:1;range=1050,3100.5;filter_tracks=engine/Tensor@nc0,engine/Scalar@nc0;"));
  tab().change([](session::ViewChoices& choices) { choices = {}; });
  run("clear_selection");
  run("fit_all");
  rest();
  const std::string changed = shell.visible_text();
  CHECK(changed != before);
  go_to(link);
  rest();
  CHECK(wait_for([&] { return shell.visible_text() == before; }));
  CHECK(tab().selected == kFirstMatmul);
  run("view_back");
  rest();
  CHECK(tab().choices == session::ViewChoices{});
}

TEST_CASE_FIXTURE(ChosenView, "links: a wrong link is told beside the field, and nothing changes until it is right") {
  const session::ViewChoices before = tab().choices;
  go_to("accelscope-view:1;range=7");
  CHECK(shell.shows("character 19"));
  CHECK(shell.shows("Go to link"));
  CHECK(tab().choices == before);
  shell.type("accelscope-view:1;range=7,2000");  // the field still has the keyboard, its text is selected
  shell.frame(3);
  shell.key(Key::enter);
  rest();
  CHECK_FALSE(shell.shows("Go to link"));
  CHECK(tab().view == session::ViewRange{7, 2'000});
}

TEST_CASE_FIXTURE(ChosenView, "links: what another session cannot show is told, the rest is shown") {
  go_to("accelscope-view:1;range=90000000,91000000;filter_tracks=engine/Gone@nc0;search=WAIT;selected=5+GELU;new=1");
  CHECK(tab().choices.search == "WAIT");
  CHECK(tab().view == session::ViewRange{1'050, 3'100.5});
  CHECK(tab().choices.filter.tracks.empty());
  CHECK_FALSE(tab().selected);
  for (const char* reported : {"range lies outside", "lanes of the view's filter", "GELU, is not in this session",
                               "\"new\" is of a newer version"}) {
    CHECK_MESSAGE(shell.shows(reported), reported);
  }
}

TEST_CASE_FIXTURE(ChosenView, "links: colours by a column that the table lacks are told, and it keeps those by name") {
  go_to("accelscope-view:1;colours=instruction+warmth,later+column");
  CHECK(tab().choices.colour_by == std::map<std::string, std::string>{{"later", "column"}});
  CHECK(shell.shows("instruction by warmth"));
}

TEST_CASE_FIXTURE(ChosenView, "links: pins made on another machine hold here") {
  go_to("accelscope-view:1;rows=pinned+track:engine/Tensor@nc0@box9,hidden+track:engine/Scalar@nc0@box9");
  CHECK(tab().choices.rows.pinned == std::vector<std::string>{"track:engine/Tensor@nc0"});
  CHECK(tab().choices.rows.hidden.count("track:engine/Scalar@nc0") == 1);
}

TEST_CASE_FIXTURE(ChosenView, "kept views: a session that was saved opens again as it was left") {
  CHECK_FALSE(tab().modified);  // a view alone is nothing that could be lost
  run("verdict");               // it is only looked for while there is no filter
  rest();
  const std::string before = shell.visible_text();
  shell.key(Key::s, {.ctrl = true});
  CHECK(shell.shows("Saved the view"));
  run("close");
  CHECK(app.workspace().tab_count() == 0);
  open(path);
  CHECK(shell.shows("is told without a filter"));
  run("verdict");
  rest();
  CHECK(wait_for([&] { return shell.visible_text() == before; }));
  CHECK_FALSE(tab().modified);
  CHECK(tab().selected == kFirstMatmul);
}

TEST_CASE_FIXTURE(ChosenView, "kept views: they go with a copy that is saved elsewhere, and a new save replaces them") {
  const std::string copy = folder.file("copy.accel");
  app.workspace().save(0, copy);
  REQUIRE(shell.settle());
  tab().show({1'200, 1'300});
  run("save");
  REQUIRE(shell.settle());
  const session::ViewChoices choices = tab().choices;
  run("close");
  open(copy);
  CHECK(tab().view == session::ViewRange{1'200, 1'300});
  CHECK(tab().choices == choices);
}

TEST_CASE_FIXTURE(OpenViewer, "kept views: a text that cannot be read is told and the session opens all the same") {
  REQUIRE(tab().store->set_overlay_value("view", "accelscope-view:7;range=1,2").ok());
  run("close");
  open(path);
  CHECK(shell.shows("newer version"));
  CHECK(tab().view.end_ns > 4'000);
}

TEST_CASE("links: --view shows the first session as linked, and a wrong one is told") {
  const TemporaryFolder folder;
  const std::string path = save_small_session(folder.path());
  Viewer linked({.view = "accelscope-view:1;range=1200,1300;search=MATMUL"});
  linked.open(path);
  CHECK(linked.tab().view == session::ViewRange{1'200, 1'300});
  CHECK(linked.tab().choices.search == "MATMUL");
  CHECK(linked.app.dump_state().find("\"link\":\"accelscope-view:1;range=1200,1300;search=MATMUL\"") !=
        std::string::npos);
}
