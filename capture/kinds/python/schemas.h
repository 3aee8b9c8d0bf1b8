// The columns of what the kind `python` writes.
#pragma once

#include "core/model/schema.h"

namespace accelscope::capture::kinds::python {

enum CallColumn : std::size_t { kLocation, kModule, kWhat, kCaller, kSelf, kRaised, kPartial, kMetadata };
enum SignpostColumn : std::size_t { kMessage, kSignpostLocation, kThread };
enum TestColumn : std::size_t { kOutcome, kTestLocation, kTestPhase, kTestId };

[[nodiscard]] Schema call_schema();      // slices of a thread: calls, and lines within them
[[nodiscard]] Schema signpost_schema();  // instants
[[nodiscard]] Schema test_schema();      // slices: tests of pytest at depth 0, their phases at depth 1

}  // namespace accelscope::capture::kinds::python
