// A Chrome JSON trace imported into a store in memory, and small traces put together from rows.
#pragma once

#include <string>
#include <string_view>

#include "capture/sources/base/importers.h"
#include "capture/sources/chrome/importer.h"
#include "tests/capture/imported.h"

namespace accelscope::capture {

inline Imported imported_trace(std::string_view json, const sources::chrome::ChromeReading& reading = {}) {
  return Imported::by([&](EventSink& sink) {
    return sources::chrome::import_chrome_json(json::ByteSource::from_memory(json), "test.json", {}, sink, reading);
  });
}

// The message of an import that fails.
inline std::string failure_of_trace(std::string_view json) {
  std::unique_ptr<Store> store = std::move(Store::create().value());
  StoreSink sink(*store);
  const Result<void> done =
      sources::chrome::import_chrome_json(json::ByteSource::from_memory(json), "test.json", {}, sink);
  return done.ok() ? std::string{} : done.message();
}

inline std::string trace_of(const std::string& rows) { return "{\"traceEvents\":[" + rows + "]}"; }

}  // namespace accelscope::capture
