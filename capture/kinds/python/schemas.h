// The columns of what the kind `python` writes.
#pragma once

#include <array>

#include "capture/kinds/base/table_spec.h"

namespace accelscope::capture::kinds::python {

enum CallColumn : std::size_t { kLocation, kModule, kWhat, kCaller, kSelf, kRaised, kPartial, kMetadata };
enum SignpostColumn : std::size_t { kMessage, kSignpostLocation, kThread };
enum TestColumn : std::size_t { kOutcome, kTestLocation, kTestPhase, kTestId };

enum class PythonTable : std::size_t {
  call,      // slices of a thread: calls, and lines within them
  signpost,  // instants
  test,      // slices: tests of pytest at depth 0, their phases at depth 1
};
extern const std::array<TableSpec, 3> kPythonTables;

}  // namespace accelscope::capture::kinds::python
