// An XSpace imported into a store in memory.
#pragma once

#include <string>

#include "capture/sources/base/importers.h"
#include "capture/sources/xplane/importer.h"
#include "tests/capture/imported.h"
#include "tests/support/xspace.h"

namespace accelscope::capture {

inline Imported imported_space(const std::string& bytes) {
  return Imported::by([&](EventSink& sink) {
    return sources::xplane::XPlaneImporter("t.xplane.pb", {}, sink)
        .run(*sources::xplane::SpaceBytes::from_memory(bytes));
  });
}

// "": it was read.
inline std::string failure_of_space(const std::string& bytes) {
  std::unique_ptr<Store> store = std::move(Store::create().value());
  StoreSink sink(*store);
  const Result<void> done =
      sources::xplane::XPlaneImporter("t.xplane.pb", {}, sink).run(*sources::xplane::SpaceBytes::from_memory(bytes));
  return done.ok() ? std::string() : done.message();
}

}  // namespace accelscope::capture
