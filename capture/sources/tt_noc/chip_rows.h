// The rows of cores by their places on a chip, as device logs call them ("core 4,3 BRISC" of "chip 0"), made as they
// are first met.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <tuple>

#include "capture/sources/tracks/unordered_session.h"

namespace accelscope::capture::sources::tt_noc {

struct CorePlace {
  std::int64_t chip = 0;
  std::int64_t x = 0;
  std::int64_t y = 0;
  auto operator<=>(const CorePlace&) const = default;
};

class ChipRows {
 public:
  explicit ChipRows(tracks::UnorderedSession& session) : session_(session) {}

  // "core 4,3 BRISC" for the suffix "BRISC".
  [[nodiscard]] std::uint32_t of_core(const CorePlace& place, std::string_view suffix, std::uint32_t table,
                                      std::string_view kind);
  [[nodiscard]] std::uint32_t counter(std::int64_t chip, const std::string& name, const std::string& unit);

 private:
  tracks::UnorderedSession& session_;
  std::map<CorePlace, std::uint32_t> cores_;
  std::map<std::pair<CorePlace, std::string>, std::uint32_t> rows_;
};

}  // namespace accelscope::capture::sources::tt_noc
