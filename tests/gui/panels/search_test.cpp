// The search with real input: earlier searches, where one stands among the hits, what they add up to, the filter.
#include <doctest/doctest.h>

#include "app/session/analysis.h"
#include "tests/gui/viewer.h"

using namespace accelscope;
using namespace accelscope::app;
using namespace accelscope::test;
using render::Key;

namespace {

struct SearchViewer : OpenViewer {
  using OpenViewer::OpenViewer;
  void open_box() {
    shell.key(Key::f, {.ctrl = true});
    shell.frame(2);
  }
  void search(std::string_view text) {
    open_box();
    shell.key(Key::a, {.ctrl = true});
    shell.type(text);
    REQUIRE(shell.settle());
  }
  void clear_box() {
    open_box();
    shell.key(Key::a, {.ctrl = true});
    shell.key(Key::del);
    shell.frame(3);
  }
};

}  // namespace

TEST_CASE(
    "search: earlier ones are listed below the empty box, also after a restart, and one is taken by key or click") {
  const TemporaryFolder state;
  {
    SearchViewer viewer({.state_directory = state.path()});
    viewer.search("MATMUL");
    viewer.shell.key(Key::enter);
    REQUIRE(viewer.shell.settle());
    viewer.search("ACTIVATE");
    viewer.shell.key(Key::enter);
    REQUIRE(viewer.shell.settle());
    viewer.search("never entered");
  }
  SearchViewer viewer({.state_directory = state.path()});
  viewer.clear_box();
  REQUIRE(viewer.shell.find("search_history.1") != nullptr);
  CHECK(viewer.shell.find("search_history.2") == nullptr);
  viewer.shell.key(Key::down);
  viewer.shell.key(Key::down);
  viewer.shell.key(Key::enter);
  REQUIRE(viewer.shell.settle());
  CHECK(viewer.tab().choices.search == "MATMUL");
  REQUIRE(viewer.tab().analysis->hits() != nullptr);
  CHECK(viewer.tab().analysis->hits()->total() == 20);
  viewer.clear_box();
  REQUIRE(viewer.shell.click("search_history.0"));
  REQUIRE(viewer.shell.settle());
  CHECK(viewer.tab().choices.search == "ACTIVATE");
}

TEST_CASE("search: Enter and the buttons step through the hits and say which one it is") {
  SearchViewer viewer;
  viewer.app.layout().show("search");
  viewer.search("MATMUL");
  const auto enter = [&](render::Modifiers modifiers) {
    viewer.shell.key(Key::enter, modifiers);
    viewer.shell.frame(3);  // the box has the keyboard again
  };
  enter({});
  REQUIRE(viewer.wait_for([&] { return viewer.shell.shows("1 of 20"); }));
  CHECK(viewer.tab().selected == kFirstMatmul);
  enter({});
  enter({});
  REQUIRE(viewer.wait_for([&] { return viewer.shell.shows("3 of 20"); }));
  enter({.shift = true});
  REQUIRE(viewer.wait_for([&] { return viewer.shell.shows("2 of 20"); }));
  REQUIRE(viewer.shell.click("search.next"));
  REQUIRE(viewer.wait_for([&] { return viewer.shell.shows("3 of 20"); }));
  REQUIRE(viewer.shell.click("search.previous"));
  REQUIRE(viewer.wait_for([&] { return viewer.shell.shows("2 of 20"); }));
}

TEST_CASE("search: Enter right behind the text goes to the first hit as soon as it is found") {
  SearchViewer viewer;
  viewer.app.layout().show("search");
  viewer.open_box();
  viewer.shell.type("MATMUL");
  viewer.shell.key(Key::enter);
  REQUIRE(viewer.wait_for([&] { return viewer.shell.shows("1 of 20"); }));
  CHECK(viewer.tab().selected == kFirstMatmul);
}

TEST_CASE("search: the hits in view are summed up by name, line and lane") {
  SearchViewer viewer;
  viewer.app.layout().maximise("search");
  viewer.tab().show({900, 1'350});  // two matrix products and the wait, each as a whole
  viewer.search("/MATMUL|WAIT/");
  REQUIRE(viewer.wait_for([&] { return viewer.shell.shows("In view: 3 of 21, busy 200 ns of 320 ns"); }));
  REQUIRE(viewer.shell.click("search.summary_by.2"));
  viewer.shell.frame(2);
  const auto summary = viewer.tab().analysis->hit_summary({900, 1'350});
  REQUIRE(summary);
  CHECK(summary->summary->tracks.size() == 2);
  viewer.tab().show({1'150, 1'350});
  REQUIRE(viewer.wait_for([&] { return viewer.shell.shows("In view: 1 of 21, busy 100 ns"); }));
}

TEST_CASE("search: hits are restricted to what passes the filter, and it says so") {
  SearchViewer viewer;
  viewer.app.layout().show("search");
  viewer.search("kernel.py:3");
  REQUIRE(viewer.wait_for([&] { return viewer.shell.shows("20 events match"); }));
  viewer.tab().change([](session::ViewChoices& choices) { choices.filter.range = TimeRange{1'000, 1'650}; });
  REQUIRE(viewer.wait_for([&] { return viewer.shell.shows("4 events match in the filter"); }));
  viewer.tab().change([](session::ViewChoices& choices) { choices.filter.terms = {{"ACTIVATE", false}}; });
  REQUIRE(viewer.wait_for([&] { return viewer.shell.shows("No event passes the filter and matches"); }));
}

TEST_CASE("search: what is not understood is told with examples, and nothing is made of it") {
  SearchViewer viewer;
  viewer.app.layout().show("search");
  viewer.search("colour=red");
  REQUIRE(viewer.wait_for([&] { return viewer.shell.shows("put the text in quotes"); }));
  CHECK(viewer.shell.shows("Examples of what can be searched"));
  (void)viewer.shell.click("search.filter");
  CHECK(viewer.tab().choices.filter.terms.empty());
  CHECK(viewer.tab().choices.search == "colour=red");
  REQUIRE(viewer.shell.click("search.example.0"));
  REQUIRE(viewer.shell.settle());
  CHECK_FALSE(viewer.shell.shows("put the text in quotes"));
}

TEST_CASE(
    "search: the lane of an event is searched by its name, and one that is not there is told with those that are") {
  SearchViewer viewer;
  viewer.app.layout().show("search");
  viewer.search("lane=tensor");
  REQUIRE(viewer.wait_for([&] { return viewer.shell.shows("20 events match"); }));
  viewer.search("lane=\"nc0 Scalar\" WAIT");
  REQUIRE(viewer.wait_for([&] { return viewer.shell.shows("1 event matches"); }));
  viewer.search("MATMUL lane!=Tensor");
  REQUIRE(viewer.wait_for([&] { return viewer.shell.shows("No event matches"); }));
  viewer.search("lane=Tenor");
  REQUIRE(viewer.wait_for([&] { return viewer.shell.shows("no lane is called \"Tenor\"; there are Tensor, Scalar"); }));
}

TEST_CASE("search: what is found beside the view is never told as nothing") {
  SearchViewer viewer;
  viewer.app.layout().maximise("search");
  viewer.tab().show({0, 500});
  viewer.search("MATMUL");
  REQUIRE(viewer.wait_for([&] { return viewer.shell.shows("In view: none of 20"); }));
  CHECK(viewer.shell.shows("20 events match"));
  CHECK_FALSE(viewer.shell.shows("0 hits"));
  REQUIRE(viewer.shell.find("search.summary_none.0") != nullptr);
  REQUIRE(viewer.shell.click("search.summary_none.0"));
  REQUIRE(viewer.wait_for([&] { return viewer.tab().selected == kFirstMatmul; }));
}

TEST_CASE("search: stepping to a hit that is narrower than a pixel goes so near that it is seen") {
  SearchViewer viewer;
  viewer.tab().show({0, 1e7});
  REQUIRE(viewer.shell.settle());
  viewer.search("MATMUL");
  viewer.shell.key(Key::enter);
  REQUIRE(viewer.wait_for([&] { return viewer.tab().selected == kFirstMatmul; }));
  const double pixels =
      100 / viewer.tab().view.span_ns() * static_cast<double>(viewer.shell.find("timeline.canvas")->width());
  CHECK(pixels > 20);
  CHECK(viewer.tab().view.begin_ns < 1'000);
  CHECK(viewer.tab().view.end_ns > 1'100);
}

TEST_CASE("search: examples and what is wrong are whole in a narrow place, and none lies over another") {
  SearchViewer viewer;
  viewer.shell.resize(1'280, 720, 1);
  viewer.app.layout().show("search");
  viewer.search("colour=red");
  const std::string_view whole =
      "search: no event of this session has a field \"colour\"; put the text in quotes to search for it in names";
  REQUIRE(viewer.wait_for([&] { return viewer.shell.shows("Examples of what can be searched"); }));
  CHECK(viewer.shell.shows(whole));
  viewer.clear_box();
  REQUIRE(viewer.shell.settle());
  CHECK(viewer.shell.shows("a regular expression in the name; /.../i for upper and lower case alike"));
  CHECK_FALSE(viewer.shell.shows("…"));
}

TEST_CASE("search: = that finds nothing says how many contain it, and a click searches for those") {
  SearchViewer viewer;
  viewer.app.layout().show("search");
  viewer.search("name=MATMU");
  REQUIRE(viewer.wait_for([&] { return viewer.shell.shows("No name is exactly MATMU; 20 contain it"); }));
  REQUIRE(viewer.shell.click("search.none.0"));
  REQUIRE(viewer.shell.settle());
  CHECK(viewer.tab().choices.search == "name~MATMU");
  CHECK(viewer.tab().analysis->hits()->total() == 20);
}

TEST_CASE("search: a term that every event passes is named, and a click leaves it out") {
  SearchViewer viewer;
  viewer.app.layout().show("search");
  viewer.search("MATMUL duration>=0");
  REQUIRE(viewer.wait_for([&] { return viewer.shell.shows("duration>=0 matches every event"); }));
  REQUIRE(viewer.shell.click("search.instead"));
  REQUIRE(viewer.shell.settle());
  CHECK(viewer.tab().choices.search == "MATMUL");
}
