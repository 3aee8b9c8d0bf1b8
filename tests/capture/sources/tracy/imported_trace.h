// Traces of Tracy, made from a model, as sessions.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "capture/sources/base/importers.h"
#include "tests/capture/imported.h"
#include "tests/support/tracy_trace.h"

namespace accelscope::capture {

[[nodiscard]] inline Imported import_tracy_trace(std::string_view trace) {
  return Imported::by([&](EventSink& sink) {
    return sources::tracy::import_tracy(json::ByteSource::from_memory(trace), "run.tracy", {}, sink);
  });
}

// "": it does not fail.
[[nodiscard]] inline std::string failure_of_tracy(std::string_view trace) {
  const auto store = std::move(Store::create().value());
  StoreSink sink(*store);
  const Result<void> done = sources::tracy::import_tracy(json::ByteSource::from_memory(trace), "run.tracy", {}, sink);
  return done.ok() ? "" : done.message();
}

// Every zone as a line, sorted.
[[nodiscard]] std::vector<std::string> zone_lines(const Imported& session);
[[nodiscard]] std::vector<std::string> zone_lines(const test::TracyModel& model);

}  // namespace accelscope::capture
