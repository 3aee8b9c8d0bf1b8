#include <doctest/doctest.h>

#include "app/session/tab.h"

using namespace accelscope::app;

TEST_CASE("view history: back and forward return the views in order, and a new view drops what was ahead") {
  session::ViewHistory history;
  CHECK_FALSE(history.can_go_back());
  history.push({{0, 100}, {}});
  history.push({{10, 20}, {}});
  history.push({{12, 14}, {}});
  CHECK(history.back().view == session::ViewRange{10, 20});
  CHECK(history.back().view == session::ViewRange{0, 100});
  CHECK_FALSE(history.can_go_back());
  CHECK(history.forward().view == session::ViewRange{10, 20});
  history.push({{50, 60}, {}});
  CHECK_FALSE(history.can_go_forward());
  CHECK(history.back().view == session::ViewRange{10, 20});
}

TEST_CASE("view history: the same view twice is one step") {
  session::ViewHistory history;
  history.push({{0, 100}, {}});
  history.push({{0, 100}, {}});
  CHECK_FALSE(history.can_go_back());
}

TEST_CASE("view history: a day of zooming does not grow without end, and the newest views stay") {
  session::ViewHistory history;
  for (int i = 0; i < 10'000; ++i) history.push({{0, static_cast<double>(i + 1)}, {}});
  int steps = 0;
  session::ViewRange last;
  while (history.can_go_back()) {
    last = history.back().view;
    ++steps;
  }
  CHECK(steps < 1'000);
  CHECK(last.end_ns > 9'000);
}

TEST_CASE("view history: a change of the filter, the colours or the rows is a step of its own that can be undone") {
  session::ViewHistory history;
  session::ViewState state{{0, 100}, {}};
  history.push(state);
  state.choices.filter.terms.push_back({"MATMUL", true});
  history.push(state);
  state.choices.colour_by["instruction"] = "layer";
  history.push(state);
  state.choices.rows.open["group:Engines"] = false;
  history.push(state);
  CHECK(history.back().choices.rows.open.empty());
  CHECK(history.back().choices.colour_by.empty());
  CHECK(history.back().choices.filter.empty());
  CHECK_FALSE(history.can_go_back());
  CHECK(history.forward().choices.filter.terms.size() == 1);
}
