// Device logs imported into a store in memory, and their zones in the generator's terms.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "capture/sources/base/importers.h"
#include "tests/capture/imported.h"
#include "tests/support/tt_log_generator.h"

namespace accelscope::capture {

inline Imported import_log(std::string_view text, const sources::ImportOptions& options = {}) {
  return Imported::by([&](EventSink& sink) {
    return sources::tt_metal::import_device_log(json::ByteSource::from_memory(text), "profile_log_device.csv", options,
                                                sink);
  });
}

// The message of an import that fails; "" if it does not.
inline std::string log_failure(std::string_view text) {
  const auto store = std::move(Store::create().value());
  StoreSink sink(*store);
  const Result<void> done =
      sources::tt_metal::import_device_log(json::ByteSource::from_memory(text), "log.csv", {}, sink);
  return done.ok() ? std::string{} : done.message();
}

[[nodiscard]] std::vector<test::TtZone> zones_of(const Imported& session);  // sorted

inline const EventValues* find_event(const std::vector<EventValues>& events, std::string_view name) {
  const auto found = std::find_if(events.begin(), events.end(), [&](const auto& event) { return event.name == name; });
  return found == events.end() ? nullptr : &*found;
}

}  // namespace accelscope::capture

namespace doctest {
template <>
struct StringMaker<accelscope::test::TtZone> {
  static String convert(const accelscope::test::TtZone& zone) {
    return (std::to_string(zone.chip) + " " + zone.track + " " + zone.name + " [" + std::to_string(zone.begin) + ", " +
            std::to_string(zone.end) + ") depth " + std::to_string(zone.depth) + " " + zone.source + " run " +
            std::to_string(zone.run))
        .c_str();
  }
};
}  // namespace doctest
