// A small session with everything the viewer shows: two engines with waits and dependencies, a counter, allocations
// of two tensors, a source file with lines and stacks, figures and quality entries. The same every time.
#pragma once

#include <memory>
#include <string>

#include "core/store/store.h"
#include "tests/support/files.h"

namespace accelscope::test {

struct SmallSession {
  std::shared_ptr<Store> store;
  EventId first_matmul = kNoEvent;  // "kernel.py:3", waits 40 ns, stack of two frames
  EventId activate = kNoEvent;      // depends on first_matmul
};

[[nodiscard]] SmallSession make_small_session();

// The same, saved; returns the path.
std::string save_small_session(const std::string& folder, const std::string& name = "small.accel");

}  // namespace accelscope::test
