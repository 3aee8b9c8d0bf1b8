#include <doctest/doctest.h>

#include "app/session_tab.h"

using namespace accelscope::app;

TEST_CASE("view history: back and forward return the views in order, and a new view drops what was ahead") {
  ViewHistory history;
  CHECK_FALSE(history.can_go_back());
  history.push({0, 100});
  history.push({10, 20});
  history.push({12, 14});
  CHECK(history.back() == ViewRange{10, 20});
  CHECK(history.back() == ViewRange{0, 100});
  CHECK_FALSE(history.can_go_back());
  CHECK(history.forward() == ViewRange{10, 20});
  history.push({50, 60});
  CHECK_FALSE(history.can_go_forward());
  CHECK(history.back() == ViewRange{10, 20});
}

TEST_CASE("view history: the same view twice is one step") {
  ViewHistory history;
  history.push({0, 100});
  history.push({0, 100});
  CHECK_FALSE(history.can_go_back());
}

TEST_CASE("view history: a day of zooming does not grow without end, and the newest views stay") {
  ViewHistory history;
  for (int i = 0; i < 10'000; ++i) history.push({0, static_cast<double>(i + 1)});
  int steps = 0;
  ViewRange last;
  while (history.can_go_back()) {
    last = history.back();
    ++steps;
  }
  CHECK(steps < 1'000);
  CHECK(last.end_ns > 9'000);
}
