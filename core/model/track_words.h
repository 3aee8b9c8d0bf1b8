// What a session knows of a track and other tools' formats have no place for, as a description in words that an import
// takes it from again: "accelscope: kind=engine;device=nc0;host=trn1;".
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/model/definitions.h"
#include "core/model/schema.h"

namespace accelscope {

struct TrackWords {
  std::string kind, device, host;
  std::vector<std::pair<Role, std::string>> columns;  // of allocations: which is which
};
[[nodiscard]] TrackWords words_of_track(const Track& track, const Schema* schema);
[[nodiscard]] std::string track_description(const TrackWords& words);
[[nodiscard]] std::optional<TrackWords> read_track_description(std::string_view description);

}  // namespace accelscope
