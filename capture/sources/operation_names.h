// What operations are called, by their numbers, as an operations report of tt-metal says: a device log of the same run
// has the numbers only. Sees what the report's import hands on.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "core/chunk/event_sink.h"

namespace accelscope::capture::sources {

class OperationNames {
 public:
  void see(const Definition& definition);
  void see(const SealedChunk& chunk);

  // "" where the report has no such call of that device ("chip 0").
  [[nodiscard]] std::string find(const std::string& device, std::uint64_t call) const;
  [[nodiscard]] bool empty() const noexcept { return names_.empty(); }

 private:
  std::map<SchemaNumber, std::size_t> call_columns_;  // of tables of operations
  std::map<TrackNumber, std::pair<SchemaNumber, std::string>> tracks_;
  std::map<LaneNumber, TrackNumber> lanes_;
  std::map<StringId, std::string> strings_;
  std::map<std::pair<std::string, std::uint64_t>, std::string> names_;  // by device and call
};

}  // namespace accelscope::capture::sources
