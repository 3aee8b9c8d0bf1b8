// A small simulated session, in memory or as a session file.
#pragma once

#include <doctest/doctest.h>

#include <memory>
#include <string>

#include "capture/sim/output/simulator.h"
#include "core/store/store.h"

namespace accelscope::test {

[[nodiscard]] inline std::shared_ptr<Store> simulated_session() {
  std::shared_ptr<Store> store = std::move(Store::create()).value();
  StoreSink sink(*store);
  REQUIRE(capture::sim::simulate({.seed = 5, .kernels = 1}, sink).ok());
  return store;
}

inline void save_simulated_session(const std::string& path) { REQUIRE(simulated_session()->save(path).ok()); }

}  // namespace accelscope::test
