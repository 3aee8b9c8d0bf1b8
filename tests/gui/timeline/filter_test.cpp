// The filter and the search: chips, what passes, what is dimmed, the list of hits. Through the null shell.
#include <doctest/doctest.h>

#include <sstream>

#include "app/frame/filter_bar.h"
#include "app/session/analysis.h"
#include "app/timeline/frame.h"
#include "tests/gui/viewer.h"

using namespace accelscope;
using namespace accelscope::app;

namespace {

struct FilterFixture : test::OpenViewer {
  // Slices of the last frame that are drawn one by one, by name: how many are bright, dimmed, found.
  struct Drawn {
    int bright = 0, dimmed = 0, found = 0;
  };
  Drawn drawn(std::string_view name) {
    Drawn counts;
    const timeline::TimelineState& timeline = *tab().timeline;
    for (std::size_t i = 0; i < timeline.lane_count; ++i) {
      for (const render::WideSlice& slice : timeline.lanes[i].strip->slices) {
        if (tab().snapshot->strings->text(slice.name) != name) continue;
        ++(slice.dimmed ? counts.dimmed : counts.bright);
        counts.found += slice.found ? 1 : 0;
      }
    }
    return counts;
  }
  void set_filter(EventFilter filter) {
    tab().change([&](session::ViewChoices& choices) { choices.filter = std::move(filter); });
    shell.frame(2);
    REQUIRE(shell.settle());
  }
};

}  // namespace

TEST_CASE_FIXTURE(FilterFixture,
                  "filter: what does not pass is dimmed and stays, chips say what the filter is, back undoes it") {
  const Drawn before = drawn("MATMUL");
  REQUIRE(before.bright > 0);
  REQUIRE(drawn("ACTIVATE").bright > 0);
  CHECK_FALSE(shell.shows("Clear all"));

  set_filter({.range = {}, .tracks = {}, .terms = {{"MATMUL", false}}});
  CHECK(drawn("MATMUL").bright == before.bright);
  CHECK(drawn("ACTIVATE").bright == 0);
  CHECK(drawn("ACTIVATE").dimmed > 0);
  CHECK(shell.shows("Clear all"));
  CHECK(shell.shows("events pass"));

  set_filter({.range = {}, .tracks = {}, .terms = {{"MATMUL", true}}});
  CHECK(shell.shows("Not MATMUL"));
  CHECK(drawn("MATMUL").bright == 0);
  CHECK(drawn("ACTIVATE").bright > 0);

  run("view_back");
  REQUIRE(shell.settle());
  CHECK(drawn("ACTIVATE").bright == 0);
  REQUIRE(shell.click("filter.chip.0.close"));
  REQUIRE(shell.settle());
  CHECK(tab().choices.filter.empty());
  CHECK(drawn("ACTIVATE").bright > 0);
  CHECK_FALSE(shell.shows("Clear all"));
}

TEST_CASE_FIXTURE(FilterFixture, "filter: what passes is counted within its range, alike in the bar and below") {
  const auto counts = [&] {
    std::size_t said = 0;
    std::istringstream texts(shell.visible_text());
    for (std::string text; std::getline(texts, text);) said += text.find("4 of 87 events pass") == 0 ? 1 : 0;
    return said;
  };
  set_filter({.range = TimeRange{1'000, 1'650}, .tracks = {}, .terms = {{"MATMUL", false}}});
  CHECK(wait_for([&] { return counts() == 2; }));
  set_filter({.range = TimeRange{0, 999}, .tracks = {}, .terms = {{"MATMUL", false}}});
  CHECK(wait_for([&] { return shell.shows("0 of 87 events pass"); }));
}

TEST_CASE_FIXTURE(FilterFixture,
                  "filter: a term that names no field is said to be wrong, and nothing is dimmed by it") {
  set_filter({.range = {}, .tracks = {}, .terms = {{"nosuchfield=1", false}}});
  CHECK(shell.shows("nosuchfield"));
  CHECK(drawn("MATMUL").dimmed == 0);
  REQUIRE(shell.click("filter.clear"));
  CHECK(tab().choices.filter.empty());
}

TEST_CASE_FIXTURE(FilterFixture, "filter: the source lines follow it, line by line") {
  app.layout().show("source");
  REQUIRE(wait_for([&] { return tab().analysis->source_lines() != nullptr; }));
  std::uint64_t all = 0;
  for (const analysis::SourceLine& line : tab().analysis->source_lines()->lines) all += line.event_count;
  set_filter({.range = {}, .tracks = {}, .terms = {{"MATMUL", false}}});
  const auto counted = [&] {
    std::uint64_t events = 0;
    for (const analysis::SourceLine& line : tab().analysis->source_lines()->lines) events += line.event_count;
    return events;
  };
  CHECK(wait_for([&] { return counted() > 0 && counted() < all; }));
}

TEST_CASE_FIXTURE(FilterFixture,
                  "region: what is selected beside single events stays bright, all else dims, Esc ends it") {
  const TrackNumber track = tab().snapshot->lanes[0].track;
  tab().region = EventFilter{.range = {}, .tracks = {track}, .terms = {}};
  shell.frame();
  REQUIRE(shell.settle());  // workers make the strips
  const timeline::TimelineState& timeline = *tab().timeline;
  int bright = 0;
  int dimmed = 0;
  for (std::size_t i = 0; i < timeline.lane_count; ++i) {
    const bool chosen = tab().snapshot->lanes[timeline.lanes[i].lane].track == track;
    for (const render::WideSlice& slice : timeline.lanes[i].strip->slices) {
      CHECK(slice.dimmed != chosen);
      ++(slice.dimmed ? dimmed : bright);
    }
  }
  CHECK(bright > 0);
  CHECK(dimmed > 0);
  shell.key(render::Key::escape);
  shell.frame(2);
  CHECK_FALSE(tab().region.has_value());
}

TEST_CASE_FIXTURE(
    FilterFixture,
    "search: hits are marked on the timeline and listed, a row selects its event, the search becomes the filter") {
  shell.key(render::Key::f, {.ctrl = true});
  shell.type("MATMUL");
  REQUIRE(shell.settle());
  app.layout().show("search");
  REQUIRE(wait_for([&] { return shell.find("search.hits.row.0") != nullptr; }));
  CHECK(drawn("MATMUL").found == drawn("MATMUL").bright);
  CHECK(drawn("ACTIVATE").found == 0);
  CHECK(shell.shows("events match"));

  REQUIRE(shell.click("search.hits.row.0"));
  CHECK(tab().selected == test::kFirstMatmul);
  REQUIRE(shell.click("search.filter"));
  REQUIRE(shell.settle());
  CHECK(tab().choices.search.empty());
  REQUIRE(tab().choices.filter.terms.size() == 1);
  CHECK(drawn("ACTIVATE").bright == 0);
  run("view_back");
  CHECK(tab().choices.filter.empty());
}

TEST_CASE_FIXTURE(FilterFixture, "search: each session keeps its own, and back brings it again") {
  tab().change([](session::ViewChoices& choices) { choices.search = "ACTIVATE"; });
  shell.frame(2);
  CHECK(shell.shows("ACTIVATE"));
  tab().change([](session::ViewChoices& choices) { choices.search.clear(); });
  shell.frame(2);
  run("view_back");
  CHECK(tab().choices.search == "ACTIVATE");
  CHECK(tab().analysis->search_text() == "ACTIVATE");
}

TEST_CASE_FIXTURE(FilterFixture, "search: without one the panel shows how it is written, and an example is one click") {
  app.layout().show("search");
  shell.frame(3);
  REQUIRE(shell.click("search.example.4"));
  REQUIRE(shell.settle());
  CHECK(tab().choices.search == "duration>=5us");
}
